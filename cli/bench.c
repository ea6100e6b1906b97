// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench`: the bake-off problems of bench/bp.h as a table, and as JSON, beside the limits of the
// machine.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <ritz/jit.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bp.h"
#include "bench/report.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/threads.h"

typedef struct {
  ArgInts bp, orders, n;
  double size, deform;
  bool apply, cg;
  int reps;
  ThreadsChoice on;
  const char *json;
} BenchOptions;

#define MEMBER(name) offsetof(BenchOptions, name)

static const ArgOption options_table[] = {
    {"--bp",
     "LIST",
     "problems, such as 1,3,5 or all (default all)",
     ARG_INT_LIST,
     MEMBER(bp),
     BP_FIRST,
     BP_LAST,
     {NULL}},
    {"--order",
     "LIST",
     "polynomial degrees, such as 1,2,4 or 1-8 (default 1-8)",
     ARG_INT_LIST,
     MEMBER(orders),
     1,
     INFINITY,
     {NULL}},
    {"--size",
     "DOFS",
     "number of unique degrees of freedom, such as 1e6; the nearest\nbox is taken (default 1e5, with CUDA "
     "8e6)",
     ARG_COUNT,
     MEMBER(size),
     1,
     INFINITY,
     {NULL}},
    {"--n",
     "LIST",
     "elements per direction instead of --size: one number for all\ndegrees, or one for each",
     ARG_INT_LIST,
     MEMBER(n),
     1,
     INFINITY,
     {NULL}},
    {"--deform",
     "A",
     "amplitude of a smooth displacement of the vertices (default 0)",
     ARG_REAL,
     MEMBER(deform),
     -INFINITY,
     INFINITY,
     {NULL}},
    {"--apply", NULL, "time the operator (default)", ARG_FLAG, MEMBER(apply), 0, 0, {NULL}},
    {"--cg",
     NULL,
     "time 20 iterations of conjugate gradients without\npreconditioner instead; rates are per iteration",
     ARG_FLAG,
     MEMBER(cg),
     0,
     0,
     {NULL}},
    {"--reps",
     "N",
     "measurements; the fastest counts, of devices the median\n(default: at least 5 and half a second)",
     ARG_INT,
     MEMBER(reps),
     1,
     INFINITY,
     {NULL}},
    {"--ceed",
     "RESOURCE",
     "backend, see 'ritz info' (default /cpu/self)",
     ARG_TEXT,
     MEMBER(on.resource),
     0,
     0,
     {NULL}},
    {"--threads",
     "N",
     "threads of backends below /cpu/self that have some (default:\nas many as there are processors)",
     ARG_INT,
     MEMBER(on.wanted),
     1,
     INFINITY,
     {NULL}},
    {"--json",
     "FILE",
     "write the results, \"-\" for standard output instead of the table",
     ARG_TEXT,
     MEMBER(json),
     0,
     0,
     {NULL}},
};

