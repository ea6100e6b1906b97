// SPDX-License-Identifier: BSD-2-Clause
// Operators that run once: contract in problem-points.h.
#include "cli/vectors.h"

#include "cli/problem-points.h"
#include "cli/qfunctions.h"

#include <ceed/backend.h>
#include <math.h>
#include <ritz/operator.h>
#include <stdlib.h>

#include "cli/cli.h"

static const PointsFunction points_source = {solve_source, solve_source_loc};
static const PointsFunction points_pressure = {solve_pressure, solve_pressure_loc};
static const PointsFunction points_normal = {solve_normal, solve_normal_loc};
static const PointsFunction points_ring = {solve_ring, solve_ring_loc};
const PointsFunction points_sine_source = {solve_sine_source, solve_sine_source_loc};
const PointsFunction points_sine_errors = {solve_sine_errors, solve_sine_errors_loc};
const PointsFunction points_gradient = {solve_gradient, solve_gradient_loc};

// ---- Points ----

// Axisymmetric: the weights become those of the body of revolution.
static int add_circumferences(const Problem *p, Points *points) {
  CeedElemRestriction rstr = NULL;
  CeedVector weights = NULL;
  CeedOperator op = NULL;
  int ierr;

  CLI_TRY(CeedBasisGetNumQuadraturePoints(points->basis_u, &points->num));
  if (!p->options.is_axisymmetric) return CEED_ERROR_SUCCESS;
  CLI_TRY_CLEANUP(points_create_field(p, points, 1, &rstr, &weights));
  const PointsField fields[] = {points_position(p, points),
                                points_weights(points),
                                {"ring weights", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE,
                                 CEED_VECTOR_ACTIVE}};
  CLI_TRY_CLEANUP(points_create_operator(p, points, NULL, points_ring, 2, 1, fields, &op));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, CEED_VECTOR_NONE, weights, CEED_REQUEST_IMMEDIATE));
  CLI_TRY_CLEANUP(CeedElemRestrictionReferenceCopy(rstr, &points->rstr_weights));
  ierr = CeedVectorReferenceCopy(weights, &points->weights);
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&weights);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

int points_create(const Problem *p, CeedInt block, PointsRule rule, Points *points) {
  const CeedInt more = rule == POINTS_ERRORS ? 4 : p->has_directions ? 2 : 0;
  const CeedInt quad_degree = 2 * p->options.order + more;

  *points = (Points){.dim = p->dim};
  CLI_TRY(CeedElemRestrictionReferenceCopy(p->rstr_x[block], &points->rstr_x));
  CLI_TRY(CeedElemRestrictionReferenceCopy(p->rstr_u[block], &points->rstr_u));
  CLI_TRY(CeedVectorReferenceCopy(p->x, &points->x));
  CLI_TRY(RitzMeshGetBlock(p->mesh, block, NULL, &points->first, NULL, NULL, NULL));
  CLI_TRY(RitzMeshCreateBlockBasis(p->mesh, block, p->ceed, quad_degree, &points->basis_x));
  CLI_TRY(RitzSpaceCreateBlockBasis(p->space, block, p->ceed, quad_degree, &points->basis_u));
  CLI_TRY(CeedElemRestrictionGetNumElements(points->rstr_u, &points->num_elem));
  return add_circumferences(p, points);
}

int points_create_facets(const Problem *p, RitzFacets facets, CeedInt block, Points *points) {
  const RitzFacetNodes nodes = p->dim == 1 ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE;
  CeedInt order = 0;

  *points = (Points){.dim = p->dim - 1};
  CLI_TRY(RitzMeshGetGeometryOrder(p->mesh, &order));
  const CeedInt degree = p->options.order, quad_degree = 2 * degree + 2 * (order - 1);
  CLI_TRY(RitzFacetsGetBlock(facets, block, NULL, NULL, NULL, &points->elements, NULL));
  CLI_TRY(RitzFacetsCreateCoordinates(facets, block, nodes, p->ceed, &points->rstr_x, &points->x));
  CLI_TRY(RitzFacetsCreateBasis(facets, block, nodes, p->ceed, p->space_dim, order, quad_degree,
                                &points->basis_x));
  CLI_TRY(RitzFacetsCreateRestriction(facets, block, nodes, p->space, p->ceed, &points->rstr_u));
  CLI_TRY(RitzFacetsCreateBasis(facets, block, nodes, p->ceed, p->num_comp, degree, quad_degree,
                                &points->basis_u));
  CLI_TRY(CeedElemRestrictionGetNumElements(points->rstr_u, &points->num_elem));
  return add_circumferences(p, points);
}

