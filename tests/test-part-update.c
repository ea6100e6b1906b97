// SPDX-License-Identifier: BSD-2-Clause
// RitzPreconditionerUpdate of multigrid of problems in parts, threads of one process (ritz/exchange.h): what
// creation makes of the new values; values that only one part has bad ones of are an error of all; Newton's
// method with multigrid at every state takes the steps of one part.
#include "core/core.h"
#include "tests/exchange-kit.h"
#include "tests/part-update-qfunctions.h"

enum { MAX_LEVELS = 8 };

// What all parts do, and what comes of it.
typedef struct {
  Case c;
  const char *name;
  RitzPartMultigridOptions options;
  CeedInt bad_part; // whose operators are negative for a while
  CeedInt steps[8], linear[8];
} Setting;

// The operators of a part's levels, linearized around states.
typedef struct {
  const Setting *s;
  Ceed ceed;
  CeedQFunctionContext ctx; // owned
  RitzHierarchy hierarchy;  // owned
  CeedInt num;
  CeedVector states[MAX_LEVELS]; // owned, with values at ghosts
} Levels;

// ---- Operators ----

static int make_context(Ceed ceed, CeedQFunctionContext *ctx) {
  PartUpdateContext data = {.factor = 1};

  RITZ_TRY(CeedQFunctionContextCreate(ceed, ctx));
  return CeedQFunctionContextSetData(*ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
}

static int make_residual_with(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                              CeedQFunctionContext ctx, CeedOperator *op) {
  static const RitzPointFunction functions[] = {RITZ_POINT_FUNCTION_TABLE(part_update_1, 2, 1),
                                                RITZ_POINT_FUNCTION_TABLE(part_update_2, 2, 2)};
  const RitzOperatorOptions options = {.space = space, .policy = RITZ_POLICY_STORED, .elements = elements};
  RitzGeometry geometry = NULL;
  CeedInt num_comp = 1;

  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr =
      RitzGeometryCreatePointOperator(geometry, ceed, &options, &functions[num_comp - 1], ctx, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int make_residual(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                         CeedOperator *op) {
  CeedQFunctionContext ctx = NULL;
  int ierr = make_context(ceed, &ctx);

  if (!ierr) ierr = make_residual_with(ceed, mesh, space, elements, ctx, op);
  return ritz_first_error(ierr, CeedQFunctionContextDestroy(&ctx));
}

static int make_jacobian(const Levels *l, CeedInt level, RitzElementChoice elements, CeedOperator *op) {
  RitzSpace space = NULL;
  RitzMesh mesh = NULL;
  CeedOperator residual = NULL;

  RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, level, &space));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(make_residual_with(l->ceed, mesh, space, elements, l->ctx, &residual));
  const int ierr =
      residual ? RitzOperatorCreateDerivative(residual, l->states[level], op) : CEED_ERROR_SUCCESS;

  return ritz_first_error(ierr, CeedOperatorDestroy(&residual));
}

static int make_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                           CeedOperator *seam) {
  (void)space;
  RITZ_TRY(make_jacobian(ctx, level, RITZ_ELEMENTS_INSIDE, inside));
  return make_jacobian(ctx, level, RITZ_ELEMENTS_SEAM, seam);
}

static int make_whole_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)space;
  return make_jacobian(ctx, level, RITZ_ELEMENTS_ALL, op);
}

static int open_levels(const Setting *s, Ceed ceed, RitzSpace space, Levels *l) {
  *l = (Levels){.s = s, .ceed = ceed};
  RITZ_TRY(make_context(ceed, &l->ctx));
  RITZ_TRY(RitzHierarchyCreate(space, NULL, &l->hierarchy));
  RITZ_TRY(RitzHierarchyGetNumLevels(l->hierarchy, &l->num));
  for (CeedInt i = 0; i < l->num; i++) {
    CeedSize n = 0;
    RitzSpace of_level = NULL;

    RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, i, &of_level));
    RITZ_TRY(RitzSpaceGetSize(of_level, &n));
    RITZ_TRY(CeedVectorCreate(ceed, n, &l->states[i]));
    RITZ_TRY(CeedVectorSetValue(l->states[i], 0));
  }
  return CEED_ERROR_SUCCESS;
}

