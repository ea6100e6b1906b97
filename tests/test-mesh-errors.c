// SPDX-License-Identifier: BSD-2-Clause
// Tests of what cannot be a mesh: every check of building gives its code and names the place; no memory is
// lost on the way, whichever allocation fails.
#include "tests/mesh-tools.h"

// A box of the tests as a draft with places 100, 101, ... for its elements.
static int placed_draft(Ceed ceed, CeedInt dim, CeedInt order, RitzMeshDraft *draft) {
  RitzMesh mesh;

  RITZ_TRY(make_box(ceed, dim, order, NULL, NULL, &mesh));
  *draft = draft_of_mesh(mesh);
  RITZ_TRY(RitzMeshDestroy(&mesh));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_elem, &draft->elem_place));
  for (int64_t e = 0; e < draft->num_elem; e++) draft->elem_place[e] = 100 + e;
  return CEED_ERROR_SUCCESS;
}

// Building the draft fails, empties it and leaves no mesh.
static void check_refused(Ceed ceed, RitzMeshDraft *draft, const char *fragment) {
  RitzMesh mesh = (RitzMesh)ceed;

  CHECK_ERROR(ceed, ritz_mesh_build(ceed, "file.msh", draft, &mesh), CEED_ERROR_MAJOR, fragment);
  CHECK(mesh == NULL, "no mesh is left");
  CHECK(!draft->elem_vertices && !draft->coords && !draft->elem_place && !draft->num_elem,
        "the draft is empty");
}

// Appends element e of a draft once more, with other vertices at its upper end in the first direction.
static void append_copy(RitzMeshDraft *draft, int64_t e, bool with_same_vertices) {
  const int num_corners = 1 << draft->dim;
  const int64_t num_per_elem = power(draft->order + 1, draft->dim) * draft->space_dim;
  const int64_t new_e = draft->num_elem++;

  RITZ_REALLOC(NULL, (size_t)(draft->num_elem * num_corners), &draft->elem_vertices);
  RITZ_REALLOC(NULL, (size_t)(draft->num_elem * num_per_elem), &draft->coords);
  RITZ_REALLOC(NULL, (size_t)draft->num_elem, &draft->elem_place);
  draft->elem_place[new_e] = 100 + new_e;
  memcpy(draft->coords + new_e * num_per_elem, draft->coords + e * num_per_elem, (size_t)num_per_elem * 8);
  for (int k = 0; k < num_corners; k++) {
    draft->elem_vertices[new_e * num_corners + k] =
        k % 2 && !with_same_vertices ? draft->num_vertices++ : draft->elem_vertices[e * num_corners + k];
  }
}

// ---- Topology ----

TEST(repeated_vertices_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, dim, 1, &draft));
    draft.elem_vertices[(2 << dim) + 1] = draft.elem_vertices[2 << dim];
    check_refused(ceed, &draft, "file.msh:102: element 2 has vertex 2 twice");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

TEST(vertices_that_do_not_exist_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, 2, 1, &draft));
    draft.elem_vertices[5] = i ? -1 : 20;
    check_refused(ceed, &draft,
                  i ? "file.msh:101: element 1 has vertex -1" : "element 1 has vertex 20, there are 20");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// One element around a circle has a vertex twice, two of them have the same vertices.
TEST(periods_of_less_than_three_elements_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (CeedInt num = 1; num <= 3; num++) {
      for (int d = 0; d < dim; d++) {
        CeedInt n[3] = {3, 3, 3};
        RitzMesh mesh;
        RitzMeshDraft draft;

        n[d] = num;
        CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
        draft = draft_of_mesh(mesh);
        RitzMeshDestroy(&mesh);
        close_box(&draft, n, 1 << d);
        if (num == 1) check_refused(ceed, &draft, "twice (a periodic direction needs at least 3 elements)");
        if (num == 2)
          check_refused(ceed, &draft, "same vertices (a periodic direction needs at least 3 elem");
        if (tap_failed()) return;
        if (num < 3) continue;
        CHECK_OK(ritz_mesh_build(ceed, "closed", &draft, &mesh));
        RitzMeshDestroy(&mesh);
      }
    }
  }
  CeedDestroy(&ceed);
}

