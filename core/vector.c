// SPDX-License-Identifier: BSD-2-Clause
// CeedVector: locks, readers and the rules of access (doc/ceed-api.md, Vectors). Data live in a
// RitzStorage; arithmetic is the backend's.
#include <string.h>

#include "core/packing.h"

static int view(CeedObject object, FILE *stream) {
  return CeedVectorView((CeedVector)object, "%12.8f", stream);
}
static int destroy(CeedObject *object) { return CeedVectorDestroy((CeedVector *)object); }

const RitzClass ritz_vector_class = {.name = "CeedVector", .view = view, .destroy = destroy};

// ---- Life ----

int CeedVectorCreate(Ceed ceed, CeedSize len, CeedVector *vec) {
  RITZ_HANDLE(ceed);
  RITZ_REQUIRE(len >= 0, ceed, CEED_ERROR_UNSUPPORTED,
               "CeedVectorCreate: length %" CeedSize_FMT " is negative", len);
  RITZ_REQUIRE((size_t)len <= PTRDIFF_MAX / sizeof(CeedScalar), ceed, CEED_ERROR_UNSUPPORTED,
               "CeedVectorCreate: length %" CeedSize_FMT " exceeds what can be addressed", len);
  CeedVector created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_vector_class, sizeof(*created), &created));
  created->length = len;
  created->storage.num_bytes = (size_t)len * sizeof(CeedScalar);
  *vec = created;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorReferenceCopy(CeedVector vec, CeedVector *vec_copy) {
  return RITZ_REFERENCE_COPY(vec, vec_copy);
}

