// SPDX-License-Identifier: BSD-2-Clause
// The fused kernel in which a thread takes a whole element (contract in emit/gpu-text.h).
//
// Names in the text: loops over points k<d> along direction d, the last outermost. Of an input space s with
// `level` directions left: v<s>_<level> values, g<s>_<level>_<d> derivatives along d; of an output w and h.
// At all directions left v and w are the nodes; at none they are arguments of the QFunction.
#include <stdio.h>

#include "emit/gpu-text.h"
#include "plan/gpu-simple-inputs.h"

enum { NAME = 48 };

static const RitzPlanBasis *element_basis_of(const RitzGpuEmitter *e, int s) {
  return &e->plan->bases[e->plan->spaces[s].basis];
}

static int dim_of(const RitzGpuEmitter *e) { return (int)e->target->dim; }

static bool has_offsets(const RitzPlanSpace *s) {
  return s->restriction.type != CEED_RESTRICTION_STRIDED && !s->is_oriented && !s->is_curl_oriented;
}

// Nodes of `level` directions.
static int num_nodes_at(const RitzGpuEmitter *e, int s, int level) {
  int size = 1;
  for (int d = 0; d < level; d++) size *= (int)element_basis_of(e, s)->P_1d;
  return size;
}

// ---- Matrices ----

static int add_element_matrix(RitzGpuEmitter *e, RitzTextTable letter, int b, const RitzPlanMatrix *m) {
  RitzPlanMatrix whole = *m;
  char name[NAME];
  whole.parity = 0;
  snprintf(name, sizeof(name), "ritz_%s%d", ritz_text_table_name(letter), b);
  return ritz_emit_gpu_matrix(e, name, &whole, false);
}

static bool is_used(const RitzGpuEmitter *e, int b, bool (*is_one)(const RitzPlanSpace *s)) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].basis == b && ritz_gpu_has_tensor(e, s) && is_one(&e->plan->spaces[s]))
      return true;
  }
  return false;
}

static bool has_modes(const RitzPlanSpace *s) { return s->modes; }

static int add_bases(RitzGpuEmitter *e) {
  for (int b = 0; b < e->plan->num_bases; b++) {
    ritz_text_add(&e->text, "\n// ---- Basis %d ----\n", b);
    if (e->target->routes[b] != RITZ_ROUTE_IDENTITY && is_used(e, b, has_modes))
      RITZ_TRY(add_element_matrix(e, RITZ_TEXT_INTERP, b, &e->plan->bases[b].interp));
    if (is_used(e, b, ritz_gpu_has_gradient))
      RITZ_TRY(add_element_matrix(e, RITZ_TEXT_GRAD, b, &e->plan->bases[b].grad));
    ritz_emit_gpu_weights(e, b);
  }
  return ritz_emit_gpu_simple_tables(e);
}

// ---- Levels ----

// Whether a space has an array with `level` directions still to be contracted: derivative d, or values (d =
// -1).
static bool has_level(const RitzGpuEmitter *e, int s, int level, int d) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  if (d < 0) return level > 0 || ritz_gpu_has_values(space);
  return ritz_gpu_has_gradient(space) && d >= level;
}

static void name_level(const RitzGpuEmitter *e, int s, int level, int d, char name[NAME]) {
  const bool is_input = e->plan->spaces[s].is_input;
  if (d < 0)
    snprintf(name, NAME, "%c%d_%d", is_input ? 'v' : 'w', s, level);
  else
    snprintf(name, NAME, "%c%d_%d_%d", is_input ? 'g' : 'h', s, level, d);
}

// Direction `level` from or to the level above: by the matrix of values, or of derivatives.
static void add_step(RitzGpuEmitter *e, int s, int level, bool differentiates, const char *from,
                     const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int b = space->basis, P = (int)element_basis_of(e, s)->P_1d;
  const bool is_unit = !differentiates && ritz_gpu_route(e, s) == RITZ_ROUTE_IDENTITY;
  ritz_text_add(&e->text, "      ritz_%s%s(%d, %d, %d, ", space->is_input ? "contract" : "expand",
                is_unit ? "_unit" : "", (int)space->num_comp, P, num_nodes_at(e, s, level));
  if (is_unit)
    ritz_text_add(&e->text, "k%d, %s, %s);\n", level, from, to);
  else
    ritz_text_add(&e->text, "ritz_%s%d + k%d * %d, %s, %s);\n",
                  ritz_text_table_name(differentiates ? RITZ_TEXT_GRAD : RITZ_TEXT_INTERP), b, level, P, from,
                  to);
}

