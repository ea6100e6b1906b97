// SPDX-License-Identifier: BSD-2-Clause
// Tests of meshes of triangles, tetrahedra, pyramids, prisms and mixtures: counts, node numbering against
// positions, refinement, RitzMeshSplit, boundary parts, coordinates as a field, what is refused.
#include <ceed/backend.h>

#include "tests/mixed-tools.h"

// ---- Meshes ----

enum { NUM_MESHES = 8 };
static const char *const mesh_names[NUM_MESHES] = {
    "triangles", "tetrahedra", "pyramids",          "twelve tetrahedra",
    "prisms",    "all shapes", "all shapes turned", "triangles and quadrilaterals"};

// A mesh of the unit square or cube, under `map`. Only order 1 can be turned.
static int make_mesh(Ceed ceed, int which, int order, RitzMapFunction map, RitzMesh *mesh) {
  static const CeedElemTopology into[5] = {CEED_TOPOLOGY_TRIANGLE, CEED_TOPOLOGY_TET, CEED_TOPOLOGY_PYRAMID,
                                           CEED_TOPOLOGY_PYRAMID, CEED_TOPOLOGY_PRISM};
  uint64_t state = 11;
  RitzMesh box, middle;

  if (which >= 5) {
    RitzMeshDraft draft = which == 7 ? draft_of_plane(order, map) : draft_of_mixed(order, map);

    if (which == 6 && order == 1) turn_at_random(&draft, &state);
    return ritz_mesh_build(ceed, mesh_names[which], &draft, mesh);
  }
  RITZ_TRY(make_box(ceed, which == 0 ? 2 : 3, order, map, NULL, &box));
  RITZ_TRY(RitzMeshSplit(box, into[which], &middle));
  RITZ_TRY(RitzMeshDestroy(&box));
  *mesh = middle;
  if (which != 3) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshSplit(middle, CEED_TOPOLOGY_TET, mesh));
  return RitzMeshDestroy(&middle);
}

static void check_volume(RitzMesh mesh, double expected, const char *name) {
  double measure, low;

  CHECK_OK(RitzMeshGetMeasure(mesh, &measure, &low, NULL));
  CHECK(low > 0.0, "%s: smallest determinant %g", name, low);
  CHECK_NEAR(measure, expected, 500 * 2.3e-16, "volume of %s", name);
}

// ---- Counts ----

typedef struct {
  int64_t vertices, edges, triangles, quads, interior[8]; // interior: by shape
} Counts;

// Interior faces are faces of two elements, exterior ones of one.
static void count_entities(RitzMesh mesh, Counts *of_mesh) {
  Counts counts = {.vertices = mesh->num_vertices};
  RitzMeshTopology topology;
  int64_t num, *elements, num_triangles = 0, num_quads = 0;
  int8_t *facets;

  CHECK_OK(ritz_mesh_topology_create(mesh, 2, &topology));
  counts.edges = topology.edges.num;
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];
    const RitzMeshEntities *faces = &ritz_mesh_shape(block->topology)->facets;

    counts.interior[block->topology & 0xffff] = block->num_elem;
    for (int f = 0; f < faces->num; f++) {
      *(ritz_mesh_entity_size(faces, f) == 3 ? &num_triangles : &num_quads) += block->num_elem;
    }
  }
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, &elements, &facets));
  for (int64_t i = 0; i < num; i++) {
    const RitzMeshBlock *block =
        &mesh->blocks[ritz_mesh_find_block(mesh->num_blocks, mesh->blocks, elements[i])];
    bool is_triangle = ritz_mesh_entity_size(&ritz_mesh_shape(block->topology)->facets, facets[i]) == 3;

    *(is_triangle ? &num_triangles : &num_quads) += 1;
  }
  counts.triangles = mesh->dim == 3 ? num_triangles / 2 : 0;
  counts.quads = mesh->dim == 3 ? num_quads / 2 : 0;
  CHECK(counts.triangles + counts.quads == topology.faces.num, "%lld faces", (long long)topology.faces.num);
  free(elements);
  free(facets);
  ritz_mesh_topology_clear(&topology);
  *of_mesh = counts;
}

static int64_t expected_nodes(const Counts *c, int64_t p) {
  const int64_t m = p - 1, triangle = m * (p - 2) / 2;
  int64_t sum = c->vertices + c->edges * m + c->triangles * triangle + c->quads * m * m;

  sum += c->interior[1] * triangle + c->interior[2] * m * m + c->interior[3] * triangle * (p - 3) / 3;
  sum += c->interior[4] * m * (p - 2) * (2 * p - 3) / 6; // a pyramid of degree p - 3
  return sum + c->interior[5] * triangle * m + c->interior[6] * m * m * m;
}

