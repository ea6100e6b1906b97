// SPDX-License-Identifier: BSD-2-Clause
// Transports between GPUs (distributed/nccl.c, devices/nccl.c) on a driver and an NCCL that are made for
// tests, with one part that writes to itself: messages arrive, in which streams things happen, failures name
// the call and leave nothing, a part that is told to stop stops. Several real devices: test-exchange.c.
#include "tests/tap.h"

#include <dlfcn.h>
#include <ritz/exchange.h>
#include <ritz/mesh.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "devices/device.h"
#include "devices/nccl.h"
#include "tests/fake-nccl.h"
#include "tests/load-fakes.h"

// ---- The fakes, a base of one part, a transport on top of it ----

static FakeNccl *load_nccl(void) {
  FakeNcclState get_state = NULL;
  const char *why = NULL;

  setenv("RITZ_NCCL", FAKE_NCCL_FILE, 1);
  const char *file = ritz_nccl_find(&why);
  unsetenv("RITZ_NCCL");
  if (!file || strcmp(file, FAKE_NCCL_FILE) != 0) return NULL;
  ritz_find_symbol(dlopen(FAKE_NCCL_FILE, RTLD_NOW | RTLD_NOLOAD), "fake_nccl", &get_state);
  return get_state ? get_state() : NULL;
}

// A base of one part: numbers stay as they are; counts what it is asked for.
typedef struct {
  int num_reductions, num_registered, num_announced;
  int num_after_sum; // reductions behind the first announcement
  int failure;       // of calls that announce
  int absence;       // of reductions
  int others;        // what on_stop says of others when this part leaves
  void (*stop)(void *ctx);
  void *stop_ctx;
} Base;

static int no_messages(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  (void)t, (void)num, (void)messages;
  return CEED_ERROR_MAJOR; // messages between devices do not come here
}

static int keep_numbers(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  Base *base = t->ctx;

  (void)kind, (void)num, (void)values;
  base->num_reductions++;
  base->num_after_sum += base->num_announced > 0;
  return base->absence;
}

static int remember_stop(const RitzTransport *t, void (*stop)(void *ctx), void *ctx) {
  Base *base = t->ctx;

  base->num_registered += stop ? 1 : -1;
  if (!stop && base->others) base->stop(base->stop_ctx); // all are stopped, this part as well
  base->stop = stop;
  base->stop_ctx = ctx;
  return stop ? CEED_ERROR_SUCCESS : base->others;
}

static int count_announcement(const RitzTransport *t) {
  Base *base = t->ctx;

  base->num_announced++;
  return base->failure;
}

static RitzTransport base_transport(Base *base) {
  *base = (Base){0};
  return (RitzTransport){.num_parts = 1,
                         .mem_type = CEED_MEM_HOST,
                         .ctx = base,
                         .begin = no_messages,
                         .end = no_messages,
                         .reduce = keep_numbers,
                         .on_stop = remember_stop,
                         .announce = count_announcement};
}

typedef struct {
  FakeCuda *driver;
  FakeNccl *nccl;
  Ceed ceed;
  RitzDevice device;
  Base base;
  RitzTransport below, transport;
} Kit;

static void begin(Kit *k) {
  *k = (Kit){.driver = fakes_load_for_contexts(), .nccl = load_nccl()};
  CHECK(k->driver && k->nccl, "the fakes are not there");
  if (tap_failed()) return;
  *k->nccl = (FakeNccl){0};
  const char *why = NULL;
  const int num_devices = ritz_cuda.count(&why);
  CHECK(num_devices == 2, "%d devices: %s", num_devices, why ? why : "");
  CHECK_OK(CeedInit("/gpu/cuda/shared", &k->ceed));
  CHECK_OK(CeedSetErrorHandler(k->ceed, CeedErrorStore));
  CHECK_OK(ritz_cuda.open(k->ceed, 0, &k->device));
  k->below = base_transport(&k->base);
}

