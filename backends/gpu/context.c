// SPDX-License-Identifier: BSD-2-Clause
// What all files ask of a context: its threads on the host, what its device and driver can, words to users
// where a kernel is missing (contracts in backends/gpu/context.h).
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/context.h"

int ritz_gpu_run_ranges_slots(Ceed ceed, int *num_slots) {
  *num_slots = ritz_team_size(ritz_gpu(ceed)->hosts);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data) {
  RitzTeam hosts = ritz_gpu(ceed)->hosts;
  return ritz_team_run_ranges(hosts, ritz_team_size(hosts), n, RITZ_RANGE_GRAIN, run, data);
}

bool ritz_gpu_has_mma(const RitzDeviceInfo *info) {
  return !strncmp(info->arch, "sm_", 3) && strtol(info->arch + 3, NULL, 10) >= 80;
}

bool ritz_gpu_compiles_beside(Ceed ceed) { return ritz_gpu(ceed)->driver->compiles_beside; }

struct Ceed_private ritz_gpu_silent_copy(Ceed ceed) {
  struct Ceed_private copy = *ceed;
  copy.error_handler = CeedErrorReturn;
  return copy;
}

int ritz_gpu_delegate(Ceed ceed, const char *what, const char *reason) {
  return ritz_warn_once(ceed, ceed->resource, what, reason, "the reference backend runs it");
}
