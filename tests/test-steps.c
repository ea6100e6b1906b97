// SPDX-License-Identifier: BSD-2-Clause
// Lists of steps (plan/steps.h): adjoints are transposes, for spaces of random operators on the interpreter
// and as operators on every backend; the same plan has the same list; forms are what they stand for; energies
// are u . A u; element inverses are fused, and their list is that of the formula.
#include "tests/plan-kit.h"

#include "backends/cpu/steps.h"
#include "base/memory.h"
#include "plan/steps.h"
#include "tests/levels.h"
#include "tests/random-operator.h"
#include "tests/random-space.h"
#include <ritz/operator.h>

enum { LANES = RITZ_LANES, MAX_SPACES = 2 * RANDOM_MAX_FIELDS };

static void *allocate(size_t n, size_t size) {
  void *memory = aligned_alloc(64, (n * size + 63) / 64 * 64 + 64);

  if (!memory) abort();
  return memset(memory, 0, n * size);
}

// ---- Lists on the interpreter ----

// A list of spaces of an operator, ready to run.
typedef struct {
  CeedOperator op; // borrowed
  RitzSteps *list; // owned
  RitzCpuSpace how[MAX_SPACES];
  RitzKernelSpace spaces[MAX_SPACES];
  const void *matrices[2 * MAX_SPACES];
  RitzKernelArgs args;
  RitzCpuRun run;
  void *memory;                    // owned: of the run
  CeedScalar *vectors[MAX_SPACES]; // owned, of spaces: what they gather from or scatter to
} Runner;

static CeedElemRestriction restriction_of(const Runner *r, int s) {
  return ritz_operator_field(r->op, r->list->plan->spaces[s].field)->rstr;
}

static void fill_space(Runner *r, int s) {
  CeedElemRestriction rstr = restriction_of(r, s);
  const bool is_strided = rstr->type == CEED_RESTRICTION_STRIDED;
  CeedInt strides[3] = {0, is_strided ? 0 : rstr->comp_stride, 0};

  if (is_strided) ritz_restriction_l_strides(rstr, strides);
  r->how[s].gather = is_strided ? RITZ_GATHER_STRIDED : RITZ_GATHER_NODES;
  r->vectors[s] = allocate((size_t)rstr->l_size, sizeof(CeedScalar));
  r->spaces[s] = (RitzKernelSpace){.array = r->vectors[s],
                                   .offsets = rstr->offsets,
                                   .orients = rstr->orients,
                                   .curl_orients = rstr->curl_orients,
                                   .strides = {strides[0], strides[1], strides[2]}};
}

static void open_runner(CeedOperator op, RitzSteps *list, Runner *r) {
  const RitzPlan *plan = list->plan;

  *r = (Runner){.op = op, .list = list};
  for (int s = 0; s < plan->num_spaces; s++) fill_space(r, s);
  for (int b = 0; b < plan->num_bases; b++) {
    const CeedBasis basis = ritz_operator_field(op, plan->bases[b].field)->basis;
    if (plan->bases[b].first_matrix < 0) continue;
    const CeedEvalMode mode = plan->bases[b].deriv_mode;
    const CeedScalar *interp = NULL, *derivative = NULL;
    NOTE_OK(ritz_basis_table(basis, CEED_EVAL_INTERP, &interp));
    if (mode != CEED_EVAL_NONE) NOTE_OK(ritz_basis_table(basis, mode, &derivative));
    r->matrices[plan->bases[b].first_matrix] = interp;
    r->matrices[plan->bases[b].first_matrix + 1] = derivative;
  }
  r->args = (RitzKernelArgs){.num_elem = op->num_elem,
                             .spaces = r->spaces,
                             .matrices = r->matrices,
                             .function = op->qf->f,
                             .context = NULL};
  r->memory = allocate((size_t)ritz_cpu_run_bytes(list), 1);
  r->run = (RitzCpuRun){.list = list, .how = r->how, .args = &r->args};
  ritz_cpu_begin_run(r->memory, &r->run);
}

static void close_runner(Runner *r) {
  for (int s = 0; s < r->list->plan->num_spaces; s++) free(r->vectors[s]);
  free(r->memory);
  ritz_steps_free(&r->list);
}

