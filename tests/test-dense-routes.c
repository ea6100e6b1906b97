// SPDX-License-Identifier: BSD-2-Clause
// The dense solver by own kernels and by the vendor's library: both solve with the backward error of the
// precision, take pivots in one form and refuse the same matrices; which one works is chosen and told as
// ritz/dense-solver.h says. Libraries are looked for once in a process: those that cannot be used, in
// children.
#include "tests/dense-kit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "devices/cublas.h"
#include "devices/cusolver.h"

static const RitzDenseRoute routes[] = {RITZ_DENSE_ROUTE_OWN, RITZ_DENSE_ROUTE_VENDOR};

// Backward errors as the test sums them up and as the library does: tests/test-dense-solver.c.
static double bound(int64_t n) { return 2 * solver_tolerance(n); }

static int set_vendor(Ceed ceed) {
  RitzDenseSolver solver = NULL;
  int ierr = RitzDenseSolverCreate(ceed, 1, &solver);
  if (!ierr) ierr = RitzDenseSolverSetRoute(solver, RITZ_DENSE_ROUTE_VENDOR);
  RitzDenseSolverDestroy(&solver);
  return ierr;
}

static bool is_below(Ceed ceed, const char *root) {
  const char *resource = "";
  CeedGetResource(ceed, &resource);
  return !strncmp(resource, root, strlen(root));
}

static bool is_on_host(Ceed ceed) { return is_below(ceed, "/cpu"); }
static bool is_cuda(Ceed ceed) { return is_below(ceed, "/gpu/cuda"); }

// Devices of other drivers have no vendor, which the test checks; a library that is not installed is missing.
#define NEEDS_VENDOR(ceed)                                                                                   \
  do {                                                                                                       \
    const int ierr_ = set_vendor(ceed);                                                                      \
    if (!ierr_) break;                                                                                       \
    CHECK_ERROR(ceed, set_vendor(ceed), CEED_ERROR_UNSUPPORTED, "");                                         \
    if (!is_on_host(ceed) && !is_cuda(ceed)) NOT_FOR_THIS_BACKEND("it has no vendor's library");             \
    SKIP("%s can be loaded",                                                                                 \
         is_on_host(ceed) ? "neither libopenblas.so.0 nor liblapack.so.3" : "no libcusolver");               \
  } while (0)

static int make_routed(Ceed ceed, int64_t n, double *A, bool is_symmetric, RitzDensePrecision precision,
                       RitzDenseRoute route, System *s) {
  int ierr = system_make(ceed, n, 1, A, s);
  if (!ierr) ierr = RitzDenseSolverSetFactorPrecision(s->solver, precision);
  if (!ierr) ierr = RitzDenseSolverSetSymmetricPositive(s->solver, is_symmetric);
  return ierr ? ierr : RitzDenseSolverSetRoute(s->solver, route);
}

// ---- Accuracy ----

static void check_system(Ceed ceed, int64_t n, double condition, bool is_symmetric,
                         RitzDensePrecision precision, RitzDenseRoute route) {
  double *A = solver_matrix(n, condition, is_symmetric, 3);
  System s;

  CHECK_OK(make_routed(ceed, n, A, is_symmetric, precision, route, &s));
  CHECK_OK(system_run(&s));
  const char *name = RitzDenseRouteName(route);
  CHECK_NEAR(system_backward_error(&s), 0, bound(n), "%s, n = %d, condition %g", name, (int)n, condition);
  CHECK(s.report.is_converged && s.report.route == route, "%s, n = %d: %s", name, (int)n,
        RitzDenseRouteName(s.report.route));
  CHECK((s.report.library != NULL) == (route == RITZ_DENSE_ROUTE_VENDOR), "%s", name);
  const bool is_hopeless = precision == RITZ_DENSE_F32 && condition > 1e12 && n > 100; // of 30 steps of GMRES
  if (precision == RITZ_DENSE_F64 || condition < 1e3) CHECK(s.report.num_given_up == 0, "%s", name);
  if (is_hopeless) CHECK(s.report.num_given_up == 1, "%s", name);
  system_free(&s);
  free(A);
}

