// SPDX-License-Identifier: BSD-2-Clause
// Jacobian determinants of one element (contract in mesh/mesh.h). Called by the check of orientation and for
// the measure. Leaves bases, quadrature and contractions to fe/.
#include "mesh/mesh.h"

#include <math.h>

#include "fe/fe.h"

// ---- Tensor shapes ----

static int fill_sampling_tables(Ceed ceed, RitzMeshSampler *s) {
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
    for (CeedInt d = 0; d < s->shape->dim; d++, rest /= s->Q) s->weights[i] *= weights[rest % s->Q];
  }

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// Doubles that ritz_mesh_sampler_take needs: the Jacobians [dim][space_dim][num_gauss], the components of the
// nodes and the work of the contractions. -1: too many.
static int64_t work_size(const RitzMeshSampler *s) {
  int64_t num_max = ritz_mesh_power(s->P > s->Q ? s->P : s->Q, s->shape->dim);

  return ritz_mesh_product(3, (const int64_t[]){s->space_dim, s->shape->dim + 3, num_max});
}

static int create_tensor(Ceed ceed, RitzMeshSampler *s) {
  const CeedInt order = s->P - 1, exact = (CeedInt)((3 * (int64_t)order + 1) / 2);

  s->Q = exact > s->P ? exact : s->P;
  s->num_gauss = ritz_mesh_power(s->Q, s->shape->dim);
  s->num_points = s->num_gauss + s->shape->num_corners;
  size_t table_size = (size_t)s->Q * (size_t)s->P;

  RITZ_TRY(RITZ_MALLOC(ceed, table_size, &s->interp));
  RITZ_TRY(RITZ_MALLOC(ceed, table_size, &s->grad));
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)s->P, &s->end_grad));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)s->num_gauss, &s->weights));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)work_size(s), &s->work));
  return fill_sampling_tables(ceed, s);
}

// ---- Other shapes ----

// Quadrature points, then the corners where the gradient exists.
static int fill_sampling_points(Ceed ceed, int degree, const RitzMeshSampler *s, double *points) {
  const int dim = s->shape->dim;
  int num;

  RITZ_TRY(ritz_fe_shape_quadrature(ceed, s->shape->topology, degree, &num, points, s->weights));
  for (int64_t k = s->num_gauss; k < s->num_points; k++) {
    for (int d = 0; d < dim; d++) {
      points[k * dim + d] = 2.0 * s->shape->corner_at[k - s->num_gauss][d] - 1.0;
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int create_dense_sampler(Ceed ceed, RitzMeshSampler *s) {
  const CeedElemTopology topology = s->shape->topology;
  const bool is_simplex = s->shape->num_corners == s->shape->dim + 1;
  const int degree = s->P == 2 && is_simplex ? 0 : 3 * (s->P - 1);
  double *points = NULL;
  int num, ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_fe_shape_quadrature(ceed, topology, degree, &num, NULL, NULL));
  s->num_gauss = num;
  s->num_points = num + s->shape->num_corners - (topology == CEED_TOPOLOGY_PYRAMID);
  const size_t num_points = (size_t)s->num_points, dim = (size_t)s->shape->dim;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, &s->weights));
  RITZ_TRY(RITZ_MALLOC(ceed, dim * num_points * (size_t)s->num_nodes, &s->dense_grad));
  RITZ_TRY(RITZ_MALLOC(ceed, dim * num_points, &points));
  RITZ_TRY_CLEANUP(fill_sampling_points(ceed, degree, s, points));
  ierr = ritz_fe_shape_lagrange(ceed, topology, s->P - 1, (int)num_points, points, NULL, s->dense_grad);

cleanup:
  RITZ_FREE(&points);
  return ierr;
}

// ---- All shapes ----

static void clear_sampler(RitzMeshSampler *sampler) {
  RITZ_FREE(&sampler->interp);
  RITZ_FREE(&sampler->grad);
  RITZ_FREE(&sampler->end_grad);
  RITZ_FREE(&sampler->dense_grad);
  RITZ_FREE(&sampler->weights);
  RITZ_FREE(&sampler->det);
  RITZ_FREE(&sampler->work);
  *sampler = (RitzMeshSampler){0};
}

