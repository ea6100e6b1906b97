// SPDX-License-Identifier: BSD-2-Clause
// Fields of the QFunction (contract in emit/cpu-text.h).
#include <stdio.h>

#include "emit/cpu-text.h"

// One step between an argument and the array `array`, components first .. first + num - 1 of the argument.
static void emit_step(RitzEmitter *e, const char *arg, int first, int num, const char *array,
                      const char *stride, const char *at, bool is_input, bool add) {
  if (is_input)
    ritz_text_add(&e->text, "  ritz_take(%d, RITZ_CALL, %s, %s, %s, %s + %d * RITZ_CALL);\n", num, array,
                  stride, at, arg, first);
  else
    ritz_text_add(&e->text, "  ritz_give(%d, RITZ_CALL, %s + %d * RITZ_CALL, %s, %s, %s, %s);\n", num, arg,
                  first, array, stride, at, add ? "true" : "false");
}

// Gradient of a line route: components of the first, middle and last direction lie in arrays of their own.
static void emit_gradient(RitzEmitter *e, const char *arg, int s, bool add) {
  const RitzPlanSpace *space = &e->plan->spaces[s];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int nc = (int)space->num_comp, last = (int)b->dim - 1;

  for (int d = 0; d <= last; d++) {
    const RitzCpuArray array = d == last ? RITZ_ARRAY_DERIVATIVES
                               : d == 0  ? RITZ_ARRAY_ROW_DERIVATIVES
                                         : RITZ_ARRAY_PLANE_DERIVATIVES;
    const char *stride = d == last ? "RITZ_SIZE(RITZ_Q, RITZ_Q)" : d == 0 ? "RITZ_Q" : "RITZ_Q * RITZ_Q";
    const char *at = d == last ? "RITZ_AT(RITZ_Q, k, j, i)" : d == 0 ? "i" : "j * RITZ_Q + i";
    emit_step(e, arg, d * nc, nc, ritz_emit_array(e, s, array).text, stride, at, space->is_input, add);
  }
}

// Values of a dense basis lie component by component.
static void emit_dense_field(RitzEmitter *e, const char *arg, const char *array, const RitzPlanSpace *space,
                             bool is_derivative, bool add) {
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  const int num = (int)(is_derivative ? b->q_comp_deriv : b->q_comp_interp), nc = (int)space->num_comp;
  char stride[32], at[32];

  snprintf(stride, sizeof(stride), "%d", (int)(nc == 1 ? b->Q : ritz_emit_dense_values(b, is_derivative)));
  if (nc == 1) {
    emit_step(e, arg, 0, num, array, stride, "q", space->is_input, add);
    return;
  }
  for (int d = 0; d < num; d++) {
    snprintf(at, sizeof(at), "%d + q", d * (int)b->Q);
    emit_step(e, arg, d * nc, nc, array, stride, d ? at : "q", space->is_input, add);
  }
}

static void emit_weights(RitzEmitter *e, const char *arg, const RitzPlanField *f) {
  const RitzPlanBasis *b = &e->plan->bases[f->basis];
  const int B = f->basis;

  ritz_text_add(&e->text, "  ritz_take_weights(RITZ_CALL, ritz_weights%d, ", B);
  if (!ritz_plan_has_grid(b))
    ritz_text_add(&e->text, "1, q, %s);\n", arg);
  else if (b->dim == 1)
    ritz_text_add(&e->text, "1, i, %s);\n", arg);
  else if (b->dim == 2)
    ritz_text_add(&e->text, "ritz_weights%d[j], i, %s);\n", B, arg);
  else
    ritz_text_add(&e->text, "ritz_weights%d[k] * ritz_weights%d[j], i, %s);\n", B, B, arg);
}