TEST_EACH_BACKEND(both_routes_solve_to_the_accuracy_of_double) {
  static const int64_t orders[] = {1, 33, 150};
  NEEDS_VENDOR(ceed);

  for (size_t i = 0; i < 3; i++) {
    for (int c = 0; c < 8; c++) {
      const double condition = c & 1 && orders[i] > 1 ? 1e14 : 10;
      const RitzDensePrecision precision = c & 2 ? RITZ_DENSE_F32 : RITZ_DENSE_F64;
      for (int r = 0; r < 2 && !tap_failed(); r++)
        check_system(ceed, orders[i], condition, c & 4, precision, routes[r]);
    }
  }
}

// Without refinement the error is that of the factors, of a library, too: tests/test-dense-solver.c.
TEST_EACH_BACKEND(factors_of_the_vendor_have_the_roundoff_of_their_precision) {
  NEEDS_VENDOR(ceed);
  const int64_t n = 160;
  double *A = solver_matrix(n, 10, false, 7);

  for (int p = 0; p < 2; p++) {
    const double roundoff = p ? 0x1p-24 : 0x1p-53;
    System s;
    CHECK_OK(
        make_routed(ceed, n, A, false, p ? RITZ_DENSE_F32 : RITZ_DENSE_F64, RITZ_DENSE_ROUTE_VENDOR, &s));
    CHECK_OK(RitzDenseSolverSetRefinement(s.solver, RITZ_REFINEMENT_NONE));
    CHECK_OK(system_run(&s));
    const double error = system_backward_error(&s);
    CHECK(error <= 10 * roundoff && error >= 1e-4 * roundoff, "%d: %g", p, error);
    system_free(&s);
  }
  free(A);
}

// Pivots in an order that is known: exact results. Condition estimates solve with the transposed factors; of
// factors whose errors are n u apart they differ by condition n u at most.
TEST_EACH_BACKEND(pivots_of_both_routes_are_the_same) {
  NEEDS_VENDOR(ceed);
  const int64_t n = 70;
  double *A = solver_alloc(n * n), *B = solver_matrix(n, 1e3, false, 9), condition[2];
  memset(A, 0, (size_t)(n * n) * sizeof(*A));
  for (int64_t j = 0; j < n; j++) A[(j * 13 + 5) % n + j * n] = j % 2 ? -4 : 0.5;

  for (int r = 0; r < 2; r++) {
    System s;
    CHECK_OK(make_routed(ceed, n, A, false, RITZ_DENSE_F64, routes[r], &s));
    CHECK_OK(system_run(&s));
    for (int64_t j = 0; j < n; j++) CHECK(s.x[j] == s.b[(j * 13 + 5) % n] / (j % 2 ? -4 : 0.5), "%d", (int)j);
    s.A = B;
    CHECK_OK(system_run(&s));
    CHECK_OK(RitzDenseSolverEstimateCondition(s.solver, &condition[r]));
    system_free(&s);
  }
  CHECK_NEAR(condition[1] / condition[0], 1, 1e3 * (double)n * 0x1p-52, "%g", condition[0]);
  free(A);
  free(B);
}

// ---- What is refused ----

TEST_EACH_BACKEND(both_routes_refuse_the_same_matrices) {
  NEEDS_VENDOR(ceed);
  const int64_t n = 70;
  double *singular = solver_matrix(n, 1, false, 3), *indefinite = solver_matrix(n, 10, true, 3);
  for (int64_t i = 0; i < n; i++) singular[i + 34 * n] = indefinite[i + 50 * n] = indefinite[50 + i * n] = 0;
  indefinite[50 + 50 * n] = -1;

  for (int r = 0; r < 2; r++) {
    for (int p = RITZ_DENSE_F64; p <= RITZ_DENSE_F32; p++) {
      System s;
      CHECK_OK(make_routed(ceed, n, singular, false, (RitzDensePrecision)p, routes[r], &s));
      CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE, "is singular: pivot 35 is zero");
      CHECK_OK(RitzDenseSolverGetReport(s.solver, &s.report));
      CHECK(s.report.route == RITZ_DENSE_ROUTE_AUTO && !s.report.library, "there are no factors");
      s.A = indefinite;
      CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, true));
      CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_INCOMPATIBLE, "its leading minor 51 is not positive");
      CHECK_OK(RitzDenseSolverSetSymmetricPositive(s.solver, false));
      CHECK_OK(system_run(&s));
      CHECK(s.report.is_converged && s.report.route == routes[r], "LU");
      system_free(&s);
    }
  }
  free(singular);
  free(indefinite);
}