static void end(Kit *k) {
  CHECK_OK(CeedDestroy(&k->ceed));
  CHECK(k->nccl->num_comms == 0 && k->nccl->num_outside == 0,
        "%d communicators are left, %d calls without a current context", k->nccl->num_comms,
        k->nccl->num_outside);
  CHECK(k->driver->num_streams == 0 && k->driver->num_events == 0 && k->base.num_registered == 0,
        "%d streams, %d events, %d stops are left", k->driver->num_streams, k->driver->num_events,
        k->base.num_registered);
  unsetenv("RITZ_CACHE");
}

// ---- What is found: once in a process, hence in another one ----

static int join_without_nccl(void) {
  Base base;
  RitzTransport below = base_transport(&base), transport;
  const char *message = "";
  Ceed ceed = NULL;

  setenv("RITZ_NCCL", "/nowhere/libnccl.so.2", 1);
  if (!fakes_load_for_contexts() || CeedInit("/gpu/cuda/shared", &ceed) ||
      CeedSetErrorHandler(ceed, CeedErrorStore))
    return 2;
  const int code = RitzTransportCreateNCCL(ceed, &below, &transport);

  CeedGetErrorMessage(ceed, &message);
  const bool is_told = code == CEED_ERROR_UNSUPPORTED && strstr(message, "no NCCL: /nowhere/libnccl.so.2");

  return CeedDestroy(&ceed) || !is_told;
}

TEST(a_library_that_is_not_there_is_named) {
  const pid_t child = fork();
  int status = 0;

  if (child == 0) {
    execl("/proc/self/exe", "test-nccl", "--without-nccl", (char *)NULL);
    _exit(3);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

// ---- Messages and sums ----

TEST(messages_go_beside_the_context_and_sums_in_its_stream) {
  double numbers[4] = {1, 2, 3, 4}, back[4] = {0};
  void *from = NULL, *to = NULL;
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  CHECK(k.transport.mem_type == CEED_MEM_DEVICE && k.transport.num_parts == 1, "it is another transport");
  CHECK_OK(ritz_cuda.alloc(k.ceed, k.device, sizeof(numbers), &from));
  CHECK_OK(ritz_cuda.alloc(k.ceed, k.device, sizeof(numbers), &to));
  CHECK_OK(ritz_cuda.copy_in(k.ceed, k.device, NULL, sizeof(numbers), from, numbers));
  // of two messages one is empty both ways
  const RitzMessage messages[2] = {
      {.part = 0, .send_bytes = sizeof(numbers), .recv_bytes = sizeof(numbers), .send = from, .recv = to},
      {.part = 0}};
  CHECK_OK(k.transport.begin(&k.transport, 2, messages));
  CHECK_ERROR(k.ceed, k.transport.begin(&k.transport, 2, messages), CEED_ERROR_INCOMPATIBLE,
              "other messages are under way");
  CHECK_ERROR(k.ceed, k.transport.run(&k.transport, 2, messages), CEED_ERROR_INCOMPATIBLE,
              "other messages are under way");
  CHECK_OK(k.transport.end(&k.transport, 2, messages));
  CHECK_OK(ritz_cuda.copy_out(k.ceed, k.device, NULL, sizeof(numbers), back, to));
  CHECK(!memcmp(numbers, back, sizeof(numbers)), "%g %g %g %g has arrived", back[0], back[1], back[2],
        back[3]);
  CHECK(k.nccl->num_groups == 1 && k.nccl->message_stream, "%d groups, stream %p", k.nccl->num_groups,
        k.nccl->message_stream);
  // what nothing is to be done beside goes in the context's stream
  const RitzMessage again = {
      .part = 0, .send_bytes = 8, .recv_bytes = 8, .send = from, .recv = (char *)to + 8};
  void *const beside = k.nccl->message_stream;
  CHECK_OK(k.transport.run(&k.transport, 1, &again));
  CHECK_OK(ritz_cuda.copy_out(k.ceed, k.device, NULL, sizeof(numbers), back, to));
  CHECK(back[0] == 1 && back[1] == 1 && back[2] == 3, "%g %g %g has arrived", back[0], back[1], back[2]);
  CHECK(k.nccl->num_groups == 2 && !k.nccl->message_stream, "%d groups, stream %p", k.nccl->num_groups,
        k.nccl->message_stream);

  CHECK_OK(k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_SUM, 3, to));
  CHECK(k.nccl->num_reduced == 3 && k.nccl->kind == 8 && k.nccl->operation == 0 && !k.nccl->reduction_stream,
        "%d numbers of kind %d, operation %d", k.nccl->num_reduced, k.nccl->kind, k.nccl->operation);
  CHECK_OK(CeedSetStream(k.ceed, beside));
  CHECK_OK(k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_MAX, 1, to));
  CHECK(k.nccl->operation == 2 && k.nccl->reduction_stream == beside, "the stream is another one");
  CHECK_OK(CeedSetStream(k.ceed, (void *)1)); // the legacy stream's name
  const int before = k.base.num_reductions;
  CHECK_OK(k.transport.reduce(&k.transport, RITZ_REDUCTION_SUM, 1, back));
  CHECK(k.base.num_reductions == before + 1, "numbers of the host are not the base's");
  CHECK_OK(ritz_cuda.free(k.ceed, k.device, from));
  CHECK_OK(ritz_cuda.free(k.ceed, k.device, to));
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  end(&k);
}

