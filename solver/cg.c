// SPDX-License-Identifier: BSD-2-Clause
// The preconditioned conjugate gradient method. Called by RitzSolverSolve, which has checked the arguments.
//
//     r = b - A x                                    one apply, one pass
//     repeat   p = M r + beta p                      one pass        M = 1 / diagonal, 0 on constrained
//     entries
//              q = A p, p . q                        one apply, one pass
//              x += alpha p, r -= alpha q, |r|, r . M r      one pass
//
// r is kept divided by a power of two, `scale`, near its first size, so that squares neither overflow nor
// vanish; M is normalized to a largest entry of one for the same reason (neither changes alpha p).
#include <math.h>

#include "solver/solver.h"

typedef struct {
  CeedSize n;
  CeedVector p, q;     // owned
  CeedScalar *r;       // owned
  CeedScalar *inverse; // owned: M, NULL without preconditioner
  double scale;
  double rr, rz; // |r|^2 and r . M r, of the scaled residual
} CgWork;

static int first_error(int first, int second) { return first ? first : second; }

static int destroy_work(CgWork *work) {
  RITZ_FREE(&work->r);
  RITZ_FREE(&work->inverse);
  int ierr = CeedVectorDestroy(&work->p);
  return first_error(ierr, CeedVectorDestroy(&work->q));
}

static int create_work(RitzSolver solver, CeedSize n, CgWork *work) {
  work->n = n;
  work->scale = 1;
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)n, &work->r));
  RITZ_TRY(CeedVectorCreate(solver->ceed, n, &work->p));
  RITZ_TRY(CeedVectorCreate(solver->ceed, n, &work->q));
  RITZ_TRY(CeedVectorSetValue(work->p, 0));
  return CeedVectorSetValue(work->q, 0);
}

// ---- Sums ----
// A sum of blocks of 64 terms with eight partial sums each, the blocks added with compensation (Neumaier
// 1974): the error is bounded by a few eps times the sum of absolute values, whatever the length.

enum { LANES = 8, BLOCK = 64 };

typedef struct {
  double value, rest;
} Sum;

static void add_to_sum(Sum *sum, double term) {
  double total = sum->value + term;

  sum->rest += fabs(sum->value) >= fabs(term) ? (sum->value - total) + term : (term - total) + sum->value;
  sum->value = total;
}

static CeedSize block_end(CeedSize begin, CeedSize n) { return n - begin < BLOCK ? n : begin + BLOCK; }

