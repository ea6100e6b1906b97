// SPDX-License-Identifier: BSD-2-Clause
// Device code in the disk cache (contract in jit/binary.h).
#include "jit/binary.h"

#include <ritz/version.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "jit/cache.h"
#include "jit/files.h"
#include "jit/manifest.h"
#include "jit/module.h"
#include "jit/process.h"
#include "jit/refusal.h"
#include "jit/report.h"
#include "jit/work-folder.h"

static const char suffix[] = ".bin";

// One call.
typedef struct {
  Ceed ceed;
  const RitzJitBinary *source; // borrowed
  RitzJitMakeBinary make;
  void *data;
  RitzCache cache;
  RitzHash key;
  RitzCacheLock lock;
  bool has_waited; // for the lock
  char *work;      // owned; a folder inside the cache, NULL when there is none
  char *bytes;     // owned; the result
  size_t num_bytes;
  char *reason; // owned; why the text is refused
  RitzJitCounters counters;
} Task;

// The key: a hash of everything that the bytes depend on, behind a word that keys of CPU texts do not begin
// with.
static RitzHash make_binary_key(const RitzJitBinary *source) {
  const int version[] = {RITZ_VERSION_MAJOR, RITZ_VERSION_MINOR, RITZ_VERSION_PATCH, (int)sizeof(CeedScalar)};
  RitzHasher hasher;

  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, "device code");
  ritz_hash_add(&hasher, version, sizeof(version));
  ritz_hash_add(&hasher, &source->num_words, sizeof(source->num_words));
  for (size_t i = 0; i < source->num_words; i++) ritz_hash_add_string(&hasher, source->words[i]);
  ritz_hash_add_string(&hasher, source->text);
  return ritz_hash_end(&hasher);
}

// ---- Finding ----

// *folder: of the dump, owned by the caller, or NULL.
static int dump(const Task *task, const char *log, char **folder) {
  return ritz_report_dump_binary(task->ceed, task->source, &task->key, log, task->num_bytes, task->bytes,
                                 folder);
}

static int dump_found(const Task *task, const char *path) {
  char *log = NULL, *folder = NULL;

  RITZ_TRY(ritz_format(task->ceed, &log, "not compiled: %s was in the cache\n", path));
  int ierr = dump(task, log, &folder);
  RITZ_FREE(&folder);
  RITZ_FREE(&log);
  return ierr;
}

// Sets task->reason when the text is known to be refused.
static int look_for_refusal(Task *task) {
  char *messages = NULL;

  RITZ_TRY(ritz_refusal_find(task->ceed, &task->cache, &task->key, &messages));
  if (!messages) return CEED_ERROR_SUCCESS;
  int ierr = ritz_refusal_describe(task->ceed, &task->cache, &task->key, messages, NULL, &task->reason);
  task->counters.failures++;
  RITZ_FREE(&messages);
  return ierr;
}

// Sets task->bytes when there is an entry, or task->reason.
static int look_on_disk(Task *task) {
  double start = ritz_seconds();
  char *path = NULL;
  int fd = -1;

  RITZ_TRY(ritz_cache_find(task->ceed, &task->cache, &task->key, suffix, &fd, &path));
  if (fd < 0) return look_for_refusal(task);
  int ierr = ritz_file_read_bytes(task->ceed, fd, &task->num_bytes, &task->bytes);
  if (!ierr && task->bytes) {
    task->counters.disk_hits++;
    task->counters.load_seconds += ritz_seconds() - start;
    ierr = dump_found(task, path);
  }
  RITZ_FREE(&path);
  close(fd);
  return ierr;
}

// A holder that takes longer than any compiler may is overtaken.
static int wait_for_lock(Task *task) {
  double start = ritz_seconds(), moment = 0;
  bool is_busy = false;

  for (;;) {
    RITZ_TRY(ritz_cache_lock(task->ceed, &task->cache, &task->key, &task->lock, &is_busy));
    if (!is_busy || ritz_seconds() - start >= ritz_process_limit()) return CEED_ERROR_SUCCESS;
    task->has_waited = true;
    ritz_pause(&moment);
  }
}

// ---- Keeping ----

static int open_binary_work(Task *task) {
  if (!task->cache.folder) return CEED_ERROR_SUCCESS;
  return ritz_folder_make_temporary(task->ceed, task->cache.folder, &task->work);
}

static int write_in_work(const Task *task, const char *name, const void *data, size_t size,
                         bool *is_written) {
  char *path = NULL;

  *is_written = false;
  if (!task->work) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_format(task->ceed, &path, "%s/%s", task->work, name));
  *is_written = ritz_file_write(path, data, size);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

