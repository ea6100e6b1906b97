// SPDX-License-Identifier: BSD-2-Clause
// CeedOperator: context fields through operators and composites (doc/ceed-api.md, Operators).
#include <string.h>

#include "core/operator.h"

int CeedOperatorGetContext(CeedOperator op, CeedQFunctionContext *ctx) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, ctx);
  RITZ_REQUIRE(!op->is_composite, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: not defined for a composite operator", __func__);
  return CeedQFunctionGetContext(op->qf, ctx);
}

// ---- Labels ----

static int append_label(CeedOperator op, CeedContextFieldLabel label) {
  RITZ_TRY(RITZ_REALLOC(op->obj.ceed, (size_t)op->num_labels + 1, &op->labels));
  op->labels[op->num_labels++] = label;
  return CEED_ERROR_SUCCESS;
}

static bool has_issued(CeedOperator op, CeedContextFieldLabel label) {
  for (CeedInt i = 0; i < op->num_labels; i++) {
    if (op->labels[i] == label) return true;
  }
  return false;
}

static int label_of_context(CeedOperator op, const char *name, CeedContextFieldLabel *label) {
  *label = NULL;
  return op->qf->ctx ? CeedQFunctionContextGetFieldLabel(op->qf->ctx, name, label) : CEED_ERROR_SUCCESS;
}

static int get_label_single(CeedOperator op, const char *name, CeedContextFieldLabel *label) {
  RITZ_TRY(label_of_context(op, name, label));
  if (!*label || has_issued(op, *label)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(append_label(op, *label));
  (*label)->from_op = true;
  return CEED_ERROR_SUCCESS;
}

// One label for all parts that have the field; they must agree in type and number of values.
static int merge_labels(CeedOperator op, const char *name, CeedContextFieldLabel merged, bool *is_found) {
  CeedContextFieldLabel first = NULL, label;
  for (CeedInt i = 0; i < op->num_sub; i++) {
    RITZ_TRY(label_of_context(op->sub[i], name, &label));
    if (!label) continue;
    if (!first) first = label;
    RITZ_REQUIRE(label->type == first->type && label->num_values == first->num_values, op->obj.ceed,
                 CEED_ERROR_INCOMPATIBLE,
                 "CeedOperatorGetContextFieldLabel: sub-operators register '%s' differently", name);
  }
  *is_found = first != NULL;
  if (!first) return CEED_ERROR_SUCCESS;
  merged->type = first->type;
  merged->num_values = first->num_values;
  merged->size = first->size;
  RITZ_TRY(ritz_strdup(op->obj.ceed, name, &merged->name));
  return ritz_strdup(op->obj.ceed, first->description, &merged->description);
}

static int get_label_composite(CeedOperator op, const char *name, CeedContextFieldLabel *label) {
  for (CeedInt i = 0; i < op->num_labels; i++) {
    if (op->labels[i]->num_sub == op->num_sub && !strcmp(op->labels[i]->name, name)) {
      *label = op->labels[i];
      return CEED_ERROR_SUCCESS;
    }
  }
  *label = NULL;
  CeedContextFieldLabel merged = NULL;
  bool is_found = false;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &merged));
  merged->from_op = true;
  merged->num_sub = op->num_sub;
  int ierr = merge_labels(op, name, merged, &is_found);
  if (!ierr && is_found) ierr = append_label(op, merged);
  if (ierr || !is_found) ritz_label_free(&merged);
  *label = merged;
  return ierr;
}

int CeedOperatorGetContextFieldLabel(CeedOperator op, const char *field_name,
                                     CeedContextFieldLabel *field_label) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, field_label);
  RITZ_REQUIRE(field_name, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", __func__);
  return (op->is_composite ? get_label_composite : get_label_single)(op, field_name, field_label);
}

// ---- Values ----

static bool is_label_of(CeedQFunctionContext ctx, CeedContextFieldLabel label) {
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    if (ctx->labels[i] == label) return true;
  }
  return false;
}

