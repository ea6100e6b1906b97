// SPDX-License-Identifier: BSD-2-Clause
// First check of a QFunction: does its text say what the application's function does (the text may have
// been edited since, or depend on flags of the application), and does it write to its context. Both are
// called on the points of the first element, once with the values that are there, once with the active inputs
// disturbed, because those are often zero. Inputs that are not finite are replaced: differently compiled code
// may make NaN or infinity of them at different places, and neither tells two functions apart.
//
// Results that differ may be differences of nearly equal numbers (squared errors of nearly exact fields),
// whose digits are rounding. How much of them is, function and text tell: a call whose results are not close
// is made a few times more with inputs that differ in the last digit. Both, because one of them may cancel to
// an exact zero whatever the inputs are, where the other one leaves rounding.
//
// A text that is compiled with float for CeedScalar gets the same numbers as the application's function in
// double: the inputs are rounded to float for both.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "backends/ref/ref.h"
#include "backends/ref/state.h"

typedef struct {
  CeedOperator op;
  RitzRefState state;
  RitzQFunction text;
  bool is_single; // the text computes in float
  CeedInt points; // per call
  CeedInt elem;   // the element
  CeedSize in_size, out_size;
  CeedScalar *memory; // owned: arguments, results of pointer and text, of one of them with other last digits
  CeedScalar *kept;   // owned: arguments as they were
  CeedScalar *moved;  // in it: the last of these
  float *single;      // owned: arguments and results of a text in float
  const float **single_in;
  float **single_out;
  const CeedScalar **in;
  CeedScalar **out[3];
  size_t context_bytes;
  char *context[3]; // owned copies
  RitzCpuFunctionCheck found;
} TextCheck;

// ---- Memory ----

static CeedSize field_sizes(CeedInt num, CeedQFunctionField *fields) {
  CeedSize size = 0;
  for (CeedInt i = 0; i < num; i++) size += fields[i]->size;
  return size;
}

static int allocate_arguments(TextCheck *check) {
  CeedQFunction qf = check->op->qf;
  Ceed ceed = check->op->obj.ceed;

  check->in_size = field_sizes(qf->num_in, qf->in) * check->points;
  check->out_size = field_sizes(qf->num_out, qf->out) * check->points;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(check->in_size + 3 * check->out_size), &check->memory));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)check->in_size, &check->kept));
  check->moved = check->memory + check->in_size + 2 * check->out_size;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in, &check->in));
  CeedScalar *next = check->memory;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    check->in[i] = next;
    next += (CeedSize)qf->in[i]->size * check->points;
  }
  for (int k = 0; k < 3; k++) {
    RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_out, &check->out[k]));
    for (CeedInt i = 0; i < qf->num_out; i++) {
      check->out[k][i] = next;
      next += (CeedSize)qf->out[i]->size * check->points;
    }
    if (!check->state.context) continue;
    RITZ_TRY_BACKEND(CeedQFunctionContextGetContextSize(qf->ctx, &check->context_bytes));
    RITZ_TRY(RITZ_MALLOC(ceed, check->context_bytes, &check->context[k]));
    memcpy(check->context[k], check->state.context, check->context_bytes);
  }
  return CEED_ERROR_SUCCESS;
}

static int allocate_single(TextCheck *check) {
  CeedQFunction qf = check->op->qf;
  Ceed ceed = check->op->obj.ceed;

  if (!check->is_single) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(check->in_size + check->out_size), &check->single));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in, &check->single_in));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_out, &check->single_out));
  for (CeedInt i = 0; i < qf->num_in; i++)
    check->single_in[i] = check->single + (check->in[i] - check->memory);
  for (CeedInt i = 0; i < qf->num_out; i++)
    check->single_out[i] = check->single + (check->out[0][i] - check->memory);
  return CEED_ERROR_SUCCESS;
}

static void free_arguments(TextCheck *check) {
  RITZ_FREE(&check->memory);
  RITZ_FREE(&check->kept);
  RITZ_FREE(&check->single);
  RITZ_FREE((void **)&check->single_in);
  RITZ_FREE((void **)&check->single_out);
  RITZ_FREE((void **)&check->in);
  for (int k = 0; k < 3; k++) {
    RITZ_FREE((void **)&check->out[k]);
    RITZ_FREE(&check->context[k]);
  }
}

// ---- Values of the first element ----

