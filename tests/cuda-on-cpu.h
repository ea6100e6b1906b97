// SPDX-License-Identifier: BSD-2-Clause
// What kernels use of CUDA C, as the CUDA C++ Programming Guide and the PTX ISA document it, for a C compiler
// of the host: stands in front of a program's text, which tests/played-cuda.h compiles. A block's threads are
// coroutines, which run until they wait for each other; blocks run one after the other, threads in ascending
// order in one and in descending order in the next. Threads that wait for those that never come end the
// launch with a code, as does a write beyond shared memory; that memory begins as NaN.
#ifndef RITZ_TESTS_CUDA_ON_CPU_H
#define RITZ_TESTS_CUDA_ON_CPU_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__      static
#define __constant__    static const
#define __align__(n)    __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define bool _Bool
#define true 1
#define false 0

typedef struct {
  unsigned x;
} CudaIndex;
static CudaIndex threadIdx, blockIdx, blockDim, gridDim;

typedef struct {
  int x, y, z, w;
} int4;

// ---- Threads ----

enum { CUDA_WARP = 32, CUDA_MAX_THREADS = 1024, CUDA_STACK = 128 << 10, CUDA_MAX_COPIES = 4096 };
typedef enum { CUDA_RUNS, CUDA_WAITS_FOR_BLOCK, CUDA_WAITS_FOR_WARP, CUDA_HAS_ENDED } CudaState;
typedef enum { CUDA_OK, CUDA_DEADLOCK, CUDA_BEYOND_MEMORY, CUDA_NO_MEMORY } CudaResult;

typedef struct {
  ucontext_t context;
  CudaState state;
  unsigned mask;    // of the lanes that it waits for
  uint64_t offered; // to them
} CudaThread;

static CudaThread cuda_threads[CUDA_MAX_THREADS];
static ucontext_t cuda_scheduler;
static char *cuda_stacks;
static void (*cuda_kernel)(void **args);
static void **cuda_args;

static void cuda_wait(CudaState state, unsigned mask) {
  CudaThread *self = &cuda_threads[threadIdx.x];
  self->state = state;
  self->mask = mask;
  swapcontext(&self->context, &cuda_scheduler);
}

static void cuda_run(void) {
  cuda_kernel(cuda_args);
  cuda_threads[threadIdx.x].state = CUDA_HAS_ENDED;
}

static void cuda_start_threads(void) {
  for (unsigned t = 0; t < blockDim.x; t++) {
    CudaThread *thread = &cuda_threads[t];
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = cuda_stacks + (size_t)t * CUDA_STACK;
    thread->context.uc_stack.ss_size = CUDA_STACK;
    thread->context.uc_link = &cuda_scheduler;
    thread->state = CUDA_RUNS;
    makecontext(&thread->context, cuda_run, 0);
  }
}

static int cuda_run_ready(void) {
  int num = 0;
  for (unsigned i = 0; i < blockDim.x; i++) {
    const unsigned t = blockIdx.x % 2 ? blockDim.x - 1 - i : i;
    if (cuda_threads[t].state != CUDA_RUNS) continue;
    threadIdx.x = t;
    swapcontext(&cuda_scheduler, &cuda_threads[t].context);
    num++;
  }
  return num;
}

static void cuda_release_block(void) {
  for (unsigned t = 0; t < blockDim.x; t++) {
    if (cuda_threads[t].state != CUDA_WAITS_FOR_BLOCK && cuda_threads[t].state != CUDA_HAS_ENDED) return;
  }
  for (unsigned t = 0; t < blockDim.x; t++) {
    if (cuda_threads[t].state == CUDA_WAITS_FOR_BLOCK) cuda_threads[t].state = CUDA_RUNS;
  }
}

static int cuda_waits_with(unsigned t, unsigned mask) {
  return t < blockDim.x && cuda_threads[t].state == CUDA_WAITS_FOR_WARP && cuda_threads[t].mask == mask;
}