TEST(facets_of_three_elements_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    RitzMeshDraft draft;
    char fragment[100];

    // The copy of element 1 has its lower facet, which belongs to elements 0 and 1.
    CHECK_OK(placed_draft(ceed, dim, 1, &draft));
    append_copy(&draft, 1, false);
    snprintf(fragment, sizeof(fragment), "file.msh:%d: elements 0, 1 and %d share a facet",
             (int)(99 + draft.num_elem), (int)(draft.num_elem - 1));
    check_refused(ceed, &draft, fragment);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

TEST(equal_elements_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Rotation rotations[24];

  for (CeedInt dim = 1; dim <= 3; dim++) {
    int num = make_rotations(dim, rotations);

    for (int i = 0; i < num; i++) {
      RitzMeshDraft draft;
      char fragment[100];

      CHECK_OK(placed_draft(ceed, dim, 1, &draft));
      append_copy(&draft, 1, true);
      rotate_element(&draft, draft.num_elem - 1, &rotations[i]);
      snprintf(fragment, sizeof(fragment), "file.msh:%d: elements 1 and %d have the same vertices",
               (int)(99 + draft.num_elem), (int)(draft.num_elem - 1));
      check_refused(ceed, &draft, fragment);
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

TEST(faces_with_vertices_in_another_order_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft;

  CHECK_OK(placed_draft(ceed, 3, 1, &draft));
  // The lower facet of element 1 in the first direction has the corners 0, 2, 4, 6.
  int64_t *vertices = draft.elem_vertices + 8, kept = vertices[0];

  vertices[0] = vertices[2];
  vertices[2] = kept;
  check_refused(ceed, &draft,
                "file.msh:101: elements 0 and 1 have the vertices of a facet in different cyclic");
  CeedDestroy(&ceed);
}

TEST(labels_without_a_facet_are_refused_at_their_place) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    for (int with_place = 0; with_place < 2; with_place++) {
      RitzMeshDraft draft;

      CHECK_OK(placed_draft(ceed, dim, 1, &draft));
      add_label(&draft, 0, 0, 4);
      add_label(&draft, 0, 1, 4);
      CHECK_OK(ritz_strdup(ceed, "lid", &draft.parts[4].name));
      // A vertex of no element, or one that does not belong to this facet.
      draft.label_vertices[1 << (dim - 1)] = dim == 1 ? draft.num_vertices + 1 : draft.num_vertices - 1;
      if (with_place) CHECK_OK(RITZ_MALLOC(ceed, 2, &draft.label_place));
      if (with_place) draft.label_place[1] = 77;
      check_refused(ceed, &draft,
                    with_place ? "file.msh:77: boundary facet 1, in part 'lid', is not a facet of any element"
                               : "file.msh: boundary facet 1, in part 'lid'");
      if (tap_failed()) return;
    }
  }
  CeedDestroy(&ceed);
}

TEST(labels_of_no_part_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, 2, 1, &draft));
    add_label(&draft, 0, 0, 0);
    draft.label_part[0] = i ? -1 : 1;
    check_refused(ceed, &draft, i ? "belongs to part -1" : "belongs to part 1, there are 1");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// ---- Geometry ----

TEST(coordinates_that_are_no_numbers_are_refused) {
  const double bad[3] = {NAN, INFINITY, -INFINITY};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 3; i++) {
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, 2, 2, &draft));
    draft.coords[3 * 18 + 5] = bad[i];
    check_refused(ceed, &draft, "file.msh:103: element 3 has a coordinate that is not a finite number");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

