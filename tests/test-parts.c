// SPDX-License-Identifier: BSD-2-Clause
// Tests of parts of meshes, one part after the other in one thread: partitions, submeshes, refinement, spaces
// and halos, boundary nodes; and of meshes from arrays. What parts exchange is tested in test-exchange.c.
#include "tests/parts-kit.h"

// ---- Meshes from arrays ----

// Blocks and boundary parts of a mesh as arrays; facets to be freed by the caller.
static void take_arrays(RitzMesh mesh, RitzMeshArrayBlock blocks[4], RitzMeshSet regions[4],
                        RitzMeshSet parts[8], RitzMeshFacet **facets, RitzMeshArrays *a) {
  const int32_t *elem_regions;

  CHECK_OK(RitzMeshGetElementRegions(mesh, &elem_regions));
  *a = (RitzMeshArrays){.dim = mesh->dim,
                        .space_dim = mesh->space_dim,
                        .order = mesh->order,
                        .num_vertices = mesh->num_vertices,
                        .blocks = blocks,
                        .elem_regions = elem_regions,
                        .regions = regions,
                        .parts = parts};
  CHECK_OK(RitzMeshGetNumBlocks(mesh, &a->num_blocks));
  CHECK_OK(RitzMeshGetNumRegions(mesh, &a->num_regions));
  CHECK_OK(RitzMeshGetNumBoundaryParts(mesh, &a->num_parts));
  for (CeedInt b = 0; b < a->num_blocks; b++)
    CHECK_OK(RitzMeshGetBlock(mesh, b, &blocks[b].topology, NULL, &blocks[b].num_elem, &blocks[b].vertices,
                              &blocks[b].x));
  for (CeedInt i = 0; i < a->num_regions; i++)
    CHECK_OK(RitzMeshGetRegion(mesh, i, &regions[i].name, &regions[i].number));
  *facets = malloc((size_t)mesh->num_marks * sizeof(**facets));
  for (CeedInt i = 0; i < a->num_parts; i++) {
    int64_t num, *elements;
    int8_t *numbers;

    CHECK_OK(RitzMeshGetBoundaryPartName(mesh, i, &parts[i].name));
    parts[i].number = i + 1;
    CHECK_OK(RitzMeshGetBoundaryPart(mesh, parts[i].name, &num, &elements, &numbers));
    for (int64_t k = 0; k < num; k++)
      (*facets)[a->num_facets++] = (RitzMeshFacet){elements[k], numbers[k], i};
    free(elements);
    free(numbers);
  }
  a->facets = *facets;
}

// What RitzMeshView prints, as text that lives until the next call.
static const char *view_of(RitzMesh mesh) {
  static char text[4096];
  FILE *file = tmpfile();
  size_t length;

  RitzMeshView(mesh, file);
  rewind(file);
  length = fread(text, 1, sizeof(text) - 1, file);
  text[length] = 0;
  fclose(file);
  return text;
}

static void check_round_trip(RitzMesh mesh, const char *name) {
  RitzMeshArrayBlock blocks[4];
  RitzMeshSet regions[4], parts[8];
  RitzMeshFacet *facets = NULL;
  RitzMeshArrays arrays;
  RitzMesh copy = NULL;
  char view[4096];

  take_arrays(mesh, blocks, regions, parts, &facets, &arrays);
  if (tap_failed()) return;
  CHECK_OK(RitzMeshCreate(mesh->ceed, &arrays, &copy));
  free(facets);
  CHECK(copy->num_elem == mesh->num_elem && copy->num_vertices == mesh->num_vertices, "sizes of %s", name);
  CHECK(!memcmp(copy->coords, mesh->coords, (size_t)(mesh->num_points * mesh->space_dim) * sizeof(double)),
        "nodes of %s", name);
  CHECK(copy->num_marks == mesh->num_marks, "%lld marks of %s, expected %lld", (long long)copy->num_marks,
        name, (long long)mesh->num_marks);
  ritz_mesh_marks_sort(&copy->num_marks, copy->marks); // marks of refined meshes are in no order
  ritz_mesh_marks_sort(&mesh->num_marks, mesh->marks);
  for (int64_t i = 0; i < mesh->num_marks; i++) {
    CHECK(copy->marks[i].part == mesh->marks[i].part && copy->marks[i].elem == mesh->marks[i].elem &&
              copy->marks[i].facet == mesh->marks[i].facet,
          "mark %lld of %s", (long long)i, name);
  }
  strcpy(view, view_of(mesh));
  CHECK(!strcmp(view_of(copy), view), "%s: %s", name, view_of(copy));
  CHECK_OK(RitzMeshDestroy(&copy));
}

