// SPDX-License-Identifier: BSD-2-Clause
// Operators of boundary parts and of interior facets: forms and facet functions on the blocks of
// ritz/facet.h. Public functions; the QFunctions are the user's (ritz/point-function.h) or made in
// form-text.c.
#include <ritz/facet.h>
#include <ritz/partition.h>
#include <ritz/qfunction.h>
#include <stdio.h>

#include "geometry/geometry.h"

typedef struct {
  const char *call;      // of the public function
  RitzGeometry geometry; // borrowed, as all handles
  Ceed ceed;
  RitzSpace space; // that gives the default of quadrature
  const RitzForm *form;
  const char *loc, *text; // of the QFunction that computes the form; loc NULL: made of the form's text
  CeedQFunctionUser function;
  CeedQFunctionContext context; // NULL: none
  CeedInt num_sides;            // of a facet
  CeedInt dim, order, quad_degree;
  bool is_axisymmetric;
  RitzFacetNodes nodes;
  RitzFacets facets;
  CeedInt block; // that is made
} Case;

// ---- Fields ----

static int find_on_facets(void *data, const RitzFormField *field, CeedInt side, CeedElemRestriction *rstr,
                          CeedBasis *basis) {
  const Case *c = data;
  CeedInt degree = 0, num_comp = 0;

  RITZ_TRY(RitzSpaceGetDegree(field->space, &degree));
  RITZ_TRY(RitzSpaceGetNumComponents(field->space, &num_comp));
  if (field->product)
    RITZ_TRY(RitzFacetsCreateProductRestriction(c->facets, c->block, side, c->nodes, field->product,
                                                field->index, c->ceed, rstr));
  else
    RITZ_TRY(
        RitzFacetsCreateSideRestriction(c->facets, c->block, side, c->nodes, field->space, c->ceed, rstr));
  return RitzFacetsCreateSideBasis(c->facets, c->block, side, c->nodes, c->ceed, num_comp, degree,
                                   c->quad_degree, basis);
}

typedef struct {
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector x;
} Coordinates;

static int coordinates_create(const Case *c, CeedInt side, Coordinates *x) {
  RITZ_TRY(RitzFacetsCreateSideCoordinates(c->facets, c->block, side, c->nodes, c->ceed, &x->rstr, &x->x));
  return RitzFacetsCreateSideBasis(c->facets, c->block, side, c->nodes, c->ceed, c->dim, c->order,
                                   c->quad_degree, &x->basis);
}

static void coordinates_clear(Coordinates *x) {
  CeedElemRestrictionDestroy(&x->rstr);
  CeedBasisDestroy(&x->basis);
  CeedVectorDestroy(&x->x);
}

static int add_jacobian(const Case *c, const char *name, const Coordinates *x, RitzGeometryFields *fields) {
  const CeedInt dims = c->nodes == RITZ_FACET_ELEMENT ? c->dim : c->dim - 1;

  return ritz_geometry_fields_add(c->ceed, fields, name, c->dim * dims, CEED_EVAL_GRAD, x->rstr, x->basis,
                                  x->x);
}

// [x]; dx; dx1 of the elements of side 1; weights.
static int add_facet_geometry(void *data, RitzGeometryFields *fields) {
  const Case *c = data;
  Coordinates x = {0}, x1 = {0};
  int ierr;

  RITZ_TRY_CLEANUP(coordinates_create(c, 0, &x));
  if (c->form->gets & RITZ_FORM_POSITION)
    RITZ_TRY_CLEANUP(
        ritz_geometry_fields_add(c->ceed, fields, "x", c->dim, CEED_EVAL_INTERP, x.rstr, x.basis, x.x));
  RITZ_TRY_CLEANUP(add_jacobian(c, "dx", &x, fields));
  if (c->num_sides > 1 && ritz_form_needs_elements(c->form)) {
    RITZ_TRY_CLEANUP(coordinates_create(c, 1, &x1));
    RITZ_TRY_CLEANUP(add_jacobian(c, "dx1", &x1, fields));
  }
  ierr = c->is_axisymmetric ? ritz_geometry_add_ring_weights(c->ceed, x.rstr, x.basis, x.x, fields)
                            : ritz_geometry_fields_add(c->ceed, fields, "weights", 1, CEED_EVAL_WEIGHT,
                                                       CEED_ELEMRESTRICTION_NONE, x.basis, CEED_VECTOR_NONE);
cleanup:
  coordinates_clear(&x);
  coordinates_clear(&x1);
  return ierr;
}

// ---- Operators ----

static int create_facet_qfunction(const Case *c, CeedQFunction *qf) {
  if (c->text) return RitzQFunctionCreateFromText(c->ceed, 1, c->text, c->loc, qf);
  if (c->loc) return CeedQFunctionCreateInterior(c->ceed, 1, c->function, c->loc, qf);
  return ritz_form_create_qfunction(c->ceed, c->form, c->dim, c->num_sides,
                                    ritz_form_needs_elements(c->form) ? RITZ_FORM_ELEMENT : RITZ_FORM_TRACE,
                                    qf);
}