static void close_levels(Levels *l) {
  for (CeedInt i = 0; i < MAX_LEVELS; i++) CeedVectorDestroy(&l->states[i]);
  RitzHierarchyDestroy(&l->hierarchy);
  CeedQFunctionContextDestroy(&l->ctx);
}

static int make_multigrid(const Setting *s, const RitzTransport *t, Levels *l, RitzPreconditioner *pc) {
  static const RitzFixedPart all = {.part = "all"};

  return RitzPreconditionerCreatePartMultigrid(l->ceed, l->hierarchy, t, make_part_level, l, 1, &all,
                                               &s->options, pc);
}

// ---- Values ----

typedef struct {
  CeedInt num_comp;
  double size;
} State;

static int state_at(void *ctx, const double *x, double *values) {
  const State *s = ctx;

  for (CeedInt k = 0; k < s->num_comp; k++) values[k] = s->size * sin(3 * x[0] + 2 * x[1] + k);
  return 0;
}

static int set_values(const Levels *l, double size, double factor) {
  State state = {.num_comp = l->s->c.num_comp, .size = size};
  PartUpdateContext *data = NULL;

  RITZ_TRY(CeedQFunctionContextGetData(l->ctx, CEED_MEM_HOST, &data));
  data->factor = (CeedScalar)factor;
  RITZ_TRY(CeedQFunctionContextRestoreData(l->ctx, &data));
  for (CeedInt i = 0; i < l->num; i++) {
    RitzSpace space = NULL;

    RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, i, &space));
    RITZ_TRY(RitzSpaceInterpolate(space, state_at, &state, l->states[i]));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Comparisons ----

// Largest entry over all parts of P r - Q r, and of Q r.
static int find_difference(Setting *s, const RitzTransport *t, const Part *p, RitzPreconditioner P,
                           RitzPreconditioner Q, double largest[2]) {
  CeedVector r = NULL, z[2] = {NULL, NULL};
  CeedScalar norms[2] = {0, 0};
  int ierr = make_vector(&s->c, p, 0, &r);

  for (int i = 0; i < 2 && !ierr; i++) {
    ierr = CeedVectorCreate(p->ceed, p->num_nodes * s->c.num_comp, &z[i]);
    if (!ierr) ierr = RitzPreconditionerApply(i ? Q : P, r, z[i]);
  }
  if (!ierr) ierr = CeedVectorNorm(z[1], CEED_NORM_MAX, &norms[1]);
  if (!ierr) ierr = CeedVectorAXPY(z[0], -1, z[1]);
  if (!ierr) ierr = CeedVectorNorm(z[0], CEED_NORM_MAX, &norms[0]);
  for (int i = 0; i < 2; i++) largest[i] = (double)norms[i];
  if (!ierr) ierr = t->reduce(t, RITZ_REDUCTION_MAX, 2, largest);
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z[0]);
  CeedVectorDestroy(&z[1]);
  return ierr;
}

// pc is what creation makes of the values that the operators have. Rounding times the condition of what is
// inverted, below a hundred here; coarse problems that all parts solve together stop at 1e-2, after as many
// iterations.
static int require_fresh(Setting *s, const RitzTransport *t, const Part *p, Levels *l,
                         RitzPreconditioner pc) {
  const double eps = s->options.use_precision ? 0x1p-23 : CEED_EPSILON;
  RitzPreconditioner fresh = NULL;
  double largest[2] = {0, 0};
  int ierr = make_multigrid(s, t, l, &fresh);

  if (!ierr) ierr = find_difference(s, t, p, pc, fresh, largest);
  if (!ierr && !(largest[0] <= 1e4 * eps * largest[1] && largest[1] > 0))
    ierr = fail(&s->c, t->part, "updated beside a new one", 0, largest[0], largest[1]);
  return ritz_first_error(ierr, RitzPreconditionerDestroy(&fresh));
}

// ---- Updates ----

static int require_code(Setting *s, const RitzTransport *t, const char *what, int found, int wanted) {
  return found == wanted ? CEED_ERROR_SUCCESS : fail(&s->c, t->part, what, 0, found, wanted);
}

