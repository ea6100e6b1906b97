// SPDX-License-Identifier: BSD-2-Clause
// RitzIndices: sets of entries of vectors (ritz/vector.h), their copies on devices, and what is done to the
// entries of a set.
#include <stdlib.h>
#include <string.h>

#include "core/vector-pass.h"
#include "core/vector.h"

const RitzClass ritz_indices_class = {.name = "RitzIndices"};

// ---- Life ----

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static bool is_ascending(int64_t num, const int64_t *entries) {
  for (int64_t i = 1; i < num; i++) {
    if (entries[i] <= entries[i - 1]) return false;
  }
  return true;
}

static int64_t drop_duplicates(int64_t num, int64_t *entries) {
  int64_t kept = 0;

  for (int64_t i = 0; i < num; i++) {
    if (kept == 0 || entries[i] != entries[kept - 1]) entries[kept++] = entries[i];
  }
  return kept;
}

static int copy_entries(Ceed ceed, int64_t num, const int64_t *entries, RitzIndices made) {
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num, &made->entries));
  if (num > 0) memcpy(made->entries, entries, (size_t)num * sizeof(*entries));
  made->num = num;
  if (is_ascending(num, entries)) return CEED_ERROR_SUCCESS;
  qsort(made->entries, (size_t)num, sizeof(*entries), compare);
  made->num = drop_duplicates(num, made->entries);
  return CEED_ERROR_SUCCESS;
}

int RitzIndicesCreate(Ceed ceed, int64_t num, const int64_t *entries, RitzIndices *indices) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, indices);
  RITZ_REQUIRE(num >= 0, ceed, CEED_ERROR_DIMENSION, "%s: number of entries is %lld, needs to be >= 0",
               __func__, (long long)num);
  if (num > 0) RITZ_ARGUMENT(ceed, entries);
  for (int64_t i = 0; i < num; i++)
    RITZ_REQUIRE(entries[i] >= 0, ceed, CEED_ERROR_DIMENSION, "%s: entries[%lld] is %lld, needs to be >= 0",
                 __func__, (long long)i, (long long)entries[i]);
  RitzIndices created = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  int ierr = CeedReferenceCopy(ceed, &created->ceed);
  if (!ierr) ierr = copy_entries(ceed, num, entries, created);
  if (ierr) {
    CeedDestroy(&created->ceed);
    RITZ_FREE(&created);
    return ierr;
  }
  created->class = &ritz_indices_class;
  created->ref_count = 1;
  *indices = created;
  return CEED_ERROR_SUCCESS;
}

int RitzIndicesReferenceCopy(RitzIndices indices, RitzIndices *copy) {
  RITZ_HANDLE(indices);
  RITZ_ARGUMENT(indices->ceed, copy);
  RITZ_OPTIONAL(indices, *copy);
  indices->ref_count++;
  RITZ_TRY(RitzIndicesDestroy(copy));
  *copy = indices;
  return CEED_ERROR_SUCCESS;
}

static int destroy_copy(RitzIndicesCopy *copy) {
  const int ierr =
      copy->entries ? copy->ceed->backend.rep_free(copy->ceed, RITZ_REP_DEVICE, copy->entries) : 0;
  return ritz_first_error(ierr, CeedDestroy(&copy->ceed));
}

int RitzIndicesDestroy(RitzIndices *indices) {
  int ierr = CEED_ERROR_SUCCESS;

  if (!indices || !*indices) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "indices", *indices, &ritz_indices_class));
  RitzIndices set = *indices;
  *indices = NULL;
  if (--set->ref_count > 0) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < set->num_copies; i++) ierr = ritz_first_error(ierr, destroy_copy(&set->copies[i]));
  Ceed ceed = set->ceed;
  RITZ_FREE(&set->copies);
  RITZ_FREE(&set->entries);
  RITZ_FREE(&set);
  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

int RitzIndicesGet(RitzIndices indices, int64_t *num, const int64_t **entries) {
  RITZ_HANDLE(indices);
  if (num) *num = indices->num;
  if (entries) *entries = indices->entries;
  return CEED_ERROR_SUCCESS;
}

// ---- Where a context computes ----

static int fill_copy(RitzIndices indices, Ceed ceed, RitzIndicesCopy *copy) {
  const size_t num_bytes = (size_t)indices->num * sizeof(int64_t);
  void *p = NULL;

  RITZ_TRY(ceed->backend.rep_alloc(ceed, RITZ_REP_DEVICE, num_bytes, &p));
  int ierr = ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_DEVICE, p, RITZ_REP_HOST, indices->entries);
  if (!ierr) ierr = CeedReferenceCopy(ceed, &copy->ceed);
  if (ierr)
    (void)ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, p);
  else
    copy->entries = p;
  return ierr;
}

static int find_copy(RitzIndices indices, Ceed ceed, const int64_t **entries) {
  for (int i = 0; i < indices->num_copies; i++) {
    *entries = indices->copies[i].entries;
    if (indices->copies[i].ceed == ceed) return CEED_ERROR_SUCCESS;
  }
  RitzIndicesCopy copy = {0};
  RITZ_TRY(RITZ_REALLOC(indices->ceed, (size_t)indices->num_copies + 1, &indices->copies));
  RITZ_TRY(fill_copy(indices, ceed, &copy));
  indices->copies[indices->num_copies++] = copy;
  *entries = copy.entries;
  return CEED_ERROR_SUCCESS;
}

