// SPDX-License-Identifier: BSD-2-Clause
// Elements turned so that a facet lies at the standard place, and so that the elements on both of its sides
// see its points alike (contract in mesh/facets.h). Called by mesh/facets.c and mesh/interior-facets.c.
#include "mesh/facets.h"

static const RitzFacetKinds all_kinds[] = {
    {CEED_TOPOLOGY_LINE, 1, {{2, {0, 1}, {{0, 1}, {1, 0}}, (CeedElemTopology)0, 1, {0}, 0, false}}},
    {CEED_TOPOLOGY_TRIANGLE,
     1,
     {{3, {1, 0, 2}, {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}, CEED_TOPOLOGY_LINE, 2, {0, 1}, 1, false}}},
    {CEED_TOPOLOGY_QUAD,
     1,
     {{4,
       {2, 3, 0, 1},
       {{0, 1, 2}, {3, 2, 1}, {2, 0, 3}, {1, 3, 0}},
       CEED_TOPOLOGY_LINE,
       2,
       {0, 1},
       1,
       false}}},
    {CEED_TOPOLOGY_TET,
     1,
     {{4,
       {2, 0, 1, 3},
       {{0, 2, 1, 3}, {0, 3, 2, 1}, {0, 1, 3, 2}, {1, 2, 3, 0}},
       CEED_TOPOLOGY_TRIANGLE,
       3,
       {0, 1, 2},
       2,
       false}}},
    {CEED_TOPOLOGY_PYRAMID,
     2,
     {{4,
       {2, 3, 0, 1},
       {{0, 1, 2, 4}, {3, 2, 1, 4}, {2, 0, 3, 4}, {1, 3, 0, 4}},
       CEED_TOPOLOGY_TRIANGLE,
       3,
       {0, 1, 4},
       1,
       true},
      {1, {4}, {{0, 2, 1, 4}}, CEED_TOPOLOGY_QUAD, 4, {0, 1, 2, 3}, RITZ_FACET_TO_APEX, false}}},
    {CEED_TOPOLOGY_PRISM,
     2,
     {{2, {3, 4}, {{0, 2, 1, 3}, {3, 4, 5, 0}}, CEED_TOPOLOGY_TRIANGLE, 3, {0, 1, 2}, 2, false},
      {3,
       {1, 0, 2},
       {{0, 1, 2, 3}, {2, 0, 1, 5}, {1, 2, 0, 4}},
       CEED_TOPOLOGY_QUAD,
       4,
       {0, 1, 3, 4},
       1,
       true}}},
    {CEED_TOPOLOGY_HEX,
     1,
     {{6,
       {4, 5, 0, 1, 2, 3},
       {{0, 2, 1, 4}, {4, 5, 6, 0}, {0, 4, 2, 1}, {1, 3, 5, 0}, {0, 1, 4, 2}, {2, 6, 3, 0}},
       CEED_TOPOLOGY_QUAD,
       4,
       {0, 1, 2, 3},
       2,
       false}}},
};

const RitzFacetKinds *ritz_facet_kinds(CeedElemTopology topology) {
  const RitzFacetKinds *kinds = all_kinds;

  while (kinds->topology != topology) kinds++;
  return kinds;
}

int ritz_facet_place(const RitzFacetKind *kind, int facet) {
  for (int i = 0; i < kind->num; i++) {
    if (kind->facet[i] == facet) return i;
  }
  return -1;
}

// ---- Turned elements ----

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

// The corner at a point of the lattice of degree 1, -1: there is none.
static int corner_at(const RitzMeshShape *shape, const int64_t at[3]) {
  for (int c = 0; c < shape->num_corners; c++) {
    const int8_t *x = shape->corner_at[c];

    if (x[0] == at[0] && x[1] == at[1] && x[2] == at[2]) return c;
  }
  return -1;
}

// The corner that becomes corner `corner`.
static int turned_corner(const RitzMeshShape *shape, const int8_t *turned, int corner) {
  const int8_t *x = shape->corner_at[corner];
  int64_t to[3];

  turn(shape, turned, 1, (const int64_t[]){x[0], x[1], x[2]}, to);
  return corner_at(shape, to);
}