int CeedVectorDestroy(CeedVector *vec) {
  RITZ_RELEASE(vec);
  CeedVector v = *vec;
  RITZ_REQUIRE(!v->is_locked, v->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorDestroy: Cannot destroy CeedVector, the writable access lock is in use");
  RITZ_REQUIRE(v->num_readers == 0, v->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorDestroy: Cannot destroy CeedVector, %" CeedInt_FMT " processes have read access",
               v->num_readers);
  if (v->obj.ceed->backend.vector_forget) v->obj.ceed->backend.vector_forget(v);
  ritz_storage_clear(v->obj.ceed, &v->storage);
  ritz_object_free(&v);
  *vec = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Access ----

static int kind_of(CeedVector vec, const char *call, CeedMemType mem_type, RitzRepKind *kind) {
  bool sets = strstr(call, "SetArray") != NULL;
  return ritz_storage_kind(vec->obj.ceed, call, mem_type,
                           sets ? "Can only set HOST memory for this backend"
                                : "Can only provide HOST memory for this backend",
                           kind);
}

static int require_unlocked(CeedVector vec, const char *call) {
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector array access, the access lock is already in use", call);
  RITZ_REQUIRE(vec->num_readers == 0, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector array access, a process has read access", call);
  return CEED_ERROR_SUCCESS;
}

static int require_readable(CeedVector vec, const char *call) {
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector read-only array access, the access lock is already in use", call);
  return CEED_ERROR_SUCCESS;
}

static int require_data(CeedVector vec, const char *call) {
  RITZ_REQUIRE(
      !vec->is_stale || vec->length == 0 || ritz_storage_has_data(&vec->storage), vec->obj.ceed,
      CEED_ERROR_BACKEND,
      "%s: CeedVector has no valid data, because an action that writes to it failed; set its array or value",
      call);
  RITZ_REQUIRE(vec->length == 0 || ritz_storage_has_data(&vec->storage), vec->obj.ceed, CEED_ERROR_BACKEND,
               "%s: CeedVector has no valid data, set its array or value first", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_check_access(CeedVector vec, RitzAccess access) {
  static const char *const calls[] = {[RITZ_ACCESS_READ] = "CeedVectorGetArrayRead",
                                      [RITZ_ACCESS_WRITE] = "CeedVectorGetArrayWrite",
                                      [RITZ_ACCESS_READ_WRITE] = "CeedVectorGetArray"};
  RITZ_TRY((access == RITZ_ACCESS_READ ? require_readable : require_unlocked)(vec, calls[access]));
  return access == RITZ_ACCESS_WRITE ? CEED_ERROR_SUCCESS : require_data(vec, calls[access]);
}

int CeedVectorSetArray(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode, CeedScalar *array) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorSetArray", mem_type, &kind));
  RITZ_TRY(require_unlocked(vec, "CeedVectorSetArray"));
  RITZ_REQUIRE(
      copy_mode == CEED_COPY_VALUES || copy_mode == CEED_USE_POINTER || copy_mode == CEED_OWN_POINTER,
      vec->obj.ceed, CEED_ERROR_INCOMPATIBLE, "CeedVectorSetArray: %d is no copy mode", (int)copy_mode);
  RITZ_REQUIRE(array || copy_mode == CEED_COPY_VALUES || vec->length == 0, vec->obj.ceed,
               CEED_ERROR_INCOMPATIBLE,
               "CeedVectorSetArray: the array is NULL, needed %" CeedSize_FMT " entries", vec->length);
  RITZ_TRY(ritz_storage_accept(vec->obj.ceed, "CeedVectorSetArray", kind, copy_mode, vec->storage.num_bytes,
                               array));
  RITZ_TRY(ritz_storage_set(vec->obj.ceed, &vec->storage, kind, copy_mode, array));
  vec->is_stale = false;
  vec->state += 2;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorTakeArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorTakeArray", mem_type, &kind));
  RITZ_TRY(require_unlocked(vec, "CeedVectorTakeArray"));
  if (vec->length == 0) {
    ritz_storage_clear(vec->obj.ceed, &vec->storage);
    if (array) *array = NULL;
    return CEED_ERROR_SUCCESS;
  }
  RITZ_REQUIRE(
      vec->storage.rep[kind].borrowed, vec->obj.ceed, CEED_ERROR_BACKEND,
      "CeedVectorTakeArray: CeedVector has no borrowed %s array, set one with CEED_USE_POINTER first",
      CeedMemTypes[mem_type]);
  RITZ_TRY(require_data(vec, "CeedVectorTakeArray"));
  void *taken = NULL;
  RITZ_TRY(ritz_storage_take(vec->obj.ceed, &vec->storage, kind, &taken));
  if (array) *array = taken;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSyncArray(CeedVector vec, CeedMemType mem_type) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorSyncArray", mem_type, &kind));
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorSyncArray: Cannot sync CeedVector, the access lock is already in use");
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_data(vec, "CeedVectorSyncArray"));
  return ritz_storage_sync(vec->obj.ceed, &vec->storage, kind);
}

// A vector without entries lends NULL, whatever it was given.
static void *array_of(CeedVector vec, RitzRepKind kind) {
  return vec->length > 0 ? ritz_storage_pointer(&vec->storage, kind) : NULL;
}

// A backend that watches may hand out an array of its own instead.
static int lend(CeedVector vec, RitzAccess access, RitzRepKind kind, CeedScalar **array) {
  *array = array_of(vec, kind);
  if (!vec->obj.ceed->backend.vector_lend || !*array) return CEED_ERROR_SUCCESS;
  int ierr = vec->obj.ceed->backend.vector_lend(vec, access, kind, array);
  if (ierr) *array = NULL; // nothing that a caller could take for an array to restore
  return ierr;
}

static int take_back(CeedVector vec, CeedScalar *array) {
  bool is_watched = vec->obj.ceed->backend.vector_take_back && vec->length > 0;
  return is_watched ? vec->obj.ceed->backend.vector_take_back(vec, array) : CEED_ERROR_SUCCESS;
}

static int lock(CeedVector vec, RitzAccess access, RitzRepKind kind, CeedScalar **array) {
  RITZ_TRY(lend(vec, access, kind, array));
  ritz_storage_only_valid(&vec->storage, kind);
  vec->is_stale = false;
  vec->is_locked = true;
  vec->state++;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorGetArray", mem_type, &kind));
  RITZ_TRY(require_unlocked(vec, "CeedVectorGetArray"));
  RITZ_TRY(require_data(vec, "CeedVectorGetArray"));
  RITZ_TRY(ritz_storage_sync(vec->obj.ceed, &vec->storage, kind));
  return lock(vec, RITZ_ACCESS_READ_WRITE, kind, array);
}

int CeedVectorGetArrayWrite(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorGetArrayWrite", mem_type, &kind));
  RITZ_TRY(require_unlocked(vec, "CeedVectorGetArrayWrite"));
  RITZ_TRY(ritz_storage_ensure(vec->obj.ceed, &vec->storage, kind));
  return lock(vec, RITZ_ACCESS_WRITE, kind, array);
}

int CeedVectorGetArrayRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **array) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorGetArrayRead", mem_type, &kind));
  RITZ_TRY(require_readable(vec, "CeedVectorGetArrayRead"));
  RITZ_TRY(require_data(vec, "CeedVectorGetArrayRead"));
  RITZ_TRY(ritz_storage_sync(vec->obj.ceed, &vec->storage, kind));
  RITZ_TRY(lend(vec, RITZ_ACCESS_READ, kind, (CeedScalar **)array));
  vec->num_readers++;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorRestoreArray(CeedVector vec, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_REQUIRE(vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorRestoreArray: Cannot restore CeedVector array access, access was not granted");
  int ierr = take_back(vec, *array);
  *array = NULL;
  vec->is_locked = false;
  vec->state++;
  return ierr;
}

void ritz_vector_make_stale(CeedVector vec) {
  for (RitzRepKind k = 0; k < RITZ_NUM_REPS; k++) vec->storage.rep[k].valid = false;
  vec->is_stale = true;
}

int ritz_vector_end_write(CeedVector vec, CeedScalar **array, int ierr) {
  const int restored = CeedVectorRestoreArray(vec, array);
  if (ierr) ritz_vector_make_stale(vec);
  return ierr ? ierr : restored;
}

int ritz_vector_end_update(CeedVector vec, CeedScalar **array, int ierr) {
  if (ierr != CEED_ERROR_MAJOR) return ritz_vector_end_write(vec, array, ierr);
  CeedVectorRestoreArray(vec, array);
  return ierr;
}

int CeedVectorRestoreArrayRead(CeedVector vec, const CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_REQUIRE(
      vec->num_readers > vec->num_packed_readers, vec->obj.ceed, CEED_ERROR_ACCESS,
      "CeedVectorRestoreArrayRead: Cannot restore CeedVector array read access, access was not granted");
  int ierr = take_back(vec, (CeedScalar *)*array);
  *array = NULL;
  vec->num_readers--;
  return ierr;
}

// ---- Packed access, of backends ----

int ritz_vector_get_packed(CeedVector vec, const RitzPacking *packing, const CeedScalar **packed) {
  static const char call[] = "CeedVectorGetArrayRead (packed)";
  CeedSize needed = ritz_packing_length(packing);
  RITZ_TRY(require_readable(vec, call));
  RITZ_TRY(require_data(vec, call));
  RITZ_REQUIRE(needed <= vec->length, vec->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: CeedVector has %" CeedSize_FMT " entries, needed %" CeedSize_FMT, call, vec->length,
               needed);
  RITZ_REQUIRE(vec->num_packed_readers == 0 || ritz_storage_is_packed(&vec->storage, packing), vec->obj.ceed,
               CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector array access, the data are being read in another packed order",
               call);
  RITZ_TRY(ritz_storage_pack(vec->obj.ceed, &vec->storage, packing));
  if (vec->num_readers == vec->num_packed_readers) ritz_storage_drop_host(&vec->storage);
  *packed = vec->storage.rep[RITZ_REP_PACKED].owned;
  vec->num_readers++;
  vec->num_packed_readers++;
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_restore_packed(CeedVector vec, const CeedScalar **packed) {
  RITZ_REQUIRE(vec->num_packed_readers > 0, vec->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorRestoreArrayRead (packed): Cannot restore CeedVector array read access, access was "
               "not granted");
  *packed = NULL;
  vec->num_readers--;
  vec->num_packed_readers--;
  return CEED_ERROR_SUCCESS;
}

void ritz_vector_packing_counts(CeedVector vec, int64_t *num_packs, int64_t *num_unpacks) {
  *num_packs = vec->storage.packed.num_packs;
  *num_unpacks = vec->storage.packed.num_unpacks;
}

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
int CeedVectorSetValue(CeedVector vec, CeedScalar value) {
  RITZ_HANDLE(vec);
  RITZ_TRY(require_unlocked(vec, "CeedVectorSetValue"));
  CeedMemType mem_type = memory_for_set_value(vec);
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayWrite(vec, mem_type, &array));
  if (mem_type == backend_of(vec)->mem_type) {
    return ritz_vector_end_write(vec, &array,
                                 backend_of(vec)->vector_set_value(vec->obj.ceed, vec->length, value, array));
  }
  for (CeedSize i = 0; i < vec->length; i++) array[i] = value;
  return ritz_vector_end_write(vec, &array, CEED_ERROR_SUCCESS);
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
  RITZ_TRY(require_unlocked(vec, "CeedVectorSetValueStrided"));
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_data(vec, "CeedVectorSetValueStrided"));
  RITZ_TRY(check_range(vec, "CeedVectorSetValueStrided", start, &stop, step, vec->length));
  const RitzBackend *backend = backend_of(vec);
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArray(vec, backend->mem_type, &array));
  return ritz_vector_end_write(
      vec, &array, backend->vector_set_value_strided(vec->obj.ceed, start, stop, step, value, array));
}

// Where two vectors can meet: contexts of their own may stand for different devices.
static CeedMemType common_memory(CeedVector x, CeedVector y) {
  return x->obj.ceed == y->obj.ceed ? backend_of(x)->mem_type : CEED_MEM_HOST;
}

int CeedVectorCopy(CeedVector vec, CeedVector vec_copy) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec->obj.ceed, vec_copy);
  RITZ_REQUIRE(vec->length == vec_copy->length, vec->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "CeedVectorCopy: lengths differ: %" CeedSize_FMT " and %" CeedSize_FMT, vec->length,
               vec_copy->length);
  if (vec == vec_copy) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_unlocked(vec_copy, "CeedVectorCopy"));
  CeedMemType mem_type = common_memory(vec, vec_copy);
  const CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayRead(vec, mem_type, &array));
  int ierr = CeedVectorSetArray(vec_copy, mem_type, CEED_COPY_VALUES, (CeedScalar *)array);
  int restored = CeedVectorRestoreArrayRead(vec, &array);
  return ierr ? ierr : restored;
}

