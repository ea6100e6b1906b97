// SPDX-License-Identifier: BSD-2-Clause
// The disk cache (contracts in jit/cache.h and, for ritz_jit_folder, _list and _clear, in jit/jit.h).
#include "jit/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/files.h"
#include "jit/manifest.h"
#include "jit/tune-record.h"

// ---- The folders ----

// *path: where the cache belongs, owned by the caller; NULL: *why.
static int choose_folder(Ceed ceed, char **path, const char **why) {
  const char *off = ritz_environment(ENV_RITZ_CACHE), *own = ritz_environment(ENV_RITZ_CACHE_DIR);
  const char *caches = ritz_environment(ENV_XDG_CACHE_HOME), *home = ritz_environment(ENV_HOME);

  *why = NULL;
  if (ritz_is_set_uid()) *why = "a set-uid program does not trust its environment";
  if (off && !strcmp(off, "off")) *why = "RITZ_CACHE=off";
  if (*why) return CEED_ERROR_SUCCESS;
  if (own) return ritz_strdup(ceed, own, path);
  if (caches && caches[0] == '/') return ritz_format(ceed, path, "%s/ritz", caches); // the XDG rule: absolute
  if (home) return ritz_format(ceed, path, "%s/.cache/ritz", home);
  *why = "none of RITZ_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  return CEED_ERROR_SUCCESS;
}

static int open_own(Ceed ceed, RitzCache *cache) {
  char *path = NULL, *real = NULL;
  int ierr = choose_folder(ceed, &path, &cache->why);

  if (!ierr && path) {
    cache->why =
        ritz_folder_make(path, 0700) ? ritz_folder_doubt(path, geteuid()) : "the folder cannot be made";
    if (!cache->why && !(real = realpath(path, NULL))) cache->why = "the folder cannot be read";
    if (real) ierr = ritz_strdup(ceed, real, &cache->folder);
  }
  free(real);
  RITZ_FREE(&path);
  return ierr;
}

static int open_site(Ceed ceed, RitzCache *cache) {
  const char *off = ritz_environment(ENV_RITZ_CACHE), *site = ritz_environment(ENV_RITZ_SITE_CACHE);

  if (off && !strcmp(off, "off")) return CEED_ERROR_SUCCESS;
  if (!site) site = "/var/cache/ritz";
  return ritz_folder_doubt(site, 0) ? CEED_ERROR_SUCCESS : ritz_strdup(ceed, site, &cache->site);
}

int ritz_cache_open(Ceed ceed, RitzCache *cache) {
  *cache = (RitzCache){.folder = NULL};
  int ierr = open_own(ceed, cache);
  if (!ierr) ierr = open_site(ceed, cache);
  if (ierr) ritz_cache_close(cache);
  return ierr;
}

void ritz_cache_close(RitzCache *cache) {
  RITZ_FREE(&cache->folder);
  RITZ_FREE(&cache->site);
}

// ---- Reading ----

// *text: contents of folder/name + suffix, owned by the caller; NULL when it is not there or not trusted.
static int read_in(Ceed ceed, const char *folder, uid_t owner, const char *name, const char *suffix,
                   char **text) {
  char *path = NULL;
  int ierr = ritz_format(ceed, &path, "%s/%s%s", folder, name, suffix);

  *text = NULL;
  if (!ierr) {
    int fd = ritz_file_open(path, owner);

    if (fd >= 0) ierr = ritz_file_read(ceed, fd, text);
    if (fd >= 0) close(fd);
  }
  RITZ_FREE(&path);
  return ierr;
}

static int find_in(Ceed ceed, const char *folder, uid_t owner, const RitzHash *key, const char *suffix,
                   int *fd, char **path) {
  char *manifest = NULL;
  RitzHash hash;

  RITZ_TRY(read_in(ceed, folder, owner, key->hex, ".txt", &manifest));
  if (!manifest) return CEED_ERROR_SUCCESS;
  int ierr = ritz_format(ceed, path, "%s/%s%s", folder, key->hex, suffix);
  if (!ierr) *fd = ritz_file_open(*path, owner);
  if (*fd >= 0 && (!ritz_file_hash(*fd, &hash) || !ritz_manifest_holds(manifest, &hash))) {
    close(*fd);
    *fd = -1;
  }
  if (*fd < 0) RITZ_FREE(path);
  RITZ_FREE(&manifest);
  return ierr;
}

