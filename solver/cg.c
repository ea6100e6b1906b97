// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients, standard and flexible, for any preconditioner and nullspaces: the reference of all
// variants; one code for hosts and devices. And which variant serves a solve. Called by solver/solve.c.
//
//     p = z + beta p                                  one pass
//     q = A p, p . q                                  one apply, one pass
//     x += alpha p, r -= alpha q, |r|                 one pass
//     z = M r, r . z, flexible: q . z                 the preconditioner, one pass
//
// A diagonal M needs no vector z: M r stands in the passes in its place, r . M r comes with |r|. The flexible
// method needs no old residual, for r - the old r is -alpha q: beta = -q . z / p . q.
//
// Products stay where the vectors are, factors come from them there; the host reads them once an iteration,
// after the update. That r . z is not positive it sees an iteration late: then it takes the update back.
//
// A preconditioner in float of vectors in double (multigrid): the pass that updates r writes it once more as
// float, and z stays float, so that no sweep converts. Bytes an unknown that an iteration of the flexible
// method moves beside the apply and M:
//
//                     all in double      M in float      by RitzPreconditionerApply, which converts
//     direction            24                20                24
//     p . q                16                16                16
//     update               48                52                48
//     largest entry, r to float, z back                        32
//     r . z, q . z         24                20                24
//     together            112               108               144
#include "solver/cg.h"

enum { NONE = RITZ_PASS_NONE };

static const RitzPass turn = {
    // p, r
    .name = "cg_turn",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{0, 2, {{NONE, 1, NONE}, {0, 0, NONE}}}},
};
static const RitzPass turn_diagonal = {
    // p, r, M
    .name = "cg_turn_diagonal",
    .num_vectors = 3,
    .num_lines = 1,
    .line = {{0, 2, {{NONE, 1, 2}, {0, 0, NONE}}}},
};
static const RitzPass advance = {
    // x, r, p, q
    .name = "cg_advance",
    .num_vectors = 4,
    .num_lines = 2,
    .num_sums = 1,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}}, {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}}},
    .sum = {{1, 1, NONE}},
};
// Preconditioners in float: z f is the correction, s = r / f.
static const RitzPass turn_scaled = {
    // p, z
    .name = "cg_turn_scaled",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{0, 2, {{1, 1, NONE}, {0, 0, NONE}}}},
};
static const RitzPass advance_rounded = {
    // x, r, p, q, s
    .name = "cg_advance_rounded",
    .num_vectors = 5,
    .num_lines = 3,
    .num_sums = 1,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}},
             {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}},
             {4, 1, {{2, 1, NONE}}}},
    .sum = {{1, 1, NONE}},
};
static const RitzPass rounding = {
    // r, s
    .name = "cg_rounding",
    .num_vectors = 2,
    .num_lines = 1,
    .line = {{1, 1, {{0, 0, NONE}}}},
};
static const RitzPass advance_diagonal = {
    // x, r, p, q, M
    .name = "cg_advance_diagonal",
    .num_vectors = 5,
    .num_lines = 2,
    .num_sums = 2,
    .line = {{0, 2, {{NONE, 0, NONE}, {0, 2, NONE}}}, {1, 2, {{NONE, 1, NONE}, {1, 3, NONE}}}},
    .sum = {{1, 1, NONE}, {1, 1, 4}},
};
const RitzPass ritz_cg_products_pass = {
    // r, M
    .name = "cg_products",
    .num_vectors = 2,
    .num_sums = 2,
    .sum = {{0, 0, NONE}, {0, 0, 1}},
};
static const RitzPass product = {
    // z, r
    .name = "cg_product",
    .num_vectors = 2,
    .num_sums = 1,
    .sum = {{0, 1, NONE}},
};
static const RitzPass flexible_products = {
    // z, r, q
    .name = "fcg_products",
    .num_vectors = 3,
    .num_sums = 2,
    .sum = {{0, 1, NONE}, {0, 2, NONE}},
};

// Numbers of a residual and the direction that begins there; the residual before has the other half of the
// list. RR, RZ and RZ, ZQ come from one pass each.
enum { PQ, RR, RZ, ZQ, NUM_NUMBERS };
_Static_assert(2 * NUM_NUMBERS <= RITZ_WORK_SCALARS, "a solve has the numbers of its workspace");

