// SPDX-License-Identifier: BSD-2-Clause
// A list of steps on a CPU: which array each buffer is in, and the calls of templates that do the steps,
// neighbours together where a template does both (contracts in plan/cpu.h and plan/internal.h).
#include <stdio.h>
#include <string.h>

#include "plan/internal.h"
#include "plan/steps.h"

typedef struct {
  const RitzPlan *plan;
  const RitzSteps *list;
  RitzCpuTarget *target;
  bool is_input; // before the QFunction
} Lowering;

static const RitzPlanBasis *basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  return space->basis < 0 ? NULL : &plan->bases[space->basis];
}

static bool is_line_route(const RitzPlanBasis *b) {
  return b->route == RITZ_ROUTE_IDENTITY || b->route == RITZ_ROUTE_COLLOCATED;
}

// ---- Arrays ----

const char *ritz_cpu_array_name(RitzCpuArray array) {
  static const char *const names[RITZ_NUM_ARRAYS] = {
      [RITZ_ARRAY_NODES] = "nodes",
      [RITZ_ARRAY_PARTIAL] = "partial",
      [RITZ_ARRAY_VALUES] = "values",
      [RITZ_ARRAY_DERIVATIVES] = "derivatives",
      [RITZ_ARRAY_WORK] = "work",
      [RITZ_ARRAY_PLANE_DERIVATIVES] = "middle_derivatives",
      [RITZ_ARRAY_CONSTANT_VALUES] = "constant_values",
      [RITZ_ARRAY_CONSTANT_DERIVATIVES] = "constant_derivatives",
      [RITZ_ARRAY_ROW_DERIVATIVES] = "first_derivatives",
      [RITZ_ARRAY_ROW_VALUES] = "row_values",
      [RITZ_ARRAY_LINEAR_ROW] = "coefficients",
  };
  return names[array];
}

static RitzCpuArray array_of_form(const RitzPlanSpace *space, RitzRole role) {
  if (role == RITZ_ROLE_NODES) return RITZ_ARRAY_NODES;
  if (space->kind == RITZ_INPUT_LINEAR) return RITZ_ARRAY_LINEAR_ROW;
  return role == RITZ_ROLE_VALUES ? RITZ_ARRAY_CONSTANT_VALUES : RITZ_ARRAY_CONSTANT_DERIVATIVES;
}

// Derivatives along lines live as long as what is differentiated at a time.
static RitzCpuArray array_of_derivatives(const RitzPlanBasis *b, CeedInt direction) {
  if (!is_line_route(b) || direction == b->dim - 1) return RITZ_ARRAY_DERIVATIVES;
  return direction == 0 ? RITZ_ARRAY_ROW_DERIVATIVES : RITZ_ARRAY_PLANE_DERIVATIVES;
}

// The array of what lies between two directions: PARTIAL where only the last direction is left, else WORK.
static RitzCpuArray array_of_work(const RitzSteps *list, const RitzPlanBasis *b, int buffer) {
  const CeedInt *extents = ritz_steps_extents(list, buffer);
  bool is_partial = extents[b->dim - 1] == b->P_1d;
  if (!is_line_route(b)) return RITZ_ARRAY_WORK;
  for (CeedInt d = 0; d < b->dim - 1; d++) is_partial &= extents[d] == b->Q_1d;
  return is_partial ? RITZ_ARRAY_PARTIAL : RITZ_NUM_ARRAYS;
}

