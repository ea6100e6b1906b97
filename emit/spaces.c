// SPDX-License-Identifier: BSD-2-Clause
// Arrays of spaces, and one line for each call of a template (contract in emit/cpu-text.h). What is called
// when and with which arrays is the target's (plan/cpu-steps.c).
#include <stdio.h>

#include "emit/cpu-text.h"
#include "plan/blocks.h"
#include "plan/steps.h"

// ---- Arrays ----

static RitzCpuStage life_of(RitzCpuArray array) {
  switch (array) {
  case RITZ_ARRAY_PLANE_DERIVATIVES:
  case RITZ_ARRAY_CONSTANT_VALUES:
  case RITZ_ARRAY_CONSTANT_DERIVATIVES: return RITZ_STAGE_PLANE;
  case RITZ_ARRAY_ROW_DERIVATIVES:
  case RITZ_ARRAY_ROW_VALUES:
  case RITZ_ARRAY_LINEAR_ROW: return RITZ_STAGE_ROW;
  default: return RITZ_STAGE_ELEMENT;
  }
}

RitzArrayName ritz_emit_array(const RitzEmitter *e, int s, RitzCpuArray array) {
  static const char *const structs[] = {
      [RITZ_STAGE_ELEMENT] = "w", [RITZ_STAGE_PLANE] = "p", [RITZ_STAGE_ROW] = "r"};
  RitzArrayName name;
  snprintf(name.text, sizeof(name.text), "%s->%s%d", structs[life_of(array)], ritz_cpu_array_name(array),
           ritz_emit_array_number(e, s));
  return name;
}

// Directions of the direct route lie one after the other.
static RitzArrayName name_buffer(const RitzEmitter *e, int buffer) {
  const RitzBuffer *at = &e->plan->steps->buffers[buffer];
  const RitzPlanSpace *space = &e->plan->spaces[at->space];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  RitzArrayName name = ritz_emit_array(e, at->space, e->target->arrays[buffer]);
  if (e->target->arrays[buffer] == RITZ_ARRAY_DERIVATIVES && b->route == RITZ_ROUTE_DIRECT) {
    RitzArrayName part;
    snprintf(part.text, sizeof(part.text), "%.24s + %d * RITZ_SIZE(%d, %d)", name.text,
             (int)(at->direction * space->num_comp), (int)b->Q_1d, (int)b->Q_1d);
    return part;
  }
  return name;
}

static bool has_array(const RitzEmitter *e, int s, RitzCpuArray array) {
  const RitzSteps *list = e->plan->steps;
  for (int b = 0; b < list->num_buffers; b++) {
    if (list->buffers[b].space == s && e->target->arrays[b] == array) return true;
  }
  return false;
}

