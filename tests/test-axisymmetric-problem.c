// SPDX-License-Identifier: BSD-2-Clause
// Bodies of revolution as `ritz solve` has them (cli/problem*.c): loads and motions of the whole body,
// solutions that are known, the same body in space, large displacements.
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/problem-kit.h"

static const double pi = 3.14159265358979323846;
static const ProblemMaterial material = {.conductivity = {.value = 2}, .young = 2, .poisson = 0.25};
static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_QUAD, CEED_TOPOLOGY_TRIANGLE};

// ---- Sections ----

// x from 1 to 2, of a tube.
static int tube(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + (d == 0);
  return 0;
}

// A quarter of a ring of radii 1 and 2: of a ball with a hole. The part ymin is the plane of symmetry, ymax
// the axis, to rounding.
static int shell(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  (void)dim;
  x[0] = (1 + X[0]) * cos(pi / 2 * X[1]);
  x[1] = (1 + X[0]) * sin(pi / 2 * X[1]);
  return 0;
}

static RitzMesh make_section(Ceed ceed, CeedElemTopology shape, CeedInt n, CeedInt order,
                             RitzMapFunction map) {
  RitzMesh quads = NULL, mesh = NULL;

  must(RitzMeshCreateBox(ceed, 2, (const CeedInt[]){n, n}, NULL, NULL, order, map, NULL, &quads));
  if (shape == CEED_TOPOLOGY_QUAD) return quads;
  must(RitzMeshSplit(quads, shape, &mesh));
  must(RitzMeshDestroy(&quads));
  return mesh;
}

static Problem make_problem(Ceed ceed, RitzMesh mesh, ProblemKind kind, int law, CeedInt order) {
  const ProblemOptions options = {.kind = kind,
                                  .law = (ProblemLaw)law,
                                  .is_axisymmetric = true,
                                  .order = order,
                                  .num_materials = 1,
                                  .materials = &material};

  return open_problem(ceed, mesh, &options);
}

// A ProblemFunction; ctx: its values.
static double constant(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)point;
  return ((const double *)ctx)[component];
}

// ---- Loads and motions ----

// The product with the motion or constant `values`.
static double along(const Problem *problem, CeedVector rhs, const double values[2]) {
  CeedVector u = make_vector(problem);
  double product = NAN;

  must(problem_set_nodes(problem, "test", constant, values, -1, 0, NULL, u));
  must(RitzVectorDot(rhs, u, &product));
  must(CeedVectorDestroy(&u));
  return product;
}

// Of a tube of radii 1 and 2 and height 1, whose section is a square.
TEST(loads_are_those_of_the_whole_body) {
  static const double x[] = {1, 0}, y[] = {0, 1}, load[] = {0.5, -3}, pressure[] = {0.7};
  const double volume = pi * (4 - 1), surface = 2 * volume + 2 * pi * (1 + 2);
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < 2; s++) {
    RitzMesh mesh = make_section(ceed, shapes[s], 2, 1, tube);
    Problem p = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 0, 2);
    CeedVector rhs = make_vector(&p);

    CHECK_OK(problem_add_source(&p, "test", constant, load, rhs));
    CHECK_NEAR(along(&p, rhs, x), 0.5 * volume, 1000 * CEED_EPSILON, "radial force");
    CHECK_NEAR(along(&p, rhs, y), -3 * volume, 1000 * CEED_EPSILON, "force along the axis");
    CHECK_OK(CeedVectorSetValue(rhs, 0));
    CHECK_OK(problem_add_boundary(&p, "test", "all", constant, load, rhs));
    CHECK_NEAR(along(&p, rhs, y), -3 * surface, 2000 * CEED_EPSILON, "traction");
    // What blows up a ring by u_x = 1 changes the volume by the surface outside without that inside.
    CHECK_OK(CeedVectorSetValue(rhs, 0));
    CHECK_OK(problem_add_pressure(&p, "test", "all", constant, pressure, rhs));
    CHECK_NEAR(along(&p, rhs, x), -0.7 * 2 * pi * (2 - 1), 1000 * CEED_EPSILON, "pressure");
    CHECK_NEAR(along(&p, rhs, y), 0, 1000 * CEED_EPSILON, "a pressure all around moves nothing");
    CeedVectorDestroy(&rhs);
    problem_destroy(&p);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

