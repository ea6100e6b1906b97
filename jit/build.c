// SPDX-License-Identifier: BSD-2-Clause
// One text on its way to a module (contract in jit/build.h).
#include "jit/build.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/files.h"
#include "jit/library.h"
#include "jit/manifest.h"
#include "jit/module.h"
#include "jit/refusal.h"
#include "jit/report.h"
#include "jit/work-folder.h"

static const char suffix[] = ".so";

RitzHash ritz_job_user_hash(const RitzJitSource *source) {
  RitzHasher hasher;
  RitzHash hash;

  if (source->user_file && ritz_file_hash_path(source->user_file, &hash)) return hash;
  ritz_hash_begin(&hasher);
  return ritz_hash_end(&hasher);
}

static void drop_work(RitzJob *job) {
  ritz_folder_remove(job->work);
  RITZ_FREE(&job->work);
}

// ---- Turns ----

// Compilers beside somebody's work, of all calls: one less than there are processors, at least one; as many
// where somebody waits. The turn is that of the most urgent text. Guarded by RITZ_LOCK_JIT.
static struct {
  pid_t process; // a forked child has none of them
  int num;
  RitzJob *waiting; // linked by next_waiting
} turns;

static atomic_int num_waiting; // callers

void ritz_jobs_note_waiting(int change) { (void)atomic_fetch_add(&num_waiting, change); }

static void lock_turns(void) {
  ritz_lock(RITZ_LOCK_JIT);
  if (turns.process == getpid()) return;
  turns.process = getpid();
  turns.num = 0;
  turns.waiting = NULL;
}

static RitzJob **find_waiting(const RitzJob *job) {
  RitzJob **link = &turns.waiting;
  while (*link && *link != job) link = &(*link)->next_waiting;
  return link;
}

static void leave_queue(RitzJob *job) {
  RitzJob **link = find_waiting(job);
  if (*link) *link = job->next_waiting;
  job->next_waiting = NULL;
}

static void enter_queue(RitzJob *job) {
  if (*find_waiting(job)) return;
  job->next_waiting = turns.waiting;
  turns.waiting = job;
}

static bool is_most_urgent(const RitzJob *job) {
  bool is_most = true;
  for (const RitzJob *other = turns.waiting; other; other = other->next_waiting)
    is_most = is_most && other->source->urgency <= job->source->urgency;
  return is_most;
}

// A call that somebody waits for has its turn at once.
static bool begin_turn(const RitzBuild *build, RitzJob *job) {
  const int most = ritz_num_processors() - (atomic_load(&num_waiting) == 0);

  if (!build->watch) return true;
  lock_turns();
  enter_queue(job);
  job->has_turn = turns.num < (most > 1 ? most : 1) && is_most_urgent(job);
  if (job->has_turn) leave_queue(job);
  turns.num += job->has_turn;
  ritz_unlock(RITZ_LOCK_JIT);
  return job->has_turn;
}

static void end_turn(const RitzBuild *build, RitzJob *job) {
  if (!build->watch) return;
  lock_turns();
  leave_queue(job);
  turns.num -= job->has_turn && turns.num > 0;
  job->has_turn = false;
  ritz_unlock(RITZ_LOCK_JIT);
}

static void count_end(RitzJob *job) {
  if (job->is_counted) ritz_progress_count(0, 1);
  job->is_counted = false;
}

void ritz_job_close(RitzBuild *build, RitzJob *job) {
  count_end(job);
  end_turn(build, job);
  ritz_process_kill(&job->process);
  ritz_process_kill(&job->lister);
  RITZ_FREE(&job->log);
  drop_work(job);
  ritz_cache_unlock(&job->lock);
  ritz_jit_release(&job->module);
}

bool ritz_job_has_next(const RitzBuild *build, const RitzJob *job) {
  return build->has_next && job->source->user_file;
}

// ---- The end ----

static int finish_job(RitzBuild *build, RitzJob *job) {
  end_turn(build, job);
  drop_work(job);
  ritz_cache_unlock(&job->lock);
  count_end(job);
  job->state = RITZ_JOB_DONE;
  return CEED_ERROR_SUCCESS;
}

