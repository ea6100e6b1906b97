// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern (ritz/assembly.h): what the symbolic phase leaves for numeric ones. Made by
// core/assembly-pattern.c, filled by core/assembly-values.c on the host, or by the slots assembly_* of
// backends, in their own memory.
#ifndef RITZ_CORE_ASSEMBLY_PATTERN_H
#define RITZ_CORE_ASSEMBLY_PATTERN_H

#include <ritz/assembly.h>

#include "core/core.h"

// Element matrices of one pair of groups of one operator (op->assembly_data): output group b by input group
// a. Row c * out->elem_size + node, column c * in->elem_size + node, c the component. Entry (i, j) of element
// e belongs to row r = ritz_assembly_row(block, e, i) of the pattern, at
//
//     row_starts[r] + places[(e * num_rows + i) * num_cols + j]
//
// Places do not say anything about orientations, which are in the element matrices.
typedef struct {
  CeedOperator op; // of the assembly: itself or a part
  CeedInt a, b;
  CeedElemRestriction in, out;
  CeedInt num_rows, num_cols;
  void *places; // owned; uint8_t, uint16_t or uint32_t, see place_bytes
} RitzAssemblyBlock;

// Values are the sums over all blocks, in their order, and all elements, ascending; a backend may choose
// another order if it is a fixed one. Nonzeros of a given pattern that no element touches are zero.
struct RitzAssembly_private {
  const RitzClass *class;
  Ceed ceed;        // counted
  CeedOperator op;  // counted
  const char *call; // static, for messages: the public function that is served
  CeedSize num_rows, num_cols;
  bool is_given; // row_starts and cols are the caller's, and may have more entries than the operator
  const int64_t *row_starts, *cols; // owned unless is_given
  int place_bytes;                  // 1, 2 or 4
  CeedInt num_blocks;
  RitzAssemblyBlock *blocks; // owned
  void *data;                // the backend's; NULL: nothing
};

// Entry of the output's L-vector that holds row i of an element matrix.
static inline CeedSize ritz_assembly_row(const RitzAssemblyBlock *block, CeedInt elem, CeedInt i) {
  return ritz_restriction_l_index(block->out, elem, i % block->out->elem_size, i / block->out->elem_size);
}
static inline int64_t ritz_assembly_col(const RitzAssemblyBlock *block, CeedInt elem, CeedInt j) {
  return ritz_restriction_l_index(block->in, elem, j % block->in->elem_size, j / block->in->elem_size);
}
static inline int64_t ritz_assembly_num_nonzeros(const struct RitzAssembly_private *a) {
  return a->row_starts[a->num_rows];
}

// An assembly in a given pattern, without places: these follow, once. CEED_ERROR_INCOMPATIBLE: an entry is
// not in the pattern.
int ritz_assembly_create_in(CeedOperator op, const char *call, const int64_t *row_starts, const int64_t *cols,
                            RitzAssembly *assembly);
int ritz_assembly_place(RitzAssembly assembly);

// Columns first_col .. first_col + num_cols - 1 of the matrix of one element: entry (i, j) at i * row_stride
// + offsets[j - first_col].
typedef struct {
  const CeedScalar *entries;
  CeedSize row_stride;
  CeedInt first_col, num_cols;
  const CeedSize *offsets; // [num_cols]
} RitzElementMatrix;

#endif
