// SPDX-License-Identifier: BSD-2-Clause
// Additive Schwarz methods by definition: dense matrices of the subdomains, inverted by elimination, nothing
// shared with solver/. Included by tests/test-schwarz*.c.
#ifndef RITZ_TESTS_SCHWARZ_REFERENCE_H
#define RITZ_TESTS_SCHWARZ_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference.h"

// The nodes first .. first + P - 1 of a line of cells [-1,1] of degree p.
typedef struct {
  int num_cells, degree, first, P;
} SchwarzLine;

// Their stiffness (is_stiffness) or mass matrix [P][P], assembled from the cells.
static inline void schwarz_line(const SchwarzLine *line, bool is_stiffness, double *matrix) {
  const int p = line->degree, n = p + 1, P = line->P;
  double x[REFERENCE_MAX_1D], w[REFERENCE_MAX_1D], interp[REFERENCE_MAX_1D * REFERENCE_MAX_1D],
      grad[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  const double *table = is_stiffness ? grad : interp;

  reference_quadrature(CEED_GAUSS, n + 1, x, w);
  reference_lagrange(n, n + 1, x, interp, grad);
  for (int i = 0; i < P * P; i++) matrix[i] = 0;
  for (int i = 0; i < line->num_cells * n * n; i++) {
    const int cell = i / (n * n), a = i / n % n, b = i % n;
    const int row = cell * p + a - line->first, column = cell * p + b - line->first;

    if (row < 0 || row >= P || column < 0 || column >= P) continue;
    for (int q = 0; q <= n; q++) matrix[row * P + column] += w[q] * table[q * n + a] * table[q * n + b];
  }
}

// B [P^dim][P^dim] of a subdomain with factors c [dim + 1].
static inline void schwarz_matrix(int dim, const SchwarzLine *line, const double *c, double *B) {
  const int P = line->P, n = (int)CeedIntPow(P, dim);
  double stiffness[REFERENCE_MAX_1D * REFERENCE_MAX_1D], mass[REFERENCE_MAX_1D * REFERENCE_MAX_1D];
  double *term = reference_new((CeedSize)n * n);

  schwarz_line(line, true, stiffness);
  schwarz_line(line, false, mass);
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

// Subdomains of one size.
typedef struct {
  SchwarzLine line;
  int64_t num;
  const int64_t *nodes;  // [num][P^dim]; those beyond num_nodes are missing
  const double *factors; // [num][dim + 1], used with sum one
} SchwarzSet;

typedef struct {
  int dim, num_comp;
  int64_t num_nodes;
  const double *diagonal;  // of the operator, [num_nodes * num_comp]
  const bool *constrained; // the same length
  int num_sets;
  SchwarzSet sets[3];
} SchwarzProblem;

// B of subdomain k of a set, with factors whose sum is one.
static inline double *schwarz_new_matrix(const SchwarzProblem *p, const SchwarzSet *set, int64_t k) {
  const int n = (int)CeedIntPow(set->line.P, p->dim);
  double *B = reference_new((CeedSize)n * n), c[4], sum = 0;

  for (int d = 0; d <= p->dim; d++) sum += set->factors[k * (p->dim + 1) + d];
  for (int d = 0; d <= p->dim; d++) c[d] = set->factors[k * (p->dim + 1) + d] / sum;
  schwarz_matrix(p->dim, &set->line, c, B);
  return B;
}

// s of every entry: sqrt(mean of the subdomains' diagonals / (diagonal * number of subdomains)).
static inline double *schwarz_scale(const SchwarzProblem *p) {
  double *sum = reference_new(p->num_nodes), *count = reference_new(p->num_nodes);
  double *scale = reference_new(p->num_nodes * p->num_comp);

  for (int s = 0; s < p->num_sets; s++) {
    const int n = (int)CeedIntPow(p->sets[s].line.P, p->dim);
    for (int64_t k = 0; k < p->sets[s].num; k++) {
      double *B = schwarz_new_matrix(p, &p->sets[s], k);
      for (int i = 0; i < n; i++) {
        const int64_t node = p->sets[s].nodes[k * n + i];
        if (node >= p->num_nodes) continue;
        sum[node] += B[i * (n + 1)];
        count[node]++;
      }
      free(B);
    }
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

// z += E^T B^-1 E scale r for one component of a subdomain.
static inline void schwarz_add(const SchwarzProblem *p, const SchwarzSet *set, int64_t k, int comp,
                               const double *scale, const double *r, double *z) {
  const int n = (int)CeedIntPow(set->line.P, p->dim);
  const int64_t *nodes = set->nodes + k * n;
  double *B = schwarz_new_matrix(p, set, k), *x = reference_new(n);

  for (int i = 0; i < n; i++) {
    const int64_t at = nodes[i] * p->num_comp + comp;
    x[i] = nodes[i] >= p->num_nodes || p->constrained[at] ? 0 : scale[at] * r[at];
  }
  schwarz_solve(n, B, x);
  for (int i = 0; i < n; i++) {
    if (nodes[i] < p->num_nodes) z[nodes[i] * p->num_comp + comp] += x[i];
  }
  free(B);
  free(x);
}

// z = P r, a new array.
static inline double *schwarz_apply(const SchwarzProblem *p, const double *r) {
  double *scale = schwarz_scale(p), *z = reference_new(p->num_nodes * p->num_comp);

  for (int s = 0; s < p->num_sets; s++) {
    for (int64_t i = 0; i < p->sets[s].num * p->num_comp; i++)
      schwarz_add(p, &p->sets[s], i / p->num_comp, (int)(i % p->num_comp), scale, r, z);
  }
  for (int64_t i = 0; i < p->num_nodes * p->num_comp; i++) z[i] *= scale[i];
  free(scale);
  return z;
}

#endif
