// SPDX-License-Identifier: BSD-2-Clause
// Batched dense linear algebra (ritz/batched.h) between core/ and backends: objects, and calls that have been
// checked. Served by the slots batched_* of backends:
//
//     batched_prepare    called once, when the object is made: the object's options are valid. Makes
//                        batched->data, begins to make kernels and does not wait for them; or refuses what
//                        the backend cannot do: CEED_ERROR_UNSUPPORTED, message begins "RitzBatchedCreate: "
//     batched_workspace  bytes that a call of up to `count` matrices needs; grows with count; else 0
//     batched_analyze    classes of sizes [count] m, n, k (NULL: uniform), kept until the next one. Calls
//     with
//                        these addresses and this count have is_analyzed
//     batched_run        one call; queues its work
//     batched_explain    lines of two blanks and text
//     batched_destroy    waits, frees batched->data; called where data is not NULL
//
// A backend of the host whose kernel does not serve a call, or is not there yet, may hand it to
// ritz_ref_batched_run (backends/ref/ref.h), as long as the result's bits do not depend on when.
//
// All but batched_run may be empty. A run has count > 0; any size may be 0, then info is set to zeros and
// what beta (GEMM, GEMV with k = 0) or alpha say is done. Rules for every kernel are those of ritz/batched.h;
// above all:
//  - place of entry (r, c) of matrix i: ritz_batch_matrix below, which is the meaning of the members;
//  - entries that are not the operation's are not written, not even with what they hold: rows from m to ld,
//    the untouched triangle, lanes of an interleaved array from count on (they may be read);
//  - beta = 0 reads no C, alpha = 0 no A and B; a unit diagonal is not read;
//  - a size outside of 0 .. its bound: info[i] = -1001 - its dimension, matrix i is left alone;
//  - info may be NULL; ipiv of matrix i is at i ipiv_stride, counted from 1;
//  - INV: operand B has operand A's addresses, or no common entries;
//  - ORGQR, GESVDJ: n > m in one matrix is a bad n.
#ifndef RITZ_CORE_BATCHED_H
#define RITZ_CORE_BATCHED_H

#include <ritz/batched.h>

#include "core/core.h"

enum {
  RITZ_BATCHED_NUM_OPERATIONS = RITZ_BATCHED_GESVDJ + 1,
  RITZ_BATCHED_MAX_OPERANDS = 3,
  RITZ_BATCHED_MAX_WIDTH = 64,
  RITZ_BATCHED_ALIGNMENT = 64,
  RITZ_BATCHED_BAD_SIZE = -1001, // info of a bad m; less by one: n; by two: k
  RITZ_BATCHED_MAX_SWEEPS = 30,  // of rotations; info of what is not done by then
};

// Dimensions of an operation, m, n, k of ritz/batched.h, and what follows from them: 1, min(m, n), max(m, n).
typedef enum {
  RITZ_DIM_M,
  RITZ_DIM_N,
  RITZ_DIM_K,
  RITZ_NUM_DIMS,
  RITZ_DIM_ONE = RITZ_NUM_DIMS,
  RITZ_DIM_LEAST,
  RITZ_DIM_LARGEST
} RitzBatchDim;

// Operands and pivots of an operation with its options.
typedef struct {
  CeedInt num_operands;
  struct {
    RitzBatchDim rows, cols; // as stored
    bool is_written;
  } operand[RITZ_BATCHED_MAX_OPERANDS];
  bool has_pivots; // the call has ipiv, and it must be there
} RitzBatchedForm;

struct RitzBatched_private {
  const RitzClass *class;
  Ceed ceed; // counted
  RitzBatchedOperation operation;
  // Defaults are filled in: width at least 1, ld at least 1, stride. Options that the operation does not have
  // are zeros.
  RitzBatchedOptions options;
  bool follows_rows[RITZ_BATCHED_MAX_OPERANDS]; // ld was 0: that of a matrix with `rows` is its own
  CeedScalarType precision;                     // of A; COPY: B may have another one
  RitzBatchedForm form;
  CeedInt size[RITZ_NUM_DIMS]; // upper bounds in non-uniform batches; 1 where the operation has no such one
  CeedInt ipiv_stride;         // min(m, n) of GETRF, num_pivots of LASWP, n of the others
  void *workspace;             // of the caller; NULL: the backend takes its own
  size_t workspace_bytes;
  int64_t analyzed_count; // -1: not analyzed
  const int32_t *analyzed[RITZ_NUM_DIMS];
  const RitzBackend *server; // whose slots these are: the context's or, on hosts, its fallback's
  void *data;                // owned by the server
};

