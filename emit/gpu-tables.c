// SPDX-License-Identifier: BSD-2-Clause
// Sizes and tables of fused kernels for devices (contract in emit/gpu-text.h).
#include <stdio.h>

#include "emit/cpu-text.h"
#include "emit/gpu-text.h"

// ---- Sizes ----

static CeedInt longest_line(const RitzGpuEmitter *e) {
  CeedInt longest = e->target->Q_1d;
  for (int b = 0; b < e->plan->num_bases; b++) {
    if (ritz_gpu_takes_lines(e->plan, b))
      longest = CeedIntMax(longest, ritz_plan_gpu_longest(&e->plan->bases[b]));
  }
  return longest;
}

// Functions for L-vectors in the other precision, once more under names of their own.
static void add_conversions(RitzGpuEmitter *e) {
  int s = 0;
  while (s < e->plan->num_spaces && !ritz_gpu_is_converted(e, s)) s++;
  if (e->target->evaluation == RITZ_GPU_ELEMENTS)
    ritz_text_add(&e->text, "#include \"kernels/gpu/element.h\"\n");
  if (s == e->plan->num_spaces) return;
  ritz_text_add(&e->text,
                "#define RITZ_ENTRY %s // of L-vectors that are converted\n#define RITZ_NAME(name) name##%s\n"
                "#define RITZ_BRING(to, from) RITZ_CONVERT(to, from)\n#include \"kernels/gpu/nodes.h\"\n",
                ritz_gpu_entry(e, s), ritz_gpu_suffix(e, s));
  if (e->target->evaluation == RITZ_GPU_ELEMENTS)
    ritz_text_add(&e->text, "#include \"kernels/gpu/element-nodes.h\"\n");
}

void ritz_emit_gpu_sizes(RitzGpuEmitter *e) {
  const RitzGpuTarget *t = e->target;
  ritz_text_add(&e->text,
                "#define RITZ_ELEMENTS %d // of a block\n#define RITZ_THREADS  %d\n#define RITZ_MAX_1D   %d\n"
                "#define RITZ_LINES    %d // of points in an element\n",
                (int)t->num_elem, (int)t->num_threads, (int)longest_line(e), (int)t->num_lines);
  ritz_text_add(&e->text,
                "#define RITZ_ROW      %d // distances in an array\n#define RITZ_PLANE    %d\n"
                "#define RITZ_ELEM     %d\n#define RITZ_ARRAY    (RITZ_ELEMENTS * RITZ_ELEM)\n"
                "#include \"kernels/gpu/qfunction.h\"\n#include \"kernels/gpu/lines.h\"\n"
                "#include \"kernels/gpu/fields.h\"\n",
                t->strides.row, t->strides.plane, t->strides.elem);
  add_conversions(e);
  if (t->exchange)
    ritz_text_add(&e->text, "#define RITZ_EXCHANGE %d // where threads exchange numbers\n", (int)t->exchange);
  if (t->uses_mma)
    ritz_text_add(&e->text, "#include \"kernels/gpu/%s.h\"\n", t->is_nontensor ? "tiles" : "mma");
  ritz_emit_gpu_vector_sizes(e);
  ritz_emit_gpu_dense_sizes(e);
}

// ---- Matrices and weights ----

void ritz_emit_gpu_numbers(RitzGpuEmitter *e, const char *kind, const char *name, const CeedScalar *values,
                           CeedInt n) {
  const bool is_float = e->plan->precision == CEED_SCALAR_FP32;
  ritz_text_add(&e->text, "%s RitzReal %s[] = {", kind, name);
  for (CeedInt i = 0; i < n; i++)
    ritz_text_add(&e->text, "%s%.*g",
                  i == 0  ? ""
                  : i % 6 ? ", "
                          : ",\n  ",
                  is_float ? 9 : 17, is_float ? (double)(float)values[i] : (double)values[i]);
  ritz_text_add(&e->text, "};\n");
}

int ritz_emit_gpu_matrix(RitzGpuEmitter *e, const char *name, const RitzPlanMatrix *m, bool transposed) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  CeedScalar *values = NULL;
  RITZ_TRY(RITZ_MALLOC(e->text.ceed, (size_t)(rows + 1) * (size_t)(cols + 1), &values));
  const CeedInt n = ritz_emit_entries(m, transposed, values);
  ritz_emit_gpu_numbers(e, "RITZ_CONSTANT", name, values, n);
  ritz_text_add(&e->text, "enum { %s_rows = %d, %s_cols = %d, %s_parity = %d };\n", name, (int)rows, name,
                (int)cols, name, m->parity);
  RITZ_FREE(&values);
  return CEED_ERROR_SUCCESS;
}

