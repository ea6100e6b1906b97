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

// Opens a loop over the nodes of the thread, with the node and its element. first: the block's first one.
static void open_nodes(RitzGpuEmitter *e, int s, const char *first, const char *elem) {
  ritz_text_add(&e->text,
                "  RITZ_UNROLL\n  for (int i = 0; i < %d; i++) {\n"
                "    const int node = RITZ_TILE_COLUMN(i), is_node = node < %d;\n"
                "    const RitzLong %s = %s + L.points_elem + RITZ_TILE_SECOND(i) * RITZ_GROUPS;\n",
                4 * of_row(e, s), (int)tile_basis_of(e, s)->P, elem, first);
}

static void emit_nodes(RitzGpuEmitter *e, int s) {
  const int nc = (int)e->plan->spaces[s].num_comp, size = 4 * of_row(e, s);
  ritz_text_add(&e->text, "  RitzReal a%d[%d * %d];\n", s, nc, size);
  open_nodes(e, s, "first_elem", "own");
  ritz_text_add(&e->text,
                "    const RitzLong e = ritz_element(own, num_elem);\n    RitzReal nodes[%d];\n    ", nc);
  ritz_emit_gpu_gather(e, s, 1, 0, "e", "(is_node ? node : 0)", "nodes");
  ritz_text_add(&e->text, "    ritz_tile_keep(%d, %d, i, is_node, nodes, a%d);\n  }\n", nc, size, s);
}

static void emit_sums(RitzGpuEmitter *e, int s) {
  const int size = (int)e->plan->spaces[s].num_comp * 4 * of_row(e, s);
  ritz_text_add(&e->text, "  RitzReal a%d[%d];\n  ritz_tile_clear(%d, a%d);\n", s, size, size, s);
}

// Offsets of all nodes are read before the first addition, which would wait for each of them.
static bool has_offsets(const RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  return e->target->spaces[s].scatter == RITZ_SCATTER_ATOMIC &&
         space->restriction.type != CEED_RESTRICTION_STRIDED && !space->is_oriented &&
         !space->is_curl_oriented;
}

static void emit_offsets(RitzGpuEmitter *e, int s) {
  ritz_text_add(&e->text, "  CeedInt at%d[%d];\n", s, 4 * of_row(e, s));
  open_nodes(e, s, "anew", "own");
  ritz_text_add(&e->text, "    const RitzLong e = ritz_element(own, num_elem);\n    at%d[i] = RITZ_LOAD(", s);
  ritz_emit_gpu_offsets(e, s, "e", "(is_node ? node : 0)");
  ritz_text_add(&e->text, ");\n  }\n");
}

static void emit_scatter(RitzGpuEmitter *e, int s) {
  const int nc = (int)e->plan->spaces[s].num_comp, size = 4 * of_row(e, s);
  char stride[32];
  if (has_offsets(e, s)) emit_offsets(e, s);
  open_nodes(e, s, "anew", "e");
  ritz_text_add(&e->text,
                "    RitzReal nodes[%d];\n    ritz_take_lines(%d, %d, a%d, i, nodes);\n"
                "    ",
                nc, nc, size, s);
  if (has_offsets(e, s)) {
    ritz_emit_gpu_name_stride(e, s, 1, stride);
    ritz_text_add(&e->text, "if (is_node && e < num_elem) ritz_scatter_node%s(%d, nodes, at%d[i], %s, ",
                  ritz_gpu_suffix(e, s), nc, s, stride);
    ritz_emit_gpu_array(e, s, 0, "e");
    ritz_text_add(&e->text, ");\n");
  } else {
    ritz_emit_gpu_scatter(e, s, 1, 0, "is_node && e < num_elem", "e", "node", "nodes", false);
  }
  ritz_text_add(&e->text, "  }\n");
}

// ---- Copies to shared memory ----

static int num_tiles(const RitzGpuEmitter *e) { return (int)ritz_gpu_num_tiles(e->plan); }
static int num_staged(const RitzGpuEmitter *e) { return (int)e->target->num_staged_tiles; }

static void bring_matrix(RitzGpuEmitter *e, int b, bool is_derivative, const char *indent, const char *first,
                         const char *half) {
  const int place = (int)ritz_plan_gpu_tile_place(e->plan, e->target, b, is_derivative);
  const int size = (int)ritz_plan_gpu_tile_size(e->plan, b, is_derivative);
  const char *matrix = is_derivative ? "deriv" : "interp";
  if (!size) return;
  ritz_text_add(&e->text, "%sritz_tiles_bring(%d, %d, %s, %d, %s%d_tiles, m + %d%s);\n", indent, size,
                num_tiles(e), first, num_staged(e), matrix, b, place, half);
}

// Tiles from `first` on, as many as are there at once; half: where in shared memory, behind its beginning.
static void bring_matrices(RitzGpuEmitter *e, const char *indent, const char *first, const char *half) {
  for (int b = 0; b < e->plan->num_bases; b++) {
    bring_matrix(e, b, false, indent, first, half);
    bring_matrix(e, b, true, indent, first, half);
  }
}