static int check_label(CeedOperator op, const char *call, CeedContextFieldLabel label) {
  RITZ_HANDLE_OF(call, op);
  Ceed ceed = op->obj.ceed;
  RITZ_REQUIRE(label, ceed, CEED_ERROR_UNSUPPORTED, "%s: the field label is NULL", call);
  RITZ_ARGUMENT_OF(ceed, call, label);
  RITZ_REQUIRE(!label->from_op || has_issued(op, label), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the label of field '%s' was not issued by this operator", call, label->name);
  RITZ_REQUIRE(op->is_composite == (label->num_sub > 0), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the label of field '%s' was not issued by this operator", call, label->name);
  RITZ_REQUIRE(!op->is_composite || label->num_sub == op->num_sub, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the composite has %" CeedInt_FMT " parts, the label of '%s' was made for %" CeedInt_FMT,
               call, op->num_sub, label->name, label->num_sub);
  RITZ_REQUIRE(op->is_composite || op->qf->ctx, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the operator's QFunction has no context", call);
  RITZ_REQUIRE(op->is_composite || is_label_of(op->qf->ctx, label), ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the label of field '%s' belongs to another context", call, label->name);
  return CEED_ERROR_SUCCESS;
}

// The operator's assembled QFunction is out of date afterwards.
static int set_field_single(CeedOperator op, const char *call, CeedContextFieldLabel label,
                            CeedContextFieldType type, const void *values) {
  RITZ_TRY(ritz_context_set_field(op->qf->ctx, call, label, type, values));
  return CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(op, true);
}

// The first part from *i on whose context has the field, and its label there; NULL: none. Found by name,
// since contexts may have been exchanged after the composite's label was made.
static int find_part(CeedOperator op, const char *call, CeedContextFieldLabel label, CeedInt *i,
                     CeedContextFieldLabel *own) {
  for (*own = NULL; *i < op->num_sub; (*i)++) {
    RITZ_TRY(label_of_context(op->sub[*i], label->name, own));
    if (*own) break;
  }
  RITZ_REQUIRE(!*own || (*own)->num_values == label->num_values, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: a sub-operator has got a context with another number of values in field '%s'", call,
               label->name);
  return CEED_ERROR_SUCCESS;
}

static int set_field(CeedOperator op, const char *call, CeedContextFieldLabel label,
                     CeedContextFieldType type, const void *values) {
  CeedContextFieldLabel own;
  CeedInt i = 0;
  RITZ_TRY(check_label(op, call, label));
  if (!op->is_composite) return set_field_single(op, call, label, type, values);
  RITZ_TRY(find_part(op, call, label, &i, &own));
  while (own) {
    RITZ_TRY(set_field_single(op->sub[i++], call, own, type, values));
    RITZ_TRY(find_part(op, call, label, &i, &own));
  }
  return CEED_ERROR_SUCCESS;
}

// Context and label that a read of a field means: of a composite, those of its first part that has the field.
static int locate(CeedOperator op, const char *call, CeedContextFieldLabel label, CeedQFunctionContext *ctx,
                  CeedContextFieldLabel *own) {
  CeedInt i = 0;
  RITZ_TRY(check_label(op, call, label));
  *ctx = op->is_composite ? NULL : op->qf->ctx;
  *own = label;
  if (!op->is_composite) return CEED_ERROR_SUCCESS;
  RITZ_TRY(find_part(op, call, label, &i, own));
  RITZ_REQUIRE(*own, op->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: no sub-operator has a field '%s' any more",
               call, label->name);
  *ctx = op->sub[i]->qf->ctx;
  return CEED_ERROR_SUCCESS;
}

static int get_field(CeedOperator op, const char *call, CeedContextFieldLabel label,
                     CeedContextFieldType type, size_t *num_values, const void **values) {
  CeedQFunctionContext ctx;
  *values = NULL;
  *num_values = 0;
  RITZ_TRY(locate(op, call, label, &ctx, &label));
  return ritz_context_get_field(ctx, call, label, type, num_values, values);
}

static int restore_field(CeedOperator op, const char *call, CeedContextFieldLabel label,
                         CeedContextFieldType type, const void **values) {
  CeedQFunctionContext ctx;
  RITZ_TRY(locate(op, call, label, &ctx, &label));
  return ritz_context_restore_field(ctx, call, label, type, values);
}

#define FIELD_FUNCTIONS(Name, c_type, field_type)                                                            \
  int CeedOperatorSetContext##Name(CeedOperator op, CeedContextFieldLabel label, c_type *values) {           \
    return set_field(op, __func__, label, field_type, values);                                               \
  }                                                                                                          \
  int CeedOperatorGetContext##Name##Read(CeedOperator op, CeedContextFieldLabel label, size_t *num_values,   \
                                         const c_type **values) {                                            \
    const void *bytes;                                                                                       \
    RITZ_HANDLE(op);                                                                                         \
    RITZ_ARGUMENT(op, num_values);                                                                           \
    RITZ_ARGUMENT(op, values);                                                                               \
    int ierr = get_field(op, __func__, label, field_type, num_values, &bytes);                               \
    *values = bytes;                                                                                         \
    return ierr;                                                                                             \
  }                                                                                                          \
  int CeedOperatorRestoreContext##Name##Read(CeedOperator op, CeedContextFieldLabel label,                   \
                                             const c_type **values) {                                        \
    RITZ_HANDLE(op);                                                                                         \
    RITZ_ARGUMENT(op, values);                                                                               \
    const void *bytes = *values;                                                                             \
    int ierr = restore_field(op, __func__, label, field_type, &bytes);                                       \
    *values = bytes;                                                                                         \
    return ierr;                                                                                             \
  }
FIELD_FUNCTIONS(Double, double, CEED_CONTEXT_FIELD_DOUBLE)
FIELD_FUNCTIONS(Int32, int32_t, CEED_CONTEXT_FIELD_INT32)
FIELD_FUNCTIONS(Boolean, bool, CEED_CONTEXT_FIELD_BOOL)
