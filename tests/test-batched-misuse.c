// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra used wrongly: every refusal tells call, found and needed, and does nothing; what only
// looks wrong is served. Messages are those of core/, so one backend of each kind shows them.
#include "tests/api.h"
#include "tests/batched-kit.h"

#include "base/memory.h"

static const RitzBatchLayout square = {.precision = CEED_SCALAR_FP64, .m = 3, .n = 3};
static const RitzBatchLayout column = {.precision = CEED_SCALAR_FP64, .m = 3, .n = 1};

// ---- Objects ----

// One layout wrong.
static const struct {
  RitzBatchedOperation operation;
  RitzBatchLayout A, B, C;
  int code;
  const char *fragment;
} wrong_layouts[] = {
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, -1, 3, 0, 0, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "Getrf: A is -1 x 3, needed sizes of at least 0"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 2, 0, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "Getrf: the leading dimension of A is 2, needed at least its 3 rows"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, -4, 0, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the leading dimension of A is -4"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 4, 10, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the stride of A is 10, needed at least the 11 entries of one matrix"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 4, -12, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the stride of A is -12"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 3, 71, 8},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the stride of A is 71, needed at least the 72 entries"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 3},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the width of A is 3, needed a power of 2 up to 64"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 128},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the width of A is 128"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, -2},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "the width of A is -2"},
    {RITZ_BATCHED_GETRF,
     {CEED_SCALAR_FP64, 2000000000, 2000000000, 0, 0, 64},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "needed less than 1e18"},
    {RITZ_BATCHED_GETRF,
     {(CeedScalarType)7, 3, 3, 0, 0, 0},
     {0},
     {0},
     CEED_ERROR_UNSUPPORTED,
     "the precision of A is 7"},
    {RITZ_BATCHED_GETRS,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     {CEED_SCALAR_FP32, 3, 1, 0, 0, 0},
     {0},
     CEED_ERROR_INCOMPATIBLE,
     "Getrs: B has FP32, but A has FP64"},
    {RITZ_BATCHED_GETRS,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Getrs: B has 4 rows, needed 3 (n)"},
    {RITZ_BATCHED_POTRF,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {0},
     {0},
     CEED_ERROR_DIMENSION,
     "Potrf: A has 4 columns, needed 3 (n)"},
    {RITZ_BATCHED_TRSV,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Trsv: B has 2 columns, needed 1 (a vector is one column)"},
    {RITZ_BATCHED_GEMM,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Gemm: B has 3 rows, needed 4 (k)"},
    {RITZ_BATCHED_GEMM,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 2, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Gemm: C has 3 columns, needed 2 (n)"},
    {RITZ_BATCHED_SYRK,
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Syrk: B has 2 columns, needed 3 (n)"},
    {RITZ_BATCHED_SYMM,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Symm: A has 4 columns, needed 3 (m)"},
    {RITZ_BATCHED_GEQRF,
     {CEED_SCALAR_FP64, 3, 5, 0, 0, 0},
     {CEED_SCALAR_FP64, 5, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Geqrf: B has 5 rows, needed 3 (the smaller one of m and n)"},
    {RITZ_BATCHED_GEQRF,
     {CEED_SCALAR_FP64, 5, 3, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Geqrf: B has 3 columns, needed 1 (a vector is one column)"},
    {RITZ_BATCHED_ORMQR,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 1, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 2, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Ormqr: 4 reflectors, needed at most 3"},
    {RITZ_BATCHED_ORGQR,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Orgqr: A is 3 x 4, needed at least as many rows as columns"},
    {RITZ_BATCHED_ORGQR,
     {CEED_SCALAR_FP64, 4, 3, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Orgqr: 4 reflectors, needed at most 3"},
    {RITZ_BATCHED_GELS,
     {CEED_SCALAR_FP64, 3, 5, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Gels: B has 3 rows, needed 5 (the larger one of m and n)"},
    {RITZ_BATCHED_COPY,
     {CEED_SCALAR_FP64, 3, 5, 0, 0, 0},
     {CEED_SCALAR_FP64, 5, 3, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Copy: B has 5 rows, needed 3 (m)"},
    {RITZ_BATCHED_GEAM,
     {CEED_SCALAR_FP64, 3, 5, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 5, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Geam: C has 4 columns, needed 5 (n)"},
    {RITZ_BATCHED_SYEVJ,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 1, 0, 0, 0},
     {0},
     CEED_ERROR_DIMENSION,
     "Syevj: A has 4 columns, needed 3 (n)"},
    {RITZ_BATCHED_SYEVJ,
     {CEED_SCALAR_FP64, 3, 3, 0, 0, 0},
     {CEED_SCALAR_FP32, 3, 1, 0, 0, 0},
     {0},
     CEED_ERROR_INCOMPATIBLE,
     "Syevj: B has FP32, but A has FP64"},
    {RITZ_BATCHED_GESVDJ,
     {CEED_SCALAR_FP64, 3, 4, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 1, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 4, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Gesvdj: A is 3 x 4, needed at least as many rows as columns"},
    {RITZ_BATCHED_GESVDJ,
     {CEED_SCALAR_FP64, 4, 3, 0, 0, 0},
     {CEED_SCALAR_FP64, 3, 1, 0, 0, 0},
     {CEED_SCALAR_FP64, 4, 4, 0, 0, 0},
     CEED_ERROR_DIMENSION,
     "Gesvdj: C has 4 rows, needed 3 (n)"},
};

TEST_EACH_BACKEND(layouts_that_cannot_be_are_refused) {
  for (size_t i = 0; i < sizeof(wrong_layouts) / sizeof(wrong_layouts[0]); i++) {
    const RitzBatchedOptions options = {
        .A = wrong_layouts[i].A, .B = wrong_layouts[i].B, .C = wrong_layouts[i].C};
    RitzBatched batched = NULL;

    CHECK_ERROR(ceed, RitzBatchedCreate(ceed, wrong_layouts[i].operation, &options, &batched),
                wrong_layouts[i].code, wrong_layouts[i].fragment);
    CHECK(!batched, "an object was made of row %d", (int)i);
  }
}

TEST_EACH_BACKEND(choices_that_do_not_exist_are_refused) {
  RitzBatchedOptions options = {.A = square, .B = square, .C = square};
  RitzBatched batched = NULL;

  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, (RitzBatchedOperation)77, &options, &batched),
              CEED_ERROR_UNSUPPORTED, "RitzBatchedCreate: operation 77, needed 0 to 25");
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, (RitzBatchedOperation)-1, &options, &batched),
              CEED_ERROR_UNSUPPORTED, "operation -1");
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, NULL, &batched), CEED_ERROR_INCOMPATIBLE,
              "options");
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, &options, NULL), CEED_ERROR_INCOMPATIBLE,
              "batched");
  options.trans_b = (CeedTransposeMode)2;
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, &options, &batched), CEED_ERROR_INCOMPATIBLE,
              "Gemm: trans_b is 2, needed one of the two enumerators");
  options.trans_b = CEED_NOTRANSPOSE;
  options.uplo = (RitzTriangle)9;
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_TRSM, &options, &batched), CEED_ERROR_INCOMPATIBLE,
              "Trsm: uplo is 9");
  options.uplo = RITZ_TRIANGLE_LOWER;
  options.vectors = (RitzVectors)2;
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_SYEVJ, &options, &batched), CEED_ERROR_INCOMPATIBLE,
              "Syevj: vectors is 2");
  options.vectors = RITZ_VECTORS_ALL;
  options.num_pivots = -1;
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_LASWP, &options, &batched), CEED_ERROR_DIMENSION,
              "Laswp: num_pivots is -1, needed at least 0");
}

TEST_EACH_BACKEND(devices_without_kernels_say_so) {
  if (!batch_is_on_device(ceed) || batch_serves(ceed, RITZ_BATCHED_GETRF))
    NOT_FOR_THIS_BACKEND("it serves batches");
  RitzBatched batched = NULL;
  CHECK_ERROR(ceed, RitzBatchedCreate(ceed, RITZ_BATCHED_GETRF, &(RitzBatchedOptions){.A = square}, &batched),
              CEED_ERROR_UNSUPPORTED, "RitzBatchedCreate: Getrf: the context");
}

TEST_EACH_BACKEND(host_memory_is_refused_on_devices) {
  if (!batch_is_on_device(ceed) || !batch_serves(ceed, RITZ_BATCHED_POTRF))
    NOT_FOR_THIS_BACKEND("no device that serves batches");
  double a[27] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t info[3] = {0}, value;
  int64_t index;
  RitzBatched batched = NULL;
  BatchMemory memory;

  batch_memory_make(ceed, 100 * sizeof(double), &memory);
  const RitzBatchArray array = {.base = batch_memory_lend(&memory)};
  const RitzBatchedOptions options = {.A = square};
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_POTRF, &options, &batched));
  CHECK_ERROR(ceed, RitzPotrfBatched(batched, 3, &(RitzBatchArray){.base = a}, NULL), CEED_ERROR_BACKEND,
              "RitzPotrfBatched: the array given as device memory is not memory of this device");
  CHECK_ERROR(ceed, RitzPotrfBatched(batched, 3, &array, info), CEED_ERROR_BACKEND, "RitzPotrfBatched");
  CHECK_ERROR(ceed, RitzPotrfBatched(batched, 1200, &array, NULL), CEED_ERROR_BACKEND, "bytes, needed 86400");
  CHECK_ERROR(ceed, RitzBatchedGetFirstFailure(batched, info, 3, &index, &value), CEED_ERROR_BACKEND,
              "RitzBatchedGetFirstFailure");
  CHECK_OK(RitzPotrfBatched(batched, 11, &array, NULL));
  CHECK_OK(RitzBatchedDestroy(&batched));
  batch_memory_return(&memory);
  batch_memory_free(&memory);
}

// ---- Workspace ----

// None up to n = 64; else what the library says is enough, and less is refused.
TEST_EACH_BACKEND(workspace_grows_with_the_count_and_is_enough) {
  if (!batch_serves(ceed, RITZ_BATCHED_GETRF)) NOT_FOR_THIS_BACKEND("no kernels for this batched operation");
  static const CeedInt sizes[] = {0, 8, 64, 130};

  for (int s = 0; s < 4; s++) {
    const RitzBatchedOptions options = {.A = {.precision = CEED_SCALAR_FP64, .m = sizes[s], .n = sizes[s]}};
    size_t last = 0, num_bytes = 1;
    RitzBatched batched = NULL;
    BatchMemory work;

    CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GETRF, &options, &batched));
    CHECK_ERROR(ceed, RitzBatchedGetWorkspace(batched, -1, &num_bytes), CEED_ERROR_DIMENSION, "count is -1");
    for (int64_t count = 0; count < 3000; count += 1 + count / 2) {
      CHECK_OK(RitzBatchedGetWorkspace(batched, count, &num_bytes));
      CHECK(num_bytes >= last, "%zu bytes for %d matrices, fewer ones need %zu", num_bytes, (int)count, last);
      CHECK(num_bytes == 0 || sizes[s] > 64, "n = %d needs %zu bytes", (int)sizes[s], num_bytes);
      last = num_bytes;
    }
    CHECK_OK(RitzBatchedGetWorkspace(batched, 2, &num_bytes));
    batch_memory_make(ceed, num_bytes + 64, &work);
    Batch A;
    uint64_t state = 61;
    BatchMemory pivots;
    batch_memory_make(ceed, (size_t)(2 * sizes[s]) * sizeof(int32_t), &pivots);
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, 2, sizes[s], sizes[s], NULL, NULL, &A);
    batch_fill_random(&A, 1, &state);
    batch_lend(&A);
    char *memory = batch_memory_lend(&work);
    const int given = RitzBatchedSetWorkspace(batched, memory, num_bytes + 64);
    const int called = RitzGetrfBatched(batched, 2, &A.array, batch_memory_lend(&pivots), NULL);
    const int taken = RitzBatchedSetWorkspace(batched, NULL, 0);
    batch_return(&A), batch_memory_return(&work), batch_memory_return(&pivots);
    batch_free(&A), batch_memory_free(&work), batch_memory_free(&pivots);
    // The memory of a vector may begin anywhere.
    CHECK((uintptr_t)memory % 64 == 0 ? given == 0 : given == CEED_ERROR_DIMENSION, "code %d", given);
    CHECK_OK(called);
    CHECK_OK(taken);
    CHECK_OK(RitzBatchedDestroy(&batched));
  }
}

