// SPDX-License-Identifier: BSD-2-Clause
// Applies with hooks and passes over ranges (core/apply-hooks.h) on /cpu/self/gen: every entry is handed out
// once before its first use and once after its last addition, whatever the mesh, the numbering, the number of
// threads and of sub-operators. Inputs hold NaN before and after their time, so that nobody can read them too
// early or late.
#include "core/apply-hooks.h"
#include "tests/gen-kit.h"
#include "tests/grid.h"
#include "tests/tap.h"
#include "tests/thread-context.h"

#include <math.h>

enum { MAX_SUB = 3, MAX_SLOTS = 256, DEGREE = 2, Q_1D = 3 };

static uint64_t seed = 4711;

static CeedInt draw(CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(&seed, (int64_t)high - low + 1);
}

static void *allocate(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);
  if (!memory) abort();
  return memory;
}

// ---- Cases: mass matrices on parts of a grid of elements in the plane ----

typedef struct {
  CeedInt num_sub, num_comp, num_elem[MAX_SUB];
  CeedSize length;
  CeedInt *offsets[MAX_SUB]; // owned, [num_elem][nodes]
} Case;

static void case_free(Case *c) {
  for (int s = 0; s < MAX_SUB; s++) free(c->offsets[s]);
}

static void shuffle(CeedInt n, CeedInt *x) {
  for (CeedInt i = n - 1; i > 0; i--) {
    const CeedInt j = draw(0, i), swap = x[i];
    x[i] = x[j], x[j] = swap;
  }
}

// Number of each node: as they are, with a gap that nobody touches, or at random.
static CeedInt *draw_numbering(CeedInt num_nodes, CeedInt num_comp, CeedSize *length) {
  const int kind = draw(0, 2);
  CeedInt *number = allocate((size_t)num_nodes, sizeof(*number));

  for (CeedInt i = 0; i < num_nodes; i++) number[i] = i;
  if (kind == 1) {
    for (CeedInt i = num_nodes / 3; i < num_nodes; i++) number[i] += 200;
  } else if (kind == 2) {
    shuffle(num_nodes, number);
  }
  *length = (CeedSize)(num_nodes + (kind == 1 ? 200 : 0) + (draw(0, 1) ? 150 : 0)) * num_comp;
  return number;
}

// As they are, or, so that all threads add everywhere, at random.
static CeedInt *draw_order(CeedInt num_elem) {
  CeedInt *order = allocate((size_t)num_elem, sizeof(*order));

  for (CeedInt e = 0; e < num_elem; e++) order[e] = e;
  if (draw(0, 2) == 0) shuffle(num_elem, order);
  return order;
}

// Each element goes to one of the sub-operators: at random, or large pieces together; a few are left out.
static CeedInt draw_owner(CeedInt num_sub, CeedInt e, CeedInt num_elem, bool is_random) {
  if (draw(0, 9) == 0) return -1;
  return is_random ? draw(0, num_sub - 1) : e * num_sub / num_elem;
}

static Case draw_case(CeedInt num_sub, CeedInt num_comp) {
  enum { NODES = (DEGREE + 1) * (DEGREE + 1) };
  const CeedInt n = draw(1, 14), num_elem = n * n, num_nodes = grid_num_nodes(2, n, DEGREE);
  const bool is_random = draw(0, 2) == 0;
  CeedInt *nodes = allocate((size_t)num_elem * NODES, sizeof(*nodes));
  Case c = {.num_sub = num_sub, .num_comp = num_comp};
  CeedInt *number = draw_numbering(num_nodes, num_comp, &c.length);
  CeedInt *order = draw_order(num_elem);

  grid_element_nodes(2, n, DEGREE, nodes);
  for (int s = 0; s < num_sub; s++) c.offsets[s] = allocate((size_t)num_elem * NODES, sizeof(CeedInt));
  for (CeedInt e = 0; e < num_elem; e++) {
    const CeedInt s = draw_owner(num_sub, e, num_elem, is_random);
    if (s < 0) continue;
    for (int i = 0; i < NODES; i++)
      c.offsets[s][c.num_elem[s] * NODES + i] = number[nodes[order[e] * NODES + i]] * num_comp;
    c.num_elem[s]++;
  }
  free(nodes);
  free(order);
  free(number);
  return c;
}

