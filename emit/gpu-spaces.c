// SPDX-License-Identifier: BSD-2-Clause
// Spaces in fused kernels for devices: from L-vectors to the points and back (contract in emit/gpu-text.h).
#include <stdio.h>
#include <string.h>

#include "emit/gpu-text.h"

static const RitzPlanBasis *space_basis_of(const RitzGpuEmitter *e, int s) {
  return &e->plan->bases[e->plan->spaces[s].basis];
}

static int num_comp_of(const RitzGpuEmitter *e, int s) {
  return (int)ritz_gpu_num_comp(e->target, &e->plan->spaces[s]);
}

// Nodes come in as lines of their own pass; else the thread of a line of points reads it.
static bool has_node_lines(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_has_tensor(e, s) && e->target->dim > 1 && ritz_gpu_route(e, s) != RITZ_ROUTE_IDENTITY;
}

static bool is_identity(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_route(e, s) == RITZ_ROUTE_IDENTITY;
}

// Strides from entry to entry of lines along the direction that a pass of nodes, of points has.
static const char *node_stride(const RitzGpuEmitter *e) { return e->target->dim == 3 ? "RITZ_ROW" : "1"; }
static const char *point_stride(const RitzGpuEmitter *e) {
  return e->target->dim == 3 ? "RITZ_PLANE" : e->target->dim == 2 ? "RITZ_ROW" : "1";
}

// ---- Several vectors ----

enum { NAME_LENGTH = 64 };

// Whether every vector has an array of its own for the space.
static bool is_of_each(const RitzGpuEmitter *e, int s) {
  return e->target->takes_many && e->plan->spaces[s].is_active;
}

void ritz_emit_gpu_array(RitzGpuEmitter *e, int s, int k, const char *elem) {
  const char letter = e->plan->spaces[s].is_input ? 'x' : 'y';
  if (is_of_each(e, s))
    ritz_text_add(&e->text, "RITZ_VECTOR(%c%d, %s, %d)", letter, s, elem, k);
  else
    ritz_text_add(&e->text, "%c%d", letter, s);
}

// The number of the element `elem` (text) of the kernel in arrays that all vectors have in common, and in its
// own.
static void name_element(const RitzGpuEmitter *e, const char *elem, char name[NAME_LENGTH]) {
  snprintf(name, NAME_LENGTH, e->target->takes_many ? "RITZ_OWN(%s)" : "%s", elem);
}

// ---- Arguments of the kernel ----

static void add_stride(RitzGpuEmitter *e, const char *name, int s) {
  ritz_text_add(&e->text, ",\n    RitzLong %s_stride%d", name, s);
}

static void add_matrix_parameter(RitzGpuEmitter *e, const char *kind, int b, const char *suffix) {
  ritz_text_add(&e->text, ",\n    RITZ_GLOBAL const RitzReal *RITZ_RESTRICT %s%d%s", kind, b, suffix);
}

static void add_parameter(RitzGpuEmitter *e, const RitzGpuArg *arg) {
  const int n = arg->number;
  switch (arg->kind) {
  case RITZ_GPU_ARG_ARRAY:
    ritz_text_add(&e->text,
                  e->plan->spaces[n].is_input ? ",\n    RITZ_GLOBAL const %s *x%d"
                                              : ",\n    RITZ_GLOBAL %s *y%d",
                  ritz_gpu_entry(e, n), n);
    if (is_of_each(e, n)) ritz_text_add(&e->text, "_%d", arg->vector);
    break;
  case RITZ_GPU_ARG_OFFSETS:
    ritz_text_add(&e->text, ",\n    RITZ_GLOBAL const CeedInt *RITZ_RESTRICT %s%d",
                  e->target->spaces[n].row_length ? "rows" : "offsets", n);
    break;
  case RITZ_GPU_ARG_ORIENTS:
    ritz_text_add(&e->text, ",\n    RITZ_GLOBAL const CeedInt8 *RITZ_RESTRICT orients%d", n);
    break;
  case RITZ_GPU_ARG_NODE_STRIDE: add_stride(e, "node", n); break;
  case RITZ_GPU_ARG_COMP_STRIDE: add_stride(e, "comp", n); break;
  case RITZ_GPU_ARG_ELEM_STRIDE: add_stride(e, "elem", n); break;
  case RITZ_GPU_ARG_INTERP: add_matrix_parameter(e, "interp", n, ""); break;
  case RITZ_GPU_ARG_DERIV: add_matrix_parameter(e, "deriv", n, ""); break;
  case RITZ_GPU_ARG_INTERP_T: add_matrix_parameter(e, "interp", n, "_t"); break;
  case RITZ_GPU_ARG_DERIV_T: add_matrix_parameter(e, "deriv", n, "_t"); break;
  case RITZ_GPU_ARG_INTERP_TILES: add_matrix_parameter(e, "interp", n, "_tiles"); break;
  case RITZ_GPU_ARG_DERIV_TILES: add_matrix_parameter(e, "deriv", n, "_tiles"); break;
  case RITZ_GPU_ARG_ENERGIES: ritz_text_add(&e->text, ",\n    RITZ_GLOBAL double *energies"); break;
  case RITZ_GPU_ARG_VECTORS: ritz_text_add(&e->text, ",\n    int num_vectors"); break;
  case RITZ_GPU_ARG_COLUMN: ritz_text_add(&e->text, ",\n    int column"); break;
  }
}

