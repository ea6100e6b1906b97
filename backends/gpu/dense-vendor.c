// SPDX-License-Identifier: BSD-2-Clause
// Factorizations of the dense solver by the vendor's library, cuSOLVER on CUDA (contract in
// backends/gpu/dense-vendor.h), in the stream of the context.
#include "backends/gpu/dense-vendor.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"
#include "devices/cusolver.h"

struct RitzGpuDenseVendor {
  RitzCusolver solver; // owned
  int64_t n;
  int64_t *pivots; // owned, device memory: [n], behind them the info
  void *work[RITZ_CUSOLVER_NUM_WORK];
  size_t num_bytes[RITZ_CUSOLVER_NUM_WORK]; // of work, owned
  RitzGpuKernel take[2];                    // owned; NONE: not yet
};

const char *ritz_gpu_dense_vendor_find(Ceed ceed, const char **why) {
  if (ritz_gpu(ceed)->driver == &ritz_cuda) return ritz_cusolver_find(why);
  *why = "it is for CUDA devices, and this one is another driver's";
  return NULL;
}

// ---- Memory ----

void ritz_gpu_dense_vendor_destroy(Ceed ceed, RitzGpuDenseVendor **vendor) {
  RitzGpuDenseVendor *old = *vendor;
  void *pivots = old ? old->pivots : NULL;
  if (!old) return;
  ritz_cusolver_destroy(ceed, &old->solver);
  ritz_gpu_free(ceed, &pivots);
  ritz_gpu_free(ceed, &old->work[RITZ_CUSOLVER_DEVICE]);
  RITZ_FREE(&old->work[RITZ_CUSOLVER_HOST]);
  for (int i = 0; i < 2; i++) ritz_gpu_kernel_release(ceed, &old->take[i]);
  RITZ_FREE(vendor);
}

static size_t pivot_bytes(const RitzGpuDenseVendor *vendor) {
  return (size_t)(vendor->n + 1) * sizeof(int64_t);
}

size_t ritz_gpu_dense_vendor_bytes(const RitzGpuDenseVendor *vendor) {
  return vendor ? vendor->num_bytes[RITZ_CUSOLVER_DEVICE] + pivot_bytes(vendor) : 0;
}

static int create_dense_vendor(Ceed ceed, int64_t n, RitzGpuDenseVendor *vendor) {
  void *pivots;
  vendor->n = n;
  RITZ_TRY(ritz_gpu_alloc(ceed, pivot_bytes(vendor), &pivots));
  vendor->pivots = pivots;
  return ritz_cusolver_create(ceed, ritz_gpu(ceed)->device, &vendor->solver);
}

static int find_vendor(Ceed ceed, int64_t n, RitzGpuDenseVendor **vendor) {
  if (*vendor) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, vendor));
  const int ierr = create_dense_vendor(ceed, n, *vendor);
  if (ierr) ritz_gpu_dense_vendor_destroy(ceed, vendor);
  return ierr;
}

// Memory to work in, which grows to the largest that was needed.
static int grow(Ceed ceed, RitzGpuDenseVendor *vendor, int which, size_t num_bytes) {
  if (num_bytes <= vendor->num_bytes[which]) return CEED_ERROR_SUCCESS;
  vendor->num_bytes[which] = 0;
  if (which == RITZ_CUSOLVER_DEVICE) {
    ritz_gpu_free(ceed, &vendor->work[which]);
    RITZ_TRY(ritz_gpu_alloc(ceed, num_bytes, &vendor->work[which]));
  } else {
    RITZ_FREE(&vendor->work[which]);
    RITZ_TRY(ritz_malloc(ceed, num_bytes, 1, &vendor->work[which]));
  }
  vendor->num_bytes[which] = num_bytes;
  return CEED_ERROR_SUCCESS;
}

// ---- Factorizations ----

static int take_factors(Ceed ceed, RitzGpuDenseVendor *vendor, const RitzGpuDenseFactors *f,
                        const RitzCusolverMatrix *m) {
  RitzGpuKernel *kernel = &vendor->take[f->is_double];
  const RitzGpuText text = {
      .name = "dense-vendor",
      .num = 1,
      .texts = {f->is_double ? "#include \"kernels/gpu/dense-vendor.h\"\n"
                             : "#define RITZ_ENTRY_F32\n#include \"kernels/gpu/dense-vendor.h\"\n"}};
  RITZ_TRY(ritz_gpu_kernel_describe(ceed, &text, kernel));
  return RITZ_GPU_RUN(ceed, kernel, "ritz_take_factors", 1, 256, RITZ_INT((int)f->n), RITZ_LONG(f->ld),
                      RITZ_POINTER(f->F), RITZ_POINTER(m->pivots), RITZ_POINTER(m->info),
                      RITZ_POINTER(f->pivots), RITZ_POINTER(f->bad));
}

static int check_info(Ceed ceed, const RitzCusolverMatrix *m) {
  int info = 0;
  RITZ_TRY(ritz_gpu_copy_out(ceed, sizeof(info), &info, m->info));
  RITZ_REQUIRE(info >= 0, ceed, CEED_ERROR_BACKEND, "%s: argument %d is refused for order %lld",
               m->is_symmetric ? "cusolverDnXpotrf" : "cusolverDnXgetrf", -info, (long long)m->n);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_dense_vendor_factor(Ceed ceed, const RitzGpuDenseFactors *f, RitzGpuDenseVendor **vendor) {
  RITZ_TRY(find_vendor(ceed, f->n, vendor));
  RitzGpuDenseVendor *v = *vendor;
  const RitzCusolverMatrix m = {.is_symmetric = f->is_symmetric,
                                .is_double = f->is_double,
                                .n = f->n,
                                .ld = f->ld,
                                .F = f->F,
                                .pivots = f->is_symmetric ? NULL : v->pivots,
                                .info = (int *)(void *)(v->pivots + f->n)};
  size_t num_bytes[RITZ_CUSOLVER_NUM_WORK] = {0};
  RITZ_TRY(ritz_cusolver_bytes(ceed, v->solver, &m, num_bytes));
  for (int i = 0; i < RITZ_CUSOLVER_NUM_WORK; i++) RITZ_TRY(grow(ceed, v, i, num_bytes[i]));
  RITZ_TRY(ritz_cusolver_factor(ceed, v->solver, ritz_gpu(ceed)->stream, &m, v->num_bytes, v->work));
  RITZ_TRY(take_factors(ceed, v, f, &m));
  return check_info(ceed, &m);
}
