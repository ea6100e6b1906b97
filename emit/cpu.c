// SPDX-License-Identifier: BSD-2-Clause
// The kernel of an apply (contract in emit/emit.h).
#include "emit/cpu-text.h"
#include "emit/emit.h"

static void emit_apply_arguments(RitzEmitter *e, const char *indent) {
  const RitzPlan *plan = e->plan;
  for (int i = 0; i < plan->num_in + plan->num_out; i++) {
    const bool is_in = i < plan->num_in;
    ritz_text_add(&e->text, "%sRitzVec %s%d[%d * RITZ_CALL];\n", indent, is_in ? "in" : "out",
                  is_in ? i : i - plan->num_in, (int)plan->fields[i].size);
  }
}

static void emit_structs(RitzEmitter *e) {
  ritz_text_add(&e->text, "\n// ---- Arrays of a batch, of a plane, of a row ----\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ELEMENT);
  if (e->target->call_points > 1) emit_apply_arguments(e, "  ");
  ritz_text_add(&e->text, "} RitzWork;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_PLANE);
  ritz_text_add(&e->text, "} RitzPlane;\ntypedef struct {\n");
  ritz_emit_arrays(e, RITZ_STAGE_ROW);
  ritz_text_add(&e->text, "} RitzRow;\n");
}

// An output field adds where an earlier one has put the same quantity of the same space.
static bool adds(const RitzPlan *plan, int i) {
  for (int j = plan->num_in; j < i; j++) {
    if (plan->fields[j].space == plan->fields[i].space && plan->fields[j].mode == plan->fields[i].mode)
      return true;
  }
  return false;
}

static void emit_list(RitzEmitter *e, bool is_input) {
  const int num = is_input ? e->plan->num_in_arguments : e->plan->num_out_arguments;
  const char *name = is_input ? "in" : "out", *scalar = ritz_emit_scalar(e);
  ritz_text_add(&e->text, "  %s%s *const %s[] = {", is_input ? "const " : "", scalar, name);
  for (int k = 0; k < num; k++) {
    const int i = ritz_plan_field_of(e->plan, is_input, k);
    ritz_text_add(&e->text, k ? ", " : "");
    if (i < 0)
      ritz_text_add(&e->text, "NULL");
    else
      ritz_text_add(&e->text, "(%s *)%s%s%d", scalar, ritz_emit_place(e), name, i);
  }
  ritz_text_add(&e->text, "%s};\n", num ? "" : "NULL");
}

static void emit_point(RitzEmitter *e) {
  const RitzPlan *plan = e->plan;
  const bool is_text = e->target->call == RITZ_CALL_TEXT;

  ritz_emit_point_begin(e);
  if (e->target->call_points == 1) emit_apply_arguments(e, "  ");
  for (int i = 0; i < plan->num_in; i++) ritz_emit_field(e, i, false);
  emit_list(e, true);
  emit_list(e, false);
  ritz_text_add(&e->text,
                "  const int code = %s(args->context, RITZ_CALL * RITZ_LANES, in, out);\n  (void)q;\n",
                is_text ? "ritz_user" : "args->function");
  for (int i = plan->num_in; i < plan->num_in + plan->num_out; i++) ritz_emit_field(e, i, adds(plan, i));
  ritz_text_add(&e->text, "  return code;\n}\n\n#include \"kernels/cpu/loop.h\"\n");
}

static void emit_functions(RitzEmitter *e) {
  ritz_text_add(&e->text, "\n// ---- Whole elements ----\n");
  ritz_emit_stage(e, RITZ_STAGE_ELEMENT, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_stage(e, RITZ_STAGE_ELEMENT, false);
  ritz_text_add(&e->text, "\n// ---- %s ----\n\n", ritz_emit_is_values(e) ? "Rows" : "Planes and rows");
  ritz_emit_stage(e, RITZ_STAGE_PLANE, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_stage(e, RITZ_STAGE_PLANE, false);
  ritz_text_add(&e->text, "\n");
  ritz_emit_stage(e, RITZ_STAGE_ROW, true);
  ritz_text_add(&e->text, "\n");
  ritz_emit_stage(e, RITZ_STAGE_ROW, false);
}

int ritz_emit_cpu(Ceed ceed, const RitzPlan *plan, const RitzCpuTarget *target, char **text) {
  RitzEmitter e = {.plan = plan, .target = target, .text = {.ceed = ceed}};

  ritz_emit_heading(&e, "E^T B^T D B E", 1);
  const int ierr = ritz_emit_bases(&e);
  emit_structs(&e);
  ritz_emit_shapes(&e);
  ritz_emit_prefetch(&e, 0);
  emit_functions(&e);
  emit_point(&e);
  ritz_emit_user(&e);
  if (ierr) RITZ_FREE(&e.text.chars);
  return ierr ? ierr : ritz_text_finish(&e.text, text);
}
