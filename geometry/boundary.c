// SPDX-License-Identifier: BSD-2-Clause
// Operators of boundary parts: forms and facet functions on the blocks of ritz/facet.h. Public functions; the
// QFunctions are the user's (ritz/point-function.h) or made in form-text.c.
#include <ritz/facet.h>
#include <ritz/partition.h>
#include <stdio.h>

#include "geometry/geometry.h"

typedef struct {
  const char *call;      // of the public function
  RitzGeometry geometry; // borrowed, as all handles
  RitzMesh mesh;
  Ceed ceed;
  RitzSpace space;
  const RitzForm *form;
  const RitzFacetFunction *function; // that computes the form; NULL: its text
  CeedQFunctionContext context;      // NULL: none
  CeedInt dim, order, quad_degree;
  bool is_axisymmetric;
  RitzFacetNodes nodes;
  RitzFacets facets;
  CeedInt block; // that is made
} Boundary;

// ---- Fields ----

static int find_on_facets(void *data, const RitzFormField *field, CeedElemRestriction *rstr,
                          CeedBasis *basis) {
  const Boundary *b = data;
  CeedInt degree = 0, num_comp = 0;

  RITZ_TRY(RitzSpaceGetDegree(field->space, &degree));
  RITZ_TRY(RitzSpaceGetNumComponents(field->space, &num_comp));
  RITZ_TRY(RitzFacetsCreateRestriction(b->facets, b->block, b->nodes, field->space, b->ceed, rstr));
  return RitzFacetsCreateBasis(b->facets, b->block, b->nodes, b->ceed, num_comp, degree, b->quad_degree,
                               basis);
}

static int add_facet_geometry(void *data, RitzGeometryFields *fields) {
  const Boundary *b = data;
  const CeedInt dims = b->nodes == RITZ_FACET_ELEMENT ? b->dim : b->dim - 1;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreateCoordinates(b->facets, b->block, b->nodes, b->ceed, &rstr, &x));
  RITZ_TRY_CLEANUP(RitzFacetsCreateBasis(b->facets, b->block, b->nodes, b->ceed, b->dim, b->order,
                                         b->quad_degree, &basis));
  if (b->form->gets & RITZ_FORM_POSITION)
    RITZ_TRY_CLEANUP(
        ritz_geometry_fields_add(b->ceed, fields, "x", b->dim, CEED_EVAL_INTERP, rstr, basis, x));
  RITZ_TRY_CLEANUP(
      ritz_geometry_fields_add(b->ceed, fields, "dx", b->dim * dims, CEED_EVAL_GRAD, rstr, basis, x));
  ierr = b->is_axisymmetric ? ritz_geometry_add_ring_weights(b->ceed, rstr, basis, x, fields)
                            : ritz_geometry_fields_add(b->ceed, fields, "weights", 1, CEED_EVAL_WEIGHT,
                                                       CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE);
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&x);
  return ierr;
}

// ---- Operators ----

static int create_facet_qfunction(const Boundary *b, CeedQFunction *qf) {
  if (b->function)
    return CeedQFunctionCreateInterior(b->ceed, 1, b->function->function, b->function->loc, qf);
  return ritz_form_create_qfunction(
      b->ceed, b->form, b->dim, ritz_form_has_gradients(b->form) ? RITZ_FORM_ELEMENT : RITZ_FORM_TRACE, qf);
}

static int add_facet_block(Boundary *b, CeedOperator composite) {
  CeedElemTopology shape = CEED_TOPOLOGY_LINE;
  RitzGeometryFields fields = {0};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  char name[60];
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsGetBlock(b->facets, b->block, &shape, NULL, NULL, NULL, NULL));
  RITZ_TRY_CLEANUP(create_facet_qfunction(b, &qf));
  RITZ_TRY_CLEANUP(
      ritz_form_add_fields(b->ceed, b->form, b->dim, find_on_facets, add_facet_geometry, b, &fields));
  RITZ_TRY_CLEANUP(
      ritz_geometry_fields_operator(&fields, ritz_form_num_outputs(b->form), qf, b->context, &op));
  snprintf(name, sizeof(name), "boundary, %s", ritz_geometry_shape(shape)->plural);
  RITZ_TRY_CLEANUP(CeedOperatorSetName(op, name));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeAddSub(composite, op));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  ritz_geometry_fields_clear(&fields);
  return ierr;
}

