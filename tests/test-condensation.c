// SPDX-License-Identifier: BSD-2-Clause
// Static condensation as examples/batched/condensation.h does it, on every backend: by batches on parts of
// element matrices.
#include "../examples/batched/condensation.h"
#include "tests/tap.h"

// Eliminating unknowns changes no others, and a Schur complement is no worse conditioned than its matrix.
TEST_EACH_BACKEND(condensed_solution_is_the_uncondensed_one) {
  const double rtol = 1e4 * example_epsilon();
  const CondensationReport r = solve_both_ways(ceed, 2, 3, 3, rtol);

  CHECK(r.error <= condensation_tolerance(3, 3, rtol), "difference %g", r.error);
  CHECK(r.iterations[1] < r.iterations[0], "%d iterations, uncondensed %d", (int)r.iterations[1],
        (int)r.iterations[0]);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(condensed_solution_is_the_uncondensed_one));
}
