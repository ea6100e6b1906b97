// SPDX-License-Identifier: BSD-2-Clause
// Assembly on the threads of the context: element matrices, and matrices in a fixed pattern
// (core/assembly-pattern.h), by the kernels of matrix.c. Called through the table of the backend. What has no
// kernel, and few elements that would be done sooner than a compiler, are left to the reference backend.
//
// Rows of a pattern belong to the thread that has the first batch of elements that touches them. A thread
// goes, ascending, through its own batches and those of others that touch its rows, and adds to these alone.
// So contributions come in the order of the batches, whatever the number of threads; batches at the borders
// are computed by several of them. Rows are zeroed right before the first contribution: values come from
// memory once where the order of elements is a good one.
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/matrix.h"
#include "backends/ref/ref.h"
#include "core/assembly-pattern.h"
#include "core/operator.h"

// Fewer elements than this are assembled sooner than a kernel is compiled.
enum { FEW_ELEMENTS = 40000 };

static bool is_few(CeedOperator op) { return op->num_elem < FEW_ELEMENTS && !op->obj.ceed->is_strict; }

// ---- Element matrices ----

typedef struct {
  CeedOperator op;
  RitzCpuMatrix *matrix;
  CeedInt first_elem, num_elem;
  CeedScalar *values;
} Matrices;

// Component pairs apart: c_in, c_out, output node, input node.
static void copy_matrix(const Matrices *run, const CeedScalar *from, CeedScalar *to) {
  const RitzMatrixPlan *p = run->matrix->plan;
  const CeedInt lanes = run->matrix->target->lanes, P_in = p->cols / p->comps_in,
                P_out = p->rows / p->comps_out;
  for (CeedInt c = 0; c < p->comps_in * p->comps_out; c++) {
    const CeedInt first_row = c % p->comps_out * P_out, first_col = c / p->comps_out * P_in;
    for (CeedInt i = first_row; i < first_row + P_out; i++)
      for (CeedInt j = first_col; j < first_col + P_in; j++)
        *to++ = from[((CeedSize)i * p->cols + j) * lanes];
  }
}

static int matrices_of_thread(void *data, int t) {
  const Matrices *run = data;
  const RitzCpuMatrix *m = run->matrix;
  const CeedInt lanes = m->target->lanes, end = run->first_elem + run->num_elem;
  const CeedSize size = (CeedSize)m->plan->rows * m->plan->cols;
  const int64_t first = run->first_elem / lanes, num = (end - 1) / lanes + 1 - first;
  for (int64_t b = first + num * t / m->num_threads; b < first + num * (t + 1) / m->num_threads; b++) {
    const int code = ritz_cpu_matrix_run(run->matrix, t, (int32_t)b);
    if (code) return code;
    for (CeedInt l = 0; l < lanes; l++) {
      const CeedInt elem = (CeedInt)b * lanes + l;
      if (elem < run->first_elem || elem >= end) continue;
      copy_matrix(run, m->threads[t].matrix + l, run->values + (elem - run->first_elem) * size);
    }
  }
  return 0;
}

