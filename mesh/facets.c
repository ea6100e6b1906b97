// SPDX-License-Identifier: BSD-2-Clause
// Facets (ritz/facet.h): the object, blocks of boundary parts, restrictions, bases and coordinates of both
// sides. Leaves interior facets to mesh/interior-facets.c, turned elements to mesh/facet-turns.c, operators
// to geometry/.
#include "mesh/facets.h"
#include "mesh/product.h"

#include <ritz/basis.h>
#include <stdlib.h>

#include "fe/fe.h"

const RitzClass ritz_facets_class = {.name = "RitzFacets"};

// ---- The object ----

int ritz_facets_create(RitzMesh mesh, int num_sides, RitzFacets *facets) {
  RitzFacets f = NULL;

  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &f));
  f->class = &ritz_facets_class;
  f->ceed = mesh->ceed;
  f->num_sides = num_sides;
  *facets = f;
  return RitzMeshReferenceCopy(mesh, &f->mesh);
}

int ritz_facets_allocate(RitzFacets f, int64_t num) {
  for (int side = 0; side < f->num_sides; side++) {
    RITZ_TRY(RITZ_MALLOC(f->ceed, (size_t)num, &f->elements[side]));
    RITZ_TRY(RITZ_MALLOC(f->ceed, (size_t)num, &f->numbers[side]));
  }
  return f->num_sides > 1 ? RITZ_MALLOC(f->ceed, (size_t)num, &f->orientations) : CEED_ERROR_SUCCESS;
}

// Appends the facets of a kind of a block of the mesh.
static void add_block(RitzFacets f, int mesh_block, const RitzFacetKind *kind, int64_t num,
                      const int64_t *elements, const int8_t *numbers) {
  const RitzMeshBlock *b = &f->mesh->blocks[mesh_block];
  const RitzFacetBlock *before = f->num_blocks ? &f->blocks[f->num_blocks - 1] : NULL;
  RitzFacetBlock block = {.sides = {ritz_facet_side(mesh_block, ritz_mesh_shape(b->topology), kind, 0)},
                          .first = before ? before->first + before->num : 0};

  for (int64_t i = 0; i < num; i++) {
    if (elements[i] < b->first || elements[i] >= b->first + b->num_elem ||
        ritz_facet_place(kind, numbers[i]) < 0)
      continue;
    f->elements[0][block.first + block.num] = elements[i];
    f->numbers[0][block.first + block.num++] = numbers[i];
  }
  if (block.num > 0) f->blocks[f->num_blocks++] = block;
}

