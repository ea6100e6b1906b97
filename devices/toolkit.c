// SPDX-License-Identifier: BSD-2-Clause
// Libraries of the CUDA toolkit (contract in devices/toolkit.h).
#include "devices/toolkit.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>

#include "base/environment.h"

typedef struct {
  const char *const *names;
  bool (*take)(const char *path);
} Wanted;

// folder "": where the loader looks.
static bool look_in(const Wanted *wanted, const char *folder) {
  char path[4096];

  for (const char *const *name = wanted->names; *name; name++) {
    int length = snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", *name);
    if (length < (int)sizeof(path) && wanted->take(path)) return true;
  }
  return false;
}

// The folder of a toolkit that a variable names.
static bool look_in_toolkit(const Wanted *wanted, RitzVariable variable) {
  const char *const below[] = {"lib64", "lib"};
  const char *toolkit = ritz_environment(variable);
  char folder[4096];
  bool is_found = false;

  for (size_t i = 0; i < 2 && toolkit && !is_found; i++) {
    int length = snprintf(folder, sizeof(folder), "%s/%s", toolkit, below[i]);
    is_found = length < (int)sizeof(folder) && look_in(wanted, folder);
  }
  return is_found;
}

// The newest of the toolkits beside each other.
static bool look_in_versions(const Wanted *wanted) {
  glob_t found;
  bool is_found = false;

  if (glob("/usr/local/cuda-*/lib64", 0, NULL, &found)) return false;
  for (size_t i = found.gl_pathc; i > 0 && !is_found; i--) is_found = look_in(wanted, found.gl_pathv[i - 1]);
  globfree(&found);
  return is_found;
}

bool ritz_toolkit_look(const char *const *names, bool (*take)(const char *path)) {
  const Wanted wanted = {names, take};

  return look_in_toolkit(&wanted, ENV_CUDA_HOME) || look_in_toolkit(&wanted, ENV_CUDA_PATH) ||
         look_in(&wanted, "") || look_in(&wanted, "/usr/local/cuda/lib64") || look_in_versions(&wanted);
}
