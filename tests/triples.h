// SPDX-License-Identifier: BSD-2-Clause
// The assembled matrix of an operator as triples, and their sum as a dense matrix. Included by the tests of
// assembly and of operators at points.
#ifndef RITZ_TESTS_TRIPLES_H
#define RITZ_TESTS_TRIPLES_H

#include "tests/reference.h"

#include <ceed/backend.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  CeedSize num;
  CeedInt *rows, *cols; // owned, malloc's
  double *values;       // owned
} Triples;

static inline void triples_free(Triples *t) {
  free(t->rows);
  free(t->cols);
  free(t->values);
  *t = (Triples){0};
}

// The vector of values is longer than needed, and what is behind the last value must stay 0.
static inline int triples_assemble(CeedOperator op, Triples *t) {
  CeedVector v = NULL;
  CeedSize num = -1;

  *t = (Triples){0};
  CeedCall(CeedOperatorLinearAssembleGetNumEntries(op, &num));
  CeedCall(CeedOperatorLinearAssembleSymbolic(op, &t->num, &t->rows, &t->cols));
  if (num != t->num) return CEED_ERROR_MAJOR;
  CeedCall(CeedVectorCreate(CeedOperatorReturnCeed(op), num + 3, &v));
  int ierr = CeedOperatorLinearAssemble(op, v);
  if (!ierr && num > 0) t->values = reference_new_values(v);
  CeedVectorDestroy(&v);
  if (ierr || num == 0) return ierr;
  return reference_largest(3, t->values + num) == 0.0 ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// dense [num_rows][num_cols]
static inline double *triples_sum(const Triples *t, CeedSize num_rows, CeedSize num_cols) {
  double *dense = reference_new(num_rows * num_cols);

  for (CeedSize k = 0; k < t->num; k++) dense[t->rows[k] * num_cols + t->cols[k]] += t->values[k];
  return dense;
}

// Whether entries start, start + 1, ... of `all` are those of `part`, bit for bit.
static inline bool triples_begin_with(const Triples *all, CeedSize start, const Triples *part) {
  size_t n = (size_t)part->num;

  if (start + part->num > all->num) return false;
  return n == 0 || (!memcmp(all->rows + start, part->rows, n * sizeof(*part->rows)) &&
                    !memcmp(all->cols + start, part->cols, n * sizeof(*part->cols)) &&
                    !memcmp(all->values + start, part->values, n * sizeof(*part->values)));
}

#endif
