// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --routes`: applies of the bake-off problems by every route that operators on devices have
// (RitzOperatorSetRoute), side by side, and what the library's own choice loses against the best.
#include <math.h>
#include <ritz/operator.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/driver.h"
#include "bp/problem.h"
#include "bp/times.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/single.h"

enum { BOTH = CLI_NUM_SHAPES }; // hexahedra and tetrahedra
enum { NUM_ROUTES = RITZ_OPERATOR_ROUTE_GEMM_VENDOR + 1, MOST_REPS = 50 };

typedef struct {
  ArgInts bp, orders;
  double size;
  int shape;
  bool routes;
  BenchCommon common;
} RoutesOptions;

#define MEMBER(name) offsetof(RoutesOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--routes", NULL, ARG_FLAG, MEMBER(routes), 0, 0, "this benchmark"),
    ARG_OPTION("--bp", "LIST", ARG_INT_LIST, MEMBER(bp), BP_FIRST, BP_LAST,
               "problems, such as 1,3,5 or all (default 1,3)"),
    ARG_WORDS("--shape", NULL, ARG_CHOICE, MEMBER(shape),
              "of the elements: hexahedra, or boxes cut into six tetrahedra,\ntwo prisms or six pyramids, "
              "BP1 to BP4; both: hex and tet\n(default)",
              "hex", "tet", "prism", "pyramid", "both"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, INFINITY,
               "polynomial degrees, such as 1,2,4 or 1-6 (default 1-6)"),
    ARG_SIZE(MEMBER(size)),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(common.reps), 1, MOST_REPS,
               "batches of each route, in turns; the median counts (default 5)"),
    ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, MEMBER(common.on.resource), 0, 0,
               "backend, see 'ritz info' (default /gpu/cuda/gen)"),
};