// Takes over `reason`.
static int fail(RitzBuild *build, RitzJob *job, RitzJitStatus status, char *reason) {
  RITZ_TRY(ritz_module_create(build->ceed, &job->key, status, reason, NULL, &job->module));
  ritz_module_set_language(job->module, build->compiler->language);
  if (job->is_recorded) ritz_module_set_recorded(job->module);
  const bool is_retried = status == RITZ_JIT_REFUSED && ritz_job_has_next(build, job);
  *(is_retried ? &build->counters.retries : &build->counters.failures) += 1;
  if (status == RITZ_JIT_REFUSED) ritz_module_share(&job->module);
  return finish_job(build, job);
}

// ---- The disk cache ----

static int dump(RitzBuild *build, const RitzJob *job, const char *log, int binary) {
  char *folder = NULL;
  int ierr = ritz_report_dump(build->ceed, build->compiler, job->source, &job->key, log, binary, &folder);

  RITZ_FREE(&folder);
  return ierr;
}

static int dump_found(RitzBuild *build, const RitzJob *job, const char *path, int binary) {
  char *log = NULL;

  RITZ_TRY(ritz_format(build->ceed, &log, "not compiled: %s was in the cache\n", path));
  int ierr = dump(build, job, log, binary);
  RITZ_FREE(&log);
  return ierr;
}

// Takes over the library, READY. Others of the process may use it unless it is `is_private`.
static int succeed(RitzBuild *build, RitzJob *job, RitzLibrary *library, bool is_private) {
  RITZ_TRY(ritz_module_create(build->ceed, &job->key, RITZ_JIT_READY, NULL, library->handle, &job->module));
  ritz_module_set_language(job->module, build->compiler->language);
  if (!is_private) ritz_module_share(&job->module);
  return finish_job(build, job);
}

// DONE when the text is known to be refused.
static int look_for_refusal(RitzBuild *build, RitzJob *job) {
  char *messages = NULL, *words = NULL, *reason = NULL;

  RITZ_TRY(ritz_refusal_find(build->ceed, &build->cache, &job->key, &messages));
  if (!messages) return CEED_ERROR_SUCCESS;
  int ierr = ritz_refusal_describe(build->ceed, &build->cache, &job->key, messages, NULL, &words);
  if (!ierr)
    ierr = ritz_format(build->ceed, &reason, "%s does not compile ('%s' has refused it before): %s",
                       job->source->name, build->compiler->path, words);
  RITZ_FREE(&messages);
  RITZ_FREE(&words);
  job->is_recorded = true;
  return ierr ? ierr : fail(build, job, RITZ_JIT_REFUSED, reason);
}

// The job is DONE when an entry is found that can be loaded, or says that none can be made.
static int look_on_disk(RitzBuild *build, RitzJob *job) {
  RitzLibrary library = {.handle = NULL};
  double start = ritz_seconds();
  char *path = NULL;
  int fd = -1;

  RITZ_TRY(ritz_cache_find(build->ceed, &build->cache, &job->key, suffix, &fd, &path));
  if (fd < 0) return look_for_refusal(build, job);
  int ierr = dump_found(build, job, path, fd);
  if (!ierr) ierr = ritz_library_open(build->ceed, fd, path, &build->places, &library);
  if (!ierr && library.handle) {
    build->counters.disk_hits++;
    build->counters.load_seconds += ritz_seconds() - start;
    ierr = succeed(build, job, &library, false);
  }
  RITZ_FREE(&library.why);
  RITZ_FREE(&path);
  close(fd);
  return ierr;
}

// ---- Compiling ----

// The work folder: in the first place from job->place on that takes the text.
static int open_job_work(RitzBuild *build, RitzJob *job) {
  bool is_written = false;

  for (; job->place < build->places.num; job->place++) {
    RITZ_TRY(ritz_folder_make_temporary(build->ceed, build->places.item[job->place], &job->work));
    if (!job->work) continue;
    RITZ_TRY(ritz_work_folder_fill(build->ceed, job->work, job->source->text, &is_written));
    if (is_written) break;
    drop_work(job);
  }
  return CEED_ERROR_SUCCESS;
}

// *path: a file of the work folder, owned by the caller.
static int work_file(RitzBuild *build, const RitzJob *job, const char *name, char **path) {
  return ritz_format(build->ceed, path, "%s/%s", job->work, name);
}

static int note_start(RitzBuild *build, RitzJob *job) {
  struct stat status;
  char *path = NULL;

  RITZ_TRY(work_file(build, job, "kernel.c", &path));
  job->start = stat(path, &status) ? 0 : ritz_file_time(&status);
  RITZ_FREE(&path);
  return CEED_ERROR_SUCCESS;
}

