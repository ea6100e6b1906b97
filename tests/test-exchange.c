// SPDX-License-Identifier: BSD-2-Clause
// Tests of parts that work together, as threads of one process: transports, exchanges of ghosts, products and
// diagonals of the whole problem against one part, failures, misuse (ritz/exchange.h). Vectors of float are
// tested in test-exchange-float.c, solvers in test-part-solvers.c.
#include <stdatomic.h>
#include <time.h>

#include "tests/exchange-kit.h"

// ---- Transports ----

static int sum_and_largest(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  double values[200];
  const double n = t->num_parts;

  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 200; i++) values[i] = (t->part + 1) * (i + round);
    RITZ_TRY(t->reduce(t, RITZ_REDUCTION_SUM, 200, values));
    for (int i = 0; i < 200; i++) {
      const double wanted = n * (n + 1) / 2 * (i + round);
      if (values[i] != wanted) return fail(c, t->part, "sum", i, values[i], wanted);
    }
    for (int i = 0; i < 3; i++) values[i] = i == 1 ? -t->part : t->part;
    RITZ_TRY(t->reduce(t, RITZ_REDUCTION_MAX, 2, values));
    if (values[0] != n - 1 || values[1] != 0) return fail(c, t->part, "largest", 0, values[0], n - 1);
  }
  return CEED_ERROR_SUCCESS;
}

