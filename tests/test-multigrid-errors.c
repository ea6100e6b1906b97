// SPDX-License-Identifier: BSD-2-Clause
// Solutions by multigrid with every smoother: their errors fall by the order of the discretization, in full
// multigrid, too, and with cycles in float; boxes of any size; coefficients that jump, sheared boxes, nothing
// that holds the solution; the same bits on any number of threads.
#include "tests/multigrid-kit.h"

#include "tests/api.h"
#include <float.h>

enum { HAS_DOUBLE = sizeof(CeedScalar) == sizeof(double) };

static const RitzSmootherKind all_kinds[] = {RITZ_SMOOTHER_JACOBI,           RITZ_SMOOTHER_POINT_BLOCKS,
                                             RITZ_SMOOTHER_ELEMENT_SCHWARZ,  RITZ_SMOOTHER_OVERLAPPED_SCHWARZ,
                                             RITZ_SMOOTHER_ADDITIVE_PATCHES, RITZ_SMOOTHER_PATCHES};
enum { NUM_KINDS = sizeof(all_kinds) / sizeof(all_kinds[0]) };

// ---- Errors ----

static int solution(void *ctx, const double *x, double *value) {
  const MultigridCase *c = ctx;
  *value = 1;
  for (CeedInt d = 0; d < c->dim; d++) *value *= sin(KIT_PI * x[d]);
  return 0;
}

static int solution_squared(void *ctx, const double *x, double *value) {
  const int ierr = solution(ctx, x, value);
  *value *= *value;
  return ierr;
}

// |u - x| in L2, by quadrature: the square of u, less 2 u x, and x x.
static int error_of(const MultigridKit *k, CeedVector x, double *error) {
  CeedVector ones = kit_vector(k), v = kit_vector(k);
  double uu = 0, ux = 0, xx = 0;
  int ierr = CeedVectorSetValue(ones, 1);
  if (!ierr) ierr = kit_apply_mass(k, solution_squared, ones, v);
  if (!ierr) ierr = RitzVectorDot(ones, v, &uu);
  if (!ierr) ierr = kit_apply_mass(k, solution, x, v);
  if (!ierr) ierr = RitzVectorDot(ones, v, &ux);
  if (!ierr) ierr = kit_apply_mass(k, NULL, x, v);
  if (!ierr) ierr = RitzVectorDot(x, v, &xx);
  *error = sqrt(uu - 2 * ux + xx);
  return ierr | CeedVectorDestroy(&ones) | CeedVectorDestroy(&v);
}

// Of what one application of the preconditioner makes of the right-hand side, or flexible CG.
static int solve_sine(Ceed ceed, const MultigridCase *c, double *error) {
  MultigridKit k;
  MultigridResult result = {.reason = RITZ_CONVERGED_RTOL};
  CeedCall(kit_open(ceed, c, &k));
  CeedVector b = kit_vector(&k), x = kit_vector(&k);
  int ierr = kit_right_hand_side(&k, kit_sine, b);
  if (!ierr) ierr = RitzVectorSetEntries(b, k.fixed, 0);
  if (!ierr)
    ierr = c->options.is_full ? RitzPreconditionerApply(k.pc, b, x) : kit_solve(&k, 1e-9, b, x, &result);
  if (!ierr) ierr = error_of(&k, x, error);
  return ierr | (result.reason < 0) | CeedVectorDestroy(&b) | CeedVectorDestroy(&x) | kit_close(&k);
}

// errors [coarse, fine] of solutions by cycles in double and in float, and of one application of full
// multigrid in each precision.
static int find_errors(Ceed ceed, MultigridCase c, double errors[4][2]) {
  for (int i = 0; i < 8; i++) {
    c.n = i % 2 ? 8 : 4;
    c.options.use_precision = true;
    c.options.precision = i / 2 % 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
    c.options.is_full = i / 4;
    CeedCall(solve_sine(ceed, &c, &errors[i / 2][i % 2]));
  }
  return CEED_ERROR_SUCCESS;
}

