// SPDX-License-Identifier: BSD-2-Clause
// Diagonals and point blocks of operators of /gpu/*/gen: the generated kernel against the reference backend,
// in a fixed order and in any, what stays on the device, and what is made from tables of bases.
#include "tests/diagonal-kit.h"

#include "base/memory.h"
#include "tests/gpu-kit.h"

static const char ref[] = "/cpu/self/ref";

// ---- The numbers ----

static void check_pair(Problem *p, Problem *oracle, uint64_t seed) {
  check_same(p, oracle, true);
  if (!tap_failed()) CHECK(is_fused(p->op), "%s", describe(p->c));
  if (!tap_failed()) CHECK_OK(change_inputs(p, seed));
  if (!tap_failed()) CHECK_OK(change_inputs(oracle, seed));
  if (!tap_failed()) check_same(p, oracle, false);
}

static void check_pair_of_blocks(Problem *p, Problem *oracle, uint64_t seed) {
  check_same_blocks(p, oracle, true);
  if (!tap_failed()) CHECK(is_fused_of(p->op, of_blocks), "%s", describe(p->c));
  if (!tap_failed()) CHECK_OK(change_inputs(p, seed));
  if (!tap_failed()) CHECK_OK(change_inputs(oracle, seed));
  if (!tap_failed()) check_same_blocks(p, oracle, false);
}

static void check_both(const char *resource, const char *options, const Case *c, uint64_t seed,
                       void (*check)(Problem *p, Problem *oracle, uint64_t seed)) {
  Problem p, oracle;
  char full[96];

  snprintf(full, sizeof(full), "%s%s", resource, options);
  const int ierr = open_problem(ref, c, seed, &oracle), code = open_problem(full, c, seed, &p);
  if (!ierr && !code) check(&p, &oracle, seed + 1);
  if (tap_failed()) tap_note("seed %d, '%s': %s", (int)seed, full, describe(c));
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
}

static void check_case(const char *resource, const char *options, const Case *c, uint64_t seed) {
  check_both(resource, options, c, seed, check_pair);
}

// Each has kernels of its own.
static int num_draws(Ceed ceed, int quick, int full) {
  if (tap_level() == TAP_QUICK) return tap_compiles_slowly(ceed) ? (quick + 1) / 2 : quick;
  if (tap_level() == TAP_EXHAUSTIVE) return 10 * full;
  return tap_compiles_slowly(ceed) ? full / 4 : full;
}

TEST_EACH_GEN(random_tensor_operators_have_the_diagonal_of_the_reference_backend) {
  const int num = num_draws(ceed, 6, 40);

  for (int i = 0; i < num && !tap_failed(); i++) {
    uint64_t seed = 300 + (uint64_t)i;
    const Case c = draw_case(&seed);
    check_case(resource_of(ceed), i % 3 == 2 ? ":deterministic" : "", &c, seed);
  }
}

TEST_EACH_GEN(random_tensor_operators_have_the_blocks_of_the_reference_backend) {
  const int num = num_draws(ceed, 2, 20);

  for (int i = 0; i < num && !tap_failed(); i++) {
    uint64_t seed = 700 + (uint64_t)i;
    const Case c = draw_block_case(&seed);
    check_both(resource_of(ceed), i % 2 ? ":deterministic" : "", &c, seed, check_pair_of_blocks);
  }
}

// Three components with passive derivatives that come again for each, in hexahedra of more and of fewer
// points than nodes; the last block has elements to spare.
TEST_EACH_GEN(components_of_vector_operators_do_not_disturb_each_other) {
  for (CeedInt Q = 3; Q < 6 && !tap_failed(); Q += 2) {
    const Case c = {.dim = 3,
                    .P = 4,
                    .Q = Q,
                    .num_comp = 3,
                    .num_elem = 13,
                    .kind = SCRAMBLED,
                    .vec_length = 1,
                    .num_in = 2,
                    .num_out = 2,
                    .in = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                    .out = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                    .has_passive = true};
    check_case(resource_of(ceed), "", &c, 17);
  }
}