TEST(numbers_of_all_parts_are_summed) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {0};

  for (c.num_parts = 1; c.num_parts <= 8; c.num_parts++) {
    run_case(ceed, &c, sum_and_largest, "reductions");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// A ring: to the right one byte more each round, nothing to the left.
static int send_around(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  const CeedInt right = (t->part + 1) % t->num_parts, left = (t->part + t->num_parts - 1) % t->num_parts;
  uint8_t to[64], from[64];

  for (size_t round = 0; round < 64; round++) {
    memset(to, (int)round + t->part, sizeof(to));
    memset(from, 255, sizeof(from));
    const RitzMessage messages[2] = {{.part = right, .send_bytes = round, .send = to},
                                     {.part = left, .recv_bytes = round, .recv = from}};

    RITZ_TRY(t->begin(t, 2, messages));
    RITZ_TRY(t->end(t, 2, messages));
    for (size_t i = 0; i < 64; i++) {
      const uint8_t wanted = i < round ? (uint8_t)((int)round + left) : 255;
      if (from[i] != wanted) return fail(c, t->part, "message", (int64_t)i, from[i], wanted);
    }
  }
  return CEED_ERROR_SUCCESS;
}

TEST(messages_arrive_whole_and_in_order) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {0};

  for (c.num_parts = 3; c.num_parts <= 8; c.num_parts++) {
    run_case(ceed, &c, send_around, "messages");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// Part 2 fails in the fifth round: no part waits for ever, and its code is that of all.
static int fail_in_round_five(void *ctx, const RitzTransport *t) {
  _Atomic int *num_stopped = ctx;
  double value = 1;

  for (int round = 0; round < 10; round++) {
    if (round == 5 && t->part == 2) return 4711;
    const int code = t->reduce(t, RITZ_REDUCTION_SUM, 1, &value);

    if (code) {
      atomic_fetch_add(num_stopped, code == CEED_ERROR_MAJOR);
      return code;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int fail_before_a_message(void *ctx, const RitzTransport *t) {
  _Atomic int *num_stopped = ctx;
  uint8_t buffer[2] = {0};
  const RitzMessage message = {t->part == 0 ? 1 : 0, 1, 1, buffer, buffer + 1};

  if (t->part == 2) return CEED_ERROR_SUCCESS;
  if (t->part == 0) return 4711;
  RITZ_TRY(t->begin(t, 1, &message));
  const int code = t->end(t, 1, &message);

  atomic_fetch_add(num_stopped, code == CEED_ERROR_MAJOR);
  return code;
}

TEST(a_part_that_fails_ends_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  _Atomic int num_stopped = 0;

  CHECK_ERROR(ceed, RitzRunParts(ceed, 5, fail_in_round_five, &num_stopped), 4711,
              "part 2 has ended with code 4711");
  CHECK(num_stopped == 4, "%d parts were stopped", (int)num_stopped);
  num_stopped = 0;
  CHECK(RitzRunParts(ceed, 3, fail_before_a_message, &num_stopped) == 4711,
        "the code of the part that failed");
  CHECK(num_stopped == 1, "%d parts were stopped", (int)num_stopped);
  CeedDestroy(&ceed);
}

// One part has nothing to do and leaves: the others are told instead of waiting for ever.
static int leave_early(void *ctx, const RitzTransport *t) {
  double value = 1;

  (void)ctx;
  return t->part == 1 ? CEED_ERROR_SUCCESS : t->reduce(t, RITZ_REDUCTION_SUM, 1, &value);
}

// Part 0 begins, part 2 fails, part 1 comes late for a buffer that part 0 has freed: a sanitizer would tell.
static int free_after_stop(void *ctx, const RitzTransport *t) {
  const size_t size = 1 << 20;
  const RitzMessage to[2] = {{.part = 1, .send_bytes = size, .send = malloc(size)},
                             {.part = 2, .recv_bytes = 1, .recv = ctx}};
  RitzMessage from = {.part = 0, .recv_bytes = size, .recv = malloc(size)};
  int code = 0;

  if (t->part == 2) code = 4711;
  if (t->part == 0) {
    memset((void *)(uintptr_t)to[0].send, 1, size);
    code = t->begin(t, 2, to);
    if (!code) code = t->end(t, 2, to);
  }
  if (t->part == 1) {
    code = t->begin(t, 1, &from);
    if (!code) code = t->end(t, 1, &from);
  }
  free((void *)(uintptr_t)to[0].send);
  free(from.recv);
  return code;
}

static int begin_twice(void *ctx, const RitzTransport *t) {
  uint8_t buffer[2] = {0};
  const RitzMessage message = {1 - t->part, 1, 1, buffer, buffer + 1};

  (void)ctx;
  RITZ_TRY(t->begin(t, 1, &message));
  return t->begin(t, 1, &message);
}

static int send_nowhere(void *ctx, const RitzTransport *t) {
  const RitzMessage message = {.part = t->num_parts};

  (void)ctx;
  return t->begin(t, 1, &message);
}

static int disagree(void *ctx, const RitzTransport *t) {
  double values[2] = {0};

  (void)ctx;
  return t->reduce(t, RITZ_REDUCTION_SUM, 1 + t->part, values);
}

static int disagree_on_bytes(void *ctx, const RitzTransport *t) {
  uint8_t buffer[8] = {0};
  const RitzMessage message = {1 - t->part, 4, t->part == 0 ? 4 : 3, buffer, buffer + 4};

  (void)ctx;
  RITZ_TRY(t->begin(t, 1, &message));
  return t->end(t, 1, &message);
}

TEST(parts_that_disagree_are_told) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  setenv("CEED_ERROR_HANDLER", "return", 1);
  CHECK(RitzRunParts(ceed, 2, disagree, NULL) != CEED_ERROR_SUCCESS, "different numbers of values");
  CHECK(RitzRunParts(ceed, 2, disagree_on_bytes, NULL) == CEED_ERROR_DIMENSION,
        "different sizes of a message");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 3, leave_early, NULL), CEED_ERROR_INCOMPATIBLE,
              "it waits for part 1, which has ended");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 2, begin_twice, NULL), CEED_ERROR_INCOMPATIBLE,
              "other messages are under way");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 2, send_nowhere, NULL), CEED_ERROR_DIMENSION,
              "a message to part 2 of 2");
  for (int i = 0; i < 20; i++) {
    uint8_t byte;
    CHECK_ERROR(ceed, RitzRunParts(ceed, 3, free_after_stop, &byte), 4711, "part 2 has ended");
  }
  CHECK_ERROR(ceed, RitzRunParts(ceed, 0, disagree, NULL), CEED_ERROR_DIMENSION, "0 parts, needed 1");
  CHECK_ERROR(ceed, RitzRunParts(ceed, 2, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "needed a function");
  CeedDestroy(&ceed);
}

// ---- What parts wait for beside the transport ----

// Three parts that begin something together once; all but part 1 begin it again, and wait for it.
typedef struct {
  bool takes_back; // part 1 says that it leaves, else it just returns
  bool is_late;    // the others begin again when it has left
  _Atomic int is_stopped[3], num_again, has_left;
} Departure;

