// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra -> texts of its kernels: sizes in front of kernels/gpu/batched-*.h.
#include "emit/gpu-batched.h"

#include "emit/text.h"

// What texts with sizes have in common.
static void add_sizes(RitzText *t, const RitzGpuBatched *p) {
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
  if (p->design == RITZ_BATCH_TURNS) ritz_text_add(t, "#define RITZ_STAGE   %d\n", p->num_steps);
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
    ritz_text_add(t,
                  "#define RITZ_WARP_ROWS %d\n#define RITZ_WARP_COLS %d\n"
                  "#define RITZ_TILE_ROWS %d\n#define RITZ_TILE_COLS %d\n",
                  p->warp_rows, p->warp_cols, p->tile_rows, p->tile_cols);
  const RitzBatchDim columns = p->kind == RITZ_BATCH_PRODUCT ? RITZ_DIM_N : RITZ_DIM_K;
  if ((p->kind == RITZ_BATCH_PRODUCT || p->kind == RITZ_BATCH_SOLVE) && p->size[columns] == 1)
    ritz_text_add(t, "#define RITZ_ONE_COLUMN\n");
  for (int i = 0; i < 2; i++) {
    if (p->form[i] & RITZ_BATCH_IS_TRANSPOSED) ritz_text_add(t, "#define RITZ_TURNED_%c\n", 'A' + i);
  }
}

int ritz_emit_gpu_batched(Ceed ceed, const RitzGpuBatched *p, char **text) {
  static const char *const files[] = {"any", "rows", "turns", "mma"};
  static const char *const kinds[] = {"PRODUCT", "SOLVE", "POTRF", "GETRF", "GETRI", "INV"};
  RitzText t = {.ceed = ceed};
  ritz_text_add(&t, "#define RITZ_%s\n", kinds[p->kind]);
  if (p->precision == CEED_SCALAR_FP32) ritz_text_add(&t, "#define RITZ_ENTRY_F32\n");
  ritz_text_add(&t, "#define RITZ_THREADS %d\n", p->num_threads);
  if (p->takes_all) ritz_text_add(&t, "#define RITZ_TAKES_ALL\n");
  if (p->work) ritz_text_add(&t, "#define RITZ_WORK    %d\n", p->work);
  if (p->has_rows) add_rows(&t, p);
  if (p->has_blocks) add_blocks(&t, p);
  ritz_text_add(&t, "#include \"kernels/gpu/batched-%s.h\"\n", p->has_blocks ? "blocks" : files[p->design]);
  return ritz_text_finish(&t, text);
}