// ---- Failures ----

TEST(what_nccl_refuses_names_the_call_and_leaves_nothing) {
  static const char *const of_creation[] = {"ncclGetUniqueId", "ncclCommInitRank", "ncclAllReduce"};
  const RitzMessage message = {.part = 0, .send_bytes = 8, .recv_bytes = 8};
  double number = 0;
  RitzMessage full = message;
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  for (int i = 0; i < 3; i++) {
    k.nccl->failing = of_creation[i];
    k.nccl->failure = 4;
    CHECK_ERROR(k.ceed, RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport), CEED_ERROR_BACKEND,
                of_creation[i]);
    CHECK(k.driver->num_streams == 0 && k.driver->num_events == 0, "%s: %d streams, %d events are left",
          of_creation[i], k.driver->num_streams, k.driver->num_events);
  }
  k.nccl->failing = NULL;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  full.send = full.recv = &number;
  for (int i = 0; i < 4; i++) {
    k.nccl->failing = (const char *const[]){"ncclGroupStart", "ncclRecv", "ncclSend", "ncclGroupEnd"}[i];
    CHECK_ERROR(k.ceed, k.transport.begin(&k.transport, 1, &full), CEED_ERROR_BACKEND,
                "ncclSend, ncclRecv: invalid argument (status 4 of");
  }
  k.nccl->failing = "ncclAllReduce";
  CHECK_ERROR(k.ceed, k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_SUM, 1, &number),
              CEED_ERROR_BACKEND, "ncclAllReduce: invalid argument");
  k.nccl->failing = NULL;
  CHECK_OK(k.transport.begin(&k.transport, 1, &full)); // what has failed is not under way
  CHECK_OK(k.transport.end(&k.transport, 1, &full));
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  end(&k);
}

TEST(a_part_that_is_stopped_makes_no_more_calls) {
  double number = 0;
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  CHECK(k.base.stop != NULL, "nobody can stop it");
  if (k.base.stop) {
    k.base.stop(k.base.stop_ctx);
    k.base.stop(k.base.stop_ctx);
  }
  CHECK(k.nccl->num_aborts == 1, "%d aborts", k.nccl->num_aborts);
  CHECK_ERROR(k.ceed, k.transport.begin(&k.transport, 0, NULL), CEED_ERROR_MAJOR, "another part has stopped");
  CHECK_ERROR(k.ceed, k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_SUM, 1, &number),
              CEED_ERROR_MAJOR, "another part has stopped");
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  // a part that fails itself
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  CHECK_OK(RitzTransportAbortNCCL(&k.transport));
  CHECK_OK(RitzTransportAbortNCCL(&k.transport));
  CHECK(k.nccl->num_aborts == 2, "%d aborts", k.nccl->num_aborts);
  end(&k);
}