static int run_matrices(CeedOperator op, RitzCpuMatrix *m, CeedInt first_elem, CeedInt num_elem,
                        CeedScalar *values) {
  const RitzCpu *context = op->obj.ceed->data;
  Matrices run = {op, m, first_elem, num_elem, values};
  RITZ_TRY(ritz_cpu_matrix_begin(op, m));
  const int code = ritz_team_run(context->team, matrices_of_thread, &run);
  RITZ_TRY(ritz_cpu_matrix_end(op, m, CEED_ERROR_SUCCESS));
  RITZ_TRY_BACKEND(code);
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_operator_assemble(CeedOperator op, CeedInt a, CeedInt b, CeedInt first_elem, CeedInt num_elem,
                               CeedSize place, CeedScalar *values) {
  RitzCpuMatrix *m = NULL;
  if (!is_few(op) || ritz_cpu_matrix_is_made(op, a, b)) {
    RITZ_TRY(ritz_cpu_matrix_make(op, a, b, &m));
    if (m->kernel && !op->qf_data->reuse) return run_matrices(op, m, first_elem, num_elem, values + place);
    if (m->plan && !m->kernel && !m->is_left)
      RITZ_TRY(ritz_cpu_delegate(op->obj.ceed, "assembly of element matrices", m->reason));
  }
  return ritz_ref_operator_assemble(op, a, b, first_elem, num_elem, place, values);
}

// ---- Fixed patterns ----

// How the batches of a block are shared: those of thread t are list[begin[t]] ... list[begin[t + 1] - 1].
// Rows that batch b is the first of all to touch: rows[fresh[b]] ... rows[fresh[b + 1] - 1].
typedef struct {
  RitzCpuMatrix *matrix; // of `computes`, while it runs; NULL: there are no elements
  CeedOperator computes; // in CeedScalar
  CeedInt num_batches;
  int64_t *begin;
  int32_t *list;
  int64_t *fresh, *rows;
} Share;

typedef struct {
  int num_threads;
  uint16_t *owner; // owned [num_rows]: the thread; NULL with one thread
  Share *shares;   // owned, of each block
} Shares;

int ritz_cpu_assembly_destroy(RitzAssembly a) {
  Shares *s = a->data;
  for (CeedInt k = 0; k < a->num_blocks && s->shares; k++) {
    RITZ_FREE(&s->shares[k].begin);
    RITZ_FREE(&s->shares[k].list);
    RITZ_FREE(&s->shares[k].fresh);
    RITZ_FREE(&s->shares[k].rows);
  }
  RITZ_FREE(&s->owner);
  RITZ_FREE(&s->shares);
  RITZ_FREE(&a->data);
  return CEED_ERROR_SUCCESS;
}

enum { NOBODY = UINT16_MAX };

static int thread_of(const Shares *s, const Share *share, CeedInt batch) {
  return (int)((int64_t)batch * s->num_threads / share->num_batches);
}

// Gives owners to the rows that no block before has touched, and places where they are zeroed.
static int find_owners(const struct RitzAssembly_private *a, const Shares *s, CeedInt k, CeedInt lanes,
                       uint16_t *owner) {
  const RitzAssemblyBlock *block = &a->blocks[k];
  Share *share = &s->shares[k];
  int64_t num = 0;
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)share->num_batches + 1, &share->fresh));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->num_rows, &share->rows));
  for (CeedInt elem = 0; elem < block->op->num_elem; elem++) {
    if (elem % lanes == 0) share->fresh[elem / lanes] = num;
    for (CeedInt i = 0; i < block->num_rows; i++) {
      const CeedSize row = ritz_assembly_row(block, elem, i);
      if (owner[row] != NOBODY) continue;
      owner[row] = (uint16_t)thread_of(s, share, elem / lanes);
      share->rows[num++] = row;
    }
  }
  share->fresh[share->num_batches] = num;
  return RITZ_REALLOC(a->ceed, (size_t)(num ? num : 1), &share->rows);
}

// Threads whose rows a batch touches, each once, into `threads`; returns their number.
static int find_threads(const RitzAssemblyBlock *block, const uint16_t *owner, CeedInt batch, CeedInt lanes,
                        int num_threads, bool *is_met, int *threads) {
  const CeedInt end = CeedIntMin(block->op->num_elem, (batch + 1) * lanes);
  int num = 0;
  for (int t = 0; t < num_threads; t++) is_met[t] = false;
  for (CeedInt elem = batch * lanes; elem < end; elem++) {
    for (CeedInt i = 0; i < block->num_rows; i++) {
      const int t = owner[ritz_assembly_row(block, elem, i)];
      if (is_met[t]) continue;
      is_met[t] = true;
      threads[num++] = t;
    }
  }
  return num;
}