TEST(a_mesh_is_made_from_the_arrays_of_another) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh mesh, fine;

    CHECK_OK(make_mesh(ceed, which, &mesh));
    check_round_trip(mesh, mesh_names[which]);
    if (tap_failed()) return;
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    check_round_trip(fine, mesh_names[which]);
    if (tap_failed()) return;
    CHECK_OK(RitzMeshDestroy(&fine));
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

TEST(vertices_alone_place_straight_elements) {
  static const int64_t vertices[6] = {0, 1, 2, 1, 3, 2};
  static const double x[10] = {0, 0, 1, 0, 0, 1, 1, 1, 7, 7}; // the last vertex has no element
  const RitzMeshArrayBlock block = {CEED_TOPOLOGY_TRIANGLE, 2, vertices, NULL};
  const RitzMeshArrays arrays = {.dim = 2,
                                 .space_dim = 2,
                                 .order = 1,
                                 .num_vertices = 5,
                                 .num_blocks = 1,
                                 .blocks = &block,
                                 .vertex_x = x};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh;
  int64_t num_vertices;
  double area;

  CHECK_OK(RitzMeshCreate(ceed, &arrays, &mesh));
  CHECK_OK(RitzMeshGetNumVertices(mesh, &num_vertices));
  CHECK_OK(RitzMeshGetMeasure(mesh, &area, NULL, NULL));
  CHECK(num_vertices == 4, "%lld vertices", (long long)num_vertices);
  CHECK_NEAR(area, 1, 1e-15, "area of two triangles");
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(arrays_that_are_no_mesh_are_refused) {
  static const int64_t good[6] = {0, 1, 2, 1, 3, 2}, beyond[6] = {0, 1, 2, 1, 4, 2},
                       twice[6] = {0, 1, 2, 0, 1, 2};
  static const double x[8] = {0, 0, 1, 0, 0, 1, 1, 1}, bad_x[8] = {0, 0, 1, 0, 0, (double)NAN, 1, 1};
  static const RitzMeshSet part = {"side", 1};
  static const RitzMeshFacet facet = {0, 1, 0}, no_elem = {2, 1, 0}, no_facet = {0, 3, 0},
                             no_part = {0, 1, 1};
  const RitzMeshArrayBlock block = {CEED_TOPOLOGY_TRIANGLE, 2, good, NULL};
  const RitzMeshArrays arrays = {.dim = 2,
                                 .space_dim = 2,
                                 .order = 1,
                                 .num_vertices = 4,
                                 .num_blocks = 1,
                                 .blocks = &block,
                                 .vertex_x = x,
                                 .num_parts = 1,
                                 .parts = &part,
                                 .num_facets = 1,
                                 .facets = &facet};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMeshArrayBlock b = block;
  RitzMeshArrays a = arrays;
  RitzMesh mesh = NULL;

  CHECK_ERROR(ceed, RitzMeshCreate(ceed, NULL, &mesh), CEED_ERROR_INCOMPATIBLE, "arrays");
#define REFUSED(change, code, fragment)                                                                      \
  a = arrays, b = block, a.blocks = &b;                                                                      \
  change;                                                                                                    \
  CHECK_ERROR(ceed, RitzMeshCreate(ceed, &a, &mesh), code, fragment);                                        \
  CHECK(mesh == NULL, "no mesh is left")
  REFUSED(a.num_blocks = 0, CEED_ERROR_DIMENSION, "0 blocks, needed 1 to 4");
  REFUSED(a.blocks = NULL, CEED_ERROR_INCOMPATIBLE, "no list of blocks");
  REFUSED(a.num_blocks = 5, CEED_ERROR_DIMENSION, "5 blocks, needed 1 to 4");
  REFUSED(a.dim = 3, CEED_ERROR_MAJOR, "dimension 3");
  REFUSED(a.order = 2, CEED_ERROR_DIMENSION, "order 2, needed order 1");
  REFUSED(a.order = 0, CEED_ERROR_DIMENSION, "order 0");
  REFUSED(a.num_vertices = -1, CEED_ERROR_DIMENSION, "-1 vertices");
  REFUSED(a.vertex_x = NULL, CEED_ERROR_INCOMPATIBLE, "no positions");
  REFUSED(a.vertex_x = bad_x, CEED_ERROR_MAJOR, "not a finite number");
  REFUSED(b.vertices = NULL, CEED_ERROR_INCOMPATIBLE, "no vertices");
  REFUSED(b.vertices = beyond, CEED_ERROR_MAJOR, "element 1 has vertex 4, there are 4");
  REFUSED(b.vertices = twice, CEED_ERROR_MAJOR, "elements");
  REFUSED(b.num_elem = 0, CEED_ERROR_MAJOR, "no elements");
  REFUSED(b.topology = CEED_TOPOLOGY_TET, CEED_ERROR_MAJOR, "no mesh");
  REFUSED(a.facets = &no_elem, CEED_ERROR_DIMENSION, "element 2, there are 2");
  REFUSED(a.facets = &no_facet, CEED_ERROR_DIMENSION, "facet 3 of element 0, which has 3");
  REFUSED(a.facets = &no_part, CEED_ERROR_MAJOR, "part 1, there are 1");
  REFUSED(a.facets = NULL, CEED_ERROR_DIMENSION, "without a list");
  REFUSED(a.num_parts = -1, CEED_ERROR_DIMENSION, "-1 boundary parts");
#undef REFUSED
  CeedDestroy(&ceed);
}

// ---- Partitions ----

// Elements of the largest and the smallest part.
static void part_sizes(int64_t num_elem, const int32_t *parts, CeedInt num_parts, int64_t *least,
                       int64_t *most) {
  *least = INT64_MAX;
  *most = 0;
  for (CeedInt p = 0; p < num_parts; p++) {
    int64_t num = 0;

    for (int64_t e = 0; e < num_elem; e++) num += parts[e] == p;
    if (num < *least) *least = num;
    if (num > *most) *most = num;
  }
}

// Vertices that several parts have.
static int64_t count_shared(RitzMesh mesh, const int32_t *parts) {
  int32_t *first = malloc((size_t)mesh->num_vertices * sizeof(*first));
  int64_t num = 0;

  for (int64_t v = 0; v < mesh->num_vertices; v++) first[v] = -1;
  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];

    for (int64_t i = 0; i < block->num_elem * block->num_corners; i++) {
      int32_t *of = &first[mesh->elem_vertices[block->corner_base + i]];
      const int32_t part = parts[block->first + i / block->num_corners];

      if (*of == -1) *of = part;
      if (*of >= 0 && *of != part) *of = -2, num++;
    }
  }
  free(first);
  return num;
}

