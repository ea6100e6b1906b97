// SPDX-License-Identifier: BSD-2-Clause
// Packed data: the order in which SIMD kernels read what only they read, batches of elements with the
// elements of a batch side by side. Called by core/storage.c and core/vector.c (core/packing.h), the loops by
// backends.
#include "core/packing.h"

// ---- The loops ----

// Nodes or components.
typedef struct {
  int64_t extent, host_stride, packed_stride;
} Axis;

static Axis axis_of_nodes(const RitzPacking *p) { return (Axis){p->num_nodes, p->strides[0], p->lanes}; }
static Axis axis_of_components(const RitzPacking *p) {
  return (Axis){p->num_comp, p->strides[1], (int64_t)p->num_nodes * p->lanes};
}

// The inner axis has the smaller distances in the host's array. Where the other one goes on at its end they
// are one axis.
static void order_axes(const RitzPacking *p, Axis *inner, Axis *outer) {
  Axis nodes = axis_of_nodes(p), comps = axis_of_components(p);
  bool swaps = p->num_comp > 1 && (p->num_nodes == 1 || comps.host_stride < nodes.host_stride);
  *inner = swaps ? comps : nodes;
  *outer = swaps ? nodes : comps;
  if (outer->host_stride == inner->extent * inner->host_stride &&
      outer->packed_stride == inner->extent * inner->packed_stride) {
    inner->extent *= outer->extent;
    outer->extent = 1;
  }
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

typedef void CopyRun(int64_t n, char *to, int64_t to_stride, const char *from, int64_t from_stride);

static void copy_floats(int64_t n, char *to, int64_t to_stride, const char *from, int64_t from_stride) {
  for (int64_t i = 0; i < n; i++) ((float *)to)[i * to_stride] = ((const float *)from)[i * from_stride];
}

static void copy_doubles(int64_t n, char *to, int64_t to_stride, const char *from, int64_t from_stride) {
  for (int64_t i = 0; i < n; i++) ((double *)to)[i * to_stride] = ((const double *)from)[i * from_stride];
}

// One batch, one way or the other. The runs of all lanes lie side by side in packed memory: every cache line
// of either side is complete before the next ones are touched, whatever the distance of the elements. Where
// the elements themselves are neighbours in the host's array, a run is one entry long for that. On the way
// back the last element is written as often as it is repeated.
static void copy_batch(const RitzPacking *p, int64_t entry_bytes, int64_t num_real, bool packs, char *host,
                       char *packed) {
  CopyRun *copy_run = entry_bytes == sizeof(float) ? copy_floats : copy_doubles;
  Axis inner, outer;
  order_axes(p, &inner, &outer);
  int64_t step = p->strides[2] < inner.host_stride ? 1 : 64 / entry_bytes; // a cache line

  for (int64_t j = 0; j < outer.extent; j++) {
    for (int64_t i = 0; i < inner.extent; i += step) {
      int64_t n = smaller(step, inner.extent - i);
      char *h = host + (j * outer.host_stride + i * inner.host_stride) * entry_bytes;
      char *q = packed + (j * outer.packed_stride + i * inner.packed_stride) * entry_bytes;
      for (int64_t lane = 0; lane < p->lanes; lane++) {
        char *element = h + smaller(lane, num_real - 1) * p->strides[2] * entry_bytes;
        char *place = q + lane * entry_bytes;
        if (packs)
          copy_run(n, place, inner.packed_stride, element, inner.host_stride);
        else
          copy_run(n, element, inner.host_stride, place, inner.packed_stride);
      }
    }
  }
}

static void copy_batches(const RitzPacking *p, size_t entry_bytes, bool packs, char *host, char *packed,
                         int64_t first_batch, int64_t end_batch) {
  const int64_t bytes = (int64_t)entry_bytes, batch_size = (int64_t)p->num_nodes * p->num_comp * p->lanes;
  for (int64_t b = first_batch; b < end_batch; b++) {
    int64_t first_elem = b * p->lanes;
    copy_batch(p, bytes, smaller(p->lanes, p->num_elem - first_elem), packs,
               host + first_elem * p->strides[2] * bytes, packed + b * batch_size * bytes);
  }
}

void ritz_pack(const RitzPacking *packing, size_t entry_bytes, const void *host, void *packed,
               int64_t first_batch, int64_t end_batch) {
  copy_batches(packing, entry_bytes, true, (char *)host, packed, first_batch, end_batch);
}

void ritz_unpack(const RitzPacking *packing, size_t entry_bytes, void *host, const void *packed,
                 int64_t first_batch, int64_t end_batch) {
  copy_batches(packing, entry_bytes, false, host, (char *)packed, first_batch, end_batch);
}

// ---- Sizes ----

int64_t ritz_packing_num_batches(const RitzPacking *packing) {
  return ((int64_t)packing->num_elem + packing->lanes - 1) / packing->lanes;
}

static int64_t packed_length(const RitzPacking *p) {
  return ritz_packing_num_batches(p) * p->num_comp * p->num_nodes * p->lanes;
}

CeedSize ritz_packing_length(const RitzPacking *packing) {
  const CeedInt extents[3] = {packing->num_nodes, packing->num_comp, packing->num_elem};
  CeedSize last = 0;
  for (int k = 0; k < 3; k++) {
    if (extents[k] == 0) return 0;
    last += (extents[k] - 1) * packing->strides[k];
  }
  return last + 1;
}

// Every entry of an array of this length stands in one place: in some order of the axes, each begins where
// the one before ends.
static bool covers(const RitzPacking *p, CeedSize length) {
  const CeedInt extents[3] = {p->num_nodes, p->num_comp, p->num_elem};
  bool is_used[3] = {false};
  int64_t next = 1;
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < 3; k++) {
      if (is_used[k] || (extents[k] != 1 && p->strides[k] != next)) continue;
      is_used[k] = true;
      next *= extents[k];
    }
  }
  return is_used[0] && is_used[1] && is_used[2] && next == length;
}

