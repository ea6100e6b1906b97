// SPDX-License-Identifier: BSD-2-Clause
// What tests of the dense solver share: matrices with prescribed singular values, systems in the memory of
// any context, backward errors in long double. Included by tests/test-dense-solver*.c and
// tests/dense-rates.c.
#ifndef RITZ_TESTS_DENSE_KIT_H
#define RITZ_TESTS_DENSE_KIT_H

#include "tests/batched-kit.h"

// ---- Matrices: column-major without gaps, owned by the caller ----

static inline double *solver_alloc(int64_t num) {
  double *p = malloc((size_t)(num + 1) * sizeof(*p));
  if (!p) abort();
  return p;
}

// A := H A (or A H), H a random reflection.
static inline void solver_reflect(int64_t n, double *A, bool is_left, uint64_t *state) {
  double *v = solver_alloc(n), square = 0;
  for (int64_t i = 0; i < n; i++) v[i] = tap_uniform(state), square += v[i] * v[i];
  for (int64_t line = 0; line < n; line++) {
    double *x = is_left ? A + line * n : A + line, sum = 0;
    const int64_t step = is_left ? 1 : n;
    for (int64_t i = 0; i < n; i++) sum += v[i] * x[i * step];
    for (int64_t i = 0; i < n; i++) x[i * step] -= 2 * sum / square * v[i];
  }
  free(v);
}

// U S V^T with random orthogonal U and V (symmetric: V = U), singular values from 1 down to 1/condition,
// their logarithms evenly spread.
static inline double *solver_matrix(int64_t n, double condition, bool is_symmetric, uint64_t seed) {
  double *A = solver_alloc(n * n);
  uint64_t left = seed, right = is_symmetric ? seed : seed + 1;
  memset(A, 0, (size_t)(n * n) * sizeof(*A));
  for (int64_t i = 0; i < n; i++) A[i + i * n] = pow(condition, n > 1 ? -(double)i / (double)(n - 1) : 0);
  for (int64_t i = 0; i < (n < 24 ? n : 24); i++) {
    solver_reflect(n, A, true, &left);
    solver_reflect(n, A, false, &right);
  }
  for (int64_t j = 0; j < n && is_symmetric; j++) {
    for (int64_t i = 0; i < j; i++) A[i + j * n] = A[j + i * n];
  }
  return A;
}

static inline void solver_fill(int64_t num, double *x, uint64_t *state) {
  for (int64_t i = 0; i < num; i++) x[i] = tap_uniform(state);
}

// |b - A x| / (|A| |x|), maximum norms.
static inline double solver_backward_error(int64_t n, const double *A, const double *b, const double *x) {
  long double residual = 0, norm = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    long double r = b[i], sum = 0;
    for (int64_t j = 0; j < n; j++) {
      r -= (long double)A[i + j * n] * x[j];
      sum += fabsl((long double)A[i + j * n]);
    }
    if (!(fabsl(r) <= residual)) residual = fabsl(r);
    if (sum > norm) norm = sum;
    if (fabs(x[i]) > (double)largest) largest = fabsl((long double)x[i]);
  }
  return residual == 0 ? 0 : (double)(residual / norm / largest);
}

static inline double solver_tolerance(int64_t n) { return sqrt((double)n) * 0x1p-53; }

// ---- Systems in the memory of a context ----

typedef struct {
  int64_t n, num_columns;
  double *A;             // [n][n], owned by the test
  double *b, *x;         // [num_columns][n], owned
  BatchMemory memory[3]; // A, B, X
  RitzDenseSolver solver;
  RitzDenseReport report;
} System;

static inline int system_make(Ceed ceed, int64_t n, int64_t num_columns, double *A, System *s) {
  uint64_t state = 11;
  *s = (System){.n = n, .num_columns = num_columns, .A = A};
  s->b = solver_alloc(num_columns * n);
  s->x = solver_alloc(num_columns * n);
  solver_fill(num_columns * n, s->b, &state);
  batch_memory_make(ceed, (size_t)(n * n) * sizeof(double), &s->memory[0]);
  for (int i = 1; i < 3; i++)
    batch_memory_make(ceed, (size_t)(num_columns * n) * sizeof(double), &s->memory[i]);
  return RitzDenseSolverCreate(ceed, n, &s->solver);
}

static inline void system_free(System *s) {
  RitzDenseSolverDestroy(&s->solver);
  for (int i = 0; i < 3; i++) batch_memory_free(&s->memory[i]);
  free(s->b);
  free(s->x);
}

static inline int system_factor(System *s) {
  memcpy(s->memory[0].host, s->A, (size_t)(s->n * s->n) * sizeof(double));
  const double *A = batch_memory_lend(&s->memory[0]);
  const int ierr = RitzDenseSolverFactor(s->solver, A, s->n);
  if (ierr) batch_memory_return(&s->memory[0]);
  return ierr;
}

// A stays lent from the factorization on; it is given back here.
static inline int system_solve(System *s) {
  const size_t num_bytes = (size_t)(s->num_columns * s->n) * sizeof(double);
  memcpy(s->memory[1].host, s->b, num_bytes);
  const double *B = batch_memory_lend(&s->memory[1]);
  double *X = batch_memory_lend(&s->memory[2]);
  int ierr = RitzDenseSolverSolve(s->solver, s->num_columns, B, X);
  for (int i = 1; i < 3; i++) batch_memory_return(&s->memory[i]);
  memcpy(s->x, s->memory[2].host, num_bytes);
  const int reported = RitzDenseSolverGetReport(s->solver, &s->report);
  return ierr ? ierr : reported;
}

static inline int system_run(System *s) {
  int ierr = system_factor(s);
  if (ierr) return ierr;
  ierr = system_solve(s);
  batch_memory_return(&s->memory[0]);
  return ierr;
}

// The largest of all columns.
static inline double system_backward_error(const System *s) {
  double largest = 0;
  for (int64_t c = 0; c < s->num_columns; c++) {
    const double error = solver_backward_error(s->n, s->A, s->b + c * s->n, s->x + c * s->n);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

#endif
