// SPDX-License-Identifier: BSD-2-Clause
// CeedQFunction: the user's function at quadrature points, its fields and context (doc/ceed-api.md,
// QFunctions).
#include <ceed/jit-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "core/core.h"
#include "core/vector.h"

static int view_qfunction(CeedObject object, FILE *stream) {
  return CeedQFunctionView((CeedQFunction)object, stream);
}
static int destroy_qfunction(CeedObject *object) { return CeedQFunctionDestroy((CeedQFunction *)object); }

const RitzClass ritz_qfunction_class = {
    .name = "CeedQFunction", .view = view_qfunction, .destroy = destroy_qfunction};

// ---- Life ----

// Splits "path:kernel" at the last colon.
static int set_source(CeedQFunction qf, const char *source) {
  Ceed ceed = qf->obj.ceed;
  const char *colon = strrchr(source, ':');
  RITZ_TRY(ritz_strdup(ceed, colon ? colon + 1 : "", &qf->kernel_name));
  if (!colon) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_strdup(ceed, source, &qf->source_path));
  qf->source_path[colon - source] = '\0';
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionCreateInterior(Ceed ceed, CeedInt vec_length, CeedQFunctionUser f, const char *source,
                                CeedQFunction *qf) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, qf);
  RITZ_REQUIRE(source, ceed, CEED_ERROR_INCOMPLETE,
               "%s: the source is NULL, needed \"file:function\" or \"\"", __func__);
  RITZ_REQUIRE(!source[0] || strchr(source, ':'), ceed, CEED_ERROR_INCOMPLETE,
               "%s: the source '%s' has no ':', needed \"file:function\"", __func__, source);
  RITZ_REQUIRE(vec_length >= 1, ceed, CEED_ERROR_DIMENSION,
               "%s: vector length must be at least 1, found %" CeedInt_FMT, __func__, vec_length);
  CeedQFunction created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_qfunction_class, sizeof(*created), &created));
  created->vec_length = vec_length;
  created->f = f;
  created->is_context_writable = true;
  created->user_flops = -1;
  int ierr = set_source(created, source);
  if (ierr) {
    CeedQFunctionDestroy(&created);
    return ierr;
  }
  *qf = created;
  return CEED_ERROR_SUCCESS;
}

// A name or text that may be NULL.
static int copy_text(Ceed ceed, const char *from, char **to) {
  return from ? ritz_strdup(ceed, from, to) : CEED_ERROR_SUCCESS;
}

int ritz_qfunction_copy(CeedQFunction qf, CeedQFunction *copy) {
  Ceed ceed = qf->obj.ceed;
  CeedQFunction created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_qfunction_class, sizeof(*created), &created));
  created->vec_length = qf->vec_length;
  if (!qf->code) created->f = qf->f; // else it lives as long as qf
  created->is_cxx = qf->is_cxx;
  created->gallery_name = qf->gallery_name;
  created->is_identity = qf->is_identity;
  created->is_context_writable = qf->is_context_writable;
  created->user_flops = qf->user_flops;
  int ierr = copy_text(ceed, qf->source_path, &created->source_path);
  if (!ierr) ierr = copy_text(ceed, qf->resolved_path, &created->resolved_path);
  if (!ierr) ierr = copy_text(ceed, qf->text, &created->text);
  if (!ierr) ierr = copy_text(ceed, qf->kernel_name, &created->kernel_name);
  if (!ierr && qf->ctx) ierr = CeedQFunctionSetContext(created, qf->ctx);
  if (ierr)
    (void)CeedQFunctionDestroy(&created);
  else
    *copy = created;
  return ierr;
}

int CeedQFunctionReferenceCopy(CeedQFunction qf, CeedQFunction *qf_copy) {
  return RITZ_REFERENCE_COPY(qf, qf_copy);
}

static void free_fields(CeedInt num, CeedQFunctionField **fields) {
  for (CeedInt i = 0; i < num; i++) {
    RITZ_FREE(&(*fields)[i]->name);
    RITZ_FREE(&(*fields)[i]);
  }
  RITZ_FREE(fields);
}

