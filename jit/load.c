// SPDX-License-Identifier: BSD-2-Clause
// ritz_jit_load (contract in jit/jit.h): keys, what is in memory, the loop over the jobs, and the second
// language of texts that the first one's compiler refuses.
#include <ritz/version.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/embedded.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/build.h"
#include "jit/cpu.h"
#include "jit/module.h"
#include "jit/refusal.h"
#include "jit/work-folder.h"

// ---- Keys ----

// The C library, whose headers say which functions there are (those of the system are in no entry).
static const char *libc_version(void) {
#ifdef __GLIBC__
  return gnu_get_libc_version();
#else
  return NULL;
#endif
}

static bool is_relative(const char *path) { return path && path[0] != '/'; }

// Relative paths mean something only together with the current folder.
static int add_current_folder(RitzHasher *hasher, const RitzBuild *build, const RitzJitSource *source) {
  bool is_needed = is_relative(source->user_file);
  RitzStrings folders = {.ceed = build->ceed};

  if (source->user_file) ritz_compiler_folders(build->compiler->language, &folders);
  for (size_t i = 0; i < folders.num; i++) is_needed = is_needed || is_relative(folders.item[i]);
  for (size_t i = 0; i < source->num_roots; i++) is_needed = is_needed || is_relative(source->roots[i]);
  char *folder = is_needed ? realpath(".", NULL) : NULL;
  ritz_hash_add_string(hasher, folder);
  free(folder);
  int ierr = folders.error;
  ritz_strings_free(&folders);
  return ierr;
}

// Everything that the binary depends on, but the files that text and user's file include: those are in the
// entry. The version of the kernel ABI is part of the embedded headers, the scalar type of the command.
static int make_text_key(const RitzBuild *build, const RitzJitSource *source, const RitzHash *user,
                         RitzHash *key) {
  const RitzCompiler *compiler = build->compiler;
  RitzStrings command = {.ceed = build->ceed};
  RitzHasher hasher;

  ritz_compiler_command(compiler, source, "", &command);
  ritz_hash_begin(&hasher);
  for (size_t i = 0; i < command.num; i++) ritz_hash_add_string(&hasher, command.item[i]);
  ritz_hash_add_string(&hasher, NULL);
  ritz_hash_add_string(&hasher, source->text);
  ritz_hash_add_string(&hasher, user->hex);
  ritz_hash_add_string(&hasher, compiler->version);
  ritz_hash_add(&hasher, &compiler->size, sizeof(compiler->size));
  ritz_hash_add(&hasher, &compiler->time, sizeof(compiler->time));
  ritz_hash_add_string(&hasher, libc_version());
  ritz_hash_add_string(&hasher, ritz_environment(ENV_CPATH)); // folders that compilers search, too
  ritz_hash_add_string(&hasher, ritz_environment(ENV_C_INCLUDE_PATH));
  ritz_hash_add_string(&hasher, ritz_environment(ENV_CPLUS_INCLUDE_PATH));
  int ierr = add_current_folder(&hasher, build, source);
  ritz_cpu_describe(&hasher);
  ritz_hash_add_string(&hasher, ritz_embedded_hash);
  const int version[] = {RITZ_VERSION_MAJOR, RITZ_VERSION_MINOR, RITZ_VERSION_PATCH};
  ritz_hash_add(&hasher, version, sizeof(version));
  *key = ritz_hash_end(&hasher);
  if (!ierr) ierr = command.error;
  ritz_strings_free(&command);
  return ierr;
}

// ---- The call ----

static int open_build(Ceed ceed, const RitzJitWatch *watch, RitzBuild *build) {
  *build = (RitzBuild){.ceed = ceed, .watch = watch, .places = {.ceed = ceed}};
  RITZ_TRY(ritz_cache_open(ceed, &build->cache));
  ritz_work_folder_parents(build->cache.folder, &build->places);
  return build->places.error;
}

static int find_compiler(RitzBuild *build, RitzJitLanguage language, char **why) {
  build->has_next = language == RITZ_JIT_C;
  return ritz_compiler_find(build->ceed, language, &build->cache, &build->places, &build->compiler, why);
}

static void close_build(RitzBuild *build) {
  ritz_strings_free(&build->places);
  ritz_cache_close(&build->cache);
}

static int without_compiler(RitzBuild *build, const char *why, RitzJitModule *module) {
  static const RitzHash none;
  char *reason = NULL;

  RITZ_TRY(ritz_format(build->ceed, &reason, "no compiler: %s", why));
  build->counters.failures++;
  return ritz_module_create(build->ceed, &none, RITZ_JIT_NO_COMPILER, reason, NULL, module);
}