static int start_compilation(RitzBuild *build, RitzJob *job) {
  RitzStrings command = {.ceed = build->ceed};
  char *reason = NULL;

  RITZ_TRY(open_job_work(build, job));
  if (!job->work) {
    RITZ_TRY(ritz_format(build->ceed, &reason, "no folder to compile in: %s",
                         "neither the cache nor TMPDIR, /tmp, /dev/shm, /run/user can be written to"));
    return fail(build, job, RITZ_JIT_NOT_LOADED, reason);
  }
  RITZ_TRY(note_start(build, job));
  ritz_compiler_command(build->compiler, job->source, job->work, &command);
  int ierr = command.error;
  if (!ierr) ierr = ritz_process_start(build->ceed, command.item, job->work, "compile.log", &job->process);
  ritz_strings_free(&command);
  RITZ_TRY(ierr);
  job->state = RITZ_JOB_COMPILING;
  if (job->process.pid) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      ritz_format(build->ceed, &reason, "the compiler '%s' %s", build->compiler->path, job->process.outcome));
  return fail(build, job, RITZ_JIT_NO_COMPILER, reason);
}

// ---- A compilation that fails ----

// Whether that was for want of space.
static bool is_full(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int code = fd < 0 ? -1 : posix_fallocate(fd, 0, 1 << 20);

  if (fd >= 0) close(fd);
  return code != 0;
}

static bool is_in_cache(const RitzBuild *build, const RitzJob *job) {
  return build->cache.folder && job->place == 0;
}

// *where: the path of the whole log for people, owned by the caller.
static int keep_log(RitzBuild *build, RitzJob *job, const char *log, char **where) {
  RITZ_TRY(ritz_report_dump(build->ceed, build->compiler, job->source, &job->key, log, -1, where));
  if (*where || !is_in_cache(build, job)) return CEED_ERROR_SUCCESS;
  return ritz_cache_keep_log(build->ceed, &build->cache, &job->key, job->work, "compile.log", where);
}

// Files that the compiler has read or looked for; none are known when *is_known is false.
static int read_files(RitzBuild *build, const RitzJob *job, RitzStrings *files, bool *is_known) {
  char *path = NULL, *list = NULL;

  RITZ_TRY(work_file(build, job, "kernel.d", &path));
  int ierr = ritz_file_read_path(build->ceed, path, &list);
  RITZ_FREE(&path);
  *is_known = !ierr && list;
  if (*is_known) ierr = ritz_manifest_read_list(build->ceed, list, job->work, files);
  RITZ_FREE(&list);
  return ierr;
}

// Nothing is kept when the compiler was stopped or broke down, or when the text has changed meanwhile.
static bool is_to_be_kept(const RitzBuild *build, const RitzJob *job) {
  const RitzHash user = ritz_job_user_hash(job->source);

  return is_in_cache(build, job) && !job->process.is_good && !job->process.is_violent &&
         ritz_refusal_is_verdict(job->log) && !strcmp(user.hex, job->user.hex);
}

// *name: of a text in lists; of one that may be of two languages with the one that it is not.
static int name_refusal(const RitzBuild *build, const RitzJob *job, char **name) {
  const char *language = build->compiler->language == RITZ_JIT_C ? "C" : "C++";

  if (!job->source->user_file) return ritz_strdup(build->ceed, job->source->name, name);
  return ritz_format(build->ceed, name, "%s as %s", job->source->name, language);
}

static int keep_refusal(RitzBuild *build, RitzJob *job, const char *messages) {
  RitzStrings files = {.ceed = build->ceed}, folders = {.ceed = build->ceed};
  bool is_known = false;
  char *name = NULL;

  if (!is_to_be_kept(build, job)) return CEED_ERROR_SUCCESS;
  int ierr = read_files(build, job, &files, &is_known);
  if (!ierr) ierr = name_refusal(build, job, &name);
  for (size_t i = 0; i < job->source->num_roots; i++) ritz_strings_add(&folders, "%s", job->source->roots[i]);
  ritz_compiler_folders(build->compiler->language, &folders);
  if (!ierr) ierr = folders.error;
  const RitzRefusal refusal = {name, job->work, &files, &folders, job->start, messages};
  if (!ierr && is_known)
    ierr = ritz_refusal_keep(build->ceed, &build->cache, &job->key, &refusal, &job->is_recorded);
  RITZ_FREE(&name);
  ritz_strings_free(&folders);
  ritz_strings_free(&files);
  return ierr;
}

