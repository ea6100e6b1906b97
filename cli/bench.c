// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench`: the bake-off problems of bench/bp.h as a table, and as JSON, beside the limits of the
// machine.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <ritz/jit.h>
#include <ritz/machine.h>
#include <ritz/version.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bp.h"
#include "bench/report.h"
#include "cli/args.h"
#include "cli/cli.h"

typedef struct {
  ArgInts bp, orders;
  double size, deform;
  bool apply, cg;
  int reps, threads;
  const char *ceed, *json;
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
     "number of unique degrees of freedom, such as 1e6; the nearest\nbox is taken (default 1e5)",
     ARG_COUNT,
     MEMBER(size),
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
     "measurements, the fastest counts (default: at least 5 and half\na second)",
     ARG_INT,
     MEMBER(reps),
     1,
     INFINITY,
     {NULL}},
    {"--ceed",
     "RESOURCE",
     "backend, see 'ritz info' (default /cpu/self)",
     ARG_TEXT,
     MEMBER(ceed),
     0,
     0,
     {NULL}},
    {"--threads",
     "N",
     "threads of backends below /cpu/self that have some (default:\nas many as there are processors)",
     ARG_INT,
     MEMBER(threads),
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
        "and Mflop / peak, both measured once ('ritz info --measure' does it again). Where all MB fit into\n"
        "the caches it is no limit, and 'cache' is shown for 'memory'.\n\n"
        "Exit status: 0 done; 1 failed, or a check failed; 2 wrong usage.\n\n"
        "  ritz bench --bp all --order 1,2,4,7 --size 1e5",
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

// ---- Threads and limits ----

static const char threads_option[] = ":threads=";

static bool is_on_cpu(const char *resource) {
  const char stem[] = "/cpu/self";
  size_t n = sizeof(stem) - 1;

  return !strncmp(resource, stem, n) && (!resource[n] || strchr("/:", resource[n]));
}

// The resource with the option for the threads that are wanted; to be freed.
static char *add_threads(const BenchOptions *o, int threads) {
  size_t size = strlen(o->ceed) + sizeof(threads_option) + 12;
  char *resource = malloc(size);

  if (!resource) return NULL;
  if (is_on_cpu(o->ceed) && !strstr(o->ceed, threads_option))
    snprintf(resource, size, "%s%s%d", o->ceed, threads_option, threads);
  else
    snprintf(resource, size, "%s", o->ceed);
  return resource;
}

static int wanted_threads(const BenchOptions *o) {
  const char *in_resource = strstr(o->ceed, threads_option);
  long online = sysconf(_SC_NPROCESSORS_ONLN);

  if (in_resource) return atoi(in_resource + sizeof(threads_option) - 1);
  if (o->threads) return o->threads;
  return online > 1 ? (int)online : 1;
}

// The backend of a context is one of those that know no threads.
static bool is_serial(Ceed ceed) {
  const char *name = NULL;
  RitzBackendInfo info;
  CeedInt num = 0;

  if (CeedGetResource(ceed, &name) || RitzGetNumBackends(&num)) return true;
  for (CeedInt i = 0; i < num; i++) {
    if (RitzGetBackendInfo(i, &info) || strcmp(info.resource, name) != 0) continue;
    const char *server = info.alias_of ? info.alias_of : info.resource;
    return !strcmp(server, "/cpu/self/ref") || !strcmp(server, "/cpu/self/check");
  }
  return true;
}

// What the threads of the context can do; nothing is known of resources that are not on the CPU, nor when the
// measurement fails.
static BpMachine find_limits(Ceed ceed, const BenchOptions *o, int threads) {
  const BpMachine unknown = {0};
  RitzMachine machine;

  if (!is_on_cpu(o->ceed) || RitzMachineGet(false, &machine)) return unknown;
  if (is_serial(ceed) || threads < 1) threads = 1;
  if (threads > machine.num_processors) threads = machine.num_processors;
  if (threads > 1 && threads < machine.num_threads && RitzMachineMeasure(threads, &machine)) return unknown;
  const RitzMachineRates *rates = threads > 1 ? &machine.all : &machine.one;
  return (BpMachine){
      .threads = threads,
      .bandwidth = (double)rates->update_bandwidth,
      .peak = (double)(sizeof(CeedScalar) == sizeof(float) ? rates->single_flops : rates->double_flops),
      .cache = (double)machine.last_level_bytes,
  };
}

static void show_limits(const BpMachine *limits) {
  if (!limits->threads) return;
  cli_fact("limits", "%.1f GB/s and %.1f GFLOP/s with %d thread%s", 1e-9 * limits->bandwidth,
           1e-9 * limits->peak, limits->threads, limits->threads > 1 ? "s" : "");
}

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
  BpOptions bp = {.size = (CeedSize)o->size,
                  .deform = o->deform,
                  .mode = o->cg ? BP_CG : BP_APPLY,
                  .repetitions = o->reps,
                  .machine = *limits};

  if (table) bp_print_heading(table, bp.mode);
  for (size_t i = 0; i < sweep->num_bps * sweep->num_orders; i++) {
    BpResult *result = &sweep->results[i];

    bp.bp = sweep->bps[i / sweep->num_orders];
    bp.order = sweep->orders[i % sweep->num_orders];
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

  bp_write_json(json, command.name, o->ceed, sweep->num_results, sweep->results);
  failed = fflush(json) || ferror(json);
  if (json != stdout && fclose(json)) failed = true;
  return failed ? json_failed(o) : CLI_OK;
}

static int run_and_report(Ceed ceed, const BenchOptions *o, int threads, Sweep *sweep) {
  BpMachine limits;
  FILE *json;
  int code = CLI_OK;

  sweep->results = calloc(sweep->num_bps * sweep->num_orders, sizeof(*sweep->results));
  if (!sweep->results) {
    fprintf(stderr, "%s: not enough memory\n", command.name);
    return CLI_FAILED;
  }
  CLI_TRY(open_json(o, &json));
  limits = find_limits(ceed, o, threads);
  if (json != stdout) show_limits(&limits);
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

static ArgsResult check_options(const BenchOptions *o) {
  char shown[ARG_SHOWN];

  if (o->apply && o->cg) return args_wrong(&command, "--apply", "contradicts --cg");
  if (o->size > INT32_MAX)
    return args_wrong(&command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
  if (o->threads && !is_on_cpu(o->ceed))
    return args_wrong(&command, "--threads", "only for backends below /cpu/self, not for '%s'",
                      args_shown(o->ceed, shown));
  if (o->threads && strstr(o->ceed, threads_option))
    return args_wrong(&command, "--threads", "contradicts --ceed '%s'", args_shown(o->ceed, shown));
  return ARGS_RUN;
}

static int run(const BenchOptions *o) {
  Sweep sweep = {
      .num_bps = o->bp.num ? o->bp.num : sizeof(default_bps) / sizeof(int),
      .bps = o->bp.num ? o->bp.items : default_bps,
      .num_orders = o->orders.num ? o->orders.num : sizeof(default_orders) / sizeof(int),
      .orders = o->orders.num ? o->orders.items : default_orders,
  };
  int threads = wanted_threads(o), code;
  Ceed ceed = NULL;

  if (check_options(o) != ARGS_RUN) return CLI_USAGE;
  char *resource = add_threads(o, threads);
  code = cli_open_ceed(command.name, resource ? resource : o->ceed, &ceed);
  if (!code) code = run_and_report(ceed, o, threads, &sweep);
  free(resource);
  free(sweep.results);
  CeedDestroy(&ceed);
  return code;
}

int cli_bench(int argc, char **argv) {
  BenchOptions options = {.size = 1e5, .ceed = "/cpu/self"};
  ArgsResult parsed = args_parse(&command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run(&options);
  args_free(&command, &options);
  return code;
}
