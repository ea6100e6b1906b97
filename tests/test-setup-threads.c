// SPDX-License-Identifier: BSD-2-Clause
// Tests of what is set up by threads: loops over elements and nodes, and that meshes, spaces and transfers do
// not depend on how many threads there are, nor boxes on the formulas that they are numbered by.
#include <ceed/backend.h>
#include <ritz/geometry.h>
#include <ritz/multigrid.h>

#include "base/ranges.h"
#include "tests/mesh-tools.h"

// ---- Loops ----

static const char *const resources[] = {"/cpu/self/ref", "/cpu/self/gen:threads=1", "/cpu/self/gen:threads=2",
                                        "/cpu/self/gen:threads=2:deterministic"};
enum { NUM_RESOURCES = 4, MAX_NODES = 5000, MAX_ELEM = 3000, NUM_LOCAL = 5 };

typedef struct {
  int64_t nodes[MAX_ELEM][NUM_LOCAL];
  double sums[MAX_NODES];
  _Atomic int visits[MAX_ELEM];
} Cloud;

static void visit(void *data, int slot, int64_t first, int64_t count) {
  Cloud *c = data;

  (void)slot;
  for (int64_t e = first; e < first + count; e++) c->visits[e]++;
}

static void bound(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const Cloud *c = data;

  *low = *high = c->nodes[first][0];
  for (int64_t e = first; e < first + count; e++) {
    for (int i = 0; i < NUM_LOCAL; i++) {
      if (c->nodes[e][i] < *low) *low = c->nodes[e][i];
      if (c->nodes[e][i] > *high) *high = c->nodes[e][i];
    }
  }
}

static void clear(const void *data, int64_t first, int64_t count) {
  Cloud *c = (Cloud *)data;

  for (int64_t i = first; i < first + count; i++) c->sums[i] = 0;
}

// Depends on the order of the elements in many digits.
static void add(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                int64_t count) {
  Cloud *c = (Cloud *)data;

  (void)slot;
  for (int64_t e = first_elem; e < first_elem + num_elem; e++) {
    for (int i = 0; i < NUM_LOCAL; i++) {
      const int64_t node = c->nodes[e][i];

      if (node >= first && node < first + count) c->sums[node] = 0.5 * c->sums[node] + (double)e + i;
    }
  }
}

// Elements of a few neighbouring nodes, and some that reach far.
static void fill_cloud(Cloud *c, int64_t num_elem, int64_t num_nodes) {
  uint64_t state = 7;

  for (int64_t e = 0; e < num_elem; e++) {
    for (int i = 0; i < NUM_LOCAL; i++) {
      const int64_t reach = e % 50 ? 40 : num_nodes;

      c->nodes[e][i] = (e * num_nodes / num_elem + tap_integer(&state, (int)reach)) % num_nodes;
    }
  }
}

TEST(elements_are_visited_once_and_added_into_nodes_in_their_order) {
  static const int64_t sizes[][2] = {{1, 1}, {63, 70}, {300, 17}, {MAX_ELEM, MAX_NODES}};
  static Cloud cloud;
  static double expected[MAX_NODES];

  for (int k = 0; k < 4; k++) {
    const int64_t num_elem = sizes[k][0], num_nodes = sizes[k][1];

    fill_cloud(&cloud, num_elem, num_nodes);
    clear(&cloud, 0, num_nodes);
    add(&cloud, 0, 0, num_elem, 0, num_nodes);
    memcpy(expected, cloud.sums, sizeof(expected));
    for (int r = 0; r < NUM_RESOURCES; r++) {
      Ceed ceed = tap_ceed(resources[r]);
      const RitzNodeSum sum = {num_nodes, num_elem, bound, clear, add, &cloud};
      int bad = 0;

      for (int64_t e = 0; e < num_elem; e++) cloud.visits[e] = 0;
      for (int64_t i = 0; i < num_nodes; i++) cloud.sums[i] = NAN;
      CHECK_OK(ritz_run_elements(ceed, num_elem, visit, &cloud));
      CHECK_OK(ritz_run_node_sum(ceed, &sum));
      for (int64_t e = 0; e < num_elem; e++) bad += cloud.visits[e] != 1;
      CHECK(!bad, "%s: %d of %d elements", resources[r], bad, (int)num_elem);
      CHECK(!memcmp(expected, cloud.sums, (size_t)num_nodes * sizeof(double)), "%s: %d elements, other sums",
            resources[r], (int)num_elem);
      CeedDestroy(&ceed);
    }
  }
}