// Wilkinson's matrix: the last column doubles with each step, up to 2^(n-1), which float does not have.
// LAPACK's infos are about zeros alone.
TEST_EACH_BACKEND(growth_beyond_float_is_seen_on_both_routes) {
  NEEDS_VENDOR(ceed);
  const int64_t n = 140;
  double *A = solver_alloc(n * n);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < n; i++) A[i + j * n] = i == j || j == n - 1 ? 1 : i > j ? -1 : 0;
  }

  for (int r = 0; r < 2; r++) {
    System s;
    CHECK_OK(make_routed(ceed, n, A, false, RITZ_DENSE_F32, routes[r], &s));
    CHECK_OK(system_factor(&s));
    CHECK_OK(RitzDenseSolverGetReport(s.solver, &s.report));
    CHECK(s.report.precision == RITZ_DENSE_F64 && s.report.num_given_up == 1, "%d", r);
    CHECK(s.report.reason && strstr(s.report.reason, "not finite"), "%s", s.report.reason);
    batch_memory_return(&s.memory[0]);
    system_free(&s);
  }
  free(A);
}

TEST_EACH_BACKEND(precisions_that_the_vendor_does_not_have_are_refused) {
  NEEDS_VENDOR(ceed);
  double A[] = {2, 1, 1, 2};
  System s;

  CHECK_OK(make_routed(ceed, 2, A, false, RITZ_DENSE_AUTO, RITZ_DENSE_ROUTE_VENDOR, &s));
  for (int p = RITZ_DENSE_TF32X3; p <= RITZ_DENSE_F16; p++) {
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, (RitzDensePrecision)p));
    CHECK_ERROR(ceed, system_factor(&s), CEED_ERROR_UNSUPPORTED, "needed f64 or f32, or own kernels");
  }
  CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, RITZ_DENSE_AUTO));
  CHECK_OK(system_run(&s));
  CHECK(s.report.route == RITZ_DENSE_ROUTE_VENDOR && s.report.is_converged, "auto");
  system_free(&s);
}

// ---- Who is chosen, and how it is told ----

static void explain(RitzDenseSolver solver, char text[2048]) {
  char *made = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&made, &length);
  text[0] = '\0';
  if (!stream) return;
  RitzDenseSolverExplain(solver, stream);
  fclose(stream);
  snprintf(text, 2048, "%s", made);
  free(made);
}

// AUTO: own kernels on hosts and below the order where cuSOLVER was measured to be faster.
TEST_EACH_BACKEND(small_systems_and_low_precisions_have_own_kernels) {
  double A[] = {2, 1, 1, 2};
  char text[2048];
  System s;
  if (system_make(ceed, 2, 1, A, &s)) {
    system_free(&s);
    NOT_FOR_THIS_BACKEND("it has no dense solver");
  }

  for (int p = RITZ_DENSE_AUTO; p <= RITZ_DENSE_F16; p++) {
    CHECK_OK(RitzDenseSolverSetFactorPrecision(s.solver, (RitzDensePrecision)p));
    CHECK_OK(system_run(&s));
    CHECK(s.report.route == RITZ_DENSE_ROUTE_OWN && !s.report.library, "%d", p);
  }
  explain(s.solver, text);
  CHECK(strstr(text, "factors by own kernels (") && strstr(text, "has no such precision)"), "%s", text);
  CHECK_OK(RitzDenseSolverSetRoute(s.solver, RITZ_DENSE_ROUTE_OWN));
  CHECK_OK(system_run(&s));
  explain(s.solver, text);
  CHECK(strstr(text, "factors by own kernels (as asked for)"), "%s", text);
  system_free(&s);
}

