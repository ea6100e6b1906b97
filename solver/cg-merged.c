// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients with all vector work inside the apply (core/apply-hooks.h): one apply an iteration.
// Called by solver/cg.c for operators that can be applied with hooks, without preconditioner or with a
// diagonal one.
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
#include <string.h>

#include "base/simd.h"
#include "solver/cg.h"

// Sums of an apply.
enum { RR, RZ, PQ, RQ, QQ, RMQ, QMQ, NUM_SUMS };

// Sums of a slot of an apply (core/apply-hooks.h).
typedef struct {
  RitzSum sum[NUM_SUMS];
} Sums;

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedSize n;
  CeedVector r_vector, p_vector, q_vector; // owned
  CeedScalar *r;                           // of r_vector, which is locked during the iterations
  const CeedScalar *inverse;               // M, likewise; NULL: none
  int num_slots;
  Sums *sums;    // of the workspace, [num_slots]
  double scale;  // r, p and q are divided by it
  double rr, rz; // |r|^2 and r . M r, of the scaled residual
  // Coefficients by which the next apply or pass changes r and p.
  double alpha, beta;
  double beta_p;              // beta of the direction in p
  double owed;                // step along the direction before p that x has not made yet; times scale
  double x_p, x_r;            // x += x_p p + x_r M r
  CeedScalar *x;              // NULL: x is not touched
  CeedScalar *p, *q;          // of the pass
  const int64_t *constraints; // borrowed: the list of entries
  int64_t *constraint;        // of the workspace, [blocks + 1]: first constraint of each block; or NULL
  bool *paid;                 // of the workspace, [blocks]: an apply that writes x sets them to is_paid
  bool is_paid;
} Merged;

// ---- Sums ----

static int64_t block_of(int64_t left) { return left < RITZ_SUM_BLOCK ? left : RITZ_SUM_BLOCK; }

// The products w_i a_i b_i of n entries, a multiple of eight; w == NULL stands for ones.
RITZ_INLINED void multiply(double *part, int64_t n, const CeedScalar *a, const CeedScalar *b,
                           const CeedScalar *w) {
  for (int64_t i = 0; i < n; i += RITZ_SUM_WIDTH) {
    if (w) {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)w[i + l] * a[i + l] * b[i + l];
    } else {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)a[i + l] * b[i + l];
    }
  }
}

// Adds the products of a block. Full blocks have a loop of their own, whose sums stay in registers.
RITZ_INLINED void add_dot(RitzSum *sum, int64_t n, const CeedScalar *a, const CeedScalar *b,
                          const CeedScalar *w) {
  double part[RITZ_SUM_WIDTH] = {0};
  if (n == RITZ_SUM_BLOCK) {
    multiply(part, RITZ_SUM_BLOCK, a, b, w);
  } else {
    const int64_t even = n - n % RITZ_SUM_WIDTH;
    multiply(part, even, a, b, w);
    for (int64_t i = even; i < n; i++) part[i - even] += (w ? (double)w[i] : 1.0) * a[i] * b[i];
  }
  ritz_sum_add(sum, part);
}

RITZ_INLINED void add_products(const Merged *m, int slot, int64_t first, int64_t n) {
  const CeedScalar *r = &m->r[first];

  add_dot(&m->sums[slot].sum[RR], n, r, r, NULL);
  if (m->inverse) add_dot(&m->sums[slot].sum[RZ], n, r, r, &m->inverse[first]);
}

static void clear_sums(Merged *m) { memset(m->sums, 0, (size_t)m->num_slots * sizeof(*m->sums)); }

static double total(const Merged *m, int k) {
  RitzTotal sum = {0};

  for (int s = 0; s < m->num_slots; s++) ritz_total_add(&sum, &m->sums[s].sum[k]);
  return sum.value + sum.rest;
}

