// SPDX-License-Identifier: BSD-2-Clause
// The target of a plan on a CPU, by rules that were measured (contract in plan/cpu.h).
#include "plan/cpu.h"

#include <string.h>

#include "plan/blocks.h"
#include "plan/internal.h"

// ---- Bases of spaces ----

// The basis of a space that goes line by line, if it is a tensor product.
static const RitzPlanBasis *line_basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
  return basis && basis->is_tensor && space->kind == RITZ_INPUT_CONTRACTED ? basis : NULL;
}

static const RitzPlanBasis *tensor_basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = space->basis < 0 ? NULL : &plan->bases[space->basis];
  return basis && basis->is_tensor ? basis : NULL;
}

// ---- Evaluation and call ----

// No control characters, not both '"' and '>'.
static bool can_include(const char *path) {
  for (const char *c = path; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 127) return false;
  return !strchr(path, '"') || !strchr(path, '>');
}

static RitzEvaluation choose_evaluation(const RitzPlan *plan) {
  if (plan->is_at_points || !ritz_plan_has_one_grid(plan)) return RITZ_EVALUATE_NONE;
  for (int i = 0; i < plan->num_bases; i++) {
    if (ritz_plan_has_grid(&plan->bases[i])) return RITZ_EVALUATE_PLANES;
  }
  return RITZ_EVALUATE_FLAT;
}

// The points form a tensor grid.
static bool has_grid(const RitzCpuTarget *t) {
  return t->evaluation == RITZ_EVALUATE_PLANES || t->evaluation == RITZ_EVALUATE_VALUES;
}

static bool calls_fit_vector_length(const RitzPlan *plan, const RitzCpuTarget *t) {
  return (CeedSize)t->lanes * t->call_points % plan->vec_length == 0;
}

// One point a call if the text is there to be inlined, else a row; all points, which the vector length
// divides, from a kernel that is not fused.
static void choose_call(const RitzPlan *plan, bool has_text, RitzCpuTarget *t) {
  t->call = has_text ? RITZ_CALL_TEXT : RITZ_CALL_POINTER;
  t->call_points = has_text ? 1 : plan->Q_1d;
  if (!calls_fit_vector_length(plan, t)) t->call_points = plan->Q_1d;
  if (!calls_fit_vector_length(plan, t)) t->evaluation = RITZ_EVALUATE_NONE;
  if (t->evaluation != RITZ_EVALUATE_NONE) return;
  t->call = RITZ_CALL_POINTER;
  t->call_points = plan->Q;
}

// Values only, one point a call: whole rows of points stay in registers.
static bool has_values_only(const RitzPlan *plan, const RitzCpuTarget *t) {
  bool has_values = false;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const RitzPlanBasis *basis = line_basis_of(plan, space);
    if (!basis) continue;
    if (basis->route != RITZ_ROUTE_COLLOCATED || (space->modes & CEED_EVAL_GRAD)) return false;
    has_values = true;
  }
  return has_values && plan->dim >= 2 && t->call_points == 1;
}

static void choose_values(const RitzPlan *plan, RitzCpuTarget *t) {
  if (t->evaluation == RITZ_EVALUATE_PLANES && has_values_only(plan, t)) t->evaluation = RITZ_EVALUATE_VALUES;
}

// ---- Gathers ----

// Length of the rows that the kernel would take a space's nodes in; 0: none. Rows of one node are nodes.
static CeedInt wanted_row(const RitzPlan *plan, const RitzCpuTarget *t, const RitzPlanSpace *space) {
  const RitzPlanBasis *basis = tensor_basis_of(plan, space);
  bool is_row_of_points = space->basis < 0 && has_grid(t);
  CeedInt length = basis ? basis->P_1d : is_row_of_points ? plan->Q_1d : 0;
  return length > 1 ? length : 0;
}

// A vector is packed in one order at a time.
static bool is_packed_already(const RitzPlan *plan, const RitzCpuTarget *t, int s) {
  for (int i = 0; i < s; i++) {
    if (plan->spaces[i].array == plan->spaces[s].array && t->spaces[i].gather == RITZ_GATHER_PACKED)
      return true;
  }
  return false;
}

static int choose_gather(CeedOperator op, const RitzPlan *plan, RitzCpuRows rows, RitzCpuTarget *t, int s) {
  const RitzPlanSpace *space = &plan->spaces[s];
  const CeedInt row = wanted_row(plan, t, space);
  bool has_rows = false;
  if (space->restriction.type == CEED_RESTRICTION_POINTS) {
    t->spaces[s].gather = RITZ_GATHER_POINTS;
    return CEED_ERROR_SUCCESS;
  }
  if (space->restriction.type == CEED_RESTRICTION_STRIDED) {
    const bool is_packed = ritz_plan_is_stored(space) && !is_packed_already(plan, t, s);
    t->spaces[s].gather = is_packed ? RITZ_GATHER_PACKED : RITZ_GATHER_STRIDED;
    return CEED_ERROR_SUCCESS;
  }
  t->spaces[s].gather = RITZ_GATHER_NODES;
  if (!rows || row == 0 || space->restriction.type != CEED_RESTRICTION_STANDARD) return CEED_ERROR_SUCCESS;
  RITZ_TRY(rows(ritz_operator_field(op, space->field)->rstr, row, t->lanes, &has_rows));
  if (!has_rows) return CEED_ERROR_SUCCESS;
  t->spaces[s].gather = RITZ_GATHER_ROWS;
  t->spaces[s].row_length = row;
  return CEED_ERROR_SUCCESS;
}

