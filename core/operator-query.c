// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: fields and sizes, names, flops, active parts, views (doc/ceed-api.md,
// Operators, Views and estimates).
#include <string.h>

#include "core/operator.h"

int CeedOperatorGetCeed(CeedOperator op, Ceed *ceed) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, ceed);
  return CeedObjectGetCeed((CeedObject)op, ceed);
}
Ceed CeedOperatorReturnCeed(CeedOperator op) { return RITZ_RETURN_CEED(op); }
int CeedOperatorSetNumViewTabs(CeedOperator op, CeedInt num_tabs) {
  RITZ_HANDLE(op);
  return CeedObjectSetNumViewTabs((CeedObject)op, num_tabs);
}
int CeedOperatorGetNumViewTabs(CeedOperator op, CeedInt *num_tabs) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)op, num_tabs);
}

// ---- Fields ----

int CeedOperatorGetFields(CeedOperator op, CeedInt *num_input_fields, CeedOperatorField **input_fields,
                          CeedInt *num_output_fields, CeedOperatorField **output_fields) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (num_input_fields) *num_input_fields = op->num_in;
  if (input_fields) *input_fields = op->in;
  if (num_output_fields) *num_output_fields = op->num_out;
  if (output_fields) *output_fields = op->out;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetFieldByName(CeedOperator op, const char *field_name, CeedOperatorField *op_field) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, op_field);
  RITZ_REQUIRE(field_name, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", __func__);
  RITZ_TRY(CeedOperatorCheckReady(op));
  *op_field = NULL;
  for (CeedInt i = 0; !*op_field && i < op->num_in; i++) {
    if (!strcmp(op->in[i]->qf_field->name, field_name)) *op_field = op->in[i];
  }
  for (CeedInt i = 0; !*op_field && i < op->num_out; i++) {
    if (!strcmp(op->out[i]->qf_field->name, field_name)) *op_field = op->out[i];
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFieldGetName(CeedOperatorField op_field, const char **field_name) {
  RITZ_HANDLE(op_field);
  RITZ_ARGUMENT(op_field, field_name);
  *field_name = op_field->qf_field->name;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorFieldGetElemRestriction(CeedOperatorField op_field, CeedElemRestriction *rstr) {
  RITZ_HANDLE(op_field);
  RITZ_ARGUMENT(op_field, rstr);
  *rstr = NULL;
  return CeedElemRestrictionReferenceCopy(op_field->rstr, rstr);
}

int CeedOperatorFieldGetBasis(CeedOperatorField op_field, CeedBasis *basis) {
  RITZ_HANDLE(op_field);
  RITZ_ARGUMENT(op_field, basis);
  *basis = NULL;
  return CeedBasisReferenceCopy(op_field->basis, basis);
}

int CeedOperatorFieldGetVector(CeedOperatorField op_field, CeedVector *vec) {
  RITZ_HANDLE(op_field);
  RITZ_ARGUMENT(op_field, vec);
  *vec = NULL;
  return CeedVectorReferenceCopy(op_field->vec, vec);
}

int CeedOperatorFieldGetData(CeedOperatorField op_field, const char **field_name, CeedElemRestriction *rstr,
                             CeedBasis *basis, CeedVector *vec) {
  RITZ_HANDLE(op_field);
  if (field_name) *field_name = op_field->qf_field->name;
  if (rstr) RITZ_TRY(CeedOperatorFieldGetElemRestriction(op_field, rstr));
  if (basis) RITZ_TRY(CeedOperatorFieldGetBasis(op_field, basis));
  if (vec) RITZ_TRY(CeedOperatorFieldGetVector(op_field, vec));
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetNumElements(CeedOperator op, CeedInt *num_elem) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, num_elem);
  *num_elem = op->num_elem;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetNumQuadraturePoints(CeedOperator op, CeedInt *num_qpts) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, num_qpts);
  *num_qpts = op->num_qpts;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetActiveVectorLengths(CeedOperator op, CeedSize *input_size, CeedSize *output_size) {
  RITZ_HANDLE(op);
  RITZ_TRY(ritz_operator_update_sizes(op, __func__));
  if (input_size) *input_size = op->input_size;
  if (output_size) *output_size = op->output_size;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorIsAtPoints(CeedOperator op, bool *is_at_points) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, is_at_points);
  *is_at_points = op->is_at_points;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorIsComposite(CeedOperator op, bool *is_composite) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, is_composite);
  *is_composite = op->is_composite;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetQFunction(CeedOperator op, CeedQFunction *qf) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, qf);
  *qf = NULL;
  return CeedQFunctionReferenceCopy(op->qf, qf);
}

