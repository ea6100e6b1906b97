// SPDX-License-Identifier: BSD-2-Clause
// The ahead-of-time kernel (contract in unfused.h). Arrays at the points are the arguments of the user's
// function themselves: [component][Q] vectors, which it sees as [component][Q * lanes].
#include "backends/cpu/unfused.h"

#include "backends/cpu/unfused-basis.h"
#include "kernels/cpu/restrict.h"

// ---- Memory of one thread ----

typedef struct {
  const RitzKernelArgs *args;
  const RitzPlan *plan;
  const RitzCpuSpace *how; // of the plan's spaces
  RitzUnfusedBasis *bases; // of the plan
  CeedScalar **arguments;  // a field each
  CeedScalar **list;       // of the user's function: the same, and NULL for fields of size 0
  RitzVec *nodes;          // the element array of a space
  RitzVec *scratch;        // of the bases
} Work;

// The next part of the memory at `base`, or NULL while it is only measured.
static void *take(char *base, int64_t *used, int64_t size) {
  void *part = base ? base + *used : NULL;
  *used += (size + 63) / 64 * 64;
  return part;
}

static RitzUnfusedBlock block_of(const RitzPlanBasis *p, CeedInt c) {
  const RitzPlanBlock *from = &p->blocks[c];
  RitzUnfusedBlock block = {.num_nodes = from->num_nodes, .first = from->first};
  for (CeedInt d = 0; d < p->dim; d++) {
    block.P[d] = from->P[d];
    block.interp[d] = p->lines[from->interp[d]].values;
    block.grad[d] = from->grad[d] < 0 ? NULL : p->lines[from->grad[d]].values;
    block.row[d] = from->row[d];
    block.sign[d] = from->sign[d];
  }
  return block;
}

static RitzUnfusedBasis basis_of(const RitzPlanBasis *p, const CeedScalar *const *matrices) {
  RitzUnfusedBasis b = {.is_tensor = p->is_tensor,
                        .is_identity = p->route == RITZ_ROUTE_IDENTITY,
                        .has_blocks = p->route == RITZ_ROUTE_BLOCKS,
                        .dim = p->dim,
                        .P_1d = p->P_1d,
                        .Q_1d = p->Q_1d,
                        .P = p->P,
                        .Q = p->Q,
                        .q_comp_interp = p->q_comp_interp,
                        .q_comp_deriv = p->q_comp_deriv,
                        .interp = p->interp.values,
                        .grad = p->grad.values,
                        .deriv = p->route == RITZ_ROUTE_DIRECT ? NULL : p->deriv.values,
                        .weights = p->weights};
  if (!p->is_tensor && p->first_matrix >= 0 && matrices) {
    b.interp = matrices[p->first_matrix];
    b.grad = matrices[p->first_matrix + 1];
  }
  for (CeedInt c = 0; b.has_blocks && c < p->dim; c++) b.blocks[c] = block_of(p, c);
  return b;
}

static bool is_packed(const RitzUnfused *unfused, int field) {
  const int s = unfused->plan->fields[field].space;
  return s >= 0 && unfused->target->spaces[s].gather == RITZ_GATHER_PACKED;
}

// The input before this one that is the same array: values at the points of the same space. -1: none.
static int same_argument(const RitzPlan *plan, int field) {
  const int s = plan->fields[field].space;
  if (field >= plan->num_in || s < 0 || plan->spaces[s].basis >= 0) return -1;
  for (int i = 0; i < field; i++) {
    if (plan->fields[i].space == s) return i;
  }
  return -1;
}

