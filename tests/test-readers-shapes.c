// SPDX-License-Identifier: BSD-2-Clause
// The readers on triangles, tetrahedra, prisms, pyramids and mixed meshes: geometry against the maps that the
// files were made from, shared vertices, sides of the box, published meshes, what is declined.
#include <ritz.h>

#include "tests/mesh-shapes.h"

// ---- A mesh against its sample ----

// Shapes of CEED by MFEM's codes.
static const CeedElemTopology topologies[NUM_SHAPES] = {0,
                                                        CEED_TOPOLOGY_LINE,
                                                        CEED_TOPOLOGY_TRIANGLE,
                                                        CEED_TOPOLOGY_QUAD,
                                                        CEED_TOPOLOGY_TET,
                                                        CEED_TOPOLOGY_HEX,
                                                        CEED_TOPOLOGY_PRISM,
                                                        CEED_TOPOLOGY_PYRAMID};

// Corners of facets, as ritz/mesh.h numbers them.
static const char *const facets_of[NUM_SHAPES] = {"",
                                                  "",
                                                  "02 01 12",
                                                  "02 13 01 23",
                                                  "023 013 012 123",
                                                  "0246 1357 0145 2367 0123 4567",
                                                  "0235 0134 1245 012 345",
                                                  "024 134 014 234 0123"};

typedef struct {
  const ShapeSample *sample; // borrowed
  ShapeCells cells;
  RitzMesh mesh;
  double tolerance; // of positions
} Read;

static int shape_of(CeedElemTopology topology) {
  int shape = SEGMENT;

  while (topologies[shape] != topology) shape++;
  return shape;
}

// Cell `number` of this shape, counted in the order of the file.
static const ShapeCell *cell_of_shape(const Read *r, int shape, int64_t number) {
  for (int e = 0; e < r->cells.num; e++) {
    if (r->cells.list[e].shape == shape && number-- == 0) return &r->cells.list[e];
  }
  return NULL;
}

// The point of a cell at `place` of its reference element in [-1,1]^dim.
static void reference_point(const ShapeCell *cell, const double *place, double X[3]) {
  int dim = shape_tables[cell->shape].dim;
  double along[3] = {0, 0, 0};

  for (int d = 0; d < dim; d++) along[d] = (1 + place[d]) / 2;
  for (int d = 0; d < 2 && cell->shape == PYRAMID; d++) along[d] -= along[2] / 2;
  shape_point(cell, along, X);
}

// Where the corners of a mesh stand in the list of a file.
static int listed(int shape, int corner) {
  static const int around[8] = {0, 1, 3, 2, 4, 5, 7, 6};

  return shape == SQUARE || shape == CUBE || shape == PYRAMID ? around[corner] : corner;
}

// Every node lies where the map takes its place in the reference element.
static void check_block_positions(const Read *r, int block) {
  CeedElemTopology topology;
  const double *x;
  double nodes[3 * 343];
  int64_t num_elem;

  CHECK_OK(RitzMeshGetBlock(r->mesh, block, &topology, NULL, &num_elem, NULL, &x));
  int degree = r->sample->degree, num = ritz_fe_shape_num_nodes(topology, degree), shape = shape_of(topology);
  CHECK_OK(ritz_fe_shape_nodes(NULL, topology, degree, nodes));
  for (int64_t i = 0; i < num_elem * num; i++) {
    const ShapeCell *cell = cell_of_shape(r, shape, i / num);
    double X[3], wanted[3];

    CHECK(cell, "%d elements of shape %d", (int)num_elem, shape);
    if (!cell) return;
    reference_point(cell, &nodes[i % num * r->sample->dim], X);
    shape_map(r->sample, X, wanted);
    for (int c = 0; c < r->sample->dim; c++)
      CHECK_NEAR(x[i * r->sample->dim + c], wanted[c], r->tolerance, "shape %d, element %d, node %d", shape,
                 (int)(i / num), (int)(i % num));
  }
}

