// SPDX-License-Identifier: BSD-2-Clause
// Dense bases in fused kernels for devices (contract in emit/gpu-text.h, functions in
// kernels/gpu/fused-dense.h).
#include <stdio.h>

#include "emit/gpu-text.h"

static const RitzPlanBasis *dense_basis_of(const RitzGpuEmitter *e, int s) {
  return &e->plan->bases[e->plan->spaces[s].basis];
}

static int q_values(const RitzGpuEmitter *e, int s) {
  return (int)ritz_gpu_dense_values(e->plan, &e->plan->spaces[s]);
}

static int q_derivatives(const RitzGpuEmitter *e, int s) {
  return (int)ritz_gpu_dense_derivatives(e->plan, &e->plan->spaces[s]);
}

static bool has_dense(const RitzGpuEmitter *e, bool is_input) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input == is_input && ritz_gpu_has_dense(e, s)) return true;
  }
  return false;
}

// Points of an element that a thread has.
static int num_points(const RitzGpuEmitter *e) { return (int)(e->target->Q_1d / e->target->elem_per_thread); }

typedef void (*EmitSpace)(RitzGpuEmitter *e, int s);

static void emit_each(RitzGpuEmitter *e, bool is_input, EmitSpace emit) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input == is_input && ritz_gpu_has_dense(e, s)) emit(e, s);
  }
}

// The memory of a group, as an argument.
static void add_group(RitzGpuEmitter *e, int s, const char *group) {
  const RitzGpuSpace *g = &e->target->spaces[s];
  ritz_text_add(&e->text, "m + %d * RITZ_ARRAY + %d + %s * %d", (int)e->target->num_arrays,
                (int)g->dense_first, group, (int)g->dense_group);
}

// ---- Sizes and registers ----

void ritz_emit_gpu_dense_sizes(RitzGpuEmitter *e) {
  const RitzGpuTarget *t = e->target;
  CeedInt num_comp = 0;
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (ritz_gpu_has_dense(e, s)) num_comp = CeedIntMax(num_comp, e->plan->spaces[s].num_comp);
  }
  if (num_comp == 0) return;
  ritz_text_add(&e->text,
                "#define RITZ_STACKED  %d // elements of a thread\n#define RITZ_PACKED   %d\n"
                "#define RITZ_GROUPS   %d\n#define RITZ_DENSE_PACKS %d\n"
                "#include \"kernels/gpu/fused-dense.h\"\n",
                (int)t->elem_per_thread, (int)t->elem_per_pack, (int)(t->num_elem / t->elem_per_thread),
                (int)(num_comp * t->elem_per_thread / t->elem_per_pack));
}

static void add_register(RitzGpuEmitter *e, char letter, int s, int q_comp) {
  if (q_comp > 0)
    ritz_text_add(&e->text, "  RitzReal %c%d[%d * %d * %d];\n", letter, s, q_comp,
                  (int)e->plan->spaces[s].num_comp, (int)e->target->Q_1d);
}

static void emit_registers(RitzGpuEmitter *e, int s) {
  add_register(e, 'u', s, q_values(e, s));
  add_register(e, 'g', s, q_derivatives(e, s));
}

void ritz_emit_gpu_dense_registers(RitzGpuEmitter *e) {
  emit_each(e, true, emit_registers);
  emit_each(e, false, emit_registers);
}

// ---- Work items, more or less than threads ----

// Opens a loop in which i counts `num` items; rounds that are full are not tested.
static void open_items(RitzGpuEmitter *e, const char *pragma, CeedInt num) {
  const CeedInt threads = e->target->num_threads;
  ritz_text_add(&e->text,
                "  %s\n  for (int round = 0; round < %d; round++) {\n"
                "    const int i = round * RITZ_THREADS + RITZ_THREAD;\n"
                "    if (round >= %d && i >= %d) continue;\n",
                pragma, (int)((num + threads - 1) / threads), (int)(num / threads), (int)num);
}

// ---- Nodes to points ----

static void emit_nodes(RitzGpuEmitter *e, int s) {
  const RitzGpuTarget *t = e->target;
  const int nc = (int)e->plan->spaces[s].num_comp, P = (int)dense_basis_of(e, s)->P;
  const bool is_short = t->num_elem * P <= 16 * t->num_threads;
  open_items(e, is_short ? "RITZ_UNROLL" : "RITZ_UNROLL_SOME", t->num_elem * P);
  ritz_text_add(&e->text,
                "    const int own = i / %d, node = i %% %d;\n"
                "    const RitzLong e = ritz_element(first_elem + own, num_elem);\n"
                "    RitzReal nodes[%d];\n    ",
                P, P, nc);
  ritz_emit_gpu_gather(e, s, 1, 0, "e", "node", "nodes");
  ritz_text_add(&e->text,
                "    ritz_dense_keep(%d, %d, nodes, m + %d * RITZ_ARRAY + %d + ritz_dense_place(%d, %d, "
                "own, node));\n  }\n",
                nc, P, (int)t->num_arrays, (int)t->spaces[s].dense_first, (int)t->spaces[s].dense_group, P);
}