// Data at the thread's points of a tile; which of two places, if there are two.
static void bring_data(RitzGpuEmitter *e, const char *indent, const char *tile, const char *place) {
  const int Q = (int)e->plan->Q;
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (!ritz_plan_gpu_is_ahead(e->plan, e->target, s)) continue;
    const int nc = (int)e->plan->spaces[s].num_comp;
    ritz_text_add(
        &e->text,
        "%sRITZ_UNROLL\n%sfor (int i = 0; i < 4; i++) {\n"
        "%s  const int at = %s * 8 + RITZ_TILE_COLUMN(i), point = at < %d ? at : %d;\n"
        "%s  const RitzLong own = first_elem + L.points_elem + RITZ_TILE_SECOND(i) * RITZ_GROUPS;\n"
        "%s  const RitzLong e = ritz_element(own, num_elem);\n"
        "%s  RITZ_UNROLL\n%s  for (int c = 0; c < %d; c++) {\n"
        "%s    RITZ_SHARED RitzReal *to = m + %d + ((%si) * %d + c) * RITZ_THREADS + RITZ_THREAD;\n%s    ",
        indent, indent, indent, tile, Q, Q - 1, indent, indent, indent, indent, nc, indent,
        (int)ritz_plan_gpu_ahead_place(e->plan, e->target, s), place, nc, indent);
    ritz_emit_gpu_copy_node(e, s, "e", "point", "c", "to");
    ritz_text_add(&e->text, "%s  }\n%s}\n", indent, indent);
  }
}

// Where there are two places, at once, else behind the last use of the data that are there.
static void bring_next_data(RitzGpuEmitter *e, const char *place) {
  ritz_text_add(&e->text, "    if (tile + 1 < %d) {\n", num_tiles(e));
  bring_data(e, "      ", "(tile + 1)", place);
  ritz_text_add(&e->text, "    }\n");
}

// Opens the loop over tiles. What a tile needs was brought while the tile before was worked on: matrices of
// as many tiles as are there at once, in turns to two halves.
static void open_tiles(RitzGpuEmitter *e) {
  const int num = num_tiles(e), staged = num_staged(e);
  const int size = (int)ritz_plan_gpu_tile_sizes(e->plan) * staged;
  char first[32], half[64];
  ritz_text_add(&e->text,
                "\n  // Tiles of eight points\n  RITZ_ROLL\n  for (int tile = 0; tile < %d; tile++) {\n",
                num);
  if (staged == num) {
    ritz_text_add(&e->text, "    RITZ_SHARED const RitzReal *blocks = m;\n    RITZ_COPIED();\n"
                            "    if (tile == 0) RITZ_BARRIER();\n");
    return;
  }
  snprintf(first, sizeof(first), "tile + %d", staged);
  snprintf(half, sizeof(half), " + (tile / %d + 1) %% 2 * %d", staged, size);
  ritz_text_add(&e->text,
                "    RITZ_SHARED const RitzReal *blocks = m + tile / %d %% 2 * %d;\n    RITZ_COPIED();\n"
                "    if (tile %% %d == 0) {\n      RITZ_BARRIER();\n",
                staged, size, staged);
  bring_matrices(e, "      ", first, half);
  ritz_text_add(&e->text, "    }\n");
}

// The matrix of a tile, as an argument.
static void add_tile(RitzGpuEmitter *e, int s, bool is_derivative) {
  const int b = e->plan->spaces[s].basis;
  ritz_text_add(&e->text, "blocks + %d + tile %% %d * %d",
                (int)ritz_plan_gpu_tile_place(e->plan, e->target, b, is_derivative), num_staged(e),
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
  ritz_text_add(&e->text, "    RitzReal %c%d[%d * %d * 4];\n", is_derivative ? 'w' : 'v', s,
                q_comp_of(e, s, is_derivative), (int)e->plan->spaces[s].num_comp);
}

static void add_product(RitzGpuEmitter *e, int s, bool is_derivative) {
  const bool is_input = e->plan->spaces[s].is_input;
  const char letter = is_derivative ? 'w' : 'v';
  ritz_text_add(&e->text, "    ritz_tile_%s(%d, %d, %d, m, ", is_input ? "get" : "add",
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
    ritz_text_add(&e->text, "      ritz_tile_take(%d, point, %c%d, %c%d);\n", n, four, s, two, s);
  else
    ritz_text_add(&e->text, "      ritz_tile_give(%d, point, is_live, %c%d, %c%d);\n", n, two, s, four, s);
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
  if (e->target->num_prefetched_tiles == 2) bring_next_data(e, "(tile + 1) % 2 * 4 + ");
  emit_each(e, true, get_space);
  emit_each(e, false, declare_space);
  ritz_text_add(&e->text,
                "    RITZ_UNROLL\n    for (int point = 0; point < 2; point++) {\n"
                "      const int at = tile * 8 + RITZ_TILE_COLUMN(point), is_live = at < %d;\n"
                "      L.points_line = is_live ? at : %d;\n",
                Q, Q - 1);
  emit_each(e, true, move_space);
  ritz_emit_gpu_points(e);
  emit_each(e, false, move_space);
  ritz_text_add(&e->text, "    }\n");
  if (e->target->num_prefetched_tiles == 1) bring_next_data(e, "");
  emit_each(e, false, add_space);
  ritz_text_add(&e->text, "  }\n");
}

// ---- The kernel ----

void ritz_emit_gpu_tiles(RitzGpuEmitter *e) {
  ritz_emit_gpu_dense_registers(e);
  ritz_text_add(&e->text, "\n  // The first matrices, and data at the first points\n");
  bring_matrices(e, "  ", "0", "");
  bring_data(e, "  ", "0", "");
  ritz_emit_gpu_simple_nodes(e);
  ritz_text_add(&e->text, "\n  // Nodes of dense bases\n");
  emit_each(e, true, emit_nodes);
  ritz_emit_gpu_finish_simple(e);
  emit_each(e, false, emit_sums);
  open_tiles(e);
  emit_tile(e);
  ritz_text_add(&e->text, "\n  // Sums to the nodes of dense bases\n"
                          "  const RitzLong anew = ritz_tile_anew(first_elem);\n");
  emit_each(e, false, emit_scatter);
}