static RitzCpuArray array_of(const Lowering *l, int buffer) {
  const RitzBuffer *at = &l->list->buffers[buffer];
  if (at->space < 0 || at->role == RITZ_ROLE_VECTOR || l->plan->is_at_points) return RITZ_NUM_ARRAYS;
  const RitzPlanSpace *space = &l->plan->spaces[at->space];
  const RitzPlanBasis *b = basis_of(l->plan, space);
  if (!b && l->target->spaces[at->space].gather == RITZ_GATHER_PACKED) return RITZ_NUM_ARRAYS;
  if (!b) return RITZ_ARRAY_VALUES;
  if (space->kind != RITZ_INPUT_CONTRACTED) return array_of_form(space, at->role);
  switch (at->role) {
  case RITZ_ROLE_NODES: return RITZ_ARRAY_NODES;
  case RITZ_ROLE_WORK: return array_of_work(l->list, b, buffer);
  case RITZ_ROLE_DERIVATIVES: return array_of_derivatives(b, at->direction);
  default: break;
  }
  const bool is_row = l->target->evaluation == RITZ_EVALUATE_VALUES && is_line_route(b);
  return is_row ? RITZ_ARRAY_ROW_VALUES : RITZ_ARRAY_VALUES;
}

// ---- Calls ----

static RitzCpuCall *add_call(Lowering *l, RitzCpuTemplate name, RitzCpuStage stage, int first, int num) {
  const RitzStep *step = &l->list->steps[first];
  RitzCpuCall *call = &l->target->calls[l->target->num_calls++];
  const int space = l->list->buffers[l->is_input ? step->to : step->from].space;
  *call = (RitzCpuCall){.name = name,
                        .stage = stage,
                        .is_input = l->is_input,
                        .adds = step->adds,
                        .space = space,
                        .first = first,
                        .num = num,
                        .from = step->from,
                        .to = l->list->steps[first + num - 1].to,
                        .also = -1};
  return call;
}

static int lower_transfer(Lowering *l, int n) {
  const RitzStep *step = &l->list->steps[n];
  if (l->target->arrays[l->is_input ? step->to : step->from] != RITZ_NUM_ARRAYS)
    add_call(l, RITZ_TEMPLATE_TRANSFER, RITZ_STAGE_ELEMENT, n, 1);
  return 1;
}

// Steps from n on of this kind on one space.
static int count_steps(const Lowering *l, int n, RitzStepKind kind) {
  const RitzStep *steps = l->list->steps;
  int num = 0;
  while (n + num < l->list->num_steps && steps[n + num].kind == kind) num++;
  return num;
}

static int lower_form(Lowering *l, int n) {
  const RitzStep *step = &l->list->steps[n];
  const int num = count_steps(l, n, RITZ_STEP_FORM);
  const RitzPlanSpace *space = &l->plan->spaces[l->list->buffers[step->from].space];
  if (space->kind == RITZ_INPUT_LINEAR) {
    add_call(l, RITZ_TEMPLATE_COEFFICIENTS, RITZ_STAGE_ELEMENT, n, num);
    add_call(l, RITZ_TEMPLATE_LINEAR_ROW, RITZ_STAGE_ROW, n, num);
    return num;
  }
  const int num_values = step->table == RITZ_TABLE_INTERP;
  if (num_values) add_call(l, RITZ_TEMPLATE_CONSTANTS, RITZ_STAGE_PLANE, n, 1);
  if (num > num_values)
    add_call(l, RITZ_TEMPLATE_CONSTANTS, RITZ_STAGE_PLANE, n + num_values, num - num_values);
  return num;
}

// Blocks; direct and dense routes: values, then derivatives; backwards, too, where they are added up.
static int lower_whole(Lowering *l, int n) {
  const RitzPlanBasis *b = &l->plan->bases[l->list->steps[n].basis];
  const int num = count_steps(l, n, l->list->steps[n].kind), size = b->is_tensor ? (int)b->dim : 1;
  if (b->route == RITZ_ROUTE_BLOCKS) {
    add_call(l, RITZ_TEMPLATE_BLOCKS, RITZ_STAGE_ELEMENT, n, num);
    return num;
  }
  for (int k = 0; b->is_even_odd && k < (l->is_input ? 1 : num); k++)
    add_call(l, RITZ_TEMPLATE_FOLD, RITZ_STAGE_ELEMENT, l->is_input ? n : n + num - 1 - k, 1);
  for (int k = 0; k < num; k += size) {
    const int first = l->is_input ? n + k : n + num - size - k;
    add_call(l, b->is_tensor ? RITZ_TEMPLATE_SWEEP : RITZ_TEMPLATE_DENSE, RITZ_STAGE_ELEMENT, first, size)
        ->adds = !l->is_input && k > 0;
  }
  return num;
}