// Counts batches of each thread, or stores them behind begin[t].
static void visit_batches(const RitzAssemblyBlock *block, const uint16_t *owner, CeedInt num_batches,
                          CeedInt lanes, int num_threads, bool *is_met, int *threads, int64_t *next,
                          int32_t *list) {
  for (CeedInt b = 0; b < num_batches; b++) {
    const int num = find_threads(block, owner, b, lanes, num_threads, is_met, threads);
    for (int n = 0; n < num; n++) {
      const int64_t at = next[threads[n]]++;
      if (list) list[at] = b;
    }
  }
}

// As map_rows of core/assembly-pattern.c: counts two places up.
static int share_batches(const struct RitzAssembly_private *a, const Shares *s, CeedInt k, CeedInt lanes,
                         const uint16_t *owner) {
  const RitzAssemblyBlock *block = &a->blocks[k];
  const int n = s->num_threads;
  Share *share = &s->shares[k];
  bool *is_met = NULL;
  int *threads = NULL, ierr;
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)n + 2, &share->begin));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)n, &is_met));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)n, &threads));
  visit_batches(block, owner, share->num_batches, lanes, n, is_met, threads, share->begin + 2, NULL);
  for (int t = 2; t <= n + 1; t++) share->begin[t] += share->begin[t - 1];
  RITZ_TRY_CLEANUP(RITZ_MALLOC(a->ceed, (size_t)share->begin[n + 1], &share->list));
  visit_batches(block, owner, share->num_batches, lanes, n, is_met, threads, share->begin + 1, share->list);
cleanup:
  RITZ_FREE(&is_met);
  RITZ_FREE(&threads);
  return ierr;
}

static int make_shares(RitzAssembly a, const CeedInt *lanes) {
  const RitzCpu *context = a->ceed->data;
  Shares *s = NULL;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &s));
  a->data = s;
  s->num_threads = CeedIntMin(context->num_threads, NOBODY);
  RITZ_TRY(RITZ_CALLOC(a->ceed, (size_t)a->num_blocks, &s->shares));
  RITZ_TRY(RITZ_MALLOC(a->ceed, (size_t)a->num_rows, &s->owner));
  for (CeedSize r = 0; r < a->num_rows; r++) s->owner[r] = NOBODY;
  for (CeedInt k = 0; k < a->num_blocks; k++) {
    s->shares[k].num_batches = (a->blocks[k].op->num_elem + lanes[k] - 1) / lanes[k];
    RITZ_TRY(find_owners(a, s, k, lanes[k], s->owner));
    RITZ_TRY(share_batches(a, s, k, lanes[k], s->owner));
  }
  if (s->num_threads == 1) RITZ_FREE(&s->owner);
  return CEED_ERROR_SUCCESS;
}

// Kernels of all blocks with elements; *is_supported: there are. Patterns of one run are worth no compiler
// for few elements. Parts of other contexts have other threads, or no kernels.
static int make_kernels(RitzAssembly a, CeedOperator *computes, RitzCpuMatrix **matrices,
                        bool *is_supported) {
  for (CeedInt k = 0; k < a->num_blocks && *is_supported; k++) {
    const RitzAssemblyBlock *block = &a->blocks[k];
    CeedOperatorAssemblyData groups;
    if (block->op->num_elem == 0) continue;
    RITZ_TRY(ritz_operator_stand_in(block->op, &computes[k]));
    RITZ_TRY(CeedOperatorGetOperatorAssemblyData(computes[k], &groups));
    *is_supported =
        computes[k]->obj.ceed == a->ceed && !computes[k]->qf_data->reuse &&
        (!a->is_given || !is_few(computes[k]) || ritz_cpu_matrix_is_made(computes[k], block->a, block->b));
    if (!*is_supported) return CEED_ERROR_SUCCESS;
    RITZ_TRY(ritz_cpu_matrix_make(computes[k], block->a, block->b, &matrices[k]));
    *is_supported = matrices[k]->kernel;
  }
  return CEED_ERROR_SUCCESS;
}

