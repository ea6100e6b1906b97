// SPDX-License-Identifier: BSD-2-Clause
// Methods made of interior facets (RitzGeometryCreateInteriorFacetOperator): symmetric interior penalty, its
// order of convergence; advection, which conserves mass; indicators of errors.
#include "tests/interior-kit.h"
#include "tests/penalty-functions.h"

static const RitzInteriorFacetFunction penalty[] = OF_GRADIENTS(penalty, 1);
static const RitzInteriorFacetFunction upwind[] = OF_VALUES(upwind, 1);
static const RitzInteriorFacetFunction kink[] = OF_GRADIENTS(kink, 1);
static const RitzFacetFunction held[] = BY_DIM(held, RITZ_FACET_GRADIENT_FUNCTION_TABLE, 1);
static const RitzFacetFunction outflow[] = BY_DIM(outflow, RITZ_FACET_FUNCTION_TABLE, 1);
static const RitzPointFunction carried[] = BY_DIM(carried, RITZ_POINT_FUNCTION_TABLE, 1);

// ---- Interior penalty ----

// Penalties of p^2 / height: enough for these elements. c and 2 / h.
static int create_penalty(Ceed ceed, double c, double reciprocal, CeedQFunctionContext *context) {
  CeedScalar values[2] = {(CeedScalar)c, (CeedScalar)reciprocal};

  RITZ_TRY(CeedQFunctionContextCreate(ceed, context));
  return CeedQFunctionContextSetData(*context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(values), values);
}

static int add_parts(CeedOperator from, CeedOperator to) {
  CeedOperator *parts = NULL;
  CeedInt num = 0;

  RITZ_TRY(CeedOperatorCompositeGetNumSub(from, &num));
  RITZ_TRY(CeedOperatorCompositeGetSubList(from, &parts));
  for (CeedInt i = 0; i < num; i++) RITZ_TRY(CeedOperatorCompositeAddSub(to, parts[i]));
  return CEED_ERROR_SUCCESS;
}

// -div grad u by symmetric interior penalty, u = 0 on the boundary by the same.
static int create_poisson(const Problem *p, double c, double reciprocal, CeedOperator *op) {
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = p->space, .num_points = p->num_points};
  CeedQFunctionContext context = NULL;
  CeedOperator parts[3] = {NULL, NULL, NULL};
  int ierr;

  RITZ_TRY_CLEANUP(create_penalty(p->ceed, c, reciprocal, &context));
  RITZ_TRY_CLEANUP(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &parts[0]));
  RITZ_TRY_CLEANUP(create_interior(p, penalty, context, &parts[1]));
  RITZ_TRY_CLEANUP(create_boundary(p, held, context, &parts[2]));
  RITZ_TRY_CLEANUP(CeedOperatorCreateComposite(p->ceed, op));
  for (int i = 0; i < 3; i++) RITZ_TRY_CLEANUP(add_parts(parts[i], *op));
cleanup:
  for (int i = 0; i < 3; i++) CeedOperatorDestroy(&parts[i]);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

// x . A y = y . A x, x . A x > 0, the diagonal is that of A.
static void check_penalty(Ceed ceed, const Case *c) {
  CeedOperator op = NULL;
  CeedVector diagonal = NULL;
  uint64_t seed = 11;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 37, 1, &p));
  CHECK_OK(create_poisson(&p, 4 * (c->degree + 1) * (c->degree + 1), 20, &op));
  double *x = reference_new_random(p.size, &seed), *y = reference_new_random(p.size, &seed);
  double *Ax = apply_operator(op, p.size, x), *Ay = apply_operator(op, p.size, y);
  const double size = 100 * CEED_EPSILON * (double)p.size * reference_largest(p.size, Ax);
  CHECK_NEAR(reference_dot(p.size, x, Ay), reference_dot(p.size, y, Ax), size, "not symmetric: %s",
             describe(c));
  CHECK(reference_dot(p.size, x, Ax) > size, "not positive: %s", describe(c));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  double *d = reference_new_values(diagonal);
  for (CeedSize i = 0; i < p.size; i += p.size / 5 + 1) {
    for (CeedSize k = 0; k < p.size; k++) y[k] = k == i;
    double *column = apply_operator(op, p.size, y);
    CHECK_NEAR(d[i], column[i], 2000 * CEED_EPSILON * reference_largest(p.size, d), "diagonal at %d: %s",
               (int)i, describe(c));
    free(column);
  }
  free(x);
  free(y);
  free(Ax);
  free(Ay);
  free(d);
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(interior_penalty_is_symmetric_and_positive_and_has_the_diagonal_of_its_matrix) {
  const int step = tap_compiles_slowly(ceed) ? 7 : step_of(ceed); // four kernels a block of elements

  for (int i = 2; i < NUM_CASES && !tap_failed(); i += step) check_penalty(ceed, &cases[i]);
}