// ---- The packed place of a storage ----

static bool is_same_packing(const RitzPacking *a, const RitzPacking *b) {
  return a->num_elem == b->num_elem && a->num_nodes == b->num_nodes && a->num_comp == b->num_comp &&
         a->lanes == b->lanes && a->strides[0] == b->strides[0] && a->strides[1] == b->strides[1] &&
         a->strides[2] == b->strides[2];
}

bool ritz_storage_is_packed(const RitzStorage *storage, const RitzPacking *packing) {
  return storage->rep[RITZ_REP_PACKED].valid && is_same_packing(&storage->packed.packing, packing);
}

// Memory for the order, the old one's if it fits.
static int reserve_packed(Ceed ceed, RitzStorage *storage, const RitzPacking *packing) {
  void **block = &storage->rep[RITZ_REP_PACKED].owned;
  const int64_t length = packed_length(packing);
  if (*block && packed_length(&storage->packed.packing) == length) return CEED_ERROR_SUCCESS;
  ritz_free(block);
  return ritz_malloc(ceed, (size_t)length, storage->entry_bytes, block);
}

int ritz_storage_pack(Ceed ceed, RitzStorage *storage, const RitzPacking *packing) {
  if (ritz_storage_is_packed(storage, packing)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_storage_sync(ceed, storage, RITZ_REP_HOST));
  storage->rep[RITZ_REP_PACKED].valid = false;
  RITZ_TRY(reserve_packed(ceed, storage, packing));
  ritz_pack(packing, storage->entry_bytes, ritz_storage_pointer(storage, RITZ_REP_HOST),
            storage->rep[RITZ_REP_PACKED].owned, 0, ritz_packing_num_batches(packing));
  storage->packed.packing = *packing;
  storage->packed.num_packs++;
  storage->rep[RITZ_REP_PACKED].valid = true;
  return CEED_ERROR_SUCCESS;
}

int ritz_storage_reserve_packed(Ceed ceed, RitzStorage *storage, const RitzPacking *packing, bool *is_whole) {
  *is_whole = !ritz_storage_pointer(storage, RITZ_REP_HOST) && !storage->packed.keeps_host &&
              covers(packing, (CeedSize)(storage->num_bytes / storage->entry_bytes));
  if (!*is_whole) return CEED_ERROR_SUCCESS;
  storage->rep[RITZ_REP_PACKED].valid = false;
  RITZ_TRY(reserve_packed(ceed, storage, packing));
  storage->packed.packing = *packing;
  return CEED_ERROR_SUCCESS;
}

void ritz_storage_drop_host(RitzStorage *storage) {
  RitzRep *host = &storage->rep[RITZ_REP_HOST];
  CeedSize length = (CeedSize)(storage->num_bytes / storage->entry_bytes);
  if (host->borrowed || storage->packed.keeps_host || !covers(&storage->packed.packing, length)) return;
  ritz_free(&host->owned);
  host->valid = false;
}

void ritz_storage_unpack(RitzStorage *storage) {
  const RitzPacking *packing = &storage->packed.packing;
  ritz_unpack(packing, storage->entry_bytes, ritz_storage_pointer(storage, RITZ_REP_HOST),
              storage->rep[RITZ_REP_PACKED].owned, 0, ritz_packing_num_batches(packing));
  storage->packed.num_unpacks++;
}
