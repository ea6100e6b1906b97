// SPDX-License-Identifier: BSD-2-Clause
// Vector bases of tensor products, block by block (contract in emit/cpu-text.h; the order: plan/blocks.h).
#include <stdio.h>

#include "emit/cpu-text.h"
#include "plan/blocks.h"

// ---- Contractions ----

// The way of an array after step - 1 to the one after the step. VALUES becomes VALUES, the derivative along
// the direction of the step, or both; a derivative becomes itself.
typedef struct {
  CeedInt step, direction;
  int from; // of plan/blocks.h, as in RitzBlockSweep.is_carried
  bool to_same, to_slope;
} Contraction;

// At most three a step and block.
enum { MOST_CONTRACTIONS = 9 };

static int list_contractions(const RitzPlanBlock *block, const RitzBlockSweep *sweep, Contraction *list) {
  int num = 0;
  for (CeedInt step = 1; step <= sweep->dim; step++) {
    const CeedInt d = sweep->order[step - 1];
    const bool *before = sweep->is_carried[step - 1], *after = sweep->is_carried[step];
    for (int a = 0; a < RITZ_BLOCK_ARRAYS; a++) {
      const bool is_values = a == RITZ_BLOCK_VALUES;
      if (!before[a]) continue;
      list[num++] = (Contraction){.step = step,
                                  .direction = d,
                                  .from = a,
                                  .to_same = after[a],
                                  .to_slope = is_values && sweep->has_derivatives && block->grad[d] >= 0};
    }
  }
  return num;
}

// Entries of an array after a step in the directions before and after d.
static void split_size(const RitzBlockSweep *sweep, CeedInt step, CeedInt d, CeedInt *slow, CeedInt *fast) {
  *slow = *fast = 1;
  for (CeedInt i = 0; i < d; i++) *fast *= sweep->size[step][i];
  for (CeedInt i = d + 1; i < 3; i++) *slow *= sweep->size[step][i];
}

// ---- Matrices ----

// Line matrix n of a basis, its negative, transposed or not: "ritz_line0_2", "ritz_minus_line0_2_t".
static void name_line(char name[32], int basis, int line, bool is_negative, bool is_transposed) {
  snprintf(name, 32, "ritz_%s%d_%d%s", is_negative ? "minus_line" : "line", basis, line,
           is_transposed ? "_t" : "");
}

static bool block_uses(const RitzPlanBlock *block, const RitzBlockSweep *sweep, int line, bool is_negative) {
  Contraction list[MOST_CONTRACTIONS];
  const int num = list_contractions(block, sweep, list);
  for (int i = 0; i < num; i++) {
    const CeedInt d = list[i].direction;
    if (list[i].to_same && !is_negative && block->interp[d] == line) return true;
    if (list[i].to_slope && block->grad[d] == line && (block->sign[d] < 0) == is_negative) return true;
  }
  return false;
}

static bool is_used(const RitzEmitter *e, int basis, int line, bool is_negative, bool is_transposed) {
  const RitzPlanBasis *b = &e->plan->bases[basis];
  for (int s = 0; s < e->plan->num_spaces; s++) {
    const RitzPlanSpace *space = &e->plan->spaces[s];
    if (space->basis != basis || space->is_input == is_transposed) continue;
    for (CeedInt c = 0; c < b->dim; c++) {
      const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, space->modes);
      if (block_uses(&b->blocks[c], &sweep, line, is_negative)) return true;
    }
  }
  return false;
}

static int emit_negative(RitzEmitter *e, const char *name, const RitzPlanMatrix *A, bool is_transposed) {
  const size_t n = (size_t)A->rows * (size_t)A->cols;
  RitzPlanMatrix minus = *A;
  RITZ_TRY(RITZ_MALLOC(e->text.ceed, n, &minus.values));
  for (size_t i = 0; i < n; i++) minus.values[i] = -A->values[i];
  const int ierr = ritz_emit_matrix(e, name, &minus, is_transposed);
  RITZ_FREE(&minus.values);
  return ierr;
}

