// SPDX-License-Identifier: BSD-2-Clause
// Newton's method for problems in parts, threads of one process (ritz/newton.h, ritz/exchange.h): the steps
// and the solution of one part, with states that have values at ghosts, boundary values and load steps; a
// part that fails ends all.
#include "tests/exchange-kit.h"
#include "tests/newton-residual-qfunctions.h"

// ---- The problem ----

// - div (1 + u^2) grad u
static int make_residual(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                         CeedOperator *op) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(newton_residual, 2, 1);
  const RitzOperatorOptions options = {.space = space, .policy = RITZ_POLICY_STORED, .elements = elements};
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreatePointOperator(geometry, ceed, &options, &function, NULL, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int boundary_value(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = 1 + sin(2 * x[0]) * cos(x[1]) + x[1];
  return 0;
}

// What a solve has to say beside its solution.
typedef struct {
  CeedInt steps, linear;
  double initial, final, reached;
  RitzNewtonReason reason;
} Outcome;

// Boundary values at a part of their size.
typedef struct {
  CeedVector full, values; // owned
  CeedInt fails_in;        // the part whose function returns an error; -1: none
  CeedInt part;
} Loads;

static int set_load(void *ctx, double load) {
  const Loads *l = ctx;

  if (l->part == l->fails_in) return CEED_ERROR_MAJOR;
  RITZ_TRY(CeedVectorCopy(l->full, l->values));
  return CeedVectorScale(l->values, (CeedScalar)load);
}

static int set_up_loads(Ceed ceed, RitzSpace space, CeedSize n, Loads *l) {
  RITZ_TRY(CeedVectorCreate(ceed, n, &l->full));
  RITZ_TRY(CeedVectorCreate(ceed, n, &l->values));
  return RitzSpaceInterpolate(space, boundary_value, NULL, l->full);
}

// All but residual and linear operator, which differ between parts and one part.
static int run_newton(RitzNewton newton, RitzSolver solver, CeedVector state, Loads *l, CeedVector b,
                      CeedVector u, Outcome *o) {
  RITZ_TRY(RitzSolverSetRestart(solver, 60));
  RITZ_TRY(RitzNewtonSetLinearSolver(newton, solver));
  RITZ_TRY(RitzNewtonSetState(newton, state));
  RITZ_TRY(RitzNewtonSetBoundaryValues(newton, l->values));
  RITZ_TRY(RitzNewtonSetForcing(newton, 1e-3, 1e-3));
  RITZ_TRY(RitzNewtonSetTolerances(newton, solver_rtol(), 0, 20));
  RITZ_TRY(RitzNewtonSolveByLoads(newton, 2, set_load, l, b, u, &o->reached));
  RITZ_TRY(RitzNewtonGetReason(newton, &o->reason));
  RITZ_TRY(RitzNewtonGetIterations(newton, &o->steps, &o->linear));
  return RitzNewtonGetResidual(newton, &o->initial, &o->final);
}

// ---- One part of several ----

typedef struct {
  Case c;
  CeedInt fails_in;
  Outcome outcomes[8]; // of each part
} Problem;

static int make_jacobian(const Case *c, const Part *p, RitzElementChoice elements, CeedVector state,
                         CeedOperator *op) {
  CeedOperator residual = NULL;

  RITZ_TRY(maker_of(c)(p->ceed, p->mesh, p->space, elements, &residual));
  const int ierr =
      residual ? RitzOperatorCreateDerivative(residual, state, op) : CEED_ERROR_SUCCESS; // a part without any

  return ritz_first_error(ierr, CeedOperatorDestroy(&residual));
}

static int make_part_jacobian(const Case *c, const Part *p, CeedVector state, RitzPartOperator *op) {
  CeedOperator inside = NULL, seam = NULL;
  int ierr = make_jacobian(c, p, RITZ_ELEMENTS_INSIDE, state, &inside);

  if (!ierr) ierr = make_jacobian(c, p, RITZ_ELEMENTS_SEAM, state, &seam);
  if (!ierr) ierr = RitzPartOperatorCreate(p->exchange, inside, seam, op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

static int check_ghosts(Case *c, CeedInt part, const Part *p, CeedVector u) {
  const CeedScalar *x = NULL;
  CeedScalar largest = 0;

  RITZ_TRY(CeedVectorGetArrayRead(u, CEED_MEM_HOST, &x));
  for (int64_t i = p->num_owned; i < p->num_nodes; i++) largest = (CeedScalar)tap_larger(largest, fabs(x[i]));
  RITZ_TRY(CeedVectorRestoreArrayRead(u, &x));
  return largest == 0 ? CEED_ERROR_SUCCESS : fail(c, part, "a ghost after the solve", 0, largest, 0);
}

static int solve_part(Problem *q, CeedInt part, const Part *p) {
  Case *c = &q->c;
  Loads loads = {.fails_in = q->fails_in, .part = part};
  CeedVector b = NULL, u = NULL, state = NULL;
  RitzPartOperator residual = NULL, jacobian = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(make_vector(c, p, (CeedScalar)NAN, &b)); // ghosts of b count for nothing
  RITZ_TRY_CLEANUP(CeedVectorScale(b, (CeedScalar)0.01));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->num_nodes, &u));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->num_nodes, &state));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(u, 0));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(state, 0));
  RITZ_TRY_CLEANUP(set_up_loads(p->ceed, p->space, p->num_nodes, &loads));
  RITZ_TRY_CLEANUP(make_part_operator(c, p, &residual));
  RITZ_TRY_CLEANUP(make_part_jacobian(c, p, state, &jacobian));
  RITZ_TRY_CLEANUP(make_constraints(p->ceed, p->space, 1, &constraints));
  RITZ_TRY_CLEANUP(RitzSolverCreate(p->ceed, RITZ_SOLVER_GMRES, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetPartOperator(solver, jacobian, constraints));
  RITZ_TRY_CLEANUP(RitzNewtonCreate(p->ceed, &newton));
  RITZ_TRY_CLEANUP(RitzNewtonSetResidualFunction(newton, RitzPartOperatorApply, residual));
  RITZ_TRY_CLEANUP(run_newton(newton, solver, state, &loads, b, u, &q->outcomes[part]));
  RITZ_TRY_CLEANUP(check_ghosts(c, part, p, u));
  RITZ_TRY_CLEANUP(hand_in(c, p, u));
cleanup:
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&constraints);
  RitzPartOperatorDestroy(&residual);
  RitzPartOperatorDestroy(&jacobian);
  CeedVectorDestroy(&loads.full);
  CeedVectorDestroy(&loads.values);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&state);
  return ierr;
}

