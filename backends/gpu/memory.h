// SPDX-License-Identifier: BSD-2-Clause
// Device memory of a context: lists and arrays of the backend's own, work memory that is lent,
// representations of core/, counters (memory.c).
#ifndef RITZ_BACKENDS_GPU_MEMORY_H
#define RITZ_BACKENDS_GPU_MEMORY_H

#include "backends/gpu/context.h"

int ritz_gpu_rep_alloc(Ceed ceed, RitzRepKind kind, size_t num_bytes, void **p);
int ritz_gpu_rep_free(Ceed ceed, RitzRepKind kind, void *p);
int ritz_gpu_rep_copy(Ceed ceed, size_t num_bytes, RitzRepKind to_kind, void *to, RitzRepKind from_kind,
                      const void *from);
int ritz_gpu_rep_accept(Ceed ceed, const char *call, RitzRepKind kind, size_t num_bytes, bool is_given,
                        const void *p);
int ritz_gpu_device_counters(Ceed ceed, RitzDeviceCounters *counters);
// Device memory that the caller frees; *p is NULL for num_bytes == 0. free: *p becomes NULL; NULL is fine.
int ritz_gpu_alloc(Ceed ceed, size_t num_bytes, void **p);
void ritz_gpu_free(Ceed ceed, void **p);
// A list of 32-bit numbers in device memory that grows, zeros at first, owned: repeated calls allocate
// nothing. Lists that were too short stay for the graphs that captured them: together less than the longest.
enum { RITZ_GPU_MAX_LISTS = 40 }; // each twice as long as the one before
typedef struct {
  int64_t capacity;
  int num_older;
  void *numbers, *older[RITZ_GPU_MAX_LISTS];
} RitzGpuList;
int ritz_gpu_list_reserve(Ceed ceed, int64_t count, RitzGpuList *list);
void ritz_gpu_list_free(Ceed ceed, RitzGpuList *list);
// Device memory that the caller frees, filled with a copy of the host's array.
int ritz_gpu_upload(Ceed ceed, size_t num_bytes, const void *host, void **p);
int ritz_gpu_copy_out(Ceed ceed, size_t num_bytes, void *host, const void *device);
// The same, queued in another stream.
int ritz_gpu_copy_out_by(Ceed ceed, RitzDeviceStream stream, size_t num_bytes, void *host,
                         const void *device);
int ritz_gpu_copy_in(Ceed ceed, size_t num_bytes, void *device, const void *host);
// Memory of a slot, at least num_bytes, valid until the slot is asked for more.
int ritz_gpu_work(Ceed ceed, RitzGpuWork slot, size_t num_bytes, void **p);
// Sizes of n bytes, of n CeedScalars, rounded up so that another array may follow in a slot: OpenCL devices
// ask for an alignment of 512 bytes and more.
static inline size_t ritz_gpu_aligned_bytes(size_t n) { return (n + 4095) / 4096 * 4096; }
static inline CeedSize ritz_gpu_aligned(CeedSize n) {
  const CeedSize alignment = 4096 / sizeof(CeedScalar);
  return (n + alignment - 1) / alignment * alignment;
}

#endif
