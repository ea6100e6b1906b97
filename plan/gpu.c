// SPDX-License-Identifier: BSD-2-Clause
// The target of a plan on a device (contract in plan/gpu.h), by rules that were measured on an H200.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/gpu-dense.h"
#include "plan/gpu-element.h"
#include "plan/gpu-mma.h"
#include "plan/gpu-simple-inputs.h"
#include "plan/gpu-tiles.h"
#include "plan/gpu-vector.h"
#include "plan/steps.h"

// Limit of positions in an array and of the nodes of an element: tables of lines have 16 bits for each.
enum { MAX_PLACES = 65535 };

static bool has_values(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_INTERP; }
static bool has_gradient(const RitzPlanSpace *s) { return s->modes & CEED_EVAL_GRAD; }
static bool walks_gradient(const RitzPlan *plan, const RitzPlanSpace *s) {
  return ritz_gpu_has_lines(plan, s) && has_gradient(s);
}

// ---- What cannot be fused ----

// As the kernel has them.
static bool are_finite(const RitzPlan *plan, size_t num, const CeedScalar *values) {
  for (size_t k = 0; k < num; k++) {
    if (!(plan->precision == CEED_SCALAR_FP32 ? isfinite((float)values[k]) : isfinite(values[k])))
      return false;
  }
  return true;
}

static bool is_finite(const RitzPlan *plan, const RitzPlanMatrix *A) {
  return !A->values || are_finite(plan, (size_t)A->rows * (size_t)A->cols, A->values);
}

static bool has_finite_tables(const RitzPlan *plan, const RitzPlanBasis *b) {
  bool is_all = is_finite(plan, &b->interp) && is_finite(plan, &b->grad);
  for (int i = 0; i < b->num_lines; i++) is_all &= is_finite(plan, &b->lines[i]);
  return is_all;
}

static const char *basis_refusal(const RitzPlan *plan, const RitzPlanBasis *b) {
  if (b->weights && !are_finite(plan, (size_t)(ritz_plan_has_grid(b) ? b->Q_1d : b->Q), b->weights))
    return "weights that are not finite";
  if (!ritz_plan_has_grid(b)) return NULL;
  if (b->dim > 3) return "a basis of more than three dimensions";
  if (b->dim != plan->dim || b->Q_1d != plan->Q_1d) return "bases on different grids of points";
  return has_finite_tables(plan, b) ? NULL : "tables that are not finite";
}

static const char *why_not_fused(const RitzPlan *plan) {
  const char *reason = plan->source_path ? NULL : "a QFunction without source";
  if (plan->num_spaces > RITZ_GPU_MOST_SPACES)
    reason = "more fields than a kernel can be compiled for in a short time";
  for (int b = 0; !reason && b < plan->num_bases; b++) reason = basis_refusal(plan, &plan->bases[b]);
  return reason;
}

// ---- Routes and arrays ----

static bool basis_has_gradient(const RitzPlan *plan, int b) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].basis == b && walks_gradient(plan, &plan->spaces[s])) return true;
  }
  return false;
}

// Nothing at the points that is read or computed: registers are there for a line of each derivative.
static bool has_light_points(const RitzPlan *plan) {
  return !ritz_plan_gpu_has_geometry(plan) && !ritz_plan_gpu_has_data(plan);
}

static void choose_routes(const RitzPlan *plan, RitzGpuTarget *t) {
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    t->routes[i] = b->route;
    if (basis_has_gradient(plan, i) && ritz_gpu_has_direct_derivatives(b)) t->routes[i] = RITZ_ROUTE_DIRECT;
  }
}

// Components side by side in the L-vector: additions of a thread's own line would each touch a part of a
// sector.
static bool is_staged(const RitzPlan *plan, const RitzPlanSpace *s, RitzGpuScatter scatter) {
  return !s->is_input && s->is_interlaced && s->basis >= 0 && plan->bases[s->basis].is_tensor &&
         plan->dim > 1 && scatter == RITZ_SCATTER_ATOMIC && !s->is_oriented && !s->is_curl_oriented;
}

// Lines along another direction than the rows read one offset for each of their nodes.
static int choose_rows(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t,
                       int s) {
  const RitzPlanSpace *space = &plan->spaces[s];
  RitzGpuSpace *g = &t->spaces[s];
  bool has_rows = false;
  if (!machine->has_rows || space->basis < 0 || g->scatter == RITZ_SCATTER_E_VECTOR)
    return CEED_ERROR_SUCCESS;
  if (ritz_gpu_is_vector(plan, space)) return CEED_ERROR_SUCCESS;
  if (t->evaluation == RITZ_GPU_LINES && ritz_gpu_is_simple(space)) return CEED_ERROR_SUCCESS;
  if (space->restriction.type != CEED_RESTRICTION_STANDARD) return CEED_ERROR_SUCCESS;
  if (t->evaluation == RITZ_GPU_LINES && t->dim != 3 &&
      !(t->dim == 2 && t->routes[space->basis] == RITZ_ROUTE_IDENTITY))
    return CEED_ERROR_SUCCESS;
  const CeedInt P = plan->bases[space->basis].P_1d;
  if (P > 1) RITZ_TRY(machine->has_rows(ritz_operator_field(op, space->field)->rstr, P, &has_rows));
  if (!has_rows) return CEED_ERROR_SUCCESS;
  g->row_length = P;
  g->row_step = space->restriction.row_step;
  return CEED_ERROR_SUCCESS;
}

// Arrays of a component: values, and derivatives in all directions but the last, which stay in registers.
static int count_arrays(const RitzPlan *plan, const RitzGpuTarget *t, const RitzPlanSpace *s, bool staged) {
  if (!ritz_gpu_has_lines(plan, s) || t->dim == 1) return 0;
  if (ritz_gpu_is_vector(plan, s)) return ritz_gpu_count_vector_arrays(plan, s);
  const bool is_identity = t->routes[s->basis] == RITZ_ROUTE_IDENTITY && !staged;
  if (!has_gradient(s)) return is_identity ? 0 : 1;
  return s->is_input || t->routes[s->basis] == RITZ_ROUTE_DIRECT ? t->dim : t->dim - 1;
}