// Emits the contractions between two levels: each quantity from the same one of the level above, the
// derivative along this direction from the values; for outputs the other way round.
static void add_steps(RitzGpuEmitter *e, int s, int level) {
  const bool is_input = e->plan->spaces[s].is_input;
  char above[NAME], here[NAME];
  for (int d = -1; d < dim_of(e); d++) {
    if (!has_level(e, s, level, d)) continue;
    name_level(e, s, level + 1, d == level ? -1 : d, above);
    name_level(e, s, level, d, here);
    add_step(e, s, level, d == level, is_input ? above : here, is_input ? here : above);
  }
}

static void add_registers(RitzGpuEmitter *e, int s, int level) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int size = (int)space->num_comp * num_nodes_at(e, s, level);
  char name[NAME];
  for (int d = -1; d < dim_of(e); d++) {
    if (!has_level(e, s, level, d)) continue;
    name_level(e, s, level, d, name);
    ritz_text_add(&e->text, "      RitzReal %s[%d];\n", name, size);
    if (!space->is_input) ritz_text_add(&e->text, "      ritz_zero(%d, %s);\n", size, name);
  }
}

static void add_simple_row(RitzGpuEmitter *e, int s) {
  char nodes[NAME];
  name_level(e, s, dim_of(e), -1, nodes);
  ritz_emit_gpu_simple_row(e, s, nodes);
}

static void open_level(RitzGpuEmitter *e, int level) {
  const int innermost = ritz_plan_gpu_has_geometry(e->plan) ? 1 : dim_of(e) - 1;
  const bool is_rolled = level >= innermost && !e->target->unrolls;
  ritz_text_add(&e->text, "\n    %s\n    for (int k%d = 0; k%d < %d; k%d++) {\n",
                is_rolled ? "RITZ_ROLL" : "RITZ_UNROLL", level, level, (int)e->target->Q_1d, level);
  if (level == 0) return;
  if (level == 1 && e->target->fences) ritz_text_add(&e->text, "      RITZ_FENCE(mask);\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (level == 1 && ritz_gpu_is_simple(&e->plan->spaces[s])) add_simple_row(e, s);
    if (!ritz_gpu_has_tensor(e, s)) continue;
    add_registers(e, s, level);
    if (e->plan->spaces[s].is_input) add_steps(e, s, level);
  }
}

static void close_level(RitzGpuEmitter *e, int level) {
  for (int s = 0; level > 0 && s < e->plan->num_spaces; s++) {
    if (!e->plan->spaces[s].is_input && e->plan->spaces[s].basis >= 0) add_steps(e, s, level);
  }
  ritz_text_add(&e->text, "    }\n");
}

// ---- Points ----

static const char *point_of(const RitzGpuEmitter *e) {
  return e->target->dim == 3 ? "k0 + k1 * RITZ_ROW + k2 * RITZ_PLANE" : "k0 + k1 * RITZ_ROW";
}

// Values or derivative d of a space at the point, in the place that the argument has for it.
static void add_quantity(RitzGpuEmitter *e, int i, int d) {
  const int s = e->plan->fields[i].space, nc = (int)e->plan->spaces[s].num_comp;
  const bool is_input = e->plan->spaces[s].is_input;
  char above[NAME], name[32], here[NAME];
  name_level(e, s, 1, d == 0 ? -1 : d, above);
  ritz_emit_gpu_name_argument(e, i, name);
  snprintf(here, sizeof(here), "%s + %d", name, d > 0 ? d * nc : 0);
  add_step(e, s, 0, d == 0, is_input ? above : here, is_input ? here : above);
}

