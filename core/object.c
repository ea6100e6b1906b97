// SPDX-License-Identifier: BSD-2-Clause
// What all objects share: reference to the context, count, indentation of views, and the generic CeedObject
// functions.
#include "core/core.h"

int ritz_object_create(Ceed ceed, const RitzClass *class, size_t size, void *object) {
  struct CeedObject_private **header = object;
  RITZ_TRY(ritz_calloc(ceed, 1, size, object));
  (*header)->class = class;
  (*header)->ref_count = 1;
  (*header)->ceed = ceed;
  ceed->obj.ref_count++;
  return CEED_ERROR_SUCCESS;
}

void ritz_object_free(void *object) {
  struct CeedObject_private **header = object;
  Ceed ceed = (*header)->ceed;
  ritz_free(object);
  // The object was the last holder of its context only when the user destroyed the context before.
  CeedDestroy(&ceed);
}

// Sentinels are neither counted nor freed: they belong to all threads.
int ritz_object_release(const char *call, const char *name, void *handle, const RitzClass *class,
                        bool *is_last) {
  CeedObject *object = handle;
  *is_last = false;
  if (!object || !*object) return CEED_ERROR_SUCCESS;
  if (!ritz_is_own_sentinel(*object, class)) {
    RITZ_TRY(ritz_check_handle(NULL, call, name, *object, class));
    *is_last = (*object)->ref_count == 1;
    if (*is_last) return CEED_ERROR_SUCCESS;
    (*object)->ref_count--;
  }
  *object = NULL;
  return CEED_ERROR_SUCCESS;
}

int ritz_object_reference_copy(const char *call, const char *name, void *object, const char *copy_name,
                               void *copy, const RitzClass *class) {
  const bool is_sentinel = ritz_is_own_sentinel(object, class);
  CeedObject source = object, *old = copy;
  if (!is_sentinel) RITZ_TRY(ritz_check_handle(NULL, call, name, object, class));
  RITZ_TRY(ritz_check_handle(RITZ_CONTEXT_AT_HAND(object), call, copy_name, copy, NULL));
  if (*old && !ritz_is_own_sentinel(*old, class)) {
    RITZ_TRY(ritz_check_handle(RITZ_CONTEXT_AT_HAND(object), call, copy_name, *old, class));
  }
  if (!is_sentinel) source->ref_count++;
  int ierr = CeedObjectDestroy(old);
  if (ierr) {
    if (!is_sentinel) source->ref_count--;
    return ierr;
  }
  *old = source;
  return CEED_ERROR_SUCCESS;
}

void ritz_object_indent(CeedObject object, FILE *stream) {
  fprintf(stream, "%*s", (int)(CEED_TAB_WIDTH * object->num_tabs), "");
}

int CeedObjectView(CeedObject obj, FILE *stream) {
  RITZ_HANDLE(obj);
  RITZ_ARGUMENT(obj, stream);
  return obj->class->view ? obj->class->view(obj, stream) : CEED_ERROR_SUCCESS;
}

int CeedObjectSetNumViewTabs(CeedObject obj, CeedInt num_tabs) {
  RITZ_HANDLE(obj);
  RITZ_REQUIRE(num_tabs >= 0, obj->ceed, CEED_ERROR_MINOR,
               "%s: number of view tabs must be >= 0, found %" CeedInt_FMT, obj->class->name, num_tabs);
  obj->num_tabs = num_tabs;
  return CEED_ERROR_SUCCESS;
}

int CeedObjectGetNumViewTabs(CeedObject obj, CeedInt *num_tabs) {
  RITZ_HANDLE(obj);
  RITZ_ARGUMENT(obj, num_tabs);
  *num_tabs = obj->num_tabs;
  return CEED_ERROR_SUCCESS;
}

int CeedObjectGetCeed(CeedObject obj, Ceed *ceed) {
  RITZ_HANDLE(obj);
  RITZ_ARGUMENT(obj, ceed);
  *ceed = NULL;
  return CeedReferenceCopy(obj->ceed, ceed);
}

Ceed CeedObjectReturnCeed(CeedObject obj) { return RITZ_RETURN_CEED(obj); }

int CeedObjectDestroy(CeedObject *obj) {
  if (!obj || !*obj) return CEED_ERROR_SUCCESS;
  if (!ritz_is_sentinel(*obj)) {
    RITZ_TRY(ritz_check_handle(NULL, __func__, "obj", *obj, &ritz_any_class));
    return (*obj)->class->destroy(obj);
  }
  *obj = NULL;
  return CEED_ERROR_SUCCESS;
}

int ritz_request_complete(CeedRequest *request) {
  if (request && request != CEED_REQUEST_IMMEDIATE && request != CEED_REQUEST_ORDERED) *request = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedRequestWait(CeedRequest *req) {
  RITZ_HANDLE(req);
  if (!*req) return CEED_ERROR_SUCCESS;
  return CeedError(NULL, CEED_ERROR_UNSUPPORTED,
                   "CeedRequestWait: found a request that no call of this library has made");
}
