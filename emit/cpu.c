// SPDX-License-Identifier: BSD-2-Clause
// The CPU kernel of a plan (contract in emit/emit.h). Arrays of space s in the text: xs at the nodes, as
// interpolated in all directions but the last, us values at the points, gs derivatives (along the last
// direction; of the direct and dense routes all), ms and fs derivatives along the middle and first direction.
#include "emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "emit/text.h"

// ---- Questions about spaces ----

typedef struct {
  const RitzPlan *plan;
  RitzText text;
} Emitter;

static const RitzPlanBasis *basis_of(const Emitter *e, const RitzPlanSpace *space) {
  return space->basis < 0 ? NULL : &e->plan->bases[space->basis];
}

static bool is_line_route(const RitzPlanBasis *b) { // derivatives at the points, line by line
  return b && (b->route == RITZ_ROUTE_IDENTITY || b->route == RITZ_ROUTE_COLLOCATED);
}

// Values only, row by row in registers.
static bool is_values(const Emitter *e) { return e->plan->target.evaluation == RITZ_EVALUATE_VALUES; }

static bool has_values(const RitzPlanSpace *space) { return space->modes & CEED_EVAL_INTERP; }
static bool has_derivatives(const RitzPlanSpace *space) { return space->modes & ~(unsigned)CEED_EVAL_INTERP; }

// Number in the names of a space's arrays.
static int array_number(const RitzPlan *plan, int s) {
  return plan->spaces[s].overwrites >= 0 ? plan->spaces[s].overwrites : s;
}

// ---- Constants ----

static void emit_numbers(Emitter *e, const char *name, const char *part, const CeedScalar *values,
                         CeedInt n) {
  const int digits = sizeof(CeedScalar) == 4 ? 9 : 17;

  ritz_text_add(&e->text, "static const RitzReal %s%s[] = {", name, part);
  for (CeedInt i = 0; i < n; i++) {
    ritz_text_add(&e->text, "%s%.*g", i == 0 ? "" : i % 6 ? ", " : ",\n  ", digits, (double)values[i]);
  }
  ritz_text_add(&e->text, "%s};\n", n ? "" : "0");
}

// Entry of a matrix or its transposed.
static CeedScalar entry(const RitzPlanMatrix *m, bool transposed, CeedInt i, CeedInt j) {
  return transposed ? m->values[j * m->cols + i] : m->values[i * m->cols + j];
}

