// SPDX-License-Identifier: BSD-2-Clause
// Norms of errors against a known function: samples of all points of a block by an operator that runs once,
// sums on the host. Public function (contract in ritz/geometry.h).
#include <math.h>
#include <ritz/jit-source/geometry/points.h>
#include <ritz/operator.h>

#include "geometry/geometry.h"

typedef struct {
  const char *call;
  Ceed ceed;
  RitzMesh mesh; // borrowed, as all handles
  RitzSpace space;
  CeedVector u, x;
  RitzKnownFunction f;
  void *ctx;
  CeedInt dim, space_dim, num_comp, quad_degree;
  bool has_gradients;
  double *values; // owned: [num_comp], then gradients [num_comp][space_dim]
  double sums[2]; // of squares
} Errors;

static CeedInt num_samples(const Errors *e) { return 1 + e->space_dim + e->num_comp * (1 + e->space_dim); }

// ---- Samples ----

static int create_sampler(const Errors *e, CeedQFunction *qf) {
  const RitzGeometryFunction function = ritz_geometry_sample_function();
  const RitzGeometryContext data = {.dim = e->dim, .space_dim = e->space_dim, .num_comp = e->num_comp};
  CeedQFunctionContext ctx = NULL;

  RITZ_TRY(CeedQFunctionCreateInterior(e->ceed, 1, function.f, function.source, qf));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "u", e->num_comp, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "du", e->num_comp * e->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "x", e->space_dim, CEED_EVAL_INTERP));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "dx", e->space_dim * e->dim, CEED_EVAL_GRAD));
  RITZ_TRY(CeedQFunctionAddInput(*qf, "weights", 1, CEED_EVAL_WEIGHT));
  RITZ_TRY(CeedQFunctionAddOutput(*qf, "samples", num_samples(e), CEED_EVAL_NONE));
  int ierr = ritz_geometry_create_context(e->ceed, sizeof(data), &data, &ctx);
  if (!ierr) ierr = CeedQFunctionSetContext(*qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(*qf, false);
  return ritz_first_error(ierr, CeedQFunctionContextDestroy(&ctx));
}