// Outputs take over the arrays of inputs: a thread reads its points of these before it writes the same
// places.
static void place_arrays(const RitzPlan *plan, RitzGpuTarget *t) {
  int next[2] = {0, 0};
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    t->spaces[s].first_array = next[space->is_input];
    t->spaces[s].num_arrays = count_arrays(plan, t, space, t->spaces[s].is_staged);
    next[space->is_input] += t->spaces[s].num_arrays * ritz_gpu_num_comp(t, space);
  }
  t->num_arrays = CeedIntMax(next[0], next[1]);
}

// ---- Scatter and strides ----

// Nodes and components of a strided restriction have entries of their own: sorted by stride, each is larger
// than what the smaller ones reach.
static bool is_disjoint(const RitzPlan *plan, const RitzPlanSpace *s, const CeedInt strides[3]) {
  CeedSize size[3] = {s->num_nodes, s->num_comp, plan->num_elem}, reach = 0;
  bool is_done[3] = {false, false, false};
  for (int round = 0; round < 3; round++) {
    int least = -1;
    for (int d = 0; d < 3; d++) {
      if (!is_done[d] && (least < 0 || strides[d] < strides[least])) least = d;
    }
    is_done[least] = true;
    if (size[least] <= 1) continue;
    if (strides[least] <= reach) return false;
    reach += (size[least] - 1) * strides[least];
  }
  return true;
}

// Whether no other output adds to the same entries.
static bool has_own_array(const RitzPlan *plan, const RitzPlanSpace *s) {
  int num = 0;
  for (int i = 0; i < plan->num_spaces; i++)
    num += !plan->spaces[i].is_input && plan->spaces[i].array == s->array;
  return num == 1;
}

static RitzGpuScatter choose_scatter(const RitzPlan *plan, const RitzPlanSpace *s, const CeedInt strides[3],
                                     bool is_deterministic) {
  if (s->restriction.type == CEED_RESTRICTION_STRIDED && is_disjoint(plan, s, strides) &&
      has_own_array(plan, s))
    return RITZ_SCATTER_OWN;
  return is_deterministic ? RITZ_SCATTER_E_VECTOR : RITZ_SCATTER_ATOMIC;
}

// Strides that an element determines are part of the text; those of the mesh are arguments.
static void choose_strides(const RitzPlanSpace *s, const CeedInt strides[3], RitzGpuSpace *g) {
  const CeedSize own = (CeedSize)s->num_nodes * s->num_comp;
  for (int d = 0; d < 3; d++) g->strides[d] = strides[d] > 0 && strides[d] <= own ? strides[d] : 0;
}

static void describe_space(const RitzPlan *plan, const RitzPlanSpace *s, bool is_deterministic,
                           const RitzGpuTarget *t, RitzGpuSpace *g) {
  const bool is_strided = s->restriction.type == CEED_RESTRICTION_STRIDED;
  CeedInt strides[3] = {1, s->restriction.comp_stride, 0};
  if (is_strided) memcpy(strides, s->restriction.strides, sizeof(strides));
  if (!s->is_input) g->scatter = choose_scatter(plan, s, strides, is_deterministic);
  if (g->scatter == RITZ_SCATTER_E_VECTOR) {
    g->strides[0] = 1;
    g->strides[2] = s->num_nodes;
  } else if (is_strided) {
    choose_strides(s, strides, g);
  } else {
    g->strides[1] = s->restriction.comp_stride == 1 ? 1 : 0;
  }
  if (s->num_comp == 1) g->strides[1] = 1;
  g->is_staged = !t->takes_many && is_staged(plan, s, g->scatter);
}

// ---- Arguments ----

static void add_arg(RitzGpuTarget *t, RitzGpuArgKind kind, int number) {
  t->args[t->num_args++] = (RitzGpuArg){.kind = kind, .number = number};
}

// Adds the matrices of a dense basis that the space needs to the arguments, each once.
static void add_dense_matrix(const RitzPlan *plan, RitzGpuTarget *t, const RitzPlanSpace *s,
                             bool is_derivative) {
  const RitzGpuArgKind kinds[2][3] = {{RITZ_GPU_ARG_INTERP_T, RITZ_GPU_ARG_INTERP, RITZ_GPU_ARG_INTERP_TILES},
                                      {RITZ_GPU_ARG_DERIV_T, RITZ_GPU_ARG_DERIV, RITZ_GPU_ARG_DERIV_TILES}};
  const RitzGpuArgKind kind = kinds[is_derivative][ritz_gpu_has_tiles(t) ? 2 : s->is_input];
  if (!(is_derivative ? ritz_gpu_dense_derivatives(plan, s) : ritz_gpu_dense_values(plan, s))) return;
  for (int i = 0; i < t->num_args; i++) {
    if (t->args[i].kind == kind && t->args[i].number == s->basis) return;
  }
  add_arg(t, kind, s->basis);
}

static void list_matrices(const RitzPlan *plan, RitzGpuTarget *t) {
  for (int i = 0; i < plan->num_spaces; i++) {
    if (!ritz_gpu_is_dense(plan, &plan->spaces[i])) continue;
    add_dense_matrix(plan, t, &plan->spaces[i], false);
    add_dense_matrix(plan, t, &plan->spaces[i], true);
  }
}

// An array; of several vectors one each.
static void add_arrays(RitzGpuTarget *t, const RitzPlanSpace *s, int number) {
  const int num = t->takes_many && s->is_active ? RITZ_GPU_MANY : 1;
  for (int k = 0; k < num; k++) {
    add_arg(t, RITZ_GPU_ARG_ARRAY, number);
    t->args[t->num_args - 1].vector = k;
  }
}

