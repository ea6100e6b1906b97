// SPDX-License-Identifier: BSD-2-Clause
// The surface of a grid: faces that one cell alone has, and cells of dimension 2. Used by cli/picture.c.
//
// A face of degree p has the nodes of a lattice, (i, j) in i-fastest order with 0 <= i, j <= p, of triangles
// i + j <= p; its edges are t = 0, then round: of quadrilaterals s = 1, t = 1, s = 0, of triangles s + t = 1,
// s = 0, where s = i / p and t = j / p.
#ifndef RITZ_CLI_SURFACE_H
#define RITZ_CLI_SURFACE_H

#include "cli/vtu.h"

typedef struct {
  int64_t cell;
  uint8_t face;  // of the cell
  uint8_t lines; // bit e: edge e is an edge of an element
} SurfaceFace;

typedef struct {
  const VtuGrid *grid; // borrowed
  int64_t num_faces;
  SurfaceFace *faces; // owned
  int max_degree;
} Surface;

enum { SURFACE_MAX_DEGREE = 64, SURFACE_MAX_NODES = (SURFACE_MAX_DEGREE + 1) * (SURFACE_MAX_DEGREE + 1) };

// Moves and scales the points of the grid into [-1, 1]^3. Returns an exit code, after a message.
int surface_create(const VtuFile *file, VtuGrid *grid, Surface *surface);
void surface_destroy(Surface *surface);

// The points of a face in the order above; *num_corners 3 or 4. Returns its degree.
int surface_nodes(const Surface *surface, int64_t face, int *num_corners, int64_t ids[SURFACE_MAX_NODES]);

#endif
