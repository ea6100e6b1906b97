// SPDX-License-Identifier: BSD-2-Clause
// Kernels of sweeps over vertex patches on devices. Pure, as emit/emit.h.
#ifndef RITZ_EMIT_GPU_PATCH_H
#define RITZ_EMIT_GPU_PATCH_H

#include "plan/gpu-patch.h"

// The kernel `ritz_patch` for patches that are all alike, in the lifted form; `table`: theirs. It comes
// behind kernels/gpu/language.h, in which RitzReal is the precision of the vectors. Arguments:
// kernels/gpu/patch.h.
int ritz_emit_gpu_patch(Ceed ceed, const RitzGpuPatch *patch, const double *table, char **text);

// The kernel `ritz_patch_any`, likewise; arguments: kernels/gpu/patch-any.h.
int ritz_emit_gpu_patch_any(Ceed ceed, const RitzGpuPatchAny *patch, char **text);

#endif