// Pieces of a Hilbert curve have equal weights to one element, and less surface than slices would have: of
// n^3 cells cut into 8, a cube of (n / 2)^3 has 1.5 n^2 inner facets, slices 7 n^2 in all.
TEST(hilbert_parts_are_equal_and_compact) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[3] = {8, 8, 8};
  int32_t parts[512];
  int64_t least, most;
  RitzMesh mesh;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &mesh));
  for (CeedInt num_parts = 1; num_parts <= 11; num_parts++) {
    CHECK_OK(RitzMeshPartition(mesh, RITZ_PARTITION_HILBERT, num_parts, NULL, parts));
    part_sizes(512, parts, num_parts, &least, &most);
    CHECK(least >= 1 && most - least <= 1, "%lld to %lld elements in %d parts", (long long)least,
          (long long)most, (int)num_parts);
  }
  CHECK_OK(RitzMeshPartition(mesh, RITZ_PARTITION_HILBERT, 8, NULL, parts));
  // the curve fills octants: shared vertices are those of three planes
  CHECK(count_shared(mesh, parts) == 9 * 9 * 9 - 8 * 8 * 8, "%lld shared vertices",
        (long long)count_shared(mesh, parts));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(weights_are_halved) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[1] = {30};
  double weights[30], left = 0, all = 0;
  const RitzPartitionMethod methods[2] = {RITZ_PARTITION_HILBERT, RITZ_PARTITION_AUTO};
  int32_t parts[30];
  RitzMesh mesh;

  CHECK_OK(RitzMeshCreateBox(ceed, 1, n, NULL, NULL, 1, NULL, NULL, &mesh));
  for (int e = 0; e < 30; e++) weights[e] = 1 + e, all += 1 + e;
  for (int m = 0; m < 2; m++) {
    CHECK_OK(RitzMeshPartition(mesh, methods[m], 2, weights, parts));
    left = 0;
    for (int e = 0; e < 30; e++) left += parts[e] == 0 ? weights[e] : 0;
    // to half of the largest weight; METIS allows 3 %
    CHECK_NEAR(left, 0.5 * all, 15 + 0.03 * all, "method %d", m);
  }
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(bricks_are_near_to_cubes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[3] = {4, 8, 8};
  int32_t parts[256];
  int64_t least, most;
  RitzMesh mesh, fine;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzMeshPartition(mesh, RITZ_PARTITION_BRICKS, 4, NULL, parts));
  part_sizes(256, parts, 4, &least, &most);
  CHECK(least == 64 && most == 64, "%lld to %lld elements", (long long)least, (long long)most);
  // cut at the middle of y and z: two planes of 5 x 9 vertices with a common line of 5
  CHECK(count_shared(mesh, parts) == 2 * 45 - 5, "%lld shared vertices",
        (long long)count_shared(mesh, parts));
  CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, RITZ_PARTITION_BRICKS, 11, NULL, parts), CEED_ERROR_UNSUPPORTED,
              "11 bricks do not fit into 4 x 8 x 8");
  int32_t *fine_parts = malloc(2048 * sizeof(*fine_parts));
  CHECK_ERROR(ceed, RitzMeshPartition(fine, RITZ_PARTITION_BRICKS, 2, NULL, fine_parts),
              CEED_ERROR_UNSUPPORTED, "no box");
  free(fine_parts);
  CHECK_OK(RitzMeshDestroy(&fine));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(wrong_partitions_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int32_t parts[12] = {0};
  double weights[12] = {1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1};
  RitzMesh mesh, part = NULL, piece = NULL;

  CHECK_OK(make_box(ceed, 2, 1, NULL, NULL, &mesh));
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, RITZ_PARTITION_AUTO, 0, NULL, parts), CEED_ERROR_DIMENSION,
              "0 parts, needed at least 1");
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, RITZ_PARTITION_AUTO, 2, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "parts");
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, RITZ_PARTITION_HILBERT, 2, weights, parts), CEED_ERROR_DIMENSION,
              "element 7 has weight 0");
  CHECK_ERROR(ceed, RitzMeshPartition(mesh, (RitzPartitionMethod)17, 2, NULL, parts), CEED_ERROR_UNSUPPORTED,
              "no method 17");
  CHECK_ERROR(ceed, RitzMeshCreateSubmesh(mesh, 2, parts, 2, &part), CEED_ERROR_DIMENSION, "part 2 of 2");
  CHECK_ERROR(ceed, RitzMeshCreateSubmesh(mesh, 2, NULL, 0, &part), CEED_ERROR_INCOMPATIBLE, "parts");
  parts[3] = 2;
  CHECK_ERROR(ceed, RitzMeshCreateSubmesh(mesh, 2, parts, 0, &part), CEED_ERROR_DIMENSION,
              "element 3 belongs to part 2, needed 0 to 1");
  parts[3] = -1;
  CHECK_ERROR(ceed, RitzMeshCreateSubmesh(mesh, 2, parts, 0, &part), CEED_ERROR_DIMENSION,
              "element 3 belongs to part -1");
  CHECK(part == NULL, "no part is left");
  parts[3] = 1;
  CHECK_OK(RitzMeshCreateSubmesh(mesh, 2, parts, 0, &part));
  CeedInt num = 0, number = -1;
  CHECK_OK(RitzMeshGetPart(part, &num, &number));
  CHECK(num == 2 && number == 0, "part %d of %d", (int)number, (int)num);
  CHECK_OK(RitzMeshGetPart(mesh, &num, &number));
  CHECK(num == 1 && number == 0, "part %d of %d", (int)number, (int)num);
  CHECK_ERROR(ceed, RitzMeshCreateSubmesh(part, 2, parts, 0, &piece), CEED_ERROR_UNSUPPORTED, "already");
  CHECK_ERROR(ceed, RitzMeshPartition(part, RITZ_PARTITION_HILBERT, 2, NULL, parts), CEED_ERROR_UNSUPPORTED,
              "already");
  CHECK_ERROR(ceed, RitzMeshSplit(part, CEED_TOPOLOGY_TRIANGLE, &piece), CEED_ERROR_UNSUPPORTED,
              "part 0 of 2; split the whole one");
  CHECK_OK(RitzMeshDestroy(&part));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

