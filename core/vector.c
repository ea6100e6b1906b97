// SPDX-License-Identifier: BSD-2-Clause
// CeedVector: locks, readers and the rules of access (doc/ceed-api.md, Vectors). Data live in a
// RitzStorage; arithmetic is the backend's.
#include <stdio.h>
#include <string.h>

#include "core/packing.h"
#include "core/vector.h"

static int view_vector(CeedObject object, FILE *stream) {
  return CeedVectorView((CeedVector)object, "%12.8f", stream);
}
static int destroy_vector(CeedObject *object) { return CeedVectorDestroy((CeedVector *)object); }

const RitzClass ritz_vector_class = {.name = "CeedVector", .view = view_vector, .destroy = destroy_vector};

// ---- Life ----

int ritz_vector_create(Ceed ceed, const char *call, CeedSize length, CeedScalarType precision,
                       CeedVector *vec) {
  const size_t entry_bytes = ritz_scalar_bytes(precision);
  RITZ_REQUIRE(length >= 0, ceed, CEED_ERROR_UNSUPPORTED, "%s: length %" CeedSize_FMT " is negative", call,
               length);
  RITZ_REQUIRE((size_t)length <= PTRDIFF_MAX / entry_bytes, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: length %" CeedSize_FMT " exceeds what can be addressed", call, length);
  CeedVector created = NULL;
  RITZ_TRY(ritz_object_create(ceed, &ritz_vector_class, sizeof(*created), &created));
  created->length = length;
  created->precision = precision;
  created->storage.num_bytes = (size_t)length * entry_bytes;
  created->storage.entry_bytes = entry_bytes;
  *vec = created;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorCreate(Ceed ceed, CeedSize len, CeedVector *vec) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, vec);
  return ritz_vector_create(ceed, __func__, len, CEED_SCALAR_TYPE, vec);
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
  if (v->source) v->source->release(&v->source);
  if (v->obj.ceed->backend.vector_forget) v->obj.ceed->backend.vector_forget(v);
  ritz_storage_clear(v->obj.ceed, &v->storage);
  ritz_object_free(&v);
  *vec = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Access ----

const char *ritz_vectors_meet(CeedVector x, CeedVector y) {
  if (x == CEED_VECTOR_NONE || y == CEED_VECTOR_NONE) return NULL;
  if (x == y) return "are the same vector";
  return ritz_storage_overlap(&x->storage, &y->storage) ? "lie in the same memory" : NULL;
}

int ritz_vectors_require_aligned(const char *call, CeedVector x, CeedVector y) {
  RITZ_REQUIRE(ritz_storage_overlap(&x->storage, &y->storage) != RITZ_SHIFTED, x->obj.ceed,
               CEED_ERROR_UNSUPPORTED,
               "%s: two vectors lie in the same memory, but begin at different entries of it", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_require_precision(CeedVector vec, const char *call, CeedScalarType needed) {
  RITZ_REQUIRE(
      vec->precision == needed, vec->obj.ceed, CEED_ERROR_INCOMPATIBLE,
      "%s: the vector has precision %s, needed %s; arrays of %s come from %s, RitzVectorConvert converts",
      call, ritz_precision_name(vec->precision), ritz_precision_name(needed),
      ritz_precision_name(vec->precision),
      vec->precision == CEED_SCALAR_TYPE ? "CeedVectorGetArray" : "RitzVectorGetArrayF32");
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_require_scalars(const char *call, CeedVector u, CeedVector v) {
  if (u != CEED_VECTOR_NONE) RITZ_TRY(ritz_vector_require_precision(u, call, CEED_SCALAR_TYPE));
  return v != CEED_VECTOR_NONE ? ritz_vector_require_precision(v, call, CEED_SCALAR_TYPE)
                               : CEED_ERROR_SUCCESS;
}

static int vector_kind(CeedVector vec, const char *call, CeedMemType mem_type, RitzRepKind *kind) {
  bool sets = strstr(call, "SetArray") != NULL;
  return ritz_storage_kind(vec->obj.ceed, call, mem_type,
                           sets ? "Can only set HOST memory for this backend"
                                : "Can only provide HOST memory for this backend",
                           kind);
}

int ritz_vector_require_unlocked(CeedVector vec, const char *call) {
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector array access, the access lock is already in use", call);
  RITZ_REQUIRE(vec->num_readers == 0, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector array access, a process has read access", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_require_readable(CeedVector vec, const char *call) {
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "%s: Cannot grant CeedVector read-only array access, the access lock is already in use", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_require_data(CeedVector vec, const char *call) {
  RITZ_TRY(ritz_vector_refresh(vec));
  RITZ_REQUIRE(
      !vec->is_stale || vec->length == 0 || ritz_storage_has_data(&vec->storage), vec->obj.ceed,
      CEED_ERROR_BACKEND,
      "%s: CeedVector has no valid data, because an action that writes to it failed; set its array or value",
      call);
  RITZ_REQUIRE(vec->length == 0 || ritz_storage_has_data(&vec->storage), vec->obj.ceed, CEED_ERROR_BACKEND,
               "%s: CeedVector has no valid data, set its array or value first", call);
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_require_data_of(CeedVector vec, const char *call, const char *name) {
  char what[320];

  if (vec->length == 0 || vec->is_locked || ritz_storage_has_data(&vec->storage)) return CEED_ERROR_SUCCESS;
  snprintf(what, sizeof(what), "%s: %s", call, name);
  return ritz_vector_require_data(vec, what);
}

static int check_access(CeedVector vec, const char *call, RitzAccess access) {
  RITZ_TRY(
      (access == RITZ_ACCESS_READ ? ritz_vector_require_readable : ritz_vector_require_unlocked)(vec, call));
  return access == RITZ_ACCESS_WRITE ? CEED_ERROR_SUCCESS : ritz_vector_require_data(vec, call);
}

// The standard's functions that a backend's access stands for.
static const char *const access_calls[] = {[RITZ_ACCESS_READ] = "CeedVectorGetArrayRead",
                                           [RITZ_ACCESS_WRITE] = "CeedVectorGetArrayWrite",
                                           [RITZ_ACCESS_READ_WRITE] = "CeedVectorGetArray"};

int ritz_vector_check_access(CeedVector vec, RitzAccess access) {
  return check_access(vec, access_calls[access], access);
}

int ritz_vector_set(CeedVector vec, const char *call, CeedMemType mem_type, CeedCopyMode copy_mode,
                    void *array) {
  RitzRepKind kind;
  RITZ_TRY(vector_kind(vec, call, mem_type, &kind));
  RITZ_TRY(ritz_vector_require_unlocked(vec, call));
  RITZ_REQUIRE(copy_mode == CEED_COPY_VALUES || copy_mode == CEED_USE_POINTER ||
                   copy_mode == CEED_OWN_POINTER,
               vec->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: %d is no copy mode", call, (int)copy_mode);
  RITZ_REQUIRE(array || copy_mode == CEED_COPY_VALUES || vec->length == 0, vec->obj.ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: the array is NULL, needed %" CeedSize_FMT " entries", call,
               vec->length);
  RITZ_TRY(ritz_storage_accept(vec->obj.ceed, call, kind, copy_mode, vec->storage.num_bytes, array));
  RITZ_TRY(ritz_storage_set(vec->obj.ceed, &vec->storage, kind, copy_mode, array));
  vec->is_stale = false;
  vec->state += 2;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSetArray(CeedVector vec, CeedMemType mem_type, CeedCopyMode copy_mode, CeedScalar *array) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_precision(vec, __func__, CEED_SCALAR_TYPE));
  return ritz_vector_set(vec, __func__, mem_type, copy_mode, array);
}

int ritz_vector_take(CeedVector vec, const char *call, CeedMemType mem_type, void **array) {
  RitzRepKind kind;
  RITZ_TRY(vector_kind(vec, call, mem_type, &kind));
  RITZ_TRY(ritz_vector_require_unlocked(vec, call));
  *array = NULL;
  if (vec->length == 0) {
    ritz_storage_clear(vec->obj.ceed, &vec->storage);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_REQUIRE(vec->storage.rep[kind].borrowed, vec->obj.ceed, CEED_ERROR_BACKEND,
               "%s: CeedVector has no borrowed %s array, set one with CEED_USE_POINTER first", call,
               CeedMemTypes[mem_type]);
  RITZ_TRY(ritz_vector_require_data(vec, call));
  return ritz_storage_take(vec->obj.ceed, &vec->storage, kind, array);
}

int CeedVectorTakeArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_TRY(ritz_vector_require_precision(vec, __func__, CEED_SCALAR_TYPE));
  void *taken;
  RITZ_TRY(ritz_vector_take(vec, __func__, mem_type, &taken));
  if (array) *array = taken;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSyncArray(CeedVector vec, CeedMemType mem_type) {
  RITZ_HANDLE(vec);
  RitzRepKind kind;
  RITZ_TRY(vector_kind(vec, "CeedVectorSyncArray", mem_type, &kind));
  RITZ_REQUIRE(!vec->is_locked, vec->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorSyncArray: Cannot sync CeedVector, the access lock is already in use");
  if (vec->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_vector_require_data(vec, "CeedVectorSyncArray"));
  return ritz_storage_sync(vec->obj.ceed, &vec->storage, kind);
}

// A vector without entries lends NULL, whatever it was given.
static void *vector_array_of(CeedVector vec, RitzRepKind kind) {
  return vec->length > 0 ? ritz_storage_pointer(&vec->storage, kind) : NULL;
}

// A backend that watches may hand out an array of its own instead.
static int lend(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array) {
  *array = vector_array_of(vec, kind);
  if (!vec->obj.ceed->backend.vector_lend || !*array) return CEED_ERROR_SUCCESS;
  int ierr = vec->obj.ceed->backend.vector_lend(vec, access, kind, array);
  if (ierr) *array = NULL; // nothing that a caller could take for an array to restore
  return ierr;
}

static int take_back(CeedVector vec, void *array) {
  bool is_watched = vec->obj.ceed->backend.vector_take_back && vec->length > 0;
  return is_watched ? vec->obj.ceed->backend.vector_take_back(vec, array) : CEED_ERROR_SUCCESS;
}

int ritz_vector_grant(CeedVector vec, const char *call, RitzAccess access, CeedMemType mem_type,
                      RitzRepKind *kind) {
  RITZ_TRY(vector_kind(vec, call, mem_type, kind));
  RITZ_TRY(check_access(vec, call, access));
  return (access == RITZ_ACCESS_WRITE ? ritz_storage_ensure : ritz_storage_sync)(vec->obj.ceed, &vec->storage,
                                                                                 *kind);
}

int ritz_vector_hand_out(CeedVector vec, RitzAccess access, RitzRepKind kind, void **array) {
  RITZ_TRY(lend(vec, access, kind, array));
  if (access == RITZ_ACCESS_READ) {
    vec->num_readers++;
    return CEED_ERROR_SUCCESS;
  }
  ritz_storage_only_valid(&vec->storage, kind);
  vec->is_stale = false;
  vec->is_locked = true;
  vec->state++;
  return CEED_ERROR_SUCCESS;
}

// Arrays of CeedScalar.
static int get_scalars(CeedVector vec, const char *call, RitzAccess access, CeedMemType mem_type,
                       const CeedScalar **array) {
  RitzRepKind kind;
  void *lent;
  RITZ_TRY(ritz_vector_require_precision(vec, call, CEED_SCALAR_TYPE));
  RITZ_TRY(ritz_vector_grant(vec, call, access, mem_type, &kind));
  const int ierr = ritz_vector_hand_out(vec, access, kind, &lent);
  *array = lent;
  return ierr;
}

int CeedVectorGetArray(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_scalars(vec, __func__, RITZ_ACCESS_READ_WRITE, mem_type, (const CeedScalar **)array);
}

int CeedVectorGetArrayWrite(CeedVector vec, CeedMemType mem_type, CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_scalars(vec, __func__, RITZ_ACCESS_WRITE, mem_type, (const CeedScalar **)array);
}

int CeedVectorGetArrayRead(CeedVector vec, CeedMemType mem_type, const CeedScalar **array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, array);
  return get_scalars(vec, __func__, RITZ_ACCESS_READ, mem_type, array);
}

int ritz_vector_require_granted(CeedVector vec, const char *call, RitzAccess access) {
  const bool reads = access == RITZ_ACCESS_READ;
  RITZ_REQUIRE(reads ? vec->num_readers > vec->num_packed_readers : vec->is_locked, vec->obj.ceed,
               CEED_ERROR_ACCESS, "%s: Cannot restore CeedVector array %saccess, access was not granted",
               call, reads ? "read " : "");
  return CEED_ERROR_SUCCESS;
}

int ritz_vector_give_back(CeedVector vec, RitzAccess access, void *array) {
  const int ierr = take_back(vec, array);
  if (access == RITZ_ACCESS_READ) {
    vec->num_readers--;
  } else {
    vec->is_locked = false;
    vec->state++;
  }
  return ierr;
}

static int restore_scalars(CeedVector vec, const char *call, RitzAccess access, const CeedScalar **array) {
  RITZ_TRY(ritz_vector_require_precision(vec, call, CEED_SCALAR_TYPE));
  RITZ_TRY(ritz_vector_require_granted(vec, call, access));
  void *returned = (void *)*array;
  *array = NULL;
  return ritz_vector_give_back(vec, access, returned);
}

int CeedVectorRestoreArray(CeedVector vec, CeedScalar **array) {
  RITZ_HANDLE(vec);
  return restore_scalars(vec, __func__, RITZ_ACCESS_READ_WRITE, (const CeedScalar **)array);
}

int CeedVectorRestoreArrayRead(CeedVector vec, const CeedScalar **array) {
  RITZ_HANDLE(vec);
  return restore_scalars(vec, __func__, RITZ_ACCESS_READ, array);
}

void ritz_vector_make_stale(CeedVector vec) {
  for (RitzRepKind k = 0; k < RITZ_NUM_REPS; k++) vec->storage.rep[k].valid = false;
  vec->is_stale = true;
}

// ---- Access of either precision, of backends ----

int ritz_vector_lock(CeedVector vec, RitzAccess access, CeedMemType mem_type, void **array) {
  RitzRepKind kind;
  *array = NULL;
  RITZ_TRY(ritz_vector_grant(vec, access_calls[access], access, mem_type, &kind));
  return ritz_vector_hand_out(vec, access, kind, array);
}

RitzAccess ritz_vector_access_first(CeedVector vec, CeedSize n) {
  return n < vec->length && ritz_storage_has_data(&vec->storage) ? RITZ_ACCESS_READ_WRITE : RITZ_ACCESS_WRITE;
}

int ritz_vector_unlock(CeedVector vec, RitzAccess access, void **array, int ierr) {
  static const char *const calls[] = {[RITZ_ACCESS_READ] = "CeedVectorRestoreArrayRead",
                                      [RITZ_ACCESS_WRITE] = "CeedVectorRestoreArray",
                                      [RITZ_ACCESS_READ_WRITE] = "CeedVectorRestoreArray"};
  RITZ_TRY(ritz_vector_require_granted(vec, calls[access], access));
  const int restored = ritz_vector_give_back(vec, access, *array);
  const bool keeps =
      access == RITZ_ACCESS_READ || (access == RITZ_ACCESS_READ_WRITE && ierr == CEED_ERROR_MAJOR);
  *array = NULL;
  if (ierr && !keeps) ritz_vector_make_stale(vec);
  return ierr ? ierr : restored;
}

int ritz_vector_end_write(CeedVector vec, CeedScalar **array, int ierr) {
  void *lent = *array;
  *array = NULL;
  return ritz_vector_unlock(vec, RITZ_ACCESS_WRITE, &lent, ierr);
}

int ritz_vector_end_update(CeedVector vec, CeedScalar **array, int ierr) {
  void *lent = *array;
  *array = NULL;
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &lent, ierr);
}

// ---- Packed access, of backends ----

int ritz_vector_get_packed(CeedVector vec, const RitzPacking *packing, const void **packed) {
  static const char call[] = "CeedVectorGetArrayRead (packed)";
  CeedSize needed = ritz_packing_length(packing);
  RITZ_TRY(ritz_vector_require_readable(vec, call));
  RITZ_TRY(ritz_vector_require_data(vec, call));
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

int ritz_vector_restore_packed(CeedVector vec, const void **packed) {
  RITZ_REQUIRE(vec->num_packed_readers > 0, vec->obj.ceed, CEED_ERROR_ACCESS,
               "CeedVectorRestoreArrayRead (packed): Cannot restore CeedVector array read access, access was "
               "not granted");
  *packed = NULL;
  vec->num_readers--;
  vec->num_packed_readers--;
  return CEED_ERROR_SUCCESS;
}

bool ritz_vector_packed_order(CeedVector vec, RitzPacking *packing) {
  *packing = vec->storage.packed.packing;
  return vec->storage.rep[RITZ_REP_PACKED].valid && !vec->storage.rep[RITZ_REP_HOST].valid;
}

int ritz_vector_begin_packed(CeedVector vec, const RitzPacking *packing, void **packed) {
  bool is_whole = false;
  *packed = NULL;
  RITZ_TRY(check_access(vec, "CeedVectorGetArrayWrite (packed)", RITZ_ACCESS_WRITE));
  if (vec->length == 0 || vec->obj.ceed->backend.vector_lend || vec->obj.ceed->backend.rep_alloc)
    return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_storage_reserve_packed(vec->obj.ceed, &vec->storage, packing, &is_whole));
  return is_whole ? ritz_vector_hand_out(vec, RITZ_ACCESS_WRITE, RITZ_REP_PACKED, packed)
                  : CEED_ERROR_SUCCESS;
}

int ritz_vector_end_packed(CeedVector vec, void **packed, int ierr) {
  return ritz_vector_unlock(vec, RITZ_ACCESS_WRITE, packed, ierr);
}

// ---- Queries and views ----

int CeedVectorGetLength(CeedVector vec, CeedSize *length) {
  if (vec != CEED_VECTOR_NONE) RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, length);
  *length = vec->length; // of CEED_VECTOR_NONE 0
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetCeed(CeedVector vec, Ceed *ceed) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, ceed);
  return CeedObjectGetCeed((CeedObject)vec, ceed);
}
Ceed CeedVectorReturnCeed(CeedVector vec) { return RITZ_RETURN_CEED(vec); }

int CeedVectorHasValidArray(CeedVector vec, bool *has_valid_array) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, has_valid_array);
  *has_valid_array = vec->length == 0 || ritz_storage_has_data(&vec->storage);
  return CEED_ERROR_SUCCESS;
}

int CeedVectorGetState(CeedVector vec, uint64_t *state) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, state);
  *state = vec->state;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorHasBorrowedArrayOfType(CeedVector vec, CeedMemType mem_type, bool *has_borrowed_array_of_type) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, has_borrowed_array_of_type);
  RitzRepKind kind;
  RITZ_TRY(vector_kind(vec, "CeedVectorHasBorrowedArrayOfType", mem_type, &kind));
  *has_borrowed_array_of_type = vec->storage.rep[kind].borrowed != NULL;
  return CEED_ERROR_SUCCESS;
}

