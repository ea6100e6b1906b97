// SPDX-License-Identifier: BSD-2-Clause
// Spaces: node numbers, restriction, node positions, nodes of boundary parts. Public functions; the
// continuous numbering itself is in mesh/numbering.c.
#include <math.h>
#include <ritz/basis.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

const RitzClass ritz_space_class = {.name = "RitzSpace"};

struct RitzSpace_private {
  const RitzClass *class;
  Ceed ceed; // borrowed: lives in mesh
  int ref_count;
  RitzMesh mesh; // counted
  CeedInt degree, num_comp;
  bool is_discontinuous;                                  // elements have their nodes one after the other
  int64_t num_local[RITZ_MESH_MAX_BLOCKS];                // nodes of an element of each block
  CeedElemRestriction restrictions[RITZ_MESH_MAX_BLOCKS]; // counted, made on request
  int64_t base[RITZ_MESH_MAX_BLOCKS];                     // where the nodes of each block begin
  int64_t num_nodes;
  // owned, blocks one after the other, each [num_elem][num_local]: `narrow` of meshes that are no boxes,
  // where 32 bits do, else, and in its place when somebody asks for them, `nodes`; neither on boxes and of
  // discontinuous spaces until then
  int64_t *nodes;
  int32_t *narrow;
  RitzHalo halo; // owned
};

// ---- Nodes ----

const int64_t *ritz_space_nodes(RitzSpace space, int block, int64_t e, int64_t *scratch) {
  const int64_t num_local = space->num_local[block], first = space->base[block] + e * num_local;

  if (space->nodes) return space->nodes + first;
  if (space->narrow)
    for (int64_t i = 0; i < num_local; i++) scratch[i] = space->narrow[first + i];
  else if (space->is_discontinuous)
    for (int64_t i = 0; i < num_local; i++) scratch[i] = first + i;
  else
    ritz_mesh_grid_nodes(space->mesh, space->degree, e, scratch);
  return scratch;
}

RitzKeptNodes ritz_space_kept_nodes(RitzSpace space, int block, int64_t e) {
  const int64_t first = space->base[block] + e * space->num_local[block];

  return (RitzKeptNodes){.wide = space->nodes ? space->nodes + first : NULL,
                         .narrow = space->narrow ? space->narrow + first : NULL};
}

int64_t ritz_space_num_local(RitzSpace space, int block) { return space->num_local[block]; }

// The first and the last node of an element whose nodes are not kept: the smallest one and the largest one.
static void find_node_range(RitzSpace space, int block, int64_t e, int64_t range[2]) {
  const int64_t num_local = space->num_local[block];

  if (!space->is_discontinuous) {
    ritz_mesh_grid_range(space->mesh, space->degree, e, range);
    return;
  }
  range[0] = space->base[block] + e * num_local;
  range[1] = range[0] + num_local - 1;
}

static void find_node_bounds(RitzSpace space, int block, int64_t first, int64_t count, int64_t *low,
                             int64_t *high) {
  const int64_t num_local = space->num_local[block];

  *low = INT64_MAX;
  *high = -1;
  for (int64_t e = first; e < first + count; e++) {
    const RitzKeptNodes nodes = ritz_space_kept_nodes(space, block, e);
    const bool is_kept = ritz_are_kept(&nodes);
    int64_t corners[2];

    if (!is_kept) find_node_range(space, block, e, corners);
    for (int64_t i = 0; i < (is_kept ? num_local : 2); i++) {
      const int64_t node = is_kept ? ritz_kept_node(&nodes, i) : corners[i];

      if (node < *low) *low = node;
      if (node > *high) *high = node;
    }
  }
}

static int64_t num_entries(RitzSpace space) {
  const int last = space->mesh->num_blocks - 1;

  return space->base[last] + space->mesh->blocks[last].num_elem * space->num_local[last];
}

static int number_space(RitzSpace space) {
  const int64_t num = num_entries(space);

  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)num, &space->nodes));
  for (int64_t i = 0; space->is_discontinuous && i < num; i++) space->nodes[i] = i;
  if (space->is_discontinuous) return CEED_ERROR_SUCCESS;
  const int ierr = ritz_mesh_number_nodes(space->mesh, space->degree, &space->num_nodes, space->nodes);
  if (ierr) RITZ_FREE(&space->nodes);
  return ierr;
}

