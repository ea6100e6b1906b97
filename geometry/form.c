// SPDX-License-Identifier: BSD-2-Clause
// Operators of forms (ritz/form.h) and of point functions, which are forms with a QFunction of the user's,
// over elements: checks, fields, numbers at points. Public functions; the QFunctions of forms are in
// form-text.c, facets in facets.c.
#include <ritz/jit-source/geometry/points.h>
#include <string.h>

#include "base/text.h"
#include "geometry/geometry.h"

// ---- Checks ----

static CeedVector vector_of(const RitzFormField *field) {
  return field->vector ? field->vector : CEED_VECTOR_ACTIVE;
}

static bool is_active(const RitzFormField *field) { return vector_of(field) == CEED_VECTOR_ACTIVE; }

static bool is_gradient(const RitzFormField *field) { return (field->what & RITZ_FORM_GRADIENT) != 0; }

bool ritz_form_has_gradients(const RitzForm *form) {
  for (CeedInt k = 0; k < form->num_inputs; k++) {
    if (is_gradient(&form->inputs[k])) return true;
  }
  for (CeedInt k = 0; k < form->num_outputs; k++) {
    if (is_gradient(&form->outputs[k])) return true;
  }
  return false;
}

bool ritz_form_needs_elements(const RitzForm *form) {
  return ritz_form_has_gradients(form) || form->gets & RITZ_FORM_HEIGHT;
}

// The fields one after the other; NULL past the end.
static const RitzFormField *field_of(const RitzForm *form, CeedInt k) {
  if (k < form->num_inputs) return &form->inputs[k];
  return k < form->num_inputs + form->num_outputs ? &form->outputs[k - form->num_inputs] : NULL;
}

