// SPDX-License-Identifier: BSD-2-Clause
// The matrix of an operator without constrained rows and columns (contract in solver/direct.h).
#include <ceed/backend.h>
#include <inttypes.h>
#include <math.h>
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <time.h>

#include "solver/direct.h"
#include "solver/preconditioner.h"

double ritz_direct_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ritz_matrix_free_values(RitzMatrix *matrix) {
  RITZ_FREE(&matrix->starts);
  RITZ_FREE(&matrix->cols);
  RITZ_FREE(&matrix->values);
}

void ritz_matrix_free(RitzMatrix *matrix) {
  ritz_matrix_free_values(matrix);
  RITZ_FREE(&matrix->entries);
}

void ritz_matrix_apply(const RitzMatrix *matrix, const double *x, double *y) {
  for (int64_t i = 0; i < matrix->n; i++) {
    double sum = 0;
    for (int64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++)
      sum += matrix->values[k] * x[matrix->cols[k]];
    y[i] = sum;
  }
}

// ---- Numbers of the unknowns ----

int ritz_matrix_number(Ceed ceed, CeedSize length, RitzIndices constraints, RitzMatrix *matrix) {
  int64_t num = 0, at = 0;
  const int64_t *constrained = NULL;
  *matrix = (RitzMatrix){.ceed = ceed, .length = length, .asymmetric = -1};
  if (constraints) RITZ_TRY(RitzIndicesGet(constraints, &num, &constrained));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(length - num), &matrix->entries));
  for (CeedSize i = 0; i < length; i++) {
    if (at < num && constrained[at] == i)
      at++;
    else
      matrix->entries[matrix->n++] = i;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Rows and columns ----

// All entries of L-vectors.
typedef struct {
  const int64_t *starts, *cols; // of an assembly
  CeedVector values;            // owned
  int64_t *numbers;             // owned, [length]: unknowns, -1: constrained
} Full;

static int free_full(Full *full, int ierr) {
  RITZ_FREE(&full->numbers);
  return ritz_first_error(ierr, CeedVectorDestroy(&full->values));
}

static int assemble_full(RitzAssembly assembly, RitzMatrix *matrix, Full *full) {
  const double start = ritz_direct_seconds();
  CeedSize num_rows;
  RITZ_TRY(RitzAssemblyGetPattern(assembly, &num_rows, NULL, &full->starts, &full->cols));
  RITZ_TRY(CeedVectorCreate(matrix->ceed, full->starts[num_rows], &full->values));
  RITZ_TRY(RitzAssemblyRun(assembly, full->values));
  matrix->seconds_elements = ritz_direct_seconds() - start;
  return CEED_ERROR_SUCCESS;
}

static int number_rows(const RitzMatrix *matrix, Full *full) {
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)matrix->length, &full->numbers));
  for (CeedSize i = 0; i < matrix->length; i++) full->numbers[i] = -1;
  for (int64_t i = 0; i < matrix->n; i++) full->numbers[matrix->entries[i]] = i;
  return CEED_ERROR_SUCCESS;
}

static int allocate_direct_matrix(RitzMatrix *matrix, const Full *full) {
  int64_t num = 0;
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)matrix->n + 1, &matrix->starts));
  for (int64_t i = 0; i < matrix->n; i++) {
    const int64_t row = matrix->entries[i];
    matrix->starts[i] = num;
    for (int64_t k = full->starts[row]; k < full->starts[row + 1]; k++)
      num += full->numbers[full->cols[k]] >= 0;
  }
  matrix->starts[matrix->n] = num;
  RITZ_TRY(RITZ_MALLOC(matrix->ceed, (size_t)num, &matrix->cols));
  return RITZ_MALLOC(matrix->ceed, (size_t)num, &matrix->values);
}

static int take_rows(RitzMatrix *matrix, const Full *full, const CeedScalar *values) {
  for (int64_t i = 0, at = 0; i < matrix->n; i++) {
    const int64_t row = matrix->entries[i];
    for (int64_t k = full->starts[row]; k < full->starts[row + 1]; k++) {
      const int64_t number = full->numbers[full->cols[k]];
      if (number < 0) continue;
      RITZ_REQUIRE(isfinite(values[k]), matrix->ceed, CEED_ERROR_MAJOR,
                   RITZ_DIRECT_CALL ": entry (%" PRId64 ", %" PRId64 ") of the matrix is %g", row,
                   full->cols[k], (double)values[k]);
      matrix->cols[at] = number;
      matrix->values[at++] = (double)values[k];
    }
  }
  return CEED_ERROR_SUCCESS;
}

// A row that differs from its column by more than rounding errors, -1: there is none. Columns ascend, so the
// entries of a column come up in the order of their rows; `next` [n]: zeros.
static int64_t find_asymmetric(const RitzMatrix *a, int64_t *next) {
  const double tolerance = CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 1e-4 : 1e-8;
  for (int64_t i = 0; i < a->n; i++) {
    double largest = 0;
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) largest = fmax(largest, fabs(a->values[k]));
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
      const int64_t j = a->cols[k], mirror = a->starts[j] + next[j]++;
      if (mirror >= a->starts[j + 1] || a->cols[mirror] != i) return i;
      if (fabs(a->values[mirror] - a->values[k]) > tolerance * largest) return i;
    }
  }
  return -1;
}

static int look_for_asymmetry(RitzMatrix *matrix) {
  int64_t *next = NULL;
  RITZ_TRY(RITZ_CALLOC(matrix->ceed, (size_t)matrix->n, &next));
  matrix->asymmetric = find_asymmetric(matrix, next);
  RITZ_FREE(&next);
  return CEED_ERROR_SUCCESS;
}

int ritz_matrix_check(RitzMatrix *matrix) {
  for (int64_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++)
      RITZ_REQUIRE(isfinite(matrix->values[k]), matrix->ceed, CEED_ERROR_MAJOR,
                   RITZ_DIRECT_CALL ": entry (%" PRId64 ", %" PRId64 ") of the matrix is %g",
                   matrix->entries[i], matrix->entries[matrix->cols[k]], matrix->values[k]);
  }
  return look_for_asymmetry(matrix);
}

// ---- Components, for methods that treat them apart ----

int ritz_matrix_find_components(CeedOperator op, RitzMatrix *matrix) {
  const CeedElemRestriction rstr = ritz_operator_active_restriction(op);

  matrix->num_comp = matrix->comp_stride = 1;
  if (!rstr || rstr == CEED_ELEMRESTRICTION_NONE) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedElemRestrictionGetNumComponents(rstr, &matrix->num_comp));
  return CeedElemRestrictionGetCompStride(rstr, &matrix->comp_stride);
}

int ritz_matrix_assemble(RitzAssembly assembly, RitzMatrix *matrix) {
  Full full = {0};
  const CeedScalar *values;
  ritz_matrix_free_values(matrix);
  int ierr = assemble_full(assembly, matrix, &full);
  if (!ierr) ierr = number_rows(matrix, &full);
  if (!ierr) ierr = allocate_direct_matrix(matrix, &full);
  if (!ierr) ierr = CeedVectorGetArrayRead(full.values, CEED_MEM_HOST, &values);
  if (!ierr) {
    ierr = take_rows(matrix, &full, values);
    ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(full.values, &values));
  }
  ierr = free_full(&full, ierr);
  return ierr ? ierr : look_for_asymmetry(matrix);
}