int CeedQFunctionDestroy(CeedQFunction *qf) {
  RITZ_RELEASE(qf);
  CeedQFunction q = *qf;
  if (q->obj.ceed->backend.qfunction_destroy) RITZ_TRY(q->obj.ceed->backend.qfunction_destroy(q));
  RITZ_TRY(CeedQFunctionDestroy(&q->energy));
  RITZ_TRY(CeedQFunctionContextDestroy(&q->ctx));
  free_fields(q->num_in, &q->in);
  free_fields(q->num_out, &q->out);
  RITZ_FREE(&q->source_path);
  RITZ_FREE(&q->resolved_path);
  RITZ_FREE(&q->file_path);
  RITZ_FREE(&q->text);
  if (q->code) q->release_code(&q->code);
  RITZ_FREE(&q->kernel_name);
  ritz_object_free(&q);
  *qf = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Fields ----

static bool has_field(CeedInt num, const CeedQFunctionField *fields, const char *name) {
  for (CeedInt i = 0; i < num; i++) {
    if (!strcmp(fields[i]->name, name)) return true;
  }
  return false;
}

static bool is_eval_mode(CeedEvalMode mode) {
  return mode == CEED_EVAL_NONE || mode == CEED_EVAL_INTERP || mode == CEED_EVAL_GRAD ||
         mode == CEED_EVAL_DIV || mode == CEED_EVAL_CURL || mode == CEED_EVAL_WEIGHT;
}

static int append_field(CeedQFunction qf, CeedInt *num, CeedQFunctionField **fields, const char *name,
                        CeedInt size, CeedEvalMode mode) {
  Ceed ceed = qf->obj.ceed;
  CeedQFunctionField field = NULL;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)*num + 1, fields));
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &field));
  int ierr = ritz_strdup(ceed, name, &field->name);
  if (ierr) {
    RITZ_FREE(&field);
    return ierr;
  }
  field->size = size;
  field->eval_mode = mode;
  (*fields)[(*num)++] = field;
  return CEED_ERROR_SUCCESS;
}

