// SPDX-License-Identifier: BSD-2-Clause
// The context of the QFunction of random operators. Included by random-qfunction.h, which devices compile at
// run time, and by random-operator.h.
#ifndef RITZ_TESTS_RANDOM_CONTEXT_H
#define RITZ_TESTS_RANDOM_CONTEXT_H

#include <ceed/types.h>

// Limits of a random operator: fields of a direction, and scalars per point of all of them together.
#define RANDOM_MAX_FIELDS  6
#define RANDOM_MAX_SCALARS 54

// Scalars of all inputs (outputs) of a point are numbered through, field by field.
typedef struct {
  CeedInt num_in, num_out;
  CeedInt in_size[RANDOM_MAX_FIELDS], out_size[RANDOM_MAX_FIELDS];
  CeedInt is_active[RANDOM_MAX_FIELDS];                      // of the inputs
  CeedScalar mix[RANDOM_MAX_SCALARS];                        // of the inputs; 0 for active ones
  CeedScalar matrix[RANDOM_MAX_SCALARS][RANDOM_MAX_SCALARS]; // [output][input]
} RandomContext;

#endif
