// SPDX-License-Identifier: BSD-2-Clause
// Diagonals and columns of point blocks by the ahead-of-time kernel (contract in unfused.h): the derivatives
// of the QFunction by unit vectors, added up in terms (plan/diagonal.h), and the contractions of these with
// products of tables. Passive inputs are steps. Compiled twice, as steps.c.
#include <string.h>

#include "backends/cpu/steps.h"
#include "backends/cpu/unfused.h"
#include "base/simd.h"
#include "plan/diagonal.h"

#define add_vectors RITZ_STEPS_NAME(add_vectors) // as in steps.c

// One thread's arrays. Arguments of the function are [component][points of a call].
typedef struct {
  RitzCpuRun run; // of the passive inputs
  const RitzDiagonalPlan *plan;
  const RitzPlanBasis *basis; // of the active space
  CeedInt num_points;         // of a call
  CeedScalar *arguments;
  RitzCallVec **in, **out; // [size_in], [size_out]: where an active scalar is among the arguments
  RitzVec *terms;          // [term][component][Q]
  RitzVec *work[2];        // of a term between two directions
  RitzVec
      *last[RITZ_NUM_PRODUCTS]; // [component][Q_1d][P_1d] ..: terms up to the last direction, by its product
  RitzVec *nodes;               // [component][P]
  const RitzReal *tables;       // products of 1D tables, or a matrix for each term
} Walk;

// ---- Memory ----

static void *take(char *base, int64_t *used, int64_t num, size_t size) {
  void *part = base ? base + *used : NULL;
  *used += (num * (int64_t)size + 63) / 64 * 64;
  return part;
}

// Numbers of a table: of products, or of a term.
static int64_t table_size(const Walk *w) {
  const RitzPlanBasis *b = w->basis;
  return b->is_tensor ? (int64_t)b->Q_1d * b->P_1d : (int64_t)b->Q * b->P;
}

static int num_tables(const Walk *w) { return w->basis->is_tensor ? RITZ_NUM_PRODUCTS : w->plan->num_terms; }

static const CeedScalar *table_values(const Walk *w, int n) {
  return w->basis->is_tensor ? w->plan->products[n].values : w->plan->matrices + n * table_size(w);
}

// Vectors of a component at nodes or points, or between.
static int64_t largest_size(const RitzPlanBasis *b) {
  const CeedInt n = CeedIntMax(b->P_1d, b->Q_1d);
  return b->is_tensor ? CeedIntPow(n, b->dim) : 0;
}

static void list_scalars(Walk *w) {
  const RitzPlan *plan = &w->plan->plan;
  for (int k = 0; k < plan->num_in_arguments + plan->num_out_arguments; k++) {
    const bool is_input = k < plan->num_in_arguments;
    const int i = ritz_plan_field_of(plan, is_input, is_input ? k : k - plan->num_in_arguments);
    const int field = is_input ? i : plan->num_in + i;
    const CeedInt offset = i < 0 ? -1 : w->plan->offsets[field];
    RitzCallVec **scalars = is_input ? w->in : w->out;
    for (CeedInt s = 0; offset >= 0 && s < plan->fields[field].size; s++)
      scalars[offset + s] = (RitzCallVec *)w->run.call[k] + s * w->num_points;
  }
}

// Transposed: points -> nodes.
static void fill_tables(const Walk *w, RitzReal *tables) {
  const RitzPlanBasis *b = w->basis;
  const CeedInt Q = b->is_tensor ? b->Q_1d : b->Q, P = b->is_tensor ? b->P_1d : b->P;
  for (int n = 0; n < num_tables(w); n++) {
    const CeedScalar *values = table_values(w, n);
    for (CeedInt q = 0; q < Q; q++) {
      for (CeedInt p = 0; p < P; p++) tables[n * table_size(w) + p * Q + q] = (RitzReal)values[q * P + p];
    }
  }
}

// base NULL: only measures. Returns the bytes used. Inputs begin with zeros.
static int64_t lay_out(Walk *w, char *base) {
  const RitzDiagonalPlan *d = w->plan;
  const int64_t nc = d->output.num_comp, size = largest_size(w->basis);
  const int64_t num_scalars = ritz_cpu_place_arguments(&d->plan, w->num_points, NULL, NULL);
  int64_t used = ritz_cpu_run_bytes(d->plan.steps);
  w->arguments = take(base, &used, num_scalars, sizeof(CeedScalar));
  w->in = take(base, &used, d->size_in, sizeof(*w->in));
  w->out = take(base, &used, d->size_out, sizeof(*w->out));
  w->terms = take(base, &used, d->num_terms * nc * w->basis->Q, sizeof(RitzVec));
  for (int i = 0; i < 2; i++) w->work[i] = take(base, &used, nc * size, sizeof(RitzVec));
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) w->last[k] = take(base, &used, nc * size, sizeof(RitzVec));
  w->nodes = take(base, &used, nc * w->basis->P, sizeof(RitzVec));
  RitzReal *tables = take(base, &used, num_tables(w) * table_size(w), sizeof(*tables));
  if (!base) return used;
  w->tables = tables;
  ritz_cpu_begin_run(base, &w->run);
  (void)ritz_cpu_place_arguments(&d->plan, w->num_points, w->arguments, w->run.call);
  memset(w->arguments, 0, (size_t)num_scalars * sizeof(CeedScalar));
  list_scalars(w);
  fill_tables(w, tables);
  return used;
}

