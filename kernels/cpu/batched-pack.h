// SPDX-License-Identifier: BSD-2-Clause
// Groups of RITZ_LANES matrices of a batch as matrices of vectors, a lane each: interleaved data of that
// width as they are, others by transposing blocks of RITZ_LANES x RITZ_LANES entries into scratch and back.
// Lanes without a matrix repeat one or are the identity; they, gaps and untouched triangles are never
// written. The text has defined ritz_transpose_lanes(RitzVec *block).
#ifndef RITZ_KERNELS_CPU_BATCHED_PACK_H
#define RITZ_KERNELS_CPU_BATCHED_PACK_H

#include <string.h>

#include "kernels/cpu/batched-abi.h"
#include "kernels/cpu/vector.h"

// Vectors at any entry of any array.
typedef RitzReal RitzEntryVec
    __attribute__((vector_size(RITZ_LANES * sizeof(RitzReal)), aligned(sizeof(RitzReal)), may_alias));
#if RITZ_REAL_BYTES == 8
typedef int64_t RitzMask __attribute__((vector_size(RITZ_LANES * sizeof(int64_t))));
#else
typedef int32_t RitzMask __attribute__((vector_size(RITZ_LANES * sizeof(int32_t))));
#endif

// A matrix of vectors: entry (i, j) is p[i rs + j cs].
typedef struct {
  RitzEntryVec *p;
  int64_t rs, cs;
} RitzView;
#define RITZ_AT(v, i, j) ((v).p[(i) * (v).rs + (j) * (v).cs])

RITZ_INLINE RitzView ritz_view_from(RitzView v, int64_t i, int64_t j) {
  return (RitzView){&RITZ_AT(v, i, j), v.rs, v.cs};
}
RITZ_INLINE RitzView ritz_view_transposed(RitzView v) { return (RitzView){v.p, v.cs, v.rs}; }

// Columns of scratch that are 2 KiB or 4 KiB apart would share few sets of the first cache.
#define RITZ_SCRATCH_LD(rows) ((rows) + ((rows) > 16 && (rows) % 16 == 0))

// ---- Sizes ----

// Sizes that a kernel computes, with what it rounds them up by. They are known to the compiler unless
// RITZ_IS_ANY_SIZE; then RITZ_M etc. are the most that they can be, and sizes are classes, whose remainders
// by RITZ_TILE are those of the most.
typedef struct {
  int m, n, k, order, columns;
} RitzSizes;
#ifndef RITZ_M
#define RITZ_M 1
#endif
#ifndef RITZ_N
#define RITZ_N 1
#endif
#ifndef RITZ_K
#define RITZ_K 1
#endif
#ifndef RITZ_ORDER
#define RITZ_ORDER 1
#endif
#ifndef RITZ_COLUMNS
#define RITZ_COLUMNS 1
#endif

// ---- A group ----

typedef struct {
  const RitzBatchedArgs *args;
  int64_t first; // place of lane 0
  int num;       // lanes that are matrices
  int32_t size[3][RITZ_LANES];
  int32_t info[RITZ_LANES];
  bool is_left_alone[RITZ_LANES]; // there is no matrix, or one with a bad size
} RitzGroup;

RITZ_INLINE int64_t ritz_matrix(const RitzGroup *group, int lane) {
  return group->args->order ? group->args->order[group->first + lane] : group->first + lane;
}

RITZ_INLINE void ritz_group_sizes(RitzGroup *group) {
  const RitzBatchedArgs *args = group->args;

  for (int l = 0; l < group->num; l++) {
    for (int d = 0; d < 3; d++) {
      const int32_t size = args->sizes[d] ? args->sizes[d][ritz_matrix(group, l)] : args->bounds[d];

      group->size[d][l] = size;
      if (size >= 0 && size <= args->bounds[d]) continue;
      if (!group->is_left_alone[l]) group->info[l] = -1001 - d;
      group->is_left_alone[l] = true;
    }
  }
}

RITZ_INLINE void ritz_group_begin(const RitzBatchedArgs *args, int64_t number, RitzGroup *group) {
  const int64_t left = args->count - number * RITZ_LANES;

  group->args = args;
  group->first = number * RITZ_LANES;
  group->num = left < RITZ_LANES ? (int)left : RITZ_LANES;
  while (args->order && ritz_matrix(group, group->num - 1) < 0) group->num--;
  for (int l = 0; l < RITZ_LANES; l++) group->info[l] = 0;
  for (int l = 0; l < RITZ_LANES; l++) group->is_left_alone[l] = l >= group->num;
  if (!args->is_uniform) ritz_group_sizes(group);
}

