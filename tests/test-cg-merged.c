// SPDX-License-Identifier: BSD-2-Clause
// Merged conjugate gradients against the standard variant: the same iterates, norms, iteration counts and
// reasons, on operators of several kinds, with and without preconditioner and constraints, up to every way in
// which a solve can end.
#include "base/memory.h"
#include "solver/solver.h"
#include "tests/cg-qfunctions.h"
#include "tests/gen-kit.h"
#include "tests/grid.h"
#include "tests/reference.h"
#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz/solver.h>

enum { MAX_STEPS = 400 };

// ---- A solver with everything around it ----

typedef struct {
  Ceed ceed; // owned, as all that follow
  CeedOperator op;
  CeedQFunctionContext context; // of `scale` operators
  CeedVector b, x;
  RitzSolver solver;
  CeedSize n;
  double *start; // what x is before a solve
  // What the monitor saw and does; a number < 0: never.
  int calls, stop_at, spoil_at, fail_at;
  double residuals[MAX_STEPS];
} Bench;

// How a solve ended.
typedef struct {
  RitzSolverReason reason;
  CeedInt iterations;
  double initial, final;
  int code;
  double *x; // owned
  double residuals[MAX_STEPS];
} Result;

static int failing_code; // what the function of `scale` operators without a text returns

static int set_factor(CeedQFunctionContext context, double factor) {
  return CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(factor), &factor);
}

static int monitor(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Bench *bench = ctx;

  if (iteration != bench->calls || *stop) return CEED_ERROR_MAJOR; // once an iteration, in order
  if (bench->calls < MAX_STEPS) bench->residuals[bench->calls] = residual;
  bench->calls++;
  *stop = iteration == bench->stop_at;
  if (iteration == bench->fail_at) failing_code = CEED_ERROR_ACCESS;
  return iteration == bench->spoil_at ? set_factor(bench->context, NAN) : 0;
}

// The operator has been made; b is random.
static int open_solver(Bench *bench, uint64_t seed) {
  CeedSize n = 0;
  double *b = NULL;

  CeedCall(CeedOperatorGetActiveVectorLengths(bench->op, &n, &n));
  bench->n = n;
  bench->stop_at = bench->spoil_at = bench->fail_at = -1;
  bench->start = reference_new(n);
  b = reference_new_random(n, &seed);
  bench->b = reference_vector(bench->ceed, n, b);
  bench->x = reference_vector(bench->ceed, n, bench->start);
  free(b);
  CeedCall(RitzSolverCreateCG(bench->ceed, &bench->solver));
  CeedCall(RitzSolverSetOperator(bench->solver, bench->op));
  return RitzSolverSetMonitor(bench->solver, monitor, bench);
}

static void close_bench(Bench *bench) {
  RitzSolverDestroy(&bench->solver);
  CeedVectorDestroy(&bench->b);
  CeedVectorDestroy(&bench->x);
  CeedOperatorDestroy(&bench->op);
  CeedQFunctionContextDestroy(&bench->context);
  CeedDestroy(&bench->ceed);
  free(bench->start);
}