// Data at points that pass through shared memory.
static void add_copied(RitzGpuEmitter *e, int i, const char *name) {
  const int s = e->plan->fields[i].space, nc = (int)e->plan->spaces[s].num_comp;
  char place[128];
  snprintf(place, sizeof(place), "m + %d * RITZ_ARRAY + RITZ_THREAD * RITZ_ELEM + %s",
           e->target->spaces[s].first_array, point_of(e));
  if (i < e->plan->num_in)
    ritz_text_add(&e->text, "      ritz_take_arrays(%d, %s, %s);\n", nc, place, name);
  else
    ritz_text_add(&e->text, "      ritz_give_arrays(%d, %s, %d, %s);\n", nc, name, ritz_emit_gpu_adds(e, i),
                  place);
}

static void add_data(RitzGpuEmitter *e, int i) {
  const int s = e->plan->fields[i].space;
  char name[48];
  ritz_emit_gpu_name_argument(e, i, name);
  if (e->target->spaces[s].is_copied) {
    add_copied(e, i, name);
  } else if (i < e->plan->num_in) {
    ritz_text_add(&e->text, "      ");
    ritz_emit_gpu_gather(e, s, 1, 0, "elem", point_of(e), name);
  } else {
    ritz_text_add(&e->text, "      ");
    ritz_emit_gpu_scatter(e, s, 1, 0, "is_on", "elem", point_of(e), name, ritz_emit_gpu_adds(e, i));
  }
}

static void add_weight(RitzGpuEmitter *e, int i) {
  const int b = e->plan->fields[i].basis;
  ritz_text_add(&e->text, "      in%d[0] = ", i);
  if (!e->plan->bases[b].is_tensor) {
    ritz_text_add(&e->text, "ritz_weights%d_table[%s];\n", b, point_of(e));
    return;
  }
  for (int d = 0; d < dim_of(e); d++) ritz_text_add(&e->text, "%sritz_weights%d[k%d]", d ? " * " : "", b, d);
  ritz_text_add(&e->text, ";\n");
}

static void add_element_field(RitzGpuEmitter *e, int i) {
  const int s = e->plan->fields[i].space;
  if (s >= 0 && ritz_gpu_is_simple(&e->plan->spaces[s])) {
    ritz_emit_gpu_simple_field(e, i, 0, "k0");
    return;
  }
  switch (e->plan->fields[i].mode) {
  case CEED_EVAL_WEIGHT: add_weight(e, i); break;
  case CEED_EVAL_NONE: add_data(e, i); break;
  case CEED_EVAL_INTERP: add_quantity(e, i, -1); break;
  default:
    for (int d = 0; d < dim_of(e); d++) add_quantity(e, i, d);
  }
}

static void add_points(RitzGpuEmitter *e) {
  const RitzPlan *plan = e->plan;
  const int num = plan->num_in + plan->num_out;
  for (int level = dim_of(e) - 1; level >= 0; level--) open_level(e, level);
  for (int i = 0; i < num; i++) ritz_emit_gpu_argument(e, i);
  for (int i = 0; i < plan->num_in; i++) add_element_field(e, i);
  ritz_emit_gpu_call_each(e);
  ritz_emit_gpu_narrow(e);
  ritz_emit_gpu_energy(e);
  for (int i = plan->num_in; i < num; i++) add_element_field(e, i);
  for (int level = 0; level < dim_of(e); level++) close_level(e, level);
}

// ---- Between L-vectors, shared memory and registers ----

static void copy_data(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int nc = (int)space->num_comp, Q = (int)e->plan->Q, array = e->target->spaces[s].first_array;
  char comp[32];
  ritz_emit_gpu_name_stride(e, s, 1, comp);
  if (space->is_input)
    ritz_text_add(&e->text, "  ritz_copy_points%s(%d, %d, num_elem - first_elem, x%d + first_elem * %d, %s, ",
                  ritz_gpu_suffix(e, s), nc, Q, s, Q, comp);
  else
    ritz_text_add(&e->text, "  ritz_add_points%s(%d, %d, num_elem - first_elem, y%d + first_elem * %d, %s, ",
                  ritz_gpu_suffix(e, s), nc, Q, s, Q, comp);
  ritz_text_add(&e->text, "m + %d * RITZ_ARRAY);\n", array);
}

