// SPDX-License-Identifier: BSD-2-Clause
// Memory of a device context: the device representation of vectors and contexts (rep_* slots), memory of the
// backend's own, work memory, and the counts that views show.
#include "backends/gpu/memory.h"

// ---- Allocation ----

static size_t allocated_bytes(const RitzGpu *gpu, const void *p) {
  void *start;
  size_t num_bytes;
  gpu->driver->find(gpu->device, p, &start, &num_bytes);
  return start ? num_bytes : 0;
}

static void count_bytes(RitzGpu *gpu, int64_t num_bytes) {
  gpu->bytes_live += num_bytes;
  if (gpu->bytes_live > gpu->bytes_peak) gpu->bytes_peak = gpu->bytes_live;
}

int ritz_gpu_alloc(Ceed ceed, size_t num_bytes, void **p) {
  RitzGpu *gpu = ritz_gpu(ceed);
  *p = NULL;
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(gpu->driver->alloc(ceed, gpu->device, num_bytes, p));
  count_bytes(gpu, (int64_t)allocated_bytes(gpu, *p));
  return CEED_ERROR_SUCCESS;
}

static int release(Ceed ceed, void *p) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (!p) return CEED_ERROR_SUCCESS;
  count_bytes(gpu, -(int64_t)allocated_bytes(gpu, p));
  return gpu->driver->free(ceed, gpu->device, p);
}

void ritz_gpu_free(Ceed ceed, void **p) {
  (void)release(ceed, *p); // a driver that has gone has freed it
  *p = NULL;
}

int ritz_gpu_list_reserve(Ceed ceed, int64_t count, RitzGpuList *list) {
  const int64_t capacity = count > 2 * list->capacity ? count : 2 * list->capacity;
  void *numbers = NULL;
  if (count <= list->capacity) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_alloc(ceed, (size_t)capacity * sizeof(int32_t), &numbers));
  if (list->numbers) list->older[list->num_older++] = list->numbers;
  list->numbers = numbers;
  list->capacity = capacity;
  return CEED_ERROR_SUCCESS;
}

void ritz_gpu_list_free(Ceed ceed, RitzGpuList *list) {
  for (int i = 0; i < list->num_older; i++) ritz_gpu_free(ceed, &list->older[i]);
  ritz_gpu_free(ceed, &list->numbers);
  *list = (RitzGpuList){.capacity = 0};
}

int ritz_gpu_rep_alloc(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p) {
  (void)kind;
  return ritz_gpu_alloc(ceed, num_bytes, p);
}

int ritz_gpu_rep_free(Ceed ceed, RitzRepKind kind, void *p) {
  (void)kind;
  return release(ceed, p);
}

int ritz_gpu_work(Ceed ceed, RitzGpuWork slot, size_t num_bytes, void **p) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (gpu->work[slot].num_bytes < num_bytes) {
    ritz_gpu_free(ceed, &gpu->work[slot].memory);
    gpu->work[slot].num_bytes = 0;
    RITZ_TRY(ritz_gpu_alloc(ceed, num_bytes, &gpu->work[slot].memory));
    gpu->work[slot].num_bytes = num_bytes;
  }
  *p = gpu->work[slot].memory;
  return CEED_ERROR_SUCCESS;
}

// ---- Copies ----

int ritz_gpu_copy_in(Ceed ceed, size_t num_bytes, void *device, const void *host) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  gpu->bytes_in += (int64_t)num_bytes;
  return gpu->driver->copy_in(ceed, gpu->device, gpu->stream, num_bytes, device, host);
}

int ritz_gpu_copy_out_by(Ceed ceed, RitzDeviceStream stream, size_t num_bytes, void *host,
                         const void *device) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  gpu->bytes_out += (int64_t)num_bytes;
  gpu->num_reads++;
  return gpu->driver->copy_out(ceed, gpu->device, stream, num_bytes, host, device);
}

int ritz_gpu_copy_out(Ceed ceed, size_t num_bytes, void *host, const void *device) {
  return ritz_gpu_copy_out_by(ceed, ritz_gpu(ceed)->stream, num_bytes, host, device);
}

int ritz_gpu_upload(Ceed ceed, size_t num_bytes, const void *host, void **p) {
  RITZ_TRY(ritz_gpu_alloc(ceed, num_bytes, p));
  int ierr = ritz_gpu_copy_in(ceed, num_bytes, *p, host);
  if (ierr) ritz_gpu_free(ceed, p);
  return ierr;
}

int ritz_gpu_rep_copy(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                      const void *from) {
  RitzGpu *gpu = ritz_gpu(ceed);
  if (num_bytes == 0) return CEED_ERROR_SUCCESS;
  if (from_kind == RITZ_REP_HOST) return ritz_gpu_copy_in(ceed, num_bytes, to, from);
  if (to_kind == RITZ_REP_HOST) return ritz_gpu_copy_out(ceed, num_bytes, to, from);
  return gpu->driver->copy(ceed, gpu->device, gpu->stream, num_bytes, to, from);
}

// ---- Memory of the caller's ----

// Refuses a pointer that is not device memory: a kernel that runs into another one ends the device's context.
// Memory that the library is to own is counted from here on.
int ritz_gpu_rep_accept(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                        const void *p) {
  RitzGpu *gpu = ritz_gpu(ceed);
  void *start;
  size_t found;
  if (kind == RITZ_REP_HOST) return CEED_ERROR_SUCCESS;
  gpu->driver->find(gpu->device, p, &start, &found);
  RITZ_REQUIRE(start, ceed, CEED_ERROR_BACKEND,
               "%s: the array given as device memory is not memory of this device (%s)", call,
               gpu->info->name);
  const size_t left = found - (size_t)((const char *)p - (const char *)start);
  RITZ_REQUIRE(num_bytes <= left, ceed, CEED_ERROR_BACKEND,
               "%s: the array in device memory has %zu bytes, needed %zu", call, left, num_bytes);
  RITZ_REQUIRE(!is_given || start == p, ceed, CEED_ERROR_BACKEND,
               "%s: the library cannot own the array, which is a part of another one", call);
  if (is_given) count_bytes(gpu, (int64_t)found);
  return CEED_ERROR_SUCCESS;
}

// ---- Counters ----

int ritz_gpu_device_counters(Ceed ceed, RitzDeviceCounters *counters) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  *counters = (RitzDeviceCounters){.driver = gpu->driver->name,
                                   .device = gpu->info->name,
                                   .index = gpu->info->index,
                                   .bytes_in = gpu->bytes_in,
                                   .bytes_out = gpu->bytes_out,
                                   .bytes_live = gpu->bytes_live,
                                   .bytes_peak = gpu->bytes_peak,
                                   .num_reads = gpu->num_reads};
  return CEED_ERROR_SUCCESS;
}
