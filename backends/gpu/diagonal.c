// SPDX-License-Identifier: BSD-2-Clause
// /gpu/*/gen: the diagonal of an operator, and columns of its point blocks, as fused kernels of their own,
// made on first use. Called through the table. What has no such kernel is made from the derivatives at the
// points and the tables of the bases (assembly.c).
#include "backends/gpu/gen.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "emit/emit.h"
#include "plan/point-blocks.h"

// ---- Plan ----

static RitzGpuAction action_of(bool is_column) {
  return is_column ? RITZ_ACTION_POINT_BLOCKS : RITZ_ACTION_DIAGONAL;
}

// Blocks of one component are the diagonal.
static int has_columns(CeedOperator op, bool is_point_block, bool *is_column) {
  CeedInt num_comp = 0;
  if (is_point_block) RITZ_TRY(ritz_plan_block_components(op, &num_comp));
  *is_column = num_comp > 1;
  return CEED_ERROR_SUCCESS;
}

static int describe_diagonal(CeedOperator op, const RitzGpuOperator *apply, RitzGpuOperator *d) {
  const RitzGpuMachine machine = ritz_gpu_gen_machine(op);
  const bool is_column = d->action == RITZ_ACTION_POINT_BLOCKS;
  RITZ_TRY((is_column ? ritz_plan_refuse_point_blocks : ritz_plan_refuse_diagonal)(op, &d->reason));
  if (!d->reason && apply->reason) d->reason = "the operator is not fused";
  if (d->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(is_column ? ritz_plan_point_blocks(op, apply->plan, &d->diagonal, &d->nodes)
                     : ritz_plan_diagonal(op, apply->plan, &d->diagonal));
  RITZ_TRY(ritz_plan_gpu_diagonal(op, d->diagonal, &machine, ritz_gpu(op->obj.ceed)->is_deterministic,
                                  &d->device));
  d->plan = &d->device->plan;
  d->target = d->device->target;
  d->reason = d->target->reason;
  return CEED_ERROR_SUCCESS;
}

static int plan_diagonal(CeedOperator op, bool is_column, RitzGpuOperator **diagonal) {
  RitzGpuOperator *g;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &g));
  return ritz_gpu_gen_action(op, g, action_of(is_column), describe_diagonal, diagonal);
}

int ritz_gpu_diagonal_describe(CeedOperator op, bool is_point_block, RitzGpuOperator *apply,
                               RitzGpuOperator **kernel) {
  bool is_column;
  *kernel = NULL;
  if (op->qf_data->reuse) return CEED_ERROR_SUCCESS;
  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(ritz_gpu_gen_action(op, apply, action_of(is_column), describe_diagonal, kernel));
  if (!ritz_gpu_gen_is_pending(*kernel)) *kernel = NULL;
  return *kernel && !(*kernel)->text ? ritz_gpu_gen_emit(op, *kernel) : CEED_ERROR_SUCCESS;
}

static int load_diagonal(CeedOperator op, RitzGpuOperator *d) {
  if (!d->text) RITZ_TRY(ritz_gpu_gen_emit(op, d));
  return ritz_gpu_gen_load_action(op, op->data, d->action);
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
static int launch_columns(CeedOperator op, RitzGpuOperator *d, void *blocks) {
  const Ceed ceed = op->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  const RitzBlockNodes *n = &d->nodes;
  const size_t num_bytes = (size_t)op->output_size * ritz_scalar_bytes(d->diagonal->output.precision);
  RitzDeviceArg *number = &d->args[2 + d->target->num_args - 1];
  void *column = NULL;
  RITZ_TRY(ritz_gpu_alloc(ceed, num_bytes, &column));
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt c = 0; c < n->num_comp && !ierr; c++) {
    *number = (RitzDeviceArg)RITZ_INT(c);
    ierr = gpu->driver->clear(ceed, gpu->device, gpu->stream, num_bytes, column);
    if (!ierr) ierr = launch_diagonal(op, d, column);
    if (!ierr)
      ierr = RITZ_GPU_RUN(ceed, &d->kernel, "ritz_add_column", RITZ_GPU_BLOCKS(n->num_nodes * n->num_comp),
                          RITZ_GPU_BLOCK, RITZ_LONG(n->num_nodes), RITZ_LONG(n->first),
                          RITZ_LONG(n->node_stride), RITZ_LONG(n->comp_stride), RITZ_INT(c),
                          RITZ_POINTER(column), RITZ_POINTER(blocks));
  }
  ritz_gpu_free(ceed, &column);
  return ierr;
}

// *diagonal: NULL unless there is a kernel for it.
static int find_diagonal(CeedOperator op, bool is_point_block, RitzGpuOperator **diagonal) {
  bool is_column;
  *diagonal = NULL;
  if (op->qf_data->reuse || op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY(has_columns(op, is_point_block, &is_column));
  RITZ_TRY(plan_diagonal(op, is_column, diagonal));
  if ((*diagonal)->reason) *diagonal = NULL;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_diagonal_supports_precision(CeedOperator op, bool is_point_block, bool *is_supported) {
  RitzGpuOperator *d;
  RITZ_TRY(find_diagonal(op, is_point_block, &d));
  *is_supported = d;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_gen_assemble_add_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  RitzGpuOperator *d;
  RITZ_TRY(find_diagonal(op, is_point_block, &d));
  if (!d) return ritz_gpu_operator_assemble_add_diagonal(op, is_point_block, diagonal);
  RITZ_TRY(load_diagonal(op, d));
  return d->action == RITZ_ACTION_POINT_BLOCKS ? launch_columns(op, d, diagonal)
                                               : launch_diagonal(op, d, diagonal);
}

// ---- For people ----

static int explain_kernel(CeedOperator op, const RitzGpuOperator *d, FILE *stream) {
  const RitzGpuTarget *t = d->target;
  const bool is_ready = d->kernel.state == RITZ_KERNEL_READY;
  const CeedInt nc = d->diagonal->output.num_comp;
  RitzDeviceKernelInfo info = {.registers = -1};
  fprintf(stream,
          "one generated kernel%s, %" CeedInt_FMT " calls and %d sums at each point; blocks of %" CeedInt_FMT
          " threads for %" CeedInt_FMT " elements",
          d->action == RITZ_ACTION_POINT_BLOCKS ? " for each column" : "", d->diagonal->num_in * nc,
          d->diagonal->num_terms * (int)nc, t->num_threads, t->num_elem);
  if (is_ready) RITZ_TRY(ritz_gpu(op->obj.ceed)->driver->kernel_info(op->obj.ceed, d->kernel.handle, &info));
  if (info.registers >= 0) fprintf(stream, ", %d registers a thread", info.registers);
  if (info.spill_bytes > 0) fprintf(stream, ", %lld bytes spilled", (long long)info.spill_bytes);
  fprintf(stream, is_ready ? "\n" : " (not compiled yet)\n");
  return CEED_ERROR_SUCCESS;
}

static int explain_diagonal(CeedOperator op, bool is_column, FILE *stream) {
  RitzGpuOperator *d;
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