// Eigenvalues of matrices in global memory, in the caller's room or the object's own; too small a room.
TEST_EACH_BACKEND(eigenvalues_are_the_same_in_the_callers_room) {
  const RitzBatchLayout square = {.precision = CEED_SCALAR_FP64, .m = 7, .n = 7};
  const RitzBatchedOptions options = {.A = square, .B = {.precision = CEED_SCALAR_FP64, .m = 7, .n = 1}};
  size_t num_bytes = 0;
  RitzBatched batched = NULL;
  BatchMemory room;
  Batch A[2], w[2];

  if (!batch_is_on_gpu(ceed)) NOT_FOR_THIS_BACKEND("needs no room");
  setenv("RITZ_BATCHED_KERNEL", "any", 1);
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_SYEVJ, &options, &batched));
  unsetenv("RITZ_BATCHED_KERNEL");
  CHECK_OK(RitzBatchedGetWorkspace(batched, 3, &num_bytes));
  CHECK(num_bytes >= 49 * sizeof(double), "%zu bytes", num_bytes);
  batch_memory_make(ceed, num_bytes + 64, &room);
  char *memory = batch_memory_lend(&room);
  memory += (64 - (uintptr_t)memory % 64) % 64;
  for (int i = 0; i < 2; i++) {
    uint64_t state = 5;
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, 3, 7, 7, NULL, NULL, &A[i]);
    batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, 3, 7, 1, NULL, NULL, &w[i]);
    batch_fill_random(&A[i], 1, &state);
    batch_lend(&A[i]), batch_lend(&w[i]);
    if (i == 1) {
      CHECK_OK(RitzBatchedSetWorkspace(batched, memory, num_bytes - 1));
      CHECK_ERROR(ceed, RitzSyevjBatched(batched, 3, &A[i].array, &w[i].array, NULL), CEED_ERROR_DIMENSION,
                  "RitzSyevjBatched: the workspace has");
      CHECK_OK(RitzBatchedSetWorkspace(batched, memory, num_bytes));
    }
    CHECK_OK(RitzSyevjBatched(batched, 3, &A[i].array, &w[i].array, NULL));
    batch_return(&A[i]), batch_return(&w[i]);
  }
  for (int64_t i = 0; i < 3; i++)
    CHECK(batch_same_bits(&w[0], i, &w[1], i) && batch_same_bits(&A[0], i, &A[1], i), "matrix %d", (int)i);
  CHECK_OK(RitzBatchedDestroy(&batched));
  batch_memory_return(&room);
  batch_memory_free(&room);
  for (int i = 0; i < 2; i++) batch_free(&A[i]), batch_free(&w[i]);
}

