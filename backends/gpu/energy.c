// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: a kernel of an apply that also gives u . A u, made on first use beside that of the apply.
// Called by cg.c.
#include "backends/gpu/gen.h"
#include "core/profile.h"
#include "emit/emit.h"

struct RitzGpuEnergyKernel {
  RitzGpuTarget target;   // that of the apply, with energy
  RitzGpuArg *args;       // owned: the target's
  RitzGpuOperator kernel; // of the apply's plan and this target; without program: not made yet
};

void ritz_gpu_energy_destroy(Ceed ceed, RitzGpuEnergyKernel **energy) {
  RitzGpuEnergyKernel *e = *energy;
  if (!e) return;
  ritz_gpu_gen_release(ceed, &e->kernel);
  RITZ_FREE(&e->args);
  RITZ_FREE(energy);
}

static int load_energy_program(CeedOperator op, const RitzGpuOperator *apply, RitzGpuEnergyKernel *e) {
  char *source = NULL;
  RITZ_TRY(ritz_plan_gpu_add_energy(op->obj.ceed, apply->target, &e->target, &e->args));
  e->kernel = (RitzGpuOperator){.op = op,
                                .plan = apply->plan,
                                .target = &e->target,
                                .context_bytes = apply->context_bytes,
                                .is_writable = apply->is_writable};
  RITZ_TRY(ritz_gpu_qfunction_load(op->qf, &source));
  const int ierr = ritz_emit_gpu(op->obj.ceed, apply->plan, &e->target, source, &e->kernel.text);
  RITZ_FREE(&source);
  return ierr ? ierr : ritz_gpu_gen_load(op, &e->kernel, "ritz_operator");
}

static int make_energy_kernel(CeedOperator op, RitzGpuOperator *apply) {
  if (apply->energy) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &apply->energy));
  const int ierr = load_energy_program(op, apply, apply->energy);
  if (ierr) ritz_gpu_energy_destroy(op->obj.ceed, &apply->energy); // the next call tries again
  return ierr;
}

// Number of partial sums of u . A u that the kernel stores: one a warp, without warps one a thread
// (kernels/gpu/energy.h).
static int64_t count_shares(const RitzGpu *gpu, const RitzGpuOperator *g) {
  const int64_t num_blocks = (g->plan->num_elem + (int64_t)g->target->num_elem - 1) / g->target->num_elem;
  return num_blocks * (gpu->driver->has_warps ? (g->target->num_threads + 31) / 32 : g->target->num_threads);
}

int ritz_gpu_energy_prepare(CeedOperator op, int64_t *num_shares) {
  RitzGpuOperator *g;
  *num_shares = 0;
  if (op->obj.ceed->backend.operator_apply != ritz_gpu_gen_apply || op->is_at_points)
    return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  if (g->reason || !ritz_plan_gpu_can_have_energy(g->plan)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(make_energy_kernel(op, g));
  *num_shares = count_shares(ritz_gpu(op->obj.ceed), &g->energy->kernel);
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_energy_apply(CeedOperator op, CeedVector in, CeedVector out, double *shares) {
  Ceed ceed = op->obj.ceed;
  RitzGpuOperator *kernel = &((RitzGpuOperator *)op->data)->energy->kernel;
  double begin = 0;
  kernel->args[2 + kernel->target->num_args - 1].value.p = shares;
  if (!ceed->profile) return ritz_gpu_gen_apply_kernel(op, kernel, in, out, RITZ_APPLY_ADD);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return ritz_profile_end(op, RITZ_PROFILE_APPLY, begin,
                          ritz_gpu_gen_apply_kernel(op, kernel, in, out, RITZ_APPLY_ADD));
}
