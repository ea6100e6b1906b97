// SPDX-License-Identifier: BSD-2-Clause
// Memory that a solver keeps between solves, so that the next one of the same size allocates nothing. Used by
// solver/ only.
#ifndef RITZ_SOLVER_WORKSPACE_H
#define RITZ_SOLVER_WORKSPACE_H

#include <ritz/vector.h>
#include <stddef.h>

enum { RITZ_WORK_ARRAYS = 7, RITZ_WORK_SCALARS = 8 };

// Zeros: empty.
typedef struct {
  CeedVector *vectors; // owned, [num_vectors]; one is lent while it has other references than this
  int num_vectors;
  RitzScalars scalars;            // owned; NULL: none yet
  void *arrays[RITZ_WORK_ARRAYS]; // owned; NULL: none yet
  size_t num_bytes[RITZ_WORK_ARRAYS];
} RitzWorkspace;

// Lends a vector, whose values are any; CeedVectorDestroy gives it back. Those of another context or length
// that are not lent are freed.
int ritz_workspace_vector(RitzWorkspace *work, Ceed ceed, CeedSize length, CeedScalarType precision,
                          CeedVector *v);
// Lends RITZ_WORK_SCALARS zeros until the next call; not to be destroyed.
int ritz_workspace_scalars(RitzWorkspace *work, Ceed ceed, RitzScalars *scalars);
// Lends array `which` of num zeros of `size` bytes until the next call for it; not to be freed.
int ritz_workspace_array(RitzWorkspace *work, Ceed ceed, int which, size_t num, size_t size, void **array);
// Frees all that is not lent.
int ritz_workspace_clear(RitzWorkspace *work);

#endif