// Vectors of a component of an array, of a space with a tensor basis that is contracted.
static void add_tensor_size(RitzEmitter *e, const RitzPlanBasis *b, RitzCpuArray array) {
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

static void add_array(RitzEmitter *e, int s, RitzCpuArray array) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool is_work_of_blocks = array == RITZ_ARRAY_WORK && b && b->route == RITZ_ROUTE_BLOCKS;

  ritz_text_add(&e->text, "  RitzVec %s%d[%d * ", ritz_cpu_array_name(array), ritz_emit_array_number(e, s),
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

// Another space of the same number that has the array, too, and comes before.
static bool is_declared(const RitzEmitter *e, int s, RitzCpuArray array) {
  for (int t = 0; t < s; t++) {
    if (ritz_emit_array_number(e, t) == ritz_emit_array_number(e, s) && has_array(e, t, array)) return true;
  }
  return false;
}

void ritz_emit_arrays(RitzEmitter *e, RitzCpuStage life) {
  for (int s = 0; s < e->plan->num_spaces; s++) {
    for (int a = 0; a < RITZ_NUM_ARRAYS; a++) {
      if (life_of((RitzCpuArray)a) == life && has_array(e, s, (RitzCpuArray)a) &&
          !is_declared(e, s, (RitzCpuArray)a))
        add_array(e, s, (RitzCpuArray)a);
    }
  }
}

void ritz_emit_shape(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int nc = (int)space->num_comp, n = (int)space->num_nodes;
  const char *other = ritz_emit_is_other(e, space) ? "true" : "false";

  if (how->gather == RITZ_GATHER_PACKED) return;
  ritz_text_add(&e->text, "static const RitzShape ritz_shape%d = ", number);
  if (b && b->is_tensor && b->dim > 1) {
    const int P = (int)b->P_1d;
    ritz_text_add(&e->text, "{%d, %d, RITZ_IN_SLAB(%d), RITZ_SLAB(%d), RITZ_SIZE(%d, %d), %s};\n", nc, P, P,
                  P, P, P, other);
  } else {
    ritz_text_add(&e->text, "{%d, 1, %d, %d, %d, %s};\n", nc, n, n, n, other);
  }
}

void ritz_emit_shapes(RitzEmitter *e) {
  for (int s = 0; s < e->plan->num_spaces; s++)
    ritz_emit_shape(e, &e->plan->spaces[s], &e->target->spaces[s], s);
}

// ---- Calls: whole elements ----

void ritz_emit_transfer(RitzEmitter *e, const RitzPlanSpace *space, const RitzCpuSpace *how, int number,
                        const char *array) {
  static const char *const kinds[] = {"nodes", "rows", "strided"};

  ritz_text_add(&e->text, "  ritz_%s_%s(&args->spaces[%d], b, &ritz_shape%d, ",
                space->is_input ? "gather" : "scatter", kinds[how->gather], number, number);
  if (how->gather == RITZ_GATHER_ROWS)
    ritz_text_add(&e->text, "%d, %s, ", (int)how->row_length, space->is_interlaced ? "true" : "false");
  ritz_text_add(&e->text, "%s);\n", array);
}

static void emit_transfer(RitzEmitter *e, const RitzCpuCall *c, const char *nodes) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const RitzCpuSpace *how = &e->target->spaces[c->space];
  const int s = c->space;

  if (c->is_input) ritz_emit_transfer(e, space, how, s, nodes);
  if (space->is_oriented)
    ritz_text_add(&e->text, "  ritz_orient(&args->spaces[%d], b, &ritz_shape%d, %s);\n", s, s, nodes);
  if (space->is_curl_oriented)
    ritz_text_add(&e->text, "  ritz_curl_orient(&args->spaces[%d], b, &ritz_shape%d, %s, %s);\n", s, s,
                  c->is_input ? "false" : "true", nodes);
  if (!c->is_input) ritz_emit_transfer(e, space, how, s, nodes);
}

// All directions of the direct route, one of which may be differentiated.
static void emit_contraction(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const char *t = c->is_input ? "" : "_t";
  RitzTextTable matrix[3] = {RITZ_TEXT_INTERP, RITZ_TEXT_INTERP, RITZ_TEXT_INTERP};

  for (int n = c->first; n < c->first + c->num; n++) {
    const RitzStep *step = &e->plan->steps->steps[n];
    if (step->direction < 3)
      matrix[step->direction] = step->table == RITZ_TABLE_GRAD ? RITZ_TEXT_GRAD : RITZ_TEXT_INTERP;
  }
  ritz_text_add(
      &e->text, "  ritz_contract_all(&ritz_%s%d%s, &ritz_%s%d%s, &ritz_%s%d%s, %d, %s, %s, %s, %s);\n",
      ritz_text_table_name(matrix[0]), space->basis, t, ritz_text_table_name(matrix[1]), space->basis, t,
      ritz_text_table_name(matrix[c->num - 1]), space->basis, t, (int)space->num_comp, from, to,
      c->num > 1 ? ritz_emit_array(e, c->space, RITZ_ARRAY_WORK).text : "0", c->adds ? "true" : "false");
}

static void emit_dense(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool derivative = e->plan->steps->steps[c->first].table == RITZ_TABLE_GRAD;
  const int B = space->basis, nc = (int)space->num_comp, matrix = (int)b->first_matrix + derivative;
  const char *direction = c->is_input ? "up" : "down";

  if (b->is_even_odd)
    ritz_text_add(&e->text,
                  "  ritz_even_odd_%s(prefetch, %d, &ritz_node_pairs%d, &ritz_%s%d, args->matrices[%d], ",
                  direction, nc, B,
                  ritz_text_table_name(derivative ? RITZ_TEXT_DERIVATIVE_PAIRS : RITZ_TEXT_VALUE_PAIRS), B,
                  matrix);
  else
    ritz_text_add(&e->text, "  ritz_dense_%s(prefetch, %d, %d, %d, args->matrices[%d], ", direction, nc,
                  (int)b->P, (int)ritz_emit_dense_values(b, derivative), matrix);
  ritz_text_add(&e->text, "%s, %s%s);\n", from, to, c->is_input ? "" : c->adds ? ", true" : ", false");
}

static void emit_split(RitzEmitter *e, const RitzCpuCall *c, const char *from) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const RitzTextTable points = e->plan->steps->steps[c->first].table == RITZ_TABLE_GRAD
                                   ? RITZ_TEXT_DERIVATIVE_PAIRS
                                   : RITZ_TEXT_VALUE_PAIRS;
  ritz_text_add(&e->text, "  ritz_even_odd_split(%d, &ritz_%s%d, %s);\n", (int)space->num_comp,
                ritz_text_table_name(c->is_input ? RITZ_TEXT_NODE_PAIRS : points), space->basis, from);
}