static int add_qfunction_field(CeedQFunction qf, const char *call, bool is_input, const char *name,
                               CeedInt size, CeedEvalMode mode) {
  RITZ_HANDLE_OF(call, qf);
  Ceed ceed = qf->obj.ceed;
  RITZ_REQUIRE(!qf->is_immutable, ceed, CEED_ERROR_MAJOR, "%s: the QFunction is in use and cannot be changed",
               call);
  RITZ_REQUIRE(name, ceed, CEED_ERROR_INCOMPATIBLE, "%s: the field name is NULL", call);
  RITZ_REQUIRE(is_eval_mode(mode), ceed, CEED_ERROR_INCOMPATIBLE, "%s: field '%s': %d is no evaluation mode",
               call, name, (int)mode);
  RITZ_REQUIRE(mode != CEED_EVAL_WEIGHT || (is_input && size == 1), ceed, CEED_ERROR_DIMENSION,
               "%s: field '%s': quadrature weights are an input of size 1, found %s of size %" CeedInt_FMT,
               call, name, is_input ? "an input" : "an output", size);
  RITZ_REQUIRE(size >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: field '%s': size must not be negative, found %" CeedInt_FMT, call, name, size);
  RITZ_REQUIRE(!has_field(qf->num_in, qf->in, name) && !has_field(qf->num_out, qf->out, name), ceed,
               CEED_ERROR_MINOR, "%s: the QFunction has a field '%s' already", call, name);
  return is_input ? append_field(qf, &qf->num_in, &qf->in, name, size, mode)
                  : append_field(qf, &qf->num_out, &qf->out, name, size, mode);
}

int CeedQFunctionAddInput(CeedQFunction qf, const char *field_name, CeedInt size, CeedEvalMode eval_mode) {
  return add_qfunction_field(qf, __func__, true, field_name, size, eval_mode);
}

int CeedQFunctionAddOutput(CeedQFunction qf, const char *field_name, CeedInt size, CeedEvalMode eval_mode) {
  return add_qfunction_field(qf, __func__, false, field_name, size, eval_mode);
}

int CeedQFunctionGetFields(CeedQFunction qf, CeedInt *num_input_fields, CeedQFunctionField **input_fields,
                           CeedInt *num_output_fields, CeedQFunctionField **output_fields) {
  RITZ_HANDLE(qf);
  qf->is_immutable = true;
  if (num_input_fields) *num_input_fields = qf->num_in;
  if (input_fields) *input_fields = qf->in;
  if (num_output_fields) *num_output_fields = qf->num_out;
  if (output_fields) *output_fields = qf->out;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionFieldGetData(CeedQFunctionField qf_field, const char **field_name, CeedInt *size,
                              CeedEvalMode *eval_mode) {
  RITZ_HANDLE(qf_field);
  if (field_name) *field_name = qf_field->name;
  if (size) *size = qf_field->size;
  if (eval_mode) *eval_mode = qf_field->eval_mode;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionFieldGetName(CeedQFunctionField qf_field, const char **field_name) {
  return CeedQFunctionFieldGetData(qf_field, field_name, NULL, NULL);
}

int CeedQFunctionFieldGetSize(CeedQFunctionField qf_field, CeedInt *size) {
  return CeedQFunctionFieldGetData(qf_field, NULL, size, NULL);
}

int CeedQFunctionFieldGetEvalMode(CeedQFunctionField qf_field, CeedEvalMode *eval_mode) {
  return CeedQFunctionFieldGetData(qf_field, NULL, NULL, eval_mode);
}

// ---- Context ----

int CeedQFunctionSetContext(CeedQFunction qf, CeedQFunctionContext ctx) {
  RITZ_HANDLE(qf, ctx);
  if (!ctx) return CeedQFunctionContextDestroy(&qf->ctx);
  RITZ_ARGUMENT(qf->obj.ceed, ctx);
  return CeedQFunctionContextReferenceCopy(ctx, &qf->ctx);
}

int CeedQFunctionSetContextWritable(CeedQFunction qf, bool is_writable) {
  RITZ_HANDLE(qf);
  qf->is_context_writable = is_writable;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionSetUserFlopsEstimate(CeedQFunction qf, CeedSize flops) {
  RITZ_HANDLE(qf);
  RITZ_REQUIRE(flops >= 0, qf->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: flops must not be negative, found %" CeedSize_FMT, __func__, flops);
  qf->user_flops = flops;
  return CEED_ERROR_SUCCESS;
}

int ritz_qfunction_get_context_data(CeedQFunction qf, CeedMemType mem_type, void **data) {
  *data = NULL;
  if (!qf->ctx) return CEED_ERROR_SUCCESS;
  return (qf->is_context_writable ? CeedQFunctionContextGetData
                                  : CeedQFunctionContextGetDataRead)(qf->ctx, mem_type, data);
}

int ritz_qfunction_restore_context_data(CeedQFunction qf, void **data) {
  if (!qf->ctx) return CEED_ERROR_SUCCESS;
  return (qf->is_context_writable ? CeedQFunctionContextRestoreData
                                  : CeedQFunctionContextRestoreDataRead)(qf->ctx, data);
}

// ---- Apply ----

static int check_vectors(CeedQFunction qf, CeedInt Q, CeedInt num, CeedQFunctionField *fields,
                         CeedVector *vectors) {
  RITZ_REQUIRE(num == 0 || vectors, qf->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedQFunctionApply: the list of %" CeedInt_FMT " vectors is NULL", num);
  for (CeedInt i = 0; i < num; i++) {
    if (fields[i]->size == 0) continue;
    RITZ_REQUIRE(ritz_is_live(vectors[i], &ritz_vector_class), qf->obj.ceed, CEED_ERROR_INCOMPATIBLE,
                 "CeedQFunctionApply: the vector of field '%s' is %s", fields[i]->name,
                 ritz_found_at(vectors[i]));
    CeedSize needed = (CeedSize)fields[i]->size * Q;
    RITZ_REQUIRE(vectors[i]->length >= needed, qf->obj.ceed, CEED_ERROR_DIMENSION,
                 "CeedQFunctionApply: the vector of field '%s' has %" CeedSize_FMT
                 " entries, needed %" CeedSize_FMT,
                 fields[i]->name, vectors[i]->length, needed);
    RITZ_TRY(ritz_vector_require_precision(vectors[i], "CeedQFunctionApply", CEED_SCALAR_TYPE));
  }
  return CEED_ERROR_SUCCESS;
}

static CeedInt field_size(CeedQFunction qf, CeedInt i) {
  return (i < qf->num_in ? qf->in[i] : qf->out[i - qf->num_in])->size;
}

static int require_inputs(CeedQFunction qf, CeedVector *u) {
  char name[120];

  for (CeedInt i = 0; i < qf->num_in; i++) {
    if (qf->in[i]->size == 0) continue;
    snprintf(name, sizeof(name), "input field '%.80s'", qf->in[i]->name);
    RITZ_TRY_BACKEND(ritz_vector_require_data_of(u[i], "CeedQFunctionApply", name));
  }
  return CEED_ERROR_SUCCESS;
}

// Arrays of all fields, inputs first, NULL where the size is 0; *num_held counts those that must be restored.
static int get_qfunction_arrays(CeedQFunction qf, CeedVector *u, CeedVector *v, CeedScalar **arrays,
                                CeedInt *num_held) {
  CeedMemType mem_type = qf->obj.ceed->backend.mem_type;
  for (; *num_held < qf->num_in; (*num_held)++) {
    if (!field_size(qf, *num_held)) continue;
    RITZ_TRY_BACKEND(CeedVectorGetArrayRead(u[*num_held], mem_type, (const CeedScalar **)&arrays[*num_held]));
  }
  for (; *num_held < qf->num_in + qf->num_out; (*num_held)++) {
    if (!field_size(qf, *num_held)) continue;
    RITZ_TRY_BACKEND(CeedVectorGetArrayWrite(v[*num_held - qf->num_in], mem_type, &arrays[*num_held]));
  }
  return CEED_ERROR_SUCCESS;
}

static int restore_arrays(CeedQFunction qf, CeedVector *u, CeedVector *v, CeedScalar **arrays,
                          CeedInt num_held, int ierr) {
  for (CeedInt i = 0; i < num_held; i++) {
    if (!field_size(qf, i)) continue;
    int restored = i < qf->num_in ? CeedVectorRestoreArrayRead(u[i], (const CeedScalar **)&arrays[i])
                                  : ritz_vector_end_write(v[i - qf->num_in], &arrays[i], ierr);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

int CeedQFunctionApply(CeedQFunction qf, CeedInt Q, CeedVector *u, CeedVector *v) {
  RITZ_HANDLE(qf);
  Ceed ceed = qf->obj.ceed;
  RITZ_REQUIRE(Q >= 0 && Q % qf->vec_length == 0, ceed, CEED_ERROR_DIMENSION,
               "%s: number of points %" CeedInt_FMT " is not a multiple of the vector length %" CeedInt_FMT,
               __func__, Q, qf->vec_length);
  RITZ_TRY(check_vectors(qf, Q, qf->num_in, qf->in, u));
  RITZ_TRY(check_vectors(qf, Q, qf->num_out, qf->out, v));
  RITZ_TRY(require_inputs(qf, u));
  qf->is_immutable = true;

  CeedScalar **arrays = NULL;
  CeedInt num_held = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in + (size_t)qf->num_out, &arrays));
  int ierr = get_qfunction_arrays(qf, u, v, arrays, &num_held);
  if (!ierr && Q > 0) // a function may have arrays of bound Q
    ierr = ceed->backend.qfunction_apply(qf, Q, (const CeedScalar *const *)arrays,
                                         arrays ? arrays + qf->num_in : NULL);
  ierr = restore_arrays(qf, u, v, arrays, num_held, ierr);
  RITZ_FREE(&arrays);
  return ierr;
}

// ---- Queries and view ----

int CeedQFunctionGetCeed(CeedQFunction qf, Ceed *ceed) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, ceed);
  return CeedObjectGetCeed((CeedObject)qf, ceed);
}
Ceed CeedQFunctionReturnCeed(CeedQFunction qf) { return RITZ_RETURN_CEED(qf); }
int CeedQFunctionSetNumViewTabs(CeedQFunction qf, CeedInt num_tabs) {
  RITZ_HANDLE(qf);
  return CeedObjectSetNumViewTabs((CeedObject)qf, num_tabs);
}
int CeedQFunctionGetNumViewTabs(CeedQFunction qf, CeedInt *num_tabs) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)qf, num_tabs);
}

int CeedQFunctionGetNumArgs(CeedQFunction qf, CeedInt *num_input_fields, CeedInt *num_output_fields) {
  RITZ_HANDLE(qf);
  if (num_input_fields) *num_input_fields = qf->num_in;
  if (num_output_fields) *num_output_fields = qf->num_out;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionGetName(CeedQFunction qf, const char **name) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, name);
  *name = qf->gallery_name ? qf->gallery_name : qf->kernel_name;
  return CEED_ERROR_SUCCESS;
}