static int create_sub(Ceed ceed, const Case *c, int s, CeedOperator *op) {
  enum { NODES = (DEGREE + 1) * (DEGREE + 1), POINTS = Q_1D * Q_1D };
  const CeedInt num = c->num_elem[s];
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedVector qdata = NULL;

  CeedCall(CeedElemRestrictionCreate(ceed, num, NODES, c->num_comp, 1, c->length, CEED_MEM_HOST,
                                     CEED_COPY_VALUES, c->offsets[s], &rstr));
  CeedCall(CeedElemRestrictionCreateStrided(ceed, num, POINTS, 1, (CeedSize)num * POINTS,
                                            CEED_STRIDES_BACKEND, &rstr_q));
  CeedCall(CeedElemRestrictionCreateVector(rstr_q, &qdata, NULL));
  CeedCall(CeedVectorSetValue(qdata, (CeedScalar)(1.5 + s)));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 2, c->num_comp, DEGREE + 1, Q_1D, CEED_GAUSS, &basis));
  CeedCall(CeedQFunctionCreateInteriorByName(ceed, c->num_comp == 3 ? "Vector3MassApply" : "MassApply", &qf));
  CeedCall(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  CeedCall(CeedOperatorSetField(*op, "u", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(*op, "qdata", rstr_q, CEED_BASIS_NONE, qdata));
  CeedCall(CeedOperatorSetField(*op, "v", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedVectorDestroy(&qdata);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  return CeedElemRestrictionDestroy(&rstr_q);
}

// num_sub == 1: the operator itself.
static int create_operator(Ceed ceed, const Case *c, CeedOperator *op) {
  if (c->num_sub == 1) return create_sub(ceed, c, 0, op);
  CeedCall(CeedOperatorCreateComposite(ceed, op));
  for (int s = 0; s < c->num_sub; s++) {
    CeedOperator sub = NULL;
    CeedCall(create_sub(ceed, c, s, &sub));
    CeedCall(CeedOperatorCompositeAddSub(*op, sub));
    CeedOperatorDestroy(&sub);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The watch ----

typedef struct {
  CeedSize length;
  int num_slots;
  const CeedScalar *u;                   // borrowed
  CeedScalar *result;                    // owned: what the output was when it was complete
  unsigned char *num_before, *num_after; // owned, [length]
  bool bad_range[MAX_SLOTS];             // by slot, so that threads do not meet
  double sum[MAX_SLOTS];                 // of the result: repeats bit for bit
  uint64_t order[MAX_SLOTS];             // hash of the calls
} Watch;

static void see_range(Watch *w, int slot, int64_t first, int64_t count, uint64_t kind) {
  w->bad_range[slot] |= first % RITZ_CHUNK != 0 || count < 1 || first < 0 || first + count > w->length ||
                        (count % RITZ_CHUNK != 0 && first + count != w->length);
  w->order[slot] = w->order[slot] * 6364136223846793005u + (uint64_t)first * 2 + kind;
}

static void before(void *data, int slot, CeedScalar *in, CeedScalar *out, int64_t first, int64_t count) {
  Watch *w = data;

  see_range(w, slot, first, count, 0);
  for (int64_t i = first; i < first + count; i++) {
    w->num_before[i]++;
    in[i] = w->u[i];
    out[i] = 0;
  }
}

static void after(void *data, int slot, CeedScalar *in, CeedScalar *out, int64_t first, int64_t count) {
  Watch *w = data;

  see_range(w, slot, first, count, 1);
  for (int64_t i = first; i < first + count; i++) {
    w->bad_range[slot] |= w->num_before[i] != 1;
    w->num_after[i]++;
    w->result[i] = out[i];
    w->sum[slot] += (double)out[i] * in[i];
    in[i] = out[i] = NAN;
  }
}

static void watch_open(Watch *w, CeedSize length, const CeedScalar *u) {
  *w = (Watch){.length = length, .u = u};
  w->result = allocate((size_t)length, sizeof(*w->result));
  w->num_before = allocate((size_t)length, 1);
  w->num_after = allocate((size_t)length, 1);
}

static void watch_close(Watch *w) {
  free(w->result);
  free(w->num_before);
  free(w->num_after);
}

static int fill(CeedVector vec, CeedScalar value) { return CeedVectorSetValue(vec, value); }

// One watched apply with everything poisoned.
static void run_watched(CeedOperator op, CeedVector in, CeedVector out, Watch *w) {
  const RitzApplyHooks hooks = {before, after, w};
  const char *reason = NULL;

  CHECK_OK(fill(in, 1)); // what the function is looked at with
  CHECK_OK(ritz_operator_apply_hooked_prepare(op, in, &w->num_slots, &reason));
  CHECK(!reason, "'%s'", reason);
  CHECK(w->num_slots >= 1 && w->num_slots <= MAX_SLOTS, "%d slots", w->num_slots);
  CHECK_OK(fill(in, NAN));
  CHECK_OK(fill(out, NAN));
  CHECK_OK(ritz_operator_apply_hooked(op, in, out, &hooks));
}

static void check_watched(const Watch *w, CeedVector expected, const char *what) {
  const CeedScalar *v = NULL;
  CeedSize bad_before = 0, bad_after = 0, bad_result = 0;
  int bad_ranges = 0;

  for (int s = 0; s < MAX_SLOTS; s++) bad_ranges += w->bad_range[s] || (s >= w->num_slots && w->order[s]);
  CHECK_OK(CeedVectorGetArrayRead(expected, CEED_MEM_HOST, &v));
  for (CeedSize i = 0; i < w->length; i++) {
    bad_before += w->num_before[i] != 1;
    bad_after += w->num_after[i] != 1;
    bad_result += !(w->result[i] == v[i]); // the additions are those of an apply, in the same order
  }
  CHECK_OK(CeedVectorRestoreArrayRead(expected, &v));
  CHECK(!bad_before && !bad_after && !bad_ranges && !bad_result,
        "%s: %d entries not once before, %d not once after, %d slots with wrong ranges, %d wrong values",
        what, (int)bad_before, (int)bad_after, bad_ranges, (int)bad_result);
}

static CeedScalar *draw_values(CeedSize n) {
  CeedScalar *u = allocate((size_t)n, sizeof(*u));
  for (CeedSize i = 0; i < n; i++) u[i] = (CeedScalar)tap_uniform(&seed);
  return u;
}

// Applies twice on num_threads threads; *w gets the second watch.
static void check_case(const Case *c, const CeedScalar *u, bool is_deterministic, int num_threads, Watch *w) {
  Ceed ceed = thread_context(is_deterministic, num_threads);
  CeedOperator op = NULL;
  CeedVector in = NULL, out = NULL, expected = NULL;
  char what[80];

  snprintf(what, sizeof(what), "%d elements, %d sub-operators, %d threads", (int)c->num_elem[0],
           (int)c->num_sub, num_threads);
  CHECK_OK(create_operator(ceed, c, &op));
  CHECK_OK(CeedVectorCreate(ceed, c->length, &in));
  CHECK_OK(CeedVectorCreate(ceed, c->length, &out));
  CHECK_OK(CeedVectorCreate(ceed, c->length, &expected));
  CHECK_OK(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)u));
  CHECK_OK(CeedOperatorApply(op, in, expected, CEED_REQUEST_IMMEDIATE));
  for (int k = 0; k < 2; k++) {
    if (k) watch_close(w);
    watch_open(w, c->length, u);
    run_watched(op, in, out, w);
    if (tap_failed()) return;
    check_watched(w, expected, what);
    if (tap_failed()) return;
  }
  // An apply is what it was.
  CHECK_OK(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)u));
  CHECK_OK(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
  check_watched(w, out, "an apply afterwards");
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedVectorDestroy(&expected);
  CeedOperatorDestroy(&op);
  CeedDestroy(&ceed);
}

static int num_cases(void) { return tap_level() == TAP_QUICK ? 12 : tap_level() == TAP_FULL ? 60 : 400; }

static void check_cases(CeedInt max_sub, bool is_deterministic) {
  for (int k = 0; k < num_cases(); k++) {
    Case c = draw_case(draw(max_sub == 1 ? 1 : 2, max_sub), k % 4 == 3 ? 3 : 1);
    CeedScalar *u = draw_values(c.length);
    Watch first, w;

    for (int threads = 1; threads <= 4 && !tap_failed(); threads++) {
      check_case(&c, u, is_deterministic, threads, threads == 1 ? &first : &w);
      if (threads == 1 || tap_failed()) continue;
      if (is_deterministic) {
        tap_check(first.num_slots == w.num_slots && !memcmp(first.sum, w.sum, sizeof(w.sum)) &&
                      !memcmp(first.order, w.order, sizeof(w.order)),
                  __FILE__, __LINE__, "the same sums", "%d threads", threads);
      }
      watch_close(&w);
    }
    if (tap_failed()) return;
    watch_close(&first);
    free(u);
    case_free(&c);
  }
}

TEST(hooks_get_every_entry_once_before_and_once_after_its_use) {
  GEN_NEEDS_COMPILER();
  check_cases(1, false);
}

TEST(sub_operators_of_a_composite_share_the_entries) {
  GEN_NEEDS_COMPILER();
  check_cases(MAX_SUB, false);
}

TEST(slots_of_a_deterministic_context_do_not_depend_on_the_threads) {
  GEN_NEEDS_COMPILER();
  check_cases(1, true);
  if (!tap_failed()) check_cases(MAX_SUB, true);
}

TEST(the_ahead_of_time_kernel_calls_hooks_too) {
  GenErrors errors; // that there is no compiler is told

  gen_begin();
  setenv("RITZ_CC", "/nonexistent", 1);
  gen_errors_begin(&errors);
  check_cases(1, false);
  if (!tap_failed()) check_cases(MAX_SUB, false);
  gen_errors_end(&errors);
  unsetenv("RITZ_CC");
}

// ---- Composites that change or hold nothing ----

TEST(a_composite_that_has_grown_calls_hooks_for_all_its_parts) {
  GEN_NEEDS_COMPILER();
  Ceed ceed = thread_context(false, 2);
  Case c = draw_case(2, 1);
  CeedScalar *u = draw_values(c.length);
  CeedOperator op = NULL;
  CeedVector in = NULL, out = NULL, expected = NULL;

  CHECK_OK(CeedOperatorCreateComposite(ceed, &op));
  CHECK_OK(CeedVectorCreate(ceed, c.length, &in));
  CHECK_OK(CeedVectorCreate(ceed, c.length, &out));
  CHECK_OK(CeedVectorCreate(ceed, c.length, &expected));
  for (int s = 0; s < 4; s++) { // the last ones are there twice
    CeedOperator sub = NULL;
    Watch w;
    if (s < 2) {
      CHECK_OK(create_sub(ceed, &c, s, &sub));
      CHECK_OK(CeedOperatorCompositeAddSub(op, sub));
      CHECK_OK(CeedOperatorDestroy(&sub));
    } else {
      CeedOperator *list = NULL;
      CHECK_OK(CeedOperatorCompositeGetSubList(op, &list));
      CHECK_OK(CeedOperatorCompositeAddSub(op, list[s - 2]));
    }
    CHECK_OK(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, u));
    CHECK_OK(CeedOperatorApply(op, in, expected, CEED_REQUEST_IMMEDIATE));
    watch_open(&w, c.length, u);
    run_watched(op, in, out, &w);
    if (tap_failed()) return;
    check_watched(&w, expected, "grown");
    if (tap_failed()) return;
    watch_close(&w);
  }
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedVectorDestroy(&expected);
  CeedOperatorDestroy(&op);
  CeedDestroy(&ceed);
  free(u);
  case_free(&c);
}

TEST(an_operator_without_elements_calls_hooks_too) {
  GEN_NEEDS_COMPILER();
  for (int num_sub = 1; num_sub <= 2; num_sub++) {
    Ceed ceed = thread_context(false, 2);
    Case c = {.num_sub = num_sub, .num_comp = 1, .length = 300};
    CeedScalar *u = draw_values(c.length);
    CeedOperator op = NULL;
    CeedVector in = NULL, out = NULL, zeros = NULL;
    Watch w;

    for (int s = 0; s < num_sub; s++) c.offsets[s] = allocate(1, sizeof(CeedInt));
    CHECK_OK(create_operator(ceed, &c, &op));
    CHECK_OK(CeedVectorCreate(ceed, c.length, &in));
    CHECK_OK(CeedVectorCreate(ceed, c.length, &out));
    CHECK_OK(CeedVectorCreate(ceed, c.length, &zeros));
    CHECK_OK(fill(zeros, 0));
    watch_open(&w, c.length, u);
    run_watched(op, in, out, &w);
    if (tap_failed()) return;
    check_watched(&w, zeros, "without elements");
    if (tap_failed()) return;
    watch_close(&w);
    CeedVectorDestroy(&in);
    CeedVectorDestroy(&out);
    CeedVectorDestroy(&zeros);
    CeedOperatorDestroy(&op);
    CeedDestroy(&ceed);
    free(u);
    case_free(&c);
  }
}

// ---- What cannot be applied with hooks ----

typedef struct {
  const CeedInt *offsets; // [4]
  CeedVector vec;
} Nodes;

// Identity from one space of four nodes to another one.
static int create_identity(Ceed ceed, Nodes from, Nodes to, CeedSize l_size, CeedOperator *op) {
  CeedElemRestriction rstr[2] = {NULL, NULL};
  CeedQFunction qf = NULL;

  CeedCall(CeedElemRestrictionCreate(ceed, 1, 4, 1, 1, l_size, CEED_MEM_HOST, CEED_COPY_VALUES, from.offsets,
                                     &rstr[0]));
  CeedCall(CeedElemRestrictionCreate(ceed, 1, 4, 1, 1, l_size, CEED_MEM_HOST, CEED_COPY_VALUES, to.offsets,
                                     &rstr[1]));
  CeedCall(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  CeedCall(CeedOperatorCreate(ceed, qf, NULL, NULL, op));
  CeedCall(CeedOperatorSetField(*op, "input", rstr[0], CEED_BASIS_NONE, from.vec));
  CeedCall(CeedOperatorSetField(*op, "output", rstr[1], CEED_BASIS_NONE, to.vec));
  CeedQFunctionDestroy(&qf);
  CeedElemRestrictionDestroy(&rstr[0]);
  return CeedElemRestrictionDestroy(&rstr[1]);
}

TEST(equal_offsets_can_have_hooks_and_different_ones_are_refused) {
  static const CeedInt there[] = {0, 1, 2, 3}, elsewhere[] = {100, 101, 102, 103};
  GEN_NEEDS_COMPILER();
  Ceed ceed = thread_context(false, 1);
  CeedVector in = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 104, &in));
  CHECK_OK(fill(in, 1));
  for (int k = 0; k < 2; k++) {
    CeedOperator op = NULL;
    const char *reason = NULL;
    int num_slots = 0;

    CHECK_OK(create_identity(ceed, (Nodes){there, CEED_VECTOR_ACTIVE},
                             (Nodes){k ? elsewhere : there, CEED_VECTOR_ACTIVE}, 104, &op));
    CHECK_OK(ritz_operator_apply_hooked_prepare(op, in, &num_slots, &reason));
    CHECK(k ? reason && strstr(reason, "different restrictions") : !reason, "%s", reason ? reason : "none");
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CeedVectorDestroy(&in);
  CeedDestroy(&ceed);
}

// Two parts with a vector without values between them, which the first one writes, or which is too short; or
// the second part is of another context.
static void check_refused(Ceed ceed, Ceed other, int k) {
  static const char *const fragments[] = {"passive output", "too short", "another context"};
  static const CeedInt offsets[] = {0, 1, 2, 3};
  CeedOperator op = NULL, sections[2] = {NULL, NULL};
  CeedVector in = NULL, between = NULL;
  const char *reason = NULL;
  int num_slots = 0;

  CHECK_OK(CeedVectorCreate(ceed, 4, &in));
  CHECK_OK(fill(in, 1));
  CHECK_OK(CeedVectorCreate(ceed, k == 1 ? 2 : 4, &between));
  const Nodes active = {offsets, CEED_VECTOR_ACTIVE}, passive = {offsets, between};
  CHECK_OK(create_identity(ceed, active, k == 0 ? passive : active, 4, &sections[0]));
  CHECK_OK(create_identity(k == 2 ? other : ceed, k == 2 ? active : passive, active, 4, &sections[1]));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &op));
  CHECK_OK(CeedOperatorCompositeAddSub(op, sections[0]));
  CHECK_OK(CeedOperatorCompositeAddSub(op, sections[1]));
  CHECK_OK(ritz_operator_apply_hooked_prepare(op, in, &num_slots, &reason));
  CHECK(reason && strstr(reason, fragments[k]), "%s: %s", fragments[k], reason ? reason : "none");
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&between);
  CeedOperatorDestroy(&sections[0]);
  CeedOperatorDestroy(&sections[1]);
  CeedOperatorDestroy(&op);
}

