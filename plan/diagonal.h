// SPDX-License-Identifier: BSD-2-Clause
// The diagonal of an operator: made from the operator's plan; of a tensor basis one kernel, emitted by
// emit/diagonal.c, of any basis walked through ahead of time (backends/cpu/unfused-diagonal.c). Run by
// backends/cpu/diagonal.c.
//
//   diagonal[node, c] = sum over points q, output modes o, input modes i of  (T_o T_i)(q, node)
//   D[(o,c)][(i,c)](q)
//
// D is the derivative of the QFunction. T_o T_i, entry by entry, is a tensor product of 1D tables:
// interp*interp in directions that neither mode differentiates, interp*grad where one does, grad*grad where
// both do. D of all (o, i) with the same tables is added up at the points. Of a basis without tensor
// structure T_o T_i is a matrix.
#ifndef RITZ_PLAN_DIAGONAL_H
#define RITZ_PLAN_DIAGONAL_H

#include "plan/cpu.h"

// Products of 1D tables by the number of derivatives in them.
enum { RITZ_NUM_PRODUCTS = 3 };

typedef struct {
  int product[3]; // of the first to the last direction
  int rows[2];    // without tensor structure: those of the basis that are multiplied, the lower one first
} RitzDiagonalTerm;

typedef struct {
  // Spaces: the passive inputs alone. Fields: all; only passive inputs have a space. Bases and names belong
  // to the operator's plan, which lives longer.
  RitzPlan plan;
  RitzPlanSpace output; // where the diagonal goes; comes after the spaces of `plan` in the kernel's arguments
  int *origins;         // owned [num_spaces + 1]: numbers of spaces and output in the operator's plan
  CeedInt
      *offsets; // owned, of each field: its first scalar among the active ones of its direction; -1: passive
  CeedInt size_in, size_out;                  // active scalars
  RitzPlanMatrix products[RITZ_NUM_PRODUCTS]; // tensor: [Q_1d][P_1d]
  CeedScalar *matrices;                       // owned, else: [num_terms][Q][P]
  // Modes of the active space: their first scalars, num_comp of which follow each other.
  CeedInt num_in, num_out;
  CeedInt *first_in, *first_out; // owned
  int num_terms;
  RitzDiagonalTerm *terms; // owned
  int *term_of;            // owned [num_in][num_out]
  bool is_column;          // of point blocks (plan/point-blocks.h): inputs of one component, outputs of all
} RitzDiagonalPlan;

// NULL, or why there is no such kernel (static string), by the active fields: needs no plan of the operator.
int ritz_plan_refuse_diagonal(CeedOperator op, const char **reason);
// NULL, or why the diagonal can't be walked through (static string).
int ritz_plan_refuse_walk(CeedOperator op, const char **reason);
// For an operator that is not refused by the last one, from its plan.
int ritz_plan_diagonal(CeedOperator op, const RitzPlan *plan, RitzDiagonalPlan **diagonal);
void ritz_plan_free_diagonal(RitzDiagonalPlan **diagonal);
// For other plans with calls by unit vectors: plan, origins, offsets and sizes; first scalars of the modes of
// a group, and the rows of the basis that they take (of a tensor basis the directions that they
// differentiate, -1: none; else components of values, then of derivatives); what is owned.
int ritz_plan_passive(Ceed ceed, const RitzPlan *plan, RitzDiagonalPlan *d);
int ritz_plan_list_modes(Ceed ceed, const RitzActiveGroups *g, CeedInt group, CeedInt **first, int **rows);
void ritz_plan_clear_diagonal(RitzDiagonalPlan *d);
// The target of a diagonal on a CPU, from that of the apply; spaces[num_spaces] is the output's (of other
// plans unspecified).
int ritz_plan_cpu_diagonal(Ceed ceed, const RitzDiagonalPlan *diagonal, const RitzCpuTarget *apply,
                           RitzCpuTarget **target);

#endif
