// SPDX-License-Identifier: BSD-2-Clause
// Warnings that appear once (ritz_jit_is_news, contract in jit/jit.h): a list of this process, and an empty
// file for all that share a cache, <hash of name and contents>.told, whose age is that of the last warning.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/cache.h"
#include "jit/files.h"

// ---- This process ----

// Kept until the process ends; guarded by RITZ_LOCK_JIT.
typedef struct Warning {
  struct Warning *next;
  RitzHash hash;
} Warning;
static Warning *warnings;

static bool add_locked(Ceed ceed, const RitzHash *hash, int *ierr) {
  Warning *fresh = NULL;

  for (const Warning *t = warnings; t; t = t->next)
    if (!strcmp(t->hash.hex, hash->hex)) return false;
  *ierr = RITZ_CALLOC(ceed, 1, &fresh);
  if (*ierr) return false;
  ritz_memory_give(fresh);
  *fresh = (Warning){warnings, *hash};
  warnings = fresh;
  return true;
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

static int add_on_disk(Ceed ceed, const RitzHash *hash, bool *is_news) {
  RitzCache cache;
  char *path = NULL;

  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = CEED_ERROR_SUCCESS;
  if (cache.folder) ierr = ritz_format(ceed, &path, "%s/%s%s", cache.folder, hash->hex, RITZ_NEWS_SUFFIX);
  if (path) *is_news = add_file(path);
  RITZ_FREE(&path);
  ritz_cache_close(&cache);
  return ierr;
}

// ---- The call ----

static RitzHash make_hash(const char *user_file) {
  RitzHash contents = {""};
  RitzHasher hasher;

  if (!ritz_file_hash_path(user_file, &contents)) contents.hex[0] = '\0';
  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, user_file);
  ritz_hash_add_string(&hasher, contents.hex);
  return ritz_hash_end(&hasher);
}

int ritz_jit_is_news(Ceed ceed, const char *user_file, bool *is_news) {
  const char *warnings = ritz_environment("RITZ_WARNINGS");
  const RitzHash hash = make_hash(user_file);
  int ierr = CEED_ERROR_SUCCESS;

  *is_news = warnings && !strcmp(warnings, "all");
  if (*is_news) return CEED_ERROR_SUCCESS;
  ritz_lock(RITZ_LOCK_JIT);
  *is_news = add_locked(ceed, &hash, &ierr);
  ritz_unlock(RITZ_LOCK_JIT);
  return *is_news ? add_on_disk(ceed, &hash, is_news) : ierr;
}
