// SPDX-License-Identifier: BSD-2-Clause
// Poisson's equation with a known solution: see poisson.h. Everything goes through the public interface.
#include "tests/poisson.h"

#include "tests/poisson-qfunctions.h"
#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The elements of one shape.
typedef struct {
  CeedInt num_elem;
  CeedElemRestriction rstr_x, rstr_u;
} Block;

typedef struct {
  Ceed ceed;     // borrowed
  RitzMesh mesh; // borrowed
  CeedInt dim, degree, num_blocks;
  Solution solution;
  RitzSpace space;
  CeedQFunctionContext ctx;
  Block *blocks;
  CeedVector x, u, b, interpolant;
  CeedOperator laplacian;
  CeedVector diagonal; // for the preconditioner
} Problem;

// ---- Operators ----

// A restriction for `size` numbers at each of the points of a basis, and a vector for them.
static int create_point_data(const Problem *p, const Block *block, CeedBasis basis, CeedInt size,
                             CeedElemRestriction *rstr, CeedVector *data) {
  CeedInt Q;

  CeedCall(CeedBasisGetNumQuadraturePoints(basis, &Q));
  CeedCall(CeedElemRestrictionCreateStrided(
      p->ceed, block->num_elem, Q, size, (CeedSize)block->num_elem * Q * size, CEED_STRIDES_BACKEND, rstr));
  return CeedElemRestrictionCreateVector(*rstr, data, NULL);
}

