// SPDX-License-Identifier: BSD-2-Clause
// How the blocks of a vector basis are swept (contract in plan/blocks.h).
#include "plan/blocks.h"

static void add_directions(const RitzPlanBlock *block, CeedInt dim, bool is_differentiated,
                           RitzBlockSweep *s) {
  for (CeedInt d = 0; d < dim; d++) {
    if ((s->has_derivatives && block->grad[d] >= 0) == is_differentiated) s->order[s->dim++] = d;
  }
}

// Finds the arrays that are carried on after the first `step` directions: the values if something is still
// made of them, and all derivatives that were taken.
static void find_carried(const RitzPlanBlock *block, RitzBlockSweep *s, CeedInt step) {
  bool *is_carried = s->is_carried[step];
  is_carried[RITZ_BLOCK_VALUES] = s->has_values;
  for (CeedInt i = 0; i < s->dim; i++) {
    const CeedInt d = s->order[i];
    if (!s->has_derivatives || block->grad[d] < 0) continue;
    is_carried[i < step ? d : RITZ_BLOCK_VALUES] = true;
  }
}

RitzBlockSweep ritz_plan_block_sweep(const RitzPlanBasis *b, CeedInt c, unsigned modes) {
  const RitzPlanBlock *block = &b->blocks[c];
  RitzBlockSweep s = {.has_values = modes & CEED_EVAL_INTERP,
                      .has_derivatives = modes & ~(unsigned)CEED_EVAL_INTERP};
  add_directions(block, b->dim, false, &s);
  add_directions(block, b->dim, true, &s);
  for (CeedInt d = 0; d < 3; d++) s.size[0][d] = block->P[d];
  for (CeedInt step = 0; step <= s.dim; step++) {
    find_carried(block, &s, step);
    if (step == 0) continue;
    for (CeedInt d = 0; d < 3; d++) s.size[step][d] = d == s.order[step - 1] ? b->Q_1d : s.size[step - 1][d];
  }
  return s;
}

// After `step` steps.
static CeedInt array_size(const RitzBlockSweep *s, CeedInt step) {
  return s->size[step][0] * s->size[step][1] * s->size[step][2];
}

static CeedInt num_carried(const RitzBlockSweep *s, CeedInt step) {
  CeedInt num = 0;
  for (int i = 0; i < RITZ_BLOCK_ARRAYS; i++) num += s->is_carried[step][i];
  return num;
}

CeedInt ritz_plan_block_offset(const RitzBlockSweep *s, CeedInt step, int a) {
  CeedInt offset = 0;
  for (CeedInt i = 1; i < step; i++) offset += num_carried(s, i) * array_size(s, i);
  for (int i = 0; i < a; i++) offset += s->is_carried[step][i] ? array_size(s, step) : 0;
  return offset;
}

CeedInt ritz_plan_block_work(const RitzPlanBasis *b, unsigned modes) {
  CeedInt most = 0;
  for (CeedInt c = 0; c < b->dim; c++) {
    const RitzBlockSweep sweep = ritz_plan_block_sweep(b, c, modes);
    most = CeedIntMax(most, ritz_plan_block_offset(&sweep, sweep.dim, 0));
  }
  return most;
}

double ritz_plan_block_flops(const RitzBlockSweep *s) {
  double flops = 0;
  for (CeedInt step = 1; step <= s->dim; step++) {
    const CeedInt num_in = s->size[step - 1][s->order[step - 1]]; // products an entry
    flops += 2.0 * num_carried(s, step) * array_size(s, step) * num_in;
  }
  return flops;
}
