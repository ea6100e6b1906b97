// SPDX-License-Identifier: BSD-2-Clause
// The ahead-of-time kernel (contract in unfused.h). Arrays at the points are the arguments of the user's
// function themselves: [component][Q] vectors, which it sees as [component][Q * lanes]. Compiled twice, as
// steps.c; the one for CeedScalar chooses between both.
#include "backends/cpu/unfused.h"

#include "backends/cpu/steps.h"

#define unfused_kernel RITZ_STEPS_NAME(ritz_unfused_kernel)
int unfused_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end);

int unfused_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  const RitzUnfused *unfused = args->plan;
  RitzCpuRun run = {.list = unfused->plan->steps, .how = unfused->target->spaces, .args = args};
  ritz_cpu_begin_run(args->work, &run);
  for (int64_t n = begin; n < end; n++) {
    const RitzBatch b = ritz_batch(args, n, end);
    ritz_run_hook(args->before, n);
    const int code = ritz_cpu_run_steps(&run, &b);
    if (code) return code;
    ritz_run_hook(args->after, n);
  }
  return 0;
}

// ---- Both precisions ----

#ifndef RITZ_REAL_IS_FP32
#ifdef CEED_SCALAR_IS_FP32
#define ritz_unfused_kernel_single ritz_unfused_kernel
#define ritz_cpu_run_bytes_single  ritz_cpu_run_bytes
#else
int ritz_unfused_kernel_single(const RitzKernelArgs *args, int64_t begin, int64_t end);
int64_t ritz_cpu_run_bytes_single(const RitzSteps *list);
#endif

RitzKernel ritz_unfused_find(CeedScalarType precision) {
  return precision == CEED_SCALAR_TYPE ? ritz_unfused_kernel : ritz_unfused_kernel_single;
}

CeedInt ritz_unfused_lanes(CeedScalarType precision) {
  return precision == CEED_SCALAR_TYPE ? RITZ_UNFUSED_LANES : RITZ_UNFUSED_SINGLE_LANES;
}

int64_t ritz_unfused_work_bytes(const RitzUnfused *unfused) {
  const RitzSteps *list = unfused->plan->steps;
  return list->plan->precision == CEED_SCALAR_TYPE ? ritz_cpu_run_bytes(list)
                                                   : ritz_cpu_run_bytes_single(list);
}
#endif
