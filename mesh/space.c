// SPDX-License-Identifier: BSD-2-Clause
// Continuous spaces: node numbers, restriction, node positions, nodes of boundary parts. Public functions;
// the numbering itself is in mesh/numbering.c.
#include <ritz/basis.h>
#include <stdlib.h>

#include "mesh/mesh.h"

const RitzClass ritz_space_class = {.name = "RitzSpace"};

struct RitzSpace_private {
  const RitzClass *class;
  int ref_count;
  RitzMesh mesh; // counted
  CeedInt degree, num_comp;
  int64_t num_local[RITZ_MESH_MAX_BLOCKS];                // nodes of an element of each block
  CeedElemRestriction restrictions[RITZ_MESH_MAX_BLOCKS]; // counted, made on request
  int64_t base[RITZ_MESH_MAX_BLOCKS];                     // where the nodes of each block begin
  int64_t num_nodes;
  int64_t *nodes; // owned, blocks one after the other, each [num_elem][num_local]
};

// The nodes of element e of a block, counted in the block.
static const int64_t *nodes_of(RitzSpace space, int block, int64_t e) {
  return space->nodes + space->base[block] + e * space->num_local[block];
}

// ---- Life ----

static int check_space_arguments(RitzMesh mesh, CeedInt degree, CeedInt num_comp) {
  RITZ_REQUIRE(degree >= 1 && degree < INT32_MAX, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceCreate: degree %" CeedInt_FMT ", needed at least 1", degree);
  RITZ_REQUIRE(num_comp >= 1, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceCreate: %" CeedInt_FMT " components, needed at least 1", num_comp);
  for (int b = 0; b < mesh->num_blocks; b++) {
    int64_t num_local = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
    int64_t num_bytes = ritz_mesh_product(5, (const int64_t[]){mesh->blocks[b].num_elem, num_local, num_comp,
                                                               sizeof(int64_t), mesh->num_blocks});

    RITZ_REQUIRE(num_bytes >= 0, mesh->ceed, CEED_ERROR_DIMENSION,
                 "RitzSpaceCreate: %lld elements of degree %" CeedInt_FMT " have too many nodes",
                 (long long)mesh->blocks[b].num_elem, degree);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceCreate(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space) {
  RitzSpace s = NULL;
  int64_t num_entries = 0;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_NOT_NULL(mesh);
  RITZ_NOT_NULL(space);
  *space = NULL;
  RITZ_TRY(check_space_arguments(mesh, degree, num_comp));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &s));
  s->class = &ritz_space_class;
  s->ref_count = 1;
  s->degree = degree;
  s->num_comp = num_comp;
  for (int b = 0; b < mesh->num_blocks; b++) {
    s->num_local[b] = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
    s->base[b] = num_entries;
    num_entries += mesh->blocks[b].num_elem * s->num_local[b];
  }
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)num_entries, &s->nodes));
  RITZ_TRY_CLEANUP(ritz_mesh_number_nodes(mesh, degree, &s->num_nodes, s->nodes));
  ierr = RitzMeshReferenceCopy(mesh, &s->mesh);

cleanup:
  if (ierr) RitzSpaceDestroy(&s);
  *space = s;
  return ierr;
}

int RitzSpaceDestroy(RitzSpace *space) {
  if (!space || !*space) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "space", *space, &ritz_space_class));
  RitzSpace s = *space;

  *space = NULL;
  if (--s->ref_count > 0) return CEED_ERROR_SUCCESS;
  RitzMesh mesh = s->mesh;
  int ierr = CEED_ERROR_SUCCESS;

  for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++) {
    const int destroyed = CeedElemRestrictionDestroy(&s->restrictions[b]);
    if (!ierr) ierr = destroyed;
  }
  RITZ_FREE(&s->nodes);
  RITZ_FREE(&s);
  const int destroyed = RitzMeshDestroy(&mesh);
  return ierr ? ierr : destroyed;
}

int RitzSpaceReferenceCopy(RitzSpace space, RitzSpace *copy) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(copy);
  space->ref_count++;
  int ierr = RitzSpaceDestroy(copy);

  if (ierr) {
    space->ref_count--;
    return ierr;
  }
  *copy = space;
  return CEED_ERROR_SUCCESS;
}

// ---- Queries ----