static int prepare_shares(RitzAssembly a, CeedOperator *computes, RitzCpuMatrix **matrices, CeedInt *lanes) {
  for (CeedInt k = 0; k < a->num_blocks; k++) lanes[k] = matrices[k] ? matrices[k]->target->lanes : 1;
  if (!a->data) RITZ_TRY(make_shares(a, lanes));
  Shares *s = a->data;
  for (CeedInt k = 0; k < a->num_blocks; k++) {
    s->shares[k].matrix = matrices[k];
    s->shares[k].computes = computes[k];
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_assembly_prepare(RitzAssembly a, bool *is_supported) {
  const size_t num = (size_t)a->num_blocks;
  CeedOperator *computes = NULL;
  RitzCpuMatrix **matrices = NULL;
  CeedInt *lanes = NULL;
  int ierr;
  *is_supported = true;
  RITZ_TRY_CLEANUP(RITZ_CALLOC(a->ceed, num, &computes));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(a->ceed, num, &matrices));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(a->ceed, num, &lanes));
  RITZ_TRY_CLEANUP(make_kernels(a, computes, matrices, is_supported));
  if (*is_supported) ierr = prepare_shares(a, computes, matrices, lanes);
  if (ierr && a->data) ritz_cpu_assembly_destroy(a);
cleanup:
  RITZ_FREE((void **)&computes);
  RITZ_FREE((void **)&matrices);
  RITZ_FREE(&lanes);
  return ierr;
}

typedef struct {
  const struct RitzAssembly_private *assembly;
  const RitzAssemblyBlock *block;
  const Shares *shares;
  const Share *share;
  CeedScalar *values;
} Fill;

static bool owns_row(const Fill *f, int64_t row, int t) {
  return !f->shares->owner || f->shares->owner[row] == t;
}

// Rows that follow each other at once.
static void zero_rows(const Fill *f, CeedInt batch, int t) {
  const int64_t *starts = f->assembly->row_starts, *rows = f->share->rows;
  const int64_t end = f->share->fresh[batch + 1];
  for (int64_t n = f->share->fresh[batch]; n < end;) {
    const int64_t first = rows[n];
    int64_t last = first + 1;
    if (!owns_row(f, rows[n++], t)) continue;
    for (; n < end && rows[n] == last && owns_row(f, last, t); n++) last++;
    memset(f->values + starts[first], 0, (size_t)(starts[last] - starts[first]) * sizeof(*f->values));
  }
}

// Offsets without the call, for most restrictions.
static inline CeedSize row_of(const RitzAssemblyBlock *block, CeedInt elem, CeedInt i, CeedInt node,
                              CeedSize comp_offset) {
  const CeedElemRestriction r = block->out;
  if (r->type == CEED_RESTRICTION_STRIDED || r->block_size > 1) return ritz_assembly_row(block, elem, i);
  return r->offsets[(CeedSize)elem * r->elem_size + node] + comp_offset;
}

// Row i of the elements of a batch, one after the other: matrices are [row][column][lane].
// clang-format off
#define ADD_BATCH(name, Place)                                                                               \
  static void name(const Fill *f, CeedInt batch, int t, const CeedScalar *matrix) {                          \
    const RitzAssemblyBlock *block = f->block;                                                               \
    const CeedInt lanes = f->share->matrix->target->lanes, first = batch * lanes, num_cols = block->num_cols; \
    const CeedInt num = CeedIntMin(lanes, block->op->num_elem - first), P = block->out->elem_size;           \
    const CeedSize size = (CeedSize)block->num_rows * num_cols;                                              \
    for (CeedInt i = 0; i < block->num_rows; i++, matrix += (CeedSize)num_cols * lanes) {                    \
      const Place *places = (const Place *)block->places + first * size + (CeedSize)i * num_cols;            \
      const CeedInt node = i % P;                                                                            \
      const CeedSize comp_offset = (CeedSize)(i / P) * block->out->comp_stride;                              \
      for (CeedInt l = 0; l < num; l++, places += size) {                                                    \
        const CeedSize row = row_of(block, first + l, i, node, comp_offset);                                 \
        if (!owns_row(f, row, t)) continue;                                                                    \
        CeedScalar *to = f->values + f->assembly->row_starts[row];                                           \
        for (CeedInt j = 0; j < num_cols; j++) to[places[j]] += matrix[j * lanes + l];                       \
      }                                                                                                      \
    }                                                                                                        \
  }
