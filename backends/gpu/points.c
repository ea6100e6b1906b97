// SPDX-License-Identifier: BSD-2-Clause
// Tensor bases at arbitrary points by the kernel kernels/gpu/basis-points.h, which is compiled for a basis, a
// mode and a way when it is first used; on `ref`, and where that does not fit, by points-ref.c. Called for
// CeedBasisApplyAtPoints and by operator.c.
#include <limits.h>
#include <string.h>

#include "backends/gpu/basis.h"
#include "backends/gpu/memory.h"
#include "backends/gpu/operators.h"
#include "backends/gpu/vectors.h"
#include "plan/gpu-at-points.h"

// Threads and elements of a block at most; bytes of shared memory that leave room for several blocks.
enum { MAX_THREADS = 128, MIN_THREADS = 32, MAX_ELEMS = 16, GOOD_BYTES = 32 << 10 };

// ---- Sizes of blocks ----

static int64_t points_bytes(CeedBasis b, CeedEvalMode mode, bool transposes, int threads, int elems) {
  const int64_t slots = threads + 1, q_comp = mode == CEED_EVAL_GRAD ? b->dim : 1;
  const int64_t weights = slots * b->dim * b->P_1d * (mode == CEED_EVAL_GRAD ? 2 : 1);
  const int64_t nodes = (b->P | 1) * (int64_t)elems;
  return (nodes + weights + (transposes ? q_comp * slots : 0)) * (int64_t)sizeof(CeedScalar) +
         (elems + 1) * (int64_t)sizeof(CeedInt);
}

static RitzGpuPointsShape points_shape(CeedBasis b, CeedEvalMode mode, bool transposes) {
  const RitzDeviceInfo *info = ritz_gpu(b->obj.ceed)->info;
  RitzGpuPointsShape shape = {NULL, MAX_THREADS, MAX_ELEMS};
  if (!ritz_gpu(b->obj.ceed)->has_basis_kernels) shape.refusal = "this is the backend of such kernels";
  if (b->dim > 3) shape.refusal = "it has more than three dimensions";
  if (!ritz_plan_points_are_finite(b)) shape.refusal = "its tables are not finite";
  if (shape.refusal) return shape;
  while (points_bytes(b, mode, transposes, shape.num_threads, shape.max_elems) > GOOD_BYTES) {
    const bool has_many_nodes =
        (int64_t)b->P * shape.max_elems > (int64_t)shape.num_threads * b->dim * b->P_1d;
    if (shape.max_elems > 1 && (has_many_nodes || shape.num_threads == MIN_THREADS))
      shape.max_elems /= 2;
    else if (shape.num_threads > MIN_THREADS)
      shape.num_threads /= 2;
    else
      break;
  }
  if (points_bytes(b, mode, transposes, shape.num_threads, shape.max_elems) > info->shared_bytes)
    shape.refusal = "an element does not fit into shared memory";
  return shape;
}

// Where numbers of points differ, a margin keeps most blocks from a second round for a few points.
int ritz_gpu_points_elements(const RitzGpuPointsShape *shape, CeedInt num_elem, int64_t num_points,
                             bool is_uniform) {
  const int64_t threads = is_uniform ? shape->num_threads : shape->num_threads * 7 / 8;
  if (num_points == 0) return shape->max_elems;
  const int64_t elems = threads * num_elem / num_points;
  return elems < 1 ? 1 : elems > shape->max_elems ? shape->max_elems : (int)elems;
}

// ---- The kernel ----

static void add_sizes(RitzText *text, CeedBasis b, CeedEvalMode mode, bool transposes, CeedInt K,
                      const RitzGpuPointsShape *shape) {
  const struct {
    const char *name;
    int value;
  } sizes[] = {{"DIM", b->dim},
               {"P", b->P_1d},
               {"K", K},
               {"NODES", b->P},
               {"LINE", b->P_1d},
               {"IS_GRADIENT", mode == CEED_EVAL_GRAD},
               {"IS_TRANSPOSED", transposes},
               {"ELEMS", shape->max_elems},
               {"THREADS", shape->num_threads},
               {"SLOTS", shape->num_threads + 1},
               {"BLOCKS", CeedIntMax(1, RITZ_POINTS_RESIDENT / shape->num_threads)}};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    ritz_gpu_basis_add_define(text, sizes[i].name, sizes[i].value);
}

