// SPDX-License-Identifier: BSD-2-Clause
// Rows of the L-vector, for all patches of a batch at once: lane l begins 2p nodes behind lane l - 1, or
// (RITZ_IS_SCATTERED) anywhere. Rows of several components, and those that lack some nodes or lanes, go
// through a copy.
#ifndef RITZ_KERNELS_CPU_PATCH_ROWS_H
#define RITZ_KERNELS_CPU_PATCH_ROWS_H

#include "kernels/cpu/patch-abi.h"
#include "kernels/cpu/restrict.h"

// Nodes of the interior, of the closure, of a half of the interior without its middle.
enum { RITZ_P = RITZ_DEGREE, RITZ_N = 2 * RITZ_P - 1, RITZ_M = 2 * RITZ_P + 1, RITZ_H = RITZ_P - 1 };
enum { RITZ_SPAN = 2 * RITZ_P * RITZ_LANES + 1 }; // nodes of a row that a batch reads

typedef struct {
  const RitzPatchArgs *args;
  int64_t at[3]; // the first lane's first node of the closure; may be negative
  int num;       // lanes with a patch
  int comp;
  // All nodes of the closure are there in x, all interior ones are free, all lanes have patches; several
  // components: never.
  bool is_whole;
  const RitzReal *tables[3]; // of the position; of x interlaced
#if RITZ_IS_SCATTERED
  int32_t lane[RITZ_LANES]; // entries behind those of the first lane
#endif
} RitzPatch;

// Shifts x by one lane: all lanes but its first, then the first one of `after`.
#if RITZ_IS_SCATTERED
#elif RITZ_LANES == 16
#define RITZ_MOVE_BACK(x, after) RITZ_SHUFFLE(x, after, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
#elif RITZ_LANES == 8
#define RITZ_MOVE_BACK(x, after) RITZ_SHUFFLE(x, after, 1, 2, 3, 4, 5, 6, 7, 8)
#elif RITZ_LANES == 4
#define RITZ_MOVE_BACK(x, after) RITZ_SHUFFLE(x, after, 1, 2, 3, 4)
#elif RITZ_LANES == 2
#define RITZ_MOVE_BACK(x, after) RITZ_SHUFFLE(x, after, 1, 2)
#endif

RITZ_INLINE int64_t ritz_patch_clamp(int64_t i, int64_t low, int64_t high) {
  return i < low ? low : i < high ? i : high;
}

// Entry of node 0 in the row j, k of the closure, or the nearest one there is; of_b: of free nodes, as
// constrained entries of b may be no numbers.
RITZ_INLINE int64_t ritz_patch_row(const RitzPatch *p, bool of_b, int j, int k) {
  const RitzPatchArgs *a = p->args;
  int64_t at[3] = {0, p->at[1] + j, p->at[2] + k};

  RITZ_UNROLL for (int d = 1; d < RITZ_DIM && !RITZ_IS_UNIFORM; d++) at[d] =
      of_b ? ritz_patch_clamp(at[d], a->low[d], a->high[d]) : ritz_patch_clamp(at[d], 0, a->nodes[d] - 1);
  return (at[1] + a->nodes[1] * at[2]) * a->nodes[0] * RITZ_NUM_COMP + p->comp;
}

RITZ_INLINE int32_t ritz_patch_lane(const RitzPatch *p, int l) {
#if RITZ_IS_SCATTERED
  return p->lane[l];
#else
  (void)p;
  return 2 * RITZ_P * l;
#endif
}

RITZ_INLINE void ritz_patch_lanes(const RitzPatch *p, int32_t *o) {
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) o[l] = ritz_patch_lane(p, l);
}

// Copies nodes first .. first + num - 1 of the closure of the first lane; nodes outside of the grid (of b:
// not free) are replaced by the nearest.
static __attribute__((noinline, unused)) void ritz_patch_copy_row(const RitzPatch *p, bool of_b,
                                                                  const RitzReal *row, int first, int num,
                                                                  RitzReal *copy) {
  const RitzPatchArgs *a = p->args;
  const int64_t low = of_b ? a->low[0] : 0, high = of_b ? a->high[0] : a->nodes[0] - 1;

  for (int i = 0; i < num; i++)
    copy[i] = row[ritz_patch_clamp(p->at[0] + first + i, low, high) * RITZ_NUM_COMP];
}

