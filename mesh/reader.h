// SPDX-License-Identifier: BSD-2-Clause
// What the readers of mesh files share: shapes, orders of corners and nodes, blocks of the draft, names of
// parts and regions, interpolation of node positions. Used by mesh/gmsh*.c, mesh/mfem*.c and mesh/read.c.
#ifndef RITZ_MESH_READER_H
#define RITZ_MESH_READER_H

#include "mesh/lattice.h"
#include "mesh/text.h"

// The largest degree of geometry that is read; beyond it equispaced nodes carry no digits. On triangles,
// tetrahedra, prisms and pyramids matrices are dense, and their bases are made for degrees up to 10.
enum { RITZ_READER_MAX_DEGREE = 32, RITZ_READER_MAX_DENSE_DEGREE = 10 };

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
  CeedElemTopology topology; // points: none
} RitzShapeInfo;

extern const RitzShapeInfo ritz_shapes[RITZ_NUM_SHAPES];

// Both formats list the corners of squares, of cubes and of the bases of pyramids around, bottom before top;
// meshes have them in lexicographic order. The other shapes have the same order in both. Corner c of a mesh
// is number ritz_listed_corner(shape, c) of the list, and the other way round.
int ritz_listed_corner(RitzShape shape, int corner);

// ---- Blocks of a draft (mesh/reader.c) ----
// One block for every shape of dimension draft->dim that is counted; then ritz_mesh_draft_lay_out.
int ritz_reader_lay_out(const RitzMeshText *text, const int64_t counts[RITZ_NUM_SHAPES],
                        RitzMeshDraft *draft);
RitzShape ritz_reader_block_shape(const RitzMeshBlock *block);
// Fails unless some element of the draft has facets of this shape.
int ritz_reader_check_facet(const RitzMeshText *text, int64_t place, RitzShape facet,
                            const RitzMeshDraft *draft);

// ---- Names of parts and regions (mesh/reader-names.c) ----
// Name of a key of facets or elements (physical tag, attribute). An unknown key and an empty name
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

// ---- Vertices that become one ----
// Vertex v of elements and labels becomes to[v], unless that is negative (mesh/reader.c).
void ritz_reader_renumber(const int64_t *to, RitzMeshDraft *draft);
// Vertices at most `distance` apart become the first of them (mesh/merge.c). The draft is laid out.
int ritz_reader_merge(Ceed ceed, double distance, RitzMeshDraft *draft);

// ---- Node positions (mesh/reader-nodes.c) ----
// Takes the nodes of one element from a lattice of degree p, where ritz_lattice_place puts them, to the
// Lagrange nodes of degree q >= p; the polynomial stays the same.
typedef struct {
  CeedElemTopology topology;
  int space_dim, num_in, num_out; // nodes of an element
  int dim, rows, cols;            // a matrix for each of dim directions, or a dense one (dim = 1)
  double *matrix;                 // owned, [rows][cols]
  double *in, *out, *work;        // owned, [space_dim][num_in], [space_dim][num_out]
} RitzReaderNodes;

// in_points[p + 1] in [-1, 1].
int ritz_reader_nodes_create(Ceed ceed, CeedElemTopology topology, int space_dim, int p,
                             const double *in_points, int q, RitzReaderNodes *nodes);
void ritz_reader_nodes_destroy(RitzReaderNodes *nodes);
// x [num_out][space_dim] from nodes->in, both lexicographic; false if something overflows.
bool ritz_reader_nodes_apply(const RitzReaderNodes *nodes, double *x);

#endif
