// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients with all vector work inside the apply (core/apply-hooks.h): one apply an iteration.
// Called by RitzSolverSolve for operators that can be applied with hooks.
//
//     before the first touch   r -= alpha q, p = M r + beta p, q = 0; sums r . r, r . M r
//     after the last touch     sums p . q, r . q, q . q, r . M q, q . M q
//
// alpha and beta of the next apply come from these sums: alpha = r . M r / p . q is exact, beta and the norm
// are predicted,
//
//     |r - alpha q|^2 = r . r - 2 alpha r . q + alpha^2 q . q
//
// and the same with M. Rounding does not build up, because the next apply adds up r . r anew. Where the
// prediction loses digits, or the method ends, the step is done in a pass of its own, and exact sums count.
//
// x is updated every other time: the direction before p is (p - M r) / beta, so two steps at once are
//     x += (alpha + owed / beta) p - (owed / beta) M r
#include "core/vector-pass.h"
#include "solver/cg.h"

#include <math.h>

// Sums of an apply. The first two are those of ritz_cg_set_products.
enum { RR, RZ, PQ, RQ, QQ, RMQ, QMQ };

typedef struct {
  RitzCg *cg;
  // Coefficients by which the next apply or pass changes r and p.
  double alpha, beta;
  double beta_p;       // beta of the direction in p
  double owed;         // step along the direction before p that x has not made yet; times scale
  double x_p, x_r;     // x += x_p p + x_r M r
  CeedScalar *x;       // NULL: x is not touched
  CeedScalar *p, *q;   // of the pass
  int64_t *constraint; // owned, [blocks + 1]: first constraint of each block; NULL without constraints
  bool *paid;          // owned, [blocks]: an apply that writes x sets them to is_paid
  bool is_paid;
} Merged;

// ---- Entries of a block ----

// x += x_p p + x_r M r; r -= alpha q; p = M r + beta p; q = 0
RITZ_INLINED void change(const Merged *m, int64_t n, const CeedScalar *restrict inverse,
                         CeedScalar *restrict x, CeedScalar *restrict r, CeedScalar *restrict p,
                         CeedScalar *restrict q) {
  const double alpha = m->alpha, beta = m->beta, x_p = m->x_p, x_r = m->x_r;

  for (int64_t i = 0; i < n; i++) {
    const double scale = inverse ? (double)inverse[i] : 1.0;
    const CeedScalar old = r[i], next = (CeedScalar)(old - alpha * q[i]);
    if (x) x[i] = (CeedScalar)(x[i] + (x_p * p[i] + x_r * (scale * old)));
    r[i] = next;
    p[i] = (CeedScalar)(scale * next + beta * p[i]);
    q[i] = 0;
  }
}

// One loop for each case, so that all of them are straight.
RITZ_CLONED static void before(void *data, int slot, CeedScalar *p, CeedScalar *q, int64_t first,
                               int64_t count) {
  const Merged *m = data;
  CeedScalar *r = m->cg->r, *x = m->x;
  const CeedScalar *inverse = m->cg->inverse;

  for (int64_t i = first; i < first + count; i += RITZ_CG_BLOCK) {
    const int64_t n = ritz_cg_block(first + count - i);
    if (inverse) {
      if (x)
        change(m, n, &inverse[i], &x[i], &r[i], &p[i], &q[i]);
      else
        change(m, n, &inverse[i], NULL, &r[i], &p[i], &q[i]);
    } else {
      if (x)
        change(m, n, NULL, &x[i], &r[i], &p[i], &q[i]);
      else
        change(m, n, NULL, NULL, &r[i], &p[i], &q[i]);
    }
    if (x) m->paid[i / RITZ_CG_BLOCK] = m->is_paid;
    ritz_cg_add_products(m->cg, slot, i, n);
  }
}

static void zero_constrained(const Merged *m, CeedScalar *q, int64_t first) {
  const int64_t *begin = &m->constraint[first / RITZ_CG_BLOCK];
  for (int64_t i = begin[0]; i < begin[1]; i++) q[m->cg->solver->constraints->entries[i]] = 0;
}

