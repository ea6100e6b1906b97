// SPDX-License-Identifier: BSD-2-Clause
// Batched operations on large matrices, one after the other (contract in kernels/cpu/batched-abi.h): one text
// for all operations and sizes, which are arguments. The text (emit/batched.c) has defined what
// kernels/cpu/batched.h asks for but sizes and kind.
#include "kernels/cpu/batched-large-cholesky.h"
#include "kernels/cpu/batched-large-inverse.h"
#include "kernels/cpu/batched-large-product.h"

__attribute__((visibility("default"))) void ritz_batched_kernel(const RitzBatchedArgs *args, int64_t begin,
                                                                int64_t end);
__attribute__((visibility("default"))) int64_t ritz_batched_work_bytes(const RitzBatchedArgs *args);
__attribute__((visibility("default"))) extern const RitzKernelInfo ritz_batched_info;

// op(A) of a product or system.
RITZ_INLINE RitzPlane ritz_large_operand(const RitzBatchedArgs *args, int operand, bool is_transposed,
                                         int64_t i) {
  const RitzPlane plane = ritz_plane(&args->operand[operand], i);
  return is_transposed ? ritz_plane_transposed(plane) : plane;
}

static int32_t ritz_large_matrix(const RitzBatchedArgs *args, int64_t i, const int32_t *size) {
  const int64_t m = size[0], n = size[1], k = size[2];
  const RitzLargeFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const RitzPlane A = ritz_large_operand(args, 0, args->kind == RITZ_KIND_PRODUCT && args->trans_a, i);
  int32_t *ipiv = args->ipiv ? args->ipiv + i * args->ipiv_stride : NULL;
  RitzReal *scratch = args->work;
  RitzPlane B;

  if (args->kind == RITZ_KIND_CHOLESKY) return ritz_large_potrf(A, n, args->is_upper, scratch);
  if (args->kind == RITZ_KIND_LU) return ritz_large_getrf(A, m, n, args->has_pivots, ipiv, scratch);
  if (args->kind == RITZ_KIND_INVERSE && args->is_factored)
    return ritz_large_getri(A, n, args->has_pivots ? ipiv : NULL, scratch);
  B = ritz_large_operand(args, 1, args->trans_b || args->is_right, i);
  if (args->kind == RITZ_KIND_INVERSE) return ritz_large_inv(A, n, scratch, B);
  if (args->kind == RITZ_KIND_SOLVE) {
    const int64_t rows = args->operand[1].rows == 3 ? 1 : size[args->operand[1].rows];
    const int64_t cols = args->operand[1].cols == 3 ? 1 : size[args->operand[1].cols];

    ritz_large_systems(args, args->has_pivots ? ipiv : NULL, A, B, args->is_right ? cols : rows,
                       args->is_right ? rows : cols, scratch);
    return 0;
  }
  const RitzPlane C = ritz_large_operand(args, 2, false, i);
  if (args->operand[2].cols == 3)
    ritz_large_column(A, B, args->trans_a ? n : m, args->trans_a ? m : n, f, C, scratch);
  else
    ritz_large_product(A, B, m, n, k, f, C, scratch);
  return 0;
}

int64_t ritz_batched_work_bytes(const RitzBatchedArgs *args) {
  const int64_t m = args->bounds[0], n = args->bounds[1], k = args->bounds[2];
  const RitzBatchedPlaces *B = &args->operand[1];
  const int dim = args->is_right ? B->cols : B->rows;
  int64_t num = 0;

  switch (args->kind) {
  case RITZ_KIND_CHOLESKY: num = ritz_cholesky_entries(n); break;
  case RITZ_KIND_LU: num = ritz_lu_entries(m, n); break;
  case RITZ_KIND_INVERSE: num = ritz_inverse_entries(n); break;
  case RITZ_KIND_SOLVE: num = ritz_systems_entries(dim == 3 ? 1 : args->bounds[dim]); break;
  default: num = ritz_product_entries(n, k) + m + n + 2 * RITZ_BLOCK;
  }
  return num * (int64_t)sizeof(RitzReal);
}

void ritz_batched_kernel(const RitzBatchedArgs *args, int64_t begin, int64_t end) {
  for (int64_t place = begin; place < end; place++) {
    const int64_t i = args->order ? args->order[place] : place;
    int32_t size[3];
    int32_t info = 0;

    for (int d = 0; d < 3; d++) size[d] = args->sizes[d] ? args->sizes[d][i] : args->bounds[d];
    info = ritz_large_matrix(args, i, size);
    if (args->info) args->info[i] = info;
  }
}

const RitzKernelInfo ritz_batched_info = {RITZ_BATCHED_ABI, RITZ_LANES, 0};
