// SPDX-License-Identifier: BSD-2-Clause
// The polynomial map of one element: its values on tensor grids and its Jacobian determinants. Called by
// everything in mesh/ that looks at positions. Leaves one-dimensional tables and contractions to fe/.
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

#include "fe/fe.h"

// ---- Values on a tensor grid ----

// Doubles for the components of P^dim nodes, of Q^dim points, and for the contractions in between.
int64_t ritz_mesh_map_work_size(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q) {
  int64_t num_max = ritz_mesh_power(P > Q ? P : Q, dim);

  return ritz_mesh_product(3, (const int64_t[]){4, space_dim, num_max});
}

void ritz_mesh_map_points(CeedInt dim, CeedInt space_dim, CeedInt P, CeedInt Q, const double *const M[],
                          const double *x, double *y, double *work) {
  int64_t num_nodes = ritz_mesh_power(P, dim), num_points = ritz_mesh_power(Q, dim);
  double *x_comp = work, *y_comp = x_comp + space_dim * num_nodes;

  for (int64_t i = 0; i < num_nodes; i++) {
    for (CeedInt c = 0; c < space_dim; c++) x_comp[c * num_nodes + i] = x[i * space_dim + c];
  }
  ritz_fe_tensor_apply(dim, space_dim, Q, P, M, x_comp, y_comp, y_comp + space_dim * num_points);
  for (int64_t i = 0; i < num_points; i++) {
    for (CeedInt c = 0; c < space_dim; c++) y[i * space_dim + c] = y_comp[c * num_points + i];
  }
}

void ritz_mesh_bounds(CeedInt space_dim, int64_t num_points, const double *x, double *low, double *high) {
  for (CeedInt c = 0; c < space_dim; c++) low[c] = high[c] = x[c];
  for (int64_t i = 1; i < num_points; i++) {
    for (CeedInt c = 0; c < space_dim; c++) {
      low[c] = fmin(low[c], x[i * space_dim + c]);
      high[c] = fmax(high[c], x[i * space_dim + c]);
    }
  }
}

// ---- Determinants ----

static int fill_tables(Ceed ceed, RitzMeshSampler *s) {
  static const double ends[2] = {-1.0, 1.0};
  double *work = NULL; // owned: nodes [P], points [Q], weights [Q]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->P + 2 * (size_t)s->Q, &work));
  double *nodes = work, *points = nodes + s->P, *weights = points + s->Q;

  ritz_fe_gauss_lobatto(s->P, nodes, NULL);
  ritz_fe_gauss(s->Q, points, weights);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, s->P, nodes, s->Q, points, s->interp, s->grad));
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, s->P, nodes, 2, ends, NULL, s->end_grad));
  for (int64_t i = 0; i < s->num_gauss; i++) {
    int64_t rest = i;

    s->weights[i] = 1.0;
    for (CeedInt d = 0; d < s->dim; d++, rest /= s->Q) s->weights[i] *= weights[rest % s->Q];
  }

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// Doubles that ritz_mesh_sampler_take needs: the Jacobians [dim][space_dim][num_gauss], the components of the
// nodes and the work of the contractions. -1: too many.
static int64_t work_size(const RitzMeshSampler *s) {
  int64_t num_max = ritz_mesh_power(s->P > s->Q ? s->P : s->Q, s->dim);

  return ritz_mesh_product(3, (const int64_t[]){s->space_dim, s->dim + 3, num_max});
}

int ritz_mesh_sampler_create(Ceed ceed, CeedInt dim, CeedInt space_dim, CeedInt order,
                             RitzMeshSampler *sampler) {
  CeedInt exact = (CeedInt)((3 * (int64_t)order + 1) / 2);
  RitzMeshSampler s = {.dim = dim, .space_dim = space_dim, .P = order + 1};
  int ierr = CEED_ERROR_SUCCESS;

  s.Q = exact > s.P ? exact : s.P;
  s.num_nodes = ritz_mesh_power(s.P, dim);
  s.num_gauss = ritz_mesh_power(s.Q, dim);
  s.num_points = s.num_gauss + (1 << dim);
  size_t table_size = (size_t)s.Q * (size_t)s.P;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, table_size, &s.interp));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, table_size, &s.grad));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, 2 * (size_t)s.P, &s.end_grad));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)s.num_gauss, &s.weights));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)s.num_points, &s.det));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)work_size(&s), &s.work));
  RITZ_TRY_CLEANUP(fill_tables(ceed, &s));

