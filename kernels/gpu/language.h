// SPDX-License-Identifier: BSD-2-Clause
// The language of all device code: a subset of C that CUDA's compiler and OpenCL's both understand, and the
// macros for what they write differently, then the types of the standard. First part of every text, which in
// single precision begins with a definition of RITZ_SCALAR_F32, on devices whose threads run one by one of
// RITZ_ONE_LANE.
//
// Kernels compute with RitzReal. That is the CeedScalar of the user's functions, but in texts that begin with
// RITZ_REAL_F32: these compute in single precision around a function in double precision.
//
// The subset: no templates, references, overloads, default arguments, designated initialisers or
// variable-length arrays; casts are written out; nothing is included but <ceed/types.h>, here. Blocks and
// grids are one-dimensional. A kernel is declared with the exact number of threads of its blocks:
//
//     RITZ_KERNEL(256) scale(RitzLong n, RitzReal alpha, RITZ_GLOBAL RitzReal *x) {
//       RitzLong i = RITZ_ITEM;
//       if (i < n) x[i] *= alpha;
//     }
//
// RITZ_KERNEL_RESIDENT also says how many blocks are to fit a multiprocessor at once, which bounds the
// registers of a thread; without it NVIDIA's compiler makes a guess, for which it may spill.
//
// Pointers name their memory: RITZ_GLOBAL (of the device), RITZ_SHARED (of the block), RITZ_IN_CONSTANT, or
// nothing (of the thread). An array of the block is declared at the start of a kernel with RITZ_SHARED_ARRAY,
// or, one in a kernel and of any size that the device has, with RITZ_SHARED_MEMORY(name, count): `count`
// RitzReals, whose bytes are an argument of the launch.
//
// RITZ_TABLE declares numbers at file scope that threads index differently, RITZ_CONSTANT numbers that all
// threads index alike. RITZ_ALIGN16 stands behind `struct`: reads and writes take 16 bytes at a time.
// RITZ_LOAD reads global data that no thread writes, RITZ_LOAD_ONCE global data that is read once.
//
// Threads of a warp (NVIDIA's 32) may exchange data through shared memory with RITZ_FENCE(mask) between
// write and read. `mask` names the threads that do so, which RITZ_BALLOT(predicate) gives where all threads
// of the warp ask. OpenCL C 1.2 knows no warps: both do nothing, and kernels need RITZ_BARRIER.
#ifndef RITZ_KERNELS_GPU_LANGUAGE_H
#define RITZ_KERNELS_GPU_LANGUAGE_H

#ifdef __OPENCL_VERSION__

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define RITZ_KERNEL(num_threads)                      __kernel __attribute__((reqd_work_group_size(num_threads, 1, 1))) void
#define RITZ_KERNEL_RESIDENT(num_threads, num_blocks) RITZ_KERNEL(num_threads)
// Always: PoCL 3.1 gives blocks that run at the same time one and the same local memory in functions with
// barriers that it does not inline.
#define RITZ_INLINE       static inline __attribute__((always_inline))
#define RITZ_GLOBAL       __global
#define RITZ_SHARED       __local
#define RITZ_SHARED_ARRAY __local
#define RITZ_CONSTANT     __constant
#define RITZ_IN_CONSTANT  __constant
#define RITZ_RESTRICT     restrict
#define RITZ_BARRIER()    barrier(CLK_LOCAL_MEM_FENCE)
#define RITZ_THREAD       ((int)get_local_id(0))
#define RITZ_BLOCK        ((RitzLong)get_group_id(0))
#define RITZ_ITEM         ((RitzLong)get_global_id(0))
#define RITZ_NUM_ITEMS    ((RitzLong)get_global_size(0))
#ifdef RITZ_ONE_LANE // a processor: takes long over unrolled loops, and gains little
#define RITZ_UNROLL
#else
#define RITZ_UNROLL _Pragma("unroll")
#endif
#define RITZ_ALIGN16                    __attribute__((aligned(16)))
#define RITZ_SHARED_MEMORY(name, count) __local RitzReal name[count] RITZ_ALIGN16
#define RITZ_TABLE                      __constant
#define RITZ_BALLOT(predicate)          0u
#define RITZ_FENCE(mask)                ((void)(mask))
#define RITZ_LOAD(p)                    (*(p))
#define RITZ_LOAD_ONCE(p)               (*(p))
typedef long RitzLong; // 64 bits: indices into L-vectors, E-vectors, offsets times strides