static void narrow_range(void *data, int slot, int64_t first, int64_t count) {
  const RitzSpace space = data;

  (void)slot;
  for (int64_t i = first; i < first + count; i++) space->narrow[i] = (int32_t)space->nodes[i];
}

static void widen_range(void *data, int slot, int64_t first, int64_t count) {
  const RitzSpace space = data;

  (void)slot;
  for (int64_t i = first; i < first + count; i++) space->nodes[i] = space->narrow[i];
}

// Numbers of 32 bits instead of 64, where they do.
static int narrow_nodes(RitzSpace space) {
  const int64_t num = num_entries(space);

  if (!space->nodes || num == 0 || space->num_nodes > INT32_MAX) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(space->ceed, (size_t)num, &space->narrow));
  RITZ_TRY(ritz_run_ranges(space->ceed, num, narrow_range, space));
  RITZ_FREE(&space->nodes);
  return CEED_ERROR_SUCCESS;
}

// All of them with 64 bits, as callers get them.
static int require_nodes(RitzSpace space) {
  const int64_t num = num_entries(space);

  if (space->nodes) return CEED_ERROR_SUCCESS;
  if (!space->narrow) return number_space(space);
  RITZ_TRY(RITZ_MALLOC(space->ceed, (size_t)num, &space->nodes));
  RITZ_TRY(ritz_run_ranges(space->ceed, num, widen_range, space));
  RITZ_FREE(&space->narrow);
  return CEED_ERROR_SUCCESS;
}

// ---- Life ----

static int check_space_arguments(RitzMesh mesh, CeedInt degree, CeedInt num_comp, bool is_discontinuous,
                                 const char *call) {
  RITZ_REQUIRE(degree >= 1 && degree < INT32_MAX, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: degree %" CeedInt_FMT ", needed at least 1", call, degree);
  RITZ_REQUIRE(num_comp >= 1, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " components, needed at least 1", call, num_comp);
  for (int b = 0; b < mesh->num_blocks; b++) {
    int64_t num_local = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
    const int64_t num_bytes =
        ritz_mesh_product(5, (const int64_t[]){mesh->blocks[b].num_elem, num_local, num_comp, sizeof(int64_t),
                                               mesh->num_blocks});
    // Nodes of elements are kept, but for boxes; an L-vector of a continuous space has a fraction of them.
    const double least = mesh->grid[0] && !is_discontinuous
                             ? (double)mesh->num_elem * pow(degree, mesh->dim)
                             : (double)mesh->blocks[b].num_elem * (double)num_local;

    RITZ_REQUIRE(num_bytes >= 0 && ritz_mesh_fits(least * sizeof(int64_t)), mesh->ceed, CEED_ERROR_DIMENSION,
                 "%s: %lld elements of degree %" CeedInt_FMT " have too many nodes", call,
                 (long long)mesh->blocks[b].num_elem, degree);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_space(RitzMesh mesh, CeedInt degree, CeedInt num_comp, bool is_discontinuous,
                        const char *call, RitzSpace *space) {
  RitzSpace s = NULL;
  int64_t base = 0;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(check_space_arguments(mesh, degree, num_comp, is_discontinuous, call));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &s));
  s->class = &ritz_space_class;
  s->ceed = mesh->ceed;
  s->ref_count = 1;
  s->degree = degree;
  s->num_comp = num_comp;
  s->is_discontinuous = is_discontinuous;
  for (int b = 0; b < mesh->num_blocks; b++) {
    s->num_local[b] = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);
    s->base[b] = base;
    base += mesh->blocks[b].num_elem * s->num_local[b];
  }
  RITZ_TRY_CLEANUP(RitzMeshReferenceCopy(mesh, &s->mesh));
  mesh->num_spaces += !is_discontinuous;
  if (is_discontinuous)
    s->num_nodes = base;
  else if (mesh->grid[0])
    s->num_nodes = ritz_mesh_grid_num_nodes(mesh, degree);
  else
    RITZ_TRY_CLEANUP(number_space(s));
  RITZ_TRY_CLEANUP(ritz_halo_create(mesh, degree, s->num_nodes, num_entries(s), s->nodes, &s->halo));
  ierr = narrow_nodes(s);
cleanup:
  if (ierr) RitzSpaceDestroy(&s);
  *space = s;
  return ierr;
}

