// SPDX-License-Identifier: BSD-2-Clause
// Bases by kernels that work on elements in the memory of blocks: the template kernels/gpu/tensor.h, compiled
// for the sizes and 1D tables of a basis, and kernels/gpu/dense.h, one kernel for all dense bases. Called by
// basis.c.
#include <math.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/vectors.h"

// Longest line that a thread holds; two of them still leave room in 255 registers.
enum { MAX_LINE = 24 };
// Dense kernels: threads of a block, items for which a thread computes a row at once, scalars of input in
// shared memory.
enum { DENSE_THREADS = 64, DENSE_PER_THREAD = 8, DENSE_STAGED = 2048 };

// ---- Sizes of blocks ----

// Threads of a block, and groups of num_lines lines (one line a thread): what leaves the fewest threads idle.
// 64 to 128 threads, up to 256 where the lines of one group are more than that.
static void choose_threads(const RitzDeviceInfo *info, int num_lines, int max_groups,
                           RitzGpuBasisShape *shape) {
  double best = 0;
  for (int threads = 64; threads <= (num_lines > 128 ? 256 : 128); threads += 32) {
    const int num_groups = CeedIntMax(1, CeedIntMin(threads / num_lines, max_groups));
    const int num_rounds = (num_groups * num_lines + threads - 1) / threads;
    const double busy = (double)num_groups * num_lines / (num_rounds * threads) - 0.01 * num_rounds;
    if (busy <= best) continue;
    best = busy;
    shape->num_threads = threads;
    shape->num_groups = num_groups;
  }
  shape->num_threads = CeedIntMin(shape->num_threads, info->max_threads);
}

// Blocks that are to fit a multiprocessor at once: with 64K registers, 24 warps leave 80 a thread.
static int resident_blocks(CeedBasis b, int num_threads) {
  const CeedInt longest = CeedIntMax(b->P_1d, b->Q_1d);
  const int num_warps = longest <= 9 ? 24 : longest == 10 ? 16 : 8;
  return CeedIntMax(1, num_warps * 32 / num_threads);
}

// Distances in shared memory, in scalars: template kernels/gpu/tensor.h.
typedef struct {
  int row, plane, item;
} Strides;

static Strides tensor_strides(CeedBasis b) {
  const int P = b->P_1d, longest = CeedIntMax(P, b->Q_1d), row = (b->dim > 1 ? longest : P) | 1;
  const int plane = longest * row;
  return (Strides){row, plane, b->dim == 3 ? P * plane : b->dim == 2 ? P * row : row};
}

static bool is_finite(CeedBasis b) {
  for (CeedInt i = 0; i < b->P_1d * b->Q_1d; i++) {
    if (!isfinite(b->interp_1d[i]) || !isfinite(b->grad_1d[i])) return false;
  }
  return true;
}

static bool is_collocated(CeedBasis b) {
  if (b->P_1d != b->Q_1d) return false;
  for (CeedInt i = 0; i < b->P_1d * b->Q_1d; i++) {
    if (b->interp_1d[i] != (i / b->P_1d == i % b->P_1d)) return false;
  }
  return true;
}

static RitzGpuBasisShape tensor_shape(CeedBasis b, CeedEvalMode mode) {
  const RitzDeviceInfo *info = ritz_gpu(b->obj.ceed)->info;
  const CeedInt longest = CeedIntMax(b->P_1d, b->Q_1d);
  RitzGpuBasisShape shape = {0};
  if (b->dim > 3) shape.refusal = "it has more than three dimensions";
  if (longest > MAX_LINE) shape.refusal = "a line does not fit into registers";
  if (!shape.refusal && !is_finite(b)) shape.refusal = "its tables are not finite";
  if (shape.refusal) return shape;
  const int num_arrays = mode == CEED_EVAL_GRAD ? b->dim : 1;
  const int64_t max_items =
      info->shared_bytes / (num_arrays * tensor_strides(b).item * (int)sizeof(CeedScalar));
  if (max_items == 0) {
    shape.refusal = "an element does not fit into shared memory";
    return shape;
  }
  shape.is_copy = mode == CEED_EVAL_INTERP && is_collocated(b);
  choose_threads(info, CeedIntPow(longest, b->dim - 1), (int)max_items, &shape);
  shape.num_items = shape.num_groups;
  return shape;
}

