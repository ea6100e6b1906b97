// SPDX-License-Identifier: BSD-2-Clause
// Long copies between host and device (contract in devices/cuda-staging.h). The driver brings arrays of the
// host that are not pinned through buffers of its own on one thread, at 5 to 6 GB/s, and at 3 into pages that
// were never touched. Here all threads of the context fill or empty one of two buffers while the device reads
// or writes the other.
#include "devices/cuda-staging.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/ranges.h"

enum { BUFFER_BYTES = 4 << 20 };

static CUdeviceptr address(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

static bool is_pinned(const RitzCudaApi *api, const void *host) {
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  unsigned type = 0;
  void *value = &type;

  return !api->memory_attributes(1, &attribute, &value, address(host)) && type;
}

// After the stream was waited for, where something was queued.
static void give_back(const RitzCudaApi *api, RitzCudaStaging *s) {
  for (int i = 0; i < 2; i++) {
    if (s->is_free[i]) api->event_destroy(s->is_free[i]);
    s->is_free[i] = NULL;
  }
  atomic_store(&s->is_taken, false);
}

// Whether the calling thread has the buffers now, until give_back.
static bool take(const RitzCudaApi *api, RitzCudaStaging *s, size_t num_bytes, const void *host) {
  bool is_taken = false, is_made = true;

  if (num_bytes < 2 * (size_t)BUFFER_BYTES || is_pinned(api, host)) return false;
  if (!atomic_compare_exchange_strong(&s->is_taken, &is_taken, true)) return false;
  for (int i = 0; i < 2 && is_made; i++) {
    is_made = !api->event_create(&s->is_free[i], CU_EVENT_DEFAULT) &&
              (s->buffer[i] || !api->host_alloc((void **)&s->buffer[i], BUFFER_BYTES, 0));
  }
  if (!is_made) give_back(api, s);
  return is_made;
}

// ---- On the host ----

enum { UNIT = 64 }; // bytes

typedef struct {
  char *to;
  const char *from;
  size_t num_bytes;
} HostCopy;

static void copy_units(void *data, int slot, int64_t first, int64_t count) {
  const HostCopy *copy = data;
  const size_t begin = (size_t)first * UNIT, rest = copy->num_bytes - begin;
  const size_t num_bytes = (size_t)count * UNIT < rest ? (size_t)count * UNIT : rest;

  (void)slot;
  memcpy(copy->to + begin, copy->from + begin, num_bytes);
}

static int copy_on_host(Ceed ceed, size_t num_bytes, char *to, const char *from) {
  HostCopy copy = {to, from, num_bytes};
  return ritz_run_ranges(ceed, (int64_t)((num_bytes + UNIT - 1) / UNIT), copy_units, &copy);
}

// ---- Both ways ----

static size_t chunk_bytes(const RitzCudaCopy *copy, size_t begin) {
  return copy->num_bytes - begin < BUFFER_BYTES ? copy->num_bytes - begin : BUFFER_BYTES;
}

// Fills a buffer and has the device read it.
static int run_in(const RitzCudaApi *api, const RitzCudaStaging *s, const RitzCudaCopy *copy,
                  CUresult *result) {
  for (size_t begin = 0, k = 0; begin < copy->num_bytes; begin += BUFFER_BYTES, k ^= 1) {
    const size_t num_bytes = chunk_bytes(copy, begin);

    if (begin >= 2 * (size_t)BUFFER_BYTES) *result = api->event_synchronize(s->is_free[k]);
    if (*result) break;
    RITZ_TRY(copy_on_host(copy->ceed, num_bytes, s->buffer[k], copy->from + begin));
    *result = api->copy_in(address(copy->to + begin), s->buffer[k], num_bytes, copy->stream);
    if (!*result) *result = api->event_record(s->is_free[k], copy->stream);
    if (*result) break;
  }
  return CEED_ERROR_SUCCESS;
}

static CUresult start_out(const RitzCudaApi *api, const RitzCudaStaging *s, const RitzCudaCopy *copy,
                          size_t begin, size_t k) {
  const CUresult result =
      api->copy_out(s->buffer[k], address(copy->from + begin), chunk_bytes(copy, begin), copy->stream);

  return result ? result : api->event_record(s->is_free[k], copy->stream);
}

// Empties a buffer while the device writes the other.
static int run_out(const RitzCudaApi *api, const RitzCudaStaging *s, const RitzCudaCopy *copy,
                   CUresult *result) {
  *result = start_out(api, s, copy, 0, 0);
  for (size_t begin = 0, k = 0; begin < copy->num_bytes && !*result; begin += BUFFER_BYTES, k ^= 1) {
    const size_t next = begin + BUFFER_BYTES;

    if (next < copy->num_bytes) *result = start_out(api, s, copy, next, k ^ 1);
    if (!*result) *result = api->event_synchronize(s->is_free[k]);
    if (!*result)
      RITZ_TRY(copy_on_host(copy->ceed, chunk_bytes(copy, begin), copy->to + begin, s->buffer[k]));
  }
  return CEED_ERROR_SUCCESS;
}

typedef int (*RunCopy)(const RitzCudaApi *api, const RitzCudaStaging *s, const RitzCudaCopy *copy,
                       CUresult *result);

static int stage(const RitzCudaApi *api, RitzCudaStaging *staging, const RitzCudaCopy *copy, const void *host,
                 RunCopy run, bool *is_done, CUresult *result) {
  *is_done = take(api, staging, copy->num_bytes, host);
  if (!*is_done) return CEED_ERROR_SUCCESS;
  const int ierr = run(api, staging, copy, result);
  const CUresult ended = api->stream_synchronize(copy->stream); // the buffers are the next copy's

  if (!*result) *result = ended;
  give_back(api, staging);
  return ierr;
}

int ritz_cuda_stage_in(const RitzCudaApi *api, RitzCudaStaging *staging, const RitzCudaCopy *copy,
                       bool *is_done, CUresult *result) {
  return stage(api, staging, copy, copy->from, run_in, is_done, result);
}

int ritz_cuda_stage_out(const RitzCudaApi *api, RitzCudaStaging *staging, const RitzCudaCopy *copy,
                        bool *is_done, CUresult *result) {
  return stage(api, staging, copy, copy->to, run_out, is_done, result);
}
