// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra on devices: all kinds of kernels, rows in registers, blocks and matrices of any size
// in global memory, have the same results. What these are: test-batched.c; registers: test-nvrtc-batched.c.
#include "backends/gpu/context.h"
#include "plan/gpu-batched.h"
#include "tests/batched-kit.h"

#include <dlfcn.h>

// Rows diagonally dominant, but shifted by one, so that pivots swap; not shifted: both triangles, with ones
// or the diagonal, are well conditioned, too.
static void fill_dominant(const Batch *A, bool is_shifted, uint64_t *state) {
  for (int64_t i = 0; i < A->count; i++) {
    const int64_t n = batch_m(A, i);
    for (int64_t c = 0; c < n; c++) {
      for (int64_t r = 0; r < n; r++)
        batch_set(A, i, r, c, tap_uniform(state) / (double)n + ((r + is_shifted) % n == c ? 2 : 0));
    }
  }
}

typedef struct {
  double *entries; // of the written operand, owned
  int64_t num;
  int32_t info[BATCH_MAX_COUNT];
} Outcome;

static int count_operands(RitzBatchedOperation operation) {
  switch (operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV:
  case RITZ_BATCHED_SYMM:
  case RITZ_BATCHED_SYMV:
  case RITZ_BATCHED_GEAM: return 3;
  case RITZ_BATCHED_POTRF:
  case RITZ_BATCHED_GETRF:
  case RITZ_BATCHED_GETRI:
  case RITZ_BATCHED_LASWP:
  case RITZ_BATCHED_LASET: return 1;
  default: return 2;
  }
}

static bool has_pivots(RitzBatchedOperation operation) {
  return operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_GETRS ||
         operation == RITZ_BATCHED_GETRI || operation == RITZ_BATCHED_GESV || operation == RITZ_BATCHED_LASWP;
}

// Transposes, the upper triangle, the right side, ones on the diagonal.
enum { TURN_A = 1, TURN_B = 2, UPPER = 4, RIGHT = 8, UNIT = 16 };

// Runs the operation on operands that repeat, with kernels of this kind; NULL: as is chosen.
static void run_kind(BatchCase c, RitzBatchedOperation operation, int turns, const char *kind,
                     Outcome *outcome) {
  const bool is_shifted = operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_INV ||
                          operation == RITZ_BATCHED_GEMM || operation == RITZ_BATCHED_GEMV ||
                          operation == RITZ_BATCHED_GESV;
  const bool is_vector =
      operation == RITZ_BATCHED_GEMV || operation == RITZ_BATCHED_TRSV || operation == RITZ_BATCHED_SYMV;
  const int num_operands = count_operands(operation);
  int32_t *ipiv = malloc((size_t)(c.count * c.n) * sizeof(*ipiv));
  Batch operand[3];
  BatchRun run = {.operation = operation,
                  .options = {.trans_a = turns & TURN_A ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                              .trans_b = turns & TURN_B ? CEED_TRANSPOSE : CEED_NOTRANSPOSE,
                              .uplo = turns & UPPER ? RITZ_TRIANGLE_UPPER : RITZ_TRIANGLE_LOWER,
                              .side = turns & RIGHT ? RITZ_SIDE_RIGHT : RITZ_SIDE_LEFT,
                              .diag = turns & UNIT ? RITZ_DIAGONAL_UNIT : RITZ_DIAGONAL_STORED},
                  .alpha = operation == RITZ_BATCHED_LASWP ? 1 : -1.5, // of swaps the first and the last one
                  .beta = operation == RITZ_BATCHED_LASWP ? c.n : 0.5};
  batch_draw_sizes(&c, c.n, c.n, c.n);
  for (int i = 0; i < c.count * c.n; i++) ipiv[i] = (i + 1) % c.n + 1;
  for (int i = 0; i < num_operands; i++) {
    batch_make_operand(&c, BATCH_N, is_vector && i > 0 ? BATCH_ONE : BATCH_N, &operand[i]);
    if (i == 0)
      fill_dominant(&operand[i], is_shifted, &c.state);
    else
      batch_fill_random(&operand[i], 1, &c.state);
    run.operand[i] = &operand[i];
  }
  if (has_pivots(operation)) {
    run.ipiv = ipiv;
    run.num_ipiv = c.count * c.n;
  }
  if (operation == RITZ_BATCHED_GESV || operation == RITZ_BATCHED_POSV ||
      (operation >= RITZ_BATCHED_POTRF && operation <= RITZ_BATCHED_INV))
    run.info = outcome->info;
  if (kind) setenv("RITZ_BATCHED_KERNEL", kind, 1);
  tap_check_ok(batch_run(c.ceed, &run), __FILE__, __LINE__, "the call");
  unsetenv("RITZ_BATCHED_KERNEL");
  const Batch *result = &operand[num_operands - 1];
  outcome->entries = malloc((size_t)(c.count * c.n * c.n + 1) * sizeof(double));
  outcome->num = 0;
  for (int64_t i = 0; i < c.count; i++) {
    for (int64_t col = 0; col < batch_n(result, i); col++) {
      for (int64_t row = 0; row < batch_m(result, i); row++)
        outcome->entries[outcome->num++] = batch_get(result, i, row, col);
    }
  }
  for (int i = 0; i < num_operands; i++) batch_free(&operand[i]);
  free(ipiv);
}

