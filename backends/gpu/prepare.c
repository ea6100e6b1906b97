// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of many operators and of their diagonals, made at the same time. Called through the table of
// /gpu/*/gen.
#include "backends/gpu/context.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"

static void add_kernel(RitzGpuOperator *g, CeedInt *num, RitzGpuOperator **kernels) {
  CeedInt i = 0;
  while (i < *num && kernels[i] != g) i++;
  if (i == *num) kernels[(*num)++] = g;
}

// kernels [3 num]: those that are not loaded yet.
static int list_kernels(CeedInt num, CeedOperator *ops, const int *wanted, CeedInt *num_kernels,
                        RitzGpuOperator **kernels) {
  for (CeedInt i = 0; i < num; i++) {
    RitzGpuOperator *g;
    if (ops[i]->is_at_points) continue;
    RITZ_TRY(ritz_gpu_gen_begin_operator(ops[i], &g));
    if (ritz_gpu_gen_is_pending(g)) add_kernel(g, num_kernels, kernels);
    for (int is_block = 0; is_block < 2; is_block++) {
      RitzGpuOperator *diagonal = NULL;
      if (!(wanted[i] & (is_block ? RITZ_PREPARE_POINT_BLOCKS : RITZ_PREPARE_DIAGONAL))) continue;
      RITZ_TRY(ritz_gpu_diagonal_describe(ops[i], is_block, g, &diagonal));
      if (diagonal) add_kernel(diagonal, num_kernels, kernels);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Waits for all kernels. Those that are not ready then have failed; their first use says why.
static int finish_kernels(CeedInt num_kernels, RitzGpuOperator **kernels) {
  for (CeedInt i = 0; i < num_kernels; i++) {
    struct Ceed_private silent = ritz_gpu_silent_copy(kernels[i]->op->obj.ceed);
    (void)ritz_gpu_kernel_try(&silent, &kernels[i]->kernel);
  }
  for (CeedInt i = 0; i < num_kernels; i++) {
    if (kernels[i]->kernel.state == RITZ_KERNEL_READY)
      RITZ_TRY(ritz_gpu_gen_load(kernels[i]->op, kernels[i]));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted, bool in_background) {
  const Ceed ceed = ops[0]->obj.ceed;
  RitzGpuOperator **kernels = NULL;
  CeedInt num_kernels = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, 3 * (size_t)num, &kernels));
  int ierr = list_kernels(num, ops, wanted, &num_kernels, kernels);
  for (CeedInt i = 0; i < num_kernels && !ierr; i++) ierr = ritz_gpu_gen_begin(kernels[i]->op, kernels[i]);
  if (!ierr && !in_background) ierr = finish_kernels(num_kernels, kernels);
  RITZ_FREE(&kernels);
  return ierr;
}