// Other values make another preconditioner; an update follows them, there and back.
static int follow_values(Setting *s, const RitzTransport *t, const Part *p, Levels *l) {
  RitzPreconditioner pc = NULL, old = NULL;
  double largest[2] = {0, 0};
  int ierr;

  RITZ_TRY_CLEANUP(set_values(l, 0.2, 1));
  RITZ_TRY_CLEANUP(make_multigrid(s, t, l, &pc));
  RITZ_TRY_CLEANUP(make_multigrid(s, t, l, &old));
  for (int i = 0; i < 2; i++) {
    RITZ_TRY_CLEANUP(set_values(l, i ? 0.2 : 1.5, i ? 1 : 3));
    RITZ_TRY_CLEANUP(RitzPreconditionerUpdate(pc));
    RITZ_TRY_CLEANUP(require_fresh(s, t, p, l, pc));
    if (i) continue;
    RITZ_TRY_CLEANUP(find_difference(s, t, p, pc, old, largest));
    if (largest[0] < 0.1 * largest[1])
      RITZ_TRY_CLEANUP(fail(&s->c, t->part, "change", 0, largest[0], largest[1]));
  }
cleanup:
  RitzPreconditionerDestroy(&old);
  RitzPreconditionerDestroy(&pc);
  return ierr;
}

static int run_updates(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Levels levels = {0};
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = open_levels(s, p.ceed, p.space, &levels);
  if (!code) code = follow_values(s, t, &p, &levels);
  close_levels(&levels);
  close_part(&s->c, t->part, code, &p);
  return code;
}

// One part has negative operators for a while: all refuse, and so do applications, until better ones come.
static int fail_and_heal(Setting *s, const RitzTransport *t, const Part *p, Levels *l) {
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL, z = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_vector(&s->c, p, 0, &r));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->num_nodes * s->c.num_comp, &z));
  RITZ_TRY_CLEANUP(set_values(l, 0.2, 1));
  RITZ_TRY_CLEANUP(make_multigrid(s, t, l, &pc));
  RITZ_TRY_CLEANUP(set_values(l, 0.2, t->part == s->bad_part ? -1 : 1));
  RITZ_TRY_CLEANUP(require_code(s, t, "update", RitzPreconditionerUpdate(pc), CEED_ERROR_MAJOR));
  RITZ_TRY_CLEANUP(require_code(s, t, "apply", RitzPreconditionerApply(pc, r, z), CEED_ERROR_MAJOR));
  RITZ_TRY_CLEANUP(set_values(l, 1.5, 1));
  RITZ_TRY_CLEANUP(RitzPreconditionerUpdate(pc));
  ierr = require_fresh(s, t, p, l, pc);
cleanup:
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&z);
  RitzPreconditionerDestroy(&pc);
  return ierr;
}

static int run_failure(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Levels levels = {0};
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = open_levels(s, p.ceed, p.space, &levels);
  if (!code) code = fail_and_heal(s, t, &p, &levels);
  close_levels(&levels);
  close_part(&s->c, t->part, code, &p);
  return code;
}

// Empty parts refuse, too.
static int run_refusal(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Levels levels = {0};
  RitzPreconditioner pc = NULL;
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = open_levels(s, p.ceed, p.space, &levels);
  if (!code) code = make_multigrid(s, t, &levels, &pc);
  if (!code)
    code = require_code(s, t, "update", RitzPreconditionerUpdate(pc),
                        sizeof(CeedScalar) == 8 ? CEED_ERROR_UNSUPPORTED : CEED_ERROR_SUCCESS);
  RitzPreconditionerDestroy(&pc);
  close_levels(&levels);
  close_part(&s->c, t->part, code, &p);
  return code;
}

