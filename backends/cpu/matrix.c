// SPDX-License-Identifier: BSD-2-Clause
// Element matrices by generated kernels (plan/matrix.h), one for each pair of groups of active fields, which
// are kept with the operator. Called by assembly.c, batch by batch on the threads of the context.
#include "backends/cpu/matrix.h"

#include <string.h>

#include "backends/cpu/cpu.h"
#include "emit/emit.h"

// ---- Life ----

void ritz_cpu_matrices_destroy(RitzCpuMatrix **matrices) {
  while (*matrices) {
    RitzCpuMatrix *m = *matrices;
    *matrices = m->next;
    ritz_plan_cpu_free(&m->target);
    ritz_plan_free_matrix(&m->plan);
    ritz_jit_kernel_release(&m->code);
    for (int t = 0; t < m->num_threads && m->threads; t++) {
      RITZ_FREE(&m->threads[t].matrix);
      RITZ_FREE(&m->threads[t].spaces);
    }
    RITZ_FREE(&m->threads);
    RITZ_FREE((void **)&m->matrices);
    RITZ_FREE(&m->reason);
    RITZ_FREE(&m);
  }
}

// ---- Kernel ----

enum { MOST_BYTES = 1 << 28 }; // of the matrices of a batch

static const char *why_no_matrix(CeedOperator op, CeedInt a, CeedInt b) {
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzActiveGroups *in = &op->assembly_data->in, *out = &op->assembly_data->out;
  const double bytes = (double)ritz_group_num_nodes(in, a) * ritz_group_num_comp(in, a) *
                       ritz_group_num_nodes(out, b) * ritz_group_num_comp(out, b) * sizeof(CeedScalar);
  const char *reason = ritz_plan_refuse_matrix(op, a, b);
  if (reason) return reason;
  if (tier->path != RITZ_PATH_TEXT) return "the operator's kernel does not hold the text of its QFunction";
  if (bytes * tier->target->lanes > MOST_BYTES)
    return "the matrices of a batch of elements take too much memory";
  return NULL;
}

// Used once: not compiled, but left to the reference backend.
static bool is_optional(CeedOperator op) { return op->use == RITZ_USE_ONCE && op->qf->f; }

// Whether the operator runs on the ahead-of-time kernel because that was asked for.
static bool is_left(CeedOperator op) {
  return ritz_cpu_tier(op)->path == RITZ_PATH_UNFUSED && (is_optional(op) || ritz_cpu_is_coming(op->data));
}

// Leaves what a compiler works at where nobody waits for it.
static int load_code(CeedOperator op, RitzCpuMatrix *m) {
  RitzJitOrder order = {.kernel = &m->code,
                        .waits = op->use != RITZ_USE_NO_WAIT || !ritz_cpu_may_serve_first(op)};
  char *text = NULL;
  RITZ_TRY(ritz_emit_cpu_matrix(op->obj.ceed, m->plan, m->target, &text));
  order.source = ritz_cpu_source(op, ritz_cpu_tier(op), text);
  order.source.is_optional = is_optional(op);
  const int ierr = ritz_jit_kernels_make(op->obj.ceed, 1, &order);
  RITZ_FREE(&text);
  return ierr;
}

// Behind those of the plan come the tables of the matrices.
static int list_matrices(const RitzCpuTier *tier, Ceed ceed, RitzCpuMatrix *m) {
  const int num = m->plan->units.plan.num_matrices;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num + 2, &m->matrices));
  for (int k = 0; k < num; k++) m->matrices[k] = tier->matrices[k];
  m->matrices[num] = m->plan->is_tensor ? m->plan->pairs : m->plan->B[0];
  m->matrices[num + 1] = m->plan->B[1];
  return CEED_ERROR_SUCCESS;
}

static int make_threads(CeedOperator op, RitzCpuMatrix *m) {
  const Ceed ceed = op->obj.ceed;
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  const RitzCpu *context = ceed->data;
  const size_t num_spaces = (size_t)m->plan->units.plan.num_spaces;
  const size_t size = (size_t)m->plan->rows * (size_t)m->plan->cols * (size_t)m->target->lanes;
  RITZ_TRY(list_matrices(tier, ceed, m));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)context->num_threads, &m->threads));
  m->num_threads = context->num_threads;
  for (int t = 0; t < m->num_threads; t++) {
    RitzCpuMatrixThread *thread = &m->threads[t];
    RITZ_TRY(RITZ_CALLOC(ceed, num_spaces + 1, &thread->spaces));
    RITZ_TRY(RITZ_MALLOC(ceed, size, &thread->matrix));
    for (size_t s = 0; s < num_spaces; s++) thread->spaces[s] = tier->spaces[m->plan->units.origins[s]];
    thread->spaces[num_spaces].array = thread->matrix;
    thread->args = (RitzKernelArgs){.abi = RITZ_KERNEL_ABI,
                                    .num_elem = op->num_elem,
                                    .spaces = thread->spaces,
                                    .matrices = m->matrices,
                                    .order = &thread->batch};
  }
  return ritz_cpu_reserve_work(
      ceed, ((const RitzKernelInfo *)ritz_jit_symbol(m->code.module, RITZ_INFO_SYMBOL))->work_bytes);
}

// With its kernel, or why there is none.
static int load_matrix(CeedOperator op, RitzCpuMatrix *m) {
  RITZ_FREE(&m->reason);
  RITZ_TRY(load_code(op, m));
  const RitzJitModule module = m->code.module;
  if (module) m->kernel = ritz_cpu_find_kernel(module, m->target->lanes);
  m->is_left = !m->kernel && (!module || (is_optional(op) && ritz_jit_status(module) != RITZ_JIT_REFUSED));
  if (m->kernel) return make_threads(op, m);
  return ritz_strdup(op->obj.ceed, module ? ritz_jit_reason(module) : "its kernel is being compiled",
                     &m->reason);
}