static const char *kind_of(const Case *c) { return c->num_sides > 1 ? "interior facets" : "boundary"; }

// "boundary, hexahedra"; "interior facets, pyramids, tetrahedra".
static int set_name(const Case *c, CeedOperator op) {
  CeedElemTopology shapes[2] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_LINE};
  char name[100];

  for (CeedInt side = 0; side < c->num_sides; side++)
    RITZ_TRY(RitzFacetsGetSide(c->facets, c->block, side, &shapes[side], NULL, NULL));
  const bool is_mixed = c->num_sides > 1 && shapes[1] != shapes[0];

  snprintf(name, sizeof(name), "%s, %s%s%s", kind_of(c), ritz_geometry_shape(shapes[0])->plural,
           is_mixed ? ", " : "", is_mixed ? ritz_geometry_shape(shapes[1])->plural : "");
  return CeedOperatorSetName(op, name);
}

static int add_facet_block(Case *c, CeedOperator composite) {
  const CeedInt num_outputs = c->num_sides * ritz_form_num_outputs(c->form);
  RitzGeometryFields fields = {0};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(create_facet_qfunction(c, &qf));
  RITZ_TRY_CLEANUP(ritz_form_add_fields(c->ceed, c->form, c->dim, c->num_sides, find_on_facets,
                                        add_facet_geometry, c, &fields));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_operator(&fields, num_outputs, qf, c->context, &op));
  RITZ_TRY_CLEANUP(set_name(c, op));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeAddSub(composite, op));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  ritz_geometry_fields_clear(&fields);
  return ierr;
}

static int create_composite(Case *c, CeedInt num_blocks, CeedOperator *op) {
  int ierr = CeedOperatorCreateComposite(c->ceed, op);

  if (!ierr) ierr = CeedOperatorSetName(*op, kind_of(c));
  for (c->block = 0; c->block < num_blocks && !ierr; c->block++) ierr = add_facet_block(c, *op);
  if (ierr) CeedOperatorDestroy(op);
  return ierr;
}

static int refuse_no_facets(const Case *c, const char *part) {
  CeedInt num_mesh_parts = 1;

  RITZ_TRY(RitzMeshGetPart(c->geometry->mesh, &num_mesh_parts, NULL));
  if (num_mesh_parts > 1) return CEED_ERROR_SUCCESS;
  return part ? CeedError(c->ceed, CEED_ERROR_INCOMPATIBLE, "%s: the boundary part '%s' has no facets",
                          c->call, part)
              : CeedError(c->ceed, CEED_ERROR_INCOMPATIBLE, "%s: the mesh has no interior facets", c->call);
}

// part: of the boundary; NULL: interior facets.
static int create_on_facets(Case *c, const char *part, CeedOperator *op) {
  RitzMesh mesh = c->geometry->mesh;
  CeedInt num_blocks = 0;
  int ierr = part ? RitzFacetsCreate(mesh, part, &c->facets) : RitzFacetsCreateInterior(mesh, &c->facets);

  if (!ierr) ierr = RitzFacetsGetNumBlocks(c->facets, &num_blocks);
  if (!ierr) ierr = num_blocks > 0 ? create_composite(c, num_blocks, op) : refuse_no_facets(c, part);
  RitzFacetsDestroy(&c->facets);
  return ierr;
}

// ---- Checks ----

static int check_mesh(const Case *c) {
  RitzMesh mesh = NULL;
  CeedInt space_dim = 0;

  RITZ_TRY(RitzMeshGetDimensions(c->geometry->mesh, NULL, &space_dim));
  RITZ_TRY(RitzSpaceGetMesh(c->space, &mesh));
  RITZ_REQUIRE(mesh == c->geometry->mesh, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the geometry", c->call);
  RITZ_REQUIRE(c->dim == space_dim, c->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has dimension %" CeedInt_FMT " in space of dimension %" CeedInt_FMT
               ", needed the same",
               c->call, c->dim, space_dim);
  return CEED_ERROR_SUCCESS;
}

static int complete_case(Case *c, CeedInt num_points) {
  CeedInt degree = 0;

  RITZ_TRY(RitzMeshGetDimensions(c->geometry->mesh, &c->dim, NULL));
  RITZ_TRY(RitzMeshGetGeometryOrder(c->geometry->mesh, &c->order));
  RITZ_TRY(RitzSpaceGetDegree(c->space, &degree));
  RITZ_TRY(check_mesh(c));
  RITZ_TRY(ritz_form_check(c->call, c->ceed, c->geometry->mesh, c->form, true));
  RITZ_REQUIRE(num_points >= 0 && num_points < 1 << 15, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " points a direction, needed at least 1, or 0 for the default", c->call,
               num_points);
  c->quad_degree = 2 * (num_points ? num_points : degree + c->order + 1) - 1;
  c->nodes = c->dim == 1 || ritz_form_needs_elements(c->form) ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE;
  return CEED_ERROR_SUCCESS;
}

// The dimension and number of components that the user's function was made for.
static int check_function(const Case *c, CeedInt dim, CeedInt num_comp, RitzSpace space) {
  CeedInt of_space = 0, of_mesh = 0;

  RITZ_REQUIRE(!c->function == (c->text != NULL) && c->loc, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function lacks its function or its source, or has a text besides", c->call);
  RITZ_TRY(RitzMeshGetDimensions(c->geometry->mesh, &of_mesh, NULL));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &of_space));
  RITZ_REQUIRE(dim == of_mesh && num_comp == of_space, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function is for dimension %" CeedInt_FMT " and %" CeedInt_FMT
               " components; the mesh has dimension %" CeedInt_FMT ", the space %" CeedInt_FMT " components",
               c->call, dim, num_comp, of_mesh, of_space);
  return CEED_ERROR_SUCCESS;
}