// ---- Spaces on parts ----

enum { MAX_PARTS = 8 };

// A space on each part, and where its nodes are.
typedef struct {
  CeedInt num_parts;
  RitzSpace whole, parts[MAX_PARTS];
  PlacedNodes all, placed[MAX_PARTS];
  int64_t num_owned[MAX_PARTS];
} Spaces;

static int make_spaces(RitzMesh mesh, int how, CeedInt num_parts, CeedInt levels, CeedInt degree, Spaces *s) {
  int32_t *parts = NULL;
  RitzMesh fine = NULL;

  s->num_parts = num_parts;
  RITZ_TRY(cut_mesh(mesh, how, num_parts, &parts));
  RITZ_TRY(RitzMeshRefine(mesh, levels, &fine));
  RITZ_TRY(RitzSpaceCreate(fine, degree, 1, &s->whole));
  RITZ_TRY(RitzMeshDestroy(&fine));
  RITZ_TRY(place_all(s->whole, &s->all));
  sort_placed(&s->all);
  for (CeedInt p = 0; p < num_parts; p++) {
    RitzMesh sub = NULL;
    RitzHalo halo = NULL;

    RITZ_TRY(RitzMeshCreateSubmesh(mesh, num_parts, parts, p, &sub));
    RITZ_TRY(RitzMeshRefine(sub, levels, &fine));
    RITZ_TRY(RitzSpaceCreate(fine, degree, 1, &s->parts[p]));
    RITZ_TRY(RitzMeshDestroy(&fine));
    RITZ_TRY(RitzMeshDestroy(&sub));
    RITZ_TRY(place_all(s->parts[p], &s->placed[p]));
    RITZ_TRY(RitzSpaceGetHalo(s->parts[p], &halo));
    RITZ_TRY(RitzHaloGetSizes(halo, &s->num_owned[p], NULL));
  }
  free(parts);
  return CEED_ERROR_SUCCESS;
}