int RitzSpaceCreate(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, space);
  *space = NULL;
  return create_space(mesh, degree, num_comp, false, __func__, space);
}

int RitzSpaceCreateDiscontinuous(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, space);
  *space = NULL;
  RITZ_REQUIRE(
      !mesh->seam, mesh->ceed, CEED_ERROR_UNSUPPORTED,
      "%s: the mesh is a part of a mesh, needed a whole one: discontinuous spaces have no ghosts, so "
      "facets between parts would be missing",
      __func__);
  return create_space(mesh, degree, num_comp, true, __func__, space);
}

int RitzSpaceDestroy(RitzSpace *space) {
  if (!space || !*space) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "space", *space, &ritz_space_class));
  RitzSpace s = *space;

  *space = NULL;
  if (--s->ref_count > 0) return CEED_ERROR_SUCCESS;
  RitzMesh mesh = s->mesh;
  int ierr = CEED_ERROR_SUCCESS;

  if (mesh && !s->is_discontinuous && --mesh->num_spaces == 0) ritz_mesh_topology_clear(&mesh->topology);
  for (int b = 0; b < RITZ_MESH_MAX_BLOCKS; b++) {
    const int destroyed = CeedElemRestrictionDestroy(&s->restrictions[b]);
    if (!ierr) ierr = destroyed;
  }
  RITZ_FREE(&s->nodes);
  RITZ_FREE(&s->narrow);
  ritz_halo_destroy(&s->halo);
  RITZ_FREE(&s);
  const int destroyed = RitzMeshDestroy(&mesh);
  return ierr ? ierr : destroyed;
}

int RitzSpaceReferenceCopy(RitzSpace space, RitzSpace *copy) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, copy);
  RITZ_OPTIONAL(space, *copy);
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
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, mesh);
  *mesh = space->mesh;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetDegree(RitzSpace space, CeedInt *degree) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, degree);
  *degree = space->degree;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumComponents(RitzSpace space, CeedInt *num_comp) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, num_comp);
  *num_comp = space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceIsContinuous(RitzSpace space, bool *is_continuous) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, is_continuous);
  *is_continuous = !space->is_discontinuous;
  return CEED_ERROR_SUCCESS;
}

int ritz_space_require_continuous(RitzSpace space, const char *call) {
  RITZ_REQUIRE(!space->is_discontinuous, space->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the space is discontinuous, needed one whose elements share nodes", call);
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumNodes(RitzSpace space, int64_t *num_nodes) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, num_nodes);
  *num_nodes = space->num_nodes;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetSize(RitzSpace space, CeedSize *l_size) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, l_size);
  *l_size = space->num_nodes * space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetElementNodes(RitzSpace space, const int64_t **nodes) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, nodes);
  RITZ_TRY(ritz_mesh_require_one_block(space->mesh, "RitzSpaceGetElementNodes", "RitzSpaceGetBlockNodes"));
  RITZ_TRY(require_nodes(space));
  *nodes = space->nodes;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetBlockNodes(RitzSpace space, CeedInt block, CeedInt *num_nodes, const int64_t **nodes) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, nodes);
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceGetBlockNodes"));
  RITZ_REQUIRE(space->num_local[block] <= INT32_MAX, space->mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzSpaceGetBlockNodes: %lld nodes of an element exceed a CeedInt",
               (long long)space->num_local[block]);
  if (num_nodes) *num_nodes = (CeedInt)space->num_local[block];
  RITZ_TRY(require_nodes(space));
  *nodes = space->nodes ? space->nodes + space->base[block] : NULL; // an empty part has none
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetHalo(RitzSpace space, RitzHalo *halo) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, halo);
  *halo = space->halo;
  return CEED_ERROR_SUCCESS;
}

static bool has_ghost(RitzSpace space, int block, int64_t e) {
  const RitzKeptNodes nodes = ritz_space_kept_nodes(space, block, e);
  int64_t range[2] = {0, -1};

  if (space->halo->num_ghosts == 0) return false;
  if (!ritz_are_kept(&nodes)) find_node_range(space, block, e, range);
  if (range[1] >= space->halo->num_owned) return true;
  for (int64_t i = 0; ritz_are_kept(&nodes) && i < space->num_local[block]; i++) {
    if (ritz_kept_node(&nodes, i) >= space->halo->num_owned) return true;
  }
  return false;
}

