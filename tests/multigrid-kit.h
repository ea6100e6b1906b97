// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation on a deformed box by multigrid over a hierarchy of spaces. Included by
// tests/test-multigrid-*.c.
#ifndef RITZ_TESTS_MULTIGRID_KIT_H
#define RITZ_TESTS_MULTIGRID_KIT_H

#include "tests/tap.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz.h>
#include <ritz/multigrid.h>
#include <stdlib.h>

#define KIT_PI 3.14159265358979323846

typedef struct {
  CeedInt dim, n, degree; // cells in a direction
  CeedInt cells[3];       // in each direction instead; 0: n
  RitzHierarchyKind kind;
  CeedInt max_levels; // 0: all
  double amplitude;   // of the smooth deformation
  double aspect;      // length of cells in the first direction over that in the last; 0: 1
  double grading;     // length of the last cell over that of the first in each direction, about; 0: 1
  double shear;       // x += shear y, y += shear z
  double contrast;    // of the coefficient between cells of a checkerboard; 0: it is 1
  double factor;      // of the operator; 0: 1
  bool is_neumann;
  CeedInt num_comp; // not coupled; 0: 1
  RitzMultigridOptions options;
} MultigridCase;

// All handles are owned.
typedef struct {
  Ceed ceed; // borrowed
  const MultigridCase *c;
  RitzMesh mesh;
  RitzSpace space;
  RitzHierarchy hierarchy;
  RitzIndices fixed; // NULL: none
  CeedOperator op;   // of the finest level, in the library's own precision
  RitzPreconditioner pc;
  CeedSize n;
} MultigridKit;

// The deformation of the measured table: sine waves that keep the boundary. Or cells that are longer in one
// direction, grow from the lower left, are sheared: as they are without a map of degree 2.
static inline int kit_deform(void *ctx, CeedInt dim, const double *X, double *x) {
  const MultigridCase *c = ctx;
  const double amplitude = c->amplitude, factors[3] = {1, -0.7, 0.5};
  double s = amplitude;
  if (!(amplitude > 0)) {
    for (CeedInt d = 0; d < dim; d++) {
      x[d] = c->grading > 0 ? expm1(log(c->grading) * X[d]) / expm1(log(c->grading)) : X[d];
      if (c->aspect > 0 && d == dim - 1) x[d] /= c->aspect;
    }
    for (CeedInt d = 0; d < dim - 1; d++) x[d] += c->shear * x[d + 1];
    return 0;
  }
  for (CeedInt d = 0; d < dim; d++) s *= sin((d == 0 ? 2 : 1) * KIT_PI * X[d]);
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + s * factors[d];
  if (dim > 1) x[0] += 0.3 * amplitude * sin(2 * KIT_PI * X[1]) * sin(KIT_PI * X[0]);
  return 0;
}

// A checkerboard of n cells in a direction.
static inline int kit_coefficient(void *ctx, const double *x, double *value) {
  const MultigridCase *c = ctx;
  int sum = 0;
  for (CeedInt d = 0; d < c->dim; d++) sum += (int)floor(x[d] * c->n);
  *value = sum % 2 ? c->contrast : 1;
  return 0;
}

static inline int kit_operator(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const MultigridKit *k = ctx;
  RitzMesh mesh;
  RitzGeometry geometry = NULL;
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION,
                                       .space = space,
                                       .mu = k->c->factor,
                                       .mu_function = k->c->contrast > 0 ? kit_coefficient : NULL,
                                       .mu_ctx = (void *)k->c};
  (void)level;
  CeedCall(RitzSpaceGetMesh(space, &mesh));
  CeedCall(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, k->ceed, &options, op);
  CeedCall(RitzGeometryDestroy(&geometry));
  return ierr;
}

static inline int kit_constants(void *ctx, CeedInt level, RitzSpace space, CeedInt max, CeedInt *num,
                                CeedVector null[]) {
  const MultigridKit *k = ctx;
  CeedSize n;
  (void)level;
  (void)max;
  CeedCall(RitzSpaceGetSize(space, &n));
  CeedCall(CeedVectorCreate(k->ceed, n, &null[0]));
  *num = 1;
  return CeedVectorSetValue(null[0], 3);
}

// Everything but the preconditioner.
static inline int kit_create_spaces(Ceed ceed, const MultigridCase *c, MultigridKit *k) {
  const CeedInt n[3] = {c->cells[0] > 0 ? c->cells[0] : c->n, c->cells[1] > 0 ? c->cells[1] : c->n,
                        c->cells[2] > 0 ? c->cells[2] : c->n};
  const RitzHierarchyOptions options = {.kind = c->kind, .max_levels = c->max_levels};
  const RitzFixedPart all = {.part = "all"};
  const bool is_unit = !(c->amplitude > 0 || c->aspect > 0 || c->grading > 0 || c->shear > 0);
  *k = (MultigridKit){.ceed = ceed, .c = c};
  CeedCall(RitzMeshCreateBox(ceed, c->dim, n, NULL, NULL, c->amplitude > 0 ? 2 : 1,
                             is_unit ? NULL : kit_deform, (void *)c, &k->mesh));
  CeedCall(RitzSpaceCreate(k->mesh, c->degree, c->num_comp > 0 ? c->num_comp : 1, &k->space));
  CeedCall(RitzSpaceGetSize(k->space, &k->n));
  CeedCall(RitzHierarchyCreate(k->space, &options, &k->hierarchy));
  if (!c->is_neumann) CeedCall(RitzSpaceCreateConstraints(k->space, ceed, 1, &all, &k->fixed));
  return kit_operator(k, 0, k->space, &k->op);
}