static int fill_blocks(RitzFacets f, int64_t num, const int64_t *elements, const int8_t *numbers) {
  RITZ_TRY(ritz_facets_allocate(f, num));
  for (int b = 0; b < f->mesh->num_blocks; b++) {
    const RitzFacetKinds *kinds = ritz_facet_kinds(f->mesh->blocks[b].topology);
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
  RITZ_TRY_CLEANUP(ritz_facets_create(mesh, 1, &f));
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
  for (int side = 0; side < RITZ_FACET_SIDES; side++) {
    RITZ_FREE(&f->elements[side]);
    RITZ_FREE(&f->numbers[side]);
  }
  RITZ_FREE(&f->orientations);
  const int destroyed = CeedVectorDestroy(&f->x);
  RitzMesh mesh = f->mesh;
  RITZ_FREE(&f);
  return ritz_first_error(destroyed, RitzMeshDestroy(&mesh));
}

int RitzFacetsGetNumBlocks(RitzFacets facets, CeedInt *num_blocks) {
  RITZ_HANDLE(facets);
  RITZ_ARGUMENT(facets, num_blocks);
  *num_blocks = facets->num_blocks;
  return CEED_ERROR_SUCCESS;
}

static int check_facet_side(RitzFacets facets, CeedInt block, CeedInt side, const char *call) {
  RITZ_REQUIRE(block >= 0 && block < facets->num_blocks, facets->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no block %" CeedInt_FMT ", there are %" CeedInt_FMT, call, block,
               facets->num_blocks);
  RITZ_REQUIRE(side >= 0 && side < facets->num_sides, facets->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no side %" CeedInt_FMT ", these facets have %d", call, side, facets->num_sides);
  return CEED_ERROR_SUCCESS;
}

static void get_side(RitzFacets facets, CeedInt block, CeedInt side, CeedElemTopology *element,
                     CeedElemTopology *facet, int64_t *num, const int64_t **elements,
                     const int8_t **numbers) {
  const RitzFacetBlock *b = &facets->blocks[block];

  if (element) *element = b->sides[side].shape->topology;
  if (facet) *facet = b->sides[side].kind->shape;
  if (num) *num = b->num;
  if (elements) *elements = facets->elements[side] + b->first;
  if (numbers) *numbers = facets->numbers[side] + b->first;
}

int RitzFacetsGetBlock(RitzFacets facets, CeedInt block, CeedElemTopology *element, CeedElemTopology *facet,
                       int64_t *num, const int64_t **elements, const int8_t **numbers) {
  RITZ_HANDLE(facets);
  RITZ_TRY(check_facet_side(facets, block, 0, __func__));
  get_side(facets, block, 0, element, facet, num, elements, numbers);
  return CEED_ERROR_SUCCESS;
}

int RitzFacetsGetSide(RitzFacets facets, CeedInt block, CeedInt side, CeedElemTopology *element,
                      const int64_t **elements, const int8_t **numbers) {
  RITZ_HANDLE(facets);
  RITZ_TRY(check_facet_side(facets, block, side, __func__));
  get_side(facets, block, side, element, NULL, NULL, elements, numbers);
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes ----

// One side of a block, and its nodes of some degree: node i of a facet is number table[place][orientation][i]
// of its element.
typedef struct {
  RitzFacets facets; // borrowed
  const RitzFacetBlock *block;
  const RitzFacetSide *of;
  CeedInt side;
  int num_orientations;
  int64_t num;    // nodes of a facet
  int64_t *table; // owned, [places][num_orientations][num]
} FacetNodes;

static int check_nodes(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, const char *call) {
  RITZ_REQUIRE(nodes == RITZ_FACET_ELEMENT || nodes == RITZ_FACET_TRACE, facets->ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no sort of nodes", call, (int)nodes);
  RITZ_REQUIRE(nodes == RITZ_FACET_ELEMENT || facets->blocks[block].sides[0].shape->dim > 1, facets->ceed,
               CEED_ERROR_UNSUPPORTED,
               "%s: facets of lines have no RITZ_FACET_TRACE, needed RITZ_FACET_ELEMENT", call);
  return CEED_ERROR_SUCCESS;
}

static int create_nodes(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes which, CeedInt degree,
                        FacetNodes *n) {
  const bool is_trace = which == RITZ_FACET_TRACE;
  const RitzFacetSide *of = &facets->blocks[block].sides[side];
  const RitzFacetKind *kind = of->kind;

  *n = (FacetNodes){.facets = facets, .block = &facets->blocks[block], .of = of, .side = side};
  n->num_orientations = side ? ritz_facet_num_orientations(kind) : 1;
  n->num = ritz_mesh_num_nodes(is_trace ? kind->shape : of->shape->topology, degree);
  RITZ_TRY(RITZ_CALLOC(facets->ceed, (size_t)(n->num * kind->num * n->num_orientations), &n->table));
  for (int i = 0; i < kind->num * n->num_orientations; i++)
    (is_trace ? ritz_facet_trace_nodes : ritz_facet_element_nodes)(
        of, i / n->num_orientations, i % n->num_orientations, degree, n->table + i * n->num);
  return CEED_ERROR_SUCCESS;
}

static const int64_t *nodes_of_facet(const FacetNodes *n, int64_t i) {
  const int64_t k = n->block->first + i;
  const int place = ritz_facet_place(n->of->kind, n->facets->numbers[n->side][k]);

  return n->table + (place * n->num_orientations + (n->side ? n->facets->orientations[k] : 0)) * n->num;
}

static int64_t element_of_facet(const FacetNodes *n, int64_t i) {
  return n->facets->elements[n->side][n->block->first + i] - n->facets->mesh->blocks[n->of->mesh_block].first;
}

// offsets [facet][node]; scratch: nodes of an element.
static void fill_facet_offsets(const FacetNodes *n, RitzSpace space, const RitzPlace *place, CeedInt num_comp,
                               int64_t *scratch, CeedInt *offsets) {
  for (int64_t i = 0; i < n->block->num; i++) {
    const int64_t *of_element = ritz_space_nodes(space, n->of->mesh_block, element_of_facet(n, i), scratch);
    const int64_t *of_facet = nodes_of_facet(n, i);

    for (int64_t k = 0; k < n->num; k++)
      *offsets++ = (CeedInt)ritz_place_of(place, of_element[of_facet[k]] * num_comp);
  }
}

static int check_offsets(Ceed ceed, const char *call, const FacetNodes *n, int64_t length, CeedInt num_comp) {
  RITZ_REQUIRE(n->block->num <= INT32_MAX && n->num <= INT32_MAX / num_comp &&
                   length - 1 <= (int64_t)INT32_MAX,
               ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld facets, an L-vector of %lld entries exceed the 32-bit offsets of a restriction",
               call, (long long)n->block->num, (long long)length);
  return CEED_ERROR_SUCCESS;
}

static int create_restriction(const FacetNodes *n, const char *call, const RitzMember *member, CeedInt degree,
                              Ceed ceed, CeedElemRestriction *rstr) {
  const RitzPlace place = ritz_member_place(member);
  int64_t *scratch = NULL;
  CeedInt *offsets = NULL, nc = 1;

  RITZ_TRY(RitzSpaceGetNumComponents(member->space, &nc));
  RITZ_TRY(check_offsets(ceed, call, n, place.length, nc));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)ritz_mesh_num_nodes(n->of->shape->topology, degree), &scratch));
  int ierr = RITZ_MALLOC(ceed, (size_t)(n->block->num * n->num), &offsets);

  if (!ierr) {
    fill_facet_offsets(n, member->space, &place, nc, scratch, offsets);
    ierr = CeedElemRestrictionCreate(ceed, (CeedInt)n->block->num, (CeedInt)n->num, nc, 1, place.length,
                                     CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  }
  RITZ_FREE(&scratch);
  RITZ_FREE(&offsets);
  return ierr;
}

static int create_side_restriction(const char *call, RitzFacets facets, CeedInt block, CeedInt side,
                                   RitzFacetNodes nodes, const RitzMember *member, Ceed ceed,
                                   CeedElemRestriction *rstr) {
  FacetNodes of_facets = {.table = NULL};
  RitzMesh mesh = NULL;
  CeedInt degree = 1;

  RITZ_TRY(check_facet_side(facets, block, side, call));
  RITZ_TRY(check_nodes(facets, block, nodes, call));
  RITZ_TRY(RitzSpaceGetMesh(member->space, &mesh));
  RITZ_TRY(RitzSpaceGetDegree(member->space, &degree));
  RITZ_REQUIRE(mesh == facets->mesh, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the facets", call);
  int ierr = create_nodes(facets, block, side, nodes, degree, &of_facets);

  if (!ierr) ierr = create_restriction(&of_facets, call, member, degree, ceed, rstr);
  RITZ_FREE(&of_facets.table);
  return ierr;
}

int RitzFacetsCreateRestriction(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, RitzSpace space,
                                Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_HANDLE(facets, space, ceed);
  RITZ_ARGUMENT(facets, space);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  *rstr = NULL;
  return create_side_restriction(__func__, facets, block, 0, nodes, &(RitzMember){.space = space}, ceed,
                                 rstr);
}

int RitzFacetsCreateSideRestriction(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes nodes,
                                    RitzSpace space, Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_HANDLE(facets, space, ceed);
  RITZ_ARGUMENT(facets, space);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  *rstr = NULL;
  return create_side_restriction(__func__, facets, block, side, nodes, &(RitzMember){.space = space}, ceed,
                                 rstr);
}

int RitzFacetsCreateProductRestriction(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes nodes,
                                       RitzProductSpace product, CeedInt i, Ceed ceed,
                                       CeedElemRestriction *rstr) {
  RitzMember member = {.product = product, .index = i};

  RITZ_HANDLE(facets, product, ceed);
  RITZ_ARGUMENT(facets, product);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  *rstr = NULL;
  RITZ_TRY(RitzProductSpaceGetSpace(product, i, &member.space));
  return create_side_restriction(__func__, facets, block, side, nodes, &member, ceed, rstr);
}

// ---- Coordinates ----

// The first geometry node of the element of a facet.
static int64_t first_point(const FacetNodes *n, int64_t i) {
  const RitzMeshBlock *block = &n->facets->mesh->blocks[n->of->mesh_block];

  return block->node_base + element_of_facet(n, i) * block->num_nodes;
}

static void fill_coordinates(const FacetNodes *n, CeedScalar *x) {
  const RitzMesh mesh = n->facets->mesh;

  for (int64_t i = 0; i < n->block->num; i++) {
    const double *of_element = mesh->coords + first_point(n, i) * mesh->space_dim;
    const int64_t *of_facet = nodes_of_facet(n, i);

    for (int64_t k = 0; k < n->num; k++) {
      for (CeedInt c = 0; c < mesh->space_dim; c++)
        *x++ = (CeedScalar)of_element[of_facet[k] * mesh->space_dim + c];
    }
  }
}

// Of boundary facets, which are few: each facet has its own.
static int create_own_coordinates(const FacetNodes *n, const char *call, Ceed ceed, CeedElemRestriction *rstr,
                                  CeedVector *x) {
  const CeedInt space_dim = n->facets->mesh->space_dim, num = (CeedInt)n->num;
  const CeedInt strides[3] = {space_dim, 1, num * space_dim};
  CeedScalar *values = NULL;

  RITZ_REQUIRE(n->block->num * n->num <= INT32_MAX / space_dim, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld facets of %lld nodes exceed what a restriction can address", call,
               (long long)n->block->num, (long long)n->num);
  RITZ_TRY(CeedElemRestrictionCreateStrided(ceed, (CeedInt)n->block->num, num, space_dim,
                                            (CeedSize)n->block->num * num * space_dim, strides, rstr));
  RITZ_TRY(CeedElemRestrictionCreateVector(*rstr, x, NULL));
  RITZ_TRY(CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &values));
  fill_coordinates(n, values);
  return CeedVectorRestoreArray(*x, &values);
}

// The coordinates of all elements, made once.
static int require_element_coordinates(RitzFacets f, Ceed ceed) {
  const CeedSize size = f->mesh->num_points * f->mesh->space_dim;
  CeedScalar *values = NULL;

  if (f->x && CeedVectorReturnCeed(f->x) == ceed) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorDestroy(&f->x));
  RITZ_TRY(CeedVectorCreate(ceed, size, &f->x));
  int ierr = CeedVectorGetArrayWrite(f->x, CEED_MEM_HOST, &values);

  for (CeedSize i = 0; i < size && !ierr; i++) values[i] = (CeedScalar)f->mesh->coords[i];
  if (!ierr) ierr = CeedVectorRestoreArray(f->x, &values);
  if (ierr) CeedVectorDestroy(&f->x);
  return ierr;
}

// Of interior facets: those of their elements, which have many facets.
static int create_shared_coordinates(const FacetNodes *n, const char *call, Ceed ceed,
                                     CeedElemRestriction *rstr, CeedVector *x) {
  const RitzMesh mesh = n->facets->mesh;
  CeedInt *offsets = NULL;

  RITZ_TRY(check_offsets(ceed, call, n, mesh->num_points * mesh->space_dim, mesh->space_dim));
  RITZ_TRY(require_element_coordinates(n->facets, ceed));
  RITZ_TRY(CeedVectorReferenceCopy(n->facets->x, x));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(n->block->num * n->num), &offsets));
  for (int64_t i = 0; i < n->block->num; i++) {
    const int64_t *of_facet = nodes_of_facet(n, i);

    for (int64_t k = 0; k < n->num; k++)
      offsets[i * n->num + k] = (CeedInt)((first_point(n, i) + of_facet[k]) * mesh->space_dim);
  }
  const int ierr = CeedElemRestrictionCreate(ceed, (CeedInt)n->block->num, (CeedInt)n->num, mesh->space_dim,
                                             1, mesh->num_points * mesh->space_dim, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, rstr);

  RITZ_FREE(&offsets);
  return ierr;
}

