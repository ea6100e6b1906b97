// SPDX-License-Identifier: BSD-2-Clause
// The problems of `ritz solve` as the program builds them (cli/problem*.c): integrals over boundary parts,
// patch tests of elasticity, materials by region, functions without energy, stresses.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/qfunctions.h"
#include "tests/problem-kit.h"

static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_HEX, CEED_TOPOLOGY_PRISM, CEED_TOPOLOGY_PYRAMID,
                                          CEED_TOPOLOGY_TET};
enum { NUM_SHAPES = 4 };

// In functions that return something.
static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.1 * X[(d + 1) % dim] * X[(d + 2) % dim];
  return 0;
}

// A unit box of elements of a shape; of order 2 it is bent.
static RitzMesh make_box(Ceed ceed, CeedElemTopology shape, CeedInt order) {
  RitzMesh box = NULL, mesh = NULL;

  must(RitzMeshCreateBox(ceed, 3, (const CeedInt[]){2, 1, 2}, NULL, NULL, order, order > 1 ? bend : NULL,
                         NULL, &box));
  if (shape == CEED_TOPOLOGY_HEX) return box;
  must(RitzMeshSplit(box, shape, &mesh));
  must(RitzMeshDestroy(&box));
  return mesh;
}

static RitzMesh make_rectangle(Ceed ceed, CeedElemTopology shape) {
  RitzMesh box = NULL, mesh = NULL;

  must(RitzMeshCreateBox(ceed, 2, (const CeedInt[]){3, 2}, NULL, NULL, 1, NULL, NULL, &box));
  if (shape == CEED_TOPOLOGY_QUAD) return box;
  must(RitzMeshSplit(box, shape, &mesh));
  must(RitzMeshDestroy(&box));
  return mesh;
}

static const ProblemMaterial unit = {
    .conductivity = {.value = 1}, .reaction = {.value = 1}, .young = 1, .poisson = 0.3};

static Problem make_problem(Ceed ceed, RitzMesh mesh, ProblemKind kind, CeedInt order, CeedInt num_materials,
                            const ProblemMaterial *materials) {
  const ProblemOptions options = {
      .kind = kind, .order = order, .num_materials = num_materials, .materials = materials, .factor = 1};

  return open_problem(ceed, mesh, &options);
}

// ---- Boundary integrals ----

// x^a y^b z^c, and its integral over the surface of the unit cube: opposite faces have 0^a and 1.
typedef struct {
  int power[3];
} Monomial;

static double monomial(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const Monomial *m = ctx;

  (void)component;
  return pow(point->x[0], m->power[0]) * pow(point->x[1], m->power[1]) * pow(point->x[2], m->power[2]);
}

static double surface_integral(const int power[3]) {
  double sum = 0;

  for (int d = 0; d < 3; d++)
    sum += ((power[d] == 0) + 1.0) / ((power[(d + 1) % 3] + 1) * (power[(d + 2) % 3] + 1));
  return sum;
}

TEST(boundary_integrals_are_exact_for_products_of_two_polynomials_of_the_degree) {
  static const Monomial cases[][2] = {{{{0, 0, 0}}, {{0, 0, 0}}},
                                      {{{2, 0, 0}}, {{0, 2, 0}}},
                                      {{{1, 1, 0}}, {{0, 1, 1}}},
                                      {{{2, 0, 0}}, {{2, 0, 0}}}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    RitzMesh mesh = make_box(ceed, shapes[s], 1);
    Problem problem = make_problem(ceed, mesh, PROBLEM_POISSON, 2, 1, &unit);
    CeedVector rhs = make_vector(&problem), u = make_vector(&problem);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      int power[3];
      double found = 0;

      for (int d = 0; d < 3; d++) power[d] = cases[i][0].power[d] + cases[i][1].power[d];
      const double expected = surface_integral(power);
      CHECK_OK(CeedVectorSetValue(rhs, 0));
      CHECK_OK(problem_add_boundary(&problem, "test", "all", monomial, &cases[i][0], rhs));
      CHECK_OK(problem_set_nodes(&problem, "test", monomial, &cases[i][1], -1, 0, NULL, u));
      CHECK_OK(RitzVectorDot(rhs, u, &found));
      CHECK_NEAR(found, expected, 1000 * CEED_EPSILON, "shape %d, case %d", s, (int)i);
    }
    CeedVectorDestroy(&rhs);
    CeedVectorDestroy(&u);
    problem_destroy(&problem);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(facets_of_lines_and_of_the_plane_have_their_measure) {
  const Monomial one = {{0}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt dim = 1; dim <= 2; dim++) {
    for (int split = 0; split < dim; split++) {
      RitzMesh mesh = NULL, box = NULL;
      double found = 0;

      CHECK_OK(RitzMeshCreateBox(ceed, dim, (const CeedInt[]){3, 2}, NULL, (const double[]){2, 3}, 1, NULL,
                                 NULL, &box));
      if (split)
        CHECK_OK(RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &mesh));
      else
        CHECK_OK(RitzMeshReferenceCopy(box, &mesh));
      Problem problem = make_problem(ceed, mesh, PROBLEM_POISSON, 3, 1, &unit);
      CeedVector rhs = make_vector(&problem), ones = make_vector(&problem);

      CHECK_OK(CeedVectorSetValue(ones, 1));
      CHECK_OK(problem_add_boundary(&problem, "test", "xmax", monomial, &one, rhs));
      CHECK_OK(RitzVectorDot(rhs, ones, &found));
      CHECK_NEAR(found, dim == 1 ? 1.0 : 3.0, 100 * CEED_EPSILON, "dimension %d", dim);
      CeedVectorDestroy(&rhs);
      CeedVectorDestroy(&ones);
      problem_destroy(&problem);
      RitzMeshDestroy(&mesh);
      RitzMeshDestroy(&box);
    }
  }
  CeedDestroy(&ceed);
}

