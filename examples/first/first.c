// SPDX-License-Identifier: BSD-2-Clause
// The first program to read: Poisson's equation on a mesh of prisms, hexahedra, pyramids and tetrahedra,
//
//     -div grad u = f  in the bar [0,3] x [0,1] x [0,1],
//     u = g  on the parts "left" and "right" of its boundary,   du/dn = 0  on the rest of it,
//
// with a solution that is known, so that the error is, too. Shown: a mesh file, values on named parts of the
// boundary, an operator, multigrid, a solver, errors, a file for ParaView.
//
//     cc examples/first/first.c $(pkg-config --cflags --libs ritz) -lm -o first
//     ./first [RESOURCE [ORDER [REFINEMENTS [FILE.vtu]]]]        in the folder that has examples/meshes
//     ./first /gpu/cuda 4 1 bar.vtu; ritz picture bar.vtu
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

static const double pi = 3.14159265358979323846;

// The solution and its gradient, where that is wanted: du/dn = 0 at y, z = 0, 1.
static int solution(void *ctx, const double *x, double *u, double *gradient) {
  const double s = sin(pi / 2 * x[0]), y = cos(pi * x[1]), z = cos(pi * x[2]);

  (void)ctx;
  u[0] = s * y * z;
  if (gradient) {
    gradient[0] = pi / 2 * cos(pi / 2 * x[0]) * y * z;
    gradient[1] = -pi * s * sin(pi * x[1]) * z;
    gradient[2] = -pi * s * y * sin(pi * x[2]);
  }
  return 0;
}

// On the boundary the solution is given.
static int given(void *ctx, const double *x, double *g) { return solution(ctx, x, g, NULL); }

// f = -div grad u
static int source(void *ctx, const double *x, double *f) {
  if (solution(ctx, x, f, NULL)) return 1;
  f[0] *= 2.25 * pi * pi;
  return 0;
}

// The integral of grad u . grad v, or of u v, as an operator: the matrix is never made.
static int make_operator(RitzSpace space, RitzOperatorKind kind, CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = kind, .space = space};
  RitzGeometry geometry;
  RitzMesh mesh;

  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, RitzMeshReturnCeed(mesh), &options, op));
  return RitzGeometryDestroy(&geometry);
}

// Multigrid asks for the operator of each of its levels: smaller degrees, then coarser meshes.
static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)ctx;
  (void)level;
  return make_operator(space, RITZ_OPERATOR_DIFFUSION, op);
}

int main(int argc, char **argv) {
  static const RitzFixedPart ends[] = {{.part = "left"}, {.part = "right"}};
  const int order = argc > 2 ? atoi(argv[2]) : 4, refinements = argc > 3 ? atoi(argv[3]) : 1;
  Ceed ceed;
  RitzMesh coarse, mesh;
  RitzGeometry geometry;
  RitzSpace space;
  RitzIndices fixed;
  RitzHierarchy hierarchy;
  RitzPreconditioner multigrid;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedOperator diffusion, mass;
  CeedVector u, f, b;
  CeedSize size;
  CeedInt iterations;
  double l2, h1;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshRead(ceed, "examples/meshes/four-shapes.msh", &coarse));
  must(RitzMeshRefine(coarse, refinements, &mesh));
  must(RitzSpaceCreate(mesh, order, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &f));
  must(CeedVectorCreate(ceed, size, &b));

  // The boundary: its values stand in u, where the solver leaves them.
  must(RitzSpaceCreateConstraints(space, ceed, 2, ends, &fixed));
  must(CeedVectorSetValue(u, 0));
  for (int i = 0; i < 2; i++) must(RitzSpaceInterpolateOnBoundary(space, ends[i].part, given, NULL, u));

  // The right-hand side b = M f.
  must(make_operator(space, RITZ_OPERATOR_DIFFUSION, &diffusion));
  must(make_operator(space, RITZ_OPERATOR_MASS, &mass));
  must(RitzSpaceInterpolate(space, source, NULL, f));
  must(CeedOperatorApply(mass, f, b, CEED_REQUEST_IMMEDIATE));

  // Conjugate gradients with a cycle of multigrid as preconditioner.
  must(RitzHierarchyCreate(space, NULL, &hierarchy));
  must(RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, NULL, NULL, 2, ends, NULL,
                                                    &multigrid));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetOperator(solver, diffusion));
  must(RitzSolverSetConstraintIndices(solver, fixed));
  must(RitzSolverSetPreconditioner(solver, multigrid));
  must(RitzSolverSolve(solver, b, u));
  must(RitzSolverGetReason(solver, &reason));
  must(RitzSolverGetIterations(solver, &iterations));

  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, solution, NULL, &l2, &h1));
  printf("unknowns    %td\niterations  %d, %s\nerror       %.3e, of the gradient %.3e\n", size,
         (int)iterations, RitzSolverReasonName(reason), l2, h1);
  if (argc > 4) {
    const RitzOutputField field = {.name = "u", .space = space, .values = u};
    must(RitzWriteVTU(mesh, 1, &field, argv[4]));
  }

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&multigrid);
  RitzHierarchyDestroy(&hierarchy);
  RitzGeometryDestroy(&geometry);
  CeedOperatorDestroy(&diffusion);
  CeedOperatorDestroy(&mass);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&f);
  CeedVectorDestroy(&b);
  RitzIndicesDestroy(&fixed);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&coarse);
  CeedDestroy(&ceed);
  return reason > 0 ? 0 : 1;
}
