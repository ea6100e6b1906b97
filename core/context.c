// SPDX-License-Identifier: BSD-2-Clause
// CeedQFunctionContext: a byte buffer handed to QFunctions, with access locks and a data-destroy callback
// (doc/ceed-api.md, Contexts of QFunctions). Its registered fields are in core/context-field.c.
#include <string.h>

#include "core/core.h"

static int view_context(CeedObject object, FILE *stream) {
  return CeedQFunctionContextView((CeedQFunctionContext)object, stream);
}
static int destroy_context(CeedObject *object) {
  return CeedQFunctionContextDestroy((CeedQFunctionContext *)object);
}

const RitzClass ritz_context_class = {
    .name = "CeedQFunctionContext", .view = view_context, .destroy = destroy_context};

int CeedQFunctionContextCreate(Ceed ceed, CeedQFunctionContext *ctx) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, ctx);
  return ritz_object_create(ceed, &ritz_context_class, sizeof(**ctx), ctx);
}

int CeedQFunctionContextReferenceCopy(CeedQFunctionContext ctx, CeedQFunctionContext *ctx_copy) {
  return RITZ_REFERENCE_COPY(ctx, ctx_copy);
}

// ---- Access ----

static int require_data(CeedQFunctionContext ctx, const char *call) {
  RITZ_REQUIRE(ritz_storage_has_data(&ctx->storage), ctx->obj.ceed, CEED_ERROR_BACKEND,
               "%s: CeedQFunctionContext has no valid data, set its data first", call);
  return CEED_ERROR_SUCCESS;
}

static int require_unlocked(CeedQFunctionContext ctx, const char *call) {
  RITZ_REQUIRE(!ctx->is_locked, ctx->obj.ceed, CEED_ERROR_MINOR,
               "%s(): Cannot grant CeedQFunctionContext data access, the access lock is already in use",
               call);
  return CEED_ERROR_SUCCESS;
}

static int context_kind(CeedQFunctionContext ctx, const char *call, CeedMemType mem_type, RitzRepKind *kind) {
  return ritz_storage_kind(ctx->obj.ceed, call, mem_type, "Can only provide HOST memory for this backend",
                           kind);
}

// Shows the user's callback the data that are about to go. Without valid data there is nothing to show.
static int destroy_data(CeedQFunctionContext ctx) {
  RitzRepKind kind = ctx->destroy_mem_type == CEED_MEM_DEVICE ? RITZ_REP_DEVICE : RITZ_REP_HOST;
  if (!ctx->destroy_data || !ritz_storage_has_data(&ctx->storage)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_storage_sync(ctx->obj.ceed, &ctx->storage, kind));
  return ctx->destroy_data(ritz_storage_pointer(&ctx->storage, kind));
}

// Frees a storage except for the block `kept`, which has another owner.
static void drop(CeedQFunctionContext ctx, RitzStorage *storage, RitzRepKind kind, const void *kept) {
  RitzRep *rep = &storage->rep[kind];
  if (rep->owned == kept) {
    if (kind == RITZ_REP_HOST) ritz_memory_give(rep->owned);
    rep->owned = NULL;
  }
  ritz_storage_clear(ctx->obj.ceed, storage);
}