// Part of a split matrix: which = 0 even, 1 odd. Fills values, returns their number.
static CeedInt split_matrix(const RitzPlanMatrix *m, bool transposed, int which, CeedScalar *values) {
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

static int emit_matrix(Emitter *e, const char *name, const RitzPlanMatrix *m, bool transposed) {
  const CeedInt rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  CeedScalar *values = NULL;
  CeedInt n = 0;

  RITZ_TRY(RITZ_MALLOC(e->text.ceed, (size_t)rows * cols, &values));
  if (m->parity) {
    n = split_matrix(m, transposed, 0, values);
    emit_numbers(e, name, "_even", values, n);
    n = split_matrix(m, transposed, 1, values);
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

// Which way a basis is used, and what for.
typedef struct {
  bool forward, backward, derivatives, weights;
} Use;

static Use find_use(const RitzPlan *plan, int basis) {
  Use use = {0};
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    if (space->basis != basis) continue;
    use.forward |= space->is_input;
    use.backward |= !space->is_input;
    use.derivatives |= has_derivatives(space);
  }
  for (int i = 0; i < plan->num_in; i++) {
    use.weights |= plan->fields[i].mode == CEED_EVAL_WEIGHT && plan->fields[i].basis == basis;
  }
  return use;
}

static int emit_both_ways(Emitter *e, char letter, int basis, const RitzPlanMatrix *m, const Use *use) {
  char name[32];
  for (int transposed = 0; transposed < 2; transposed++) {
    if (!(transposed ? use->backward : use->forward)) continue;
    snprintf(name, sizeof(name), "ritz_%c%d%s", letter, basis, transposed ? "_t" : "");
    RITZ_TRY(emit_matrix(e, name, m, transposed));
  }
  return CEED_ERROR_SUCCESS;
}

static int emit_basis(Emitter *e, int i) {
  static const char *const routes[] = {"the nodes are the points", "interpolated, derivatives at the points",
                                       "one sweep per derivative", "matrices handed over"};
  const RitzPlanBasis *b = &e->plan->bases[i];
  const Use use = find_use(e->plan, i);
  char name[32];

  ritz_text_add(&e->text, "\n// ---- Basis %d: ", i);
  if (b->is_tensor)
    ritz_text_add(&e->text, "%dD tensor, %d nodes and %d points a direction; %s ----\n", (int)b->dim,
                  (int)b->P_1d, (int)b->Q_1d, routes[b->route]);
  else
    ritz_text_add(&e->text, "%d nodes, %d points; %s ----\n", (int)b->P, (int)b->Q, routes[b->route]);
  if (b->is_tensor && b->route != RITZ_ROUTE_IDENTITY) RITZ_TRY(emit_both_ways(e, 'B', i, &b->interp, &use));
  if (b->is_tensor && b->route != RITZ_ROUTE_IDENTITY && use.derivatives)
    RITZ_TRY(emit_both_ways(e, 'D', i, &b->grad, &use));
  if (is_line_route(b) && use.derivatives && (b->dim > 1 || b->route == RITZ_ROUTE_IDENTITY))
    RITZ_TRY(emit_both_ways(e, 'C', i, &b->deriv, &use));
  if (use.weights) {
    snprintf(name, sizeof(name), "ritz_W%d", i);
    emit_numbers(e, name, "", b->weights, b->is_tensor ? b->Q_1d : b->Q);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Heading ----

static void emit_field_comments(Emitter *e) {
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
    ritz_text_add(&e->text, "//   %s[%d] %s, size %d", i < plan->num_in ? "in" : "out",
                  i < plan->num_in ? i : i - plan->num_in, mode, (int)f->size);
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
    if (b->is_tensor && b->Q_1d > max) max = b->Q_1d;
  }
  return max;
}

static CeedInt max_row(const RitzPlan *plan) {
  CeedInt max = 1;
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const CeedInt n = space->row_length * (space->is_interlaced ? space->num_comp : 1);
    if (space->gather == RITZ_GATHER_ROWS && n > max) max = n;
  }
  return max;
}

static void emit_heading(Emitter *e) {
  const RitzPlan *plan = e->plan;

  ritz_text_add(
      &e->text,
      "// SPDX-License-Identifier: BSD-2-Clause\n"
      "// Generated by Ritz: E^T B^T D B E with the point function '%s', for %d elements at a time.\n",
      plan->function_name[0] ? plan->function_name : "of the application", (int)plan->target.lanes);
  emit_field_comments(e);
  ritz_text_add(&e->text,
                "#define RITZ_LANES   %d\n#define RITZ_DIM     %d\n#define RITZ_Q       %d\n"
                "#define RITZ_CALL    %d\n#define RITZ_MAX_1D  %d\n#define RITZ_MAX_ROW %d\n%s"
                "#include \"kernels/cpu/kernel.h\"\n",
                (int)plan->target.lanes, (int)plan->dim, (int)plan->Q_1d, (int)plan->target.call_points,
                (int)max_1d(plan), (int)max_row(plan), is_values(e) ? "#define RITZ_VALUES\n" : "");
}

// ---- Arrays ----

// Members of a struct for all spaces that need them: `which` is one of x a u g (whole element), m, f.
static bool needs_array(const Emitter *e, int s, char which) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  const bool lines = is_line_route(b), derivatives = has_derivatives(space);

  if (!b) return which == 'u' && space->gather != RITZ_GATHER_PACKED;
  switch (which) {
  case 'x': return b->route != RITZ_ROUTE_IDENTITY;
  case 'a': return b->route == RITZ_ROUTE_COLLOCATED && b->dim > 1;
  case 'u': return (lines && !is_values(e)) || (has_values(space) && !lines);
  case 'g': return derivatives;
  case 'm': return lines && derivatives && b->dim == 3;
  case 'f': return lines && derivatives && b->dim >= 2;
  case 'c': return lines && is_values(e);
  default: return b->route == RITZ_ROUTE_DIRECT; // 's': work of a sweep
  }
}

static void emit_array(Emitter *e, int s, char which) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  const int nc = (int)space->num_comp;

  ritz_text_add(&e->text, "  RitzVec %c%d[%d", which, array_number(e->plan, s), nc);
  if (!b)
    ritz_text_add(&e->text, " * %d", (int)space->num_nodes);
  else if (!b->is_tensor)
    ritz_text_add(&e->text, " * %d",
                  (int)(which == 'x'   ? b->P
                        : which == 'u' ? b->q_comp_interp * b->Q
                                       : b->q_comp_deriv * b->Q));
  else if (which == 'x')
    ritz_text_add(&e->text, " * RITZ_SIZE(%d, %d)", (int)b->P_1d, (int)b->P_1d);
  else if (which == 'a' && is_values(e))
    ritz_text_add(&e->text, " * %d * %d", (int)b->P_1d, (int)CeedIntPow(b->Q_1d, b->dim - 1));
  else if (which == 'a' || which == 's')
    ritz_text_add(&e->text, " * RITZ_SIZE(%d, %d)", (int)b->P_1d,
                  (int)(b->P_1d > b->Q_1d ? b->P_1d : b->Q_1d));
  else if (which == 'm')
    ritz_text_add(&e->text, " * %d", (int)(b->Q_1d * b->Q_1d));
  else if (which == 'f' || which == 'c')
    ritz_text_add(&e->text, " * %d", (int)b->Q_1d);
  else if (which == 'g' && b->route == RITZ_ROUTE_DIRECT)
    ritz_text_add(&e->text, " * %d * RITZ_SIZE(%d, %d)", (int)b->dim, (int)b->Q_1d, (int)b->Q_1d);
  else
    ritz_text_add(&e->text, " * RITZ_SIZE(%d, %d)", (int)b->Q_1d, (int)b->Q_1d);
  ritz_text_add(&e->text, "];\n");
}