// Rounds the inputs to float where the text computes in it; NaN and infinity become one.
static void replace_unusual(TextCheck *check) {
  RitzRefState *state = &check->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedSize k = 0; k < f->num_points; k++) {
      if (check->is_single) f->points[k] = (CeedScalar)(float)f->points[k];
      if (isfinite(f->points[k])) continue;
      f->points[k] = 1;
      check->found.has_unusual = true;
    }
  }
}

static CeedScalar entry_of(CeedVector vec, const void *array, CeedSize entry) {
  return vec->precision == CEED_SCALAR_FP32 ? (CeedScalar)((const float *)array)[entry]
                                            : (CeedScalar)((const double *)array)[entry];
}

// Whether data are packed in the order in which the field has them.
static bool is_packed_alike(CeedElemRestriction r, CeedVector vec, RitzPacking *packing) {
  CeedInt strides[3];

  if (r->type != CEED_RESTRICTION_STRIDED || !ritz_vector_packed_order(vec, packing)) return false;
  ritz_restriction_l_strides(r, strides);
  for (int i = 0; i < 3; i++) {
    if (packing->strides[i] != strides[i]) return false;
  }
  return packing->num_elem == r->num_elem && packing->num_nodes == r->elem_size &&
         packing->num_comp == r->num_comp;
}

// The first element is the first lane of the first batch. An array for all of them is not made.
static int copy_packed(RitzRefField *f, CeedVector vec, const RitzPacking *packing) {
  CeedElemRestriction r = f->field->rstr;
  const void *packed;

  RITZ_TRY_BACKEND(ritz_vector_get_packed(vec, packing, &packed));
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < r->elem_size; i++)
      f->l_array[ritz_restriction_l_index(r, 0, i, c)] =
          entry_of(vec, packed, ((CeedSize)c * r->elem_size + i) * packing->lanes);
  }
  return ritz_vector_restore_packed(vec, &packed);
}

// The element that is compared: the first; at points the first with the most points.
static CeedInt element_of(CeedOperator op) {
  CeedInt elem = 0;
  while (op->is_at_points && elem + 1 < op->num_elem &&
         ritz_restriction_points_in(op->rstr_points, elem) < op->rstr_points->max_points)
    elem++;
  return elem;
}

static CeedInt num_nodes(const TextCheck *check, CeedElemRestriction r) {
  return r->type == CEED_RESTRICTION_POINTS ? ritz_restriction_points_in(r, check->elem) : r->elem_size;
}

// Entries of the element in an array of doubles, as long as they need it.
static int copy_element(TextCheck *check, RitzRefField *f, CeedVector vec) {
  CeedElemRestriction r = f->field->rstr;
  CeedSize length = 0;
  RitzPacking packing;
  void *array;

  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < num_nodes(check, r); i++) {
      const CeedSize entry = ritz_restriction_l_index(r, check->elem, i, c);
      length = entry + 1 > length ? entry + 1 : length;
    }
  }
  RITZ_TRY(RITZ_CALLOC(check->op->obj.ceed, (size_t)length, &f->l_array));
  if (is_packed_alike(r, vec, &packing)) return copy_packed(f, vec, &packing);
  RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < num_nodes(check, r); i++) {
      const CeedSize entry = ritz_restriction_l_index(r, check->elem, i, c);
      f->l_array[entry] = entry_of(vec, array, entry);
    }
  }
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

// Inputs that are active and not given are zero.
static int copy_elements(TextCheck *check, CeedVector in) {
  RitzRefState *state = &check->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    CeedVector vec = f->is_active ? in : f->field->vec;
    if (f->field->qf_field->eval_mode == CEED_EVAL_WEIGHT || ritz_field_is_unused(f->field)) continue;
    if (vec == CEED_VECTOR_NONE)
      memset(f->points, 0, (size_t)f->num_points * sizeof(CeedScalar));
    else
      RITZ_TRY(copy_element(check, f, vec));
  }
  return CEED_ERROR_SUCCESS;
}

static void free_elements(TextCheck *check) {
  for (CeedInt i = 0; check->state.fields && i < check->state.num_in; i++)
    RITZ_FREE(&check->state.fields[i].l_array);
}

static int evaluate_first_element(TextCheck *check, CeedVector in) {
  RITZ_TRY(copy_elements(check, in));
  ritz_ref_state_enter(&check->state, check->elem);
  ritz_ref_state_evaluate(&check->state, check->elem);
  replace_unusual(check);
  return CEED_ERROR_SUCCESS;
}

