// SPDX-License-Identifier: BSD-2-Clause
// Diagonals of operators of /cpu/self/gen: the generated kernel against the reference backend, what it may be
// given, what it leaves alone, and what it leaves to loops. That diagonals are those of the
// matrices is tested for all backends in tests/test-assembly.c.
#include "tests/diagonal-kit.h"

#include "base/memory.h"
#include "tests/cold-cache.h"
#include "tests/diagonal-qfunctions.h"

static const char ref[] = "/cpu/self/ref", gen[] = "/cpu/self/gen";

// ---- Random operators ----

// Applied once, and nothing in the cache.
static bool is_once = false;

static void check_case(const Case *c, int threads, uint64_t seed) {
  check_random(c, false, is_once, threads, seed);
}

TEST(random_tensor_operators_have_the_diagonal_of_the_reference_backend) {
  static const int num[] = {6, 60, 1000};

  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    uint64_t seed = 100 + (uint64_t)i;
    const Case c = draw_case(&seed);
    check_case(&c, 1 + i % 3, seed);
  }
}

TEST(what_is_used_once_has_the_diagonal_of_the_reference_backend_without_a_compilation) {
  static const int num[] = {200, 1000, 10000};
  ColdCache cache;

  cold_begin(&cache);
  is_once = true;
  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    uint64_t seed = 500000 + (uint64_t)i;
    const Case c = draw_case(&seed);
    check_case(&c, 1 + i % 3, seed);
  }
  is_once = false;
  const int compiled = cold_end(&cache);
  CHECK(compiled == 0, "%d compiled", compiled);
}

