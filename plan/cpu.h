// SPDX-License-Identifier: BSD-2-Clause
// The target of a plan on a CPU: how the kernel works on a processor. Chosen from the plan for a machine, by
// rules that were measured; emit/cpu.c turns plan and target into text.
#ifndef RITZ_PLAN_CPU_H
#define RITZ_PLAN_CPU_H

#include "plan/plan.h"

// ---- Spaces ----

typedef enum {
  RITZ_GATHER_NODES,   // one offset per node
  RITZ_GATHER_ROWS,    // one offset per row of nodes (backends/cpu/rows.h)
  RITZ_GATHER_STRIDED, // no offsets
  RITZ_GATHER_PACKED,  // data at points that lie in batch order (RitzPacking)
  RITZ_GATHER_POINTS,  // points of each element's own, in the lists of an at-points restriction
} RitzGather;

typedef struct {
  RitzGather gather;
  CeedInt row_length; // of GATHER_ROWS
  int overwrites;     // outputs: input space whose element arrays it takes over when they are spent; -1: none
} RitzCpuSpace;

// ---- Steps ----

// The arrays of a space in a kernel, of which each has those that its buffers are in.
typedef enum {
  RITZ_ARRAY_NODES,       // at the nodes; of RITZ_INPUT_LINEAR the coefficients
  RITZ_ARRAY_PARTIAL,     // interpolated in all directions but the last (values row by row: but the first)
  RITZ_ARRAY_VALUES,      // at the points
  RITZ_ARRAY_DERIVATIVES, // in the last direction; direct route: [direction][component], dense:
                          // [component][direction]
  RITZ_ARRAY_WORK,        // of a contraction of the direct route, of a block
  RITZ_ARRAY_PLANE_DERIVATIVES, // in the middle direction, one plane
  RITZ_ARRAY_CONSTANT_VALUES,   // of RITZ_INPUT_CONSTANT: the same at all points
  RITZ_ARRAY_CONSTANT_DERIVATIVES,
  RITZ_ARRAY_ROW_DERIVATIVES, // in the first direction, one row
  RITZ_ARRAY_ROW_VALUES,      // one row, in registers
  RITZ_ARRAY_LINEAR_ROW,      // of RITZ_INPUT_LINEAR: coefficients of a row
  RITZ_NUM_ARRAYS             // of a buffer: in none, but an L-vector, packed or within a call
} RitzCpuArray;

// As the text of kernels has them, without the number of the space.
const char *ritz_cpu_array_name(RitzCpuArray array);

// How much of an element a call works on: loops of kernels/cpu/loop.h, and how long its results live.
typedef enum { RITZ_STAGE_ELEMENT, RITZ_STAGE_PLANE, RITZ_STAGE_ROW, RITZ_STAGE_POINT } RitzCpuStage;

// Templates of kernels/cpu.
typedef enum {
  RITZ_TEMPLATE_TRANSFER,     // gather or scatter, and orientations
  RITZ_TEMPLATE_FOLD,         // pairs of an even-odd basis -> sums and differences
  RITZ_TEMPLATE_DENSE,        // a dense matrix
  RITZ_TEMPLATE_SWEEP,        // all directions of the direct route
  RITZ_TEMPLATE_BLOCKS,       // a vector basis of tensor products
  RITZ_TEMPLATE_SLABS,        // all directions but the last
  RITZ_TEMPLATE_LAST,         // the last direction
  RITZ_TEMPLATE_LAST_BOTH,    // the last direction and its derivative, or their sum
  RITZ_TEMPLATE_OUTER,        // all directions but the first
  RITZ_TEMPLATE_ROW,          // the first direction, values of a row
  RITZ_TEMPLATE_MIDDLE,       // derivatives of a plane
  RITZ_TEMPLATE_FIRST,        // derivatives of a row
  RITZ_TEMPLATE_COEFFICIENTS, // degree one: values at the corners -> coefficients
  RITZ_TEMPLATE_LINEAR_ROW,   // degree one: coefficients of a row
  RITZ_TEMPLATE_CONSTANTS,    // what is the same at all points
} RitzCpuTemplate;

// A call of a template: steps first .. first + num - 1 of the list, from a buffer to another one.
typedef struct {
  RitzCpuTemplate name;
  RitzCpuStage stage;
  bool is_input, adds;
  int space, first, num;
  int from, to, also; // also: of LAST_BOTH, the derivatives
} RitzCpuCall;

// ---- The target ----

typedef enum {
  RITZ_EVALUATE_PLANES, // whole element along the last direction, then plane by plane, row by row
  RITZ_EVALUATE_VALUES, // values only: row by row, in registers
  RITZ_EVALUATE_FLAT,   // no tensor basis: all points one row
  RITZ_EVALUATE_NONE,   // not fusible (bases on different point grids): the ahead-of-time kernel runs it
} RitzEvaluation;

// How the QFunction is reached.
typedef enum {
  RITZ_CALL_TEXT,    // its text is part of the kernel, called point by point
  RITZ_CALL_POINTER, // the application's function, called row by row
} RitzCall;

typedef struct {
  CeedInt lanes;
  RitzEvaluation evaluation;
  RitzCall call;
  CeedInt call_points; // points per call: 1 or a row; times lanes a multiple of vec_length
  bool unrolls_rows;   // the points of a row are straight code, its derivatives stay in registers
  bool prefetch_packed, prefetch_vectors;
  bool prefetch_again;  // packed data: some a second time
  RitzCpuSpace *spaces; // owned, of the plan's spaces
  double working_set;   // bytes of a batch: element arrays
  // The plan's list, lowered (plan/cpu-steps.c); none of RITZ_EVALUATE_NONE.
  RitzCpuArray *arrays; // owned, of each buffer
  int num_calls;
  RitzCpuCall *calls; // owned
} RitzCpuTarget;

// Properties of a processor that plans use.
typedef struct {
  CeedInt lanes;      // scalars of the plan's precision in a vector register
  bool allows_text;   // false: the QFunction is called by its pointer
  bool keeps_fetches; // a prefetch waits for a line buffer; false: it is dropped while all are taken
} RitzCpuMachine;

// Whether the nodes of a restriction come in rows of that length.
typedef int (*RitzCpuRows)(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows);

// rows: asked of the operator that the plan was made from; NULL: there are none.
int ritz_plan_cpu(CeedOperator op, const RitzPlan *plan, const RitzCpuMachine *machine, RitzCpuRows rows,
                  RitzCpuTarget **target);
// Chooses call and call_points anew, after the text was found wanting.
void ritz_plan_cpu_use_pointer(const RitzPlan *plan, RitzCpuTarget *target);
void ritz_plan_cpu_free(RitzCpuTarget **target);

RitzPlanCost ritz_plan_cpu_cost(const RitzPlan *plan, const RitzCpuTarget *target);

// The list of an apply with its costs, and how the kernel does each step.
int ritz_plan_cpu_print_steps(const RitzPlan *plan, const RitzCpuTarget *target, FILE *stream);

// Several lines for people: the plan, the target, costs.
int ritz_plan_cpu_print(const RitzPlan *plan, const RitzCpuTarget *target, FILE *stream);

#endif
