// SPDX-License-Identifier: BSD-2-Clause
// What the files fe/shape*.c share: argument checks and the shapes that are products with a line.
#ifndef RITZ_FE_SHAPE_H
#define RITZ_FE_SHAPE_H

#include "base/error.h"
#include "fe/fe.h"
#include <stdbool.h>
#include <stddef.h>

static inline int ritz_fe_shape_dim(CeedElemTopology topology) { return (int)topology >> 16; }

// QUAD, HEX and PRISM are products of a shape of one dimension less, the fast one, and a line.
static inline bool ritz_fe_shape_is_product(CeedElemTopology topology, CeedElemTopology *fast) {
  switch (topology) {
  case CEED_TOPOLOGY_QUAD: *fast = CEED_TOPOLOGY_LINE; return true;
  case CEED_TOPOLOGY_HEX: *fast = CEED_TOPOLOGY_QUAD; return true;
  case CEED_TOPOLOGY_PRISM: *fast = CEED_TOPOLOGY_TRIANGLE; return true;
  default: return false;
  }
}

// A function with the arguments of ritz_fe_shape_lagrange and ritz_fe_shape_modes.
typedef int (*RitzFeShapeTables)(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                                 const double *points, double *values, double *gradients);

// The tables of a product, made of those of its factors.
int ritz_fe_shape_product(Ceed ceed, CeedElemTopology topology, int degree, int num_points,
                          const double *points, double *values, double *gradients, RitzFeShapeTables tables);

// Symmetric rules (fe/shape-rules.c): the number of points, 0 where the table ends; the rule itself.
int ritz_fe_shape_rule_size(CeedElemTopology topology, int degree);
void ritz_fe_shape_rule(CeedElemTopology topology, int degree, double *points, double *weights);

// Reports what is no topology, no degree, or too large.
int ritz_fe_shape_check(Ceed ceed, CeedElemTopology topology, int degree);

#endif