// Two entries for each thread of a warp (kernels/gpu/mma.h).
static void add_lanes(RitzGpuEmitter *e, const char *name, const RitzPlanMatrix *m, bool transposed) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  ritz_text_add(&e->text, "RITZ_TABLE RitzLane %s_lanes[] = {", name);
  for (CeedInt k = 0; k < 64; k++) {
    const CeedInt lane = k / 2, row = lane / 8 + lane / 4 % 2 * 4, col = lane % 4 + k % 2 * 4;
    const bool is_there = row < rows && col < cols;
    const CeedScalar value = !is_there    ? 0
                             : transposed ? m->values[(CeedSize)col * m->cols + row]
                                          : m->values[(CeedSize)row * m->cols + col];
    ritz_text_add(&e->text,
                  k % 2   ? ", %.17g}"
                  : k % 8 ? ", {%.17g"
                  : k     ? ",\n  {%.17g"
                          : "\n  {%.17g",
                  (double)value);
  }
  ritz_text_add(&e->text, "};\n");
}

// Whether spaces of the basis read, write; with derivatives.
typedef struct {
  bool reads, writes, has_gradient;
} Use;

static Use find_use(const RitzGpuEmitter *e, int basis) {
  Use use = {0};
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (space->basis != basis || !ritz_gpu_has_lines(e->plan, space)) continue;
    use.reads |= space->is_input;
    use.writes |= !space->is_input;
    use.has_gradient |= ritz_gpu_has_gradient(space);
  }
  return use;
}

