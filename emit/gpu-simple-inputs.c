// SPDX-License-Identifier: BSD-2-Clause
// Inputs of degree one and constant ones in fused kernels for devices (contract in emit/gpu-text.h,
// functions in kernels/gpu/simple-inputs.h).
//
// Names in the text, s a space, b a basis: l<s> what the thread has of a line (of constants: of an element),
// ritz_points<b> coordinates of the points, ritz_constant_rows<s> rows of constants.
#include <stdio.h>

#include "emit/gpu-text.h"
#include "plan/gpu-simple-inputs.h"

static const RitzPlanSpace *space_of(const RitzGpuEmitter *e, int s) { return &e->plan->spaces[s]; }
static bool is_linear(const RitzGpuEmitter *e, int s) { return space_of(e, s)->kind == RITZ_INPUT_LINEAR; }
static int slot_of(const RitzGpuEmitter *e, int s) {
  return (int)ritz_gpu_simple_slot(e->plan, space_of(e, s));
}
static int q_comp_of(const RitzGpuEmitter *e, int s) {
  return (int)ritz_gpu_simple_q_comp(e->plan, space_of(e, s));
}

static bool has_simple_inputs(const RitzGpuEmitter *e) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (ritz_gpu_is_simple(space_of(e, s))) return true;
  }
  return false;
}

// ---- Tables ----

static void add_coordinates(RitzGpuEmitter *e, int b) {
  const RitzPlanBasis *basis = &e->plan->bases[b];
  char name[48];
  snprintf(name, sizeof(name), "ritz_points%d", b);
  ritz_emit_gpu_numbers(e, "RITZ_CONSTANT", name, basis->points, basis->Q_1d);
  snprintf(name, sizeof(name), "ritz_points%d_table", b);
  ritz_emit_gpu_numbers(e, "RITZ_TABLE", name, basis->points, basis->Q_1d);
}

static bool has_linear(const RitzGpuEmitter *e, int b) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (space_of(e, s)->basis == b && is_linear(e, s)) return true;
  }
  return false;
}

// Rows of values, then of derivatives.
static int add_rows(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = space_of(e, s);
  const RitzPlanBasis *b = &e->plan->bases[space->basis];
  const CeedInt P = space->num_nodes, q_comp = q_comp_of(e, s);
  const CeedInt of_values = ritz_gpu_has_values(space) ? b->q_comp_interp : 0;
  CeedScalar *rows = NULL;
  char name[48];
  RITZ_TRY(RITZ_MALLOC(e->text.ceed, (size_t)q_comp * (size_t)P, &rows));
  for (CeedInt d = 0; d < q_comp; d++) {
    const CeedScalar *from =
        d < of_values ? b->constant_interp + d * P : b->constant_deriv + (d - of_values) * P;
    for (CeedInt p = 0; p < P; p++) rows[d * P + p] = from[p];
  }
  snprintf(name, sizeof(name), "ritz_constant_rows%d", s);
  ritz_emit_gpu_numbers(e, "RITZ_CONSTANT", name, rows, q_comp * P);
  RITZ_FREE(&rows);
  return CEED_ERROR_SUCCESS;
}

