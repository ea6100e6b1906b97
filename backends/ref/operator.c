// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E, element by element: gather, evaluate, call the user's function, evaluate transposed,
// scatter. Memory beyond the vectors is that of one element.
#include <string.h>

#include "backends/ref/ref.h"

// What one field needs during an apply.
typedef struct {
  CeedOperatorField field;
  bool is_input;
  CeedVector vec;      // vector in use, CEED_VECTOR_NONE for weights
  CeedScalar *l_array; // its array; shared by fields with the same output vector
  bool holds;          // this field got the array and restores it
  CeedScalar *nodes;   // element at the nodes; NULL when the mode is NONE
  CeedScalar *points;  // element at the quadrature points: what the user's function sees
  CeedSize num_nodes, num_points;
} FieldState;

typedef struct {
  CeedOperator op;
  CeedInt num_in, num_fields;
  FieldState *fields;    // inputs, then outputs
  const CeedScalar **in; // arrays for the user's function
  CeedScalar **out;
  CeedScalar *memory; // all element arrays, then the work array of the bases
  CeedScalar *work;
} ApplyState;

// ---- Set-up
// ---------------------------------------------------------------------------------------------------------

static void set_sizes(CeedOperator op, FieldState *f) {
  CeedBasis basis = f->field->basis;
  CeedEvalMode mode = f->field->qf_field->eval_mode;
  f->num_points = (CeedSize)f->field->qf_field->size * op->num_qpts;
  f->num_nodes =
      mode == CEED_EVAL_NONE || mode == CEED_EVAL_WEIGHT ? 0 : (CeedSize)basis->num_comp * basis->P;
}

static void describe_fields(ApplyState *state, CeedVector in, CeedVector out) {
  CeedOperator op = state->op;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    FieldState *f = &state->fields[i];
    f->is_input = i < op->num_in;
    f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
    f->vec = f->field->vec != CEED_VECTOR_ACTIVE ? f->field->vec : f->is_input ? in : out;
    set_sizes(op, f);
  }
}

static int allocate(ApplyState *state) {
  Ceed ceed = state->op->obj.ceed;
  CeedSize size = 0, work_size = 0;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    CeedBasis basis = state->fields[i].field->basis;
    CeedSize work = basis != CEED_BASIS_NONE ? ritz_ref_basis_work_size(basis) : 0;
    size += state->fields[i].num_nodes + state->fields[i].num_points;
    work_size = work > work_size ? work : work_size;
  }
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(size + work_size), &state->memory));
  CeedScalar *next = state->memory;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    FieldState *f = &state->fields[i];
    f->nodes = f->num_nodes ? next : NULL;
    f->points = next + f->num_nodes;
    next = f->points + f->num_points;
    if (f->is_input)
      state->in[i] = f->points;
    else
      state->out[i - state->num_in] = f->points;
  }
  state->work = next;
  return CEED_ERROR_SUCCESS;
}

// Two outputs may share a vector; its array is asked for once.
static CeedScalar *array_of_earlier_output(const ApplyState *state, CeedInt i) {
  for (CeedInt k = state->num_in; k < i; k++) {
    if (state->fields[k].vec == state->fields[i].vec) return state->fields[k].l_array;
  }
  return NULL;
}

static int get_arrays(ApplyState *state) {
  for (CeedInt i = 0; i < state->num_fields; i++) {
    FieldState *f = &state->fields[i];
    if (f->vec == CEED_VECTOR_NONE) continue;
    if (f->is_input) {
      RITZ_TRY_BACKEND(CeedVectorGetArrayRead(f->vec, CEED_MEM_HOST, (const CeedScalar **)&f->l_array));
    } else {
      f->l_array = array_of_earlier_output(state, i);
      if (f->l_array) continue;
      RITZ_TRY_BACKEND(CeedVectorGetArray(f->vec, CEED_MEM_HOST, &f->l_array));
    }
    f->holds = true;
  }
  return CEED_ERROR_SUCCESS;
}

