// SPDX-License-Identifier: BSD-2-Clause
// Facets of boundary parts (ritz/facet.h): blocks, turned elements, their restrictions, bases and
// coordinates. Leaves operators to geometry/.
#include <ritz/basis.h>
#include <ritz/facet.h>
#include <stdlib.h>

#include "fe/fe.h"
#include "mesh/mesh.h"

const RitzClass ritz_facets_class = {.name = "RitzFacets"};

// ---- Turned elements ----

// Facets of one shape of an element.
typedef struct {
  int num;                // such facets
  int facet[6];           // their numbers, the standard one first
  int8_t turned[6][4];    // of each: the corners that become corner 0 and the ends of its edges along r, s, t
  CeedElemTopology shape; // of the facet; 0: a point
  int8_t corners[4];      // of the standard facet, lexicographic
  int across;             // the direction c of the reference element; 3: from corner 0 to the apex
} Kind;

enum { MAX_KINDS = 2, TO_APEX = 3 };
typedef struct {
  CeedElemTopology topology;
  int num_kinds;
  Kind kinds[MAX_KINDS];
} ShapeKinds;

static const ShapeKinds all_kinds[] = {
    {CEED_TOPOLOGY_LINE, 1, {{2, {0, 1}, {{0, 1}, {1, 0}}, (CeedElemTopology)0, {0}, 0}}},
    {CEED_TOPOLOGY_TRIANGLE,
     1,
     {{3, {1, 0, 2}, {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}}, CEED_TOPOLOGY_LINE, {0, 1}, 1}}},
    {CEED_TOPOLOGY_QUAD,
     1,
     {{4, {2, 3, 0, 1}, {{0, 1, 2}, {2, 3, 0}, {0, 2, 1}, {1, 3, 0}}, CEED_TOPOLOGY_LINE, {0, 1}, 1}}},
    {CEED_TOPOLOGY_TET,
     1,
     {{4,
       {2, 0, 1, 3},
       {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 1, 3, 2}, {1, 2, 3, 0}},
       CEED_TOPOLOGY_TRIANGLE,
       {0, 1, 2},
       2}}},
    {CEED_TOPOLOGY_PYRAMID,
     2,
     {{4,
       {2, 3, 0, 1},
       {{0, 1, 2, 4}, {2, 3, 0, 4}, {0, 2, 1, 4}, {1, 3, 0, 4}},
       CEED_TOPOLOGY_TRIANGLE,
       {0, 1, 4},
       1},
      {1, {4}, {{0, 1, 2, 4}}, CEED_TOPOLOGY_QUAD, {0, 1, 2, 3}, TO_APEX}}},
    {CEED_TOPOLOGY_PRISM,
     2,
     {{2, {3, 4}, {{0, 1, 2, 3}, {3, 4, 5, 0}}, CEED_TOPOLOGY_TRIANGLE, {0, 1, 2}, 2},
      {3, {1, 0, 2}, {{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 2, 0, 4}}, CEED_TOPOLOGY_QUAD, {0, 1, 3, 4}, 1}}},
    {CEED_TOPOLOGY_HEX,
     1,
     {{6,
       {4, 5, 0, 1, 2, 3},
       {{0, 1, 2, 4}, {4, 5, 6, 0}, {0, 2, 4, 1}, {1, 3, 5, 0}, {0, 1, 4, 2}, {2, 3, 6, 0}},
       CEED_TOPOLOGY_QUAD,
       {0, 1, 2, 3},
       2}}},
};

static const ShapeKinds *kinds_of(CeedElemTopology topology) {
  const ShapeKinds *kinds = all_kinds;

  while (kinds->topology != topology) kinds++;
  return kinds;
}

// Which of the kind's facets this is, -1: none.
static int place_of(const Kind *kind, int facet) {
  for (int i = 0; i < kind->num; i++) {
    if (kind->facet[i] == facet) return i;
  }
  return -1;
}

// Where a lattice point of the standard element lies in an element that is turned by `turned`. Corner 0, r,
// s, t of a pyramid's lattice are its corners 0, 1, 2, 4.
static void turn(const RitzMeshShape *shape, const int8_t *turned, int64_t p, const int64_t from[3],
                 int64_t to[3]) {
  for (int d = 0; d < 3; d++) {
    to[d] = p * shape->corner_at[turned[0]][d];
    for (int k = 0; k < shape->dim; k++)
      to[d] += from[k] * (shape->corner_at[turned[k + 1]][d] - shape->corner_at[turned[0]][d]);
  }
}