TEST(areas_of_bent_facets_do_not_depend_on_the_mesh) {
  const Monomial one = {{0}};
  double area[2] = {0};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int level = 0; level < 2; level++) {
    RitzMesh coarse = make_box(ceed, CEED_TOPOLOGY_HEX, 2), mesh = NULL;

    CHECK_OK(RitzMeshRefine(coarse, level, &mesh));
    Problem problem = make_problem(ceed, mesh, PROBLEM_POISSON, 4, 1, &unit);
    CeedVector rhs = make_vector(&problem), ones = make_vector(&problem);
    CHECK_OK(CeedVectorSetValue(ones, 1));
    CHECK_OK(problem_add_boundary(&problem, "test", "all", monomial, &one, rhs));
    CHECK_OK(RitzVectorDot(rhs, ones, &area[level]));
    CeedVectorDestroy(&rhs);
    CeedVectorDestroy(&ones);
    problem_destroy(&problem);
    RitzMeshDestroy(&mesh);
    RitzMeshDestroy(&coarse);
  }
  // The root in the ratio of areas is no polynomial: quadrature converges fast, but is not exact.
  CHECK_NEAR(area[0], area[1], fmax(1e-5, 200 * CEED_EPSILON), "of the whole surface");
  // By the map itself, with 20 x 20 points a face.
  CHECK_NEAR(area[1], 5.988646332162, fmax(1e-6, 200 * CEED_EPSILON), "of the whole surface");
  CeedDestroy(&ceed);
}

// Component n[0] of the normal times coordinate n[1], or, where that is negative, the square of the normal's
// distance from the unit sphere.
static double of_normal(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const int *which = ctx;
  const double *n = &point->x[PROBLEM_NORMAL];
  const double excess = n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1;

  (void)component;
  return which[1] < 0 ? excess * excess : n[which[0]] * point->x[which[1]];
}

static double integrate(Problem *problem, bool on_boundary, ProblemFunction f, const void *ctx) {
  CeedVector rhs = make_vector(problem), ones = make_vector(problem);
  double sum = 0;

  must(CeedVectorSetValue(ones, 1));
  must(on_boundary ? problem_add_boundary(problem, "test", "all", f, ctx, rhs)
                   : problem_add_source(problem, "test", f, ctx, rhs));
  must(RitzVectorDot(rhs, ones, &sum));
  CeedVectorDestroy(&rhs);
  CeedVectorDestroy(&ones);
  return sum;
}

// The theorem of divergence: the integral of x_a n_b over the surface is the volume where a = b, else 0.
static void check_normals(Ceed ceed, RitzMesh mesh, const char *what) {
  const Monomial one = {{0}};
  Problem problem = make_problem(ceed, mesh, PROBLEM_POISSON, 3, 1, &unit);
  const double volume = integrate(&problem, false, monomial, &one);

  for (int a = 0; a < problem.dim; a++) {
    for (int b = 0; b < problem.dim; b++) {
      CHECK_NEAR(integrate(&problem, true, of_normal, (const int[]){b, a}), a == b ? volume : 0,
                 1000 * CEED_EPSILON, "%s: x%d n%d", what, a, b);
    }
  }
  CHECK_NEAR(integrate(&problem, true, of_normal, (const int[]){0, -1}), 0, 1000 * CEED_EPSILON, "%s: |n|",
             what);
  problem_destroy(&problem);
}

TEST(normals_are_those_of_the_divergence_theorem) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt order = 1; order <= 2; order++) {
    for (int s = 0; s < NUM_SHAPES; s++) {
      RitzMesh mesh = make_box(ceed, shapes[s], order);

      check_normals(ceed, mesh, order == 1 ? "straight solids" : "bent solids");
      RitzMeshDestroy(&mesh);
    }
  }
  for (int s = 0; s < 2; s++) {
    RitzMesh mesh = make_rectangle(ceed, s ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_QUAD);

    check_normals(ceed, mesh, "the plane");
    RitzMeshDestroy(&mesh);
  }
  RitzMesh line = NULL;
  CHECK_OK(RitzMeshCreateBox(ceed, 1, (const CeedInt[]){3}, NULL, (const double[]){2}, 1, NULL, NULL, &line));
  check_normals(ceed, line, "a line");
  RitzMeshDestroy(&line);
  CeedDestroy(&ceed);
}

// ---- Robin's condition ----

// A solution: its value, gradient and minus its Laplacian at a point.
typedef struct {
  double u, gradient[3], source;
} Known;
typedef Known (*KnownFunction)(const double *x);

static Known quadratic_solution(const double *x) {
  return (Known){x[0] * x[0] + 2 * x[1] - x[0] * x[1], {2 * x[0] - x[1], 2 - x[0], 0}, -2};
}

