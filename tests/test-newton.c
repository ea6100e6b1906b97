// SPDX-License-Identifier: BSD-2-Clause
// Newton's method (ritz/newton.h): a nonlinear diffusion is solved with a quadratic end, boundary values by
// the steps; a fold is found by load steps; the line search, rounding, refusals.
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/newton-qfunctions.h"
#include "tests/reference.h"
#include "tests/tap.h"

// ---- Nonlinear diffusion ----

typedef struct {
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  RitzIndices constraints;
  CeedOperator residual, jacobian;
  CeedVector state, wanted, b, u;
  RitzSolver solver;
  RitzNewton newton;
} Diffusion;

// Curved by nothing, but not affine.
static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  (void)dim;
  x[0] = X[0] + 0.2 * X[0] * X[1];
  x[1] = X[1] - 0.1 * X[0];
  return 0;
}

static int smooth(void *ctx, const double *x, double *values) {
  (void)ctx;
  values[0] = 1 + sin(2 * x[0]) * cos(x[1]) + x[1];
  return 0;
}

static int create_jacobian(Ceed ceed, Diffusion *p) {
  static const struct {
    const char *name;
    CeedEvalMode mode;
    int size;
  } fields[] = {{"u", CEED_EVAL_INTERP, 1}, {"gu", CEED_EVAL_GRAD, 2}, {"du", CEED_EVAL_INTERP, 1},
                {"gdu", CEED_EVAL_GRAD, 2}, {"dx", CEED_EVAL_GRAD, 4}, {"w", CEED_EVAL_WEIGHT, 1}};
  CeedElemRestriction rstr = NULL, rstr_x = NULL;
  CeedBasis basis = NULL, basis_x = NULL;
  CeedQFunction qf = NULL;
  CeedVector x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzSpaceCreateRestriction(p->space, ceed, &rstr));
  RITZ_TRY_CLEANUP(RitzSpaceCreateBlockBasis(p->space, 0, ceed, 9, &basis));
  RITZ_TRY_CLEANUP(RitzMeshCreateCoordinates(p->mesh, ceed, &rstr_x, &x));
  RITZ_TRY_CLEANUP(RitzMeshCreateBlockBasis(p->mesh, 0, ceed, 9, &basis_x));
  RITZ_TRY_CLEANUP(CeedQFunctionCreateInterior(ceed, 1, newton_derivative, newton_derivative_loc, &qf));
  for (int i = 0; i < 6; i++)
    RITZ_TRY_CLEANUP(CeedQFunctionAddInput(qf, fields[i].name, fields[i].size, fields[i].mode));
  RITZ_TRY_CLEANUP(CeedQFunctionAddOutput(qf, "gv", 2, CEED_EVAL_GRAD));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &p->jacobian));
  for (int i = 0; i < 4; i++)
    RITZ_TRY_CLEANUP(CeedOperatorSetField(p->jacobian, fields[i].name, rstr, basis,
                                          i < 2 ? p->state : CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(p->jacobian, "dx", rstr_x, basis_x, x));
  RITZ_TRY_CLEANUP(
      CeedOperatorSetField(p->jacobian, "w", CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(p->jacobian, "gv", rstr, basis, CEED_VECTOR_ACTIVE));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_x);
  CeedBasisDestroy(&basis);
  CeedBasisDestroy(&basis_x);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&x);
  return ierr;
}

