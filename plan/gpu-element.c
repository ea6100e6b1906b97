// SPDX-License-Identifier: BSD-2-Clause
// Targets in which a thread takes a whole element (contract in plan/gpu-element.h).
#include "plan/gpu-element.h"
#include "plan/gpu-simple-inputs.h"

enum { WARP = RITZ_GPU_WARP };

// ---- Registers ----

// A space at the level of 2 to dim directions left: values and derivatives along those that are done, of P
// nodes each.
static CeedInt count_level(const RitzPlanSpace *s, CeedInt dim, CeedInt level, CeedInt size,
                           bool is_identity) {
  const CeedInt derivatives = s->modes & CEED_EVAL_GRAD ? dim - level : 0;
  return s->num_comp * size * (derivatives + (is_identity ? 0 : 1));
}

static CeedInt count_space(const RitzPlan *plan, const RitzPlanSpace *s) {
  if (s->basis < 0) return 0;
  if (ritz_gpu_is_simple(s))
    return ritz_plan_gpu_simple_registers(plan, s) +
           (s->kind == RITZ_INPUT_LINEAR ? s->num_comp * s->num_nodes : 0);
  const RitzPlanBasis *b = &plan->bases[s->basis];
  CeedInt num = s->num_comp * s->num_nodes, size = 1;
  for (CeedInt level = 1; level < plan->dim; level++) {
    size *= b->P_1d;
    num += count_level(s, plan->dim, level, size, b->route == RITZ_ROUTE_IDENTITY);
  }
  return num;
}

// Not all of it is held at once: three quarters, as compiled kernels show.
static CeedInt count_registers(const RitzPlan *plan) {
  CeedInt num = 0;
  for (int s = 0; s < plan->num_spaces; s++) num += count_space(plan, &plan->spaces[s]);
  for (int i = 0; i < plan->num_in + plan->num_out; i++) num += plan->fields[i].size;
  return num * ritz_gpu_real_words(plan) * RITZ_GPU_HELD_QUARTERS / 4 + RITZ_GPU_OTHER_REGISTERS;
}

// ---- Memory of the block ----

// Elements are an odd number of scalars apart: threads side by side meet in no bank.
static CeedInt odd_distance(const RitzPlan *plan) { return plan->Q | 1; }

// All points of an element, and of the next one, side by side; nothing else is there.
static bool can_copy(const RitzPlan *plan, const RitzGpuTarget *t, int s) {
  const RitzPlanSpace *space = &plan->spaces[s];
  return !t->takes_many && space->basis < 0 && space->restriction.type == CEED_RESTRICTION_STRIDED &&
         (space->is_input || t->spaces[s].scatter == RITZ_SCATTER_OWN) && t->spaces[s].strides[0] == 1 &&
         t->spaces[s].strides[2] == plan->Q;
}

// Bytes for each element: what is copied in and out, then in the same place the nodes that are staged.
static CeedInt count_bytes(const RitzPlan *plan, const RitzGpuTarget *t, bool copies) {
  CeedInt at_points = 0, at_nodes = 0;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (copies && can_copy(plan, t, s)) at_points += space->num_comp * odd_distance(plan);
    if (t->spaces[s].is_staged) at_nodes += space->num_comp * space->num_nodes;
  }
  return CeedIntMax(at_points, at_nodes) * ritz_gpu_real_bytes(plan);
}

static bool element_fits_registers(const RitzGpuMachine *machine, CeedInt bytes) {
  const bool is_roomy =
      machine->shared_bytes_processor == 0 ||
      RITZ_GPU_ELEMENT_BLOCKS * (bytes + RITZ_GPU_RESERVED_BYTES) <= machine->shared_bytes_processor;
  return is_roomy && bytes <= machine->shared_bytes;
}

// ---- Whether ----

// Dense, or of vectors.
static bool has_other_bases(const RitzPlan *plan) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (ritz_gpu_is_dense(plan, &plan->spaces[s]) || ritz_gpu_is_vector(plan, &plan->spaces[s])) return true;
  }
  return false;
}

// Whole elements take the directions in another order than lines do, and their matrices are not even-odd: the
// round-off of derivatives is another. With two nodes that are points there is one difference to round.
static bool has_own_roundoff(const RitzPlan *plan, const RitzPlanSpace *s) {
  const RitzPlanBasis *b = &plan->bases[s->basis];
  return s->modes & CEED_EVAL_GRAD && (b->route != RITZ_ROUTE_IDENTITY || b->P_1d > 2);
}

static bool has_simple_inputs(const RitzPlan *plan) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (ritz_gpu_is_simple(&plan->spaces[s])) return true;
  }
  return false;
}

// Derivatives of a basis are computed one way, so that those of coordinates and of fields on it have the same
// error: by lines; by whole elements where geometry is a simple input, and is not of this basis. These have a
// contraction for each derivative.
static bool needs_lines(const RitzPlan *plan, const RitzGpuTarget *t) {
  const bool has_simple_input = has_simple_inputs(plan);
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (!ritz_gpu_has_lines(plan, space) || !(space->modes & CEED_EVAL_GRAD)) continue;
    if (t->routes[space->basis] == RITZ_ROUTE_COLLOCATED) return true;
    if (!has_simple_input && has_own_roundoff(plan, space)) return true;
  }
  return false;
}