// ---- Convergence of interior penalty ----

typedef struct {
  CeedElemTopology shape;
  CeedInt n[3]; // elements a direction of the coarser mesh, for degrees 1, 2, 3
} Family;

static const Family families[] = {{CEED_TOPOLOGY_QUAD, {6, 4, 4}},
                                  {CEED_TOPOLOGY_TRIANGLE, {6, 4, 3}},
                                  {CEED_TOPOLOGY_HEX, {4, 3, 2}},
                                  {CEED_TOPOLOGY_TET, {4, 3, 2}}};

// u = product of sin(pi x_d), which vanishes on the boundary.
static int wave(void *ctx, const double *x, double *values, double *gradients) {
  const CeedInt dim = *(const CeedInt *)ctx;

  (void)gradients;
  values[0] = 1;
  for (CeedInt d = 0; d < dim; d++) values[0] *= sin(3.14159265358979323846 * x[d]);
  return 0;
}

// -div grad u
static int load_of_wave(void *ctx, const double *x, double *values) {
  const CeedInt dim = *(const CeedInt *)ctx;

  wave(ctx, x, values, NULL);
  values[0] *= 9.8696044010893586 * dim;
  return 0;
}

static int solve_poisson(const Problem *p, CeedOperator op, CeedVector b, CeedVector u) {
  const bool is_double = CEED_SCALAR_TYPE == CEED_SCALAR_FP64;
  RitzSolverReason reason = RITZ_DIVERGED_MAX_IT;
  CeedVector diagonal = NULL;
  RitzSolver solver = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &diagonal));
  RITZ_TRY_CLEANUP(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(RitzSolverCreateCG(p->ceed, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, op));
  RITZ_TRY_CLEANUP(RitzSolverSetJacobi(solver, diagonal));
  RITZ_TRY_CLEANUP(RitzSolverSetTolerances(solver, is_double ? 1e-9 : 1e-5, 0, 2000));
  RITZ_TRY_CLEANUP(RitzSolverSolve(solver, b, u));
  RITZ_TRY_CLEANUP(RitzSolverGetReason(solver, &reason));
  if (reason <= 0) ierr = CEED_ERROR_MINOR;
cleanup:
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

static int find_error(const Problem *p, CeedInt degree, CeedInt n, double *error) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p->space};
  CeedOperator op = NULL, mass = NULL;
  CeedVector f = NULL, b = NULL, u = NULL;
  CeedInt dim = p->dim;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &f));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &b));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &u));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(u, 0));
  RITZ_TRY_CLEANUP(RitzSpaceInterpolate(p->space, load_of_wave, &dim, f));
  RITZ_TRY_CLEANUP(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &mass));
  RITZ_TRY_CLEANUP(CeedOperatorApply(mass, f, b, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(create_poisson(p, 2 * (degree + 1) * (degree + 1), 2 * n, &op));
  RITZ_TRY_CLEANUP(solve_poisson(p, op, b, u));
  ierr = RitzGeometryGetErrorNorms(p->geometry, p->ceed, p->space, u, 0, wave, &dim, error, NULL);
cleanup:
  CeedVectorDestroy(&f);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&u);
  CeedOperatorDestroy(&mass);
  CeedOperatorDestroy(&op);
  return ierr;
}

