// SPDX-License-Identifier: BSD-2-Clause
// Inside of locators: boxes that hold elements, a tree of boxes, inverse maps. Used by mesh/locate.c and the
// files named here.
#ifndef RITZ_MESH_LOCATE_H
#define RITZ_MESH_LOCATE_H

#include <ritz/locate.h>

#include "mesh/mesh.h"

// ---- Boxes of elements (mesh/hull.c) ----
// Takes Bernstein coefficients of element maps on the cube that collapses to the reference element. There the
// map is a polynomial of degree g in each direction, so that its image lies in their convex hull.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt space_dim, P;         // P = g + 1
  int64_t num_nodes, num_coefs; // num_coefs = P^dim
  double *line;                 // owned, [P][P]: from values at Gauss-Lobatto points to coefficients
  double *dense;                // owned, [num_coefs][num_nodes]; NULL on tensor shapes
  double norm;                  // bound of the largest row sum of what makes coefficients of nodes
  double *work;                 // owned
} RitzMeshHull;
enum { RITZ_HULL_MAX_ORDER = 16 }; // beyond, coefficients have no digits left
int ritz_mesh_hull_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                          RitzMeshHull *hull);
void ritz_mesh_hull_clear(RitzMeshHull *hull);
// box [2][space_dim]: low, high, of the element with nodes x [num_nodes][space_dim] and all points beyond it
// whose reference coordinates are outside by `tolerance` <= 0.01 at most, except for points beyond the apex
// of a pyramid, where its functions have no bound; rounding is allowed for.
void ritz_mesh_hull_take(RitzMeshHull *hull, const double *x, double tolerance, double *box);

// ---- Trees of boxes (mesh/box-tree.c) ----
// Leaves in Morton order of their centres; every box of a level holds RITZ_TREE_WIDTH neighbours of the level
// below. (Kamel and Faloutsos 1993.)
enum { RITZ_TREE_WIDTH = 8, RITZ_TREE_MAX_LEVELS = 22 };
typedef struct {
  int space_dim, num_levels;
  int64_t first[RITZ_TREE_MAX_LEVELS], num[RITZ_TREE_MAX_LEVELS]; // boxes of a level, leaves first
  double *boxes;                                                  // owned, of all levels, [2][space_dim] each
  int64_t *leaves;                                                // owned, [num[0]]: number of the box
} RitzBoxTree;
// boxes [num][2][space_dim], num >= 1.
int ritz_box_tree_create(Ceed ceed, int space_dim, int64_t num, const double *boxes, RitzBoxTree *tree);
void ritz_box_tree_clear(RitzBoxTree *tree);

// Goes through the boxes that hold a point, in an order of the tree's.
typedef struct {
  const RitzBoxTree *tree;
  const double *x; // borrowed
  int level;       // RITZ_TREE_MAX_LEVELS and more: at the end
  int64_t next[RITZ_TREE_MAX_LEVELS], end[RITZ_TREE_MAX_LEVELS];
} RitzBoxWalk;
RitzBoxWalk ritz_box_tree_walk(const RitzBoxTree *tree, const double *x);
int64_t ritz_box_walk_next(RitzBoxWalk *walk); // the number of the next box, -1: no more

// ---- Inverse maps (mesh/inverse.c) ----
// The maps of the elements of one shape; tables are shared by threads.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt dim, space_dim, P; // P = g + 1
  int64_t num_nodes;
  double *positions;       // owned, [num_nodes][dim]: of the nodes in the reference element
  double *nodes, *weights; // owned, tensor shapes: Gauss-Lobatto points, their barycentric weights, [P] each
  double *modal;           // owned, other shapes: [num_nodes][num_nodes], from nodes to modes
} RitzMeshInverse;
int ritz_mesh_inverse_create(Ceed ceed, CeedElemTopology topology, CeedInt space_dim, CeedInt order,
                             RitzMeshInverse *inverse);
void ritz_mesh_inverse_clear(RitzMeshInverse *inverse);
int64_t ritz_mesh_inverse_work_size(const RitzMeshInverse *inverse); // doubles

// One element, opened by a thread.
typedef struct {
  const RitzMeshInverse *inverse; // borrowed
  const double *x;                // borrowed, [num_nodes][space_dim]
  double extent, magnitude;       // largest distance of a node from the first one; largest coordinate
  double *coefs; // borrowed: the map relative to the first node, [num_nodes][space_dim]; nodes or modes
  double *work;  // borrowed
} RitzMeshElementMap;
// work: ritz_mesh_inverse_work_size doubles, which the map uses as long as it is open.
RitzMeshElementMap ritz_mesh_element_open(const RitzMeshInverse *inverse, const double *x, double *work);

// The reference point that an element's map takes to a point.
typedef struct {
  double xi[3];
  double depth;    // how far inside of the reference element; negative: outside
  double rounding; // how far xi moves with 16 roundings of the position
} RitzMeshPreimage;
// Newton's method from the centre, or from node `start` >= 0 of the geometry. False: it led nowhere or far
// out of the element, or, on surfaces and curves, the element is farther away than `tolerance` extents.
bool ritz_mesh_element_invert(const RitzMeshElementMap *map, const double *x, double tolerance, int64_t start,
                              RitzMeshPreimage *found);
// Whether one start tells all: the map is affine whatever its nodes.
bool ritz_mesh_inverse_is_affine(const RitzMeshInverse *inverse);
// The nodes nearest to a point, nearest first; how many there are, num at most.
int ritz_mesh_element_nearest(const RitzMeshElementMap *map, const double *x, int num, int64_t *nodes);

#endif
