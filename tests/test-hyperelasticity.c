// SPDX-License-Identifier: BSD-2-Clause
// Laws of large displacements as `ritz solve` has them (cli/problem-law.c): mechanics of the stress at a
// point, patch tests and rigid motions of operators on all shapes, their derivatives.
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "tests/problem-kit.h"

enum { NUM_LAWS = 2 };
static const char *const laws[NUM_LAWS] = {"neo-Hookean", "Saint Venant-Kirchhoff"};
static const ProblemMaterial material = {.young = 2, .poisson = 0.2};

// ---- At a point ----

typedef double Matrix[3][3];

static void multiply(Matrix a, Matrix b, Matrix c) {
  for (int i = 0; i < 9; i++) {
    const int r = i / 3, s = i % 3;
    c[r][s] = a[r][0] * b[0][s] + a[r][1] * b[1][s] + a[r][2] * b[2][s];
  }
}

static void transpose(Matrix a, Matrix b) {
  for (int i = 0; i < 9; i++) b[i % 3][i / 3] = a[i / 3][i % 3];
}

static double cofactor(Matrix a, int i, int j) {
  const int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;

  return a[k][m] * a[l][n] - a[k][n] * a[l][m];
}

static double determinant(Matrix a) {
  return a[0][0] * cofactor(a, 0, 0) + a[0][1] * cofactor(a, 0, 1) + a[0][2] * cofactor(a, 0, 2);
}

// Cauchy's stress of F; law < 0: of linear elasticity.
static void get_stress(int law, Matrix F, Matrix sigma) {
  static const int places[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  const ProblemOptions options = {.kind = law < 0 ? PROBLEM_ELASTICITY : PROBLEM_HYPERELASTICITY,
                                  .law = law < 0 ? PROBLEM_NEO_HOOKEAN : (ProblemLaw)law};
  CeedScalar H[3][3], stress[PROBLEM_STRESSES];

  for (int i = 0; i < 9; i++) H[i / 3][i % 3] = (CeedScalar)(F[i / 3][i % 3] - (i / 3 == i % 3));
  problem_get_stress(&options, &material, (const CeedScalar(*)[3])H, stress);
  for (int c = 0; c < 6; c++)
    sigma[places[c][0]][places[c][1]] = sigma[places[c][1]][places[c][0]] = stress[c];
}

// Piola's stress, sigma cof(F).
static void get_piola(int law, Matrix F, Matrix P) {
  Matrix sigma, c;

  get_stress(law, F, sigma);
  for (int i = 0; i < 9; i++) c[i / 3][i % 3] = cofactor(F, i / 3, i % 3);
  multiply(sigma, c, P);
}

static void random_deformation(uint64_t *state, double size, Matrix F) {
  for (int i = 0; i < 9; i++)
    F[i / 3][i % 3] = (i / 3 == i % 3) + size * ((double)tap_integer(state, 2001) / 1000 - 1);
}

// Of the angles a, b, c about the axes, one after the other.
static void rotation(double a, double b, double c, Matrix R) {
  Matrix x = {{1, 0, 0}, {0, cos(a), -sin(a)}, {0, sin(a), cos(a)}};
  Matrix y = {{cos(b), 0, sin(b)}, {0, 1, 0}, {-sin(b), 0, cos(b)}};
  Matrix z = {{cos(c), -sin(c), 0}, {sin(c), cos(c), 0}, {0, 0, 1}}, xy;

  multiply(x, y, xy);
  multiply(xy, z, R);
}

static double largest_difference(Matrix a, Matrix b) {
  double largest = 0;

  for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(a[i / 3][i % 3] - b[i / 3][i % 3]));
  return largest;
}

TEST(stress_turns_with_the_body) {
  uint64_t state = 3;
  Matrix R, Rt, F, RF, found, wanted, sigma, half;

  rotation(0.7, -1.2, 2.5, R);
  transpose(R, Rt);
  for (int i = 0; i < 20 * NUM_LAWS; i++) {
    random_deformation(&state, 0.3, F);
    multiply(R, F, RF);
    get_stress(i % NUM_LAWS, F, sigma);
    multiply(R, sigma, half);
    multiply(half, Rt, wanted);
    get_stress(i % NUM_LAWS, RF, found);
    // Entries of some units, of products of some factors.
    CHECK_NEAR(largest_difference(found, wanted), 0, 1000 * CEED_EPSILON, "%s", laws[i % NUM_LAWS]);
  }
}