// The host copies itself where the backend does not compute.
static int copy_strided(CeedVector vec_copy, CeedMemType mem_type, CeedSize start, CeedSize stop,
                        CeedSize step, const CeedScalar *x, CeedScalar *y) {
  const RitzBackend *backend = backend_of(vec_copy);
  if (mem_type == backend->mem_type) {
    return backend->vector_copy_strided(vec_copy->obj.ceed, start, stop, step, x, y);
  }
  for (CeedSize i = start; i < stop; i += step) y[i] = x[i];
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCopyStrided(CeedVector vec, CeedSize start, CeedSize stop, CeedSize step, CeedVector vec_copy) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec->obj.ceed, vec_copy);
  CeedSize length = vec->length < vec_copy->length ? vec->length : vec_copy->length;
  if (length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(check_range(vec, "CeedVectorCopyStrided", start, &stop, step, length));
  if (vec == vec_copy) return CEED_ERROR_SUCCESS;
  CeedMemType mem_type = common_memory(vec, vec_copy);
  const CeedScalar *x;
  CeedScalar *y;
  RITZ_TRY(CeedVectorGetArrayRead(vec, mem_type, &x));
  int ierr = CeedVectorGetArray(vec_copy, mem_type, &y);
  if (!ierr)
    ierr = ritz_vector_end_write(vec_copy, &y, copy_strided(vec_copy, mem_type, start, stop, step, x, y));
  int restored = CeedVectorRestoreArrayRead(vec, &x);
  return ierr ? ierr : restored;
}

