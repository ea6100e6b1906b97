// SPDX-License-Identifier: BSD-2-Clause
// What the tests of batched dense algebra share: batches in every layout, in the memory of any context, with
// NaN in all places that are not entries; calls with objects made for them; small dense oracles. Included by
// tests/test-batched*.c.
//
// A Batch has its bytes on the host. For a call they are lent to the context's memory (batch_lend) and
// brought back (batch_return); on hosts both are the same bytes.
#ifndef RITZ_TESTS_BATCHED_KIT_H
#define RITZ_TESTS_BATCHED_KIT_H

#include "tests/tap.h"

#include <math.h>
#include <ritz.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- Memory of a context ----

typedef struct {
  Ceed ceed;
  size_t num_bytes; // a multiple of 8
  char *host;       // owned
  CeedVector vec;   // owned; on devices, where the bytes are lent to
  CeedScalar *array;
} BatchMemory;

static inline bool batch_is_on_device(Ceed ceed) {
  CeedMemType mem_type = CEED_MEM_HOST;
  CeedGetPreferredMemType(ceed, &mem_type);
  return mem_type == CEED_MEM_DEVICE;
}

// Bytes 0xff: NaN in either precision, -1 as an int32_t. num_bytes may be 0.
static inline void batch_memory_make(Ceed ceed, size_t num_bytes, BatchMemory *memory) {
  *memory = (BatchMemory){.ceed = ceed, .num_bytes = (num_bytes + 7) / 8 * 8};
  memory->host = malloc(memory->num_bytes + 8);
  if (!memory->host) abort();
  memset(memory->host, 0xff, memory->num_bytes + 8);
}

static inline void batch_memory_free(BatchMemory *memory) {
  CeedVectorDestroy(&memory->vec);
  free(memory->host);
  *memory = (BatchMemory){.ceed = memory->ceed};
}

// The address in the context's memory; NULL: there are no bytes, or the context fails.
static inline void *batch_memory_lend(BatchMemory *memory) {
  if (memory->num_bytes == 0) return NULL;
  if (!batch_is_on_device(memory->ceed)) return memory->host;
  const CeedSize length = (CeedSize)(memory->num_bytes / sizeof(CeedScalar));
  if (!memory->vec && CeedVectorCreate(memory->ceed, length, &memory->vec)) return NULL;
  if (CeedVectorSetArray(memory->vec, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)(void *)memory->host))
    return NULL;
  return CeedVectorGetArray(memory->vec, CEED_MEM_DEVICE, &memory->array) ? NULL : memory->array;
}

static inline void batch_memory_return(BatchMemory *memory) {
  const CeedScalar *array = NULL;

  if (!memory->array || CeedVectorRestoreArray(memory->vec, &memory->array)) return;
  if (CeedVectorGetArrayRead(memory->vec, CEED_MEM_HOST, &array)) return;
  memcpy(memory->host, array, memory->num_bytes);
  CeedVectorRestoreArrayRead(memory->vec, &array);
}

// ---- Batches ----

typedef enum {
  BATCH_PACKED,   // without gaps; non-uniform: each matrix with its own rows as leading dimension
  BATCH_PADDED,   // gaps below columns and between matrices
  BATCH_SUB,      // sub-matrices at (2, 1)
  BATCH_OFFSETS,  // in reversed order
  BATCH_POINTERS, // likewise
  BATCH_WIDE4,    // interleaved
  BATCH_WIDE8,    // interleaved, with gaps
  NUM_BATCH_FORMS
} BatchForm;

static const char *const batch_form_names[] = {"packed",   "padded", "sub-matrices", "offsets",
                                               "pointers", "wide 4", "wide 8"};

typedef struct {
  BatchForm form;
  int64_t count;
  RitzBatchLayout layout;
  int32_t *rows, *cols; // [count], owned, NULL: uniform
  int64_t stride;       // of entries, or groups
  BatchMemory data, places, row_sizes, col_sizes;
  char *kept;           // owned: bytes of data at batch_keep
  RitzBatchArray array; // lent
} Batch;

static inline bool batch_is_wide(BatchForm form) { return form == BATCH_WIDE4 || form == BATCH_WIDE8; }
static inline size_t batch_entry_size(const Batch *b) {
  return b->layout.precision == CEED_SCALAR_FP32 ? sizeof(float) : sizeof(double);
}
static inline double batch_roundoff(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? ldexp(1, -24) : ldexp(1, -53);
}