// Corners at one place have one number, others have others.
static void check_vertices(const Read *r) {
  ShapePoints places = {0, NULL};
  CeedInt num_blocks;
  int64_t num_vertices;

  CHECK_OK(RitzMeshGetNumVertices(r->mesh, &num_vertices));
  CHECK_OK(RitzMeshGetNumBlocks(r->mesh, &num_blocks));
  int64_t *number = malloc((size_t)num_vertices * sizeof(*number));
  for (int64_t v = 0; v < num_vertices; v++) number[v] = -1;
  for (int b = 0; b < num_blocks; b++) {
    CeedElemTopology topology;
    const int64_t *vertices;
    int64_t num_elem;

    CHECK_OK(RitzMeshGetBlock(r->mesh, b, &topology, NULL, &num_elem, &vertices, NULL));
    int shape = shape_of(topology), num = shape_tables[shape].num_corners;
    for (int64_t i = 0; i < num_elem * num; i++) {
      int place =
          shape_points_enter(&places,
                             cell_of_shape(r, shape, i / num)->corners[listed(shape, (int)(i % num))]);

      CHECK(number[vertices[i]] < 0 || number[vertices[i]] == place, "vertex %d is at two places",
            (int)vertices[i]);
      number[vertices[i]] = place;
    }
  }
  CHECK(places.num == num_vertices, "%d vertices at %d places", (int)num_vertices, places.num);
  free(number);
  free(places.X);
}

// Element `e` of the mesh: its cell.
static const ShapeCell *cell_of_element(const Read *r, int64_t e) {
  CeedInt num_blocks;

  RitzMeshGetNumBlocks(r->mesh, &num_blocks);
  for (int b = 0; b < num_blocks; b++) {
    CeedElemTopology topology;
    int64_t first, num_elem;

    RitzMeshGetBlock(r->mesh, b, &topology, &first, &num_elem, NULL, NULL);
    if (e >= first && e < first + num_elem) return cell_of_shape(r, shape_of(topology), e - first);
  }
  return NULL;
}

static bool is_on_side(const ShapeCell *cell, int facet, int side) {
  const char *c = facets_of[cell->shape];

  while (facet-- > 0) c += strcspn(c, " ") + 1;
  for (; *c > ' '; c++) {
    if (cell->corners[listed(cell->shape, *c - '0')][side / 2] != side % 2) return false;
  }
  return true;
}

// The part called side + 1 holds as many facets as the file lists, and all of them lie on that side.
static void check_parts(const Read *r) {
  ShapeCells facets = shape_facets(r->sample, &r->cells);
  CeedInt num_parts;
  int64_t total = 0;

  for (int side = 0; side < 2 * r->sample->dim; side++) {
    int64_t num, *elements, wanted = 0;
    int8_t *its_facets;
    char name[16];

    for (int i = 0; i < facets.num; i++) wanted += facets.list[i].attribute == side + 1;
    if (wanted == 0) continue;
    snprintf(name, sizeof(name), "%d", side + 1);
    CHECK_OK(RitzMeshGetBoundaryPart(r->mesh, name, &num, &elements, &its_facets));
    CHECK(num == wanted, "part %s has %d facets, not %d", name, (int)num, (int)wanted);
    for (int64_t i = 0; i < num; i++)
      CHECK(is_on_side(cell_of_element(r, elements[i]), its_facets[i], side), "part %s, element %d, facet %d",
            name, (int)elements[i], its_facets[i]);
    total++;
    free(elements);
    free(its_facets);
  }
  CHECK_OK(RitzMeshGetNumBoundaryParts(r->mesh, &num_parts));
  CHECK(num_parts == total, "%d parts, not %d", num_parts, (int)total);
  free(facets.list);
}

static void check_regions(const Read *r) {
  const int32_t *regions;

  CHECK_OK(RitzMeshGetElementRegions(r->mesh, &regions));
  for (int64_t e = 0; e < r->cells.num; e++)
    CHECK(regions[e] == cell_of_element(r, e)->attribute, "region %d of element %d", (int)regions[e], (int)e);
}

static void check_contents(const Read *r) {
  CeedInt dim, space_dim, order, num_blocks;
  int64_t num_elem;
  double measure, low, high;

  CHECK_OK(RitzMeshGetDimensions(r->mesh, &dim, &space_dim));
  CHECK_OK(RitzMeshGetGeometryOrder(r->mesh, &order));
  CHECK_OK(RitzMeshGetNumElements(r->mesh, &num_elem));
  CHECK(dim == r->sample->dim && space_dim == dim && order == r->sample->degree, "dim %d, space %d, order %d",
        dim, space_dim, order);
  CHECK(num_elem == r->cells.num, "%d elements, not %d", (int)num_elem, r->cells.num);
  if (tap_failed()) return;
  CHECK_OK(RitzMeshGetNumBlocks(r->mesh, &num_blocks));
  for (int b = 0; b < num_blocks && !tap_failed(); b++) check_block_positions(r, b);
  CHECK_OK(RitzMeshGetMeasure(r->mesh, &measure, &low, &high));
  CHECK_NEAR(measure, shape_measure(r->sample), 100 * r->tolerance, "measure");
  CHECK(low > 0, "smallest determinant %g", low);
  check_vertices(r);
  check_parts(r);
  check_regions(r);
}