TEST(inverted_elements_are_named_with_their_determinant) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft;
  Rotation mirror = {.axis = {0, 1, 2}, .flip = {0, 1, 0}};

  CHECK_OK(placed_draft(ceed, 3, 2, &draft));
  rotate_element(&draft, 7, &mirror);
  rotate_element(&draft, 9, &mirror);
  // All determinants of a box of 24 elements are 1 / (24 * 8).
  check_refused(ceed, &draft, "file.msh:107: element 7 is inverted");
  CHECK_OK(placed_draft(ceed, 3, 2, &draft));
  rotate_element(&draft, 7, &mirror);
  rotate_element(&draft, 9, &mirror);
  check_refused(ceed, &draft, "is -0.00520833 at worst; this affects 2 of 24 elements");
  CeedDestroy(&ceed);
}

TEST(elements_inverted_at_one_corner_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 2; dim <= 3; dim++) {
    RitzMeshDraft draft;
    RitzMesh mesh;

    // Moving corner 0 of the unit element along the diagonal by s makes its own determinant 1 - s dim (times
    // 2^-dim) there, as the derivatives are e_d - s (1, .., 1).
    for (int bad = 0; bad < 2; bad++) {
      const CeedInt n[3] = {1, 1, 1};
      double s = (bad ? 1.001 : 0.999) / dim;

      CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
      draft = draft_of_mesh(mesh);
      RitzMeshDestroy(&mesh);
      for (CeedInt d = 0; d < dim; d++) draft.coords[d] += s;
      if (bad) {
        check_refused(ceed, &draft, "element 0 is inverted");
        if (tap_failed()) return;
      } else {
        CHECK_OK(ritz_mesh_build(ceed, "bent", &draft, &mesh));
        RitzMeshDestroy(&mesh);
      }
    }
  }
  CeedDestroy(&ceed);
}

// dx/dr = (r - 1/4)^2 - 1/1000 is positive at the ends and at 5 Gauss points, but not at those of the
// children.
static int dipping_map(void *ctx, CeedInt dim, const double *X, double *x) {
  double r = 2.0 * X[0] - 1.0;

  (void)ctx, (void)dim;
  x[0] = pow(r - 0.25, 3.0) / 3.0 - 0.001 * r;
  return 0;
}

TEST(folds_between_the_tested_points_show_when_refined) {
  const CeedInt n[1] = {1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine;

  CHECK_OK(RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 3, dipping_map, NULL, &mesh));
  CHECK_ERROR(ceed, RitzMeshRefine(mesh, 1, &fine), CEED_ERROR_MAJOR,
              "RitzMeshRefine: element 1 is inverted");
  CHECK(fine == NULL, "no mesh is left");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(degenerate_surfaces_and_huge_elements_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft = draft_of_strip(5, 1, 0);

  for (int i = 0; i < 4; i++) memcpy(draft.coords + 12 + 3 * i, draft.coords + 12, 24);
  check_refused(ceed, &draft, "element 1 is inverted or degenerate");
  if (tap_failed()) return;
  // In the plane the determinant overflows to infinity, in space to a difference of infinities.
  CHECK_OK(placed_draft(ceed, 2, 1, &draft));
  for (int64_t i = 0; i < 12 * 8; i++) draft.coords[i] *= 1e156;
  check_refused(ceed, &draft, "is inf at worst; this affects 12 of 12 elements");
  if (tap_failed()) return;
  CHECK_OK(placed_draft(ceed, 3, 1, &draft));
  for (int64_t i = 0; i < 24 * 24; i++) draft.coords[i] *= 1e200;
  check_refused(ceed, &draft, "affects 24 of 24 elements");
  CeedDestroy(&ceed);
}

// ---- Sizes ----

TEST(drafts_that_are_no_mesh_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 7; i++) {
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, 2, 1, &draft));
    if (i == 0) draft.dim = 0;
    if (i == 1) draft.dim = 4;
    if (i == 2) draft.space_dim = 1;
    if (i == 3) draft.space_dim = 4;
    if (i == 4) draft.topology = CEED_TOPOLOGY_TET;
    if (i == 5) draft.order = 0;
    if (i == 6) draft.num_elem = 0;
    check_refused(ceed, &draft, i < 5 ? "are no mesh" : i == 5 ? "order 0" : "no elements");
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