// Active inputs become numbers between 0.5 and 1.5 times 1 + what they were. Zeros of the other ones become
// numbers between 0 and 1: what a function takes for an index stays one.
static void disturb(TextCheck *check) {
  RitzRefState *state = &check->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedSize k = 0; k < f->num_points; k++) {
      const double factor = 1 + 0.5 * sin(1.7 * (double)k + i);
      if (f->is_active)
        f->points[k] = (1 + f->points[k]) * (CeedScalar)factor;
      else if (f->points[k] == 0)
        f->points[k] = (CeedScalar)(factor / 2);
      if (check->is_single) f->points[k] = (CeedScalar)(float)f->points[k];
    }
  }
}

// ---- Comparison ----

// Arguments of one call: points first .. first + points - 1; beyond the last one it is repeated.
static void fill_arguments(TextCheck *check, CeedInt first) {
  CeedQFunction qf = check->op->qf;
  const CeedInt Q = check->state.num_points;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    CeedScalar *to = (CeedScalar *)check->in[i];
    for (CeedInt c = 0; c < qf->in[i]->size; c++) {
      for (CeedInt n = 0; n < check->points; n++) {
        const CeedInt q = first + n < Q ? first + n : Q - 1;
        *to++ = check->state.in[i][(CeedSize)c * Q + q];
      }
    }
  }
  memset(check->out[0] && qf->num_out ? check->out[0][0] : check->memory, 0,
         qf->num_out ? 3 * (size_t)check->out_size * sizeof(CeedScalar) : 0);
}

// Equal up to the rounding of differently compiled code, against the size of the field's finite entries; NaN
// where the other has NaN, infinity where it has the same one. The root of the precision leaves room for
// terms that are much larger than their sum: in float 4000 times.
static bool is_close(TextCheck *check, CeedSize n, const CeedScalar *a, const CeedScalar *b) {
  const double tolerance = sqrt(check->is_single ? FLT_EPSILON / 2 : CEED_EPSILON);
  double scale = 0;
  for (CeedSize i = 0; i < n; i++) {
    if (isfinite(a[i]) && fabs((double)a[i]) > scale) scale = fabs((double)a[i]);
  }
  for (CeedSize i = 0; i < n; i++) {
    const bool is_finite = isfinite(a[i]) && isfinite(b[i]);
    if (is_finite)
      check->found.has_compared = true;
    else
      check->found.has_unusual = true;
    if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) continue;
    if (!is_finite || !(fabs((double)a[i] - (double)b[i]) <= tolerance * scale)) return false;
  }
  return true;
}

// A text in float: its type has other arguments.
static int call_single(TextCheck *check, int to) {
  typedef int (*Function)(void *ctx, CeedInt Q, const float *const *in, float *const *out);
  CeedScalar *widened = check->memory + check->in_size + to * check->out_size;

  for (CeedSize i = 0; i < check->in_size; i++) check->single[i] = (float)check->memory[i];
  for (CeedSize i = 0; i < check->out_size; i++) check->single[check->in_size + i] = 0;
  const int code =
      ((Function)check->text)(check->context[to], check->points, check->single_in, check->single_out);
  for (CeedSize i = 0; i < check->out_size; i++) widened[i] = check->single[check->in_size + i];
  return code;
}

// Results into out[to].
static int call(TextCheck *check, bool is_text, int to) {
  const RitzQFunction f = is_text ? check->text : check->op->qf->f;

  if (is_text && check->is_single) return call_single(check, to);
  return f(check->context[to], check->points, check->in, check->out[to]);
}

// Arguments larger by one to eight units of the last digit, active ones of that of 1 + |x|: a function may
// add them to numbers such as 1. Never smaller, so that a number that is truncated to an index keeps it.
static void move_arguments(TextCheck *check, uint32_t *draw) {
  const double unit = check->is_single ? FLT_EPSILON : 2 * CEED_EPSILON;

  for (CeedInt i = 0; i < check->op->qf->num_in; i++) {
    const CeedSize n = (CeedSize)check->op->qf->in[i]->size * check->points;
    CeedScalar *x = (CeedScalar *)check->in[i];
    for (CeedSize k = 0; k < n; k++) {
      const double size = fabs((double)x[k]) + (check->state.fields[i].is_active ? 1 : 0);
      *draw = *draw * 1664525 + 1013904223;
      x[k] = (CeedScalar)(x[k] + copysign(size * (1 + (*draw >> 29)) * unit, (double)x[k]));
    }
  }
}