// The kernel of the apply is there, that of the diagonal is not.
TEST(a_diagonal_that_is_used_once_is_not_compiled_beside_the_kernel_of_the_apply) {
  Problem p, oracle;
  CeedVector u = NULL;
  ColdCache cache;

  int ierr = open_problem(gen, &plain, 3, &p), code = open_problem(ref, &plain, 3, &oracle);
  cold_begin(&cache);
  if (!ierr) ierr = CeedElemRestrictionCreateVector(p.rstr, &u, NULL);
  if (!ierr) ierr = CeedVectorSetValue(u, 1);
  if (!ierr) ierr = CeedOperatorApply(p.op, u, p.diagonal, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = RitzOperatorSetUse(p.op, RITZ_USE_ONCE);
  if (!ierr && !code) check_same(&p, &oracle, false);
  const bool is_said =
      !ierr && explains(p.op, "the ahead-of-time kernel, ") && explains(p.op, "because: it is used once");
  const int compiled = cold_end(&cache);
  CeedVectorDestroy(&u);
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
  CHECK(is_said && compiled == 1, "%d compiled", compiled);
}

// Rows of three points, because a single one in all lanes is no multiple of three.
TEST(a_point_function_with_a_vector_length_has_a_kernel) {
  const Case c = {.dim = 2,
                  .P = 4,
                  .Q = 3,
                  .num_comp = 2,
                  .num_elem = 11,
                  .kind = SCRAMBLED,
                  .vec_length = 3,
                  .num_in = 2,
                  .num_out = 1,
                  .in = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                  .out = {CEED_EVAL_GRAD},
                  .has_passive = true};
  check_case(&c, 1, 7);
}

// B = 1, and B.D is zero but on the diagonal.
TEST(nodes_may_be_the_points) {
  const Case c = {.dim = 3,
                  .P = 3,
                  .Q = 3,
                  .num_comp = 1,
                  .num_elem = 27,
                  .n = 3,
                  .points = CEED_GAUSS_LOBATTO,
                  .vec_length = 1,
                  .num_in = 2,
                  .num_out = 2,
                  .in = {CEED_EVAL_GRAD, CEED_EVAL_INTERP},
                  .out = {CEED_EVAL_GRAD, CEED_EVAL_INTERP}};
  check_case(&c, 2, 5);
}

// ---- What a diagonal depends on, and what it does not ----

TEST(passive_outputs_are_left_alone) {
  Problem p;
  const int ierr = open_problem(gen, &rich, 9, &p);
  double *before = ierr ? NULL : reference_new_values(p.passive_out),
         *diagonal = ierr ? NULL : new_diagonal(&p, false);
  double *after = ierr ? NULL : reference_new_values(p.passive_out);
  const double error = ierr ? NAN : reference_distance(vector_length(p.passive_out), before, after);
  const bool fused = !ierr && is_fused(p.op);

  free(before);
  free(after);
  free(diagonal);
  close_problem(&p);
  CHECK_OK(ierr);
  CHECK(fused, "%s", describe(&rich));
  CHECK(error == 0, "changed by %g", error);
}

TEST(with_a_fixed_order_threads_change_no_bit) {
  static const char *const resources[] = {"/cpu/self/gen:deterministic:threads=1",
                                          "/cpu/self/gen:deterministic:threads=2",
                                          "/cpu/self/gen:deterministic:threads=3"};
  double *values[3] = {NULL};
  bool is_same = true;

  for (int i = 0; i < 3; i++) {
    Problem p;
    if (!open_problem(resources[i], &rich, 9, &p)) values[i] = new_diagonal(&p, false);
    const CeedSize n = vector_length(p.diagonal);
    close_problem(&p);
    is_same = is_same && values[0] && values[i] && !memcmp(values[0], values[i], (size_t)n * sizeof(double));
  }
  for (int i = 0; i < 3; i++) free(values[i]);
  CHECK(is_same, "a bit differs");
}

TEST(applies_and_diagonals_do_not_disturb_each_other) {
  Problem p;
  CeedVector u = NULL, v = NULL;
  uint64_t seed = 12;
  double *diagonal[2] = {NULL}, *applied[2] = {NULL};
  int ierr = open_problem(gen, &rich, 9, &p);

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

// ---- What loops and the ahead-of-time kernel do ----

// Opens the same problem on both, has `change` make another one of it, and compares.
static void check_changed(const Case *c, int (*change)(Problem *p), const char *served_by,
                          const char *reason) {
  Problem p, oracle;
  int ierr = open_problem(gen, c, 31, &p), code = open_problem(ref, c, 31, &oracle);

  if (!ierr) ierr = change(&p);
  if (!code) code = change(&oracle);
  if (!ierr && !code) check_same(&p, &oracle, false);
  const bool is_said = !ierr && explains(p.op, served_by) && explains(p.op, reason);
  close_problem(&p);
  close_problem(&oracle);
  CHECK_OK(ierr);
  CHECK_OK(code);
  CHECK(is_said, "wanted: %s", reason);
}

static void check_by_loops(const Case *c, int (*change)(Problem *p), const char *reason) {
  setenv("RITZ_STRICT", "1", 1); // no step down that would be told
  check_changed(c, change, "loops ahead of time: ", reason);
  unsetenv("RITZ_STRICT");
}

static void check_walked(const Case *c, int (*change)(Problem *p), const char *reason) {
  setenv("RITZ_STRICT", "1", 1); // no step down that would be told
  check_changed(c, change, "the ahead-of-time kernel, ", reason);
  unsetenv("RITZ_STRICT");
}

TEST(an_assembled_qfunction_that_is_reused_is_read_by_loops) {
  check_by_loops(&rich, reuse, "the assembled QFunction is reused");
}

static int drop_text(Problem *p) {
  CeedQFunction qf = p->qf;

  p->context.num_in = p->context.num_out = 0;
  CeedCall(CeedQFunctionCreateInterior(p->ceed, 1, RandomAffine, "", &p->qf));
  CeedCall(CeedQFunctionDestroy(&qf));
  CeedCall(add_fields(p));
  CeedCall(CeedQFunctionSetContext(p->qf, p->qf_context));
  return remake(p);
}

TEST(a_point_function_without_text_is_called_by_the_ahead_of_time_kernel) {
  check_walked(&plain, drop_text, "does not hold the text");
}

TEST(dense_bases_are_left_to_the_ahead_of_time_kernel) {
  check_walked(&plain, use_dense_basis, "no tensor product");
}

TEST(several_active_spaces_are_left_to_loops) {
  Case c = plain;

  c.has_stranger = true;
  c.num_out = 2;
  c.out[1] = CEED_EVAL_INTERP;
  check_by_loops(&c, split_space, "several active spaces");
}

// ---- Failures ----

static int open_failing(Problem *p, CeedInt *code) {
  *p = (Problem){.ceed = tap_ceed(gen), .c = &plain};
  CeedCall(grid_create_restriction(p->ceed, 2, 3, 1, 1, &p->rstr));
  CeedCall(CeedBasisCreateTensorH1Lagrange(p->ceed, 2, 1, 2, 3, CEED_GAUSS, &p->basis));
  CeedCall(CeedQFunctionCreateInterior(p->ceed, 1, DiagonalMass, DiagonalMass_loc, &p->qf));
  CeedCall(CeedQFunctionAddInput(p->qf, "u", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionAddOutput(p->qf, "v", 1, CEED_EVAL_INTERP));
  CeedCall(CeedQFunctionContextCreate(p->ceed, &p->qf_context));
  CeedCall(CeedQFunctionContextSetData(p->qf_context, CEED_MEM_HOST, CEED_USE_POINTER, sizeof(*code), code));
  CeedCall(CeedQFunctionSetContext(p->qf, p->qf_context));
  CeedCall(CeedOperatorCreate(p->ceed, p->qf, NULL, NULL, &p->op));
  CeedCall(CeedOperatorSetField(p->op, "u", p->rstr, p->basis, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(p->op, "v", p->rstr, p->basis, CEED_VECTOR_ACTIVE));
  return CeedElemRestrictionCreateVector(p->rstr, &p->diagonal, NULL);
}

static int set_code(Problem *p, CeedInt value) {
  CeedInt *code;

  CeedCall(CeedQFunctionContextGetData(p->qf_context, CEED_MEM_HOST, &code));
  *code = value;
  return CeedQFunctionContextRestoreData(p->qf_context, &code);
}

TEST(a_failing_point_function_fails_the_diagonal_which_works_again_afterwards) {
  Problem p;
  CeedInt code = 0;

  CHECK_OK(open_failing(&p, &code));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE));
  CHECK(is_fused(p.op), "one kernel");
  CHECK_OK(set_code(&p, 5));
  CHECK(CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE) == CEED_ERROR_BACKEND,
        "the code is the caller's mistake one level below");
  CHECK_OK(set_code(&p, 0));
  double *diagonal = new_diagonal(&p, false);
  CHECK(diagonal, "no diagonal");
  // squares of (1 - x)/2 at the three Gauss points add up to 1/4 (3 + 2 * 3/5) = 1.05
  CHECK_NEAR(diagonal[0], 2 * 1.05 * 1.05, 10 * eps, "corner");
  free(diagonal);
  close_problem(&p);
}

// Every allocation of the first diagonal fails once; the call after it succeeds.
static void check_memory(void) {
  int64_t n = 1;
  bool is_done = false;

  for (; !is_done && n < 1000 && !tap_failed(); n++) {
    Problem p;
    CeedInt code = 0;

    CHECK_OK(open_failing(&p, &code));
    if (is_once) CHECK_OK(RitzOperatorSetUse(p.op, RITZ_USE_ONCE));
    CHECK_OK(CeedVectorSetValue(p.diagonal, 0));
    ritz_memory_fail_at(n);
    const int ierr = CeedOperatorLinearAssembleAddDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE);
    ritz_memory_fail_at(0);
    is_done = !ierr;
    CHECK(!ierr || ierr == CEED_ERROR_MAJOR, "allocation %d: code %d", (int)n, ierr);
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(p.op, p.diagonal, CEED_REQUEST_IMMEDIATE));
    CHECK(is_once ? explains(p.op, "the ahead-of-time kernel, ") : is_fused(p.op), "after allocation %d",
          (int)n);
    close_problem(&p);
  }
  CHECK(n > 10, "only %d allocations", (int)n);
}