static double largest_force(const Problem *p, const double motion[2]) {
  CeedVector u = make_vector(p), forces = make_vector(p);
  CeedScalar norm = 0;

  must(problem_set_nodes(p, "test", constant, motion, -1, 0, NULL, u));
  must(CeedOperatorApply(p->op.whole, u, forces, CEED_REQUEST_IMMEDIATE));
  must(CeedVectorNorm(forces, CEED_NORM_MAX, &norm));
  must(CeedVectorDestroy(&u));
  must(CeedVectorDestroy(&forces));
  return (double)norm;
}

TEST_EACH_BACKEND(only_motions_along_the_axis_have_no_forces) {
  static const double x[] = {1, 0}, y[] = {0, 1};
  const RitzFixedPart floor_only = {.part = "ymin", .num_comp = 1, .comp = {1}};

  for (int s = 0; s < 2; s++) {
    RitzMesh mesh = make_section(ceed, shapes[s], 2, 2, shell);
    Problem p = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 0, 2);
    RitzIndices held = NULL;
    ProblemModes modes;

    CHECK(largest_force(&p, y) < 1000 * CEED_EPSILON, "shape %d: found a force of %g", s,
          largest_force(&p, y));
    CHECK(largest_force(&p, x) > 0.1, "shape %d: circles that stretch have no force", s);
    CHECK_OK(problem_create_modes(&p, p.space, NULL, &modes));
    CHECK(modes.num == 1, "%d motions without energy", (int)modes.num);
    problem_destroy_modes(&modes);
    CHECK_OK(RitzSpaceCreateConstraints(p.space, ceed, 1, &floor_only, &held));
    CHECK_OK(problem_create_modes(&p, p.space, held, &modes));
    CHECK(modes.num == 0, "%d motions without energy of a body that is held", (int)modes.num);
    problem_destroy_modes(&modes);
    RitzIndicesDestroy(&held);
    problem_destroy(&p);
    RitzMeshDestroy(&mesh);
  }
}

// ---- Known solutions ----

