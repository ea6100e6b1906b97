// SPDX-License-Identifier: BSD-2-Clause
// E^T B^T D B E on the emulated device, as separate kernels over whole E- and Q-vectors, the way of a GPU
// without fusion. Every kernel compares itself with the reference; the user's function, called once for all
// points, is compared here with calls for single elements. Comparing step by step makes the tolerances sharp:
// each step starts from the same numbers, so that what an earlier one has rounded is not magnified by the
// user's function.
#include <limits.h>
#include <string.h>

#include "backends/check/device.h"

typedef struct {
  CeedOperatorField field;
  bool is_input;
  CeedVector vec;      // CEED_VECTOR_NONE: weights
  CeedScalar *l_array; // device array of vec; shared by outputs to one vector
  bool holds;          // this field got the array and restores it
  CeedScalar *e_vec;   // owned, NULL when the mode is NONE or WEIGHT
  CeedScalar *q_vec;   // owned: [size][num_elem][places], what the user's function sees
} Field;

typedef struct {
  CeedOperator op;
  RitzCheckDevice *device;
  CeedInt num_in, num_fields;
  CeedInt places; // for points in an element: the quadrature points, or the most points that an element has
  Field *fields;  // owned: inputs, then outputs
  CeedInt *num_points;   // owned, [num_elem]
  CeedInt *num_places;   // owned, [num_elem], all `places`
  CeedScalar **q_arrays; // owned: the fields' q_vec, then room for those of one element
  void *context;         // device copy of the bytes for the user's function
  bool holds_context;
  void *context_before;     // owned copy
  const CeedScalar *coords; // operators at points: device array of their coordinates
  bool holds_coords;
  CeedScalar *x; // owned: their E-vector
} State;

static CeedInt field_size_on_device(const Field *f) { return f->field->qf_field->size; }
static CeedEvalMode mode_of(const Field *f) {
  return ritz_field_is_unused(f->field) ? CEED_EVAL_NONE : f->field->qf_field->eval_mode;
}
static CeedSize q_length(const State *s, const Field *f) {
  return (CeedSize)field_size_on_device(f) * s->op->num_elem * s->places;
}

// ---- Opening ----

static int count_points(State *s) {
  CeedOperator op = s->op;
  s->places = op->is_at_points ? op->rstr_points->max_points : op->num_qpts;
  RITZ_REQUIRE((CeedSize)op->num_elem * s->places <= INT_MAX, op->obj.ceed, CEED_ERROR_UNSUPPORTED,
               "%" CeedInt_FMT " elements of %" CeedInt_FMT
               " points exceed what one call of a QFunction can take",
               op->num_elem, s->places);
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)op->num_elem, &s->num_points));
  RITZ_TRY(RITZ_MALLOC(op->obj.ceed, (size_t)op->num_elem, &s->num_places));
  for (CeedInt e = 0; e < op->num_elem; e++) {
    s->num_places[e] = s->places;
    s->num_points[e] = op->is_at_points ? ritz_restriction_points_in(op->rstr_points, e) : s->places;
  }
  return CEED_ERROR_SUCCESS;
}

static int allocate_vectors(State *s) {
  Ceed ceed = s->op->obj.ceed;
  for (CeedInt i = 0; i < s->num_fields; i++) {
    Field *f = &s->fields[i];
    bool has_nodes = mode_of(f) != CEED_EVAL_NONE && mode_of(f) != CEED_EVAL_WEIGHT;
    if (has_nodes) RITZ_TRY(RITZ_MALLOC(ceed, (size_t)f->field->rstr->e_size, &f->e_vec));
    RITZ_TRY(RITZ_CALLOC(ceed, (size_t)q_length(s, f), &f->q_vec));
    s->q_arrays[i] = f->q_vec;
  }
  return s->op->is_at_points ? RITZ_MALLOC(ceed, (size_t)s->op->rstr_points->e_size, &s->x)
                             : CEED_ERROR_SUCCESS;
}

// The output that holds the array of this vector, or NULL.
static const Field *earlier_check_output(const State *s, CeedVector output) {
  for (CeedInt k = s->num_in; k < s->num_fields; k++) {
    if (s->fields[k].vec == output && s->fields[k].holds) return &s->fields[k];
  }
  return NULL;
}

static int get_device_arrays(State *s) {
  for (CeedInt i = 0; i < s->num_fields; i++) {
    Field *f = &s->fields[i];
    if (f->vec == CEED_VECTOR_NONE) continue;
    if (f->is_input) {
      RITZ_TRY_BACKEND(CeedVectorGetArrayRead(f->vec, CEED_MEM_DEVICE, (const CeedScalar **)&f->l_array));
    } else {
      const Field *holder = earlier_check_output(s, f->vec);
      if (holder) {
        f->l_array = holder->l_array;
        continue;
      }
      RITZ_TRY_BACKEND(CeedVectorGetArray(f->vec, CEED_MEM_DEVICE, &f->l_array));
    }
    f->holds = true;
  }
  if (!s->op->is_at_points) return CEED_ERROR_SUCCESS;
  RITZ_TRY_BACKEND(CeedVectorGetArrayRead(s->op->point_coords, CEED_MEM_DEVICE, &s->coords));
  s->holds_coords = true;
  return CEED_ERROR_SUCCESS;
}

