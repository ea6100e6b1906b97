// SPDX-License-Identifier: BSD-2-Clause
// Refused texts in the disk cache (contract in jit/refusal.h): a manifest whose "binary" is the hash of the
// key and of what follows it,
//     missing PATH       a header that was looked for would lie there
//     messages TEXT
#include "jit/refusal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "jit/files.h"
#include "jit/manifest.h"

static const char end_word[] = "\nend\n", missing_word[] = "missing ", messages_word[] = "messages ";

// ---- Logs ----

// "kernel.h:12:3: error: ...", "kernel.h(12): error: ...": a place before the word.
static bool has_place(const char *line, size_t length) {
  for (size_t i = 1; i < length; i++) {
    if (isdigit((unsigned char)line[i - 1]) && (line[i] == ':' || line[i] == ')')) return true;
    if (!strncmp(line + i, "error:", strlen("error:"))) return false;
  }
  return false;
}

static bool has_error_at_place(const char *log) {
  for (const char *at = log; (at = strstr(at, "error:")); at++) {
    const char *line = at;

    while (line > log && line[-1] != '\n') line--;
    if (has_place(line, (size_t)(at - line))) return true;
  }
  return false;
}

bool ritz_refusal_is_verdict(const char *log) {
  static const char *const machine[] = {"internal compiler error",
                                        "PLEASE submit a bug report",
                                        "No space left",
                                        "Disk quota exceeded",
                                        "Cannot allocate memory",
                                        "out of memory",
                                        "memory exhausted",
                                        "Killed",
                                        "terminated program",
                                        "due to signal",
                                        "Input/output error",
                                        "Permission denied",
                                        "Too many open files",
                                        "Stale file handle",
                                        "cannot execute",
                                        "unable to execute",
                                        "Resource temporarily unavailable"};

  for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
    if (strstr(log, machine[i])) return false;
  return has_error_at_place(log);
}

bool ritz_refusal_misses_header(const char *log) {
  return strstr(log, ": No such file or directory") || strstr(log, "' file not found") ||
         strstr(log, "cannot open source file");
}

// ---- Finding ----

static RitzHash make_check(const RitzHash *key, const char *rest) {
  RitzHasher hasher;

  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, key->hex);
  ritz_hash_add_string(&hasher, rest);
  return ritz_hash_end(&hasher);
}

// Whether all headers that the compiler missed are still absent where it looked for them.
static bool are_missing(Ceed ceed, const char *rest, int *ierr) {
  bool holds = true;

  while (!*ierr && holds && !strncmp(rest, missing_word, strlen(missing_word))) {
    const int n = (int)strcspn(rest, "\n"), start = (int)strlen(missing_word);
    char *path = NULL;

    *ierr = ritz_format(ceed, &path, "%.*s", n - start, rest + start);
    holds = !*ierr && access(path, F_OK) != 0;
    RITZ_FREE(&path);
    rest += n + (rest[n] == '\n');
  }
  return holds;
}

static int read_messages(Ceed ceed, const RitzHash *key, char *text, char **messages) {
  const char *end = strstr(text, end_word), *rest = end ? end + strlen(end_word) : "";
  const RitzHash check = make_check(key, rest);
  const char *line = strstr(rest, messages_word);
  int ierr = CEED_ERROR_SUCCESS;

  if (!line || !are_missing(ceed, rest, &ierr) || ierr) return ierr;
  line += strlen(messages_word);
  RITZ_TRY(ritz_format(ceed, messages, "%.*s", (int)strcspn(line, "\n"), line));
  if (!ritz_manifest_holds(text, &check)) RITZ_FREE(messages); // overwrites the text
  return CEED_ERROR_SUCCESS;
}

int ritz_refusal_find(Ceed ceed, const RitzCache *cache, const RitzHash *key, char **messages) {
  char *name = NULL, *text = NULL;

  *messages = NULL;
  RITZ_TRY(ritz_format(ceed, &name, "%s%s", key->hex, RITZ_REFUSAL_SUFFIX));
  int ierr = ritz_cache_read(ceed, cache, name, &text);
  if (!ierr && text) ierr = read_messages(ceed, key, text, messages);
  RITZ_FREE(&text);
  RITZ_FREE(&name);
  return ierr;
}

// ---- Keeping ----

static void add_folder_of(const char *path, RitzStrings *folders) {
  const int n = (int)(strrchr(path, '/') - path);

  for (size_t i = 0; i < folders->num; i++)
    if ((int)strlen(folders->item[i]) == n && !strncmp(folders->item[i], path, (size_t)n)) return;
  ritz_strings_add(folders, "%.*s", n, path);
}

// Paths are absolute, in front of names that are nowhere stands the current folder.
static void sort_files(const RitzStrings *all, const char *current, RitzStrings *files, RitzStrings *names,
                       RitzStrings *folders) {
  const size_t n = strlen(current);

  for (size_t i = 0; i < all->num; i++) {
    const char *path = all->item[i];

    if (!access(path, F_OK)) {
      ritz_strings_add(files, "%s", path);
      add_folder_of(path, folders);
    } else {
      ritz_strings_add(names, "%s", !strncmp(path, current, n) && path[n] == '/' ? path + n + 1 : path);
    }
  }
}

