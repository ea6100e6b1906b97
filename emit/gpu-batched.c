// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra -> texts of its kernels: sizes in front of kernels/gpu/batched-*.h.
#include "emit/gpu-batched.h"

#include "emit/text.h"

// Sizes, which all texts with sizes have.
static void add_sizes(RitzText *t, const RitzGpuBatched *p) {
  if (p->has_any_size)
    ritz_text_add(
        t, "#define RITZ_M       bound_m\n#define RITZ_N       bound_n\n#define RITZ_K       bound_k\n");
  else
    ritz_text_add(t, "#define RITZ_M       %d\n#define RITZ_N       %d\n#define RITZ_K       %d\n",
                  (int)p->size[RITZ_DIM_M], (int)p->size[RITZ_DIM_N], (int)p->size[RITZ_DIM_K]);
  ritz_text_add(t, "#define RITZ_RESIDENT %d\n", p->num_resident);
  if (p->is_uniform) ritz_text_add(t, "#define RITZ_UNIFORM\n");
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS && p->is_uniform; i++)
    ritz_text_add(t, "#define RITZ_LD_%c    %d\n#define RITZ_FORM_%c  %d\n", 'A' + i, (int)p->ld[i], 'A' + i,
                  p->form[i]);
  if (p->has_pivots) ritz_text_add(t, "#define RITZ_PIVOTS\n");
}

static void add_rows(RitzText *t, const RitzGpuBatched *p) {
  const bool inverts = p->kind == RITZ_BATCH_GETRI, has_mma = p->design == RITZ_BATCH_MMA;
  if (has_mma)
    ritz_text_add(t, "#define RITZ_TILES   %d\n#define RITZ_WARPS   %d\n", p->num_tiles, p->group / 32);
  for (int i = 0; i < 2 && has_mma; i++) {
    if (p->is_transposed[i]) ritz_text_add(t, "#define RITZ_TRANSPOSED_%c\n", 'A' + i);
  }
  if (has_mma && p->shares) ritz_text_add(t, "#define RITZ_SHARES\n");
  if (p->design == RITZ_BATCH_ROLLED) ritz_text_add(t, "#define RITZ_STAGE   %d\n", p->num_steps);
  if (!has_mma)
    ritz_text_add(t, "#define RITZ_GROUP   %d // threads of a matrix\n#define RITZ_COLUMNS %d // at a time\n",
                  p->group, p->num_columns);
  add_sizes(t, p);
  if (p->solves_twice || inverts) ritz_text_add(t, "#define RITZ_TWICE\n");
  if (p->is_symmetric) ritz_text_add(t, "#define RITZ_MIRRORS\n");
}

static void add_blocks(RitzText *t, const RitzGpuBatched *p) {
  add_sizes(t, p);
  ritz_text_add(t, "#define RITZ_SHARED_BYTES %lld\n", (long long)p->shared_bytes);
  if (p->holds) ritz_text_add(t, "#define RITZ_HOLD\n");
  if (p->num_stages) ritz_text_add(t, "#define RITZ_STAGES %d\n", p->num_stages);
  if (p->warp_rows)
    ritz_text_add(t, "#define RITZ_WARP_ROWS %d\n#define RITZ_WARP_COLS %d\n", p->warp_rows, p->warp_cols);
  if (p->tile_rows)
    ritz_text_add(t, "#define RITZ_TILE_ROWS %d\n#define RITZ_TILE_COLS %d\n", p->tile_rows, p->tile_cols);
  const RitzBatchDim columns = p->kind == RITZ_BATCH_PRODUCT ? RITZ_DIM_N : RITZ_DIM_K;
  if ((p->kind == RITZ_BATCH_PRODUCT || p->kind == RITZ_BATCH_SOLVE) && p->size[columns] == 1)
    ritz_text_add(t, "#define RITZ_ONE_COLUMN\n");
  for (int i = 0; i < 2; i++) {
    if (p->form[i] & RITZ_BATCH_IS_TRANSPOSED) ritz_text_add(t, "#define RITZ_TURNED_%c\n", 'A' + i);
  }
}