static int create_sampler(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                          RitzMeshSampler *sampler) {
  RitzMeshSampler s = {.shape = ritz_mesh_shape(topology),
                       .space_dim = space_dim,
                       .P = order + 1,
                       .num_nodes = ritz_mesh_num_nodes(topology, order)};
  int ierr = s.shape->is_tensor ? create_tensor(ceed, &s) : create_dense_sampler(ceed, &s);

  if (!ierr) ierr = RITZ_MALLOC(ceed, (size_t)s.num_points, &s.det);
  if (ierr) clear_sampler(&s);
  *sampler = s;
  return ierr;
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

  work += s->shape->dim * s->space_dim * s->num_gauss;
  for (CeedInt d = 0; d < s->shape->dim; d++) {
    const double *M[3] = {s->interp, s->interp, s->interp};

    M[d] = s->grad;
    ritz_fe_tensor_apply(s->shape->dim, s->space_dim, s->Q, s->P, M, x_comp,
                         jacobian + d * s->space_dim * s->num_gauss, work);
  }
  for (int64_t i = 0; i < s->num_gauss; i++) {
    double J[3][3] = {{0.0}};

    for (CeedInt d = 0; d < s->shape->dim; d++) {
      for (CeedInt c = 0; c < s->space_dim; c++)
        J[d][c] = jacobian[(d * s->space_dim + c) * s->num_gauss + i];
    }
    s->det[i] = determinant(s->shape->dim, s->space_dim, (const double(*)[3])J);
  }
}

// At a corner the derivative along an edge depends on the nodes of this edge only.
static double take_at_corner(const RitzMeshSampler *s, int corner, const double *x) {
  double J[3][3] = {{0.0}};
  int64_t node = 0, stride[3] = {1, s->P, (int64_t)s->P * s->P};

  for (CeedInt d = 0; d < s->shape->dim; d++) node += (corner >> d & 1) * (s->P - 1) * stride[d];
  for (CeedInt d = 0; d < s->shape->dim; d++) {
    int end = corner >> d & 1;
    const double *line = x + (node - end * (s->P - 1) * stride[d]) * s->space_dim;

    for (CeedInt j = 0; j < s->P; j++) {
      double weight = s->end_grad[end * s->P + j];

      for (CeedInt c = 0; c < s->space_dim; c++) J[d][c] += weight * line[j * stride[d] * s->space_dim + c];
    }
  }
  return determinant(s->shape->dim, s->space_dim, (const double(*)[3])J);
}

static void take_tensor(RitzMeshSampler *s, const double *x) {
  double *x_comp = s->work, *work = x_comp + s->space_dim * s->num_nodes;

  for (int64_t i = 0; i < s->num_nodes; i++) {
    for (CeedInt c = 0; c < s->space_dim; c++) x_comp[c * s->num_nodes + i] = x[i * s->space_dim + c];
  }
  take_at_gauss_points(s, x_comp, work);
  for (int k = 0; k < s->shape->num_corners; k++) s->det[s->num_gauss + k] = take_at_corner(s, k, x);
}

static void take_dense(RitzMeshSampler *s, const double *x) {
  for (int64_t q = 0; q < s->num_points; q++) {
    double J[3][3] = {{0.0}};

    for (CeedInt d = 0; d < s->shape->dim; d++) {
      const double *gradient = s->dense_grad + (d * s->num_points + q) * s->num_nodes;

      ritz_mesh_map_dense(s->space_dim, 1, s->num_nodes, gradient, x, J[d]);
    }
    s->det[q] = determinant(s->shape->dim, s->space_dim, (const double(*)[3])J);
  }
}

void ritz_mesh_sampler_take(RitzMeshSampler *s, const double *x) {
  if (s->shape->is_tensor) {
    take_tensor(s, x);
  } else {
    take_dense(s, x);
  }
}

// ---- Of all threads ----

int ritz_mesh_samplers_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order, int num,
                              RitzMeshSampler **samplers) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, samplers));
  for (int i = 0; i < num; i++) {
    const int ierr = create_sampler(ceed, topology, space_dim, order, &(*samplers)[i]);

    if (ierr) ritz_mesh_samplers_clear(i, samplers);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_mesh_samplers_clear(int num, RitzMeshSampler **samplers) {
  for (int i = 0; i < num && *samplers; i++) clear_sampler(&(*samplers)[i]);
  RITZ_FREE(samplers);
}