int ritz_cache_find(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *suffix, int *fd,
                    char **path) {
  *fd = -1;
  *path = NULL;
  if (cache->folder) RITZ_TRY(find_in(ceed, cache->folder, geteuid(), key, suffix, fd, path));
  if (*fd < 0 && cache->site) RITZ_TRY(find_in(ceed, cache->site, 0, key, suffix, fd, path));
  return CEED_ERROR_SUCCESS;
}

int ritz_cache_read(Ceed ceed, const RitzCache *cache, const char *name, char **text) {
  *text = NULL;
  if (cache->folder) RITZ_TRY(read_in(ceed, cache->folder, geteuid(), name, "", text));
  if (!*text && cache->site) RITZ_TRY(read_in(ceed, cache->site, 0, name, "", text));
  return CEED_ERROR_SUCCESS;
}

// ---- Writing ----

int ritz_cache_move(Ceed ceed, const RitzCache *cache, const char *work, const char *file, const char *name) {
  char *from = NULL, *to = NULL;
  int ierr = ritz_format(ceed, &from, "%s/%s", work, file);

  if (!ierr) ierr = ritz_format(ceed, &to, "%s/%s", cache->folder, name);
  if (!ierr) {
    chmod(from, 0644); // whatever the umask: a file that a group may write to would not be read again
    rename(from, to);
  }
  RITZ_FREE(&from);
  RITZ_FREE(&to);
  return ierr;
}

// The binary goes first: an entry without its manifest, or with one of another binary, is no entry.
int ritz_cache_publish(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *work,
                       const char *file, const char *suffix, const char *manifest) {
  char *path = NULL, name[64];
  int ierr = ritz_format(ceed, &path, "%s/manifest.txt", work);

  if (!ierr && ritz_file_write(path, manifest, strlen(manifest))) {
    snprintf(name, sizeof(name), "%s%s", key->hex, suffix);
    ierr = ritz_cache_move(ceed, cache, work, file, name);
    snprintf(name, sizeof(name), "%s.txt", key->hex);
    if (!ierr) ierr = ritz_cache_move(ceed, cache, work, "manifest.txt", name);
  }
  RITZ_FREE(&path);
  return ierr;
}

enum { LOG_NAME_SIZE = 32, DAY = 24 * 3600 };

static void log_name(const RitzHash *key, char name[LOG_NAME_SIZE]) {
  snprintf(name, LOG_NAME_SIZE, "failed-%.8s.log", key->hex);
}

int ritz_cache_keep_log(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *work,
                        const char *file, char **path) {
  char name[LOG_NAME_SIZE];

  log_name(key, name);
  RITZ_TRY(ritz_cache_move(ceed, cache, work, file, name));
  return ritz_format(ceed, path, "%s/%s", cache->folder, name);
}

int ritz_cache_find_log(Ceed ceed, const RitzCache *cache, const RitzHash *key, char **path) {
  char name[LOG_NAME_SIZE];

  *path = NULL;
  if (!cache->folder) return CEED_ERROR_SUCCESS;
  log_name(key, name);
  RITZ_TRY(ritz_format(ceed, path, "%s/%s", cache->folder, name));
  if (access(*path, F_OK)) RITZ_FREE(path);
  return CEED_ERROR_SUCCESS;
}

// ---- Locks ----

// The holder of the lock removes the file, so it may have gone between opening and locking.
static bool is_still_there(const char *path, int fd) {
  struct stat there, here;

  return !fstat(fd, &here) && !stat(path, &there) && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

int ritz_cache_lock(Ceed ceed, const RitzCache *cache, const RitzHash *key, RitzCacheLock *lock,
                    bool *is_busy) {
  *lock = (RitzCacheLock){NULL, -1};
  *is_busy = false;
  if (!cache->folder) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_format(ceed, &lock->path, "%s/%s.lock", cache->folder, key->hex));
  lock->fd = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  int code = lock->fd < 0 ? -1 : flock(lock->fd, LOCK_EX | LOCK_NB);
  if (!code && is_still_there(lock->path, lock->fd)) return CEED_ERROR_SUCCESS;
  *is_busy = !code || errno == EWOULDBLOCK || errno == EINTR;
  if (lock->fd >= 0) close(lock->fd);
  lock->fd = -1;
  RITZ_FREE(&lock->path);
  return CEED_ERROR_SUCCESS;
}

