// SPDX-License-Identifier: BSD-2-Clause
// Step 3 of doc/tutorial.md: -div(k grad u) = f with a conductivity k(x) and given values on the boundary.
// What is integrated is a function at a point, written here as a text: it becomes part of the kernel.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

// For all test functions phi the integral of grad_v . grad phi, and of v phi. Here k = 1 + x^2, and f is
// such that u = sin(x + 2 y).
static const char text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void conduction(const void *ctx, const CeedScalar x[2],
                                          const CeedScalar grad_u[1][2], CeedScalar grad_v[1][2]) {
      for (int d = 0; d < 2; d++) grad_v[0][d] = (1 + x[0] * x[0]) * grad_u[0][d];
    }

    CEED_QFUNCTION_HELPER void source(const void *ctx, const CeedScalar x[2], CeedScalar v[1]) {
      v[0] = 5 * (1 + x[0] * x[0]) * sin(x[0] + 2 * x[1]) - 2 * x[0] * cos(x[0] + 2 * x[1]);
    });

static int solution(void *ctx, const double *x, double *u, double *gradient) {
  (void)ctx;
  u[0] = sin(x[0] + 2 * x[1]);
  if (gradient) gradient[0] = cos(x[0] + 2 * x[1]), gradient[1] = 2 * gradient[0];
  return 0;
}

static int boundary_value(void *ctx, const double *x, double *u) { return solution(ctx, x, u, NULL); }

static double solve(Ceed ceed, CeedInt n) {
  static const RitzFixedPart boundary = {.part = "all"};
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzIndices fixed;
  RitzPreconditioner jacobi;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedOperator stiffness, load;
  CeedVector u, b;
  CeedSize size;
  CeedInt iterations;
  double error, gradient_error;

  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzSpaceCreate(mesh, 3, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &b));
  const RitzOperatorOptions options = {.space = space};
  const RitzFormField grad_u = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = space},
                      grad_v = {.name = "v", .what = RITZ_FORM_GRADIENT, .space = space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = space};
  const RitzForm conduction = {text, "conduction", RITZ_FORM_POSITION, 1, &grad_u, 1, &grad_v};
  const RitzForm source = {text, "source", RITZ_FORM_POSITION, 0, NULL, 1, &v};
  must(RitzGeometryCreateFormOperator(geometry, ceed, &options, &conduction, NULL, &stiffness));
  must(RitzGeometryCreateFormOperator(geometry, ceed, &options, &source, NULL, &load));
  must(CeedOperatorApply(load, CEED_VECTOR_NONE, b, CEED_REQUEST_IMMEDIATE));

  must(CeedVectorSetValue(u, 0));
  must(RitzSpaceInterpolateOnBoundary(space, "all", boundary_value, NULL, u));
  must(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &fixed));
  must(RitzPreconditionerCreateOperatorJacobi(stiffness, fixed, &jacobi));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetOperator(solver, stiffness));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, jacobi));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetReason(solver, &reason));
  must(RitzSolverGetIterations(solver, &iterations));
  must(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, solution, NULL, &error, &gradient_error));
  printf("%d x %d elements: %2d iterations, error %.1e\n", (int)n, (int)n, (int)iterations, error);

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&jacobi);
  RitzIndicesDestroy(&fixed);
  CeedOperatorDestroy(&stiffness);
  CeedOperatorDestroy(&load);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&b);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  return reason > 0 ? error : NAN;
}

int main(int argc, char **argv) {
  Ceed ceed;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  const double coarse = solve(ceed, 2), fine = solve(ceed, 4), order = log2(coarse / fine);
  printf("order %.1f\n", order);
  CeedDestroy(&ceed);
  return order > 3.7 ? 0 : 1; // p + 1 = 4
}