// All lanes of the mask wait with the same mask; each is one of them.
static void cuda_release_warp(unsigned first) {
  for (unsigned lane = 0; lane < CUDA_WARP; lane++) {
    const unsigned mask = first + lane < blockDim.x ? cuda_threads[first + lane].mask : 0;
    int are_there = cuda_waits_with(first + lane, mask) && mask >> lane & 1;
    for (unsigned i = 0; i < CUDA_WARP; i++)
      are_there &= !(mask >> i & 1) || cuda_waits_with(first + i, mask);
    for (unsigned i = 0; are_there && i < CUDA_WARP; i++) {
      if (mask >> i & 1) cuda_threads[first + i].state = CUDA_RUNS;
    }
  }
}

static int cuda_run_block(void) {
  cuda_start_threads();
  while (cuda_run_ready()) {
    cuda_release_block();
    for (unsigned t = 0; t < blockDim.x; t += CUDA_WARP) cuda_release_warp(t);
  }
  for (unsigned t = 0; t < blockDim.x; t++) {
    if (cuda_threads[t].state != CUDA_HAS_ENDED) return CUDA_DEADLOCK;
  }
  return CUDA_OK;
}

// memory: what RITZ_SHARED_MEMORY declares, of `size` bytes, of which the launch has asked for num_bytes.
int cuda_launch(void (*kernel)(void **args), void **args, long num_blocks, int block_size, char *memory,
                size_t size, size_t num_bytes) {
  int result = CUDA_OK;
  if (num_bytes > size) return CUDA_BEYOND_MEMORY;
  cuda_kernel = kernel;
  cuda_args = args;
  cuda_stacks = malloc((size_t)block_size * CUDA_STACK);
  if (!cuda_stacks) return CUDA_NO_MEMORY;
  blockDim.x = (unsigned)block_size;
  gridDim.x = (unsigned)num_blocks;
  for (long b = 0; !result && b < num_blocks; b++) {
    blockIdx.x = (unsigned)b;
    memset(memory, 0xff, size);
    result = cuda_run_block();
    for (size_t i = num_bytes; !result && i < size; i++)
      result = memory[i] == (char)0xff ? CUDA_OK : CUDA_BEYOND_MEMORY;
  }
  free(cuda_stacks);
  return result;
}

// ---- Barriers, votes and shuffles ----

#define __syncthreads()  cuda_wait(CUDA_WAITS_FOR_BLOCK, 0)
#define __syncwarp(mask) cuda_wait(CUDA_WAITS_FOR_WARP, mask)

// What the thread `lane` of the warp offers; its own where there is no such thread.
static uint64_t cuda_of_lane(int lane) {
  const unsigned first = threadIdx.x / CUDA_WARP * CUDA_WARP, other = first + (unsigned)lane;
  const int is_there = lane >= 0 && lane < CUDA_WARP && other < blockDim.x;
  return cuda_threads[is_there ? other : threadIdx.x].offered;
}

static unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned votes = 0;
  cuda_threads[threadIdx.x].offered = predicate != 0;
  cuda_wait(CUDA_WAITS_FOR_WARP, mask);
  for (int lane = 0; lane < CUDA_WARP; lane++) {
    if (mask >> lane & 1) votes |= (unsigned)cuda_of_lane(lane) << lane;
  }
  cuda_wait(CUDA_WAITS_FOR_WARP, mask);
  return votes;
}

static void cuda_shuffle(unsigned mask, int distance, size_t size, void *x) {
  memcpy(&cuda_threads[threadIdx.x].offered, x, size);
  cuda_wait(CUDA_WAITS_FOR_WARP, mask);
  const uint64_t taken = cuda_of_lane((int)(threadIdx.x % CUDA_WARP) + distance);
  cuda_wait(CUDA_WAITS_FOR_WARP, mask);
  memcpy(x, &taken, size);
}

#define cuda_shuffled(mask, x, distance)                                                                     \
  ({                                                                                                         \
    __typeof__((x) + 0) taken_ = (x);                                                                        \
    cuda_shuffle(mask, distance, sizeof(taken_), &taken_);                                                   \
    taken_;                                                                                                  \
  })
#define __shfl_up_sync(mask, x, delta)   cuda_shuffled(mask, x, -(delta))
#define __shfl_down_sync(mask, x, delta) cuda_shuffled(mask, x, delta)