static int create_diffusion(Ceed ceed, Diffusion *p) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(newton_residual, 2, 1);
  int64_t num = 0, *nodes = NULL;
  CeedSize size = 0;

  *p = (Diffusion){.mesh = NULL};
  RITZ_TRY(RitzMeshCreateBox(ceed, 2, (CeedInt[]){4, 3}, NULL, NULL, 1, bend, NULL, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, 2, 1, &p->space));
  RITZ_TRY(RitzSpaceGetSize(p->space, &size));
  RITZ_TRY(RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes));
  RITZ_TRY(RitzIndicesCreate(ceed, num, nodes, &p->constraints));
  free(nodes);
  const RitzOperatorOptions options = {.space = p->space, .num_points = 5};
  RITZ_TRY(RitzGeometryCreatePointOperator(p->geometry, ceed, &options, &function, NULL, &p->residual));
  CeedVector *const vectors[] = {&p->state, &p->wanted, &p->b, &p->u};
  for (int i = 0; i < 4; i++) {
    RITZ_TRY(CeedVectorCreate(ceed, size, vectors[i]));
    RITZ_TRY(CeedVectorSetValue(*vectors[i], 0));
  }
  RITZ_TRY(create_jacobian(ceed, p));
  RITZ_TRY(RitzSpaceInterpolate(p->space, smooth, NULL, p->wanted));
  RITZ_TRY(CeedOperatorApply(p->residual, p->wanted, p->b, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &p->solver));
  RITZ_TRY(RitzSolverSetOperator(p->solver, p->jacobian));
  RITZ_TRY(RitzSolverSetRestart(p->solver, 100));
  RITZ_TRY(RitzSolverSetConstraintIndices(p->solver, p->constraints));
  RITZ_TRY(RitzNewtonCreate(ceed, &p->newton));
  RITZ_TRY(RitzNewtonSetResidual(p->newton, p->residual));
  RITZ_TRY(RitzNewtonSetLinearSolver(p->newton, p->solver));
  return RitzNewtonSetState(p->newton, p->state);
}

static void destroy_diffusion(Diffusion *p) {
  RitzNewtonDestroy(&p->newton);
  RitzSolverDestroy(&p->solver);
  CeedVectorDestroy(&p->state);
  CeedVectorDestroy(&p->wanted);
  CeedVectorDestroy(&p->b);
  CeedVectorDestroy(&p->u);
  CeedOperatorDestroy(&p->residual);
  CeedOperatorDestroy(&p->jacobian);
  RitzIndicesDestroy(&p->constraints);
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

typedef struct {
  int num;
  double residuals[40];
} History;

static int note(void *ctx, CeedInt iteration, double residual, bool *stop) {
  History *h = ctx;

  (void)stop;
  if (iteration == h->num && h->num < 40) h->residuals[h->num++] = residual;
  return 0;
}

static double distance(CeedVector a, CeedVector b) {
  CeedSize n = 0;

  CeedVectorGetLength(a, &n);
  double *x = reference_new(n), *y = reference_new(n);
  reference_values(a, x);
  reference_values(b, y);
  const double result = reference_distance(n, x, y);
  free(x);
  free(y);
  return result;
}

// The discrete solution is known: b = F(wanted). From zero, with boundary values by the steps.
TEST_EACH_BACKEND(nonlinear_diffusion_ends_quadratically_at_its_solution) {
  Diffusion p;
  History h = {.num = 0};
  RitzNewtonReason reason;

  CHECK_OK(create_diffusion(ceed, &p));
  CHECK_OK(RitzNewtonSetBoundaryValues(p.newton, p.wanted));
  CHECK_OK(RitzNewtonSetForcing(p.newton, 100 * CEED_EPSILON, 100 * CEED_EPSILON));
  CHECK_OK(RitzNewtonSetTolerances(p.newton, 1000 * CEED_EPSILON, 0, 20));
  CHECK_OK(RitzNewtonSetMonitor(p.newton, note, &h));
  CHECK_OK(RitzNewtonSolve(p.newton, p.b, p.u));
  CHECK_OK(RitzNewtonGetReason(p.newton, &reason));
  CHECK(reason > 0, "%s after %d steps, residual %g", RitzNewtonReasonName(reason), h.num - 1,
        h.residuals[h.num - 1]);
  CHECK(distance(p.u, p.wanted) <= 1e4 * CEED_EPSILON, "off by %g", distance(p.u, p.wanted));
  // Steps whose residual is above rounding: the exponent of the last.
  int k = h.num - 1;
  while (k > 2 && h.residuals[k] < 1e4 * CEED_EPSILON) k--;
  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP64) {
    const double order =
        log(h.residuals[k] / h.residuals[k - 1]) / log(h.residuals[k - 1] / h.residuals[k - 2]);
    CHECK(order > 1.6, "order %g: residuals %g, %g, %g", order, h.residuals[k - 2], h.residuals[k - 1],
          h.residuals[k]);
  }
  destroy_diffusion(&p);
}

