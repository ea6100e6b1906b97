// SPDX-License-Identifier: BSD-2-Clause
// Tensor cores of NVIDIA's devices, doubles, from sm_80 on: D += A B of 16 x 8 by 8 x 8, by the 32 threads of
// a warp together. Thread 4 g + t has, in this order (PTX ISA, "Matrix fragments for mma.m16n8k8", .f64):
//
//     a   A(g, t), A(g + 8, t), A(g, t + 4), A(g + 8, t + 4)
//     b   B(t, g), B(t + 4, g)
//     d   D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1)
//
// And copies from global to shared memory that run beside the threads. tests/test-mma-kernels.c plays these
// functions on a host.
#ifndef RITZ_KERNELS_GPU_MMA_F64_H
#define RITZ_KERNELS_GPU_MMA_F64_H

#if __CUDA_ARCH__ >= 900

RITZ_INLINE void ritz_mma_f64(const double *a, double b0, double b1, double *d) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
}

#else // a quarter of it at a time

RITZ_INLINE void ritz_mma_f64(const double *a, double b0, double b1, double *d) {
  RITZ_UNROLL
  for (int i = 0; i < 4; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[i % 2 * 2]), "+d"(d[i % 2 * 2 + 1])
                 : "d"(a[i]), "d"(i / 2 ? b1 : b0));
}

#endif

// The first 0 to 2 doubles at `from`, then zeros -> two at `to`. Both addresses are multiples of 16 bytes.
RITZ_INLINE void ritz_copy_two(RITZ_SHARED double *to, RITZ_GLOBAL const double *from, int num) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(8 * num)
               : "memory");
}
// One or a zero.
RITZ_INLINE void ritz_copy_one(RITZ_SHARED double *to, RITZ_GLOBAL const double *from, int num) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
               :
               : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(8 * num)
               : "memory");
}
// The thread's own copies are done.
RITZ_INLINE void ritz_copies_wait(void) { asm volatile("cp.async.wait_all;" : : : "memory"); }

#endif
