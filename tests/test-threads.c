// SPDX-License-Identifier: BSD-2-Clause
// Several threads at once, each with a context of its own: they get what one thread gets, bit for bit where
// the backend is deterministic, and may add QFunctions to the gallery, which they share. The threads run the
// program of fault-program.c, which uses all of the library. Meant to be run under a thread sanitizer, too.
#include "tests/tap.h"

#include "base/threads.h"
#include "tests/fault-program.h"
#include <ceed/backend.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_THREADS = 4 };

static int num_repetitions(void) {
  static const int num[] = {2, 20, 200};

  return num[tap_level()];
}

// ---- Starting together ----

typedef struct {
  pthread_t thread;
  pthread_barrier_t *start; // borrowed
  int number;
  int (*work)(void *data, int number, int repetition);
  void *data; // of this thread
  int code;   // the first failure
} Thread;

// Checks of the harness belong to the main thread; others keep their code for it.
static void *run_thread(void *arg) {
  Thread *t = arg;

  pthread_barrier_wait(t->start);
  for (int k = 0; k < num_repetitions() && !t->code; k++) t->code = t->work(t->data, t->number, k);
  return NULL;
}

// data [NUM_THREADS] of `size` bytes each.
static void run_threads(int (*work)(void *data, int number, int repetition), void *data, size_t size) {
  Thread threads[NUM_THREADS];
  pthread_barrier_t start;

  CHECK(!pthread_barrier_init(&start, NULL, NUM_THREADS), "no barrier");
  for (int i = 0; i < NUM_THREADS; i++) {
    threads[i] = (Thread){.start = &start, .number = i, .work = work};
    threads[i].data = data ? (char *)data + (size_t)i * size : NULL;
    CHECK(!pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]), "no thread");
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i].thread, NULL);
  pthread_barrier_destroy(&start);
  for (int i = 0; i < NUM_THREADS; i++)
    CHECK(!threads[i].code, "thread %d failed with %d", i, threads[i].code);
}

// ---- The whole library ----

typedef struct {
  FaultInput input;
  FaultResult serial; // what the program gives alone
  int num_different;
} Job;

static int run_program(void *data, int number, int repetition) {
  Job *job = data;
  FaultResult result;
  int ierr = fault_program_run(&job->input, false, &result);

  (void)number, (void)repetition;
  if (!ierr) ierr = result.destroyed;
  job->num_different += !fault_numbers_agree(&result, &job->serial);
  return ierr;
}

// Threads run the backends from `first` on, so that different ones run at the same time.
static void check_threads(size_t first) {
  size_t num_backends;
  const char *const *backends = tap_backends(&num_backends);
  Job jobs[NUM_THREADS];

  for (int i = 0; i < NUM_THREADS; i++) {
    jobs[i] = (Job){.input = fault_program_input()};
    jobs[i].input.resource = backends[(first + (size_t)i) % num_backends];
    CHECK_OK(fault_program_run(&jobs[i].input, false, &jobs[i].serial));
    CHECK(jobs[i].serial.num_numbers > 20, "%d numbers", jobs[i].serial.num_numbers);
  }
  run_threads(run_program, jobs, sizeof(jobs[0]));
  for (int i = 0; i < NUM_THREADS && !tap_failed(); i++)
    CHECK(jobs[i].num_different == 0, "thread %d (%s): %d of its runs gave other numbers", i,
          jobs[i].input.resource, jobs[i].num_different);
}

TEST(threads_with_contexts_of_their_own_get_what_one_thread_gets) {
  size_t num_backends;

  tap_backends(&num_backends);
  for (size_t first = 0; first < num_backends && !tap_failed(); first += NUM_THREADS) check_threads(first);
}

// ---- Contexts come and go ----

static int open_and_close(void *data, int number, int repetition) {
  static const char *const requests[] = {"/cpu/self", "/cpu/self/ref/serial", "/cpu/self/check", "/no/such"};
  Ceed ceeds[8] = {NULL};
  size_t num;
  char **names = NULL;
  int ierr = CeedRegistryGetList(&num, &names, NULL);

  (void)data;
  free(names);
  for (int i = 0; !ierr && i < 8; i++) {
    int k = (number + repetition + i) % 4, code = CeedInit(requests[k], &ceeds[i]);

    ierr = k == 3 ? (code ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR) : code;
  }
  for (int i = 0; i < 8; i++) {
    int code = CeedDestroy(&ceeds[i]);

    if (!ierr) ierr = code;
  }
  return ierr;
}