int CeedQFunctionContextSetData(CeedQFunctionContext ctx, CeedMemType mem_type, CeedCopyMode copy_mode,
                                size_t size, void *data) {
  RITZ_HANDLE(ctx);
  RitzRepKind kind;
  RITZ_TRY(ritz_storage_kind(ctx->obj.ceed, __func__, mem_type, "Can only set HOST memory for this backend",
                             &kind));
  RITZ_TRY(require_unlocked(ctx, __func__));
  RITZ_REQUIRE(copy_mode == CEED_COPY_VALUES || copy_mode == CEED_USE_POINTER ||
                   copy_mode == CEED_OWN_POINTER,
               ctx->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: %d is no copy mode", __func__, (int)copy_mode);
  RITZ_REQUIRE(data || size == 0, ctx->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the data are NULL for %zu bytes", __func__, size);
  RITZ_TRY(ritz_context_check_fields(ctx, __func__, size));
  RITZ_TRY(ritz_storage_accept(ctx->obj.ceed, __func__, kind, copy_mode, size, data));
  RitzStorage next = {.num_bytes = size};
  RITZ_TRY(ritz_storage_set(ctx->obj.ceed, &next, kind, copy_mode, data));
  int ierr = destroy_data(ctx);
  if (ierr) {
    drop(ctx, &next, kind, data);
    return ierr;
  }
  // The old buffer may be what is being handed over again.
  drop(ctx, &ctx->storage, kind, copy_mode == CEED_COPY_VALUES ? NULL : data);
  ctx->storage = next;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextTakeData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  RITZ_HANDLE(ctx);
  RitzRepKind kind;
  RITZ_TRY(context_kind(ctx, __func__, mem_type, &kind));
  RITZ_TRY(require_data(ctx, __func__));
  RITZ_TRY(require_unlocked(ctx, __func__));
  RITZ_REQUIRE(ctx->storage.rep[kind].borrowed, ctx->obj.ceed, CEED_ERROR_BACKEND,
               "%s: CeedQFunctionContext has no borrowed %s data, set them with CEED_USE_POINTER first",
               __func__, CeedMemTypes[mem_type]);
  return ritz_storage_take(ctx->obj.ceed, &ctx->storage, kind, data);
}

int CeedQFunctionContextGetData(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, data);
  RitzRepKind kind;
  RITZ_TRY(context_kind(ctx, __func__, mem_type, &kind));
  RITZ_TRY(require_unlocked(ctx, __func__));
  RITZ_REQUIRE(ctx->num_readers == 0, ctx->obj.ceed, CEED_ERROR_MINOR,
               "%s(): Cannot grant CeedQFunctionContext data access, a process has read access", __func__);
  RITZ_TRY(require_data(ctx, __func__));
  RITZ_TRY(ritz_storage_sync(ctx->obj.ceed, &ctx->storage, kind));
  ritz_storage_only_valid(&ctx->storage, kind);
  ctx->is_locked = true;
  *(void **)data = ritz_storage_pointer(&ctx->storage, kind);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextGetDataRead(CeedQFunctionContext ctx, CeedMemType mem_type, void *data) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, data);
  RitzRepKind kind;
  RITZ_TRY(context_kind(ctx, __func__, mem_type, &kind));
  RITZ_TRY(require_unlocked(ctx, __func__));
  RITZ_TRY(require_data(ctx, __func__));
  RITZ_TRY(ritz_storage_sync(ctx->obj.ceed, &ctx->storage, kind));
  ctx->num_readers++;
  *(void **)data = ritz_storage_pointer(&ctx->storage, kind);
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextRestoreData(CeedQFunctionContext ctx, void *data) {
  RITZ_HANDLE(ctx);
  RITZ_REQUIRE(ctx->is_locked, ctx->obj.ceed, CEED_ERROR_MINOR,
               "%s: Cannot restore CeedQFunctionContext data access, access was not granted", __func__);
  ctx->is_locked = false;
  *(void **)data = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextRestoreDataRead(CeedQFunctionContext ctx, void *data) {
  RITZ_HANDLE(ctx);
  RITZ_REQUIRE(ctx->num_readers > 0, ctx->obj.ceed, CEED_ERROR_MINOR,
               "%s: Cannot restore CeedQFunctionContext data access, access was not granted", __func__);
  ctx->num_readers--;
  *(void **)data = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetDataDestroy(CeedQFunctionContext ctx, CeedMemType f_mem_type,
                                       CeedQFunctionContextDataDestroyUser f) {
  RITZ_HANDLE(ctx);
  RitzRepKind kind;
  RITZ_REQUIRE(f, ctx->obj.ceed, CEED_ERROR_MINOR, "%s: the function is NULL", __func__);
  RITZ_TRY(context_kind(ctx, __func__, f_mem_type, &kind));
  ctx->destroy_data = f;
  ctx->destroy_mem_type = f_mem_type;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextDestroy(CeedQFunctionContext *ctx) {
  RITZ_RELEASE(ctx);
  CeedQFunctionContext c = *ctx;
  RITZ_REQUIRE(!c->is_locked, c->obj.ceed, CEED_ERROR_MINOR,
               "%s: Cannot destroy CeedQFunctionContext, the access lock is in use", __func__);
  RITZ_TRY(destroy_data(c));
  ritz_storage_clear(c->obj.ceed, &c->storage);
  for (CeedInt i = 0; i < c->num_labels; i++) ritz_label_free(&c->labels[i]);
  RITZ_FREE(&c->labels);
  ritz_object_free(&c);
  *ctx = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Queries and view ----

int CeedQFunctionContextGetContextSize(CeedQFunctionContext ctx, size_t *ctx_size) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, ctx_size);
  *ctx_size = ctx->storage.num_bytes;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionContextSetNumViewTabs(CeedQFunctionContext ctx, CeedInt num_tabs) {
  RITZ_HANDLE(ctx);
  return CeedObjectSetNumViewTabs((CeedObject)ctx, num_tabs);
}

int CeedQFunctionContextGetNumViewTabs(CeedQFunctionContext ctx, CeedInt *num_tabs) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, num_tabs);
  return CeedObjectGetNumViewTabs((CeedObject)ctx, num_tabs);
}

int CeedQFunctionContextView(CeedQFunctionContext ctx, FILE *stream) {
  RITZ_HANDLE(ctx);
  RITZ_ARGUMENT(ctx, stream);
  ritz_object_indent(&ctx->obj, stream);
  fprintf(stream, "CeedQFunctionContext\n");
  ritz_object_indent(&ctx->obj, stream);
  fprintf(stream, "  Context Data Size: %zu\n", ctx->storage.num_bytes);
  for (CeedInt i = 0; i < ctx->num_labels; i++) {
    ritz_object_indent(&ctx->obj, stream);
    fprintf(stream, "  Labeled %s field: %s\n", CeedContextFieldTypes[ctx->labels[i]->type],
            ctx->labels[i]->name);
  }
  return CEED_ERROR_SUCCESS;
}