// Another space of the same number that needs the array, too, and comes before.
static bool is_declared(const Emitter *e, int s, char which) {
  for (int t = 0; t < s; t++) {
    if (array_number(e->plan, t) == array_number(e->plan, s) && needs_array(e, t, which)) return true;
  }
  return false;
}

static void emit_arrays(Emitter *e, const char *which) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    for (const char *w = which; *w; w++) {
      if (needs_array(e, s, *w) && !is_declared(e, s, *w)) emit_array(e, s, *w);
    }
  }
}

// Arguments of the point function; those of whole rows are too large for the stack.
static void emit_arguments(Emitter *e, const char *indent) {
  const RitzPlan *plan = e->plan;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const bool is_in = i < plan->num_in;
    ritz_text_add(&e->text, "%sRitzVec %s%d[%d * RITZ_CALL];\n", indent, is_in ? "in" : "out",
                  is_in ? i : i - plan->num_in, (int)plan->fields[i].size);
  }
}

static void emit_structs(Emitter *e) {
  ritz_text_add(&e->text, "\n// ---- Arrays of a batch, of a plane, of a row ----\ntypedef struct {\n");
  emit_arrays(e, "xaugs");
  if (e->plan->target.call_points > 1) emit_arguments(e, "  ");
  ritz_text_add(&e->text, "} RitzWork;\ntypedef struct {\n");
  emit_arrays(e, "m");
  ritz_text_add(&e->text, "} RitzPlane;\ntypedef struct {\n");
  emit_arrays(e, "fc");
  ritz_text_add(&e->text, "} RitzRow;\n");
}

// Shape of the array that is gathered into or scattered from.
static void emit_shapes(Emitter *e) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    const RitzPlanBasis *b = basis_of(e, space);
    const int nc = (int)space->num_comp, n = (int)space->num_nodes;

    if (space->gather == RITZ_GATHER_PACKED) continue;
    ritz_text_add(&e->text, "static const RitzShape ritz_shape%d = ", s);
    if (b && b->is_tensor && b->dim > 1) {
      const int P = (int)b->P_1d;
      ritz_text_add(&e->text, "{%d, %d, RITZ_IN_SLAB(%d), RITZ_SLAB(%d), RITZ_SIZE(%d, %d)};\n", nc, P, P, P,
                    P, P);
    } else {
      ritz_text_add(&e->text, "{%d, 1, %d, %d, %d};\n", nc, n, n, n);
    }
  }
}

// ---- Whole element ----

// Letter of the array at the nodes.
static char node_array(const RitzPlanBasis *b) { return !b || b->route == RITZ_ROUTE_IDENTITY ? 'u' : 'x'; }