int CeedVectorSetNumViewTabs(CeedVector vec, CeedInt num_tabs) {
  RITZ_HANDLE(vec);
  return CeedObjectSetNumViewTabs((CeedObject)vec, num_tabs);
}
int CeedVectorGetNumViewTabs(CeedVector vec, CeedInt *num_tabs) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, num_tabs);
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

static CeedScalar entry_of(CeedVector vec, const void *array, CeedSize i) {
  return vec->precision == CEED_SCALAR_FP32 ? (CeedScalar)((const float *)array)[i]
                                            : (CeedScalar)((const double *)array)[i];
}

int CeedVectorViewRange(CeedVector vec, CeedSize start, CeedSize stop, CeedInt step, const char *fp_fmt,
                        FILE *stream) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, stream);
  CeedSize length = vec->length;
  RITZ_REQUIRE(step != 0, vec->obj.ceed, CEED_ERROR_MINOR, "CeedVectorViewRange: the step is 0");
  RITZ_REQUIRE(start >= 0, vec->obj.ceed, CEED_ERROR_MINOR,
               "CeedVectorViewRange: start %" CeedSize_FMT " is negative", start);
  void *array = NULL;
  if (length > 0) RITZ_TRY(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));

  print_line(vec, stream, "CeedVector length ", length);
  if (start != 0 || stop != length || step != 1) {
    print_line(vec, stream, "  start: ", start);
    print_line(vec, stream, "  stop:  ", stop);
    print_line(vec, stream, "  step:  ", step);
  }
  CeedSize last = stop == -1 || stop > length ? length : stop;
  for (CeedSize i = start < length ? start : length; step > 0 ? i < last : i > last; i += step) {
    if (i >= 0 && i < length) print_value(vec, stream, fp_fmt ? fp_fmt : "%g", entry_of(vec, array, i));
  }
  if (last != length) {
    ritz_object_indent(&vec->obj, stream);
    fprintf(stream, "  ...\n");
  }
  return length > 0 ? ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS)
                    : CEED_ERROR_SUCCESS;
}

int CeedVectorView(CeedVector vec, const char *fp_fmt, FILE *stream) {
  RITZ_HANDLE(vec);
  RITZ_ARGUMENT(vec, stream);
  return CeedVectorViewRange(vec, 0, vec->length, 1, fp_fmt, stream);
}
