// SPDX-License-Identifier: BSD-2-Clause
// Coarser meshes, hierarchies of spaces, Dirichlet conditions on all levels.
#include <ritz/vector.h>

#include "tests/transfer-kit.h"

// ---- Coarser meshes ----

TEST(coarser_mesh_of_a_refined_mesh_is_its_parent) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (KitMesh kind = 0; kind < KIT_NUM_MESHES; kind++) {
    RitzMesh mesh = NULL, refined = NULL, middle = NULL, coarsest = NULL, none = NULL;

    CHECK_OK(kit_mesh(ceed, kind, 1, identity_map, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 2, &refined));
    CHECK_OK(RitzMeshGetCoarser(refined, &middle));
    RitzMeshDestroy(&refined);
    CHECK(middle != NULL, "%s: levels in between are kept", kit_names[kind]);
    CHECK_OK(RitzMeshGetCoarser(middle, &coarsest));
    CHECK(coarsest == mesh, "%s: the mesh itself", kit_names[kind]);
    RitzMeshDestroy(&mesh);
    CHECK_OK(RitzMeshGetCoarser(coarsest, &none));
    CHECK(!none, "%s: nothing below", kit_names[kind]);
    RitzMeshDestroy(&middle);
    RitzMeshDestroy(&coarsest);
  }
  CeedDestroy(&ceed);
}

// Facets of a part as numbers: (element, facet).
static void check_same_part(RitzMesh a, RitzMesh b, const char *name) {
  int64_t num[2] = {0, 0}, *elements[2] = {NULL, NULL};
  int8_t *facets[2] = {NULL, NULL};

  CHECK_OK(RitzMeshGetBoundaryPart(a, name, &num[0], &elements[0], &facets[0]));
  CHECK_OK(RitzMeshGetBoundaryPart(b, name, &num[1], &elements[1], &facets[1]));
  CHECK(num[0] == num[1], "'%s' has %lld and %lld facets", name, (long long)num[0], (long long)num[1]);
  for (int64_t i = 0; i < num[0]; i++) {
    CHECK(elements[0][i] == elements[1][i] && facets[0][i] == facets[1][i], "facet %lld of '%s'",
          (long long)i, name);
  }
  for (int i = 0; i < 2; i++) {
    free(elements[i]);
    free(facets[i]);
  }
}

static void check_same_mesh(RitzMesh a, RitzMesh b, double tolerance) {
  CHECK(a->num_elem == b->num_elem && a->num_vertices == b->num_vertices && a->order == b->order, "sizes");
  CHECK(!memcmp(a->elem_vertices, b->elem_vertices, (size_t)(a->num_elem << a->dim) * 8), "topology");
  CHECK(!memcmp(a->elem_regions, b->elem_regions, (size_t)a->num_elem * 4), "regions of elements");
  CHECK(a->num_regions == b->num_regions && !strcmp(a->regions[0].name, b->regions[0].name), "regions");
  CHECK(a->num_parts == b->num_parts, "parts");
  for (int64_t i = 0; i < a->num_points * a->space_dim; i++) {
    CHECK_NEAR(a->coords[i], b->coords[i], tolerance, "coordinate %lld", (long long)i);
  }
  check_same_part(a, b, "all");
  for (CeedInt i = 0; i < b->num_parts && !tap_failed(); i++) {
    CHECK(!strcmp(a->parts[i].name, b->parts[i].name), "name of part %d", (int)i);
    check_same_part(a, b, b->parts[i].name);
  }
}