typedef struct {
  RitzSolver solver;
  const RitzSolve *solve;
  CeedVector inverse;    // borrowed: a diagonal M; NULL: none, or another one
  CeedVector r, p, q, z; // owned; z NULL where r or M r stands for it
  CeedVector s;          // owned: r / s_scale in float, for a preconditioner in float; NULL: none
  RitzScalars scalars;   // borrowed, [2][NUM_NUMBERS]
  CeedInt now, other;    // first numbers of r, and of the residual before, which become those of the next one
  bool is_fresh;         // p begins anew: the first direction, or there is another M
  double scale, rr;      // of r
  double s_scale;        // a power of two near |r|; what z is to be multiplied with. 1 without s
  double z_scale, z_scale_before; // s_scale that z has, and that it had for the residual before
} Cg;

int ritz_cg_products(CeedVector r, CeedVector inverse, double *rr, double *rz) {
  double sums[2];

  if (inverse) {
    RITZ_TRY(ritz_pass_run(&ritz_cg_products_pass, (CeedVector[]){r, inverse}, NULL, sums));
  } else {
    RITZ_TRY(RitzVectorDot(r, r, &sums[0]));
    sums[1] = sums[0];
  }
  *rr = ritz_cg_without_dust(sums[0]);
  *rz = inverse ? sums[1] : *rr;
  return CEED_ERROR_SUCCESS;
}

// ---- An iteration ----

static CeedInt place_of_rz(const Cg *cg, CeedInt first) { return first + (cg->z || cg->inverse ? RZ : RR); }

static RitzFactor fixed(double value) { return (RitzFactor){.a = -1, .b = -1, .sign = value}; }

// beta: r . z over the one before; flexible: -q . z / p . q.
static RitzFactor find_beta(const Cg *cg) {
  if (cg->is_fresh) return fixed(0);
  if (cg->solver->type == RITZ_SOLVER_FLEXIBLE_CG)
    return (RitzFactor){cg->now + ZQ, cg->other + PQ, -cg->z_scale};
  return (RitzFactor){place_of_rz(cg, cg->now), place_of_rz(cg, cg->other), cg->z_scale / cg->z_scale_before};
}

static int next_direction(Cg *cg) {
  const CeedVector v[] = {cg->p, cg->z ? cg->z : cg->r, cg->inverse};
  const RitzFactor factors[] = {find_beta(cg), fixed(cg->z_scale)};
  const RitzPass *pass = cg->s ? &turn_scaled : cg->inverse ? &turn_diagonal : &turn;

  cg->is_fresh = false;
  return ritz_pass_run_by(pass, v, cg->scalars, factors, 0);
}

// q = A p on free entries, zero on the others; p . q
static int apply_cg(Cg *cg) {
  const RitzSystem *system = &cg->solve->system;

  RITZ_TRY(ritz_system_apply(system, cg->p, cg->q));
  RITZ_TRY(ritz_system_project(system, cg->q));
  return RitzVectorDotTo(cg->p, cg->q, cg->scalars, cg->now + PQ);
}

// x += alpha scale p, r -= alpha q, and the products of the new r. s is divided by what is near the old |r|.
static int step_cg(Cg *cg) {
  const CeedVector v[] = {cg->solve->x, cg->r, cg->p, cg->q, cg->s ? cg->s : cg->inverse};
  const RitzPass *pass = cg->s ? &advance_rounded : cg->inverse ? &advance_diagonal : &advance;
  const CeedInt rz = place_of_rz(cg, cg->now), pq = cg->now + PQ;

  if (cg->s) cg->s_scale = ritz_power_near(sqrt(cg->rr), CEED_SCALAR_FP64);
  const RitzFactor factors[] = {
      {rz, pq, cg->z_scale * cg->scale}, {rz, pq, -cg->z_scale}, fixed(1 / cg->s_scale)};
  return ritz_pass_run_by(pass, v, cg->scalars, factors, cg->other + RR);
}

// s anew where |r| has changed so much in a step that the range of float could matter.
static int round_residual(Cg *cg) {
  const double norm = sqrt(cg->rr), most = 0x1p16;

  if (norm <= most * cg->s_scale && norm >= cg->s_scale / most) return CEED_ERROR_SUCCESS;
  cg->s_scale = ritz_power_near(norm, CEED_SCALAR_FP64);
  return ritz_pass_run(&rounding, (CeedVector[]){cg->r, cg->s}, (double[]){1 / cg->s_scale}, NULL);
}

