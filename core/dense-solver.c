// SPDX-License-Identifier: BSD-2-Clause
// Dense solver: objects, what is set, calls and their checks, reports. Factorizations are in
// core/dense-factor.c and dense-route.c, refinement in core/dense-refine.c, numbers behind the methods of
// core/dense-solver.h.
#include "core/dense-solver.h"

#include <math.h>

#include "core/vector.h"

const RitzClass ritz_dense_solver_class = {.name = "RitzDenseSolver"};

// ---- Names ----

const char *RitzDensePrecisionName(RitzDensePrecision precision) {
  static const char *const names[] = {"auto", "f64", "f32", "tf32x3", "tf32", "bf16", "f16"};
  return (int)precision >= 0 && (size_t)precision < sizeof(names) / sizeof(names[0]) ? names[precision]
                                                                                     : NULL;
}

const char *RitzDenseRefinementName(RitzDenseRefinement refinement) {
  static const char *const names[] = {"auto", "none", "classical", "gmres"};
  return (int)refinement >= 0 && (size_t)refinement < sizeof(names) / sizeof(names[0]) ? names[refinement]
                                                                                       : NULL;
}

// ---- Life ----

static void forget_matrix(RitzDenseSolver s) {
  (void)CeedVectorDestroy(&s->A_vector);
  s->A = NULL;
  s->ld = 0;
  s->report.precision = RITZ_DENSE_AUTO;
  s->report.route = RITZ_DENSE_ROUTE_AUTO;
  s->report.library = NULL;
}

static int destroy_dense_solver(RitzDenseSolver s) {
  int ierr = CEED_ERROR_SUCCESS;
  forget_matrix(s);
  if (s->data) {
    s->methods->free(s, &s->vectors);
    s->methods->free(s, &s->basis);
    ierr = s->methods->destroy(s);
  }
  ierr = ritz_first_error(ierr, CeedDestroy(&s->ceed));
  RITZ_FREE(&s);
  return ierr;
}

// Backends of the host without methods are served by their fallback.
static int find_methods(RitzDenseSolver s) {
  const RitzBackend *backend = &s->ceed->backend;
  while (backend && !backend->dense) backend = backend->mem_type == CEED_MEM_HOST ? backend->fallback : NULL;
  RITZ_REQUIRE(backend, s->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzDenseSolverCreate: the context %s has no dense solver", s->ceed->resource);
  s->methods = backend->dense;
  return CEED_ERROR_SUCCESS;
}

static int setup(RitzDenseSolver s) {
  RITZ_TRY(find_methods(s));
  RITZ_TRY(s->methods->create(s));
  return s->methods->alloc(s, RITZ_DENSE_NUM_VECTORS * s->stride, &s->vectors);
}

int RitzDenseSolverCreate(Ceed ceed, int64_t n, RitzDenseSolver *solver) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, solver);
  RITZ_REQUIRE(n >= 0 && n < INT64_C(1) << 31, ceed, CEED_ERROR_DIMENSION,
               "%s: order %lld, needed 0 to 2^31 - 1", __func__, (long long)n);
  RitzDenseSolver created = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  created->n = created->stride = n;
  created->max_iterations = 50;
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (!ierr) ierr = setup(created);
  if (ierr) {
    (void)destroy_dense_solver(created);
    return ierr;
  }
  created->class = &ritz_dense_solver_class;
  *solver = created;
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverDestroy(RitzDenseSolver *solver) {
  if (!solver || !*solver) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "solver", *solver, &ritz_dense_solver_class));
  RitzDenseSolver s = *solver;
  *solver = NULL;
  return destroy_dense_solver(s);
}

// ---- What is set ----

