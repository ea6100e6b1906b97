// SPDX-License-Identifier: BSD-2-Clause
// Boxes for tests of sweeps over vertex patches: random cases, their sweeps, and what a sweep is by
// definition: a block Gauss-Seidel method with the assembled matrix. Included by tests/test-patch-sweep.c.
#ifndef RITZ_TESTS_PATCH_KIT_H
#define RITZ_TESTS_PATCH_KIT_H

#include "tests/tap.h"

#include <float.h>
#include <math.h>
#include <ritz.h>
#include <ritz/precision.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/patch-sweep.h"
#include "fe/fe.h"
#include "solver/patch-box.h"
#include "tests/reference.h"

typedef struct {
  CeedInt dim, degree, num_comp, cells[3];
  bool is_fixed[3][2], is_graded;
  double factor[4];
  CeedScalarType precision;
  RitzPatchForm form;
} PatchCase;

static inline void patch_print(const PatchCase *c, char *text, size_t size) {
  static const char *const forms[] = {"lifted", "residual", "boundary"};
  int fixed = 0;
  for (int i = 0; i < 2 * c->dim; i++) fixed |= (int)c->is_fixed[i / 2][i % 2] << i;
  snprintf(text, size, "dim %d, degree %d, %d x %d x %d cells%s, sides %#x, %d components, %s, %s",
           (int)c->dim, (int)c->degree, (int)c->cells[0], (int)c->cells[1], (int)c->cells[2],
           c->is_graded ? " (graded)" : "", (unsigned)fixed, (int)c->num_comp, forms[c->form],
           c->precision == CEED_SCALAR_FP32 ? "float" : "double");
}

// ---- The box ----

// Lengths of cells grow from one side of the box to the other.
static inline int patch_grade(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = (1 + d) * (X[d] + (0.5 + 0.2 * d) * X[d] * X[d]);
  return 0;
}

// box: with tables and factors, which are the caller's.
static inline int patch_box(Ceed ceed, const PatchCase *c, RitzPatchBox *box) {
  static const char *const names[3][2] = {{"xmin", "xmax"}, {"ymin", "ymax"}, {"zmin", "zmax"}};
  const double upper[3] = {1, 1.5, 0.7};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzIndices fixed = NULL;
  RitzFixedPart parts[6];
  CeedInt num = 0;
  int ierr = RitzMeshCreateBox(ceed, c->dim, c->cells, NULL, c->is_graded ? NULL : upper, 1,
                               c->is_graded ? patch_grade : NULL, NULL, &mesh);
  for (int d = 0; d < c->dim; d++) {
    for (int side = 0; side < 2; side++) {
      if (c->is_fixed[d][side]) parts[num++] = (RitzFixedPart){.part = names[d][side]};
    }
  }
  if (!ierr) ierr = RitzSpaceCreate(mesh, c->degree, c->num_comp, &space);
  if (!ierr) ierr = RitzSpaceCreateConstraints(space, ceed, num, parts, &fixed);
  if (!ierr) ierr = ritz_patch_box_create(ceed, "patch_box", space, fixed, box);
  if (!ierr) {
    box->precision = c->precision;
    box->form = c->form;
    for (int t = 0; t < 4; t++) box->factor[t] = t < c->dim || t == 3 ? c->factor[t] : 0;
  }
  return ierr | RitzIndicesDestroy(&fixed) | RitzSpaceDestroy(&space) | RitzMeshDestroy(&mesh);
}

static inline int patch_sweep(Ceed ceed, const PatchCase *c, RitzPatchSweep *sweep) {
  RitzPatchBox box;
  CeedCall(patch_box(ceed, c, &box));
  return ritz_patch_sweep_create(ceed, &box, sweep);
}

// Whether node `at` of direction d has a value that is given.
static inline bool patch_is_fixed(const RitzPatchBox *box, int d, int64_t at) {
  return (at == 0 && box->is_fixed[d][0]) || (at == box->nodes[d] - 1 && box->is_fixed[d][1]);
}

static inline bool patch_is_constrained(const RitzPatchBox *box, int64_t entry) {
  int64_t node = entry / box->num_comp;
  for (int d = 0; d < box->dim; d++, node /= box->nodes[d - 1]) {
    if (patch_is_fixed(box, d, node % box->nodes[d])) return true;
  }
  return false;
}

