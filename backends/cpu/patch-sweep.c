// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches (contract in core/patch-sweep.h) by generated kernels (emit/patch.c,
// kernels/cpu/patch.h): their code, their tables, and the order of planes. Called through the table of the
// backend. Without a compiler the reference backend sweeps.
//
// A plane is all patches at a position of the last direction. Planes of the leading parity (the even one, or,
// reversed, the odd one) do not touch each other; one of the other parity runs as soon as both neighbours are
// done. So every patch sees what it would see colour by colour, and b and x come from memory about once.
// A thread has leading planes that follow each other and the planes behind them; the plane behind its last
// one waits for the first plane of the next thread, which is that one's first. Every plane is run by one
// thread, so that results do not depend on their number.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "core/patch-sweep.h"
#include "emit/emit.h"
#include "fe/fe.h"
#include "kernels/cpu/patch-abi.h"

// Share of the lanes that rows have to fill: as much as the loads of other lanes cost.
static const double least_filling = 0.85;

// sweep->data
typedef struct {
  CeedInt lanes;
  char *text; // owned
  RitzJitKernel code;
  bool is_delegated;      // there is no code
  RitzPatchKernel kernel; // NULL: not taken from the code yet
  RitzPatchArgs args;     // all but b, x, work and the order
  void *numbers[5];       // owned: factor, inverse, tables of args
  RitzFlag *flags;        // owned [threads]: the thread's first plane is done
  int32_t epoch;          // of the flags
} RitzCpuPatches;

int ritz_cpu_patch_sweep_destroy(RitzPatchSweep sweep) {
  RitzCpuPatches *data = sweep->data;

  if (!data) return CEED_ERROR_SUCCESS;
  ritz_jit_kernel_release(&data->code);
  for (int i = 0; i < 5; i++) RITZ_FREE(&data->numbers[i]);
  RITZ_FREE(&data->flags);
  RITZ_FREE(&data->text);
  RITZ_FREE(&data);
  sweep->data = NULL;
  return CEED_ERROR_SUCCESS;
}

// ---- Numbers that a kernel is handed ----

static void store(CeedScalarType precision, void *numbers, size_t i, double value) {
  if (precision == CEED_SCALAR_FP32)
    ((float *)numbers)[i] = (float)value;
  else
    ((double *)numbers)[i] = value;
}

static int allocate_cpu_patches(RitzPatchSweep sweep, int i, size_t num) {
  RitzCpuPatches *data = sweep->data;
  char *bytes = NULL;

  RITZ_TRY(RITZ_MALLOC(sweep->ceed, num * ritz_scalar_bytes(sweep->box.precision), &bytes));
  data->numbers[i] = bytes;
  return CEED_ERROR_SUCCESS;
}

static int fill_factors(RitzPatchSweep sweep) {
  RitzCpuPatches *data = sweep->data;

  RITZ_TRY(allocate_cpu_patches(sweep, 0, 4));
  for (size_t i = 0; i < 4; i++) store(sweep->box.precision, data->numbers[0], i, sweep->box.factor[i]);
  data->args.factor = data->numbers[0];
  return CEED_ERROR_SUCCESS;
}

// One over the sums of eigenvalues: [j][i][k], 2D [i][k], k the last direction.
static int fill_inverse(RitzPatchSweep sweep) {
  const RitzPatchBox *box = &sweep->box;
  RitzCpuPatches *data = sweep->data;
  const size_t n = 2 * (size_t)box->degree - 1, middle = box->dim == 3 ? n : 1;
  const double *lambda = ritz_patch_line(box->degree, box->tables[0]).lambda;

  RITZ_TRY(allocate_cpu_patches(sweep, 1, n * n * middle));
  for (size_t i = 0; i < n * n * middle; i++) {
    const double in_middle = box->dim == 3 ? box->factor[1] * lambda[i / (n * n)] : 0;
    const double sum = box->factor[0] * lambda[i / n % n] + in_middle +
                       box->factor[box->dim - 1] * lambda[i % n] + box->factor[3];

    store(box->precision, data->numbers[1], i, 1 / sum);
  }
  data->args.inverse = data->numbers[1];
  return CEED_ERROR_SUCCESS;
}

// Entry i of the table of no position: eigenvalues 1, else zeros.
static double empty_entry(CeedInt degree, size_t i) {
  const size_t n = 2 * (size_t)degree - 1, m = n + 2, lambda = 2 * n * m + n * n;

  return i >= lambda && i < lambda + n ? 1 : 0;
}

