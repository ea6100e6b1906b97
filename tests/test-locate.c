// SPDX-License-Identifier: BSD-2-Clause
// Tests of locators (ritz/locate.h): points made from known places are found there again, on meshes of all
// shapes, straight, curved, twisted, on surfaces, and of files; facets, points outside, hints, threads;
// boxes that hold elements; points sorted by element; what is refused.
#include <float.h>

#include "base/memory.h"
#include "mesh/locate.h"
#include "tests/mesh-list.h"
#include "tests/mixed-tools.h"

// ---- Meshes ----

// A bar of 2 x 2 x 6 cells, turned by a right angle from end to end.
static int twist_map(void *ctx, CeedInt dim, const double *X, double *x) {
  const double angle = 1.5707963267948966 * X[2], a = X[0] - 0.5, b = X[1] - 0.5;

  (void)ctx, (void)dim;
  x[0] = a * cos(angle) - b * sin(angle);
  x[1] = a * sin(angle) + b * cos(angle);
  x[2] = 3.0 * X[2];
  return 0;
}

// A small box far from the origin, cells 1e-3 long and 1e-6 high.
static int layer_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = 1000.0 + 1e-3 * X[d];
  x[dim - 1] = -3.0 + 1e-6 * (X[dim - 1] + 0.1 * X[0] * X[0]);
  return 0;
}

static int make_twisted(Ceed ceed, int order, RitzMesh *mesh) {
  const CeedInt n[3] = {2, 2, 6};

  return RitzMeshCreateBox(ceed, 3, n, NULL, NULL, order, twist_map, NULL, mesh);
}

// Triangles and quadrilaterals in the plane, lifted to a paraboloid.
static int make_surface(Ceed ceed, int order, RitzMesh *mesh) {
  RitzMeshDraft flat = draft_of_plane(order, quadratic_map), draft = flat;

  draft.space_dim = 3;
  draft.coords = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(3 * draft.num_points), &draft.coords));
  for (int64_t i = 0; i < draft.num_points; i++) {
    const double a = flat.coords[2 * i], b = flat.coords[2 * i + 1];

    draft.coords[3 * i] = a, draft.coords[3 * i + 1] = b;
    draft.coords[3 * i + 2] = 0.3 * a * a - 0.2 * a * b + 0.5 * b;
  }
  RITZ_FREE(&flat.coords);
  return ritz_mesh_build(ceed, "surface", &draft, mesh);
}

enum { NUM_MESHES = 11 };
static const char *const mesh_names[NUM_MESHES] = {
    "line",       "square",           "cube",       "triangles and quadrilaterals",
    "all shapes", "all shapes, wavy", "tetrahedra", "prisms",
    "layer",      "twisted bar",      "surface"};

static int make_mesh(Ceed ceed, int which, int order, RitzMesh *mesh) {
  RitzMeshDraft draft;
  RitzMesh box;

  if (which < 3) return make_box(ceed, which + 1, order, wavy_map, NULL, mesh);
  if (which == 8) return make_box(ceed, 3, order, layer_map, NULL, mesh);
  if (which == 9) return make_twisted(ceed, order, mesh);
  if (which == 10) return make_surface(ceed, order, mesh);
  if (which == 6 || which == 7) {
    RITZ_TRY(make_box(ceed, 3, order, which == 6 ? wavy_map : quadratic_map, NULL, &box));
    RITZ_TRY(RitzMeshSplit(box, which == 6 ? CEED_TOPOLOGY_TET : CEED_TOPOLOGY_PRISM, mesh));
    return RitzMeshDestroy(&box);
  }
  draft = which == 3 ? draft_of_plane(order, quadratic_map)
                     : draft_of_mixed(order, which == 4 ? quadratic_map : wavy_map);
  return ritz_mesh_build(ceed, mesh_names[which], &draft, mesh);
}

// ---- Points of known places ----

// Corners of a reference element.
static void reference_corner(const RitzMeshShape *shape, int k, double *r) {
  double corners[3 * RITZ_MESH_MAX_CORNERS];

  CHECK_OK(ritz_fe_shape_nodes(NULL, shape->topology, 1, corners));
  for (int d = 0; d < shape->dim; d++) r[d] = corners[k * shape->dim + d];
}

// A mean of corners with random weights of at least `least`: in every shape, all of which are convex.
static void random_place(const RitzMeshShape *shape, double least, uint64_t *state, double *r) {
  double weight[RITZ_MESH_MAX_CORNERS], sum = 0.0, corner[3];

  for (int k = 0; k < shape->num_corners; k++) sum += weight[k] = least + 0.5 * (1.0 + tap_uniform(state));
  for (int d = 0; d < 3; d++) r[d] = 0.0;
  for (int k = 0; k < shape->num_corners; k++) {
    reference_corner(shape, k, corner);
    for (int d = 0; d < shape->dim; d++) r[d] += weight[k] / sum * corner[d];
  }
}

