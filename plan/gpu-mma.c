// SPDX-License-Identifier: BSD-2-Clause
// Which passes multiply by tensor cores (contract in plan/gpu-mma.h).
#include "plan/gpu-mma.h"
#include "plan/gpu-tiles.h"

enum { EXCHANGED = 10 }; // scalars of a thread: kernels/gpu/mma.h

// P: nodes of a line between nodes and points.
static bool can_pass(const RitzGpuTarget *t, RitzPassKind kind, CeedInt P) {
  const bool is_exchanged = kind == RITZ_PASS_MIDDLE || kind == RITZ_PASS_ROWS || kind == RITZ_PASS_COLUMNS;
  return is_exchanged && P <= RITZ_GPU_MMA_PLACES && t->Q_1d <= RITZ_GPU_MMA_PLACES;
}

// A basis whose nodes are not the points has lines between them, one with derivatives lines of points.
bool ritz_plan_gpu_can_mma(const RitzPlan *plan, const RitzGpuTarget *t) {
  if (t->is_nontensor) return ritz_plan_gpu_can_tile(plan);
  if (plan->precision != CEED_SCALAR_FP64 || t->evaluation != RITZ_GPU_LINES) return false;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (ritz_gpu_is_vector(plan, space)) return false;
    if (!ritz_gpu_has_lines(plan, space)) continue;
    const RitzRoute route = t->routes[space->basis];
    const bool has_middle = t->dim == 3 && route != RITZ_ROUTE_IDENTITY;
    const bool has_rows = t->dim > 1 && route != RITZ_ROUTE_DIRECT && space->modes & CEED_EVAL_GRAD;
    if (has_middle && can_pass(t, RITZ_PASS_MIDDLE, plan->bases[space->basis].P_1d)) return true;
    if (has_rows && can_pass(t, RITZ_PASS_ROWS, 0)) return true;
  }
  return false;
}

// Unless asked for, only dense bases are multiplied by tensor cores: lines gain nothing.
bool ritz_plan_gpu_chooses_mma(const RitzPlan *plan, const RitzGpuMachine *machine, const RitzGpuTarget *t) {
  const int wanted = machine->mma ? machine->mma : t->choice.mma;
  if (wanted < 0 || !ritz_plan_gpu_can_mma(plan, t)) return false;
  return wanted > 0 || (machine->has_mma && t->is_nontensor && ritz_plan_gpu_pays_tiles(plan));
}

// Four values of a line are accessed at once, all of them in a quarter of the steps. That wants other strides
// than lines of points in their natural order.
void ritz_plan_gpu_use_mma(const RitzGpuTarget *t, RitzGpuPass *pass) {
  if (t->uses_mma && pass->kind == RITZ_PASS_POINTS) pass->lines.order = RITZ_LINES_BY_WARP;
  if (!t->uses_mma || !can_pass(t, pass->kind, pass->nodes[2])) return;
  pass->is_mma = true;
  pass->lines.order = RITZ_LINES_SHARED;
  pass->lines.weight /= 4;
}

CeedInt ritz_plan_gpu_count_exchange(const RitzGpuMachine *machine, const RitzGpuTarget *t) {
  return t->uses_mma && !machine->has_mma ? EXCHANGED * t->num_threads : 0;
}