static int run_part(void *ctx, const RitzTransport *t) {
  Problem *q = ctx;
  Part p;
  int code = open_part(&q->c, t, &p);

  if (!code) code = solve_part(q, t->part, &p);
  close_part(&q->c, t->part, code, &p);
  return code;
}

// ---- One part ----

static int solve_whole(Ceed ceed, const Whole *w, Outcome *o) {
  Loads loads = {.fails_in = -1};
  CeedVector state = NULL;
  CeedOperator jacobian = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(ceed, w->num, &state));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(state, 0));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(w->y, 0));
  RITZ_TRY_CLEANUP(CeedVectorScale(w->x, (CeedScalar)0.01));
  RITZ_TRY_CLEANUP(set_up_loads(ceed, w->space, w->num, &loads));
  RITZ_TRY_CLEANUP(RitzOperatorCreateDerivative(w->op, state, &jacobian));
  RITZ_TRY_CLEANUP(make_constraints(ceed, w->space, 1, &constraints));
  RITZ_TRY_CLEANUP(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, jacobian));
  RITZ_TRY_CLEANUP(RitzSolverSetConstraintIndices(solver, constraints));
  RITZ_TRY_CLEANUP(RitzNewtonCreate(ceed, &newton));
  RITZ_TRY_CLEANUP(RitzNewtonSetResidual(newton, w->op));
  RITZ_TRY_CLEANUP(run_newton(newton, solver, state, &loads, w->x, w->y, o));
cleanup:
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&constraints);
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&loads.full);
  CeedVectorDestroy(&loads.values);
  CeedVectorDestroy(&state);
  return ierr;
}

// Norms differ by the rounding of sums. In float the last steps are of rounding, how many is not said.
static void check_outcomes(const Problem *q, const Outcome *one) {
  const bool is_float = sizeof(CeedScalar) == 4;
  const int more = one->linear / 20 + 1;

  for (CeedInt p = 0; p < q->c.num_parts; p++) {
    const Outcome *o = &q->outcomes[p], *first = &q->outcomes[0];

    CHECK(o->reason > 0 && o->reached == 1, "part %d of %d: %s", (int)p, (int)q->c.num_parts,
          RitzNewtonReasonName(o->reason));
    CHECK(o->steps == first->steps && o->linear == first->linear && o->final == first->final,
          "part %d takes other steps than the first", (int)p);
    CHECK(is_float || (o->steps == one->steps && abs((int)(o->linear - one->linear)) <= more),
          "%d steps and %d iterations in %d parts, %d and %d in one", (int)o->steps, (int)o->linear,
          (int)q->c.num_parts, (int)one->steps, (int)one->linear);
  }
}

// ---- Tests ----