// Positions are doubles of size 1 that go through a matrix: sums of num_nodes terms, times the condition of a
// basis in equispaced (at degree 6: 20) or other nodes.
static void check_file(Ceed ceed, const ShapeSample *s, FileBytes *file, const char *name, double condition) {
  Read r = {.sample = s, .cells = shape_cells(s), .tolerance = 100 * 2.3e-16 * condition};
  const char *path = tap_temp_file(name, file->data, file->size);

  file_clear(file);
  CHECK_OK(RitzMeshRead(ceed, path, &r.mesh));
  if (r.mesh) check_contents(&r);
  RitzMeshDestroy(&r.mesh);
  free(r.cells.list);
  if (tap_failed()) tap_note("%s, cells %s, degree %d, seed %d", name, s->kinds, s->degree, (int)s->seed);
}

// Boxes of every kind; hexahedra only up to degree 3.
static const struct {
  ShapeSample sample;
  bool has_pyramids;
} boxes[] = {{{.dim = 2, .n = {2, 2, 1}, .kinds = "tttt"}, false},
             {{.dim = 2, .n = {2, 2, 1}, .kinds = "htht"}, false},
             {{.dim = 3, .n = {2, 1, 1}, .kinds = "tt"}, false},
             {{.dim = 3, .n = {2, 1, 1}, .kinds = "ww"}, false},
             {{.dim = 3, .n = {2, 1, 2}, .kinds = "whtt"}, false},
             {{.dim = 3, .n = {2, 1, 2}, .kinds = "wht."}, false},
             {{.dim = 3, .n = {2, 1, 1}, .kinds = "pp"}, true},
             {{.dim = 3, .n = {3, 1, 2}, .kinds = "hwm.t."}, true}};
enum { NUM_BOXES = sizeof(boxes) / sizeof(boxes[0]) };

static ShapeSample make_sample(int box, int degree, int seed) {
  ShapeSample s = boxes[box].sample;

  s.degree = degree;
  s.seed = (uint64_t)seed;
  return s;
}

static bool has_cubes(const ShapeSample *s) { return s->dim == 3 && strchr(s->kinds, 'h'); }

// ---- Gmsh ----

TEST(gmsh_files_of_every_shape_and_order_lie_where_their_map_puts_them) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int box = 0; box < NUM_BOXES; box++) {
    for (int degree = 1; degree <= 6 && !tap_failed(); degree++) {
      ShapeSample s = make_sample(box, degree, degree);
      FileBytes file;

      if (degree > 3 && has_cubes(&s)) continue;
      file = shape_gmsh_file(&s, degree % 2 ? 2 : 4, degree % 4 < 2);
      check_file(ceed, &s, &file, "shapes.msh", 4 * degree);
    }
  }
  CeedDestroy(&ceed);
}

TEST(gmsh_versions_and_bytes_hold_the_same_mixed_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4 && !tap_failed(); i++) {
    ShapeSample s = make_sample(NUM_BOXES - 1, 2, 1 + i);
    FileBytes file = shape_gmsh_file(&s, i % 2 ? 2 : 4, i / 2);

    check_file(ceed, &s, &file, "versions.msh", 4);
  }
  CeedDestroy(&ceed);
}

// The maps are in the spaces of 8, 13, 15 and 20 nodes, too.
TEST(gmsh_cells_without_nodes_in_faces_have_the_map_of_complete_ones) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 2 * NUM_BOXES && !tap_failed(); i++) {
    ShapeSample s = make_sample(i / 2, 2, i);

    s.is_incomplete = true;
    FileBytes file = shape_gmsh_file(&s, i % 2 ? 2 : 4, i % 3 == 0);
    check_file(ceed, &s, &file, "incomplete.msh", 4);
  }
  CeedDestroy(&ceed);
}

#define GMSH2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"

