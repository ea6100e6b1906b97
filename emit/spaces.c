// SPDX-License-Identifier: BSD-2-Clause
// Arrays, transfers and evaluation of spaces (contract in emit/parts.h).
#include <stdio.h>

#include "emit/parts.h"

static bool has_values(const RitzPlanSpace *space) { return space->modes & CEED_EVAL_INTERP; }

// ---- Arrays ----

// An input that is not contracted needs its nodes, and little of what is made of them.
static bool form_needs_array(const RitzPlanSpace *space, char which) {
  switch (which) {
  case 'x': return true;
  case 'l': return space->form == RITZ_FORM_LINEAR;
  case 'h': return space->form == RITZ_FORM_CONSTANT && has_values(space);
  case 'd': return space->form == RITZ_FORM_CONSTANT && ritz_emit_has_derivatives(space);
  default: return false;
  }
}

// Members of a struct for all spaces that need them: `which` is one of x a u g (whole element), m, f.
static bool needs_array(const RitzEmitter *e, int s, char which) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool lines = ritz_emit_is_line_route(space, b), derivatives = ritz_emit_has_derivatives(space);

  if (!b) return which == 'u' && e->target->spaces[s].gather != RITZ_GATHER_PACKED;
  if (space->form != RITZ_FORM_LINES) return form_needs_array(space, which);
  switch (which) {
  case 'x': return b->route != RITZ_ROUTE_IDENTITY;
  case 'a': return b->route == RITZ_ROUTE_COLLOCATED && b->dim > 1;
  case 'u': return (lines && !ritz_emit_is_values(e)) || (has_values(space) && !lines);
  case 'g': return derivatives;
  case 'm': return lines && derivatives && b->dim == 3;
  case 'f': return lines && derivatives && b->dim >= 2;
  case 'c': return lines && ritz_emit_is_values(e);
  case 'l':
  case 'h':
  case 'd': return false;
  default: return b->route == RITZ_ROUTE_DIRECT; // 's': work of a sweep
  }
}

static void emit_array(RitzEmitter *e, int s, char which) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int nc = (int)space->num_comp;

  ritz_text_add(&e->text, "  RitzVec %c%d[%d", which, ritz_emit_array_number(e, s), nc);
  if (!b)
    ritz_text_add(&e->text, " * %d", (int)space->num_nodes);
  else if (which == 'l')
    ritz_text_add(&e->text, " * RITZ_LINEAR_ROW");
  else if (which == 'h' || which == 'd')
    ritz_text_add(&e->text, " * %d", (int)(which == 'h' ? b->q_comp_interp : b->q_comp_deriv));
  else if (!b->is_tensor)
    ritz_text_add(&e->text, " * %d", (int)(which == 'x' ? b->P : ritz_emit_dense_values(b, which == 'g')));
  else if (which == 'x')
    ritz_text_add(&e->text, " * RITZ_SIZE(%d, %d)", (int)b->P_1d, (int)b->P_1d);
  else if (which == 'a' && ritz_emit_is_values(e))
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
static bool is_declared(const RitzEmitter *e, int s, char which) {
  for (int t = 0; t < s; t++) {
    if (ritz_emit_array_number(e, t) == ritz_emit_array_number(e, s) && needs_array(e, t, which)) return true;
  }
  return false;
}

void ritz_emit_arrays(RitzEmitter *e, const char *which) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    for (const char *w = which; *w; w++) {
      if (needs_array(e, s, *w) && !is_declared(e, s, *w)) emit_array(e, s, *w);
    }
  }
}

void ritz_emit_shape(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int nc = (int)space->num_comp, n = (int)space->num_nodes;

  if (how->gather == RITZ_GATHER_PACKED) return;
  ritz_text_add(&e->text, "static const RitzShape ritz_shape%d = ", number);
  if (b && b->is_tensor && b->dim > 1) {
    const int P = (int)b->P_1d;
    ritz_text_add(&e->text, "{%d, %d, RITZ_IN_SLAB(%d), RITZ_SLAB(%d), RITZ_SIZE(%d, %d)};\n", nc, P, P, P, P,
                  P);
  } else {
    ritz_text_add(&e->text, "{%d, 1, %d, %d, %d};\n", nc, n, n, n);
  }
}

