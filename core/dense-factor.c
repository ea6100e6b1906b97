// SPDX-License-Identifier: BSD-2-Clause
// Dense solver: factorizations by halves (Toledo, Locality of reference in LU decomposition with partial
// pivoting, 1997), cut into what a backend does, so that nearly all work is in products with many columns;
// and which precision takes over.
#include <math.h>
#include <stdio.h>

#include "core/dense-solver.h"

// ---- Precisions ----

double ritz_dense_roundoff(RitzDensePrecision precision) {
  switch (precision) {
  case RITZ_DENSE_F32:
  case RITZ_DENSE_TF32X3: return 0x1p-24;
  case RITZ_DENSE_TF32:
  case RITZ_DENSE_F16: return 0x1p-11;
  case RITZ_DENSE_BF16: return 0x1p-8;
  default: return 0x1p-53;
  }
}

// The precision that is tried next; AUTO: none.
static RitzDensePrecision next_precision(RitzDensePrecision precision) {
  switch (precision) {
  case RITZ_DENSE_F32:
  case RITZ_DENSE_TF32X3: return RITZ_DENSE_F64;
  case RITZ_DENSE_TF32:
  case RITZ_DENSE_F16: return RITZ_DENSE_F32;
  case RITZ_DENSE_BF16: return RITZ_DENSE_TF32;
  default: return RITZ_DENSE_AUTO;
  }
}

// Half of the columns, in whole blocks.
static int64_t half(int64_t num) {
  const int64_t blocks = (num + RITZ_DENSE_BLOCK - 1) / RITZ_DENSE_BLOCK;
  return (blocks + 1) / 2 * RITZ_DENSE_BLOCK;
}

// Products of one block are the panels' own.
static int update_trailing(RitzDenseSolver s, RitzDenseUpdate u) {
  const RitzDensePrecision precision = s->report.precision;
  if (u.num_rows == 0 || u.num_cols == 0) return CEED_ERROR_SUCCESS;
  u.is_symmetric = s->is_symmetric;
  u.precision = precision != RITZ_DENSE_F64 && u.k <= RITZ_DENSE_BLOCK ? RITZ_DENSE_F32 : precision;
  return s->methods->update(s, &u);
}

// ---- LU ----

static int solve_rows(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  const int64_t top = half(num);
  if (num_cols == 0) return CEED_ERROR_SUCCESS;
  if (num <= s->methods->num_solved_rows) return s->methods->solve_rows(s, first, num, col, num_cols);
  RITZ_TRY(solve_rows(s, first, top, col, num_cols));
  RITZ_TRY(update_trailing(s, (RitzDenseUpdate){first + top, num - top, col, num_cols, first, top, false,
                                                false, 0}));
  return solve_rows(s, first + top, num - top, col, num_cols);
}

// Columns first .. first + num - 1, rows from `first` on.
static int lu(RitzDenseSolver s, int64_t first, int64_t num) {
  const int64_t left = half(num), right = num - left, next = first + left;
  if (num <= RITZ_DENSE_BLOCK) return s->methods->panel(s, first, num);
  RITZ_TRY(lu(s, first, left));
  RITZ_TRY(s->methods->swap(s, first, left, next, right));
  RITZ_TRY(solve_rows(s, first, left, next, right));
  RITZ_TRY(
      update_trailing(s, (RitzDenseUpdate){next, s->n - next, next, right, first, left, false, false, 0}));
  RITZ_TRY(lu(s, next, right));
  return s->methods->swap(s, next, right, first, left);
}

// ---- Cholesky ----

static int solve_columns(RitzDenseSolver s, int64_t first, int64_t num, int64_t row, int64_t num_rows) {
  const int64_t left = half(num), next = first + left;
  if (num <= RITZ_DENSE_BLOCK) return s->methods->solve_columns(s, first, num, row, num_rows);
  RITZ_TRY(solve_columns(s, first, left, row, num_rows));
  RITZ_TRY(
      update_trailing(s, (RitzDenseUpdate){row, num_rows, next, num - left, first, left, true, false, 0}));
  return solve_columns(s, next, num - left, row, num_rows);
}