static int run(Runner *r, int64_t batch) {
  const int32_t order[] = {(int32_t)batch};
  r->args.order = order;
  const RitzBatch b = ritz_batch(&r->args, 0, 1);
  return ritz_cpu_run_steps(&r->run, &b);
}

static CeedInt num_batches(CeedOperator op) { return (op->num_elem + LANES - 1) / LANES; }
static CeedInt lanes_of(CeedOperator op, CeedInt batch) {
  return CeedIntMin(LANES, op->num_elem - batch * LANES);
}

// Whether a buffer is at an end of the list that is no L-vector.
static bool is_end(const RitzSteps *list, int b, bool is_given) {
  const RitzBuffer *buffer = &list->buffers[b];
  return buffer->role != RITZ_ROLE_VECTOR && (is_given ? buffer->is_given : buffer->is_wanted);
}

// ---- Adjoints of spaces ----

typedef struct {
  double product, forward, backward; // sum of y v; squares of |y| |v| and of |u| |w|
} Dots;

static void fill(CeedSize n, CeedScalar *x, uint64_t *seed) {
  for (CeedSize i = 0; i < n; i++) x[i] = (CeedScalar)tap_uniform(seed);
}

// Of a batch: what the list wants times random numbers, which the adjoint is given.
static double pair_batch(const Runner *list, const Runner *adjoint, CeedInt lanes, double *y2, double *v2,
                         uint64_t *seed) {
  double sum = 0;

  for (int b = 0; b < list->list->num_buffers; b++) {
    const CeedSize size = ritz_steps_size(list->list, b) * LANES;
    CeedScalar *y = (CeedScalar *)list->run.buffers[b], *v = (CeedScalar *)adjoint->run.buffers[b];

    if (!is_end(list->list, b, false)) continue;
    fill(size, v, seed);
    for (CeedSize i = 0; i < size; i++) {
      if (i % LANES >= lanes) continue;
      sum += (double)y[i] * (double)v[i];
      *y2 += (double)y[i] * (double)y[i];
      *v2 += (double)v[i] * (double)v[i];
    }
  }
  return sum;
}

static int num_spaces, num_zeros; // that were tried; on which all that was computed is zero

// (A u, v) = (u, A^T v) for space s as an input.
static void check_space(const RandomOperator *r, const RitzPlan *plan, int s, uint64_t *seed) {
  RitzSteps *list = NULL, *adjoint = NULL;
  Runner a, t;
  double product = 0, transposed = 0, y2 = 0, v2 = 0, u2 = 0, w2 = 0;

  CHECK_OK(ritz_steps_input(r->ceed, plan, s, true, &list));
  CHECK_OK(ritz_steps_adjoint(r->ceed, list, &adjoint));
  open_runner(r->op, list, &a);
  open_runner(r->op, adjoint, &t);
  const CeedSize length = restriction_of(&a, s)->l_size;
  fill(length, a.vectors[s], seed);
  for (CeedInt n = 0; n < num_batches(r->op); n++) {
    CHECK(run(&a, n) == 0, "list");
    product += pair_batch(&a, &t, lanes_of(r->op, n), &y2, &v2, seed);
    CHECK(run(&t, n) == 0, "adjoint");
  }
  for (CeedSize i = 0; i < length; i++) {
    transposed += (double)a.vectors[s][i] * (double)t.vectors[s][i];
    u2 += (double)a.vectors[s][i] * (double)a.vectors[s][i];
    w2 += (double)t.vectors[s][i] * (double)t.vectors[s][i];
  }
  // Tables have entries up to the square of the degree, sums a few hundred terms; what cancels, as a gradient
  // of nodes that are all the same one, leaves round-offs of |u|.
  CHECK_NEAR(product, transposed, 1000 * eps * (sqrt(y2 * v2) + sqrt(u2 * w2) + sqrt(u2 * v2)), "space %d",
             s);
  num_spaces++;
  num_zeros += y2 == 0;
  close_runner(&a);
  close_runner(&t);
}