static Known linear_solution(const double *x) { return (Known){1 + x[0] - 2 * x[1], {1, -2, 0}, 0}; }

static Known wave_solution(const double *x) {
  const double u = sin(2 * x[0] + 1) * exp(x[1]);

  return (Known){u, {2 * cos(2 * x[0] + 1) * exp(x[1]), u, 0}, 3 * u};
}

static double alpha(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  (void)component;
  return 2 + point->x[0];
}

static double known_value(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)component;
  return (*(const KnownFunction *)ctx)(point->x).u;
}

static double known_source(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)component;
  return (*(const KnownFunction *)ctx)(point->x).source;
}

// alpha value = alpha u + du/dn
static double known_robin(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const Known known = (*(const KnownFunction *)ctx)(point->x);
  double sum = alpha(NULL, point, component) * known.u;

  for (int d = 0; d < 3; d++) sum += known.gradient[d] * point->x[PROBLEM_NORMAL + d];
  return sum;
}

static const ProblemRobin robin_all = {"test", "all", alpha, NULL};

static Problem make_robin(Ceed ceed, RitzMesh mesh, CeedInt order) {
  const ProblemOptions options = {.kind = PROBLEM_POISSON,
                                  .order = order,
                                  .num_materials = 1,
                                  .materials = &unit,
                                  .num_robin = 1,
                                  .robin = &robin_all};

  return open_problem(ceed, mesh, &options);
}

static CeedVector make_robin_loads(const Problem *problem, KnownFunction known) {
  CeedVector rhs = make_vector(problem);

  must(problem_add_source(problem, "test", known_source, &known, rhs));
  must(problem_add_boundary(problem, "test", "all", known_robin, &known, rhs));
  return rhs;
}

static void check_robin(Ceed ceed, RitzMesh mesh, CeedInt order, KnownFunction known, const char *what) {
  Problem problem = make_robin(ceed, mesh, order);
  CeedVector u = make_vector(&problem), residual = make_robin_loads(&problem, known);
  CeedVector product = make_vector(&problem);
  CeedScalar norm = 0, size = 0;

  CHECK_OK(problem_set_nodes(&problem, "test", known_value, &known, -1, 0, NULL, u));
  CHECK_OK(CeedVectorNorm(residual, CEED_NORM_MAX, &size));
  CHECK_OK(CeedOperatorApply(problem.op.whole, u, product, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorAXPY(residual, -1, product));
  CHECK_OK(CeedVectorNorm(residual, CEED_NORM_MAX, &norm));
  CHECK(size > 0.01 && norm < 1000 * CEED_EPSILON, "%s: residual %g beside loads of %g", what, (double)norm,
        (double)size);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&residual);
  CeedVectorDestroy(&product);
  problem_destroy(&problem);
}

TEST(robins_condition_holds_exactly_for_functions_of_the_space) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    for (CeedInt order = 1; order <= 2; order++) {
      RitzMesh mesh = make_box(ceed, shapes[s], order);

      // Quadratic functions of the position are none of degree 2 on bent elements.
      if (order == 1)
        check_robin(ceed, mesh, 2, quadratic_solution, "straight solids");
      else if (shapes[s] == CEED_TOPOLOGY_HEX) // elsewhere quadrature within is not exact
        check_robin(ceed, mesh, 2, linear_solution, "bent solids");
      RitzMeshDestroy(&mesh);
    }
  }
  for (int s = 0; s < 2; s++) {
    RitzMesh mesh = make_rectangle(ceed, s ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_QUAD);

    check_robin(ceed, mesh, 2, quadratic_solution, "the plane");
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// 1^T A 1 is the integral of alpha, 2.5 an area on the mean.
TEST(levels_of_multigrid_have_robins_condition) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    RitzMesh mesh = make_box(ceed, shapes[s], 1), fine = NULL;
    CHECK_OK(RitzMeshRefine(mesh, 1, &fine));
    Problem problem = make_robin(ceed, fine, 2);

    for (int level = 0; level < 3; level++) {
      RitzSpace space = NULL;
      CeedOperator op = NULL;
      CeedVector ones = NULL, product = NULL;
      CeedSize size = 0;
      double sum = 0;

      CHECK_OK(RitzSpaceCreate(level == 2 ? mesh : fine, level == 0 ? 2 : 1, 1, &space));
      CHECK_OK(problem_create_level(&problem, space, &op));
      CHECK_OK(RitzSpaceGetSize(space, &size));
      CHECK_OK(CeedVectorCreate(ceed, size, &ones));
      CHECK_OK(CeedVectorCreate(ceed, size, &product));
      CHECK_OK(CeedVectorSetValue(ones, 1));
      CHECK_OK(CeedOperatorApply(op, ones, product, CEED_REQUEST_IMMEDIATE));
      CHECK_OK(RitzVectorDot(ones, product, &sum));
      CHECK_NEAR(sum, 2.5 * 6, 2000 * CEED_EPSILON, "shape %d, level %d", s, level);
      CeedVectorDestroy(&ones);
      CeedVectorDestroy(&product);
      CeedOperatorDestroy(&op);
      RitzSpaceDestroy(&space);
    }
    problem_destroy(&problem);
    RitzMeshDestroy(&fine);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

static int wave_of_norms(void *ctx, const double *x, double *values, double *gradients) {
  const Known known = wave_solution(x);

  (void)ctx;
  values[0] = known.u;
  for (int d = 0; d < 2; d++) gradients[d] = known.gradient[d];
  return 0;
}

static int bend_plane(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  (void)dim;
  x[0] = X[0] + 0.1 * X[1] * (1 - X[1]);
  x[1] = X[1] - 0.2 * X[0] * X[0];
  return 0;
}

// L2 norm of the error of the solution on n x n bent elements.
static double error_of_robin(Ceed ceed, CeedInt n, CeedInt order) {
  RitzMesh mesh = NULL;
  RitzGeometry geometry = NULL;
  RitzSolver solver = NULL;
  double l2 = 0, h1 = 0;

  must(RitzMeshCreateBox(ceed, 2, (const CeedInt[]){n, n}, NULL, NULL, 2, bend_plane, NULL, &mesh));
  Problem problem = make_robin(ceed, mesh, order);
  CeedVector u = make_vector(&problem), rhs = make_robin_loads(&problem, wave_solution);

  must(RitzSolverCreateCG(ceed, &solver));
  must(RitzSolverSetOperator(solver, problem.op.whole));
  must(RitzSolverSetTolerances(solver, fmax(1e-11, 2 * CEED_EPSILON), 0, 2000));
  must(RitzSolverSolve(solver, rhs, u));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryGetErrorNorms(geometry, ceed, problem.space, u, 0, wave_of_norms, NULL, &l2, &h1));
  RitzSolverDestroy(&solver);
  RitzGeometryDestroy(&geometry);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&rhs);
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  return l2;
}

