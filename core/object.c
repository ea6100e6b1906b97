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

// Sentinels have no class: they are neither counted nor freed.
bool ritz_object_release(void *handle) {
  CeedObject *object = handle;
  if (!*object) return false;
  if ((*object)->class && (*object)->ref_count == 1) return true;
  if ((*object)->class) (*object)->ref_count--;
  *object = NULL;
  return false;
}

int ritz_object_reference_copy(void *object, void *handle) {
  CeedObject source = object;
  CeedObject *copy = handle;
  RITZ_HANDLE(source);
  if (source->class) source->ref_count++; // sentinels belong to all threads: not even zero is added to them
  int ierr = CeedObjectDestroy(copy);
  if (ierr) {
    if (source->class) source->ref_count--;
    return ierr;
  }
  *copy = source;
  return CEED_ERROR_SUCCESS;
}

void ritz_object_indent(CeedObject object, FILE *stream) {
  fprintf(stream, "%*s", (int)(CEED_TAB_WIDTH * object->num_tabs), "");
}

int CeedObjectView(CeedObject obj, FILE *stream) {
  RITZ_HANDLE(obj);
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
  *num_tabs = obj->num_tabs;
  return CEED_ERROR_SUCCESS;
}

int CeedObjectGetCeed(CeedObject obj, Ceed *ceed) {
  RITZ_HANDLE(obj);
  *ceed = NULL;
  return CeedReferenceCopy(obj->ceed, ceed);
}

Ceed CeedObjectReturnCeed(CeedObject obj) { return obj ? obj->ceed : NULL; }

int CeedObjectDestroy(CeedObject *obj) {
  if (*obj && (*obj)->class) return (*obj)->class->destroy(obj);
  *obj = NULL;
  return CEED_ERROR_SUCCESS;
}

int ritz_request_complete(CeedRequest *request) {
  if (request && request != CEED_REQUEST_IMMEDIATE && request != CEED_REQUEST_ORDERED) *request = NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedRequestWait(CeedRequest *req) {
  if (!*req) return CEED_ERROR_SUCCESS;
  return CeedError(NULL, CEED_ERROR_UNSUPPORTED,
                   "CeedRequestWait: found a request that no call of this library has made");
}
