// SPDX-License-Identifier: BSD-2-Clause
// What the readers of mesh files share: shapes, orders of corners, names of parts and regions,
// interpolation of node positions. Used by mesh/gmsh*.c, mesh/mfem*.c and mesh/read.c.
#ifndef RITZ_MESH_READER_H
#define RITZ_MESH_READER_H

#include "mesh/text.h"

// ---- Shapes (mesh/reader.c) ----
// The values are the geometry codes of MFEM.
typedef enum {
  RITZ_SHAPE_POINT,
  RITZ_SHAPE_SEGMENT,
  RITZ_SHAPE_TRIANGLE,
  RITZ_SHAPE_SQUARE,
  RITZ_SHAPE_TETRAHEDRON,
  RITZ_SHAPE_CUBE,
  RITZ_SHAPE_PRISM,
  RITZ_SHAPE_PYRAMID,
  RITZ_NUM_SHAPES,
} RitzShape;

typedef struct {
  const char *name, *plural;
  int dim, num_corners;
} RitzShapeInfo;

extern const RitzShapeInfo ritz_shapes[RITZ_NUM_SHAPES];

// Both formats list the corners of squares and cubes counterclockwise, bottom before top; the lexicographic
// corner l is number ritz_listed_corner[l] of the list, and the other way round.
extern const int ritz_listed_corner[8];

// Requires that all elements (counts of each shape, points and lower dimensions left out) are segments,
// squares or cubes; otherwise CEED_ERROR_UNSUPPORTED at `place` with all that was found.
int ritz_reader_check_shapes(const RitzMeshText *text, int64_t place, const int64_t counts[RITZ_NUM_SHAPES],
                             RitzShape *shape);
CeedElemTopology ritz_reader_topology(RitzShape shape);

// Makes room for `needed` items of `size` bytes in *array, which has room for *capacity of them now; grows
// by half at least. Fails without changing anything.
int ritz_reader_reserve(Ceed ceed, int64_t needed, size_t size, int64_t *capacity, void **array);

// ---- Names of parts and regions (mesh/reader-names.c) ----
// What a key of facets or elements (physical tag, attribute) is called. An unknown key and an empty name
// stand for the number.
typedef struct {
  int64_t key;
  int32_t number;
  const char *name; // borrowed; may be NULL
} RitzReaderName;

// The names of the distinct ones among keys[num], in ascending order of the keys; *names belongs to the
// caller. Known names are sorted by key; an unknown key must be an int32. Keys of the same name share one
// entry if `index` is wanted: index[i] is the entry of keys[i].
int ritz_reader_collect_names(Ceed ceed, int64_t num, const int64_t *keys, int64_t num_known,
                              const RitzReaderName *known, CeedInt *num_names, RitzMeshName **names,
                              int32_t *index);

// ---- Node positions (mesh/reader-nodes.c) ----
// Takes the nodes of one element from 1D positions of degree p to Gauss-Lobatto points of degree q >= p; the
// polynomial stays the same.
typedef struct {
  int dim, space_dim, num_in, num_out; // nodes per direction: p + 1 and q + 1
  double *matrix;                      // owned, [num_out][num_in]
  double *in, *out, *work;             // owned, [space_dim][num^dim]
} RitzReaderNodes;

// in_points[p + 1] in [-1, 1].
int ritz_reader_nodes_create(Ceed ceed, int dim, int space_dim, int p, const double *in_points, int q,
                             RitzReaderNodes *nodes);
void ritz_reader_nodes_destroy(RitzReaderNodes *nodes);
// x [num_out^dim][space_dim] from nodes->in, both lexicographic; false if something overflows.
bool ritz_reader_nodes_apply(const RitzReaderNodes *nodes, double *x);

// The largest degree of geometry that is read; beyond it equispaced nodes carry no digits.
enum { RITZ_READER_MAX_DEGREE = 32 };

#endif