// Lists them, or counts where `elements` is NULL.
static int64_t find_seam_elements(RitzSpace space, int64_t *elements) {
  int64_t num = 0;

  for (int b = 0; b < space->mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &space->mesh->blocks[b];

    for (int64_t e = 0; e < block->num_elem; e++) {
      if (!has_ghost(space, b, e)) continue;
      if (elements) elements[num] = block->first + e;
      num++;
    }
  }
  return num;
}

int RitzSpaceGetSeamElements(RitzSpace space, int64_t *num, int64_t **elements) {
  int64_t *found = NULL;

  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, num);
  RITZ_ARGUMENT(space, elements);
  const int64_t count = find_seam_elements(space, NULL);

  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)count, &found));
  find_seam_elements(space, found);
  ritz_memory_give(found);
  *num = count;
  *elements = found;
  return CEED_ERROR_SUCCESS;
}

// ---- Restrictions and bases ----

// Offsets of elements, filled by threads.
typedef struct {
  RitzNodesFunction nodes;
  const void *ctx;
  int64_t num_local;
  RitzPlace place;
  CeedInt num_comp;
  int64_t *scratch; // owned, [num_slots][num_local]
  CeedInt *offsets; // [num_elem][num_local]
} Offsets;

static void fill_offsets(void *data, int slot, int64_t first, int64_t count) {
  const Offsets *o = data;

  for (int64_t k = first; k < first + count; k++) {
    const int64_t *nodes = o->nodes(o->ctx, k, o->scratch + slot * o->num_local);
    CeedInt *offsets = o->offsets + k * o->num_local;

    for (int64_t i = 0; i < o->num_local; i++)
      offsets[i] = (CeedInt)ritz_place_of(&o->place, nodes[i] * o->num_comp);
  }
}

static int create_node_offsets(Ceed ceed, int64_t num_elem, Offsets *o) {
  int num_slots = 1;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_slots * o->num_local), &o->scratch));
  int ierr = RITZ_MALLOC(ceed, (size_t)(num_elem * o->num_local), &o->offsets);

  if (!ierr) ierr = ritz_run_elements(ceed, num_elem, fill_offsets, o);
  RITZ_FREE(&o->scratch);
  if (ierr) RITZ_FREE(&o->offsets);
  return ierr;
}

RitzPlace ritz_space_place(RitzSpace space, int64_t num_more) {
  return (RitzPlace){.length = (space->num_nodes + num_more) * space->num_comp};
}

int ritz_space_create_restriction(RitzSpace space, Ceed ceed, const char *call, RitzPlace place,
                                  int64_t num_elem, int64_t num_local, RitzNodesFunction nodes,
                                  const void *ctx, CeedElemRestriction *rstr) {
  const CeedInt num_comp = space->num_comp;
  bool fits =
      num_elem <= INT32_MAX && num_local <= INT32_MAX / num_comp && place.length - 1 <= (int64_t)INT32_MAX;
  Offsets o = {.nodes = nodes, .ctx = ctx, .num_local = num_local, .place = place, .num_comp = num_comp};

  RITZ_REQUIRE(fits, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld elements, %lld nodes of %" CeedInt_FMT
               " components, an L-vector of %lld entries exceed the 32-bit offsets of a restriction",
               call, (long long)num_elem, (long long)space->num_nodes, num_comp, (long long)place.length);
  RITZ_TRY(create_node_offsets(ceed, num_elem, &o));
  ritz_memory_give(o.offsets);
  int ierr = CeedElemRestrictionCreate(ceed, (CeedInt)num_elem, (CeedInt)num_local, num_comp, 1, place.length,
                                       CEED_MEM_HOST, CEED_OWN_POINTER, o.offsets, rstr);

  if (ierr) free(o.offsets);
  return ierr;
}

typedef struct {
  RitzSpace space;
  int block;
} Block;

static const int64_t *block_nodes(const void *ctx, int64_t k, int64_t *scratch) {
  const Block *block = ctx;

  return ritz_space_nodes(block->space, block->block, k, scratch);
}

int ritz_space_create_block_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                        RitzPlace place, CeedElemRestriction *rstr) {
  const Block all = {space, block};

  return ritz_space_create_restriction(space, ceed, call, place, space->mesh->blocks[block].num_elem,
                                       space->num_local[block], block_nodes, &all, rstr);
}