static int publish_binary(const Task *task) {
  const RitzStrings no_files = {.num = 0};
  char *manifest = NULL;
  RitzHasher hasher;
  bool is_written;

  RITZ_TRY(write_in_work(task, "kernel.bin", task->bytes, task->num_bytes, &is_written));
  if (!is_written) return CEED_ERROR_SUCCESS;
  ritz_hash_begin(&hasher);
  ritz_hash_add(&hasher, task->bytes, task->num_bytes);
  const RitzHash hash = ritz_hash_end(&hasher);
  RITZ_TRY(ritz_manifest_make(task->ceed, task->source->name, &hash, &no_files, 0, &manifest));
  int ierr =
      ritz_cache_publish(task->ceed, &task->cache, &task->key, task->work, "kernel.bin", suffix, manifest);
  RITZ_FREE(&manifest);
  return ierr;
}

// *where: the path of the whole log for people, owned by the caller, or NULL.
static int keep_log(const Task *task, const char *log, char **where) {
  bool is_written;

  RITZ_TRY(dump(task, log, where));
  if (*where) return CEED_ERROR_SUCCESS;
  RITZ_TRY(write_in_work(task, "compile.log", log, strlen(log), &is_written));
  if (!is_written) return CEED_ERROR_SUCCESS;
  return ritz_cache_keep_log(task->ceed, &task->cache, &task->key, task->work, "compile.log", where);
}

static int keep_refusal(const Task *task, const char *log, const char *messages) {
  bool is_kept;
  const RitzStrings none = {.num = 0};
  const RitzRefusal refusal = {task->source->name, task->work, &none, &none, 0, messages};

  if (!task->work || !ritz_refusal_is_verdict(log)) return CEED_ERROR_SUCCESS;
  return ritz_refusal_keep(task->ceed, &task->cache, &task->key, &refusal, &is_kept);
}

// ---- Making ----

static int refuse_binary(Task *task, const char *log) {
  char *messages = NULL, *where = NULL;
  int ierr = ritz_report_errors(task->ceed, log, &messages);

  if (!ierr) ierr = keep_refusal(task, log, messages);
  if (!ierr) ierr = keep_log(task, log, &where);
  if (!ierr)
    ierr = ritz_refusal_describe(task->ceed, &task->cache, &task->key, messages,
                                 where ? where : "set RITZ_DUMP to a folder", &task->reason);
  RITZ_FREE(&where);
  RITZ_FREE(&messages);
  return ierr;
}

static int accept(Task *task, const char *log) {
  char *folder = NULL;

  RITZ_TRY(dump(task, log, &folder));
  RITZ_FREE(&folder);
  return publish_binary(task);
}

static int call_maker(Task *task, char **log) {
  double start = ritz_seconds();
  int ierr = task->make(task->ceed, task->data, task->source->name, task->source->text, &task->num_bytes,
                        &task->bytes, log);

  task->counters.compilations++;
  task->counters.failures += ierr || !task->bytes;
  task->counters.compile_seconds += ritz_seconds() - start;
  return ierr;
}

static int make_anew(Task *task) {
  char *log = NULL;

  if (task->has_waited)
    RITZ_TRY(ritz_cache_unlock_if_refused(task->ceed, &task->cache, &task->key, &task->lock));
  int ierr = call_maker(task, &log);
  if (!ierr) ierr = open_binary_work(task);
  if (!ierr) ierr = task->bytes ? accept(task, log) : refuse_binary(task, log);
  RITZ_FREE(&log);
  return ierr;
}

static int remove_old_entries(const Task *task) {
  RitzStrings folders = {.ceed = task->ceed};

  ritz_work_folder_parents(task->cache.folder, &folders);
  int ierr = folders.error ? folders.error : ritz_cache_remove_old_once(task->ceed, &folders);
  ritz_strings_free(&folders);
  return ierr;
}

// ---- The call ----

static int find_or_make(Task *task, bool may_find) {
  if (may_find) RITZ_TRY(look_on_disk(task));
  if (task->bytes || task->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(wait_for_lock(task));
  if (may_find) RITZ_TRY(look_on_disk(task)); // another process may have made it since the first look
  if (task->bytes || task->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_anew(task));
  return remove_old_entries(task);
}

static void close_task(Task *task) {
  ritz_folder_remove(task->work);
  ritz_cache_unlock(&task->lock);
  ritz_cache_close(&task->cache);
  RITZ_FREE(&task->work);
  ritz_jit_count(&task->counters);
}

int ritz_jit_binary(Ceed ceed, const RitzJitBinary *source, bool may_find, RitzJitMakeBinary make, void *data,
                    size_t *num_bytes, char **bytes, char **reason) {
  Task task = {.ceed = ceed, .source = source, .make = make, .data = data, .key = make_binary_key(source)};
  int ierr = ritz_cache_open(ceed, &task.cache);

  if (!ierr) ierr = find_or_make(&task, may_find);
  close_task(&task);
  if (ierr) RITZ_FREE(&task.bytes);
  if (ierr) RITZ_FREE(&task.reason);
  *num_bytes = task.bytes ? task.num_bytes : 0;
  *bytes = task.bytes;
  *reason = task.reason;
  return ierr;
}
