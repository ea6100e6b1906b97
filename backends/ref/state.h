// SPDX-License-Identifier: BSD-2-Clause
// What an operator needs while it runs over the elements: arrays of its fields, memory for one element.
// Opened, used for all elements, closed; shared by application (operator.c) and assembly (assembly.c).
#ifndef RITZ_BACKENDS_REF_STATE_H
#define RITZ_BACKENDS_REF_STATE_H

#include "backends/ref/points.h"

// One field of the operator.
typedef struct {
  CeedOperatorField field;
  bool is_input, is_active;
  CeedVector vec;      // vector in use; CEED_VECTOR_NONE: no array (weights; what assembly leaves alone)
  CeedScalar *l_array; // its array; shared by fields with the same output vector
  bool holds;          // this field got the array and restores it
  CeedScalar *nodes;   // element at the nodes [num_comp][P]; NULL when the mode is NONE or WEIGHT
  CeedScalar *points;  // element at the quadrature points [size][Q]: what the user's function sees
  CeedSize num_nodes, num_points; // room for num_points: the most that an element has
  RitzRefPoints at;               // operators at points: the prepared basis; unused (no basis) otherwise
} RitzRefField;

typedef struct {
  CeedOperator op;
  CeedInt num_in, num_fields;
  RitzRefField *fields;  // inputs, then outputs
  const CeedScalar **in; // arrays for the user's function
  CeedScalar **out;
  CeedScalar *memory; // all element arrays, then the work array of the bases
  CeedScalar *work;
  void *context; // bytes for the user's function
  bool holds_context;
  CeedInt num_points;       // of the current element: the quadrature points, or its own points
  const CeedScalar *coords; // operators at points: reference coordinates, L-vector
  bool holds_coords;
  CeedScalar *x; // [dim][num_points] of the current element
} RitzRefState;

// in and out as in CeedOperatorApply. NULL for both: assembly; active inputs and all outputs then have no
// vector, their element arrays are scratch. Close also after a failed open; it passes on `ierr`, or else its
// own failure.
int ritz_ref_state_open(CeedOperator op, CeedVector in, CeedVector out, RitzRefState *state);
// The same, but the caller fills in the arrays of vectors.
int ritz_ref_state_open_bare(CeedOperator op, CeedVector in, CeedVector out, RitzRefState *state);
// For assembly on a thread of its own: the context is that of the leader (NULL: asked for).
int ritz_ref_state_open_beside(CeedOperator op, const RitzRefState *leader, RitzRefState *state);
int ritz_ref_state_close(RitzRefState *state, int ierr);

// Moves to element `elem`: sets the number of its points and their coordinates, to which evaluations belong.
void ritz_ref_state_enter(RitzRefState *state, CeedInt elem);
// Inputs of the element at the points; those without an array are left as they are.
void ritz_ref_state_evaluate(RitzRefState *state, CeedInt elem);
// Basis of a field on one element; transposed: adds into the nodal array.
void ritz_ref_state_basis(RitzRefState *state, RitzRefField *f, CeedTransposeMode t_mode, const CeedScalar *u,
                          CeedScalar *v);
// Calls the user's function on the element's points.
int ritz_ref_state_call(RitzRefState *state);

#endif