static const RitzMeshBlock *block_of(RitzMesh mesh, int64_t e) {
  return &mesh->blocks[ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, e)];
}

static const double *nodes_of(RitzMesh mesh, int64_t e) {
  const RitzMeshBlock *block = block_of(mesh, e);

  return mesh->coords + (block->node_base + (e - block->first) * block->num_nodes) * mesh->space_dim;
}

// The position of a place by the tables of fe/, of which locators use nothing.
static void position(RitzMesh mesh, int64_t e, const double *r, double *x) {
  const RitzMeshBlock *block = block_of(mesh, e);
  double *values = malloc((size_t)block->num_nodes * 8);

  CHECK_OK(ritz_fe_shape_lagrange(NULL, block->topology, mesh->order, 1, r, values, NULL));
  ritz_mesh_map_dense(mesh->space_dim, 1, block->num_nodes, values, nodes_of(mesh, e), x);
  free(values);
}

// How far a rounding of the position moves the place, from differences of positions: |K|, K = inverse of J,
// is at most |J|^(dim-1) / det; here by the smallest stretch of small steps in many directions.
static double moved_by_rounding(RitzMesh mesh, int64_t e, const double *r, const double *x) {
  const double step = 1e-6;
  double least = INFINITY, largest = 0.0, extent = 0.0;
  uint64_t state = 3;

  for (int k = 0; k < 40; k++) {
    double s[3], y[3] = {0.0}, length = 0.0, moved = 0.0;

    for (int d = 0; d < mesh->dim; d++) {
      s[d] = k < mesh->dim ? k == d : tap_uniform(&state);
      length += s[d] * s[d];
      s[d] = r[d] + step * s[d];
    }
    position(mesh, e, s, y);
    for (int c = 0; c < mesh->space_dim; c++) moved = hypot(moved, y[c] - x[c]);
    least = fmin(least, moved / (step * sqrt(length)));
    extent = fmax(extent, moved / step);
  }
  for (int c = 0; c < mesh->space_dim; c++) largest = fmax(largest, fabs(x[c]));
  return DBL_EPSILON * (largest + extent) / least;
}

enum { NUM_POINTS = 60 };
typedef struct {
  int64_t num, elements[NUM_POINTS];
  double r[NUM_POINTS][3], x[3 * NUM_POINTS];
} Places;

static Places make_places(RitzMesh mesh, double least, uint64_t seed) {
  Places places = {.num = NUM_POINTS};

  for (int i = 0; i < NUM_POINTS; i++) {
    const int64_t e = tap_integer(&seed, mesh->num_elem);

    places.elements[i] = e;
    random_place(ritz_mesh_shape(block_of(mesh, e)->topology), least, &seed, places.r[i]);
    position(mesh, e, places.r[i], places.x + i * mesh->space_dim);
  }
  return places;
}

// Found in the same elements at the same places, up to some roundings of sums over an element's nodes.
static void check_found(RitzMesh mesh, const Places *places, const int64_t *elements, const double *xi,
                        const char *name) {
  for (int i = 0; i < places->num; i++) {
    const int64_t e = places->elements[i];
    const double *x = places->x + i * mesh->space_dim;
    const double rounding = moved_by_rounding(mesh, e, places->r[i], x);

    CHECK(elements[i] == e, "%s, order %d, point %d: element %lld, found %lld", name, mesh->order, i,
          (long long)e, (long long)elements[i]);
    for (int d = 0; d < mesh->dim; d++) {
      CHECK_NEAR(xi[i * mesh->dim + d], places->r[i][d], 40.0 * (mesh->order + 1) * rounding,
                 "%s, order %d, point %d, direction %d", name, mesh->order, i, d);
    }
  }
}

static void check_mesh(RitzMesh mesh, const char *name) {
  const Places places = make_places(mesh, 0.01, 5);
  int64_t elements[NUM_POINTS];
  double xi[3 * NUM_POINTS];
  RitzLocator locator;

  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  CHECK_OK(RitzLocatorFind(locator, places.num, places.x, NULL, elements, xi));
  check_found(mesh, &places, elements, xi, name);
  CHECK_OK(RitzLocatorDestroy(&locator));
}

