// SPDX-License-Identifier: BSD-2-Clause
// Edge functions: polynomials that are determined by their integrals between nodes. Called by core/, which
// makes H(div) and H(curl) bases of them.
#include "base/error.h"
#include "base/memory.h"
#include "fe/fe.h"

// M. Gerritsma, Edge functions for spectral element methods (2011): e_i = -(l_0' + .. + l_{i-1}'), which is
// l_i' + .. + l_{P-1}' because all sum to zero. Sums over the shorter side, both in the middle, so that
// mirrored input gives mirrored output.
static double edge_function(int P, int i, const double *slopes) {
  double below = 0.0, above = 0.0;

  for (int k = 0; k < i; k++) below += slopes[k];
  for (int k = P - 1; k >= i; k--) above += slopes[k];
  return 2 * i < P ? -below : 2 * i > P ? above : (above - below) / 2;
}

int ritz_fe_edge(Ceed ceed, int P, const double *nodes, int Q, const double *points, double *values) {
  double *slopes = NULL; // owned, [Q][P]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(P >= 2 && Q >= 0, ceed, CEED_ERROR_DIMENSION,
               "Edge functions: %d nodes and %d points, at least 2 and 0 needed", P, Q);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)P * (size_t)Q, &slopes));
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, P, nodes, Q, points, NULL, slopes));
  for (size_t q = 0; q < (size_t)Q; q++) {
    for (int i = 1; i < P; i++) values[q * (P - 1) + i - 1] = edge_function(P, i, slopes + q * P);
  }

cleanup:
  RITZ_FREE(&slopes);
  return ierr;
}
