// SPDX-License-Identifier: BSD-2-Clause
// Vector bases of tensor products in fused kernels for devices (contract in emit/gpu-text.h, functions in
// kernels/gpu/lines.h and terms.h).
//
// A component's lines of nodes become points, and derivatives, along the direction of the lines, then along
// the first, then along the last: one array of shared memory for values and one for each derivative
// along another direction than the last (plan/gpu-vector.h).
#include <stdio.h>

#include "emit/gpu-text.h"
#include "plan/gpu-vector.h"

static const RitzPlanSpace *space_of(const RitzGpuEmitter *e, int s) { return &e->plan->spaces[s]; }
static const RitzPlanBasis *basis_of(const RitzGpuEmitter *e, int s) {
  return &e->plan->bases[space_of(e, s)->basis];
}

// Directions: of lines of nodes, of lines of points.
static int node_line(const RitzGpuEmitter *e) { return e->target->dim == 3 ? 1 : 0; }
static int last(const RitzGpuEmitter *e) { return (int)e->target->dim - 1; }
static const char *stride_of(int d) { return d == 2 ? "RITZ_PLANE" : d == 1 ? "RITZ_ROW" : "1"; }

// ---- Arguments of functions ----

// The matrix of component c along d, transposed where spaces are outputs.
static void add_matrix(RitzGpuEmitter *e, int s, bool is_derivative, CeedInt c, int d) {
  const RitzPlanBlock *block = &basis_of(e, s)->blocks[c];
  ritz_text_add(&e->text, "RITZ_M(ritz_line%d_%d%s)", space_of(e, s)->basis,
                is_derivative ? block->grad[d] : block->interp[d], space_of(e, s)->is_input ? "" : "_t");
}

static int find_array(const RitzGpuEmitter *e, int s, CeedInt c, int d) {
  return ritz_gpu_vector_array(e->plan, space_of(e, s), c, d);
}

// The array that lines of nodes leave their values in; -1: only the derivative along them is wanted.
static int find_values(const RitzGpuEmitter *e, int s, CeedInt c) {
  const int array = find_array(e, s, c, last(e));
  return array < 0 && e->target->dim == 3 ? find_array(e, s, c, 0) : array;
}

static void add_place(RitzGpuEmitter *e, int s, int array, const char *pass) {
  ritz_text_add(&e->text, ", m + %d * RITZ_ARRAY + L.%s",
                e->target->spaces[s].first_array + array * (int)space_of(e, s)->num_comp, pass);
}

// Registers of values of component c, or of a row of derivatives.
static void add_registers(RitzGpuEmitter *e, int s, char letter, CeedInt number) {
  ritz_text_add(&e->text, ", %c%d + %d", letter, s,
                (int)(number * space_of(e, s)->num_comp * e->target->Q_1d));
}

void ritz_emit_gpu_vector_registers(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = space_of(e, s);
  const int size = (int)(space->num_comp * e->target->Q_1d);
  if (ritz_gpu_has_values(space))
    ritz_text_add(&e->text, "  RitzReal u%d[%d * %d];\n", s, (int)basis_of(e, s)->q_comp_interp, size);
  if (space->modes & (CEED_EVAL_DIV | CEED_EVAL_CURL))
    ritz_text_add(&e->text, "  RitzReal g%d[%d * %d];\n", s, (int)basis_of(e, s)->q_comp_deriv, size);
}

// ---- Lines of nodes ----

static void open_nodes(RitzGpuEmitter *e, int s, CeedInt c) {
  ritz_text_add(&e->text, "    {\n      RitzReal nodes[%d * %d];\n", (int)space_of(e, s)->num_comp,
                (int)basis_of(e, s)->blocks[c].P[node_line(e)]);
}

static void name_first(const RitzGpuEmitter *e, int s, CeedInt c, const char *pass, char first[64]) {
  snprintf(first, 64, "L.%s_first + %d", pass, (int)basis_of(e, s)->blocks[c].first);
}