static inline int32_t *batch_copy_sizes(int64_t count, const int32_t *sizes) {
  int32_t *copy = sizes ? malloc((size_t)(count + 1) * sizeof(*copy)) : NULL;

  if (copy) memcpy(copy, sizes, (size_t)count * sizeof(*copy));
  return copy;
}

// count matrices of m x n, or of rows[i] x cols[i] (NULL: m, n), which m and n bound. All entries are NaN.
static inline void batch_make(Ceed ceed, CeedScalarType precision, BatchForm form, int64_t count, CeedInt m,
                              CeedInt n, const int32_t *rows, const int32_t *cols, Batch *b) {
  const int64_t width = form == BATCH_WIDE4 ? 4 : form == BATCH_WIDE8 ? 8 : 1;
  const int64_t groups = (count + width - 1) / width;

  *b = (Batch){.form = form, .count = count, .layout = {.precision = precision, .m = m, .n = n}};
  b->rows = batch_copy_sizes(count, rows);
  b->cols = batch_copy_sizes(count, cols);
  if (width > 1) b->layout.width = (CeedInt)width;
  if (form == BATCH_PADDED || form == BATCH_OFFSETS || form == BATCH_WIDE8) b->layout.ld = m + 3;
  if (form == BATCH_SUB) b->layout.ld = m + 4;
  const int64_t ld = b->layout.ld ? b->layout.ld : m ? m : 1;
  b->stride = (ld * (n + (form == BATCH_SUB ? 2 : 0)) + (b->layout.ld && width == 1 ? 5 : 0)) * width;
  if (form == BATCH_PADDED || form == BATCH_SUB) b->layout.stride = b->stride;
  batch_memory_make(ceed, (size_t)(groups * b->stride) * batch_entry_size(b), &b->data);
  batch_memory_make(ceed, form == BATCH_OFFSETS || form == BATCH_POINTERS ? (size_t)count * 8 : 0,
                    &b->places);
  batch_memory_make(ceed, rows ? (size_t)count * sizeof(*rows) : 0, &b->row_sizes);
  batch_memory_make(ceed, cols ? (size_t)count * sizeof(*cols) : 0, &b->col_sizes);
}

static inline void batch_free(Batch *b) {
  batch_memory_free(&b->data);
  batch_memory_free(&b->places);
  batch_memory_free(&b->row_sizes);
  batch_memory_free(&b->col_sizes);
  free(b->rows);
  free(b->cols);
  free(b->kept);
}

static inline int64_t batch_m(const Batch *b, int64_t i) { return b->rows ? b->rows[i] : b->layout.m; }
static inline int64_t batch_n(const Batch *b, int64_t i) { return b->cols ? b->cols[i] : b->layout.n; }

// Entry where matrix i begins, without a sub-matrix's shift.
static inline int64_t batch_start(const Batch *b, int64_t i) {
  const int64_t width = b->layout.width ? b->layout.width : 1;
  const int64_t place = b->form == BATCH_OFFSETS || b->form == BATCH_POINTERS ? b->count - 1 - i : i;

  return place / width * b->stride + place % width;
}

static inline char *batch_at(const Batch *b, int64_t i, int64_t r, int64_t c) {
  const int64_t width = b->layout.width ? b->layout.width : 1, shift = b->form == BATCH_SUB;
  const int64_t ld = b->layout.ld ? b->layout.ld : batch_m(b, i);
  const int64_t entry = batch_start(b, i) + (r + 2 * shift + (c + shift) * ld) * width;

  return b->data.host + (size_t)entry * batch_entry_size(b);
}

static inline double batch_get(const Batch *b, int64_t i, int64_t r, int64_t c) {
  float single;
  double value;

  if (b->layout.precision == CEED_SCALAR_FP64)
    memcpy(&value, batch_at(b, i, r, c), sizeof(value));
  else
    value = (memcpy(&single, batch_at(b, i, r, c), sizeof(single)), single);
  return value;
}

static inline void batch_set(const Batch *b, int64_t i, int64_t r, int64_t c, double value) {
  const float single = (float)value;

  if (b->layout.precision == CEED_SCALAR_FP64)
    memcpy(batch_at(b, i, r, c), &value, sizeof(value));
  else
    memcpy(batch_at(b, i, r, c), &single, sizeof(single));
}