static void list_args(const RitzPlan *plan, RitzGpuTarget *t) {
  if (t->takes_many) add_arg(t, RITZ_GPU_ARG_VECTORS, 0);
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    const bool has_offsets =
        s->restriction.type != CEED_RESTRICTION_STRIDED && t->spaces[i].scatter != RITZ_SCATTER_E_VECTOR;
    add_arrays(t, s, i);
    if (has_offsets) add_arg(t, RITZ_GPU_ARG_OFFSETS, i);
    if (has_offsets && (s->is_oriented || s->is_curl_oriented)) add_arg(t, RITZ_GPU_ARG_ORIENTS, i);
    if (!has_offsets && !t->spaces[i].strides[0]) add_arg(t, RITZ_GPU_ARG_NODE_STRIDE, i);
    if (!t->spaces[i].strides[1]) add_arg(t, RITZ_GPU_ARG_COMP_STRIDE, i);
    if (!has_offsets && !t->spaces[i].strides[2]) add_arg(t, RITZ_GPU_ARG_ELEM_STRIDE, i);
  }
}

// ---- Passes ----

static RitzLinePass lines_of(const RitzGpuTarget *t, RitzPassKind kind, const CeedInt P[3]) {
  const int Q = t->Q_1d, dim = t->dim, Q_last = dim == 3 ? Q : 1;
  const CeedInt most = CeedIntMax(CeedIntMax(P[0], P[1]), P[2]);
  RitzLinePass pass = {.order = RITZ_LINES_FREE};
  switch (kind) {
  case RITZ_PASS_NODES:
    pass = (RitzLinePass){.along = dim == 3 ? RITZ_ALONG_MIDDLE : RITZ_ALONG_FIRST,
                          .num = {P[dim == 3 ? 0 : 1], dim == 3 ? P[2] : 1},
                          .weight = 2 * Q,
                          .order = most == 2 ? RITZ_LINES_BY_ELEMENT : RITZ_LINES_BY_ROW};
    break;
  case RITZ_PASS_MIDDLE:
    pass = (RitzLinePass){.along = RITZ_ALONG_FIRST, .num = {Q, P[2]}, .weight = 2 * (P[2] + Q)};
    break;
  case RITZ_PASS_POINTS:
    pass = (RitzLinePass){.along = dim == 3   ? RITZ_ALONG_LAST
                                   : dim == 2 ? RITZ_ALONG_MIDDLE
                                              : RITZ_ALONG_FIRST,
                          .num = {dim > 1 ? Q : 1, Q_last},
                          .weight = 9 * Q,
                          .order = RITZ_LINES_NATURAL};
    break;
  case RITZ_PASS_ROWS:
    pass = (RitzLinePass){.along = RITZ_ALONG_FIRST, .num = {Q, Q_last}, .weight = 4 * Q};
    break;
  case RITZ_PASS_COLUMNS:
    pass = (RitzLinePass){.along = RITZ_ALONG_MIDDLE, .num = {Q, Q}, .weight = 4 * Q};
    break;
  }
  return pass;
}

const RitzGpuPass *ritz_plan_gpu_pass_of(const RitzGpuTarget *t, RitzPassKind kind, const CeedInt P[3]) {
  const CeedInt first = kind == RITZ_PASS_NODES ? 0 : kind == RITZ_PASS_MIDDLE ? 2 : t->dim;
  for (int i = 0; i < t->num_passes; i++) {
    bool is_it = t->passes[i].kind == kind;
    for (CeedInt d = first; d < t->dim; d++) is_it &= t->passes[i].nodes[d] == P[d];
    if (is_it) return &t->passes[i];
  }
  return NULL;
}

const RitzGpuPass *ritz_plan_gpu_pass(const RitzGpuTarget *t, RitzPassKind kind, CeedInt P) {
  return ritz_plan_gpu_pass_of(t, kind, (const CeedInt[]){P, P, P});
}

static void add_pass(RitzGpuTarget *t, RitzPassKind kind, const CeedInt P[3]) {
  const CeedInt first = kind == RITZ_PASS_NODES ? 0 : kind == RITZ_PASS_MIDDLE ? 2 : t->dim;
  if (ritz_plan_gpu_pass_of(t, kind, P)) return;
  RitzGpuPass *pass = &t->passes[t->num_passes++];
  *pass = (RitzGpuPass){.kind = kind, .lines = lines_of(t, kind, P)};
  for (CeedInt d = first; d < t->dim; d++) pass->nodes[d] = P[d];
  ritz_plan_gpu_use_mma(t, pass);
}

// From nodes to lines of points.
static void add_node_passes(RitzGpuTarget *t, const CeedInt P[3]) {
  add_pass(t, RITZ_PASS_NODES, P);
  if (t->dim == 3) add_pass(t, RITZ_PASS_MIDDLE, P);
}

static void list_passes(const RitzPlan *plan, RitzGpuTarget *t) {
  static const CeedInt none[3] = {0, 0, 0};
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (!ritz_gpu_has_lines(plan, s) || t->dim == 1) continue;
    const RitzPlanBasis *b = &plan->bases[s->basis];
    const RitzRoute route = t->routes[s->basis];
    for (CeedInt c = 0; route == RITZ_ROUTE_BLOCKS && c < b->dim; c++) add_node_passes(t, b->blocks[c].P);
    if (route == RITZ_ROUTE_DIRECT || route == RITZ_ROUTE_COLLOCATED)
      add_node_passes(t, (const CeedInt[]){b->P_1d, b->P_1d, b->P_1d});
    if (route == RITZ_ROUTE_DIRECT || !has_gradient(s)) continue;
    add_pass(t, RITZ_PASS_ROWS, none);
    if (t->dim == 3) add_pass(t, RITZ_PASS_COLUMNS, none);
  }
  add_pass(t, RITZ_PASS_POINTS, none);
}

// ---- Shape of a block ----

