// SPDX-License-Identifier: BSD-2-Clause
// Bases on one batch of elements by sum factorisation or as matrices (contract in unfused-basis.h).
#include "backends/cpu/unfused-basis.h"

#include <string.h>

#include "backends/cpu/unfused.h"
#include "kernels/cpu/block.h"

_Static_assert(RITZ_LANES == RITZ_UNFUSED_LANES, "plans for this kernel have its number of lanes");

// ---- One matrix ----

// An array [rows][cols], or its transposed one.
typedef struct {
  RitzDense table;
  int rows, cols;
} Matrix;

static Matrix matrix_of(const CeedScalar *values, CeedInt rows, CeedInt cols, bool is_transposed) {
  return is_transposed ? (Matrix){{values, 1, cols}, cols, rows} : (Matrix){{values, cols, 1}, rows, cols};
}

// y (+)= A x, values sx and sy vectors apart.
static void multiply(const Matrix *A, const RitzVec *x, int sx, RitzVec *y, int sy, bool add) {
  int i = 0;
  for (; i + RITZ_DENSE_ROWS <= A->rows; i += RITZ_DENSE_ROWS)
    ritz_dense_block(RITZ_DENSE_ROWS, A->cols, ritz_dense_from(A->table, i, 0), x, sx, y + i * sy, sy, add);
  for (; i < A->rows; i++)
    ritz_dense_block(1, A->cols, ritz_dense_from(A->table, i, 0), x, sx, y + i * sy, sy, add);
}

static int64_t power(int64_t n, CeedInt exponent) {
  int64_t p = 1;
  for (CeedInt i = 0; i < exponent; i++) p *= n;
  return p;
}

// y [slow][rows][fast] (+)= A x [slow][cols][fast]
static void contract(const Matrix *A, int64_t slow, int64_t fast, const RitzVec *x, RitzVec *y, bool add) {
  for (int64_t s = 0; s < slow; s++) {
    for (int64_t f = 0; f < fast; f++)
      multiply(A, x + s * A->cols * fast + f, (int)fast, y + s * A->rows * fast + f, (int)fast, add);
  }
}

// ---- Tensor bases, one component ----

// Room for the largest result between two directions.
static int64_t buffer_size(const RitzUnfusedBasis *b) { return b->P > b->Q ? b->P : b->Q; }

// All directions, the first one first: `grad` in direction `special` (-1: none), `interp` in the others.
static void sweep(const RitzUnfusedBasis *b, bool transposes, CeedInt special, const RitzVec *x, RitzVec *y,
                  bool add, RitzVec *scratch) {
  RitzVec *buffer[2] = {scratch, scratch + buffer_size(b)};
  for (CeedInt d = 0; d < b->dim; d++) {
    const bool is_last = d == b->dim - 1;
    const Matrix A = matrix_of(d == special ? b->grad : b->interp, b->Q_1d, b->P_1d, transposes);
    RitzVec *to = is_last ? y : buffer[d % 2];
    contract(&A, power(A.cols, b->dim - 1 - d), power(A.rows, d), x, to, add && is_last);
    x = to;
  }
}

// Derivative along direction d of values at the points.
static void differentiate(const RitzUnfusedBasis *b, bool transposes, CeedInt d, const RitzVec *x, RitzVec *y,
                          bool add) {
  const Matrix A = matrix_of(b->deriv, b->Q_1d, b->Q_1d, transposes);
  contract(&A, power(b->Q_1d, b->dim - 1 - d), power(b->Q_1d, d), x, y, add);
}

static void tensor_interp_up(const RitzUnfusedBasis *b, const RitzVec *x, RitzVec *y, RitzVec *scratch) {
  if (b->is_identity)
    memcpy(y, x, (size_t)b->Q * sizeof(*y));
  else
    sweep(b, false, -1, x, y, false, scratch);
}

static void tensor_interp_down(const RitzUnfusedBasis *b, const RitzVec *y, RitzVec *x, bool add,
                               RitzVec *scratch) {
  if (!b->is_identity) {
    sweep(b, true, -1, y, x, add, scratch);
    return;
  }
  for (CeedInt i = 0; i < b->P; i++) x[i] = add ? x[i] + y[i] : y[i];
}