int ritz_emit_lines(RitzEmitter *e, int basis) {
  const RitzPlanBasis *b = &e->plan->bases[basis];
  char name[48];
  for (int i = 0; i < 4 * b->num_lines; i++) {
    const bool is_negative = i & 1, is_transposed = i & 2;
    if (!is_used(e, basis, i / 4, is_negative, is_transposed)) continue;
    name_line(name, basis, i / 4, is_negative, is_transposed);
    RITZ_TRY((is_negative ? emit_negative : ritz_emit_matrix)(e, name, &b->lines[i / 4], is_transposed));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Arrays ----

typedef struct {
  char text[128];
} ArrayPart;

// Array a of block c after a step, of field component n.
static ArrayPart name_array(const RitzEmitter *e, int s, CeedInt c, const RitzBlockSweep *sweep, CeedInt step,
                            int a) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  RitzCpuArray array = RITZ_ARRAY_WORK;
  CeedInt offset = 0, stride = 0;
  ArrayPart name;
  if (step == 0) {
    array = RITZ_ARRAY_NODES;
    offset = b->blocks[c].first;
    stride = b->P;
  } else if (step < sweep->dim) {
    offset = ritz_plan_block_offset(sweep, step, a);
  } else {
    const bool is_values = a == RITZ_BLOCK_VALUES;
    array = is_values ? RITZ_ARRAY_VALUES : RITZ_ARRAY_DERIVATIVES;
    offset = (is_values ? c : b->blocks[c].row[a]) * b->Q;
    stride = ritz_emit_dense_values(b, !is_values);
  }
  const RitzArrayName whole = ritz_emit_array(e, s, array);
  if (space->num_comp > 1 && stride)
    snprintf(name.text, sizeof(name.text), "%s + n * %d + %d", whole.text, (int)stride, (int)offset);
  else
    snprintf(name.text, sizeof(name.text), "%s + %d", whole.text, (int)offset);
  return name;
}

// ---- Evaluation ----

// No block before c reaches the row that direction d of block c goes to.
static bool is_first(const RitzPlanBasis *b, CeedInt c, CeedInt d) {
  for (CeedInt i = 0; i < c * b->dim; i++) {
    const RitzPlanBlock *block = &b->blocks[i / b->dim];
    if (block->grad[i % b->dim] >= 0 && block->row[i % b->dim] == b->blocks[c].row[d]) return false;
  }
  return true;
}

static void emit_contraction(RitzEmitter *e, int s, CeedInt c, const RitzBlockSweep *sweep,
                             const Contraction *k) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzPlanBlock *block = &b->blocks[c];
  const CeedInt d = k->direction;
  const bool is_up = space->is_input, both = k->to_same && k->to_slope;
  const bool add = is_up && k->step == sweep->dim && (k->to_slope || k->from != RITZ_BLOCK_VALUES) &&
                   !is_first(b, c, k->to_slope ? d : k->from);
  const ArrayPart before = name_array(e, s, c, sweep, k->step - 1, k->from),
                  same = name_array(e, s, c, sweep, k->step, k->from),
                  slope = k->to_slope ? name_array(e, s, c, sweep, k->step, (int)d) : same;
  char interp[32], grad[32];
  CeedInt slow, fast;

  split_size(sweep, k->step, d, &slow, &fast);
  name_line(interp, space->basis, block->interp[d], false, !is_up);
  name_line(grad, space->basis, block->grad[d], block->sign[d] < 0, !is_up);
  ritz_text_add(&e->text, "  ritz_block%s(prefetch, &%s, ",
                !both   ? ""
                : is_up ? "_both"
                        : "_sum",
                k->to_same ? interp : grad);
  if (both) ritz_text_add(&e->text, "&%s, ", grad);
  ritz_text_add(&e->text, "%d, %d, ", (int)slow, (int)fast);
  const char *one = k->to_same ? same.text : slope.text, *sum = add ? "true" : "false";
  if (both && is_up)
    ritz_text_add(&e->text, "%s, %s, %s, %s);\n", before.text, same.text, slope.text, sum);
  else if (both)
    ritz_text_add(&e->text, "%s, %s, %s);\n", same.text, slope.text, before.text);
  else
    ritz_text_add(&e->text, "%s, %s, %s);\n", is_up ? before.text : one, is_up ? one : before.text, sum);
}

static void emit_block(RitzEmitter *e, int s, CeedInt c) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, space->modes);
  Contraction list[MOST_CONTRACTIONS];
  const int num = list_contractions(&b->blocks[c], &sweep, list);
  for (int i = 0; i < num; i++) emit_contraction(e, s, c, &sweep, &list[space->is_input ? i : num - 1 - i]);
}

void ritz_emit_blocks(RitzEmitter *e, int s) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const bool is_loop = space->num_comp > 1;

  if (is_loop)
    ritz_text_add(&e->text, "  RITZ_ROLLED for (int n = 0; n < %d; n++) {\n", (int)space->num_comp);
  for (CeedInt c = 0; c < b->dim; c++) emit_block(e, s, c);
  if (is_loop) ritz_text_add(&e->text, "  }\n");
}

CeedInt ritz_emit_block_steps(const RitzPlanBasis *b, const RitzPlanSpace *space) {
  CeedInt steps = 0;
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, space->modes);
    Contraction list[MOST_CONTRACTIONS];
    const int num = list_contractions(&b->blocks[c], &sweep, list);
    for (int i = 0; i < num; i++) {
      CeedInt slow, fast;
      split_size(&sweep, list[i].step, list[i].direction, &slow, &fast);
      steps += (slow * fast + b->Q_1d - 1) / b->Q_1d;
    }
  }
  return steps * space->num_comp;
}
