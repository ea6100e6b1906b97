// SPDX-License-Identifier: BSD-2-Clause
// The steps of an action: a flat list over typed buffers, what happens to one element. Made from a plan
// alone, the same for all machines; lowering decides who does a step, where its buffers are, which steps are
// one.
//
// An input space is gathered and evaluated at the points, step by step. An output space is its adjoint: that
// list read backwards, each step transposed.
#ifndef RITZ_PLAN_STEPS_H
#define RITZ_PLAN_STEPS_H

#include "plan/blocks.h"
#include "plan/plan.h"

// ---- Buffers ----

typedef enum {
  RITZ_ROLE_VECTOR,       // an L-vector: no array of the element
  RITZ_ROLE_NODES,        // at the nodes
  RITZ_ROLE_WORK,         // between two directions
  RITZ_ROLE_COEFFICIENTS, // of Chebyshev polynomials, first direction fastest
  RITZ_ROLE_VALUES,       // at the points
  RITZ_ROLE_DERIVATIVES,  // at the points: along one direction (tensor), or all of a dense basis
  RITZ_ROLE_WEIGHTS,      // of the points, the same in all elements
} RitzRole;

// An array of an element: num_comp components of extents[0] x .. x extents[dim - 1] numbers, the first
// direction fastest. Components of a dense basis are [component of a value][component of the space].
typedef struct {
  RitzRole role;
  int space;         // of the plan; -1: weights
  CeedInt direction; // of derivatives: along it; -1: all
  CeedInt num_comp;
  CeedInt dim; // 1: dense, data at points
  CeedScalarType precision;
  bool is_given, is_wanted; // holds something before the first step; is used after the last one
} RitzBuffer;

// ---- Steps ----

typedef enum {
  RITZ_STEP_GATHER,   // L-vector -> element: by offsets or strides, then signs or tridiagonal matrices
  RITZ_STEP_SCATTER,  // its adjoint: adds to the L-vector
  RITZ_STEP_CONTRACT, // by a 1D table in one direction
  RITZ_STEP_MULTIPLY, // by a dense matrix
  // Polynomials of coefficients `from` at the points with the coordinates `with`: values [component] or
  // derivatives [direction][component]. Transposed, it deposits: adds what is at the points, each times the
  // polynomial of a coefficient there, into that coefficient.
  RITZ_STEP_EVALUATE,
  RITZ_STEP_FORM,  // a basis of degree one, or a constant, at the points; has no adjoint here
  RITZ_STEP_POINT, // the QFunction, from and to the list's arguments
  RITZ_STEP_MOVE,  // as it is
} RitzStepKind;

// Tables of a basis, nodes -> points.
typedef enum {
  RITZ_TABLE_INTERP,
  RITZ_TABLE_GRAD,       // dense: grad, div or curl
  RITZ_TABLE_COLLOCATED, // points -> points: derivatives of what is interpolated
  RITZ_TABLE_CHEBYSHEV   // nodes -> coefficients
} RitzTable;

typedef struct {
  RitzStepKind kind;
  int from, to; // buffers; of POINT: -1
  int with;     // buffer, of EVALUATE
  int basis;    // of the plan, of CONTRACT, MULTIPLY, EVALUATE and FORM
  RitzTable table;
  CeedInt direction; // of CONTRACT
  // CONTRACT of a vector basis: the block, its directions that are done before (plan/blocks.h), and the
  // component of a value, div or curl that what is at the points belongs to; else -1, 0, -1.
  int block;
  CeedInt position;
  int row;
  bool is_transposed; // points -> nodes
  bool adds;          // to what is in `to` already
} RitzStep;

struct RitzSteps {
  const RitzPlan *plan; // borrowed; lives longer
  const char *action;   // static
  int num_buffers, num_steps;
  RitzBuffer *buffers; // owned
  CeedInt max_dim;
  CeedInt *extents; // owned [num_buffers][max_dim]
  RitzStep *steps;  // owned
  int coordinates;  // buffer, of the points of an element; -1: a grid
  int *arguments;   // owned, of each field of the plan: its buffer, the first of a gradient; -1 without POINT
  // Where the buffers are in one array of `size` numbers, so that none overwrites another one that is still
  // in use. Those of a field, and what is given or wanted, lie one after the other and stay. -1: L-vectors,
  // and what no step uses.
  CeedSize size;
  CeedSize *places; // owned [num_buffers]
};

// ---- Lists ----

// An apply: every input space, the QFunction, every output space.
int ritz_steps_apply(Ceed ceed, const RitzPlan *plan, RitzSteps **steps);
// All input spaces; fields without a space have no arguments.
int ritz_steps_inputs(Ceed ceed, const RitzPlan *plan, RitzSteps **steps);
// One space at the points: as an input, whatever it is in the plan. with_vector: gathered first; else its
// nodes are given.
int ritz_steps_input(Ceed ceed, const RitzPlan *plan, int space, bool with_vector, RitzSteps **steps);
// The transposed of a linear list, without POINT and FORM: what was wanted is given, and the other
// way round.
int ritz_steps_adjoint(Ceed ceed, const RitzSteps *steps, RitzSteps **adjoint);
void ritz_steps_free(RitzSteps **steps);

// ---- What lists tell ----

static inline const CeedInt *ritz_steps_extents(const RitzSteps *list, int buffer) {
  return list->extents + (size_t)buffer * (size_t)list->max_dim;
}
// Numbers in a component, and in all; of an L-vector 0.
CeedSize ritz_steps_comp_size(const RitzSteps *list, int buffer);
CeedSize ritz_steps_size(const RitzSteps *list, int buffer);
// How a block is swept.
RitzBlockSweep ritz_steps_sweep(const RitzSteps *list, const RitzStep *step);
// The 1D table of a contraction, nodes -> points; of a block without its sign.
const RitzPlanMatrix *ritz_steps_table(const RitzSteps *list, const RitzStep *step);
// Bytes of a number: of the precision of the plan.
static inline size_t ritz_steps_bytes(const RitzSteps *list) {
  return ritz_scalar_bytes(list->plan->precision);
}
// Whether a step of a plan at points is done for some points of an element after the others. The other steps
// are done once an element, before or after all of them; what such steps leave behind lives as long as the
// list.
bool ritz_steps_is_at_points(const RitzSteps *list, const RitzStep *step);
// Buffers of a field: those of a gradient are as many as directions.
int ritz_steps_num_buffers(const RitzPlan *plan, const RitzPlanField *field);

// Costs of a step for one element; vectors: of all elements, since neighbours share entries.
typedef struct {
  double flops, bytes_stored, bytes_offsets, bytes_vectors;
} RitzStepCost;
RitzStepCost ritz_steps_cost(const RitzSteps *list, int step, const RitzPlanAccess *access);

// Writes a target's note on a step: at most `size` bytes, "" for nothing.
typedef void (*RitzStepNote)(const void *target, const RitzSteps *list, int step, char *note, size_t size);

// Several lines for people: the action, then a line for each step with its costs at this access to each space
// and the note on it (NULL: none).
int ritz_steps_print(const RitzSteps *list, const RitzPlanAccess *access, RitzStepNote note,
                     const void *target, FILE *stream);

#endif