// Solves for u, whose entries on the parts have their values.
static int solve(const Problem *p, CeedInt num_fixed, const RitzFixedPart *fixed, CeedVector rhs,
                 CeedVector u) {
  RitzSolverReason reason = RITZ_ITERATING;
  RitzIndices constraints = NULL;
  CeedVector diagonal = make_vector(p);
  RitzSolver solver = NULL;

  must(RitzSpaceCreateConstraints(p->space, p->ceed, num_fixed, fixed, &constraints));
  must(problem_get_diagonal(&p->op, diagonal));
  must(RitzSolverCreateCG(p->ceed, &solver));
  must(RitzSolverSetJacobi(solver, diagonal));
  must(problem_set_operator(&p->op, solver, constraints));
  must(RitzSolverSetTolerances(solver, fmax(1e-12, 10 * CEED_EPSILON), 0, 5000));
  must(RitzSolverSolve(solver, rhs, u));
  must(RitzSolverGetReason(solver, &reason));
  must(RitzSolverDestroy(&solver));
  must(CeedVectorDestroy(&diagonal));
  must(RitzIndicesDestroy(&constraints));
  return reason > 0 ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// A problem without forces: a pressure of 1 inside, and parts with given values.
typedef struct {
  const char *name;
  ProblemKind kind;
  CeedInt geometry_order; // 0: that of the functions
  RitzMapFunction map;
  int num_fixed;
  RitzFixedPart fixed[3];
  RitzKnownFunction known;
  bool is_given; // on the parts, from the known solution
} Known;

// Lame's cylinder, of plane strain, with E = 2, nu = 1/4: u = A r + B / r (S. Timoshenko, J. Goodier, Theory
// of Elasticity, 1970, section 28).
static int thick_tube(void *ctx, const double *x, double *u, double *gradients) {
  (void)ctx;
  (void)gradients;
  u[0] = 1.25 / (2 * 3) * (0.5 * x[0] + 4 / x[0]);
  u[1] = 0;
  return 0;
}

// The hollow sphere: u = A R + B / R^2 along the radius R (the same, section 136).
static int thick_shell(void *ctx, const double *x, double *u, double *gradients) {
  const double R = hypot(x[0], x[1]), radial = (0.5 * R + 0.5 * 1.25 * 8 / (R * R)) / (2 * 7);

  (void)ctx;
  (void)gradients;
  for (int d = 0; d < 2; d++) u[d] = radial * x[d] / R;
  return 0;
}

static int logarithm(void *ctx, const double *x, double *u, double *gradients) {
  (void)ctx;
  (void)gradients;
  u[0] = 3 + log(x[0]);
  return 0;
}

static const Known solutions[] = {
    {"a tube under pressure",
     PROBLEM_ELASTICITY,
     1,
     tube,
     2,
     {{.part = "ymin", .num_comp = 1, .comp = {1}}, {.part = "ymax", .num_comp = 1, .comp = {1}}},
     thick_tube,
     false},
    {"a hollow sphere under pressure",
     PROBLEM_ELASTICITY,
     0,
     shell,
     2,
     {{.is_axis = true, .num_comp = 1, .comp = {0}}, {.part = "ymin", .num_comp = 1, .comp = {1}}},
     thick_shell,
     false},
    {"heat through a tube",
     PROBLEM_POISSON,
     1,
     tube,
     2,
     {{.part = "xmin"}, {.part = "xmax"}},
     logarithm,
     true}};
enum { NUM_SOLUTIONS = sizeof(solutions) / sizeof(solutions[0]) };

// A ProblemFunction; ctx: a Known.
static double known_value(const void *ctx, const ProblemPoint *point, CeedInt component) {
  double values[2];

  ((const Known *)ctx)->known(NULL, point->x, values, NULL);
  return values[component];
}

static int set_up(const Problem *p, const Known *k, CeedVector rhs, CeedVector u) {
  static const double one[] = {1};

  if (!k->is_given) return problem_add_pressure(p, "test", "xmin", constant, one, rhs);
  for (int i = 0; i < k->num_fixed; i++) {
    int64_t num = 0, *nodes = NULL;

    RITZ_TRY(RitzSpaceGetBoundaryNodes(p->space, k->fixed[i].part, &num, &nodes));
    const int ierr = problem_set_nodes(p, "test", known_value, k, -1, num, nodes, u);

    free(nodes);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

// The L2 error on n x n quadrilaterals or twice as many triangles.
static double error_of(Ceed ceed, const Known *k, CeedElemTopology shape, CeedInt n, CeedInt degree) {
  RitzMesh mesh = make_section(ceed, shape, n, k->geometry_order ? k->geometry_order : degree, k->map);
  Problem p = make_problem(ceed, mesh, k->kind, 0, degree);
  CeedVector rhs = make_vector(&p), u = make_vector(&p);
  RitzGeometry geometry = NULL;
  double error = NAN;

  must(set_up(&p, k, rhs, u));
  must(solve(&p, k->num_fixed, k->fixed, rhs, u));
  must(problem_get_geometry(&p, p.space, &geometry));
  must(RitzGeometryGetErrorNorms(geometry, ceed, p.space, u, 0, k->known, NULL, &error, NULL));
  must(CeedVectorDestroy(&rhs));
  must(CeedVectorDestroy(&u));
  problem_destroy(&p);
  must(RitzMeshDestroy(&mesh));
  return error;
}

TEST(errors_have_the_order_of_the_functions) {
  const int max_degree = sizeof(CeedScalar) == 8 ? 3 : 1; // in float rounding is more than errors of degree 2
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < NUM_SOLUTIONS; i++) {
    for (int s = 0; s < 2; s++) {
      for (CeedInt degree = 1; degree <= max_degree; degree++) {
        const double coarse = error_of(ceed, &solutions[i], shapes[s], 4, degree);
        const double fine = error_of(ceed, &solutions[i], shapes[s], 8, degree);

        // h^(degree + 1), not yet quite on such meshes
        CHECK(log2(coarse / fine) > degree + 0.7, "%s, shape %d, degree %d: %g, then %g", solutions[i].name,
              s, (int)degree, coarse, fine);
        CHECK(fine < 0.1 * pow(0.1, degree), "%s, shape %d, degree %d: %g", solutions[i].name, s, (int)degree,
              fine);
      }
    }
  }
  CeedDestroy(&ceed);
}

// ---- Stresses ----

// u = (-3/8 x, y/4): a pressure of 1 all around a cylinder, to whose axis the section reaches.
static double squeezed(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  return component ? point->x[1] / 4 : -3 * point->x[0] / 8;
}

TEST(stresses_have_that_of_circles) {
  static const double wanted[PROBLEM_STRESSES] = {-1, 0, -1, 0, 0, 0};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < 2; s++) {
    RitzMesh mesh = make_section(ceed, shapes[s], 2, 1, NULL);
    Problem p = make_problem(ceed, mesh, PROBLEM_ELASTICITY, 0, 2);
    CeedVector u = make_vector(&p), stress = NULL;
    RitzSpace space = NULL;
    const CeedScalar *found = NULL;
    CeedSize size = 0;

    CHECK_OK(problem_set_nodes(&p, "test", squeezed, NULL, -1, 0, NULL, u));
    CHECK_OK(problem_project_stress(&p, u, &space, &stress));
    CHECK_OK(CeedVectorGetLength(stress, &size));
    CHECK_OK(CeedVectorGetArrayRead(stress, CEED_MEM_HOST, &found));
    // The projection is solved to 1e-10, in float to ten times rounding, of masses small at the axis.
    for (CeedSize i = 0; i < size; i++)
      CHECK_NEAR(found[i], wanted[i % PROBLEM_STRESSES], fmax(1e-7, 1000 * CEED_EPSILON),
                 "shape %d, entry %d", s, (int)i);
    CHECK_OK(CeedVectorRestoreArrayRead(stress, &found));
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&stress);
    RitzSpaceDestroy(&space);
    problem_destroy(&p);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// ---- The same body in space ----

// A quarter of the tube: radius, angle, height.
static int quarter(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  (void)dim;
  x[0] = (1 + X[0]) * cos(pi / 2 * X[1]);
  x[1] = (1 + X[0]) * sin(pi / 2 * X[1]);
  x[2] = X[2];
  return 0;
}

// A force of (1 + z^2, r) along radius and axis.
static double force_in_section(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  return component ? point->x[0] : 1 + point->x[1] * point->x[1];
}

static double force_in_space(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const double *x = point->x, r = hypot(x[0], x[1]);

  (void)ctx;
  return component == 2 ? r : (1 + x[2] * x[2]) * x[component] / r;
}

// The work of the force on the displacement that it makes.
static double work(Problem *p, ProblemFunction force, CeedInt num_fixed, const RitzFixedPart *fixed) {
  CeedVector rhs = make_vector(p), u = make_vector(p);
  double product = NAN;

  must(problem_add_source(p, "test", force, NULL, rhs));
  must(solve(p, num_fixed, fixed, rhs, u));
  must(RitzVectorDot(rhs, u, &product));
  must(CeedVectorDestroy(&rhs));
  must(CeedVectorDestroy(&u));
  problem_destroy(p);
  return product;
}

TEST(a_quarter_in_space_is_a_quarter_of_the_body) {
  static const RitzFixedPart floor_of_section = {.part = "ymin"},
                             floor_and_symmetry[] = {{.part = "zmin"},
                                                     {.part = "ymin", .num_comp = 1, .comp = {1}},
                                                     {.part = "ymax", .num_comp = 1, .comp = {0}}};
  const CeedInt degree = 3;
  const ProblemOptions options = {
      .kind = PROBLEM_ELASTICITY, .order = degree, .num_materials = 1, .materials = &material};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh section = make_section(ceed, CEED_TOPOLOGY_QUAD, 2, 1, tube), solid = NULL;
  Problem p = make_problem(ceed, section, PROBLEM_ELASTICITY, 0, degree), in_space = {0};

  CHECK_OK(RitzMeshCreateBox(ceed, 3, (const CeedInt[]){2, 3, 2}, NULL, NULL, degree, quarter, NULL, &solid));
  CHECK_OK(problem_create(ceed, solid, &options, &in_space));
  const double wanted = work(&in_space, force_in_space, 3, floor_and_symmetry),
               found = work(&p, force_in_section, 1, &floor_of_section);

  // Map and functions of degree 3 on arcs of 30 degrees: h^6 / 6! with h of half an arc; float: of a solver.
  CHECK_NEAR(found / 4 / wanted, 1, fmax(1e-6, 2000 * CEED_EPSILON), "%.9g of the body, %.9g of a quarter",
             found, wanted);
  RitzMeshDestroy(&section);
  RitzMeshDestroy(&solid);
  CeedDestroy(&ceed);
}

// ---- Large displacements ----

// Stretches of radius, axis and circles.
static const double stretch[3] = {1.2, 0.85, 1.2};
enum { RADIUS, AXIS, CIRCLE };

static double stretched(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  return (stretch[component] - 1) * point->x[component];
}

// P n - p cof(F) n, with P = ctx[0], ctx[1] along radius and axis and p = ctx[2].
static double traction(const void *ctx, const ProblemPoint *point, CeedInt c) {
  const double *P = ctx, area = stretch[c == RADIUS ? AXIS : RADIUS] * stretch[CIRCLE];

  return (P[c] + P[2] * area) * point->x[PROBLEM_NORMAL + c];
}

static CeedQFunctionContext make_pressure(Problem *problem, double pressure) {
  CeedQFunctionContext context = NULL;

  must(CeedQFunctionContextCreate(problem->ceed, &context));
  must(problem_set_pressure(context, pressure));
  must(problem_add_follower(problem, "all", context));
  return context;
}

// Cauchy's stress times cof(F), which is diagonal here.
static void get_piola(const Problem *p, double P[2]) {
  CeedScalar H[3][3] = {{0}}, stress[PROBLEM_STRESSES];

  for (int i = 0; i < 3; i++) H[i][i] = (CeedScalar)(stretch[i] - 1);
  problem_get_stress(&p->options, &material, (const CeedScalar(*)[3])H, stress);
  P[RADIUS] = (double)stress[0] * stretch[AXIS] * stretch[CIRCLE];
  P[AXIS] = (double)stress[1] * stretch[RADIUS] * stretch[CIRCLE];
}

TEST(stretched_cylinders_are_in_balance_with_tractions_and_pressure) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4; i++) {
    RitzMesh mesh = make_section(ceed, shapes[i / 2], 2, 1, NULL);
    Problem p = make_problem(ceed, mesh, PROBLEM_HYPERELASTICITY, i % 2, 2);
    CeedQFunctionContext context = make_pressure(&p, 0.7);
    CeedVector u = make_vector(&p), forces = make_vector(&p), loads = make_vector(&p);
    CeedScalar norm = 0;
    double P[3] = {0, 0, 0.7};

    get_piola(&p, P);
    CHECK_OK(problem_set_nodes(&p, "test", stretched, NULL, -1, 0, NULL, u));
    CHECK_OK(CeedOperatorApply(p.op.whole, u, forces, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(problem_add_boundary(&p, "test", "all", traction, P, loads));
    CHECK_OK(CeedVectorAXPY(forces, -1, loads));
    CHECK_OK(CeedVectorNorm(forces, CEED_NORM_MAX, &norm));
    CHECK(norm < 1000 * CEED_EPSILON, "shape %d, law %d: forces out of balance by %g", i / 2, i % 2,
          (double)norm);
    CeedQFunctionContextDestroy(&context);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&forces);
    CeedVectorDestroy(&loads);
    problem_destroy(&p);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// Displacements that are no stretch, nothing on the axis.
static double twisted(const void *ctx, const ProblemPoint *point, CeedInt component) {
  const double *x = point->x;

  (void)ctx;
  return component ? 0.1 * x[0] * x[0] - 0.05 * x[1] : 0.2 * x[0] * (1 + x[1]);
}

TEST_EACH_BACKEND(jacobians_are_the_derivatives) {
  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C");
  for (int law = 0; law < 2; law++) {
    RitzMesh mesh = make_section(ceed, shapes[law], 2, 1, NULL);
    Problem p = make_problem(ceed, mesh, PROBLEM_HYPERELASTICITY, law, 2);
    CeedQFunctionContext context = make_pressure(&p, 0.7);
    CeedVector u = make_vector(&p);
    CeedOperator jacobian = NULL;
    RitzDerivativeCheck check = {.order = 0};

    CHECK_OK(problem_set_nodes(&p, "test", twisted, NULL, -1, 0, NULL, u));
    CHECK_OK(RitzOperatorCreateDerivative(p.op.whole, u, &jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(p.op.whole, u, jacobian, 0.01, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "law %d", law);
    CeedOperatorDestroy(&jacobian);
    CeedQFunctionContextDestroy(&context);
    CeedVectorDestroy(&u);
    problem_destroy(&p);
    RitzMeshDestroy(&mesh);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(loads_are_those_of_the_whole_body, only_motions_along_the_axis_have_no_forces,
                        errors_have_the_order_of_the_functions, stresses_have_that_of_circles,
                        a_quarter_in_space_is_a_quarter_of_the_body,
                        stretched_cylinders_are_in_balance_with_tractions_and_pressure,
                        jacobians_are_the_derivatives));
}