static void emit_transfer(Emitter *e, int s, const char *verb) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  static const char *const kinds[] = {"nodes", "rows", "strided"};

  ritz_text_add(&e->text, "  ritz_%s_%s(&args->spaces[%d], b, &ritz_shape%d, ", verb, kinds[space->gather], s,
                s);
  if (space->gather == RITZ_GATHER_ROWS)
    ritz_text_add(&e->text, "%d, %s, ", (int)space->row_length, space->is_interlaced ? "true" : "false");
  ritz_text_add(&e->text, "w->%c%d);\n", node_array(basis_of(e, space)), array_number(e->plan, s));
}

static void emit_orient(Emitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const char array = node_array(basis_of(e, space));
  const int n = array_number(e->plan, s);

  if (space->is_oriented)
    ritz_text_add(&e->text, "  ritz_orient(&args->spaces[%d], b, &ritz_shape%d, w->%c%d);\n", s, s, array, n);
  if (space->is_curl_oriented)
    ritz_text_add(&e->text, "  ritz_curl_orient(&args->spaces[%d], b, &ritz_shape%d, %s, w->%c%d);\n", s, s,
                  space->is_input ? "false" : "true", array, n);
}

// Names of the matrices of a sweep that differentiates along `direction` (0 first; -1: none).
static void emit_sweep(Emitter *e, const RitzPlanSpace *space, int n, int direction, bool add) {
  const RitzPlanBasis *b = basis_of(e, space);
  const char *t = space->is_input ? "" : "_t";
  const int dim = (int)b->dim, nc = (int)space->num_comp;
  char letters[3];

  for (int d = 0; d < 3; d++) letters[d] = d == direction ? 'D' : 'B';
  ritz_text_add(&e->text, "  ritz_sweep(&ritz_%c%d%s, &ritz_%c%d%s, &ritz_%c%d%s, %d, ", letters[0],
                space->basis, t, letters[1], space->basis, t, letters[dim - 1], space->basis, t, nc);
  char points[64];
  if (direction < 0)
    snprintf(points, sizeof(points), "w->u%d", n);
  else
    snprintf(points, sizeof(points), "w->g%d + %d * RITZ_SIZE(%d, %d)", n, direction * nc, (int)b->Q_1d,
             (int)b->Q_1d);
  if (space->is_input)
    ritz_text_add(&e->text, "w->x%d, %s, w->s%d, false);\n", n, points, n);
  else
    ritz_text_add(&e->text, "%s, w->x%d, w->s%d, %s);\n", points, n, n, add ? "true" : "false");
}

static void emit_dense(Emitter *e, const RitzPlanSpace *space, int n, bool derivative, bool add) {
  const RitzPlanBasis *b = basis_of(e, space);

  ritz_text_add(&e->text, "  ritz_dense_%s(%d, %d, %d, %d, args->matrices[%d], ",
                space->is_input ? "up" : "down", (int)(derivative ? b->q_comp_deriv : b->q_comp_interp),
                (int)space->num_comp, (int)b->P, (int)b->Q, (int)b->first_matrix + derivative);
  if (space->is_input)
    ritz_text_add(&e->text, "w->x%d, w->%c%d);\n", n, derivative ? 'g' : 'u', n);
  else
    ritz_text_add(&e->text, "w->%c%d, w->x%d, %s);\n", derivative ? 'g' : 'u', n, n, add ? "true" : "false");
}

// Direct and dense routes: values, then derivatives; backwards they are added up.
static void emit_whole(Emitter *e, const RitzPlanSpace *space, int n) {
  const RitzPlanBasis *b = basis_of(e, space);
  bool add = false;

  if (has_values(space)) {
    if (b->is_tensor)
      emit_sweep(e, space, n, -1, add);
    else
      emit_dense(e, space, n, false, add);
    add = true;
  }
  if (!has_derivatives(space)) return;
  if (!b->is_tensor) emit_dense(e, space, n, true, add);
  for (int d = 0; b->is_tensor && d < b->dim; d++) emit_sweep(e, space, n, d, add || d > 0);
}

