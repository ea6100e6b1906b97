// SPDX-License-Identifier: BSD-2-Clause
// The readers of mesh files on lines, quadrilaterals and hexahedra: geometry against the maps that the files
// were made from, parts and regions against the sides of the box, published meshes against their known
// volumes. Other shapes are in test-readers-shapes.c, malformed files in test-readers-malformed.c.
#include <ritz.h>

#include "tests/comma-locale.h"
#include "tests/mesh-gmsh.h"
#include "tests/mesh-mfem.h"

// Positions are doubles of size 1 that go through interpolation by a matrix per direction, whose rows have
// absolute sums of at most `row_sum`; sums of (degree + 1)^dim terms.
static double position_tolerance(int dim, double row_sum) { return 100 * 2.3e-16 * pow(row_sum, dim); }

// ---- Checks of a mesh that is a box under a map ----

typedef struct {
  RitzMesh mesh; // borrowed
  SampleMap map;
  const int *n;
  const MfemFrame *frames; // NULL: cells lie along the axes
  double tolerance;        // of positions
} Box;

static void box_point(const Box *box, int64_t e, const double r[3], double X[3]) {
  const int *n = box->n;
  const int64_t cell[3] = {e % n[0], e / n[0] % n[1], e / n[0] / n[1]};

  X[0] = X[1] = X[2] = 0;
  for (int d = 0; d < box->map.dim; d++) {
    int axis = box->frames ? box->frames[e].axis[d] : d;
    bool is_back = box->frames && box->frames[e].is_back[d];

    X[axis] = ((double)cell[axis] + (is_back ? 1 - r[d] : r[d])) / n[axis];
  }
}

// Every geometry node lies where the map takes its Gauss-Lobatto point.
static void check_positions(const Box *box) {
  const double *x;
  double points[16];
  CeedInt order, dim, space_dim;
  int64_t num_elem;

  CHECK_OK(RitzMeshGetDimensions(box->mesh, &dim, &space_dim));
  CHECK_OK(RitzMeshGetGeometryOrder(box->mesh, &order));
  CHECK_OK(RitzMeshGetNumElements(box->mesh, &num_elem));
  CHECK_OK(RitzMeshGetElementCoordinates(box->mesh, &x));
  CHECK(dim == box->map.dim && space_dim == sample_space_dim(box->map), "dim %d, space %d", dim, space_dim);
  CHECK(order == box->map.degree, "order %d", order);
  CHECK(num_elem == box->n[0] * box->n[1] * box->n[2], "%d elements", (int)num_elem);
  ritz_fe_gauss_lobatto(order + 1, points, NULL);
  int num_nodes = sample_int_power(order + 1, dim), P = order + 1;

  for (int64_t i = 0; i < num_elem * num_nodes; i++) {
    int64_t m = i % num_nodes;
    const double r[3] = {(1 + points[m % P]) / 2, (1 + points[m / P % P]) / 2,
                         (1 + points[m / P / P % P]) / 2};
    double X[3], y[3];

    box_point(box, i / num_nodes, r, X);
    sample_map(box->map, X, y);
    for (int c = 0; c < space_dim; c++) {
      CHECK_NEAR(x[i * space_dim + c], y[c], box->tolerance, "element %d, node %d, component %d",
                 (int)(i / num_nodes), (int)m, c);
    }
  }
}

static void check_measure(const Box *box) {
  double measure, smallest, largest;

  CHECK_OK(RitzMeshGetMeasure(box->mesh, &measure, &smallest, &largest));
  if (!box->map.is_bent) CHECK_NEAR(measure, sample_measure(box->map), 100 * box->tolerance, "of the box");
  CHECK(smallest > 0, "smallest determinant %g", smallest);
}

// The part is the union of these sides of the box (2 axis + end).
static void check_part(const Box *box, const char *name, int num_sides, const int *sides) {
  int64_t num, *elements, wanted = 0;
  int8_t *facets;
  int num_wrong = 0;

  for (int i = 0; i < num_sides; i++) wanted += box->n[0] * box->n[1] * box->n[2] / box->n[sides[i] / 2];
  CHECK_OK(RitzMeshGetBoundaryPart(box->mesh, name, &num, &elements, &facets));
  for (int64_t i = 0; i < num; i++) {
    double r[3] = {0.5, 0.5, 0.5}, X[3];
    bool is_there = false;

    r[facets[i] / 2] = facets[i] % 2;
    box_point(box, elements[i], r, X);
    for (int s = 0; s < num_sides; s++) is_there = is_there || X[sides[s] / 2] == sides[s] % 2;
    num_wrong += !is_there;
  }
  free(elements);
  free(facets);
  CHECK(num == wanted && num_wrong == 0, "part '%s' has %d facets, %d wanted; %d are elsewhere", name,
        (int)num, (int)wanted, num_wrong);
}

// Whether elements of this number are in the region.
static bool is_in_region(RitzMesh mesh, int32_t number, int32_t region) {
  CeedInt num_overlaps = 0, num = 0;
  const int32_t *regions = NULL;
  bool is_in = false;

  if (RitzMeshGetNumOverlaps(mesh, &num_overlaps)) return false;
  if (number >= 0 || num_overlaps == 0) return number == region;
  if (RitzMeshGetOverlap(mesh, -1 - number, &num, &regions)) return false;
  for (CeedInt i = 0; i < num; i++) is_in = is_in || regions[i] == region;
  return is_in;
}

