// SPDX-License-Identifier: BSD-2-Clause
// Files of results, and what is told beside them.
#include "bench/results.h"

#include <errno.h>
#include <ritz/jit.h>
#include <ritz/machine.h>
#include <string.h>

#include "cli/cli.h"

// ---- Files ----

static int write_failed(const ArgCommand *command, const char *option, const char *path) {
  fprintf(stderr, "%s: %s: cannot write '%s': %s\n", command->name, option, path, strerror(errno));
  return CLI_FAILED;
}

static int open_file(const ArgCommand *command, const char *option, const char *path, FILE **file) {
  if (!path) return CLI_OK;
  *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
  return *file ? CLI_OK : write_failed(command, option, path);
}

int results_open(const ArgCommand *command, const char *json_path, FILE **json, const char *plot_path,
                 FILE **plot) {
  *json = *plot = NULL;
  if (json_path) CLI_TRY(cli_check_file(command->name, "--json", json_path, false));
  if (plot_path) CLI_TRY(cli_check_file(command->name, "--plot", plot_path, false));
  CLI_TRY(open_file(command, "--json", json_path, json));
  return open_file(command, "--plot", plot_path, plot);
}

static int close_file(const ArgCommand *command, const char *option, const char *path, FILE *file) {
  if (!file) return CLI_OK;
  bool failed = fflush(file) || ferror(file);
  if (file != stdout && fclose(file)) failed = true;
  return failed ? write_failed(command, option, path) : CLI_OK;
}

int results_close(const ArgCommand *command, const char *json_path, FILE *json, const char *plot_path,
                  FILE *plot) {
  const int code = close_file(command, "--json", json_path, json);

  return close_file(command, "--plot", plot_path, plot) || code ? CLI_FAILED : CLI_OK;
}

bool results_has_ending(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n >= m && !strcmp(path + n - m, ending);
}

// ---- Plots ----

void results_name_plot(const BpMachine *machine, char *title, size_t size) {
  RitzMachine processor;

  if (machine->device)
    snprintf(title, size, "Ritz on %s", machine->device);
  else if (!machine->threads || RitzMachineGet(false, &processor))
    snprintf(title, size, "Ritz on unknown machine");
  else
    snprintf(title, size, "Ritz on %s, %d thread%s", processor.cpu_name, machine->threads,
             machine->threads > 1 ? "s" : "");
}

int results_write_plot(const ArgCommand *command, FILE *file, const BpMachine *machine, const char *what,
                       bool is_single, const char *resource, Plot plot) {
  char title[240], subtitle[240];

  results_name_plot(machine, title, sizeof(title));
  snprintf(subtitle, sizeof(subtitle), "%s; %s precision, %s", what,
           is_single || sizeof(CeedScalar) == sizeof(float) ? "single" : "double", resource);
  plot.title = title;
  plot.subtitle = subtitle;
  plot.label_meaning = "numbers: polynomial degree p";
  return plot_write(file, &plot) ? CLI_OK : cli_no_memory(command->name);
}

// ---- Kernels ----

void results_show_kernels(void) {
  RitzJitCounters c;

  if (RitzJitGetCounters(&c) || !(c.compilations || c.disk_hits || c.failures)) return;
  cli_fact("kernels", "%lld compiled in %.2f s, %lld read from the cache, %lld failed",
           (long long)c.compilations, c.compile_seconds, (long long)c.disk_hits, (long long)c.failures);
}

// ---- Limits ----

void results_doubt_limits(const BpResult *result) {
  const BpMachine *limits = &result->options.machine;
  const bool is_hard = result->bound == BP_BOUND_MEMORY || result->bound == BP_BOUND_FLOPS;
  static bool has_measured;
  RitzMachine machine;

  if (has_measured || limits->device || !is_hard || result->roofline <= 1.1) return;
  has_measured = true;
  fprintf(stderr, "ritz: a run is faster than the kept figures of the machine, which are measured again\n");
  (void)RitzMachineGet(true, &machine);
}