static int set_values(CeedVector vec, const double *values) {
  CeedScalar *array = NULL;
  CeedSize n = 0;

  CeedCall(CeedVectorGetLength(vec, &n));
  CeedCall(CeedVectorGetArrayWrite(vec, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < n; i++) array[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(vec, &array);
}

// Solves with one variant and tells whether it was that one. Errors of the solve are part of the result.
static int solve(Bench *bench, RitzCGVariant variant, double rtol, double atol, CeedInt max_it, Result *r) {
  RitzCGVariant used = RITZ_CG_AUTO;

  *r = (Result){.code = 0};
  bench->calls = 0;
  failing_code = 0;
  if (bench->context) CeedCall(set_factor(bench->context, 1));
  CeedCall(set_values(bench->x, bench->start));
  CeedCall(RitzSolverSetVariant(bench->solver, variant));
  CeedCall(RitzSolverSetTolerances(bench->solver, rtol, atol, max_it));
  r->code = RitzSolverSolve(bench->solver, bench->b, bench->x);
  CeedCall(RitzSolverGetReason(bench->solver, &r->reason));
  CeedCall(RitzSolverGetIterations(bench->solver, &r->iterations));
  CeedCall(RitzSolverGetResidual(bench->solver, &r->initial, &r->final));
  CeedCall(RitzSolverGetVariantUsed(bench->solver, &used, NULL));
  r->x = reference_new_values(bench->x);
  memcpy(r->residuals, bench->residuals, sizeof(r->residuals));
  return used == variant ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// Both variants end in the same way; iterates differ by tol times the size of x, norms by tol |r_0|.
static void compare(Bench *bench, double rtol, double atol, CeedInt max_it, double tol, const char *what) {
  Result s, m;

  CHECK_OK(solve(bench, RITZ_CG_STANDARD, rtol, atol, max_it, &s));
  CHECK_OK(solve(bench, RITZ_CG_MERGED, rtol, atol, max_it, &m));
  CHECK(m.reason == s.reason && m.iterations == s.iterations && m.code == s.code,
        "%s: %d iterations, reason %d, code %d; standard: %d, %d, %d", what, (int)m.iterations, (int)m.reason,
        m.code, (int)s.iterations, (int)s.reason, s.code);
  const double size = fmax(reference_largest(bench->n, s.x), reference_largest(bench->n, bench->start));
  CHECK_NEAR(reference_distance(bench->n, m.x, s.x), 0, tol * size, "%s: iterate %d", what,
             (int)s.iterations);
  for (int k = 0; k <= s.iterations && k < MAX_STEPS && isfinite(s.residuals[k]); k++)
    CHECK_NEAR(m.residuals[k], s.residuals[k], tol * s.initial, "%s: norm %d of %d", what, k,
               (int)s.iterations);
  CHECK(m.initial == s.initial || isnan(s.initial), "%s: first norm", what);
  if (isfinite(s.final)) CHECK_NEAR(m.final, s.final, tol * s.initial, "%s: last norm", what);
  free(s.x);
  free(m.x);
}

// ---- Operators on a grid ----

typedef enum { MASS, LAPLACIAN, HELMHOLTZ, NUM_KINDS } Kind; // the last one is a composite of both

enum { N = 7, DEGREE = 3, DIM = 2, N_1D = N * DEGREE + 1 };

static int create_grid_operator(Ceed ceed, Kind kind, CeedOperator *op) {
  double corners[N * N * DIM * 4];
  const GridElements elements = {DIM, N * N, corners};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  int ierr = 0;

  grid_corners(DIM, N, 0.15, corners);
  CeedCall(grid_create_restriction(ceed, DIM, N, DEGREE, 1, &rstr));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, DIM, 1, DEGREE + 1, DEGREE + 2, CEED_GAUSS, &basis));
  if (kind == HELMHOLTZ) ierr = CeedOperatorCreateComposite(ceed, op);
  for (int k = MASS; k <= LAPLACIAN && !ierr; k++) {
    CeedOperator sub = NULL;
    if (kind != HELMHOLTZ && (int)kind != k) continue;
    ierr = grid_create_operator(ceed, &elements, DEGREE + 2, k == LAPLACIAN, rstr, basis, &sub);
    if (!ierr && kind == HELMHOLTZ) ierr = CeedOperatorCompositeAddSub(*op, sub);
    if (kind == HELMHOLTZ) {
      CeedOperatorDestroy(&sub);
    } else {
      *op = sub;
    }
  }
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int open_grid(Bench *bench, const char *resource, Kind kind) {
  *bench = (Bench){.ceed = tap_ceed(resource)};
  CeedCall(create_grid_operator(bench->ceed, kind, &bench->op));
  return open_solver(bench, 5 + (uint64_t)kind);
}

static int set_jacobi(Bench *bench) {
  CeedVector diagonal = NULL;

  CeedCall(CeedVectorCreate(bench->ceed, bench->n, &diagonal));
  CeedCall(CeedOperatorLinearAssembleDiagonal(bench->op, diagonal, CEED_REQUEST_IMMEDIATE));
  CeedCall(RitzSolverSetJacobi(bench->solver, diagonal));
  return CeedVectorDestroy(&diagonal);
}

// The boundary, in any order, where x has values other than zero.
static int set_boundary(Bench *bench) {
  int64_t entries[4 * N_1D];
  int64_t num = 0;

  for (int64_t i = N_1D - 1; i >= 0; i--) {
    const int64_t boundary[4] = {i, i * N_1D, (int64_t)(N_1D - 1) * N_1D + i, i * N_1D + N_1D - 1};
    for (int k = 0; k < 4; k++) {
      entries[num++] = boundary[k];
      bench->start[boundary[k]] = 0.01 * (double)(boundary[k] % 7) - 0.02;
    }
  }
  return RitzSolverSetConstraints(bench->solver, num, entries);
}

static const char *const resources[] = {"/cpu/self/gen:threads=1", "/cpu/self/gen:threads=2",
                                        "/cpu/self/gen:deterministic:threads=2"};
enum { NUM_RESOURCES = sizeof(resources) / sizeof(resources[0]) };

// Condition numbers of these operators, roughly, with the boundary held; rounding errors of the iterates stay
// below a small multiple of eps times these before CG has converged.
static const double condition[NUM_KINDS] = {300, 1000, 1000};

static void check_grid(const char *resource, Kind kind, bool has_jacobi, bool has_constraints) {
  static const char *const names[NUM_KINDS] = {"mass", "Laplacian", "Helmholtz"};
  static const CeedInt limits[] = {0, 1, 2, 3, 4, 7, 12};
  const double tol = 20 * condition[kind] * eps;
  Bench bench;
  char what[80];

  snprintf(what, sizeof(what), "%s: %s%s%s", resource, names[kind], has_jacobi ? ", Jacobi" : "",
           has_constraints ? ", constraints" : "");
  CHECK_OK(open_grid(&bench, resource, kind));
  if (has_jacobi) CHECK_OK(set_jacobi(&bench));
  if (has_constraints) CHECK_OK(set_boundary(&bench));
  for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !tap_failed(); i++)
    compare(&bench, 0, 0, limits[i], tol, what);
  // After many iterations CG forgets its first directions, each variant in its own way; the error is small
  // all the same.
  const double rtol = sizeof(CeedScalar) == 4 ? 1e-3 : 1e-7;
  const bool is_well_posed = has_jacobi || has_constraints;
  if (!tap_failed() && is_well_posed) compare(&bench, rtol, 0, 1000, condition[kind] * rtol, what);
  if (!tap_failed())
    compare(&bench, 0, sizeof(CeedScalar) == 4 ? 3 : 0.3, 1000, condition[kind] * rtol, what);
  close_bench(&bench);
}

TEST(iterates_and_norms_are_those_of_the_standard_variant) {
  GEN_NEEDS_COMPILER();
  for (int r = 0; r < NUM_RESOURCES; r++) {
    for (int k = 0; k < 4 * NUM_KINDS && !tap_failed(); k++) {
      // The Laplacian is regular with constraints alone.
      if (k / 4 == LAPLACIAN && !(k & 2)) continue;
      if (r > 0 && k != 4 * NUM_KINDS - 1 && tap_level() == TAP_QUICK) continue;
      check_grid(resources[r], (Kind)(k / 4), k & 1, k & 2);
    }
  }
}

TEST(residuals_below_rounding_are_those_of_x) {
  GEN_NEEDS_COMPILER();
  for (int r = 0; r < NUM_RESOURCES && !tap_failed(); r++) {
    Bench bench;
    Result m;
    CHECK_OK(open_grid(&bench, resources[r], MASS));
    CHECK_OK(set_jacobi(&bench));
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, eps / 1000, 0, 1000, &m));
    CeedVector image = reference_vector(bench.ceed, bench.n, m.x);
    double sum = 0, *b = reference_new_values(bench.b), *y = NULL;
    const int ierr = CeedOperatorApply(bench.op, bench.x, image, CEED_REQUEST_IMMEDIATE);
    y = reference_new_values(image);
    for (CeedSize i = 0; i < bench.n; i++) sum += (b[i] - y[i]) * (b[i] - y[i]);
    free(b);
    free(y);
    free(m.x);
    CeedVectorDestroy(&image);
    close_bench(&bench);
    CHECK_OK(ierr);
    CHECK(m.reason == RITZ_CONVERGED_ROUNDING && m.iterations < 200, "%s: reason %d after %d", resources[r],
          (int)m.reason, (int)m.iterations);
    // b - A x is computed anew here, which rounds anew where threads add in any order.
    CHECK_NEAR(m.final, sqrt(sum), 20 * eps * m.initial, "%s: the residual told", resources[r]);
    CHECK_NEAR(sqrt(sum), 0, 200 * eps * m.initial, "%s: the residual", resources[r]);
  }
}