// Values in [-scale, scale).
static inline void batch_fill_random(const Batch *b, double scale, uint64_t *state) {
  for (int64_t i = 0; i < b->count; i++) {
    for (int64_t c = 0; c < batch_n(b, i); c++) {
      for (int64_t r = 0; r < batch_m(b, i); r++) batch_set(b, i, r, c, scale * tap_uniform(state));
    }
  }
}

// All entries of batch `from`, of the same sizes in any form and precision.
static inline void batch_copy(const Batch *b, const Batch *from) {
  for (int64_t i = 0; i < b->count; i++) {
    for (int64_t c = 0; c < batch_n(b, i); c++) {
      for (int64_t r = 0; r < batch_m(b, i); r++) batch_set(b, i, r, c, batch_get(from, i, r, c));
    }
  }
}

// Matrix i, column-major without gaps; owned by the caller.
static inline double *batch_matrix(const Batch *b, int64_t i) {
  const int64_t m = batch_m(b, i), n = batch_n(b, i);
  double *matrix = malloc((size_t)(m * n + 1) * sizeof(*matrix));

  if (!matrix) abort();
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) matrix[r + c * m] = batch_get(b, i, r, c);
  }
  return matrix;
}

// ---- What a call leaves alone ----

typedef enum { BATCH_NOTHING, BATCH_LOWER, BATCH_UPPER, BATCH_ALL } BatchPart; // triangles with the diagonal

static inline void batch_keep(Batch *b) {
  free(b->kept);
  b->kept = malloc(b->data.num_bytes + 1);
  if (!b->kept) abort();
  memcpy(b->kept, b->data.host, b->data.num_bytes);
}

// Whether since batch_keep nothing has changed but this part of the matrices; bit by bit.
static inline bool batch_changed_only(const Batch *b, BatchPart part) {
  const size_t size = batch_entry_size(b);

  for (int64_t i = 0; i < b->count && part != BATCH_NOTHING; i++) {
    if (batch_m(b, i) > b->layout.m || batch_n(b, i) > b->layout.n) continue;
    for (int64_t c = 0; c < batch_n(b, i); c++) {
      for (int64_t r = 0; r < batch_m(b, i); r++) {
        if ((part == BATCH_LOWER && r < c) || (part == BATCH_UPPER && r > c)) continue;
        memcpy(b->kept + (batch_at(b, i, r, c) - b->data.host), batch_at(b, i, r, c), size);
      }
    }
  }
  return !memcmp(b->kept, b->data.host, b->data.num_bytes);
}

// Whether matrix i has the bits that it has in batch `other`, of the same precision, at place j.
static inline bool batch_same_bits(const Batch *b, int64_t i, const Batch *other, int64_t j) {
  for (int64_t c = 0; c < batch_n(b, i); c++) {
    for (int64_t r = 0; r < batch_m(b, i); r++) {
      if (memcmp(batch_at(b, i, r, c), batch_at(other, j, r, c), batch_entry_size(b))) return false;
    }
  }
  return true;
}

// ---- Calls ----

static inline void batch_lend(Batch *b) {
  char *base = batch_memory_lend(&b->data);

  b->array = (RitzBatchArray){.base = base};
  for (int64_t i = 0; i < b->count; i++) {
    const int64_t start = batch_start(b, i);
    char *address = base ? base + (size_t)start * batch_entry_size(b) : NULL;

    if (b->form == BATCH_OFFSETS) memcpy(b->places.host + i * 8, &start, 8);
    if (b->form == BATCH_POINTERS)
      memcpy(b->places.host + (size_t)i * sizeof(void *), &address, sizeof(void *));
  }
  if (b->form == BATCH_SUB) b->array.row0 = 2, b->array.col0 = 1;
  if (b->form == BATCH_OFFSETS) b->array.offsets = batch_memory_lend(&b->places);
  if (b->form == BATCH_POINTERS) {
    b->array.base = NULL;
    b->array.pointers = batch_memory_lend(&b->places);
  }
  if (b->rows) memcpy(b->row_sizes.host, b->rows, (size_t)b->count * sizeof(*b->rows));
  if (b->cols) memcpy(b->col_sizes.host, b->cols, (size_t)b->count * sizeof(*b->cols));
  b->array.rows = batch_memory_lend(&b->row_sizes);
  b->array.cols = batch_memory_lend(&b->col_sizes);
}

