// SPDX-License-Identifier: BSD-2-Clause
// Operations of batched dense algebra that are two others one after the other: GESV is GETRF and GETRS, POSV
// is POTRF and POTRS; the second one leaves matrices alone where the first one has failed. Called by
// backends/gpu/batched.c, whose functions both parts are served by.
#ifndef RITZ_BACKENDS_GPU_BATCHED_PAIR_H
#define RITZ_BACKENDS_GPU_BATCHED_PAIR_H

#include "backends/gpu/context.h"
#include "core/batched.h"

bool ritz_gpu_pair_serves(RitzBatchedOperation operation);
int ritz_gpu_pair_prepare(RitzBatched batched);
int ritz_gpu_pair_analyze(RitzBatched batched, int64_t count, const int32_t *const sizes[RITZ_NUM_DIMS]);
int ritz_gpu_pair_run(RitzBatched batched, const RitzBatchedCall *call);
int ritz_gpu_pair_explain(RitzBatched batched, FILE *stream);
int ritz_gpu_pair_destroy(RitzBatched batched);

// In batched.c. From now on the solve reads the info of a call, which it must get, and writes it for bad
// sizes alone.
void ritz_gpu_batched_follow(RitzBatched solve);

#endif