static int refuse_job(RitzBuild *build, RitzJob *job) {
  char *messages = NULL, *where = NULL, *words = NULL, *reason = NULL;
  int ierr = ritz_report_errors(build->ceed, job->log, &messages);

  if (!ierr) ierr = keep_refusal(build, job, messages);
  if (!ierr) ierr = keep_log(build, job, job->log, &where);
  if (!ierr)
    ierr = ritz_refusal_describe(build->ceed, &build->cache, &job->key, messages,
                                 where ? where : "set RITZ_DUMP to a folder", &words);
  if (!ierr)
    ierr = ritz_format(build->ceed, &reason, "%s does not compile ('%s' %s): %s", job->source->name,
                       build->compiler->path, job->process.outcome, words);
  RITZ_FREE(&words);
  RITZ_FREE(&where);
  RITZ_FREE(&messages);
  RITZ_TRY(ierr);
  return fail(build, job, RITZ_JIT_REFUSED, reason);
}

// Compilers that miss a header leave no list.
static int list_or_refuse(RitzBuild *build, RitzJob *job) {
  RitzStrings command = {.ceed = build->ceed};
  RitzProcess process;

  if (!is_to_be_kept(build, job) || !ritz_refusal_misses_header(job->log)) return refuse_job(build, job);
  ritz_compiler_list_command(build->compiler, job->source, job->work, &command);
  int ierr = command.error;
  if (!ierr) ierr = ritz_process_start(build->ceed, command.item, job->work, "list.log", &process);
  ritz_strings_free(&command);
  RITZ_TRY(ierr);
  if (!process.pid) return refuse_job(build, job);
  job->lister = process;
  job->state = RITZ_JOB_LISTING;
  return CEED_ERROR_SUCCESS;
}

// A list that is not whole is none.
static int end_listing(RitzBuild *build, RitzJob *job) {
  char *path = NULL;

  RITZ_TRY(work_file(build, job, "kernel.d", &path));
  if (!job->lister.is_good) unlink(path);
  RITZ_FREE(&path);
  return refuse_job(build, job);
}

static int read_log(RitzBuild *build, const RitzJob *job, char **log) {
  char *path = NULL;

  RITZ_TRY(work_file(build, job, "compile.log", &path));
  int ierr = ritz_file_read_path(build->ceed, path, log);
  RITZ_FREE(&path);
  return ierr || *log ? ierr : ritz_strdup(build->ceed, "", log);
}

// Once more in the next place when the folder is full, else it is the text's fault.
static int try_again_or_refuse(RitzBuild *build, RitzJob *job) {
  char *path = NULL;

  RITZ_TRY(work_file(build, job, "probe", &path));
  bool is_short = is_full(path);
  RITZ_FREE(&path);
  if (is_short) {
    drop_work(job);
    job->place++;
    return start_compilation(build, job);
  }
  RITZ_TRY(read_log(build, job, &job->log));
  return list_or_refuse(build, job);
}

// ---- A compilation that succeeds ----

// *text: the manifest, owned by the caller; NULL: the binary is not to be kept.
static int make_manifest(RitzBuild *build, const RitzJob *job, const RitzHash *binary, char **text) {
  RitzStrings files = {.ceed = build->ceed};
  bool is_known = false;
  int ierr = read_files(build, job, &files, &is_known);

  if (!ierr && is_known)
    ierr = ritz_manifest_make(build->ceed, job->source->name, binary, &files, job->start, text);
  ritz_strings_free(&files);
  return ierr;
}

static int publish_library(RitzBuild *build, const RitzJob *job, int fd) {
  char *text = NULL;
  RitzHash binary;

  if (!ritz_file_hash(fd, &binary)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_manifest(build, job, &binary, &text));
  if (!text) return CEED_ERROR_SUCCESS;
  int ierr = ritz_cache_publish(build->ceed, &build->cache, &job->key, job->work, "kernel.so", suffix, text);
  RITZ_FREE(&text);
  return ierr;
}

static int refuse_library(RitzBuild *build, RitzJob *job, const RitzLibrary *library) {
  char *reason = NULL;

  RITZ_TRY(ritz_format(build->ceed, &reason, "%s was compiled, but cannot be loaded: %s", job->source->name,
                       library->why));
  return fail(build, job, library->is_refused ? RITZ_JIT_REFUSED : RITZ_JIT_NOT_LOADED, reason);
}