static inline void batch_return(Batch *b) {
  batch_memory_return(&b->data);
  batch_memory_return(&b->places);
  batch_memory_return(&b->row_sizes);
  batch_memory_return(&b->col_sizes);
}

// One call; layouts are those of the operands. An operand may stand twice (INV in place).
typedef struct {
  RitzBatchedOperation operation;
  RitzBatchedOptions options; // without layouts
  double alpha, beta;         // LASWP: k1, negative to go back; k2
  Batch *operand[3];
  int32_t *ipiv, *info; // [num_ipiv], [count], on the host; NULL: none
  int64_t num_ipiv;
} BatchRun;

static inline int batch_call(RitzBatched batched, const BatchRun *run, int64_t count, int32_t *ipiv,
                             int32_t *info) {
  const RitzBatchArray *A = &run->operand[0]->array, *B = run->operand[1] ? &run->operand[1]->array : NULL;
  const RitzBatchArray *C = run->operand[2] ? &run->operand[2]->array : NULL;

  switch (run->operation) {
  case RITZ_BATCHED_GEMM: return RitzGemmBatched(batched, count, run->alpha, A, B, run->beta, C);
  case RITZ_BATCHED_GEMV: return RitzGemvBatched(batched, count, run->alpha, A, B, run->beta, C);
  case RITZ_BATCHED_POTRF: return RitzPotrfBatched(batched, count, A, info);
  case RITZ_BATCHED_POTRS: return RitzPotrsBatched(batched, count, A, B, info);
  case RITZ_BATCHED_GETRF: return RitzGetrfBatched(batched, count, A, ipiv, info);
  case RITZ_BATCHED_GETRS: return RitzGetrsBatched(batched, count, A, ipiv, B, info);
  case RITZ_BATCHED_GETRI: return RitzGetriBatched(batched, count, A, ipiv, info);
  case RITZ_BATCHED_INV: return RitzInvBatched(batched, count, A, B, info);
  case RITZ_BATCHED_TRSM: return RitzTrsmBatched(batched, count, run->alpha, A, B);
  case RITZ_BATCHED_TRSV: return RitzTrsvBatched(batched, count, A, B);
  case RITZ_BATCHED_SYRK: return RitzSyrkBatched(batched, count, run->alpha, A, run->beta, B);
  case RITZ_BATCHED_SYMM: return RitzSymmBatched(batched, count, run->alpha, A, B, run->beta, C);
  case RITZ_BATCHED_SYMV: return RitzSymvBatched(batched, count, run->alpha, A, B, run->beta, C);
  case RITZ_BATCHED_TRMM: return RitzTrmmBatched(batched, count, run->alpha, A, B);
  case RITZ_BATCHED_GESV: return RitzGesvBatched(batched, count, A, ipiv, B, info);
  case RITZ_BATCHED_POSV: return RitzPosvBatched(batched, count, A, B, info);
  case RITZ_BATCHED_LASWP:
    return RitzLaswpBatched(batched, count, A, (int32_t)fabs(run->alpha), (int32_t)run->beta, ipiv,
                            run->alpha < 0 ? -1 : 1);
  case RITZ_BATCHED_GEQRF: return RitzGeqrfBatched(batched, count, A, B, info);
  case RITZ_BATCHED_ORMQR: return RitzOrmqrBatched(batched, count, A, B, C, info);
  case RITZ_BATCHED_ORGQR: return RitzOrgqrBatched(batched, count, A, B, info);
  case RITZ_BATCHED_GELS: return RitzGelsBatched(batched, count, A, B, info);
  case RITZ_BATCHED_COPY: return RitzCopyBatched(batched, count, A, B);
  case RITZ_BATCHED_GEAM: return RitzGeamBatched(batched, count, run->alpha, A, run->beta, B, C);
  case RITZ_BATCHED_LASET: return RitzLasetBatched(batched, count, run->alpha, run->beta, A);
  case RITZ_BATCHED_SYEVJ: return RitzSyevjBatched(batched, count, A, B, info);
  case RITZ_BATCHED_GESVDJ: return RitzGesvdjBatched(batched, count, A, B, C, info);
  }
  return CEED_ERROR_UNSUPPORTED;
}

