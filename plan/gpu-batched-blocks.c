// SPDX-License-Identifier: BSD-2-Clause
// Kernels of batched dense algebra beyond rows in registers (kernels/gpu/batched-blocks.h): tiles, threads
// and shared memory of a block.
#include "plan/gpu-batched.h"

// As in the kernels: columns of a panel, distance of its columns, distance of rows of unknowns.
enum { PART = 16, TILE = 32, UNKNOWNS_FAR = 36, CORNER = 32 * 33 };
enum { SLACK = 32 }; // entries that tiles read behind an array
// Declared arrays: what warps offer as pivots, lines, places of rows.
enum { OTHER_BYTES = 10 << 10 };
// Registers of a multiprocessor and of a thread with a tile.
enum { REGISTERS = 65536, TILE_REGISTERS = 128, COLUMN_REGISTERS = 168, VECTOR_REGISTERS = 80 };

static int tiles_of(CeedInt n) { return (int)((n + TILE - 1) / TILE); }
static int64_t far_of(CeedInt n) { return (int64_t)tiles_of(n) * TILE + 4; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Products: rows and columns of C of a warp, warps of a block along them, blocks of a multiprocessor by their
// registers.
typedef struct {
  int rows, cols, down, across, num_resident;
} Part;

static const Part double_parts[] = {{64, 32, 2, 4, 1}, {48, 48, 2, 2, 2}, {64, 32, 2, 2, 2},
                                    {32, 32, 2, 2, 4}, {32, 32, 4, 1, 4}, {32, 32, 1, 4, 4}};
static const Part single_parts[] = {{64, 32, 2, 4, 2}, {32, 48, 3, 2, 2}, {64, 32, 2, 2, 4},
                                    {32, 32, 2, 2, 4}, {32, 32, 4, 1, 4}, {32, 32, 1, 4, 4}};
enum { NUM_PARTS = sizeof(double_parts) / sizeof(double_parts[0]) };

// Entries of C that parts compute, and entries of operands that they read for a product of each of them.
static double cost_of(const Part *part, const RitzGpuBatched *p) {
  const double entry = 16; // products that cost as much as an entry read
  const int down = part->rows * part->down, across = part->cols * part->across;
  const double rows = (p->size[RITZ_DIM_M] + down - 1) / down * (double)down;
  const double cols = (p->size[RITZ_DIM_N] + across - 1) / across * (double)across;
  return rows * cols * (1 + entry / down + entry / across);
}

// As RITZ_A_SIZE, RITZ_B_SIZE of kernels/gpu/batched-products.h: bytes of a stage.
static int64_t bytes_of_stage(const Part *part, const RitzGpuBatched *p, int64_t entry_bytes) {
  const bool is_turned[2] = {p->form[0] & RITZ_BATCH_IS_TRANSPOSED, !(p->form[1] & RITZ_BATCH_IS_TRANSPOSED)};
  const int64_t size[2] = {part->rows * part->down, part->cols * part->across};
  int64_t entries = 0;
  for (int i = 0; i < 2; i++)
    entries += is_turned[i] ? size[i] * (PART + 4) : PART * (size[i] + 16 / entry_bytes);
  return entries * entry_bytes;
}

// The part that costs least of those that fit, twice in shared memory at least.
static bool plan_product(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes) {
  enum { LEAST_STAGES = 2, MOST_STAGES = 4 };
  const Part *const parts = p->precision == CEED_SCALAR_FP32 ? single_parts : double_parts, *best = NULL;
  for (int i = 0; i < NUM_PARTS; i++) {
    if (LEAST_STAGES * bytes_of_stage(&parts[i], p, entry_bytes) > shared_bytes) continue;
    if (!best || cost_of(&parts[i], p) < cost_of(best, p)) best = &parts[i];
  }
  if (!best) return false;
  const int64_t stage = bytes_of_stage(best, p, entry_bytes),
                most = shared_bytes / best->num_resident / stage;
  p->warp_rows = best->rows, p->warp_cols = best->cols;
  p->tile_rows = best->down, p->tile_cols = best->across;
  p->num_threads = TILE * best->down * best->across;
  p->num_parts = (int)((p->size[RITZ_DIM_M] + best->rows * best->down - 1) / (best->rows * best->down) *
                       ((p->size[RITZ_DIM_N] + best->cols * best->across - 1) / (best->cols * best->across)));
  p->num_stages = (int)(most < LEAST_STAGES ? LEAST_STAGES : least(most, MOST_STAGES));
  p->num_resident = (int)least(best->num_resident, shared_bytes / (p->num_stages * stage));
  p->shared_bytes = p->num_stages * stage;
  return true;
}

// Products with triangles (kernels/gpu/batched-structured.h): blocks of up to eight tiles, or nine where that
// is all of the result.
static bool plan_structured(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes) {
  enum { MOST_ROWS = 4, MOST_TILES = 8 };
  const int rows = tiles_of(p->size[RITZ_DIM_M]), cols = tiles_of(p->size[RITZ_DIM_N]);
  p->tile_rows = (int)least(rows, MOST_ROWS);
  p->tile_cols = (int)least(cols, MOST_TILES / p->tile_rows);
  if (rows == 3 && cols == 3) p->tile_cols = 3;
  p->num_threads = TILE * p->tile_rows * p->tile_cols;
  p->num_parts = (rows + p->tile_rows - 1) / p->tile_rows * ((cols + p->tile_cols - 1) / p->tile_cols);
  const bool is_turned[2] = {p->form[0] & RITZ_BATCH_IS_TRANSPOSED, !(p->form[1] & RITZ_BATCH_IS_TRANSPOSED)};
  const int tiles[2] = {p->tile_rows, p->tile_cols};
  int64_t stage = 0;
  for (int i = 0; i < 2; i++)
    stage += is_turned[i] ? (int64_t)TILE * tiles[i] * (PART + 4) : PART * ((int64_t)TILE * tiles[i] + 4);
  if (p->in_place)
    p->num_parts = p->in_place == 1 ? (cols + p->tile_cols - 1) / p->tile_cols
                                    : (rows + p->tile_rows - 1) / p->tile_rows;
  p->num_stages = 3 * stage * entry_bytes <= shared_bytes / 2 ? 3 : 2;
  p->shared_bytes = p->num_stages * stage * entry_bytes;
  return p->shared_bytes <= shared_bytes;
}

// A row a thread, or 32 rows a warp.
static bool plan_vector_product(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes) {
  enum { MOST_ROWS = 8 };
  const int64_t parts = p->form[0] & RITZ_BATCH_IS_TRANSPOSED ? CORNER : 0;
  const int rows = (int)least(tiles_of(p->size[RITZ_DIM_M]), parts ? MOST_ROWS / 2 : MOST_ROWS);
  p->num_threads = TILE * rows;
  p->num_parts = 1;
  p->shared_bytes = (p->size[RITZ_DIM_K] + PART + rows * parts) * entry_bytes;
  return p->shared_bytes <= shared_bytes;
}

static bool plan_solve(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes) {
  const CeedInt n = p->size[RITZ_DIM_N];
  const bool has_one = p->size[RITZ_DIM_K] == 1;
  if (n > RITZ_BATCH_MAX_BLOCKS) return false;
  p->num_threads = 128;
  p->num_parts = tiles_of(p->size[RITZ_DIM_K]);
  // Two stages, but rather two blocks of a multiprocessor.
  for (p->num_stages = 2; p->num_stages > 0; p->num_stages--) {
    const int64_t entries =
        has_one ? 2 * CORNER + n : p->num_stages * PART * far_of(n) + SLACK + (int64_t)n * UNKNOWNS_FAR;
    p->shared_bytes = entries * entry_bytes;
    if (p->shared_bytes <= (p->num_stages > 1 ? shared_bytes / 2 : shared_bytes)) return true;
  }
  return false;
}

static bool plan_factor(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes,
                        RitzBatchHolding holding) {
  const bool is_lu = p->kind == RITZ_BATCH_GETRF;
  const CeedInt n = p->size[RITZ_DIM_N], m = is_lu ? p->size[RITZ_DIM_M] : n;
  if (m > RITZ_BATCH_MAX_BLOCKS) return false;
  const int64_t panel = PART * (far_of(m) + (is_lu ? far_of(n) : 0)) + SLACK;
  const int64_t held = panel + (int64_t)(m | 1) * n;
  p->num_threads = TILE * tiles_of(m);
  p->num_parts = 1;
  // Matrices in the caches of global memory let more blocks be on a multiprocessor: measured on an H200 at
  // orders 96 and 128, twice as fast.
  p->holds = holding == RITZ_BATCH_HOLDS_ALL && held * entry_bytes <= shared_bytes;
  p->shared_bytes = (p->holds ? held : panel) * entry_bytes;
  return p->shared_bytes <= shared_bytes;
}

static bool plan_inverse(RitzGpuBatched *p, int64_t entry_bytes, int64_t shared_bytes) {
  const CeedInt n = p->size[RITZ_DIM_N];
  if (n > RITZ_BATCH_MAX_BLOCKS) return false;
  p->num_threads = TILE * tiles_of(n);
  p->num_parts = 1;
  p->shared_bytes = (PART * far_of(n) + CORNER + (int64_t)TILE * tiles_of(n) * UNKNOWNS_FAR) * entry_bytes;
  return p->shared_bytes <= shared_bytes;
}

// SYRK, SYMM, TRMM.
static bool has_triangles(const RitzGpuBatched *p) {
  return p->mask[0] || p->mask[1] || p->keeps || p->in_place;
}

static bool plan_kind(RitzGpuBatched *p, int64_t shared_bytes, RitzBatchHolding holding) {
  const int64_t entry_bytes = (int64_t)ritz_scalar_bytes(p->precision);
  switch (p->kind) {
  case RITZ_BATCH_PRODUCT:
    if (p->size[RITZ_DIM_N] == 1) return plan_vector_product(p, entry_bytes, shared_bytes);
    return has_triangles(p) ? plan_structured(p, entry_bytes, shared_bytes)
                            : plan_product(p, entry_bytes, shared_bytes);
  case RITZ_BATCH_SOLVE: return plan_solve(p, entry_bytes, shared_bytes);
  case RITZ_BATCH_POTRF:
  case RITZ_BATCH_GETRF: return plan_factor(p, entry_bytes, shared_bytes, holding);
  case RITZ_BATCH_GETRI:
  case RITZ_BATCH_INV: return plan_inverse(p, entry_bytes, shared_bytes);
  default: return false;
  }
}

void ritz_plan_gpu_batched_blocks(RitzGpuBatched *plan, int max_threads, int64_t shared_bytes,
                                  RitzBatchHolding holding) {
  RitzGpuBatched p = *plan;
  if (p.has_rows) return;
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    if (p.size[d] < 1) return;
  }
  if (!plan_kind(&p, shared_bytes - OTHER_BYTES, holding) || p.num_threads > max_threads) return;
  p.shared_bytes = (p.shared_bytes + 15) / 16 * 16;
  const bool has_column = p.kind == RITZ_BATCH_SOLVE && p.size[RITZ_DIM_K] == 1;
  const bool has_vector = p.kind == RITZ_BATCH_PRODUCT && p.size[RITZ_DIM_N] == 1;
  const int registers = has_column ? COLUMN_REGISTERS : has_vector ? VECTOR_REGISTERS : TILE_REGISTERS;
  if (!p.warp_rows) p.num_resident = (int)least(16, REGISTERS / registers / p.num_threads);
  if (p.num_resident < 1) p.num_resident = 1;
  p.work = 0;
  p.has_blocks = true;
  *plan = p;
}
