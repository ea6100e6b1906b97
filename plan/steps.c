// SPDX-License-Identifier: BSD-2-Clause
// Plan -> list of steps, and its adjoint (contract in plan/steps.h).
#include "plan/steps.h"

#include <string.h>

static bool has_values(const RitzPlanSpace *space) {
  return space->basis < 0 || (space->modes & CEED_EVAL_INTERP);
}
static bool has_derivatives(const RitzPlanSpace *space) { return space->modes & ~(unsigned)CEED_EVAL_INTERP; }
static const RitzPlanBasis *basis_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  return space->basis < 0 ? NULL : &plan->bases[space->basis];
}

// ---- Room ----

static CeedInt largest_dim(const RitzPlan *plan) {
  CeedInt dim = 1;
  for (int b = 0; b < plan->num_bases; b++)
    dim = CeedIntMax(dim, ritz_plan_has_grid(&plan->bases[b]) ? plan->bases[b].dim : 1);
  return dim;
}

// Steps of a space at most: a transfer, and on the direct route a sweep for values and for each derivative.
static size_t room_of(const RitzPlan *plan, const RitzPlanSpace *space) {
  const RitzPlanBasis *b = basis_of(plan, space);
  const size_t dim = b && b->is_tensor ? (size_t)b->dim : 1;
  if (b && b->route == RITZ_ROUTE_POINTS) return dim + 6;
  if (b && b->route == RITZ_ROUTE_BLOCKS) return 2 + (size_t)b->dim * 3 * RITZ_BLOCK_ARRAYS;
  return 1 + dim * (b && b->route == RITZ_ROUTE_DIRECT ? dim + 1 : 2) + 1;
}

static int allocate_steps(Ceed ceed, const RitzPlan *plan, const char *action, size_t room,
                          RitzSteps **list) {
  const size_t num_fields = (size_t)(plan->num_in + plan->num_out);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, list));
  RitzSteps *made = *list;
  made->plan = plan;
  made->action = action;
  made->coordinates = -1;
  made->max_dim = largest_dim(plan);
  RITZ_TRY(RITZ_CALLOC(ceed, room + 2, &made->buffers));
  RITZ_TRY(RITZ_CALLOC(ceed, (room + 2) * (size_t)made->max_dim, &made->extents));
  RITZ_TRY(RITZ_CALLOC(ceed, room, &made->steps));
  RITZ_TRY(RITZ_CALLOC(ceed, num_fields, &made->arguments));
  for (size_t i = 0; i < num_fields; i++) made->arguments[i] = -1;
  return CEED_ERROR_SUCCESS;
}

void ritz_steps_free(RitzSteps **list) {
  if (!*list) return;
  RITZ_FREE(&(*list)->buffers);
  RITZ_FREE(&(*list)->extents);
  RITZ_FREE(&(*list)->steps);
  RITZ_FREE(&(*list)->arguments);
  RITZ_FREE(&(*list)->places);
  RITZ_FREE(list);
}

// ---- Buffers ----

static int add_buffer(RitzSteps *list, RitzRole role, int space, CeedInt num_comp, CeedInt size) {
  const int number = list->num_buffers++;
  list->buffers[number] = (RitzBuffer){.role = role,
                                       .space = space,
                                       .direction = -1,
                                       .num_comp = num_comp,
                                       .dim = 1,
                                       .precision = list->plan->precision};
  list->extents[(size_t)number * (size_t)list->max_dim] = size;
  return number;
}

// A buffer of a tensor basis, at the points in the directions before `num_done`, at the nodes in the others.
static int add_tensor(RitzSteps *list, RitzRole role, int space, CeedInt num_done) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  const int number = add_buffer(list, role, space, s->num_comp, 0);
  CeedInt *extents = list->extents + (size_t)number * (size_t)list->max_dim;
  list->buffers[number].dim = b->dim;
  for (CeedInt d = 0; d < b->dim; d++) extents[d] = d < num_done ? b->Q_1d : b->P_1d;
  return number;
}

