// SPDX-License-Identifier: BSD-2-Clause
// The standard conjugate gradient method, the reference of all variants: one pass for each group of vector
// operations. Called by RitzSolverSolve, which has checked the arguments.
//
//     p = M r + beta p               one pass
//     q = A p, p . q                 one apply, one pass
//     x += alpha p, r -= alpha q, |r|, r . M r      one pass
#include "solver/cg.h"

typedef struct {
  RitzCg *cg;
  double factor;
  CeedScalar *p, *x;
  const CeedScalar *q;
} Pass;

// p = M r + beta p
RITZ_CLONED static void turn(void *data, int slot, int64_t first, int64_t count) {
  const Pass *pass = data;
  const CeedScalar *r = pass->cg->r, *inverse = pass->cg->inverse;
  const double beta = pass->factor;
  CeedScalar *p = pass->p;

  (void)slot;
  if (inverse) {
    for (int64_t i = first; i < first + count; i++)
      p[i] = (CeedScalar)((double)inverse[i] * r[i] + beta * p[i]);
  } else {
    for (int64_t i = first; i < first + count; i++) p[i] = (CeedScalar)(r[i] + beta * p[i]);
  }
}

static int next_direction(RitzCg *cg, double beta) {
  Pass pass = {.cg = cg, .factor = beta};

  RITZ_TRY(CeedVectorGetArray(cg->p, CEED_MEM_HOST, &pass.p));
  const int ierr = ritz_cg_run(cg, turn, &pass);
  return ritz_first_error(ierr, CeedVectorRestoreArray(cg->p, &pass.p));
}

RITZ_CLONED static void add_dot(void *data, int slot, int64_t first, int64_t count) {
  const Pass *pass = data;

  for (int64_t i = first; i < first + count; i += RITZ_CG_BLOCK) {
    ritz_cg_add_dot(&pass->cg->sums[slot], 0, ritz_cg_block(first + count - i), &pass->p[i], &pass->q[i],
                    NULL);
  }
}

// Runs a pass that reads q, and writes p or, where it is given, x.
static int run_with_arrays(Pass *pass, CeedVector x, RitzRangeFunction run) {
  RitzCg *cg = pass->cg;

  if (x) RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &pass->x));
  int ierr = CeedVectorGetArray(cg->p, CEED_MEM_HOST, &pass->p);
  if (!ierr) {
    ierr = CeedVectorGetArrayRead(cg->q, CEED_MEM_HOST, &pass->q);
    if (!ierr) {
      ierr = ritz_cg_run(cg, run, pass);
      ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(cg->q, &pass->q));
    }
    ierr = ritz_first_error(ierr, CeedVectorRestoreArray(cg->p, &pass->p));
  }
  return x ? ritz_first_error(ierr, CeedVectorRestoreArray(x, &pass->x)) : ierr;
}

// q = A p on free entries, zero on the others; *pq = p . q
static int apply_to_direction(RitzCg *cg, double *pq) {
  Pass pass = {.cg = cg};

  RITZ_TRY(ritz_cg_apply(cg, cg->p));
  RITZ_TRY(run_with_arrays(&pass, NULL, add_dot));
  *pq = ritz_cg_total(cg, 0);
  return CEED_ERROR_SUCCESS;
}

// x += alpha scale p, r -= alpha q, and the products of the new r.
RITZ_CLONED static void advance(void *data, int slot, int64_t first, int64_t count) {
  const Pass *pass = data;
  const double alpha = pass->factor, alpha_x = alpha * pass->cg->scale;
  const CeedScalar *p = pass->p, *q = pass->q;
  CeedScalar *r = pass->cg->r, *x = pass->x;

  for (int64_t begin = first; begin < first + count; begin += RITZ_CG_BLOCK) {
    const int64_t num = ritz_cg_block(first + count - begin), end = begin + num;
    for (int64_t i = begin; i < end; i++) x[i] = (CeedScalar)(x[i] + alpha_x * p[i]);
    for (int64_t i = begin; i < end; i++) r[i] = (CeedScalar)(r[i] - alpha * q[i]);
    ritz_cg_add_products(pass->cg, slot, begin, num);
  }
}

static int step(RitzCg *cg, double alpha, CeedVector x) {
  Pass pass = {.cg = cg, .factor = alpha};

  RITZ_TRY(run_with_arrays(&pass, x, advance));
  ritz_cg_set_products(cg);
  return CEED_ERROR_SUCCESS;
}

static int iterate_standard(RitzCg *cg, CeedVector x, RitzSolverReason *reason) {
  RitzSolver solver = cg->solver;
  double rz_before = 0, pq = 0;

  RITZ_TRY(ritz_cg_judge(solver, 0, ritz_cg_norm(cg), cg->rz, reason));
  if (*reason == RITZ_ITERATING) RITZ_TRY(ritz_cg_prepare_jacobi(cg, reason));
  while (*reason == RITZ_ITERATING) {
    RITZ_TRY(next_direction(cg, rz_before > 0 ? cg->rz / rz_before : 0));
    rz_before = cg->rz;
    RITZ_TRY(apply_to_direction(cg, &pq));
    const double alpha = ritz_cg_alpha(cg, pq, reason);
    if (*reason != RITZ_ITERATING) break;
    RITZ_TRY(step(cg, alpha, x));
    RITZ_TRY(ritz_cg_judge(solver, solver->iterations + 1, ritz_cg_norm(cg), cg->rz, reason));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve_standard(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x) {
  RitzCg cg = {0};
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(ritz_cg_create(solver, n, 1, &cg));
  RITZ_TRY_CLEANUP(ritz_cg_first_residual(&cg, b, x));
  RITZ_TRY_CLEANUP(iterate_standard(&cg, x, &reason));
  solver->reason = reason;
cleanup:;
  return ritz_first_error(ierr, ritz_cg_destroy(&cg));
}