static int row_length(const RitzGpuEmitter *e, int s) {
  return (int)CeedIntMax(1, e->target->spaces[s].row_length);
}

static int num_offsets(const RitzGpuEmitter *e, int s) {
  return (int)e->plan->spaces[s].num_nodes / row_length(e, s);
}

// The end of the name, components, nodes, then the form of the offsets: how calls of functions of
// kernels/gpu/element-nodes.h go on.
static void add_sizes(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  ritz_text_add(&e->text, "%s(%d, %d, ", ritz_gpu_suffix(e, s), (int)space->num_comp, (int)space->num_nodes);
  if (e->target->spaces[s].is_joined) ritz_text_add(&e->text, "%d, ", (int)element_basis_of(e, s)->P_1d);
  ritz_text_add(&e->text, "%d, %d, ", row_length(e, s), (int)e->target->spaces[s].row_step);
}

static void load_offsets(RitzGpuEmitter *e, int s) {
  ritz_text_add(&e->text, "    CeedInt at[%d];\n    ritz_load_offsets(%d, ", num_offsets(e, s),
                num_offsets(e, s));
  ritz_emit_gpu_offsets(e, s, "elem", "0");
  ritz_text_add(&e->text, ", at);\n");
}

static void gather(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  char comp[32], name[NAME];
  name_level(e, s, dim_of(e), -1, name);
  ritz_emit_gpu_name_stride(e, s, 1, comp);
  ritz_text_add(&e->text, "  RitzReal %s[%d];\n  {\n", name, (int)(space->num_comp * space->num_nodes));
  if (has_offsets(space)) {
    load_offsets(e, s);
    ritz_text_add(&e->text, "    ritz_gather_element");
    add_sizes(e, s);
    ritz_emit_gpu_array(e, s, 0, "elem");
    ritz_text_add(&e->text, ", at, %s, %s);\n", comp, name);
  } else {
    ritz_text_add(&e->text, "    ");
    ritz_emit_gpu_gather(e, s, space->num_nodes, 1, "elem", "0", name);
  }
  ritz_text_add(&e->text, "  }\n");
  if (ritz_gpu_is_simple(space)) ritz_emit_gpu_simple_of_element(e, s, name);
}

static void add_atomically(RitzGpuEmitter *e, int s, const char *name) {
  const bool is_joined = e->target->spaces[s].is_joined;
  char comp[32];
  ritz_emit_gpu_name_stride(e, s, 1, comp);
  load_offsets(e, s);
  ritz_text_add(&e->text, is_joined ? "    ritz_scatter_joined" : "    if (is_on) ritz_scatter_element");
  add_sizes(e, s);
  ritz_text_add(&e->text, "%s%s, at, %s, ", is_joined ? "is_on, " : "", name, comp);
  ritz_emit_gpu_array(e, s, 0, "elem");
  ritz_text_add(&e->text, ");\n");
}

static void scatter(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  char name[NAME];
  name_level(e, s, dim_of(e), -1, name);
  ritz_text_add(&e->text, "  {\n");
  if (has_offsets(space) && e->target->spaces[s].scatter == RITZ_SCATTER_ATOMIC) {
    add_atomically(e, s, name);
  } else {
    ritz_text_add(&e->text, "    ");
    ritz_emit_gpu_scatter(e, s, space->num_nodes, 1, "is_on", "elem", "0", name, false);
  }
  ritz_text_add(&e->text, "  }\n");
}

// Offset of space s in the staging area of shared memory; the size of the area with s = num_spaces.
static int staged_place(const RitzGpuEmitter *e, int s) {
  CeedInt place = 0;
  for (int i = 0; i < s; i++) {
    if (e->target->spaces[i].is_staged) place += e->plan->spaces[i].num_comp * e->plan->spaces[i].num_nodes;
  }
  return (int)place;
}