#else // CUDA

#define RITZ_KERNEL(num_threads) extern "C" __global__ void __launch_bounds__(num_threads)
#define RITZ_KERNEL_RESIDENT(num_threads, num_blocks)                                                        \
  extern "C" __global__ void __launch_bounds__(num_threads, num_blocks)
#define RITZ_INLINE static __device__ __forceinline__
#define RITZ_GLOBAL
#define RITZ_SHARED
#define RITZ_SHARED_ARRAY __shared__
#define RITZ_CONSTANT     __constant__
#define RITZ_IN_CONSTANT
#define RITZ_RESTRICT                   __restrict__
#define RITZ_BARRIER()                  __syncthreads()
#define RITZ_THREAD                     ((int)threadIdx.x)
#define RITZ_BLOCK                      ((RitzLong)blockIdx.x)
#define RITZ_ITEM                       ((RitzLong)blockIdx.x * blockDim.x + threadIdx.x)
#define RITZ_NUM_ITEMS                  ((RitzLong)gridDim.x * blockDim.x)
#define RITZ_UNROLL                     _Pragma("unroll")
#define RITZ_ALIGN16                    __align__(16)
#define RITZ_SHARED_MEMORY(name, count) extern __shared__ RITZ_ALIGN16 RitzReal name[]
#define RITZ_TABLE                      __device__ const
#define RITZ_BALLOT(predicate)          __ballot_sync(0xffffffffu, predicate)
#define RITZ_FENCE(mask)                __syncwarp(mask)
#define RITZ_LOAD(p)                    __ldg(p)
#define RITZ_LOAD_ONCE(p)               __ldcs(p)
typedef long long RitzLong;

#endif

#define RITZ_ROLL _Pragma("unroll 1")

// ---- The standard, as its device sources see it ----

#define CEED_RUNNING_JIT_PASS 1
#define CEED_SKIP_VISIBILITY
#define CEED_QFUNCTION(name)  RITZ_INLINE int name
#define CEED_QFUNCTION_HELPER RITZ_INLINE
#define CeedPragmaSIMD
#define CEED_Q_VLA 1

#include <ceed/types.h>

#ifdef RITZ_REAL_F32
typedef float RitzReal;
#else
typedef CeedScalar RitzReal;
#endif

// ---- *p += x, all threads of all blocks ----

#ifdef __OPENCL_VERSION__

// OpenCL C 1.2 has no atomic addition of floating-point numbers. Without 64-bit atomics the library never
// calls that of doubles, though functions may name it.
RITZ_INLINE void ritz_atomic_add_f32(RITZ_GLOBAL float *p, float x) {
  volatile RITZ_GLOBAL int *word = (volatile RITZ_GLOBAL int *)p;
  int found = *word, wanted;
  do {
    wanted = found;
    found = atomic_cmpxchg(word, wanted, as_int(as_float(wanted) + x));
  } while (found != wanted);
}
#if defined(CEED_SCALAR_IS_FP64) || defined(cl_khr_fp64)
#ifdef cl_khr_int64_base_atomics
RITZ_INLINE void ritz_atomic_add_f64(RITZ_GLOBAL double *p, double x) {
  volatile RITZ_GLOBAL long *word = (volatile RITZ_GLOBAL long *)p;
  long found = *word, wanted;
  do {
    wanted = found;
    found = atom_cmpxchg(word, wanted, as_long(as_double(wanted) + x));
  } while (found != wanted);
}
#else
RITZ_INLINE void ritz_atomic_add_f64(RITZ_GLOBAL double *p, double x) { *p += x; }
#endif
#endif

#else // CUDA

RITZ_INLINE void ritz_atomic_add_f32(float *p, float x) { atomicAdd(p, x); }
RITZ_INLINE void ritz_atomic_add_f64(double *p, double x) { atomicAdd(p, x); }

#endif

#if defined(CEED_SCALAR_IS_FP64) && !defined(RITZ_REAL_F32)
#define ritz_atomic_add ritz_atomic_add_f64
#else
#define ritz_atomic_add ritz_atomic_add_f32
#endif

#endif
