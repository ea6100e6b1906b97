// SPDX-License-Identifier: BSD-2-Clause
// How blocks of threads share assembly (contract in plan/gpu-assembly.h).
#include "plan/gpu-assembly.h"

#include "core/core.h"

enum { THREADS = 128, MAX_ROWS = 6, MAX_NODES = 4, SHARED_BYTES = 24 << 10 };
// Of patterns: threads of a warp, whose products are 32 rows by at most 32 columns, 4 rows a thread. Inner
// size of a chunk's products, scalars of its derivatives, bytes of a block and its sums.
enum { WARP = 32, WARP_COLS = 32, ROW_ENTRIES = 4, INNER = 16, DERIVATIVES = 1100, ROWS_BYTES = 72 << 10 };
enum { SUMS = 2048, LINE_SUMS = 4096, MOST_SUMS = 65536 };
// By lines: the most nodes a direction, whose cube a thread has in registers, and points; scalars of
// derivatives.
enum {
  LINE_NODES = 3,
  LINE_POINTS = 4,
  LINE_DERIVATIVES = 2304,
  LINE_TABLES = 2 * LINE_NODES * LINE_POINTS * 8
};

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

// ---- Patterns ----

CeedInt ritz_gpu_rows_inner(const RitzGpuAssembly *a) { return (a->chunk * a->in.num_modes + 7) / 8 * 8; }

// Of the columns of a tile those that there are.
static CeedInt kept_columns(const RitzGpuAssembly *a) { return CeedIntMin(a->tile_cols, a->in.num_nodes); }

int64_t ritz_gpu_rows_bytes(const RitzGpuAssembly *a) {
  const int64_t inner = ritz_gpu_rows_inner(a), modes = (int64_t)a->in.num_modes * a->out.num_modes;
  const int64_t products = a->is_by_lines ? 0 : inner * (a->tile_rows + a->tile_cols + 8);
  const int64_t operands = products + modes * a->num_elem * a->chunk;
  const int64_t tile = (int64_t)a->tile_rows * (kept_columns(a) | 1);
  return (a->num_sums + (operands > tile ? operands : tile)) * (int64_t)sizeof(CeedScalar);
}

// With what the block declares: numbers of each row, places of entries, tables of lines.
static bool fit_rows(const RitzGpuAssembly *a, int64_t num_bytes) {
  return ritz_gpu_rows_bytes(a) + a->tile_rows * (8 + 2 * (int64_t)kept_columns(a)) + LINE_TABLES <=
         num_bytes;
}

// Warps side by side along the columns, then along the rows; fewer threads than a warp have fewer rows.
static void choose_tile(RitzGpuAssembly *a) {
  const CeedInt warps = CeedIntMax(a->num_threads / WARP, 1), in_row = CeedIntMin(a->num_threads, 4);
  CeedInt across = 1;
  while (across < warps && across * WARP_COLS < a->in.num_nodes) across *= 2;
  const CeedInt cols = (a->in.num_nodes + across - 1) / across;
  const CeedInt width = CeedIntMin(WARP_COLS, (cols + 7) / 8 * 8);
  a->rows = ROW_ENTRIES;
  a->cols = a->uses_mma ? width : width / in_row;
  a->tile_cols = width * across;
  a->tile_rows = a->num_threads / (across * in_row) * a->rows;
}

// A row of an element for a thread, a plane of points at a time.
static void choose_lines(RitzGpuAssembly *a) {
  a->uses_mma = false;
  a->rows = 1;
  a->cols = a->tile_cols = a->in.num_nodes;
  a->tile_rows = a->num_threads;
  a->chunk = a->Q_1d * a->Q_1d;
  a->num_elem = CeedIntMax(CeedIntMin(LINE_DERIVATIVES / (9 * a->chunk), a->tile_rows / 2), 1);
}

static void choose_chunk(RitzGpuAssembly *a) {
  const CeedInt modes = a->in.num_modes * a->out.num_modes;
  a->chunk = CeedIntMin(CeedIntMax(INNER / a->in.num_modes, 1), a->num_points);
  a->num_elem = CeedIntMax(CeedIntMin(DERIVATIVES / (modes * a->chunk), a->tile_rows / 4), 1);
}

bool ritz_plan_gpu_rows(int64_t shared_bytes, CeedInt max_threads, RitzGpuAssembly *a) {
  const CeedInt longest = a->num_sums;
  const int64_t wanted = shared_bytes < ROWS_BYTES ? shared_bytes : ROWS_BYTES;
  a->is_by_lines = a->interp_1d && a->P_1d <= LINE_NODES && a->Q_1d <= LINE_POINTS;
  for (a->num_threads = CeedIntMin(THREADS, max_threads); a->num_threads >= 1; a->num_threads /= 2) {
    a->uses_mma = a->uses_mma && a->num_threads >= WARP;
    if (a->is_by_lines) {
      choose_lines(a);
    } else {
      choose_tile(a);
      choose_chunk(a);
    }
    a->num_sums = CeedIntMax(longest, a->is_by_lines ? LINE_SUMS : SUMS);
    if (fit_rows(a, wanted)) return a->num_sums <= MOST_SUMS;
    a->num_sums = longest;
    if (fit_rows(a, shared_bytes)) return a->num_sums <= MOST_SUMS;
  }
  return false;
}

int64_t ritz_gpu_assembly_blocks(const RitzGpuAssembly *a, CeedInt num_elem) {
  const int64_t num_points = (int64_t)num_elem * a->num_points;
  if (a->kind == RITZ_ASSEMBLE_QFUNCTION) return (num_points + a->num_threads - 1) / a->num_threads;
  const int64_t tiles = (int64_t)ritz_gpu_assembly_tiles(a->row_groups, a->tile_rows) *
                        ritz_gpu_assembly_tiles(a->col_groups, a->tile_cols);
  return (num_elem + a->num_elem - 1) / a->num_elem * tiles * ritz_gpu_assembly_pairs(a);
}