// ---- Shared arrays ----

static bool is_taken(const RitzPlan *plan, const RitzCpuTarget *t, int input) {
  for (int i = 0; i < plan->num_spaces; i++) {
    if (t->spaces[i].overwrites == input) return true;
  }
  return false;
}

// The first input space whose arrays an output may have; -1: none.
static int find_spent(const RitzPlan *plan, const RitzCpuTarget *t, const RitzPlanSpace *output) {
  const RitzPlanBasis *basis = output->basis < 0 ? NULL : &plan->bases[output->basis];
  if (output->is_input || !basis || !ritz_plan_has_grid(basis) || basis->route == RITZ_ROUTE_DIRECT)
    return -1;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    bool is_like = s->is_input && s->kind == RITZ_INPUT_CONTRACTED && s->basis == output->basis &&
                   s->num_comp == output->num_comp &&
                   (basis->route != RITZ_ROUTE_BLOCKS || s->modes == output->modes); // sizes of work arrays
    if (is_like && !is_taken(plan, t, i)) return i;
  }
  return -1;
}

static void share_arrays(const RitzPlan *plan, RitzCpuTarget *t) {
  for (int i = 0; i < plan->num_spaces; i++) t->spaces[i].overwrites = -1;
  for (int i = 0; has_grid(t) && i < plan->num_spaces; i++)
    t->spaces[i].overwrites = find_spent(plan, t, &plan->spaces[i]);
}

// ---- Rows and prefetching ----

// In 3D, fields of one component and stored data of the points alone: several components crowd the registers
// (BP4 at p = 4 loses 4 %), and the QFunction has no geometry to compute.
static bool is_scalar_with_data(const RitzPlan *plan, const RitzCpuTarget *t) {
  bool has_packed = false;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const bool is_packed = t->spaces[i].gather == RITZ_GATHER_PACKED;
    const bool is_line = line_basis_of(plan, space) && space->num_comp == 1;
    if (!is_packed && !is_line) return false;
    has_packed = has_packed || is_packed;
  }
  return has_packed && plan->dim == 3 && t->call_points == 1;
}

// Derivatives of a row stay in registers where its points are straight code. Rows of two points lose by it
// (BP5 at p = 1: 11 %).
static void choose_rows(const RitzPlan *plan, RitzCpuTarget *t) {
  bool has_derivatives = false;
  t->unrolls_rows = false;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const RitzPlanBasis *basis = line_basis_of(plan, space);
    if (basis && basis->route == RITZ_ROUTE_DIRECT) return;
    has_derivatives = has_derivatives || (basis && (space->modes & CEED_EVAL_GRAD));
  }
  t->unrolls_rows = t->evaluation == RITZ_EVALUATE_PLANES && has_derivatives && plan->Q_1d > 2 &&
                    plan->Q_1d <= 10 && is_scalar_with_data(plan, t);
}

// Stored data of the next batch, else its rows of nodes: memory would be idle while contractions run. Rows of
// two nodes are not worth it. Rows of nodes beside stored data: where these are few, up to 8 a node. A second
// fetch of some stored data, from 5 nodes a direction on: processors may drop fetches while too many are
// under way (not where machine->keeps_fetches).
static void choose_prefetching(const RitzPlan *plan, RitzCpuTarget *t) {
  bool is_fused = t->evaluation != RITZ_EVALUATE_NONE;
  bool has_packed = false;
  CeedInt length = 0;
  double num_stored = 0, num_nodes = 0;
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *space = &plan->spaces[i];
    const RitzPlanBasis *basis = tensor_basis_of(plan, space);
    const bool is_packed = t->spaces[i].gather == RITZ_GATHER_PACKED;
    has_packed = has_packed || is_packed;
    if (is_packed) num_stored += (double)space->num_comp * plan->Q;
    if (basis && basis->P_1d > length) length = basis->P_1d;
    if (basis && space->is_input) num_nodes += space->num_nodes;
  }
  const bool has_few = has_packed && num_stored <= 8 * num_nodes && is_scalar_with_data(plan, t);
  t->prefetch_packed = is_fused && has_packed;
  t->prefetch_vectors = is_fused && (!has_packed || has_few) && length > 2;
  t->prefetch_again = t->prefetch_packed && t->unrolls_rows && length >= 5;
}

// ---- Working set ----

