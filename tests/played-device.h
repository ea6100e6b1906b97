// SPDX-License-Identifier: BSD-2-Clause
// Devices' language and tensor cores for kernels that tests compile for the host, a thread of which plays a
// thread of the device. The instruction is the model of PTX's ISA, so this proves which entries the threads
// of a warp hand to it and take from it. Kernels follow, then tests/played-products.h.
#ifndef RITZ_TESTS_PLAYED_DEVICE_H
#define RITZ_TESTS_PLAYED_DEVICE_H

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

// ---- The device's language, played ----

enum { NUM_THREADS = 96, WARP = 32 };

static _Thread_local int my_thread;
__attribute__((unused)) static int my_block, num_blocks;
static pthread_barrier_t of_block, of_warp[NUM_THREADS / WARP];

#define RITZ_PLAYED
#define RITZ_MMA
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

__attribute__((unused)) static double __longlong_as_double(RitzLong bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

#include "tests/played-mma.h"

#endif
