// SPDX-License-Identifier: BSD-2-Clause
// Calls of batched operations: one public function each, arrays of vectors, infos. Checks once, then the slot
// batched_run of the backend.
#include "core/batched.h"
#include "core/profile.h"

// ---- Arrays of vectors ----

int RitzBatchArrayFromVector(CeedVector vec, RitzAccess access, RitzBatchArray *array) {
  RITZ_HANDLE(vec);
  Ceed ceed = vec->obj.ceed;
  void *base = NULL;

  RITZ_ARGUMENT(ceed, array);
  RITZ_REQUIRE((int)access >= 0 && access <= RITZ_ACCESS_READ_WRITE, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: access is %d, needed one of the enumerators of RitzAccess", __func__, (int)access);
  RITZ_TRY(ritz_vector_lock(vec, access, ceed->backend.mem_type, &base));
  *array = (RitzBatchArray){.base = base, .vector = vec, .access = access};
  return CEED_ERROR_SUCCESS;
}

int RitzBatchArrayRestoreVector(RitzBatchArray *array) {
  RITZ_HANDLE(array);
  CeedVector vector = array->vector;

  RITZ_TRY(ritz_check_handle(NULL, __func__, "array->vector", vector, &ritz_vector_class));
  RITZ_TRY(ritz_vector_unlock(vector, array->access, &array->base, CEED_ERROR_SUCCESS));
  array->vector = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Infos ----

static void find_failure(const int32_t *info, int64_t first, int64_t num, int64_t *index, int32_t *value) {
  for (int64_t i = 0; i < num && *index < 0; i++) {
    if (info[i] == 0) continue;
    *index = first + i;
    *value = info[i];
  }
}

// In parts, so that the host's memory is bounded.
static int find_on_device(Ceed ceed, const int32_t *info, int64_t count, int64_t *index, int32_t *value) {
  enum { PART = 1 << 16 };
  const int64_t most = count < PART ? count : PART;
  int32_t *part = NULL;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)most, &part));
  int ierr = CEED_ERROR_SUCCESS;
  for (int64_t first = 0; first < count && *index < 0 && !ierr; first += PART) {
    const int64_t num = count - first < PART ? count - first : PART;

    ierr = ceed->backend.rep_copy(ceed, (size_t)num * sizeof(*part), RITZ_REP_HOST, part, RITZ_REP_DEVICE,
                                  info + first);
    if (!ierr) find_failure(part, first, num, index, value);
  }
  RITZ_FREE(&part);
  return ierr;
}

