// SPDX-License-Identifier: BSD-2-Clause
// CeedVector: actions on whole vectors. Arithmetic is the backend's.
#include <string.h>

#include "core/vector.h"

// ---- Whole-vector actions: lock in the backend's memory, act, restore ----

static const RitzBackend *backend_of(CeedVector vec) { return &vec->obj.ceed->backend; }

// A place that exists already is preferred, so that setting a value allocates nothing needlessly.
static CeedMemType memory_for_set_value(CeedVector vec) {
  const RitzRep *host = &vec->storage.rep[RITZ_REP_HOST], *device = &vec->storage.rep[RITZ_REP_DEVICE];
  const bool is_on_host = host->valid || vec->storage.rep[RITZ_REP_PACKED].valid;
  const bool on_device[] = {device->valid,  is_on_host,    device->borrowed,
                            host->borrowed, device->owned, host->owned};
  for (int i = 0; i < 6; i++) {
    if (on_device[i]) return i % 2 == 0 ? CEED_MEM_DEVICE : CEED_MEM_HOST;
  }
  return backend_of(vec)->mem_type;
}

// Arithmetic runs where the backend computes. The host does it itself when the data are there and the backend
// is elsewhere.
static void fill_entries(CeedVector vec, CeedScalar value, void *array) {
  for (CeedSize i = 0; i < vec->length; i++) {
    if (vec->precision == CEED_SCALAR_FP32)
      ((float *)array)[i] = (float)value;
    else
      ((double *)array)[i] = (double)value;
  }
}

int CeedVectorSetValue(CeedVector vec, CeedScalar value) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_unlocked(vec, "CeedVectorSetValue"));
  const CeedMemType mem_type = memory_for_set_value(vec);
  const RitzBackend *backend = backend_of(vec);
  int ierr = CEED_ERROR_SUCCESS;
  void *array;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_WRITE, mem_type, &array));
  if (mem_type == backend->mem_type)
    ierr = backend->vector_set_value(vec->obj.ceed, vec->precision, vec->length, value, array);
  else
    fill_entries(vec, value, array);
  return ritz_vector_unlock(vec, RITZ_ACCESS_WRITE, &array, ierr);
}

static int check_range(CeedVector vec, const char *call, CeedSize start, CeedSize *stop, CeedSize step,
                       CeedSize length) {
  RITZ_REQUIRE(*stop >= -1 && *stop <= length, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: stop %" CeedSize_FMT " is outside [-1, %" CeedSize_FMT "]", call, *stop, length);
  if (*stop == -1) *stop = length;
  RITZ_REQUIRE(start >= 0 && start <= length && start <= *stop, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: start %" CeedSize_FMT " is outside [0, %" CeedSize_FMT "]", call, start, *stop);
  RITZ_REQUIRE(step > 0, vec->obj.ceed, CEED_ERROR_ACCESS, "%s: step %" CeedSize_FMT " is not positive", call,
               step);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSetValueStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step,
                              CeedScalar value) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_unlocked(vec, "CeedVectorSetValueStrided"));
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_data(vec, "CeedVectorSetValueStrided"));
  RITZ_TRY(check_range(vec, "CeedVectorSetValueStrided", start, &stop, step, vec->length));
  const RitzBackend *backend = backend_of(vec);
  void *array;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ_WRITE, backend->mem_type, &array));
  const int ierr =
      backend->vector_set_value_strided(vec->obj.ceed, vec->precision, start, stop, step, value, array);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &array, ierr);
}

// Where two vectors can meet: contexts of their own may stand for different devices.
static CeedMemType common_memory(CeedVector x, CeedVector y) {
  return x->obj.ceed == y->obj.ceed ? backend_of(x)->mem_type : CEED_MEM_HOST;
}

static int require_one_precision(const char *call, CeedVector x, CeedVector y) {
  RITZ_REQUIRE(
      x->precision == y->precision, x->obj.ceed, CEED_ERROR_INCOMPATIBLE,
      "%s: a vector has precision %s, another one %s, needed one precision; RitzVectorConvert converts", call,
      ritz_precision_name(x->precision), ritz_precision_name(y->precision));
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCopy(CeedVector vec, CeedVector vec_copy) {
  RITZ_HANDLE(vec, vec_copy);
  RITZ_ARGUMENT(vec->obj.ceed, vec_copy);
  RITZ_REQUIRE(vec->length == vec_copy->length, vec->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedVectorCopy: lengths differ: %" CeedSize_FMT " and %" CeedSize_FMT, vec->length,
               vec_copy->length);
  RITZ_TRY(require_one_precision("CeedVectorCopy", vec, vec_copy));
  if (vec == vec_copy) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_unlocked(vec_copy, "CeedVectorCopy"));
  CeedMemType mem_type = common_memory(vec, vec_copy);
  void *array;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ, mem_type, &array));
  const int ierr = ritz_vector_set(vec_copy, "CeedVectorSetArray", mem_type, CEED_COPY_VALUES, array);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, ierr);
}