int RitzSpaceGetMesh(RitzSpace space, RitzMesh *mesh) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(mesh);
  *mesh = space->mesh;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetDegree(RitzSpace space, CeedInt *degree) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(degree);
  *degree = space->degree;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumComponents(RitzSpace space, CeedInt *num_comp) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num_comp);
  *num_comp = space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumNodes(RitzSpace space, int64_t *num_nodes) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num_nodes);
  *num_nodes = space->num_nodes;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetSize(RitzSpace space, CeedSize *l_size) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(l_size);
  *l_size = space->num_nodes * space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetElementNodes(RitzSpace space, const int64_t **nodes) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(nodes);
  RITZ_TRY(ritz_mesh_require_one_block(space->mesh, "RitzSpaceGetElementNodes", "RitzSpaceGetBlockNodes"));
  *nodes = space->nodes;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetBlockNodes(RitzSpace space, CeedInt block, CeedInt *num_nodes, const int64_t **nodes) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(nodes);
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceGetBlockNodes"));
  RITZ_REQUIRE(space->num_local[block] <= INT32_MAX, space->mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzSpaceGetBlockNodes: %lld nodes of an element exceed a CeedInt",
               (long long)space->num_local[block]);
  if (num_nodes) *num_nodes = (CeedInt)space->num_local[block];
  *nodes = nodes_of(space, block, 0);
  return CEED_ERROR_SUCCESS;
}

// ---- Restrictions and bases ----

int ritz_space_create_restriction(RitzSpace space, Ceed ceed, const char *call, int64_t num_elem,
                                  int64_t num_local, const int64_t *nodes, CeedElemRestriction *rstr) {
  const CeedInt num_comp = space->num_comp;
  bool fits = num_elem <= INT32_MAX && num_local <= INT32_MAX / num_comp &&
              (space->num_nodes - 1) <= (INT32_MAX - (num_comp - 1)) / num_comp;
  CeedInt *offsets;

  RITZ_REQUIRE(fits, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld elements, %lld nodes of %" CeedInt_FMT
               " components exceed the 32-bit offsets of a restriction",
               call, (long long)num_elem, (long long)space->num_nodes, num_comp);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_elem * num_local), &offsets));
  for (int64_t i = 0; i < num_elem * num_local; i++) offsets[i] = (CeedInt)(nodes[i] * num_comp);
  ritz_memory_give(offsets);
  int ierr =
      CeedElemRestrictionCreate(ceed, (CeedInt)num_elem, (CeedInt)num_local, num_comp, 1,
                                space->num_nodes * num_comp, CEED_MEM_HOST, CEED_OWN_POINTER, offsets, rstr);

  if (ierr) free(offsets);
  return ierr;
}

// The restriction of a block is made once and shared: its offsets are large, as is what backends derive from
// them.
static int create_block_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                    CeedElemRestriction *rstr) {
  CeedElemRestriction *kept = &space->restrictions[block];

  if (*kept && CeedElemRestrictionReturnCeed(*kept) != ceed) RITZ_TRY(CeedElemRestrictionDestroy(kept));
  if (!*kept) {
    RITZ_TRY(ritz_space_create_restriction(space, ceed, call, space->mesh->blocks[block].num_elem,
                                           space->num_local[block], nodes_of(space, block, 0), kept));
  }
  return CeedElemRestrictionReferenceCopy(*kept, rstr);
}

int RitzSpaceCreateRestriction(RitzSpace space, Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_NOT_NULL(space);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_NOT_NULL(rstr);
  *rstr = NULL;
  RITZ_TRY(ritz_mesh_require_one_block(space->mesh, "RitzSpaceCreateRestriction",
                                       "RitzSpaceCreateBlockRestriction"));
  return create_block_restriction(space, 0, ceed, "RitzSpaceCreateRestriction", rstr);
}

int RitzSpaceCreateBlockRestriction(RitzSpace space, CeedInt block, Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_NOT_NULL(space);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_NOT_NULL(rstr);
  *rstr = NULL;
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceCreateBlockRestriction"));
  return create_block_restriction(space, block, ceed, "RitzSpaceCreateBlockRestriction", rstr);
}

int RitzSpaceCreateBlockBasis(RitzSpace space, CeedInt block, Ceed ceed, CeedInt quad_degree,
                              CeedBasis *basis) {
  RITZ_NOT_NULL(space);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_NOT_NULL(basis);
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceCreateBlockBasis"));
  return RitzBasisCreateLagrange(ceed, space->mesh->blocks[block].topology, space->num_comp, space->degree,
                                 quad_degree, basis);
}