static void emit_forward(Emitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  const int n = array_number(e->plan, s), B = space->basis, nc = (int)space->num_comp;

  if (!b) return;
  if (!is_line_route(b)) {
    emit_whole(e, space, n);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char from = b->dim > 1 ? 'a' : 'x';
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d, %d, %d, w->u%d, w->g%d, false);\n", B, Q, nc, n,
                    n);
    return;
  }
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_up(ahead, &ritz_B%d, %d, w->x%d, w->a%d);\n",
                  is_values(e) ? "outer" : "tensor", B, nc, n, n);
  if (is_values(e)) return;
  if (has_derivatives(space))
    ritz_text_add(&e->text,
                  "  ritz_last_both(ahead, &ritz_B%d, &ritz_D%d, %d, %d, w->%c%d, w->u%d, w->g%d);\n", B, B,
                  Q, nc, from, n, n, n);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_B%d, %d, %d, w->%c%d, w->u%d, false);\n", B, Q, nc,
                  from, n, n);
}

static void emit_backward(Emitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  const int n = array_number(e->plan, s), B = space->basis, nc = (int)space->num_comp;

  if (!b) return;
  if (!is_line_route(b)) {
    emit_whole(e, space, n);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char to = b->dim > 1 ? 'a' : 'x';
  const bool has_u = has_values(space) || b->dim > 1; // what rows have left there
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d_t, %d, %d, w->g%d, w->u%d, %s);\n", B, Q, nc, n,
                    n, has_u ? "true" : "false");
    return;
  }
  if (is_values(e))
    ;
  else if (has_derivatives(space) && has_u)
    ritz_text_add(&e->text,
                  "  ritz_last_sum(ahead, &ritz_B%d_t, &ritz_D%d_t, %d, %d, w->u%d, w->g%d, w->%c%d);\n", B,
                  B, Q, nc, n, n, to, n);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_%c%d_t, %d, %d, w->%c%d, w->%c%d, false);\n",
                  has_u ? 'B' : 'D', B, Q, nc, has_u ? 'u' : 'g', n, to, n);
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_down(ahead, &ritz_B%d_t, %d, w->a%d, w->x%d);\n",
                  is_values(e) ? "outer" : "tensor", B, nc, n, n);
}

// Steps of a batch at which data of the next one are fetched: rows, and the slabs and lines of whole elements
// (kernels/cpu/tensor.h).
static CeedInt count_steps(const Emitter *e) {
  const RitzPlan *plan = e->plan;
  CeedInt steps = CeedIntPow(plan->Q_1d, plan->dim - 1);

  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const RitzPlanBasis *b = basis_of(e, space);
    if (!is_line_route(b)) continue;
    const bool is_identity = b->route == RITZ_ROUTE_IDENTITY;
    if (!is_identity && b->dim > 1) steps += b->P_1d * space->num_comp;
    if (!is_values(e) && (!is_identity || has_derivatives(space)))
      steps += space->num_comp * CeedIntPow(b->Q_1d, b->dim - 1);
  }
  return steps;
}

static void emit_ahead(Emitter *e) {
  const RitzPlan *plan = e->plan;
  const CeedInt steps = count_steps(e);

  ritz_text_add(&e->text,
                "\n// ---- What each of %d steps fetches for the next batch ----\n"
                "RITZ_INLINE void ritz_ahead(RitzAhead *ahead) {\n",
                (int)steps);
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const CeedInt offsets =
        space->gather == RITZ_GATHER_ROWS ? space->num_nodes / space->row_length * plan->target.lanes : 0;
    if (space->gather == RITZ_GATHER_PACKED && plan->target.prefetch_packed)
      ritz_text_add(&e->text, "  ritz_fetch_packed(ahead, %d, %d, %d, %d);\n", s, (int)space->num_comp,
                    (int)plan->Q, (int)((plan->Q + steps - 1) / steps));
    if (offsets && plan->target.prefetch_vectors)
      ritz_text_add(&e->text, "  ritz_fetch_rows(ahead, %d, %d, %d);\n", s, (int)offsets,
                    (int)((offsets + steps - 1) / steps));
  }
  ritz_text_add(&e->text, "  ahead->step++;\n}\n");
}

