// SPDX-License-Identifier: BSD-2-Clause
// Bases on a device: their slots, and the end of the data that a basis keeps there. Called through the
// backend's table and by operator.c.
#include "backends/gpu/basis.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"

int ritz_gpu_basis_destroy(CeedBasis basis) {
  Ceed ceed = basis->obj.ceed;
  RitzGpuBasis *data = basis->data;
  if (!data) return CEED_ERROR_SUCCESS;
  ritz_gpu_free(ceed, &data->weight);
  for (int d = 0; d < RITZ_MAX_GEMM_DIM; d++) {
    for (int j = 0; j < 2; j++) (void)RitzBatchedDestroy(&data->products[d][j]);
  }
  for (int i = 0; i < RITZ_NUM_TABLES; i++) {
    ritz_gpu_free(ceed, &data->tiles[i]);
    for (int j = 0; j < 2; j++) {
      ritz_gpu_free(ceed, &data->table[i][j]);
      ritz_gpu_free(ceed, &data->float_table[i][j]);
      ritz_gpu_kernel_release(ceed, &data->kernel[i][j].kernel);
      ritz_gpu_kernel_release(ceed, &data->at_points[i][j].kernel);
    }
  }
  ritz_gpu_free(ceed, &data->coefficients);
  RITZ_FREE(&data->starts);
  ritz_gpu_free(ceed, &data->starts_on_device);
  RITZ_FREE(&basis->data);
  return CEED_ERROR_SUCCESS;
}

// ---- Slots ----

int ritz_gpu_basis_apply(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  bool is_done = false;
  if (action->num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_basis_open(basis));
  if (ritz_gpu(basis->obj.ceed)->has_basis_kernels && action->eval_mode != CEED_EVAL_WEIGHT)
    RITZ_TRY(ritz_gpu_basis_apply_shared(basis, action, u, v, &is_done));
  return is_done ? CEED_ERROR_SUCCESS : ritz_gpu_basis_apply_ref(basis, action, u, v);
}

int ritz_gpu_basis_apply_by(CeedBasis basis, RitzOperatorRoute route, const RitzBasisAction *action,
                            const CeedScalar *u, CeedScalar *v) {
  const bool is_gemm = route == RITZ_OPERATOR_ROUTE_GEMM_OWN || route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR;
  const CeedEvalMode mode = action->eval_mode;
  if (!is_gemm || mode == CEED_EVAL_WEIGHT || action->num_elem == 0 ||
      (basis->is_tensor && ritz_gpu_basis_shape(basis, mode, false).is_copy))
    return ritz_gpu_basis_apply(basis, action, u, v);
  RITZ_TRY(ritz_gpu_basis_open(basis));
  return ritz_gpu_basis_apply_gemm(basis, action, route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR, u, v);
}

static void explain_mode(CeedBasis basis, CeedEvalMode mode, FILE *stream) {
  const RitzGpuBasisShape shape = ritz_gpu_basis_shape(basis, mode, false);
  fprintf(stream, ", %s: ", mode == CEED_EVAL_INTERP ? "values" : "derivatives");
  if (shape.refusal)
    fprintf(stream, "kernels for any size, because %s", shape.refusal);
  else if (shape.is_copy)
    fprintf(stream, "copied");
  else
    fprintf(stream, "%s, blocks of %d threads for %d components of elements",
            basis->is_tensor ? "compiled" : "by rows of the table", shape.num_threads, shape.num_items);
}

void ritz_gpu_basis_explain(CeedBasis b, RitzOperatorRoute route, FILE *stream) {
  if (b->is_tensor)
    fprintf(stream,
            "%" CeedInt_FMT "D tensor, %" CeedInt_FMT " nodes and %" CeedInt_FMT " points a direction",
            b->dim, b->P_1d, b->Q_1d);
  else
    fprintf(stream, "dense, %" CeedInt_FMT " nodes and %" CeedInt_FMT " points", b->P, b->Q);
  if (route != RITZ_OPERATOR_ROUTE_SEPARATE) {
    ritz_gpu_basis_explain_gemm(b, stream);
  } else if (ritz_gpu(b->obj.ceed)->has_basis_kernels) {
    explain_mode(b, CEED_EVAL_INTERP, stream);
    explain_mode(b, ritz_gpu_basis_derivative(b), stream);
  } else {
    fprintf(stream, ": kernels for any size");
  }
  fprintf(stream, "\n");
}