// B = 1, and B.D is zero but on the diagonal.
TEST_EACH_GEN(nodes_may_be_the_points) {
  const Case c = {.dim = 3,
                  .P = 3,
                  .Q = 3,
                  .num_comp = 2,
                  .num_elem = 27,
                  .n = 3,
                  .points = CEED_GAUSS_LOBATTO,
                  .vec_length = 1,
                  .num_in = 1,
                  .num_out = 1,
                  .in = {CEED_EVAL_GRAD},
                  .out = {CEED_EVAL_GRAD}};
  check_case(resource_of(ceed), "", &c, 5);
}

// The vector length is that of calls for many points; a thread calls for one.
TEST_EACH_GEN(vector_lengths_do_not_matter) {
  Case c = plain;
  c.vec_length = 9;
  check_case(resource_of(ceed), "", &c, 7);
}

// ---- What else it does, and what not ----

TEST_EACH_GEN(with_a_fixed_order_every_bit_is_repeated) {
  char full[96];
  Problem p;

  snprintf(full, sizeof(full), "%s:deterministic", resource_of(ceed));
  const int ierr = open_problem(full, &rich, 9, &p);
  double *first = ierr ? NULL : new_diagonal(&p, false), *second = ierr ? NULL : new_diagonal(&p, false);
  const bool is_same =
      first && second && !memcmp(first, second, (size_t)vector_length(p.diagonal) * sizeof(double));

  free(first);
  free(second);
  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(is_same, "a bit differs");
}

TEST_EACH_GEN(passive_outputs_are_left_alone) {
  Problem p;
  const int ierr = open_problem(resource_of(ceed), &rich, 9, &p);
  double *before = ierr ? NULL : reference_new_values(p.passive_out),
         *diagonal = ierr ? NULL : new_diagonal(&p, false);
  double *after = ierr ? NULL : reference_new_values(p.passive_out);
  const double error = ierr ? NAN : reference_distance(vector_length(p.passive_out), before, after);

  free(before);
  free(after);
  free(diagonal);
  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(error == 0, "changed by %g", error);
}

// The first diagonal brings passive vectors, offsets and the context to the device.
TEST_EACH_GEN(a_diagonal_is_made_and_stays_on_the_device) {
  Problem p;
  int ierr = open_problem(resource_of(ceed), &rich, 9, &p);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE);
  const RitzDeviceCounters before = counters_of(p.ceed);
  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedOperatorLinearAssembleAddDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE);
  const RitzDeviceCounters after = counters_of(p.ceed);

  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(before.bytes_in == after.bytes_in, "%d bytes were copied to the device",
        (int)(after.bytes_in - before.bytes_in));
  CHECK(before.bytes_out == after.bytes_out, "%d bytes were copied from the device",
        (int)(after.bytes_out - before.bytes_out));
}

TEST_EACH_GEN(blocks_are_made_and_stay_on_the_device) {
  RitzDeviceCounters counters[2];
  CeedVector blocks = NULL;
  Problem p;
  int ierr = open_problem(resource_of(ceed), &rich, 9, &p);

  if (!ierr) ierr = CeedVectorCreate(p.ceed, rich.num_comp * vector_length(p.diagonal), &blocks);
  for (int i = 0; i < 2; i++) {
    if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonal(p.op, blocks, CEED_REQUEST_IMMEDIATE);
    counters[i] = counters_of(p.ceed);
  }
  CeedVectorDestroy(&blocks);
  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(counters[0].bytes_in == counters[1].bytes_in, "%d bytes were copied to the device",
        (int)(counters[1].bytes_in - counters[0].bytes_in));
  CHECK(counters[0].bytes_out == counters[1].bytes_out, "%d bytes were copied from the device",
        (int)(counters[1].bytes_out - counters[0].bytes_out));
}

