// SPDX-License-Identifier: BSD-2-Clause
// Dense bases by tensor cores in targets of devices (contract in plan/gpu-tiles.h).
//
// An element of P nodes and Q points with derivatives takes 2 * dim * P * Q multiply-adds forth and back,
// which tensor cores do in P and Q rounded up to eights. Of each 8 x 8 block of a matrix a warp reads 512
// bytes of shared memory for 16 elements, half of what a multiprocessor reads while it multiplies. Matrices
// come from the second cache once a block, 16 elements a warp, and data at points from memory, while the
// block works on the tile before.
#include "plan/gpu-tiles.h"

#include <string.h>

#include "plan/gpu-simple-inputs.h"

enum {
  OF_WARP = 16,  // elements
  OF_THREAD = 2, // of these
  OF_FOUR = 4    // numbers of a thread for eight nodes or points
};

// ---- What can ----

// Numbers that a thread holds: nodes or sums of all its spaces, values at its points of inputs or outputs.
static void count_numbers(const RitzPlan *plan, CeedInt *nodes, CeedInt *values) {
  CeedInt at_points[2] = {0, 0};
  *nodes = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (!ritz_gpu_is_dense(plan, s)) continue;
    *nodes += OF_FOUR * s->num_comp * ritz_gpu_tile_nodes(&plan->bases[s->basis]);
    at_points[s->is_input] +=
        OF_FOUR * s->num_comp * (ritz_gpu_dense_values(plan, s) + ritz_gpu_dense_derivatives(plan, s));
  }
  *values = CeedIntMax(at_points[0], at_points[1]);
}

bool ritz_plan_gpu_can_tile(const RitzPlan *plan) {
  CeedInt nodes, values;
  if (plan->precision != CEED_SCALAR_FP64) return false;
  for (int b = 0; b < plan->num_bases; b++) {
    if (ritz_plan_has_grid(&plan->bases[b])) return false;
  }
  count_numbers(plan, &nodes, &values);
  return nodes > 0 && nodes + 2 * values <= RITZ_GPU_TILE_NUMBERS;
}

bool ritz_plan_gpu_pays_tiles(const RitzPlan *plan) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (!ritz_gpu_is_dense(plan, s)) continue;
    const CeedInt parts = ritz_gpu_dense_values(plan, s) + ritz_gpu_dense_derivatives(plan, s);
    if (parts * plan->bases[s->basis].P >= RITZ_GPU_LEAST_TILE) return true;
  }
  return false;
}

CeedInt ritz_plan_gpu_tile_registers(const RitzPlan *plan) {
  CeedInt nodes, values, point = 0;
  count_numbers(plan, &nodes, &values);
  for (int i = 0; i < plan->num_in + plan->num_out; i++) point += plan->fields[i].size;
  return CeedIntMin(RITZ_GPU_MOST_REGISTERS,
                    ritz_gpu_real_words(plan) * (nodes + 2 * values + point) + RITZ_GPU_OTHER_REGISTERS);
}

// ---- Matrices in shared memory ----

CeedInt ritz_plan_gpu_tile_size(const RitzPlan *plan, int basis, bool is_derivative) {
  const RitzPlanBasis *b = &plan->bases[basis];
  CeedInt q_comp = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->basis != basis || !ritz_gpu_is_dense(plan, s)) continue;
    q_comp = CeedIntMax(q_comp,
                        is_derivative ? ritz_gpu_dense_derivatives(plan, s) : ritz_gpu_dense_values(plan, s));
  }
  return q_comp * ritz_gpu_tile_nodes(b) * RITZ_GPU_MMA_PLACES * RITZ_GPU_MMA_PLACES;
}

CeedInt ritz_plan_gpu_tile_place(const RitzPlan *plan, const RitzGpuTarget *t, int basis,
                                 bool is_derivative) {
  CeedInt place = 0;
  for (int b = 0; b < basis; b++)
    place += ritz_plan_gpu_tile_size(plan, b, false) + ritz_plan_gpu_tile_size(plan, b, true);
  if (is_derivative) place += ritz_plan_gpu_tile_size(plan, basis, false);
  return place * t->num_staged_tiles;
}

CeedInt ritz_plan_gpu_tile_sizes(const RitzPlan *plan) {
  CeedInt size = 0;
  for (int b = 0; b < plan->num_bases; b++)
    size += ritz_plan_gpu_tile_size(plan, b, false) + ritz_plan_gpu_tile_size(plan, b, true);
  return size;
}

// Numbers of all matrices in shared memory.
static CeedInt staged_size(const RitzPlan *plan, const RitzGpuTarget *t) {
  return (ritz_gpu_has_halves(plan, t) ? 2 : 1) * t->num_staged_tiles * ritz_plan_gpu_tile_sizes(plan);
}