CeedInt ritz_plan_gpu_longest(const RitzPlanBasis *basis) {
  CeedInt longest = basis->P_1d;
  for (CeedInt k = 0; basis->route == RITZ_ROUTE_BLOCKS && k < basis->dim * basis->dim; k++)
    longest = CeedIntMax(longest, basis->blocks[k / basis->dim].P[k % basis->dim]);
  return longest;
}

static CeedInt longest_line(const RitzPlan *plan, const RitzGpuTarget *t) {
  CeedInt longest = t->Q_1d;
  for (int b = 0; b < plan->num_bases; b++) {
    if (ritz_gpu_takes_lines(plan, b)) longest = CeedIntMax(longest, ritz_plan_gpu_longest(&plan->bases[b]));
  }
  return longest;
}

// Along the direction of the lines of nodes arrays hold points, and nodes of staged spaces.
static CeedInt longest_staged(const RitzPlan *plan, const RitzGpuTarget *t) {
  CeedInt longest = t->Q_1d;
  for (int s = 0; s < plan->num_spaces; s++) {
    if (t->spaces[s].is_staged) longest = CeedIntMax(longest, plan->bases[plan->spaces[s].basis].P_1d);
  }
  return longest;
}

static void choose_layout(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  const int longest = longest_line(plan, t), Q = longest_staged(plan, t);
  const int extent[3] = {t->dim == 2 ? Q : longest, t->dim > 1 ? longest : 1, t->dim == 3 ? longest : 1};
  RitzLinePass passes[t->num_passes + 1];
  for (int i = 0; i < t->num_passes; i++) passes[i] = t->passes[i].lines;
  ritz_lines_choose_strides(extent, t->num_elem, t->num_passes, passes, ritz_gpu_real_banks(plan, machine),
                            &t->strides);
  ritz_plan_gpu_place_dense(plan, t);
  const CeedInt exchanged = ritz_plan_gpu_count_exchange(machine, t);
  const CeedInt num =
      ritz_plan_gpu_place_simple(plan, t, t->num_arrays * t->num_elem * t->strides.elem + t->dense_scalars);
  t->exchange = exchanged ? num : 0;
  t->shared_bytes = (num + exchanged) * ritz_gpu_real_bytes(plan);
}

static CeedInt round_up(CeedInt n, CeedInt to) { return (n + to - 1) / to * to; }

static bool has_any_gradient(const RitzPlan *plan) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].kind == RITZ_INPUT_CONTRACTED && has_gradient(&plan->spaces[s])) return true;
    if (ritz_gpu_is_vector(plan, &plan->spaces[s]) && ritz_gpu_dense_derivatives(plan, &plan->spaces[s]))
      return true;
  }
  return false;
}

static bool has_identity(const RitzPlan *plan, const RitzGpuTarget *t) {
  for (int b = 0; b < plan->num_bases; b++) {
    if (t->routes[b] == RITZ_ROUTE_IDENTITY && ritz_gpu_takes_lines(plan, b)) return true;
  }
  return false;
}

// Geometry is computed between many lines: idle threads cost more than the waits of larger blocks.
static bool is_busy(const RitzPlan *plan, const RitzGpuTarget *t) {
  const CeedInt most = has_identity(plan, t) ? RITZ_GPU_MOST_BUSY_IDENTITY : RITZ_GPU_MOST_BUSY;
  return ritz_plan_gpu_has_geometry(plan) && has_any_gradient(plan) && t->num_lines >= RITZ_GPU_LEAST_BUSY &&
         t->num_lines <= most;
}

// An element comes with several vectors, one set after the other. Blocks have all sets of an element, or of a
// few, if they can, else a half of them or less: its data at points come through L2 once for each block.
static CeedInt first_num_elem(const RitzGpuTarget *t, CeedInt most_threads) {
  CeedInt num = t->takes_many ? RITZ_GPU_MANY / t->vectors_per_thread : 1;
  while (num > 1 && num * t->num_lines > most_threads) num /= 2;
  return num;
}
static CeedInt next_num_elem(const RitzGpuTarget *t, CeedInt num) {
  return t->takes_many ? 2 * num : num + 1;
}
static CeedInt last_num_elem(const RitzGpuTarget *t, CeedInt num) {
  return t->takes_many ? num / 2 : num - 1;
}

// Elements whose lines of points fill warps: the least idle threads; smaller blocks wait less at barriers.
// Elements of two nodes a direction are read side by side (RITZ_LINES_BY_ELEMENT), values alone wait little.
static CeedInt model_num_elem(const RitzPlan *plan, const RitzGpuTarget *t) {
  const CeedInt longest = longest_line(plan, t);
  const CeedInt most_threads =
      is_busy(plan, t) || t->takes_many ? RITZ_GPU_BUSY_THREADS : RITZ_GPU_MODEL_THREADS;
  const double price = is_busy(plan, t) ? RITZ_GPU_BUSY_THREAD_PRICE : RITZ_GPU_THREAD_PRICE;
  CeedInt best = first_num_elem(t, most_threads);
  double most = -1;
  for (CeedInt num = best; num * t->num_lines <= most_threads; num = next_num_elem(t, num)) {
    const CeedInt threads = round_up(num * t->num_lines, RITZ_GPU_WARP);
    const double gain = (double)(num * t->num_lines) / threads - price * threads;
    if (gain <= most) continue;
    most = gain;
    best = num;
  }
  if (has_any_gradient(plan)) return best;
  if (ritz_plan_gpu_pass(t, RITZ_PASS_NODES, 2)) return round_up(best, RITZ_GPU_SIDE_BY_SIDE);
  return longest <= RITZ_GPU_SHORT_VALUES ? 2 * best : best;
}

// No more can be had; fewer, where padding takes its part.
static CeedInt most_elem(const RitzPlan *plan, const RitzGpuMachine *machine, const RitzGpuTarget *t) {
  const CeedInt by_threads = machine->max_threads / t->num_lines;
  const CeedInt bytes = t->num_arrays * plan->Q * ritz_gpu_real_bytes(plan);
  const CeedInt by_bytes = bytes > 0 ? machine->shared_bytes / bytes : by_threads;
  return CeedIntMax(1, CeedIntMin(by_threads, by_bytes));
}