TEST_EACH_BACKEND(the_library_is_named) {
  NEEDS_VENDOR(ceed);
  double A[] = {2, 1, 1, 2};
  char text[2048];
  System s;

  CHECK_OK(make_routed(ceed, 2, A, false, RITZ_DENSE_F64, RITZ_DENSE_ROUTE_VENDOR, &s));
  CHECK_OK(system_run(&s));
  explain(s.solver, text);
  CHECK(strstr(text, is_on_host(ceed) ? "factors by LAPACK, " : "factors by cuSOLVER, "), "%s", text);
  CHECK(s.report.library && strstr(text, s.report.library), "%s", text);
  CHECK(!access(s.report.library, R_OK), "%s is a file", s.report.library);
  system_free(&s);
}

// On CUDA with cuSOLVER large systems are its, in double where own kernels would round; but not those of
// contexts that are to repeat their results.
TEST_EACH_BACKEND(large_systems_are_the_vendors_on_cuda) {
  if (!is_cuda(ceed)) NOT_FOR_THIS_BACKEND("its own kernels are the faster ones, or all there is");
  NEEDS_VENDOR(ceed);
  const int64_t n = 8192;
  double *A = solver_alloc(n * n);
  uint64_t state = 4;
  solver_fill(n * n, A, &state);
  Ceed repeating = tap_ceed("/gpu/cuda:deterministic");

  for (int i = 0; i < 2; i++) {
    System s;
    CHECK_OK(make_routed(i ? repeating : ceed, n, A, false, RITZ_DENSE_AUTO, RITZ_DENSE_ROUTE_AUTO, &s));
    CHECK_OK(system_run(&s));
    CHECK(s.report.route == routes[1 - i] && s.report.is_converged, "%s", RitzDenseRouteName(s.report.route));
    CHECK(i || s.report.precision == RITZ_DENSE_F64, "%s", RitzDensePrecisionName(s.report.precision));
    CHECK(s.report.num_bytes >= 4 * (size_t)(n * n), "%zu", s.report.num_bytes);
    system_free(&s);
  }
  free(A);
  CHECK_OK(CeedDestroy(&repeating));
}

// ---- Libraries that cannot be used ----

// The words of a child in which the variable is set; "": the library is used. Empty where it did not end
// well.
typedef void (*Look)(char words[1024]);

static void look_in_child(const char *variable, const char *value, Look look, char words[1024]) {
  int ends[2];
  words[0] = '\0';
  if (pipe(ends)) return;
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, value, 1);
    look(words);
    _exit(write(ends[1], words, 1024) == 1024 ? 0 : 1);
  }
  close(ends[1]);
  const ssize_t num = read(ends[0], words, 1024);
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  if (num != 1024) snprintf(words, 1024, "the child has not answered");
}

// A system of order 40 by the vendor's route, and by own kernels where that is refused.
static void look_for_lapack(char words[1024]) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double *A = solver_matrix(40, 10, false, 3);
  const char *message = "";
  System s;
  int ierr = system_make(ceed, 40, 1, A, &s);
  tap_forget_error(ceed);
  if (!ierr && RitzDenseSolverSetRoute(s.solver, RITZ_DENSE_ROUTE_VENDOR)) {
    CeedGetErrorMessage(ceed, &message);
    snprintf(words, 1024, "%s", message);
    CeedResetErrorMessage(ceed, &message);
  }
  const bool is_refused = words[0];
  if (!ierr) ierr = system_run(&s);
  if (ierr || !s.report.is_converged || (s.report.route == RITZ_DENSE_ROUTE_OWN) != is_refused)
    snprintf(words, 1024, "the system is not solved: %d, by %s", ierr, RitzDenseRouteName(s.report.route));
}

static void look_for_cusolver(char words[1024]) {
  const char *why = NULL, *file = ritz_cusolver_find(&why);
  snprintf(words, 1024, "%s", file ? "" : why);
}