TEST(points_are_found_where_they_were_made) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    for (int order = 1; order <= 4; order++) {
      RitzMesh mesh;

      if (which == 8 && order > 2) continue; // its map is of degree 2
      CHECK_OK(make_mesh(ceed, which, order, &mesh));
      check_mesh(mesh, mesh_names[which]);
      if (tap_failed()) return;
      CHECK_OK(RitzMeshDestroy(&mesh));
    }
  }
  CeedDestroy(&ceed);
}

TEST(points_are_found_in_meshes_of_files) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char path[MESH_PATH];

  for (size_t i = 0; mesh_list_path(i, path); i++) {
    RitzMesh mesh;

    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    check_mesh(mesh, path);
    if (tap_failed()) return;
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

// One element that winds five sixths of a turn round its hole: Newton's method from the centre misses most of
// it.
static int wind_map(void *ctx, CeedInt dim, const double *X, double *x) {
  const double angle = -5.236 * X[0], radius = 1.0 + 0.2 * X[1];

  (void)ctx, (void)dim;
  x[0] = radius * cos(angle);
  x[1] = radius * sin(angle);
  return 0;
}

TEST(points_are_found_in_an_element_wound_round) {
  const CeedInt n[2] = {1, 1};
  const double hole[2] = {0.1, 0.1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzLocator locator;
  int64_t elem;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 9, wind_map, NULL, &mesh));
  check_mesh(mesh, "wound");
  if (tap_failed()) return;
  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  CHECK_OK(RitzLocatorFind(locator, 1, hole, NULL, &elem, NULL));
  CHECK(elem == -1, "the hole is in element %lld", (long long)elem);
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- Facets ----

// The element of lowest number that has all these vertices.
static int64_t lowest_around(RitzMesh mesh, int num, const int64_t *vertices) {
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const RitzMeshBlock *block = block_of(mesh, e);
    const int64_t *of_elem =
        mesh->elem_vertices + block->corner_base + (e - block->first) * block->num_corners;
    int shared = 0;

    for (int k = 0; k < num; k++) {
      for (int j = 0; j < block->num_corners; j++) shared += of_elem[j] == vertices[k];
    }
    if (shared == num) return e;
  }
  return -1;
}

// The middle of these corners of element e, which lies on what they span.
static void check_shared_point(RitzLocator locator, RitzMesh mesh, int64_t e, int num, const int8_t *corners,
                               const char *name) {
  const RitzMeshBlock *block = block_of(mesh, e);
  const int64_t *of_elem = mesh->elem_vertices + block->corner_base + (e - block->first) * block->num_corners;
  double r[3] = {0.0}, x[3], xi[3], corner[3];
  int64_t vertices[4], elem;

  for (int k = 0; k < num; k++) {
    reference_corner(ritz_mesh_shape(block->topology), corners[k], corner);
    for (int d = 0; d < mesh->dim; d++) r[d] += corner[d] / num;
    vertices[k] = of_elem[corners[k]];
  }
  position(mesh, e, r, x);
  CHECK_OK(RitzLocatorFind(locator, 1, x, &e, &elem, xi));
  CHECK(elem == lowest_around(mesh, num, vertices), "%s, order %d, element %lld: %lld", name, mesh->order,
        (long long)e, (long long)elem);
}

static void check_facets(RitzMesh mesh, const char *name) {
  RitzLocator locator;

  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const RitzMeshShape *shape = ritz_mesh_shape(block_of(mesh, e)->topology);

    for (int8_t k = 0; k < shape->num_corners; k++) check_shared_point(locator, mesh, e, 1, &k, name);
    for (int f = 0; f < shape->facets.num; f++)
      check_shared_point(locator, mesh, e, ritz_mesh_entity_size(&shape->facets, f), shape->facets.corner[f],
                         name);
  }
  CHECK_OK(RitzLocatorDestroy(&locator));
}

TEST(facets_and_vertices_belong_to_the_lowest_element) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    for (int order = 1; order <= 2; order++) {
      RitzMesh mesh;

      CHECK_OK(make_mesh(ceed, which, order, &mesh));
      check_facets(mesh, mesh_names[which]);
      if (tap_failed()) return;
      CHECK_OK(RitzMeshDestroy(&mesh));
    }
  }
  CeedDestroy(&ceed);
}

// ---- Points outside ----