TEST(meshes_have_the_euler_characteristic_of_a_ball_and_the_nodes_of_their_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh mesh;

    CHECK_OK(make_mesh(ceed, which, 1, identity_map, &mesh));
    for (int level = 0; level < 2; level++) {
      Counts c = {0};
      RitzMesh fine;

      count_entities(mesh, &c);
      int64_t euler = c.vertices - c.edges + (mesh->dim == 3 ? c.triangles + c.quads : mesh->num_elem);

      if (mesh->dim == 3) euler -= mesh->num_elem;
      CHECK(euler == 1, "%s: Euler characteristic %lld", mesh_names[which], (long long)euler);
      check_volume(mesh, 1.0, mesh_names[which]);
      for (CeedInt p = 1; p <= 5; p++) {
        RitzSpace space;
        int64_t num;

        CHECK_OK(RitzSpaceCreate(mesh, p, 1, &space));
        CHECK_OK(RitzSpaceGetNumNodes(space, &num));
        CHECK(num == expected_nodes(&c, p), "%s degree %d: %lld nodes, not %lld", mesh_names[which], (int)p,
              (long long)num, (long long)expected_nodes(&c, p));
        RitzSpaceDestroy(&space);
      }
      CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
      RitzMeshDestroy(&mesh);
      mesh = fine;
    }
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// ---- Numbering ----

typedef struct {
  int64_t place[3]; // position in units of a fine grid
  int64_t node;
} Located;

static int compare_located(const void *first, const void *second) {
  const Located *a = first, *b = second;

  for (int c = 0; c < 3; c++) {
    if (a->place[c] != b->place[c]) return a->place[c] < b->place[c] ? -1 : 1;
  }
  return (a->node > b->node) - (a->node < b->node);
}

// Appends the nodes of a block of a straight mesh with their places. The grid is coarse beside rounding and
// fine beside distances of nodes; the odd offset keeps positions away from its steps.
static void locate_block(RitzMesh mesh, CeedInt b, RitzSpace space, Located *all) {
  CeedInt num_local, degree;
  CeedElemTopology topology;
  int64_t num_elem, num = 0;
  const int64_t *nodes;
  const double *corners;

  CHECK_OK(RitzSpaceGetDegree(space, &degree));
  CHECK_OK(RitzSpaceGetBlockNodes(space, b, &num_local, &nodes));
  CHECK_OK(RitzMeshGetBlock(mesh, b, &topology, NULL, &num_elem, NULL, &corners));
  const int n = num_corners_of(topology);
  double *x = malloc((size_t)num_local * 24), corner[8][3] = {{0.0}};

  for (int64_t e = 0; e < num_elem; e++, corners += n * mesh->space_dim) {
    for (int i = 0; i < n * mesh->space_dim; i++)
      corner[i / mesh->space_dim][i % mesh->space_dim] = corners[i];
    affine_nodes(topology, degree, (const double(*)[3])corner, x);
    for (CeedInt i = 0; i < num_local; i++, num++) {
      all[num].node = nodes[e * num_local + i];
      for (int c = 0; c < 3; c++)
        all[num].place[c] = (int64_t)floor(x[3 * i + c] / 1e-7 + 0.2718281828459045);
    }
  }
  free(x);
}

// Nodes of one place have one number and the other way round, and all numbers occur.
static void check_numbers(RitzMesh mesh, CeedInt degree, const char *name) {
  RitzSpace space;
  int64_t num_nodes, num_all = 0, num_places = 1, num_mixed = 0, num_used = 0, capacity = 0;

  CHECK_OK(RitzSpaceCreate(mesh, degree, 1, &space));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
  for (int b = 0; b < mesh->num_blocks; b++)
    capacity += mesh->blocks[b].num_elem * ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
  Located *all = malloc((size_t)capacity * sizeof(*all));
  char *is_used = calloc((size_t)num_nodes, 1);

  for (int b = 0; b < mesh->num_blocks; b++) {
    locate_block(mesh, b, space, all + num_all);
    num_all += mesh->blocks[b].num_elem * ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
  }
  for (int64_t i = 0; i < num_all; i++) {
    CHECK(all[i].node >= 0 && all[i].node < num_nodes, "%s: node %lld", name, (long long)all[i].node);
    num_used += !is_used[all[i].node];
    is_used[all[i].node] = 1;
  }
  qsort(all, (size_t)num_all, sizeof(*all), compare_located);
  for (int64_t i = 1; i < num_all; i++) {
    bool is_same_place = !memcmp(all[i].place, all[i - 1].place, sizeof(all[i].place));

    num_places += !is_same_place;
    num_mixed += is_same_place && all[i].node != all[i - 1].node;
  }
  CHECK(num_mixed == 0, "%s degree %d: %lld places have several numbers", name, (int)degree,
        (long long)num_mixed);
  CHECK(num_used == num_nodes && num_places == num_nodes,
        "%s degree %d: %lld numbers, %lld used, %lld places", name, (int)degree, (long long)num_nodes,
        (long long)num_used, (long long)num_places);
  free(all);
  free(is_used);
  RitzSpaceDestroy(&space);
}

TEST(neighbours_of_all_shapes_share_the_nodes_of_one_place) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt max_degree = tap_level() == TAP_QUICK ? 5 : 8;
  uint64_t state = 1;

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh straight;

    CHECK_OK(make_mesh(ceed, which, 1, identity_map, &straight));
    for (int round = 0; round < (tap_level() == TAP_QUICK ? 2 : 10); round++) {
      RitzMesh mesh;
      RitzMeshDraft draft = draft_of_any(straight);

      turn_at_random(&draft, &state);
      CHECK_OK(ritz_mesh_build(ceed, "turned", &draft, &mesh));
      for (CeedInt p = 1; p <= max_degree; p++) check_numbers(mesh, p, mesh_names[which]);
      RitzMeshDestroy(&mesh);
      if (tap_failed()) return;
    }
    RitzMeshDestroy(&straight);
  }
  CeedDestroy(&ceed);
}

