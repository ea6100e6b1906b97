// SPDX-License-Identifier: BSD-2-Clause
// Dense bases in plans for devices (contract in plan/gpu-dense.h).
//
// These kernels are bound by the number of loads: an entry of a matrix takes two cycles of a
// multiprocessor's first cache for a warp, a multiply-add one of its arithmetic. So a thread works on several
// elements at once.
#include <math.h>

#include "plan/gpu-dense.h"
#include "plan/gpu-simple-inputs.h"

bool ritz_plan_gpu_is_nontensor(const RitzPlan *plan) {
  for (int b = 0; b < plan->num_bases; b++) {
    if (ritz_plan_has_grid(&plan->bases[b])) return false;
  }
  return true;
}

// ---- Memory of the block ----

static CeedInt next_odd(CeedInt n) { return n | 1; }

// Groups begin in different banks: threads side by side may be of several.
static CeedInt group_size(const RitzPlan *plan, const RitzGpuTarget *t, const RitzPlanSpace *s) {
  const CeedInt points = (ritz_gpu_dense_values(plan, s) + ritz_gpu_dense_derivatives(plan, s)) * plan->Q;
  const CeedInt length = s->num_comp * t->elem_per_thread * (s->is_input ? s->num_nodes : points);
  return next_odd(length / t->elem_per_pack) * t->elem_per_pack;
}

// Points of outputs take over the memory of inputs' nodes.
void ritz_plan_gpu_place_dense(const RitzPlan *plan, RitzGpuTarget *t) {
  CeedInt next[2] = {0, 0};
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (!ritz_gpu_is_dense(plan, space)) continue;
    t->spaces[s].dense_first = next[space->is_input];
    t->spaces[s].dense_group = group_size(plan, t, space);
    next[space->is_input] += t->num_elem / t->elem_per_thread * t->spaces[s].dense_group;
  }
  t->dense_scalars = CeedIntMax(next[0], next[1]);
}

// ---- Elements of a thread ----

// Scalars that a thread keeps for a point of inputs or outputs, whichever are more.
static CeedInt count_kept(const RitzPlan *plan) {
  CeedInt kept[2] = {0, 0};
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (ritz_gpu_is_dense(plan, s))
      kept[s->is_input] +=
          s->num_comp * (ritz_gpu_dense_values(plan, s) + ritz_gpu_dense_derivatives(plan, s));
  }
  return CeedIntMax(kept[0], kept[1]);
}

static CeedInt most_components(const RitzPlan *plan) {
  CeedInt most = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    if (ritz_gpu_is_dense(plan, &plan->spaces[i])) most = CeedIntMax(most, plan->spaces[i].num_comp);
  }
  return most;
}

static CeedInt choose_elem_per_thread(const RitzPlan *plan, const RitzGpuTarget *t) {
  const CeedInt kept = count_kept(plan) * ritz_gpu_real_bytes(plan), num_comp = most_components(plan);
  CeedInt per_thread = num_comp > 0 ? RITZ_GPU_MOST_ELEM_PER_THREAD : 1;
  if (num_comp > 0 && t->choice.elem_per_thread > 0)
    return CeedIntMin(t->choice.elem_per_thread, RITZ_GPU_MOST_ELEM_PER_THREAD);
  while (per_thread > 1 &&
         (per_thread * kept > RITZ_GPU_KEPT_BYTES || per_thread * num_comp > RITZ_GPU_MOST_REUSE))
    per_thread /= 2;
  return per_thread;
}

// Sets the layout of elements in shared memory: interleaved in packs of 16 bytes, or one by one.
static void set_elem_per_thread(const RitzPlan *plan, CeedInt per_thread, RitzGpuTarget *t) {
  const CeedInt pack = ritz_gpu_real_pack(plan);
  t->elem_per_thread = per_thread >= pack ? per_thread / pack * pack : 1;
  t->elem_per_pack = per_thread >= pack ? pack : 1;
}

// ---- Points of a thread ----

