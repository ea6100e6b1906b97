// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (core/batched.h), matrix after matrix, with the plain loops of batched-loops.h.
#include <math.h>

#include "backends/ref/ref.h"
#include "core/batched.h"

// One matrix of a call.
typedef struct {
  int64_t m, n, k;
  double alpha, beta;
  RitzBatchMatrix A, B, C;
  int32_t *ipiv;   // NULL: without pivots
  int32_t *pivots; // [n] of inverses
  void *work;      // [n] of inverses
} Problem;

#define RITZ_ENTRY      float
#define RITZ_LOOP(name) name##_f32
#define RITZ_ROOT       sqrtf
#define RITZ_MAGNITUDE  fabsf
#include "backends/ref/batched-loops.h"
#undef RITZ_ENTRY
#undef RITZ_LOOP
#undef RITZ_ROOT
#undef RITZ_MAGNITUDE
#define RITZ_ENTRY      double
#define RITZ_LOOP(name) name##_f64
#define RITZ_ROOT       sqrt
#define RITZ_MAGNITUDE  fabs
#include "backends/ref/batched-loops.h"

// 0, or the info of the first size that the matrix cannot have.
static int32_t find_bad_size(const RitzBatched b, const RitzBatchedCall *call, int64_t i) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    const CeedInt size = ritz_batched_size(b, call, (RitzBatchDim)d, i);

    if (size < 0 || size > b->size[d]) return RITZ_BATCHED_BAD_SIZE - d;
  }
  return 0;
}

static int32_t run_matrix(const RitzBatched b, const RitzBatchedCall *call, int64_t i, Problem *p) {
  RitzBatchMatrix *const matrices[RITZ_BATCHED_MAX_OPERANDS] = {&p->A, &p->B, &p->C};
  const int32_t bad = find_bad_size(b, call, i);

  if (bad) return bad;
  p->m = ritz_batched_size(b, call, RITZ_DIM_M, i);
  p->n = ritz_batched_size(b, call, RITZ_DIM_N, i);
  p->k = ritz_batched_size(b, call, RITZ_DIM_K, i);
  for (CeedInt o = 0; o < b->form.num_operands; o++)
    *matrices[o] = ritz_batch_matrix(&call->operand[o], b->precision, i);
  p->ipiv = call->ipiv ? call->ipiv + i * b->ipiv_stride : NULL;
  return b->precision == CEED_SCALAR_FP32 ? run_f32(b, p) : run_f64(b, p);
}

int ritz_ref_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  Problem p = {.alpha = call->alpha, .beta = call->beta};
  const size_t n = (size_t)b->size[RITZ_DIM_N];
  char *work = NULL;

  if (n > 0 && (b->operation == RITZ_BATCHED_INV || b->operation == RITZ_BATCHED_GETRI)) {
    RITZ_TRY(RITZ_MALLOC(b->ceed, n * (sizeof(double) + sizeof(int32_t)), &work));
    p.work = work;
    p.pivots = (int32_t *)(void *)(work + n * sizeof(double));
  }
  for (int64_t i = 0; i < call->count; i++) {
    const int32_t info = run_matrix(b, call, i, &p);

    if (call->info) call->info[i] = info;
  }
  RITZ_FREE(&work);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_batched_explain(RitzBatched b, FILE *stream) {
  (void)b;
  fprintf(stream, "  plain loops, one matrix after the other\n");
  return CEED_ERROR_SUCCESS;
}
