// SPDX-License-Identifier: BSD-2-Clause
// Nullspaces of assembled matrices (contract in solver/direct.h). The unknowns that are pinned are found by
// Gaussian elimination with column pivoting on the basis, so they are far from dependent: opposite corners
// for rotations.
#include <inttypes.h>
#include <math.h>
#include <ritz/precision.h>

#include "solver/direct.h"
#include "solver/preconditioner.h"
#include "solver/system.h"

void ritz_pinned_free(RitzPinned *pinned) {
  RITZ_FREE(&pinned->basis);
  RITZ_FREE(&pinned->pinned);
}

static double dot(int64_t n, const double *x, const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static void subtract_multiple(int64_t n, double factor, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] -= factor * x[i];
}

void ritz_pinned_project(const RitzPinned *pinned, int64_t n, double *x) {
  for (CeedInt k = 0; k < pinned->num; k++) {
    const double *z = pinned->basis + k * n;
    subtract_multiple(n, dot(n, z, x), z, x);
  }
}

// ---- Vectors that are given ----

int ritz_nullspace_check(Ceed ceed, CeedInt num, const CeedVector *vectors, CeedSize length) {
  for (CeedInt k = 0; k < num; k++) {
    CeedSize found = 0;
    RITZ_TRY(ritz_check_handle(ceed, RITZ_DIRECT_CALL, "null[k]", vectors[k], &ritz_vector_class));
    RITZ_TRY(CeedVectorGetLength(vectors[k], &found));
    RITZ_REQUIRE(found == length, ceed, CEED_ERROR_DIMENSION,
                 RITZ_DIRECT_CALL ": null[%" CeedInt_FMT "] has %" CeedSize_FMT
                                  " entries, the operator has %" CeedSize_FMT,
                 k, found, length);
  }
  return CEED_ERROR_SUCCESS;
}

// |A z| is small against |diag(A) z|, which sums of rows exceed little. z and y are overwritten.
static int require_applied_to_zero(const RitzSystem *system, CeedInt k, CeedVector null, CeedVector diagonal,
                                   CeedVector z, CeedVector y) {
  CeedScalarType precision;
  CeedScalar largest = 0, scale = 0;
  RITZ_TRY(RitzOperatorGetPrecision(system->op, &precision));
  const double tolerance = precision == CEED_SCALAR_FP32 ? 1e-3 : 1e-5;
  RITZ_TRY(RitzVectorConvert(null, z));
  RITZ_TRY(ritz_system_zero_constrained(system, z));
  RITZ_TRY(ritz_system_apply(system, z, y));
  RITZ_TRY(CeedVectorNorm(y, CEED_NORM_MAX, &largest));
  RITZ_TRY(CeedVectorPointwiseMult(y, diagonal, z));
  RITZ_TRY(CeedVectorNorm(y, CEED_NORM_MAX, &scale));
  RITZ_REQUIRE((double)largest <= tolerance * (double)scale, system->ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": null[%" CeedInt_FMT
                                "] is not in the nullspace: the operator makes %.2g of it, the diagonal %.2g",
               k, (double)largest, (double)scale);
  return CEED_ERROR_SUCCESS;
}

int ritz_nullspace_check_applied(CeedOperator op, RitzIndices constraints, CeedInt num,
                                 const CeedVector *vectors) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  RitzSystem system = {0};
  CeedVector v[3] = {NULL}; // diagonal, z, y
  CeedSize length = 0;
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_operator_square_length(op, RITZ_DIRECT_CALL, &length));
  int ierr = ritz_system_create(ceed, op, NULL, NULL, constraints, &system);
  for (int i = 0; i < 3 && !ierr; i++) ierr = CeedVectorCreate(ceed, length, &v[i]);
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(op, v[0], CEED_REQUEST_IMMEDIATE);
  for (CeedInt k = 0; k < num && !ierr; k++)
    ierr = require_applied_to_zero(&system, k, vectors[k], v[0], v[1], v[2]);
  for (int i = 0; i < 3; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&v[i]));
  return ritz_first_error(ierr, ritz_system_destroy(&system));
}

// ---- Basis ----

static int read_vector(const RitzMatrix *matrix, CeedVector vec, double *z) {
  CeedScalarType precision;
  RITZ_TRY(RitzVectorGetPrecision(vec, &precision));
  if (precision == CEED_SCALAR_FP32) {
    const float *array;
    RITZ_TRY(RitzVectorGetArrayReadF32(vec, CEED_MEM_HOST, &array));
    for (int64_t i = 0; i < matrix->n; i++) z[i] = (double)array[matrix->entries[i]];
    return RitzVectorRestoreArrayReadF32(vec, &array);
  }
  const CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < matrix->n; i++) z[i] = (double)array[matrix->entries[i]];
  return CeedVectorRestoreArrayRead(vec, &array);
}

