// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients of the bake-off problems by the library's solver: the same iterates as by the Ceed API
// alone, and nothing but numbers on the way between host and device.
#include "bench/solver.h"

#include <math.h>
#include <ritz/device.h>
#include <ritz/solver.h>

#include "tests/tap.h"

// BP5 on 27 elements of degree 3.
static int run_cg(Ceed ceed, const BpSolver *solver, CeedInt repetitions, BpResult *result) {
  const BpOptions options = {
      .bp = 5, .order = 3, .n = 3, .mode = BP_CG, .solver = solver, .repetitions = repetitions};

  return bp_run(ceed, &options, result);
}

TEST_EACH_BACKEND(the_librarys_solver_ends_where_that_of_the_ceed_api_ends) {
  const double tolerance = 1e6 * CEED_EPSILON; // rounding grows in twenty iterations
  BpResult own, other;

  CHECK_OK(run_cg(ceed, &bench_solver, 1, &own));
  CHECK_OK(run_cg(ceed, NULL, 1, &other));

  CHECK(own.iterations == BP_CG_ITERATIONS && other.iterations == BP_CG_ITERATIONS, "%d and %d",
        (int)own.iterations, (int)other.iterations);
  CHECK(fabs(own.reduction / other.reduction - 1) <= tolerance, "%.17g and %.17g", own.reduction,
        other.reduction);
  CHECK(own.dofs == other.dofs && own.dofs_per_second > 0, "%lld DOFs", (long long)own.dofs);
}

// Bytes that bp_run copies between host and device; -1: it fails.
static int64_t copied_by(Ceed ceed, const BpSolver *solver, CeedInt repetitions, BpResult *result) {
  RitzDeviceCounters before = {0}, after = {0};

  if (RitzDeviceGetCounters(ceed, &before) || run_cg(ceed, solver, repetitions, result)) return -1;
  if (RitzDeviceGetCounters(ceed, &after)) return -1;
  return after.bytes_in - before.bytes_in + after.bytes_out - before.bytes_out;
}

TEST_EACH_BACKEND(no_vector_of_the_librarys_solver_is_copied) {
  enum { MORE = 4 };
  RitzDeviceCounters counters = {0};
  BpResult result = {.dofs = 0};

  CHECK_OK(RitzDeviceGetCounters(ceed, &counters));
  if (!counters.driver) NOT_FOR_THIS_BACKEND("it computes on the host");
  for (int variant = RITZ_CG_AUTO; variant <= RITZ_CG_MERGED; variant++) {
    BpSolver solver = bench_solver;

    solver.variant = variant;
    const int64_t once = copied_by(ceed, &solver, 1, &result);
    const int64_t often = copied_by(ceed, &solver, 1 + MORE, &result);
    const int64_t of_vector = (int64_t)result.dofs * (int64_t)sizeof(CeedScalar),
                  of_solve = (often - once) / MORE;
    CHECK(once >= 0 && often >= once, "variant %d fails", variant);
    CHECK(of_solve < of_vector / 2, "variant %d: a solve copies %lld bytes, a vector has %lld", variant,
          (long long)of_solve, (long long)of_vector);
    tap_note("variant %d: %lld bytes a solve, of a vector %lld", variant, (long long)of_solve,
             (long long)of_vector);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(the_librarys_solver_ends_where_that_of_the_ceed_api_ends,
                        no_vector_of_the_librarys_solver_is_copied));
}
