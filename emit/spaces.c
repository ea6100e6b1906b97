// SPDX-License-Identifier: BSD-2-Clause
// Arrays, transfers and evaluation of spaces (contract in emit/parts.h).
#include <stdio.h>

#include "emit/parts.h"
#include "plan/blocks.h"

static bool has_values(const RitzPlanSpace *space) { return space->modes & CEED_EVAL_INTERP; }

// ---- Arrays ----

static const struct {
  const char *name;
  RitzArrayLife life;
} arrays[RITZ_NUM_ARRAYS] = {
    [RITZ_ARRAY_NODES] = {"nodes", RITZ_OF_BATCH},
    [RITZ_ARRAY_PARTIAL] = {"partial", RITZ_OF_BATCH},
    [RITZ_ARRAY_VALUES] = {"values", RITZ_OF_BATCH},
    [RITZ_ARRAY_DERIVATIVES] = {"derivatives", RITZ_OF_BATCH},
    [RITZ_ARRAY_WORK] = {"work", RITZ_OF_BATCH},
    [RITZ_ARRAY_PLANE_DERIVATIVES] = {"middle_derivatives", RITZ_OF_PLANE},
    [RITZ_ARRAY_CONSTANT_VALUES] = {"constant_values", RITZ_OF_PLANE},
    [RITZ_ARRAY_CONSTANT_DERIVATIVES] = {"constant_derivatives", RITZ_OF_PLANE},
    [RITZ_ARRAY_ROW_DERIVATIVES] = {"first_derivatives", RITZ_OF_ROW},
    [RITZ_ARRAY_ROW_VALUES] = {"row_values", RITZ_OF_ROW},
    [RITZ_ARRAY_LINEAR_ROW] = {"coefficients", RITZ_OF_ROW},
};

RitzArrayName ritz_emit_array(const RitzEmitter *e, int s, RitzArray array) {
  static const char *const structs[] = {[RITZ_OF_BATCH] = "w", [RITZ_OF_PLANE] = "p", [RITZ_OF_ROW] = "r"};
  RitzArrayName name;
  snprintf(name.text, sizeof(name.text), "%s->%s%d", structs[arrays[array].life], arrays[array].name,
           ritz_emit_array_number(e, s));
  return name;
}

// An input that is not contracted needs its nodes, and little of what is made of them.
static bool form_needs(const RitzPlanSpace *space, RitzArray array) {
  switch (array) {
  case RITZ_ARRAY_NODES: return true;
  case RITZ_ARRAY_LINEAR_ROW: return space->form == RITZ_FORM_LINEAR;
  case RITZ_ARRAY_CONSTANT_VALUES: return space->form == RITZ_FORM_CONSTANT && has_values(space);
  case RITZ_ARRAY_CONSTANT_DERIVATIVES:
    return space->form == RITZ_FORM_CONSTANT && ritz_emit_has_derivatives(space);
  default: return false;
  }
}

static bool needs(const RitzEmitter *e, int s, RitzArray array) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool lines = ritz_emit_is_line_route(space, b), derivatives = ritz_emit_has_derivatives(space);

  if (!b) return array == RITZ_ARRAY_VALUES && e->target->spaces[s].gather != RITZ_GATHER_PACKED;
  if (space->form != RITZ_FORM_LINES) return form_needs(space, array);
  switch (array) {
  case RITZ_ARRAY_NODES: return b->route != RITZ_ROUTE_IDENTITY;
  case RITZ_ARRAY_PARTIAL: return b->route == RITZ_ROUTE_COLLOCATED && b->dim > 1;
  case RITZ_ARRAY_VALUES: return (lines && !ritz_emit_is_values(e)) || (has_values(space) && !lines);
  case RITZ_ARRAY_DERIVATIVES: return derivatives;
  case RITZ_ARRAY_WORK: return (b->route == RITZ_ROUTE_DIRECT && b->dim > 1) || b->route == RITZ_ROUTE_BLOCKS;
  case RITZ_ARRAY_PLANE_DERIVATIVES: return lines && derivatives && b->dim == 3;
  case RITZ_ARRAY_ROW_DERIVATIVES: return lines && derivatives && b->dim >= 2;
  case RITZ_ARRAY_ROW_VALUES: return lines && ritz_emit_is_values(e);
  default: return false;
  }
}