TEST(products_of_sizes_do_not_overflow) {
  const int64_t third = INT64_C(1) << 21, largest = INT64_MAX;

  CHECK(ritz_mesh_product(3, (const int64_t[]){third, third, third / 2}) == INT64_C(1) << 62, "2^62");
  CHECK(ritz_mesh_product(3, (const int64_t[]){third, third, third}) == -1, "2^63");
  CHECK(ritz_mesh_product(2, (const int64_t[]){largest, 1}) == largest, "2^63 - 1");
  CHECK(ritz_mesh_product(2, (const int64_t[]){largest, 2}) == -1, "2^64 - 2");
  CHECK(ritz_mesh_product(3, (const int64_t[]){largest, 0, largest}) == 0, "0");
  CHECK(ritz_mesh_product(2, (const int64_t[]){-1, 0}) == -1, "what was too large stays so");
  CHECK(ritz_mesh_power(INT64_C(1) << 31, 2) == INT64_C(1) << 62, "a square");
  CHECK(ritz_mesh_power(INT64_C(1) << 31, 3) == -1, "a cube");
  CHECK(ritz_mesh_power(3, 39) == INT64_C(4052555153018976267) && ritz_mesh_power(3, 40) == -1,
        "powers of 3");
}

// 10^18 elements and 8 10^18 corners can be counted, their bytes cannot; all without allocating.
TEST(boxes_too_large_to_count_are_refused) {
  const CeedInt large[3] = {1000000, 1000000, 1000000}, largest[3] = {INT32_MAX, INT32_MAX, INT32_MAX};
  const CeedInt few[3] = {2, 2, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine;

  ritz_memory_fail_at(1); // an allocation would give CEED_ERROR_MAJOR
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 3, large, NULL, NULL, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "1000000 x 1000000 x 1000000 elements of order 1 are too many");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 3, largest, NULL, NULL, 1, NULL, NULL, &mesh),
              CEED_ERROR_DIMENSION, "too many");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 2, largest, NULL, NULL, 1, NULL, NULL, &mesh),
              CEED_ERROR_DIMENSION, "too many");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 3, few, NULL, NULL, 1 << 29, NULL, NULL, &mesh),
              CEED_ERROR_DIMENSION, "order 536870912");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 3, few, NULL, NULL, INT32_MAX, NULL, NULL, &mesh),
              CEED_ERROR_DIMENSION, "order 2147483647");
  CHECK(mesh == NULL, "no mesh is left");
  ritz_memory_fail_at(0);
  CHECK_OK(make_box(ceed, 3, 1, NULL, NULL, &mesh));
  ritz_memory_fail_at(1);
  CHECK_ERROR(ceed, RitzMeshRefine(mesh, 18, &fine), CEED_ERROR_DIMENSION, "18 levels of 24 elements");
  CHECK_ERROR(ceed, RitzMeshRefine(mesh, 21, &fine), CEED_ERROR_DIMENSION, "21 levels of 24 elements");
  CHECK_ERROR(ceed, RitzMeshRefine(mesh, INT32_MAX, &fine), CEED_ERROR_DIMENSION, "too many");
  CHECK_ERROR(ceed, RitzMeshRefine(mesh, -1, &fine), CEED_ERROR_DIMENSION, "-1 levels");
  ritz_memory_fail_at(0);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Arguments ----

static int failing_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx, (void)dim;
  x[0] = X[0];
  return X[0] > 0.6 ? 7 : 0;
}

static int singular_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx, (void)dim;
  x[0] = log(X[0]);
  return 0;
}

static int folding_map(void *ctx, CeedInt dim, const double *X, double *x) {
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  x[0] = fabs(X[0] - *(const double *)ctx);
  return 0;
}

