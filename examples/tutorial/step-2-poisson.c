// SPDX-License-Identifier: BSD-2-Clause
// Step 2 of doc/tutorial.md: -div grad u = f on the unit square, u = 0 on its boundary, by conjugate
// gradients. f is that of a solution that is known, so that the error is, too: it falls by the order p + 1.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

static const double pi = 3.14159265358979323846;

static int solution(void *ctx, const double *x, double *u, double *gradient) {
  (void)ctx;
  u[0] = x[0] * (1 - x[0]) * sin(pi * x[1]);
  if (gradient) {
    gradient[0] = (1 - 2 * x[0]) * sin(pi * x[1]);
    gradient[1] = x[0] * (1 - x[0]) * pi * cos(pi * x[1]);
  }
  return 0;
}

static int source(void *ctx, const double *x, double *f) {
  (void)ctx;
  f[0] = (2 + pi * pi * x[0] * (1 - x[0])) * sin(pi * x[1]);
  return 0;
}

static CeedOperator make_operator(Ceed ceed, RitzGeometry geometry, RitzSpace space, RitzOperatorKind kind) {
  const RitzOperatorOptions options = {.kind = kind, .space = space};
  CeedOperator op;

  must(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  return op;
}

static double solve(Ceed ceed, CeedInt n) {
  static const RitzFixedPart boundary = {.part = "all"};
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzIndices fixed;
  RitzPreconditioner jacobi;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedVector u, f, b;
  CeedSize size;
  CeedInt iterations;
  double error, gradient_error;

  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzSpaceCreate(mesh, 2, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &f));
  must(CeedVectorCreate(ceed, size, &b));
  CeedOperator stiffness = make_operator(ceed, geometry, space, RITZ_OPERATOR_DIFFUSION);
  CeedOperator mass = make_operator(ceed, geometry, space, RITZ_OPERATOR_MASS);
  must(RitzSpaceInterpolate(space, source, NULL, f));
  must(CeedOperatorApply(mass, f, b, CEED_REQUEST_IMMEDIATE)); // b = M f

  must(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &fixed)); // these entries of u stay as they are
  must(CeedVectorSetValue(u, 0));
  must(RitzPreconditionerCreateOperatorJacobi(stiffness, fixed, &jacobi));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetOperator(solver, stiffness));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, jacobi));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetReason(solver, &reason));
  must(RitzSolverGetIterations(solver, &iterations));
  must(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, solution, NULL, &error, &gradient_error));
  printf("%2d x %2d elements, %4td unknowns: %2d iterations, error %.2e\n", (int)n, (int)n, size,
         (int)iterations, error);

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&jacobi);
  RitzIndicesDestroy(&fixed);
  CeedOperatorDestroy(&stiffness);
  CeedOperatorDestroy(&mass);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&f);
  CeedVectorDestroy(&b);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  return reason > 0 ? error : NAN;
}

int main(int argc, char **argv) {
  Ceed ceed;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  const double coarse = solve(ceed, 4), fine = solve(ceed, 8), order = log2(coarse / fine);
  printf("order %.1f\n", order);
  CeedDestroy(&ceed);
  return order > 2.8 ? 0 : 1; // p + 1 = 3
}