void ritz_gpu_fill_tiles(CeedInt q_comp, CeedInt Q, CeedInt P, const CeedScalar *table, double *tiles) {
  const CeedInt eight = RITZ_GPU_MMA_PLACES, of_row = (P + eight - 1) / eight;
  memset(tiles, 0, ritz_gpu_tiles_size(q_comp, Q, P) * sizeof(*tiles));
  for (CeedInt d = 0; d < q_comp; d++) {
    for (CeedInt q = 0; q < Q; q++) {
      for (CeedInt p = 0; p < P; p++) {
        const CeedInt pair = q % eight / 2, shift = 2 * pair + pair % 2;
        const size_t block =
            ((size_t)(q / eight) * (size_t)q_comp + (size_t)d) * (size_t)of_row + (size_t)(p / eight);
        tiles[block * RITZ_GPU_TILE + (size_t)(pair * 16 + (p % eight ^ shift) * 2 + q % 2)] =
            table[((size_t)d * (size_t)Q + (size_t)q) * (size_t)P + (size_t)p];
      }
    }
  }
}

// ---- Data at points ----

bool ritz_plan_gpu_is_ahead(const RitzPlan *plan, const RitzGpuTarget *t, int s) {
  return t->num_prefetched_tiles > 0 && plan->spaces[s].is_input && plan->spaces[s].basis < 0;
}

CeedInt ritz_plan_gpu_ahead_place(const RitzPlan *plan, const RitzGpuTarget *t, int s) {
  CeedInt num = 0;
  for (int i = 0; i < s; i++) {
    if (ritz_plan_gpu_is_ahead(plan, t, i)) num += OF_FOUR * plan->spaces[i].num_comp;
  }
  return staged_size(plan, t) + num * t->num_prefetched_tiles * t->num_threads;
}

// Numbers of a thread for a tile.
static CeedInt count_ahead(const RitzPlan *plan) {
  CeedInt num = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    if (plan->spaces[i].is_input && plan->spaces[i].basis < 0) num += OF_FOUR * plan->spaces[i].num_comp;
  }
  return num;
}

// Data of two tiles are there where they are small or tiles large; else more memory would be taken from the
// cache, where neighbours find what they share.
static CeedInt count_prefetched_tiles(const RitzPlan *plan, CeedInt num_threads) {
  const CeedInt bytes = count_ahead(plan) * num_threads * ritz_gpu_real_bytes(plan);
  const bool is_large =
      ritz_plan_gpu_tile_sizes(plan) * ritz_gpu_real_bytes(plan) >= RITZ_GPU_LARGE_TILE_BYTES;
  if (bytes == 0 || bytes > RITZ_GPU_AHEAD_BYTES) return 0;
  return is_large || 4 * bytes <= RITZ_GPU_AHEAD_BYTES ? 2 : 1;
}

// ---- The block ----

static void set_block(const RitzPlan *plan, const RitzGpuMachine *machine, CeedInt warps, RitzGpuTarget *t) {
  t->num_elem = warps * OF_WARP;
  t->num_threads = warps * RITZ_GPU_WARP;
  t->num_prefetched_tiles = count_prefetched_tiles(plan, t->num_threads);
  const CeedInt num = ritz_plan_gpu_place_simple(
      plan, t, staged_size(plan, t) + t->num_prefetched_tiles * count_ahead(plan) * t->num_threads);
  const CeedInt exchanged = machine->has_mma ? 0 : OF_FOUR * t->num_threads;
  t->exchange = exchanged ? num : 0;
  t->shared_bytes = (num + exchanged) * ritz_gpu_real_bytes(plan);
}

void ritz_plan_gpu_choose_tiles(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  const CeedInt most = RITZ_GPU_STAGED_BYTES / (ritz_plan_gpu_tile_sizes(plan) * ritz_gpu_real_bytes(plan));
  CeedInt warps = t->choice.num_elem ? t->choice.num_elem / OF_WARP : RITZ_GPU_TILE_WARPS;
  t->strides = (RitzLineStrides){1, 1, 1};
  t->elem_per_thread = t->elem_per_pack = t->Q_1d = OF_THREAD;
  t->num_lines = plan->Q;
  t->num_staged_tiles = most >= ritz_gpu_num_tiles(plan) ? ritz_gpu_num_tiles(plan) : CeedIntMax(1, most / 2);
  warps = CeedIntMax(1, CeedIntMin(warps, machine->max_threads / RITZ_GPU_WARP));
  for (set_block(plan, machine, warps, t);
       t->shared_bytes > machine->shared_bytes && t->num_staged_tiles > 1;) {
    t->num_staged_tiles = ritz_gpu_has_halves(plan, t) ? t->num_staged_tiles - 1 : t->num_staged_tiles / 2;
    set_block(plan, machine, warps, t);
  }
  while (warps > 1 && t->shared_bytes > machine->shared_bytes) set_block(plan, machine, --warps, t);
  if (t->shared_bytes > machine->shared_bytes) t->reason = "an element that does not fit shared memory";
  if (!ritz_plan_gpu_has_room(plan, machine, t)) t->reason = RITZ_NO_ROOM;
}
