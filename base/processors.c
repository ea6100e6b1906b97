// SPDX-License-Identifier: BSD-2-Clause
// Processors that this process may use (contract in base/threads.h): those of its affinity mask, and no more
// than its control groups let it keep busy (Linux, versions 2 and 1; containers and schedulers set them).
#define _GNU_SOURCE      // sched_getaffinity on Linux
#define _DARWIN_C_SOURCE // _SC_NPROCESSORS_ONLN on macOS
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/threads.h"

// ---- Quotas ----

enum { MAX_PATH = 4096 };

// Processor time over time, of the first line of one file, "QUOTA PERIOD", or of two; INFINITY: no limit.
static double read_share(const char *folder, const char *file, const char *file_of_period) {
  const char *const files[] = {file, file_of_period};
  double values[2] = {0, 0};
  int num = 0;

  for (int i = 0; i < 2 && files[i]; i++) {
    char path[MAX_PATH];
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
    FILE *stream = length < MAX_PATH ? fopen(path, "r") : NULL;
    const int found = stream ? fscanf(stream, "%lf %lf", &values[num], &values[num ? num : 1]) : 0;

    if (stream) fclose(stream);
    if (found > 0) num += found;
  }
  return num == 2 && values[0] > 0 && values[1] > 0 ? values[0] / values[1] : INFINITY;
}

// The smallest share of a group and those above it. In a container the mount may be the group itself.
static double smallest_share(const char *mount, const char *group, bool is_first_version) {
  char folder[MAX_PATH];
  double share = INFINITY;

  if (snprintf(folder, sizeof(folder), "%s%s", mount, group) >= MAX_PATH) return share;
  for (size_t length = strlen(folder); length >= strlen(mount); length--) {
    if (folder[length] != '/' && folder[length] != '\0') continue;
    folder[length] = '\0';
    share = fmin(share, is_first_version ? read_share(folder, "cpu.cfs_quota_us", "cpu.cfs_period_us")
                                         : read_share(folder, "cpu.max", NULL));
  }
  return share;
}

// "cpu" among "cpuacct,cpu".
static bool has_cpu(const char *controllers) {
  for (const char *word = controllers; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
    if (!strncmp(word, "cpu", 3) && (word[3] == ',' || !word[3])) return true;
  }
  return false;
}

// A line "NUMBER:CONTROLLERS:GROUP"; of version 2 without controllers.
static double share_of_line(const char *root, char *line) {
  char mount[MAX_PATH], *controllers = strchr(line, ':');
  char *group = controllers ? strchr(controllers + 1, ':') : NULL;

  if (!group) return INFINITY;
  *group++ = '\0';
  const bool is_first_version = *++controllers != '\0';
  if (is_first_version && !has_cpu(controllers)) return INFINITY;
  if (snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s", root, is_first_version ? "/cpu" : "") >= MAX_PATH)
    return INFINITY;
  return smallest_share(mount, group, is_first_version);
}

double ritz_processor_quota(const char *root) {
  char path[MAX_PATH], line[MAX_PATH];
  double quota = INFINITY;

  if (snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) >= MAX_PATH) return quota;
  FILE *stream = fopen(path, "r");
  while (stream && fgets(line, sizeof(line), stream)) {
    line[strcspn(line, "\n")] = '\0';
    quota = fmin(quota, share_of_line(root, line));
  }
  if (stream) fclose(stream);
  return quota;
}

// Whole processors, at least one; read once.
static int num_by_quota(void) {
  static _Atomic int num;
  int found = atomic_load(&num);

  if (found) return found;
  const double quota = ceil(ritz_processor_quota(""));
  found = quota < INT_MAX ? (int)quota : INT_MAX;
  atomic_store(&num, found);
  return found;
}

// ---- Processors ----

static int num_in_mask(void) {
#if defined(__linux__)
  cpu_set_t mask;
  if (!sched_getaffinity(0, sizeof(mask), &mask)) return CPU_COUNT(&mask);
#endif
  long num = sysconf(_SC_NPROCESSORS_ONLN);
  return num > 1 ? (int)num : 1;
}

int ritz_num_processors(void) {
  const int num = num_in_mask(), most = num_by_quota();

  return num < most ? num : most;
}

int ritz_threads_from_environment(void) {
  const char *text = ritz_environment(ENV_OMP_NUM_THREADS);
  const long num = text ? strtol(text, NULL, 10) : 0;
  return num < 1 ? 0 : num > RITZ_MAX_THREADS ? RITZ_MAX_THREADS : (int)num;
}
