// SPDX-License-Identifier: BSD-2-Clause
// The fused kernel of dense bases by tensor cores (contract in emit/gpu-text.h, functions in
// kernels/gpu/tiles.h).
//
// Names in the text, s a space: a<s> nodes or sums of the thread, v<s> and w<s> values and derivatives at its
// points of a tile, of which u<s> and g<s> are those of one point.
#include <stdio.h>

#include "emit/gpu-text.h"
#include "plan/gpu-tiles.h"

static const RitzPlanBasis *tile_basis_of(const RitzGpuEmitter *e, int s) {
  return &e->plan->bases[e->plan->spaces[s].basis];
}
static int of_row(const RitzGpuEmitter *e, int s) { return (int)ritz_gpu_tile_nodes(tile_basis_of(e, s)); }
static int q_comp_of(const RitzGpuEmitter *e, int s, bool is_derivative) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return (int)(is_derivative ? ritz_gpu_dense_derivatives(e->plan, space)
                             : ritz_gpu_dense_values(e->plan, space));
}

typedef void (*EmitSpace)(RitzGpuEmitter *e, int s);

static void emit_each(RitzGpuEmitter *e, bool is_input, EmitSpace emit) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input == is_input && ritz_gpu_has_dense(e, s)) emit(e, s);
  }
}

// ---- Nodes ----

// Opens a loop over the nodes of the thread, with the node and its element.
static void open_nodes(RitzGpuEmitter *e, int s, const char *elem) {
  ritz_text_add(&e->text,
                "  RITZ_UNROLL\n  for (int i = 0; i < %d; i++) {\n"
                "    const int node = RITZ_TILE_COLUMN(i), is_node = node < %d;\n"
                "    const RitzLong %s = first_elem + L.points_elem + RITZ_TILE_SECOND(i) * RITZ_GROUPS;\n",
                4 * of_row(e, s), (int)tile_basis_of(e, s)->P, elem);
}

static void emit_nodes(RitzGpuEmitter *e, int s) {
  const int nc = (int)e->plan->spaces[s].num_comp, size = 4 * of_row(e, s);
  ritz_text_add(&e->text, "  RitzReal a%d[%d * %d];\n", s, nc, size);
  open_nodes(e, s, "own");
  ritz_text_add(&e->text,
                "    const RitzLong e = ritz_element(own, num_elem);\n    RitzReal nodes[%d];\n    ", nc);
  ritz_emit_gpu_gather(e, s, 1, 0, "e", "(is_node ? node : 0)", "nodes");
  ritz_text_add(&e->text, "    ritz_tile_keep(%d, %d, i, is_node, nodes, a%d);\n  }\n", nc, size, s);
}

static void emit_sums(RitzGpuEmitter *e, int s) {
  const int size = (int)e->plan->spaces[s].num_comp * 4 * of_row(e, s);
  ritz_text_add(&e->text, "  RitzReal a%d[%d];\n  ritz_tile_clear(%d, a%d);\n", s, size, size, s);
}

static void emit_scatter(RitzGpuEmitter *e, int s) {
  const int nc = (int)e->plan->spaces[s].num_comp, size = 4 * of_row(e, s);
  open_nodes(e, s, "e");
  ritz_text_add(&e->text,
                "    RitzReal nodes[%d];\n    ritz_take_lines(%d, %d, a%d, i, nodes);\n"
                "    ",
                nc, nc, size, s);
  ritz_emit_gpu_scatter(e, s, 1, 0, "is_node && e < num_elem", "e", "node", "nodes", false);
  ritz_text_add(&e->text, "  }\n");
}

// ---- Matrices ----

static void stage_matrix(RitzGpuEmitter *e, int b, bool is_derivative) {
  const RitzPlanBasis *basis = &e->plan->bases[b];
  const CeedInt place = ritz_plan_gpu_tile_place(e->plan, e->target, b, is_derivative);
  if (!ritz_plan_gpu_tile_size(e->plan, b, is_derivative)) return;
  ritz_text_add(&e->text, "    ritz_tiles_stage(%d, %d, %d, first, %d, %s%d_t, m + %d);\n",
                (int)(is_derivative ? basis->q_comp_deriv : basis->q_comp_interp), (int)basis->P,
                (int)basis->Q, (int)e->target->num_staged, is_derivative ? "deriv" : "interp", b, (int)place);
}