// ---- Boundary parts ----

static int create_boundary(Case *c, const RitzBoundaryOptions *options, CeedOperator *op) {
  double width = 0;

  RITZ_TRY(complete_case(c, options->num_points));
  c->is_axisymmetric = options->is_axisymmetric;
  if (c->is_axisymmetric) RITZ_TRY(ritz_geometry_check_axis(c->call, c->ceed, c->geometry, &width));
  return create_on_facets(c, options->part ? options->part : "all", op);
}

int RitzGeometryCreateBoundaryOperator(RitzGeometry geometry, Ceed ceed, const RitzBoundaryOptions *options,
                                       const RitzFacetFunction *function, CeedQFunctionContext context,
                                       CeedOperator *op) {
  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, options->space);
  RITZ_ARGUMENT(ceed, function);
  RITZ_OPTIONAL(ceed, context);
  const int what = RITZ_FORM_VALUE | (function->has_gradients ? RITZ_FORM_GRADIENT : 0);
  const RitzFormField u = {.name = "u", .what = what, .space = options->space},
                      v = {.name = "v", .what = what, .space = options->space};
  const RitzForm form = {"", "boundary", RITZ_FORM_POSITION, 1, &u, 1, &v};
  Case c = {__func__,
            geometry,
            ceed,
            options->space,
            &form,
            function->loc,
            .function = function->function,
            .context = context,
            .num_sides = 1};

  RITZ_TRY(check_function(&c, function->dim, function->num_comp, options->space));
  return create_boundary(&c, options, op);
}

int RitzGeometryCreateBoundaryFormOperator(RitzGeometry geometry, Ceed ceed,
                                           const RitzBoundaryOptions *options, const RitzForm *form,
                                           CeedQFunctionContext context, CeedOperator *op) {
  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, options->space);
  RITZ_OPTIONAL(ceed, context);
  Case c = {__func__, geometry, ceed, options->space, form, .context = context, .num_sides = 1};

  return create_boundary(&c, options, op);
}

// ---- Interior facets ----

int RitzGeometryCreateInteriorFacetOperator(RitzGeometry geometry, Ceed ceed,
                                            const RitzInteriorFacetOptions *options,
                                            const RitzInteriorFacetFunction *function,
                                            CeedQFunctionContext context, CeedOperator *op) {
  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, options->space);
  RITZ_OPTIONAL(ceed, options->tests);
  RITZ_ARGUMENT(ceed, function);
  RITZ_OPTIONAL(ceed, context);
  const RitzSpace tests = options->tests ? options->tests : options->space;
  const int what = RITZ_FORM_VALUE | (function->has_gradients ? RITZ_FORM_GRADIENT : 0);
  const RitzFormField u = {.name = "u", .what = what, .space = options->space},
                      v = {.name = "v", .what = what, .space = tests};
  const RitzForm form = {"", "interior", RITZ_FORM_POSITION, 1, &u, 1, &v};
  Case c = {__func__,       geometry,           ceed,    options->space, &form, function->loc,
            function->text, function->function, context, .num_sides = 2};

  RITZ_TRY(check_function(&c, function->dim, function->num_comp, options->space));
  RITZ_TRY(check_function(&c, function->dim, function->num_comp, tests));
  RITZ_TRY(complete_case(&c, options->num_points));
  return create_on_facets(&c, NULL, op);
}

int RitzGeometryCreateInteriorFormOperator(RitzGeometry geometry, Ceed ceed,
                                           const RitzInteriorFacetOptions *options, const RitzForm *form,
                                           CeedQFunctionContext context, CeedOperator *op) {
  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, options->space);
  RITZ_OPTIONAL(ceed, options->tests);
  RITZ_OPTIONAL(ceed, context);
  Case c = {__func__, geometry, ceed, options->space, form, .context = context, .num_sides = 2};

  RITZ_TRY(complete_case(&c, options->num_points));
  return create_on_facets(&c, NULL, op);
}
