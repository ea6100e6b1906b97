// SPDX-License-Identifier: BSD-2-Clause
// Multigrid cycles against the algebra that they are, and what they are for: few iterations, whatever the
// mesh, degree and coefficient.
#include "tests/multigrid-kit.h"

#include "base/memory.h"
#include "tests/api.h"
#include <float.h>

enum { HAS_DOUBLE = sizeof(CeedScalar) == sizeof(double) };
static const double scalar_eps = HAS_DOUBLE ? DBL_EPSILON : FLT_EPSILON;

// ---- Dense algebra: matrices [n][n], row by row ----

static double *new_matrix(CeedSize n) { return calloc((size_t)(n * n), sizeof(double)); }

static void multiply(CeedSize n, const double *a, const double *b, double *c) {
  for (CeedSize i = 0; i < n; i++) {
    for (CeedSize j = 0; j < n; j++) {
      double sum = 0;
      for (CeedSize l = 0; l < n; l++) sum += a[i * n + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
  }
}

// b := 1 - a b
static void propagate(CeedSize n, const double *a, double *b) {
  double *c = new_matrix(n);
  multiply(n, a, b, c);
  for (CeedSize i = 0; i < n * n; i++) b[i] = (i % (n + 1) == 0) - c[i];
  free(c);
}

// A column of what op or the preconditioner does with a unit vector.
static int act(Ceed ceed, CeedOperator op, RitzPreconditioner pc, CeedSize n_in, CeedSize j, CeedSize n_out,
               double *matrix, CeedSize stride) {
  CeedVector u = NULL, v = NULL;
  CeedScalar *a;
  const CeedScalar *result;
  CeedCall(CeedVectorCreate(ceed, n_in, &u));
  CeedCall(CeedVectorCreate(ceed, n_out, &v));
  CeedCall(CeedVectorSetValue(u, 0));
  CeedCall(CeedVectorGetArray(u, CEED_MEM_HOST, &a));
  a[j] = 1;
  CeedCall(CeedVectorRestoreArray(u, &a));
  CeedCall(op ? CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE) : RitzPreconditionerApply(pc, u, v));
  CeedCall(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &result));
  for (CeedSize i = 0; i < n_out; i++) matrix[i * stride + j] = result[i];
  CeedCall(CeedVectorRestoreArrayRead(v, &result));
  return CeedVectorDestroy(&u) | CeedVectorDestroy(&v);
}

// Leading part of a matrix [n][n] with rows of n entries.
static double *matrix_of(Ceed ceed, CeedOperator op, RitzPreconditioner pc, CeedSize n_in, CeedSize n_out,
                         CeedSize n) {
  double *matrix = new_matrix(n);
  for (CeedSize j = 0; j < n_in; j++) {
    if (act(ceed, op, pc, n_in, j, n_out, matrix, n)) matrix[0] = NAN;
  }
  return matrix;
}

// Rows and columns of constrained entries become zero, in rows and columns of a matrix [n][n].
static void constrain(CeedSize n, double *matrix, RitzIndices fixed) {
  const int64_t *entries = NULL;
  int64_t num = 0;
  if (RitzIndicesGet(fixed, &num, &entries)) return;
  for (int64_t k = 0; k < num; k++) {
    for (CeedSize i = 0; i < n; i++) matrix[entries[k] * n + i] = matrix[i * n + entries[k]] = 0;
  }
}

// b := (1 - M A) (1 - P C P^T A) (1 - M A) with A on the free entries; all [n][n]
static void propagator(CeedSize n, const double *A, const double *M, const double *P, const double *C,
                       double *result) {
  double *smoothing = new_matrix(n), *correction = new_matrix(n), *work = new_matrix(n), *Pt = new_matrix(n);
  for (CeedSize i = 0; i < n; i++) {
    for (CeedSize j = 0; j < n; j++) Pt[i * n + j] = P[j * n + i];
  }
  memcpy(smoothing, A, (size_t)(n * n) * sizeof(*A));
  propagate(n, M, smoothing);
  multiply(n, Pt, A, correction);
  multiply(n, C, correction, work);
  memcpy(correction, work, (size_t)(n * n) * sizeof(*A));
  propagate(n, P, correction);
  multiply(n, correction, smoothing, work);
  multiply(n, smoothing, work, result);
  free(smoothing);
  free(correction);
  free(work);
  free(Pt);
}