// Scalars of the element arrays of a space. Plane by plane: its nodes, and for the whole element values at
// the points and derivatives in the last direction. Otherwise everything that the fields ask for.
static double space_scalars(const RitzPlan *plan, const RitzCpuTarget *t, const RitzPlanSpace *s) {
  if (s->kind != RITZ_INPUT_CONTRACTED) return (double)s->num_nodes * s->num_comp;
  if (s->basis < 0) return t->evaluation == RITZ_EVALUATE_NONE ? (double)s->num_nodes * s->num_comp : 0;
  const RitzPlanBasis *b = &plan->bases[s->basis];
  bool has_values = s->modes & CEED_EVAL_INTERP, has_derivatives = s->modes & ~(unsigned)CEED_EVAL_INTERP;
  if (b->route == RITZ_ROUTE_POINTS)
    return (double)s->num_comp *
           (b->P + b->Q + (has_values + has_derivatives * b->dim) * (double)RITZ_POINTS_AT_ONCE);
  double num_points = (has_values ? b->q_comp_interp : 0) + (has_derivatives ? b->q_comp_deriv : 0);
  if (t->evaluation == RITZ_EVALUATE_PLANES && b->is_tensor && b->route != RITZ_ROUTE_DIRECT)
    num_points = (b->route == RITZ_ROUTE_COLLOCATED) + has_derivatives;
  const double work = b->route == RITZ_ROUTE_BLOCKS ? ritz_plan_block_work(b, s->modes) : 0;
  return work + s->num_comp * (b->P + num_points * b->Q);
}

// An output that takes over arrays needs only what they lack.
static double added_scalars(const RitzPlan *plan, const RitzCpuTarget *t, int s) {
  double scalars = space_scalars(plan, t, &plan->spaces[s]);
  if (t->spaces[s].overwrites < 0) return scalars;
  double taken = space_scalars(plan, t, &plan->spaces[t->spaces[s].overwrites]);
  return scalars > taken ? scalars - taken : 0;
}

static double count_working_set(const RitzPlan *plan, const RitzCpuTarget *t) {
  double scalars = 0;
  for (int i = 0; i < plan->num_spaces; i++) scalars += added_scalars(plan, t, i);
  return (double)ritz_scalar_bytes(plan->precision) * t->lanes * scalars;
}

// ---- The target ----

static int choose_cpu_target(CeedOperator op, const RitzPlan *plan, const RitzCpuMachine *machine,
                             RitzCpuRows rows, RitzCpuTarget *t) {
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, (size_t)plan->num_spaces, &t->spaces));
  RITZ_TRY(ritz_cpu_allocate_calls(op->obj.ceed, plan->steps, t));
  t->lanes = machine->lanes;
  t->evaluation = choose_evaluation(plan);
  choose_call(plan, machine->allows_text && plan->source_path && can_include(plan->source_path), t);
  choose_values(plan, t);
  for (int i = 0; i < plan->num_spaces; i++) RITZ_TRY(choose_gather(op, plan, rows, t, i));
  share_arrays(plan, t);
  choose_rows(plan, t);
  choose_prefetching(plan, t);
  if (machine->keeps_fetches) t->prefetch_again = false;
  t->working_set = count_working_set(plan, t);
  ritz_cpu_lower(plan, t);
  return CEED_ERROR_SUCCESS;
}

int ritz_plan_cpu(CeedOperator op, const RitzPlan *plan, const RitzCpuMachine *machine, RitzCpuRows rows,
                  RitzCpuTarget **target) {
  *target = NULL;
  RITZ_TRY(RITZ_CALLOC(op->obj.ceed, 1, target));
  const int ierr = choose_cpu_target(op, plan, machine, rows, *target);
  if (ierr) ritz_plan_cpu_free(target);
  return ierr;
}

// Planes instead of rows in registers; else the evaluation stays: a row fits whenever a point or a row of the
// text does.
void ritz_plan_cpu_use_pointer(const RitzPlan *plan, RitzCpuTarget *t) {
  if (t->evaluation == RITZ_EVALUATE_VALUES) t->evaluation = RITZ_EVALUATE_PLANES;
  choose_call(plan, false, t);
  choose_rows(plan, t);
  choose_prefetching(plan, t);
  ritz_cpu_lower(plan, t);
}

void ritz_plan_cpu_free(RitzCpuTarget **target) {
  if (!*target) return;
  RITZ_FREE(&(*target)->spaces);
  RITZ_FREE(&(*target)->arrays);
  RITZ_FREE(&(*target)->calls);
  RITZ_FREE(target);
}

// ---- Costs ----

void ritz_cpu_find_access(const RitzPlan *plan, const RitzCpuTarget *t, RitzPlanAccess *access) {
  for (int i = 0; i < plan->num_spaces; i++)
    access[i] = (RitzPlanAccess){.has_offsets = t->spaces[i].gather <= RITZ_GATHER_ROWS ||
                                                t->spaces[i].gather == RITZ_GATHER_POINTS,
                                 .row_length = t->spaces[i].row_length};
}

RitzPlanCost ritz_plan_cpu_cost(const RitzPlan *plan, const RitzCpuTarget *t) {
  RitzPlanAccess access[plan->num_spaces + 1];
  ritz_cpu_find_access(plan, t, access);
  return ritz_plan_cost(plan, access);
}