static void mark_stopped(void *ctx) { atomic_store((_Atomic int *)ctx, 1); }

// At most for half a minute: a test that fails ends.
static bool is_reached(_Atomic int *number, int wanted) {
  const struct timespec moment = {.tv_nsec = 1000000};

  for (int i = 0; i < 30000 && atomic_load(number) < wanted; i++) nanosleep(&moment, NULL);
  return atomic_load(number) >= wanted;
}

static int begin_together(const RitzTransport *t, _Atomic int *is_stopped) {
  double value = 1;

  RITZ_TRY(t->on_stop(t, mark_stopped, is_stopped));
  RITZ_TRY(t->reduce(t, RITZ_REDUCTION_SUM, 1, &value));
  return t->announce(t);
}

static int leave_others_waiting(void *ctx, const RitzTransport *t) {
  Departure *d = ctx;

  RITZ_TRY(begin_together(t, &d->is_stopped[t->part]));
  if (t->part == 1) {
    if (!d->is_late && !is_reached(&d->num_again, 2)) return 4711;
    if (d->takes_back && !t->on_stop(t, NULL, NULL) == !d->is_late) return 4712; // late: nobody waits yet
    atomic_store(&d->has_left, 1);
    return CEED_ERROR_SUCCESS;
  }
  if (d->is_late && !is_reached(&d->has_left, 1)) return 4713;
  RITZ_TRY(t->announce(t));
  atomic_fetch_add(&d->num_again, 1);
  if (!is_reached(&d->is_stopped[t->part], 1)) return 4714;
  (void)t->on_stop(t, NULL, NULL);
  return CEED_ERROR_SUCCESS; // it has not looked at what it got
}

static int leave_one_after_another(void *ctx, const RitzTransport *t) {
  Departure *d = ctx;
  double value = 1;

  for (int round = 0; round < 20; round++) {
    RITZ_TRY(begin_together(t, &d->is_stopped[t->part]));
    RITZ_TRY(t->announce(t));
    RITZ_TRY(t->on_stop(t, NULL, NULL));
    RITZ_TRY(t->reduce(t, RITZ_REDUCTION_SUM, 1, &value)); // one at a time
  }
  return CEED_ERROR_SUCCESS;
}

TEST(a_part_that_leaves_ends_what_others_wait_for) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int takes_back = 0; takes_back < 2; takes_back++) {
    Departure d = {.takes_back = takes_back};
    CHECK_ERROR(ceed, RitzRunParts(ceed, 3, leave_others_waiting, &d), CEED_ERROR_INCOMPATIBLE,
                "part 1 has ended with code 0: part 0 waits for it: parts have to make the same calls");
    CHECK(d.is_stopped[0] && d.is_stopped[1] && d.is_stopped[2], "%d %d %d are stopped", d.is_stopped[0],
          d.is_stopped[1], d.is_stopped[2]);
  }
  Departure late = {.takes_back = true, .is_late = true};
  CHECK_ERROR(ceed, RitzRunParts(ceed, 3, leave_others_waiting, &late), CEED_ERROR_INCOMPATIBLE,
              "it waits for part 1, which has ended: parts have to make the same calls");
  CHECK(late.num_again == 0, "%d parts go on", late.num_again);
  Departure together = {0};
  CHECK_OK(RitzRunParts(ceed, 3, leave_one_after_another, &together));
  CHECK(!together.is_stopped[0] && !together.is_stopped[1] && !together.is_stopped[2],
        "some part is stopped");
  CeedDestroy(&ceed);
}

// ---- Exchanges ----

// Values of the owners, exactly.
static int check_ghosts(Case *c, CeedInt part, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp && !code; i++) {
    const double wanted = function_at(p->placed.nodes[i / c->num_comp].x, (CeedInt)(i % c->num_comp));

    // positions of a node differ by rounding from part to part
    if (fabs((double)x[i] - wanted) > 100 * CEED_EPSILON)
      code = fail(c, part, "ghost", i, (double)x[i], wanted);
  }
  RITZ_TRY(CeedVectorRestoreArrayRead(v, &x));
  return code;
}

