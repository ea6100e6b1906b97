// SPDX-License-Identifier: BSD-2-Clause
// Step 4 of doc/tutorial.md: -div((1 + u^2) grad u) = 10 on the unit square, u = 0 on its boundary, by
// Newton's method. Its Jacobian is the derivative of the text of the residual; residuals fall quadratically.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

// The integral of v phi + grad_v . grad phi for all test functions phi.
static const char text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void residual(const void *ctx, const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                        CeedScalar v[1], CeedScalar grad_v[1][2]) {
      v[0] = -10;
      for (int d = 0; d < 2; d++) grad_v[0][d] = (1 + u[0] * u[0]) * grad_u[0][d];
    });

// Residuals of all steps.
typedef struct {
  int num;
  double norm[32];
} History;

static int monitor(void *ctx, CeedInt step, double norm, bool *stop) {
  History *history = ctx;

  (void)stop;
  printf("step %d: |F| = %.1e\n", (int)step, norm);
  history->norm[step] = norm;
  history->num = step + 1;
  return 0;
}

// What is made again of each Jacobian: its diagonal.
static int update(void *ctx, CeedVector u) {
  (void)u;
  return RitzPreconditionerUpdate(ctx);
}

int main(int argc, char **argv) {
  static const RitzFixedPart boundary = {.part = "all"};
  History history = {0};
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzIndices fixed;
  RitzPreconditioner jacobi;
  RitzSolver solver;
  RitzNewton newton;
  RitzNewtonReason reason;
  CeedOperator residual, jacobian;
  CeedVector u, state;
  CeedSize size;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){4, 4}, NULL, NULL, 1, NULL, NULL, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzSpaceCreate(mesh, 3, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &state));
  must(CeedVectorSetValue(u, 0));
  must(CeedVectorSetValue(state, 0));
  must(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &fixed));
  const RitzOperatorOptions options = {.space = space};
  const RitzFormField in = {.name = "u", .what = RITZ_FORM_BOTH, .space = space};
  const RitzFormField out = {.name = "v", .what = RITZ_FORM_BOTH, .space = space};
  const RitzForm form = {text, "residual", 0, 1, &in, 1, &out};
  must(RitzGeometryCreateFormOperator(geometry, ceed, &options, &form, NULL, &residual));
  must(RitzOperatorCreateDerivative(residual, state, &jacobian)); // at the state that it reads

  must(RitzPreconditionerCreateOperatorJacobi(jacobian, fixed, &jacobi));
  must(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &solver)); // the Jacobian is not symmetric
  must(RitzSolverSetOperator(solver, jacobian));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, jacobi));
  must(RitzNewtonCreate(ceed, &newton));
  must(RitzNewtonSetResidual(newton, residual));
  must(RitzNewtonSetLinearSolver(newton, solver));
  must(RitzNewtonSetState(newton, state));
  must(RitzNewtonSetUpdate(newton, update, jacobi));
  must(RitzNewtonSetForcing(newton, 1e-8, 1e-8)); // linear solves to that tolerance, to see Newton's own rate
  must(RitzNewtonSetMonitor(newton, monitor, &history));
  must(RitzNewtonSolve(newton, NULL, u));
  must(RitzNewtonGetReason(newton, &reason));
  const double *r = history.norm;
  const double rate = history.num > 3 ? log(r[3] / r[2]) / log(r[2] / r[1]) : 0;
  printf("order of step 3: %.1f\n", rate);

  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&jacobi);
  RitzIndicesDestroy(&fixed);
  CeedOperatorDestroy(&residual);
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&state);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return reason > 0 && rate > 1.8 ? 0 : 1;
}
