// SPDX-License-Identifier: BSD-2-Clause
// Arrays and element memory of a running operator (contract in state.h).
#include "backends/ref/state.h"

#include "backends/ref/ref.h"

// ---- Opening ----

// The most points that an element has.
static CeedInt max_points(CeedOperator op) {
  return op->is_at_points ? op->first_points->max_points : op->num_qpts;
}

static void set_sizes(CeedOperator op, RitzRefField *f) {
  CeedBasis basis = f->field->basis;
  CeedEvalMode mode = f->field->qf_field->eval_mode;
  f->num_points = (CeedSize)f->field->qf_field->size * max_points(op);
  const bool has_nodes =
      mode != CEED_EVAL_NONE && mode != CEED_EVAL_WEIGHT && !ritz_field_is_unused(f->field);
  f->num_nodes = has_nodes ? (CeedSize)basis->num_comp * basis->P : 0;
}

static CeedVector field_vector_of(const RitzRefField *f, CeedVector in, CeedVector out) {
  bool assembles = !in;
  if (assembles && (f->is_active || !f->is_input)) return CEED_VECTOR_NONE;
  if (!f->is_active) return f->field->vec;
  return f->is_input ? in : out;
}

static void describe_fields(RitzRefState *state, CeedVector in, CeedVector out) {
  CeedOperator op = state->op;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    RitzRefField *f = &state->fields[i];
    f->is_input = i < op->num_in;
    f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
    f->is_active = f->field->vec == CEED_VECTOR_ACTIVE;
    f->vec = field_vector_of(f, in, out);
    set_sizes(op, f);
  }
}

static int allocate_element_memory(RitzRefState *state) {
  CeedSize size = 0, work_size = 0;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    CeedBasis basis = state->fields[i].field->basis;
    CeedSize work = basis != CEED_BASIS_NONE ? ritz_ref_basis_work_size(basis) : 0;
    size += state->fields[i].num_nodes + state->fields[i].num_points;
    work_size = work > work_size ? work : work_size;
  }
  CeedOperator op = state->op;
  CeedSize x_size = op->is_at_points ? (CeedSize)op->rstr_points->num_comp * max_points(op) : 0;
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)(size + x_size + work_size), &state->memory));
  if (!state->memory) return CEED_ERROR_SUCCESS; // elements without nodes and points
  CeedScalar *next = state->memory;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    RitzRefField *f = &state->fields[i];
    f->nodes = f->num_nodes ? next : NULL;
    f->points = next + f->num_nodes;
    next = f->points + f->num_points;
    if (f->is_input)
      state->in[i] = f->points;
    else
      state->out[i - state->num_in] = f->points;
  }
  state->x = next;
  state->work = next + x_size;
  return CEED_ERROR_SUCCESS;
}

// Two outputs may share a vector; its array is asked for once. The field that holds it, or NULL.
static const RitzRefField *earlier_ref_output(const RitzRefState *state, CeedVector output) {
  for (CeedInt k = state->num_in; k < state->num_fields; k++) {
    if (state->fields[k].vec == output && state->fields[k].holds) return &state->fields[k];
  }
  return NULL;
}

static int get_state_arrays(RitzRefState *state) {
  for (CeedInt i = 0; i < state->num_fields; i++) {
    RitzRefField *f = &state->fields[i];
    if (f->vec == CEED_VECTOR_NONE) continue;
    if (f->is_input) {
      RITZ_TRY_BACKEND(CeedVectorGetArrayRead(f->vec, CEED_MEM_HOST, (const CeedScalar **)&f->l_array));
    } else {
      const RitzRefField *holder = earlier_ref_output(state, f->vec);
      if (holder) {
        f->l_array = holder->l_array;
        continue;
      }
      RITZ_TRY_BACKEND(CeedVectorGetArray(f->vec, CEED_MEM_HOST, &f->l_array));
    }
    f->holds = true;
  }
  return CEED_ERROR_SUCCESS;
}

static int get_context(RitzRefState *state) {
  CeedQFunction qf = state->op->qf;
  RITZ_TRY(ritz_qfunction_need_pointer(qf));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_HOST, &state->context));
  state->holds_context = true;
  return CEED_ERROR_SUCCESS;
}

// Weights are the same in every element and are evaluated once; at points they are 1.
static void evaluate_weights(RitzRefState *state) {
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    if (f->field->qf_field->eval_mode != CEED_EVAL_WEIGHT) continue;
    for (CeedSize q = 0; state->op->is_at_points && q < f->num_points; q++) f->points[q] = 1;
    if (state->op->is_at_points) continue;
    ritz_ref_basis_element(f->field->basis, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, NULL, f->points, state->work);
  }
}

