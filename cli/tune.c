// SPDX-License-Identifier: BSD-2-Clause
// `ritz tune`: the kernels of the bake-off problems, chosen by measurement; what is found is kept for later
// runs.
#include <math.h>
#include <ritz/operator.h>
#include <stddef.h>
#include <stdint.h>

#include "bp/problem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/single.h"

typedef struct {
  ArgInts bp, orders, policies;
  double size;
  int shape, precision;
  const char *resource;
} TuneOptions;

#define MEMBER(name) offsetof(TuneOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--bp", "LIST", ARG_INT_LIST, MEMBER(bp), BP_FIRST, BP_LAST,
               "problems, such as 1,3,5 or all (default all)"),
    ARG_WORDS("--shape", NULL, ARG_CHOICE, MEMBER(shape),
              "of the elements: hexahedra, or boxes cut into six tetrahedra,\ntwo prisms or six pyramids, "
              "BP1 to BP4 (default hex)",
              "hex", "tet", "prism", "pyramid"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, INFINITY,
               "polynomial degrees, such as 1,2,4 or 1-8 (default 1-8)"),
    ARG_SIZE(MEMBER(size)),
    ARG_WORDS("--policy", "LIST", ARG_CHOICE_LIST, MEMBER(policies),
              "where geometric factors come from, of stored, trilinear, affine\n(default stored)", "stored",
              "trilinear", "affine"), // in the order of CostGeometry
    ARG_WORDS("--precision", NULL, ARG_CHOICE, MEMBER(precision),
              "of the operator and all its vectors: float, or the library's\nown (default: that)", "f32",
              "f64"),
    ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, MEMBER(resource), 0, 0,
               "backend, see 'ritz info' (default /gpu/cuda/gen)"),
};