// Directions of the gradient lie `stride` vectors apart.
static void tensor_grad_up(const RitzUnfusedBasis *b, int64_t stride, const RitzVec *x, RitzVec *y,
                           RitzVec *scratch) {
  if (b->deriv && !b->is_identity) {
    RitzVec *values = scratch + 2 * buffer_size(b);
    sweep(b, false, -1, x, values, false, scratch);
    x = values;
  }
  for (CeedInt d = 0; d < b->dim; d++) {
    if (b->deriv)
      differentiate(b, false, d, x, y + d * stride, false);
    else
      sweep(b, false, d, x, y + d * stride, false, scratch);
  }
}

static void tensor_grad_down(const RitzUnfusedBasis *b, int64_t stride, const RitzVec *y, RitzVec *x,
                             bool add, RitzVec *scratch) {
  const bool by_values = b->deriv && !b->is_identity;
  RitzVec *sum = by_values ? scratch + 2 * buffer_size(b) : x;
  for (CeedInt d = 0; d < b->dim; d++) {
    const bool adds = d > 0 || (add && !by_values);
    if (b->deriv)
      differentiate(b, true, d, y + d * stride, sum, adds);
    else
      sweep(b, true, d, y + d * stride, sum, adds, scratch);
  }
  if (by_values) sweep(b, true, -1, sum, x, add, scratch);
}

// ---- Blocks of vector bases, one field component ----

// The largest result between two directions.
static int64_t block_buffer_size(const RitzUnfusedBasis *b) {
  int64_t largest = 0;
  for (CeedInt c = 0; c < b->dim; c++) {
    int64_t size = 1;
    for (CeedInt d = 0; d < b->dim; d++) size *= CeedIntMax(b->blocks[c].P[d], b->Q_1d);
    if (size > largest) largest = size;
  }
  return largest;
}

// y (+)= sign times block x, nodes -> points, or transposed; `grad` in direction `special` (-1: none),
// `interp` in the others.
static void block_sweep(const RitzUnfusedBasis *b, const RitzUnfusedBlock *block, bool transposes,
                        CeedInt special, int sign, const RitzVec *x, RitzVec *y, bool add, RitzVec *scratch) {
  RitzVec *buffer[2] = {scratch, scratch + block_buffer_size(b)};
  int64_t slow = transposes ? b->Q : block->num_nodes, fast = 1;
  for (CeedInt d = 0; d < b->dim; d++) {
    const CeedScalar *table = d == special ? block->grad[d] : block->interp[d];
    const Matrix A = matrix_of(table, b->Q_1d, block->P[d], transposes);
    slow /= A.cols;
    contract(&A, slow, fast, x, buffer[d % 2], false);
    fast *= A.rows;
    x = buffer[d % 2];
  }
  for (int64_t i = 0; i < fast; i++) {
    const RitzVec term = sign < 0 ? -x[i] : x[i];
    y[i] = add ? y[i] + term : term;
  }
}

// No block before c, and no direction before d of c, has reached the row.
static bool is_first_of_row(const RitzUnfusedBasis *b, CeedInt c, CeedInt d) {
  for (CeedInt i = 0; i < c * b->dim + d; i++) {
    const RitzUnfusedBlock *block = &b->blocks[i / b->dim];
    if (block->grad[i % b->dim] && block->row[i % b->dim] == b->blocks[c].row[d]) return false;
  }
  return true;
}

// Rows lie `stride` vectors apart.
static void blocks_up(const RitzUnfusedBasis *b, bool is_interp, int64_t stride, const RitzVec *x, RitzVec *y,
                      RitzVec *scratch) {
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzUnfusedBlock *block = &b->blocks[c];
    const RitzVec *nodes = x + block->first;
    if (is_interp) block_sweep(b, block, false, -1, 1, nodes, y + c * stride, false, scratch);
    for (CeedInt d = 0; !is_interp && d < b->dim; d++) {
      if (block->grad[d])
        block_sweep(b, block, false, d, block->sign[d], nodes, y + block->row[d] * stride,
                    !is_first_of_row(b, c, d), scratch);
    }
  }
}

static void blocks_down(const RitzUnfusedBasis *b, bool is_interp, int64_t stride, const RitzVec *y,
                        RitzVec *x, bool add, RitzVec *scratch) {
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzUnfusedBlock *block = &b->blocks[c];
    RitzVec *nodes = x + block->first;
    bool adds = add;
    if (is_interp) block_sweep(b, block, true, -1, 1, y + c * stride, nodes, add, scratch);
    for (CeedInt d = 0; !is_interp && d < b->dim; d++) {
      if (!block->grad[d]) continue;
      block_sweep(b, block, true, d, block->sign[d], y + block->row[d] * stride, nodes, adds, scratch);
      adds = true;
    }
  }
}