// The plan of a random operator without simple inputs; every second time with a contraction in all directions
// for each derivative, and with vector bases of tensor products as matrices.
static int plan_random(const RandomOperator *r, uint64_t *seed, RitzPlan **plan) {
  const RitzPlanOptions options = {.allows_blocks = tap_integer(seed, 2) == 0};
  const bool sweeps = tap_integer(seed, 2) == 0;
  const char *reason;

  RITZ_TRY(ritz_plan_operator(r->op, &options, plan, &reason));
  for (int b = 0; sweeps && b < (*plan)->num_bases; b++) {
    if ((*plan)->bases[b].is_tensor) (*plan)->bases[b].route = RITZ_ROUTE_DIRECT;
  }
  ritz_steps_free(&(*plan)->steps);
  return ritz_steps_apply(r->ceed, *plan, &(*plan)->steps);
}

typedef void (*CheckPlan)(const RandomOperator *r, const RitzPlan *plan, uint64_t *seed);

static void check_random(uint64_t first, CheckPlan check) {
  static const RandomOptions options;
  RandomOperator r;
  RitzPlan *plan = NULL;
  uint64_t seed = first;
  int ierr = random_operator_create(tap_ceed("/cpu/self/ref"), &options, &seed, &r);
  Ceed ceed = r.ceed;

  if (!ierr) ierr = plan_random(&r, &seed, &plan);
  if (!ierr) check(&r, plan, &seed);
  if (ierr || tap_failed())
    tap_note("operator of seed %llu: %s", (unsigned long long)first, random_operator_describe(&r));
  ritz_plan_free(&plan);
  random_operator_destroy(&r);
  CeedDestroy(&ceed);
  CHECK_OK(ierr);
}

static void check_randoms(int num, CheckPlan check) {
  for (int i = 0; i < num && !tap_failed(); i++) check_random(1000 + (uint64_t)i, check);
}

static void check_spaces(const RandomOperator *r, const RitzPlan *plan, uint64_t *seed) {
  for (int s = 0; s < plan->num_spaces && !tap_failed(); s++) check_space(r, plan, s, seed);
}

TEST(adjoint_of_a_list_is_its_transposed) { check_randoms(tap_level() ? 2000 : 250, check_spaces); }

// ---- Lists as such ----

static bool is_same_step(const RitzStep *a, const RitzStep *b) {
  return a->kind == b->kind && a->from == b->from && a->to == b->to && a->with == b->with &&
         a->basis == b->basis && a->table == b->table && a->direction == b->direction &&
         a->is_transposed == b->is_transposed && a->adds == b->adds && a->block == b->block &&
         a->position == b->position && a->row == b->row;
}

static void check_double_adjoint(const RandomOperator *r, const RitzPlan *plan, int s) {
  RitzSteps *list = NULL, *once = NULL, *twice = NULL;

  CHECK_OK(ritz_steps_input(r->ceed, plan, s, true, &list));
  CHECK_OK(ritz_steps_adjoint(r->ceed, list, &once));
  CHECK_OK(ritz_steps_adjoint(r->ceed, once, &twice));
  CHECK(list->num_steps == once->num_steps && list->num_steps == twice->num_steps, "steps");
  for (int n = 0; n < list->num_steps; n++) {
    CHECK(is_same_step(&list->steps[n], &twice->steps[n]), "space %d, step %d", s, n);
    CHECK(!is_same_step(&list->steps[n], &once->steps[list->num_steps - 1 - n]), "step %d is its own", n);
  }
  for (int b = 0; b < list->num_buffers; b++) {
    CHECK(list->buffers[b].is_given == twice->buffers[b].is_given &&
              list->buffers[b].is_wanted == twice->buffers[b].is_wanted &&
              list->buffers[b].is_given == once->buffers[b].is_wanted,
          "space %d, buffer %d", s, b);
  }
  ritz_steps_free(&list);
  ritz_steps_free(&once);
  ritz_steps_free(&twice);
}

static void check_double_adjoints(const RandomOperator *r, const RitzPlan *plan, uint64_t *seed) {
  (void)seed;
  for (int s = 0; s < plan->num_spaces && !tap_failed(); s++) check_double_adjoint(r, plan, s);
}

TEST(adjoint_of_the_adjoint_is_the_list) { check_randoms(100, check_double_adjoints); }

