// SPDX-License-Identifier: BSD-2-Clause
// Kernels of batched dense algebra on devices. Pure, as emit/emit.h.
#ifndef RITZ_EMIT_GPU_BATCHED_H
#define RITZ_EMIT_GPU_BATCHED_H

#include "plan/gpu-batched.h"

// The kernel `ritz_batched`, behind kernels/gpu/language.h; arguments: kernels/gpu/batched.h.
int ritz_emit_gpu_batched(Ceed ceed, const RitzGpuBatched *plan, char **text);

#endif