TEST(rotations_have_no_stress) {
  Matrix zero = {{0}}, R, sigma;

  for (int law = 0; law < NUM_LAWS; law++) {
    rotation(2, 0.3, -1, R);
    get_stress(law, R, sigma);
    CHECK_NEAR(largest_difference(sigma, zero), 0, 50 * CEED_EPSILON, "%s", laws[law]);
  }
}

// The strain energies of the literature, with E = 2, nu = 0.2.
static double energy(int law, Matrix F) {
  const double lambda = 2 * 0.2 / (1.2 * 0.6), mu = 2 / 2.4, log_J = log(determinant(F));
  Matrix Ft, C;
  double square = 0, trace_C;

  transpose(F, Ft);
  multiply(Ft, F, C);
  trace_C = C[0][0] + C[1][1] + C[2][2];
  if (law == PROBLEM_NEO_HOOKEAN) return mu / 2 * (trace_C - 3) - mu * log_J + lambda / 2 * log_J * log_J;
  for (int i = 0; i < 9; i++) square += pow((C[i / 3][i % 3] - (i / 3 == i % 3)) / 2, 2);
  return lambda / 2 * pow((trace_C - 3) / 2, 2) + mu * square;
}

TEST(stress_is_the_derivative_of_the_energy) {
  const double h = 1e-5; // errors of h^2, and of eps / h
  uint64_t state = 7;
  Matrix F, P;

  for (int i = 0; i < 10 * NUM_LAWS; i++) {
    const int law = i % NUM_LAWS;

    random_deformation(&state, 0.3, F);
    get_piola(law, F, P);
    for (int k = 0; k < 9; k++) {
      double *entry = &F[k / 3][k % 3], value = *entry;
      *entry = value + h;
      double slope = energy(law, F);
      *entry = value - h;
      slope = (slope - energy(law, F)) / (2 * h);
      *entry = value;
      CHECK_NEAR(P[k / 3][k % 3], slope, fmax(1e-8, 1000 * CEED_EPSILON), "%s", laws[law]);
    }
  }
}

TEST(small_strains_have_the_stress_of_linear_elasticity_with_all_digits) {
  const double size = sizeof(CeedScalar) == 8 ? 1e-9 : 1e-4;
  Matrix F, found, wanted;

  for (int law = 0; law < NUM_LAWS; law++) {
    // F - 1 is exact here; products of strains count as much as size.
    for (int i = 0; i < 9; i++) F[i / 3][i % 3] = (i / 3 == i % 3) + ldexp((i + 1) % 5 - 2, -30);
    if (sizeof(CeedScalar) == 4) random_deformation(&(uint64_t){5}, size, F);
    get_stress(law, F, found);
    get_stress(-1, F, wanted);
    CHECK_NEAR(largest_difference(found, wanted), 0, 50 * size * size + 20 * CEED_EPSILON * size, "%s",
               laws[law]);
  }
}

// A plate that is pulled along x: nothing across it, nor along y with the strain -nu of its edges.
TEST(plane_stress_is_that_of_a_pulled_plate) {
  const ProblemOptions options = {.kind = PROBLEM_ELASTICITY, .is_plane_stress = true};
  const CeedScalar H[3][3] = {{(CeedScalar)0.5, 0, 0}, {0, (CeedScalar)-0.1, 0}, {0, 0, 0}};
  CeedScalar stress[PROBLEM_STRESSES];

  problem_get_stress(&options, &material, H, stress);
  for (int c = 0; c < PROBLEM_STRESSES; c++)
    CHECK_NEAR(stress[c], c == 0 ? 2 * 0.5 : 0, 10 * CEED_EPSILON, "component %d", c);
}

// ---- Operators ----

static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_HEX, CEED_TOPOLOGY_PRISM, CEED_TOPOLOGY_PYRAMID,
                                          CEED_TOPOLOGY_TET};
enum { NUM_SHAPES = 4 };

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.1 * X[(d + 1) % dim] * X[(d + 2) % dim];
  return 0;
}