cleanup:
  if (ierr) ritz_mesh_sampler_clear(&s);
  *sampler = s;
  return ierr;
}

void ritz_mesh_sampler_clear(RitzMeshSampler *sampler) {
  RITZ_FREE(&sampler->interp);
  RITZ_FREE(&sampler->grad);
  RITZ_FREE(&sampler->end_grad);
  RITZ_FREE(&sampler->weights);
  RITZ_FREE(&sampler->det);
  RITZ_FREE(&sampler->work);
  *sampler = (RitzMeshSampler){0};
}

static double dot(CeedInt n, const double *a, const double *b) {
  double sum = 0.0;

  for (CeedInt i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double triple_product(const double J[3][3]) {
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

// J[d] is the derivative of the position along direction d. Lengths of tangents and the area they span
// are those of Gram's determinant: |J_r|, and |J_r x J_s| = sqrt(|J_r|^2 |J_s|^2 - (J_r . J_s)^2), taken from
// the cross product because that does not cancel.
static double determinant(CeedInt dim, CeedInt space_dim, const double J[3][3]) {
  if (dim == 3) return triple_product(J);
  if (dim == 1) return space_dim == 1 ? J[0][0] : sqrt(dot(space_dim, J[0], J[0]));
  double normal[3] = {0.0, 0.0, J[0][0] * J[1][1] - J[0][1] * J[1][0]};

  if (space_dim == 2) return normal[2];
  normal[0] = J[0][1] * J[1][2] - J[0][2] * J[1][1];
  normal[1] = J[0][2] * J[1][0] - J[0][0] * J[1][2];
  return sqrt(dot(3, normal, normal));
}

// Determinants at the Gauss points; x_comp [space_dim][P^dim].
static void take_at_gauss_points(RitzMeshSampler *s, const double *x_comp, double *work) {
  double *jacobian = work; // [dim][space_dim][num_gauss]

  work += s->dim * s->space_dim * s->num_gauss;
  for (CeedInt d = 0; d < s->dim; d++) {
    const double *M[3] = {s->interp, s->interp, s->interp};

    M[d] = s->grad;
    ritz_fe_tensor_apply(s->dim, s->space_dim, s->Q, s->P, M, x_comp,
                         jacobian + d * s->space_dim * s->num_gauss, work);
  }
  for (int64_t i = 0; i < s->num_gauss; i++) {
    double J[3][3] = {{0.0}};

    for (CeedInt d = 0; d < s->dim; d++) {
      for (CeedInt c = 0; c < s->space_dim; c++)
        J[d][c] = jacobian[(d * s->space_dim + c) * s->num_gauss + i];
    }
    s->det[i] = determinant(s->dim, s->space_dim, (const double(*)[3])J);
  }
}

// At a corner the derivative along an edge depends on the nodes of that edge only.
static double take_at_corner(const RitzMeshSampler *s, int corner, const double *x) {
  double J[3][3] = {{0.0}};
  int64_t node = 0, stride[3] = {1, s->P, (int64_t)s->P * s->P};

  for (CeedInt d = 0; d < s->dim; d++) node += (corner >> d & 1) * (s->P - 1) * stride[d];
  for (CeedInt d = 0; d < s->dim; d++) {
    int end = corner >> d & 1;
    const double *line = x + (node - end * (s->P - 1) * stride[d]) * s->space_dim;

    for (CeedInt j = 0; j < s->P; j++) {
      double weight = s->end_grad[end * s->P + j];

      for (CeedInt c = 0; c < s->space_dim; c++) J[d][c] += weight * line[j * stride[d] * s->space_dim + c];
    }
  }
  return determinant(s->dim, s->space_dim, (const double(*)[3])J);
}

void ritz_mesh_sampler_take(RitzMeshSampler *s, const double *x) {
  double *x_comp = s->work, *work = x_comp + s->space_dim * s->num_nodes;

  for (int64_t i = 0; i < s->num_nodes; i++) {
    for (CeedInt c = 0; c < s->space_dim; c++) x_comp[c * s->num_nodes + i] = x[i * s->space_dim + c];
  }
  take_at_gauss_points(s, x_comp, work);
  for (int k = 0; k < 1 << s->dim; k++) s->det[s->num_gauss + k] = take_at_corner(s, k, x);
}