// The restriction of a block is made once and shared: its offsets are large, as is what backends derive from
// them.
static int share_block_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                   CeedElemRestriction *rstr) {
  CeedElemRestriction *kept = &space->restrictions[block];

  if (*kept && CeedElemRestrictionReturnCeed(*kept) != ceed) RITZ_TRY(CeedElemRestrictionDestroy(kept));
  if (!*kept) {
    const RitzPlace own = ritz_space_place(space, 0);

    RITZ_TRY(ritz_space_create_block_restriction(space, block, ceed, call, own, kept));
  }
  return CeedElemRestrictionReferenceCopy(*kept, rstr);
}

int RitzSpaceCreateRestriction(RitzSpace space, Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_ARGUMENT(space, rstr);
  *rstr = NULL;
  RITZ_TRY(ritz_mesh_require_one_block(space->mesh, "RitzSpaceCreateRestriction",
                                       "RitzSpaceCreateBlockRestriction"));
  return share_block_restriction(space, 0, ceed, "RitzSpaceCreateRestriction", rstr);
}

int RitzSpaceCreateBlockRestriction(RitzSpace space, CeedInt block, Ceed ceed, CeedElemRestriction *rstr) {
  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_ARGUMENT(space, rstr);
  *rstr = NULL;
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceCreateBlockRestriction"));
  return share_block_restriction(space, block, ceed, "RitzSpaceCreateBlockRestriction", rstr);
}

// Elements of a block, by their numbers in the mesh.
typedef struct {
  Block of;
  int64_t first; // element of the block
  const CeedInt *elements;
} Selection;

static const int64_t *selected_nodes(const void *ctx, int64_t k, int64_t *scratch) {
  const Selection *s = ctx;

  return ritz_space_nodes(s->of.space, s->of.block, s->elements[k] - s->first, scratch);
}

int ritz_space_create_elements_restriction(RitzSpace space, CeedInt block, Ceed ceed, const char *call,
                                           RitzPlace place, CeedInt num, const CeedInt elements[],
                                           CeedElemRestriction *rstr) {
  const RitzMeshBlock *b = &space->mesh->blocks[block];
  const Selection selection = {{space, block}, b->first, elements};

  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " elements, needed at least 0", call,
               num);
  if (num > 0) RITZ_ARGUMENT_OF(ceed, call, elements);
  for (CeedInt k = 0; k < num; k++) {
    RITZ_REQUIRE(elements[k] >= b->first && elements[k] < b->first + b->num_elem, ceed, CEED_ERROR_DIMENSION,
                 "%s: element %" CeedInt_FMT " is not in block %" CeedInt_FMT ", which has %lld to %lld",
                 call, elements[k], block, (long long)b->first, (long long)(b->first + b->num_elem - 1));
  }
  return ritz_space_create_restriction(space, ceed, call, place, num, space->num_local[block], selected_nodes,
                                       &selection, rstr);
}

int RitzSpaceCreateElementsRestriction(RitzSpace space, CeedInt block, Ceed ceed, CeedInt num,
                                       const CeedInt elements[], CeedElemRestriction *rstr) {
  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_ARGUMENT(space, rstr);
  *rstr = NULL;
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceCreateElementsRestriction"));
  return ritz_space_create_elements_restriction(space, block, ceed, "RitzSpaceCreateElementsRestriction",
                                                ritz_space_place(space, 0), num, elements, rstr);
}

int RitzSpaceCreateBlockBasis(RitzSpace space, CeedInt block, Ceed ceed, CeedInt quad_degree,
                              CeedBasis *basis) {
  RITZ_HANDLE(space, ceed);
  RITZ_ARGUMENT(space->mesh->ceed, ceed);
  RITZ_ARGUMENT(space, basis);
  RITZ_TRY(ritz_mesh_check_block(space->mesh, block, "RitzSpaceCreateBlockBasis"));
  return RitzBasisCreateLagrange(ceed, space->mesh->blocks[block].topology, space->num_comp, space->degree,
                                 quad_degree, basis);
}

// ---- Node positions ----

// Positions of all nodes, or of those in a list.
typedef struct {
  RitzSpace space;
  int block;
  RitzMeshInterpolation *interpolations; // owned, [num_slots]
  double *elem_x;                        // owned, [num_slots][num_local][space_dim]
  int64_t *scratch;                      // owned, [num_slots][num_local]
  int64_t num;                           // of the list
  const int64_t *list;                   // ascending; NULL: all nodes
  const uint8_t *is_wanted;              // [num_nodes]; NULL: all are
  double *x;                             // [num][space_dim]
} Positions;

