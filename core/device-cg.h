// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients whose vectors stay on a device: the backend does whole iterations, the solver decides
// when to stop. Called by solver/cg-device.c, served by the slots cg_create, cg_iterate, cg_destroy.
#ifndef RITZ_CORE_DEVICE_CG_H
#define RITZ_CORE_DEVICE_CG_H

#include "core/core.h"

struct RitzCgSetup {
  CeedOperator op; // single or composite, square
  CeedSize n;
  CeedVector x, r, inverse; // iterate; residual divided by `scale`; diagonal preconditioner M or NULL
  double scale;
  int64_t num_constraints; // entries where A p counts as zero
  const int64_t *constraints;
  bool is_merged; // false: one pass for each vector operation, the reference
};

// Of one iteration: p . A p, and of the new residual |r|^2 and r . M r; also those of the residual at the
// beginning, before any iteration.
struct RitzCgNumbers {
  double pq, rr, rz;
};

#endif
