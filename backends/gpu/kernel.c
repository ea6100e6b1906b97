// SPDX-License-Identifier: BSD-2-Clause
// The life of a kernel on a device: described, begun, ready or refused, released; and its launches (contracts
// in backends/gpu/kernel.h).
#include "backends/gpu/kernel.h"
#include "backends/gpu/ahead.h"
#include "backends/gpu/context.h"
#include "jit/module.h"

// ---- States ----

int ritz_gpu_kernel_describe(Ceed ceed, const RitzGpuText *text, RitzGpuKernel *kernel) {
  if (kernel->state != RITZ_KERNEL_NONE) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_source_create(ceed, text, &kernel->source));
  kernel->entry = text->entry;
  kernel->state = RITZ_KERNEL_NEW;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_kernel_begin(Ceed ceed, RitzGpuKernel *kernel) {
  if (kernel->state != RITZ_KERNEL_NEW) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_ahead_add(ceed, kernel->source));
  kernel->state = RITZ_KERNEL_BEGUN;
  return CEED_ERROR_SUCCESS;
}

// The program made ahead for this text, or one that is loaded, else a new one.
static int get_program(Ceed ceed, RitzGpuKernel *kernel) {
  const RitzHash *key = &kernel->source->key;
  char *bytes;
  size_t num_bytes;
  const bool was_asked = ritz_gpu_ahead_take(ceed, key, &num_bytes, &bytes, &kernel->program);
  if (!kernel->program && !bytes) {
    kernel->program = ritz_gpu_program_find(ritz_gpu(ceed)->device, key);
    if (kernel->program && !was_asked) ritz_jit_count(&(RitzJitCounters){.memory_hits = 1});
  }
  if (kernel->program) return CEED_ERROR_SUCCESS;
  ritz_gpu(ceed)->num_unasked += !was_asked;
  return ritz_gpu_program_make(ceed, kernel->source, num_bytes, bytes, &kernel->program, &kernel->reason);
}

static int make_kernel(Ceed ceed, RitzGpuKernel *kernel) {
  RITZ_TRY(get_program(ceed, kernel));
  const int ierr = kernel->program && kernel->entry
                       ? ritz_gpu_program_kernel(ceed, kernel->program, kernel->entry, &kernel->handle)
                       : CEED_ERROR_SUCCESS;
  if (ierr) ritz_gpu_program_release(ceed, &kernel->program);
  RITZ_TRY(ierr);
  if (kernel->program) ritz_gpu_source_release(&kernel->source);
  kernel->state = kernel->program ? RITZ_KERNEL_READY : RITZ_KERNEL_REFUSED;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_kernel_try(Ceed ceed, RitzGpuKernel *kernel) {
  const bool is_made = kernel->state == RITZ_KERNEL_READY || kernel->state == RITZ_KERNEL_REFUSED;
  return is_made ? CEED_ERROR_SUCCESS : make_kernel(ceed, kernel);
}

// Reports the refusal, once: the next use tries again.
static int tell_refusal(Ceed ceed, RitzGpuKernel *kernel) {
  const int ierr = CeedError(ceed, CEED_ERROR_BACKEND, "%s", kernel->reason);
  RITZ_FREE(&kernel->reason);
  kernel->state = RITZ_KERNEL_NEW;
  return ierr;
}

int ritz_gpu_kernel_load(Ceed ceed, RitzGpuKernel *kernel) {
  if (kernel->state == RITZ_KERNEL_READY) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_kernel_try(ceed, kernel));
  return kernel->state == RITZ_KERNEL_REFUSED ? tell_refusal(ceed, kernel) : CEED_ERROR_SUCCESS;
}

void ritz_gpu_kernel_release(Ceed ceed, RitzGpuKernel *kernel) {
  ritz_gpu_program_release(ceed, &kernel->program);
  ritz_gpu_source_release(&kernel->source);
  RITZ_FREE(&kernel->reason);
  *kernel = (RitzGpuKernel){.state = RITZ_KERNEL_NONE};
}

// ---- Launches ----

int ritz_gpu_launch(Ceed ceed, RitzGpuKernel *kernel, const char *entry, int64_t num_blocks, int block_size,
                    int64_t shared_bytes, int num_args, const RitzDeviceArg *args) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (num_blocks == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_kernel_load(ceed, kernel));
  RitzDeviceKernel handle = kernel->handle;
  if (entry) RITZ_TRY(ritz_gpu_program_kernel(ceed, kernel->program, entry, &handle));
  return gpu->driver->launch(ceed, handle, gpu->stream, num_blocks, block_size, shared_bytes, num_args, args);
}

int ritz_gpu_launch_cleared(Ceed ceed, RitzGpuKernel *kernel, size_t num_bytes, void *p, int64_t num_blocks,
                            int block_size, int64_t shared_bytes, int num_args, const RitzDeviceArg *args,
                            RitzDeviceReplay *replay) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (num_blocks == 0)
    return num_bytes ? gpu->driver->clear(ceed, gpu->device, gpu->stream, num_bytes, p) : CEED_ERROR_SUCCESS;
  if (num_bytes == 0)
    return ritz_gpu_launch(ceed, kernel, NULL, num_blocks, block_size, shared_bytes, num_args, args);
  RITZ_TRY(ritz_gpu_kernel_load(ceed, kernel));
  return gpu->driver->launch_cleared(ceed, kernel->handle, gpu->stream, num_bytes, p, num_blocks, block_size,
                                     shared_bytes, num_args, args, replay);
}

void ritz_gpu_replay_destroy(Ceed ceed, RitzDeviceReplay *replay) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (*replay)
    (void)gpu->driver->replay_destroy(ceed, gpu->device, replay); // a driver that has gone has freed it
}
