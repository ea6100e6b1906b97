// SPDX-License-Identifier: BSD-2-Clause
// Formulas of the command line in C (cli/expr.h): compiled they have the values that the program finds by
// itself, also where these are no numbers, and sources made of them (cli/problem-sources.c) the same
// integrals.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/expr.h"
#include "tests/problem-kit.h"

static Expr *parse(const char *text) {
  Expr *expr = NULL;
  ExprError error = {0};

  must(expr_parse(text, &expr, &error));
  return expr;
}

// ---- Values ----

enum { MAX_TEXTS = 120, NUM_POINTS = 8, NUM_VALUES = 5 }; // x, y, z, t, u

typedef struct {
  int num;
  char *texts[MAX_TEXTS]; // owned
} Formulas;

static void add(Formulas *f, const char *text) { f->texts[f->num++] = strdup(text); }

// Values stay below 1, and steps multiply errors by 3 at most.
static void write_random(uint64_t *state, int depth, FILE *stream) {
  static const char *const leaves[] = {"x/2", "y/2", "z/2", "t", "u/2", "0.25", "-0.75"};
  static const struct {
    const char *begin, *middle, *end;
  } nodes[] = {{"(", "+", ")/2"},  {"(", "-", ")/2"},         {"(", "*", ")"},       {"min(", ",", ")"},
               {"max(", ",", ")"}, {"hypot(", ",", ")/2"},    {"sin(3*", NULL, ")"}, {"-(", NULL, ")"},
               {"(", NULL, ")^2"}, {"exp(-abs(", NULL, "))"}, {"(x<y?", ":", ")"},   {"erf(", NULL, ")"}};
  const int kind = (int)tap_integer(state, sizeof(nodes) / sizeof(nodes[0]));

  if (depth == 0) {
    fputs(leaves[tap_integer(state, sizeof(leaves) / sizeof(leaves[0]))], stream);
    return;
  }
  fputs(nodes[kind].begin, stream);
  write_random(state, depth - 1, stream);
  if (nodes[kind].middle) fputs(nodes[kind].middle, stream);
  if (nodes[kind].middle) write_random(state, depth - 1, stream);
  fputs(nodes[kind].end, stream);
}

static void add_random(Formulas *f, uint64_t *state) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  write_random(state, 5, stream);
  must(fclose(stream));
  f->texts[f->num++] = text;
}

// A QFunction with all formulas: out[0] [num][Q] of in[0] [NUM_VALUES][Q].
static char *write_qfunction(const Formulas *f) {
  char *text = NULL, name[20];
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  for (int k = 0; k < f->num; k++) {
    Expr *expr = parse(f->texts[k]);

    snprintf(name, sizeof(name), "formula_%d", k);
    expr_write_c(expr, name, stream);
    expr_free(&expr);
  }
  fprintf(stream, "CEED_QFUNCTION(formulas)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
                  "    CeedScalar *const *out) {\n  const CeedScalar *x = in[0];\n  (void)ctx;\n"
                  "  for (CeedInt i = 0; i < Q; i++) {\n");
  for (int k = 0; k < f->num; k++)
    fprintf(
        stream,
        "    out[0][%d * Q + i] = formula_%d(x[i], x[Q + i], x[2 * Q + i], x[3 * Q + i], x[4 * Q + i]);\n", k,
        k);
  fprintf(stream, "  }\n  return 0;\n}\n");
  must(fclose(stream));
  return text;
}

// values [num][NUM_POINTS] at x [NUM_VALUES][NUM_POINTS]
static void compute_compiled(const Formulas *f, const CeedScalar *x, CeedScalar *values) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *text = write_qfunction(f);
  CeedQFunction qf = NULL;
  CeedVector in = NULL, out = NULL;
  const CeedScalar *array = NULL;

  CHECK_OK(RitzQFunctionCreateFromText(ceed, 1, text, "formulas", &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "x", NUM_VALUES, CEED_EVAL_NONE));
  CHECK_OK(CeedQFunctionAddOutput(qf, "values", f->num, CEED_EVAL_NONE));
  CHECK_OK(CeedVectorCreate(ceed, NUM_VALUES * NUM_POINTS, &in));
  CHECK_OK(CeedVectorCreate(ceed, f->num * NUM_POINTS, &out));
  CHECK_OK(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, (CeedScalar *)x));
  CHECK_OK(CeedQFunctionApply(qf, NUM_POINTS, &in, &out));
  CHECK_OK(CeedVectorGetArrayRead(out, CEED_MEM_HOST, &array));
  memcpy(values, array, (size_t)(f->num * NUM_POINTS) * sizeof(*values));
  CHECK_OK(CeedVectorRestoreArrayRead(out, &array));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  CeedQFunctionDestroy(&qf);
  CeedDestroy(&ceed);
  free(text);
}