// The host copies itself where the backend does not compute.
static int copy_strided(CeedVector vec_copy, CeedMemType mem_type, CeedSize start, CeedSize stop,
                        CeedSize step, const void *x, void *y) {
  const RitzBackend *backend = backend_of(vec_copy);
  const size_t bytes = vec_copy->storage.entry_bytes;
  if (mem_type == backend->mem_type) {
    return backend->vector_copy_strided(vec_copy->obj.ceed, vec_copy->precision, start, stop, step, x, y);
  }
  for (CeedSize i = start; i < stop; i += step)
    memcpy((char *)y + (size_t)i * bytes, (const char *)x + (size_t)i * bytes, bytes);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCopyStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step, CeedVector vec_copy) {
  RITZ_HANDLE(vec, vec_copy);
  RITZ_ARGUMENT(vec->obj.ceed, vec_copy);
  RITZ_TRY(require_one_precision("CeedVectorCopyStrided", vec, vec_copy));
  CeedSize length = vec->length < vec_copy->length ? vec->length : vec_copy->length;
  if (length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(check_range(vec, "CeedVectorCopyStrided", start, &stop, step, length));
  if (vec == vec_copy) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vectors_require_aligned("CeedVectorCopyStrided", vec, vec_copy));
  CeedMemType mem_type = common_memory(vec, vec_copy);
  void *x, *y;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ, mem_type, &x));
  int ierr = ritz_vector_lock(vec_copy, RITZ_ACCESS_READ_WRITE, mem_type, &y);
  if (!ierr)
    ierr = ritz_vector_unlock(vec_copy, RITZ_ACCESS_READ_WRITE, &y,
                              copy_strided(vec_copy, mem_type, start, stop, step, x, y));
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &x, ierr);
}

int CeedVectorNorm(CeedVector vec, CeedNormType type, CeedScalar *norm) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, norm);
  RITZ_TRY(ritz_vector_require_readable(vec, "CeedVectorNorm"));
  RITZ_REQUIRE(type == CEED_NORM_1 || type == CEED_NORM_2 || type == CEED_NORM_MAX, vec->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "CeedVectorNorm: %d is no norm type", (int)type);
  *norm = 0;
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_data(vec, "CeedVectorNorm"));
  const RitzBackend *backend = backend_of(vec);
  void *array;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ, backend->mem_type, &array));
  const int ierr = backend->vector_norm(vec->obj.ceed, vec->precision, vec->length, type, array, norm);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, ierr);
}

int CeedVectorScale(CeedVector x, CeedScalar alpha) {
  RITZ_HANDLE(x);
  RITZ_TRY(ritz_vector_require_unlocked(x, "CeedVectorScale"));
  if (x->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(x);
  void *array;
  RITZ_TRY(ritz_vector_lock(x, RITZ_ACCESS_READ_WRITE, backend->mem_type, &array));
  const int ierr = backend->vector_scale(x->obj.ceed, x->precision, x->length, alpha, array);
  return ritz_vector_unlock(x, RITZ_ACCESS_READ_WRITE, &array, ierr);
}

int CeedVectorFilter(CeedVector x, CeedScalar threshold) {
  RITZ_HANDLE(x);
  RITZ_TRY(ritz_vector_require_unlocked(x, "CeedVectorFilter"));
  if (x->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(x);
  void *array;
  RITZ_TRY(ritz_vector_lock(x, RITZ_ACCESS_READ_WRITE, backend->mem_type, &array));
  const int ierr = backend->vector_filter(x->obj.ceed, x->precision, x->length, threshold, array);
  return ritz_vector_unlock(x, RITZ_ACCESS_READ_WRITE, &array, ierr);
}

int CeedVectorReciprocal(CeedVector vec) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_unlocked(vec, "CeedVectorReciprocal"));
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(vec);
  void *array;
  RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ_WRITE, backend->mem_type, &array));
  const int ierr = backend->vector_reciprocal(vec->obj.ceed, vec->precision, vec->length, array);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &array, ierr);
}

