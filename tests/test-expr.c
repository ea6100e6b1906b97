// SPDX-License-Identifier: BSD-2-Clause
// Formulas of the command line: values, precedence, errors and where they point, inputs of absurd size. The
// parser belongs to the program, not to the library.
#include "cli/expr.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double point[EXPR_NUM_VARIABLES] = {0.7, -1.3, 2.1, 0.4, 0.6, -0.64, 0.48, 1.7};

// Value at `point`, NaN with a note when the formula is refused.
static double value_of(const char *text) {
  Expr *expr = NULL;
  ExprError error;

  if (expr_parse(text, &expr, &error)) {
    tap_note("%s: column %d: %s", text, (int)error.column + 1, error.message);
    return NAN;
  }
  double value = expr_value(expr, point);
  expr_free(&expr);
  return value;
}

// Compares formulas with the compiler's own arithmetic.
#define CHECK_VALUE(text, expected)                                                                          \
  CHECK_NEAR(value_of(text), (expected), 4 * 0x1p-52 * (1 + fabs(expected)), "%s", text)

TEST(numbers_are_decimal_with_or_without_point_and_exponent) {
  CHECK_VALUE("3", 3.0);
  CHECK_VALUE("3.25", 3.25);
  CHECK_VALUE(".5", 0.5);
  CHECK_VALUE("2.", 2.0);
  CHECK_VALUE("1e3", 1000.0);
  CHECK_VALUE("1.5E-2", 0.015);
  CHECK_VALUE("2e+2", 200.0);
  CHECK_VALUE(" \t 7 ", 7.0);
}

TEST(names_are_coordinates_time_normal_and_pi) {
  CHECK_VALUE("x", point[0]);
  CHECK_VALUE("y", point[1]);
  CHECK_VALUE("z", point[2]);
  CHECK_VALUE("pi", 3.14159265358979323846);
  CHECK_VALUE("t", point[3]);
  CHECK_VALUE("u", point[7]);
  CHECK_VALUE("nx^2+ny^2+nz^2", 1.0);
  CHECK_VALUE("nx+10*ny+100*nz", point[4] + 10 * point[5] + 100 * point[6]);
  CHECK_VALUE("x+10*y+100*z", point[0] + 10 * point[1] + 100 * point[2]);
}

TEST(operators_bind_as_in_mathematics) {
  CHECK_VALUE("1+2*3", 7.0);
  CHECK_VALUE("(1+2)*3", 9.0);
  CHECK_VALUE("2*3+4*5", 26.0);
  CHECK_VALUE("10-4-3", 3.0);
  CHECK_VALUE("24/4/3", 2.0);
  CHECK_VALUE("24/4*3", 18.0);
  CHECK_VALUE("2*3^2", 18.0);
  CHECK_VALUE("2^3^2", 512.0);
  CHECK_VALUE("(2^3)^2", 64.0);
  CHECK_VALUE("1-2+3", 2.0);
}

TEST(unary_minus_binds_weaker_than_power_and_stronger_than_product) {
  CHECK_VALUE("-2^2", -4.0);
  CHECK_VALUE("(-2)^2", 4.0);
  CHECK_VALUE("2^-1", 0.5);
  CHECK_VALUE("2^-1*8", 4.0);
  CHECK_VALUE("2^-2^2", 0.0625);
  CHECK_VALUE("--3", 3.0);
  CHECK_VALUE("3--3", 6.0);
  CHECK_VALUE("3*-2", -6.0);
  CHECK_VALUE("-3*2+1", -5.0);
  CHECK_VALUE("-x", -point[0]);
  CHECK_VALUE("1/-2/-4", 0.125);
}

