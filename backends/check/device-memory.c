// SPDX-License-Identifier: BSD-2-Clause
// Memory of the emulated device: ordinary memory that is listed. The list tells device pointers from host
// pointers. Serves the rep_* slots; vectors and restrictions are core's.
#include <string.h>

#include "backends/check/device.h"

// ---- The list ----

// Number of blocks that begin at or before p.
static size_t count_until(const RitzCheckDevice *d, const void *p) {
  size_t low = 0, high = d->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if ((uintptr_t)d->block[middle].start <= (uintptr_t)p)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The block that p points into, or NULL.
static RitzCheckBlock *find(const RitzCheckDevice *d, const void *p) {
  size_t n = d ? count_until(d, p) : 0;
  if (n == 0) return NULL;
  RitzCheckBlock *block = &d->block[n - 1];
  return (uintptr_t)p - (uintptr_t)block->start < block->num_bytes ? block : NULL;
}

int ritz_check_device_enter(Ceed ceed, void *start, size_t num_bytes, bool is_lent) {
  RitzCheckDevice *d = ceed->data;
  if (d->num == d->capacity) {
    size_t capacity = 2 * d->capacity + 16;
    RITZ_TRY(RITZ_REALLOC(ceed, capacity, &d->block));
    d->capacity = capacity;
  }
  size_t at = count_until(d, start);
  memmove(d->block + at + 1, d->block + at, (d->num - at) * sizeof(*d->block));
  d->block[at] = (RitzCheckBlock){start, num_bytes, is_lent};
  d->num++;
  return CEED_ERROR_SUCCESS;
}

void ritz_check_device_leave(Ceed ceed, const void *start) {
  RitzCheckDevice *d = ceed->data;
  RitzCheckBlock *block = find(d, start);
  if (!block || block->start != start) return;
  d->num--;
  memmove(block, block + 1, (d->num - (size_t)(block - d->block)) * sizeof(*block));
}

int ritz_check_device_require(Ceed ceed, const char *what, size_t num_bytes, const void *p) {
  const RitzCheckBlock *block = find(ceed->data, p);
  RITZ_REQUIRE(block, ceed, CEED_ERROR_BACKEND,
               "check: %s: the array given as device memory is not memory of this device", what);
  size_t left = block->num_bytes - (size_t)((const char *)p - block->start);
  RITZ_REQUIRE(num_bytes <= left, ceed, CEED_ERROR_BACKEND,
               "check: %s: the array in device memory has %zu bytes, needed %zu", what, left, num_bytes);
  return CEED_ERROR_SUCCESS;
}

// ---- Allocation: fresh memory reads as NaN ----

int ritz_check_device_alloc(Ceed ceed, size_t num_bytes, void **p) {
  *p = NULL;
  RITZ_REQUIRE(ceed->data, ceed, CEED_ERROR_BACKEND, "check: the context has no device, see :mem=device");
  RITZ_TRY(ritz_malloc(ceed, num_bytes, 1, p));
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  int ierr = ritz_check_device_enter(ceed, *p, num_bytes, false);
  if (ierr)
    ritz_free(p);
  else
    memset(*p, 0xff, num_bytes);
  return ierr;
}

int ritz_check_device_free(Ceed ceed, void *p) {
  if (!p) return CEED_ERROR_SUCCESS;
  const RitzCheckBlock *block = find(ceed->data, p);
  RITZ_REQUIRE(block && block->start == p && !block->is_lent, ceed, CEED_ERROR_BACKEND,
               "check: the array to be freed was not allocated on this device");
  ritz_check_device_leave(ceed, p);
  ritz_free(&p);
  return CEED_ERROR_SUCCESS;
}

// ---- Slots ----

int ritz_check_rep_alloc(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p) {
  (void)kind;
  return ritz_check_device_alloc(ceed, num_bytes, p);
}

int ritz_check_rep_free(Ceed ceed, RitzRepKind kind, void *p) {
  (void)kind;
  return ritz_check_device_free(ceed, p);
}

static int require(Ceed ceed, const char *what, RitzRepKind kind, size_t num_bytes, const void *p) {
  if (kind != RITZ_REP_HOST) return ritz_check_device_require(ceed, what, num_bytes, p);
  RITZ_REQUIRE(!find(ceed->data, p), ceed, CEED_ERROR_BACKEND,
               "check: %s: the array given as host memory is device memory", what);
  return CEED_ERROR_SUCCESS;
}

int ritz_check_rep_copy(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                        const void *from) {
  RITZ_TRY(require(ceed, "copy to another memory", to_kind, num_bytes, to));
  RITZ_TRY(require(ceed, "copy from another memory", from_kind, num_bytes, from));
  memmove(to, from, num_bytes);
  return CEED_ERROR_SUCCESS;
}

int ritz_check_rep_accept(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                          const void *p) {
  RITZ_TRY(require(ceed, call, kind, num_bytes, p));
  if (kind == RITZ_REP_HOST || !is_given) return CEED_ERROR_SUCCESS;
  const RitzCheckBlock *block = find(ceed->data, p);
  RITZ_REQUIRE(block->start == p && !block->is_lent, ceed, CEED_ERROR_BACKEND,
               "check: %s: the library cannot own the array, which is %s", call,
               block->is_lent ? "lent by a vector" : "a part of another one");
  return CEED_ERROR_SUCCESS;
}