void ritz_emit_shapes(RitzEmitter *e) {
  for (int s = 0; s < e->plan->num_spaces; s++)
    ritz_emit_shape(e, &e->plan->spaces[s], &e->target->spaces[s], s);
}

// ---- Whole element ----

// Letter of the array at the nodes.
static char node_array(const RitzPlanSpace *space, const RitzPlanBasis *b) {
  if (space->form != RITZ_FORM_LINES) return 'x';
  return !b || b->route == RITZ_ROUTE_IDENTITY ? 'u' : 'x';
}

void ritz_emit_transfer(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number,
                        const char *array) {
  static const char *const kinds[] = {"nodes", "rows", "strided"};

  ritz_text_add(&e->text, "  ritz_%s_%s(&args->spaces[%d], b, &ritz_shape%d, ",
                space->is_input ? "gather" : "scatter", kinds[how->gather], number, number);
  if (how->gather == RITZ_GATHER_ROWS)
    ritz_text_add(&e->text, "%d, %s, ", (int)how->row_length, space->is_interlaced ? "true" : "false");
  ritz_text_add(&e->text, "w->%s);\n", array);
}

static void emit_node_transfer(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  char array[32];

  snprintf(array, sizeof(array), "%c%d", node_array(space, ritz_emit_basis_of(e, space)),
           ritz_emit_array_number(e, s));
  ritz_emit_transfer(e, space, &e->target->spaces[s], s, array);
}

static void emit_orient(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const char array = node_array(space, ritz_emit_basis_of(e, space));
  const int n = ritz_emit_array_number(e, s);

  if (space->is_oriented)
    ritz_text_add(&e->text, "  ritz_orient(&args->spaces[%d], b, &ritz_shape%d, w->%c%d);\n", s, s, array, n);
  if (space->is_curl_oriented)
    ritz_text_add(&e->text, "  ritz_curl_orient(&args->spaces[%d], b, &ritz_shape%d, %s, w->%c%d);\n", s, s,
                  space->is_input ? "false" : "true", array, n);
}

// Names of the matrices of a sweep that differentiates along `direction` (0 first; -1: none).
static void emit_sweep(RitzEmitter *e, const RitzPlanSpace *space, int n, int direction, bool add) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
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

static void emit_dense(RitzEmitter *e, const RitzPlanSpace *space, int n, bool derivative, bool add) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int B = space->basis, nc = (int)space->num_comp, matrix = (int)b->first_matrix + derivative;
  const char *direction = space->is_input ? "up" : "down", values = derivative ? 'g' : 'u';

  if (b->is_folded)
    ritz_text_add(&e->text, "  ritz_folded_%s(ahead, %d, &ritz_N%d, &ritz_%c%d, args->matrices[%d], ",
                  direction, nc, B, derivative ? 'G' : 'V', B, matrix);
  else
    ritz_text_add(&e->text, "  ritz_dense_%s(ahead, %d, %d, %d, args->matrices[%d], ", direction, nc,
                  (int)b->P, (int)ritz_emit_dense_values(b, derivative), matrix);
  if (space->is_input)
    ritz_text_add(&e->text, "w->x%d, w->%c%d);\n", n, values, n);
  else
    ritz_text_add(&e->text, "w->%c%d, w->x%d, %s);\n", values, n, n, add ? "true" : "false");
}

// Pairs -> sums and differences: of what a space is evaluated from.
static void emit_folds(RitzEmitter *e, const RitzPlanSpace *space, int n) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int B = space->basis, nc = (int)space->num_comp;
  const bool is_output = !space->is_input;

  if (!b->is_folded) return;
  if (space->is_input) ritz_text_add(&e->text, "  ritz_fold(%d, &ritz_N%d, w->x%d);\n", nc, B, n);
  if (is_output && has_values(space))
    ritz_text_add(&e->text, "  ritz_fold(%d, &ritz_V%d, w->u%d);\n", nc, B, n);
  if (is_output && ritz_emit_has_derivatives(space))
    ritz_text_add(&e->text, "  ritz_fold(%d, &ritz_G%d, w->g%d);\n", nc, B, n);
}

