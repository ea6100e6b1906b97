// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts on devices, in double (slots front_*, core/front.h): kernels/gpu/front.h for fronts
// that fit one panel in the memory of a block, up to 64 + 64, at once; larger ones panel by panel. One text
// an object.
#include <stdio.h>

#include "backends/gpu/algebra.h"
#include "backends/gpu/context.h"
#include "core/front.h"

typedef struct {
  RitzGpuKernel kernel; // owned; NONE: no call yet
  int cols;             // of a panel, which has twice as many rows and threads
  bool is_large;        // more than one panel
} Kernels;

// ---- Texts ----

static int64_t bytes_of_panel(int cols) { return (int64_t)(2 * cols * cols + 8) * (int64_t)sizeof(double); }

static bool has_memory(const RitzDeviceInfo *info, int cols) {
  const int64_t of_arrays = 4096; // declared beside the panel
  return 2 * cols <= info->max_threads && bytes_of_panel(cols) + of_arrays <= info->dynamic_shared_bytes;
}

// The smallest panel that has all of a front, else the largest. false: the device has memory for none.
static bool choose_panel(const RitzFront f, Kernels *k) {
  const RitzDeviceInfo *info = ritz_gpu(f->ceed)->info;
  *k = (Kernels){.is_large = true};
  for (int cols = 16; cols <= 64 && has_memory(info, cols); cols *= 2) {
    k->cols = cols;
    k->is_large = f->d1 > cols || (int64_t)f->d1 + f->d2 > 2 * (int64_t)cols;
    if (!k->is_large) return true;
  }
  return k->cols > 0;
}

static int describe_gpu_front(const RitzFront f, Kernels *k) {
  const bool is_ldlt = f->factors == RITZ_FRONT_LDLT;
  char sizes[128], name[32];
  (void)snprintf(
      sizes, sizeof(sizes),
      "#define RITZ_FRONT_COLS %d\n#define RITZ_FRONT_IS_LDLT %d\n#define RITZ_FRONT_IS_LARGE %d\n", k->cols,
      is_ldlt, k->is_large);
  (void)snprintf(name, sizeof(name), "front-%d%s%s", k->cols, is_ldlt ? "-ldlt" : "",
                 k->is_large ? "-large" : "");
  const RitzGpuText text = {
      .name = name, .num = 2, .texts = {sizes, ritz_gpu_template("kernels/gpu/front.h")}};
  return ritz_gpu_kernel_describe(f->ceed, &text, &k->kernel);
}

int ritz_gpu_front_prepare(RitzFront f) {
  Kernels chosen, *k = NULL;
  f->has_kernel = choose_panel(f, &chosen);
  if (!f->has_kernel) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(f->ceed, 1, &k));
  *k = chosen;
  f->data = k;
  RITZ_TRY(describe_gpu_front(f, k));
  return ritz_gpu_compiles_beside(f->ceed) ? ritz_gpu_kernel_begin(f->ceed, &k->kernel) : CEED_ERROR_SUCCESS;
}

int ritz_gpu_front_destroy(RitzFront f) {
  const RitzGpu *gpu = ritz_gpu(f->ceed);
  Kernels *k = f->data;
  // Kernels that run stay loaded until they are done.
  const int ierr = gpu->driver->synchronize(f->ceed, gpu->device, gpu->stream);
  ritz_gpu_kernel_release(f->ceed, &k->kernel);
  RITZ_FREE(&f->data);
  return ierr;
}

// ---- Launches ----

static int launch(const RitzFront f, Kernels *k, const char *entry, int64_t num_blocks, int64_t shared_bytes,
                  int num_args, const RitzDeviceArg *args) {
  return ritz_gpu_launch(f->ceed, &k->kernel, entry, num_blocks, 2 * k->cols, shared_bytes, num_args, args);
}