// The last direction; together with its derivative the values come first.
static void emit_last(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  static const RitzTextTable tables[] = {[RITZ_TABLE_INTERP] = RITZ_TEXT_INTERP,
                                         [RITZ_TABLE_GRAD] = RITZ_TEXT_GRAD,
                                         [RITZ_TABLE_COLLOCATED] = RITZ_TEXT_COLLOCATED};
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const int B = space->basis, Q = (int)e->plan->Q_1d, nc = (int)space->num_comp;
  const char *t = c->is_input ? "" : "_t";

  if (c->name == RITZ_TEMPLATE_LAST) {
    ritz_text_add(&e->text, "  ritz_last(prefetch, &ritz_%s%d%s, %d, %d, %s, %s, %s);\n",
                  ritz_text_table_name(tables[e->plan->steps->steps[c->first].table]), B, t, Q, nc, from, to,
                  c->adds ? "true" : "false");
    return;
  }
  const RitzArrayName also = name_buffer(e, c->also);
  ritz_text_add(&e->text, "  ritz_last_%s(prefetch, &ritz_interp%d%s, &ritz_grad%d%s, %d, %d, %s, %s, %s);\n",
                c->is_input ? "both" : "sum", B, t, B, t, Q, nc, from, c->is_input ? to : also.text,
                c->is_input ? also.text : to);
}

// ---- Calls: planes and rows ----

// Taken anew for each plane: the compiler moves what depends on them alone out of its loops.
static void emit_constants(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool derivative = e->plan->steps->steps[c->first].table == RITZ_TABLE_GRAD;

  ritz_text_add(&e->text, "  ritz_constants(%d, %d, %d, ritz_constant_%s%d, %s, %s);\n",
                (int)(derivative ? b->q_comp_deriv : b->q_comp_interp), (int)space->num_comp,
                (int)space->num_nodes, derivative ? "slopes" : "values", space->basis, from, to);
}

static void emit_linear_row(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const int B = space->basis, dim = (int)e->plan->dim;

  ritz_text_add(&e->text, "  ritz_linear_row(%d, %s, ", (int)space->num_comp, from);
  if (dim > 1)
    ritz_text_add(&e->text, "ritz_points%d[j], ", B);
  else
    ritz_text_add(&e->text, "0, ");
  if (dim > 2)
    ritz_text_add(&e->text, "ritz_points%d[k], %s);\n", B, to);
  else
    ritz_text_add(&e->text, "0, %s);\n", to);
}

// Derivatives along lines of points, and back.
static void emit_lines(RitzEmitter *e, const RitzCpuCall *c, const char *from, const char *to) {
  const RitzPlanSpace *space = &e->plan->spaces[c->space];
  const bool is_first = c->name == RITZ_TEMPLATE_FIRST;
  const char *name = is_first      ? (c->is_input ? "first" : "first_back")
                     : c->is_input ? "middle"
                                   : "middle_add";
  const char *at = is_first ? "k, j" : "k";

  ritz_text_add(&e->text, "  ritz_%s(&ritz_collocated%d%s, %d, ", name, space->basis, c->is_input ? "" : "_t",
                (int)space->num_comp);
  if (c->is_input)
    ritz_text_add(&e->text, "%s, %s, %s);\n", from, at, to);
  else
    ritz_text_add(&e->text, "%s, %s, %s%s);\n", from, at, to,
                  !is_first ? ""
                  : c->adds ? ", true"
                            : ", false");
}

