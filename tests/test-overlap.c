// SPDX-License-Identifier: BSD-2-Clause
// Nodes of overlapping subdomains: elements with layers, vertex patches; on boxes by their positions, on
// rotated, twisted, periodic and unstructured meshes by which nodes are neighbours in an element.
#include "tests/mesh-tools.h"

#include <ceed/backend.h>
#include <ritz.h>

// ---- Restrictions ----

// All owned.
typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  CeedInt dim, degree, num[3];
  int64_t num_nodes, num_more;
  CeedInt *elements;
  CeedElemRestriction rstr[3];
  const CeedInt *offsets[3]; // borrowed
} Overlap;

// The mesh is taken over.
static int create_overlap(RitzMesh mesh, CeedInt degree, Overlap *o) {
  *o = (Overlap){.mesh = mesh, .degree = degree};
  CeedCall(RitzMeshGetDimensions(mesh, &o->dim, NULL));
  CeedCall(RitzSpaceCreate(mesh, degree, 1, &o->space));
  CeedCall(RitzSpaceGetNumNodes(o->space, &o->num_nodes));
  CeedCall(
      RitzSpaceCreateOverlapRestrictions(o->space, RitzMeshReturnCeed(mesh), o->num, &o->elements, o->rstr));
  for (int i = 0; i < 3; i++) {
    CeedSize l_size = 0;

    if (o->num[i] == 0) continue;
    CeedCall(CeedElemRestrictionGetOffsets(o->rstr[i], CEED_MEM_HOST, &o->offsets[i]));
    CeedCall(CeedElemRestrictionGetLVectorSize(o->rstr[i], &l_size));
    o->num_more = l_size - o->num_nodes;
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_overlap(Overlap *o) {
  for (int i = 0; i < 3; i++) {
    if (o->offsets[i]) CeedElemRestrictionRestoreOffsets(o->rstr[i], &o->offsets[i]);
    CeedElemRestrictionDestroy(&o->rstr[i]);
  }
  free(o->elements);
  RitzSpaceDestroy(&o->space);
  RitzMeshDestroy(&o->mesh);
}

// ---- Boxes: positions ----

// The node of a line of num elements that is number i of element `at` with `class` layers.
static int64_t line_node(int64_t num, int64_t p, int64_t at, int class, int64_t i) {
  const bool is_reversed = class == 1 && at == num - 1;

  if (class == 2) i--;
  return is_reversed ? (at + 1) * p - i : at * p + i;
}

static void check_box(Ceed ceed, CeedInt dim, const CeedInt *size, CeedInt p, const CeedInt *num) {
  RitzMesh mesh = NULL;
  Overlap o;
  CeedInt next = 0;

  CHECK_OK(RitzMeshCreateBox(ceed, dim, size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(create_overlap(mesh, p, &o));
  CHECK(o.num_more == 0, "%lld nodes are missing", (long long)o.num_more);
  for (int class = 0; class < 3; class ++) {
    const int64_t P = p + 1 + class, num_local = power(P, dim);

    CHECK(o.num[class] == num[class], "%d elements with %d layers", (int)o.num[class], class);
    for (int64_t i = 0; i < o.num[class] * num_local; i++) {
      const int64_t e = o.elements[next + i / num_local];
      int64_t rest = i % num_local, wanted = 0, stride = 1, at = e;

      for (int d = 0; d < dim; at /= size[d], stride *= size[d] * p + 1, rest /= P, d++)
        wanted += stride * line_node(size[d], p, at % size[d], class, rest % P);
      CHECK(o.offsets[class][i] == wanted, "node %lld of element %lld: %d, wanted %lld",
            (long long)(i % num_local), (long long)e, (int)o.offsets[class][i], (long long)wanted);
    }
    next += o.num[class];
  }
  destroy_overlap(&o);
}

TEST(layers_of_a_box_follow_from_positions) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  check_box(ceed, 3, (CeedInt[]){3, 4, 3}, 2, (CeedInt[]){0, 34, 2});
  check_box(ceed, 2, (CeedInt[]){4, 3}, 3, (CeedInt[]){0, 10, 2});
  check_box(ceed, 1, (CeedInt[]){4}, 2, (CeedInt[]){0, 2, 2});
  check_box(ceed, 2, (CeedInt[]){5, 1}, 2, (CeedInt[]){5, 0, 0});
  CeedDestroy(&ceed);
}

TEST(patches_of_a_box_follow_from_positions) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt size[3] = {3, 2, 4}, p = 3, P = 2 * p - 1;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  CeedElemRestriction rstr = NULL;
  int64_t num = 0, *elements = NULL;
  int8_t *axes = NULL;
  const CeedInt *offsets = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, p, 1, &space));
  CHECK_OK(RitzMeshGetVertexPatches(mesh, &num, &elements, &axes));
  CHECK(num == 2 * 1 * 3, "%lld patches", (long long)num);
  CHECK_OK(RitzSpaceCreatePatchRestriction(space, ceed, (CeedInt)num, elements, axes, &rstr));
  CHECK_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  for (int64_t k = 0; k < num; k++) {
    const int64_t at[3] = {k % 2, 0, k / 2};

    CHECK(elements[8 * k] == at[2] * 6 + at[0], "first element of patch %lld", (long long)k);
    for (int64_t i = 0; i < P * P * P; i++) {
      const int64_t x = at[0] * p + 1 + i % P, y = 1 + i / P % P, z = at[2] * p + 1 + i / (P * P);
      const int64_t wanted = (z * (size[1] * p + 1) + y) * (size[0] * p + 1) + x;
      CHECK(offsets[k * P * P * P + i] == wanted, "node %lld of patch %lld", (long long)i, (long long)k);
    }
  }
  CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  free(elements);
  free(axes);
  CeedElemRestrictionDestroy(&rstr);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Any mesh: neighbours ----

// Pairs of nodes that are next to each other in an element, sorted.
typedef struct {
  int64_t num, num_nodes;
  int64_t *pairs; // owned, smaller * num_nodes + larger
} Pairs;

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t pair_of(const Pairs *p, int64_t a, int64_t b) {
  return a < b ? a * p->num_nodes + b : b * p->num_nodes + a;
}

static int collect_pairs(const Overlap *o, Pairs *p) {
  const int64_t P = o->degree + 1, num_local = power(P, o->dim), *nodes = NULL;
  int64_t num_elem = 0;

  CeedCall(RitzMeshGetNumElements(o->mesh, &num_elem));
  CeedCall(RitzSpaceGetElementNodes(o->space, &nodes));
  *p = (Pairs){.num_nodes = o->num_nodes};
  p->pairs = malloc((size_t)(num_elem * num_local * o->dim) * sizeof(int64_t));
  for (int64_t i = 0; i < num_elem * num_local; i++) {
    for (int d = 0; d < o->dim; d++) {
      if (i % num_local / power(P, d) % P < P - 1)
        p->pairs[p->num++] = pair_of(p, nodes[i], nodes[i + power(P, d)]);
    }
  }
  qsort(p->pairs, (size_t)p->num, sizeof(int64_t), compare);
  return CEED_ERROR_SUCCESS;
}

// Whether nodes next to each other in a subdomain [P^dim] are next to each other in an element, and all nodes
// are different but for missing ones.
static void check_domain(const Pairs *pairs, int dim, int64_t P, const CeedInt *nodes) {
  const int64_t num_local = power(P, dim);

  for (int64_t i = 0; i < num_local; i++) {
    if (nodes[i] >= pairs->num_nodes) continue;
    for (int64_t j = 0; j < i; j++) CHECK(nodes[i] != nodes[j], "node %d twice", (int)nodes[i]);
    for (int d = 0; d < dim; d++) {
      const int64_t j = i + power(P, d);
      if (i / power(P, d) % P == P - 1 || nodes[j] >= pairs->num_nodes) continue;
      const int64_t key = pair_of(pairs, nodes[i], nodes[j]);
      CHECK(bsearch(&key, pairs->pairs, (size_t)pairs->num, sizeof(key), compare),
            "nodes %lld and %lld of a subdomain are no neighbours", (long long)i, (long long)j);
    }
  }
}

static void check_patches(const Overlap *o, const Pairs *pairs, int64_t wanted) {
  int64_t num = 0, *elements = NULL;
  int8_t *axes = NULL;
  CeedElemRestriction rstr = NULL;
  const CeedInt *offsets = NULL;
  const int64_t P = 2 * o->degree - 1;

  CHECK_OK(RitzMeshGetVertexPatches(o->mesh, &num, &elements, &axes));
  CHECK(num == wanted, "%lld patches", (long long)num);
  CHECK_OK(RitzSpaceCreatePatchRestriction(o->space, RitzMeshReturnCeed(o->mesh), (CeedInt)num, elements,
                                           axes, &rstr));
  CHECK_OK(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  for (int64_t k = 0; k < num && !tap_failed(); k++)
    check_domain(pairs, o->dim, P, offsets + k * power(P, o->dim));
  CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr, &offsets));
  CeedElemRestrictionDestroy(&rstr);
  free(elements);
  free(axes);
}