// The diagonal block of rows and columns first .. first + num - 1.
static int cholesky(RitzDenseSolver s, int64_t first, int64_t num) {
  const int64_t left = half(num), right = num - left, next = first + left;
  if (num <= RITZ_DENSE_BLOCK) return s->methods->cholesky(s, first, num);
  RITZ_TRY(cholesky(s, first, left));
  RITZ_TRY(solve_columns(s, first, left, next, right));
  RITZ_TRY(update_trailing(s, (RitzDenseUpdate){next, right, next, right, first, left, true, true, 0}));
  return cholesky(s, next, right);
}

// ---- The first precision that does ----

// Entries of F16 have largest magnitude 2^8, so that factors may grow by as much, and few are subnormal.
static int shift_of(RitzDensePrecision precision) { return precision == RITZ_DENSE_F16 ? 8 : 0; }

static int make_factors(RitzDenseSolver s) {
  if (ritz_dense_is_vendor(s)) return s->methods->vendor->factor(s);
  return s->is_symmetric ? cholesky(s, 0, s->n) : lu(s, 0, s->n);
}

static int factorize_in_precision(RitzDenseSolver s, const char *call, int64_t *bad) {
  const RitzDensePrecision precision = s->report.precision;
  RITZ_TRY(ritz_dense_choose_route(s, call));
  s->shift = shift_of(precision);
  RITZ_TRY(s->methods->load(s, precision == RITZ_DENSE_F64, s->shift));
  RITZ_TRY(make_factors(s));
  return s->methods->finish(s, bad);
}

static int refuse(RitzDenseSolver s, const char *call, int64_t bad) {
  if (s->is_symmetric)
    return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                     "%s: the matrix of order %lld is not positive definite: its leading minor %lld is not "
                     "positive",
                     call, (long long)s->n, (long long)bad);
  return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                   "%s: the matrix of order %lld is singular: pivot %lld is zero or not finite", call,
                   (long long)s->n, (long long)bad);
}

// Goes on in the next precision, and says so before that costs its time.
static int step_up(RitzDenseSolver s, const char *call, const char *reason) {
  const RitzDensePrecision next = next_precision(s->report.precision);
  char what[96], outcome[96];
  snprintf(what, sizeof(what), "dense solver of order %lld in %s", (long long)s->n,
           RitzDensePrecisionName(s->report.precision));
  snprintf(outcome, sizeof(outcome), "the matrix is factorized in %s", RitzDensePrecisionName(next));
  RITZ_TRY(ritz_warn_once(s->ceed, call, what, reason, outcome));
  s->report.precision = next;
  s->report.num_given_up++;
  s->report.reason = reason;
  s->report.condition = 0;
  return CEED_ERROR_SUCCESS;
}

// report.precision is AUTO where it ends with an error.
static int factorize_upwards(RitzDenseSolver s, const char *call) {
  int64_t bad = 0;
  for (;;) {
    RITZ_TRY(factorize_in_precision(s, call, &bad));
    if (bad == 0) return CEED_ERROR_SUCCESS;
    if (s->report.precision == RITZ_DENSE_F64) return refuse(s, call, bad);
    RITZ_TRY(step_up(s, call,
                     s->is_symmetric ? "a leading minor is not positive in this precision"
                                     : "a pivot is zero or not finite in this precision"));
  }
}

int ritz_dense_factorize(RitzDenseSolver s, const char *call) {
  const int ierr = factorize_upwards(s, call);
  if (ierr) {
    s->report.precision = RITZ_DENSE_AUTO;
    s->report.route = RITZ_DENSE_ROUTE_AUTO;
    s->report.library = NULL;
  }
  return ierr;
}

int ritz_dense_give_up(RitzDenseSolver s, const char *call, const char *reason) {
  RITZ_TRY(step_up(s, call, reason));
  return ritz_dense_factorize(s, call);
}
