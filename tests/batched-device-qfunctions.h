// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of test-batched-device.c: every function of ritz/jit-source/batched-device.h at each point. A
// source that devices compile at run time, so it is C and C++ and needs no system header.
#ifndef RITZ_TESTS_BATCHED_DEVICE_QFUNCTIONS_H
#define RITZ_TESTS_BATCHED_DEVICE_QFUNCTIONS_H

#include <ritz/jit-source/batched-device.h>

// What is told of a point with a matrix A of order n and a column b, in this order.
typedef struct {
  int x, y;         // A^-1 b, A^-T b
  int inverse, spd; // A^-1, S = A^T A + 2
  int z;            // S^-1 b
  int outer;        // 3 A A^T - b's first entry
  int product;      // 2 A^T b + b
  int pivots, det, infos;
  int size;
} DevicePlaces;
#define DEVICE_PLACES(n)                                                                                     \
  {                                                                                                          \
    0, (n), 2 * (n), 2 * (n) + (n) * (n), 2 * (n) + 2 * (n) * (n), 3 * (n) + 2 * (n) * (n),                  \
        3 * (n) + 3 * (n) * (n), 4 * (n) + 3 * (n) * (n), 5 * (n) + 3 * (n) * (n),                           \
        5 * (n) + 3 * (n) * (n) + 1, 5 * (n) + 3 * (n) * (n) + 4                                             \
  }

CEED_QFUNCTION_HELPER void device_store(const int num, const CeedScalar *values, const CeedInt Q,
                                        CeedScalar *out) {
  RITZ_SMALL_UNROLL
  for (int c = 0; c < num; c++) out[c * Q] = values[c];
}

// in: [0] A [n][n][Q]   [1] b [n][Q]      out: [0] numbers at the places above, [size][Q]
#define DEVICE_ALGEBRA(name, n)                                                                              \
  CEED_QFUNCTION(name)                                                                                       \
  (void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {                        \
    const DevicePlaces at = DEVICE_PLACES(n);                                                                \
    (void)ctx;                                                                                               \
    CeedPragmaSIMD                                                                                           \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar A[(n) * (n)], LU[(n) * (n)], b[n], x[n], infos[3];                                          \
      int ipiv[n];                                                                                           \
                                                                                                             \
      for (int c = 0; c < (n) * (n); c++) LU[c] = A[c] = in[0][c * Q + i];                                   \
      for (int c = 0; c < (n); c++) x[c] = b[c] = in[1][c * Q + i];                                          \
      infos[0] = (CeedScalar)ritz_thread_getrf(n, LU, ipiv);                                                 \
      out[0][at.det * Q + i] = ritz_thread_det(n, LU, ipiv);                                                 \
      for (int c = 0; c < (n); c++) out[0][(at.pivots + c) * Q + i] = (CeedScalar)ipiv[c];                   \
      ritz_thread_getrs(n, 0, 1, LU, ipiv, x);                                                               \
      device_store(n, x, Q, &out[0][at.x * Q + i]);                                                          \
      for (int c = 0; c < (n); c++) x[c] = b[c];                                                             \
      ritz_thread_getrs(n, 1, 1, LU, ipiv, x);                                                               \
      device_store(n, x, Q, &out[0][at.y * Q + i]);                                                          \
      for (int c = 0; c < (n) * (n); c++) LU[c] = A[c];                                                      \
      infos[1] = (CeedScalar)ritz_thread_inv(n, LU, ipiv);                                                   \
      device_store((n) * (n), LU, Q, &out[0][at.inverse * Q + i]);                                           \
      for (int c = 0; c < (n) * (n); c++) LU[c] = c % ((n) + 1) == 0;                                        \
      ritz_thread_gemm(1, 0, n, n, n, 1, A, A, 2, LU);                                                       \
      device_store((n) * (n), LU, Q, &out[0][at.spd * Q + i]);                                               \
      infos[2] = (CeedScalar)ritz_thread_potrf(n, LU);                                                       \
      for (int c = 0; c < (n); c++) x[c] = b[c];                                                             \
      ritz_thread_potrs(n, 1, LU, x);                                                                        \
      device_store(n, x, Q, &out[0][at.z * Q + i]);                                                          \
      for (int c = 0; c < (n) * (n); c++) LU[c] = b[0];                                                      \
      ritz_thread_gemm(0, 1, n, n, n, 3, A, A, -1, LU);                                                      \
      device_store((n) * (n), LU, Q, &out[0][at.outer * Q + i]);                                             \
      for (int c = 0; c < (n); c++) x[c] = b[c];                                                             \
      ritz_thread_gemv(1, n, n, 2, A, b, 1, x);                                                              \
      device_store(n, x, Q, &out[0][at.product * Q + i]);                                                    \
      device_store(3, infos, Q, &out[0][at.infos * Q + i]);                                                  \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

DEVICE_ALGEBRA(DeviceAlgebra1, 1)
DEVICE_ALGEBRA(DeviceAlgebra3, 3)
DEVICE_ALGEBRA(DeviceAlgebra8, 8)

#endif
