// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation -div grad u = 1 with u = 0 on the boundary, solved by PETSc with operators and levels of
// Ritz:
//
//     mpicc examples/petsc/poisson.c $(pkg-config --cflags --libs ritz-petsc) -lm -o poisson
//     mpiexec -n 4 ./poisson -order 4 -ksp_monitor
//     mpiexec -n 4 ./poisson -mesh mesh.msh -mg_levels_ksp_max_it 2 -mg_coarse_pc_type gamg
//     mpiexec -n 4 ./poisson -mesh mesh.msh -plex -pc_type jacobi
//
//     -mesh FILE: read by Ritz, with -plex by DMPlex; else -box N: N^3 hexahedra
//     -refine LEVELS  -order P  -ceed RESOURCE  -part NAME: where u = 0, "all" without
//     -fail RANK: that process ends with an error instead of solving, to see what others do
//
// and all options of KSP and PC. Prints sizes, iterations and the energy u . b to 13 digits, which does not
// depend on the number of processes but for rounding.
#include <ritz.h>
#include <ritz/petsc.h>
#include <stdlib.h>

typedef struct {
  char mesh[PETSC_MAX_PATH_LEN], resource[256], part[256], pc[64];
  PetscInt box, levels, order, fails;
  PetscBool has_mesh, is_plex, has_pc;
} Options;

// Everything of one process.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzPetscSpace whole; // the space of all processes
  RitzFixedPart fixed;
  RitzIndices boundary;
  Mat mat;
  Vec b, x;
  KSP ksp;
} Problem;

static PetscErrorCode get_options(Options *o) {
  PetscFunctionBeginUser;
  PetscCall(PetscStrcpy(o->resource, "/cpu/self:threads=1"));
  PetscCall(PetscStrcpy(o->part, "all"));
  o->box = 8;
  o->order = 3;
  o->fails = -1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", o->mesh, sizeof o->mesh, &o->has_mesh));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ceed", o->resource, sizeof o->resource, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-part", o->part, sizeof o->part, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", o->pc, sizeof o->pc, &o->has_pc));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-plex", &o->is_plex, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-box", &o->box, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &o->levels, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &o->order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fail", &o->fails, NULL));
  PetscFunctionReturn(0);
}

// ---- Mesh and space ----

// DMPlex in one process or distributed: its parts are those of the problem.
static PetscErrorCode read_plex(const Options *o, Ceed ceed, RitzMesh *whole, int32_t **parts) {
  PetscPartitioner partitioner = NULL;
  DM dm = NULL, distributed = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_WORLD, o->mesh, "mesh", PETSC_TRUE, &dm));
  PetscCall(DMPlexGetPartitioner(dm, &partitioner));
  PetscCall(PetscPartitionerSetFromOptions(partitioner)); // -petscpartitioner_type
  PetscCall(DMPlexDistribute(dm, 0, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(&dm));
    dm = distributed;
  }
  PetscCall(RitzMeshFromDMPlex(dm, ceed, whole, parts));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_mesh(const Options *o, Problem *p) {
  const CeedInt n[] = {(CeedInt)o->box, (CeedInt)o->box, (CeedInt)o->box};
  RitzMesh whole = NULL, coarse = NULL;
  int32_t *parts = NULL;

  PetscFunctionBeginUser;
  if (o->has_mesh && o->is_plex) {
    PetscCall(read_plex(o, p->ceed, &whole, &parts));
  } else if (o->has_mesh) {
    RitzPetscCall(p->ceed, RitzMeshRead(p->ceed, o->mesh, &whole));
  } else {
    RitzPetscCall(p->ceed, RitzMeshCreateBox(p->ceed, 3, n, NULL, NULL, 1, NULL, NULL, &whole));
  }
  PetscCall(RitzPetscMeshCreatePart(PETSC_COMM_WORLD, whole, parts, &coarse));
  free(parts);
  RitzPetscCall(p->ceed, RitzMeshDestroy(&whole));
  RitzPetscCall(p->ceed, RitzMeshRefine(coarse, (CeedInt)o->levels, &p->mesh));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&coarse));
  RitzPetscCall(p->ceed, RitzSpaceCreate(p->mesh, (CeedInt)o->order, 1, &p->space));
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, p->ceed, p->space, &p->whole));
  PetscFunctionReturn(0);
}

// ---- Operators ----

// Diffusion on the elements without ghosts and on the others, either of which there may be none of.
static int make_diffusion(Ceed ceed, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;
  int code = RitzSpaceGetMesh(space, &mesh);

  if (!code) code = RitzGeometryCreate(mesh, -1, &geometry);
  options.elements = RITZ_ELEMENTS_INSIDE;
  if (!code) code = RitzGeometryCreateOperator(geometry, ceed, &options, inside);
  options.elements = RITZ_ELEMENTS_SEAM;
  if (!code) code = RitzGeometryCreateOperator(geometry, ceed, &options, seam);
  RitzGeometryDestroy(&geometry);
  return code;
}

static PetscErrorCode make_matrix(const Options *o, Problem *p) {
  CeedOperator inside = NULL, seam = NULL;

  PetscFunctionBeginUser;
  p->fixed.part = o->part;
  RitzPetscCall(p->ceed, RitzSpaceCreateConstraints(p->space, p->ceed, 1, &p->fixed, &p->boundary));
  RitzPetscCall(p->ceed, make_diffusion(p->ceed, p->space, &inside, &seam));
  PetscCall(RitzPetscMatCreate(p->whole, inside, seam, p->boundary, PETSC_TRUE, &p->mat));
  RitzPetscCall(p->ceed, CeedOperatorDestroy(&inside));
  RitzPetscCall(p->ceed, CeedOperatorDestroy(&seam));
  PetscFunctionReturn(0);
}

