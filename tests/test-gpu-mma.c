// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of /gpu/*/gen whose lines are multiplied by tensor cores, or by what stands for them on
// devices without (kernels/gpu/mma.h): what they compute, and when they are chosen. Registers:
// test-nvrtc-kernels.c.
#include <ritz/operator.h>
#include <stdlib.h>

#include "tests/gpu-kit.h"

// Nodes and points up to 8, more and fewer nodes than points; both routes to derivatives; components.
static const ChainShape shapes[] = {
    {.dim = 2, .num_elem = 3, .P_1d = 7, .Q_1d = 8, .is_diffusion = true},
    {.dim = 3, .num_elem = 1, .P_1d = 5, .Q_1d = 8},
    {.dim = 3, .num_elem = 3, .P_1d = 7, .Q_1d = 8, .is_diffusion = true},
    {.dim = 3, .num_elem = 5, .P_1d = 8, .Q_1d = 8, .is_diffusion = true, .quad_mode = CEED_GAUSS_LOBATTO},
    {.dim = 3, .num_elem = 2, .P_1d = 8, .Q_1d = 6, .is_diffusion = true},
    {.dim = 3, .num_elem = 3, .P_1d = 4, .Q_1d = 7, .is_diffusion = true},
    {.dim = 3, .num_elem = 2, .P_1d = 6, .Q_1d = 8, .num_comp = 3},
    {.dim = 3, .num_elem = 1, .P_1d = 8, .Q_1d = 8, .num_comp = 3, .is_diffusion = true},
    {.dim = 3, .num_elem = 3, .P_1d = 5, .Q_1d = 6, .is_diffusion = true},
    {.dim = 3, .num_elem = 3, .P_1d = 8, .Q_1d = 4}, // more lines of nodes than threads
};
enum { NUM_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static bool is_used(CeedOperator op) {
  const char *source;
  return !RitzOperatorGetSource(op, &source) && strstr(source, "_mma(RITZ_L(");
}

static int get_diagonal(CeedOperator op, CeedSize size, double *y) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector diagonal = NULL;
  int ierr = CeedVectorCreate(ceed, size, &diagonal);

  if (!ierr) ierr = CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(diagonal, y);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

// A x, or the diagonal of A.
static int evaluate(Ceed ceed, const ChainShape *s, const double *x, bool is_diagonal, double *y,
                    bool *uses) {
  Chain c;
  int ierr = chain_create(ceed, s, &c);
  if (!ierr) ierr = is_diagonal ? get_diagonal(c.op, c.size, y) : apply_to_values(c.op, c.size, x, y);
  if (!ierr && uses) *uses = is_used(c.op);
  chain_destroy(&c);
  return ierr;
}

static const bool is_double = sizeof(CeedScalar) == sizeof(double); // single precision does without

// Else the reference backend would be compared with itself.
static bool has_diagonal_kernel(Ceed ceed, const ChainShape *s) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  Chain c;
  int ierr = chain_create(ceed, s, &c);

  if (!ierr) ierr = RitzOperatorExplain(c.op, stream);
  chain_destroy(&c);
  fclose(stream);
  const bool has_kernel = !ierr && strstr(text, "diagonal: one generated kernel");
  free(text);
  return has_kernel;
}

static void compare(Ceed ceed, const ChainShape *s, bool is_diagonal) {
  const CeedSize size = chain_size(s);
  uint64_t seed = 7;
  double *x = reference_new_random(size, &seed), *y = reference_new(size), *wanted = reference_new(size);
  Ceed reference = tap_ceed("/cpu/self/ref");
  bool uses = !is_double;
  int ierr = evaluate(ceed, s, x, is_diagonal, y, &uses);
  if (!ierr) ierr = evaluate(reference, s, x, is_diagonal, wanted, NULL);
  const double error = reference_distance(size, y, wanted), tolerance = chain_tolerance(s, wanted);
  CeedDestroy(&reference);
  free(x);
  free(y);
  free(wanted);
  CHECK_OK(ierr);
  CHECK(uses == is_double, "lines of the apply are %smultiplied so", uses ? "" : "not ");
  CHECK(error <= tolerance, "%s off by %g, allowed %g; %dD, %d nodes, %d points",
        is_diagonal ? "diagonal" : "apply", error, tolerance, (int)s->dim, (int)s->P_1d, (int)s->Q_1d);
}

TEST_EACH_GEN(lines_that_tensor_cores_multiply_give_what_the_reference_gives) {
  setenv("RITZ_GPU_MMA", "on", 1);
  const int num = tap_level() == TAP_QUICK                               ? 1
                  : tap_compiles_slowly(ceed) && tap_level() == TAP_FULL ? 3
                                                                         : NUM_SHAPES;
  for (int i = 0; i < num && !tap_failed(); i++) compare(ceed, &shapes[i], false);
  unsetenv("RITZ_GPU_MMA");
}

// They do without tensor cores (test-gpu-text.c).
TEST_EACH_GEN(diagonals_of_such_operators_are_those_of_the_reference) {
  setenv("RITZ_GPU_MMA", "on", 1);
  CHECK(has_diagonal_kernel(ceed, &shapes[0]), "the diagonal has no kernel");
  compare(ceed, &shapes[0], true);
  unsetenv("RITZ_GPU_MMA");
}

TEST_EACH_GEN(tensor_cores_are_left_alone_when_that_is_asked_for_or_lines_are_too_long) {
  const ChainShape longer = {.dim = 2, .num_elem = 2, .P_1d = 9, .Q_1d = 9, .is_diffusion = true};
  const ChainShape *const cases[] = {&shapes[0], &longer};
  const CeedSize size = chain_size(&longer);
  double *x = reference_new(size), *y = reference_new(size);
  bool uses = true;
  for (int i = 0; i < 2 && !tap_failed(); i++) {
    setenv("RITZ_GPU_MMA", i ? "on" : "off", 1);
    CHECK_OK(evaluate(ceed, cases[i], x, false, y, &uses));
    CHECK(!uses, "%d points", (int)cases[i]->Q_1d);
  }
  unsetenv("RITZ_GPU_MMA");
  free(x);
  free(y);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(lines_that_tensor_cores_multiply_give_what_the_reference_gives,
                        diagonals_of_such_operators_are_those_of_the_reference,
                        tensor_cores_are_left_alone_when_that_is_asked_for_or_lines_are_too_long));
}