// Direct and dense routes: values, then derivatives; backwards they are added up.
static void emit_whole(RitzEmitter *e, const RitzPlanSpace *space, int n) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  bool add = false;

  emit_folds(e, space, n);
  if (has_values(space)) {
    if (b->is_tensor)
      emit_sweep(e, space, n, -1, add);
    else
      emit_dense(e, space, n, false, add);
    add = true;
  }
  if (!ritz_emit_has_derivatives(space)) return;
  if (!b->is_tensor) emit_dense(e, space, n, true, add);
  for (int d = 0; b->is_tensor && d < b->dim; d++) emit_sweep(e, space, n, d, add || d > 0);
}

static void emit_forward(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int n = ritz_emit_array_number(e, s), B = space->basis, nc = (int)space->num_comp;

  if (!b || space->form == RITZ_FORM_CONSTANT) return;
  if (space->form == RITZ_FORM_LINEAR) {
    ritz_text_add(&e->text, "  ritz_linear_coefficients(%d, w->x%d);\n", nc, n);
    return;
  }
  if (!ritz_emit_is_line_route(space, b)) {
    emit_whole(e, space, n);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char from = b->dim > 1 ? 'a' : 'x';
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (ritz_emit_has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d, %d, %d, w->u%d, w->g%d, false);\n", B, Q, nc, n,
                    n);
    return;
  }
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_up(ahead, &ritz_B%d, %d, w->x%d, w->a%d);\n",
                  ritz_emit_is_values(e) ? "outer" : "tensor", B, nc, n, n);
  if (ritz_emit_is_values(e)) return;
  if (ritz_emit_has_derivatives(space))
    ritz_text_add(&e->text,
                  "  ritz_last_both(ahead, &ritz_B%d, &ritz_D%d, %d, %d, w->%c%d, w->u%d, w->g%d);\n", B, B,
                  Q, nc, from, n, n, n);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_B%d, %d, %d, w->%c%d, w->u%d, false);\n", B, Q, nc,
                  from, n, n);
}

static void emit_backward(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int n = ritz_emit_array_number(e, s), B = space->basis, nc = (int)space->num_comp;

  if (!b) return;
  if (!ritz_emit_is_line_route(space, b)) {
    emit_whole(e, space, n);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char to = b->dim > 1 ? 'a' : 'x';
  const bool has_u = has_values(space) || b->dim > 1; // what rows have left there
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (ritz_emit_has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d_t, %d, %d, w->g%d, w->u%d, %s);\n", B, Q, nc, n,
                    n, has_u ? "true" : "false");
    return;
  }
  if (ritz_emit_is_values(e))
    ;
  else if (ritz_emit_has_derivatives(space) && has_u)
    ritz_text_add(&e->text,
                  "  ritz_last_sum(ahead, &ritz_B%d_t, &ritz_D%d_t, %d, %d, w->u%d, w->g%d, w->%c%d);\n", B,
                  B, Q, nc, n, n, to, n);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_%c%d_t, %d, %d, w->%c%d, w->%c%d, false);\n",
                  has_u ? 'B' : 'D', B, Q, nc, has_u ? 'u' : 'g', n, to, n);
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_down(ahead, &ritz_B%d_t, %d, w->a%d, w->x%d);\n",
                  ritz_emit_is_values(e) ? "outer" : "tensor", B, nc, n, n);
}

// Steps of a batch at which data of the next one are fetched: rows, and the slabs and lines of whole elements
// (kernels/cpu/tensor.h).
static CeedInt count_steps(const RitzEmitter *e) {
  const RitzPlan *plan = e->plan;
  CeedInt steps = CeedIntPow(plan->Q_1d, plan->dim - 1);

  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
    if (!ritz_emit_is_line_route(space, b)) continue;
    const bool is_identity = b->route == RITZ_ROUTE_IDENTITY;
    if (!is_identity && b->dim > 1) steps += b->P_1d * space->num_comp;
    if (!ritz_emit_is_values(e) && (!is_identity || ritz_emit_has_derivatives(space)))
      steps += space->num_comp * CeedIntPow(b->Q_1d, b->dim - 1);
  }
  return steps;
}