void ritz_emit_gpu_dense_nodes(RitzGpuEmitter *e) {
  if (!has_dense(e, true)) return;
  ritz_text_add(&e->text, "\n  // Nodes of dense bases\n");
  emit_each(e, true, emit_nodes);
  ritz_emit_gpu_input_barrier(e);
}

// Number of components and the matrix of values, then derivatives, as arguments.
static void add_matrices(RitzGpuEmitter *e, int s, const char *suffix, const char *first) {
  const int b = e->plan->spaces[s].basis;
  ritz_text_add(&e->text, q_values(e, s) ? "%d, interp%d%s%s, " : "%d, 0, ", q_values(e, s), b, suffix,
                first);
  ritz_text_add(&e->text, q_derivatives(e, s) ? "%d, deriv%d%s%s, " : "%d, 0, ", q_derivatives(e, s), b,
                suffix, first);
}

static void emit_values(RitzGpuEmitter *e, int s) {
  const RitzPlanBasis *b = dense_basis_of(e, s);
  ritz_text_add(&e->text, "    ritz_dense_get(%d, %d, %d, %d, L.points_line, ",
                (int)e->plan->spaces[s].num_comp, (int)b->P, (int)b->Q, num_points(e));
  add_matrices(e, s, "", "");
  add_group(e, s, "L.points_elem");
  ritz_text_add(&e->text, q_values(e, s) ? ", u%d" : ", 0", s);
  ritz_text_add(&e->text, q_derivatives(e, s) ? ", g%d);\n" : ", 0);\n", s);
}

void ritz_emit_gpu_dense_inputs(RitzGpuEmitter *e) {
  if (!has_dense(e, true)) return;
  ritz_text_add(&e->text, "\n  // Points of dense bases\n  if (is_live) {\n");
  emit_each(e, true, emit_values);
  ritz_text_add(&e->text, "  }\n");
}

// ---- Points to nodes ----

// Values, then derivatives behind them.
static void emit_put(RitzGpuEmitter *e, int s, char letter, int q_comp, int first) {
  const int nc = (int)e->plan->spaces[s].num_comp, Q = (int)e->plan->Q;
  if (q_comp == 0) return;
  ritz_text_add(&e->text, "    ritz_dense_put(%d, %d, %d, L.points_line, %c%d, ", q_comp * nc, Q,
                num_points(e), letter, s);
  add_group(e, s, "L.points_elem");
  ritz_text_add(&e->text, " + %d);\n", first * nc * (int)e->target->elem_per_thread * Q);
}

static void emit_points(RitzGpuEmitter *e, int s) {
  emit_put(e, s, 'u', q_values(e, s), 0);
  emit_put(e, s, 'g', q_derivatives(e, s), q_values(e, s));
}

static void emit_sums(RitzGpuEmitter *e, int s) {
  const RitzGpuTarget *t = e->target;
  const int nc = (int)e->plan->spaces[s].num_comp, P = (int)dense_basis_of(e, s)->P,
            per_thread = (int)t->elem_per_thread;
  open_items(e, "RITZ_ROLL", t->num_elem / t->elem_per_thread * P);
  ritz_text_add(&e->text,
                "    const int group = i / %d, node = i %% %d;\n    RitzReal sums[%d * %d];\n"
                "    ritz_dense_sum(%d, %d, %d, ",
                P, P, nc, per_thread, nc, P, (int)e->plan->Q);
  add_matrices(e, s, "_t", " + node");
  add_group(e, s, "group");
  ritz_text_add(&e->text,
                ", sums);\n    RITZ_UNROLL\n    for (int k = 0; k < %d; k++) {\n"
                "      const RitzLong e = first_elem + group + k * RITZ_GROUPS;\n      RitzReal nodes[%d];\n"
                "      ritz_take_lines(%d, %d, sums, k, nodes);\n      ",
                per_thread, nc, nc, per_thread);
  ritz_emit_gpu_scatter(e, s, 1, 0, "e < num_elem", "e", "node", "nodes", false);
  ritz_text_add(&e->text, "    }\n  }\n");
}

void ritz_emit_gpu_dense_outputs(RitzGpuEmitter *e) {
  if (!has_dense(e, false)) return;
  ritz_text_add(&e->text,
                "\n  // Nodes of dense bases from the points of their elements\n%s  if (is_live) {\n",
                has_dense(e, true) ? "  RITZ_BARRIER();\n" : "");
  emit_each(e, false, emit_points);
  ritz_text_add(&e->text, "  }\n  RITZ_BARRIER();\n");
  emit_each(e, false, emit_sums);
}