int CeedVectorNorm(CeedVector vec, CeedNormType type, CeedScalar *norm) {
  RITZ_HANDLE(vec);
  RITZ_TRY(require_readable(vec, "CeedVectorNorm"));
  RITZ_REQUIRE(type == CEED_NORM_1 || type == CEED_NORM_2 || type == CEED_NORM_MAX, vec->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "CeedVectorNorm: %d is no norm type", (int)type);
  *norm = 0;
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_data(vec, "CeedVectorNorm"));
  const RitzBackend *backend = backend_of(vec);
  const CeedScalar *array;
  RITZ_TRY(CeedVectorGetArrayRead(vec, backend->mem_type, &array));
  int ierr = backend->vector_norm(vec->obj.ceed, vec->length, type, array, norm);
  int restored = CeedVectorRestoreArrayRead(vec, &array);
  return ierr ? ierr : restored;
}

int CeedVectorScale(CeedVector x, CeedScalar alpha) {
  RITZ_HANDLE(x);
  RITZ_TRY(require_unlocked(x, "CeedVectorScale"));
  if (x->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(x);
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArray(x, backend->mem_type, &array));
  return ritz_vector_end_update(x, &array, backend->vector_scale(x->obj.ceed, x->length, alpha, array));
}

int CeedVectorFilter(CeedVector x, CeedScalar threshold) {
  RITZ_HANDLE(x);
  RITZ_TRY(require_unlocked(x, "CeedVectorFilter"));
  if (x->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(x);
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArray(x, backend->mem_type, &array));
  return ritz_vector_end_update(x, &array, backend->vector_filter(x->obj.ceed, x->length, threshold, array));
}

