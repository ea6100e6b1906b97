// SPDX-License-Identifier: BSD-2-Clause
// Kernels (contract in jit/kernel.h). Texts that are begun together are a batch: copies of their sources, and
// a task that leads them to modules while the caller does something else.
#include "jit/kernel.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/memory.h"
#include "base/threads.h"
#include "core/core.h"
#include "jit/build.h"
#include "jit/module.h"
#include "jit/process.h"

// How far a text is; numbers rise.
enum { LOOKED_FOR, ABSENT, THERE };

// What becomes of a text.
typedef struct {
  RitzJitModule module; // counted; written by the task before the state says that it is there
  atomic_int state;
} Place;

typedef struct RitzJitBatch {
  int num_references; // guarded by RITZ_LOCK_JIT
  size_t num;
  RitzJitSource *sources; // owned, with all that they point to
  Place *places;          // owned
  RitzTask task;          // owned
  pid_t process;          // that the task belongs to: in a forked child what is not there never comes
  atomic_bool is_unwanted, has_ended; // the task is told; says so
  struct RitzJitBatch *next_ending;
} Batch;

static Batch *ending; // unwanted ones, linked by next_ending; guarded by RITZ_LOCK_JIT

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
                        .is_optional = from->is_optional,
                        .urgency = from->urgency};
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

static void note_absence(void *data, size_t number) {
  Batch *batch = data;
  atomic_store(&batch->places[number].state, ABSENT);
}

// Takes over the module.
static void put(Batch *batch, size_t number, RitzJitModule module) {
  batch->places[number].module = module;
  atomic_store(&batch->places[number].state, THERE);
}

static void note_module(void *data, size_t number, RitzJitModule module) {
  put(data, number, ritz_module_reference(module));
}

static bool is_there(const Batch *batch, size_t number) {
  return atomic_load(&batch->places[number].state) == THERE;
}

static void load(void *data) {
  Batch *batch = data;
  const RitzJitWatch watch = {&batch->is_unwanted, note_absence, note_module, batch};
  RitzJitModule *modules = NULL;

  if (!RITZ_CALLOC(&nobody, batch->num, &modules))
    (void)ritz_jit_load_watched(&nobody, &watch, batch->num, batch->sources, modules);
  for (size_t i = 0; i < batch->num; i++) {
    if (!is_there(batch, i))
      put(batch, i, modules ? modules[i] : NULL);
    else if (modules)
      ritz_jit_release(&modules[i]);
  }
  RITZ_FREE(&modules);
  atomic_store(&batch->has_ended, true);
}

static void destroy(Batch *batch) {
  (void)ritz_task_end(&batch->task);
  for (size_t i = 0; batch->places && i < batch->num; i++) {
    if (is_there(batch, i)) ritz_jit_release(&batch->places[i].module);
  }
  for (size_t i = 0; batch->sources && i < batch->num; i++) free_source(&batch->sources[i]);
  RITZ_FREE(&batch->places);
  RITZ_FREE(&batch->sources);
  RITZ_FREE(&batch);
}

// Unwanted batches, or those of them whose tasks have ended: nobody waits for them then.
static void end_batches(bool waits) {
  Batch *gone = NULL;

  ritz_lock(RITZ_LOCK_JIT);
  for (Batch **link = &ending; *link;) {
    Batch *batch = *link;

    if (!waits && !atomic_load(&batch->has_ended)) {
      link = &batch->next_ending;
      continue;
    }
    *link = batch->next_ending;
    batch->next_ending = gone;
    gone = batch;
  }
  ritz_unlock(RITZ_LOCK_JIT);
  while (gone) {
    Batch *next = gone->next_ending;

    destroy(gone);
    gone = next;
  }
}

void ritz_jit_kernels_end(void) { end_batches(true); }

static int begin_batch(Ceed ceed, size_t num, const RitzJitSource *sources, Batch **batch) {
  Batch *b = NULL;

  *batch = NULL;
  end_batches(false);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &b));
  b->num_references = 1;
  b->num = num;
  b->process = getpid();
  int ierr = RITZ_CALLOC(ceed, num, &b->sources);
  if (!ierr) ierr = RITZ_CALLOC(ceed, num, &b->places);
  for (size_t i = 0; !ierr && i < num; i++) {
    // C++ comes last: nobody is to wait for a look at it.
    atomic_init(&b->places[i].state, sources[i].language == RITZ_JIT_C ? LOOKED_FOR : ABSENT);
    ierr = copy_source(ceed, &sources[i], &b->sources[i]);
  }
  if (!ierr) ierr = ritz_task_start(ceed, load, b, &b->task);
  if (ierr) destroy(b);
  if (!ierr) *batch = b;
  return ierr;
}

static void count_reference(Batch *batch) {
  ritz_lock(RITZ_LOCK_JIT);
  batch->num_references++;
  ritz_unlock(RITZ_LOCK_JIT);
}

static void release_batch(Batch **batch) {
  Batch *b = *batch;

  *batch = NULL;
  if (!b) return;
  // Who dumps texts wants all of them, with logs and binaries.
  const bool is_wanted = ritz_environment(ENV_RITZ_DUMP) != NULL;
  ritz_lock(RITZ_LOCK_JIT);
  const bool is_last = --b->num_references == 0;
  if (is_last && !is_wanted) {
    atomic_store(&b->is_unwanted, true);
    b->next_ending = ending;
    ending = b;
  }
  ritz_unlock(RITZ_LOCK_JIT);
  if (is_last && is_wanted) destroy(b);
}

