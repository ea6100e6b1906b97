// SPDX-License-Identifier: BSD-2-Clause
// Data that a basis keeps on a device: tables of its modes, sent on first use. Called by all kernels of bases
// and by operators.
#include "backends/gpu/basis.h"
#include "backends/gpu/memory.h"
#include "plan/gpu-tiles.h"

int ritz_gpu_basis_open(CeedBasis basis) {
  RitzGpuBasis *data = NULL;
  if (basis->data) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(basis->obj.ceed, 1, &data));
  basis->data = data;
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
  const bool is_in_scalars = precision == CEED_SCALAR_TYPE;
  const int number = ritz_gpu_basis_table_number(mode);
  void **to = is_in_scalars ? &data->table[number][exchanges] : &data->float_table[number][exchanges];
  const CeedScalar *from;
  const size_t rows = b->is_tensor ? (size_t)b->Q_1d : (size_t)ritz_basis_num_q_comp(b, mode) * (size_t)b->Q;
  const size_t columns = (size_t)(b->is_tensor ? b->P_1d : b->P);
  if (!*to) RITZ_TRY(host_table(b, mode, &from));
  if (!*to && !is_in_scalars) RITZ_TRY(upload_floats(b->obj.ceed, rows, columns, exchanges, from, to));
  if (!*to) {
    RITZ_TRY(exchanges ? upload_exchanged(b->obj.ceed, rows, columns, from, to)
                       : ritz_gpu_upload(b->obj.ceed, rows * columns * sizeof(*from), from, to));
  }
  *table = *to;
  return CEED_ERROR_SUCCESS;
}

// The table of a dense basis in tiles for tensor cores.
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

CeedEvalMode ritz_gpu_basis_derivative(CeedBasis basis) {
  return basis->space == CEED_FE_SPACE_HDIV    ? CEED_EVAL_DIV
         : basis->space == CEED_FE_SPACE_HCURL ? CEED_EVAL_CURL
                                               : CEED_EVAL_GRAD;
}