// Elements with and without facets on the boundary, vertices inside with 2^dim elements.
typedef struct {
  bool *is_outer; // owned, [num_elem]
  int64_t num_regular;
} Outside;

static int find_outside(RitzMesh mesh, Outside *outside) {
  const int num_corners = 1 << mesh->dim;
  const RitzMeshEntities local = ritz_mesh_local_facets(mesh->dim);
  int64_t num = 0, *elements = NULL;
  int8_t *facets = NULL;
  int *count = calloc((size_t)mesh->num_vertices, sizeof(*count));

  *outside = (Outside){.is_outer = calloc((size_t)mesh->num_elem, sizeof(bool))};
  CeedCall(RitzMeshGetBoundaryPart(mesh, "all", &num, &elements, &facets));
  for (int64_t i = 0; i < mesh->num_elem * num_corners; i++) count[mesh->elem_vertices[i]]++;
  for (int64_t i = 0; i < num; i++) {
    outside->is_outer[elements[i]] = true;
    for (int k = 0; k < local.num_corners; k++)
      count[mesh->elem_vertices[elements[i] * num_corners + local.corner[facets[i]][k]]] = 0;
  }
  for (int64_t v = 0; v < mesh->num_vertices; v++) outside->num_regular += count[v] == num_corners;
  free(count);
  free(elements);
  free(facets);
  return CEED_ERROR_SUCCESS;
}

