// SPDX-License-Identifier: BSD-2-Clause
// A linear system as solvers, smoothers and multigrid levels see it: an operator or a function, without its
// constrained entries. Constraints are handled here and nowhere else. Used by solver/ only.
#ifndef RITZ_SOLVER_SYSTEM_H
#define RITZ_SOLVER_SYSTEM_H

#include <ritz/solver.h>
#include <ritz/vector.h>
#include <stdbool.h>

enum { RITZ_SYSTEM_MAX_NULL = 64 };

typedef struct {
  Ceed ceed;               // borrowed
  CeedOperator op;         // counted, NULL when `apply` is used
  RitzApplyFunction apply; // NULL when `op` is used
  void *ctx;               // borrowed
  RitzIndices constraints; // counted, NULL: none
  CeedInt num_null;
  CeedVector *null; // owned, [num_null]: an orthonormal basis of the nullspace, zero on constrained entries
} RitzSystem;

// *system: all zeros; op, or else apply. On failure nothing is kept. The vectors belong to the context of op,
// with a function to `ceed`.
int ritz_system_create(Ceed ceed, CeedOperator op, RitzApplyFunction apply, void *ctx,
                       RitzIndices constraints, RitzSystem *system);
int ritz_system_destroy(RitzSystem *system);
// The nullspace: copies of these vectors in the system's context and of this precision, zeros on constrained
// entries, made orthonormal. Linearly dependent ones: CEED_ERROR_INCOMPATIBLE, the message begins with
// `call`. On failure the system has no nullspace.
int ritz_system_set_nullspace(RitzSystem *system, const char *call, CeedScalarType precision, CeedInt num,
                              const CeedVector basis[]);
// The vectors as they are, in the system's context: for ritz_system_set_nullspace of another system.
int ritz_system_copy_nullspace(RitzSystem *system, const char *call, CeedScalarType precision, CeedInt num,
                               const CeedVector basis[]);
// y := A x, zero on constrained entries.
int ritz_system_apply(const RitzSystem *system, CeedVector x, CeedVector y);
// y := A x with any values on constrained entries.
int ritz_system_apply_raw(const RitzSystem *system, CeedVector x, CeedVector y);
// r := b - A x, zero on constrained entries, orthogonal to the nullspace.
int ritz_system_residual(const RitzSystem *system, CeedVector b, CeedVector x, CeedVector r);
// r -= its part in the nullspace. Nothing without one.
int ritz_system_project(const RitzSystem *system, CeedVector r);
int ritz_system_zero_constrained(const RitzSystem *system, CeedVector x);

// The power of two next to a positive number, so that neither it nor its inverse leaves the range of the
// precision; 1 for others and for what is not finite.
double ritz_power_near(double value, CeedScalarType precision);
// *scale: the power of two near the largest entry of v; divided by it, v has squares that neither overflow
// nor vanish.
int ritz_vector_scale(CeedVector v, double *scale);

#endif
