// SPDX-License-Identifier: BSD-2-Clause
// The plan of an operator: a description of the kernel to build, printable and comparable. Made from the
// operator by pure functions; emit/ turns it into text, backends/cpu runs what becomes of it, and the
// ahead-of-time kernel of backends/cpu interprets it directly.
//
// Two halves. The mathematical one says what is computed: bases, spaces (a gather or a scatter each) and the
// fields of the QFunction. The target half says how: lanes, evaluation, routes, shared arrays; it is chosen
// from the first for a machine, and open to tuning.
#ifndef RITZ_PLAN_PLAN_H
#define RITZ_PLAN_PLAN_H

#include <stdio.h>

#include "core/core.h"

// ---- Mathematical half ----

typedef enum {
  RITZ_ROUTE_IDENTITY,   // target half, tensor: nodes are points, B = 1; derivatives along lines of points
  RITZ_ROUTE_COLLOCATED, // tensor: interpolate, then differentiate at the points; D = C B
  RITZ_ROUTE_DIRECT,     // tensor: one sweep per derivative; when there is no such C
  RITZ_ROUTE_DENSE       // matrices [component][Q][P], handed over at run time
} RitzRoute;

// What a 1D matrix does under reversal of rows and columns, A[m-1-i][k-1-j] = parity A[i][j]; 0: neither.
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

typedef struct {
  CeedBasis basis; // borrowed from the operator
  bool is_tensor;
  CeedInt dim, P_1d, Q_1d; // tensor
  CeedInt P, Q;
  CeedInt q_comp_interp, q_comp_deriv; // components of a value and of grad, div or curl, per field component
  CeedEvalMode deriv_mode;             // of dense bases: GRAD, DIV or CURL, what fields ask for; else NONE
  RitzRoute route;
  RitzPlanMatrix interp, grad, deriv; // tensor: P_1d -> Q_1d (two), Q_1d -> Q_1d (collocated, else no values)
  CeedScalar *weights;                // owned, tensor: [Q_1d]; dense: [Q]; NULL when no field asks
  CeedScalar *points;                 // owned [Q_1d]: tensor of degree one with nodes at -1 and 1; else NULL
  // Owned, [q_comp][P]: the rows that are the same at all points; NULL where they differ.
  CeedScalar *constant_interp, *constant_deriv;
  CeedInt first_matrix; // dense: of interp and derivative in the kernel's list of matrices; -1: none
  // Target half, dense and symmetric (plan/fold.c): what its matrices take sums and differences of nodes to.
  // Owned; derivatives are [dim][Q].
  bool is_folded;
  RitzPlanPairs node_pairs, interp_pairs, deriv_pairs;
  CeedScalar *folded_interp, *folded_deriv; // even [pairs + alone][pairs + alone], then odd [pairs][pairs]
} RitzPlanBasis;

typedef enum {
  RITZ_GATHER_NODES,   // one offset per node
  RITZ_GATHER_ROWS,    // one offset per row of nodes (backends/cpu/rows.h)
  RITZ_GATHER_STRIDED, // no offsets
  RITZ_GATHER_PACKED,  // data at points that lie in batch order (RitzPacking)
} RitzGather;

// How an input comes to the points. Outputs and active inputs go line by line.
typedef enum {
  RITZ_FORM_LINES,    // by the route of its basis
  RITZ_FORM_LINEAR,   // degree one: monomials of the element, the rest in registers row by row. The
                      // coordinates of trilinear elements: J_r constant in r, J_s and J_t linear in it
  RITZ_FORM_CONSTANT, // the same at all points: once an element. Geometry of affine elements
} RitzForm;

