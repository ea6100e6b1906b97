// SPDX-License-Identifier: BSD-2-Clause
// p-multigrid on /gpu/*/gen: what a cycle applies runs as one kernel each, on the device alone. What the
// operators compute: test-multigrid.c.
#include "tests/gpu-kit.h"
#include "tests/kernels-ahead.h"
#include "tests/levels.h"
#include <ritz/operator.h>

static bool explains(CeedOperator op, const char *words) {
  Capture c;
  const int ierr = RitzOperatorExplain(op, capture_begin(&c));

  fclose(c.stream);
  const bool does = !ierr && strstr(c.text, words);
  if (!does) tap_note("code %d, wanted '%s' in\n%s", ierr, words, c.text);
  free(c.text);
  return does;
}

static const LevelsProblem problem = {3, 2, 3, 1, 1, 0.2, true, false};
static const char fused[] = "runs as: one generated kernel",
                  fused_diagonal[] = "diagonal: one generated kernel";

static void check_explained(const Levels *l) {
  CHECK(explains(l->op_fine, fused) && explains(l->op_fine, fused_diagonal), "fine operator");
  CHECK(explains(l->op_coarse, fused) && explains(l->op_coarse, fused_diagonal), "coarse operator");
  CHECK(explains(l->prolong, fused), "prolongation");
  CHECK(explains(l->restrict_op, fused), "restriction");
}

TEST_EACH_GEN(all_operators_of_a_level_are_one_kernel_each) {
  Levels l;

  for (LevelsVariant variant = LEVELS_PLAIN; variant < LEVELS_H1 && !tap_failed(); variant++) {
    CHECK_OK(levels_create(ceed, &problem, variant, &l));
    check_explained(&l);
    levels_destroy(&l);
  }
}

// Everything that a cycle applies, and what its smoothers are made of.
static int run_cycle(const Levels *l, CeedVector fine[2], CeedVector coarse[2]) {
  CeedCall(CeedOperatorLinearAssembleDiagonal(l->op_fine, fine[1], CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedVectorReciprocal(fine[1]));
  CeedCall(CeedOperatorApply(l->op_fine, fine[0], fine[1], CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedOperatorApply(l->restrict_op, fine[1], coarse[0], CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedOperatorApply(l->op_coarse, coarse[0], coarse[1], CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedOperatorLinearAssembleDiagonal(l->op_coarse, coarse[0], CEED_REQUEST_IMMEDIATE));
  return CeedOperatorApplyAdd(l->prolong, coarse[1], fine[0], CEED_REQUEST_IMMEDIATE);
}

static int create_vectors(Ceed ceed, CeedSize n, CeedVector vectors[2]) {
  for (int i = 0; i < 2; i++) {
    CeedCall(CeedVectorCreate(ceed, n, &vectors[i]));
    CeedCall(CeedVectorSetValue(vectors[i], 1));
  }
  return CEED_ERROR_SUCCESS;
}

TEST_EACH_GEN(cycles_and_their_diagonals_copy_nothing_to_the_host) {
  Levels l;
  CeedVector fine[2] = {NULL}, coarse[2] = {NULL};

  CHECK_OK(levels_create(ceed, &problem, LEVELS_PLAIN, &l));
  CHECK_OK(create_vectors(ceed, l.num_fine, fine));
  CHECK_OK(create_vectors(ceed, l.num_coarse, coarse));
  CHECK_OK(run_cycle(&l, fine, coarse));
  const RitzDeviceCounters before = counters_of(ceed);
  CHECK_OK(run_cycle(&l, fine, coarse));
  const RitzDeviceCounters after = counters_of(ceed);
  CHECK(before.bytes_in == after.bytes_in, "%d bytes were copied to the device",
        (int)(after.bytes_in - before.bytes_in));
  CHECK(before.bytes_out == after.bytes_out, "%d bytes were copied from the device",
        (int)(after.bytes_out - before.bytes_out));
  for (int i = 0; i < 2; i++) {
    CeedVectorDestroy(&fine[i]);
    CeedVectorDestroy(&coarse[i]);
  }
  levels_destroy(&l);
}

TEST_EACH_GEN(all_programs_of_a_solve_are_begun_before_their_first_use) {
  ahead_check(ceed, RITZ_SMOOTHER_JACOBI);
  ahead_check(ceed, RITZ_SMOOTHER_PATCHES);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(all_programs_of_a_solve_are_begun_before_their_first_use,
                        all_operators_of_a_level_are_one_kernel_each,
                        cycles_and_their_diagonals_copy_nothing_to_the_host));
}