int ritz_emit_gpu_simple_tables(RitzGpuEmitter *e) {
  if (!has_simple_inputs(e)) return CEED_ERROR_SUCCESS;
  ritz_text_add(&e->text, "\n// ---- Inputs of degree one, constant inputs ----\n"
                          "#include \"kernels/gpu/simple-inputs.h\"\n");
  for (int b = 0; b < e->plan->num_bases; b++) {
    if (has_linear(e, b)) add_coordinates(e, b);
  }
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (space_of(e, s)->kind == RITZ_INPUT_CONSTANT) RITZ_TRY(add_rows(e, s));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes into shared memory ----

// Opens a loop over `num` items, the last threads first: they may have nothing else to do.
static void open_items(RitzGpuEmitter *e, CeedInt num) {
  const CeedInt threads = e->target->num_threads;
  ritz_text_add(&e->text,
                "  RITZ_UNROLL\n  for (int round = 0; round < %d; round++) {\n"
                "    const int i = (round + 1) * RITZ_THREADS - 1 - RITZ_THREAD;\n",
                (int)((num + threads - 1) / threads));
  if (num % threads) ritz_text_add(&e->text, "    if (i >= %d) continue;\n", (int)num);
}

// Components or nodes side by side, as they are in the L-vector.
static void copy_nodes(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = space_of(e, s);
  const int nc = (int)space->num_comp, P = (int)space->num_nodes, size = nc * P;
  open_items(e, e->target->num_elem * size);
  ritz_text_add(&e->text, "    const int own = i / %d, ", size);
  if (space->is_interlaced)
    ritz_text_add(&e->text, "node = i %% %d / %d, c = i %% %d;\n", size, nc, nc);
  else
    ritz_text_add(&e->text, "node = i %% %d, c = i %% %d / %d;\n", P, size, P);
  ritz_text_add(&e->text,
                "    const RitzLong e = ritz_element(first_elem + own, num_elem);\n"
                "    RITZ_SHARED RitzReal *to = m + %d + own * %d + c * %d + node;\n    ",
                (int)e->target->spaces[s].simple_first, (int)e->target->spaces[s].simple_elem, slot_of(e, s));
  ritz_emit_gpu_copy_node(e, s, "e", "node", "c", "to");
  ritz_text_add(&e->text, "  }\n");
}

void ritz_emit_gpu_simple_nodes(RitzGpuEmitter *e) {
  if (!has_simple_inputs(e)) {
    e->simple_state = RITZ_INPUTS_READY;
    return;
  }
  ritz_text_add(&e->text, "\n  // Nodes of inputs of degree one, of constant inputs\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (ritz_gpu_is_simple(space_of(e, s))) copy_nodes(e, s);
  }
}

// Monomials or values in the place of the nodes of a component.
static void evaluate_simple(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = space_of(e, s);
  const int nc = (int)space->num_comp, P = (int)space->num_nodes, q_comp = q_comp_of(e, s);
  open_items(e, e->target->num_elem * nc);
  ritz_text_add(&e->text,
                "    RITZ_SHARED RitzReal *at = m + %d + i / %d * %d + i %% %d * %d;\n"
                "    RitzReal nodes[%d];\n    ritz_read(%d, at, 1, nodes);\n",
                (int)e->target->spaces[s].simple_first, nc, (int)e->target->spaces[s].simple_elem, nc,
                slot_of(e, s), P, P);
  if (is_linear(e, s))
    ritz_text_add(&e->text, "    ritz_monomials(1, %d, nodes);\n    ritz_write(%d, nodes, at, 1);\n  }\n",
                  (int)e->target->dim, P);
  else
    ritz_text_add(
        &e->text,
        "    RitzReal values[%d];\n    ritz_constants(1, %d, %d, ritz_constant_rows%d, nodes, values);\n"
        "    ritz_write(%d, values, at, 1);\n  }\n",
        q_comp, q_comp, P, s, q_comp);
}

static void evaluate_all_simple(RitzGpuEmitter *e) {
  e->simple_state = RITZ_INPUTS_READY;
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = space_of(e, s);
    if (!ritz_gpu_is_simple(space) || ritz_gpu_simple_is_copy(e->plan, space)) continue;
    if (e->simple_state == RITZ_INPUTS_READY)
      ritz_text_add(&e->text, "\n  // Monomials and values in the place of nodes\n");
    e->simple_state = RITZ_INPUTS_EVALUATED;
    evaluate_simple(e, s);
  }
}

void ritz_emit_gpu_input_barrier(RitzGpuEmitter *e) {
  if (e->simple_state == RITZ_INPUTS_COPIED) ritz_text_add(&e->text, "  RITZ_COPIED();\n");
  ritz_emit_gpu_barrier(e);
  if (e->simple_state == RITZ_INPUTS_COPIED)
    evaluate_all_simple(e);
  else
    e->simple_state = RITZ_INPUTS_READY;
}

void ritz_emit_gpu_finish_simple(RitzGpuEmitter *e) {
  while (e->simple_state != RITZ_INPUTS_READY) ritz_emit_gpu_input_barrier(e);
}

// ---- Lines ----

static bool has_line_weights(const RitzGpuEmitter *e, int s) { return is_linear(e, s) && e->target->dim > 1; }

// Coordinates of the line in the directions that it does not run along.
static void add_line_coordinates(RitzGpuEmitter *e, int s) {
  const int b = space_of(e, s)->basis, Q = (int)e->target->Q_1d;
  if (!has_line_weights(e, s))
    ritz_text_add(&e->text, "0, 0");
  else if (e->target->dim == 2)
    ritz_text_add(&e->text, "ritz_points%d_table[L.points_line], 0", b);
  else
    ritz_text_add(&e->text,
                  "ritz_points%d_table[L.points_line %% %d], ritz_points%d_table[L.points_line / %d]", b, Q,
                  b, Q);
}