TEST_EACH_BACKEND(accuracy_of_linear_solves_by_what_they_are_worth_takes_fewer_iterations) {
  CeedInt linear[2] = {0, 0};

  for (int is_exact = 0; is_exact < 2; is_exact++) {
    Diffusion p;
    RitzNewtonReason reason;

    CHECK_OK(create_diffusion(ceed, &p));
    CHECK_OK(RitzNewtonSetBoundaryValues(p.newton, p.wanted));
    if (is_exact) CHECK_OK(RitzNewtonSetForcing(p.newton, 1e-5, 1e-5));
    CHECK_OK(RitzNewtonSetTolerances(p.newton, 1e-4, 0, 20));
    CHECK_OK(RitzNewtonSolve(p.newton, p.b, p.u));
    CHECK_OK(RitzNewtonGetReason(p.newton, &reason));
    // RTOL, or ATOL where the last step in single precision meets the solution bit for bit.
    CHECK(reason > 0, "%s", RitzNewtonReasonName(reason));
    CHECK_OK(RitzNewtonGetIterations(p.newton, NULL, &linear[is_exact]));
    destroy_diffusion(&p);
  }
  CHECK(linear[0] < linear[1], "%d iterations, %d with exact solves", (int)linear[0], (int)linear[1]);
}

// ---- Functions of the program ----

// F_i(u) and its derivative on entries 0 .. n - 1.
typedef struct {
  CeedSize n;
  double lambda;
  double *state; // owned
  bool is_bratu; // - u'' - lambda exp(u) by differences; else atan(u)
} Small;

static int small_residual(void *ctx, CeedVector x, CeedVector y) {
  const Small *s = ctx;
  const double h = 1.0 / (double)(s->n + 1);
  const CeedScalar *u;
  CeedScalar *r;

  RITZ_TRY(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &u));
  RITZ_TRY(CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &r));
  for (CeedSize i = 0; i < s->n; i++) {
    const double left = i > 0 ? u[i - 1] : 0, right = i + 1 < s->n ? u[i + 1] : 0;
    r[i] =
        (CeedScalar)(s->is_bratu ? (2 * u[i] - left - right) / (h * h) - s->lambda * exp(u[i]) : atan(u[i]));
  }
  RITZ_TRY(CeedVectorRestoreArray(y, &r));
  return CeedVectorRestoreArrayRead(x, &u);
}

static int small_derivative(void *ctx, CeedVector x, CeedVector y) {
  const Small *s = ctx;
  const double h = 1.0 / (double)(s->n + 1);
  const CeedScalar *u;
  CeedScalar *r;

  RITZ_TRY(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &u));
  RITZ_TRY(CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &r));
  for (CeedSize i = 0; i < s->n; i++) {
    const double left = i > 0 ? u[i - 1] : 0, right = i + 1 < s->n ? u[i + 1] : 0, at = s->state[i];
    r[i] = (CeedScalar)(s->is_bratu ? (2 * u[i] - left - right) / (h * h) - s->lambda * exp(at) * u[i]
                                    : u[i] / (1 + at * at));
  }
  RITZ_TRY(CeedVectorRestoreArray(y, &r));
  return CeedVectorRestoreArrayRead(x, &u);
}

static int keep_state(void *ctx, CeedVector u) {
  Small *s = ctx;

  reference_values(u, s->state);
  return 0;
}

static int set_lambda(void *ctx, double load) {
  ((Small *)ctx)->lambda = 7 * load;
  return 0;
}