// Until it is at least in this state, or will never be.
static void wait_for(const Batch *batch, size_t number, int state) {
  RitzWait wait = {0};
  double moment = 0;

  if (atomic_load(&batch->places[number].state) >= state) return;
  ritz_jobs_note_waiting(1);
  while (batch->process == getpid() && atomic_load(&batch->places[number].state) < state) {
    ritz_wait_show(&wait);
    ritz_pause(&moment);
  }
  ritz_wait_end(&wait);
  ritz_jobs_note_waiting(-1);
}

static bool can_take(const RitzJitKernel *kernel) {
  wait_for(kernel->batch, kernel->number, ABSENT);
  return kernel->batch->process != getpid() || is_there(kernel->batch, kernel->number);
}

// Waits for the module. New again where nothing came of it: out of memory, or the process has forked.
static void take(RitzJitKernel *kernel) {
  wait_for(kernel->batch, kernel->number, THERE);
  const RitzJitModule module =
      is_there(kernel->batch, kernel->number) ? kernel->batch->places[kernel->number].module : NULL;
  kernel->module = module ? ritz_module_reference(module) : NULL;
  release_batch(&kernel->batch);
}

// ---- Kernels ----

// New, and not named by an order before.
static bool is_new(const RitzJitOrder *orders, size_t i) {
  size_t first = 0;

  while (orders[first].kernel != orders[i].kernel) first++;
  return first == i && !orders[i].kernel->module && !orders[i].kernel->batch;
}

// Of which orders.
enum { THAT_DO_NOT_WAIT = 1 << false, THAT_WAIT = 1 << true };

// kernels, sources [num]
static size_t list_new(size_t num, const RitzJitOrder *orders, int which, RitzJitSource *sources,
                       RitzJitKernel **kernels) {
  size_t n = 0;

  for (size_t i = 0; i < num; i++) {
    if (!(which & 1 << orders[i].waits) || !is_new(orders, i)) continue;
    sources[n] = orders[i].source;
    kernels[n++] = orders[i].kernel;
  }
  return n;
}

static int begin_new(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitKernel *const *kernels) {
  Batch *batch = NULL;

  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(begin_batch(ceed, num, sources, &batch));
  for (size_t i = 0; i < num; i++) {
    count_reference(batch);
    kernels[i]->batch = batch;
    kernels[i]->number = i;
  }
  release_batch(&batch);
  return CEED_ERROR_SUCCESS;
}

static int load_new(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitKernel *const *kernels) {
  RitzJitModule *modules = NULL;

  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &modules));
  const int ierr = ritz_jit_load(ceed, num, sources, modules);
  for (size_t i = 0; !ierr && i < num; i++) kernels[i]->module = modules[i];
  RITZ_FREE(&modules);
  return ierr;
}

static int with_new(Ceed ceed, size_t num, const RitzJitOrder *orders, int which,
                    int (*make)(Ceed, size_t, const RitzJitSource *, RitzJitKernel *const *)) {
  RitzJitSource *sources = NULL;
  RitzJitKernel **kernels = NULL;
  int ierr = RITZ_CALLOC(ceed, num, &sources);

  if (!ierr) ierr = RITZ_CALLOC(ceed, num, &kernels);
  if (!ierr) ierr = make(ceed, list_new(num, orders, which, sources, kernels), sources, kernels);
  RITZ_FREE(&sources);
  RITZ_FREE((void **)&kernels);
  return ierr;
}

int ritz_jit_kernels_begin(Ceed ceed, size_t num, const RitzJitOrder *orders) {
  return with_new(ceed, num, orders, THAT_WAIT | THAT_DO_NOT_WAIT, begin_new);
}

int ritz_jit_kernels_make(Ceed ceed, size_t num, const RitzJitOrder *orders) {
  RITZ_TRY(with_new(ceed, num, orders, THAT_DO_NOT_WAIT, begin_new));
  for (size_t i = 0; i < num; i++) {
    if (orders[i].kernel->batch && orders[i].waits) take(orders[i].kernel);
  }
  RITZ_TRY(with_new(ceed, num, orders, THAT_WAIT, load_new));
  for (size_t i = 0; i < num; i++) {
    if (ritz_jit_kernel_state(orders[i].kernel) == RITZ_JIT_KERNEL_COME) take(orders[i].kernel);
  }
  return CEED_ERROR_SUCCESS;
}

RitzJitKernelState ritz_jit_kernel_state(const RitzJitKernel *kernel) {
  if (kernel->module) return RITZ_JIT_KERNEL_MADE;
  if (!kernel->batch) return RITZ_JIT_KERNEL_NEW;
  return can_take(kernel) ? RITZ_JIT_KERNEL_COME : RITZ_JIT_KERNEL_COMPILING;
}

void ritz_jit_kernel_release(RitzJitKernel *kernel) {
  ritz_jit_release(&kernel->module);
  release_batch(&kernel->batch);
}