// Of vectors of ones owners get the number of parts that have the node, ghosts become zero.
static int check_multiplicity(Case *c, CeedInt part, const Part *p, CeedVector v) {
  const CeedScalar *x = NULL;
  CeedScalar *wanted = calloc((size_t)p->num_nodes + 1, sizeof(*wanted));
  CeedInt num = 0;
  RitzHalo halo = NULL;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(RitzSpaceGetHalo(p->space, &halo));
  RITZ_TRY(RitzHaloGetNumNeighbours(halo, &num));
  for (int64_t i = 0; i < p->num_owned; i++) wanted[i] = 1;
  for (CeedInt n = 0; n < num; n++) {
    const int64_t *send = NULL;
    int64_t num_send = 0;

    RITZ_TRY(RitzHaloGetNeighbour(halo, n, NULL, &num_send, &send, NULL, NULL));
    for (int64_t k = 0; k < num_send; k++) wanted[send[k]] += 1;
  }
  RITZ_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; i < p->num_nodes * c->num_comp && !code; i++) {
    if (x[i] != wanted[i / c->num_comp])
      code = fail(c, part, "multiplicity", i, (double)x[i], (double)wanted[i / c->num_comp]);
  }
  RITZ_TRY(CeedVectorRestoreArrayRead(v, &x));
  free(wanted);
  return code;
}

static int exchange_both_ways(Case *c, CeedInt part, const Part *p) {
  CeedVector v = NULL;

  RITZ_TRY(make_vector(c, p, (CeedScalar)-77, &v));
  int code = RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_GHOSTS, v);

  if (!code) code = check_ghosts(c, part, p, v);
  if (!code) code = CeedVectorSetValue(v, 1);
  if (!code) code = RitzExchangeBegin(p->exchange, RITZ_EXCHANGE_TO_OWNERS, v);
  if (!code) code = RitzExchangeEnd(p->exchange, RITZ_EXCHANGE_TO_OWNERS, v);
  if (!code) code = check_multiplicity(c, part, p, v);
  return ritz_first_error(code, CeedVectorDestroy(&v));
}

static int run_exchange(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Counted counted = {.c = c, .other = t};
  const RitzTransport counting = count_messages(&counted, t);
  Part p;
  int code = open_part(c, c->by_nccl ? t : &counting, &p); // NCCL's messages do not come by t

  if (!code) code = exchange_both_ways(c, t->part, &p);
  close_part(c, t->part, code, &p);
  return code;
}

TEST_EACH_BACKEND(ghosts_get_their_owners_values_and_owners_the_sums) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Case c = {.levels = 0, .degree = 3, .num_comp = 2};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES; c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    for (int n = 0; n < 4; n++) {
      for (c.how = 0; c.how < NUM_CUTS; c.how++) {
        c.num_parts = nums[n];
        c.num_bytes = 0;
        run_case(ceed, &c, run_exchange, mesh_names[c.which]);
        if (tap_failed()) return;
        // both ways
        const int64_t wanted = 2 * count_ghosts(ceed, &c) * c.num_comp * (int64_t)sizeof(CeedScalar);
        CHECK(c.num_bytes == wanted, "%s in %d parts: %lld bytes, wanted %lld", mesh_names[c.which],
              (int)c.num_parts, (long long)c.num_bytes, (long long)wanted);
      }
    }
  }
}

// ---- Products ----

static int apply_part(Case *c, const Part *p) {
  CeedVector x = NULL, y = NULL;
  RitzPartOperator op = NULL;

  RITZ_TRY(make_part_operator(c, p, &op));
  int ierr = make_vector(c, p, (CeedScalar)-77, &x);

  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &y);
  if (!ierr) ierr = RitzPartOperatorApply(op, x, y);
  if (!ierr) ierr = hand_in(c, p, y);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&x));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&y));
  return ritz_first_error(ierr, RitzPartOperatorDestroy(&op));
}

static int diagonal_of_part(Case *c, const Part *p) {
  CeedVector d = NULL;
  RitzPartOperator op = NULL;

  RITZ_TRY(make_part_operator(c, p, &op));
  int ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &d);

  if (!ierr) ierr = RitzPartOperatorGetDiagonal(op, d);
  if (!ierr) ierr = hand_in(c, p, d);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&d));
  return ritz_first_error(ierr, RitzPartOperatorDestroy(&op));
}

static int run_apply(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = apply_part(c, &p);
  close_part(c, t->part, code, &p);
  return code;
}