static int add_nodes(RitzSteps *list, RitzRole role, int space) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  return b && b->is_tensor ? add_tensor(list, role, space, 0)
                           : add_buffer(list, role, space, s->num_comp, s->num_nodes);
}

CeedSize ritz_steps_comp_size(const RitzSteps *list, int buffer) {
  const CeedInt *extents = ritz_steps_extents(list, buffer);
  CeedSize size = 1;
  for (CeedInt d = 0; d < list->buffers[buffer].dim; d++) size *= extents[d];
  return list->buffers[buffer].role == RITZ_ROLE_VECTOR ? 0 : size;
}

CeedSize ritz_steps_size(const RitzSteps *list, int buffer) {
  return ritz_steps_comp_size(list, buffer) * list->buffers[buffer].num_comp;
}

// ---- Places ----

typedef struct {
  int first, last; // steps
} Life;

static void extend_life(Life *lives, int buffer, int step) {
  if (buffer < 0) return;
  if (lives[buffer].first < 0) lives[buffer].first = step;
  lives[buffer].last = step;
}

static void find_lives(const RitzSteps *list, Life *lives) {
  for (int b = 0; b < list->num_buffers; b++) lives[b] = (Life){-1, -1};
  for (int n = 0; n < list->num_steps; n++) {
    extend_life(lives, list->steps[n].from, n);
    extend_life(lives, list->steps[n].to, n);
    extend_life(lives, list->steps[n].with, n);
  }
}

// Places a buffer behind those that are placed, for as long as the list runs. Returns the new end.
static CeedSize place_for_good(RitzSteps *list, int buffer, CeedSize end, Life *lives) {
  if (list->places[buffer] >= 0 || list->buffers[buffer].role == RITZ_ROLE_VECTOR) return end;
  list->places[buffer] = end;
  lives[buffer] = (Life){0, list->num_steps};
  return end + ritz_steps_size(list, buffer);
}

// Arguments of the QFunction, what is given or wanted, and what steps at points come back to.
static CeedSize place_ends(RitzSteps *list, Life *lives) {
  const RitzPlan *plan = list->plan;
  CeedSize end = 0;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const int first = list->arguments[i];
    for (int b = first; first >= 0 && b < first + ritz_steps_num_buffers(plan, &plan->fields[i]); b++)
      end = place_for_good(list, b, end, lives);
  }
  for (int b = 0; b < list->num_buffers; b++) {
    if (list->buffers[b].is_given || list->buffers[b].is_wanted) end = place_for_good(list, b, end, lives);
  }
  for (int n = 0; n < list->num_steps; n++) {
    const RitzStep *step = &list->steps[n];
    if (!ritz_steps_is_at_points(list, step) || step->kind == RITZ_STEP_POINT) continue;
    end = place_for_good(list, step->from, end, lives);
    end = place_for_good(list, step->to, end, lives);
  }
  return end;
}

// The first place of a buffer where it meets no other one that lives when it does.
static CeedSize find_place(const RitzSteps *list, const Life *lives, int buffer) {
  const CeedSize *places = list->places;
  const CeedSize size = ritz_steps_size(list, buffer);
  CeedSize place = 0;
  for (int b = 0; b < list->num_buffers; b++) {
    const CeedSize end = places[b] + ritz_steps_size(list, b);
    if (places[b] < 0 || lives[b].last < lives[buffer].first || lives[b].first > lives[buffer].last) continue;
    if (place + size <= places[b] || end <= place) continue;
    place = end;
    b = -1; // those before it may be met here
  }
  return place;
}

