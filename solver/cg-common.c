// SPDX-License-Identifier: BSD-2-Clause
// What the variants of the conjugate gradient method share (contract in solver/cg.h): memory, sums, the first
// residual, the preconditioner, and when to stop. Called by cg.c and cg-merged.c.
#include "solver/cg.h"

#include "core/device-cg.h"

#include <math.h>
#include <string.h>

// ---- Memory ----

int ritz_cg_destroy(RitzCg *cg) {
  RITZ_FREE(&cg->r);
  RITZ_FREE(&cg->inverse);
  RITZ_FREE(&cg->sums);
  int ierr = CeedVectorDestroy(&cg->p);
  return ritz_first_error(ierr, CeedVectorDestroy(&cg->q));
}

int ritz_cg_create(RitzSolver solver, CeedSize n, int num_slots, RitzCg *cg) {
  cg->solver = solver;
  cg->n = n;
  cg->scale = 1;
  RITZ_TRY(ritz_run_ranges_slots(solver->ceed, &cg->num_slots));
  if (num_slots > cg->num_slots) cg->num_slots = num_slots;
  RITZ_TRY(RITZ_CALLOC(solver->ceed, (size_t)cg->num_slots, &cg->sums));
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)n, &cg->r));
  RITZ_TRY(CeedVectorCreate(solver->ceed, n, &cg->p));
  RITZ_TRY(CeedVectorCreate(solver->ceed, n, &cg->q));
  RITZ_TRY(CeedVectorSetValue(cg->p, 0));
  return CeedVectorSetValue(cg->q, 0);
}

// ---- Sums ----

void ritz_cg_clear_sums(RitzCg *cg) { memset(cg->sums, 0, (size_t)cg->num_slots * sizeof(*cg->sums)); }

int ritz_cg_run(RitzCg *cg, RitzRangeFunction run, void *data) {
  ritz_cg_clear_sums(cg);
  return ritz_run_ranges(cg->solver->ceed, cg->n, run, data);
}

double ritz_cg_total(const RitzCg *cg, int k) {
  double value = 0, rest = 0;

  for (int s = 0; s < cg->num_slots; s++) {
    for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
      const double old = value, part = cg->sums[s].value[k][l];
      value = old + part;
      rest += (old - (value - (value - old))) + (part - (value - old)) + cg->sums[s].rest[k][l];
    }
  }
  return value + rest;
}

void ritz_cg_set_products(RitzCg *cg) {
  cg->rr = ritz_cg_without_dust(ritz_cg_total(cg, 0));
  cg->rz = cg->inverse ? ritz_cg_total(cg, 1) : cg->rr;
}

// ---- The first residual ----

typedef struct {
  RitzCg *cg;
  const CeedScalar *b, *ax;
  double factor;
} Residual;

static void subtract(void *data, int slot, int64_t first, int64_t count) {
  const Residual *pass = data;
  CeedScalar *r = pass->cg->r;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) r[i] = pass->b[i] - pass->ax[i];
}

// In place of sums, 0: the largest absolute value, 1: how many are not finite.
static void find_largest(void *data, int slot, int64_t first, int64_t count) {
  const RitzCg *cg = ((const Residual *)data)->cg;
  RitzCgSums *found = &cg->sums[slot];

  for (int64_t i = first; i < first + count; i++) {
    const double size = fabs(cg->r[i]);
    found->value[0][0] = size > found->value[0][0] ? size : found->value[0][0];
    found->value[1][0] += !isfinite(size);
  }
}

static void apply_preconditioner(void *data, int slot, int64_t first, int64_t count) {
  const Residual *pass = data;
  CeedScalar *r = pass->cg->r;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) r[i] = (CeedScalar)(r[i] * pass->factor);
}

// Adds r . r and r . M r to the sums 0 and 1.
RITZ_CLONED static void add_products(void *data, int slot, int64_t first, int64_t count) {
  RitzCg *cg = data;

  for (int64_t begin = first; begin < first + count; begin += RITZ_CG_BLOCK) {
    ritz_cg_add_products(cg, slot, begin, ritz_cg_block(first + count - begin));
  }
}