static int create_small(Ceed ceed, Small *s, RitzSolverType type, RitzSolver *solver, RitzNewton *newton,
                        CeedVector *u) {
  s->state = reference_new(s->n);
  RITZ_TRY(CeedVectorCreate(ceed, s->n, u));
  RITZ_TRY(RitzSolverCreate(ceed, type, solver));
  RITZ_TRY(RitzSolverSetApply(*solver, small_derivative, s));
  RITZ_TRY(RitzNewtonCreate(ceed, newton));
  RITZ_TRY(RitzNewtonSetResidualFunction(*newton, small_residual, s));
  RITZ_TRY(RitzNewtonSetLinearSolver(*newton, *solver));
  return RitzNewtonSetUpdate(*newton, keep_state, s);
}

// Bratu's problem has solutions up to lambda = 3.5138; beyond, none.
TEST(load_steps_stop_at_the_fold_with_the_last_solution) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Small s = {.n = 31, .is_bratu = true};
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  CeedVector u = NULL, r = NULL;
  double reached = 0, norm = 0;

  CHECK_OK(create_small(ceed, &s, RITZ_SOLVER_MINRES, &solver, &newton, &u));
  CHECK_OK(CeedVectorSetValue(u, 0));
  CHECK_OK(RitzNewtonSetTolerances(newton, 1e3 * CEED_EPSILON, 0, 12));
  CHECK_OK(RitzNewtonSolveByLoads(newton, 4, set_lambda, &s, NULL, u, &reached));
  CHECK(7 * reached > 3.4 && 7 * reached < 3.53, "reached %g", 7 * reached);
  CHECK_OK(CeedVectorCreate(ceed, s.n, &r));
  CHECK_OK(small_residual(&s, u, r));
  CHECK_OK(RitzVectorDot(r, r, &norm));
  CHECK(sqrt(norm) <= 1e5 * CEED_EPSILON, "u is no solution: residual %g", sqrt(norm));
  CeedVectorDestroy(&r);
  CeedVectorDestroy(&u);
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  free(s.state);
  CeedDestroy(&ceed);
}

// Without a line search Newton's method diverges from 3.
TEST(the_line_search_finds_the_zero_of_the_arcus_tangent) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Small s = {.n = 3};
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  RitzNewtonReason reason;
  CeedVector u = NULL;
  double final = 1;

  CHECK_OK(create_small(ceed, &s, RITZ_SOLVER_CG, &solver, &newton, &u));
  CHECK_OK(CeedVectorSetValue(u, 3));
  CHECK_OK(RitzNewtonSetTolerances(newton, 1e-5, 0, 50));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK_OK(RitzNewtonGetResidual(newton, NULL, &final));
  CHECK(reason == RITZ_NEWTON_CONVERGED_RTOL && final <= 1e-5 * sqrt(3) * atan(3), "%s: %g",
        RitzNewtonReasonName(reason), final);
  CHECK_OK(CeedVectorSetValue(u, (CeedScalar)NAN));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK(reason == RITZ_NEWTON_DIVERGED_NAN, "%s", RitzNewtonReasonName(reason));
  CHECK_OK(CeedVectorSetValue(u, 3));
  CHECK_OK(RitzNewtonSetTolerances(newton, 1e-5, 0, 1));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK(reason == RITZ_NEWTON_DIVERGED_MAX_IT, "%s", RitzNewtonReasonName(reason));
  CeedVectorDestroy(&u);
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  free(s.state);
  CeedDestroy(&ceed);
}

static int stop_at_once(void *ctx, CeedInt iteration, double residual, bool *stop) {
  (void)ctx;
  (void)residual;
  *stop = iteration == 1;
  return 0;
}

