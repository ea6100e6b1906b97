// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: life, fields and their checks, readiness, composites (doc/ceed-api.md,
// Operators). Application is in core/operator-apply.c, queries and views in core/operator-query.c.
#include "core/operator.h"

#include <string.h>

static int view_operator(CeedObject object, FILE *stream) {
  return CeedOperatorView((CeedOperator)object, stream);
}
static int destroy_operator(CeedObject *object) { return CeedOperatorDestroy((CeedOperator *)object); }

const RitzClass ritz_operator_class = {
    .name = "CeedOperator", .view = view_operator, .destroy = destroy_operator};

// ---- Life ----

static int reference_optional(CeedQFunction qf, CeedQFunction *copy) {
  return qf && qf != CEED_QFUNCTION_NONE ? CeedQFunctionReferenceCopy(qf, copy) : CEED_ERROR_SUCCESS;
}

int ritz_operator_create(Ceed ceed, const char *call, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT,
                         CeedOperator *op) {
  RITZ_HANDLE_OF(call, ceed, qf, dqf, dqfT);
  RITZ_REQUIRE(qf && qf != CEED_QFUNCTION_NONE, ceed, CEED_ERROR_MINOR,
               "%s: the operator needs a QFunction, found %s", call, ritz_found_at(qf));
  RITZ_ARGUMENT_OF(ceed, call, qf);
  if (dqf && dqf != CEED_QFUNCTION_NONE) RITZ_ARGUMENT_OF(ceed, call, dqf);
  if (dqfT && dqfT != CEED_QFUNCTION_NONE) RITZ_ARGUMENT_OF(ceed, call, dqfT);
  RITZ_ARGUMENT_OF(ceed, call, op);
  CeedOperator created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_operator_class, sizeof(*created), &created));
  created->input_size = created->output_size = -1;
  created->precision = created->active_precision[0] = created->active_precision[1] = CEED_SCALAR_TYPE;
  int ierr = ritz_qfunction_data_create(ceed, &created->qf_data);
  if (!ierr) ierr = CeedQFunctionReferenceCopy(qf, &created->qf);
  if (!ierr) ierr = reference_optional(dqf, &created->dqf);
  if (!ierr) ierr = reference_optional(dqfT, &created->dqfT);
  if (ierr) {
    CeedOperatorDestroy(&created);
    return ierr;
  }
  *op = created;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCreate(Ceed ceed, CeedQFunction qf, CeedQFunction dqf, CeedQFunction dqfT, CeedOperator *op) {
  return ritz_operator_create(ceed, __func__, qf, dqf, dqfT, op);
}

int CeedOperatorCreateComposite(Ceed ceed, CeedOperator *op) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, op);
  CeedOperator created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_operator_class, sizeof(*created), &created));
  created->is_composite = true;
  created->precision = CEED_SCALAR_TYPE;
  created->input_size = created->output_size = -1;
  *op = created;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorReferenceCopy(CeedOperator op, CeedOperator *op_copy) {
  return RITZ_REFERENCE_COPY(op, op_copy);
}

static void clear_field(CeedOperatorField field) {
  CeedElemRestrictionDestroy(&field->rstr);
  CeedBasisDestroy(&field->basis);
  CeedVectorDestroy(&field->vec);
  field->qf_field = NULL;
}

static void free_fields(CeedInt num, CeedOperatorField **fields) {
  for (CeedInt i = 0; *fields && i < num; i++) {
    if ((*fields)[i]) clear_field((*fields)[i]);
    RITZ_FREE(&(*fields)[i]);
  }
  RITZ_FREE(fields);
}