// Lays everything out from `base` on (NULL: only measures), returns the bytes used.
static int64_t lay_out(const RitzUnfused *unfused, const CeedScalar *const *matrices, char *base, Work *w) {
  const RitzPlan *plan = unfused->plan;
  const int num_fields = plan->num_in + plan->num_out;
  int64_t used = 0, nodes = 0, scratch = 0;
  w->bases = take(base, &used, plan->num_bases * (int64_t)sizeof(*w->bases));
  w->arguments = take(base, &used, num_fields * (int64_t)sizeof(*w->arguments));
  w->list = take(base, &used, (plan->num_in_arguments + plan->num_out_arguments) * (int64_t)sizeof(*w->list));
  for (int i = 0; i < num_fields; i++) {
    const int same = same_argument(plan, i);
    if (is_packed(unfused, i)) continue;
    const int64_t size = plan->fields[i].size * (int64_t)plan->Q * (int64_t)sizeof(RitzVec);
    CeedScalar *argument = same < 0 ? take(base, &used, size) : base ? w->arguments[same] : NULL;
    if (base) w->arguments[i] = argument;
  }
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzUnfusedBasis b = basis_of(&plan->bases[i], matrices);
    const int64_t size = ritz_unfused_basis_scratch(&b);
    if (base) w->bases[i] = b;
    if (size > scratch) scratch = size;
  }
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const int64_t size = space->basis < 0 ? 0 : (int64_t)space->num_comp * space->num_nodes;
    if (size > nodes) nodes = size;
  }
  w->nodes = take(base, &used, nodes * (int64_t)sizeof(RitzVec));
  w->scratch = take(base, &used, scratch * (int64_t)sizeof(RitzVec));
  return used;
}

int64_t ritz_unfused_work_bytes(const RitzUnfused *unfused) {
  Work w;
  return lay_out(unfused, NULL, NULL, &w);
}

// Weights are the same in every batch.
static Work open_work(const RitzKernelArgs *args) {
  const RitzUnfused *unfused = args->plan;
  Work w = {.args = args, .plan = unfused->plan, .how = unfused->target->spaces};
  lay_out(unfused, args->matrices, args->work, &w);
  for (int i = 0; i < w.plan->num_in; i++) {
    const RitzPlanField *f = &w.plan->fields[i];
    if (f->mode == CEED_EVAL_WEIGHT)
      ritz_unfused_basis_weights(&w.bases[f->basis], (RitzVec *)w.arguments[i]);
  }
  return w;
}

// ---- Between L-vectors and element arrays [component][node][lane] ----

static RitzShape shape_of(const RitzPlanSpace *space) {
  const int n = space->num_nodes;
  return (RitzShape){space->num_comp, 1, n, n, n};
}

// Where component 0 of a node is in the L-vector, of each lane.
static void find_entries(const RitzPlanSpace *space, const RitzCpuSpace *how, const RitzKernelSpace *from,
                         const RitzBatch *b, int64_t node, int64_t *at) {
  const int64_t n = space->num_nodes;
  if (how->gather == RITZ_GATHER_NODES) {
    for (int l = 0; l < RITZ_LANES; l++) at[l] = from->offsets[b->elem[l] * n + node];
  } else if (how->gather == RITZ_GATHER_ROWS) {
    const int64_t length = how->row_length, row = b->number * (n / length) + node / length;
    const int64_t in_row = node % length * (space->is_interlaced ? space->num_comp : 1);
    for (int l = 0; l < RITZ_LANES; l++) at[l] = from->offsets[row * RITZ_LANES + l] + in_row;
  } else {
    for (int l = 0; l < RITZ_LANES; l++) at[l] = b->elem[l] * from->strides[2] + node * from->strides[0];
  }
}

static void gather(const Work *w, int s, const RitzBatch *b, RitzVec *x) {
  const RitzPlanSpace *space = &w->plan->spaces[s];
  const RitzKernelSpace *from = &w->args->spaces[s];
  const RitzShape shape = shape_of(space);
  int64_t at[RITZ_LANES];
  for (int i = 0; i < space->num_nodes; i++) {
    find_entries(space, &w->how[s], from, b, i, at);
    for (int c = 0; c < space->num_comp; c++) {
      const CeedScalar *u = from->array + c * from->strides[1];
      CeedScalar *to = (CeedScalar *)(x + c * space->num_nodes + i);
      for (int l = 0; l < RITZ_LANES; l++) to[l] = u[at[l]];
    }
  }
  if (space->is_oriented) ritz_orient(from, b, &shape, x);
  if (space->is_curl_oriented) ritz_curl_orient(from, b, &shape, false, x);
}