TEST(solves_repeat_bit_for_bit) {
  GEN_NEEDS_COMPILER();
  Result results[4] = {0};

  // Two on two threads, and with a fixed order of additions on one and on two.
  for (int k = 0; k < 4; k++) {
    static const char *const on[] = {"/cpu/self/gen:threads=2", "/cpu/self/gen:threads=2",
                                     "/cpu/self/gen:deterministic:threads=1",
                                     "/cpu/self/gen:deterministic:threads=2"};
    Bench bench;
    CHECK_OK(open_grid(&bench, on[k], HELMHOLTZ));
    CHECK_OK(set_jacobi(&bench));
    CHECK_OK(set_boundary(&bench));
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1e-5, 0, 1000, &results[k]));
    if (k % 2) {
      const Result *other = &results[k - 1];
      CHECK(!memcmp(results[k].x, other->x, (size_t)bench.n * sizeof(double)) &&
                !memcmp(results[k].residuals, other->residuals,
                        (size_t)(other->iterations + 1) * sizeof(double)),
            "%s and %s differ", on[k - 1], on[k]);
    }
    close_bench(&bench);
  }
  for (int k = 0; k < 4; k++) free(results[k].x);
}

// ---- Diagonal operators: A u = factor d u, with the factor in the context or a code to return ----