// ---- Calls ----

// Objects on the host and memory for three matrices.
typedef struct {
  Ceed ceed;
  RitzBatched getrf, getrs, gemm, inv;
  double a[64], b[64], c[64];
  int32_t ipiv[9], info[3];
} Calls;

static bool make_calls(Calls *s, const char *resource) {
  const RitzBatchedOptions options = {.A = square, .B = column},
                           products = {.A = square, .B = square, .C = square};

  *s = (Calls){.ceed = tap_ceed(resource)};
  for (int i = 0; i < 27; i++) s->a[i] = i % 4 == 0 ? 4 : 1;
  return !RitzBatchedCreate(s->ceed, RITZ_BATCHED_GETRF, &options, &s->getrf) &&
         !RitzBatchedCreate(s->ceed, RITZ_BATCHED_GETRS, &options, &s->getrs) &&
         !RitzBatchedCreate(s->ceed, RITZ_BATCHED_GEMM, &products, &s->gemm) &&
         !RitzBatchedCreate(s->ceed, RITZ_BATCHED_INV, &products, &s->inv);
}

static void free_calls(Calls *s) {
  RitzBatchedDestroy(&s->getrf);
  RitzBatchedDestroy(&s->getrs);
  RitzBatchedDestroy(&s->gemm);
  RitzBatchedDestroy(&s->inv);
  CeedDestroy(&s->ceed);
}

