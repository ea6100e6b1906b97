// SPDX-License-Identifier: BSD-2-Clause
// Interpolation of an element's node positions to Lagrange nodes (contract in mesh/reader.h).
#include <math.h>

#include "fe/fe.h"
#include "mesh/reader.h"

// ---- Matrices ----

static int fill_line_matrix(Ceed ceed, int p, const double *in_points, int q, double *matrix) {
  double out_points[RITZ_READER_MAX_DEGREE + 1];

  ritz_fe_gauss_lobatto(q + 1, out_points, NULL);
  return ritz_fe_lagrange(ceed, p + 1, in_points, q + 1, out_points, matrix, NULL);
}

static void transpose(int rows, int cols, const double *from, double *to) {
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
  }
}

// matrix = E B^-1 with the Lagrange basis of degree p at the positions that are given (B) and at the nodes of
// degree q (E).
static int fill_dense_matrix(Ceed ceed, int p, const double *in_points, int q, RitzReaderNodes *nodes) {
  int ierr = CEED_ERROR_SUCCESS, m = nodes->num_in, n = nodes->num_out,
      dim = ritz_mesh_shape(nodes->topology)->dim;
  CeedElemTopology topology = nodes->topology;
  double *positions = NULL, *table = NULL, *square = NULL, *solution = NULL;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)n * (size_t)dim, &positions));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)n * (size_t)m, &table));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)m * (size_t)m, &square));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)n * (size_t)m, &solution));
  ritz_lattice_place(topology, p, in_points, positions);
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(ceed, topology, p, m, positions, table, NULL));
  transpose(m, m, table, square);
  RITZ_TRY_CLEANUP(ritz_fe_shape_nodes(ceed, topology, q, positions));
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(ceed, topology, p, n, positions, table, NULL));
  transpose(n, m, table, solution);
  RITZ_TRY_CLEANUP(ritz_fe_solve(ceed, m, square, n, solution));
  transpose(m, n, solution, nodes->matrix);
cleanup:
  RITZ_FREE(&positions);
  RITZ_FREE(&table);
  RITZ_FREE(&square);
  RITZ_FREE(&solution);
  return ierr;
}

// ---- Elements ----

int ritz_reader_nodes_create(Ceed ceed, CeedElemTopology topology, int space_dim, int p,
                             const double *in_points, int q, RitzReaderNodes *nodes) {
  int ierr = CEED_ERROR_SUCCESS;
  bool is_tensor = ritz_mesh_shape(topology)->is_tensor;
  size_t nc = (size_t)space_dim;

  RITZ_ASSERT(p <= q && q <= (is_tensor ? RITZ_READER_MAX_DEGREE : RITZ_READER_MAX_DENSE_DEGREE));
  *nodes = (RitzReaderNodes){.topology = topology, .space_dim = space_dim};
  nodes->num_in = ritz_fe_shape_num_nodes(topology, p);
  nodes->num_out = ritz_fe_shape_num_nodes(topology, q);
  nodes->dim = is_tensor ? ritz_mesh_shape(topology)->dim : 1;
  nodes->rows = is_tensor ? q + 1 : nodes->num_out;
  nodes->cols = is_tensor ? p + 1 : nodes->num_in;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)nodes->rows * (size_t)nodes->cols, &nodes->matrix));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, nc * (size_t)nodes->num_in, &nodes->in));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, nc * (size_t)nodes->num_out, &nodes->out));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, 2 * nc * (size_t)nodes->num_out, &nodes->work));
  if (is_tensor)
    RITZ_TRY_CLEANUP(fill_line_matrix(ceed, p, in_points, q, nodes->matrix));
  else
    RITZ_TRY_CLEANUP(fill_dense_matrix(ceed, p, in_points, q, nodes));
cleanup:
  if (ierr) ritz_reader_nodes_destroy(nodes);
  return ierr;
}

void ritz_reader_nodes_destroy(RitzReaderNodes *nodes) {
  RITZ_FREE(&nodes->matrix);
  RITZ_FREE(&nodes->in);
  RITZ_FREE(&nodes->out);
  RITZ_FREE(&nodes->work);
}

bool ritz_reader_nodes_apply(const RitzReaderNodes *nodes, double *x) {
  const double *const matrices[3] = {nodes->matrix, nodes->matrix, nodes->matrix};
  bool finite = true;

  ritz_fe_tensor_apply(nodes->dim, nodes->space_dim, nodes->rows, nodes->cols, matrices, nodes->in,
                       nodes->out, nodes->work);
  for (int i = 0; i < nodes->num_out; i++) {
    for (int c = 0; c < nodes->space_dim; c++) {
      double value = nodes->out[c * nodes->num_out + i];

      finite = finite && isfinite(value);
      x[i * nodes->space_dim + c] = value;
    }
  }
  return finite;
}