// The first job with the key of job i, which may be i itself.
static size_t first_equal(const RitzJob *jobs, size_t i) {
  size_t first = 0;

  while (strcmp(jobs[first].key.hex, jobs[i].key.hex) != 0) first++;
  return first;
}

// The module in memory, or NULL; a text that was refused is given another chance when the record on disk no
// longer holds.
static int find_module(RitzBuild *build, RitzJob *job) {
  char *messages = NULL;

  job->module = ritz_module_find(&job->key);
  if (!job->module || !ritz_module_is_recorded(job->module)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_refusal_find(build->ceed, &build->cache, &job->key, &messages));
  if (!messages) ritz_module_forget(job->module);
  if (!messages) ritz_jit_release(&job->module);
  RITZ_FREE(&messages);
  return CEED_ERROR_SUCCESS;
}

// DONE at once when the text is in memory; equal texts of a call are one job, those that follow have no
// module.
static int begin_job(RitzBuild *build, const RitzJitSource *source, RitzJob *jobs, size_t i) {
  RitzJob *job = &jobs[i];

  job->source = source;
  job->user = ritz_job_user_hash(source);
  RITZ_TRY(make_text_key(build, source, &job->user, &job->key));
  if (first_equal(jobs, i) == i) RITZ_TRY(find_module(build, job));
  if (first_equal(jobs, i) == i && !job->module) return CEED_ERROR_SUCCESS;
  if (!source->is_optional) jobs[first_equal(jobs, i)].source = source; // someone wants it compiled
  job->state = RITZ_JOB_DONE;
  build->counters.memory_hits +=
      !(job->module && ritz_jit_status(job->module) == RITZ_JIT_REFUSED && ritz_job_has_next(build, job));
  return CEED_ERROR_SUCCESS;
}

static size_t count_hits(const RitzJob *jobs, size_t num, RitzJobState state) {
  size_t n = 0;

  for (size_t i = 0; i < num; i++) n += jobs[i].state == state;
  return n;
}

static bool wants_other_language(const RitzJitSource *source, RitzJitModule module) {
  return source->user_file && source->language == RITZ_JIT_C && ritz_jit_status(module) == RITZ_JIT_REFUSED;
}

// What is new of job i. Of equal texts the first one has the module.
static void tell_watch(const RitzJitWatch *watch, RitzJob *jobs, size_t i) {
  const RitzJob *first = &jobs[first_equal(jobs, i)];
  RitzJob *job = &jobs[i];

  if (job->told == RITZ_JOB_DONE || first->state == RITZ_JOB_NEW) return;
  if (first->state == RITZ_JOB_DONE) {
    job->told = RITZ_JOB_DONE;
    if (!wants_other_language(job->source, first->module))
      watch->is_there(watch->data, job->number, first->module);
  } else if (job->told == RITZ_JOB_NEW) {
    job->told = RITZ_JOB_WAITING;
    watch->is_absent(watch->data, job->number);
  }
}

static int run_jobs(RitzBuild *build, RitzJob *jobs, size_t num) {
  size_t num_processors = (size_t)ritz_num_processors();
  double moment = 0;

  for (;;) {
    for (size_t i = 0; i < num; i++) {
      if (build->watch && atomic_load(build->watch->stop)) return CEED_ERROR_MINOR;
      RITZ_TRY(ritz_job_step(build, &jobs[i], count_hits(jobs, num, RITZ_JOB_COMPILING) < num_processors));
    }
    for (size_t i = 0; build->watch && i < num; i++) tell_watch(build->watch, jobs, i);
    if (count_hits(jobs, num, RITZ_JOB_DONE) == num) return CEED_ERROR_SUCCESS;
    RITZ_TRY(ritz_cache_remove_old_once(build->ceed, &build->places));
    if (!build->watch) ritz_wait_show(&build->wait);
    ritz_pause(&moment);
  }
}

// Loads texts of one language; index: their numbers in the call.
static int load_all(RitzBuild *build, size_t num, const RitzJitSource *const *sources, const size_t *index,
                    RitzJitModule *modules) {
  RitzJob *jobs = NULL;
  int ierr = RITZ_CALLOC(build->ceed, num, &jobs);

  for (size_t i = 0; !ierr && i < num; i++) jobs[i].number = index[i];
  for (size_t i = 0; !ierr && i < num; i++) ierr = begin_job(build, sources[i], jobs, i);
  if (!ierr) ierr = run_jobs(build, jobs, num);
  ritz_wait_end(&build->wait);
  for (size_t i = 0; !ierr && i < num; i++)
    modules[i] = ritz_module_reference(jobs[first_equal(jobs, i)].module);
  for (size_t i = 0; jobs && i < num; i++) ritz_job_close(build, &jobs[i]);
  RITZ_FREE(&jobs);
  return ierr;
}