// Sampling a polynomial of the mesh's degree gives it back.
TEST(coarser_box_is_the_box_with_half_as_many_elements) {
  const CeedInt fine[3] = {4, 2, 6}, coarse[3] = {2, 1, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt order = 1; order <= 3; order++) {
      CeedInt degree = order;
      RitzMesh box = NULL, expected = NULL, found = NULL, again = NULL;

      CHECK_OK(RitzMeshCreateBox(ceed, dim, fine, NULL, NULL, order, polynomial_map, &degree, &box));
      CHECK_OK(RitzMeshCreateBox(ceed, dim, coarse, NULL, NULL, order, polynomial_map, &degree, &expected));
      CHECK_OK(RitzMeshGetCoarser(box, &found));
      CHECK(found != NULL, "there is one");
      check_same_mesh(found, expected, 200 * 2.3e-16); // interpolation; coordinates below 3
      CHECK_OK(RitzMeshGetCoarser(box, &again));
      CHECK(again == found, "made once");
      RitzMeshDestroy(&again);
      RitzMeshDestroy(&box);
      RitzMeshDestroy(&expected);
      CHECK_OK(RitzMeshGetCoarser(found, &again));
      CHECK((again != NULL) == (dim == 1), "an odd number of elements cannot be halved");
      RitzMeshDestroy(&again);
      RitzMeshDestroy(&found);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

// The nodes of a box of 2 x 2 elements with a dent in the corner (1,1).
static int dent_map(void *ctx, CeedInt dim, const double *X, double *x) {
  static const double nodes[3][3][2] = {
      {{0, 0}, {0.5, 0}, {1, 0}}, {{0, 0.5}, {0.3, 0.3}, {0.6, 0.2}}, {{0, 1}, {0.2, 0.6}, {0.45, 0.45}}};

  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = nodes[(int)lround(2 * X[1])][(int)lround(2 * X[0])][d];
  return 0;
}

TEST(there_is_no_coarser_mesh_where_an_element_would_be_inverted) {
  const CeedInt n[2] = {2, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box = NULL, coarser = NULL, quads = NULL, split = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, dent_map, NULL, &box));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(RitzMeshGetCoarser(box, &coarser));
    CHECK(!coarser, "a quadrilateral with a corner inside is no element");
  }
  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &quads));
  CHECK_OK(RitzMeshSplit(quads, CEED_TOPOLOGY_TRIANGLE, &split));
  CHECK_OK(RitzMeshGetCoarser(split, &coarser));
  CHECK(!coarser, "a mesh that was cut is no refinement");
  CHECK_ERROR(ceed, RitzMeshGetCoarser(box, NULL), CEED_ERROR_INCOMPATIBLE, "'coarse' is NULL");
  RitzMeshDestroy(&box);
  RitzMeshDestroy(&quads);
  RitzMeshDestroy(&split);
  CeedDestroy(&ceed);
}

// ---- Hierarchies ----

// Degrees and numbers of elements of the levels, coarsest first: "1:2 1:8 2:8".
static void describe(RitzHierarchy hierarchy, char *text, size_t size) {
  CeedInt num_levels = 0;
  size_t length = 0;

  CHECK_OK(RitzHierarchyGetNumLevels(hierarchy, &num_levels));
  text[0] = '\0';
  for (CeedInt level = 0; level < num_levels; level++) {
    RitzSpace space;
    RitzMesh mesh;
    CeedInt degree = 0;
    int64_t num_elem = 0;

    CHECK_OK(RitzHierarchyGetSpace(hierarchy, level, &space));
    CHECK_OK(RitzSpaceGetMesh(space, &mesh));
    CHECK_OK(RitzSpaceGetDegree(space, &degree));
    CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
    length += (size_t)snprintf(text + length, size - length, "%s%d:%d", level ? " " : "", (int)degree,
                               (int)num_elem);
  }
}

static void check_levels(RitzSpace fine, const RitzHierarchyOptions *options, const char *expected) {
  RitzHierarchy hierarchy = NULL;
  char found[200];

  CHECK_OK(RitzHierarchyCreate(fine, options, &hierarchy));
  describe(hierarchy, found, sizeof(found));
  CHECK(!strcmp(found, expected), "levels are %s, expected %s", found, expected);
  RitzHierarchyDestroy(&hierarchy);
}

