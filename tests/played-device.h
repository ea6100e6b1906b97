// SPDX-License-Identifier: BSD-2-Clause
// Devices' language and tensor cores for kernels that tests compile for the host, a thread of which plays a
// thread of the device. The instruction is the model of PTX's ISA, so this proves which entries the threads
// of a warp hand to it and take from it. Kernels follow, then tests/played-products.h.
#ifndef RITZ_TESTS_PLAYED_DEVICE_H
#define RITZ_TESTS_PLAYED_DEVICE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

// ---- The device's language, played ----

enum { NUM_THREADS = 96, WARP = 32 };

static _Thread_local int my_thread;
static int my_block, num_blocks;
static pthread_barrier_t of_block, of_warp[NUM_THREADS / WARP];
static double operands[NUM_THREADS][6]; // of one instruction: A, then B

#define RITZ_PLAYED
#define RITZ_MMA
#define RITZ_KERNELS_GPU_MMA_F64_H
#define RITZ_KERNEL_RESIDENT(num_threads, num_blocks) static void
#define RITZ_INLINE                                   __attribute__((unused)) static inline
#define RITZ_GLOBAL
#define RITZ_SHARED
#define RITZ_SHARED_ARRAY static
#define RITZ_UNROLL
#define RITZ_ROLL
#define RITZ_ALIGN16                    __attribute__((aligned(16)))
#define RITZ_SHARED_MEMORY(name, count) static RITZ_ALIGN16 RitzReal name[count]
#define RITZ_BARRIER()                  pthread_barrier_wait(&of_block)
#define RITZ_THREAD                     my_thread
#define RITZ_BLOCK                      ((RitzLong)my_block)
#define RITZ_NUM_ITEMS                  ((RitzLong)num_blocks * NUM_THREADS)
typedef long long RitzLong;
typedef double RitzReal;

static double __longlong_as_double(RitzLong bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// mma.m16n8k8 of doubles (PTX ISA): thread 4 g + t has A(g, t), A(g + 8, t), A(g, t + 4), A(g + 8, t + 4);
// B(t, g), B(t + 4, g); D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
static double entry_of_A(int first, int row, int k) {
  return operands[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2];
}
static double entry_of_B(int first, int k, int col) { return operands[first + col * 4 + k % 4][4 + k / 4]; }
static void ritz_mma_f64(const double *a, double b0, double b1, double *d) {
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

// mma.m16n8k16: products 8 to 15 behind products 0 to 7, in the same places.
RITZ_INLINE void ritz_mma_f64_deep(double (*a)[4], double (*b)[2], double *d) {
  for (int i = 0; i < 2; i++) ritz_mma_f64(a[i], b[i][0], b[i][1], d);
}

RITZ_INLINE void ritz_copy_two(double *to, const double *from, int num) {
  for (int i = 0; i < 2; i++) to[i] = i < num ? from[i] : 0;
}
RITZ_INLINE void ritz_copy_one(double *to, const double *from, int num) { *to = num ? *from : 0; }
RITZ_INLINE void ritz_copies_wait(void) {}

#endif
