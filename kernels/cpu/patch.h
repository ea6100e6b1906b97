// SPDX-License-Identifier: BSD-2-Clause
// The loops of a sweep over vertex patches (contract in core/patch-sweep.h), one plane a call. The text that
// includes this (emit/patch.c) has defined RITZ_DIM, RITZ_DEGREE, RITZ_NUM_COMP, RITZ_LANES, the precision,
// the form (one of RITZ_IS_LIFTED, RITZ_IS_RESIDUAL, RITZ_IS_BOUNDARY), RITZ_IS_UNIFORM and, where that is 1,
// the tables of kernels/cpu/patch-lines.h; RITZ_IS_SCATTERED: lanes go on in the next row (three directions,
// uniform boxes, one component).
#if RITZ_IS_LIFTED
#include "kernels/cpu/patch-lifted.h"
#else
#include "kernels/cpu/patch-residual.h"
#endif

// Positions of direction d of this parity: how many, the first one. As ritz_patch_count.
RITZ_INLINE int64_t ritz_patch_positions(const RitzPatchArgs *args, int d, int parity, int64_t *first) {
  const int64_t skip = (args->first[d] & 1) != parity;
  *first = args->first[d] + skip;
  return (args->count[d] - skip + 1) / 2;
}

// Whether nothing has to be masked or clamped.
RITZ_INLINE bool ritz_patch_is_whole(const RitzPatchArgs *args, int64_t at, int num) {
  if (RITZ_NUM_COMP > 1 || num < RITZ_LANES) return false;
#if RITZ_IS_UNIFORM
  return true;
#else
  const int64_t end = at + 2 * RITZ_P * RITZ_LANES; // the last lane's last node
  return at >= 0 && end < args->nodes[0] && at + 1 >= args->low[0] && end - 1 <= args->high[0];
#endif
}

// Tables of position number i of direction d (of x: batch i).
RITZ_INLINE const RitzReal *ritz_patch_tables(const RitzPatchArgs *args, int d, int64_t i) {
#if RITZ_IS_UNIFORM
  return NULL;
#else
  return (const RitzReal *)args->tables[d] + i * RITZ_TABLE * (d == 0 ? RITZ_LANES : 1);
#endif
}

#if RITZ_IS_SCATTERED

// All patches of a colour of a plane, row by row; p has the position in z. Number t is at t % row in x and at
// t / row in y. Where there are fewer than lanes, they repeat.
static void ritz_patch_run_colour(RitzPatch *p, int colour) {
  const RitzPatchArgs *args = p->args;
  int64_t first[2], num[2];

  for (int d = 0; d < 2; d++) num[d] = ritz_patch_positions(args, d, colour >> d & 1, &first[d]);
  const int64_t all = num[0] * num[1];
  p->num = RITZ_LANES;
  for (int64_t i = 0; i * RITZ_LANES < all; i++) {
    const int64_t begin = ritz_patch_batch(all, RITZ_LANES, i);
    const int64_t x = begin % num[0], y = begin / num[0];

    p->at[0] = (first[0] + 2 * x - 1) * RITZ_P;
    p->at[1] = (first[1] + 2 * y - 1) * RITZ_P;
    for (int l = 0; l < RITZ_LANES; l++) {
      const int64_t t = (begin + l) % all;
      p->lane[l] = (int32_t)(2 * RITZ_P * (t % num[0] - x + (t / num[0] - y) * args->nodes[0]));
    }
    ritz_patch_solve(p, (const RitzReal *)args->b, (RitzReal *)args->x, (RitzPatchWork *)args->work);
  }
}

#else

// All patches of a row of this parity; p has the position in y and z.
static void ritz_patch_run_row(RitzPatch *p, int parity) {
  const RitzPatchArgs *args = p->args;
  int64_t first, even_first;
  const int64_t num = ritz_patch_positions(args, 0, parity, &first);
  const int64_t even = parity ? ritz_patch_positions(args, 0, 0, &even_first) : 0;
  const int64_t first_batch = (even + RITZ_LANES - 1) / RITZ_LANES;

  for (int64_t i = 0; i * RITZ_LANES < num; i++) {
    const int64_t begin = ritz_patch_batch(num, RITZ_LANES, i);
    p->num = num < RITZ_LANES ? (int)num : RITZ_LANES;
    p->at[0] = (first + 2 * begin - 1) * RITZ_P;
    p->is_whole = ritz_patch_is_whole(args, p->at[0], p->num);
    p->tables[0] = ritz_patch_tables(args, 0, first_batch + i);
    for (p->comp = 0; p->comp < RITZ_NUM_COMP; p->comp++)
      ritz_patch_solve(p, (const RitzReal *)args->b, (RitzReal *)args->x, (RitzPatchWork *)args->work);
  }
}

// All patches of a colour of a plane; p has the position in the last direction. Rows of a plane follow each
// other in y where there are three directions, else there is one.
static void ritz_patch_run_colour(RitzPatch *p, int colour) {
  int64_t first = 0, num = 1;

  if (RITZ_DIM == 3) num = ritz_patch_positions(p->args, 1, colour >> 1, &first);
  for (int64_t j = 0; j < num; j++) {
    if (RITZ_DIM == 3) p->at[1] = (first + 2 * j - 1) * RITZ_P;
    if (RITZ_DIM == 3) p->tables[1] = ritz_patch_tables(p->args, 1, first + 2 * j - p->args->first[1]);
    ritz_patch_run_row(p, colour & 1);
  }
}

#endif

__attribute__((visibility("default"))) void ritz_patch_kernel(const RitzPatchArgs *args, int64_t plane);
__attribute__((visibility("default"))) extern const RitzKernelInfo ritz_patch_info;

void ritz_patch_kernel(const RitzPatchArgs *args, int64_t plane) {
  const int last = RITZ_DIM - 1;
  RitzPatch p = {.args = args, .is_whole = true};

  p.at[last] = (plane - 1) * RITZ_P;
  p.tables[last] = ritz_patch_tables(args, last, plane - args->first[last]);
  for (int c = 0; c < 1 << last; c++) ritz_patch_run_colour(&p, args->is_reversed ? (1 << last) - 1 - c : c);
}

const RitzKernelInfo ritz_patch_info = {RITZ_PATCH_ABI, RITZ_LANES, sizeof(RitzPatchWork)};