// Whether a turned element is a mirror image.
static bool is_mirrored(const RitzMeshShape *shape, const int8_t *turned) {
  int m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  for (int k = 0; k < shape->dim; k++) {
    for (int d = 0; d < shape->dim; d++)
      m[k][d] = shape->corner_at[turned[k + 1]][d] - shape->corner_at[turned[0]][d];
  }
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
             m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
             m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) <
         0;
}

static bool lattice_contains(CeedElemTopology topology, int64_t p, const int64_t at[3]) {
  switch (topology) {
  case CEED_TOPOLOGY_TRIANGLE:
  case CEED_TOPOLOGY_PRISM: return at[0] + at[1] <= p && at[2] <= p;
  case CEED_TOPOLOGY_TET: return at[0] + at[1] + at[2] <= p;
  case CEED_TOPOLOGY_PYRAMID: return at[0] <= p - at[2] && at[1] <= p - at[2];
  default: return at[0] <= p && at[1] <= p && at[2] <= p;
  }
}

// From one lattice point of an element of degree p to the next in the order of its nodes; false: it was the
// last.
static bool next_point(CeedElemTopology topology, int64_t p, int64_t at[3]) {
  const int dim = ritz_mesh_shape(topology)->dim;

  for (int d = 0; d < dim; d++) {
    at[d]++;
    if (lattice_contains(topology, p, at)) return true;
    at[d] = 0;
  }
  return false;
}

// Whether (a, b) of a trace change places for the normal to point outwards: by nature it does where (a, b, c)
// of the turned element is left-handed.
static bool is_swapped(const RitzMeshShape *shape, const Kind *kind, int place) {
  const bool is_left_handed = kind->across == 1;

  return is_mirrored(shape, kind->turned[place]) == is_left_handed;
}

// Nodes of a turned element: nodes[i] is the element's own number of node i.
static void list_element_nodes(const RitzMeshShape *shape, const Kind *kind, int place, int64_t p,
                               int64_t *nodes) {
  int64_t at[3] = {0, 0, 0}, to[3], num = 0;

  do {
    turn(shape, kind->turned[place], p, at, to);
    nodes[num++] = ritz_mesh_lattice_index(shape->topology, p, to);
  } while (next_point(shape->topology, p, at));
}

// The same of the facet alone.
static void list_trace_nodes(const RitzMeshShape *shape, const Kind *kind, int place, int64_t p,
                             int64_t *nodes) {
  const bool swaps = is_swapped(shape, kind, place);
  int64_t at[3] = {0, 0, 0}, to[3], num = 0;

  do {
    int64_t shares[3] = {0, at[0], at[1]}, in[3];
    if (shape->dim == 2 && swaps) shares[1] = p - at[0];
    if (shape->dim == 3 && swaps) shares[1] = at[1], shares[2] = at[0];
    ritz_mesh_lattice_point(shape, p, kind->corners, shape->dim, shares, in);
    turn(shape, kind->turned[place], p, in, to);
    nodes[num++] = ritz_mesh_lattice_index(shape->topology, p, to);
  } while (next_point(kind->shape, p, at));
}

// ---- The object ----

typedef struct {
  int mesh_block;
  const RitzMeshShape *shape;
  const Kind *kind;
  int64_t first, num; // in the lists
} FacetBlock;

struct RitzFacets_private {
  const RitzClass *class;
  Ceed ceed;     // borrowed: lives in mesh
  RitzMesh mesh; // counted
  CeedInt num_blocks;
  FacetBlock blocks[MAX_KINDS * RITZ_MESH_MAX_BLOCKS];
  int64_t *elements; // owned, block by block
  int8_t *numbers;   // owned, likewise
};

// Appends the facets of a kind of a block of the mesh.
static void add_block(RitzFacets f, int mesh_block, const Kind *kind, int64_t num, const int64_t *elements,
                      const int8_t *numbers) {
  const RitzMeshBlock *b = &f->mesh->blocks[mesh_block];
  const FacetBlock *before = f->num_blocks ? &f->blocks[f->num_blocks - 1] : NULL;
  FacetBlock block = {mesh_block, ritz_mesh_shape(b->topology), kind,
                      before ? before->first + before->num : 0, 0};

  for (int64_t i = 0; i < num; i++) {
    if (elements[i] < b->first || elements[i] >= b->first + b->num_elem || place_of(kind, numbers[i]) < 0)
      continue;
    f->elements[block.first + block.num] = elements[i];
    f->numbers[block.first + block.num++] = numbers[i];
  }
  if (block.num > 0) f->blocks[f->num_blocks++] = block;
}