static int make_points_text(CeedBasis b, CeedEvalMode mode, bool transposes, const RitzGpuPointsShape *shape,
                            char **defines) {
  Ceed ceed = b->obj.ceed;
  RitzText text = {.ceed = ceed};
  CeedScalar *c = NULL;
  CeedInt K;
  RITZ_TRY(ritz_plan_points_coefficients(b, &K, &c));
  ritz_gpu_basis_add_unrolling(&text, ritz_gpu(ceed)->info);
  add_sizes(&text, b, mode, transposes, K, shape);
  ritz_text_add_table(&text, "ritz_coefficients", K, b->P_1d, c);
  RITZ_FREE(&c);
  return ritz_text_finish(&text, defines);
}

static int describe_points_kernel(CeedBasis b, CeedEvalMode mode, bool transposes,
                                  RitzGpuPointsKernel *kernel) {
  char *defines = NULL;
  RITZ_TRY(make_points_text(b, mode, transposes, &kernel->shape, &defines));
  const RitzGpuText text = {.name = "basis-points",
                            .what = "the kernel of a basis at points",
                            .num = 2,
                            .texts = {defines, ritz_gpu_template("kernels/gpu/basis-points.h")}};
  const int ierr = ritz_gpu_kernel_describe(b->obj.ceed, &text, &kernel->kernel);
  RITZ_FREE(&defines);
  return ierr;
}

static RitzGpuPointsKernel *points_kernel_of(CeedBasis b, CeedEvalMode mode, bool transposes) {
  RitzGpuBasis *data = b->data;
  return &data->at_points[ritz_gpu_basis_table_number(mode)][transposes];
}