// Vectors of a component of an array, of a space with a tensor basis that is contracted.
static void add_tensor_size(RitzEmitter *e, const RitzPlanBasis *b, RitzArray array) {
  const int P = (int)b->P_1d, Q = (int)b->Q_1d;
  switch (array) {
  case RITZ_ARRAY_NODES: ritz_text_add(&e->text, "RITZ_SIZE(%d, %d)", P, P); break;
  case RITZ_ARRAY_PARTIAL:
    if (ritz_emit_is_values(e))
      ritz_text_add(&e->text, "%d * %d", P, (int)CeedIntPow(Q, b->dim - 1));
    else
      ritz_text_add(&e->text, "RITZ_SIZE(%d, %d)", P, P > Q ? P : Q);
    break;
  case RITZ_ARRAY_WORK: ritz_text_add(&e->text, "RITZ_SIZE(%d, %d)", P, P > Q ? P : Q); break;
  case RITZ_ARRAY_PLANE_DERIVATIVES: ritz_text_add(&e->text, "%d", Q * Q); break;
  case RITZ_ARRAY_ROW_DERIVATIVES:
  case RITZ_ARRAY_ROW_VALUES: ritz_text_add(&e->text, "%d", Q); break;
  default:
    if (array == RITZ_ARRAY_DERIVATIVES && b->route == RITZ_ROUTE_DIRECT)
      ritz_text_add(&e->text, "%d * ", (int)b->dim);
    ritz_text_add(&e->text, "RITZ_SIZE(%d, %d)", Q, Q);
  }
}

static void add_array(RitzEmitter *e, int s, RitzArray array) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);

  const bool is_work_of_blocks = array == RITZ_ARRAY_WORK && b && b->route == RITZ_ROUTE_BLOCKS;

  ritz_text_add(&e->text, "  RitzVec %s%d[%d * ", arrays[array].name, ritz_emit_array_number(e, s),
                is_work_of_blocks ? 1 : (int)space->num_comp);
  if (!b)
    ritz_text_add(&e->text, "%d", (int)space->num_nodes);
  else if (array == RITZ_ARRAY_LINEAR_ROW)
    ritz_text_add(&e->text, "RITZ_LINEAR_ROW");
  else if (array == RITZ_ARRAY_CONSTANT_VALUES || array == RITZ_ARRAY_CONSTANT_DERIVATIVES)
    ritz_text_add(&e->text, "%d",
                  (int)(array == RITZ_ARRAY_CONSTANT_VALUES ? b->q_comp_interp : b->q_comp_deriv));
  else if (is_work_of_blocks)
    ritz_text_add(&e->text, "%d", (int)ritz_plan_block_work(b, space->modes));
  else if (!b->is_tensor)
    ritz_text_add(
        &e->text, "%d",
        (int)(array == RITZ_ARRAY_NODES ? b->P : ritz_emit_dense_values(b, array == RITZ_ARRAY_DERIVATIVES)));
  else
    add_tensor_size(e, b, array);
  ritz_text_add(&e->text, "];\n");
}

// Another space of the same number that needs the array, too, and comes before.
static bool is_declared(const RitzEmitter *e, int s, RitzArray array) {
  for (int t = 0; t < s; t++) {
    if (ritz_emit_array_number(e, t) == ritz_emit_array_number(e, s) && needs(e, t, array)) return true;
  }
  return false;
}