int ritz_vector_check_same_ceed(const char *call, CeedVector x, CeedVector y) {
  RITZ_REQUIRE(x->obj.ceed == y->obj.ceed, x->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the vectors belong to different Ceed contexts", call);
  return CEED_ERROR_SUCCESS;
}

static int require_both_data(const char *call, CeedVector x, CeedVector y) {
  RITZ_TRY(ritz_vector_require_data_of(x, call, "x"));
  return ritz_vector_require_data_of(y, call, "y");
}

// y = alpha x + beta y
static int axpby(const char *call, CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x) {
  RITZ_REQUIRE(y->length == x->length, y->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: lengths differ: y has %" CeedSize_FMT " entries, x has %" CeedSize_FMT, call, y->length,
               x->length);
  RITZ_REQUIRE(!ritz_vectors_meet(x, y), y->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: x and y %s", call,
               ritz_vectors_meet(x, y));
  RITZ_TRY(ritz_vector_check_same_ceed(call, y, x));
  RITZ_TRY(require_one_precision(call, y, x));
  if (y->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_both_data(call, x, y));
  const RitzBackend *backend = backend_of(y);
  void *x_array, *y_array;
  RITZ_TRY(ritz_vector_lock(x, RITZ_ACCESS_READ, backend->mem_type, &x_array));
  int ierr = ritz_vector_lock(y, RITZ_ACCESS_READ_WRITE, backend->mem_type, &y_array);
  if (!ierr) {
    ierr = backend->vector_axpby(y->obj.ceed, y->precision, y->length, alpha, beta, x_array, y_array);
    ierr = ritz_vector_unlock(y, RITZ_ACCESS_READ_WRITE, &y_array, ierr);
  }
  return ritz_vector_unlock(x, RITZ_ACCESS_READ, &x_array, ierr);
}

int CeedVectorAXPY(CeedVector y, CeedScalar alpha, CeedVector x) {
  RITZ_HANDLE(y, x);
  RITZ_ARGUMENT(y->obj.ceed, x);
  return axpby("CeedVectorAXPY", y, alpha, 1, x);
}

int CeedVectorAXPBY(CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x) {
  RITZ_HANDLE(y, x);
  RITZ_ARGUMENT(y->obj.ceed, x);
  return axpby("CeedVectorAXPBY", y, alpha, beta, x);
}

// The factors may be the product itself: an aliased factor needs no access of its own.
static int get_factor(CeedVector factor, CeedVector w, CeedMemType mem_type, void **array) {
  *array = NULL;
  return factor != w ? ritz_vector_lock(factor, RITZ_ACCESS_READ, mem_type, array) : CEED_ERROR_SUCCESS;
}

static int restore_factor(CeedVector factor, CeedVector w, void **array, int ierr) {
  return factor != w ? ritz_vector_unlock(factor, RITZ_ACCESS_READ, array, ierr) : ierr;
}

// w = x y entry by entry; NULL: w itself. Ends as an access that WRITEs: after a failure w has no values.
static int multiply_entries(CeedVector w, bool is_alias, const void *x, const void *y) {
  const RitzBackend *backend = backend_of(w);
  void *array;
  RITZ_TRY(
      ritz_vector_lock(w, is_alias ? RITZ_ACCESS_READ_WRITE : RITZ_ACCESS_WRITE, backend->mem_type, &array));
  const int ierr = backend->vector_pointwise_mult(w->obj.ceed, w->precision, w->length, x ? x : array,
                                                  y ? y : array, array);
  return ritz_vector_unlock(w, RITZ_ACCESS_WRITE, &array, ierr);
}

// The factors come first: without them w keeps its values.
int CeedVectorPointwiseMult(CeedVector w, CeedVector x, CeedVector y) {
  static const char call[] = "CeedVectorPointwiseMult";
  RITZ_HANDLE(w, x, y);
  RITZ_ARGUMENT(w->obj.ceed, x);
  RITZ_ARGUMENT(w->obj.ceed, y);
  RITZ_REQUIRE(x->length >= w->length && y->length >= w->length, w->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: x has %" CeedSize_FMT " and y %" CeedSize_FMT " entries, w needs %" CeedSize_FMT, call,
               x->length, y->length, w->length);
  RITZ_TRY(ritz_vector_check_same_ceed(call, w, x));
  RITZ_TRY(ritz_vector_check_same_ceed(call, w, y));
  RITZ_TRY(require_one_precision(call, w, x));
  RITZ_TRY(require_one_precision(call, w, y));
  for (int k = 0; k < 2; k++) {
    const CeedVector factor = k ? y : x;
    RITZ_REQUIRE(factor == w || !ritz_vectors_meet(factor, w), w->obj.ceed, CEED_ERROR_UNSUPPORTED,
                 "%s: w and %s lie in the same memory, but are not one vector", call, k ? "y" : "x");
  }
  if (w->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_both_data(call, x, y));

  CeedMemType mem_type = backend_of(w)->mem_type;
  void *x_array, *y_array;
  RITZ_TRY(get_factor(x, w, mem_type, &x_array));
  int ierr = get_factor(y, w, mem_type, &y_array);
  if (!ierr) ierr = restore_factor(y, w, &y_array, multiply_entries(w, w == x || w == y, x_array, y_array));
  return restore_factor(x, w, &x_array, ierr);
}
