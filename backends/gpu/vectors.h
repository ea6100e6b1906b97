// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on device arrays: the vector slots, and passes over vectors (core/vector-pass.h).
#ifndef RITZ_BACKENDS_GPU_VECTORS_H
#define RITZ_BACKENDS_GPU_VECTORS_H

#include "backends/gpu/context.h"

// ---- vector.c: the vector slots, on device arrays ----
int ritz_gpu_vector_set_value(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar value, void *x);
int ritz_gpu_vector_set_value_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                      CeedSize step, CeedScalar value, void *x);
int ritz_gpu_vector_copy_strided(Ceed ceed, CeedScalarType precision, CeedSize start, CeedSize stop,
                                 CeedSize step, const void *x, void *y);
int ritz_gpu_vector_norm(Ceed ceed, CeedScalarType precision, CeedSize n, CeedNormType type, const void *x,
                         CeedScalar *norm);
int ritz_gpu_vector_scale(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, void *x);
int ritz_gpu_vector_filter(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar threshold, void *x);
int ritz_gpu_vector_axpby(Ceed ceed, CeedScalarType precision, CeedSize n, CeedScalar alpha, CeedScalar beta,
                          const void *x, void *y);
int ritz_gpu_vector_pointwise_mult(Ceed ceed, CeedScalarType precision, CeedSize n, const void *x,
                                   const void *y, void *w);
int ritz_gpu_vector_reciprocal(Ceed ceed, CeedScalarType precision, CeedSize n, void *x);
int ritz_gpu_vector_convert(Ceed ceed, CeedSize n, CeedScalarType from, const void *x, CeedScalarType to,
                            void *y);

// ---- pass.c: passes over vectors (core/vector-pass.h) ----
void ritz_gpu_passes_destroy(Ceed ceed);
int ritz_gpu_vector_pass(Ceed ceed, const RitzPassArrays *arrays, const double *factors, double *sums);
int ritz_gpu_vector_pass_by(Ceed ceed, const RitzPassArrays *arrays, const RitzFactor *factors,
                            double *scalars, CeedInt first_sum);
int ritz_gpu_passes_prepare(Ceed ceed, int num, const RitzPassForm *forms);
int ritz_gpu_vector_set_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                const CeedScalar *values, double value, void *x);
int ritz_gpu_vector_copy_entries(Ceed ceed, CeedScalarType precision, int64_t num, const int64_t *entries,
                                 const void *x, void *y);
// For other kernels with sums: the number of blocks for so many items; the memory of kernels/gpu/pass.h.
int64_t ritz_gpu_pass_blocks(Ceed ceed, int64_t num_items);
int ritz_gpu_pass_memory(Ceed ceed, double **partial, unsigned **arrived);
// base-kernels.c. The first puts a text behind kernels/gpu/pass.h; the second follows every launch of a
// kernel of it and adds its sums up to the numbers from first_sum on.
RitzGpuText ritz_gpu_pass_text(Ceed ceed, const char *name, const char *text);
int ritz_gpu_pass_finish(Ceed ceed, RitzGpuKernel *kernel, int num_sums, int64_t num_blocks,
                         CeedInt first_sum, double *scalars);
// Moments: a copy on a stream of its own, which waits for the last mark alone.
int ritz_gpu_mark_moment(Ceed ceed, bool *is_marked);
int ritz_gpu_read_marked(Ceed ceed, size_t num_bytes, void *host, const void *device);

#endif