static void check_values(Formulas *f, double tolerance) {
  static CeedScalar x[NUM_VALUES * NUM_POINTS], values[MAX_TEXTS * NUM_POINTS];
  static const int places[NUM_VALUES] = {0, 1, 2, 3, 7}; // among the variables of formulas
  uint64_t state = 7;

  for (int i = 0; i < NUM_VALUES * NUM_POINTS; i++)
    x[i] = (CeedScalar)(0.05 + 0.0009 * (double)tap_integer(&state, 1000));
  compute_compiled(f, x, values);
  for (int k = 0; k < f->num; k++) {
    Expr *expr = parse(f->texts[k]);

    for (int i = 0; i < NUM_POINTS; i++) {
      const double found = (double)values[k * NUM_POINTS + i];
      double at[EXPR_NUM_VARIABLES] = {0};

      for (int v = 0; v < NUM_VALUES; v++) at[places[v]] = (double)x[v * NUM_POINTS + i];
      const double expected = expr_value(expr, at);
      if (isnan(expected))
        CHECK(isnan(found), "%s: %g", f->texts[k], found);
      else
        CHECK_NEAR(found, expected, tolerance * (1 + fabs(expected)), "%s", f->texts[k]);
    }
    expr_free(&expr);
    free(f->texts[k]);
  }
}

TEST(compiled_formulas_have_their_values) {
  Formulas f = {0};
  uint64_t state = 11;

  while (f.num < MAX_TEXTS) add_random(&f, &state);
  // Five steps, each of a few roundings, which those behind it multiply by 3 at most.
  check_values(&f, 5 * 243 * CEED_EPSILON);
}

TEST(compiled_functions_and_conditions_are_those_of_the_program) {
  static const char *const texts[] = {"sin(x)",
                                      "cos(x)",
                                      "tan(x)",
                                      "asin(x)",
                                      "acos(x)",
                                      "atan(x)",
                                      "sinh(x)",
                                      "cosh(x)",
                                      "tanh(x)",
                                      "exp(x)",
                                      "log(x)",
                                      "log2(x)",
                                      "log10(x)",
                                      "sqrt(x)",
                                      "cbrt(x)",
                                      "abs(-x)",
                                      "fabs(x)",
                                      "floor(7*x)",
                                      "ceil(7*x)",
                                      "round(7*x)",
                                      "erf(x)",
                                      "atan2(x,y)",
                                      "pow(x,y)",
                                      "hypot(x,y)",
                                      "fmod(9*x,y)",
                                      "min(x,y,z)",
                                      "max(x,y,z)",
                                      "if(x<y,2,3)",
                                      "x<=y",
                                      "x>=y",
                                      "x==x",
                                      "x!=y",
                                      "x>y",
                                      "!(x<y)",
                                      "x<y&&y<z",
                                      "x<y||y<z",
                                      "0&&1",
                                      "2||0",
                                      "x<y?x:y",
                                      "-x^2",
                                      "2^3^2*x",
                                      "1e-3*x-2.5",
                                      "pi*t",
                                      "u*t",
                                      "x>0?5:1/0",
                                      "0&&sqrt(-1)",
                                      "1||sqrt(-1)",
                                      "if(x<0,sqrt(x),6)",
                                      "sqrt(-x)<2",
                                      "2==sqrt(-x)",
                                      "!sqrt(-x)",
                                      "1&&sqrt(-x)",
                                      "sqrt(-x)||1",
                                      "sqrt(-x)&&0",
                                      "sqrt(-x)?1:2",
                                      "if(sqrt(-x),1,2)",
                                      "min(1,sqrt(-x))",
                                      "max(sqrt(-x),1)",
                                      "min(1,sqrt(-x),2)",
                                      "max(1,log(-x))"};
  Formulas f = {0};

  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) add(&f, texts[i]);
  // A few roundings; in single precision the functions themselves differ by some more.
  check_values(&f, 16 * CEED_EPSILON);
}

// ---- Sources ----

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.1 * X[(d + 1) % dim] * X[(d + 2) % dim];
  return 0;
}

// Formulas of the components, everywhere.
static double value_of_formula(const void *ctx, const ProblemPoint *point, CeedInt component) {
  Expr *const *exprs = ctx;

  return expr_value(exprs[component], point->x);
}

static char *write_source(CeedInt num, Expr *const *exprs) {
  char *text = NULL, name[20];
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  for (CeedInt c = 0; c < num; c++) {
    snprintf(name, sizeof(name), "source_%d", (int)c);
    expr_write_c(exprs[c], name, stream);
  }
  must(fclose(stream));
  return text;
}