// Sum of a_i b_i w_i over n <= BLOCK entries; w == NULL stands for ones.
static double dot_block(CeedSize n, const CeedScalar *a, const CeedScalar *b, const CeedScalar *w) {
  double part[LANES] = {0};
  CeedSize i = 0;

  for (; i + LANES <= n; i += LANES) {
    if (w) {
      for (int l = 0; l < LANES; l++) part[l] += (double)w[i + l] * a[i + l] * b[i + l];
    } else {
      for (int l = 0; l < LANES; l++) part[l] += (double)a[i + l] * b[i + l];
    }
  }
  for (; i < n; i++) part[0] += (w ? (double)w[i] : 1.0) * a[i] * b[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// ---- Passes ----

static void zero_constrained(RitzSolver solver, CeedScalar *v) {
  for (int64_t i = 0; i < solver->num_constraints; i++) v[solver->constraints[i]] = 0;
}

static int apply(RitzSolver solver, CeedVector x, CeedVector y) {
  if (solver->apply) return solver->apply(solver->apply_ctx, x, y);
  return CeedOperatorApply(solver->op, x, y, CEED_REQUEST_IMMEDIATE);
}

// Squares of the scaled residual that have lost all meaning next to the first one (near 1) count as zero.
static double without_dust(double rr) {
  return rr < (sizeof(CeedScalar) == 4 ? 0x1p-160 : 0x1p-1000) ? 0 : rr;
}

// Adds the entries begin .. end - 1, a block, to |r|^2 and r . M r.
static void add_products(const CgWork *work, CeedSize begin, CeedSize end, Sum *rr, Sum *rz) {
  const CeedScalar *r = &work->r[begin];

  add_to_sum(rr, dot_block(end - begin, r, r, NULL));
  if (work->inverse) add_to_sum(rz, dot_block(end - begin, r, r, &work->inverse[begin]));
}

static void set_products(CgWork *work, Sum rr, Sum rz) {
  work->rr = without_dust(rr.value + rr.rest);
  work->rz = work->inverse ? rz.value + rz.rest : work->rr;
}

static void residual_products(CgWork *work) {
  Sum rr = {0, 0}, rz = {0, 0};

  for (CeedSize i = 0; i < work->n; i = block_end(i, work->n)) {
    add_products(work, i, block_end(i, work->n), &rr, &rz);
  }
  set_products(work, rr, rz);
}

// Divides r by the power of two next to its largest entry. A residual of zeros or with entries that are not
// finite stays as it is.
static void scale_residual(CgWork *work) {
  double largest = 0;
  int exponent = 0;

  for (CeedSize i = 0; i < work->n; i++) {
    if (!isfinite(work->r[i])) return;
    largest = fmax(largest, fabs(work->r[i]));
  }
  if (largest == 0) return;
  frexp(largest, &exponent);
  exponent = exponent < -1000 ? -1000 : exponent; // 2^-exponent stays finite
  work->scale = ldexp(1, exponent);
  for (CeedSize i = 0; i < work->n; i++) work->r[i] = (CeedScalar)(work->r[i] * ldexp(1, -exponent));
}

// r = (b - A x) / scale and its products
static int first_residual(RitzSolver solver, CeedVector b, CeedVector x, CgWork *work) {
  const CeedScalar *b_array = NULL, *ax = NULL;

  RITZ_TRY(apply(solver, x, work->q));
  RITZ_TRY(CeedVectorGetArrayRead(b, CEED_MEM_HOST, &b_array));
  int ierr = CeedVectorGetArrayRead(work->q, CEED_MEM_HOST, &ax);
  if (!ierr) {
    for (CeedSize i = 0; i < work->n; i++) work->r[i] = b_array[i] - ax[i];
    ierr = CeedVectorRestoreArrayRead(work->q, &ax);
  }
  RITZ_TRY(first_error(ierr, CeedVectorRestoreArrayRead(b, &b_array)));
  zero_constrained(solver, work->r);
  scale_residual(work);
  residual_products(work);
  return CEED_ERROR_SUCCESS;
}

// inverse = min(diagonal) / diagonal on free entries; *positive: it is a positive number on all of them.
static void invert_diagonal(RitzSolver solver, const CeedScalar *diagonal, CgWork *work, bool *positive) {
  double smallest = INFINITY;

  // Ones mark the free entries until their values are known.
  for (CeedSize i = 0; i < work->n; i++) work->inverse[i] = 1;
  zero_constrained(solver, work->inverse);
  *positive = true;
  for (CeedSize i = 0; i < work->n; i++) {
    if (work->inverse[i] == 0) continue;
    if (!(diagonal[i] > 0) || !isfinite(diagonal[i])) *positive = false;
    smallest = fmin(smallest, diagonal[i]);
  }
  if (!*positive) return;
  for (CeedSize i = 0; i < work->n; i++) {
    if (work->inverse[i] == 0) continue;
    work->inverse[i] = (CeedScalar)(smallest / diagonal[i]);
    if (work->inverse[i] == 0) *positive = false; // out of proportion: the quotient underflows
  }
}

// On return *reason says whether the diagonal can be used.
static int prepare_jacobi(RitzSolver solver, CgWork *work, RitzSolverReason *reason) {
  const CeedScalar *diagonal = NULL;
  bool positive = true;

  if (!solver->diagonal) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)work->n, &work->inverse));
  RITZ_TRY(CeedVectorGetArrayRead(solver->diagonal, CEED_MEM_HOST, &diagonal));
  invert_diagonal(solver, diagonal, work, &positive);
  RITZ_TRY(CeedVectorRestoreArrayRead(solver->diagonal, &diagonal));
  if (!positive) *reason = RITZ_DIVERGED_PRECONDITIONER;
  residual_products(work);
  return CEED_ERROR_SUCCESS;
}

// p = M r + beta p
static int next_direction(CgWork *work, double beta) {
  const CeedScalar *r = work->r, *inverse = work->inverse;
  CeedScalar *p = NULL;

  RITZ_TRY(CeedVectorGetArray(work->p, CEED_MEM_HOST, &p));
  if (inverse) {
    for (CeedSize i = 0; i < work->n; i++) p[i] = (CeedScalar)((double)inverse[i] * r[i] + beta * p[i]);
  } else {
    for (CeedSize i = 0; i < work->n; i++) p[i] = (CeedScalar)(r[i] + beta * p[i]);
  }
  return CeedVectorRestoreArray(work->p, &p);
}

