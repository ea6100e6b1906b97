// SPDX-License-Identifier: BSD-2-Clause
// Times curl curl + mass on Nedelec spaces and div div + mass on Raviart-Thomas spaces
// (bench/vector-problem.h):
//
//     ritz-bench-vector [--ceed RESOURCE] [--dim 2|3] [--order FIRST-LAST] [--size DOFS] [--reps N]
//                       [--bandwidth GB/s] [--peak GFLOP/s]
//
// A row for 1D tables by component and direction, one for dense matrices of the same basis, with p + 2 Gauss
// points a direction. Results of the two are compared. GB/s and GFLOP/s count what is least, with 1D tables;
// 100 % of the roofline is the larger of bytes / bandwidth and flops / peak. Without these, the device is
// measured, or the processor with one thread. Exit status: 0 done, 1 failed, 2 wrong usage.
#include <float.h>
#include <math.h>
#include <ritz/device.h>
#include <ritz/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/vector-problem.h"
#include "bp/times.h"

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

static const char usage[] =
    "usage: ritz-bench-vector [--ceed RESOURCE] [--dim 2|3] [--order FIRST-LAST] [--size DOFS] [--reps N]\n"
    "                         [--bandwidth GB/s] [--peak GFLOP/s]\n"
    "Default: /gpu/cuda/gen, 3, 1-4, 8e6 (fewer where factors take 2 GB, matrices 5e11 operations), 7.\n";

typedef struct {
  const char *resource;
  int dim, first_order, last_order, repetitions;
  double size, bandwidth, peak; // the latter bytes/s and flops/s; 0: to be measured
} Options;

// ---- Options ----

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--dim")) return sscanf(text, "%d", &o->dim) == 1 && (o->dim == 2 || o->dim == 3);
  if (!strcmp(name, "--reps")) return sscanf(text, "%d", &o->repetitions) == 1 && o->repetitions > 0;
  if (!strcmp(name, "--size")) return sscanf(text, "%lf", &o->size) == 1 && o->size >= 1 && o->size <= 1e9;
  if (!strcmp(name, "--bandwidth"))
    return sscanf(text, "%lf", &o->bandwidth) == 1 && (o->bandwidth *= 1e9) > 0;
  if (!strcmp(name, "--peak")) return sscanf(text, "%lf", &o->peak) == 1 && (o->peak *= 1e9) > 0;
  if (strcmp(name, "--order") != 0) return false;
  const int num = sscanf(text, "%d-%d", &o->first_order, &o->last_order);
  if (num == 1) o->last_order = o->first_order;
  return num >= 1 && o->first_order >= 1 && o->last_order <= 16;
}

static bool read_options(int argc, char **argv, Options *o) {
  *o = (Options){"/gpu/cuda/gen", 3, 1, 4, 7, 8e6, 0, 0};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || !set_option(o, argv[i], argv[i + 1])) return false;
  }
  return true;
}

// ---- Limits ----

static int find_limits(Ceed ceed, Options *o) {
  RitzDeviceCounters counters;
  RitzDeviceRates rates;
  RitzMachine machine;

  if (o->bandwidth > 0 && o->peak > 0) return CEED_ERROR_SUCCESS;
  TRY(RitzDeviceGetCounters(ceed, &counters));
  if (counters.driver) {
    TRY(RitzDeviceMeasure(counters.driver, counters.index, &rates));
    o->bandwidth = (double)rates.stream_bandwidth;
    o->peak = (double)rates.flops;
    return CEED_ERROR_SUCCESS;
  }
  TRY(RitzMachineGet(false, &machine));
  o->bandwidth = (double)machine.one.update_bandwidth;
  o->peak = (double)(sizeof(CeedScalar) == 4 ? machine.one.single_flops : machine.one.double_flops);
  return CEED_ERROR_SUCCESS;
}

// ---- Times ----

// Applies, then a norm of the output, which waits for devices.
static int time_batch(const VectorProblem *p, int applies, double *seconds) {
  const double start = times_now();
  CeedScalar norm;

  for (int i = 0; i < applies; i++) TRY(CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE));
  TRY(CeedVectorNorm(p->v, CEED_NORM_2, &norm));
  *seconds = (times_now() - start) / applies;
  return CEED_ERROR_SUCCESS;
}

// The median of batches of at least 20 ms; *first: of an apply for which kernels are made.
static int time_applies(const VectorProblem *p, int repetitions, double *first, double *seconds) {
  Times times = {0};
  double one;

  TRY(time_batch(p, 1, first));
  TRY(time_batch(p, 2, &one));
  const int applies = (int)fmin(10000, ceil(0.02 / one));
  while (times_want_more(&times, repetitions, 1, 0)) {
    TRY(time_batch(p, applies, &one));
    times_add(&times, one, one);
  }
  *seconds = times_median(&times);
  return CEED_ERROR_SUCCESS;
}

// ---- Problems ----

// As many elements as have so many unknowns, but for at most 2 GB of factors and, with matrices, an apply of
// 5e11 operations.
static double wanted_elements(const Options *o, const VectorShape *s) {
  const double points = pow(s->Q, o->dim), nodes = o->dim * pow(s->order + 1, o->dim);
  const double rows = s->mode == CEED_EVAL_CURL && o->dim == 3 ? 3 : 1;
  double elements =
      fmin(o->size / (o->dim * pow(s->order, o->dim)), 2e9 / (12 * sizeof(CeedScalar) * points));

  if (s->is_dense) elements = fmin(elements, 5e11 / (4 * (o->dim + rows) * points * nodes));
  return elements;
}