TEST(parts_that_cannot_have_hooks_are_refused_before_their_vectors_are_read) {
  GEN_NEEDS_COMPILER();
  Ceed ceed = thread_context(false, 1), other = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < 3 && !tap_failed(); k++) check_refused(ceed, other, k);
  CeedDestroy(&ceed);
  CeedDestroy(&other);
}

TEST(vectors_of_the_wrong_length_and_other_backends_are_refused) {
  GEN_NEEDS_COMPILER();
  for (int k = 0; k < 2; k++) {
    Ceed ceed = k ? tap_ceed("/cpu/self/ref") : thread_context(false, 1);
    Case c = draw_case(1, 1);
    CeedOperator op = NULL;
    CeedVector vec = NULL;
    const char *reason = NULL;
    int num_slots = 0;

    CHECK_OK(create_operator(ceed, &c, &op));
    CHECK_OK(CeedVectorCreate(ceed, c.length + 1, &vec));
    CHECK_OK(fill(vec, 1));
    if (k) {
      CHECK_OK(ritz_operator_apply_hooked_prepare(op, vec, &num_slots, &reason));
      CHECK(reason && strstr(reason, "backend"), "%s", reason ? reason : "none");
    } else {
      CHECK_ERROR(ceed, ritz_operator_apply_hooked_prepare(op, vec, &num_slots, &reason),
                  CEED_ERROR_DIMENSION, "entries");
    }
    CeedVectorDestroy(&vec);
    CeedOperatorDestroy(&op);
    CeedDestroy(&ceed);
    case_free(&c);
  }
}

