// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients of problems in parts, with one reduction an iteration; without preconditioner or with a
// diagonal one. Called by solver/cg.c. Beside the apply two passes, the reduction between them:
//
//     q = A p
//     p . q, r . q, q . q, r . M q, q . M q                            reads p, q, r, M: 32 bytes
//     all sums over all parts, with r . r and r . M r of the pass before
//     x += alpha p, r -= alpha q, p = M r + beta p; r . r, r . M r     40 read, 24 written
//
// alpha = r . M r / p . q is exact. beta and the norm are predicted (ritz_cg_predict), and the next reduction
// brings the sums of the new r, so that rounding does not build up. Where the prediction loses digits or the
// method may end, x and r are updated by a pass of their own, whose sums are reduced, too: exact ones decide.
//
// 96 bytes an unknown, without M 80, beside the 104 and 88 of the standard variant with its two reductions,
// and the same vectors. The form of Chronopoulos and Gear (1989) would take 112 and two vectors more, A M r
// and its sum along p, and find alpha by a recurrence.
#include "solver/cg.h"

enum { NONE = RITZ_PASS_NONE };

static const RitzPass begin = {
    // p, r
    .name = "parts_begin",
    .num_vectors = 2,
    .num_lines = 1,
    .num_sums = 1,
    .line = {{0, 1, {{NONE, 1, NONE}}}},
    .sum = {{1, 1, NONE}},
};
static const RitzPass begin_diagonal = {
    // p, r, M
    .name = "parts_begin_diagonal",
    .num_vectors = 3,
    .num_lines = 1,
    .num_sums = 2,
    .line = {{0, 1, {{NONE, 1, 2}}}},
    .sum = {{1, 1, 2}, {1, 1, NONE}},
};
static const RitzPass products = {
    // p, q, r
    .name = "parts_products",
    .num_vectors = 3,
    .num_sums = 3,
    .sum = {{0, 1, NONE}, {2, 1, NONE}, {1, 1, NONE}},
};
static const RitzPass products_diagonal = {
    // p, q, r, M
    .name = "parts_products_diagonal",
    .num_vectors = 4,
    .num_sums = 5,
    .sum = {{0, 1, NONE}, {2, 1, NONE}, {1, 1, NONE}, {2, 1, 3}, {1, 1, 3}},
};
static const RitzPass step = {
    // x, r, p, q
    .name = "parts_step",
    .num_vectors = 4,
    .num_lines = 3,
    .num_sums = 1,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}},
             {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}},
             {2, 2, {{NONE, 1, NONE}, {2, 2, NONE}}}},
    .sum = {{1, 1, NONE}},
};
static const RitzPass step_diagonal = {
    // x, r, p, q, M
    .name = "parts_step_diagonal",
    .num_vectors = 5,
    .num_lines = 3,
    .num_sums = 2,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}},
             {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}},
             {2, 2, {{NONE, 1, 4}, {2, 2, NONE}}}},
    .sum = {{1, 1, 4}, {1, 1, NONE}},
};
static const RitzPass last_step = {
    // x, r, p, q
    .name = "parts_settle",
    .num_vectors = 4,
    .num_lines = 2,
    .num_sums = 1,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}}, {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}}},
    .sum = {{1, 1, NONE}},
};
static const RitzPass last_step_diagonal = {
    // x, r, p, q, M
    .name = "parts_settle_diagonal",
    .num_vectors = 5,
    .num_lines = 2,
    .num_sums = 2,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}}, {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}}},
    .sum = {{1, 1, 4}, {1, 1, NONE}},
};

// Sums of a reduction, without M those from RR to QQ. The first two are of the pass before the apply.
enum { RZ, RR, PQ, RQ, QQ, RMQ, QMQ, NUM_NUMBERS };
_Static_assert((int)NUM_NUMBERS <= (int)RITZ_WORK_SCALARS, "a solve has the numbers of its workspace");

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector inverse;  // borrowed: M; NULL: one
  CeedVector r, p, q;  // owned
  RitzScalars scalars; // borrowed, [NUM_NUMBERS]
  double scale;        // r, p and q are divided by it
  double rr, rz;       // |r|^2 and r . M r, of the scaled residual
  double alpha;        // of the step that x and r do not have yet; 0: they have all
} Cg;

// ---- An iteration ----

static CeedInt first_number(const Cg *cg) { return cg->inverse ? RZ : RR; }

static RitzFactor fixed(double value) { return (RitzFactor){.a = -1, .b = -1, .sign = value}; }

// Takes r.r and r.z from numbers that begin with first_number.
static void set_squares(Cg *cg, const double *numbers) {
  cg->rr = ritz_cg_without_dust(numbers[RR - first_number(cg)]);
  cg->rz = cg->inverse ? numbers[RZ] : cg->rr;
}

// q = A p on free entries, and all sums over all parts; numbers[k]: sum k, without M zeros for those of M.
static int apply_cg_parts(Cg *cg, double numbers[NUM_NUMBERS]) {
  const CeedInt first = first_number(cg), num = cg->inverse ? NUM_NUMBERS : QQ - RR + 1;
  const RitzSystem *system = &cg->solve->system;

  for (int i = 0; i < NUM_NUMBERS; i++) numbers[i] = 0;
  RITZ_TRY(ritz_system_apply(system, cg->p, cg->q));
  RITZ_TRY(ritz_pass_run_by_alone(cg->inverse ? &products_diagonal : &products,
                                  (CeedVector[]){cg->p, cg->q, cg->r, cg->inverse}, cg->scalars, NULL, PQ));
  RITZ_TRY(ritz_scalars_sum(cg->scalars, first, num, numbers + first));
  set_squares(cg, numbers + first);
  return CEED_ERROR_SUCCESS;
}