// ---- Dense bases, all components ----

static void dense_up(const RitzUnfusedBasis *b, bool is_interp, CeedInt num_comp, const RitzVec *x,
                     RitzVec *y) {
  const CeedInt q_comp = is_interp ? b->q_comp_interp : b->q_comp_deriv;
  const CeedScalar *table = is_interp ? b->interp : b->grad;
  for (CeedInt d = 0; d < q_comp; d++) {
    const Matrix A = matrix_of(table + (int64_t)d * b->Q * b->P, b->Q, b->P, false);
    for (CeedInt c = 0; c < num_comp; c++, y += b->Q) multiply(&A, x + c * b->P, 1, y, 1, false);
  }
}

static void dense_down(const RitzUnfusedBasis *b, bool is_interp, CeedInt num_comp, const RitzVec *y,
                       RitzVec *x, bool add) {
  const CeedInt q_comp = is_interp ? b->q_comp_interp : b->q_comp_deriv;
  const CeedScalar *table = is_interp ? b->interp : b->grad;
  for (CeedInt d = 0; d < q_comp; d++) {
    const Matrix A = matrix_of(table + (int64_t)d * b->Q * b->P, b->Q, b->P, true);
    for (CeedInt c = 0; c < num_comp; c++, y += b->Q) multiply(&A, y, 1, x + c * b->P, 1, add || d > 0);
  }
}

// ---- All components ----

int64_t ritz_unfused_basis_scratch(const RitzUnfusedBasis *b) {
  return b->is_tensor ? 3 * buffer_size(b) : b->has_blocks ? 2 * block_buffer_size(b) : 0;
}

void ritz_unfused_basis_up(const RitzUnfusedBasis *b, CeedEvalMode mode, CeedInt num_comp, const RitzVec *x,
                           RitzVec *y, RitzVec *scratch) {
  const bool is_interp = mode == CEED_EVAL_INTERP;
  for (CeedInt c = 0; b->has_blocks && c < num_comp; c++)
    blocks_up(b, is_interp, (int64_t)num_comp * b->Q, x + c * b->P, y + c * b->Q, scratch);
  if (b->has_blocks) return;
  if (!b->is_tensor) {
    dense_up(b, is_interp, num_comp, x, y);
    return;
  }
  for (CeedInt c = 0; c < num_comp; c++, x += b->P, y += b->Q) {
    if (is_interp)
      tensor_interp_up(b, x, y, scratch);
    else
      tensor_grad_up(b, (int64_t)num_comp * b->Q, x, y, scratch);
  }
}

void ritz_unfused_basis_down(const RitzUnfusedBasis *b, CeedEvalMode mode, CeedInt num_comp, const RitzVec *y,
                             RitzVec *x, bool add, RitzVec *scratch) {
  const bool is_interp = mode == CEED_EVAL_INTERP;
  for (CeedInt c = 0; b->has_blocks && c < num_comp; c++)
    blocks_down(b, is_interp, (int64_t)num_comp * b->Q, y + c * b->Q, x + c * b->P, add, scratch);
  if (b->has_blocks) return;
  if (!b->is_tensor) {
    dense_down(b, is_interp, num_comp, y, x, add);
    return;
  }
  for (CeedInt c = 0; c < num_comp; c++, x += b->P, y += b->Q) {
    if (is_interp)
      tensor_interp_down(b, y, x, add, scratch);
    else
      tensor_grad_down(b, (int64_t)num_comp * b->Q, y, x, add, scratch);
  }
}

void ritz_unfused_basis_weights(const RitzUnfusedBasis *b, RitzVec *weights) {
  const bool has_grid = b->is_tensor || b->has_blocks;
  for (CeedInt q = 0; q < b->Q; q++) {
    CeedScalar w = has_grid ? 1 : b->weights[q];
    for (CeedInt d = 0, rest = q; has_grid && d < b->dim; d++, rest /= b->Q_1d)
      w *= b->weights[rest % b->Q_1d];
    weights[q] = ritz_splat(w);
  }
}
