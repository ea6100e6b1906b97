// SPDX-License-Identifier: BSD-2-Clause
// The ahead-of-time kernel of the CPU backend computes what a plan says: plans of random operators against
// their dense matrices (random-operator.h), every way to gather and every route of bases; and CeedBasisApply
// of that backend computes what the reference backend computes. Plans are those of plan/, some
// changed so that everything comes up.
#include "tests/tap.h"

#include "backends/cpu/rows.h"
#include "backends/cpu/unfused.h"
#include "backends/ref/ref.h"
#include "plan/steps.h"
#include "tests/random-operator.h"
#include "tests/reference.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = RITZ_UNFUSED_LANES, MAX_FIELDS = 2 * RANDOM_MAX_FIELDS };

static void *allocate(size_t n, size_t size) {
  void *memory = calloc(n ? n : 1, size);

  if (!memory) abort();
  return memory;
}

// ---- Plans ----

// What is changed in the plan that an operator gets.
typedef struct {
  bool packs;         // passive inputs at the points, whatever their restrictions, come in batch order
  bool is_direct;     // derivatives from the nodes, never along lines of points
  CeedInt row_length; // of all restrictions with offsets that have a basis; 0: no rows
} Choice;

// How often something came up.
static struct {
  int routes[RITZ_ROUTE_BLOCKS + 1], gathers[RITZ_GATHER_PACKED + 1];
  int shared_inputs, shared_outputs, oriented, curls, mixed, ragged;
} seen;

static void change_space(const Choice *choice, const RitzPlanSpace *s, RitzCpuSpace *how) {
  const bool is_stored =
      s->is_input && !s->is_active && s->basis < 0 && !s->is_oriented && !s->is_curl_oriented;

  if (is_stored) {
    const bool is_strided = s->restriction.type == CEED_RESTRICTION_STRIDED;
    how->gather = choice->packs ? RITZ_GATHER_PACKED : is_strided ? RITZ_GATHER_STRIDED : RITZ_GATHER_NODES;
  } else if (how->gather == RITZ_GATHER_NODES && choice->row_length && s->basis >= 0) {
    how->gather = RITZ_GATHER_ROWS;
    how->row_length = choice->row_length;
  }
}

static void count_space(const RitzPlan *plan, const RitzCpuTarget *target, int s) {
  const RitzPlanSpace *space = &plan->spaces[s];
  int num_fields = 0;

  for (int i = 0; i < plan->num_in + plan->num_out; i++) num_fields += plan->fields[i].space == s;
  seen.gathers[target->spaces[s].gather]++;
  seen.oriented += space->is_oriented;
  seen.curls += space->is_curl_oriented;
  seen.shared_inputs += space->is_input && num_fields > 1;
  seen.shared_outputs += !space->is_input && num_fields > 1;
}

static int make_plan(CeedOperator op, const Choice *choice, RitzPlan **plan, RitzCpuTarget **target) {
  const RitzPlanOptions options = {
      .allows_simple_inputs = true, .only_constant_inputs = true, .allows_blocks = true};
  const RitzCpuMachine machine = {.lanes = LANES};
  const char *reason;
  bool has_tensor = false, has_dense = false;

  RITZ_TRY(ritz_plan_operator(op, &options, plan, &reason));
  if (!*plan) return CeedError(op->obj.ceed, CEED_ERROR_MAJOR, "no plan: %s", reason);
  RITZ_TRY(ritz_plan_cpu(op, *plan, &machine, NULL, target));
  for (int i = 0; i < (*plan)->num_bases; i++) {
    RitzPlanBasis *b = &(*plan)->bases[i];
    if (b->is_tensor && choice->is_direct) b->route = RITZ_ROUTE_DIRECT;
    seen.routes[b->route]++;
    has_tensor |= b->is_tensor;
    has_dense |= !b->is_tensor;
  }
  ritz_steps_free(&(*plan)->steps);
  RITZ_TRY(ritz_steps_apply(op->obj.ceed, *plan, &(*plan)->steps));
  for (int i = 0; i < (*plan)->num_spaces; i++) {
    change_space(choice, &(*plan)->spaces[i], &(*target)->spaces[i]);
    count_space(*plan, *target, i);
  }
  seen.mixed += has_tensor && has_dense;
  seen.ragged += op->num_elem > LANES && op->num_elem % LANES != 0;
  return CEED_ERROR_SUCCESS;
}

// ---- Kernels: a plan with its arguments ----

// Copy of the values of a vector; outputs begin with zeros.
typedef struct {
  CeedVector vec; // borrowed
  bool is_input;
  CeedSize length;
  CeedScalar *values; // owned
} Array;

enum { GUARD = 64 };