TEST_EACH_GEN(applies_and_diagonals_do_not_disturb_each_other) {
  char full[96];
  Problem p;
  CeedVector u = NULL, v = NULL;
  uint64_t seed = 12;
  double *diagonal[2] = {NULL}, *applied[2] = {NULL};

  snprintf(full, sizeof(full), "%s:deterministic", resource_of(ceed));
  int ierr = open_problem(full, &rich, 9, &p);
  if (!ierr) ierr = make_random_vector(p.rstr, &seed, &u);
  if (!ierr) ierr = make_random_vector(p.rstr, &seed, &v);
  for (int i = 0; i < 2 && !ierr; i++) {
    ierr = CeedOperatorApply(p.op, u, v, CEED_REQUEST_IMMEDIATE);
    if (!ierr) applied[i] = reference_new_values(v);
    if (!ierr) diagonal[i] = new_diagonal(&p, false);
  }
  const size_t size = ierr ? 0 : (size_t)vector_length(v) * sizeof(double);
  const bool is_same =
      !ierr && !memcmp(applied[0], applied[1], size) && !memcmp(diagonal[0], diagonal[1], size);

  for (int i = 0; i < 2; i++) {
    free(applied[i]);
    free(diagonal[i]);
  }
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&v);
  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(is_same, "a bit differs");
}

// ---- What has no kernel of lines ----

static void check_by_tables(const char *resource, const Case *c, int (*change)(Problem *p),
                            const char *reason) {
  Problem p, oracle;
  setenv("RITZ_STRICT", "1", 1); // the host would be an error
  int ierr = open_problem(resource, c, 31, &p), code = open_problem(ref, c, 31, &oracle);
  unsetenv("RITZ_STRICT");

  if (!ierr) ierr = change(&p);
  if (!code) code = change(&oracle);
  if (!ierr && !code) check_same(&p, &oracle, false);
  const bool is_said =
      !ierr && explains(p.op, "derivatives at the points, tables of the bases: ") && explains(p.op, reason);
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
  CHECK(is_said, "wanted: %s", reason);
}

TEST_EACH_GEN(an_assembled_qfunction_that_is_reused_is_read) {
  check_by_tables(resource_of(ceed), &rich, reuse, "the assembled QFunction is reused");
}

TEST_EACH_GEN(several_active_spaces_have_tables) {
  Case c = plain;

  c.has_stranger = true;
  c.num_out = 2;
  c.out[1] = CEED_EVAL_INTERP;
  check_by_tables(resource_of(ceed), &c, split_space, "several active spaces");
}

// ---- Failures ----

// Every allocation of the first diagonal fails once; the call after it succeeds.
TEST_EACH_GEN(a_diagonal_says_so_when_memory_is_short) {
  int64_t n = 1;
  bool is_done = false;

  if (tap_level() == TAP_QUICK) NOT_HERE("a context for each allocation: from level full on");
  for (; !is_done && n < 2000 && !tap_failed(); n++) {
    Problem p;

    CHECK_OK(open_problem(resource_of(ceed), &plain, 9, &p));
    ritz_memory_fail_at(n);
    const int ierr = CeedOperatorLinearAssembleAddDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE);
    ritz_memory_fail_at(0);
    is_done = !ierr;
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR || ierr == CEED_ERROR_BACKEND, "allocation %d: code %d", (int)n,
          ierr);
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE));
    CHECK(is_fused(p.op), "after allocation %d", (int)n);
    close_problem(&p);
  }
  CHECK(n > 10, "only %d allocations", (int)n);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_tensor_operators_have_the_diagonal_of_the_reference_backend,
                        random_tensor_operators_have_the_blocks_of_the_reference_backend,
                        components_of_vector_operators_do_not_disturb_each_other, nodes_may_be_the_points,
                        vector_lengths_do_not_matter, with_a_fixed_order_every_bit_is_repeated,
                        passive_outputs_are_left_alone, a_diagonal_is_made_and_stays_on_the_device,
                        blocks_are_made_and_stay_on_the_device,
                        applies_and_diagonals_do_not_disturb_each_other,
                        an_assembled_qfunction_that_is_reused_is_read, several_active_spaces_have_tables,
                        a_diagonal_says_so_when_memory_is_short));
}