static void emit_elements(Emitter *e) {
  const RitzPlan *plan = e->plan;

  ritz_text_add(
      &e->text,
      "\n// ---- Whole elements ----\n"
      "RITZ_INLINE void ritz_inputs(const RitzKernelArgs *args, const RitzBatch *b, RitzAhead *ahead, "
      "RitzWork *w) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    if (!plan->spaces[s].is_input || plan->spaces[s].gather == RITZ_GATHER_PACKED) continue;
    emit_transfer(e, s, "gather");
    emit_orient(e, s);
    emit_forward(e, s);
  }
  ritz_text_add(&e->text,
                "}\n\nRITZ_INLINE void ritz_outputs(const RitzKernelArgs *args, const RitzBatch *b, "
                "RitzAhead *ahead, RitzWork *w) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    if (plan->spaces[s].is_input) continue;
    emit_backward(e, s);
    emit_orient(e, s);
    emit_transfer(e, s, "scatter");
  }
  ritz_text_add(&e->text, "}\n");
}

// ---- Planes and rows ----

static bool has_line_derivatives(const Emitter *e, int s, bool is_input, CeedInt min_dim) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  return space->is_input == is_input && is_line_route(b) && has_derivatives(space) && b->dim >= min_dim;
}

static void emit_planes(Emitter *e) {
  for (int back = 0; back < 2; back++) {
    ritz_text_add(&e->text, "\nRITZ_INLINE void ritz_plane_%s(RitzWork *w, RitzPlane *p, int k) {\n",
                  back ? "out" : "in");
    for (int s = 0; s < e->plan->num_spaces; s++) {
      if (!has_line_derivatives(e, s, !back, 3)) continue;
      const RitzPlanSpace *space = &e->plan->spaces[s];
      const int n = array_number(e->plan, s), nc = (int)space->num_comp;
      if (back)
        ritz_text_add(&e->text, "  ritz_middle_add(&ritz_C%d_t, %d, p->m%d, k, w->u%d);\n", space->basis, nc,
                      n, n);
      else
        ritz_text_add(&e->text, "  ritz_middle(&ritz_C%d, %d, w->u%d, k, p->m%d);\n", space->basis, nc, n, n);
    }
    ritz_text_add(&e->text, "}\n");
  }
}

// Number of a row.
static const char row_number[] = "k * RITZ_ROWS + j";

static void emit_rows(Emitter *e) {
  const RitzPlan *plan = e->plan;

  ritz_text_add(&e->text,
                "\nRITZ_INLINE void ritz_row_in(RitzWork *w, RitzPlane *p, RitzRow *r, int k, int j) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const int n = array_number(plan, s), nc = (int)space->num_comp;
    if (is_values(e) && space->is_input && is_line_route(basis_of(e, space)))
      ritz_text_add(&e->text, "  ritz_row_up(&ritz_B%d, %d, w->a%d, %s, r->c%d);\n", space->basis, nc, n,
                    row_number, n);
    if (has_line_derivatives(e, s, true, 2))
      ritz_text_add(&e->text, "  ritz_first(&ritz_C%d, %d, w->u%d, k, j, r->f%d);\n", space->basis, nc, n, n);
  }
  ritz_text_add(
      &e->text,
      "}\n\nRITZ_INLINE void ritz_row_out(RitzWork *w, RitzPlane *p, RitzRow *r, int k, int j) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const int n = array_number(plan, s);
    if (is_values(e) && !space->is_input && is_line_route(basis_of(e, space)))
      ritz_text_add(&e->text, "  ritz_row_down(&ritz_B%d_t, %d, r->c%d, %s, w->a%d);\n", space->basis,
                    (int)space->num_comp, n, row_number, n);
    if (!has_line_derivatives(e, s, false, 2)) continue;
    ritz_text_add(&e->text, "  ritz_first_back(&ritz_C%d_t, %d, r->f%d, k, j, w->u%d, %s);\n", space->basis,
                  (int)space->num_comp, n, n, has_values(space) ? "true" : "false");
  }
  ritz_text_add(&e->text, "}\n");
}

// ---- Points ----

// One step between an argument and the array `array`, components first .. first + num - 1 of the argument.
static void emit_step(Emitter *e, const char *arg, int first, int num, const char *array, const char *stride,
                      const char *at, bool is_input, bool add) {
  if (is_input)
    ritz_text_add(&e->text, "  ritz_take(%d, RITZ_CALL, %s, %s, %s, %s + %d * RITZ_CALL);\n", num, array,
                  stride, at, arg, first);
  else
    ritz_text_add(&e->text, "  ritz_give(%d, RITZ_CALL, %s + %d * RITZ_CALL, %s, %s, %s, %s);\n", num, arg,
                  first, array, stride, at, add ? "true" : "false");
}

