// SPDX-License-Identifier: BSD-2-Clause
// Representations of data and their one validity rule, for vectors and contexts. Host memory is handled here,
// packed data in core/packing.c, device memory through the backend's rep_* slots. Knows nothing of locks: its
// callers do.
#include <string.h>

#include "core/apply-hooks.h"
#include "core/packing.h"

bool ritz_storage_has_data(const RitzStorage *storage) {
  for (int k = 0; k < RITZ_NUM_REPS; k++) {
    if (storage->rep[k].valid) return true;
  }
  return false;
}

void *ritz_storage_pointer(const RitzStorage *storage, RitzRepKind kind) {
  const RitzRep *rep = &storage->rep[kind];
  return rep->borrowed ? rep->borrowed : rep->owned;
}

// Compares ranges of addresses, which arrays of devices are, too (devices/device.h).
RitzOverlap ritz_storage_overlap(const RitzStorage *a, const RitzStorage *b) {
  for (RitzRepKind k = 0; k < RITZ_NUM_REPS && a->num_bytes && b->num_bytes; k++) {
    const uintptr_t from = (uintptr_t)ritz_storage_pointer(a, k), to = (uintptr_t)ritz_storage_pointer(b, k);
    if (!from || !to) continue;
    if (from == to) return RITZ_ALIGNED;
    if (from < to + b->num_bytes && to < from + a->num_bytes) return RITZ_SHIFTED;
  }
  return RITZ_APART;
}