TEST(boxes_refuse_wrong_arguments) {
  const CeedInt n[3] = {4, 4, 4}, none[3] = {4, 0, 4};
  const double low[3] = {0.0, 0.0, 0.0}, high[3] = {1.0, 0.0, 1.0}, nan_high[3] = {1.0, NAN, 1.0};
  const double huge_low[1] = {-1.5e308}, huge_high[1] = {1.5e308};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;

  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 0, n, NULL, NULL, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "dimension 0, needed 1, 2 or 3");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 4, n, NULL, NULL, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "dimension 4");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 0, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "order 0, needed 1 to");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 2, none, NULL, NULL, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "0 elements in direction 1");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 2, n, low, high, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "from 0 to 0 in direction 1");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 2, n, low, nan_high, 1, NULL, NULL, &mesh), CEED_ERROR_DIMENSION,
              "in direction 1");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 1, n, huge_low, huge_high, 1, NULL, NULL, &mesh),
              CEED_ERROR_DIMENSION, "in direction 0");
  CHECK_ERROR(NULL, RitzMeshCreateBox(ceed, 1, NULL, NULL, NULL, 1, NULL, NULL, &mesh),
              CEED_ERROR_INCOMPATIBLE, "'n' is NULL");
  CeedDestroy(&ceed);
}

TEST(boxes_report_what_their_map_does) {
  const CeedInt n[3] = {4, 4, 4};
  const double fold = 0.3, last = 1.0;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;

  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 1, failing_map, NULL, &mesh), 7,
              "the map returned 7 at (0.75, 0, 0)");
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 1, singular_map, NULL, &mesh), CEED_ERROR_MAJOR,
              "not finite at (0, 0, 0)");
  // Element 1 of 4 reaches from 0.25 to 0.5: its nodes of order 2 are at 0.05, 0.075, 0.2.
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 2, folding_map, (void *)&fold, &mesh),
              CEED_ERROR_MAJOR, "RitzMeshCreateBox: element 1 is inverted or degenerate");
  CHECK_OK(RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 2, folding_map, (void *)&last, &mesh));
  RitzMeshDestroy(&mesh);
  CHECK_ERROR(ceed, RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, folding_map, (void *)&last, &mesh),
              CEED_ERROR_MAJOR, "affects 64 of 64 elements");
  CeedDestroy(&ceed);
}

TEST(queries_refuse_wrong_arguments) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  const char *name;
  int64_t num;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzMeshGetRegion(mesh, 1, &name, NULL), CEED_ERROR_DIMENSION,
              "no region 1, the mesh has 1");
  CHECK_ERROR(ceed, RitzMeshGetRegion(mesh, -1, &name, NULL), CEED_ERROR_DIMENSION, "no region -1");
  CHECK_ERROR(ceed, RitzMeshGetBoundaryPartName(mesh, 4, &name), CEED_ERROR_DIMENSION, "no part 4");
  CHECK_ERROR(ceed, RitzMeshGetBoundaryPart(mesh, "zmin", &num, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "no boundary part is called 'zmin'; there are: all xmin xmax ymin ymax");
  CHECK_ERROR(ceed, RitzMeshClassifyElements(mesh, NAN, NULL, NULL), CEED_ERROR_INCOMPATIBLE, "tolerance");
  CHECK_ERROR(NULL, RitzMeshGetNumElements(NULL, &num), CEED_ERROR_INCOMPATIBLE, "'mesh' is NULL");
  CHECK_ERROR(NULL, RitzMeshGetNumElements(mesh, NULL), CEED_ERROR_INCOMPATIBLE, "'num_elem' is NULL");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(long_lists_of_names_are_cut_in_messages) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft;
  int64_t num;

  CHECK_OK(placed_draft(ceed, 2, 1, &draft));
  for (int i = 0; i < 200; i++) add_label(&draft, 0, 0, i);
  CHECK_OK(ritz_mesh_build(ceed, "many", &draft, &mesh));
  CHECK_ERROR(ceed, RitzMeshGetBoundaryPart(mesh, "x", &num, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "there are: all 0 1 2");
  CHECK_ERROR(ceed, RitzMeshGetBoundaryPart(mesh, "x", &num, NULL, NULL), CEED_ERROR_INCOMPATIBLE, " ...");
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "199", &num, NULL, NULL));
  CHECK(num == 1, "%lld facets", (long long)num);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Memory ----