static int load_or_do_without(RitzBuild *build, RitzJitLanguage language, size_t num,
                              const RitzJitSource *const *sources, const size_t *index,
                              RitzJitModule *modules) {
  char *why = NULL;
  int ierr = num ? find_compiler(build, language, &why) : CEED_ERROR_SUCCESS;

  if (!ierr && num && build->compiler) ierr = load_all(build, num, sources, index, modules);
  for (size_t i = 0; !ierr && !build->compiler && i < num; i++)
    ierr = without_compiler(build, why, &modules[i]);
  RITZ_FREE(&why);
  return ierr;
}

// ---- Two languages ----

// Takes over *cxx, the C++ module of a text that is refused as C. Where there is no C++ compiler, the C
// compiler's words are all that there is to say.
static int choose_module(Ceed ceed, const RitzJitSource *source, RitzJitModule *module, RitzJitModule *cxx) {
  const RitzJitStatus status = ritz_jit_status(*cxx);
  static const RitzHash none;
  RitzJitModule both = NULL;
  char *reason = NULL;

  if (status == RITZ_JIT_READY) RITZ_TRY(ritz_jit_remember_language(ceed, source->user_file, RITZ_JIT_CXX));
  if (status == RITZ_JIT_REFUSED) {
    RITZ_TRY(
        ritz_format(ceed, &reason, "%s; nor as C++: %s", ritz_jit_reason(*module), ritz_jit_reason(*cxx)));
    RITZ_TRY(ritz_module_create(ceed, &none, RITZ_JIT_REFUSED, reason, NULL, &both));
    ritz_jit_release(cxx);
    *cxx = both;
  }
  if (status != RITZ_JIT_NO_COMPILER) {
    ritz_jit_release(module);
    *module = *cxx;
    *cxx = NULL;
  }
  return CEED_ERROR_SUCCESS;
}

// The texts of one language, or those that are refused in it.
static int select_sources(Ceed ceed, RitzJitLanguage language, size_t num, const RitzJitSource *sources,
                          const RitzJitModule *modules, size_t *num_selected, const RitzJitSource ***selected,
                          size_t **index) {
  *num_selected = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, num, selected));
  RITZ_TRY(RITZ_CALLOC(ceed, num, index));
  for (size_t i = 0; i < num; i++) {
    if (sources[i].language != language && !(modules[i] && wants_other_language(&sources[i], modules[i])))
      continue;
    (*selected)[*num_selected] = &sources[i];
    (*index)[(*num_selected)++] = i;
  }
  return CEED_ERROR_SUCCESS;
}

static int load_language(RitzBuild *build, RitzJitLanguage language, size_t num, const RitzJitSource *sources,
                         RitzJitModule *modules) {
  const RitzJitSource **selected = NULL;
  RitzJitModule *loaded = NULL;
  size_t *index = NULL, n = 0;
  int ierr = select_sources(build->ceed, language, num, sources, modules, &n, &selected, &index);

  if (!ierr) ierr = RITZ_CALLOC(build->ceed, num, &loaded);
  if (!ierr) ierr = load_or_do_without(build, language, n, selected, index, loaded);
  for (size_t i = 0; !ierr && i < n; i++) {
    if (modules[index[i]]) {
      ierr = choose_module(build->ceed, selected[i], &modules[index[i]], &loaded[i]);
    } else {
      modules[index[i]] = loaded[i];
      loaded[i] = NULL;
    }
  }
  for (size_t i = 0; loaded && i < n; i++) ritz_jit_release(&loaded[i]);
  RITZ_FREE(&loaded);
  RITZ_FREE(&index);
  RITZ_FREE((void **)&selected);
  return ierr;
}

int ritz_jit_load_watched(Ceed ceed, const RitzJitWatch *watch, size_t num, const RitzJitSource *sources,
                          RitzJitModule *modules) {
  RitzBuild build;

  for (size_t i = 0; i < num; i++) modules[i] = NULL;
  int ierr = open_build(ceed, watch, &build);
  if (!ierr) ierr = load_language(&build, RITZ_JIT_C, num, sources, modules);
  if (!ierr) ierr = load_language(&build, RITZ_JIT_CXX, num, sources, modules);
  for (size_t i = 0; ierr && i < num; i++) ritz_jit_release(&modules[i]);
  ritz_jit_count(&build.counters);
  close_build(&build);
  return ierr;
}

int ritz_jit_load(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitModule *modules) {
  return ritz_jit_load_watched(ceed, NULL, num, sources, modules);
}