#define LAUNCH(f, k, entry, num_blocks, shared_bytes, ...)                                                   \
  launch(f, k, entry, num_blocks, shared_bytes,                                                              \
         (int)(sizeof((const RitzDeviceArg[]){__VA_ARGS__}) / sizeof(RitzDeviceArg)),                        \
         (const RitzDeviceArg[]){__VA_ARGS__})

#define FRONT_ARGS(f, a)                                                                                     \
  RITZ_INT((f)->d1), RITZ_INT((f)->d2), RITZ_POINTER((a)->d1), RITZ_POINTER((a)->d2),                        \
      RITZ_POINTER((a)->panel_offsets), RITZ_POINTER((a)->panel_lds), RITZ_POINTER((a)->panels)

// Arrays that are not there have another's address, and are not read.
#define UPDATE_ARGS(a)                                                                                       \
  RITZ_POINTER((a)->updates ? (a)->updates : (a)->panels), RITZ_POINTER((a)->update_offsets),                \
      RITZ_POINTER((a)->update_lds)
#define INFO_ARGS(call)                                                                                      \
  RITZ_INT((call)->info != NULL), RITZ_POINTER((call)->info ? (const void *)(call)->info : (call)->arrays->d1)

static int run_panel(const RitzFront f, Kernels *k, const RitzFrontCall *call, int first) {
  const RitzFrontArrays *a = call->arrays;
  return LAUNCH(f, k, "front_panel", call->count, bytes_of_panel(k->cols), RITZ_INT(first),
                RITZ_INT(!k->is_large), FRONT_ARGS(f, a), UPDATE_ARGS(a),
                RITZ_SCALAR((CeedScalar)f->smallest), INFO_ARGS(call));
}

// Rows below the panel, and all columns behind it.
static int run_behind(const RitzFront f, Kernels *k, const RitzFrontCall *call, int first) {
  const RitzFrontArrays *a = call->arrays;
  const int64_t below = (int64_t)f->d1 + f->d2 - first - 2 * k->cols;
  const int64_t num_parts = below > 0 ? (below + k->cols - 1) / k->cols : 0;
  // Fronts whose columns end within the panel have one more column behind it.
  const int64_t num_tiles = ((int64_t)f->d1 + f->d2 - first - 1 + k->cols - 1) / k->cols;
  const int64_t num_pairs = num_tiles * (num_tiles + 1) / 2, bytes = bytes_of_panel(k->cols);
  if (num_parts > 0)
    RITZ_TRY(LAUNCH(f, k, "front_rows", call->count * num_parts, bytes, RITZ_INT(first),
                    RITZ_INT((int)num_parts), FRONT_ARGS(f, a), INFO_ARGS(call)));
  return LAUNCH(f, k, "front_trailing", call->count * num_pairs, bytes, RITZ_INT(first),
                RITZ_INT((int)num_pairs), FRONT_ARGS(f, a), UPDATE_ARGS(a), INFO_ARGS(call));
}

static int factorize_gpu_front(const RitzFront f, Kernels *k, const RitzFrontCall *call) {
  RITZ_TRY(run_panel(f, k, call, 0));
  for (int first = 0; k->is_large && first < f->d1; first += k->cols) {
    if (first > 0) RITZ_TRY(run_panel(f, k, call, first));
    RITZ_TRY(run_behind(f, k, call, first));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gpu_front_run(RitzFront f, const RitzFrontCall *call) {
  Kernels *k = f->data;
  RITZ_TRY(describe_gpu_front(f, k));
  if (call->kind == RITZ_FRONT_FACTORIZE) return factorize_gpu_front(f, k, call);
  return LAUNCH(f, k, call->kind == RITZ_FRONT_FORWARD ? "front_forward" : "front_backward",
                call->count * call->num_rhs, 0, FRONT_ARGS(f, call->arrays), RITZ_INT(call->num_rhs),
                RITZ_POINTER(call->x), RITZ_POINTER(call->x_offsets), RITZ_LONG(call->x_stride));
}