// The list is complete.
static int place(Ceed ceed, RitzSteps *list) {
  Life *lives = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)list->num_buffers, &list->places));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)list->num_buffers, &lives));
  for (int b = 0; b < list->num_buffers; b++) list->places[b] = -1;
  find_lives(list, lives);
  list->size = place_ends(list, lives);
  for (int b = 0; b < list->num_buffers; b++) {
    if (list->places[b] >= 0 || lives[b].first < 0 || list->buffers[b].role == RITZ_ROLE_VECTOR) continue;
    list->places[b] = find_place(list, lives, b);
    if (list->places[b] + ritz_steps_size(list, b) > list->size)
      list->size = list->places[b] + ritz_steps_size(list, b);
  }
  RITZ_FREE(&lives);
  return CEED_ERROR_SUCCESS;
}

// ---- A space at the points ----

static RitzStep *add_step(RitzSteps *list, RitzStepKind kind, int from, int to) {
  RitzStep *step = &list->steps[list->num_steps++];
  *step = (RitzStep){.kind = kind, .from = from, .to = to, .with = -1, .basis = -1, .block = -1, .row = -1};
  return step;
}

// Adds a step by a table of the basis of the buffers' space.
static void evaluate_by(RitzSteps *list, RitzStepKind kind, RitzTable table, CeedInt direction, int from,
                        int to) {
  RitzStep *step = add_step(list, kind, from, to);
  step->basis = list->plan->spaces[list->buffers[from].space].basis;
  step->table = table;
  step->direction = direction;
}

static void contract(RitzSteps *list, RitzTable table, CeedInt direction, int from, int to) {
  evaluate_by(list, RITZ_STEP_CONTRACT, table, direction, from, to);
}

static int add_derivative(RitzSteps *list, int space, CeedInt direction) {
  const int d = add_tensor(list, RITZ_ROLE_DERIVATIVES, space, list->max_dim);
  list->buffers[d].direction = direction;
  list->buffers[d].is_wanted = true;
  return d;
}

// All directions, the first one first; `special` is differentiated (-1: none).
static void sweep(RitzSteps *list, int space, CeedInt special, int from, int to) {
  const CeedInt dim = list->buffers[from].dim;
  for (CeedInt d = 0; d < dim; d++) {
    const int next = d == dim - 1 ? to : add_tensor(list, RITZ_ROLE_WORK, space, d + 1);
    contract(list, d == special ? RITZ_TABLE_GRAD : RITZ_TABLE_INTERP, d, from, next);
    from = next;
  }
}

// Values, if asked for or needed; then derivatives, the last direction first.
static void evaluate_by_values(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  int values = nodes, derivatives;
  if (b->route != RITZ_ROUTE_IDENTITY) {
    values = add_tensor(list, RITZ_ROLE_VALUES, space, b->dim);
    sweep(list, space, -1, nodes, values);
  }
  list->buffers[values].is_wanted = has_values(s);
  if (!has_derivatives(s)) return;
  derivatives = list->num_buffers;
  for (CeedInt d = 0; d < b->dim; d++) add_derivative(list, space, d);
  for (CeedInt d = b->dim - 1; d >= 0; d--)
    contract(list, RITZ_TABLE_COLLOCATED, d, values, derivatives + (int)d);
}

static void evaluate_by_sweeps(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  int derivatives;
  if (has_values(s)) {
    const int values = add_tensor(list, RITZ_ROLE_VALUES, space, b->dim);
    list->buffers[values].is_wanted = true;
    sweep(list, space, -1, nodes, values);
  }
  if (!has_derivatives(s)) return;
  derivatives = list->num_buffers;
  for (CeedInt d = 0; d < b->dim; d++) add_derivative(list, space, d);
  for (CeedInt d = 0; d < b->dim; d++) sweep(list, space, d, nodes, derivatives + (int)d);
}