// Gradient of a line route: components of the first, middle and last direction lie in arrays of their own.
static void emit_gradient(Emitter *e, const char *arg, int s, bool add) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = basis_of(e, space);
  const int n = array_number(e->plan, s), nc = (int)space->num_comp, dim = (int)b->dim;
  char array[32];

  for (int d = 0; d < dim; d++) {
    if (d == dim - 1) {
      snprintf(array, sizeof(array), "w->g%d", n);
      emit_step(e, arg, d * nc, nc, array, "RITZ_SIZE(RITZ_Q, RITZ_Q)", "RITZ_AT(RITZ_Q, k, j, i)",
                space->is_input, add);
    } else if (d == 0) {
      snprintf(array, sizeof(array), "r->f%d", n);
      emit_step(e, arg, 0, nc, array, "RITZ_Q", "i", space->is_input, add);
    } else {
      snprintf(array, sizeof(array), "p->m%d", n);
      emit_step(e, arg, d * nc, nc, array, "RITZ_Q * RITZ_Q", "j * RITZ_Q + i", space->is_input, add);
    }
  }
}

static void emit_weights(Emitter *e, const char *arg, const RitzPlanField *f) {
  const RitzPlanBasis *b = &e->plan->bases[f->basis];
  const int B = f->basis;

  ritz_text_add(&e->text, "  ritz_take_weights(RITZ_CALL, ritz_W%d, ", B);
  if (!b->is_tensor)
    ritz_text_add(&e->text, "1, q, %s);\n", arg);
  else if (b->dim == 1)
    ritz_text_add(&e->text, "1, i, %s);\n", arg);
  else if (b->dim == 2)
    ritz_text_add(&e->text, "ritz_W%d[j], i, %s);\n", B, arg);
  else
    ritz_text_add(&e->text, "ritz_W%d[k] * ritz_W%d[j], i, %s);\n", B, B, arg);
}

static void emit_field(Emitter *e, int i, bool add) {
  const RitzPlan *plan = e->plan;
  const RitzPlanField *f = &plan->fields[i];
  const bool is_in = i < plan->num_in,
             is_derivative = f->mode != CEED_EVAL_INTERP && f->mode != CEED_EVAL_NONE;
  char arg[32], array[32], stride[32];

  snprintf(arg, sizeof(arg), "%s%s%d", plan->target.call_points > 1 ? "w->" : "", is_in ? "in" : "out",
           is_in ? i : i - plan->num_in);
  if (f->mode == CEED_EVAL_WEIGHT) {
    emit_weights(e, arg, f);
    return;
  }
  const RitzPlanSpace *space = &plan->spaces[f->space];
  const RitzPlanBasis *b = basis_of(e, space);
  if (space->gather == RITZ_GATHER_PACKED) {
    ritz_text_add(&e->text, "  ritz_take_packed(%d, RITZ_CALL, &args->spaces[%d], b->number, %d, q, %s);\n",
                  (int)f->size, f->space, (int)plan->Q, arg);
    return;
  }
  if (is_line_route(b) && is_derivative) {
    emit_gradient(e, arg, f->space, add);
    return;
  }
  if (is_line_route(b) && is_values(e)) {
    snprintf(array, sizeof(array), "r->c%d", array_number(plan, f->space));
    emit_step(e, arg, 0, (int)f->size, array, "RITZ_Q", "i", is_in, add);
    return;
  }
  snprintf(array, sizeof(array), "w->%c%d", is_derivative ? 'g' : 'u', array_number(plan, f->space));
  if (b && b->is_tensor) {
    emit_step(e, arg, 0, (int)f->size, array, "RITZ_SIZE(RITZ_Q, RITZ_Q)", "RITZ_AT(RITZ_Q, k, j, i)", is_in,
              add);
  } else {
    snprintf(stride, sizeof(stride), "%d", (int)plan->Q);
    emit_step(e, arg, 0, (int)f->size, array, stride, "q", is_in, add);
  }
}

// An output field adds where an earlier one has put the same quantity of the same space.
static bool adds(const RitzPlan *plan, int i) {
  for (int j = plan->num_in; j < i; j++) {
    if (plan->fields[j].space == plan->fields[i].space && plan->fields[j].mode == plan->fields[i].mode)
      return true;
  }
  return false;
}

