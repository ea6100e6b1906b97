// SPDX-License-Identifier: BSD-2-Clause
// Operators of boundary parts: a facet function on the blocks of ritz/facet.h. Public function; the
// QFunctions are the user's (ritz/point-function.h).
#include <ritz/facet.h>
#include <ritz/partition.h>

#include "geometry/geometry.h"

typedef struct {
  RitzMesh mesh; // borrowed, as all handles
  Ceed ceed;
  RitzSpace space;
  const RitzFacetFunction *function;
  CeedQFunctionContext context; // NULL: none
  CeedInt dim, degree, order, quad_degree;
  RitzFacetNodes nodes;
} Boundary;

// What a block of facets brings with it.
typedef struct {
  CeedElemRestriction rstr_u, rstr_x;
  CeedBasis basis_u, basis_x;
  CeedVector x;
  CeedQFunction qf;
} FacetFields;

static void destroy_fields(FacetFields *f) {
  CeedElemRestrictionDestroy(&f->rstr_u);
  CeedElemRestrictionDestroy(&f->rstr_x);
  CeedBasisDestroy(&f->basis_u);
  CeedBasisDestroy(&f->basis_x);
  CeedVectorDestroy(&f->x);
  CeedQFunctionDestroy(&f->qf);
}

static int create_fields(const Boundary *b, RitzFacets facets, CeedInt block, FacetFields *f) {
  RITZ_TRY(RitzFacetsCreateRestriction(facets, block, b->nodes, b->space, b->ceed, &f->rstr_u));
  RITZ_TRY(RitzFacetsCreateBasis(facets, block, b->nodes, b->ceed, b->function->num_comp, b->degree,
                                 b->quad_degree, &f->basis_u));
  RITZ_TRY(RitzFacetsCreateCoordinates(facets, block, b->nodes, b->ceed, &f->rstr_x, &f->x));
  return RitzFacetsCreateBasis(facets, block, b->nodes, b->ceed, b->dim, b->order, b->quad_degree,
                               &f->basis_x);
}

// In the order of the macros of ritz/point-function.h.
static int create_qfunction(const Boundary *b, CeedQFunction *qf) {
  const RitzFacetFunction *f = b->function;
  const CeedInt dims = b->nodes == RITZ_FACET_ELEMENT ? b->dim : b->dim - 1;

  RITZ_TRY(CeedQFunctionCreateInterior(b->ceed, 1, f->function, f->loc, qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "u", f->num_comp, CEED_EVAL_INTERP));
  if (f->has_gradients) RITZ_TRY(CeedQFunctionAddInput(*qf, "du", f->num_comp * b->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "x", b->dim, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "dx", b->dim * dims, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "weights", 1, CEED_EVAL_WEIGHT));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "v", f->num_comp, CEED_EVAL_INTERP));
  if (f->has_gradients) RITZ_TRY(CeedQFunctionAddOutput(*qf, "dv", f->num_comp * b->dim, CEED_EVAL_GRAD));
  if (!b->context) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedQFunctionSetContext(*qf, b->context));
  return CeedQFunctionSetContextWritable(*qf, false);
}

static int set_fields(const Boundary *b, const FacetFields *f, CeedOperator op) {
  const char *const active[] = {"u", "v", "du", "dv"};

  for (int i = 0; i < (b->function->has_gradients ? 4 : 2); i++)
    RITZ_TRY(CeedOperatorSetField(op, active[i], f->rstr_u, f->basis_u, CEED_VECTOR_ACTIVE));
  RITZ_TRY(CeedOperatorSetField(op, "x", f->rstr_x, f->basis_x, f->x));
  RITZ_TRY(CeedOperatorSetField(op, "dx", f->rstr_x, f->basis_x, f->x));
  return CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, f->basis_u, CEED_VECTOR_NONE);
}

static int add_facet_block(const Boundary *b, RitzFacets facets, CeedInt block, CeedOperator composite) {
  CeedElemTopology shape = CEED_TOPOLOGY_LINE;
  FacetFields fields = {0};
  CeedOperator op = NULL;
  char name[60];
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsGetBlock(facets, block, &shape, NULL, NULL, NULL, NULL));
  RITZ_TRY_CLEANUP(create_fields(b, facets, block, &fields));
  RITZ_TRY_CLEANUP(create_qfunction(b, &fields.qf));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(b->ceed, fields.qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  RITZ_TRY_CLEANUP(set_fields(b, &fields, op));
  snprintf(name, sizeof(name), "boundary, %s", ritz_geometry_shape(shape)->plural);
  RITZ_TRY_CLEANUP(CeedOperatorSetName(op, name));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeAddSub(composite, op));