// ---- Others ----

// What the others have to begin as often is announced before, and not begun where that fails.
TEST(calls_that_others_wait_for_are_announced) {
  double number = 0;
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  const int first = k.base.num_announced;
  CHECK_OK(k.transport.begin(&k.transport, 0, NULL));
  CHECK_OK(k.transport.end(&k.transport, 0, NULL));
  CHECK_OK(k.transport.run(&k.transport, 0, NULL));
  CHECK_OK(k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_SUM, 1, &number));
  CHECK_OK(k.transport.reduce(&k.transport, RITZ_REDUCTION_SUM, 1, &number)); // the base sees to itself
  CHECK(k.base.num_announced == first + 3, "%d of 3 calls are announced", k.base.num_announced - first);
  k.base.failure = CEED_ERROR_INCOMPATIBLE;
  k.nccl->num_groups = k.nccl->num_reduced = 0;
  CHECK(k.transport.begin(&k.transport, 0, NULL) == CEED_ERROR_INCOMPATIBLE, "messages that nobody awaits");
  CHECK(k.transport.run(&k.transport, 0, NULL) == CEED_ERROR_INCOMPATIBLE, "messages that nobody awaits");
  CHECK(k.transport.reduce_in_memory(&k.transport, RITZ_REDUCTION_SUM, 1, &number) == CEED_ERROR_INCOMPATIBLE,
        "a sum that others do not make");
  CHECK(k.nccl->num_groups == 0 && k.nccl->num_reduced == 0, "%d groups, %d numbers are queued",
        k.nccl->num_groups, k.nccl->num_reduced);
  k.base.failure = CEED_ERROR_SUCCESS;
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  CHECK(k.nccl->num_aborts == 0, "%d aborts", k.nccl->num_aborts);
  end(&k);
}

TEST(a_part_that_leaves_others_waiting_ends_with_an_error) {
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  k.base.others = CEED_ERROR_INCOMPATIBLE;
  CHECK(RitzTransportDestroyNCCL(&k.transport) == CEED_ERROR_INCOMPATIBLE, "it is not told");
  CHECK(k.nccl->num_aborts == 1, "%d aborts", k.nccl->num_aborts);
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  // others that do not come
  k.base.others = CEED_ERROR_SUCCESS;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  k.base.absence = CEED_ERROR_MAJOR;
  CHECK(RitzTransportDestroyNCCL(&k.transport) == CEED_ERROR_MAJOR, "nobody is missed");
  CHECK(k.nccl->num_aborts == 2, "%d aborts", k.nccl->num_aborts);
  k.base.absence = CEED_ERROR_SUCCESS;
  // one that fails has its own code
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  k.base.others = CEED_ERROR_INCOMPATIBLE;
  CHECK_OK(RitzTransportAbortNCCL(&k.transport));
  CHECK(k.nccl->num_aborts == 3, "%d aborts", k.nccl->num_aborts);
  end(&k);
}