static void add_searched(const RitzRefusal *refusal, RitzStrings *folders) {
  static const RitzVariable variables[] = {ENV_CPATH, ENV_C_INCLUDE_PATH, ENV_CPLUS_INCLUDE_PATH};

  for (size_t i = 0; i < refusal->folders->num; i++)
    ritz_strings_add(folders, "%s", refusal->folders->item[i]);
  for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
    const char *list = ritz_environment(variables[i]);

    for (int n; list && *list; list += n + (list[n] == ':')) {
      n = (int)strcspn(list, ":");
      ritz_strings_add(folders, n ? "%.*s" : ".%.*s", n, list);
    }
  }
  ritz_strings_add(folders, "/usr/local/include");
  ritz_strings_add(folders, "/usr/include");
}

// Appends to *text, which becomes NULL on an error.
static int append_word(Ceed ceed, char **text, const char *word, const char *folder, const char *name) {
  char *longer = NULL;
  const int ierr = ritz_format(ceed, &longer, "%s%s%s%s%s\n", *text, word, folder, *folder ? "/" : "", name);

  RITZ_FREE(text);
  *text = longer;
  return ierr;
}

// *rest: what follows the manifest, owned by the caller.
static int make_rest(Ceed ceed, const RitzStrings *names, const RitzStrings *folders, const char *messages,
                     char **rest) {
  RITZ_TRY(ritz_strdup(ceed, "", rest));
  for (size_t i = 0; i < names->num; i++) {
    const char *name = names->item[i];

    if (name[0] == '/') RITZ_TRY(append_word(ceed, rest, missing_word, "", name));
    for (size_t k = 0; name[0] != '/' && k < folders->num; k++)
      RITZ_TRY(append_word(ceed, rest, missing_word, folders->item[k], name));
  }
  return append_word(ceed, rest, messages_word, "", messages);
}

// Paths with a line break would be read as something else.
static bool has_breaks(const RitzStrings *list) {
  for (size_t i = 0; i < list->num; i++)
    if (strchr(list->item[i], '\n')) return true;
  return false;
}

static int write_record(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *work,
                        const char *manifest, const char *rest) {
  char *path = NULL, *text = NULL, *name = NULL;
  int ierr = ritz_format(ceed, &path, "%s/refusal.txt", work);

  if (!ierr) ierr = ritz_format(ceed, &text, "%s%s", manifest, rest);
  if (!ierr) ierr = ritz_format(ceed, &name, "%s%s", key->hex, RITZ_REFUSAL_SUFFIX);
  if (!ierr && ritz_file_write(path, text, strlen(text)))
    ierr = ritz_cache_move(ceed, cache, work, "refusal.txt", name);
  RITZ_FREE(&name);
  RITZ_FREE(&text);
  RITZ_FREE(&path);
  return ierr;
}

int ritz_refusal_keep(Ceed ceed, const RitzCache *cache, const RitzHash *key, const RitzRefusal *refusal,
                      bool *is_kept) {
  RitzStrings files = {.ceed = ceed}, names = {.ceed = ceed}, folders = {.ceed = ceed};
  char *current = realpath(".", NULL), *rest = NULL, *manifest = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  *is_kept = false;
  sort_files(refusal->files, current ? current : "", &files, &names, &folders);
  add_searched(refusal, &folders);
  free(current);
  RITZ_TRY_CLEANUP(files.error ? files.error : names.error ? names.error : folders.error);
  if (has_breaks(&names) || has_breaks(&folders)) goto cleanup;
  RITZ_TRY_CLEANUP(make_rest(ceed, &names, &folders, refusal->messages, &rest));
  const RitzHash check = make_check(key, rest);
  RITZ_TRY_CLEANUP(ritz_manifest_make(ceed, refusal->name, &check, &files, refusal->start, &manifest));
  if (manifest) RITZ_TRY_CLEANUP(write_record(ceed, cache, key, refusal->work, manifest, rest));
  *is_kept = manifest != NULL;
  RITZ_TRY_CLEANUP(ritz_cache_prune(ceed, cache));
cleanup:
  RITZ_FREE(&manifest);
  RITZ_FREE(&rest);
  ritz_strings_free(&files);
  ritz_strings_free(&names);
  ritz_strings_free(&folders);
  return ierr;
}

// ---- For people ----

int ritz_refusal_describe(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *messages,
                          const char *log, char **text) {
  static const char hint[] =
      "; more folders of headers: CeedAddJitSourceRoot, or RITZ_INCLUDE_PATH=FOLDER:FOLDER";
  char *kept = NULL;

  if (!log) RITZ_TRY(ritz_cache_find_log(ceed, cache, key, &kept));
  if (!log) log = kept ? kept : "set RITZ_DUMP to a folder";
  int ierr = ritz_format(ceed, text, "%s%s (the whole log: %s)", *messages ? messages : "no message",
                         ritz_refusal_misses_header(messages) ? hint : "", log);
  RITZ_FREE(&kept);
  return ierr;
}