#define FLOATS .use_precision = true, .precision = CEED_SCALAR_FP32, .for_updates = true
static const struct {
  const char *name;
  int which;
  CeedInt num_comp;
  RitzPartMultigridOptions options;
} kinds[] = {
    {"Jacobi", 1, 1, {.smoother = RITZ_SMOOTHER_JACOBI}},
    {"Jacobi, multifrontal",
     3,
     1,
     {.smoother = RITZ_SMOOTHER_JACOBI, .for_updates = true, .coarse = {.kind = RITZ_DIRECT_MULTIFRONTAL}}},
    {"Jacobi, L D L^T", 1, 1, {.smoother = RITZ_SMOOTHER_JACOBI, .coarse = {.kind = RITZ_DIRECT_LDLT}}},
    {"Jacobi, coarse problem together", 1, 1, {.smoother = RITZ_SMOOTHER_JACOBI, .max_gathered = -1}},
    {"point blocks", 3, 2, {.smoother = RITZ_SMOOTHER_POINT_BLOCKS}},
    {"elements", 1, 2, {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ}},
    {"measured, bounds kept", 1, 1, {.smoother = RITZ_SMOOTHER_MEASURED, .chebyshev = {.largest = 2}}},
    {"Jacobi in float", 1, 1, {.smoother = RITZ_SMOOTHER_JACOBI, FLOATS}},
    {"point blocks in float", 3, 2, {.smoother = RITZ_SMOOTHER_POINT_BLOCKS, FLOATS}},
    {"elements in float", 1, 2, {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ, FLOATS}},
};
enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static Setting setting_of(Ceed ceed, int kind, CeedInt num_parts) {
  Setting s = {.c = {.which = kinds[kind].which,
                     .num_parts = num_parts,
                     .levels = 1,
                     .degree = 2,
                     .num_comp = kinds[kind].num_comp,
                     .overlaps = true,
                     .make = make_residual},
               .name = kinds[kind].name,
               .options = kinds[kind].options,
               .bad_part = num_parts - 1};

  name_resource(ceed, &s.c);
  return s;
}

// ---- Tests ----

TEST_EACH_BACKEND(updated_multigrid_of_parts_is_a_new_one) {
  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("derivatives need a compiler of C++");
  for (int k = 0; k < NUM_KINDS && !tap_failed(); k++) {
    Setting s = setting_of(ceed, k, is_slow(ceed) ? 2 : k % 3 == 0 ? 1 : k % 3 == 1 ? 3 : 8);

    if (!is_slow(ceed) || k % 3 == 0) run_case(ceed, &s.c, run_updates, s.name);
  }
}

TEST(bad_values_of_one_part_are_an_error_of_all_until_good_ones_come) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < NUM_KINDS && !tap_failed(); k++) {
    Setting s = setting_of(ceed, k, 3);

    s.options.chebyshev.largest = 0;
    if (kinds[k].options.coarse.kind != RITZ_DIRECT_LDLT) run_case(ceed, &s.c, run_failure, s.name);
    s.options.max_gathered = -1; // a level above refuses
    if (!tap_failed()) run_case(ceed, &s.c, run_failure, s.name);
  }
  CeedDestroy(&ceed);
}

TEST(all_parts_refuse_updates_of_copies_whose_originals_are_gone) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = setting_of(ceed, 7, 8);

  s.c.levels = 0; // parts without elements
  s.options.for_updates = false;
  run_case(ceed, &s.c, run_refusal, "refusal");
  CeedDestroy(&ceed);
}

// ---- Newton's method with multigrid ----

// States of all levels from the finest, and what depends on them. Ghosts of a level have the values of their
// owners where those of the finest level have: nodes lie in elements of the part.
typedef struct {
  Levels *levels;
  CeedOperator interpolations[MAX_LEVELS]; // owned, from level i + 1 to i; NULL: the part is empty
  RitzPreconditioner pc;                   // owned; made by the first call
  RitzSolver solver;                       // borrowed
  const RitzTransport *transport;          // NULL: one part
} Steps;

static int make_preconditioner(Steps *s) {
  static const RitzFixedPart all = {.part = "all"};
  const RitzMultigridOptions options = {.smoother = s->levels->s->options.smoother};

  RITZ_TRY(s->transport ? make_multigrid(s->levels->s, s->transport, s->levels, &s->pc)
                        : RitzPreconditionerCreateMultigridOfHierarchy(s->levels->ceed, s->levels->hierarchy,
                                                                       make_whole_level, NULL, s->levels, 1,
                                                                       &all, &options, &s->pc));
  return RitzSolverSetPreconditioner(s->solver, s->pc);
}