static int scale_or_fail(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  CgScale(ctx, Q, in, out);
  return failing_code;
}

// d [n], n even: two nodes an element, which nobody shares. With a text or with a pointer alone.
static int create_diagonal_operator(Bench *bench, CeedInt n, const double *d, bool has_text) {
  const CeedScalar interp[4] = {1, 0, 0, 1}, grad[4] = {-1, 1, -1, 1}, weights[2] = {1, 1};
  CeedInt *offsets = calloc((size_t)n, sizeof(*offsets));
  Ceed ceed = bench->ceed;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  CeedVector qd = reference_vector(ceed, n, d);

  for (CeedInt i = 0; i < n; i++) offsets[i] = i;
  CeedCall(
      CeedElemRestrictionCreate(ceed, n / 2, 2, 1, 1, n, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr));
  free(offsets);
  CeedCall(CeedBasisCreateTensorH1(ceed, 1, 1, 2, 2, interp, grad, NULL, weights, &basis));
  CeedCall(CeedQFunctionCreateInterior(ceed, 1, has_text ? CgScale : scale_or_fail,
                                       has_text ? CgScale_loc : "", &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(qf, "d", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT));
  CeedCall(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(ceed, &bench->context));
  CeedCall(set_factor(bench->context, 1));
  CeedCall(CeedQFunctionSetContext(qf, bench->context));
  CeedCall(CeedQFunctionSetContextWritable(qf, false));
  CeedCall(CeedOperatorCreate(ceed, qf, NULL, NULL, &bench->op));
  CeedCall(CeedOperatorSetField(bench->op, "u", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(bench->op, "d", rstr, basis, qd));
  CeedCall(CeedOperatorSetField(bench->op, "w", CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE));
  CeedCall(CeedOperatorSetField(bench->op, "v", rstr, basis, CEED_VECTOR_ACTIVE));
  CeedVectorDestroy(&qd);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  return CeedElemRestrictionDestroy(&rstr);
}

enum { NUM_DIAGONAL = 700 };

// Entries d[i] = values[i % num].
static int open_diagonal(Bench *bench, int num, const double *values, bool has_text) {
  double d[NUM_DIAGONAL];

  *bench = (Bench){.ceed = tap_ceed("/cpu/self/gen:threads=2")};
  for (int i = 0; i < NUM_DIAGONAL; i++) d[i] = values[i % num];
  CeedCall(create_diagonal_operator(bench, NUM_DIAGONAL, d, has_text));
  return open_solver(bench, 77);
}

TEST(k_distinct_eigenvalues_need_k_iterations_though_predictions_cancel) {
  static const double values[] = {1, 3, 0.5, 7, 2, 11};
  GEN_NEEDS_COMPILER();

  for (int k = 1; k <= 6; k++) {
    Bench bench;
    Result r;
    CHECK_OK(open_diagonal(&bench, k, values, true));
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1000 * eps, 0, 100, &r));
    CHECK(r.reason == RITZ_CONVERGED_RTOL || r.reason == RITZ_CONVERGED_ATOL, "k = %d: reason %d", k,
          (int)r.reason);
    CHECK(r.iterations == k, "k = %d: %d iterations", k, (int)r.iterations);
    free(r.x);
    // Nothing but the limit stops it: what cancels is exact.
    compare(&bench, 0, 0, k, 1000 * eps, "limit k");
    if (tap_failed()) return;
    close_bench(&bench);
  }
}

