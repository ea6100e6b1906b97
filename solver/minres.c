// SPDX-License-Identifier: BSD-2-Clause
// MINRES (Paige & Saunders 1975) with a preconditioner, in the form of Elman, Silvester & Wathen ("Finite
// Elements and Fast Iterative Solvers", 2nd ed., algorithm 4.1): the P-norm of the residual is minimal over
// the Krylov space. Called by solver/solve.c.
//
//     v_1 = r_0, z_1 = P v_1, g_1 = sqrt(z_1 . v_1), eta = g_1
//     repeat  delta = z . A z / g^2
//             v' = A z / g - (delta / g) v - (g / g_old) v_old,  z' = P v',  g' = sqrt(z' . v')
//             a0 = c delta - c_old s g,  a1 = sqrt(a0^2 + g'^2),  a2 = s delta + c_old c g,  a3 = s_old g
//             c' = a0 / a1, s' = g' / a1
//             w' = (z / g - a3 w_old - a2 w) / a1,  x += c' eta w',  eta' = -s' eta
//
// g, delta are the entries of the tridiagonal matrix of Lanczos, (c, s) the rotations of its QR
// factorization. The residual itself follows from the last rotation: r' = s'^2 r - (c' eta / a1) v', so that
// its norm is known without a preconditioner's.
#include <float.h>
#include <math.h>

#include "core/vector-pass.h"
#include "solver/solver.h"

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector r, v, v_old, q, w, w_old; // owned
  CeedVector z, z_next;                // owned; NULL without a preconditioner: v and what follows it
  double scale;                        // of r and v
  double g, g_old, eta, c, c_old, s, s_old;
  double size; // largest row sum of the tridiagonal matrix so far
} Minres;

// v' in place of A z: q = q f0 + v f1 + v_old f2
static const RitzPass lanczos_pass = {
    .name = "minres_lanczos",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{.to = 0,
              .num_terms = 3,
              .term = {{.factor = 0, .x = 0, .y = RITZ_PASS_NONE},
                       {.factor = 1, .x = 1, .y = RITZ_PASS_NONE},
                       {.factor = 2, .x = 2, .y = RITZ_PASS_NONE}}}},
};
// w' in place of w_old, x, r, and r . r. Vectors: z, w, w_old, x, r, v'.
static const RitzPass update_pass = {
    .name = "minres_update",
    .num_vectors = 6,
    .num_lines = 3,
    .num_sums = 1,
    .line = {{.to = 2,
              .num_terms = 3,
              .term = {{.factor = 0, .x = 0, .y = RITZ_PASS_NONE},
                       {.factor = 1, .x = 1, .y = RITZ_PASS_NONE},
                       {.factor = 2, .x = 2, .y = RITZ_PASS_NONE}}},
             {.to = 3,
              .num_terms = 2,
              .term = {{.factor = RITZ_PASS_NONE, .x = 3, .y = RITZ_PASS_NONE},
                       {.factor = 3, .x = 2, .y = RITZ_PASS_NONE}}},
             {.to = 4,
              .num_terms = 2,
              .term = {{.factor = 4, .x = 4, .y = RITZ_PASS_NONE},
                       {.factor = 5, .x = 5, .y = RITZ_PASS_NONE}}}},
    .sum = {{.x = 4, .y = 4, .w = RITZ_PASS_NONE}},
};

static double eps(void) { return CEED_SCALAR_TYPE == CEED_SCALAR_FP32 ? 0x1p-23 : 0x1p-52; }

// z' = P v', *square = z' . v'. Without a preconditioner nothing but the product.
static int precondition(Minres *m, CeedVector v, CeedVector z, double *square) {
  if (z) RITZ_TRY(ritz_solve_precondition(m->solve, v, z));
  return RitzVectorDot(z ? z : v, v, square);
}

// The Lanczos step: v' in m->q, z' in m->z_next, delta and g'^2.
static int next_vectors(Minres *m, double *delta, double *square) {
  const RitzSystem *system = &m->solve->system;
  CeedVector z = m->z ? m->z : m->v;

  RITZ_TRY(ritz_system_apply(system, z, m->q));
  RITZ_TRY(RitzVectorDot(z, m->q, delta));
  *delta /= m->g * m->g;
  RITZ_TRY(ritz_pass_run(&lanczos_pass, (CeedVector[]){m->q, m->v, m->v_old},
                         (double[]){1 / m->g, -*delta / m->g, m->g_old > 0 ? -m->g / m->g_old : 0}, NULL));
  // All of it, not A z alone: a part in the nullspace would matter where v' is small.
  RITZ_TRY(ritz_system_project(system, m->q));
  return precondition(m, m->q, m->z_next, square);
}

// g' from its square, which rounding may make negative when the space is exhausted: then it is zero.
static double root(const Minres *m, double square, RitzSolverReason *reason) {
  const double dust = 10 * eps() * m->size;

  if (!isfinite(square)) *reason = RITZ_DIVERGED_NAN;
  if (fabs(square) <= dust * dust) return 0;
  if (square < 0) *reason = RITZ_DIVERGED_PRECONDITIONER;
  return square > 0 ? sqrt(square) : 0;
}

