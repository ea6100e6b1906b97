// SPDX-License-Identifier: BSD-2-Clause
// Vectors of either precision (ritz/precision.h): life, arrays of float, conversion.
#include <ritz/precision.h>
#include <string.h>

#include "core/vector.h"

int ritz_check_precision(Ceed ceed, const char *call, CeedScalarType precision) {
  RITZ_REQUIRE(precision == CEED_SCALAR_FP32 || precision == CEED_SCALAR_FP64, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no precision, needed CEED_SCALAR_FP32 or CEED_SCALAR_FP64", call, (int)precision);
  RITZ_REQUIRE(precision == CEED_SCALAR_FP32 || sizeof(CeedScalar) == sizeof(double), ceed,
               CEED_ERROR_UNSUPPORTED, "%s: precision FP64 in a library that was built with FP32 alone",
               call);
  return CEED_ERROR_SUCCESS;
}

// ---- Life ----

int RitzVectorCreate(Ceed ceed, CeedSize length, CeedScalarType precision, CeedVector *vec) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, vec);
  RITZ_TRY(ritz_check_precision(ceed, __func__, precision));
  return ritz_vector_create(ceed, __func__, length, precision, vec);
}

int RitzVectorGetPrecision(CeedVector vec, CeedScalarType *precision) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, precision);
  *precision = vec->precision;
  return CEED_ERROR_SUCCESS;
}

// ---- Arrays of float ----

static int get_floats(CeedVector vec, const char *call, RitzAccess access, CeedMemType mem_type,
                      const float **array) {
  RitzRepKind kind;
  void *lent;
  RITZ_TRY(ritz_vector_require_precision(vec, call, CEED_SCALAR_FP32));
  RITZ_TRY(ritz_vector_grant(vec, call, access, mem_type, &kind));
  const int ierr = ritz_vector_hand_out(vec, access, kind, &lent);
  *array = lent;
  return ierr;
}

static int restore_floats(CeedVector vec, const char *call, RitzAccess access, const float **array) {
  RITZ_TRY(ritz_vector_require_precision(vec, call, CEED_SCALAR_FP32));
  RITZ_TRY(ritz_vector_require_granted(vec, call, access));
  void *returned = (void *)*array;
  *array = NULL;
  return ritz_vector_give_back(vec, access, returned);
}

int RitzVectorSetArrayF32(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode, float *array) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_precision(vec, __func__, CEED_SCALAR_FP32));
  return ritz_vector_set(vec, __func__, mem_type, copy_mode, array);
}

int RitzVectorTakeArrayF32(CeedVector vec, CeedMemType mem_type, float **array) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_precision(vec, __func__, CEED_SCALAR_FP32));
  void *taken;
  RITZ_TRY(ritz_vector_take(vec, __func__, mem_type, &taken));
  if (array) *array = taken;
  return CEED_ERROR_SUCCESS;
}

int RitzVectorGetArrayF32(CeedVector vec, CeedMemType mem_type, float **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_floats(vec, __func__, RITZ_ACCESS_READ_WRITE, mem_type, (const float **)array);
}

int RitzVectorGetArrayReadF32(CeedVector vec, CeedMemType mem_type, const float **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_floats(vec, __func__, RITZ_ACCESS_READ, mem_type, array);
}

int RitzVectorGetArrayWriteF32(CeedVector vec, CeedMemType mem_type, float **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_floats(vec, __func__, RITZ_ACCESS_WRITE, mem_type, (const float **)array);
}

int RitzVectorRestoreArrayF32(CeedVector vec, float **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return restore_floats(vec, __func__, RITZ_ACCESS_READ_WRITE, (const float **)array);
}

int RitzVectorRestoreArrayReadF32(CeedVector vec, const float **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return restore_floats(vec, __func__, RITZ_ACCESS_READ, array);
}

// ---- Conversion ----

void ritz_convert(CeedSize n, CeedScalarType from, const void *x, CeedScalarType to, void *y) {
  if (from == to) {
    if (n > 0) memcpy(y, x, (size_t)n * ritz_scalar_bytes(to));
  } else if (from == CEED_SCALAR_FP32) {
    for (CeedSize i = 0; i < n; i++) ((double *)y)[i] = (double)((const float *)x)[i];
  } else {
    for (CeedSize i = 0; i < n; i++) ((float *)y)[i] = (float)((const double *)x)[i];
  }
}

// Where the backend of both computes, which converts; else on the host.
static int convert(CeedSize n, CeedMemType mem_type, CeedVector from, const void *x, CeedVector to, void *y) {
  const RitzBackend *backend = &to->obj.ceed->backend;
  if (mem_type == backend->mem_type && from->precision != to->precision)
    return backend->vector_convert(to->obj.ceed, n, from->precision, x, to->precision, y);
  ritz_convert(n, from->precision, x, to->precision, y);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_convert(const char *call, CeedSize n, CeedVector from, CeedVector to) {
  const bool is_alone = from->obj.ceed == to->obj.ceed && from->precision != to->precision;
  const CeedMemType mem_type = is_alone ? to->obj.ceed->backend.mem_type : CEED_MEM_HOST;
  void *x, *y;
  RITZ_TRY(ritz_vector_require_unlocked(to, call));
  RITZ_TRY(ritz_vector_lock(from, RITZ_ACCESS_READ, mem_type, &x));
  int ierr = ritz_vector_lock(to, ritz_vector_access_first(to, n), mem_type, &y);
  if (!ierr) ierr = ritz_vector_unlock(to, RITZ_ACCESS_WRITE, &y, convert(n, mem_type, from, x, to, y));
  return ritz_vector_unlock(from, RITZ_ACCESS_READ, &x, ierr);
}

int RitzVectorConvert(CeedVector from, CeedVector to) {
  RITZ_HANDLE(from, to);
  RITZ_ARGUMENT(from->obj.ceed, to);
  RITZ_REQUIRE(from->length == to->length, from->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: lengths differ: %" CeedSize_FMT " and %" CeedSize_FMT, __func__, from->length,
               to->length);
  if (from->precision == to->precision) return CeedVectorCopy(from, to);
  RITZ_REQUIRE(!ritz_vectors_meet(from, to), from->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: from and to %s",
               __func__, ritz_vectors_meet(from, to));
  return ritz_vector_convert(__func__, from->length, from, to);
}