TEST(a_diagonal_says_so_when_memory_is_short) { check_memory(); }

TEST(a_diagonal_that_is_used_once_says_so_when_memory_is_short) {
  ColdCache cache;

  cold_begin(&cache);
  is_once = true;
  check_memory();
  is_once = false;
  (void)cold_end(&cache);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(random_tensor_operators_have_the_diagonal_of_the_reference_backend,
                        what_is_used_once_has_the_diagonal_of_the_reference_backend_without_a_compilation,
                        a_diagonal_that_is_used_once_is_not_compiled_beside_the_kernel_of_the_apply,
                        a_point_function_with_a_vector_length_has_a_kernel, nodes_may_be_the_points,
                        passive_outputs_are_left_alone, with_a_fixed_order_threads_change_no_bit,
                        applies_and_diagonals_do_not_disturb_each_other,
                        an_assembled_qfunction_that_is_reused_is_read_by_loops,
                        a_point_function_without_text_is_called_by_the_ahead_of_time_kernel,
                        dense_bases_are_left_to_the_ahead_of_time_kernel,
                        several_active_spaces_are_left_to_loops,
                        a_failing_point_function_fails_the_diagonal_which_works_again_afterwards,
                        a_diagonal_says_so_when_memory_is_short,
                        a_diagonal_that_is_used_once_says_so_when_memory_is_short));
}