static void bound_nodes(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high) {
  const Positions *p = data;

  find_node_bounds(p->space, p->block, first, count, low, high);
}

static int64_t place_in_list(const Positions *p, int64_t node) {
  int64_t begin = 0, end = p->num;

  if (!p->list) return node;
  while (end - begin > 1) {
    const int64_t middle = begin + (end - begin) / 2;

    if (p->list[middle] <= node)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

static bool is_asked(const Positions *p, int64_t node, int64_t first, int64_t count) {
  return node >= first && node < first + count && (!p->is_wanted || p->is_wanted[node]);
}

static void place_nodes(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first,
                        int64_t count) {
  const Positions *p = data;
  const RitzMesh mesh = p->space->mesh;
  const RitzMeshBlock *block = &mesh->blocks[p->block];
  const int64_t num_local = p->space->num_local[p->block], dim = mesh->space_dim;
  double *elem_x = p->elem_x + slot * num_local * dim;

  for (int64_t e = first_elem; e < first_elem + num_elem; e++) {
    const int64_t *nodes = ritz_space_nodes(p->space, p->block, e, p->scratch + slot * num_local);
    bool is_needed = false;

    for (int64_t i = 0; i < num_local && !is_needed; i++) is_needed = is_asked(p, nodes[i], first, count);
    if (!is_needed) continue;
    ritz_mesh_interpolation_apply(&p->interpolations[slot],
                                  mesh->coords + (block->node_base + e * block->num_nodes) * dim, elem_x);
    for (int64_t i = 0; i < num_local; i++) {
      if (!is_asked(p, nodes[i], first, count)) continue;
      double *x = p->x + place_in_list(p, nodes[i]) * dim;

      for (int64_t c = 0; c < dim; c++) x[c] = elem_x[i * dim + c];
    }
  }
}

static void clear_positions(int num_slots, Positions *p) {
  for (int slot = 0; slot < num_slots && p->interpolations; slot++)
    ritz_mesh_interpolation_clear(&p->interpolations[slot]);
  RITZ_FREE(&p->interpolations);
  RITZ_FREE(&p->elem_x);
  RITZ_FREE(&p->scratch);
}

static int prepare_positions(int num_slots, Positions *p) {
  const RitzMesh mesh = p->space->mesh;
  const Ceed ceed = mesh->ceed;
  const size_t num = (size_t)(num_slots * p->space->num_local[p->block]);

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &p->interpolations));
  for (int slot = 0; slot < num_slots; slot++) {
    RITZ_TRY(ritz_mesh_interpolation_create(ceed, mesh->blocks[p->block].topology, mesh->space_dim,
                                            mesh->order, p->space->degree, &p->interpolations[slot]));
  }
  RITZ_TRY(RITZ_MALLOC(ceed, num * (size_t)mesh->space_dim, &p->elem_x));
  return RITZ_MALLOC(ceed, num, &p->scratch);
}

// A node takes the position of its last element.
static int place_block(int num_slots, Positions *p) {
  const RitzMesh mesh = p->space->mesh;
  const RitzNodeSum sum = {.num_nodes = p->space->num_nodes,
                           .num_elem = mesh->blocks[p->block].num_elem,
                           .bounds = bound_nodes,
                           .add = place_nodes,
                           .data = p};
  int ierr = prepare_positions(num_slots, p);

  if (!ierr) ierr = ritz_run_node_sum(mesh->ceed, &sum);
  clear_positions(num_slots, p);
  return ierr;
}

static int place_blocks(Positions *p) {
  const RitzMesh mesh = p->space->mesh;
  int num_slots = 1;

  RITZ_TRY(ritz_run_ranges_slots(mesh->ceed, &num_slots));
  for (p->block = 0; p->block < mesh->num_blocks; p->block++) RITZ_TRY(place_block(num_slots, p));
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNodeCoordinates(RitzSpace space, double *x) {
  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, x);
  Positions p = {.space = space, .num = space->num_nodes, .x = x};

  return place_blocks(&p);
}