TEST(contexts_are_opened_and_closed_at_the_same_time) { run_threads(open_and_close, NULL, 0); }

// ---- The gallery ----

static int triple(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) out[0][i] = 3 * in[0][i];
  return CEED_ERROR_SUCCESS;
}

static int add_fields(Ceed ceed, const char *requested, CeedQFunction qf) {
  (void)ceed, (void)requested;
  int ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE);

  return ierr ? ierr : CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE);
}

static int use_registered(Ceed ceed, const char *name) {
  CeedQFunction qf = NULL;
  CeedVector u = NULL, v = NULL;
  CeedScalar norm = 0;
  int ierr = CeedQFunctionCreateInteriorByName(ceed, name, &qf);

  if (!ierr) ierr = CeedVectorCreate(ceed, 5, &u);
  if (!ierr) ierr = CeedVectorCreate(ceed, 5, &v);
  if (!ierr) ierr = CeedVectorSetValue(u, 2);
  if (!ierr) ierr = CeedQFunctionApply(qf, 5, &u, &v);
  if (!ierr) ierr = CeedVectorNorm(v, CEED_NORM_1, &norm);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  return ierr ? ierr : norm == 30 ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// One name that all threads register, and one of each thread and repetition; both are used at once, as is the
// list of those that came with the library.
static int register_and_use(void *data, int number, int repetition) {
  char name[64];
  CeedQFunction mass = NULL;
  Ceed ceed = NULL;
  int ierr = CeedInit("/cpu/self/ref", &ceed);

  (void)data;
  snprintf(name, sizeof(name), "Triple of thread %d, number %d", number, repetition % 50);
  if (!ierr) ierr = CeedQFunctionRegister("Triple", "ceed/jit-source/x.h:triple", 1, triple, add_fields);
  if (!ierr) ierr = CeedQFunctionRegister(name, "ceed/jit-source/x.h:triple", 1, triple, add_fields);
  if (!ierr) ierr = use_registered(ceed, "Triple");
  if (!ierr) ierr = use_registered(ceed, name);
  if (!ierr) ierr = CeedQFunctionCreateInteriorByName(ceed, "MassApply", &mass);
  CeedQFunctionDestroy(&mass);
  CeedDestroy(&ceed);
  return ierr;
}

TEST(qfunctions_are_registered_and_found_at_the_same_time) { run_threads(register_and_use, NULL, 0); }

// ---- The environment ----

typedef struct {
  RitzFlag is_changed;
  char value[8];
  bool is_there, is_new_there;
} Look;

static void look(void *data) {
  Look *l = data;

  ritz_flag_wait(&l->is_changed, 1);
  const char *value = ritz_getenv("RITZ_OF_TEST_THREADS");
  l->is_there = value != NULL;
  (void)snprintf(l->value, sizeof(l->value), "%s", value ? value : "");
  l->is_new_there = ritz_getenv("RITZ_OF_TEST_THREADS_2") != NULL;
}

// The program may change its environment while a task runs.
TEST(tasks_see_the_environment_of_their_start) {
  Look l = {.value = ""};
  RitzTask task = NULL;

  setenv("RITZ_OF_TEST_THREADS", "old", 1);
  CHECK_OK(ritz_task_start(NULL, look, &l, &task));
  setenv("RITZ_OF_TEST_THREADS", "new", 1);
  setenv("RITZ_OF_TEST_THREADS_2", "new", 1);
  ritz_flag_raise(&l.is_changed, 1);
  CHECK(ritz_task_end(&task), "it has ended here");
  CHECK(l.is_there && !strcmp(l.value, "old") && !l.is_new_there, "the task has found '%s'", l.value);
  CHECK(!strcmp(ritz_getenv("RITZ_OF_TEST_THREADS"), "new"), "the program's own value");
  unsetenv("RITZ_OF_TEST_THREADS"), unsetenv("RITZ_OF_TEST_THREADS_2");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(threads_with_contexts_of_their_own_get_what_one_thread_gets,
                        contexts_are_opened_and_closed_at_the_same_time,
                        qfunctions_are_registered_and_found_at_the_same_time,
                        tasks_see_the_environment_of_their_start));
}