TEST(hierarchies_lower_degrees_and_coarsen_meshes_in_the_order_asked_for) {
  const CeedInt n[2] = {8, 4};
  static const struct {
    RitzHierarchyOptions options;
    const char *levels;
  } cases[] = {
      {{.kind = RITZ_HIERARCHY_AUTO}, "1:2 1:8 1:32 2:32 3:32 5:32"},
      {{.kind = RITZ_HIERARCHY_P}, "1:32 2:32 3:32 5:32"},
      {{.kind = RITZ_HIERARCHY_P, .degree_divisor = 2}, "1:32 2:32 5:32"},
      {{.kind = RITZ_HIERARCHY_P, .degree_divisor = 1}, "1:32 2:32 3:32 4:32 5:32"},
      {{.kind = RITZ_HIERARCHY_P, .degree_divisor = 7}, "1:32 5:32"},
      {{.kind = RITZ_HIERARCHY_H}, "5:2 5:8 5:32"},
      {{.kind = RITZ_HIERARCHY_HP}, "1:2 2:2 3:2 5:2 5:8 5:32"},
      {{.kind = RITZ_HIERARCHY_AUTO, .min_elements = 8}, "1:8 1:32 2:32 3:32 5:32"},
      {{.kind = RITZ_HIERARCHY_AUTO, .min_elements = 9}, "1:32 2:32 3:32 5:32"},
      {{.kind = RITZ_HIERARCHY_HP, .max_levels = 4}, "3:2 5:2 5:8 5:32"},
      {{.kind = RITZ_HIERARCHY_H, .max_levels = 10}, "5:2 5:8 5:32"},
      {{.kind = RITZ_HIERARCHY_AUTO, .num_levels = 2}, "3:32 5:32"},
      {{.kind = RITZ_HIERARCHY_AUTO, .max_levels = 1}, "5:32"},
  };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  RitzSpace fine = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 5, 2, &fine));
  check_levels(fine, NULL, cases[0].levels);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && !tap_failed(); i++) {
    check_levels(fine, &cases[i].options, cases[i].levels);
  }
  RitzSpaceDestroy(&fine);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// The finest space belongs to the hierarchy as well as to the caller; all levels have transfers.
TEST(levels_of_a_hierarchy_are_nested) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL, refined = NULL;
  RitzSpace fine = NULL;
  RitzHierarchy hierarchy = NULL;
  CeedInt num_levels = 0;

  CHECK_OK(kit_mesh(ceed, KIT_PLANE, 1, identity_map, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 2, &refined));
  CHECK_OK(RitzSpaceCreate(refined, 4, 1, &fine));
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&refined);
  CHECK_OK(RitzHierarchyCreate(fine, NULL, &hierarchy));
  RitzSpaceDestroy(&fine);
  CHECK_OK(RitzHierarchyGetNumLevels(hierarchy, &num_levels));
  CHECK(num_levels == 5, "degrees 4, 2, 1, then two coarser meshes: %d levels", (int)num_levels);
  for (CeedInt level = 1; level < num_levels; level++) {
    RitzSpace below, above;
    CeedOperator prolong = NULL, restriction = NULL;

    CHECK_OK(RitzHierarchyGetSpace(hierarchy, level - 1, &below));
    CHECK_OK(RitzHierarchyGetSpace(hierarchy, level, &above));
    CHECK_OK(RitzSpaceCreateTransfer(below, above, ceed, CEED_SCALAR_TYPE, &prolong, &restriction));
    CeedOperatorDestroy(&prolong);
    CeedOperatorDestroy(&restriction);
  }
  RitzHierarchyDestroy(&hierarchy);
  CeedDestroy(&ceed);
}

TEST(view_of_a_hierarchy_has_a_line_for_each_level) {
  const CeedInt n[1] = {6};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  RitzSpace fine = NULL;
  RitzHierarchy hierarchy = NULL;
  char text[300] = "";
  FILE *file = tmpfile();

  CHECK(file != NULL, "a file to write to");
  CHECK_OK(RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 3, &fine));
  CHECK_OK(RitzHierarchyCreate(fine, NULL, &hierarchy));
  CHECK_OK(RitzHierarchyView(hierarchy, file));
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  fclose(file);
  CHECK(!strcmp(text, "level degree   elements     unknowns\n"
                      "    2      2          6           39\n"
                      "    1      1          6           21\n"
                      "    0      1          3           12\n"),
        "%s", text);
  RitzHierarchyDestroy(&hierarchy);
  RitzSpaceDestroy(&fine);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(hierarchies_that_cannot_be_had_are_refused) {
  const CeedInt n[2] = {4, 4};
  const RitzHierarchyOptions too_many = {.kind = RITZ_HIERARCHY_H, .num_levels = 4},
                             negative = {.min_elements = -1}, unknown = {.kind = (RitzHierarchyKind)9},
                             contradiction = {.num_levels = 3, .max_levels = 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  RitzSpace fine = NULL, space = NULL;
  RitzHierarchy hierarchy = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &fine));
  CHECK_ERROR(ceed, RitzHierarchyCreate(fine, &too_many, &hierarchy), CEED_ERROR_DIMENSION,
              "4 levels are wanted, possible are 3");
  CHECK_ERROR(ceed, RitzHierarchyCreate(fine, &negative, &hierarchy), CEED_ERROR_DIMENSION,
              "min_elements -1");
  CHECK_ERROR(ceed, RitzHierarchyCreate(fine, &unknown, &hierarchy), CEED_ERROR_INCOMPATIBLE,
              "9 is no kind of hierarchy");
  CHECK_ERROR(ceed, RitzHierarchyCreate(fine, &contradiction, &hierarchy), CEED_ERROR_DIMENSION,
              "3 levels are wanted, but at most 2");
  CHECK(!hierarchy, "nothing was made");
  CHECK_OK(RitzHierarchyCreate(fine, NULL, &hierarchy));
  CHECK_ERROR(ceed, RitzHierarchyGetSpace(hierarchy, 4, &space), CEED_ERROR_DIMENSION,
              "there is no level 4, the hierarchy has 4");
  RitzHierarchyDestroy(&hierarchy);
  RitzSpaceDestroy(&fine);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Dirichlet conditions ----