static bool has_places(const RitzPlan *plan, const RitzGpuTarget *t) {
  bool has_enough = (CeedSize)t->num_elem * t->strides.elem <= MAX_PLACES;
  for (int b = 0; b < plan->num_bases; b++)
    has_enough &= !ritz_gpu_takes_lines(plan, b) || plan->bases[b].P <= MAX_PLACES;
  return has_enough;
}

// A block that is chosen has to be possible; the model also wants three of them on a multiprocessor.
static bool block_fits_device(const RitzPlan *plan, const RitzGpuMachine *machine, const RitzGpuTarget *t) {
  const bool is_roomy =
      t->choice.num_elem || machine->shared_bytes_processor == 0 ||
      RITZ_GPU_ROOMY_BLOCKS * (t->shared_bytes + RITZ_GPU_RESERVED_BYTES) <= machine->shared_bytes_processor;
  return is_roomy && t->shared_bytes <= machine->shared_bytes && t->num_threads <= machine->max_threads &&
         has_places(plan, t) && ritz_plan_gpu_has_room(plan, machine, t);
}

static void choose_block(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  t->num_elem = t->choice.num_elem ? t->choice.num_elem : model_num_elem(plan, t);
  const CeedInt most = most_elem(plan, machine, t);
  while (t->num_elem > most) t->num_elem = last_num_elem(t, t->num_elem);
  for (;; t->num_elem = last_num_elem(t, t->num_elem)) {
    t->num_threads = round_up(t->num_elem * t->num_lines, RITZ_GPU_WARP);
    choose_layout(plan, machine, t);
    if (t->num_elem == 1 || block_fits_device(plan, machine, t)) break;
  }
  if (!ritz_plan_gpu_has_room(plan, machine, t)) t->reason = RITZ_NO_ROOM;
  if (!has_places(plan, t))
    t->reason = "an element with more nodes or points than the tables of a kernel count";
  if (t->num_threads > machine->max_threads) t->reason = "more lines of points than a block has threads";
  if (t->shared_bytes > machine->shared_bytes) t->reason = "an element that does not fit shared memory";
}

// ---- Registers ----

// Numbers that a thread holds at its points between passes.
static CeedInt count_kept(const RitzPlan *plan, const RitzGpuTarget *t, bool is_input) {
  CeedInt kept = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (s->is_input != is_input || s->basis < 0 || ritz_gpu_is_simple(s)) continue;
    if (ritz_gpu_is_dense(plan, s) || ritz_gpu_is_vector(plan, s)) {
      kept += s->num_comp * t->Q_1d * (ritz_gpu_dense_values(plan, s) + ritz_gpu_dense_derivatives(plan, s));
      continue;
    }
    const CeedInt derivatives = !has_gradient(s) ? 0 : t->routes[s->basis] == RITZ_ROUTE_DIRECT ? t->dim : 1;
    kept += ritz_gpu_num_comp(t, s) * t->Q_1d * (has_values(s) + derivatives);
  }
  return kept;
}

static CeedInt count_point(const RitzPlan *plan, const RitzGpuTarget *t) {
  CeedInt size = 0;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) size += ritz_gpu_field_size(plan, t, i);
  return size;
}

// Data at points, some of which are read ahead.
static CeedInt count_stored(const RitzPlan *plan) {
  CeedInt size = 0;
  for (int i = 0; i < plan->num_in; i++)
    size += plan->fields[i].mode == CEED_EVAL_NONE ? plan->fields[i].size : 0;
  return size;
}

// Private scalars of a thread on devices where lines are in private memory instead of registers.
static CeedSize count_private(const RitzPlan *plan, const RitzGpuTarget *t) {
  CeedSize num = (CeedSize)count_kept(plan, t, true) + count_kept(plan, t, false) + count_point(plan, t);
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    if (ritz_gpu_is_simple(s)) num += s->num_comp * s->num_nodes + ritz_plan_gpu_simple_registers(plan, s);
    if (s->basis < 0 || ritz_gpu_is_simple(s)) continue;
    const bool is_direct =
        (has_gradient(s) && t->routes[s->basis] == RITZ_ROUTE_DIRECT) || ritz_gpu_is_vector(plan, s);
    num += ritz_gpu_has_lines(plan, s)
               ? ritz_gpu_num_comp(t, s) * ritz_plan_gpu_longest(&plan->bases[s->basis]) +
                     (is_direct ? RITZ_GPU_SCRATCH_DIRECT : RITZ_GPU_SCRATCH) * longest_line(plan, t)
               : 3 * s->num_comp * t->elem_per_thread;
  }
  return num;
}

bool ritz_plan_gpu_has_room(const RitzPlan *plan, const RitzGpuMachine *machine, const RitzGpuTarget *t) {
  const CeedSize num_bytes = count_private(plan, t) * ritz_gpu_real_bytes(plan) + machine->context_bytes;
  return machine->private_bytes == 0 || num_bytes * t->num_threads <= machine->private_bytes;
}

// Where the QFunction computes with geometry: the lines, what is known of the elements, and the point,
// which has as many numbers on the way from and to it.
static CeedInt geometry_registers(const RitzPlan *plan, const RitzGpuTarget *t, CeedInt kept) {
  CeedInt simple = 0, point = count_point(plan, t);
  for (int s = 0; s < plan->num_spaces; s++) {
    if (ritz_gpu_is_simple(&plan->spaces[s]))
      simple += ritz_plan_gpu_simple_registers(plan, &plan->spaces[s]);
  }
  for (int i = 0; i < plan->num_in; i++) {
    const RitzPlanField *f = &plan->fields[i];
    if (f->space >= 0 && ritz_gpu_is_simple(&plan->spaces[f->space])) point -= f->size;
  }
  return ritz_gpu_real_words(plan) * (kept + simple + 2 * point) +
         (has_identity(plan, t)    ? RITZ_GPU_IDENTITY_REGISTERS
          : has_any_gradient(plan) ? RITZ_GPU_GRADIENT_REGISTERS
                                   : RITZ_GPU_VALUE_REGISTERS);
}