TEST(node_positions_and_boundary_nodes_agree_with_the_map) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh straight, mesh;

    CHECK_OK(make_mesh(ceed, which, 2, identity_map, &straight));
    CHECK_OK(make_mesh(ceed, which, 2, quadratic_map, &mesh));
    for (CeedInt p = 1; p <= 4; p++) {
      RitzSpace of_straight, space;
      int64_t num, num_boundary, *boundary, next = 0;
      const int dim = mesh->dim;

      CHECK_OK(RitzSpaceCreate(straight, p, 1, &of_straight));
      CHECK_OK(RitzSpaceCreate(mesh, p, 1, &space));
      CHECK_OK(RitzSpaceGetNumNodes(space, &num));
      double *X = malloc((size_t)(num * dim) * 8), *x = malloc((size_t)(num * dim) * 8);

      CHECK_OK(RitzSpaceGetNodeCoordinates(of_straight, X));
      CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
      CHECK_OK(RitzSpaceGetBoundaryNodes(space, "all", &num_boundary, &boundary));
      for (int64_t i = 0; i < num; i++) {
        double expected[3];
        bool is_boundary = false, is_listed = next < num_boundary && boundary[next] == i;

        quadratic_map(NULL, dim, X + i * dim, expected);
        for (int c = 0; c < dim; c++) {
          // Sums of up to 27 terms of size 1.
          CHECK_NEAR(x[i * dim + c], expected[c], 200 * 2.3e-16, "%s degree %d", mesh_names[which], (int)p);
          is_boundary = is_boundary || fabs(X[i * dim + c] * (1.0 - X[i * dim + c])) < 1e-12;
        }
        CHECK(is_boundary == is_listed, "%s degree %d: node %lld", mesh_names[which], (int)p, (long long)i);
        next += is_listed;
      }
      free(boundary);
      free(X);
      free(x);
      RitzSpaceDestroy(&of_straight);
      RitzSpaceDestroy(&space);
    }
    RitzMeshDestroy(&straight);
    RitzMeshDestroy(&mesh);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// ---- Refinement and splitting ----

// Building from the elements alone finds the facets that one element has; refinement and splitting inherit
// them. They are the same if and only if neighbours still meet in whole facets.
static void check_conformity(Ceed ceed, RitzMesh mesh, const char *name) {
  RitzMeshDraft draft = draft_of_any(mesh);
  RitzMesh rebuilt;
  int64_t inherited, found, *elements[2];
  int8_t *facets[2];

  CHECK_OK(ritz_mesh_build(ceed, name, &draft, &rebuilt));
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &inherited, &elements[0], &facets[0]));
  CHECK_OK(RitzMeshGetBoundaryPart(rebuilt, "all", &found, &elements[1], &facets[1]));
  CHECK(inherited == found && !memcmp(elements[0], elements[1], (size_t)found * 8) &&
            !memcmp(facets[0], facets[1], (size_t)found),
        "%s: %lld exterior facets, inherited %lld", name, (long long)found, (long long)inherited);
  for (int i = 0; i < 2; i++) {
    free(elements[i]);
    free(facets[i]);
  }
  RitzMeshDestroy(&rebuilt);
}

TEST(refinement_keeps_volume_conformity_and_curved_geometry) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh mesh, fine;
    const int levels = tap_level() == TAP_QUICK ? 2 : 3;

    CHECK_OK(make_mesh(ceed, which, 2, quadratic_map, &mesh));
    const double volume = mesh->dim == 3 ? 1.1 * 1.15 : 1.1;

    for (int level = 0; level < levels; level++) {
      int64_t num, fine_num, expected = 0;

      check_volume(mesh, volume, mesh_names[which]);
      check_conformity(ceed, mesh, mesh_names[which]);
      if (level == levels - 1) break;
      CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
      for (int b = 0; b < mesh->num_blocks; b++) {
        expected += mesh->blocks[b].num_elem *
                    (mesh->blocks[b].topology == CEED_TOPOLOGY_PYRAMID ? 10 : 1 << mesh->dim);
      }
      CHECK(fine->num_elem == expected, "%s: %lld children", mesh_names[which], (long long)fine->num_elem);
      CHECK_OK(RitzMeshGetBoundaryPart(mesh, "all", &num, NULL, NULL));
      CHECK_OK(RitzMeshGetBoundaryPart(fine, "all", &fine_num, NULL, NULL));
      CHECK(fine_num == num << (mesh->dim - 1), "%s: %lld exterior facets", mesh_names[which],
            (long long)fine_num);
      RitzMeshDestroy(&mesh);
      mesh = fine;
    }
    RitzMeshDestroy(&mesh);
    if (tap_failed()) return;
  }
  CeedDestroy(&ceed);
}

