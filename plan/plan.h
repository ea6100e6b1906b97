// SPDX-License-Identifier: BSD-2-Clause
// The plan of an operator: what a kernel computes, whatever machine runs it. Bases, spaces (a gather or a
// scatter each), fields of the QFunction, and the list of steps that an apply is (plan/steps.h). Made from
// the operator by pure functions, and self-contained: it holds no handle of an object and nothing of the
// environment, so equal plans (ritz_plan_write) give equal kernels.
//
// Lowering decides how a machine does it: plan/cpu.h and plan/gpu.h make a target from a plan, emit/ turns
// both into text, backends/ run it. The ahead-of-time kernel of backends/cpu walks the list of steps.
#ifndef RITZ_PLAN_PLAN_H
#define RITZ_PLAN_PLAN_H

#include <stdio.h>

#include "core/core.h"

// ---- Bases ----

typedef enum {
  RITZ_ROUTE_IDENTITY,   // tensor: nodes are points, B = 1; derivatives along lines of points
  RITZ_ROUTE_COLLOCATED, // tensor: interpolate, then differentiate at the points; D = C B
  RITZ_ROUTE_DIRECT,     // tensor: each derivative from the nodes; in 1D, and when there is no such C
  RITZ_ROUTE_DENSE,      // matrices [component][Q][P], handed over at run time
  RITZ_ROUTE_BLOCKS,     // vector basis of tensor products: block by block, with the 1D matrices in `lines`
  RITZ_ROUTE_POINTS      // tensor: nodes -> coefficients of Chebyshev polynomials, which are evaluated at
                         // points of each element's own
} RitzRoute;

// Parity of a 1D matrix under reversal of rows and columns, A[m-1-i][k-1-j] = parity A[i][j]; 0: neither.
typedef struct {
  CeedInt rows, cols;
  int parity;
  CeedScalar *values; // owned, [rows][cols]
} RitzPlanMatrix;

// Pairs of entries that an exchange swaps, then those that it leaves alone.
typedef struct {
  CeedInt pairs, alone;
  CeedInt *at; // owned, [2 pairs + alone]
} RitzPlanPairs;

// Component c of a value is the scalar tensor product of block c, on num_nodes nodes that begin at `first`
// among those of a field component, first direction fastest. Nothing is said beyond dim directions: P 1, the
// rest -1.
typedef struct {
  CeedInt P[3], num_nodes, first;
  int interp[3]; // 1D matrices P[d] -> Q_1d: numbers in `lines`
  // The derivative along d, -1 unless fields ask for it and it differentiates there: the matrix, and where
  // its product with the interp of the others goes, with which sign. Row 0 of DIV gets d_c of block c, a row
  // of CURL two of two blocks.
  int grad[3], row[3], sign[3];
} RitzPlanBlock;

typedef struct {
  int field; // of the operator, the first with this basis: backends find the CeedBasis there
  bool is_tensor;
  CeedInt dim, P_1d, Q_1d; // tensor; Q_1d: of blocks, too
  CeedInt P, Q;
  CeedInt q_comp_interp, q_comp_deriv; // components of a value and of grad, div or curl, per field component
  CeedEvalMode deriv_mode;             // dense, blocks: GRAD, DIV or CURL, what fields ask for; else NONE
  RitzRoute route;
  RitzPlanMatrix interp, grad, deriv; // tensor: P_1d -> Q_1d (two), Q_1d -> Q_1d (collocated, else no values)
  RitzPlanMatrix chebyshev;           // route POINTS: nodes -> coefficients of a line, [Q_1d][P_1d]
  RitzPlanBlock blocks[3];            // route BLOCKS: of components 0 .. dim-1
  int num_lines;
  RitzPlanMatrix *lines; // owned; route BLOCKS: its 1D matrices, each once
  CeedScalar *weights;   // owned, tensor and blocks: [Q_1d]; dense: [Q]; NULL when no field asks
  CeedScalar *points;    // owned [Q_1d]: tensor of degree one with nodes at -1 and 1; else NULL
  // Owned, [q_comp][P]: the rows that are the same at all points; NULL where they differ.
  CeedScalar *constant_interp, *constant_deriv;
  CeedInt first_matrix; // dense: of interp and derivative in the kernel's list of matrices; -1: none
  // Dense and symmetric (plan/exchange-symmetry.c): what its matrices take sums and differences of nodes to.
  // Owned; derivatives are [dim][Q].
  bool is_even_odd;
  RitzPlanPairs node_pairs, interp_pairs, deriv_pairs;
  CeedScalar *even_odd_interp,
      *even_odd_deriv; // even [pairs + alone][pairs + alone], then odd [pairs][pairs]
} RitzPlanBasis;

// ---- Spaces and fields ----

// How an input comes to the points. Outputs and active inputs go line by line.
typedef enum {
  RITZ_INPUT_CONTRACTED, // by the route of its basis
  RITZ_INPUT_LINEAR,     // degree one: monomials of the element, the rest in registers row by row. The
                         // coordinates of trilinear elements: J_r constant in r, J_s and J_t linear in it
  RITZ_INPUT_CONSTANT,   // the same at all points: once an element. Geometry of affine elements
} RitzInputKind;

// Properties of an element restriction that kernels depend on.
typedef struct {
  int number; // equal numbers: the same restriction
  CeedRestrictionType type;
  CeedInt comp_stride, row_step; // row_step: entries from a node of a row to the next
  CeedInt strides[3];            // of strided ones: node, component, element
  CeedSize l_size, e_size;
} RitzPlanRestriction;

