// SPDX-License-Identifier: BSD-2-Clause
// How blocks of threads share assembly (contract in plan/gpu-assembly.h).
#include "plan/gpu-assembly.h"

#include "core/core.h"

enum { THREADS = 128, MAX_ROWS = 6, MAX_NODES = 4, SHARED_BYTES = 24 << 10 };

// Entries of a thread in a direction of n: least work, counting what threads at the end do in vain and what
// each entry's share of its row and column costs beside a product.
static CeedInt choose_entries(CeedInt n) {
  CeedInt best = 1;
  double least = 0;
  for (CeedInt r = 1; r <= MAX_ROWS && r <= n; r++) {
    const double padded = (double)((n + r - 1) / r * r), work = padded * (1 + 0.75 / r);
    if (r > 1 && work >= least) continue;
    least = work;
    best = r;
  }
  return best;
}

static void choose_matrix(RitzGpuAssembly *a) {
  a->rows = choose_entries(a->out.num_nodes);
  a->cols = choose_entries(a->in.num_nodes);
  a->row_groups = (a->out.num_nodes + a->rows - 1) / a->rows;
  a->col_groups = (a->in.num_nodes + a->cols - 1) / a->cols;
  a->tile_cols = CeedIntMin(a->col_groups, a->num_threads);
}

static void choose_diagonal(RitzGpuAssembly *a) {
  a->rows = CeedIntMin(MAX_NODES, a->in.num_nodes);
  a->row_groups = (a->in.num_nodes + a->rows - 1) / a->rows;
  a->cols = a->col_groups = a->tile_cols = 1;
}

int64_t ritz_gpu_assembly_shared(const RitzGpuAssembly *a) {
  const int64_t slots = (int64_t)a->num_elem * a->chunk, modes = (int64_t)a->in.num_modes * a->out.num_modes;
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return 0;
  if (a->kind == RITZ_ASSEMBLE_DIAGONAL) return slots * modes;
  return slots * (modes + (int64_t)a->out.num_modes * a->cols * a->tile_cols);
}

static bool fits(const RitzGpuAssembly *a, int64_t num_bytes) {
  return ritz_gpu_assembly_shared(a) * (int64_t)sizeof(CeedScalar) <= num_bytes;
}

// As many elements as keep the threads busy, then as many points as fit.
static void choose_block(int64_t num_bytes, RitzGpuAssembly *a) {
  a->num_elem = a->chunk = 1;
  while (a->tile_cols > 1 && !fits(a, num_bytes)) a->tile_cols /= 2;
  a->tile_rows = CeedIntMin(a->row_groups, a->num_threads / a->tile_cols);
  a->num_elem = a->num_threads / (a->tile_cols * a->tile_rows);
  while (a->num_elem > 1 && !fits(a, num_bytes)) a->num_elem--;
  for (a->chunk = a->num_points; a->chunk > 1 && !fits(a, num_bytes);) a->chunk--;
}

bool ritz_plan_gpu_assembly(int64_t shared_bytes, CeedInt max_threads, RitzGpuAssembly *a) {
  a->num_threads = CeedIntMin(THREADS, max_threads);
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return true;
  if (a->kind == RITZ_ASSEMBLE_DIAGONAL)
    choose_diagonal(a);
  else
    choose_matrix(a);
  choose_block(shared_bytes < SHARED_BYTES ? shared_bytes : SHARED_BYTES, a);
  if (!fits(a, SHARED_BYTES)) choose_block(shared_bytes, a);
  return fits(a, shared_bytes);
}

int64_t ritz_gpu_assembly_blocks(const RitzGpuAssembly *a, CeedInt num_elem) {
  const int64_t num_points = (int64_t)num_elem * a->num_points;
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return (num_points + a->num_threads - 1) / a->num_threads;
  const int64_t tiles = (int64_t)ritz_gpu_assembly_tiles(a->row_groups, a->tile_rows) *
                        ritz_gpu_assembly_tiles(a->col_groups, a->tile_cols);
  return (num_elem + a->num_elem - 1) / a->num_elem * tiles * ritz_gpu_assembly_pairs(a);
}