// A unit square and a triangle beside it, of degree 2 with its long edge bent outwards by 1/4 of its normal
// (1, 1): a parabola over a segment, whose area is 2/3 times the cross product of edge and height.
TEST(gmsh_cells_of_different_shape_and_order_get_the_largest) {
  const char *path =
      tap_temp_text("orders.msh", GMSH2 "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 1.5 0 0\n"
                                        "7 1.75 .75 0\n8 1 .5 0\n$EndNodes\n"
                                        "$Elements\n2\n1 9 0 2 5 3 6 7 8\n2 3 0 1 2 3 4\n$EndElements\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;
  CeedInt order;
  CeedElemTopology topology;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetGeometryOrder(mesh, &order));
  CHECK_OK(RitzMeshGetBlock(mesh, 0, &topology, NULL, NULL, NULL, NULL));
  CHECK(order == 2 && topology == CEED_TOPOLOGY_TRIANGLE, "order %d, first block %d", order, (int)topology);
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 1.5 + 2.0 / 3 * 0.5, 1e-14, "square, triangle and parabola");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(gmsh_clockwise_triangles_are_turned) {
  const char *path = tap_temp_text("clockwise.msh", GMSH2 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
                                                          "$Elements\n1\n1 2 0 1 3 2\n$EndElements\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  double measure, low, high;

  CHECK_OK(RitzMeshRead(ceed, path, &mesh));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
  CHECK_NEAR(measure, 0.5, 1e-15, "half a unit square");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- MFEM ----

typedef enum { LOBATTO, UNIFORM, GAUSS, OPEN, MIDDLE } Points;

// The string lives until the next call.
static ShapeCollection make_collection(const ShapeSample *s, const char *prefix, Points points) {
  static char name[40];
  ShapeCollection c = {.name = name, .is_shared = prefix[0] == 'H'};
  int p = s->degree;
  double x[16];

  snprintf(name, sizeof(name), "%s%dD_P%d", prefix, s->dim, p);
  if (points == LOBATTO) ritz_fe_gauss_lobatto(p + 1, x, NULL);
  if (points == GAUSS) ritz_fe_gauss(p + 1, x, NULL);
  for (int i = 0; i <= p; i++) {
    if (points == LOBATTO || points == GAUSS) c.points[i] = (1 + x[i]) / 2;
    if (points == UNIFORM) c.points[i] = (double)i / p;
    if (points == OPEN) c.points[i] = (i + 1.0) / (p + 2);
    if (points == MIDDLE) c.points[i] = (i + 0.5) / (p + 1);
  }
  return c;
}

TEST(mfem_straight_meshes_of_every_shape_lie_where_their_vertices_are) {
  const ShapeCollection none = {.name = NULL};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 3 * NUM_BOXES && !tap_failed(); i++) {
    ShapeSample s = make_sample(i / 3, 1, i % 3);
    FileBytes file = shape_mfem_file(&s, &none);

    check_file(ceed, &s, &file, "straight.mesh", 1);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_shared_nodes_give_the_map_however_cells_are_turned) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int num_seeds = tap_level() == TAP_QUICK ? 1 : 4;

  for (int box = 0; box < NUM_BOXES; box++) {
    for (int i = 0; i < 6 * num_seeds && !tap_failed(); i++) {
      int degree = boxes[box].has_pyramids ? 1 : 1 + i % 6;
      ShapeSample s = make_sample(box, degree, 1 + i);
      ShapeCollection c = make_collection(&s, i % 4 == 3 ? "H1@U_" : "H1_", i % 4 == 3 ? UNIFORM : LOBATTO);
      FileBytes file = shape_mfem_file(&s, &c);

      check_file(ceed, &s, &file, "shared.mesh", 4 * degree);
    }
  }
  CeedDestroy(&ceed);
}

TEST(mfem_collections_of_fixed_degree_give_the_map) {
  static const char *const names[] = {"Linear", "Quadratic", "Cubic"};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 6 && !tap_failed(); i++) {
    ShapeSample s = make_sample(i / 3 ? 2 : 1, 1 + i % 3, 3);
    ShapeCollection c = make_collection(&s, "H1_", UNIFORM);

    c.name = names[i % 3];
    FileBytes file = shape_mfem_file(&s, &c);

    check_file(ceed, &s, &file, "fixed.mesh", 4);
  }
  CeedDestroy(&ceed);
}

TEST(mfem_separate_nodes_of_simplices_give_the_map) {
  static const struct {
    const char *prefix;
    Points points;
  } families[] = {
      {"L2_", GAUSS}, {"L2_T1_", LOBATTO}, {"L2_T3_", OPEN}, {"L2_T4_", UNIFORM}, {"L2_T5_", MIDDLE}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 5 * 3 * 4 && !tap_failed(); i++) {
    ShapeSample s = make_sample(i / 5 % 3, 1 + i / 15, 5);
    ShapeCollection c = make_collection(&s, families[i % 5].prefix, families[i % 5].points);
    FileBytes file = shape_mfem_file(&s, &c);

    check_file(ceed, &s, &file, "separate.mesh", 100); // nodes inside of the cells only
  }
  CeedDestroy(&ceed);
}