static void check_refusals(Calls *s) {
  const RitzBatchArray A = {.base = s->a}, B = {.base = s->b};
  const int64_t offsets[] = {0, 9, 18};
  const int32_t sizes[] = {3, 3, 3};
  void *const pointers[] = {s->a, s->a + 9, s->a + 18};

  CHECK_ERROR(s->ceed, RitzGetrsBatched(s->getrf, 3, &A, s->ipiv, &B, s->info), CEED_ERROR_INCOMPATIBLE,
              "RitzGetrsBatched: the object is one of RitzGetrfBatched, needed one of RitzGetrsBatched");
  CHECK_ERROR(s->ceed, RitzGetrfBatched(s->getrf, -1, &A, s->ipiv, s->info), CEED_ERROR_DIMENSION,
              "RitzGetrfBatched: count is -1");
  CHECK_ERROR(s->ceed, RitzGetrfBatched(s->getrf, 3, NULL, s->ipiv, s->info), CEED_ERROR_INCOMPATIBLE,
              "RitzGetrfBatched: argument 'A' is NULL");
  CHECK_ERROR(s->ceed, RitzGetrfBatched(s->getrf, 3, &A, NULL, s->info), CEED_ERROR_INCOMPATIBLE,
              "RitzGetrfBatched: argument 'ipiv' is NULL, needed the pivots of 3 matrices");
  CHECK_ERROR(s->ceed, RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){0}, s->ipiv, s->info),
              CEED_ERROR_INCOMPATIBLE, "A has neither a base nor pointers");
  CHECK_ERROR(s->ceed,
              RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){.base = s->a, .pointers = pointers}, s->ipiv,
                               s->info),
              CEED_ERROR_INCOMPATIBLE, "A has a base and pointers");
  CHECK_ERROR(s->ceed,
              RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){.pointers = pointers, .offsets = offsets},
                               s->ipiv, s->info),
              CEED_ERROR_INCOMPATIBLE, "A has offsets and pointers");
  CHECK_ERROR(s->ceed,
              RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){.base = s->a, .row0 = -1}, s->ipiv, s->info),
              CEED_ERROR_DIMENSION, "the sub-matrix of A starts at (-1, 0)");
  CHECK_ERROR(s->ceed,
              RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){.base = s->a, .row0 = 1}, s->ipiv, s->info),
              CEED_ERROR_DIMENSION, "A has 3 rows from row 1 on, needed them within the leading dimension 3");
  CHECK_ERROR(s->ceed,
              RitzGetrfBatched(s->getrf, 3, &(RitzBatchArray){.base = s->a, .col0 = 1}, s->ipiv, s->info),
              CEED_ERROR_DIMENSION, "the sub-matrix of A ends at entry 12, needed within the stride 9");
  CHECK_ERROR(s->ceed, RitzGetrfBatched(s->getrf, INT64_MAX / 2, &A, s->ipiv, s->info), CEED_ERROR_DIMENSION,
              "needed less than 1e18");
  CHECK_ERROR(s->ceed, RitzBatchedAnalyze(s->getrf, 3, sizes, (int32_t[]){3, 4, 3}, NULL),
              CEED_ERROR_DIMENSION, "RitzBatchedAnalyze: n of matrix 1 is 4, needed 0 to 3");
  CHECK_OK(RitzBatchedAnalyze(s->getrf, 3, sizes, sizes, NULL));
  CHECK_ERROR(s->ceed, RitzBatchedSetWorkspace(s->getrf, s->a, 0), CEED_ERROR_INCOMPATIBLE,
              "0 bytes at an address");
  CHECK_ERROR(s->ceed, RitzBatchedSetWorkspace(s->getrf, (void *)(uintptr_t)4136, 64), CEED_ERROR_DIMENSION,
              "the address is 40 bytes beyond a multiple of 64");
  for (int i = 0; i < 27; i++) CHECK(s->a[i] == (i % 4 == 0 ? 4 : 1), "entry %d has changed", i);
}

