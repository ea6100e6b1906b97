// SPDX-License-Identifier: BSD-2-Clause
// Operators of `ritz solve`: stored factors, the problem itself, sources and errors.
#include "cli/problem.h"

#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/qfunctions.h"

// ---- Points: the quadrature of a block of elements ----

typedef struct {
  CeedInt num_elem, num;              // elements; points of each
  CeedElemRestriction rstr_x, rstr_u; // borrowed
  CeedBasis basis_x, basis_u;         // owned
} Points;

static int has_directions(RitzMesh mesh, CeedInt block, bool *has) {
  CeedElemTopology shape = CEED_TOPOLOGY_LINE;

  CLI_TRY(RitzMeshGetBlock(mesh, block, &shape, NULL, NULL, NULL, NULL));
  *has = shape == CEED_TOPOLOGY_LINE || shape == CEED_TOPOLOGY_QUAD || shape == CEED_TOPOLOGY_HEX;
  return CEED_ERROR_SUCCESS;
}

// For errors: more points than the solution was found with.
static int create_points(const Problem *p, CeedInt block, bool for_errors, Points *points) {
  CeedInt quad_degree = 2 * p->order;
  RitzMesh mesh = NULL;
  bool more = false;

  *points = (Points){.rstr_x = p->rstr_x[block], .rstr_u = p->rstr_u[block]};
  CLI_TRY(RitzSpaceGetMesh(p->space, &mesh));
  CLI_TRY(has_directions(mesh, block, &more));
  if (more) quad_degree += 2;
  if (for_errors) quad_degree = 2 * p->order + 4;
  CLI_TRY(RitzMeshCreateBlockBasis(mesh, block, p->ceed, quad_degree, &points->basis_x));
  CLI_TRY(RitzSpaceCreateBlockBasis(p->space, block, p->ceed, quad_degree, &points->basis_u));
  CLI_TRY(CeedElemRestrictionGetNumElements(points->rstr_u, &points->num_elem));
  return CeedBasisGetNumQuadraturePoints(points->basis_u, &points->num);
}

static void destroy_points(Points *points) {
  CeedBasisDestroy(&points->basis_x);
  CeedBasisDestroy(&points->basis_u);
}

// A field of num_comp values at the points, interlaced: value c of point i of element e at
// (e * points + i) * num_comp + c. Also makes its vector.
static int create_point_field(const Problem *p, const Points *points, CeedInt num_comp,
                              CeedElemRestriction *rstr, CeedVector *vector) {
  const CeedInt strides[3] = {num_comp, 1, num_comp * points->num};
  CeedSize size = (CeedSize)points->num_elem * points->num * num_comp;

  CLI_TRY(CeedElemRestrictionCreateStrided(p->ceed, points->num_elem, points->num, num_comp, size, strides,
                                           rstr));
  return CeedElemRestrictionCreateVector(*rstr, vector, NULL);
}

// ---- QFunctions ----

static int set_context(const Problem *p, CeedQFunction qf) {
  SolveContext context = {
      .dim = p->dim,
      .space_dim = p->space_dim,
      .has_mass = p->kind != PROBLEM_POISSON,
      .has_diffusion = p->kind != PROBLEM_MASS,
      .lambda = p->kind == PROBLEM_HELMHOLTZ ? (CeedScalar)p->lambda : 1,
  };
  CeedQFunctionContext ctx = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionContextCreate(p->ceed, &ctx));
  ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(context), &context);
  if (!ierr) ierr = CeedQFunctionSetContext(qf, ctx);
  if (!ierr) ierr = CeedQFunctionSetContextWritable(qf, false);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

// One field of an operator: what the QFunction and the operator need to know about it.
typedef struct {
  const char *name;
  CeedInt size;
  CeedEvalMode mode;
  CeedElemRestriction rstr;
  CeedBasis basis;
  CeedVector vector;
} Field;

static Field weights(CeedBasis basis) {
  return (Field){"weights", 1, CEED_EVAL_WEIGHT, CEED_ELEMRESTRICTION_NONE, basis, CEED_VECTOR_NONE};
}

static Field geometry(const Problem *p, const Points *points) {
  return (Field){"dx", p->dim * p->space_dim, CEED_EVAL_GRAD, points->rstr_x, points->basis_x, p->x};
}

