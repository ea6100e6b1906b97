// SPDX-License-Identifier: BSD-2-Clause
// Merged conjugate gradients on devices: the operator gives p . A p itself where it can, two passes do the
// rest, and all numbers stay on the device. The host waits once an iteration, for three numbers, which decide
// when to stop; meanwhile the device works on the product of the next iteration, which is in vain at the end.
// Bytes an entry in double precision:
//
//     A         q += A p, p . q; without a kernel that gives it a pass more: 16
//     advance   r -= alpha q, |r|^2, r . M r                     24, with M 32
//     turn      x += alpha scale p, p = M r + beta p, q = 0      48, with M 56
//
// Where p . q is not a positive finite number, alpha counts as zero (RitzFactor): x stays.
//
// In parts of a larger problem (solver/parts.h) r gets its values at ghosts, and M once, so that directions
// have theirs without a message. An iteration meets the other parts twice: q goes to owners with p . q, r to
// ghosts with |r|^2 and r . M r.
#include "solver/cg.h"

enum { NONE = RITZ_PASS_NONE };

static const RitzPass first_direction = {
    // p, M, r; M may have another precision
    .name = "merged_first_direction",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{0, 1, {{NONE, 1, 2}}}},
};
static const RitzPass advance = {
    // r, q
    .name = "merged_advance",
    .num_vectors = 2,
    .num_lines = 1,
    .num_sums = 1,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 1, NONE}}}},
    .sum = {{0, 0, NONE}},
};
static const RitzPass advance_diagonal = {
    // r, q, M
    .name = "merged_advance_diagonal",
    .num_vectors = 3,
    .num_lines = 1,
    .num_sums = 2,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 1, NONE}}}},
    .sum = {{0, 0, NONE}, {0, 0, 2}},
};
static const RitzPass turn = {
    // x, p, q, r
    .name = "merged_turn",
    .num_vectors = 4,
    .num_lines = 3,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 1, NONE}}}, {1, 2, {{NONE, 3, NONE}, {1, 1, NONE}}}, {2, 0, {{0}}}},
};
static const RitzPass turn_diagonal = {
    // x, p, q, r, M
    .name = "merged_turn_diagonal",
    .num_vectors = 5,
    .num_lines = 3,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 1, NONE}}}, {1, 2, {{NONE, 3, 4}, {1, 1, NONE}}}, {2, 0, {{0}}}},
};

// Numbers of one iteration; those of the one before keep the other half of the list.
enum { PQ, RR, RZ, NUM_NUMBERS };
_Static_assert(2 * NUM_NUMBERS <= RITZ_WORK_SCALARS, "a solve has the numbers of its workspace");

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector inverse;  // borrowed; NULL: M is one
  CeedVector r, p, q;  // owned
  RitzScalars scalars; // borrowed, [2][NUM_NUMBERS]
  CeedInt now, before; // first numbers of this iteration, of the last one
  bool may_run_ahead;  // a product too many changes q alone
  bool is_ahead;       // q is the product of the next iteration already
  double scale, rz;    // the second: before the iteration
} Cg;

static CeedInt place_of_rz(const Cg *cg, CeedInt first) { return first + (cg->inverse ? RZ : RR); }

// ---- An iteration ----

// In a part of a larger problem, whose directions have values at ghosts: what goes to their owners takes the
// sum along.
static int apply_in_parts(Cg *cg) {
  const RitzSolver solver = cg->solver;
  const CeedInt pq = cg->now + PQ;
  bool is_done = false;

  RITZ_TRY(solver->parts.apply_energy(solver->apply_ctx, cg->p, cg->q, cg->scalars, pq, &is_done));
  RITZ_TRY(ritz_system_zero_constrained(&cg->solve->system, cg->q));
  return is_done ? CEED_ERROR_SUCCESS : RitzVectorDotTo(cg->p, cg->q, cg->scalars, pq);
}

static int apply_cg_device(Cg *cg) {
  const RitzSystem *system = &cg->solve->system;

  if (!system->op) return apply_in_parts(cg);
  return ritz_operator_apply_energy(system->op, cg->p, cg->q, system->constraints, cg->scalars, cg->now + PQ);
}

// In a part of a larger problem ghosts of v get the values of their owners, and sums become those of all
// parts.
static int update_ghosts(const Cg *cg, CeedVector v, CeedInt first, CeedInt num) {
  const RitzSolver solver = cg->solver;

  if (cg->solve->system.op) return CEED_ERROR_SUCCESS;
  return solver->parts.update_ghosts(solver->apply_ctx, v, cg->scalars, first, num);
}

static int step_cg_device(Cg *cg) {
  const CeedInt rz_before = place_of_rz(cg, cg->before), rz_now = place_of_rz(cg, cg->now);
  const CeedInt pq = cg->now + PQ;
  const CeedVector residual[] = {cg->r, cg->q, cg->inverse};
  const CeedVector all[] = {cg->solve->x, cg->p, cg->q, cg->r, cg->inverse};
  const RitzFactor alpha = {rz_before, pq, -1};
  const RitzFactor factors[] = {{rz_before, pq, cg->scale}, {rz_now, rz_before, 1}};

  RITZ_TRY(ritz_pass_run_by_alone(cg->inverse ? &advance_diagonal : &advance, residual, cg->scalars, &alpha,
                                  cg->now + RR));
  RITZ_TRY(update_ghosts(cg, cg->r, cg->now + RR, cg->inverse ? 2 : 1));
  return ritz_pass_run_by(cg->inverse ? &turn_diagonal : &turn, all, cg->scalars, factors, 0);
}