// An error where a kernel should be and did not compile: the reference would serve, and the test would pass.
static inline int batch_check_kernel(Ceed ceed, RitzBatched batched) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return CEED_ERROR_MAJOR;
  int ierr = RitzBatchedExplain(batched, stream);
  fclose(stream);
  if (!ierr && strstr(text, "no kernel: ") && !strstr(text, "no kernel: sizes are not"))
    ierr = CeedError(ceed, CEED_ERROR_BACKEND, "the reference backend serves: %s", text);
  free(text);
  return ierr;
}

// Eigenvalues on devices alone take memory beside their operands.
static inline int batch_check_workspace(const BatchRun *run, RitzBatched batched) {
  size_t num_bytes = 0;
  const int ierr = RitzBatchedGetWorkspace(batched, 3, &num_bytes);

  tap_check(num_bytes == 0 || run->operation == RITZ_BATCHED_SYEVJ, __FILE__, __LINE__, "num_bytes == 0",
            "operation %d needs %zu bytes for 3 matrices", (int)run->operation, num_bytes);
  return ierr;
}

static inline int batch_create(Ceed ceed, const BatchRun *run, RitzBatched *batched) {
  RitzBatchedOptions options = run->options;

  options.A = run->operand[0]->layout;
  if (run->operand[1]) options.B = run->operand[1]->layout;
  if (run->operand[2]) options.C = run->operand[2]->layout;
  int ierr = RitzBatchedCreate(ceed, run->operation, &options, batched);
  if (!ierr) ierr = batch_check_workspace(run, *batched);
  return ierr ? ierr : batch_check_kernel(ceed, *batched);
}

// Makes an object for the run, calls it on the first `count` matrices; all bytes of the operands are kept
// before.
static inline int batch_run_some(Ceed ceed, const BatchRun *run, int64_t count) {
  RitzBatched batched = NULL;
  BatchMemory ipiv, info;

  const int created = batch_create(ceed, run, &batched);
  if (created) return created;
  batch_memory_make(ceed, (size_t)run->num_ipiv * sizeof(int32_t), &ipiv);
  batch_memory_make(ceed, run->info ? (size_t)count * sizeof(int32_t) : 0, &info);
  if (run->ipiv) memcpy(ipiv.host, run->ipiv, (size_t)run->num_ipiv * sizeof(int32_t));
  for (int i = 0; i < 3; i++) {
    if (!run->operand[i] || (i > 0 && run->operand[i] == run->operand[i - 1])) continue;
    batch_keep(run->operand[i]);
    batch_lend(run->operand[i]);
  }
  int ierr = batch_call(batched, run, count, batch_memory_lend(&ipiv), batch_memory_lend(&info));
  for (int i = 0; i < 3; i++) {
    if (run->operand[i]) batch_return(run->operand[i]);
  }
  batch_memory_return(&ipiv);
  batch_memory_return(&info);
  if (run->ipiv) memcpy(run->ipiv, ipiv.host, (size_t)run->num_ipiv * sizeof(int32_t));
  if (run->info) memcpy(run->info, info.host, (size_t)count * sizeof(int32_t));
  batch_memory_free(&ipiv);
  batch_memory_free(&info);
  const int destroyed = RitzBatchedDestroy(&batched);
  return ierr ? ierr : destroyed;
}

static inline int batch_run(Ceed ceed, const BatchRun *run) {
  return batch_run_some(ceed, run, run->operand[0]->count);
}

// ---- What a backend is tested with ----

// Whether the context serves this operation at all.
static inline bool batch_serves(Ceed ceed, RitzBatchedOperation operation) {
  const RitzBatchLayout one = {.precision = CEED_SCALAR_FP64, .m = 1, .n = 1};
  const RitzBatchedOptions options = {.A = one, .B = one, .C = one};
  RitzBatched batched = NULL;

  return !RitzBatchedCreate(ceed, operation, &options, &batched) && !RitzBatchedDestroy(&batched);
}

static inline bool batch_has_form(Ceed ceed, BatchForm form) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return form != BATCH_POINTERS || !strstr(resource, "opencl");
}

static inline bool batch_is_on_gpu(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return strstr(resource, "/gpu/") == resource;
}

// Whether each shape has a kernel to be compiled.
static inline bool batch_compiles(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return strstr(resource, "/self/gen") || batch_is_on_gpu(ceed);
}

