// SPDX-License-Identifier: BSD-2-Clause
// Times curl curl + mass on Nedelec spaces and div div + mass on Raviart-Thomas spaces
// (bench/vector-problem.h).
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

#include "bench/vector-problem.h"
#include "bp/times.h"
#include "cli/args.h"
#include "cli/cli.h"

#define TRY(expr)                                                                                            \
  do {                                                                                                       \
    const int ierr_ = (expr);                                                                                \
    if (ierr_) return ierr_;                                                                                 \
  } while (0)

// ---- Options ----

typedef struct {
  const char *resource;
  ArgInts orders;
  int dim, repetitions;
  double size, bandwidth, peak; // the latter GB/s and GFLOP/s; 0: to be measured
} Options;

#define MEMBER(name) offsetof(Options, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, MEMBER(resource), 0, 0, "backend (default /gpu/cuda/gen)"),
    ARG_OPTION("--dim", "2|3", ARG_INT, MEMBER(dim), 2, 3, "dimension (default 3)"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, 16, "polynomial degrees (default 1-4)"),
    ARG_OPTION("--size", "DOFS", ARG_COUNT, MEMBER(size), 1, 1e9,
               "degrees of freedom (default 8e6); fewer where factors take\n2 GB, matrices 5e11 operations"),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(repetitions), 1, TIMES_MAX, "batches (default 7)"),
    ARG_OPTION("--bandwidth", "GB/s", ARG_REAL, MEMBER(bandwidth), 1e-3, INFINITY,
               "of the machine (default: measured)"),
    ARG_OPTION("--peak", "GFLOP/s", ARG_REAL, MEMBER(peak), 1e-3, INFINITY,
               "of the machine (default: measured)")};

static const ArgCommand command = {
    .name = "ritz-bench-vector",
    .description = "Times curl curl + mass and div div + mass, by tables and by dense matrices.",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table};

// ---- Limits ----

static int find_limits(Ceed ceed, Options *o) {
  RitzDeviceCounters counters;
  RitzDeviceRates rates;
  RitzMachine machine;

  if (o->bandwidth > 0 && o->peak > 0) return CEED_ERROR_SUCCESS;
  TRY(RitzDeviceGetCounters(ceed, &counters));
  if (counters.driver) {
    TRY(RitzDeviceMeasure(counters.driver, counters.index, &rates));
    o->bandwidth = 1e-9 * (double)rates.stream_bandwidth;
    o->peak = 1e-9 * (double)rates.flops;
    return CEED_ERROR_SUCCESS;
  }
  TRY(RitzMachineGet(false, &machine));
  o->bandwidth = 1e-9 * (double)machine.one.update_bandwidth;
  o->peak = 1e-9 * (double)(sizeof(CeedScalar) == 4 ? machine.one.single_flops : machine.one.double_flops);
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
  return 1e-9 * fmax(bytes / o->bandwidth, flops / o->peak);
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

static int run_problem(Ceed ceed, const Options *o, const VectorShape *shape) {
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
static int check_problem(Ceed ceed, const Options *o, CeedEvalMode mode, int order, bool *holds) {
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
  static int first_orders[] = {1, 2, 3, 4};
  const ArgInts orders = args_or_else(o->orders, 4, first_orders);

  TRY(find_limits(ceed, o));
  printf("# %s: %.0f GB/s, %.0f GFLOP/s\n", o->resource, o->bandwidth, o->peak);
  printf("#    d  p  Q            elements        DOF        ms   GDOF/s     GB/s   GFLOP/s  roof, %%  "
         "first, s\n");
  for (int i = 0; i < 2; i++) {
    for (size_t k = 0; k < orders.num; k++) {
      TRY(check_problem(ceed, o, modes[i], orders.items[k], holds));
      for (int is_dense = 0; is_dense < 2; is_dense++) {
        const VectorShape shape = shape_of(o, modes[i], orders.items[k], is_dense);
        TRY(run_problem(ceed, o, &shape));
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int open_and_run(Options *o) {
  Ceed ceed = NULL;
  bool holds = true;

  if (CeedInit(o->resource, &ceed)) return 1;
  CeedSetErrorHandler(ceed, CeedErrorStore);
  const int ierr = run_all(ceed, o, &holds);
  if (ierr) cli_report(command.name, ceed);
  CeedDestroy(&ceed);
  return ierr || !holds;
}

int main(int argc, char **argv) {
  Options o = {.resource = "/gpu/cuda/gen", .dim = 3, .repetitions = 7, .size = 8e6};
  const ArgsResult parsed = args_parse(&command, argc, argv, &o);
  const int code = parsed == ARGS_RUN ? open_and_run(&o) : parsed == ARGS_HELP ? 0 : 2;
  args_free(&command, &o);
  return code;
}