static CeedInt node_step(const RitzGpuEmitter *e, int s, CeedInt c) {
  return e->target->dim == 3 ? basis_of(e, s)->blocks[c].P[0] : 1;
}

// array = matrix * nodes, if there is such an array.
static void put_nodes(RitzGpuEmitter *e, int s, CeedInt c, bool is_derivative, int array, const char *pass) {
  if (array < 0) return;
  ritz_text_add(&e->text, "      ritz_put(");
  add_matrix(e, s, is_derivative, c, node_line(e));
  ritz_text_add(&e->text, ", %d, nodes", (int)space_of(e, s)->num_comp);
  add_place(e, s, array, pass);
  ritz_text_add(&e->text, ", %s);\n", stride_of(node_line(e)));
}

static void emit_nodes_in(RitzGpuEmitter *e, int s, CeedInt c, const char *pass) {
  char first[64];
  name_first(e, s, c, pass, first);
  open_nodes(e, s, c);
  ritz_text_add(&e->text, "      const RitzLong e = ritz_element(first_elem + L.%s_elem, num_elem);\n      ",
                pass);
  ritz_emit_gpu_gather(e, s, basis_of(e, s)->blocks[c].P[node_line(e)], node_step(e, s, c), "e", first,
                       "nodes");
  put_nodes(e, s, c, false, find_values(e, s, c), pass);
  put_nodes(e, s, c, true, find_array(e, s, c, node_line(e)), pass);
  ritz_text_add(&e->text, "    }\n");
}

// nodes = transposed matrices * arrays
static void get_nodes(RitzGpuEmitter *e, int s, CeedInt c, const char *pass) {
  const int values = find_values(e, s, c), derivatives = find_array(e, s, c, node_line(e));
  ritz_text_add(&e->text, "      ritz_get%s(", values >= 0 && derivatives >= 0 ? "_two" : "");
  if (values >= 0) add_matrix(e, s, false, c, node_line(e));
  if (values >= 0 && derivatives >= 0) ritz_text_add(&e->text, ", ");
  if (derivatives >= 0) add_matrix(e, s, true, c, node_line(e));
  ritz_text_add(&e->text, ", %d", (int)space_of(e, s)->num_comp);
  if (values >= 0) add_place(e, s, values, pass);
  if (derivatives >= 0) add_place(e, s, derivatives, pass);
  ritz_text_add(&e->text, ", %s, nodes);\n", stride_of(node_line(e)));
}

static void emit_nodes_out(RitzGpuEmitter *e, int s, CeedInt c, const char *pass) {
  char first[64];
  name_first(e, s, c, pass, first);
  open_nodes(e, s, c);
  get_nodes(e, s, c, pass);
  ritz_text_add(&e->text, "      const RitzLong e = first_elem + L.%s_elem;\n      ", pass);
  ritz_emit_gpu_scatter(e, s, basis_of(e, s)->blocks[c].P[node_line(e)], node_step(e, s, c), "e < num_elem",
                        "e", first, "nodes", false);
  ritz_text_add(&e->text, "    }\n");
}

void ritz_emit_gpu_vector_nodes(RitzGpuEmitter *e, int s, const RitzGpuPass *pass) {
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  for (CeedInt c = 0; c < e->target->dim; c++) {
    if (ritz_plan_gpu_pass_of(e->target, RITZ_PASS_NODES, basis_of(e, s)->blocks[c].P) != pass) continue;
    (space_of(e, s)->is_input ? emit_nodes_in : emit_nodes_out)(e, s, c, name);
  }
}

// ---- Lines along the first direction ----

static void open_move(RitzGpuEmitter *e, const char *how) {
  ritz_text_add(&e->text, "    ritz_move%s(", how);
}

static void close_move(RitzGpuEmitter *e, int s, int num, const int *arrays, const char *pass) {
  ritz_text_add(&e->text, ", %d", (int)space_of(e, s)->num_comp);
  for (int i = 0; i < num; i++) add_place(e, s, arrays[i], pass);
  ritz_text_add(&e->text, ", 1);\n");
}