static void emit_list(Emitter *e, const char *type, const char *name, int num) {
  const char *work = e->plan->target.call_points > 1 ? "w->" : "";
  ritz_text_add(&e->text, "  %s%s[] = {", type, name);
  for (int i = 0; i < num; i++) {
    ritz_text_add(&e->text, "%s(CeedScalar *)%s%.*s%d", i ? ", " : "", work, name[0] == 'i' ? 2 : 3, name, i);
  }
  ritz_text_add(&e->text, "%s};\n", num ? "" : "NULL");
}

static void emit_point(Emitter *e) {
  const RitzPlan *plan = e->plan;
  const bool is_text = plan->target.call == RITZ_CALL_TEXT;

  ritz_text_add(&e->text, "\n// ---- Points ----\n");
  if (is_text)
    ritz_text_add(&e->text,
                  "RITZ_INLINE int ritz_user(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
                  "                          CeedScalar *const *out);\n\n");
  ritz_text_add(&e->text,
                "RITZ_INLINE int ritz_point(const RitzKernelArgs *args, const RitzBatch *b, RitzWork *w, "
                "RitzPlane *p, RitzRow *r,\n                           int k, int j, int i) {\n"
                "  const int q = RITZ_POINT(k, j, i);\n");
  if (plan->target.call_points == 1) emit_arguments(e, "  ");
  for (int i = 0; i < plan->num_in; i++) emit_field(e, i, false);
  emit_list(e, "const CeedScalar *const ", "in", plan->num_in);
  emit_list(e, "CeedScalar *const ", "out", plan->num_out);
  ritz_text_add(&e->text,
                "  const int code = %s(args->context, RITZ_CALL * RITZ_LANES, in, out);\n  (void)q;\n",
                is_text ? "ritz_user" : "args->function");
  for (int i = plan->num_in; i < plan->num_in + plan->num_out; i++) emit_field(e, i, adds(plan, i));
  ritz_text_add(&e->text, "  return code;\n}\n\n#include \"kernels/cpu/loop.h\"\n");
}

// "NAME" or "NAME=value", for the user's text alone: as arguments of the compiler they would reach ours, too.
static void emit_define(Emitter *e, const char *define) {
  const int length = (int)strcspn(define, "=\n");
  const char *value = define[length] == '=' ? define + length + 1 : "1";

  ritz_text_add(&e->text, "#define %.*s %.*s\n", length, define, (int)strcspn(value, "\n"), value);
}

// The user's text comes last, so that its macros reach nothing of ours: what follows it has no names but our
// own.
static void emit_user(Emitter *e) {
  const RitzPlan *plan = e->plan;
  const RitzStringList *defines = &e->text.ceed->jit_defines;

  if (plan->target.call != RITZ_CALL_TEXT) return;
  const bool has_quote = strchr(plan->source_path, '"'); // the other kind of #include finds whole paths, too
  ritz_text_add(&e->text,
                "\n// ---- The point function: the user's text ----\n"
                "__attribute__((visibility(\"default\"))) int ritz_qfunction_text(\n"
                "    void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out);\n");
  for (CeedInt i = 0; i < defines->num; i++) emit_define(e, defines->item[i]);
  ritz_text_add(&e->text, has_quote ? "#include <%s>\n\n" : "#include \"%s\"\n\n", plan->source_path);
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

int ritz_emit_cpu(Ceed ceed, const RitzPlan *plan, char **text) {
  Emitter e = {.plan = plan, .text = {.ceed = ceed}};
  int ierr = CEED_ERROR_SUCCESS;

  emit_heading(&e);
  for (int i = 0; i < plan->num_bases && !ierr; i++) ierr = emit_basis(&e, i);
  emit_structs(&e);
  emit_shapes(&e);
  emit_ahead(&e);
  emit_elements(&e);
  ritz_text_add(&e.text, "\n// ---- %s ----\n", is_values(&e) ? "Rows" : "Planes and rows");
  emit_planes(&e);
  emit_rows(&e);
  emit_point(&e);
  emit_user(&e);
  if (ierr) RITZ_FREE(&e.text.chars);
  return ierr ? ierr : ritz_text_finish(&e.text, text);
}
