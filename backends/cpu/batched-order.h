// SPDX-License-Identifier: BSD-2-Clause
// Matrices of a non-uniform batch in the order in which kernels take them (kernels/cpu/batched-abi.h). Called
// by backends/cpu/batched.c.
#ifndef RITZ_BACKENDS_CPU_BATCHED_ORDER_H
#define RITZ_BACKENDS_CPU_BATCHED_ORDER_H

#include "core/batched.h"

typedef struct {
  int64_t *places;     // owned [num_main + num_smaller]: matrices, -1 where a group has no more
  int64_t num_main;    // places of matrices that have all sizes of the bounds, or are large or empty
  int64_t num_smaller; // of the others, class by class
  int64_t num_bad;     // matrices with a size outside of 0 .. its bound, which have no place
  int32_t largest[RITZ_NUM_DIMS]; // sizes of those in num_main
} RitzBatchedOrder;

// main_is_large: matrices in num_main are taken one by one, else in groups of `lanes`. Matrices keep their
// order within a class. *order is made anew.
int ritz_cpu_batched_order(RitzBatched b, CeedInt lanes, bool main_is_large, int64_t count,
                           const int32_t *const *sizes, RitzBatchedOrder *order);
void ritz_cpu_batched_order_free(RitzBatchedOrder *order);
// 0, or the info of a matrix with a bad size.
int32_t ritz_cpu_batched_bad_size(const RitzBatched b, const int32_t *const *sizes, int64_t i);

#endif
