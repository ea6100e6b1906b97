// SPDX-License-Identifier: BSD-2-Clause
// Constants of a kernel, its heading, the user's text (contract in emit/cpu-text.h).
#include <stdio.h>
#include <string.h>

#include "emit/cpu-text.h"

// ---- Constants ----

static void emit_numbers(RitzEmitter *e, const char *name, const char *part, const CeedScalar *values,
                         CeedInt n) {
  const bool is_single = e->plan->precision == CEED_SCALAR_FP32;

  ritz_text_add(&e->text, "static const RitzReal %s%s[] = {", name, part);
  for (CeedInt i = 0; i < n; i++) {
    ritz_text_add(&e->text, "%s%.*g",
                  i == 0  ? ""
                  : i % 6 ? ", "
                          : ",\n  ",
                  is_single ? 9 : 17, is_single ? (double)(float)values[i] : (double)values[i]);
  }
  ritz_text_add(&e->text, "%s};\n", n ? "" : "0");
}

// Entry of a matrix or its transposed.
static CeedScalar entry(const RitzPlanMatrix *m, bool transposed, CeedInt i, CeedInt j) {
  return transposed ? m->values[j * m->cols + i] : m->values[i * m->cols + j];
}

// Even (which = 0) or odd (1) half of a matrix, [rows / 2, rounded][cols / 2, rounded]; returns the number of
// entries.
static CeedInt even_odd_half(const RitzPlanMatrix *m, bool transposed, int which, CeedScalar *values) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  CeedInt n = 0;

  for (CeedInt i = 0; i < (rows + 1) / 2; i++) {
    for (CeedInt j = 0; j < (which ? cols / 2 : (cols + 1) / 2); j++) {
      const CeedScalar a = entry(m, transposed, i, j), b = entry(m, transposed, i, cols - 1 - j);
      values[n++] = j == cols - 1 - j ? a : which ? (a - b) / 2 : (a + b) / 2;
    }
  }
  return n;
}

CeedInt ritz_emit_entries(const RitzPlanMatrix *m, bool transposed, CeedScalar *values) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  CeedInt n = 0;

  if (m->parity) {
    n = even_odd_half(m, transposed, 0, values);
    return n + even_odd_half(m, transposed, 1, values + n);
  }
  for (CeedInt i = 0; i < rows; i++) {
    for (CeedInt j = 0; j < cols; j++) values[n++] = entry(m, transposed, i, j);
  }
  return n;
}

int ritz_emit_matrix(RitzEmitter *e, const char *name, const RitzPlanMatrix *m, bool transposed) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  CeedScalar *values = NULL;
  CeedInt n = 0;

  RITZ_TRY(RITZ_MALLOC(e->text.ceed, (size_t)rows * cols, &values));
  if (m->parity) {
    n = even_odd_half(m, transposed, 0, values);
    emit_numbers(e, name, "_even", values, n);
    n = even_odd_half(m, transposed, 1, values);
    emit_numbers(e, name, "_odd", values, n);
    ritz_text_add(&e->text, "static const RitzMatrix %s = {%d, %d, %d, NULL, %s_even, %s_odd};\n", name,
                  (int)rows, (int)cols, m->parity, name, name);
  } else {
    for (CeedInt i = 0; i < rows; i++) {
      for (CeedInt j = 0; j < cols; j++) values[n++] = entry(m, transposed, i, j);
    }
    emit_numbers(e, name, "_full", values, n);
    ritz_text_add(&e->text, "static const RitzMatrix %s = {%d, %d, 0, %s_full, NULL, NULL};\n", name,
                  (int)rows, (int)cols, name);
  }
  RITZ_FREE(&values);
  return CEED_ERROR_SUCCESS;
}

// Directions that a basis is used in, and what for.
typedef struct {
  bool forward, backward, values, derivatives, weights;
  bool linear, constant_values, constant_derivatives;
} Use;

static Use find_use(const RitzPlan *plan, int basis) {
  Use use = {0};
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->basis != basis) continue;
    const bool is_constant = space->kind == RITZ_INPUT_CONSTANT;
    use.linear |= space->kind == RITZ_INPUT_LINEAR;
    use.constant_values |= is_constant && (space->modes & CEED_EVAL_INTERP);
    use.constant_derivatives |= is_constant && ritz_emit_has_derivatives(space);
    if (space->kind != RITZ_INPUT_CONTRACTED) continue;
    use.forward |= space->is_input;
    use.backward |= !space->is_input;
    use.values |= space->modes & CEED_EVAL_INTERP;
    use.derivatives |= ritz_emit_has_derivatives(space);
  }
  for (int i = 0; i < plan->num_in; i++) {
    use.weights |= plan->fields[i].mode == CEED_EVAL_WEIGHT && plan->fields[i].basis == basis;
  }
  return use;
}