// Children agree with their parent on its boundary, so the volume stays although the map is rational inside
// pyramids and no polynomial is the map of the test.
TEST(refinement_keeps_the_volume_of_bent_pyramids) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int order = 1; order <= 3; order++) {
    RitzMeshDraft draft = draft_of_mixed(order, wavy_map);
    RitzMesh mesh, fine;
    double measure;

    CHECK_OK(ritz_mesh_build(ceed, "wavy", &draft, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    CHECK_OK(RitzMeshGetMeasure(mesh, &measure, NULL, NULL));
    check_volume(fine, measure, "wavy mixture");
    RitzMeshDestroy(&fine);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(surfaces_of_triangles_have_their_area_and_topology) {
  const double pi = 3.14159265358979323846;
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int half_turns = 0; half_turns < 2; half_turns++) {
    RitzMeshDraft draft = draft_of_strip(12, 5, half_turns);
    RitzMesh strip, mesh, fine;
    Counts c = {0};
    double measure;

    CHECK_OK(ritz_mesh_build(ceed, "strip", &draft, &strip));
    CHECK_OK(RitzMeshSplit(strip, CEED_TOPOLOGY_TRIANGLE, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    count_entities(fine, &c);
    CHECK(c.vertices - c.edges + fine->num_elem == 0, "a strip has Euler characteristic 0");
    check_conformity(ceed, fine, "strip");
    CHECK_OK(RitzMeshGetMeasure(fine, &measure, NULL, NULL));
    // The annulus between radii 0.7 and 1.3; the error is that of degree 5 on arcs of pi/6.
    if (!half_turns) CHECK_NEAR(measure, pi * (1.3 * 1.3 - 0.7 * 0.7), 1e-6, "annulus");
    RitzMeshDestroy(&strip);
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&fine);
  }
  CeedDestroy(&ceed);
}

// Opposite edges of this tetrahedron have middles at the distances 1/2 |x0 + x1 - x2 - x3|, ...
TEST(tetrahedra_are_cut_along_their_shortest_inner_diagonal) {
  static const int opposite[3] = {1, 2, 3};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 4;

  for (int round = 0; round < 30; round++) {
    RitzMeshDraft draft = {.topology = CEED_TOPOLOGY_TET,
                           .dim = 3,
                           .space_dim = 3,
                           .order = 1,
                           .num_elem = 1,
                           .num_vertices = 4};
    double diagonal[3], shortest = INFINITY, found = INFINITY, x[4][3];
    RitzMesh mesh, fine;

    for (int k = 0; k < 4; k++) {
      for (int c = 0; c < 3; c++) x[k][c] = (k == c + 1 ? 3.0 : 0.0) + 0.7 * tap_uniform(&state);
    }
    for (int i = 0; i < 3; i++) {
      double d[3];

      for (int c = 0; c < 3; c++) {
        d[c] = 0.5 * (2.0 * (x[0][c] + x[opposite[i]][c]) - x[0][c] - x[1][c] - x[2][c] - x[3][c]);
      }
      diagonal[i] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      shortest = fmin(shortest, diagonal[i]);
    }
    fill_out(&draft);
    for (int k = 0; k < 4; k++) draft.elem_vertices[k] = k;
    memcpy(draft.coords, x, sizeof(x));
    CHECK_OK(ritz_mesh_build(ceed, "tetrahedron", &draft, &mesh));
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    // The edge that all four inner children share.
    for (int a = 0; a < 4; a++) {
      for (int b = 0; b < a; b++) {
        const int64_t *v = fine->elem_vertices + 16;
        int num = 0;

        for (int e = 0; e < 4; e++) {
          for (int i = 0; i < 16; i++) num += v[4 * e + i % 4] == v[a] && v[4 * e + i / 4] == v[b];
        }
        const double *p = fine->coords + 48 + 3 * a, *q = fine->coords + 48 + 3 * b;

        if (num == 4) found = sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
      }
    }
    CHECK_NEAR(found, shortest, 1e-14 * shortest * 10, "round %d", round);
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&fine);
  }
  CeedDestroy(&ceed);
}

TEST(splitting_gives_the_announced_pieces_and_keeps_parts_and_regions) {
  static const int pieces[5] = {2, 6, 6, 12, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < 5; which++) {
    RitzMesh mesh;
    RitzSpace space;
    int64_t num, num_nodes, *nodes;
    const int num_cells = which == 0 ? 12 : 24;

    CHECK_OK(make_mesh(ceed, which, 1, identity_map, &mesh));
    CHECK(mesh->num_elem == pieces[which] * num_cells && mesh->num_blocks == 1, "%s: %lld", mesh_names[which],
          (long long)mesh->num_elem);
    check_conformity(ceed, mesh, mesh_names[which]);
    CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
    CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
    double *x = malloc((size_t)(num_nodes * mesh->dim) * 8);
    int64_t num_there = 0;

    CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
    CHECK_OK(RitzSpaceGetBoundaryNodes(space, "ymax", &num, &nodes));
    for (int64_t i = 0; i < num_nodes; i++) num_there += x[i * mesh->dim + 1] > 1.0 - 1e-12;
    CHECK(num == num_there, "%s: %lld nodes of ymax, %lld there", mesh_names[which], (long long)num,
          (long long)num_there);
    for (int64_t i = 0; i < num; i++) CHECK(x[nodes[i] * mesh->dim + 1] > 1.0 - 1e-12, "a node of ymax");
    free(x);
    free(nodes);
    RitzSpaceDestroy(&space);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

static const int pieces_of_shape[7] = {1, 1, 2, 1, 2, 3, 6}; // simplices

// Pieces follow the order of the elements, whose regions are their numbers.
static void check_regions(RitzMesh mesh, RitzMesh simplices) {
  const int32_t *piece = simplices->elem_regions;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];
    const int num = pieces_of_shape[block->topology & 0xffff];

    for (int64_t i = 0; i < block->num_elem * num; i++, piece++) {
      CHECK(*piece == block->first + i / num, "piece %lld is in region %d",
            (long long)(piece - simplices->elem_regions), (int)*piece);
    }
  }
}

// Whatever the numbers of the vertices, and also where the elements have all shapes.
TEST(all_meshes_can_be_cut_into_simplices) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t state = 9;

  for (int round = 0; round < 4; round++) {
    for (int plane = 0; plane < 2; plane++) {
      RitzMesh mesh, simplices, again;
      RitzMeshDraft draft = plane ? draft_of_plane(1, identity_map) : draft_of_mixed(1, identity_map);
      int64_t expected = 0;

      for (int b = 0; b < draft.num_blocks; b++) {
        expected += draft.blocks[b].num_elem * pieces_of_shape[draft.blocks[b].topology & 0xffff];
      }
      if (!draft.elem_regions) CHECK_OK(RITZ_MALLOC(NULL, (size_t)draft.num_elem, &draft.elem_regions));
      for (int64_t e = 0; e < draft.num_elem; e++) draft.elem_regions[e] = (int32_t)e;
      turn_at_random(&draft, &state);
      CHECK_OK(ritz_mesh_build(ceed, "mixture", &draft, &mesh));
      CHECK_OK(RitzMeshSplit(mesh, plane ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_TET, &simplices));
      CHECK(simplices->num_elem == expected && simplices->num_blocks == 1, "%lld pieces",
            (long long)simplices->num_elem);
      check_conformity(ceed, simplices, "simplices");
      check_volume(simplices, 1.0, "simplices");
      check_regions(mesh, simplices);
      CHECK_OK(RitzMeshSplit(simplices, simplices->blocks[0].topology, &again));
      CHECK(!memcmp(again->elem_vertices, simplices->elem_vertices,
                    (size_t)again->num_elem * (plane ? 24 : 32)),
            "elements of the right shape are kept");
      RitzMeshDestroy(&again);
      RitzMeshDestroy(&simplices);
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

TEST(meshes_of_the_right_shape_are_kept) {
  static const CeedElemTopology topologies[3] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_HEX};
  const CeedInt n[3] = {2, 3, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int dim = 1; dim <= 3; dim++) {
    RitzMesh box, split;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 2, NULL, NULL, &box));
    CHECK_OK(RitzMeshSplit(box, topologies[dim - 1], &split));
    RitzMeshDestroy(&box);
    check_volume(split, 1.0, "a box");
    RitzMeshDestroy(&split);
  }
  CeedDestroy(&ceed);
}

TEST(what_cannot_be_cut_is_refused) {
  const CeedInt n[3] = {2, 2, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box, mesh, split;
  RitzMeshDraft draft = draft_of_mixed(1, identity_map);
  Rotation on_its_side = {.axis = {1, 2, 0}, .flip = {0, 0, 0}};

  CHECK_OK(ritz_mesh_build(ceed, "all shapes", &draft, &mesh));
  CHECK_ERROR(ceed, RitzMeshSplit(mesh, CEED_TOPOLOGY_PRISM, &split), CEED_ERROR_UNSUPPORTED,
              "tetrahedra cannot be cut into prisms");
  CHECK_ERROR(ceed, RitzMeshSplit(mesh, CEED_TOPOLOGY_TRIANGLE, &split), CEED_ERROR_UNSUPPORTED,
              "cut into triangles");
  RitzMeshDestroy(&mesh);
  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &box));
  CHECK_ERROR(ceed, RitzMeshSplit(box, CEED_TOPOLOGY_HEX + 1, &split), CEED_ERROR_UNSUPPORTED,
              "unknown shape");
  draft = draft_of_mesh(box);
  rotate_element(&draft, 3, &on_its_side);
  CHECK_OK(ritz_mesh_build(ceed, "one lies on its side", &draft, &mesh));
  CHECK_ERROR(ceed, RitzMeshSplit(mesh, CEED_TOPOLOGY_PRISM, &split), CEED_ERROR_UNSUPPORTED,
              "element 3 would be cut on one side only");
  RitzMeshDestroy(&mesh);
  // Vertices 0 and 1 exchanged: element 0 is cut along 1 2 below, along 0 3 above.
  draft = draft_of_mesh(box);
  for (int64_t i = 0; i < draft.num_elem * 8; i++) {
    if (draft.elem_vertices[i] < 2) draft.elem_vertices[i] = 1 - draft.elem_vertices[i];
  }
  CHECK_OK(ritz_mesh_build(ceed, "exchanged", &draft, &mesh));
  CHECK_ERROR(ceed, RitzMeshSplit(mesh, CEED_TOPOLOGY_PRISM, &split), CEED_ERROR_UNSUPPORTED,
              "top and bottom of element 0 along different");
  CHECK(split == NULL, "no mesh is left");
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&box);
  CeedDestroy(&ceed);
}

