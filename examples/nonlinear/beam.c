// SPDX-License-Identifier: BSD-2-Clause
// A beam of a neo-Hookean material, one end held, the other pushed down by its own height: the stress is all
// that is written by hand. The Jacobian is the derivative of its text, Newton's method carries the boundary
// values in, in load steps.
//
//     beam [RESOURCE [FILE.vtu]]
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/nonlinear/beam.h"

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

typedef struct {
  CeedOperator jacobian;
  CeedVector diagonal, end_values, values;
} Beam;

// Where the ends go at full load.
static int displacement_of_ends(void *ctx, const double *x, double *u) {
  (void)ctx;
  u[0] = u[1] = 0;
  u[2] = x[0] > 2 ? -1 : 0;
  return 0;
}

// Before each linear solve: the diagonal of the Jacobian at the new state.
static int update(void *ctx, CeedVector u) {
  const Beam *beam = ctx;

  (void)u;
  return CeedOperatorLinearAssembleDiagonal(beam->jacobian, beam->diagonal, CEED_REQUEST_IMMEDIATE);
}

static int set_load(void *ctx, double load) {
  const Beam *beam = ctx;

  printf("load %g\n", load);
  return RitzVectorSum(beam->values, load, beam->end_values, 0, CEED_VECTOR_NONE);
}

static int show(void *ctx, CeedInt step, double residual, bool *stop) {
  (void)ctx;
  (void)stop;
  printf("  step %2d  |F(u)| = %.3e\n", (int)step, residual);
  return 0;
}

int main(int argc, char **argv) {
  static const RitzPointFunction material = RITZ_POINT_FUNCTION_TABLE(beam, 3, 3);
  static const RitzFixedPart ends[] = {{.part = "xmin"}, {.part = "xmax"}};
  Ceed ceed;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  RitzIndices fixed;
  RitzSolver solver;
  RitzNewton newton;
  RitzNewtonReason reason;
  CeedOperator residual;
  CeedVector u, state;
  CeedSize size;
  CeedInt steps, linear;
  double reached;
  Beam beam;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  MUST(RitzMeshCreateBox(ceed, 3, (CeedInt[]){8, 2, 2}, NULL, (double[]){4, 1, 1}, 1, NULL, NULL, &mesh));
  MUST(RitzGeometryCreate(mesh, -1, &geometry));
  MUST(RitzSpaceCreate(mesh, 2, 3, &space));
  MUST(RitzSpaceGetSize(space, &size));
  MUST(RitzSpaceCreateConstraints(space, ceed, 2, ends, &fixed));
  CeedVector *const vectors[] = {&u, &state, &beam.diagonal, &beam.end_values, &beam.values};
  for (int i = 0; i < 5; i++) {
    MUST(CeedVectorCreate(ceed, size, vectors[i]));
    MUST(CeedVectorSetValue(*vectors[i], 0));
  }
  MUST(RitzSpaceInterpolate(space, displacement_of_ends, NULL, beam.end_values));

  const RitzOperatorOptions options = {.space = space};
  MUST(RitzGeometryCreatePointOperator(geometry, ceed, &options, &material, NULL, &residual));
  MUST(RitzOperatorCreateDerivative(residual, state, &beam.jacobian));

  MUST(RitzSolverCreateCG(ceed, &solver));
  MUST(RitzSolverSetOperator(solver, beam.jacobian));
  MUST(RitzSolverSetConstraintIndices(solver, fixed));
  MUST(RitzSolverSetJacobi(solver, beam.diagonal));

  MUST(RitzNewtonCreate(ceed, &newton));
  MUST(RitzNewtonSetResidual(newton, residual));
  MUST(RitzNewtonSetLinearSolver(newton, solver));
  MUST(RitzNewtonSetState(newton, state));
  MUST(RitzNewtonSetUpdate(newton, update, &beam));
  MUST(RitzNewtonSetBoundaryValues(newton, beam.values));
  MUST(RitzNewtonSetMonitor(newton, show, NULL));
  MUST(RitzNewtonSolveByLoads(newton, 4, set_load, &beam, NULL, u, &reached));
  MUST(RitzNewtonGetReason(newton, &reason));
  MUST(RitzNewtonGetIterations(newton, &steps, &linear));
  printf("%s: load %g, %d unknowns, %d steps of Newton's method, %d iterations of conjugate gradients\n",
         RitzNewtonReasonName(reason), reached, (int)size, (int)steps, (int)linear);
  if (argc > 2) {
    const RitzOutputField field = {.name = "displacement", .space = space, .values = u};
    MUST(RitzWriteVTU(mesh, 1, &field, argv[2]));
  }

  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  CeedOperatorDestroy(&beam.jacobian);
  CeedOperatorDestroy(&residual);
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  RitzIndicesDestroy(&fixed);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return reason > 0 && reached >= 1 ? 0 : 1;
}