// A mesh that is one part has no neighbours: groups are empty.
TEST(hosts_meet_when_first_messages_have_arrived) {
  const CeedInt num[1] = {2};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzExchange exchange = NULL;
  Kit k;

  begin(&k);
  if (tap_failed()) return;
  CHECK_OK(RitzMeshCreateBox(k.ceed, 1, num, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 1, 1, &space));
  CHECK_OK(RitzExchangeCreate(space, k.ceed, &k.below, &exchange));
  const int by_base = k.base.num_reductions;
  CHECK_OK(RitzExchangeDestroy(&exchange));
  k.base.num_reductions = 0;
  CHECK_OK(RitzTransportCreateNCCL(k.ceed, &k.below, &k.transport));
  // names, a first sum that was waited for, and a meeting behind it
  CHECK(k.nccl->num_reduced == 1 && k.nccl->kind == 8 && k.driver->num_queued == 0, "%d numbers, %d waiting",
        k.nccl->num_reduced, (int)k.driver->num_queued);
  CHECK(k.base.num_after_sum == 1, "%d meetings behind the first sum", k.base.num_after_sum);
  k.base.num_reductions = 0;
  CHECK_OK(RitzExchangeCreate(space, k.ceed, &k.transport, &exchange));
  CHECK(k.nccl->num_groups == 2 && k.driver->num_queued == 0, "%d groups, %d waiting", k.nccl->num_groups,
        (int)k.driver->num_queued);
  CHECK(k.base.num_reductions == by_base + 2, "hosts meet %d times, %d without devices",
        k.base.num_reductions, by_base);
  CHECK_OK(RitzExchangeDestroy(&exchange));
  CHECK_OK(RitzTransportDestroyNCCL(&k.transport));
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzMeshDestroy(&mesh));
  end(&k);
}

// ---- What an iteration of conjugate gradients in parts takes ----

// One of two parts whose other part is not there: what it sends comes back, sums are such that the method
// goes on for ever.
typedef struct {
  const RitzTransport *between; // of one part
  bool is_solving;
  int num_sums;
  RitzMessage last;
} Half;

static RitzMessage to_itself(Half *h, const RitzMessage *m) {
  const size_t num_bytes = m->send_bytes < m->recv_bytes ? m->send_bytes : m->recv_bytes;

  h->last = *m;
  return (RitzMessage){
      .part = 0, .send_bytes = num_bytes, .recv_bytes = num_bytes, .send = m->send, .recv = m->recv};
}

static int begin_half(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Half *h = t->ctx;
  const RitzMessage message = to_itself(h, messages);

  return num == 1 ? h->between->begin(h->between, 1, &message) : CEED_ERROR_MAJOR;
}

static int end_half(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Half *h = t->ctx;
  const RitzMessage message = to_itself(h, messages);

  return num == 1 ? h->between->end(h->between, 1, &message) : CEED_ERROR_MAJOR;
}

static int run_half(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  Half *h = t->ctx;
  const RitzMessage message = to_itself(h, messages);

  return num == 1 ? h->between->run(h->between, 1, &message) : CEED_ERROR_MAJOR;
}

static int make_up_numbers(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]);

static int run_half_and_sum(const RitzTransport *t, CeedInt num, const RitzMessage messages[],
                            CeedInt num_values, double values[]) {
  Half *h = t->ctx;
  const RitzMessage message = to_itself(h, messages);

  if (num != 1) return CEED_ERROR_MAJOR;
  RITZ_TRY(h->between->run_and_sum(h->between, 1, &message, num_values, values));
  return make_up_numbers(t, RITZ_REDUCTION_SUM, num_values, values);
}

// Before the iterations: zeros, parts get what others send; then a residual of norm one. With one sum an
// iteration r . r, p . q, r . q, q . q: a square of 1 that the step makes 0.625. All others are one.
static int make_up_numbers(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  static const double step[4] = {1, 2, 1, 2.5};
  Half *h = t->ctx;

  (void)kind;
  h->num_sums++;
  for (CeedInt i = 0; i < num; i++) values[i] = h->is_solving ? num == 4 ? step[i] : 1 : 0;
  return CEED_ERROR_SUCCESS;
}