static void emit_simple(RitzEmitter *e, const char *arg, const RitzPlanField *f, bool is_derivative) {
  const RitzPlanSpace *space = &e->plan->spaces[f->space];

  if (space->kind == RITZ_INPUT_CONSTANT)
    ritz_text_add(&e->text, "  ritz_take_constants(%d, RITZ_CALL, %s, %s);\n", (int)f->size,
                  ritz_emit_array(e, f->space,
                                  is_derivative ? RITZ_ARRAY_CONSTANT_DERIVATIVES
                                                : RITZ_ARRAY_CONSTANT_VALUES)
                      .text,
                  arg);
  else
    ritz_text_add(&e->text, "  ritz_take_%s(%d, RITZ_CALL, %s, ritz_points%d + i, %s);\n",
                  is_derivative ? "slopes" : "linear", (int)space->num_comp,
                  ritz_emit_array(e, f->space, RITZ_ARRAY_LINEAR_ROW).text, space->basis, arg);
}

void ritz_emit_field(RitzEmitter *e, int i, bool add) {
  const RitzPlan *plan = e->plan;
  const RitzPlanField *f = &plan->fields[i];
  const bool is_in = i < plan->num_in,
             is_derivative = f->mode != CEED_EVAL_INTERP && f->mode != CEED_EVAL_NONE;
  char arg[32], stride[32];

  snprintf(arg, sizeof(arg), "%s%s%d", ritz_emit_place(e), is_in ? "in" : "out",
           is_in ? i : i - plan->num_in);
  if (f->mode == CEED_EVAL_WEIGHT) {
    emit_weights(e, arg, f);
    return;
  }
  const RitzPlanSpace *space = &plan->spaces[f->space];
  const RitzPlanBasis *b = ritz_emit_basis_of(e, space);
  if (e->target->spaces[f->space].gather == RITZ_GATHER_PACKED) {
    ritz_text_add(&e->text, "  ritz_take_packed%s(%d, RITZ_CALL, &args->spaces[%d], b->number, %d, q, %s);\n",
                  ritz_emit_other(e, space), (int)f->size, f->space, (int)plan->Q, arg);
    return;
  }
  if (space->kind != RITZ_INPUT_CONTRACTED) {
    emit_simple(e, arg, f, is_derivative);
    return;
  }
  if (ritz_emit_is_line_route(space, b) && is_derivative) {
    emit_gradient(e, arg, f->space, add);
    return;
  }
  if (ritz_emit_is_line_route(space, b) && ritz_emit_is_values(e)) {
    emit_step(e, arg, 0, (int)f->size, ritz_emit_array(e, f->space, RITZ_ARRAY_ROW_VALUES).text, "RITZ_Q",
              "i", is_in, add);
    return;
  }
  const RitzArrayName array =
      ritz_emit_array(e, f->space, is_derivative ? RITZ_ARRAY_DERIVATIVES : RITZ_ARRAY_VALUES);
  if (b && !b->is_tensor) {
    emit_dense_field(e, arg, array.text, space, is_derivative, add);
  } else if (b) {
    emit_step(e, arg, 0, (int)f->size, array.text, "RITZ_SIZE(RITZ_Q, RITZ_Q)", "RITZ_AT(RITZ_Q, k, j, i)",
              is_in, add);
  } else {
    snprintf(stride, sizeof(stride), "%d", (int)plan->Q);
    emit_step(e, arg, 0, (int)f->size, array.text, stride, "q", is_in, add);
  }
}

void ritz_emit_point_begin(RitzEmitter *e) {
  ritz_text_add(&e->text, "\n// ---- Points ----\n");
  if (e->target->call == RITZ_CALL_TEXT)
    ritz_text_add(&e->text,
                  "RITZ_INLINE int ritz_user(void *ctx, const CeedInt Q, const %s *const *in,\n"
                  "                          %s *const *out);\n\n",
                  ritz_emit_scalar(e), ritz_emit_scalar(e));
  ritz_text_add(&e->text,
                "RITZ_INLINE int ritz_point(const RitzKernelArgs *args, const RitzBatch *b, RitzWork *w, "
                "RitzPlane *p, RitzRow *r,\n                           int k, int j, int i) {\n"
                "  const int q = RITZ_POINT(k, j, i);\n");
}
