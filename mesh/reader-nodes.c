// SPDX-License-Identifier: BSD-2-Clause
// Interpolation of an element's node positions to Gauss-Lobatto points (contract in mesh/reader.h).
#include <math.h>

#include "fe/fe.h"
#include "mesh/reader.h"

int ritz_reader_nodes_create(Ceed ceed, int dim, int space_dim, int p, const double *in_points, int q,
                             RitzReaderNodes *nodes) {
  int ierr = CEED_ERROR_SUCCESS, most = q > p ? q : p;
  size_t num_in = (size_t)ritz_mesh_power(p + 1, dim), num_out = (size_t)ritz_mesh_power(q + 1, dim);
  size_t nc = (size_t)space_dim, num_work = 2 * nc * (size_t)ritz_mesh_power(most + 1, dim);
  double out_points[RITZ_READER_MAX_DEGREE + 1];

  RITZ_ASSERT(most <= RITZ_READER_MAX_DEGREE);
  *nodes = (RitzReaderNodes){.dim = dim, .space_dim = space_dim, .num_in = p + 1, .num_out = q + 1};
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)((p + 1) * (q + 1)), &nodes->matrix));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, nc * num_in, &nodes->in));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, nc * num_out, &nodes->out));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num_work, &nodes->work));
  ritz_fe_gauss_lobatto(q + 1, out_points, NULL);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, p + 1, in_points, q + 1, out_points, nodes->matrix, NULL));
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
  int64_t num = ritz_mesh_power(nodes->num_out, nodes->dim);
  bool finite = true;

  ritz_fe_tensor_apply(nodes->dim, nodes->space_dim, nodes->num_out, nodes->num_in, matrices, nodes->in,
                       nodes->out, nodes->work);
  for (int64_t i = 0; i < num; i++) {
    for (int c = 0; c < nodes->space_dim; c++) {
      double value = nodes->out[c * num + i];

      finite = finite && isfinite(value);
      x[i * nodes->space_dim + c] = value;
    }
  }
  return finite;
}
