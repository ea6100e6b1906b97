// SPDX-License-Identifier: BSD-2-Clause
// A solve with multigrid on a device, and how many of its programs nobody has begun before their first use:
// none, where the solver is prepared before its preconditioner is made. Included by tests that have a device
// or play one.
#ifndef RITZ_TESTS_KERNELS_AHEAD_H
#define RITZ_TESTS_KERNELS_AHEAD_H

#include "backends/gpu/context.h"
#include "tests/multigrid-kit.h"

// Programs that contexts begin with, where several threads may compile.
static inline int ahead_load_base(Ceed ceed) {
  const RitzGpuBase all[] = {RITZ_BASE_ENTRIES, RITZ_BASE_VECTORS, RITZ_BASE_FLOAT_ENTRIES, RITZ_BASE_FLOATS};
  for (int i = 0; i < (sizeof(CeedScalar) > sizeof(float) ? 4 : 2); i++) {
    RitzGpuKernel *kernel;
    CeedCall(ritz_gpu_base(ceed, all[i], &kernel));
    CeedCall(ritz_gpu_kernel_load(ceed, kernel));
  }
  return CEED_ERROR_SUCCESS;
}

static inline int ahead_prepare(const MultigridKit *k) {
  RitzSolver solver = NULL;
  CeedCall(RitzSolverCreate(k->ceed, RITZ_SOLVER_FLEXIBLE_CG, &solver));
  int ierr = RitzSolverSetOperator(solver, k->op);
  if (!ierr) ierr = RitzSolverPrepare(solver, k->c->options.precision);
  return ierr | RitzSolverDestroy(&solver);
}

static inline int ahead_solve(MultigridKit *k, MultigridResult *result) {
  const RitzFixedPart all = {.part = "all"};
  CeedCall(ahead_prepare(k));
  CeedCall(RitzPreconditionerCreateMultigridOfHierarchy(k->ceed, k->hierarchy, kit_operator, NULL, k, 1, &all,
                                                        &k->c->options, &k->pc));
  CeedVector b = kit_random(k, 7), x = kit_vector(k);
  int ierr = CeedVectorSetValue(x, 0);
  if (!ierr) ierr = kit_solve(k, 1e-4, b, x, result);
  return ierr | CeedVectorDestroy(&b) | CeedVectorDestroy(&x);
}

static inline void ahead_check(Ceed ceed, RitzSmootherKind smoother) {
  // down to one cell, whose matrix is made by the host
  const MultigridCase c = {
      .dim = 2,
      .n = 4,
      .degree = 3,
      .options = {.smoother = smoother, .use_precision = true, .precision = CEED_SCALAR_FP32}};
  MultigridResult result = {0};
  MultigridKit k;

  CHECK_OK(ahead_load_base(ceed));
  const int64_t before = ritz_gpu(ceed)->num_unasked;
  CHECK_OK(kit_create_spaces(ceed, &c, &k));
  CHECK_OK(ahead_solve(&k, &result));
  CHECK(result.reason > 0, "reason %d", (int)result.reason);
  const int64_t num = ritz_gpu(ceed)->num_unasked - before;
  CHECK(num == 0, "smoother %d: %d programs that nobody has begun", (int)smoother, (int)num);
  CHECK_OK(kit_close(&k));
}

#endif