// Sizes to test, from 0 on: a few, fewer where each has kernels; with RITZ_TEST_LEVEL=full more, where
// nothing is compiled all up to 70 and some that are blocked; with exhaustive all and the larger ones of
// these, too.
static inline int batch_sizes(Ceed ceed, const int **sizes) {
  static const int few[] = {0, 1, 2, 3, 4, 7, 12, 17, 33}, fewer[] = {0, 5, 33}, on_host[] = {0, 5, 70},
                   compiled[] = {0, 1, 3, 8, 17, 33, 70};
  static const int large[] = {96, 127, 128, 129, 256, 300};
  static int all[71 + sizeof(large) / sizeof(large[0])];

  if (tap_level() < TAP_EXHAUSTIVE && batch_compiles(ceed)) {
    const bool has_time = tap_level() == TAP_FULL && !tap_compiles_slowly(ceed);
    const bool is_on_gpu = batch_is_on_gpu(ceed);
    *sizes = has_time ? compiled : is_on_gpu ? fewer : on_host;
    return has_time ? 7 - is_on_gpu : 3;
  }
  *sizes = few;
  if (tap_level() == TAP_QUICK) return 9;
  for (int i = 0; i <= 70; i++) all[i] = i;
  memcpy(all + 71, large, sizeof(large));
  *sizes = all;
  return tap_level() == TAP_FULL ? 75 : 77;
}

// One case of a test: a shape in one layout and precision; what is drawn repeats.
enum { BATCH_MAX_COUNT = 8 };
typedef struct {
  Ceed ceed;
  CeedScalarType precision;
  double u; // roundoff
  BatchForm form;
  bool is_ragged; // sizes from 0 to the bounds; else all are the bounds
  CeedInt n;      // what the sizes are made from
  int64_t count;
  uint64_t state;
  CeedInt bound[5]; // m, n, k, min(m, n), max(m, n)
  int32_t size[5][BATCH_MAX_COUNT];
} BatchCase;

enum { BATCH_M, BATCH_N, BATCH_K, BATCH_LEAST, BATCH_LARGEST, BATCH_ONE };

// Sizes that follow from m and n, where these are drawn.
static inline void batch_derive_sizes(BatchCase *c) {
  const CeedInt m = c->bound[BATCH_M], n = c->bound[BATCH_N];

  c->bound[BATCH_LEAST] = m < n ? m : n;
  c->bound[BATCH_LARGEST] = m < n ? n : m;
  for (int64_t i = 0; i < c->count; i++) {
    const bool is_wide = c->size[BATCH_M][i] < c->size[BATCH_N][i];

    c->size[BATCH_LEAST][i] = c->size[is_wide ? BATCH_M : BATCH_N][i];
    c->size[BATCH_LARGEST][i] = c->size[is_wide ? BATCH_N : BATCH_M][i];
  }
}

// No matrix has more of dimension d than of dimension `most`.
static inline void batch_limit_sizes(BatchCase *c, int d, int most) {
  for (int64_t i = 0; i < c->count; i++) {
    if (c->size[d][i] > c->size[most][i]) c->size[d][i] = c->size[most][i];
  }
  batch_derive_sizes(c);
}

// The first matrix of a ragged case has the sizes of the bounds.
static inline void batch_draw_sizes(BatchCase *c, CeedInt m, CeedInt n, CeedInt k) {
  const CeedInt bound[3] = {m, n, k};

  for (int d = 0; d < 3; d++) {
    c->bound[d] = bound[d];
    for (int64_t i = 0; i < c->count; i++)
      c->size[d][i] =
          c->is_ragged && i > 0 ? (int32_t)tap_integer(&c->state, bound[d] + 1) : (int32_t)bound[d];
  }
  batch_derive_sizes(c);
}

// The operand with these dimensions as rows and columns.
static inline void batch_make_operand(BatchCase *c, int rows, int cols, Batch *b) {
  batch_make(c->ceed, c->precision, c->form, c->count, c->bound[rows], cols == BATCH_ONE ? 1 : c->bound[cols],
             c->is_ragged ? c->size[rows] : NULL, c->is_ragged && cols != BATCH_ONE ? c->size[cols] : NULL,
             b);
}