static int make_matrix(CeedOperator op, RitzCpuMatrix *m) {
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  const char *reason = why_no_matrix(op, m->a, m->b);
  m->is_left = is_left(op);
  if (reason) return ritz_strdup(op->obj.ceed, reason, &m->reason);
  RITZ_TRY(ritz_plan_matrix(op, tier->plan, m->a, m->b, &m->plan));
  RITZ_TRY(ritz_plan_cpu_diagonal(op->obj.ceed, &m->plan->units, tier->target, &m->target));
  return load_matrix(op, m);
}

static RitzCpuMatrix **find(RitzCpuTier *tier, CeedInt a, CeedInt b) {
  RitzCpuMatrix **place = &tier->matrices_of_groups;
  while (*place && ((*place)->a != a || (*place)->b != b)) place = &(*place)->next;
  return place;
}

static int create_matrix(CeedOperator op, CeedInt a, CeedInt b, RitzCpuMatrix **place) {
  RitzCpuMatrix *m = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, &m));
  *place = m;
  m->a = a;
  m->b = b;
  m->in = op->assembly_data->in.rstrs[a];
  m->out = op->assembly_data->out.rstrs[b];
  return make_matrix(op, m);
}

int ritz_cpu_matrix_make(CeedOperator op, CeedInt a, CeedInt b, RitzCpuMatrix **matrix) {
  int ierr = CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_prepare_kernel(op, CEED_VECTOR_NONE));
  RitzCpuMatrix **place = find(ritz_cpu_tier(op), a, b), *m = *place;
  if (!m)
    ierr = create_matrix(op, a, b, place);
  else if (ritz_jit_kernel_state(&m->code) == RITZ_JIT_KERNEL_COME)
    ierr = load_matrix(op, m);
  if (ierr && (m = *place)) {
    *place = m->next;
    m->next = NULL;
    ritz_cpu_matrices_destroy(&m);
  }
  *matrix = ierr ? NULL : *place;
  return ierr;
}

bool ritz_cpu_matrix_is_made(CeedOperator op, CeedInt a, CeedInt b) {
  const RitzCpuMatrix *m = op->data ? *find(ritz_cpu_tier(op), a, b) : NULL;
  return m && m->kernel;
}

// ---- Running ----

static CeedVector vector_of(CeedOperator op, const RitzCpuMatrix *m, int s) {
  return ritz_operator_field(op, m->plan->units.plan.spaces[s].field)->vec;
}

static void share_arrays(const RitzCpuMatrix *m, int s) {
  for (int t = 1; t < m->num_threads; t++) m->threads[t].spaces[s] = m->threads[0].spaces[s];
}

int ritz_cpu_matrix_begin(CeedOperator op, RitzCpuMatrix *m) {
  const RitzPlan *plan = &m->plan->units.plan;
  const RitzCpu *context = op->obj.ceed->data;
  void *data;
  int ierr = CEED_ERROR_SUCCESS;
  m->num_held = 0;
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(op->qf, CEED_MEM_HOST, &data));
  for (int t = 0; t < m->num_threads; t++) {
    m->threads[t].args.context = data;
    m->threads[t].args.work = context->work[t];
  }
  for (int s = 0; s < plan->num_spaces && !ierr; s++) {
    ierr = ritz_cpu_get_input(plan, m->target, s, vector_of(op, m, s), &m->threads[0].spaces[s]);
    m->num_held += !ierr;
    share_arrays(m, s);
  }
  return ierr ? ritz_cpu_matrix_end(op, m, ierr) : CEED_ERROR_SUCCESS;
}

int ritz_cpu_matrix_end(CeedOperator op, RitzCpuMatrix *m, int ierr) {
  void *data = m->threads[0].args.context;
  for (int s = 0; s < m->num_held; s++)
    ierr = ritz_first_error(ierr, ritz_cpu_restore_input(m->target, s, vector_of(op, m, s),
                                                         &m->threads[0].spaces[s]));
  return ritz_first_error(ierr, ritz_qfunction_restore_context_data(op->qf, &data));
}

static bool is_signed(CeedElemRestriction r) {
  return r->type == CEED_RESTRICTION_ORIENTED && r->use_signs && r->use_orients;
}

// Of node i % elem_size.
static bool is_negative(CeedElemRestriction r, CeedInt elem, CeedInt i) {
  return is_signed(r) && r->orients[(CeedSize)elem * r->elem_size + i % r->elem_size];
}

static void orient(const RitzCpuMatrix *m, CeedInt elem, CeedScalar *matrix) {
  const CeedInt lanes = m->target->lanes;
  for (CeedInt i = 0; i < m->plan->rows; i++) {
    for (CeedInt j = 0; j < m->plan->cols; j++, matrix += lanes) {
      if (is_negative(m->out, elem, i) != is_negative(m->in, elem, j)) *matrix = -*matrix;
    }
  }
}

int ritz_cpu_matrix_run(RitzCpuMatrix *m, int t, int32_t batch) {
  RitzCpuMatrixThread *thread = &m->threads[t];
  const CeedInt lanes = m->target->lanes, first = batch * lanes;
  thread->batch = batch;
  const int code = m->kernel(&thread->args, 0, 1);
  if (code || !(is_signed(m->in) || is_signed(m->out))) return code;
  for (CeedInt l = 0; l < lanes && first + l < m->in->num_elem; l++) orient(m, first + l, thread->matrix + l);
  return 0;
}