void ritz_emit_gpu_parameters(RitzGpuEmitter *e) {
  for (int i = 0; i < e->target->num_args; i++) add_parameter(e, &e->target->args[i]);
}

// The number of a stride, or the argument that has it.
void ritz_emit_gpu_name_stride(const RitzGpuEmitter *e, int s, int d, char name[32]) {
  static const char *const names[] = {"node", "comp", "elem"};
  const CeedInt stride = e->target->spaces[s].strides[d];
  if (stride)
    snprintf(name, 32, "%d", (int)stride);
  else
    snprintf(name, 32, "%s_stride%d", names[d], s);
}

// ---- Between L-vectors and registers ----

// Orientations of the line, if any, as an argument; what curl-oriented nodes need before.
static void add_orients(RitzGpuEmitter *e, int s, const char *elem, const char *first) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const char *factor = space->is_curl_oriented ? "3 * " : "";
  char own[NAME_LENGTH];
  if (!space->is_oriented && !space->is_curl_oriented) return;
  name_element(e, elem, own);
  ritz_text_add(&e->text, ", orients%d + %s(%s * %d + %s)", s, factor, own, (int)space->num_nodes, first);
}

// The array of the space at the row of the line, as an argument; the offsets of its nodes' rows; the step
// from row to row.
static void add_row_array(RitzGpuEmitter *e, int s, int k, const char *elem, const char *first) {
  const RitzGpuSpace *g = &e->target->spaces[s];
  ritz_emit_gpu_array(e, s, k, elem);
  if (g->row_length)
    ritz_text_add(&e->text, " + (%s) %% %d * %d", first, (int)g->row_length, (int)g->row_step);
}

void ritz_emit_gpu_offsets(RitzGpuEmitter *e, int s, const char *elem, const char *first) {
  const int num_nodes = (int)e->plan->spaces[s].num_nodes, length = (int)e->target->spaces[s].row_length;
  char own[NAME_LENGTH];
  name_element(e, elem, own);
  if (length)
    ritz_text_add(&e->text, "rows%d + %s * %d + (%s) / %d", s, own, num_nodes / length, first, length);
  else
    ritz_text_add(&e->text, "offsets%d + %s * %d + %s", s, own, num_nodes, first);
}

static int row_step(const RitzGpuEmitter *e, int s, CeedInt step) {
  const CeedInt length = e->target->spaces[s].row_length;
  return (int)(length ? step / length : step);
}

// A function's name for this space: ritz_gather_oriented_f64.
static void add_name(RitzGpuEmitter *e, int s, const char *name) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  ritz_text_add(&e->text, "%s%s%s", name,
                space->is_curl_oriented ? "_curl_oriented"
                : space->is_oriented    ? "_oriented"
                                        : "",
                ritz_gpu_suffix(e, s));
}

static void add_curl_sizes(RitzGpuEmitter *e, int s, const char *first) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  if (space->is_curl_oriented) ritz_text_add(&e->text, ", (int)(%s), %d", first, (int)space->num_nodes);
}

// The place of node `first` of the element in the array of a strided space, as an argument.
static void add_strided_array(RitzGpuEmitter *e, int s, int k, const char *elem, const char *first) {
  char own[NAME_LENGTH], node[32], stride[32];
  name_element(e, elem, own);
  ritz_emit_gpu_name_stride(e, s, 0, node);
  ritz_emit_gpu_name_stride(e, s, 2, stride);
  ritz_emit_gpu_array(e, s, k, elem);
  ritz_text_add(&e->text, " + %s * %s + (%s) * %s", own, stride, first, node);
}

// Registers `name` of vector number k of the thread, which have n places for each component.
static void add_registers(RitzGpuEmitter *e, int s, int k, CeedInt n, const char *name) {
  ritz_text_add(&e->text, k ? "%s + %d" : "%s", name, k * (int)(e->plan->spaces[s].num_comp * n));
}

static int num_held_vectors(const RitzGpuEmitter *e, int s) {
  return e->plan->spaces[s].is_active ? (int)e->target->vectors_per_thread : 1;
}

static void gather_one(RitzGpuEmitter *e, int s, int k, CeedInt n, CeedInt step, const char *elem,
                       const char *first, const char *name) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int nc = (int)space->num_comp;
  char node[32], comp[32];
  ritz_emit_gpu_name_stride(e, s, 1, comp);
  if (space->restriction.type != CEED_RESTRICTION_STRIDED) {
    add_name(e, s, "ritz_gather");
    ritz_text_add(&e->text, "(%d, %d, %d", nc, (int)n, row_step(e, s, step));
    add_curl_sizes(e, s, first);
    ritz_text_add(&e->text, ", ");
    add_row_array(e, s, k, elem, first);
    ritz_text_add(&e->text, ", ");
    ritz_emit_gpu_offsets(e, s, elem, first);
    add_orients(e, s, elem, first);
    ritz_text_add(&e->text, ", %s, ", comp);
    add_registers(e, s, k, n, name);
    ritz_text_add(&e->text, ");\n");
    return;
  }
  ritz_emit_gpu_name_stride(e, s, 0, node);
  ritz_text_add(&e->text, "ritz_gather_strided%s(%d, %d, %d * %s, ", ritz_gpu_suffix(e, s), nc, (int)n,
                (int)step, node);
  add_strided_array(e, s, k, elem, first);
  ritz_text_add(&e->text, ", %s, ", comp);
  add_registers(e, s, k, n, name);
  ritz_text_add(&e->text, ");\n");
}