const ArgCommand tune_command = {
    .name = "ritz tune",
    .description = "Finds the fastest kernels of the bake-off problems on a device: tries up to 40 of each, "
                   "where otherwise\n"
                   "a model chooses, and keeps what was the best. Later runs use it, on a mesh of any size.",
    .notes =
        "model, best: an apply with the model's kernel, and with the one that is used from now on, timed in\n"
        "turns. tried: kernels that ran. route: the fastest one, see 'ritz bench --routes'. The choices, "
        "where\n"
        "there are some: elements of a block; blocks that are to fit a multiprocessor; unroll, fence: "
        "points\n"
        "of a line (1 yes, -1 no); stacked: elements of a thread with dense bases; whole: a thread takes "
        "whole\n"
        "elements (1) or lines (-1); join: neighbours add together; mma: tensor cores.\n\n"
        "The operators of programs are tuned by RitzOperatorTune (ritz/operator.h). 'ritz cache clear'\n"
        "forgets what was measured, RITZ_TUNE=off does without, RITZ_TUNE=N tries N kernels of each at "
        "most.\n"
        "/cpu/self has nothing to choose.\n\n"
        "Exit status: 0 done; 1 failed; 2 wrong usage.",
    .examples = "ritz tune --bp 1,3 --order 1-4\n"
                "ritz tune --bp 5 --order 7 --policy trilinear,affine\n"
                "ritz tune --bp 1 --order 2 --precision f32",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- One problem ----

static void print_heading(void) {
  printf("%-4s %5s %-9s %10s %11s %11s %8s %6s  %-11s %s\n", "", "order", "geometry", "DOFs", "model, ms",
         "best, ms", "faster", "tried", "route", "choices");
}

static void print_tune_row(const BpResult *sizes, const RitzTuning *t) {
  printf("BP%-2d %5d %-9s %10lld ", sizes->options.bp, (int)sizes->options.order,
         bp_geometry_name(sizes->options.geometry), (long long)sizes->dofs);
  if (t->num_tried)
    printf("%11.4f %11.4f %7.2fx %6d  %-11s %s\n", 1e3 * t->model_seconds, 1e3 * t->best_seconds,
           t->model_seconds / t->best_seconds, (int)t->num_tried, RitzOperatorRouteName(t->route), t->choice);
  else
    printf("nothing measured: %s\n", t->reason);
  fflush(stdout);
}

static int tune_problem(Ceed ceed, const BpOptions *options, BpResult *sizes, RitzTuning *tuning) {
  BpProblem problem = {.ceed = ceed, .sizes = sizes};
  int ierr;

  CLI_TRY(bp_predict(ceed, options, sizes));
  CLI_TRY_CLEANUP(bp_problem_create(&problem));
  CLI_TRY_CLEANUP(CeedVectorSetValue(problem.in, 1));
  CLI_TRY_CLEANUP(RitzOperatorTune(problem.op, problem.in, problem.out, tuning));
cleanup:
  bp_problem_destroy(&problem);
  return ierr;
}

// ---- The command ----

// A library of float computes in its own precision.
static bool is_single(const TuneOptions *o) {
  return o->precision == 0 && sizeof(CeedScalar) != sizeof(float);
}

static int tune_problems(Ceed ceed, const TuneOptions *o) {
  static int all_bps[] = {1, 2, 3, 4, 5, 6}, all_orders[] = {1, 2, 3, 4, 5, 6, 7, 8},
             stored[] = {COST_STORED};
  const ArgInts bps = args_or_else(o->bp, o->shape == CLI_HEX ? sizeof(all_bps) / sizeof(int) : 4, all_bps);
  const ArgInts orders = args_or_else(o->orders, sizeof(all_orders) / sizeof(int), all_orders);
  const ArgInts policies = args_or_else(o->policies, 1, stored);
  const size_t num = bps.num * policies.num * orders.num;
  BpOptions options = {.size = (CeedSize)(o->size > 0 ? o->size : cli_default_size(ceed)),
                       .shape = cli_shapes[o->shape],
                       .single = is_single(o) ? &cli_single : NULL};
  BpResult sizes;
  RitzTuning tuning;

  print_heading();
  for (size_t i = 0; i < num; i++) {
    options.order = orders.items[i % orders.num];
    options.geometry = (CostGeometry)policies.items[i / orders.num % policies.num];
    options.bp = bps.items[i / orders.num / policies.num];
    CLI_TRY(tune_problem(ceed, &options, &sizes, &tuning));
    print_tune_row(&sizes, &tuning);
  }
  return CEED_ERROR_SUCCESS;
}

// Tunes the problems on a device. Backends on the host have nothing to choose: the smallest problem serves to
// print the reason.
static int tune(Ceed ceed, const TuneOptions *o) {
  const BpOptions smallest = {.bp = BP_FIRST, .order = 1, .size = 1};
  const char *resource = NULL;
  CeedMemType memory;
  BpResult sizes;
  RitzTuning tuning;

  CLI_TRY(CeedGetPreferredMemType(ceed, &memory));
  if (memory == CEED_MEM_DEVICE) return tune_problems(ceed, o);
  CLI_TRY(tune_problem(ceed, &smallest, &sizes, &tuning));
  CLI_TRY(CeedGetResource(ceed, &resource));
  printf("%s: nothing measured: %s\n", resource, tuning.reason ? tuning.reason : "");
  return CEED_ERROR_SUCCESS;
}

static int run_tune_command(const TuneOptions *o) {
  Ceed ceed = NULL;
  int code = CLI_OK;

  if (o->size > INT32_MAX) {
    args_wrong(&tune_command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
    return CLI_USAGE;
  }
  for (size_t i = 0; i < o->bp.num; i++) {
    if (o->shape == CLI_HEX || o->bp.items[i] <= 4) continue;
    args_wrong(&tune_command, "--bp", "of other shapes than hex expected 1 to 4, found %d", o->bp.items[i]);
    return CLI_USAGE;
  }
  if (o->precision == 1 && sizeof(CeedScalar) == sizeof(float)) {
    args_wrong(&tune_command, "--precision", "f64 only in a library of double, this one is of float");
    return CLI_USAGE;
  }
  CLI_TRY(cli_open_ceed(tune_command.name, o->resource, &ceed));
  if (tune(ceed, o)) code = cli_report(tune_command.name, ceed);
  CeedDestroy(&ceed);
  return code;
}

int cli_tune(int argc, char **argv) {
  TuneOptions options = {.precision = -1, .resource = "/gpu/cuda/gen"};
  ArgsResult parsed = args_parse(&tune_command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run_tune_command(&options);
  args_free(&tune_command, &options);
  return code;
}
