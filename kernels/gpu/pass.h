// SPDX-License-Identifier: BSD-2-Clause
// Passes over vectors: factors that are numbers in device memory, sums in a fixed order. Before the kernels
// of emit/gpu-pass.c and before kernels/gpu/collect.h; all run in blocks of 256 threads.
//
// A thread adds its entries with compensation, a block its threads, and the last block to come the numbers of
// all blocks, `partial` [sums][blocks]; `arrived` counts blocks and is zero between launches. OpenCL C 1.2
// has no order between the blocks of a launch: there a kernel of one block follows
// (kernels/gpu/pass-finish.h).
#ifndef RITZ_KERNELS_GPU_PASS_H
#define RITZ_KERNELS_GPU_PASS_H

// sign times number a, divided by number b; a < 0: sign; b < 0: undivided. A quotient counts as zero where
// the divisor is not positive or the result is beyond `largest`.
RITZ_INLINE double ritz_pass_factor(RITZ_GLOBAL const double *scalars, int a, int b, double sign,
                                    double largest) {
  double value = sign;
  if (a >= 0) value *= scalars[a];
  if (a >= 0 && b >= 0) {
    double divisor = scalars[b], quotient = value / divisor;
    value = divisor > 0 && fabs(quotient) <= largest ? quotient : 0;
  }
  return value;
}

// ---- Sums ----

typedef struct {
  double value, rest;
} RitzPassSum;

RITZ_INLINE void ritz_pass_add(RitzPassSum *sum, double term) {
  double total = sum->value + term, part = total - sum->value;
  sum->rest += (sum->value - (total - part)) + (term - part);
  sum->value = total;
}

#define RITZ_PASS_SCRATCH 272

// The sum over the threads of the block, which all get.
RITZ_INLINE double ritz_pass_sum_of_block(double mine, RITZ_SHARED double *scratch) {
  int t = RITZ_THREAD;
  double sum = 0;
  RITZ_BARRIER(); // another sum has been read
  scratch[t] = mine;
  RITZ_BARRIER();
  if (t < 16) {
    RITZ_UNROLL
    for (int k = 0; k < 16; k++) sum += scratch[t + 16 * k];
    scratch[256 + t] = sum;
  }
  RITZ_BARRIER();
  sum = 0;
  RITZ_UNROLL
  for (int k = 0; k < 16; k++) sum += scratch[256 + k];
  return sum;
}

RITZ_INLINE int ritz_pass_num_blocks(void) { return (int)(RITZ_NUM_ITEMS / 256); }

RITZ_INLINE void ritz_pass_keep(int number, RitzPassSum mine, RITZ_SHARED double *scratch,
                                RITZ_GLOBAL double *partial) {
  double sum = ritz_pass_sum_of_block(mine.value + mine.rest, scratch);
  if (RITZ_THREAD == 0) partial[number * ritz_pass_num_blocks() + RITZ_BLOCK] = sum;
}

// sums[k] = the sum over all blocks; all threads of one block.
RITZ_INLINE void ritz_pass_total(int num_sums, int num_blocks, RITZ_GLOBAL double *partial,
                                 RITZ_SHARED double *scratch, RITZ_GLOBAL double *sums) {
  RITZ_ROLL
  for (int k = 0; k < num_sums; k++) {
    RITZ_GLOBAL volatile double *of_blocks = partial + k * num_blocks;
    double mine = 0, sum;
    for (int b = RITZ_THREAD; b < num_blocks; b += 256) mine += of_blocks[b];
    sum = ritz_pass_sum_of_block(mine, scratch);
    if (RITZ_THREAD == 0) sums[k] = sum;
  }
}

#ifdef __OPENCL_VERSION__

// A block that is alone.
RITZ_INLINE void ritz_pass_arrive(int num_sums, RITZ_GLOBAL double *partial, RITZ_GLOBAL unsigned *arrived,
                                  RITZ_SHARED double *scratch, RITZ_GLOBAL double *sums) {
  (void)arrived;
  if (ritz_pass_num_blocks() > 1) return;
  barrier(CLK_GLOBAL_MEM_FENCE);
  ritz_pass_total(num_sums, 1, partial, scratch, sums);
}

#else // CUDA

// The block that comes last sees what thread 0 of this block has stored.
RITZ_INLINE void ritz_pass_arrive(int num_sums, double *partial, unsigned *arrived, double *scratch,
                                  double *sums) {
  int num_blocks = ritz_pass_num_blocks();
  RITZ_BARRIER();
  if (RITZ_THREAD == 0) {
    __threadfence();
    scratch[0] = atomicInc(arrived, (unsigned)num_blocks - 1) == (unsigned)num_blocks - 1;
  }
  RITZ_BARRIER();
  if (scratch[0] == 0) return;
  __threadfence();
  ritz_pass_total(num_sums, num_blocks, partial, scratch, sums);
}

#endif

#endif