// ---- Checks of drafts ----

TEST(inverted_elements_of_every_shape_are_named) {
  static const int mirrors[7][2] = {{0, 0}, {0, 0}, {0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 2}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int b = 0; b < 4; b++) {
    RitzMeshDraft draft = draft_of_mixed(1, identity_map);
    const RitzMeshBlock *block = &draft.blocks[b];
    const int64_t e = block->num_elem - 1;
    int64_t *v = draft.elem_vertices + block->corner_base + e * block->num_corners;
    double *x = draft.coords + 3 * (block->node_base + e * block->num_nodes);
    const int *mirror = mirrors[block->topology & 0xffff];
    const int ends = block->topology == CEED_TOPOLOGY_PRISM || block->topology == CEED_TOPOLOGY_HEX ? 2 : 1;
    char fragment[100];
    RitzMesh mesh;

    for (int end = 0; end < ends; end++) {
      int a = mirror[0] + end * block->num_corners / 2, c = mirror[1] + end * block->num_corners / 2;
      int64_t vertex = v[a];

      v[a] = v[c];
      v[c] = vertex;
      for (int i = 0; i < 3; i++) {
        double kept = x[3 * a + i];

        x[3 * a + i] = x[3 * c + i];
        x[3 * c + i] = kept;
      }
    }
    snprintf(fragment, sizeof(fragment), "element %d is inverted", (int)(block->first + e));
    CHECK_ERROR(ceed, ritz_mesh_build(ceed, "inverted", &draft, &mesh), CEED_ERROR_MAJOR, fragment);
  }
  CeedDestroy(&ceed);
}