// ---- Stages ----

static void emit_call(RitzEmitter *e, const RitzCpuCall *c) {
  const RitzArrayName in = name_buffer(e, c->name == RITZ_TEMPLATE_TRANSFER && c->is_input ? c->to : c->from);
  const RitzArrayName out =
      c->name == RITZ_TEMPLATE_TRANSFER || c->name == RITZ_TEMPLATE_FOLD ? in : name_buffer(e, c->to);
  const char *from = in.text, *to = out.text, *way = c->is_input ? "up" : "down",
             *t = c->is_input ? "" : "_t";
  const int B = e->plan->spaces[c->space].basis, nc = (int)e->plan->spaces[c->space].num_comp;

  switch (c->name) {
  case RITZ_TEMPLATE_TRANSFER: emit_transfer(e, c, from); break;
  case RITZ_TEMPLATE_FOLD: emit_split(e, c, from); break;
  case RITZ_TEMPLATE_DENSE: emit_dense(e, c, from, to); break;
  case RITZ_TEMPLATE_SWEEP: emit_contraction(e, c, from, to); break;
  case RITZ_TEMPLATE_BLOCKS: ritz_emit_blocks(e, c->space); break;
  case RITZ_TEMPLATE_SLABS:
  case RITZ_TEMPLATE_OUTER:
    ritz_text_add(&e->text, "  ritz_%s_%s(prefetch, &ritz_interp%d%s, %d, %s, %s);\n",
                  c->name == RITZ_TEMPLATE_SLABS ? "tensor" : "outer", way, B, t, nc, from, to);
    break;
  case RITZ_TEMPLATE_LAST:
  case RITZ_TEMPLATE_LAST_BOTH: emit_last(e, c, from, to); break;
  case RITZ_TEMPLATE_ROW:
    ritz_text_add(&e->text, "  ritz_row_%s(&ritz_interp%d%s, %d, %s, k * RITZ_ROWS + j, %s);\n", way, B, t,
                  nc, from, to);
    break;
  case RITZ_TEMPLATE_MIDDLE:
  case RITZ_TEMPLATE_FIRST: emit_lines(e, c, from, to); break;
  case RITZ_TEMPLATE_COEFFICIENTS:
    ritz_text_add(&e->text, "  ritz_linear_coefficients(%d, %s);\n", nc, from);
    break;
  case RITZ_TEMPLATE_LINEAR_ROW: emit_linear_row(e, c, from, to); break;
  case RITZ_TEMPLATE_CONSTANTS: emit_constants(e, c, from, to); break;
  }
}

void ritz_emit_head(RitzEmitter *e, RitzCpuStage stage, bool is_input) {
  static const char *const heads[] = {
      [RITZ_STAGE_ELEMENT] =
          "puts(const RitzKernelArgs *args, const RitzBatch *b, RitzPrefetch *prefetch, RitzWork *w)",
      [RITZ_STAGE_PLANE] = "(RitzWork *w, RitzPlane *p, int k)",
      [RITZ_STAGE_ROW] = "(RitzWork *w, RitzPlane *p, RitzRow *r, int k, int j)"};
  static const char *const names[] = {
      [RITZ_STAGE_ELEMENT] = "", [RITZ_STAGE_PLANE] = "plane_", [RITZ_STAGE_ROW] = "row_"};
  ritz_text_add(&e->text, "RITZ_INLINE void ritz_%s%s%s {\n", names[stage], is_input ? "in" : "out",
                heads[stage]);
}

void ritz_emit_stage(RitzEmitter *e, RitzCpuStage stage, bool is_input) {
  ritz_emit_head(e, stage, is_input);
  for (int c = 0; c < e->target->num_calls; c++) {
    const RitzCpuCall *call = &e->target->calls[c];
    if (call->stage == stage && call->is_input == is_input) emit_call(e, call);
  }
  ritz_text_add(&e->text, "}\n");
}

// ---- Fetching ahead ----