static int ritz_own_size(const RitzGroup *group, int dim, int lane) {
  if (dim == 3) return 1;
  if (dim > 3) {
    const int m = ritz_own_size(group, 0, lane), n = ritz_own_size(group, 1, lane);
    return (dim == 4) == (m < n) ? m : n;
  }
  return group->args->is_uniform ? group->args->bounds[dim] : group->size[dim][lane];
}

RITZ_INLINE void ritz_group_end(const RitzGroup *group) {
  for (int l = 0; l < group->num && group->args->info; l++)
    group->args->info[ritz_matrix(group, l)] = group->info[l];
}

RITZ_INLINE int ritz_class_of(const RitzGroup *group, int dim, int most) {
  const int size = ritz_batched_size_class(ritz_own_size(group, dim, 0));
  return size < most ? size : most;
}

RITZ_INLINE RitzSizes ritz_sizes(const RitzGroup *group) {
  if (!RITZ_IS_ANY_SIZE) return (RitzSizes){RITZ_M, RITZ_N, RITZ_K, RITZ_ORDER, RITZ_COLUMNS};
  const RitzBatchedArgs *args = group->args;
  const RitzBatchedPlaces *A = &args->operand[0], *B = &args->operand[1], *C = &args->operand[2];
  const bool is_product = args->kind == RITZ_KIND_PRODUCT;
  const int columns = args->kind == RITZ_KIND_INVERSE   ? A->rows
                      : args->kind == RITZ_KIND_APPLY_Q ? (args->is_right ? C->rows : C->cols)
                      : args->is_right                  ? B->rows
                                                        : B->cols;
  const int k = args->kind == RITZ_KIND_FORM_Q ? B->rows : args->trans_a ? A->rows : A->cols;
  const int n = is_product ? C->cols : args->kind == RITZ_KIND_RANK_UPDATE ? B->cols : A->cols;

  return (RitzSizes){.m = ritz_class_of(group, is_product ? C->rows : A->rows, RITZ_M),
                     .n = ritz_class_of(group, n, RITZ_N),
                     .k = ritz_class_of(group, k, RITZ_K),
                     .order = ritz_class_of(group, A->rows, RITZ_ORDER),
                     .columns = ritz_class_of(group, columns, RITZ_COLUMNS)};
}

// ---- Places of matrices ----

RITZ_INLINE RitzReal *ritz_place(const RitzBatchedPlaces *o, int64_t i) {
  const int64_t ld = o->lds ? o->lds[i] : o->ld;
  const int64_t row = o->row0 + (o->first_rows ? o->first_rows[i] : 0);
  const int64_t col = o->col0 + (o->first_cols ? o->first_cols[i] : 0);
  const int64_t start = o->pointers  ? 0
                        : o->offsets ? o->offsets[i]
                                     : (i / o->width) * o->stride + i % o->width;
  char *base = (char *)(o->pointers ? o->pointers[i] : o->base);

  return base ? (RitzReal *)(void *)(base + (start + (row + col * ld) * o->width) * (int64_t)sizeof(RitzReal))
              : NULL;
}

RITZ_INLINE void ritz_places(const RitzGroup *group, const RitzBatchedPlaces *o, RitzReal **p) {
  for (int l = 0; l < RITZ_LANES; l++) p[l] = ritz_place(o, ritz_matrix(group, l < group->num ? l : 0));
}

// ---- Blocks of lanes ----