TEST(clockwise_triangles_are_renumbered) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int order = 1; order <= 4; order++) {
    RitzMeshDraft draft = draft_of_plane(order, quadratic_map);
    const int64_t p = order, n = draft.blocks[0].num_nodes;
    RitzMesh mesh;

    // Exchanges the directions of triangle 1, as in a file that lists it clockwise.
    int64_t vertex = draft.elem_vertices[4];
    double old[15 * 2], *x = draft.coords + 2 * n;

    draft.elem_vertices[4] = draft.elem_vertices[5];
    draft.elem_vertices[5] = vertex;
    memcpy(old, x, (size_t)n * 16);
    for (int64_t j = 0, i = 0, k = 0; k < n; k++) {
      int64_t from = i * (p + 1) - i * (i - 1) / 2 + j;

      memcpy(x + 2 * k, old + 2 * from, 16);
      if (++i + j > p) i = 0, j++;
    }
    CHECK_OK(ritz_mesh_build(ceed, "clockwise", &draft, &mesh));
    check_volume(mesh, 1.1, "turned triangles");
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(malformed_mixtures_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzMeshDraft draft = draft_of_mixed(1, identity_map);
  const int64_t first_hex = draft.blocks[3].first, num_hexes = draft.blocks[3].num_elem;

  draft.blocks[1].topology = CEED_TOPOLOGY_PRISM;
  CHECK_ERROR(ceed, ritz_mesh_build(ceed, "draft", &draft, &mesh), CEED_ERROR_MAJOR, "ascend by shape");
  draft = draft_of_mixed(1, identity_map);
  draft.blocks[1].num_elem = 0;
  CHECK_ERROR(ceed, ritz_mesh_build(ceed, "draft", &draft, &mesh), CEED_ERROR_MAJOR,
              "no elements in its block of pyramids");
  draft = draft_of_mixed(1, identity_map);
  memcpy(draft.elem_vertices + draft.blocks[3].corner_base + 8 * (num_hexes - 1),
         draft.elem_vertices + draft.blocks[3].corner_base, 64);
  char fragment[100];

  snprintf(fragment, sizeof(fragment), "elements %d and %d have the same vertices", (int)first_hex,
           (int)(first_hex + num_hexes - 1));
  CHECK_ERROR(ceed, ritz_mesh_build(ceed, "draft", &draft, &mesh), CEED_ERROR_MAJOR, fragment);
  CeedDestroy(&ceed);
}

// Two hexahedra, of which the upper one has two vertices of the common face exchanged.
TEST(faces_in_different_cyclic_order_are_refused) {
  const CeedInt n[3] = {1, 1, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box, mesh;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &box));
  RitzMeshDraft draft = draft_of_mesh(box);
  const int64_t kept = draft.elem_vertices[8];

  RitzMeshDestroy(&box);
  draft.elem_vertices[8] = draft.elem_vertices[9];
  draft.elem_vertices[9] = kept;
  CHECK_ERROR(ceed, ritz_mesh_build(ceed, "draft", &draft, &mesh), CEED_ERROR_MAJOR,
              "elements 0 and 1 have the vertices of a facet in different cyclic order");
  CeedDestroy(&ceed);
}

// ---- Labels ----

TEST(labels_of_triangles_and_quadrilaterals_find_their_facets) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft = draft_of_mixed(1, identity_map);
  RitzMesh mesh;
  int64_t num, *elements;
  int8_t *facets;

  CHECK_OK(RITZ_MALLOC(NULL, 8, &draft.label_vertices));
  CHECK_OK(RITZ_CALLOC(NULL, 2, &draft.label_part));
  CHECK_OK(RITZ_CALLOC(NULL, 1, &draft.parts));
  draft.num_parts = 1;
  draft.num_labels = 2;
  // Facet 2 of tetrahedron 3, and facet 0 of the first hexahedron, backwards.
  const int64_t *tet = draft.elem_vertices + 12;
  const int64_t *hex = draft.elem_vertices + draft.blocks[3].corner_base;
  const int64_t labels[8] = {tet[2], tet[1], tet[0], -1, hex[6], hex[4], hex[0], hex[2]};

  memcpy(draft.label_vertices, labels, sizeof(labels));
  CHECK_OK(ritz_mesh_build(ceed, "labels", &draft, &mesh));
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "0", &num, &elements, &facets));
  CHECK(num == 2 && elements[0] == 3 && facets[0] == 2, "the triangle");
  CHECK(num == 2 && elements[1] == mesh->blocks[3].first && facets[1] == 0, "the quadrilateral");
  free(elements);
  free(facets);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Kinds ----

static int bilinear_map(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.1 * X[d] * X[(d + 1) % dim];
  return 0;
}

// Of order 1 simplices are affine, the others are not when bent. Of order 2 only hexahedra have the bilinear
// terms already at degree 1.
TEST(simplices_prisms_and_pyramids_have_the_kind_of_their_map) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int order = 1; order <= 3; order++) {
    RitzMesh mesh;
    int64_t counts[3];
    RitzElementKind *kinds;

    CHECK_OK(make_mesh(ceed, 5, order, identity_map, &mesh));
    CHECK_OK(RitzMeshClassifyElements(mesh, -1.0, NULL, counts));
    CHECK(counts[RITZ_ELEMENT_AFFINE] == mesh->num_elem, "order %d: %lld affine elements", order,
          (long long)counts[RITZ_ELEMENT_AFFINE]);
    RitzMeshDestroy(&mesh);
    CHECK_OK(make_mesh(ceed, 5, order, bilinear_map, &mesh));
    kinds = malloc((size_t)mesh->num_elem * sizeof(*kinds));
    CHECK_OK(RitzMeshClassifyElements(mesh, -1.0, kinds, counts));
    for (int64_t e = 0; e < mesh->num_elem; e++) {
      RitzElementKind expected = e < mesh->blocks[1].first ? RITZ_ELEMENT_AFFINE : RITZ_ELEMENT_TRILINEAR;

      if (order > 1 && e < mesh->blocks[3].first) expected = RITZ_ELEMENT_CURVED;
      CHECK(kinds[e] == expected, "order %d: element %lld is of kind %d", order, (long long)e, (int)kinds[e]);
    }
    free(kinds);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// ---- Fields ----

// Sum of weights times determinants of one element: u [dim][nodes] are its coordinates.
static void integrate_element(CeedBasis basis, CeedInt dim, CeedInt num_points, CeedVector u, CeedVector v,
                              const CeedScalar *weights, double *sum) {
  const CeedScalar *g; // [direction][component][point]

  CHECK_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_GRAD, u, v));
  CHECK_OK(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &g));
  for (CeedInt i = 0; i < num_points; i++) {
    double J[9];

    for (int k = 0; k < dim * dim; k++) J[k] = g[k * num_points + i];
    *sum += weights[i] * (dim == 2 ? J[0] * J[3] - J[1] * J[2]
                                   : J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                                         J[2] * (J[3] * J[7] - J[4] * J[6]));
  }
  CHECK_OK(CeedVectorRestoreArrayRead(v, &g));
}