static int emit_both_ways(RitzEmitter *e, RitzTextTable table, int basis, const RitzPlanMatrix *m,
                          const Use *use) {
  char name[48];
  for (int transposed = 0; transposed < 2; transposed++) {
    if (!(transposed ? use->backward : use->forward)) continue;
    snprintf(name, sizeof(name), "ritz_%s%d%s", ritz_text_table_name(table), basis, transposed ? "_t" : "");
    RITZ_TRY(ritz_emit_matrix(e, name, m, transposed));
  }
  return CEED_ERROR_SUCCESS;
}

// Points of inputs of degree one, rows of constant ones.
static void emit_simple_constants(RitzEmitter *e, int i, const Use *use) {
  const RitzPlanBasis *b = &e->plan->bases[i];
  char name[48];

  snprintf(name, sizeof(name), "ritz_points%d", i);
  if (use->linear) emit_numbers(e, name, "", b->points, b->Q_1d);
  snprintf(name, sizeof(name), "ritz_constant_values%d", i);
  if (use->constant_values) emit_numbers(e, name, "", b->constant_interp, b->q_comp_interp * b->P);
  snprintf(name, sizeof(name), "ritz_constant_slopes%d", i);
  if (use->constant_derivatives) emit_numbers(e, name, "", b->constant_deriv, b->q_comp_deriv * b->P);
}

// Index pairs of an even-odd basis: of nodes, of values or of derivatives at the points.
static void emit_pairs(RitzEmitter *e, RitzTextTable table, int basis, const RitzPlanPairs *p) {
  const CeedInt n = 2 * p->pairs + p->alone;

  ritz_text_add(&e->text, "static const int ritz_%s%d_at[] = {", ritz_text_table_name(table), basis);
  for (CeedInt i = 0; i < n; i++)
    ritz_text_add(&e->text, "%s%d", i == 0 ? "" : i % 24 ? ", " : ",\n  ", (int)p->at[i]);
  ritz_text_add(&e->text, "};\nstatic const RitzPairs ritz_%s%d = {%d, %d, ritz_%s%d_at};\n",
                ritz_text_table_name(table), basis, (int)p->pairs, (int)p->alone, ritz_text_table_name(table),
                basis);
}

static int emit_basis(RitzEmitter *e, int i) {
  static const char *const routes[] = {"the nodes are the points", "interpolated, derivatives at the points",
                                       "each derivative from the nodes", "matrices handed over",
                                       "block by block"};
  const RitzPlanBasis *b = &e->plan->bases[i];
  const Use use = find_use(e->plan, i);
  const bool has_lines = use.forward || use.backward;
  const char *how = has_lines || !(use.linear || use.constant_values || use.constant_derivatives)
                        ? routes[b->route]
                    : use.linear ? "of degree one: coefficients"
                                 : "the same at all points";
  char name[48];

  ritz_text_add(&e->text, "\n// ---- Basis %d: ", i);
  if (b->is_tensor)
    ritz_text_add(&e->text, "%dD tensor, %d nodes and %d points a direction; %s ----\n", (int)b->dim,
                  (int)b->P_1d, (int)b->Q_1d, how);
  else
    ritz_text_add(&e->text, "%d nodes, %d points; %s%s ----\n", (int)b->P, (int)b->Q, how,
                  b->is_even_odd ? ", even-odd" : "");
  if (b->route == RITZ_ROUTE_BLOCKS) RITZ_TRY(ritz_emit_lines(e, i));
  emit_simple_constants(e, i, &use);
  if (b->is_even_odd) emit_pairs(e, RITZ_TEXT_NODE_PAIRS, i, &b->node_pairs);
  if (b->is_even_odd && use.values) emit_pairs(e, RITZ_TEXT_VALUE_PAIRS, i, &b->interp_pairs);
  if (b->is_even_odd && use.derivatives) emit_pairs(e, RITZ_TEXT_DERIVATIVE_PAIRS, i, &b->deriv_pairs);
  if (b->is_tensor && b->route != RITZ_ROUTE_IDENTITY)
    RITZ_TRY(emit_both_ways(e, RITZ_TEXT_INTERP, i, &b->interp, &use));
  if (b->is_tensor && b->route != RITZ_ROUTE_IDENTITY && use.derivatives)
    RITZ_TRY(emit_both_ways(e, RITZ_TEXT_GRAD, i, &b->grad, &use));
  if ((b->route == RITZ_ROUTE_IDENTITY || b->route == RITZ_ROUTE_COLLOCATED) && use.derivatives &&
      (b->dim > 1 || b->route == RITZ_ROUTE_IDENTITY))
    RITZ_TRY(emit_both_ways(e, RITZ_TEXT_COLLOCATED, i, &b->deriv, &use));
  if (use.weights) {
    snprintf(name, sizeof(name), "ritz_weights%d", i);
    emit_numbers(e, name, "", b->weights, ritz_plan_has_grid(b) ? b->Q_1d : b->Q);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_emit_bases(RitzEmitter *e) {
  for (int i = 0; i < e->plan->num_bases; i++) RITZ_TRY(emit_basis(e, i));
  return CEED_ERROR_SUCCESS;
}

// ---- Heading ----

static void emit_field_comments(RitzEmitter *e) {
  static const struct {
    CeedEvalMode mode;
    const char *text;
  } modes[] = {{CEED_EVAL_NONE, "at the points"}, {CEED_EVAL_INTERP, "values"},
               {CEED_EVAL_GRAD, "gradient"},      {CEED_EVAL_DIV, "divergence"},
               {CEED_EVAL_CURL, "curl"},          {CEED_EVAL_WEIGHT, "weights"}};
  const RitzPlan *plan = e->plan;

  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const RitzPlanField *f = &plan->fields[i];
    const char *mode = "";
    for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
      if (modes[m].mode == f->mode) mode = modes[m].text;
    }
    ritz_text_add(&e->text, "//   %s[%d] %s, size %d", i < plan->num_in ? "in" : "out", f->argument, mode,
                  (int)f->size);
    if (f->space >= 0) ritz_text_add(&e->text, ", space %d", f->space);
    if (f->basis >= 0) ritz_text_add(&e->text, ", basis %d", f->basis);
    ritz_text_add(&e->text, "\n");
  }
}