// Every number is written before it is read, and none that is still read is overwritten: buffers that live at
// the same step are apart.
static void check_places(const RandomOperator *r, const RitzPlan *plan, uint64_t *seed) {
  const RitzSteps *list = plan->steps;
  const CeedSize *places = list->places, size = list->size;
  const int num = list->num_steps;
  int *owner = allocate((size_t)size + 1, sizeof(*owner)); // of a place: the buffer that was written last

  (void)r;
  (void)seed;
  for (int n = 0; n < num; n++) {
    const RitzStep *step = &list->steps[n];
    const bool reads = step->from >= 0 && list->buffers[step->from].role != RITZ_ROLE_VECTOR;
    for (CeedSize i = 0; reads && i < ritz_steps_size(list, step->from); i++)
      CHECK(owner[places[step->from] + i] == step->from + 1, "step %d reads what another one wrote", n);
    const bool writes = step->to >= 0 && list->buffers[step->to].role != RITZ_ROLE_VECTOR;
    for (CeedSize i = 0; writes && i < ritz_steps_size(list, step->to); i++) {
      CHECK(places[step->to] + i < size, "inside");
      CHECK(!step->adds || owner[places[step->to] + i] == step->to + 1, "step %d adds to nothing", n);
      owner[places[step->to] + i] = step->to + 1;
    }
    for (int i = 0; step->kind == RITZ_STEP_POINT && i < plan->num_in + plan->num_out; i++) {
      const int first = list->arguments[i], end = first + ritz_steps_num_buffers(plan, &plan->fields[i]);
      for (int b = first; b < end; b++) {
        CHECK(places[b] == places[first] + (b - first) * ritz_steps_size(list, first), "field %d", i);
        for (CeedSize k = 0; k < ritz_steps_size(list, b); k++) {
          CHECK(i >= plan->num_in || plan->fields[i].space < 0 || owner[places[b] + k] == b + 1, "input %d",
                i);
          if (i >= plan->num_in) owner[places[b] + k] = b + 1;
        }
      }
    }
  }
  free(owner);
}

TEST(buffers_share_memory_only_when_they_live_one_after_the_other) { check_randoms(150, check_places); }

static char *print_of(uint64_t first) {
  static const RandomOptions options;
  static const RitzPlanAccess access[MAX_SPACES];
  RandomOperator r;
  RitzPlan *plan = NULL;
  uint64_t seed = first;
  Capture text;
  int ierr = random_operator_create(tap_ceed("/cpu/self/ref"), &options, &seed, &r);
  Ceed ceed = r.ceed;

  capture_begin(&text);
  if (!ierr) ierr = plan_random(&r, &seed, &plan);
  if (!ierr) ierr = ritz_steps_print(plan->steps, access, NULL, NULL, text.stream);
  fclose(text.stream);
  ritz_plan_free(&plan);
  random_operator_destroy(&r);
  CeedDestroy(&ceed);
  NOTE_OK(ierr);
  return text.text;
}

TEST(equal_plans_have_equal_lists_and_others_have_others) {
  int num_equal = 0;

  for (uint64_t seed = 1; seed <= 20 && !tap_failed(); seed++) {
    char *first = print_of(seed), *again = print_of(seed), *other = print_of(seed + 1);
    CHECK(!strcmp(first, again), "seed %d:\n%s\n%s", (int)seed, first, again);
    num_equal += !strcmp(first, other);
    free(first);
    free(again);
    free(other);
  }
  CHECK(num_equal < 3, "%d neighbours have the same list", num_equal);
}

// ---- Forms ----

// All that the lists of an input space want, one after the other.
static CeedSize run_input(Kit *k, bool allows_simple_inputs, int s, CeedScalar *values,
                          bool *has_simple_input) {
  const Machine machine = {.lanes = LANES, .allows_simple_inputs = allows_simple_inputs};
  RitzSteps *list = NULL;
  Runner r;
  uint64_t seed = 3;
  CeedSize num = 0;

  make_plan(k, &machine, NULL);
  if (tap_failed()) return 0;
  NOTE_OK(ritz_steps_input(k->ceed, k->plan, s, true, &list));
  open_runner(k->op, list, &r);
  fill(restriction_of(&r, s)->l_size, r.vectors[s], &seed);
  NOTE_OK(run(&r, 0));
  for (int n = 0; n < list->num_steps; n++) *has_simple_input |= list->steps[n].kind == RITZ_STEP_FORM;
  for (int b = 0; b < list->num_buffers; b++) {
    if (!is_end(list, b, false)) continue;
    for (CeedSize i = 0; i < ritz_steps_size(list, b) * LANES; i++)
      values[num++] = ((CeedScalar *)r.run.buffers[b])[i];
  }
  close_runner(&r);
  return num;
}