TEST(points_outside_are_reported) {
  static const CeedInt n[3] = {4, 4, 4};
  // Cells are 0.25 long: 0.25e-10 outside is 2e-10 in reference coordinates, twice the tolerance.
  const double x[8][3] = {{1.0 + 0.25e-10, 0.3, 0.3},
                          {1.0 + 0.025e-10, 0.3, 0.3},
                          {-3.0, 0.3, 0.3},
                          {0.3, 1e300, 0.3},
                          {0.3, NAN, 0.3},
                          {-INFINITY, 0.3, 0.3},
                          {0.3, 0.3, -0.5e-10},
                          {0.3, 0.3, 0.3}};
  const int64_t expected[8] = {-1, 4 * 4 + 4 + 3, -1, -1, -1, -1, -1, 16 + 4 + 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzLocator locator;
  int64_t elements[8];
  double xi[24];

  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 2, NULL, NULL, &mesh));
  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  CHECK_OK(RitzLocatorFind(locator, 8, x[0], NULL, elements, xi));
  for (int i = 0; i < 8; i++) {
    CHECK(elements[i] == expected[i], "point %d: %lld", i, (long long)elements[i]);
    for (int d = 0; d < 3 && elements[i] < 0; d++) CHECK(xi[3 * i + d] == 0.0, "point %d", i);
  }
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzLocatorCreate(mesh, 1e-3, &locator));
  CHECK_OK(RitzLocatorFind(locator, 1, (const double[3]){1.0 + 1e-4, 0.3, 0.3}, NULL, elements, NULL));
  CHECK(elements[0] == 23, "%lld", (long long)elements[0]);
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// A ring of six cells, whose cross-section, a square of side 0.4, makes a quarter turn on the way round: the
// hole, and what is beside the turned square, are inside of the boxes of elements.
TEST(points_in_holes_are_outside) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 1;
  RitzMeshDraft draft = draft_of_ring(6, 4, 1);
  RitzMesh mesh;
  RitzLocator locator;

  CHECK_OK(ritz_mesh_build(ceed, "ring", &draft, &mesh));
  CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
  for (int i = 0; i < 300; i++) {
    const double r[3] = {1.5 * tap_uniform(&state), 1.5 * tap_uniform(&state), tap_uniform(&state)};
    const double depth = 1.0 - fmax(fabs(r[0]), fabs(r[1]));
    const int64_t cell = tap_integer(&state, 6);
    double x[3], xi[3];
    int64_t elem;

    ring_point(6, 1, cell, r, x);
    if (fabs(depth) < 0.02) continue; // the geometry of degree 4 is this near
    CHECK_OK(RitzLocatorFind(locator, 1, x, NULL, &elem, xi));
    CHECK((elem >= 0) == (depth > 0.0), "point %d, depth %g: element %lld", i, depth, (long long)elem);
  }
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- Hints and threads ----

// A swarm in and around the box of a mesh, x [num][3].
static double *make_swarm(int64_t num) {
  double *x = malloc((size_t)num * 24);
  uint64_t state = 8;

  for (int64_t i = 0; i < 3 * num; i++) x[i] = 0.5 + 0.6 * tap_uniform(&state);
  // Many on planes between elements.
  for (int64_t i = 0; i < num; i += 3) x[3 * i] = (double)(i % 4) / 3.0;
  return x;
}

// Results that depend on neither hints nor threads; the hints of threads are their results.
static void check_same(RitzLocator locator, int64_t num, const double *x, const int64_t *hints,
                       const int64_t *expected, const double *expected_xi, const char *name) {
  int64_t *elements = malloc((size_t)num * 8);
  double *xi = malloc((size_t)num * 24);

  for (int64_t i = 0; i < num; i++) elements[i] = hints ? hints[i] : -1;
  CHECK_OK(RitzLocatorFind(locator, num, x, hints ? elements : NULL, elements, xi));
  for (int64_t i = 0; i < num; i++)
    CHECK(elements[i] == expected[i], "%s, point %lld: %lld", name, (long long)i, (long long)elements[i]);
  CHECK(!memcmp(xi, expected_xi, (size_t)num * 24), "%s", name);
  free(xi);
  free(elements);
}

TEST(hints_and_threads_change_nothing) {
  static const char *const resources[] = {"/cpu/self/ref", "/cpu/self/gen:threads=3"};
  enum { NUM = 1500 };
  int64_t expected[NUM], moved[NUM];
  double *x = make_swarm(NUM), xi[3 * NUM];

  for (int k = 0; k < 2; k++) {
    Ceed ceed = tap_ceed(resources[k]);
    RitzMeshDraft draft = draft_of_mixed(2, quadratic_map);
    RitzMesh mesh;
    RitzLocator locator;

    CHECK_OK(ritz_mesh_build(ceed, "all shapes", &draft, &mesh));
    CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
    if (k == 0) CHECK_OK(RitzLocatorFind(locator, NUM, x, NULL, expected, xi));
    for (int i = 0; i < NUM; i++) moved[i] = (expected[i] + 1 + i % 5) % mesh->num_elem;
    check_same(locator, NUM, x, NULL, expected, xi, "no hints");
    check_same(locator, NUM, x, expected, expected, xi, "right hints");
    check_same(locator, NUM, x, moved, expected, xi, "wrong hints");
    CHECK_OK(RitzLocatorDestroy(&locator));
    CHECK_OK(RitzMeshDestroy(&mesh));
    CeedDestroy(&ceed);
  }
  free(x);
}