// ---- Meshes and spaces ----

// Bytes of everything that is asked of a mesh.
typedef struct {
  size_t num, max;
  char *bytes;
} Record;

static void enter(Record *r, size_t num, const void *bytes) {
  if (num == 0) return;
  if (r->num + num > r->max) {
    r->max = 2 * (r->num + num);
    r->bytes = realloc(r->bytes, r->max);
  }
  memcpy(r->bytes + r->num, bytes, num);
  r->num += num;
}

static void enter_restriction(Record *r, CeedElemRestriction *rstr) {
  const CeedInt *offsets = NULL;
  CeedInt num_elem = 0, size = 0;

  CHECK_OK(CeedElemRestrictionGetNumElements(*rstr, &num_elem));
  CHECK_OK(CeedElemRestrictionGetElementSize(*rstr, &size));
  CHECK_OK(CeedElemRestrictionGetOffsets(*rstr, CEED_MEM_HOST, &offsets));
  enter(r, (size_t)num_elem * (size_t)size * sizeof(CeedInt), offsets);
  CHECK_OK(CeedElemRestrictionRestoreOffsets(*rstr, &offsets));
  CHECK_OK(CeedElemRestrictionDestroy(rstr));
}

static void enter_vector(Record *r, CeedVector *vec) {
  const CeedScalar *array = NULL;
  CeedSize length = 0;

  CHECK_OK(CeedVectorGetLength(*vec, &length));
  CHECK_OK(CeedVectorGetArrayRead(*vec, CEED_MEM_HOST, &array));
  enter(r, (size_t)length * sizeof(CeedScalar), array);
  CHECK_OK(CeedVectorRestoreArrayRead(*vec, &array));
  CHECK_OK(CeedVectorDestroy(vec));
}

static void enter_mesh(Record *r, Ceed ceed, RitzMesh mesh) {
  double measure[3];
  int64_t counts[3], num_elem = 0;
  RitzElementKind *kinds;
  CeedElemRestriction rstr = NULL;
  CeedVector x = NULL;

  CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
  CHECK_OK(RitzMeshGetMeasure(mesh, &measure[0], &measure[1], &measure[2]));
  enter(r, sizeof(measure), measure);
  kinds = malloc((size_t)num_elem * sizeof(*kinds));
  CHECK_OK(RitzMeshClassifyElements(mesh, -1, kinds, counts));
  enter(r, (size_t)num_elem * sizeof(*kinds), kinds);
  enter(r, sizeof(counts), counts);
  free(kinds);
  CHECK_OK(RitzMeshCreateCoordinates(mesh, ceed, &rstr, &x));
  enter_restriction(r, &rstr);
  enter_vector(r, &x);
}

static void enter_space(Record *r, Ceed ceed, RitzSpace space) {
  int64_t num_nodes = 0, num = 0, *nodes = NULL;
  CeedElemRestriction rstr = NULL;
  double *x;

  CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
  x = malloc((size_t)num_nodes * 3 * sizeof(double));
  CHECK_OK(RitzSpaceGetNodeCoordinates(space, x));
  enter(r, (size_t)num_nodes * 3 * sizeof(double), x);
  free(x);
  CHECK_OK(RitzSpaceGetBoundaryNodes(space, "all", &num, &nodes));
  enter(r, (size_t)num * sizeof(*nodes), nodes);
  free(nodes);
  CHECK_OK(RitzSpaceCreateRestriction(space, ceed, &rstr));
  enter_restriction(r, &rstr);
}

