// SPDX-License-Identifier: BSD-2-Clause
// The action of a Kronecker product of small matrices, one direction after the other.
// Called by backends/ref and mesh/. Leaves speed to the generated kernels of other backends.
#include "fe/fe.h"

#include <stddef.h>

// v[a][i][b] = sum_j M[i][j] u[a][j][b]
static void contract_tensor(ptrdiff_t slow, int rows, int cols, ptrdiff_t fast, const double *M,
                            const double *u, double *v) {
  for (ptrdiff_t a = 0; a < slow; a++) {
    for (ptrdiff_t i = 0; i < rows; i++) {
      double *out = v + (a * rows + i) * fast;

      for (ptrdiff_t b = 0; b < fast; b++) out[b] = 0.0;
      for (ptrdiff_t j = 0; j < cols; j++) {
        const double *in = u + (a * cols + j) * fast;
        double m = M[i * cols + j];

        for (ptrdiff_t b = 0; b < fast; b++) out[b] += m * in[b];
      }
    }
  }
}

// Before step d the data are [nc][cols^(dim-1-d)][cols][rows^d]. The first step reads u and the last one
// writes v; those between alternate between the halves of work.
void ritz_fe_tensor_apply(int dim, int nc, int rows, int cols, const double *const M[], const double *u,
                          double *v, double *work) {
  ptrdiff_t half = nc * ritz_power(rows > cols ? rows : cols, dim);
  const double *in = u;

  for (int d = 0; d < dim; d++) {
    double *out = d == dim - 1 ? v : work + d % 2 * half;

    contract_tensor(nc * ritz_power(cols, dim - 1 - d), rows, cols, ritz_power(rows, d), M[d], in, out);
    in = out;
  }
}