static int get_context(State *s) {
  CeedQFunction qf = s->op->qf;
  RITZ_TRY(ritz_qfunction_need_pointer(qf));
  RITZ_TRY_BACKEND(ritz_qfunction_get_context_data(qf, CEED_MEM_DEVICE, &s->context));
  s->holds_context = true;
  if (!s->context) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_malloc(qf->obj.ceed, qf->ctx->storage.num_bytes, 1, &s->context_before));
  if (s->context_before) memcpy(s->context_before, s->context, qf->ctx->storage.num_bytes);
  return CEED_ERROR_SUCCESS;
}

static int open_state(CeedOperator op, CeedVector in, CeedVector out, State *s) {
  Ceed ceed = op->obj.ceed;
  *s = (State){.op = op, .device = ceed->data, .num_in = op->num_in, .num_fields = op->num_in + op->num_out};
  s->device->op_name = op->name ? op->name : op->qf->kernel_name;
  if (op->is_at_points) RITZ_TRY_BACKEND(ritz_operator_check_points(op));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)s->num_fields, &s->fields));
  RITZ_TRY(RITZ_CALLOC(ceed, 2 * (size_t)s->num_fields, &s->q_arrays));
  for (CeedInt i = 0; i < s->num_fields; i++) {
    Field *f = &s->fields[i];
    f->is_input = i < op->num_in;
    f->field = f->is_input ? op->in[i] : op->out[i - op->num_in];
    f->vec = f->field->vec != CEED_VECTOR_ACTIVE ? f->field->vec : f->is_input ? in : out;
  }
  RITZ_TRY(count_points(s));
  RITZ_TRY(allocate_vectors(s));
  RITZ_TRY(get_device_arrays(s));
  return get_context(s);
}

static int close_state(State *s, int ierr) {
  int restored =
      s->holds_context ? ritz_qfunction_restore_context_data(s->op->qf, &s->context) : CEED_ERROR_SUCCESS;
  if (!ierr) ierr = restored;
  if (s->holds_coords) restored = CeedVectorRestoreArrayRead(s->op->point_coords, &s->coords);
  if (!ierr) ierr = restored;
  for (CeedInt i = 0; s->fields && i < s->num_fields; i++) {
    Field *f = &s->fields[i];
    RITZ_FREE(&f->e_vec);
    RITZ_FREE(&f->q_vec);
    if (!f->holds) continue;
    restored = f->is_input ? CeedVectorRestoreArrayRead(f->vec, (const CeedScalar **)&f->l_array)
                           : CeedVectorRestoreArray(f->vec, &f->l_array);
    if (!ierr) ierr = restored;
  }
  s->device->op_name = s->device->field_name = NULL;
  ritz_free(&s->context_before);
  RITZ_FREE(&s->x);
  RITZ_FREE(&s->num_points);
  RITZ_FREE(&s->num_places);
  RITZ_FREE((void **)&s->q_arrays);
  RITZ_FREE(&s->fields);
  return ierr;
}

// ---- Kernels of E and B, both directions ----

static int run_restriction(const State *s, CeedElemRestriction r, CeedTransposeMode t_mode,
                           const CeedScalar *u, CeedScalar *v) {
  const RitzRestrictionAction action = {t_mode, 0, s->op->num_elem, r->use_signs, r->use_orients};
  return ritz_check_device_restriction(r, &action, CEED_SCALAR_TYPE, u, v);
}

// Forward, padding is evaluated like points; transposed, it does not count.
static int run_basis(const State *s, const Field *f, CeedTransposeMode t_mode, const CeedScalar *u,
                     CeedScalar *v) {
  const RitzBasisAction action = {s->op->num_elem, t_mode, mode_of(f), false};
  if (!s->op->is_at_points) return ritz_check_device_basis(f->field->basis, &action, u, v);
  return ritz_check_device_basis_at_points(
      f->field->basis, &action, t_mode == CEED_TRANSPOSE ? s->num_points : s->num_places, s->x, u, v);
}

static int evaluate_inputs(const State *s) {
  if (s->op->is_at_points) {
    s->device->field_name = "coordinates of the points";
    RITZ_TRY(run_restriction(s, s->op->rstr_points, CEED_NOTRANSPOSE, s->coords, s->x));
  }
  for (CeedInt i = 0; i < s->num_in; i++) {
    const Field *f = &s->fields[i];
    s->device->field_name = f->field->qf_field->name;
    CeedScalar *e_vec = f->e_vec ? f->e_vec : f->q_vec;
    if (f->vec != CEED_VECTOR_NONE)
      RITZ_TRY(run_restriction(s, f->field->rstr, CEED_NOTRANSPOSE, f->l_array, e_vec));
    if (mode_of(f) != CEED_EVAL_NONE) RITZ_TRY(run_basis(s, f, CEED_NOTRANSPOSE, f->e_vec, f->q_vec));
  }
  return CEED_ERROR_SUCCESS;
}