// Whether corners become corners, each once.
static bool is_symmetry(const RitzMeshShape *shape, const int8_t *turned) {
  int met = 0;

  for (int c = 0; c < shape->num_corners; c++) {
    const int to = turned_corner(shape, turned, c);
    if (to < 0) return false;
    met |= 1 << to;
  }
  return met == (1 << shape->num_corners) - 1;
}

// ---- Both sides ----

int ritz_facet_orientation(int num_corners, int first, int second) {
  const int along_b = num_corners == 3 ? (first + 2) % 3 : first ^ 2;

  return 2 * first + (num_corners > 2 && second == along_b);
}

// Which of a side's own corners of the facet corner k of side 0 is.
static int own_corner(int num_corners, int orientation, int k) {
  const int first = orientation / 2, swaps = orientation % 2;

  if (num_corners == 3) return (first + (swaps ? 3 - k : k)) % 3;
  return first ^ (swaps ? (k & 1) << 1 | k >> 1 : k);
}

void ritz_facet_corners(const RitzMeshShape *shape, const RitzFacetKind *kind, int place, int orientation,
                        int8_t corners[4]) {
  for (int k = 0; k < kind->num_corners; k++)
    corners[k] = (int8_t)turned_corner(shape, kind->turned[place],
                                       kind->corners[own_corner(kind->num_corners, orientation, k)]);
}

bool ritz_facet_turn(const RitzFacetSide *side, int place, int orientation, int8_t turned[4]) {
  const RitzMeshShape *shape = side->shape;
  int8_t corners[4];
  int off = 0;

  ritz_facet_corners(shape, side->kind, place, orientation, corners);
  for (int e = 0; e <= shape->dim; e++) {
    const int standard = corner_at(shape, (const int64_t[]){e == 1, e == 2, e == 3});
    int k = 0;

    while (k < side->kind->num_corners && side->corners[k] != standard) k++;
    if (k == side->kind->num_corners)
      off = e; // the one that does not lie on the facet
    else
      turned[e] = corners[k];
  }
  for (int c = 0; c < shape->num_corners; c++) {
    turned[off] = (int8_t)c;
    if (is_symmetry(shape, turned)) return true;
  }
  return false;
}

int ritz_facet_class(const RitzMeshShape *shape, const RitzFacetKind *kind, int place, int orientation) {
  int8_t turned[4];

  for (int c = 0; c < RITZ_FACET_CLASSES - 1; c++) {
    const RitzFacetSide side = ritz_facet_side(0, shape, kind, c);
    if (!kind->is_stiff || ritz_facet_turn(&side, place, orientation, turned)) return c;
  }
  return RITZ_FACET_CLASSES - 1;
}

RitzFacetSide ritz_facet_side(int mesh_block, const RitzMeshShape *shape, const RitzFacetKind *kind,
                              int class) {
  static const int8_t seen[RITZ_FACET_CLASSES][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {2, 1, 0, 3}};
  RitzFacetSide side = {.mesh_block = mesh_block, .shape = shape, .kind = kind};

  for (int k = 0; k < kind->num_corners; k++) side.corners[k] = kind->corners[seen[class][k]];
  return side;
}

// ---- Nodes ----

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

void ritz_facet_element_nodes(const RitzFacetSide *side, int place, int orientation, int64_t p,
                              int64_t *nodes) {
  int64_t at[3] = {0, 0, 0}, to[3], num = 0;
  int8_t turned[4];

  if (!ritz_facet_turn(side, place, orientation, turned)) return;
  do {
    turn(side->shape, turned, p, at, to);
    nodes[num++] = ritz_mesh_lattice_index(side->shape->topology, p, to);
  } while (next_point(side->shape->topology, p, at));
}

void ritz_facet_trace_nodes(const RitzFacetSide *side, int place, int orientation, int64_t p,
                            int64_t *nodes) {
  const RitzMeshShape *shape = side->shape;
  int64_t at[3] = {0, 0, 0}, num = 0;
  int8_t corners[4];

  ritz_facet_corners(shape, side->kind, place, orientation, corners);
  do {
    int64_t in[3];

    ritz_mesh_lattice_point(shape, p, corners, shape->dim, (const int64_t[]){0, at[0], at[1]}, in);
    nodes[num++] = ritz_mesh_lattice_index(shape->topology, p, in);
  } while (next_point(side->kind->shape, p, at));
}
