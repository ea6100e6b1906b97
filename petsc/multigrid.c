// SPDX-License-Identifier: BSD-2-Clause
// PCMG of a hierarchy: a MATSHELL and a transfer for each level, the coarsest operator assembled. PCMG does
// the cycle, KSPs the smoothing, options of PETSc change both.
#include "petsc/petsc-objects.h"

#define MAX_DIRECT 10000 // unknowns of a coarsest problem that every process solves by itself

// Arguments of a creation.
typedef struct {
  PC pc; // borrowed, as all that follows
  Ceed ceed;
  RitzHierarchy hierarchy;
  RitzPartLevelFunction create_operators;
  void *ctx;
  CeedInt num_fixed;
  const RitzFixedPart *fixed;
} Setup;

typedef struct {
  RitzPetscSpace space;    // owned
  RitzIndices constraints; // owned
} Level;

static PetscErrorCode create_level(const Setup *s, CeedInt i, Level *level) {
  RitzSpace space = NULL;

  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, RitzHierarchyGetSpace(s->hierarchy, i, &space));
  PetscCall(RitzPetscSpaceCreate(PetscObjectComm((PetscObject)s->pc), s->ceed, space, &level->space));
  RitzPetscCall(s->ceed,
                RitzSpaceCreateConstraints(space, s->ceed, s->num_fixed, s->fixed, &level->constraints));
  PetscFunctionReturn(0);
}

static PetscErrorCode clear_level(const Setup *s, Level *level) {
  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, RitzIndicesDestroy(&level->constraints));
  PetscCall(RitzPetscSpaceDestroy(&level->space));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_operator(const Setup *s, CeedInt i, const Level *level, Mat *mat) {
  CeedOperator inside = NULL, seam = NULL;

  PetscFunctionBeginUser;
  RitzPetscCall(s->ceed, s->create_operators(s->ctx, i, level->space->space, &inside, &seam));
  PetscCall(RitzPetscMatCreate(level->space, inside, seam, level->constraints, PETSC_TRUE, mat));
  RitzPetscCall(s->ceed, CeedOperatorDestroy(&inside));
  RitzPetscCall(s->ceed, CeedOperatorDestroy(&seam));
  PetscFunctionReturn(0);
}

// ---- Levels ----

static PetscErrorCode set_smoother(const Setup *s, CeedInt i, Mat mat) {
  KSP ksp = NULL;
  PC pc = NULL;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetSmoother(s->pc, i, &ksp));
  if (mat) PetscCall(KSPSetOperators(ksp, mat, mat));
  PetscCall(KSPSetType(ksp, KSPCHEBYSHEV));
  PetscCall(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscFunctionReturn(0);
}

// Vectors whose local forms are L-vectors, where PCMG would make others.
static PetscErrorCode set_vectors(const Setup *s, CeedInt i, bool is_finest, RitzPetscSpace space) {
  Vec b = NULL, x = NULL, r = NULL;

  PetscFunctionBeginUser;
  if (!is_finest) {
    PetscCall(RitzPetscSpaceCreateVec(space, &b));
    PetscCall(PCMGSetRhs(s->pc, i, b));
    PetscCall(RitzPetscSpaceCreateVec(space, &x));
    PetscCall(PCMGSetX(s->pc, i, x));
  }
  if (i > 0) {
    PetscCall(RitzPetscSpaceCreateVec(space, &r));
    PetscCall(PCMGSetR(s->pc, i, r));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_rigid_body(RitzPetscSpace space, Mat aij) {
  MatNullSpace motions = NULL;
  Vec x = NULL;
  PetscInt space_dim = 0;

  PetscFunctionBeginUser;
  PetscCall(RitzPetscSpaceCreateCoordinates(space, &x));
  PetscCall(VecGetBlockSize(x, &space_dim));
  if (space_dim > 1 && space_dim == space->num_comp) {
    PetscCall(MatNullSpaceCreateRigidBody(x, &motions));
    PetscCall(MatSetNearNullSpace(aij, motions));
    PetscCall(MatNullSpaceDestroy(&motions));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_coarsest(const Setup *s, const Level *level) {
  PetscMPIInt size = 1;
  Mat mat = NULL, aij = NULL;
  KSP ksp = NULL;
  PC pc = NULL;

  PetscFunctionBeginUser;
  PetscCall(create_operator(s, 0, level, &mat));
  PetscCall(RitzPetscMatAssemble(mat, MAT_INITIAL_MATRIX, &aij));
  PetscCall(set_rigid_body(level->space, aij));
  PetscCall(PCMGGetCoarseSolve(s->pc, &ksp));
  PetscCall(KSPSetOperators(ksp, aij, aij));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCallMPI(MPI_Comm_size(level->space->comm, &size));
  PetscCall(PCSetType(pc, size == 1 ? PCLU : level->space->num_all <= MAX_DIRECT ? PCREDUNDANT : PCGAMG));
  PetscCall(MatDestroy(&aij));
  PetscCall(MatDestroy(&mat));
  PetscFunctionReturn(0);
}

// Level i > 0 above the level `below`.
static PetscErrorCode set_level(const Setup *s, CeedInt i, bool is_finest, const Level *below,
                                const Level *level) {
  Mat mat = NULL, transfer = NULL;

  PetscFunctionBeginUser;
  if (!is_finest) PetscCall(create_operator(s, i, level, &mat));
  PetscCall(set_smoother(s, i, mat));
  PetscCall(RitzPetscMatCreateTransfer(below->space, below->constraints, level->space, level->constraints,
                                       &transfer));
  PetscCall(PCMGSetInterpolation(s->pc, i, transfer));
  PetscCall(MatDestroy(&transfer));
  PetscCall(MatDestroy(&mat));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_levels(const Setup *s, CeedInt num) {
  Level below = {NULL, NULL}, level = {NULL, NULL};

  PetscFunctionBeginUser;
  for (CeedInt i = 0; i < num; i++) {
    PetscCall(create_level(s, i, &level));
    PetscCall(i == 0 ? set_coarsest(s, &level) : set_level(s, i, i == num - 1, &below, &level));
    PetscCall(set_vectors(s, i, i == num - 1, level.space));
    if (i > 0) PetscCall(clear_level(s, &below));
    below = level;
    level = (Level){NULL, NULL};
  }
  PetscCall(clear_level(s, &below));
  PetscFunctionReturn(0);
}

PetscErrorCode RitzPetscPCSetHierarchy(PC pc, Ceed ceed, RitzHierarchy hierarchy,
                                       RitzPartLevelFunction create_operators, void *ctx, PetscInt num_fixed,
                                       const RitzFixedPart fixed[]) {
  const Setup s = {.pc = pc,
                   .ceed = ceed,
                   .hierarchy = hierarchy,
                   .create_operators = create_operators,
                   .ctx = ctx,
                   .num_fixed = (CeedInt)num_fixed,
                   .fixed = fixed};
  CeedInt num = 0;

  PetscFunctionBeginUser;
  PetscCheck(pc && ceed && hierarchy && create_operators, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzPetscPCSetHierarchy: argument '%s' is NULL",
             !pc          ? "pc"
             : !ceed      ? "ceed"
             : !hierarchy ? "hierarchy"
                          : "create_operators");
  RitzPetscCall(ceed, RitzHierarchyGetNumLevels(hierarchy, &num));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, num, NULL));
  PetscCall(set_levels(&s, num));
  PetscFunctionReturn(0);
}