// Solves stop at rtol of the residual: times the condition of the Jacobian, some hundreds here.
TEST_EACH_BACKEND(newton_takes_the_steps_of_one_part_in_any_number_of_parts) {
  static const CeedInt nums[] = {1, 2, 3, 4, 8};

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("derivatives need a compiler of C++");
  for (int which = 1; which <= 3; which += 2) { // a square, triangles
    Problem q = {.c = {.which = which,
                       .how = CUT_AUTO,
                       .levels = 1,
                       .degree = 2,
                       .num_comp = 1,
                       .overlaps = true,
                       .make = make_residual},
                 .fails_in = -1};
    Whole w = {0};
    Outcome one = {0};

    name_resource(ceed, &q.c);
    CHECK_OK(open_whole(ceed, &q.c, &w));
    CHECK_OK(solve_whole(ceed, &w, &one));
    CHECK(one.reason > 0, "one part: %s", RitzNewtonReasonName(one.reason));
    for (int i = 0; i < 5 && !tap_failed(); i++) {
      if (is_slow(ceed) && i % 2 == 1) continue;
      q.c.num_parts = nums[i];
      run_case(ceed, &q.c, run_part, "Newton");
      if (!tap_failed()) check_outcomes(&q, &one);
      if (!tap_failed()) compare(&q.c, &w, 300 * solver_rtol(), "Newton");
    }
    close_whole(&q.c, &w);
  }
}

// One element a part but the last: parts without inner elements, and without any.
TEST(newton_takes_small_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem q = {.c = {.which = 1,
                     .how = CUT_ONE_ELEMENT,
                     .num_parts = 8,
                     .levels = 0,
                     .degree = 3,
                     .num_comp = 1,
                     .overlaps = true,
                     .make = make_residual},
               .fails_in = -1};
  Whole w = {0};
  Outcome one = {0};

  name_resource(ceed, &q.c);
  CHECK_OK(open_whole(ceed, &q.c, &w));
  CHECK_OK(solve_whole(ceed, &w, &one));
  run_case(ceed, &q.c, run_part, "Newton");
  if (!tap_failed()) check_outcomes(&q, &one);
  if (!tap_failed()) compare(&q.c, &w, 300 * solver_rtol(), "Newton");
  close_whole(&q.c, &w);
  CeedDestroy(&ceed);
}

TEST(a_part_whose_function_fails_ends_all_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Problem q = {.c = {.which = 1,
                     .num_parts = 4,
                     .levels = 1,
                     .degree = 1,
                     .num_comp = 1,
                     .overlaps = true,
                     .make = make_residual},
               .fails_in = 2};
  Whole w = {0};

  name_resource(ceed, &q.c);
  CHECK_OK(open_whole(ceed, &q.c, &w));
  CHECK_ERROR(ceed, RitzRunParts(ceed, q.c.num_parts, run_part, &q), CEED_ERROR_MAJOR, "part 2 has ended");
  for (CeedInt p = 0; p < q.c.num_parts; p++)
    CHECK(q.c.why[p][0], "part %d has ended without an error", (int)p);
  close_whole(&q.c, &w);
  CeedDestroy(&ceed);
}

static int reduce_nothing(void *ctx, RitzReduction kind, CeedInt num, double values[]) {
  (void)ctx, (void)kind, (void)num, (void)values;
  return CEED_ERROR_SUCCESS;
}

static int apply_nothing(void *ctx, CeedVector x, CeedVector y) {
  (void)ctx;
  return CeedVectorCopy(x, y);
}

TEST(a_residual_of_one_part_alone_is_refused_with_a_solver_of_all_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.which = 1, .num_parts = 1, .degree = 1, .num_comp = 1, .make = make_residual};
  Whole w = {0};
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;

  CHECK_OK(open_whole(ceed, &c, &w));
  CHECK_OK(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &solver));
  CHECK_OK(RitzSolverSetApply(solver, apply_nothing, NULL));
  CHECK_OK(RitzSolverSetReduction(solver, reduce_nothing, NULL));
  CHECK_OK(RitzNewtonCreate(ceed, &newton));
  CHECK_OK(RitzNewtonSetResidual(newton, w.op));
  CHECK_OK(RitzNewtonSetLinearSolver(newton, solver));
  CHECK_ERROR(ceed, RitzNewtonSolve(newton, NULL, w.x), CEED_ERROR_INCOMPATIBLE, "RitzPartOperatorApply");
  CHECK_OK(RitzNewtonDestroy(&newton));
  CHECK_OK(RitzSolverDestroy(&solver));
  close_whole(&c, &w);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(newton_takes_the_steps_of_one_part_in_any_number_of_parts, newton_takes_small_parts,
                        a_part_whose_function_fails_ends_all_parts,
                        a_residual_of_one_part_alone_is_refused_with_a_solver_of_all_parts));
}