static void check_region(const Box *box, int number, const char *wanted_name, int num_wanted) {
  const int32_t *regions;
  CeedInt num_regions;
  int num_found = 0;
  const char *name = "", *found = "";

  CHECK_OK(RitzMeshGetElementRegions(box->mesh, &regions));
  CHECK_OK(RitzMeshGetNumRegions(box->mesh, &num_regions));
  for (int e = 0; e < box->n[0] * box->n[1] * box->n[2]; e++)
    num_found += is_in_region(box->mesh, regions[e], number);
  for (CeedInt i = 0; i < num_regions; i++) {
    int32_t its_number;

    CHECK_OK(RitzMeshGetRegion(box->mesh, i, &name, &its_number));
    if (its_number == number) found = name;
  }
  CHECK(num_found == num_wanted, "region %d has %d elements, %d wanted", number, num_found, num_wanted);
  CHECK(!strcmp(found, wanted_name), "region %d is called '%s', not '%s'", number, found, wanted_name);
}

// ---- Gaps between neighbours ----

static int facet_nodes(RitzMesh mesh, int64_t e, int facet, int P, const int64_t *all, int64_t *some) {
  CeedInt dim, space_dim;
  int num = 0;

  RitzMeshGetDimensions(mesh, &dim, &space_dim);
  for (int i = 0; i < sample_int_power(P, dim); i++) {
    int at[3] = {i % P, i / P % P, i / P / P};

    if (at[facet / 2] == (facet % 2 ? P - 1 : 0))
      some[num++] = all ? all[e * sample_int_power(P, dim) + i] : i;
  }
  return num;
}

static bool same_vertices(int num, const int64_t *a, const int64_t *b) {
  int num_common = 0;

  for (int i = 0; i < num * num; i++) num_common += a[i / num] == b[i % num];
  return num_common == num;
}

// The largest distance from a node on one facet to the nearest node on the other.
static double facet_gap(RitzMesh mesh, int64_t e, int f, int64_t e2, int f2) {
  const double *x;
  CeedInt dim, space_dim, order;
  int64_t nodes[2][64];
  double gap = 0;

  RitzMeshGetElementCoordinates(mesh, &x);
  RitzMeshGetDimensions(mesh, &dim, &space_dim);
  RitzMeshGetGeometryOrder(mesh, &order);
  int64_t size = sample_int_power(order + 1, dim);
  int num = facet_nodes(mesh, e, f, order + 1, NULL, nodes[0]);

  facet_nodes(mesh, e2, f2, order + 1, NULL, nodes[1]);
  for (int i = 0; i < num; i++) {
    double nearest = 1e300;

    for (int j = 0; j < num; j++) {
      double square = 0;

      for (int c = 0; c < space_dim; c++) {
        double a = x[(e * size + nodes[0][i]) * space_dim + c],
               b = x[(e2 * size + nodes[1][j]) * space_dim + c];

        square += (a - b) * (a - b);
      }
      nearest = fmin(nearest, sqrt(square));
    }
    gap = fmax(gap, nearest);
  }
  return gap;
}

static void check_gaps(RitzMesh mesh, int64_t num_shared_wanted, double tolerance) {
  const int64_t *vertices;
  CeedInt dim, space_dim;
  int64_t num_elem, num_shared = 0;

  CHECK_OK(RitzMeshGetElementVertices(mesh, &vertices));
  CHECK_OK(RitzMeshGetDimensions(mesh, &dim, &space_dim));
  CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
  for (int64_t a = 0; a < num_elem * 2 * dim; a++) {
    for (int64_t b = 0; b < a; b++) {
      int64_t e = a / (2 * dim), e2 = b / (2 * dim), some[4], others[4];
      int f = (int)(a % (2 * dim)), f2 = (int)(b % (2 * dim));
      int num = facet_nodes(mesh, e, f, 2, vertices, some);

      facet_nodes(mesh, e2, f2, 2, vertices, others);
      if (!same_vertices(num, some, others)) continue;
      num_shared++;
      CHECK_NEAR(facet_gap(mesh, e, f, e2, f2), 0, tolerance, "elements %d and %d", (int)e, (int)e2);
    }
  }
  CHECK(num_shared == num_shared_wanted, "%d shared facets, %d wanted", (int)num_shared,
        (int)num_shared_wanted);
}

// ---- Gmsh ----

static void check_gmsh_parts(const Box *box, const GmshSample *s) {
  const int left[] = {0}, right[] = {1}, two[] = {0, 2};
  int num_cells = s->n[0] * s->n[1] * s->n[2], half = (num_cells + 1) / 2;
  bool uses_groups = s->has_groups && (s->version == 2 || s->has_entities);
  CeedInt num_parts;

  check_part(box, uses_groups ? "left side" : "11", 1, left);
  check_part(box, uses_groups ? "202" : "12", 1, right);
  if (uses_groups) check_part(box, "two sides", s->map.dim > 1 ? 2 : 1, two);
  check_region(box, uses_groups ? 101 : 1, uses_groups ? "matter" : "1", half);
  if (num_cells > 1) check_region(box, uses_groups ? 102 : 2, uses_groups ? "102" : "2", num_cells - half);
  CHECK_OK(RitzMeshGetNumBoundaryParts(box->mesh, &num_parts));
  CHECK(num_parts == (uses_groups ? 3 : 2 * s->map.dim), "%d parts", num_parts);
}

