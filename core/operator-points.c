// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator at points: creation and the points of its elements (doc/ceed-api.md, Operators at points);
// evaluation of a tensor basis at arbitrary points (Bases).
#include "core/operator.h"
#include "core/vector.h"

// ---- Operators ----

int CeedOperatorCreateAtPoints(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                               CeedOperator *op) {
  CeedOperator created = NULL;
  RITZ_HANDLE(ceed, qf, dqf, dqfT);
  RITZ_ARGUMENT(ceed, op);
  RITZ_TRY(ritz_operator_create(ceed, __func__, qf, dqf, dqfT, &created));
  created->is_at_points = true;
  *op = created;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorAtPointsSetPoints(CeedOperator op, CeedElemRestriction rstr_points, CeedVector point_coords) {
  RITZ_HANDLE(op, rstr_points, point_coords);
  Ceed ceed = op->obj.ceed;
  RITZ_ARGUMENT(ceed, rstr_points);
  RITZ_ARGUMENT(ceed, point_coords);
  RITZ_REQUIRE(op->is_at_points, ceed, CEED_ERROR_MINOR, "%s: needs an operator at points", __func__);
  RITZ_REQUIRE(!op->is_ready, ceed, CEED_ERROR_MAJOR, "%s: the operator is in use and cannot be changed",
               __func__);
  RITZ_REQUIRE(rstr_points->type == CEED_RESTRICTION_POINTS, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs an at-points restriction", __func__);
  if (op->first_points) {
    bool are_compatible;
    RITZ_TRY(CeedElemRestrictionAtPointsAreCompatible(rstr_points, op->first_points, &are_compatible));
    RITZ_REQUIRE(are_compatible, ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: the points are others than those of the operator's first at-points restriction",
                 __func__);
  } else {
    RITZ_TRY(CeedElemRestrictionReferenceCopy(rstr_points, &op->first_points));
  }
  RITZ_TRY(CeedElemRestrictionReferenceCopy(rstr_points, &op->rstr_points));
  return CeedVectorReferenceCopy(point_coords, &op->point_coords);
}

int CeedOperatorAtPointsGetPoints(CeedOperator op, CeedElemRestriction *rstr_points,
                                  CeedVector *point_coords) {
  RITZ_HANDLE(op);
  RITZ_REQUIRE(op->is_at_points, op->obj.ceed, CEED_ERROR_MINOR, "%s: needs an operator at points", __func__);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(op->rstr_points, op->obj.ceed, CEED_ERROR_INCOMPLETE, "%s: the operator has no points yet",
               __func__);
  if (rstr_points) {
    *rstr_points = NULL;
    RITZ_TRY(CeedElemRestrictionReferenceCopy(op->rstr_points, rstr_points));
  }
  if (point_coords) {
    *point_coords = NULL;
    RITZ_TRY(CeedVectorReferenceCopy(op->point_coords, point_coords));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_basis(CeedOperator op, CeedOperatorField field) {
  CeedBasis basis = field->basis;
  CeedEvalMode mode = field->qf_field->eval_mode;
  if (mode == CEED_EVAL_NONE || mode == CEED_EVAL_WEIGHT || ritz_field_is_unused(field))
    return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(
      basis->is_tensor && basis->Q_1d >= 2, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
      "field '%s' of an operator at points needs a tensor basis with at least 2 points per direction",
      field->qf_field->name);
  RITZ_REQUIRE(basis->dim == op->rstr_points->num_comp, op->obj.ceed, CEED_ERROR_DIMENSION,
               "field '%s' has a basis of dimension %" CeedInt_FMT ", the points have %" CeedInt_FMT
               " coordinates",
               field->qf_field->name, basis->dim, op->rstr_points->num_comp);
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_check_points(CeedOperator op) {
  Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(op->rstr_points, ceed, CEED_ERROR_INCOMPLETE,
               "the operator at points has no points, see CeedOperatorAtPointsSetPoints");
  RITZ_REQUIRE(op->rstr_points->num_elem == op->num_elem, ceed, CEED_ERROR_DIMENSION,
               "the points belong to %" CeedInt_FMT " elements, the fields to %" CeedInt_FMT,
               op->rstr_points->num_elem, op->num_elem);
  RITZ_REQUIRE(op->point_coords->length >= op->rstr_points->l_size, ceed, CEED_ERROR_DIMENSION,
               "the coordinates of the points have %" CeedSize_FMT " entries, needed %" CeedSize_FMT,
               op->point_coords->length, op->rstr_points->l_size);
  for (CeedInt i = 0; i < op->num_in; i++) RITZ_TRY(check_basis(op, op->in[i]));
  for (CeedInt i = 0; i < op->num_out; i++) RITZ_TRY(check_basis(op, op->out[i]));
  return CEED_ERROR_SUCCESS;
}

// ---- Bases ----

static int check_points_mode(CeedBasis basis, const char *call, CeedTransposeMode t_mode, CeedEvalMode mode) {
  Ceed ceed = basis->obj.ceed;
  RITZ_REQUIRE(basis->is_tensor, ceed, CEED_ERROR_UNSUPPORTED, "%s: needs a tensor-product basis", call);
  RITZ_REQUIRE(mode == CEED_EVAL_INTERP || mode == CEED_EVAL_GRAD || mode == CEED_EVAL_WEIGHT, ceed,
               CEED_ERROR_UNSUPPORTED, "%s: mode %d is not available at points", call, (int)mode);
  RITZ_REQUIRE(t_mode == CEED_NOTRANSPOSE || t_mode == CEED_TRANSPOSE, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no transpose mode", call, (int)t_mode);
  RITZ_REQUIRE(mode != CEED_EVAL_WEIGHT || t_mode == CEED_NOTRANSPOSE, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: quadrature weights have no transpose", call);
  RITZ_REQUIRE(mode == CEED_EVAL_WEIGHT || basis->Q_1d >= 2, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: needs at least 2 quadrature points per direction, the basis has 1", call);
  return CEED_ERROR_SUCCESS;
}

static int check_points_lengths(CeedBasis basis, const char *call, CeedTransposeMode t_mode,
                                CeedEvalMode mode, CeedSize num_points, CeedSize num_elem, CeedVector x_ref,
                                CeedVector u, CeedVector v) {
  bool is_weight = mode == CEED_EVAL_WEIGHT, transposes = t_mode == CEED_TRANSPOSE;
  CeedSize q_comp = mode == CEED_EVAL_GRAD ? basis->dim : 1;
  CeedSize nodes = is_weight ? 0 : num_elem * basis->P * basis->num_comp;
  CeedSize points = num_points * (is_weight ? 1 : basis->num_comp * q_comp);
  CeedSize u_needed = transposes ? points : nodes, v_needed = transposes ? nodes : points;
  RITZ_REQUIRE(is_weight || x_ref->length >= num_points * basis->dim, basis->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: the coordinates have %" CeedSize_FMT " entries, needed %" CeedSize_FMT, call,
               x_ref->length, num_points * basis->dim);
  RITZ_REQUIRE(u->length >= u_needed && v->length >= v_needed, basis->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: Input/output vectors too short for basis and evaluation mode: input has %" CeedSize_FMT
               " entries, needed %" CeedSize_FMT "; output has %" CeedSize_FMT ", needed %" CeedSize_FMT,
               call, u->length, u_needed, v->length, v_needed);
  return CEED_ERROR_SUCCESS;
}

// Takes the arrays of x and u (not for WEIGHT) and v, calls the backend, gives them back.
static int apply_arrays(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                        CeedVector x_ref, CeedVector u, CeedVector v) {
  const RitzBackend *backend = &basis->obj.ceed->backend;
  bool reads = action->eval_mode != CEED_EVAL_WEIGHT;
  const CeedScalar *x_array = NULL, *u_array = NULL;
  CeedScalar *v_array = NULL;
  bool sums = action->t_mode == CEED_TRANSPOSE;
  int ierr = reads ? CeedVectorGetArrayRead(x_ref, backend->mem_type, &x_array) : CEED_ERROR_SUCCESS;
  if (!ierr && reads) ierr = CeedVectorGetArrayRead(u, backend->mem_type, &u_array);
  if (!ierr && sums && !action->add) ierr = CeedVectorSetValue(v, 0);
  if (!ierr) ierr = (sums ? CeedVectorGetArray : CeedVectorGetArrayWrite)(v, backend->mem_type, &v_array);
  if (!ierr) {
    ierr = backend->basis_apply_at_points(basis, action, num_points, x_array, u_array, v_array);
    ierr = (sums ? ritz_vector_end_update : ritz_vector_end_write)(v, &v_array, ierr);
  }
  int restored = u_array ? CeedVectorRestoreArrayRead(u, &u_array) : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = restored;
  restored = x_array ? CeedVectorRestoreArrayRead(x_ref, &x_array) : CEED_ERROR_SUCCESS;
  return ierr ? ierr : restored;
}

static int apply_at_points(CeedBasis basis, const char *call, const RitzBasisAction *action,
                           const CeedInt *num_points, CeedVector x_ref, CeedVector u, CeedVector v) {
  CeedSize total = 0;
  CeedInt most = 0;
  const bool is_weight = action->eval_mode == CEED_EVAL_WEIGHT;
  RITZ_VECTOR_OR_NONE(basis->obj.ceed, call, x_ref, is_weight);
  RITZ_VECTOR_OR_NONE(basis->obj.ceed, call, u, is_weight);
  RITZ_ARGUMENT_OF(basis->obj.ceed, call, v);
  RITZ_TRY(check_points_mode(basis, call, action->t_mode, action->eval_mode));
  RITZ_REQUIRE(action->num_elem >= 0, basis->obj.ceed, CEED_ERROR_DIMENSION,
               "%s: number of elements %" CeedInt_FMT " is negative", call, action->num_elem);
  RITZ_REQUIRE(num_points || action->num_elem == 0, basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: num_points is NULL", call);
  for (CeedInt e = 0; e < action->num_elem; e++) {
    RITZ_REQUIRE(num_points[e] >= 0, basis->obj.ceed, CEED_ERROR_DIMENSION,
                 "%s: element %" CeedInt_FMT " has %" CeedInt_FMT " points", call, e, num_points[e]);
    total += num_points[e];
    most = CeedIntMax(most, num_points[e]);
  }
  RITZ_TRY(check_points_lengths(basis, call, action->t_mode, action->eval_mode, total, action->num_elem,
                                x_ref, u, v));
  if (basis->obj.ceed->backend.pads_points) {
    RITZ_TRY_BACKEND(check_points_lengths(basis, call, action->t_mode, action->eval_mode,
                                          (CeedSize)action->num_elem * most, action->num_elem, x_ref, u, v));
  }
  RITZ_REQUIRE(!ritz_vectors_meet(u, v), basis->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: input and output %s",
               call, ritz_vectors_meet(u, v));
  RITZ_REQUIRE(!ritz_vectors_meet(x_ref, v), basis->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: coordinates and output %s", call, ritz_vectors_meet(x_ref, v));
  RITZ_TRY(ritz_vector_require_scalars(call, is_weight ? CEED_VECTOR_NONE : u, v));
  RITZ_TRY(ritz_vector_require_scalars(call, is_weight ? CEED_VECTOR_NONE : x_ref, v));
  if (total == 0) {
    bool clears = action->t_mode == CEED_TRANSPOSE && !action->add;
    return clears ? CeedVectorSetValue(v, 0) : CEED_ERROR_SUCCESS;
  }
  RITZ_REQUIRE(action->num_elem == 1 || basis->obj.ceed->backend.pads_points, basis->obj.ceed,
               CEED_ERROR_UNSUPPORTED,
               "%s: Backend does not implement several elements at once, found %" CeedInt_FMT, call,
               action->num_elem);
  if (!is_weight) {
    RITZ_TRY(ritz_vector_require_data_of(x_ref, call, "x_ref"));
    RITZ_TRY(ritz_vector_require_data_of(u, call, "u"));
  }
  return apply_arrays(basis, action, num_points, x_ref, u, v);
}

int CeedBasisApplyAtPoints(CeedBasis basis, CeedInt num_elem, const CeedInt *num_points,
                           CeedTransposeMode t_mode, CeedEvalMode eval_mode, CeedVector x_ref, CeedVector u,
                           CeedVector v) {
  RITZ_HANDLE(basis, x_ref, u, v);
  const RitzBasisAction action = {num_elem, t_mode, eval_mode, false};
  return apply_at_points(basis, __func__, &action, num_points, x_ref, u, v);
}

int CeedBasisApplyAddAtPoints(CeedBasis basis, CeedInt num_elem, const CeedInt *num_points,
                              CeedTransposeMode t_mode, CeedEvalMode eval_mode, CeedVector x_ref,
                              CeedVector u, CeedVector v) {
  RITZ_HANDLE(basis, x_ref, u, v);
  RITZ_REQUIRE(t_mode == CEED_TRANSPOSE, basis->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: adds only in transpose mode", __func__);
  const RitzBasisAction action = {num_elem, t_mode, eval_mode, true};
  return apply_at_points(basis, __func__, &action, num_points, x_ref, u, v);
}