static VectorShape shape_of(const Options *o, CeedEvalMode mode, int order, bool is_dense) {
  VectorShape s = {mode, o->dim, order, order + 2, {1, 1, 1}, is_dense};
  const double elements = wanted_elements(o, &s);

  for (int d = 0; d < o->dim; d++) s.elements[d] = (CeedInt)fmax(1, round(pow(elements, 1.0 / o->dim)));
  return s;
}

// A vector that repeats, of numbers in [-1,1].
static int fill_input(const VectorProblem *p) {
  CeedScalar *u;

  TRY(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &u));
  for (CeedSize i = 0; i < p->dofs; i++) u[i] = (CeedScalar)(i * 7919 % 2003) / 1001 - 1;
  return CeedVectorRestoreArray(p->u, &u);
}

// The larger of bytes / bandwidth and flops / peak.
static double least_seconds(const Options *o, double bytes, double flops) {
  return fmax(bytes / o->bandwidth, flops / o->peak);
}

static void print_row(const Options *o, const VectorProblem *p, double first, double seconds) {
  double bytes, flops;

  vector_problem_costs(p, &bytes, &flops);
  printf("%-4s %d %2d %2d  %-8s %9d %10lld %9.4f %8.3f %8.1f %9.1f %8.1f %8.2f",
         p->shape.mode == CEED_EVAL_CURL ? "curl" : "div", (int)p->shape.dim, (int)p->shape.order,
         (int)p->shape.Q, p->shape.is_dense ? "matrices" : "tables", (int)p->num_elem, (long long)p->dofs,
         1e3 * seconds, 1e-9 * (double)p->dofs / seconds, 1e-9 * bytes / seconds, 1e-9 * flops / seconds,
         100 * least_seconds(o, bytes, flops) / seconds, first);
  if (p->shape.is_dense) printf("  %.1f GFLOP/s by matrices", 1e-9 * vector_problem_dense_flops(p) / seconds);
  printf("\n");
  fflush(stdout);
}

static int run(Ceed ceed, const Options *o, const VectorShape *shape) {
  VectorProblem p;
  double first = 0, seconds = 1;
  int ierr = vector_problem_create(ceed, shape, &p);

  if (!ierr) ierr = fill_input(&p);
  if (!ierr) ierr = time_applies(&p, o->repetitions, &first, &seconds);
  if (!ierr) print_row(o, &p, first, seconds);
  vector_problem_destroy(&p);
  return ierr;
}

// ---- Check ----

// u . A u of a small problem.
static int find_energy(Ceed ceed, const VectorShape *shape, double *energy) {
  const CeedScalar *u, *v;
  VectorProblem p;
  int ierr = vector_problem_create(ceed, shape, &p);

  *energy = 0;
  if (!ierr) ierr = fill_input(&p);
  if (!ierr) ierr = CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedVectorGetArrayRead(p.u, CEED_MEM_HOST, &u);
  if (!ierr) {
    ierr = CeedVectorGetArrayRead(p.v, CEED_MEM_HOST, &v);
    for (CeedSize i = 0; !ierr && i < p.dofs; i++) *energy += (double)u[i] * (double)v[i];
    if (!ierr) ierr = CeedVectorRestoreArrayRead(p.v, &v);
    CeedVectorRestoreArrayRead(p.u, &u);
  }
  vector_problem_destroy(&p);
  return ierr;
}

// Tables and matrices give the same, up to round-off.
static int check(Ceed ceed, const Options *o, CeedEvalMode mode, int order, bool *holds) {
  const double tolerance = 1000 * (sizeof(CeedScalar) == 4 ? (double)FLT_EPSILON : DBL_EPSILON);
  VectorShape shape = shape_of(o, mode, order, false);
  double energies[2];

  for (int d = 0; d < o->dim; d++) shape.elements[d] = 3 + d;
  for (int i = 0; i < 2; i++) {
    shape.is_dense = i;
    TRY(find_energy(ceed, &shape, &energies[i]));
  }
  const double error = fabs(energies[0] - energies[1]) / fabs(energies[1]);
  if (!(error <= tolerance))
    printf("order %d: tables and matrices differ by %g\n", order, error), *holds = false;
  return CEED_ERROR_SUCCESS;
}

static int run_all(Ceed ceed, Options *o, bool *holds) {
  static const CeedEvalMode modes[] = {CEED_EVAL_CURL, CEED_EVAL_DIV};

  TRY(find_limits(ceed, o));
  printf("# %s: %.0f GB/s, %.0f GFLOP/s\n", o->resource, 1e-9 * o->bandwidth, 1e-9 * o->peak);
  printf("#    d  p  Q            elements        DOF        ms   GDOF/s     GB/s   GFLOP/s  roof, %%  "
         "first, s\n");
  for (int i = 0; i < 2; i++) {
    for (int order = o->first_order; order <= o->last_order; order++) {
      TRY(check(ceed, o, modes[i], order, holds));
      for (int is_dense = 0; is_dense < 2; is_dense++) {
        const VectorShape shape = shape_of(o, modes[i], order, is_dense);
        TRY(run(ceed, o, &shape));
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Ceed ceed = NULL;
  Options o;
  bool holds = true;

  if (!read_options(argc, argv, &o)) return fputs(usage, stderr), 2;
  if (CeedInit(o.resource, &ceed)) return 1;
  CeedSetErrorHandler(ceed, CeedErrorStore);
  const int ierr = run_all(ceed, &o, &holds);
  const char *message = NULL;
  if (ierr && !CeedGetErrorMessage(ceed, &message)) {
    fprintf(stderr, "%s\n", message);
    CeedResetErrorMessage(ceed, &message);
  }
  CeedDestroy(&ceed);
  return ierr || !holds;
}