// One of each of its elements; without bases several of one element, where there are more than a block should
// have threads.
static void choose_points(const RitzPlan *plan, RitzGpuTarget *t) {
  CeedInt points = 1;
  if (t->elem_per_thread == 1 && most_components(plan) == 0) {
    while (plan->Q % points || plan->Q / points > RITZ_GPU_DENSE_MOST) points++;
    if (points > RITZ_GPU_POINTS_OF_THREAD) points = 1;
  }
  t->Q_1d = points * t->elem_per_thread;
  t->num_lines = plan->Q / points;
}

// ---- Block ----

static CeedInt round_up(CeedInt n, CeedInt to) { return (n + to - 1) / to * to; }

static bool is_summed(const RitzPlan *plan, int b) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].basis == b && ritz_gpu_is_dense(plan, &plan->spaces[s])) return true;
  }
  return false;
}

static double matrix_bytes(const RitzPlan *plan) {
  double bytes = 0;
  for (int b = 0; b < plan->num_bases; b++) {
    const RitzPlanBasis *basis = &plan->bases[b];
    if (!is_summed(plan, b)) continue;
    bytes += (double)(basis->q_comp_interp + basis->q_comp_deriv) * basis->P * basis->Q *
             ritz_gpu_real_bytes(plan);
  }
  return bytes;
}

// Groups whose threads fill warps best, in blocks as small as they may be, or with as many elements as are
// wanted to share what a block loads of matrices.
static CeedInt model_groups(const RitzPlan *plan, const RitzGpuTarget *t) {
  const bool is_cached = matrix_bytes(plan) <= RITZ_GPU_CACHED_BYTES;
  CeedInt best = 1;
  double most = -1;
  for (CeedInt num = 1; num * t->num_lines <= RITZ_GPU_DENSE_MOST; num++) {
    const CeedInt threads = round_up(num * t->num_lines, RITZ_GPU_WARP);
    const double sharing = fmin(1, (double)(num * t->elem_per_thread) / RITZ_GPU_LEAST_SHARING);
    const double busy =
        (double)(num * t->num_lines) / threads - (threads < RITZ_GPU_DENSE_LEAST ? RITZ_GPU_DENSE_SMALL : 0) -
        (is_cached ? RITZ_GPU_THREAD_PRICE * threads
                   : RITZ_GPU_DENSE_THREAD_PRICE * threads + RITZ_GPU_DENSE_UNSHARED * (1 - sharing));
    if (busy <= most) continue;
    most = busy;
    best = num;
  }
  return best;
}

static bool set_block(const RitzPlan *plan, const RitzGpuMachine *machine, CeedInt groups, RitzGpuTarget *t) {
  t->num_elem = groups * t->elem_per_thread;
  t->num_threads = round_up(groups * t->num_lines, RITZ_GPU_WARP);
  ritz_plan_gpu_place_dense(plan, t);
  t->shared_bytes = ritz_plan_gpu_place_simple(plan, t, t->dense_scalars) * ritz_gpu_real_bytes(plan);
  return t->shared_bytes <= machine->shared_bytes && t->num_threads <= machine->max_threads &&
         ritz_plan_gpu_has_room(plan, machine, t);
}

static bool fit_block(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  const CeedInt chosen = t->choice.num_elem / t->elem_per_thread;
  for (CeedInt groups = chosen > 0 ? chosen : model_groups(plan, t); groups > 0; groups--) {
    if (set_block(plan, machine, groups, t)) return true;
  }
  return false;
}

void ritz_plan_gpu_choose_nontensor(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  t->strides = (RitzLineStrides){1, 1, 1};
  for (CeedInt per_thread = choose_elem_per_thread(plan, t); per_thread > 0; per_thread /= 2) {
    set_elem_per_thread(plan, per_thread, t);
    choose_points(plan, t);
    if (fit_block(plan, machine, t)) return;
  }
  t->reason = t->num_threads > machine->max_threads     ? "more points in an element than a block has threads"
              : t->shared_bytes > machine->shared_bytes ? "an element that does not fit shared memory"
                                                        : RITZ_NO_ROOM;
}