void ritz_emit_gpu_gather(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *elem,
                          const char *first, const char *name) {
  for (int k = 0; k < num_held_vectors(e, s); k++) {
    ritz_text_add(&e->text, k ? "      " : "");
    gather_one(e, s, k, n, step, elem, first, name);
  }
}

void ritz_emit_gpu_copy_node(RitzGpuEmitter *e, int s, const char *elem, const char *node, const char *comp,
                             const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const char *copy = ritz_gpu_is_converted(e, s) ? "RITZ_CONVERT" : "RITZ_COPY";
  char strides[3][32], own[NAME_LENGTH];
  for (int d = 0; d < 3; d++) ritz_emit_gpu_name_stride(e, s, d, strides[d]);
  if (space->restriction.type == CEED_RESTRICTION_STRIDED) {
    name_element(e, elem, own);
    ritz_text_add(&e->text, "%s(%s, ", copy, to);
    ritz_emit_gpu_array(e, s, 0, elem);
    ritz_text_add(&e->text, " + %s * %s + %s * %s + %s * %s);\n", own, strides[2], node, strides[0], comp,
                  strides[1]);
  } else if (!space->is_oriented && !space->is_curl_oriented) {
    ritz_text_add(&e->text, "%s(%s, ", copy, to);
    ritz_emit_gpu_array(e, s, 0, elem);
    ritz_text_add(&e->text, " + RITZ_LOAD(");
    ritz_emit_gpu_offsets(e, s, elem, node);
    ritz_text_add(&e->text, ") + %s * %s);\n", comp, strides[1]);
  } else {
    ritz_text_add(&e->text, "RitzReal value;\n    ");
    add_name(e, s, "ritz_gather");
    ritz_text_add(&e->text, "(1, 1, 0");
    add_curl_sizes(e, s, node);
    ritz_text_add(&e->text, ", ");
    ritz_emit_gpu_array(e, s, 0, elem);
    ritz_text_add(&e->text, " + %s * %s, ", comp, strides[1]);
    ritz_emit_gpu_offsets(e, s, elem, node);
    add_orients(e, s, elem, node);
    ritz_text_add(&e->text, ", %s, &value);\n    *%s = value;\n", strides[1], to);
  }
}

static void scatter_one(RitzGpuEmitter *e, int s, int k, CeedInt n, CeedInt step, const char *elem,
                        const char *first, const char *name, bool adds) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzGpuScatter scatter = e->target->spaces[s].scatter;
  const int nc = (int)space->num_comp;
  char node[32], comp[32];
  ritz_emit_gpu_name_stride(e, s, 1, comp);
  if (scatter == RITZ_SCATTER_ATOMIC && space->restriction.type != CEED_RESTRICTION_STRIDED) {
    add_name(e, s, "ritz_scatter");
    ritz_text_add(&e->text, "(%d, %d, %d", nc, (int)n, row_step(e, s, step));
    add_curl_sizes(e, s, first);
    ritz_text_add(&e->text, ", ");
    add_registers(e, s, k, n, name);
    ritz_text_add(&e->text, ", ");
    ritz_emit_gpu_offsets(e, s, elem, first);
    add_orients(e, s, elem, first);
    ritz_text_add(&e->text, ", %s, ", comp);
    add_row_array(e, s, k, elem, first);
    ritz_text_add(&e->text, ");\n");
    return;
  }
  ritz_emit_gpu_name_stride(e, s, 0, node);
  ritz_text_add(&e->text, "%s%s(%d, %d, %d * %s, ",
                scatter == RITZ_SCATTER_ATOMIC ? "ritz_scatter_strided" : "ritz_store", ritz_gpu_suffix(e, s),
                nc, (int)n, (int)step, node);
  add_registers(e, s, k, n, name);
  ritz_text_add(&e->text, ", %s, ", comp);
  if (scatter != RITZ_SCATTER_ATOMIC) ritz_text_add(&e->text, "%d, ", adds || scatter == RITZ_SCATTER_OWN);
  add_strided_array(e, s, k, elem, first);
  ritz_text_add(&e->text, ");\n");
}

// The last thread of an element may have places for more vectors than there are.
void ritz_emit_gpu_scatter(RitzGpuEmitter *e, int s, CeedInt n, CeedInt step, const char *when,
                           const char *elem, const char *first, const char *name, bool adds) {
  const int num = num_held_vectors(e, s);
  for (int k = 0; k < num; k++) {
    ritz_text_add(&e->text, k ? "      if (%s" : "if (%s", when);
    if (k > 0) ritz_text_add(&e->text, " && RITZ_HAS_VECTOR(%s, %d)", elem, k);
    ritz_text_add(&e->text, ") ");
    scatter_one(e, s, k, n, step, elem, first, name, adds);
  }
}