TEST(wrong_calls_are_refused_and_do_nothing) {
  static const char *const resources[] = {"/cpu/self/ref", "/cpu/self/check"};

  for (int r = 0; r < 2 && !tap_failed(); r++) {
    Calls s;
    const bool is_made = make_calls(&s, resources[r]);

    if (is_made) check_refusals(&s);
    free_calls(&s);
    CHECK(is_made, "no objects");
  }
}

TEST(interleaved_arrays_have_no_places_and_sizes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzBatchLayout wide = square;
  double a[72] = {0};
  const int32_t sizes[8] = {0};
  const int64_t offsets[8] = {0};
  RitzBatched batched = NULL;

  wide.width = 8;
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_POTRF, &(RitzBatchedOptions){.A = wide}, &batched));
  CHECK_ERROR(ceed, RitzPotrfBatched(batched, 8, &(RitzBatchArray){.base = a, .rows = sizes}, NULL),
              CEED_ERROR_INCOMPATIBLE, "A is interleaved (width 8) and has arrays of places or sizes");
  CHECK_ERROR(ceed, RitzPotrfBatched(batched, 8, &(RitzBatchArray){.base = a, .offsets = offsets}, NULL),
              CEED_ERROR_INCOMPATIBLE, "A is interleaved");
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK_OK(CeedDestroy(&ceed));
}

