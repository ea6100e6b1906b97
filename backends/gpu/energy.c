// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: a kernel of an apply that also gives u . A u, made on first use beside that of the apply: the
// slot operator_apply_energy. The few shares of the sum are added up by a kernel of their own.
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/vectors.h"
#include "core/operator.h"
#include "core/profile.h"
#include "emit/emit.h"

static int describe_energy(CeedOperator op, const RitzGpuOperator *apply, RitzGpuOperator *g) {
  g->plan = apply->plan;
  RITZ_TRY(ritz_plan_gpu_add_energy(op->obj.ceed, apply->target, &g->target));
  return ritz_gpu_gen_emit(op, g);
}

// Number of partial sums of u . A u that the kernel stores: one a warp, without warps one a thread
// (kernels/gpu/energy.h).
static int64_t count_shares(const RitzGpu *gpu, const RitzGpuOperator *g) {
  const int64_t num_blocks = (g->plan->num_elem + (int64_t)g->target->num_elem - 1) / g->target->num_elem;
  return num_blocks * (gpu->driver->has_warps ? (g->target->num_threads + 31) / 32 : g->target->num_threads);
}

int ritz_gpu_energy_prepare(CeedOperator op, int64_t *num_shares) {
  RitzGpuOperator *g, *energy;
  *num_shares = 0;
  if (!ritz_gpu(op->obj.ceed)->has_fused_kernels || op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  if (g->reason || g->route != RITZ_OPERATOR_ROUTE_FUSED || !ritz_plan_gpu_can_have_energy(g->plan))
    return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_action(op, g, RITZ_ACTION_ENERGY, describe_energy, &energy));
  RITZ_TRY(ritz_gpu_gen_load_action(op, g, RITZ_ACTION_ENERGY));
  *num_shares = count_shares(ritz_gpu(op->obj.ceed), energy);
  return CEED_ERROR_SUCCESS;
}

// out += A in for an operator that was prepared; shares in device memory.
static int apply_with_shares(CeedOperator op, CeedVector in, CeedVector out, double *shares) {
  Ceed ceed = op->obj.ceed;
  RitzGpuOperator *kernel = ((RitzGpuOperator *)op->data)->actions[RITZ_ACTION_ENERGY];
  double begin = 0;
  kernel->args[2 + kernel->target->num_args - 1].value.p = shares;
  if (!ceed->profile) return ritz_gpu_gen_apply_kernel(op, kernel, in, out, RITZ_APPLY_ADD);
  RITZ_TRY(ritz_profile_begin(ceed, &begin));
  return ritz_profile_end(op, RITZ_PROFILE_APPLY, begin,
                          ritz_gpu_gen_apply_kernel(op, kernel, in, out, RITZ_APPLY_ADD));
}

// ---- Operators ----

// The largest number of shares of u . A u that a sub-operator gives; 0: some sub-operator gives none.
static int count_most_shares(Ceed ceed, CeedInt num, const CeedOperator *subs, CeedVector in, CeedVector out,
                             int64_t *most) {
  *most = 0;
  for (CeedInt i = 0; i < num; i++) {
    int64_t num_shares = 0;
    if (subs[i]->num_elem == 0) continue;
    if (subs[i]->obj.ceed == ceed && ritz_operator_is_in_scalars(subs[i], in, out))
      RITZ_TRY(ritz_gpu_energy_prepare(subs[i], &num_shares));
    *most = num_shares > *most ? num_shares : *most;
    if (num_shares == 0) {
      *most = 0;
      return CEED_ERROR_SUCCESS;
    }
  }
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  int64_t num_zeros;
  const int64_t *zeros;
  double *scalars;
  CeedInt k;
  bool adds;
} Target;

static int collect(Ceed ceed, int64_t num_shares, const double *shares, bool adds, const Target *target,
                   CeedVector out) {
  const int64_t most = num_shares > target->num_zeros ? num_shares : target->num_zeros;
  double *partial;
  unsigned *arrived;
  void *array = NULL;
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_COLLECT, &kernel));
  RITZ_TRY(ritz_gpu_pass_memory(ceed, &partial, &arrived));
  if (target->num_zeros > 0) RITZ_TRY(ritz_vector_lock(out, RITZ_ACCESS_READ_WRITE, CEED_MEM_DEVICE, &array));
  const int64_t num_blocks = ritz_gpu_pass_blocks(ceed, most);
  int ierr = RITZ_GPU_RUN(ceed, kernel, "ritz_collect", num_blocks, RITZ_GPU_BLOCK, RITZ_LONG(num_shares),
                          RITZ_POINTER(shares), RITZ_INT(adds), RITZ_LONG(target->num_zeros),
                          RITZ_POINTER(target->zeros), RITZ_POINTER(array), RITZ_POINTER(partial),
                          RITZ_POINTER(arrived), RITZ_INT(target->k), RITZ_POINTER(target->scalars));
  if (!ierr) ierr = ritz_gpu_pass_finish(ceed, kernel, 1, num_blocks, target->k, target->scalars);
  return target->num_zeros > 0 ? ritz_vector_unlock(out, RITZ_ACCESS_READ_WRITE, &array, ierr) : ierr;
}

// Zeros are written after the last sub-operator.
static int apply_all(Ceed ceed, CeedInt num, const CeedOperator *subs, CeedVector in, CeedVector out,
                     void *shares, const Target *target) {
  Target this = *target;
  CeedInt last = num - 1;
  bool adds = target->adds;
  while (subs[last]->num_elem == 0) last--;
  for (CeedInt i = 0; i <= last; i++) {
    int64_t num_shares;
    if (subs[i]->num_elem == 0) continue;
    this.num_zeros = i == last ? target->num_zeros : 0;
    RITZ_TRY(ritz_gpu_energy_prepare(subs[i], &num_shares));
    RITZ_TRY(apply_with_shares(subs[i], in, out, shares));
    RITZ_TRY(collect(ceed, num_shares, shares, adds, &this, out));
    adds = true;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_operator_apply_energy(CeedOperator op, CeedVector in, CeedVector out, int64_t num_zeros,
                                   const int64_t *zeros, double *scalars, CeedInt k, bool adds,
                                   bool *is_done) {
  Ceed ceed = op->obj.ceed;
  const CeedInt num = op->is_composite ? op->num_sub : 1;
  const CeedOperator *subs = op->is_composite ? op->sub : &op;
  const Target target = {num_zeros, zeros, scalars, k, adds};
  int64_t most;
  void *shares;
  *is_done = false;
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_TRY(count_most_shares(ceed, num, subs, in, out, &most));
  if (most == 0) return CEED_ERROR_SUCCESS;
  *is_done = true;
  RITZ_TRY(ritz_gpu_work(ceed, RITZ_WORK_ENERGY, (size_t)most * sizeof(double), &shares));
  RITZ_TRY(ritz_operator_zero_outputs(op, out, RITZ_APPLY_ADD_ACTIVE));
  return apply_all(ceed, num, subs, in, out, shares, &target);
}