// Gram-Schmidt, twice; earlier vectors are orthonormal.
static int append_to_basis(const RitzMatrix *matrix, RitzPinned *pinned, double *z) {
  const int64_t n = matrix->n;
  const double before = sqrt(dot(n, z, z));
  ritz_pinned_project(pinned, n, z);
  ritz_pinned_project(pinned, n, z);
  const double norm = sqrt(dot(n, z, z));
  const double tolerance = CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 1e-4 : 1e-10;
  RITZ_REQUIRE(norm > tolerance * before, matrix->ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": null[%" CeedInt_FMT
                                "] depends linearly on those before it, on the entries that are free",
               pinned->num);
  for (int64_t i = 0; i < n; i++) z[i] /= norm;
  pinned->num++;
  return CEED_ERROR_SUCCESS;
}

// |A z| is small against |A| |z|, row by row.
static int require_annihilated(const RitzMatrix *a, CeedInt k, const double *z) {
  const double tolerance = CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 1e-3 : 1e-5;
  double largest = 0, scale = 0;
  for (int64_t i = 0; i < a->n; i++) {
    double sum = 0, sizes = 0;
    for (int64_t p = a->starts[i]; p < a->starts[i + 1]; p++) {
      sum += a->values[p] * z[a->cols[p]];
      sizes += fabs(a->values[p] * z[a->cols[p]]);
    }
    largest = fmax(largest, fabs(sum));
    scale = fmax(scale, sizes);
  }
  RITZ_REQUIRE(largest <= tolerance * scale, a->ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": null[%" CeedInt_FMT
                                "] is not in the nullspace: the matrix makes %.2g of it, beside sums of %.2g",
               k, largest, scale);
  return CEED_ERROR_SUCCESS;
}

// ---- Unknowns ----

// work [num][n]: a copy of the basis, eliminated from here on.
static void choose_unknowns(int64_t n, RitzPinned *pinned, double *work) {
  for (CeedInt k = 0; k < pinned->num; k++) {
    int64_t best = 0;
    double *row = work + k * n;
    for (int64_t i = 1; i < n; i++)
      if (fabs(row[i]) > fabs(row[best])) best = i;
    pinned->pinned[k] = best;
    for (CeedInt m = k + 1; m < pinned->num; m++)
      subtract_multiple(n, work[m * n + best] / row[best], row, work + m * n);
  }
}

static void add_to_diagonal(RitzMatrix *a, int64_t i) {
  for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
    if (a->cols[k] == i) a->values[k] *= 2;
}

static int set_up_nullspace(CeedInt num, const CeedVector *vectors, RitzMatrix *matrix, RitzPinned *pinned) {
  const int64_t n = matrix->n;
  double *work = NULL;
  RITZ_REQUIRE(num <= n, matrix->ceed, CEED_ERROR_INCOMPATIBLE,
               RITZ_DIRECT_CALL ": a nullspace of %" CeedInt_FMT " dimensions for %" PRId64 " unknowns", num,
               n);
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)num * (size_t)n, &pinned->basis));
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)num, &pinned->pinned));
  for (CeedInt k = 0; k < num; k++) {
    double *z = pinned->basis + k * n;
    RITZ_TRY(read_vector(matrix, vectors[k], z));
    RITZ_TRY(append_to_basis(matrix, pinned, z));
    RITZ_TRY(require_annihilated(matrix, k, z));
  }
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)num * (size_t)n, &work));
  for (int64_t i = 0; i < num * n; i++) work[i] = pinned->basis[i];
  choose_unknowns(n, pinned, work);
  RITZ_FREE(&work);
  for (CeedInt k = 0; k < num; k++) add_to_diagonal(matrix, pinned->pinned[k]);
  return CEED_ERROR_SUCCESS;
}

int ritz_pinned_create(CeedInt num, const CeedVector *vectors, RitzMatrix *matrix, RitzPinned *pinned) {
  *pinned = (RitzPinned){0};
  if (num == 0) return CEED_ERROR_SUCCESS;
  const int ierr = set_up_nullspace(num, vectors, matrix, pinned);
  if (ierr) ritz_pinned_free(pinned);
  return ierr;
}

int ritz_pinned_renew(const RitzPinned *pinned, RitzMatrix *matrix) {
  for (CeedInt k = 0; k < pinned->num; k++)
    RITZ_TRY(require_annihilated(matrix, k, pinned->basis + k * matrix->n));
  for (CeedInt k = 0; k < pinned->num; k++) add_to_diagonal(matrix, pinned->pinned[k]);
  return CEED_ERROR_SUCCESS;
}