// Bases of coordinates and solution on the same points: Q Gauss points per direction, on shapes without
// directions a rule of the degree of this one rounded down to even.
static int create_bases(const Problem *p, CeedInt block, CeedInt Q, CeedBasis *basis_x, CeedBasis *basis_u) {
  CeedCall(RitzMeshCreateBlockBasis(p->mesh, block, p->ceed, 2 * Q - 2, basis_x));
  return RitzSpaceCreateBlockBasis(p->space, block, p->ceed, 2 * Q - 2, basis_u);
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

// Adds to out.
static int apply_once(CeedOperator *op, CeedVector in, CeedVector out) {
  int ierr = CeedOperatorApplyAdd(*op, in, out, CEED_REQUEST_IMMEDIATE);

  CeedOperatorDestroy(op);
  return ierr;
}

#define WEIGHTS(basis)                                                                                       \
  { "weights", 1, CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE, (basis), CEED_VECTOR_NONE }

static int create_block_laplacian(const Problem *p, CeedInt number, CeedOperator *laplacian) {
  const Block *block = &p->blocks[number];
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector metric = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, number, p->degree + 2, &basis_x, &basis_u));
  CeedCall(create_point_data(p, block, basis_u, dim * dim, &rstr, &metric));
  const Field build[] = {{"dx", dim * dim, CEED_EVAL_GRAD, block->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                         WEIGHTS(basis_x),
                         {"metric", dim * dim, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  const Field apply[] = {{"du", dim, CEED_EVAL_GRAD, block->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                         {"metric", dim * dim, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, metric},
                         {"dv", dim, CEED_EVAL_GRAD, block->rstr_u, basis_u, CEED_VECTOR_ACTIVE}};

  CeedCall(create_operator(p, KnownMetric, KnownMetric_loc, 2, build, &op));
  CeedCall(CeedVectorSetValue(metric, 0));
  CeedCall(apply_once(&op, p->x, metric));
  CeedCall(create_operator(p, KnownLaplacian, KnownLaplacian_loc, 2, apply, laplacian));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  CeedCall(CeedElemRestrictionDestroy(&rstr));
  return CeedVectorDestroy(&metric);
}

// A composite for meshes of several shapes.
static int create_laplacian(const Problem *p, CeedOperator *laplacian) {
  if (p->num_blocks == 1) return create_block_laplacian(p, 0, laplacian);
  CeedCall(CeedOperatorCreateComposite(p->ceed, laplacian));
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    CeedOperator part = NULL;

    CeedCall(create_block_laplacian(p, b, &part));
    CeedCall(CeedOperatorCompositeAddSub(*laplacian, part));
    CeedCall(CeedOperatorDestroy(&part));
  }
  return CEED_ERROR_SUCCESS;
}

static int create_diagonal(const Problem *p, CeedVector *diagonal) {
  CeedCall(CeedElemRestrictionCreateVector(p->blocks[0].rstr_u, diagonal, NULL));
  return CeedOperatorLinearAssembleDiagonal(p->laplacian, *diagonal, CEED_REQUEST_IMMEDIATE);
}

static int add_right_hand_side(const Problem *p, CeedInt number, CeedVector b) {
  const Block *block = &p->blocks[number];
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, number, p->degree + 2, &basis_x, &basis_u));
  const Field fields[] = {{"x", dim, CEED_EVAL_INTERP, block->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                          {"dx", dim * dim, CEED_EVAL_GRAD, block->rstr_x, basis_x, CEED_VECTOR_ACTIVE},
                          WEIGHTS(basis_x),
                          {"v", 1, CEED_EVAL_INTERP, block->rstr_u, basis_u, CEED_VECTOR_ACTIVE}};

  CeedCall(create_operator(p, KnownSource, KnownSource_loc, 3, fields, &op));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  return apply_once(&op, p->x, b);
}

static int create_right_hand_side(const Problem *p, CeedVector *b) {
  CeedCall(CeedElemRestrictionCreateVector(p->blocks[0].rstr_u, b, NULL));
  CeedCall(CeedVectorSetValue(*b, 0));
  for (CeedInt i = 0; i < p->num_blocks; i++) CeedCall(add_right_hand_side(p, i, *b));
  return CEED_ERROR_SUCCESS;
}

// ---- Set-up ----

static int create_blocks(Problem *p) {
  CeedElemRestriction *rstr_x;
  int ierr;

  CeedCall(RitzMeshGetNumBlocks(p->mesh, &p->num_blocks));
  CeedCall(CeedCalloc((size_t)p->num_blocks, &p->blocks));
  CeedCall(CeedCalloc((size_t)p->num_blocks, &rstr_x));
  ierr = RitzMeshCreateBlockCoordinates(p->mesh, p->ceed, rstr_x, &p->x);
  for (CeedInt b = 0; b < p->num_blocks; b++) p->blocks[b].rstr_x = rstr_x[b];
  CeedFree(&rstr_x);
  for (CeedInt b = 0; !ierr && b < p->num_blocks; b++) {
    Block *block = &p->blocks[b];

    ierr = RitzSpaceCreateBlockRestriction(p->space, b, p->ceed, &block->rstr_u);
    if (!ierr) ierr = CeedElemRestrictionGetNumElements(block->rstr_u, &block->num_elem);
  }
  return ierr;
}

static int create_problem(Problem *p) {
  CeedInt space_dim;

  CeedCall(RitzMeshGetDimensions(p->mesh, &p->dim, &space_dim));
  if (space_dim != p->dim) {
    return CeedError(p->ceed, CEED_ERROR_UNSUPPORTED, "elements of dimension %d in %d dimensions",
                     (int)p->dim, (int)space_dim);
  }
  CeedCall(RitzSpaceCreate(p->mesh, p->degree, 1, &p->space));
  CeedCall(create_blocks(p));
  p->solution.dim = p->dim;
  CeedCall(CeedQFunctionContextCreate(p->ceed, &p->ctx));
  return CeedQFunctionContextSetData(p->ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(p->solution),
                                     &p->solution);
}

static void destroy_problem(Problem *p) {
  CeedVector *vectors[] = {&p->x, &p->u, &p->b, &p->interpolant, &p->diagonal};

  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  for (CeedInt b = 0; p->blocks && b < p->num_blocks; b++) {
    CeedElemRestrictionDestroy(&p->blocks[b].rstr_x);
    CeedElemRestrictionDestroy(&p->blocks[b].rstr_u);
  }
  CeedFree(&p->blocks);
  CeedOperatorDestroy(&p->laplacian);
  CeedQFunctionContextDestroy(&p->ctx);
  RitzSpaceDestroy(&p->space);
}

// A vector of the values of u at the nodes listed, zero elsewhere. nodes NULL: at all nodes.
static int create_nodal_values(const Problem *p, int64_t num, const int64_t *nodes, CeedVector *vector) {
  CeedSize num_nodes;
  CeedScalar *u;
  double *x, gradient[3];

  CeedCall(RitzSpaceGetSize(p->space, &num_nodes));
  CeedCall(CeedMalloc((size_t)(num_nodes * p->dim), &x));
  CeedCall(RitzSpaceGetNodeCoordinates(p->space, x));
  CeedCall(CeedElemRestrictionCreateVector(p->blocks[0].rstr_u, vector, NULL));
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
static int solve_system(const Problem *p, RitzSolver solver, CeedInt *iterations) {
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

// Adds the sums over elements and points: component c of point i of element e by its strides.
static int add_errors(const Block *block, CeedElemRestriction rstr, CeedVector errors, double sums[3]) {
  CeedInt Q, layout[3];
  const CeedScalar *array;

  CeedCall(CeedElemRestrictionGetElementSize(rstr, &Q));
  CeedCall(CeedElemRestrictionGetLLayout(rstr, layout));
  CeedCall(CeedVectorGetArrayRead(errors, CEED_MEM_HOST, &array));
  for (CeedInt c = 0; c < 3; c++) {
    for (CeedInt e = 0; e < block->num_elem; e++) {
      for (CeedInt i = 0; i < Q; i++) {
        sums[c] += array[(CeedSize)i * layout[0] + (CeedSize)c * layout[1] + (CeedSize)e * layout[2]];
      }
    }
  }
  return CeedVectorRestoreArrayRead(errors, &array);
}

// Adds the squares of the norms below over the elements of one shape.
static int add_block_errors(const Problem *p, CeedInt number, CeedVector u_h, double sums[3]) {
  const Block *block = &p->blocks[number];
  CeedBasis basis_x = NULL, basis_u = NULL;
  CeedElemRestriction rstr = NULL;
  CeedVector errors = NULL;
  CeedOperator op = NULL;
  CeedInt dim = p->dim;

  CeedCall(create_bases(p, number, p->degree + 3, &basis_x, &basis_u));
  CeedCall(create_point_data(p, block, basis_u, 3, &rstr, &errors));
  const Field fields[] = {{"x", dim, CEED_EVAL_INTERP, block->rstr_x, basis_x, p->x},
                          {"dx", dim * dim, CEED_EVAL_GRAD, block->rstr_x, basis_x, p->x},
                          WEIGHTS(basis_x),
                          {"u", 1, CEED_EVAL_INTERP, block->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                          {"du", dim, CEED_EVAL_GRAD, block->rstr_u, basis_u, CEED_VECTOR_ACTIVE},
                          {"error", 3, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};

  CeedCall(create_operator(p, KnownError, KnownError_loc, 5, fields, &op));
  CeedCall(CeedVectorSetValue(errors, 0));
  CeedCall(apply_once(&op, u_h, errors));
  CeedCall(add_errors(block, rstr, errors, sums));
  CeedCall(CeedBasisDestroy(&basis_x));
  CeedCall(CeedBasisDestroy(&basis_u));
  CeedCall(CeedElemRestrictionDestroy(&rstr));
  return CeedVectorDestroy(&errors);
}

// Norms of u_h - u, of its gradient and of u, for the function u_h with these nodal values.
static int measure_errors(const Problem *p, CeedVector u_h, double norms[3]) {
  for (int c = 0; c < 3; c++) norms[c] = 0.0;
  for (CeedInt b = 0; b < p->num_blocks; b++) CeedCall(add_block_errors(p, b, u_h, norms));
  for (int c = 0; c < 3; c++) norms[c] = sqrt(norms[c]);
  return CEED_ERROR_SUCCESS;
}

static int solve(Problem *p, PoissonResult *result) {
  double errors[3], interpolation_errors[3];

  CeedCall(create_problem(p));
  CeedCall(create_laplacian(p, &p->laplacian));
  CeedCall(create_diagonal(p, &p->diagonal));
  CeedCall(create_right_hand_side(p, &p->b));
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
  Problem p = {.ceed = ceed, .mesh = mesh, .degree = degree};

  p.solution.power = solution->power;
  p.solution.wave = solution->wave;
  memcpy(p.solution.shift, solution->shift, sizeof(p.solution.shift));
  int ierr = solve(&p, result);

  destroy_problem(&p);
  return ierr;
}

int poisson_create_laplacian(Ceed ceed, RitzMesh mesh, CeedInt degree, CeedOperator *laplacian) {
  Problem p = {.ceed = ceed, .mesh = mesh, .degree = degree};
  int ierr = create_problem(&p);

  if (!ierr) ierr = create_laplacian(&p, laplacian);
  destroy_problem(&p);
  return ierr;
}