static void check_gmsh(Ceed ceed, const GmshSample *s) {
  FileBytes file = gmsh_file(s);
  const char *path = tap_temp_file("box.msh", file.data, file.size);
  Box box = {.map = s->map, .n = s->n, .tolerance = position_tolerance(s->map.dim, 2)};

  file_clear(&file);
  CHECK_OK(RitzMeshRead(ceed, path, &box.mesh));
  check_positions(&box);
  check_measure(&box);
  check_gmsh_parts(&box, s);
  CHECK_OK(RitzMeshDestroy(&box.mesh));
  if (tap_failed())
    tap_note("version %d, dim %d, degree %d, binary %d, swapped %d, groups %d", s->version, s->map.dim,
             s->map.degree, s->is_binary, s->is_swapped, s->has_groups);
}

// Sizes that differ between directions.
static GmshSample gmsh_box(int version, int dim, int degree) {
  GmshSample s = {.map = {dim, degree, false}, .n = {3, 1, 1}, .version = version};

  if (dim > 1) s.n[1] = 2;
  if (dim > 2) s.n[2] = 2;
  s.has_groups = s.has_entities = true;
  return s;
}

TEST(gmsh_boxes_of_every_version_dimension_and_order_lie_where_their_map_puts_them) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2 * 3 * 3 * 3 && !tap_failed(); i++) {
    GmshSample s = gmsh_box(i % 2 ? 4 : 2, 1 + i / 2 % 3, 1 + i / 6 % 3);

    s.is_binary = i / 18 > 0;
    s.is_swapped = i / 18 > 1;
    check_gmsh(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(gmsh_tags_may_be_sparse_and_sections_may_be_missing_or_skipped) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 64 && !tap_failed(); i++) {
    GmshSample s = gmsh_box(i & 1 ? 4 : 2, 2, 2);

    s.is_binary = i >> 1 & 1;
    s.has_sparse_tags = i >> 2 & 1;
    s.has_parameters = i >> 3 & 1;
    s.has_others = i >> 4 & 1;
    s.has_groups = i >> 5 & 1;
    check_gmsh(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(gmsh_without_entities_has_entities_instead_of_groups) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  GmshSample s = gmsh_box(4, 3, 1);

  s.has_entities = false;
  check_gmsh(ceed, &s);
  CeedDestroy(&ceed);
}

TEST(gmsh_surfaces_and_curves_keep_their_space) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int dim = 1; dim <= 2 && !tap_failed(); dim++) {
    GmshSample s = gmsh_box(4, dim, 2);

    s.map.is_bent = true;
    check_gmsh(ceed, &s);
  }
  CeedDestroy(&ceed);
}

#define GMSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"