static void destroy_spaces(Spaces *s) {
  for (CeedInt p = 0; p < s->num_parts; p++) {
    RitzSpaceDestroy(&s->parts[p]);
    free(s->placed[p].nodes);
  }
  RitzSpaceDestroy(&s->whole);
  free(s->all.nodes);
}

// Every node of the whole is owned by one part.
static void check_owned(const Spaces *s, const char *name) {
  int8_t *is_owned = calloc((size_t)s->all.num, 1);
  int64_t sum = 0;

  for (CeedInt p = 0; p < s->num_parts; p++) {
    sum += s->num_owned[p];
    for (int64_t i = 0; i < s->num_owned[p]; i++) {
      const int64_t node = find_placed(&s->all, &s->placed[p].nodes[i]);

      CHECK(node >= 0, "%s: node %lld of part %d is not there", name, (long long)i, (int)p);
      CHECK(!is_owned[node]++, "%s: node %lld has two owners", name, (long long)node);
    }
  }
  free(is_owned);
  CHECK(sum == s->all.num, "%s: %lld owned nodes of %lld", name, (long long)sum, (long long)s->all.num);
}

// What p sends to q is, node for node, what q has as ghosts of p.
static void check_pair(const Spaces *s, CeedInt p, CeedInt q, const int64_t *send, int64_t num,
                       uint64_t checksum, const char *name) {
  CeedInt num_neighbours = 0, part = -1, i = 0;
  int64_t num_ghosts = 0, first = 0;
  uint64_t other_checksum = 0;
  RitzHalo halo;

  CHECK_OK(RitzSpaceGetHalo(s->parts[q], &halo));
  CHECK_OK(RitzHaloGetNumNeighbours(halo, &num_neighbours));
  while (i < num_neighbours && part != p)
    CHECK_OK(RitzHaloGetNeighbour(halo, i++, &part, NULL, NULL, &num_ghosts, &first));
  CHECK(part == p, "%s: part %d sends to %d, which does not know", name, (int)p, (int)q);
  CHECK_OK(RitzHaloGetChecksums(halo, i - 1, NULL, &other_checksum));
  CHECK(checksum == other_checksum, "%s: checksums of what %d sends to %d", name, (int)p, (int)q);
  CHECK(num == num_ghosts, "%s: part %d sends %lld nodes to %d, which expects %lld", name, (int)p,
        (long long)num, (int)q, (long long)num_ghosts);
  for (int64_t k = 0; k < num; k++) {
    CHECK(send[k] < s->num_owned[p], "%s: part %d sends a ghost", name, (int)p);
    CHECK(!compare_placed(&s->placed[p].nodes[send[k]], &s->placed[q].nodes[first + k]),
          "%s: node %lld from %d to %d is another one", name, (long long)k, (int)p, (int)q);
  }
}