static CeedInt line_registers(const RitzPlan *plan, const RitzGpuTarget *t, CeedInt kept) {
  const CeedInt lines =
      ritz_plan_gpu_pass(t, RITZ_PASS_ROWS, 0) ? kept + 2 * t->Q_1d : 2 * longest_line(plan, t);
  const CeedInt points =
      t->unrolls ? kept + count_point(plan, t) / RITZ_GPU_POINT_SHARE : count_point(plan, t);
  const CeedInt prefetched = count_stored(plan) * t->Q_1d / RITZ_GPU_AHEAD;
  return ritz_gpu_real_words(plan) * (CeedIntMax(lines, points) + prefetched) + RITZ_GPU_OTHER_REGISTERS;
}

static CeedInt model_registers(const RitzPlan *plan, const RitzGpuTarget *t) {
  if (t->evaluation == RITZ_GPU_ELEMENTS)
    return CeedIntMin(RITZ_GPU_MOST_REGISTERS, ritz_plan_gpu_element_budget(plan));
  if (ritz_gpu_has_tiles(t)) return ritz_plan_gpu_tile_registers(plan);
  const CeedInt kept = CeedIntMax(count_kept(plan, t, true), count_kept(plan, t, false));
  const CeedInt geometry = ritz_plan_gpu_has_geometry(plan) ? geometry_registers(plan, t, kept) : 0;
  if (geometry && has_any_gradient(plan)) return CeedIntMin(RITZ_GPU_MOST_REGISTERS, geometry);
  return CeedIntMin(RITZ_GPU_MOST_REGISTERS, CeedIntMax(line_registers(plan, t, kept), geometry));
}

// Registers of a thread, where so many blocks are resident: four schedulers have a share each, for whole
// warps.
static CeedInt registers_of_thread(const RitzGpuMachine *machine, CeedInt threads) {
  const CeedInt of_block = round_up(threads, RITZ_GPU_WARP) / RITZ_GPU_WARP;
  const CeedInt warps = round_up(of_block, RITZ_GPU_SCHEDULERS) / RITZ_GPU_SCHEDULERS;
  const CeedInt share = machine->registers_processor / (RITZ_GPU_SCHEDULERS * RITZ_GPU_WARP) / warps;
  return CeedIntMin(RITZ_GPU_MOST_REGISTERS, share / RITZ_GPU_REGISTER_UNIT * RITZ_GPU_REGISTER_UNIT);
}

// Blocks per multiprocessor by the estimate of registers: as many as leave a thread what it wants, with
// geometry, whose kernels feel each step, little less.
static CeedInt blocks_by_registers(const RitzPlan *plan, const RitzGpuMachine *machine,
                                   const RitzGpuTarget *t) {
  const CeedInt wanted = model_registers(plan, t), of_block = wanted * t->num_threads;
  if (ritz_gpu_has_tiles(t)) return CeedIntMax(1, machine->registers_processor / of_block);
  if (!ritz_plan_gpu_has_geometry(plan)) return (machine->registers_processor + of_block / 2) / of_block;
  CeedInt blocks = RITZ_GPU_MOST_BLOCKS;
  while (blocks > 1 && RITZ_GPU_WHOLE_SHARE * registers_of_thread(machine, blocks * t->num_threads) <
                           RITZ_GPU_LEAST_SHARE * wanted)
    blocks--;
  return blocks;
}

// A quarter of a multiprocessor's memory is left to its cache, if three blocks fit the rest. Threads with
// whole elements read little through the cache.
static void choose_residency(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  const CeedInt of_block = t->shared_bytes + RITZ_GPU_RESERVED_BYTES;
  CeedInt blocks = t->choice.num_blocks;
  if (!blocks) {
    blocks = blocks_by_registers(plan, machine, t);
    const CeedInt uncached = machine->shared_bytes_processor * RITZ_GPU_MEMORY_QUARTERS / 4;
    if (machine->shared_bytes_processor > 0 && t->evaluation == RITZ_GPU_LINES)
      blocks = CeedIntMin(blocks, CeedIntMax(RITZ_GPU_ROOMY_BLOCKS, uncached / of_block));
  }
  if (machine->shared_bytes_processor > 0)
    blocks = CeedIntMin(blocks, machine->shared_bytes_processor / of_block);
  t->num_blocks = CeedIntMax(1, CeedIntMin(blocks, RITZ_GPU_MOST_BLOCKS));
}

static bool is_short(const RitzPlan *plan, const RitzGpuTarget *t) {
  if (t->evaluation == RITZ_GPU_LINES) return t->Q_1d * count_point(plan, t) <= RITZ_GPU_POINT_WORK;
  return plan->Q * count_point(plan, t) <=
         (has_light_points(plan) ? RITZ_GPU_LIGHT_ELEMENT_WORK : RITZ_GPU_ELEMENT_WORK);
}

// Where geometry is computed beside much else, all points at once would take too many registers.
static bool is_crowded(const RitzPlan *plan, const RitzGpuTarget *t) {
  if (!ritz_plan_gpu_has_geometry(plan)) return false;
  if (t->evaluation == RITZ_GPU_ELEMENTS) return true;
  if (!has_any_gradient(plan)) return t->Q_1d > RITZ_GPU_SHORT_LINE;
  return ritz_plan_gpu_pass(t, RITZ_PASS_ROWS, 0) && !has_identity(plan, t);
}

