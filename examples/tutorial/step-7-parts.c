// SPDX-License-Identifier: BSD-2-Clause
// Step 7 of doc/tutorial.md: -div grad u = 1 on the unit cube, u = 0 on its boundary, on a processor or a
// GPU, in parts: each thread has a part of the mesh, on a GPU or on a processor. Iterations and energy are
// those of one.
//
//     step-7-parts [RESOURCE]        /gpu/cuda: the same on a GPU
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

typedef struct {
  const char *resource;
  double energy;
  CeedInt iterations;
} Problem;

static const RitzFixedPart boundary = {.part = "all"};

// The elements whose nodes are all owned by this part, and those that have nodes of others: while these wait
// for messages, the first are worked on. NULL where there are none.
static int make_operators(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                          CeedOperator *seam) {
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};
  RitzMesh mesh;
  RitzGeometry geometry;

  (void)level;
  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  options.elements = RITZ_ELEMENTS_INSIDE;
  must(RitzGeometryCreateOperator(geometry, ctx, &options, inside));
  options.elements = RITZ_ELEMENTS_SEAM;
  must(RitzGeometryCreateOperator(geometry, ctx, &options, seam));
  return RitzGeometryDestroy(&geometry);
}

// b = M 1 of the whole problem: owners add what other parts have at their nodes.
static void make_right_side(Ceed ceed, RitzSpace space, RitzExchange exchange, CeedVector one, CeedVector b) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = space};
  RitzMesh mesh;
  RitzGeometry geometry;
  CeedOperator mass;

  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &mass));
  must(CeedVectorSetValue(one, 1));
  must(CeedOperatorApply(mass, one, b, CEED_REQUEST_IMMEDIATE));
  must(RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_OWNERS, b));
  must(CeedOperatorDestroy(&mass));
  must(RitzGeometryDestroy(&geometry));
}

static int solve_part(void *ctx, const RitzTransport *transport) {
  Problem *problem = ctx;
  int32_t parts[64];
  Ceed ceed;
  RitzMesh whole, mesh;
  RitzSpace space;
  RitzExchange exchange;
  RitzPartOperator stiffness;
  RitzIndices fixed;
  RitzHierarchy hierarchy;
  RitzPreconditioner multigrid;
  RitzSolver solver;
  CeedOperator inside, seam;
  CeedVector u, b;
  CeedSize size, num_owned;

  must(CeedInit(problem->resource, &ceed)); // each part has its own
  must(RitzMeshCreateBox(ceed, 3, (CeedInt[]){4, 4, 4}, NULL, NULL, 1, NULL, NULL, &whole));
  must(RitzMeshPartition(whole, RITZ_PARTITION_AUTO, transport->num_parts, NULL,
                         parts)); // [64]: a part for each element
  must(RitzMeshCreateSubmesh(whole, transport->num_parts, parts, transport->part, &mesh));
  must(RitzSpaceCreate(mesh, 3, 1, &space));
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &b));
  must(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &fixed));
  must(make_operators(ceed, 0, space, &inside, &seam));
  must(RitzExchangeCreate(space, ceed, transport, &exchange));
  must(RitzPartOperatorCreate(exchange, inside, seam, &stiffness));
  must(RitzHierarchyCreate(space, NULL, &hierarchy));
  must(RitzPreconditionerCreatePartMultigrid(ceed, hierarchy, transport, make_operators, ceed, 1, &boundary,
                                             NULL, &multigrid));
  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetPreconditioner(solver, multigrid));
  must(RitzSolverSetPartOperator(solver, stiffness, fixed));
  make_right_side(ceed, space, exchange, u, b);
  must(CeedVectorSetValue(u, 0));
  must(RitzSolverSolve(solver, b, u));

  double energy;
  must(RitzExchangeGetNumOwned(exchange, &num_owned));
  must(RitzVectorDotRange(b, u, 0, num_owned, &energy)); // owned entries come first
  must(RitzExchangeReduce(exchange, RITZ_REDUCTION_SUM, 1, &energy));
  if (transport->part == 0) {
    problem->energy = energy;
    must(RitzSolverGetIterations(solver, &problem->iterations));
  }

  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&multigrid);
  RitzHierarchyDestroy(&hierarchy);
  RitzIndicesDestroy(&fixed);
  RitzPartOperatorDestroy(&stiffness);
  RitzExchangeDestroy(&exchange);
  CeedOperatorDestroy(&inside);
  CeedOperatorDestroy(&seam);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&b);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&whole);
  return CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  const char *resource = argc > 1 ? argv[1] : "/cpu/self:threads=1";
  double first = 0;
  int is_right = 1;
  Ceed ceed;

  must(CeedInit("/cpu/self/ref", &ceed));
  for (CeedInt num_parts = 1; num_parts <= 4; num_parts *= 2) {
    Problem problem = {.resource = resource};
    must(RitzRunParts(ceed, num_parts, solve_part, &problem)); // num_parts threads
    printf("parts %d: %d iterations, energy %.6f\n", (int)num_parts, (int)problem.iterations, problem.energy);
    if (num_parts == 1) first = problem.energy;
    is_right = is_right && problem.iterations <= 10 && fabs(problem.energy / first - 1) < 1e-4;
  }
  CeedDestroy(&ceed);
  return is_right && fabs(first - 0.02017) < 1e-4 ? 0 : 1;
}