static int update(void *ctx, CeedVector u) {
  Steps *s = ctx;
  const Levels *l = s->levels;

  (void)u;
  for (CeedInt i = l->num - 2; i >= 0; i--) {
    if (s->interpolations[i])
      RITZ_TRY(
          CeedOperatorApply(s->interpolations[i], l->states[i + 1], l->states[i], CEED_REQUEST_IMMEDIATE));
  }
  return s->pc ? RitzPreconditionerUpdate(s->pc) : make_preconditioner(s);
}

static int open_steps(Levels *l, RitzSolver solver, const RitzTransport *transport, Steps *s) {
  *s = (Steps){.levels = l, .solver = solver, .transport = transport};
  for (CeedInt i = 0; i + 1 < l->num; i++) {
    RitzSpace coarse = NULL, fine = NULL;
    CeedSize n = 0;

    RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, i, &coarse));
    RITZ_TRY(RitzHierarchyGetSpace(l->hierarchy, i + 1, &fine));
    RITZ_TRY(RitzSpaceGetSize(fine, &n));
    if (n > 0)
      RITZ_TRY(RitzSpaceCreateInterpolation(coarse, fine, l->ceed, CEED_SCALAR_TYPE, &s->interpolations[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static void close_steps(Steps *s) {
  for (int i = 0; i < MAX_LEVELS; i++) CeedOperatorDestroy(&s->interpolations[i]);
  RitzPreconditionerDestroy(&s->pc);
}

static int run_newton(RitzNewton newton, Steps *s, CeedVector values, CeedVector b, CeedVector u,
                      CeedInt *steps, CeedInt *linear) {
  RitzNewtonReason reason = RITZ_NEWTON_ITERATING;

  RITZ_TRY(RitzNewtonSetLinearSolver(newton, s->solver));
  RITZ_TRY(RitzNewtonSetState(newton, s->levels->states[s->levels->num - 1]));
  RITZ_TRY(RitzNewtonSetUpdate(newton, update, s));
  RITZ_TRY(RitzNewtonSetBoundaryValues(newton, values));
  RITZ_TRY(RitzNewtonSetForcing(newton, 1e-3, 1e-3));
  RITZ_TRY(RitzNewtonSetTolerances(newton, solver_rtol(), 0, 20));
  RITZ_TRY(RitzNewtonSolve(newton, b, u));
  RITZ_TRY(RitzNewtonGetReason(newton, &reason));
  RITZ_TRY(RitzNewtonGetIterations(newton, steps, linear));
  return reason > 0 ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

static int make_part_jacobian(Levels *l, const Part *p, RitzPartOperator *op) {
  CeedOperator inside = NULL, seam = NULL;
  int ierr = make_part_level(l, l->num - 1, p->space, &inside, &seam);

  if (!ierr) ierr = RitzPartOperatorCreate(p->exchange, inside, seam, op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

static int solve_part(Setting *s, const RitzTransport *t, const Part *p, Levels *l) {
  State boundary = {.num_comp = s->c.num_comp, .size = 1};
  Steps steps = {0};
  CeedVector b = NULL, u = NULL, values = NULL;
  RitzPartOperator residual = NULL, jacobian = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_vector(&s->c, p, 0, &b));
  RITZ_TRY_CLEANUP(CeedVectorScale(b, (CeedScalar)0.01));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->num_nodes * s->c.num_comp, &u));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(u, 0));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->num_nodes * s->c.num_comp, &values));
  RITZ_TRY_CLEANUP(RitzSpaceInterpolate(p->space, state_at, &boundary, values));
  RITZ_TRY_CLEANUP(make_part_operator(&s->c, p, &residual));
  RITZ_TRY_CLEANUP(make_part_jacobian(l, p, &jacobian));
  RITZ_TRY_CLEANUP(make_constraints(p->ceed, p->space, s->c.num_comp, &constraints));
  RITZ_TRY_CLEANUP(RitzSolverCreateCG(p->ceed, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetPartOperator(solver, jacobian, constraints));
  RITZ_TRY_CLEANUP(open_steps(l, solver, t, &steps));
  RITZ_TRY_CLEANUP(RitzNewtonCreate(p->ceed, &newton));
  RITZ_TRY_CLEANUP(RitzNewtonSetResidualFunction(newton, RitzPartOperatorApply, residual));
  RITZ_TRY_CLEANUP(run_newton(newton, &steps, values, b, u, &s->steps[t->part], &s->linear[t->part]));
  ierr = hand_in(&s->c, p, u);
cleanup:
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  close_steps(&steps);
  RitzIndicesDestroy(&constraints);
  RitzPartOperatorDestroy(&residual);
  RitzPartOperatorDestroy(&jacobian);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&values);
  return ierr;
}