int RitzDenseSolverSetFactorPrecision(RitzDenseSolver solver, RitzDensePrecision precision) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(RitzDensePrecisionName(precision), solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: precision %d, needed 0 to %d", __func__, (int)precision, (int)RITZ_DENSE_F16);
  solver->wanted = precision;
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverSetRefinement(RitzDenseSolver solver, RitzDenseRefinement refinement) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(RitzDenseRefinementName(refinement), solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: refinement %d, needed 0 to %d", __func__, (int)refinement, (int)RITZ_REFINEMENT_GMRES);
  solver->refinement = refinement;
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverSetTolerance(RitzDenseSolver solver, double tolerance) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(tolerance >= 0 && isfinite(tolerance), solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: tolerance %g, needed at least 0 and finite (0: sqrt(n) 2^-53)", __func__, tolerance);
  solver->tolerance = tolerance;
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverSetMaxIterations(RitzDenseSolver solver, CeedInt max_iterations) {
  RITZ_HANDLE(solver);
  RITZ_REQUIRE(max_iterations >= 0, solver->ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " iterations, needed at least 0", __func__, max_iterations);
  solver->max_iterations = max_iterations;
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverSetSymmetricPositive(RitzDenseSolver solver, bool is_symmetric_positive) {
  RITZ_HANDLE(solver);
  solver->wants_symmetric = is_symmetric_positive;
  return CEED_ERROR_SUCCESS;
}

// ---- Factor ----

// Entries of a column-major matrix from its first to its last.
static int64_t num_entries(int64_t n, int64_t ld, int64_t num_columns) {
  return n > 0 && num_columns > 0 ? ld * (num_columns - 1) + n : 0;
}

static int check_ld(RitzDenseSolver s, const char *call, int64_t ld) {
  RITZ_REQUIRE(ld >= s->n, s->ceed, CEED_ERROR_DIMENSION,
               "%s: the leading dimension is %lld, needed at least the order %lld", call, (long long)ld,
               (long long)s->n);
  RITZ_REQUIRE((double)ld * (double)s->n < 1e17, s->ceed, CEED_ERROR_DIMENSION,
               "%s: the matrix has %g entries, needed less than 1e17", call, (double)ld * (double)s->n);
  return CEED_ERROR_SUCCESS;
}

// Memory of the caller, of so many doubles; none is needed where there is none to be read.
static int check_memory(RitzDenseSolver s, const char *call, const char *name, int64_t num, const void *p) {
  const RitzBackend *backend = &s->ceed->backend;
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(p, s->ceed, CEED_ERROR_INCOMPATIBLE, "%s: %s is NULL, needed %lld doubles", call, name,
               (long long)num);
  if (backend->mem_type != CEED_MEM_DEVICE || !backend->rep_accept) return CEED_ERROR_SUCCESS;
  return backend->rep_accept(s->ceed, call, RITZ_REP_DEVICE, (size_t)num * sizeof(double), false, p);
}

// s->A is there.
static int factor_matrix(RitzDenseSolver s, const char *call) {
  bool is_finite = true;
  const RitzDensePrecision asked = ritz_dense_wanted_precision(s);
  s->is_symmetric = s->wants_symmetric;
  s->report = (RitzDenseReport){.asked = asked};
  RITZ_TRY(ritz_dense_check_route(s, call, asked));
  if (s->n > 0) RITZ_TRY(s->methods->measure(s, &is_finite));
  RITZ_REQUIRE(is_finite, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the matrix has entries that are not finite, or sums of a row that are not", call);
  s->report.precision = asked;
  return s->n > 0 ? ritz_dense_factorize(s, call) : CEED_ERROR_SUCCESS;
}

int RitzDenseSolverFactor(RitzDenseSolver solver, const double *A, int64_t ld) {
  RITZ_HANDLE(solver);
  RITZ_TRY(check_ld(solver, __func__, ld));
  RITZ_TRY(check_memory(solver, __func__, "A", num_entries(solver->n, ld, solver->n), A));
  forget_matrix(solver);
  solver->A = A;
  solver->ld = ld;
  return factor_matrix(solver, __func__);
}

// ---- Vectors ----

static int check_vector(RitzDenseSolver s, const char *call, const char *name, CeedVector vec, int64_t num) {
  RITZ_REQUIRE(vec->precision == CEED_SCALAR_FP64, s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %s has entries in %s, needed double", call, name, ritz_precision_name(vec->precision));
  RITZ_REQUIRE(vec->length >= num, s->ceed, CEED_ERROR_DIMENSION,
               "%s: %s has %lld entries, needed at least %lld", call, name, (long long)vec->length,
               (long long)num);
  RITZ_REQUIRE(vec->obj.ceed == s->ceed || s->ceed->backend.mem_type == CEED_MEM_HOST, s->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %s belongs to another context, needed one of the solver's", call,
               name);
  return CEED_ERROR_SUCCESS;
}

static int lock(RitzDenseSolver s, CeedVector vec, RitzAccess access, void **p) {
  return ritz_vector_lock(vec, access, s->ceed->backend.mem_type, p);
}

int RitzDenseSolverFactorVector(RitzDenseSolver solver, CeedVector A, int64_t ld) {
  RITZ_HANDLE(solver, A);
  RITZ_ARGUMENT(solver->ceed, A);
  void *entries;
  RITZ_TRY(check_ld(solver, __func__, ld));
  RITZ_TRY(check_vector(solver, __func__, "A", A, num_entries(solver->n, ld, solver->n)));
  RITZ_TRY(lock(solver, A, RITZ_ACCESS_READ, &entries));
  forget_matrix(solver);
  solver->A = entries;
  solver->ld = ld;
  int ierr = factor_matrix(solver, __func__);
  solver->A = NULL;
  ierr = ritz_vector_unlock(A, RITZ_ACCESS_READ, &entries, ierr);
  if (!ierr) ierr = CeedVectorReferenceCopy(A, &solver->A_vector);
  if (ierr) forget_matrix(solver);
  return ierr;
}

// ---- Solve ----

static int check_columns(RitzDenseSolver s, const char *call, int64_t num_columns) {
  RITZ_REQUIRE(num_columns >= 0 && (double)num_columns * (double)s->n < 1e17, s->ceed, CEED_ERROR_DIMENSION,
               "%s: %lld columns, needed at least 0 and less than 1e17 entries", call,
               (long long)num_columns);
  RITZ_REQUIRE(s->report.precision != RITZ_DENSE_AUTO, s->ceed, CEED_ERROR_INCOMPLETE,
               "%s: there are no factors, needed a RitzDenseSolverFactor that has succeeded", call);
  return CEED_ERROR_SUCCESS;
}

static int solve_column(RitzDenseSolver s, const char *call, int64_t column, const double *B, double *X) {
  double largest;
  double *b = ritz_dense_vector(s, RITZ_DENSE_B);
  RITZ_TRY(s->methods->copy(s, s->n, b, B + column * s->n));
  RITZ_TRY(s->methods->largest(s, b, &largest));
  RITZ_REQUIRE(isfinite(largest), s->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: column %lld of B has entries that are not finite", call, (long long)column);
  RITZ_TRY(ritz_dense_refine(s, call));
  return s->methods->copy(s, s->n, X + column * s->n, ritz_dense_vector(s, RITZ_DENSE_X));
}

static int solve_columns(RitzDenseSolver s, const char *call, int64_t num_columns, const double *B,
                         double *X) {
  s->report.refinement = RITZ_REFINEMENT_NONE;
  s->report.iterations = 0;
  s->report.backward_error = 0;
  s->report.is_converged = true;
  for (int64_t column = 0; column < num_columns && s->n > 0; column++) {
    const int ierr = solve_column(s, call, column, B, X);
    if (ierr) s->report.is_converged = false;
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

// The matrix of a vector is locked while it is used.
static int solve_with_matrix(RitzDenseSolver s, const char *call, int64_t num_columns, const double *B,
                             double *X) {
  void *entries;
  if (!s->A_vector) return solve_columns(s, call, num_columns, B, X);
  RITZ_TRY(lock(s, s->A_vector, RITZ_ACCESS_READ, &entries));
  s->A = entries;
  const int ierr = solve_columns(s, call, num_columns, B, X);
  s->A = NULL;
  return ritz_vector_unlock(s->A_vector, RITZ_ACCESS_READ, &entries, ierr);
}

int RitzDenseSolverSolve(RitzDenseSolver solver, int64_t num_columns, const double *B, double *X) {
  RITZ_HANDLE(solver);
  RITZ_TRY(check_columns(solver, __func__, num_columns));
  RITZ_TRY(check_memory(solver, __func__, "B", num_columns * solver->n, B));
  RITZ_TRY(check_memory(solver, __func__, "X", num_columns * solver->n, X));
  return solve_with_matrix(solver, __func__, num_columns, B, X);
}

int RitzDenseSolverSolveVectors(RitzDenseSolver solver, int64_t num_columns, CeedVector B, CeedVector X) {
  RITZ_HANDLE(solver, B, X);
  RITZ_ARGUMENT(solver->ceed, B);
  RITZ_ARGUMENT(solver->ceed, X);
  void *b, *x;
  RITZ_TRY(check_columns(solver, __func__, num_columns));
  RITZ_TRY(check_vector(solver, __func__, "B", B, num_columns * solver->n));
  RITZ_TRY(check_vector(solver, __func__, "X", X, num_columns * solver->n));
  RITZ_REQUIRE(X != solver->A_vector, solver->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: X is the matrix, needed another vector", __func__);
  if (B == X) {
    RITZ_TRY(lock(solver, X, RITZ_ACCESS_READ_WRITE, &x));
    const int ierr = solve_with_matrix(solver, __func__, num_columns, x, x);
    // Columns before the one at fault are solved, the others are still those of B.
    return ritz_first_error(ierr, ritz_vector_unlock(X, RITZ_ACCESS_READ_WRITE, &x, CEED_ERROR_SUCCESS));
  }
  const bool is_whole = X->length == num_columns * solver->n;
  const RitzAccess access = is_whole ? RITZ_ACCESS_WRITE : RITZ_ACCESS_READ_WRITE;
  RITZ_TRY(lock(solver, B, RITZ_ACCESS_READ, &b));
  int ierr = lock(solver, X, access, &x);
  if (!ierr) {
    ierr = solve_with_matrix(solver, __func__, num_columns, b, x);
    const int restored = ritz_vector_unlock(X, access, &x, is_whole ? ierr : CEED_ERROR_SUCCESS);
    ierr = ritz_first_error(ierr, restored);
  }
  return ritz_vector_unlock(B, RITZ_ACCESS_READ, &b, ierr);
}

// ---- Reports ----

int RitzDenseSolverEstimateCondition(RitzDenseSolver solver, double *condition) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver->ceed, condition);
  RITZ_TRY(check_columns(solver, __func__, 0));
  if (solver->report.condition == 0 && solver->n > 0)
    RITZ_TRY(ritz_dense_condition(solver, &solver->report.condition));
  *condition = solver->n > 0 ? solver->report.condition : 1;
  return CEED_ERROR_SUCCESS;
}

static size_t bytes_of(RitzDenseSolver s) {
  const int64_t num = RITZ_DENSE_NUM_VECTORS + (s->basis ? RITZ_DENSE_RESTART + 1 : 0);
  return (size_t)(num * s->stride) * sizeof(double) + s->methods->num_bytes(s);
}

int RitzDenseSolverGetReport(RitzDenseSolver solver, RitzDenseReport *report) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver->ceed, report);
  *report = solver->report;
  report->num_bytes = bytes_of(solver);
  return CEED_ERROR_SUCCESS;
}

int RitzDenseSolverExplain(RitzDenseSolver solver, FILE *stream) {
  RITZ_HANDLE(solver);
  RITZ_ARGUMENT(solver->ceed, stream);
  const RitzDenseReport *r = &solver->report;
  fprintf(stream, "dense solver of order %lld on %s\n  by %s\n", (long long)solver->n, solver->ceed->resource,
          solver->methods->name);
  solver->methods->explain(solver, stream);
  fprintf(stream, "  %.1f MB beside the matrix\n", (double)bytes_of(solver) / 1e6);
  if (r->precision == RITZ_DENSE_AUTO)
    return fprintf(stream, "  no factors\n") < 0 ? CEED_ERROR_MAJOR : CEED_ERROR_SUCCESS;
  ritz_dense_explain_route(solver, stream);
  fprintf(stream, "  %s in %s", solver->is_symmetric ? "Cholesky" : "LU",
          RitzDensePrecisionName(r->precision));
  if (r->num_given_up > 0) fprintf(stream, ", asked for %s: %s", RitzDensePrecisionName(r->asked), r->reason);
  fprintf(stream, "\n  last solve: refinement %s, %" CeedInt_FMT " iterations, backward error %.1e, %s\n",
          RitzDenseRefinementName(r->refinement), r->iterations, r->backward_error,
          r->is_converged ? "converged" : "not converged");
  return CEED_ERROR_SUCCESS;
}
