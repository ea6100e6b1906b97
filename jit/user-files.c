// SPDX-License-Identifier: BSD-2-Clause
// Users' files that texts include (contract in jit/jit.h): their languages, and which of them people were
// warned about. A list of this process; for all that share a cache an empty file a warning, <hash of name and
// contents>.told, whose age is that of the last warning.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/cache.h"
#include "jit/files.h"

// ---- This process ----

// Kept until the process ends; guarded by RITZ_LOCK_JIT.
typedef struct File {
  struct File *next;
  RitzHash hash;
  bool is_warned;
  RitzJitLanguage language;
} File;
static File *files;

static int find_locked(Ceed ceed, const RitzHash *hash, File **file) {
  for (*file = files; *file; *file = (*file)->next)
    if (!strcmp((*file)->hash.hex, hash->hex)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, file));
  ritz_memory_give(*file);
  **file = (File){.next = files, .hash = *hash};
  files = *file;
  return CEED_ERROR_SUCCESS;
}

// ---- All processes ----

// Renews the age of a file that is older than a day.
static bool is_old(const char *path) {
  enum { DAY = 24 * 3600 };
  struct stat status;

  return !stat(path, &status) && time(NULL) - status.st_mtime >= DAY && !utimensat(AT_FDCWD, path, NULL, 0);
}

// A folder that cannot be written to remembers nothing.
static bool add_file(const char *path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

  if (fd < 0) return errno != EEXIST || is_old(path);
  close(fd);
  return true;
}

static int add_on_disk(Ceed ceed, const RitzHash *hash, bool *is_first) {
  RitzCache cache;
  char *path = NULL;

  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = CEED_ERROR_SUCCESS;
  if (cache.folder) ierr = ritz_format(ceed, &path, "%s/%s%s", cache.folder, hash->hex, RITZ_WARNED_SUFFIX);
  if (path) *is_first = add_file(path);
  RITZ_FREE(&path);
  ritz_cache_close(&cache);
  return ierr;
}

// ---- The calls ----

static void begin_hash(const char *user_file, RitzHasher *hasher) {
  RitzHash contents = {""};

  if (!ritz_file_hash_path(user_file, &contents)) contents.hex[0] = '\0';
  ritz_hash_begin(hasher);
  ritz_hash_add_string(hasher, user_file);
  ritz_hash_add_string(hasher, contents.hex);
}

static RitzHash make_hash(const char *user_file) {
  RitzHasher hasher;

  begin_hash(user_file, &hasher);
  return ritz_hash_end(&hasher);
}

// The hash of a file and the compilers that refuse or accept it.
static RitzHash make_language_hash(const char *user_file) {
  RitzHasher hasher;

  begin_hash(user_file, &hasher);
  ritz_hash_add_string(&hasher, ritz_environment(ENV_RITZ_CC));
  ritz_hash_add_string(&hasher, ritz_environment(ENV_RITZ_CXX));
  return ritz_hash_end(&hasher);
}

int ritz_jit_is_first_warning(Ceed ceed, const char *user_file, bool *is_first) {
  const char *warnings = ritz_environment(ENV_RITZ_WARNINGS);
  const RitzHash hash = make_hash(user_file);
  File *file;

  *is_first = warnings && !strcmp(warnings, "all");
  if (*is_first) return CEED_ERROR_SUCCESS;
  ritz_lock(RITZ_LOCK_JIT);
  const int ierr = find_locked(ceed, &hash, &file);
  *is_first = !ierr && !file->is_warned;
  if (*is_first) file->is_warned = true;
  ritz_unlock(RITZ_LOCK_JIT);
  return *is_first ? add_on_disk(ceed, &hash, is_first) : ierr;
}

int ritz_jit_remember_language(Ceed ceed, const char *user_file, RitzJitLanguage language) {
  const RitzHash hash = make_language_hash(user_file);
  File *file;

  ritz_lock(RITZ_LOCK_JIT);
  const int ierr = find_locked(ceed, &hash, &file);
  if (!ierr) file->language = language;
  ritz_unlock(RITZ_LOCK_JIT);
  return ierr;
}

RitzJitLanguage ritz_jit_language_of_file(const char *user_file) {
  RitzJitLanguage language = RITZ_JIT_C;
  const File *file;

  ritz_lock(RITZ_LOCK_JIT);
  const bool is_known = files;
  ritz_unlock(RITZ_LOCK_JIT);
  if (!is_known) return language; // most programs
  const RitzHash hash = make_language_hash(user_file);
  ritz_lock(RITZ_LOCK_JIT);
  for (file = files; file && strcmp(file->hash.hex, hash.hex) != 0;) file = file->next;
  if (file) language = file->language;
  ritz_unlock(RITZ_LOCK_JIT);
  return language;
}
