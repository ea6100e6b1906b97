// SPDX-License-Identifier: BSD-2-Clause
// Linear systems without their constrained entries, and their nullspaces (contract in solver/system.h).
// Called by all of solver/; arithmetic is that of ritz/vector.h.
#include "solver/system.h"

#include <math.h>
#include <ritz/precision.h>

#include "core/core.h"
#include "core/vector-pass.h"

int ritz_system_create(Ceed ceed, CeedOperator op, RitzApplyFunction apply, void *ctx,
                       RitzIndices constraints, RitzSystem *system) {
  *system =
      (RitzSystem){.ceed = op ? op->obj.ceed : ceed, .apply = op ? NULL : apply, .ctx = op ? NULL : ctx};
  if (op) RITZ_TRY(CeedOperatorReferenceCopy(op, &system->op));
  const int ierr = constraints ? RitzIndicesReferenceCopy(constraints, &system->constraints) : 0;
  return ierr ? ritz_first_error(ierr, ritz_system_destroy(system)) : CEED_ERROR_SUCCESS;
}

static int drop_nullspace(RitzSystem *system) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < system->num_null; i++) {
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&system->null[i]));
  }
  RITZ_FREE(&system->null);
  system->num_null = 0;
  return ierr;
}

int ritz_system_destroy(RitzSystem *system) {
  int ierr = drop_nullspace(system);

  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&system->op));
  return ritz_first_error(ierr, RitzIndicesDestroy(&system->constraints));
}

double ritz_power_near(double value, CeedScalarType precision) {
  const int limit = precision == CEED_SCALAR_FP32 ? 120 : 1000;
  int exponent = 0;

  if (!(value > 0) || !isfinite(value)) return 1;
  (void)frexp(value, &exponent);
  return ldexp(1, exponent < -limit ? -limit : exponent > limit ? limit : exponent);
}

// ---- Products ----

int ritz_system_zero_constrained(const RitzSystem *system, CeedVector x) {
  return system->constraints ? RitzVectorSetEntries(x, system->constraints, 0) : CEED_ERROR_SUCCESS;
}

int ritz_system_apply_raw(const RitzSystem *system, CeedVector x, CeedVector y) {
  if (system->apply) return system->apply(system->ctx, x, y);
  return CeedOperatorApply(system->op, x, y, CEED_REQUEST_IMMEDIATE);
}

int ritz_system_apply(const RitzSystem *system, CeedVector x, CeedVector y) {
  RITZ_TRY(ritz_system_apply_raw(system, x, y));
  return ritz_system_zero_constrained(system, y);
}

int ritz_system_residual(const RitzSystem *system, CeedVector b, CeedVector x, CeedVector r) {
  RITZ_TRY(ritz_system_apply_raw(system, x, r));
  RITZ_TRY(RitzVectorSum(r, 1, b, -1, r));
  RITZ_TRY(ritz_system_zero_constrained(system, r));
  return ritz_system_project(system, r);
}

// ---- Nullspaces ----

int ritz_system_project(const RitzSystem *system, CeedVector r) {
  double part[RITZ_SYSTEM_MAX_NULL];

  if (system->num_null == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorDots(system->num_null, system->null, r, part));
  for (CeedInt i = 0; i < system->num_null; i++) part[i] = -part[i];
  return RitzVectorAXPYs(r, system->num_null, part, system->null);
}

// v becomes a unit vector orthogonal to the ones before it; *kept: its norm afterwards over that before,
// which rounding alone makes positive where v depends on the others. Twice is enough (Kahan).
static int orthonormalize(const RitzSystem *system, CeedVector v, double *kept) {
  double before = 0, after = 0;

  RITZ_TRY(RitzVectorDot(v, v, &before));
  for (int pass = 0; pass < 2; pass++) RITZ_TRY(ritz_system_project(system, v));
  RITZ_TRY(RitzVectorDot(v, v, &after));
  *kept = sqrt(after / before);
  return after > 0 ? RitzVectorSum(v, 1 / sqrt(after), v, 0, CEED_VECTOR_NONE) : CEED_ERROR_SUCCESS;
}

int ritz_vector_scale(CeedVector v, double *scale) {
  CeedScalar largest = 0;

  RITZ_TRY(CeedVectorNorm(v, CEED_NORM_MAX, &largest));
  double of_all = (double)largest;
  RITZ_TRY(ritz_reduce(v->obj.ceed, RITZ_REDUCTION_MAX, 1, &of_all));
  *scale = ritz_power_near(of_all, v->precision);
  return CEED_ERROR_SUCCESS;
}

// Divides v by the power of two next to its largest entry, so that its square neither overflows nor vanishes.
static int scale_vector(CeedVector v) {
  double scale = 1;

  RITZ_TRY(ritz_vector_scale(v, &scale));
  return RitzVectorSum(v, 1 / scale, v, 0, CEED_VECTOR_NONE);
}

// v becomes the next vector of an orthonormal basis.
static int append_orthonormal(const RitzSystem *system, const char *call, CeedScalarType precision,
                              CeedVector v) {
  const double eps = precision == CEED_SCALAR_FP32 ? 0x1p-23 : 0x1p-52;
  double kept = 0;

  RITZ_TRY(ritz_system_zero_constrained(system, v));
  RITZ_TRY(scale_vector(v));
  RITZ_TRY(orthonormalize(system, v, &kept));
  RITZ_REQUIRE(kept > 1000 * eps, system->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: vector %" CeedInt_FMT
               " of the nullspace is not finite, zero on the free entries, or depends on those before it: "
               "%g of its norm is left without them; needed a basis",
               call, system->num_null, kept);
  return CEED_ERROR_SUCCESS;
}

static int add_null_vector(RitzSystem *system, const char *call, CeedScalarType precision, CeedVector from,
                           bool is_copy) {
  CeedVector *v = &system->null[system->num_null];
  CeedSize n = 0;

  RITZ_TRY(CeedVectorGetLength(from, &n));
  RITZ_TRY(RitzVectorCreate(system->ceed, n, precision, v));
  int ierr = RitzVectorConvert(from, *v);
  if (!ierr && !is_copy) ierr = append_orthonormal(system, call, precision, *v);
  if (ierr) return ritz_first_error(ierr, CeedVectorDestroy(v));
  system->num_null++;
  return CEED_ERROR_SUCCESS;
}

static int fill_nullspace(RitzSystem *system, const char *call, CeedScalarType precision, CeedInt num,
                          const CeedVector basis[], bool are_copies) {
  RITZ_TRY(drop_nullspace(system));
  RITZ_REQUIRE(num >= 0 && num <= RITZ_SYSTEM_MAX_NULL, system->ceed, CEED_ERROR_DIMENSION,
               "%s: the nullspace has %" CeedInt_FMT " vectors, possible are 0 to %d", call, num,
               RITZ_SYSTEM_MAX_NULL);
  RITZ_TRY(RITZ_CALLOC(system->ceed, (size_t)num, &system->null));
  for (CeedInt i = 0; i < num; i++) {
    const int ierr = add_null_vector(system, call, precision, basis[i], are_copies);
    if (ierr) return ritz_first_error(ierr, drop_nullspace(system));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_system_set_nullspace(RitzSystem *system, const char *call, CeedScalarType precision, CeedInt num,
                              const CeedVector basis[]) {
  return fill_nullspace(system, call, precision, num, basis, false);
}

int ritz_system_copy_nullspace(RitzSystem *system, const char *call, CeedScalarType precision, CeedInt num,
                               const CeedVector basis[]) {
  return fill_nullspace(system, call, precision, num, basis, true);
}