TEST(mfem_nodes_that_are_not_settled_are_declined) {
  static const struct {
    const char *prefix, *message;
    int box, degree;
  } cases[] = {{"H1_", "nodes of collection 'H1_3D_P2' on pyramids", 6, 2},
               {"L2_", "nodes of collection 'L2_3D_P1' on pyramids", 6, 1},
               {"L2_T1_", "nodes of collection 'L2_T1_3D_P2' on prisms", 3, 2},
               {"H1_", "nodes of degree 11 on tetrahedra", 2, 11}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4; i++) {
    ShapeSample s = make_sample(cases[i].box, cases[i].degree, 0);
    ShapeCollection c = make_collection(&s, cases[i].prefix, UNIFORM);
    FileBytes file = shape_mfem_file(&s, &c);
    const char *path = tap_temp_file("declined.mesh", file.data, file.size);
    RitzMesh mesh = NULL;

    file_clear(&file);
    CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), CEED_ERROR_UNSUPPORTED, cases[i].message);
    CHECK(!mesh, "case %d", i);
  }
  CeedDestroy(&ceed);
}

// ---- Published meshes ----

static const char *foreign_path(const char *name) {
  static char path[1000];

  snprintf(path, sizeof(path), "%s/%s", tap_meshes(), name);
  return path;
}

// Volumes: 8 cubes; the sum over the tetrahedra of the file; 7 cubes; a regular octagon of circumradius 1;
// the unit cube, whose part 7 lies inside. Elements and facets as the files list them.
TEST(published_meshes_of_other_shapes_are_read) {
  static const struct {
    const char *name;
    double measure, tolerance;
    int num_blocks, num_elem[3];
    struct {
      const char *name;
      int num;
    } parts[3];
    int num_exterior;
  } meshes[] = {
      {"beam-tet.mesh", 8, 1e-12, 1, {48}, {{"1", 2}, {"2", 2}, {"3", 64}}, 68},
      {"escher.mesh", 6.43141635331102, 1e-12, 1, {42}, {{"1", 1}, {"25", 1}, {"48", 1}}, 48},
      {"fichera-mixed.mesh", 7, 1e-12, 3, {5, 6, 3}, {{"1", 1}, {"2", 2}, {"23", 2}}, 30},
      {"compass.msh", 2.8284271247461901, 1e-12, 2, {8, 4}, {{"ENE", 1}, {"WNW", 1}, {"SSE", 1}}, 8},
      {"nested_cubes.msh", 1, 1e-12, 1, {520}, {{"1", 26}, {"6", 26}, {"7", 14}}, 156},
  };

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (size_t i = 0; i < sizeof(meshes) / sizeof(meshes[0]) && !tap_failed(); i++) {
    RitzMesh mesh = NULL;
    double measure, low, high;
    int64_t num;
    CeedInt num_blocks;

    CHECK_OK(RitzMeshRead(ceed, foreign_path(meshes[i].name), &mesh));
    if (!mesh) break;
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, &high));
    CHECK_NEAR(measure, meshes[i].measure, meshes[i].tolerance, "%s", meshes[i].name);
    CHECK_OK(RitzMeshGetNumBlocks(mesh, &num_blocks));
    CHECK(num_blocks == meshes[i].num_blocks, "%d blocks", num_blocks);
    for (int b = 0; b < num_blocks; b++) {
      CHECK_OK(RitzMeshGetBlock(mesh, b, NULL, NULL, &num, NULL, NULL));
      CHECK(num == meshes[i].num_elem[b], "%d elements in block %d", (int)num, b);
    }
    for (int p = 0; p < 3; p++) {
      CHECK_OK(RitzMeshGetBoundaryPart(mesh, meshes[i].parts[p].name, &num, NULL, NULL));
      CHECK(num == meshes[i].parts[p].num, "part %s has %d facets", meshes[i].parts[p].name, (int)num);
    }
    CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
    CHECK(num == meshes[i].num_exterior, "%d exterior facets", (int)num);
    if (tap_failed()) tap_note("in %s", meshes[i].name);
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(gmsh_files_of_every_shape_and_order_lie_where_their_map_puts_them,
            gmsh_versions_and_bytes_hold_the_same_mixed_mesh,
            gmsh_cells_without_nodes_in_faces_have_the_map_of_complete_ones,
            gmsh_cells_of_different_shape_and_order_get_the_largest, gmsh_clockwise_triangles_are_turned,
            mfem_straight_meshes_of_every_shape_lie_where_their_vertices_are,
            mfem_shared_nodes_give_the_map_however_cells_are_turned,
            mfem_collections_of_fixed_degree_give_the_map, mfem_separate_nodes_of_simplices_give_the_map,
            mfem_nodes_that_are_not_settled_are_declined, published_meshes_of_other_shapes_are_read));
}