TEST(gmsh_cells_of_different_order_get_the_largest) {
  // Two unit squares side by side; the right one has degree 2, its top edge is bent up by 0.25.
  const char *path =
      tap_temp_text("orders.msh", GMSH2
                    "$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n7 1.5 0 0\n8 2 .5 0\n"
                    "9 1.5 1.25 0\n10 1 .5 0\n11 1.5 .5 0\n$EndNodes\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;
  CeedInt order;

  CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), CEED_ERROR_MAJOR, "orders.msh:");
  path =
      tap_temp_text("orders.msh", GMSH2
                    "$Elements\n2\n1 3 0 1 2 5 4\n2 10 0 2 3 6 5 7 8 9 10 11\n$EndElements\n"
                    "$Nodes\n11\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n7 1.5 0 0\n8 2 .5 0\n"
                    "9 1.5 1.25 0\n10 1 .5 0\n11 1.5 .625 0\n$EndNodes\n");
  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetGeometryOrder(mesh, &order));
  CHECK(order == 2, "order %d", order);
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 2 + 2.0 / 3 * 0.25, 1e-14, "two squares and a parabola of height 1/4");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(gmsh_groups_of_one_name_are_one_part) {
  const char *path = tap_temp_text("names.msh", GMSH2
                                   "$PhysicalNames\n4\n0 1 \"end\"\n0 2 \"end\"\n1 1 \"end\"\n1 5 \"\"\n"
                                   "$EndPhysicalNames\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 2 0 0\n$EndNodes\n"
                                   "$Elements\n4\n1 15 2 1 1 1\n2 15 1 2 3\n3 1 2 5 1 1 2\n4 1 2 1 1 2 3\n"
                                   "$EndElements\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  CeedInt num_parts;
  int64_t num;
  int32_t number;
  const char *name;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetNumBoundaryParts(mesh, &num_parts));
  CHECK(num_parts == 1, "%d parts", num_parts);
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "end", &num, NULL, NULL));
  CHECK(num == 2, "%d facets", (int)num);
  CHECK_OK(RitzMeshGetRegion(mesh, 1, &name, &number));
  CHECK(number == 5 && !strcmp(name, "5"), "region %d called '%s'", (int)number, name);
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// Three unit squares in a row; the first is on an entity with two groups, the last in no group.
TEST(gmsh_cells_are_in_all_of_their_groups_and_those_in_none_in_region_0) {
  static const char *const files[] = {
      GMSH2
      "$ParametricNodes\n8\n1 0 0 0 3 1\n2 1 0 0 3 1 .1 .2 .3\n3 2 0 0 0 1\n4 3 0 0 1 1 .5\n5 0 1 0 2 1 0 0\n"
      "6 1 1 0 0 1\n7 2 1 0 0 1\n8 3 1 0 0 1\n$EndParametricNodes\n$Elements\n4\n1 3 2 5 1 1 2 6 5\n"
      "2 3 2 4 1 1 2 6 5\n3 3 2 4 2 2 3 7 6\n4 3 2 0 3 3 4 8 7\n$EndElements\n",
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 3 0\n1 0 0 0 1 1 0 2 5 4 0\n2 1 0 0 2 1 0 1 -4 "
      "0\n"
      "3 2 0 0 3 1 0 0 0\n$EndEntities\n$Nodes\n1 8 1 8\n2 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n0 0 0\n1 0 0\n2 0 "
      "0\n"
      "3 0 0\n0 1 0\n1 1 0\n2 1 0\n3 1 0\n$EndNodes\n$Elements\n3 3 1 3\n2 1 3 1\n1 1 2 6 5\n2 2 3 1\n2 2 3 "
      "7 6\n"
      "2 3 3 1\n3 3 4 8 7\n$EndElements\n"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    const char *path = tap_temp_text("groups.msh", files[i]);
    const int32_t *regions;
    double measure, low, high;
    RitzMesh mesh;

    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
    CHECK_NEAR(measure, 3, 1e-14, "three squares");
    CHECK_OK(RitzMeshGetElementRegions(mesh, &regions));
    for (int e = 0; e < 3; e++) {
      CHECK(is_in_region(mesh, regions[e], 5) == (e == 0), "square %d and region 5 of file %d", e, i);
      CHECK(is_in_region(mesh, regions[e], 4) == (e < 2), "square %d and region 4 of file %d", e, i);
    }
    CHECK(regions[2] == 0, "region %d", (int)regions[2]);
    CHECK(regions[0] != regions[1], "elements of different regions have one number");
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

// The sum of all entries of the mass operator on these regions: their area.
static void check_area(RitzMesh mesh, CeedInt num, const int32_t *regions, double wanted) {
  const Ceed ceed = RitzMeshReturnCeed(mesh);
  RitzSpace space;
  RitzGeometry geometry;
  CeedOperator op;
  CeedVector u, v;
  CeedSize size;
  const CeedScalar *array;
  double sum = 0;

  CHECK_OK(RitzSpaceCreate(mesh, 1, 1, &space));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_MASS, .space = space, .num_regions = num, .regions = regions};
  CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  CHECK_OK(CeedOperatorGetActiveVectorLengths(op, &size, NULL));
  CHECK_OK(CeedVectorCreate(ceed, size, &u));
  CHECK_OK(CeedVectorCreate(ceed, size, &v));
  CHECK_OK(CeedVectorSetValue(u, 1));
  CHECK_OK(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < size; i++) sum += (double)array[i];
  CHECK_OK(CeedVectorRestoreArrayRead(v, &array));
  CHECK_NEAR(sum, wanted, 100 * CEED_EPSILON, "area of %d regions, the first of which is %d", (int)num,
             (int)regions[0]);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
  RitzGeometryDestroy(&geometry);
  RitzSpaceDestroy(&space);
}

// Four unit squares in a row: 0 in region 1, 1 in 1 and 2, 2 in 2 and 3, 3 in 4. Meshes made from this one
// have the same regions.
static void check_regions_of_row(RitzMesh mesh) {
  static const struct {
    int32_t region;
    double area;
  } cases[] = {{1, 2}, {2, 2}, {3, 1}, {4, 1}};
  const int32_t *numbers, pair[] = {1, 2};
  int64_t num_elem;
  double *measures;

  CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
  CHECK_OK(RitzMeshGetElementRegions(mesh, &numbers));
  measures = malloc((size_t)num_elem * sizeof(*measures));
  CHECK_OK(RitzMeshGetElementMeasures(mesh, measures));
  for (int i = 0; i < 4; i++) {
    double area = 0;

    for (int64_t e = 0; e < num_elem; e++)
      area += is_in_region(mesh, numbers[e], cases[i].region) ? measures[e] : 0;
    CHECK_NEAR(area, cases[i].area, 1e-14 * (double)num_elem, "area of region %d", (int)cases[i].region);
    check_area(mesh, 1, &cases[i].region, cases[i].area);
  }
  check_area(mesh, 2, pair, 3); // the second square once
  free(measures);
}

TEST(gmsh_groups_that_overlap_have_their_measures_and_operators) {
  const char *path =
      tap_temp_text("row.msh", GMSH2
                    "$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 3 0 0\n5 4 0 0\n6 0 1 0\n7 1 1 0\n8 2 1 0\n"
                    "9 3 1 0\n10 4 1 0\n$EndNodes\n$Elements\n6\n1 3 2 1 1 1 2 7 6\n2 3 2 2 2 2 3 8 7\n"
                    "3 3 2 1 2 2 3 8 7\n4 3 2 3 3 3 4 9 8\n5 3 2 2 3 3 4 9 8\n6 3 2 4 4 4 5 10 9\n"
                    "$EndElements\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh, fine, triangles;
  CeedInt num;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetNumOverlaps(mesh, &num));
  CHECK(num == 3, "%d overlaps: 1 alone, 1 and 2, 2 and 3", (int)num);
  CHECK_OK(RitzMeshGetNumRegions(mesh, &num));
  CHECK(num == 4, "%d regions", (int)num);
  check_regions_of_row(mesh);
  CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
  check_regions_of_row(fine);
  CHECK_OK(RitzMeshSplit(mesh, CEED_TOPOLOGY_TRIANGLE, &triangles));
  check_regions_of_row(triangles);
  RitzMeshDestroy(&triangles);
  RitzMeshDestroy(&fine);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(gmsh_groups_without_use_keep_their_names) {
  const char *path =
      tap_temp_text("tet.msh",
                    GMSH2 "$PhysicalNames\n2\n0 7 \"probe\"\n1 7 \"rim \"a\" = b\"\n$EndPhysicalNames\n"
                          "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n4\n"
                          "1 15 2 7 1 1\n2 1 2 7 1 1 2\n3 1 2 8 2 2 3\n4 4 2 1 1 1 2 3 4\n$EndElements\n");
  static const char *const wanted[2][2] = {{"probe"}, {"rim \"a\" = b", "8"}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  for (CeedInt dim = 0; dim < 2; dim++) {
    CeedInt num;

    CHECK_OK(RitzMeshGetNumUnusedGroups(mesh, dim, &num));
    CHECK(num == dim + 1, "%d groups of dimension %d", (int)num, (int)dim);
    for (CeedInt i = 0; i < num; i++) {
      const char *name;

      CHECK_OK(RitzMeshGetUnusedGroup(mesh, dim, i, &name));
      CHECK(!strcmp(name, wanted[dim][i]), "'%s' is called '%s'", wanted[dim][i], name);
    }
  }
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(gmsh_clockwise_quads_are_turned) {
  const char *path =
      tap_temp_text("clockwise.msh", GMSH2 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n"
                                           "$Elements\n1\n1 3 0 1 4 3 2\n$EndElements\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 1, 1e-15, "unit square");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- MFEM ----

static void check_mfem_parts(const Box *box, const MfemSample *s) {
  const int sides[] = {0, 1, 2};
  int num_cells = s->n[0] * s->n[1] * s->n[2], half = (num_cells + 1) / 2;
  bool has_sets = !strcmp(s->version, "1.3");
  CeedInt num_parts;

  check_part(box, has_sets ? "left" : "1", 1, &sides[0]);
  if (has_sets)
    check_part(box, "x sides", 2, &sides[0]);
  else
    check_part(box, "2", 1, &sides[1]);
  if (s->map.dim > 1) check_part(box, "3", 1, &sides[2]);
  check_region(box, 1, has_sets ? "first half" : "1", half);
  if (num_cells > 1) check_region(box, 7, "7", num_cells - half);
  CHECK_OK(RitzMeshGetNumBoundaryParts(box->mesh, &num_parts));
  CHECK(num_parts == 2 * s->map.dim, "%d parts", num_parts);
}

// Largest absolute row sum of the interpolation from the points of the collection to Gauss-Lobatto points:
// large where nodes lie inside of the cells only.
static double mfem_row_sum(const MfemSample *s) {
  double from[8], to[8], matrix[64], largest = 1;
  int P = s->map.degree + 1;

  for (int i = 0; i < P; i++) from[i] = 2 * s->points[i] - 1;
  ritz_fe_gauss_lobatto(P, to, NULL);
  if (!s->collection || ritz_fe_lagrange(NULL, P, from, P, to, matrix, NULL)) return largest;
  for (int i = 0; i < P; i++) {
    double sum = 0;

    for (int j = 0; j < P; j++) sum += fabs(matrix[i * P + j]);
    largest = fmax(largest, sum);
  }
  return largest;
}

static void check_mfem(Ceed ceed, const MfemSample *s) {
  FileBytes file = mfem_file(s);
  MfemCells cells = mfem_cells(s);
  const char *path = tap_temp_file("box.mesh", file.data, file.size);
  Box box = {.map = s->map, .n = s->n, .frames = cells.frames};
  int64_t num_shared = 0;

  box.tolerance = position_tolerance(s->map.dim, mfem_row_sum(s));
  for (int d = 0; d < s->map.dim; d++) num_shared += cells.num_cells / s->n[d] * (s->n[d] - 1);
  file_clear(&file);
  CHECK_OK(RitzMeshRead(ceed, path, &box.mesh));
  check_positions(&box);
  check_measure(&box);
  check_gaps(box.mesh, num_shared, box.tolerance);
  check_mfem_parts(&box, s);
  CHECK_OK(RitzMeshDestroy(&box.mesh));
  if (tap_failed())
    tap_note("collection %s, ordering %d, seed %d", s->collection ? s->collection : "none", s->ordering,
             (int)s->seed);
}

static MfemSample mfem_box(int dim, int degree, uint64_t seed) {
  MfemSample s = {.map = {dim, degree, false}, .n = {3, 1, 1}, .version = "1.0", .seed = seed};

  if (dim > 1) s.n[1] = 2;
  if (dim > 2) s.n[2] = 2;
  return s;
}

typedef enum { LOBATTO, UNIFORM, GAUSS, OPEN, MIDDLE } Points;

// "H1_" or "L2_T4_" and so on, completed by dimension and degree; the string lives until the next call.
static void mfem_collection(MfemSample *s, const char *prefix, Points points) {
  static char name[40];
  int p = s->map.degree;
  double x[16];

  snprintf(name, sizeof(name), "%s%dD_P%d", prefix, s->map.dim, p);
  s->collection = name;
  s->is_shared = prefix[0] == 'H';
  if (points == LOBATTO) ritz_fe_gauss_lobatto(p + 1, x, NULL);
  if (points == GAUSS) ritz_fe_gauss(p + 1, x, NULL);
  for (int i = 0; i <= p; i++) {
    if (points == LOBATTO || points == GAUSS) s->points[i] = (1 + x[i]) / 2;
    if (points == UNIFORM) s->points[i] = (double)i / p;
    if (points == OPEN) s->points[i] = (i + 1.0) / (p + 2);
    if (points == MIDDLE) s->points[i] = (i + 0.5) / (p + 1);
  }
}

TEST(mfem_straight_meshes_of_every_version_lie_where_their_vertices_are) {
  static const char *const versions[] = {"1.0", "1.2", "1.3"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 18 && !tap_failed(); i++) {
    MfemSample s = mfem_box(1 + i % 3, 1, (uint64_t)(i / 9));

    s.version = versions[i / 3 % 3];
    check_mfem(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_nodes_of_every_collection_give_the_map) {
  static const struct {
    const char *prefix;
    Points points;
  } families[] = {{"H1_", LOBATTO},    {"H1@G_", LOBATTO}, {"H1@s_", LOBATTO},  {"H1@U_", UNIFORM},
                  {"L2_", GAUSS},      {"L2_T0_", GAUSS},  {"L2_T1_", LOBATTO}, {"L2_T3_", OPEN},
                  {"L2_T4_", UNIFORM}, {"L2_T5_", MIDDLE}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 10 * 4 * 3 * 2 && !tap_failed(); i++) {
    MfemSample s = mfem_box(1 + i / 40 % 3, 1 + i / 10 % 4, 5);

    s.ordering = i / 120;
    mfem_collection(&s, families[i % 10].prefix, families[i % 10].points);
    check_mfem(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_collections_of_fixed_degree_give_the_map) {
  static const char *const names[] = {"Linear", "Quadratic", "Cubic"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 9 && !tap_failed(); i++) {
    MfemSample s = mfem_box(1 + i / 3, 1 + i % 3, 3);

    mfem_collection(&s, "H1_", UNIFORM);
    s.collection = names[i % 3];
    s.is_cubic = i % 3 == 2;
    check_mfem(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_neighbours_agree_however_they_are_rotated) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int num_seeds = tap_level() == TAP_QUICK ? 60 : 1000;

  // Two cells and eight; quadratic, cubic and quartic.
  for (int seed = 1; seed <= num_seeds && !tap_failed(); seed++) {
    MfemSample s = mfem_box(3, 2 + seed % 3, (uint64_t)seed);

    s.n[0] = 2;
    s.n[1] = s.n[2] = seed % 2 ? 1 : 2;
    s.ordering = seed % 5 == 0;
    mfem_collection(&s, "H1_", LOBATTO);
    check_mfem(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_surfaces_and_curves_keep_their_space) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4 && !tap_failed(); i++) {
    MfemSample s = mfem_box(1 + i % 2, i < 2 ? 1 : 3, 0);

    s.map.is_bent = true;
    if (i >= 2) mfem_collection(&s, "H1_", LOBATTO);
    check_mfem(ceed, &s);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_vertices_that_nothing_uses_have_no_nodes) {
  // The unit square with its corners at 1, 3, 7, 4 of 9 vertices; nodes: 4 corners, 4 edges, the centre.
  const char *path =
      tap_temp_text("unused.mesh",
                    "MFEM mesh v1.0\ndimension 2 elements 1\n-3 3 1 3 7 4\nboundary 0 vertices 9 nodes\n"
                    "FiniteElementSpace\nFiniteElementCollection: Quadratic\nVDim: 2\nOrdering: 1\n\n"
                    "0 0  1 0  0 1  1 1   0.5 0  1 .5  0.5 1  0 0.5   .5 0.5\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;
  const int32_t *regions;
  int64_t num_vertices, num;
  CeedInt num_parts;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 1, 1e-15, "unit square");
  CHECK_NEAR(high - low, 0, 1e-15, "constant determinant");
  CHECK_OK(RitzMeshGetNumVertices(mesh, &num_vertices));
  CHECK(num_vertices == 4, "%d vertices", (int)num_vertices);
  CHECK_OK(RitzMeshGetElementRegions(mesh, &regions));
  CHECK(regions[0] == -3, "region %d", (int)regions[0]);
  CHECK_OK(RitzMeshGetNumBoundaryParts(mesh, &num_parts));
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
  CHECK(num_parts == 0 && num == 4, "%d parts, %d exterior facets", num_parts, (int)num);
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(mfem_periodic_meshes_have_no_boundary) {
  const char *path = tap_temp_text(
      "ring.mesh",
      "MFEM mesh v1.0\ndimension\n1\nelements\n3\n1 1 0 1\n1 1 1 2\n1 1 2 0\nboundary\n0\nvertices\n3\n"
      "nodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_1D_P1\nVDim: 1\nOrdering: 0\n"
      "0 1 1 2 2 3\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;
  int64_t num;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 3, 1e-14, "three unit segments");
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
  CHECK(num == 0, "%d exterior facets", (int)num);
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- Text ----

// The file with a byte order mark, with line ends of another system, without its last line end.
static void check_variants(Ceed ceed, const char *name, const FileBytes *file) {
  for (int variant = 0; variant < 3; variant++) {
    FileBytes other = {.data = NULL};
    RitzMesh mesh;

    if (variant == 0) file_text(&other, "\xef\xbb\xbf");
    for (size_t i = 0; i < file->size - (variant == 2); i++) {
      if (variant == 1 && file->data[i] == '\n') file_text(&other, "\r");
      file_put(&other, &file->data[i], 1);
    }
    const char *path = tap_temp_file(name, other.data, other.size);

    file_clear(&other);
    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
}

TEST(byte_order_marks_and_line_ends_do_not_matter) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MfemSample mfem = mfem_box(3, 3, 1);
  GmshSample gmsh = gmsh_box(2, 3, 2);

  mfem.version = "1.3";
  mfem_collection(&mfem, "H1_", LOBATTO);
  for (int i = 0; i < 3 && !tap_failed(); i++) {
    gmsh.version = i == 1 ? 2 : 4;
    gmsh.has_others = true;
    FileBytes file = i == 0 ? mfem_file(&mfem) : gmsh_file(&gmsh);

    check_variants(ceed, "variant", &file);
    file_clear(&file);
  }
  CeedDestroy(&ceed);
}

TEST(numbers_do_not_depend_on_the_locale) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  MfemSample s = mfem_box(2, 3, 1);

  mfem_collection(&s, "H1_", LOBATTO);
  FileBytes file = mfem_file(&s);
  const char *path = tap_temp_file("locale.mesh", file.data, file.size);
  Box box = {.map = s.map, .n = s.n};
  MfemCells cells = mfem_cells(&s);

  box.frames = cells.frames;
  box.tolerance = position_tolerance(2, 2);
  file_clear(&file);
  const char *found = select_comma_locale();
  int ierr = RitzMeshRead(ceed, path, &box.mesh);

  select_c_locale();
  CHECK_OK(ierr);
  check_positions(&box);
  CHECK_OK(RitzMeshDestroy(&box.mesh));
  CeedDestroy(&ceed);
  if (!found) SKIP("no locale with a decimal comma is installed, and localedef makes none");
}

// ---- Published meshes ----

static const char *foreign_path(const char *name) {
  static char path[1000];

  snprintf(path, sizeof(path), "%s/%s", tap_meshes(), name);
  return path;
}

// Determinant of the 3 x 3 matrix J, or of its upper left 2 x 2 part.
static double determinant(int dim, double J[3][3]) {
  if (dim == 2) return J[0][0] * J[1][1] - J[0][1] * J[1][0];
  return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

// Position and determinant (for the reference element [0,1]^dim) at the point q of a tensor grid whose 1D
// tables are [Q][P].
static double evaluate(int dim, int P, const double *values, const double *derivatives, int Q, int q,
                       const double *nodes, double *x) {
  int at[3] = {q % Q, q / Q % Q, q / Q / Q};
  double J[3][3] = {{0}};

  for (int c = 0; c < dim; c++) x[c] = 0;
  for (int i = 0; i < sample_int_power(P, dim); i++) {
    int node[3] = {i % P, i / P % P, i / P / P};

    for (int d = -1; d < dim; d++) { // -1: the value
      double weight = 1;

      for (int k = 0; k < dim; k++) weight *= (k == d ? derivatives : values)[at[k] * P + node[k]];
      for (int c = 0; c < dim; c++) *(d < 0 ? &x[c] : &J[c][d]) += nodes[i * dim + c] * weight;
    }
  }
  return determinant(dim, J) * sample_int_power(2, dim);
}

typedef struct {
  const char *name;
  int dim;
  double measure, smallest, largest, centre[3]; // as published: 10, 4 and 8 digits
  int num_shared;
} Anchor;

static void check_determinants(RitzMesh mesh, const Anchor *anchor) {
  double points[5], weights[5], values[5 * 4], derivatives[5 * 4], x[3], low = 1e300, high = -1e300,
                                                                         measure = 0;
  const double *coordinates;
  int64_t num_elem;
  int dim = anchor->dim, num_points = sample_int_power(5, dim), num_nodes = sample_int_power(4, dim);

  double gll[4];

  ritz_fe_gauss(5, points, weights);
  ritz_fe_gauss_lobatto(4, gll, NULL);
  CHECK_OK(ritz_fe_lagrange(NULL, 4, gll, 5, points, values, derivatives));
  CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
  CHECK_OK(RitzMeshGetElementCoordinates(mesh, &coordinates));
  for (int64_t i = 0; i < num_elem * num_points; i++) {
    int q = (int)(i % num_points);
    double det =
        evaluate(dim, 4, values, derivatives, 5, q, &coordinates[i / num_points * num_nodes * dim], x);
    double weight = weights[q % 5] * weights[q / 5 % 5] * (dim == 3 ? weights[q / 25] : 1);

    low = fmin(low, det);
    high = fmax(high, det);
    measure += det * weight / sample_int_power(2, dim);
    if (i != num_points / 2) continue;
    for (int c = 0; c < dim; c++)
      CHECK_NEAR(x[c], anchor->centre[c], 1e-8, "centre of element 0, component %d", c);
  }
  CHECK_NEAR(measure, anchor->measure, 1e-9, "integral");
  CHECK_NEAR(low, anchor->smallest, 6e-4 * anchor->smallest, "smallest determinant");
  CHECK_NEAR(high, anchor->largest, 6e-4 * anchor->largest, "largest determinant");
}

TEST(published_curved_meshes_have_their_known_shape) {
  static const Anchor anchors[] = {
      {"toroid-hex.mesh", 3, 2.010365298, 0.2130, 0.4593, {0.86548889, 0.49969025, 0}, 6},
      {"fichera-q3.mesh", 3, 7.002703425, 0.4193, 1.977, {0.51965854, -0.49960099, -0.50123622}, 9},
      {"star-q3.mesh", 2, 4.755281582, 0.06758, 0.4346, {0.34447776, 0.23261856, 0}, 30}};

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 3; i++) {
    RitzMesh mesh;
    double measure, low, high;

    CHECK_OK(RitzMeshRead(ceed, foreign_path(anchors[i].name), &mesh));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
    CHECK_NEAR(measure, anchors[i].measure, 1e-9, "%s", anchors[i].name);
    check_determinants(mesh, &anchors[i]);
    check_gaps(mesh, anchors[i].num_shared, 1e-14);
    if (tap_failed()) tap_note("in %s", anchors[i].name);
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

TEST(published_straight_meshes_are_read) {
  // Volumes: 8 cubes; 7 cubes; a star of five rhombi of side 1 and angle 72 degrees; the unit cube. star.mesh
  // has 6 digits.
  static const struct {
    const char *name, *part;
    double measure, tolerance;
    int num_elem, num_facets;
  } meshes[] = {{"beam-hex.mesh", "3", 8, 1e-13, 8, 32},
                {"fichera.mesh", "24", 7, 1e-13, 7, 1},
                {"star.mesh", "1", 4.755282581, 1e-5, 20, 20},
                {"periodic-cube.msh", "1", 1, 1e-13, 64, 48}};

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4; i++) {
    RitzMesh mesh;
    double measure, low, high;
    int64_t num_elem, num_facets;

    CHECK_OK(RitzMeshRead(ceed, foreign_path(meshes[i].name), &mesh));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
    CHECK_NEAR(measure, meshes[i].measure, meshes[i].tolerance, "%s", meshes[i].name);
    CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
    CHECK_OK(RitzMeshGetBoundaryPart(mesh, meshes[i].part, &num_facets, NULL, NULL));
    CHECK(num_elem == meshes[i].num_elem && num_facets == meshes[i].num_facets,
          "%d elements, %d facets in %s", (int)num_elem, (int)num_facets, meshes[i].name);
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

TEST(published_meshes_of_other_formats_are_declined_with_what_was_found) {
  static const char *const cases[][2] = {{"inline-hex.mesh", "MFEM INLINE mesh v1.0"},
                                         {"fichera.vtk", "VTK"}};

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2; i++) {
    RitzMesh mesh;

    CHECK_ERROR(ceed, RitzMeshRead(ceed, foreign_path(cases[i][0]), &mesh), CEED_ERROR_UNSUPPORTED,
                cases[i][1]);
    CHECK_ERROR(ceed, RitzMeshRead(ceed, foreign_path(cases[i][0]), &mesh), CEED_ERROR_UNSUPPORTED,
                "Ritz reads");
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(gmsh_boxes_of_every_version_dimension_and_order_lie_where_their_map_puts_them,
            gmsh_tags_may_be_sparse_and_sections_may_be_missing_or_skipped,
            gmsh_without_entities_has_entities_instead_of_groups, gmsh_surfaces_and_curves_keep_their_space,
            gmsh_cells_of_different_order_get_the_largest, gmsh_groups_of_one_name_are_one_part,
            gmsh_cells_are_in_all_of_their_groups_and_those_in_none_in_region_0,
            gmsh_groups_that_overlap_have_their_measures_and_operators,
            gmsh_groups_without_use_keep_their_names, gmsh_clockwise_quads_are_turned,
            mfem_straight_meshes_of_every_version_lie_where_their_vertices_are,
            mfem_nodes_of_every_collection_give_the_map, mfem_collections_of_fixed_degree_give_the_map,
            mfem_neighbours_agree_however_they_are_rotated, mfem_surfaces_and_curves_keep_their_space,
            mfem_vertices_that_nothing_uses_have_no_nodes, mfem_periodic_meshes_have_no_boundary,
            byte_order_marks_and_line_ends_do_not_matter, numbers_do_not_depend_on_the_locale,
            published_curved_meshes_have_their_known_shape, published_straight_meshes_are_read,
            published_meshes_of_other_formats_are_declined_with_what_was_found));
}