// Values row by row: whole elements are contracted in all directions but the first.
static void lower_rows(Lowering *l, int n) {
  const int dim = (int)l->plan->dim, end = n + dim - 1;
  const RitzStep *steps = l->list->steps;
  const bool up = l->is_input;
  RitzCpuCall *outer = add_call(l, RITZ_TEMPLATE_OUTER, RITZ_STAGE_ELEMENT, up ? n + 1 : n, dim - 1);
  RitzCpuCall *row = add_call(l, RITZ_TEMPLATE_ROW, RITZ_STAGE_ROW, up ? n : end, 1);
  outer->from = up ? steps[n].from : steps[n].to;
  outer->to = up ? steps[end].from : steps[end].to;
  row->from = up ? steps[end].from : steps[n].from;
  row->to = up ? steps[end].to : steps[n].to;
}

// All directions of values, the last one last, backwards first.
static int lower_values(Lowering *l, int n) {
  const int dim = (int)l->plan->dim;
  if (l->target->evaluation == RITZ_EVALUATE_VALUES) {
    lower_rows(l, n);
    return dim;
  }
  if (l->is_input && dim > 1) add_call(l, RITZ_TEMPLATE_SLABS, RITZ_STAGE_ELEMENT, n, dim - 1);
  add_call(l, RITZ_TEMPLATE_LAST, RITZ_STAGE_ELEMENT, l->is_input ? n + dim - 1 : n, 1);
  if (!l->is_input && dim > 1) add_call(l, RITZ_TEMPLATE_SLABS, RITZ_STAGE_ELEMENT, n + 1, dim - 1);
  return dim;
}

// Values and their derivative in the last direction are one call. Its derivative is that of the table, D = C
// B.
static bool join_last(Lowering *l, int n) {
  const RitzStep *steps = l->list->steps;
  RitzCpuCall *before = l->target->num_calls ? &l->target->calls[l->target->num_calls - 1] : NULL;
  if (l->is_input) {
    if (!before || before->name != RITZ_TEMPLATE_LAST || before->to != steps[n].from) return false;
    before->also = steps[n].to;
  } else {
    if (n + 1 == l->list->num_steps || steps[n + 1].from != steps[n].to) return false;
    if (steps[n + 1].kind != RITZ_STEP_CONTRACT) return false;
    lower_values(l, n + 1);
    before = &l->target->calls[l->target->num_calls - (l->plan->dim > 1 ? 2 : 1)];
    before->also = steps[n].from;
    before->first = n;
  }
  before->name = RITZ_TEMPLATE_LAST_BOTH;
  before->num = 2;
  return true;
}

static int lower_contract(Lowering *l, int n) {
  const RitzStep *step = &l->list->steps[n];
  const int dim = (int)l->plan->dim;
  if (!is_line_route(&l->plan->bases[step->basis])) return lower_whole(l, n);
  if (step->table == RITZ_TABLE_INTERP) return lower_values(l, n);
  if (step->direction == dim - 1) {
    if (join_last(l, n)) return l->is_input ? 1 : 1 + dim;
    add_call(l, RITZ_TEMPLATE_LAST, RITZ_STAGE_ELEMENT, n, 1);
  } else if (step->direction == 0) {
    add_call(l, RITZ_TEMPLATE_FIRST, RITZ_STAGE_ROW, n, 1);
  } else {
    add_call(l, RITZ_TEMPLATE_MIDDLE, RITZ_STAGE_PLANE, n, 1);
  }
  return 1;
}

