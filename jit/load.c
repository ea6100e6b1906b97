// SPDX-License-Identifier: BSD-2-Clause
// ritz_jit_load (contract in jit/jit.h): keys, what is in memory, and the loop over the jobs.
#include <ritz/version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/embedded.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "jit/build.h"
#include "jit/cpu.h"
#include "jit/files.h"
#include "jit/module.h"
#include "jit/work.h"

// ---- Keys ----

static bool is_relative(const char *path) { return path && path[0] != '/'; }

// Relative paths mean something only together with the current folder.
static void add_current_folder(RitzHasher *hasher, const RitzJitSource *source) {
  bool is_needed = is_relative(source->user_file);

  for (size_t i = 0; i < source->num_roots; i++) is_needed = is_needed || is_relative(source->roots[i]);
  char *folder = is_needed ? realpath(".", NULL) : NULL;
  ritz_hash_add_string(hasher, folder);
  free(folder);
}

// Everything that the binary depends on, but the files that text and user's file include: those are in the
// entry. The version of the kernel ABI is part of the embedded headers, the scalar type of the command.
static int make_key(const RitzBuild *build, const RitzJitSource *source, const RitzHash *user,
                    RitzHash *key) {
  const RitzCompiler *compiler = build->compiler;
  RitzWords command = {.ceed = build->ceed};
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
  ritz_hash_add_string(&hasher, ritz_environment("CPATH")); // folders that compilers search, too
  ritz_hash_add_string(&hasher, ritz_environment("C_INCLUDE_PATH"));
  add_current_folder(&hasher, source);
  ritz_cpu_describe(&hasher);
  ritz_hash_add_string(&hasher, ritz_embedded_hash);
  const int version[] = {RITZ_VERSION_MAJOR, RITZ_VERSION_MINOR, RITZ_VERSION_PATCH};
  ritz_hash_add(&hasher, version, sizeof(version));
  *key = ritz_hash_end(&hasher);
  int ierr = command.error;
  ritz_words_free(&command);
  return ierr;
}

// ---- The call ----

static int open_build(Ceed ceed, RitzBuild *build, char **why) {
  *build = (RitzBuild){.ceed = ceed, .places = {.ceed = ceed}};
  RITZ_TRY(ritz_cache_open(ceed, &build->cache));
  ritz_work_places(build->cache.folder, &build->places);
  RITZ_TRY(build->places.error);
  return ritz_compiler_find(ceed, &build->cache, &build->places, &build->compiler, why);
}

static void close_build(RitzBuild *build) {
  ritz_words_free(&build->places);
  ritz_cache_close(&build->cache);
}

static int without_compiler(RitzBuild *build, const RitzJitSource *source, const char *why,
                            RitzJitModule *module) {
  static const RitzHash none;
  char *reason = NULL;

  RITZ_TRY(ritz_format(build->ceed, &reason, "%s: no compiler: %s", source->name, why));
  build->counters.failures++;
  return ritz_module_create(build->ceed, &none, RITZ_JIT_NO_COMPILER, reason, NULL, module);
}

// The first job with the key of job i, which may be i itself.
static size_t first_equal(const RitzJob *jobs, size_t i) {
  size_t first = 0;

  while (strcmp(jobs[first].key.hex, jobs[i].key.hex) != 0) first++;
  return first;
}

// DONE at once when the text is in memory; equal texts of a call are one job, those that follow have no
// module.
static int begin_job(RitzBuild *build, const RitzJitSource *source, RitzJob *jobs, size_t i) {
  RitzJob *job = &jobs[i];

  job->source = source;
  job->user = ritz_job_user_hash(source);
  RITZ_TRY(make_key(build, source, &job->user, &job->key));
  if (first_equal(jobs, i) == i) job->module = ritz_module_find(&job->key);
  if (first_equal(jobs, i) == i && !job->module) return CEED_ERROR_SUCCESS;
  job->state = RITZ_JOB_DONE;
  build->counters.memory_hits++;
  return CEED_ERROR_SUCCESS;
}

static size_t count(const RitzJob *jobs, size_t num, RitzJobState state) {
  size_t n = 0;

  for (size_t i = 0; i < num; i++) n += jobs[i].state == state;
  return n;
}

static int run_jobs(RitzBuild *build, RitzJob *jobs, size_t num) {
  size_t num_processors = (size_t)ritz_num_processors();
  double moment = 0;

  for (;;) {
    for (size_t i = 0; i < num; i++)
      RITZ_TRY(ritz_job_step(build, &jobs[i], count(jobs, num, RITZ_JOB_COMPILING) < num_processors));
    if (count(jobs, num, RITZ_JOB_DONE) == num) return CEED_ERROR_SUCCESS;
    RITZ_TRY(ritz_cache_sweep_once(build->ceed, &build->places));
    ritz_pause(&moment);
  }
}

static int load_all(RitzBuild *build, size_t num, const RitzJitSource *sources, RitzJitModule *modules) {
  RitzJob *jobs = NULL;
  int ierr = RITZ_CALLOC(build->ceed, num, &jobs);

  for (size_t i = 0; !ierr && i < num; i++) ierr = begin_job(build, &sources[i], jobs, i);
  if (!ierr) ierr = run_jobs(build, jobs, num);
  for (size_t i = 0; !ierr && i < num; i++)
    modules[i] = ritz_module_reference(jobs[first_equal(jobs, i)].module);
  for (size_t i = 0; jobs && i < num; i++) ritz_job_close(&jobs[i]);
  RITZ_FREE(&jobs);
  return ierr;
}

int ritz_jit_load(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitModule *modules) {
  RitzBuild build;
  char *why = NULL;

  for (size_t i = 0; i < num; i++) modules[i] = NULL;
  int ierr = open_build(ceed, &build, &why);
  if (!ierr && build.compiler) ierr = load_all(&build, num, sources, modules);
  for (size_t i = 0; !ierr && !build.compiler && i < num; i++)
    ierr = without_compiler(&build, &sources[i], why, &modules[i]);
  for (size_t i = 0; ierr && i < num; i++) ritz_jit_release(&modules[i]);
  ritz_jit_count(&build.counters);
  RITZ_FREE(&why);
  close_build(&build);
  return ierr;
}