static Walk begin_walk(const RitzDiagonalPlan *d) {
  return (Walk){.run = {.list = d->plan.steps},
                .plan = d,
                .basis = &d->plan.bases[d->output.basis],
                .num_points = ritz_cpu_converts ? ritz_cpu_points_per_call(&d->plan) : d->plan.Q};
}

// ---- At the points ----

// Sets the passive inputs of points q .. q + num_points - 1. Without conversions the function reads the
// arrays of the steps.
static void set_passive(const Walk *w, CeedInt q) {
  const RitzPlan *plan = &w->plan->plan;
  for (int k = 0; k < plan->num_in_arguments; k++) {
    const int i = ritz_plan_field_of(plan, true, k);
    if (i < 0 || w->plan->offsets[i] >= 0) continue;
    const RitzVec *from = w->run.buffers[w->run.list->arguments[i]] + q;
    if (ritz_cpu_converts)
      ritz_cpu_copy_in(plan->fields[i].size, plan->Q, w->num_points, from, (RitzCallVec *)w->run.call[k]);
    else
      w->run.call[k] = (CeedScalar *)from;
  }
}

// The component of the input that a call is for.
static CeedInt component_of(const Walk *w, int m) {
  return w->plan->is_column ? w->run.args->column : m % w->plan->output.num_comp;
}

static int mode_of(const Walk *w, int m) {
  return w->plan->is_column ? m : m / (int)w->plan->output.num_comp;
}

static void set_unit(const Walk *w, int m, CeedScalar value) {
  CeedScalar *in = (CeedScalar *)w->in[w->plan->first_in[mode_of(w, m)] + component_of(w, m)];
  for (CeedInt i = 0; i < w->num_points * RITZ_LANES; i++) in[i] = value;
}

RITZ_CLONED static void add_vectors(CeedInt num, const RitzCallVec *from, RitzVec *to) {
  for (CeedInt q = 0; q < num; q++) to[q] += RITZ_CONVERT(from[q], RitzVec);
}

// Outputs of call m: of a diagonal those of the input's component, of a column all.
static void add_terms(const Walk *w, int m, CeedInt q) {
  const RitzDiagonalPlan *d = w->plan;
  const CeedInt nc = d->output.num_comp, first = d->is_column ? 0 : component_of(w, m);
  const CeedInt end = d->is_column ? nc : first + 1;
  for (CeedInt o = 0; o < d->num_out; o++) {
    const int term = d->term_of[mode_of(w, m) * d->num_out + o];
    for (CeedInt c = first; c < end; c++)
      add_vectors(w->num_points, w->out[d->first_out[o] + c], w->terms + (term * nc + c) * w->basis->Q + q);
  }
}

static int make_terms(const Walk *w, CeedInt q) {
  const RitzPlan *plan = &w->plan->plan;
  set_passive(w, q);
  const CeedInt num_calls = w->plan->num_in * (w->plan->is_column ? 1 : w->plan->output.num_comp);
  for (int m = 0; m < num_calls; m++) {
    set_unit(w, m, 1);
    const int code =
        w->run.args->function(w->run.args->context, w->num_points * RITZ_LANES,
                              (const CeedScalar *const *)w->run.call, w->run.call + plan->num_in_arguments);
    set_unit(w, m, 0);
    if (code) return code;
    add_terms(w, m, q);
  }
  return 0;
}

// ---- Contractions ----

// A term in all directions but the last; is_first: of its product there.
static void contract_term(const Walk *w, int t, bool is_first) {
  const RitzPlanBasis *b = w->basis;
  const int *product = w->plan->terms[t].product;
  const CeedInt nc = w->plan->output.num_comp, dim = b->dim;
  const RitzVec *x = w->terms + (int64_t)t * nc * b->Q;
  for (CeedInt d = 0; d + 1 < dim; d++) {
    const bool is_end = d + 2 == dim;
    RitzVec *y = is_end ? w->last[product[dim - 1]] : w->work[d % 2];
    const RitzReal *table = w->tables + product[d] * table_size(w);
    ritz_cpu_contract(table, b->P_1d, b->Q_1d, nc * CeedIntPow(b->Q_1d, dim - 1 - d), CeedIntPow(b->P_1d, d),
                      x, y, is_end && !is_first);
    x = y;
  }
}

