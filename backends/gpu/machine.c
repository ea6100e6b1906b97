// SPDX-License-Identifier: BSD-2-Clause
// What plans of fused kernels know of a device, and of the context of a QFunction on it.
//
// Environment: RITZ_GPU_MMA=on or off, RITZ_GPU_VECTORS=1, 2, 4 or 8 (contracts in plan/gpu.h).
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"
#include "base/environment.h"

// Bytes of private memory for all threads of a block together on a device that runs threads one by one (PoCL
// keeps them on the stack of a host thread); 0 on others: no limit.
static CeedSize private_bytes(const RitzDeviceInfo *info) {
  enum { UNLIMITED = 2 << 20 }; // stack of a thread without a limit
  struct rlimit limit;
  if (info->warp_size != 1) return 0;
  const bool is_known = !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < (rlim_t)INT_MAX;
  return (is_known ? (CeedSize)limit.rlim_cur : UNLIMITED) / 2; // the estimate is a rough one
}

static int wanted_mma(void) {
  const char *value = ritz_environment(ENV_RITZ_GPU_MMA);
  return !value ? 0 : !strcmp(value, "on") ? 1 : !strcmp(value, "off") ? -1 : 0;
}

static CeedInt wanted_vectors(void) {
  const char *value = ritz_environment(ENV_RITZ_GPU_VECTORS);
  const bool is_number = value && strlen(value) == 1 && strchr("1248", value[0]);
  return is_number ? value[0] - '0' : 0;
}

RitzGpuMachine ritz_gpu_gen_machine(CeedOperator op) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const RitzDeviceInfo *info = gpu->info;
  return (RitzGpuMachine){.has_rows = ritz_gpu_restriction_has_rows,
                          .num_banks = 32,
                          .max_threads = info->max_threads,
                          .shared_bytes = (CeedInt)info->dynamic_shared_bytes,
                          .shared_bytes_processor = (CeedInt)info->shared_bytes_multiprocessor,
                          .registers_processor = info->registers_multiprocessor,
                          .has_mma = ritz_gpu_has_mma(info),
                          .mma = wanted_mma(),
                          .vectors = wanted_vectors(),
                          .private_bytes = private_bytes(info),
                          .context_bytes = ritz_gpu_context_copies(op->qf)};
}