// The place that a memory type means. A backend without device memory refuses it with the words that the
// standard fixes.
int ritz_storage_kind(Ceed ceed, const char *call, CeedMemType mem_type, const char *refusal,
                      RitzRepKind *kind) {
  RITZ_REQUIRE(mem_type == CEED_MEM_HOST || mem_type == CEED_MEM_DEVICE, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no memory type", call, (int)mem_type);
  RITZ_REQUIRE(mem_type == CEED_MEM_HOST || ceed->backend.rep_alloc, ceed, CEED_ERROR_BACKEND, "%s: %s", call,
               refusal);
  *kind = mem_type == CEED_MEM_HOST ? RITZ_REP_HOST : RITZ_REP_DEVICE;
  return CEED_ERROR_SUCCESS;
}

int ritz_storage_accept(Ceed ceed, const char *call, RitzRepKind kind, CeedCopyMode mode, size_t num_bytes,
                        const void *data) {
  if (!data || !ceed->backend.rep_accept) return CEED_ERROR_SUCCESS;
  return ceed->backend.rep_accept(ceed, call, kind, num_bytes, mode == CEED_OWN_POINTER, data);
}

static int alloc_place(Ceed ceed, size_t num_bytes, RitzRepKind kind, void **p) {
  return kind == RITZ_REP_HOST ? ritz_malloc(ceed, num_bytes, 1, p)
                               : ceed->backend.rep_alloc(ceed, kind, num_bytes, p);
}

static void free_place(Ceed ceed, RitzRepKind kind, void **p) {
  if (kind != RITZ_REP_DEVICE) {
    ritz_free(p);
  } else if (*p) {
    ceed->backend.rep_free(ceed, kind, *p);
    *p = NULL;
  }
}

typedef struct {
  char *to;
  const char *from;
} Copy;

static void copy_range(void *data, int slot, int64_t first, int64_t count) {
  const Copy *copy = data;
  (void)slot;
  memcpy(copy->to + first, copy->from + first, (size_t)count);
}

enum { SHARED_BYTES = 1 << 18 }; // copies of less are done before threads have begun

// On the threads of the context; what the caller hands over may be a part of the same array.
static int copy_on_host(Ceed ceed, size_t num_bytes, void *to, const void *from) {
  Copy copy = {to, from};
  const bool is_apart = copy.to + num_bytes <= copy.from || copy.from + num_bytes <= copy.to;
  if (is_apart && num_bytes >= SHARED_BYTES)
    return ritz_run_ranges(ceed, (int64_t)num_bytes, copy_range, &copy);
  memmove(to, from, num_bytes);
  return CEED_ERROR_SUCCESS;
}

static int copy_place(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                      const void *from) {
  if (num_bytes == 0 || (to == from && to_kind == from_kind)) return CEED_ERROR_SUCCESS;
  if (to_kind == RITZ_REP_HOST && from_kind == RITZ_REP_HOST) return copy_on_host(ceed, num_bytes, to, from);
  return ceed->backend.rep_copy(ceed, num_bytes, to_kind, to, from_kind, from);
}

int ritz_storage_ensure(Ceed ceed, RitzStorage *storage, RitzRepKind kind) {
  if (ritz_storage_pointer(storage, kind) || storage->num_bytes == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(alloc_place(ceed, storage->num_bytes, kind, &storage->rep[kind].owned));
  if (kind == RITZ_REP_HOST && storage->rep[RITZ_REP_PACKED].valid) storage->packed.keeps_host = true;
  return CEED_ERROR_SUCCESS;
}

// Packed data are the last choice; their way to a device is through the host.
int ritz_storage_sync(Ceed ceed, RitzStorage *storage, RitzRepKind kind) {
  if (storage->rep[kind].valid) return CEED_ERROR_SUCCESS;
  RitzRepKind from = 0;
  while (from < RITZ_NUM_REPS && !storage->rep[from].valid) from++;
  if (from == RITZ_REP_PACKED && kind == RITZ_REP_DEVICE) {
    RITZ_TRY(ritz_storage_sync(ceed, storage, RITZ_REP_HOST));
    from = RITZ_REP_HOST;
  }
  RITZ_TRY(ritz_storage_ensure(ceed, storage, kind));
  if (from == RITZ_NUM_REPS) return CEED_ERROR_SUCCESS;
  if (from == RITZ_REP_PACKED)
    ritz_storage_unpack(storage);
  else
    RITZ_TRY(copy_place(ceed, storage->num_bytes, kind, ritz_storage_pointer(storage, kind), from,
                        ritz_storage_pointer(storage, from)));
  storage->rep[kind].valid = true;
  return CEED_ERROR_SUCCESS;
}

void ritz_storage_only_valid(RitzStorage *storage, RitzRepKind kind) {
  for (RitzRepKind k = 0; k < RITZ_NUM_REPS; k++) storage->rep[k].valid = k == kind;
}

int ritz_storage_set(Ceed ceed, RitzStorage *storage, RitzRepKind kind, CeedCopyMode mode, void *data) {
  RitzRep *rep = &storage->rep[kind];
  if (mode == CEED_COPY_VALUES) {
    const bool is_new = !ritz_storage_pointer(storage, kind);
    RITZ_TRY(ritz_storage_ensure(ceed, storage, kind));
    if (!data && is_new && kind == RITZ_REP_HOST && storage->num_bytes)
      memset(ritz_storage_pointer(storage, kind), 0, storage->num_bytes);
    if (data)
      RITZ_TRY(copy_place(ceed, storage->num_bytes, kind, ritz_storage_pointer(storage, kind), kind, data));
  } else {
    if (rep->owned != data) free_place(ceed, kind, &rep->owned);
    bool is_new = mode == CEED_OWN_POINTER && rep->owned != data;
    if (mode == CEED_USE_POINTER && kind == RITZ_REP_HOST) ritz_memory_give(rep->owned); // taken back
    rep->owned = mode == CEED_OWN_POINTER ? data : NULL;
    rep->borrowed = mode == CEED_USE_POINTER ? data : NULL;
    if (is_new && kind == RITZ_REP_HOST) ritz_memory_adopt(data);
  }
  ritz_storage_only_valid(storage, kind);
  return CEED_ERROR_SUCCESS;
}

int ritz_storage_take(Ceed ceed, RitzStorage *storage, RitzRepKind kind, void **data) {
  RITZ_TRY(ritz_storage_sync(ceed, storage, kind));
  if (data) *data = storage->rep[kind].borrowed;
  storage->rep[kind].borrowed = NULL;
  storage->rep[kind].valid = false;
  if (kind == RITZ_REP_HOST)
    storage->rep[RITZ_REP_PACKED].valid = false; // packed data are a copy of the host's array
  return CEED_ERROR_SUCCESS;
}

void ritz_storage_clear(Ceed ceed, RitzStorage *storage) {
  for (RitzRepKind k = 0; k < RITZ_NUM_REPS; k++) {
    free_place(ceed, k, &storage->rep[k].owned);
    storage->rep[k] = (RitzRep){0};
  }
  storage->packed = (RitzPacked){0};
}
