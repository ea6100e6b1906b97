// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of forms (ritz/form.h): the user's text, and around it a function that brings what it gets and
// gives from and to the points of the arrays. Called by form.c and facets.c.
#include <ritz/qfunction.h>
#include <stdio.h>

#include "base/text.h"
#include "geometry/geometry.h"

typedef struct {
  const RitzForm *form; // borrowed
  CeedInt dim, num_sides;
  RitzFormGeometry geometry;
  RitzText text;
} Writer;

// Numbers of a field in the user's function.
static CeedInt num_of(const RitzFormField *field) {
  CeedInt num = field->num_numbers;

  if (field->space) (void)RitzSpaceGetNumComponents(field->space, &num);
  return num;
}

static CeedInt count_arrays(CeedInt num, const RitzFormField *fields) {
  CeedInt count = 0;

  for (CeedInt k = 0; k < num; k++) count += fields[k].what == (RITZ_FORM_VALUE | RITZ_FORM_GRADIENT) ? 2 : 1;
  return count;
}

CeedInt ritz_form_num_outputs(const RitzForm *form) { return count_arrays(form->num_outputs, form->outputs); }

// ---- Declarations and arguments ----

static void declare(Writer *w, CeedInt num, const RitzFormField *fields) {
  for (CeedInt k = 0; k < num; k++) {
    const int n = (int)(num_of(&fields[k]) * w->num_sides);

    if (fields[k].what & RITZ_FORM_GRADIENT)
      ritz_text_add(&w->text, "    CeedScalar gradient_%s[%d];\n", fields[k].name, n * (int)w->dim);
    if (fields[k].what & ~RITZ_FORM_GRADIENT)
      ritz_text_add(&w->text, "    CeedScalar value_%s[%d];\n", fields[k].name, n);
  }
}

static void pass(Writer *w, const char *qualifier, CeedInt num, const RitzFormField *fields) {
  const bool has_sides = w->num_sides > 1;

  for (CeedInt k = 0; k < num; k++) {
    const int n = (int)num_of(&fields[k]), dim = (int)w->dim;
    const char *name = fields[k].name;

    if (fields[k].what & ~RITZ_FORM_GRADIENT) {
      if (has_sides)
        ritz_text_add(&w->text, ", (%sCeedScalar(*)[%d])value_%s", qualifier, n, name);
      else
        ritz_text_add(&w->text, ", value_%s", name);
    }
    if (fields[k].what & RITZ_FORM_GRADIENT) {
      if (has_sides)
        ritz_text_add(&w->text, ", (%sCeedScalar(*)[%d][%d])gradient_%s", qualifier, n, dim, name);
      else
        ritz_text_add(&w->text, ", (%sCeedScalar(*)[%d])gradient_%s", qualifier, dim, name);
    }
  }
}

// ---- One point ----

static bool has_metric(const Writer *w) {
  return w->geometry == RITZ_FORM_STORED_METRIC || w->geometry == RITZ_FORM_CONSTANT_METRIC;
}

// The first field of the geometry behind the inputs of the form and the position.
static int first_of_geometry(const Writer *w) {
  const bool has_position = (w->form->gets & RITZ_FORM_POSITION) != 0;

  return (int)(w->num_sides * count_arrays(w->form->num_inputs, w->form->inputs)) + has_position;
}

// With the weight in it, which is ready long before the gradients are.
static void write_metric(Writer *w, int first) {
  const int num = (int)(w->dim * (w->dim + 1) / 2);

  ritz_text_add(&w->text, "    CeedScalar at_metric[%d];\n", num);
  if (w->geometry == RITZ_FORM_STORED_METRIC)
    ritz_text_add(&w->text, "    ritz_form_values(%d, in[%d] + Q, Q, i, at_metric);\n", num, first);
  else
    ritz_text_add(&w->text, "    ritz_form_metric(%d, in[%d][i], in[%d] + Q, Q, i, at_metric);\n", num,
                  first + 1, first);
}

