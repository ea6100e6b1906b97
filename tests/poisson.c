// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation with a known solution: see poisson.h. Everything goes through the public interface.
#include "tests/poisson.h"

#include "tests/poisson-qfunctions.h"
#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  Ceed ceed; // borrowed
  CeedInt dim, degree, order, num_elem;
  Solution solution;
  RitzSpace space;
  CeedQFunctionContext ctx;
  CeedElemRestriction rstr_x, rstr_u;
  CeedVector x, u, b, interpolant;
  CeedOperator laplacian;
  CeedVector diagonal; // approximate, for the preconditioner
} Problem;

// ---- Operators ----

// A restriction for `size` numbers at each of the points of a basis, and a vector for them.
static int create_point_data(const Problem *p, CeedBasis basis, CeedInt size, CeedElemRestriction *rstr,
                             CeedVector *data) {
  CeedInt Q;

  CeedCall(CeedBasisGetNumQuadraturePoints(basis, &Q));
  CeedCall(CeedElemRestrictionCreateStrided(p->ceed, p->num_elem, Q, size, (CeedSize)p->num_elem * Q * size,
                                            CEED_STRIDES_BACKEND, rstr));
  return CeedElemRestrictionCreateVector(*rstr, data, NULL);
}

// Bases of coordinates and solution on the same Q points per direction.
static int create_bases(const Problem *p, CeedInt Q, CeedBasis *basis_x, CeedBasis *basis_u) {
  CeedCall(CeedBasisCreateTensorH1Lagrange(p->ceed, p->dim, p->dim, p->order + 1, Q, CEED_GAUSS, basis_x));
  return CeedBasisCreateTensorH1Lagrange(p->ceed, p->dim, 1, p->degree + 1, Q, CEED_GAUSS, basis_u);
}

// One line of an operator: a field of the QFunction and where it comes from or goes to.
typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vec;
} Field;

// The operator of `f` with num_in inputs and one output.
static int create_operator(const Problem *p, CeedQFunctionUser f, const char *source, int num_in,
                           const Field *fields, CeedOperator *op) {
  CeedQFunction qf = NULL;

  CeedCall(CeedQFunctionCreateInterior(p->ceed, 1, f, source, &qf));
  for (int i = 0; i <= num_in; i++) {
    CeedCall((i < num_in ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(qf, fields[i].name, fields[i].size,
                                                                           fields[i].mode));
  }
  CeedCall(CeedQFunctionSetContext(qf, p->ctx));
  CeedCall(CeedQFunctionSetContextWritable(qf, false));
  CeedCall(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i <= num_in; i++) {
    CeedCall(CeedOperatorSetField(*op, fields[i].name, fields[i].rstr, fields[i].basis, fields[i].vec));
  }
  return CeedQFunctionDestroy(&qf);
}

static int apply_once(CeedOperator *op, CeedVector in, CeedVector out) {
  int ierr = CeedOperatorApply(*op, in, out, CEED_REQUEST_IMMEDIATE);

  CeedOperatorDestroy(op);
  return ierr;
}

#define WEIGHTS(basis)                                                                                       \
  { "weights", 1, CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE, (basis), CEED_VECTOR_NONE }

// Diagonal entries sum_q G_gg (d phi_i / dX_g)^2: those of the matrix but for the mixed terms. The basis
// holds the squares of the tables, so that its transposed gradient sums squares of derivatives.
static int create_diagonal(Problem *p, CeedBasis basis, CeedElemRestriction rstr_metric, CeedVector metric) {
  CeedInt P = p->degree + 1, Q;
  const CeedScalar *tables[2];
  CeedScalar *squares[2];
  CeedBasis squared = NULL;
  CeedOperator op = NULL;

  CeedCall(CeedBasisGetNumQuadraturePoints1D(basis, &Q));
  CeedCall(CeedBasisGetInterp1D(basis, &tables[0]));
  CeedCall(CeedBasisGetGrad1D(basis, &tables[1]));
  for (int t = 0; t < 2; t++) {
    CeedCall(CeedMalloc((size_t)(P * Q), &squares[t]));
    for (CeedInt i = 0; i < P * Q; i++) squares[t][i] = tables[t][i] * tables[t][i];
  }
  CeedCall(CeedBasisCreateTensorH1(p->ceed, p->dim, 1, P, Q, squares[0], squares[1], NULL, NULL, &squared));
  for (int t = 0; t < 2; t++) CeedCall(CeedFree(&squares[t]));

  const Field fields[] = {{"metric", p->dim * p->dim, CEED_EVAL_NONE, rstr_metric, CEED_BASIS_NONE,
                           CEED_VECTOR_ACTIVE},
                          {"diagonal", p->dim, CEED_EVAL_GRAD, p->rstr_u, squared, CEED_VECTOR_ACTIVE}};
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_u, &p->diagonal, NULL));
  CeedCall(create_operator(p, KnownDiagonal, KnownDiagonal_loc, 1, fields, &op));
  CeedCall(CeedBasisDestroy(&squared));
  return apply_once(&op, metric, p->diagonal);
}