// ---- Node positions ----

static int fill_block_coordinates(RitzSpace space, int b, double *x) {
  const RitzMesh mesh = space->mesh;
  const RitzMeshBlock *block = &mesh->blocks[b];
  const CeedInt space_dim = mesh->space_dim;
  const double *from = mesh->coords + block->node_base * space_dim;
  RitzMeshInterpolation t;
  double *elem_x = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(
      ritz_mesh_interpolation_create(mesh->ceed, block->topology, space_dim, mesh->order, space->degree, &t));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)(space->num_local[b] * space_dim), &elem_x));
  for (int64_t e = 0; e < block->num_elem; e++, from += block->num_nodes * space_dim) {
    const int64_t *nodes = nodes_of(space, b, e);

    ritz_mesh_interpolation_apply(&t, from, elem_x);
    for (int64_t i = 0; i < space->num_local[b]; i++) {
      for (CeedInt c = 0; c < space_dim; c++) x[nodes[i] * space_dim + c] = elem_x[i * space_dim + c];
    }
  }

cleanup:
  RITZ_FREE(&elem_x);
  ritz_mesh_interpolation_clear(&t);
  return ierr;
}

int RitzSpaceGetNodeCoordinates(RitzSpace space, double *x) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(x);
  for (int b = 0; b < space->mesh->num_blocks; b++) RITZ_TRY(fill_block_coordinates(space, b, x));
  return CEED_ERROR_SUCCESS;
}

// ---- Boundary nodes ----

static void flag_facet(const RitzMeshParts *parts, const int8_t facet[4], const int64_t *nodes,
                       int8_t *flags) {
  for (int i = 0; i < parts->num; i++) {
    const RitzMeshPart *part = &parts->parts[i];

    if (!ritz_mesh_part_lies_on(part, facet)) continue;
    for (int64_t k = 0; k < part->num_nodes; k++) flags[nodes[part->nodes[k]]] = 1;
  }
}

// Flags the nodes of those facets that belong to elements of one block.
static int flag_block(RitzSpace space, int b, int64_t num, const int64_t *elements, const int8_t *facets,
                      int8_t *flags) {
  const RitzMeshBlock *block = &space->mesh->blocks[b];
  const RitzMeshEntities *entities = &ritz_mesh_shape(block->topology)->facets;
  RitzMeshParts parts;

  RITZ_TRY(ritz_mesh_parts_create(space->mesh->ceed, block->topology, space->degree, &parts));
  for (int64_t i = 0; i < num; i++) {
    int64_t e = elements[i] - block->first;

    if (e < 0 || e >= block->num_elem) continue;
    flag_facet(&parts, entities->corner[facets[i]], nodes_of(space, b, e), flags);
  }
  ritz_mesh_parts_clear(&parts);
  return CEED_ERROR_SUCCESS;
}

static int list_flagged(RitzSpace space, const int8_t *flags, int64_t *num, int64_t **nodes) {
  int64_t num_flagged = 0, next = 0;

  for (int64_t i = 0; i < space->num_nodes; i++) num_flagged += flags[i];
  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)num_flagged, nodes));
  for (int64_t i = 0; i < space->num_nodes; i++) {
    if (flags[i]) (*nodes)[next++] = i;
  }
  ritz_memory_give(*nodes);
  *num = num_flagged;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetBoundaryNodes(RitzSpace space, const char *name, int64_t *num, int64_t **nodes) {
  int64_t num_facets = 0, *elements = NULL, *found = NULL;
  int8_t *facets = NULL, *flags = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num);
  RITZ_NOT_NULL(nodes);
  RITZ_TRY(RitzMeshGetBoundaryPart(space->mesh, name, &num_facets, &elements, &facets));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(space->mesh->ceed, (size_t)space->num_nodes, &flags));
  for (int b = 0; b < space->mesh->num_blocks; b++) {
    RITZ_TRY_CLEANUP(flag_block(space, b, num_facets, elements, facets, flags));
  }
  RITZ_TRY_CLEANUP(list_flagged(space, flags, num, &found));
  *nodes = found;

cleanup:
  RITZ_FREE(&flags);
  free(facets);
  free(elements);
  return ierr;
}