TEST(scale_of_the_right_hand_side_does_not_matter) {
  const int exponent = sizeof(CeedScalar) == 4 ? 100 : 900;
  static const double values[] = {1, 3, 0.5, 7, 2, 11};
  GEN_NEEDS_COMPILER();
  Bench bench;
  Result plain, scaled;
  double *b = NULL;

  CHECK_OK(open_diagonal(&bench, 6, values, true));
  CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1e-3, 0, 100, &plain));
  b = reference_new_values(bench.b);
  for (int sign = -1; sign <= 1; sign += 2) {
    for (CeedSize i = 0; i < bench.n; i++) b[i] = ldexp(b[i], sign * exponent);
    CHECK_OK(set_values(bench.b, b));
    for (CeedSize i = 0; i < bench.n; i++) b[i] = ldexp(b[i], -sign * exponent);
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1e-3, 0, 100, &scaled));
    CHECK(scaled.iterations == plain.iterations, "%d iterations", (int)scaled.iterations);
    // Powers of two: every operation rounds as before.
    for (CeedSize i = 0; i < bench.n; i++)
      CHECK(scaled.x[i] == ldexp(plain.x[i], sign * exponent), "entry %d", (int)i);
    free(scaled.x);
  }
  free(b);
  free(plain.x);
  close_bench(&bench);
}

TEST(zero_right_hand_side_is_solved_by_zero_iterations) {
  static const double values[] = {1, 2};
  GEN_NEEDS_COMPILER();
  Bench bench;
  Result r;

  CHECK_OK(open_diagonal(&bench, 2, values, true));
  CHECK_OK(CeedVectorSetValue(bench.b, 0));
  CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1e-8, 0, 100, &r));
  CHECK(r.reason == RITZ_CONVERGED_ATOL && r.iterations == 0, "reason %d, %d iterations", (int)r.reason,
        (int)r.iterations);
  free(r.x);
  close_bench(&bench);
}