// Rounding where no tolerance is given; beyond the fold conjugate gradients find the Jacobian indefinite.
TEST(every_other_end_of_a_solve_has_its_reason) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Small s = {.n = 31, .lambda = 3, .is_bratu = true};
  RitzSolver solver = NULL;
  RitzNewton newton = NULL;
  RitzNewtonReason reason;
  CeedVector u = NULL;

  CHECK_OK(create_small(ceed, &s, RITZ_SOLVER_CG, &solver, &newton, &u));
  CHECK_OK(CeedVectorSetValue(u, 0));
  CHECK_OK(RitzNewtonSetTolerances(newton, 0, 0, 200));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK(reason == RITZ_NEWTON_CONVERGED_ROUNDING, "%s", RitzNewtonReasonName(reason));
  CHECK_OK(RitzNewtonSetMonitor(newton, stop_at_once, NULL));
  CHECK_OK(CeedVectorSetValue(u, 0));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK(reason == RITZ_NEWTON_DIVERGED_MONITOR, "%s", RitzNewtonReasonName(reason));
  CHECK_OK(RitzNewtonSetMonitor(newton, NULL, NULL));
  s.lambda = 60;
  CHECK_OK(CeedVectorSetValue(u, 0));
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  CHECK_OK(RitzNewtonGetReason(newton, &reason));
  CHECK(reason == RITZ_NEWTON_DIVERGED_LINEAR, "%s", RitzNewtonReasonName(reason));
  CeedVectorDestroy(&u);
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  free(s.state);
  CeedDestroy(&ceed);
}

TEST(solves_without_residual_solver_or_with_other_lengths_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Small s = {.n = 3};
  RitzSolver solver = NULL;
  RitzNewton newton = NULL, empty = NULL;
  CeedVector u = NULL, other = NULL;

  CHECK_OK(create_small(ceed, &s, RITZ_SOLVER_CG, &solver, &newton, &u));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedVectorCreate(ceed, 4, &other));
  CHECK_OK(RitzNewtonCreate(ceed, &empty));
  CHECK_ERROR(ceed, RitzNewtonSolve(empty, NULL, u), CEED_ERROR_INCOMPLETE, "no residual");
  CHECK_OK(RitzNewtonSetResidualFunction(empty, small_residual, &s));
  CHECK_ERROR(ceed, RitzNewtonSolve(empty, NULL, u), CEED_ERROR_INCOMPLETE, "no linear solver");
  CHECK_ERROR(ceed, RitzNewtonSolve(newton, other, u), CEED_ERROR_DIMENSION,
              "b has 4 entries, the unknown 3");
  CHECK_OK(RitzNewtonSetState(newton, other));
  CHECK_ERROR(ceed, RitzNewtonSolve(newton, NULL, u), CEED_ERROR_DIMENSION, "the state has 4 entries");
  CHECK_OK(RitzNewtonSetState(newton, NULL));
  CHECK_ERROR(ceed, RitzNewtonSetTolerances(newton, -1, 0, 3), CEED_ERROR_INCOMPATIBLE, "-1");
  CHECK_ERROR(ceed, RitzNewtonSetForcing(newton, 0.1, 1), CEED_ERROR_INCOMPATIBLE, "between 0 and 1");
  CHECK_ERROR(ceed, RitzNewtonSetResidualFunction(newton, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "is NULL");
  CHECK_ERROR(ceed, RitzNewtonSolveByLoads(newton, 0, set_lambda, &s, NULL, u, NULL), CEED_ERROR_DIMENSION,
              "0 load steps");
  CHECK_ERROR(ceed, RitzNewtonSolveByLoads(newton, 1, NULL, &s, NULL, u, NULL), CEED_ERROR_INCOMPATIBLE,
              "set_load");
  CHECK_OK(RitzNewtonSolve(newton, NULL, u));
  RitzNewtonDestroy(&empty);
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&other);
  CeedVectorDestroy(&u);
  free(s.state);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(nonlinear_diffusion_ends_quadratically_at_its_solution,
                        accuracy_of_linear_solves_by_what_they_are_worth_takes_fewer_iterations,
                        load_steps_stop_at_the_fold_with_the_last_solution,
                        the_line_search_finds_the_zero_of_the_arcus_tangent,
                        every_other_end_of_a_solve_has_its_reason,
                        solves_without_residual_solver_or_with_other_lengths_are_refused));
}