// Inverse Jacobian of side 1, and heights.
static void write_beyond(Writer *w, int first) {
  const int dim = (int)w->dim;
  const bool has_sides = w->num_sides > 1;
  RitzText *t = &w->text;

  if (has_sides)
    ritz_text_add(t,
                  "    CeedScalar at_inverse1[%d];\n"
                  "    ritz_point_invert(%d, in[%d], Q, i, at_inverse1);\n",
                  dim * dim, dim, first);
  if (!(w->form->gets & RITZ_FORM_HEIGHT)) return;
  ritz_text_add(t, "    const CeedScalar at_height[%d] = {ritz_facet_height(%d, at_inverse)",
                (int)w->num_sides, dim);
  if (has_sides) ritz_text_add(t, ", ritz_facet_height(%d, at_inverse1)", dim);
  ritz_text_add(t, "};\n");
}

// Position, inverse Jacobian or metric, weight and normal.
static void write_geometry(Writer *w) {
  const bool has_gradients = ritz_form_has_gradients(w->form);
  const int dim = (int)w->dim, first = first_of_geometry(w);
  RitzText *t = &w->text;

  if (w->form->gets & RITZ_FORM_POSITION) {
    ritz_text_add(t, "    CeedScalar at_position[%d];\n", dim);
    ritz_text_add(t, "    ritz_form_values(%d, in[%d], Q, i, at_position);\n", dim, first - 1);
  }
  if (has_metric(w))
    write_metric(w, first);
  else if (w->geometry == RITZ_FORM_COMPUTED || w->geometry == RITZ_FORM_ELEMENT || has_gradients)
    ritz_text_add(t, "    CeedScalar at_inverse[%d];\n", dim * dim);
  if (w->geometry == RITZ_FORM_TRACE || w->geometry == RITZ_FORM_ELEMENT)
    ritz_text_add(t, "    CeedScalar at_normal[%d];\n", dim);
  if ((w->geometry == RITZ_FORM_STORED || w->geometry == RITZ_FORM_CONSTANT) && has_gradients)
    ritz_text_add(t, "    ritz_form_values(%d, in[%d] + Q, Q, i, at_inverse);\n", dim * dim, first);
  if (w->geometry == RITZ_FORM_ELEMENT)
    ritz_text_add(t, "    const CeedScalar at_det = ritz_point_invert(%d, in[%d], Q, i, at_inverse);\n", dim,
                  first);
  switch (w->geometry) {
  case RITZ_FORM_STORED:
  case RITZ_FORM_STORED_METRIC:
    ritz_text_add(t, "    const CeedScalar at_weight = in[%d][i];\n", first);
    break;
  case RITZ_FORM_CONSTANT:
  case RITZ_FORM_CONSTANT_METRIC:
    ritz_text_add(t, "    const CeedScalar at_weight = in[%d][i] * in[%d][i];\n", first + 1, first);
    break;
  case RITZ_FORM_COMPUTED:
    ritz_text_add(
        t, "    const CeedScalar at_weight = in[%d][i] * ritz_point_invert(%d, in[%d], Q, i, at_inverse);\n",
        first + 1, dim, first);
    break;
  case RITZ_FORM_TRACE:
    ritz_text_add(
        t, "    const CeedScalar at_weight = in[%d][i] * ritz_facet_normal(%d, in[%d], Q, i, at_normal);\n",
        first + 1, dim, first);
    break;
  case RITZ_FORM_ELEMENT:
    ritz_text_add(t,
                  "    const CeedScalar at_weight =\n"
                  "        in[%d][i] * ritz_facet_normal_of_element(%d, at_inverse, at_det, at_normal);\n",
                  first + (int)w->num_sides, dim);
    write_beyond(w, first + 1);
  }
}

// What follows the name of an array whose side 1 begins at entry n.
typedef struct {
  char of_value[20], of_gradient[20];
  const char *geometry;
} SideText;

static SideText side_text(const Writer *w, CeedInt side, int n) {
  SideText s = {"", "", side ? "at_inverse1" : has_metric(w) ? "at_metric" : "at_inverse"};

  if (side) {
    snprintf(s.of_value, sizeof(s.of_value), " + %d", n);
    snprintf(s.of_gradient, sizeof(s.of_gradient), " + %d", n * (int)w->dim);
  }
  return s;
}

static void write_input(Writer *w, const RitzFormField *f, CeedInt side, int *in) {
  const char *gradients = has_metric(w) ? "ritz_form_raised_gradients" : "ritz_point_gradients";
  const int n = (int)num_of(f);
  const SideText s = side_text(w, side, n);

  if (f->what & ~RITZ_FORM_GRADIENT)
    ritz_text_add(&w->text, "    ritz_form_values(%d, in[%d], Q, i, value_%s%s);\n", n, (*in)++, f->name,
                  s.of_value);
  if (f->what & RITZ_FORM_GRADIENT)
    ritz_text_add(&w->text, "    %s(%d, %d, %s, in[%d], Q, i, gradient_%s%s);\n", gradients, (int)w->dim, n,
                  s.geometry, (*in)++, f->name, s.of_gradient);
}