static int create_composite(Boundary *b, CeedInt num_blocks, CeedOperator *op) {
  int ierr = CeedOperatorCreateComposite(b->ceed, op);

  if (!ierr) ierr = CeedOperatorSetName(*op, "boundary");
  for (b->block = 0; b->block < num_blocks && !ierr; b->block++) ierr = add_facet_block(b, *op);
  if (ierr) CeedOperatorDestroy(op);
  return ierr;
}

static int create_on_facets(Boundary *b, const char *part, CeedOperator *op) {
  CeedInt num_blocks = 0, num_mesh_parts = 1;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreate(b->mesh, part, &b->facets));
  RITZ_TRY_CLEANUP(RitzFacetsGetNumBlocks(b->facets, &num_blocks));
  RITZ_TRY_CLEANUP(RitzMeshGetPart(b->mesh, &num_mesh_parts, NULL));
  if (num_blocks > 0)
    ierr = create_composite(b, num_blocks, op);
  else if (num_mesh_parts == 1)
    ierr = CeedError(b->ceed, CEED_ERROR_INCOMPATIBLE, "%s: the boundary part '%s' has no facets", b->call,
                     part);
cleanup:
  RitzFacetsDestroy(&b->facets);
  return ierr;
}

// ---- Public functions ----

static int check_boundary(const Boundary *b) {
  RitzMesh mesh = NULL;
  CeedInt space_dim = 0;

  RITZ_TRY(RitzMeshGetDimensions(b->mesh, NULL, &space_dim));
  RITZ_TRY(RitzSpaceGetMesh(b->space, &mesh));
  RITZ_REQUIRE(mesh == b->mesh, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the geometry", b->call);
  RITZ_REQUIRE(b->dim == space_dim, b->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has dimension %" CeedInt_FMT " in space of dimension %" CeedInt_FMT
               ", needed the same",
               b->call, b->dim, space_dim);
  return CEED_ERROR_SUCCESS;
}

static int create_boundary(Boundary *b, const RitzBoundaryOptions *options, CeedOperator *op) {
  CeedInt degree = 0;
  double width = 0;

  RITZ_TRY(RitzMeshGetDimensions(b->mesh, &b->dim, NULL));
  RITZ_TRY(RitzMeshGetGeometryOrder(b->mesh, &b->order));
  RITZ_TRY(RitzSpaceGetDegree(b->space, &degree));
  RITZ_TRY(check_boundary(b));
  RITZ_TRY(ritz_form_check(b->call, b->ceed, b->mesh, b->form, true));
  RITZ_REQUIRE(options->num_points >= 0 && options->num_points < 1 << 15, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " points a direction, needed at least 1, or 0 for the default", b->call,
               options->num_points);
  b->is_axisymmetric = options->is_axisymmetric;
  if (b->is_axisymmetric) RITZ_TRY(ritz_geometry_check_axis(b->call, b->ceed, b->geometry, &width));
  b->quad_degree = 2 * (options->num_points ? options->num_points : degree + b->order + 1) - 1;
  b->nodes = b->dim == 1 || ritz_form_has_gradients(b->form) ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE;
  return create_on_facets(b, options->part ? options->part : "all", op);
}

static int check_function(const Boundary *b, const RitzFacetFunction *f) {
  CeedInt num_comp = 0, dim = 0;

  RITZ_TRY(RitzMeshGetDimensions(b->mesh, &dim, NULL));
  RITZ_TRY(RitzSpaceGetNumComponents(b->space, &num_comp));
  RITZ_REQUIRE(f->function && f->loc, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function lacks its function or its source", b->call);
  RITZ_REQUIRE(f->dim == dim && f->num_comp == num_comp, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function is for dimension %" CeedInt_FMT " and %" CeedInt_FMT
               " components; the mesh has dimension %" CeedInt_FMT ", the space %" CeedInt_FMT " components",
               b->call, f->dim, f->num_comp, dim, num_comp);
  return CEED_ERROR_SUCCESS;
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
  Boundary b = {__func__,       geometry, geometry->mesh,       ceed,
                options->space, &form,    .function = function, .context = context};

  RITZ_TRY(check_function(&b, function));
  return create_boundary(&b, options, op);
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
  Boundary b = {__func__, geometry, geometry->mesh, ceed, options->space, form, .context = context};

  return create_boundary(&b, options, op);
}
