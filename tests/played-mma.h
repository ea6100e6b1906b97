// SPDX-License-Identifier: BSD-2-Clause
// Tensor cores for doubles (kernels/gpu/mma-f64.h), played: threads of the host exchange operands as threads
// of a warp do. Who includes it has NUM_THREADS, WARP, my_thread and the barriers of_warp.
#ifndef RITZ_TESTS_PLAYED_MMA_H
#define RITZ_TESTS_PLAYED_MMA_H

#define RITZ_KERNELS_GPU_MMA_F64_H

static double operands[NUM_THREADS][6]; // of one instruction: A, then B

// mma.m16n8k8 of doubles (PTX ISA): thread 4 g + t has A(g, t), A(g + 8, t), A(g, t + 4), A(g + 8, t + 4);
// B(t, g), B(t + 4, g); D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
static double entry_of_A(int first, int row, int k) {
  return operands[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2];
}
static double entry_of_B(int first, int k, int col) { return operands[first + col * 4 + k % 4][4 + k / 4]; }
__attribute__((unused)) static void ritz_mma_f64(const double *a, double b0, double b1, double *d) {
  pthread_barrier_t *warp = &of_warp[my_thread / WARP];
  const int lane = my_thread % WARP, first = my_thread - lane;
  memcpy(operands[my_thread], a, 4 * sizeof(double));
  operands[my_thread][4] = b0;
  operands[my_thread][5] = b1;
  pthread_barrier_wait(warp);
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 8; k++)
      d[i] += entry_of_A(first, lane / 4 + i / 2 * 8, k) * entry_of_B(first, k, lane % 4 * 2 + i % 2);
  }
  pthread_barrier_wait(warp);
}

__attribute__((unused)) static void ritz_copy_two(double *to, const double *from, int num) {
  for (int i = 0; i < 2; i++) to[i] = i < num ? from[i] : 0;
}
__attribute__((unused)) static void ritz_copy_one(double *to, const double *from, int num) {
  *to = num ? *from : 0;
}
__attribute__((unused)) static void ritz_copies_wait(void) {}

#endif