static int fill_blocks(RitzFacets f, int64_t num, const int64_t *elements, const int8_t *numbers) {
  RITZ_TRY(RITZ_MALLOC(f->ceed, (size_t)num, &f->elements));
  RITZ_TRY(RITZ_MALLOC(f->ceed, (size_t)num, &f->numbers));
  for (int b = 0; b < f->mesh->num_blocks; b++) {
    const ShapeKinds *kinds = kinds_of(f->mesh->blocks[b].topology);
    for (int k = 0; k < kinds->num_kinds; k++) add_block(f, b, &kinds->kinds[k], num, elements, numbers);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzFacetsCreate(RitzMesh mesh, const char *name, RitzFacets *facets) {
  int64_t num = 0, *elements = NULL;
  int8_t *numbers = NULL;
  RitzFacets f = NULL;
  int ierr;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, name);
  RITZ_ARGUMENT(mesh, facets);
  *facets = NULL;
  RITZ_TRY_CLEANUP(RitzMeshGetBoundaryPart(mesh, name, &num, &elements, &numbers));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(mesh->ceed, 1, &f));
  f->class = &ritz_facets_class;
  f->ceed = mesh->ceed;
  RITZ_TRY_CLEANUP(RitzMeshReferenceCopy(mesh, &f->mesh));
  RITZ_TRY_CLEANUP(fill_blocks(f, num, elements, numbers));
cleanup:
  free(elements);
  free(numbers);
  if (ierr) RitzFacetsDestroy(&f);
  *facets = f;
  return ierr;
}

int RitzFacetsDestroy(RitzFacets *facets) {
  if (!facets || !*facets) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "facets", *facets, &ritz_facets_class));
  RitzFacets f = *facets;

  *facets = NULL;
  RITZ_FREE(&f->elements);
  RITZ_FREE(&f->numbers);
  RitzMesh mesh = f->mesh;
  RITZ_FREE(&f);
  return RitzMeshDestroy(&mesh);
}

int RitzFacetsGetNumBlocks(RitzFacets facets, CeedInt *num_blocks) {
  RITZ_HANDLE(facets);
  RITZ_ARGUMENT(facets, num_blocks);
  *num_blocks = facets->num_blocks;
  return CEED_ERROR_SUCCESS;
}

static int check_facet_block(RitzFacets facets, CeedInt block, const char *call) {
  RITZ_REQUIRE(block >= 0 && block < facets->num_blocks, facets->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no block %" CeedInt_FMT ", there are %" CeedInt_FMT, call, block,
               facets->num_blocks);
  return CEED_ERROR_SUCCESS;
}