static RitzTransport half_transport(Half *h) {
  return (RitzTransport){.num_parts = 2,
                         .part = 0,
                         .mem_type = CEED_MEM_DEVICE,
                         .ctx = h,
                         .begin = begin_half,
                         .end = end_half,
                         .run = run_half,
                         .run_and_sum = run_half_and_sum,
                         .reduce = make_up_numbers,
                         .reduce_in_memory = make_up_numbers}; // the device's memory is the host's;
}

typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  RitzExchange exchange;
  RitzPartOperator op;
  RitzIndices boundary;
  CeedVector b, x;
  RitzSolver solver;
} HalfProblem;

static int make_space(Ceed ceed, HalfProblem *p) {
  const CeedInt sizes[2] = {2, 2};
  const int32_t parts[4] = {0, 1, 0, 1};
  RitzMesh whole = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, 2, sizes, NULL, NULL, 1, NULL, NULL, &whole));
  RITZ_TRY(RitzMeshCreateSubmesh(whole, 2, parts, 0, &p->mesh));
  RITZ_TRY(RitzMeshDestroy(&whole));
  return RitzSpaceCreate(p->mesh, 3, 1, &p->space);
}

// No elements: what is counted is what comes beside them.
static int make_half_problem(Ceed ceed, const RitzTransport *t, HalfProblem *p) {
  CeedVector *const vectors[2] = {&p->b, &p->x};
  int64_t num = 0, *nodes = NULL;
  CeedSize size = 0;

  RITZ_TRY(make_space(ceed, p));
  RITZ_TRY(RitzExchangeCreate(p->space, ceed, t, &p->exchange));
  RITZ_TRY(RitzPartOperatorCreate(p->exchange, NULL, NULL, &p->op));
  RITZ_TRY(RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes));
  RITZ_TRY(RitzIndicesCreate(ceed, num, nodes, &p->boundary));
  free(nodes);
  RITZ_TRY(RitzSpaceGetSize(p->space, &size));
  for (int i = 0; i < 2; i++) {
    CeedScalar *ones = NULL;

    RITZ_TRY(CeedVectorCreate(ceed, size, vectors[i]));
    RITZ_TRY(CeedVectorGetArrayWrite(*vectors[i], CEED_MEM_HOST, &ones)); // kernels make nothing here
    for (CeedSize k = 0; k < size; k++) ones[k] = 1;
    RITZ_TRY(CeedVectorRestoreArray(*vectors[i], &ones));
  }
  RITZ_TRY(RitzSolverCreateCG(ceed, &p->solver));
  return RitzSolverSetPartOperator(p->solver, p->op, p->boundary);
}

static void destroy_half_problem(HalfProblem *p) {
  CHECK_OK(RitzSolverDestroy(&p->solver));
  CHECK_OK(RitzIndicesDestroy(&p->boundary));
  CHECK_OK(CeedVectorDestroy(&p->b));
  CHECK_OK(CeedVectorDestroy(&p->x));
  CHECK_OK(RitzPartOperatorDestroy(&p->op));
  CHECK_OK(RitzExchangeDestroy(&p->exchange));
  CHECK_OK(RitzSpaceDestroy(&p->space));
  CHECK_OK(RitzMeshDestroy(&p->mesh));
}

enum { GROUPS, SUMS, KERNELS, COPIES, MOMENTS, NUM_COUNTS };
static const char *const count_names[] = {"groups of messages", "sums", "kernels", "copies to the host",
                                          "moments"};

static void add_counts(const Kit *k, const Half *h, int sign, int counts[NUM_COUNTS]) {
  counts[GROUPS] += sign * k->nccl->num_groups;
  counts[SUMS] += sign * h->num_sums;
  counts[KERNELS] += sign * k->driver->num_kernels;
  counts[COPIES] += sign * k->driver->num_copies;
  counts[MOMENTS] += sign * k->driver->num_moments;
}