RITZ_CLONED static void after(void *data, int slot, CeedScalar *p, CeedScalar *q, int64_t first,
                              int64_t count) {
  const Merged *m = data;
  const CeedScalar *r = m->cg->r, *inverse = m->cg->inverse;
  RitzCgSums *sums = &m->cg->sums[slot];

  for (int64_t i = first; i < first + count; i += RITZ_CG_BLOCK) {
    const int64_t n = ritz_cg_block(first + count - i);
    if (m->constraint) zero_constrained(m, q, i);
    ritz_cg_add_dot(sums, PQ, n, &p[i], &q[i], NULL);
    ritz_cg_add_dot(sums, RQ, n, &r[i], &q[i], NULL);
    ritz_cg_add_dot(sums, QQ, n, &q[i], &q[i], NULL);
    if (!inverse) continue;
    ritz_cg_add_dot(sums, RMQ, n, &r[i], &q[i], &inverse[i]);
    ritz_cg_add_dot(sums, QMQ, n, &q[i], &q[i], &inverse[i]);
  }
}

// x += x_p p + x_r M r
RITZ_INLINED void move(const Merged *m, int64_t first, int64_t n) {
  const CeedScalar *r = m->cg->r, *inverse = m->cg->inverse, *p = m->p;
  const double x_p = m->x_p, x_r = m->x_r;

  for (int64_t i = first; i < first + n; i++) {
    const double z = (inverse ? (double)inverse[i] : 1.0) * r[i];
    m->x[i] = (CeedScalar)(m->x[i] + (x_p * p[i] + x_r * z));
  }
}

// The step alone: x += x_p p + x_r M r, r -= alpha q, and the products of the new r.
RITZ_CLONED static void finish(void *data, int slot, int64_t first, int64_t count) {
  const Merged *m = data;
  const double alpha = m->alpha;
  const CeedScalar *q = m->q;
  CeedScalar *r = m->cg->r;

  for (int64_t begin = first; begin < first + count; begin += RITZ_CG_BLOCK) {
    const int64_t n = ritz_cg_block(first + count - begin);
    move(m, begin, n);
    for (int64_t i = begin; i < begin + n; i++) r[i] = (CeedScalar)(r[i] - alpha * q[i]);
    ritz_cg_add_products(m->cg, slot, begin, n);
  }
}

// After an apply that has failed: blocks that it has not reached are as before it.
static void catch_up(void *data, int slot, int64_t first, int64_t count) {
  const Merged *m = data;

  (void)slot;
  for (int64_t begin = first; begin < first + count; begin += RITZ_CG_BLOCK) {
    if (m->paid[begin / RITZ_CG_BLOCK] != m->is_paid) move(m, begin, ritz_cg_block(first + count - begin));
  }
}

// ---- Applies with hooks and passes ----

// Sets the coefficients of p and r by which x gets all steps that it lacks, up to the one along p.
static void pay(Merged *m) {
  const double before_p = m->owed != 0 ? m->owed / m->beta_p : 0;

  m->x_p = m->alpha * m->cg->scale + before_p;
  m->x_r = -before_p;
  m->owed = 0;
}

// Runs a pass over x, p, q and r.
static int run_pass(Merged *m, CeedVector x, RitzRangeFunction run) {
  RitzCg *cg = m->cg;

  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &m->x));
  int ierr = CeedVectorGetArray(cg->p, CEED_MEM_HOST, &m->p);
  if (!ierr) {
    ierr = CeedVectorGetArray(cg->q, CEED_MEM_HOST, &m->q);
    if (!ierr) {
      ierr = ritz_cg_run(cg, run, m);
      ierr = ritz_first_error(ierr, CeedVectorRestoreArray(cg->q, &m->q));
    }
    ierr = ritz_first_error(ierr, CeedVectorRestoreArray(cg->p, &m->p));
  }
  return ritz_first_error(ierr, CeedVectorRestoreArray(x, &m->x));
}

// The step without a new direction. Nothing is owed then, and rr and rz are exact.
static int settle(Merged *m, CeedVector x) {
  pay(m);
  RITZ_TRY(run_pass(m, x, finish));
  m->alpha = 0;
  ritz_cg_set_products(m->cg);
  return CEED_ERROR_SUCCESS;
}

// An apply that makes the steps of x.
static int apply_and_pay(Merged *m, CeedVector x, const RitzApplyHooks *work) {
  RitzCg *cg = m->cg;

  pay(m);
  m->is_paid = !m->is_paid;
  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &m->x));
  const int ierr = ritz_operator_apply_hooked(cg->solver->op, cg->p, cg->q, work);
  const int restored = CeedVectorRestoreArray(x, &m->x);
  return ierr ? ritz_first_error(ierr, run_pass(m, x, catch_up)) : restored;
}