int RitzFacetsGetBlock(RitzFacets facets, CeedInt block, CeedElemTopology *element, CeedElemTopology *facet,
                       int64_t *num, const int64_t **elements, const int8_t **numbers) {
  RITZ_HANDLE(facets);
  RITZ_TRY(check_facet_block(facets, block, __func__));
  const FacetBlock *b = &facets->blocks[block];

  if (element) *element = b->shape->topology;
  if (facet) *facet = b->kind->shape;
  if (num) *num = b->num;
  if (elements) *elements = facets->elements + b->first;
  if (numbers) *numbers = facets->numbers + b->first;
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes ----

// Nodes of degree p of the facets of a block: node i of a facet is number table[place][i] of its element.
typedef struct {
  int64_t num;
  int64_t *table; // owned, [kind->num][num]
} FacetNodes;

static int check_nodes(RitzFacets facets, const FacetBlock *b, RitzFacetNodes nodes, const char *call) {
  RITZ_REQUIRE(nodes == RITZ_FACET_ELEMENT || nodes == RITZ_FACET_TRACE, facets->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no sort of nodes", call, (int)nodes);
  RITZ_REQUIRE(nodes == RITZ_FACET_ELEMENT || b->shape->dim > 1, facets->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: facets of lines have no RITZ_FACET_TRACE, needed RITZ_FACET_ELEMENT", call);
  return CEED_ERROR_SUCCESS;
}

static int create_nodes(Ceed ceed, const FacetBlock *b, RitzFacetNodes which, CeedInt degree,
                        FacetNodes *nodes) {
  const bool is_trace = which == RITZ_FACET_TRACE;

  nodes->num = ritz_mesh_num_nodes(is_trace ? b->kind->shape : b->shape->topology, degree);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(nodes->num * b->kind->num), &nodes->table));
  for (int i = 0; i < b->kind->num; i++)
    (is_trace ? list_trace_nodes : list_element_nodes)(b->shape, b->kind, i, degree,
                                                       nodes->table + i * nodes->num);
  return CEED_ERROR_SUCCESS;
}

static const int64_t *nodes_of_facet(RitzFacets facets, const FacetBlock *b, const FacetNodes *nodes,
                                     int64_t i) {
  return nodes->table + place_of(b->kind, facets->numbers[b->first + i]) * nodes->num;
}

static int64_t element_of_facet(RitzFacets facets, const FacetBlock *b, int64_t i) {
  return facets->elements[b->first + i] - facets->mesh->blocks[b->mesh_block].first;
}

// offsets [facet][node]; scratch: nodes of an element.
static void fill_facet_offsets(RitzFacets facets, const FacetBlock *b, RitzSpace space, CeedInt num_comp,
                               const FacetNodes *nodes, int64_t *scratch, CeedInt *offsets) {
  for (int64_t i = 0; i < b->num; i++) {
    const int64_t *of_element =
        ritz_space_nodes(space, b->mesh_block, element_of_facet(facets, b, i), scratch);
    const int64_t *of_facet = nodes_of_facet(facets, b, nodes, i);

    for (int64_t n = 0; n < nodes->num; n++) *offsets++ = (CeedInt)(of_element[of_facet[n]] * num_comp);
  }
}

static int create_restriction(RitzFacets facets, const FacetBlock *b, const FacetNodes *nodes,
                              RitzSpace space, Ceed ceed, CeedElemRestriction *rstr) {
  int64_t *scratch = NULL, num_nodes = 0;
  CeedInt *offsets = NULL, nc = 1, degree = 1;

  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &nc));
  RITZ_TRY(RitzSpaceGetNumNodes(space, &num_nodes));
  RITZ_REQUIRE(b->num <= INT32_MAX && nodes->num <= INT32_MAX / nc && num_nodes <= INT32_MAX / nc, ceed,
               CEED_ERROR_UNSUPPORTED,
               "RitzFacetsCreateRestriction: %lld facets, %lld nodes of %" CeedInt_FMT
               " components exceed the 32-bit offsets of a restriction",
               (long long)b->num, (long long)num_nodes, nc);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)ritz_mesh_num_nodes(b->shape->topology, degree), &scratch));
  int ierr = RITZ_MALLOC(ceed, (size_t)(b->num * nodes->num), &offsets);

  if (!ierr) {
    fill_facet_offsets(facets, b, space, nc, nodes, scratch, offsets);
    ierr = CeedElemRestrictionCreate(ceed, (CeedInt)b->num, (CeedInt)nodes->num, nc, 1, num_nodes * nc,
                                     CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  }
  RITZ_FREE(&scratch);
  RITZ_FREE(&offsets);
  return ierr;
}

