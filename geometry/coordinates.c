// SPDX-License-Identifier: BSD-2-Clause
// Coordinates as fields: of the mesh, at all nodes and at the corners; restrictions to the elements of a
// part. Called by fields.c, setup.c and operator.c.
#include <ceed/backend.h>
#include <stdlib.h>

#include "base/ranges.h"
#include "geometry/geometry.h"

static CeedInt count_elements(const RitzGeometryBlock *block) {
  CeedInt num = 0;

  for (int k = 0; k < RITZ_NUM_KINDS; k++) num += block->end[k] - block->begin[k];
  return num;
}

static size_t num_entries(const RitzGeometryBlock *block, CeedInt num_local) {
  return (size_t)count_elements(block) * (size_t)num_local;
}

// ---- Of the mesh ----

// Numbers the vertices as the elements meet them, so that neighbours lie near each other.
static int number_vertices(const RitzGeometryCase *c, RitzGeometryCoordinates *s) {
  const RitzGeometry g = c->geometry;
  int64_t num_vertices = 0;
  CeedInt next = 0;

  RITZ_TRY(RitzMeshGetNumVertices(g->mesh, &num_vertices));
  s->num_vertices = (CeedSize)num_vertices * c->space_dim;
  RITZ_TRY(RITZ_MALLOC(c->ceed, (size_t)num_vertices, &s->offset));
  for (int64_t v = 0; v < num_vertices; v++) s->offset[v] = -1;
  for (CeedInt b = 0; b < g->num_blocks; b++) {
    const size_t num = num_entries(&g->blocks[b], g->blocks[b].num_corners);
    const int64_t *vertices = NULL;

    RITZ_TRY(RitzMeshGetBlock(g->mesh, b, NULL, NULL, NULL, &vertices, NULL));
    for (size_t i = 0; i < num; i++) {
      if (s->offset[vertices[i]] >= 0) continue;
      s->offset[vertices[i]] = next;
      next += c->space_dim;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Positions of the block's corners to the entries of their vertices.
static int copy_corners(const RitzGeometryCase *c, const RitzGeometryCoordinates *s,
                        const RitzGeometryBlock *block, const CeedScalar *x, CeedScalar *to) {
  const CeedInt num_elem = count_elements(block);
  const int64_t *vertices = NULL;
  const CeedInt *offsets = NULL;

  RITZ_TRY(RitzMeshGetBlock(c->geometry->mesh, block->index, NULL, NULL, NULL, &vertices, NULL));
  RITZ_TRY(CeedElemRestrictionGetOffsets(s->rstr[block->index], CEED_MEM_HOST, &offsets));
  for (size_t e = 0; e < (size_t)num_elem; e++) {
    for (CeedInt k = 0; k < block->num_corners; k++) {
      const CeedScalar *from = x + offsets[e * (size_t)block->num_nodes + (size_t)block->corner_node[k]];
      const CeedInt offset = s->offset[vertices[e * (size_t)block->num_corners + (size_t)k]];
      for (CeedInt d = 0; d < c->space_dim; d++) to[offset + d] = from[d];
    }
  }
  return CeedElemRestrictionRestoreOffsets(s->rstr[block->index], &offsets);
}

static int fill_vertices(const RitzGeometryCase *c, RitzGeometryCoordinates *s) {
  const RitzGeometry g = c->geometry;
  const CeedScalar *x = NULL;
  CeedScalar *to = NULL;

  RITZ_TRY(CeedVectorCreate(c->ceed, s->num_vertices, &s->vertices));
  RITZ_TRY(CeedVectorGetArrayRead(s->x, CEED_MEM_HOST, &x));
  int ierr = CeedVectorGetArrayWrite(s->vertices, CEED_MEM_HOST, &to);

  for (CeedInt b = 0; b < g->num_blocks && !ierr; b++) ierr = copy_corners(c, s, &g->blocks[b], x, to);
  if (to) CeedVectorRestoreArray(s->vertices, &to);
  CeedVectorRestoreArrayRead(s->x, &x);
  return ierr;
}

// Whether neighbours share nodes. One block whose elements have nodes of their own is strided; several list
// the nodes one after the other.
static int find_sharing(const RitzGeometryCase *c, const RitzGeometryCoordinates *s, bool *is_shared) {
  const RitzGeometry g = c->geometry;
  CeedRestrictionType type;
  size_t num = 0;

  RITZ_TRY(CeedElemRestrictionGetType(s->rstr[0], &type));
  for (CeedInt b = 0; b < g->num_blocks; b++) num += num_entries(&g->blocks[b], g->blocks[b].num_nodes);
  *is_shared = type == CEED_RESTRICTION_STANDARD &&
               (g->num_blocks == 1 || (size_t)s->num_x < num * (size_t)c->space_dim);
  return CEED_ERROR_SUCCESS;
}

// Whether all nodes are corners.
static bool is_linear(const RitzGeometry g) {
  for (CeedInt b = 0; b < g->num_blocks; b++)
    if (g->blocks[b].num_nodes > g->blocks[b].num_corners) return false;
  return true;
}

// Where geometry is continuous there are not more vertices than nodes, whose offsets are CeedInt.
int ritz_geometry_coordinates_create(const RitzGeometryCase *c, RitzGeometryCoordinates *coordinates) {
  RitzGeometryCoordinates *s = coordinates;
  bool is_shared = false;

  *s = (RitzGeometryCoordinates){.num_blocks = c->geometry->num_blocks};
  RITZ_TRY(RITZ_CALLOC(c->ceed, (size_t)s->num_blocks, &s->rstr));
  RITZ_TRY(RitzMeshCreateBlockCoordinates(c->geometry->mesh, c->ceed, s->rstr, &s->x));
  RITZ_TRY(CeedVectorGetLength(s->x, &s->num_x));
  RITZ_TRY(find_sharing(c, s, &is_shared));
  if (!is_shared) return CEED_ERROR_SUCCESS;
  if (is_linear(c->geometry)) {
    s->num_vertices = s->num_x;
    return CeedVectorReferenceCopy(s->x, &s->vertices);
  }
  RITZ_TRY(number_vertices(c, s));
  return fill_vertices(c, s);
}

void ritz_geometry_coordinates_clear(RitzGeometryCoordinates *coordinates) {
  for (CeedInt b = 0; b < coordinates->num_blocks && coordinates->rstr; b++)
    CeedElemRestrictionDestroy(&coordinates->rstr[b]);
  RITZ_FREE(&coordinates->rstr);
  RITZ_FREE(&coordinates->offset);
  CeedVectorDestroy(&coordinates->x);
  CeedVectorDestroy(&coordinates->vertices);
}

// ---- Of a block ----

typedef struct {
  const CeedInt *from;
  const int64_t *index; // NULL: ascending
  CeedInt *to;
} OffsetCopy;

static void copy_range(void *data, int slot, int64_t first, int64_t count) {
  const OffsetCopy *copy = data;

  (void)slot;
  for (int64_t i = first; i < first + count; i++) copy->to[i] = copy->from[copy->index ? copy->index[i] : i];
}

static int copy_offsets(RitzGeometryShared *s) {
  const RitzGeometryBlock *block = s->c.block;
  const size_t num = num_entries(block, block->num_nodes);
  CeedElemRestriction rstr = s->coordinates->rstr[block->index];
  const CeedInt *offsets = NULL;

  RITZ_TRY(CeedElemRestrictionGetOffsets(rstr, CEED_MEM_HOST, &offsets));
  int ierr = RITZ_MALLOC(s->c.ceed, num, &s->offsets_x);
  OffsetCopy copy = {offsets, NULL, s->offsets_x};

  if (!ierr) ierr = ritz_run_ranges(s->c.ceed, (int64_t)num, copy_range, &copy);
  CeedElemRestrictionRestoreOffsets(rstr, &offsets);
  return ierr;
}

int ritz_geometry_shared_offsets(RitzGeometryShared *s) {
  const RitzGeometryBlock *block = s->c.block;
  const size_t num = num_entries(block, block->num_corners);
  const int64_t *vertices = NULL;

  if (!s->coordinates->vertices) return CEED_ERROR_SUCCESS;
  RITZ_TRY(copy_offsets(s));
  if (!s->coordinates->offset) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshGetBlock(s->c.geometry->mesh, block->index, NULL, NULL, NULL, &vertices, NULL));
  RITZ_TRY(RITZ_MALLOC(s->c.ceed, num, &s->offsets_vertices));
  OffsetCopy copy = {s->coordinates->offset, vertices, s->offsets_vertices};
  return ritz_run_ranges(s->c.ceed, (int64_t)num, copy_range, &copy);
}

// ---- Of a part ----

static CeedInt num_nodes_of(const RitzGeometryCase *c, RitzGeometryNodes nodes) {
  switch (nodes) {
  case RITZ_NODES_ALL: return c->block->num_nodes;
  case RITZ_NODES_CORNERS: return c->block->num_corners;
  default: return c->dim + 1;
  }
}

// The entry of node n in an element's table of corners, or of nodes.
static CeedInt local_node(const RitzGeometryCase *c, RitzGeometryNodes nodes, bool by_corners, CeedInt n) {
  if (nodes == RITZ_NODES_ALL) return n;
  const CeedInt corner = nodes == RITZ_NODES_EDGES ? c->block->shape->edge_ends[n] : n;

  return by_corners ? corner : c->block->corner_node[corner];
}

typedef struct {
  const RitzGeometryPart *part;
  RitzGeometryNodes nodes;
  CeedInt num_nodes; // of an element
  CeedInt *offsets;  // [num_elem][num_nodes]
} PartOffsets;

static void take_offsets(void *data, int slot, int64_t first_elem, int64_t count) {
  const PartOffsets *o = data;
  const RitzGeometryShared *s = o->part->shared;
  const bool by_corners = o->nodes != RITZ_NODES_ALL && s->offsets_vertices;
  const int64_t stride = num_nodes_of(&s->c, by_corners ? RITZ_NODES_CORNERS : RITZ_NODES_ALL);
  const CeedInt *from = by_corners ? s->offsets_vertices : s->offsets_x;

  (void)slot;
  for (int64_t e = first_elem; e < first_elem + count; e++) {
    const int64_t element = o->part->elements[e] - s->c.block->first;

    for (CeedInt n = 0; n < o->num_nodes; n++)
      o->offsets[e * o->num_nodes + n] = from[element * stride + local_node(&s->c, o->nodes, by_corners, n)];
  }
}

static int coordinates_by_offsets(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                                  CeedElemRestriction *rstr, CeedVector *x) {
  const RitzGeometryShared *s = part->shared;
  const bool all = nodes == RITZ_NODES_ALL;
  PartOffsets o = {.part = part, .nodes = nodes, .num_nodes = num_nodes_of(&s->c, nodes)};

  RITZ_TRY(RITZ_MALLOC(s->c.ceed, (size_t)part->num_elem * (size_t)o.num_nodes, &o.offsets));
  int ierr = ritz_run_elements(s->c.ceed, part->num_elem, take_offsets, &o);

  ritz_memory_give(o.offsets);
  if (!ierr)
    ierr = CeedElemRestrictionCreate(s->c.ceed, part->num_elem, o.num_nodes, s->c.space_dim, 1,
                                     all ? s->coordinates->num_x : s->coordinates->num_vertices,
                                     CEED_MEM_HOST, CEED_OWN_POINTER, o.offsets, rstr);
  if (ierr) free(o.offsets);
  return ierr ? ierr : CeedVectorReferenceCopy(all ? s->coordinates->x : s->coordinates->vertices, x);
}

// Elements have nodes of their own, in a vector of the part's own.
static int coordinates_by_elements(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                                   CeedElemRestriction *rstr, CeedVector *x) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt num_nodes = num_nodes_of(c, nodes), space_dim = c->space_dim;
  const CeedSize all_nodes = num_nodes_of(c, RITZ_NODES_ALL);
  const CeedInt strides[3] = {space_dim, 1, num_nodes * space_dim};
  const double *from = NULL;
  CeedScalar *to = NULL;

  RITZ_TRY(RitzMeshGetBlock(c->geometry->mesh, c->block->index, NULL, NULL, NULL, NULL, &from));
  RITZ_TRY(CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, num_nodes, space_dim,
                                            (CeedSize)part->num_elem * num_nodes * space_dim, strides, rstr));
  RITZ_TRY(CeedElemRestrictionCreateVector(*rstr, x, NULL));
  RITZ_TRY(CeedVectorGetArrayWrite(*x, CEED_MEM_HOST, &to));
  for (CeedSize e = 0; e < part->num_elem; e++) {
    for (CeedInt n = 0; n < num_nodes; n++) {
      const CeedSize node =
          (part->elements[e] - c->block->first) * all_nodes + local_node(c, nodes, false, n);
      for (CeedInt d = 0; d < space_dim; d++)
        to[(e * num_nodes + n) * space_dim + d] = (CeedScalar)from[node * space_dim + d];
    }
  }
  return CeedVectorRestoreArray(*x, &to);
}

// *rstr and *x belong to the caller, also after a failure.
int ritz_geometry_coordinates(const RitzGeometryPart *part, RitzGeometryNodes nodes,
                              CeedElemRestriction *rstr, CeedVector *x) {
  return (part->shared->offsets_x ? coordinates_by_offsets : coordinates_by_elements)(part, nodes, rstr, x);
}
