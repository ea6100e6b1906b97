// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases at arbitrary points by kernels for any size, kernels/gpu/points-ref.h: weights of all points
// in work memory, then one thread an output. Called by points.c.
#include "backends/gpu/basis.h"
#include "backends/gpu/context.h"
#include "backends/gpu/memory.h"
#include "plan/gpu-at-points.h"

// *table [*K][P_1d] on the device, sent on first use.
static int coefficients_on_device(CeedBasis b, CeedInt *K, const void **table) {
  RitzGpuBasis *data = b->data;
  if (!data->coefficients) {
    CeedScalar *c = NULL;
    RITZ_TRY(ritz_plan_points_coefficients(b, &data->num_coefficients, &c));
    const size_t num_bytes = (size_t)data->num_coefficients * (size_t)b->P_1d * sizeof(*c);
    int ierr = ritz_gpu_upload(b->obj.ceed, num_bytes, c, &data->coefficients);
    RITZ_FREE(&c);
    RITZ_TRY(ierr);
  }
  *K = data->num_coefficients;
  *table = data->coefficients;
  return CEED_ERROR_SUCCESS;
}

// Weights of all places of vectors of points, padding among them.
static int make_weights(CeedBasis b, RitzGpuKernel *kernel, const RitzGpuPoints *points, const CeedScalar *x,
                        void **weights) {
  Ceed ceed = b->obj.ceed;
  const int64_t n = (int64_t)b->dim * b->P_1d * points->distance;
  CeedInt K;
  const void *table;
  RITZ_TRY(coefficients_on_device(b, &K, &table));
  RITZ_TRY(ritz_gpu_work(ceed, RITZ_WORK_BASIS_0, 2 * (size_t)n * sizeof(CeedScalar), weights));
  return RITZ_GPU_RUN(ceed, kernel, "points_weights", RITZ_GPU_BLOCKS(n), RITZ_GPU_BLOCK, RITZ_LONG(n),
                      RITZ_INT(b->P_1d), RITZ_INT(K), RITZ_LONG(points->distance), RITZ_POINTER(table),
                      RITZ_POINTER(x), RITZ_POINTER(*weights));
}

int ritz_gpu_points_run_ref(CeedBasis b, const RitzBasisAction *action, const RitzGpuPoints *points,
                            const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = b->obj.ceed;
  const CeedInt q_comp = action->eval_mode == CEED_EVAL_GRAD ? b->dim : 0;
  RitzGpuKernel *kernel;
  void *w = NULL;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_POINTS, &kernel));
  RITZ_TRY(make_weights(b, kernel, points, x, &w));
  if (action->t_mode == CEED_TRANSPOSE) {
    const int64_t n = ritz_gpu_basis_num_items(b, action->num_elem) * b->P;
    return RITZ_GPU_RUN(ceed, kernel, "points_collect", RITZ_GPU_BLOCKS(n), RITZ_GPU_BLOCK, RITZ_LONG(n),
                        RITZ_INT(action->num_elem), RITZ_INT(b->num_comp), RITZ_INT(q_comp), RITZ_INT(b->dim),
                        RITZ_INT(b->P_1d), RITZ_INT(b->P), RITZ_LONG(points->distance),
                        RITZ_INT(points->first_elem), RITZ_INT(points->origin), RITZ_INT(points->elem_stride),
                        RITZ_INT(action->add), RITZ_POINTER(points->starts), RITZ_POINTER(w), RITZ_POINTER(u),
                        RITZ_POINTER(v));
  }
  const int64_t n = (q_comp ? q_comp : 1) * (int64_t)b->num_comp * points->num_points;
  return RITZ_GPU_RUN(ceed, kernel, "points_evaluate", RITZ_GPU_BLOCKS(n), RITZ_GPU_BLOCK,
                      RITZ_LONG(points->num_points), RITZ_INT(action->num_elem), RITZ_INT(b->num_comp),
                      RITZ_INT(q_comp), RITZ_INT(b->dim), RITZ_INT(b->P_1d), RITZ_INT(b->P),
                      RITZ_LONG(points->distance), RITZ_INT(points->first_elem), RITZ_INT(points->origin),
                      RITZ_INT(points->elem_stride), RITZ_POINTER(points->starts), RITZ_POINTER(w),
                      RITZ_POINTER(u), RITZ_POINTER(v));
}