// A restriction, a vector and a basis: gathered once for all input fields that share them, scattered once for
// all such output fields.
typedef struct {
  bool is_input, is_active;
  CeedElemRestriction rstr; // borrowed
  CeedVector vec;           // borrowed; CEED_VECTOR_ACTIVE
  int32_t array;            // number of the L-vector; spaces of the same vector have the same
  CeedInt num_nodes, num_comp;
  int basis;      // -1: values at the points, num_nodes = Q
  unsigned modes; // union of CEED_EVAL_INTERP, GRAD, DIV, CURL; 0 with basis -1
  bool is_oriented, is_curl_oriented;
  bool is_interlaced; // comp_stride 1 with several components
  // target half
  RitzForm form;
  RitzGather gather;
  CeedInt row_length; // of GATHER_ROWS
  int overwrites;     // outputs: input space whose element arrays it takes over when they are spent; -1: none
} RitzPlanSpace;

// A field of the QFunction, in its order: inputs, then outputs.
typedef struct {
  const char *name; // borrowed
  CeedEvalMode mode;
  CeedInt size;
  int space; // -1: weights
  int basis; // of the space, or whose weights; -1: none
} RitzPlanField;

// ---- Target half ----

typedef enum {
  RITZ_EVALUATE_PLANES, // whole element along the last direction, then plane by plane, row by row
  RITZ_EVALUATE_VALUES, // values only: row by row, in registers
  RITZ_EVALUATE_FLAT,   // no tensor basis: all points one row
  RITZ_EVALUATE_NONE,   // not fusible (bases on different point grids): the ahead-of-time kernel runs it
} RitzEvaluation;

// How the point function is reached.
typedef enum {
  RITZ_CALL_TEXT,    // its text is part of the kernel, called point by point
  RITZ_CALL_POINTER, // the application's function, called row by row
} RitzCall;

typedef struct {
  CeedInt lanes;
  RitzEvaluation evaluation;
  RitzCall call;
  CeedInt call_points; // points per call: 1 or a row; times lanes a multiple of vec_length
  bool prefetch_packed, prefetch_vectors;
} RitzPlanTarget;

// Per element and apply.
typedef struct {
  double flops;         // contractions as done by the routes (even-odd not subtracted), plus user_flops * Q
  double bytes_stored;  // passive data at points
  double bytes_offsets; // as the gathers read them
  double bytes_vectors; // L-vectors: 8 a unique entry read, 16 read and written; from l_size / num_elem
  double working_set;   // bytes of a batch: element arrays
} RitzPlanCost;

typedef struct {
  const char *name; // of the operator or its QFunction; borrowed
  CeedInt num_elem;
  CeedInt dim, Q_1d, Q; // grid of points: Q = Q_1d^dim; without tensor bases dim 1, Q_1d = Q
  CeedInt vec_length;
  const char *function_name; // borrowed; "" without source
  const char *source_path;   // borrowed; found file, NULL without
  int num_bases, num_spaces, num_in, num_out, num_arrays, num_matrices;
  RitzPlanBasis *bases;  // owned
  RitzPlanSpace *spaces; // owned; inputs first
  RitzPlanField *fields; // owned; num_in + num_out
  RitzPlanTarget target;
  RitzPlanCost cost;
} RitzPlan;

// What the machine offers.
typedef struct {
  CeedInt lanes;     // CeedScalars in a vector register
  bool allows_text;  // false: RITZ_QFUNCTION=pointer
  bool allows_forms; // false: RITZ_FORMS=off, all fields line by line
  bool allows_folds; // false: RITZ_FOLD=off, or the kernel has no folded bases
} RitzPlanMachine;
void ritz_plan_machine(RitzPlanMachine *machine); // of this processor and environment

// *reason (static string) when the operator has no plan at all, *plan NULL then: points, blocked
// restrictions. Rows are looked up through `rows` (NULL: none), which says whether nodes come in rows of that
// length.
typedef int (*RitzPlanRows)(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows);
int ritz_plan_operator(CeedOperator op, const RitzPlanMachine *machine, RitzPlanRows rows, RitzPlan **plan,
                       const char **reason);
// Chooses call and call_points anew, after the text was found wanting.
void ritz_plan_use_pointer(RitzPlan *plan);
void ritz_plan_free(RitzPlan **plan);

// Several lines for people: fields, spaces, bases, target, costs.
int ritz_plan_print(const RitzPlan *plan, FILE *stream);

#endif
