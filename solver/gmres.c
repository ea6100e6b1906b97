// SPDX-License-Identifier: BSD-2-Clause
// GMRES (Saad & Schultz 1986) and flexible GMRES (Saad 1993) with restarts and the preconditioner on the
// right, so that the norm that is minimized is that of the residual itself. Called by solver/solve.c.
//
//     v_0 = r / |r|
//     repeat  z_j = P v_j, w = A z_j, orthogonalized against v_0 .. v_j: coefficients h_ij, v_(j+1) = w / |w|
//             rotations make (h_ij) triangular and show the norm of the residual
//     x += P (V y) (GMRES), x += Z y (FGMRES), where y minimizes | |r| e_0 - H y |
//
// Orthogonalization is classical Gram-Schmidt, done twice (Giraud, Langou, Rozloznik & van den Eshof 2005:
// orthogonal to rounding), with all products in one sweep. The residual is computed anew whenever x is: at
// restarts, and before a solve ends. Where it is not as small as the rotations say, the iteration goes on
// from it. Vectors come as steps need them.
#include <math.h>

#include "solver/solver.h"

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedInt max_steps;
  // Arrays of the workspace.
  CeedVector *v,
      *z;    // counted, [max_steps + 1], [max_steps] (FGMRES; else one work vector); NULL until needed
  double *h; // triangular columns, column j begins at j (j + 1) / 2
  double *c, *s, *g; // rotations [max_steps], right-hand side [max_steps + 1]
  double *part;      // [max_steps + 1]
  double scale;
  double size; // largest |A z_j| so far
  bool is_flexible;
} Gmres;

// How a step went.
typedef enum { STEP_DONE, STEP_EXHAUSTED, STEP_SINGULAR, STEP_NAN } StepOutcome;

static double eps(void) { return CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 0x1p-23 : 0x1p-52; }

static double *column(const Gmres *m, CeedInt j) { return &m->h[(size_t)j * ((size_t)j + 1) / 2]; }

static int need(const Gmres *m, CeedVector *v) {
  return *v ? CEED_ERROR_SUCCESS : ritz_solve_create_vector(m->solve, v);
}

// ---- A step ----

// v_(j+1) loses its parts in v_0 .. v_j; h[i]: the parts, *norm: what is left, *before: what there was.
static int orthogonalize(Gmres *m, CeedInt j, double *h, double *norm, double *before) {
  CeedVector w = m->v[j + 1];
  double square = 0;

  for (CeedInt i = 0; i <= j; i++) h[i] = 0;
  for (int pass = 0; pass < 2; pass++) {
    RITZ_TRY(RitzVectorDots(j + 1, m->v, w, m->part));
    for (CeedInt i = 0; i <= j; i++) {
      h[i] += m->part[i];
      m->part[i] = -m->part[i];
    }
    RITZ_TRY(RitzVectorAXPYs(w, j + 1, m->part, m->v));
  }
  RITZ_TRY(RitzVectorDot(w, w, &square));
  *norm = sqrt(square);
  for (CeedInt i = 0; i <= j; i++) square += h[i] * h[i];
  *before = sqrt(square);
  return CEED_ERROR_SUCCESS;
}

// Rotations of the columns before, then a new one that removes `below` from column j.
static void rotate(Gmres *m, CeedInt j, double *h, double below) {
  for (CeedInt i = 0; i < j; i++) {
    const double upper = m->c[i] * h[i] + m->s[i] * h[i + 1];
    h[i + 1] = -m->s[i] * h[i] + m->c[i] * h[i + 1];
    h[i] = upper;
  }
  const double length = hypot(h[j], below);
  m->c[j] = length > 0 ? h[j] / length : 1;
  m->s[j] = length > 0 ? below / length : 0;
  h[j] = length;
  m->g[j + 1] = -m->s[j] * m->g[j];
  m->g[j] *= m->c[j];
}