// y = M 1 with what other parts add to owned entries, zero on the boundary.
static int integrate(const Problem *p, RitzExchange exchange, CeedVector x, CeedVector y) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p->space};
  RitzGeometry geometry = NULL;
  CeedOperator mass = NULL;
  int code = RitzGeometryCreate(p->mesh, -1, &geometry);

  if (!code) code = RitzGeometryCreateOperator(geometry, p->ceed, &options, &mass);
  if (!code) code = CeedVectorSetValue(x, 1);
  if (!code) code = CeedVectorSetValue(y, 0);
  if (!code && mass) code = CeedOperatorApply(mass, x, y, CEED_REQUEST_IMMEDIATE);
  if (!code) code = RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_OWNERS, y);
  if (!code) code = RitzVectorSetEntries(y, p->boundary, 0);
  CeedOperatorDestroy(&mass);
  RitzGeometryDestroy(&geometry);
  return code;
}

static PetscErrorCode make_vectors(Problem *p) {
  RitzExchange exchange = NULL;
  CeedVector b = NULL, x = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(p->mat, &p->x, &p->b));
  PetscCall(RitzPetscSpaceGetExchange(p->whole, &exchange));
  PetscCall(RitzPetscVecGetCeedVector(p->whole, p->b, RITZ_ACCESS_WRITE, &b));
  PetscCall(RitzPetscVecGetCeedVector(p->whole, p->x, RITZ_ACCESS_WRITE, &x));
  const int code = integrate(p, exchange, x, b);

  PetscCall(RitzPetscVecRestoreCeedVector(p->whole, p->x, &x));
  PetscCall(RitzPetscVecRestoreCeedVector(p->whole, p->b, &b));
  RitzPetscCall(p->ceed, code);
  PetscCall(VecSet(p->x, 0));
  PetscFunctionReturn(0);
}

// ---- The solve ----

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  const Problem *p = ctx;

  (void)level;
  return make_diffusion(p->ceed, space, inside, seam);
}

// Multigrid, unless -pc_type asks for something else.
static PetscErrorCode make_preconditioner(const Options *o, Problem *p) {
  RitzHierarchy hierarchy = NULL;
  PetscBool is_mg = PETSC_TRUE;
  PC pc = NULL;

  PetscFunctionBeginUser;
  if (o->has_pc) PetscCall(PetscStrcmp(o->pc, PCMG, &is_mg));
  if (!is_mg) PetscFunctionReturn(0);
  PetscCall(KSPGetPC(p->ksp, &pc));
  RitzPetscCall(p->ceed, RitzHierarchyCreate(p->space, NULL, &hierarchy));
  PetscCall(RitzPetscPCSetHierarchy(pc, p->ceed, hierarchy, make_level, p, 1, &p->fixed));
  RitzPetscCall(p->ceed, RitzHierarchyDestroy(&hierarchy));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(const Options *o, Problem *p) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscMPIInt size = 1;
  PetscInt its = 0, num = 0;
  PetscScalar energy = 0;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp));
  PetscCall(KSPSetOperators(p->ksp, p->mat, p->mat));
  PetscCall(KSPSetType(p->ksp, KSPCG));
  PetscCall(KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(p->ksp, 1e-12, 0, PETSC_DEFAULT, 5000));
  PetscCall(make_preconditioner(o, p));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(KSPGetConvergedReason(p->ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "no solution: %s",
             KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(p->ksp, &its));
  PetscCall(VecDot(p->x, p->b, &energy));
  PetscCall(VecGetSize(p->x, &num));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "parts       %d\nunknowns    %" PetscInt_FMT "\niterations  %" PetscInt_FMT
                        ", %s\nenergy      %.13g\n",
                        size, num, its, KSPConvergedReasons[reason], energy));
  PetscFunctionReturn(0);
}

static PetscErrorCode clear(Problem *p) {
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&p->ksp));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->b));
  PetscCall(MatDestroy(&p->mat));
  PetscCall(RitzPetscSpaceDestroy(&p->whole));
  RitzPetscCall(p->ceed, RitzIndicesDestroy(&p->boundary));
  RitzPetscCall(p->ceed, RitzSpaceDestroy(&p->space));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&p->mesh));
  RitzPetscCall(NULL, CeedDestroy(&p->ceed));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Options o = {.levels = 0};
  Problem p = {.ceed = NULL};
  PetscMPIInt rank = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Poisson's equation by PETSc and Ritz\n"));
  PetscCall(get_options(&o));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  RitzPetscCall(NULL, CeedInit(o.resource, &p.ceed));
  RitzPetscCall(p.ceed, CeedSetErrorHandler(p.ceed, CeedErrorStore));
  if (o.fails == rank)
    RitzPetscCall(p.ceed, CeedError(p.ceed, CEED_ERROR_MAJOR, "poisson: process %d was asked to fail", rank));
  PetscCall(make_mesh(&o, &p));
  PetscCall(make_matrix(&o, &p));
  PetscCall(make_vectors(&p));
  PetscCall(solve(&o, &p));
  PetscCall(clear(&p));
  PetscCall(PetscFinalize());
  return 0;
}