int RitzSpaceGetCoordinatesOf(RitzSpace space, int64_t num, const int64_t *nodes, double *x) {
  RITZ_HANDLE(space);
  const Ceed ceed = space->mesh->ceed;
  uint8_t *is_wanted = NULL;

  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceGetCoordinatesOf: %lld nodes, needed at least 0", (long long)num);
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(space, nodes);
  RITZ_ARGUMENT(space, x);
  for (int64_t i = 0; i < num; i++) {
    RITZ_REQUIRE(nodes[i] >= 0 && nodes[i] < space->num_nodes && (i == 0 || nodes[i] > nodes[i - 1]), ceed,
                 CEED_ERROR_DIMENSION,
                 "RitzSpaceGetCoordinatesOf: node %lld at place %lld of the list, needed ascending ones "
                 "from 0 to %lld",
                 (long long)nodes[i], (long long)i, (long long)space->num_nodes - 1);
  }
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)space->num_nodes, &is_wanted));
  for (int64_t i = 0; i < num; i++) is_wanted[nodes[i]] = 1;
  Positions p = {.space = space, .num = num, .list = nodes, .is_wanted = is_wanted, .x = x};
  const int ierr = place_blocks(&p);

  RITZ_FREE(&is_wanted);
  return ierr;
}

// ---- Boundary nodes ----

static void flag_facet(const RitzMeshElementNodes *element, const int8_t facet[4], const int64_t *nodes,
                       int8_t *flags) {
  for (int i = 0; i < element->num; i++) {
    const RitzMeshEntityNodes *entity = &element->entities[i];

    if (!ritz_mesh_entity_lies_on(entity, facet)) continue;
    for (int64_t k = 0; k < entity->num_nodes; k++) flags[nodes[entity->nodes[k]]] = 1;
  }
}

// Of a box, whose facet 2 d + k is the lower (k = 0) or upper one in direction d.
static void flag_grid_facet(RitzSpace space, int64_t e, int facet, int8_t *flags) {
  const RitzMesh mesh = space->mesh;
  int64_t first[3], last[3], size[3];

  ritz_mesh_grid_place(e, mesh->grid, first);
  for (int d = 0; d < 3; d++) {
    first[d] *= space->degree;
    last[d] = d < mesh->dim ? first[d] + space->degree : first[d];
    size[d] = d < mesh->dim ? mesh->grid[d] * space->degree + 1 : 1;
    if (d != facet / 2) continue;
    if (facet % 2)
      first[d] = last[d];
    else
      last[d] = first[d];
  }
  for (int64_t k = first[2]; k <= last[2]; k++) {
    for (int64_t j = first[1]; j <= last[1]; j++)
      memset(flags + (k * size[1] + j) * size[0] + first[0], 1, (size_t)(last[0] - first[0] + 1));
  }
}

// Flags the nodes of those facets that belong to elements of one block.
static int flag_block(RitzSpace space, int b, int64_t num, const int64_t *elements, const int8_t *facets,
                      int8_t *flags) {
  const RitzMeshBlock *block = &space->mesh->blocks[b];
  const RitzMeshEntities *entities = &ritz_mesh_shape(block->topology)->facets;
  int64_t *scratch = NULL;
  RitzMeshElementNodes element;

  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)space->num_local[b], &scratch));
  const int ierr =
      ritz_mesh_element_nodes_create(space->mesh->ceed, block->topology, space->degree, &element);
  for (int64_t i = 0; i < num && !ierr; i++) {
    int64_t e = elements[i] - block->first;

    if (e < 0 || e >= block->num_elem) continue;
    if (space->mesh->grid[0] && !space->is_discontinuous)
      flag_grid_facet(space, e, facets[i], flags);
    else
      flag_facet(&element, entities->corner[facets[i]], ritz_space_nodes(space, b, e, scratch), flags);
  }
  if (!ierr) ritz_mesh_element_nodes_clear(&element);
  RITZ_FREE(&scratch);
  return ierr;
}

