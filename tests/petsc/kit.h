// SPDX-License-Identifier: BSD-2-Clause
// What the test programs of libritz-petsc share: they are programs of PETSc, run by tools/check-petsc with
// several numbers of processes. A test is a function; the first check that fails ends the program.
#ifndef RITZ_TESTS_PETSC_KIT_H
#define RITZ_TESTS_PETSC_KIT_H

#include <math.h>
#include <ritz.h>
#include <ritz/petsc.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond, ...) PetscCheck(cond, PETSC_COMM_SELF, PETSC_ERR_PLIB, __VA_ARGS__)
#define CHECK_NEAR(a, b, tol, what)                                                                          \
  CHECK(fabs((double)(a) - (double)(b)) <= (tol), "%s: %.17g, needed %.17g up to %g", what, (double)(a),     \
        (double)(b), (double)(tol))

// The call fails with that code, and its message says `text`.
#define CHECK_FAILS(call, code, text)                                                                        \
  do {                                                                                                       \
    PetscCall(PetscPushErrorHandler(kit_keep_message, NULL));                                                \
    kit_message[0] = 0;                                                                                      \
    const PetscErrorCode kit_code_ = (call);                                                                 \
    PetscCall(PetscPopErrorHandler());                                                                       \
    CHECK(kit_code_ == (code) && strstr(kit_message, text), "%s: code %d '%s', needed %d '%s'", #call,       \
          (int)kit_code_, kit_message, (int)(code), text);                                                   \
  } while (0)

static char kit_message[1024];

static inline PetscErrorCode kit_keep_message(MPI_Comm comm, int line, const char *function, const char *file,
                                              PetscErrorCode code, PetscErrorType type, const char *message,
                                              void *ctx) {
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  if (type == PETSC_ERROR_INITIAL && message) snprintf(kit_message, sizeof kit_message, "%s", message);
  return code;
}

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Ceed ceed);
} KitTest;

static inline PetscErrorCode kit_run(int argc, char **argv, size_t num, const KitTest tests[]) {
  char resource[256] = "/cpu/self:threads=1";
  Ceed ceed = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ceed", resource, sizeof resource, NULL));
  RitzPetscCall(NULL, CeedInit(resource, &ceed));
  RitzPetscCall(ceed, CeedSetErrorHandler(ceed, CeedErrorStore));
  for (size_t i = 0; i < num; i++) {
    PetscCall(tests[i].run(ceed));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok %s\n", tests[i].name));
  }
  RitzPetscCall(NULL, CeedDestroy(&ceed));
  PetscCall(PetscFinalize());
  PetscFunctionReturn(0);
}

// ---- Problems ----

// A part of a box of n^3 hexahedra, or of examples/meshes/`file`, refined `levels` times.
static inline PetscErrorCode kit_mesh(Ceed ceed, const char *file, CeedInt n, CeedInt levels,
                                      RitzMesh *mesh) {
  const CeedInt sizes[] = {n, n, n};
  RitzMesh whole = NULL, coarse = NULL;
  char path[256];

  PetscFunctionBeginUser;
  snprintf(path, sizeof path, "examples/meshes/%s", file ? file : "");
  RitzPetscCall(ceed, file ? RitzMeshRead(ceed, path, &whole)
                           : RitzMeshCreateBox(ceed, 3, sizes, NULL, NULL, 1, NULL, NULL, &whole));
  PetscCall(RitzPetscMeshCreatePart(PETSC_COMM_WORLD, whole, NULL, &coarse));
  RitzPetscCall(ceed, RitzMeshRefine(coarse, levels, mesh));
  RitzPetscCall(ceed, RitzMeshDestroy(&coarse));
  RitzPetscCall(ceed, RitzMeshDestroy(&whole));
  PetscFunctionReturn(0);
}

static inline int kit_operators(Ceed ceed, RitzSpace space, RitzOperatorKind kind, CeedOperator *inside,
                                CeedOperator *seam) {
  RitzOperatorOptions options = {.kind = kind, .space = space};
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

// A space and a matrix on it; fixed: a boundary part, NULL: none.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzPetscSpace s;
  RitzIndices constraints;
  Mat mat;
} KitProblem;

static inline PetscErrorCode kit_problem(Ceed ceed, const char *file, CeedInt degree, CeedInt num_comp,
                                         RitzOperatorKind kind, const char *fixed, KitProblem *p) {
  const RitzFixedPart part = {.part = fixed};
  CeedOperator inside = NULL, seam = NULL;

  PetscFunctionBeginUser;
  *p = (KitProblem){.ceed = ceed};
  PetscCall(kit_mesh(ceed, file, 3, 0, &p->mesh));
  RitzPetscCall(ceed, RitzSpaceCreate(p->mesh, degree, num_comp, &p->space));
  PetscCall(RitzPetscSpaceCreate(PETSC_COMM_WORLD, ceed, p->space, &p->s));
  if (fixed) RitzPetscCall(ceed, RitzSpaceCreateConstraints(p->space, ceed, 1, &part, &p->constraints));
  RitzPetscCall(ceed, kit_operators(ceed, p->space, kind, &inside, &seam));
  PetscCall(RitzPetscMatCreate(p->s, inside, seam, p->constraints, PETSC_TRUE, &p->mat));
  RitzPetscCall(ceed, CeedOperatorDestroy(&inside));
  RitzPetscCall(ceed, CeedOperatorDestroy(&seam));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode kit_clear(KitProblem *p) {
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&p->mat));
  PetscCall(RitzPetscSpaceDestroy(&p->s));
  RitzPetscCall(p->ceed, RitzIndicesDestroy(&p->constraints));
  RitzPetscCall(p->ceed, RitzSpaceDestroy(&p->space));
  RitzPetscCall(p->ceed, RitzMeshDestroy(&p->mesh));
  PetscFunctionReturn(0);
}

// Numbers in [-1, 1] that are the same for a global entry in any number of processes.
static inline PetscErrorCode kit_fill(Vec v, int seed) {
  PetscInt first = 0, end = 0;
  PetscScalar *array = NULL;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &end));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt i = first; i < end; i++) array[i - first] = sin(1.0 + 12.9898 * (double)i + 78.233 * seed);
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(0);
}

// |a - b| <= tol * |a|.
static inline PetscErrorCode kit_same(Vec a, Vec b, double tol, const char *what) {
  PetscReal size = 0, difference = 0;
  Vec d = NULL;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecCopy(a, d));
  PetscCall(VecNorm(d, NORM_2, &size));
  PetscCall(VecAXPY(d, -1, b));
  PetscCall(VecNorm(d, NORM_2, &difference));
  PetscCall(VecDestroy(&d));
  CHECK(size > 0, "%s: zero", what);
  CHECK(difference <= tol * size, "%s: they differ by %g of %g, needed %g", what, difference, size,
        tol * size);
  PetscFunctionReturn(0);
}

#endif
