// SPDX-License-Identifier: BSD-2-Clause
// Element matrices of an operator: made from the operator's plan, for one group of active inputs and one of
// active outputs (core/assembly-data.c). Emitted by emit/matrix.c, run by backends/cpu/matrix.c.
//
//   A[(c_out, i)][(c_in, j)] = sum over points q, output modes o, input modes m of
//                              B_o(q, i) D[(o, c_out)][(m, c_in)](q) B_m(q, j)
//
// D is the derivative of the QFunction, by unit vectors, once an element. Multiply-adds of a pair of
// components, with P nodes, Q points and M modes on either side:
//
//   dense     P P Q M + P Q M M
//   tensor    4 p^6 q + 9 p^4 q^2 + 9 p^2 q^3 for gradients in three directions, p = P^(1/3), q = Q^(1/3)
//
// p = q = 2: 2112 and 1664, 3: 65610 and 17982 (6.9 and 1.9 a product of nodes and points), 4: 823296 and
// 118784. So tensor bases of two and three directions go direction by direction, everything else is dense.
#ifndef RITZ_PLAN_MATRIX_H
#define RITZ_PLAN_MATRIX_H

#include "plan/diagonal.h"

enum { RITZ_MATRIX_MAX_1D = 8 }; // nodes a direction; beyond it bases are taken as dense

// Kinds of pairs of 1D tables, output and input: B B, B D, D B, D D.
enum { RITZ_NUM_PAIR_KINDS = 4 };

typedef struct {
  RitzDiagonalPlan units; // calls by unit vectors: passive inputs, modes, where their derivatives go
  bool is_tensor;
  CeedInt comps_in, comps_out, P_in, P_out; // P: nodes; is_tensor: in a direction
  CeedInt rows, cols;                       // of an element matrix
  int num_terms;                            // D is [num_terms][comps_in][comps_out][Q]
  // is_tensor: kinds of the pairs of terms in each direction, by which terms are sorted; units.term_of leads
  // to them. pairs [kind][Q_1d][P_out][P_in]
  int (*kinds)[3];   // owned
  CeedScalar *pairs; // owned
  CeedScalar *B[2];  // owned, else: of input and output, [Q][modes][P]
} RitzMatrixPlan;

// NULL, or why there is no such kernel (static string), by the groups: needs no plan of the operator.
const char *ritz_plan_refuse_matrix(CeedOperator op, CeedInt a, CeedInt b);
// Plan of element matrices of groups that are not refused, from the operator's plan.
int ritz_plan_matrix(CeedOperator op, const RitzPlan *plan, CeedInt a, CeedInt b, RitzMatrixPlan **matrix);
void ritz_plan_free_matrix(RitzMatrixPlan **matrix);

#endif