static void swap(CeedVector *a, CeedVector *b) {
  CeedVector kept = *a;
  *a = *b;
  *b = kept;
}

// Whether the residual is the least there is: A r vanishes beside |A| |r|, and r . A r is smaller still, for
// r is no eigenvector of a small eigenvalue but one of zero with traces of others, which rounding would blow
// up from here on. a0, g_next: of the next step, by which |A r| / |r| and r . A r / r . r are known (Choi,
// Paige & Saunders 2011). Vectors of Lanczos have lost so much orthogonality by then that |A r| need not fall
// further.
static bool is_least(const Minres *m, double a0, double g_next) {
  const double image = hypot(a0, m->c * g_next), quotient = fabs(a0 * m->c);

  return (image <= sqrt(eps()) * m->size && quotient <= 0.1 * image) ||
         (image <= cbrt(eps()) / 8 * m->size && quotient <= 1000 * eps() * m->size);
}

// The rotation, w, x and r; then everything is one step further.
static int update_minres(Minres *m, double delta, double g_next, RitzSolverReason *reason) {
  const double a0 = m->c * delta - m->c_old * m->s * m->g, a1 = hypot(a0, g_next);
  const double a2 = m->s * delta + m->c_old * m->c * m->g, a3 = m->s_old * m->g;
  const double c = a0 / a1, s = g_next / a1;
  double square = 0;

  if (!(a1 > 0) || is_least(m, a0, g_next)) {
    *reason = RITZ_DIVERGED_BREAKDOWN;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_pass_run(
      &update_pass, (CeedVector[]){m->z ? m->z : m->v, m->w, m->w_old, m->solve->x, m->r, m->q},
      (double[]){1 / (m->g * a1), -a2 / a1, -a3 / a1, m->scale * c * m->eta, s * s, -c * m->eta / a1},
      &square));
  swap(&m->w, &m->w_old);
  swap(&m->v_old, &m->v);
  swap(&m->v, &m->q);
  swap(&m->z, &m->z_next);
  m->eta *= -s;
  m->c_old = m->c, m->c = c;
  m->s_old = m->s, m->s = s;
  m->g_old = m->g, m->g = g_next;
  RITZ_TRY(ritz_solver_judge(m->solver, m->solver->iterations + 1, m->scale * sqrt(square), reason));
  if (*reason == RITZ_ITERATING && g_next == 0) *reason = RITZ_DIVERGED_BREAKDOWN;
  return CEED_ERROR_SUCCESS;
}

static int step_minres(Minres *m, RitzSolverReason *reason) {
  double delta = 0, square = 0;

  RITZ_TRY(next_vectors(m, &delta, &square));
  // The first g is the size of the residual, no entry of the matrix.
  const double before = m->g_old > 0 ? m->g : 0;
  m->size = fmax(m->size, fabs(delta) + before + sqrt(fmax(0, square)));
  if (!isfinite(delta)) *reason = RITZ_DIVERGED_NAN;
  const double g_next = root(m, square, reason);
  return *reason == RITZ_ITERATING ? update_minres(m, delta, g_next, reason) : CEED_ERROR_SUCCESS;
}

static int prepare_passes(const RitzSolve *solve) {
  const RitzPass *const passes[] = {&lanczos_pass, &update_pass, ritz_vector_sum_pass(RITZ_SUM_DOT),
                                    ritz_vector_sum_pass(RITZ_SUM_MULTIPLE)};
  RitzPassForms forms = {0};

  for (int i = 0; i < 4; i++) ritz_pass_forms_add(&forms, ritz_pass_form(passes[i], CEED_SCALAR_TYPE));
  return ritz_solve_prepare_passes(solve, solve->pc, CEED_SCALAR_TYPE, &forms);
}

static int iterate_minres(Minres *m, RitzSolverReason *reason) {
  double norm = 0, square = 0;

  RITZ_TRY(ritz_solve_start(m->solver, m->solve, m->r, &m->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(m->solver, m->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzVectorSum(m->v, 1, m->r, 0, CEED_VECTOR_NONE));
  RITZ_TRY(precondition(m, m->v, m->z, &square));
  if (!(square > 0)) *reason = isnan(square) ? RITZ_DIVERGED_NAN : RITZ_DIVERGED_PRECONDITIONER;
  if (isinf(square)) *reason = RITZ_DIVERGED_NAN;
  m->g = m->eta = sqrt(square);
  m->c = m->c_old = 1;
  while (*reason == RITZ_ITERATING) RITZ_TRY(step_minres(m, reason));
  return CEED_ERROR_SUCCESS;
}

int ritz_minres_solve(RitzSolver solver, const RitzSolve *solve) {
  Minres m = {.solver = solver, .solve = solve};
  CeedVector *const vectors[] = {
      &m.r, &m.v, &m.v_old, &m.q, &m.w, &m.w_old, solve->pc ? &m.z : NULL, solve->pc ? &m.z_next : NULL};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = ritz_solve_create_vectors(solve, 8, vectors);
  if (!ierr) ierr = prepare_passes(solve);
  if (!ierr) ierr = iterate_minres(&m, &reason);
  solver->reason = reason;
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(8, vectors));
}