static void choose_loop(const RitzPlan *plan, RitzGpuTarget *t) {
  const int unroll = t->choice.unroll ? t->choice.unroll : is_short(plan, t) ? 1 : -1;
  const int fence = t->choice.fence ? t->choice.fence : is_crowded(plan, t) ? 1 : -1;
  // Nodes that are points would be indexed at run time, and so would the points of tiles.
  t->unrolls =
      unroll > 0 || (t->evaluation == RITZ_GPU_ELEMENTS && has_identity(plan, t)) || ritz_gpu_has_tiles(t);
  t->fences = fence > 0 && !ritz_gpu_has_tiles(t);
}

// ---- Constants ----

static CeedSize matrix_bytes(const RitzPlan *plan, const RitzPlanMatrix *A) {
  const CeedSize half = A->parity ? 2 : 1;
  return (CeedSize)A->rows * A->cols / half * ritz_gpu_real_bytes(plan);
}

// Bytes of 1D matrices in constant memory: those of inputs, and the transposed ones of outputs.
static CeedSize count_constants(const RitzPlan *plan, const RitzGpuTarget *t) {
  CeedSize num_bytes = 0;
  for (int b = 0; b < plan->num_bases; b++) {
    const RitzPlanBasis *basis = &plan->bases[b];
    if (!ritz_gpu_takes_lines(plan, b)) continue;
    if (basis->route == RITZ_ROUTE_BLOCKS) {
      num_bytes += ritz_gpu_count_vector_constants(plan, b) * ritz_gpu_real_bytes(plan);
      continue;
    }
    if (t->routes[b] != RITZ_ROUTE_IDENTITY) num_bytes += 2 * matrix_bytes(plan, &basis->interp);
    if (basis_has_gradient(plan, b))
      num_bytes += 2 * matrix_bytes(plan, t->routes[b] == RITZ_ROUTE_DIRECT ? &basis->grad : &basis->deriv);
  }
  return num_bytes;
}

// ---- The target ----

static int allocate_arrays(Ceed ceed, const RitzPlan *plan, RitzGpuTarget *t) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_bases, &t->routes));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)plan->num_spaces, &t->spaces));
  RITZ_TRY(RITZ_CALLOC(ceed, 6 * (size_t)plan->num_spaces + 3, &t->passes));
  const size_t of_space = t->takes_many ? 5 + RITZ_GPU_MANY : 6;
  RITZ_TRY(
      RITZ_CALLOC(ceed, 1 + of_space * (size_t)plan->num_spaces + 4 * (size_t)plan->num_bases, &t->args));
  return CEED_ERROR_SUCCESS;
}

static int assign_lines(Ceed ceed, const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  for (int i = 0; i < t->num_passes; i++) {
    RitzGpuPass *pass = &t->passes[i];
    RITZ_TRY(ritz_lines_assign(ceed, &pass->lines, &t->strides, t->num_elem, t->num_threads,
                               ritz_gpu_real_banks(plan, machine), &pass->num_rounds, &pass->slots));
  }
  return CEED_ERROR_SUCCESS;
}

static void place_lines(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  place_arrays(plan, t);
  t->uses_mma = ritz_plan_gpu_chooses_mma(plan, machine, t);
  if (!t->is_nontensor) list_passes(plan, t);
  if (ritz_gpu_has_tiles(t))
    ritz_plan_gpu_choose_tiles(plan, machine, t);
  else
    (t->is_nontensor ? ritz_plan_gpu_choose_nontensor : choose_block)(plan, machine, t);
}

// Lines of tensor bases, and data at points, have the layout of components for that.
static bool can_take_together(const RitzPlan *plan, const RitzGpuTarget *t) {
  bool can = t->takes_many && t->evaluation == RITZ_GPU_LINES && !t->is_nontensor;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    can &= !space->is_active || space->basis < 0 ||
           (ritz_gpu_has_lines(plan, space) && !ritz_gpu_is_vector(plan, space));
  }
  return can;
}

static int choose_gpu_target(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                             bool is_deterministic, RitzGpuTarget *t) {
  Ceed ceed = op->obj.ceed;
  t->dim = plan->dim;
  t->Q_1d = plan->Q_1d;
  t->num_lines = plan->Q / plan->Q_1d;
  t->is_nontensor = ritz_plan_gpu_is_nontensor(plan);
  t->elem_per_thread = t->elem_per_pack = 1;
  t->takes_many = t->choice.vectors > 0;
  t->vectors_per_thread = 1;
  RITZ_TRY(allocate_arrays(ceed, plan, t));
  for (int s = 0; s < plan->num_spaces; s++)
    describe_space(plan, &plan->spaces[s], is_deterministic, t, &t->spaces[s]);
  choose_routes(plan, t);
  t->evaluation = ritz_plan_gpu_takes_elements(plan, machine, t) ? RITZ_GPU_ELEMENTS : RITZ_GPU_LINES;
  if (can_take_together(plan, t)) t->vectors_per_thread = t->choice.vectors;
  t->constant_bytes = count_constants(plan, t);
  if (t->constant_bytes > RITZ_MAX_CONSTANT_BYTES) t->reason = RITZ_TOO_MANY_CONSTANTS;
  if (t->reason) return CEED_ERROR_SUCCESS;
  for (int s = 0; s < plan->num_spaces; s++) RITZ_TRY(choose_rows(op, plan, machine, t, s));
  if (t->evaluation == RITZ_GPU_ELEMENTS)
    ritz_plan_gpu_place_elements(plan, machine, t);
  else
    place_lines(plan, machine, t);
  if (t->reason) return CEED_ERROR_SUCCESS;
  choose_loop(plan, t);
  choose_residency(plan, machine, t);
  list_args(plan, t);
  list_matrices(plan, t);
  return assign_lines(ceed, plan, machine, t);
}

int ritz_plan_gpu(CeedOperator op, const RitzPlan *plan, const RitzGpuMachine *machine,
                  const RitzGpuChoice *choice, bool is_deterministic, RitzGpuTarget **target) {
  *target = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, target));
  (*target)->choice = *choice;
  (*target)->reason = why_not_fused(plan);
  if ((*target)->reason) return CEED_ERROR_SUCCESS;
  const int ierr = choose_gpu_target(op, plan, machine, is_deterministic, *target);
  if (ierr) ritz_plan_gpu_free(target);
  return ierr;
}