cleanup:
  CeedOperatorDestroy(&op);
  destroy_fields(&fields);
  return ierr;
}

static int create_composite(const Boundary *b, RitzFacets facets, CeedInt num_blocks, CeedOperator *op) {
  int ierr = CeedOperatorCreateComposite(b->ceed, op);

  if (!ierr) ierr = CeedOperatorSetName(*op, "boundary");
  for (CeedInt i = 0; i < num_blocks && !ierr; i++) ierr = add_facet_block(b, facets, i, *op);
  if (ierr) CeedOperatorDestroy(op);
  return ierr;
}

static int create_boundary(const Boundary *b, const char *part, CeedOperator *op) {
  CeedInt num_blocks = 0, num_mesh_parts = 1;
  RitzFacets facets = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreate(b->mesh, part, &facets));
  RITZ_TRY_CLEANUP(RitzFacetsGetNumBlocks(facets, &num_blocks));
  RITZ_TRY_CLEANUP(RitzMeshGetPart(b->mesh, &num_mesh_parts, NULL));
  if (num_blocks > 0)
    ierr = create_composite(b, facets, num_blocks, op);
  else if (num_mesh_parts == 1)
    ierr = CeedError(b->ceed, CEED_ERROR_INCOMPATIBLE,
                     "RitzGeometryCreateBoundaryOperator: the boundary part '%s' has no facets", part);
cleanup:
  RitzFacetsDestroy(&facets);
  return ierr;
}

static int check_boundary(const Boundary *b, CeedInt space_dim) {
  const RitzFacetFunction *f = b->function;
  RitzMesh mesh = NULL;
  CeedInt num_comp = 0;

  RITZ_TRY(RitzSpaceGetMesh(b->space, &mesh));
  RITZ_TRY(RitzSpaceGetNumComponents(b->space, &num_comp));
  RITZ_REQUIRE(mesh == b->mesh, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreateBoundaryOperator: the space is on another mesh than the geometry");
  RITZ_REQUIRE(b->dim == space_dim, b->ceed, CEED_ERROR_UNSUPPORTED,
               "RitzGeometryCreateBoundaryOperator: the mesh has dimension %" CeedInt_FMT
               " in space of dimension %" CeedInt_FMT ", needed the same",
               b->dim, space_dim);
  RITZ_REQUIRE(f->function && f->loc, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreateBoundaryOperator: the facet function lacks its function or its source");
  RITZ_REQUIRE(f->dim == b->dim && f->num_comp == num_comp, b->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreateBoundaryOperator: the facet function is for dimension %" CeedInt_FMT
               " and %" CeedInt_FMT " components; the mesh has dimension %" CeedInt_FMT
               ", the space %" CeedInt_FMT " components",
               f->dim, f->num_comp, b->dim, num_comp);
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryCreateBoundaryOperator(RitzGeometry geometry, Ceed ceed, const RitzBoundaryOptions *options,
                                       const RitzFacetFunction *function, CeedQFunctionContext context,
                                       CeedOperator *op) {
  CeedInt space_dim = 0;

  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, options->space);
  RITZ_ARGUMENT(ceed, function);
  RITZ_OPTIONAL(ceed, context);
  Boundary b = {.mesh = geometry->mesh,
                .ceed = ceed,
                .space = options->space,
                .function = function,
                .context = context,
                .nodes = function->has_gradients ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE};

  RITZ_TRY(RitzMeshGetDimensions(b.mesh, &b.dim, &space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(b.mesh, &b.order));
  RITZ_TRY(RitzSpaceGetDegree(b.space, &b.degree));
  RITZ_TRY(check_boundary(&b, space_dim));
  RITZ_REQUIRE(options->num_points >= 0 && options->num_points < 1 << 15, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " points a direction, needed at least 1, or 0 for the default", __func__,
               options->num_points);
  b.quad_degree = 2 * (options->num_points ? options->num_points : b.degree + b.order + 1) - 1;
  if (b.dim == 1) b.nodes = RITZ_FACET_ELEMENT;
  return create_boundary(&b, options->part ? options->part : "all", op);
}
