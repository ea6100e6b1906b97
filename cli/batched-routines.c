// SPDX-License-Identifier: BSD-2-Clause
// Routines of ritz/batched.h as `ritz bench --batched` measures them: what they read, write and compute.
#include "cli/batched.h"

#define NONE BATCHED_NONE
#define M    BATCHED_MATRIX
#define V    BATCHED_COLUMN
#define K    BATCHED_COLUMNS

// Flops are multiplications and additions. Triangles count as half a matrix, arguments that are overwritten
// as two moves.
const BatchedRoutine batched_routines[] = {
    {"gemm", "gemm", RITZ_BATCHED_GEMM, 0, BATCHED_DOMINANT, {M, M, M}, {1, 1, 1}, 2, 0, 2},
    {"gemv", "gemv", RITZ_BATCHED_GEMV, 0, BATCHED_DOMINANT, {M, V, V}, {1, 1, 1}, 0, 2, 2},
    {"potrf", "potrf", RITZ_BATCHED_POTRF, 0, BATCHED_DOMINANT, {M}, {1}, 1 / 3.0, 0, 0},
    {"potrs", "potrs", RITZ_BATCHED_POTRS, 0, BATCHED_DOMINANT, {M, K}, {0.5, 2}, 0, 2, 1},
    {"getrf", "getrf", RITZ_BATCHED_GETRF, 0, BATCHED_SHIFTED, {M}, {2}, 2 / 3.0, 0, 0},
    {"getrfnp", NULL, RITZ_BATCHED_GETRF, RITZ_PIVOT_NONE, BATCHED_DOMINANT, {M}, {2}, 2 / 3.0, 0, 0},
    {"getrs", "getrs", RITZ_BATCHED_GETRS, 0, BATCHED_DOMINANT, {M, K}, {1, 2}, 0, 2, 1},
    {"getri", "getri", RITZ_BATCHED_GETRI, 0, BATCHED_DOMINANT, {M, M}, {2, 0}, 4 / 3.0, 0, 0},
    {"inv", "getri", RITZ_BATCHED_INV, 0, BATCHED_SHIFTED, {M, M}, {1, 1}, 2, 0, 1},
    {"trsm", "trsm", RITZ_BATCHED_TRSM, 0, BATCHED_DOMINANT, {M, M}, {0.5, 2}, 1, 0, 1},
    {"trsv", "trsv", RITZ_BATCHED_TRSV, 0, BATCHED_DOMINANT, {M, V}, {0.5, 2}, 0, 1, 1},
};
const int batched_num_routines = sizeof(batched_routines) / sizeof(batched_routines[0]);

const char *batched_form_name(BatchedForm form) {
  static const char *const names[] = {"strided", "interleaved", "pointers", "nonuniform"};
  return names[form];
}

const char *batched_precision_name(const BatchedCase *c) {
  return c->precision == CEED_SCALAR_FP32 ? "f32" : "f64";
}

size_t batched_entry_bytes(const BatchedCase *c) {
  return c->precision == CEED_SCALAR_FP32 ? sizeof(float) : sizeof(double);
}

int batched_columns(const BatchedCase *c, int operand) {
  const int columns[] = {[NONE] = 0, [M] = c->n, [V] = 1, [K] = c->columns};
  return columns[c->routine->operand[operand]];
}

RitzBatchLayout batched_layout(const BatchedCase *c, CeedInt width, int operand) {
  return (RitzBatchLayout){
      .precision = c->precision, .m = c->n, .n = batched_columns(c, operand), .width = width};
}

int batched_create(Ceed ceed, const BatchedCase *c, CeedInt width, RitzBatched *b) {
  const RitzBatchedOptions options = {.pivot = c->routine->pivot,
                                      .A = batched_layout(c, width, 0),
                                      .B = batched_layout(c, width, 1),
                                      .C = batched_layout(c, width, 2)};
  return RitzBatchedCreate(ceed, c->routine->operation, &options, b);
}

int batched_call(RitzBatched b, RitzBatchedOperation operation, int64_t count, const RitzBatchArray *array,
                 int32_t *ipiv, int32_t *info) {
  const RitzBatchArray *A = &array[0], *B = &array[1], *C = &array[2];

  switch (operation) {
  case RITZ_BATCHED_GEMM: return RitzGemmBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_GEMV: return RitzGemvBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_POTRF: return RitzPotrfBatched(b, count, A, info);
  case RITZ_BATCHED_POTRS: return RitzPotrsBatched(b, count, A, B, info);
  case RITZ_BATCHED_GETRF: return RitzGetrfBatched(b, count, A, ipiv, info);
  case RITZ_BATCHED_GETRS: return RitzGetrsBatched(b, count, A, ipiv, B, info);
  case RITZ_BATCHED_GETRI: return RitzGetriBatched(b, count, A, ipiv, info);
  case RITZ_BATCHED_INV: return RitzInvBatched(b, count, A, B, info);
  case RITZ_BATCHED_TRSM: return RitzTrsmBatched(b, count, 1, A, B);
  case RITZ_BATCHED_TRSV: return RitzTrsvBatched(b, count, A, B);
  default: return CEED_ERROR_UNSUPPORTED;
  }
}