// The prolongation of numbers that follow each other.
static void enter_transfer(Record *r, Ceed ceed, RitzSpace coarse, RitzSpace fine) {
  CeedOperator prolong = NULL;
  CeedVector u = NULL, v = NULL;
  CeedScalar *array = NULL;
  CeedSize num_coarse = 0, num_fine = 0;

  CHECK_OK(RitzSpaceCreateTransfer(coarse, fine, ceed, CEED_SCALAR_TYPE, &prolong, NULL));
  CHECK_OK(RitzSpaceGetSize(coarse, &num_coarse));
  CHECK_OK(RitzSpaceGetSize(fine, &num_fine));
  CHECK_OK(CeedVectorCreate(ceed, num_coarse, &u));
  CHECK_OK(CeedVectorCreate(ceed, num_fine, &v));
  CHECK_OK(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < num_coarse; i++) array[i] = (CeedScalar)(i % 100);
  CHECK_OK(CeedVectorRestoreArray(u, &array));
  CHECK_OK(CeedOperatorApply(prolong, u, v, CEED_REQUEST_IMMEDIATE));
  enter_vector(r, &v);
  CHECK_OK(CeedVectorDestroy(&u));
  CHECK_OK(CeedOperatorDestroy(&prolong));
}

static void enter_field(Record *r, CeedOperatorField field, bool has_numbers) {
  CeedElemRestriction rstr = NULL, kept = NULL;
  CeedRestrictionType type;
  CeedVector vector = NULL, values = NULL;

  CHECK_OK(CeedOperatorFieldGetData(field, NULL, &rstr, NULL, &vector));
  if (rstr && rstr != CEED_ELEMRESTRICTION_NONE) {
    CHECK_OK(CeedElemRestrictionGetType(rstr, &type));
    if (type == CEED_RESTRICTION_STANDARD) {
      CHECK_OK(CeedElemRestrictionReferenceCopy(rstr, &kept));
      enter_restriction(r, &kept);
    }
  }
  if (has_numbers && vector && vector != CEED_VECTOR_ACTIVE && vector != CEED_VECTOR_NONE) {
    CHECK_OK(CeedVectorReferenceCopy(vector, &values));
    enter_vector(r, &values);
  }
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedVectorDestroy(&vector));
}

// Offsets of all fields, and what they have in vectors of their own.
static void enter_operator(Record *r, CeedOperator op, bool has_numbers) {
  CeedOperatorField *fields[2];
  CeedInt num[2];

  CHECK_OK(CeedOperatorGetFields(op, &num[0], &fields[0], &num[1], &fields[1]));
  for (int k = 0; k < 2; k++) {
    for (CeedInt i = 0; i < num[k]; i++) enter_field(r, fields[k][i], has_numbers);
  }
}

static void enter_parts(Record *r, CeedOperator op, bool has_numbers) {
  CeedOperator *parts = &op;
  CeedInt num = 1;
  bool is_composite = false;

  CHECK_OK(CeedOperatorIsComposite(op, &is_composite));
  if (is_composite) CHECK_OK(CeedOperatorCompositeGetNumSub(op, &num));
  if (is_composite) CHECK_OK(CeedOperatorCompositeGetSubList(op, &parts));
  for (CeedInt i = 0; i < num; i++) enter_operator(r, parts[i], has_numbers);
}

// What a prolongation divides by: of each node the number of coarse elements.
static void enter_weights(Record *r, Ceed ceed, RitzSpace coarse, RitzSpace fine) {
  CeedOperator prolong = NULL;

  CHECK_OK(RitzSpaceCreateTransfer(coarse, fine, ceed, CEED_SCALAR_TYPE, &prolong, NULL));
  enter_parts(r, prolong, true);
  CHECK_OK(CeedOperatorDestroy(&prolong));
}

// Diffusion on all elements: offsets of positions. (Stored numbers are computed by kernels.)
static void enter_diffusion(Record *r, Ceed ceed, RitzSpace space, RitzMesh mesh) {
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = space, .mu = 1, .policy = RITZ_POLICY_ISOPARAMETRIC};
  RitzGeometry geometry = NULL;
  CeedOperator op = NULL;

  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  enter_parts(r, op, false);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(RitzGeometryDestroy(&geometry));
}