// Few entries are negative: the first directions do not see it.
TEST(indefinite_operators_end_as_in_the_standard_variant) {
  GEN_NEEDS_COMPILER();
  for (int k = 2; k <= 6; k++) {
    double values[100];
    Bench bench;
    Result r;
    for (int i = 0; i < 100; i++) values[i] = 1 + i % k;
    values[50] = -0.02;
    CHECK_OK(open_diagonal(&bench, 100, values, true));
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 0, 0, 100, &r));
    CHECK(r.reason == RITZ_DIVERGED_INDEFINITE && r.iterations >= 1, "reason %d after %d iterations",
          (int)r.reason, (int)r.iterations);
    free(r.x);
    // The step before is long, 1 / 0.02 or more, and as inexact as that.
    compare(&bench, 0, 0, 100, 1e4 * eps, "indefinite");
    if (tap_failed()) return;
    close_bench(&bench);
  }
}

TEST(nan_never_reaches_x_and_the_iterate_before_it_stays) {
  static const double values[] = {1, 3, 0.5, 7, 2, 11};
  GEN_NEEDS_COMPILER();
  Bench bench;

  CHECK_OK(open_diagonal(&bench, 6, values, true));
  for (int k = 0; k < 5; k++) {
    Result r, limited;
    bench.spoil_at = k; // the operator gives NaN from now on
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 0, 0, 100, &r));
    CHECK(r.reason == RITZ_DIVERGED_NAN && r.iterations == k, "NaN after %d iterations: reason %d after %d",
          k, (int)r.reason, (int)r.iterations);
    compare(&bench, 0, 0, 100, 1000 * eps, "NaN");
    if (tap_failed()) return;
    bench.spoil_at = -1;
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 0, 0, k, &limited));
    CHECK_NEAR(reference_distance(bench.n, r.x, limited.x), 0, 100 * eps, "%d iterations", k);
    free(r.x);
    free(limited.x);
  }
  close_bench(&bench);
}

TEST(a_stop_by_the_monitor_leaves_the_iterate_it_saw) {
  static const double values[] = {1, 3, 0.5, 7, 2, 11};
  GEN_NEEDS_COMPILER();
  Bench bench;

  CHECK_OK(open_diagonal(&bench, 6, values, true));
  for (int k = 0; k < 5; k++) {
    bench.stop_at = k;
    compare(&bench, 0, 0, 100, 1000 * eps, "stop");
    if (tap_failed()) return;
  }
  close_bench(&bench);
}

TEST(bad_diagonals_are_noticed) {
  static const double bad[] = {0, -1, NAN, INFINITY}, values[] = {1, 2};
  GEN_NEEDS_COMPILER();
  Bench bench;
  double *d = NULL;

  CHECK_OK(open_diagonal(&bench, 2, values, true));
  d = reference_new(bench.n);
  for (int k = 0; k < 4; k++) {
    for (CeedSize i = 0; i < bench.n; i++) d[i] = i == 99 ? bad[k] : 1;
    CeedVector diagonal = reference_vector(bench.ceed, bench.n, d);
    CHECK_OK(RitzSolverSetJacobi(bench.solver, diagonal));
    CeedVectorDestroy(&diagonal);
    compare(&bench, 1e-8, 0, 100, 0, "bad diagonal");
    if (tap_failed()) return;
  }
  free(d);
  close_bench(&bench);
}

