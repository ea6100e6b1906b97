// SPDX-License-Identifier: BSD-2-Clause
// Slots of linear algebra: sweeps over patches, batched matrices, fronts, the dense solver.
#ifndef RITZ_BACKENDS_GPU_ALGEBRA_H
#define RITZ_BACKENDS_GPU_ALGEBRA_H

#include "backends/gpu/context.h"
#include "core/batched.h"
#include "core/dense-solver.h"
#include "core/front.h"
#include "core/patch-sweep.h"

// ---- patch-sweep.c: sweeps over vertex patches (core/patch-sweep.h) ----
int ritz_gpu_patch_sweep_prepare(RitzPatchSweep sweep);
int ritz_gpu_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed);
int ritz_gpu_patch_sweep_destroy(RitzPatchSweep sweep);

// ---- batched.c: batched dense algebra (core/batched.h) ----
int ritz_gpu_batched_prepare(RitzBatched batched);
int ritz_gpu_batched_workspace(RitzBatched batched, int64_t count, size_t *num_bytes);
int ritz_gpu_batched_analyze(RitzBatched batched, int64_t count, const int32_t *const sizes[3]);
int ritz_gpu_batched_run(RitzBatched batched, const RitzBatchedCall *call);
int ritz_gpu_batched_explain(RitzBatched batched, FILE *stream);
int ritz_gpu_batched_destroy(RitzBatched batched);

// ---- front-tree.c: trees of fronts (core/front.h) ----
int ritz_gpu_front_tree_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action);
int ritz_gpu_front_prepare(RitzFront front); // front.c
int ritz_gpu_front_run(RitzFront front, const RitzFrontCall *call);
int ritz_gpu_front_destroy(RitzFront front);

// ---- dense.c: the dense solver (core/dense-solver.h) ----
extern const RitzDenseMethods ritz_gpu_dense;

#endif