// Everything of a mesh, the mesh below it, spaces on both. Transfers are applied on `ref`, which adds in one
// order.
static void record_mesh(Ceed ceed, RitzMesh mesh, Record *r) {
  Ceed ref = tap_ceed("/cpu/self/ref");
  RitzMesh coarser = NULL;
  RitzSpace space = NULL, low = NULL, below = NULL;

  enter_mesh(r, ceed, mesh);
  CHECK_OK(RitzSpaceCreate(mesh, 3, 2, &space));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 2, &low));
  enter_space(r, ceed, space);
  enter_transfer(r, ref, low, space);
  enter_weights(r, ceed, low, space);
  enter_diffusion(r, ceed, low, mesh);
  CHECK_OK(RitzMeshGetCoarser(mesh, &coarser));
  CHECK(coarser, "no mesh below");
  enter_mesh(r, ceed, coarser);
  CHECK_OK(RitzSpaceCreate(coarser, 2, 2, &below));
  enter_space(r, ceed, below);
  enter_transfer(r, ref, below, low);
  enter_weights(r, ceed, below, low);
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzSpaceDestroy(&low));
  CHECK_OK(RitzSpaceDestroy(&below));
  CHECK_OK(RitzMeshDestroy(&coarser));
  CeedDestroy(&ref);
}

// Vertices and nodes of the elements, regions, boundary.
static void enter_blocks(Record *r, RitzMesh mesh) {
  int64_t num = 0, *elements = NULL;
  int8_t *facets = NULL;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &mesh->blocks[b];
    const int64_t *vertices = NULL;
    const double *x = NULL;

    CHECK_OK(RitzMeshGetBlock(mesh, b, NULL, NULL, &num, &vertices, &x));
    enter(r, (size_t)(num * block->num_corners) * sizeof(*vertices), vertices);
    enter(r, (size_t)(num * block->num_nodes * mesh->space_dim) * sizeof(*x), x);
    enter(r, (size_t)num * sizeof(*mesh->elem_regions), mesh->elem_regions + block->first);
  }
  CHECK_OK(RitzMeshGetBoundaryPart(mesh, "xmin", &num, &elements, &facets));
  enter(r, (size_t)num * sizeof(*elements), elements);
  enter(r, (size_t)num, facets);
  free(elements);
  free(facets);
}

static const CeedInt even_size[3] = {8, 8, 6};

static int make_even_box(Ceed ceed, RitzMesh *mesh) {
  return RitzMeshCreateBox(ceed, 3, even_size, NULL, NULL, 2, wavy_map, NULL, mesh);
}

// Turned elements, numbers out of order, and cut once.
static int make_refined_mesh(Ceed ceed, RitzMesh *mesh) {
  const CeedInt n[3] = {4, 4, 3};
  uint64_t state = 3;
  RitzMesh box = NULL, turned = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, 3, n, NULL, NULL, 2, wavy_map, NULL, &box));
  RitzMeshDraft draft = draft_of_mesh(box);
  rotate_at_random(&draft, &state);
  shuffle_vertices(&draft, &state);
  RITZ_TRY(ritz_mesh_build(ceed, "test", &draft, &turned));
  RITZ_TRY(RitzMeshRefine(turned, 1, mesh));
  RITZ_TRY(RitzMeshDestroy(&box));
  return RitzMeshDestroy(&turned);
}

static void compare_threads(int (*make)(Ceed ceed, RitzMesh *mesh)) {
  Record first = {0};

  for (int r = 0; r < NUM_RESOURCES; r++) {
    Ceed ceed = tap_ceed(resources[r]);
    RitzMesh mesh = NULL;
    Record record = {0};

    CHECK_OK(make(ceed, &mesh));
    record_mesh(ceed, mesh, &record);
    if (r == 0) first = record;
    CHECK(first.num == record.num && !memcmp(first.bytes, record.bytes, first.num), "%s differs from %s",
          resources[r], resources[0]);
    if (r) free(record.bytes);
    CHECK_OK(RitzMeshDestroy(&mesh));
    CeedDestroy(&ceed);
  }
  free(first.bytes);
}

TEST(boxes_do_not_depend_on_the_number_of_threads) { compare_threads(make_even_box); }

TEST(refined_meshes_do_not_depend_on_the_number_of_threads) { compare_threads(make_refined_mesh); }