// Divides r by the power of two next to its largest entry. A residual of zeros or with entries that are not
// finite stays as it is.
static int scale_residual(Residual *pass) {
  RitzCg *cg = pass->cg;
  double largest = 0;

  RITZ_TRY(ritz_cg_run(cg, find_largest, pass));
  for (int s = 0; s < cg->num_slots; s++) {
    if (cg->sums[s].value[1][0] > 0) return CEED_ERROR_SUCCESS;
    largest = fmax(largest, cg->sums[s].value[0][0]);
  }
  cg->scale = ritz_cg_scale(largest);
  pass->factor = 1 / cg->scale;
  return ritz_cg_run(cg, apply_preconditioner, pass);
}

void ritz_cg_zero_constrained(RitzSolver solver, CeedScalar *v) {
  const int64_t *entries = NULL;
  int64_t num = 0;

  if (solver->constraints) (void)RitzIndicesGet(solver->constraints, &num, &entries);
  for (int64_t i = 0; i < num; i++) v[entries[i]] = 0;
}

static int apply_operator(RitzSolver solver, CeedVector x, CeedVector y) {
  if (solver->apply) return solver->apply(solver->apply_ctx, x, y);
  return CeedOperatorApply(solver->op, x, y, CEED_REQUEST_IMMEDIATE);
}

int ritz_cg_apply(RitzCg *cg, CeedVector x) {
  CeedScalar *q = NULL;

  RITZ_TRY(apply_operator(cg->solver, x, cg->q));
  RITZ_TRY(CeedVectorGetArray(cg->q, CEED_MEM_HOST, &q));
  ritz_cg_zero_constrained(cg->solver, q);
  return CeedVectorRestoreArray(cg->q, &q);
}

int ritz_cg_first_residual(RitzCg *cg, CeedVector b, CeedVector x) {
  Residual pass = {.cg = cg};

  RITZ_TRY(ritz_cg_apply(cg, x));
  RITZ_TRY(CeedVectorGetArrayRead(b, CEED_MEM_HOST, &pass.b));
  int ierr = CeedVectorGetArrayRead(cg->q, CEED_MEM_HOST, &pass.ax);
  if (!ierr) {
    ierr = ritz_cg_run(cg, subtract, &pass);
    ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(cg->q, &pass.ax));
  }
  RITZ_TRY(ritz_first_error(ierr, CeedVectorRestoreArrayRead(b, &pass.b)));
  ritz_cg_zero_constrained(cg->solver, cg->r);
  RITZ_TRY(scale_residual(&pass));
  RITZ_TRY(ritz_cg_run(cg, add_products, cg));
  ritz_cg_set_products(cg);
  return CEED_ERROR_SUCCESS;
}

// ---- The preconditioner ----

typedef struct {
  RitzCg *cg;
  const CeedScalar *diagonal;
  double smallest;
} Inversion;

// Ones mark the free entries until their values are known.
static void mark(void *data, int slot, int64_t first, int64_t count) {
  CeedScalar *inverse = ((const Inversion *)data)->cg->inverse;
  (void)slot;
  for (int64_t i = first; i < first + count; i++) inverse[i] = 1;
}

// In place of sums, of the free entries 0: the smallest, 1: how many are not positive and finite, 2: how many
// there are.
static void inspect_vectors(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  const CeedScalar *d = pass->diagonal;
  RitzCgSums *found = &pass->cg->sums[slot];

  for (int64_t i = first; i < first + count; i++) {
    if (pass->cg->inverse[i] == 0) continue;
    if (found->value[2][0] == 0 || d[i] < found->value[0][0]) found->value[0][0] = d[i];
    found->value[1][0] += !(d[i] > 0) || !isfinite(d[i]);
    found->value[2][0]++;
  }
}