// The number of steps that were lowered.
static int lower_step(Lowering *l, int n) {
  switch (l->list->steps[n].kind) {
  case RITZ_STEP_GATHER:
  case RITZ_STEP_SCATTER: return lower_transfer(l, n);
  case RITZ_STEP_CONTRACT: return lower_contract(l, n);
  case RITZ_STEP_MULTIPLY: return lower_whole(l, n);
  case RITZ_STEP_FORM: return lower_form(l, n);
  case RITZ_STEP_POINT: l->is_input = false; break;
  default: break;
  }
  return 1;
}

int ritz_cpu_allocate_calls(Ceed ceed, const RitzSteps *list, RitzCpuTarget *target) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)list->num_buffers, &target->arrays));
  return RITZ_CALLOC(ceed, 2 * (size_t)list->num_steps + 1, &target->calls);
}

void ritz_cpu_lower(const RitzPlan *plan, RitzCpuTarget *target) {
  Lowering l = {.plan = plan, .list = plan->steps, .target = target, .is_input = true};
  target->num_calls = 0;
  for (int b = 0; b < l.list->num_buffers; b++) target->arrays[b] = array_of(&l, b);
  for (int n = 0; target->evaluation != RITZ_EVALUATE_NONE && n < l.list->num_steps; n += lower_step(&l, n))
    ;
}

// ---- For people ----

typedef struct {
  const RitzPlan *plan;
  const RitzCpuTarget *target;
} Lowered;

static const RitzCpuCall *find_call(const RitzCpuTarget *t, int step) {
  for (int c = t->num_calls - 1; c >= 0; c--) {
    const RitzCpuCall *call = &t->calls[c];
    if (call->first <= step && step < call->first + call->num) return call;
  }
  return NULL;
}

// " to nodes0"
static void add_array(const Lowered *l, int buffer, const char *before, char *note, size_t size) {
  const RitzCpuArray array = buffer < 0 ? RITZ_NUM_ARRAYS : l->target->arrays[buffer];
  if (array == RITZ_NUM_ARRAYS) return;
  const int space = l->plan->steps->buffers[buffer].space, taken = l->target->spaces[space].overwrites;
  snprintf(note + strlen(note), size - strlen(note), "%s%s%d", before, ritz_cpu_array_name(array),
           taken < 0 ? space : taken);
}

// The call that does a step, and the arrays that it leaves behind; packed data are read at the points.
static void note_step(const void *lowered, const RitzSteps *list, int n, char *note, size_t size) {
  static const char *const stages[] = {"whole element", "plane by plane", "row by row", "point by point"};
  static const char *const names[] = {"transfer", "even odd", "dense",        "sweep",      "blocks",
                                      "slabs",    "last",     "last both",    "outer",      "row",
                                      "middle",   "first",    "coefficients", "linear row", "constants"};
  const Lowered *l = lowered;
  const RitzCpuCall *call = find_call(l->target, n);
  if (!call) {
    snprintf(note, size, "%s", stages[RITZ_STAGE_POINT]);
    return;
  }
  const bool is_scatter = list->steps[n].kind == RITZ_STEP_SCATTER;
  snprintf(note, size, "%s: %s", stages[call->stage], names[call->name]);
  add_array(l, is_scatter ? call->from : call->to, is_scatter ? " from " : " to ", note, size);
  if (call->is_input) add_array(l, call->also, " and ", note, size);
}

int ritz_plan_cpu_print_steps(const RitzPlan *plan, const RitzCpuTarget *t, FILE *stream) {
  const Lowered lowered = {plan, t};
  RitzPlanAccess access[plan->num_spaces + 1];
  ritz_cpu_find_access(plan, t, access);
  return ritz_steps_print(plan->steps, access, t->evaluation == RITZ_EVALUATE_NONE ? NULL : note_step,
                          &lowered, stream);
}
