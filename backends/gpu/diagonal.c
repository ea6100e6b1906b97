// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: the diagonal of an operator, and columns of its point blocks, as fused kernels of their own,
// made on first use. Called through the table. What has no such kernel is made from the derivatives at the
// points and the tables of the bases (assembly.c).
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "emit/emit.h"
#include "plan/point-blocks.h"

struct RitzGpuDiagonalKernel {
  bool is_column;          // of point blocks; else the diagonal
  RitzBlockNodes nodes;    // of columns
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

static RitzGpuDiagonalKernel **place_of(RitzGpuOperator *g, bool is_column) {
  return is_column ? &g->point_blocks : &g->diagonal;
}

// Blocks of one component are the diagonal.
static int has_columns(CeedOperator op, bool is_point_block, bool *is_column) {
  CeedInt num_comp = 0;
  if (is_point_block) RITZ_TRY(ritz_plan_block_components(op, &num_comp));
  *is_column = num_comp > 1;
  return CEED_ERROR_SUCCESS;
}

static int describe_diagonal(CeedOperator op, const RitzGpuOperator *g, RitzGpuDiagonalKernel *d) {
  const RitzGpu *gpu = ritz_gpu(op->obj.ceed);
  const RitzGpuMachine machine = ritz_gpu_gen_machine(op);
  RITZ_TRY((d->is_column ? ritz_plan_refuse_point_blocks : ritz_plan_refuse_diagonal)(op, &d->reason));
  if (!d->reason && g->reason) d->reason = "the operator is not fused";
  if (d->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(d->is_column ? ritz_plan_point_blocks(op, g->plan, &d->plan, &d->nodes)
                        : ritz_plan_diagonal(op, g->plan, &d->plan));
  RITZ_TRY(ritz_plan_gpu_diagonal(op, d->plan, &machine, gpu->is_deterministic, &d->device));
  d->reason = d->device->target->reason;
  return CEED_ERROR_SUCCESS;
}

static int plan_diagonal_of(CeedOperator op, bool is_column, RitzGpuOperator *g) {
  RitzGpuDiagonalKernel **place = place_of(g, is_column);
  if (*place) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, place));
  (*place)->is_column = is_column;
  const int ierr = describe_diagonal(op, g, *place);
  if (ierr) ritz_gpu_diagonal_destroy(op->obj.ceed, place);
  return ierr;
}