#if defined(__AVX512F__) && RITZ_LANES * RITZ_REAL_BYTES == 64
// The first `num` entries, 0 .. RITZ_LANES, and zeros; none of the others is touched.
RITZ_INLINE RitzVec ritz_load_some(const RitzReal *from, int num) {
#if RITZ_REAL_BYTES == 8
  return __builtin_ia32_loadupd512_mask(from, ritz_splat(0), (unsigned char)((1u << num) - 1));
#else
  return __builtin_ia32_loadups512_mask(from, ritz_splat(0), (unsigned short)((1u << num) - 1));
#endif
}
RITZ_INLINE void ritz_store_some(RitzReal *to, RitzVec x, int num) {
#if RITZ_REAL_BYTES == 8
  __builtin_ia32_storeupd512_mask(to, x, (unsigned char)((1u << num) - 1));
#else
  __builtin_ia32_storeups512_mask(to, x, (unsigned short)((1u << num) - 1));
#endif
}
#else
RITZ_INLINE void ritz_copy_parts(RitzReal *to, const RitzReal *from, int num) {
  RITZ_UNROLL for (int part = RITZ_LANES; part > 0; part /= 2) {
    if (!(num & part)) continue;
    memcpy(to, from, (size_t)part * sizeof(RitzReal));
    to += part;
    from += part;
  }
}
RITZ_INLINE RitzVec ritz_load_some(const RitzReal *from, int num) {
  RitzVec x = ritz_splat(0);
  ritz_copy_parts((RitzReal *)(RitzEntryVec *)&x, from, num);
  return x;
}
RITZ_INLINE void ritz_store_some(RitzReal *to, RitzVec x, int num) {
  ritz_copy_parts(to, (const RitzReal *)(RitzEntryVec *)&x, num);
}
#endif

RITZ_INLINE void ritz_pack_block(RitzReal *const *p, int64_t at, RitzEntryVec *to) {
  RitzVec block[RITZ_LANES];

  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = *(const RitzEntryVec *)(p[l] + at);
  ritz_transpose_lanes(block);
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) to[l] = block[l];
}

static void ritz_pack_some(RitzReal *const *p, int64_t at, int num, RitzEntryVec *to) {
  RitzVec block[RITZ_LANES];

  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = ritz_load_some(p[l] + at, num);
  ritz_transpose_lanes(block);
  for (int l = 0; l < num; l++) to[l] = block[l];
}

RITZ_INLINE void ritz_unpack_block(const RitzEntryVec *from, RitzReal *const *p, int64_t at, int lanes) {
  RitzVec block[RITZ_LANES];

  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = from[l];
  ritz_transpose_lanes(block);
  if (lanes == RITZ_LANES) {
    RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) * (RitzEntryVec *)(p[l] + at) = block[l];
  } else {
    for (int l = 0; l < lanes; l++) *(RitzEntryVec *)(p[l] + at) = block[l];
  }
}

static void ritz_unpack_some(const RitzEntryVec *from, RitzReal *const *p, int64_t at, int num, int lanes) {
  RitzVec block[RITZ_LANES];

  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = ritz_splat(0);
  for (int l = 0; l < num; l++) block[l] = from[l];
  ritz_transpose_lanes(block);
  for (int l = 0; l < lanes; l++) ritz_store_some(p[l] + at, block[l], num);
}

// `num` entries that follow each other; the last block of many overlaps the one before.
RITZ_INLINE void ritz_pack_run(RitzReal *const *p, int64_t at, int num, RitzEntryVec *to) {
  int r = 0;

  for (; r + RITZ_LANES <= num; r += RITZ_LANES) ritz_pack_block(p, at + r, to + r);
  if (r == num) return;
  if (num >= RITZ_LANES)
    ritz_pack_block(p, at + num - RITZ_LANES, to + num - RITZ_LANES);
  else
    ritz_pack_some(p, at, num, to);
}

RITZ_INLINE void ritz_unpack_run(const RitzEntryVec *from, RitzReal *const *p, int64_t at, int num,
                                 int lanes) {
  int r = 0;

  for (; r + RITZ_LANES <= num; r += RITZ_LANES) ritz_unpack_block(from + r, p, at + r, lanes);
  if (r == num) return;
  if (num >= RITZ_LANES)
    ritz_unpack_block(from + num - RITZ_LANES, p, at + num - RITZ_LANES, lanes);
  else
    ritz_unpack_some(from, p, at, num, lanes);
}

// ---- Operands ----

typedef enum { RITZ_ALL, RITZ_LOWER, RITZ_UPPER } RitzPart;

// Interleaved as vectors, and a matrix in every lane.
RITZ_INLINE bool ritz_is_vectors(const RitzGroup *group, const RitzBatchedPlaces *o) {
  return o->width == RITZ_LANES && group->num == RITZ_LANES && group->args->is_uniform;
}
RITZ_INLINE bool ritz_is_blocked(const RitzGroup *group, const RitzBatchedPlaces *o) {
  return o->width == 1 && !o->lds && group->args->is_uniform;
}