// One operand of a call. Matrix i begins at
//     pointers ? pointers[i] : base + (offsets ? offsets[i] : (i / width) stride) entries,
// plus lane i % width, and (row0 + first_rows[i], col0 + first_cols[i]) is its entry (0, 0).
typedef struct {
  void *base;
  void *const *pointers;  // NULL: base
  const int64_t *offsets; // NULL: stride
  const int32_t *lds;     // NULL: ld. Own leading dimensions of matrices without rows may be 0
  const int32_t *first_rows, *first_cols; // NULL: zeros
  int64_t row0, col0, ld, stride;
  CeedInt width; // 1: the arrays above may be there; else they are NULL
} RitzBatchOperand;

struct RitzBatchedCall {
  int64_t count;                                       // > 0
  double alpha, beta;                                  // 1, 0 where the operation has none
  RitzBatchOperand operand[RITZ_BATCHED_MAX_OPERANDS]; // A, B, C in the order of the call
  const int32_t *sizes[RITZ_NUM_DIMS];                 // [count]; NULL: batched->size; no bounds are checked
  int32_t *ipiv;                                       // GETRF, GESV write; NULL without pivots
  int32_t k1, k2;                                      // LASWP: steps from 1 on; k2 < k1: none
  bool is_back;                                        // LASWP: from k2 to k1
  int32_t *info;                                       // NULL: not wanted
  bool is_uniform; // no array of sizes, and none of the operands but base, offsets, pointers
  bool is_analyzed;
};

// The text of the operation: "Gemm", of which calls are RitzGemmBatched.
const char *ritz_batched_root(RitzBatchedOperation operation);
static inline const RitzBatchLayout *ritz_batched_layout(const RitzBatchedOptions *options, CeedInt operand) {
  return operand == 0 ? &options->A : operand == 1 ? &options->B : &options->C;
}
static inline CeedInt ritz_batched_size(const RitzBatched batched, const RitzBatchedCall *call,
                                        RitzBatchDim dim, int64_t i) {
  if (dim == RITZ_DIM_ONE) return 1;
  if (dim == RITZ_DIM_LEAST || dim == RITZ_DIM_LARGEST) {
    const CeedInt m = ritz_batched_size(batched, call, RITZ_DIM_M, i);
    const CeedInt n = ritz_batched_size(batched, call, RITZ_DIM_N, i);

    return (dim == RITZ_DIM_LEAST) == (m < n) ? m : n;
  }
  return call->sizes[dim] ? call->sizes[dim][i] : batched->size[dim];
}

// One matrix on the host: entry (r, c) is at base[(r + c ld) step].
typedef struct {
  void *base;
  int64_t ld, step;
} RitzBatchMatrix;
static inline RitzBatchMatrix ritz_batch_matrix(const RitzBatchOperand *operand, CeedScalarType precision,
                                                int64_t i) {
  const CeedInt width = operand->width;
  const int64_t ld = operand->lds ? operand->lds[i] : operand->ld;
  const int64_t row = operand->row0 + (operand->first_rows ? operand->first_rows[i] : 0);
  const int64_t col = operand->col0 + (operand->first_cols ? operand->first_cols[i] : 0);
  const int64_t start = operand->pointers  ? 0
                        : operand->offsets ? operand->offsets[i]
                                           : (i / width) * operand->stride + i % width;
  char *base = operand->pointers ? operand->pointers[i] : operand->base;
  const int64_t entry = start + (row + col * ld) * width;

  // Matrices without entries may have no address.
  if (base) base += entry * (int64_t)ritz_scalar_bytes(precision);
  return (RitzBatchMatrix){.base = base, .ld = ld, .step = width};
}

// ---- Inside of core/ ----

// The form of an operation with these options; the operation is valid.
RitzBatchedForm ritz_batched_form(RitzBatchedOperation operation, const RitzBatchedOptions *options);
// Checks a call's operands as far as they can be seen without reading memory: batched, arrays [num_operands]
// and count are given, call->operand and call->sizes are made.
int ritz_batched_resolve(RitzBatched batched, const char *name, const RitzBatchArray *const *arrays,
                         RitzBatchedCall *call);
// Whether sizes are read and checked: on hosts, under RITZ_STRICT and in the checking backend.
bool ritz_batched_reads_sizes(Ceed ceed);
// The sizes of `dim` are 0 .. bound.
int ritz_batched_check_sizes(RitzBatched batched, const char *name, RitzBatchDim dim, int64_t count,
                             const int32_t *sizes);

#endif
