// SPDX-License-Identifier: BSD-2-Clause
// Functions of <math.h> in kernels: results for ordinary and special numbers are those of the C library's
// functions of one number, in C and C++, by gcc and clang, for several widths; glibc's functions for vectors
// are called where it has them, in derivatives, too; RITZ_VECTOR_MATH=off.
#include <ceed/backend.h>
#include <float.h>
#include <math.h>
#include <ritz.h>

#include "tests/jit-kit.h"
#include "tests/reference.h"

// Whether gcc is to call glibc's functions for vectors (kernels/cpu/vector-math.h).
#if defined(__GLIBC__) && defined(__x86_64__)
enum { HAS_VECTOR_MATH = __GLIBC_PREREQ(2, 35) };
#else
enum { HAS_VECTOR_MATH = 0 };
#endif

// ---- Functions ----

typedef struct {
  const char *name;
  bool is_of_two;
  double (*one)(double), (*two)(double, double);
  float (*single_one)(float), (*single_two)(float, float);
} Function;
#define OF_ONE(name)                                                                                         \
  { #name, false, name, NULL, name##f, NULL }
#define OF_TWO(name)                                                                                         \
  { #name, true, NULL, name, NULL, name##f }

static const Function functions[] = {OF_ONE(acos),  OF_ONE(acosh), OF_ONE(asin),  OF_ONE(asinh), OF_ONE(atan),
                                     OF_ONE(atanh), OF_ONE(cbrt),  OF_ONE(cos),   OF_ONE(cosh),  OF_ONE(erf),
                                     OF_ONE(erfc),  OF_ONE(exp),   OF_ONE(exp2),  OF_ONE(expm1), OF_ONE(log),
                                     OF_ONE(log10), OF_ONE(log1p), OF_ONE(log2),  OF_ONE(sin),   OF_ONE(sinh),
                                     OF_ONE(tan),   OF_ONE(tanh),  OF_TWO(atan2), OF_TWO(hypot), OF_TWO(pow)};
enum { NUM_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

// ---- Arguments ----

// Zeros, infinities, NaN, subnormal numbers, ends of the ranges of double and float and of the functions,
// integers as powers, and ordinary numbers between.
static const double arguments[] = {
    0.0,       -0.0,   1,       -1,     INFINITY, -INFINITY, NAN,        0.5,
    -0.5,      2,      -2,      3,      -3,       1.5,       -1.5,       1e-300,
    -1e-300,   5e-324, -5e-324, 1e-310, DBL_MAX,  -DBL_MAX,  FLT_MAX,    -FLT_MAX,
    1e-37,     -1e-37, 1e-40,   -1e-40, 1e-45,    -1e-45,    709.7,      709.8,
    -708.5,    -745.5, 88.7,    88.8,   -87.5,    -104.5,    1023.5,     1024,
    127.5,     128,    -1074.5, -149.5, 308.2,    38.2,      1e10,       1e22,
    -1e22,     26.5,   27.5,    9.2,    10.2,     -6,        -1.0000001, 1.0000001,
    0.9999999, 1e-8,   -1e-8,   100,    -100,     3.14,      1.5708,     9007199254740993.0,
    0.1,       0.3,    -0.7,    0.9,    4.2,      -12.3};
enum {
  NUM_ARGUMENTS = sizeof(arguments) / sizeof(arguments[0]),
  NUM_PAIRS = (NUM_ARGUMENTS * NUM_ARGUMENTS + 31) / 32 * 32 // whole vectors
};

// Pairs of all with all. A special number stands in many places of vectors, beside many others.
static double first_of(int k) { return arguments[k % NUM_ARGUMENTS]; }
static double second_of(int k) { return arguments[(k + k / NUM_ARGUMENTS) % NUM_ARGUMENTS]; }

// Special results are the same; others differ by no more than the 4 units in the last place of a function for
// vectors and the 2 of one for a single number. Exactly: all are the same numbers.
static bool agrees(double value, double wanted, double epsilon, double least, bool is_exact) {
  if (isnan(value) || isnan(wanted)) return isnan(value) && isnan(wanted);
  if (is_exact || isinf(wanted) || wanted == 0)
    return value == wanted && (wanted != 0 || !signbit(value) == !signbit(wanted));
  return fabs(value - wanted) <= 6 * epsilon * fabs(wanted) + 6 * least;
}

// ---- Texts ----

// A loop of a function and precision over whole vectors.
static void print_loop(FILE *stream, const Function *f, bool is_single, int lanes) {
  const char *type = is_single ? "float" : "double", *suffix = is_single ? "f" : "";

  fprintf(stream,
          "EXPORTED void loop_%s%s(int num, const %s *x, const %s *y, %s *values) {\n"
          "  for (int k = 0; k < num; k += %d) {\n"
          "    CeedPragmaSIMD\n"
          "    for (int i = 0; i < %d; i++) values[k + i] = %s%s(x[k + i]%s);\n  }\n}\n",
          f->name, suffix, type, type, type, lanes, lanes, f->name, suffix, f->is_of_two ? ", y[k + i]" : "");
}

// What a kernel includes, and a loop for each function and precision; owned (free()).
static char *make_text(int lanes) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);

  fprintf(stream,
          "#define RITZ_LANES %d\n#define RITZ_DIM 1\n#define RITZ_Q 1\n#define RITZ_CALL 1\n#include "
          "\"kernels/cpu/kernel.h\"\n"
          "#ifdef __cplusplus\n#define EXPORTED extern \"C\" __attribute__((visibility(\"default\")))\n"
          "#else\n#define EXPORTED __attribute__((visibility(\"default\")))\n#endif\n"
          "#ifndef __clang__ // gcc takes functions of constants for constants\n"
          "static const double constants[] = {cos(0.5), sin(0.5), log(0.5)};\n"
          "EXPORTED double constant(int k) { static const float c = cosf(0.5f); return k ? constants[k] : c; "
          "}\n#endif\n",
          lanes);
  for (int f = 0; f < NUM_FUNCTIONS; f++) {
    print_loop(stream, &functions[f], false, lanes);
    print_loop(stream, &functions[f], true, 2 * lanes);
  }
  fclose(stream);
  return text;
}

// Whether a kernel of the cache in this folder calls for vectors what the name says (a pattern of grep).
static bool calls_for_vectors(const char *folder, const char *name) {
  char command[8192];

  snprintf(command, sizeof(command), "cat '%s'/*.so | tr '\\000' '\\n' | grep -aq '^_ZGV[b-e]N[0-9]*vv*_%s$'",
           folder, name);
  return !system(command);
}

// ---- Values ----

typedef void (*DoubleLoop)(int num, const double *x, const double *y, double *values);
typedef void (*FloatLoop)(int num, const float *x, const float *y, float *values);

static void check_double(RitzJitModule module, const Function *f, bool is_exact) {
  static double x[NUM_PAIRS], y[NUM_PAIRS], values[NUM_PAIRS];
  DoubleLoop loop = NULL;
  char name[32];

  snprintf(name, sizeof(name), "loop_%s", f->name);
  void *symbol = ritz_jit_symbol(module, name);
  memcpy(&loop, &symbol, sizeof(loop));
  CHECK(loop, "%s", name);
  for (int k = 0; k < NUM_PAIRS; k++) x[k] = first_of(k), y[k] = second_of(k);
  loop(NUM_PAIRS, x, y, values);
  for (int k = 0; k < NUM_PAIRS && !tap_failed(); k++) {
    const double wanted = f->is_of_two ? f->two(x[k], y[k]) : f->one(x[k]);
    CHECK(agrees(values[k], wanted, DBL_EPSILON, 5e-324, is_exact), "%s of %.17g, %.17g is %.17g, not %.17g",
          f->name, x[k], y[k], values[k], wanted);
  }
}

static void check_float(RitzJitModule module, const Function *f, bool is_exact) {
  static float x[NUM_PAIRS], y[NUM_PAIRS], values[NUM_PAIRS];
  FloatLoop loop = NULL;
  char name[32];

  snprintf(name, sizeof(name), "loop_%sf", f->name);
  void *symbol = ritz_jit_symbol(module, name);
  memcpy(&loop, &symbol, sizeof(loop));
  CHECK(loop, "%s", name);
  for (int k = 0; k < NUM_PAIRS; k++) x[k] = (float)first_of(k), y[k] = (float)second_of(k);
  loop(NUM_PAIRS, x, y, values);
  for (int k = 0; k < NUM_PAIRS && !tap_failed(); k++) {
    const float wanted = f->is_of_two ? f->single_two(x[k], y[k]) : f->single_one(x[k]);
    CHECK(agrees((double)values[k], (double)wanted, (double)FLT_EPSILON, 1.4e-45, is_exact),
          "%sf of %.9g, %.9g is %.9g, not %.9g", f->name, (double)x[k], (double)y[k], (double)values[k],
          (double)wanted);
  }
}

// By a fresh cache, whose folder is returned.
static const char *check_functions(RitzJitLanguage language, int lanes, bool is_exact) {
  const char *folder = tap_temp_file("cache", NULL, 0);
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *text = make_text(lanes);
  RitzJitSource source = {.name = "math", .text = text, .language = language};
  RitzJitModule module = NULL;

  setenv("RITZ_CACHE_DIR", folder, 1);
  tap_check(!ritz_jit_load(ceed, 1, &source, &module), __FILE__, __LINE__, "load", "lanes %d", lanes);
  tap_check(module && ritz_jit_status(module) == RITZ_JIT_READY, __FILE__, __LINE__, "compile", "%s",
            module ? ritz_jit_reason(module) : "");
  for (int f = 0; f < NUM_FUNCTIONS && !tap_failed(); f++) {
    check_double(module, &functions[f], is_exact);
    if (!tap_failed()) check_float(module, &functions[f], is_exact);
  }
  if (tap_failed()) tap_note("language %d, %d lanes", (int)language, lanes);
  ritz_jit_release(&module);
  free(text);
  CeedDestroy(&ceed);
  return folder;
}

static bool is_gcc(void) {
  const char *version = NULL;

  RitzJitGetCompiler(NULL, &version);
  return version && !strstr(version, "clang") && strchr(version, '(');
}

static void check_calls(const char *folder, bool are_wanted) {
  for (int f = 0; f < NUM_FUNCTIONS && !tap_failed(); f++) {
    char single[32];

    snprintf(single, sizeof(single), "%sf", functions[f].name);
    CHECK(calls_for_vectors(folder, functions[f].name) == are_wanted, "%s", functions[f].name);
    CHECK(calls_for_vectors(folder, single) == are_wanted, "%s", single);
  }
}

TEST(functions_of_math_h_have_the_values_of_the_c_library) {
  NEEDS_COMPILER();
  for (int lanes = tap_level() > TAP_QUICK ? 2 : 8; lanes <= 8 && !tap_failed(); lanes *= 2) {
    const char *folder = check_functions(RITZ_JIT_C, lanes, false);
    if (!tap_failed() && HAS_VECTOR_MATH && is_gcc()) check_calls(folder, true);
  }
}

TEST(functions_of_cmath_have_the_values_of_the_c_library) {
  NEEDS_COMPILER();
  const char *folder = check_functions(RITZ_JIT_CXX, 4, false);

  if (!tap_failed() && HAS_VECTOR_MATH && is_gcc()) check_calls(folder, true);
}

TEST(functions_that_clang_compiles_have_the_values_of_the_c_library) {
  NEEDS_COMPILER();
  if (system("clang --version >/dev/null 2>&1")) SKIP("no clang in PATH");
  setenv("RITZ_CC", "clang", 1);
  check_functions(RITZ_JIT_C, 4, false);
  unsetenv("RITZ_CC");
}

TEST(without_functions_for_vectors_values_are_those_of_the_c_library_to_the_bit) {
  NEEDS_COMPILER();
  setenv("RITZ_VECTOR_MATH", "off", 1);
  const char *folder = check_functions(RITZ_JIT_C, 4, true);
  if (!tap_failed()) check_calls(folder, false);
  unsetenv("RITZ_VECTOR_MATH");
}

// The first cache keeps what the compiler has said, whatever the variable says.
TEST(kernels_of_both_kinds_are_different_entries_of_one_cache) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");

  jit_start_counting();
  for (int k = 0; k < 4; k++) {
    setenv("RITZ_VECTOR_MATH", k % 2 ? "on" : "off", 1);
    CHECK(jit_load_answer(ceed, jit_number(77)) == 77, "answer");
    CHECK_COUNTED(0, k / 2, 1 - k / 2);
  }
  unsetenv("RITZ_VECTOR_MATH");
  CeedDestroy(&ceed);
}