void points_destroy(Points *points) {
  CeedElemRestrictionDestroy(&points->rstr_x);
  CeedElemRestrictionDestroy(&points->rstr_u);
  CeedElemRestrictionDestroy(&points->rstr_weights);
  CeedVectorDestroy(&points->weights);
  CeedVectorDestroy(&points->x);
  CeedBasisDestroy(&points->basis_x);
  CeedBasisDestroy(&points->basis_u);
}

int points_create_field(const Problem *p, const Points *points, CeedInt num_comp, CeedElemRestriction *rstr,
                        CeedVector *vector) {
  const CeedInt strides[3] = {num_comp, 1, num_comp * points->num};
  CeedSize size = (CeedSize)points->num_elem * points->num * num_comp;

  CLI_TRY(CeedElemRestrictionCreateStrided(p->ceed, points->num_elem, points->num, num_comp, size, strides,
                                           rstr));
  return CeedElemRestrictionCreateVector(*rstr, vector, NULL);
}

// One node (a direction), value 1 and derivative 0 at the points of the unknowns' basis.
static int create_constant_basis(const Problem *p, const Points *points, CeedInt num_comp, CeedBasis *basis) {
  const CeedScalar *at = NULL, *weights = NULL;
  CeedElemTopology topology;
  CeedInt num = points->num;
  bool is_tensor = false;

  CLI_TRY(CeedBasisIsTensor(points->basis_u, &is_tensor));
  CLI_TRY(CeedBasisGetTopology(points->basis_u, &topology));
  CLI_TRY(CeedBasisGetQRef(points->basis_u, &at));
  CLI_TRY(CeedBasisGetQWeights(points->basis_u, &weights));
  if (is_tensor) CLI_TRY(CeedBasisGetNumQuadraturePoints1D(points->basis_u, &num));

  CeedScalar *tables = calloc((1 + (size_t)p->dim) * (size_t)num, sizeof(*tables)); // ones, zeros
  if (!tables) return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for a basis of %d points", (int)num);
  for (CeedInt q = 0; q < num; q++) tables[q] = 1;
  const int ierr = is_tensor ? CeedBasisCreateTensorH1(p->ceed, p->dim, num_comp, 1, num, tables,
                                                       tables + num, at, weights, basis)
                             : CeedBasisCreateH1(p->ceed, topology, num_comp, 1, num, tables, tables + num,
                                                 at, weights, basis);

  free(tables);
  return ierr;
}

int points_create_sums(const Problem *p, const Points *points, CeedInt num_comp, CeedElemRestriction *rstr,
                       CeedBasis *basis, CeedVector *vector) {
  const CeedInt strides[3] = {1, 1, num_comp};
  const CeedSize size = (CeedSize)points->num_elem * num_comp;

  CLI_TRY(create_constant_basis(p, points, num_comp, basis));
  CLI_TRY(CeedElemRestrictionCreateStrided(p->ceed, points->num_elem, 1, num_comp, size, strides, rstr));
  return CeedElemRestrictionCreateVector(*rstr, vector, NULL);
}