static int run_diagonal(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = diagonal_of_part(c, &p);
  close_part(c, t->part, code, &p);
  return code;
}

// Sums come in another order: 100 eps of the largest entry; devices beside the reference on the host, which
// rounds elsewhere, too: 1000.
static void check_products(Ceed ceed, Case *c) {
  Whole w = {0};

  CHECK_OK(open_whole(ceed, c, &w));
  CHECK_OK(CeedOperatorApply(w.op, w.x, w.y, CEED_REQUEST_IMMEDIATE));
  run_case(ceed, c, run_apply, mesh_names[c->which]);
  const double tolerance = (c->by_nccl ? 1000 : 100) * CEED_EPSILON;
  if (!tap_failed()) compare(c, &w, tolerance, "product");
  if (!tap_failed() && c->overlaps) {
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(w.op, w.y, CEED_REQUEST_IMMEDIATE));
    run_case(ceed, c, run_diagonal, mesh_names[c->which]);
    if (!tap_failed()) compare(c, &w, tolerance, "diagonal");
  }
  close_whole(c, &w);
}

TEST_EACH_BACKEND(products_and_diagonals_are_those_of_one_part) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Case c = {.degree = 2, .num_comp = 1};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &c);
  for (c.which = 0; c.which < NUM_MESHES; c.which++) {
    if (is_left_out(ceed, c.which)) continue;
    c.num_comp = c.which == 2 ? 2 : 1;
    for (int n = 0; n < (tap_compiles_slowly(ceed) ? 2 : 4); n++) {
      for (c.how = 0; c.how < NUM_CUTS; c.how++) {
        c.num_parts = nums[n];
        c.overlaps = (n + c.how) % 2 == 0;
        c.levels = n == 1 && c.how == CUT_RANDOM && c.which != 6 && !tap_compiles_slowly(ceed);
        check_products(ceed, &c);
        if (tap_failed()) return;
      }
    }
  }
}

// ---- Devices ----

static int join_from_the_host(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  RitzTransport between = {0};
  const char *message = "";
  Ceed ceed = NULL;

  RITZ_TRY(open_context(c, t->part, &ceed));
  const int code = RitzTransportCreateNCCL(ceed, t, &between);

  CeedGetErrorMessage(ceed, &message);
  if (code != CEED_ERROR_UNSUPPORTED || !strstr(message, "needed a resource below /gpu/cuda"))
    snprintf(c->why[t->part], sizeof(c->why[0]), "code %d: %s", code, message);
  CeedDestroy(&ceed);
  return CEED_ERROR_SUCCESS;
}