static void stage(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  char name[NAME];
  name_level(e, s, dim_of(e), -1, name);
  ritz_text_add(&e->text, "  ritz_stage_element(%d, %d, %s, m + %d * RITZ_ELEMENTS);\n", (int)space->num_comp,
                (int)space->num_nodes, name, staged_place(e, s));
}

static void scatter_staged(RitzGpuEmitter *e, int s) {
  ritz_text_add(&e->text, "  ritz_scatter_elements");
  add_sizes(e, s);
  ritz_text_add(&e->text, "num_elem - first_elem, m + %d * RITZ_ELEMENTS, ", staged_place(e, s));
  ritz_emit_gpu_offsets(e, s, "first_elem", "0");
  ritz_text_add(&e->text, ", y%d);\n", s);
}

// ---- The kernel ----

typedef void (*EmitSpace)(RitzGpuEmitter *e, int s);

static bool is_copied_in(const RitzGpuEmitter *e, int s) {
  return e->target->spaces[s].is_copied && e->plan->spaces[s].is_input;
}
static bool is_copied_out(const RitzGpuEmitter *e, int s) {
  return e->target->spaces[s].is_copied && !e->plan->spaces[s].is_input;
}
static bool is_staged(const RitzGpuEmitter *e, int s) { return e->target->spaces[s].is_staged; }
static bool is_gathered(const RitzGpuEmitter *e, int s) {
  return e->plan->spaces[s].is_input && e->plan->spaces[s].basis >= 0;
}
static bool is_sum(const RitzGpuEmitter *e, int s) {
  return !e->plan->spaces[s].is_input && e->plan->spaces[s].basis >= 0;
}
static bool is_scattered(const RitzGpuEmitter *e, int s) { return is_sum(e, s) && !is_staged(e, s); }

// Whether there was one.
static bool emit_spaces(RitzGpuEmitter *e, bool (*is_one)(const RitzGpuEmitter *e, int s), EmitSpace emit) {
  bool is_any = false;
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (!is_one(e, s)) continue;
    emit(e, s);
    is_any = true;
  }
  return is_any;
}

static void add_sums(RitzGpuEmitter *e, int s) { add_registers(e, s, dim_of(e)); }
static void do_nothing(RitzGpuEmitter *e, int s) { (void)e, (void)s; }

static void add_inputs(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "\n  // Data at points, nodes\n");
  const bool copies = emit_spaces(e, is_copied_in, copy_data);
  emit_spaces(e, is_gathered, gather);
  if (copies) ritz_text_add(&e->text, "  RITZ_COPIED();\n  RITZ_BARRIER();\n");
  emit_spaces(e, is_sum, add_sums);
}

static void add_element_outputs(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "\n  // Nodes, data at points\n");
  emit_spaces(e, is_scattered, scatter);
  if (emit_spaces(e, is_copied_out, do_nothing)) ritz_emit_gpu_barrier(e);
  emit_spaces(e, is_copied_out, copy_data);
  if (!emit_spaces(e, is_staged, do_nothing)) return;
  if (e->target->num_arrays > 0) ritz_emit_gpu_barrier(e);
  emit_spaces(e, is_staged, stage);
  ritz_emit_gpu_barrier(e);
  emit_spaces(e, is_staged, scatter_staged);
}

int ritz_emit_gpu_elements(RitzGpuEmitter *e) {
  const bool has_context = ritz_emit_gpu_has_context(e), is_writable = e->plan->is_context_writable;
  RITZ_TRY(add_bases(e));
  ritz_emit_gpu_open(e, "ritz_operator");
  ritz_emit_gpu_open_energy(e);
  add_inputs(e);
  ritz_text_add(&e->text, "\n  // Points\n");
  if (has_context)
    ritz_text_add(&e->text, "  RITZ_CONTEXT_OPEN%s(context)\n", is_writable ? "_WRITABLE" : "");
  add_points(e);
  if (has_context && is_writable) ritz_text_add(&e->text, "  RITZ_CONTEXT_CLOSE(context)\n");
  add_element_outputs(e);
  ritz_emit_gpu_close_energy(e);
  ritz_text_add(&e->text, "}\n");
  return CEED_ERROR_SUCCESS;
}
