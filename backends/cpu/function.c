// SPDX-License-Identifier: BSD-2-Clause
// First look at a point function: does its text say what the application's function does (the text may have
// been edited since, or depend on flags of the application), and does it write to its context. Both are
// called on the points of the first element, once with the values that are there, once with the active inputs
// disturbed, because those are often zero. Inputs that are not finite are replaced: differently compiled code
// may make NaN or infinity of them at different places, and neither tells two functions apart.
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
  CeedSize in_size, out_size;
  CeedScalar *memory; // owned: arguments, then results of pointer and text
  float *single;      // owned: arguments and results of a text in float
  const float **single_in;
  float **single_out;
  const CeedScalar **in;
  CeedScalar **out[2];
  size_t context_bytes;
  char *context[2]; // owned copies
  RitzCpuLook found;
} Look;

// ---- Memory ----

static CeedSize field_sizes(CeedInt num, CeedQFunctionField *fields) {
  CeedSize size = 0;
  for (CeedInt i = 0; i < num; i++) size += fields[i]->size;
  return size;
}

static int allocate(Look *look) {
  CeedQFunction qf = look->op->qf;
  Ceed ceed = look->op->obj.ceed;

  look->in_size = field_sizes(qf->num_in, qf->in) * look->points;
  look->out_size = field_sizes(qf->num_out, qf->out) * look->points;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(look->in_size + 2 * look->out_size), &look->memory));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in, &look->in));
  CeedScalar *next = look->memory;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    look->in[i] = next;
    next += (CeedSize)qf->in[i]->size * look->points;
  }
  for (int k = 0; k < 2; k++) {
    RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_out, &look->out[k]));
    for (CeedInt i = 0; i < qf->num_out; i++) {
      look->out[k][i] = next;
      next += (CeedSize)qf->out[i]->size * look->points;
    }
    if (!look->state.context) continue;
    RITZ_TRY_BACKEND(CeedQFunctionContextGetContextSize(qf->ctx, &look->context_bytes));
    RITZ_TRY(RITZ_MALLOC(ceed, look->context_bytes, &look->context[k]));
    memcpy(look->context[k], look->state.context, look->context_bytes);
  }
  return CEED_ERROR_SUCCESS;
}

static int allocate_single(Look *look) {
  CeedQFunction qf = look->op->qf;
  Ceed ceed = look->op->obj.ceed;

  if (!look->is_single) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)(look->in_size + look->out_size), &look->single));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_in, &look->single_in));
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)qf->num_out, &look->single_out));
  for (CeedInt i = 0; i < qf->num_in; i++) look->single_in[i] = look->single + (look->in[i] - look->memory);
  for (CeedInt i = 0; i < qf->num_out; i++)
    look->single_out[i] = look->single + (look->out[0][i] - look->memory);
  return CEED_ERROR_SUCCESS;
}

static void free_memory(Look *look) {
  RITZ_FREE(&look->memory);
  RITZ_FREE(&look->single);
  RITZ_FREE((void **)&look->single_in);
  RITZ_FREE((void **)&look->single_out);
  RITZ_FREE((void **)&look->in);
  for (int k = 0; k < 2; k++) {
    RITZ_FREE((void **)&look->out[k]);
    RITZ_FREE(&look->context[k]);
  }
}

// ---- Values of the first element ----

// What fits into float, where the text computes in it; NaN and infinity in the inputs become one.
static void replace_unusual(Look *look) {
  RitzRefState *state = &look->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedSize k = 0; k < f->num_points; k++) {
      if (look->is_single) f->points[k] = (CeedScalar)(float)f->points[k];
      if (isfinite(f->points[k])) continue;
      f->points[k] = 1;
      look->found.has_unusual = true;
    }
  }
}

// Entries of the first element in an array of doubles, as long as they need it.
static int copy_element(Look *look, RitzRefField *f, CeedVector vec) {
  CeedElemRestriction r = f->field->rstr;
  CeedSize length = 0;
  void *array;

  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < r->elem_size; i++) {
      const CeedSize entry = ritz_restriction_l_index(r, 0, i, c);
      length = entry + 1 > length ? entry + 1 : length;
    }
  }
  RITZ_TRY(RITZ_CALLOC(look->op->obj.ceed, (size_t)length, &f->l_array));
  RITZ_TRY_BACKEND(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt i = 0; i < r->elem_size; i++) {
      const CeedSize entry = ritz_restriction_l_index(r, 0, i, c);
      f->l_array[entry] = vec->precision == CEED_SCALAR_FP32 ? (CeedScalar)((const float *)array)[entry]
                                                             : (CeedScalar)((const double *)array)[entry];
    }
  }
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

// Inputs that are active and not given are zero.
static int copy_elements(Look *look, CeedVector in) {
  RitzRefState *state = &look->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    CeedVector vec = f->is_active ? in : f->field->vec;
    if (f->field->qf_field->eval_mode == CEED_EVAL_WEIGHT || ritz_field_is_unused(f->field)) continue;
    if (vec == CEED_VECTOR_NONE)
      memset(f->points, 0, (size_t)f->num_points * sizeof(CeedScalar));
    else
      RITZ_TRY(copy_element(look, f, vec));
  }
  return CEED_ERROR_SUCCESS;
}

static void free_elements(Look *look) {
  for (CeedInt i = 0; look->state.fields && i < look->state.num_in; i++)
    RITZ_FREE(&look->state.fields[i].l_array);
}

