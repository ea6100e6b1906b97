// SPDX-License-Identifier: BSD-2-Clause
// Static condensation of a Poisson problem on curved hexahedra: element matrices come from assembly, unknowns
// inside of elements go out in three batches, conjugate gradients solve for the others.
//
//     condensation [RESOURCE] [ELEMENTS A DIRECTION] [DEGREE]       /cpu/self 4 4
//
// Exit status: 1 where the solution is not that of the uncondensed problem.
#include "condensation.h"

int main(int argc, char **argv) {
  const CeedInt num_1d = (CeedInt)example_number(argc, argv, 2, 4);
  const CeedInt degree = (CeedInt)example_number(argc, argv, 3, 4);
  const double rtol = 1e4 * example_epsilon();
  Ceed ceed;

  if (degree < 2) {
    fprintf(stderr, "%s: elements of degree %d have no nodes inside, needed 2\n", argv[0], (int)degree);
    return 2;
  }
  // Offsets into the element matrices are of 32 bits.
  const double num_entries = pow(num_1d, 3) * pow(degree + 1, 6);
  if (num_entries > INT32_MAX) {
    fprintf(stderr, "%s: element matrices of %g entries, needed less than 2^31\n", argv[0], num_entries);
    return 2;
  }
  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  const CondensationReport r = solve_both_ways(ceed, 3, num_1d, degree, rtol);
  const double n = r.n, nb = r.nb, ni = n - nb;

  printf("%d elements, %d nodes: %d shared, %d inside\n", (int)r.num_elem, (int)r.n, (int)r.nb, (int)ni);
  printf("%-34s %9.3f ms %8.1f GFLOP/s\n", "elimination", 1e3 * r.eliminate,
         1e-9 * r.num_elem * (ni * ni * ni / 3 + ni * ni * nb + 2 * ni * nb * nb) / r.eliminate);
  printf("%-34s %9.3f ms %8d iterations of %lld unknowns\n", "uncondensed", 1e3 * r.seconds[0],
         (int)r.iterations[0], (long long)r.num_nodes);
  printf("%-34s %9.3f ms %8d iterations of %lld unknowns\n", "condensed", 1e3 * r.seconds[1],
         (int)r.iterations[1], (long long)r.num_shared);
  printf("difference of the solutions: %.2g\n", r.error);
  MUST(CeedDestroy(&ceed));
  return r.error <= condensation_tolerance(num_1d, degree, rtol) ? 0 : 1;
}
