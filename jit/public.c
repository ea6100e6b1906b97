// SPDX-License-Identifier: BSD-2-Clause
// The functions of ritz/jit.h.
#include "base/error.h"
#include "base/memory.h"
#include "jit/jit.h"

int RitzJitGetFolder(const char **folder, const char **why) {
  const char *reason = NULL;

  *folder = ritz_jit_folder(&reason);
  if (why) *why = *folder ? NULL : reason;
  return CEED_ERROR_SUCCESS;
}

int RitzJitList(Ceed ceed, size_t *num, RitzJitEntry **entries) {
  RITZ_OPTIONAL(NULL, ceed);
  RITZ_ARGUMENT(ceed, num);
  RITZ_ARGUMENT(ceed, entries);
  RITZ_TRY(ritz_jit_list(ceed, num, entries));
  ritz_memory_give(*entries);
  return CEED_ERROR_SUCCESS;
}

int RitzJitClear(Ceed ceed, size_t *num_removed) {
  size_t num;

  RITZ_OPTIONAL(NULL, ceed);
  return ritz_jit_clear(ceed, num_removed ? num_removed : &num);
}

int RitzJitGetCounters(RitzJitCounters *counters) {
  ritz_jit_counters(counters);
  return CEED_ERROR_SUCCESS;
}

int RitzJitStart(void) { return ritz_jit_start(); }

int RitzJitGetCompiler(const char **path, const char **version) {
  if (path) *path = ritz_jit_compiler();
  if (version) *version = ritz_jit_compiler_version();
  return CEED_ERROR_SUCCESS;
}