static RitzMesh make_box(Ceed ceed, CeedInt dim, CeedElemTopology shape, CeedInt order) {
  RitzMesh box = NULL, mesh = NULL;

  must(RitzMeshCreateBox(ceed, dim, (const CeedInt[]){2, 1, 2}, NULL, NULL, order, order > 1 ? bend : NULL,
                         NULL, &box));
  if (shape == CEED_TOPOLOGY_HEX || shape == CEED_TOPOLOGY_QUAD) return box;
  must(RitzMeshSplit(box, shape, &mesh));
  must(RitzMeshDestroy(&box));
  return mesh;
}

static Problem make_problem(Ceed ceed, RitzMesh mesh, int law, CeedInt order) {
  const ProblemOptions options = {.kind = PROBLEM_HYPERELASTICITY,
                                  .law = (ProblemLaw)law,
                                  .order = order,
                                  .num_materials = 1,
                                  .materials = &material};

  return open_problem(ceed, mesh, &options);
}

// u = (F - 1) x + (1, 2, 3), ctx: F.
static double affine(const void *ctx, const ProblemPoint *point, CeedInt c) {
  const double *F = ctx;
  double u = c + 1 - point->x[c];

  for (int d = 0; d < 3; d++) u += F[3 * c + d] * point->x[d];
  return u;
}

// The traction P n, ctx: P.
static double traction(const void *ctx, const ProblemPoint *point, CeedInt c) {
  const double *P = ctx;
  double sum = 0;

  for (int d = 0; d < 3; d++) sum += P[3 * c + d] * point->x[PROBLEM_NORMAL + d];
  return sum;
}