static int step_gmres(Gmres *m, CeedInt j, StepOutcome *outcome) {
  const RitzSystem *system = &m->solve->system;
  CeedVector *z = &m->z[m->is_flexible ? j : 0];
  double norm = 0, before = 0;

  RITZ_TRY(need(m, z));
  RITZ_TRY(need(m, &m->v[j + 1]));
  RITZ_TRY(ritz_solve_precondition(m->solve, m->v[j], *z));
  RITZ_TRY(ritz_system_apply(system, *z, m->v[j + 1]));
  RITZ_TRY(ritz_system_project(system, m->v[j + 1]));
  RITZ_TRY(orthogonalize(m, j, column(m, j), &norm, &before));
  if (!isfinite(before)) {
    *outcome = STEP_NAN;
    return CEED_ERROR_SUCCESS;
  }
  const bool is_exhausted = norm <= 10 * eps() * before;
  rotate(m, j, column(m, j), is_exhausted ? 0 : norm);
  *outcome = is_exhausted ? STEP_EXHAUSTED : STEP_DONE;
  m->size = fmax(m->size, before);
  // Rounding, also where A z_j is zero: the step would be as long as the inverse of that. When the space is
  // exhausted, errors of all steps are in it.
  const double dust = is_exhausted ? sqrt(eps()) : 10 * eps();
  if (column(m, j)[j] <= dust * m->size) *outcome = STEP_SINGULAR;
  if (is_exhausted) return CEED_ERROR_SUCCESS;
  return RitzVectorSum(m->v[j + 1], 1 / norm, m->v[j + 1], 0, CEED_VECTOR_NONE);
}

// ---- The end of a cycle ----

// y in place of g: the triangular system of num columns.
static void back_substitute(Gmres *m, CeedInt num) {
  for (CeedInt i = num - 1; i >= 0; i--) {
    double sum = m->g[i];
    for (CeedInt j = i + 1; j < num; j++) sum -= column(m, j)[i] * m->g[j];
    m->g[i] = sum / column(m, i)[i];
  }
}

// x from num steps; the old x in v[num], which the sum does not need.
static int update_solution(Gmres *m, CeedInt num) {
  CeedVector x = m->solve->x, free = m->v[num];
  const bool is_sum_of_z = m->is_flexible || !m->solve->pc;

  back_substitute(m, num);
  for (CeedInt i = 0; i < num; i++) m->g[i] *= m->scale;
  if (!is_sum_of_z) {
    RITZ_TRY(CeedVectorSetValue(free, 0));
    RITZ_TRY(RitzVectorAXPYs(free, num, m->g, m->v));
    RITZ_TRY(ritz_solve_precondition(m->solve, free, m->z[0]));
  }
  RITZ_TRY(RitzVectorSum(free, 1, x, 0, CEED_VECTOR_NONE));
  if (!is_sum_of_z) return RitzVectorAXPYs(x, 1, (double[]){1}, m->z);
  return RitzVectorAXPYs(x, num, m->g, m->is_flexible ? m->z : m->v);
}

// x after num steps and its residual in v[0], with the norm. Where rounding has made it worse, x is what it
// was.
static int advance(Gmres *m, CeedInt num, double before, double *norm) {
  if (num > 0) RITZ_TRY(update_solution(m, num));
  RITZ_TRY(ritz_solve_residual(m->solve, m->v[0], m->scale, norm));
  if (num == 0 || *norm <= (1 + 1e-6) * before) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorSum(m->solve->x, 1, m->v[num], 0, CEED_VECTOR_NONE));
  return ritz_solve_residual(m->solve, m->v[0], m->scale, norm);
}

// After num good steps: x, its residual in v[0], and what the true norm says. norm: of the residual before.
// `stopped`: a reason to end that is known already.
static int end_cycle(Gmres *m, CeedInt num, CeedInt iteration, StepOutcome outcome, RitzSolverReason stopped,
                     double *norm, RitzSolverReason *reason) {
  const double before = *norm;

  RITZ_TRY(advance(m, num, before, norm));
  if (stopped != RITZ_ITERATING) { // the monitor has seen this iteration
    m->solver->final_residual = *norm;
    *reason = stopped;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_solver_judge(m->solver, iteration, *norm, reason));
  if (outcome == STEP_NAN && *reason <= 0) *reason = RITZ_DIVERGED_NAN;
  // Another cycle would be the same again.
  if (*reason == RITZ_ITERATING && *norm >= (1 - 1e-10) * before) *reason = RITZ_DIVERGED_BREAKDOWN;
  return CEED_ERROR_SUCCESS;
}