typedef struct {
  CeedOperator op;       // borrowed
  RitzPlan *plan;        // owned
  RitzCpuTarget *target; // owned
  RitzUnfused unfused;
  RitzKernelArgs args;
  int64_t num_batches, work_bytes;
  RitzKernelSpace spaces[MAX_FIELDS];
  const void *matrices[2 * MAX_FIELDS];
  CeedScalar *packed[MAX_FIELDS]; // owned, of a space
  int num_arrays;
  Array arrays[MAX_FIELDS];
  int32_t *order;      // owned
  unsigned char *work; // owned, with a guard behind
} Kernel;

static Array *find_array(Kernel *k, CeedVector vec, bool is_input) {
  for (int i = 0; i < k->num_arrays; i++) {
    if (k->arrays[i].vec == vec && k->arrays[i].is_input == is_input) return &k->arrays[i];
  }
  Array *a = &k->arrays[k->num_arrays++];
  *a = (Array){.vec = vec, .is_input = is_input};
  CeedVectorGetLength(vec, &a->length);
  a->values = allocate((size_t)a->length, sizeof(*a->values));
  if (is_input) {
    double *values = reference_new_values(vec);
    for (CeedSize i = 0; i < a->length; i++) a->values[i] = (CeedScalar)values[i];
    free(values);
  }
  return a;
}

// [batch][component][Q][lane]
static CeedScalar *pack(const Kernel *k, const RitzPlanSpace *s, const CeedScalar *values) {
  const CeedInt Q = s->num_nodes;
  CeedScalar *packed = allocate((size_t)(k->num_batches * s->num_comp * Q * LANES), sizeof(*packed)),
             *next = packed;

  for (int64_t b = 0; b < k->num_batches; b++) {
    for (CeedInt i = 0; i < s->num_comp * Q; i++) {
      for (CeedInt l = 0; l < LANES; l++) {
        const CeedInt elem = CeedIntMin((CeedInt)b * LANES + l, k->plan->num_elem - 1);
        *next++ =
            values[ritz_restriction_l_index(ritz_operator_field(k->op, s->field)->rstr, elem, i % Q, i / Q)];
      }
    }
  }
  return packed;
}

static int fill_space(Kernel *k, int i, CeedVector in, CeedVector out) {
  const RitzPlanSpace *s = &k->plan->spaces[i];
  const RitzCpuSpace *how = &k->target->spaces[i];
  CeedElemRestriction r = ritz_operator_field(k->op, s->field)->rstr;
  CeedVector vec = !s->is_active ? ritz_operator_field(k->op, s->field)->vec : s->is_input ? in : out;
  RitzKernelSpace *space = &k->spaces[i];

  *space = (RitzKernelSpace){.array = find_array(k, vec, s->is_input)->values,
                             .offsets = r->offsets,
                             .orients = r->orients,
                             .curl_orients = r->curl_orients,
                             .strides = {0, r->comp_stride, 0}};
  if (how->gather == RITZ_GATHER_STRIDED) {
    CeedInt strides[3];
    ritz_restriction_l_strides(r, strides);
    for (int d = 0; d < 3; d++) space->strides[d] = strides[d];
  } else if (how->gather == RITZ_GATHER_PACKED) {
    space->array = k->packed[i] = pack(k, s, space->array);
  } else if (how->gather == RITZ_GATHER_ROWS) {
    const RitzRows *rows = NULL;
    RITZ_TRY(ritz_rows_get(r, how->row_length, LANES, &rows));
    if (!rows->has_rows) return CEED_ERROR_MAJOR;
    space->offsets = rows->offsets;
    space->is_chain = rows->is_chain;
  }
  return CEED_ERROR_SUCCESS;
}

static void fill_matrices(Kernel *k) {
  for (int i = 0; i < k->plan->num_bases; i++) {
    const RitzPlanBasis *b = &k->plan->bases[i];
    if (b->first_matrix < 0) continue;
    const CeedBasis basis = ritz_operator_field(k->op, b->field)->basis;
    k->matrices[b->first_matrix] = basis->interp;
    k->matrices[b->first_matrix + 1] = basis->grad ? basis->grad : basis->div ? basis->div : basis->curl;
  }
}

// Any order of the batches.
static void draw_order(Kernel *k, uint64_t *seed) {
  k->order = allocate((size_t)k->num_batches, sizeof(*k->order));
  for (int64_t i = 0; i < k->num_batches; i++) {
    const int64_t j = tap_integer(seed, i + 1);
    k->order[i] = k->order[j];
    k->order[j] = (int32_t)i;
  }
}

// The work memory holds NaN and has a guard behind.
static void make_work(Kernel *k) {
  k->work_bytes = ritz_unfused_work_bytes(&k->unfused);
  k->work = aligned_alloc(64, (size_t)(k->work_bytes + 63) / 64 * 64 + GUARD);
  if (!k->work) abort();
  memset(k->work, 0xFF, (size_t)k->work_bytes);
  memset(k->work + k->work_bytes, 0x5A, GUARD);
}

