// SPDX-License-Identifier: BSD-2-Clause
// A LAPACK that stands in for others in test-dense-routes.c: LU with pivots and Cholesky of the lower
// triangle in plain loops. Built with FAKE_INTEGER for the width of its integers, and with FAKE_WRONG, which
// swaps no rows.
#include <math.h>
#include <stdint.h>

typedef FAKE_INTEGER Integer;

#define EXPORTED __attribute__((visibility("default")))
#ifdef FAKE_WRONG
enum { IS_WRONG = 1 };
#else
enum { IS_WRONG = 0 };
#endif

#define DEFINE(REAL, GETRF, POTRF)                                                                           \
  EXPORTED void GETRF(const Integer *m, const Integer *n, REAL *A, const Integer *ld, Integer *pivots,       \
                      Integer *info);                                                                        \
  EXPORTED void POTRF(const char *uplo, const Integer *n, REAL *A, const Integer *ld, Integer *info);        \
                                                                                                             \
  void GETRF(const Integer *m, const Integer *n, REAL *A, const Integer *ld, Integer *pivots,                \
             Integer *info) {                                                                                \
    (void)m;                                                                                                 \
    *info = 0;                                                                                               \
    for (Integer k = 0; k < *n; k++) {                                                                       \
      Integer p = k;                                                                                         \
      for (Integer i = k + 1; i < *n && !IS_WRONG; i++) {                                                    \
        if (fabs((double)A[i + k * *ld]) > fabs((double)A[p + k * *ld])) p = i;                              \
      }                                                                                                      \
      pivots[k] = p + 1;                                                                                     \
      for (Integer j = 0; j < *n; j++) {                                                                     \
        const REAL kept = A[k + j * *ld];                                                                    \
        A[k + j * *ld] = A[p + j * *ld];                                                                     \
        A[p + j * *ld] = kept;                                                                               \
      }                                                                                                      \
      if (A[k + k * *ld] == 0 && *info == 0) *info = k + 1;                                                  \
      if (A[k + k * *ld] == 0) continue;                                                                     \
      for (Integer i = k + 1; i < *n; i++) {                                                                 \
        A[i + k * *ld] /= A[k + k * *ld];                                                                    \
        for (Integer j = k + 1; j < *n; j++) A[i + j * *ld] -= A[i + k * *ld] * A[k + j * *ld];              \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
                                                                                                             \
  void POTRF(const char *uplo, const Integer *n, REAL *A, const Integer *ld, Integer *info) {                \
    *info = *uplo == 'L' ? 0 : -1;                                                                           \
    for (Integer k = 0; k < *n && *info == 0; k++) {                                                         \
      if (!(A[k + k * *ld] > 0)) *info = k + 1;                                                              \
      A[k + k * *ld] = (REAL)sqrt((double)A[k + k * *ld]);                                                   \
      for (Integer i = k + 1; i < *n; i++) A[i + k * *ld] /= A[k + k * *ld];                                 \
      for (Integer j = k + 1; j < *n; j++) {                                                                 \
        for (Integer i = j; i < *n; i++) A[i + j * *ld] -= A[i + k * *ld] * A[j + k * *ld];                  \
      }                                                                                                      \
    }                                                                                                        \
  }

DEFINE(double, dgetrf_, dpotrf_)
DEFINE(float, sgetrf_, spotrf_)