static CeedInt max_1d(const RitzPlan *plan) {
  CeedInt max = 1;
  for (int i = 0; i < plan->num_bases; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    if (b->is_tensor && b->P_1d > max) max = b->P_1d;
    if (ritz_plan_has_grid(b) && b->Q_1d > max) max = b->Q_1d;
    for (int k = 0; k < b->num_lines; k++) max = CeedIntMax(max, b->lines[k].cols);
  }
  return max;
}

CeedInt ritz_emit_row_columns(const RitzPlanSpace *space, const RitzCpuSpace *how) {
  if (how->gather != RITZ_GATHER_ROWS) return 1;
  return how->row_length * (space->is_interlaced ? space->num_comp : 1);
}

static CeedInt max_row(const RitzEmitter *e, CeedInt max) {
  for (int s = 0; s < e->plan->num_spaces; s++)
    max = CeedIntMax(max, ritz_emit_row_columns(&e->plan->spaces[s], &e->target->spaces[s]));
  return max;
}

void ritz_emit_heading(RitzEmitter *e, const char *what, CeedInt max) {
  const RitzPlan *plan = e->plan;
  const char *precision = plan->precision == CEED_SCALAR_TYPE ? ""
                          : ritz_emit_converts(e)             ? "#define RITZ_REAL_IS_FP32\n"
                                                              : "#define CEED_SCALAR_IS_FP32\n";

  ritz_text_add(&e->text,
                "// SPDX-License-Identifier: BSD-2-Clause\n"
                "// Generated by Ritz: %s with the QFunction '%s', for %d elements at a time.\n",
                what, plan->function_name[0] ? plan->function_name : "of the application",
                (int)e->target->lanes);
  emit_field_comments(e);
  ritz_text_add(&e->text,
                "%s#define RITZ_LANES   %d\n#define RITZ_DIM     %d\n#define RITZ_Q       %d\n"
                "#define RITZ_CALL    %d\n#define RITZ_MAX_1D  %d\n#define RITZ_MAX_ROW %d\n%s"
                "#include \"kernels/cpu/kernel.h\"\n",
                precision, (int)e->target->lanes, (int)plan->dim, (int)plan->Q_1d,
                (int)e->target->call_points, (int)max_1d(plan), (int)max_row(e, max),
                ritz_emit_is_values(e)    ? "#define RITZ_VALUES\n"
                : e->target->unrolls_rows ? "#define RITZ_UNROLLED_ROWS\n"
                                          : "");
}

// ---- The QFunction ----

// Size of an argument; 0: the function gets NULL.
static int argument_size(const RitzPlan *plan, bool is_input, int k) {
  const int i = ritz_plan_field_of(plan, is_input, k);
  return i < 0 ? 0 : (int)plan->fields[is_input ? i : plan->num_in + i].size;
}

