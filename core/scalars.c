// SPDX-License-Identifier: BSD-2-Clause
// RitzScalars: numbers in the memory where a context computes (ritz/vector.h).
#include "core/vector-pass.h"

const RitzClass ritz_scalars_class = {.name = "RitzScalars"};

static bool is_on_device(Ceed ceed) { return ceed->backend.mem_type == CEED_MEM_DEVICE; }

// ---- Life ----

static int make_values(Ceed ceed, CeedInt num, double **values) {
  double *zeros = NULL;
  void *p = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, &zeros));
  *values = zeros;
  if (!is_on_device(ceed)) return CEED_ERROR_SUCCESS;
  const size_t num_bytes = (size_t)num * sizeof(double);
  int ierr = num > 0 ? ceed->backend.rep_alloc(ceed, RITZ_REP_DEVICE, num_bytes, &p) : CEED_ERROR_SUCCESS;
  if (!ierr && num > 0) {
    ierr = ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_DEVICE, p, RITZ_REP_HOST, zeros);
    if (ierr) (void)ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, p);
  }
  RITZ_FREE(&zeros);
  *values = ierr ? NULL : p;
  return ierr;
}

int RitzScalarsCreate(Ceed ceed, CeedInt num, RitzScalars *scalars) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, scalars);
  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: number %" CeedInt_FMT " is negative", __func__,
               num);
  RitzScalars created = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (!ierr) ierr = make_values(ceed, num, &created->values);
  if (ierr) {
    CeedDestroy(&created->ceed);
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_scalars_class;
  created->num = num;
  *scalars = created;
  return CEED_ERROR_SUCCESS;
}

int RitzScalarsDestroy(RitzScalars *scalars) {
  if (!scalars || !*scalars) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "scalars", *scalars, &ritz_scalars_class));
  Ceed ceed = (*scalars)->ceed;
  double *values = (*scalars)->values;
  int ierr = CEED_ERROR_SUCCESS;
  if (values && is_on_device(ceed))
    ierr = ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, values);
  else
    RITZ_FREE(&values);
  RITZ_FREE(scalars);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

// ---- Values ----

int ritz_scalars_require(RitzScalars scalars, const char *call, CeedInt first, CeedInt num) {
  RITZ_REQUIRE(first >= 0 && num >= 0 && num <= scalars->num && first <= scalars->num - num, scalars->ceed,
               CEED_ERROR_DIMENSION,
               "%s: numbers %" CeedInt_FMT " to %lld are outside of the %" CeedInt_FMT " that there are",
               call, first, (long long)first + num - 1, scalars->num);
  return CEED_ERROR_SUCCESS;
}

// `to` and `from` are places in the context's memory or on the host.
static int copy(Ceed ceed, CeedInt num, RitzRepKind to_kind, double *to, RitzRepKind from_kind,
                const double *from) {
  if (is_on_device(ceed))
    return ceed->backend.rep_copy(ceed, (size_t)num * sizeof(double), to_kind, to, from_kind, from);
  for (CeedInt i = 0; i < num; i++) to[i] = from[i];
  return CEED_ERROR_SUCCESS;
}

int RitzScalarsGet(RitzScalars scalars, CeedInt first, CeedInt num, double values[]) {
  RITZ_HANDLE(scalars);
  RITZ_TRY(ritz_scalars_require(scalars, __func__, first, num));
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(scalars->ceed, values);
  return copy(scalars->ceed, num, RITZ_REP_HOST, values, RITZ_REP_DEVICE, scalars->values + first);
}

int ritz_scalars_mark(RitzScalars scalars, bool *is_marked) {
  const RitzBackend *backend = &scalars->ceed->backend;
  *is_marked = false;
  return backend->mark_moment ? backend->mark_moment(scalars->ceed, is_marked) : CEED_ERROR_SUCCESS;
}

int ritz_scalars_get_marked(RitzScalars scalars, CeedInt first, CeedInt num, double values[]) {
  RITZ_TRY(ritz_scalars_require(scalars, __func__, first, num));
  return scalars->ceed->backend.read_marked(scalars->ceed, (size_t)num * sizeof(*values), values,
                                            scalars->values + first);
}

int RitzScalarsSet(RitzScalars scalars, CeedInt first, CeedInt num, const double values[]) {
  RITZ_HANDLE(scalars);
  RITZ_TRY(ritz_scalars_require(scalars, __func__, first, num));
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(scalars->ceed, values);
  return copy(scalars->ceed, num, RITZ_REP_DEVICE, scalars->values + first, RITZ_REP_HOST, values);
}