// The numbers of this iteration, and the product of the next one.
static int read_and_go_ahead(Cg *cg, double numbers[NUM_NUMBERS]) {
  const CeedInt first = cg->now, num = cg->inverse ? NUM_NUMBERS : RZ;
  bool is_marked = false;

  if (cg->may_run_ahead) RITZ_TRY(ritz_scalars_mark(cg->scalars, &is_marked));
  cg->now = cg->before;
  cg->before = first;
  if (is_marked) RITZ_TRY(apply_cg_device(cg));
  cg->is_ahead = is_marked;
  return is_marked ? ritz_scalars_get_marked(cg->scalars, first, num, numbers)
                   : RitzScalarsGet(cg->scalars, first, num, numbers);
}

static int iterate_cg_device(Cg *cg, RitzSolverReason *reason) {
  RitzSolver solver = cg->solver;
  double numbers[NUM_NUMBERS];

  if (!cg->is_ahead) RITZ_TRY(apply_cg_device(cg));
  RITZ_TRY(step_cg_device(cg));
  RITZ_TRY(read_and_go_ahead(cg, numbers));
  (void)ritz_cg_alpha(cg->rz, numbers[PQ], cg->scale, reason);
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  const double rr = ritz_cg_without_dust(numbers[RR]);
  cg->rz = cg->inverse ? numbers[RZ] : rr;
  RITZ_TRY(ritz_solver_judge(solver, solver->iterations + 1, cg->scale * sqrt(rr), reason));
  if (*reason == RITZ_ITERATING) ritz_cg_check_rz(cg->rz, reason);
  return CEED_ERROR_SUCCESS;
}

// ---- Before the first iteration ----

// p = M r, and its products as those of an iteration before the first.
static int start_cg_device(Cg *cg, RitzSolverReason *reason) {
  double norm = 0, rr = 0;

  RITZ_TRY(ritz_solve_start(cg->solver, cg->solve, cg->r, &cg->scale, &norm));
  RITZ_TRY(ritz_cg_products(cg->r, cg->inverse, &rr, &cg->rz));
  RITZ_TRY(RitzScalarsSet(cg->scalars, place_of_rz(cg, cg->before), 1, &cg->rz));
  RITZ_TRY(ritz_solver_judge_start(cg->solver, cg->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  ritz_cg_check_rz(cg->rz, reason);
  RITZ_TRY(update_ghosts(cg, cg->r, 0, 0));
  if (!cg->inverse) return RitzVectorCopyRange(cg->r, 0, cg->r->length, cg->p, 0);
  RITZ_TRY(
      update_ghosts(cg, cg->inverse, 0, 0)); // zeros there, as other methods have residuals that are zero
  return ritz_pass_run(&first_direction, (const CeedVector[]){cg->p, cg->inverse, cg->r}, NULL, NULL);
}

// M has the precision of the vectors.
static int prepare_passes(const Cg *cg) {
  const RitzPass *const passes[] = {ritz_vector_sum_pass(RITZ_SUM_UPDATE),
                                    ritz_vector_sum_pass(RITZ_SUM_SCALING),
                                    ritz_vector_sum_pass(RITZ_SUM_SQUARE),
                                    cg->inverse ? &advance_diagonal : &advance,
                                    cg->inverse ? &turn_diagonal : &turn,
                                    &ritz_cg_products_pass,
                                    &first_direction};
  RitzPassForm forms[7];

  for (int i = 0; i < 7; i++) forms[i] = ritz_pass_form(passes[i], CEED_SCALAR_TYPE);
  return ritz_passes_prepare(cg->solve->system.ceed, cg->inverse ? 7 : 5, forms);
}

int ritz_cg_solve_on_device(RitzSolver solver, const RitzSolve *solve, CeedVector inverse) {
  const CeedOperator op = solve->system.op;
  Cg cg = {.solver = solver,
           .solve = solve,
           .inverse = inverse,
           .before = NUM_NUMBERS,
           .may_run_ahead = !(op ? ritz_operator_has_other_output(op) : solver->parts.has_other_output)};
  CeedVector *const vectors[] = {&cg.r, &cg.p, &cg.q};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = ritz_solve_create_vectors(solve, 3, vectors);
  if (!ierr) ierr = ritz_workspace_scalars(solve->work, solve->system.ceed, &cg.scalars);
  if (!ierr) ierr = prepare_passes(&cg);
  if (!ierr) ierr = start_cg_device(&cg, &reason);
  while (!ierr && reason == RITZ_ITERATING) ierr = iterate_cg_device(&cg, &reason);
  if (!ierr) solver->reason = reason;
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(3, vectors));
}