static void check_near(CeedVector found, CeedVector expected, const char *what) {
  CeedScalar size = 0, difference = 0;

  CHECK_OK(CeedVectorNorm(expected, CEED_NORM_MAX, &size));
  CHECK_OK(CeedVectorAXPY(found, -1, expected));
  CHECK_OK(CeedVectorNorm(found, CEED_NORM_MAX, &difference));
  CHECK(size > 0, "%s: nothing", what);
  // Sums over 5^3 points an element and 8 elements.
  CHECK_NEAR((double)difference, 0, 1000 * CEED_EPSILON * (double)size, "%s", what);
}

static void check_source(Ceed ceed, RitzMesh mesh, ProblemKind kind, bool is_axisymmetric,
                         const char *const *texts, bool is_possible, const char *what) {
  static const ProblemMaterial unit = {.conductivity = {.value = 1}, .reaction = {.value = 1}, .young = 1};
  const ProblemOptions options = {.kind = kind,
                                  .is_axisymmetric = is_axisymmetric,
                                  .order = 3,
                                  .factor = 1,
                                  .num_materials = 1,
                                  .materials = &unit};
  Problem problem = open_problem(ceed, mesh, &options);
  CeedVector found = make_vector(&problem), expected = make_vector(&problem);
  Expr *exprs[3] = {NULL};
  bool is_done = false;

  problem.time = 0.7;
  for (CeedInt c = 0; c < problem.num_comp; c++) exprs[c] = parse(texts[c]);
  char *text = write_source(problem.num_comp, exprs);
  const ProblemSource source = {.text = text};
  CHECK_OK(CeedVectorSetValue(expected, (CeedScalar)0.5));
  CHECK_OK(CeedVectorSetValue(found, (CeedScalar)0.5)); // it is added
  CHECK_OK(problem_add_sources(&problem, 1, &source, found, &is_done));
  CHECK(is_done == is_possible, "%s: %d", what, is_done);
  if (is_possible) CHECK_OK(problem_add_source(&problem, what, value_of_formula, exprs, expected));
  check_near(found, expected, what);
  for (int c = 0; c < 3; c++) expr_free(&exprs[c]);
  free(text);
  CeedVectorDestroy(&found);
  CeedVectorDestroy(&expected);
  problem_destroy(&problem);
}

static RitzMesh make_box(Ceed ceed, CeedInt dim, RitzMapFunction map) {
  RitzMesh mesh = NULL;

  must(RitzMeshCreateBox(ceed, dim, (const CeedInt[]){2, 2, 2}, NULL, NULL, map ? 2 : 1, map, NULL, &mesh));
  return mesh;
}

TEST_EACH_BACKEND(sources_in_c_are_those_of_the_program) {
  static const char *const force[] = {"sin(3*x)*y+z^2", "x<0.5?y:-z", "exp(-x*y)"};
  static const char *const heat[] = {"t*sin(3*x)+hypot(y,z)"};
  RitzMesh solid = make_box(ceed, 3, bend), plane = make_box(ceed, 2, NULL);

  check_source(ceed, solid, PROBLEM_ELASTICITY, false, force, true, "force in a bent box");
  check_source(ceed, plane, PROBLEM_HEAT, false, heat, true, "heat in a square");
  check_source(ceed, plane, PROBLEM_POISSON, true, heat, true, "source in a body of revolution");
  RitzMeshDestroy(&solid);
  RitzMeshDestroy(&plane);
}

TEST(sources_that_are_not_finite_or_on_other_shapes_are_left_to_the_program) {
  static const char *const infinite[] = {"1/(x-x)"}, *const hidden[] = {"min(1,sqrt(x-2))"},
                           *const one[] = {"1"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh box = make_box(ceed, 2, NULL), triangles = NULL;

  must(RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, &triangles));
  check_source(ceed, box, PROBLEM_POISSON, false, infinite, false, "infinite");
  check_source(ceed, box, PROBLEM_POISSON, false, hidden, false, "not a number");
  check_source(ceed, triangles, PROBLEM_POISSON, false, one, false, "triangles");
  RitzMeshDestroy(&triangles);
  RitzMeshDestroy(&box);
  CeedDestroy(&ceed);
}

// Squares [0,1]^2 and [1,2] x [0,1], regions 1 and 2.
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