static void check_halos(const Spaces *s, const char *name) {
  for (CeedInt p = 0; p < s->num_parts; p++) {
    CeedInt num = 0, before = -1;
    int64_t num_ghosts = 0, sum = 0;
    RitzHalo halo;

    CHECK_OK(RitzSpaceGetHalo(s->parts[p], &halo));
    CHECK_OK(RitzHaloGetNumNeighbours(halo, &num));
    CHECK_OK(RitzHaloGetSizes(halo, NULL, &num_ghosts));
    for (CeedInt i = 0; i < num; i++) {
      CeedInt part;
      const int64_t *send;
      int64_t num_send, from;

      uint64_t checksum;

      CHECK_OK(RitzHaloGetNeighbour(halo, i, &part, &num_send, &send, &from, NULL));
      CHECK_OK(RitzHaloGetChecksums(halo, i, &checksum, NULL));
      CHECK(part > before && part != p && part < s->num_parts, "%s: neighbour %d of %d", name, (int)part,
            (int)p);
      before = part;
      sum += from;
      check_pair(s, p, part, send, num_send, checksum, name);
      if (tap_failed()) return;
    }
    CHECK(sum == num_ghosts && s->num_owned[p] + num_ghosts == s->placed[p].num, "%s: ghosts of part %d",
          name, (int)p);
  }
}

// Nodes of a boundary part, owned or ghosts, are those of the whole.
static void check_boundary(const Spaces *s, const char *boundary, const char *name) {
  int64_t num, *nodes;
  int8_t *is_on = calloc((size_t)s->all.num, 1);

  CHECK_OK(RitzSpaceGetBoundaryNodes(s->whole, boundary, &num, &nodes));
  for (int64_t i = 0; i < num; i++) is_on[nodes[i]] = 1;
  free(nodes);
  for (CeedInt p = 0; p < s->num_parts; p++) {
    int8_t *is_mine = calloc((size_t)s->placed[p].num + 1, 1);

    CHECK_OK(RitzSpaceGetBoundaryNodes(s->parts[p], boundary, &num, &nodes));
    for (int64_t i = 0; i < num; i++) is_mine[nodes[i]] = 1;
    free(nodes);
    for (int64_t i = 0; i < s->placed[p].num; i++) {
      const int64_t node = find_placed(&s->all, &s->placed[p].nodes[i]);

      CHECK(is_mine[i] == is_on[node], "%s: node %lld of part %d %s on '%s'", name, (long long)i, (int)p,
            is_mine[i] ? "is not" : "is", boundary);
    }
    free(is_mine);
  }
  free(is_on);
}