// ---- Boxes ----

// A place that is outside of the reference element by `beyond` at most.
static void place_beyond(const RitzMeshShape *shape, double beyond, uint64_t *state, double *r) {
  random_place(shape, 0.0, state, r);
  for (int d = 0; d < shape->dim; d++) r[d] += beyond * tap_uniform(state);
}

// Elements whose nodes are moved at random, so far that they may be folded.
static void check_hull(CeedElemTopology topology, int order, double tolerance) {
  const RitzMeshShape *shape = ritz_mesh_shape(topology);
  const int64_t num = ritz_mesh_num_nodes(topology, order);
  double *x = malloc((size_t)num * 24), *r = malloc((size_t)num * 24), *values = malloc((size_t)num * 8);
  double box[6], low[3], high[3];
  uint64_t state = (uint64_t)(10 * order) + topology;
  RitzMeshHull hull;

  CHECK_OK(ritz_fe_shape_nodes(NULL, topology, order, r));
  for (int64_t i = 0; i < 3 * num; i++)
    x[i] = (i % 3 < shape->dim ? r[i / 3 * shape->dim + i % 3] : 0.0) + 0.4 * tap_uniform(&state);
  CHECK_OK(ritz_mesh_hull_create(NULL, topology, 3, order, &hull));
  ritz_mesh_hull_take(&hull, x, tolerance, box);
  ritz_mesh_bounds(3, num, x, low, high);
  for (int i = 0; i < 200; i++) {
    double place[3], y[3];

    place_beyond(shape, tolerance, &state, place);
    CHECK_OK(ritz_fe_shape_lagrange(NULL, topology, order, 1, place, values, NULL));
    ritz_mesh_map_dense(3, 1, num, values, x, y);
    for (int c = 0; c < 3; c++)
      CHECK(box[c] <= y[c] && y[c] <= box[3 + c], "%s, order %d, point %d", shape->plural, order, i);
  }
  // The hull of degree 1 is that of the corners.
  for (int c = 0; c < 3 && order == 1 && tolerance < 1e-9; c++)
    CHECK_NEAR(box[3 + c] - box[c], high[c] - low[c], 1e-7, "%s: box and corners", shape->plural);
  ritz_mesh_hull_clear(&hull);
  free(values);
  free(r);
  free(x);
}

TEST(boxes_hold_their_elements) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_LINE,    CEED_TOPOLOGY_TRIANGLE,
                                                CEED_TOPOLOGY_QUAD,    CEED_TOPOLOGY_TET,
                                                CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM,
                                                CEED_TOPOLOGY_HEX};

  for (int k = 0; k < 7; k++) {
    for (int order = 1; order <= 6; order++) {
      check_hull(topologies[k], order, 1e-10);
      // Beyond the apex of a pyramid functions have no bound.
      if (topologies[k] != CEED_TOPOLOGY_PYRAMID) check_hull(topologies[k], order, 0.01);
      if (tap_failed()) return;
    }
  }
}

// The modes at one point are those of the tables.
TEST(modes_at_a_point_are_those_of_tables) {
  static const CeedElemTopology topologies[] = {CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_TET,
                                                CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM};
  enum { DEGREE = 4, MOST = 100 };
  double table[MOST], gradients[3 * MOST], value[MOST], gradient[3 * MOST];
  uint64_t state = 2;

  for (int k = 0; k < 4; k++) {
    const int num = ritz_fe_shape_num_nodes(topologies[k], DEGREE), dim = ritz_mesh_shape(topologies[k])->dim;
    double *work = malloc((size_t)ritz_fe_shape_modes_work(topologies[k], DEGREE) * 8), r[3];

    random_place(ritz_mesh_shape(topologies[k]), 0.01, &state, r);
    CHECK_OK(ritz_fe_shape_modes(NULL, topologies[k], DEGREE, 1, r, table, gradients));
    ritz_fe_shape_modes_at(topologies[k], DEGREE, r, value, gradient, work);
    for (int i = 0; i < num; i++) {
      CHECK_NEAR(value[i], table[i], 100 * DBL_EPSILON, "shape %d, mode %d", k, i);
      for (int d = 0; d < dim; d++)
        CHECK_NEAR(gradient[d * num + i], gradients[d * num + i], 2000 * DBL_EPSILON, "shape %d, mode %d", k,
                   i);
    }
    free(work);
  }
}