// In place of sums, 1: how many are out of proportion: the quotient underflows.
static void divide(void *data, int slot, int64_t first, int64_t count) {
  const Inversion *pass = data;
  CeedScalar *inverse = pass->cg->inverse;

  for (int64_t i = first; i < first + count; i++) {
    if (inverse[i] == 0) continue;
    inverse[i] = (CeedScalar)(pass->smallest / pass->diagonal[i]);
    pass->cg->sums[slot].value[1][0] += inverse[i] == 0;
  }
}

static bool is_positive(const RitzCg *cg) {
  bool positive = true;
  for (int s = 0; s < cg->num_slots; s++) positive = positive && cg->sums[s].value[1][0] == 0;
  return positive;
}

// inverse = min(diagonal) / diagonal on free entries; *positive: it is a positive number on all of them.
static int invert_diagonal(Inversion *pass, bool *positive) {
  RitzCg *cg = pass->cg;

  RITZ_TRY(ritz_cg_run(cg, mark, pass));
  ritz_cg_zero_constrained(cg->solver, cg->inverse);
  RITZ_TRY(ritz_cg_run(cg, inspect_vectors, pass));
  *positive = is_positive(cg);
  if (!*positive) return CEED_ERROR_SUCCESS;
  for (int s = 0; s < cg->num_slots; s++) {
    if (cg->sums[s].value[2][0] > 0) pass->smallest = fmin(pass->smallest, cg->sums[s].value[0][0]);
  }
  RITZ_TRY(ritz_cg_run(cg, divide, pass));
  *positive = is_positive(cg);
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_prepare_jacobi(RitzCg *cg, RitzSolverReason *reason) {
  RitzSolver solver = cg->solver;
  Inversion pass = {.cg = cg, .smallest = INFINITY};
  bool positive = true;

  if (!solver->diagonal) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)cg->n, &cg->inverse));
  RITZ_TRY(CeedVectorGetArrayRead(solver->diagonal, CEED_MEM_HOST, &pass.diagonal));
  const int ierr = invert_diagonal(&pass, &positive);
  RITZ_TRY(ritz_first_error(ierr, CeedVectorRestoreArrayRead(solver->diagonal, &pass.diagonal)));
  if (!positive) {
    *reason = RITZ_DIVERGED_PRECONDITIONER;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_cg_run(cg, add_products, cg));
  ritz_cg_set_products(cg);
  return CEED_ERROR_SUCCESS;
}

// ---- When to stop ----

double ritz_cg_norm(const RitzCg *cg) { return cg->scale * sqrt(cg->rr); }

int ritz_cg_judge(RitzSolver solver, CeedInt iteration, double norm, double rz, RitzSolverReason *reason) {
  bool stop = false;

  if (iteration == 0) solver->initial_residual = norm;
  solver->final_residual = norm;
  solver->iterations = iteration;
  if (solver->monitor) RITZ_TRY(solver->monitor(solver->monitor_ctx, iteration, norm, &stop));

  if (!isfinite(norm) || !isfinite(rz))
    *reason = RITZ_DIVERGED_NAN;
  else if (norm <= solver->atol)
    *reason = RITZ_CONVERGED_ATOL;
  else if (norm <= solver->rtol * solver->initial_residual)
    *reason = RITZ_CONVERGED_RTOL;
  else if (stop)
    *reason = RITZ_DIVERGED_MONITOR;
  else if (iteration >= solver->max_it)
    *reason = RITZ_DIVERGED_MAX_IT;
  return CEED_ERROR_SUCCESS;
}

double ritz_cg_alpha(const RitzCg *cg, double pq, RitzSolverReason *reason) {
  const double alpha = cg->rz / pq;

  if (!isfinite(pq))
    *reason = RITZ_DIVERGED_NAN;
  else if (pq <= 0)
    *reason = RITZ_DIVERGED_INDEFINITE;
  else if (!isfinite(alpha * cg->scale))
    *reason = RITZ_DIVERGED_NAN;
  return alpha;
}