// One iteration's work: the step of the last one, the new direction, q = A p, all sums. Where it fails, x is
// the last iterate or the one before it.
static int apply_hooked(Merged *m, CeedVector x) {
  RitzCg *cg = m->cg;
  const RitzApplyHooks work = {.before = before, .after = after, .data = m};

  ritz_cg_clear_sums(cg);
  m->x = NULL;
  if (m->owed != 0) {
    RITZ_TRY(apply_and_pay(m, x, &work));
  } else {
    RITZ_TRY(ritz_operator_apply_hooked(cg->solver->op, cg->p, cg->q, &work));
    m->owed = m->alpha * cg->scale;
  }
  m->alpha = 0;
  m->beta_p = m->beta;
  ritz_cg_set_products(cg);
  return CEED_ERROR_SUCCESS;
}

// ---- The iteration ----

// A square of the residual after the step alpha.
static double predict(double square, double alpha, double rq, double qq) {
  return square - 2 * alpha * rq + alpha * alpha * qq;
}

// Sets rr and rz to what they will be; false: the numbers are not good enough, or the method may end here.
static bool is_predictable(Merged *m) {
  RitzCg *cg = m->cg;
  const RitzSolver solver = cg->solver;
  const double least = 0x1p-7; // of the old square: a smaller prediction has lost too many digits
  const double rr = cg->rr, rz = cg->rz;

  cg->rr = predict(rr, m->alpha, ritz_cg_total(cg, RQ), ritz_cg_total(cg, QQ));
  cg->rz = cg->inverse ? predict(rz, m->alpha, ritz_cg_total(cg, RMQ), ritz_cg_total(cg, QMQ)) : cg->rr;
  if (!(cg->rr >= least * rr && cg->rz >= least * rz)) return false;
  const double bound = 1.001 * fmax(solver->atol, solver->rtol * solver->initial_residual);
  return ritz_cg_norm(cg) > bound && solver->iterations + 1 < solver->max_it;
}

// Sets alpha after an apply and goes on to the products of the next residual.
static int step(Merged *m, CeedVector x, RitzSolverReason *reason) {
  RitzCg *cg = m->cg;
  const RitzSolver solver = cg->solver;
  const double alpha = ritz_cg_alpha(cg, ritz_cg_total(cg, PQ), reason);

  if (*reason == RITZ_ITERATING) {
    m->alpha = alpha;
    if (!is_predictable(m)) RITZ_TRY(settle(m, x));
    RITZ_TRY(ritz_cg_judge(solver, solver->iterations + 1, ritz_cg_norm(cg), cg->rz, reason));
  }
  return CEED_ERROR_SUCCESS;
}

static int iterate_merged(Merged *m, CeedVector x, RitzSolverReason *reason) {
  RitzCg *cg = m->cg;
  double rz_before = 0;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(ritz_cg_judge(cg->solver, 0, ritz_cg_norm(cg), cg->rz, reason));
  if (*reason == RITZ_ITERATING) RITZ_TRY(ritz_cg_prepare_jacobi(cg, reason));
  while (*reason == RITZ_ITERATING && !ierr) {
    m->beta = rz_before > 0 ? cg->rz / rz_before : 0;
    RITZ_TRY(apply_hooked(m, x));
    rz_before = cg->rz;
    ierr = step(m, x, reason);
  }
  if (m->alpha != 0 || m->owed != 0) ierr = ritz_first_error(ierr, settle(m, x));
  return ierr;
}

// The constraints are sorted.
static int list_constraints(Merged *m) {
  const RitzSolver solver = m->cg->solver;
  const int64_t num_blocks = (m->cg->n + RITZ_CG_BLOCK - 1) / RITZ_CG_BLOCK;
  int64_t next = 0;

  if (!solver->constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(solver->ceed, (size_t)num_blocks + 1, &m->constraint));
  for (int64_t block = 0; block <= num_blocks; block++) {
    while (next < solver->constraints->num && solver->constraints->entries[next] < block * RITZ_CG_BLOCK)
      next++;
    m->constraint[block] = next;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve_merged(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, int num_slots) {
  RitzCg cg = {0};
  Merged m = {.cg = &cg};
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(ritz_cg_create(solver, n, num_slots, &cg));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(solver->ceed, (size_t)(n + RITZ_CG_BLOCK - 1) / RITZ_CG_BLOCK, &m.paid));
  RITZ_TRY_CLEANUP(list_constraints(&m));
  RITZ_TRY_CLEANUP(ritz_cg_first_residual(&cg, b, x));
  RITZ_TRY_CLEANUP(iterate_merged(&m, x, &reason));
  solver->reason = reason;
cleanup:;
  RITZ_FREE(&m.constraint);
  RITZ_FREE(&m.paid);
  return ritz_first_error(ierr, ritz_cg_destroy(&cg));
}