TEST(functions_are_those_of_the_standard_library) {
  CHECK_VALUE("sin(x)", sin(point[0]));
  CHECK_VALUE("cos(pi*y)", cos(3.14159265358979323846 * point[1]));
  CHECK_VALUE("exp(-z)", exp(-point[2]));
  CHECK_VALUE("sqrt(x)", sqrt(point[0]));
  CHECK_VALUE("sin (x)^2 + cos(x)^2", 1.0);
  CHECK_VALUE("sqrt(sin(exp(x)-1)^2)", fabs(sin(exp(point[0]) - 1)));
  CHECK_VALUE("2*sin(x)*cos(x)-sin(2*x)", 0.0);
  CHECK_VALUE("tan(x)-sin(x)/cos(x)", 0.0);
  CHECK_VALUE("asin(sin(x))+acos(cos(x))+atan(tan(x))", 3 * point[0]);
  CHECK_VALUE("sinh(y)+10*cosh(y)+100*tanh(y)", sinh(point[1]) + 10 * cosh(point[1]) + 100 * tanh(point[1]));
  CHECK_VALUE("log(z)+10*log2(z)+100*log10(z)", log(point[2]) + 10 * log2(point[2]) + 100 * log10(point[2]));
  CHECK_VALUE("log(exp(z))", point[2]);
  CHECK_VALUE("cbrt(y)^3", point[1]);
  CHECK_VALUE("abs(y)+10*fabs(x)", -point[1] + 10 * point[0]);
  CHECK_VALUE("floor(y)+10*ceil(y)+100*round(y)", -2.0 - 10 - 100);
  CHECK_VALUE("erf(x)", erf(point[0]));
}

TEST(functions_have_as_many_arguments_as_they_need) {
  CHECK_VALUE("atan2(y, -x)", atan2(point[1], -point[0]));
  CHECK_VALUE("pow(z, x)-z^x", 0.0);
  CHECK_VALUE("hypot(3,4)", 5.0);
  CHECK_VALUE("fmod(7.5, 2)", 1.5);
  CHECK_VALUE("min(x,y)+10*max(x,y)", point[1] + 10 * point[0]);
  CHECK_VALUE("min(5, max(1, 2, 3), 4)", 3.0);
  CHECK_VALUE("max(-(1), (min(2,1)+1)*2, 3)", 4.0);
  CHECK_VALUE("if(x>0, 2+3, 4)*2", 10.0);
  CHECK_VALUE("if(0, 1, if(1, 2, 3))", 2.0);
}

TEST(conditions_are_one_or_zero) {
  CHECK_VALUE("1<2", 1.0);
  CHECK_VALUE("2<=2", 1.0);
  CHECK_VALUE("1>2", 0.0);
  CHECK_VALUE("2>=3", 0.0);
  CHECK_VALUE("x==x", 1.0);
  CHECK_VALUE("x!=x", 0.0);
  CHECK_VALUE("(x<1)+(y<1)+(z<1)", 2.0);
  CHECK_VALUE("!0+!3", 1.0);
  CHECK_VALUE("1+1==2", 1.0);
  CHECK_VALUE("1 || 0 && 0", 1.0);
  CHECK_VALUE("(1 || 0) && 0", 0.0);
  CHECK_VALUE("x>0 && y>0 || z>0", 1.0);
  CHECK_VALUE("3 && -2", 1.0);
}

TEST(choices_bind_weakest_and_to_the_right) {
  CHECK_VALUE("1 ? 2 : 3", 2.0);
  CHECK_VALUE("0 ? 2 : 3", 3.0);
  CHECK_VALUE("1+0 ? 2+1 : 3", 3.0);
  CHECK_VALUE("0 ? 1 : 0 ? 2 : 3", 3.0);
  CHECK_VALUE("1 ? 0 ? 4 : 5 : 6", 5.0);
  CHECK_VALUE("x<0 ? -x : x>0.5 ? 2*x : 7", 2 * point[0]);
  CHECK_VALUE("2*(1 ? 3 : 4)", 6.0);
  CHECK_VALUE("max(0 ? 1 : 2, 1 ? 3 : 9)", 3.0);
  CHECK_VALUE("1 || 0 ? 2 : 3", 2.0);
}