static void check_forms(CeedInt dim, bool is_constant) {
  static const CeedScalar ones[4] = {1, 1, 1, 1}, zeros[4];
  enum { MOST = 4 * 64 * 3 * 16 };
  static CeedScalar plain[MOST], formed[MOST];
  Kit k = kit_open();
  CeedElemRestriction u = box(&k, dim, 2, 1),
                      x = is_constant ? strided(&k, CeedIntPow(2, dim), 1, 1) : box(&k, dim, 1, dim);
  CeedBasis basis = lagrange(&k, dim, 1, 3, 4, CEED_GAUSS);
  CeedBasis simple =
      is_constant ? table_basis(&k, dim, 1, 4, ones, zeros) : lagrange(&k, dim, dim, 2, 4, CEED_GAUSS);
  CeedVector data = vector(&k, x->l_size);
  const Field fields[] = {ACTIVE("u", INTERP, u, basis), PASSIVE("x", INTERP, x, simple, data),
                          PASSIVE("dx", GRAD, x, simple, data), ACTIVE("v", INTERP, u, basis)};
  bool has_plain = false, has_simple_input = false;

  set_function(&k, 1, "", 3, 1, fields);
  const CeedSize n = run_input(&k, false, 1, plain, &has_plain);
  CHECK(run_input(&k, true, 1, formed, &has_simple_input) == n && n > 0, "as many values");
  CHECK(has_simple_input && !has_plain, "a form where it is allowed");
  for (CeedSize i = 0; i < n; i++) CHECK_NEAR(formed[i], plain[i], 50 * eps, "value %td", i);
  kit_close(&k);
}

TEST(forms_are_what_the_tables_of_their_bases_give) {
  for (int n = 0; n < 6 && !tap_failed(); n++) {
    check_forms(1 + n / 2, n % 2);
    if (tap_failed()) tap_note("dim %d, %s", 1 + n / 2, n % 2 ? "constant" : "linear");
  }
}

// ---- As operators, on every backend ----