// Of ten iterations: a solve of twelve less one of two.
static void count_iterations(const Kit *k, const Half *h, HalfProblem *p, RitzCGVariant variant,
                             int counts[NUM_COUNTS]) {
  CeedInt iterations = 0;

  memset(counts, 0, NUM_COUNTS * sizeof(*counts));
  CHECK_OK(RitzSolverSetVariant(p->solver, variant));
  for (int i = 0; i < 3; i++) { // the first one compiles
    const int num = i == 1 ? 2 : 12, sign = i == 0 ? 0 : i == 1 ? -1 : 1;

    CHECK_OK(RitzSolverSetTolerances(p->solver, 0, 0, num));
    add_counts(k, h, -sign, counts);
    CHECK_OK(RitzSolverSolve(p->solver, p->b, p->x));
    add_counts(k, h, sign, counts);
    CHECK_OK(RitzSolverGetIterations(p->solver, &iterations));
    CHECK(iterations == num, "%d iterations of %d", (int)iterations, num);
  }
}

static void open_half(Kit *k, Half *h, HalfProblem *p) {
  *h = (Half){.between = &k->transport};
  *p = (HalfProblem){0};
  begin(k);
  if (tap_failed()) return;
  k->driver->is_idle = 1;
  CHECK_OK(RitzTransportCreateNCCL(k->ceed, &k->below, &k->transport));
  const RitzTransport t = half_transport(h);
  CHECK_OK(make_half_problem(k->ceed, &t, p));
}

static void close_half(Kit *k, HalfProblem *p) {
  destroy_half_problem(p);
  CHECK_OK(RitzTransportDestroyNCCL(&k->transport));
  k->driver->is_idle = 0;
  end(k);
}

TEST(an_iteration_of_parts_is_counted) {
  // Kernels: packing, unpacking, constraints; passes. The product is cleared by no kernel.
  // Where sums are not made in the device's memory, merged iterations have one.
  static const char *const names[3] = {"standard", "merged", "merged by way of the host"};
  static const int wanted[3][NUM_COUNTS] = {{2, 2, 3 + 3, 1, 0}, {2, 2, 3 + 3, 1, 2}, {2, 1, 3 + 2, 1, 0}};
  HalfProblem p;
  Half h;
  Kit k;

  open_half(&k, &h, &p);
  h.is_solving = true;
  for (int v = 0; v < 3 && !tap_failed(); v++) {
    int counts[NUM_COUNTS];

    if (v == 2) CHECK_OK(RitzSolverSetReductionInMemory(p.solver, NULL));
    count_iterations(&k, &h, &p, v == 0 ? RITZ_CG_STANDARD : RITZ_CG_MERGED, counts);
    for (int i = 0; i < NUM_COUNTS; i++)
      CHECK(counts[i] == 10 * wanted[v][i], "%s: %d %s in ten iterations, wanted %d", names[v], counts[i],
            count_names[i], 10 * wanted[v][i]);
  }
  close_half(&k, &p);
}

TEST(messages_come_straight_to_ghosts) {
  CeedSize num_owned = 0;
  const CeedScalar *x = NULL;
  HalfProblem p;
  Half h;
  Kit k;

  open_half(&k, &h, &p);
  if (tap_failed()) return;
  CHECK_OK(RitzExchangeGetNumOwned(p.exchange, &num_owned));
  for (int mode = 0; mode < 2 && !tap_failed(); mode++) {
    CHECK_OK(RitzExchangeRun(p.exchange, (RitzExchangeMode)mode, p.x));
    CHECK_OK(CeedVectorGetArrayRead(p.x, CEED_MEM_DEVICE, &x));
    const void *at_ghosts = mode == RITZ_EXCHANGE_TO_GHOSTS ? h.last.recv : h.last.send;
    CHECK(at_ghosts == x + num_owned, "mode %d: %p, ghosts lie at %p", mode, at_ghosts,
          (const void *)(x + num_owned));
    CHECK_OK(CeedVectorRestoreArrayRead(p.x, &x));
  }
  // while messages are under way the vector may be read and not written
  CHECK_OK(RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, p.x));
  CHECK_ERROR(k.ceed, CeedVectorSetValue(p.x, 1), CEED_ERROR_ACCESS, "a process has read access");
  CHECK_OK(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, p.x));
  close_half(&k, &p);
}