TEST(only_what_is_chosen_has_to_be_a_number) {
  CHECK_VALUE("x>0 ? 5 : 1/0", 5.0);
  CHECK_VALUE("if(y>0, sqrt(y), 6)", 6.0);
  CHECK_VALUE("0 && sqrt(-1)", 0.0);
  CHECK_VALUE("1 || sqrt(-1)", 1.0);
}

typedef struct {
  size_t length;
  char text[4000];
} Text;

static void put(Text *t, const char *piece) {
  size_t n = strlen(piece);

  if (t->length + n >= sizeof(t->text)) return;
  memcpy(t->text + t->length, piece, n + 1);
  t->length += n;
}

// Appends a formula and returns its value: parenthesised everywhere, so precedence does not matter.
static double random_formula(uint64_t *state, int depth, Text *t) {
  static const char *const begin[] = {"(", "(", "(", "sin(", "-(", "("};
  static const char *const end[] = {") + (", ") - (", ") * (", ")", ")", ")^2"};
  char digit[2] = {(char)('0' + tap_integer(state, 10)), '\0'};
  int kind = (int)tap_integer(state, 6);
  double u, v = 0;

  if (depth == 0) {
    put(t, digit);
    return digit[0] - '0';
  }
  put(t, begin[kind]);
  u = random_formula(state, depth - 1, t);
  put(t, end[kind]);
  if (kind < 3) {
    v = random_formula(state, depth - 1, t);
    put(t, ")");
  }
  const double values[] = {u + v, u - v, u * v, sin(u), -u, u * u};
  return values[kind];
}

TEST(random_formulas_have_their_value) {
  uint64_t state = 5;

  for (int i = 0; i < 500; i++) {
    Text t = {0};
    double expected = random_formula(&state, 5, &t);
    // The operations are the same; the compiler may fuse some of its own.
    CHECK_NEAR(value_of(t.text), expected, 1e-12 * (1 + fabs(expected)), "%s", t.text);
  }
}

TEST(needed_coordinates_are_known) {
  const struct {
    const char *text;
    int num;
  } cases[] = {{"1+pi", 0},     {"x^2", 1}, {"y", 2},   {"x*y", 2}, {"z", 3},
               {"sin(z)*x", 3}, {"2*t", 0}, {"x-t", 1}, {"nx", 0},  {"x<ny", 1}};

  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    Expr *expr = NULL;
    ExprError error;
    CHECK(!expr_parse(cases[i].text, &expr, &error), "%s", cases[i].text);
    CHECK(expr_num_coordinates(expr) == cases[i].num, "%s: %d", cases[i].text, expr_num_coordinates(expr));
    CHECK(expr_num_normals(expr) == (strstr(cases[i].text, "nx")   ? 1
                                     : strstr(cases[i].text, "ny") ? 2
                                                                   : 0),
          "%s", cases[i].text);
    CHECK(expr_uses_time(expr) == (strchr(cases[i].text, 't') != NULL), "%s", cases[i].text);
    expr_free(&expr);
    CHECK(expr == NULL, "freed");
  }
}

TEST(values_outside_the_domain_are_not_finite) {
  CHECK(!isfinite(value_of("1/0")), "1/0");
  CHECK(!isfinite(value_of("sqrt(-1)")), "sqrt(-1)");
  CHECK(!isfinite(value_of("exp(1000)")), "exp(1000)");
}

TEST(what_is_not_a_number_is_hidden_by_no_comparison) {
  static const char *const texts[] = {"sqrt(-1) < 2",     "2 == sqrt(-1)",       "!sqrt(-1)",
                                      "1 && sqrt(-1)",    "sqrt(-1) || 1",       "sqrt(-1) && 0",
                                      "sqrt(-1) ? 1 : 2", "if(sqrt(-1), 1, 2)",  "min(1, sqrt(-1))",
                                      "max(sqrt(-1), 1)", "min(1, sqrt(-1), 2)", "max(1, log(-1))"};

  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    CHECK(isnan(value_of(texts[i])), "%s", texts[i]);
}

