// SPDX-License-Identifier: BSD-2-Clause
// Element types of Gmsh and the order of their nodes. Used by the Gmsh reader.
//
// Corners come first, then the inner nodes of the edges from first to second corner, then those of the faces,
// then those inside. The inner nodes of a triangle, square, tetrahedron, cube or pyramid are a smaller shape
// of the same kind with the same rule; that of a face starts at the face's first listed corner and runs along
// its first edge. Inside of a prism the nodes of a triangle stand in that order too, and above each of them
// those of a segment. Incomplete types end behind the edges.
#include <stdlib.h>
#include <string.h>

#include "mesh/gmsh.h"

// Sorted by code.
static const RitzGmshType types[] = {
    {1, RITZ_SHAPE_SEGMENT, 1, 2, false},       {2, RITZ_SHAPE_TRIANGLE, 1, 3, false},
    {3, RITZ_SHAPE_SQUARE, 1, 4, false},        {4, RITZ_SHAPE_TETRAHEDRON, 1, 4, false},
    {5, RITZ_SHAPE_CUBE, 1, 8, false},          {6, RITZ_SHAPE_PRISM, 1, 6, false},
    {7, RITZ_SHAPE_PYRAMID, 1, 5, false},       {8, RITZ_SHAPE_SEGMENT, 2, 3, false},
    {9, RITZ_SHAPE_TRIANGLE, 2, 6, false},      {10, RITZ_SHAPE_SQUARE, 2, 9, false},
    {11, RITZ_SHAPE_TETRAHEDRON, 2, 10, false}, {12, RITZ_SHAPE_CUBE, 2, 27, false},
    {13, RITZ_SHAPE_PRISM, 2, 18, false},       {14, RITZ_SHAPE_PYRAMID, 2, 14, false},
    {15, RITZ_SHAPE_POINT, 1, 1, false},        {16, RITZ_SHAPE_SQUARE, 2, 8, true},
    {17, RITZ_SHAPE_CUBE, 2, 20, true},         {18, RITZ_SHAPE_PRISM, 2, 15, true},
    {19, RITZ_SHAPE_PYRAMID, 2, 13, true},      {21, RITZ_SHAPE_TRIANGLE, 3, 10, false},
    {23, RITZ_SHAPE_TRIANGLE, 4, 15, false},    {25, RITZ_SHAPE_TRIANGLE, 5, 21, false},
    {26, RITZ_SHAPE_SEGMENT, 3, 4, false},      {27, RITZ_SHAPE_SEGMENT, 4, 5, false},
    {28, RITZ_SHAPE_SEGMENT, 5, 6, false},      {29, RITZ_SHAPE_TETRAHEDRON, 3, 20, false},
    {30, RITZ_SHAPE_TETRAHEDRON, 4, 35, false}, {31, RITZ_SHAPE_TETRAHEDRON, 5, 56, false},
    {36, RITZ_SHAPE_SQUARE, 3, 16, false},      {37, RITZ_SHAPE_SQUARE, 4, 25, false},
    {38, RITZ_SHAPE_SQUARE, 5, 36, false},      {42, RITZ_SHAPE_TRIANGLE, 6, 28, false},
    {47, RITZ_SHAPE_SQUARE, 6, 49, false},      {62, RITZ_SHAPE_SEGMENT, 6, 7, false},
    {71, RITZ_SHAPE_TETRAHEDRON, 6, 84, false}, {90, RITZ_SHAPE_PRISM, 3, 40, false},
    {91, RITZ_SHAPE_PRISM, 4, 75, false},       {92, RITZ_SHAPE_CUBE, 3, 64, false},
    {93, RITZ_SHAPE_CUBE, 4, 125, false},       {94, RITZ_SHAPE_CUBE, 5, 216, false},
    {95, RITZ_SHAPE_CUBE, 6, 343, false},       {106, RITZ_SHAPE_PRISM, 5, 126, false},
    {107, RITZ_SHAPE_PRISM, 6, 196, false},     {118, RITZ_SHAPE_PYRAMID, 3, 30, false},
    {119, RITZ_SHAPE_PYRAMID, 4, 55, false},    {120, RITZ_SHAPE_PYRAMID, 5, 91, false},
    {121, RITZ_SHAPE_PYRAMID, 6, 140, false},
};

static int compare_code(const void *code, const void *type) {
  int64_t a = *(const int64_t *)code, b = ((const RitzGmshType *)type)->code;

  return a < b ? -1 : a > b;
}

const RitzGmshType *ritz_gmsh_find_type(int64_t code) {
  return bsearch(&code, types, sizeof(types) / sizeof(types[0]), sizeof(types[0]), compare_code);
}

// ---- Order of nodes ----

// Listed corners of edges and faces. A shape in the plane is its own face. `shrink` is by how much the degree
// falls from a solid to the one that its inner nodes make.
typedef struct {
  const char *edges, *faces;
  int shrink;
} Order;