void ritz_plan_gpu_free(RitzGpuTarget **target) {
  RitzGpuTarget *t = *target;
  if (!t) return;
  for (int i = 0; i < t->num_passes; i++) RITZ_FREE(&t->passes[i].slots);
  RITZ_FREE(&t->routes);
  RITZ_FREE(&t->spaces);
  RITZ_FREE(&t->passes);
  RITZ_FREE(&t->args);
  RITZ_FREE(target);
}

// ---- Costs ----

static void find_access(const RitzPlan *plan, const RitzGpuTarget *t, RitzPlanAccess *access) {
  for (int i = 0; i < plan->num_spaces; i++)
    access[i] = (RitzPlanAccess){.has_offsets = plan->spaces[i].restriction.type != CEED_RESTRICTION_STRIDED,
                                 .row_length = t->spaces[i].row_length};
}

RitzPlanCost ritz_plan_gpu_cost(const RitzPlan *plan, const RitzGpuTarget *t) {
  RitzPlanAccess access[plan->num_spaces + 1];
  find_access(plan, t, access);
  return ritz_plan_cost(plan, access);
}

int ritz_plan_gpu_print_steps(const RitzPlan *plan, const RitzGpuTarget *t, FILE *stream) {
  RitzPlanAccess access[plan->num_spaces + 1];
  find_access(plan, t, access);
  return ritz_steps_print(plan->steps, access, NULL, NULL, stream);
}

// ---- For people ----

static void print_choices(const RitzPlan *plan, const RitzGpuTarget *t, FILE *stream) {
  if (ritz_gpu_converts_arguments(plan))
    fprintf(stream, "  the QFunction computes in %s, as its context is laid out, with converted arguments\n",
            ritz_precision_name(CEED_SCALAR_TYPE));
  if (t->evaluation == RITZ_GPU_ELEMENTS) fprintf(stream, "  a thread takes a whole element\n");
  fprintf(stream,
          "  target: blocks of %" CeedInt_FMT " threads for %" CeedInt_FMT " elements, %" CeedInt_FMT
          " resident; %" CeedInt_FMT " bytes of block memory (rows %d, planes %d, elements %d apart)\n",
          t->num_threads, t->num_elem, t->num_blocks, t->shared_bytes, t->strides.row, t->strides.plane,
          t->strides.elem);
  if (ritz_gpu_has_tiles(t))
    fprintf(stream,
            "  warps: 16 elements, %" CeedInt_FMT " of %" CeedInt_FMT
            " tiles of 8 points at a time in block memory, products by tensor cores\n",
            t->num_staged_tiles, ritz_gpu_num_tiles(plan));
  else if (t->is_nontensor)
    fprintf(stream, "  threads: %" CeedInt_FMT " points of %" CeedInt_FMT " elements\n",
            t->Q_1d / t->elem_per_thread, t->elem_per_thread);
  fprintf(stream, "  points: %s%s\n",
          t->unrolls ? "unrolled, lines in registers" : "one after the other in a loop",
          t->fences ? ", fenced" : "");
  if (t->uses_mma && !t->is_nontensor)
    fprintf(stream, "  lines in shared memory: products by tensor cores\n");
  if (t->has_energy) fprintf(stream, "  also gives u . A u\n");
  if (t->takes_many)
    fprintf(stream, "  takes up to %d vectors, %" CeedInt_FMT " of them in a thread\n", RITZ_GPU_MANY,
            t->vectors_per_thread);
}

// Whether a basis is used by more than simple inputs.
static bool is_used(const RitzPlan *plan, int b) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].basis == b && !ritz_gpu_is_simple(&plan->spaces[s])) return true;
  }
  return false;
}

// Without offsets.
static void print_strides(const RitzPlanSpace *s, int number, const RitzGpuSpace *g, FILE *stream) {
  static const char *const names[3] = {"nodes", "components", "elements"};
  if (s->restriction.type != CEED_RESTRICTION_STRIDED && g->scatter != RITZ_SCATTER_E_VECTOR) return;
  fprintf(stream, "  space %d:", number);
  for (int d = 0; d < 3; d++) {
    fprintf(stream, "%s %s ", d ? "," : "", names[d]);
    if (g->strides[d])
      fprintf(stream, "%" CeedInt_FMT, g->strides[d]);
    else
      fprintf(stream, "by an argument");
  }
  fprintf(stream, " apart\n");
}

void ritz_plan_gpu_print(const RitzPlan *plan, const RitzGpuTarget *t, FILE *stream) {
  static const char *const routes[] = {"the nodes are the points", "interpolated, derivatives at the points",
                                       "each derivative from the nodes", "dense",
                                       "lines of each component, each derivative from the nodes"};
  static const char *const scatters[] = {"atomic additions", "entries of their own",
                                         "E-vectors, summed in the order of the elements"};
  print_choices(plan, t, stream);
  for (int b = 0; b < plan->num_bases; b++) {
    if (is_used(plan, b)) fprintf(stream, "  basis %d: %s\n", b, routes[t->routes[b]]);
  }
  for (int s = 0; s < plan->num_spaces; s++) {
    print_strides(&plan->spaces[s], s, &t->spaces[s], stream);
    if (t->spaces[s].row_length) fprintf(stream, "  space %d: one offset a row of nodes\n", s);
    if (t->spaces[s].is_copied) fprintf(stream, "  space %d: copied to shared memory\n", s);
    if (plan->spaces[s].is_input) continue;
    fprintf(stream, "  space %d: %s%s%s\n", s, scatters[t->spaces[s].scatter],
            t->spaces[s].is_staged ? " of components side by side" : "",
            t->spaces[s].is_joined ? ", those of neighbours together" : "");
  }
}