static int create_side_coordinates(const char *call, RitzFacets facets, CeedInt block, CeedInt side,
                                   RitzFacetNodes nodes, Ceed ceed, CeedElemRestriction *rstr,
                                   CeedVector *x) {
  FacetNodes of_facets = {.table = NULL};

  *rstr = NULL;
  *x = NULL;
  RITZ_TRY(check_facet_side(facets, block, side, call));
  RITZ_TRY(check_nodes(facets, block, nodes, call));
  int ierr = create_nodes(facets, block, side, nodes, facets->mesh->order, &of_facets);

  if (!ierr)
    ierr = (facets->num_sides == 1 ? create_own_coordinates : create_shared_coordinates)(&of_facets, call,
                                                                                         ceed, rstr, x);
  RITZ_FREE(&of_facets.table);
  if (ierr) CeedElemRestrictionDestroy(rstr);
  if (ierr) CeedVectorDestroy(x);
  return ierr;
}

int RitzFacetsCreateCoordinates(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed,
                                CeedElemRestriction *rstr, CeedVector *x) {
  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  RITZ_ARGUMENT(facets, x);
  return create_side_coordinates(__func__, facets, block, 0, nodes, ceed, rstr, x);
}

int RitzFacetsCreateSideCoordinates(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes nodes,
                                    Ceed ceed, CeedElemRestriction *rstr, CeedVector *x) {
  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, rstr);
  RITZ_ARGUMENT(facets, x);
  return create_side_coordinates(__func__, facets, block, side, nodes, ceed, rstr, x);
}

