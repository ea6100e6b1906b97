// SPDX-License-Identifier: BSD-2-Clause
// Inside of preconditioners: what all kinds have in common. Each kind is a table of methods and a struct of
// its own in `data`. Used by solver/ only.
#ifndef RITZ_SOLVER_PRECONDITIONER_H
#define RITZ_SOLVER_PRECONDITIONER_H

#include <ritz/precision.h>
#include <ritz/preconditioner.h>

#include "core/error.h"
#include "core/memory.h"
#include "solver/system.h"

typedef struct {
  const char *name; // "Jacobi", as views show it
  // z := P r; both have pc->n entries of pc->precision.
  int (*apply)(RitzPreconditioner pc, CeedVector r, CeedVector z);
  // Improves x for A x = b, as a smoother does; starts_from_zero: x has no values on entry and counts as
  // zero. Constrained entries of x are zero on entry and stay so. NULL: x += P (b - A x) by system and apply.
  int (*smooth)(RitzPreconditioner pc, CeedVector b, CeedVector x, bool starts_from_zero);
  int (*view)(RitzPreconditioner pc, FILE *stream, int indent); // lines, each indented; NULL: the name
  int64_t (*bytes)(RitzPreconditioner pc);                      // NULL: none
  int (*destroy)(RitzPreconditioner pc);                        // frees `data`
} RitzPreconditionerMethods;

struct RitzPreconditioner_private {
  const RitzClass *class;
  Ceed ceed; // counted
  int ref_count;
  CeedSize n;
  CeedScalarType precision;
  bool is_symmetric; // and positive definite and fixed
  const RitzPreconditionerMethods *methods;
  void *data;              // owned by the kind
  CeedVector converted[2]; // owned, for vectors of the other precision: r and z
};

// *pc: with one reference; takes `data` over when it succeeds (methods->destroy frees it later).
int ritz_preconditioner_create(Ceed ceed, const char *call, CeedSize n, CeedScalarType precision,
                               const RitzPreconditionerMethods *methods, void *data, bool is_symmetric,
                               RitzPreconditioner *pc);
// One smoothing action of any preconditioner for the system, see `smooth`. r: work vector.
int ritz_preconditioner_smooth(RitzPreconditioner pc, const RitzSystem *system, CeedVector b, CeedVector x,
                               bool starts_from_zero, CeedVector r);
int ritz_preconditioner_view(RitzPreconditioner pc, FILE *stream, int indent);

#endif