// Entry by entry, around them zeros or, on the diagonal from the first row on that a matrix does not have and
// with has_ones, ones: steps beyond a matrix's own leave it alone.
static void ritz_pack_entries(const RitzGroup *group, const RitzBatchedPlaces *o, int rows, int cols,
                              bool has_ones, RitzView to) {
  for (int c = 0; c < cols; c++) {
    for (int r = 0; r < rows; r++) RITZ_AT(to, r, c) = ritz_splat(has_ones && r == c);
  }
  for (int l = 0; l < group->num; l++) {
    const int64_t ld = o->lds ? o->lds[ritz_matrix(group, l)] : o->ld;
    const int m = ritz_own_size(group, o->rows, l), n = ritz_own_size(group, o->cols, l);
    const RitzReal *p = group->is_left_alone[l] ? NULL : ritz_place(o, ritz_matrix(group, l));

    for (int c = 0; c < n && p; c++) {
      for (int r = 0; r < m; r++) ((RitzReal *)&RITZ_AT(to, r, c))[l] = p[(r + c * ld) * o->width];
    }
    for (int c = n; c < m && c < cols && p; c++) ((RitzReal *)&RITZ_AT(to, c, c))[l] = 0;
  }
}

static void ritz_unpack_entries(const RitzGroup *group, const RitzBatchedPlaces *o, RitzPart part,
                                RitzView from) {
  for (int l = 0; l < group->num; l++) {
    const int64_t ld = o->lds ? o->lds[ritz_matrix(group, l)] : o->ld;
    const int m = ritz_own_size(group, o->rows, l), n = ritz_own_size(group, o->cols, l);
    RitzReal *p = group->is_left_alone[l] ? NULL : ritz_place(o, ritz_matrix(group, l));

    for (int c = 0; c < n && p; c++) {
      const int begin = part == RITZ_LOWER ? c : 0, end = part == RITZ_UPPER && c + 1 < m ? c + 1 : m;

      for (int r = begin; r < end; r++)
        p[(r + c * ld) * o->width] = ((const RitzReal *)&RITZ_AT(from, r, c))[l];
    }
  }
}

// Rows of column c that are part of the operand.
RITZ_INLINE int ritz_part_begin(RitzPart part, int c) { return part == RITZ_LOWER ? c : 0; }
RITZ_INLINE int ritz_part_end(RitzPart part, int c, int rows) {
  return part == RITZ_UPPER && c + 1 < rows ? c + 1 : rows;
}

// Each lane's own matrix of width 1, m x n; no lane: 0 x 0.
typedef struct {
  RitzReal *p[RITZ_LANES];
  int64_t ld[RITZ_LANES];
  int m[RITZ_LANES], n[RITZ_LANES];
} RitzLaneMatrices;

RITZ_INLINE void ritz_lane_matrices(const RitzGroup *group, const RitzBatchedPlaces *o,
                                    RitzLaneMatrices *own) {
  for (int l = 0; l < RITZ_LANES; l++) {
    const bool is_there = l < group->num && !group->is_left_alone[l];
    const int64_t i = is_there ? ritz_matrix(group, l) : 0;

    own->p[l] = is_there ? ritz_place(o, i) : NULL;
    own->ld[l] = is_there && o->lds ? o->lds[i] : o->ld;
    own->m[l] = is_there ? ritz_own_size(group, o->rows, l) : 0;
    own->n[l] = is_there ? ritz_own_size(group, o->cols, l) : 0;
  }
}

RITZ_INLINE int ritz_lane_entries(int left) { return left < 0 ? 0 : left < RITZ_LANES ? left : RITZ_LANES; }

// As ritz_pack_entries, by blocks.
static void ritz_pack_own(const RitzGroup *group, const RitzBatchedPlaces *o, int rows, int cols,
                          bool has_ones, RitzView to) {
  RitzLaneMatrices own;

  ritz_lane_matrices(group, o, &own);
  for (int c = 0; c < cols; c++) {
    for (int r = 0; r < rows; r += RITZ_LANES) {
      RitzVec block[RITZ_LANES];

      RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) {
        const int num = ritz_lane_entries(c < own.n[l] ? own.m[l] - r : 0);
        block[l] = ritz_load_some(own.p[l] + (num > 0 ? r + c * own.ld[l] : 0), num);
      }
      ritz_transpose_lanes(block);
      for (int l = 0; l < RITZ_LANES && r + l < rows; l++) RITZ_AT(to, r + l, c) = block[l];
    }
  }
  for (int l = 0; l < RITZ_LANES && has_ones; l++) {
    for (int k = own.m[l]; k < rows && k < cols; k++) ((RitzReal *)&RITZ_AT(to, k, k))[l] = 1;
  }
}