// Forces of the deformation F beside those of its tractions on all of the boundary.
static void check_balance(Ceed ceed, RitzMesh mesh, int law, Matrix F, const char *what) {
  Problem problem = make_problem(ceed, mesh, law, 2);
  CeedVector u = make_vector(&problem), forces = make_vector(&problem), loads = make_vector(&problem);
  CeedScalar norm = 0;
  Matrix P;

  get_piola(law, F, P);
  CHECK_OK(problem_set_nodes(&problem, "test", affine, F, -1, 0, NULL, u));
  CHECK_OK(CeedOperatorApply(problem.op.whole, u, forces, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(problem_add_boundary(&problem, "test", "all", traction, P, loads));
  CHECK_OK(CeedVectorAXPY(forces, -1, loads));
  CHECK_OK(CeedVectorNorm(forces, CEED_NORM_MAX, &norm));
  CHECK(norm < 1000 * CEED_EPSILON, "%s, %s: forces out of balance by %g", laws[law], what, (double)norm);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&forces);
  CeedVectorDestroy(&loads);
  problem_destroy(&problem);
}

TEST(affine_deformations_are_in_balance_with_their_tractions) {
  Matrix space = {{1.2, 0.1, -0.2}, {0.05, 0.9, 0.3}, {0.2, 0.15, 1.25}};
  Matrix plane = {{1.2, 0.1, 0}, {0.05, 0.9, 0}, {0, 0, 1}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int law = 0; law < NUM_LAWS; law++) {
    for (int s = 0; s < NUM_SHAPES; s++) {
      RitzMesh mesh = make_box(ceed, 3, shapes[s], 1);
      check_balance(ceed, mesh, law, space, "solids");
      RitzMeshDestroy(&mesh);
    }
    for (int s = 0; s < 2; s++) {
      RitzMesh mesh = make_box(ceed, 2, s ? CEED_TOPOLOGY_TRIANGLE : CEED_TOPOLOGY_QUAD, 1);
      check_balance(ceed, mesh, law, plane, "the plane");
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

TEST(rigid_motions_of_bent_elements_have_no_forces) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Matrix R;

  rotation(2, 0.3, -1, R);
  for (int law = 0; law < NUM_LAWS; law++) {
    for (int s = 0; s < NUM_SHAPES; s++) {
      RitzMesh mesh = make_box(ceed, 3, shapes[s], 2);
      check_balance(ceed, mesh, law, R, "turned");
      RitzMeshDestroy(&mesh);
    }
  }
  CeedDestroy(&ceed);
}

// The tractions -p cof(F) n, ctx: F; p = 0.7.
static double follower(const void *ctx, const ProblemPoint *point, CeedInt c) {
  const double *F = ctx;
  double sum = 0;
  Matrix copy;

  memcpy(copy, F, sizeof(copy));
  for (int d = 0; d < 3; d++) sum -= 0.7 * cofactor(copy, c, d) * point->x[PROBLEM_NORMAL + d];
  return sum;
}

static CeedQFunctionContext make_pressure(Problem *problem) {
  CeedQFunctionContext context = NULL;

  must(CeedQFunctionContextCreate(problem->ceed, &context));
  must(problem_set_pressure(context, 0));
  must(problem_add_follower(problem, "all", context));
  must(problem_set_pressure(context, 0.7));
  return context;
}

TEST(pressures_follow_affine_deformations) {
  Matrix space = {{1.2, 0.1, -0.2}, {0.05, 0.9, 0.3}, {0.2, 0.15, 1.25}};
  Matrix plane = {{1.2, 0.1, 0}, {0.05, 0.9, 0}, {0, 0, 1}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int s = 0; s < NUM_SHAPES + 2; s++) {
    const bool is_plane = s >= NUM_SHAPES;
    const CeedElemTopology shape = !is_plane         ? shapes[s]
                                   : s == NUM_SHAPES ? CEED_TOPOLOGY_QUAD
                                                     : CEED_TOPOLOGY_TRIANGLE;
    double(*F)[3] = is_plane ? plane : space;
    RitzMesh mesh = make_box(ceed, is_plane ? 2 : 3, shape, 1);
    Problem problem = make_problem(ceed, mesh, PROBLEM_NEO_HOOKEAN, 2);
    CeedVector u = make_vector(&problem), forces = make_vector(&problem), loads = make_vector(&problem);
    CeedQFunctionContext context = make_pressure(&problem);
    CeedScalar norm = 0;
    Matrix P;

    // F(u) is the stress's tractions minus those of the pressure.
    get_piola(PROBLEM_NEO_HOOKEAN, F, P);
    CHECK_OK(problem_set_nodes(&problem, "test", affine, F, -1, 0, NULL, u));
    CHECK_OK(CeedOperatorApply(problem.op.whole, u, forces, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(problem_add_boundary(&problem, "test", "all", follower, F, loads));
    CHECK_OK(CeedVectorAXPY(forces, 1, loads));
    CHECK_OK(CeedVectorSetValue(loads, 0));
    CHECK_OK(problem_add_boundary(&problem, "test", "all", traction, P, loads));
    CHECK_OK(CeedVectorAXPY(forces, -1, loads));
    CHECK_OK(CeedVectorNorm(forces, CEED_NORM_MAX, &norm));
    CHECK(norm < 1000 * CEED_EPSILON, "shape %d: forces out of balance by %g", s, (double)norm);
    CeedQFunctionContextDestroy(&context);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&forces);
    CeedVectorDestroy(&loads);
    problem_destroy(&problem);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(jacobians_are_the_derivatives) {
  Matrix F = {{1.2, 0.1, -0.2}, {0.05, 0.9, 0.3}, {0.2, 0.15, 1.25}};

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C");
  for (int law = 0; law < NUM_LAWS; law++) {
    RitzMesh mesh = make_box(ceed, 2 + law, law ? CEED_TOPOLOGY_TET : CEED_TOPOLOGY_QUAD, 1);
    Problem problem = make_problem(ceed, mesh, law, 2);
    CeedVector u = make_vector(&problem);
    CeedQFunctionContext context = make_pressure(&problem);
    CeedOperator jacobian = NULL;
    RitzDerivativeCheck check = {.order = 0};

    CHECK_OK(problem_set_nodes(&problem, "test", affine, F, -1, 0, NULL, u));
    CHECK_OK(RitzOperatorCreateDerivative(problem.op.whole, u, &jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(problem.op.whole, u, jacobian, 0.01, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "%s", laws[law]);
    CeedOperatorDestroy(&jacobian);
    CeedQFunctionContextDestroy(&context);
    CeedVectorDestroy(&u);
    problem_destroy(&problem);
    RitzMeshDestroy(&mesh);
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(stress_turns_with_the_body, rotations_have_no_stress, stress_is_the_derivative_of_the_energy,
            small_strains_have_the_stress_of_linear_elasticity_with_all_digits,
            plane_stress_is_that_of_a_pulled_plate, affine_deformations_are_in_balance_with_their_tractions,
            rigid_motions_of_bent_elements_have_no_forces, pressures_follow_affine_deformations,
            jacobians_are_the_derivatives));
}