int RitzBatchedGetFirstFailure(RitzBatched batched, const int32_t *info, int64_t count, int64_t *index,
                               int32_t *value) {
  RITZ_HANDLE(batched);
  Ceed ceed = batched->ceed;

  RITZ_ARGUMENT(ceed, index);
  RITZ_ARGUMENT(ceed, value);
  RITZ_REQUIRE(count >= 0, ceed, CEED_ERROR_DIMENSION, "%s: count is %lld, needed at least 0", __func__,
               (long long)count);
  *index = -1;
  *value = 0;
  if (count == 0) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT(ceed, info);
  if (ceed->backend.mem_type == CEED_MEM_DEVICE) {
    RITZ_TRY(ceed->backend.rep_accept(ceed, __func__, RITZ_REP_DEVICE, (size_t)count * sizeof(*info), false,
                                      info));
    return find_on_device(ceed, info, count, index, value);
  }
  find_failure(info, 0, count, index, value);
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

// Factor of n^3 or of the sizes in multiply-adds, times two; bytes of all operands, those written twice.
static void estimate(RitzBatched b, int64_t count, RitzOperatorCost *cost) {
  const double m = b->size[RITZ_DIM_M], n = b->size[RITZ_DIM_N], k = b->size[RITZ_DIM_K];
  double flops = 0, bytes = 0;

  switch (b->operation) {
  case RITZ_BATCHED_GEMM: flops = 2 * m * n * k; break;
  case RITZ_BATCHED_GEMV: flops = 2 * m * n; break;
  case RITZ_BATCHED_POTRF: flops = n * n * n / 3; break;
  case RITZ_BATCHED_GETRF: flops = m < n ? m * m * (n - m / 3) : n * n * (m - n / 3); break;
  case RITZ_BATCHED_POTRS:
  case RITZ_BATCHED_GETRS: flops = 2 * n * n * k; break;
  case RITZ_BATCHED_GETRI: flops = 4 * n * n * n / 3; break;
  case RITZ_BATCHED_INV: flops = 2 * n * n * n; break;
  case RITZ_BATCHED_TRMM:
  case RITZ_BATCHED_TRSM: flops = m * n * (b->options.side == RITZ_SIDE_LEFT ? m : n); break;
  case RITZ_BATCHED_TRSV: flops = n * n; break;
  case RITZ_BATCHED_SYRK: flops = n * (n + 1) * k; break;
  case RITZ_BATCHED_SYMM: flops = 2 * m * n * (b->options.side == RITZ_SIDE_LEFT ? m : n); break;
  case RITZ_BATCHED_SYMV: flops = 2 * n * n; break;
  case RITZ_BATCHED_GESV: flops = 2 * n * n * n / 3 + 2 * n * n * k; break;
  case RITZ_BATCHED_POSV: flops = n * n * n / 3 + 2 * n * n * k; break;
  case RITZ_BATCHED_GEQRF:
  case RITZ_BATCHED_GELS: flops = m < n ? 2 * m * m * (n - m / 3) : 2 * n * n * (m - n / 3); break;
  case RITZ_BATCHED_ORMQR:
    flops = k > 0 ? 2 * m * n * k * (2 - k / (b->options.side == RITZ_SIDE_LEFT ? m : n)) : 0;
    break;
  case RITZ_BATCHED_ORGQR: flops = 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3; break;
  case RITZ_BATCHED_GEAM: flops = 3 * m * n; break;
  case RITZ_BATCHED_LASWP:
  case RITZ_BATCHED_COPY:
  case RITZ_BATCHED_LASET: break;
  // Sweeps are as many as the matrix needs: six, as small random matrices do.
  case RITZ_BATCHED_SYEVJ: flops = 6 * 9 * n * n * n; break;
  case RITZ_BATCHED_GESVDJ: flops = 6 * (7 * m + 3 * n) * n * n; break;
  }
  if (b->operation == RITZ_BATCHED_GELS) flops += 4 * m * n * k;
  for (CeedInt i = 0; i < b->form.num_operands; i++) {
    const RitzBatchLayout *l = ritz_batched_layout(&b->options, i);
    bytes += (double)l->m * l->n * (b->form.operand[i].is_written ? 2 : 1) *
             (double)ritz_scalar_bytes(l->precision);
  }
  *cost = (RitzOperatorCost){.flops = flops * (double)count,
                             .bytes = bytes * (double)count,
                             .is_single = b->precision == CEED_SCALAR_FP32};
}

static int run_timed(RitzBatched b, const RitzBatchedCall *call) {
  RitzProfilePass row = {.name = ritz_batched_root(b->operation), .size = (CeedSize)call->count};
  double begin;

  if (!b->ceed->profile) return b->server->batched_run(b, call);
  estimate(b, call->count, &row.cost);
  if (CEED_SCALAR_TYPE == CEED_SCALAR_FP64 && row.cost.is_single) row.precisions = "FP32";
  RITZ_TRY(ritz_profile_begin(b->ceed, &begin));
  return ritz_profile_end_pass(b->ceed, &row, begin, b->server->batched_run(b, call));
}

static int check_workspace(RitzBatched b, const char *name, int64_t count) {
  size_t needed = 0;

  if (!b->workspace) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzBatchedGetWorkspace(b, count, &needed));
  RITZ_REQUIRE(needed <= b->workspace_bytes, b->ceed, CEED_ERROR_DIMENSION,
               "%s: the workspace has %zu bytes, needed %zu for %lld matrices", name, b->workspace_bytes,
               needed, (long long)count);
  return CEED_ERROR_SUCCESS;
}