// Dense bases: a step for each block of rows, whose length the compiler knows (kernels/cpu/dense.h).
static void emit_blocks(RitzEmitter *e, const RitzPlanSpace *space, bool derivative) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzPlanPairs *values = derivative ? &b->deriv_pairs : &b->interp_pairs;
  const RitzPlanPairs *rows = space->is_input ? values : &b->node_pairs;

  ritz_text_add(&e->text, " +\n                  %d * ", (int)space->num_comp);
  if (b->is_folded)
    ritz_text_add(&e->text, "(RITZ_BLOCKS(%d, RITZ_FOLDED_ROWS) + RITZ_BLOCKS(%d, RITZ_DENSE_ROWS))",
                  (int)rows->pairs, (int)rows->alone);
  else
    ritz_text_add(&e->text, "RITZ_BLOCKS(%d, RITZ_DENSE_ROWS)",
                  (int)(space->is_input ? ritz_emit_dense_values(b, derivative) : b->P));
}

static bool is_dense(const RitzEmitter *e, const RitzPlanSpace *space) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  return b && !b->is_tensor && space->form == RITZ_FORM_LINES;
}

static bool has_dense(const RitzEmitter *e) {
  bool has = false;
  for (int s = 0; s < e->plan->num_spaces; s++) has |= is_dense(e, &e->plan->spaces[s]);
  return has;
}

// All steps of a batch, `others` of them without dense bases.
static void emit_steps(RitzEmitter *e, CeedInt others) {
  ritz_text_add(&e->text, "enum { RITZ_STEPS = %d", (int)others);
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (!is_dense(e, space)) continue;
    if (has_values(space)) emit_blocks(e, space, false);
    if (ritz_emit_has_derivatives(space)) emit_blocks(e, space, true);
  }
  ritz_text_add(&e->text, " };\n");
}

// Out of n things, those that a step fetches.
static void emit_share(RitzEmitter *e, CeedInt n, CeedInt steps) {
  if (has_dense(e))
    ritz_text_add(&e->text, "RITZ_BLOCKS(%d, RITZ_STEPS));\n", (int)n);
  else
    ritz_text_add(&e->text, "%d);\n", (int)((n + steps - 1) / steps));
}

void ritz_emit_ahead(RitzEmitter *e, CeedInt more) {
  const RitzPlan *plan = e->plan;
  const CeedInt steps = count_steps(e) + more;

  if (has_dense(e)) {
    ritz_text_add(&e->text, "\n// ---- What each step fetches for the next batch ----\n");
    emit_steps(e, steps);
  } else {
    ritz_text_add(&e->text, "\n// ---- What each of %d steps fetches for the next batch ----\n", (int)steps);
  }
  ritz_text_add(&e->text, "RITZ_INLINE void ritz_ahead(RitzAhead *ahead) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const RitzCpuSpace *how = &e->target->spaces[s];
    const CeedInt offsets =
        how->gather == RITZ_GATHER_ROWS ? space->num_nodes / how->row_length * e->target->lanes : 0;
    if (how->gather == RITZ_GATHER_PACKED && e->target->prefetch_packed) {
      ritz_text_add(&e->text, "  ritz_fetch_packed(ahead, %d, %d, %d, ", s, (int)space->num_comp,
                    (int)plan->Q);
      emit_share(e, plan->Q, steps);
    }
    if (offsets && e->target->prefetch_vectors) {
      ritz_text_add(&e->text, "  ritz_fetch_rows(ahead, %d, %d, ", s, (int)offsets);
      emit_share(e, offsets, steps);
    }
  }
  ritz_text_add(&e->text, "  ahead->step++;\n}\n");
}

static void emit_input(RitzEmitter *e, int s) {
  emit_node_transfer(e, s);
  emit_orient(e, s);
  emit_forward(e, s);
}

static void emit_output(RitzEmitter *e, int s) {
  emit_backward(e, s);
  emit_orient(e, s);
  emit_node_transfer(e, s);
}

void ritz_emit_elements(RitzEmitter *e, bool is_input) {
  ritz_text_add(&e->text,
                "RITZ_INLINE void ritz_%s(const RitzKernelArgs *args, const RitzBatch *b, RitzAhead *ahead, "
                "RitzWork *w) {\n",
                is_input ? "inputs" : "outputs");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (space->is_input == is_input && e->target->spaces[s].gather != RITZ_GATHER_PACKED)
      (is_input ? emit_input : emit_output)(e, s);
  }
  ritz_text_add(&e->text, "}\n");
}

// ---- Planes and rows ----

static bool has_line_derivatives(const RitzEmitter *e, int s, bool is_input, CeedInt min_dim) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  return space->is_input == is_input && ritz_emit_is_line_route(space, b) &&
         ritz_emit_has_derivatives(space) && b->dim >= min_dim;
}