static void ritz_unpack_own(const RitzGroup *group, const RitzBatchedPlaces *o, int rows, int cols,
                            RitzPart part, RitzView from) {
  RitzLaneMatrices own;

  ritz_lane_matrices(group, o, &own);
  for (int c = 0; c < cols; c++) {
    for (int r = ritz_part_begin(part, c); r < ritz_part_end(part, c, rows); r += RITZ_LANES) {
      RitzVec block[RITZ_LANES];

      RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = ritz_splat(0);
      for (int l = 0; l < RITZ_LANES && r + l < rows; l++) block[l] = RITZ_AT(from, r + l, c);
      ritz_transpose_lanes(block);
      RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) {
        const int num = ritz_lane_entries(c < own.n[l] ? ritz_part_end(part, c, own.m[l]) - r : 0);
        ritz_store_some(own.p[l] + (num > 0 ? r + c * own.ld[l] : 0), block[l], num);
      }
    }
  }
}

// The operand of a group, rows x cols: in place, or in scratch with the matrices' entries if is_read.
static RitzView ritz_pack(const RitzGroup *group, const RitzBatchedPlaces *o, int rows, int cols,
                          bool has_ones, bool is_read, RitzVec *scratch) {
  const int ld = RITZ_SCRATCH_LD(rows);
  const RitzView to = {(RitzEntryVec *)scratch, 1, ld};
  RitzReal *p[RITZ_LANES];

  if (ritz_is_vectors(group, o)) {
    RitzEntryVec *from = (RitzEntryVec *)ritz_place(o, group->first);

    if (o->is_in_place) return (RitzView){from, 1, o->ld};
    for (int c = 0; c < cols && is_read; c++) {
      for (int r = 0; r < rows; r++) to.p[r + c * ld] = from[r + c * o->ld];
    }
    return to;
  }
  if (!is_read) return to;
  if (!ritz_is_blocked(group, o) && o->width == 1) {
    ritz_pack_own(group, o, rows, cols, has_ones, to);
    return to;
  }
  if (!ritz_is_blocked(group, o)) {
    ritz_pack_entries(group, o, rows, cols, has_ones, to);
    return to;
  }
  ritz_places(group, o, p);
  if (o->ld == ld)
    ritz_pack_run(p, 0, rows + ld * (cols - 1), to.p);
  else
    for (int c = 0; c < cols; c++) ritz_pack_run(p, c * o->ld, rows, to.p + c * ld);
  return to;
}

// A result that is in place, or was computed in scratch, where it belongs.
static void ritz_unpack(const RitzGroup *group, const RitzBatchedPlaces *o, int rows, int cols, RitzPart part,
                        RitzView from) {
  RitzReal *p[RITZ_LANES];
  bool is_some = false;

  for (int l = 0; l < group->num; l++) is_some |= group->is_left_alone[l];
  if (ritz_is_vectors(group, o) && !is_some) {
    RitzEntryVec *to = (RitzEntryVec *)ritz_place(o, group->first);

    for (int c = 0; c < cols && to != from.p; c++) {
      for (int r = ritz_part_begin(part, c); r < ritz_part_end(part, c, rows); r++)
        to[r + c * o->ld] = RITZ_AT(from, r, c);
    }
    return;
  }
  if ((!ritz_is_blocked(group, o) || is_some) && o->width == 1) {
    ritz_unpack_own(group, o, rows, cols, part, from);
    return;
  }
  if (!ritz_is_blocked(group, o) || is_some) {
    ritz_unpack_entries(group, o, part, from);
    return;
  }
  ritz_places(group, o, p);
  if (o->ld == rows && from.cs == rows && part == RITZ_ALL) {
    ritz_unpack_run(from.p, p, 0, rows * cols, group->num);
    return;
  }
  for (int c = 0; c < cols; c++) {
    const int begin = ritz_part_begin(part, c);
    ritz_unpack_run(from.p + c * from.cs + begin, p, c * o->ld + begin, ritz_part_end(part, c, rows) - begin,
                    group->num);
  }
}

#endif
