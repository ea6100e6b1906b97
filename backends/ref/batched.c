// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra (core/batched.h), matrix after matrix, with the plain loops of batched-loops.h.
#include <float.h>
#include <math.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "core/batched.h"

// One matrix of a call.
typedef struct {
  int64_t m, n, k;
  double alpha, beta;
  RitzBatchMatrix A, B, C;
  int32_t *ipiv;   // NULL: without pivots
  int64_t k1, k2;  // of LASWP
  bool is_back;    // of LASWP
  int32_t *pivots; // [n] of INV
  void *work;      // [count_work]
} Problem;

#define RITZ_ENTRY      float
#define RITZ_LOOP(name) name##_f32
#define RITZ_ROOT       sqrtf
#define RITZ_MAGNITUDE  fabsf
#define RITZ_ROUNDOFF   (FLT_EPSILON / 2)
#define RITZ_LEAST      FLT_MIN
#include "backends/ref/batched-loops.h"
#undef RITZ_ENTRY
#undef RITZ_LOOP
#undef RITZ_ROOT
#undef RITZ_MAGNITUDE
#undef RITZ_ROUNDOFF
#undef RITZ_LEAST
#define RITZ_ENTRY      double
#define RITZ_LOOP(name) name##_f64
#define RITZ_ROOT       sqrt
#define RITZ_MAGNITUDE  fabs
#define RITZ_ROUNDOFF   (DBL_EPSILON / 2)
#define RITZ_LEAST      DBL_MIN
#include "backends/ref/batched-loops.h"

// 0, or the info of the first size that the matrix cannot have.
static int32_t find_bad_size(const RitzBatched b, const RitzBatchedCall *call, int64_t i) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    const CeedInt size = ritz_batched_size(b, call, (RitzBatchDim)d, i);

    if (size < 0 || size > b->size[d]) return RITZ_BATCHED_BAD_SIZE - d;
  }
  const bool is_tall = b->operation == RITZ_BATCHED_ORGQR || b->operation == RITZ_BATCHED_GESVDJ;
  const bool is_bad =
      is_tall && ritz_batched_size(b, call, RITZ_DIM_N, i) > ritz_batched_size(b, call, RITZ_DIM_M, i);
  return is_bad ? RITZ_BATCHED_BAD_SIZE - RITZ_DIM_N : 0;
}

// B = op(A), each in its precision.
static void copy_matrix(const RitzBatched b, const Problem *p) {
  const CeedScalarType from = b->options.A.precision, to = b->options.B.precision;
  const size_t size_from = ritz_scalar_bytes(from), size_to = ritz_scalar_bytes(to);
  const bool ta = b->options.trans_a == CEED_TRANSPOSE;

  for (int64_t c = 0; c < p->n; c++) {
    for (int64_t r = 0; r < p->m; r++) {
      const int64_t place = ta ? c + r * p->B.ld : r + c * p->B.ld;
      const char *entry = (const char *)p->A.base + (size_t)((r + c * p->A.ld) * p->A.step) * size_from;
      char *copy = (char *)p->B.base + (size_t)(place * p->B.step) * size_to;

      if (from == to)
        memcpy(copy, entry, size_to);
      else if (from == CEED_SCALAR_FP32)
        *(double *)(void *)copy = *(const float *)(const void *)entry;
      else
        *(float *)(void *)copy = (float)*(const double *)(const void *)entry;
    }
  }
}

static int32_t run_matrix(const RitzBatched b, const RitzBatchedCall *call, int64_t i, Problem *p) {
  RitzBatchMatrix *const matrices[RITZ_BATCHED_MAX_OPERANDS] = {&p->A, &p->B, &p->C};
  const int32_t bad = find_bad_size(b, call, i);

  if (bad) return bad;
  p->m = ritz_batched_size(b, call, RITZ_DIM_M, i);
  p->n = ritz_batched_size(b, call, RITZ_DIM_N, i);
  p->k = ritz_batched_size(b, call, RITZ_DIM_K, i);
  for (CeedInt o = 0; o < b->form.num_operands; o++)
    *matrices[o] = ritz_batch_matrix(&call->operand[o], ritz_batched_layout(&b->options, o)->precision, i);
  p->ipiv = call->ipiv ? call->ipiv + i * b->ipiv_stride : NULL;
  if (b->operation == RITZ_BATCHED_COPY) {
    copy_matrix(b, p);
    return 0;
  }
  return b->precision == CEED_SCALAR_FP32 ? run_f32(b, p) : run_f64(b, p);
}

// Entries that one matrix needs beside its operands.
static size_t count_work(const RitzBatched b) {
  const size_t m = (size_t)b->size[RITZ_DIM_M], n = (size_t)b->size[RITZ_DIM_N];

  switch (b->operation) {
  case RITZ_BATCHED_INV:
  case RITZ_BATCHED_GETRI: return n;
  case RITZ_BATCHED_GELS: return m < n ? m : n;
  case RITZ_BATCHED_SYEVJ: return 2 * n * n;
  default: return 0;
  }
}

size_t ritz_ref_batched_work_bytes(const RitzBatched b) {
  const size_t num_pivots = b->operation == RITZ_BATCHED_INV ? (size_t)b->size[RITZ_DIM_N] : 0;
  return count_work(b) * sizeof(double) + num_pivots * sizeof(int32_t);
}

void ritz_ref_batched_run_part(const RitzBatched b, const RitzBatchedCall *call, int64_t begin, int64_t end,
                               void *work) {
  Problem p = {.alpha = call->alpha,
               .beta = call->beta,
               .k1 = call->k1,
               .k2 = call->k2,
               .is_back = call->is_back,
               .work = work};

  if (b->operation == RITZ_BATCHED_INV && work)
    p.pivots = (int32_t *)(void *)((char *)work + count_work(b) * sizeof(double));
  for (int64_t i = begin; i < end; i++) {
    const int32_t info = run_matrix(b, call, i, &p);

    if (call->info) call->info[i] = info;
  }
}

int ritz_ref_batched_run(RitzBatched b, const RitzBatchedCall *call) {
  const size_t bytes = ritz_ref_batched_work_bytes(b);
  char *work = NULL;

  if (bytes > 0) RITZ_TRY(RITZ_MALLOC(b->ceed, bytes, &work));
  ritz_ref_batched_run_part(b, call, 0, call->count, work);
  RITZ_FREE(&work);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_batched_explain(RitzBatched b, FILE *stream) {
  (void)b;
  fprintf(stream, "  plain loops, one matrix after the other\n");
  return CEED_ERROR_SUCCESS;
}
