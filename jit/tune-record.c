// SPDX-License-Identifier: BSD-2-Clause
// Records of tuning in the disk cache (contract in jit/tune-record.h):
//     ritz-note 1
//     name NAME
//     text TEXT
//     check HASH      of the key and the lines above
#include "jit/tune-record.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"

static const char first_line[] = "ritz-note 1\n", name_word[] = "name ", text_word[] = "\ntext ",
                  check_word[] = "\ncheck ";

static int make_name(Ceed ceed, const RitzHash *key, char **name) {
  return ritz_format(ceed, name, "%s%s", key->hex, RITZ_TUNE_SUFFIX);
}

static RitzHash make_check(const RitzHash *key, const char *lines, size_t length) {
  RitzHasher hasher;
  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, key->hex);
  ritz_hash_add(&hasher, lines, length);
  return ritz_hash_end(&hasher);
}

// ---- Reading ----

static bool holds(const char *contents, const RitzHash *key) {
  const char *check = strstr(contents, check_word);
  if (!check || strncmp(contents, first_line, strlen(first_line)) != 0) return false;
  const RitzHash wanted = make_check(key, contents, (size_t)(check - contents));
  check += strlen(check_word);
  return !strncmp(check, wanted.hex, RITZ_HASH_LENGTH) && !strcmp(check + RITZ_HASH_LENGTH, "\n");
}

static int extract(Ceed ceed, const char *contents, const RitzHash *key, char **text) {
  const char *line = holds(contents, key) ? strstr(contents, text_word) : NULL;
  if (!line) return CEED_ERROR_SUCCESS;
  line += strlen(text_word);
  return ritz_format(ceed, text, "%.*s", (int)strcspn(line, "\n"), line);
}

int ritz_tune_record_find(Ceed ceed, const RitzHash *key, char **text) {
  char *name = NULL, *contents = NULL;
  RitzCache cache;
  *text = NULL;
  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = make_name(ceed, key, &name);
  if (!ierr) ierr = ritz_cache_read(ceed, &cache, name, &contents);
  if (!ierr && contents) ierr = extract(ceed, contents, key, text);
  RITZ_FREE(&contents);
  RITZ_FREE(&name);
  ritz_cache_close(&cache);
  return ierr;
}

bool ritz_tune_record_name(const char *contents, size_t size, char *name) {
  const size_t start = strlen(first_line);
  if (strncmp(contents, first_line, start) || strncmp(contents + start, name_word, strlen(name_word)))
    return false;
  contents += start + strlen(name_word);
  snprintf(name, size, "%.*s", (int)strcspn(contents, "\n"), contents);
  return true;
}

// ---- Writing ----

static int make_contents(Ceed ceed, const RitzHash *key, const char *name, const char *text,
                         char **contents) {
  char *lines = NULL;
  RITZ_TRY(ritz_format(ceed, &lines, "%s%s%s%s%s", first_line, name_word, name, text_word, text));
  const RitzHash check = make_check(key, lines, strlen(lines));
  int ierr = ritz_format(ceed, contents, "%s%s%s\n", lines, check_word, check.hex);
  RITZ_FREE(&lines);
  return ierr;
}

// Through a work folder, from which it appears whole.
static int publish(Ceed ceed, const RitzCache *cache, const char *name, const char *contents) {
  char *work = NULL, *path = NULL;
  RITZ_TRY(ritz_folder_make_temporary(ceed, cache->folder, &work));
  if (!work) return CEED_ERROR_SUCCESS;
  int ierr = ritz_format(ceed, &path, "%s/note", work);
  if (!ierr && ritz_file_write(path, contents, strlen(contents)))
    ierr = ritz_cache_move(ceed, cache, work, "note", name);
  ritz_folder_remove(work);
  RITZ_FREE(&path);
  RITZ_FREE(&work);
  return ierr;
}

int ritz_tune_record_write(Ceed ceed, const RitzHash *key, const char *name, const char *text) {
  char *file = NULL, *contents = NULL;
  RitzCache cache;
  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = make_name(ceed, key, &file);
  if (!ierr) ierr = make_contents(ceed, key, name, text, &contents);
  if (!ierr && cache.folder) ierr = publish(ceed, &cache, file, contents);
  RITZ_FREE(&contents);
  RITZ_FREE(&file);
  ritz_cache_close(&cache);
  return ierr;
}
