// SPDX-License-Identifier: BSD-2-Clause
// How blocks of threads share assembly (contract in plan/gpu-assembly.h).
#include "plan/gpu-assembly.h"

#include <string.h>

enum { THREADS = 128, MAX_ROWS = 6, SHARED_BYTES = 24 << 10 };
// Diagonals: elements of a thread, of a block, which may have more of them where these bytes are enough.
enum {
  DIAGONAL_ELEMENTS = 4,
  DIAGONAL_BLOCK = 64,
  DIAGONAL_BYTES = 40 << 10,
  DIAGONAL_MORE_BYTES = 24 << 10
};
// Element matrices on tensor bases: sums of a thread, threads of a block and those that registers are enough
// for.
enum { MAX_SUMS = 36, TENSOR_THREADS = 128, TENSOR_RESIDENT = 384, TENSOR_BYTES = 40 << 10 };

// ---- Sides ----

static bool is_served_by_lines(const RitzActiveGroups *g, CeedInt group) {
  const CeedBasis basis = g->bases[group];
  if (basis == CEED_BASIS_NONE || !basis->is_tensor || basis->dim < 2 || basis->dim > 3) return false;
  for (CeedInt m = 0; m < g->num_modes[group]; m++) {
    if (g->modes[group][m] != CEED_EVAL_INTERP && g->modes[group][m] != CEED_EVAL_GRAD) return false;
  }
  return true;
}

RitzAssemblySide ritz_assembly_side(const RitzActiveGroups *g, CeedInt group) {
  RitzAssemblySide side = {.num_nodes = ritz_group_num_nodes(g, group),
                           .num_comp = ritz_group_num_comp(g, group),
                           .num_modes = g->num_modes[group],
                           .num_scalars = (CeedInt)g->num_total,
                           .offsets = g->offsets[group],
                           .basis = g->bases[group],
                           .modes = g->modes[group]};
  if (!is_served_by_lines(g, group)) return side;
  const CeedBasis basis = g->bases[group];
  side.dim = basis->dim;
  side.nodes_1d = basis->P_1d;
  side.points_1d = basis->Q_1d;
  side.interp_1d = basis->interp_1d;
  side.grad_1d = basis->grad_1d;
  return side;
}

// ---- Shares ----

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

// Whether input and output have one table.
static bool is_symmetric(const RitzAssemblySide *in, const RitzAssemblySide *out) {
  return in->basis == out->basis && in->num_modes == out->num_modes && in->num_nodes == out->num_nodes &&
         !memcmp(in->modes, out->modes, (size_t)in->num_modes * sizeof(*in->modes));
}

// Threads of an element on tensor bases.
static CeedInt threads_of_element(const RitzGpuAssembly *a) {
  return a->rows_1 * a->in.nodes_1d * ritz_assembly_second(&a->in, a->in.nodes_1d) *
         (ritz_assembly_second(&a->out, a->out.nodes_1d) / a->rows_2);
}

static int64_t num_shared(const RitzGpuAssembly *a) {
  const int64_t slots = (int64_t)a->num_elem * a->chunk, modes = (int64_t)a->in.num_modes * a->out.num_modes;
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return 0;
  if (a->kind == RITZ_ASSEMBLE_DIAGONAL)
    return slots * modes + ritz_gpu_assembly_products(a) * a->chunk * a->rows * a->tile_rows;
  if (a->is_tensor)
    return modes * (slots + (int64_t)a->num_elem * ritz_assembly_second(&a->in, a->in.points_1d) * a->rows_1 *
                                a->in.nodes_1d);
  return slots * (modes + (int64_t)a->out.num_modes * a->cols * a->tile_cols);
}

static bool fits(const RitzGpuAssembly *a, int64_t num_bytes) {
  return num_shared(a) * (int64_t)sizeof(CeedScalar) <= num_bytes;
}

