// SPDX-License-Identifier: BSD-2-Clause
// Operators of functions of both sides of interior facets, on the blocks of ritz/facet.h. Public function;
// the QFunctions are the user's (ritz/point-function.h).
#include <ritz/facet.h>
#include <ritz/qfunction.h>
#include <stdio.h>

#include "geometry/geometry.h"

enum { NUM_SIDES = 2 };

typedef struct {
  const char *call;
  RitzMesh mesh; // borrowed, as all handles
  Ceed ceed;
  RitzSpace space, tests; // of inputs and of outputs
  const RitzInteriorFacetFunction *function;
  CeedQFunctionContext context; // NULL: none
  CeedInt dim, order, quad_degree;
  RitzFacetNodes nodes;
  RitzFacets facets;
  CeedInt block; // that is made
} Interior;

// ---- Fields, in the order of the macros of ritz/point-function.h; those of side 1 end in 1 ----

// Restriction and basis of a side; the tests share those of the inputs where their spaces are one.
static int find_side(const Interior *c, RitzSpace space, CeedInt side, const RitzGeometryFields *fields,
                     CeedElemRestriction *rstr, CeedBasis *basis) {
  const int input = side * (c->function->has_gradients ? 2 : 1);
  CeedInt degree = 0;

  if (space == c->space && fields->num > input) {
    RITZ_TRY(CeedElemRestrictionReferenceCopy(fields->list[input].rstr, rstr));
    return CeedBasisReferenceCopy(fields->list[input].basis, basis);
  }
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  RITZ_TRY(RitzFacetsCreateSideRestriction(c->facets, c->block, side, c->nodes, space, c->ceed, rstr));
  return RitzFacetsCreateSideBasis(c->facets, c->block, side, c->nodes, c->ceed, c->function->num_comp,
                                   degree, c->quad_degree, basis);
}

static int add_space(const Interior *c, RitzSpace space, CeedInt side, const char *value,
                     const char *gradient, RitzGeometryFields *fields) {
  const CeedInt num_comp = c->function->num_comp;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(find_side(c, space, side, fields, &rstr, &basis));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_add(c->ceed, fields, value, num_comp, CEED_EVAL_INTERP, rstr, basis,
                                            CEED_VECTOR_ACTIVE));
  if (c->function->has_gradients)
    RITZ_TRY_CLEANUP(ritz_geometry_fields_add(c->ceed, fields, gradient, num_comp * c->dim, CEED_EVAL_GRAD,
                                              rstr, basis, CEED_VECTOR_ACTIVE));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  return ierr;
}

// Side 0: x, dx; side 1: dx1.
static int add_coordinates(const Interior *c, CeedInt side, RitzGeometryFields *fields) {
  const CeedInt dims = c->nodes == RITZ_FACET_ELEMENT ? c->dim : c->dim - 1;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreateSideCoordinates(c->facets, c->block, side, c->nodes, c->ceed, &rstr, &x));
  RITZ_TRY_CLEANUP(RitzFacetsCreateSideBasis(c->facets, c->block, side, c->nodes, c->ceed, c->dim, c->order,
                                             c->quad_degree, &basis));
  if (side == 0)
    RITZ_TRY_CLEANUP(
        ritz_geometry_fields_add(c->ceed, fields, "x", c->dim, CEED_EVAL_INTERP, rstr, basis, x));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_add(c->ceed, fields, side ? "dx1" : "dx", c->dim * dims,
                                            CEED_EVAL_GRAD, rstr, basis, x));
cleanup:
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedVectorDestroy(&x);
  return ierr;
}

// Coordinates of side 1 are needed for its gradients.
static int add_fields(const Interior *c, RitzGeometryFields *fields) {
  RITZ_TRY(add_space(c, c->space, 0, "u", "grad u", fields));
  RITZ_TRY(add_space(c, c->space, 1, "u1", "grad u1", fields));
  RITZ_TRY(add_coordinates(c, 0, fields));
  if (c->function->has_gradients) RITZ_TRY(add_coordinates(c, 1, fields));
  RITZ_TRY(ritz_geometry_fields_add(c->ceed, fields, "weights", 1, CEED_EVAL_WEIGHT,
                                    CEED_ELEMRESTRICTION_NONE, fields->list[0].basis, CEED_VECTOR_NONE));
  RITZ_TRY(add_space(c, c->tests, 0, "v", "grad v", fields));
  return add_space(c, c->tests, 1, "v1", "grad v1", fields);
}

// ---- The composite ----

