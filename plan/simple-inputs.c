// SPDX-License-Identifier: BSD-2-Clause
// Inputs that are simpler at the points than their basis tells: polynomials of degree one, and constants.
// The geometry of trilinear and affine elements is of this kind, whatever the QFunction makes of it. Called
// by plan/basis.c and plan/operator.c.
#include <math.h>

#include "plan/internal.h"

// Entries of given tables are the same when they differ by so many round-offs of the largest one.
enum { TABLE_ROUNDOFFS = 16 };

static bool is_near(CeedScalar a, CeedScalar b, double size) {
  return fabs((double)a - (double)b) <= TABLE_ROUNDOFFS * CEED_EPSILON * size;
}

// ---- Degree one ----

// u(r) = (1 - r)/2 u_0 + (1 + r)/2 u_1 at the points r of the tables.
static bool is_degree_one(const RitzPlanBasis *b, const CeedScalar *points) {
  if (b->P_1d != 2) return false;
  for (CeedInt q = 0; q < b->Q_1d; q++) {
    const CeedScalar *value = b->interp.values + 2 * q, *slope = b->grad.values + 2 * q, r = points[q];
    if (!is_near(value[0], (1 - r) / 2, 1) || !is_near(value[1], (1 + r) / 2, 1)) return false;
    if (!is_near(slope[0], -(CeedScalar)0.5, 1) || !is_near(slope[1], (CeedScalar)0.5, 1)) return false;
  }
  return true;
}

static int find_degree_one(CeedBasis basis, RitzPlanBasis *b) {
  const CeedScalar *points = basis->q_ref;
  if (!b->is_tensor || b->dim > 3 || !is_degree_one(b, points)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(basis->obj.ceed, (size_t)b->Q_1d, &b->points));
  for (CeedInt q = 0; q < b->Q_1d; q++) b->points[q] = points[q];
  return CEED_ERROR_SUCCESS;
}

// ---- Constants ----

// Round-offs are those of the largest entry of a node: nodes may be scaled in any way.
static bool is_constant_in(const CeedScalar *matrix, CeedInt q_comp, CeedInt Q, CeedInt P, CeedInt node) {
  const size_t num = (size_t)q_comp * (size_t)Q;
  double largest = 0;
  for (size_t k = 0; k < num; k++)
    largest = fmax(largest, fabs((double)matrix[k * (size_t)P + (size_t)node]));
  for (size_t k = 0; k < num; k++) {
    const size_t first = k / (size_t)Q * (size_t)Q;
    if (!is_near(matrix[k * (size_t)P + (size_t)node], matrix[first * (size_t)P + (size_t)node], largest))
      return false;
  }
  return true;
}

// Rows [q_comp][Q][P] that do not depend on q: their copy [q_comp][P]; NULL where they do.
static int copy_if_constant(Ceed ceed, CeedInt q_comp, CeedInt Q, CeedInt P, const CeedScalar *matrix,
                            CeedScalar **rows) {
  if (!matrix) return CEED_ERROR_SUCCESS;
  for (CeedInt p = 0; p < P; p++) {
    if (!is_constant_in(matrix, q_comp, Q, P, p)) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)q_comp * (size_t)P, rows));
  for (CeedInt c = 0; c < q_comp; c++) {
    for (CeedInt p = 0; p < P; p++)
      (*rows)[c * P + p] = matrix[(size_t)c * (size_t)Q * (size_t)P + (size_t)p];
  }
  return CEED_ERROR_SUCCESS;
}

// One node: the same number in each direction, differentiated once.
static int find_tensor_constants(Ceed ceed, RitzPlanBasis *b) {
  CeedScalar *value = NULL, *slope = NULL;
  int ierr = CEED_ERROR_SUCCESS;
  if (b->P_1d != 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(copy_if_constant(ceed, 1, b->Q_1d, 1, b->interp.values, &value));
  RITZ_TRY_CLEANUP(copy_if_constant(ceed, 1, b->Q_1d, 1, b->grad.values, &slope));
  if (!value || !slope) goto cleanup;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, 1, &b->constant_interp));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)b->dim, &b->constant_deriv));
  b->constant_interp[0] = 1;
  for (CeedInt d = 0; d < b->dim; d++) {
    b->constant_interp[0] *= value[0];
    b->constant_deriv[d] = slope[0];
    for (CeedInt k = 1; k < b->dim; k++) b->constant_deriv[d] *= value[0];
  }
cleanup:
  RITZ_FREE(&value);
  RITZ_FREE(&slope);
  return ierr;
}

// At a single point everything is the same, and nothing is saved.
static int find_dense_constants(CeedBasis basis, RitzPlanBasis *b) {
  Ceed ceed = basis->obj.ceed;
  const CeedScalar *interp, *deriv;
  if (b->Q == 1) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_basis_table(basis, CEED_EVAL_INTERP, &interp));
  RITZ_TRY(copy_if_constant(ceed, b->q_comp_interp, b->Q, b->P, interp, &b->constant_interp));
  if (b->deriv_mode == CEED_EVAL_NONE) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_basis_table(basis, b->deriv_mode, &deriv));
  return copy_if_constant(ceed, b->q_comp_deriv, b->Q, b->P, deriv, &b->constant_deriv);
}

int ritz_plan_find_simple_rows(CeedBasis basis, RitzPlanBasis *b) {
  if (b->route == RITZ_ROUTE_BLOCKS) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_degree_one(basis, b));
  return b->is_tensor ? find_tensor_constants(basis->obj.ceed, b) : find_dense_constants(basis, b);
}

// ---- Spaces ----

static bool is_constant(const RitzPlanBasis *b, unsigned modes) {
  const bool has_values = modes & CEED_EVAL_INTERP, has_derivatives = modes & ~(unsigned)CEED_EVAL_INTERP;
  return (!has_values || b->constant_interp) && (!has_derivatives || b->constant_deriv);
}

RitzInputKind ritz_plan_input_kind(const RitzPlan *plan, const RitzPlanSpace *space) {
  if (!space->is_input || space->is_active || space->basis < 0) return RITZ_INPUT_CONTRACTED;
  const RitzPlanBasis *b = &plan->bases[space->basis];
  if (is_constant(b, space->modes)) return RITZ_INPUT_CONSTANT;
  return b->points ? RITZ_INPUT_LINEAR : RITZ_INPUT_CONTRACTED;
}
