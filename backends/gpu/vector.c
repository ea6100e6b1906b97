// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on device arrays: the vector slots of the GPU backends. Kernels: kernels/gpu/vector.h.
#include <math.h>
#include <stdio.h>

#include "backends/gpu/memory.h"
#include "backends/gpu/vectors.h"

// Blocks beyond these would wait for others to end: threads take several entries instead.
enum { max_blocks = 1 << 12 };

static int64_t num_blocks(CeedSize n) {
  int64_t blocks = RITZ_GPU_BLOCKS(n);
  return blocks < max_blocks ? blocks : max_blocks;
}

// A kernel of kernels/gpu/vector.h for this precision.
static int run_gpu_vector(Ceed ceed, CeedScalarType precision, const char *entry, int64_t blocks,
                          int num_args, const RitzDeviceArg *args) {
  const bool is_in_scalars = precision == CEED_SCALAR_TYPE;
  RitzGpuKernel *kernel;
  char name[32];
  RITZ_TRY(ritz_gpu_base(ceed, is_in_scalars ? RITZ_BASE_VECTORS : RITZ_BASE_FLOATS, &kernel));
  snprintf(name, sizeof(name), "%s%s", entry, is_in_scalars ? "" : "_f32");
  return ritz_gpu_launch(ceed, kernel, name, blocks, RITZ_GPU_BLOCK, 0, num_args, args);
}

#define RUN(ceed, precision, entry, n, ...)                                                                  \
  run_gpu_vector(ceed, precision, entry, num_blocks(n),                                                      \
                 (int)(sizeof((const RitzDeviceArg[]){RITZ_LONG(n), __VA_ARGS__}) / sizeof(RitzDeviceArg)),  \
                 (const RitzDeviceArg[]){RITZ_LONG(n), __VA_ARGS__})

// ---- Entries by themselves ----

static CeedSize num_steps(CeedSize start, CeedSize stop, CeedSize step) {
  return stop > start ? (stop - start - 1) / step + 1 : 0;
}

int ritz_gpu_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x) {
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (n > 0 && value == 0 && !signbit(value)) // the driver's own way, for the outputs of operators
    return gpu->driver->clear(ceed, gpu->device, gpu->stream, (size_t)n * ritz_scalar_bytes(precision), x);
  return ritz_gpu_vector_set_value_strided(ceed, precision, 0, n, 1, value, x);
}

int ritz_gpu_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x) {
  return RUN(ceed, precision, "vector_set_value", num_steps(start, stop, step), RITZ_LONG(start),
             RITZ_LONG(step), RITZ_SCALAR(value), RITZ_POINTER(x));
}

int ritz_gpu_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y) {
  return RUN(ceed, precision, "vector_copy", num_steps(start, stop, step), RITZ_LONG(start), RITZ_LONG(step),
             RITZ_POINTER(x), RITZ_POINTER(y));
}

int ritz_gpu_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x) {
  return RUN(ceed, precision, "vector_scale", n, RITZ_SCALAR(alpha), RITZ_POINTER(x));
}

int ritz_gpu_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x) {
  return RUN(ceed, precision, "vector_filter", n, RITZ_SCALAR(threshold), RITZ_POINTER(x));
}

int ritz_gpu_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y) {
  return RUN(ceed, precision, "vector_axpby", n, RITZ_SCALAR(alpha), RITZ_SCALAR(beta), RITZ_POINTER(x),
             RITZ_POINTER(y));
}

int ritz_gpu_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w) {
  return RUN(ceed, precision, "vector_pointwise_mult", n, RITZ_POINTER(x), RITZ_POINTER(y), RITZ_POINTER(w));
}

int ritz_gpu_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x) {
  return RUN(ceed, precision, "vector_reciprocal", n, RITZ_POINTER(x));
}

// One of the two is CeedScalar.
int ritz_gpu_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y) {
  const char *const entry = from == CEED_SCALAR_FP32 ? "vector_widen" : "vector_narrow";
  RitzGpuKernel *kernel;
  (void)to;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_FLOAT_ENTRIES, &kernel));
  return RITZ_GPU_RUN(ceed, kernel, entry, num_blocks(n), RITZ_GPU_BLOCK, RITZ_LONG(n), RITZ_POINTER(x),
                      RITZ_POINTER(y));
}

// ---- Norms ----

enum { max_partial = 1024 }; // blocks of a reduction

typedef struct {
  double sum, largest, squares; // of |x|, |x|, (factor x)^2
} Sums;

// Sums over x. Partial sums are added in the order of blocks, so the same n and x give the same bits.
static int reduce(Ceed ceed, CeedScalarType precision, CeedSize n, double factor, const void *x,
                  Sums *total) {
  Sums partial[max_partial];
  int64_t blocks = RITZ_GPU_BLOCKS(n) < max_partial ? RITZ_GPU_BLOCKS(n) : max_partial;
  size_t num_bytes = (size_t)blocks * sizeof(Sums);
  void *work;
  RITZ_TRY(ritz_gpu_work(ceed, RITZ_WORK_REDUCTION, num_bytes, &work));
  const RitzDeviceArg args[] = {RITZ_LONG(n), RITZ_SCALAR((CeedScalar)factor), RITZ_POINTER(x),
                                RITZ_POINTER(work)};
  RITZ_TRY(run_gpu_vector(ceed, precision, "vector_norm", blocks, 4, args));
  RITZ_TRY(ritz_gpu_copy_out(ceed, num_bytes, partial, work));
  *total = (Sums){0};
  for (int64_t b = 0; b < blocks; b++) {
    total->sum += partial[b].sum;
    total->largest = fmax(total->largest, partial[b].largest);
    total->squares += partial[b].squares;
  }
  return CEED_ERROR_SUCCESS;
}

// Squares of the largest entry must neither over- nor underflow; else a second pass scales by a power of two.
// Entries in single precision are never so large or small.
static int norm_2(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x, Sums *sums, double *norm) {
  int exponent = sums->largest > 1e140 ? -600 : sums->largest < 1e-140 && sums->largest > 0 ? 600 : 0;
  if (exponent != 0) RITZ_TRY(reduce(ceed, precision, n, ldexp(1, exponent), x, sums));
  *norm = ldexp(sqrt(sums->squares), -exponent);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *norm) {
  Sums sums;
  RITZ_TRY(reduce(ceed, precision, n, 1, x, &sums));
  // A NaN or an infinity makes the sum one, and with it every norm.
  double result = type == CEED_NORM_MAX && isfinite(sums.sum) ? sums.largest : sums.sum;
  if (type == CEED_NORM_2 && isfinite(sums.sum)) RITZ_TRY(norm_2(ceed, precision, n, x, &sums, &result));
  *norm = (CeedScalar)result;
  return CEED_ERROR_SUCCESS;
}
