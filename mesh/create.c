// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshCreate: a mesh from the arrays of a program. Fills a draft as readers of files do; what the arrays
// mean is checked by ritz_mesh_build.
#include <string.h>

#include "mesh/mesh.h"

static const char call[] = "RitzMeshCreate";

// ---- Elements ----

static int check_blocks(Ceed ceed, const RitzMeshArrays *a) {
  RITZ_REQUIRE(a->num_blocks >= 1 && a->num_blocks <= RITZ_MESH_MAX_BLOCKS, ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " blocks, needed 1 to %d", call, a->num_blocks, RITZ_MESH_MAX_BLOCKS);
  RITZ_REQUIRE(a->blocks, ceed, CEED_ERROR_INCOMPATIBLE, "%s: there is no list of blocks", call);
  RITZ_REQUIRE(a->num_vertices >= 0, ceed, CEED_ERROR_DIMENSION, "%s: %lld vertices, needed at least 0", call,
               (long long)a->num_vertices);
  RITZ_REQUIRE(!a->vertex_x || a->order == 1, ceed, CEED_ERROR_DIMENSION,
               "%s: positions of vertices for geometry of order %" CeedInt_FMT ", needed order 1", call,
               a->order);
  for (CeedInt b = 0; b < a->num_blocks; b++) {
    RITZ_REQUIRE(a->blocks[b].vertices, ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: block %" CeedInt_FMT " has no vertices", call, b);
    RITZ_REQUIRE(a->blocks[b].x || a->vertex_x, ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: block %" CeedInt_FMT " has no positions of nodes, and there are none of vertices", call,
                 b);
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_vertices(Ceed ceed, const RitzMeshArrays *a, RitzMeshDraft *draft) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_places, &draft->elem_vertices));
  for (CeedInt b = 0; b < a->num_blocks; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];

    memcpy(draft->elem_vertices + block->corner_base, a->blocks[b].vertices,
           (size_t)(block->num_elem * block->num_corners) * sizeof(*draft->elem_vertices));
  }
  return ritz_mesh_check_vertices(ceed, call, draft);
}

// Nodes of order 1 are the corners, in their order.
static void place_corners(const RitzMeshArrays *a, const RitzMeshBlock *block, RitzMeshDraft *draft) {
  const int64_t *vertices = draft->elem_vertices + block->corner_base;
  double *x = draft->coords + block->node_base * draft->space_dim;

  for (int64_t i = 0; i < block->num_elem * block->num_corners; i++, x += draft->space_dim)
    memcpy(x, a->vertex_x + vertices[i] * draft->space_dim, (size_t)draft->space_dim * sizeof(*x));
}

static int copy_positions(Ceed ceed, const RitzMeshArrays *a, RitzMeshDraft *draft) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(draft->num_points * draft->space_dim), &draft->coords));
  for (CeedInt b = 0; b < a->num_blocks; b++) {
    const RitzMeshBlock *block = &draft->blocks[b];

    if (a->blocks[b].x) {
      memcpy(draft->coords + block->node_base * draft->space_dim, a->blocks[b].x,
             (size_t)(block->num_elem * block->num_nodes * draft->space_dim) * sizeof(*draft->coords));
    } else {
      place_corners(a, block, draft);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Regions and boundary parts ----

static int copy_names(Ceed ceed, const char *what, CeedInt num, const RitzMeshSet *sets, CeedInt *num_copied,
                      RitzMeshName **names) {
  RITZ_REQUIRE(num >= 0 && (num == 0 || sets), ceed, CEED_ERROR_DIMENSION,
               "%s: %" CeedInt_FMT " %s without a list, needed at least 0", call, num, what);
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, names));
  for (*num_copied = 0; *num_copied < num; ++*num_copied) {
    const RitzMeshSet *set = &sets[*num_copied];

    (*names)[*num_copied].number = set->number;
    if (set->name) RITZ_TRY(ritz_strdup(ceed, set->name, &(*names)[*num_copied].name));
  }
  return CEED_ERROR_SUCCESS;
}