static int run_cycle(Gmres *m, double *norm, RitzSolverReason *reason) {
  RitzSolver solver = m->solver;
  const double tolerance = ritz_solver_tolerance(solver);
  StepOutcome outcome = STEP_DONE;

  m->g[0] = *norm / m->scale;
  RITZ_TRY(RitzVectorSum(m->v[0], 1 / m->g[0], m->v[0], 0, CEED_VECTOR_NONE));
  for (CeedInt j = 0;; j++) {
    const CeedInt iteration = solver->iterations + 1;
    RITZ_TRY(step_gmres(m, j, &outcome));
    const CeedInt num = outcome == STEP_DONE || outcome == STEP_EXHAUSTED ? j + 1 : j;
    const double estimate = m->scale * fabs(m->g[num]);
    RitzSolverReason stopped = RITZ_ITERATING;
    if (outcome != STEP_DONE || num == m->max_steps || estimate <= tolerance || iteration >= solver->max_it) {
      return end_cycle(m, num, iteration, outcome, stopped, norm, reason);
    }
    RITZ_TRY(ritz_solver_judge(solver, iteration, estimate, &stopped));
    if (stopped != RITZ_ITERATING) return end_cycle(m, num, iteration, outcome, stopped, norm, reason);
  }
}

// ---- Solve ----

static int create_gmres(Gmres *m) {
  const CeedSize n = m->solve->x->length;
  const Ceed ceed = m->solver->ceed;
  CeedInt max_steps = m->solver->restart;

  // in parts of a larger problem n says nothing of its size
  if ((CeedSize)max_steps > n && !m->solver->reduce) max_steps = n > 0 ? (CeedInt)n : 1;
  if (max_steps > m->solver->max_it && m->solver->max_it > 0) max_steps = m->solver->max_it;
  m->max_steps = max_steps;
  const size_t num = (size_t)max_steps;
  const struct {
    size_t num, size;
    void *array;
  } arrays[RITZ_WORK_ARRAYS] = {{num + 1, sizeof(*m->v), &m->v},
                                {num, sizeof(*m->z), &m->z},
                                {num * (num + 1) / 2, sizeof(*m->h), &m->h},
                                {num, sizeof(*m->c), &m->c},
                                {num, sizeof(*m->s), &m->s},
                                {num + 1, sizeof(*m->g), &m->g},
                                {num + 1, sizeof(*m->part), &m->part}};
  for (int i = 0; i < RITZ_WORK_ARRAYS; i++)
    RITZ_TRY(ritz_workspace_array(m->solve->work, ceed, i, arrays[i].num, arrays[i].size, arrays[i].array));
  return need(m, &m->v[0]);
}

static int destroy_gmres(Gmres *m) {
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; m->v && i <= m->max_steps; i++)
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&m->v[i]));
  for (CeedInt i = 0; m->z && i < m->max_steps; i++)
    ierr = ritz_first_error(ierr, CeedVectorDestroy(&m->z[i]));
  return ierr;
}

static int prepare_passes(const Gmres *m) {
  RitzPassForms forms = {0};

  ritz_pass_forms_add_many(&forms, m->max_steps, true, CEED_SCALAR_TYPE);
  ritz_pass_forms_add(&forms, ritz_pass_form(ritz_vector_sum_pass(RITZ_SUM_MULTIPLE), CEED_SCALAR_TYPE));
  return ritz_solve_prepare_passes(m->solve, m->solve->pc, CEED_SCALAR_TYPE, &forms);
}

static int iterate_gmres(Gmres *m, RitzSolverReason *reason) {
  double norm = 0;

  RITZ_TRY(ritz_solve_start(m->solver, m->solve, m->v[0], &m->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(m->solver, m->solve, norm, reason));
  while (*reason == RITZ_ITERATING) RITZ_TRY(run_cycle(m, &norm, reason));
  return CEED_ERROR_SUCCESS;
}

int ritz_gmres_solve(RitzSolver solver, const RitzSolve *solve) {
  // One of another precision is linear up to its rounding alone: P (V y) would be no better than that.
  const bool is_rounded = solve->pc && solve->pc->precision != CEED_SCALAR_TYPE;
  Gmres m = {
      .solver = solver, .solve = solve, .is_flexible = solver->type == RITZ_SOLVER_FGMRES || is_rounded};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = create_gmres(&m);
  if (!ierr) ierr = prepare_passes(&m);
  if (!ierr) ierr = iterate_gmres(&m, &reason);
  solver->reason = reason;
  return ritz_first_error(ierr, destroy_gmres(&m));
}
