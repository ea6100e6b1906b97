// SPDX-License-Identifier: BSD-2-Clause
// The loop over groups of matrices of a batched operation (contract in core/batched.h). The text that
// includes this (emit/batched.c) has defined the precision, RITZ_LANES, ritz_transpose_lanes, the sizes,
// RITZ_M etc. (RITZ_IS_ANY_SIZE 1: the most that they can be) and the kind: RITZ_IS_PRODUCT, RITZ_IS_LU etc.,
// as RitzBatchedKind.
#if RITZ_IS_PRODUCT
#include "kernels/cpu/batched-product.h"
#elif RITZ_IS_CHOLESKY
#include "kernels/cpu/batched-cholesky.h"
#elif RITZ_IS_LU
#include "kernels/cpu/batched-lu.h"
#elif RITZ_IS_SOLVE
#include "kernels/cpu/batched-solve.h"
#elif RITZ_IS_INVERSE
#include "kernels/cpu/batched-inverse.h"
#elif RITZ_IS_SYMMETRIC || RITZ_IS_RANK_UPDATE || RITZ_IS_TRIANGULAR
#include "kernels/cpu/batched-structured.h"
#elif RITZ_IS_LU_SYSTEM || RITZ_IS_SPD_SYSTEM
#include "kernels/cpu/batched-system.h"
#else
#include "kernels/cpu/batched-qr.h"
#endif

__attribute__((visibility("default"))) void ritz_batched_kernel(const RitzBatchedArgs *args, int64_t begin,
                                                                int64_t end);
__attribute__((visibility("default"))) extern const RitzKernelInfo ritz_batched_info;

void ritz_batched_kernel(const RitzBatchedArgs *args, int64_t begin, int64_t end) {
  RitzGroup group;

  for (int64_t g = begin; g < end; g++) {
    ritz_group_begin(args, g, &group);
    ritz_batched_group(&group, (RitzBatchedWork *)args->work);
    ritz_group_end(&group);
  }
}

const RitzKernelInfo ritz_batched_info = {RITZ_BATCHED_ABI, RITZ_LANES, sizeof(RitzBatchedWork)};