static const Order orders[RITZ_NUM_SHAPES] = {
    [RITZ_SHAPE_SEGMENT] = {"01", "", 0},
    [RITZ_SHAPE_TRIANGLE] = {"01 12 20", "012", 0},
    [RITZ_SHAPE_SQUARE] = {"01 12 23 30", "0123", 0},
    [RITZ_SHAPE_TETRAHEDRON] = {"01 12 20 30 32 31", "021 013 032 312", 4},
    [RITZ_SHAPE_CUBE] = {"01 03 04 12 15 23 26 37 45 47 56 67", "0321 0154 0473 1265 2376 4567", 2},
    [RITZ_SHAPE_PRISM] = {"01 02 03 12 14 25 34 35 45", "021 345 0143 0352 1254", 0},
    [RITZ_SHAPE_PYRAMID] = {"01 03 04 12 14 23 24 34", "014 304 124 234 0321", 3},
};

typedef RitzLatticePoint Point;

// The triangle stands first, in the layer k = 1; the other layers of each node follow: p - 1, then between.
static void walk_prism_inside(RitzLatticeWalk *walk, const Point *corners, int64_t num_nodes) {
  int64_t bottom[RITZ_GMSH_MAX_NODES], p = walk->p, layer = num_nodes / (p + 1);
  RitzLatticeWalk triangle = {walk->topology, p, bottom};

  ritz_lattice_walk_face(&triangle, 3, corners, p);
  for (const int64_t *node = bottom; node < triangle.next; node++) {
    *walk->next++ = *node + layer;
    *walk->next++ = *node + (p - 1) * layer;
    for (int64_t k = 2; k < p - 1; k++) *walk->next++ = *node + k * layer;
  }
}

static void walk_faces(RitzLatticeWalk *walk, const char *faces, const Point *corners, int64_t p) {
  Point face[4];

  for (const char *c = faces; *c; c += *c == ' ') {
    int num = 0;

    for (; *c > ' '; c++) face[num++] = corners[*c - '0'];
    ritz_lattice_walk_face(walk, num, face, p);
  }
}

static void walk_cell(RitzLatticeWalk *walk, const RitzGmshType *type, Point origin, int64_t p) {
  const RitzMeshShape *shape = ritz_mesh_shape(walk->topology);
  const Order *order = &orders[type->shape];
  Point corners[8];

  if (p == 0) ritz_lattice_walk_point(walk, origin);
  if (p <= 0) return;
  for (int c = 0; c < shape->num_corners; c++) {
    const int8_t *at = shape->corner_at[ritz_listed_corner(type->shape, c)];

    for (int d = 0; d < 3; d++) corners[c].at[d] = origin.at[d] + at[d] * p;
    ritz_lattice_walk_point(walk, corners[c]);
  }
  for (const char *c = order->edges; *c; c += 2, c += *c == ' ')
    ritz_lattice_walk_edge(walk, corners[c[0] - '0'], corners[c[1] - '0'], p);
  walk_faces(walk, order->faces, corners, p);
  if (type->shape == RITZ_SHAPE_PRISM) walk_prism_inside(walk, corners, type->num_nodes);
  if (!order->shrink) return;
  for (int d = 0; d < 3; d++) origin.at[d]++;
  walk_cell(walk, type, origin, p - order->shrink);
}

const RitzGmshType *ritz_gmsh_complete_type(const RitzGmshType *type) {
  const RitzGmshType *twin = type;

  if (type->is_incomplete)
    for (twin = types; twin->is_incomplete || twin->shape != type->shape || twin->degree != type->degree;)
      twin++;
  return twin;
}

// The shape functions of the square with 8 nodes (serendipity) are -1/4 and 1/2 at its centre, those of the
// cube with 20 nodes -1/4 and 1/4.
void ritz_gmsh_fill_weights(const RitzGmshType *type, double *weights) {
  const Order *order = &orders[type->shape];
  int num_corners = ritz_shapes[type->shape].num_corners, num = ritz_gmsh_complete_type(type)->num_nodes;

  memset(weights, 0, (size_t)((num - type->num_nodes) * type->num_nodes) * sizeof(*weights));
  for (const char *face = order->faces; *face; face += strcspn(face, " "), face += *face == ' ') {
    if (strcspn(face, " ") < 4) continue;
    for (int c = 0; c < 4; c++) {
      const char a = face[c], b = face[(c + 1) % 4], *edge = order->edges;

      while (!(edge[0] == a && edge[1] == b) && !(edge[0] == b && edge[1] == a)) edge += 3;
      weights[a - '0'] = -0.25;
      weights[num_corners + (edge - order->edges) / 3] = 0.5;
    }
    weights += type->num_nodes;
  }
  for (int i = 0; i < type->num_nodes && type->shape == RITZ_SHAPE_CUBE; i++)
    weights[i] = i < num_corners ? -0.25 : 0.25;
}

void ritz_gmsh_fill_lattice(const RitzGmshType *type, int64_t *numbers) {
  RitzLatticeWalk walk = {ritz_shapes[type->shape].topology, type->degree, numbers};

  walk_cell(&walk, type, (Point){{0, 0, 0}}, type->degree);
  RITZ_ASSERT(walk.next == numbers + type->num_nodes);
}
