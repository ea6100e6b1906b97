// SPDX-License-Identifier: BSD-2-Clause
// A lid-driven cavity: the Stokes equations with velocities of degree 3 and continuous pressures of degree 2
// (Taylor & Hood), by MINRES with a preconditioner of two blocks, multigrid for the velocity and the mass
// matrix of the pressure for the Schur complement. Iterations do not grow as the mesh is refined.
//
//     cavity [RESOURCE [FILE.vtu]]
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

enum { DEGREE = 3 };
static const RitzFixedPart walls = {.part = "all"};

// grad u : grad v - p div v - q div u
static const char stokes_text[] = RITZ_TEXT(
    CEED_QFUNCTION_HELPER void stokes(const void *ctx, const CeedScalar grad_u[2][2], const CeedScalar p[1],
                                      CeedScalar grad_v[2][2], CeedScalar q[1]) {
      for (int c = 0; c < 2; c++) {
        for (int d = 0; d < 2; d++) grad_v[c][d] = grad_u[c][d] - (c == d ? p[0] : 0);
      }
      q[0] = -(grad_u[0][0] + grad_u[1][1]);
    });

// The operator on both fields: one kernel, each field by its place in the product.
static void create_stokes(Ceed ceed, RitzMesh mesh, const RitzSpace space[2], RitzProductSpace product,
                          CeedOperator *op) {
  const RitzFormField u = {"u", RITZ_FORM_GRADIENT, space[0], .product = product, .index = 0};
  const RitzFormField p = {"p", RITZ_FORM_VALUE, space[1], .product = product, .index = 1};
  RitzFormField in[2] = {u, p}, out[2] = {u, p};
  const RitzForm form = {stokes_text, "stokes", 0, 2, in, 2, out};
  const RitzOperatorOptions options = {.space = space[0], .num_points = DEGREE + 1};
  RitzGeometry geometry;

  out[0].name = "v", out[1].name = "q";
  MUST(RitzGeometryCreate(mesh, -1, &geometry));
  MUST(RitzGeometryCreateFormOperator(geometry, ceed, &options, &form, NULL, op));
  MUST(RitzGeometryDestroy(&geometry));
}

// Diffusion for a level of the velocity's multigrid, the mass matrix for the pressure.
static int create_standard(Ceed ceed, RitzOperatorKind kind, RitzSpace space, CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = kind, .space = space};
  RitzGeometry geometry;
  RitzMesh mesh;

  MUST(RitzSpaceGetMesh(space, &mesh));
  MUST(RitzGeometryCreate(mesh, -1, &geometry));
  MUST(RitzGeometryCreateOperator(geometry, ceed, &options, op));
  return RitzGeometryDestroy(&geometry);
}

static int create_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  (void)level;
  return create_standard((Ceed)ctx, RITZ_OPERATOR_DIFFUSION, space, op);
}

static RitzPreconditioner create_blocks(Ceed ceed, RitzSpace velocity, RitzSpace pressure) {
  static const RitzChebyshevOptions chebyshev = {.kind = RITZ_CHEBYSHEV_FIRST, .degree = 4};
  static const RitzMultigridOptions multigrid = {.cycle = RITZ_CYCLE_V};
  RitzHierarchy hierarchy;
  CeedOperator mass;
  RitzPreconditioner jacobi, blocks;
  RitzBlock block[2] = {{.inverse = NULL}, {.inverse = NULL}};

  MUST(RitzHierarchyCreate(velocity, NULL, &hierarchy));
  MUST(RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, create_level, NULL, ceed, 1, &walls,
                                                    &multigrid, &block[0].inverse));
  MUST(create_standard(ceed, RITZ_OPERATOR_MASS, pressure, &mass));
  MUST(RitzPreconditionerCreateOperatorJacobi(mass, NULL, &jacobi));
  MUST(RitzPreconditionerCreateChebyshev(mass, NULL, jacobi, &chebyshev, &block[1].inverse));
  MUST(RitzPreconditionerCreateBlocks(ceed, 2, block, NULL, &blocks));
  for (int i = 0; i < 2; i++) RitzPreconditionerDestroy(&block[i].inverse);
  RitzPreconditionerDestroy(&jacobi);
  CeedOperatorDestroy(&mass);
  RitzHierarchyDestroy(&hierarchy);
  return blocks;
}