static const ArgCommand command = {
    .name = "ritz bench",
    .description =
        "Times the bake-off problems on hexahedra: BP1, BP2 mass and BP3, BP4 diffusion with p+2 Gauss "
        "points\n"
        "per direction, BP5, BP6 diffusion with p+1 Gauss-Lobatto points; even ones have 3 components.",
    .notes =
        "MB and Mflop are the least that has to be moved and done: u once, v twice, stored factors and "
        "offsets;\n"
        "sum-factorized flops without the recomputation of geometry. Checks: what the operator does to\n"
        "constants and linear functions.\n\n"
        "100 % of the roofline is the time that the machine needs at least: the larger one of MB / "
        "bandwidth\n"
        "and Mflop / peak, both measured once ('ritz info --measure' does it again), of devices each time.\n"
        "Where all MB fit into the processor's caches it is no limit, and 'cache' is shown for 'memory'.\n"
        "first, s: the first apply, in which kernels are compiled or loaded.\n\n"
        "Devices run on while the program does: batches of applies of 20 ms or more end with a norm of the\n"
        "output, which waits and is counted, less than 1 % of a batch.\n\n"
        "Exit status: 0 done; 1 failed, or a check failed; 2 wrong usage.\n\n"
        "  ritz bench --bp all --order 1,2,4,7 --size 1e5\n"
        "  ritz bench --ceed /gpu/cuda/shared --bp 1,3,5 --order 3,7 --n 67,29",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

static const int default_bps[] = {1, 2, 3, 4, 5, 6}, default_orders[] = {1, 2, 3, 4, 5, 6, 7, 8};

typedef struct {
  size_t num_bps, num_orders;
  const int *bps, *orders;
  size_t num_results;
  BpResult *results; // owned, [num_bps * num_orders]
} Sweep;

// ---- Kernels ----

// What was compiled on the way; nothing for backends without kernels of that kind.
static void show_kernels(void) {
  RitzJitCounters c;

  if (RitzJitGetCounters(&c) || !(c.compilations || c.disk_hits || c.failures)) return;
  cli_fact("kernels", "%lld compiled in %.2f s, %lld read from the cache, %lld failed",
           (long long)c.compilations, c.compile_seconds, (long long)c.disk_hits, (long long)c.failures);
}

// ---- Running ----

// Runs all problems in all degrees; a row is printed as soon as it is there.
static int run_sweep(Ceed ceed, const BenchOptions *o, const BpMachine *limits, Sweep *sweep, FILE *table) {
  BpOptions bp = {.size = (CeedSize)(o->size > 0 ? o->size : cli_default_size(ceed)),
                  .deform = o->deform,
                  .mode = o->cg ? BP_CG : BP_APPLY,
                  .repetitions = o->reps,
                  .machine = *limits};

  if (table) bp_print_heading(table, bp.mode);
  for (size_t i = 0; i < sweep->num_bps * sweep->num_orders; i++) {
    BpResult *result = &sweep->results[i];

    bp.bp = sweep->bps[i / sweep->num_orders];
    bp.order = sweep->orders[i % sweep->num_orders];
    if (o->n.num) bp.n = o->n.items[o->n.num > 1 ? i % sweep->num_orders : 0];
    CLI_TRY(bp_run(ceed, &bp, result));
    sweep->num_results++;
    if (!table) continue;
    bp_print_row(table, result);
    fflush(table);
  }
  return CEED_ERROR_SUCCESS;
}

static int json_failed(const BenchOptions *o) {
  fprintf(stderr, "%s: --json: cannot write '%s': %s\n", command.name, o->json, strerror(errno));
  return CLI_FAILED;
}

// Opens the file for the results before the work is done; NULL without one.
static int open_json(const BenchOptions *o, FILE **json) {
  *json = NULL;
  if (!o->json) return CLI_OK;
  *json = strcmp(o->json, "-") ? fopen(o->json, "w") : stdout;
  return *json ? CLI_OK : json_failed(o);
}

static int write_json(const BenchOptions *o, const Sweep *sweep, FILE *json) {
  bool failed;

  bp_write_json(json, command.name, o->on.resource, sweep->num_results, sweep->results);
  failed = fflush(json) || ferror(json);
  if (json != stdout && fclose(json)) failed = true;
  return failed ? json_failed(o) : CLI_OK;
}

static int run_and_report(Ceed ceed, const BenchOptions *o, int num_threads, Sweep *sweep) {
  BpMachine limits;
  FILE *json;
  int code = CLI_OK;

  sweep->results = calloc(sweep->num_bps * sweep->num_orders, sizeof(*sweep->results));
  if (!sweep->results) {
    fprintf(stderr, "%s: not enough memory\n", command.name);
    return CLI_FAILED;
  }
  CLI_TRY(open_json(o, &json));
  limits = threads_find_limits(ceed, &o->on, num_threads);
  if (json != stdout) threads_show_limits(&limits);
  if (run_sweep(ceed, o, &limits, sweep, json == stdout ? NULL : stdout))
    code = cli_report(command.name, ceed);
  if (json != stdout) show_kernels();
  for (size_t i = 0; i < sweep->num_results; i++) {
    bp_print_failed_checks(stderr, &sweep->results[i]);
    if (!bp_checks_hold(&sweep->results[i])) code = CLI_FAILED;
  }
  if (json && write_json(o, sweep, json)) code = CLI_FAILED;
  return code;
}

static ArgsResult check_options(const BenchOptions *o, size_t num_orders) {
  if (o->apply && o->cg) return args_wrong(&command, "--apply", "contradicts --cg");
  if (o->size > INT32_MAX)
    return args_wrong(&command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
  if (o->n.num && o->size > 0) return args_wrong(&command, "--n", "contradicts --size");
  if (o->n.num > 1 && o->n.num != num_orders)
    return args_wrong(&command, "--n", "expected 1 or %zu numbers, one for each degree, found %zu",
                      num_orders, o->n.num);
  return threads_check(&command, &o->on);
}

static int run(const BenchOptions *o) {
  Sweep sweep = {
      .num_bps = o->bp.num ? o->bp.num : sizeof(default_bps) / sizeof(int),
      .bps = o->bp.num ? o->bp.items : default_bps,
      .num_orders = o->orders.num ? o->orders.num : sizeof(default_orders) / sizeof(int),
      .orders = o->orders.num ? o->orders.items : default_orders,
  };
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int num_threads, code;
  Ceed ceed = NULL;

  if (check_options(o, sweep.num_orders) != ARGS_RUN) return CLI_USAGE;
  code = threads_open(&command, &o->on, online > 1 ? (int)online : 1, &ceed, &num_threads);
  if (!code) code = run_and_report(ceed, o, num_threads, &sweep);
  free(sweep.results);
  CeedDestroy(&ceed);
  return code;
}

int cli_bench(int argc, char **argv) {
  BenchOptions options = {.on = {.resource = "/cpu/self"}};
  ArgsResult parsed = args_parse(&command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run(&options);
  args_free(&command, &options);
  return code;
}
