// SPDX-License-Identifier: BSD-2-Clause
// An operator applied to several vectors at once: some batches of elements for all of them, then the next
// batches, so that what the vectors have in common (data at points, offsets, tables) comes from memory once
// and then from the second cache. The kernel is that of one vector.
#include <string.h>

#include "backends/cpu/cpu.h"

// Of one vector: copies of the tier's spaces and outputs to be zeroed, and the hook that zeroes its outputs.
typedef struct {
  RitzKernelSpace *spaces; // [num_spaces]
  void **zeroed;           // [num_spaces]
  int num_held;
  RitzCpuZeroing zeroing;
  RitzKernelHook hook;
} OneVector;

typedef struct {
  CeedOperator op;
  CeedInt num;
  const CeedVector *in, *out;
  RitzApplyMode mode;
  OneVector *each;             // owned [num]
  RitzScheduleVector *vectors; // owned [num]
  RitzKernelSpace *spaces;     // owned [num][num_spaces]
  void **zeroed;               // owned [num][num_spaces]
} Many;

// ---- How many batches ----

// Bytes of a batch that come from memory: data that all vectors share, and those of one vector.
static double batch_bytes(const RitzCpuTier *tier) {
  const RitzPlanCost element = ritz_plan_cpu_cost(tier->plan, tier->target);
  return (element.bytes_stored + element.bytes_offsets + element.bytes_vectors) * (double)tier->target->lanes;
}

// As many as stay in the second cache until the next vector comes.
static int64_t group_of(RitzCpuTier *tier) {
  enum { CACHE_BYTES = 512 << 10, MOST = 64 }; // half of what processors have; measured: a shallow optimum
  const double bytes = batch_bytes(tier);
  if (tier->group == 0)
    tier->group = bytes * MOST < CACHE_BYTES ? MOST
                  : bytes > CACHE_BYTES      ? 1
                                             : (int64_t)(CACHE_BYTES / bytes);
  return tier->group;
}

void ritz_cpu_explain_many(CeedOperator op, FILE *stream) {
  RitzCpuTier *tier = ritz_cpu_tier(op);
  if (tier->path == RITZ_PATH_DELEGATED)
    fprintf(stream, "  several vectors at once: one after the other\n");
  else
    fprintf(stream, "  several vectors at once: %lld batches of elements for all of them, then the next\n",
            (long long)group_of(tier));
}

// ---- Arrays ----

static int allocate(Many *m) {
  Ceed ceed = m->op->obj.ceed;
  const size_t num = (size_t)m->num;
  const size_t num_spaces = (size_t)ritz_cpu_tier(m->op)->plan->num_spaces;
  RITZ_TRY(RITZ_CALLOC(ceed, num, &m->each));
  RITZ_TRY(RITZ_CALLOC(ceed, num, &m->vectors));
  RITZ_TRY(RITZ_CALLOC(ceed, num * num_spaces, &m->spaces));
  return RITZ_CALLOC(ceed, num * num_spaces, &m->zeroed);
}

static void free_all(Many *m) {
  RITZ_FREE(&m->each);
  RITZ_FREE(&m->vectors);
  RITZ_FREE(&m->spaces);
  RITZ_FREE((void **)&m->zeroed);
}

// What the operator holds for a vector, between its own arrays and those of the vector.
static void keep(const Many *m, OneVector *one) {
  const RitzCpuTier *tier = ritz_cpu_tier(m->op);
  memcpy(one->spaces, tier->spaces, (size_t)tier->plan->num_spaces * sizeof(*one->spaces));
  memcpy(one->zeroed, tier->zeroed, (size_t)tier->plan->num_spaces * sizeof(*one->zeroed));
}

static int open_vector(Many *m, CeedInt k) {
  RitzCpuTier *tier = ritz_cpu_tier(m->op);
  OneVector *one = &m->each[k];
  one->spaces = m->spaces + (size_t)k * (size_t)tier->plan->num_spaces;
  one->zeroed = m->zeroed + (size_t)k * (size_t)tier->plan->num_spaces;
  const int ierr = ritz_cpu_get_arrays(m->op, m->in[k], m->out[k], m->mode, &one->num_held);
  keep(m, one);
  one->zeroing = (RitzCpuZeroing){tier->plan, one->zeroed};
  one->hook = (RitzKernelHook){.begin = tier->schedule->before_begin,
                               .ranges = tier->schedule->before,
                               .call = ritz_cpu_zero_range,
                               .data = &one->zeroing};
  m->vectors[k] = (RitzScheduleVector){one->spaces, m->mode == RITZ_APPLY_ADD ? NULL : &one->hook};
  return ierr;
}

static int close_vector(Many *m, CeedInt k) {
  RitzCpuTier *tier = ritz_cpu_tier(m->op);
  const OneVector *one = &m->each[k];
  if (!one->spaces) return CEED_ERROR_SUCCESS;
  memcpy(tier->spaces, one->spaces, (size_t)tier->plan->num_spaces * sizeof(*one->spaces));
  return ritz_cpu_restore_arrays(m->op, m->in[k], m->out[k], one->num_held);
}

// ---- Running ----

static int run_kernel(Many *m) {
  RitzCpuTier *tier = ritz_cpu_tier(m->op);
  const RitzCpu *ceed = m->op->obj.ceed->data;
  void *context;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(m->op->qf, CEED_MEM_HOST, &context));
  for (int t = 0; t < ceed->num_threads; t++) {
    tier->args[t].context = context;
    tier->args[t].work = ceed->work[t];
  }
  ((RitzCpuOperator *)m->op->data)->applies_left -= m->num;
  const int code = ritz_schedule_run_many(tier->schedule, ceed->team, tier->kernel, tier->args, m->num,
                                          m->vectors, group_of(tier));
  const int restored = ritz_qfunction_restore_context_data(m->op->qf, &context);
  RITZ_TRY_BACKEND(code);
  return restored;
}

static int run_all(Many *m) {
  int ierr = allocate(m);
  for (CeedInt k = 0; !ierr && k < m->num; k++) ierr = open_vector(m, k);
  if (!ierr) ierr = run_kernel(m);
  for (CeedInt k = 0; m->each && m->zeroed && k < m->num; k++) {
    const int restored = close_vector(m, k);
    if (!ierr) ierr = restored;
  }
  free_all(m);
  return ierr;
}

int ritz_cpu_operator_apply_many(CeedOperator op, CeedInt num, const CeedVector *in, const CeedVector *out,
                                 RitzApplyMode mode, bool *is_done) {
  Many m = {.op = op, .num = num, .in = in, .out = out, .mode = mode};
  RITZ_TRY(ritz_cpu_prepare(1, &op, in[0]));
  if (ritz_cpu_tier(op)->path == RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  *is_done = true;
  return run_all(&m);
}