// Pyramids, which are cut into pyramids and tetrahedra, and prisms and tetrahedra, whose cuts depend on
// vertices and lengths: enough elements for several threads, each cut once more.
static int make_split_mesh(Ceed ceed, CeedElemTopology into, RitzMesh *mesh) {
  RitzMesh box = NULL, split = NULL;

  RITZ_TRY(make_even_box(ceed, &box));
  RITZ_TRY(RitzMeshSplit(box, into, &split));
  RITZ_TRY(RitzMeshRefine(split, 1, mesh));
  RITZ_TRY(RitzMeshDestroy(&split));
  return RitzMeshDestroy(&box);
}

static int make_pyramids(Ceed ceed, RitzMesh *mesh) {
  return make_split_mesh(ceed, CEED_TOPOLOGY_PYRAMID, mesh);
}

static int make_prisms(Ceed ceed, RitzMesh *mesh) { return make_split_mesh(ceed, CEED_TOPOLOGY_PRISM, mesh); }

static int make_tetrahedra(Ceed ceed, RitzMesh *mesh) {
  return make_split_mesh(ceed, CEED_TOPOLOGY_TET, mesh);
}

TEST(meshes_that_are_split_do_not_depend_on_the_number_of_threads) {
  static int (*const make[])(Ceed ceed, RitzMesh * mesh) = {make_pyramids, make_prisms, make_tetrahedra};

  for (int k = 0; k < 3; k++) {
    Record first = {0};

    for (int r = 0; r < NUM_RESOURCES; r++) {
      Ceed ceed = tap_ceed(resources[r]);
      Record record = {0};
      RitzMesh mesh = NULL;

      CHECK_OK(make[k](ceed, &mesh));
      enter_blocks(&record, mesh);
      if (r == 0) first = record;
      CHECK(first.num == record.num && !memcmp(first.bytes, record.bytes, first.num), "mesh %d: %s differs",
            k, resources[r]);
      if (r) free(record.bytes);
      CHECK_OK(RitzMeshDestroy(&mesh));
      CeedDestroy(&ceed);
    }
    free(first.bytes);
  }
}

// ---- Formulas ----

// Facets of a box are not searched for, those of its draft are.
TEST(a_box_has_the_exterior_that_is_found_in_its_elements) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 3; dim++) {
    int64_t num[2] = {0, 0}, *elements[2] = {NULL, NULL};
    int8_t *facets[2] = {NULL, NULL};
    RitzMesh meshes[2] = {NULL, NULL};

    CHECK_OK(make_box(ceed, dim, 2, NULL, NULL, &meshes[0]));
    RitzMeshDraft draft = draft_of_mesh(meshes[0]);
    CHECK_OK(ritz_mesh_build(ceed, "test", &draft, &meshes[1]));
    for (int k = 0; k < 2; k++) {
      CHECK_OK(RitzMeshGetBoundaryPart(meshes[k], "all", &num[k], &elements[k], &facets[k]));
    }
    CHECK(num[0] == num[1], "%d dimensions: %d and %d facets", dim, (int)num[0], (int)num[1]);
    for (int64_t i = 0; i < num[0] && num[0] == num[1]; i++) {
      CHECK(elements[0][i] == elements[1][i] && facets[0][i] == facets[1][i], "%d dimensions: facet %d", dim,
            (int)i);
    }
    for (int k = 0; k < 2; k++) {
      free(elements[k]);
      free(facets[k]);
      CHECK_OK(RitzMeshDestroy(&meshes[k]));
    }
  }
  CeedDestroy(&ceed);
}