static bool guard_holds(const Kernel *k) {
  for (int i = 0; i < GUARD; i++) {
    if (k->work[k->work_bytes + i] != 0x5A) return false;
  }
  return true;
}

// To be closed in any case.
static int open_kernel(CeedOperator op, CeedVector in, CeedVector out, const Choice *choice, void *context,
                       uint64_t *seed, Kernel *k) {
  memset(k, 0, sizeof(*k));
  k->op = op;
  RITZ_TRY(make_plan(op, choice, &k->plan, &k->target));
  k->unfused = (RitzUnfused){.plan = k->plan, .target = k->target};
  k->num_batches = ((int64_t)op->num_elem + LANES - 1) / LANES;
  for (int i = 0; i < k->plan->num_spaces; i++) RITZ_TRY(fill_space(k, i, in, out));
  fill_matrices(k);
  draw_order(k, seed);
  make_work(k);
  k->args = (RitzKernelArgs){.abi = RITZ_KERNEL_ABI,
                             .num_elem = op->num_elem,
                             .spaces = k->spaces,
                             .matrices = k->matrices,
                             .context = context,
                             .function = op->qf->f,
                             .order = k->order,
                             .plan = &k->unfused,
                             .work = k->work};
  return CEED_ERROR_SUCCESS;
}

static void close_kernel(Kernel *k) {
  for (int i = 0; i < k->num_arrays; i++) free(k->arrays[i].values);
  for (int i = 0; k->plan && i < k->plan->num_spaces; i++) {
    free(k->packed[i]);
    ritz_rows_destroy(
        ritz_operator_field(k->op, k->plan->spaces[i].field)->rstr); // the reference backend does not do it
  }
  free(k->order);
  free(k->work);
  ritz_plan_cpu_free(&k->target);
  ritz_plan_free(&k->plan);
}

// Values of an output.
static double *values_of(Kernel *k, CeedVector vec) {
  const Array *a = find_array(k, vec, false);
  double *values = reference_new(a->length);

  for (CeedSize i = 0; i < a->length; i++) values[i] = (double)a->values[i];
  return values;
}

// ---- Random operators ----

static int num_draws(int part) {
  static const int num[] = {600, 6000, 60000};

  return num[tap_level()] / part;
}

static Choice draw_choice(uint64_t *seed) {
  return (Choice){.packs = tap_integer(seed, 2) == 0, .is_direct = tap_integer(seed, 2) == 0};
}

static void check_targets(const RandomOperator *r, const double *x, CeedVector out, Kernel *k) {
  for (int i = 0; i < r->num_targets; i++) {
    const RandomTarget *t = &r->targets[i];
    double *y = reference_new(t->length), *values = values_of(k, t->vector ? t->vector->vector : out);
    const double tolerance = random_target_apply(r, t, x, y),
                 error = reference_distance(t->length, values, y);

    free(y);
    free(values);
    CHECK(error <= tolerance, "output %d: off by %g, allowed %g", i, error, tolerance);
  }
}

// In two calls, as two parts of a schedule.
static void run_and_check(RandomOperator *r, const double *x, CeedVector in, CeedVector out, uint64_t *seed) {
  const Choice choice = draw_choice(seed);
  Kernel k;
  int ierr = open_kernel(r->op, in, out, &choice, &r->context, seed, &k);

  if (!ierr) {
    const int64_t cut = tap_integer(seed, k.num_batches + 1);
    ierr = ritz_unfused_find(CEED_SCALAR_TYPE)(&k.args, 0, cut);
    if (!ierr) ierr = ritz_unfused_find(CEED_SCALAR_TYPE)(&k.args, cut, k.num_batches);
    if (!ierr) check_targets(r, x, out, &k);
  }
  const bool holds = guard_holds(&k);
  close_kernel(&k);
  CHECK_OK(ierr);
  CHECK(holds, "memory behind the work memory was written");
}

static void check_operator(Ceed ceed, const RandomOptions *options, uint64_t seed) {
  const uint64_t first = seed;
  RandomOperator r;
  int ierr = random_operator_create(ceed, options, &seed, &r);
  CeedVector in = CEED_VECTOR_NONE, out = CEED_VECTOR_NONE;
  double *x = reference_new_random(r.input_size, &seed);

  if (!ierr && r.input_size) in = reference_vector(ceed, r.input_size, x);
  if (!ierr && r.output_size) ierr = CeedVectorCreate(ceed, r.output_size, &out);
  if (!ierr) run_and_check(&r, x, in, out, &seed);
  if (ierr || tap_failed())
    tap_note("operator of seed %llu: %s", (unsigned long long)first, random_operator_describe(&r));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  free(x);
  random_operator_destroy(&r);
  CHECK_OK(ierr);
}

static void check_operators(RandomOptions options, int num, uint64_t first) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < num && !tap_failed(); i++) check_operator(ceed, &options, first + (uint64_t)i);
  CeedDestroy(&ceed);
}