// q = A p on free entries, zero on the others; *pq = p . q
static int apply_to_direction(RitzSolver solver, CgWork *work, double *pq) {
  const CeedScalar *p = NULL;
  CeedScalar *q = NULL;
  Sum sum = {0, 0};

  RITZ_TRY(apply(solver, work->p, work->q));
  RITZ_TRY(CeedVectorGetArray(work->q, CEED_MEM_HOST, &q));
  int ierr = CeedVectorGetArrayRead(work->p, CEED_MEM_HOST, &p);
  if (!ierr) {
    zero_constrained(solver, q);
    for (CeedSize i = 0; i < work->n; i = block_end(i, work->n)) {
      add_to_sum(&sum, dot_block(block_end(i, work->n) - i, &p[i], &q[i], NULL));
    }
    ierr = CeedVectorRestoreArrayRead(work->p, &p);
  }
  *pq = sum.value + sum.rest;
  return first_error(ierr, CeedVectorRestoreArray(work->q, &q));
}

// x += alpha scale p, r -= alpha q, and the products of the new r.
static void advance(CgWork *work, double alpha, const CeedScalar *p, const CeedScalar *q, CeedScalar *x) {
  CeedScalar *r = work->r;
  Sum rr = {0, 0}, rz = {0, 0};
  double alpha_x = alpha * work->scale;

  for (CeedSize begin = 0; begin < work->n; begin = block_end(begin, work->n)) {
    CeedSize end = block_end(begin, work->n);

    for (CeedSize i = begin; i < end; i++) x[i] = (CeedScalar)(x[i] + alpha_x * p[i]);
    for (CeedSize i = begin; i < end; i++) r[i] = (CeedScalar)(r[i] - alpha * q[i]);
    add_products(work, begin, end, &rr, &rz);
  }
  set_products(work, rr, rz);
}

static int step(CgWork *work, double alpha, CeedVector x) {
  const CeedScalar *p = NULL, *q = NULL;
  CeedScalar *x_array = NULL;

  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &x_array));
  int ierr = CeedVectorGetArrayRead(work->p, CEED_MEM_HOST, &p);
  if (!ierr) {
    ierr = CeedVectorGetArrayRead(work->q, CEED_MEM_HOST, &q);
    if (!ierr) {
      advance(work, alpha, p, q, x_array);
      ierr = CeedVectorRestoreArrayRead(work->q, &q);
    }
    ierr = first_error(ierr, CeedVectorRestoreArrayRead(work->p, &p));
  }
  return first_error(ierr, CeedVectorRestoreArray(x, &x_array));
}

// ---- The iteration ----

// Calls the monitor and decides whether to go on after `iteration` iterations.
static int judge(RitzSolver solver, const CgWork *work, CeedInt iteration, RitzSolverReason *reason) {
  double norm = work->scale * sqrt(work->rr);
  bool stop = false;

  if (iteration == 0) solver->initial_residual = norm;
  solver->final_residual = norm;
  solver->iterations = iteration;
  if (solver->monitor) RITZ_TRY(solver->monitor(solver->monitor_ctx, iteration, norm, &stop));

  if (!isfinite(norm) || !isfinite(work->rz))
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

static int iterate(RitzSolver solver, CgWork *work, CeedVector x, RitzSolverReason *reason) {
  double rz_before = 0, pq = 0;

  RITZ_TRY(judge(solver, work, 0, reason));
  if (*reason == RITZ_ITERATING) RITZ_TRY(prepare_jacobi(solver, work, reason));
  while (*reason == RITZ_ITERATING) {
    RITZ_TRY(next_direction(work, rz_before > 0 ? work->rz / rz_before : 0));
    rz_before = work->rz;
    RITZ_TRY(apply_to_direction(solver, work, &pq));
    double alpha = work->rz / pq;
    if (!isfinite(pq))
      *reason = RITZ_DIVERGED_NAN;
    else if (pq <= 0)
      *reason = RITZ_DIVERGED_INDEFINITE;
    else if (!isfinite(alpha * work->scale))
      *reason = RITZ_DIVERGED_NAN;
    if (*reason != RITZ_ITERATING) break;
    RITZ_TRY(step(work, alpha, x));
    RITZ_TRY(judge(solver, work, solver->iterations + 1, reason));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x) {
  CgWork work = {0};
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(create_work(solver, n, &work));
  RITZ_TRY_CLEANUP(first_residual(solver, b, x, &work));
  RITZ_TRY_CLEANUP(iterate(solver, &work, x, &reason));
  solver->reason = reason;
cleanup:;
  return first_error(ierr, destroy_work(&work));
}
