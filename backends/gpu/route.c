// SPDX-License-Identifier: BSD-2-Clause
// Who computes an apply (RitzOperatorSetRoute): what contexts and operators cannot have. Called through the
// table of the backend (operator_refuses_route), by operator.c and gen.c.
#include "backends/gpu/gemm.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"
#include "emit/emit.h"
#include "plan/gpu-tiles.h"

const char *ritz_gpu_refuses_route(Ceed ceed, RitzOperatorRoute route) {
  const char *why = NULL;
  if (route == RITZ_OPERATOR_ROUTE_FUSED && !ritz_gpu(ceed)->has_fused_kernels)
    return "its kernels are separate, fused ones are those of gen";
  if (route != RITZ_OPERATOR_ROUTE_GEMM_VENDOR) return NULL;
  return ritz_gpu_gemm_vendor_find(ceed, &why) ? NULL : why;
}

static bool has_matrix(CeedOperatorField f) {
  const CeedEvalMode mode = f->qf_field->eval_mode;
  return !ritz_field_is_unused(f) && mode != CEED_EVAL_NONE && mode != CEED_EVAL_WEIGHT;
}

const char *ritz_gpu_operator_refuses_route(CeedOperator op, RitzOperatorRoute route) {
  const bool is_gemm = route == RITZ_OPERATOR_ROUTE_GEMM_OWN || route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR;
  bool is_found = false;
  if (!is_gemm) return NULL;
  if (op->is_at_points) return "it is at points";
  for (CeedInt i = 0; i < op->num_in + op->num_out; i++)
    is_found = is_found || has_matrix(ritz_operator_field(op, i));
  return is_found ? NULL : "no field has a basis with a matrix";
}

int ritz_gpu_require_route(CeedOperator op, RitzOperatorRoute route, const char *reason) {
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;
  RITZ_REQUIRE(!reason, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "CeedOperatorApply: operator '%s' by the route %s: %s", name, RitzOperatorRouteName(route),
               reason);
  return CEED_ERROR_SUCCESS;
}

// ---- The choice ----

bool ritz_gpu_gen_has_routes(const RitzGpuOperator *g) {
  return g->plan && g->plan->precision == CEED_SCALAR_TYPE && !ritz_gpu_converts_arguments(g->plan);
}

// The library is looked for where it would be taken.
RitzRouteGuess ritz_gpu_gen_guess_route(CeedOperator op, const RitzGpuOperator *g) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const char *why;
  RitzRouteOptions options = {.device = gpu->info->name,
                              .is_played = gpu->info->warp_size == 1,
                              .has_mma = ritz_gpu_has_mma(gpu->info),
                              .can_fuse = !g->reason,
                              .has_tiles = !g->reason && ritz_gpu_has_tiles(g->target),
                              .has_vendor = !gpu->is_deterministic && gpu->driver == &ritz_cuda};
  RitzRouteGuess guess = ritz_plan_route(g->plan, &options);
  if (guess.route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR && !ritz_gpu_gemm_vendor_find(op->obj.ceed, &why)) {
    options.has_vendor = false;
    guess = ritz_plan_route(g->plan, &options);
  }
  return guess;
}

// Whether a route that was measured earlier can be taken now.
static bool can_have(CeedOperator op, const RitzGpuOperator *g, RitzOperatorRoute route) {
  if (route == RITZ_OPERATOR_ROUTE_FUSED) return !g->reason;
  return !ritz_gpu_refuses_route(op->obj.ceed, route) && !ritz_gpu_operator_refuses_route(op, route);
}

static void set_route(RitzGpuOperator *g, RitzOperatorRoute route, const char *reason) {
  g->route = route;
  g->route_reason = reason;
}

void ritz_gpu_gen_choose_route(CeedOperator op, RitzGpuOperator *g) {
  const RitzOperatorRoute measured = g->tuning.is_measured ? g->tuning.route : RITZ_OPERATOR_ROUTE_AUTO;
  g->asked = op->route;
  if (op->route != RITZ_OPERATOR_ROUTE_AUTO) {
    set_route(g, op->route, "as asked for");
  } else if (!ritz_gpu_gen_has_routes(g)) {
    set_route(g, g->reason ? RITZ_OPERATOR_ROUTE_SEPARATE : RITZ_OPERATOR_ROUTE_FUSED,
              g->plan ? "others compute in CeedScalar" : "others have no plan");
  } else if (measured != RITZ_OPERATOR_ROUTE_AUTO && can_have(op, g, measured)) {
    set_route(g, measured, "measured (ritz tune)");
  } else {
    const RitzRouteGuess guess = ritz_gpu_gen_guess_route(op, g);
    set_route(g, guess.route, guess.why);
  }
}