TEST(random_operators_match_their_dense_matrices) {
  check_operators((RandomOptions){0}, num_draws(1), 7000000);
}

TEST(random_operators_with_a_ragged_last_batch_match_their_dense_matrices) {
  check_operators((RandomOptions){.num_elem = LANES + LANES / 2 + 1}, num_draws(2), 7100000);
}

TEST(random_operators_with_whole_batches_match_their_dense_matrices) {
  check_operators((RandomOptions){.num_elem = 2 * LANES}, num_draws(8), 7200000);
}

// The tests above say nothing of a kind that never came up.
TEST(random_operators_cover_all_routes_and_ways_to_gather) {
  memset(&seen, 0, sizeof(seen));
  check_operators((RandomOptions){.num_elem = LANES + LANES / 2 + 1}, num_draws(2), 7100000);
  for (int i = 0; i <= RITZ_ROUTE_BLOCKS; i++) CHECK(seen.routes[i] >= 3, "route %d: %d", i, seen.routes[i]);
  for (int i = 0; i <= RITZ_GATHER_PACKED; i++) {
    CHECK(seen.gathers[i] >= 3 || i == RITZ_GATHER_ROWS, "gather %d: %d", i, seen.gathers[i]);
  }
  CHECK(seen.shared_inputs >= 3 && seen.shared_outputs >= 3, "fields that share a space: %d, %d",
        seen.shared_inputs, seen.shared_outputs);
  CHECK(seen.oriented >= 3 && seen.curls >= 3, "oriented: %d, curl-oriented: %d", seen.oriented, seen.curls);
  CHECK(seen.mixed >= 3 && seen.ragged >= 3, "mixed bases: %d, ragged batches: %d", seen.mixed, seen.ragged);
}

// ---- Boxes of elements ----

// What the function of boxes was called with.
typedef struct {
  int num_calls, fail_at; // fail_at: number of the call that fails, counted from 1
  CeedInt Q, num_comp, dim;
  bool is_aligned;
} Log;

// v = w (u + sum of the gradient), dv = w du, s = w u.
static int box_function(void *context, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  Log *log = context;
  const CeedInt nc = log->num_comp;

  log->num_calls++;
  log->Q = Q;
  for (int i = 0; i < 3; i++) log->is_aligned &= (uintptr_t)in[i] % 64 == 0;
  for (int i = 0; i < 3; i++) log->is_aligned &= (uintptr_t)out[i] % 64 == 0;
  for (CeedInt c = 0; c < nc; c++) {
    for (CeedInt q = 0; q < Q; q++) {
      CeedScalar sum = in[0][c * Q + q];
      for (CeedInt d = 0; d < log->dim; d++) {
        const CeedInt i = (d * nc + c) * Q + q;
        sum += in[1][i];
        out[1][i] = in[2][q] * in[1][i];
      }
      out[0][c * Q + q] = in[2][q] * sum;
      out[2][c * Q + q] = in[2][q] * in[0][c * Q + q];
    }
  }
  return log->num_calls == log->fail_at ? 17 : 0;
}

typedef struct {
  CeedInt dim, P_1d, Q_1d, num_comp;
  CeedInt n; // elements a direction
  CeedQuadMode points;
  bool is_interlaced, is_oriented;
} BoxSizes;

typedef struct {
  Log log;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedQFunction qf;
  CeedQFunctionContext context; // lends log to operators of the library
  CeedOperator op;
  CeedVector in, out;
  CeedInt num_elem;
} Box;

static CeedInt node_of(const BoxSizes *s, CeedInt elem, CeedInt node) {
  const CeedInt line = s->n * (s->P_1d - 1) + 1;
  CeedInt index = 0;

  for (CeedInt d = 0, stride = 1; d < s->dim; d++, stride *= line) {
    index += (elem % s->n * (s->P_1d - 1) + node % s->P_1d) * stride;
    elem /= s->n;
    node /= s->P_1d;
  }
  return index;
}

static int make_box_restriction(Ceed ceed, const BoxSizes *s, Box *box, uint64_t *seed) {
  const CeedInt P = CeedIntPow(s->P_1d, s->dim), num = box->num_elem * P;
  const CeedInt nodes = CeedIntPow(s->n * (s->P_1d - 1) + 1, s->dim);
  const CeedInt comp_stride = s->is_interlaced ? 1 : nodes;
  const CeedSize l_size = (CeedSize)nodes * s->num_comp;
  CeedInt *offsets = allocate((size_t)num, sizeof(*offsets));
  bool *orients = allocate((size_t)num, sizeof(*orients));

  for (CeedInt i = 0; i < num; i++) {
    offsets[i] = node_of(s, i / P, i % P) * (s->is_interlaced ? s->num_comp : 1);
    orients[i] = tap_integer(seed, 2) == 0;
  }
  int ierr =
      s->is_oriented
          ? CeedElemRestrictionCreateOriented(ceed, box->num_elem, P, s->num_comp, comp_stride, l_size,
                                              CEED_MEM_HOST, CEED_COPY_VALUES, offsets, orients, &box->rstr)
          : CeedElemRestrictionCreate(ceed, box->num_elem, P, s->num_comp, comp_stride, l_size, CEED_MEM_HOST,
                                      CEED_COPY_VALUES, offsets, &box->rstr);
  double *x = reference_new_random(l_size, seed);

  box->in = reference_vector(ceed, l_size, x);
  free(x);
  free(offsets);
  free(orients);
  return ierr ? ierr : CeedVectorCreate(ceed, l_size, &box->out);
}

