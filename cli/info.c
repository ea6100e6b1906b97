// SPDX-License-Identifier: BSD-2-Clause
// `ritz info`: versions, how the library was built, backends, and the processor as the kernel describes it
// (/proc and /sys on Linux; "unknown" elsewhere).
#define _POSIX_C_SOURCE 200809L

#include <ritz/version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"

static const ArgCommand command = {
    .name = "ritz info",
    .description = "Prints the version, how it was built, the backends and the processor.",
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
  bool gpu = false;

  RitzGetNumBackends(&num);
  for (CeedInt i = 0; i < num; i++) {
    RitzBackendInfo info = {0};
    if (RitzGetBackendInfo(i, &info)) continue;
    const char *label = i ? NULL : "backends";
    if (!strncmp(info.resource, "/gpu", 4) && info.usable) gpu = true;
    if (!info.usable)
      cli_fact(label, "%-26s not usable: %s", info.resource, info.reason ? info.reason : "unknown");
    else if (info.alias_of)
      cli_fact(label, "%-26s served by %s", info.resource, info.alias_of);
    else
      cli_fact(label, "%-26s usable", info.resource);
  }
  if (!gpu) cli_fact(num ? NULL : "backends", "%-26s not in this version", "/gpu");
}

// ---- The processor ----

// The value of the first line "key : value" of a file of that form; to be freed, NULL when there is none.
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
  free(allowed);
}

// One line of a small file below the first core's cache folder, or "".
static void read_cache_file(int index, const char *name, char *text, int size) {
  char path[120];
  FILE *file;

  text[0] = '\0';
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  file = fopen(path, "r");
  if (!file) return;
  if (!fgets(text, size, file)) text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  fclose(file);
}

static void show_caches(void) {
  char text[400] = "", level[8], type[24], size[24], shared[40];
  size_t n = 0;

  for (int i = 0; i < 8; i++) {
    read_cache_file(i, "level", level, sizeof(level));
    read_cache_file(i, "type", type, sizeof(type));
    read_cache_file(i, "size", size, sizeof(size));
    read_cache_file(i, "shared_cpu_list", shared, sizeof(shared));
    if (!*level || !*size || n >= sizeof(text)) continue;
    const char *kind = !strcmp(type, "Data") ? " data" : !strcmp(type, "Instruction") ? " instructions" : "";
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%sL%s%s %s (cores %s)", n ? ", " : "", level, kind,
                          size, shared);
  }
  cli_fact("caches", "%s", n ? text : "unknown");
}

static void show_processor(void) {
  char *model = read_value("/proc/cpuinfo", "model name");

  cli_fact("processor", "%s", model ? model : "unknown");
  free(model);
  show_features();
  show_cores();
  show_caches();
}

int cli_info(int argc, char **argv) {
  char none;
  ArgsResult parsed = args_parse(&command, argc, argv, &none);

  if (parsed != ARGS_RUN) return parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  show_versions();
  show_build();
  show_backends();
  show_processor();
  return CLI_OK;
}