void ritz_emit_arrays(RitzEmitter *e, RitzArrayLife life) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    for (int a = 0; a < RITZ_NUM_ARRAYS; a++) {
      if (arrays[a].life == life && needs(e, s, (RitzArray)a) && !is_declared(e, s, (RitzArray)a))
        add_array(e, s, (RitzArray)a);
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

// The array at the nodes.
static RitzArray node_array(const RitzPlanSpace *space, const RitzPlanBasis *b) {
  if (space->form != RITZ_FORM_LINES) return RITZ_ARRAY_NODES;
  return !b || b->route == RITZ_ROUTE_IDENTITY ? RITZ_ARRAY_VALUES : RITZ_ARRAY_NODES;
}

void ritz_emit_transfer(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number,
                        const char *array) {
  static const char *const kinds[] = {"nodes", "rows", "strided"};

  ritz_text_add(&e->text, "  ritz_%s_%s(&args->spaces[%d], b, &ritz_shape%d, ",
                space->is_input ? "gather" : "scatter", kinds[how->gather], number, number);
  if (how->gather == RITZ_GATHER_ROWS)
    ritz_text_add(&e->text, "%d, %s, ", (int)how->row_length, space->is_interlaced ? "true" : "false");
  ritz_text_add(&e->text, "%s);\n", array);
}

static void emit_node_transfer(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzArrayName array = ritz_emit_array(e, s, node_array(space, ritz_emit_basis_of(e, space)));
  ritz_emit_transfer(e, space, &e->target->spaces[s], s, array.text);
}

static void emit_orient(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzArrayName array = ritz_emit_array(e, s, node_array(space, ritz_emit_basis_of(e, space)));

  if (space->is_oriented)
    ritz_text_add(&e->text, "  ritz_orient(&args->spaces[%d], b, &ritz_shape%d, %s);\n", s, s, array.text);
  if (space->is_curl_oriented)
    ritz_text_add(&e->text, "  ritz_curl_orient(&args->spaces[%d], b, &ritz_shape%d, %s, %s);\n", s, s,
                  space->is_input ? "false" : "true", array.text);
}

// All directions of the direct route, of which `direction` is differentiated (0 first; -1: none).
static void emit_sweep(RitzEmitter *e, int s, int direction, bool add) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES),
                      between = ritz_emit_array(e, s, RITZ_ARRAY_WORK);
  const char *t = space->is_input ? "" : "_t", *work = b->dim > 1 ? between.text : "0";
  const int dim = (int)b->dim, nc = (int)space->num_comp, Q = (int)b->Q_1d;
  char matrix[3], points[128];

  for (int d = 0; d < 3; d++) matrix[d] = d == direction ? 'D' : 'B';
  ritz_text_add(&e->text, "  ritz_sweep(&ritz_%c%d%s, &ritz_%c%d%s, &ritz_%c%d%s, %d, ", matrix[0],
                space->basis, t, matrix[1], space->basis, t, matrix[dim - 1], space->basis, t, nc);
  if (direction < 0)
    snprintf(points, sizeof(points), "%s", ritz_emit_array(e, s, RITZ_ARRAY_VALUES).text);
  else
    snprintf(points, sizeof(points), "%s + %d * RITZ_SIZE(%d, %d)",
             ritz_emit_array(e, s, RITZ_ARRAY_DERIVATIVES).text, direction * nc, Q, Q);
  if (space->is_input)
    ritz_text_add(&e->text, "%s, %s, %s, false);\n", nodes.text, points, work);
  else
    ritz_text_add(&e->text, "%s, %s, %s, %s);\n", points, nodes.text, work, add ? "true" : "false");
}

static void emit_dense(RitzEmitter *e, int s, bool derivative, bool add) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES),
                      points = ritz_emit_array(e, s, derivative ? RITZ_ARRAY_DERIVATIVES : RITZ_ARRAY_VALUES);
  const int B = space->basis, nc = (int)space->num_comp, matrix = (int)b->first_matrix + derivative;
  const char *direction = space->is_input ? "up" : "down";

  if (b->is_folded)
    ritz_text_add(&e->text, "  ritz_folded_%s(ahead, %d, &ritz_N%d, &ritz_%c%d, args->matrices[%d], ",
                  direction, nc, B, derivative ? 'G' : 'V', B, matrix);
  else
    ritz_text_add(&e->text, "  ritz_dense_%s(ahead, %d, %d, %d, args->matrices[%d], ", direction, nc,
                  (int)b->P, (int)ritz_emit_dense_values(b, derivative), matrix);
  if (space->is_input)
    ritz_text_add(&e->text, "%s, %s);\n", nodes.text, points.text);
  else
    ritz_text_add(&e->text, "%s, %s, %s);\n", points.text, nodes.text, add ? "true" : "false");
}

static void emit_fold(RitzEmitter *e, int s, char pairs, RitzArray array) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  ritz_text_add(&e->text, "  ritz_fold(%d, &ritz_%c%d, %s);\n", (int)space->num_comp, pairs, space->basis,
                ritz_emit_array(e, s, array).text);
}

// Pairs -> sums and differences: of what a space is evaluated from.
static void emit_folds(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];

  if (!ritz_emit_basis_of(e, space)->is_folded) return;
  if (space->is_input) emit_fold(e, s, 'N', RITZ_ARRAY_NODES);
  if (!space->is_input && has_values(space)) emit_fold(e, s, 'V', RITZ_ARRAY_VALUES);
  if (!space->is_input && ritz_emit_has_derivatives(space)) emit_fold(e, s, 'G', RITZ_ARRAY_DERIVATIVES);
}

// Blocks; direct and dense routes: values, then derivatives; backwards they are added up.
static void emit_whole(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  bool add = false;

  if (b->route == RITZ_ROUTE_BLOCKS) {
    ritz_emit_blocks(e, s);
    return;
  }
  emit_folds(e, s);
  if (has_values(space)) {
    if (b->is_tensor)
      emit_sweep(e, s, -1, add);
    else
      emit_dense(e, s, false, add);
    add = true;
  }
  if (!ritz_emit_has_derivatives(space)) return;
  if (!b->is_tensor) emit_dense(e, s, true, add);
  for (int d = 0; b->is_tensor && d < b->dim; d++) emit_sweep(e, s, d, add || d > 0);
}

