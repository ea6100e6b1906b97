// SPDX-License-Identifier: BSD-2-Clause
// Heat that a flow carries against two cold walls, where it is left in thin layers:
//
//     b . grad u - k div grad u = f  in the unit square,   b = (1, 1),   u = 0 on the boundary.
//
// With X the solution of X' - k X'' = 1, X(0) = X(1) = 0, it is u = X(x) X(y) where f = X(x) + X(y). Shown:
// an operator that is not symmetric, of a function of values and gradients at a point (advection.h); GMRES,
// with multigrid for its diffusion alone as preconditioner, whose iterations do not depend on the mesh; a
// mesh that is graded towards the layers of the width k, so that nothing has to be stabilised.
//
//     advection [RESOURCE [ORDER [ELEMENTS [K [FILE.vtu]]]]]        ELEMENTS: a direction
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/advection/advection.h"

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

// X and its derivative; ctx: k
static double layer(const void *ctx, double x, double *slope) {
  const double k = *(const double *)ctx, scale = 1 / (1 - exp(-1 / k));

  *slope = 1 - scale / k * exp((x - 1) / k);
  return x - scale * (exp((x - 1) / k) - exp(-1 / k));
}

static int solution(void *ctx, const double *x, double *u, double *gradient) {
  double slope[2];
  const double X = layer(ctx, x[0], &slope[0]), Y = layer(ctx, x[1], &slope[1]);

  u[0] = X * Y;
  if (gradient) {
    gradient[0] = slope[0] * Y;
    gradient[1] = X * slope[1];
  }
  return 0;
}

static int source(void *ctx, const double *x, double *f) {
  double slope;

  f[0] = layer(ctx, x[0], &slope) + layer(ctx, x[1], &slope);
  return 0;
}

// Elements are a tenth as long at x, y = 1 as at 0.
static int grade(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = log(1 + 9 * X[d]) / log(10);
  return 0;
}

static int make_operator(RitzSpace space, RitzOperatorKind kind, double k, CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = kind, .space = space, .mu = k};
  RitzGeometry geometry;
  RitzMesh mesh;

  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, RitzMeshReturnCeed(mesh), &options, op));
  return RitzGeometryDestroy(&geometry);
}

// The operators of multigrid's levels; ctx: k
static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)level;
  return make_operator(space, RITZ_OPERATOR_DIFFUSION, *(const double *)ctx, op);
}

int main(int argc, char **argv) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(advection, 2, 1);
  static const RitzFixedPart walls = {.part = "all"};
  static const RitzMultigridOptions cycle = {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ}; // for long elements
  const int order = argc > 2 ? atoi(argv[2]) : 4, n = argc > 3 ? atoi(argv[3]) : 16;
  double k = argc > 4 ? atof(argv[4]) : 0.05, l2, h1;
  CeedScalar number = (CeedScalar)k;
  Ceed ceed;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  RitzIndices fixed;
  RitzHierarchy hierarchy;
  RitzPreconditioner multigrid;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedQFunctionContext context;
  CeedOperator flow, mass;
  CeedVector u, f, b;
  CeedSize size;
  CeedInt iterations;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, grade, NULL, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzSpaceCreate(mesh, order, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(RitzSpaceCreateConstraints(space, ceed, 1, &walls, &fixed));
  CeedVector *const vectors[] = {&u, &f, &b};
  for (int i = 0; i < 3; i++) must(CeedVectorCreate(ceed, size, vectors[i]));

  must(CeedQFunctionContextCreate(ceed, &context));
  must(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof number, &number));
  const RitzOperatorOptions options = {.space = space};
  must(RitzGeometryCreatePointOperator(geometry, ceed, &options, &function, context, &flow));
  must(make_operator(space, RITZ_OPERATOR_MASS, 1, &mass));
  must(RitzSpaceInterpolate(space, source, &k, f));
  must(CeedOperatorApply(mass, f, b, CEED_REQUEST_IMMEDIATE));

  must(RitzHierarchyCreate(space, NULL, &hierarchy));
  must(RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, NULL, &k, 1, &walls, &cycle,
                                                    &multigrid));
  must(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &solver));
  must(RitzSolverSetRestart(solver, 100));
  must(RitzSolverSetOperator(solver, flow));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, multigrid));
  must(CeedVectorSetValue(u, 0));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetReason(solver, &reason));
  must(RitzSolverGetIterations(solver, &iterations));
  must(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, solution, &k, &l2, &h1));
  printf("unknowns %td, iterations %d, %s, error %.3e, of the gradient %.3e\n", size, (int)iterations,
         RitzSolverReasonName(reason), l2, h1);
  if (argc > 5) {
    const RitzOutputField field = {.name = "u", .space = space, .values = u};
    must(RitzWriteVTU(mesh, 1, &field, argv[5]));
  }

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&multigrid);
  RitzHierarchyDestroy(&hierarchy);
  CeedOperatorDestroy(&flow);
  CeedOperatorDestroy(&mass);
  CeedQFunctionContextDestroy(&context);
  for (int i = 0; i < 3; i++) CeedVectorDestroy(vectors[i]);
  RitzIndicesDestroy(&fixed);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return reason > 0 ? 0 : 1;
}