// Objects on 3 x 3 matrices, and calls that each do one thing wrong.
TEST(wrong_calls_of_factors_and_copies_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzBatchLayout vector = {.precision = CEED_SCALAR_FP64, .m = 3, .n = 1},
                        single = {.precision = CEED_SCALAR_FP32, .m = 3, .n = 3};
  RitzBatched swap = NULL, copy = NULL, svd = NULL, qr = NULL, gesv = NULL;
  double a[27] = {0}, b[9] = {0}, v[41] = {0};
  const RitzBatchArray A = {.base = a}, B = {.base = b}, V = {.base = v};
  const int32_t ipiv[12] = {3, 2, 3, 0, 3, 2, 3, 0, 3, 2, 3, 0};

  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_LASWP, &(RitzBatchedOptions){.A = square, .num_pivots = 4},
                             &swap));
  CHECK_OK(
      RitzBatchedCreate(ceed, RITZ_BATCHED_COPY, &(RitzBatchedOptions){.A = square, .B = single}, &copy));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GESVDJ,
                             &(RitzBatchedOptions){.A = square, .B = vector, .vectors = RITZ_VECTORS_NONE},
                             &svd));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GEQRF, &(RitzBatchedOptions){.A = square, .B = vector}, &qr));
  CHECK_OK(
      RitzBatchedCreate(ceed, RITZ_BATCHED_GESV, &(RitzBatchedOptions){.A = square, .B = vector}, &gesv));
  a[0] = 5;
  CHECK_ERROR(ceed, RitzLaswpBatched(swap, 3, &A, 0, 3, ipiv, 1), CEED_ERROR_DIMENSION,
              "RitzLaswpBatched: steps 0 to 3, needed them within 1 to 3");
  CHECK_ERROR(ceed, RitzLaswpBatched(swap, 3, &A, 1, 4, ipiv, 1), CEED_ERROR_DIMENSION, "steps 1 to 4");
  CHECK_ERROR(ceed, RitzLaswpBatched(swap, 3, &A, 1, 3, ipiv, 2), CEED_ERROR_INCOMPATIBLE,
              "the increment is 2, needed 1 or -1");
  CHECK_ERROR(ceed, RitzLaswpBatched(swap, 3, &A, 1, 3, NULL, 1), CEED_ERROR_INCOMPATIBLE,
              "argument 'ipiv' is NULL");
  CHECK_ERROR(ceed, RitzLaswpBatched(copy, 3, &A, 9, 9, ipiv, 1), CEED_ERROR_INCOMPATIBLE,
              "the object is one of RitzCopyBatched, needed one of RitzLaswpBatched");
  CHECK_OK(RitzLaswpBatched(swap, 3, &A, 2, 1, ipiv, 1)); // none
  CHECK(a[0] == 5 && a[2] == 0, "a row was swapped");
  CHECK_OK(RitzLaswpBatched(swap, 3, &A, 1, 3, ipiv, 1));
  CHECK(a[0] == 0 && a[2] == 5, "rows 1 and 3 were not swapped");
  // The copy in float takes half the bytes: matrix 2 of A begins at byte 144.
  CHECK_ERROR(ceed, RitzCopyBatched(copy, 3, &A, &(RitzBatchArray){.base = (char *)a + 144}),
              CEED_ERROR_INCOMPATIBLE, "RitzCopyBatched: B, which is written, has entries of A");
  CHECK_ERROR(ceed, RitzCopyBatched(copy, 3, &(RitzBatchArray){.base = v + 13}, &V), CEED_ERROR_INCOMPATIBLE,
              "B, which is written, has entries of A");
  CHECK_OK(RitzCopyBatched(copy, 3, &(RitzBatchArray){.base = v + 14}, &V));
  CHECK_OK(RitzCopyBatched(copy, 1, &A, &(RitzBatchArray){.base = (char *)a + 72}));
  CHECK_OK(RitzGesvdjBatched(svd, 3, &V, &B, NULL, NULL)); // without vectors
  CHECK_ERROR(ceed, RitzGesvdjBatched(svd, 3, &V, NULL, NULL, NULL), CEED_ERROR_INCOMPATIBLE,
              "argument 'B' is NULL");
  CHECK_ERROR(ceed, RitzGeqrfBatched(qr, 3, &A, &(RitzBatchArray){.base = a + 26}, NULL),
              CEED_ERROR_INCOMPATIBLE, "A, which is written, has entries of B");
  CHECK_ERROR(ceed, RitzGesvBatched(gesv, 3, &A, NULL, &B, NULL), CEED_ERROR_INCOMPATIBLE,
              "argument 'ipiv' is NULL");
  CHECK_OK(RitzBatchedDestroy(&swap));
  CHECK_OK(RitzBatchedDestroy(&copy));
  CHECK_OK(RitzBatchedDestroy(&svd));
  CHECK_OK(RitzBatchedDestroy(&qr));
  CHECK_OK(RitzBatchedDestroy(&gesv));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Overlaps ----

static int multiply(const Calls *s, int64_t count, RitzBatchArray A, RitzBatchArray B, RitzBatchArray C) {
  return RitzGemmBatched(s->gemm, count, 1, &A, &B, 0, &C);
}

TEST(results_over_operands_are_refused_and_neighbours_are_not) {
  Calls s;
  CHECK(make_calls(&s, "/cpu/self/ref"), "no objects");
  const RitzBatchArray a = {.base = s.a}, b = {.base = s.b}, c = {.base = s.c};

  CHECK_OK(multiply(&s, 3, a, a, c)); // operands that are read may be one
  CHECK_ERROR(s.ceed, multiply(&s, 3, a, b, a), CEED_ERROR_INCOMPATIBLE,
              "RitzGemmBatched: C, which is written, has entries of A, needed arrays without common entries");
  CHECK_ERROR(s.ceed, multiply(&s, 3, a, b, (RitzBatchArray){.base = s.b + 8}), CEED_ERROR_INCOMPATIBLE,
              "C, which is written, has entries of B");
  CHECK_ERROR(s.ceed, multiply(&s, 3, a, b, (RitzBatchArray){.base = s.b + 9}), CEED_ERROR_INCOMPATIBLE,
              "C, which is written, has entries of B");
  CHECK_OK(multiply(&s, 3, a, b, (RitzBatchArray){.base = s.b + 27}));
  CHECK_OK(multiply(&s, 1, a, b, (RitzBatchArray){.base = s.b + 9}));
  CHECK_OK(RitzInvBatched(s.inv, 3, &a, &a, NULL)); // in place
  CHECK_ERROR(s.ceed, RitzInvBatched(s.inv, 3, &a, &(RitzBatchArray){.base = s.a + 9}, NULL),
              CEED_ERROR_INCOMPATIBLE, "B, which is written, has entries of A");
  free_calls(&s);
}