static int add_both_ways(RitzGpuEmitter *e, RitzTextTable table, int b, const RitzPlanMatrix *m,
                         const Use *use) {
  char name[48];
  for (int transposed = 0; transposed < 2; transposed++) {
    if (!(transposed ? use->writes : use->reads)) continue;
    snprintf(name, sizeof(name), "ritz_%s%d%s", ritz_text_table_name(table), b, transposed ? "_t" : "");
    RITZ_TRY(ritz_emit_gpu_matrix(e, name, m, transposed));
    if (e->target->uses_mma && m->rows <= 8 && m->cols <= 8) add_lanes(e, name, m, transposed);
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_emit_gpu_weights(RitzGpuEmitter *e, int i) {
  const RitzPlanBasis *b = &e->plan->bases[i];
  const CeedInt n = ritz_plan_has_grid(b) ? b->Q_1d : b->Q;
  char name[48];
  if (!b->weights) return;
  snprintf(name, sizeof(name), "ritz_weights%d", i);
  if (ritz_plan_has_grid(b)) ritz_emit_gpu_numbers(e, "RITZ_CONSTANT", name, b->weights, n);
  snprintf(name, sizeof(name), "ritz_weights%d_table", i);
  ritz_emit_gpu_numbers(e, "RITZ_TABLE", name, b->weights, n);
}

static int add_basis(RitzGpuEmitter *e, int i) {
  static const char *const routes[] = {"the nodes are the points", "interpolated, derivatives at the points",
                                       "each derivative from the nodes", "dense"};
  const RitzPlanBasis *b = &e->plan->bases[i];
  const RitzRoute route = e->target->routes[i];
  const Use use = find_use(e, i);
  if (b->route == RITZ_ROUTE_BLOCKS) return ritz_emit_gpu_vector_basis(e, i);
  if (!b->is_tensor) {
    ritz_text_add(&e->text, "\n// ---- Basis %d: dense, %d nodes, %d points ----\n", i, (int)b->P, (int)b->Q);
    ritz_emit_gpu_weights(e, i);
    return CEED_ERROR_SUCCESS;
  }
  if (!use.reads && !use.writes) {
    ritz_text_add(&e->text,
                  "\n// ---- Basis %d: %dD, %d points a direction; its matrices are not needed ----\n", i,
                  (int)b->dim, (int)b->Q_1d);
    ritz_emit_gpu_weights(e, i);
    return CEED_ERROR_SUCCESS;
  }
  ritz_text_add(&e->text, "\n// ---- Basis %d: %dD, %d nodes and %d points a direction; %s ----\n", i,
                (int)b->dim, (int)b->P_1d, (int)b->Q_1d, routes[route]);
  if (route != RITZ_ROUTE_IDENTITY) RITZ_TRY(add_both_ways(e, RITZ_TEXT_INTERP, i, &b->interp, &use));
  if (route == RITZ_ROUTE_DIRECT && use.has_gradient)
    RITZ_TRY(add_both_ways(e, RITZ_TEXT_GRAD, i, &b->grad, &use));
  if (route != RITZ_ROUTE_DIRECT && use.has_gradient)
    RITZ_TRY(add_both_ways(e, RITZ_TEXT_COLLOCATED, i, &b->deriv, &use));
  ritz_emit_gpu_weights(e, i);
  return CEED_ERROR_SUCCESS;
}

int ritz_emit_gpu_bases(RitzGpuEmitter *e) {
  for (int i = 0; i < e->plan->num_bases; i++) RITZ_TRY(add_basis(e, i));
  return ritz_emit_gpu_simple_tables(e);
}

// ---- Lines ----

// A column of the table: a pass, its lines' addresses, elements or first nodes (points: numbers).
typedef enum { ADDRESS, ELEMENT, FIRST } Column;

static bool has_columns(RitzPassKind kind) { return kind == RITZ_PASS_NODES || kind == RITZ_PASS_POINTS; }

static void add_member(RitzGpuEmitter *e, const RitzGpuPass *pass) {
  char name[48];
  ritz_emit_gpu_name_pass(pass, name);
  ritz_text_add(&e->text, pass->is_mma ? "  unsigned short %s[4]" : "  unsigned short %s", name);
  if (has_columns(pass->kind))
    ritz_text_add(&e->text, ", %s_elem, %s_%s", name, name, pass->kind == RITZ_PASS_NODES ? "first" : "line");
  ritz_text_add(&e->text, ";\n");
}

// First node of line (i, j), or its number among lines of points.
static int first_of(const RitzGpuEmitter *e, const RitzGpuPass *pass, int i, int j) {
  if (pass->kind == RITZ_PASS_POINTS) return i + j * pass->lines.num[0];
  return e->target->dim == 3 ? i + j * (int)(pass->nodes[0] * pass->nodes[1]) : i * (int)pass->nodes[0];
}

static int entry(const RitzGpuEmitter *e, const RitzGpuPass *pass, int place, Column column) {
  const int slot = place < pass->num_rounds * (int)e->target->num_threads ? pass->slots[place] : -1;
  const int num = pass->lines.num[0] * pass->lines.num[1], line = slot % num;
  const int i = line % pass->lines.num[0], j = line / pass->lines.num[0];
  if (slot < 0) return column == ADDRESS ? 65535 : 0;
  if (column == ADDRESS) return ritz_line_address(&pass->lines, &e->target->strides, slot / num, i, j);
  return column == ELEMENT ? slot / num : first_of(e, pass, i, j);
}

// Lines l, l + 8, l + 16, l + 24 of those that the threads of a warp have; four threads have the same.
static void add_shared(RitzGpuEmitter *e, const RitzGpuPass *pass, int place) {
  const int first = place / 32 * 32 + place % 32 / 4;
  ritz_text_add(&e->text, "{%d, %d, %d, %d}", entry(e, pass, first, ADDRESS),
                entry(e, pass, first + 8, ADDRESS), entry(e, pass, first + 16, ADDRESS),
                entry(e, pass, first + 24, ADDRESS));
}

static void add_line_row(RitzGpuEmitter *e, int place) {
  const char *separator = "{";
  for (int i = 0; i < e->target->num_passes; i++) {
    const RitzGpuPass *pass = &e->target->passes[i];
    if (pass->is_mma) {
      ritz_text_add(&e->text, "%s", separator);
      add_shared(e, pass, place);
      separator = ", ";
      continue;
    }
    for (int column = ADDRESS; column <= (has_columns(pass->kind) ? FIRST : ADDRESS); column++) {
      ritz_text_add(&e->text, "%s%d", separator, entry(e, pass, place, (Column)column));
      separator = ", ";
    }
  }
  ritz_text_add(&e->text, "}");
}

void ritz_emit_gpu_lines(RitzGpuEmitter *e) {
  const RitzGpuTarget *t = e->target;
  int rounds = 1;
  for (int i = 0; i < t->num_passes; i++) rounds = CeedIntMax(rounds, t->passes[i].num_rounds);
  ritz_text_add(
      &e->text,
      "\n// ---- The line that a thread takes in each pass: where it begins in an array, its element "
      "and first node ----\n#define RITZ_IDLE 65535\ntypedef struct RITZ_ALIGN16 {\n");
  if (t->is_nontensor) {
    ritz_text_add(&e->text, "  int points, points_elem, points_line;\n} RitzLines;\n");
    return;
  }
  for (int i = 0; i < t->num_passes; i++) add_member(e, &t->passes[i]);
  ritz_text_add(&e->text, "} RitzLines;\nRITZ_TABLE RitzLines ritz_lines[] = {\n");
  for (int place = 0; place < rounds * (int)t->num_threads; place++) {
    ritz_text_add(&e->text, place % 4 ? " " : "  ");
    add_line_row(e, place);
    ritz_text_add(&e->text, place % 4 == 3 ? ",\n" : ",");
  }
  ritz_text_add(&e->text, "};\n");
}
