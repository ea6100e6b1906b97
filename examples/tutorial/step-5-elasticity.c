// SPDX-License-Identifier: BSD-2-Clause
// Step 5 of doc/tutorial.md: linear elasticity, a beam that is held at one end and drawn down at the other.
// The force at the clamped end is that at the free one; the deflection is that of Timoshenko's beam within 2
// %.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

// Hooke's law, sigma = 2 mu eps + lambda tr(eps) I with E = 1000, nu = 0.3; and a traction.
static const char text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void hooke(const void *ctx, const CeedScalar grad_u[3][3],
                                     CeedScalar grad_v[3][3]) {
      const CeedScalar mu = 1000 / 2.6;
      const CeedScalar lambda = 300 / (1.3 * 0.4);
      const CeedScalar trace = grad_u[0][0] + grad_u[1][1] + grad_u[2][2];

      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
          grad_v[i][j] = mu * (grad_u[i][j] + grad_u[j][i]) + (i == j) * lambda * trace;
      }
    }

    CEED_QFUNCTION_HELPER void traction(const void *ctx, CeedScalar v[3]) {
      v[0] = 0;
      v[1] = 0;
      v[2] = -0.1;
    });

int main(int argc, char **argv) {
  static const RitzFixedPart clamped = {.part = "xmin"};
  const double upper[] = {8, 1, 1}, end[] = {8, 0.5, 0.5};
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  RitzLocator locator;
  RitzIndices fixed;
  RitzPreconditioner blocks;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedOperator stiffness, load;
  CeedVector u, b, residual;
  CeedScalar deflection[3];
  CeedSize size;
  double force[3];

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshCreateBox(ceed, 3, (CeedInt[]){4, 1, 1}, NULL, upper, 1, NULL, NULL, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzSpaceCreate(mesh, 3, 3, &space)); // three components
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &b));
  must(CeedVectorCreate(ceed, size, &residual));
  must(CeedVectorSetValue(u, 0));
  must(RitzSpaceCreateConstraints(space, ceed, 1, &clamped, &fixed));
  const RitzOperatorOptions options = {.space = space};
  const RitzBoundaryOptions loaded = {.space = space, .part = "xmax"};
  const RitzFormField grad_u = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = space};
  const RitzFormField grad_v = {.name = "v", .what = RITZ_FORM_GRADIENT, .space = space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = space};
  const RitzForm hooke = {text, "hooke", 0, 1, &grad_u, 1, &grad_v};
  const RitzForm traction = {text, "traction", 0, 0, NULL, 1, &v};
  must(RitzGeometryCreateFormOperator(geometry, ceed, &options, &hooke, NULL, &stiffness));
  must(RitzGeometryCreateBoundaryFormOperator(geometry, ceed, &loaded, &traction, NULL, &load));
  must(CeedOperatorApply(load, CEED_VECTOR_NONE, b, CEED_REQUEST_IMMEDIATE));

  must(RitzPreconditionerCreatePointBlockJacobi(stiffness, fixed, &blocks));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetOperator(solver, stiffness));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, blocks));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetReason(solver, &reason));

  must(CeedOperatorApply(stiffness, u, residual, CEED_REQUEST_IMMEDIATE));
  must(RitzSpaceGetReactions(space, "xmin", residual, force));
  must(RitzLocatorCreate(mesh, -1, &locator));
  must(RitzSpaceEvaluate(space, locator, u, 1, end, deflection, NULL));
  const double inertia = 1.0 / 12, shear = 5.0 / 6 * 1000 / 2.6;
  const double beam = -0.1 * (8 * 8 * 8 / (3 * 1000 * inertia) + 8 / shear);
  printf("force at the clamped end: %.4f\n", force[2]);
  printf("deflection: %.4f, of the beam's theory: %.4f\n", deflection[2], beam);

  RitzLocatorDestroy(&locator);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&blocks);
  RitzIndicesDestroy(&fixed);
  CeedOperatorDestroy(&stiffness);
  CeedOperatorDestroy(&load);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&residual);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  const bool is_held = fabs(force[2] - 0.1) < 1e-4, is_beam = fabs(deflection[2] / beam - 1) < 0.02;
  return reason > 0 && is_held && is_beam ? 0 : 1;
}