static void take_linear(RitzGpuEmitter *e, int s, const char *place) {
  const int nc = (int)space_of(e, s)->num_comp, dim = (int)e->target->dim;
  ritz_text_add(&e->text,
                "    RitzReal l%d[%d * %d];\n    {\n      RitzReal monomials[%d];\n"
                "      ritz_read(%d, %s, 1, monomials);\n      ritz_linear_line(%d, %d, %d, monomials, ",
                s, nc, 2 * dim, nc << dim, nc << dim, place, nc, dim, dim - 1);
  add_line_coordinates(e, s);
  ritz_text_add(&e->text, ", l%d);\n    }\n", s);
}

static void take_constants(RitzGpuEmitter *e, int s, const char *place) {
  const int nc = (int)space_of(e, s)->num_comp, q_comp = q_comp_of(e, s);
  ritz_text_add(&e->text, "    RitzReal l%d[%d * %d];\n    ritz_read_constants(%d, %d, %d, %s, l%d);\n", s,
                q_comp, nc, nc, q_comp, slot_of(e, s), place, s);
}

void ritz_emit_gpu_simple_lines(RitzGpuEmitter *e) {
  char place[96];
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (!ritz_gpu_is_simple(space_of(e, s))) continue;
    snprintf(place, sizeof(place), "m + %d + (L.points_elem%s) * %d", (int)e->target->spaces[s].simple_first,
             e->target->elem_per_thread > 1 ? " + k * RITZ_GROUPS" : "",
             (int)e->target->spaces[s].simple_elem);
    (is_linear(e, s) ? take_linear : take_constants)(e, s, place);
  }
}

// ---- Points ----

void ritz_emit_gpu_simple_field(RitzGpuEmitter *e, int i, int walk, const char *point) {
  const RitzPlanField *f = &e->plan->fields[i];
  const RitzPlanSpace *space = space_of(e, f->space);
  const int nc = (int)space->num_comp, dim = (int)e->target->dim, s = f->space;
  const CeedInt of_values = ritz_gpu_has_values(space) ? e->plan->bases[space->basis].q_comp_interp : 0;
  if (!is_linear(e, s))
    ritz_text_add(&e->text, "      ritz_take_constants(%d, l%d + %d, in%d);\n", (int)f->size, s,
                  f->mode == CEED_EVAL_INTERP ? 0 : (int)of_values * nc, i);
  else if (f->mode == CEED_EVAL_INTERP)
    ritz_text_add(&e->text, "      ritz_linear_values(%d, %d, l%d, ritz_points%d[%s], in%d);\n", nc, dim, s,
                  space->basis, point, i);
  else
    ritz_text_add(&e->text, "      ritz_linear_gradient(%d, %d, %d, l%d, ritz_points%d[%s], in%d);\n", nc,
                  dim, walk, s, space->basis, point, i);
}

// ---- Whole elements ----

void ritz_emit_gpu_simple_of_element(RitzGpuEmitter *e, int s, const char *nodes) {
  const int nc = (int)space_of(e, s)->num_comp, q_comp = q_comp_of(e, s), dim = (int)e->target->dim;
  if (is_linear(e, s))
    ritz_text_add(&e->text, "  ritz_monomials(%d, %d, %s);\n", nc, dim, nodes);
  else
    ritz_text_add(&e->text,
                  "  RitzReal l%d[%d * %d];\n  ritz_constants(%d, %d, %d, ritz_constant_rows%d, %s, l%d);\n",
                  s, q_comp, nc, nc, q_comp, (int)space_of(e, s)->num_nodes, s, nodes, s);
}

void ritz_emit_gpu_simple_row(RitzGpuEmitter *e, int s, const char *nodes) {
  const int nc = (int)space_of(e, s)->num_comp, b = space_of(e, s)->basis, dim = (int)e->target->dim;
  if (!is_linear(e, s)) return;
  ritz_text_add(&e->text,
                "      RitzReal l%d[%d * %d];\n      ritz_linear_line(%d, %d, 0, %s, ritz_points%d[k1], ", s,
                nc, 2 * dim, nc, dim, nodes, b);
  ritz_text_add(&e->text, dim == 3 ? "ritz_points%d[k2], l%d);\n" : "0, l%d);\n", dim == 3 ? b : s, s);
}