int CeedOperatorDestroy(CeedOperator *op) {
  RITZ_RELEASE(op);
  CeedOperator o = *op;
  ritz_operator_free_variants(o);
  ritz_operator_free_stand_in(o);
  ritz_operator_free_reducer(o);
  if (o->obj.ceed->backend.operator_destroy) RITZ_TRY(o->obj.ceed->backend.operator_destroy(o));
  free_fields(o->num_in, &o->in);
  free_fields(o->num_out, &o->out);
  for (CeedInt i = 0; i < o->num_sub; i++) CeedOperatorDestroy(&o->sub[i]);
  for (CeedInt i = 0; o->is_composite && i < o->num_labels; i++) ritz_label_free(&o->labels[i]);
  ritz_qfunction_data_release(&o->qf_data);
  ritz_assembly_data_free(&o->assembly_data);
  CeedQFunctionDestroy(&o->qf);
  CeedQFunctionDestroy(&o->dqf);
  CeedQFunctionDestroy(&o->dqfT);
  CeedElemRestrictionDestroy(&o->rstr_points);
  CeedElemRestrictionDestroy(&o->first_points);
  CeedVectorDestroy(&o->point_coords);
  RITZ_FREE(&o->sub);
  RITZ_FREE(&o->labels);
  RITZ_FREE(&o->name);
  RITZ_FREE(&o->note);
  ritz_object_free(&o);
  *op = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- SetField ----

// Arguments of SetField, and the field of the QFunction that they mean.
typedef struct {
  const char *name;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
  CeedQFunctionField qf_field;
  CeedOperatorField field;
  bool is_input;
} Assignment;

// One of the three: an object, or a sentinel of its type.
static int check_part(Ceed ceed, const char *field_name, const char *part, const void *handle,
                      const RitzClass *class) {
  const bool fits = ritz_is_own_sentinel(handle, class) || ritz_is_live(handle, class);
  RITZ_REQUIRE(fits, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedOperatorSetField: the %s of field '%s' is %s, needed a %s", part, field_name,
               ritz_found_at(handle), class->name);
  return CEED_ERROR_SUCCESS;
}

static int allocate_fields(CeedOperator op, CeedInt num, CeedOperatorField **fields) {
  if (*fields || num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)num, fields));
  for (CeedInt i = 0; i < num; i++) {
    int ierr = RITZ_CALLOC(op->obj.ceed, 1, &(*fields)[i]);
    if (ierr) {
      free_fields(num, fields);
      return ierr;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// The QFunction's fields are fixed from now on.
static int examine_qfunction(CeedOperator op) {
  op->qf->is_immutable = true;
  op->num_in = op->qf->num_in;
  op->num_out = op->qf->num_out;
  RITZ_TRY(allocate_fields(op, op->num_in, &op->in));
  return allocate_fields(op, op->num_out, &op->out);
}

static void find_field(CeedOperator op, Assignment *a) {
  for (CeedInt i = op->num_in + op->num_out - 1; i >= 0; i--) {
    bool is_input = i < op->num_in;
    CeedQFunctionField qf_field = is_input ? op->qf->in[i] : op->qf->out[i - op->num_in];
    if (strcmp(qf_field->name, a->name)) continue;
    a->qf_field = qf_field;
    a->field = is_input ? op->in[i] : op->out[i - op->num_in];
    a->is_input = is_input;
  }
}

static int check_points(CeedOperator op, const Assignment *a) {
  Ceed ceed = op->obj.ceed;
  if (a->rstr == CEED_ELEMRESTRICTION_NONE || a->rstr->type != CEED_RESTRICTION_POINTS)
    return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(op->is_at_points, ceed, CEED_ERROR_UNSUPPORTED,
               "CeedOperatorSetField: field '%s' has an at-points restriction, the operator is not at points",
               a->name);
  RITZ_REQUIRE(
      a->basis == CEED_BASIS_NONE, ceed, CEED_ERROR_UNSUPPORTED,
      "CeedOperatorSetField: field '%s' has an at-points restriction, so its basis must be CEED_BASIS_NONE",
      a->name);
  if (!op->first_points) return CeedElemRestrictionReferenceCopy(a->rstr, &op->first_points);
  bool are_compatible;
  RITZ_TRY(CeedElemRestrictionAtPointsAreCompatible(a->rstr, op->first_points, &are_compatible));
  RITZ_REQUIRE(
      are_compatible, ceed, CEED_ERROR_INCOMPATIBLE,
      "CeedOperatorSetField: field '%s' has other points than the operator's first at-points restriction",
      a->name);
  return CEED_ERROR_SUCCESS;
}

// Number of quadrature points that an assignment implies; -1: none.
static CeedInt implied_points(const Assignment *a) {
  if (a->basis != CEED_BASIS_NONE) return a->basis->Q;
  return a->rstr != CEED_ELEMRESTRICTION_NONE ? a->rstr->elem_size : -1;
}

// Sizes against what earlier fields have fixed. A field that is being replaced counts as earlier.
static int check_field_sizes(CeedOperator op, const Assignment *a) {
  Ceed ceed = op->obj.ceed;
  CeedInt num_qpts = implied_points(a);
  RITZ_REQUIRE(
      a->rstr == CEED_ELEMRESTRICTION_NONE || !op->has_restriction || a->rstr->num_elem == op->num_elem, ceed,
      CEED_ERROR_DIMENSION,
      "CeedOperatorSetField: field '%s' has %" CeedInt_FMT " elements, earlier fields have %" CeedInt_FMT,
      a->name, a->rstr->num_elem, op->num_elem);
  RITZ_TRY(check_points(op, a));
  RITZ_REQUIRE(op->is_at_points || op->num_qpts == 0 || num_qpts < 0 || num_qpts == op->num_qpts, ceed,
               CEED_ERROR_DIMENSION,
               "CeedOperatorSetField: field '%s' has %" CeedInt_FMT
               " quadrature points, earlier fields have %" CeedInt_FMT,
               a->name, num_qpts, op->num_qpts);
  return CEED_ERROR_SUCCESS;
}

// Restriction, basis and size against the mode of the QFunction's field.
static int check_field_mode(CeedOperator op, const Assignment *a) {
  Ceed ceed = op->obj.ceed;
  CeedEvalMode mode = a->qf_field->eval_mode;
  bool is_weight = mode == CEED_EVAL_WEIGHT, is_none = mode == CEED_EVAL_NONE;
  bool has_rstr = a->rstr != CEED_ELEMRESTRICTION_NONE, has_basis = a->basis != CEED_BASIS_NONE;
  if (a->qf_field->size == 0 && !has_rstr && !has_basis && a->vec == CEED_VECTOR_NONE)
    return CEED_ERROR_SUCCESS; // said to be unused
  RITZ_REQUIRE(has_rstr != is_weight, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedOperatorSetField: field '%s' of mode '%s' %s", a->name, CeedEvalModes[mode],
               is_weight ? "takes CEED_ELEMRESTRICTION_NONE, found a restriction"
                         : "needs a restriction, found CEED_ELEMRESTRICTION_NONE");
  RITZ_REQUIRE(has_basis != is_none, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedOperatorSetField: field '%s' of mode '%s' %s", a->name, CeedEvalModes[mode],
               is_none ? "takes CEED_BASIS_NONE, found a basis" : "needs a basis, found CEED_BASIS_NONE");
  RITZ_REQUIRE(!is_none || !op->is_at_points || a->rstr->type == CEED_RESTRICTION_POINTS, ceed,
               CEED_ERROR_UNSUPPORTED,
               "CeedOperatorSetField: field '%s' of an operator at points needs a basis or an at-points "
               "restriction",
               a->name);
  RITZ_REQUIRE(!has_rstr || !has_basis || a->rstr->num_comp == a->basis->num_comp, ceed, CEED_ERROR_DIMENSION,
               "CeedOperatorSetField: field '%s': the restriction has %" CeedInt_FMT
               " components, the basis %" CeedInt_FMT,
               a->name, a->rstr->num_comp, a->basis->num_comp);
  RITZ_REQUIRE(!has_rstr || !has_basis || a->rstr->elem_size == a->basis->P, ceed, CEED_ERROR_DIMENSION,
               "CeedOperatorSetField: field '%s': the restriction has %" CeedInt_FMT
               " nodes per element, the basis %" CeedInt_FMT,
               a->name, a->rstr->elem_size, a->basis->P);
  if (is_weight) return CEED_ERROR_SUCCESS;
  CeedInt num_comp = is_none ? a->rstr->num_comp : a->basis->num_comp;
  CeedInt q_comp = is_none ? 1 : ritz_basis_num_q_comp(a->basis, mode);
  const CeedSize needed = (CeedSize)num_comp * q_comp;
  RITZ_REQUIRE(a->qf_field->size == needed, ceed, CEED_ERROR_DIMENSION,
               "CeedOperatorSetField: field '%s' has size %" CeedInt_FMT " in the QFunction; %" CeedInt_FMT
               " components with mode '%s' need %" CeedSize_FMT,
               a->name, a->qf_field->size, num_comp, CeedEvalModes[mode], needed);
  // A tensor basis has no divergence or curl, an H(div) or H(curl) basis no gradient.
  bool is_h1 = has_basis && a->basis->space == CEED_FE_SPACE_H1;
  bool fits = is_none || mode == CEED_EVAL_INTERP || (mode == CEED_EVAL_GRAD && is_h1) ||
              (mode == CEED_EVAL_DIV && has_basis && a->basis->space == CEED_FE_SPACE_HDIV) ||
              (mode == CEED_EVAL_CURL && has_basis && a->basis->space == CEED_FE_SPACE_HCURL);
  RITZ_REQUIRE(fits, ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedOperatorSetField: field '%s': the basis has no mode '%s'", a->name, CeedEvalModes[mode]);
  return CEED_ERROR_SUCCESS;
}

static CeedSize *active_size(CeedOperator op, bool is_input) {
  return is_input ? &op->input_size : &op->output_size;
}

static int check_active(CeedOperator op, const Assignment *a) {
  CeedSize size = *active_size(op, a->is_input);
  RITZ_REQUIRE(a->vec != CEED_VECTOR_ACTIVE || size == -1 || size == a->rstr->l_size, op->obj.ceed,
               CEED_ERROR_INCOMPATIBLE,
               "CeedOperatorSetField: active field '%s' has an L-vector of %" CeedSize_FMT
               " entries, earlier active fields have %" CeedSize_FMT,
               a->name, a->rstr->l_size, size);
  return CEED_ERROR_SUCCESS;
}

static int store_field(CeedOperator op, const Assignment *a) {
  bool is_new = a->field->qf_field == NULL;
  RITZ_TRY(CeedElemRestrictionReferenceCopy(a->rstr, &a->field->rstr));
  RITZ_TRY(CeedBasisReferenceCopy(a->basis, &a->field->basis));
  RITZ_TRY(CeedVectorReferenceCopy(a->vec, &a->field->vec));
  a->field->qf_field = a->qf_field;
  op->num_set += is_new;
  if (a->rstr != CEED_ELEMRESTRICTION_NONE) {
    op->has_restriction = true;
    op->num_elem = a->rstr->num_elem;
  }
  if (!op->is_at_points && implied_points(a) > 0) op->num_qpts = implied_points(a);
  if (a->vec == CEED_VECTOR_ACTIVE && a->rstr != CEED_ELEMRESTRICTION_NONE) {
    *active_size(op, a->is_input) = a->rstr->l_size;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorSetField(CeedOperator op, const char *field_name, CeedElemRestriction rstr, CeedBasis basis,
                         CeedVector vec) {
  RITZ_HANDLE(op, rstr, basis, vec);
  Ceed ceed = op->obj.ceed;
  Assignment a = {.name = field_name, .rstr = rstr, .basis = basis, .vec = vec};
  RITZ_REQUIRE(!op->is_composite, ceed, CEED_ERROR_INCOMPATIBLE, "%s: a composite operator has no fields",
               __func__);
  RITZ_REQUIRE(!op->is_ready, ceed, CEED_ERROR_MAJOR, "%s: the operator is in use and cannot be changed",
               __func__);
  RITZ_REQUIRE(field_name, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", __func__);
  RITZ_TRY(check_part(ceed, field_name, "restriction", rstr, &ritz_restriction_class));
  RITZ_TRY(check_part(ceed, field_name, "basis", basis, &ritz_basis_class));
  RITZ_TRY(check_part(ceed, field_name, "vector", vec, &ritz_vector_class));
  RITZ_TRY(examine_qfunction(op));
  RITZ_TRY(check_field_sizes(op, &a));
  find_field(op, &a);
  RITZ_REQUIRE(a.qf_field, ceed, CEED_ERROR_INCOMPLETE, "%s: the QFunction has no field '%s'", __func__,
               field_name);
  RITZ_TRY(check_field_mode(op, &a));
  RITZ_TRY(check_active(op, &a));
  return store_field(op, &a);
}

// ---- Readiness ----

// Fields of size 0 that are not set.
static void set_unused(CeedOperator op, CeedInt num, CeedQFunctionField *qf_fields,
                       CeedOperatorField *fields) {
  for (CeedInt i = 0; i < num; i++) {
    if (fields[i]->qf_field || qf_fields[i]->size > 0) continue;
    *fields[i] = (struct CeedOperatorField_private){.qf_field = qf_fields[i],
                                                    .rstr = CEED_ELEMRESTRICTION_NONE,
                                                    .basis = CEED_BASIS_NONE,
                                                    .vec = CEED_VECTOR_NONE};
    op->num_set++;
  }
}

static int check_ready_single(CeedOperator op) {
  Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(op->num_set > 0, ceed, CEED_ERROR_INCOMPLETE,
               "CeedOperatorCheckReady: no field of the operator is set");
  set_unused(op, op->num_in, op->qf->in, op->in);
  set_unused(op, op->num_out, op->qf->out, op->out);
  RITZ_REQUIRE(op->num_set == op->num_in + op->num_out, ceed, CEED_ERROR_INCOMPLETE,
               "CeedOperatorCheckReady: %" CeedInt_FMT " of %" CeedInt_FMT " fields are set", op->num_set,
               op->num_in + op->num_out);
  RITZ_REQUIRE(op->has_restriction, ceed, CEED_ERROR_INCOMPLETE,
               "CeedOperatorCheckReady: no field has a restriction");
  RITZ_REQUIRE(op->is_at_points || op->num_qpts > 0, ceed, CEED_ERROR_INCOMPLETE,
               "CeedOperatorCheckReady: the number of quadrature points is not known");
  // Elements at points have any number of points.
  CeedInt num_points = op->is_at_points ? 1 : op->num_qpts;
  RITZ_REQUIRE(num_points % op->qf->vec_length == 0, ceed, CEED_ERROR_DIMENSION,
               "CeedOperatorCheckReady: the points of an element are no multiple of the QFunction's vector "
               "length %" CeedInt_FMT,
               op->qf->vec_length);
  op->qf->is_immutable = true;
  if (op->dqf) op->dqf->is_immutable = true;
  if (op->dqfT) op->dqfT->is_immutable = true;
  return CEED_ERROR_SUCCESS;
}

// Common length of the sub-operators' active vectors; -1 never conflicts.
static int join_sizes(CeedOperator op, CeedOperator sub, const char *call) {
  for (int is_input = 0; is_input < 2; is_input++) {
    CeedSize size = *active_size(sub, is_input), *common = active_size(op, is_input);
    RITZ_REQUIRE(size == -1 || *common == -1 || size == *common, op->obj.ceed, CEED_ERROR_MAJOR,
                 "%s: sub-operators disagree: active %s of %" CeedSize_FMT " and of %" CeedSize_FMT
                 " entries",
                 call, is_input ? "inputs" : "outputs", *common, size);
    if (size != -1) *common = size;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_operator_update_sizes(CeedOperator op, const char *call) {
  if (!op->is_composite) return CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(join_sizes(op, op->sub[i], call));
  return CEED_ERROR_SUCCESS;
}

static int check_ready_composite(CeedOperator op) {
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(CeedOperatorCheckReady(op->sub[i]));
  RITZ_TRY(ritz_operator_update_sizes(op, "CeedOperatorCheckReady"));
  if (op->num_sub == 0) op->input_size = op->output_size = 0;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCheckReady(CeedOperator op) {
  RITZ_HANDLE(op);
  if (op->is_ready) return CEED_ERROR_SUCCESS;
  RITZ_TRY((op->is_composite ? check_ready_composite : check_ready_single)(op));
  op->is_ready = true;
  return CEED_ERROR_SUCCESS;
}

// ---- Composites ----

int ritz_operator_require_composite(CeedOperator op, const char *call, bool is_composite) {
  RITZ_HANDLE_OF(call, op);
  RITZ_REQUIRE(op->is_composite == is_composite, op->obj.ceed, CEED_ERROR_MINOR, "%s: %s", call,
               is_composite ? "needs a composite operator" : "not defined for a composite operator");
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeAddSub(CeedOperator composite_op, CeedOperator sub_op) {
  RITZ_HANDLE(composite_op, sub_op);
  RITZ_TRY(ritz_operator_require_composite(composite_op, __func__, true));
  RITZ_ARGUMENT(composite_op->obj.ceed, sub_op);
  RITZ_REQUIRE(!sub_op->is_composite, composite_op->obj.ceed, CEED_ERROR_MINOR,
               "%s: a composite operator cannot be part of another one", __func__);
  // An empty composite that was used counts as having no size.
  if (composite_op->num_sub == 0) composite_op->input_size = composite_op->output_size = -1;
  CeedSize input_size = composite_op->input_size, output_size = composite_op->output_size;
  int ierr = join_sizes(composite_op, sub_op, __func__);
  if (!ierr)
    ierr = RITZ_REALLOC(composite_op->obj.ceed, (size_t)composite_op->num_sub + 1, &composite_op->sub);
  if (ierr) {
    composite_op->input_size = input_size;
    composite_op->output_size = output_size;
    return ierr;
  }
  composite_op->sub[composite_op->num_sub] = NULL;
  RITZ_TRY(CeedOperatorReferenceCopy(sub_op, &composite_op->sub[composite_op->num_sub]));
  composite_op->num_sub++;
  composite_op->is_ready = false; // checked again with the new part
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeGetNumSub(CeedOperator op, CeedInt *num_suboperators) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  RITZ_ARGUMENT(op, num_suboperators);
  *num_suboperators = op->num_sub;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeGetSubList(CeedOperator op, CeedOperator **sub_operators) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  RITZ_ARGUMENT(op, sub_operators);
  *sub_operators = op->sub;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeGetSubByName(CeedOperator op, const char *op_name, CeedOperator *sub_op) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  RITZ_ARGUMENT(op, sub_op);
  RITZ_REQUIRE(op_name, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the name is NULL", __func__);
  *sub_op = NULL;
  for (CeedInt i = 0; !*sub_op && i < op->num_sub; i++) {
    if (op->sub[i]->name && !strcmp(op->sub[i]->name, op_name)) *sub_op = op->sub[i];
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeSetSequential(CeedOperator op, bool is_sequential) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  op->is_sequential = is_sequential;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorCompositeIsSequential(CeedOperator op, bool *is_sequential) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, true));
  RITZ_ARGUMENT(op, is_sequential);
  *is_sequential = op->is_sequential;
  return CEED_ERROR_SUCCESS;
}