// "interior facets, hexahedra"; "interior facets, pyramids, tetrahedra".
static int set_name(const Interior *c, CeedOperator op) {
  CeedElemTopology shapes[NUM_SIDES] = {CEED_TOPOLOGY_LINE, CEED_TOPOLOGY_LINE};
  char name[100];

  for (CeedInt side = 0; side < NUM_SIDES; side++)
    RITZ_TRY(RitzFacetsGetSide(c->facets, c->block, side, &shapes[side], NULL, NULL));
  const bool is_mixed = shapes[1] != shapes[0];

  snprintf(name, sizeof(name), "interior facets, %s%s%s", ritz_geometry_shape(shapes[0])->plural,
           is_mixed ? ", " : "", is_mixed ? ritz_geometry_shape(shapes[1])->plural : "");
  return CeedOperatorSetName(op, name);
}

static int add_interior_block(const Interior *c, CeedOperator composite) {
  const RitzInteriorFacetFunction *f = c->function;
  RitzGeometryFields fields = {0};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(add_fields(c, &fields));
  if (f->text)
    RITZ_TRY_CLEANUP(RitzQFunctionCreateFromText(c->ceed, 1, f->text, f->loc, &qf));
  else
    RITZ_TRY_CLEANUP(CeedQFunctionCreateInterior(c->ceed, 1, f->function, f->loc, &qf));
  RITZ_TRY_CLEANUP(
      ritz_geometry_fields_operator(&fields, NUM_SIDES * (f->has_gradients ? 2 : 1), qf, c->context, &op));
  RITZ_TRY_CLEANUP(set_name(c, op));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeAddSub(composite, op));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  ritz_geometry_fields_clear(&fields);
  return ierr;
}

static int create_interior(Interior *c, CeedOperator *op) {
  CeedOperator composite = NULL;
  CeedInt num_blocks = 0;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreateInterior(c->mesh, &c->facets));
  RITZ_TRY_CLEANUP(RitzFacetsGetNumBlocks(c->facets, &num_blocks));
  if (num_blocks == 0) {
    ierr = CeedError(c->ceed, CEED_ERROR_INCOMPATIBLE, "%s: the mesh has no interior facets", c->call);
    goto cleanup;
  }
  RITZ_TRY_CLEANUP(CeedOperatorCreateComposite(c->ceed, &composite));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(composite, "interior facets"));
  for (c->block = 0; c->block < num_blocks; c->block++) RITZ_TRY_CLEANUP(add_interior_block(c, composite));
cleanup:
  RitzFacetsDestroy(&c->facets);
  if (ierr) CeedOperatorDestroy(&composite);
  *op = composite;
  return ierr;
}

// ---- Public function ----

static int check_interior_space(const Interior *c, RitzSpace space) {
  const RitzInteriorFacetFunction *f = c->function;
  RitzMesh mesh = NULL;
  CeedInt num_comp = 0;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &num_comp));
  RITZ_REQUIRE(mesh == c->mesh, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the geometry", c->call);
  RITZ_REQUIRE(f->dim == c->dim && f->num_comp == num_comp, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function is for dimension %" CeedInt_FMT " and %" CeedInt_FMT
               " components; the mesh has dimension %" CeedInt_FMT ", the space %" CeedInt_FMT " components",
               c->call, f->dim, f->num_comp, c->dim, num_comp);
  return CEED_ERROR_SUCCESS;
}

static int complete_interior(Interior *c, CeedInt num_points) {
  CeedInt space_dim = 0, degree = 0;

  RITZ_TRY(RitzMeshGetDimensions(c->mesh, &c->dim, &space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(c->mesh, &c->order));
  RITZ_REQUIRE(c->dim == space_dim, c->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has dimension %" CeedInt_FMT " in space of dimension %" CeedInt_FMT
               ", needed the same",
               c->call, c->dim, space_dim);
  RITZ_REQUIRE(!c->function->function == (c->function->text != NULL) && c->function->loc, c->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: the facet function lacks its function or its source, or has a text besides", c->call);
  RITZ_TRY(check_interior_space(c, c->space));
  RITZ_TRY(check_interior_space(c, c->tests));
  RITZ_REQUIRE(num_points >= 0 && num_points < 1 << 15, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " points a direction, needed at least 1, or 0 for the default", c->call,
               num_points);
  RITZ_TRY(RitzSpaceGetDegree(c->space, &degree));
  c->quad_degree = 2 * (num_points ? num_points : degree + c->order + 1) - 1;
  c->nodes = c->function->has_gradients || c->dim == 1 ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE;
  return CEED_ERROR_SUCCESS;
}

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
  Interior c = {.call = __func__,
                .mesh = geometry->mesh,
                .ceed = ceed,
                .space = options->space,
                .tests = options->tests ? options->tests : options->space,
                .function = function,
                .context = context};

  RITZ_TRY(complete_interior(&c, options->num_points));
  return create_interior(&c, op);
}
