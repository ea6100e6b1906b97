// SPDX-License-Identifier: BSD-2-Clause
// Long copies between host and device through pinned buffers. Called by cuda.c, with the device's context
// current.
#ifndef RITZ_DEVICES_CUDA_STAGING_H
#define RITZ_DEVICES_CUDA_STAGING_H

#include <ceed.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "devices/cuda-api.h"

// Of a device. Zeros at first; the buffers stay with the device.
typedef struct {
  _Atomic bool is_taken; // by a copy
  char *buffer[2];       // pinned; NULL: none so far
  CUevent is_free[2];    // the driver is done with the buffer; of the copy that has them
} RitzCudaStaging;

typedef struct {
  Ceed ceed; // whose threads fill and empty the buffers
  CUstream stream;
  size_t num_bytes;
  char *to;
  const char *from;
} RitzCudaCopy;

// *is_done false: the copy is short, the host's array is pinned, another thread has the buffers or there is
// no pinned memory; nothing has happened then. Else the copy has ended, with *result.
int ritz_cuda_stage_in(const RitzCudaApi *api, RitzCudaStaging *staging, const RitzCudaCopy *copy,
                       bool *is_done, CUresult *result);
int ritz_cuda_stage_out(const RitzCudaApi *api, RitzCudaStaging *staging, const RitzCudaCopy *copy,
                        bool *is_done, CUresult *result);

#endif