// ---- QFunctions and their derivatives ----

static const char residual_text[] =
    "CEED_QFUNCTION(Residual)(void *ctx, const CeedInt Q, const CeedScalar *const *in,\n"
    "                         CeedScalar *const *out) {\n"
    "  CeedPragmaSIMD\n"
    "  for (CeedInt i = 0; i < Q; i++) {\n"
    "    const CeedScalar u = in[0][i];\n"
    "    out[0][i] = sin(u) * cos(u) + log(u) + pow(u, 3.5) + exp(-u);\n"
    "  }\n"
    "  return 0;\n"
    "}\n";

enum { ELEMENTS = 9, NODES = 16, SIZE = ELEMENTS * NODES };

// Values at points: out = f(in).
static int make_residual(Ceed ceed, CeedElemRestriction *rstr, CeedOperator *op) {
  CeedQFunction qf = NULL;

  CeedCall(
      CeedElemRestrictionCreateStrided(ceed, ELEMENTS, NODES, 1, SIZE, (CeedInt[3]){1, NODES, NODES}, rstr));
  CeedCall(RitzQFunctionCreateFromText(ceed, 1, residual_text, "Residual", &qf));
  CeedCall(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_NONE));
  CeedCall(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_NONE));
  CeedCall(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CeedCall(CeedQFunctionDestroy(&qf));
  CeedCall(CeedOperatorSetField(*op, "u", *rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  return CeedOperatorSetField(*op, "v", *rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
}

static double residual_at(double u) { return sin(u) * cos(u) + log(u) + pow(u, 3.5) + exp(-u); }
static double derivative_at(double u) { return cos(2 * u) + 1 / u + 3.5 * pow(u, 2.5) - exp(-u); }

static void check_values(CeedOperator op, CeedVector in, CeedVector v, double (*f)(double), const double *u) {
  double *values;

  CHECK_OK(CeedOperatorApply(op, in, v, CEED_REQUEST_IMMEDIATE));
  values = reference_new_values(v);
  // A few functions, of 4 units in the last place each, and their sums.
  for (int i = 0; i < SIZE; i++)
    CHECK_NEAR(values[i], f(u[i]), 30 * CEED_EPSILON * (1 + fabs(f(u[i]))), "at %g", u[i]);
  free(values);
}

static void check_operators(Ceed ceed) {
  CeedElemRestriction rstr = NULL;
  CeedOperator residual = NULL, jacobian = NULL;
  double u[SIZE], one[SIZE];

  for (int i = 0; i < SIZE; i++) u[i] = (double)(CeedScalar)(0.1 + 0.02 * i), one[i] = 1;
  CeedVector state = reference_vector(ceed, SIZE, u), w = reference_vector(ceed, SIZE, one);
  CeedVector v = reference_vector(ceed, SIZE, one);
  CHECK_OK(make_residual(ceed, &rstr, &residual));
  check_values(residual, state, v, residual_at, u);
  CHECK_OK(RitzOperatorCreateDerivative(residual, state, &jacobian));
  check_values(jacobian, w, v, derivative_at, u);
  CeedVectorDestroy(&state);
  CeedVectorDestroy(&w);
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&residual);
  CeedOperatorDestroy(&jacobian);
}

TEST(functions_in_kernels_of_operators_and_of_their_derivatives_are_those_for_vectors) {
  static const char *const names[] = {"sin", "cos", "log", "pow", "exp"};

  NEEDS_COMPILER();
  const char *folder = getenv("RITZ_CACHE_DIR");
  setenv("RITZ_WAIT", "1", 1);
  Ceed ceed = tap_ceed("/cpu/self/gen");
  check_operators(ceed);
  CeedDestroy(&ceed);
  unsetenv("RITZ_WAIT");
  // In float `sin` of the text are functions of double in C and of float in C++.
  for (int k = 0; k < 5 && sizeof(CeedScalar) == 8 && HAS_VECTOR_MATH && is_gcc(); k++)
    CHECK(calls_for_vectors(folder, names[k]), "%s", names[k]);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(functions_of_math_h_have_the_values_of_the_c_library,
                        functions_of_cmath_have_the_values_of_the_c_library,
                        functions_that_clang_compiles_have_the_values_of_the_c_library,
                        without_functions_for_vectors_values_are_those_of_the_c_library_to_the_bit,
                        kernels_of_both_kinds_are_different_entries_of_one_cache,
                        functions_in_kernels_of_operators_and_of_their_derivatives_are_those_for_vectors));
}
