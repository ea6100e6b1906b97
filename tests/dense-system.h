// SPDX-License-Identifier: BSD-2-Clause
// Small dense matrices for tests of solvers: random ones with known eigenvalues, as functions for
// RitzSolverSetApply and RitzPreconditionerCreate, factorized, and back as vectors. Called by test-krylov*.c
// and test-preconditioner.c.
#ifndef RITZ_TESTS_DENSE_SYSTEM_H
#define RITZ_TESTS_DENSE_SYSTEM_H

#include <math.h>
#include <ritz/precision.h>
#include <ritz/solver.h>
#include <string.h>

#include "tests/tap.h"

enum { DENSE_MAX = 64 };

typedef struct {
  int n;
  double a[DENSE_MAX][DENSE_MAX];
} Dense;

static const double dense_eps = sizeof(CeedScalar) == 4 ? 0x1p-23 : 0x1p-52;

// ---- Matrices ----

// A = H diag(eigenvalues) H with a random reflection H: symmetric.
static inline void dense_symmetric(Dense *m, int n, const double *eigenvalues, uint64_t seed) {
  double v[DENSE_MAX], vv = 0;

  m->n = n;
  for (int i = 0; i < n; i++) v[i] = tap_uniform(&seed), vv += v[i] * v[i];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      m->a[i][j] = 0;
      for (int k = 0; k < n; k++) {
        const double h_ik = (i == k) - 2 * v[i] * v[k] / vv, h_kj = (k == j) - 2 * v[k] * v[j] / vv;
        m->a[i][j] += h_ik * eigenvalues[k] * h_kj;
      }
    }
  }
}

// Eigenvalues evenly spread over [low, high].
static inline void dense_spread(Dense *m, int n, double low, double high, uint64_t seed) {
  double eigenvalues[DENSE_MAX];

  for (int i = 0; i < n; i++) eigenvalues[i] = n > 1 ? low + (high - low) * i / (n - 1) : low;
  dense_symmetric(m, n, eigenvalues, seed);
}

// y = A x
static inline void dense_multiply(const Dense *m, const double *x, double *y) {
  for (int i = 0; i < m->n; i++) {
    y[i] = 0;
    for (int j = 0; j < m->n; j++) y[i] += m->a[i][j] * x[j];
  }
}

// x := A^-1 b by Gaussian elimination with pivoting; false: singular.
static inline bool dense_solve(const Dense *m, const double *b, double *x) {
  Dense f = *m;
  const int n = m->n;

  memcpy(x, b, (size_t)n * sizeof(*x));
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) pivot = fabs(f.a[i][k]) > fabs(f.a[pivot][k]) ? i : pivot;
    if (f.a[pivot][k] == 0) return false;
    for (int j = 0; j < n; j++) {
      const double kept = f.a[k][j];
      f.a[k][j] = f.a[pivot][j];
      f.a[pivot][j] = kept;
    }
    const double kept = x[k];
    x[k] = x[pivot];
    x[pivot] = kept;
    for (int i = k + 1; i < n; i++) {
      const double factor = f.a[i][k] / f.a[k][k];
      for (int j = k; j < n; j++) f.a[i][j] -= factor * f.a[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= f.a[i][j] * x[j];
    x[i] /= f.a[i][i];
  }
  return true;
}

// Rows and columns of the marked entries become those of the identity.
static inline void dense_eliminate(Dense *m, const bool *is_constrained) {
  for (int i = 0; i < m->n; i++) {
    for (int j = 0; j < m->n; j++) {
      if (is_constrained[i] || is_constrained[j]) m->a[i][j] = i == j;
    }
  }
}

// Eigenvalues of a symmetric matrix by Jacobi's rotations.
static inline void dense_eigenvalues(const Dense *m, double *eigenvalues) {
  Dense f = *m;
  const int n = m->n;

  for (int sweep = 0; sweep < 20; sweep++) {
    for (int p = 0; p < n; p++) {
      for (int q = p + 1; q < n; q++) {
        if (f.a[p][q] == 0) continue;
        const double t0 = (f.a[q][q] - f.a[p][p]) / (2 * f.a[p][q]);
        const double t = (t0 < 0 ? -1 : 1) / (fabs(t0) + sqrt(t0 * t0 + 1)), c = 1 / sqrt(t * t + 1),
                     s = t * c;
        for (int i = 0; i < n; i++) {
          const double ip = f.a[i][p], iq = f.a[i][q];
          f.a[i][p] = c * ip - s * iq;
          f.a[i][q] = s * ip + c * iq;
        }
        for (int i = 0; i < n; i++) {
          const double pi = f.a[p][i], qi = f.a[q][i];
          f.a[p][i] = c * pi - s * qi;
          f.a[q][i] = s * pi + c * qi;
        }
      }
    }
  }
  for (int i = 0; i < n; i++) eigenvalues[i] = f.a[i][i];
}

// ---- Vectors ----

static inline double dense_norm(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

static inline double dense_distance(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static inline CeedVector dense_vector(Ceed ceed, int n, const double *values) {
  CeedVector v = NULL;
  CeedScalar *array = NULL;

  if (CeedVectorCreate(ceed, n, &v) || CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array)) return NULL;
  for (int i = 0; i < n; i++) array[i] = values ? (CeedScalar)values[i] : 0;
  CeedVectorRestoreArray(v, &array);
  return v;
}

static inline int dense_set(CeedVector v, int n, const double *values) {
  CeedScalar *array = NULL;
  const int ierr = CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array);

  if (ierr) return ierr;
  for (int i = 0; i < n; i++) array[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(v, &array);
}

static inline int dense_get(CeedVector v, int n, double *values) {
  const CeedScalar *array = NULL;
  const int ierr = CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array);

  for (int i = 0; i < n; i++) values[i] = ierr ? NAN : (double)array[i];
  if (ierr) return ierr;
  return CeedVectorRestoreArrayRead(v, &array);
}

// ---- Functions of a program: ctx is a Dense ----

static inline int dense_apply(void *ctx, CeedVector x, CeedVector y) {
  const Dense *m = ctx;
  double in[DENSE_MAX], out[DENSE_MAX];
  const int ierr = dense_get(x, m->n, in);

  if (ierr) return ierr;
  dense_multiply(m, in, out);
  return dense_set(y, m->n, out);
}

// The same for vectors of float.
static inline int dense_apply_f32(void *ctx, CeedVector x, CeedVector y) {
  const Dense *m = ctx;
  const float *in = NULL;
  float *out = NULL;
  int ierr = RitzVectorGetArrayReadF32(x, CEED_MEM_HOST, &in);

  if (!ierr) ierr = RitzVectorGetArrayWriteF32(y, CEED_MEM_HOST, &out);
  if (ierr) return ierr;
  for (int i = 0; i < m->n; i++) {
    float sum = 0;
    for (int j = 0; j < m->n; j++) sum += (float)m->a[i][j] * in[j];
    out[i] = sum;
  }
  ierr = RitzVectorRestoreArrayF32(y, &out);
  return ierr ? ierr : RitzVectorRestoreArrayReadF32(x, &in);
}

#endif
