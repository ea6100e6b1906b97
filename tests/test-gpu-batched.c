// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra on devices: all kinds of kernels, rows in registers, blocks and matrices of any size
// in global memory, have the same results. What these are: test-batched.c; registers: test-nvrtc-kernels.c.
#include "tests/batched-kit.h"

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

// Runs the operation on operands that repeat, with kernels of this kind.
static void run_kind(BatchCase c, RitzBatchedOperation operation, const char *kind, Outcome *outcome) {
  const bool is_shifted = operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_INV ||
                          operation == RITZ_BATCHED_GEMM || operation == RITZ_BATCHED_GEMV;
  const bool is_vector = operation == RITZ_BATCHED_GEMV || operation == RITZ_BATCHED_TRSV;
  const int num_operands =
      operation <= RITZ_BATCHED_GEMV ? 3
      : operation == RITZ_BATCHED_POTRF || operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_GETRI
          ? 1
          : 2;
  int32_t *ipiv = malloc((size_t)(c.count * c.n) * sizeof(*ipiv));
  Batch operand[3];
  BatchRun run = {.operation = operation, .alpha = 1, .beta = 0.5};
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
  if (operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_GETRS || operation == RITZ_BATCHED_GETRI) {
    run.ipiv = ipiv;
    run.num_ipiv = c.count * c.n;
  }
  if (operation != RITZ_BATCHED_GEMM && operation != RITZ_BATCHED_GEMV && operation != RITZ_BATCHED_TRSM &&
      operation != RITZ_BATCHED_TRSV)
    run.info = outcome->info;
  setenv("RITZ_BATCHED_KERNEL", kind, 1);
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

// Same entries within rounding, for matrices whose condition is below 10, and same infos.
static void compare_kinds(BatchCase c, int operation, const char *kind) {
  Outcome first = {0}, any = {0};
  c.u = batch_roundoff(c.precision);
  run_kind(c, (RitzBatchedOperation)operation, kind, &first);
  run_kind(c, (RitzBatchedOperation)operation, "any", &any);
  double size = 0;
  for (int64_t i = 0; i < any.num; i++) size = fmax(size, fabs(any.entries[i]));
  CHECK(first.num == any.num && size > 0, "%d entries, the largest %g", (int)any.num, size);
  for (int64_t i = 0; i < any.num && i < first.num && !tap_failed(); i++)
    CHECK_NEAR(first.entries[i], any.entries[i], 100 * c.n * c.u * size,
               "operation %d of order %d, %s%s, entry %d", operation, (int)c.n, batch_form_names[c.form],
               c.is_ragged ? ", non-uniform" : "", (int)i);
  CHECK(!memcmp(first.info, any.info, sizeof(any.info)), "infos of operation %d", operation);
  free(first.entries), free(any.entries);
}

static bool is_on_device(Ceed ceed) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return strncmp(resource, "/gpu/", 5) == 0;
}

TEST_EACH_BACKEND(rows_in_registers_and_matrices_in_memory_give_the_same) {
  if (!is_on_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  // Where compilers are slow, one of each kind of kernel.
  static const bool is_left_out[] = {
      [RITZ_BATCHED_GETRI] = true, [RITZ_BATCHED_INV] = true,  [RITZ_BATCHED_GEMV] = true,
      [RITZ_BATCHED_POTRS] = true, [RITZ_BATCHED_TRSM] = true, [RITZ_BATCHED_TRSV] = true};
  for (int operation = 0; operation <= RITZ_BATCHED_TRSV && !tap_failed(); operation++) {
    if (is_left_out[operation] && tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK) continue;
    const bool is_ragged = operation == RITZ_BATCHED_GETRF;
    const BatchCase c = {.ceed = ceed,
                         .precision = CEED_SCALAR_FP64,
                         .form = is_ragged ? BATCH_PACKED : BATCH_OFFSETS,
                         .is_ragged = is_ragged,
                         .n = 5,
                         .count = 6,
                         .state = 5};
    compare_kinds(c, operation, "rows");
  }
  CHECK(true, "all operations");
}

// Beyond the sizes of rows in registers.
TEST_EACH_BACKEND(blocks_and_matrices_in_memory_give_the_same) {
  static const struct {
    RitzBatchedOperation operation;
    int n;
    const char *kind;
    BatchForm form;
    bool is_ragged, is_thinned;
  } cases[] = {
      {RITZ_BATCHED_GETRF, 96, "held", BATCH_PADDED, false, true},
      {RITZ_BATCHED_GETRF, 200, "blocks", BATCH_PACKED, true, false},
      {RITZ_BATCHED_GETRF, 129, "blocks", BATCH_WIDE4, false, true},
      {RITZ_BATCHED_POTRF, 129, "blocks", BATCH_OFFSETS, false, false},
      {RITZ_BATCHED_POTRF, 65, "held", BATCH_PACKED, true, true},
      {RITZ_BATCHED_GEMM, 129, "blocks", BATCH_PADDED, false, false},
      {RITZ_BATCHED_GEMM, 65, "blocks", BATCH_PACKED, true, true},
      {RITZ_BATCHED_GETRS, 96, "blocks", BATCH_PACKED, true, false},
      {RITZ_BATCHED_GETRS, 200, "blocks", BATCH_SUB, false, true},
      {RITZ_BATCHED_POTRS, 65, "blocks", BATCH_PADDED, false, true},
      {RITZ_BATCHED_TRSM, 129, "blocks", BATCH_OFFSETS, false, true},
      {RITZ_BATCHED_TRSV, 200, "blocks", BATCH_PACKED, true, true},
  };
  if (!is_on_device(ceed)) NOT_FOR_THIS_BACKEND("kernels of devices");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && !tap_failed(); i++) {
    const bool is_left_out = cases[i].is_thinned && tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK;
    for (int single = 0; single < (tap_level() == TAP_QUICK ? 1 : 2) && !is_left_out; single++) {
      const BatchCase c = {.ceed = ceed,
                           .precision = single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64,
                           .form = cases[i].form,
                           .is_ragged = cases[i].is_ragged,
                           .n = cases[i].n,
                           .count = 3,
                           .state = 5};
      compare_kinds(c, cases[i].operation, cases[i].kind);
    }
  }
  CHECK(true, "all cases");
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

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(rows_in_registers_and_matrices_in_memory_give_the_same,
                        blocks_and_matrices_in_memory_give_the_same, opencl_refuses_addresses_of_matrices));
}
