// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: the diagonal of an operator as one fused kernel of its own, made on first use. Called through
// the table. What has no such kernel, the reference backend does on the host.
#include "backends/gpu/gen.h"
#include "emit/emit.h"

struct RitzGpuDiagonalKernel {
  const char *reason;      // NULL: there is such a kernel; else why not (static)
  RitzDiagonalPlan *plan;  // owned
  RitzGpuDiagonal *device; // owned
  RitzGpuOperator kernel;  // of the device's plan and target; without kernel: not made yet
};

void ritz_gpu_diagonal_destroy(Ceed ceed, RitzGpuDiagonalKernel **diagonal) {
  RitzGpuDiagonalKernel *d = *diagonal;
  if (!d) return;
  ritz_gpu_gen_release(ceed, &d->kernel);
  ritz_plan_gpu_diagonal_free(&d->device);
  ritz_plan_free_diagonal(&d->plan);
  RITZ_FREE(diagonal);
}

// ---- Plan ----

static int describe_diagonal(CeedOperator op, const RitzGpuOperator *g, RitzGpuDiagonalKernel *d) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const RitzGpuMachine machine = ritz_gpu_gen_machine(op);
  RITZ_TRY(ritz_plan_refuse_diagonal(op, &d->reason));
  if (!d->reason && g->reason) d->reason = "the operator is not fused";
  if (d->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_plan_diagonal(op, g->plan, &d->plan));
  RITZ_TRY(ritz_plan_gpu_diagonal(op, d->plan, &machine, gpu->is_deterministic, &d->device));
  d->reason = d->device->target->reason;
  return CEED_ERROR_SUCCESS;
}

static int plan_diagonal_of(CeedOperator op, RitzGpuOperator *g) {
  if (g->diagonal) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &g->diagonal));
  const int ierr = describe_diagonal(op, g, g->diagonal);
  if (ierr) ritz_gpu_diagonal_destroy(op->obj.ceed, &g->diagonal);
  return ierr;
}

static int plan_diagonal(CeedOperator op, RitzGpuDiagonalKernel **diagonal) {
  RitzGpuOperator *g;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  RITZ_TRY(plan_diagonal_of(op, g));
  *diagonal = g->diagonal;
  return CEED_ERROR_SUCCESS;
}

// ---- Kernel ----

static int make_diagonal_text(CeedOperator op, const RitzGpuOperator *apply, RitzGpuDiagonalKernel *d) {
  char *source = NULL;
  d->kernel = (RitzGpuOperator){.op = op,
                                .plan = &d->device->plan,
                                .target = d->device->target,
                                .context_bytes = apply->context_bytes,
                                .is_writable = apply->is_writable};
  RITZ_TRY(ritz_gpu_qfunction_load(op->qf, &source));
  const int ierr = ritz_emit_gpu_diagonal(op->obj.ceed, d->device, source, &d->kernel.text);
  RITZ_FREE(&source);
  return ierr;
}