static int plan_diagonal(CeedOperator op, bool is_column, RitzGpuDiagonalKernel **diagonal) {
  RitzGpuOperator *g;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  RITZ_TRY(plan_diagonal_of(op, is_column, g));
  *diagonal = *place_of(g, is_column);
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

int ritz_gpu_diagonal_describe(CeedOperator op, bool is_point_block, RitzGpuOperator *apply,
                               RitzGpuOperator **kernel) {
  bool is_column;
  *kernel = NULL;
  if (op->qf_data->reuse) return CEED_ERROR_SUCCESS;
  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(plan_diagonal_of(op, is_column, apply));
  RitzGpuDiagonalKernel *d = *place_of(apply, is_column);
  if (d->reason || d->kernel.kernel) return CEED_ERROR_SUCCESS;
  if (!d->kernel.text) RITZ_TRY(make_diagonal_text(op, apply, d));
  *kernel = &d->kernel;
  return CEED_ERROR_SUCCESS;
}

static int load_diagonal(CeedOperator op, RitzGpuDiagonalKernel **diagonal) {
  RitzGpuDiagonalKernel *d = *diagonal;
  if (!d || !d->kernel.text || d->kernel.kernel) return CEED_ERROR_SUCCESS;
  const int ierr =
      d->kernel.program ? ritz_gpu_gen_load(op, &d->kernel, "ritz_diagonal") : CEED_ERROR_SUCCESS;
  if (!d->kernel.kernel || ierr) ritz_gpu_diagonal_destroy(op->obj.ceed, diagonal);
  return ierr;
}

int ritz_gpu_diagonal_load(CeedOperator op, RitzGpuOperator *apply) {
  RITZ_TRY(load_diagonal(op, &apply->diagonal));
  return load_diagonal(op, &apply->point_blocks);
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

// Blocks by way of an L-vector in device memory.
static int launch_columns(CeedOperator op, RitzGpuDiagonalKernel *d, void *blocks) {
  const Ceed ceed = op->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  const RitzBlockNodes *n = &d->nodes;
  const size_t num_bytes = (size_t)op->output_size * ritz_scalar_bytes(d->plan->output.precision);
  RitzDeviceArg *number = &d->kernel.args[2 + d->device->target->num_args - 1];
  void *column = NULL;
  RITZ_TRY(ritz_gpu_alloc(ceed, num_bytes, &column));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt c = 0; c < n->num_comp && !ierr; c++) {
    *number = (RitzDeviceArg)RITZ_INT(c);
    ierr = gpu->driver->clear(ceed, gpu->device, gpu->stream, num_bytes, column);
    if (!ierr) ierr = launch_diagonal(op, &d->kernel, column);
    if (!ierr)
      ierr = RITZ_GPU_RUN(ceed, d->kernel.program, "ritz_add_column",
                          RITZ_GPU_BLOCKS(n->num_nodes * n->num_comp), RITZ_GPU_BLOCK,
                          RITZ_LONG(n->num_nodes), RITZ_LONG(n->first), RITZ_LONG(n->node_stride),
                          RITZ_LONG(n->comp_stride), RITZ_INT(c), RITZ_POINTER(column), RITZ_POINTER(blocks));
  }
  ritz_gpu_free(ceed, &column);
  return ierr;
}

// *diagonal: NULL unless there is a kernel for it.
static int find_diagonal(CeedOperator op, bool is_point_block, RitzGpuDiagonalKernel **diagonal) {
  bool is_column;
  *diagonal = NULL;
  if (op->qf_data->reuse || op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(plan_diagonal(op, is_column, diagonal));
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
  return d->is_column ? launch_columns(op, d, diagonal) : launch_diagonal(op, &d->kernel, diagonal);
}

// ---- For people ----

static int explain_kernel(CeedOperator op, const RitzGpuDiagonalKernel *d, FILE *stream) {
  const RitzGpuTarget *t = d->device->target;
  const CeedInt nc = d->plan->output.num_comp;
  RitzDeviceKernelInfo info = {.registers = -1};
  fprintf(stream,
          "one generated kernel%s, %" CeedInt_FMT " calls and %d sums at each point; blocks of %" CeedInt_FMT
          " threads for %" CeedInt_FMT " elements",
          d->is_column ? " for each column" : "", d->plan->num_in * nc, d->plan->num_terms * (int)nc,
          t->num_threads, t->num_elem);
  if (d->kernel.kernel)
    RITZ_TRY(ritz_gpu(op->obj.ceed)->driver->kernel_info(op->obj.ceed, d->kernel.kernel, &info));
  if (info.registers >= 0) fprintf(stream, ", %d registers a thread", info.registers);
  if (info.spill_bytes > 0) fprintf(stream, ", %lld bytes spilled", (long long)info.spill_bytes);
  fprintf(stream, d->kernel.kernel ? "\n" : " (not compiled yet)\n");
  return CEED_ERROR_SUCCESS;
}

static int explain_diagonal(CeedOperator op, bool is_column, FILE *stream) {
  RitzGpuDiagonalKernel *d;
  RITZ_TRY(plan_diagonal(op, is_column, &d));
  fprintf(stream, is_column ? "  point blocks: " : "  diagonal: ");
  if (!d->reason && !op->qf_data->reuse) return explain_kernel(op, d, stream);
  fprintf(stream, "derivatives at the points, tables of the bases: %s\n",
          d->reason ? d->reason : "the assembled QFunction is reused");
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_diagonal_explain(CeedOperator op, FILE *stream) {
  bool has_blocks;
  RITZ_TRY(explain_diagonal(op, false, stream));
  RITZ_TRY(has_columns(op, true, &has_blocks));
  return has_blocks ? explain_diagonal(op, true, stream) : CEED_ERROR_SUCCESS;
}