// Keeps the binary in the cache, unless the user's file has changed meanwhile: the key must describe it.
static int take(RitzBuild *build, RitzJob *job, int fd, const char *path) {
  RitzLibrary library = {.handle = NULL};
  RitzHash user = ritz_job_user_hash(job->source);
  bool is_same = !strcmp(user.hex, job->user.hex);
  double start = ritz_seconds();
  char *log = NULL;
  int ierr = read_log(build, job, &log);

  if (!ierr) ierr = dump(build, job, log, fd);
  if (!ierr) ierr = ritz_library_open(build->ceed, fd, path, &build->places, &library);
  build->counters.load_seconds += ritz_seconds() - start;
  if (!ierr && library.handle && is_same && is_in_cache(build, job)) ierr = publish_library(build, job, fd);
  if (!ierr)
    ierr = library.handle ? succeed(build, job, &library, !is_same) : refuse_library(build, job, &library);
  RITZ_FREE(&library.why);
  RITZ_FREE(&log);
  return ierr;
}

static int end_compilation(RitzBuild *build, RitzJob *job) {
  char *path = NULL;
  int fd = -1;

  build->counters.compilations++;
  build->counters.compile_seconds += job->process.seconds;
  RITZ_TRY(work_file(build, job, "kernel.so", &path));
  chmod(path, 0644); // whatever the umask
  if (job->process.is_good) fd = ritz_file_open(path, geteuid());
  int ierr = fd >= 0 ? take(build, job, fd, path) : try_again_or_refuse(build, job);
  if (fd >= 0) close(fd);
  RITZ_FREE(&path);
  return ierr;
}

// ---- Steps ----

static int look_or_do_without(RitzBuild *build, RitzJob *job) {
  char *reason = NULL;

  job->state = RITZ_JOB_WAITING;
  RITZ_TRY(look_on_disk(build, job));
  if (job->state == RITZ_JOB_DONE) return CEED_ERROR_SUCCESS;
  job->is_counted = !job->source->is_optional;
  if (job->is_counted) ritz_progress_count(1, 0);
  if (job->is_counted) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_format(build->ceed, &reason, "there is no kernel for it in the cache"));
  RITZ_TRY(ritz_module_create(build->ceed, &job->key, RITZ_JIT_ABSENT, reason, NULL, &job->module));
  return finish_job(build, job);
}

// A holder that takes longer than any compiler may is overtaken.
static int wait_for_lock(RitzBuild *build, RitzJob *job) {
  bool is_busy = false;

  RITZ_TRY(ritz_cache_lock(build->ceed, &build->cache, &job->key, &job->lock, &is_busy));
  if (is_busy && job->waiting_since == 0) job->waiting_since = ritz_seconds();
  if (is_busy && ritz_seconds() - job->waiting_since < ritz_process_limit()) return CEED_ERROR_SUCCESS;
  RITZ_TRY(look_on_disk(build, job)); // another process may have compiled it since the first look
  if (job->state == RITZ_JOB_DONE) return CEED_ERROR_SUCCESS;
  if (job->waiting_since > 0)
    RITZ_TRY(ritz_cache_unlock_if_refused(build->ceed, &build->cache, &job->key, &job->lock));
  return start_compilation(build, job);
}

int ritz_job_step(RitzBuild *build, RitzJob *job, bool may_compile) {
  switch (job->state) {
  case RITZ_JOB_NEW: return look_or_do_without(build, job);
  case RITZ_JOB_WAITING:
    if (!may_compile || !begin_turn(build, job)) return CEED_ERROR_SUCCESS;
    RITZ_TRY(wait_for_lock(build, job));
    if (job->state == RITZ_JOB_WAITING) end_turn(build, job); // another process compiles it
    return CEED_ERROR_SUCCESS;
  case RITZ_JOB_COMPILING:
    return ritz_process_has_ended(&job->process) ? end_compilation(build, job) : CEED_ERROR_SUCCESS;
  case RITZ_JOB_LISTING:
    return ritz_process_has_ended(&job->lister) ? end_listing(build, job) : CEED_ERROR_SUCCESS;
  case RITZ_JOB_DONE: break;
  }
  return CEED_ERROR_SUCCESS;
}
