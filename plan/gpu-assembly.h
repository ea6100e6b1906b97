// SPDX-License-Identifier: BSD-2-Clause
// Assembly on devices from derivatives at the points, which a block evaluates for some points of some
// elements at a time (kernels/gpu/assembly.h): sizes of what is assembled, and how threads share it.
#ifndef RITZ_PLAN_GPU_ASSEMBLY_H
#define RITZ_PLAN_GPU_ASSEMBLY_H

#include <stdbool.h>

#include "core/core.h"

typedef enum {
  RITZ_ASSEMBLE_QFUNCTION, // the derivatives themselves, all scalars
  RITZ_ASSEMBLE_DIAGONAL,  // of elements, or blocks [c_out][c_in]
  RITZ_ASSEMBLE_MATRICES,  // of elements
  RITZ_ASSEMBLE_PATTERN,   // these, added up in a pattern
} RitzAssemblyKind;

// The active fields of one direction on one basis (RitzActiveGroups of core/core.h). Scalar
// offsets[m] + c of all active ones is component c of mode m.
typedef struct {
  CeedInt num_nodes, num_comp, num_modes;
  CeedInt num_scalars;       // of all active fields at a point
  const CeedSize *offsets;   // borrowed, [num_modes]; NULL: mode m is scalar m
  CeedBasis basis;           // borrowed
  const CeedEvalMode *modes; // borrowed, [num_modes]
  // Sizes and tables of a tensor basis of which nothing but values and gradients is taken; else 0. Borrowed.
  CeedInt dim, nodes_1d, points_1d;
  const CeedScalar *interp_1d, *grad_1d;
} RitzAssemblySide;

typedef struct {
  RitzAssemblyKind kind;
  RitzAssemblySide in, out;
  CeedInt num_points; // of an element
  bool is_blocks;     // of a diagonal: all pairs of components
  bool is_symmetric;  // of a diagonal: input and output have one table
  bool is_kept;       // the derivatives are read from an assembled QFunction
  // Patterns: some elements of a list, which share no entry; else additions are atomic. Bytes of a place in a
  // row (1, 2, 4); whether rows begin beyond 2^31 nonzeros.
  bool is_ordered, is_long;
  CeedInt place_bytes;
  const bool *is_active; // borrowed, of the QFunction's inputs, then outputs
  // Threads and elements of a block, points of an element at a time.
  CeedInt num_threads, num_elem, chunk;
  // Entries of a thread; threads side by side in a whole matrix, in what a block does of it. Of a diagonal
  // nodes and elements of a thread, threads of an element and elements' threads of a block.
  CeedInt rows, cols, row_groups, col_groups, tile_rows, tile_cols;
  // Element matrices on tensor bases, direction after direction (kernels/gpu/assembly-tensor.h): rows of the
  // first direction of a block, rows of the second of a thread, planes of points at a time; how many blocks
  // registers have to be enough for.
  bool is_tensor;
  CeedInt rows_1, rows_2, planes, num_resident;
} RitzGpuAssembly;

// The side of a group of active fields, which has to live as long.
RitzAssemblySide ritz_assembly_side(const RitzActiveGroups *groups, CeedInt group);

// Chooses for blocks of at most max_threads threads (a power of two; of element matrices on tensor bases
// twice as many) with so much declared shared memory; false: the derivatives at one point do not fit there.
bool ritz_plan_gpu_assembly(int64_t shared_bytes, CeedInt max_threads, RitzGpuAssembly *a);

// Nodes and points of a tensor basis along the second of three directions: 1 for squares.
static inline CeedInt ritz_assembly_second(const RitzAssemblySide *s, CeedInt num) {
  return s->dim == 3 ? num : 1;
}

static inline CeedInt ritz_gpu_assembly_tiles(CeedInt groups, CeedInt tile) {
  return (groups + tile - 1) / tile;
}
// Pairs of components: blocks of threads for the same elements.
static inline CeedInt ritz_gpu_assembly_pairs(const RitzGpuAssembly *a) {
  const bool is_diagonal = a->kind == RITZ_ASSEMBLE_DIAGONAL && !a->is_blocks;
  return is_diagonal ? a->in.num_comp : a->in.num_comp * a->out.num_comp;
}
// Products of modes that derivatives are multiplied with for a diagonal.
static inline int64_t ritz_gpu_assembly_products(const RitzGpuAssembly *a) {
  return a->is_symmetric ? (int64_t)a->in.num_modes * (a->in.num_modes + 1) / 2
                         : (int64_t)a->in.num_modes * a->out.num_modes;
}
// Blocks of threads for so many elements.
int64_t ritz_gpu_assembly_blocks(const RitzGpuAssembly *a, CeedInt num_elem);

#endif
