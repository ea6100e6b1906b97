// SPDX-License-Identifier: BSD-2-Clause
// Inside of facets (ritz/facet.h): facets of reference elements, turned elements, the object. Shared by
// mesh/facets.c, mesh/facet-turns.c, mesh/interior-facets.c.
#ifndef RITZ_MESH_FACETS_H
#define RITZ_MESH_FACETS_H

#include <ritz/facet.h>

#include "mesh/mesh.h"

enum { RITZ_FACET_MAX_KINDS = 2, RITZ_FACET_TO_APEX = 3, RITZ_FACET_CLASSES = 3, RITZ_FACET_SIDES = 2 };

// Facets of one shape of an element.
typedef struct {
  int num;                // such facets
  int facet[6];           // their numbers, the standard one first or in its place
  int8_t turned[6][4];    // of each: the corners that become corner 0 and the ends of its edges along r, s, t
  CeedElemTopology shape; // of the facet; 0: a point
  int num_corners;        // of the facet
  int8_t corners[4];      // of the standard facet, lexicographic
  int across;             // the direction c of the reference element; RITZ_FACET_TO_APEX: from corner 0
  bool is_stiff;          // not every symmetry of the facet is one of the element
} RitzFacetKind;

typedef struct {
  CeedElemTopology topology;
  int num_kinds;
  RitzFacetKind kinds[RITZ_FACET_MAX_KINDS];
} RitzFacetKinds;

const RitzFacetKinds *ritz_facet_kinds(CeedElemTopology topology);
// Which of the kind's facets this is, -1: none.
int ritz_facet_place(const RitzFacetKind *kind, int facet);

// The elements on one side of the facets of a block.
typedef struct {
  int mesh_block;
  const RitzMeshShape *shape;
  const RitzFacetKind *kind;
  int8_t corners[4]; // of the standard element, in the order of the facet's corners
} RitzFacetSide;

// ---- Turned elements (mesh/facet-turns.c) ----
// The element of side 0 is turned by kind->turned, so that x_a x x_b points outwards. That of side 1 is
// turned so that its corner k of the facet is corner k of side 0. Its orientation says how: side 0's corner 0
// is side 1's own corner (in the order of kind->corners, turned by kind->turned) orientation / 2, and side
// 0's direction a is its own direction b where orientation is odd (triangles: the other way round). Side 0
// has orientation 0.
//
// Stiff elements (prisms beside quadrilaterals, pyramids beside triangles) cannot be turned in all ways. Then
// their facet lies in the reference element in one of three ways, its class: corners as they are, corners 1
// and 2 exchanged, corners 0 and 2 exchanged. Elements that are not stiff have class 0.
RitzFacetSide ritz_facet_side(int mesh_block, const RitzMeshShape *shape, const RitzFacetKind *kind,
                              int class);
int ritz_facet_class(const RitzMeshShape *shape, const RitzFacetKind *kind, int place, int orientation);
// From the numbers, among a side's own corners, of side 0's corners 0 and 1.
int ritz_facet_orientation(int num_corners, int first, int second);
static inline int ritz_facet_num_orientations(const RitzFacetKind *kind) { return 2 * kind->num_corners; }
// The corners of the element in the order of side 0's corners of the facet.
void ritz_facet_corners(const RitzMeshShape *shape, const RitzFacetKind *kind, int place, int orientation,
                        int8_t corners[4]);
// The corners that become corner 0 and the ends of its edges along r, s, t; false: there is no such turn.
bool ritz_facet_turn(const RitzFacetSide *side, int place, int orientation, int8_t turned[4]);
// Nodes of degree p of a turned element: nodes[i] is the element's own number of node i; nothing is written
// where there is no such turn. The same of the facet alone.
void ritz_facet_element_nodes(const RitzFacetSide *side, int place, int orientation, int64_t p,
                              int64_t *nodes);
void ritz_facet_trace_nodes(const RitzFacetSide *side, int place, int orientation, int64_t p, int64_t *nodes);

// ---- The object (mesh/facets.c) ----
typedef struct {
  RitzFacetSide sides[RITZ_FACET_SIDES];
  int64_t first, num; // in the lists
} RitzFacetBlock;

// Most pairs of kinds and classes that a mesh has: 8 across triangles, 7 across quadrilaterals.
enum { RITZ_FACET_MAX_BLOCKS = 15 };

struct RitzFacets_private {
  const RitzClass *class;
  Ceed ceed;     // borrowed: lives in mesh
  RitzMesh mesh; // counted
  int num_sides;
  CeedInt num_blocks;
  RitzFacetBlock blocks[RITZ_FACET_MAX_BLOCKS];
  int64_t *elements[RITZ_FACET_SIDES]; // owned, block by block, as the rest
  int8_t *numbers[RITZ_FACET_SIDES];
  int8_t *orientations; // of side 1
  CeedVector x;         // counted, made on request: geometry nodes of all elements, for interior facets
};
// Without facets.
int ritz_facets_create(RitzMesh mesh, int num_sides, RitzFacets *facets);
// Room for num facets.
int ritz_facets_allocate(RitzFacets facets, int64_t num);

#endif