// Power steps: the largest eigenvalue of a matrix that has real ones, not negative, from below.
static double radius_of(CeedSize n, const double *a, uint64_t seed) {
  double *x = malloc((size_t)n * sizeof(*x)), *y = malloc((size_t)n * sizeof(*y)), radius = 0;
  for (CeedSize i = 0; i < n; i++) x[i] = tap_uniform(&seed);
  for (int step = 0; step < 100; step++) {
    double before = 0, after = 0;
    for (CeedSize i = 0; i < n; i++) {
      y[i] = 0;
      for (CeedSize j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
      before += x[i] * x[i];
      after += y[i] * y[i];
    }
    radius = sqrt(after / before);
    for (CeedSize i = 0; i < n; i++) x[i] = y[i] / sqrt(after);
  }
  free(x);
  free(y);
  return radius;
}

// Two levels, by unit vectors: B of the cycle, M of the smoother, C of the coarse solver.
TEST_EACH_BACKEND(two_grid_error_is_that_of_the_dense_propagator) {
  const MultigridCase c = {.dim = 2, .n = 3, .degree = 2, .kind = RITZ_HIERARCHY_P, .amplitude = 0.1};
  MultigridKit k;
  CeedOperator prolong = NULL, restriction = NULL;
  RitzPreconditioner smoother = NULL, coarse = NULL;
  RitzSpace spaces[2];
  CeedSize n_coarse;
  CHECK_OK(kit_open(ceed, &c, &k));
  CHECK_OK(RitzPreconditionerGetMultigridLevel(k.pc, 0, NULL, &coarse));
  CHECK_OK(RitzPreconditionerGetMultigridLevel(k.pc, 1, NULL, &smoother));
  for (CeedInt i = 0; i < 2; i++) CHECK_OK(RitzHierarchyGetSpace(k.hierarchy, i, &spaces[i]));
  CHECK_OK(RitzSpaceGetSize(spaces[0], &n_coarse));
  CHECK_OK(RitzSpaceCreateTransfer(spaces[0], spaces[1], ceed, CEED_SCALAR_TYPE, &prolong, &restriction));
  const CeedSize n = k.n;
  double *A = matrix_of(ceed, k.op, NULL, n, n, n), *B = matrix_of(ceed, NULL, k.pc, n, n, n),
         *M = matrix_of(ceed, NULL, smoother, n, n, n),
         *C = matrix_of(ceed, NULL, coarse, n_coarse, n_coarse, n),
         *P = matrix_of(ceed, prolong, NULL, n_coarse, n, n), *E = new_matrix(n), *error = new_matrix(n);
  double largest = 0;
  constrain(n, A, k.fixed);
  propagator(n, A, M, P, C, E);
  constrain(n, E, k.fixed);
  memcpy(error, A, (size_t)(n * n) * sizeof(*A));
  propagate(n, B, error);
  constrain(n, error, k.fixed);
  for (CeedSize i = 0; i < n * n; i++) largest = tap_larger(largest, fabs(E[i] - error[i]));
  // Some ten products of matrices of this size with entries of the size of one.
  CHECK(largest < 100 * (double)n * scalar_eps, "propagators differ by %g", largest);
  const double radius = radius_of(n, error, 5);
  CHECK(radius > 1e-3 && radius < 0.1, "the error falls by %g", radius);
  double *const matrices[] = {A, B, M, C, P, E, error};
  for (int i = 0; i < 7; i++) free(matrices[i]);
  CHECK_OK(CeedOperatorDestroy(&prolong));
  CHECK_OK(CeedOperatorDestroy(&restriction));
  CHECK_OK(kit_close(&k));
}

// ---- Symmetry ----

typedef struct {
  double xBy, yBx, xBx;
} Forms;

static int forms_of(const MultigridKit *k, Forms *f) {
  CeedVector x = kit_random(k, 1), y = kit_random(k, 2), z = kit_vector(k);
  int ierr = RitzPreconditionerApply(k->pc, y, z);
  if (!ierr) ierr = RitzVectorDot(x, z, &f->xBy);
  if (!ierr) ierr = RitzPreconditionerApply(k->pc, x, z);
  if (!ierr) ierr = RitzVectorDot(y, z, &f->yBx);
  if (!ierr) ierr = RitzVectorDot(x, z, &f->xBx);
  return ierr | CeedVectorDestroy(&x) | CeedVectorDestroy(&y) | CeedVectorDestroy(&z);
}

static const MultigridCase small_case = {.dim = 2, .n = 4, .degree = 2, .max_levels = 3, .amplitude = 0.1};

TEST_EACH_BACKEND(cycles_say_whether_they_are_symmetric) {
  for (int i = 0; i < 4; i++) {
    MultigridCase c = small_case;
    MultigridKit k;
    Forms f;
    bool is_symmetric;
    c.options.cycle = i == 3 ? RITZ_CYCLE_V : (RitzCycle)i;
    c.options.is_full = i == 3;
    c.options.num_smooth = i == 0 ? 2 : 0;
    CHECK_OK(kit_open(ceed, &c, &k));
    CHECK_OK(forms_of(&k, &f));
    CHECK_OK(RitzPreconditionerIsSymmetric(k.pc, &is_symmetric));
    CHECK(is_symmetric == (i < 2), "case %d", i);
    CHECK(f.xBx > 0, "case %d: x.Bx = %g", i, f.xBx);
    // Rounding of the sums and of each of some hundred steps.
    if (is_symmetric) CHECK_NEAR(f.xBy, f.yBx, 1000 * scalar_eps * f.xBx, "case %d", i);
    CHECK_OK(kit_close(&k));
  }
}

// ---- Cycles ----

// |b - A z| / |b| of one application.
static int reduction(Ceed ceed, const MultigridCase *c, double *factor) {
  MultigridKit k;
  double before = 0, after = 0;
  CeedCall(kit_open(ceed, c, &k));
  CeedVector b = kit_random(&k, 7), z = kit_vector(&k), r = kit_vector(&k);
  CeedCall(RitzPreconditionerApply(k.pc, b, z));
  CeedCall(CeedOperatorApply(k.op, z, r, CEED_REQUEST_IMMEDIATE));
  CeedCall(RitzVectorSum(r, 1, b, -1, r));
  if (k.fixed) CeedCall(RitzVectorSetEntries(r, k.fixed, 0));
  CeedCall(RitzVectorDot(b, b, &before));
  CeedCall(RitzVectorDot(r, r, &after));
  *factor = sqrt(after / before);
  CeedCall(CeedVectorDestroy(&b) | CeedVectorDestroy(&z) | CeedVectorDestroy(&r));
  return kit_close(&k);
}

// With two levels all cycles are one; with three the corrections of W and F are better.
TEST_EACH_BACKEND(cycles_differ_from_three_levels_on) {
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("no other kernels than of symmetric cycles");
  double factors[2][3];
  for (int levels = 2; levels <= 3; levels++) {
    for (int i = 0; i < 3; i++) {
      MultigridCase c = small_case;
      c.n = 8;
      c.kind = RITZ_HIERARCHY_H;
      c.max_levels = levels;
      c.options.cycle = (RitzCycle)i;
      CHECK_OK(reduction(ceed, &c, &factors[levels - 2][i]));
    }
  }
  const double *two = factors[0], *three = factors[1];
  CHECK_NEAR(two[0], two[1], 100 * scalar_eps, "V and W of two levels");
  CHECK_NEAR(two[0], two[2], 100 * scalar_eps, "V and F of two levels");
  CHECK(three[1] != three[0], "W of three levels is V");
  // On three levels F and W are the same: below the finest level a V-cycle is a W-cycle.
  CHECK_NEAR(three[1], three[2], 100 * scalar_eps, "W and F of three levels");
  CHECK(three[1] < 1.05 * two[0] && three[0] < 0.5, "%g, W %g, two levels %g", three[0], three[1], two[0]);
}

// |u - u_h|^2 = a(u, u) - b . u_h in the energy norm; what full multigrid leaves is small beside it, although
// nothing was iterated.
TEST_EACH_BACKEND(full_multigrid_reaches_the_error_of_discretization) {
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("no other kernels than of symmetric cycles");
  if (!HAS_DOUBLE) NOT_FOR_THIS_BACKEND("differences of energies need double");
  MultigridCase c = small_case;
  c.n = 8;
  c.options.is_full = true;
  MultigridKit k;
  MultigridResult result;
  double energy = 0, left = 0;
  CHECK_OK(kit_open(ceed, &c, &k));
  CeedVector b = kit_vector(&k), u = kit_vector(&k), z = kit_vector(&k), Az = kit_vector(&k);
  CHECK_OK(kit_right_hand_side(&k, kit_sine, b));
  CHECK_OK(RitzVectorSetEntries(b, k.fixed, 0));
  CHECK_OK(kit_solve(&k, 1e-12, b, u, &result));
  CHECK(result.reason > 0, "%s", RitzSolverReasonName(result.reason));
  CHECK_OK(RitzVectorDot(b, u, &energy));
  CHECK_OK(RitzPreconditionerApply(k.pc, b, z));
  CHECK_OK(RitzVectorSum(z, 1, z, -1, u));
  CHECK_OK(CeedOperatorApply(k.op, z, Az, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(RitzVectorDot(z, Az, &left));
  const double squared = KIT_PI * KIT_PI / 2 - energy; // a(u, u): 2 pi^2 / 4
  CHECK(squared > 0, "energy %g", energy);
  // The sum of the squares is that of both errors: 12 % more than of discretization alone.
  CHECK(sqrt(left) < 0.5 * sqrt(squared), "left %g, of discretization %g", sqrt(left), sqrt(squared));
  CeedVector *const vectors[] = {&b, &u, &z, &Az};
  for (int i = 0; i < 4; i++) CHECK_OK(CeedVectorDestroy(vectors[i]));
  CHECK_OK(kit_close(&k));
}

// ---- Iterations ----

// The measured table: 8 cells in a direction, three levels.
TEST(iterations_on_a_deformed_box_are_few_and_independent_of_the_mesh) {
  static const struct {
    CeedInt degree, n, most;
    int level;
  } cases[] = {{2, 4, 7, TAP_QUICK},  {2, 8, 7, TAP_QUICK},  {2, 16, 8, TAP_FULL},
               {4, 4, 11, TAP_QUICK}, {4, 8, 11, TAP_QUICK}, {7, 8, 18, TAP_FULL}};
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const MultigridCase c = {.dim = 3,
                             .n = cases[i].n,
                             .degree = cases[i].degree,
                             .kind = RITZ_HIERARCHY_H,
                             .max_levels = 3,
                             .amplitude = 0.1};
    if (tap_level() < cases[i].level) continue;
    const CeedInt num = kit_count(ceed, &c, 1e-9);
    tap_note("degree %d, %d cells: %d iterations", (int)c.degree, (int)c.n, (int)num);
    CHECK(num > 0 && num <= cases[i].most, "degree %d, %d cells: %d iterations, at most %d", (int)c.degree,
          (int)c.n, (int)num, (int)cases[i].most);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(cycles_in_float_need_as_many_iterations) {
  if (!HAS_DOUBLE) NOT_HERE("one precision");
  Ceed ceed = tap_ceed("/cpu/self");
  for (int i = 0; i < (tap_level() < TAP_FULL ? 1 : 2); i++) {
    MultigridCase c = {
        .dim = 3, .n = i ? 8 : 4, .degree = i ? 2 : 4, .kind = RITZ_HIERARCHY_H, .amplitude = 0.1};
    const CeedInt doubles = kit_count(ceed, &c, 1e-12);
    c.options.use_precision = true;
    c.options.precision = CEED_SCALAR_FP32;
    const CeedInt floats = kit_count(ceed, &c, 1e-12);
    tap_note("degree %d: %d iterations, %d in float", (int)c.degree, (int)doubles, (int)floats);
    CHECK(doubles > 0 && doubles < 40 && floats > 0 && floats <= doubles + 1, "%d and %d", (int)doubles,
          (int)floats);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// The same on every backend, once: levels in float below a double method.
TEST_EACH_BACKEND(float_levels_serve_double_vectors) {
  MultigridCase c = small_case;
  CeedScalarType precision;
  CeedOperator op;
  MultigridKit k;
  c.options.use_precision = true;
  c.options.precision = CEED_SCALAR_FP32;
  CHECK_OK(kit_open(ceed, &c, &k));
  CHECK_OK(RitzPreconditionerGetPrecision(k.pc, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "%d", precision);
  CHECK_OK(RitzPreconditionerGetMultigridLevel(k.pc, 0, &op, NULL));
  CHECK_OK(RitzOperatorGetPrecision(op, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "the operator: %d", precision);
  CHECK_OK(kit_close(&k));
  for (int i = 0; i < 2; i++) {
    c.options.coarse.kind = i ? RITZ_DIRECT_CG : RITZ_DIRECT_AUTO;
    const CeedInt num = kit_count(ceed, &c, HAS_DOUBLE ? 1e-9 : 1e-5);
    CHECK(num > 0 && num <= 8, "coarse solver %d: %d iterations", i, (int)num);
  }
}

// Two components: the automatic choice is elements from degree 2 on, below it blocks of nodes.
TEST_EACH_BACKEND(smoothers_of_every_kind_serve) {
  static const struct {
    RitzSmootherKind kind;
    RitzChebyshevKind polynomial;
    const char *name;
  } smoothers[] = {{RITZ_SMOOTHER_AUTO, RITZ_CHEBYSHEV_FOURTH, "Chebyshev, element Schwarz"},
                   {RITZ_SMOOTHER_JACOBI, RITZ_CHEBYSHEV_FIRST, "Chebyshev, Jacobi"},
                   {RITZ_SMOOTHER_ELEMENT_SCHWARZ, RITZ_CHEBYSHEV_FOURTH, "Chebyshev, element Schwarz"}};
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("smoothers have tests of their own");
  for (int i = 0; i < 3; i++) {
    MultigridCase c = small_case;
    MultigridKit k;
    Capture capture;
    c.num_comp = 2;
    c.options.smoother = smoothers[i].kind;
    c.options.chebyshev.kind = smoothers[i].polynomial;
    CHECK_OK(kit_open(ceed, &c, &k));
    FILE *stream = capture_begin(&capture);
    CHECK_OK(RitzPreconditionerView(k.pc, stream));
    fclose(stream);
    CHECK(strstr(capture.text, smoothers[i].name), "%s", capture.text);
    free(capture.text);
    CHECK_OK(kit_close(&k));
    const CeedInt num = kit_count(ceed, &c, HAS_DOUBLE ? 1e-9 : 1e-5);
    CHECK(num > 0 && num <= 9, "%s: %d iterations", smoothers[i].name, (int)num);
  }
}

// Jumps between cells of the coarsest mesh, which all degrees resolve.
TEST(jumps_of_the_coefficient_do_not_stop_convergence) {
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self");
  const MultigridCase c = {.dim = 3, .n = 6, .degree = 2, .kind = RITZ_HIERARCHY_P, .contrast = 1e4};
  const CeedInt num = kit_count(ceed, &c, 1e-9);
  tap_note("%d iterations", (int)num);
  CHECK(num > 0 && num <= 20, "%d iterations", (int)num);
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Nullspaces ----

TEST_EACH_BACKEND(neumann_problems_are_solved_up_to_constants) {
  MultigridCase c = small_case;
  MultigridKit k;
  MultigridResult result;
  double sum = 0, size = 0;
  c.is_neumann = true;
  CHECK_OK(kit_open(ceed, &c, &k));
  CeedVector b = kit_random(&k, 3), x = kit_vector(&k), ones = kit_vector(&k);
  CHECK_OK(CeedVectorSetValue(ones, 1));
  CHECK_OK(RitzPreconditionerApply(k.pc, b, x));
  CHECK_OK(RitzVectorDot(x, ones, &sum));
  CHECK_OK(RitzVectorDot(x, x, &size));
  CHECK(fabs(sum) <= 100 * scalar_eps * sqrt(size * (double)k.n), "z has constants: %g", sum);
  CHECK_OK(kit_solve(&k, HAS_DOUBLE ? 1e-9 : 1e-5, b, x, &result));
  CHECK(result.reason > 0 && result.iterations <= 9, "%s, %d iterations", RitzSolverReasonName(result.reason),
        (int)result.iterations);
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&ones));
  CHECK_OK(kit_close(&k));
}

// ---- Levels by hand ----

// The levels of a kit, for RitzPreconditionerCreateMultigrid.
typedef struct {
  MultigridKit kit;
  RitzMultigridLevel levels[3]; // all owned but spaces
} Hand;

static int hand_open(Ceed ceed, Hand *h) {
  const RitzFixedPart all = {.part = "all"};
  *h = (Hand){0};
  CeedCall(kit_create_spaces(ceed, &small_case, &h->kit));
  for (CeedInt i = 0; i < 3; i++) {
    RitzMultigridLevel *l = &h->levels[i];
    CeedCall(RitzHierarchyGetSpace(h->kit.hierarchy, i, &l->space));
    CeedCall(kit_operator(&h->kit, i, l->space, &l->op));
    CeedCall(RitzSpaceCreateConstraints(l->space, ceed, 1, &all, &l->constraints));
    if (i == 0) continue;
    CeedCall(
        RitzSpaceCreateTransfer(l[-1].space, l->space, ceed, CEED_SCALAR_TYPE, &l->prolong, &l->restriction));
  }
  return CEED_ERROR_SUCCESS;
}

static int hand_close(Hand *h) {
  int ierr = kit_close(&h->kit);
  for (CeedInt i = 0; i < 3; i++) {
    RitzMultigridLevel *l = &h->levels[i];
    ierr |= CeedOperatorDestroy(&l->op) | RitzIndicesDestroy(&l->constraints);
    ierr |= CeedOperatorDestroy(&l->prolong) | CeedOperatorDestroy(&l->restriction);
  }
  return ierr;
}

// Only how the last level differs matters; nothing is handed out.
#define REFUSED(change, code, fragment)                                                                      \
  do {                                                                                                       \
    RitzMultigridLevel levels[3] = {h.levels[0], h.levels[1], h.levels[2]};                                  \
    RitzMultigridOptions options = {0};                                                                      \
    CeedInt num = 3;                                                                                         \
    change;                                                                                                  \
    CHECK_ERROR(ceed, RitzPreconditionerCreateMultigrid(ceed, num, levels, &options, &pc), code,             \
                "RitzPreconditionerCreateMultigrid: " fragment);                                             \
    CHECK(!pc, "something was handed out");                                                                  \
  } while (0)

TEST(levels_that_do_not_fit_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Hand h;
  RitzPreconditioner pc = NULL, jacobi = NULL;
  CeedVector ones = NULL, diagonal = NULL;
  RitzIndices beyond = NULL;
  const int64_t entry = 1000000;
  CHECK_OK(hand_open(ceed, &h));
  ones = kit_vector(&h.kit);
  CHECK_OK(CeedVectorCreate(ceed, 7, &diagonal));
  CHECK_OK(CeedVectorSetValue(diagonal, 1));
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, diagonal, NULL, &jacobi));
  CHECK_OK(RitzIndicesCreate(ceed, 1, &entry, &beyond));
  REFUSED(num = 0, CEED_ERROR_DIMENSION, "0 levels");
  REFUSED(options.cycle = (RitzCycle)9, CEED_ERROR_INCOMPATIBLE, "9 is no cycle");
  REFUSED(options.smoother = (RitzSmootherKind)9, CEED_ERROR_INCOMPATIBLE, "9 is no smoother");
  REFUSED(options.num_smooth = -1, CEED_ERROR_DIMENSION, "-1 smoothing actions");
  REFUSED(levels[2].op = levels[1].op, CEED_ERROR_DIMENSION, "the prolongation of level 2");
  REFUSED(levels[2].op = levels[2].prolong, CEED_ERROR_DIMENSION, "the operator of level 2 takes");
  REFUSED(levels[1].restriction = NULL, CEED_ERROR_INCOMPLETE, "level 1 has no restriction");
  REFUSED(levels[1].restriction = levels[1].prolong, CEED_ERROR_DIMENSION, "the restriction of level 1");
  REFUSED(levels[0].prolong = levels[1].prolong, CEED_ERROR_INCOMPATIBLE, "level 0 has a transfer");
  REFUSED(levels[1].constraints = beyond, CEED_ERROR_DIMENSION, "level 1 has the constrained entry 1000000");
  REFUSED(levels[2].num_null = 1, CEED_ERROR_INCOMPATIBLE, "level 2 has a nullspace of 1 vectors");
  REFUSED(levels[0].num_null = levels[1].num_null = levels[2].num_null = 1;
          levels[0].null = &ones, CEED_ERROR_DIMENSION, "vector 0 of the nullspace of level 0 has");
  REFUSED(levels[2].smoother = jacobi, CEED_ERROR_DIMENSION, "the smoother of level 2 is for vectors of 7");
  REFUSED(levels[0].smoother = jacobi, CEED_ERROR_INCOMPATIBLE, "level 0 has a smoother");
  REFUSED(options.coarse_solver = jacobi, CEED_ERROR_DIMENSION, "the coarse solver of level 0");
  REFUSED(options.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
          levels[1].space = NULL, CEED_ERROR_INCOMPLETE, "level 1 has no space");
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CHECK_OK(RitzIndicesDestroy(&beyond));
  CHECK_OK(CeedVectorDestroy(&ones));
  CHECK_OK(CeedVectorDestroy(&diagonal));
  CHECK_OK(hand_close(&h));
  CHECK_OK(CeedDestroy(&ceed));
}

static int refuse(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)space;
  (void)op;
  return level == *(CeedInt *)ctx ? 77 : 0; // 0: and no operator
}

TEST(functions_that_make_no_operator_end_the_creation) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridKit k;
  RitzPreconditioner pc = NULL;
  CeedInt level = 0;
  CHECK_OK(kit_create_spaces(ceed, &small_case, &k));
#define CREATE(function, num_fixed)                                                                          \
  RitzPreconditionerCreateMultigridOfHierarchy(ceed, k.hierarchy, function, NULL, &level, num_fixed, NULL,   \
                                               NULL, &pc)
  CHECK_ERROR(ceed, CREATE(NULL, 0), CEED_ERROR_INCOMPATIBLE, "no function that makes operators");
  CHECK_ERROR(ceed, CREATE(refuse, 1), CEED_ERROR_DIMENSION, "1 fixed parts and no array");
  CHECK(CREATE(refuse, 0) == 77, "the code of the function is lost");
  level = 1;
  CHECK_ERROR(ceed, CREATE(refuse, 0), CEED_ERROR_INCOMPLETE, "no operator for level 0");
  CHECK(!pc, "something was handed out");
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// Operators of two precisions, and a smoother in another one than the cycle.
TEST(levels_of_several_precisions_are_refused) {
  if (!HAS_DOUBLE) NOT_HERE("one precision");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Hand h;
  RitzPreconditioner pc = NULL, jacobi = NULL;
  CeedOperator copy = NULL;
  CHECK_OK(hand_open(ceed, &h));
  CHECK_OK(RitzOperatorCopyInPrecision(h.levels[1].op, CEED_SCALAR_FP32, &copy));
  CHECK_OK(RitzPreconditionerCreateOperatorJacobi(copy, h.levels[1].constraints, &jacobi));
  REFUSED(levels[1].op = copy, CEED_ERROR_INCOMPATIBLE, "the operator of level 1 has not the precision FP64");
  REFUSED(levels[1].smoother = jacobi, CEED_ERROR_INCOMPATIBLE,
          "the smoother of level 1 has precision FP32, the cycle FP64");
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CHECK_OK(CeedOperatorDestroy(&copy));
  CHECK_OK(hand_close(&h));
  CHECK_OK(CeedDestroy(&ceed));
}

// A smoother of the caller's on the middle level and a solver of the caller's on the coarsest. Levels given
// by hand in double, a cycle in float.
TEST_EACH_BACKEND(levels_by_hand_take_smoothers_and_solvers_of_the_caller) {
  Hand h;
  MultigridResult result;
  RitzPreconditioner smoother = NULL, coarse = NULL, jacobi = NULL, used = NULL;
  CHECK_OK(hand_open(ceed, &h));
  CHECK_OK(RitzPreconditionerCreateOperatorJacobi(h.levels[1].op, h.levels[1].constraints, &jacobi));
  CHECK_OK(
      RitzPreconditionerCreateChebyshev(h.levels[1].op, h.levels[1].constraints, jacobi, NULL, &smoother));
  CHECK_OK(RitzPreconditionerCreateDirect(h.levels[0].op, h.levels[0].constraints, NULL, &coarse));
  RitzMultigridOptions options = {.coarse_solver = coarse};
  h.levels[1].smoother = smoother;
  CHECK_OK(RitzPreconditionerCreateMultigrid(ceed, 3, h.levels, &options, &h.kit.pc));
  CHECK_OK(RitzPreconditionerGetMultigridLevel(h.kit.pc, 1, NULL, &used));
  CHECK(used == smoother, "the smoother of level 1 is another one");
  CHECK_OK(RitzPreconditionerDestroy(&smoother));
  CHECK_OK(RitzPreconditionerDestroy(&coarse));
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CeedVector b = kit_random(&h.kit, 3), x = kit_vector(&h.kit);
  CHECK_OK(kit_solve(&h.kit, HAS_DOUBLE ? 1e-9 : 1e-5, b, x, &result));
  CHECK(result.reason > 0 && result.iterations <= 8, "%d iterations", (int)result.iterations);
  CHECK_OK(RitzPreconditionerDestroy(&h.kit.pc));
  h.levels[1].smoother = NULL;
  options = (RitzMultigridOptions){.use_precision = true, .precision = CEED_SCALAR_FP32};
  CHECK_OK(RitzPreconditionerCreateMultigrid(ceed, 3, h.levels, &options, &h.kit.pc));
  CHECK_OK(kit_solve(&h.kit, HAS_DOUBLE ? 1e-9 : 1e-5, b, x, &result));
  CHECK(result.reason > 0 && result.iterations <= 8, "float: %d iterations", (int)result.iterations);
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(hand_close(&h));
}

// Whatever allocation fails: an error, nothing is handed out, and nothing stays (the last test of the program
// looks).
TEST(levels_survive_allocations_that_fail) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzMultigridOptions options = {.use_precision = true, .precision = CEED_SCALAR_FP32};
  Hand h;
  RitzPreconditioner pc = NULL;
  int ierr = 1;
  CHECK_OK(hand_open(ceed, &h));
  for (int64_t n = 1; ierr; n += 1 + n / 8) {
    ritz_memory_fail_at(n);
    ierr = RitzPreconditionerCreateMultigrid(ceed, 3, h.levels, &options, &pc);
    ritz_memory_fail_at(0);
    CHECK(!ierr == !!pc, "allocation %lld: code %d", (long long)n, ierr);
    CHECK(n < 100000, "it never succeeds");
  }
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(hand_close(&h));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Views ----

TEST(views_show_a_line_for_each_level) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridKit k;
  Capture capture;
  int64_t bytes = 0;
  RitzPreconditioner jacobi = NULL;
  CeedOperator op = NULL;
  CHECK_OK(kit_open(ceed, &small_case, &k));
  FILE *stream = capture_begin(&capture);
  CHECK_OK(RitzPreconditionerViewLevels(k.pc, stream));
  fclose(stream);
  CHECK(strstr(capture.text, "multigrid: V(1,1)-cycle in FP"), "%s", capture.text);
  CHECK(strstr(capture.text, "Chebyshev, Jacobi"), "%s", capture.text);
  CHECK(strstr(capture.text, "\n    2  ") && strstr(capture.text, "\n    0  "), "%s", capture.text);
  free(capture.text);
  CHECK_OK(RitzPreconditionerGetBytes(k.pc, &bytes));
  // On the finest level a residual and the inverse diagonal at least.
  CHECK(bytes > 2 * (int64_t)k.n * (int64_t)sizeof(CeedScalar), "%lld bytes", (long long)bytes);
  CHECK_ERROR(ceed, RitzPreconditionerGetMultigridLevel(k.pc, 3, &op, NULL), CEED_ERROR_DIMENSION,
              "level 3 of 3");
  CHECK_OK(RitzPreconditionerCreateOperatorJacobi(k.op, k.fixed, &jacobi));
  CHECK_ERROR(ceed, RitzPreconditionerViewLevels(jacobi, stdout), CEED_ERROR_INCOMPATIBLE,
              "needed multigrid");
  CHECK_OK(RitzPreconditionerDestroy(&jacobi));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

static void apply_counted(void) {
  setenv("RITZ_PROFILE", "1", 1);
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridKit k;
  Forms f;
  if (kit_open(ceed, &small_case, &k) || forms_of(&k, &f)) _exit(1);
  if (RitzPreconditionerViewLevels(k.pc, stderr) || kit_close(&k) || CeedDestroy(&ceed)) _exit(1);
  exit(0);
}

// In functions that return something.
static void must(int code) { CHECK_OK(code); }

// Flops of the Schwarz method's operator: from nodes to modes and back, two numbers a point by a basis that
// does not count, as passive ones do not.
static double schwarz_flops(Ceed ceed, CeedInt degree, CeedInt num_elem, CeedElemRestriction rstr) {
  const CeedInt p = degree + 1;
  CeedBasis basis = NULL;
  CeedSize there = 0, back = 0, gather = 0, scatter = 0;

  must(CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, p, p, CEED_GAUSS, &basis));
  must(CeedBasisGetFlopsEstimate(basis, CEED_NOTRANSPOSE, CEED_EVAL_INTERP, false, 0, &there));
  must(CeedBasisGetFlopsEstimate(basis, CEED_TRANSPOSE, CEED_EVAL_INTERP, false, 0, &back));
  must(CeedElemRestrictionGetFlopsEstimate(rstr, CEED_NOTRANSPOSE, &gather));
  must(CeedElemRestrictionGetFlopsEstimate(rstr, CEED_TRANSPOSE, &scatter));
  must(CeedBasisDestroy(&basis));
  return (double)gather + (double)scatter + num_elem * (double)(there + back + 2 * p * p);
}

// What the table says.
static double work_of(RitzPreconditioner pc) {
  Capture capture;
  FILE *stream = capture_begin(&capture);
  double work = 0;

  must(RitzPreconditionerViewLevels(pc, stream));
  fclose(stream);
  const char *found = strstr(capture.text, "; work ");
  must(!found || sscanf(found, "; work %lf applies", &work) != 1);
  free(capture.text);
  return work;
}

// Two levels, V(1,1) with k steps: k - 1 applies and k inverses before, one for the residual, k and k after.
TEST(work_of_a_cycle_counts_the_operators_of_smoothers) {
  enum { DEGREE = 4, NUM = 3, STEPS = 2 };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MultigridCase c = {.dim = 2, .n = NUM, .degree = DEGREE, .kind = RITZ_HIERARCHY_P, .max_levels = 2};
  CeedElemRestriction rstr = NULL;
  MultigridKit k;
  CeedSize flops = 0;

  c.options.chebyshev.degree = STEPS;
  for (int is_schwarz = 0; is_schwarz < 2; is_schwarz++) {
    c.options.smoother = is_schwarz ? RITZ_SMOOTHER_ELEMENT_SCHWARZ : RITZ_SMOOTHER_JACOBI;
    CHECK_OK(kit_open(ceed, &c, &k));
    CHECK_OK(RitzSpaceCreateRestriction(k.space, ceed, &rstr));
    CHECK_OK(CeedOperatorGetFlopsEstimate(k.op, &flops));
    const double inverse = is_schwarz ? schwarz_flops(ceed, DEGREE, NUM * NUM, rstr) / (double)flops : 0;
    // The table has one digit.
    CHECK_NEAR(work_of(k.pc), 2 * STEPS + 2 * STEPS * inverse, 0.051, "smoother %d", is_schwarz);
    CHECK(!is_schwarz || 2 * STEPS * inverse > 0.3, "inverses of %g applies", inverse);
    CHECK_OK(CeedElemRestrictionDestroy(&rstr));
    CHECK_OK(kit_close(&k));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(times_are_told_by_level_and_kind_of_work) {
  char text[32768];
  const int status = run_child(apply_counted, text, sizeof(text));
  const char *const wanted[] = {"multigrid level 2 smoothing ",
                                "multigrid level 1 residual ",
                                "multigrid level 1 transfer ",
                                "multigrid level 0 solve ",
                                "seconds by kind of work, 2 applications; one takes as long as ",
                                " residuals of the finest level"};
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d: %s", status, text);
  for (int i = 0; i < 6; i++) CHECK(strstr(text, wanted[i]), "no '%s' in\n%s", wanted[i], text);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(two_grid_error_is_that_of_the_dense_propagator, cycles_say_whether_they_are_symmetric,
            cycles_differ_from_three_levels_on, full_multigrid_reaches_the_error_of_discretization,
            iterations_on_a_deformed_box_are_few_and_independent_of_the_mesh,
            cycles_in_float_need_as_many_iterations, float_levels_serve_double_vectors,
            smoothers_of_every_kind_serve, jumps_of_the_coefficient_do_not_stop_convergence,
            neumann_problems_are_solved_up_to_constants, levels_that_do_not_fit_are_refused,
            functions_that_make_no_operator_end_the_creation, levels_of_several_precisions_are_refused,
            levels_by_hand_take_smoothers_and_solvers_of_the_caller, levels_survive_allocations_that_fail,
            views_show_a_line_for_each_level, work_of_a_cycle_counts_the_operators_of_smoothers,
            times_are_told_by_level_and_kind_of_work));
}
