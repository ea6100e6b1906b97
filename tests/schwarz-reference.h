// SPDX-License-Identifier: BSD-2-Clause
// Element-wise Schwarz methods by definition: dense matrices of the elements, inverted by elimination,
// nothing shared with solver/. Included by tests/test-schwarz.c.
#ifndef RITZ_TESTS_SCHWARZ_REFERENCE_H
#define RITZ_TESTS_SCHWARZ_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference.h"

// Stiffness (is_stiffness) or mass matrix [P][P] of [-1,1] with corner entries doubled.
static inline void schwarz_line(int P, bool is_stiffness, double *matrix) {
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D],
      grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  const double *table = is_stiffness ? grad : interp;

  reference_quadrature(CEED_GAUSS, P + 1, x, w);
  reference_lagrange(P, P + 1, x, interp, grad);
  for (int i = 0; i < P * P; i++) {
    matrix[i] = 0;
    for (int q = 0; q <= P; q++) matrix[i] += w[q] * table[q * P + i / P] * table[q * P + i % P];
  }
  matrix[0] *= 2;
  matrix[P * P - 1] *= 2;
}

// B [P^dim][P^dim] of an element with factors c [dim + 1].
static inline void schwarz_element(int dim, int P, const double *c, double *B) {
  const int n = (int)CeedIntPow(P, dim);
  double stiffness[REFERENCE_MAX_1D * REFERENCE_MAX_1D], mass[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  double *term = reference_new((CeedSize)n * n);

  schwarz_line(P, true, stiffness);
  schwarz_line(P, false, mass);
  for (int i = 0; i < n * n; i++) B[i] = 0;
  for (int d = 0; d <= dim; d++) {
    reference_tensor(dim, P, P, mass, stiffness, d < dim ? d : -1, term);
    for (int i = 0; i < n * n; i++) B[i] += c[d] * term[i];
  }
  free(term);
}

// x := B^-1 x for a definite matrix, which is overwritten.
static inline void schwarz_solve(int n, double *B, double *x) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      const double factor = B[i * n + k] / B[k * n + k];

      for (int j = k; j < n; j++) B[i * n + j] -= factor * B[k * n + j];
      x[i] -= factor * x[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) x[k] -= B[k * n + j] * x[j];
    x[k] /= B[k * n + k];
  }
}

typedef struct {
  int dim, P, num_comp;
  int64_t num_elem, num_nodes;
  const int64_t *nodes;    // [num_elem][P^dim]
  const double *factors;   // [num_elem][dim + 1], used with sum one
  const double *diagonal;  // of the operator, [num_nodes * num_comp]
  const bool *constrained; // the same length
} SchwarzProblem;

// s of every entry: sqrt(mean of the elements' diagonals / (diagonal * number of elements)).
static inline double *schwarz_scale(const SchwarzProblem *p, const double *matrices) {
  const int n = (int)CeedIntPow(p->P, p->dim);
  double *sum = reference_new(p->num_nodes), *count = reference_new(p->num_nodes);
  double *scale = reference_new(p->num_nodes * p->num_comp);

  for (int64_t i = 0; i < p->num_elem * n; i++) {
    sum[p->nodes[i]] += matrices[i / n * n * n + i % n * (n + 1)];
    count[p->nodes[i]]++;
  }
  for (int64_t i = 0; i < p->num_nodes * p->num_comp; i++) {
    const int64_t node = i / p->num_comp;
    const double mean = sum[node] / count[node];

    scale[i] = p->constrained[i] ? 0 : sqrt(mean / (p->diagonal[i] * count[node]));
  }
  free(sum);
  free(count);
  return scale;
}

// z = P r, a new array.
static inline double *schwarz_apply(const SchwarzProblem *p, const double *r) {
  const int n = (int)CeedIntPow(p->P, p->dim);
  double *matrices = reference_new(p->num_elem * n * n), *work = reference_new(n * (n + 1));
  double *z = reference_new(p->num_nodes * p->num_comp);

  for (int64_t e = 0; e < p->num_elem; e++) {
    double c[4], sum = 0;

    for (int d = 0; d <= p->dim; d++) sum += p->factors[e * (p->dim + 1) + d];
    for (int d = 0; d <= p->dim; d++) c[d] = p->factors[e * (p->dim + 1) + d] / sum;
    schwarz_element(p->dim, p->P, c, matrices + e * n * n);
  }
  double *scale = schwarz_scale(p, matrices);
  for (int64_t e = 0; e < p->num_elem * p->num_comp; e++) {
    const int64_t *nodes = p->nodes + e / p->num_comp * n, comp = e % p->num_comp;
    double *x = work + n * n;

    memcpy(work, matrices + e / p->num_comp * n * n, (size_t)(n * n) * sizeof(double));
    for (int i = 0; i < n; i++) {
      const int64_t at = nodes[i] * p->num_comp + comp;
      x[i] = p->constrained[at] ? 0 : scale[at] * r[at];
    }
    schwarz_solve(n, work, x);
    for (int i = 0; i < n; i++) z[nodes[i] * p->num_comp + comp] += x[i];
  }
  for (int64_t i = 0; i < p->num_nodes * p->num_comp; i++) z[i] *= scale[i];
  free(matrices);
  free(work);
  free(scale);
  return z;
}

#endif