// Blocks of one matrix of order 6, and records of three matrices: they share ranges, but no entries.
TEST(blocks_of_a_matrix_and_records_are_no_overlap) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const RitzBatchLayout block = {.precision = CEED_SCALAR_FP64, .m = 3, .n = 3, .ld = 6, .stride = 36};
  const RitzBatchLayout record = {.precision = CEED_SCALAR_FP64, .m = 3, .n = 3, .stride = 27};
  double a[72] = {0};
  RitzBatched blocks = NULL, records = NULL;

  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM,
                             &(RitzBatchedOptions){.A = block, .B = block, .C = block}, &blocks));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM,
                             &(RitzBatchedOptions){.A = record, .B = record, .C = record}, &records));
  const RitzBatchArray low = {.base = a, .row0 = 3}, right = {.base = a, .col0 = 3};
  const RitzBatchArray last = {.base = a, .row0 = 3, .col0 = 3}, middle = {.base = a, .row0 = 2, .col0 = 3};
  CHECK_OK(RitzGemmBatched(blocks, 2, -1, &low, &right, 1, &last));
  CHECK_ERROR(ceed, RitzGemmBatched(blocks, 2, -1, &last, &low, 1, &middle), CEED_ERROR_INCOMPATIBLE,
              "C, which is written, has entries of A");
  CHECK_OK(RitzGemmBatched(records, 2, 1, &(RitzBatchArray){.base = a}, &(RitzBatchArray){.base = a + 9}, 0,
                           &(RitzBatchArray){.base = a + 18}));
  CHECK_ERROR(ceed,
              RitzGemmBatched(records, 2, 1, &(RitzBatchArray){.base = a}, &(RitzBatchArray){.base = a + 9},
                              0, &(RitzBatchArray){.base = a + 17}),
              CEED_ERROR_INCOMPATIBLE, "C, which is written, has entries of B");
  CHECK_OK(RitzBatchedDestroy(&blocks));
  CHECK_OK(RitzBatchedDestroy(&records));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Vectors ----

TEST(vectors_that_do_not_fit_are_refused) {
  Calls s;
  Ceed other = tap_ceed("/cpu/self/ref");
  CeedVector vec[2] = {NULL, NULL};
  RitzBatchArray array[2];
  const bool is_double = CEED_SCALAR_TYPE == CEED_SCALAR_FP64;

  CHECK(make_calls(&s, "/cpu/self/ref"), "no objects");
  CHECK_OK(CeedVectorCreate(other, 27, &vec[0]));
  CHECK_OK(RitzVectorCreate(s.ceed, 27, CEED_SCALAR_FP32, &vec[1]));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(CeedVectorSetValue(vec[i], 1));
    CHECK_ERROR(i ? s.ceed : other, RitzBatchArrayFromVector(vec[i], (RitzAccess)5, &array[i]),
                CEED_ERROR_INCOMPATIBLE, "access is 5");
    CHECK_OK(RitzBatchArrayFromVector(vec[i], RITZ_ACCESS_READ_WRITE, &array[i]));
  }
  CHECK_ERROR(s.ceed, RitzGetrfBatched(s.getrf, 3, &array[0], s.ipiv, NULL), CEED_ERROR_INCOMPATIBLE,
              "the vector of A belongs to another context");
  CHECK_ERROR(s.ceed, RitzGetrfBatched(s.getrf, 3, &array[1], s.ipiv, NULL), CEED_ERROR_INCOMPATIBLE,
              "the vector of A has FP32, needed FP64");
  for (int i = 0; i < 2; i++) CHECK_OK(RitzBatchArrayRestoreVector(&array[i]));
  CHECK_ERROR(NULL, RitzBatchArrayRestoreVector(&array[0]), CEED_ERROR_INCOMPATIBLE, "array->vector is NULL");
  CHECK(is_double || sizeof(CeedScalar) == 4, "another CeedScalar");
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&vec[i]));
  free_calls(&s);
  CHECK_OK(CeedDestroy(&other));
}

// ---- For people, and short of memory ----

