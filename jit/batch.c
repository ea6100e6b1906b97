// SPDX-License-Identifier: BSD-2-Clause
// Batches (contract in jit/jit.h): texts on their way to modules while the caller does something else.
#include <stdatomic.h>
#include <string.h>

#include "core/core.h"
#include "core/memory.h"
#include "core/threads.h"
#include "jit/build.h"
#include "jit/module.h"

struct RitzJitBatch_private {
  int num_references; // guarded by RITZ_LOCK_JIT
  size_t num;
  RitzJitSource *sources; // owned, with all that they point to
  RitzJitModule *modules; // owned and counted, written by the task
  RitzTask task;          // owned; NULL: has ended
  bool is_lost;           // the process has forked: what the task wrote is in an unknown state
  atomic_bool is_unwanted;
};

// What the task reports to: nobody. The caller, who gets no module, tries again.
static struct Ceed_private nobody = {.obj = {.class = &ritz_ceed_class}, .error_handler = CeedErrorReturn};

// ---- Copies of sources ----

static int copy_words(Ceed ceed, size_t num, char *const *words, char *const **copies) {
  char **list = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, num, &list));
  *copies = list;
  for (size_t i = 0; i < num; i++) RITZ_TRY(ritz_strdup(ceed, words[i], &list[i]));
  return CEED_ERROR_SUCCESS;
}

static int copy_word(Ceed ceed, const char *word, const char **copy) {
  return word ? ritz_strdup(ceed, word, (char **)copy) : CEED_ERROR_SUCCESS;
}

// What a failure leaves is free_source's.
static int copy_source(Ceed ceed, const RitzJitSource *from, RitzJitSource *to) {
  *to = (RitzJitSource){.language = from->language,
                        .num_roots = from->num_roots,
                        .num_defines = from->num_defines,
                        .is_optional = from->is_optional};
  RITZ_TRY(copy_word(ceed, from->name, &to->name));
  RITZ_TRY(copy_word(ceed, from->text, &to->text));
  RITZ_TRY(copy_word(ceed, from->user_file, &to->user_file));
  RITZ_TRY(copy_words(ceed, from->num_roots, from->roots, &to->roots));
  return copy_words(ceed, from->num_defines, from->defines, &to->defines);
}

static void free_words(size_t num, char *const **words) {
  char **list = (char **)*words;

  for (size_t i = 0; list && i < num; i++) RITZ_FREE(&list[i]);
  ritz_free((void **)&list);
  *words = NULL;
}

static void free_source(RitzJitSource *source) {
  ritz_free((void **)&source->name);
  ritz_free((void **)&source->text);
  ritz_free((void **)&source->user_file);
  free_words(source->num_roots, &source->roots);
  free_words(source->num_defines, &source->defines);
}

// ---- Life ----

static void load(void *data) {
  RitzJitBatch batch = data;
  (void)ritz_jit_load_until(&nobody, &batch->is_unwanted, batch->num, batch->sources, batch->modules);
}

// In a forked child the modules may be half made: they are left alone.
static void end(RitzJitBatch batch) {
  if (!ritz_task_end(&batch->task)) batch->is_lost = true;
}

static void destroy(RitzJitBatch batch) {
  atomic_store(&batch->is_unwanted, true);
  end(batch);
  for (size_t i = 0; batch->modules && i < batch->num && !batch->is_lost; i++)
    ritz_jit_release(&batch->modules[i]);
  for (size_t i = 0; batch->sources && i < batch->num; i++) free_source(&batch->sources[i]);
  RITZ_FREE(&batch->modules);
  RITZ_FREE(&batch->sources);
  RITZ_FREE(&batch);
}

int ritz_jit_begin(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitBatch *batch) {
  RitzJitBatch b = NULL;

  *batch = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &b));
  b->num_references = 1;
  b->num = num;
  int ierr = RITZ_CALLOC(ceed, num, &b->sources);
  if (!ierr) ierr = RITZ_CALLOC(ceed, num, &b->modules);
  for (size_t i = 0; !ierr && i < num; i++) ierr = copy_source(ceed, &sources[i], &b->sources[i]);
  if (!ierr) ierr = ritz_task_start(ceed, load, b, &b->task);
  if (ierr) destroy(b);
  if (!ierr) *batch = b;
  return ierr;
}

RitzJitBatch ritz_jit_batch_reference(RitzJitBatch batch) {
  ritz_lock(RITZ_LOCK_JIT);
  batch->num_references++;
  ritz_unlock(RITZ_LOCK_JIT);
  return batch;
}

RitzJitModule ritz_jit_take(RitzJitBatch batch, size_t number) {
  end(batch);
  RitzJitModule module = batch->is_lost ? NULL : batch->modules[number];
  return module ? ritz_module_reference(module) : NULL;
}

void ritz_jit_batch_release(RitzJitBatch *batch) {
  RitzJitBatch b = *batch;

  *batch = NULL;
  if (!b) return;
  ritz_lock(RITZ_LOCK_JIT);
  const bool is_last = --b->num_references == 0;
  ritz_unlock(RITZ_LOCK_JIT);
  if (is_last) destroy(b);
}