static void set_products(Merged *m) {
  m->rr = ritz_cg_without_dust(total(m, RR));
  m->rz = m->inverse ? total(m, RZ) : m->rr;
}

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
  CeedScalar *r = m->r, *x = m->x;
  const CeedScalar *inverse = m->inverse;

  for (int64_t i = first; i < first + count; i += RITZ_SUM_BLOCK) {
    const int64_t n = block_of(first + count - i);
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
    if (x) m->paid[i / RITZ_SUM_BLOCK] = m->is_paid;
    add_products(m, slot, i, n);
  }
}

static void zero_constrained(const Merged *m, CeedScalar *q, int64_t first) {
  const int64_t *begin = &m->constraint[first / RITZ_SUM_BLOCK];
  for (int64_t i = begin[0]; i < begin[1]; i++) q[m->constraints[i]] = 0;
}

RITZ_CLONED static void after(void *data, int slot, CeedScalar *p, CeedScalar *q, int64_t first,
                              int64_t count) {
  const Merged *m = data;
  const CeedScalar *r = m->r, *inverse = m->inverse;
  RitzSum *sum = m->sums[slot].sum;

  for (int64_t i = first; i < first + count; i += RITZ_SUM_BLOCK) {
    const int64_t n = block_of(first + count - i);
    if (m->constraint) zero_constrained(m, q, i);
    add_dot(&sum[PQ], n, &p[i], &q[i], NULL);
    add_dot(&sum[RQ], n, &r[i], &q[i], NULL);
    add_dot(&sum[QQ], n, &q[i], &q[i], NULL);
    if (!inverse) continue;
    add_dot(&sum[RMQ], n, &r[i], &q[i], &inverse[i]);
    add_dot(&sum[QMQ], n, &q[i], &q[i], &inverse[i]);
  }
}

// x += x_p p + x_r M r
RITZ_INLINED void move(const Merged *m, int64_t first, int64_t n) {
  const CeedScalar *r = m->r, *inverse = m->inverse, *p = m->p;
  const double x_p = m->x_p, x_r = m->x_r;

  for (int64_t i = first; i < first + n; i++) {
    const double z = (inverse ? (double)inverse[i] : 1.0) * r[i];
    m->x[i] = (CeedScalar)(m->x[i] + (x_p * p[i] + x_r * z));
  }
}

// The step alone: x += x_p p + x_r M r, r -= alpha q, and the products of the new r.
RITZ_CLONED static void finish_cg_merged(void *data, int slot, int64_t first, int64_t count) {
  const Merged *m = data;
  const double alpha = m->alpha;
  const CeedScalar *q = m->q;
  CeedScalar *r = m->r;

  for (int64_t begin = first; begin < first + count; begin += RITZ_SUM_BLOCK) {
    const int64_t n = block_of(first + count - begin);
    move(m, begin, n);
    for (int64_t i = begin; i < begin + n; i++) r[i] = (CeedScalar)(r[i] - alpha * q[i]);
    add_products(m, slot, begin, n);
  }
}

// After an apply that has failed: blocks that it has not reached are as before it.
static void catch_up(void *data, int slot, int64_t first, int64_t count) {
  const Merged *m = data;

  (void)slot;
  for (int64_t begin = first; begin < first + count; begin += RITZ_SUM_BLOCK) {
    if (m->paid[begin / RITZ_SUM_BLOCK] != m->is_paid) move(m, begin, block_of(first + count - begin));
  }
}

// ---- Applies with hooks and passes ----

// Sets the coefficients of p and r by which x gets all steps that it lacks, up to the one along p.
static void pay(Merged *m) {
  const double before_p = m->owed != 0 ? m->owed / m->beta_p : 0;

  m->x_p = m->alpha * m->scale + before_p;
  m->x_r = -before_p;
  m->owed = 0;
}