// Of float: half the bytes, to and from the ghosts of the vector, packed by one kernel.
TEST(messages_of_floats_have_half_the_bytes) {
  CeedSize num_owned = 0, size = 0;
  RitzExchange exchange = NULL;
  CeedVector floats = NULL;
  float *ones = NULL;
  const float *x = NULL;
  HalfProblem p;
  Half h;
  Kit k;

  open_half(&k, &h, &p);
  if (tap_failed()) return;
  const RitzTransport t = half_transport(&h);
  CHECK_OK(RitzExchangeCreateInPrecision(p.space, k.ceed, &t, CEED_SCALAR_FP32, &exchange));
  CHECK_OK(RitzExchangeGetNumOwned(exchange, &num_owned));
  CHECK_OK(RitzSpaceGetSize(p.space, &size));
  CHECK_OK(RitzVectorCreate(k.ceed, size, CEED_SCALAR_FP32, &floats));
  CHECK_OK(RitzVectorGetArrayWriteF32(floats, CEED_MEM_HOST, &ones));
  for (CeedSize i = 0; i < size; i++) ones[i] = 1;
  CHECK_OK(RitzVectorRestoreArrayF32(floats, &ones));
  for (int mode = 0; mode < 2 && !tap_failed(); mode++) {
    CHECK_OK(RitzExchangeRun(p.exchange, (RitzExchangeMode)mode, p.x));
    const RitzMessage of_scalars = h.last;
    const int64_t num_kernels = k.driver->num_kernels;
    CHECK_OK(RitzExchangeRun(exchange, (RitzExchangeMode)mode, floats));
    CHECK(h.last.send_bytes * sizeof(CeedScalar) == of_scalars.send_bytes * sizeof(float) &&
              h.last.recv_bytes * sizeof(CeedScalar) == of_scalars.recv_bytes * sizeof(float),
          "mode %d: %zu and %zu bytes, of CeedScalars %zu and %zu", mode, h.last.send_bytes,
          h.last.recv_bytes, of_scalars.send_bytes, of_scalars.recv_bytes);
    // packing; unpacking and zeros
    CHECK(k.driver->num_kernels - num_kernels == 1 + mode, "mode %d: %d kernels", mode,
          (int)(k.driver->num_kernels - num_kernels));
    CHECK_OK(RitzVectorGetArrayReadF32(floats, CEED_MEM_DEVICE, &x));
    const void *at_ghosts = mode == RITZ_EXCHANGE_TO_GHOSTS ? h.last.recv : h.last.send;
    CHECK(at_ghosts == x + num_owned, "mode %d: %p, ghosts lie at %p", mode, at_ghosts,
          (const void *)(x + num_owned));
    CHECK_OK(RitzVectorRestoreArrayReadF32(floats, &x));
  }
  CHECK_OK(CeedVectorDestroy(&floats));
  CHECK_OK(RitzExchangeDestroy(&exchange));
  close_half(&k, &p);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--without-nccl")) return join_without_nccl();
  (void)fakes_load_for_contexts(); // before anybody looks for one
  return tap_main(
      argc, argv,
      TESTS(a_library_that_is_not_there_is_named, messages_go_beside_the_context_and_sums_in_its_stream,
            what_nccl_refuses_names_the_call_and_leaves_nothing, a_part_that_is_stopped_makes_no_more_calls,
            calls_that_others_wait_for_are_announced, a_part_that_leaves_others_waiting_ends_with_an_error,
            hosts_meet_when_first_messages_have_arrived, an_iteration_of_parts_is_counted,
            messages_come_straight_to_ghosts, messages_of_floats_have_half_the_bytes));
}