// ---- Points by element ----

TEST(points_are_sorted_by_element) {
  enum { NUM = 400, ELEMS = 7, FIRST = 3 };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  CeedElemRestriction rstr;
  int64_t elements[NUM], listed = 0;
  CeedInt *offsets;
  uint64_t state = 6;

  for (int i = 0; i < NUM; i++) elements[i] = tap_integer(&state, 12) - 1;
  CHECK_OK(RitzPointsSort(ceed, NUM, elements, FIRST, ELEMS, &offsets));
  CHECK(offsets[0] == ELEMS + 1, "%d", offsets[0]);
  for (CeedInt k = 0; k < ELEMS; k++) {
    for (CeedInt i = offsets[k]; i < offsets[k + 1]; i++) {
      CHECK(elements[offsets[i]] == FIRST + k, "list %d, entry %d", k, i);
      CHECK(i == offsets[k] || offsets[i - 1] < offsets[i], "list %d ascends", k);
    }
  }
  for (int i = 0; i < NUM; i++) listed += elements[i] >= FIRST && elements[i] < FIRST + ELEMS;
  CHECK(offsets[ELEMS] - ELEMS - 1 == listed, "%d of %lld", offsets[ELEMS], (long long)listed);
  CHECK_OK(CeedElemRestrictionCreateAtPoints(ceed, ELEMS, (CeedInt)listed, 2, 2 * NUM, CEED_MEM_HOST,
                                             CEED_OWN_POINTER, offsets, &rstr));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(RitzPointsSort(ceed, 0, NULL, 0, 2, &offsets));
  CHECK(offsets[0] == 3 && offsets[1] == 3 && offsets[2] == 3, "no points");
  free(offsets);
  CHECK_ERROR(ceed, RitzPointsSort(ceed, -1, elements, 0, 2, &offsets), CEED_ERROR_DIMENSION, "-1 points");
  CHECK_ERROR(ceed, RitzPointsSort(ceed, 2, elements, 0, -2, &offsets), CEED_ERROR_DIMENSION, "-2 elements");
  CHECK_ERROR(ceed, RitzPointsSort(ceed, 2, elements, 0, INT32_MAX, &offsets), CEED_ERROR_UNSUPPORTED,
              "CeedInt");
  CeedDestroy(&ceed);
}

// ---- Operators at located points ----

enum { NUM_AT = 90 };

// Values at the located points of the coordinates, dim components, and the masses that they leave at the
// nodes of a space of one component; both of the geometry's degree.
typedef struct {
  RitzMesh mesh;
  RitzSpace space[2]; // dim components, one component
  CeedElemRestriction nodes[2], points[2];
  CeedBasis basis[2];
  CeedVector xi;
} AtPoints;

static int make_at_points(Ceed ceed, RitzMesh mesh, int64_t num, const int64_t *elements, const double *xi,
                          AtPoints *a) {
  CeedScalar *places;
  CeedInt *offsets;

  *a = (AtPoints){.mesh = mesh};
  RITZ_TRY(RitzPointsSort(ceed, num, elements, 0, (CeedInt)mesh->num_elem, &offsets));
  const CeedInt listed = offsets[mesh->num_elem] - (CeedInt)mesh->num_elem - 1;

  for (int k = 0; k < 2; k++) {
    const CeedInt num_comp = k == 0 ? mesh->dim : 1;

    RITZ_TRY(RitzSpaceCreate(mesh, mesh->order, num_comp, &a->space[k]));
    RITZ_TRY(RitzSpaceCreateRestriction(a->space[k], ceed, &a->nodes[k]));
    RITZ_TRY(RitzSpaceCreateBlockBasis(a->space[k], 0, ceed, 2 * mesh->order, &a->basis[k]));
    RITZ_TRY(CeedElemRestrictionCreateAtPoints(ceed, (CeedInt)mesh->num_elem, listed, num_comp,
                                               num * num_comp, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                               &a->points[k]));
  }
  free(offsets);
  RITZ_TRY(CeedVectorCreate(ceed, num * mesh->dim, &a->xi));
  RITZ_TRY(CeedVectorGetArrayWrite(a->xi, CEED_MEM_HOST, &places));
  for (int64_t i = 0; i < num * mesh->dim; i++) places[i] = (CeedScalar)xi[i];
  return CeedVectorRestoreArray(a->xi, &places);
}

static int destroy_at_points(AtPoints *a) {
  for (int k = 0; k < 2; k++) {
    RITZ_TRY(RitzSpaceDestroy(&a->space[k]));
    RITZ_TRY(CeedElemRestrictionDestroy(&a->nodes[k]));
    RITZ_TRY(CeedElemRestrictionDestroy(&a->points[k]));
    RITZ_TRY(CeedBasisDestroy(&a->basis[k]));
  }
  return CeedVectorDestroy(&a->xi);
}