static void check_seam_elements(const Spaces *s, const char *name) {
  for (CeedInt p = 0; p < s->num_parts; p++) {
    int64_t num, *elements, next = 0;
    RitzMesh mesh;
    CeedInt num_blocks;

    CHECK_OK(RitzSpaceGetMesh(s->parts[p], &mesh));
    CHECK_OK(RitzMeshGetNumBlocks(mesh, &num_blocks));
    CHECK_OK(RitzSpaceGetSeamElements(s->parts[p], &num, &elements));
    for (CeedInt b = 0; b < num_blocks; b++) {
      int64_t first, num_elem;
      CeedInt num_local;
      const int64_t *nodes;

      CHECK_OK(RitzMeshGetBlock(mesh, b, NULL, &first, &num_elem, NULL, NULL));
      if (num_elem == 0) continue;
      CHECK_OK(RitzSpaceGetBlockNodes(s->parts[p], b, &num_local, &nodes));
      for (int64_t e = 0; e < num_elem; e++) {
        bool has_ghosts = false;

        for (CeedInt i = 0; i < num_local; i++) has_ghosts |= nodes[e * num_local + i] >= s->num_owned[p];
        const bool is_listed = next < num && elements[next] == first + e;

        next += is_listed;
        CHECK(is_listed == has_ghosts, "%s: element %lld of part %d", name, (long long)(first + e), (int)p);
      }
    }
    CHECK(next == num, "%s: elements at the seam of part %d", name, (int)p);
    free(elements);
  }
}

static void check_spaces(RitzMesh mesh, int which, int how, CeedInt num_parts, CeedInt levels,
                         CeedInt degree) {
  char name[128];
  Spaces s = {0};

  snprintf(name, sizeof(name), "%s, %s cut into %d, %d levels, degree %d", mesh_names[which], cut_names[how],
           (int)num_parts, (int)levels, (int)degree);
  CHECK_OK(make_spaces(mesh, how, num_parts, levels, degree, &s));
  check_owned(&s, name);
  if (!tap_failed()) check_halos(&s, name);
  if (!tap_failed()) check_boundary(&s, "all", name);
  if (!tap_failed() && which < 7) check_boundary(&s, "xmin", name);
  if (!tap_failed()) check_seam_elements(&s, name);
  destroy_spaces(&s);
}

static void check_meshes(CeedInt levels, CeedInt most_degree) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int which = 0; which < NUM_MESHES; which++) {
    RitzMesh mesh;

    CHECK_OK(make_mesh(ceed, which, &mesh));
    for (int how = 0; how < NUM_CUTS; how++) {
      for (int n = 0; n < 4; n++) {
        for (CeedInt degree = 1; degree <= most_degree; degree++) {
          check_spaces(mesh, which, how, nums[n], levels, degree);
          if (tap_failed()) return;
        }
      }
    }
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

// A line of 4 elements in 8 parts leaves some empty; "one element a part" has parts of one element.
TEST(each_node_has_one_owner_and_its_ghosts_know_it) { check_meshes(0, tap_level() == TAP_QUICK ? 4 : 5); }

TEST(refined_parts_are_parts_of_the_refined_mesh) { check_meshes(1, tap_level() == TAP_QUICK ? 3 : 4); }

TEST(parts_stay_parts_over_two_refinements) { check_meshes(2, tap_level() == TAP_QUICK ? 1 : 3); }

TEST(empty_parts_answer_all_questions) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const int32_t parts[4] = {0};
  int64_t num = -1, *nodes;
  const int64_t some = 0, *of_block = &some;
  CeedInt num_local = 0;
  double measure = -1;
  RitzMesh mesh, empty, fine;
  RitzLocator locator;
  RitzSpace space;

  CHECK_OK(make_mesh(ceed, 0, &mesh));
  CHECK_OK(RitzMeshCreateSubmesh(mesh, 2, parts, 1, &empty));
  CHECK_OK(RitzMeshRefine(empty, 1, &fine));
  CHECK(strstr(view_of(fine), "part 1 of 2, shares 0 vertices"), "%s", view_of(fine));
  CHECK_OK(RitzMeshGetMeasure(fine, &measure, NULL, NULL));
  CHECK(measure == 0, "length %g", measure);
  CHECK_OK(RitzLocatorCreate(fine, -1, &locator));
  CHECK_OK(RitzSpaceCreate(fine, 3, 2, &space));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num));
  CHECK(num == 0, "%lld nodes", (long long)num);
  CHECK_OK(RitzSpaceGetBoundaryNodes(space, "xmin", &num, &nodes));
  CHECK(num == 0, "%lld nodes of the boundary", (long long)num);
  free(nodes);
  CHECK_OK(RitzSpaceGetBlockNodes(space, 0, &num_local, &of_block));
  CHECK(num_local == 4 && !of_block, "%d nodes an element, some of none", (int)num_local);
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzLocatorDestroy(&locator));
  CHECK_OK(RitzMeshDestroy(&fine));
  CHECK_OK(RitzMeshDestroy(&empty));
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