static CeedInt longest_line(const RitzPlan *plan) {
  CeedInt longest = 0;
  for (int b = 0; b < plan->num_bases; b++) {
    if (ritz_gpu_takes_lines(plan, b)) longest = CeedIntMax(longest, plan->bases[b].P_1d);
  }
  return longest;
}

static bool reads_little(const RitzPlan *plan) {
  CeedInt at_points = 0, at_nodes = 0;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->is_input) *(space->basis < 0 ? &at_points : &at_nodes) += space->num_comp * space->num_nodes;
  }
  return at_points <= RITZ_GPU_ELEMENT_DATA * at_nodes;
}

// Where points have no data, additions to the nodes of lines would cost more than spills do. Numbers in
// single precision take one register each.
static bool pays(const RitzPlan *plan, CeedInt registers) {
  const bool has_more = !ritz_plan_gpu_has_data(plan);
  const bool is_larger = has_more || ritz_gpu_real_words(plan) == 1;
  return longest_line(plan) <= RITZ_GPU_ELEMENT_NODES + is_larger &&
         plan->Q_1d <= RITZ_GPU_ELEMENT_POINTS + is_larger && reads_little(plan) &&
         registers <= (has_more ? RITZ_GPU_ELEMENT_REGISTERS : RITZ_GPU_MOST_REGISTERS);
}

// With geometry and two nodes a direction more threads are worth more than all that one could hold.
CeedInt ritz_plan_gpu_element_budget(const RitzPlan *plan) {
  const CeedInt wanted = count_registers(plan);
  return ritz_plan_gpu_has_geometry(plan) && longest_line(plan) == 2 ? RITZ_GPU_CORNER_SIXTHS * wanted / 6
                                                                     : wanted;
}

bool ritz_plan_gpu_takes_elements(const RitzPlan *plan, const RitzGpuMachine *machine,
                                  const RitzGpuTarget *t) {
  const CeedInt registers = count_registers(plan);
  if (t->choice.whole < 0 || has_other_bases(plan) || plan->dim < 2 || machine->max_threads < WARP)
    return false;
  if (needs_lines(plan, t)) return false;
  if (WARP * count_bytes(plan, t, false) > machine->shared_bytes) return false;
  if (t->choice.whole > 0) return registers <= RITZ_GPU_ELEMENT_REGISTERS;
  return pays(plan, registers) && element_fits_registers(machine, WARP * count_bytes(plan, t, true));
}

bool ritz_plan_gpu_can_join(const RitzPlan *plan, const RitzGpuTarget *t, int s) {
  const RitzPlanSpace *space = &plan->spaces[s];
  return t->evaluation == RITZ_GPU_ELEMENTS && !t->takes_many && !space->is_input && space->basis >= 0 &&
         !t->spaces[s].is_staged && space->restriction.type != CEED_RESTRICTION_STRIDED &&
         !space->is_oriented && !space->is_curl_oriented && t->spaces[s].scatter == RITZ_SCATTER_ATOMIC &&
         plan->bases[space->basis].P_1d > 1;
}

// ---- The block ----

// Elements of two nodes a direction that compute geometry are busy with that: additions do not hold them up.
static bool joins(const RitzPlan *plan, const RitzGpuTarget *t, int s) {
  const bool pays = longest_line(plan) > 2 || !ritz_plan_gpu_has_geometry(plan);
  return (t->choice.join ? t->choice.join > 0 : pays) && ritz_plan_gpu_can_join(plan, t, s);
}

static void place_space(const RitzPlan *plan, RitzGpuTarget *t, bool copies, int s) {
  RitzGpuSpace *g = &t->spaces[s];
  g->is_joined = joins(plan, t, s);
  g->is_copied = copies && can_copy(plan, t, s);
  if (!g->is_copied) return;
  g->first_array = t->num_arrays;
  g->num_arrays = 1;
  t->num_arrays += plan->spaces[s].num_comp;
}

// Two warps, if their memory is there.
static CeedInt choose_num_elem(const RitzGpuMachine *machine, const RitzGpuTarget *t, CeedInt bytes) {
  const CeedInt wanted = t->choice.num_elem                                  ? t->choice.num_elem
                         : element_fits_registers(machine, 2 * WARP * bytes) ? 2 * WARP
                                                                             : WARP;
  const CeedInt by_bytes = bytes > 0 ? machine->shared_bytes / bytes : wanted;
  const CeedInt most = CeedIntMin(machine->max_threads, by_bytes) / WARP * WARP;
  return CeedIntMax(WARP, CeedIntMin((wanted + WARP - 1) / WARP * WARP, most));
}

void ritz_plan_gpu_place_elements(const RitzPlan *plan, const RitzGpuMachine *machine, RitzGpuTarget *t) {
  const bool copies = WARP * count_bytes(plan, t, true) <= machine->shared_bytes;
  const CeedInt bytes = count_bytes(plan, t, copies);
  for (int s = 0; s < plan->num_spaces; s++) place_space(plan, t, copies, s);
  t->num_lines = 1;
  t->num_elem = t->num_threads = choose_num_elem(machine, t, bytes);
  t->strides = (RitzLineStrides){(int)plan->Q_1d, (int)(plan->Q_1d * plan->Q_1d), (int)odd_distance(plan)};
  while (t->num_elem > WARP && !ritz_plan_gpu_has_room(plan, machine, t))
    t->num_elem = t->num_threads = t->num_elem - WARP;
  if (!ritz_plan_gpu_has_room(plan, machine, t)) t->reason = RITZ_NO_ROOM;
  t->shared_bytes = t->num_elem * bytes;
}