// num_more: elements that miss nodes. The mesh is taken over.
static void check_neighbours(RitzMesh mesh, CeedInt degree, int64_t num_more) {
  Overlap o;
  Pairs pairs;
  Outside outside;
  CeedInt next = 0;

  CHECK_OK(create_overlap(mesh, degree, &o));
  CHECK_OK(collect_pairs(&o, &pairs));
  CHECK_OK(find_outside(mesh, &outside));
  CHECK(o.num_more == num_more, "%lld elements miss nodes", (long long)o.num_more);
  for (int class = 0; class < 3 && !tap_failed(); class ++) {
    const int64_t P = degree + 1 + class;

    for (CeedInt k = 0; k < o.num[class] && !tap_failed(); k++) {
      CHECK((class == 2) != outside.is_outer[o.elements[next]], "element %d has %d layers",
            (int)o.elements[next], class);
      check_domain(&pairs, o.dim, P, o.offsets[class] + k * power(P, o.dim));
      next++;
    }
  }
  check_patches(&o, &pairs, outside.num_regular);
  free(outside.is_outer);
  free(pairs.pairs);
  destroy_overlap(&o);
}

// Elements in any rotation, vertices in any order.
TEST(neighbours_on_rotated_boxes_are_neighbours_in_elements) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt size[3] = {4, 3, 3};
  uint64_t seed = 3;

  for (CeedInt dim = 2; dim <= 3 && !tap_failed(); dim++) {
    RitzMesh box = NULL, mesh = NULL;

    CHECK_OK(RitzMeshCreateBox(ceed, dim, size, NULL, NULL, 1, NULL, NULL, &box));
    RitzMeshDraft draft = draft_of_mesh(box);
    rotate_at_random(&draft, &seed);
    shuffle_vertices(&draft, &seed);
    CHECK_OK(ritz_mesh_build(ceed, "box", &draft, &mesh));
    RitzMeshDestroy(&box);
    check_neighbours(mesh, 3, 0);
  }
  CeedDestroy(&ceed);
}

// Every element of a torus has layers all around.
TEST(neighbours_go_round_periodic_meshes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt size[2] = {4, 3};
  uint64_t seed = 5;
  RitzMesh box = NULL, mesh = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, size, NULL, NULL, 1, NULL, NULL, &box));
  RitzMeshDraft draft = draft_of_mesh(box);
  close_box(&draft, size, 3);
  rotate_at_random(&draft, &seed);
  CHECK_OK(ritz_mesh_build(ceed, "torus", &draft, &mesh));
  check_neighbours(mesh, 2, 0);
  RitzMeshDestroy(&box);
  // A ring of 5 elements with a quarter turn: all other sides are boundary. A strip with a half turn.
  draft = draft_of_ring(5, 1, 1);
  CHECK_OK(ritz_mesh_build(ceed, "ring", &draft, &mesh));
  check_neighbours(mesh, 2, 0);
  draft = draft_of_strip(5, 1, 1);
  CHECK_OK(ritz_mesh_build(ceed, "strip", &draft, &mesh));
  check_neighbours(mesh, 2, 0);
  CeedDestroy(&ceed);
}