// All components on xmin, component 1 on ymax and zmax.
static bool is_fixed(const double *x, CeedInt dim, CeedInt comp) {
  return x[0] == 0.0 || (comp == 1 && (x[1] == 1.0 || (dim > 2 && x[2] == 1.0)));
}

TEST(constraints_are_the_entries_of_the_nodes_on_the_parts) {
  const CeedInt n[3] = {2, 3, 2};
  const RitzFixedPart parts[3] = {{.part = "xmin"},
                                  {.part = "ymax", .num_comp = 1, .comp = {1}},
                                  {.part = "zmax", .num_comp = 1, .comp = {1}}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 2; dim <= 3; dim++) {
    RitzMesh mesh = NULL;
    RitzSpace space = NULL;
    RitzIndices constraints = NULL;
    const int64_t *entries;
    int64_t num = 0, next = 0, num_nodes = 0;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
    CHECK_OK(RitzSpaceCreate(mesh, 2, dim, &space));
    CHECK_OK(RitzSpaceCreateConstraints(space, ceed, dim, parts, &constraints));
    CHECK_OK(RitzIndicesGet(constraints, &num, &entries));
    CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
    double *x = malloc((size_t)(num_nodes * dim) * 8);

    CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
    for (int64_t i = 0; i < num_nodes * dim; i++) {
      if (!is_fixed(x + i / dim * dim, dim, (CeedInt)(i % dim))) continue;
      CHECK(next < num && entries[next] == i, "entry %lld", (long long)i);
      next++;
    }
    CHECK(next == num, "%lld entries, expected %lld", (long long)num, (long long)next);
    free(x);
    RitzIndicesDestroy(&constraints);
    RitzSpaceDestroy(&space);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(all_and_none_are_constraints_too) {
  const CeedInt n[2] = {2, 2};
  const RitzFixedPart all = {.part = "all"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzIndices constraints = NULL;
  int64_t num = -1;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 3, 4, &space));
  CHECK_OK(RitzSpaceCreateConstraints(space, ceed, 1, &all, &constraints));
  CHECK_OK(RitzIndicesGet(constraints, &num, NULL));
  CHECK(num == 4 * 24, "7 x 7 nodes, 24 on the boundary, 4 components: %lld", (long long)num);
  RitzIndicesDestroy(&constraints);
  CHECK_OK(RitzSpaceCreateConstraints(space, ceed, 0, NULL, &constraints));
  CHECK_OK(RitzIndicesGet(constraints, &num, NULL));
  CHECK(num == 0, "no parts, no entries");
  RitzIndicesDestroy(&constraints);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(constraints_on_what_is_not_there_are_refused) {
  const CeedInt n[2] = {2, 2};
  const RitzFixedPart unknown = {.part = "top"}, nameless = {.part = NULL},
                      beyond = {.part = "xmin", .num_comp = 1, .comp = {2}},
                      too_many = {.part = "xmin", .num_comp = 4};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzIndices constraints = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 2, &space));
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, 1, &unknown, &constraints),
              CEED_ERROR_INCOMPATIBLE, "no boundary part is called 'top'; there are: all xmin");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, 1, &nameless, &constraints),
              CEED_ERROR_INCOMPATIBLE, "part 0 has no name");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, 1, &beyond, &constraints), CEED_ERROR_DIMENSION,
              "component 2 of part 'xmin', the space has 2");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, 1, &too_many, &constraints), CEED_ERROR_DIMENSION,
              "4 components of part 'xmin', needed 0 (all) to 3");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, -1, &beyond, &constraints), CEED_ERROR_DIMENSION,
              "-1 parts");
  CHECK_ERROR(ceed, RitzSpaceCreateConstraints(space, ceed, 1, NULL, &constraints), CEED_ERROR_INCOMPATIBLE,
              "'parts' is NULL");
  CHECK(!constraints, "nothing was made");
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Memory ----