TEST(metis_has_any_number_of_parts_and_weights) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double weights[24];
  int32_t parts[24];
  int num_cut = 0;
  RitzMesh mesh;

  CHECK_OK(make_mesh(ceed, 2, &mesh));
  for (int e = 0; e < 24; e++) weights[e] = 1e-300 * (1 + e % 3);
  for (CeedInt num_parts = 1; num_parts <= 40; num_parts += 3) {
    const int code =
        RitzMeshPartition(mesh, RITZ_PARTITION_METIS, num_parts, num_parts % 2 ? weights : NULL, parts);

    if (code == CEED_ERROR_UNSUPPORTED) break;
    CHECK_OK(code);
    num_cut++;
    for (int e = 0; e < 24; e++)
      CHECK(parts[e] >= 0 && parts[e] < num_parts, "element %d is in part %d of %d", e, (int)parts[e],
            (int)num_parts);
  }
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
  if (num_cut == 0) NOT_HERE("a library built without METIS");
}

// A hash spreads what two parts share: neither owns more than 3/4 of 49 inner nodes of a face and its rim.
TEST(shared_nodes_are_spread_evenly) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt n[3] = {2, 8, 8};
  int32_t parts[128];
  int64_t num_ghosts[2];
  RitzMesh mesh;

  for (int e = 0; e < 128; e++) parts[e] = e % 2;
  CHECK_OK(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 1, NULL, NULL, &mesh));
  for (CeedInt p = 0; p < 2; p++) {
    RitzMesh sub;
    RitzSpace space;
    RitzHalo halo;

    CHECK_OK(RitzMeshCreateSubmesh(mesh, 2, parts, p, &sub));
    CHECK_OK(RitzSpaceCreate(sub, 2, 1, &space));
    CHECK_OK(RitzSpaceGetHalo(space, &halo));
    CHECK_OK(RitzHaloGetSizes(halo, NULL, &num_ghosts[p]));
    CHECK_OK(RitzSpaceDestroy(&space));
    CHECK_OK(RitzMeshDestroy(&sub));
  }
  CHECK(num_ghosts[0] + num_ghosts[1] == 17 * 17, "%lld and %lld ghosts", (long long)num_ghosts[0],
        (long long)num_ghosts[1]);
  CHECK(num_ghosts[0] > 17 * 17 / 4 && num_ghosts[1] > 17 * 17 / 4, "%lld and %lld ghosts",
        (long long)num_ghosts[0], (long long)num_ghosts[1]);
  CHECK_OK(RitzMeshDestroy(&mesh));
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(a_mesh_is_made_from_the_arrays_of_another, vertices_alone_place_straight_elements,
                        arrays_that_are_no_mesh_are_refused, hilbert_parts_are_equal_and_compact,
                        weights_are_halved, bricks_are_near_to_cubes, wrong_partitions_are_refused,
                        each_node_has_one_owner_and_its_ghosts_know_it,
                        refined_parts_are_parts_of_the_refined_mesh, parts_stay_parts_over_two_refinements,
                        shared_nodes_are_spread_evenly, empty_parts_answer_all_questions,
                        metis_has_any_number_of_parts_and_weights));
}
