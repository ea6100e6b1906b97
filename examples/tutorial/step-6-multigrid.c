// SPDX-License-Identifier: BSD-2-Clause
// Step 6 of doc/tutorial.md: Poisson's equation by conjugate gradients with multigrid: iterations depend
// neither on the mesh nor on the degree, beside those with the diagonal, which grow with both.
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

static const RitzFixedPart boundary = {.part = "all"};

static CeedOperator make_operator(Ceed ceed, RitzSpace space, RitzOperatorKind kind) {
  const RitzOperatorOptions options = {.kind = kind, .space = space};
  RitzMesh mesh;
  RitzGeometry geometry;
  CeedOperator op;

  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  must(RitzGeometryDestroy(&geometry));
  return op;
}

// Multigrid asks for the operator of each of its levels: smaller degrees, then coarser meshes.
static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)level;
  *op = make_operator(ctx, space, RITZ_OPERATOR_DIFFUSION);
  return 0;
}

static CeedInt count_iterations(Ceed ceed, CeedOperator stiffness, RitzIndices fixed, RitzPreconditioner pc,
                                CeedVector b, CeedVector u) {
  RitzSolver solver;
  CeedInt iterations;

  must(CeedVectorSetValue(u, 0));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetTolerances(solver, sizeof(CeedScalar) == 4 ? 1e-5 : 1e-8, 0, 1000));
  must(RitzSolverSetOperator(solver, stiffness));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, pc));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetIterations(solver, &iterations));
  must(RitzSolverDestroy(&solver));
  return iterations;
}

static void solve(Ceed ceed, CeedInt n, CeedInt degree, CeedInt iterations[2]) {
  RitzMesh mesh;
  RitzSpace space;
  RitzIndices fixed;
  RitzHierarchy hierarchy;
  RitzPreconditioner jacobi, multigrid;
  CeedVector u, b;
  CeedSize size;

  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
  must(RitzSpaceCreate(mesh, degree, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &b));
  CeedOperator stiffness = make_operator(ceed, space, RITZ_OPERATOR_DIFFUSION);
  CeedOperator mass = make_operator(ceed, space, RITZ_OPERATOR_MASS);
  must(CeedVectorSetValue(u, 1));
  must(CeedOperatorApply(mass, u, b, CEED_REQUEST_IMMEDIATE)); // f = 1
  must(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &fixed));
  must(RitzPreconditionerCreateOperatorJacobi(stiffness, fixed, &jacobi));
  must(RitzHierarchyCreate(space, NULL, &hierarchy));
  must(RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, NULL, ceed, 1, &boundary,
                                                    NULL, &multigrid));
  iterations[0] = count_iterations(ceed, stiffness, fixed, jacobi, b, u);
  iterations[1] = count_iterations(ceed, stiffness, fixed, multigrid, b, u);
  printf("%2d x %2d elements of degree %d: %3d iterations with the diagonal, %d with multigrid\n", (int)n,
         (int)n, (int)degree, (int)iterations[0], (int)iterations[1]);

  RitzPreconditionerDestroy(&multigrid);
  RitzPreconditionerDestroy(&jacobi);
  RitzHierarchyDestroy(&hierarchy);
  RitzIndicesDestroy(&fixed);
  CeedOperatorDestroy(&stiffness);
  CeedOperatorDestroy(&mass);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&b);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
}

int main(int argc, char **argv) {
  static const CeedInt sizes[][2] = {{4, 2}, {8, 2}, {16, 2}, {8, 4}};
  CeedInt iterations[4][2], most = 0;
  Ceed ceed;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  for (int i = 0; i < 4; i++) {
    solve(ceed, sizes[i][0], sizes[i][1], iterations[i]);
    if (iterations[i][1] > most) most = iterations[i][1];
  }
  CeedDestroy(&ceed);
  return most <= 8 && 2 * iterations[2][0] > 3 * iterations[1][0] ? 0 : 1;
}