TEST(errors_of_the_operator_are_passed_on_and_x_is_an_iterate) {
  static const double values[] = {1, 3, 0.5, 7, 2, 11};
  GEN_NEEDS_COMPILER();
  Bench bench;
  Result iterates[6];

  CHECK_OK(open_diagonal(&bench, 6, values, false));
  for (int k = 0; k < 6; k++) CHECK_OK(solve(&bench, RITZ_CG_MERGED, 0, 0, k, &iterates[k]));
  for (int k = 0; k < 6; k++) {
    Result r;
    bench.fail_at = k;
    CHECK_OK(solve(&bench, RITZ_CG_MERGED, 0, 0, 100, &r));
    CHECK(r.code == CEED_ERROR_BACKEND || r.code == CEED_ERROR_ACCESS, "code %d", r.code);
    CHECK(r.reason == RITZ_ITERATING, "reason %d after an error", (int)r.reason);
    const double last = reference_distance(bench.n, r.x, iterates[k].x);
    const double before = reference_distance(bench.n, r.x, iterates[k ? k - 1 : 0].x);
    CHECK_NEAR(fmin(last, before), 0, 100 * eps, "x is none of the last two iterates after %d", k);
    free(r.x);
  }
  for (int k = 0; k < 6; k++) free(iterates[k].x);
  close_bench(&bench);
}

TEST(every_failing_allocation_is_reported_and_leaves_nothing_behind) {
  static const double values[] = {1, 2, 3};
  const int64_t entry = 3;
  GEN_NEEDS_COMPILER();
  Bench bench;
  Result r;
  int failures = 0;

  CHECK_OK(open_diagonal(&bench, 3, values, true));
  CHECK_OK(set_jacobi(&bench));
  CHECK_OK(RitzSolverSetConstraints(bench.solver, 1, &entry));
  CHECK_OK(solve(&bench, RITZ_CG_MERGED, 1e-5, 0, 100, &r));
  free(r.x);
  CHECK_OK(ritz_workspace_clear(&bench.solver->work));
  const int64_t live = ritz_memory_live();
  for (int n = 1; n < 100; n++) {
    CHECK_OK(set_values(bench.x, bench.start));
    bench.calls = 0;
    ritz_memory_fail_at(n);
    const int ierr = RitzSolverSolve(bench.solver, bench.b, bench.x);
    ritz_memory_fail_at(0);
    CHECK_OK(ritz_workspace_clear(&bench.solver->work)); // what a solver keeps for the next solve
    CHECK(ritz_memory_live() == live, "allocation %d: %d more are left", n, (int)(ritz_memory_live() - live));
    if (!ierr) break;
    failures++;
  }
  CHECK(failures >= 5, "%d allocations failed: r, p, q, the inverse diagonal and the list of constraints",
        failures);
  for (int again = 0; again < 2; again++) { // a second solve allocates nothing
    CHECK_OK(set_values(bench.x, bench.start));
    bench.calls = 0;
    ritz_memory_fail_at(again);
    const int ierr = RitzSolverSolve(bench.solver, bench.b, bench.x);
    ritz_memory_fail_at(0);
    CHECK_OK(ierr);
  }
  close_bench(&bench);
}

// ---- The choice ----

static int copy_vector(void *ctx, CeedVector x, CeedVector y) {
  (void)ctx;
  return CeedVectorCopy(x, y);
}

static void check_choice(RitzSolver solver, CeedVector b, CeedVector x, RitzCGVariant variant,
                         const char *fragment) {
  RitzCGVariant used = RITZ_CG_AUTO;
  const char *reason = NULL;

  CHECK_OK(RitzSolverSetVariant(solver, RITZ_CG_AUTO));
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_OK(RitzSolverSolve(solver, b, x));
  CHECK_OK(RitzSolverGetVariantUsed(solver, &used, &reason));
  CHECK(used == variant, "variant %d", (int)used);
  CHECK(fragment ? reason && strstr(reason, fragment) : !reason, "reason '%s'", reason ? reason : "none");
}

