// SPDX-License-Identifier: BSD-2-Clause
// Own sparse factorizations by fronts (solver/multifrontal.h), where the context computes: Cholesky's, and
// L D L^T of symmetric matrices that are not definite. The latter exchanges no pivots; a solution with a
// random right-hand side tells at once whether that served, and whether solutions want iterative refinement
// (Arioli, Demmel & Duff, Solving sparse linear systems with sparse backward error, 1989), which is done on
// the host. Called through the tables of solver/direct.h.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "solver/direct.h"
#include "solver/multifrontal.h"

typedef struct {
  RitzMultifrontal m;
  double norm;  // of A: largest sum of a row
  double *work; // owned, [2][n]; NULL: solutions are not refined
} Data;

static const char *why_not(void) { return NULL; }

static int describe_multifrontal(RitzFactorization *f, const RitzMultifrontal *m) {
  const RitzSymbolic *y = &m->symbolic;
  f->num_nonzeros = y->num_nonzeros;
  f->num_bytes = m->num_bytes;
  return snprintf(
      f->words, sizeof(f->words),
      "multifrontal %s factorization, ordered by %s, %lld fronts up to order %lld in %d levels, %.3g Gflop",
      m->factors == RITZ_FRONT_LDLT ? "L D L^T" : "Cholesky", y->ordering, (long long)y->num_supernodes,
      (long long)y->max_order, y->num_levels, 1e-9 * y->num_flops);
}

// *bad: an unknown without a pivot, -1: none is.
static int make_factors(RitzFactorization *f, RitzFrontFactors factors, int64_t *bad) {
  const RitzMatrix *a = f->matrix;
  const RitzPattern pattern = {.n = a->n, .starts = a->starts, .cols = a->cols};
  const RitzMultifrontalOptions o = {
      .factors = factors, .ordering = RITZ_ORDERING_AUTO, .max_flops = f->max_flops};
  Data *data = NULL;
  bool is_too_long;
  *bad = -1;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &data));
  f->data = data;
  f->computes_in_context = true;
  RITZ_TRY(ritz_multifrontal_create(a->ceed, &pattern, a->entries, &o, &data->m, &is_too_long));
  if (is_too_long) {
    f->refusal = RITZ_REFUSED_TOO_LONG;
    (void)snprintf(f->words, sizeof(f->words), "a factorization takes %.3g Gflop",
                   1e-9 * data->m.symbolic.num_flops);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_multifrontal_factorize(&data->m, a->values, bad));
  return f->for_updates ? CEED_ERROR_SUCCESS : ritz_multifrontal_drop_matrix(&data->m);
}

static int judge_multifrontal(RitzFactorization *f, int64_t bad) {
  if (bad >= 0)
    ritz_direct_refuse_pivot(f, bad);
  else if (!f->refusal)
    (void)describe_multifrontal(f, &((const Data *)f->data)->m);
  return CEED_ERROR_SUCCESS;
}

static int factorize_multifrontal(RitzFactorization *f) {
  int64_t bad;
  RITZ_TRY(make_factors(f, RITZ_FRONT_CHOLESKY, &bad));
  return judge_multifrontal(f, bad);
}

static int refactorize_multifrontal(RitzFactorization *f) {
  int64_t bad;
  RITZ_TRY(ritz_multifrontal_factorize(&((Data *)f->data)->m, f->matrix->values, &bad));
  return judge_multifrontal(f, bad);
}

static int solve_multifrontal(RitzFactorization *f, const double *b, double *x) {
  return ritz_multifrontal_solve(&((Data *)f->data)->m, 1, b, x);
}

static int apply_multifrontal(RitzFactorization *f, CeedScalarType type, int num, const void *const *r,
                              void *const *z) {
  return ritz_multifrontal_apply(&((Data *)f->data)->m, type, num, r, z);
}

static void destroy_multifrontal(RitzFactorization *f) {
  Data *data = f->data;
  if (!data) return;
  (void)ritz_multifrontal_destroy(&data->m);
  RITZ_FREE(&data->work);
  RITZ_FREE(&f->data);
}

// ---- L D L^T ----

// NaN where an entry is: fmax leaves it out.
static double norm_of(int64_t n, const double *x) {
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    if (fabs(x[i]) > most || isnan(x[i])) most = fabs(x[i]);
  return most;
}

static double norm_of_matrix(const RitzMatrix *a) {
  double most = 0;
  for (int64_t i = 0; i < a->n; i++) {
    double sum = 0;
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) sum += fabs(a->values[k]);
    most = fmax(most, sum);
  }
  return most;
}

// r = b - A x; |r| / (|A| |x| + |b|) by largest entries: the backward error. NaN: one of them is not finite.
static double find_residual(const RitzMatrix *a, double norm, const double *b, const double *x, double *r) {
  const double size = norm * norm_of(a->n, x) + norm_of(a->n, b);
  ritz_matrix_apply(a, x, r);
  for (int64_t i = 0; i < a->n; i++) r[i] = b[i] - r[i];
  return size == 0 ? 0 : norm_of(a->n, r) / size;
}

