// SPDX-License-Identifier: BSD-2-Clause
// Batched operations on large matrices, one after the other (contract in kernels/cpu/batched-abi.h): one text
// for all operations and sizes, which are arguments. The text (emit/batched.c) has defined what
// kernels/cpu/batched.h asks for but sizes and kind.
#include "kernels/cpu/batched-large-cholesky.h"
#include "kernels/cpu/batched-large-inverse.h"
#include "kernels/cpu/batched-large-structured.h"

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

// Factors and solution; B of a matrix without them is left as it is.
static int32_t ritz_large_system(const RitzBatchedArgs *args, RitzPlane A, RitzPlane B, int64_t n,
                                 int64_t columns, int32_t *ipiv, RitzReal *scratch) {
  const bool is_lu = args->kind == RITZ_KIND_LU_SYSTEM;
  const int32_t info = is_lu ? ritz_large_getrf(A, n, n, args->has_pivots, ipiv, scratch)
                             : ritz_large_potrf(A, n, args->is_upper, scratch);

  if (info == 0) ritz_large_systems(args, is_lu && args->has_pivots ? ipiv : NULL, A, B, n, columns, scratch);
  return info;
}

// Products with symmetric and triangular matrices; B and, if there is one, C from the left side.
static void ritz_large_structured(const RitzBatchedArgs *args, RitzPlane A, RitzPlane B, RitzPlane C,
                                  int64_t order, int64_t columns) {
  const RitzLargeFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const RitzBatchedTriangle *t = &args->triangle[0];
  const RitzPlane L = args->is_upper ? ritz_plane_transposed(A) : A;

  if (args->kind == RITZ_KIND_SYMMETRIC)
    ritz_large_symmetric(L, B, order, columns, f, C, args->work);
  else
    ritz_large_triangular(L, t->is_lower == t->is_transposed, t->is_unit, order, columns, f.alpha, B,
                          args->work);
}

RITZ_INLINE int64_t ritz_large_size(const int32_t *size, int dim) { return dim == 3 ? 1 : size[dim]; }

static int32_t ritz_large_matrix(const RitzBatchedArgs *args, int64_t i, const int32_t *size) {
  const int64_t m = size[0], n = size[1], k = size[2];
  const RitzLargeFactors f = {(RitzReal)args->alpha, (RitzReal)args->beta};
  const bool is_product = args->kind == RITZ_KIND_PRODUCT || args->kind == RITZ_KIND_RANK_UPDATE;
  const RitzPlane A = ritz_large_operand(args, 0, is_product && args->trans_a, i);
  int32_t *ipiv = args->ipiv ? args->ipiv + i * args->ipiv_stride : NULL;
  RitzReal *scratch = args->work;
  RitzPlane B;

  if (args->kind == RITZ_KIND_CHOLESKY) return ritz_large_potrf(A, n, args->is_upper, scratch);
  if (args->kind == RITZ_KIND_LU) return ritz_large_getrf(A, m, n, args->has_pivots, ipiv, scratch);
  if (args->kind == RITZ_KIND_INVERSE && args->is_factored)
    return ritz_large_getri(A, n, args->has_pivots ? ipiv : NULL, scratch);
  B = ritz_large_operand(args, 1, args->trans_b || args->is_right, i);
  if (args->kind == RITZ_KIND_INVERSE) return ritz_large_inv(A, n, scratch, B);
  if (args->kind == RITZ_KIND_RANK_UPDATE) {
    ritz_large_update(A, n, k, f, args->is_upper ? ritz_plane_transposed(B) : B, scratch);
    return 0;
  }
  const int64_t rows = ritz_large_size(size, args->operand[1].rows);
  const int64_t cols = ritz_large_size(size, args->operand[1].cols);
  if (args->kind == RITZ_KIND_LU_SYSTEM || args->kind == RITZ_KIND_SPD_SYSTEM)
    return ritz_large_system(args, A, B, n, cols, ipiv, scratch);
  if (args->kind == RITZ_KIND_SOLVE) {
    ritz_large_systems(args, args->has_pivots ? ipiv : NULL, A, B, args->is_right ? cols : rows,
                       args->is_right ? rows : cols, scratch);
    return 0;
  }
  if (args->kind == RITZ_KIND_TRIANGULAR || args->kind == RITZ_KIND_SYMMETRIC) {
    const bool has_sums = args->kind == RITZ_KIND_SYMMETRIC;

    ritz_large_structured(args, A, B, has_sums ? ritz_large_operand(args, 2, args->is_right, i) : B,
                          args->is_right ? cols : rows, args->is_right ? rows : cols);
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
  const int64_t rows = ritz_large_size(args->bounds, B->rows), cols = ritz_large_size(args->bounds, B->cols);
  const int64_t order = args->is_right ? cols : rows, columns = args->is_right ? rows : cols;
  int64_t num = 0;

  switch (args->kind) {
  case RITZ_KIND_CHOLESKY: num = ritz_cholesky_entries(n); break;
  case RITZ_KIND_LU: num = ritz_lu_entries(m, n); break;
  case RITZ_KIND_INVERSE: num = ritz_inverse_entries(n); break;
  case RITZ_KIND_SOLVE: num = ritz_systems_entries(order); break;
  case RITZ_KIND_LU_SYSTEM: num = ritz_lu_entries(n, n) + ritz_systems_entries(n); break;
  case RITZ_KIND_SPD_SYSTEM: num = ritz_cholesky_entries(n) + ritz_systems_entries(n); break;
  case RITZ_KIND_SYMMETRIC:
  case RITZ_KIND_TRIANGULAR: num = ritz_structured_entries(order, columns); break;
  case RITZ_KIND_RANK_UPDATE:
    num = ritz_apart(n) * RITZ_UPDATE_COLUMNS + ritz_product_entries(RITZ_UPDATE_COLUMNS, k);
    break;
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