// One kernel for all dense bases. A group of threads has a thread for each row of the table and
// DENSE_PER_THREAD items; a block takes as many groups as keep its threads busy.
static RitzGpuBasisShape dense_shape(CeedBasis b, CeedEvalMode mode, bool transposes) {
  const CeedInt rows = transposes ? b->P : ritz_basis_num_q_comp(b, mode) * b->Q;
  RitzGpuBasisShape shape = {.num_threads = DENSE_THREADS};
  double best = 0;
  for (int num_groups = 1; num_groups == 1 || num_groups * rows <= 4 * DENSE_THREADS; num_groups++) {
    const int64_t work = (int64_t)num_groups * rows, num_rounds = (work + DENSE_THREADS - 1) / DENSE_THREADS;
    const double busy = (double)work / (double)(num_rounds * DENSE_THREADS);
    if (busy <= best + 0.05) continue;
    best = busy;
    shape.num_groups = num_groups;
  }
  shape.num_items = shape.num_groups * DENSE_PER_THREAD;
  return shape;
}

RitzGpuBasisShape ritz_gpu_basis_shape(CeedBasis basis, CeedEvalMode mode, bool transposes) {
  return basis->is_tensor ? tensor_shape(basis, mode) : dense_shape(basis, mode, transposes);
}

// ---- Texts ----

void ritz_gpu_basis_add_define(RitzText *text, const char *name, int value) {
  ritz_text_add(text, "#define RITZ_%s %d\n", name, value);
}

// Compilers for processors know how far to unroll; being told to, they take four times as long.
void ritz_gpu_basis_add_unrolling(RitzText *text, const RitzDeviceInfo *info) {
  if (info->warp_size == 1) ritz_text_add(text, "#undef RITZ_UNROLL\n#define RITZ_UNROLL\n");
}

static void add_tensor(RitzText *text, CeedBasis b, CeedEvalMode mode, bool transposes,
                       const RitzGpuBasisShape *shape) {
  const Strides strides = tensor_strides(b);
  ritz_gpu_basis_add_define(text, "DIM", b->dim);
  ritz_gpu_basis_add_define(text, "P", b->P_1d);
  ritz_gpu_basis_add_define(text, "Q", b->Q_1d);
  ritz_gpu_basis_add_define(text, "IS_GRADIENT", mode == CEED_EVAL_GRAD);
  ritz_gpu_basis_add_define(text, "IS_TRANSPOSED", transposes);
  ritz_gpu_basis_add_define(text, "IS_COLLOCATED", is_collocated(b));
  ritz_gpu_basis_add_define(text, "ITEMS", shape->num_items);
  ritz_gpu_basis_add_define(text, "THREADS", shape->num_threads);
  ritz_gpu_basis_add_define(text, "BLOCKS", resident_blocks(b, shape->num_threads));
  ritz_gpu_basis_add_define(text, "ROW", strides.row);
  ritz_gpu_basis_add_define(text, "PLANE", strides.plane);
  ritz_gpu_basis_add_define(text, "ITEM_SIZE", strides.item);
  ritz_text_add_table(text, "ritz_interp", b->Q_1d, b->P_1d, b->interp_1d);
  ritz_text_add_table(text, "ritz_grad", b->Q_1d, b->P_1d, b->grad_1d);
}

static void add_dense(RitzText *text) {
  ritz_gpu_basis_add_define(text, "THREADS", DENSE_THREADS);
  ritz_gpu_basis_add_define(text, "PER_THREAD", DENSE_PER_THREAD);
  ritz_gpu_basis_add_define(text, "STAGED", DENSE_STAGED);
}

