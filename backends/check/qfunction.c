// SPDX-License-Identifier: BSD-2-Clause
// The user's function under observation: own copies of all fields, outputs that start as NaN, a context that
// is compared.
#include <string.h>

#include "backends/check/check.h"

typedef struct {
  CeedQFunction qf; // borrowed
  CeedInt Q;
  CeedScalar **arrays; // owned: guarded copies, inputs then outputs
  void *ctx_before;    // owned copy of a read-only context
} Watch;

static CeedSize field_length(const Watch *w, CeedInt i) {
  CeedQFunction qf = w->qf;
  return (CeedSize)w->Q * (i < qf->num_in ? qf->in[i] : qf->out[i - qf->num_in])->size;
}

static int open_watch(Watch *w, const void *ctx, const CeedScalar *const *in) {
  CeedQFunction qf = w->qf;
  Ceed ceed = qf->obj.ceed;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in + (size_t)qf->num_out, &w->arrays));
  for (CeedInt i = 0; i < qf->num_in + qf->num_out; i++) {
    RITZ_TRY(
        ritz_check_guarded_alloc(ceed, field_length(w, i), sizeof(CeedScalar), true, (void **)&w->arrays[i]));
    if (i < qf->num_in && field_length(w, i))
      memcpy(w->arrays[i], in[i], (size_t)field_length(w, i) * sizeof(CeedScalar));
  }
  if (!ctx || qf->is_context_writable) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_malloc(ceed, qf->ctx->storage.num_bytes, 1, &w->ctx_before));
  memcpy(w->ctx_before, ctx, qf->ctx->storage.num_bytes);
  return CEED_ERROR_SUCCESS;
}

static void close_watch(Watch *w) {
  for (CeedInt i = 0; w->arrays && i < w->qf->num_in + w->qf->num_out; i++)
    ritz_check_guarded_free(sizeof(CeedScalar), (void **)&w->arrays[i]);
  RITZ_FREE(&w->arrays);
  ritz_free(&w->ctx_before);
}

static int check_inputs(const Watch *w, const CeedScalar *const *in) {
  CeedQFunction qf = w->qf;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    bool is_changed =
        field_length(w, i) && memcmp(w->arrays[i], in[i], (size_t)field_length(w, i) * sizeof(CeedScalar));
    RITZ_REQUIRE(!is_changed, qf->obj.ceed, CEED_ERROR_BACKEND,
                 "check: QFunction '%s' has changed its input '%s'", qf->kernel_name, qf->in[i]->name);
  }
  return CEED_ERROR_SUCCESS;
}

static int check_outputs(const Watch *w) {
  CeedQFunction qf = w->qf;
  for (CeedInt i = 0; i < qf->num_out; i++) {
    CeedSize unwritten = ritz_check_find_marked(field_length(w, qf->num_in + i), w->arrays[qf->num_in + i]);
    RITZ_REQUIRE(unwritten < 0, qf->obj.ceed, CEED_ERROR_BACKEND,
                 "check: QFunction '%s' has not written component %" CeedSize_FMT
                 " of its output '%s' at point %" CeedSize_FMT,
                 qf->kernel_name, unwritten / w->Q, qf->out[i]->name, unwritten % w->Q);
  }
  return CEED_ERROR_SUCCESS;
}

static int check_guards(const Watch *w) {
  CeedQFunction qf = w->qf;
  for (CeedInt i = 0; i < qf->num_in + qf->num_out; i++) {
    CeedQFunctionField field = i < qf->num_in ? qf->in[i] : qf->out[i - qf->num_in];
    RITZ_REQUIRE(ritz_check_guards_are_intact(w->arrays[i], field_length(w, i), sizeof(CeedScalar)),
                 qf->obj.ceed, CEED_ERROR_BACKEND,
                 "check: QFunction '%s' has written outside the array of field '%s'", qf->kernel_name,
                 field->name);
  }
  return CEED_ERROR_SUCCESS;
}

static int check_context(const Watch *w, const void *ctx) {
  bool is_changed = w->ctx_before && memcmp(w->ctx_before, ctx, w->qf->ctx->storage.num_bytes);
  RITZ_REQUIRE(!is_changed, w->qf->obj.ceed, CEED_ERROR_BACKEND,
               "check: QFunction '%s': Context data changed while accessed in read-only mode",
               w->qf->kernel_name);
  return CEED_ERROR_SUCCESS;
}

static int call_watched(Watch *w, void *ctx, const CeedScalar *const *in, CeedScalar *const *out) {
  CeedQFunction qf = w->qf;
  RITZ_TRY(open_watch(w, ctx, in));
  RITZ_TRY_BACKEND(qf->f(ctx, w->Q, (const CeedScalar *const *)w->arrays, w->arrays + qf->num_in));
  RITZ_TRY(check_guards(w));
  RITZ_TRY(check_inputs(w, in));
  RITZ_TRY(check_outputs(w));
  RITZ_TRY(check_context(w, ctx));
  for (CeedInt i = 0; i < qf->num_out; i++) {
    if (!field_length(w, qf->num_in + i)) continue; // out[i] may be NULL
    memcpy(out[i], w->arrays[qf->num_in + i], (size_t)field_length(w, qf->num_in + i) * sizeof(CeedScalar));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_check_qfunction_call(CeedQFunction qf, void *ctx, CeedInt Q, const CeedScalar *const *in,
                              CeedScalar *const *out) {
  Watch w = {.qf = qf, .Q = Q};
  int ierr = call_watched(&w, ctx, in, out);
  close_watch(&w);
  return ierr;
}
