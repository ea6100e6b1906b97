// SPDX-License-Identifier: BSD-2-Clause
// The driver of all benchmarks (contract in bench/driver.h).
#include "bench/driver.h"

#include <errno.h>
#include <ritz/jit.h>
#include <ritz/machine.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// ---- Files ----

static int write_failed(const Bench *b, const char *option, const char *path) {
  fprintf(stderr, "%s: %s: cannot write '%s': %s\n", b->command->name, option, path, strerror(errno));
  return CLI_FAILED;
}

static int open_file(const Bench *b, const char *option, const char *path, FILE **file) {
  if (!path) return CLI_OK;
  *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
  return *file ? CLI_OK : write_failed(b, option, path);
}

// Both or none, before the work is done.
static int open_files(Bench *b) {
  const BenchCommon *c = b->common;

  if (c->json) CLI_TRY(cli_check_file(b->command->name, "--json", c->json, false));
  if (c->plot) CLI_TRY(cli_check_file(b->command->name, "--plot", c->plot, false));
  CLI_TRY(open_file(b, "--json", c->json, &b->json));
  CLI_TRY(open_file(b, "--plot", c->plot, &b->plot));
  b->table = b->json == stdout ? NULL : stdout;
  return CLI_OK;
}

static int close_file(const Bench *b, const char *option, const char *path, FILE *file) {
  if (!file) return CLI_OK;
  bool failed = fflush(file) || ferror(file);
  if (file != stdout && fclose(file)) failed = true;
  return failed ? write_failed(b, option, path) : CLI_OK;
}

static int close_files(const Bench *b) {
  const int code = close_file(b, "--json", b->common->json, b->json);

  return close_file(b, "--plot", b->common->plot, b->plot) || code ? CLI_FAILED : CLI_OK;
}

// ---- Limits ----

void bench_find_limits(Bench *b, bool is_single) {
  b->machine = threads_find_limits(b->ceed, &b->common->on, b->num_threads, is_single);
  if (b->table) threads_show_limits(&b->machine);
}

void bench_doubt_limits(const BpResult *result) {
  const BpMachine *limits = &result->options.machine;
  const bool is_hard = result->bound == BP_BOUND_MEMORY || result->bound == BP_BOUND_FLOPS;
  static bool has_measured;
  RitzMachine machine;

  if (has_measured || limits->device || !is_hard || result->roofline <= 1.1) return;
  has_measured = true;
  fprintf(stderr, "ritz: a run is faster than the kept figures of the machine, which are measured again\n");
  (void)RitzMachineGet(true, &machine);
}

// ---- Plots ----

void bench_name_plot(const BpMachine *machine, char *title, size_t size) {
  RitzMachine processor;

  if (machine->device)
    snprintf(title, size, "Ritz on %s", machine->device);
  else if (!machine->threads || RitzMachineGet(false, &processor))
    snprintf(title, size, "Ritz on unknown machine");
  else
    snprintf(title, size, "Ritz on %s, %d thread%s", processor.cpu_name, machine->threads,
             machine->threads > 1 ? "s" : "");
}

int bench_write_plot(const Bench *b, const char *what, bool is_single, Plot plot) {
  char title[240], subtitle[240];

  bench_name_plot(&b->machine, title, sizeof(title));
  snprintf(subtitle, sizeof(subtitle), "%s; %s precision, %s", what,
           is_single || sizeof(CeedScalar) == sizeof(float) ? "single" : "double", b->common->on.resource);
  plot.title = title;
  plot.subtitle = subtitle;
  plot.label_meaning = "numbers: polynomial degree p";
  return plot_write(b->plot, &plot) ? CLI_OK : cli_no_memory(b->command->name);
}

// ---- Benchmarks ----

// How many kernels were compiled or found; nothing for backends without generated kernels.
static void show_kernels(void) {
  RitzJitCounters c;

  if (RitzJitGetCounters(&c) || !(c.compilations || c.disk_hits || c.failures)) return;
  cli_fact("kernels", "%lld compiled in %.2f s, %lld read from the cache, %lld failed",
           (long long)c.compilations, c.compile_seconds, (long long)c.disk_hits, (long long)c.failures);
}

static bool has_ending(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);

  return n >= m && !strcmp(path + n - m, ending);
}

static ArgsResult check_options(const BenchCommand *command, const void *options, const BenchCommon *common) {
  const ArgsResult result = command->check ? command->check(options) : ARGS_RUN;
  char shown[ARG_SHOWN];

  if (result != ARGS_RUN) return result;
  if (common->plot && !has_ending(common->plot, ".svg"))
    return args_wrong(command->args, "--plot", "expected a file name that ends in .svg, found '%s'",
                      args_shown(common->plot, shown));
  return threads_check(command->args, &common->on);
}

static int run_with_files(const BenchCommand *command, Bench *b) {
  int code = open_files(b);

  if (!code) code = command->run(b);
  if (b->table) show_kernels();
  return close_files(b) ? CLI_FAILED : code;
}

static int run_benchmark(const BenchCommand *command, const void *options) {
  const BenchCommon *common = (const BenchCommon *)(const void *)((const char *)options + command->common);
  Bench b = {.command = command->args, .options = options, .common = common};

  if (check_options(command, options, common) != ARGS_RUN) return CLI_USAGE;
  int code = threads_open(command->args, &common->on, command->num_threads, &b.ceed, &b.num_threads);
  if (!code) code = run_with_files(command, &b);
  CeedDestroy(&b.ceed);
  return code;
}

int bench_main(const BenchCommand *command, int argc, char **argv) {
  void *options = malloc(command->size);

  if (!options) return cli_no_memory(command->args->name);
  memcpy(options, command->defaults, command->size);
  const ArgsResult parsed = args_parse(command->args, argc, argv, options);
  const int code = parsed == ARGS_RUN    ? run_benchmark(command, options)
                   : parsed == ARGS_HELP ? CLI_OK
                                         : CLI_USAGE;
  args_free(command->args, options);
  free(options);
  return code;
}