ADD_BATCH(add_by_bytes, uint8_t)
ADD_BATCH(add_by_shorts, uint16_t)
ADD_BATCH(add_by_words, uint32_t)
// clang-format on

// Rows come into the second cache while the matrices are computed. Short rows of small matrices are there
// already (measured: 30 % more time with 4 columns, 13 to 28 % less with 10 to 27).
enum { MOST_UNFETCHED_COLUMNS = 8 };

static void fetch_rows(const Fill *f, CeedInt batch) {
  const RitzAssemblyBlock *block = f->block;
  const CeedInt lanes = f->share->matrix->target->lanes, first = batch * lanes, P = block->out->elem_size;
  const CeedInt end = CeedIntMin(first + lanes, block->op->num_elem);
  for (CeedInt elem = first; elem < end; elem++) {
    for (CeedInt i = 0; i < block->num_rows; i++) {
      const CeedSize row = row_of(block, elem, i, i % P, (CeedSize)(i / P) * block->out->comp_stride);
      const CeedScalar *values = f->values + f->assembly->row_starts[row],
                       *last = f->values + f->assembly->row_starts[row + 1];
      for (; values < last; values += 64 / sizeof(*values)) __builtin_prefetch(values, 1, 2);
    }
  }
}

static int fill_of_thread(void *data, int t) {
  const Fill *f = data;
  const Share *share = f->share;
  const int bytes = f->assembly->place_bytes;
  if (t >= f->shares->num_threads) return 0;
  for (int64_t n = share->begin[t]; n < share->begin[t + 1]; n++) {
    const CeedInt batch = share->list[n];
    if (f->block->num_cols > MOST_UNFETCHED_COLUMNS) fetch_rows(f, batch);
    const int code = ritz_cpu_matrix_run(share->matrix, t, batch);
    if (code) return code;
    zero_rows(f, batch, t);
    (bytes == 1   ? add_by_bytes
     : bytes == 2 ? add_by_shorts
                  : add_by_words)(f, batch, t, share->matrix->threads[t].matrix);
  }
  return 0;
}

static int fill_block(const struct RitzAssembly_private *a, CeedInt k, CeedScalar *values) {
  const RitzCpu *context = a->ceed->data;
  const Shares *shares = a->data;
  const Share *share = &shares->shares[k];
  Fill fill = {a, &a->blocks[k], shares, share, values};
  if (share->num_batches == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_cpu_matrix_begin(share->computes, share->matrix));
  const int code = ritz_team_run(context->team, fill_of_thread, &fill);
  RITZ_TRY(ritz_cpu_matrix_end(share->computes, share->matrix, CEED_ERROR_SUCCESS));
  RITZ_TRY_BACKEND(code);
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_assembly_run(RitzAssembly a, CeedScalar *values) {
  const int64_t num = ritz_assembly_num_nonzeros(a);
  // rows that no element touches
  if (a->is_given) RITZ_TRY(ritz_cpu_vector_set_value(a->ceed, CEED_SCALAR_TYPE, num, 0, values));
  for (CeedInt k = 0; k < a->num_blocks; k++) RITZ_TRY(fill_block(a, k, values));
  return CEED_ERROR_SUCCESS;
}
