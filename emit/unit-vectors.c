// SPDX-License-Identifier: BSD-2-Clause
// Calls of the QFunction by unit vectors (contract in emit/unit-vectors.h).
#include "emit/unit-vectors.h"

// ---- Constants ----

void ritz_emit_integers(RitzText *text, const char *name, CeedInt n, const int32_t *values) {
  ritz_text_add(text, "static const int %s[] = {", name);
  for (CeedInt i = 0; i < n; i++) ritz_text_add(text, "%s%d", i ? ", " : "", (int)values[i]);
  ritz_text_add(text, "};\n");
}

// A one in the middle of zeros; those behind it C adds.
void ritz_emit_unit_vector(RitzText *text, CeedInt size) {
  ritz_text_add(text, "static const RitzReal ritz_unit_vector[%d] = {", (int)(2 * size - 1));
  for (CeedInt i = 0; i < size - 1; i++) ritz_text_add(text, "0, ");
  ritz_text_add(text, "1};\n");
}

// ---- Arguments ----

// Active inputs, active outputs, and each of the others.
void ritz_emit_unit_arguments(RitzEmitter *e, const RitzDiagonalPlan *p, const char *indent) {
  RitzText *text = &e->text;

  ritz_text_add(text, "%sRitzVec active_in[%d * RITZ_CALL], active_out[%d * RITZ_CALL];\n", indent,
                (int)p->size_in, (int)p->size_out);
  for (int i = 0; i < p->plan.num_in + p->plan.num_out; i++) {
    const bool is_in = i < p->plan.num_in;
    if (p->offsets[i] >= 0) continue;
    ritz_text_add(text, "%sRitzVec %s%d[%d * RITZ_CALL];\n", indent, is_in ? "in" : "out",
                  is_in ? i : i - p->plan.num_in, (int)p->plan.fields[i].size);
  }
}

static void emit_list(RitzEmitter *e, const RitzDiagonalPlan *p, bool is_input) {
  const char *name = is_input ? "in" : "out", *place = ritz_emit_place(e);
  const char *scalar = ritz_emit_scalar(e);
  const int begin = is_input ? 0 : p->plan.num_in;
  const int num = is_input ? p->plan.num_in_arguments : p->plan.num_out_arguments;
  RitzText *text = &e->text;

  ritz_text_add(text, "  %s%s *const %s[] = {", is_input ? "const " : "", scalar, name);
  for (int k = 0; k < num; k++) {
    const int i = ritz_plan_field_of(&p->plan, is_input, k);
    const int offset = i < 0 ? -1 : (int)p->offsets[begin + i];
    ritz_text_add(text, k ? ", " : "");
    if (i < 0)
      ritz_text_add(text, "NULL");
    else if (offset < 0)
      ritz_text_add(text, "(%s *)%s%s%d", scalar, place, name, i);
    else
      ritz_text_add(text, "(%s *)(%sactive_%s + %d * RITZ_CALL)", scalar, place, name, offset);
  }
  ritz_text_add(text, "};\n");
}

void ritz_emit_unit_begin(RitzEmitter *e, const RitzDiagonalPlan *p) {
  ritz_emit_point_begin(e);
  if (e->target->call_points == 1) ritz_emit_unit_arguments(e, p, "  ");
  for (int i = 0; i < p->plan.num_in; i++) {
    if (p->offsets[i] < 0) ritz_emit_field(e, i, false);
  }
  emit_list(e, p, true);
  emit_list(e, p, false);
}