// array = matrix * array, if there is such an array.
static void move_alone(RitzGpuEmitter *e, int s, CeedInt c, bool is_derivative, int array, const char *pass) {
  if (array < 0) return;
  open_move(e, "");
  add_matrix(e, s, is_derivative, c, 0);
  close_move(e, s, 2, (const int[]){array, array}, pass);
}

// Values and derivatives along the first direction from one array, or back.
static void move_both(RitzGpuEmitter *e, int s, CeedInt c, int values, int derivatives, const char *pass) {
  const bool is_input = space_of(e, s)->is_input;
  open_move(e, is_input ? "_two" : "_sum");
  add_matrix(e, s, false, c, 0);
  ritz_text_add(&e->text, ", ");
  add_matrix(e, s, true, c, 0);
  close_move(e, s, 3,
             is_input ? (const int[]){values, values, derivatives}
                      : (const int[]){values, derivatives, values},
             pass);
}

static void emit_middle(RitzGpuEmitter *e, int s, CeedInt c, const char *pass) {
  const int values = find_array(e, s, c, 2), derivatives = find_array(e, s, c, 0);
  if (values >= 0 && derivatives >= 0) {
    move_both(e, s, c, values, derivatives, pass);
  } else {
    move_alone(e, s, c, false, values, pass);
    move_alone(e, s, c, true, derivatives, pass);
  }
  move_alone(e, s, c, false, find_array(e, s, c, 1), pass);
}

void ritz_emit_gpu_vector_middle(RitzGpuEmitter *e, int s, const RitzGpuPass *pass) {
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  for (CeedInt c = 0; c < e->target->dim; c++) {
    if (basis_of(e, s)->blocks[c].P[2] == pass->nodes[2]) emit_middle(e, s, c, name);
  }
}

// ---- Lines of points ----

static void add_place_of(RitzGpuEmitter *e, int s, CeedInt c, int d) {
  add_place(e, s, find_array(e, s, c, d), "points");
}

// values = matrix * array
static void get_values(RitzGpuEmitter *e, int s, CeedInt c) {
  ritz_text_add(&e->text, "    ritz_get(");
  add_matrix(e, s, false, c, last(e));
  ritz_text_add(&e->text, ", %d", (int)space_of(e, s)->num_comp);
  add_place_of(e, s, c, last(e));
  ritz_text_add(&e->text, ", %s", stride_of(last(e)));
  add_registers(e, s, 'u', c);
  ritz_text_add(&e->text, ");\n");
}

// row = or += sign * matrix * array
static void get_row(RitzGpuEmitter *e, int s, CeedInt c, int d, bool adds) {
  const RitzPlanBlock *block = &basis_of(e, s)->blocks[c];
  ritz_text_add(&e->text, "    ritz_get_term(");
  add_matrix(e, s, d == last(e), c, last(e));
  ritz_text_add(&e->text, ", %d, %d, %d", block->sign[d], adds, (int)space_of(e, s)->num_comp);
  add_place_of(e, s, c, d);
  ritz_text_add(&e->text, ", %s", stride_of(last(e)));
  add_registers(e, s, 'g', block->row[d]);
  ritz_text_add(&e->text, ");\n");
}

void ritz_emit_gpu_vector_points_in(RitzGpuEmitter *e, int s) {
  bool has_row[3] = {false, false, false};
  for (CeedInt c = 0; c < e->target->dim; c++) {
    const RitzPlanBlock *block = &basis_of(e, s)->blocks[c];
    if (ritz_gpu_has_values(space_of(e, s))) get_values(e, s, c);
    for (int d = 0; d <= last(e); d++) {
      if (!ritz_gpu_wants_derivative(e->plan, space_of(e, s), c, d)) continue;
      get_row(e, s, c, d, has_row[block->row[d]]);
      has_row[block->row[d]] = true;
    }
  }
}