// ---- The assembled matrix of one component ----

// Stiffness and mass of a line [nodes][nodes], to be freed; lengths of cells in units of their mean.
static inline double *patch_line_matrices(const PatchCase *c, int d) {
  const int P = c->degree + 1, n = c->cells[d] * c->degree + 1;
  double *matrices = reference_new(2 * n * n), nodes[REFERENCE_MAX_1D], points[REFERENCE_MAX_1D],
         weights[REFERENCE_MAX_1D], values[REFERENCE_MAX_1D * REFERENCE_MAX_1D],
         slopes[REFERENCE_MAX_1D * REFERENCE_MAX_1D], ends[2];
  const double a = 0.5 + 0.2 * d, whole = 1 + a;

  reference_quadrature(CEED_GAUSS_LOBATTO, P, nodes, NULL);
  reference_quadrature(CEED_GAUSS, P, points, weights);
  reference_lagrange(P, P, points, values, slopes);
  for (int e = 0; e < c->cells[d]; e++) {
    for (int s = 0; s < 2; s++) {
      const double X = (double)(e + s) / c->cells[d];
      ends[s] = c->is_graded ? X + a * X * X : X * whole;
    }
    const double length = (ends[1] - ends[0]) * c->cells[d] / whole;
    for (int q = 0; q < P; q++) {
      for (int i = 0; i < P * P; i++) {
        const int at = (e * c->degree + i / P) * n + e * c->degree + i % P;
        matrices[at] += weights[q] * slopes[q * P + i / P] * slopes[q * P + i % P] * 2 / length;
        matrices[n * n + at] += weights[q] * values[q * P + i / P] * values[q * P + i % P] * length / 2;
      }
    }
  }
  return matrices;
}

// [N][N], to be freed.
static inline double *patch_matrix(const PatchCase *c, const RitzPatchBox *box) {
  const int64_t N = box->nodes[0] * box->nodes[1] * box->nodes[2];
  double *line[3] = {NULL, NULL, NULL}, *matrix = reference_new(N * N);

  for (int d = 0; d < c->dim; d++) line[d] = patch_line_matrices(c, d);
  for (int64_t i = 0; i < N * N; i++) {
    for (int t = 0; t < 4; t++) {
      double product = box->factor[t];
      int64_t row = i / N, column = i % N;
      for (int d = 0; d < c->dim; d++) {
        const int64_t n = box->nodes[d];
        product *= line[d][(d == t ? 0 : n * n) + row % n * n + column % n];
        row /= n;
        column /= n;
      }
      matrix[i] += product;
    }
  }
  for (int d = 0; d < 3; d++) free(line[d]);
  return matrix;
}

// ---- A sweep by definition: u_I := A_II^-1 (b_I - A_IB u_B) for one patch after the other ----

// Free nodes of the interior of the patch at a position; returns how many.
static inline int patch_interior(const RitzPatchBox *box, const int64_t position[3], int64_t *nodes) {
  const int n = 2 * box->degree - 1;
  int num = 0;
  for (int64_t i = 0; i < (int64_t)pow(n, box->dim); i++) {
    int64_t rest = i, node = 0, stride = 1;
    bool is_free = true;
    for (int d = 0; d < box->dim; d++, rest /= n) {
      const int64_t at = (position[d] - 1) * box->degree + 1 + rest % n;
      is_free = is_free && at >= 0 && at < box->nodes[d] && !patch_is_fixed(box, d, at);
      node += at * stride;
      stride *= box->nodes[d];
    }
    if (is_free) nodes[num++] = node;
  }
  return num;
}

static inline int patch_dense_solve(Ceed ceed, const RitzPatchBox *box, const double *matrix, int num,
                                    const int64_t *nodes, int comp, const double *b, double *x) {
  const int64_t N = box->nodes[0] * box->nodes[1] * box->nodes[2];
  double *system = reference_new(num * num + 1), *rhs = reference_new(num + 1);
  for (int i = 0; i < num; i++) x[nodes[i] * box->num_comp + comp] = 0;
  for (int i = 0; i < num; i++) {
    rhs[i] = b[nodes[i] * box->num_comp + comp];
    for (int64_t j = 0; j < N; j++) rhs[i] -= matrix[nodes[i] * N + j] * x[j * box->num_comp + comp];
    for (int j = 0; j < num; j++) system[i * num + j] = matrix[nodes[i] * N + nodes[j]];
  }
  const int ierr = num > 0 ? ritz_fe_solve(ceed, num, system, 1, rhs) : 0;
  for (int i = 0; i < num && !ierr; i++) x[nodes[i] * box->num_comp + comp] = rhs[i];
  free(system);
  free(rhs);
  return ierr;
}