static int check_name(const char *call, Ceed ceed, const RitzForm *form, CeedInt k) {
  const char *name = field_of(form, k)->name;

  RITZ_REQUIRE(name && ritz_is_identifier(name), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the name of field %" CeedInt_FMT " of the form is '%s', needed an identifier", call, k,
               name ? name : "NULL");
  RITZ_REQUIRE(strcmp(name, "x") && strcmp(name, "dx") && strcmp(name, "dx1") && strcmp(name, "weights"),
               ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the name of field %" CeedInt_FMT " of the form is '%s', which is one of the geometry's",
               call, k, name);
  for (CeedInt i = 0; i < k; i++)
    RITZ_REQUIRE(strcmp(field_of(form, i)->name, name), ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: two fields of the form have the name '%s'", call, name);
  return CEED_ERROR_SUCCESS;
}

static int check_product(const char *call, Ceed ceed, const RitzFormField *field) {
  RitzSpace space = NULL;

  RITZ_REQUIRE(ritz_is_live(field->product, &ritz_product_space_class), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the product of field '%s' is %s", call, field->name, ritz_found_at(field->product));
  RITZ_TRY(RitzProductSpaceGetSpace(field->product, field->index, &space));
  RITZ_REQUIRE(space == field->space, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space of field '%s' is not space %" CeedInt_FMT " of its product", call, field->name,
               field->index);
  return CEED_ERROR_SUCCESS;
}

static int check_space(const char *call, Ceed ceed, RitzMesh mesh, const RitzFormField *field) {
  RitzMesh of_space = NULL;
  CeedSize needed = 0, length = 0;

  RITZ_REQUIRE(ritz_is_live(field->space, &ritz_space_class), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space of field '%s' is %s", call, field->name, ritz_found_at(field->space));
  RITZ_TRY(RitzSpaceGetMesh(field->space, &of_space));
  RITZ_REQUIRE(of_space == mesh, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space of field '%s' is on another mesh than the geometry", call, field->name);
  if (field->product) RITZ_TRY(check_product(call, ceed, field));
  if (is_active(field)) return CEED_ERROR_SUCCESS;
  if (field->product)
    RITZ_TRY(RitzProductSpaceGetSize(field->product, &needed));
  else
    RITZ_TRY(RitzSpaceGetSize(field->space, &needed));
  RITZ_TRY(CeedVectorGetLength(field->vector, &length));
  RITZ_REQUIRE(length == needed, ceed, CEED_ERROR_DIMENSION,
               "%s: the vector of field '%s' has %" CeedSize_FMT " entries, its space %" CeedSize_FMT, call,
               field->name, length, needed);
  return CEED_ERROR_SUCCESS;
}

static int check_field(const char *call, Ceed ceed, RitzMesh mesh, const RitzFormField *field,
                       bool is_facet) {
  const int what = field->what;
  const bool is_numbers = what == RITZ_FORM_NUMBERS;

  RITZ_REQUIRE(is_numbers || (what > 0 && !(what & ~RITZ_FORM_BOTH)), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' is %d, needed RITZ_FORM_VALUE, _GRADIENT or both, or _NUMBERS", call,
               field->name, what);
  RITZ_REQUIRE(is_active(field) || ritz_is_live(field->vector, &ritz_vector_class), ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: the vector of field '%s' is %s", call, field->name,
               ritz_found_at(field->vector));
  if (!is_numbers) return check_space(call, ceed, mesh, field);
  RITZ_REQUIRE(!is_facet, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: field '%s' is numbers at points, which facets do not have", call, field->name);
  RITZ_REQUIRE(!field->space && field->num_numbers >= 1, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' is %" CeedInt_FMT " numbers at points %s a space, needed one or more without",
               call, field->name, field->num_numbers, field->space ? "with" : "without");
  return CEED_ERROR_SUCCESS;
}

int ritz_form_check(const char *call, Ceed ceed, RitzMesh mesh, const RitzForm *form, bool is_facet) {
  const int of_facets = RITZ_FORM_NORMAL | RITZ_FORM_HEIGHT;
  const int all = RITZ_FORM_POSITION | RITZ_FORM_WEIGHT | RITZ_FORM_ISOTROPIC | (is_facet ? of_facets : 0);

  RITZ_REQUIRE(form, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'form' is NULL", call);
  RITZ_REQUIRE(form->text && form->function && ritz_is_identifier(form->function), ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: the form lacks its text, or '%s' is no name of a function", call,
               form->function ? form->function : "NULL");
  RITZ_REQUIRE(!(form->gets & ~all), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the function is to get %d besides its fields, needed a sum of RITZ_FORM_POSITION, "
               "_WEIGHT, _ISOTROPIC and, on facets, _NORMAL and _HEIGHT",
               call, form->gets);
  RITZ_REQUIRE(form->num_inputs >= 0 && (form->inputs || !form->num_inputs) && form->num_outputs >= 1 &&
                   form->outputs,
               ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the form has %" CeedInt_FMT " inputs and %" CeedInt_FMT
               " outputs, needed none or more and one or more",
               call, form->num_inputs, form->num_outputs);
  for (CeedInt k = 0; field_of(form, k); k++) {
    RITZ_TRY(check_name(call, ceed, form, k));
    RITZ_TRY(check_field(call, ceed, mesh, field_of(form, k), is_facet));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Fields ----

// Restriction and basis of the fields of a space on a side, or of so many numbers, which share them.
typedef struct {
  const RitzFormField *field; // the first one, borrowed
  CeedInt side;
  CeedElemRestriction rstr;
  CeedBasis basis;
} Found;

typedef struct {
  Ceed ceed;
  CeedInt dim, num_sides;
  RitzFormFind find;
  void *data;
  CeedInt num;
  Found *found; // owned
} Finder;

static void finder_clear(Finder *f) {
  for (CeedInt k = 0; k < f->num; k++) {
    CeedElemRestrictionDestroy(&f->found[k].rstr);
    CeedBasisDestroy(&f->found[k].basis);
  }
  RITZ_FREE(&f->found);
}

static bool is_same_place(const RitzFormField *a, const RitzFormField *b) {
  if (!a->space) return !b->space && a->num_numbers == b->num_numbers;
  return a->space == b->space && a->product == b->product && (!a->product || a->index == b->index);
}

static int find_place(Finder *f, const RitzFormField *field, CeedInt side, Found *found) {
  for (CeedInt k = 0; k < f->num; k++) {
    *found = f->found[k];
    if (found->side == side && is_same_place(found->field, field)) return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(RITZ_REALLOC(f->ceed, (size_t)f->num + 1, &f->found));
  Found *next = &f->found[f->num++];

  *next = (Found){.field = field, .side = side};
  RITZ_TRY(f->find(f->data, field, side, &next->rstr, &next->basis));
  *found = *next;
  return CEED_ERROR_SUCCESS;
}

// "u", "grad u"; of side 1 "u 1", "grad u 1", which are no names of other fields.
static int add_named(Finder *f, const Found *found, const RitzFormField *field, CeedInt size,
                     CeedEvalMode mode, RitzGeometryFields *fields) {
  RitzText name = {.ceed = f->ceed};
  char *chars = NULL;

  ritz_text_add(&name, "%s%s%s", mode == CEED_EVAL_GRAD ? "grad " : "", field->name, found->side ? " 1" : "");
  RITZ_TRY(ritz_text_finish(&name, &chars));
  const int ierr = ritz_geometry_fields_add(f->ceed, fields, chars, size, mode, found->rstr, found->basis,
                                            vector_of(field));
  RITZ_FREE(&chars);
  return ierr;
}

static int add_side(Finder *f, const RitzFormField *field, CeedInt side, RitzGeometryFields *fields) {
  CeedInt size = field->num_numbers;
  CeedEvalMode mode = CEED_EVAL_NONE;
  Found found;

  RITZ_TRY(find_place(f, field, side, &found));
  if (field->space) {
    RITZ_TRY(RitzSpaceGetNumComponents(field->space, &size));
    mode = CEED_EVAL_INTERP;
  }
  if (field->what & ~RITZ_FORM_GRADIENT) RITZ_TRY(add_named(f, &found, field, size, mode, fields));
  if (!is_gradient(field)) return CEED_ERROR_SUCCESS;
  return add_named(f, &found, field, size * f->dim, CEED_EVAL_GRAD, fields);
}

static int add_form_field(Finder *f, const RitzFormField *field, RitzGeometryFields *fields) {
  for (CeedInt side = 0; side < f->num_sides; side++) RITZ_TRY(add_side(f, field, side, fields));
  return CEED_ERROR_SUCCESS;
}

int ritz_form_add_fields(Ceed ceed, const RitzForm *form, CeedInt dim, CeedInt num_sides, RitzFormFind find,
                         RitzFormAddGeometry add_geometry, void *data, RitzGeometryFields *fields) {
  Finder f = {.ceed = ceed, .dim = dim, .num_sides = num_sides, .find = find, .data = data};
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt k = 0; k < form->num_inputs && !ierr; k++) ierr = add_form_field(&f, &form->inputs[k], fields);
  if (!ierr) ierr = add_geometry(data, fields);
  for (CeedInt k = 0; k < form->num_outputs && !ierr; k++)
    ierr = add_form_field(&f, &form->outputs[k], fields);
  finder_clear(&f);
  return ierr;
}

// ---- Numbers at points ----

// Points of the blocks before this one; block = num_blocks: of all.
static int count_points(const RitzGeometryCase *c, CeedInt block, CeedSize *num) {
  *num = 0;
  for (CeedInt b = 0; b < block; b++) {
    RitzGeometryCase of_block = *c;
    int64_t num_elem = 0;

    RITZ_TRY(ritz_geometry_enter_block(&of_block, b));
    RITZ_TRY(RitzMeshGetBlock(c->geometry->mesh, b, NULL, NULL, &num_elem, NULL, NULL));
    *num += num_elem * of_block.Q;
  }
  return CEED_ERROR_SUCCESS;
}

// [element][number][point] of some elements: entries of a vector of num_all points.
static int list_numbers(const RitzGeometryPart *part, CeedSize num_all, CeedInt num_numbers,
                        CeedElemRestriction *rstr) {
  const RitzGeometryCase *c = &part->shared->c;
  const size_t Q = (size_t)c->Q;
  CeedSize before = 0;
  CeedInt *offsets = NULL;

  RITZ_REQUIRE(num_all * num_numbers <= INT32_MAX, c->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzGeometryCreateFormOperator: %" CeedInt_FMT " numbers at %" CeedSize_FMT
               " points exceed the 32-bit offsets of a restriction",
               num_numbers, num_all);
  RITZ_TRY(count_points(c, c->block->index, &before));
  RITZ_TRY(RITZ_MALLOC(c->ceed, (size_t)part->num_elem * Q, &offsets));
  for (size_t e = 0; e < (size_t)part->num_elem; e++) {
    const CeedInt elem = part->elements[e] - c->block->first;
    const CeedInt first = ((CeedInt)before + elem * c->Q) * num_numbers;

    for (size_t q = 0; q < Q; q++) offsets[e * Q + q] = first + (CeedInt)q;
  }
  const int ierr =
      CeedElemRestrictionCreate(c->ceed, part->num_elem, c->Q, num_numbers, c->Q, num_all * num_numbers,
                                CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  RITZ_FREE(&offsets);
  return ierr;
}

static int restrict_numbers(const RitzGeometryPart *part, CeedInt num_numbers, CeedElemRestriction *rstr) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt strides[3] = {1, c->Q, c->Q * num_numbers};
  CeedSize num_all = 0;

  RITZ_TRY(count_points(c, c->geometry->num_blocks, &num_all));
  if (num_all != (CeedSize)part->num_elem * c->Q) return list_numbers(part, num_all, num_numbers, rstr);
  return CeedElemRestrictionCreateStrided(c->ceed, part->num_elem, c->Q, num_numbers, num_all * num_numbers,
                                          strides, rstr);
}

// ---- The operator ----

typedef struct {
  const RitzForm *form;              // borrowed, as the rest
  const RitzPointFunction *function; // that computes the form; NULL: its text
  CeedQFunctionContext context;      // NULL: none
  RitzGeometryPart *part;            // that is made
  RitzGeometryPolicy treatment;
} FormData;

static int restrict_product(const RitzGeometryPart *part, const RitzFormField *field,
                            CeedElemRestriction *rstr) {
  const RitzGeometryCase *c = &part->shared->c;
  const CeedInt block = c->block->index;
  int64_t num_elem = 0;

  RITZ_TRY(RitzMeshGetBlock(c->geometry->mesh, block, NULL, NULL, &num_elem, NULL, NULL));
  if (part->num_elem == num_elem)
    return RitzProductSpaceCreateBlockRestriction(field->product, field->index, block, c->ceed, rstr);
  return RitzProductSpaceCreateElementsRestriction(field->product, field->index, block, c->ceed,
                                                   part->num_elem, part->elements, rstr);
}

static int find_on_part(void *data, const RitzFormField *field, CeedInt side, CeedElemRestriction *rstr,
                        CeedBasis *basis) {
  const RitzGeometryPart *part = ((const FormData *)data)->part;
  CeedInt degree = 0, num_comp = 0;

  (void)side; // elements have none
  if (!field->space) {
    RITZ_TRY(restrict_numbers(part, field->num_numbers, rstr));
    return CeedBasisReferenceCopy(CEED_BASIS_NONE, basis);
  }
  RITZ_TRY(RitzSpaceGetDegree(field->space, &degree));
  RITZ_TRY(RitzSpaceGetNumComponents(field->space, &num_comp));
  if (field->product)
    RITZ_TRY(restrict_product(part, field, rstr));
  else
    RITZ_TRY(ritz_geometry_part_restriction(part, field->space, rstr));
  return ritz_geometry_create_basis(&part->shared->c, num_comp, degree, basis);
}

bool ritz_form_has_metric(const RitzForm *form) {
  return form->gets & RITZ_FORM_ISOTROPIC && ritz_form_has_gradients(form);
}

// Of affine elements forms get the inverse Jacobian, or the metric, once an element; functions of the program
// compute it.
static RitzFormGeometry geometry_of(const FormData *f) {
  const bool metric = ritz_form_has_metric(f->form);

  if (f->treatment == RITZ_POLICY_STORED) return metric ? RITZ_FORM_STORED_METRIC : RITZ_FORM_STORED;
  if (f->treatment != RITZ_POLICY_AFFINE || f->function) return RITZ_FORM_COMPUTED;
  return metric ? RITZ_FORM_CONSTANT_METRIC : RITZ_FORM_CONSTANT;
}

// Positions by tensor products take fewer operations than by the matrix of an affine map.
static RitzGeometryNodes nodes_of(const FormData *f, bool has_position) {
  const bool is_affine = f->treatment == RITZ_POLICY_AFFINE;
  const bool by_lines = has_position && f->part->shared->c.block->shape->is_tensor;

  if (f->treatment == RITZ_POLICY_TRILINEAR || (is_affine && by_lines)) return RITZ_NODES_CORNERS;
  return is_affine ? RITZ_NODES_EDGES : RITZ_NODES_ALL;
}

static int add_form_geometry(void *data, RitzGeometryFields *fields) {
  const FormData *f = data;
  const int position = f->form->gets & RITZ_FORM_POSITION ? CEED_EVAL_INTERP : 0;
  const bool is_axisymmetric = f->part->shared->c.options.is_axisymmetric;
  const RitzFormGeometry geometry = geometry_of(f);
  const bool gradients = ritz_form_has_gradients(f->form);
  const bool metric = ritz_form_has_metric(f->form);
  const char *jacobian = metric ? "metric" : "inverse Jacobian";
  const int wanted = RITZ_SETUP_MASS | (metric ? RITZ_SETUP_METRIC : gradients ? RITZ_SETUP_GRADIENTS : 0);

  (void)fields; // of the part
  if (position || geometry == RITZ_FORM_COMPUTED)
    RITZ_TRY(ritz_geometry_add_coordinates(f->part, nodes_of(f, position != 0),
                                           position | (geometry == RITZ_FORM_COMPUTED ? CEED_EVAL_GRAD : 0)));
  if (f->treatment == RITZ_POLICY_STORED)
    return ritz_geometry_add_numbers(f->part, gradients ? jacobian : "w det", wanted, is_axisymmetric);
  if (geometry != RITZ_FORM_COMPUTED) RITZ_TRY(ritz_geometry_add_constants(f->part, wanted));
  return is_axisymmetric ? ritz_geometry_add_numbers(f->part, "weights", RITZ_SETUP_MASS_WEIGHT, true)
                         : ritz_geometry_add_weights(f->part, "weights");
}

// Gradients to space and back, and factors; the user's own operations are not known.
static CeedSize useful_flops(const RitzForm *form, CeedSize dim) {
  const bool metric = ritz_form_has_metric(form);
  const RitzFormField *field;
  CeedSize flops = 0;

  for (CeedInt k = 0; (field = field_of(form, k)); k++) {
    const bool is_output = k >= form->num_inputs;
    CeedInt num = 0;

    if (!field->space || RitzSpaceGetNumComponents(field->space, &num)) continue;
    if (is_gradient(field)) flops += is_output && metric ? 0 : num * dim * (2 * dim - 1 + is_output);
    if (field->what & RITZ_FORM_VALUE) flops += num * is_output;
  }
  return flops;
}

static int create_volume_qfunction(const RitzGeometryCase *c, const FormData *f, CeedQFunction *qf) {
  const RitzPointFunction *function = f->function;
  const bool is_stored = f->treatment == RITZ_POLICY_STORED;

  if (function) {
    RITZ_TRY(CeedQFunctionCreateInterior(c->ceed, 1, is_stored ? function->stored : function->computed,
                                         is_stored ? function->stored_loc : function->computed_loc, qf));
  } else {
    RITZ_TRY(ritz_form_create_qfunction(c->ceed, f->form, c->dim, 1, geometry_of(f), qf));
  }
  return CeedQFunctionSetUserFlopsEstimate(*qf, useful_flops(f->form, c->dim));
}

static int make_form_part(RitzGeometryPart *part, RitzGeometryPolicy treatment, void *data,
                          CeedOperator *op) {
  FormData *f = data;
  const RitzGeometryCase *c = &part->shared->c;
  CeedQFunction qf = NULL;
  int ierr;

  f->part = part;
  f->treatment = treatment;
  RITZ_TRY_CLEANUP(create_volume_qfunction(c, f, &qf));
  RITZ_TRY_CLEANUP(
      ritz_form_add_fields(c->ceed, f->form, c->dim, 1, find_on_part, add_form_geometry, f, &part->fields));
  RITZ_TRY_CLEANUP(
      ritz_geometry_fields_operator(&part->fields, ritz_form_num_outputs(f->form), qf, f->context, op));
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// ---- Public functions ----

// Options of an operator at points: what else there is in them is not looked at.
static int form_case(const char *call, RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                     RitzGeometryCase *c) {
  RitzOperatorOptions used = options ? *options : (RitzOperatorOptions){0};

  used.kind = RITZ_OPERATOR_POINT_FUNCTION;
  used.lambda = used.mu = 0;
  used.lambda_function = used.mu_function = NULL;
  return ritz_geometry_case(call, geometry, ceed, options ? &used : NULL, c);
}

// Numbers of all points of an element are counted by CeedInt.
static int check_count(const char *call, const RitzGeometryCase *c, CeedInt num_numbers) {
  for (CeedInt b = 0; b < c->geometry->num_blocks; b++) {
    RitzGeometryCase of_block = *c;

    RITZ_TRY(ritz_geometry_enter_block(&of_block, b));
    RITZ_REQUIRE(num_numbers >= 1 && num_numbers <= INT32_MAX / of_block.Q, c->ceed, CEED_ERROR_DIMENSION,
                 "%s: %" CeedInt_FMT " numbers at a point, needed 1 to %d", call, num_numbers,
                 (int)(INT32_MAX / of_block.Q));
  }
  return CEED_ERROR_SUCCESS;
}

static int check_numbers(const RitzGeometryCase *c, const RitzForm *form) {
  const RitzFormField *field;
  CeedSize num_all = 0, length = 0;

  RITZ_TRY(count_points(c, c->geometry->num_blocks, &num_all));
  for (CeedInt k = 0; (field = field_of(form, k)); k++) {
    if (field->space) continue;
    RITZ_TRY(check_count("RitzGeometryCreateFormOperator", c, field->num_numbers));
    if (is_active(field)) continue;
    RITZ_TRY(CeedVectorGetLength(field->vector, &length));
    RITZ_REQUIRE(length == num_all * field->num_numbers, c->ceed, CEED_ERROR_DIMENSION,
                 "RitzGeometryCreateFormOperator: the vector of field '%s' has %" CeedSize_FMT
                 " entries, needed %" CeedInt_FMT " at %" CeedSize_FMT " points",
                 field->name, length, field->num_numbers, num_all);
  }
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryCreateFormOperator(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                                   const RitzForm *form, CeedQFunctionContext context, CeedOperator *op) {
  FormData data = {.form = form, .context = context};
  RitzGeometryCase c;

  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_TRY(form_case(__func__, geometry, ceed, options, &c));
  RITZ_OPTIONAL(ceed, context);
  RITZ_REQUIRE(c.dim == c.space_dim, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has dimension %" CeedInt_FMT " in space of dimension %" CeedInt_FMT
               ", needed the same",
               __func__, c.dim, c.space_dim);
  RITZ_TRY(ritz_form_check(__func__, ceed, c.geometry->mesh, form, false));
  RITZ_TRY(check_numbers(&c, form));
  c.form = form;
  return ritz_geometry_composite(&c, form->function, make_form_part, &data, op);
}

static int check_function(const RitzGeometryCase *c, const RitzPointFunction *f) {
  RITZ_REQUIRE(f->stored && f->computed && f->stored_loc && f->computed_loc, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreatePointOperator: the point function lacks a function or its source");
  RITZ_REQUIRE(f->dim == c->dim && f->dim == c->space_dim && f->num_comp == c->num_comp, c->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreatePointOperator: the point function is for dimension %" CeedInt_FMT
               " and %" CeedInt_FMT " components; the mesh has dimension %" CeedInt_FMT
               " in space of dimension %" CeedInt_FMT ", the space %" CeedInt_FMT " components",
               f->dim, f->num_comp, c->dim, c->space_dim, c->num_comp);
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryCreatePointOperator(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                                    const RitzPointFunction *function, CeedQFunctionContext context,
                                    CeedOperator *op) {
  const int what = RITZ_FORM_BOTH;
  RitzGeometryCase c;

  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_TRY(form_case(__func__, geometry, ceed, options, &c));
  RITZ_REQUIRE(function, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'function' is NULL", __func__);
  RITZ_OPTIONAL(ceed, context);
  RITZ_TRY(check_function(&c, function));
  const RitzFormField u = {.name = "u", .what = what, .space = options->space},
                      v = {.name = "v", .what = what, .space = options->space};
  const RitzForm form = {.gets = function->has_position ? RITZ_FORM_POSITION : 0,
                         .num_inputs = 1,
                         .inputs = &u,
                         .num_outputs = 1,
                         .outputs = &v};
  FormData data = {.form = &form, .function = function, .context = context};

  return ritz_geometry_composite(&c, "point function", make_form_part, &data, op);
}

int RitzGeometryCreatePointNumbers(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                                   CeedInt num_numbers, CeedVector *numbers) {
  CeedSize num_all = 0;
  CeedVector created = NULL;
  RitzGeometryCase c;

  RITZ_HANDLE(numbers, geometry, ceed);
  *numbers = NULL;
  RITZ_TRY(form_case(__func__, geometry, ceed, options, &c));
  RITZ_TRY(check_count(__func__, &c, num_numbers));
  RITZ_TRY(count_points(&c, geometry->num_blocks, &num_all));
  RITZ_TRY(CeedVectorCreate(ceed, num_all * num_numbers, &created));
  const int ierr = CeedVectorSetValue(created, 0);

  if (ierr) CeedVectorDestroy(&created);
  *numbers = created;
  return ierr;
}