// Steps of a batch at which data of the next one are fetched: rows, and the slabs and lines of whole elements
// (kernels/cpu/tensor.h).
static CeedInt count_steps(const RitzEmitter *e) {
  const RitzPlan *plan = e->plan;
  CeedInt steps = CeedIntPow(plan->Q_1d, plan->dim - 1);

  for (int c = 0; c < e->target->num_calls; c++) {
    const RitzCpuCall *call = &e->target->calls[c];
    const RitzPlanSpace *space = &plan->spaces[call->space];
    if (call->name == RITZ_TEMPLATE_SLABS || call->name == RITZ_TEMPLATE_OUTER)
      steps += plan->bases[space->basis].P_1d * space->num_comp;
    if (call->name == RITZ_TEMPLATE_LAST || call->name == RITZ_TEMPLATE_LAST_BOTH)
      steps += CeedIntPow(plan->Q_1d, plan->dim - 1) * space->num_comp;
    if (call->name == RITZ_TEMPLATE_BLOCKS) steps += ritz_emit_block_steps(&plan->bases[space->basis], space);
  }
  return steps;
}

// Dense bases: a step for each block of rows, whose length the compiler knows (kernels/cpu/dense.h).
static void emit_blocks(RitzEmitter *e, const RitzCpuCall *call) {
  const RitzPlanSpace *space = &e->plan->spaces[call->space];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool derivative = e->plan->steps->steps[call->first].table == RITZ_TABLE_GRAD;
  const RitzPlanPairs *values = derivative ? &b->deriv_pairs : &b->interp_pairs;
  const RitzPlanPairs *rows = space->is_input ? values : &b->node_pairs;

  ritz_text_add(&e->text, " +\n                  %d * ", (int)space->num_comp);
  if (b->is_even_odd)
    ritz_text_add(&e->text, "(RITZ_BLOCKS(%d, RITZ_EVEN_ODD_ROWS) + RITZ_BLOCKS(%d, RITZ_DENSE_ROWS))",
                  (int)rows->pairs, (int)rows->alone);
  else
    ritz_text_add(&e->text, "RITZ_BLOCKS(%d, RITZ_DENSE_ROWS)",
                  (int)(space->is_input ? ritz_emit_dense_values(b, derivative) : b->P));
}

static bool has_dense(const RitzEmitter *e) {
  bool has = false;
  for (int c = 0; c < e->target->num_calls; c++) has |= e->target->calls[c].name == RITZ_TEMPLATE_DENSE;
  return has;
}

// All steps of a batch, `others` of them without dense bases.
static void emit_steps(RitzEmitter *e, CeedInt others) {
  ritz_text_add(&e->text, "enum { RITZ_STEPS = %d", (int)others);
  for (int c = 0; c < e->target->num_calls; c++) {
    if (e->target->calls[c].name == RITZ_TEMPLATE_DENSE) emit_blocks(e, &e->target->calls[c]);
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

void ritz_emit_prefetch(RitzEmitter *e, CeedInt more) {
  const RitzPlan *plan = e->plan;
  const CeedInt steps = count_steps(e) + more;

  if (has_dense(e)) {
    ritz_text_add(&e->text, "\n// ---- What each step fetches for the next batch ----\n");
    emit_steps(e, steps);
  } else {
    ritz_text_add(&e->text, "\n// ---- What each of %d steps fetches for the next batch ----\n", (int)steps);
  }
  ritz_text_add(&e->text, "RITZ_INLINE void ritz_prefetch(RitzPrefetch *prefetch) {\n");
  for (int s = 0; s < plan->num_spaces; s++) {
    const RitzPlanSpace *space = &plan->spaces[s];
    const RitzCpuSpace *how = &e->target->spaces[s];
    const CeedInt offsets =
        how->gather == RITZ_GATHER_ROWS ? space->num_nodes / how->row_length * e->target->lanes : 0;
    if (how->gather == RITZ_GATHER_PACKED && e->target->prefetch_packed) {
      ritz_text_add(&e->text, "  ritz_fetch_packed%s(prefetch, %d, %d, %d, ", ritz_emit_other(e, space), s,
                    (int)space->num_comp, (int)plan->Q);
      emit_share(e, e->target->prefetch_again ? plan->Q + 2 * plan->Q / 5 : plan->Q, steps);
    }
    if (offsets && e->target->prefetch_vectors) {
      ritz_text_add(&e->text, "  ritz_fetch_rows%s(prefetch, %d, %d, ", ritz_emit_other(e, space), s,
                    (int)offsets);
      emit_share(e, offsets, steps);
    }
  }
  ritz_text_add(&e->text, "  prefetch->step++;\n}\n");
}
