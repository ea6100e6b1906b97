// SPDX-License-Identifier: BSD-2-Clause
// What computes vectors when they are read (contract in core/vector-source.h). Read by core/vector.c through
// the two functions of RitzVectorSource.
#include "core/vector-source.h"

#include <ritz/operator.h>
#include <string.h>

typedef struct {
  RitzVectorSource base;
  bool was_computed, is_running;
  uint64_t *states;     // owned, [num_in + 1]: of the inputs and of the vector, when it was computed
  size_t context_bytes; // 0: there is no context
  char *context;        // owned: what was in it then
} Source;

static void release(RitzVectorSource **source) {
  Source *s = (Source *)*source;
  (void)CeedOperatorDestroy(&s->base.op);
  RITZ_FREE(&s->states);
  RITZ_FREE(&s->context);
  RITZ_FREE(&s);
  *source = NULL;
}

static bool is_vector(CeedVector vec) { return vec != CEED_VECTOR_ACTIVE && vec != CEED_VECTOR_NONE; }

// What inputs are now.
static int look_at_inputs(Source *s, bool *is_same) {
  const CeedOperator op = s->base.op;
  for (CeedInt i = 0; i < op->num_in; i++) {
    const CeedVector vec = op->in[i]->vec;
    if (!is_vector(vec)) continue;
    RITZ_TRY(ritz_vector_refresh(vec));
    *is_same = *is_same && s->states[i] == vec->state;
    s->states[i] = vec->state;
  }
  return CEED_ERROR_SUCCESS;
}

// What the context is now. It is compared by its bytes: functions of other operators may write to it, or be
// said to, without a change.
static int look_at_context(Source *s, bool *is_same) {
  const CeedQFunctionContext ctx = s->base.op->qf->ctx;
  const size_t num_bytes = ctx ? ctx->storage.num_bytes : 0;
  void *data;
  if (!ctx) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedQFunctionContextGetDataRead(ctx, CEED_MEM_HOST, &data));
  *is_same = *is_same && s->context && num_bytes == s->context_bytes && !memcmp(s->context, data, num_bytes);
  int ierr = CEED_ERROR_SUCCESS;
  if (!*is_same) ierr = RITZ_REALLOC(s->base.op->obj.ceed, num_bytes + 1, &s->context);
  if (!*is_same && !ierr) memcpy(s->context, data, s->context_bytes = num_bytes);
  const int restored = CeedQFunctionContextRestoreDataRead(ctx, &data);
  return ierr ? ierr : restored;
}

static int compute(Source *s, CeedVector vec) {
  s->was_computed = false;
  s->is_running = true;
  const int ierr = CeedOperatorApply(s->base.op, CEED_VECTOR_NONE, vec, CEED_REQUEST_IMMEDIATE);
  s->is_running = false;
  RITZ_TRY(ierr);
  s->states[s->base.op->num_in] = vec->state;
  s->was_computed = true;
  return CEED_ERROR_SUCCESS;
}

static int compute_once(CeedVector vec) {
  RITZ_TRY(compute((Source *)vec->source, vec));
  release(&vec->source);
  return CEED_ERROR_SUCCESS;
}

static int refresh(CeedVector vec) {
  Source *s = (Source *)vec->source;
  if (s->is_running) return CEED_ERROR_SUCCESS;
  if (s->base.is_once) return compute_once(vec);
  bool is_same =
      s->was_computed && ritz_storage_has_data(&vec->storage) && s->states[s->base.op->num_in] == vec->state;
  int ierr = look_at_inputs(s, &is_same);
  if (!ierr) ierr = look_at_context(s, &is_same);
  if (!ierr && !is_same) ierr = compute(s, vec);
  if (ierr) s->was_computed = false; // what was looked at is noted
  return ierr;
}

int ritz_vector_set_source(CeedVector vec, CeedOperator op) {
  const Ceed ceed = vec->obj.ceed;
  Source *s = NULL;
  RITZ_ASSERT(!vec->source && op->input_size < 0);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &s));
  RitzVectorSource *source = &s->base;
  int ierr = RITZ_CALLOC(ceed, (size_t)op->num_in + 1, &s->states);
  if (!ierr) ierr = CeedOperatorReferenceCopy(op, &s->base.op);
  if (ierr) {
    release(&source);
    return ierr;
  }
  s->base.refresh = refresh;
  s->base.release = release;
  vec->source = source;
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_compute_once(CeedVector vec, CeedOperator op) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  if (backend->mem_type != CEED_MEM_DEVICE || !backend->operators_prepare)
    return CeedOperatorApply(op, CEED_VECTOR_NONE, vec, CEED_REQUEST_IMMEDIATE);
  RITZ_TRY(RitzOperatorsPrepare(1, &op, NULL, true));
  RITZ_TRY(ritz_vector_set_source(vec, op));
  vec->source->is_once = true;
  return CEED_ERROR_SUCCESS;
}