// ---- Passes ----

// Name of a pass in the table of lines.
void ritz_emit_gpu_name_pass(const RitzGpuPass *pass, char name[32]) {
  static const char *const names[] = {"nodes", "middle", "points", "rows", "columns"};
  const CeedInt *P = pass->nodes;
  const CeedInt last = P[2] ? P[2] : P[1];
  if (pass->kind == RITZ_PASS_NODES && (P[0] != P[1] || P[0] != last))
    snprintf(name, 32, P[2] ? "nodes%dx%dx%d" : "nodes%dx%d", (int)P[0], (int)P[1], (int)P[2]);
  else if (last)
    snprintf(name, 32, "%s%d", names[pass->kind], (int)last);
  else
    snprintf(name, 32, "%s", names[pass->kind]);
}

// Opens a block for the threads that have a line, or for all, which then do without; of several rounds a
// loop.
void ritz_emit_gpu_open_pass(RitzGpuEmitter *e, const RitzGpuPass *pass, const char *what) {
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  ritz_text_add(&e->text, "\n  // %s\n", what);
  if (pass->num_rounds > 1)
    ritz_text_add(&e->text, "  for (int round = 0; round < %d; round++) {\n", pass->num_rounds);
  if (pass->is_mma)
    ritz_text_add(&e->text, pass->num_rounds > 1 ? "" : "  {\n");
  else if (pass->num_rounds > 1)
    ritz_text_add(&e->text,
                  "    const RitzLines L = ritz_lines[round * RITZ_THREADS + RITZ_THREAD];\n"
                  "    if (L.%s == RITZ_IDLE) continue;\n",
                  name);
  else
    ritz_text_add(&e->text, "  if (L.%s != RITZ_IDLE) {\n", name);
}

void ritz_emit_gpu_close_pass(RitzGpuEmitter *e) { ritz_text_add(&e->text, "  }\n"); }
void ritz_emit_gpu_barrier(RitzGpuEmitter *e) { ritz_text_add(&e->text, "  RITZ_BARRIER();\n"); }

// The place of array `number` in a pass, as an argument.
static void add_place(RitzGpuEmitter *e, int number, const char *pass) {
  ritz_text_add(&e->text, ", m + %d * RITZ_ARRAY + L.%s", number, pass);
}

// Lines of a pass from arrays to arrays. how: "" from one to another, "_two" to two others, "_sum" from two
// to another; matrices are transposed where spaces are outputs.
static void emit_move(RitzGpuEmitter *e, int s, const RitzGpuPass *pass, const char *how,
                      const RitzTextTable *matrices, const int *arrays, const char *stride) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int num = ritz_num_text_tables(matrices) + 1;
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  ritz_text_add(&e->text, "    ritz_move%s%s(", how, pass->is_mma ? "_mma" : "");
  for (const RitzTextTable *matrix = matrices; *matrix; matrix++)
    ritz_text_add(&e->text, "%s(ritz_%s%d%s), ", pass->is_mma ? "RITZ_L" : "RITZ_M",
                  ritz_text_table_name(*matrix), space->basis, space->is_input ? "" : "_t");
  ritz_text_add(&e->text, "%d", num_comp_of(e, s));
  if (pass->is_mma)
    ritz_text_add(&e->text, ", m, ritz_lines[%sRITZ_THREAD].%s",
                  pass->num_rounds > 1 ? "round * RITZ_THREADS + " : "", name);
  for (int i = 0; i < num; i++) {
    if (pass->is_mma)
      ritz_text_add(&e->text, ", %d * RITZ_ARRAY", arrays[i]);
    else
      add_place(e, arrays[i], name);
  }
  ritz_text_add(&e->text, ", %s);\n", stride);
}

static bool has_space(const RitzGpuEmitter *e, bool is_input,
                      bool (*is_one)(const RitzGpuEmitter *e, int s)) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input == is_input && is_one(e, s)) return true;
  }
  return false;
}

static int shared_array_of(const RitzGpuEmitter *e, int s, int k) {
  return e->target->spaces[s].first_array + k * num_comp_of(e, s);
}

static bool is_direct_gradient(const RitzGpuEmitter *e, int s) {
  return ritz_gpu_has_gradient(&e->plan->spaces[s]) && ritz_gpu_route(e, s) == RITZ_ROUTE_DIRECT;
}

typedef void (*EmitSpace)(RitzGpuEmitter *e, int s, const RitzGpuPass *pass);

// Whether lines of the space, or of some of its components, are those of a pass of nodes or middle lines.
static bool has_pass(const RitzGpuEmitter *e, int s, const RitzGpuPass *pass) {
  const RitzPlanBasis *b = space_basis_of(e, s);
  bool has = false;
  if (!ritz_gpu_has_vector(e, s)) return ritz_plan_gpu_pass(e->target, pass->kind, b->P_1d) == pass;
  for (CeedInt c = 0; c < b->dim; c++)
    has |= ritz_plan_gpu_pass_of(e->target, pass->kind, b->blocks[c].P) == pass;
  return has;
}