static void look_for_cublas(char words[1024]) {
  const char *why = NULL, *file = ritz_cublas_find(&why);
  snprintf(words, 1024, "%s", file ? "" : why);
}

TEST(files_that_are_no_library_are_told) {
  char words[1024];

  look_in_child("RITZ_LAPACK", "/nowhere/liblapack.so", look_for_lapack, words);
  CHECK(strstr(words, "RitzDenseSolverSetRoute: no factorizations by LAPACK: /nowhere/liblapack.so"), "%s",
        words);
  look_in_child("RITZ_LAPACK", "libdl.so.2", look_for_lapack, words);
  CHECK(strstr(words, "libdl.so.2: it has no function dgetrf_"), "%s", words);
  look_in_child("RITZ_CUSOLVER", "/nowhere/libcusolver.so", look_for_cusolver, words);
  CHECK(strstr(words, "/nowhere/libcusolver.so: cannot open"), "%s", words);
  look_in_child("RITZ_CUSOLVER", "libdl.so.2", look_for_cusolver, words);
  CHECK(strstr(words, "libdl.so.2 has no function cusolverDn"), "%s", words);
  look_in_child("RITZ_CUBLAS", "/nowhere/libcublas.so", look_for_cublas, words);
  CHECK(strstr(words, "/nowhere/libcublas.so: cannot open"), "%s", words);
  look_in_child("RITZ_CUBLAS", "libdl.so.2", look_for_cublas, words);
  CHECK(strstr(words, "libdl.so.2 has no function cublas"), "%s", words);
}

// tests/fake-lapack.c: integers of 64 bits are found out and served, wrong factors are refused.
TEST(integers_of_64_bits_are_served_and_wrong_factors_refused) {
  char words[1024];

  look_in_child("RITZ_LAPACK", FAKE_LAPACK_32, look_for_lapack, words);
  CHECK(!words[0], "32 bits: %s", words);
  look_in_child("RITZ_LAPACK", FAKE_LAPACK_64, look_for_lapack, words);
  CHECK(!words[0], "64 bits: %s", words);
  look_in_child("RITZ_LAPACK", FAKE_LAPACK_WRONG, look_for_lapack, words);
  CHECK(strstr(words, "dgetrf_ factorizes a matrix of order 2 wrongly; needed LAPACK"), "%s", words);
}

TEST(routes_out_of_range_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzDenseSolver solver = NULL;

  CHECK_OK(RitzDenseSolverCreate(ceed, 2, &solver));
  CHECK_ERROR(ceed, RitzDenseSolverSetRoute(solver, (RitzDenseRoute)3), CEED_ERROR_INCOMPATIBLE,
              "route 3, needed 0 to 2");
  CHECK_ERROR(ceed, RitzDenseSolverSetRoute(solver, (RitzDenseRoute)-1), CEED_ERROR_INCOMPATIBLE, "route -1");
  CHECK(!RitzDenseRouteName((RitzDenseRoute)3) && !RitzDenseRouteName((RitzDenseRoute)-1), "names end");
  CHECK_OK(RitzDenseSolverDestroy(&solver));
  CHECK_OK(CeedDestroy(&ceed));
}

int main(int argc, char **argv) {
  setenv("RITZ_WARNINGS", "off", 1);
  // Children look for libraries that this process has not looked for yet.
  return tap_main(
      argc, argv,
      TESTS(files_that_are_no_library_are_told, integers_of_64_bits_are_served_and_wrong_factors_refused,
            both_routes_solve_to_the_accuracy_of_double,
            factors_of_the_vendor_have_the_roundoff_of_their_precision, pivots_of_both_routes_are_the_same,
            both_routes_refuse_the_same_matrices, growth_beyond_float_is_seen_on_both_routes,
            precisions_that_the_vendor_does_not_have_are_refused,
            small_systems_and_low_precisions_have_own_kernels, the_library_is_named,
            large_systems_are_the_vendors_on_cuda, routes_out_of_range_are_refused));
}
