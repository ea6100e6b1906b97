// SPDX-License-Identifier: BSD-2-Clause
// What moves between the fronts of a tree (core/front.h) on devices: slot front_tree_run. Kernels:
// kernels/gpu/front-tree.h, one program for all trees.
#include "backends/gpu/algebra.h"
#include "backends/gpu/context.h"
#include "core/front.h"

enum { EXTEND_BLOCK = 64 };

static int run_move(Ceed ceed, RitzGpuKernel *kernel, const RitzFrontTreeAction *a) {
  const char *const entry = a->in_type == CEED_SCALAR_FP32    ? "front_tree_widen"
                            : a->out_type == CEED_SCALAR_FP32 ? "front_tree_narrow"
                                                              : "front_tree_move";
  // Every pointer is an address: lists that are not there are not read.
  const void *from = a->from ? a->from : a->in, *to = a->to ? a->to : a->in;
  return RITZ_GPU_RUN(ceed, kernel, entry, RITZ_GPU_BLOCKS(a->count), RITZ_GPU_BLOCK, RITZ_LONG(a->count),
                      RITZ_POINTER(from), RITZ_POINTER(to), RITZ_INT(a->from != NULL),
                      RITZ_INT(a->to != NULL), RITZ_POINTER(a->in), RITZ_POINTER(a->out));
}

static int run_extend(Ceed ceed, RitzGpuKernel *kernel, const RitzFrontTree *t,
                      const RitzFrontTreeAction *a) {
  // A buffer without entries has no address, and is not read.
  double *updates = a->updates ? a->updates : a->panels;
  const double *child_updates = a->child_updates ? a->child_updates : a->panels;
  return RITZ_GPU_RUN(ceed, kernel, "front_tree_extend_add", a->num_rows, EXTEND_BLOCK, RITZ_LONG(a->first),
                      RITZ_LONG(a->count), RITZ_POINTER(t->rows), RITZ_POINTER(t->d1), RITZ_POINTER(t->d2),
                      RITZ_POINTER(t->panel), RITZ_POINTER(t->update), RITZ_POINTER(t->children),
                      RITZ_POINTER(t->down_start), RITZ_POINTER(t->down), RITZ_POINTER(a->panels),
                      RITZ_POINTER(updates), RITZ_POINTER(child_updates));
}

int ritz_gpu_front_tree_run(Ceed ceed, const RitzFrontTree *t, const RitzFrontTreeAction *a) {
  RitzGpuKernel *kernel;
  RITZ_TRY(ritz_gpu_base(ceed, RITZ_BASE_FRONT_TREES, &kernel));
  switch (a->kind) {
  case RITZ_FRONT_TREE_MOVE: return run_move(ceed, kernel, a);
  case RITZ_FRONT_TREE_EXTEND_ADD: return run_extend(ceed, kernel, t, a);
  case RITZ_FRONT_TREE_FORWARD:
    return RITZ_GPU_RUN(ceed, kernel, "front_tree_forward", RITZ_GPU_BLOCKS(a->num_rows * a->num_rhs),
                        RITZ_GPU_BLOCK, RITZ_LONG(a->first), RITZ_LONG(a->count), RITZ_POINTER(t->rows),
                        RITZ_POINTER(t->d1), RITZ_POINTER(t->children), RITZ_POINTER(t->down_start),
                        RITZ_POINTER(t->down), RITZ_INT(a->num_rhs), RITZ_LONG(a->x_stride),
                        RITZ_POINTER(a->x));
  default:
    return RITZ_GPU_RUN(ceed, kernel, "front_tree_backward", RITZ_GPU_BLOCKS(a->num_rows * a->num_rhs),
                        RITZ_GPU_BLOCK, RITZ_LONG(a->first), RITZ_LONG(a->count), RITZ_POINTER(t->rows),
                        RITZ_POINTER(t->d1), RITZ_POINTER(t->parent), RITZ_POINTER(t->up),
                        RITZ_INT(a->num_rhs), RITZ_LONG(a->x_stride), RITZ_POINTER(a->x));
  }
}
