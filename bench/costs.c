// SPDX-License-Identifier: BSD-2-Clause
// The formulas of bench/costs.h.
#include "bench/costs.h"

#include <ceed.h>
#include <math.h>

enum { OFFSET_BYTES = 4, CORNERS = 8 };

static double words_of_factors(const CostedOperator *op) {
  double points = op->Q * op->Q * op->Q * op->elements, factors = op->mass + 6 * op->diffusion;
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
  const double J = 12, K = op->diffusion ? 27 : 9, det = 5, weight = 1;
  double apply = op->diffusion ? fmin(18 * op->components, 36) : 0;

  if (!has_corners(op) && op->geometry != COST_AFFINE) return 0;
  switch (op->geometry) {
  case COST_TRILINEAR: return J + K + det + weight + op->diffusion + op->mass + apply;
  case COST_AFFINE: return weight + op->mass + (op->diffusion ? fmin(3 * op->components, 6) : 0);
  case COST_PARTIAL: return J + K + (op->mass ? det + 2 : 0) + apply;
  default: return J + K + apply;
  }
}

Costs cost_of_apply(const CostedOperator *op) {
  double P = op->P, Q = op->Q, P3 = P * P * P, Q3 = Q * Q * Q;
  double interp = P == Q ? 0 : 2 * (P3 * Q + P * P * Q * Q + P * Q3);
  double at_point = op->diffusion ? 15 + 2 * op->mass : 1;
  double offsets = P3 + (has_corners(op) ? CORNERS : 0);

  return (Costs){
      .bytes =
          sizeof(CeedScalar) * (3 * op->dofs + words_of_factors(op)) + OFFSET_BYTES * offsets * op->elements,
      .flops =
          op->components * op->elements * (2 * interp + (op->diffusion ? 12 * Q3 * Q : 0) + at_point * Q3),
      .recompute = recompute_at_point(op) * Q3 * op->elements,
  };
}

void cost_add_cg(Costs *costs, double dofs, bool merged, bool jacobi) {
  double words = merged ? 5 + jacobi : 11 + 2 * jacobi;

  costs->bytes += sizeof(CeedScalar) * words * dofs;
  costs->flops += (10 + 3 * jacobi) * dofs;
}