#define GETTER(function, type, field)                                                                        \
  int function(CeedQFunction qf, type *value) {                                                              \
    RITZ_HANDLE(qf);                                                                                         \
    RITZ_ARGUMENT(qf, value);                                                                                \
    *value = qf->field;                                                                                      \
    return CEED_ERROR_SUCCESS;                                                                               \
  }
GETTER(CeedQFunctionGetKernelName, const char *, kernel_name)
GETTER(CeedQFunctionIsIdentity, bool, is_identity)
GETTER(CeedQFunctionIsContextWritable, bool, is_context_writable)
GETTER(CeedQFunctionIsImmutable, bool, is_immutable)
GETTER(CeedQFunctionGetVectorLength, CeedInt, vec_length)
GETTER(CeedQFunctionGetUserFunction, CeedQFunctionUser, f)
GETTER(CeedQFunctionGetFlopsEstimate, CeedSize, user_flops)
#undef GETTER

int CeedQFunctionGetSourcePath(CeedQFunction qf, const char **source_path) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, source_path);
  *source_path = NULL;
  if (!qf->source_path || qf->text) return CEED_ERROR_SUCCESS;
  if (!qf->file_path) {
    const char *found = NULL;
    RITZ_TRY(ritz_qfunction_find_source(qf, &found));
    const char *file = found && !ritz_embedded_find(found) ? found : qf->source_path;
    RITZ_TRY(CeedGetJitAbsolutePath(qf->obj.ceed, file, &found));
    ritz_memory_adopt((void *)found);
    qf->file_path = (char *)found;
  }
  *source_path = qf->file_path;
  return CEED_ERROR_SUCCESS;
}