static int add_device_outputs(const State *s) {
  for (CeedInt i = s->num_in; i < s->num_fields; i++) {
    const Field *f = &s->fields[i];
    if (ritz_field_is_unused(f->field)) continue;
    s->device->field_name = f->field->qf_field->name;
    if (f->e_vec) RITZ_TRY(run_basis(s, f, CEED_TRANSPOSE, f->q_vec, f->e_vec));
    RITZ_TRY(run_restriction(s, f->field->rstr, CEED_TRANSPOSE, f->e_vec ? f->e_vec : f->q_vec, f->l_array));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- D ----

static CeedSize q_vector_index(const State *s, CeedInt elem, CeedInt component, CeedInt q) {
  return ((CeedSize)component * s->op->num_elem + elem) * s->places + q;
}

// The points of an element alone, [size][n].
static void load_element(const State *s, CeedInt i, CeedInt elem, CeedScalar *values) {
  CeedInt n = s->num_points[elem];
  for (CeedInt c = 0; c < field_size_on_device(&s->fields[i]); c++) {
    for (CeedInt q = 0; q < n; q++)
      values[(CeedSize)c * n + q] = s->fields[i].q_vec[q_vector_index(s, elem, c, q)];
  }
}

static int compare_output(const State *s, CeedInt i, CeedInt elem, const CeedScalar *wanted) {
  const Field *f = &s->fields[i];
  const RitzCheckPair pair = {s->op->obj.ceed, "QFunction called for all points",
                              "a call for the points of one element"};
  CeedInt n = s->num_points[elem];
  double size = ritz_check_largest((CeedSize)field_size_on_device(f) * n, wanted);
  s->device->field_name = f->field->qf_field->name;
  for (CeedInt c = 0; c < field_size_on_device(f); c++) {
    for (CeedInt q = 0; q < n; q++) {
      CeedSize at = q_vector_index(s, elem, c, q);
      RITZ_TRY(ritz_check_compare(&pair, at, f->q_vec[at], wanted[(CeedSize)c * n + q],
                                  1000 * ritz_check_epsilon() * size)); // room for another vectorisation
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Points are independent, and a function may be called with any number of them: an element's points give the
// same alone. `context` starts as it was before the call for all points.
static int check_operator_element(const State *s, CeedInt elem, void *context) {
  CeedQFunction qf = s->op->qf;
  CeedScalar **element = s->q_arrays + s->num_fields;
  if (s->num_points[elem] == 0) return CEED_ERROR_SUCCESS;
  if (context) memcpy(context, s->context_before, qf->ctx->storage.num_bytes);
  for (CeedInt i = 0; i < s->num_in; i++) load_element(s, i, elem, element[i]);
  RITZ_TRY(qf->obj.ceed->backend.qfunction_call(qf, context, s->num_points[elem],
                                                (const CeedScalar *const *)element, element + s->num_in));
  for (CeedInt i = s->num_in; i < s->num_fields; i++) RITZ_TRY(compare_output(s, i, elem, element[i]));
  return CEED_ERROR_SUCCESS;
}

static int check_elements(const State *s) {
  Ceed ceed = s->op->obj.ceed;
  CeedScalar **element = s->q_arrays + s->num_fields;
  void *context = NULL;
  int ierr = CEED_ERROR_SUCCESS;
  if (s->context_before) ierr = ritz_malloc(ceed, s->op->qf->ctx->storage.num_bytes, 1, &context);
  for (CeedInt i = 0; !ierr && i < s->num_fields; i++)
    ierr = RITZ_MALLOC(ceed, (size_t)field_size_on_device(&s->fields[i]) * (size_t)s->places, &element[i]);
  for (CeedInt elem = 0; !ierr && elem < s->op->num_elem; elem++)
    ierr = check_operator_element(s, elem, context);
  for (CeedInt i = 0; i < s->num_fields; i++) RITZ_FREE(&element[i]);
  ritz_free(&context);
  return ierr;
}

static int call_function(const State *s) {
  CeedQFunction qf = s->op->qf;
  CeedInt num = s->op->num_elem * s->places;
  if (num == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(qf->obj.ceed->backend.qfunction_call(qf, s->context, num, (const CeedScalar *const *)s->q_arrays,
                                                s->q_arrays + s->num_in));
  return check_elements(s);
}

int ritz_check_device_operator(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  State s;
  RITZ_TRY(ritz_operator_zero_outputs(op, out, mode));
  int ierr = open_state(op, in, out, &s);
  if (!ierr) ierr = evaluate_inputs(&s);
  if (!ierr) ierr = call_function(&s);
  if (!ierr) ierr = add_device_outputs(&s);
  return close_state(&s, ierr);
}
