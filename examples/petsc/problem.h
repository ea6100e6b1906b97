// SPDX-License-Identifier: BSD-2-Clause
// What examples/petsc/bratu.c and heat.c have in common: the unit square with u = 0 at x = 0 and 1 in as many
// parts as there are processes, vectors with their ghosts, errors, files.
//
//     -cells N: N^2 elements, N even   -order P   -ceed RESOURCE   -output FILE.pvtu
#ifndef RITZ_EXAMPLES_PETSC_PROBLEM_H
#define RITZ_EXAMPLES_PETSC_PROBLEM_H

#include <math.h>
#include <ritz.h>
#include <ritz/petsc.h>

typedef struct {
  Ceed ceed;
  RitzMesh mesh; // of this process, as the next two
  RitzGeometry geometry;
  RitzSpace space;
  RitzPetscSpace whole; // the space of all processes
  RitzExchange exchange;
  RitzIndices fixed;
  CeedVector state; // a vector of this process
} Problem;

static const RitzFixedPart problem_ends[] = {{.part = "xmin"}, {.part = "xmax"}};

static PetscErrorCode problem_create(Problem *p) {
  PetscInt order = 2, cells = 8;
  char resource[256] = "/cpu/self:threads=1";
  RitzMesh box = NULL, part = NULL;
  CeedSize size = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cells", &cells, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ceed", resource, sizeof resource, NULL));
  PetscCheck(cells > 0 && cells % 2 == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-cells %d, needed an even number", (int)cells);
  RitzPetscCall(NULL, CeedInit(resource, &p->ceed));
  RitzPetscCall(p->ceed, CeedSetErrorHandler(p->ceed, CeedErrorStore));
  const CeedInt n[] = {(CeedInt)cells / 2, (CeedInt)cells / 2};
  RitzPetscCall(p->ceed, RitzMeshCreateBox(p->ceed, 2, n, NULL, NULL, 1, NULL, NULL, &box));
  PetscCall(RitzPetscMeshCreatePart(PETSC_COMM_WORLD, box, NULL, &part));
  RitzPetscCall(p->ceed, RitzMeshRefine(part, 1, &p->mesh));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&box));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&part));
  RitzPetscCall(p->ceed, RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RitzPetscCall(p->ceed, RitzSpaceCreate(p->mesh, (CeedInt)order, 1, &p->space));
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, p->ceed, p->space, &p->whole));
  PetscCall(RitzPetscSpaceGetExchange(p->whole, &p->exchange));
  RitzPetscCall(p->ceed, RitzSpaceCreateConstraints(p->space, p->ceed, 2, problem_ends, &p->fixed));
  RitzPetscCall(p->ceed, RitzSpaceGetSize(p->space, &size));
  RitzPetscCall(p->ceed, CeedVectorCreate(p->ceed, size, &p->state));
  PetscFunctionReturn(0);
}

static PetscErrorCode problem_destroy(Problem *p) {
  PetscFunctionBeginUser;
  PetscCall(RitzPetscSpaceDestroy(&p->whole));
  RitzPetscCall(p->ceed, CeedVectorDestroy(&p->state));
  RitzPetscCall(p->ceed, RitzIndicesDestroy(&p->fixed));
  RitzPetscCall(p->ceed, RitzSpaceDestroy(&p->space));
  RitzPetscCall(p->ceed, RitzGeometryDestroy(&p->geometry));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&p->mesh));
  RitzPetscCall(NULL, CeedDestroy(&p->ceed));
  PetscFunctionReturn(0);
}

// The operator of `kind` on the elements without ghosts and on the others, either of which there may be none
// of.
static int problem_operators(Ceed ceed, RitzSpace space, RitzOperatorKind kind, CeedOperator op[2]) {
  RitzOperatorOptions options = {.kind = kind, .space = space};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;
  int code = RitzSpaceGetMesh(space, &mesh);

  if (!code) code = RitzGeometryCreate(mesh, -1, &geometry);
  for (int i = 0; i < 2 && !code; i++) {
    options.elements = i ? RITZ_ELEMENTS_SEAM : RITZ_ELEMENTS_INSIDE;
    code = RitzGeometryCreateOperator(geometry, ceed, &options, &op[i]);
  }
  RitzGeometryDestroy(&geometry);
  return code;
}

// The state becomes this process's part of u, ghosts and all.
static PetscErrorCode problem_set_state(const Problem *p, Vec u) {
  CeedVector part = NULL;

  PetscFunctionBeginUser;
  PetscCall(RitzPetscVecGetCeedVector(p->whole, u, RITZ_ACCESS_READ, &part));
  RitzPetscCall(p->ceed, CeedVectorCopy(part, p->state));
  PetscCall(RitzPetscVecRestoreCeedVector(p->whole, u, &part));
  RitzPetscCall(p->ceed, RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_GHOSTS, p->state));
  PetscFunctionReturn(0);
}

// Writes u where that is wanted; *error: the norm of what it differs by from the solution in the whole
// square.
static PetscErrorCode problem_finish(const Problem *p, Vec u, RitzKnownFunction solution, void *ctx,
                                     double *error) {
  const RitzOutputField field = {.name = "u", .space = p->space, .values = p->state};
  char path[PETSC_MAX_PATH_LEN];
  PetscBool has_path = PETSC_FALSE;
  double l2 = 0;

  PetscFunctionBeginUser;
  PetscCall(problem_set_state(p, u));
  RitzPetscCall(p->ceed, RitzGeometryGetErrorNorms(p->geometry, p->ceed, p->space, p->state, 0, solution, ctx,
                                                   &l2, NULL));
  l2 *= l2;
  PetscCallMPI(MPI_Allreduce(&l2, error, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  *error = sqrt(*error);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", path, sizeof path, &has_path));
  if (has_path) RitzPetscCall(p->ceed, RitzWritePVTU(p->mesh, 1, &field, path));
  PetscFunctionReturn(0);
}

#endif
