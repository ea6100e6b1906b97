// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E, element by element: gather, evaluate, call the user's function, evaluate transposed,
// scatter. Memory beyond the vectors is that of one element.
#include <string.h>

#include "backends/ref/ref.h"
#include "backends/ref/state.h"

static void add_output(RitzRefState *state, RitzRefField *f, CeedInt elem) {
  if (ritz_field_is_unused(f->field)) return;
  if (f->nodes) {
    memset(f->nodes, 0, (size_t)f->num_nodes * sizeof(*f->nodes));
    ritz_ref_state_basis(state, f, CEED_TRANSPOSE, f->points, f->nodes);
  }
  ritz_ref_scatter_add(f->field->rstr, elem, true, f->nodes ? f->nodes : f->points, f->l_array);
}

static int apply_elements(RitzRefState *state) {
  for (CeedInt elem = 0; elem < state->op->num_elem; elem++) {
    ritz_ref_state_enter(state, elem);
    ritz_ref_state_evaluate(state, elem);
    RITZ_TRY(ritz_ref_state_call(state));
    for (CeedInt i = state->num_in; i < state->num_fields; i++) add_output(state, &state->fields[i], elem);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  RitzRefState state;
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  int ierr = ritz_ref_state_open(op, in, out, &state);
  if (!ierr) ierr = apply_elements(&state);
  return ritz_ref_state_close(&state, ierr);
}