TEST(operators_are_merged_where_they_can_be) {
  static const double values[] = {1, 2};
  GEN_NEEDS_COMPILER();
  Bench bench;

  CHECK_OK(open_diagonal(&bench, 2, values, true));
  check_choice(bench.solver, bench.b, bench.x, RITZ_CG_MERGED, NULL);
  if (tap_failed()) return;
  CHECK_OK(RitzSolverSetMonitor(bench.solver, NULL, NULL));
  CHECK_OK(RitzSolverSetApply(bench.solver, copy_vector, NULL));
  check_choice(bench.solver, bench.b, bench.x, RITZ_CG_STANDARD, "function of the program");
  if (tap_failed()) return;
  CHECK_OK(RitzSolverSetVariant(bench.solver, RITZ_CG_MERGED));
  CHECK_ERROR(bench.ceed, RitzSolverSolve(bench.solver, bench.b, bench.x), CEED_ERROR_UNSUPPORTED,
              "function of the program");
  CHECK_ERROR(bench.ceed, RitzSolverSetVariant(bench.solver, (RitzCGVariant)7), CEED_ERROR_INCOMPATIBLE,
              "variant 7");
  CHECK_OK(RitzSolverGetVariantUsed(bench.solver, NULL, NULL));
  CHECK_ERROR(NULL, RitzSolverSetVariant(NULL, RITZ_CG_AUTO), CEED_ERROR_INCOMPATIBLE, "solver is NULL");
  CHECK_ERROR(NULL, RitzSolverGetVariantUsed(NULL, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "solver is NULL");
  close_bench(&bench);
}

TEST(an_operator_that_reads_x_is_not_merged) {
  GEN_NEEDS_COMPILER();
  double d[4] = {2, 2, 2, 2};
  Bench bench = {.ceed = tap_ceed("/cpu/self/gen")};
  CeedOperatorField *fields = NULL;
  CeedInt num = 0;
  CeedVector qd = NULL;

  CHECK_OK(create_diagonal_operator(&bench, 4, d, true));
  CHECK_OK(open_solver(&bench, 1));
  CHECK_OK(CeedOperatorGetFields(bench.op, &num, &fields, NULL, NULL));
  CHECK_OK(CeedOperatorFieldGetVector(fields[1], &qd));
  CHECK_OK(RitzSolverSetVariant(bench.solver, RITZ_CG_MERGED));
  CHECK_ERROR(bench.ceed, RitzSolverSolve(bench.solver, bench.b, qd), CEED_ERROR_UNSUPPORTED,
              "vector of the solution");
  CeedVectorDestroy(&qd);
  close_bench(&bench);
}

TEST(other_backends_do_it_in_the_standard_way_and_say_so) {
  Bench bench = {.ceed = tap_ceed("/cpu/self/ref")};
  const double d[4] = {1, 2, 3, 4};

  CHECK_OK(create_diagonal_operator(&bench, 4, d, true));
  CHECK_OK(open_solver(&bench, 1));
  check_choice(bench.solver, bench.b, bench.x, RITZ_CG_STANDARD, "backend");
  if (tap_failed()) return;
  CHECK_OK(RitzSolverSetVariant(bench.solver, RITZ_CG_MERGED));
  CHECK_ERROR(bench.ceed, RitzSolverSolve(bench.solver, bench.b, bench.x), CEED_ERROR_UNSUPPORTED, "backend");
  close_bench(&bench);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(iterates_and_norms_are_those_of_the_standard_variant, residuals_below_rounding_are_those_of_x,
            solves_repeat_bit_for_bit, k_distinct_eigenvalues_need_k_iterations_though_predictions_cancel,
            scale_of_the_right_hand_side_does_not_matter, zero_right_hand_side_is_solved_by_zero_iterations,
            indefinite_operators_end_as_in_the_standard_variant,
            nan_never_reaches_x_and_the_iterate_before_it_stays,
            a_stop_by_the_monitor_leaves_the_iterate_it_saw, bad_diagonals_are_noticed,
            errors_of_the_operator_are_passed_on_and_x_is_an_iterate,
            every_failing_allocation_is_reported_and_leaves_nothing_behind,
            operators_are_merged_where_they_can_be, an_operator_that_reads_x_is_not_merged,
            other_backends_do_it_in_the_standard_way_and_say_so));
}
