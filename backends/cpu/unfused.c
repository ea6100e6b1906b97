// SPDX-License-Identifier: BSD-2-Clause
// The ahead-of-time kernel (contract in unfused.h). Arrays at the points are the arguments of the user's
// function themselves: [component][Q] vectors, which it sees as [component][Q * lanes].
#include "backends/cpu/unfused.h"

#include "backends/cpu/steps.h"

// The next part of the memory at `base`, or NULL while it is only measured.
static void *take(char *base, int64_t *used, int64_t size) {
  void *part = base ? base + *used : NULL;
  *used += (size + 63) / 64 * 64;
  return part;
}

// Lays the memory of one thread out from `base` on (NULL: only measures), returns the bytes used.
static int64_t lay_out(const RitzSteps *list, char *base, RitzCpuRun *run) {
  const int num_arguments = list->plan->num_in_arguments + list->plan->num_out_arguments;
  int64_t used = 0;
  run->buffers = take(base, &used, list->num_buffers * (int64_t)sizeof(*run->buffers));
  run->call = take(base, &used, num_arguments * (int64_t)sizeof(*run->call));
  if (base) ritz_cpu_place_buffers(list, (RitzVec *)(base + used), run->buffers);
  return used + list->size * (int64_t)sizeof(RitzVec);
}

int64_t ritz_unfused_work_bytes(const RitzUnfused *unfused) {
  RitzCpuRun run;
  return lay_out(unfused->plan->steps, NULL, &run);
}

int ritz_unfused_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  const RitzUnfused *unfused = args->plan;
  RitzCpuRun run = {.list = unfused->plan->steps, .how = unfused->target->spaces, .args = args};
  lay_out(run.list, args->work, &run);
  for (int64_t n = begin; n < end; n++) {
    const RitzBatch b = ritz_batch(args, n, end);
    ritz_run_hook(args->before, n);
    const int code = ritz_cpu_run_steps(&run, &b);
    if (code) return code;
    ritz_run_hook(args->after, n);
  }
  return 0;
}