// Adds the volume of a block, from its coordinates field, by restriction and basis.
static void integrate_block(Ceed ceed, RitzMesh mesh, CeedInt b, CeedElemRestriction rstr, CeedVector x,
                            double *sum) {
  const CeedInt dim = mesh->dim, num_nodes = (CeedInt)mesh->blocks[b].num_nodes;
  CeedBasis basis;
  CeedInt num_points, layout[3];
  CeedVector e_vec, u, v, weights;
  CeedScalar *to;
  const CeedScalar *from, *w;

  CHECK_OK(RitzMeshCreateBlockBasis(mesh, b, ceed, 3 * mesh->order, &basis));
  CHECK_OK(CeedBasisGetNumQuadraturePoints(basis, &num_points));
  CHECK_OK(CeedElemRestrictionCreateVector(rstr, NULL, &e_vec));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, layout));
  CHECK_OK(CeedVectorCreate(ceed, num_nodes * dim, &u));
  CHECK_OK(CeedVectorCreate(ceed, num_points * dim * dim, &v));
  CHECK_OK(CeedVectorCreate(ceed, num_points, &weights));
  CHECK_OK(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, x, e_vec, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedBasisApply(basis, 1, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, weights));
  CHECK_OK(CeedVectorGetArrayRead(weights, CEED_MEM_HOST, &w));
  CHECK_OK(CeedVectorGetArrayRead(e_vec, CEED_MEM_HOST, &from));
  for (int64_t e = 0; e < mesh->blocks[b].num_elem; e++) {
    CHECK_OK(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &to));
    for (CeedInt i = 0; i < num_nodes * dim; i++) {
      to[i] = from[i % num_nodes * layout[0] + i / num_nodes * layout[1] + e * layout[2]];
    }
    CHECK_OK(CeedVectorRestoreArray(u, &to));
    integrate_element(basis, dim, num_points, u, v, w, sum);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(e_vec, &from));
  CHECK_OK(CeedVectorRestoreArrayRead(weights, &w));
  CeedVectorDestroy(&e_vec);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&weights);
  CeedBasisDestroy(&basis);
}

TEST(coordinates_of_all_blocks_integrate_to_the_volume) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh mesh;
    CeedElemRestriction rstr[RITZ_MESH_MAX_BLOCKS];
    CeedVector x;
    CeedSize length;
    RitzSpace space;
    int64_t num_nodes;
    double sum = 0.0;

    CHECK_OK(make_mesh(ceed, which, 2, quadratic_map, &mesh));
    CHECK_OK(RitzMeshCreateBlockCoordinates(mesh, ceed, rstr, &x));
    CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
    CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
    CHECK_OK(CeedVectorGetLength(x, &length));
    CHECK(length == num_nodes * mesh->dim, "%s: the field is continuous", mesh_names[which]);
    for (int b = 0; b < mesh->num_blocks; b++) {
      integrate_block(ceed, mesh, b, rstr[b], x, &sum);
      CeedElemRestrictionDestroy(&rstr[b]);
    }
    const double eps = sizeof(CeedScalar) == 4 ? 1.2e-7 : 2.3e-16;

    CHECK_NEAR(sum, mesh->dim == 3 ? 1.1 * 1.15 : 1.1, 1000 * eps, "%s", mesh_names[which]);
    CeedVectorDestroy(&x);
    RitzSpaceDestroy(&space);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// One element apart from the others: no common positions, so every element has nodes of its own.