int points_compute_positions(const Problem *p, const Points *points, CeedElemRestriction rstr,
                             CeedVector positions) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionCreateIdentity(p->ceed, p->space_dim, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  CLI_TRY_CLEANUP(CeedOperatorSetField(op, "input", points->rstr_x, points->basis_x, CEED_VECTOR_ACTIVE));
  CLI_TRY_CLEANUP(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CLI_TRY_CLEANUP(RitzOperatorSetUse(op, RITZ_USE_ONCE));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, points->x, positions, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

bool points_have_normals(const Problem *p, const Points *points) {
  return points->dim == p->dim - 1 && p->dim == p->space_dim;
}

int points_compute_normals(const Problem *p, const Points *points, CeedElemRestriction rstr,
                           CeedVector normals) {
  const PointsField fields[] = {points_geometry(p, points),
                                {"n", p->space_dim, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE,
                                 CEED_VECTOR_ACTIVE}};
  CeedOperator op = NULL;
  int ierr = points_create_operator(p, points, NULL, points_normal, 1, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApply(op, CEED_VECTOR_NONE, normals, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

// ---- Operators ----

PointsField points_position(const Problem *p, const Points *points) {
  return (PointsField){"x", p->space_dim, CEED_EVAL_INTERP, points->rstr_x, points->basis_x, points->x};
}

PointsField points_weights(const Points *points) {
  if (points->weights)
    return (PointsField){"weights",      1, CEED_EVAL_NONE, points->rstr_weights, CEED_BASIS_NONE,
                         points->weights};
  return (PointsField){"weights",       1, CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE, points->basis_x,
                       CEED_VECTOR_NONE};
}

PointsField points_geometry(const Problem *p, const Points *points) {
  CeedInt dim = points->dim ? points->dim : 1; // facets of lines have the derivative of the line

  return (PointsField){"dx", dim * p->space_dim, CEED_EVAL_GRAD, points->rstr_x, points->basis_x, points->x};
}

PointsField points_test(const Problem *p, const Points *points) {
  return (
      PointsField){"v", p->num_comp, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE};
}

static int set_context(const Problem *p, CeedInt dim, const PointsKnown *known, CeedQFunction qf) {
  SolveContext data = {.dim = dim,
                       .space_dim = p->space_dim,
                       .num_comp = p->num_comp,
                       .is_axisymmetric = p->options.is_axisymmetric};
  CeedQFunctionContext ctx = NULL;
  int ierr;

  if (known) {
    data.amplitude = (CeedScalar)known->amplitude;
    data.a = (CeedScalar)known->a;
    data.b = (CeedScalar)known->b;
    data.ring = (CeedScalar)known->ring;
  }
  CLI_TRY(CeedQFunctionContextCreate(p->ceed, &ctx));
  ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(qf, false);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

int points_create_operator(const Problem *p, const Points *points, const PointsKnown *known,
                           PointsFunction function, int num_in, int num_out, const PointsField *fields,
                           CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionCreateInterior(p->ceed, 1, function.function, function.source, &qf));
  for (int i = 0; i < num_in + num_out; i++) {
    const PointsField *f = &fields[i];
    CLI_TRY_CLEANUP(
        (i < num_in ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(qf, f->name, f->size, f->mode));
  }
  CLI_TRY_CLEANUP(set_context(p, points->dim, known, qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i < num_in + num_out; i++) {
    CLI_TRY_CLEANUP(
        CeedOperatorSetField(*op, fields[i].name, fields[i].rstr, fields[i].basis, fields[i].vector));
  }
  CLI_TRY_CLEANUP(RitzOperatorSetUse(*op, RITZ_USE_ONCE));
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// ---- Functions ----

int problem_evaluate(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                     const ProblemPoint *point, CeedInt component, CeedScalar *value) {
  double result = f(ctx, point, component);

  if (!isfinite(result)) {
    return CeedError(p->ceed, CEED_ERROR_MAJOR, "%s: the value at (%g, %g, %g) is not a finite number", name,
                     point->x[0], point->x[1], point->x[2]);
  }
  *value = (CeedScalar)result;
  return CEED_ERROR_SUCCESS;
}

// ---- Sources ----

// What is known of the points, and what is asked for.
typedef struct {
  CeedVector positions, normals, values; // normals NULL: there are none
  const CeedScalar *x, *n;
  CeedScalar *f; // [elements][points][num]
} Evaluation;

static int evaluate_at_points(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                              const void *ctx, CeedInt num, const Evaluation *at) {
  const CeedInt dim = p->space_dim;
  const int32_t *regions = NULL;
  ProblemPoint point = {.x = {[PROBLEM_TIME] = p->time}};

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  for (CeedInt e = 0; e < points->num_elem; e++) {
    point.region = regions[points->elements ? points->elements[e] : points->first + e];
    for (CeedSize i = (CeedSize)e * points->num; i < (CeedSize)(e + 1) * points->num; i++) {
      for (CeedInt d = 0; d < dim; d++) point.x[d] = at->x[i * dim + d];
      for (CeedInt d = 0; d < dim && at->n; d++) point.x[PROBLEM_NORMAL + d] = at->n[i * dim + d];
      for (CeedInt c = 0; c < num; c++)
        CLI_TRY(problem_evaluate(p, name, f, ctx, &point, c, &at->f[i * num + c]));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int open_arrays(Evaluation *at) {
  CLI_TRY(CeedVectorGetArrayRead(at->positions, CEED_MEM_HOST, &at->x));
  if (at->normals) CLI_TRY(CeedVectorGetArrayRead(at->normals, CEED_MEM_HOST, &at->n));
  return CeedVectorGetArrayWrite(at->values, CEED_MEM_HOST, &at->f);
}

static int close_arrays(Evaluation *at) {
  int ierr = at->f ? CeedVectorRestoreArray(at->values, &at->f) : CEED_ERROR_SUCCESS;

  if (at->n && CeedVectorRestoreArrayRead(at->normals, &at->n)) ierr = CEED_ERROR_MAJOR;
  if (at->x && CeedVectorRestoreArrayRead(at->positions, &at->x)) ierr = CEED_ERROR_MAJOR;
  return ierr;
}

int points_evaluate(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                    const void *ctx, CeedInt num, CeedElemRestriction *rstr, CeedVector *values) {
  CeedElemRestriction rstr_positions = NULL, rstr_normals = NULL;
  Evaluation at = {0};
  int ierr, closed;

  CLI_TRY_CLEANUP(points_create_field(p, points, p->space_dim, &rstr_positions, &at.positions));
  CLI_TRY_CLEANUP(points_create_field(p, points, num, rstr, values));
  CLI_TRY_CLEANUP(points_compute_positions(p, points, rstr_positions, at.positions));
  if (points_have_normals(p, points)) {
    CLI_TRY_CLEANUP(points_create_field(p, points, p->space_dim, &rstr_normals, &at.normals));
    CLI_TRY_CLEANUP(points_compute_normals(p, points, rstr_normals, at.normals));
  }
  at.values = *values;
  ierr = open_arrays(&at);
  if (!ierr) ierr = evaluate_at_points(p, points, name, f, ctx, num, &at);
  closed = close_arrays(&at);
  ierr = ierr ? ierr : closed;
cleanup:
  CeedVectorDestroy(&at.positions);
  CeedVectorDestroy(&at.normals);
  CeedElemRestrictionDestroy(&rstr_positions);
  CeedElemRestrictionDestroy(&rstr_normals);
  return ierr;
}

static int add_integrals(const Problem *p, const Points *points, PointsFunction integrand, CeedInt num,
                         CeedElemRestriction rstr, CeedVector values, CeedVector rhs) {
  const PointsField fields[] = {{"f", num, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, values},
                                points_geometry(p, points),
                                points_weights(points),
                                points_test(p, points)};
  CeedOperator op = NULL;
  int ierr = points_create_operator(p, points, NULL, integrand, 3, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApplyAdd(op, CEED_VECTOR_NONE, rhs, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

int points_add_values(const Problem *p, const Points *points, CeedElemRestriction rstr, CeedVector values,
                      CeedVector rhs) {
  return add_integrals(p, points, points_source, p->num_comp, rstr, values, rhs);
}

int points_measure(const Problem *p, const Points *points, CeedElemRestriction rstr, CeedVector values,
                   CeedElemRestriction rstr_measures, CeedVector measures) {
  const PointsField fields[] = {{"f", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, values},
                                points_geometry(p, points),
                                points_weights(points),
                                {"measure", 1, CEED_EVAL_NONE, rstr_measures, CEED_BASIS_NONE,
                                 CEED_VECTOR_ACTIVE}};
  CeedOperator op = NULL;
  int ierr = points_create_operator(p, points, NULL, points_source, 3, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApply(op, CEED_VECTOR_NONE, measures, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static int add_function(const Problem *p, const Points *points, PointsFunction integrand, CeedInt num,
                        const char *name, ProblemFunction f, const void *ctx, CeedVector rhs) {
  CeedElemRestriction rstr = NULL;
  CeedVector values = NULL;
  int ierr = points_evaluate(p, points, name, f, ctx, num, &rstr, &values);

  if (!ierr) ierr = add_integrals(p, points, integrand, num, rstr, values, rhs);
  CeedVectorDestroy(&values);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

int points_add_source(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                      const void *ctx, CeedVector rhs) {
  return add_function(p, points, points_source, p->num_comp, name, f, ctx, rhs);
}

int points_add_pressure(const Problem *p, const Points *points, const char *name, ProblemFunction f,
                        const void *ctx, CeedVector rhs) {
  return add_function(p, points, points_pressure, 1, name, f, ctx, rhs);
}