// samples [element][point][num_samples]
static int sample_block(const Errors *e, CeedInt block, CeedElemRestriction rstr_x, CeedElemRestriction *rstr,
                        CeedVector *samples) {
  CeedElemRestriction rstr_u = NULL;
  CeedBasis basis_u = NULL, basis_x = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedInt num_elem = 0, Q = 0;
  int ierr;

  RITZ_TRY_CLEANUP(RitzSpaceCreateBlockRestriction(e->space, block, e->ceed, &rstr_u));
  RITZ_TRY_CLEANUP(RitzSpaceCreateBlockBasis(e->space, block, e->ceed, e->quad_degree, &basis_u));
  RITZ_TRY_CLEANUP(RitzMeshCreateBlockBasis(e->mesh, block, e->ceed, e->quad_degree, &basis_x));
  RITZ_TRY_CLEANUP(CeedElemRestrictionGetNumElements(rstr_u, &num_elem));
  RITZ_TRY_CLEANUP(CeedBasisGetNumQuadraturePoints(basis_u, &Q));
  const CeedInt num = num_samples(e), strides[3] = {num, 1, num * Q};
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateStrided(e->ceed, num_elem, Q, num, (CeedSize)num_elem * Q * num,
                                                    strides, rstr));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateVector(*rstr, samples, NULL));
  RITZ_TRY_CLEANUP(create_sampler(e, &qf));
  RITZ_TRY_CLEANUP(CeedOperatorCreate(e->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "u", rstr_u, basis_u, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "du", rstr_u, basis_u, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "x", rstr_x, basis_x, e->x));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "dx", rstr_x, basis_x, e->x));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  RITZ_TRY_CLEANUP(CeedOperatorSetField(op, "samples", *rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(op, RITZ_USE_ONCE));
  RITZ_TRY_CLEANUP(CeedOperatorApply(op, e->u, *samples, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis_u);
  CeedBasisDestroy(&basis_x);
  CeedElemRestrictionDestroy(&rstr_u);
  return ierr;
}

// ---- Sums ----

static int call_known(const Errors *e, const double x[3]) {
  double *gradients = e->has_gradients ? e->values + e->num_comp : NULL;
  const CeedInt num = e->num_comp * (e->has_gradients ? 1 + e->space_dim : 1);
  const int code = e->f(e->ctx, x, e->values, gradients);

  RITZ_REQUIRE(!code, e->ceed, code, "%s: the function fails at (%g, %g, %g) with code %d", e->call, x[0],
               x[1], x[2], code);
  for (CeedInt i = 0; i < num; i++)
    RITZ_REQUIRE(isfinite(e->values[i]), e->ceed, CEED_ERROR_MAJOR,
                 "%s: the function is not finite at (%g, %g, %g)", e->call, x[0], x[1], x[2]);
  return CEED_ERROR_SUCCESS;
}

static double square_of_difference(CeedInt num, const CeedScalar *a, const double *b) {
  double sum = 0;

  for (CeedInt i = 0; i < num; i++) sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
  return sum;
}

static int add_point(Errors *e, const CeedScalar *sample) {
  const CeedScalar *values = sample + 1 + e->space_dim;
  const double weight = (double)sample[0];
  double x[3] = {0, 0, 0};

  for (CeedInt d = 0; d < e->space_dim; d++) x[d] = (double)sample[1 + d];
  RITZ_TRY(call_known(e, x));
  e->sums[0] += weight * square_of_difference(e->num_comp, values, e->values);
  if (e->has_gradients)
    e->sums[1] += weight * square_of_difference(e->num_comp * e->space_dim, values + e->num_comp,
                                                e->values + e->num_comp);
  return CEED_ERROR_SUCCESS;
}

static int add_block(Errors *e, CeedInt block, CeedElemRestriction rstr_x) {
  const CeedScalar *array = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector samples = NULL;
  CeedSize length = 0;
  int ierr;

  RITZ_TRY_CLEANUP(sample_block(e, block, rstr_x, &rstr, &samples));
  RITZ_TRY_CLEANUP(CeedVectorGetLength(samples, &length));
  RITZ_TRY_CLEANUP(CeedVectorGetArrayRead(samples, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length && !ierr; i += num_samples(e)) ierr = add_point(e, array + i);
  ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(samples, &array));
cleanup:
  CeedVectorDestroy(&samples);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

static int add_blocks(Errors *e, CeedInt num_blocks) {
  CeedElemRestriction *rstr_x = NULL;
  int ierr;

  RITZ_TRY(RITZ_CALLOC(e->ceed, (size_t)num_blocks + 1, &rstr_x));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(e->ceed, (size_t)(e->num_comp * (1 + e->space_dim)), &e->values));
  RITZ_TRY_CLEANUP(RitzMeshCreateBlockCoordinates(e->mesh, e->ceed, rstr_x, &e->x));
  for (CeedInt b = 0; b < num_blocks && !ierr; b++) ierr = add_block(e, b, rstr_x[b]);
cleanup:
  for (CeedInt b = 0; b < num_blocks; b++) CeedElemRestrictionDestroy(&rstr_x[b]);
  RITZ_FREE(&rstr_x);
  CeedVectorDestroy(&e->x);
  RITZ_FREE(&e->values);
  return ierr;
}

int RitzGeometryGetErrorNorms(RitzGeometry geometry, Ceed ceed, RitzSpace space, CeedVector u,
                              CeedInt num_points, RitzKnownFunction f, void *ctx, double *l2, double *h1) {
  CeedInt degree = 0, num_blocks = 0;
  RitzMesh mesh = NULL;

  RITZ_HANDLE(geometry, ceed, space, u);
  RITZ_ARGUMENT(geometry, ceed);
  RITZ_ARGUMENT(ceed, space);
  RITZ_ARGUMENT(ceed, u);
  RITZ_ARGUMENT(ceed, l2);
  RITZ_REQUIRE(f, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'f' is NULL", __func__);
  RITZ_REQUIRE(num_points >= 0 && num_points < 1 << 15, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " points a direction, needed at least 1, or 0 for the default", __func__,
               num_points);
  Errors e = {
      .call = __func__, .ceed = ceed, .mesh = geometry->mesh, .space = space, .u = u, .f = f, .ctx = ctx};

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_REQUIRE(mesh == e.mesh, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the geometry", __func__);
  e.has_gradients = h1 != NULL;
  RITZ_TRY(RitzMeshGetDimensions(mesh, &e.dim, &e.space_dim));
  RITZ_TRY(RitzMeshGetNumBlocks(mesh, &num_blocks));
  RITZ_TRY(RitzSpaceGetNumComponents(space, &e.num_comp));
  RITZ_TRY(RitzSpaceGetDegree(space, &degree));
  e.quad_degree = 2 * (num_points ? num_points : degree + 3) - 1;
  if (geometry->first[RITZ_NUM_KINDS] > 0) RITZ_TRY(add_blocks(&e, num_blocks)); // else an empty part
  *l2 = sqrt(e.sums[0]);
  if (h1) *h1 = sqrt(e.sums[1]);
  return CEED_ERROR_SUCCESS;
}