// Masks of the operands of products, the triangle that is written, the operand that the product overwrites.
static void add_masks(RitzText *t, const RitzGpuBatched *p) {
  for (int i = 0; i < 2; i++) {
    if (p->mask[i]) ritz_text_add(t, "#define RITZ_MASK_%c  %d\n", 'A' + i, p->mask[i]);
  }
  if (p->keeps == 1) ritz_text_add(t, "#define RITZ_KEEPS_LOWER\n");
  if (p->keeps == 2) ritz_text_add(t, "#define RITZ_KEEPS_UPPER\n");
  if (p->in_place) ritz_text_add(t, "#define RITZ_IN_PLACE %d\n", p->in_place);
}

static void add_tiles(RitzText *t, const RitzGpuBatched *p) {
  if (p->is_uniform) add_sizes(t, p);
  ritz_text_add(t, "#define RITZ_TILE_ROWS     %d\n#define RITZ_TILE_COLS     %d\n", p->tile[0], p->tile[1]);
  ritz_text_add(t, "#define RITZ_TILE_MATRICES %d\n", p->tile[2]);
  for (int i = 0; i < RITZ_BATCHED_MAX_OPERANDS; i++)
    ritz_text_add(t, "#define RITZ_ORDER_%c %d\n", 'A' + i, p->order[i]);
  if (p->target != p->precision)
    ritz_text_add(t, "#define RITZ_TARGET_%s\n", p->target == CEED_SCALAR_FP32 ? "F32" : "F64");
  if (p->is_in_memory) ritz_text_add(t, "#define RITZ_IN_MEMORY\n");
}

// Reflectors and rotations: sizes are those of the call.
static void add_lanes(RitzText *t, const RitzGpuBatched *p) {
  ritz_text_add(t, "#define RITZ_PARTS   %d // threads that share a column\n", p->num_lanes);
  if (p->holds)
    ritz_text_add(t, "#define RITZ_HOLD\n#define RITZ_SHARED_BYTES %lld\n", (long long)p->shared_bytes);
}

int ritz_emit_gpu_batched(Ceed ceed, const RitzGpuBatched *p, char **text) {
  static const char *const files[] = {"any", "rows", "rolled", "mma", "qr", "jacobi", "qr-columns"};
  static const char *const kinds[] = {"PRODUCT", "SOLVE", "POTRF", "GETRF", "GETRI", "INV",
                                      "COPY",    "GEAM",  "LASET", "LASWP", "GEQRF", "ORMQR",
                                      "ORGQR",   "GELS",  "SYEVJ", "GESVDJ"};
  RitzText t = {.ceed = ceed};
  ritz_text_add(&t, "#define RITZ_%s\n", kinds[p->kind]);
  if (p->precision == CEED_SCALAR_FP32) ritz_text_add(&t, "#define RITZ_ENTRY_F32\n");
  ritz_text_add(&t, "#define RITZ_THREADS %d\n", p->num_threads);
  if (p->takes_all) ritz_text_add(&t, "#define RITZ_TAKES_ALL\n");
  if (p->work) ritz_text_add(&t, "#define RITZ_WORK    %d\n", p->work);
  if (p->kind == RITZ_BATCH_PRODUCT && (p->has_rows || p->has_blocks)) add_masks(&t, p);
  if (p->design == RITZ_BATCH_COLUMNS)
    ritz_text_add(&t, "#define RITZ_GROUP   %d\n#define RITZ_ROWS    %d\n#define RITZ_RESIDENT %d\n",
                  p->group, (int)p->size[RITZ_DIM_M], p->num_resident);
  if (p->num_lanes) add_lanes(&t, p);
  if (p->has_rows) add_rows(&t, p);
  if (p->has_blocks) add_blocks(&t, p);
  if (p->has_tiles) add_tiles(&t, p);
  ritz_text_add(&t, "#include \"kernels/gpu/batched-%s.h\"\n",
                p->has_tiles    ? "move"
                : p->has_blocks ? "blocks"
                                : files[p->design]);
  return ritz_text_finish(&t, text);
}
