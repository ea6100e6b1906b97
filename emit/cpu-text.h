// SPDX-License-Identifier: BSD-2-Clause
// What the texts of CPU kernels have in common. Called by emit/cpu.c and emit/diagonal.c.
#ifndef RITZ_EMIT_CPU_TEXT_H
#define RITZ_EMIT_CPU_TEXT_H

#include "emit/tables.h"
#include "emit/text.h"
#include "plan/cpu.h"

typedef struct {
  const RitzPlan *plan;
  const RitzCpuTarget *target;
  RitzText text;
} RitzEmitter;

// ---- Questions about spaces ----

static inline const RitzPlanBasis *ritz_emit_basis_of(const RitzEmitter *e, const RitzPlanSpace *space) {
  return space->basis < 0 ? NULL : &e->plan->bases[space->basis];
}
// Derivatives at the points, line by line.
static inline bool ritz_emit_is_line_route(const RitzPlanSpace *space, const RitzPlanBasis *b) {
  return b && space->kind == RITZ_INPUT_CONTRACTED &&
         (b->route == RITZ_ROUTE_IDENTITY || b->route == RITZ_ROUTE_COLLOCATED);
}
static inline bool ritz_emit_has_derivatives(const RitzPlanSpace *space) {
  return space->modes & ~(unsigned)CEED_EVAL_INTERP;
}
// Size of values or derivatives at all points of a dense basis or one of blocks, per component of the field:
// [q_comp][Q].
static inline CeedInt ritz_emit_dense_values(const RitzPlanBasis *b, bool derivative) {
  return (derivative ? b->q_comp_deriv : b->q_comp_interp) * b->Q;
}
// Values only, row by row in registers.
static inline bool ritz_emit_is_values(const RitzEmitter *e) {
  return e->target->evaluation == RITZ_EVALUATE_VALUES;
}
// Number in the names of a space's arrays.
static inline int ritz_emit_array_number(const RitzEmitter *e, int s) {
  return e->target->spaces[s].overwrites >= 0 ? e->target->spaces[s].overwrites : s;
}

// ---- Precision ----

// Whether the L-vector of a space has not the precision of the arithmetic.
static inline bool ritz_emit_is_other(const RitzEmitter *e, const RitzPlanSpace *space) {
  return space->precision != e->plan->precision;
}
// Suffix of the steps that read from such a vector.
static inline const char *ritz_emit_other(const RitzEmitter *e, const RitzPlanSpace *space) {
  return ritz_emit_is_other(e, space) ? "_other" : "";
}
// Type of the QFunction's arguments where the kernel calls it. A function with a context keeps
// CeedScalar, which its context is laid out in: kernels of another precision convert its arguments.
static inline bool ritz_emit_converts(const RitzEmitter *e) {
  return e->plan->precision != CEED_SCALAR_TYPE && e->plan->has_context;
}
static inline const char *ritz_emit_scalar(const RitzEmitter *e) {
  return ritz_emit_converts(e) ? "RitzReal" : "CeedScalar";
}

// ---- Arrays of spaces ----

typedef struct {
  char text[64];
} RitzArrayName;
// An array in an expression, "w->nodes0".
RitzArrayName ritz_emit_array(const RitzEmitter *e, int s, RitzCpuArray array);

// ---- emit/constants.c ----

// Comments, sizes, the headers; `what` is computed; rows of `max` columns come besides those of the plan.
void ritz_emit_heading(RitzEmitter *e, const char *what, CeedInt max);
// Columns in a row of the space; 1: it has no rows.
CeedInt ritz_emit_row_columns(const RitzPlanSpace *space, const RitzCpuSpace *how);
// Entries of a matrix as texts have them: row by row or, with a parity, the even parts of half its rows, then
// the odd. Returns their number, at most (rows + 1) (cols + 1).
CeedInt ritz_emit_entries(const RitzPlanMatrix *m, bool transposed, CeedScalar *values);
int ritz_emit_matrix(RitzEmitter *e, const char *name, const RitzPlanMatrix *m, bool transposed);
// Matrices and weights of all bases, as far as spaces and fields need them.
int ritz_emit_bases(RitzEmitter *e);
// The QFunction; comes last, so that its macros reach nothing of ours.
void ritz_emit_user(RitzEmitter *e);

// ---- emit/blocks.c: vector bases of tensor products ----

// The 1D matrices that spaces of the basis need.
int ritz_emit_lines(RitzEmitter *e, int basis);
// Evaluation of space s, forwards or backwards.
void ritz_emit_blocks(RitzEmitter *e, int s);
// Steps of `ahead`.
CeedInt ritz_emit_block_steps(const RitzPlanBasis *b, const RitzPlanSpace *space);

// ---- emit/spaces.c ----

// Members of a struct: the arrays of all spaces that live as long as this stage.
void ritz_emit_arrays(RitzEmitter *e, RitzCpuStage life);
// The shape of the array that is gathered into or scattered from; those of all spaces; the transfer itself.
void ritz_emit_shape(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number);
void ritz_emit_shapes(RitzEmitter *e);
void ritz_emit_transfer(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number,
                        const char *array);
// The function ritz_prefetch (kernels/cpu/prefetch.h) for the steps of the plan and `more`.
void ritz_emit_prefetch(RitzEmitter *e, CeedInt more);
// The function of kernels/cpu/loop.h for a stage: ritz_inputs or ritz_outputs, ritz_plane_in or _out,
// ritz_row_in or _out: the target's calls. Its head alone.
void ritz_emit_stage(RitzEmitter *e, RitzCpuStage stage, bool is_input);
void ritz_emit_head(RitzEmitter *e, RitzCpuStage stage, bool is_input);

// ---- emit/qfunction-call.c ----

// The function ritz_point until its arguments (kernels/cpu/loop.h).
void ritz_emit_point_begin(RitzEmitter *e);

// Field i of the QFunction: from the arrays of its space into its argument, or back.
void ritz_emit_field(RitzEmitter *e, int i, bool add);
// Where the arguments of the QFunction are; those of whole rows are too large for the stack.
static inline const char *ritz_emit_place(const RitzEmitter *e) {
  return e->target->call_points > 1 ? "w->" : "";
}

#endif