// Nodes of a thread, then some elements, as many points of them as fit (they lie side by side in memory), and
// more elements where all points fit.
static void choose_diagonal(int64_t num_bytes, RitzGpuAssembly *a) {
  a->is_symmetric = is_symmetric(&a->in, &a->out);
  a->rows = choose_entries(a->in.num_nodes);
  a->row_groups = (a->in.num_nodes + a->rows - 1) / a->rows;
  a->tile_rows = CeedIntMin(a->row_groups, a->num_threads);
  a->cols = a->row_groups > 2 ? DIAGONAL_ELEMENTS : DIAGONAL_ELEMENTS / 2;
  a->num_elem = DIAGONAL_BLOCK;
  a->chunk = 1;
  while (a->num_elem > 1 && !fits(a, num_bytes)) a->num_elem /= 2;
  while (a->tile_rows > 1 && !fits(a, num_bytes)) a->tile_rows /= 2;
  for (a->chunk = a->num_points; a->chunk > 1 && !fits(a, num_bytes);) a->chunk--;
  a->chunk = ritz_gpu_assembly_tiles(a->num_points, ritz_gpu_assembly_tiles(a->num_points, a->chunk));
  a->cols = CeedIntMin(a->cols, a->num_elem);
  a->col_groups = CeedIntMin(a->num_elem / a->cols, CeedIntMax(1, a->num_threads / a->tile_rows));
  a->num_elem = a->cols * a->col_groups;
  while ((a->col_groups + 1) * a->tile_rows <= a->num_threads) {
    a->num_elem = a->cols * ++a->col_groups;
    if (fits(a, num_bytes < DIAGONAL_MORE_BYTES ? num_bytes : DIAGONAL_MORE_BYTES)) continue;
    a->num_elem = a->cols * --a->col_groups;
    break;
  }
  a->num_threads = CeedIntMin(a->num_threads, (a->col_groups * a->tile_rows + 31) / 32 * 32);
  a->tile_cols = a->col_groups;
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

// Rows of a thread and of a block, then as many elements and planes of points as keep the threads busy
// and fit; false: the kernel for all bases takes the matrices.
static bool choose_tensor(int64_t num_bytes, CeedInt max_threads, RitzGpuAssembly *a) {
  const CeedInt rows = ritz_assembly_second(&a->out, a->out.nodes_1d), num = a->in.nodes_1d * a->out.nodes_1d;
  const CeedInt plane = a->in.points_1d * ritz_assembly_second(&a->in, a->in.points_1d);
  if (a->in.dim == 0 || a->in.dim != a->out.dim || a->in.points_1d != a->out.points_1d || num > MAX_SUMS)
    return false;
  for (a->rows_2 = rows; rows % a->rows_2 || a->rows_2 * num > MAX_SUMS;) a->rows_2--;
  a->rows_1 = a->num_elem = 1;
  if (threads_of_element(a) > 2 * max_threads) return false;
  const CeedInt most_rows = CeedIntMax(1, max_threads / threads_of_element(a));
  const CeedInt tiles = ritz_gpu_assembly_tiles(a->out.nodes_1d, most_rows);
  a->rows_1 = ritz_gpu_assembly_tiles(a->out.nodes_1d, tiles);
  a->planes = a->in.points_1d;
  a->chunk = a->planes * plane;
  a->num_elem = CeedIntMax(1, max_threads / threads_of_element(a));
  while (a->num_elem > 1 && !fits(a, num_bytes)) a->num_elem--;
  while (a->planes > 1 && !fits(a, num_bytes)) a->chunk = --a->planes * plane;
  a->num_threads = (a->num_elem * threads_of_element(a) + 31) / 32 * 32;
  a->num_resident = CeedIntMax(1, TENSOR_RESIDENT / a->num_threads);
  return fits(a, num_bytes);
}

bool ritz_plan_gpu_assembly(int64_t shared_bytes, CeedInt max_threads, RitzGpuAssembly *a) {
  a->is_tensor = a->kind >= RITZ_ASSEMBLE_MATRICES; // num_shared asks
  if (a->is_tensor && choose_tensor(shared_bytes < TENSOR_BYTES ? shared_bytes : TENSOR_BYTES,
                                    CeedIntMin(TENSOR_THREADS, max_threads), a))
    return true;
  a->is_tensor = false;
  a->num_threads = CeedIntMin(THREADS, max_threads);
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return true;
  if (a->kind == RITZ_ASSEMBLE_DIAGONAL) {
    choose_diagonal(shared_bytes < DIAGONAL_BYTES ? shared_bytes : DIAGONAL_BYTES, a);
    if (!fits(a, DIAGONAL_BYTES)) choose_diagonal(shared_bytes, a);
    return fits(a, shared_bytes);
  }
  choose_matrix(a);
  choose_block(shared_bytes < SHARED_BYTES ? shared_bytes : SHARED_BYTES, a);
  if (!fits(a, SHARED_BYTES)) choose_block(shared_bytes, a);
  return fits(a, shared_bytes);
}

int64_t ritz_gpu_assembly_blocks(const RitzGpuAssembly *a, CeedInt num_elem) {
  const int64_t num_points = (int64_t)num_elem * a->num_points;
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return (num_points + a->num_threads - 1) / a->num_threads;
  const int64_t tiles = a->is_tensor ? ritz_gpu_assembly_tiles(a->out.nodes_1d, a->rows_1)
                                     : (int64_t)ritz_gpu_assembly_tiles(a->row_groups, a->tile_rows) *
                                           ritz_gpu_assembly_tiles(a->col_groups, a->tile_cols);
  return (num_elem + a->num_elem - 1) / a->num_elem * tiles * ritz_gpu_assembly_pairs(a);
}