// The kernel of an action; made when it is first wanted.
static int prepare_points_kernel(CeedBasis b, const RitzBasisAction *action, RitzGpuPointsKernel **kernel) {
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  RITZ_TRY(ritz_gpu_basis_open(b));
  RitzGpuPointsKernel *k = points_kernel_of(b, action->eval_mode, transposes);
  if (!k->is_ready) {
    k->shape = points_shape(b, action->eval_mode, transposes);
    if (!k->shape.refusal) RITZ_TRY(describe_points_kernel(b, action->eval_mode, transposes, k));
    k->is_ready = true;
  }
  *kernel = k;
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_points_run(CeedBasis basis, const RitzBasisAction *action, const RitzGpuPoints *points,
                        const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  RitzGpuPointsKernel *k;
  RITZ_TRY(prepare_points_kernel(basis, action, &k));
  if (k->shape.refusal) return ritz_gpu_points_run_ref(basis, action, points, x, u, v);
  const int elems =
      ritz_gpu_points_elements(&k->shape, action->num_elem, points->num_points, points->is_uniform);
  const int64_t num_groups = (action->num_elem + (int64_t)elems - 1) / elems;
  return RITZ_GPU_RUN(basis->obj.ceed, &k->kernel, "basis_at_points", num_groups * basis->num_comp,
                      k->shape.num_threads, RITZ_INT(action->num_elem), RITZ_INT(elems),
                      RITZ_INT(basis->num_comp), RITZ_LONG(points->distance), RITZ_INT(points->first_elem),
                      RITZ_INT(points->origin), RITZ_INT(points->elem_stride), RITZ_INT(action->add),
                      RITZ_POINTER(points->starts), RITZ_POINTER(x), RITZ_POINTER(u), RITZ_POINTER(v));
}

void ritz_gpu_points_explain(CeedBasis b, CeedEvalMode mode, bool transposes, FILE *stream) {
  const RitzGpuPointsShape shape = points_shape(b, mode, transposes);
  fprintf(stream, "%" CeedInt_FMT "D tensor, %" CeedInt_FMT " nodes a direction, %s at points: ", b->dim,
          b->P_1d, mode == CEED_EVAL_GRAD ? "derivatives" : "values");
  if (!shape.refusal)
    fprintf(stream, "compiled, blocks of %d threads for up to %d elements\n", shape.num_threads,
            shape.max_elems);
  else
    fprintf(stream, "kernels for any size, because %s\n", shape.refusal);
}

// ---- The slot: padded vectors of points ----

// Sums of numbers of points on the device; sent again when they are others than those of the last call.
static int send_starts(CeedBasis b, CeedInt num_elem, const CeedInt *num_points, RitzGpuPoints *points) {
  Ceed ceed = b->obj.ceed;
  RitzGpuBasis *data = b->data;
  CeedInt *starts = NULL;
  for (CeedInt e = 0; e < num_elem; e++) points->num_points += num_points[e];
  RITZ_REQUIRE(points->num_points < INT_MAX, ceed, CEED_ERROR_DIMENSION,
               "bases at points: %lld points of all elements exceed the 32-bit numbers of the device",
               (long long)points->num_points);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_elem + 1, &starts));
  starts[0] = 0;
  for (CeedInt e = 0; e < num_elem; e++) {
    starts[e + 1] = starts[e] + num_points[e];
    points->elem_stride = CeedIntMax(points->elem_stride, num_points[e]);
  }
  const size_t num_bytes = ((size_t)num_elem + 1) * sizeof(*starts);
  const bool is_known = data->num_starts == num_elem + 1 && !memcmp(starts, data->starts, num_bytes);
  if (is_known) {
    RITZ_FREE(&starts);
  } else {
    RITZ_FREE(&data->starts);
    ritz_gpu_free(ceed, &data->starts_on_device);
    data->starts = starts;
    data->num_starts = 0;
    RITZ_TRY(ritz_gpu_upload(ceed, num_bytes, starts, &data->starts_on_device));
    data->num_starts = num_elem + 1;
  }
  points->starts = data->starts_on_device;
  return CEED_ERROR_SUCCESS;
}

static int run_padded(CeedBasis b, const RitzBasisAction *action, const CeedInt *num_points,
                      const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = b->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  const bool transposes = action->t_mode == CEED_TRANSPOSE;
  RitzGpuPoints points = {0};
  RITZ_TRY(ritz_gpu_basis_open(b));
  RITZ_TRY(send_starts(b, action->num_elem, num_points, &points));
  points.distance = (int64_t)points.elem_stride * action->num_elem;
  points.is_uniform = points.distance == points.num_points;
  if (!transposes && !points.is_uniform) { // nobody writes the padding
    const CeedInt q_comp = action->eval_mode == CEED_EVAL_GRAD ? b->dim : 1;
    const size_t num = (size_t)q_comp * (size_t)b->num_comp * (size_t)points.distance;
    RITZ_TRY(gpu->driver->clear(ceed, gpu->device, gpu->stream, num * sizeof(*v), v));
  }
  return ritz_gpu_points_run(b, action, &points, x, u, v);
}

int ritz_gpu_basis_apply_at_points(CeedBasis basis, const RitzBasisAction *action, const CeedInt *num_points,
                                   const CeedScalar *x, const CeedScalar *u, CeedScalar *v) {
  Ceed ceed = basis->obj.ceed;
  CeedInt most = 0;
  for (CeedInt e = 0; e < action->num_elem; e++) most = CeedIntMax(most, num_points[e]);
  if (action->eval_mode == CEED_EVAL_WEIGHT)
    return ritz_gpu_vector_set_value(ceed, CEED_SCALAR_TYPE, (CeedSize)most * action->num_elem, 1, v);
  return run_padded(basis, action, num_points, x, u, v);
}