// Adds one step each for dense matrices, or for the values and the derivative along each direction of a form.
static void evaluate_at_once(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  const RitzStepKind kind = s->kind == RITZ_INPUT_CONTRACTED ? RITZ_STEP_MULTIPLY : RITZ_STEP_FORM;
  if (has_values(s)) {
    const int values = b->is_tensor
                           ? add_tensor(list, RITZ_ROLE_VALUES, space, b->dim)
                           : add_buffer(list, RITZ_ROLE_VALUES, space, b->q_comp_interp * s->num_comp, b->Q);
    list->buffers[values].is_wanted = true;
    evaluate_by(list, kind, RITZ_TABLE_INTERP, 0, nodes, values);
  }
  if (!has_derivatives(s)) return;
  for (CeedInt d = 0; d < (b->is_tensor ? b->dim : 1); d++) {
    const int to = b->is_tensor
                       ? add_derivative(list, space, d)
                       : add_buffer(list, RITZ_ROLE_DERIVATIVES, space, b->q_comp_deriv * s->num_comp, b->Q);
    list->buffers[to].is_wanted = true;
    evaluate_by(list, kind, RITZ_TABLE_GRAD, d, nodes, to);
  }
}

// ---- Points of each element's own ----

static int coordinates_of(RitzSteps *list) {
  if (list->coordinates >= 0) return list->coordinates;
  list->coordinates = add_buffer(list, RITZ_ROLE_VALUES, 0, list->plan->spaces[0].num_comp, list->plan->Q);
  list->buffers[list->coordinates].is_given = true;
  return list->coordinates;
}

static void evaluate_at_points(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  const int coordinates = coordinates_of(list);
  int from = nodes;
  for (CeedInt d = 0; d < b->dim; d++) {
    const int to = add_tensor(list, d == b->dim - 1 ? RITZ_ROLE_COEFFICIENTS : RITZ_ROLE_WORK, space, d + 1);
    contract(list, RITZ_TABLE_CHEBYSHEV, d, from, to);
    from = to;
  }
  for (int is_derivative = 0; is_derivative < 2; is_derivative++) {
    if (!(is_derivative ? has_derivatives(s) : has_values(s))) continue;
    const int to = add_buffer(list, is_derivative ? RITZ_ROLE_DERIVATIVES : RITZ_ROLE_VALUES, space,
                              (is_derivative ? b->dim : 1) * s->num_comp, list->plan->Q);
    list->buffers[to].is_wanted = true;
    evaluate_by(list, RITZ_STEP_EVALUATE, is_derivative ? RITZ_TABLE_GRAD : RITZ_TABLE_INTERP, 0, from, to);
    list->steps[list->num_steps - 1].with = coordinates;
  }
}

static bool is_at_points(const RitzSteps *list, int buffer) {
  const RitzRole role = list->buffers[buffer].role;
  return role == RITZ_ROLE_VALUES || role == RITZ_ROLE_DERIVATIVES;
}

bool ritz_steps_is_at_points(const RitzSteps *list, const RitzStep *step) {
  if (!list->plan->is_at_points) return false;
  return step->kind == RITZ_STEP_POINT || is_at_points(list, step->from) || is_at_points(list, step->to);
}

// ---- Blocks of vector bases ----

RitzBlockSweep ritz_steps_sweep(const RitzSteps *list, const RitzStep *step) {
  const int buffer = list->buffers[step->from].space;
  return ritz_plan_block_sweep(&list->plan->bases[step->basis], step->block,
                               list->plan->spaces[buffer].modes);
}

// Different parts of a buffer: nodes of a block, a row of the points.
static int part_of(const RitzSteps *list, const RitzStep *step) {
  const RitzRole role = list->buffers[step->to].role;
  if (step->block < 0 || role == RITZ_ROLE_WORK) return 0;
  return role == RITZ_ROLE_NODES ? step->block : step->row;
}

// An earlier step has put something there.
static bool is_filled(const RitzSteps *list, const RitzStep *step) {
  for (const RitzStep *s = list->steps; s < step; s++) {
    if (s->to == step->to && part_of(list, s) == part_of(list, step)) return true;
  }
  return false;
}

