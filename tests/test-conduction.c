// SPDX-License-Identifier: BSD-2-Clause
// Conductivities that depend on the unknown (cli/problem-conduction.c), as formulas of the command line in C:
// against the library's operators, the linear operator beside F, derivatives.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "cli/expr.h"
#include "tests/problem-kit.h"

static const CeedElemTopology shapes[] = {CEED_TOPOLOGY_HEX, CEED_TOPOLOGY_PRISM, CEED_TOPOLOGY_PYRAMID,
                                          CEED_TOPOLOGY_TET, CEED_TOPOLOGY_QUAD,  CEED_TOPOLOGY_TRIANGLE,
                                          CEED_TOPOLOGY_LINE};
static const CeedInt dims[] = {3, 3, 3, 3, 2, 2, 1};
enum { NUM_SHAPES = 7 };

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.1 * X[(d + 1) % dim] * X[(d + 2) % dim];
  return 0;
}

static RitzMesh make_box(Ceed ceed, int s) {
  const bool is_split = s != 0 && shapes[s] != CEED_TOPOLOGY_QUAD && shapes[s] != CEED_TOPOLOGY_LINE;
  RitzMesh box = NULL, mesh = NULL;

  must(RitzMeshCreateBox(ceed, dims[s], (const CeedInt[]){2, 2, 1}, NULL, NULL, 2, bend, NULL, &box));
  if (!is_split) return box;
  must(RitzMeshSplit(box, shapes[s], &mesh));
  must(RitzMeshDestroy(&box));
  return mesh;
}

// The text of conductivity() with a formula, and of a capacity of 1, to be freed with free().
static char *make_text(const char *formula) {
  Expr *expr = NULL;
  ExprError error;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  must(expr_parse(formula, &expr, &error));
  if (stream && expr) expr_write_c(expr, "k", stream);
  expr_free(&expr);
  if (!stream) return NULL;
  fprintf(stream, "CEED_QFUNCTION_HELPER CeedScalar conductivity(const CeedScalar m, const CeedScalar x,\n"
                  "    const CeedScalar y, const CeedScalar z, const CeedScalar u) {\n"
                  "  (void)m;\n  return k(x, y, z, 0, u);\n}\n"
                  "CEED_QFUNCTION_HELPER CeedScalar capacity(const CeedScalar m, const CeedScalar x,\n"
                  "    const CeedScalar y, const CeedScalar z, const CeedScalar u) {\n"
                  "  (void)m, (void)x, (void)y, (void)z, (void)u;\n  return 1;\n}\n");
  fclose(stream);
  return text;
}

static Problem make_problem(Ceed ceed, RitzMesh mesh, const ProblemMaterial *material, const char *text) {
  const ProblemOptions options = {
      .kind = PROBLEM_HELMHOLTZ, .order = 2, .num_materials = 1, .materials = material, .conductivity = text};

  return open_problem(ceed, mesh, &options);
}

static double wave(const void *ctx, const ProblemPoint *point, CeedInt component) {
  (void)ctx;
  (void)component;
  return sin(2 * point->x[0] + point->x[1]) - cos(point->x[2]) / 2;
}

static void check_equal(CeedOperator a, CeedOperator b, const Problem *problem, CeedVector u,
                        const char *what) {
  CeedVector x = make_vector(problem), y = make_vector(problem);
  CeedScalar size = 0, difference = 0;

  CHECK_OK(CeedOperatorApply(a, u, x, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorApply(b, u, y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorNorm(x, CEED_NORM_MAX, &size));
  CHECK_OK(CeedVectorAXPY(y, -1, x));
  CHECK_OK(CeedVectorNorm(y, CEED_NORM_MAX, &difference));
  // Sums of some 100 products; formulas differ by rounding.
  CHECK(size > 0.01 && difference < 1000 * CEED_EPSILON * size, "%s: %g differ by %g", what, (double)size,
        (double)difference);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
}

static int coefficient(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = fmax(1, 2 + x[0] * x[0] - sin(x[1])) + (x[0] < 10 ? hypot(x[0], x[1]) : 0);
  return 0;
}

TEST(formulas_without_the_unknown_are_the_librarys_coefficients) {
  const ProblemMaterial material = {.conductivity = {.function = coefficient}, .reaction = {.value = 3}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *text = make_text("max(1, 2+x^2-sin(y)) + (x < 10 && !(x == 20) ? hypot(x,y) : u)");

  for (int s = 0; s < NUM_SHAPES; s++) {
    RitzMesh mesh = make_box(ceed, s);
    Problem known = make_problem(ceed, mesh, &material, NULL),
            problem = make_problem(ceed, mesh, &material, text);
    CeedVector u = make_vector(&problem);

    CHECK_OK(problem_set_nodes(&problem, "test", wave, NULL, -1, 0, NULL, u));
    check_equal(known.op.whole, problem.op.whole, &problem, u, CeedElemTopologies[shapes[s]]);
    CeedVectorDestroy(&u);
    problem_destroy(&known);
    problem_destroy(&problem);
    RitzMeshDestroy(&mesh);
  }
  free(text);
  CeedDestroy(&ceed);
}

static const ProblemMaterial reacting = {.conductivity = {.value = 1}, .reaction = {.value = 3}};

TEST_EACH_BACKEND(the_linear_operator_of_a_state_is_the_nonlinear_one_there) {
  char *text = make_text("1 + u^2 * exp(x)");
  RitzMesh mesh = make_box(ceed, 4);
  Problem problem = make_problem(ceed, mesh, &reacting, text);
  CeedVector u = make_vector(&problem);
  CeedOperator linear = NULL;

  CHECK_OK(problem_set_nodes(&problem, "test", wave, NULL, -1, 0, NULL, u));
  CHECK_OK(problem_create_picard(&problem, problem.space, u, &linear));
  check_equal(problem.op.whole, linear, &problem, u, "state");
  CHECK_OK(CeedVectorScale(u, (CeedScalar)0.5)); // the state, too
  check_equal(problem.op.whole, linear, &problem, u, "another state");
  CeedOperatorDestroy(&linear);
  CeedVectorDestroy(&u);
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  free(text);
}

TEST_EACH_BACKEND(jacobians_are_the_derivatives) {
  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C");
  // Powers of negative numbers, too.
  char *text = make_text("2 + u^2 - u^3/4 + atan2(u, 2 + x) + max(u, -5)/(3 + cosh(u)) + (u < 4 ? u : 1)");
  RitzMesh mesh = make_box(ceed, 5);
  Problem problem = make_problem(ceed, mesh, &reacting, text);
  CeedVector u = make_vector(&problem);
  CeedOperator jacobian = NULL;
  RitzDerivativeCheck check = {.order = 0};

  CHECK_OK(problem_set_nodes(&problem, "test", wave, NULL, -1, 0, NULL, u));
  CHECK_OK(RitzOperatorCreateDerivative(problem.op.whole, u, &jacobian));
  CHECK_OK(RitzOperatorCheckDerivative(problem.op.whole, u, jacobian, 0.1, &check));
  CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "order");
  CeedOperatorDestroy(&jacobian);
  CeedVectorDestroy(&u);
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  free(text);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(formulas_without_the_unknown_are_the_librarys_coefficients,
                        the_linear_operator_of_a_state_is_the_nonlinear_one_there,
                        jacobians_are_the_derivatives));
}