int ritz_gpu_diagonal_describe(CeedOperator op, RitzGpuOperator *apply, RitzGpuOperator **kernel) {
  *kernel = NULL;
  if (op->qf_data->reuse) return CEED_ERROR_SUCCESS;
  RITZ_TRY(plan_diagonal_of(op, apply));
  RitzGpuDiagonalKernel *d = apply->diagonal;
  if (d->reason || d->kernel.kernel) return CEED_ERROR_SUCCESS;
  if (!d->kernel.text) RITZ_TRY(make_diagonal_text(op, apply, d));
  *kernel = &d->kernel;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_diagonal_load(CeedOperator op, RitzGpuOperator *apply) {
  RitzGpuDiagonalKernel *d = apply->diagonal;
  if (!d || !d->kernel.text || d->kernel.kernel) return CEED_ERROR_SUCCESS;
  const int ierr =
      d->kernel.program ? ritz_gpu_gen_load(op, &d->kernel, "ritz_diagonal") : CEED_ERROR_SUCCESS;
  if (!d->kernel.kernel || ierr) ritz_gpu_diagonal_destroy(op->obj.ceed, &apply->diagonal);
  return ierr;
}

static int make_diagonal_program(CeedOperator op, RitzGpuDiagonalKernel *d) {
  if (d->kernel.kernel) return CEED_ERROR_SUCCESS;
  int ierr = d->kernel.text ? CEED_ERROR_SUCCESS : make_diagonal_text(op, op->data, d);
  if (!ierr) ierr = ritz_gpu_gen_load(op, &d->kernel, "ritz_diagonal");
  if (ierr) ritz_gpu_gen_release(op->obj.ceed, &d->kernel); // the next call tries again
  return ierr;
}

// ---- Running ----

// The diagonal comes after the spaces of passive inputs.
static int launch_diagonal(CeedOperator op, RitzGpuOperator *g, void *diagonal) {
  const int output = g->plan->num_spaces - 1;
  int num_held = 0, ierr = CEED_ERROR_SUCCESS;
  g->arrays[output] = diagonal;
  for (; !ierr && num_held < output; num_held += !ierr)
    ierr = ritz_gpu_gen_get_array(g, num_held, NULL, NULL, RITZ_APPLY_ADD);
  if (!ierr) ierr = ritz_gpu_gen_run(op, g, NULL, NULL);
  for (int s = 0; s < num_held; s++) {
    const int restored = ritz_gpu_gen_restore_array(g, s, NULL, NULL);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// *diagonal: NULL unless there is a kernel for it.
static int find_diagonal(CeedOperator op, bool is_point_block, RitzGpuDiagonalKernel **diagonal) {
  *diagonal = NULL;
  if (is_point_block || op->qf_data->reuse || op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(plan_diagonal(op, diagonal));
  if ((*diagonal)->reason) *diagonal = NULL;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_diagonal_is_native(CeedOperator op, bool is_point_block, bool *is_native) {
  RitzGpuDiagonalKernel *d;
  RITZ_TRY(find_diagonal(op, is_point_block, &d));
  *is_native = d;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  RitzGpuDiagonalKernel *d;
  RITZ_TRY(find_diagonal(op, is_point_block, &d));
  if (!d) return ritz_gpu_operator_assemble_add_diagonal(op, is_point_block, diagonal);
  RITZ_TRY(make_diagonal_program(op, d));
  return launch_diagonal(op, &d->kernel, diagonal);
}

// ---- For people ----

static int explain_kernel(CeedOperator op, const RitzGpuDiagonalKernel *d, FILE *stream) {
  const RitzGpuTarget *t = d->device->target;
  RitzDeviceKernelInfo info = {.registers = -1};
  fprintf(stream,
          "one generated kernel, %" CeedInt_FMT " calls and %d sums at each point; blocks of %" CeedInt_FMT
          " threads for %" CeedInt_FMT " elements",
          d->plan->num_in * d->plan->output.num_comp, d->plan->num_terms * (int)d->plan->output.num_comp,
          t->num_threads, t->num_elem);
  if (d->kernel.kernel)
    RITZ_TRY(ritz_gpu(op->obj.ceed)->driver->kernel_info(op->obj.ceed, d->kernel.kernel, &info));
  if (info.registers >= 0) fprintf(stream, ", %d registers a thread", info.registers);
  if (info.spill_bytes > 0) fprintf(stream, ", %lld bytes spilled", (long long)info.spill_bytes);
  fprintf(stream, d->kernel.kernel ? "\n" : " (not compiled yet)\n");
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_diagonal_explain(CeedOperator op, FILE *stream) {
  RitzGpuDiagonalKernel *d;
  RITZ_TRY(plan_diagonal(op, &d));
  fprintf(stream, "  diagonal: ");
  if (!d->reason && !op->qf_data->reuse) return explain_kernel(op, d, stream);
  fprintf(stream, "the reference backend: %s\n", d->reason ? d->reason : "the assembled QFunction is reused");
  return CEED_ERROR_SUCCESS;
}