static int find_error_on_box(Ceed ceed, const Family *f, CeedInt degree, CeedInt n, double *error) {
  const CeedInt size[3] = {n, n, n};
  Problem p = {.ceed = ceed, .dim = dim_of((int)f->shape)};
  RitzMesh box = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzMeshCreateBox(ceed, p.dim, size, NULL, NULL, 1, NULL, NULL, &box));
  RITZ_TRY_CLEANUP(RitzMeshSplit(box, f->shape, &p.mesh));
  RITZ_TRY_CLEANUP(RitzGeometryCreate(p.mesh, -1, &p.geometry));
  RITZ_TRY_CLEANUP(RitzSpaceCreateDiscontinuous(p.mesh, degree, 1, &p.space));
  RITZ_TRY_CLEANUP(RitzSpaceGetSize(p.space, &p.size));
  ierr = find_error(&p, degree, n, error);
cleanup:
  RitzMeshDestroy(&box);
  destroy_problem(&p);
  return ierr;
}

TEST(interior_penalty_converges_with_order_p_plus_one) {
  Ceed ceed = tap_ceed("/cpu/self");

  for (int i = 0; i < 4; i++) {
    const CeedInt most = tap_level() > TAP_QUICK ? 3 : dim_of((int)families[i].shape) == 3 ? 1 : 2;

    for (CeedInt degree = 1; degree <= most && !tap_failed(); degree++) {
      const CeedInt n = families[i].n[degree - 1];
      double error[2] = {0, 0};

      CHECK_OK(find_error_on_box(ceed, &families[i], degree, n, &error[0]));
      CHECK_OK(find_error_on_box(ceed, &families[i], degree, 2 * n, &error[1]));
      const double order = log2(error[0] / error[1]);
      // What is left by rounding hides the order in float.
      CHECK(order > degree + 0.6 || error[1] < 1e4 * CEED_EPSILON, "%s, degree %d: errors %g, %g, order %g",
            CeedElemTopologies[families[i].shape], (int)degree, error[0], error[1], order);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Advection ----

// What leaves an element enters its neighbour: whatever u, the sum of the residual is the flux through the
// boundary alone.
static void check_conservation(Ceed ceed, const Case *c) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_POINT_FUNCTION, .num_points = NUM_POINTS};
  RitzOperatorOptions in_volume = options;
  CeedOperator op = NULL;
  uint64_t seed = 13;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 41, 1, &p));
  in_volume.space = p.space;
  double *u = reference_new_random(p.size, &seed), *across = apply_interior(&p, upwind, u);
  int ierr = RitzGeometryCreatePointOperator(p.geometry, ceed, &in_volume, &carried[p.dim - 1], NULL, &op);
  double *inside = apply_once(ierr, &op, p.size, u);
  ierr = create_boundary(&p, outflow, NULL, &op);
  double *out = apply_once(ierr, &op, p.size, u);
  const double size = reference_largest(p.size, inside) + reference_largest(p.size, across);
  CHECK(size > 0.01 && sum_of(p.size, out) == sum_of(p.size, out), "no residual: %s", describe(c));
  CHECK_NEAR(sum_of(p.size, across), 0, 10 * CEED_EPSILON * (double)p.size * size, "across: %s", describe(c));
  CHECK_NEAR(sum_of(p.size, inside), 0, 10 * CEED_EPSILON * (double)p.size * size, "inside: %s", describe(c));
  free(u);
  free(across);
  free(inside);
  free(out);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(advection_conserves_mass) {
  for (int i = 4; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_conservation(ceed, &cases[i]);
}

// A constant is carried without change: all fluxes of an element add up to zero, for every test function.
TEST_EACH_BACKEND(advection_keeps_constants_where_nothing_enters) {
  const Case *c = &cases[SOLID_CASE];
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_POINT_FUNCTION, .num_points = NUM_POINTS};
  RitzOperatorOptions in_volume = options;
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 43, 1, &p));
  in_volume.space = p.space;
  double *one = reference_new(p.size);
  for (CeedSize i = 0; i < p.size; i++) one[i] = 1;
  double *across = apply_interior(&p, upwind, one);
  int ierr = RitzGeometryCreatePointOperator(p.geometry, ceed, &in_volume, &carried[2], NULL, &op);
  double *inside = apply_once(ierr, &op, p.size, one);
  int64_t num = 0, *elements = NULL;
  bool *is_outer = calloc((size_t)p.mesh->num_elem, sizeof(*is_outer));
  CHECK_OK(RitzMeshGetBoundaryPart(p.mesh, "all", &num, &elements, NULL));
  for (int64_t i = 0; i < num; i++) is_outer[elements[i]] = true;
  int64_t node = 0;
  for (int b = 0; b < p.mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &p.mesh->blocks[b];
    const int64_t num_nodes = ritz_mesh_num_nodes(block->topology, c->degree);

    for (int64_t k = 0; k < block->num_elem * num_nodes; k++, node++) {
      if (!is_outer[block->first + k / num_nodes])
        CHECK_NEAR(across[node] + inside[node], 0, 1000 * CEED_EPSILON, "node %d", (int)node);
    }
  }
  free(elements);
  free(is_outer);
  free(one);
  free(across);
  free(inside);
  destroy_problem(&p);
}

