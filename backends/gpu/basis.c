// SPDX-License-Identifier: BSD-2-Clause
// Bases on a device: their slots, and the data that a basis keeps there. Called through the backend's table
// and by operator.c.
#include "backends/gpu/basis.h"

#include "plan/gpu-tiles.h"

// ---- Data ----

int ritz_gpu_basis_open(CeedBasis basis) {
  RitzGpuBasis *data = NULL;
  if (basis->data) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(basis->obj.ceed, 1, &data));
  basis->data = data;
  return CEED_ERROR_SUCCESS;
}

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
      if (data->kernel[i][j].program) ritz_gpu_program_release(ceed, &data->kernel[i][j].program);
      if (data->at_points[i][j].program) ritz_gpu_program_release(ceed, &data->at_points[i][j].program);
    }
  }
  ritz_gpu_free(ceed, &data->coefficients);
  RITZ_FREE(&data->starts);
  ritz_gpu_free(ceed, &data->starts_on_device);
  RITZ_FREE(&basis->data);
  return CEED_ERROR_SUCCESS;
}

static int host_table(CeedBasis b, CeedEvalMode mode, const CeedScalar **table) {
  if (!b->is_tensor) return ritz_basis_table(b, mode, table);
  *table = mode == CEED_EVAL_INTERP ? b->interp_1d : b->grad_1d;
  return CEED_ERROR_SUCCESS;
}

static int upload_exchanged(Ceed ceed, size_t rows, size_t columns, const CeedScalar *table, void **to) {
  CeedScalar *exchanged = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, rows * columns, &exchanged));
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) exchanged[j * rows + i] = table[i * columns + j];
  }
  int ierr = ritz_gpu_upload(ceed, rows * columns * sizeof(*exchanged), exchanged, to);
  RITZ_FREE(&exchanged);
  return ierr;
}

static int upload_floats(Ceed ceed, size_t rows, size_t columns, bool exchanges, const CeedScalar *table,
                         void **to) {
  float *floats = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, rows * columns, &floats));
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j++)
      floats[exchanges ? j * rows + i : i * columns + j] = (float)table[i * columns + j];
  }
  int ierr = ritz_gpu_upload(ceed, rows * columns * sizeof(*floats), floats, to);
  RITZ_FREE(&floats);
  return ierr;
}

int ritz_gpu_basis_table(CeedBasis b, CeedEvalMode mode, bool exchanges, const void **table) {
  return ritz_gpu_basis_table_of(b, mode, exchanges, CEED_SCALAR_TYPE, table);
}

int ritz_gpu_basis_table_of(CeedBasis b, CeedEvalMode mode, bool exchanges, CeedScalarType precision,
                            const void **table) {
  RITZ_TRY(ritz_gpu_basis_open(b));
  RitzGpuBasis *data = b->data;
  const bool is_own = precision == CEED_SCALAR_TYPE;
  const int number = ritz_gpu_basis_table_number(mode);
  void **to = is_own ? &data->table[number][exchanges] : &data->float_table[number][exchanges];
  const CeedScalar *from;
  const size_t rows = b->is_tensor ? (size_t)b->Q_1d : (size_t)ritz_basis_num_q_comp(b, mode) * (size_t)b->Q;
  const size_t columns = (size_t)(b->is_tensor ? b->P_1d : b->P);
  if (!*to) RITZ_TRY(host_table(b, mode, &from));
  if (!*to && !is_own) RITZ_TRY(upload_floats(b->obj.ceed, rows, columns, exchanges, from, to));
  if (!*to) {
    RITZ_TRY(exchanges ? upload_exchanged(b->obj.ceed, rows, columns, from, to)
                       : ritz_gpu_upload(b->obj.ceed, rows * columns * sizeof(*from), from, to));
  }
  *table = *to;
  return CEED_ERROR_SUCCESS;
}

// Of a dense basis.
int ritz_gpu_basis_tiles(CeedBasis b, CeedEvalMode mode, const void **tiles) {
  RITZ_TRY(ritz_gpu_basis_open(b));
  RitzGpuBasis *data = b->data;
  void **to = &data->tiles[ritz_gpu_basis_table_number(mode)];
  const CeedInt q_comp = ritz_basis_num_q_comp(b, mode);
  const size_t size = ritz_gpu_tiles_size(q_comp, b->Q, b->P);
  const CeedScalar *from;
  double *blocks = NULL;

  if (!*to) {
    RITZ_TRY(host_table(b, mode, &from));
    RITZ_TRY(RITZ_MALLOC(b->obj.ceed, size, &blocks));
    ritz_gpu_fill_tiles(q_comp, b->Q, b->P, from, blocks);
    const int ierr = ritz_gpu_upload(b->obj.ceed, size * sizeof(*blocks), blocks, to);
    RITZ_FREE(&blocks);
    RITZ_TRY(ierr);
  }
  *tiles = *to;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_basis_weight(CeedBasis b, const void **weight) {
  RitzGpuBasis *data = b->data;
  const size_t num = (size_t)(b->is_tensor ? b->Q_1d : b->Q);
  if (!data->weight)
    RITZ_TRY(ritz_gpu_upload(b->obj.ceed, num * sizeof(*b->q_weight), b->q_weight, &data->weight));
  *weight = data->weight;
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

CeedEvalMode ritz_gpu_basis_derivative(CeedBasis basis) {
  return basis->space == CEED_FE_SPACE_HDIV    ? CEED_EVAL_DIV
         : basis->space == CEED_FE_SPACE_HCURL ? CEED_EVAL_CURL
                                               : CEED_EVAL_GRAD;
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