static int describe_basis_kernel(CeedBasis b, CeedEvalMode mode, bool transposes,
                                 RitzGpuBasisKernel *kernel) {
  Ceed ceed = b->obj.ceed;
  RitzText text = {.ceed = ceed};
  char *defines = NULL;
  ritz_gpu_basis_add_unrolling(&text, ritz_gpu(ceed)->info);
  if (b->is_tensor)
    add_tensor(&text, b, mode, transposes, &kernel->shape);
  else
    add_dense(&text);
  RITZ_TRY(ritz_text_finish(&text, &defines));
  const RitzGpuText description = {
      .name = b->is_tensor ? "basis-tensor" : "basis-dense",
      .what = "the kernel of a basis",
      .num = 2,
      .texts = {defines, ritz_gpu_template(b->is_tensor ? "kernels/gpu/tensor.h" : "kernels/gpu/dense.h")}};
  const int ierr = ritz_gpu_kernel_describe(ceed, &description, &kernel->kernel);
  RITZ_FREE(&defines);
  return ierr;
}

// The kernel of an action; made when it is first wanted.
static int prepare_basis_kernel(CeedBasis b, const RitzBasisAction *action, RitzGpuBasisKernel **kernel) {
  RitzGpuBasis *data = b->data;
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  RitzGpuBasisKernel *k = &data->kernel[ritz_gpu_basis_table_number(action->eval_mode)][transposes];
  if (!k->is_ready) {
    k->shape = ritz_gpu_basis_shape(b, action->eval_mode, transposes);
    if (!k->shape.refusal && !k->shape.is_copy)
      RITZ_TRY(describe_basis_kernel(b, action->eval_mode, transposes, k));
    k->is_ready = true;
  }
  *kernel = k;
  return CEED_ERROR_SUCCESS;
}

// ---- Application ----

static int copy(CeedBasis b, const RitzBasisAction *action, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = b->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  const int64_t n = ritz_gpu_basis_num_items(b, action->num_elem) * b->P;
  if (action->add) return ritz_gpu_vector_axpby(ceed, CEED_SCALAR_TYPE, n, 1, 1, u, v);
  return gpu->driver->copy(ceed, gpu->device, gpu->stream, (size_t)n * sizeof(CeedScalar), v, u);
}

static int run_tensor(CeedBasis b, const RitzBasisAction *action, RitzGpuBasisKernel *k, const CeedScalar *u,
                      CeedScalar *v) {
  const int64_t num_items = ritz_gpu_basis_num_items(b, action->num_elem);
  const int64_t num_blocks = (num_items + k->shape.num_items - 1) / k->shape.num_items;
  return RITZ_GPU_RUN(b->obj.ceed, &k->kernel, "basis_tensor", num_blocks, k->shape.num_threads,
                      RITZ_LONG(num_items), RITZ_INT(action->add), RITZ_POINTER(u), RITZ_POINTER(v));
}

static int run_dense(CeedBasis b, const RitzBasisAction *action, RitzGpuBasisKernel *k, const CeedScalar *u,
                     CeedScalar *v) {
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  const int64_t num_items = ritz_gpu_basis_num_items(b, action->num_elem);
  const int64_t num_blocks = (num_items + k->shape.num_items - 1) / k->shape.num_items;
  const CeedInt points = ritz_basis_num_q_comp(b, action->eval_mode) * b->Q;
  const void *table; // rows are what is computed
  RITZ_TRY(ritz_gpu_basis_table(b, action->eval_mode, !transposes, &table));
  return RITZ_GPU_RUN(b->obj.ceed, &k->kernel, "basis_dense_rows", num_blocks, k->shape.num_threads,
                      RITZ_LONG(num_items), RITZ_INT(transposes ? b->P : points),
                      RITZ_INT(transposes ? points : b->P), RITZ_INT(transposes ? b->P : b->Q),
                      RITZ_INT(transposes ? b->Q : b->P), RITZ_INT(k->shape.num_groups),
                      RITZ_INT(action->add), RITZ_POINTER(table), RITZ_POINTER(u), RITZ_POINTER(v));
}

int ritz_gpu_basis_apply_shared(CeedBasis basis, const RitzBasisAction *action, const CeedScalar *u,
                                CeedScalar *v, bool *is_done) {
  RitzGpuBasisKernel *kernel;
  RITZ_TRY(prepare_basis_kernel(basis, action, &kernel));
  *is_done = !kernel->shape.refusal;
  if (kernel->shape.refusal) return CEED_ERROR_SUCCESS;
  if (kernel->shape.is_copy) return copy(basis, action, u, v);
  return (basis->is_tensor ? run_tensor : run_dense)(basis, action, kernel, u, v);
}