// u -> points, or back: the identity between a space and data at the points.
static int create_to_points(Ceed ceed, const RandomSpace *s, CeedElemRestriction points, CeedInt size,
                            CeedEvalMode mode, bool transposes, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = transposes ? CeedQFunctionCreateIdentity(ceed, size, CEED_EVAL_NONE, mode, &qf)
                        : CeedQFunctionCreateIdentity(ceed, size, mode, CEED_EVAL_NONE, &qf);

  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr)
    ierr = CeedOperatorSetField(*op, transposes ? "output" : "input", s->rstr, s->basis, CEED_VECTOR_ACTIVE);
  if (!ierr)
    ierr = CeedOperatorSetField(*op, transposes ? "input" : "output", points, CEED_BASIS_NONE,
                                CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static double dot(CeedVector a, CeedVector b, CeedSize n) {
  const CeedScalar *x = NULL, *y = NULL;
  double sum = 0;

  if (CeedVectorGetArrayRead(a, CEED_MEM_HOST, &x) || CeedVectorGetArrayRead(b, CEED_MEM_HOST, &y))
    return NAN;
  for (CeedSize i = 0; i < n; i++) sum += (double)x[i] * (double)y[i];
  CeedVectorRestoreArrayRead(a, &x);
  CeedVectorRestoreArrayRead(b, &y);
  return sum;
}

static CeedEvalMode derivative_of(const RandomSpace *s) {
  return s->kind == RANDOM_HDIV ? CEED_EVAL_DIV : s->kind == RANDOM_HCURL ? CEED_EVAL_CURL : CEED_EVAL_GRAD;
}

static void check_pair(CeedOperator a, CeedOperator t, CeedSize length, CeedSize num, uint64_t *seed) {
  Ceed ceed = CeedOperatorReturnCeed(a);
  double *u = reference_new_random(length, seed), *v = reference_new_random(num, seed);
  CeedVector uv = reference_vector(ceed, length, u), vv = reference_vector(ceed, num, v), y = NULL, w = NULL;

  CHECK_OK(CeedVectorCreate(ceed, num, &y));
  CHECK_OK(CeedVectorCreate(ceed, length, &w));
  CHECK_OK(CeedOperatorApply(a, uv, y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorApply(t, vv, w, CEED_REQUEST_IMMEDIATE));
  const double u2 = dot(uv, uv, length), v2 = dot(vv, vv, num);
  const double size = sqrt(dot(y, y, num) * v2) + sqrt(u2 * dot(w, w, length)) + sqrt(u2 * v2);
  CHECK_NEAR(dot(y, vv, num), dot(uv, w, length), 1000 * eps * size, "(A u, v) = (u, A^T v)");
  CHECK(size > 0, "nothing was computed");
  CeedVectorDestroy(&uv);
  CeedVectorDestroy(&vv);
  CeedVectorDestroy(&y);
  CeedVectorDestroy(&w);
  free(u);
  free(v);
}

static void check_to_points(Ceed ceed, uint64_t seed) {
  static const RandomOptions options;
  RandomOperator r = {.ceed = ceed, .num_elem = 1 + (CeedInt)tap_integer(&seed, 12)};
  RandomDraw draw = {.r = &r, .options = &options, .seed = &seed, .mesh = &seed};
  RandomSpace s = {.rstr = NULL};
  CeedElemRestriction points = NULL;
  CeedOperator a = NULL, t = NULL;

  r.dim = 1 + (CeedInt)tap_integer(&seed, 3);
  r.Q_1d = 2 + (CeedInt)tap_integer(&seed, r.dim < 3 ? 4 : 2);
  r.Q = CeedIntPow(r.Q_1d, r.dim);
  CHECK_OK(random_space_draw(&draw, 0, true, &s));
  const CeedEvalMode mode = tap_integer(&seed, 2) ? CEED_EVAL_INTERP : derivative_of(&s);
  const CeedInt size = s.num_comp * ritz_basis_num_q_comp(s.basis, mode);
  const CeedSize num = (CeedSize)r.num_elem * r.Q * size;
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, r.num_elem, r.Q, size, num, CEED_STRIDES_BACKEND, &points));
  CHECK_OK(create_to_points(ceed, &s, points, size, mode, false, &a));
  CHECK_OK(create_to_points(ceed, &s, points, size, mode, true, &t));
  check_pair(a, t, s.l_size, num, &seed);
  CeedOperatorDestroy(&a);
  CeedOperatorDestroy(&t);
  CeedElemRestrictionDestroy(&points);
  random_space_destroy(&s);
}

TEST_EACH_BACKEND(evaluation_at_points_and_its_adjoint_are_transposed) {
  const int num = tap_compiles_slowly(ceed) ? 6 : random_num_draws(ceed, 120);

  for (int i = 0; i < num && !tap_failed(); i++) {
    check_to_points(ceed, 500 + (uint64_t)i);
    if (tap_failed()) tap_note("seed %d", 500 + i);
  }
}

// ---- Element inverses ----

static int count(const char *text, const char *word) {
  int num = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) num++;
  return num;
}

static int count_lines(const char *text) { return count(text, "\n"); }

// Gather, S^T in each direction, the numbers of the element, S in each direction, scatter.
static void check_inverse_list(CeedInt dim, const char *text) {
  CHECK(count(text, " gather ") == 2 && count(text, " scatter ") == 1 && count(text, " point  ") == 1, "%s",
        text);
  CHECK(count(text, " contract ") == 2 * dim && count(text, "^T in direction") == dim, "%s", text);
  CHECK(count_lines(text) == 1 + 4 + 2 * dim, "nothing else:\n%s", text);
}