// ---- Ranges ----

typedef struct {
  int64_t n;
  unsigned char *seen;
  bool bad[MAX_SLOTS];
  double sum[MAX_SLOTS];
} Count;

static void count_range(void *data, int slot, int64_t first, int64_t count) {
  Count *c = data;

  c->bad[slot] |= first % RITZ_CHUNK != 0 || count < 1;
  for (int64_t i = first; i < first + count; i++) {
    c->seen[i]++;
    c->sum[slot] += sin((double)i);
  }
}

TEST(ranges_cover_everything_once_and_their_sums_repeat) {
  static const int64_t sizes[] = {0, 1, 63, 64, 65, 5000, 100003};

  for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
      Count first = {0};
      for (int threads = 1; threads <= 4; threads++) {
        Ceed ceed = thread_context(is_fixed, threads);
        Count c = {.n = sizes[k], .seen = allocate((size_t)sizes[k], 1)};
        int num_slots = 0, bad = 0;

        CHECK_OK(ritz_run_ranges_slots(ceed, &num_slots));
        CHECK(num_slots >= 1 && num_slots <= MAX_SLOTS, "%d slots", num_slots);
        CHECK_OK(ritz_run_ranges(ceed, c.n, count_range, &c));
        for (int64_t i = 0; i < c.n; i++) bad += c.seen[i] != 1;
        for (int s = 0; s < MAX_SLOTS; s++) bad += c.bad[s] || (s >= num_slots && c.sum[s] != 0);
        CHECK(!bad, "%d entries, %d threads: %d entries or ranges are wrong", (int)c.n, threads, bad);
        if (threads == 1) first = c;
        CHECK(!is_fixed || !memcmp(first.sum, c.sum, sizeof(c.sum)), "%d entries, %d threads", (int)c.n,
              threads);
        free(c.seen);
        CeedDestroy(&ceed);
      }
    }
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(hooks_get_every_entry_once_before_and_once_after_its_use,
                        sub_operators_of_a_composite_share_the_entries,
                        slots_of_a_deterministic_context_do_not_depend_on_the_threads,
                        the_ahead_of_time_kernel_calls_hooks_too,
                        a_composite_that_has_grown_calls_hooks_for_all_its_parts,
                        an_operator_without_elements_calls_hooks_too,
                        equal_offsets_can_have_hooks_and_different_ones_are_refused,
                        parts_that_cannot_have_hooks_are_refused_before_their_vectors_are_read,
                        vectors_of_the_wrong_length_and_other_backends_are_refused,
                        ranges_cover_everything_once_and_their_sums_repeat));
}