// Runs the test on all precisions, layouts and sizes; ends with the first check that fails. Sizes beyond the
// few of the quick level take turns with layouts. Non-uniform batches on GPUs compile a kernel for each class
// of sizes: on the quick level, and where that takes long, floats have the classes of small ones.
static inline void batch_for_cases(Ceed ceed, void (*test)(BatchCase *c)) {
  const int *sizes, num_sizes = batch_sizes(ceed, &sizes);
  const bool has_time =
      tap_level() == TAP_EXHAUSTIVE || (tap_level() == TAP_FULL && !tap_compiles_slowly(ceed));
  const bool has_few_classes = batch_is_on_gpu(ceed) && !has_time;

  for (int s = 0; s < num_sizes; s++) {
    const int turns = sizes[s] > 70 ? 9 : num_sizes > 9 ? 3 : 1;

    for (int form = 0; form < NUM_BATCH_FORMS + 2; form++) {
      const bool is_ragged = form >= NUM_BATCH_FORMS;
      const BatchForm used = !is_ragged ? (BatchForm)form : form % 2 ? BATCH_OFFSETS : BATCH_PACKED;

      if (!batch_has_form(ceed, used) || (form + sizes[s]) % turns > 0) continue;
      // A kernel for each precision, operation and class: on hosts floats have theirs in
      // tests/test-batched-special.c, and, but for classes, here at the full level; on GPUs at the quick
      // level, and where compilers are slow, some layouts have floats, and small classes.
      const bool is_double = batch_compiles(ceed) && !batch_is_on_gpu(ceed) &&
                             (tap_level() == TAP_QUICK || (is_ragged && tap_level() < TAP_EXHAUSTIVE));
      const bool is_left_out = has_few_classes && (is_ragged ? sizes[s] > 8 : (form + s) % 3 > 0);
      for (int single = 0; single < (is_double || is_left_out ? 1 : 2); single++) {
        BatchCase c = {.ceed = ceed,
                       .precision = single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64,
                       .form = used,
                       .is_ragged = is_ragged,
                       .n = sizes[s],
                       .count = sizes[s] > 70 ? 2 : 5 + form % 3,
                       .state = (uint64_t)(1000 * sizes[s] + 10 * form + single + 1)};

        c.u = batch_roundoff(c.precision);
        test(&c);
        if (tap_failed()) {
          tap_note("n = %d, %s%s, %s", sizes[s], is_ragged ? "non-uniform " : "", batch_form_names[used],
                   single ? "FP32" : "FP64");
          return;
        }
      }
    }
  }
}

// ---- Dense oracles: column-major without gaps, sums in long double ----

static inline double dense_norm(const double *A, int64_t m, int64_t n) {
  double norm = 0;

  for (int64_t c = 0; c < n; c++) {
    double sum = 0;
    for (int64_t r = 0; r < m; r++) sum += fabs(A[r + c * m]);
    if (isnan(sum)) return sum;
    if (sum > norm) norm = sum;
  }
  return norm;
}

// C = op(A) op(B), m x n with k products; lda, ldb as stored.
static inline double *dense_product(const double *A, int64_t lda, bool ta, const double *B, int64_t ldb,
                                    bool tb, int64_t m, int64_t n, int64_t k) {
  double *C = malloc((size_t)(m * n + 1) * sizeof(*C));

  if (!C) abort();
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) {
      long double sum = 0;
      for (int64_t i = 0; i < k; i++)
        sum += (long double)(ta ? A[i + r * lda] : A[r + i * lda]) * (tb ? B[c + i * ldb] : B[i + c * ldb]);
      C[r + c * m] = (double)sum;
    }
  }
  return C;
}

// |A - B|_1; NaN where there is one.
static inline double dense_distance(const double *A, const double *B, int64_t m, int64_t n) {
  double *D = malloc((size_t)(m * n + 1) * sizeof(*D));

  if (!D) abort();
  for (int64_t i = 0; i < m * n; i++) D[i] = A[i] - B[i];
  const double norm = dense_norm(D, m, n);
  free(D);
  return norm;
}

// A triangle of M, n x n: the other one is zeros, ones on the diagonal of a unit triangle.
static inline void dense_keep_triangle(double *M, int64_t m, int64_t n, bool is_lower, bool is_unit) {
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) {
      if (r == c && is_unit) M[r + c * m] = 1;
      if (is_lower ? r < c : r > c) M[r + c * m] = 0;
    }
  }
}

#endif
