// SPDX-License-Identifier: BSD-2-Clause
// Fused kernels of many operators and of their diagonals, compiled at the same time. Called through the table
// of /gpu/*/gen and by tune.c.
#include <string.h>

#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"
#include "base/threads.h"

// ---- Compilation by several threads ----

typedef struct {
  CeedInt num, num_threads;
  void (*compile)(void *data, CeedInt i);
  void *data; // borrowed
} Batch;

// The kernels of one thread.
static int compile_part(void *data, int thread) {
  const Batch *batch = data;
  for (CeedInt i = thread; i < batch->num; i += batch->num_threads) batch->compile(batch->data, i);
  return CEED_ERROR_SUCCESS;
}

// Those that fail are left to the first use.
static int compile_all(Ceed ceed, CeedInt num, void (*compile)(void *data, CeedInt i), void *data) {
  Batch batch = {num, 1, compile, data};
  RitzTeam team = NULL;
  if (ritz_gpu_compiles_beside(ceed)) batch.num_threads = CeedIntMin(num, ritz_num_processors());
  if (batch.num_threads <= 1) {
    batch.num_threads = 1;
    return compile_part(&batch, 0);
  }
  RITZ_TRY(ritz_team_create(ceed, (int)batch.num_threads, &team));
  const int ierr = ritz_team_run(team, compile_part, &batch);
  ritz_team_destroy(&team);
  return ierr;
}

static void compile_operator(void *data, CeedInt i) {
  RitzGpuOperator *g = ((RitzGpuOperator **)data)[i];
  if (!g) return;
  struct Ceed_private ceed = ritz_gpu_silent_copy(g->op->obj.ceed);
  (void)ritz_gpu_gen_compile(&ceed, g->op, g);
}

int ritz_gpu_gen_compile_all(Ceed ceed, CeedInt num, RitzGpuOperator **kernels) {
  return compile_all(ceed, num, compile_operator, kernels);
}

// ---- Ahead of the first use ----

// op->data with a text, without a program.
static int describe(CeedOperator op) {
  RitzGpuOperator *g = NULL;
  if (ritz_gpu_gen_is_current(op)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_operator_destroy(op));
  RITZ_TRY(ritz_gpu_gen_describe(op, NULL, &g));
  op->data = g;
  return CEED_ERROR_SUCCESS;
}

static void add_kernel(RitzGpuOperator *g, CeedInt *num, RitzGpuOperator **kernels) {
  CeedInt i = 0;
  while (i < *num && kernels[i] != g) i++;
  if (i == *num) kernels[(*num)++] = g;
}

// kernels [3 num]: those that have no program yet.
static int list_kernels(CeedInt num, CeedOperator *ops, const int *wanted, CeedInt *num_kernels,
                        RitzGpuOperator **kernels) {
  for (CeedInt i = 0; i < num; i++) {
    if (ops[i]->is_at_points) continue;
    RITZ_TRY(describe(ops[i]));
    RitzGpuOperator *g = ops[i]->data;
    if (ritz_gpu_gen_is_pending(g)) add_kernel(g, num_kernels, kernels);
    for (int is_block = 0; is_block < 2; is_block++) {
      RitzGpuOperator *diagonal = NULL;
      if (!(wanted[i] & (is_block ? RITZ_PREPARE_POINT_BLOCKS : RITZ_PREPARE_DIAGONAL))) continue;
      RITZ_TRY(ritz_gpu_diagonal_describe(ops[i], is_block, g, &diagonal));
      if (diagonal) add_kernel(diagonal, num_kernels, kernels);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// What has no program failed, and is left to the first use, which says why.
static int load(CeedOperator op) {
  RitzGpuOperator *g = op->data;
  if (ritz_gpu_gen_is_pending(g) && g->program) RITZ_TRY(ritz_gpu_gen_load(op, g, "ritz_operator"));
  return ritz_gpu_gen_is_pending(g) || !g ? CEED_ERROR_SUCCESS : ritz_gpu_diagonal_load(op, g);
}

// Takes what was begun for all, or makes it.
static int finish(CeedInt num, CeedOperator *ops, CeedInt num_kernels, RitzGpuOperator **kernels) {
  int ierr = CEED_ERROR_SUCCESS;
  for (CeedInt i = 0; i < num_kernels; i++) compile_operator(kernels, i);
  for (CeedInt i = 0; i < num && !ierr; i++) {
    if (!ops[i]->is_at_points) ierr = load(ops[i]);
  }
  for (CeedInt i = 0; i < num; i++) {
    if (!ops[i]->is_at_points && ritz_gpu_gen_is_pending(ops[i]->data))
      (void)ritz_gpu_operator_destroy(ops[i]);
  }
  return ierr;
}

int ritz_gpu_operators_prepare(CeedInt num, CeedOperator *ops, const int *wanted, bool in_background) {
  const Ceed ceed = ops[0]->obj.ceed;
  RitzGpuOperator **kernels = NULL;
  CeedInt num_kernels = 0;
  RITZ_TRY(RITZ_CALLOC(ceed, 3 * (size_t)num, &kernels));
  int ierr = list_kernels(num, ops, wanted, &num_kernels, kernels);
  for (CeedInt i = 0; i < num_kernels && !ierr; i++) ierr = ritz_gpu_gen_begin(kernels[i]->op, kernels[i]);
  if (!ierr && !in_background) ierr = finish(num, ops, num_kernels, kernels);
  RITZ_FREE(&kernels);
  return ierr;
}