// ---- Memory ----

#define __ldg(p)                  (*(p))
#define __ldcs(p)                 (*(p))
#define atomicAdd(p, x)           ((void)(*(p) += (x)))
#define __threadfence()           ((void)0)
#define cuda_copy_async(to, from) cuda_copy_later(to, from, sizeof(*(to)))

// The old value; at `last` the next one is zero.
static unsigned atomicInc(unsigned *p, unsigned last) {
  const unsigned old = *p;
  *p = old >= last ? 0 : old + 1;
  return old;
}

// cp.async: what was asked for comes when its thread waits for it, not before.
typedef struct {
  void *to;
  const void *from;
  size_t size;
  unsigned thread;
} CudaCopy;

static CudaCopy cuda_copies[CUDA_MAX_COPIES * 16];
static int cuda_num_copies;

static void cuda_copy_later(void *to, const void *from, size_t size) {
  if (cuda_num_copies == CUDA_MAX_COPIES * 16) abort();
  cuda_copies[cuda_num_copies++] = (CudaCopy){to, from, size, threadIdx.x};
}

static void cuda_copy_wait(void) {
  int num = 0;
  for (int i = 0; i < cuda_num_copies; i++) {
    const CudaCopy *copy = &cuda_copies[i];
    if (copy->thread == threadIdx.x)
      memcpy(copy->to, copy->from, copy->size);
    else
      cuda_copies[num++] = *copy;
  }
  cuda_num_copies = num;
}

// ---- Arithmetic ----

// rcp.approx.ftz.f64: 20 bits of the mantissa.
static double cuda_reciprocal(double b) {
  uint64_t bits;
  double y = 1 / b;
  memcpy(&bits, &y, sizeof(bits));
  bits &= ~(uint64_t)0xffffffff;
  memcpy(&y, &bits, sizeof(y));
  return y;
}

// What lane `lane` of the warp offers, of a product that all take part in.
static double cuda_double_of_lane(int lane) {
  const uint64_t bits = cuda_of_lane(lane);
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// All lanes offer x; all [32].
static void cuda_gather(double x, double *all) {
  memcpy(&cuda_threads[threadIdx.x].offered, &x, sizeof(x));
  cuda_wait(CUDA_WAITS_FOR_WARP, 0xffffffffu);
  for (int lane = 0; lane < CUDA_WARP; lane++) all[lane] = cuda_double_of_lane(lane);
  cuda_wait(CUDA_WAITS_FOR_WARP, 0xffffffffu);
}

// mma.m8n8k4, f64: lane 4 g + q has A[g][q], B[q][g] and D[g][2 q], D[g][2 q + 1]. D += A B.
static void cuda_mma_8_8_4(double a, double b, double *d) {
  const int g = (int)threadIdx.x % CUDA_WARP / 4, q = (int)threadIdx.x % 4;
  double A[CUDA_WARP], B[CUDA_WARP];
  cuda_gather(a, A);
  cuda_gather(b, B);
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 4; k++) d[n] += A[4 * g + k] * B[4 * (2 * q + n) + k];
}

// mma.m16n8k8, f64: a = A[g][q], A[g + 8][q], A[g][q + 4], A[g + 8][q + 4]; b0, b1 = B[q][g], B[q + 4][g];
// d = D[g][2 q], D[g][2 q + 1], D[g + 8][2 q], D[g + 8][2 q + 1]. D += A B.
static void cuda_mma_16_8_8(const double *a, double b0, double b1, double *d) {
  const int g = (int)threadIdx.x % CUDA_WARP / 4, q = (int)threadIdx.x % 4;
  double A[4][CUDA_WARP], B[2][CUDA_WARP];
  for (int i = 0; i < 4; i++) cuda_gather(a[i], A[i]);
  cuda_gather(b0, B[0]);
  cuda_gather(b1, B[1]);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 8; k++)
      d[i] += A[i / 2 + k / 4 * 2][4 * g + k % 4] * B[k / 4][4 * (2 * q + i % 2) + k % 4];
}

#endif
