// SPDX-License-Identifier: BSD-2-Clause
// Dense bases by tensor cores in targets of devices (kernels/gpu/tiles.h), of non-tensor plans in double: a
// warp takes 16 elements, whose nodes and sums its threads hold in registers, and goes through the points
// eight at a time. Matrices come to shared memory, as many tiles of points at once as fit. Called by
// plan/gpu.c and plan/gpu-mma.c; emit/gpu-tiles.c writes the text.
#ifndef RITZ_PLAN_GPU_TILES_H
#define RITZ_PLAN_GPU_TILES_H

#include "plan/gpu.h"

bool ritz_plan_gpu_can_tile(const RitzPlan *plan);
// Whether the model chooses them where there are tensor cores.
bool ritz_plan_gpu_pays_tiles(const RitzPlan *plan);
// Warps of a block, tiles at once, memory, of a non-tensor plan that can; a reason if it does not fit.
void ritz_plan_gpu_choose_tiles(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t);
// 32-bit registers that a thread wants.
CeedInt ritz_plan_gpu_tile_registers(const RitzPlan *plan);

// Whether a target is made of tiles.
static inline bool ritz_gpu_has_tiles(const RitzGpuTarget *t) { return t->is_nontensor && t->uses_mma; }
static inline CeedInt ritz_gpu_num_tiles(const RitzPlan *plan) {
  return (plan->Q + RITZ_GPU_MMA_PLACES - 1) / RITZ_GPU_MMA_PLACES;
}
// Blocks of eight nodes.
static inline CeedInt ritz_gpu_tile_nodes(const RitzPlanBasis *b) {
  return (b->P + RITZ_GPU_MMA_PLACES - 1) / RITZ_GPU_MMA_PLACES;
}
// Numbers of a tile of the matrix of values or derivatives of a basis; 0: no space takes it.
CeedInt ritz_plan_gpu_tile_size(const RitzPlan *plan, int basis, bool is_derivative);
// Sum of the tile sizes of the matrices of all bases.
CeedInt ritz_plan_gpu_tile_sizes(const RitzPlan *plan);
// Where its tiles begin in shared memory, in the first of two halves if not all tiles are there at once.
CeedInt ritz_plan_gpu_tile_place(const RitzPlan *plan, const RitzGpuTarget *t, int basis, bool is_derivative);
static inline bool ritz_gpu_has_halves(const RitzPlan *plan, const RitzGpuTarget *t) {
  return t->num_staged_tiles < ritz_gpu_num_tiles(plan);
}

// Data at points that a thread copies ahead of their tile: whether a space's are; their place in shared
// memory, a number of each thread after the other: [point][component][thread], four points.
bool ritz_plan_gpu_is_ahead(const RitzPlan *plan, const RitzGpuTarget *t, int s);
CeedInt ritz_plan_gpu_ahead_place(const RitzPlan *plan, const RitzGpuTarget *t, int s);

// A table [q_comp][Q][P] in blocks: [tile][q_comp][nodes / 8][RITZ_GPU_TILE], entries of a block where
// kernels/gpu/tiles.h wants them.
enum { RITZ_GPU_TILE = RITZ_GPU_MMA_PLACES * RITZ_GPU_MMA_PLACES };
static inline size_t ritz_gpu_tiles_size(CeedInt q_comp, CeedInt Q, CeedInt P) {
  const size_t eight = RITZ_GPU_MMA_PLACES;
  return (size_t)q_comp * (((size_t)Q + eight - 1) / eight) * (((size_t)P + eight - 1) / eight) *
         RITZ_GPU_TILE;
}
void ritz_gpu_fill_tiles(CeedInt q_comp, CeedInt Q, CeedInt P, const CeedScalar *table, double *tiles);

#endif