int CeedVectorReciprocal(CeedVector vec) {
  RITZ_HANDLE(vec);
  RITZ_TRY(require_unlocked(vec, "CeedVectorReciprocal"));
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  const RitzBackend *backend = backend_of(vec);
  CeedScalar *array;
  RITZ_TRY(CeedVectorGetArray(vec, backend->mem_type, &array));
  return ritz_vector_end_update(vec, &array, backend->vector_reciprocal(vec->obj.ceed, vec->length, array));
}

int ritz_vector_check_same_ceed(const char *call, CeedVector x, CeedVector y) {
  RITZ_REQUIRE(x->obj.ceed == y->obj.ceed, x->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the vectors belong to different Ceed contexts", call);
  return CEED_ERROR_SUCCESS;
}

// y = alpha x + beta y
static int axpby(const char *call, CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x) {
  RITZ_REQUIRE(y->length == x->length, y->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: lengths differ: y has %" CeedSize_FMT " entries, x has %" CeedSize_FMT, call, y->length,
               x->length);
  RITZ_REQUIRE(x != y, y->obj.ceed, CEED_ERROR_UNSUPPORTED, "%s: x and y are the same vector", call);
  RITZ_TRY(ritz_vector_check_same_ceed(call, y, x));
  if (y->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_data(x, call));
  RITZ_TRY(require_data(y, call));
  const RitzBackend *backend = backend_of(y);
  const CeedScalar *x_array;
  CeedScalar *y_array;
  RITZ_TRY(CeedVectorGetArrayRead(x, backend->mem_type, &x_array));
  int ierr = CeedVectorGetArray(y, backend->mem_type, &y_array);
  if (!ierr) {
    ierr =
        ritz_vector_end_update(y, &y_array,
                               backend->vector_axpby(y->obj.ceed, y->length, alpha, beta, x_array, y_array));
  }
  int restored = CeedVectorRestoreArrayRead(x, &x_array);
  return ierr ? ierr : restored;
}

int CeedVectorAXPY(CeedVector y, CeedScalar alpha, CeedVector x) {
  RITZ_HANDLE(y);
  RITZ_ARGUMENT(y->obj.ceed, x);
  return axpby("CeedVectorAXPY", y, alpha, 1, x);
}

int CeedVectorAXPBY(CeedVector y, CeedScalar alpha, CeedScalar beta, CeedVector x) {
  RITZ_HANDLE(y);
  RITZ_ARGUMENT(y->obj.ceed, x);
  return axpby("CeedVectorAXPBY", y, alpha, beta, x);
}

// The factors may be the product itself: an aliased factor needs no access of its own.
static int get_factor(CeedVector factor, CeedVector w, CeedMemType mem_type, const CeedScalar **array) {
  *array = NULL;
  return factor != w ? CeedVectorGetArrayRead(factor, mem_type, array) : CEED_ERROR_SUCCESS;
}

static int restore_factor(CeedVector factor, CeedVector w, const CeedScalar **array) {
  return factor != w ? CeedVectorRestoreArrayRead(factor, array) : CEED_ERROR_SUCCESS;
}

static int multiply(CeedVector w, bool is_alias, const CeedScalar *x, const CeedScalar *y) {
  const RitzBackend *backend = backend_of(w);
  CeedScalar *array;
  RITZ_TRY((is_alias ? CeedVectorGetArray : CeedVectorGetArrayWrite)(w, backend->mem_type, &array));
  return ritz_vector_end_write(
      w, &array, backend->vector_pointwise_mult(w->obj.ceed, w->length, x ? x : array, y ? y : array, array));
}

// The factors come first: without them w keeps its values.
int CeedVectorPointwiseMult(CeedVector w, CeedVector x, CeedVector y) {
  static const char call[] = "CeedVectorPointwiseMult";
  RITZ_HANDLE(w);
  RITZ_ARGUMENT(w->obj.ceed, x);
  RITZ_ARGUMENT(w->obj.ceed, y);
  RITZ_REQUIRE(x->length >= w->length && y->length >= w->length, w->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%s: x has %" CeedSize_FMT " and y %" CeedSize_FMT " entries, w needs %" CeedSize_FMT, call,
               x->length, y->length, w->length);
  RITZ_TRY(ritz_vector_check_same_ceed(call, w, x));
  RITZ_TRY(ritz_vector_check_same_ceed(call, w, y));
  if (w->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(require_data(x, call));
  RITZ_TRY(require_data(y, call));

  CeedMemType mem_type = backend_of(w)->mem_type;
  const CeedScalar *x_array, *y_array;
  RITZ_TRY(get_factor(x, w, mem_type, &x_array));
  int ierr = get_factor(y, w, mem_type, &y_array);
  if (!ierr) {
    ierr = multiply(w, w == x || w == y, x_array, y_array);
    int restored = restore_factor(y, w, &y_array);
    if (!ierr) ierr = restored;
  }
  int restored = restore_factor(x, w, &x_array);
  return ierr ? ierr : restored;
}

// ---- Queries and views ----

int CeedVectorGetLength(CeedVector vec, CeedSize *length) {
  if (vec != CEED_VECTOR_NONE) RITZ_HANDLE(vec);
  *length = vec->length; // of CEED_VECTOR_NONE 0
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetCeed(CeedVector vec, Ceed *ceed) {
  RITZ_HANDLE(vec);
  return CeedObjectGetCeed((CeedObject)vec, ceed);
}
Ceed CeedVectorReturnCeed(CeedVector vec) { return RITZ_RETURN_CEED(vec); }

int CeedVectorHasValidArray(CeedVector vec, bool *has_valid_array) {
  RITZ_HANDLE(vec);
  *has_valid_array = vec->length == 0 || ritz_storage_has_data(&vec->storage);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetState(CeedVector vec, uint64_t *state) {
  RITZ_HANDLE(vec);
  *state = vec->state;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorHasBorrowedArrayOfType(CeedVector vec, CeedMemType mem_type, bool *has_borrowed_array_of_type) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(kind_of(vec, "CeedVectorHasBorrowedArrayOfType", mem_type, &kind));
  *has_borrowed_array_of_type = vec->storage.rep[kind].borrowed != NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSetNumViewTabs(CeedVector vec, CeedInt num_tabs) {
  RITZ_HANDLE(vec);
  return CeedObjectSetNumViewTabs((CeedObject)vec, num_tabs);
}
int CeedVectorGetNumViewTabs(CeedVector vec, CeedInt *num_tabs) {
  RITZ_HANDLE(vec);
  return CeedObjectGetNumViewTabs((CeedObject)vec, num_tabs);
}

static void print_line(CeedVector vec, FILE *stream, const char *text, CeedSize value) {
  ritz_object_indent(&vec->obj, stream);
  fprintf(stream, "%s%" CeedSize_FMT "\n", text, value);
}

// The format is the caller's own: that is what the argument is for.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void print_value(CeedVector vec, FILE *stream, const char *format, CeedScalar value) {
  ritz_object_indent(&vec->obj, stream);
  fprintf(stream, "  ");
  fprintf(stream, format, value);
  fprintf(stream, "\n");
}
#pragma GCC diagnostic pop

int CeedVectorViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step, const char *fp_fmt,
                        FILE *stream) {
  RITZ_HANDLE(vec);
  CeedSize length = vec->length;
  RITZ_REQUIRE(step != 0, vec->obj.ceed, CEED_ERROR_MINOR, "CeedVectorViewRange: the step is 0");
  RITZ_REQUIRE(start >= 0, vec->obj.ceed, CEED_ERROR_MINOR,
               "CeedVectorViewRange: start %" CeedSize_FMT " is negative", start);
  const CeedScalar *array = NULL;
  if (length > 0) RITZ_TRY(CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &array));

  print_line(vec, stream, "CeedVector length ", length);
  if (start != 0 || stop != length || step != 1) {
    print_line(vec, stream, "  start: ", start);
    print_line(vec, stream, "  stop:  ", stop);
    print_line(vec, stream, "  step:  ", step);
  }
  CeedSize last = stop == -1 || stop > length ? length : stop;
  for (CeedSize i = start < length ? start : length; step > 0 ? i < last : i > last; i += step) {
    if (i >= 0 && i < length) print_value(vec, stream, fp_fmt ? fp_fmt : "%g", array[i]);
  }
  if (last != length) {
    ritz_object_indent(&vec->obj, stream);
    fprintf(stream, "  ...\n");
  }
  return length > 0 ? CeedVectorRestoreArrayRead(vec, &array) : CEED_ERROR_SUCCESS;
}

int CeedVectorView(CeedVector vec, const char *fp_fmt, FILE *stream) {
  RITZ_HANDLE(vec);
  return CeedVectorViewRange(vec, 0, vec->length, 1, fp_fmt, stream);
}