TEST(errors_with_robins_condition_on_bent_elements_have_their_order) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (CeedInt p = 1; p <= (sizeof(CeedScalar) == 8 ? 3 : 1); p++) {
    const double order = log2(error_of_robin(ceed, 4, p) / error_of_robin(ceed, 8, p));

    CHECK(order > p + 0.7 && order < p + 1.5, "degree %d: order %g", (int)p, order);
  }
  CeedDestroy(&ceed);
}

// ---- Patch tests ----

// Displacement u = B x, and the tractions sigma n = S n of a face.
static const double B[3][3] = {{0.3, 0.1, -0.2}, {0.05, -0.4, 0.3}, {0.2, 0.15, 0.25}};

static double linear_field(const void *ctx, const ProblemPoint *point, CeedInt c) {
  (void)ctx;
  return B[c][0] * point->x[0] + B[c][1] * point->x[1] + B[c][2] * point->x[2];
}

typedef struct {
  double values[3];
} Constant;

static double constant_field(const void *ctx, const ProblemPoint *point, CeedInt c) {
  (void)point;
  return ((const Constant *)ctx)->values[c];
}

static double stress(CeedInt dim, double young, double nu, int c, int d) {
  const double lambda = young * nu / ((1 + nu) * (1 - 2 * nu)), mu = young / (2 * (1 + nu));
  double trace = 0;

  for (CeedInt i = 0; i < dim; i++) trace += B[i][i];
  return mu * (B[c][d] + B[d][c]) + (c == d ? lambda * trace : 0);
}

static void check_patch(Ceed ceed, RitzMesh mesh, CeedInt order, const char *what) {
  static const char *const names[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
  const ProblemMaterial material = {.young = 2, .poisson = 0.2};
  Problem problem = make_problem(ceed, mesh, PROBLEM_ELASTICITY, order, 1, &material);
  CeedVector u = make_vector(&problem), loads = make_vector(&problem), forces = make_vector(&problem);
  CeedScalar norm = 0, size = 0;

  for (CeedInt side = 0; side < 2 * problem.dim; side++) {
    Constant traction = {{0}};

    for (CeedInt c = 0; c < problem.dim; c++)
      traction.values[c] = (side % 2 ? 1 : -1) * stress(problem.dim, 2, 0.2, c, side / 2);
    CHECK_OK(problem_add_boundary(&problem, "test", names[side], constant_field, &traction, loads));
  }
  CHECK_OK(problem_set_nodes(&problem, "test", linear_field, NULL, -1, 0, NULL, u));
  CHECK_OK(CeedOperatorApply(problem.op.whole, u, forces, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorNorm(loads, CEED_NORM_MAX, &size));
  CHECK_OK(CeedVectorAXPY(forces, -1, loads));
  CHECK_OK(CeedVectorNorm(forces, CEED_NORM_MAX, &norm));
  CHECK(size > 0.01, "%s: loads of %g", what, (double)size);
  CHECK(norm < 1000 * CEED_EPSILON, "%s: forces out of balance by %g", what, (double)norm);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&loads);
  CeedVectorDestroy(&forces);
  problem_destroy(&problem);
}

TEST(linear_displacements_are_in_balance_with_constant_tractions_on_all_shapes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES; s++) {
    RitzMesh mesh = make_box(ceed, shapes[s], 1);
    check_patch(ceed, mesh, 2, "in space");
    RitzMeshDestroy(&mesh);
  }
  RitzMesh box = NULL, triangles = NULL;
  CHECK_OK(RitzMeshCreateBox(ceed, 2, (const CeedInt[]){2, 3}, NULL, NULL, 1, NULL, NULL, &box));
  CHECK_OK(RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &triangles));
  check_patch(ceed, box, 3, "in the plane");
  check_patch(ceed, triangles, 3, "in the plane, triangles");
  RitzMeshDestroy(&box);
  RitzMeshDestroy(&triangles);
  CeedDestroy(&ceed);
}