static int create_laplacian(Problem *p) {
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector metric = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, p->degree + 2, &basis_x, &basis_u));
  CeedCall(create_point_data(p, basis_u, dim * dim, &rstr, &metric));
  const Field build[] = {{"dx", dim * dim, CEED_EVAL_GRAD, p->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                         WEIGHTS(basis_x),
                         {"metric", dim * dim, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  const Field apply[] = {{"du", dim, CEED_EVAL_GRAD, p->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                         {"metric", dim * dim, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, metric},
                         {"dv", dim, CEED_EVAL_GRAD, p->rstr_u, basis_u, CEED_VECTOR_ACTIVE}};

  CeedCall(create_operator(p, KnownMetric, KnownMetric_loc, 2, build, &op));
  CeedCall(apply_once(&op, p->x, metric));
  CeedCall(create_operator(p, KnownLaplacian, KnownLaplacian_loc, 2, apply, &p->laplacian));
  CeedCall(create_diagonal(p, basis_u, rstr, metric));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  CeedCall(CeedElemRestrictionDestroy(&rstr));
  return CeedVectorDestroy(&metric);
}

static int create_right_hand_side(Problem *p) {
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, p->degree + 2, &basis_x, &basis_u));
  const Field fields[] = {{"x", dim, CEED_EVAL_INTERP, p->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                          {"dx", dim * dim, CEED_EVAL_GRAD, p->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                          WEIGHTS(basis_x),
                          {"v", 1, CEED_EVAL_INTERP, p->rstr_u, basis_u, CEED_VECTOR_ACTIVE}};

  CeedCall(CeedElemRestrictionCreateVector(p->rstr_u, &p->b, NULL));
  CeedCall(create_operator(p, KnownSource, KnownSource_loc, 3, fields, &op));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  return apply_once(&op, p->x, p->b);
}

// ---- Set-up ----

static int create_fields(Problem *p, RitzMesh mesh) {
  CeedInt space_dim;

  CeedCall(RitzMeshGetDimensions(mesh, &p->dim, &space_dim));
  if (space_dim != p->dim) {
    return CeedError(p->ceed, CEED_ERROR_UNSUPPORTED, "elements of dimension %d in %d dimensions",
                     (int)p->dim, (int)space_dim);
  }
  CeedCall(RitzMeshGetGeometryOrder(mesh, &p->order));
  CeedCall(RitzMeshCreateCoordinates(mesh, p->ceed, &p->rstr_x, &p->x));
  CeedCall(RitzSpaceCreate(mesh, p->degree, 1, &p->space));
  CeedCall(RitzSpaceCreateRestriction(p->space, p->ceed, &p->rstr_u));
  CeedCall(CeedElemRestrictionGetNumElements(p->rstr_u, &p->num_elem));
  p->solution.dim = p->dim;
  CeedCall(CeedQFunctionContextCreate(p->ceed, &p->ctx));
  return CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(p->solution),
                                     &p->solution);
}

// A vector of the values of u at the nodes listed, zero elsewhere. nodes NULL: at all nodes.
static int create_nodal_values(Problem *p, int64_t num, const int64_t *nodes, CeedVector *vector) {
  CeedSize num_nodes;
  CeedScalar *u;
  double *x, gradient[3];

  CeedCall(RitzSpaceGetSize(p->space, &num_nodes));
  CeedCall(CeedMalloc((size_t)(num_nodes * p->dim), &x));
  CeedCall(RitzSpaceGetNodeCoordinates(p->space, x));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_u, vector, NULL));
  CeedCall(CeedVectorSetValue(*vector, 0));
  CeedCall(CeedVectorGetArray(*vector, CEED_MEM_HOST, &u));
  for (int64_t i = 0; i < (nodes ? num : num_nodes); i++) {
    int64_t node = nodes ? nodes[i] : i;
    double point[3] = {0};

    memcpy(point, x + node * p->dim, (size_t)p->dim * sizeof(double));
    u[node] = (CeedScalar)solution_at(&p->solution, point, gradient);
  }
  CeedCall(CeedFree(&x));
  return CeedVectorRestoreArray(*vector, &u);
}

// ---- Solution and error ----