// Makes the QFunction and the operator with the first num_in fields as inputs, the others as outputs.
static int create_operator(const Problem *p, CeedQFunctionUser function, const char *source, int num_in,
                           int num_out, const Field *fields, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionCreateInterior(p->ceed, 1, function, source, &qf));
  for (int i = 0; i < num_in + num_out; i++) {
    const Field *f = &fields[i];
    CLI_TRY_CLEANUP(
        (i < num_in ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(qf, f->name, f->size, f->mode));
  }
  CLI_TRY_CLEANUP(set_context(p, qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  for (int i = 0; i < num_in + num_out; i++) {
    CLI_TRY_CLEANUP(
        CeedOperatorSetField(*op, fields[i].name, fields[i].rstr, fields[i].basis, fields[i].vector));
  }
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}

// ---- The operator of the problem ----

// The stored factors: made by an operator once.
static int compute_factors(const Problem *p, const Points *points, CeedElemRestriction rstr, CeedInt size,
                           CeedVector factors) {
  const Field fields[] = {geometry(p, points),
                          weights(points->basis_x),
                          {"factors", size, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  CeedOperator op = NULL;
  int ierr = create_operator(p, solve_setup, solve_setup_loc, 2, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApply(op, CEED_VECTOR_NONE, factors, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static const struct {
  CeedQFunctionUser function;
  const char *source;
} apply_functions[3][3] = {
    [PROBLEM_POISSON] = {{solve_diffusion_1, solve_diffusion_1_loc},
                         {solve_diffusion_2, solve_diffusion_2_loc},
                         {solve_diffusion_3, solve_diffusion_3_loc}},
    [PROBLEM_MASS] = {{solve_mass, solve_mass_loc},
                      {solve_mass, solve_mass_loc},
                      {solve_mass, solve_mass_loc}},
    [PROBLEM_HELMHOLTZ] = {{solve_helmholtz_1, solve_helmholtz_1_loc},
                           {solve_helmholtz_2, solve_helmholtz_2_loc},
                           {solve_helmholtz_3, solve_helmholtz_3_loc}},
};

static int create_apply(const Problem *p, const Points *points, CeedElemRestriction rstr, CeedInt size,
                        CeedVector factors, CeedOperator *op) {
  bool mass = p->kind == PROBLEM_MASS, both = p->kind == PROBLEM_HELMHOLTZ;
  CeedEvalMode mode = mass ? CEED_EVAL_INTERP : CEED_EVAL_GRAD;
  CeedInt main_size = mass ? 1 : p->dim;
  Field fields[5] = {{"u", main_size, mode, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE},
                     {"factors", size, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, factors}};
  int n = 2;

  if (both)
    fields[n++] =
        (Field){"value u", 1, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE};
  fields[n++] = (Field){"v", main_size, mode, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE};
  if (both)
    fields[n++] =
        (Field){"value v", 1, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE};
  return create_operator(p, apply_functions[p->kind][p->dim - 1].function,
                         apply_functions[p->kind][p->dim - 1].source, both ? 3 : 2, both ? 2 : 1, fields, op);
}

static int create_block_operator(const Problem *p, CeedInt block, CeedOperator *op) {
  CeedInt size = (p->kind != PROBLEM_POISSON) + (p->kind != PROBLEM_MASS ? p->dim * (p->dim + 1) / 2 : 0);
  CeedElemRestriction rstr = NULL;
  CeedVector factors = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(create_points(p, block, false, &points));
  CLI_TRY_CLEANUP(CeedElemRestrictionCreateStrided(p->ceed, points.num_elem, points.num, size,
                                                   (CeedSize)points.num_elem * points.num * size,
                                                   CEED_STRIDES_BACKEND, &rstr));
  CLI_TRY_CLEANUP(CeedElemRestrictionCreateVector(rstr, &factors, NULL));
  CLI_TRY_CLEANUP(compute_factors(p, &points, rstr, size, factors));
  CLI_TRY_CLEANUP(create_apply(p, &points, rstr, size, factors, op));
cleanup:
  CeedVectorDestroy(&factors);
  CeedElemRestrictionDestroy(&rstr);
  destroy_points(&points);
  return ierr;
}

static int create_problem_operator(Problem *p) {
  if (p->num_blocks == 1) return create_block_operator(p, 0, &p->op);
  CLI_TRY(CeedOperatorCreateComposite(p->ceed, &p->op));
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    CeedOperator part = NULL;
    int ierr = create_block_operator(p, b, &part);

    if (!ierr) ierr = CeedOperatorCompositeAddSub(p->op, part);
    CeedOperatorDestroy(&part);
    CLI_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_restrictions(RitzMesh mesh, Problem *p) {
  CLI_TRY(RitzMeshGetNumBlocks(mesh, &p->num_blocks));
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_blocks, sizeof(*p->rstr_u), &p->rstr_u));
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_blocks, sizeof(*p->rstr_x), &p->rstr_x));
  p->has_directions = true;
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    bool has = false;

    CLI_TRY(has_directions(mesh, b, &has));
    p->has_directions &= has;
    CLI_TRY(RitzSpaceCreateBlockRestriction(p->space, b, p->ceed, &p->rstr_u[b]));
  }
  return RitzMeshCreateBlockCoordinates(mesh, p->ceed, p->rstr_x, &p->x);
}

int problem_create(Ceed ceed, RitzMesh mesh, ProblemKind kind, double lambda, CeedInt order, Problem *p) {
  int64_t num_elem = 0;

  *p = (Problem){.ceed = ceed, .kind = kind, .lambda = lambda, .order = order};
  CLI_TRY(RitzMeshGetDimensions(mesh, &p->dim, &p->space_dim));
  CLI_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  // Counts of points in an element, times components, are CeedInt.
  if (num_elem > INT32_MAX || pow(order + 3.0, p->dim) > INT32_MAX / 9.0) {
    return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "%lld elements of degree %" CeedInt_FMT " are too large",
                     (long long)num_elem, order);
  }
  CLI_TRY(RitzSpaceCreate(mesh, order, 1, &p->space));
  CLI_TRY(create_restrictions(mesh, p));
  return create_problem_operator(p);
}

void problem_destroy(Problem *p) {
  CeedOperatorDestroy(&p->op);
  CeedVectorDestroy(&p->x);
  for (CeedInt b = 0; b < p->num_blocks; b++) {
    if (p->rstr_u) CeedElemRestrictionDestroy(&p->rstr_u[b]);
    if (p->rstr_x) CeedElemRestrictionDestroy(&p->rstr_x[b]);
  }
  free(p->rstr_x);
  free(p->rstr_u);
  RitzSpaceDestroy(&p->space);
}

// ---- Sources ----

// Position of an entry as a function wants it.
static void to_position(CeedInt space_dim, const double *from, double x[3]) {
  for (CeedInt c = 0; c < 3; c++) x[c] = c < space_dim ? from[c] : 0;
}

static int evaluate_formula(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                            const double x[3], CeedScalar *value) {
  double result = f(ctx, x);

  if (!isfinite(result)) {
    return CeedError(p->ceed, CEED_ERROR_MAJOR, "%s: the value at (%g, %g, %g) is not a finite number", name,
                     x[0], x[1], x[2]);
  }
  *value = (CeedScalar)result;
  return CEED_ERROR_SUCCESS;
}

// Positions of all points, interlaced.
static int compute_positions(const Problem *p, const Points *points, CeedElemRestriction rstr,
                             CeedVector positions) {
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionCreateIdentity(p->ceed, p->space_dim, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  CLI_TRY_CLEANUP(CeedOperatorSetField(op, "input", points->rstr_x, points->basis_x, CEED_VECTOR_ACTIVE));
  CLI_TRY_CLEANUP(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, p->x, positions, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int evaluate_at_points(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                              CeedVector positions, CeedVector values) {
  const CeedScalar *positions_array = NULL;
  CeedScalar *values_array = NULL;
  CeedSize num = 0;
  int ierr = CEED_ERROR_SUCCESS, restore;

  CLI_TRY(CeedVectorGetLength(values, &num));
  CLI_TRY(CeedVectorGetArrayRead(positions, CEED_MEM_HOST, &positions_array));
  CLI_TRY(CeedVectorGetArrayWrite(values, CEED_MEM_HOST, &values_array));
  for (CeedSize i = 0; i < num && !ierr; i++) {
    double x[3] = {0};
    for (CeedInt c = 0; c < p->space_dim; c++) x[c] = positions_array[i * p->space_dim + c];
    ierr = evaluate_formula(p, name, f, ctx, x, &values_array[i]);
  }
  restore = CeedVectorRestoreArray(values, &values_array);
  if (!restore) restore = CeedVectorRestoreArrayRead(positions, &positions_array);
  return ierr ? ierr : restore;
}

static int add_source(const Problem *p, const Points *points, CeedElemRestriction rstr, CeedVector values,
                      CeedVector rhs) {
  const Field fields[] = {{"f", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, values},
                          geometry(p, points),
                          weights(points->basis_x),
                          {"v", 1, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE}};
  CeedOperator op = NULL;
  int ierr = create_operator(p, solve_source, solve_source_loc, 3, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApplyAdd(op, CEED_VECTOR_NONE, rhs, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static int add_block_source(const Problem *p, CeedInt block, const char *name, ProblemFunction f,
                            const void *ctx, CeedVector rhs) {
  CeedElemRestriction rstr_positions = NULL, rstr_values = NULL;
  CeedVector positions = NULL, values = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(create_points(p, block, false, &points));
  CLI_TRY_CLEANUP(create_point_field(p, &points, p->space_dim, &rstr_positions, &positions));
  CLI_TRY_CLEANUP(create_point_field(p, &points, 1, &rstr_values, &values));
  CLI_TRY_CLEANUP(compute_positions(p, &points, rstr_positions, positions));
  CLI_TRY_CLEANUP(evaluate_at_points(p, name, f, ctx, positions, values));
  CLI_TRY_CLEANUP(add_source(p, &points, rstr_values, values, rhs));
cleanup:
  CeedVectorDestroy(&positions);
  CeedVectorDestroy(&values);
  CeedElemRestrictionDestroy(&rstr_positions);
  CeedElemRestrictionDestroy(&rstr_values);
  destroy_points(&points);
  return ierr;
}

int problem_set_source(const Problem *p, const char *name, ProblemFunction f, const void *ctx,
                       CeedVector rhs) {
  CLI_TRY(CeedVectorSetValue(rhs, 0));
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_source(p, b, name, f, ctx, rhs));
  return CEED_ERROR_SUCCESS;
}

// ---- Values at nodes ----

int problem_set_nodes(const Problem *p, const char *name, ProblemFunction f, const void *ctx, int64_t num,
                      const int64_t *nodes, CeedVector u) {
  int64_t num_nodes = 0;
  double *positions = NULL, x[3];
  CeedScalar *array = NULL;
  int ierr, restore;

  CLI_TRY(RitzSpaceGetNumNodes(p->space, &num_nodes));
  CLI_TRY(cli_allocate(p->ceed, (size_t)num_nodes * (size_t)p->space_dim, sizeof(double), &positions));
  CLI_TRY_CLEANUP(RitzSpaceGetNodeCoordinates(p->space, positions));
  CLI_TRY_CLEANUP(CeedVectorGetArray(u, CEED_MEM_HOST, &array));
  for (int64_t i = 0; i < (nodes ? num : num_nodes) && !ierr; i++) {
    int64_t node = nodes ? nodes[i] : i;
    to_position(p->space_dim, &positions[node * p->space_dim], x);
    ierr = evaluate_formula(p, name, f, ctx, x, &array[node]);
  }
  restore = CeedVectorRestoreArray(u, &array);
  ierr = ierr ? ierr : restore;
cleanup:
  free(positions);
  return ierr;
}

// ---- The solution that is known ----

static const double pi = 3.14159265358979323846;

double problem_sine(const void *ctx, const double x[3]) {
  CeedInt space_dim = *(const CeedInt *)ctx;
  double product = 1;

  for (CeedInt c = 0; c < space_dim; c++) product *= sin(pi * x[c]);
  return product;
}

double problem_sine_factor(const Problem *p) {
  if (p->kind == PROBLEM_MASS) return 1;
  return p->space_dim * pi * pi + (p->kind == PROBLEM_HELMHOLTZ ? p->lambda : 0);
}

// Adds the two interlaced components to the sums.
static int add_errors(CeedVector errors, double sum[2]) {
  const CeedScalar *array = NULL;
  CeedSize length = 0;

  CLI_TRY(CeedVectorGetLength(errors, &length));
  CLI_TRY(CeedVectorGetArrayRead(errors, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) sum[i % 2] += array[i];
  return CeedVectorRestoreArrayRead(errors, &array);
}

static int add_block_errors(const Problem *p, CeedInt block, CeedVector u, double sum[2]) {
  CeedElemRestriction rstr = NULL;
  CeedVector errors = NULL;
  CeedOperator op = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(create_points(p, block, true, &points));
  CLI_TRY_CLEANUP(create_point_field(p, &points, 2, &rstr, &errors));
  const Field fields[] = {
      {"x", p->space_dim, CEED_EVAL_INTERP, points.rstr_x, points.basis_x, p->x},
      geometry(p, &points),
      weights(points.basis_x),
      {"u", 1, CEED_EVAL_INTERP, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE},
      {"du", p->dim, CEED_EVAL_GRAD, points.rstr_u, points.basis_u, CEED_VECTOR_ACTIVE},
      {"errors", 2, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE},
  };
  CLI_TRY_CLEANUP(create_operator(p, solve_sine_errors, solve_sine_errors_loc, 5, 1, fields, &op));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, u, errors, CEED_REQUEST_IMMEDIATE));
  CLI_TRY_CLEANUP(add_errors(errors, sum));
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&errors);
  CeedElemRestrictionDestroy(&rstr);
  destroy_points(&points);
  return ierr;
}

int problem_sine_errors(const Problem *p, CeedVector u, double *l2, double *h1) {
  double sum[2] = {0, 0};

  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY(add_block_errors(p, b, u, sum));
  *l2 = sqrt(sum[0]);
  *h1 = sqrt(sum[1]);
  return CEED_ERROR_SUCCESS;
}