// Flags the nodes of those shared entities of a part of a mesh that lie on the boundary part, also where its
// facets belong to other parts.
static void flag_shared(RitzSpace space, const RitzMeshElementNodes *element, const int64_t *vertices,
                        const RitzKeptNodes *nodes, const char *name, int8_t *flags) {
  const RitzMesh mesh = space->mesh;

  for (int i = 0; i < element->num; i++) {
    const RitzMeshEntityNodes *entity = &element->entities[i];
    if (entity->dim == mesh->dim) continue;
    const RitzMeshLists *marks = &mesh->seam->shared[entity->dim].marks;
    const int64_t number =
        ritz_mesh_seam_find(mesh->seam, entity->dim, entity->num_corners, entity->corner, vertices);

    if (number < 0) continue;
    for (int64_t m = marks->starts[number]; m < marks->starts[number + 1]; m++) {
      if (!ritz_mesh_part_has_name(mesh, marks->items[m], name)) continue;
      for (int64_t k = 0; k < entity->num_nodes; k++) flags[ritz_kept_node(nodes, entity->nodes[k])] = 1;
    }
  }
}

static int flag_seam(RitzSpace space, int b, const char *name, int8_t *flags) {
  const RitzMesh mesh = space->mesh;
  const RitzMeshBlock *block = &mesh->blocks[b];
  RitzMeshElementNodes element;

  if (!mesh->seam || mesh->seam->layers) return CEED_ERROR_SUCCESS; // slabs have all facets at their nodes
  RITZ_TRY(ritz_mesh_element_nodes_create(mesh->ceed, block->topology, space->degree, &element));
  for (int64_t e = 0; e < block->num_elem; e++) {
    const int64_t *vertices = mesh->elem_vertices + block->corner_base + e * block->num_corners;

    if (!ritz_mesh_seam_touches(mesh->seam, block->num_corners, vertices)) continue;
    const RitzKeptNodes nodes = ritz_space_kept_nodes(space, b, e);
    flag_shared(space, &element, vertices, &nodes, name, flags);
  }
  ritz_mesh_element_nodes_clear(&element);
  return CEED_ERROR_SUCCESS;
}

// The nodes that are flagged, counted and listed by threads.
typedef struct {
  const int8_t *flags;
  int64_t *next; // owned, [num_slots]: how many a thread has, then where its next one goes
  int64_t *nodes;
} Flagged;

static void count_flagged(void *data, int slot, int64_t first, int64_t count) {
  const Flagged *f = data;
  int64_t num = 0;

  for (int64_t i = first; i < first + count; i++) num += f->flags[i];
  f->next[slot] = num;
}

static void list_range(void *data, int slot, int64_t first, int64_t count) {
  const Flagged *f = data;
  int64_t next = f->next[slot];

  for (int64_t i = first; i < first + count; i++) {
    if (f->flags[i]) f->nodes[next++] = i;
  }
}

static int list_flagged(RitzSpace space, const int8_t *flags, int64_t *num, int64_t **nodes) {
  const Ceed ceed = space->mesh->ceed;
  Flagged f = {.flags = flags};
  int num_slots = 1, ierr;

  RITZ_TRY(ritz_run_ranges_slots(ceed, &num_slots));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &f.next));
  RITZ_TRY_CLEANUP(ritz_run_ranges(ceed, space->num_nodes, count_flagged, &f));
  const int64_t total = ritz_mesh_count_slots(num_slots, 0, f.next);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)total, &f.nodes));
  RITZ_TRY_CLEANUP(ritz_run_ranges(ceed, space->num_nodes, list_range, &f));
  ritz_memory_give(f.nodes);
  *num = total;
  *nodes = f.nodes;
cleanup:
  RITZ_FREE(&f.next);
  return ierr;
}

int RitzSpaceGetBoundaryNodes(RitzSpace space, const char *name, int64_t *num, int64_t **nodes) {
  int64_t num_facets = 0, *elements = NULL, *found = NULL;
  int8_t *facets = NULL, *flags = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(space);
  RITZ_ARGUMENT(space, num);
  RITZ_ARGUMENT(space, nodes);
  RITZ_TRY(RitzMeshGetBoundaryPart(space->mesh, name, &num_facets, &elements, &facets));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(space->mesh->ceed, (size_t)space->num_nodes, &flags));
  for (int b = 0; b < space->mesh->num_blocks; b++) {
    RITZ_TRY_CLEANUP(flag_block(space, b, num_facets, elements, facets, flags));
    RITZ_TRY_CLEANUP(flag_seam(space, b, name, flags));
  }
  RITZ_TRY_CLEANUP(list_flagged(space, flags, num, &found));
  *nodes = found;

cleanup:
  RITZ_FREE(&flags);
  free(facets);
  free(elements);
  return ierr;
}
