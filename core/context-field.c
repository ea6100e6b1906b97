// SPDX-License-Identifier: BSD-2-Clause
// Named fields of a CeedQFunctionContext: registration, labels, values (doc/ceed-api.md,
// Contexts of QFunctions).
#include <string.h>

#include "core/core.h"

void ritz_label_free(CeedContextFieldLabel *label) {
  if (!*label) return;
  RITZ_FREE(&(*label)->name);
  RITZ_FREE(&(*label)->description);
  RITZ_FREE(label);
}

int CeedQFunctionContextGetFieldLabel(CeedQFunctionContext ctx, const char *field_name,
                                      CeedContextFieldLabel *field_label) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, field_label);
  RITZ_REQUIRE(field_name, ctx->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", __func__);
  *field_label = NULL;
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    if (!strcmp(ctx->labels[i]->name, field_name)) *field_label = ctx->labels[i];
  }
  return CEED_ERROR_SUCCESS;
}

static size_t size_of_type(CeedContextFieldType type) {
  return type == CEED_CONTEXT_FIELD_DOUBLE  ? sizeof(double)
         : type == CEED_CONTEXT_FIELD_INT32 ? sizeof(int32_t)
                                            : sizeof(bool);
}

// Does not overflow.
static bool fits(size_t num_bytes, size_t offset, size_t num_values, size_t size) {
  return offset <= num_bytes && num_values <= (num_bytes - offset) / size;
}

int ritz_context_check_fields(CeedQFunctionContext ctx, const char *call, size_t num_bytes) {
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    const CeedContextFieldLabel l = ctx->labels[i];
    RITZ_REQUIRE(fits(num_bytes, l->offset, l->num_values, l->size), ctx->obj.ceed, CEED_ERROR_BACKEND,
                 "%s: field '%s' of %zu values of %zu bytes at byte %zu leaves the context of %zu bytes",
                 call, l->name, l->num_values, l->size, l->offset, num_bytes);
  }
  return CEED_ERROR_SUCCESS;
}

static int register_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldType type,
                          const char *name, size_t offset, size_t num_values, const char *description) {
  RITZ_HANDLE_OF(call, ctx);
  Ceed ceed = ctx->obj.ceed;
  CeedContextFieldLabel label;
  RITZ_REQUIRE(name, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", call);
  RITZ_TRY(CeedQFunctionContextGetFieldLabel(ctx, name, &label));
  RITZ_REQUIRE(!label, ceed, CEED_ERROR_UNSUPPORTED, "%s: the context has a field '%s' already", call, name);

  RITZ_REQUIRE(ctx->storage.num_bytes == 0 ||
                   fits(ctx->storage.num_bytes, offset, num_values, size_of_type(type)),
               ceed, CEED_ERROR_BACKEND,
               "%s: field '%s' of %zu values of %zu bytes at byte %zu leaves the context of %zu bytes", call,
               name, num_values, size_of_type(type), offset, ctx->storage.num_bytes);

  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)ctx->num_labels + 1, &ctx->labels));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &label));
  label->offset = offset;
  label->num_values = num_values;
  label->type = type;
  label->size = size_of_type(type);
  int ierr = ritz_strdup(ceed, name, &label->name);
  if (!ierr) ierr = ritz_strdup(ceed, description ? description : "", &label->description);
  if (ierr) {
    ritz_label_free(&label);
    return ierr;
  }
  ctx->labels[ctx->num_labels++] = label;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextRegisterDouble(CeedQFunctionContext ctx, const char *field_name, size_t field_offset,
                                       size_t num_values, const char *field_description) {
  return register_field(ctx, __func__, CEED_CONTEXT_FIELD_DOUBLE, field_name, field_offset, num_values,
                        field_description);
}

int CeedQFunctionContextRegisterInt32(CeedQFunctionContext ctx, const char *field_name, size_t field_offset,
                                      size_t num_values, const char *field_description) {
  return register_field(ctx, __func__, CEED_CONTEXT_FIELD_INT32, field_name, field_offset, num_values,
                        field_description);
}

int CeedQFunctionContextRegisterBoolean(CeedQFunctionContext ctx, const char *field_name, size_t field_offset,
                                        size_t num_values, const char *field_description) {
  return register_field(ctx, __func__, CEED_CONTEXT_FIELD_BOOL, field_name, field_offset, num_values,
                        field_description);
}

int CeedQFunctionContextGetAllFieldLabels(CeedQFunctionContext ctx,
                                          const CeedContextFieldLabel **field_labels, CeedInt *num_fields) {
  RITZ_HANDLE(ctx);
  if (field_labels) *field_labels = ctx->labels;
  if (num_fields) *num_fields = ctx->num_labels;
  return CEED_ERROR_SUCCESS;
}