int CeedOperatorGetNumArgs(CeedOperator op, CeedInt *num_args) {
  RITZ_TRY(ritz_operator_require_composite(op, __func__, false));
  RITZ_ARGUMENT(op, num_args);
  *num_args = op->num_set;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorHasTensorBases(CeedOperator op, bool *has_tensor_bases) {
  CeedOperatorField *in, *out;
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, has_tensor_bases);
  RITZ_TRY(CeedOperatorGetFields(op, NULL, &in, NULL, &out));
  *has_tensor_bases = true;
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++) {
    CeedBasis basis = (i < op->num_in ? in[i] : out[i - op->num_in])->basis;
    if (basis != CEED_BASIS_NONE && !basis->is_tensor) *has_tensor_bases = false;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Active parts ----

// The active field of one direction, provided that all active fields agree on the basis (or, with is_basis
// false, the restriction).
static int find_active(CeedOperator op, const char *call, bool is_input, bool is_basis,
                       CeedOperatorField *found) {
  CeedInt num = is_input ? op->num_in : op->num_out;
  CeedOperatorField *fields = is_input ? op->in : op->out;
  *found = NULL;
  for (CeedInt i = 0; i < num; i++) {
    if (fields[i]->vec != CEED_VECTOR_ACTIVE) continue;
    bool agrees =
        !*found || (is_basis ? fields[i]->basis == (*found)->basis : fields[i]->rstr == (*found)->rstr);
    RITZ_REQUIRE(agrees, op->obj.ceed, CEED_ERROR_MINOR, "%s: the operator has several active %s %s", call,
                 is_input ? "input" : "output", is_basis ? "bases" : "restrictions");
    *found = fields[i];
  }
  RITZ_REQUIRE(*found, op->obj.ceed, CEED_ERROR_INCOMPLETE, "%s: the operator has no active %s", call,
               is_input ? "input" : "output");
  return CEED_ERROR_SUCCESS;
}

static int get_active_bases(CeedOperator op, const char *call, CeedBasis *in, CeedBasis *out) {
  CeedOperatorField field;
  RITZ_TRY(ritz_operator_require_composite(op, call, false));
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (in) {
    RITZ_TRY(find_active(op, call, true, true, &field));
    RITZ_TRY(CeedOperatorFieldGetBasis(field, in));
  }
  if (out) {
    RITZ_TRY(find_active(op, call, false, true, &field));
    RITZ_TRY(CeedOperatorFieldGetBasis(field, out));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetActiveBases(CeedOperator op, CeedBasis *active_input_basis,
                               CeedBasis *active_output_basis) {
  return get_active_bases(op, __func__, active_input_basis, active_output_basis);
}

int CeedOperatorGetActiveBasis(CeedOperator op, CeedBasis *active_basis) {
  return get_active_bases(op, __func__, active_basis, NULL);
}

static int get_active_restrictions(CeedOperator op, const char *call, CeedElemRestriction *in,
                                   CeedElemRestriction *out) {
  CeedOperatorField field;
  RITZ_TRY(ritz_operator_require_composite(op, call, false));
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (in) {
    RITZ_TRY(find_active(op, call, true, false, &field));
    RITZ_TRY(CeedOperatorFieldGetElemRestriction(field, in));
  }
  if (out) {
    RITZ_TRY(find_active(op, call, false, false, &field));
    RITZ_TRY(CeedOperatorFieldGetElemRestriction(field, out));
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetActiveElemRestrictions(CeedOperator op, CeedElemRestriction *active_input_rstr,
                                          CeedElemRestriction *active_output_rstr) {
  return get_active_restrictions(op, __func__, active_input_rstr, active_output_rstr);
}

int CeedOperatorGetActiveElemRestriction(CeedOperator op, CeedElemRestriction *active_rstr) {
  return get_active_restrictions(op, __func__, active_rstr, NULL);
}

// ---- Name and flops ----

int CeedOperatorSetName(CeedOperator op, const char *name) {
  RITZ_HANDLE(op);
  char *copy = NULL;
  if (name && name[0]) RITZ_TRY(ritz_strdup(op->obj.ceed, name, &copy));
  RITZ_FREE(&op->name);
  op->name = copy;
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetName(CeedOperator op, const char **name) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, name);
  *name = op->name;
  return op->name || op->is_composite ? CEED_ERROR_SUCCESS : CeedQFunctionGetName(op->qf, name);
}

// Points that an element counts with: its quadrature points, or the most (on devices) or the mean (rounded
// up) of its own points.
static CeedSize points_per_element(CeedOperator op) {
  if (!op->is_at_points) return op->num_qpts;
  if (!op->first_points) return 0;
  if (op->obj.ceed->backend.mem_type == CEED_MEM_DEVICE) return op->first_points->max_points;
  return (op->first_points->num_points + (CeedSize)op->num_elem - 1) / op->num_elem;
}

// Flops of restrictions and bases of the active fields of one direction.
static int field_flops(CeedOperator op, CeedInt num, CeedOperatorField *fields, CeedTransposeMode t_mode,
                       CeedSize *flops) {
  for (CeedInt i = 0; i < num; i++) {
    CeedSize restriction = 0, basis = 0;
    if (fields[i]->vec != CEED_VECTOR_ACTIVE) continue;
    RITZ_TRY(CeedElemRestrictionGetFlopsEstimate(fields[i]->rstr, t_mode, &restriction));
    if (fields[i]->basis != CEED_BASIS_NONE) {
      RITZ_TRY(CeedBasisGetFlopsEstimate(fields[i]->basis, t_mode, fields[i]->qf_field->eval_mode,
                                         op->is_at_points, (CeedInt)points_per_element(op), &basis));
    }
    *flops += restriction + op->num_elem * basis;
  }
  return CEED_ERROR_SUCCESS;
}

int CeedOperatorGetFlopsEstimate(CeedOperator op, CeedSize *flops) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, flops);
  *flops = 0;
  RITZ_TRY(CeedOperatorCheckReady(op));
  for (CeedInt i = 0; i < op->num_sub; i++) {
    CeedSize part;
    RITZ_TRY(CeedOperatorGetFlopsEstimate(op->sub[i], &part));
    *flops += part;
  }
  if (op->is_composite || op->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(op->qf->user_flops >= 0, op->obj.ceed, CEED_ERROR_INCOMPLETE,
               "%s: the QFunction has no flops estimate, see CeedQFunctionSetUserFlopsEstimate", __func__);
  RITZ_TRY(field_flops(op, op->num_in, op->in, CEED_NOTRANSPOSE, flops));
  RITZ_TRY(field_flops(op, op->num_out, op->out, CEED_TRANSPOSE, flops));
  *flops += op->num_elem * points_per_element(op) * op->qf->user_flops;
  return CEED_ERROR_SUCCESS;
}

// ---- Views ----

static const char *plural(CeedInt n) { return n > 1 ? "s" : ""; }

static void view_fields(int indent, const char *direction, const char *title, CeedInt num,
                        CeedOperatorField *fields, FILE *stream) {
  fprintf(stream, "%*s  %" CeedInt_FMT " %s field%s:\n", indent, "", num, direction, plural(num));
  for (CeedInt i = 0; i < num; i++) {
    CeedOperatorField field = fields[i];
    fprintf(stream, "%*s    %s field %" CeedInt_FMT ":\n", indent, "", title, i);
    fprintf(stream, "%*s      Name: \"%s\"\n", indent, "", field->qf_field->name);
    fprintf(stream, "%*s      Size: %" CeedInt_FMT "\n", indent, "", field->qf_field->size);
    fprintf(stream, "%*s      EvalMode: %s\n", indent, "", CeedEvalModes[field->qf_field->eval_mode]);
    if (field->basis == CEED_BASIS_NONE) fprintf(stream, "%*s      No basis\n", indent, "");
    if (field->vec == CEED_VECTOR_ACTIVE) fprintf(stream, "%*s      Active vector\n", indent, "");
    if (field->vec == CEED_VECTOR_NONE) fprintf(stream, "%*s      No vector\n", indent, "");
  }
}

static int view_body(CeedOperator op, int indent, FILE *stream) {
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (op->is_at_points) {
    CeedInt max_points = op->first_points ? op->first_points->max_points : 0;
    fprintf(stream, "%*s  %" CeedInt_FMT " elements with %" CeedInt_FMT " max points each\n", indent, "",
            op->num_elem, max_points);
  } else {
    fprintf(stream, "%*s  %" CeedInt_FMT " elements with %" CeedInt_FMT " quadrature points each\n", indent,
            "", op->num_elem, op->num_qpts);
  }
  fprintf(stream, "%*s  %" CeedInt_FMT " field%s\n", indent, "", op->num_set, plural(op->num_set));
  view_fields(indent, "input", "Input", op->num_in, op->in, stream);
  view_fields(indent, "output", "Output", op->num_out, op->out, stream);
  return CEED_ERROR_SUCCESS;
}

static int view_composite(CeedOperator op, bool is_full, FILE *stream) {
  int indent = (int)(CEED_TAB_WIDTH * op->obj.num_tabs);
  fprintf(stream, "%*sComposite CeedOperator%s%s\n", indent, "", op->name ? " - " : "",
          op->name ? op->name : "");
  for (CeedInt i = 0; i < op->num_sub; i++) {
    const char *name = op->sub[i]->name;
    fprintf(stream, "%*s  SubOperator %" CeedInt_FMT "%s%s%s\n", indent, "", i, name ? " - " : "",
            name ? name : "", is_full ? ":" : "");
    if (is_full) RITZ_TRY(view_body(op->sub[i], indent + CEED_TAB_WIDTH, stream));
  }
  return CEED_ERROR_SUCCESS;
}

static int view_operator(const char *call, CeedOperator op, bool is_full, FILE *stream) {
  const char *name;
  RITZ_HANDLE_OF(call, op);
  RITZ_ARGUMENT_OF(op, call, stream);
  if (op->is_composite) return view_composite(op, is_full, stream);
  RITZ_TRY(CeedOperatorGetName(op, &name));
  bool has_name = name && name[0];
  ritz_object_indent(&op->obj, stream);
  fprintf(stream, "CeedOperator%s%s%s\n", op->is_at_points ? " AtPoints" : "", has_name ? " - " : "",
          has_name ? name : "");
  return is_full ? view_body(op, (int)(CEED_TAB_WIDTH * op->obj.num_tabs), stream) : CEED_ERROR_SUCCESS;
}

int CeedOperatorView(CeedOperator op, FILE *stream) { return view_operator(__func__, op, true, stream); }
int CeedOperatorViewTerse(CeedOperator op, FILE *stream) {
  return view_operator(__func__, op, false, stream);
}