static int run_solve(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Levels levels = {0};
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = open_levels(s, p.ceed, p.space, &levels);
  if (!code) code = solve_part(s, t, &p, &levels);
  close_levels(&levels);
  close_part(&s->c, t->part, code, &p);
  return code;
}

static int solve_whole(Ceed ceed, Setting *s, const Whole *w, Levels *l, CeedInt *num_steps,
                       CeedInt *linear) {
  State boundary = {.num_comp = s->c.num_comp, .size = 1};
  Steps steps = {0};
  CeedVector values = NULL;
  CeedOperator jacobian = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorScale(w->x, (CeedScalar)0.01));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(w->y, 0));
  RITZ_TRY_CLEANUP(CeedVectorCreate(ceed, w->num, &values));
  RITZ_TRY_CLEANUP(RitzSpaceInterpolate(w->space, state_at, &boundary, values));
  RITZ_TRY_CLEANUP(make_whole_level(l, l->num - 1, w->space, &jacobian));
  RITZ_TRY_CLEANUP(make_constraints(ceed, w->space, s->c.num_comp, &constraints));
  RITZ_TRY_CLEANUP(RitzSolverCreateCG(ceed, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, jacobian));
  RITZ_TRY_CLEANUP(RitzSolverSetConstraintIndices(solver, constraints));
  RITZ_TRY_CLEANUP(open_steps(l, solver, NULL, &steps));
  RITZ_TRY_CLEANUP(RitzNewtonCreate(ceed, &newton));
  RITZ_TRY_CLEANUP(RitzNewtonSetResidual(newton, w->op));
  ierr = run_newton(newton, &steps, values, w->x, w->y, num_steps, linear);
cleanup:
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  close_steps(&steps);
  RitzIndicesDestroy(&constraints);
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&values);
  return ierr;
}

// Estimates of eigenvalues begin with other random vectors, so that iterations differ by some. Solutions:
// rtol times the condition of the Jacobian, some hundreds.
TEST_EACH_BACKEND(newton_with_multigrid_at_every_state_takes_the_steps_of_one_part) {
  static const CeedInt nums[] = {1, 2, 4, 8};
  const int more = sizeof(CeedScalar) == 4 ? 2 : 0;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("derivatives need a compiler of C++");
  for (int k = 0; k <= 4; k += 4) { // Jacobi, point blocks
    Setting s = setting_of(ceed, k, 1);
    Levels levels = {0};
    Whole w = {0};
    CeedInt steps = 0, linear = 0;

    CHECK_OK(open_whole(ceed, &s.c, &w));
    CHECK_OK(open_levels(&s, ceed, w.space, &levels));
    CHECK_OK(solve_whole(ceed, &s, &w, &levels, &steps, &linear));
    for (int i = 0; i < 4 && !tap_failed(); i++) {
      if (is_slow(ceed) && i != 1) continue;
      s.c.num_parts = nums[i];
      run_case(ceed, &s.c, run_solve, s.name);
      for (CeedInt p = 0; p < nums[i] && !tap_failed(); p++)
        CHECK(s.steps[p] == s.steps[0] && abs((int)(s.steps[p] - steps)) <= more &&
                  s.linear[p] == s.linear[0] && abs((int)(s.linear[p] - linear)) <= (1 + 2 * more) * steps,
              "%s: %d steps and %d iterations in %d parts, %d and %d in one", s.name, (int)s.steps[p],
              (int)s.linear[p], (int)nums[i], (int)steps, (int)linear);
      if (!tap_failed()) compare(&s.c, &w, 300 * solver_rtol(), s.name);
    }
    close_levels(&levels);
    close_whole(&s.c, &w);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(updated_multigrid_of_parts_is_a_new_one,
                        bad_values_of_one_part_are_an_error_of_all_until_good_ones_come,
                        all_parts_refuse_updates_of_copies_whose_originals_are_gone,
                        newton_with_multigrid_at_every_state_takes_the_steps_of_one_part));
}