// An array that is carried behind `position` directions: at the points part of the space's.
static int add_carried(RitzSteps *list, int space, const RitzBlockSweep *sweep, CeedInt position,
                       int at_points) {
  if (position == sweep->dim) return at_points;
  const int number = add_buffer(list, RITZ_ROLE_WORK, space, list->plan->spaces[space].num_comp, 0);
  CeedInt *extents = list->extents + (size_t)number * (size_t)list->max_dim;
  list->buffers[number].dim = sweep->dim;
  for (CeedInt d = 0; d < sweep->dim; d++) extents[d] = sweep->size[position][d];
  return number;
}

static void contract_block(RitzSteps *list, int block, CeedInt position, int row, RitzTable table, int from,
                           int to) {
  const RitzPlanSpace *space = &list->plan->spaces[list->buffers[from].space];
  const RitzBlockSweep sweep = ritz_plan_block_sweep(basis_of(list->plan, space), block, space->modes);
  RitzStep *step = &list->steps[list->num_steps];
  contract(list, table, sweep.order[position], from, to);
  step->block = block;
  step->position = position;
  step->row = position == sweep.dim - 1 ? row : -1;
  step->adds = is_filled(list, step);
}

// points: the values and the derivatives of the space.
static void evaluate_block(RitzSteps *list, int space, int block, int nodes, const int points[2]) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBlock *at = &basis_of(list->plan, s)->blocks[block];
  const RitzBlockSweep sweep = ritz_plan_block_sweep(basis_of(list->plan, s), block, s->modes);
  int carried[RITZ_BLOCK_ARRAYS] = {-1, -1, -1, nodes}, next[RITZ_BLOCK_ARRAYS];
  for (CeedInt k = 0; k < sweep.dim; k++) {
    const CeedInt d = sweep.order[k];
    for (int a = 0; a < RITZ_BLOCK_ARRAYS; a++) {
      const bool is_values = a == RITZ_BLOCK_VALUES;
      if (sweep.is_carried[k + 1][a])
        next[a] = add_carried(list, space, &sweep, k + 1, points[is_values ? 0 : 1]);
    }
    for (int a = 0; a < RITZ_BLOCK_ARRAYS; a++) {
      const bool is_values = a == RITZ_BLOCK_VALUES;
      if (!sweep.is_carried[k][a]) continue;
      if (sweep.is_carried[k + 1][a])
        contract_block(list, block, k, is_values ? block : at->row[a], RITZ_TABLE_INTERP, carried[a],
                       next[a]);
      if (is_values && sweep.has_derivatives && at->grad[d] >= 0)
        contract_block(list, block, k, at->row[d], RITZ_TABLE_GRAD, carried[a], next[d]);
    }
    memcpy(carried, next, sizeof(carried));
  }
}

static void evaluate_by_blocks(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  int points[2] = {-1, -1};
  if (has_values(s))
    points[0] = add_buffer(list, RITZ_ROLE_VALUES, space, b->q_comp_interp * s->num_comp, b->Q);
  if (has_derivatives(s))
    points[1] = add_buffer(list, RITZ_ROLE_DERIVATIVES, space, b->q_comp_deriv * s->num_comp, b->Q);
  for (int k = 0; k < 2; k++) {
    if (points[k] >= 0) list->buffers[points[k]].is_wanted = true;
  }
  for (CeedInt c = 0; c < b->dim; c++) evaluate_block(list, space, c, nodes, points);
}

// ---- Any space ----

static void evaluate(RitzSteps *list, int space, int nodes) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  if (!b)
    list->buffers[nodes].is_wanted = true;
  else if (b->route == RITZ_ROUTE_POINTS)
    evaluate_at_points(list, space, nodes);
  else if (s->kind != RITZ_INPUT_CONTRACTED || b->route == RITZ_ROUTE_DENSE)
    evaluate_at_once(list, space, nodes);
  else if (b->route == RITZ_ROUTE_BLOCKS)
    evaluate_by_blocks(list, space, nodes);
  else if (b->route == RITZ_ROUTE_DIRECT)
    evaluate_by_sweeps(list, space, nodes);
  else
    evaluate_by_values(list, space, nodes);
}