// Adds into the L-vector; spends y. Lanes may meet in an entry.
static void scatter(const Work *w, int s, const RitzBatch *b, RitzVec *y) {
  const RitzPlanSpace *space = &w->plan->spaces[s];
  const RitzKernelSpace *to = &w->args->spaces[s];
  const RitzShape shape = shape_of(space);
  int64_t at[RITZ_LANES];
  if (space->is_oriented) ritz_orient(to, b, &shape, y);
  if (space->is_curl_oriented) ritz_curl_orient(to, b, &shape, true, y);
  for (int i = 0; i < space->num_nodes; i++) {
    find_entries(space, &w->how[s], to, b, i, at);
    for (int c = 0; c < space->num_comp; c++) {
      CeedScalar *v = to->array + c * to->strides[1];
      const CeedScalar *from = (const CeedScalar *)(y + c * space->num_nodes + i);
      for (int l = 0; l < b->num; l++) v[at[l]] += from[l];
    }
  }
}

// ---- One batch ----

// The first of the fields begin .. end - 1 that belongs to a space, or end.
static int next_field(const RitzPlan *plan, int s, int begin, int end) {
  while (begin < end && plan->fields[begin].space != s) begin++;
  return begin;
}

static void read_space(const Work *w, int s, const RitzBatch *b) {
  const RitzPlan *plan = w->plan;
  const RitzPlanSpace *space = &plan->spaces[s];
  const int num_in = plan->num_in, first = next_field(plan, s, 0, num_in);
  if (w->how[s].gather == RITZ_GATHER_PACKED) {
    CeedScalar *data = w->args->spaces[s].array + b->number * space->num_comp * plan->Q * RITZ_LANES;
    for (int i = first; i < num_in; i = next_field(plan, s, i + 1, num_in)) w->arguments[i] = data;
  } else if (space->basis < 0) {
    gather(w, s, b, (RitzVec *)w->arguments[first]);
  } else {
    gather(w, s, b, w->nodes);
    for (int i = first; i < num_in; i = next_field(plan, s, i + 1, num_in)) {
      ritz_unfused_basis_up(&w->bases[space->basis], plan->fields[i].mode, space->num_comp, w->nodes,
                            (RitzVec *)w->arguments[i], w->scratch);
    }
  }
}

static void write_space(const Work *w, int s, const RitzBatch *b) {
  const RitzPlan *plan = w->plan;
  const RitzPlanSpace *space = &plan->spaces[s];
  const int end = plan->num_in + plan->num_out, first = next_field(plan, s, plan->num_in, end);
  for (int i = first; i < end; i = next_field(plan, s, i + 1, end)) {
    RitzVec *y = (RitzVec *)w->arguments[i];
    if (space->basis < 0)
      scatter(w, s, b, y);
    else
      ritz_unfused_basis_down(&w->bases[space->basis], plan->fields[i].mode, space->num_comp, y, w->nodes,
                              i > first, w->scratch);
  }
  if (space->basis >= 0) scatter(w, s, b, w->nodes);
}

// Fields of size 0 get NULL.
static void list_arguments(const Work *w, bool is_input, int num, CeedScalar **list) {
  for (int k = 0; k < num; k++) {
    const int i = ritz_plan_field_of(w->plan, is_input, k);
    list[k] = i < 0 ? NULL : w->arguments[is_input ? i : w->plan->num_in + i];
  }
}

static int call_function(const Work *w) {
  const int num_in = w->plan->num_in_arguments, num_out = w->plan->num_out_arguments;
  list_arguments(w, true, num_in, w->list);
  list_arguments(w, false, num_out, w->list + num_in);
  return w->args->function(w->args->context, w->plan->Q * RITZ_LANES, (const CeedScalar *const *)w->list,
                           w->list + num_in);
}

int ritz_unfused_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  const Work w = open_work(args);
  for (int64_t n = begin; n < end; n++) {
    const RitzBatch b = ritz_batch(args, n, end);
    ritz_run_hook(args->before, n);
    for (int s = 0; s < w.plan->num_spaces; s++) {
      if (w.plan->spaces[s].is_input) read_space(&w, s, &b);
    }
    const int code = call_function(&w);
    if (code) return code;
    for (int s = 0; s < w.plan->num_spaces; s++) {
      if (!w.plan->spaces[s].is_input) write_space(&w, s, &b);
    }
    ritz_run_hook(args->after, n);
  }
  return 0;
}