static int call_moved(TextCheck *check, bool is_text, uint32_t *draw) {
  memcpy(check->kept, check->memory, (size_t)check->in_size * sizeof(CeedScalar));
  move_arguments(check, draw);
  memset(check->moved, 0, (size_t)check->out_size * sizeof(CeedScalar));
  if (check->context_bytes) memcpy(check->context[2], check->state.context, check->context_bytes);
  const int code = call(check, is_text, 2);
  memcpy(check->memory, check->kept, (size_t)check->in_size * sizeof(CeedScalar));
  return code;
}

// *spread: at least what other last digits of the arguments make of output i. False: a call fails.
static bool add_spread(TextCheck *check, CeedInt i, bool is_text, double *spread) {
  const CeedSize n = (CeedSize)check->op->qf->out[i]->size * check->points;
  const CeedScalar *result = check->out[is_text][i], *moved = check->out[2][i];
  uint32_t draw = 1;

  for (int k = 0; k < 4; k++) {
    if (call_moved(check, is_text, &draw)) return false;
    for (CeedSize j = 0; j < n; j++) {
      if (isfinite(moved[j]) && isfinite(result[j]))
        *spread = fmax(*spread, fabs((double)moved[j] - (double)result[j]));
    }
  }
  return true;
}

// Whether results of output i that are not close are the same but for rounding: they differ by no more than
// some times what other last digits of the arguments make of them.
static bool is_rounding(TextCheck *check, CeedInt i) {
  const CeedSize n = (CeedSize)check->op->qf->out[i]->size * check->points;
  const CeedScalar *a = check->out[0][i], *b = check->out[1][i];
  double spread = 0, difference = 0;

  if (!add_spread(check, i, false, &spread) || !add_spread(check, i, true, &spread)) return false;
  for (CeedSize k = 0; k < n; k++) {
    if (a[k] == b[k] || (isnan(a[k]) && isnan(b[k]))) continue;
    if (!isfinite(a[k]) || !isfinite(b[k])) return false;
    difference = fmax(difference, fabs((double)a[k] - (double)b[k]));
  }
  return difference <= 64 * spread;
}

static void compare_call(TextCheck *check, CeedInt first) {
  CeedQFunction qf = check->op->qf;
  fill_arguments(check, first);
  const int code = call(check, false, 0);
  if (!check->text) return;
  check->found.agrees = check->found.agrees && code == call(check, true, 1);
  for (CeedInt i = 0; i < qf->num_out && !code; i++) {
    const CeedSize n = (CeedSize)qf->out[i]->size * check->points;
    check->found.agrees = check->found.agrees &&
                          (is_close(check, n, check->out[0][i], check->out[1][i]) || is_rounding(check, i));
  }
}

static void compare_all(TextCheck *check) {
  for (CeedInt q = 0; q < check->state.num_points; q += check->points) compare_call(check, q);
  for (int k = 0; k < 2; k++) {
    if (k && !check->text) break;
    if (check->context_bytes && memcmp(check->context[k], check->state.context, check->context_bytes))
      check->found.writes_context = true;
  }
}

static int check_texts(TextCheck *check, CeedVector in) {
  RITZ_TRY(ritz_ref_state_open_bare(check->op, NULL, NULL, &check->state));
  RITZ_TRY(allocate_arguments(check));
  RITZ_TRY(allocate_single(check));
  RITZ_TRY(evaluate_first_element(check, in));
  compare_all(check);
  disturb(check);
  compare_all(check);
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_check_function(CeedOperator op, CeedVector in, RitzQFunction text, bool is_single,
                            CeedInt points_per_call, RitzCpuFunctionCheck *found) {
  TextCheck check = {.op = op,
                     .text = text,
                     .is_single = is_single && text,
                     .points = points_per_call,
                     .elem = element_of(op),
                     .found = {.agrees = true}};
  int ierr = check_texts(&check, in);
  free_elements(&check);
  ierr = ritz_ref_state_close(&check.state, ierr);
  free_arguments(&check);
  *found = check.found;
  return ierr;
}
