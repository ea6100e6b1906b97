// SPDX-License-Identifier: BSD-2-Clause
// Gradients as fields: an operator whose points are the nodes of the space that they are in. Public function
// (contract in ritz/geometry.h).
#include <ritz/jit-source/geometry/points.h>

#include "fe/fe.h"
#include "geometry/geometry.h"

typedef struct {
  Ceed ceed; // borrowed, as what follows
  RitzMesh mesh;
  RitzSpace space, gradients;
  CeedInt dim, space_dim, num_comp, num_blocks;
  CeedInt geometry_degree, degree, to_degree;
  CeedElemRestriction *rstr_x, *rstr; // owned, [num_blocks]: coordinates, gradients
  CeedVector x, weights;              // owned; weights: 1 / number of elements with the node
  CeedQFunction qf;                   // owned
} Gradients;

// ---- Bases whose points are nodes ----

static int create_tables(Ceed ceed, CeedElemTopology topology, CeedInt degree, CeedInt Q,
                         const double *points, CeedInt num_comp, CeedBasis *basis) {
  const CeedInt dim = (CeedInt)topology >> 16, P = ritz_fe_shape_num_nodes(topology, degree);
  const size_t size = (size_t)P * (size_t)Q, num = size * (size_t)(1 + dim);
  double *tables = NULL;       // owned: values [Q][P], gradients [dim][Q][P]
  CeedScalar *narrowed = NULL; // owned
  int ierr;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num, &tables));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, num, &narrowed));
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(ceed, topology, degree, Q, points, tables, tables + size));
  for (size_t i = 0; i < num; i++) narrowed[i] = (CeedScalar)tables[i];
  ierr = CeedBasisCreateH1(ceed, topology, num_comp, P, Q, narrowed, narrowed + size, NULL, NULL, basis);
cleanup:
  RITZ_FREE(&tables);
  RITZ_FREE(&narrowed);
  return ierr;
}

// Lagrange functions of a degree at the nodes of another one, on elements of a shape.
static int create_basis(const Gradients *g, CeedElemTopology topology, CeedInt degree, CeedInt num_comp,
                        CeedBasis *basis) {
  const bool is_tensor =
      topology == CEED_TOPOLOGY_LINE || topology == CEED_TOPOLOGY_QUAD || topology == CEED_TOPOLOGY_HEX;
  const CeedInt Q = ritz_fe_shape_num_nodes(topology, g->to_degree);
  double *points = NULL;

  if (is_tensor)
    return CeedBasisCreateTensorH1Lagrange(g->ceed, g->dim, num_comp, degree + 1, g->to_degree + 1,
                                           CEED_GAUSS_LOBATTO, basis);
  RITZ_TRY(RITZ_MALLOC(g->ceed, (size_t)Q * (size_t)g->dim, &points));
  int ierr = ritz_fe_shape_nodes(g->ceed, topology, g->to_degree, points);
  if (!ierr) ierr = create_tables(g->ceed, topology, degree, Q, points, num_comp, basis);
  RITZ_FREE(&points);
  return ierr;
}

// ---- What blocks share ----

static int create_qfunction(Gradients *g) {
  const RitzGeometryFunction function = ritz_geometry_gradient_function();
  const RitzGeometryContext data = {.dim = g->dim, .space_dim = g->space_dim, .num_comp = g->num_comp};
  const CeedInt size = g->num_comp * g->space_dim;
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionCreateInterior(g->ceed, 1, function.f, function.source, &g->qf));
  RITZ_TRY(CeedQFunctionAddInput(g->qf, "du", g->num_comp * g->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(g->qf, "dx", g->space_dim * g->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(g->qf, "weights", size, CEED_EVAL_NONE));
  RITZ_TRY(CeedQFunctionAddOutput(g->qf, "gradient", size, CEED_EVAL_NONE));
  int ierr = ritz_geometry_create_context(g->ceed, sizeof(data), &data, &ctx);
  if (!ierr) ierr = CeedQFunctionSetContext(g->qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(g->qf, false);
  return ritz_first_error(ierr, CeedQFunctionContextDestroy(&ctx));
}

// Restrictions of all blocks, and how many elements have a node by their multiplicities.
static int create_weights(Gradients *g) {
  CeedVector counts = NULL;
  CeedSize size = 0;
  int ierr;

  RITZ_TRY(RitzSpaceGetSize(g->gradients, &size));
  RITZ_TRY(CeedVectorCreate(g->ceed, size, &g->weights));
  RITZ_TRY(CeedVectorSetValue(g->weights, 0));
  RITZ_TRY(CeedVectorCreate(g->ceed, size, &counts));
  for (CeedInt b = 0; b < g->num_blocks; b++) {
    RITZ_TRY_CLEANUP(RitzSpaceCreateBlockRestriction(g->gradients, b, g->ceed, &g->rstr[b]));
    RITZ_TRY_CLEANUP(CeedElemRestrictionGetMultiplicity(g->rstr[b], counts));
    RITZ_TRY_CLEANUP(CeedVectorAXPY(g->weights, 1, counts));
  }
  ierr = CeedVectorReciprocal(g->weights);
cleanup:
  return ritz_first_error(ierr, CeedVectorDestroy(&counts));
}

// ---- Operators ----

static int set_fields(const Gradients *g, CeedInt block, CeedElemTopology topology, CeedOperator op) {
  CeedElemRestriction rstr_u = NULL;
  CeedBasis basis_u = NULL, basis_x = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzSpaceCreateBlockRestriction(g->space, block, g->ceed, &rstr_u));
  RITZ_TRY_CLEANUP(create_basis(g, topology, g->degree, g->num_comp, &basis_u));
  RITZ_TRY_CLEANUP(create_basis(g, topology, g->geometry_degree, g->space_dim, &basis_x));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "du", rstr_u, basis_u, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "dx", g->rstr_x[block], basis_x, g->x));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "weights", g->rstr[block], CEED_BASIS_NONE, g->weights));
  ierr = CeedOperatorSetField(op, "gradient", g->rstr[block], CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
cleanup:
  CeedElemRestrictionDestroy(&rstr_u);
  CeedBasisDestroy(&basis_u);
  CeedBasisDestroy(&basis_x);
  return ierr;
}