// Arguments in CeedScalar of a function that the kernel calls with others.
static void emit_converted(RitzEmitter *e, bool is_input) {
  const RitzPlan *plan = e->plan;
  const int num = is_input ? plan->num_in_arguments : plan->num_out_arguments;
  const char *name = is_input ? "in" : "out";

  for (int k = 0; k < num; k++) {
    const int size = argument_size(plan, is_input, k);
    if (size == 0) continue;
    ritz_text_add(&e->text, "  CeedScalar ritz_%s%d[%d * RITZ_CALL * RITZ_LANES];\n", name, k, size);
    if (is_input)
      ritz_text_add(&e->text,
                    "  for (int ritz_i = 0; ritz_i < %d * RITZ_CALL * RITZ_LANES; ritz_i++)\n"
                    "    ritz_in%d[ritz_i] = ritz_in[%d][ritz_i];\n",
                    size, k, k);
  }
  ritz_text_add(&e->text, "  %sCeedScalar *const ritz_call_%s[] = {", is_input ? "const " : "", name);
  for (int k = 0; k < num; k++) {
    ritz_text_add(&e->text, k ? ", " : "");
    if (argument_size(plan, is_input, k) == 0)
      ritz_text_add(&e->text, "NULL");
    else
      ritz_text_add(&e->text, "ritz_%s%d", name, k);
  }
  ritz_text_add(&e->text, "%s};\n", num ? "" : "NULL");
}

// The function in CeedScalar inside a kernel of another precision.
static void emit_converting_user(RitzEmitter *e) {
  const RitzPlan *plan = e->plan;

  ritz_text_add(&e->text,
                "static inline int ritz_user(void *ritz_ctx, const CeedInt ritz_Q,\n"
                "                            const RitzReal *const *ritz_in, RitzReal *const *ritz_out) {\n");
  emit_converted(e, true);
  emit_converted(e, false);
  ritz_text_add(&e->text, "  const int ritz_code = %s(ritz_ctx, ritz_Q, ritz_call_in, ritz_call_out);\n",
                plan->function_name);
  for (int k = 0; k < plan->num_out_arguments; k++) {
    const int size = argument_size(plan, false, k);
    if (size == 0) continue;
    ritz_text_add(&e->text,
                  "  for (int ritz_i = 0; ritz_i < %d * RITZ_CALL * RITZ_LANES; ritz_i++)\n"
                  "    ritz_out[%d][ritz_i] = (RitzReal)ritz_out%d[ritz_i];\n",
                  size, k, k);
  }
  ritz_text_add(
      &e->text,
      "  return ritz_code;\n}\n\n"
      "int ritz_qfunction_text(void *ritz_ctx, const CeedInt ritz_Q, const CeedScalar *const *ritz_in,\n"
      "                        CeedScalar *const *ritz_out) {\n"
      "  return %s(ritz_ctx, ritz_Q, ritz_in, ritz_out);\n}\n",
      plan->function_name);
}

// The user's text comes last, so that its macros reach nothing of ours: what follows it has no names but our
// own.
void ritz_emit_user(RitzEmitter *e) {
  const RitzPlan *plan = e->plan;

  if (e->target->call != RITZ_CALL_TEXT) return;
  const bool has_quote = strchr(plan->source_path, '"'); // the other kind of #include finds whole paths, too
  ritz_text_add(&e->text,
                "\n// ---- The QFunction: the user's text ----\n"
                "__attribute__((visibility(\"default\"))) int ritz_qfunction_text(\n"
                "    void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);\n");
  // as arguments of the compiler they would reach our text, too
  ritz_text_add_defines(&e->text, plan->num_defines, plan->defines);
  if (plan->source_text)
    ritz_text_add(&e->text, "%s\n", plan->source_text);
  else
    ritz_text_add(&e->text, has_quote ? "#include <%s>\n\n" : "#include \"%s\"\n\n", plan->source_path);
  if (ritz_emit_converts(e)) {
    emit_converting_user(e);
    return;
  }
  ritz_text_add(
      &e->text,
      "static inline int ritz_user(void *ritz_ctx, const CeedInt ritz_Q, const CeedScalar *const *ritz_in,\n"
      "                            CeedScalar *const *ritz_out) {\n"
      "  return %s(ritz_ctx, ritz_Q, ritz_in, ritz_out);\n}\n\n"
      "int ritz_qfunction_text(void *ritz_ctx, const CeedInt ritz_Q, const CeedScalar *const *ritz_in,\n"
      "                        CeedScalar *const *ritz_out) {\n"
      "  return ritz_user(ritz_ctx, ritz_Q, ritz_in, ritz_out);\n}\n",
      plan->function_name);
}