// ---- Materials ----

// A strip of two unit squares, regions 1 and 2.
static RitzMesh make_strip(Ceed ceed) {
  static const char text[] =
      "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 4 3\n2 3 1 2 5 4\nboundary\n0\n"
      "vertices\n6\n2\n0 0  1 0  2 0  0 1  1 1  2 1\n";
  char path[] = "/tmp/ritz-strip-XXXXXX";
  const int file = mkstemp(path);
  RitzMesh mesh = NULL;

  must(!(file >= 0 && write(file, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1));
  must(RitzMeshRead(ceed, path, &mesh));
  close(file);
  unlink(path);
  return mesh;
}

static double first_coordinate(const void *ctx, const ProblemPoint *point, CeedInt c) {
  (void)ctx;
  return c == 0 ? point->x[0] : 0;
}

static int quadratic(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = 1 + 3 * x[0] * x[0];
  return 0;
}

static double energy(Problem *problem, CeedOperator op) {
  CeedVector u = make_vector(problem), Au = make_vector(problem);
  double result = 0;

  must(problem_set_nodes(problem, "test", first_coordinate, NULL, -1, 0, NULL, u));
  must(CeedOperatorApply(op, u, Au, CEED_REQUEST_IMMEDIATE));
  must(RitzVectorDot(u, Au, &result));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&Au);
  return result;
}