typedef struct {
  RitzBatchedOperation operation;
  int turns; // bits
  BatchForm form;
  bool is_ragged;
  CeedInt n;
  const char *kind; // NULL: as is chosen
  bool is_single;
} Comparison;

// Matrices whose condition is below 10, and others times the same ones.
static void compare_with_memory(Ceed ceed, const Comparison *now) {
  const CeedScalarType precision = now->is_single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
  const BatchCase c = {.ceed = ceed,
                       .precision = precision,
                       .u = batch_roundoff(precision),
                       .form = now->form,
                       .is_ragged = now->is_ragged,
                       .n = now->n,
                       .count = now->n > 64 ? 3 : 6,
                       .state = 5};
  Outcome found = {0}, wanted = {0};
  run_kind(c, now->operation, now->turns, now->kind, &found);
  run_kind(c, now->operation, now->turns, "any", &wanted);
  double size = 0;
  for (int64_t i = 0; i < wanted.num; i++) size = fmax(size, fabs(wanted.entries[i]));
  CHECK(found.num == wanted.num && size > 0, "%d entries, the largest %g", (int)wanted.num, size);
  for (int64_t i = 0; i < wanted.num && i < found.num; i++)
    CHECK_NEAR(found.entries[i], wanted.entries[i], 100 * now->n * c.u * size,
               "operation %d of order %d, turns %d, %s, entry %d", (int)now->operation, (int)now->n,
               now->turns, batch_form_names[now->form], (int)i);
  CHECK(!memcmp(found.info, wanted.info, sizeof(wanted.info)), "infos of operation %d", (int)now->operation);
  free(found.entries), free(wanted.entries);
}

static bool is_device(Ceed ceed) {
  const char *resource;
  CeedGetResource(ceed, &resource);
  return !strncmp(resource, "/gpu/", 5);
}