// The lid slides, also at its ends.
static int slide(void *ctx, const double *x, double *u) {
  (void)ctx, (void)x;
  u[0] = 1;
  u[1] = 0;
  return 0;
}

// The number of iterations, -1 where MINRES does not converge.
static CeedInt solve(Ceed ceed, CeedInt n, const char *path) {
  RitzOutputField fields[2] = {{.name = "velocity"}, {.name = "pressure"}};
  RitzMesh mesh;
  RitzSpace space[2];
  RitzProductSpace product;
  RitzIndices fixed[2] = {NULL, NULL}, constraints;
  CeedVector x, b, constant, part[2];
  CeedVector *const vectors[] = {&x, &b, &constant, &part[0], &part[1]};
  CeedOperator op;
  RitzSolver solver;
  RitzSolverReason reason;
  CeedSize sizes[5];
  CeedInt num_it;

  MUST(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
  for (int i = 0; i < 2; i++) MUST(RitzSpaceCreate(mesh, DEGREE - i, 2 - i, &space[i]));
  for (int i = 0; i < 2; i++) MUST(RitzSpaceGetSize(space[i], &sizes[3 + i]));
  MUST(RitzProductSpaceCreate(2, space, &product));
  MUST(RitzSpaceCreateConstraints(space[0], ceed, 1, &walls, &fixed[0]));
  MUST(RitzProductSpaceCreateConstraints(product, ceed, fixed, &constraints));
  sizes[0] = sizes[1] = sizes[2] = sizes[3] + sizes[4];
  for (int i = 0; i < 5; i++) {
    MUST(CeedVectorCreate(ceed, sizes[i], vectors[i]));
    MUST(CeedVectorSetValue(*vectors[i], i == 4));
  }
  MUST(RitzProductSpaceSetPart(product, 1, part[1], constant)); // pressures are unique up to it
  MUST(RitzSpaceInterpolateOnBoundary(space[0], "ymax", slide, NULL, part[0]));
  MUST(RitzProductSpaceSetPart(product, 0, part[0], x));
  create_stokes(ceed, mesh, space, product, &op);
  RitzPreconditioner blocks = create_blocks(ceed, space[0], space[1]);

  MUST(RitzSolverCreate(ceed, RITZ_SOLVER_MINRES, &solver));
  MUST(RitzSolverSetOperator(solver, op));
  MUST(RitzSolverSetConstraintIndices(solver, constraints));
  MUST(RitzSolverSetNullspace(solver, 1, &constant));
  MUST(RitzSolverSetPreconditioner(solver, blocks));
  MUST(RitzSolverSolve(solver, b, x));
  MUST(RitzSolverGetReason(solver, &reason));
  MUST(RitzSolverGetIterations(solver, &num_it));
  printf("%2d x %2d elements, %5d unknowns: %d iterations, %s\n", (int)n, (int)n, (int)sizes[0], (int)num_it,
         RitzSolverReasonName(reason));
  for (CeedInt i = 0; i < 2; i++) {
    MUST(RitzProductSpaceGetPart(product, i, x, part[i]));
    fields[i].space = space[i];
    fields[i].values = part[i];
  }
  if (path) MUST(RitzWriteVTU(mesh, 2, fields, path));
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&blocks);
  CeedOperatorDestroy(&op);
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  RitzIndicesDestroy(&fixed[0]);
  RitzIndicesDestroy(&constraints);
  RitzProductSpaceDestroy(&product);
  for (int i = 0; i < 2; i++) RitzSpaceDestroy(&space[i]);
  RitzMeshDestroy(&mesh);
  return reason > 0 ? num_it : -1;
}

int main(int argc, char **argv) {
  Ceed ceed;
  CeedInt num_it[3];
  int is_bad = 0;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  for (int i = 0; i < 3; i++) num_it[i] = solve(ceed, 8 << i, i == 2 && argc > 2 ? argv[2] : NULL);
  CeedDestroy(&ceed);
  for (int i = 0; i < 3; i++) is_bad |= num_it[i] < 0 || num_it[i] > 50 || num_it[i] > num_it[0] + 4;
  return is_bad;
}