// x [num] = nodes first .. first + num - 1 of the closures, of the row at `row`.
RITZ_INLINE void ritz_patch_get(const RitzPatch *p, bool of_b, const RitzReal *row, int first, int num,
                                RitzVec *x) {
  RitzReal copy[RITZ_SPAN];
  int32_t o[RITZ_LANES];
  const RitzReal *from = row + p->at[0] + first;

  if (__builtin_expect(!p->is_whole, 0)) {
    ritz_patch_copy_row(p, of_b, row, first, 2 * RITZ_P * (RITZ_LANES - 1) + num, copy);
    from = copy;
  }
  ritz_patch_lanes(p, o);
#if defined(RITZ_BY_PAIRS) || defined(RITZ_BY_BLOCKS)
  if (num >= 4) { // the last four overlap those before them
    RITZ_UNROLL for (int i = 0; i < num; i += 4) {
      const int at = i + 4 <= num ? i : num - 4;
      ritz_load_4((RitzEntries){.first = (char *)(from + at)}, o, x + at);
    }
    return;
  }
#endif
  ritz_load_row(num, 1, 1, (RitzEntries){.first = (char *)from}, o, x);
}

// The two ends of the closure.
RITZ_INLINE void ritz_patch_get_ends(const RitzPatch *p, const RitzReal *row, RitzVec *low, RitzVec *high) {
  RitzReal copy[RITZ_SPAN];
  int64_t at[RITZ_LANES];
  const RitzReal *from = row + p->at[0];

  if (__builtin_expect(!p->is_whole, 0)) {
    ritz_patch_copy_row(p, false, row, 0, RITZ_SPAN, copy);
    from = copy;
  }
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) at[l] = ritz_patch_lane(p, l);
  *low = ritz_gather((RitzEntries){.first = (char *)from}, at);
#ifdef RITZ_MOVE_BACK
  *high = RITZ_MOVE_BACK(*low, ritz_splat(from[2 * RITZ_P * RITZ_LANES]));
#else
  *high = ritz_gather((RitzEntries){.first = (char *)(from + 2 * RITZ_P)}, at);
#endif
}

static __attribute__((noinline, unused)) void ritz_patch_put_nodes(const RitzPatch *p, RitzReal *row,
                                                                   const RitzVec *x) {
  for (int l = 0; l < p->num; l++) {
    for (int i = 0; i < RITZ_N; i++) {
      const int64_t at = p->at[0] + 2 * RITZ_P * l + 1 + i;
      if (at >= p->args->low[0] && at <= p->args->high[0]) row[at * RITZ_NUM_COMP] = x[i][l];
    }
  }
}

// Interior nodes of the closures := x [n].
RITZ_INLINE void ritz_patch_put(const RitzPatch *p, RitzReal *row, const RitzVec *x) {
  int32_t o[RITZ_LANES];
  const RitzEntries to = {.first = (char *)(row + p->at[0] + 1), .is_overwritten = true};

  if (__builtin_expect(!p->is_whole, 0)) {
    ritz_patch_put_nodes(p, row, x);
    return;
  }
  ritz_patch_lanes(p, o);
#if defined(RITZ_BY_PAIRS) || defined(RITZ_BY_BLOCKS)
  if (RITZ_N >= 4) {
    RITZ_UNROLL for (int i = 0; i < RITZ_N; i += 4) {
      const int at = i + 4 <= RITZ_N ? i : RITZ_N - 4;
      ritz_add_4(ritz_entries(to, at), o, x + at);
    }
    return;
  }
#endif
  ritz_add_columns(RITZ_N, to, o, x);
}

// Whether the row j, k of the interior is free.
RITZ_INLINE bool ritz_patch_is_free(const RitzPatch *p, int j, int k) {
#if RITZ_IS_UNIFORM
  return true;
#else
  const RitzPatchArgs *a = p->args;
  const int64_t y = p->at[1] + 1 + j, z = p->at[2] + 1 + k;
  return y >= a->low[1] && y <= a->high[1] && (RITZ_DIM < 3 || (z >= a->low[2] && z <= a->high[2]));
#endif
}

#endif