int ritz_indices_for(RitzIndices indices, const char *call, CeedVector vec, const int64_t **entries) {
  Ceed ceed = vec->obj.ceed;
  const int64_t last = indices->num > 0 ? indices->entries[indices->num - 1] : -1;

  RITZ_REQUIRE(last < vec->length, ceed, CEED_ERROR_DIMENSION,
               "%s: entry %lld is in the set, the vector has %" CeedSize_FMT, call, (long long)last,
               vec->length);
  *entries = indices->entries;
  if (indices->num == 0 || ceed->backend.mem_type == CEED_MEM_HOST) return CEED_ERROR_SUCCESS;
  return find_copy(indices, ceed, entries);
}

// ---- Entries of vectors ----

// values: in the backend's memory; NULL: the value.
static int set_entries(const char *call, CeedVector vec, RitzIndices indices, const CeedScalar *values,
                       double value) {
  Ceed ceed = vec->obj.ceed;
  const int64_t *entries;
  RitzRepKind kind;
  void *array;

  RITZ_TRY(ritz_indices_for(indices, call, vec, &entries));
  RITZ_TRY(ritz_vector_grant(vec, call, RITZ_ACCESS_READ_WRITE, ceed->backend.mem_type, &kind));
  RITZ_TRY(ritz_vector_hand_out(vec, RITZ_ACCESS_READ_WRITE, kind, &array));
  const int ierr =
      ceed->backend.vector_set_entries(ceed, vec->precision, indices->num, entries, values, value, array);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &array, ierr);
}

int RitzVectorSetEntries(CeedVector vec, RitzIndices indices, double value) {
  RITZ_HANDLE(vec, indices);
  if (!indices) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(vec->obj.ceed, indices);
  return indices->num == 0 ? CEED_ERROR_SUCCESS : set_entries(__func__, vec, indices, NULL, value);
}

int RitzVectorSetEntryValues(CeedVector vec, RitzIndices indices, const CeedScalar values[]) {
  RITZ_HANDLE(vec, indices);
  Ceed ceed = vec->obj.ceed;
  if (!indices) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(ceed, indices);
  if (indices->num == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(ceed, values);
  if (ceed->backend.mem_type == CEED_MEM_HOST) return set_entries(__func__, vec, indices, values, 0);
  const size_t num_bytes = (size_t)indices->num * sizeof(*values);
  void *copy = NULL;

  RITZ_TRY(ceed->backend.rep_alloc(ceed, RITZ_REP_DEVICE, num_bytes, &copy));
  int ierr = ceed->backend.rep_copy(ceed, num_bytes, RITZ_REP_DEVICE, copy, RITZ_REP_HOST, values);
  if (!ierr) ierr = set_entries(__func__, vec, indices, copy, 0);
  return ritz_first_error(ierr, ceed->backend.rep_free(ceed, RITZ_REP_DEVICE, copy));
}

static int check_pair(const char *call, CeedVector from, CeedVector to) {
  Ceed ceed = to->obj.ceed;
  RITZ_TRY(ritz_vector_check_same_ceed(call, to, from));
  RITZ_REQUIRE(!ritz_vectors_meet(from, to), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: from and to %s, they need to be different", call, ritz_vectors_meet(from, to));
  RITZ_REQUIRE(from->length == to->length, ceed, CEED_ERROR_DIMENSION,
               "%s: a vector has %" CeedSize_FMT " entries, another one %" CeedSize_FMT, call, from->length,
               to->length);
  RITZ_REQUIRE(from->precision == to->precision, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a vector has precision %s, another one %s, needed one precision", call,
               ritz_precision_name(from->precision), ritz_precision_name(to->precision));
  return CEED_ERROR_SUCCESS;
}

int RitzVectorCopyEntries(CeedVector from, RitzIndices indices, CeedVector to) {
  // y is written in part: it is read, too.
  static const RitzPass form = {
      .name = "copy_entries", .num_vectors = 2, .num_lines = 1, .line = {{1, 2, {{-1, 0, -1}, {-1, 1, -1}}}}};
  RITZ_HANDLE(from, indices, to);
  Ceed ceed = from->obj.ceed;
  RITZ_ARGUMENT(ceed, to);
  if (!indices) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(ceed, indices);
  RITZ_TRY(check_pair(__func__, from, to));
  const CeedVector v[] = {from, to};
  const int64_t *entries;
  RitzPassArrays arrays;
  RITZ_TRY(ritz_indices_for(indices, __func__, to, &entries));
  if (indices->num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_pass_lock(&form, __func__, v, &arrays));
  const int ierr = ceed->backend.vector_copy_entries(ceed, to->precision, indices->num, entries,
                                                     arrays.array[0], arrays.array[1]);
  return ritz_pass_unlock(v, &arrays, ierr);
}