// ---- Indicators of errors ----

static int roof(void *ctx, const double *x, double *u) {
  (void)ctx;
  u[0] = fabs(x[0] - 0.5);
  return 0;
}

// The slope of |x - 1/2| jumps by 2 across the plane x = 1/2: elements that have a facet there, of the size
// 1/4^(dim-1), get h 2^2 times that, all others nothing.
static void check_indicator(Ceed ceed, CeedInt dim) {
  static const CeedInt n[3] = {4, 4, 4};
  const double wanted = 0.25 * 4 * pow(0.25, dim - 1);
  RitzSpace linear_space = NULL, indicators = NULL;
  CeedVector u = NULL, eta = NULL;
  CeedOperator op = NULL;
  RitzGeometry geometry = NULL;
  CeedSize size = 0, num = 0;
  RitzMesh mesh = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &linear_space));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 1, 1, &indicators));
  CHECK_OK(RitzSpaceGetSize(linear_space, &size));
  CHECK_OK(RitzSpaceGetSize(indicators, &num));
  const RitzInteriorFacetOptions options = {.space = linear_space, .tests = indicators};
  CHECK_OK(RitzGeometryCreateInteriorFacetOperator(geometry, ceed, &options, &kink[dim - 1], NULL, &op));
  CHECK_OK(CeedVectorCreate(ceed, size, &u));
  CHECK_OK(CeedVectorCreate(ceed, num, &eta));
  CHECK_OK(RitzSpaceInterpolate(linear_space, roof, NULL, u));
  CHECK_OK(CeedOperatorApply(op, u, eta, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(eta), *sums = sums_of_elements(mesh, 1, values);
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const bool is_beside = e % 4 == 1 || e % 4 == 2;

    CHECK_NEAR(sums[e], is_beside ? wanted : 0, 1000 * CEED_EPSILON, "element %d", (int)e);
  }
  free(values);
  free(sums);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&eta);
  CeedOperatorDestroy(&op);
  RitzSpaceDestroy(&linear_space);
  RitzSpaceDestroy(&indicators);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
}

TEST_EACH_BACKEND(jumps_of_normal_derivatives_tested_element_by_element_find_a_kink) {
  for (CeedInt dim = 1; dim <= 3 && !tap_failed(); dim++) check_indicator(ceed, dim);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(interior_penalty_is_symmetric_and_positive_and_has_the_diagonal_of_its_matrix,
                        interior_penalty_converges_with_order_p_plus_one, advection_conserves_mass,
                        advection_keeps_constants_where_nothing_enters,
                        jumps_of_normal_derivatives_tested_element_by_element_find_a_kink));
}