TEST(errors_point_at_the_column_and_say_what_was_expected) {
  const struct {
    const char *text;
    size_t column; // from 0
    const char *fragment;
  } cases[] = {
      {"", 0, "found the end"},
      {"   ", 3, "found the end"},
      {"1+", 2, "expected a number, a name or '(', found the end"},
      {"1+*2", 2, "found '*'"},
      {"(1+2", 4, "expected ')' for the '(' in column 1"},
      {"1+2)", 3, "no '('"},
      {"()", 1, "found ')'"},
      {"2 3", 2, "expected an operator or ')', found '3'"},
      {"2x", 1, "expected an operator"},
      {"2(3)", 1, "found '('"},
      {"x y", 2, "found 'y'"},
      {"foo", 0, "unknown name 'foo'"},
      {"1+ln(x)", 2, "unknown name 'ln'"},
      {"X", 0, "unknown name 'X'"},
      {"xy", 0, "unknown name 'xy'"},
      {"sin x", 4, "expected '(' after sin"},
      {"sin", 3, "expected '(' after sin"},
      {"sin()", 4, "found ')'"},
      {"+3", 0, "found '+'"},
      {"1..2", 2, "found '.'"},
      {".", 0, "point without digits"},
      {"0x10", 0, "malformed number"},
      {"1e999", 0, "too large"},
      {"1e", 1, "found 'e'"},
      {"3 % 2", 2, "found '%'"},
      {"3,5", 1, "',' is only for arguments of functions"},
      {"sin(1,2)", 0, "sin takes 1 argument, found 2"},
      {"1+min(2)", 2, "min takes at least 2 arguments, found 1"},
      {"if(1,2)", 0, "if takes 3 arguments, found 2"},
      {"pow(1,2,3)", 0, "pow takes 2 arguments, found 3"},
      {"min(1,)", 6, "found ')'"},
      {"min(,1)", 4, "found ','"},
      {"min(1,(2,3))", 8, "',' is only for arguments of functions"},
      {"1 ? 2", 5, "expected ':' for the '?' in column 3"},
      {"(1 ? 2)", 6, "expected ':' for the '?' in column 4"},
      {"min(1 ? 2, 3)", 9, "expected ':' for the '?' in column 7"},
      {"1 : 2", 2, "there is no '?' for this ':'"},
      {"1 ? 2 : 3 : 4", 10, "there is no '?' for this ':'"},
      {"(1 : 2)", 3, "there is no '?' for this ':'"},
      {"0 < x < 1", 6, "comparisons do not chain"},
      {"x == y == z", 7, "comparisons do not chain"},
      {"x = 1", 2, "found '=' (a comparison is ==)"},
      {"x & y", 2, "found '&'"},
      {"x | y", 2, "found '|'"},
      {"1 <", 3, "found the end"},
      {"1 ! 2", 2, "found '!'"},
      {"1+\001", 2, "a character without meaning"},
      {"1+\xc3\xa9", 2, "a character without meaning"},
      {"nan", 0, "unknown name"},
      {"inf", 0, "unknown name"},
  };

  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    Expr *expr = NULL;
    ExprError error = {0};
    CHECK(expr_parse(cases[i].text, &expr, &error) && !expr, "'%s' is accepted", cases[i].text);
    CHECK(error.column == cases[i].column, "'%s': column %d: %s", cases[i].text, (int)error.column,
          error.message);
    CHECK(strstr(error.message, cases[i].fragment), "'%s': %s", cases[i].text, error.message);
  }
}