// ---- Bases ----

// Where the corners of a shape lie.
static void corner_position(const RitzMeshShape *shape, int corner, double x[3]) {
  const bool is_apex = shape->topology == CEED_TOPOLOGY_PYRAMID && corner == 4;

  for (int d = 0; d < 3; d++) x[d] = is_apex ? d == 2 : 2.0 * shape->corner_at[corner][d] - 1;
}

// Columns of frame [d][k]: the directions a, b, c of a block in the reference element; origin: where a = b =
// 0 on the facet.
static void find_frame(const RitzFacetSide *b, double origin[3], double frame[3][3]) {
  const int num = b->shape->dim - 1;
  double from[3], to[3];

  corner_position(b->shape, b->corners[0], from);
  for (int d = 0; d < 3; d++) origin[d] = from[d];
  for (int k = 0; k < num; k++) {
    corner_position(b->shape, b->corners[k + 1], to);
    for (int d = 0; d < 3; d++) frame[d][k] = (to[d] - from[d]) / 2, origin[d] += frame[d][k];
  }
  corner_position(b->shape, 4, to); // the apex of a pyramid
  for (int d = 0; d < 3; d++)
    frame[d][num] = b->kind->across == RITZ_FACET_TO_APEX ? (to[d] - from[d]) / 2 : d == b->kind->across;
}