// *k is to be closed in any case.
static inline int kit_open(Ceed ceed, const MultigridCase *c, MultigridKit *k) {
  const RitzFixedPart all = {.part = "all"};
  CeedCall(kit_create_spaces(ceed, c, k));
  return RitzPreconditionerCreateMultigridOfHierarchy(ceed, k->hierarchy, kit_operator,
                                                      c->is_neumann ? kit_constants : NULL, k,
                                                      c->is_neumann ? 0 : 1, &all, &c->options, &k->pc);
}

static inline int kit_close(MultigridKit *k) {
  int ierr = RitzPreconditionerDestroy(&k->pc) | CeedOperatorDestroy(&k->op) | RitzIndicesDestroy(&k->fixed);
  ierr |= RitzHierarchyDestroy(&k->hierarchy) | RitzSpaceDestroy(&k->space) | RitzMeshDestroy(&k->mesh);
  return ierr;
}

// ---- Vectors of the finest level ----

static inline CeedVector kit_vector(const MultigridKit *k) {
  CeedVector v = NULL;
  return CeedVectorCreate(k->ceed, k->n, &v) ? NULL : v;
}

// Random numbers, zero on constrained entries.
static inline CeedVector kit_random(const MultigridKit *k, uint64_t seed) {
  CeedVector v = kit_vector(k);
  CeedScalar *a;
  if (!v || CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &a)) return NULL;
  for (CeedSize i = 0; i < k->n; i++) a[i] = (CeedScalar)tap_uniform(&seed);
  if (CeedVectorRestoreArray(v, &a)) return NULL;
  return k->fixed && RitzVectorSetEntries(v, k->fixed, 0) ? NULL : v;
}

static inline int kit_sine(void *ctx, const double *x, double *value) {
  const MultigridCase *c = ctx;
  *value = c->dim * KIT_PI * KIT_PI;
  for (CeedInt d = 0; d < c->dim; d++) *value *= sin(KIT_PI * x[d]);
  return 0;
}

// out_i = integral of f in phi_i, f = 1 or (f != NULL) a function: a mass operator with the coefficient f.
static inline int kit_apply_mass(const MultigridKit *k, RitzCoefficientFunction f, CeedVector in,
                                 CeedVector out) {
  RitzGeometry geometry = NULL;
  CeedOperator mass = NULL;
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS,
                                       .space = k->space,
                                       .num_points = k->c->degree + 3,
                                       .lambda_function = f,
                                       .lambda_ctx = (void *)k->c};
  int ierr = RitzGeometryCreate(k->mesh, -1, &geometry);
  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, k->ceed, &options, &mass);
  if (!ierr) ierr = RitzOperatorSetUse(mass, RITZ_USE_ONCE);
  if (!ierr) ierr = CeedOperatorApply(mass, in, out, CEED_REQUEST_IMMEDIATE);
  return ierr | CeedOperatorDestroy(&mass) | RitzGeometryDestroy(&geometry);
}

// b_i = integral of f phi_i
static inline int kit_right_hand_side(const MultigridKit *k, RitzCoefficientFunction f, CeedVector b) {
  CeedVector ones = kit_vector(k);
  int ierr = CeedVectorSetValue(ones, 1);
  if (!ierr) ierr = kit_apply_mass(k, f, ones, b);
  return ierr | CeedVectorDestroy(&ones);
}

// ---- Solves ----

typedef struct {
  RitzSolverReason reason;
  CeedInt iterations;
} MultigridResult;

// A x = b from zero by flexible conjugate gradients.
static inline int kit_solve(const MultigridKit *k, double rtol, CeedVector b, CeedVector x,
                            MultigridResult *result) {
  RitzSolver solver = NULL;
  CeedVector constants = kit_vector(k);
  int ierr = RitzSolverCreate(k->ceed, RITZ_SOLVER_FLEXIBLE_CG, &solver);
  if (!ierr) ierr = RitzSolverSetOperator(solver, k->op);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, k->pc);
  if (!ierr && k->fixed) ierr = RitzSolverSetConstraintIndices(solver, k->fixed);
  if (!ierr) ierr = CeedVectorSetValue(constants, 1);
  if (!ierr && k->c->is_neumann) ierr = RitzSolverSetNullspace(solver, 1, &constants);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, rtol, 0, 60);
  if (!ierr) ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &result->reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &result->iterations);
  return ierr | RitzSolverDestroy(&solver) | CeedVectorDestroy(&constants);
}

// Iterations for f = 1, or random numbers where constants are no right-hand side or there are several
// components; -1: an error, 1000: not converged.
static inline CeedInt kit_count(Ceed ceed, const MultigridCase *c, double rtol) {
  const bool takes_random = c->is_neumann || c->num_comp > 1;
  MultigridKit k;
  MultigridResult result = {0};
  CeedVector b = NULL, x = NULL;
  int ierr = kit_open(ceed, c, &k);
  if (!ierr) {
    b = kit_vector(&k);
    x = kit_vector(&k);
    ierr = takes_random ? 0 : kit_right_hand_side(&k, NULL, b);
  }
  if (!ierr && takes_random) {
    CeedVectorDestroy(&b);
    b = kit_random(&k, 3);
  }
  if (!ierr) ierr = kit_solve(&k, rtol, b, x, &result);
  ierr |= CeedVectorDestroy(&b) | CeedVectorDestroy(&x) | kit_close(&k);
  return ierr ? -1 : result.reason > 0 ? result.iterations : 1000;
}

#endif