// Test functions add up to 1: the sum of all entries is the integral, of x over [0,1] and of 3 over [1,2].
TEST(regions_have_their_sources) {
  static const ProblemMaterial unit = {.conductivity = {.value = 1}};
  const ProblemOptions options = {
      .kind = PROBLEM_POISSON, .order = 2, .num_materials = 1, .materials = &unit};
  const int32_t regions[] = {1, 2};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_strip(ceed);
  Problem problem = open_problem(ceed, mesh, &options);
  CeedVector rhs = make_vector(&problem), ones = make_vector(&problem);
  Expr *exprs[] = {parse("x"), parse("3")};
  char *texts[] = {write_source(1, &exprs[0]), write_source(1, &exprs[1])};
  const ProblemSource sources[] = {{texts[0], 1, &regions[0]}, {texts[1], 1, &regions[1]}};
  bool is_done = false;
  double sum = 0;

  CHECK_OK(problem_add_sources(&problem, 2, sources, rhs, &is_done));
  CHECK(is_done, "not done");
  CHECK_OK(CeedVectorSetValue(ones, 1));
  CHECK_OK(RitzVectorDot(ones, rhs, &sum));
  CHECK_NEAR(sum, 0.5 + 3, 100 * CEED_EPSILON, "integral");
  for (int i = 0; i < 2; i++) {
    expr_free(&exprs[i]);
    free(texts[i]);
  }
  CeedVectorDestroy(&ones);
  CeedVectorDestroy(&rhs);
  problem_destroy(&problem);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Coefficients ----

typedef struct {
  int64_t num_calls;
  bool is_mu;
} Called;

static int call_coefficient(void *ctx, const double *x, double *value) {
  Called *called = ctx;

  called->num_calls++;
  *value = called->is_mu ? 1 + x[0] * x[1] : 2 + sin(x[2]);
  return 0;
}

// The image of a vector under the operator with this text; *num_calls: of the functions.
static CeedVector apply_coefficients(RitzGeometry geometry, Ceed ceed, RitzSpace space, const char *text,
                                     int64_t *num_calls) {
  Called lambda = {0}, mu = {.is_mu = true};
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ,
                                       .space = space,
                                       .lambda_function = call_coefficient,
                                       .lambda_ctx = &lambda,
                                       .mu_function = call_coefficient,
                                       .mu_ctx = &mu,
                                       .coefficients_text = text};
  CeedOperator op = NULL;
  CeedVector u = NULL, v = NULL;
  CeedScalar *array = NULL;
  CeedSize size = 0;

  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &u));
  must(CeedVectorCreate(ceed, size, &v));
  must(CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < size; i++) array[i] = (CeedScalar)sin((double)i);
  must(CeedVectorRestoreArray(u, &array));
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &op));
  must(CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE));
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&u);
  *num_calls = lambda.num_calls + mu.num_calls;
  return v;
}

TEST(many_coefficients_are_those_of_their_text_and_functions_serve_where_it_cannot) {
  static const char head[] =
      "CEED_QFUNCTION_HELPER CeedScalar lambda(const CeedScalar x, const CeedScalar y,\n"
      "    const CeedScalar z) {\n  (void)x, (void)y;\n  return ";
  static const char *const tails[] = {"2 + sin(z);\n}\n#define mu(x, y, z) (1 + x * y)\n",
                                      "2 + sin(z);\n}\n#define mu(x, y, z) 1 / (x - x)\n",
                                      "2 + no_such_name;\n}\n#define mu(x, y, z) 1\n"};
  Ceed ceed = tap_ceed("/cpu/self/gen");
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  int64_t num_calls = 0;
  char text[500];

  CHECK_OK(RitzMeshCreateBox(ceed, 3, (const CeedInt[]){32, 32, 31}, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &space)); // 64 points an element
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CeedVector expected = apply_coefficients(geometry, ceed, space, NULL, &num_calls);
  CHECK(num_calls == 2 * 64 * 32 * 32 * 31, "%d calls", (int)num_calls);
  for (int i = 0; i < 3; i++) {
    snprintf(text, sizeof(text), "%s%s", head, tails[i]);
    CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorAbort)); // a refused text is no error of the program
    CeedVector found = apply_coefficients(geometry, ceed, space, text, &num_calls);
    CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorStore));
    CHECK((num_calls == 0) == (i == 0), "text %d: %d calls", i, (int)num_calls);
    check_near(found, expected, "coefficients");
    CeedVectorDestroy(&found);
  }
  CeedVectorDestroy(&expected);
  RitzGeometryDestroy(&geometry);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(compiled_formulas_have_their_values,
                        compiled_functions_and_conditions_are_those_of_the_program,
                        sources_in_c_are_those_of_the_program,
                        sources_that_are_not_finite_or_on_other_shapes_are_left_to_the_program,
                        regions_have_their_sources,
                        many_coefficients_are_those_of_their_text_and_functions_serve_where_it_cannot));
}