// Batches of the rows of one parity, from number `batch` on: [batch][entry][lane]; numbers NULL: counts only.
// Returns the number behind them.
static size_t fill_batches(const RitzPatchBox *box, CeedInt lanes, int parity, size_t batch, void *numbers) {
  const size_t size = ritz_fe_patch_line_size((int)box->degree);
  int64_t first;
  const int64_t num = ritz_patch_count(box, 0, parity, &first);

  for (int64_t i = 0; i * lanes < num; i++, batch++) {
    const int64_t begin = ritz_patch_batch(num, lanes, i);

    for (int64_t lane = 0; lane < lanes && numbers; lane++) {
      const int64_t number = begin + lane;
      const double *table = number < num ? ritz_patch_table(box, 0, first + 2 * number) : NULL;

      for (size_t k = 0; k < size; k++)
        store(box->precision, numbers, (batch * size + k) * (size_t)lanes + (size_t)lane,
              table ? table[k] : empty_entry(box->degree, k));
    }
  }
  return batch;
}

static int fill_tables(RitzPatchSweep sweep) {
  const RitzPatchBox *box = &sweep->box;
  RitzCpuPatches *data = sweep->data;
  const size_t size = ritz_fe_patch_line_size((int)box->degree);
  const size_t even = fill_batches(box, data->lanes, 0, 0, NULL);

  RITZ_TRY(allocate_cpu_patches(sweep, 2,
                                fill_batches(box, data->lanes, 1, even, NULL) * size * (size_t)data->lanes));
  fill_batches(box, data->lanes, 0, 0, data->numbers[2]);
  fill_batches(box, data->lanes, 1, even, data->numbers[2]);
  for (int d = 1; d < box->dim; d++) {
    RITZ_TRY(allocate_cpu_patches(sweep, 2 + d, (size_t)box->count[d] * size));
    for (size_t i = 0; i < (size_t)box->count[d] * size; i++)
      store(box->precision, data->numbers[2 + d], i, box->tables[d][i]);
  }
  for (int d = 0; d < 3; d++) data->args.tables[d] = data->numbers[2 + d];
  return CEED_ERROR_SUCCESS;
}

static int fill_arguments(RitzPatchSweep sweep) {
  const RitzPatchBox *box = &sweep->box;
  const RitzCpu *cpu = sweep->ceed->data;
  RitzCpuPatches *data = sweep->data;

  for (int d = 0; d < 3; d++) {
    const bool has = d < box->dim;

    data->args.nodes[d] = box->nodes[d];
    data->args.first[d] = box->first[d];
    data->args.count[d] = box->count[d];
    data->args.low[d] = has && box->is_fixed[d][0] ? 1 : 0;
    data->args.high[d] = box->nodes[d] - (has && box->is_fixed[d][1] ? 2 : 1);
  }
  RITZ_TRY(fill_factors(sweep));
  RITZ_TRY(RITZ_CALLOC(sweep->ceed, (size_t)cpu->num_threads, &data->flags));
  return box->is_uniform ? fill_inverse(sweep) : fill_tables(sweep);
}

// ---- Code ----

static RitzJitOrder describe_cpu_patches(RitzCpuPatches *data) {
  return (
      RitzJitOrder){.source = {.name = "patches", .text = data->text}, .kernel = &data->code, .waits = true};
}

// Whether the rows of a box leave too many lanes idle, which then go on in the next row. Rows of fewer
// patches than lanes would be masked besides.
static bool has_short_rows(const RitzPatchBox *box, CeedInt lanes) {
  int64_t num = 0, taken = 0, first;

  if (box->dim < 3 || !box->is_uniform || box->num_comp > 1) return false;
  for (int parity = 0; parity < 2; parity++) {
    const int64_t of_parity = ritz_patch_count(box, 0, parity, &first);

    if (of_parity < lanes) return true;
    num += of_parity;
    taken += (of_parity + lanes - 1) / lanes * lanes;
  }
  return (double)num < least_filling * (double)taken;
}

