// SPDX-License-Identifier: BSD-2-Clause
// Routines of ritz/batched.h as `ritz bench --batched` measures them: what they read, write and compute.
#include "bench/batched.h"

#define NONE BATCHED_NONE
#define M    BATCHED_MATRIX
#define V    BATCHED_COLUMN
#define K    BATCHED_COLUMNS

// Flops are multiplications and additions; of eigenvalues and singular values those of the QR algorithm with
// vectors (Golub and Van Loan). Triangles count as half a matrix, arguments that are overwritten as two
// moves.
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
    {"syrk", "syrk", RITZ_BATCHED_SYRK, 0, BATCHED_DOMINANT, {M, M}, {1, 0.5}, 1, 0, 1},
    {"symm", "symm", RITZ_BATCHED_SYMM, 0, BATCHED_DOMINANT, {M, M, M}, {0.5, 1, 1}, 2, 0, 2},
    {"symv", "symv", RITZ_BATCHED_SYMV, 0, BATCHED_DOMINANT, {M, V, V}, {0.5, 1, 1}, 0, 2, 2},
    {"trmm", "trmm", RITZ_BATCHED_TRMM, 0, BATCHED_DOMINANT, {M, M}, {0.5, 2}, 1, 0, 1},
    {"gesv", "gesv", RITZ_BATCHED_GESV, 0, BATCHED_SHIFTED, {M, K}, {2, 2}, 2 / 3.0, 2, 1},
    {"posv", "posv", RITZ_BATCHED_POSV, 0, BATCHED_DOMINANT, {M, K}, {1, 2}, 1 / 3.0, 2, 1},
    {"laswp", "laswp", RITZ_BATCHED_LASWP, 0, BATCHED_DOMINANT, {M}, {2}, 0, 0, 0},
    {"geqrf", "geqrf", RITZ_BATCHED_GEQRF, 0, BATCHED_SHIFTED, {M, V}, {2, 1}, 4 / 3.0, 0, 0},
    {"ormqr", "ormqr", RITZ_BATCHED_ORMQR, 0, BATCHED_DOMINANT, {M, V, K}, {0.5, 1, 2}, 0, 2, 2},
    {"orgqr", "orgqr", RITZ_BATCHED_ORGQR, 0, BATCHED_DOMINANT, {M, V}, {1.5, 1}, 4 / 3.0, 0, 0},
    {"gels", "gels", RITZ_BATCHED_GELS, 0, BATCHED_SHIFTED, {M, K}, {2, 2}, 4 / 3.0, 3, 1},
    {"syevj", "syev", RITZ_BATCHED_SYEVJ, 0, BATCHED_DOMINANT, {M, V}, {1.5, 1}, 9, 0, 1},
    {"gesvdj", "gesvd", RITZ_BATCHED_GESVDJ, 0, BATCHED_SHIFTED, {M, V, M}, {2, 1, 1}, 21, 0, 1},
    {"copy", NULL, RITZ_BATCHED_COPY, 0, BATCHED_DOMINANT, {M, M}, {1, 1}, 0, 0, 1},
    {"geam", NULL, RITZ_BATCHED_GEAM, 0, BATCHED_DOMINANT, {M, M, M}, {1, 1, 1}, 0, 0, 2},
    {"laset", "laset", RITZ_BATCHED_LASET, 0, BATCHED_DOMINANT, {M}, {1}, 0, 0, 0},
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

static RitzBatchLayout layout_of(const BatchedCase *c, CeedInt width, int operand) {
  return (RitzBatchLayout){
      .precision = c->precision, .m = c->n, .n = batched_columns(c, operand), .width = width};
}

int batched_create(Ceed ceed, const BatchedCase *c, CeedInt width, RitzBatched *b) {
  const bool is_turned = c->routine->operation == RITZ_BATCHED_COPY; // the copy that is not one of bytes
  const RitzBatchedOptions options = {.trans_a = is_turned ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                                      .pivot = c->routine->pivot,
                                      .A = layout_of(c, width, 0),
                                      .B = layout_of(c, width, 1),
                                      .C = layout_of(c, width, 2)};
  return RitzBatchedCreate(ceed, c->routine->operation, &options, b);
}

int batched_call(RitzBatched b, const BatchedCase *c, int64_t count, const RitzBatchArray *array,
                 int32_t *ipiv, int32_t *info) {
  const RitzBatchArray *A = &array[0], *B = &array[1], *C = &array[2];

  switch (c->routine->operation) {
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
  case RITZ_BATCHED_SYRK: return RitzSyrkBatched(b, count, 1, A, 0, B);
  case RITZ_BATCHED_SYMM: return RitzSymmBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_SYMV: return RitzSymvBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_TRMM: return RitzTrmmBatched(b, count, 1, A, B);
  case RITZ_BATCHED_GESV: return RitzGesvBatched(b, count, A, ipiv, B, info);
  case RITZ_BATCHED_POSV: return RitzPosvBatched(b, count, A, B, info);
  case RITZ_BATCHED_LASWP: return RitzLaswpBatched(b, count, A, 1, c->n, ipiv, 1);
  case RITZ_BATCHED_GEQRF: return RitzGeqrfBatched(b, count, A, B, info);
  case RITZ_BATCHED_ORMQR: return RitzOrmqrBatched(b, count, A, B, C, info);
  case RITZ_BATCHED_ORGQR: return RitzOrgqrBatched(b, count, A, B, info);
  case RITZ_BATCHED_GELS: return RitzGelsBatched(b, count, A, B, info);
  case RITZ_BATCHED_SYEVJ: return RitzSyevjBatched(b, count, A, B, info);
  case RITZ_BATCHED_GESVDJ: return RitzGesvdjBatched(b, count, A, B, C, info);
  case RITZ_BATCHED_COPY: return RitzCopyBatched(b, count, A, B);
  case RITZ_BATCHED_GEAM: return RitzGeamBatched(b, count, 1, A, 1, B, C);
  case RITZ_BATCHED_LASET: return RitzLasetBatched(b, count, 0, 1, A);
  }
  return CEED_ERROR_UNSUPPORTED;
}