// The residual falls by 1e-13, or to a few round-offs: far below the errors of discretisation that are looked
// at.
static int solve_system(Problem *p, RitzSolver solver, CeedInt *iterations) {
  const double rtol = sizeof(CeedScalar) == sizeof(double) ? 1e-13 : 8.0 * FLT_EPSILON;
  RitzSolverReason reason;

  CeedCall(RitzSolverSetOperator(solver, p->laplacian));
  CeedCall(RitzSolverSetJacobi(solver, p->diagonal));
  CeedCall(RitzSolverSetTolerances(solver, rtol, 0.0, 20000));
  CeedCall(RitzSolverSolve(solver, p->b, p->u));
  CeedCall(RitzSolverGetIterations(solver, iterations));
  CeedCall(RitzSolverGetReason(solver, &reason));
  return reason > 0 ? CEED_ERROR_SUCCESS
                    : CeedError(p->ceed, CEED_ERROR_MAJOR, "%s after %d iterations",
                                RitzSolverReasonName(reason), (int)*iterations);
}

static int solve_with_constraints(Problem *p, CeedInt *iterations) {
  RitzSolver solver = NULL;
  int64_t num, *nodes = NULL;

  CeedCall(RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes));
  int ierr = create_nodal_values(p, num, nodes, &p->u);

  if (!ierr) ierr = RitzSolverCreateCG(p->ceed, &solver);
  if (!ierr) ierr = RitzSolverSetConstraints(solver, num, nodes);
  if (!ierr) ierr = solve_system(p, solver, iterations);
  free(nodes);
  RitzSolverDestroy(&solver);
  return ierr;
}

// Roots of the sums over elements and points: component c of point i of element e by its strides.
static int sum_errors(const Problem *p, CeedElemRestriction rstr, CeedVector errors, double norms[3]) {
  CeedInt Q, layout[3];
  const CeedScalar *array;

  CeedCall(CeedElemRestrictionGetElementSize(rstr, &Q));
  CeedCall(CeedElemRestrictionGetLLayout(rstr, layout));
  CeedCall(CeedVectorGetArrayRead(errors, CEED_MEM_HOST, &array));
  for (CeedInt c = 0; c < 3; c++) {
    double sum = 0.0;

    for (CeedInt e = 0; e < p->num_elem; e++) {
      for (CeedInt i = 0; i < Q; i++) {
        sum += array[(CeedSize)i * layout[0] + (CeedSize)c * layout[1] + (CeedSize)e * layout[2]];
      }
    }
    norms[c] = sqrt(sum);
  }
  return CeedVectorRestoreArrayRead(errors, &array);
}

// Norms of u_h - u, of its gradient and of u, for the function u_h with these nodal values.
static int measure_errors(Problem *p, CeedVector u_h, double norms[3]) {
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector errors = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, p->degree + 3, &basis_x, &basis_u));
  CeedCall(create_point_data(p, basis_u, 3, &rstr, &errors));
  const Field fields[] = {{"x", dim, CEED_EVAL_INTERP, p->rstr_x, basis_x, p->x},
                          {"dx", dim * dim, CEED_EVAL_GRAD, p->rstr_x, basis_x, p->x},
                          WEIGHTS(basis_x),
                          {"u", 1, CEED_EVAL_INTERP, p->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                          {"du", dim, CEED_EVAL_GRAD, p->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                          {"error", 3, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};

  CeedCall(create_operator(p, KnownError, KnownError_loc, 5, fields, &op));
  CeedCall(apply_once(&op, u_h, errors));
  CeedCall(sum_errors(p, rstr, errors, norms));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  CeedCall(CeedElemRestrictionDestroy(&rstr));
  return CeedVectorDestroy(&errors);
}

static int solve(Problem *p, RitzMesh mesh, PoissonResult *result) {
  double errors[3], interpolation_errors[3];

  CeedCall(create_fields(p, mesh));
  CeedCall(create_laplacian(p));
  CeedCall(create_right_hand_side(p));
  CeedCall(RitzSpaceGetSize(p->space, &result->num_dofs));
  CeedCall(solve_with_constraints(p, &result->iterations));
  CeedCall(measure_errors(p, p->u, errors));
  CeedCall(create_nodal_values(p, 0, NULL, &p->interpolant));
  CeedCall(measure_errors(p, p->interpolant, interpolation_errors));
  result->l2 = errors[0];
  result->h1 = errors[1];
  result->norm = errors[2];
  result->interpolation_h1 = interpolation_errors[1];
  return CEED_ERROR_SUCCESS;
}

int poisson_solve(Ceed ceed, RitzMesh mesh, CeedInt degree, const PoissonSolution *solution,
                  PoissonResult *result) {
  Problem p = {.ceed = ceed, .degree = degree};

  p.solution.wave = solution->wave;
  memcpy(p.solution.shift, solution->shift, sizeof(p.solution.shift));
  int ierr = solve(&p, mesh, result);

  CeedVector *vectors[] = {&p.x, &p.u, &p.b, &p.interpolant, &p.diagonal};
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  CeedElemRestrictionDestroy(&p.rstr_x);
  CeedElemRestrictionDestroy(&p.rstr_u);
  CeedOperatorDestroy(&p.laplacian);
  CeedQFunctionContextDestroy(&p.ctx);
  RitzSpaceDestroy(&p.space);
  return ierr;
}