int RitzFacetsCreateRestriction(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, RitzSpace space,
                                Ceed ceed, CeedElemRestriction *rstr) {
  FacetNodes of_facets = {0};
  RitzMesh mesh = NULL;
  CeedInt degree = 1;

  RITZ_HANDLE(facets, space, ceed);
  RITZ_ARGUMENT(facets, space);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  *rstr = NULL;
  RITZ_TRY(check_facet_block(facets, block, __func__));
  RITZ_TRY(check_nodes(facets, &facets->blocks[block], nodes, __func__));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  RITZ_REQUIRE(mesh == facets->mesh, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the facets", __func__);
  int ierr = create_nodes(ceed, &facets->blocks[block], nodes, degree, &of_facets);

  if (!ierr) ierr = create_restriction(facets, &facets->blocks[block], &of_facets, space, ceed, rstr);
  RITZ_FREE(&of_facets.table);
  return ierr;
}

// ---- Coordinates ----

static void fill_coordinates(RitzFacets facets, const FacetBlock *b, const FacetNodes *nodes, CeedScalar *x) {
  const RitzMeshBlock *block = &facets->mesh->blocks[b->mesh_block];
  const CeedInt space_dim = facets->mesh->space_dim;

  for (int64_t i = 0; i < b->num; i++) {
    const int64_t first = block->node_base + element_of_facet(facets, b, i) * block->num_nodes;
    const int64_t *of_facet = nodes_of_facet(facets, b, nodes, i);

    for (int64_t n = 0; n < nodes->num; n++) {
      for (CeedInt c = 0; c < space_dim; c++)
        *x++ = (CeedScalar)facets->mesh->coords[(first + of_facet[n]) * space_dim + c];
    }
  }
}

static int create_coordinates(RitzFacets facets, const FacetBlock *b, const FacetNodes *nodes, Ceed ceed,
                              CeedElemRestriction *rstr, CeedVector *x) {
  const CeedInt space_dim = facets->mesh->space_dim, num = (CeedInt)nodes->num;
  const CeedInt strides[3] = {space_dim, 1, num * space_dim};
  CeedScalar *values = NULL;

  RITZ_REQUIRE(b->num * nodes->num <= INT32_MAX / space_dim, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzFacetsCreateCoordinates: %lld facets of %lld nodes exceed what a restriction can address",
               (long long)b->num, (long long)nodes->num);
  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, (CeedInt)b->num, num, space_dim,
                                            (CeedSize)b->num * num * space_dim, strides, rstr));
  RITZ_TRY(CeedElemRestrictionCreateVector(*rstr, x, NULL));
  RITZ_TRY(CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &values));
  fill_coordinates(facets, b, nodes, values);
  return CeedVectorRestoreArray(*x, &values);
}

int RitzFacetsCreateCoordinates(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                CeedElemRestriction *rstr, CeedVector *x) {
  FacetNodes of_facets = {0};

  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  RITZ_ARGUMENT(facets, x);
  *rstr = NULL;
  *x = NULL;
  RITZ_TRY(check_facet_block(facets, block, __func__));
  RITZ_TRY(check_nodes(facets, &facets->blocks[block], nodes, __func__));
  int ierr = create_nodes(ceed, &facets->blocks[block], nodes, facets->mesh->order, &of_facets);

  if (!ierr) ierr = create_coordinates(facets, &facets->blocks[block], &of_facets, ceed, rstr, x);
  RITZ_FREE(&of_facets.table);
  if (ierr) CeedElemRestrictionDestroy(rstr);
  if (ierr) CeedVectorDestroy(x);
  return ierr;
}

// ---- Bases ----

// Where the corners of a shape lie.
static void corner_position(const RitzMeshShape *shape, int corner, double x[3]) {
  const bool is_apex = shape->topology == CEED_TOPOLOGY_PYRAMID && corner == 4;

  for (int d = 0; d < 3; d++) x[d] = is_apex ? d == 2 : 2.0 * shape->corner_at[corner][d] - 1;
}

// Columns of frame [d][k]: the directions a, b, c of a block in the reference element; origin: where a = b =
// 0 on the facet.
static void find_frame(const FacetBlock *b, double origin[3], double frame[3][3]) {
  const int num = b->shape->dim - 1;
  double from[3], to[3];

  corner_position(b->shape, b->kind->corners[0], from);
  for (int d = 0; d < 3; d++) origin[d] = from[d];
  for (int k = 0; k < num; k++) {
    corner_position(b->shape, b->kind->corners[k + 1], to);
    for (int d = 0; d < 3; d++) frame[d][k] = (to[d] - from[d]) / 2, origin[d] += frame[d][k];
  }
  corner_position(b->shape, 4, to); // the apex of a pyramid
  for (int d = 0; d < 3; d++)
    frame[d][num] = b->kind->across == TO_APEX ? (to[d] - from[d]) / 2 : d == b->kind->across;
}

// Quadrature on the facet, in (a, b), and in the reference element.
typedef struct {
  int num;
  double *on_facet, *in_element, *weights; // owned together: [num][dim - 1], [num][dim], [num]
} FacetPoints;