// u [nodes], v [points] of the space k; deposits: from points to nodes.
static int apply_at_points(Ceed ceed, const AtPoints *a, int k, bool deposits, CeedVector from,
                           CeedVector to) {
  CeedQFunction qf;
  CeedOperator op;

  RITZ_TRY(CeedQFunctionCreateIdentity(ceed, k == 0 ? a->mesh->dim : 1,
                                       deposits ? CEED_EVAL_NONE : CEED_EVAL_INTERP,
                                       deposits ? CEED_EVAL_INTERP : CEED_EVAL_NONE, &qf));
  RITZ_TRY(CeedOperatorCreateAtPoints(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  RITZ_TRY(
      CeedOperatorSetField(op, deposits ? "output" : "input", a->nodes[k], a->basis[k], CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(op, deposits ? "input" : "output", a->points[k], CEED_BASIS_NONE,
                                CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorAtPointsSetPoints(op, a->points[0], a->xi));
  RITZ_TRY(CeedOperatorApply(op, from, to, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(CeedOperatorDestroy(&op));
  return CeedQFunctionDestroy(&qf);
}

// The interpolated coordinates of located points are the points; points outside get zeros.
static void check_positions(Ceed ceed, const AtPoints *a, const double *x, const int64_t *elements,
                            const double *node_x) {
  const int64_t num = NUM_AT * a->mesh->dim;
  const CeedScalar *found;
  CeedScalar *values;
  CeedVector u, v;

  CHECK_OK(CeedElemRestrictionCreateVector(a->nodes[0], &u, NULL));
  CHECK_OK(CeedVectorCreate(ceed, num, &v));
  CHECK_OK(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &values));
  CeedSize length;
  CHECK_OK(CeedVectorGetLength(u, &length));
  for (CeedSize i = 0; i < length; i++) values[i] = (CeedScalar)node_x[i];
  CHECK_OK(CeedVectorRestoreArray(u, &values));
  CHECK_OK(apply_at_points(ceed, a, 0, false, u, v));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &found));
  for (int64_t i = 0; i < num; i++)
    CHECK_NEAR(found[i], elements[i / a->mesh->dim] < 0 ? 0.0 : x[i], 200 * CEED_EPSILON, "point %lld",
               (long long)(i / a->mesh->dim));
  CHECK_OK(CeedVectorRestoreArrayRead(v, &found));
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedVectorDestroy(&v));
}

// Masses of points and what they leave at the nodes have the same sum and the same first moments.
static void check_conservation(Ceed ceed, const AtPoints *a, const double *x, const int64_t *elements,
                               const double *node_x) {
  const CeedScalar *nodal;
  CeedScalar *masses;
  double sums[4] = {0.0};
  CeedVector mass, deposited;
  CeedSize length;

  CHECK_OK(CeedVectorCreate(ceed, NUM_AT, &mass));
  CHECK_OK(CeedElemRestrictionCreateVector(a->nodes[1], &deposited, NULL));
  CHECK_OK(CeedVectorGetLength(deposited, &length));
  CHECK_OK(CeedVectorGetArrayWrite(mass, CEED_MEM_HOST, &masses));
  for (int64_t i = 0; i < NUM_AT; i++) {
    masses[i] = (CeedScalar)(1 + i % 7) / NUM_AT;
    for (int d = 0; d <= a->mesh->dim && elements[i] >= 0; d++)
      sums[d] += (double)masses[i] * (d ? x[i * a->mesh->dim + d - 1] : 1.0);
  }
  CHECK_OK(CeedVectorRestoreArray(mass, &masses));
  CHECK_OK(apply_at_points(ceed, a, 1, true, mass, deposited));
  CHECK_OK(CeedVectorGetArrayRead(deposited, CEED_MEM_HOST, &nodal));
  for (CeedSize i = 0; i < length; i++) {
    for (int d = 0; d <= a->mesh->dim; d++)
      sums[d] -= (double)nodal[i] * (d ? node_x[i * a->mesh->dim + d - 1] : 1.0);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(deposited, &nodal));
  // Sums of as many terms, the masses of mean 4.
  for (int d = 0; d <= a->mesh->dim; d++)
    CHECK_NEAR(sums[d], 0.0, 4 * CEED_EPSILON * (double)(NUM_AT + length), "moment %d", d);
  CHECK_OK(CeedVectorDestroy(&mass));
  CHECK_OK(CeedVectorDestroy(&deposited));
}

TEST_EACH_BACKEND(located_points_interpolate_and_deposit) {
  for (int dim = 2; dim <= 3; dim++) {
    double x[3 * NUM_AT], xi[3 * NUM_AT];
    int64_t elements[NUM_AT], num_nodes;
    uint64_t state = 4;
    RitzMesh mesh;
    RitzLocator locator;
    AtPoints a;

    CHECK_OK(make_box(ceed, dim, 2, wavy_map, NULL, &mesh));
    CHECK_OK(RitzLocatorCreate(mesh, -1, &locator));
    for (int i = 0; i < dim * NUM_AT; i++) x[i] = 0.5 + 0.55 * tap_uniform(&state);
    CHECK_OK(RitzLocatorFind(locator, NUM_AT, x, NULL, elements, xi));
    CHECK_OK(make_at_points(ceed, mesh, NUM_AT, elements, xi, &a));
    CHECK_OK(RitzSpaceGetNumNodes(a.space[0], &num_nodes));
    double *node_x = malloc((size_t)(num_nodes * dim) * 8);

    CHECK_OK(RitzSpaceGetNodeCoordinates(a.space[0], node_x));
    check_positions(ceed, &a, x, elements, node_x);
    check_conservation(ceed, &a, x, elements, node_x);
    free(node_x);
    CHECK_OK(destroy_at_points(&a));
    CHECK_OK(RitzLocatorDestroy(&locator));
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
}

// ---- What is refused ----

TEST(locators_refuse_bad_input) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[2] = {2, 2};
  const double x[4] = {0.2, 0.2, 0.7, 0.7};
  const int64_t hints[2] = {0, 4};
  int64_t elements[2];
  RitzLocator locator = NULL, copy = NULL;
  RitzMesh mesh, same;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 17, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzLocatorCreate(mesh, -1, &locator), CEED_ERROR_UNSUPPORTED, "degree 17");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CHECK_OK(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 16, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzLocatorCreate(mesh, 0.1, &locator), CEED_ERROR_INCOMPATIBLE, "0.1");
  CHECK_ERROR(ceed, RitzLocatorCreate(mesh, NAN, &locator), CEED_ERROR_INCOMPATIBLE, "nan");
  CHECK_OK(RitzLocatorCreate(mesh, 0, &locator));
  CHECK_OK(RitzLocatorReferenceCopy(locator, &copy));
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzLocatorGetMesh(copy, &same));
  CHECK(same == mesh, "the mesh");
  CHECK_ERROR(ceed, RitzLocatorFind(copy, 2, x, hints, elements, NULL), CEED_ERROR_DIMENSION,
              "point 1 is element 4, needed -1 .. 3");
  CHECK_ERROR(ceed, RitzLocatorFind(copy, -1, x, NULL, elements, NULL), CEED_ERROR_DIMENSION, "-1 points");
  CHECK_OK(RitzLocatorFind(copy, 2, x, NULL, elements, NULL));
  CHECK(elements[0] == 0 && elements[1] == 3, "%lld %lld", (long long)elements[0], (long long)elements[1]);
  CHECK_OK(RitzLocatorDestroy(&copy));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(locators_survive_failing_allocations) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft = draft_of_mixed(2, quadratic_map);
  const double x[3] = {0.4, 0.4, 0.4};
  int64_t elem;
  RitzMesh mesh;

  CHECK_OK(ritz_mesh_build(ceed, "all shapes", &draft, &mesh));
  const int64_t live = ritz_memory_live();

  for (int64_t n = 1, is_done = 0; !is_done; n++) {
    RitzLocator locator = NULL;

    ritz_memory_fail_at(n);
    int ierr = RitzLocatorCreate(mesh, -1, &locator);

    if (!ierr) ierr = RitzLocatorFind(locator, 1, x, NULL, &elem, NULL);
    is_done = ritz_memory_fail_at(0) > 0;
    CHECK((ierr == 0) == (is_done == 1), "allocation %lld", (long long)n);
    CHECK_OK(RitzLocatorDestroy(&locator));
    CHECK(ritz_memory_live() == live, "allocation %lld", (long long)n);
    CHECK(n < 1000, "no end");
  }
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(points_are_found_where_they_were_made, points_are_found_in_meshes_of_files,
                        points_are_found_in_an_element_wound_round,
                        facets_and_vertices_belong_to_the_lowest_element, points_outside_are_reported,
                        points_in_holes_are_outside, hints_and_threads_change_nothing,
                        boxes_hold_their_elements, modes_at_a_point_are_those_of_tables,
                        points_are_sorted_by_element, located_points_interpolate_and_deposit,
                        locators_refuse_bad_input, locators_survive_failing_allocations));
}
