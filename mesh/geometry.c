// SPDX-License-Identifier: BSD-2-Clause
// The map of one element: its values at other points. Called by everything in mesh/ that looks at positions.
// Leaves bases and contractions to fe/; determinants are in mesh/sampler.c.
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
  for (CeedInt c = 0; c < space_dim; c++) low[c] = high[c] = num_points > 0 ? x[c] : 0; // an empty part
  for (int64_t i = 1; i < num_points; i++) {
    for (CeedInt c = 0; c < space_dim; c++) {
      const double here = x[i * space_dim + c];

      if (here < low[c] || isnan(low[c])) low[c] = here;
      if (here > high[c] || isnan(high[c])) high[c] = here;
    }
  }
}

// ---- Values by a matrix ----

void ritz_mesh_map_dense(CeedInt space_dim, int64_t num_points, int64_t num_nodes, const double *M,
                         const double *x, double *y) {
  for (int64_t q = 0; q < num_points; q++, M += num_nodes, y += space_dim) {
    double sum[3] = {0.0, 0.0, 0.0};

    for (int64_t i = 0; i < num_nodes; i++) {
      for (CeedInt c = 0; c < space_dim; c++) sum[c] += M[i] * x[i * space_dim + c];
    }
    for (CeedInt c = 0; c < space_dim; c++) y[c] = sum[c];
  }
}

// ---- Interpolation between degrees ----

// Table [Q][P] from Gauss-Lobatto points to Gauss-Lobatto points.
static int fill_line(Ceed ceed, RitzMeshInterpolation *t) {
  double *nodes = NULL; // owned: nodes [P], points [Q]

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)t->P * (size_t)t->Q, &t->matrix));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)t->P + (size_t)t->Q, &nodes));
  ritz_fe_gauss_lobatto(t->P, nodes, NULL);
  ritz_fe_gauss_lobatto(t->Q, nodes + t->P, NULL);
  int ierr = ritz_fe_lagrange(ceed, t->P, nodes, t->Q, nodes + t->P, t->matrix, NULL);

  RITZ_FREE(&nodes);
  return ierr;
}

static int fill_dense(Ceed ceed, RitzMeshInterpolation *t) {
  const CeedElemTopology topology = t->shape->topology;
  double *points = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)t->num_points * (size_t)t->num_nodes, &t->matrix));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)t->num_points * (size_t)t->shape->dim, &points));
  int ierr = ritz_fe_shape_nodes(ceed, topology, t->Q - 1, points);

  if (!ierr) {
    ierr = ritz_fe_shape_lagrange(ceed, topology, t->P - 1, (int)t->num_points, points, t->matrix, NULL);
  }
  RITZ_FREE(&points);
  return ierr;
}

int ritz_mesh_interpolation_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                                   CeedInt degree, RitzMeshInterpolation *interpolation) {
  RitzMeshInterpolation *t = interpolation;
  int ierr = CEED_ERROR_SUCCESS;

  *t = (RitzMeshInterpolation){.shape = ritz_mesh_shape(topology),
                               .space_dim = space_dim,
                               .P = order + 1,
                               .Q = degree + 1,
                               .num_nodes = ritz_mesh_num_nodes(topology, order),
                               .num_points = ritz_mesh_num_nodes(topology, degree)};
  if (t->shape->is_tensor) {
    int64_t work_size = ritz_mesh_map_work_size(t->shape->dim, space_dim, t->P, t->Q);

    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)work_size, &t->work));
    RITZ_TRY_CLEANUP(fill_line(ceed, t));
  } else {
    RITZ_TRY_CLEANUP(fill_dense(ceed, t));
  }

cleanup:
  if (ierr) ritz_mesh_interpolation_clear(t);
  return ierr;
}

void ritz_mesh_interpolation_clear(RitzMeshInterpolation *interpolation) {
  RITZ_FREE(&interpolation->matrix);
  RITZ_FREE(&interpolation->work);
  *interpolation = (RitzMeshInterpolation){0};
}

void ritz_mesh_interpolation_apply(const RitzMeshInterpolation *t, const double *x, double *y) {
  const double *const M[3] = {t->matrix, t->matrix, t->matrix};

  if (t->shape->is_tensor) {
    ritz_mesh_map_points(t->shape->dim, t->space_dim, t->P, t->Q, M, x, y, t->work);
  } else {
    ritz_mesh_map_dense(t->space_dim, t->num_points, t->num_nodes, t->matrix, x, y);
  }
}