// ipiv and info, where there are entries of them: on devices they are device memory.
static int check_numbers(RitzBatched b, const char *name, const RitzBatchedCall *call) {
  Ceed ceed = b->ceed;
  const int64_t num_pivots = call->count * b->ipiv_stride;

  RITZ_REQUIRE(!b->form.has_pivots || call->ipiv || num_pivots == 0, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: argument 'ipiv' is NULL, needed the pivots of %lld matrices", name,
               (long long)call->count);
  if (ceed->backend.mem_type == CEED_MEM_HOST || call->count == 0) return CEED_ERROR_SUCCESS;
  if (call->ipiv && num_pivots > 0)
    RITZ_TRY(ceed->backend.rep_accept(ceed, name, RITZ_REP_DEVICE, (size_t)num_pivots * sizeof(int32_t),
                                      false, call->ipiv));
  if (!call->info) return CEED_ERROR_SUCCESS;
  return ceed->backend.rep_accept(ceed, name, RITZ_REP_DEVICE, (size_t)call->count * sizeof(int32_t), false,
                                  call->info);
}

static bool is_analyzed(const RitzBatched b, const RitzBatchedCall *call) {
  if (b->analyzed_count != call->count) return false;
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    if (b->analyzed[d] != call->sizes[d]) return false;
  }
  return true;
}

// Checks and runs a call of any operation; arrays [num_operands].
static int run_batched(RitzBatched b, const char *name, RitzBatchedOperation operation,
                       const RitzBatchArray *const *arrays, RitzBatchedCall call) {
  static const char *const letters[] = {"A", "B", "C"};

  RITZ_REQUIRE(b->operation == operation, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the object is one of Ritz%sBatched, needed one of Ritz%sBatched", name,
               ritz_batched_root(b->operation), ritz_batched_root(operation));
  RITZ_REQUIRE(call.count >= 0, b->ceed, CEED_ERROR_DIMENSION, "%s: count is %lld, needed at least 0", name,
               (long long)call.count);
  for (CeedInt i = 0; i < b->form.num_operands; i++)
    RITZ_TRY(ritz_check_handle(b->ceed, name, letters[i], arrays[i], NULL));
  if (!b->form.has_pivots) call.ipiv = NULL;
  RITZ_TRY(ritz_batched_resolve(b, name, arrays, &call));
  RITZ_TRY(check_numbers(b, name, &call));
  RITZ_TRY(check_workspace(b, name, call.count));
  if (call.count == 0) return CEED_ERROR_SUCCESS;
  call.is_analyzed = is_analyzed(b, &call);
  return run_timed(b, &call);
}

#define ARRAYS(...) ((const RitzBatchArray *const[]){__VA_ARGS__})

static int run_product(RitzBatched batched, const char *call, RitzBatchedOperation operation,
                       const RitzBatchArray *const arrays[], int64_t count, double alpha, double beta) {
  RITZ_HANDLE_OF(call, batched);
  return run_batched(batched, call, operation, arrays,
                     (RitzBatchedCall){.count = count, .alpha = alpha, .beta = beta});
}

int RitzGemmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *B, double beta, const RitzBatchArray *C) {
  return run_product(batched, __func__, RITZ_BATCHED_GEMM, ARRAYS(A, B, C), count, alpha, beta);
}

int RitzGemvBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *x, double beta, const RitzBatchArray *y) {
  return run_product(batched, __func__, RITZ_BATCHED_GEMV, ARRAYS(A, x, y), count, alpha, beta);
}

int RitzPotrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_POTRF, ARRAYS(A),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzPotrsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *B,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_POTRS, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzGetrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *ipiv,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GETRF, ARRAYS(A),
                     (RitzBatchedCall){.count = count, .alpha = 1, .ipiv = ipiv, .info = info});
}

// Pivots are read alone.
int RitzGetrsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *LU, const int32_t *ipiv,
                     const RitzBatchArray *B, int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GETRS, ARRAYS(LU, B),
                     (RitzBatchedCall){.count = count, .alpha = 1, .ipiv = (int32_t *)ipiv, .info = info});
}

int RitzGetriBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const int32_t *ipiv,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GETRI, ARRAYS(A),
                     (RitzBatchedCall){.count = count, .alpha = 1, .ipiv = (int32_t *)ipiv, .info = info});
}

int RitzInvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *X,
                   int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_INV, ARRAYS(A, X),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzTrsmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *B) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_TRSM, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = alpha});
}

int RitzTrsvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *x) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_TRSV, ARRAYS(A, x),
                     (RitzBatchedCall){.count = count, .alpha = 1});
}

// ---- Products with symmetric and triangular matrices ----

int RitzSyrkBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A, double beta,
                    const RitzBatchArray *C) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_SYRK, ARRAYS(A, C),
                     (RitzBatchedCall){.count = count, .alpha = alpha, .beta = beta});
}

int RitzSymmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *B, double beta, const RitzBatchArray *C) {
  return run_product(batched, __func__, RITZ_BATCHED_SYMM, ARRAYS(A, B, C), count, alpha, beta);
}

int RitzSymvBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *x, double beta, const RitzBatchArray *y) {
  return run_product(batched, __func__, RITZ_BATCHED_SYMV, ARRAYS(A, x, y), count, alpha, beta);
}

int RitzTrmmBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A,
                    const RitzBatchArray *B) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_TRMM, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = alpha});
}

// ---- Solves of one call, swaps ----

int RitzGesvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t *ipiv,
                    const RitzBatchArray *B, int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GESV, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = 1, .ipiv = ipiv, .info = info});
}

int RitzPosvBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *B,
                    int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_POSV, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzLaswpBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, int32_t k1, int32_t k2,
                     const int32_t *ipiv, int32_t increment) {
  RITZ_HANDLE(batched);
  Ceed ceed = batched->ceed;
  const CeedInt m = batched->size[RITZ_DIM_M], most = m < batched->ipiv_stride ? m : batched->ipiv_stride;

  RITZ_REQUIRE(increment == 1 || increment == -1, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the increment is %d, needed 1 or -1", __func__, (int)increment);
  // An object of another operation is refused below.
  RITZ_REQUIRE(batched->operation != RITZ_BATCHED_LASWP || k2 < k1 || (k1 >= 1 && k2 <= most), ceed,
               CEED_ERROR_DIMENSION, "%s: steps %d to %d, needed them within 1 to %" CeedInt_FMT, __func__,
               (int)k1, (int)k2, most);
  return run_batched(
      batched, __func__, RITZ_BATCHED_LASWP, ARRAYS(A),
      (RitzBatchedCall){
          .count = count, .alpha = 1, .ipiv = (int32_t *)ipiv, .k1 = k1, .k2 = k2, .is_back = increment < 0});
}

// ---- Orthogonal factors ----

int RitzGeqrfBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *tau,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GEQRF, ARRAYS(A, tau),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzOrmqrBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *tau,
                     const RitzBatchArray *C, int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_ORMQR, ARRAYS(A, tau, C),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzOrgqrBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *tau,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_ORGQR, ARRAYS(A, tau),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzGelsBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *B,
                    int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GELS, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

// ---- Copies, sums, constants ----

int RitzCopyBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *B) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_COPY, ARRAYS(A, B),
                     (RitzBatchedCall){.count = count, .alpha = 1});
}

int RitzGeamBatched(RitzBatched batched, int64_t count, double alpha, const RitzBatchArray *A, double beta,
                    const RitzBatchArray *B, const RitzBatchArray *C) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GEAM, ARRAYS(A, B, C),
                     (RitzBatchedCall){.count = count, .alpha = alpha, .beta = beta});
}

int RitzLasetBatched(RitzBatched batched, int64_t count, double alpha, double beta, const RitzBatchArray *A) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_LASET, ARRAYS(A),
                     (RitzBatchedCall){.count = count, .alpha = alpha, .beta = beta});
}

// ---- Eigenvalues and singular values ----

int RitzSyevjBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *w,
                     int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_SYEVJ, ARRAYS(A, w),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}

int RitzGesvdjBatched(RitzBatched batched, int64_t count, const RitzBatchArray *A, const RitzBatchArray *s,
                      const RitzBatchArray *V, int32_t *info) {
  RITZ_HANDLE(batched);
  return run_batched(batched, __func__, RITZ_BATCHED_GESVDJ, ARRAYS(A, s, V),
                     (RitzBatchedCall){.count = count, .alpha = 1, .info = info});
}