// Runs a pass over x, p, q and r.
static int run_pass(Merged *m, CeedVector x, RitzRangeFunction run) {
  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &m->x));
  int ierr = CeedVectorGetArray(m->p_vector, CEED_MEM_HOST, &m->p);
  if (!ierr) {
    ierr = CeedVectorGetArray(m->q_vector, CEED_MEM_HOST, &m->q);
    if (!ierr) {
      clear_sums(m);
      ierr = ritz_run_ranges(m->solve->system.ceed, m->n, run, m);
      ierr = ritz_first_error(ierr, CeedVectorRestoreArray(m->q_vector, &m->q));
    }
    ierr = ritz_first_error(ierr, CeedVectorRestoreArray(m->p_vector, &m->p));
  }
  return ritz_first_error(ierr, CeedVectorRestoreArray(x, &m->x));
}

// Makes the steps of x that are still owed, without a new direction: rr and rz are exact then.
static int finish_steps(Merged *m, CeedVector x) {
  pay(m);
  RITZ_TRY(run_pass(m, x, finish_cg_merged));
  m->alpha = 0;
  set_products(m);
  return CEED_ERROR_SUCCESS;
}

// An apply that makes the steps of x.
static int apply_and_pay(Merged *m, CeedVector x, const RitzApplyHooks *work) {
  pay(m);
  m->is_paid = !m->is_paid;
  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &m->x));
  const int ierr = ritz_operator_apply_hooked(m->solve->system.op, m->p_vector, m->q_vector, work);
  const int restored = CeedVectorRestoreArray(x, &m->x);
  return ierr ? ritz_first_error(ierr, run_pass(m, x, catch_up)) : restored;
}

// One iteration's work: the step of the last one, the new direction, q = A p, all sums. Where it fails, x is
// the last iterate or the one before it.
static int apply_hooked(Merged *m, CeedVector x) {
  const RitzApplyHooks work = {.before = before, .after = after, .data = m};

  clear_sums(m);
  m->x = NULL;
  if (m->owed != 0) {
    RITZ_TRY(apply_and_pay(m, x, &work));
  } else {
    RITZ_TRY(ritz_operator_apply_hooked(m->solve->system.op, m->p_vector, m->q_vector, &work));
    m->owed = m->alpha * m->scale;
  }
  m->alpha = 0;
  m->beta_p = m->beta;
  set_products(m);
  return CEED_ERROR_SUCCESS;
}

// ---- The iteration ----

// Sets rr and rz to what they will be; false: the numbers are not good enough, or the method may end here.
static bool is_predictable(Merged *m) {
  const double rr = m->rr, rz = m->rz;

  m->rr = ritz_cg_predict(rr, m->alpha, total(m, RQ), total(m, QQ));
  m->rz = m->inverse ? ritz_cg_predict(rz, m->alpha, total(m, RMQ), total(m, QMQ)) : m->rr;
  return ritz_cg_may_predict(m->solver, m->rr, rr, m->rz, rz, m->scale * sqrt(m->rr));
}

// Sets alpha after an apply and goes on to the products of the next residual.
static int step_cg_merged(Merged *m, RitzSolverReason *reason) {
  const double alpha = ritz_cg_alpha(m->rz, total(m, PQ), m->scale, reason);

  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  m->alpha = alpha;
  if (!is_predictable(m)) RITZ_TRY(finish_steps(m, m->solve->x));
  RITZ_TRY(ritz_solver_judge(m->solver, m->solver->iterations + 1, m->scale * sqrt(m->rr), reason));
  if (*reason == RITZ_ITERATING) ritz_cg_check_rz(m->rz, reason);
  return CEED_ERROR_SUCCESS;
}

static int iterate_cg_merged(Merged *m, RitzSolverReason *reason) {
  double rz_before = 0;
  int ierr = CEED_ERROR_SUCCESS;

  while (*reason == RITZ_ITERATING && !ierr) {
    m->beta = rz_before > 0 ? m->rz / rz_before : 0;
    RITZ_TRY(apply_hooked(m, m->solve->x));
    rz_before = m->rz;
    ierr = step_cg_merged(m, reason);
  }
  if (m->alpha != 0 || m->owed != 0) ierr = ritz_first_error(ierr, finish_steps(m, m->solve->x));
  return ierr;
}