// Taken anew for each plane: the compiler moves what depends on them alone out of its loops.
static void emit_constants(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int nodes = (int)space->num_nodes, nc = (int)space->num_comp;

  if (has_values(space))
    ritz_text_add(&e->text, "  ritz_constants(%d, %d, %d, ritz_H%d, w->x%d, p->h%d);\n",
                  (int)b->q_comp_interp, nc, nodes, space->basis, s, s);
  if (ritz_emit_has_derivatives(space))
    ritz_text_add(&e->text, "  ritz_constants(%d, %d, %d, ritz_S%d, w->x%d, p->d%d);\n", (int)b->q_comp_deriv,
                  nc, nodes, space->basis, s, s);
}

void ritz_emit_plane(RitzEmitter *e, bool is_input) {
  ritz_text_add(&e->text, "RITZ_INLINE void ritz_plane_%s(RitzWork *w, RitzPlane *p, int k) {\n",
                is_input ? "in" : "out");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (is_input && e->plan->spaces[s].form == RITZ_FORM_CONSTANT) emit_constants(e, s);
    if (!has_line_derivatives(e, s, is_input, 3)) continue;
    const RitzPlanSpace *space = &e->plan->spaces[s];
    const int n = ritz_emit_array_number(e, s), nc = (int)space->num_comp;
    if (is_input)
      ritz_text_add(&e->text, "  ritz_middle(&ritz_C%d, %d, w->u%d, k, p->m%d);\n", space->basis, nc, n, n);
    else
      ritz_text_add(&e->text, "  ritz_middle_add(&ritz_C%d_t, %d, p->m%d, k, w->u%d);\n", space->basis, nc, n,
                    n);
  }
  ritz_text_add(&e->text, "}\n");
}

// Number of a row.
static const char row_number[] = "k * RITZ_ROWS + j";

static void emit_linear_row(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int B = space->basis, dim = (int)e->plan->dim;

  ritz_text_add(&e->text, "  ritz_linear_row(%d, w->x%d, ", (int)space->num_comp, s);
  if (dim > 1)
    ritz_text_add(&e->text, "ritz_R%d[j], ", B);
  else
    ritz_text_add(&e->text, "0, ");
  if (dim > 2)
    ritz_text_add(&e->text, "ritz_R%d[k], r->l%d);\n", B, s);
  else
    ritz_text_add(&e->text, "0, r->l%d);\n", s);
}

static void emit_row_input(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int n = ritz_emit_array_number(e, s), nc = (int)space->num_comp;

  if (space->form == RITZ_FORM_LINEAR) emit_linear_row(e, s);
  if (ritz_emit_is_values(e) && ritz_emit_is_line_route(space, ritz_emit_basis_of(e, space)))
    ritz_text_add(&e->text, "  ritz_row_up(&ritz_B%d, %d, w->a%d, %s, r->c%d);\n", space->basis, nc, n,
                  row_number, n);
  if (has_line_derivatives(e, s, true, 2))
    ritz_text_add(&e->text, "  ritz_first(&ritz_C%d, %d, w->u%d, k, j, r->f%d);\n", space->basis, nc, n, n);
}

static void emit_row_output(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int n = ritz_emit_array_number(e, s), nc = (int)space->num_comp;

  if (ritz_emit_is_values(e) && ritz_emit_is_line_route(space, ritz_emit_basis_of(e, space)))
    ritz_text_add(&e->text, "  ritz_row_down(&ritz_B%d_t, %d, r->c%d, %s, w->a%d);\n", space->basis, nc, n,
                  row_number, n);
  if (has_line_derivatives(e, s, false, 2))
    ritz_text_add(&e->text, "  ritz_first_back(&ritz_C%d_t, %d, r->f%d, k, j, w->u%d, %s);\n", space->basis,
                  nc, n, n, has_values(space) ? "true" : "false");
}

void ritz_emit_row(RitzEmitter *e, bool is_input) {
  ritz_text_add(&e->text,
                "RITZ_INLINE void ritz_row_%s(RitzWork *w, RitzPlane *p, RitzRow *r, int k, int j) {\n",
                is_input ? "in" : "out");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (e->plan->spaces[s].is_input == is_input) (is_input ? emit_row_input : emit_row_output)(e, s);
  }
  ritz_text_add(&e->text, "}\n");
}