TEST_EACH_BACKEND(rows_in_registers_and_matrices_in_memory_give_the_same) {
  if (!is_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  // Where compilers are slow, one of each kind of kernel.
  static const bool is_left_out[RITZ_BATCHED_TRMM + 1] = {
      [RITZ_BATCHED_GETRI] = true, [RITZ_BATCHED_INV] = true,  [RITZ_BATCHED_GEMV] = true,
      [RITZ_BATCHED_POTRS] = true, [RITZ_BATCHED_TRSM] = true, [RITZ_BATCHED_TRSV] = true,
      [RITZ_BATCHED_SYRK] = true,  [RITZ_BATCHED_SYMM] = true, [RITZ_BATCHED_SYMV] = true};
  for (int operation = 0; operation <= RITZ_BATCHED_TRMM && !tap_failed(); operation++) {
    if (is_left_out[operation] && tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK) continue;
    const bool is_ragged = operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_TRMM;
    compare_with_memory(ceed, &(Comparison){.operation = (RitzBatchedOperation)operation,
                                            .form = is_ragged ? BATCH_PACKED : BATCH_OFFSETS,
                                            .is_ragged = is_ragged,
                                            .n = 5,
                                            .kind = "rows"});
  }
  CHECK(true, "all operations");
}

// Beyond the sizes of rows in registers.
TEST_EACH_BACKEND(blocks_and_matrices_in_memory_give_the_same) {
  // At first those that are tested where compilers are slow, by the seconds that they take there.
  enum { NUM_QUICK = 2, NUM_FULL = 8 };
  static const Comparison cases[] = {
      {RITZ_BATCHED_GEMV, 0, BATCH_PACKED, true, 100, "blocks", false},
      {RITZ_BATCHED_GEMV, 1, BATCH_OFFSETS, false, 200, "blocks", false},
      {RITZ_BATCHED_GEMM, 0, BATCH_PADDED, false, 129, "blocks", false},
      {RITZ_BATCHED_GETRF, 0, BATCH_WIDE4, false, 129, "blocks", false},
      {RITZ_BATCHED_POTRF, 0, BATCH_OFFSETS, false, 129, "blocks", false},
      {RITZ_BATCHED_GEMM, 3, BATCH_PACKED, true, 65, "blocks", true},
      {RITZ_BATCHED_GETRF, 0, BATCH_PADDED, false, 96, "held", true},
      {RITZ_BATCHED_TRSM, 1, BATCH_OFFSETS, false, 129, "blocks", false},
      {RITZ_BATCHED_GETRF, 0, BATCH_PACKED, true, 200, "blocks", false},
      {RITZ_BATCHED_GETRS, 0, BATCH_PACKED, true, 96, "blocks", false},
      {RITZ_BATCHED_POTRF, 0, BATCH_PACKED, true, 65, "held", true},
      {RITZ_BATCHED_GETRS, 1, BATCH_SUB, false, 200, "blocks", false},
      {RITZ_BATCHED_POTRS, 0, BATCH_PADDED, false, 65, "blocks", true},
      {RITZ_BATCHED_TRSV, 0, BATCH_PACKED, true, 200, "blocks", false},
      {RITZ_BATCHED_INV, 0, BATCH_PADDED, false, 100, "blocks", false},
      {RITZ_BATCHED_GETRI, 0, BATCH_PACKED, true, 129, "blocks", true},
      {RITZ_BATCHED_SYRK, UPPER, BATCH_PACKED, true, 129, "blocks", false},
      {RITZ_BATCHED_SYRK, TURN_A, BATCH_OFFSETS, false, 200, "blocks", true},
      {RITZ_BATCHED_SYMM, RIGHT, BATCH_PADDED, false, 96, "blocks", false},
      {RITZ_BATCHED_SYMM, UPPER, BATCH_WIDE4, false, 65, "blocks", false},
      {RITZ_BATCHED_SYMV, UPPER, BATCH_PACKED, true, 200, "blocks", false},
      {RITZ_BATCHED_TRMM, 0, BATCH_PACKED, true, 200, "blocks", false},
      {RITZ_BATCHED_TRMM, UPPER | UNIT, BATCH_PADDED, false, 129, "blocks", true},
      {RITZ_BATCHED_TRMM, RIGHT | TURN_A, BATCH_OFFSETS, false, 200, "blocks", false},
      {RITZ_BATCHED_TRMM, RIGHT | UNIT, BATCH_PACKED, true, 129, "blocks", false},
      {RITZ_BATCHED_GESV, 0, BATCH_PACKED, true, 96, "blocks", false},
      {RITZ_BATCHED_POSV, UPPER, BATCH_OFFSETS, false, 100, "blocks", false},
  };
  const size_t all = sizeof(cases) / sizeof(cases[0]);
  if (!is_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  const size_t some = tap_level() == TAP_QUICK ? NUM_QUICK : tap_level() == TAP_FULL ? NUM_FULL : all;
  const size_t num = tap_compiles_slowly(ceed) ? some : all;
  for (size_t i = 0; i < num && !tap_failed(); i++) compare_with_memory(ceed, &cases[i]);
  CHECK(true, "all cases");
}

// With more than 32 rows, two warps have a matrix.
TEST_EACH_BACKEND(steps_that_share_their_code_and_matrices_in_memory_give_the_same) {
  static const Comparison cases[] = {
      {RITZ_BATCHED_GETRF, 0, BATCH_PACKED, true, 37, "rows", false},
      {RITZ_BATCHED_POTRF, 0, BATCH_PACKED, true, 35, "rows", false},
      {RITZ_BATCHED_GETRF, 0, BATCH_PADDED, false, 64, "rows", false},
      {RITZ_BATCHED_POTRF, 0, BATCH_OFFSETS, false, 64, "rows", false},
      {RITZ_BATCHED_GETRF, 0, BATCH_PACKED, true, 61, "rows", false},
      {RITZ_BATCHED_INV, 0, BATCH_PACKED, true, 40, "rows", false},
  };
  if (!is_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  const int num = tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK ? 2 : 6;
  for (int i = 0; i < num && !tap_failed(); i++) compare_with_memory(ceed, &cases[i]);
  CHECK(true, "all cases");
}

// One and two tiles of a warp, several warps that share B or do not; with and without pairs of entries at
// multiples of 16 bytes. Where devices have no tensor cores these are rows.
TEST_EACH_BACKEND(products_by_tensor_cores_and_in_memory_are_the_same) {
  static const CeedInt orders[] = {8, 11, 16, 23, 30, 32, 33, 48, 50, 64};
  const char *resource;
  CeedGetResource(ceed, &resource);
  if (!strstr(resource, "/gpu/cuda")) NOT_FOR_THIS_BACKEND("has no tensor cores");
  for (int i = 0; i < 10; i++) {
    for (int turns = 0; turns < 4 && !tap_failed(); turns++) {
      const bool is_ragged = (i + turns) % 3 == 0;
      compare_with_memory(ceed, &(Comparison){RITZ_BATCHED_GEMM, turns,
                                              is_ragged || (i + turns) % 2 ? BATCH_PACKED : BATCH_PADDED,
                                              is_ragged, orders[i], NULL, false});
    }
  }
  CHECK(true, "all orders");
}

// Triangles that are written, mirrored, multiplied in place, of all kinds and sizes of tiles.
TEST_EACH_BACKEND(triangles_by_tensor_cores_and_in_memory_are_the_same) {
  static const CeedInt orders[] = {8, 13, 16, 32, 33, 50, 64};
  static const struct {
    RitzBatchedOperation operation;
    int turns;
  } forms[] = {{RITZ_BATCHED_SYRK, 0},      {RITZ_BATCHED_SYRK, UPPER | TURN_A},
               {RITZ_BATCHED_SYMM, UPPER},  {RITZ_BATCHED_SYMM, RIGHT},
               {RITZ_BATCHED_TRMM, TURN_A}, {RITZ_BATCHED_TRMM, UPPER | UNIT},
               {RITZ_BATCHED_TRMM, RIGHT},  {RITZ_BATCHED_TRMM, RIGHT | UPPER | TURN_A | UNIT}};
  const char *resource;
  CeedGetResource(ceed, &resource);
  if (!strstr(resource, "/gpu/cuda")) NOT_FOR_THIS_BACKEND("has no tensor cores");
  for (int i = 0; i < 7; i++) {
    for (int f = 0; f < 8 && !tap_failed(); f++) {
      const bool is_ragged = (i + f) % 3 == 0;
      compare_with_memory(ceed, &(Comparison){forms[f].operation, forms[f].turns,
                                              is_ragged || (i + f) % 2 ? BATCH_PACKED : BATCH_PADDED,
                                              is_ragged, orders[i], NULL, false});
    }
  }
  CHECK(true, "all orders");
}

// Small matrices side by side, parts of large ones, groups of interleaved ones; swaps in shared memory.
TEST_EACH_BACKEND(tiles_and_entries_one_by_one_give_the_same) {
  static const Comparison cases[] = {
      {RITZ_BATCHED_COPY, TURN_A, BATCH_PACKED, true, 9, "blocks", false},
      {RITZ_BATCHED_COPY, TURN_A, BATCH_WIDE8, false, 5, "blocks", false},
      {RITZ_BATCHED_LASWP, 0, BATCH_PACKED, true, 21, "blocks", false},
      {RITZ_BATCHED_GEAM, TURN_B, BATCH_OFFSETS, false, 50, "blocks", false},
      {RITZ_BATCHED_COPY, 0, BATCH_SUB, false, 70, "blocks", true},
      {RITZ_BATCHED_GEAM, TURN_A, BATCH_WIDE4, false, 70, "blocks", true},
      {RITZ_BATCHED_GEAM, TURN_A | TURN_B, BATCH_PADDED, false, 3, "blocks", false},
      {RITZ_BATCHED_LASET, 0, BATCH_WIDE4, false, 7, "blocks", false},
      {RITZ_BATCHED_LASET, 0, BATCH_PACKED, true, 129, "blocks", true},
      {RITZ_BATCHED_LASWP, 0, BATCH_WIDE8, false, 11, "blocks", true},
      {RITZ_BATCHED_LASWP, 0, BATCH_OFFSETS, false, 129, "blocks", false},
      {RITZ_BATCHED_LASWP, 0, BATCH_WIDE8, false, 300, "blocks", false}, // where they are
  };
  const size_t all = sizeof(cases) / sizeof(cases[0]);
  if (!is_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  const size_t num = tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK ? 4 : all;
  for (size_t i = 0; i < num && !tap_failed(); i++) compare_with_memory(ceed, &cases[i]);
  CHECK(true, "all cases");
}

// Sizes 0 to 9, and 10 and -1, which are none: A = d^2 I has the factor d I. `is_analyzed`: sorted before.
static void factor_classes(Ceed ceed, int32_t num, bool is_analyzed) {
  enum { N = 9 };
  int32_t *sizes = malloc((size_t)num * sizeof(*sizes)), *info = malloc((size_t)num * sizeof(*info));
  RitzBatched batched = NULL;
  BatchMemory infos;
  Batch A;
  for (int32_t i = 0; i < num; i++) sizes[i] = (int32_t)(i * 7LL % 12) - 1;
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, num, N, N, sizes, NULL, &A);
  for (int32_t i = 0; i < num; i++) {
    for (int r = 0; r < sizes[i] && sizes[i] <= N; r++) {
      for (int c = 0; c < sizes[i]; c++) batch_set(&A, i, r, c, r == c ? (i + 1.0) * (i + 1.0) : 0);
    }
  }
  batch_memory_make(ceed, (size_t)num * sizeof(*info), &infos);
  batch_keep(&A);
  batch_lend(&A);
  const RitzBatchedOptions options = {.A = A.layout};
  setenv("RITZ_BATCHED_KERNEL", "sizes", 1);
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_POTRF, &options, &batched));
  unsetenv("RITZ_BATCHED_KERNEL");
  if (is_analyzed) CHECK_OK(RitzBatchedAnalyze(batched, num, NULL, A.array.rows, NULL));
  CHECK_OK(RitzPotrfBatched(batched, num, &A.array, batch_memory_lend(&infos)));
  batch_return(&A);
  batch_memory_return(&infos);
  memcpy(info, infos.host, (size_t)num * sizeof(*info));
  CHECK(batch_changed_only(&A, BATCH_LOWER), "only factors have changed");
  for (int32_t i = 0; i < num && !tap_failed(); i++) {
    const bool is_bad = sizes[i] < 0 || sizes[i] > N;
    CHECK(info[i] == (is_bad ? -1002 : 0), "matrix %d of order %d: info %d", (int)i, (int)sizes[i],
          (int)info[i]);
    for (int r = 0; r < sizes[i] && !is_bad; r++)
      CHECK(batch_get(&A, i, r, r) == i + 1.0, "entry %d of matrix %d of order %d: %g", r, (int)i,
            (int)sizes[i], batch_get(&A, i, r, r));
  }
  CHECK_OK(RitzBatchedDestroy(&batched));
  batch_free(&A);
  batch_memory_free(&infos);
  free(sizes), free(info);
}

// More matrices than a block of the sorting kernels takes.
TEST_EACH_BACKEND(each_matrix_of_a_batch_is_in_one_class) {
  if (!is_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  factor_classes(ceed, 5000, false);
  factor_classes(ceed, 3, false);
  factor_classes(ceed, 2100, true);
}

// ---- Graphs ----

typedef struct {
  int (*retain)(void **context, int device);
  int (*push)(void *context);
  int (*pop)(void **context);
  int (*begin)(void *stream, int mode);
  int (*end)(void *stream, void **graph);
  int (*instantiate)(void **exec, void *graph, unsigned long long flags);
  int (*launch)(void *exec, void *stream);
  int (*exec_destroy)(void *exec);
  int (*graph_destroy)(void *graph);
} Graphs;

static bool find_graphs(Graphs *g) {
  static const char *const names[] = {"cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent_v2",
                                      "cuCtxPopCurrent_v2",
                                      "cuStreamBeginCapture_v2",
                                      "cuStreamEndCapture",
                                      "cuGraphInstantiateWithFlags",
                                      "cuGraphLaunch",
                                      "cuGraphExecDestroy",
                                      "cuGraphDestroy"};
  enum { NUM = sizeof(names) / sizeof(names[0]) };
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *found[NUM] = {NULL};
  int num = 0;
  for (; library && num < NUM && (found[num] = dlsym(library, names[num])); num++) {
  }
  memcpy(g, found, sizeof(found));
  return num == NUM;
}

// A call for `num` matrices into a graph, one for all of them, and then the graph.
static int capture_call_and_replay(const Graphs *g, void *stream, RitzBatched batched, int64_t num,
                                   const Batch *A) {
  enum { RELAXED = 2 };
  void *graph = NULL, *exec = NULL;
  if (g->begin(stream, RELAXED)) return CEED_ERROR_BACKEND;
  int ierr = RitzPotrfBatched(batched, num, &A->array, NULL);
  const int ended = g->end(stream, &graph);
  if (!ierr && ended) ierr = CEED_ERROR_BACKEND;
  if (!ierr && g->instantiate(&exec, graph, 0)) ierr = CEED_ERROR_BACKEND;
  if (!ierr) ierr = RitzPotrfBatched(batched, A->count, &A->array, NULL);
  if (!ierr && g->launch(exec, stream)) ierr = CEED_ERROR_BACKEND;
  if (exec) g->exec_destroy(exec);
  if (graph) g->graph_destroy(graph);
  return ierr;
}

// Factors of 256 I, again and again: 16, 4, 2 on the diagonal. The classes are sorted in the graph, whose
// lists stay when a call has more matrices.
static void factor_by_graph(const Graphs *g, Ceed ceed, void *stream) {
  enum { NUM = 50, N = 9, CAPTURED = 20 };
  int32_t sizes[NUM];
  RitzBatched batched = NULL;
  Batch A;
  for (int i = 0; i < NUM; i++) sizes[i] = i % (N + 1);
  batch_make(ceed, CEED_SCALAR_FP64, BATCH_PACKED, NUM, N, N, sizes, NULL, &A);
  for (int64_t i = 0; i < NUM; i++) {
    for (int64_t c = 0; c < sizes[i]; c++) {
      for (int64_t r = 0; r < sizes[i]; r++) batch_set(&A, i, r, c, r == c ? 256 : 0);
    }
  }
  batch_lend(&A);
  const RitzBatchedOptions options = {.A = A.layout};
  CHECK_OK(RitzBatchedCreate(ceed, RITZ_BATCHED_POTRF, &options, &batched));
  CHECK_OK(RitzPotrfBatched(batched, CAPTURED, &A.array, NULL));
  CHECK_OK(capture_call_and_replay(g, stream, batched, CAPTURED, &A));
  batch_return(&A);
  for (int64_t i = 0; i < NUM; i++) {
    const double wanted = i < CAPTURED ? 2 : 16;
    for (int64_t r = 0; r < sizes[i]; r++)
      CHECK(batch_get(&A, i, r, r) == wanted, "entry %d of matrix %d: %g", (int)r, (int)i,
            batch_get(&A, i, r, r));
  }
  CHECK_OK(RitzBatchedDestroy(&batched));
  batch_free(&A);
}

TEST_EACH_BACKEND(calls_are_captured_in_graphs_and_replayed) {
  const char *resource = "";
  Graphs graphs;
  Ceed other;
  RitzDeviceStream stream = NULL;
  void *context = NULL;
  CeedGetResource(ceed, &resource);
  if (!strstr(resource, "/gpu/cuda")) NOT_FOR_THIS_BACKEND("graphs of CUDA");
  const RitzGpu *gpu = ritz_gpu(ceed);
  CHECK(find_graphs(&graphs), "functions of graphs");
  if (tap_failed()) return;
  CHECK(!graphs.retain(&context, 0) && !graphs.push(context), "the context of the device");
  CHECK_OK(gpu->driver->stream_create(ceed, gpu->device, &stream));
  other = tap_ceed(resource);
  CHECK_OK(CeedSetStream(other, stream));
  factor_by_graph(&graphs, other, stream);
  CHECK_OK(CeedDestroy(&other));
  CHECK_OK(gpu->driver->stream_destroy(ceed, gpu->device, stream));
  graphs.pop(&context);
}

TEST_EACH_BACKEND(opencl_refuses_addresses_of_matrices) {
  const char *resource;
  CeedGetResource(ceed, &resource);
  if (!strstr(resource, "opencl")) NOT_FOR_THIS_BACKEND("has addresses");
  BatchCase c = {.ceed = ceed, .precision = CEED_SCALAR_FP64, .form = BATCH_POINTERS, .n = 3, .count = 2};
  BatchRun now = {.operation = RITZ_BATCHED_POTRF};
  Batch A;
  batch_draw_sizes(&c, 3, 3, 3);
  batch_make_operand(&c, BATCH_N, BATCH_N, &A);
  now.operand[0] = &A;
  CHECK_ERROR(ceed, batch_run(ceed, &now), CEED_ERROR_UNSUPPORTED, "RitzPotrfBatched: A has pointers");
  tap_check(batch_changed_only(&A, BATCH_NOTHING), __FILE__, __LINE__, "A", "it has changed");
  batch_free(&A);
}

// What kernels/gpu/batched-rows.h declares for a block: lines in packs of 16 bytes.
static int64_t declared_bytes(const RitzGpuBatched *p, CeedInt length) {
  const int64_t packs = (length * (p->precision == CEED_SCALAR_FP32 ? 4 : 8) + 15) / 16;
  const int64_t at_once = p->num_columns < 4 ? p->num_columns : 4, groups = p->num_threads / p->group;
  if (p->kind == RITZ_BATCH_PRODUCT) return 16 * groups * ((p->num_columns + at_once) * packs + 1);
  return 16 * groups * 2 * (packs + 1);
}

TEST(blocks_of_rows_declare_no_more_memory_than_devices_let_them) {
  const RitzGpuBatchMachine machine = {.max_threads = 1024, .can_have_rows = true};
  int num = 0;
  for (int e = 0; e < 2 * 64 * 64 * 64 && !tap_failed(); e++) {
    const CeedInt m = e / 2 % 64 + 1, n = e / 128 % 64 + 1, k = e / 8192 % 64 + 1;
    const bool is_product = e % 2;
    struct RitzBatched_private b = {.operation = is_product ? RITZ_BATCHED_GEMM : RITZ_BATCHED_GETRF,
                                    .precision = CEED_SCALAR_FP64,
                                    .form.num_operands = is_product ? 3 : 1,
                                    .form.has_pivots = !is_product,
                                    .size = {m, n, is_product ? k : 1}};
    const RitzGpuBatched p = ritz_plan_gpu_batched(&b, &machine, true);
    if (p.design != RITZ_BATCH_ROWS) continue;
    const int64_t bytes = declared_bytes(&p, is_product ? k : n);
    CHECK(bytes <= 48 << 10, "%s of %d, %d, %d: %d bytes", is_product ? "product" : "LU", (int)m, (int)n,
          (int)k, (int)bytes);
    num++;
  }
  CHECK(num > 64 * 64 * 64, "%d plans", num);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(rows_in_registers_and_matrices_in_memory_give_the_same,
                        blocks_and_matrices_in_memory_give_the_same,
                        steps_that_share_their_code_and_matrices_in_memory_give_the_same,
                        products_by_tensor_cores_and_in_memory_are_the_same,
                        triangles_by_tensor_cores_and_in_memory_are_the_same,
                        tiles_and_entries_one_by_one_give_the_same, each_matrix_of_a_batch_is_in_one_class,
                        calls_are_captured_in_graphs_and_replayed, opencl_refuses_addresses_of_matrices,
                        blocks_of_rows_declare_no_more_memory_than_devices_let_them));
}
