// SPDX-License-Identifier: BSD-2-Clause
// Lists of steps as text for people, the same for the same list (contract in plan/steps.h).
#include <string.h>

#include "base/locale.h"
#include "plan/steps.h"

enum { TEXT = 160 };

// Appends to a text of TEXT bytes; what does not fit is cut off.
#define ADD(text, ...) snprintf((text) + strlen(text), TEXT - strlen(text), __VA_ARGS__)

// ---- Buffers ----

static void add_name(char *text, const RitzSteps *list, int buffer) {
  static const char *const names[] = {[RITZ_ROLE_VECTOR] = "vector",
                                      [RITZ_ROLE_NODES] = "nodes",
                                      [RITZ_ROLE_WORK] = "work",
                                      [RITZ_ROLE_VALUES] = "values",
                                      [RITZ_ROLE_WEIGHTS] = "weights",
                                      [RITZ_ROLE_DERIVATIVES] = "derivatives",
                                      [RITZ_ROLE_COEFFICIENTS] = "coefficients"};
  const RitzBuffer *b = &list->buffers[buffer];
  ADD(text, "%s", names[b->role]);
  if (b->role == RITZ_ROLE_VECTOR)
    ADD(text, " %d%s", (int)list->plan->spaces[b->space].array,
        b->precision == list->plan->precision ? ""
        : b->precision == CEED_SCALAR_FP32    ? " (f32)"
                                              : " (f64)");
  else if (b->space >= 0)
    ADD(text, "%d", b->space);
  if (b->direction >= 0) ADD(text, ".%" CeedInt_FMT, b->direction);
}

static void add_shape(char *text, const RitzSteps *list, int buffer) {
  const RitzBuffer *b = &list->buffers[buffer];
  const CeedInt *extents = ritz_steps_extents(list, buffer);
  if (b->role == RITZ_ROLE_VECTOR) return;
  ADD(text, " [%" CeedInt_FMT "]", b->num_comp);
  for (CeedInt d = b->dim - 1; d >= 0; d--) ADD(text, "[%" CeedInt_FMT "]", extents[d]);
}

// ---- Steps ----

static void add_table(char *text, const RitzSteps *list, const RitzStep *step) {
  static const char *const tables[] = {[RITZ_TABLE_INTERP] = "interp",
                                       [RITZ_TABLE_GRAD] = "grad",
                                       [RITZ_TABLE_COLLOCATED] = "collocated",
                                       [RITZ_TABLE_CHEBYSHEV] = "chebyshev"};
  const RitzPlanBasis *b = &list->plan->bases[step->basis];
  const bool is_derivative = step->table == RITZ_TABLE_GRAD && b->route == RITZ_ROUTE_DENSE;
  const char *table = !is_derivative                    ? tables[step->table]
                      : b->deriv_mode == CEED_EVAL_DIV  ? "div"
                      : b->deriv_mode == CEED_EVAL_CURL ? "curl"
                                                        : "grad";
  ADD(text, ", %s%d%s", table, step->basis, step->is_transposed ? "^T" : "");
  if (step->block >= 0) ADD(text, " of block %d", step->block);
  if (step->kind == RITZ_STEP_CONTRACT) ADD(text, " in direction %" CeedInt_FMT, step->direction);
  if (step->row >= 0) ADD(text, ", component %d at the points", step->row);
  if (step->kind == RITZ_STEP_MULTIPLY && b->is_even_odd) ADD(text, ", folded");
}

static void add_arguments(char *text, const RitzSteps *list, int begin, int end) {
  for (int i = begin; i < end; i++) {
    if (list->arguments[i] < 0) continue;
    ADD(text, " ");
    add_name(text, list, list->arguments[i]);
    const int num = ritz_steps_num_buffers(list->plan, &list->plan->fields[i]);
    if (num > 1) ADD(text, "-%d", num - 1);
  }
}

static void add_point(char *text, const RitzSteps *list) {
  const RitzPlan *plan = list->plan;
  ADD(text, "'%s':", plan->function_name);
  add_arguments(text, list, 0, plan->num_in);
  ADD(text, " ->");
  add_arguments(text, list, plan->num_in, plan->num_in + plan->num_out);
}

static void add_step(char *text, const RitzSteps *list, const RitzStep *step) {
  if (step->kind == RITZ_STEP_POINT) {
    add_point(text, list);
    return;
  }
  add_name(text, list, step->from);
  if (step->with >= 0) {
    ADD(text, step->kind == RITZ_STEP_EVALUATE ? " at " : " * ");
    add_name(text, list, step->with);
  }
  ADD(text, step->adds ? " +> " : " -> ");
  add_name(text, list, step->to);
  add_shape(text, list, list->buffers[step->to].role == RITZ_ROLE_VECTOR ? step->from : step->to);
  if (step->basis >= 0) add_table(text, list, step);
}

static void add_cost(char *text, const RitzPlan *plan, const RitzStepCost *c) {
  const double vectors = plan->num_elem > 0 ? c->bytes_vectors / plan->num_elem : 0;
  if (c->flops > 0) ADD(text, "; %.10g flops", c->flops);
  if (c->bytes_stored > 0) ADD(text, "; %.1f bytes stored", c->bytes_stored);
  if (c->bytes_offsets > 0) ADD(text, "; %.1f bytes of offsets", c->bytes_offsets);
  if (vectors > 0) ADD(text, "; %.1f bytes of the vector", vectors);
}

int ritz_steps_print(const RitzSteps *list, const RitzPlanAccess *access, RitzStepNote note,
                     const void *target, FILE *stream) {
  static const char *const kinds[] = {
      [RITZ_STEP_GATHER] = "gather",     [RITZ_STEP_SCATTER] = "scatter",  [RITZ_STEP_CONTRACT] = "contract",
      [RITZ_STEP_MULTIPLY] = "multiply", [RITZ_STEP_FORM] = "form",        [RITZ_STEP_POINT] = "point",
      [RITZ_STEP_MOVE] = "move",         [RITZ_STEP_EVALUATE] = "evaluate"};
  RitzLocale locale;
  RITZ_TRY(ritz_locale_enter(NULL, &locale));
  fprintf(stream, "Steps of '%s': %s, %s; an element:\n", list->plan->name, list->action,
          ritz_steps_bytes(list) == 4 ? "f32" : "f64");
  for (int n = 0; n < list->num_steps; n++) {
    const RitzStepCost cost = ritz_steps_cost(list, n, access);
    char text[TEXT] = "", noted[TEXT] = "";
    add_step(text, list, &list->steps[n]);
    add_cost(text, list->plan, &cost);
    if (note) note(target, list, n, noted, sizeof(noted));
    fprintf(stream, "  %2d %-8s %s%s%s\n", n, kinds[list->steps[n].kind], text, noted[0] ? "; " : "", noted);
  }
  ritz_locale_leave(&locale);
  return CEED_ERROR_SUCCESS;
}