// Where the nodes are the points, and of data at the points, what is gathered are the values.
static void add_space(RitzSteps *list, int space, bool with_vector) {
  const RitzPlanSpace *s = &list->plan->spaces[space];
  const RitzPlanBasis *b = basis_of(list->plan, s);
  const bool are_values = !b || (b->route == RITZ_ROUTE_IDENTITY && s->kind == RITZ_INPUT_CONTRACTED);
  int vector = -1;
  if (with_vector) {
    vector = add_buffer(list, RITZ_ROLE_VECTOR, space, s->num_comp, s->num_nodes);
    list->buffers[vector].is_given = true;
    list->buffers[vector].precision = s->precision;
  }
  const int nodes = add_nodes(list, are_values ? RITZ_ROLE_VALUES : RITZ_ROLE_NODES, space);
  if (s->field < 0) list->coordinates = nodes;
  if (with_vector)
    add_step(list, RITZ_STEP_GATHER, vector, nodes);
  else
    list->buffers[nodes].is_given = true;
  evaluate(list, space, nodes);
}

// Ends the making of a list, which is freed where something has failed.
static int finish_steps(Ceed ceed, int ierr, RitzSteps **list) {
  if (!ierr) ierr = place(ceed, *list);
  if (ierr) ritz_steps_free(list);
  return ierr;
}

int ritz_steps_input(Ceed ceed, const RitzPlan *plan, int space, bool with_vector, RitzSteps **list) {
  const int ierr = allocate_steps(ceed, plan, "input", room_of(plan, &plan->spaces[space]), list);
  if (!ierr) add_space(*list, space, with_vector);
  return finish_steps(ceed, ierr, list);
}

// ---- The adjoint ----

static RitzStepKind adjoint_kind(RitzStepKind kind) {
  return kind == RITZ_STEP_GATHER ? RITZ_STEP_SCATTER : kind == RITZ_STEP_SCATTER ? RITZ_STEP_GATHER : kind;
}

// Appends the adjoint of `num` steps between buffers of the list. A step adds where something is already; to
// L-vectors always.
static void append_adjoint(RitzSteps *list, int num, const RitzStep *steps) {
  for (int n = num - 1; n >= 0; n--) {
    RitzStep *step = &list->steps[list->num_steps];
    RITZ_ASSERT(steps[n].kind != RITZ_STEP_POINT && steps[n].kind != RITZ_STEP_FORM);
    *step = steps[n];
    step->kind = adjoint_kind(steps[n].kind);
    step->from = steps[n].to;
    step->to = steps[n].from;
    step->is_transposed = steps[n].basis >= 0 && !steps[n].is_transposed;
    step->adds = step->kind == RITZ_STEP_SCATTER || list->buffers[step->to].is_given;
    step->adds |= is_filled(list, step);
    list->num_steps++;
  }
}

static void swap_ends(RitzSteps *list, int first_buffer) {
  for (int b = first_buffer; b < list->num_buffers; b++) {
    RitzBuffer *buffer = &list->buffers[b];
    const bool was_given = buffer->is_given;
    if (b == list->coordinates) continue;
    buffer->is_given = buffer->is_wanted;
    buffer->is_wanted = was_given;
  }
}

static void add_adjoint(RitzSteps *list, const RitzSteps *steps) {
  const size_t num = (size_t)steps->num_buffers;
  list->num_buffers = steps->num_buffers;
  list->coordinates = steps->coordinates;
  memcpy(list->buffers, steps->buffers, num * sizeof(*steps->buffers));
  memcpy(list->extents, steps->extents, num * (size_t)steps->max_dim * sizeof(*steps->extents));
  swap_ends(list, 0);
  append_adjoint(list, steps->num_steps, steps->steps);
}