// x = A^-1 b with refinement, until the backward error is a few eps or no longer halves; work [2][n]. errors:
// backward errors of the first solution and of the last one.
static int refine(RitzFactorization *f, const double *b, double *x, double *work, double errors[2]) {
  enum { MOST = 20 };
  const RitzMatrix *a = f->matrix;
  const Data *data = f->data;
  double *r = work, *more = work + a->n;
  RITZ_TRY(solve_multifrontal(f, b, x));
  errors[0] = errors[1] = find_residual(a, data->norm, b, x, r);
  for (int step = 0; step < MOST && errors[1] > 4 * DBL_EPSILON; step++) {
    RITZ_TRY(solve_multifrontal(f, r, more));
    for (int64_t i = 0; i < a->n; i++) x[i] += more[i];
    const double error = find_residual(a, data->norm, b, x, r);
    const bool goes_on = error < 0.5 * errors[1];
    if (!(error < errors[1])) { // back to the better one
      for (int64_t i = 0; i < a->n; i++) x[i] -= more[i];
      break;
    }
    errors[1] = error;
    if (!goes_on) break;
  }
  return CEED_ERROR_SUCCESS;
}

// Largest backward errors: of solutions without refinement, of any solution.
static const double good_error = 1e-13, worst_error = 1e-11;

// A right-hand side that a singular matrix does not make.
static int probe(RitzFactorization *f, double *work, double errors[2]) {
  const int64_t n = f->matrix->n;
  uint64_t state = 1;
  for (int64_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    work[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
  }
  return refine(f, work, work + n, work + 2 * n, errors);
}

static int check_ldlt(RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  Data *data = f->data;
  double *work = NULL, errors[2];
  data->norm = norm_of_matrix(a);
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n * 4, &work));
  const int ierr = probe(f, work, errors);
  RITZ_FREE(&work);
  RITZ_TRY(ierr);
  if (!(errors[1] <= worst_error)) {
    f->refusal = RITZ_REFUSED_MATRIX;
    (void)snprintf(f->words, sizeof(f->words),
                   "the matrix is singular, or wants pivots to be exchanged (%" PRId64
                   " of them replaced, a backward error of %.2g after refinement)",
                   data->m.num_replaced, errors[1]);
    return CEED_ERROR_SUCCESS;
  }
  f->keeps_matrix = data->m.num_replaced > 0 || errors[0] > good_error;
  RITZ_FREE(&data->work);
  if (f->keeps_matrix) RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->n * 2, &data->work));
  const int length = describe_multifrontal(f, &data->m);
  (void)snprintf(f->words + length, sizeof(f->words) - (size_t)length,
                 ", %" PRId64 " negative pivots, %" PRId64 " replaced%s", data->m.num_negative,
                 data->m.num_replaced, f->keeps_matrix ? ", refined" : "");
  if (f->keeps_matrix) f->num_bytes += 16 * a->n;
  return CEED_ERROR_SUCCESS;
}

static int judge_ldlt(RitzFactorization *f, int64_t bad) {
  if (f->refusal) return CEED_ERROR_SUCCESS;
  if (bad < 0) return check_ldlt(f);
  f->refusal = RITZ_REFUSED_MATRIX;
  (void)snprintf(f->words, sizeof(f->words),
                 "the matrix has no L D L^T (the pivot of entry %" PRId64
                 " of the L-vector is zero or not finite)",
                 f->matrix->entries[bad]);
  return CEED_ERROR_SUCCESS;
}

static int factorize_ldlt(RitzFactorization *f) {
  int64_t bad;
  RITZ_TRY(make_factors(f, RITZ_FRONT_LDLT, &bad));
  return judge_ldlt(f, bad);
}

static int refactorize_ldlt(RitzFactorization *f) {
  int64_t bad;
  RITZ_TRY(ritz_multifrontal_factorize(&((Data *)f->data)->m, f->matrix->values, &bad));
  return judge_ldlt(f, bad);
}

// Residuals that are not numbers are the outer method's to find.
static int solve_ldlt(RitzFactorization *f, const double *b, double *x) {
  const Data *data = f->data;
  double errors[2];
  if (!data->work) return solve_multifrontal(f, b, x);
  RITZ_TRY(refine(f, b, x, data->work, errors));
  RITZ_REQUIRE(!(errors[1] > worst_error), f->matrix->ceed, CEED_ERROR_MAJOR,
               "RitzPreconditionerApply: L D L^T: a backward error of %.2g after refinement, needed %.2g",
               errors[1], worst_error);
  return CEED_ERROR_SUCCESS;
}

// ---- Tables ----

const RitzDirectMethods ritz_direct_multifrontal = {.kind = RITZ_DIRECT_MULTIFRONTAL,
                                                    .is_symmetric = true,
                                                    .why_not = why_not,
                                                    .factorize = factorize_multifrontal,
                                                    .refactorize = refactorize_multifrontal,
                                                    .solve = solve_multifrontal,
                                                    .apply = apply_multifrontal,
                                                    .destroy = destroy_multifrontal};

const RitzDirectMethods ritz_direct_ldlt = {.kind = RITZ_DIRECT_LDLT,
                                            .is_indefinite = true,
                                            .why_not = why_not,
                                            .factorize = factorize_ldlt,
                                            .refactorize = refactorize_ldlt,
                                            .solve = solve_ldlt,
                                            .apply = apply_multifrontal,
                                            .destroy = destroy_multifrontal};
