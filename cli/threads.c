// SPDX-License-Identifier: BSD-2-Clause
// --threads, the option ":threads=" of resources, and the limits of the machine (contract in cli/threads.h).
#include "cli/threads.h"

#include <math.h>
#include <ritz/device.h>
#include <ritz/machine.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char threads_option[] = ":threads=";

// ---- The option ----

static bool is_on_cpu(const char *resource) {
  const char stem[] = "/cpu/self";
  size_t n = sizeof(stem) - 1;

  return !strncmp(resource, stem, n) && (!resource[n] || strchr("/:", resource[n]));
}

ArgsResult threads_check(const ArgCommand *command, const ThreadsChoice *choice) {
  char shown[ARG_SHOWN];

  if (!choice->wanted) return ARGS_RUN;
  args_shown(choice->resource, shown);
  if (!is_on_cpu(choice->resource))
    return args_wrong(command, "--threads", "only for backends below /cpu/self, not for '%s'", shown);
  if (strstr(choice->resource, threads_option))
    return args_wrong(command, "--threads", "contradicts --ceed '%s'", shown);
  return ARGS_RUN;
}

static int threads_of(const char *resource) {
  CeedInt num = 1;
  Ceed ceed = NULL;

  if (!CeedInit(resource, &ceed)) RitzGetNumThreads(ceed, &num);
  CeedDestroy(&ceed);
  return (int)num;
}

int threads_of_processors(void) { return threads_of("/cpu/self/gen:threads=all"); }

int threads_of_process(void) {
  const char *set = cli_variable("OMP_NUM_THREADS");

  return set && atoi(set) > 0 ? threads_of("/cpu/self/gen") : threads_of_processors();
}

int threads_of_ceed(void) { return threads_of("/cpu/self"); }

int threads_shared(int num, int num_users) { return num > num_users ? num / num_users : 1; }

int threads_open(const ArgCommand *command, const ThreadsChoice *choice, int otherwise, Ceed *ceed,
                 int *num) {
  const bool is_to_be_named = is_on_cpu(choice->resource) && !strstr(choice->resource, threads_option);
  const size_t size = strlen(choice->resource) + sizeof(threads_option) + 12;
  const int wanted = choice->wanted ? choice->wanted : otherwise ? otherwise : threads_of_process();
  char *resource = is_to_be_named ? malloc(size) : NULL;
  CeedInt found = 1;

  if (resource) snprintf(resource, size, "%s%s%d", choice->resource, threads_option, wanted);
  int code = cli_open_ceed(command->name, resource ? resource : choice->resource, ceed);
  if (!code && RitzGetNumThreads(*ceed, &found)) code = cli_report(command->name, *ceed);
  *num = (int)found;
  free(resource);
  return code;
}

// ---- Limits ----

static BpMachine find_limits_of_device(const RitzDeviceCounters *on, bool is_single) {
  const bool is_own = !is_single || sizeof(CeedScalar) == sizeof(float);
  RitzDeviceRates rates;

  if (RitzDeviceMeasure(on->driver, on->index, &rates)) return (BpMachine){0};
  return (BpMachine){.device = on->device,
                     .bandwidth = (double)rates.stream_bandwidth,
                     .peak = is_own ? (double)rates.flops : INFINITY};
}

BpMachine threads_find_limits(Ceed ceed, const ThreadsChoice *choice, int num, bool is_single) {
  const BpMachine unknown = {0};
  RitzDeviceCounters on;
  RitzMachine machine;

  if (!RitzDeviceGetCounters(ceed, &on) && on.driver) return find_limits_of_device(&on, is_single);
  if (!is_on_cpu(choice->resource) || RitzMachineGet(false, &machine)) return unknown;
  if (num > machine.num_processors) num = machine.num_processors;
  if (num > 1 && num < machine.num_threads && RitzMachineMeasure(num, &machine)) return unknown;
  const RitzMachineRates *rates = num > 1 ? &machine.all : &machine.one;
  return (BpMachine){
      .threads = num,
      .bandwidth = (double)rates->update_bandwidth,
      .peak = (double)(is_single || sizeof(CeedScalar) == sizeof(float) ? rates->single_flops
                                                                        : rates->double_flops),
      .cache = (double)machine.last_level_bytes,
  };
}

const char *threads_named(const BpMachine *limits, char text[THREADS_NAMED]) {
  if (limits->device)
    snprintf(text, THREADS_NAMED, "on %s", limits->device);
  else
    snprintf(text, THREADS_NAMED, "with %d thread%s", limits->threads, limits->threads > 1 ? "s" : "");
  return text;
}

void threads_show_limits(const BpMachine *limits) {
  char named[THREADS_NAMED];

  if (!limits->threads && !limits->device) return;
  if (isinf(limits->peak)) {
    cli_fact("limits", "%.1f GB/s %s", 1e-9 * limits->bandwidth, threads_named(limits, named));
    return;
  }
  cli_fact("limits", "%.1f GB/s and %.1f GFLOP/s %s", 1e-9 * limits->bandwidth, 1e-9 * limits->peak,
           threads_named(limits, named));
}
