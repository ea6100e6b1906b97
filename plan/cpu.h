// SPDX-License-Identifier: BSD-2-Clause
// The target of a plan on a CPU: how the kernel works on a processor. Chosen from the plan for a machine, by
// rules that were measured; emit/cpu.c turns plan and target into text, backends/cpu/unfused.c interprets
// them.
#ifndef RITZ_PLAN_CPU_H
#define RITZ_PLAN_CPU_H

#include "plan/plan.h"

typedef enum {
  RITZ_GATHER_NODES,   // one offset per node
  RITZ_GATHER_ROWS,    // one offset per row of nodes (backends/cpu/rows.h)
  RITZ_GATHER_STRIDED, // no offsets
  RITZ_GATHER_PACKED,  // data at points that lie in batch order (RitzPacking)
} RitzGather;

typedef struct {
  RitzGather gather;
  CeedInt row_length; // of GATHER_ROWS
  int overwrites;     // outputs: input space whose element arrays it takes over when they are spent; -1: none
} RitzCpuSpace;

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
  RitzCpuSpace *spaces; // owned, of the plan's spaces
  double working_set;   // bytes of a batch: element arrays
} RitzCpuTarget;

// What a processor offers.
typedef struct {
  CeedInt lanes;    // CeedScalars in a vector register
  bool allows_text; // false: the point function is called by its pointer
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