static inline int patch_dense_sweep(Ceed ceed, const PatchCase *c, const RitzPatchBox *box, const double *b,
                                    double *x, bool is_reversed) {
  const int num_colours = 1 << box->dim;
  double *matrix = patch_matrix(c, box);
  int64_t *nodes = malloc((size_t)pow(2 * box->degree - 1, box->dim) * sizeof(*nodes));
  int ierr = 0;
  for (int i = 0; i < num_colours && !ierr; i++) {
    const int colour = is_reversed ? num_colours - 1 - i : i;
    const int64_t num = box->count[0] * box->count[1] * box->count[2];
    for (int64_t k = 0; k < num && !ierr; k++) {
      int64_t rest = k, position[3] = {0, 0, 0};
      bool is_mine = true;
      for (int d = 0; d < box->dim; d++, rest /= box->count[d - 1]) {
        position[d] = box->first[d] + rest % box->count[d];
        is_mine = is_mine && (position[d] & 1) == (colour >> d & 1);
      }
      const int num_nodes = is_mine ? patch_interior(box, position, nodes) : 0;
      for (int comp = 0; comp < box->num_comp && is_mine && !ierr; comp++)
        ierr = patch_dense_solve(ceed, box, matrix, num_nodes, nodes, comp, b, x);
    }
  }
  free(matrix);
  free(nodes);
  return ierr;
}

// ---- Runs on vectors ----

static inline int patch_fill(CeedVector v, CeedSize n, const double *values) {
  CeedScalarType precision;
  CeedCall(RitzVectorGetPrecision(v, &precision));
  CeedVector own = NULL;
  CeedScalar *array;
  CeedCall(CeedVectorCreate(CeedVectorReturnCeed(v), n, &own));
  CeedCall(CeedVectorGetArrayWrite(own, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < n; i++) array[i] = (CeedScalar)values[i];
  CeedCall(CeedVectorRestoreArray(own, &array));
  CeedCall(precision == CEED_SCALAR_TYPE ? CeedVectorCopy(own, v) : RitzVectorConvert(own, v));
  return CeedVectorDestroy(&own);
}

static inline int patch_read(CeedVector v, CeedSize n, double *values) {
  CeedScalarType precision;
  CeedVector own = NULL;
  const CeedScalar *array;
  CeedCall(RitzVectorGetPrecision(v, &precision));
  CeedCall(CeedVectorCreate(CeedVectorReturnCeed(v), n, &own));
  CeedCall(precision == CEED_SCALAR_TYPE ? CeedVectorCopy(v, own) : RitzVectorConvert(v, own));
  CeedCall(CeedVectorGetArrayRead(own, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < n; i++) values[i] = (double)array[i];
  CeedCall(CeedVectorRestoreArrayRead(own, &array));
  return CeedVectorDestroy(&own);
}

// x := a sweep over b, x; on the sweep's backend. x_is_zero: x is not read.
static inline int patch_run(RitzPatchSweep sweep, const double *b, double *x, bool x_is_zero,
                            bool is_reversed) {
  CeedVector rhs = NULL, u = NULL;
  int ierr = RitzVectorCreate(sweep->ceed, sweep->length, sweep->box.precision, &rhs);
  if (!ierr) ierr = RitzVectorCreate(sweep->ceed, sweep->length, sweep->box.precision, &u);
  if (!ierr) ierr = patch_fill(rhs, sweep->length, b);
  if (!ierr && !x_is_zero) ierr = patch_fill(u, sweep->length, x);
  if (!ierr) ierr = ritz_patch_sweep_run(sweep, rhs, u, x_is_zero, is_reversed);
  if (!ierr) ierr = patch_read(u, sweep->length, x);
  return ierr | CeedVectorDestroy(&rhs) | CeedVectorDestroy(&u);
}

#endif
