// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on CUDA devices from compute capability 9.0 on: C -= A B in double by tensor cores.
//
// A block of 8 warps makes a tile of 128 x 128, a warp 64 x 32 of it as 4 x 4 products of 16 x 8. Operands
// come into shared memory 16 products' worth at a time, copied while the two before are computed with, as
// they lie in memory: lines side by side 132 apart for each k, others 20 apart, k along them. No two threads
// of half a warp share a bank either way.
#ifndef RITZ_KERNELS_GPU_DENSE_MMA_F64_H
#define RITZ_KERNELS_GPU_DENSE_MMA_F64_H

#include "kernels/gpu/dense-solver.h"
#include "kernels/gpu/mma-f64.h"

// RITZ_STAGE: doubles of an operand in one of the stages.
enum { RITZ_TILE = 128, RITZ_DEPTH = 16, RITZ_NUM_STAGES = 3, RITZ_STAGE = 128 * 20 };

#ifdef RITZ_PLAYED

#define RITZ_STAGES(name)         static double name[RITZ_NUM_STAGES * 2 * RITZ_STAGE]
#define ritz_copies_close()       ((void)0)
#define ritz_copies_wait_but(num) ((void)0)

#else

#define RITZ_STAGES(name)         extern __shared__ RITZ_ALIGN16 double name[]
// The copies from now on are another group; all groups but the last num are there.
RITZ_INLINE void ritz_copies_close(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }
#define ritz_copies_wait_but(num) asm volatile("cp.async.wait_group %0;" : : "n"(num) : "memory")

#endif

// 128 lines, RITZ_DEPTH entries of each: entry (line, p) is at from[line + p ld] where lines lie side by
// side, else at from[p + line ld].
RITZ_INLINE void ritz_fetch(const double *from, RitzLong ld, int is_side_by_side, double *to) {
  RITZ_UNROLL
  for (int i = 0; i < 4; i++) {
    const int e = RITZ_THREAD + i * 256;
    const int at = is_side_by_side ? e % 64 * 2 : e % 8 * 2, other = is_side_by_side ? e / 64 : e / 8;
    ritz_copy_two(to + other * (is_side_by_side ? 132 : 20) + at, from + at + other * ld, 2);
  }
}

// b: entry (p, column) at b[p step_p + column step_j].
RITZ_INLINE void ritz_multiply_tile(const double *a, const double *b, int step_p, int step_j,
                                    double (*sum)[4][4]) {
  const int g = RITZ_THREAD % 32 / 4, t = RITZ_THREAD % 4;
  RITZ_UNROLL
  for (int p = 0; p < RITZ_DEPTH; p += 8) {
    double y[4][2];
    RITZ_UNROLL
    for (int j = 0; j < 8; j++) y[j / 2][j % 2] = b[(p + t + j % 2 * 4) * step_p + (j / 2 * 8 + g) * step_j];
    RITZ_UNROLL
    for (int i = 0; i < 4; i++) {
      double x[4];
      RITZ_UNROLL
      for (int e = 0; e < 4; e++) x[e] = a[(p + t + e / 2 * 4) * 132 + i * 16 + g + e % 2 * 8];
      RITZ_UNROLL
      for (int j = 0; j < 4; j++) ritz_mma_f64(x, y[j][0], y[j][1], sum[i][j]);
    }
  }
}

// Arguments of dense-mma.h's. Memory of the launch: RITZ_NUM_STAGES times 2 RITZ_STAGE doubles.
RITZ_KERNEL(256)
ritz_update_mma(RitzLong ld, double *F, RitzLong at_C, RitzLong at_A, RitzLong at_B, int is_transposed,
                int num_rows, int num_cols, int k, int num_tiles, int is_lower) {
  RITZ_STAGES(stages);
  const int row = (int)(RITZ_BLOCK % num_tiles) * RITZ_TILE, col = (int)(RITZ_BLOCK / num_tiles) * RITZ_TILE;
  const int warp = RITZ_THREAD / 32, g = RITZ_THREAD % 32 / 4, t = RITZ_THREAD % 4;
  const int warp_row = warp % 2 * 64, warp_col = warp / 2 * 32;
  const int step_p = is_transposed ? 132 : 1, step_j = is_transposed ? 1 : 20;
  const RitzLong step = is_transposed ? ld : 1;
  const double *const A = F + at_A + row, *const B = F + at_B + (is_transposed ? col : col * ld);
  double *const C = F + at_C;
  double sum[4][4][4];
  if (is_lower && row + RITZ_TILE <= col) return;
  RITZ_UNROLL
  for (int i = 0; i < 64; i++) (&sum[0][0][0])[i] = 0;
  for (int at = -(RITZ_NUM_STAGES - 1) * RITZ_DEPTH, turn = 0; at < k; at += RITZ_DEPTH, turn++) {
    const int next = at + (RITZ_NUM_STAGES - 1) * RITZ_DEPTH;
    double *const to = stages + turn % RITZ_NUM_STAGES * 2 * RITZ_STAGE;
    const double *const now = stages + (turn + 1) % RITZ_NUM_STAGES * 2 * RITZ_STAGE;
    if (at >= 0) {
      ritz_copies_wait_but(RITZ_NUM_STAGES - 2);
      RITZ_BARRIER();
    }
    if (next < k) {
      ritz_fetch(A + next * ld, ld, 1, to);
      ritz_fetch(B + next * step, ld, is_transposed, to + RITZ_STAGE);
    }
    ritz_copies_close();
    if (at >= 0)
      ritz_multiply_tile(now + warp_row, now + RITZ_STAGE + warp_col * step_j, step_p, step_j, sum);
  }
  RITZ_UNROLL
  for (int e = 0; e < 64; e++) {
    const int r = row + warp_row + e / 16 * 16 + g + e % 4 / 2 * 8,
              c = col + warp_col + e / 4 % 4 * 8 + 2 * t + e % 2;
    if (r < num_rows && c < num_cols) C[r + c * ld] -= sum[e / 16][e / 4 % 4][e % 4];
  }
}

#endif