static int evaluate(Look *look, CeedVector in) {
  RITZ_TRY(copy_elements(look, in));
  ritz_ref_state_enter(&look->state, 0);
  ritz_ref_state_evaluate(&look->state, 0);
  replace_unusual(look);
  return CEED_ERROR_SUCCESS;
}

// Active inputs become numbers between 0.5 and 1.5 times 1 + what they were. Zeros of the other ones become
// numbers between 0 and 1: what a function takes for an index stays one.
static void disturb(Look *look) {
  RitzRefState *state = &look->state;
  for (CeedInt i = 0; i < state->num_in; i++) {
    RitzRefField *f = &state->fields[i];
    for (CeedSize k = 0; k < f->num_points; k++) {
      const double factor = 1 + 0.5 * sin(1.7 * (double)k + i);
      if (f->is_active)
        f->points[k] = (1 + f->points[k]) * (CeedScalar)factor;
      else if (f->points[k] == 0)
        f->points[k] = (CeedScalar)(factor / 2);
      if (look->is_single) f->points[k] = (CeedScalar)(float)f->points[k];
    }
  }
}

// ---- Comparison ----

// Arguments of one call: points first .. first + points - 1; beyond the last one it is repeated.
static void fill_arguments(Look *look, CeedInt first) {
  CeedQFunction qf = look->op->qf;
  const CeedInt Q = look->state.num_points;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    CeedScalar *to = (CeedScalar *)look->in[i];
    for (CeedInt c = 0; c < qf->in[i]->size; c++) {
      for (CeedInt n = 0; n < look->points; n++) {
        const CeedInt q = first + n < Q ? first + n : Q - 1;
        *to++ = look->state.in[i][(CeedSize)c * Q + q];
      }
    }
  }
  memset(look->out[0] && qf->num_out ? look->out[0][0] : look->memory, 0,
         qf->num_out ? 2 * (size_t)look->out_size * sizeof(CeedScalar) : 0);
}

// Equal up to the rounding of differently compiled code, against the size of the field's finite entries; NaN
// where the other has NaN, infinity where it has the same one. The root of the precision leaves room for
// terms that are much larger than their sum: in float 4000 times.
static bool is_close(Look *look, CeedSize n, const CeedScalar *a, const CeedScalar *b) {
  const double tolerance = sqrt(look->is_single ? FLT_EPSILON / 2 : CEED_EPSILON);
  double scale = 0;
  for (CeedSize i = 0; i < n; i++) {
    if (isfinite(a[i]) && fabs((double)a[i]) > scale) scale = fabs((double)a[i]);
  }
  for (CeedSize i = 0; i < n; i++) {
    const bool is_finite = isfinite(a[i]) && isfinite(b[i]);
    if (is_finite)
      look->found.has_compared = true;
    else
      look->found.has_unusual = true;
    if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))) continue;
    if (!is_finite || !(fabs((double)a[i] - (double)b[i]) <= tolerance * scale)) return false;
  }
  return true;
}

// A text in float: its type has other arguments.
static int call_single(Look *look) {
  typedef int (*Function)(void *ctx, CeedInt Q, const float *const *in, float *const *out);
  CeedScalar *widened = look->memory + look->in_size + look->out_size;

  for (CeedSize i = 0; i < look->in_size; i++) look->single[i] = (float)look->memory[i];
  for (CeedSize i = 0; i < look->out_size; i++) look->single[look->in_size + i] = 0;
  const int code = ((Function)look->text)(look->context[1], look->points, look->single_in, look->single_out);
  for (CeedSize i = 0; i < look->out_size; i++) widened[i] = look->single[look->in_size + i];
  return code;
}

static int call_text(Look *look) {
  if (look->is_single) return call_single(look);
  return look->text(look->context[1], look->points, look->in, look->out[1]);
}

static void compare_call(Look *look, CeedInt first) {
  CeedQFunction qf = look->op->qf;
  fill_arguments(look, first);
  const int code = qf->f(look->context[0], look->points, look->in, look->out[0]);
  if (!look->text) return;
  look->found.agrees = look->found.agrees && code == call_text(look);
  for (CeedInt i = 0; i < qf->num_out && !code; i++) {
    const CeedSize n = (CeedSize)qf->out[i]->size * look->points;
    look->found.agrees = look->found.agrees && is_close(look, n, look->out[0][i], look->out[1][i]);
  }
}

static void compare_all(Look *look) {
  for (CeedInt q = 0; q < look->state.num_points; q += look->points) compare_call(look, q);
  for (int k = 0; k < 2; k++) {
    if (k && !look->text) break;
    if (look->context_bytes && memcmp(look->context[k], look->state.context, look->context_bytes))
      look->found.writes_context = true;
  }
}

static int look_at(Look *look, CeedVector in) {
  RITZ_TRY(ritz_ref_state_open_bare(look->op, NULL, NULL, &look->state));
  RITZ_TRY(allocate(look));
  RITZ_TRY(allocate_single(look));
  RITZ_TRY(evaluate(look, in));
  compare_all(look);
  disturb(look);
  compare_all(look);
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_check_function(CeedOperator op, CeedVector in, RitzQFunction text, bool is_single,
                            CeedInt points_per_call, RitzCpuLook *found) {
  Look look = {.op = op,
               .text = text,
               .is_single = is_single && text,
               .points = points_per_call,
               .found = {.agrees = true}};
  int ierr = look_at(&look, in);
  free_elements(&look);
  ierr = ritz_ref_state_close(&look.state, ierr);
  free_memory(&look);
  *found = look.found;
  return ierr;
}