// most: of full multigrid, in errors of discretization.
static void check_errors(Ceed ceed, const MultigridCase *c, double least_order, double most) {
  double e[4][2] = {{0}};
  CHECK_OK(find_errors(ceed, *c, e));
  const double order = log2(e[0][0] / e[0][1]);
  CHECK(order > least_order, "smoother %d, degree %d: order %.2f", (int)c->options.smoother, (int)c->degree,
        order);
  for (int n = 0; n < 2; n++) {
    CHECK_NEAR(e[1][n], e[0][n], 0.01 * e[0][n], "smoother %d, degree %d: in float", (int)c->options.smoother,
               (int)c->degree);
    for (int i = 2; i < 4; i++)
      CHECK(e[i][n] < most * e[0][n], "smoother %d, degree %d: full multigrid %g, %g",
            (int)c->options.smoother, (int)c->degree, e[i][n], e[0][n]);
  }
}

// A solution that is a sine on all meshes of the square.
TEST(errors_fall_by_the_order_and_one_full_multigrid_reaches_them) {
  if (!HAS_DOUBLE) NOT_HERE("differences of squares need double");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < NUM_KINDS && !tap_failed(); i++) {
    for (CeedInt degree = 1; degree <= 3; degree++) {
      const MultigridCase c = {
          .dim = 2, .degree = degree, .kind = RITZ_HIERARCHY_H, .options = {.smoother = all_kinds[i]}};
      check_errors(ceed, &c, degree + 0.9, 1.2);
      if (tap_failed()) return;
    }
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Two to four elements in a direction do not resolve the deformation: less than the order, and coarse
// solutions that are further from the fine ones.
TEST(errors_on_deformed_boxes_are_those_of_float_cycles) {
  if (!HAS_DOUBLE) NOT_HERE("differences of squares need double");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 2; i < NUM_KINDS && !tap_failed(); i++) {
    const MultigridCase c = {.dim = 2,
                             .degree = 2,
                             .kind = RITZ_HIERARCHY_H,
                             .amplitude = 0.1,
                             .options = {.smoother = all_kinds[i]}};
    check_errors(ceed, &c, 2, 1.5);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Against the solution on the reference backend.
TEST_EACH_BACKEND(full_multigrid_in_float_reaches_the_error_of_discretization) {
  if (!HAS_DOUBLE) NOT_HERE("differences of squares need double");
  MultigridCase c = {.dim = 2,
                     .n = 4,
                     .degree = 2,
                     .kind = RITZ_HIERARCHY_H,
                     .max_levels = 2,
                     .options = {.smoother = RITZ_SMOOTHER_PATCHES}};
  Ceed ref = tap_ceed("/cpu/self/ref");
  double wanted = 0, error = 0;
  CHECK_OK(solve_sine(ref, &c, &wanted));
  c.options.is_full = c.options.use_precision = true;
  c.options.precision = CEED_SCALAR_FP32;
  CHECK_OK(solve_sine(ceed, &c, &error));
  CHECK_NEAR(error, wanted, 0.01 * wanted, "patches, degree 2");
  CHECK_OK(CeedDestroy(&ref));
}

// ---- Sizes ----

// Random boxes, of single elements and odd counts too, undeformed or not, in float or not.
static MultigridCase random_case(uint64_t *seed) {
  MultigridCase c = {.dim = 2 + !tap_integer(seed, 4), .degree = 1 + (CeedInt)tap_integer(seed, 3)};
  for (int d = 0; d < c.dim; d++) c.cells[d] = 1 + (CeedInt)tap_integer(seed, c.dim == 2 ? 7 : 3);
  c.kind = (RitzHierarchyKind)tap_integer(seed, 4);
  c.amplitude = tap_integer(seed, 2) ? 0.05 : 0;
  c.options.is_reversed = tap_integer(seed, 2);
  c.options.use_precision = HAS_DOUBLE;
  c.options.precision = tap_integer(seed, 2) ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64;
  return c;
}

// Whether elements are halved until there is one across.
static bool has_thin_levels(const MultigridCase *c) {
  CeedInt n[3] = {c->cells[0], c->cells[1], c->dim == 3 ? c->cells[2] : 2 * c->cells[0]};
  while (n[0] > 1 && n[1] > 1 && n[2] > 1) {
    if (c->kind == RITZ_HIERARCHY_P || n[0] % 2 || n[1] % 2 || n[2] % 2) return false;
    for (int d = 0; d < 3; d++) n[d] /= 2;
  }
  return true;
}

// Approximate patches have no inner vertex across a single element.
static bool has_free_nodes_beside_patches(const MultigridCase *c) {
  return c->degree > 1 && has_thin_levels(c) &&
         (c->options.smoother == RITZ_SMOOTHER_ADDITIVE_PATCHES ||
          (c->options.smoother == RITZ_SMOOTHER_PATCHES && c->amplitude > 0));
}

TEST(boxes_of_any_size_are_solved_with_every_smoother) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  uint64_t seed = 5;
  for (int i = 0; i < (tap_level() ? 600 : 120); i++) {
    MultigridCase c = random_case(&seed);
    c.options.smoother = all_kinds[i % NUM_KINDS];
    const CeedInt num = kit_count(ceed, &c, HAS_DOUBLE ? 1e-9 : 1e-4);
    if (num < 0 && has_free_nodes_beside_patches(&c)) {
      const char *message = NULL;
      CHECK_OK(CeedGetErrorMessage(ceed, &message));
      CHECK(strstr(message, "inside of no vertex patch") && strstr(message, "use overlapped elements"), "%s",
            message);
      tap_forget_error(ceed);
      continue;
    }
    CHECK(num >= 0 && num <= 12, "smoother %d, degree %d, %d x %d x %d%s: %d iterations",
          (int)c.options.smoother, (int)c.degree, (int)c.cells[0], (int)c.cells[1], (int)c.cells[2],
          c.amplitude > 0 ? ", deformed" : "", (int)num);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Coefficients, shapes ----

TEST(jumps_and_sheared_boxes_are_solved_by_the_automatic_choice) {
  if (!HAS_DOUBLE) NOT_HERE("1e-9 is below the rounding of floats");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < 6; i++) {
    const bool is_sheared = i % 2, is_flat = i < 4;
    MultigridCase c = {.dim = is_flat ? 2 : 3,
                       .n = is_flat ? 32 : 6,
                       .degree = is_flat ? 2 + i / 2 : 2,
                       .options = {.smoother = RITZ_SMOOTHER_MEASURED}};
    c.contrast = is_sheared ? 0 : 1000;
    c.shear = is_sheared ? 1 : 0;
    const CeedInt num = kit_count(ceed, &c, 1e-9);
    CHECK(num > 0 && num <= 16, "%s, dim %d, degree %d: %d iterations", is_sheared ? "sheared" : "jumps",
          (int)c.dim, (int)c.degree, (int)num);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Operators that are not definite ----

// A body that nothing holds, or is_fixed; its nullspace is not given.
static int open_without_nullspace(Ceed ceed, const MultigridCase *c, bool is_fixed, MultigridKit *k) {
  const RitzFixedPart all = {.part = "all"};
  CeedCall(kit_create_spaces(ceed, c, k));
  return RitzPreconditionerCreateMultigridOfHierarchy(ceed, k->hierarchy, kit_operator, NULL, k, is_fixed,
                                                      &all, &c->options, &k->pc);
}

TEST(singular_problems_without_their_nullspace_are_refused_in_words) {
  if (!HAS_DOUBLE) NOT_HERE("entries rounded to float make a matrix that has factors");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < NUM_KINDS; i++) {
    const MultigridCase c = {.dim = 2,
                             .n = 4,
                             .degree = 2,
                             .is_neumann = true,
                             .options = {.smoother = all_kinds[i], .coarse = {.kind = RITZ_DIRECT_DENSE}}};
    MultigridKit k;
    const char *message = NULL;
    CHECK_ERROR(ceed, open_without_nullspace(ceed, &c, false, &k), CEED_ERROR_MAJOR,
                "RitzPreconditionerCreateMultigridOfHierarchy: level 0: ");
    CHECK_OK(CeedGetErrorMessage(ceed, &message));
    CHECK(strstr(message, "no nullspace is given"), "%s", message);
    CHECK(!k.pc, "something was handed out");
    CHECK_OK(kit_close(&k));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Conjugate gradients on the coarsest level: with the nullspace they solve; without it they end with an error
// as soon as rounding alone is left to go for, and x has numbers.
TEST(coarse_conjugate_gradients_need_the_nullspace_and_say_so) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int is_given = 0; is_given < 2; is_given++) {
    const MultigridCase c = {.dim = 2,
                             .n = 4,
                             .degree = 2,
                             .is_neumann = true,
                             .options = {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ,
                                         .coarse = {.kind = RITZ_DIRECT_CG}}};
    MultigridCase of_method = c;
    MultigridKit k;
    MultigridResult result = {.reason = RITZ_ITERATING};
    double square = NAN;
    CHECK_OK(is_given ? kit_open(ceed, &c, &k) : open_without_nullspace(ceed, &c, false, &k));
    of_method.is_neumann = is_given;
    k.c = &of_method;
    CeedVector b = kit_random(&k, 3), x = kit_vector(&k);
    if (is_given) {
      CHECK_OK(kit_solve(&k, 1e-5, b, x, &result));
      CHECK(result.reason > 0 && result.iterations <= 8, "%s, %d iterations",
            RitzSolverReasonName(result.reason), (int)result.iterations);
    } else {
      const char *message = NULL;
      CHECK_ERROR(ceed, kit_solve(&k, 1e-5, b, x, &result), CEED_ERROR_MAJOR,
                  "RitzPreconditionerApply: conjugate gradients: not converged: ");
      CHECK_OK(CeedGetErrorMessage(ceed, &message));
      CHECK(strstr(message, "no nullspace is given"), "%s", message);
    }
    CHECK_OK(RitzVectorDot(x, x, &square));
    CHECK(isfinite(square), "|x|^2 = %g", square);
    CHECK_OK(CeedVectorDestroy(&b));
    CHECK_OK(CeedVectorDestroy(&x));
    CHECK_OK(kit_close(&k));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// With the nullspace on all levels; approximate patches do not have the nodes of free sides.
TEST(neumann_problems_are_solved_with_every_smoother_that_serves_them) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < 4 * NUM_KINDS; i++) {
    MultigridCase c = {.dim = 2,
                       .n = i % 2 ? 1 : 4,
                       .degree = 2,
                       .amplitude = i / 2 % 2 ? 0.05 : 0,
                       .is_neumann = true,
                       .options = {.smoother = all_kinds[i / 4]}};
    const CeedInt num = kit_count(ceed, &c, HAS_DOUBLE ? 1e-9 : 1e-5);
    const bool has_none = c.options.smoother == RITZ_SMOOTHER_ADDITIVE_PATCHES ||
                          (c.options.smoother == RITZ_SMOOTHER_PATCHES && c.amplitude > 0 && c.n > 1);
    CHECK(has_none ? num == -1 : num > 0 && num <= 8, "smoother %d, %d cells: %d iterations",
          (int)c.options.smoother, (int)c.n, (int)num);
    tap_forget_error(ceed);
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// Exact patches solve with a negative operator as well as with its opposite: the method ends with a reason.
TEST(diagonals_that_are_not_positive_are_named_with_their_level) {
  static const char *const words[NUM_KINDS] = {"entry 4 of the diagonal is -2.66667",
                                               "the block of node 4 is not positive definite",
                                               "entry 4 of the operator's diagonal is -2.66667",
                                               "entry 4 of the diagonal is -2.66667",
                                               "entry 4 of the operator's diagonal is -2.66667",
                                               NULL};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < NUM_KINDS; i++) {
    const MultigridCase c = {
        .dim = 2, .n = 4, .degree = 2, .factor = -1, .options = {.smoother = all_kinds[i]}};
    MultigridKit k;
    if (words[i]) {
      const char *message = NULL;
      CHECK_ERROR(ceed, open_without_nullspace(ceed, &c, true, &k), CEED_ERROR_MAJOR, words[i]);
      CHECK_OK(CeedGetErrorMessage(ceed, &message));
      CHECK(strstr(message, "RitzPreconditionerCreateMultigridOfHierarchy: level 1: "), "%s", message);
    } else {
      MultigridResult result = {.reason = RITZ_ITERATING};
      CHECK_OK(open_without_nullspace(ceed, &c, true, &k));
      CeedVector b = kit_random(&k, 3), x = kit_vector(&k);
      CHECK_OK(kit_solve(&k, 1e-5, b, x, &result));
      CHECK(result.reason == RITZ_DIVERGED_PRECONDITIONER, "%s", RitzSolverReasonName(result.reason));
      CHECK_OK(CeedVectorDestroy(&b));
      CHECK_OK(CeedVectorDestroy(&x));
    }
    CHECK_OK(kit_close(&k));
  }
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- Threads ----

// z of one cycle for a random residual, [*n] to be freed.
static int cycle_on_threads(int num_threads, const MultigridCase *c, CeedSize *n, CeedScalar **z) {
  char resource[64];
  MultigridKit k;
  const CeedScalar *array;
  snprintf(resource, sizeof(resource), "/cpu/self/gen:threads=%d:deterministic", num_threads);
  Ceed ceed = tap_ceed(resource);
  CeedCall(kit_open(ceed, c, &k));
  CeedVector b = kit_random(&k, 5), v = kit_vector(&k);
  CeedCall(RitzPreconditionerApply(k.pc, b, v));
  CeedCall(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  *n = k.n;
  *z = malloc((size_t)k.n * sizeof(**z));
  memcpy(*z, array, (size_t)k.n * sizeof(**z));
  CeedCall(CeedVectorRestoreArrayRead(v, &array));
  return CeedVectorDestroy(&b) | CeedVectorDestroy(&v) | kit_close(&k) | CeedDestroy(&ceed);
}

TEST(cycles_repeat_bit_for_bit_over_threads) {
  for (int i = 0; i <= NUM_KINDS; i++) {
    const MultigridCase c = {.dim = 2,
                             .n = 16,
                             .degree = 2,
                             .max_levels = 3,
                             .amplitude = i == NUM_KINDS ? 0.1 : 0,
                             .options = {.smoother = all_kinds[i < NUM_KINDS ? i : NUM_KINDS - 1]}};
    CeedScalar *z[3];
    CeedSize n = 0;
    for (int threads = 1; threads <= 3; threads++)
      CHECK_OK(cycle_on_threads(threads, &c, &n, &z[threads - 1]));
    for (int t = 1; t < 3; t++)
      CHECK(!memcmp(z[0], z[t], (size_t)n * sizeof(CeedScalar)), "smoother %d, %d threads",
            (int)c.options.smoother, t + 1);
    for (int t = 0; t < 3; t++) free(z[t]);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(errors_fall_by_the_order_and_one_full_multigrid_reaches_them,
                        errors_on_deformed_boxes_are_those_of_float_cycles,
                        full_multigrid_in_float_reaches_the_error_of_discretization,
                        boxes_of_any_size_are_solved_with_every_smoother,
                        jumps_and_sheared_boxes_are_solved_by_the_automatic_choice,
                        singular_problems_without_their_nullspace_are_refused_in_words,
                        coarse_conjugate_gradients_need_the_nullspace_and_say_so,
                        neumann_problems_are_solved_with_every_smoother_that_serves_them,
                        diagonals_that_are_not_positive_are_named_with_their_level,
                        cycles_repeat_bit_for_bit_over_threads));
}
