// SPDX-License-Identifier: BSD-2-Clause
// A cuBLAS that stands in for NVIDIA's in test-cuda-driver.c, on the fake driver, whose devices are memory of
// the host.
#include "tests/fake-cublas.h"

#include <stddef.h>

#include "tests/fake-library.h"

enum { INVALID_VALUE = 7 };

static FakeCublas fake;
static struct { void *stream; } handle;

EXPORTED FakeCublas *fake_cublas(void);
FakeCublas *fake_cublas(void) { return &fake; }

DEFINE(cublasCreate_v2, (void **made)) {
  BEGIN();
  *made = &handle;
  fake.num_handles++;
  return 0;
}

DEFINE(cublasDestroy_v2, (void *old)) {
  BEGIN();
  fake.num_handles--;
  return old == &handle ? 0 : INVALID_VALUE;
}

DEFINE(cublasSetStream_v2, (void *of, void *stream)) {
  BEGIN();
  handle.stream = stream;
  return of == &handle ? 0 : INVALID_VALUE;
}

// Leading dimensions have to hold the rows that are stored. Where beta is 0, C is not read.
#define DEFINE_PRODUCTS(real, gemm, batched)                                                                 \
  static int multiply_##real(int op_a, int op_b, int m, int n, int k, real alpha, const real *A, int ld_a,   \
                             const real *B, int ld_b, real beta, real *C, int ld_c) {                        \
    if (m < 0 || n < 0 || k < 0 || ld_a < (op_a ? k : m) || ld_b < (op_b ? n : k) || ld_c < m)               \
      return INVALID_VALUE;                                                                                  \
    for (int j = 0; j < n; j++) {                                                                            \
      for (int i = 0; i < m; i++) {                                                                          \
        real sum = 0, *c = &C[i + (ptrdiff_t)j * ld_c];                                                      \
        for (int l = 0; l < k; l++)                                                                          \
          sum += (op_a ? A[l + (ptrdiff_t)i * ld_a] : A[i + (ptrdiff_t)l * ld_a]) *                          \
                 (op_b ? B[j + (ptrdiff_t)l * ld_b] : B[l + (ptrdiff_t)j * ld_b]);                           \
        *c = alpha * sum + (beta == 0 ? 0 : beta * *c);                                                      \
      }                                                                                                      \
    }                                                                                                        \
    fake.stream = handle.stream;                                                                             \
    return 0;                                                                                                \
  }                                                                                                          \
  DEFINE(gemm, (void *of, int op_a, int op_b, int m, int n, int k, const real *alpha, const void *A,         \
                int ld_a, const void *B, int ld_b, const real *beta, void *C, int ld_c)) {                   \
    BEGIN();                                                                                                 \
    fake.num_products++;                                                                                     \
    return of == &handle ? multiply_##real(op_a, op_b, m, n, k, *alpha, A, ld_a, B, ld_b, *beta, C, ld_c)    \
                         : INVALID_VALUE;                                                                    \
  }                                                                                                          \
  DEFINE(batched, (void *of, int op_a, int op_b, int m, int n, int k, const real *alpha, const void *A,      \
                   int ld_a, long long stride_a, const void *B, int ld_b, long long stride_b,                \
                   const real *beta, void *C, int ld_c, long long stride_c, int count)) {                    \
    int status = of == &handle ? 0 : INVALID_VALUE;                                                          \
    BEGIN();                                                                                                 \
    fake.num_batches++;                                                                                      \
    for (int i = 0; i < count && !status; i++)                                                               \
      status = multiply_##real(op_a, op_b, m, n, k, *alpha, (const real *)A + i * stride_a, ld_a,            \
                               (const real *)B + i * stride_b, ld_b, *beta, (real *)C + i * stride_c, ld_c); \
    return status;                                                                                           \
  }

DEFINE_PRODUCTS(double, cublasDgemm_v2, cublasDgemmStridedBatched)
DEFINE_PRODUCTS(float, cublasSgemm_v2, cublasSgemmStridedBatched)
