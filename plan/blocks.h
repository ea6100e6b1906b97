// SPDX-License-Identifier: BSD-2-Clause
// Sum factorization of one block of a vector basis: the order of its directions, and what is carried from one
// to the next. Directions that are not differentiated come first, so that values and all derivatives share
// them. Called by plan/route.c, plan/steps.c, emit/blocks.c and others.
//
//     3D, block 0 of a CURL with values: order 0 1 2          nodes
//                                                               | B0
//     B: interp, D: grad; d_1 and d_2 go to rows             values
//     of the CURL, with their signs                          B1 |  \ D1
//                                                          values   d_1
//                                                        B2 | \ D2   | B2
//                                                      values  d_2  d_1
#ifndef RITZ_PLAN_BLOCKS_H
#define RITZ_PLAN_BLOCKS_H

#include "plan/plan.h"

// Arrays that are carried: derivatives by their direction 0, 1, 2, and values.
enum { RITZ_BLOCK_VALUES = 3, RITZ_BLOCK_ARRAYS = 4 };

typedef struct {
  bool has_values, has_derivatives; // what fields ask for
  CeedInt dim, order[3];
  CeedInt size[4][3];                    // entries a direction after 0 .. dim steps, 1 from dim on
  bool is_carried[4][RITZ_BLOCK_ARRAYS]; // after 0 .. dim steps; after 0 the nodes, as VALUES
} RitzBlockSweep;

// The sweep of block c for a space with these modes.
RitzBlockSweep ritz_plan_block_sweep(const RitzPlanBasis *basis, CeedInt c, unsigned modes);
// Where array a lies after a step, among arrays one after the other: those of step 1 first. After the last
// step: behind all that are made on the way.
CeedInt ritz_plan_block_offset(const RitzBlockSweep *sweep, CeedInt step, int a);
// Entries of the arrays between the nodes and the points, of the block that has most.
CeedInt ritz_plan_block_work(const RitzPlanBasis *basis, unsigned modes);
// Flops of one field component: a contraction for each array after a step.
double ritz_plan_block_flops(const RitzBlockSweep *sweep);

#endif
