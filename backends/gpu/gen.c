// SPDX-License-Identifier: BSD-2-Clause
// The slots of /gpu/*/gen: an operator as one fused kernel (fused.c), made on first use. What cannot be fused
// runs as the separate kernels of operator.c, with one warning.
#include <stdio.h>

#include "backends/gpu/context.h"
#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"
#include "jit/strings.h"

// ---- Applies ----

int ritz_gpu_gen_supports_precision(CeedOperator op, CeedVector in, bool *is_supported, const char **reason) {
  RitzGpuOperator *g;
  (void)in;
  *reason = "an operator at points";
  *is_supported = false;
  if (op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *reason = g->reason ? g->reason : "the route that was asked for";
  *is_supported = !g->reason && g->route == RITZ_OPERATOR_ROUTE_FUSED;
  return CEED_ERROR_SUCCESS;
}

// An operator without a name goes by its function.
static int warn_of_reason(CeedOperator op, const char *reason) {
  Ceed ceed = op->obj.ceed;
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;
  char *what = NULL;
  RITZ_TRY(ritz_format(ceed, &what, "operator '%s' is not fused", name));
  const int ierr = ritz_warn_once(ceed, ceed->resource, what, reason, "separate kernels run it");
  RITZ_FREE(&what);
  return ierr;
}

static int apply_at_points(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  const char *reason = NULL;
  if (op->route == RITZ_OPERATOR_ROUTE_AUTO || op->route == RITZ_OPERATOR_ROUTE_FUSED) {
    RITZ_TRY(ritz_gpu_at_points_apply(op, in, out, mode, &reason));
    if (!reason) return CEED_ERROR_SUCCESS;
    if (op->route == RITZ_OPERATOR_ROUTE_FUSED) return ritz_gpu_require_route(op, op->route, reason);
    RITZ_TRY(warn_of_reason(op, reason));
  }
  return ritz_gpu_operator_apply(op, in, out, mode);
}

int ritz_gpu_gen_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RitzGpuOperator *g;
  if (op->is_at_points) return apply_at_points(op, in, out, mode);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  if (g->route == RITZ_OPERATOR_ROUTE_FUSED) {
    RITZ_TRY(ritz_gpu_require_route(op, g->route, g->reason));
    return ritz_gpu_gen_apply_kernel(op, g, in, out, mode);
  }
  if (g->reason && g->asked == RITZ_OPERATOR_ROUTE_AUTO) RITZ_TRY(warn_of_reason(op, g->reason));
  return ritz_gpu_operator_apply_by(op, g->route, in, out, mode);
}

// ---- Cost ----

int ritz_gpu_gen_cost(CeedOperator op, RitzOperatorCost *cost) {
  const RitzGpuOperator *g = op->data;
  if (!g || !g->plan || g->reason) return CEED_ERROR_SUCCESS;
  const RitzPlanCost element = ritz_plan_gpu_cost(g->plan, g->target);
  cost->flops = element.flops * g->plan->num_elem;
  cost->bytes = (element.bytes_stored + element.bytes_offsets + element.bytes_vectors) * g->plan->num_elem;
  return CEED_ERROR_SUCCESS;
}

// ---- For people ----

static int explain_kernel(CeedOperator op, const RitzGpuOperator *g, FILE *stream) {
  RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  RitzDeviceKernelInfo info;
  RITZ_TRY(gpu->driver->kernel_info(op->obj.ceed, g->kernel.handle, &info));
  fprintf(stream, "  runs as: one generated kernel on %s\n", gpu->info->name);
  if (g->dense_reason) fprintf(stream, "  vector bases: dense matrices (%s)\n", g->dense_reason);
  ritz_plan_gpu_print(g->plan, g->target, stream);
  if (info.registers >= 0) fprintf(stream, "  registers: %d a thread", info.registers);
  if (info.spill_bytes > 0) fprintf(stream, ", %lld bytes spilled", (long long)info.spill_bytes);
  if (info.registers >= 0) fprintf(stream, "\n");
  fprintf(stream, "  several vectors at once: up to %d by a kernel of their own\n", RITZ_GPU_MANY);
  RITZ_TRY(ritz_gpu_diagonal_explain(op, stream));
  fprintf(stream, "  other assembly: derivatives at the points, tables of the bases\n");
  const RitzPlanCost cost = ritz_plan_gpu_cost(g->plan, g->target);
  return ritz_plan_print(g->plan, &cost, stream);
}

static int explain_at_points(CeedOperator op, FILE *stream) {
  const char *reason;
  RITZ_TRY(ritz_gpu_at_points_explain(op, stream, &reason));
  if (!reason) return CEED_ERROR_SUCCESS;
  fprintf(stream, "  not fused: %s\n", reason);
  return ritz_gpu_operator_explain(op, stream);
}

int ritz_gpu_gen_explain(CeedOperator op, FILE *stream) {
  RitzGpuOperator *g;
  if (op->is_at_points) return explain_at_points(op, stream);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  fprintf(stream, "  route: %s, %s\n", RitzOperatorRouteName(g->route), g->route_reason);
  if (g->reason)
    fprintf(stream, "  not fused: %s\n", g->reason);
  else
    fprintf(stream, "  choices: %s\n", g->tuning.is_measured ? "measured (ritz tune)" : "by the model");
  if (g->route != RITZ_OPERATOR_ROUTE_FUSED) return ritz_gpu_operator_explain_by(op, g->route, stream);
  return g->reason ? CEED_ERROR_SUCCESS : explain_kernel(op, g, stream);
}

int ritz_gpu_gen_steps(CeedOperator op, FILE *stream, bool *has_steps) {
  RitzGpuOperator *g;
  if (op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *has_steps = !g->reason;
  return g->reason ? CEED_ERROR_SUCCESS : ritz_plan_gpu_print_steps(g->plan, g->target, stream);
}

int ritz_gpu_gen_source(CeedOperator op, const char **source) {
  RitzGpuOperator *g;
  if (op->is_at_points) return ritz_gpu_at_points_source(op, source);
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  *source = g->route == RITZ_OPERATOR_ROUTE_FUSED ? g->text : NULL;
  return *source ? CEED_ERROR_SUCCESS : ritz_gpu_operator_source(op, source);
}