// A relative path is one of the application's folder now; the kernel is compiled elsewhere. Stays as it is
// where the system cannot tell.
static void make_absolute(char **path) {
  char *absolute = *path && (*path)[0] != '/' ? realpath(*path, NULL) : NULL;
  if (!absolute) return;
  ritz_memory_adopt(absolute);
  RITZ_FREE(path);
  *path = absolute;
}

int ritz_qfunction_find_source(CeedQFunction qf, const char **path) {
  if (qf->source_path && !qf->resolved_path) {
    RITZ_TRY(ritz_jit_find_source(qf->obj.ceed, qf->f, qf->source_path, &qf->resolved_path, NULL));
    make_absolute(&qf->resolved_path);
  }
  *path = qf->resolved_path;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionGetContext(CeedQFunction qf, CeedQFunctionContext *ctx) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, ctx);
  *ctx = NULL;
  return qf->ctx ? CeedQFunctionContextReferenceCopy(qf->ctx, ctx) : CEED_ERROR_SUCCESS;
}

int CeedQFunctionGetInnerContext(CeedQFunction qf, CeedQFunctionContext *ctx) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, ctx);
  return CeedQFunctionGetContext(qf, ctx);
}

static void view_fields(CeedQFunction qf, const char *direction, const char *title, CeedInt num,
                        CeedQFunctionField *fields, FILE *stream) {
  int indent = (int)(CEED_TAB_WIDTH * qf->obj.num_tabs);
  fprintf(stream, "%*s  %" CeedInt_FMT " %s field%s:\n", indent, "", num, direction, num > 1 ? "s" : "");
  for (CeedInt i = 0; i < num; i++) {
    fprintf(stream, "%*s    %s field %" CeedInt_FMT ":\n", indent, "", title, i);
    fprintf(stream, "%*s      Name: \"%s\"\n", indent, "", fields[i]->name);
    fprintf(stream, "%*s      Size: %" CeedInt_FMT "\n", indent, "", fields[i]->size);
    fprintf(stream, "%*s      EvalMode: \"%s\"\n", indent, "", CeedEvalModes[fields[i]->eval_mode]);
  }
}

int CeedQFunctionView(CeedQFunction qf, FILE *stream) {
  RITZ_HANDLE(qf);
  RITZ_ARGUMENT(qf, stream);
  const char *name;
  RITZ_TRY(CeedQFunctionGetName(qf, &name));
  ritz_object_indent(&qf->obj, stream);
  fprintf(stream, "%s CeedQFunction - %s\n", qf->gallery_name ? "Gallery" : "User", name);
  view_fields(qf, "input", "Input", qf->num_in, qf->in, stream);
  view_fields(qf, "output", "Output", qf->num_out, qf->out, stream);
  return CEED_ERROR_SUCCESS;
}