static int begin_code(RitzPatchSweep sweep) {
  RitzCpuPatches *data = sweep->data;
  RitzCpuMachine machine;
  RitzPlanOptions options;

  ritz_cpu_environment(sweep->box.precision, &machine, &options);
  data->lanes = machine.lanes;
  RITZ_TRY(ritz_emit_cpu_patch(sweep->ceed, &sweep->box, machine.lanes,
                               has_short_rows(&sweep->box, machine.lanes), &data->text));
  RITZ_TRY(fill_arguments(sweep));
  const RitzJitOrder order = describe_cpu_patches(data);
  return ritz_jit_kernels_begin(sweep->ceed, 1, &order);
}

int ritz_cpu_patch_sweep_prepare(RitzPatchSweep sweep) {
  RitzCpuPatches *data = NULL;

  if (sweep->data) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(sweep->ceed, 1, &data));
  sweep->data = data;
  const int ierr = begin_code(sweep);
  if (ierr) ritz_cpu_patch_sweep_destroy(sweep);
  return ierr;
}

static int finish_code(RitzPatchSweep sweep) {
  RitzCpuPatches *data = sweep->data;
  const RitzCpuSymbols symbols = {"a sweep over patches", RITZ_PATCH_SYMBOL, RITZ_PATCH_INFO_SYMBOL,
                                  RITZ_PATCH_ABI, data->lanes};
  const RitzJitOrder order = describe_cpu_patches(data);
  void *symbol;

  if (data->kernel || data->is_delegated) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_finish_code(sweep->ceed, &order, &symbols, &symbol));
  memcpy(&data->kernel, &symbol, sizeof(symbol)); // C converts no object pointer into a function pointer
  data->is_delegated = !data->kernel;
  return CEED_ERROR_SUCCESS;
}

// ---- Order ----

typedef struct {
  RitzCpu *cpu;
  RitzCpuPatches *data;
  RitzPatchArgs args;
  int num_threads;      // that have planes
  int64_t first, end;   // planes
  int64_t leading, num; // planes of the leading parity: the first one, how many
} Run;

static void run_plane(const Run *run, RitzPatchArgs *args, int64_t plane) {
  if (plane >= run->first && plane < run->end) run->data->kernel(args, plane);
}

static int run_thread(void *data, int thread) {
  const Run *run = data;
  RitzPatchArgs args = run->args;
  const int64_t begin = run->num * thread / run->num_threads,
                end = run->num * (thread + 1) / run->num_threads;

  if (thread >= run->num_threads) return CEED_ERROR_SUCCESS;
  args.work = run->cpu->work[thread];
  for (int64_t i = begin; i < end; i++) {
    run_plane(run, &args, run->leading + 2 * i);
    if (i == begin) ritz_flag_raise(&run->data->flags[thread], run->data->epoch);
    if (i > begin || thread == 0) run_plane(run, &args, run->leading + 2 * i - 1);
  }
  if (thread + 1 < run->num_threads) ritz_flag_wait(&run->data->flags[thread + 1], run->data->epoch);
  run_plane(run, &args, run->leading + 2 * end - 1);
  return CEED_ERROR_SUCCESS;
}

static int run_planes(RitzPatchSweep sweep, const void *b, void *x, bool is_reversed) {
  const RitzPatchBox *box = &sweep->box;
  const int last = (int)box->dim - 1;
  RitzCpuPatches *data = sweep->data;
  Run run = {.cpu = sweep->ceed->data, .data = data, .args = data->args, .first = box->first[last]};

  run.args.b = b;
  run.args.x = x;
  run.args.is_reversed = is_reversed;
  run.end = run.first + box->count[last];
  run.num = ritz_patch_count(box, last, is_reversed, &run.leading);
  run.num_threads = run.num < run.cpu->num_threads ? (int)run.num : run.cpu->num_threads;
  data->epoch = data->epoch == INT32_MAX ? 1 : data->epoch + 1;
  if (run.num_threads > 1) return ritz_team_run(run.cpu->team, run_thread, &run);
  run.num_threads = 1;
  return run_thread(&run, 0);
}

int ritz_cpu_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed) {
  const RitzCpuPatches *data;

  RITZ_TRY(ritz_cpu_patch_sweep_prepare(sweep));
  RITZ_TRY(finish_code(sweep));
  data = sweep->data;
  if (data->is_delegated) return ritz_ref_patch_sweep_run(sweep, b, x, x_is_zero, is_reversed);
  if (x_is_zero) RITZ_TRY(ritz_cpu_vector_set_value(sweep->ceed, sweep->box.precision, sweep->length, 0, x));
  return run_planes(sweep, b, x, is_reversed);
}