static int make_box_qfunction(Ceed ceed, const BoxSizes *s, Box *box) {
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, box_function, "test-unfused.c:box_function", &box->qf));
  CeedCall(CeedQFunctionAddInput(box->qf, "u", s->num_comp, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(box->qf, "du", s->num_comp * s->dim, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(box->qf, "w", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddOutput(box->qf, "v", s->num_comp, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(box->qf, "dv", s->num_comp * s->dim, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddOutput(box->qf, "s", s->num_comp, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(ceed, &box->context));
  CeedCall(CeedQFunctionContextSetData(box->context, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(box->log),
                                       &box->log));
  return CeedQFunctionSetContext(box->qf, box->context);
}

// Stays where it is until it is closed, in any case.
static int open_box(Ceed ceed, const BoxSizes *s, Box *box, uint64_t *seed) {
  static const char *const fields[] = {"u", "du", "v", "dv", "s"};

  *box = (Box){.num_elem = CeedIntPow(s->n, s->dim),
               .log = {.num_comp = s->num_comp, .dim = s->dim, .is_aligned = true}};
  CeedCall(make_box_restriction(ceed, s, box, seed));
  CeedCall(
      CeedBasisCreateTensorH1Lagrange(ceed, s->dim, s->num_comp, s->P_1d, s->Q_1d, s->points, &box->basis));
  CeedCall(make_box_qfunction(ceed, s, box));
  CeedCall(CeedOperatorCreate(ceed, box->qf, NULL, NULL, &box->op));
  for (int i = 0; i < 5; i++) {
    CeedCall(CeedOperatorSetField(box->op, fields[i], box->rstr, box->basis, CEED_VECTOR_ACTIVE));
  }
  CeedCall(CeedOperatorSetField(box->op, "w", CEED_ELEMRESTRICTION_NONE, box->basis, CEED_VECTOR_NONE));
  return CeedOperatorApply(box->op, box->in, box->out, CEED_REQUEST_IMMEDIATE);
}

static void close_box(Box *box) {
  CeedOperatorDestroy(&box->op);
  CeedQFunctionDestroy(&box->qf);
  CeedQFunctionContextDestroy(&box->context);
  CeedBasisDestroy(&box->basis);
  CeedElemRestrictionDestroy(&box->rstr);
  CeedVectorDestroy(&box->in);
  CeedVectorDestroy(&box->out);
}

// The result of a plan, or NULL.
static double *run_box(Box *box, const Choice *choice, uint64_t seed) {
  Kernel k;
  double *values = NULL;

  if (!open_kernel(box->op, box->in, box->out, choice, &box->log, &seed, &k) &&
      !ritz_unfused_find(CEED_SCALAR_TYPE)(&k.args, 0, k.num_batches))
    values = values_of(&k, box->out);
  close_kernel(&k);
  return values;
}

// Rows change the order in which at most 2^dim elements add to an entry.
static void check_box(const BoxSizes *s, bool is_direct, uint64_t seed) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Box box;
  int ierr = open_box(ceed, s, &box, &seed);
  const Choice by_nodes = {.is_direct = is_direct}, by_rows = {.is_direct = is_direct, .row_length = s->P_1d};
  double *a = ierr ? NULL : run_box(&box, &by_nodes, seed), *b = ierr ? NULL : run_box(&box, &by_rows, seed);
  double *wanted = ierr ? NULL : reference_new_values(box.out);
  CeedSize n = 0;
  double apart = NAN, error = NAN, largest = 0;

  if (a && b && wanted && !CeedVectorGetLength(box.out, &n)) {
    apart = reference_distance(n, a, b);
    error = reference_distance(n, a, wanted);
    largest = reference_largest(n, wanted);
  }
  free(a);
  free(b);
  free(wanted);
  close_box(&box);
  CeedDestroy(&ceed);
  CHECK_OK(ierr);
  CHECK_NEAR(apart, 0, 8 * eps * largest, "rows and nodes");
  // sums of P_1d + Q_1d terms a direction, up to P_1d^2 times larger than what they give
  const CeedInt size = s->P_1d + s->Q_1d;
  CHECK_NEAR(error, 0, eps * s->dim * size * size * largest, "against the reference backend");
}

TEST(rows_give_what_nodes_give) {
  for (int i = 0; i < 16 && !tap_failed(); i++) {
    const BoxSizes s = {.dim = 1 + i % 3,
                        .P_1d = 2 + i % 5,
                        .Q_1d = 2 + i % 4,
                        .num_comp = 1 + i / 2 % 3,
                        .n = i % 3 == 0   ? 21
                             : i % 3 == 1 ? 5
                                          : 3,
                        .is_interlaced = i % 2,
                        .is_oriented = i / 4 % 2};
    check_box(&s, true, 50 + (uint64_t)i);
    if (tap_failed()) tap_note("case %d: dim %d, P %d, Q %d", i, (int)s.dim, (int)s.P_1d, (int)s.Q_1d);
  }
}

TEST(derivatives_at_the_points_match_the_reference_backend) {
  for (int i = 0; i < 12 && !tap_failed(); i++) {
    const BoxSizes s = {.dim = 1 + i % 3,
                        .P_1d = 4,
                        .Q_1d = 4 + i / 6,
                        .num_comp = 2,
                        .n = 3,
                        .points = i / 3 % 2 ? CEED_GAUSS_LOBATTO : CEED_GAUSS};
    memset(&seen, 0, sizeof(seen));
    check_box(&s, false, 70 + (uint64_t)i);
    const RitzRoute wanted = i / 3 == 1   ? RITZ_ROUTE_IDENTITY
                             : s.dim == 1 ? RITZ_ROUTE_DIRECT
                                          : RITZ_ROUTE_COLLOCATED;
    CHECK(tap_failed() || seen.routes[wanted], "route");
  }
}

// No size has a maximum.
TEST(lines_of_hundreds_of_nodes_and_points_match_the_reference_backend) {
  static const CeedInt P[] = {150, 90, 33, 2}, Q[] = {90, 150, 33, 200};

  for (int i = 0; i < 4 && !tap_failed(); i++) {
    const BoxSizes s = {.dim = 1, .P_1d = P[i], .Q_1d = Q[i], .num_comp = 2, .n = LANES + 3};
    check_box(&s, true, 90 + (uint64_t)i);
  }
}

TEST(four_dimensions_match_the_reference_backend) {
  const BoxSizes s = {.dim = 4, .P_1d = 3, .Q_1d = 4, .num_comp = 1, .n = 2};
  check_box(&s, true, 99);
  if (!tap_failed()) check_box(&s, false, 99);
}

TEST(the_function_is_called_once_for_all_points_of_a_batch) {
  const BoxSizes s = {.dim = 2, .P_1d = 3, .Q_1d = 4, .num_comp = 2, .n = 5};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 4;
  Box box;
  int ierr = open_box(ceed, &s, &box, &seed);

  box.log.num_calls = 0;
  box.log.is_aligned = true;
  double *values = ierr ? NULL : run_box(&box, &(Choice){0}, seed);
  const bool has_values = values;

  free(values);
  close_box(&box);
  CeedDestroy(&ceed);
  CHECK_OK(ierr);
  CHECK(has_values, "the kernel failed");
  CHECK(box.log.num_calls == (25 + LANES - 1) / LANES, "%d calls", box.log.num_calls);
  CHECK(box.log.Q == 16 * LANES, "%d points", (int)box.log.Q);
  CHECK(box.log.is_aligned, "arrays begin at multiples of 64 bytes");
}

// ---- Order of things ----

enum { MAX_EVENTS = 64 };

typedef struct {
  const Log *log;
  int num;
  struct {
    int num_calls; // of the function, until then
    int32_t space;
    int64_t first, count;
  } event[MAX_EVENTS];
} Events;

static void record(void *data, int32_t space, int64_t first, int64_t count) {
  Events *e = data;
  const int n = e->num++ % MAX_EVENTS;

  e->event[n].num_calls = e->log->num_calls;
  e->event[n].space = space;
  e->event[n].first = first;
  e->event[n].count = count;
}

typedef struct {
  Ceed ceed;
  Box box;
  Kernel k;
  Events before, after;
} Hooked;

static const RitzRange hook_ranges[] = {{0, 5, 1}, {64, 64, 1}, {128, 1, 0}};
static const int64_t hook_before[] = {0, 2, 2, 3, 3}, hook_after[] = {0, 0, 1, 3, 3};

// Four positions: two ranges before position 0, one before 2; after 1 one, after 2 two.
static int open_hooked(Hooked *h) {
  const BoxSizes s = {.dim = 1, .P_1d = 3, .Q_1d = 3, .num_comp = 1, .n = 4 * LANES};
  uint64_t seed = 8;

  memset(h, 0, sizeof(*h));
  h->ceed = tap_ceed("/cpu/self/ref");
  CeedCall(open_box(h->ceed, &s, &h->box, &seed));
  h->box.log.num_calls = 0;
  h->before.log = h->after.log = &h->box.log;
  return open_kernel(h->box.op, h->box.in, h->box.out, &(Choice){0}, &h->box.log, &seed, &h->k);
}

static void close_hooked(Hooked *h) {
  close_kernel(&h->k);
  close_box(&h->box);
  CeedDestroy(&h->ceed);
}

static int run_hooked(Hooked *h, int64_t begin, int64_t end) {
  const RitzKernelHook before = {hook_before, hook_ranges, record, &h->before},
                       after = {hook_after, hook_ranges, record, &h->after};
  h->k.args.before = &before;
  h->k.args.after = &after;
  return ritz_unfused_find(CEED_SCALAR_TYPE)(&h->k.args, begin, end);
}

static bool is_event(const Events *e, int i, int num_calls, int range) {
  return e->event[i].num_calls == num_calls && e->event[i].space == hook_ranges[range].space &&
         e->event[i].first == hook_ranges[range].first && e->event[i].count == hook_ranges[range].count;
}

TEST(hooks_are_called_for_the_ranges_of_a_position_before_and_after_it) {
  Hooked h;
  int ierr = open_hooked(&h);

  if (!ierr) ierr = run_hooked(&h, 0, 4);
  close_hooked(&h);
  CHECK_OK(ierr);
  CHECK(h.before.num == 3 && h.after.num == 3, "%d and %d calls", h.before.num, h.after.num);
  CHECK(is_event(&h.before, 0, 0, 0) && is_event(&h.before, 1, 0, 1) && is_event(&h.before, 2, 2, 2),
        "before");
  CHECK(is_event(&h.after, 0, 2, 0) && is_event(&h.after, 1, 3, 1) && is_event(&h.after, 2, 3, 2), "after");
}

TEST(a_kernel_runs_the_positions_that_it_is_told) {
  Hooked h;
  int ierr = open_hooked(&h);

  if (!ierr) ierr = run_hooked(&h, 1, 3);
  close_hooked(&h);
  CHECK_OK(ierr);
  CHECK(h.box.log.num_calls == 2, "%d calls", h.box.log.num_calls);
  CHECK(h.before.num == 1 && h.after.num == 3, "%d and %d calls of hooks", h.before.num, h.after.num);
}

TEST(a_failing_function_ends_the_kernel_with_its_code) {
  Hooked h;
  int ierr = open_hooked(&h), code = 0;

  h.box.log.fail_at = 2;
  if (!ierr) code = run_hooked(&h, 0, 4);
  double *values = ierr ? NULL : values_of(&h.k, h.box.out);
  const int64_t entry =
      ierr ? 0 : (int64_t)h.k.order[1] * LANES * 2 + 1; // inside of the first element of batch 1
  const double value = ierr ? NAN : values[entry];

  free(values);
  close_hooked(&h);
  CHECK_OK(ierr);
  CHECK(code == 17, "code %d", code);
  CHECK(h.box.log.num_calls == 2, "%d calls", h.box.log.num_calls);
  CHECK(h.after.num == 0, "hook after a position that failed");
  CHECK(value == 0, "nothing is added for a batch that failed");
}

// ---- CeedBasisApply ----

static CeedEvalMode derivative_mode(CeedBasis basis) {
  return basis->grad || basis->is_tensor ? CEED_EVAL_GRAD : basis->div ? CEED_EVAL_DIV : CEED_EVAL_CURL;
}

static CeedInt between(uint64_t *seed, CeedInt low, CeedInt high) {
  return low + (CeedInt)tap_integer(seed, (int64_t)high - low + 1);
}

static CeedScalar *draw_scalars(CeedSize n, uint64_t *seed) {
  CeedScalar *a = allocate((size_t)n, sizeof(*a));

  for (CeedSize i = 0; i < n; i++) a[i] = (CeedScalar)tap_uniform(seed);
  return a;
}

static int draw_tensor_basis(Ceed ceed, uint64_t *seed, CeedBasis *basis) {
  static const CeedInt max_1d[] = {0, 120, 12, 7, 4};
  const CeedInt dim = between(seed, 1, 4), nc = between(seed, 1, 3);
  const CeedInt P = between(seed, 1, max_1d[dim]), Q = between(seed, 1, max_1d[dim]);
  CeedScalar *tables = draw_scalars((CeedSize)2 * P * Q + Q, seed);
  int ierr =
      CeedBasisCreateTensorH1(ceed, dim, nc, P, Q, tables, tables + P * Q, NULL, tables + 2 * P * Q, basis);

  free(tables);
  return ierr;
}

static int draw_dense_basis(Ceed ceed, uint64_t *seed, CeedBasis *basis) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_TRIANGLE,
                                                CEED_TOPOLOGY_TET};
  const CeedInt dim = between(seed, 1, 3), kind = between(seed, 0, 2), nc = between(seed, 1, 3);
  const CeedInt P = between(seed, 1, 30), Q = between(seed, 1, 30);
  CeedScalar *tables = draw_scalars((CeedSize)2 * dim * P * Q + Q, seed), *second = tables + dim * P * Q,
             *weights = second + dim * P * Q;
  int ierr = (kind == 0   ? CeedBasisCreateH1
              : kind == 1 ? CeedBasisCreateHdiv
                          : CeedBasisCreateHcurl)(ceed, topologies[dim - 1], nc, P, Q, tables, second, NULL,
                                                  weights, basis);
  free(tables);
  return ierr;
}

static void check_basis(CeedBasis basis, uint64_t *seed) {
  const CeedEvalMode modes[] = {CEED_EVAL_INTERP, derivative_mode(basis), CEED_EVAL_WEIGHT};
  const CeedEvalMode mode = modes[tap_integer(seed, 7) * 3 / 7];
  const bool transposes = mode != CEED_EVAL_WEIGHT && tap_integer(seed, 2);
  const RitzBasisAction action = {.num_elem = between(seed, 0, 3 * LANES),
                                  .t_mode = transposes ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                  .eval_mode = mode,
                                  .add = transposes && tap_integer(seed, 2)};
  const CeedSize nodes = (CeedSize)action.num_elem * basis->num_comp * basis->P;
  const CeedSize points =
      (CeedSize)action.num_elem * basis->num_comp * basis->Q * ritz_basis_num_q_comp(basis, mode);
  const CeedSize n = transposes ? nodes : points;
  CeedScalar *u = draw_scalars(transposes ? points : nodes, seed), *v = draw_scalars(n, seed),
             *wanted = allocate((size_t)n, sizeof(*wanted));
  double error = 0, largest = 0;

  memcpy(wanted, v, (size_t)n * sizeof(*v));
  int ierr = ritz_cpu_basis_apply(basis, &action, u, v);
  if (!ierr) ierr = ritz_ref_basis_apply(basis, &action, u, wanted);
  for (CeedSize i = 0; i < n; i++) {
    error = fmax(error, isnan((double)v[i]) ? INFINITY : fabs((double)v[i] - (double)wanted[i]));
    largest = fmax(largest, fabs((double)wanted[i]));
  }
  free(u);
  free(v);
  free(wanted);
  CHECK_OK(ierr);
  // 1D sums of at most P_1d or Q_1d terms (dense: P or Q) of random numbers that hardly cancel altogether
  const CeedInt size = basis->is_tensor ? basis->dim * (basis->P_1d + basis->Q_1d) : basis->P + basis->Q;
  CHECK_NEAR(error, 0, 8 * eps * size * (largest + 1),
             "dim %d, P %d, Q %d, %d elements, mode %d, transposed %d", (int)basis->dim, (int)basis->P,
             (int)basis->Q, (int)action.num_elem, (int)mode, transposes);
}

TEST(bases_give_what_the_reference_backend_gives) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 77;

  for (int i = 0; i < num_draws(2) && !tap_failed(); i++) {
    CeedBasis basis = NULL;
    int ierr = (i % 2 ? draw_tensor_basis : draw_dense_basis)(ceed, &seed, &basis);

    if (!ierr) check_basis(basis, &seed);
    CeedBasisDestroy(&basis);
    CHECK_OK(ierr);
  }
  CeedDestroy(&ceed);
}

TEST(a_basis_says_so_when_memory_is_short) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedBasis basis = NULL;
  CeedScalar values[16 * LANES] = {0};
  const RitzBasisAction action = {
      .num_elem = LANES, .t_mode = CEED_NOTRANSPOSE, .eval_mode = CEED_EVAL_INTERP};

  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 2, CEED_GAUSS, &basis));
  ritz_memory_fail_at(1);
  CHECK_ERROR(ceed, ritz_cpu_basis_apply(basis, &action, values, values + 8 * LANES), CEED_ERROR_MAJOR,
              "bytes");
  ritz_memory_fail_at(0);
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_operators_match_their_dense_matrices,
                        random_operators_with_a_ragged_last_batch_match_their_dense_matrices,
                        random_operators_with_whole_batches_match_their_dense_matrices,
                        random_operators_cover_all_routes_and_ways_to_gather, rows_give_what_nodes_give,
                        derivatives_at_the_points_match_the_reference_backend,
                        lines_of_hundreds_of_nodes_and_points_match_the_reference_backend,
                        four_dimensions_match_the_reference_backend,
                        the_function_is_called_once_for_all_points_of_a_batch,
                        hooks_are_called_for_the_ranges_of_a_position_before_and_after_it,
                        a_kernel_runs_the_positions_that_it_is_told,
                        a_failing_function_ends_the_kernel_with_its_code,
                        bases_give_what_the_reference_backend_gives, a_basis_says_so_when_memory_is_short));
}