void ritz_cache_unlock(RitzCacheLock *lock) {
  if (!lock->path) return;
  unlink(lock->path);
  close(lock->fd);
  RITZ_FREE(&lock->path);
}

int ritz_cache_unlock_if_refused(Ceed ceed, const RitzCache *cache, const RitzHash *key,
                                 RitzCacheLock *lock) {
  char *path = NULL;

  if (!lock->path) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cache_find_log(ceed, cache, key, &path));
  if (path) ritz_cache_unlock(lock);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

// ---- What lies in the folder ----

typedef enum {
  NAME_FOREIGN,
  NAME_MANIFEST,
  NAME_BINARY,
  NAME_TUNE_RECORD,
  NAME_REFUSAL,
  NAME_WARNED,
  NAME_LOCK,
  NAME_LOG,
  NAME_COMPILER,
  NAME_WORK
} NameKind;

static bool matches(const char *name, const char *start, size_t num_digits, const char *end) {
  size_t n = strlen(start);

  return !strncmp(name, start, n) && strspn(name + n, "0123456789abcdef") == num_digits &&
         !strcmp(name + n + num_digits, end);
}

// Recognizes names of the cache alone: the user may keep other files in the folder.
static NameKind kind_of_name(const char *name) {
  static const struct {
    const char *start;
    size_t num_digits;
    const char *end;
    NameKind kind;
  } patterns[] = {{"", RITZ_HASH_LENGTH, ".txt", NAME_MANIFEST},
                  {"", RITZ_HASH_LENGTH, ".so", NAME_BINARY},
                  {"", RITZ_HASH_LENGTH, ".bin", NAME_BINARY},
                  {"", RITZ_HASH_LENGTH, RITZ_TUNE_SUFFIX, NAME_TUNE_RECORD},
                  {"", RITZ_HASH_LENGTH, RITZ_REFUSAL_SUFFIX, NAME_REFUSAL},
                  {"", RITZ_HASH_LENGTH, RITZ_WARNED_SUFFIX, NAME_WARNED},
                  {"", RITZ_HASH_LENGTH, ".lock", NAME_LOCK},
                  {"failed-", 8, ".log", NAME_LOG},
                  {"compiler-", RITZ_HASH_LENGTH, ".txt", NAME_COMPILER}};

  for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
    if (matches(name, patterns[i].start, patterns[i].num_digits, patterns[i].end)) return patterns[i].kind;
  return !strncmp(name, "ritz-jit-", 9) && strlen(name) == 15 ? NAME_WORK : NAME_FOREIGN;
}

// Calls visit(ceed, data, path, name, kind) for every name of ours in the folder.
typedef int (*Visit)(Ceed ceed, void *data, const char *path, const char *name, NameKind kind);

static int visit_folder(Ceed ceed, const char *folder, Visit visit, void *data) {
  DIR *stream = opendir(folder);
  struct dirent *entry;
  int ierr = CEED_ERROR_SUCCESS;

  while (stream && !ierr && (entry = readdir(stream))) {
    NameKind kind = kind_of_name(entry->d_name);
    char *path = NULL;

    if (kind == NAME_FOREIGN) continue;
    ierr = ritz_format(ceed, &path, "%s/%s", folder, entry->d_name);
    if (!ierr) ierr = visit(ceed, data, path, entry->d_name, kind);
    RITZ_FREE(&path);
  }
  if (stream) closedir(stream);
  return ierr;
}

// Seconds that a file is kept; 0: for good.
static time_t lifetime(NameKind kind) {
  switch (kind) {
  case NAME_LOCK:
  case NAME_WORK:
  case NAME_WARNED: return DAY;
  case NAME_LOG:
  case NAME_REFUSAL: return 30 * DAY;
  default: return 0;
  }
}