// Quadrature on the facet, in (a, b), and in the reference element.
typedef struct {
  int num;
  double *on_facet, *in_element, *weights; // owned together: [num][dim - 1], [num][dim], [num]
} FacetPoints;

static int create_points(Ceed ceed, const RitzFacetSide *b, int quad_degree, const double origin[3],
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

static int create_element_basis(Ceed ceed, const RitzFacetSide *b, CeedInt num_comp, CeedInt degree,
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

static int create_side_basis(const char *call, RitzFacets facets, CeedInt block, CeedInt side,
                             RitzFacetNodes nodes, Ceed ceed, CeedInt num_comp, CeedInt degree,
                             CeedInt quad_degree, CeedBasis *basis) {
  RITZ_TRY(check_facet_side(facets, block, side, call));
  const RitzFacetSide *of = &facets->blocks[block].sides[side];

  RITZ_TRY(check_nodes(facets, block, nodes, call));
  RITZ_REQUIRE(degree >= 1 && num_comp >= 1 && quad_degree >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: degree %" CeedInt_FMT ", %" CeedInt_FMT " components, degree of quadrature %" CeedInt_FMT
               ", needed at least 1, 1 and 0",
               call, degree, num_comp, quad_degree);
  if (nodes == RITZ_FACET_TRACE)
    return RitzBasisCreateLagrange(ceed, of->kind->shape, num_comp, degree, quad_degree, basis);
  return create_element_basis(ceed, of, num_comp, degree, quad_degree, basis);
}

int RitzFacetsCreateBasis(RitzFacets facets, CeedInt block, RitzFacetNodes nodes, Ceed ceed, CeedInt num_comp,
                          CeedInt degree, CeedInt quad_degree, CeedBasis *basis) {
  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, basis);
  *basis = NULL;
  return create_side_basis(__func__, facets, block, 0, nodes, ceed, num_comp, degree, quad_degree, basis);
}

int RitzFacetsCreateSideBasis(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes nodes, Ceed ceed,
                              CeedInt num_comp, CeedInt degree, CeedInt quad_degree, CeedBasis *basis) {
  RITZ_HANDLE(facets, ceed);
  RITZ_ARGUMENT(facets, ceed);
  RITZ_ARGUMENT(facets, basis);
  *basis = NULL;
  return create_side_basis(__func__, facets, block, side, nodes, ceed, num_comp, degree, quad_degree, basis);
}