int CeedContextFieldLabelGetDescription(CeedContextFieldLabel label, const char **field_name,
                                        size_t *field_offset, size_t *num_values,
                                        const char **field_description, CeedContextFieldType *field_type) {
  RITZ_HANDLE(label);
  if (field_name) *field_name = label->name;
  if (field_offset) *field_offset = label->offset;
  if (num_values) *num_values = label->num_values;
  if (field_description) *field_description = label->description;
  if (field_type) *field_type = label->type;
  return CEED_ERROR_SUCCESS;
}

// ---- Values ----

static int check_label(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                       CeedContextFieldType type) {
  RITZ_HANDLE_OF(call, ctx);
  RITZ_REQUIRE(label, ctx->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: the field label is NULL", call);
  RITZ_ARGUMENT_OF(ctx->obj.ceed, call, label);
  RITZ_REQUIRE(label->type == type, ctx->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: field '%s' holds %s values, needed %s", call, label->name,
               CeedContextFieldTypes[label->type], CeedContextFieldTypes[type]);
  const size_t num_bytes = ctx->storage.num_bytes;
  RITZ_REQUIRE(fits(num_bytes, label->offset, label->num_values, label->size), ctx->obj.ceed,
               CEED_ERROR_BACKEND,
               "%s: field '%s' of %zu values of %zu bytes at byte %zu leaves the context of %zu bytes", call,
               label->name, label->num_values, label->size, label->offset, num_bytes);
  return CEED_ERROR_SUCCESS;
}

// Equal bytes are not written, so that other representations stay valid.
int ritz_context_set_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                           CeedContextFieldType type, const void *values) {
  RITZ_TRY(check_label(ctx, call, label, type));
  RITZ_ARGUMENT_OF(ctx, call, values);
  const char *old;
  size_t num_bytes = label->num_values * label->size;
  RITZ_TRY(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &old));
  bool is_equal = !memcmp(old + label->offset, values, num_bytes);
  RITZ_TRY(CeedQFunctionContextRestoreDataRead(ctx, &old));
  if (is_equal) return CEED_ERROR_SUCCESS;
  char *data;
  RITZ_TRY(CeedQFunctionContextGetData(ctx, CEED_MEM_HOST, &data));
  memcpy(data + label->offset, values, num_bytes);
  return CeedQFunctionContextRestoreData(ctx, &data);
}

int ritz_context_get_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                           CeedContextFieldType type, size_t *num_values, const void **values) {
  *values = NULL;
  *num_values = 0;
  RITZ_TRY(check_label(ctx, call, label, type));
  const char *data;
  RITZ_TRY(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data));
  *values = data + label->offset;
  *num_values = label->num_values;
  return CEED_ERROR_SUCCESS;
}

int ritz_context_restore_field(CeedQFunctionContext ctx, const char *call, CeedContextFieldLabel label,
                               CeedContextFieldType type, const void **values) {
  RITZ_TRY(check_label(ctx, call, label, type));
  return CeedQFunctionContextRestoreDataRead(ctx, values);
}

#define FIELD_FUNCTIONS(Name, c_type, field_type)                                                            \
  int CeedQFunctionContextSet##Name(CeedQFunctionContext ctx, CeedContextFieldLabel label, c_type *values) { \
    return ritz_context_set_field(ctx, __func__, label, field_type, values);                                 \
  }                                                                                                          \
  int CeedQFunctionContextGet##Name##Read(CeedQFunctionContext ctx, CeedContextFieldLabel label,             \
                                          size_t *num_values, const c_type **values) {                       \
    const void *bytes;                                                                                       \
    RITZ_HANDLE(ctx);                                                                                        \
    RITZ_ARGUMENT(ctx, num_values);                                                                          \
    RITZ_ARGUMENT(ctx, values);                                                                              \
    int ierr = ritz_context_get_field(ctx, __func__, label, field_type, num_values, &bytes);                 \
    *values = bytes;                                                                                         \
    return ierr;                                                                                             \
  }                                                                                                          \
  int CeedQFunctionContextRestore##Name##Read(CeedQFunctionContext ctx, CeedContextFieldLabel label,         \
                                              const c_type **values) {                                       \
    RITZ_HANDLE(ctx);                                                                                        \
    RITZ_ARGUMENT(ctx, values);                                                                              \
    const void *bytes = *values;                                                                             \
    int ierr = ritz_context_restore_field(ctx, __func__, label, field_type, &bytes);                         \
    *values = bytes;                                                                                         \
    return ierr;                                                                                             \
  }
FIELD_FUNCTIONS(Double, double, CEED_CONTEXT_FIELD_DOUBLE)
FIELD_FUNCTIONS(Int32, int32_t, CEED_CONTEXT_FIELD_INT32)
FIELD_FUNCTIONS(Boolean, bool, CEED_CONTEXT_FIELD_BOOL)