// z and r . z, of the flexible method q . z.
static int precondition(Cg *cg) {
  const CeedVector v[] = {cg->z, cg->r, cg->q};
  const bool is_flexible = cg->solver->type == RITZ_SOLVER_FLEXIBLE_CG;

  if (!cg->z) return CEED_ERROR_SUCCESS;
  if (cg->s) RITZ_TRY(round_residual(cg));
  RITZ_TRY(ritz_solve_precondition(cg->solve, cg->s ? cg->s : cg->r, cg->z));
  cg->z_scale_before = cg->z_scale;
  cg->z_scale = cg->s_scale;
  return ritz_pass_run_by(is_flexible ? &flexible_products : &product, v, cg->scalars, NULL, cg->now + RZ);
}

// An update along a direction of r . z <= 0 is undone. Where M can do better the directions begin anew.
static int take_back(Cg *cg, double alpha, RitzSolverReason *reason) {
  bool is_new = false;

  if (isfinite(alpha)) {
    RITZ_TRY(RitzVectorSum(cg->solve->x, 1, cg->solve->x, -alpha * cg->scale, cg->p));
    RITZ_TRY(RitzVectorSum(cg->r, 1, cg->r, alpha, cg->q));
  }
  if (*reason != RITZ_DIVERGED_PRECONDITIONER || !cg->solve->pc) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_preconditioner_strengthen(cg->solve->pc, &is_new));
  if (!is_new) return CEED_ERROR_SUCCESS;
  *reason = RITZ_ITERATING;
  cg->is_fresh = true;
  if (cg->s) cg->s_scale = 0; // s is not that of r
  return precondition(cg);
}

// Checks the direction by its products. *is_taken_back: it was given up, and there is another one.
static int judge_direction(Cg *cg, const double numbers[], bool *is_taken_back, RitzSolverReason *reason) {
  const double rz = cg->z_scale * numbers[place_of_rz(cg, cg->now)];
  RitzSolverReason fault = RITZ_ITERATING;

  ritz_cg_check_rz(rz, reason);
  const double alpha = ritz_cg_alpha(rz, numbers[cg->now + PQ], cg->scale, &fault);
  if (fault == RITZ_ITERATING && !isfinite(cg->scale * rz)) fault = RITZ_DIVERGED_NAN; // it counted as zero
  *is_taken_back = *reason != RITZ_ITERATING;
  if (*is_taken_back) return take_back(cg, fault == RITZ_ITERATING ? alpha : (double)NAN, reason);
  *reason = fault;
  return CEED_ERROR_SUCCESS;
}

