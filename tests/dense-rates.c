// SPDX-License-Identifier: BSD-2-Clause
// The dense solver over condition numbers, and its times:
//
//     dense-rates [--ceed RESOURCE] [--report N] [--times LIST] [--precisions LIST] [--routes LIST] [--spd]
//
// --report: for matrices of order N with condition numbers 1, 1e2, ... 1e16 and each precision, what the
// solver used, iterations and backward error. --times: orders of random matrices (entries in [-1, 1]; --spd:
// with the order on the diagonal and Cholesky), times of the factorization and of a solve by each route, own
// kernels and the vendor's library side by side (--routes: own,vendor). Run by hand.
#include <stdio.h>

#include "tests/dense-kit.h"

#include <time.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_named(const char *list, const char *name) {
  const char *found = list ? strstr(list, name) : name;
  const size_t length = strlen(name);
  for (; found && list; found = strstr(found + 1, name)) {
    if ((found == list || found[-1] == ',') && (found[length] == ',' || !found[length])) return true;
  }
  return !list;
}

static bool is_wanted(const char *list, RitzDensePrecision precision) {
  return is_named(list, RitzDensePrecisionName(precision));
}

static const char *last_message(Ceed ceed) {
  const char *message = "";
  CeedGetErrorMessage(ceed, &message);
  return message;
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

// The fastest of three factorizations and of three solves.
static int run_case(System *s, double *factor, double *solve) {
  const double *A = batch_memory_lend(&s->memory[0]), *B = batch_memory_lend(&s->memory[1]);
  double *X = batch_memory_lend(&s->memory[2]);
  int ierr = 0;
  *factor = *solve = 1e99;
  for (int run = 0; run < 3 && !ierr; run++) {
    const double start = seconds();
    ierr = RitzDenseSolverFactor(s->solver, A, s->n);
    const double middle = seconds();
    if (!ierr) ierr = RitzDenseSolverSolve(s->solver, 1, B, X);
    const double end = seconds();
    *factor = fmin(*factor, middle - start);
    *solve = fmin(*solve, end - middle);
  }
  if (!ierr) ierr = RitzDenseSolverGetReport(s->solver, &s->report);
  for (int i = 0; i < 3; i++) batch_memory_return(&s->memory[i]);
  return ierr;
}

static int time_case(System *s, bool is_symmetric, RitzDensePrecision precision, RitzDenseRoute route) {
  double factor, solve;
  int ierr = RitzDenseSolverSetFactorPrecision(s->solver, precision);
  if (!ierr) ierr = RitzDenseSolverSetSymmetricPositive(s->solver, is_symmetric);
  if (!ierr) ierr = RitzDenseSolverSetRoute(s->solver, route);
  if (!ierr) ierr = run_case(s, &factor, &solve);
  if (ierr) return ierr;
  const RitzDenseReport *r = &s->report;
  const double n = (double)s->n, flops = n * n * n * (is_symmetric ? 1 : 2) / 3;
  printf("| %d | %s | %s | %s | %.2f | %.0f | %.2f | %d %s | %.1e%s | %.1f |\n", (int)s->n,
         RitzDensePrecisionName(r->asked), RitzDensePrecisionName(r->precision), RitzDenseRouteName(r->route),
         1e3 * factor, flops / factor * 1e-9, 1e3 * solve, (int)r->iterations,
         RitzDenseRefinementName(r->refinement), r->backward_error, r->is_converged ? "" : " not converged",
         (double)r->num_bytes / 1e6);
  fflush(stdout);
  return CEED_ERROR_SUCCESS;
}

// Both routes of one precision; where there is no vendor, its message is a line.
static int time_routes(Ceed ceed, System *s, bool is_symmetric, RitzDensePrecision precision,
                       const char *routes) {
  const bool has_vendor = precision == RITZ_DENSE_F64 || precision == RITZ_DENSE_F32;
  int ierr = 0;
  if (is_named(routes, "own")) ierr = time_case(s, is_symmetric, precision, RITZ_DENSE_ROUTE_OWN);
  if (ierr || !has_vendor || !is_named(routes, "vendor")) return ierr;
  if (RitzDenseSolverSetRoute(s->solver, RITZ_DENSE_ROUTE_VENDOR)) {
    printf("%s\n", last_message(ceed));
    return CEED_ERROR_SUCCESS;
  }
  return time_case(s, is_symmetric, precision, RITZ_DENSE_ROUTE_VENDOR);
}

static int show_times(Ceed ceed, int64_t n, bool is_symmetric, const char *precisions, const char *routes) {
  uint64_t state = 3;
  System s;
  double *A = solver_alloc(n * n);
  solver_fill(n * n, A, &state);
  for (int64_t j = 0; j < n && is_symmetric; j++) {
    for (int64_t i = 0; i < j; i++) A[i + j * n] = A[j + i * n];
    A[j + j * n] = (double)n;
  }
  int ierr = system_make(ceed, n, 1, A, &s);
  memcpy(s.memory[0].host, A, (size_t)(n * n) * sizeof(*A));
  memcpy(s.memory[1].host, s.b, (size_t)n * sizeof(*A));
  for (int p = RITZ_DENSE_F64; p <= RITZ_DENSE_F16 && !ierr; p++) {
    if (is_wanted(precisions, (RitzDensePrecision)p))
      ierr = time_routes(ceed, &s, is_symmetric, (RitzDensePrecision)p, routes);
  }
  if (!ierr) ierr = RitzDenseSolverExplain(s.solver, stdout);
  system_free(&s);
  free(A);
  return ierr;
}

int main(int argc, char **argv) {
  const char *resource = "/cpu/self", *times = NULL, *precisions = NULL, *routes = NULL;
  int64_t report = 0;
  bool is_symmetric = false;
  Ceed ceed;
  for (int i = 1; i < argc; i++) is_symmetric |= !strcmp(argv[i], "--spd");
  for (int i = 1; i + 1 < argc; i++) {
    if (!strcmp(argv[i], "--ceed")) resource = argv[i + 1];
    if (!strcmp(argv[i], "--report")) report = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--times")) times = argv[i + 1];
    if (!strcmp(argv[i], "--precisions")) precisions = argv[i + 1];
    if (!strcmp(argv[i], "--routes")) routes = argv[i + 1];
  }
  int ierr = CeedInit(resource, &ceed);
  if (ierr) return 1;
  CeedSetErrorHandler(ceed, CeedErrorStore);
  if (report > 0) ierr = show_report(ceed, report, false, precisions);
  if (report > 0 && !ierr) ierr = show_report(ceed, report, true, precisions);
  if (times && !ierr)
    printf("\n| order | asked | used | route | factor ms | GFLOP/s | solve ms | iterations | backward error "
           "| MB |\n");
  while (times && *times && !ierr) {
    ierr = show_times(ceed, atoi(times), is_symmetric, precisions, routes);
    times += strcspn(times, ",");
    times += *times == ',';
  }
  if (ierr) printf("%s\n", last_message(ceed));
  CeedDestroy(&ceed);
  return ierr ? 1 : 0;
}