// A pass of node lines or middle lines for each number of nodes, over the spaces that have it.
static void emit_passes(RitzGpuEmitter *e, RitzPassKind kind, bool is_input, const char *what,
                        EmitSpace emit) {
  bool is_any = false;
  for (int i = 0; i < e->target->num_passes; i++) {
    const RitzGpuPass *pass = &e->target->passes[i];
    bool is_open = false;
    if (pass->kind != kind) continue;
    for (int s = 0; s < e->plan->num_spaces; s++) {
      const RitzPlanSpace *space = &e->plan->spaces[s];
      if (space->is_input != is_input || !has_node_lines(e, s) || !has_pass(e, s, pass)) continue;
      if (!is_open) ritz_emit_gpu_open_pass(e, pass, what);
      is_open = is_any = true;
      emit(e, s, pass);
    }
    if (is_open) ritz_emit_gpu_close_pass(e);
  }
  if (is_any && is_input) ritz_emit_gpu_input_barrier(e);
}

// ---- Inputs ----

static void emit_nodes_in(RitzGpuEmitter *e, int s, const RitzGpuPass *lines) {
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_nodes(e, s, lines);
    return;
  }
  const RitzPlanBasis *b = space_basis_of(e, s);
  const int nc = num_comp_of(e, s), P = (int)b->P_1d, n = e->plan->spaces[s].basis;
  char pass[32], elem[96], first[64];
  ritz_emit_gpu_name_pass(lines, pass);
  snprintf(elem, sizeof(elem), "ritz_element(first_elem + L.%s_elem, num_elem)", pass);
  snprintf(first, sizeof(first), "L.%s_first", pass);
  ritz_text_add(&e->text, "    {\n      RitzReal nodes[%d * %d];\n      const RitzLong e = %s;\n      ", nc,
                P, elem);
  ritz_emit_gpu_gather(e, s, P, e->target->dim == 3 ? P : 1, "e", first, "nodes");
  ritz_text_add(&e->text, "      ritz_put(RITZ_M(ritz_interp%d), %d, nodes", n, nc);
  add_place(e, shared_array_of(e, s, 0), pass);
  ritz_text_add(&e->text, ", %s);\n", node_stride(e));
  if (is_direct_gradient(e, s)) {
    ritz_text_add(&e->text, "      ritz_put(RITZ_M(ritz_grad%d), %d, nodes", n, nc);
    add_place(e, shared_array_of(e, s, 1), pass);
    ritz_text_add(&e->text, ", %s);\n", node_stride(e));
  }
  ritz_text_add(&e->text, "    }\n");
}

static void emit_middle_in(RitzGpuEmitter *e, int s, const RitzGpuPass *pass) {
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_middle(e, s, pass);
    return;
  }
  const int first = shared_array_of(e, s, 0), second = shared_array_of(e, s, 1),
            third = shared_array_of(e, s, 2);
  if (!is_direct_gradient(e, s)) {
    emit_move(e, s, pass, "", RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), (const int[]){first, first}, "1");
    return;
  }
  emit_move(e, s, pass, "_two", RITZ_TEXT_TABLES(RITZ_TEXT_INTERP, RITZ_TEXT_GRAD),
            (const int[]){first, first, third}, "1");
  emit_move(e, s, pass, "", RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), (const int[]){second, second}, "1");
}

// name = matrix of array k, along the line of points.
static void emit_get(RitzGpuEmitter *e, int s, RitzTextTable matrix, int k, const char *name) {
  ritz_text_add(&e->text, "    ritz_get(RITZ_M(ritz_%s%d), %d", ritz_text_table_name(matrix),
                e->plan->spaces[s].basis, num_comp_of(e, s));
  add_place(e, shared_array_of(e, s, k), "points");
  ritz_text_add(&e->text, ", %s, %s);\n", point_stride(e), name);
}

static void emit_direct_points(RitzGpuEmitter *e, int s) {
  const int dim = (int)e->target->dim, size = num_comp_of(e, s) * (int)e->target->Q_1d;
  char name[48];
  if (ritz_gpu_has_values(&e->plan->spaces[s])) {
    snprintf(name, sizeof(name), "u%d", s);
    emit_get(e, s, RITZ_TEXT_INTERP, 0, name);
  }
  if (!ritz_gpu_has_gradient(&e->plan->spaces[s])) return;
  for (int d = 0; d < dim; d++) {
    const int array = d == dim - 1 ? 0 : dim == 3 && d == 0 ? 2 : 1;
    snprintf(name, sizeof(name), "g%d + %d", s, d * size);
    emit_get(e, s, d == dim - 1 ? RITZ_TEXT_GRAD : RITZ_TEXT_INTERP, array, name);
  }
}

// The thread reads its own line of nodes: in one dimension, or where nodes are points.
static void emit_own_line_in(RitzGpuEmitter *e, int s) {
  const RitzPlanBasis *b = space_basis_of(e, s);
  const int nc = num_comp_of(e, s), n = e->plan->spaces[s].basis, P = (int)b->P_1d;
  char name[48];
  snprintf(name, sizeof(name), is_identity(e, s) ? "u%d" : "n%d", s);
  if (!is_identity(e, s)) ritz_text_add(&e->text, "    RitzReal n%d[%d * %d];\n", s, nc, P);
  ritz_text_add(&e->text, "    ");
  ritz_emit_gpu_gather(e, s, P, (CeedInt)e->target->num_lines, "elem", "L.points_line", name);
  if (is_identity(e, s)) return;
  if (ritz_gpu_has_values(&e->plan->spaces[s]) || ritz_gpu_is_collocated(e, s))
    ritz_text_add(&e->text, "    ritz_apply(RITZ_M(ritz_interp%d), %d, n%d, u%d);\n", n, nc, s, s);
  if (is_direct_gradient(e, s))
    ritz_text_add(&e->text, "    ritz_apply(RITZ_M(ritz_grad%d), %d, n%d, g%d);\n", n, nc, s, s);
}