// Of u = x: the integral of k, and of c x^2; with jumps of 10^4 and functions in one region.
TEST(regions_have_their_coefficients) {
  const int32_t regions[] = {1, 2};
  const ProblemMaterial materials[] = {
      {.num_regions = 1, .regions = &regions[0], .conductivity = {.value = 1e4}, .reaction = {.value = 6}},
      {.num_regions = 1,
       .regions = &regions[1],
       .conductivity = {.function = quadratic},
       .reaction = {.value = 3}}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_strip(ceed);
  Problem poisson = make_problem(ceed, mesh, PROBLEM_POISSON, 2, 2, materials);
  Problem heat = make_problem(ceed, mesh, PROBLEM_HEAT, 2, 2, materials);
  CeedOperator capacity = NULL;

  CHECK_NEAR(energy(&poisson, poisson.op.whole), 10008.0, 1e5 * CEED_EPSILON,
             "1e4 on [0,1], 1 + 3 x^2 on [1,2]");
  CHECK_OK(problem_create_capacity(&heat, &capacity));
  CHECK_NEAR(energy(&heat, capacity), 2.0 + 7.0, 1000 * CEED_EPSILON, "6 x^2, 3 x^2");
  CHECK_NEAR(energy(&heat, heat.op.whole), 10008.0 + 9.0, 1e5 * CEED_EPSILON, "both");
  CeedOperatorDestroy(&capacity);
  problem_destroy(&poisson);
  problem_destroy(&heat);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// Of u = (x, 0) without strain across: (lambda + 2 mu) times the area.
TEST(regions_have_their_moduli) {
  const int32_t regions[] = {1, 2};
  const ProblemMaterial materials[] = {
      {.num_regions = 1, .regions = &regions[0], .young = 1, .poisson = 0},
      {.num_regions = 1, .regions = &regions[1], .young = 1000, .poisson = 0.25}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_strip(ceed);
  Problem problem = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 1, 2, materials);

  CHECK_NEAR(energy(&problem, problem.op.whole), 1.0 + 1200.0, 1e4 * CEED_EPSILON, "1 + 400 + 2 * 400");
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(a_region_without_elements_is_refused) {
  const int32_t region = 7;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_strip(ceed);
  RitzGeometry geometry = NULL;
  RitzSpace space = NULL;
  CeedOperator op = NULL;
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .num_regions = 1, .regions = &region};

  CHECK_OK(RitzSpaceCreate(mesh, 1, 1, &space));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  options.space = space;
  CHECK_ERROR(ceed, RitzGeometryCreateOperator(geometry, ceed, &options, &op), CEED_ERROR_INCOMPATIBLE,
              "no element of the mesh is in the regions");
  options.regions = NULL;
  CHECK_ERROR(ceed, RitzGeometryCreateOperator(geometry, ceed, &options, &op), CEED_ERROR_INCOMPATIBLE,
              "whose numbers are NULL");
  options.num_regions = -1;
  CHECK_ERROR(ceed, RitzGeometryCreateOperator(geometry, ceed, &options, &op), CEED_ERROR_INCOMPATIBLE,
              "-1 regions");
  CHECK(!op, "an operator");
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Functions without energy ----

static void check_modes(Problem *problem, CeedInt num_fixed, const RitzFixedPart *fixed, CeedInt expected) {
  CeedVector image = make_vector(problem);
  RitzIndices constraints = NULL;
  ProblemModes modes;

  CHECK_OK(RitzSpaceCreateConstraints(problem->space, problem->ceed, num_fixed, fixed, &constraints));
  CHECK_OK(problem_create_modes(problem, problem->space, constraints, &modes));
  CHECK(modes.num == expected, "%d modes, not %d", modes.num, expected);
  for (CeedInt i = 0; i < modes.num; i++) {
    CeedVector mode = modes.vectors[i], copy = make_vector(problem);
    CeedScalar norm = 0;
    double product = 0;

    CHECK_OK(CeedOperatorApply(problem->op.whole, mode, image, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedVectorNorm(image, CEED_NORM_MAX, &norm));
    CHECK(norm < 1000 * CEED_EPSILON, "mode %d has forces up to %g", i, (double)norm);
    for (CeedInt j = 0; j <= i; j++) {
      CHECK_OK(RitzVectorDot(mode, modes.vectors[j], &product));
      CHECK_NEAR(product, i == j, 1000 * CEED_EPSILON, "modes %d and %d", i, j);
    }
    CHECK_OK(CeedVectorCopy(mode, copy));
    CHECK_OK(RitzVectorSetEntries(copy, constraints, 0));
    CHECK_OK(RitzVectorDot(mode, copy, &product));
    CHECK_NEAR(product, 1.0, 1000 * CEED_EPSILON, "mode %d vanishes where it is held", i);
    CeedVectorDestroy(&copy);
  }
  problem_destroy_modes(&modes);
  CeedVectorDestroy(&image);
  RitzIndicesDestroy(&constraints);
}

TEST(what_no_face_holds_has_no_energy) {
  const RitzFixedPart slides = {.part = "xmin", .num_comp = 1, .comp = {0}};
  const RitzFixedPart corner[] = {{.part = "xmin", .num_comp = 1, .comp = {0}},
                                  {.part = "ymin", .num_comp = 1, .comp = {1}},
                                  {.part = "zmin", .num_comp = 1, .comp = {2}}};
  const RitzFixedPart held = {.part = "zmax"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_box(ceed, CEED_TOPOLOGY_HEX, 1);
  Problem solid = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 2, 1, &unit);
  Problem heat = make_problem(ceed, mesh, PROBLEM_POISSON, 2, 1, &unit);
  Problem reacts = make_problem(ceed, mesh, PROBLEM_HELMHOLTZ, 2, 1, &unit);

  check_modes(&solid, 0, NULL, 6);
  check_modes(&solid, 1, &slides, 3); // two translations and the rotation about x
  check_modes(&solid, 2, corner, 1);
  check_modes(&solid, 3, corner, 0);
  check_modes(&solid, 1, &held, 0);
  check_modes(&heat, 0, NULL, 1);
  check_modes(&heat, 1, &held, 0);
  check_modes(&reacts, 0, NULL, 0);
  problem_destroy(&solid);
  problem_destroy(&heat);
  problem_destroy(&reacts);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Stresses ----

// s^2 = ((s00 - s11)^2 + (s11 - s22)^2 + (s22 - s00)^2) / 2 + 3 (s01^2 + s12^2 + s02^2)
// `num` bars of two cubes each, one beside the other with gaps between them, `left` and `right` their ends;
// elements are listed with all first cubes in front.
static RitzMesh make_bars(Ceed ceed, int num) {
  RitzMesh mesh = NULL;
  char path[] = "/tmp/ritz-bars-XXXXXX";
  const int number = mkstemp(path);
  FILE *file = number < 0 ? NULL : fdopen(number, "w");

  must(!file);
  fprintf(file, "MFEM mesh v1.0\ndimension\n3\nelements\n%d\n", 2 * num);
  for (int i = 0; i < 2 * num; i++) {
    const int v = 12 * (i % num) + 4 * (i / num);
    fprintf(file, "%d 5 %d %d %d %d %d %d %d %d\n", 1 + i % num, v, v + 4, v + 5, v + 1, v + 2, v + 6, v + 7,
            v + 3);
  }
  fprintf(file, "boundary\n%d\n", 2 * num);
  for (int i = 0; i < 2 * num; i++) {
    const int v = 12 * (i % num) + 8 * (i / num);
    fprintf(file, "%d 3 %d %d %d %d\n", 1 + i, v, v + 1, v + 3, v + 2);
  }
  fprintf(file, "vertices\n%d\n3\n", 12 * num);
  for (int i = 0; i < 12 * num; i++) {
    const int k = i % 12;
    fprintf(file, "%d %g %d\n", k / 4, 1.5 * (i / 12) + k % 2, k / 2 % 2);
  }
  must(fclose(file));
  must(RitzMeshRead(ceed, path, &mesh));
  unlink(path);
  return mesh;
}

TEST(every_piece_of_a_mesh_has_its_modes) {
  const RitzFixedPart ends[] = {{.part = "1"}, {.part = "2"}, {.part = "3"}};
  const RitzFixedPart slides = {.part = "1", .num_comp = 1, .comp = {0}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_bars(ceed, 3);
  Problem solid = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 2, 1, &unit);
  Problem scalar = make_problem(ceed, mesh, PROBLEM_POISSON, 2, 1, &unit);
  int64_t num = 0, *piece_of_elem = NULL;

  CHECK_OK(problem_find_pieces(ceed, mesh, &num, &piece_of_elem));
  CHECK(num == 3, "%d pieces", (int)num);
  for (int e = 0; e < 6; e++) CHECK(piece_of_elem[e] == e % 3, "element %d in %d", e, (int)piece_of_elem[e]);
  for (int held = 0; held <= 3; held++) {
    check_modes(&scalar, held, ends, 3 - held);
    check_modes(&solid, held, ends, 6 * (3 - held));
  }
  check_modes(&solid, 1, &slides, 6 + 6 + 3);
  free(piece_of_elem);
  problem_destroy(&solid);
  problem_destroy(&scalar);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(more_pieces_without_values_than_a_nullspace_can_have_are_refused) {
  const RitzFixedPart end = {.part = "1"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_bars(ceed, PROBLEM_MAX_MODES + 1);
  Problem scalar = make_problem(ceed, mesh, PROBLEM_POISSON, 1, 1, &unit);
  ProblemModes modes;

  CHECK_ERROR(ceed, problem_create_modes(&scalar, scalar.space, NULL, &modes), CEED_ERROR_UNSUPPORTED,
              "65 pieces that share no vertex");
  CHECK(modes.num == 0, "modes are left");
  check_modes(&scalar, 1, &end, PROBLEM_MAX_MODES);
  problem_destroy(&scalar);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// Components xx, yy, zz, xy, yz, xz of the stress that belongs to `field`, the same at all nodes.
static void check_stress(CeedElemTopology shape, ProblemFunction field,
                         const double expected[PROBLEM_STRESSES]) {
  const ProblemMaterial material = {.young = 2, .poisson = 0.2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const bool is_plane = shape == CEED_TOPOLOGY_QUAD || shape == CEED_TOPOLOGY_TRIANGLE;
  RitzMesh mesh = is_plane ? make_rectangle(ceed, shape) : make_box(ceed, shape, 1);
  Problem problem = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 2, 1, &material);
  CeedVector u = make_vector(&problem), found = NULL;
  const CeedScalar *array = NULL;
  RitzSpace space = NULL;
  CeedSize size = 0;

  CHECK_OK(problem_set_nodes(&problem, "test", field, NULL, -1, 0, NULL, u));
  CHECK_OK(problem_project_stress(&problem, u, &space, &found));
  CHECK_OK(RitzSpaceGetSize(space, &size));
  CHECK_OK(CeedVectorGetArrayRead(found, CEED_MEM_HOST, &array));
  // The projection is an iteration to 1e-10 or rounding of a matrix with a condition of some tens.
  for (CeedSize i = 0; i < size; i++)
    CHECK_NEAR((double)array[i], expected[i % PROBLEM_STRESSES], 1e-8 + 1000 * CEED_EPSILON, "%s: entry %d",
               CeedElemTopologies[shape], (int)i);
  CHECK_OK(CeedVectorRestoreArrayRead(found, &array));
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&found);
  RitzSpaceDestroy(&space);
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

TEST(stresses_of_linear_displacements_are_those_of_their_strain) {
  double space[PROBLEM_STRESSES], plane[PROBLEM_STRESSES] = {0};

  for (int c = 0; c < 3; c++) space[c] = stress(3, 2, 0.2, c, c);
  space[3] = stress(3, 2, 0.2, 0, 1), space[4] = stress(3, 2, 0.2, 1, 2), space[5] = stress(3, 2, 0.2, 0, 2);
  for (int c = 0; c < 2; c++) plane[c] = stress(2, 2, 0.2, c, c);
  plane[2] = 0.2 * (plane[0] + plane[1]); // what keeps the strain across the plane at zero
  plane[3] = stress(2, 2, 0.2, 0, 1);
  check_stress(CEED_TOPOLOGY_PRISM, linear_field, space);
  check_stress(CEED_TOPOLOGY_HEX, linear_field, space);
  check_stress(CEED_TOPOLOGY_QUAD, linear_field, plane);
}

static double rigid_motion(const void *ctx, const ProblemPoint *point, CeedInt c) {
  const double *x = point->x, turn[3] = {1 - 0.3 * x[1], 0.3 * x[0] - 0.2 * x[2] - 2, 0.2 * x[1]};

  (void)ctx;
  return turn[c];
}

TEST(rigid_motions_have_no_stress) {
  const double zeros[PROBLEM_STRESSES] = {0};

  check_stress(CEED_TOPOLOGY_TET, rigid_motion, zeros);
  check_stress(CEED_TOPOLOGY_TRIANGLE, rigid_motion, zeros);
}

TEST(von_mises_is_the_tension_of_a_bar_and_root_three_of_a_shear) {
  const double tension[PROBLEM_STRESSES] = {0, 5, 0, 0, 0, 0}, shear[PROBLEM_STRESSES] = {0, 0, 0, 0, 2, 0};
  const double pressure[PROBLEM_STRESSES] = {-7, -7, -7, 0, 0, 0},
               mixed[PROBLEM_STRESSES] = {3, -1, 2, 1, 2, -2};

  CHECK_NEAR(problem_von_mises(tension), 5.0, 1e-14, "a bar along y");
  CHECK_NEAR(problem_von_mises(shear), 2 * sqrt(3.0), 1e-14, "a shear of y and z");
  CHECK(problem_von_mises(pressure) == 0, "a pressure");
  // ((3+1)^2 + (-1-2)^2 + (2-3)^2) / 2 + 3 (1 + 4 + 4) = 40
  CHECK_NEAR(problem_von_mises(mixed), sqrt(40.0), 1e-14, "all components");
}

// ---- Sines ----

enum { NUM_WAVES = 1000 }; // half of them at (x, 1/2), the others at (x, 0)

// Every 64th, irregular numbers, and far away.
static double wave_position(int i) {
  if (i < 400) return (i - 200) / 64.0;
  return i < 490 ? (i - 445) * 0.123456789 : (i - 495) * 1023.25;
}

// The source at (x, 1/2) is sin(pi x), at (x, 0) it is cos(pi x): a = 1 and b = 1 / pi^2.
static void apply_sine_source(Ceed ceed, CeedVector x, CeedVector ones, CeedVector dx, CeedVector found) {
  const double pi = acos(-1.0);
  const SolveContext data = {
      .dim = 2, .space_dim = 2, .num_comp = 1, .amplitude = 1, .a = 1, .b = (CeedScalar)(1 / (pi * pi))};
  CeedVector in[] = {x, dx, ones}, out[] = {found};
  CeedQFunctionContext ctx = NULL;
  CeedQFunction qf = NULL;

  (void)solve_source, (void)solve_pressure, (void)solve_normal, (void)solve_ring, (void)solve_sine_errors,
      (void)solve_gradient; // the header's others
  must(CeedQFunctionContextCreate(ceed, &ctx));
  must(CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data));
  must(CeedQFunctionCreateInterior(ceed, 1, solve_sine_source, solve_sine_source_loc, &qf));
  must(CeedQFunctionAddInput(qf, "x", 2, CEED_EVAL_INTERP));
  must(CeedQFunctionAddInput(qf, "dx", 4, CEED_EVAL_GRAD));
  must(CeedQFunctionAddInput(qf, "weights", 1, CEED_EVAL_WEIGHT));
  must(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  must(CeedQFunctionSetContext(qf, ctx));
  must(CeedQFunctionApply(qf, NUM_WAVES, in, out));
  CeedQFunctionDestroy(&qf);
  CeedQFunctionContextDestroy(&ctx);
}

static CeedVector make_values(Ceed ceed, CeedInt num, const CeedScalar *values) {
  CeedVector vector = NULL;

  must(CeedVectorCreate(ceed, num, &vector));
  if (values) must(CeedVectorSetArray(vector, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)values));
  return vector;
}

static void check_waves(const CeedScalar *x, const CeedScalar *found) {
  const long double pi = acosl(-1.0L);

  for (int i = 0; i < NUM_WAVES; i++) {
    const long double angle = pi * fmodl(x[i], 2);
    const double expected = (double)(i < NUM_WAVES / 2 ? sinl(angle) : cosl(angle));
    // Less than 2 eps of the wave itself, the rest of products with pi, pi and 1 / pi^2.
    CHECK_NEAR((double)found[i], expected, 8 * CEED_EPSILON, "x = %g", (double)x[i]);
    if (i < NUM_WAVES / 2 && floor((double)x[i]) == (double)x[i])
      CHECK(found[i] == 0, "x = %g", (double)x[i]);
  }
}

TEST_EACH_BACKEND(sines_at_points_are_those_of_the_mathematical_library) {
  static CeedScalar x[2 * NUM_WAVES], dx[4 * NUM_WAVES], ones[NUM_WAVES];
  const CeedScalar *array = NULL;

  for (int i = 0; i < NUM_WAVES; i++) {
    x[i] = (CeedScalar)wave_position(i % (NUM_WAVES / 2));
    x[NUM_WAVES + i] = (CeedScalar)(i < NUM_WAVES / 2 ? 0.5 : 0);
    dx[i] = dx[3 * NUM_WAVES + i] = ones[i] = 1;
  }
  CeedVector at = make_values(ceed, 2 * NUM_WAVES, x), metric = make_values(ceed, 4 * NUM_WAVES, dx);
  CeedVector weights = make_values(ceed, NUM_WAVES, ones), found = make_values(ceed, NUM_WAVES, NULL);

  apply_sine_source(ceed, at, weights, metric, found);
  CHECK_OK(CeedVectorGetArrayRead(found, CEED_MEM_HOST, &array));
  check_waves(x, array);
  CHECK_OK(CeedVectorRestoreArrayRead(found, &array));
  CeedVectorDestroy(&at);
  CeedVectorDestroy(&metric);
  CeedVectorDestroy(&weights);
  CeedVectorDestroy(&found);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(boundary_integrals_are_exact_for_products_of_two_polynomials_of_the_degree,
            facets_of_lines_and_of_the_plane_have_their_measure,
            areas_of_bent_facets_do_not_depend_on_the_mesh,
            robins_condition_holds_exactly_for_functions_of_the_space,
            levels_of_multigrid_have_robins_condition,
            errors_with_robins_condition_on_bent_elements_have_their_order,
            normals_are_those_of_the_divergence_theorem,
            linear_displacements_are_in_balance_with_constant_tractions_on_all_shapes,
            regions_have_their_coefficients, regions_have_their_moduli, a_region_without_elements_is_refused,
            what_no_face_holds_has_no_energy, every_piece_of_a_mesh_has_its_modes,
            more_pieces_without_values_than_a_nullspace_can_have_are_refused,
            stresses_of_linear_displacements_are_those_of_their_strain, rigid_motions_have_no_stress,
            von_mises_is_the_tension_of_a_bar_and_root_three_of_a_shear,
            sines_at_points_are_those_of_the_mathematical_library));
}
