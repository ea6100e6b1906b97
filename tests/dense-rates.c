// SPDX-License-Identifier: BSD-2-Clause
// The dense solver over condition numbers, and its times:
//
//     dense-rates [--ceed RESOURCE] [--report N] [--times LIST] [--precisions LIST]
//
// --report: for matrices of order N with condition numbers 1, 1e2, ... 1e16 and each precision, what the
// solver used, iterations and backward error. --times: orders of random matrices (entries in [-1, 1]),
// seconds of the factorization and of a solve. Run by hand.
#include <stdio.h>

#include "tests/dense-kit.h"

#include <time.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_wanted(const char *list, RitzDensePrecision precision) {
  const char *name = RitzDensePrecisionName(precision), *found = list ? strstr(list, name) : name;
  const size_t length = strlen(name);
  for (; found && list; found = strstr(found + 1, name)) {
    if ((found == list || found[-1] == ',') && (found[length] == ',' || !found[length])) return true;
  }
  return !list;
}

// "16 gmres 2.1e-16", behind an arrow the precision that took over.
static int show_case(Ceed ceed, int64_t n, double *A, bool is_symmetric, RitzDensePrecision precision) {
  System s;
  char cell[64];
  int ierr = system_make(ceed, n, 1, A, &s);
  if (!ierr) ierr = RitzDenseSolverSetFactorPrecision(s.solver, precision);
  if (!ierr) ierr = RitzDenseSolverSetSymmetricPositive(s.solver, is_symmetric);
  if (!ierr) ierr = system_run(&s);
  if (!ierr) {
    const RitzDenseReport *r = &s.report;
    snprintf(cell, sizeof(cell), "%s%s %d %s %.0e%s", r->num_given_up ? "->" : "",
             r->num_given_up ? RitzDensePrecisionName(r->precision) : "", (int)r->iterations,
             RitzDenseRefinementName(r->refinement), r->backward_error, r->is_converged ? "" : "!");
    printf(" %s |", cell);
  }
  system_free(&s);
  return ierr;
}

static int show_report(Ceed ceed, int64_t n, bool is_symmetric, const char *precisions) {
  int ierr = 0;
  printf("\n%s, order %d: iterations, refinement, backward error (tolerance %.1e)\n\n| condition |",
         is_symmetric ? "Cholesky" : "LU", (int)n, solver_tolerance(n));
  for (int p = RITZ_DENSE_F64; p <= RITZ_DENSE_F16; p++) {
    if (is_wanted(precisions, (RitzDensePrecision)p))
      printf(" %s |", RitzDensePrecisionName((RitzDensePrecision)p));
  }
  printf("\n");
  for (int digits = 0; digits <= 16 && !ierr; digits += 2) {
    double *A = solver_matrix(n, pow(10, digits), is_symmetric, 5);
    printf("| 1e%d |", digits);
    for (int p = RITZ_DENSE_F64; p <= RITZ_DENSE_F16 && !ierr; p++) {
      if (is_wanted(precisions, (RitzDensePrecision)p))
        ierr = show_case(ceed, n, A, is_symmetric, (RitzDensePrecision)p);
    }
    printf("\n");
    fflush(stdout);
    free(A);
  }
  return ierr;
}

// The second factorization and the second solve.
static int time_case(System *s, RitzDensePrecision precision) {
  const double *A = batch_memory_lend(&s->memory[0]), *B = batch_memory_lend(&s->memory[1]);
  double *X = batch_memory_lend(&s->memory[2]), start = 0, middle = 0, end = 0;
  int ierr = RitzDenseSolverSetFactorPrecision(s->solver, precision);
  for (int run = 0; run < 2 && !ierr; run++) {
    start = seconds();
    ierr = RitzDenseSolverFactor(s->solver, A, s->n);
    middle = seconds();
    if (!ierr) ierr = RitzDenseSolverSolve(s->solver, 1, B, X);
    end = seconds();
    if (!ierr && run == 0) ierr = RitzDenseSolverSolve(s->solver, 1, B, X);
  }
  if (!ierr) ierr = RitzDenseSolverGetReport(s->solver, &s->report);
  for (int i = 0; i < 3; i++) batch_memory_return(&s->memory[i]);
  if (ierr) return ierr;
  const double n = (double)s->n;
  printf("| %d | %s | %s | %.2f | %.0f | %.2f | %d %s | %.1e%s |\n", (int)s->n,
         RitzDensePrecisionName(s->report.asked), RitzDensePrecisionName(s->report.precision),
         1e3 * (middle - start), 2 / 3.0 * n * n * n / (middle - start) * 1e-9, 1e3 * (end - middle),
         (int)s->report.iterations, RitzDenseRefinementName(s->report.refinement), s->report.backward_error,
         s->report.is_converged ? "" : " not converged");
  fflush(stdout);
  return CEED_ERROR_SUCCESS;
}

static int show_times(Ceed ceed, int64_t n, const char *precisions) {
  uint64_t state = 3;
  System s;
  double *A = solver_alloc(n * n);
  solver_fill(n * n, A, &state);
  int ierr = system_make(ceed, n, 1, A, &s);
  memcpy(s.memory[0].host, A, (size_t)(n * n) * sizeof(*A));
  memcpy(s.memory[1].host, s.b, (size_t)n * sizeof(*A));
  for (int p = RITZ_DENSE_F64; p <= RITZ_DENSE_F16 && !ierr; p++) {
    if (is_wanted(precisions, (RitzDensePrecision)p)) ierr = time_case(&s, (RitzDensePrecision)p);
  }
  if (!ierr) ierr = RitzDenseSolverExplain(s.solver, stdout);
  system_free(&s);
  free(A);
  return ierr;
}

int main(int argc, char **argv) {
  const char *resource = "/cpu/self", *times = NULL, *precisions = NULL;
  int64_t report = 0;
  Ceed ceed;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--ceed")) resource = argv[i + 1];
    if (!strcmp(argv[i], "--report")) report = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--times")) times = argv[i + 1];
    if (!strcmp(argv[i], "--precisions")) precisions = argv[i + 1];
  }
  int ierr = CeedInit(resource, &ceed);
  if (ierr) return 1;
  if (report > 0) ierr = show_report(ceed, report, false, precisions);
  if (report > 0 && !ierr) ierr = show_report(ceed, report, true, precisions);
  if (times && !ierr)
    printf("\n| order | asked | used | factor ms | GFLOP/s | solve ms | iterations | backward error |\n");
  while (times && *times && !ierr) {
    ierr = show_times(ceed, atoi(times), precisions);
    times += strcspn(times, ",");
    times += *times == ',';
  }
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}