TEST(objects_tell_what_they_are) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzBatched batched = NULL;
  RitzBatchLayout wide = {.precision = CEED_SCALAR_FP32, .m = 3, .n = 2, .width = 4};
  RitzBatchLayout left = {.precision = CEED_SCALAR_FP32, .m = 3, .n = 3, .ld = 5};

  CHECK_OK(RitzBatchedCreate(
      ceed, RITZ_BATCHED_TRSM,
      &(RitzBatchedOptions){.trans_a = CEED_TRANSPOSE, .diag = RITZ_DIAGONAL_UNIT, .A = left, .B = wide},
      &batched));
  CHECK_PRINTS(
      "RitzTrsmBatched on /cpu/self/ref, FP32, A transposed, left side, lower triangle, unit diagonal\n"
      "  A: 3 x 3, leading dimension 5, stride 15\n"
      "  B: 3 x 2, leading dimension 3 (or own rows), stride 24, 4 interleaved, written\n"
      "  plain loops, one matrix after the other\n",
      RitzBatchedExplain(batched, stream));
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_SYEVJ,
                             &(RitzBatchedOptions){.vectors = RITZ_VECTORS_NONE, .A = square, .B = column},
                             &batched));
  CHECK_PRINTS("RitzSyevjBatched on /cpu/self/ref, FP64, lower triangle, without vectors\n"
               "  A: 3 x 3, leading dimension 3 (or own rows), stride 9, written\n"
               "  B: 3 x 1, leading dimension 3 (or own rows), stride 3, written\n"
               "  plain loops, one matrix after the other\n",
               RitzBatchedExplain(batched, stream));
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK_OK(RitzBatchedCreate(
      ceed, RITZ_BATCHED_COPY,
      &(RitzBatchedOptions){.A = square, .B = {.precision = CEED_SCALAR_FP32, .m = 3, .n = 3}}, &batched));
  CHECK_PRINTS("RitzCopyBatched on /cpu/self/ref, FP64\n"
               "  A: 3 x 3, leading dimension 3 (or own rows), stride 9\n"
               "  B: 3 x 3, leading dimension 3 (or own rows), stride 9, FP32, written\n"
               "  plain loops, one matrix after the other\n",
               RitzBatchedExplain(batched, stream));
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK_OK(CeedDestroy(&ceed));
}

static int invert_once(Ceed ceed) {
  RitzBatched batched = NULL;
  double a[9] = {2, 0, 0, 0, 4, 0, 0, 0, 8};
  int ierr =
      RitzBatchedCreate(ceed, RITZ_BATCHED_INV, &(RitzBatchedOptions){.A = square, .B = square}, &batched);

  if (ierr) return batched ? -1 : ierr;
  ierr = RitzInvBatched(batched, 1, &(RitzBatchArray){.base = a}, &(RitzBatchArray){.base = a}, NULL);
  if (!ierr && (a[0] != 0.5 || a[8] != 0.125)) ierr = -1;
  RitzBatchedDestroy(&batched);
  return ierr;
}

TEST(every_allocation_may_fail) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  int ierr = CEED_ERROR_MAJOR;
  int64_t n = 1;

  for (; ierr == CEED_ERROR_MAJOR && n < 100; n++) {
    ritz_memory_fail_at(n);
    ierr = invert_once(ceed);
    ritz_memory_fail_at(0);
  }
  CHECK_OK(CeedDestroy(&ceed));
  CHECK(ierr == CEED_ERROR_SUCCESS && n > 2, "code %d with %d allocations", ierr, (int)n - 1);
}

// ---- RITZ_STRICT ----

TEST(strict_contexts_read_sizes_first) {
  Ceed ceed = NULL;
  double a[27] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[9] = {0};
  const int32_t sizes[] = {3, 2, 1}, others[] = {3, 2, 2}, lds[] = {3, 1, 3};
  const RitzBatchedOptions options = {.A = square, .B = column};
  RitzBatched batched = NULL;

  setenv("RITZ_STRICT", "1", 1);
  const int ierr = CeedInit("/cpu/self/ref", &ceed);
  unsetenv("RITZ_STRICT");
  CHECK_OK(ierr);
  CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorStore));
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_TRSV, &options, &batched));
  const RitzBatchArray x = {.base = b, .rows = sizes};
  CHECK_ERROR(ceed, RitzTrsvBatched(batched, 3, &(RitzBatchArray){.base = a, .rows = others}, &x),
              CEED_ERROR_DIMENSION, "matrix 2 of A has the size 2, needed 1");
  CHECK_ERROR(ceed, RitzTrsvBatched(batched, 3, &(RitzBatchArray){.base = a, .lds = lds}, &x),
              CEED_ERROR_DIMENSION,
              "matrix 1 of A has rows 0 to 1, needed them within its leading dimension 1");
  CHECK_ERROR(ceed,
              RitzTrsvBatched(batched, 3, &(RitzBatchArray){.base = a},
                              &(RitzBatchArray){.base = b, .rows = (int32_t[]){3, -2, 1}}),
              CEED_ERROR_DIMENSION, "n of matrix 1 is -2, needed 0 to 3");
  CHECK_OK(RitzBatchedDestroy(&batched));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(layouts_that_cannot_be_are_refused, choices_that_do_not_exist_are_refused,
            devices_without_kernels_say_so, host_memory_is_refused_on_devices,
            workspace_grows_with_the_count_and_is_enough, eigenvalues_are_the_same_in_the_callers_room,
            wrong_calls_are_refused_and_do_nothing, wrong_calls_of_factors_and_copies_are_refused,
            interleaved_arrays_have_no_places_and_sizes,
            results_over_operands_are_refused_and_neighbours_are_not,
            blocks_of_a_matrix_and_records_are_no_overlap, vectors_that_do_not_fit_are_refused,
            objects_tell_what_they_are, every_allocation_may_fail, strict_contexts_read_sizes_first));
}
