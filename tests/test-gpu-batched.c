// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra on devices: both kinds of kernels, rows in registers and matrices of any size in
// global memory, have the same results. What these are: test-batched.c; registers: test-nvrtc-kernels.c.
#include "tests/batched-kit.h"

// Rows diagonally dominant, but shifted by one, so that pivots swap; of `is_positive` not shifted.
static void fill_dominant(const Batch *A, bool is_positive, uint64_t *state) {
  for (int64_t i = 0; i < A->count; i++) {
    const int64_t n = batch_m(A, i);
    for (int64_t c = 0; c < n; c++) {
      for (int64_t r = 0; r < n; r++)
        batch_set(A, i, r, c, tap_uniform(state) + ((r + !is_positive) % n == c ? 2.0 * (double)n : 0.0));
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
  const bool is_positive = operation == RITZ_BATCHED_POTRF || operation == RITZ_BATCHED_POTRS ||
                           operation == RITZ_BATCHED_TRSM || operation == RITZ_BATCHED_TRSV;
  const bool is_vector = operation == RITZ_BATCHED_GEMV || operation == RITZ_BATCHED_TRSV;
  const int num_operands =
      operation <= RITZ_BATCHED_GEMV ? 3
      : operation == RITZ_BATCHED_POTRF || operation == RITZ_BATCHED_GETRF || operation == RITZ_BATCHED_GETRI
          ? 1
          : 2;
  int32_t ipiv[BATCH_MAX_COUNT * 64];
  Batch operand[3];
  BatchRun run = {.operation = operation, .alpha = 1, .beta = 0.5};
  batch_draw_sizes(&c, c.n, c.n, c.n);
  for (int i = 0; i < c.count * c.n; i++) ipiv[i] = (i + 1) % c.n + 1;
  for (int i = 0; i < num_operands; i++) {
    batch_make_operand(&c, BATCH_N, is_vector && i > 0 ? BATCH_ONE : BATCH_N, &operand[i]);
    if (i == 0)
      fill_dominant(&operand[i], is_positive, &c.state);
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
}

static void compare_kinds(Ceed ceed, int operation, BatchForm form, bool is_ragged,
                          CeedScalarType precision) {
  const BatchCase c = {.ceed = ceed,
                       .precision = precision,
                       .u = batch_roundoff(precision),
                       .form = form,
                       .is_ragged = is_ragged,
                       .n = 5,
                       .count = 6,
                       .state = 5};
  Outcome rows = {0}, any = {0};
  run_kind(c, (RitzBatchedOperation)operation, "rows", &rows);
  run_kind(c, (RitzBatchedOperation)operation, "any", &any);
  double size = 0;
  for (int64_t i = 0; i < any.num; i++) size = fmax(size, fabs(any.entries[i]));
  CHECK(rows.num == any.num && size > 0, "%d entries, the largest %g", (int)any.num, size);
  // Matrices of order 5 whose condition is below 10.
  for (int64_t i = 0; i < any.num && i < rows.num; i++)
    CHECK_NEAR(rows.entries[i], any.entries[i], 500 * c.u * size, "operation %d, %s, entry %d", operation,
               batch_form_names[form], (int)i);
  CHECK(!memcmp(rows.info, any.info, sizeof(any.info)), "infos of operation %d", operation);
  free(rows.entries), free(any.entries);
}

TEST_EACH_BACKEND(rows_in_registers_and_matrices_in_memory_give_the_same) {
  const char *resource;
  CeedGetResource(ceed, &resource);
  if (strncmp(resource, "/gpu/", 5) != 0) NOT_FOR_THIS_BACKEND("kernels of devices");
  // Where compilers are slow, one of each kind of kernel.
  static const bool is_left_out[] = {
      [RITZ_BATCHED_GETRI] = true, [RITZ_BATCHED_INV] = true,  [RITZ_BATCHED_GEMV] = true,
      [RITZ_BATCHED_POTRS] = true, [RITZ_BATCHED_TRSM] = true, [RITZ_BATCHED_TRSV] = true};
  for (int operation = 0; operation <= RITZ_BATCHED_TRSV && !tap_failed(); operation++) {
    if (is_left_out[operation] && tap_compiles_slowly(ceed) && tap_level() == TAP_QUICK) continue;
    const bool is_ragged = operation == RITZ_BATCHED_GETRF;
    compare_kinds(ceed, operation, is_ragged ? BATCH_PACKED : BATCH_OFFSETS, is_ragged, CEED_SCALAR_FP64);
  }
  CHECK(true, "all operations");
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
                        opencl_refuses_addresses_of_matrices));
}