// A restriction, a vector and a basis: gathered once for all input fields that share them, scattered once for
// all such output fields.
typedef struct {
  bool is_input, is_active;
  int field; // of the operator, the first of this space: backends find restriction and vector there; -1:
             // the coordinates of the points
  RitzPlanRestriction restriction; // num_elem elements of num_nodes nodes, num_comp components
  CeedScalarType precision;        // of the L-vector's entries; kernels convert
  int32_t array;                   // number of the L-vector; spaces of the same vector have the same
  CeedInt num_nodes, num_comp;
  int basis;      // -1: values at the points, num_nodes = Q
  unsigned modes; // union of CEED_EVAL_INTERP, GRAD, DIV, CURL; 0 with basis -1
  bool is_oriented, is_curl_oriented;
  bool is_interlaced; // comp_stride 1 with several components
  RitzInputKind kind;
} RitzPlanSpace;

// A field of the QFunction, in its order: inputs, then outputs, without those of size 0.
typedef struct {
  char *name;   // owned
  int argument; // number among all inputs or outputs of the function
  CeedEvalMode mode;
  CeedInt size;
  int space; // -1: weights
  int basis; // of the space, or whose weights; -1: none
} RitzPlanField;

// ---- The plan ----

enum { RITZ_POINTS_AT_ONCE = 8 };

typedef struct RitzSteps RitzSteps; // plan/steps.h

// Per element and apply.
typedef struct {
  double flops;         // contractions as done by the routes (even-odd not subtracted), plus user_flops * Q
  double bytes_stored;  // passive data at points
  double bytes_offsets; // as the gathers read them
  double bytes_vectors; // L-vectors: each entry once if read, twice if written; from l_size / num_elem
} RitzPlanCost;

typedef struct {
  char *name;               // owned: of the operator or its QFunction
  CeedScalarType precision; // of the arithmetic
  CeedInt num_elem;
  CeedInt dim, Q_1d, Q; // grid of points: Q = Q_1d^dim; without tensor bases dim 1, Q_1d = Q
  // Each element has points of its own, whose coordinates are space 0. They come RITZ_POINTS_AT_ONCE vectors
  // at a time: Q, and the nodes of spaces at the points, are so many.
  bool is_at_points;
  CeedSize num_points; // of all elements
  CeedInt vec_length;
  char *function_name; // owned; an identifier, "" without one
  char *source_path;   // owned; of ritz_qfunction_find_source, NULL without
  char *source_text;   // owned; the source itself, NULL where it is a file or carried by the library
  bool is_cxx;         // it is C++ and no C
  double user_flops;   // of the QFunction at a point; 0: unknown
  bool has_context, is_context_writable; // has_context: of some bytes
  int num_defines;
  char **defines; // owned: "NAME" or "NAME=value", for the QFunction's text
  int num_bases, num_spaces, num_in, num_out, num_arrays, num_matrices;
  int num_in_arguments, num_out_arguments; // of the function: the fields and those of size 0
  RitzPlanBasis *bases;                    // owned
  RitzPlanSpace *spaces;                   // owned; inputs first
  RitzPlanField *fields;                   // owned; num_in + num_out
  RitzSteps *steps;                        // owned: those of an apply
} RitzPlan;

// Structure of bases that a plan may use.
typedef struct {
  bool allows_simple_inputs; // false: all fields line by line
  bool only_constant_inputs; // of simple inputs: those that are the same at all points
  bool allows_even_odd;      // false: symmetry of dense bases is not looked for
  bool even_odd_near;        // bases that are symmetric to 500 round-offs, too (plan/exchange-symmetry.c)
  bool allows_blocks;        // false: vector bases of tensor products are dense
  bool allows_points;        // false: operators at points have no plan
} RitzPlanOptions;

// *reason (static string) when the operator has no plan at all, *plan NULL then: blocked restrictions, points
// where the options allow none.
int ritz_plan_operator(CeedOperator op, const RitzPlanOptions *options, RitzPlan **plan, const char **reason);
// Number of the field (0: the first input, or the first output) that the function gets as this argument; -1:
// one of size 0, for which it gets NULL.
int ritz_plan_field_of(const RitzPlan *plan, bool is_input, int argument);
// The active input field whose values at the points are to be multiplied with those of output field i to give
// u . A u; -1: there is none.
int ritz_plan_partner(const RitzPlan *plan, int i);
void ritz_plan_free(RitzPlan **plan);

// A basis on a tensor grid of points, Q_1d a direction.
static inline bool ritz_plan_has_grid(const RitzPlanBasis *basis) {
  return basis->is_tensor || basis->route == RITZ_ROUTE_BLOCKS;
}

// Points that an element has, on average where they differ.
static inline double ritz_plan_points(const RitzPlan *plan) {
  if (!plan->is_at_points) return plan->Q;
  return plan->num_elem > 0 ? (double)plan->num_points / plan->num_elem : 0;
}

// Data at points that the operator does not change.
static inline bool ritz_plan_is_stored(const RitzPlanSpace *space) {
  return space->is_input && !space->is_active && space->basis < 0;
}

// Offsets that the machine reads for a space: one a row of `row_length` nodes (0: one a node), or none.
typedef struct {
  bool has_offsets;
  CeedInt row_length;
} RitzPlanAccess;

// Costs of an apply with this access to each of the plan's spaces.
RitzPlanCost ritz_plan_cost(const RitzPlan *plan, const RitzPlanAccess *access);

// Several lines for people: sizes, fields, spaces, bases, costs.
int ritz_plan_print(const RitzPlan *plan, const RitzPlanCost *cost, FILE *stream);
// Everything that a kernel depends on, numbers in full: equal writings, targets and texts of the QFunction
// make equal kernels. Sizes of the mesh and names of fields, on which none depends, are left out, and so is
// the place of the text.
int ritz_plan_write(const RitzPlan *plan, FILE *stream);

#endif