// Part 1 ends with this code while the others wait for its messages on their devices.
static int end_while_others_wait(Case *c, const RitzTransport *t, int code_of_part) {
  CeedVector v = NULL;
  CeedScalar norm = 0;
  Part p;
  int code = open_part(c, t, &p);

  if (!code && t->part == 1) {
    snprintf(c->why[1], sizeof(c->why[1]), "as it was told to");
    close_part(c, 1, code_of_part, &p); // and leaves the others with an exchange that never ends
    return code_of_part;
  }
  if (!code) code = make_vector(c, &p, 0, &v);
  if (!code) code = RitzExchangeRun(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
  if (!code) code = CeedVectorNorm(v, CEED_NORM_2, &norm);
  CeedVectorDestroy(&v);
  close_part(c, t->part, code, &p);
  return code;
}

static int fail_while_others_wait(void *ctx, const RitzTransport *t) {
  return end_while_others_wait(ctx, t, CEED_ERROR_MINOR);
}

static int leave_while_others_wait(void *ctx, const RitzTransport *t) {
  return end_while_others_wait(ctx, t, CEED_ERROR_SUCCESS);
}

// Machines without several GPUs have no cases beyond the first (tools/gpu-check runs them).
TEST(parts_on_devices_exchange_by_nccl) {
  const CeedInt most = num_connected_devices();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case host = {.num_parts = 3, .resource = "/cpu/self/ref"};
  Case c = {.degree = 3, .num_comp = 2, .by_nccl = true, .resource = "/gpu/cuda/gen"};

  run_case(ceed, &host, join_from_the_host, "NCCL without a device");
  for (c.num_parts = 2; c.num_parts <= CeedIntMin(most, 8) && !tap_failed(); c.num_parts++) {
    for (c.which = 0; c.which < NUM_MESHES && !tap_failed(); c.which++) {
      c.how = c.which % NUM_CUTS;
      c.overlaps = c.which % 2 == 0;
      run_case(ceed, &c, run_exchange, mesh_names[c.which]);
      if (!tap_failed()) check_products(ceed, &c);
    }
  }
  c.which = 2;
  for (c.num_parts = 2; c.num_parts <= CeedIntMin(most, 8); c.num_parts++) {
    int code = RitzRunParts(ceed, c.num_parts, fail_while_others_wait, &c);

    CHECK(code == CEED_ERROR_MINOR, "a part that fails: code %d", code);
    code = RitzRunParts(ceed, c.num_parts, leave_while_others_wait, &c);
    CHECK(code == CEED_ERROR_INCOMPATIBLE, "a part that leaves: code %d", code);
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

// What an exchange answers, asked of a second reference.
static int check_queries(Case *c, CeedInt part, const Part *p) {
  RitzExchange copy = NULL;
  RitzIndices ghosts = NULL;
  CeedSize num_owned = 0;
  const int64_t *entries = NULL;
  int64_t num = 0;
  double largest = part;

  RITZ_TRY(RitzExchangeReferenceCopy(p->exchange, &copy));
  RITZ_TRY(RitzExchangeGetGhosts(copy, &ghosts));
  RITZ_TRY(RitzExchangeGetNumOwned(copy, &num_owned));
  RITZ_TRY(RitzExchangeReduce(copy, RITZ_REDUCTION_MAX, 1, &largest));
  RITZ_TRY(RitzIndicesGet(ghosts, &num, &entries));
  if (num_owned != p->num_owned) return fail(c, part, "owned", 0, (double)num_owned, (double)p->num_owned);
  if (num != p->num_nodes - p->num_owned) return fail(c, part, "ghosts", 0, (double)num, 0);
  for (int64_t i = 0; i < num; i++) {
    if (entries[i] != num_owned + i)
      return fail(c, part, "ghost", i, (double)entries[i], (double)(num_owned + i));
  }
  if (largest != c->num_parts - 1) return fail(c, part, "largest part", 0, largest, c->num_parts - 1);
  return RitzExchangeDestroy(&copy);
}

static int misuse(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  RitzExchange other = NULL;
  CeedVector v = NULL, other_v = NULL, third_v = NULL;
  RitzPartOperator op = NULL;
  RitzTransport wrong = *t;
  int code = open_part(c, t, &p);
  const char *message = NULL;
  RitzTransport none = {0};
  double number = 0;

#define REFUSED(call, wanted, text)                                                                          \
  if (!code) {                                                                                               \
    const int got = (call);                                                                                  \
    CeedGetErrorMessage(p.ceed, &message);                                                                   \
    if (got != (wanted) || !strstr(message, text)) {                                                         \
      snprintf(c->why[t->part], 256, "%s gives %d: %.150s", #call, got, message);                            \
      code = CEED_ERROR_MAJOR;                                                                               \
    }                                                                                                        \
  }
  if (!code) code = check_queries(c, t->part, &p);
  if (!code) code = CeedVectorCreate(p.ceed, p.num_nodes, &v);
  if (!code) code = CeedVectorCreate(p.ceed, p.num_nodes + 1, &other_v);
  if (!code) code = CeedVectorSetValue(v, 1);
  if (!code) code = CeedVectorSetValue(other_v, 1);
  wrong.part = 1 - t->part;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_DIMENSION,
          "the transport that of part");
  wrong = *t;
  wrong.num_parts = 3;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_DIMENSION, "of 3");
  wrong = *t;
  wrong.reduce = NULL;
  REFUSED(RitzExchangeCreate(p.space, p.ceed, &wrong, &other), CEED_ERROR_INCOMPATIBLE, "needed all three");
  REFUSED(RitzExchangeCreate(p.space, p.ceed, NULL, &other), CEED_ERROR_INCOMPATIBLE, "transport");
  REFUSED(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v), CEED_ERROR_INCOMPATIBLE,
          "RitzExchangeBegin first");
  REFUSED(RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, other_v), CEED_ERROR_DIMENSION,
          "entries, the space");
  if (!code) code = RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
  REFUSED(RitzExchangeBegin(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v), CEED_ERROR_INCOMPATIBLE, "under way");
  REFUSED(RitzExchangeRun(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v), CEED_ERROR_INCOMPATIBLE, "under way");
  REFUSED(RitzExchangeBegin(p.exchange, (RitzExchangeMode)7, v), CEED_ERROR_INCOMPATIBLE, "no mode 7");
  if (!code) code = CeedVectorCreate(p.ceed, p.num_nodes, &third_v);
  if (!code) code = CeedVectorSetValue(third_v, 1);
  REFUSED(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, third_v), CEED_ERROR_INCOMPATIBLE,
          "another vector");
  REFUSED(RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_OWNERS, v), CEED_ERROR_INCOMPATIBLE,
          "no exchange of this mode");
  if (!code) code = RitzExchangeEnd(p.exchange, RITZ_EXCHANGE_TO_GHOSTS, v);
  if (!code) code = RitzPartOperatorCreate(p.exchange, NULL, NULL, &op);
  REFUSED(RitzPartOperatorApply(op, other_v, v), CEED_ERROR_DIMENSION, "entries, the space");
  RitzPartOperatorDestroy(&op);
  REFUSED(RitzExchangeCreateInPrecision(p.space, p.ceed, t, (CeedScalarType)7, &other),
          CEED_ERROR_INCOMPATIBLE, "RitzExchangeCreateInPrecision");
  REFUSED(RitzExchangeReduce(p.exchange, (RitzReduction)7, 1, &number), CEED_ERROR_INCOMPATIBLE,
          "no reduction 7");
  REFUSED(RitzExchangeReduce(p.exchange, RITZ_REDUCTION_SUM, -3, &number), CEED_ERROR_DIMENSION, "num is -3");
  REFUSED(RitzTransportCreateNCCL(p.ceed, &(RitzTransport){.num_parts = 1}, &none), CEED_ERROR_INCOMPATIBLE,
          "needed all three");
  RitzExchangeDestroy(&other);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&other_v);
  CeedVectorDestroy(&third_v);
  close_part(c, t->part, code, &p);
  return code;
