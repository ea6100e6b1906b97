// SPDX-License-Identifier: BSD-2-Clause
// One bake-off problem as Ceed objects. Made by problem.c for bp.c, which checks and times it, and for
// `ritz explain` and `ritz cache warm`.
#ifndef RITZ_BP_PROBLEM_H
#define RITZ_BP_PROBLEM_H

#include "bp/bp.h"

#define BP_TRY(expr)                                                                                         \
  do {                                                                                                       \
    int bp_try_code_ = (expr);                                                                               \
    if (bp_try_code_) return bp_try_code_;                                                                   \
  } while (0)

typedef struct {
  Ceed ceed;                                      // borrowed
  const BpResult *sizes;                          // borrowed
  CeedElemRestriction rstr_x, rstr_u, rstr_qdata; // owned, as all that follow
  CeedBasis basis_x, basis_u, basis_constant;
  CeedVector x, qdata; // coordinates of the vertices; factors of points or elements, or NULL
  CeedVector u, v;     // [dofs], without values
  CeedVector in, out;  // what the operator is applied to: u and v, or vectors of float
  bool on_device;      // what computes may go on when a call has returned
  CeedOperator op;     // in -> out
} BpProblem;

static inline bool bp_is_mass(int bp) { return bp <= 2; }

// n elements of the given size and zeros; *p needs free().
int bp_allocate(Ceed ceed, CeedSize n, size_t size, void *p);

// Fills in the sizes that follow from the options; refuses options that cannot be served.
int bp_choose_sizes(Ceed ceed, BpResult *result);
// Costs and bound of these sizes.
void bp_count_costs(BpResult *result);

// Moves a point of the unit cube: a smooth displacement, zero on the boundary; a shear that keeps volumes.
void bp_deform(double amplitude, const double X[3], double x[3]);
extern const double bp_shear_matrix[3][3];
void bp_shear(const double X[3], double x[3]);

// ---- Tetrahedra, prisms and pyramids (shape.c) ----

int bp_shape_corners(const BpShape *shape);
double bp_shape_inverse_volume(const BpShape *shape); // of the reference element
// Nodes and points of an element.
int bp_shape_count(Ceed ceed, const BpResult *sizes, CeedInt *num_nodes, CeedInt *num_points);
// Nodes of degree `order` in a box that the lattice has not; 0 for NULL.
CeedSize bp_shape_extra_nodes(const BpShape *shape, CeedInt order);
// Basis of a field of degree `order`; with the points of the problem, or with one at the centre.
int bp_shape_create_basis(const BpProblem *problem, CeedInt order, CeedInt num_comp, bool at_centre,
                          CeedBasis *basis);
// A basis of one node, its value at all points of the problem.
int bp_shape_create_constant_basis(const BpProblem *problem, CeedInt num_comp, CeedBasis *basis);
// Numbers of the nodes of element e of a field of degree `order` over the whole box, in the order of the
// basis; corners for order 1.
void bp_shape_lattice(const BpResult *sizes, CeedInt order, CeedInt e, CeedInt *nodes);
// Sets x [3 num_nodes] to the positions of all nodes of degree `order`, x[3 k + d].
int bp_shape_node_positions(const BpProblem *problem, CeedInt order, double *x);

// ---- Hexahedra, and the lattice of all shapes ----

// Nodes per direction of the lattice of a field of degree `order`; returns their product.
CeedSize bp_count_nodes(const BpResult *sizes, CeedInt order, CeedInt nodes[3]);

// Position of node k of a field of degree `order` whose nodes in an element are at t1d [order+1] in [0,1].
// Behind the lattice of order 1 are the centres of the boxes.
void bp_node_position(const BpResult *sizes, CeedInt order, const double *t1d, CeedSize k, double x[3]);

// `problem` starts with zeros but for ceed and sizes (of bp_predict); it is to be destroyed even when the
// creation fails.
int bp_problem_create(BpProblem *problem);
void bp_problem_destroy(BpProblem *problem);

#endif