// array = matrix * values, or that + sign * other matrix * row
static void put_values(RitzGpuEmitter *e, int s, CeedInt c) {
  const RitzPlanBlock *block = &basis_of(e, s)->blocks[c];
  const bool has_row = ritz_gpu_wants_derivative(e->plan, space_of(e, s), c, last(e));
  ritz_text_add(&e->text, "    ritz_put%s(", has_row ? "_terms" : "");
  add_matrix(e, s, false, c, last(e));
  if (has_row) {
    ritz_text_add(&e->text, ", ");
    add_matrix(e, s, true, c, last(e));
    ritz_text_add(&e->text, ", %d", block->sign[last(e)]);
  }
  ritz_text_add(&e->text, ", %d", (int)space_of(e, s)->num_comp);
  add_registers(e, s, 'u', c);
  if (has_row) add_registers(e, s, 'g', block->row[last(e)]);
  add_place_of(e, s, c, last(e));
  ritz_text_add(&e->text, ", %s);\n", stride_of(last(e)));
}

// array = sign * matrix * row
static void put_row(RitzGpuEmitter *e, int s, CeedInt c, int d) {
  const RitzPlanBlock *block = &basis_of(e, s)->blocks[c];
  ritz_text_add(&e->text, "    ritz_put_term(");
  add_matrix(e, s, d == last(e), c, last(e));
  ritz_text_add(&e->text, ", %d, %d", block->sign[d], (int)space_of(e, s)->num_comp);
  add_registers(e, s, 'g', block->row[d]);
  add_place_of(e, s, c, d);
  ritz_text_add(&e->text, ", %s);\n", stride_of(last(e)));
}

void ritz_emit_gpu_vector_points_out(RitzGpuEmitter *e, int s) {
  const bool has_values = ritz_gpu_has_values(space_of(e, s));
  for (CeedInt c = 0; c < e->target->dim; c++) {
    if (has_values) put_values(e, s, c);
    for (int d = 0; d <= last(e); d++) {
      if (has_values && d == last(e)) continue;
      if (ritz_gpu_wants_derivative(e->plan, space_of(e, s), c, d)) put_row(e, s, c, d);
    }
  }
}

// ---- Templates and tables ----

void ritz_emit_gpu_vector_sizes(RitzGpuEmitter *e) {
  bool has_terms = false;
  for (int s = 0; s < e->plan->num_spaces; s++)
    has_terms |= ritz_gpu_has_vector(e, s) && ritz_gpu_dense_derivatives(e->plan, space_of(e, s)) > 0;
  if (has_terms) ritz_text_add(&e->text, "#include \"kernels/gpu/terms.h\"\n");
}

static void emit_heading(RitzGpuEmitter *e, int b) {
  const RitzPlanBasis *basis = &e->plan->bases[b];
  ritz_text_add(&e->text, "\n// ---- Basis %d: vectors in %dD, %d points a direction; nodes of components", b,
                (int)basis->dim, (int)basis->Q_1d);
  for (CeedInt c = 0; c < basis->dim; c++) {
    const CeedInt *P = basis->blocks[c].P;
    ritz_text_add(&e->text, "%s %d x %d", c ? "," : "", (int)P[0], (int)P[1]);
    if (basis->dim == 3) ritz_text_add(&e->text, " x %d", (int)P[2]);
  }
  ritz_text_add(&e->text, "; each derivative from the nodes ----\n");
}

int ritz_emit_gpu_vector_basis(RitzGpuEmitter *e, int b) {
  char name[48];
  emit_heading(e, b);
  for (int k = 0; k < 2 * e->plan->bases[b].num_lines; k++) {
    const int line = k / 2, transposed = k % 2;
    if (!ritz_gpu_uses_line(e->plan, b, !transposed, line)) continue;
    snprintf(name, sizeof(name), "ritz_line%d_%d%s", b, line, transposed ? "_t" : "");
    RITZ_TRY(ritz_emit_gpu_matrix(e, name, &e->plan->bases[b].lines[line], transposed));
  }
  ritz_emit_gpu_weights(e, b);
  return CEED_ERROR_SUCCESS;
}