static int remove_if_old(Ceed ceed, void *data, const char *path, const char *name, NameKind kind) {
  const time_t limit = lifetime(kind);
  struct stat status;

  (void)ceed, (void)data, (void)name;
  if (!limit || lstat(path, &status) || status.st_uid != geteuid() || time(NULL) - status.st_mtime < limit)
    return CEED_ERROR_SUCCESS;
  if (kind == NAME_WORK && S_ISDIR(status.st_mode)) ritz_folder_remove(path);
  if (kind != NAME_WORK) unlink(path);
  return CEED_ERROR_SUCCESS;
}

int ritz_cache_remove_old_once(Ceed ceed, const RitzStrings *folders) {
  static bool is_done;

  ritz_lock(RITZ_LOCK_JIT);
  bool is_needed = !is_done;
  is_done = true;
  ritz_unlock(RITZ_LOCK_JIT);
  for (size_t i = 0; is_needed && i < folders->num; i++)
    RITZ_TRY(visit_folder(ceed, folders->item[i], remove_if_old, NULL));
  return CEED_ERROR_SUCCESS;
}

// Files of one kind.
typedef struct {
  char *path; // owned
  int64_t time;
} DatedFile;

typedef struct {
  NameKind kind;
  size_t num, capacity;
  DatedFile *files; // owned
} DatedList;

static int add_dated(Ceed ceed, void *data, const char *path, const char *name, NameKind kind) {
  DatedList *list = data;
  struct stat status;

  (void)name;
  if (kind != list->kind || lstat(path, &status)) return CEED_ERROR_SUCCESS;
  if (list->num == list->capacity) {
    RITZ_TRY(RITZ_REALLOC(ceed, 2 * list->capacity + 16, &list->files));
    list->capacity = 2 * list->capacity + 16;
  }
  list->files[list->num] = (DatedFile){.time = ritz_file_time(&status)};
  RITZ_TRY(ritz_strdup(ceed, path, &list->files[list->num].path));
  list->num++;
  return CEED_ERROR_SUCCESS;
}

static int compare_newest_first(const void *a, const void *b) {
  const DatedFile *x = a, *y = b;

  return (x->time < y->time) - (x->time > y->time);
}

int ritz_cache_prune(Ceed ceed, const RitzCache *cache) {
  static const struct {
    NameKind kind;
    size_t most;
  } kinds[] = {{NAME_REFUSAL, 500}, {NAME_LOG, 30}}; // a large program may have hundreds of operators
  int ierr = CEED_ERROR_SUCCESS;

  for (size_t k = 0; cache->folder && !ierr && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
    DatedList list = {.kind = kinds[k].kind};

    ierr = visit_folder(ceed, cache->folder, add_dated, &list);
    if (list.num) qsort(list.files, list.num, sizeof(list.files[0]), compare_newest_first);
    for (size_t i = kinds[k].most; !ierr && i < list.num; i++) unlink(list.files[i].path);
    for (size_t i = 0; i < list.num; i++) RITZ_FREE(&list.files[i].path);
    RITZ_FREE(&list.files);
  }
  return ierr;
}

// ---- For people ----

// The same text at an address that stays valid; more than one is kept only when the environment changes.
static const char *keep(const char *text) {
  typedef struct Kept {
    struct Kept *next;
    char *text;
  } Kept;
  static Kept *all;
  Kept *kept, *fresh = NULL;

  ritz_lock(RITZ_LOCK_JIT);
  for (kept = all; kept && strcmp(kept->text, text) != 0;) kept = kept->next;
  if (!kept && !RITZ_CALLOC(NULL, 1, &fresh) && !ritz_strdup(NULL, text, &fresh->text)) {
    ritz_memory_give(fresh->text);
    ritz_memory_give(fresh);
    fresh->next = all;
    kept = all = fresh;
  }
  ritz_unlock(RITZ_LOCK_JIT);
  if (!kept) RITZ_FREE(&fresh);
  return kept ? kept->text : NULL;
}