int ritz_steps_adjoint(Ceed ceed, const RitzSteps *steps, RitzSteps **adjoint) {
  const size_t room = (size_t)steps->num_steps + (size_t)steps->num_buffers;
  const int ierr = allocate_steps(ceed, steps->plan, "adjoint", room, adjoint);
  if (!ierr) add_adjoint(*adjoint, steps);
  return finish_steps(ceed, ierr, adjoint);
}

// ---- Arguments of the QFunction ----

int ritz_steps_num_buffers(const RitzPlan *plan, const RitzPlanField *f) {
  if (f->mode != CEED_EVAL_GRAD || plan->is_at_points) return 1;
  return plan->bases[f->basis].is_tensor ? (int)plan->bases[f->basis].dim : 1;
}

static int find_argument(const RitzSteps *list, const RitzPlanField *f) {
  const bool is_values = f->mode == CEED_EVAL_NONE || f->mode == CEED_EVAL_INTERP;
  const RitzRole role = is_values ? RITZ_ROLE_VALUES : RITZ_ROLE_DERIVATIVES;
  int b = 0;
  while (list->buffers[b].space != f->space || list->buffers[b].role != role) b++;
  return b;
}

static int find_weights(const RitzSteps *list, int i) {
  const RitzPlanField *fields = list->plan->fields;
  for (int k = 0; k < i; k++) {
    if (fields[k].mode == CEED_EVAL_WEIGHT && fields[k].basis == fields[i].basis) return list->arguments[k];
  }
  return -1;
}

static void set_input(RitzSteps *list, int i) {
  const RitzPlanField *f = &list->plan->fields[i];
  const bool is_weights = f->mode == CEED_EVAL_WEIGHT;
  list->arguments[i] = is_weights ? find_weights(list, i) : find_argument(list, f);
  if (list->arguments[i] >= 0) return;
  list->arguments[i] = add_buffer(list, RITZ_ROLE_WEIGHTS, -1, 1, list->plan->Q);
  list->buffers[list->arguments[i]].is_given = true;
}

// Buffers like num others, one after the other.
static int copy_buffers(RitzSteps *list, int num, int from) {
  const int first = list->num_buffers;
  const size_t dim = (size_t)list->max_dim;
  for (int b = 0; b < num; b++, list->num_buffers++) {
    list->buffers[first + b] = list->buffers[from + b];
    memcpy(list->extents + (size_t)(first + b) * dim, ritz_steps_extents(list, from + b),
           dim * sizeof(*list->extents));
  }
  return first;
}

// A field that is the same quantity of the same space as an earlier one has buffers of its own, which are
// added to those of the other.
static void set_output(RitzSteps *list, int i) {
  const RitzPlanField *f = &list->plan->fields[i];
  const int first = find_argument(list, f), num = ritz_steps_num_buffers(list->plan, f);
  bool is_taken = false;
  for (int k = list->plan->num_in; k < i; k++) is_taken |= list->arguments[k] == first;
  list->arguments[i] = is_taken ? copy_buffers(list, num, first) : first;
  for (int d = 0; is_taken && d < num; d++)
    add_step(list, RITZ_STEP_MOVE, list->arguments[i] + d, first + d)->adds = true;
}

// ---- Actions ----

static size_t room_of_apply(const RitzPlan *plan) {
  size_t room = 3;
  for (int s = 0; s < plan->num_spaces; s++) room += room_of(plan, &plan->spaces[s]);
  for (int i = 0; i < plan->num_in + plan->num_out; i++)
    room += (size_t)ritz_steps_num_buffers(plan, &plan->fields[i]);
  return room;
}

static void add_inputs(RitzSteps *list) {
  const RitzPlan *plan = list->plan;
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].is_input) add_space(list, s, true);
  }
  for (int i = 0; i < plan->num_in; i++) {
    if (plan->fields[i].space >= 0 || plan->fields[i].mode == CEED_EVAL_WEIGHT) set_input(list, i);
  }
}

