// SPDX-License-Identifier: BSD-2-Clause
// Point blocks of an operator on a tensor basis, column by column: a plan as that of a diagonal
// (plan/diagonal.h), but for one component i of the input and all components of the output:
//
//   column[node, c] = sum over points q, output modes o, input modes i' of  (T_o T_i')(q, node)
//   D[(o,c)][(i',i)](q)
//
// A column is an L-vector, so it is scattered as the output of an apply is. The kernel gets the number of the
// component when it runs. Backends run it for each component and add columns to blocks [node][c][i].
#ifndef RITZ_PLAN_POINT_BLOCKS_H
#define RITZ_PLAN_POINT_BLOCKS_H

#include "plan/diagonal.h"

// Entries of the L-vector: component c of the node with block n is at first + n * node_stride + c *
// comp_stride. What is there of nodes that no element has is zero in columns.
typedef struct {
  CeedInt num_comp;
  CeedSize num_nodes, first, node_stride, comp_stride;
} RitzBlockNodes;

// Components of the blocks that the operator has: those of its active input; 0: it has none (no active input,
// or strided ones, of which no blocks are defined).
int ritz_plan_block_components(CeedOperator op, CeedInt *num_comp);
// NULL, or why there is no such kernel (static string): needs no plan of the operator, which has blocks.
int ritz_plan_refuse_point_blocks(CeedOperator op, const char **reason);
// The part of these reasons that is the nodes'.
int ritz_plan_refuse_block_nodes(CeedOperator op, const char **reason);
// For an operator that is not refused, from its plan; to be freed as a diagonal.
int ritz_plan_point_blocks(CeedOperator op, const RitzPlan *plan, RitzDiagonalPlan **column,
                           RitzBlockNodes *nodes);

#endif
