// SPDX-License-Identifier: BSD-2-Clause
// The public functions of ritz/machine.h, and what the system tells about processor and memory (/proc and
// /sys on Linux; unknown elsewhere).
#define _DEFAULT_SOURCE  // getloadavg
#define _DARWIN_C_SOURCE // the same on macOS
#include "machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

// ---- Facts ----

// The first line of a small file, or "".
static void read_line(const char *path, char *text, int size) {
  FILE *file = fopen(path, "r");

  text[0] = '\0';
  if (!file) return;
  if (!fgets(text, size, file)) text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  fclose(file);
}

void ritz_machine_value(const char *name, const char *otherwise, char *value, int size) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[256];

  snprintf(value, (size_t)size, "%s", otherwise);
  if (!file) return;
  while (fgets(line, sizeof(line), file)) {
    const char *text = strchr(line, ':');
    if (strncmp(line, name, strlen(name)) != 0 || !text) continue;
    text += 1 + strspn(text + 1, " \t");
    snprintf(value, (size_t)size, "%.*s", (int)strcspn(text, "\n"), text);
    break;
  }
  fclose(file);
}

int64_t ritz_machine_load_percent(void) {
  double minute = 0;
  const long num = sysconf(_SC_NPROCESSORS_ONLN);

  return getloadavg(&minute, 1) == 1 && num > 0 ? (int64_t)(100 * minute / (double)num) : 0;
}

// Number of processors in a list such as 0-7,64-71.
static int count_processors(const char *list) {
  int num = 0, first, last;

  while (*list) {
    int found = sscanf(list, "%d-%d", &first, &last);
    if (found < 1) break;
    num += found == 2 ? last - first + 1 : 1;
    list += strcspn(list, ",");
    list += *list == ',';
  }
  return num > 0 ? num : 1;
}

static void read_cache_line(int index, const char *name, char *text, int size) {
  char path[120];

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  read_line(path, text, size);
}

// Looks at one cache of the first processor; false: there are no more.
static bool add_cache(int index, RitzMachine *machine) {
  int64_t *const sizes[] = {&machine->l1_bytes, &machine->l2_bytes, &machine->l3_bytes};
  char level[16], type[24], size[24], shared[256];
  int number;

  read_cache_line(index, "level", level, sizeof(level));
  if (!*level) return false;
  read_cache_line(index, "type", type, sizeof(type));
  read_cache_line(index, "size", size, sizeof(size));
  read_cache_line(index, "shared_cpu_list", shared, sizeof(shared));
  number = atoi(level);
  if (number < 1 || number > 3 || !strcmp(type, "Instruction")) return true;
  int64_t bytes = atoll(size) * (strchr(size, 'M') ? 1 << 20 : strchr(size, 'K') ? 1 << 10 : 1);
  int num_sharing = count_processors(shared);
  *sizes[number - 1] = bytes;
  // Caches are listed from the first level to the last.
  machine->last_level_bytes = bytes * ((machine->num_processors + num_sharing - 1) / num_sharing);
  return true;
}

static void find_facts(RitzMachine *machine) {
  *machine =
      (RitzMachine){.num_processors = ritz_num_processors(), .vector_bits = ritz_machine_vector_bits()};
  ritz_machine_value("model name", "unknown", machine->cpu_name, sizeof(machine->cpu_name));
  for (int index = 0; add_cache(index, machine); index++) continue;
}

// Bytes of memory that this process may have, as far as the system tells.
static double allowed_memory(void) {
  double bytes = INFINITY;
  char text[40];

  read_line("/sys/fs/cgroup/memory.max", text, sizeof(text));
  if (atoll(text) > 0) bytes = (double)atoll(text); // "max": no limit
#ifdef _SC_PHYS_PAGES
  double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (physical > 0) bytes = fmin(bytes, physical);
#endif
  return bytes;
}

// Bytes of all arrays together: so many that next to nothing stays in the caches from one run to the next.
static size_t streamed_bytes(const RitzMachine *machine, size_t max_bytes) {
  const double smallest = 64 << 20, unknown = 256 << 20;
  double caches = (double)machine->last_level_bytes,
         bytes = caches > 0 ? fmax(4 * caches, smallest) : unknown;

  return (size_t)fmin(fmin(bytes, (double)max_bytes), allowed_memory() / 4);
}

// ---- Measuring ----

static double now(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int ritz_machine_time(RitzTeam team, int (*run)(void *data, int thread), void *data, double seconds,
                      double *shortest) {
  double total = 0;

  *shortest = INFINITY;
  for (int num = 0; num < 3 || total < seconds; num++) {
    double start = now();
    RITZ_TRY(ritz_team_run(team, run, data));
    double elapsed = fmax(now() - start, 1e-9); // the clock may stand still
    *shortest = fmin(*shortest, elapsed);
    total += elapsed;
  }
  return CEED_ERROR_SUCCESS;
}

static int measure_rates(int num_threads, RitzMachineEffort effort, const RitzMachine *machine,
                         RitzMachineRates *rates) {
  RitzTeam team = NULL;
  int ierr;

  RITZ_TRY(ritz_team_create(NULL, num_threads, &team));
  RITZ_TRY_CLEANUP(
      ritz_machine_bandwidth(team, streamed_bytes(machine, effort.max_bytes), effort.seconds, rates));
  RITZ_TRY_CLEANUP(ritz_machine_flops(team, effort.seconds, rates));
cleanup:
  ritz_team_destroy(&team);
  return ierr;
}

int ritz_machine_measure(int num_threads, RitzMachineEffort effort, RitzMachine *machine) {
  find_facts(machine);
  machine->num_threads = num_threads ? num_threads : machine->num_processors;
  machine->load_percent = ritz_machine_load_percent();
  RITZ_TRY(measure_rates(1, effort, machine, &machine->one));
  machine->all = machine->one;
  if (machine->num_threads > 1) RITZ_TRY(measure_rates(machine->num_threads, effort, machine, &machine->all));
  machine->measured = (int64_t)time(NULL);
  return CEED_ERROR_SUCCESS;
}

int ritz_machine_find(RitzMachine *machine, bool *found) {
  find_facts(machine);
  return ritz_machine_load(machine, found);
}

int ritz_machine_get(bool measure_again, RitzMachineEffort effort, RitzMachine *machine) {
  bool found = false;

  if (!measure_again) RITZ_TRY(ritz_machine_find(machine, &found));
  if (found) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_machine_measure(0, effort, machine));
  return ritz_machine_keep(machine);
}

// ---- Public functions ----

static const RitzMachineEffort full_effort = {.seconds = 0.2, .max_bytes = (size_t)1 << 30};

int RitzMachineMeasure(int num_threads, RitzMachine *machine) {
  RITZ_REQUIRE(machine != NULL, NULL, CEED_ERROR_INCOMPATIBLE, "%s: argument 'machine' is NULL", __func__);
  RITZ_REQUIRE(num_threads >= 0, NULL, CEED_ERROR_INCOMPATIBLE,
               "%s: %d threads; needed at least 1, or 0 for all processors", __func__, num_threads);
  return ritz_machine_measure(num_threads, full_effort, machine);
}

int RitzMachineGet(bool measure_again, RitzMachine *machine) {
  RITZ_REQUIRE(machine != NULL, NULL, CEED_ERROR_INCOMPATIBLE, "%s: argument 'machine' is NULL", __func__);
  return ritz_machine_get(measure_again, full_effort, machine);
}