TEST(discontinuous_mixtures_have_separate_coordinates) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshDraft draft = draft_of_mixed(1, identity_map);
  RitzMesh mesh;
  CeedElemRestriction rstr[RITZ_MESH_MAX_BLOCKS];
  CeedVector x;
  CeedSize length;
  double sum = 0.0;

  for (int i = 0; i < 12; i++) draft.coords[i] += 5.0;
  CHECK_OK(ritz_mesh_build(ceed, "torn", &draft, &mesh));
  CHECK_OK(RitzMeshCreateBlockCoordinates(mesh, ceed, rstr, &x));
  CHECK_OK(CeedVectorGetLength(x, &length));
  CHECK(length == mesh->num_points * 3, "%td", length);
  for (int b = 0; b < mesh->num_blocks; b++) {
    integrate_block(ceed, mesh, b, rstr[b], x, &sum);
    CeedElemRestrictionDestroy(&rstr[b]);
  }
  CHECK_NEAR(sum, 1.0, 1000 * (sizeof(CeedScalar) == 4 ? 1.2e-7 : 2.3e-16), "volume");
  CeedVectorDestroy(&x);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(calls_for_one_shape_point_to_those_for_blocks) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  RitzSpace space;
  CeedElemTopology topology;
  CeedElemRestriction rstr;
  CeedVector x;
  CeedBasis basis;
  CeedInt num_blocks;
  const int64_t *numbers;
  const double *coords;

  CHECK_OK(make_mesh(ceed, 5, 1, identity_map, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 3, &space));
  CHECK_OK(RitzMeshGetNumBlocks(mesh, &num_blocks));
  CHECK(num_blocks == 4, "%d blocks", (int)num_blocks);
  CHECK_ERROR(ceed, RitzMeshGetTopology(mesh, &topology), CEED_ERROR_UNSUPPORTED, "use RitzMeshGetBlock");
  CHECK_ERROR(ceed, RitzMeshGetElementVertices(mesh, &numbers), CEED_ERROR_UNSUPPORTED,
              "use RitzMeshGetBlock");
  CHECK_ERROR(ceed, RitzMeshGetElementCoordinates(mesh, &coords), CEED_ERROR_UNSUPPORTED, "RitzMeshGetBlock");
  CHECK_ERROR(ceed, RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x), CEED_ERROR_UNSUPPORTED,
              "use RitzMeshCreateBlockCoordinates");
  CHECK_ERROR(ceed, RitzSpaceGetElementNodes(space, &numbers), CEED_ERROR_UNSUPPORTED,
              "RitzSpaceGetBlockNodes");
  CHECK_ERROR(ceed, RitzSpaceCreateRestriction(space, ceed, &rstr), CEED_ERROR_UNSUPPORTED,
              "use RitzSpaceCreateBlockRestriction");
  CHECK_ERROR(ceed, RitzMeshGetBlock(mesh, 4, &topology, NULL, NULL, NULL, NULL), CEED_ERROR_DIMENSION,
              "no block 4, the mesh has 4");
  CHECK_ERROR(ceed, RitzSpaceCreateBlockRestriction(space, -1, ceed, &rstr), CEED_ERROR_DIMENSION,
              "no block -1");
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedInt num_nodes, of_basis, num_comp;
    CeedSize l_size, expected;

    CHECK_OK(RitzSpaceGetBlockNodes(space, b, &num_nodes, &numbers));
    CHECK_OK(RitzSpaceCreateBlockRestriction(space, b, ceed, &rstr));
    CHECK_OK(RitzSpaceCreateBlockBasis(space, b, ceed, 4, &basis));
    CHECK_OK(CeedBasisGetNumNodes(basis, &of_basis));
    CHECK_OK(CeedBasisGetNumComponents(basis, &num_comp));
    CHECK_OK(CeedElemRestrictionGetLVectorSize(rstr, &l_size));
    CHECK_OK(RitzSpaceGetSize(space, &expected));
    CHECK(of_basis == num_nodes && num_comp == 3 && l_size == expected, "block %d: %d nodes, basis %d",
          (int)b, (int)num_nodes, (int)of_basis);
    CeedBasisDestroy(&basis);
    CeedElemRestrictionDestroy(&rstr);
  }
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Memory ----

static int do_everything(Ceed ceed, RitzMesh mesh) {
  RitzMesh fine = NULL, split = NULL;
  RitzSpace space = NULL;
  CeedElemRestriction rstr[RITZ_MESH_MAX_BLOCKS] = {NULL};
  CeedVector x = NULL;
  int64_t num, *nodes = NULL;
  double measure;
  int code = RitzMeshRefine(mesh, 1, &fine);

  if (!code) code = RitzMeshSplit(mesh, CEED_TOPOLOGY_TET, &split);
  if (!code) code = RitzMeshGetMeasure(mesh, &measure, NULL, NULL);
  if (!code) code = RitzMeshClassifyElements(mesh, -1.0, NULL, NULL);
  if (!code) code = RitzMeshCreateBlockCoordinates(mesh, ceed, rstr, &x);
  if (!code) code = RitzSpaceCreate(mesh, 3, 1, &space);
  if (!code) code = RitzSpaceGetBoundaryNodes(space, "all", &num, &nodes);
  free(nodes);
  for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++) CeedElemRestrictionDestroy(&rstr[b]);
  CeedVectorDestroy(&x);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&fine);
  RitzMeshDestroy(&split);
  return code;
}

TEST(running_out_of_memory_is_reported) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  int code = -1;

  CHECK_OK(make_mesh(ceed, 5, 1, identity_map, &mesh));
  int64_t live = ritz_memory_live();

  for (int64_t n = 1; code; n += tap_level() == TAP_QUICK ? 3 : 1) {
    ritz_memory_fail_at(n);
    code = do_everything(ceed, mesh);
    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == live, "allocation %lld fails: %lld are left", (long long)n,
          (long long)(ritz_memory_live() - live));
    if (tap_failed()) return;
  }
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(meshes_have_the_euler_characteristic_of_a_ball_and_the_nodes_of_their_parts,
                        neighbours_of_all_shapes_share_the_nodes_of_one_place,
                        node_positions_and_boundary_nodes_agree_with_the_map,
                        refinement_keeps_volume_conformity_and_curved_geometry,
                        refinement_keeps_the_volume_of_bent_pyramids,
                        surfaces_of_triangles_have_their_area_and_topology,
                        tetrahedra_are_cut_along_their_shortest_inner_diagonal,
                        splitting_gives_the_announced_pieces_and_keeps_parts_and_regions,
                        all_meshes_can_be_cut_into_simplices, meshes_of_the_right_shape_are_kept,
                        what_cannot_be_cut_is_refused, inverted_elements_of_every_shape_are_named,
                        clockwise_triangles_are_renumbered, malformed_mixtures_are_refused,
                        faces_in_different_cyclic_order_are_refused,
                        labels_of_triangles_and_quadrilaterals_find_their_facets,
                        simplices_prisms_and_pyramids_have_the_kind_of_their_map,
                        coordinates_of_all_blocks_integrate_to_the_volume,
                        discontinuous_mixtures_have_separate_coordinates,
                        calls_for_one_shape_point_to_those_for_blocks, running_out_of_memory_is_reported));
}
