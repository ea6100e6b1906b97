// SPDX-License-Identifier: BSD-2-Clause
// Manifests of cache entries (contract in jit/manifest.h):
//     ritz-jit 1
//     name NAME
//     binary HASH
//     file SIZE TIME HASH PATH        TIME 0: too young to be trusted, the hash decides
//     end
#include "jit/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const char first_line[] = "ritz-jit 1\n";

// A file may change twice while the clock of a file system stands still.
static const int64_t clock_error = 2000000000; // ns

// ---- Lists for make ----

static bool is_blank(char c) { return c && strchr(" \t\r\n", c); }

// Lines that end with a backslash go on in the next one.
static void join_lines(char *list) {
  for (char *at = list; *at; at++)
    if (at[0] == '\\' && (at[1] == '\n' || at[1] == '\r')) *at = ' ';
}

// Copies the next word of a rule to `word` and returns what follows it. Where make could misread a character
// of a name there stands a backslash before a blank (and before each backslash that precedes it) and before
// '#', and '$' is doubled.
static const char *next_word(const char *at, char *word) {
  while (is_blank(*at)) at++;
  while (*at && !is_blank(*at)) {
    size_t n = strspn(at, "\\"), num_kept = n;
    char after = at[n];

    if (after == '#' && n) num_kept = n - 1;
    if (is_blank(after)) num_kept = n / 2;
    memset(word, '\\', num_kept);
    word += num_kept;
    at += n;
    if (is_blank(after) && n % 2 == 0) break;
    if (after == '$' && at[1] == '$') at++;
    if (after) *word++ = *at++;
  }
  *word = '\0';
  return at;
}

static bool begins(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

static bool is_systems(const char *path) {
  return begins(path, "/usr/include/") || begins(path, "/usr/lib/") || begins(path, "/usr/lib64/");
}

static int add_file(const char *path, const char *work, RitzStrings *files) {
  if ((begins(path, work) && path[strlen(work)] == '/') || is_systems(path)) return CEED_ERROR_SUCCESS;
  char *folder = path[0] == '/' ? NULL : realpath(".", NULL);

  ritz_strings_add(files, "%s%s%s", folder ? folder : "", folder ? "/" : "", path);
  free(folder);
  return files->error;
}

int ritz_manifest_read_list(Ceed ceed, char *list, const char *work, RitzStrings *files) {
  char *word = NULL;
  int ierr = RITZ_MALLOC(ceed, strlen(list) + 1, &word);

  join_lines(list);
  const char *at = strchr(list, ':');
  for (at = at ? at + 1 : ""; !ierr && *at;) {
    at = next_word(at, word);
    if (*word) ierr = add_file(word, work, files);
  }
  RITZ_FREE(&word);
  return ierr;
}

// ---- Making ----

// One line, appended to *text; *text becomes NULL when the file is not what the compiler read.
static int append_file(Ceed ceed, const char *path, int64_t start, char **text) {
  struct stat status;
  RitzHash hash;
  char *longer = NULL;
  bool is_same = !strchr(path, '\n') && !stat(path, &status) && ritz_file_time(&status) < start &&
                 ritz_file_hash_path(path, &hash);

  if (is_same) {
    int64_t time = ritz_file_time(&status) < start - clock_error ? ritz_file_time(&status) : 0;

    RITZ_TRY(ritz_format(ceed, &longer, "%sfile %" PRId64 " %" PRId64 " %s %s\n", *text,
                         (int64_t)status.st_size, time, hash.hex, path));
  }
  RITZ_FREE(text);
  *text = longer;
  return CEED_ERROR_SUCCESS;
}

int ritz_manifest_make(Ceed ceed, const char *name, const RitzHash *binary, const RitzStrings *files,
                       int64_t start, char **text) {
  char *body = NULL;
  int ierr = ritz_format(ceed, &body, "%sname %s\nbinary %s\n", first_line, name, binary->hex);

  *text = NULL;
  for (size_t i = 0; !ierr && body && i < files->num; i++)
    ierr = append_file(ceed, files->item[i], start, &body);
  if (!ierr && body) ierr = ritz_format(ceed, text, "%send\n", body);
  RITZ_FREE(&body);
  return ierr;
}

// ---- Checking ----

static bool file_is_same(const char *line) {
  int64_t size, time;
  RitzHash wanted, found;
  struct stat status;
  int path = 0;

  if (sscanf(line, "file %" SCNd64 " %" SCNd64 " %40s%n", &size, &time, wanted.hex, &path) != 3) return false;
  if (line[path] != ' ' || stat(line + path + 1, &status) || (int64_t)status.st_size != size) return false;
  if (time && ritz_file_time(&status) == time) return true;
  return ritz_file_hash_path(line + path + 1, &found) && !strcmp(wanted.hex, found.hex);
}

// The line at *text without its end, *text moves on; NULL: there is no whole line.
static char *next_line(char **text) {
  char *line = *text, *end = strchr(line, '\n');

  if (!end) return NULL;
  *end = '\0';
  *text = end + 1;
  return line;
}

bool ritz_manifest_holds(char *text, const RitzHash *binary) {
  RitzHash wanted;
  char *line;

  if (!begins(text, first_line)) return false;
  text += strlen(first_line);
  line = next_line(&text);
  if (!line || !begins(line, "name ")) return false;
  line = next_line(&text);
  if (!line || sscanf(line, "binary %40s", wanted.hex) != 1 || strcmp(wanted.hex, binary->hex) != 0)
    return false;
  while ((line = next_line(&text)) && begins(line, "file "))
    if (!file_is_same(line)) return false;
  return line && !strcmp(line, "end");
}

bool ritz_manifest_name(const char *text, size_t size, char *name) {
  static const char key[] = "name ";

  if (!begins(text, first_line) || !begins(text + strlen(first_line), key)) return false;
  text += strlen(first_line) + strlen(key);
  snprintf(name, size, "%.*s", (int)strcspn(text, "\n"), text);
  return true;
}