// ---- Points ----

static int open_points(RitzRefState *state) {
  CeedOperator op = state->op;
  for (CeedInt i = 0; i < state->num_fields; i++) {
    RitzRefField *f = &state->fields[i];
    if (f->num_nodes) RITZ_TRY_BACKEND(ritz_ref_points_open(f->field->basis, &f->at));
  }
  RITZ_TRY_BACKEND(CeedVectorGetArrayRead(op->point_coords, CEED_MEM_HOST, &state->coords));
  state->holds_coords = true;
  return CEED_ERROR_SUCCESS;
}

static int open_bare(CeedOperator op, CeedVector in, CeedVector out, const RitzRefState *leader,
                     RitzRefState *state) {
  Ceed ceed = op->obj.ceed;
  *state = (RitzRefState){.op = op, .num_in = op->num_in, .num_fields = op->num_in + op->num_out};
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)state->num_fields, &state->fields));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)op->num_in, &state->in));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)op->num_out, &state->out));
  if (op->is_at_points) RITZ_TRY_BACKEND(ritz_operator_check_points(op));
  describe_fields(state, in, out);
  RITZ_TRY(allocate_element_memory(state));
  if (op->is_at_points) RITZ_TRY(open_points(state));
  if (leader)
    state->context = leader->context;
  else
    RITZ_TRY(get_context(state));
  evaluate_weights(state);
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_state_open_bare(CeedOperator op, CeedVector in, CeedVector out, RitzRefState *state) {
  return open_bare(op, in, out, NULL, state);
}

int ritz_ref_state_open_beside(CeedOperator op, const RitzRefState *leader, RitzRefState *state) {
  RITZ_TRY(open_bare(op, NULL, NULL, leader, state));
  return get_state_arrays(state);
}

int ritz_ref_state_open(CeedOperator op, CeedVector in, CeedVector out, RitzRefState *state) {
  RITZ_TRY(ritz_ref_state_open_bare(op, in, out, state));
  return get_state_arrays(state);
}

int ritz_ref_state_close(RitzRefState *state, int ierr) {
  int restored = state->holds_context ? ritz_qfunction_restore_context_data(state->op->qf, &state->context)
                                      : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = restored;
  restored = state->holds_coords ? CeedVectorRestoreArrayRead(state->op->point_coords, &state->coords)
                                 : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = restored;
  for (CeedInt i = 0; state->fields && i < state->num_fields; i++) {
    RitzRefField *f = &state->fields[i];
    if (f->at.basis) ritz_ref_points_close(&f->at);
    if (!f->holds) continue;
    restored = f->is_input ? CeedVectorRestoreArrayRead(f->vec, (const CeedScalar **)&f->l_array)
                           : CeedVectorRestoreArray(f->vec, &f->l_array);
    if (!ierr) ierr = restored;
  }
  RITZ_FREE(&state->memory);
  RITZ_FREE((void **)&state->in);
  RITZ_FREE((void **)&state->out);
  RITZ_FREE(&state->fields);
  return ierr;
}

// ---- One element ----

void ritz_ref_state_enter(RitzRefState *state, CeedInt elem) {
  CeedOperator op = state->op;
  state->num_points = op->is_at_points ? ritz_restriction_points_in(op->rstr_points, elem) : op->num_qpts;
  if (op->is_at_points) ritz_ref_gather(op->rstr_points, elem, state->coords, state->x);
}

void ritz_ref_state_basis(RitzRefState *state, RitzRefField *f, CeedTransposeMode t_mode, const CeedScalar *u,
                          CeedScalar *v) {
  CeedEvalMode mode = f->field->qf_field->eval_mode;
  if (state->op->is_at_points)
    ritz_ref_points_element(&f->at, t_mode, mode, state->num_points, state->x, u, v);
  else
    ritz_ref_basis_element(f->field->basis, t_mode, mode, u, v, state->work);
}

void ritz_ref_state_evaluate(RitzRefState *state, CeedInt elem) {
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    if (!f->l_array) continue;
    ritz_ref_gather(f->field->rstr, elem, f->l_array, f->nodes ? f->nodes : f->points);
    if (f->nodes) ritz_ref_state_basis(state, f, CEED_NOTRANSPOSE, f->nodes, f->points);
  }
}

int ritz_ref_state_call(RitzRefState *state) {
  CeedQFunction qf = state->op->qf;
  if (state->num_points == 0) return CEED_ERROR_SUCCESS;
  return qf->obj.ceed->backend.qfunction_call(qf, state->context, state->num_points, state->in, state->out);
}