static void check_inverse(Ceed ceed, CeedInt dim) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedOperator op = NULL, inverse = NULL;
  CeedVector x = NULL, y = NULL;
  Capture text, steps;
  double corners[2 * 8 * 3];
  const GridElements elements = {dim, 2, corners};
  const CeedInt P = CeedIntPow(4, dim), strides[3] = {1, P, P}, num_corners = CeedIntPow(2, dim);

  for (CeedInt i = 0; i < 2 * dim * num_corners; i++)
    corners[i] = (i % num_corners >> (i / num_corners % dim)) % 2;
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, P, 1, 2 * P, strides, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, 4, 5, CEED_GAUSS, &basis));
  CHECK_OK(grid_create_operator(ceed, &elements, 5, true, rstr, basis, &op));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(op, &inverse, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorCreate(ceed, 2 * P, &x));
  CHECK_OK(CeedVectorCreate(ceed, 2 * P, &y));
  CHECK_OK(CeedVectorSetValue(x, 1));
  ceed->is_strict = true; // as RITZ_STRICT=1 from here on: a slower path is an error
  CHECK_OK(CeedOperatorApply(inverse, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK(dot(x, y, 2 * P) > 0, "the inverse of something positive is positive");
  capture_begin(&text);
  const int ierr = RitzOperatorExplain(inverse, text.stream);
  fclose(text.stream);
  capture_begin(&steps);
  const int ierr_steps = RitzOperatorExplainSteps(inverse, steps.stream);
  fclose(steps.stream);
  ceed->is_strict = false;
  CHECK_OK(ierr);
  CHECK_OK(ierr_steps);
  if (strncmp(steps.text, "Steps of", 8)) {
    CHECK(strstr(steps.text, "no steps of") && count_lines(steps.text) == 1, "%s", steps.text);
  } else {
    CHECK(strstr(text.text, "one generated kernel"), "%s", text.text);
    check_inverse_list(dim, steps.text);
  }
  free(text.text);
  free(steps.text);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  CeedOperatorDestroy(&inverse);
  CeedOperatorDestroy(&op);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
}

TEST(a_list_needs_a_stream) {
  Kit k = kit_open();
  CeedElemRestriction rstr = box(&k, 2, 2, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("v", INTERP, rstr, basis)};

  set_function(&k, 1, "", 1, 1, fields);
  CHECK_ERROR(k.ceed, RitzOperatorExplainSteps(k.op, NULL), CEED_ERROR_INCOMPATIBLE,
              "RitzOperatorExplainSteps: the stream is NULL");
  kit_close(&k);
}

TEST_EACH_BACKEND(element_inverses_are_fused_and_list_their_formula) {
  for (CeedInt dim = 2; dim <= 3 && !tap_failed(); dim++) check_inverse(ceed, dim);
}

// ---- Transfers ----

// Prolongation contracts from coarse nodes to fine ones, restriction by the same tables transposed.
static void check_transfer(CeedOperator op, CeedInt dim, bool is_prolongation) {
  Capture text;

  capture_begin(&text);
  const int ierr = RitzOperatorExplainSteps(op, text.stream);
  fclose(text.stream);
  CHECK_OK(ierr);
  if (!strncmp(text.text, "Steps of", 8)) {
    CHECK(count(text.text, " contract ") == dim, "%s", text.text);
    CHECK(count(text.text, "^T in direction") == (is_prolongation ? 0 : dim), "%s", text.text);
    CHECK(count(text.text, " scatter ") == 1 && count(text.text, " multiply ") == 0, "%s", text.text);
  }
  free(text.text);
}

TEST_EACH_BACKEND(transfers_between_levels_are_lists_like_any_other) {
  static const LevelsProblem problem = {2, 2, 3, 2, 1, 0.2, false, false};
  Levels l;

  CHECK_OK(levels_create(ceed, &problem, LEVELS_TENSOR_H1, &l));
  check_transfer(l.prolong, 2, true);
  check_transfer(l.restrict_op, 2, false);
  levels_destroy(&l);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(adjoint_of_a_list_is_its_transposed, adjoint_of_the_adjoint_is_the_list,
                        buffers_share_memory_only_when_they_live_one_after_the_other,
                        equal_plans_have_equal_lists_and_others_have_others,
                        forms_are_what_the_tables_of_their_bases_give,
                        evaluation_at_points_and_its_adjoint_are_transposed, a_list_needs_a_stream,
                        element_inverses_are_fused_and_list_their_formula,
                        transfers_between_levels_are_lists_like_any_other));
}
