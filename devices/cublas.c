// SPDX-License-Identifier: BSD-2-Clause
// cuBLAS (contract in devices/cublas.h): GEMM and its strided batches, as its manual has them, "cuBLAS
// Level-3 Function Reference" and "BLAS-like Extension". Factors are numbers of the host, the default of a
// handle; products of floats are of floats, too, as long as nobody asks for TF32.
#include "devices/cublas.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/memory.h"
#include "devices/cuda-api.h"
#include "devices/cuda.h"
#include "devices/vendor.h"

// ---- The library ----

// Handles and streams are pointers; operations: 0 as it is, 1 transposed.
#define CUBLAS_GEMM(real)                                                                                    \
  (void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, const void *A, int ld_a,        \
   const void *B, int ld_b, const real *beta, void *C, int ld_c)
#define CUBLAS_BATCH(real)                                                                                   \
  (void *handle, int op_a, int op_b, int m, int n, int k, const real *alpha, const void *A, int ld_a,        \
   long long stride_a, const void *B, int ld_b, long long stride_b, const real *beta, void *C, int ld_c,     \
   long long stride_c, int count)
#define CUBLAS_FUNCTIONS(F)                                                                                  \
  F(create, cublasCreate_v2, (void **handle))                                                                \
  F(destroy, cublasDestroy_v2, (void *handle))                                                               \
  F(set_stream, cublasSetStream_v2, (void *handle, void *stream))                                            \
  F(dgemm, cublasDgemm_v2, CUBLAS_GEMM(double))                                                              \
  F(sgemm, cublasSgemm_v2, CUBLAS_GEMM(float))                                                               \
  F(dgemm_batch, cublasDgemmStridedBatched, CUBLAS_BATCH(double))                                            \
  F(sgemm_batch, cublasSgemmStridedBatched, CUBLAS_BATCH(float))

static struct { CUBLAS_FUNCTIONS(RITZ_VENDOR_FIELD) } api;

static const char *take_functions(void *library) {
  const char *missing = NULL;
#define FIND(name, symbol, args) RITZ_VENDOR_TAKE(api, name, symbol);
  CUBLAS_FUNCTIONS(FIND)
#undef FIND
  return missing;
}

static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                    NULL};
static RitzVendor cublas = {
    .variable = ENV_RITZ_CUBLAS, .names = names, .take = take_functions, .symbol = "cublasDgemm_v2"};

const char *ritz_cublas_find(const char **why) { return ritz_vendor_find(&cublas, why); }

// ---- Calls ----

struct RitzCublas_private {
  RitzDevice device;
  void *handle; // owned; NULL: not there
};

enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 3 };

static const char *status_words(int status) {
  switch (status) {
  case NOT_INITIALIZED: return "not initialized";
  case ALLOC_FAILED: return "memory is short";
  case 7: return "a value is not valid";
  case 8: return "architecture";
  case 11: return "no mapping";
  case 13: return "execution failed";
  case 14: return "internal error";
  case 15: return "it is not supported";
  default: return "unknown status";
  }
}

static int check_cublas(Ceed ceed, int status, const char *call) {
  RITZ_REQUIRE(!status, ceed, status == ALLOC_FAILED ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND,
               "%s: %s (status %d of %s)", call, status_words(status), status, cublas.file);
  return CEED_ERROR_SUCCESS;
}

int ritz_cublas_create(Ceed ceed, RitzDevice device, RitzCublas *blas) {
  RitzCublas created = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  created->device = device;
  int ierr = ritz_cuda_enter(ceed, device);
  if (!ierr) {
    ierr = check_cublas(ceed, api.create(&created->handle), "cublasCreate");
    ritz_cuda_leave();
  }
  if (ierr) ritz_cublas_destroy(ceed, &created);
  *blas = created;
  return ierr;
}

// Errors are ignored: a driver that has shut down has freed everything.
void ritz_cublas_destroy(Ceed ceed, RitzCublas *blas) {
  RitzCublas old = *blas;

  if (!old) return;
  if (old->handle && !ritz_cuda_enter(ceed, old->device)) {
    (void)api.destroy(old->handle);
    ritz_cuda_leave();
  }
  RITZ_FREE(blas);
}

static int multiply_doubles(void *handle, const RitzCublasProduct *p) {
  const double one = 1, beta = p->adds;
  if (p->count > 1)
    return api.dgemm_batch(handle, p->is_transposed[0], p->is_transposed[1], p->m, p->n, p->k, &one, p->A,
                           p->ld[0], p->stride[0], p->B, p->ld[1], p->stride[1], &beta, p->C, p->ld[2],
                           p->stride[2], p->count);
  return api.dgemm(handle, p->is_transposed[0], p->is_transposed[1], p->m, p->n, p->k, &one, p->A, p->ld[0],
                   p->B, p->ld[1], &beta, p->C, p->ld[2]);
}

static int multiply_floats(void *handle, const RitzCublasProduct *p) {
  const float one = 1, beta = p->adds;
  if (p->count > 1)
    return api.sgemm_batch(handle, p->is_transposed[0], p->is_transposed[1], p->m, p->n, p->k, &one, p->A,
                           p->ld[0], p->stride[0], p->B, p->ld[1], p->stride[1], &beta, p->C, p->ld[2],
                           p->stride[2], p->count);
  return api.sgemm(handle, p->is_transposed[0], p->is_transposed[1], p->m, p->n, p->k, &one, p->A, p->ld[0],
                   p->B, p->ld[1], &beta, p->C, p->ld[2]);
}

static const char *name_of(const RitzCublasProduct *p) {
  if (p->is_double) return p->count > 1 ? "cublasDgemmStridedBatched" : "cublasDgemm";
  return p->count > 1 ? "cublasSgemmStridedBatched" : "cublasSgemm";
}

int ritz_cublas_multiply(Ceed ceed, RitzCublas blas, RitzDeviceStream stream, const RitzCublasProduct *p) {
  RITZ_TRY(ritz_cuda_enter(ceed, blas->device));
  int status = api.set_stream(blas->handle, stream);
  if (!status) status = (p->is_double ? multiply_doubles : multiply_floats)(blas->handle, p);
  ritz_cuda_leave();
  return check_cublas(ceed, status, name_of(p));
}