// Values and the derivative along the line; values go to the rows and columns.
static void emit_collocated_points(RitzGpuEmitter *e, int s) {
  const int nc = num_comp_of(e, s), n = e->plan->spaces[s].basis;
  ritz_text_add(&e->text, "    ritz_apply(RITZ_M(ritz_collocated%d), %d, u%d, g%d);\n", n, nc, s, s);
  if (e->target->dim == 1) return;
  ritz_text_add(&e->text, "    ritz_keep(%d, %d, u%d", nc, (int)e->target->Q_1d, s);
  add_place(e, shared_array_of(e, s, 0), "points");
  ritz_text_add(&e->text, ", %s);\n", point_stride(e));
}

static void emit_points_in(RitzGpuEmitter *e, int s) {
  char name[48];
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_points_in(e, s);
  } else if (!has_node_lines(e, s)) {
    emit_own_line_in(e, s);
  } else if (ritz_gpu_is_collocated(e, s)) {
    snprintf(name, sizeof(name), "u%d", s);
    emit_get(e, s, RITZ_TEXT_INTERP, 0, name);
  } else {
    emit_direct_points(e, s);
  }
  if (ritz_gpu_is_collocated(e, s)) emit_collocated_points(e, s);
}

// Registers of the lines of points, for all threads.
static void emit_registers(RitzGpuEmitter *e) {
  const int Q = (int)e->target->Q_1d, dim = (int)e->target->dim;
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    const int nc = num_comp_of(e, s);
    if (!ritz_gpu_has_tensor(e, s)) continue;
    if (ritz_gpu_has_vector(e, s)) {
      ritz_emit_gpu_vector_registers(e, s);
      continue;
    }
    if (ritz_gpu_has_values(space) || ritz_gpu_is_collocated(e, s))
      ritz_text_add(&e->text, "  RitzReal u%d[%d * %d];\n", s, nc, Q);
    if (ritz_gpu_is_collocated(e, s))
      ritz_text_add(&e->text, "  RitzReal g%d[%d * %d];\n", s, nc, Q);
    else if (ritz_gpu_has_gradient(space))
      ritz_text_add(&e->text, "  RitzReal g%d[%d * %d * %d];\n", s, dim, nc, Q);
  }
}

// One pass over rows or columns of points, `is_input` from the values, else in place and transposed.
static void emit_derivatives(RitzGpuEmitter *e, int d, bool is_input) {
  const RitzGpuPass *pass = ritz_plan_gpu_pass(e->target, d == 0 ? RITZ_PASS_ROWS : RITZ_PASS_COLUMNS, 0);
  ritz_emit_gpu_open_pass(
      e, pass, d == 0 ? "Derivatives along rows of points" : "Derivatives along columns of points");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (space->is_input != is_input || !ritz_gpu_is_collocated(e, s)) continue;
    const int to = ritz_gpu_derivative_array(e, s, d);
    emit_move(e, s, pass, "", RITZ_TEXT_TABLES(RITZ_TEXT_COLLOCATED),
              (const int[]){is_input ? shared_array_of(e, s, 0) : to, to}, d == 0 ? "1" : "RITZ_ROW");
  }
  ritz_emit_gpu_close_pass(e);
}

static void emit_all_derivatives(RitzGpuEmitter *e, bool is_input) {
  void (*barrier)(RitzGpuEmitter *) = is_input ? ritz_emit_gpu_input_barrier : ritz_emit_gpu_barrier;
  barrier(e);
  for (int d = 0; d < e->target->dim - 1; d++) emit_derivatives(e, d, is_input);
  barrier(e);
}

static bool needs_rows(const RitzGpuEmitter *e, int s) {
  return e->target->dim > 1 && ritz_gpu_is_collocated(e, s);
}

static bool has_tensor(const RitzGpuEmitter *e, int s) { return ritz_gpu_has_tensor(e, s); }

static void emit_tensor_inputs(RitzGpuEmitter *e) {
  emit_passes(e, RITZ_PASS_NODES, true, "Nodes, and points along the lines", emit_nodes_in);
  if (e->target->dim == 3)
    emit_passes(e, RITZ_PASS_MIDDLE, true, "Points along the first direction", emit_middle_in);
  ritz_text_add(&e->text, "\n  // Points along the last direction\n  if (is_live) {\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input && has_tensor(e, s)) emit_points_in(e, s);
  }
  ritz_emit_gpu_close_pass(e);
  if (has_space(e, true, needs_rows)) emit_all_derivatives(e, true);
}