static int restore_arrays(ApplyState *state, int ierr) {
  for (CeedInt i = 0; i < state->num_fields; i++) {
    FieldState *f = &state->fields[i];
    if (!f->holds) continue;
    int restored = f->is_input ? CeedVectorRestoreArrayRead(f->vec, (const CeedScalar **)&f->l_array)
                               : CeedVectorRestoreArray(f->vec, &f->l_array);
    if (!ierr) ierr = restored;
  }
  return ierr;
}

// ---- One element
// ----------------------------------------------------------------------------------------------------

// Weights are the same in every element and are evaluated once.
static void evaluate_weights(ApplyState *state) {
  for (CeedInt i = 0; i < state->num_in; i++) {
    FieldState *f = &state->fields[i];
    if (f->field->qf_field->eval_mode != CEED_EVAL_WEIGHT) continue;
    ritz_ref_basis_element(f->field->basis, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, NULL, f->points, state->work);
  }
}

static void evaluate_input(ApplyState *state, FieldState *f, CeedInt elem) {
  CeedEvalMode mode = f->field->qf_field->eval_mode;
  if (mode == CEED_EVAL_WEIGHT) return;
  ritz_ref_gather(f->field->rstr, elem, f->l_array, f->nodes ? f->nodes : f->points);
  if (f->nodes)
    ritz_ref_basis_element(f->field->basis, CEED_NOTRANSPOSE, mode, f->nodes, f->points, state->work);
}

static void add_output(ApplyState *state, FieldState *f, CeedInt elem) {
  if (f->nodes) {
    memset(f->nodes, 0, (size_t)f->num_nodes * sizeof(*f->nodes));
    ritz_ref_basis_element(f->field->basis, CEED_TRANSPOSE, f->field->qf_field->eval_mode, f->points,
                           f->nodes, state->work);
  }
  ritz_ref_scatter_add(f->field->rstr, elem, f->nodes ? f->nodes : f->points, f->l_array);
}

static int apply_elements(ApplyState *state, void *context) {
  CeedOperator op = state->op;
  evaluate_weights(state);
  for (CeedInt elem = 0; elem < op->num_elem; elem++) {
    for (CeedInt i = 0; i < state->num_in; i++) evaluate_input(state, &state->fields[i], elem);
    RITZ_TRY_BACKEND(op->qf->f(context, op->num_qpts, state->in, state->out));
    for (CeedInt i = state->num_in; i < state->num_fields; i++) add_output(state, &state->fields[i], elem);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Apply
// ----------------------------------------------------------------------------------------------------------

static int apply_with_arrays(ApplyState *state) {
  CeedQFunction qf = state->op->qf;
  void *context;
  RITZ_REQUIRE(qf->f, qf->obj.ceed, CEED_ERROR_BACKEND, "QFunction '%s' has no function pointer for the host",
               qf->kernel_name);
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_HOST, &context));
  int ierr = apply_elements(state, context);
  int restored = ritz_qfunction_restore_context_data(qf, &context);
  return ierr ? ierr : restored;
}

int ritz_ref_operator_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  Ceed ceed = op->obj.ceed;
  ApplyState state = {.op = op, .num_in = op->num_in, .num_fields = op->num_in + op->num_out};
  int ierr;
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)state.num_fields, &state.fields));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)op->num_in, &state.in));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)op->num_out, &state.out));
  describe_fields(&state, in, out);
  RITZ_TRY_CLEANUP(allocate(&state));
  ierr = get_arrays(&state);
  if (!ierr) ierr = apply_with_arrays(&state);
  ierr = restore_arrays(&state, ierr);
cleanup:
  RITZ_FREE(&state.memory);
  RITZ_FREE((void **)&state.in);
  RITZ_FREE((void **)&state.out);
  RITZ_FREE(&state.fields);
  return ierr;
}