// All tiles at once, before the loop over them; or as many as fit, again and again.
static void open_tiles(RitzGpuEmitter *e) {
  const int num = (int)ritz_gpu_num_tiles(e->plan), staged = (int)e->target->num_staged;
  ritz_text_add(
      &e->text,
      "\n  // Tiles of eight points\n  RITZ_ROLL\n  for (int first = 0; first < %d; first += %d) {\n", num,
      staged);
  if (staged < num) ritz_text_add(&e->text, "    RITZ_BARRIER();\n");
  for (int b = 0; b < e->plan->num_bases; b++) {
    stage_matrix(e, b, false);
    stage_matrix(e, b, true);
  }
  ritz_text_add(&e->text,
                "    RITZ_BARRIER();\n    RITZ_ROLL\n    for (int tile = 0; tile < %d && first + tile < %d; "
                "tile++) {\n",
                staged, num);
}

// The matrix of a tile, as an argument.
static void add_tile(RitzGpuEmitter *e, int s, bool is_derivative) {
  const int b = e->plan->spaces[s].basis;
  ritz_text_add(&e->text, "m + %d + tile * %d",
                (int)ritz_plan_gpu_tile_place(e->plan, e->target, b, is_derivative),
                (int)ritz_plan_gpu_tile_size(e->plan, b, is_derivative));
}

// ---- Points ----

// Calls `emit` for the values and the derivatives of a space.
static void each_kind(RitzGpuEmitter *e, int s, void (*emit)(RitzGpuEmitter *e, int s, bool is_derivative)) {
  for (int d = 0; d < 2; d++) {
    if (q_comp_of(e, s, d)) emit(e, s, d);
  }
}

static void declare(RitzGpuEmitter *e, int s, bool is_derivative) {
  ritz_text_add(&e->text, "      RitzReal %c%d[%d * %d * 4];\n", is_derivative ? 'w' : 'v', s,
                q_comp_of(e, s, is_derivative), (int)e->plan->spaces[s].num_comp);
}

static void add_product(RitzGpuEmitter *e, int s, bool is_derivative) {
  const bool is_input = e->plan->spaces[s].is_input;
  const char letter = is_derivative ? 'w' : 'v';
  ritz_text_add(&e->text, "      ritz_tile_%s(%d, %d, %d, m, ", is_input ? "get" : "add",
                q_comp_of(e, s, is_derivative), (int)e->plan->spaces[s].num_comp, of_row(e, s));
  add_tile(e, s, is_derivative);
  if (is_input)
    ritz_text_add(&e->text, ", a%d, %c%d);\n", s, letter, s);
  else
    ritz_text_add(&e->text, ", %c%d, a%d);\n", letter, s, s);
}

// Between the four of a tile and the two of a point.
static void add_point(RitzGpuEmitter *e, int s, bool is_derivative) {
  const char four = is_derivative ? 'w' : 'v', two = is_derivative ? 'g' : 'u';
  const int n = q_comp_of(e, s, is_derivative) * (int)e->plan->spaces[s].num_comp;
  if (e->plan->spaces[s].is_input)
    ritz_text_add(&e->text, "        ritz_tile_take(%d, point, %c%d, %c%d);\n", n, four, s, two, s);
  else
    ritz_text_add(&e->text, "        ritz_tile_give(%d, point, is_live, %c%d, %c%d);\n", n, two, s, four, s);
}

static void declare_space(RitzGpuEmitter *e, int s) { each_kind(e, s, declare); }
static void get_space(RitzGpuEmitter *e, int s) {
  declare_space(e, s);
  each_kind(e, s, add_product);
}
static void add_space(RitzGpuEmitter *e, int s) { each_kind(e, s, add_product); }
static void move_space(RitzGpuEmitter *e, int s) { each_kind(e, s, add_point); }

static void emit_tile(RitzGpuEmitter *e) {
  const int Q = (int)e->plan->Q;
  emit_each(e, true, get_space);
  emit_each(e, false, declare_space);
  ritz_text_add(&e->text,
                "      RITZ_UNROLL\n      for (int point = 0; point < 2; point++) {\n"
                "        const int at = (first + tile) * 8 + RITZ_TILE_COLUMN(point), is_live = at < %d;\n"
                "        L.points_line = is_live ? at : %d;\n",
                Q, Q - 1);
  emit_each(e, true, move_space);
  ritz_emit_gpu_points(e);
  emit_each(e, false, move_space);
  ritz_text_add(&e->text, "      }\n");
  emit_each(e, false, add_space);
  ritz_text_add(&e->text, "    }\n  }\n");
}

// ---- The kernel ----

void ritz_emit_gpu_tiles(RitzGpuEmitter *e) {
  ritz_emit_gpu_dense_registers(e);
  ritz_emit_gpu_simple_nodes(e);
  ritz_text_add(&e->text, "\n  // Nodes of dense bases\n");
  emit_each(e, true, emit_nodes);
  ritz_emit_gpu_finish_simple(e);
  emit_each(e, false, emit_sums);
  open_tiles(e);
  emit_tile(e);
  ritz_text_add(&e->text, "\n  // Sums to the nodes of dense bases\n");
  emit_each(e, false, emit_scatter);
}