static void write_inputs(Writer *w) {
  int in = 0;

  for (CeedInt k = 0; k < w->form->num_inputs; k++) {
    for (CeedInt side = 0; side < w->num_sides; side++) write_input(w, &w->form->inputs[k], side, &in);
  }
}

static void write_call(Writer *w) {
  const RitzForm *form = w->form;

  ritz_text_add(&w->text, "    %s(ctx", form->function);
  if (form->gets & RITZ_FORM_POSITION) ritz_text_add(&w->text, ", at_position");
  if (form->gets & RITZ_FORM_NORMAL) ritz_text_add(&w->text, ", at_normal");
  if (form->gets & RITZ_FORM_WEIGHT) ritz_text_add(&w->text, ", &at_weight");
  if (form->gets & RITZ_FORM_HEIGHT) ritz_text_add(&w->text, ", at_height");
  pass(w, "const ", form->num_inputs, form->inputs);
  pass(w, "", form->num_outputs, form->outputs);
  ritz_text_add(&w->text, ");\n");
}

static void write_output(Writer *w, const RitzFormField *f, CeedInt side, int *out) {
  const char *factor = f->space ? "at_weight" : "1";
  const int n = (int)num_of(f);
  const SideText s = side_text(w, side, n);

  if (f->what & ~RITZ_FORM_GRADIENT)
    ritz_text_add(&w->text, "    ritz_form_test_values(%d, %s, value_%s%s, Q, i, out[%d]);\n", n, factor,
                  f->name, s.of_value, (*out)++);
  if (!(f->what & RITZ_FORM_GRADIENT)) return;
  if (has_metric(w))
    ritz_text_add(&w->text, "    ritz_form_test_raised(%d, %d, gradient_%s, Q, i, out[%d]);\n", (int)w->dim,
                  n, f->name, (*out)++);
  else
    ritz_text_add(&w->text,
                  "    ritz_form_test_gradients(%d, %d, %s, at_weight, gradient_%s%s, Q, i, out[%d]);\n",
                  (int)w->dim, n, s.geometry, f->name, s.of_gradient, (*out)++);
}

static void write_outputs(Writer *w) {
  int out = 0;

  for (CeedInt k = 0; k < w->form->num_outputs; k++) {
    for (CeedInt side = 0; side < w->num_sides; side++) write_output(w, &w->form->outputs[k], side, &out);
  }
}

// ---- The QFunction ----

static void write_text(Writer *w) {
  const RitzForm *form = w->form;

  ritz_text_add(&w->text, "#include <ritz/jit-source/geometry/fields.h>\n\n%s\n\n", form->text);
  ritz_text_add(&w->text,
                "CEED_QFUNCTION(%s_at_points)\n"
                "(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {\n"
                "  CeedPragmaSIMD\n"
                "  for (CeedInt i = 0; i < Q; i++) {\n",
                form->function);
  declare(w, form->num_inputs, form->inputs);
  declare(w, form->num_outputs, form->outputs);
  write_geometry(w);
  write_inputs(w);
  write_call(w);
  write_outputs(w);
  ritz_text_add(&w->text, "  }\n  return CEED_ERROR_SUCCESS;\n}\n");
}

int ritz_form_create_qfunction(Ceed ceed, const RitzForm *form, CeedInt dim, CeedInt num_sides,
                               RitzFormGeometry geometry, CeedQFunction *qf) {
  Writer w = {.form = form, .dim = dim, .num_sides = num_sides, .geometry = geometry, .text = {.ceed = ceed}};
  RitzText name = {.ceed = ceed};
  char *text = NULL, *full_name = NULL;

  write_text(&w);
  ritz_text_add(&name, "%s_at_points", form->function);
  int ierr = ritz_first_error(ritz_text_finish(&w.text, &text), ritz_text_finish(&name, &full_name));

  if (!ierr) ierr = RitzQFunctionCreateFromText(ceed, 1, text, full_name, qf);
  RITZ_FREE(&text);
  RITZ_FREE(&full_name);
  return ierr;
}