const ArgCommand routes_command = {
    .name = "ritz bench --routes",
    .description =
        "Times applies of the bake-off problems by every route that operators on devices have: one "
        "fused kernel,\n"
        "separate kernels, matrix products by own kernels and by the vendor's library.",
    .notes = "10^9 DOFs a second; '-': the route cannot be had. auto: what the library chooses, by what "
             "'ritz tune'\n"
             "has measured or by its model; loss: of its rate against the best one beside it. A batch takes "
             "20 ms\n"
             "or more and ends with a norm of the output, which is counted.\n\n"
             "Exit status: 0 done; 1 failed; 2 wrong usage.",
    .examples = "ritz bench --routes\n"
                "ritz bench --routes --shape tet --bp 1,3 --order 1-6 --size 3e6\n"
                "ritz bench --routes --ceed /gpu/opencl --order 2 --size 1e4",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- Times ----

// Seconds of an apply by each route; 0: it cannot be had.
typedef struct {
  double seconds[NUM_ROUTES];
  int num[NUM_ROUTES]; // applies of a batch
} RouteTimes;

static int time_batch(const BpProblem *p, int num, double *seconds) {
  const double begin = cli_seconds();
  CeedScalar norm;
  for (int i = 0; i < num; i++) CLI_TRY(CeedOperatorApply(p->op, p->in, p->out, CEED_REQUEST_IMMEDIATE));
  CLI_TRY(CeedVectorNorm(p->out, CEED_NORM_MAX, &norm));
  *seconds = (cli_seconds() - begin) / num;
  return CEED_ERROR_SUCCESS;
}

// A route that is refused is left out, as what else is UNSUPPORTED.
static int begin_route(const BpProblem *p, int route, RouteTimes *times) {
  static const double batch = 0.02;
  double seconds = 0;
  const char *words;
  int ierr = RitzOperatorSetRoute(p->op, (RitzOperatorRoute)route);
  if (!ierr) ierr = time_batch(p, 1, &seconds);
  if (ierr == CEED_ERROR_UNSUPPORTED) {
    CeedGetErrorMessage(p->ceed, &words);
    CeedResetErrorMessage(p->ceed, &words);
    return CEED_ERROR_SUCCESS;
  }
  if (!ierr) ierr = time_batch(p, 1, &seconds);
  times->num[route] = seconds < batch ? 1 + (int)(batch / seconds) : 1;
  return ierr;
}

static int time_routes(const BpProblem *p, int reps, RouteTimes *times) {
  Times batches[NUM_ROUTES] = {{0}};
  double seconds;

  for (int r = 0; r < NUM_ROUTES; r++) CLI_TRY(begin_route(p, r, times));
  for (int k = 0; k < reps; k++) {
    for (int r = 0; r < NUM_ROUTES; r++) {
      if (times->num[r] == 0) continue;
      CLI_TRY(RitzOperatorSetRoute(p->op, (RitzOperatorRoute)r));
      // The first apply by another route makes and frees memory, and looks choices up.
      CLI_TRY(time_batch(p, 1, &seconds));
      CLI_TRY(time_batch(p, times->num[r], &seconds));
      times_add(&batches[r], seconds, seconds);
    }
  }
  for (int r = 0; r < NUM_ROUTES; r++) times->seconds[r] = times_median(&batches[r]);
  return CEED_ERROR_SUCCESS;
}

static int time_problem(Ceed ceed, const BpOptions *options, int reps, BpResult *sizes, RouteTimes *times) {
  BpProblem problem = {.ceed = ceed, .sizes = sizes};
  int ierr;

  CLI_TRY(bp_predict(ceed, options, sizes));
  CLI_TRY_CLEANUP(bp_problem_create(&problem));
  CLI_TRY_CLEANUP(CeedVectorSetValue(problem.in, 1));
  CLI_TRY_CLEANUP(time_routes(&problem, reps, times));
cleanup:
  bp_problem_destroy(&problem);
  return ierr;
}

// ---- The table ----

// Of all problems so far.
typedef struct {
  double sum_logs, worst;
  int num;
  char where[40]; // the worst
} Losses;

static void print_heading(void) {
  printf("%-7s %-4s %5s %10s", "shape", "", "order", "DOFs");
  for (int r = RITZ_OPERATOR_ROUTE_FUSED; r < NUM_ROUTES; r++)
    printf(" %11s", RitzOperatorRouteName((RitzOperatorRoute)r));
  printf(" %11s %7s\n", "auto", "loss, %");
}

static double best_of(const RouteTimes *times) {
  double best = 0;
  for (int r = RITZ_OPERATOR_ROUTE_FUSED; r < NUM_ROUTES; r++) {
    if (times->seconds[r] > 0 && (best <= 0 || times->seconds[r] < best)) best = times->seconds[r];
  }
  return best > 0 ? best : times->seconds[RITZ_OPERATOR_ROUTE_AUTO]; // hosts have no other
}

static void print_rate(double dofs, double seconds) {
  if (seconds > 0)
    printf(" %11.4g", 1e-9 * dofs / seconds);
  else
    printf(" %11s", "-");
}

static void print_routes_row(const BpResult *sizes, const RouteTimes *times, Losses *losses) {
  const BpOptions *o = &sizes->options;
  const double own = times->seconds[RITZ_OPERATOR_ROUTE_AUTO], ratio = fmax(1, own / best_of(times));
  printf("%-7s BP%-2d %5d %10lld", bp_shape_name(o->shape), o->bp, (int)o->order, (long long)sizes->dofs);
  for (int r = RITZ_OPERATOR_ROUTE_FUSED; r < NUM_ROUTES; r++)
    print_rate((double)sizes->dofs, times->seconds[r]);
  print_rate((double)sizes->dofs, own);
  printf(" %7.1f\n", 100 * (ratio - 1));
  fflush(stdout);
  losses->sum_logs += log(ratio);
  losses->num++;
  if (losses->where[0] && ratio <= losses->worst) return;
  losses->worst = ratio;
  snprintf(losses->where, sizeof(losses->where), "%s, BP%d, order %d", bp_shape_name(o->shape), o->bp,
           (int)o->order);
}

static int run_routes(Ceed ceed, const RoutesOptions *o) {
  static int some_bps[] = {1, 3}, all_orders[] = {1, 2, 3, 4, 5, 6};
  const ArgInts bps = args_or_else(o->bp, sizeof(some_bps) / sizeof(int), some_bps);
  const ArgInts orders = args_or_else(o->orders, sizeof(all_orders) / sizeof(int), all_orders);
  BpOptions options = {.size = (CeedSize)(o->size > 0 ? o->size : cli_default_size(ceed))};
  Losses losses = {.num = 0};

  print_heading();
  for (int shape = CLI_HEX; shape < CLI_NUM_SHAPES; shape++) {
    if (o->shape == BOTH ? shape > CLI_TET : o->shape != shape) continue;
    options.shape = cli_shapes[shape];
    for (size_t i = 0; i < bps.num * orders.num; i++) {
      BpResult sizes;
      RouteTimes times = {.num = {0}};
      options.bp = bps.items[i / orders.num];
      options.order = orders.items[i % orders.num];
      if (options.shape && options.bp > 4) continue;
      CLI_TRY(time_problem(ceed, &options, o->common.reps > 0 ? o->common.reps : 5, &sizes, &times));
      print_routes_row(&sizes, &times, &losses);
    }
  }
  if (losses.num)
    printf("loss of auto: %.1f %% in geometric mean, at most %.1f %% (%s)\n",
           100 * (exp(losses.sum_logs / losses.num) - 1), 100 * (losses.worst - 1), losses.where);
  return CEED_ERROR_SUCCESS;
}

// ---- The command ----

static ArgsResult check_options(const void *options) {
  const RoutesOptions *o = options;

  if (o->size <= INT32_MAX) return ARGS_RUN;
  return args_wrong(&routes_command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
}

static int run_routes_bench(Bench *b) {
  return run_routes(b->ceed, b->options) ? cli_report(routes_command.name, b->ceed) : CLI_OK;
}

int bench_routes(int argc, char **argv) {
  static const RoutesOptions usual = {.shape = BOTH, .common = {.on = {.resource = "/gpu/cuda/gen"}}};
  static const BenchCommand bench = {&routes_command, &usual,          sizeof(usual), MEMBER(common), 0,
                                     check_options,   run_routes_bench};

  return bench_main(&bench, argc, argv);
}
