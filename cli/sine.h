// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of the known solution, a product of sines: its source, the errors against it. Included by
// problem-exact.c and by run-time compilers.
#ifndef RITZ_CLI_SINE_H
#define RITZ_CLI_SINE_H

#include "qfunctions.h" // beside it, also for run-time compilers

// Sine and pi times cosine of pi x_c at point i; 1 and 0 beyond the space.
CEED_QFUNCTION_HELPER void solve_waves(const SolveContext *s, const CeedScalar *x, const CeedInt Q,
                                       const CeedInt i, CeedScalar sine[3], CeedScalar cosine[3]) {
  const CeedScalar pi = 3.14159265358979323846;

  for (CeedInt c = 0; c < 3; c++) {
    sine[c] = c < s->space_dim ? sin(pi * x[c * Q + i]) : 1;
    cosine[c] = c < s->space_dim ? pi * cos(pi * x[c * Q + i]) : 0;
  }
}

// in: coordinates, their gradient, weights; out: v = w det times the source of the known solution
CEED_QFUNCTION(solve_sine_source)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], sine[3], cosine[3];
    const CeedScalar w_det = in[2][i] * solve_geometry(s, in[1], Q, i, k);

    solve_waves(s, in[0], Q, i, sine, cosine);
    const CeedScalar mixed[3] = {cosine[1] * cosine[2] * sine[0], cosine[0] * cosine[2] * sine[1],
                                 cosine[0] * cosine[1] * sine[2]}; // without direction 0, 1, 2
    for (CeedInt c = 0; c < s->num_comp; c++) {
      CeedScalar sum = 0;
      for (CeedInt d = 0; d < s->space_dim; d++) sum += d == c ? 0 : mixed[3 - c - d];
      out[0][c * Q + i] = w_det * (s->a * sine[0] * sine[1] * sine[2] + s->b * sum);
    }
  }
  return 0;
}

// Squared errors against the known solution, times w det, summed over components.
// in: coordinates, their gradient, weights, u, du; out: [(u - exact)^2, |grad u - grad exact|^2] w det
CEED_QFUNCTION(solve_sine_errors)
(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  const SolveContext *s = (const SolveContext *)ctx;
  const CeedScalar *u = in[3], *du = in[4];
  const CeedInt nc = s->num_comp;

  for (CeedInt i = 0; i < Q; i++) {
    CeedScalar k[3][3], sine[3], cosine[3], values = 0, slopes = 0;
    const CeedScalar det = solve_geometry(s, in[1], Q, i, k);

    solve_waves(s, in[0], Q, i, sine, cosine);
    const CeedScalar exact = s->amplitude * sine[0] * sine[1] * sine[2];
    const CeedScalar gradient[3] = {cosine[0] * sine[1] * sine[2], sine[0] * cosine[1] * sine[2],
                                    sine[0] * sine[1] * cosine[2]};
    for (CeedInt c = 0; c < nc; c++) {
      values += (u[c * Q + i] - exact) * (u[c * Q + i] - exact);
      for (CeedInt e = 0; e < s->space_dim; e++) {
        CeedScalar slope = 0;
        for (CeedInt d = 0; d < s->dim; d++) slope += k[d][e] * du[(d * nc + c) * Q + i];
        slope = slope / det - s->amplitude * gradient[e];
        slopes += slope * slope;
      }
    }
    out[0][i] = in[2][i] * det * values;
    out[0][Q + i] = in[2][i] * det * slopes;
  }
  return 0;
}

#endif
