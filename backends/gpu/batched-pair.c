// SPDX-License-Identifier: BSD-2-Clause
// GESV and POSV on devices: two objects, two launches.
#include "backends/gpu/batched-pair.h"
#include "backends/gpu/algebra.h"
#include "backends/gpu/memory.h"

typedef struct {
  struct RitzBatched_private factor, solve; // `data` owned
  RitzGpuList info;                         // owned: where the caller wants none
} Pair;

bool ritz_gpu_pair_serves(RitzBatchedOperation operation) {
  return operation == RITZ_BATCHED_GESV || operation == RITZ_BATCHED_POSV;
}

static struct RitzBatched_private part_of(const RitzBatched b, RitzBatchedOperation operation) {
  struct RitzBatched_private part = *b;
  part.operation = operation;
  part.form = ritz_batched_form(operation, &part.options);
  part.data = NULL;
  return part;
}

int ritz_gpu_pair_prepare(RitzBatched b) {
  const bool is_lu = b->operation == RITZ_BATCHED_GESV;
  Pair *pair = NULL;
  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &pair));
  b->data = pair;
  pair->factor = part_of(b, is_lu ? RITZ_BATCHED_GETRF : RITZ_BATCHED_POTRF);
  pair->solve = part_of(b, is_lu ? RITZ_BATCHED_GETRS : RITZ_BATCHED_POTRS);
  if (is_lu) pair->factor.size[RITZ_DIM_M] = b->size[RITZ_DIM_N];
  RITZ_TRY(ritz_gpu_batched_prepare(&pair->factor));
  RITZ_TRY(ritz_gpu_batched_prepare(&pair->solve));
  ritz_gpu_batched_follow(&pair->solve);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_pair_destroy(RitzBatched b) {
  Pair *pair = b->data;
  int ierr = pair->factor.data ? ritz_gpu_batched_destroy(&pair->factor) : CEED_ERROR_SUCCESS;
  if (pair->solve.data) ierr = ritz_first_error(ierr, ritz_gpu_batched_destroy(&pair->solve));
  ritz_gpu_list_free(b->ceed, &pair->info);
  RITZ_FREE(&pair);
  b->data = NULL;
  return ierr;
}

// Sizes of the factorization: GETRF's m is n. It knows k, so that matrices with a bad one are left alone.
static void list_sizes(const RitzBatched b, const int32_t *const sizes[RITZ_NUM_DIMS],
                       const int32_t *of_factor[RITZ_NUM_DIMS]) {
  of_factor[RITZ_DIM_M] = b->operation == RITZ_BATCHED_GESV ? sizes[RITZ_DIM_N] : NULL;
  of_factor[RITZ_DIM_N] = sizes[RITZ_DIM_N];
  of_factor[RITZ_DIM_K] = sizes[RITZ_DIM_K];
}

int ritz_gpu_pair_analyze(RitzBatched b, int64_t count, const int32_t *const sizes[RITZ_NUM_DIMS]) {
  Pair *pair = b->data;
  const int32_t *of_factor[RITZ_NUM_DIMS];
  list_sizes(b, sizes, of_factor);
  RITZ_TRY(ritz_gpu_batched_analyze(&pair->factor, count, of_factor));
  return ritz_gpu_batched_analyze(&pair->solve, count, sizes);
}

int ritz_gpu_pair_run(RitzBatched b, const RitzBatchedCall *call) {
  Pair *pair = b->data;
  RitzBatchedCall solve = *call;
  if (!call->info) {
    RITZ_TRY(ritz_gpu_list_reserve(b->ceed, call->count, &pair->info));
    solve.info = pair->info.numbers;
  }
  RitzBatchedCall factor = solve;
  factor.operand[1] = (RitzBatchOperand){0};
  list_sizes(b, call->sizes, factor.sizes);
  RITZ_TRY(ritz_gpu_batched_run(&pair->factor, &factor));
  return ritz_gpu_batched_run(&pair->solve, &solve);
}

int ritz_gpu_pair_explain(RitzBatched b, FILE *stream) {
  const Pair *pair = b->data;
  const bool is_lu = b->operation == RITZ_BATCHED_GESV;
  fprintf(stream, "  %s:\n", is_lu ? "GETRF" : "POTRF");
  RITZ_TRY(ritz_gpu_batched_explain((RitzBatched)&pair->factor, stream));
  fprintf(stream, "  %s:\n", is_lu ? "GETRS" : "POTRS");
  return ritz_gpu_batched_explain((RitzBatched)&pair->solve, stream);
}
