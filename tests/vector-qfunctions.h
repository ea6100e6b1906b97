// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of tests/test-tensor-vector-operators.c: compiled into the program, and read as a text at
// run time. Valid as C, CUDA C++ and OpenCL C. All are linear, no two components are treated alike, and
// nothing is symmetric.
#ifndef RITZ_TESTS_VECTOR_QFUNCTIONS_H
#define RITZ_TESTS_VECTOR_QFUNCTIONS_H

#include <ceed/types.h>

// Entry of a matrix that belongs to row i and column j.
#define VECTOR_ENTRY(i, j)                                                                                   \
  (((i) == (j) ? (CeedScalar)2 : (CeedScalar)0) + (CeedScalar)0.1 * (CeedScalar)(2 * (i) - (j) + 1))

// Values and a derivative, coupled.
// in: [0] u [n][Q]   [1] du [m][Q]   [2] q [Q]   [3] w [Q]      out: [0] v [n][Q]   [1] dv [m][Q]
#define VECTOR_FULL(name, n, m)                                                                              \
  CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {    \
    (void)ctx;                                                                                               \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      CeedScalar all[(n) + (m)];                                                                             \
      for (CeedInt a = 0; a < (n); a++) all[a] = in[0][i + a * Q];                                           \
      for (CeedInt a = 0; a < (m); a++) all[(n) + a] = in[1][i + a * Q];                                     \
      for (CeedInt a = 0; a < (n) + (m); a++) {                                                              \
        CeedScalar sum = 0;                                                                                  \
        for (CeedInt b = 0; b < (n) + (m); b++) sum += VECTOR_ENTRY(a, b) * all[b];                          \
        if (a < (n))                                                                                         \
          out[0][i + a * Q] = in[2][i] * in[3][i] * sum;                                                     \
        else                                                                                                 \
          out[1][i + (a - (n)) * Q] = in[2][i] * in[3][i] * sum;                                             \
      }                                                                                                      \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// Values or a derivative alone.
// in: [0] u [n][Q]   [1] q [Q]   [2] w [Q]      out: [0] v [n][Q]
#define VECTOR_ONE(name, n)                                                                                  \
  CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {    \
    (void)ctx;                                                                                               \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      for (CeedInt a = 0; a < (n); a++) {                                                                    \
        CeedScalar sum = 0;                                                                                  \
        for (CeedInt b = 0; b < (n); b++) sum += VECTOR_ENTRY(a, b) * in[0][i + b * Q];                      \
        out[0][i + a * Q] = in[1][i] * in[2][i] * sum;                                                       \
      }                                                                                                      \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

// v = w J u with the gradient J of a field on a basis of another kind.
// in: [0] u [n][Q]   [1] J [n][n][Q]   [2] w [Q]      out: [0] v [n][Q]
#define VECTOR_MAPPED(name, n)                                                                               \
  CEED_QFUNCTION(name)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {    \
    (void)ctx;                                                                                               \
    for (CeedInt i = 0; i < Q; i++) {                                                                        \
      for (CeedInt a = 0; a < (n); a++) {                                                                    \
        CeedScalar sum = 0;                                                                                  \
        for (CeedInt b = 0; b < (n); b++) sum += in[1][i + (b * (n) + a) * Q] * in[0][i + b * Q];            \
        out[0][i + a * Q] = in[2][i] * sum;                                                                  \
      }                                                                                                      \
    }                                                                                                        \
    return CEED_ERROR_SUCCESS;                                                                               \
  }

VECTOR_FULL(VectorFull21, 2, 1)
VECTOR_FULL(VectorFull31, 3, 1)
VECTOR_FULL(VectorFull33, 3, 3)
VECTOR_FULL(VectorFull42, 4, 2)
VECTOR_FULL(VectorFull66, 6, 6)
VECTOR_ONE(VectorOne1, 1)
VECTOR_ONE(VectorOne2, 2)
VECTOR_ONE(VectorOne3, 3)
VECTOR_MAPPED(VectorMapped2, 2)
VECTOR_MAPPED(VectorMapped3, 3)

#endif