void ritz_emit_gpu_inputs(RitzGpuEmitter *e) {
  emit_registers(e);
  ritz_emit_gpu_dense_registers(e);
  ritz_emit_gpu_simple_nodes(e);
  ritz_emit_gpu_dense_nodes(e);
  if (has_space(e, true, has_tensor)) emit_tensor_inputs(e);
  ritz_emit_gpu_dense_inputs(e);
  ritz_emit_gpu_finish_simple(e);
}

// ---- Outputs ----

// Transposed along the line, before values of other threads arrive.
static void emit_line_back(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  ritz_text_add(&e->text, "    ritz_apply%s(RITZ_M(ritz_collocated%d_t), %d, g%d, u%d);\n",
                ritz_gpu_has_values(space) ? "_add" : "", space->basis, num_comp_of(e, s), s, s);
}

static void emit_lines_back(RitzGpuEmitter *e) {
  ritz_text_add(&e->text, "\n  if (is_live) {\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (!e->plan->spaces[s].is_input && ritz_gpu_is_collocated(e, s)) emit_line_back(e, s);
  }
  ritz_emit_gpu_close_pass(e);
}

// Writes matrix^T times a line in registers, or the sum of two such products, to array k.
static void emit_put(RitzGpuEmitter *e, int s, const RitzTextTable *matrices, const char *registers, int k) {
  const char *two = matrices[1] ? "_two" : "";
  const int n = e->plan->spaces[s].basis;
  ritz_text_add(&e->text, "    ritz_put%s(RITZ_M(ritz_%s%d_t)", two, ritz_text_table_name(matrices[0]), n);
  if (matrices[1]) ritz_text_add(&e->text, ", RITZ_M(ritz_%s%d_t)", ritz_text_table_name(matrices[1]), n);
  ritz_text_add(&e->text, ", %d, %s", num_comp_of(e, s), registers);
  add_place(e, shared_array_of(e, s, k), "points");
  ritz_text_add(&e->text, ", %s);\n", point_stride(e));
}

static void emit_direct_back(RitzGpuEmitter *e, int s) {
  const int dim = (int)e->target->dim, size = num_comp_of(e, s) * (int)e->target->Q_1d;
  const bool has_values = ritz_gpu_has_values(&e->plan->spaces[s]);
  char registers[64];
  if (!ritz_gpu_has_gradient(&e->plan->spaces[s])) {
    snprintf(registers, sizeof(registers), "u%d", s);
    emit_put(e, s, RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), registers, 0);
    return;
  }
  snprintf(registers, sizeof(registers), has_values ? "u%d, g%d + %d" : "g%d + %d", s,
           has_values ? s : (dim - 1) * size, (dim - 1) * size);
  emit_put(e, s,
           has_values ? RITZ_TEXT_TABLES(RITZ_TEXT_INTERP, RITZ_TEXT_GRAD) : RITZ_TEXT_TABLES(RITZ_TEXT_GRAD),
           registers, 0);
  for (int d = 0; d < dim - 1; d++) {
    snprintf(registers, sizeof(registers), "g%d + %d", s, d * size);
    emit_put(e, s, RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), registers, dim == 3 && d == 0 ? 2 : 1);
  }
}

// The thread's own line of nodes: nodes = B^T u, or with a direct gradient + D^T g.
static void emit_own_line_out(RitzGpuEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int nc = num_comp_of(e, s), n = space->basis, P = (int)space_basis_of(e, s)->P_1d;
  const bool has_u = ritz_gpu_has_values(space) || ritz_gpu_is_collocated(e, s);
  char name[48];
  snprintf(name, sizeof(name), is_identity(e, s) ? "u%d" : "n%d", s);
  if (!is_identity(e, s)) {
    ritz_text_add(&e->text, "    RitzReal n%d[%d * %d];\n", s, nc, P);
    if (has_u)
      ritz_text_add(&e->text, "    ritz_apply(RITZ_M(ritz_interp%d_t), %d, u%d, n%d);\n", n, nc, s, s);
    if (is_direct_gradient(e, s))
      ritz_text_add(&e->text, "    ritz_apply%s(RITZ_M(ritz_grad%d_t), %d, g%d, n%d);\n", has_u ? "_add" : "",
                    n, nc, s, s);
  }
  if (e->target->spaces[s].is_staged) {
    ritz_text_add(&e->text, "    ritz_keep(%d, %d, %s", nc, P, name);
    add_place(e, shared_array_of(e, s, 0), "points");
    ritz_text_add(&e->text, ", %s);\n", point_stride(e));
    return;
  }
  ritz_text_add(&e->text, "    ");
  ritz_emit_gpu_scatter(e, s, P, (CeedInt)e->target->num_lines, "is_on", "elem", "L.points_line", name,
                        false);
}

static void emit_points_out(RitzGpuEmitter *e, int s) {
  const int dim = (int)e->target->dim;
  char registers[32];
  if (ritz_gpu_is_collocated(e, s)) {
    for (int d = 0; d < dim - 1; d++) {
      ritz_text_add(&e->text, "    ritz_add_lines(%d, %d", num_comp_of(e, s), (int)e->target->Q_1d);
      add_place(e, ritz_gpu_derivative_array(e, s, d), "points");
      ritz_text_add(&e->text, ", %s, u%d);\n", point_stride(e), s);
    }
  }
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_points_out(e, s);
  } else if (!has_node_lines(e, s)) {
    emit_own_line_out(e, s);
  } else if (ritz_gpu_is_collocated(e, s)) {
    snprintf(registers, sizeof(registers), "u%d", s);
    emit_put(e, s, RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), registers, 0);
  } else {
    emit_direct_back(e, s);
  }
}