static int add_block(const Gradients *g, CeedInt block, CeedOperator composite) {
  CeedElemTopology topology;
  CeedOperator op = NULL;
  int64_t num_elem = 0;

  RITZ_TRY(RitzMeshGetBlock(g->mesh, block, &topology, NULL, &num_elem, NULL, NULL));
  if (num_elem == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedOperatorCreate(g->ceed, g->qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  int ierr = set_fields(g, block, topology, op);
  if (!ierr) ierr = CeedOperatorSetName(op, "gradient");
  if (!ierr) ierr = CeedOperatorCompositeAddSub(composite, op);
  return ritz_first_error(ierr, CeedOperatorDestroy(&op));
}

static int create_blocks(Gradients *g, CeedOperator composite) {
  RITZ_TRY(RITZ_CALLOC(g->ceed, (size_t)g->num_blocks, &g->rstr_x));
  RITZ_TRY(RITZ_CALLOC(g->ceed, (size_t)g->num_blocks, &g->rstr));
  RITZ_TRY(RitzMeshCreateBlockCoordinates(g->mesh, g->ceed, g->rstr_x, &g->x));
  RITZ_TRY(create_weights(g));
  RITZ_TRY(create_qfunction(g));
  for (CeedInt b = 0; b < g->num_blocks; b++) RITZ_TRY(add_block(g, b, composite));
  return CEED_ERROR_SUCCESS;
}

static void clear(Gradients *g) {
  for (CeedInt b = 0; b < g->num_blocks; b++) {
    if (g->rstr_x) CeedElemRestrictionDestroy(&g->rstr_x[b]);
    if (g->rstr) CeedElemRestrictionDestroy(&g->rstr[b]);
  }
  RITZ_FREE(&g->rstr_x);
  RITZ_FREE(&g->rstr);
  CeedVectorDestroy(&g->x);
  CeedVectorDestroy(&g->weights);
  CeedQFunctionDestroy(&g->qf);
}

// ---- Arguments ----

static int check_space(const char *call, const Gradients *g, RitzSpace space, const char *name) {
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_REQUIRE(mesh == g->mesh, g->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space '%s' is on another mesh than the geometry", call, name);
  return CEED_ERROR_SUCCESS;
}

static int fill_sizes(const char *call, Gradients *g) {
  CeedInt num = 0;

  RITZ_TRY(check_space(call, g, g->space, "space"));
  RITZ_TRY(check_space(call, g, g->gradients, "gradients"));
  RITZ_TRY(RitzMeshGetDimensions(g->mesh, &g->dim, &g->space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(g->mesh, &g->geometry_degree));
  RITZ_TRY(RitzMeshGetNumBlocks(g->mesh, &g->num_blocks));
  RITZ_TRY(RitzSpaceGetDegree(g->space, &g->degree));
  RITZ_TRY(RitzSpaceGetDegree(g->gradients, &g->to_degree));
  RITZ_TRY(RitzSpaceGetNumComponents(g->space, &g->num_comp));
  RITZ_TRY(RitzSpaceGetNumComponents(g->gradients, &num));
  RITZ_REQUIRE(num == g->num_comp * g->space_dim, g->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space of gradients has %" CeedInt_FMT " components, needed %" CeedInt_FMT
               " * %" CeedInt_FMT,
               call, num, g->num_comp, g->space_dim);
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryCreateGradientOperator(RitzGeometry geometry, Ceed ceed, RitzSpace space, RitzSpace gradients,
                                       CeedOperator *op) {
  CeedOperator composite = NULL;

  RITZ_HANDLE(op, geometry, ceed, space, gradients);
  *op = NULL;
  RITZ_HANDLE(geometry, ceed, space, gradients);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, space);
  RITZ_ARGUMENT(ceed, gradients);
  Gradients g = {.ceed = ceed, .mesh = geometry->mesh, .space = space, .gradients = gradients};

  RITZ_TRY(fill_sizes(__func__, &g));
  if (geometry->first[RITZ_NUM_KINDS] == 0) return CEED_ERROR_SUCCESS; // an empty part
  RITZ_TRY(CeedOperatorCreateComposite(ceed, &composite));
  int ierr = create_blocks(&g, composite);
  clear(&g);
  if (!ierr) ierr = CeedOperatorSetName(composite, "gradient");
  if (ierr) (void)CeedOperatorDestroy(&composite);
  *op = composite;
  return ierr;
}
