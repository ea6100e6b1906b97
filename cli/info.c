// SPDX-License-Identifier: BSD-2-Clause
// `ritz info`: versions, how the library was built, backends, compiler and cache, devices, the processor as
// the system describes it (/proc on Linux; "unknown" elsewhere), and what it can do as measured.
#define _POSIX_C_SOURCE 200809L

#include <ritz/device.h>
#include <ritz/jit.h>
#include <ritz/machine.h>
#include <ritz/version.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/info.h"
#include "cli/threads.h"

typedef struct {
  bool measure;
  const char *mesh;
} InfoOptions;

static const ArgOption options_table[] = {
    ARG_OPTION("--measure", NULL, ARG_FLAG, offsetof(InfoOptions, measure), 0, 0,
               "measure the machine again instead of showing what was kept\n(about two seconds)"),
};

const ArgCommand info_command = {
    .name = "ritz info",
    .operand = "[MESH]",
    .operand_offset = offsetof(InfoOptions, mesh),
    .description =
        "Prints the version, how it was built, the backends, the compiler and the cache of kernels, the\n"
        "devices, the processor and what it can do. Of a MESH (as in ritz solve): its elements, boundary\n"
        "parts, regions with their measures, and groups of the file that have no use.",
    .notes =
        "update: seven arrays read and one updated, as operators do; triad: a = b + s c, bytes as the "
        "program\n"
        "asks for them. FMA: independent multiply-adds in registers, two operations each. These are the\n"
        "limits that 'ritz bench' compares with. They are measured on first use and kept. Devices are "
        "measured\n"
        "with --measure alone: stream, seven arrays read and one written; copy, the driver's.\n\n"
        "Exit status: 0 done; 1 failed; 2 wrong usage.",
    .examples = "ritz info\n"
                "ritz info --measure\n"
                "ritz info heat-sink.msh",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- The library ----

static void show_versions(void) {
  int v[3] = {0};
  bool release = false;
  CeedScalarType scalar = CEED_SCALAR_FP64;

  RitzGetVersion(&v[0], &v[1], &v[2]);
  cli_fact("ritz", "%d.%d.%d", v[0], v[1], v[2]);
  CeedGetVersion(&v[0], &v[1], &v[2], &release);
  CeedGetScalarType(&scalar);
  cli_fact("ceed api", "%d.%d.%d%s, CeedScalar is %s", v[0], v[1], v[2], release ? "" : "+development",
           scalar == CEED_SCALAR_FP32 ? "float" : "double");
}

static void show_build(void) {
  const char *text = NULL, *git = NULL;

  if (!CeedGetGitVersion(&git) && git) cli_fact("source", "%s", git);
  if (CeedGetBuildConfiguration(&text) || !text) return;
  for (const char *label = "build"; *text; label = NULL) {
    size_t n = strcspn(text, "\n");
    cli_fact(label, "%.*s", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void show_backends(void) {
  CeedInt num = 0;

  RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num; i++) {
    RitzBackendInfo info = {0};
    if (RitzGetBackendInfo(i, &info)) continue;
    const char *label = i ? NULL : "backends";
    if (!info.usable)
      cli_fact(label, "%-26s not usable: %s", info.resource, info.reason ? info.reason : "unknown");
    else if (info.alias_of)
      cli_fact(label, "%-26s served by %s", info.resource, info.alias_of);
    else
      cli_fact(label, "%-26s usable", info.resource);
  }
}

static void show_kernels(void) {
  const char *compiler = NULL, *version = NULL, *folder = NULL, *why = NULL;
  RitzJitEntry *entries = NULL;
  size_t num = 0, num_kernels = 0;

  RitzJitGetCompiler(&compiler, &version);
  if (compiler)
    cli_fact("compiler", "%s: %s", compiler, version ? version : "unknown version");
  else
    cli_fact("compiler", "none that can be run: set RITZ_CC");
  RitzJitGetFolder(&folder, &why);
  if (!folder) {
    cli_fact("cache", "none: %s", why ? why : "unknown");
    return;
  }
  if (RitzJitList(NULL, &num, &entries)) num = 0;
  for (size_t i = 0; i < num; i++) num_kernels += !entries[i].is_tuning && !entries[i].is_refused;
  free(entries);
  cli_fact("cache", "%s, %zu kernel%s", folder, num_kernels, num_kernels == 1 ? "" : "s");
}

// ---- Devices ----

static void show_rates_of_device(const char *driver, CeedInt index) {
  RitzDeviceRates rates;

  if (RitzDeviceMeasure(driver, index, &rates)) return;
  cli_fact(NULL, "%-8s stream %.1f GB/s, copy %.1f GB/s, FMA %.1f GFLOP/s (%s)", "",
           1e-9 * (double)rates.stream_bandwidth, 1e-9 * (double)rates.copy_bandwidth,
           1e-9 * (double)rates.flops, sizeof(CeedScalar) == sizeof(float) ? "float" : "double");
}

static void show_device(const char *label, const char *driver, CeedInt index) {
  enum { MAX_SHOWN = 74 };
  RitzDeviceFacts facts;
  char free_bytes[40] = "";

  if (RitzDeviceGetInfo(driver, index, &facts)) {
    cli_fact(label, "%-6s %d cannot be opened", driver, (int)index);
    return;
  }
  if (facts.free_bytes >= 0)
    snprintf(free_bytes, sizeof(free_bytes), " (%.1f free)", (double)facts.free_bytes / (1 << 30));
  cli_fact(label, "%-6s %d %.*s", driver, (int)index, MAX_SHOWN, facts.name);
  cli_fact(NULL, "%-8s %s", "", facts.arch);
  cli_fact(NULL, "%-8s %d units, %.1f GiB%s, %.4g KiB a block", "", facts.num_units,
           (double)facts.num_bytes / (1 << 30), free_bytes, (double)facts.shared_bytes / (1 << 10));
  cli_fact(NULL, "%-8s %.*s%s", "", MAX_SHOWN, facts.version,
           strlen(facts.version) > MAX_SHOWN ? " ..." : "");
}

static void show_devices(bool measure) {
  CeedInt num = 0;

  RitzDeviceGetNumDrivers(&num);
  for (CeedInt i = 0; i < num; i++) {
    const char *label = i ? NULL : "devices";
    RitzDriverFacts driver;
    if (RitzDeviceGetDriver(i, &driver)) continue;
    if (!driver.num_devices)
      cli_fact(label, "%-8s none: %s", driver.name, driver.reason ? driver.reason : "unknown");
    for (CeedInt k = 0; k < driver.num_devices; k++) {
      show_device(k ? NULL : label, driver.name, k);
      if (measure) show_rates_of_device(driver.name, k);
    }
    if (driver.compiler) cli_fact(NULL, "%-8s kernels are compiled by %s", "", driver.compiler);
  }
}

// ---- The processor ----

// Value of `key` in a file of lines "key : value", of the first such line; to be freed, NULL: there is none.
static char *read_value(const char *path, const char *key) {
  FILE *file = fopen(path, "r");
  char *line = NULL, *value = NULL;
  size_t size = 0;

  if (!file) return NULL;
  while (!value && getline(&line, &size, file) > 0) {
    char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
    if (strspn(line + strlen(key), " \t") != (size_t)(colon - line) - strlen(key)) continue;
    colon += 1 + strspn(colon + 1, " \t");
    value = strndup(colon, strcspn(colon, "\n"));
  }
  free(line);
  fclose(file);
  return value;
}

static bool has_word(const char *words, const char *word) {
  size_t n = strlen(word);

  for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
    bool begins = at == words || at[-1] == ' ', ends = at[n] == ' ' || at[n] == '\0';
    if (begins && ends) return true;
  }
  return false;
}

static void show_features(void) {
  static const struct {
    const char *flag, *name;
  } features[] = {{"avx2", "AVX2"},          {"fma", "FMA"},
                  {"avx512f", "AVX-512F"},   {"avx512dq", "AVX-512DQ"},
                  {"avx512vl", "AVX-512VL"}, {"neon", "NEON"},
                  {"asimd", "NEON"},         {"sve", "SVE"}};
  char *flags = read_value("/proc/cpuinfo", "flags"), text[200] = "";

  if (!flags) flags = read_value("/proc/cpuinfo", "Features");
  for (size_t i = 0; flags && i < sizeof(features) / sizeof(features[0]); i++) {
    if (!has_word(flags, features[i].flag)) continue;
    if (*text) strcat(text, ", ");
    strcat(text, features[i].name);
  }
  cli_fact("features", "%s", !flags ? "unknown" : *text ? text : "none of those that Ritz knows");
  free(flags);
}

static void show_cores(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  char *allowed = read_value("/proc/self/status", "Cpus_allowed_list");

  if (online > 0)
    cli_fact("cores", "%ld online, this process may use: %s", online, allowed ? allowed : "unknown");
  else
    cli_fact("cores", "unknown");
  cli_fact("threads",
           "%d of commands and of Python's ritz; %d of CeedInit(\"/cpu/self\"): see :threads=N, all",
           threads_of_process(), threads_of_ceed());
  free(allowed);
}

// "32 KiB", "1.5 MiB" into text[24].
static const char *shown_size(int64_t bytes, char text[24]) {
  if (bytes < 1 << 20)
    snprintf(text, 24, "%.4g KiB", (double)bytes / (1 << 10));
  else
    snprintf(text, 24, "%.4g MiB", (double)bytes / (1 << 20));
  return text;
}

static void show_caches(const RitzMachine *m) {
  char l1[24], l2[24], l3[24], all[24];

  if (!m->last_level_bytes) {
    cli_fact("caches", "unknown");
    return;
  }
  cli_fact("caches", "L1 data %s, L2 %s, L3 %s; last level, all processors: %s", shown_size(m->l1_bytes, l1),
           shown_size(m->l2_bytes, l2), m->l3_bytes ? shown_size(m->l3_bytes, l3) : "none",
           shown_size(m->last_level_bytes, all));
}

static void show_rates(const RitzMachineRates *rates, int num_threads) {
  cli_fact(NULL, "%3d thread%s %10.1f %10.1f %12.1f %10.1f", num_threads, num_threads > 1 ? "s" : " ",
           1e-9 * (double)rates->update_bandwidth, 1e-9 * (double)rates->triad_bandwidth,
           1e-9 * (double)rates->double_flops, 1e-9 * (double)rates->single_flops);
}

static void show_machine(const RitzMachine *m) {
  time_t measured = (time_t)m->measured;
  struct tm day;
  char date[40] = "unknown";

  if (localtime_r(&measured, &day)) strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &day);
  if (m->load_percent > 50)
    cli_fact("measured",
             "%s, beside other programs (load %.0f %%), hence too low; 'ritz info --measure' does it again",
             date, (double)m->load_percent);
  else
    cli_fact("measured", "%s; 'ritz info --measure' does it again", date);
  cli_fact(NULL, "            memory, GB/s          FMA of %d bits, GFLOP/s", m->vector_bits);
  cli_fact(NULL, "                update      triad       double     single");
  show_rates(&m->one, 1);
  if (m->num_threads > 1) show_rates(&m->all, m->num_threads);
}

static void show_processor(bool measure_again) {
  RitzMachine machine;
  bool failed = RitzMachineGet(measure_again, &machine);

  cli_fact("processor", "%s", failed ? "unknown" : machine.cpu_name);
  show_features();
  show_cores();
  if (failed) return;
  show_caches(&machine);
  show_machine(&machine);
}

int cli_info(int argc, char **argv) {
  InfoOptions options = {.measure = false};
  ArgsResult parsed = args_parse(&info_command, argc, argv, &options);

  if (parsed != ARGS_RUN) return parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  if (options.mesh) return cli_info_mesh(&info_command, options.mesh);
  show_versions();
  show_build();
  show_backends();
  show_kernels();
  show_devices(options.measure);
  show_processor(options.measure);
  return CLI_OK;
}