static void emit_forward(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES),
                      partial = ritz_emit_array(e, s, RITZ_ARRAY_PARTIAL),
                      values = ritz_emit_array(e, s, RITZ_ARRAY_VALUES),
                      derivatives = ritz_emit_array(e, s, RITZ_ARRAY_DERIVATIVES);
  const int B = space->basis, nc = (int)space->num_comp;

  if (!b || space->form == RITZ_FORM_CONSTANT) return;
  if (space->form == RITZ_FORM_LINEAR) {
    ritz_text_add(&e->text, "  ritz_linear_coefficients(%d, %s);\n", nc, nodes.text);
    return;
  }
  if (!ritz_emit_is_line_route(space, b)) {
    emit_whole(e, s);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char *from = b->dim > 1 ? partial.text : nodes.text;
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (ritz_emit_has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d, %d, %d, %s, %s, false);\n", B, Q, nc,
                    values.text, derivatives.text);
    return;
  }
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_up(ahead, &ritz_B%d, %d, %s, %s);\n",
                  ritz_emit_is_values(e) ? "outer" : "tensor", B, nc, nodes.text, partial.text);
  if (ritz_emit_is_values(e)) return;
  if (ritz_emit_has_derivatives(space))
    ritz_text_add(&e->text, "  ritz_last_both(ahead, &ritz_B%d, &ritz_D%d, %d, %d, %s, %s, %s);\n", B, B, Q,
                  nc, from, values.text, derivatives.text);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_B%d, %d, %d, %s, %s, false);\n", B, Q, nc, from,
                  values.text);
}

static void emit_backward(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES),
                      partial = ritz_emit_array(e, s, RITZ_ARRAY_PARTIAL),
                      values = ritz_emit_array(e, s, RITZ_ARRAY_VALUES),
                      derivatives = ritz_emit_array(e, s, RITZ_ARRAY_DERIVATIVES);
  const int B = space->basis, nc = (int)space->num_comp;

  if (!b) return;
  if (!ritz_emit_is_line_route(space, b)) {
    emit_whole(e, s);
    return;
  }
  const int Q = (int)b->Q_1d;
  const char *to = b->dim > 1 ? partial.text : nodes.text;
  const bool has_u = has_values(space) || b->dim > 1; // what rows have left there
  if (b->route == RITZ_ROUTE_IDENTITY) {
    if (ritz_emit_has_derivatives(space))
      ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_C%d_t, %d, %d, %s, %s, %s);\n", B, Q, nc,
                    derivatives.text, values.text, has_u ? "true" : "false");
    return;
  }
  if (ritz_emit_is_values(e))
    ;
  else if (ritz_emit_has_derivatives(space) && has_u)
    ritz_text_add(&e->text, "  ritz_last_sum(ahead, &ritz_B%d_t, &ritz_D%d_t, %d, %d, %s, %s, %s);\n", B, B,
                  Q, nc, values.text, derivatives.text, to);
  else
    ritz_text_add(&e->text, "  ritz_last(ahead, &ritz_%c%d_t, %d, %d, %s, %s, false);\n", has_u ? 'B' : 'D',
                  B, Q, nc, has_u ? values.text : derivatives.text, to);
  if (b->dim > 1)
    ritz_text_add(&e->text, "  ritz_%s_down(ahead, &ritz_B%d_t, %d, %s, %s);\n",
                  ritz_emit_is_values(e) ? "outer" : "tensor", B, nc, partial.text, nodes.text);
}

// Steps of a batch at which data of the next one are fetched: rows, and the slabs and lines of whole elements
// (kernels/cpu/tensor.h).
static CeedInt count_steps(const RitzEmitter *e) {
  const RitzPlan *plan = e->plan;
  CeedInt steps = CeedIntPow(plan->Q_1d, plan->dim - 1);

  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
    if (b && b->route == RITZ_ROUTE_BLOCKS) steps += ritz_emit_block_steps(b, space);
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
  return b && b->route == RITZ_ROUTE_DENSE && space->form == RITZ_FORM_LINES;
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
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES);
  const int num_nodes = (int)space->num_nodes, nc = (int)space->num_comp;

  if (has_values(space))
    ritz_text_add(&e->text, "  ritz_constants(%d, %d, %d, ritz_H%d, %s, %s);\n", (int)b->q_comp_interp, nc,
                  num_nodes, space->basis, nodes.text,
                  ritz_emit_array(e, s, RITZ_ARRAY_CONSTANT_VALUES).text);
  if (ritz_emit_has_derivatives(space))
    ritz_text_add(&e->text, "  ritz_constants(%d, %d, %d, ritz_S%d, %s, %s);\n", (int)b->q_comp_deriv, nc,
                  num_nodes, space->basis, nodes.text,
                  ritz_emit_array(e, s, RITZ_ARRAY_CONSTANT_DERIVATIVES).text);
}