static int create_points(Ceed ceed, const FacetBlock *b, int quad_degree, const double origin[3],
                         double frame[3][3], FacetPoints *points) {
  const int dim = b->shape->dim;

  points->num = 1;
  if (dim > 1)
    RITZ_TRY(ritz_fe_shape_quadrature(ceed, b->kind->shape, quad_degree, &points->num, NULL, NULL));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)points->num * (size_t)(2 * dim), &points->on_facet));
  points->in_element = points->on_facet + points->num * (dim - 1);
  points->weights = points->in_element + points->num * dim;
  points->weights[0] = 1;
  if (dim > 1)
    RITZ_TRY(ritz_fe_shape_quadrature(ceed, b->kind->shape, quad_degree, &points->num, points->on_facet,
                                      points->weights));
  for (int q = 0; q < points->num; q++) {
    for (int d = 0; d < dim; d++) {
      double *x = &points->in_element[q * dim + d];
      *x = origin[d];
      for (int k = 0; k + 1 < dim; k++) *x += frame[d][k] * points->on_facet[q * (dim - 1) + k];
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Tables of an element basis: interp [Q][P], grad [dim][Q][P] in (a, b, c), points [dim][Q], weights [Q];
// from: values and gradients in the reference element.
static void fill_tables(int dim, size_t P, double frame[3][3], const FacetPoints *points, const double *from,
                        CeedScalar *tables) {
  const size_t Q = (size_t)points->num, size = Q * P;
  CeedScalar *grad = tables + size, *x = grad + (size_t)dim * size, *weights = x + (size_t)dim * Q;

  for (size_t i = 0; i < size; i++) {
    tables[i] = (CeedScalar)from[i];
    for (int k = 0; k < dim; k++) {
      double sum = 0;
      for (int d = 0; d < dim; d++) sum += frame[d][k] * from[((size_t)d + 1) * size + i];
      grad[(size_t)k * size + i] = (CeedScalar)sum;
    }
  }
  for (size_t q = 0; q < Q; q++) {
    weights[q] = (CeedScalar)points->weights[q];
    for (int d = 0; d < dim; d++)
      x[(size_t)d * Q + q] = (CeedScalar)points->in_element[q * (size_t)dim + (size_t)d];
  }
}

static int create_element_basis(Ceed ceed, const FacetBlock *b, CeedInt num_comp, CeedInt degree,
                                CeedInt quad_degree, CeedBasis *basis) {
  const int dim = b->shape->dim, P = ritz_fe_shape_num_nodes(b->shape->topology, degree);
  double origin[3], frame[3][3], *from = NULL;
  FacetPoints points = {0};
  CeedScalar *tables = NULL;
  int ierr;

  find_frame(b, origin, frame);
  RITZ_TRY_CLEANUP(create_points(ceed, b, quad_degree, origin, frame, &points));
  const size_t Q = (size_t)points.num, size = Q * (size_t)P;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(dim + 1) * size, &from));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)(dim + 1) * (size + Q), &tables));
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(ceed, b->shape->topology, degree, points.num, points.in_element,
                                          from, from + size));
  fill_tables(dim, (size_t)P, frame, &points, from, tables);
  CeedScalar *x = tables + (size_t)(dim + 1) * size;
  ierr = CeedBasisCreateH1(ceed, b->shape->topology, num_comp, P, points.num, tables, tables + size, x,
                           x + (size_t)dim * Q, basis);
cleanup:
  RITZ_FREE(&points.on_facet);
  RITZ_FREE(&from);
  RITZ_FREE(&tables);
  return ierr;
}

int RitzFacetsCreateBasis(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed, CeedInt num_comp,
                          CeedInt degree, CeedInt quad_degree, CeedBasis *basis) {
  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, basis);
  *basis = NULL;
  RITZ_TRY(check_facet_block(facets, block, __func__));
  const FacetBlock *b = &facets->blocks[block];

  RITZ_TRY(check_nodes(facets, b, nodes, __func__));
  RITZ_REQUIRE(degree >= 1 && num_comp >= 1 && quad_degree >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: degree %" CeedInt_FMT ", %" CeedInt_FMT " components, degree of quadrature %" CeedInt_FMT
               ", needed at least 1, 1 and 0",
               __func__, degree, num_comp, quad_degree);
  if (nodes == RITZ_FACET_TRACE)
    return RitzBasisCreateLagrange(ceed, b->kind->shape, num_comp, degree, quad_degree, basis);
  return create_element_basis(ceed, b, num_comp, degree, quad_degree, basis);
}