// Offsets that follow from the formula, and those that are made of all nodes.
TEST(restrictions_of_boxes_agree_with_the_nodes_of_their_elements) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const CeedInt some[3] = {1, 17, 23};

  for (CeedInt dim = 1; dim <= 3; dim++) {
    const CeedInt num_some = dim == 3 ? 3 : 1;
    RitzMesh mesh = NULL;
    RitzSpace space = NULL;
    CeedElemRestriction all = NULL, part = NULL;
    const CeedInt *offsets = NULL, *part_offsets = NULL;
    const int64_t *nodes = NULL;
    int64_t num_elem = 0;
    CeedInt size = 0;
    int bad = 0;

    CHECK_OK(make_box(ceed, dim, 1, NULL, NULL, &mesh));
    CHECK_OK(RitzMeshGetNumElements(mesh, &num_elem));
    CHECK_OK(RitzSpaceCreate(mesh, 4, 2, &space));
    CHECK_OK(RitzSpaceCreateRestriction(space, ceed, &all));
    CHECK_OK(RitzSpaceCreateElementsRestriction(space, 0, ceed, num_some, some, &part));
    CHECK_OK(RitzSpaceGetBlockNodes(space, 0, &size, &nodes));
    CHECK_OK(CeedElemRestrictionGetOffsets(all, CEED_MEM_HOST, &offsets));
    CHECK_OK(CeedElemRestrictionGetOffsets(part, CEED_MEM_HOST, &part_offsets));
    for (int64_t i = 0; i < num_elem * size; i++) bad += offsets[i] != 2 * nodes[i];
    for (CeedInt i = 0; i < num_some * size; i++)
      bad += part_offsets[i] != 2 * nodes[some[i / size] * size + i % size];
    CHECK(!bad, "%d dimensions: %d offsets", (int)dim, bad);
    CHECK_OK(CeedElemRestrictionRestoreOffsets(all, &offsets));
    CHECK_OK(CeedElemRestrictionRestoreOffsets(part, &part_offsets));
    CHECK_OK(CeedElemRestrictionDestroy(&all));
    CHECK_OK(CeedElemRestrictionDestroy(&part));
    CHECK_ERROR(ceed, RitzSpaceCreateElementsRestriction(space, 0, ceed, 1, (const CeedInt[]){1000}, &part),
                CEED_ERROR_DIMENSION, "element 1000 is not in block 0");
    CHECK_OK(RitzSpaceDestroy(&space));
    CHECK_OK(RitzMeshDestroy(&mesh));
  }
  CeedDestroy(&ceed);
}

TEST(coordinates_of_some_nodes_are_those_among_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh meshes[2] = {NULL, NULL};

  CHECK_OK(make_even_box(ceed, &meshes[0]));
  CHECK_OK(make_refined_mesh(ceed, &meshes[1]));
  for (int k = 0; k < 2; k++) {
    RitzSpace space = NULL;
    int64_t num_nodes = 0, num = 0, *list;
    double *all, *some;
    int bad = 0;

    CHECK_OK(RitzSpaceCreate(meshes[k], 2, 1, &space));
    CHECK_OK(RitzSpaceGetNumNodes(space, &num_nodes));
    all = malloc((size_t)num_nodes * 3 * sizeof(double));
    some = malloc((size_t)num_nodes * 3 * sizeof(double));
    list = malloc((size_t)num_nodes * sizeof(*list));
    for (int64_t node = 0; node < num_nodes; node += 1 + node % 7) list[num++] = node;
    CHECK_OK(RitzSpaceGetNodeCoordinates(space, all));
    CHECK_OK(RitzSpaceGetCoordinatesOf(space, num, list, some));
    for (int64_t i = 0; i < 3 * num; i++) bad += some[i] != all[3 * list[i / 3] + i % 3];
    CHECK(!bad, "%d of %d numbers", bad, (int)(3 * num));
    CHECK_OK(RitzSpaceGetCoordinatesOf(space, 0, NULL, NULL));
    list[1] = list[0];
    CHECK_ERROR(ceed, RitzSpaceGetCoordinatesOf(space, num, list, some), CEED_ERROR_DIMENSION,
                "node 0 at place 1 of the list, needed ascending ones");
    list[0] = num_nodes;
    CHECK_ERROR(ceed, RitzSpaceGetCoordinatesOf(space, 1, list, some), CEED_ERROR_DIMENSION, "at place 0");
    free(all);
    free(some);
    free(list);
    CHECK_OK(RitzSpaceDestroy(&space));
    CHECK_OK(RitzMeshDestroy(&meshes[k]));
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(elements_are_visited_once_and_added_into_nodes_in_their_order,
                        boxes_do_not_depend_on_the_number_of_threads,
                        refined_meshes_do_not_depend_on_the_number_of_threads,
                        meshes_that_are_split_do_not_depend_on_the_number_of_threads,
                        a_box_has_the_exterior_that_is_found_in_its_elements,
                        restrictions_of_boxes_agree_with_the_nodes_of_their_elements,
                        coordinates_of_some_nodes_are_those_among_all));
}