// Hierarchy, transfers of the finest level, constraints; the first code that is not 0.
static int use_levels(Ceed ceed, RitzSpace fine) {
  const RitzFixedPart all = {.part = "all"};
  RitzHierarchy hierarchy = NULL;
  RitzSpace below = NULL;
  RitzIndices constraints = NULL;
  CeedOperator prolong = NULL, restriction = NULL;
  CeedInt num_levels = 0;
  int ierr = RitzHierarchyCreate(fine, NULL, &hierarchy);

  if (!ierr) ierr = RitzHierarchyGetNumLevels(hierarchy, &num_levels);
  if (!ierr) ierr = RitzHierarchyGetSpace(hierarchy, num_levels - 2, &below);
  if (!ierr) ierr = RitzSpaceCreateTransfer(below, fine, ceed, CEED_SCALAR_TYPE, &prolong, &restriction);
  if (!ierr) ierr = RitzSpaceCreateConstraints(below, ceed, 1, &all, &constraints);
  CeedOperatorDestroy(&prolong);
  CeedOperatorDestroy(&restriction);
  RitzIndicesDestroy(&constraints);
  RitzHierarchyDestroy(&hierarchy);
  return ierr;
}

// A mesh with a level below that is not made yet, or a refined one.
static int create_fine(Ceed ceed, bool is_box, RitzSpace *fine) {
  const CeedInt n[3] = {2, 2, 2};
  RitzMesh mesh = NULL, box = NULL;
  int ierr = is_box ? RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 2, NULL, NULL, &mesh)
                    : kit_mesh(ceed, KIT_SOLIDS, 1, identity_map, &box);

  if (!ierr && !is_box) ierr = RitzMeshRefine(box, 1, &mesh);
  if (!ierr) ierr = RitzSpaceCreate(mesh, 1, 2, fine);
  RitzMeshDestroy(&box);
  RitzMeshDestroy(&mesh);
  return ierr;
}

TEST(allocations_that_fail_are_reported_and_lose_nothing) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const int stride = tap_level() == TAP_QUICK ? 3 : 1;

  for (int is_box = 0; is_box < 2; is_box++) {
    int ierr = CEED_ERROR_MAJOR;

    for (int64_t n = 1; ierr; n += stride) {
      const int64_t live = ritz_memory_live();
      RitzSpace fine = NULL;

      CHECK_OK(create_fine(ceed, is_box, &fine));
      ritz_memory_fail_at(n);
      ierr = use_levels(ceed, fine);
      ritz_memory_fail_at(0);
      CHECK(!ierr || ierr == CEED_ERROR_MAJOR || ierr == CEED_ERROR_BACKEND, "allocation %lld: code %d",
            (long long)n, ierr);
      CHECK_OK(use_levels(ceed, fine));
      RitzSpaceDestroy(&fine);
      CHECK(ritz_memory_live() == live, "allocation %lld: %lld are left", (long long)n,
            (long long)(ritz_memory_live() - live));
      CHECK(ierr || n > 50, "there were allocations");
    }
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(coarser_mesh_of_a_refined_mesh_is_its_parent, coarser_box_is_the_box_with_half_as_many_elements,
            there_is_no_coarser_mesh_where_an_element_would_be_inverted,
            hierarchies_lower_degrees_and_coarsen_meshes_in_the_order_asked_for,
            levels_of_a_hierarchy_are_nested, view_of_a_hierarchy_has_a_line_for_each_level,
            hierarchies_that_cannot_be_had_are_refused, constraints_are_the_entries_of_the_nodes_on_the_parts,
            all_and_none_are_constraints_too, constraints_on_what_is_not_there_are_refused,
            allocations_that_fail_are_reported_and_lose_nothing));
}