// Around a vertex of the star are five quadrilaterals: each misses a node. A cube without one of its eighths:
// four elements inside miss the nodes that would be there, beyond an edge or the corner.
TEST(irregular_vertices_and_edges_have_no_grid) {
  static const struct {
    const char *file;
    int64_t num_more;
  } cases[] = {{"star.mesh", 5}, {"fichera.mesh", 4}};

  if (!tap_meshes()) SKIP("RITZ_TEST_MESHES is not set");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    char path[1000];
    RitzMesh coarse = NULL, mesh = NULL;

    snprintf(path, sizeof(path), "%s/%s", tap_meshes(), cases[i].file);
    CHECK_OK(RitzMeshRead(ceed, path, &coarse));
    CHECK_OK(RitzMeshRefine(coarse, 1, &mesh));
    RitzMeshDestroy(&coarse);
    check_neighbours(mesh, 2, cases[i].num_more);
  }
  CeedDestroy(&ceed);
}

// ---- Misuse ----

TEST(degree_one_and_simplices_have_no_layers) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box = NULL, mesh = NULL;
  RitzSpace linear = NULL, space = NULL;
  CeedInt num[3], *elements = NULL;
  CeedElemRestriction rstr[3];
  int64_t num_patches = 0, *patch = NULL;
  int8_t *axes = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, (CeedInt[]){2, 2}, NULL, NULL, 1, NULL, NULL, &box));
  CHECK_OK(RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &mesh));
  CHECK_OK(RitzSpaceCreate(box, 1, 1, &linear));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space));
  CHECK_ERROR(ceed, RitzSpaceCreateOverlapRestrictions(linear, ceed, num, &elements, rstr),
              CEED_ERROR_UNSUPPORTED, "degree 1");
  CHECK_ERROR(ceed, RitzSpaceCreateOverlapRestrictions(space, ceed, num, &elements, rstr),
              CEED_ERROR_UNSUPPORTED, "'triangle'");
  CHECK_ERROR(ceed, RitzMeshGetVertexPatches(mesh, &num_patches, &patch, &axes), CEED_ERROR_UNSUPPORTED,
              "'triangle'");
  CHECK_ERROR(ceed,
              RitzSpaceCreatePatchRestriction(linear, ceed, 1, (int64_t[]){0, 1, 2, 4},
                                              (int8_t[]){0, 1, 0, 1, 0, 1, 0, 1}, rstr),
              CEED_ERROR_DIMENSION, "element 4 of patch 0");
  CHECK_ERROR(ceed,
              RitzSpaceCreatePatchRestriction(linear, ceed, 1, (int64_t[]){0, 1, 2, 3},
                                              (int8_t[]){0, 1, 0, 2, 0, 1, 0, 1}, rstr),
              CEED_ERROR_DIMENSION, "directions of element 1 of patch 0");
  // The same direction twice; an element four times; two elements exchanged; two turned round.
  const int64_t found[] = {0, 1, 2, 3}, one[] = {0, 0, 0, 0}, exchanged[] = {1, 0, 2, 3};
  const int8_t straight[] = {0, 1, 0, 1, 0, 1, 0, 1}, equal[] = {0, 0, 0, 1, 0, 1, 0, 1},
               turned[] = {0, 1, -1, 1, -1, 1, 0, 1};
  CHECK_OK(RitzSpaceCreatePatchRestriction(linear, ceed, 1, found, straight, rstr));
  CeedElemRestrictionDestroy(rstr);
  CHECK_ERROR(ceed, RitzSpaceCreatePatchRestriction(linear, ceed, 1, found, equal, rstr),
              CEED_ERROR_DIMENSION, "directions of element 0 of patch 0");
  CHECK_ERROR(ceed, RitzSpaceCreatePatchRestriction(linear, ceed, 1, one, straight, rstr),
              CEED_ERROR_DIMENSION, "do not lie around a vertex");
  CHECK_ERROR(ceed, RitzSpaceCreatePatchRestriction(linear, ceed, 1, exchanged, straight, rstr),
              CEED_ERROR_DIMENSION, "do not lie around a vertex");
  CHECK_ERROR(ceed, RitzSpaceCreatePatchRestriction(linear, ceed, 1, found, turned, rstr),
              CEED_ERROR_DIMENSION, "do not lie around a vertex");
  CHECK(!elements && !patch && !rstr[0], "nothing was made");
  RitzSpaceDestroy(&linear);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  RitzMeshDestroy(&box);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(layers_of_a_box_follow_from_positions, patches_of_a_box_follow_from_positions,
                        neighbours_on_rotated_boxes_are_neighbours_in_elements,
                        neighbours_go_round_periodic_meshes, irregular_vertices_and_edges_have_no_grid,
                        degree_one_and_simplices_have_no_layers));
}