static int copy_regions(Ceed ceed, const RitzMeshArrays *a, RitzMeshDraft *draft) {
  RITZ_TRY(copy_names(ceed, "regions", a->num_regions, a->regions, &draft->num_regions, &draft->regions));
  if (!a->elem_regions) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_elem, &draft->elem_regions));
  memcpy(draft->elem_regions, a->elem_regions, (size_t)draft->num_elem * sizeof(*draft->elem_regions));
  return CEED_ERROR_SUCCESS;
}

static int label_facet(Ceed ceed, const RitzMeshFacet *facet, int64_t i, RitzMeshDraft *draft) {
  const int width = 1 << (draft->dim - 1);

  RITZ_REQUIRE(facet->elem >= 0 && facet->elem < draft->num_elem, ceed, CEED_ERROR_DIMENSION,
               "%s: boundary facet %lld is one of element %lld, there are %lld", call, (long long)i,
               (long long)facet->elem, (long long)draft->num_elem);
  const RitzMeshBlock *block =
      &draft->blocks[ritz_mesh_find_block(draft->num_blocks, draft->blocks, facet->elem)];
  const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
  const int64_t *vertices =
      draft->elem_vertices + block->corner_base + (facet->elem - block->first) * block->num_corners;

  RITZ_REQUIRE(facet->facet >= 0 && facet->facet < shape->facets.num, ceed, CEED_ERROR_DIMENSION,
               "%s: boundary facet %lld is facet %d of element %lld, which has %d", call, (long long)i,
               (int)facet->facet, (long long)facet->elem, shape->facets.num);
  for (int k = 0; k < width; k++) {
    const int8_t corner = shape->facets.corner[facet->facet][k];

    draft->label_vertices[i * width + k] = corner < 0 ? -1 : vertices[corner];
  }
  draft->label_part[i] = facet->part;
  return CEED_ERROR_SUCCESS;
}

static int copy_facets(Ceed ceed, const RitzMeshArrays *a, RitzMeshDraft *draft) {
  RITZ_TRY(copy_names(ceed, "boundary parts", a->num_parts, a->parts, &draft->num_parts, &draft->parts));
  RITZ_REQUIRE(a->num_facets >= 0 && (a->num_facets == 0 || a->facets), ceed, CEED_ERROR_DIMENSION,
               "%s: %lld boundary facets without a list, needed at least 0", call, (long long)a->num_facets);
  RITZ_REQUIRE(a->num_facets <= INT64_MAX >> 6, ceed, CEED_ERROR_DIMENSION,
               "%s: %lld boundary facets are too many", call, (long long)a->num_facets);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)a->num_facets << (draft->dim - 1), &draft->label_vertices));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)a->num_facets, &draft->label_part));
  draft->num_labels = a->num_facets;
  for (int64_t i = 0; i < a->num_facets; i++) RITZ_TRY(label_facet(ceed, &a->facets[i], i, draft));
  return CEED_ERROR_SUCCESS;
}

// ---- All together ----

static int fill_draft(Ceed ceed, const RitzMeshArrays *a, RitzMeshDraft *draft) {
  draft->dim = a->dim;
  draft->space_dim = a->space_dim;
  draft->order = a->order;
  draft->num_vertices = a->num_vertices;
  draft->num_blocks = a->num_blocks;
  RITZ_TRY(check_blocks(ceed, a));
  for (CeedInt b = 0; b < a->num_blocks; b++)
    draft->blocks[b] = (RitzMeshBlock){.topology = a->blocks[b].topology, .num_elem = a->blocks[b].num_elem};
  RITZ_TRY(ritz_mesh_check_sizes(ceed, call, draft));
  RITZ_TRY(copy_vertices(ceed, a, draft));
  RITZ_TRY(copy_positions(ceed, a, draft));
  RITZ_TRY(copy_regions(ceed, a, draft));
  return copy_facets(ceed, a, draft);
}

int RitzMeshCreate(Ceed ceed, const RitzMeshArrays *arrays, RitzMesh *mesh) {
  RitzMeshDraft draft = {0};

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, mesh);
  *mesh = NULL;
  RITZ_ARGUMENT(ceed, arrays);
  const int ierr = fill_draft(ceed, arrays, &draft);

  if (!ierr) return ritz_mesh_build(ceed, call, &draft, mesh);
  ritz_mesh_draft_clear(&draft);
  return ierr;
}