// The iterations, with r and M as arrays.
static int iterate_on_arrays(Merged *m, CeedVector inverse, RitzSolverReason *reason) {
  RITZ_TRY(CeedVectorGetArray(m->r_vector, CEED_MEM_HOST, &m->r));
  int ierr = inverse ? CeedVectorGetArrayRead(inverse, CEED_MEM_HOST, &m->inverse) : CEED_ERROR_SUCCESS;
  if (!ierr) {
    ierr = iterate_cg_merged(m, reason);
    if (inverse) ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(inverse, &m->inverse));
  }
  return ritz_first_error(ierr, CeedVectorRestoreArray(m->r_vector, &m->r));
}

// ---- Life ----

static int take_array(const Merged *m, int which, size_t num, size_t size, void *array) {
  return ritz_workspace_array(m->solve->work, m->solver->ceed, which, num, size, array);
}

// The entries are sorted.
static int list_constraints(Merged *m) {
  const int64_t num_blocks = (m->n + RITZ_SUM_BLOCK - 1) / RITZ_SUM_BLOCK;
  int64_t next = 0, num = 0;

  if (!m->solve->system.constraints) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzIndicesGet(m->solve->system.constraints, &num, &m->constraints));
  RITZ_TRY(take_array(m, 0, (size_t)num_blocks + 1, sizeof(*m->constraint), &m->constraint));
  for (int64_t block = 0; block <= num_blocks; block++) {
    while (next < num && m->constraints[next] < block * RITZ_SUM_BLOCK) next++;
    m->constraint[block] = next;
  }
  return CEED_ERROR_SUCCESS;
}

static int create_cg_merged(Merged *m, int num_slots) {
  CeedVector *const vectors[] = {&m->r_vector, &m->p_vector, &m->q_vector};
  const size_t num_blocks = (size_t)(m->n + RITZ_SUM_BLOCK - 1) / RITZ_SUM_BLOCK;

  RITZ_TRY(ritz_run_ranges_slots(m->solve->system.ceed, &m->num_slots));
  if (num_slots > m->num_slots) m->num_slots = num_slots;
  RITZ_TRY(take_array(m, 1, (size_t)m->num_slots, sizeof(*m->sums), &m->sums));
  RITZ_TRY(take_array(m, 2, num_blocks, sizeof(*m->paid), &m->paid));
  RITZ_TRY(list_constraints(m));
  return ritz_solve_create_vectors(m->solve, 3, vectors);
}

static int destroy_cg_merged(Merged *m) {
  CeedVector *const vectors[] = {&m->r_vector, &m->p_vector, &m->q_vector};

  return ritz_solve_destroy_vectors(3, vectors);
}

static int start_cg_merged(Merged *m, CeedVector inverse, RitzSolverReason *reason) {
  double norm = 0;

  RITZ_TRY(ritz_solve_start(m->solver, m->solve, m->r_vector, &m->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(m->solver, m->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cg_products(m->r_vector, inverse, &m->rr, &m->rz));
  ritz_cg_check_rz(m->rz, reason);
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve_merged(RitzSolver solver, const RitzSolve *solve, CeedVector inverse, int num_slots) {
  Merged m = {.solver = solver, .solve = solve, .n = solve->x->length};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = create_cg_merged(&m, num_slots);
  if (!ierr) ierr = start_cg_merged(&m, inverse, &reason);
  if (!ierr && reason == RITZ_ITERATING) ierr = iterate_on_arrays(&m, inverse, &reason);
  if (!ierr) solver->reason = reason;
  return ritz_first_error(ierr, destroy_cg_merged(&m));
}