void ritz_emit_plane(RitzEmitter *e, bool is_input) {
  ritz_text_add(&e->text, "RITZ_INLINE void ritz_plane_%s(RitzWork *w, RitzPlane *p, int k) {\n",
                is_input ? "in" : "out");
  for (int s = 0; s < e->plan->num_spaces; s++) {
    if (is_input && e->plan->spaces[s].form == RITZ_FORM_CONSTANT) emit_constants(e, s);
    if (!has_line_derivatives(e, s, is_input, 3)) continue;
    const RitzPlanSpace *space = &e->plan->spaces[s];
    const RitzArrayName values = ritz_emit_array(e, s, RITZ_ARRAY_VALUES),
                        derivatives = ritz_emit_array(e, s, RITZ_ARRAY_PLANE_DERIVATIVES);
    const int nc = (int)space->num_comp;
    if (is_input)
      ritz_text_add(&e->text, "  ritz_middle(&ritz_C%d, %d, %s, k, %s);\n", space->basis, nc, values.text,
                    derivatives.text);
    else
      ritz_text_add(&e->text, "  ritz_middle_add(&ritz_C%d_t, %d, %s, k, %s);\n", space->basis, nc,
                    derivatives.text, values.text);
  }
  ritz_text_add(&e->text, "}\n");
}

// Number of a row.
static const char row_number[] = "k * RITZ_ROWS + j";

static void emit_linear_row(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzArrayName nodes = ritz_emit_array(e, s, RITZ_ARRAY_NODES),
                      row = ritz_emit_array(e, s, RITZ_ARRAY_LINEAR_ROW);
  const int B = space->basis, dim = (int)e->plan->dim;

  ritz_text_add(&e->text, "  ritz_linear_row(%d, %s, ", (int)space->num_comp, nodes.text);
  if (dim > 1)
    ritz_text_add(&e->text, "ritz_R%d[j], ", B);
  else
    ritz_text_add(&e->text, "0, ");
  if (dim > 2)
    ritz_text_add(&e->text, "ritz_R%d[k], %s);\n", B, row.text);
  else
    ritz_text_add(&e->text, "0, %s);\n", row.text);
}

static void emit_row_input(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int nc = (int)space->num_comp;

  if (space->form == RITZ_FORM_LINEAR) emit_linear_row(e, s);
  if (ritz_emit_is_values(e) && ritz_emit_is_line_route(space, ritz_emit_basis_of(e, space)))
    ritz_text_add(&e->text, "  ritz_row_up(&ritz_B%d, %d, %s, %s, %s);\n", space->basis, nc,
                  ritz_emit_array(e, s, RITZ_ARRAY_PARTIAL).text, row_number,
                  ritz_emit_array(e, s, RITZ_ARRAY_ROW_VALUES).text);
  if (has_line_derivatives(e, s, true, 2))
    ritz_text_add(&e->text, "  ritz_first(&ritz_C%d, %d, %s, k, j, %s);\n", space->basis, nc,
                  ritz_emit_array(e, s, RITZ_ARRAY_VALUES).text,
                  ritz_emit_array(e, s, RITZ_ARRAY_ROW_DERIVATIVES).text);
}

static void emit_row_output(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const int nc = (int)space->num_comp;

  if (ritz_emit_is_values(e) && ritz_emit_is_line_route(space, ritz_emit_basis_of(e, space)))
    ritz_text_add(&e->text, "  ritz_row_down(&ritz_B%d_t, %d, %s, %s, %s);\n", space->basis, nc,
                  ritz_emit_array(e, s, RITZ_ARRAY_ROW_VALUES).text, row_number,
                  ritz_emit_array(e, s, RITZ_ARRAY_PARTIAL).text);
  if (has_line_derivatives(e, s, false, 2))
    ritz_text_add(&e->text, "  ritz_first_back(&ritz_C%d_t, %d, %s, k, j, %s, %s);\n", space->basis, nc,
                  ritz_emit_array(e, s, RITZ_ARRAY_ROW_DERIVATIVES).text,
                  ritz_emit_array(e, s, RITZ_ARRAY_VALUES).text, has_values(space) ? "true" : "false");
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