static void emit_middle_out(RitzGpuEmitter *e, int s, const RitzGpuPass *pass) {
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_middle(e, s, pass);
    return;
  }
  const bool is_direct = is_direct_gradient(e, s);
  const int first = shared_array_of(e, s, 0), third = shared_array_of(e, s, 2),
            last = shared_array_of(e, s, is_direct);
  if (is_direct)
    emit_move(e, s, pass, "_sum", RITZ_TEXT_TABLES(RITZ_TEXT_INTERP, RITZ_TEXT_GRAD),
              (const int[]){first, third, first}, "1");
  emit_move(e, s, pass, "", RITZ_TEXT_TABLES(RITZ_TEXT_INTERP), (const int[]){last, last}, "1");
}

static void emit_nodes_out(RitzGpuEmitter *e, int s, const RitzGpuPass *lines) {
  if (ritz_gpu_has_vector(e, s)) {
    ritz_emit_gpu_vector_nodes(e, s, lines);
    return;
  }
  const int nc = num_comp_of(e, s), n = e->plan->spaces[s].basis, P = (int)space_basis_of(e, s)->P_1d;
  char pass[32], first[64];
  ritz_emit_gpu_name_pass(lines, pass);
  ritz_text_add(&e->text, "    {\n      RitzReal nodes[%d * %d];\n", nc, P);
  if (is_direct_gradient(e, s)) {
    ritz_text_add(&e->text, "      ritz_get_two(RITZ_M(ritz_interp%d_t), RITZ_M(ritz_grad%d_t), %d", n, n,
                  nc);
    add_place(e, shared_array_of(e, s, 0), pass);
    add_place(e, shared_array_of(e, s, 1), pass);
  } else {
    ritz_text_add(&e->text, "      ritz_get(RITZ_M(ritz_interp%d_t), %d", n, nc);
    add_place(e, shared_array_of(e, s, 0), pass);
  }
  ritz_text_add(&e->text, ", %s, nodes);\n", node_stride(e));
  if (e->target->spaces[s].is_staged) {
    ritz_text_add(&e->text, "      ritz_keep(%d, %d, nodes", nc, P);
    add_place(e, shared_array_of(e, s, 0), pass);
    ritz_text_add(&e->text, ", %s);\n    }\n", node_stride(e));
    return;
  }
  snprintf(first, sizeof(first), "L.%s_first", pass);
  ritz_text_add(&e->text, "      const RitzLong e = first_elem + L.%s_elem;\n      ", pass);
  ritz_emit_gpu_scatter(e, s, P, e->target->dim == 3 ? P : 1, "e < num_elem", "e", first, "nodes", false);
  ritz_text_add(&e->text, "    }\n");
}

static bool is_staged(const RitzGpuEmitter *e, int s) { return e->target->spaces[s].is_staged; }

// Nodes of all elements of the block from its memory.
static void emit_staged(RitzGpuEmitter *e) {
  if (!has_space(e, false, is_staged)) return;
  ritz_emit_gpu_barrier(e);
  ritz_text_add(&e->text, "\n  // Nodes of the block, components side by side\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (!is_staged(e, s)) continue;
    ritz_text_add(&e->text,
                  "  ritz_scatter_staged%s(%d, %d, %d, num_elem - first_elem, m + %d * RITZ_ARRAY, %d, %d,\n"
                  "                      ",
                  ritz_gpu_suffix(e, s), (int)space->num_comp, (int)e->target->dim,
                  (int)space_basis_of(e, s)->P_1d, shared_array_of(e, s, 0),
                  CeedIntMax(1, e->target->spaces[s].row_length), (int)e->target->spaces[s].row_step);
    ritz_emit_gpu_offsets(e, s, "first_elem", "0");
    ritz_text_add(&e->text, ", y%d);\n", s);
  }
}

void ritz_emit_gpu_outputs(RitzGpuEmitter *e) {
  ritz_emit_gpu_dense_outputs(e);
  if (!has_space(e, false, has_tensor)) return;
  if (has_space(e, false, ritz_gpu_is_collocated)) emit_lines_back(e);
  if (has_space(e, false, needs_rows)) emit_all_derivatives(e, false);
  ritz_text_add(&e->text, "\n  // Nodes along the last direction\n  if (is_live) {\n");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (!e->plan->spaces[s].is_input && has_tensor(e, s)) emit_points_out(e, s);
  }
  ritz_emit_gpu_close_pass(e);
  if (has_space(e, false, has_node_lines)) {
    ritz_emit_gpu_barrier(e);
    if (e->target->dim == 3) {
      emit_passes(e, RITZ_PASS_MIDDLE, false, "Nodes along the first direction", emit_middle_out);
      ritz_emit_gpu_barrier(e);
    }
    emit_passes(e, RITZ_PASS_NODES, false, "Nodes along the lines that are scattered", emit_nodes_out);
  }
  emit_staged(e);
}