const char *ritz_jit_folder(const char **why) {
  const char *folder = NULL;
  RitzCache cache;

  *why = "out of memory";
  if (ritz_cache_open(NULL, &cache)) return NULL;
  if (cache.why) *why = cache.why;
  if (cache.folder) folder = keep(cache.folder);
  ritz_cache_close(&cache);
  return folder;
}

typedef struct {
  size_t num;
  RitzJitEntry *entries; // owned
} EntryList;

// Size of the binary beside a manifest; -1: there is none.
static int binary_size(Ceed ceed, const char *manifest, int64_t *size) {
  static const char *const suffixes[] = {".so", ".bin"};
  struct stat status;

  *size = -1;
  for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
    char *path = NULL;

    RITZ_TRY(
        ritz_format(ceed, &path, "%.*s%s", (int)(strlen(manifest) - strlen(".txt")), manifest, suffixes[i]));
    if (!stat(path, &status)) *size = (int64_t)status.st_size;
    RITZ_FREE(&path);
  }
  return CEED_ERROR_SUCCESS;
}

static int add_entry(Ceed ceed, void *data, const char *path, const char *name, NameKind kind) {
  EntryList *list = data;
  RitzJitEntry entry = {.is_tuning = kind == NAME_TUNE_RECORD, .is_refused = kind == NAME_REFUSAL};
  struct stat text;
  int64_t size = 0;
  char *contents = NULL;

  if (kind != NAME_MANIFEST && kind != NAME_TUNE_RECORD && kind != NAME_REFUSAL) return CEED_ERROR_SUCCESS;
  if (kind == NAME_MANIFEST) RITZ_TRY(binary_size(ceed, path, &size));
  int ierr = ritz_file_read_path(ceed, path, &contents);
  if (!ierr && contents &&
      (kind == NAME_TUNE_RECORD ? ritz_tune_record_name : ritz_manifest_name)(contents, sizeof(entry.name),
                                                                              entry.name) &&
      !stat(path, &text) && size >= 0) {
    snprintf(entry.key, sizeof(entry.key), "%.*s", RITZ_HASH_LENGTH, name);
    entry.num_bytes = (size_t)text.st_size + (size_t)size;
    entry.modified = text.st_mtime;
    ierr = RITZ_REALLOC(ceed, list->num + 1, &list->entries);
    if (!ierr) list->entries[list->num++] = entry;
  }
  RITZ_FREE(&contents);
  return ierr;
}

static int compare_cache_entries(const void *a, const void *b) {
  const RitzJitEntry *x = a, *y = b;
  int order = strcmp(x->name, y->name);

  return order ? order : strcmp(x->key, y->key);
}

int ritz_jit_list(Ceed ceed, size_t *num, RitzJitEntry **entries) {
  EntryList list = {0, NULL};
  RitzCache cache;

  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = cache.folder ? visit_folder(ceed, cache.folder, add_entry, &list) : CEED_ERROR_SUCCESS;
  ritz_cache_close(&cache);
  if (ierr) RITZ_FREE(&list.entries);
  RITZ_TRY(ierr);
  if (list.num) qsort(list.entries, list.num, sizeof(list.entries[0]), compare_cache_entries);
  *num = list.num;
  *entries = list.entries;
  return CEED_ERROR_SUCCESS;
}

// Locks and work folders of a running compilation stay.
static int remove_entry(Ceed ceed, void *data, const char *path, const char *name, NameKind kind) {
  size_t *num_removed = data;

  if (kind == NAME_LOCK || kind == NAME_WORK) return remove_if_old(ceed, NULL, path, name, kind);
  if (!unlink(path) && (kind == NAME_MANIFEST || kind == NAME_TUNE_RECORD || kind == NAME_REFUSAL))
    ++*num_removed;
  return CEED_ERROR_SUCCESS;
}

int ritz_jit_clear(Ceed ceed, size_t *num_removed) {
  RitzCache cache;

  *num_removed = 0;
  RITZ_TRY(ritz_cache_open(ceed, &cache));
  int ierr = cache.folder ? visit_folder(ceed, cache.folder, remove_entry, num_removed) : CEED_ERROR_SUCCESS;
  ritz_cache_close(&cache);
  return ierr;
}