#undef REFUSED
}

TEST(misused_exchanges_are_refused_and_go_on) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.which = 1,
            .how = CUT_HILBERT,
            .num_parts = 2,
            .degree = 2,
            .num_comp = 1,
            .resource = "/cpu/self/ref"};

  run_case(ceed, &c, misuse, "misuse");
  CeedDestroy(&ceed);
}

// A line of four elements, cut after the first or after the third: one shared node each, but not the same.
static int cut_apart(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  const int32_t parts[2][4] = {{0, 1, 1, 1}, {0, 0, 0, 1}};
  RitzMesh mesh = NULL, sub = NULL;
  RitzSpace space = NULL;
  RitzExchange exchange = NULL;
  Ceed ceed = NULL;
  int code = CeedInit("/cpu/self/ref", &ceed);

  if (!code) code = CeedSetErrorHandler(ceed, CeedErrorStore);
  if (!code) code = make_mesh(ceed, 0, &mesh);
  if (!code) code = RitzMeshCreateSubmesh(mesh, 2, parts[t->part], t->part, &sub);
  if (!code) code = RitzSpaceCreate(sub, 1, 1, &space);
  if (!code) code = RitzExchangeCreate(space, ceed, t, &exchange);
  if (code != CEED_ERROR_INCOMPATIBLE) snprintf(c->why[t->part], sizeof(c->why[0]), "code %d", code);
  RitzExchangeDestroy(&exchange);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&sub);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return CEED_ERROR_SUCCESS;
}

TEST(parts_of_different_cuts_are_told) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.num_parts = 2};

  run_case(ceed, &c, cut_apart, "different cuts");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(numbers_of_all_parts_are_summed, messages_arrive_whole_and_in_order,
                        a_part_that_fails_ends_all, parts_that_disagree_are_told,
                        a_part_that_leaves_ends_what_others_wait_for,
                        ghosts_get_their_owners_values_and_owners_the_sums,
                        products_and_diagonals_are_those_of_one_part, parts_on_devices_exchange_by_nccl,
                        misused_exchanges_are_refused_and_go_on, parts_of_different_cuts_are_told));
}