// x and r make the step alpha; the squares are exact then.
static int make_step(Cg *cg) {
  const CeedInt first = first_number(cg);
  const CeedVector v[] = {cg->solve->x, cg->r, cg->p, cg->q, cg->inverse};
  const RitzFactor factors[] = {fixed(cg->alpha * cg->scale), fixed(-cg->alpha)};
  double numbers[2];

  RITZ_TRY(
      ritz_pass_run_by_alone(cg->inverse ? &last_step_diagonal : &last_step, v, cg->scalars, factors, first));
  RITZ_TRY(ritz_scalars_sum(cg->scalars, first, PQ - first, numbers));
  set_squares(cg, numbers);
  cg->alpha = 0;
  return CEED_ERROR_SUCCESS;
}

// The squares become what they will be after the step; it is made where that is not good enough.
static int look_ahead(Cg *cg, const double numbers[NUM_NUMBERS]) {
  const double rr = cg->rr, rz = cg->rz;

  cg->rr = ritz_cg_predict(rr, cg->alpha, numbers[RQ], numbers[QQ]);
  cg->rz = cg->inverse ? ritz_cg_predict(rz, cg->alpha, numbers[RMQ], numbers[QMQ]) : cg->rr;
  if (ritz_cg_may_predict(cg->solver, cg->rr, rr, cg->rz, rz, cg->scale * sqrt(cg->rr)))
    return CEED_ERROR_SUCCESS;
  return make_step(cg);
}

// The step, where it is not made yet, the next direction, and sums of this part for the next reduction.
static int go_on(Cg *cg, double beta) {
  const CeedVector v[] = {cg->solve->x, cg->r, cg->p, cg->q, cg->inverse};
  const RitzFactor factors[] = {fixed(cg->alpha * cg->scale), fixed(-cg->alpha), fixed(beta)};

  cg->alpha = 0;
  return ritz_pass_run_by_alone(cg->inverse ? &step_diagonal : &step, v, cg->scalars, factors,
                                first_number(cg));
}

static int iterate_cg_parts(Cg *cg, RitzSolverReason *reason) {
  RitzSolver solver = cg->solver;
  double numbers[NUM_NUMBERS];

  RITZ_TRY(apply_cg_parts(cg, numbers));
  const double rz = cg->rz;
  ritz_cg_check_rz(rz, reason);
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  const double alpha = ritz_cg_alpha(rz, numbers[PQ], cg->scale, reason);
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  cg->alpha = alpha;
  RITZ_TRY(look_ahead(cg, numbers));
  RITZ_TRY(ritz_solver_judge(solver, solver->iterations + 1, cg->scale * sqrt(cg->rr), reason));
  if (*reason == RITZ_ITERATING) ritz_cg_check_rz(cg->rz, reason);
  if (*reason == RITZ_ITERATING) return go_on(cg, cg->rz / rz);
  return cg->alpha != 0 ? make_step(cg) : CEED_ERROR_SUCCESS;
}

// ---- Solve ----

static int start_cg_parts(Cg *cg, RitzSolverReason *reason) {
  double norm = 0;

  RITZ_TRY(ritz_solve_start(cg->solver, cg->solve, cg->r, &cg->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(cg->solver, cg->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  return ritz_pass_run_by_alone(cg->inverse ? &begin_diagonal : &begin,
                                (CeedVector[]){cg->p, cg->r, cg->inverse}, cg->scalars, NULL,
                                first_number(cg));
}

static int prepare_passes(const Cg *cg) {
  const RitzPass *const plain[] = {&begin, &products, &step, &last_step};
  const RitzPass *const diagonal[] = {&begin_diagonal, &products_diagonal, &step_diagonal,
                                      &last_step_diagonal};
  RitzPassForms forms = {0};

  for (int i = 0; i < 4; i++) {
    RitzPassForm form = ritz_pass_form(cg->inverse ? diagonal[i] : plain[i], CEED_SCALAR_TYPE);

    if (cg->inverse) form.precision[form.pass->num_vectors - 1] = cg->inverse->precision;
    ritz_pass_forms_add(&forms, form);
  }
  return ritz_solve_prepare_passes(cg->solve, NULL, CEED_SCALAR_TYPE, &forms);
}

int ritz_cg_solve_in_parts(RitzSolver solver, const RitzSolve *solve, CeedVector inverse) {
  Cg cg = {.solver = solver, .solve = solve, .inverse = inverse};
  CeedVector *const vectors[] = {&cg.r, &cg.p, &cg.q};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = ritz_solve_create_vectors(solve, 3, vectors);
  if (!ierr) ierr = ritz_workspace_scalars(solve->work, solve->system.ceed, &cg.scalars);
  if (!ierr) ierr = prepare_passes(&cg);
  if (!ierr) ierr = start_cg_parts(&cg, &reason);
  while (!ierr && reason == RITZ_ITERATING) ierr = iterate_cg_parts(&cg, &reason);
  if (!ierr) solver->reason = reason;
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(3, vectors));
}