// `count` times the piece, then the middle, then `count` times the end.
static char *repeated(const char *piece, const char *middle, const char *end, size_t count) {
  size_t n = strlen(piece), m = strlen(end);
  char *text = malloc(count * (n + m) + strlen(middle) + 1);

  if (!text) return NULL;
  for (size_t i = 0; i < count; i++) memcpy(text + i * n, piece, n);
  strcpy(text + count * n, middle);
  for (size_t i = 0; i < count; i++) memcpy(text + count * n + strlen(middle) + i * m, end, m);
  text[count * (n + m) + strlen(middle)] = '\0';
  return text;
}

TEST(nesting_has_a_limit_and_depth_below_it_works) {
  const struct {
    const char *piece, *middle, *end;
    size_t fine;
  } cases[] = {
      {"(", "1", ")", EXPR_MAX_DEPTH},          {"sin(", "1", ")", EXPR_MAX_DEPTH / 2},
      {"-", "1", "", EXPR_MAX_DEPTH},           {"1^", "1", "", EXPR_MAX_DEPTH - 1},
      {"1+(", "1", ")", EXPR_MAX_DEPTH / 2},    {"1?1:", "1", "", EXPR_MAX_DEPTH / 2 - 1},
      {"min(1,", "1", ")", EXPR_MAX_DEPTH / 3},
  };

  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    for (int absurd = 0; absurd < 2; absurd++) {
      size_t count = absurd ? 1000000 : cases[i].fine;
      char *text = repeated(cases[i].piece, cases[i].middle, cases[i].end, count);
      Expr *expr = NULL;
      ExprError error = {0};
      int refused = expr_parse(text, &expr, &error);
      CHECK(refused == absurd, "%zu times '%s': %s", count, cases[i].piece, error.message);
      if (refused)
        CHECK(strstr(error.message, "nested too deeply"), "%s", error.message);
      else
        CHECK(isfinite(expr_value(expr, point)), "value");
      expr_free(&expr);
      free(text);
    }
  }
}

TEST(long_formulas_without_nesting_are_fine) {
  char *text = repeated("1+", "0", "", 1000000);
  CHECK_NEAR(value_of(text), 1e6, 0, "a sum of a million terms");
  free(text);
}

// Any bytes: either a formula or an error inside the text; the sanitizers watch.
TEST(random_texts_are_parsed_or_refused) {
  static const char alphabet[] = "xyzpi sncoexqrt+-*/^()0123456789.e ,\t?:<>=!&|minaf";
  uint64_t state = 99;
  int accepted = 0;

  for (int i = 0; i < 20000; i++) {
    char text[16];
    size_t n = (size_t)tap_integer(&state, 15);
    for (size_t k = 0; k < n; k++) text[k] = alphabet[tap_integer(&state, sizeof(alphabet) - 1)];
    text[n] = '\0';
    Expr *expr = NULL;
    ExprError error = {.column = 1000};
    if (expr_parse(text, &expr, &error)) {
      CHECK(error.column <= n && *error.message, "'%s': column %d of %d", text, (int)error.column, (int)n);
    } else {
      accepted++;
      expr_value(expr, point);
      expr_free(&expr);
    }
  }
  CHECK(accepted > 10, "only %d of the random texts are formulas", accepted);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(numbers_are_decimal_with_or_without_point_and_exponent, names_are_coordinates_time_normal_and_pi,
            operators_bind_as_in_mathematics, unary_minus_binds_weaker_than_power_and_stronger_than_product,
            functions_are_those_of_the_standard_library, functions_have_as_many_arguments_as_they_need,
            conditions_are_one_or_zero, choices_bind_weakest_and_to_the_right,
            only_what_is_chosen_has_to_be_a_number, what_is_not_a_number_is_hidden_by_no_comparison,
            random_formulas_have_their_value, needed_coordinates_are_known,
            values_outside_the_domain_are_not_finite, errors_point_at_the_column_and_say_what_was_expected,
            nesting_has_a_limit_and_depth_below_it_works, long_formulas_without_nesting_are_fine,
            random_texts_are_parsed_or_refused));
}
