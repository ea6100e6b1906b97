// SPDX-License-Identifier: BSD-2-Clause
// Multigrid on meshes of other projects: every shape of element, curved, periodic and mixed ones, by lower
// degrees and, where they are refined, coarser meshes. Solved on the reference backend: meshes are small, and
// there is nothing to compile.
#include "tests/multigrid-kit.h"

#include <stdio.h>

typedef struct {
  const char *name;
  CeedInt dim, refine, degree, bound;
} MeshCase;

// From zero to 1e-9 (in float 1e-5) for random right-hand sides, values given on all of the boundary; bounds
// are what was found, and two more.
static const MeshCase cases[] = {
    {"beam-hex.mesh", 3, 0, 3, 7},      {"beam-tet.mesh", 3, 0, 3, 7},      {"compass.msh", 2, 0, 3, 14},
    {"escher.mesh", 3, 0, 3, 8},        {"fichera-mixed.mesh", 3, 0, 3, 8}, {"fichera-q3.mesh", 3, 0, 3, 8},
    {"fichera.mesh", 3, 0, 3, 8},       {"nested_cubes.msh", 3, 0, 3, 9},   {"periodic-cube.msh", 3, 0, 3, 8},
    {"star-q3.mesh", 2, 0, 3, 9},       {"star.mesh", 2, 0, 4, 8},          {"star.mesh", 2, 1, 4, 8},
    {"star.mesh", 2, 3, 4, 8},          {"star.mesh", 2, 2, 8, 10},         {"toroid-hex.mesh", 3, 0, 3, 7},
    {"fichera-mixed.mesh", 3, 1, 2, 8},
};

static int open_mesh(Ceed ceed, const MeshCase *m, RitzMesh *mesh) {
  char path[1000];
  RitzMesh read = NULL;
  snprintf(path, sizeof(path), "%s/%s", tap_meshes(), m->name);
  CeedCall(RitzMeshReadWith(ceed, path, &(RitzMeshReadOptions){.ignore_periodic = true}, &read));
  const int ierr = RitzMeshRefine(read, m->refine, mesh);
  return ierr | RitzMeshDestroy(&read);
}

static int open_kit(Ceed ceed, const MeshCase *m, const MultigridCase *c, MultigridKit *k) {
  const RitzFixedPart all = {.part = "all"};
  *k = (MultigridKit){.ceed = ceed, .c = c};
  CeedCall(open_mesh(ceed, m, &k->mesh));
  CeedCall(RitzSpaceCreate(k->mesh, m->degree, 1, &k->space));
  CeedCall(RitzSpaceGetSize(k->space, &k->n));
  CeedCall(RitzHierarchyCreate(k->space, NULL, &k->hierarchy));
  CeedCall(RitzSpaceCreateConstraints(k->space, ceed, 1, &all, &k->fixed));
  CeedCall(kit_operator(k, 0, k->space, &k->op));
  return RitzPreconditionerCreateMultigridOfHierarchy(ceed, k->hierarchy, kit_operator, NULL, k, 1, &all,
                                                      &c->options, &k->pc);
}

static void check_mesh(Ceed ceed, const MeshCase *m) {
  const MultigridCase c = {.dim = m->dim, .n = 1, .degree = m->degree};
  const double rtol = sizeof(CeedScalar) == 4 ? 1e-5 : 1e-9;
  MultigridKit k;
  MultigridResult result = {0};
  CHECK_OK(open_kit(ceed, m, &c, &k));
  CeedVector b = kit_random(&k, 7), x = kit_vector(&k);
  CHECK_OK(kit_solve(&k, rtol, b, x, &result));
  tap_note("%s, refined %d times, degree %d: %d iterations", m->name, (int)m->refine, (int)m->degree,
           (int)result.iterations);
  CHECK(result.reason > 0 && result.iterations <= m->bound, "%s, degree %d: %s after %d iterations, bound %d",
        m->name, (int)m->degree, RitzSolverReasonName(result.reason), (int)result.iterations, (int)m->bound);
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(kit_close(&k));
}

TEST(iterations_are_bounded_on_meshes_of_other_projects) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  if (!tap_meshes()) tap_skip("RITZ_TEST_MESHES is not set");
  for (size_t i = 0; tap_meshes() && !tap_failed() && i < sizeof(cases) / sizeof(cases[0]); i++)
    check_mesh(ceed, &cases[i]);
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(iterations_are_bounded_on_meshes_of_other_projects));
}