static void contract_tensor(const Walk *w) {
  const RitzPlanBasis *b = w->basis;
  const CeedInt nc = w->plan->output.num_comp, fast = CeedIntPow(b->P_1d, b->dim - 1);
  bool has_nodes = false;
  for (int k = 0; k < RITZ_NUM_PRODUCTS; k++) {
    const RitzVec *last = NULL;
    for (int t = 0; t < w->plan->num_terms; t++) {
      if (w->plan->terms[t].product[b->dim - 1] != k) continue;
      contract_term(w, t, !last);
      last = b->dim == 1 ? w->terms + (int64_t)t * nc * b->Q : w->last[k];
    }
    if (!last) continue;
    ritz_cpu_contract(w->tables + k * table_size(w), b->P_1d, b->Q_1d, nc, fast, last, w->nodes, has_nodes);
    has_nodes = true;
  }
}

static void contract_dense(const Walk *w) {
  const RitzPlanBasis *b = w->basis;
  const CeedInt nc = w->plan->output.num_comp;
  for (int t = 0; t < w->plan->num_terms; t++)
    ritz_cpu_contract(w->tables + t * table_size(w), b->P, b->Q, nc, 1, w->terms + (int64_t)t * nc * b->Q,
                      w->nodes, t > 0);
}

// ---- The kernel ----

static int walk_batch(Walk *w, const RitzUnfusedDiagonal *diagonal, const RitzBatch *b) {
  const RitzDiagonalPlan *d = w->plan;
  const int s = d->plan.num_spaces;
  int code = ritz_cpu_run_steps(&w->run, b);
  memset(w->terms, 0, (size_t)(d->num_terms * d->output.num_comp * w->basis->Q) * sizeof(RitzVec));
  for (CeedInt q = 0; q < d->plan.Q && !code; q += w->num_points) code = make_terms(w, q);
  if (code) return code;
  (w->basis->is_tensor ? contract_tensor : contract_dense)(w);
  ritz_cpu_scatter_nodes(&d->plan, &d->output, &diagonal->target->spaces[s], &w->run.args->spaces[s], b,
                         w->nodes);
  return 0;
}

#define diagonal_kernel RITZ_STEPS_NAME(ritz_unfused_diagonal_kernel)
#define diagonal_bytes  RITZ_STEPS_NAME(ritz_unfused_diagonal_bytes)
int diagonal_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end);
int64_t diagonal_bytes(const RitzUnfusedDiagonal *diagonal);

int diagonal_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  const RitzUnfusedDiagonal *diagonal = args->plan;
  Walk w = begin_walk(diagonal->plan);
  w.run.how = diagonal->target->spaces;
  w.run.args = args;
  (void)lay_out(&w, args->work);
  for (int64_t n = begin; n < end; n++) {
    const RitzBatch b = ritz_batch(args, n, end);
    const int code = walk_batch(&w, diagonal, &b);
    if (code) return code;
  }
  return 0;
}

int64_t diagonal_bytes(const RitzUnfusedDiagonal *diagonal) {
  Walk w = begin_walk(diagonal->plan);
  return lay_out(&w, NULL);
}

// ---- Both precisions ----

#ifndef RITZ_REAL_IS_FP32
#ifdef CEED_SCALAR_IS_FP32
#define ritz_unfused_diagonal_kernel_single ritz_unfused_diagonal_kernel
#define ritz_unfused_diagonal_bytes_single  ritz_unfused_diagonal_bytes
#else
int ritz_unfused_diagonal_kernel_single(const RitzKernelArgs *args, int64_t begin, int64_t end);
int64_t ritz_unfused_diagonal_bytes_single(const RitzUnfusedDiagonal *diagonal);
#endif

RitzKernel ritz_unfused_find_diagonal(CeedScalarType precision) {
  return precision == CEED_SCALAR_TYPE ? ritz_unfused_diagonal_kernel : ritz_unfused_diagonal_kernel_single;
}

int64_t ritz_unfused_diagonal_work_bytes(const RitzUnfusedDiagonal *diagonal) {
  return diagonal->plan->plan.precision == CEED_SCALAR_TYPE ? ritz_unfused_diagonal_bytes(diagonal)
                                                            : ritz_unfused_diagonal_bytes_single(diagonal);
}
#endif