static int iterate_cg(Cg *cg, RitzSolverReason *reason) {
  const CeedInt next = cg->other;
  double numbers[2 * NUM_NUMBERS];
  bool is_taken_back = false;

  RITZ_TRY(next_direction(cg));
  RITZ_TRY(apply_cg(cg));
  RITZ_TRY(step_cg(cg));
  RITZ_TRY(RitzScalarsGet(cg->scalars, 0, 2 * NUM_NUMBERS, numbers));
  RITZ_TRY(judge_direction(cg, numbers, &is_taken_back, reason));
  if (is_taken_back || *reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  cg->rr = ritz_cg_without_dust(numbers[next + RR]);
  RITZ_TRY(ritz_solver_judge(cg->solver, cg->solver->iterations + 1, cg->scale * sqrt(cg->rr), reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  if (!cg->z) ritz_cg_check_rz(cg->inverse ? numbers[next + RZ] : cg->rr, reason);
  cg->other = cg->now;
  cg->now = next;
  return precondition(cg);
}

static int start_cg(Cg *cg, RitzSolverReason *reason) {
  double norm = 0;

  RITZ_TRY(ritz_solve_start(cg->solver, cg->solve, cg->r, &cg->scale, &norm));
  RITZ_TRY(ritz_solver_judge_start(cg->solver, cg->solve, norm, reason));
  if (*reason != RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  cg->is_fresh = true;
  cg->rr = (norm / cg->scale) * (norm / cg->scale);
  if (cg->z) return precondition(cg);
  if (!cg->inverse) return RitzVectorDotTo(cg->r, cg->r, cg->scalars, cg->now + RR);
  return ritz_pass_run_by(&ritz_cg_products_pass, (CeedVector[]){cg->r, cg->inverse}, cg->scalars, NULL,
                          cg->now + RR);
}

// Whether the preconditioner can take r as float and leave z so: bases of nullspaces are in double.
static bool takes_floats(const RitzSolve *solve) {
  const RitzPreconditioner pc = solve->pc;

  return pc && pc->precision == CEED_SCALAR_FP32 && CEED_SCALAR_TYPE == CEED_SCALAR_FP64 &&
         pc->ceed == solve->system.ceed && solve->system.num_null == 0;
}

static int create_vectors(Cg *cg, bool has_z) {
  const RitzSolve *solve = cg->solve;
  const bool is_rounded = has_z && takes_floats(solve);
  CeedVector *const vectors[] = {&cg->r, &cg->p, &cg->q, has_z && !is_rounded ? &cg->z : NULL};

  RITZ_TRY(ritz_solve_create_vectors(solve, 4, vectors));
  if (!is_rounded) return CEED_ERROR_SUCCESS;
  RITZ_TRY(
      ritz_workspace_vector(solve->work, solve->system.ceed, solve->x->length, CEED_SCALAR_FP32, &cg->z));
  RITZ_TRY(
      ritz_workspace_vector(solve->work, solve->system.ceed, solve->x->length, CEED_SCALAR_FP32, &cg->s));
  cg->s_scale = 0;                     // s is not that of r
  return CeedVectorSetValue(cg->s, 0); // passes with sums write to owned entries alone
}

// Adds the form of a pass whose vectors do not all have the precision of x: vector number `at` has another.
static void add_form(RitzPassForms *forms, const RitzPass *pass, int at, CeedScalarType precision) {
  RitzPassForm form = ritz_pass_form(pass, CEED_SCALAR_TYPE);

  form.precision[at] = precision;
  ritz_pass_forms_add(forms, form);
}

static void add_diagonal_forms(CeedScalarType of_inverse, RitzPassForms *forms) {
  add_form(forms, &turn_diagonal, 2, of_inverse);
  add_form(forms, &advance_diagonal, 4, of_inverse);
  add_form(forms, &ritz_cg_products_pass, 1, of_inverse);
}

// Where s and z are in float, for a preconditioner in float, or there are none.
static void add_step_forms(bool is_rounded, RitzPassForms *forms) {
  if (is_rounded) {
    add_form(forms, &turn_scaled, 1, CEED_SCALAR_FP32);
    add_form(forms, &advance_rounded, 4, CEED_SCALAR_FP32);
    add_form(forms, &rounding, 1, CEED_SCALAR_FP32);
  } else {
    ritz_pass_forms_add(forms, ritz_pass_form(&turn, CEED_SCALAR_TYPE));
    ritz_pass_forms_add(forms, ritz_pass_form(&advance, CEED_SCALAR_TYPE));
  }
}

void ritz_cg_add_forms(RitzSolverType type, CeedScalarType of_z, RitzPassForms *forms) {
  add_step_forms(of_z != CEED_SCALAR_TYPE, forms);
  add_form(forms, type == RITZ_SOLVER_FLEXIBLE_CG ? &flexible_products : &product, 0, of_z);
}

static int prepare_passes(const Cg *cg) {
  const RitzPassForm dot = ritz_pass_form(ritz_vector_sum_pass(RITZ_SUM_DOT), CEED_SCALAR_TYPE),
                     multiple = ritz_pass_form(ritz_vector_sum_pass(RITZ_SUM_MULTIPLE), CEED_SCALAR_TYPE);
  const CeedScalarType of_z = cg->z ? cg->z->precision : CEED_SCALAR_TYPE;
  RitzPassForms forms = {0};

  ritz_pass_forms_add(&forms, dot);
  if (cg->inverse)
    add_diagonal_forms(cg->inverse->precision, &forms);
  else if (cg->z)
    ritz_cg_add_forms(cg->solver->type, of_z, &forms);
  else
    add_step_forms(false, &forms);
  if (cg->z && !cg->solve->pc) ritz_pass_forms_add(&forms, multiple);
  return ritz_solve_prepare_passes(cg->solve, cg->inverse ? NULL : cg->solve->pc, of_z, &forms);
}

static int solve_standard(RitzSolver solver, const RitzSolve *solve) {
  const bool is_flexible = solver->type == RITZ_SOLVER_FLEXIBLE_CG;
  // as in find_obstacle
  const bool is_scaled_apart = solver->reduce && solver->pc;
  CeedVector inverse = is_flexible || solve->system.num_null || is_scaled_apart
                           ? NULL
                           : ritz_jacobi_inverse(solve->pc, solve->system.ceed, NULL);
  Cg cg = {.solver = solver,
           .solve = solve,
           .inverse = inverse,
           .other = NUM_NUMBERS,
           .s_scale = 1,
           .z_scale = 1,
           .z_scale_before = 1};
  CeedVector *const vectors[] = {&cg.r, &cg.p, &cg.q, &cg.z, &cg.s};
  RitzSolverReason reason = RITZ_ITERATING;

  int ierr = create_vectors(&cg, is_flexible || (solve->pc && !inverse));
  if (!ierr) ierr = ritz_workspace_scalars(solve->work, solve->system.ceed, &cg.scalars);
  if (!ierr) ierr = prepare_passes(&cg);
  if (!ierr) ierr = start_cg(&cg, &reason);
  while (!ierr && reason == RITZ_ITERATING) ierr = iterate_cg(&cg, &reason);
  if (!ierr) solver->reason = reason;
  return ritz_first_error(ierr, ritz_solve_destroy_vectors(5, vectors));
}

// ---- The choice of the variant ----

static bool is_on_device(const RitzSolve *solve) {
  return solve->system.ceed->backend.mem_type == CEED_MEM_DEVICE;
}

static bool has_passive_input(CeedOperator op, CeedVector vec) {
  for (CeedInt i = 0; i < op->num_in; i++) {
    if (op->in[i]->vec == vec) return true;
  }
  for (CeedInt i = 0; i < op->num_sub; i++) {
    if (has_passive_input(op->sub[i], vec)) return true;
  }
  return false;
}

// *reason: why a solve cannot be merged; NULL: it can.
static int find_obstacle(RitzSolver solver, const RitzSolve *solve, int *num_slots, const char **reason) {
  *reason = NULL;
  if (solver->type == RITZ_SOLVER_FLEXIBLE_CG) {
    *reason = "the method is the flexible one";
  } else if (solve->system.num_null) {
    *reason = "the operator has a nullspace";
  } else if (solver->reduce && solver->pc) {
    // a program's own Jacobi has a power of two of this part alone in its vector
    *reason = "the preconditioner of a problem in parts is the program's";
  } else if (solver->reduce && !is_on_device(solve) && solver->variant == RITZ_CG_AUTO) {
    *reason = "sums of a step ahead cost a host more than a reduction, unless there are many parts";
  } else if (solver->reduce) {
    return CEED_ERROR_SUCCESS;
  } else if (solve->system.apply) {
    *reason = "the operator is a function of the program";
  } else if (solve->pc && !ritz_jacobi_inverse(solve->pc, solve->system.ceed, NULL)) {
    *reason = "the preconditioner is not a diagonal";
  } else if (solve->pc && solve->pc->precision != CEED_SCALAR_TYPE) {
    *reason = "the preconditioner has another precision than the vectors";
  } else if (is_on_device(solve)) {
    return CEED_ERROR_SUCCESS;
  } else if (has_passive_input(solver->op, solve->x)) {
    *reason = "the operator reads the vector of the solution";
  } else {
    return ritz_operator_apply_hooked_prepare(solver->op, solve->x, num_slots, reason);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cg_solve(RitzSolver solver, const RitzSolve *solve) {
  bool is_merged = solver->variant != RITZ_CG_STANDARD;
  int num_slots = 1;

  if (is_merged) RITZ_TRY(find_obstacle(solver, solve, &num_slots, &solver->used_reason));
  RITZ_REQUIRE(!solver->used_reason || solver->variant != RITZ_CG_MERGED, solver->ceed,
               CEED_ERROR_UNSUPPORTED, "RitzSolverSolve: no merged conjugate gradients: %s",
               solver->used_reason);
  is_merged = is_merged && !solver->used_reason;
  solver->used = is_merged ? RITZ_CG_MERGED : RITZ_CG_STANDARD;
  if (!is_merged) return solve_standard(solver, solve);
  CeedVector inverse = ritz_jacobi_inverse(solve->pc, solve->system.ceed, NULL);
  const bool stays_on_device = is_on_device(solve) && solver->reduce_in_memory && solver->parts.apply_energy;
  if (solver->reduce && !stays_on_device) return ritz_cg_solve_in_parts(solver, solve, inverse);
  return is_on_device(solve) ? ritz_cg_solve_on_device(solver, solve, inverse)
                             : ritz_cg_solve_merged(solver, solve, inverse, num_slots);
}