// Clears the marks of what the QFunction reads and writes: nobody else gives or wants it.
static void clear_ends(RitzSteps *list) {
  for (int b = 0; b < list->num_buffers; b++) {
    RitzBuffer *buffer = &list->buffers[b];
    if (buffer->role == RITZ_ROLE_VALUES || buffer->role == RITZ_ROLE_DERIVATIVES)
      buffer->is_given = buffer->is_wanted = false;
  }
}

// Outputs are made as inputs, whose steps end up in `forward`, and read backwards behind the QFunction.
static void add_apply(RitzSteps *list, RitzStep *forward) {
  const RitzPlan *plan = list->plan;
  int num_steps, first_buffer, begin = 0;
  add_inputs(list);
  num_steps = list->num_steps;
  first_buffer = list->num_buffers;
  for (int s = 0; s < plan->num_spaces; s++) {
    if (!plan->spaces[s].is_input) add_space(list, s, true);
  }
  const int num_forward = list->num_steps - num_steps;
  memcpy(forward, list->steps + num_steps, (size_t)num_forward * sizeof(*forward));
  list->num_steps = num_steps;
  swap_ends(list, first_buffer);
  add_step(list, RITZ_STEP_POINT, -1, -1);
  for (int i = plan->num_in; i < plan->num_in + plan->num_out; i++) set_output(list, i);
  for (int end = 1; end <= num_forward; end++) {
    if (end < num_forward && forward[end].kind != RITZ_STEP_GATHER) continue;
    append_adjoint(list, end - begin, forward + begin);
    begin = end;
  }
  clear_ends(list);
}

int ritz_steps_apply(Ceed ceed, const RitzPlan *plan, RitzSteps **list) {
  const size_t room = room_of_apply(plan);
  RitzStep *forward = NULL;
  int ierr = allocate_steps(ceed, plan, "apply", room, list);
  if (!ierr) ierr = RITZ_CALLOC(ceed, room, &forward);
  if (!ierr) add_apply(*list, forward);
  RITZ_FREE(&forward);
  return finish_steps(ceed, ierr, list);
}

int ritz_plan_partner(const RitzPlan *plan, int i) {
  const RitzPlanField *output = &plan->fields[i];
  const RitzPlanSpace *to = &plan->spaces[output->space];
  if (!to->is_active) return -1;
  for (int k = 0; k < plan->num_in; k++) {
    const RitzPlanField *input = &plan->fields[k];
    if (input->space < 0 || input->mode != output->mode || input->basis != output->basis) continue;
    if (plan->spaces[input->space].is_active &&
        plan->spaces[input->space].restriction.number == to->restriction.number)
      return k;
  }
  return -1;
}

int ritz_steps_inputs(Ceed ceed, const RitzPlan *plan, RitzSteps **list) {
  const int ierr = allocate_steps(ceed, plan, "inputs", room_of_apply(plan), list);
  if (!ierr) add_inputs(*list);
  return finish_steps(ceed, ierr, list);
}

// ---- What lists tell ----

const RitzPlanMatrix *ritz_steps_table(const RitzSteps *list, const RitzStep *step) {
  const RitzPlanBasis *b = &list->plan->bases[step->basis];
  if (step->block >= 0) {
    const RitzPlanBlock *block = &b->blocks[step->block];
    return &b->lines[(step->table == RITZ_TABLE_GRAD ? block->grad : block->interp)[step->direction]];
  }
  switch (step->table) {
  case RITZ_TABLE_INTERP: return &b->interp;
  case RITZ_TABLE_GRAD: return &b->grad;
  case RITZ_TABLE_CHEBYSHEV: return &b->chebyshev;
  case RITZ_TABLE_COLLOCATED: break;
  }
  return &b->deriv;
}
