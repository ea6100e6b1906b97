// SPDX-License-Identifier: BSD-2-Clause
// Element types of Gmsh and the order of nodes on segments, squares and cubes. Used by the Gmsh reader.
//
// Corners come first, then the inner nodes of the edges from first to second corner, then those of the faces,
// then those inside. The inner nodes of a face or cube of degree p are a face or cube of degree p - 2 with
// the same rule; that of a face starts at the face's first listed corner and runs along its first edge.
#include <stdlib.h>

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
    {71, RITZ_SHAPE_TETRAHEDRON, 6, 84, false}, {92, RITZ_SHAPE_CUBE, 3, 64, false},
    {93, RITZ_SHAPE_CUBE, 4, 125, false},       {94, RITZ_SHAPE_CUBE, 5, 216, false},
    {95, RITZ_SHAPE_CUBE, 6, 343, false},
};

static int compare_code(const void *code, const void *type) {
  int64_t a = *(const int64_t *)code, b = ((const RitzGmshType *)type)->code;

  return a < b ? -1 : a > b;
}

const RitzGmshType *ritz_gmsh_find_type(int64_t code) {
  return bsearch(&code, types, sizeof(types) / sizeof(types[0]), sizeof(types[0]), compare_code);
}

// ---- Order of nodes ----
// Lattice indices add up like vectors: a step along axis d is stride[d].

typedef struct {
  int32_t *next; // where the next node goes
  int32_t stride[3];
} Walk;

// The inner nodes of the edge from a to b of degree p.
static void walk_edge(Walk *walk, int32_t a, int32_t b, int32_t p) {
  for (int32_t i = 1; i < p; i++) *walk->next++ = a + (b - a) / p * i;
}

// The square of degree p at `origin` with axes u and v.
static void walk_square(Walk *walk, int32_t origin, int32_t u, int32_t v, int32_t p) {
  const int32_t corners[4] = {origin, origin + p * u, origin + p * (u + v), origin + p * v};

  if (p == 0) *walk->next++ = origin;
  if (p <= 0) return;
  for (int c = 0; c < 4; c++) *walk->next++ = corners[c];
  for (int c = 0; c < 4; c++) walk_edge(walk, corners[c], corners[(c + 1) % 4], p);
  walk_square(walk, origin + u + v, u, v, p - 2);
}

static void walk_cube(Walk *walk, int32_t origin, int32_t p) {
  static const int edges[12][2] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                   {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
  static const int faces[6][4] = {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3},
                                  {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}};
  int32_t corners[8];

  if (p == 0) *walk->next++ = origin;
  if (p <= 0) return;
  for (int c = 0; c < 8; c++) {
    corners[c] = origin;
    for (int d = 0; d < 3; d++) corners[c] += (ritz_listed_corner[c] >> d & 1) * p * walk->stride[d];
    *walk->next++ = corners[c];
  }
  for (int i = 0; i < 12; i++) walk_edge(walk, corners[edges[i][0]], corners[edges[i][1]], p);
  for (int i = 0; i < 6; i++) {
    int32_t a = corners[faces[i][0]], u = (corners[faces[i][1]] - a) / p, v = (corners[faces[i][3]] - a) / p;

    walk_square(walk, a + u + v, u, v, p - 2);
  }
  walk_cube(walk, origin + walk->stride[0] + walk->stride[1] + walk->stride[2], p - 2);
}

void ritz_gmsh_fill_lattice(const RitzGmshType *type, int32_t *lattice) {
  int32_t p = type->degree;
  Walk walk = {lattice, {1, p + 1, (p + 1) * (p + 1)}};

  if (type->shape == RITZ_SHAPE_SEGMENT) {
    *walk.next++ = 0;
    *walk.next++ = p;
    walk_edge(&walk, 0, p, p);
  }
  if (type->shape == RITZ_SHAPE_SQUARE) walk_square(&walk, 0, walk.stride[0], walk.stride[1], p);
  if (type->shape == RITZ_SHAPE_CUBE) walk_cube(&walk, 0, p);
}