// Every call on meshes that allocates.
static int do_everything(Ceed ceed) {
  RitzMesh mesh = NULL, fine = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector x = NULL;
  int64_t num, *elements = NULL;
  int8_t *facets = NULL;
  double measure;
  int code = make_box(ceed, 3, 2, wavy_map, NULL, &mesh);

  if (!code) code = RitzMeshRefine(mesh, 1, &fine);
  if (!code) code = RitzMeshGetMeasure(fine, &measure, NULL, NULL);
  if (!code) code = RitzMeshClassifyElements(fine, -1.0, NULL, NULL);
  if (!code) code = RitzMeshGetBoundaryPart(fine, "all", &num, &elements, &facets);
  if (!code) code = RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x);
  free(elements);
  free(facets);
  CeedElemRestrictionDestroy(&rstr);
  CeedVectorDestroy(&x);
  RitzMeshDestroy(&fine);
  RitzMeshDestroy(&mesh);
  return code;
}

TEST(running_out_of_memory_is_reported) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int64_t live = ritz_memory_live();
  int code = -1;

  for (int64_t n = 1; code; n++) {
    ritz_memory_fail_at(n);
    code = do_everything(ceed);
    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == live, "allocation %lld fails: %lld are left", (long long)n,
          (long long)(ritz_memory_live() - live));
    CHECK(n < 1000, "the calls succeed in the end");
  }
  CeedDestroy(&ceed);
}

TEST(failing_to_build_frees_everything) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int64_t live = ritz_memory_live();
  int code = -1;

  for (int64_t n = 1; code; n++) {
    RitzMesh mesh = NULL;
    RitzMeshDraft draft;

    CHECK_OK(placed_draft(ceed, 2, 1, &draft));
    add_label(&draft, 0, 0, 2);
    CHECK_OK(RITZ_CALLOC(ceed, 3, &draft.regions));
    draft.num_regions = 3;
    CHECK_OK(ritz_strdup(ceed, "b", &draft.regions[0].name));
    CHECK_OK(ritz_strdup(ceed, "a", &draft.regions[2].name));
    ritz_memory_fail_at(n);
    code = ritz_mesh_build(ceed, "draft", &draft, &mesh);
    ritz_memory_fail_at(0);
    if (!code) CHECK(mesh->num_regions == 2 && !strcmp(mesh->regions[0].name, "a"), "regions 0 and 1");
    RitzMeshDestroy(&mesh);
    CHECK(ritz_memory_live() == live, "allocation %lld fails: %lld are left", (long long)n,
          (long long)(ritz_memory_live() - live));
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(repeated_vertices_are_refused, vertices_that_do_not_exist_are_refused,
            periods_of_less_than_three_elements_are_refused, facets_of_three_elements_are_refused,
            equal_elements_are_refused, faces_with_vertices_in_another_order_are_refused,
            labels_without_a_facet_are_refused_at_their_place, labels_of_no_part_are_refused,
            coordinates_that_are_no_numbers_are_refused, inverted_elements_are_named_with_their_determinant,
            elements_inverted_at_one_corner_are_refused, folds_between_the_tested_points_show_when_refined,
            degenerate_surfaces_and_huge_elements_are_refused, drafts_that_are_no_mesh_are_refused,
            products_of_sizes_do_not_overflow, boxes_too_large_to_count_are_refused,
            boxes_refuse_wrong_arguments, boxes_report_what_their_map_does, queries_refuse_wrong_arguments,
            long_lists_of_names_are_cut_in_messages, running_out_of_memory_is_reported,
            failing_to_build_frees_everything));
}
