// SPDX-License-Identifier: BSD-2-Clause
// The formulas of bp/costs.h.
#include "bp/costs.h"

#include <ceed.h>
#include <math.h>

enum { OFFSET_BYTES = 4, HEX_CORNERS = 8, TET_CORNERS = 4 };

static bool has_hexes(const CostedOperator *op) { return op->nodes <= 0; }
static bool has_tets(const CostedOperator *op) { return op->corners == TET_CORNERS; }
static double nodes_of(const CostedOperator *op) { return has_hexes(op) ? op->P * op->P * op->P : op->nodes; }
static double points_of(const CostedOperator *op) {
  return has_hexes(op) ? op->Q * op->Q * op->Q : op->points;
}

static double words_of_factors(const CostedOperator *op) {
  double points = points_of(op) * op->elements, factors = op->mass + 6 * op->diffusion;
  double corners = 3 * op->vertices;

  if (!op->diffusion && (op->geometry == COST_PARTIAL || op->geometry == COST_MERGED)) return points;
  switch (op->geometry) {
  case COST_STORED: return factors * points;
  case COST_AFFINE: return factors * op->elements;
  case COST_TRILINEAR: return corners;
  case COST_PARTIAL: return corners + points;
  case COST_MERGED: return corners + (op->mass ? 2 : 1) * points;
  }
  return 0;
}

// The corners of the elements are gathered.
static bool has_corners(const CostedOperator *op) {
  if (op->geometry == COST_TRILINEAR) return true;
  return op->diffusion && (op->geometry == COST_PARTIAL || op->geometry == COST_MERGED);
}

// Flops at a point that are there for the geometry alone.
static double recompute_at_point(const CostedOperator *op) {
  const double J = has_hexes(op) ? 12 : 18 * op->corners, K = op->diffusion ? 27 : 9, det = 5, weight = 1;
  double apply = op->diffusion ? fmin(18 * op->components, 36) : 0;

  if (!has_corners(op) && op->geometry != COST_AFFINE) return 0;
  switch (has_tets(op) ? COST_AFFINE : op->geometry) {
  case COST_TRILINEAR: return J + K + det + weight + op->diffusion + op->mass + apply;
  case COST_AFFINE: return weight + op->mass + (op->diffusion ? fmin(3 * op->components, 6) : 0);
  case COST_PARTIAL: return J + K + (op->mass ? det + 2 : 0) + apply;
  default: return J + K + apply;
  }
}

// Interpolation to the points, or derivatives there, and transposed: of one component and element.
static double contraction_flops(const CostedOperator *op) {
  double P = op->P, Q = op->Q, Q3 = Q * Q * Q;
  double interp = P == Q ? 0 : 2 * (P * P * P * Q + P * P * Q * Q + P * Q3);

  if (!has_hexes(op)) return 4 * op->nodes * op->points * (op->diffusion ? 3 : 1);
  return 2 * interp + (op->diffusion ? 12 * Q3 * Q : 0);
}

Costs cost_of_apply(const CostedOperator *op) {
  double at_point = op->diffusion ? 15 + 2 * op->mass : 1,
         corners = has_hexes(op) ? HEX_CORNERS : op->corners;
  double offsets = nodes_of(op) + (has_corners(op) ? corners : 0);
  double scalar_bytes = op->scalar_bytes > 0 ? op->scalar_bytes : sizeof(CeedScalar);

  return (Costs){
      .bytes = scalar_bytes * (3 * op->dofs + words_of_factors(op)) + OFFSET_BYTES * offsets * op->elements,
      .flops = op->components * op->elements * (contraction_flops(op) + at_point * points_of(op)),
      .recompute = recompute_at_point(op) * points_of(op) * op->elements,
  };
}

void cost_add_cg(Costs *costs, double dofs, bool merged, bool jacobi) {
  double words = merged ? 5 + jacobi : 11 + 2 * jacobi;

  costs->bytes += sizeof(CeedScalar) * words * dofs;
  costs->flops += (10 + 3 * jacobi) * dofs;
}
