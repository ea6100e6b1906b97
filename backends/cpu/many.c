// SPDX-License-Identifier: BSD-2-Clause
// An operator applied to several vectors at once: some batches of elements for all of them, then the next
// batches, so that what the vectors have in common (data at points, offsets, tables) comes from memory once
// and then from the second cache. The kernel is that of one vector.
#include <string.h>

#include "backends/cpu/cpu.h"

// Of one vector: copies of cpu->spaces and cpu->zeroed, and the hook that zeroes its outputs.
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
static double batch_bytes(const RitzCpuOperator *cpu) {
  const RitzPlanCost element = ritz_plan_cpu_cost(cpu->plan, cpu->target);
  return (element.bytes_stored + element.bytes_offsets + element.bytes_vectors) * (double)cpu->target->lanes;
}

// As many as stay in the second cache until the next vector comes.
static int64_t group_of(RitzCpuOperator *cpu) {
  enum { CACHE_BYTES = 512 << 10, MOST = 64 }; // half of what processors have; measured: a shallow optimum
  const double bytes = batch_bytes(cpu);
  if (cpu->group == 0)
    cpu->group = bytes * MOST < CACHE_BYTES ? MOST : bytes > CACHE_BYTES ? 1 : (int64_t)(CACHE_BYTES / bytes);
  return cpu->group;
}

void ritz_cpu_explain_many(CeedOperator op, FILE *stream) {
  RitzCpuOperator *cpu = op->data;
  if (cpu->path == RITZ_PATH_DELEGATED)
    fprintf(stream, "  several vectors at once: one after the other\n");
  else
    fprintf(stream, "  several vectors at once: %lld batches of elements for all of them, then the next\n",
            (long long)group_of(cpu));
}

// ---- Arrays ----

static int allocate(Many *m) {
  Ceed ceed = m->op->obj.ceed;
  const size_t num = (size_t)m->num;
  const size_t num_spaces = (size_t)((const RitzCpuOperator *)m->op->data)->plan->num_spaces;
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
  const RitzCpuOperator *cpu = m->op->data;
  memcpy(one->spaces, cpu->spaces, (size_t)cpu->plan->num_spaces * sizeof(*one->spaces));
  memcpy(one->zeroed, cpu->zeroed, (size_t)cpu->plan->num_spaces * sizeof(*one->zeroed));
}

static int open_vector(Many *m, CeedInt k) {
  RitzCpuOperator *cpu = m->op->data;
  OneVector *one = &m->each[k];
  one->spaces = m->spaces + (size_t)k * (size_t)cpu->plan->num_spaces;
  one->zeroed = m->zeroed + (size_t)k * (size_t)cpu->plan->num_spaces;
  const int ierr = ritz_cpu_get_arrays(m->op, m->in[k], m->out[k], m->mode, &one->num_held);
  keep(m, one);
  one->zeroing = (RitzCpuZeroing){cpu->plan, one->zeroed};
  one->hook = (RitzKernelHook){.begin = cpu->schedule->before_begin,
                               .ranges = cpu->schedule->before,
                               .call = ritz_cpu_zero_range,
                               .data = &one->zeroing};
  m->vectors[k] = (RitzScheduleVector){one->spaces, m->mode == RITZ_APPLY_ADD ? NULL : &one->hook};
  return ierr;
}

static int close_vector(Many *m, CeedInt k) {
  RitzCpuOperator *cpu = m->op->data;
  const OneVector *one = &m->each[k];
  if (!one->spaces) return CEED_ERROR_SUCCESS;
  memcpy(cpu->spaces, one->spaces, (size_t)cpu->plan->num_spaces * sizeof(*one->spaces));
  return ritz_cpu_restore_arrays(m->op, m->in[k], m->out[k], one->num_held);
}

// ---- Running ----

static int run_kernel(Many *m) {
  RitzCpuOperator *cpu = m->op->data;
  const RitzCpu *ceed = m->op->obj.ceed->data;
  void *context;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(m->op->qf, CEED_MEM_HOST, &context));
  for (int t = 0; t < ceed->num_threads; t++) {
    cpu->args[t].context = context;
    cpu->args[t].work = ceed->work[t];
  }
  cpu->applies_left -= m->num;
  const int code = ritz_schedule_run_many(cpu->schedule, ceed->team, cpu->kernel, cpu->args, m->num,
                                          m->vectors, group_of(cpu));
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
  if (((const RitzCpuOperator *)op->data)->path == RITZ_PATH_DELEGATED) return CEED_ERROR_SUCCESS;
  *is_done = true;
  return run_all(&m);
}
