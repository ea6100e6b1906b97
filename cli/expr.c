// SPDX-License-Identifier: BSD-2-Clause
// Parser and evaluator of formulas. The parser is Dijkstra's shunting yard with explicit stacks, the result a
// list of steps for a stack machine; so neither of them recurses, whatever the input.
#include "cli/expr.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Operations ----

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static double negate(double a) { return -a; }

// The truth of a condition; what is not a number is neither true nor false.
static double truth(double a, bool is_true) { return isnan(a) ? a : is_true; }
static double not_of(double a) { return truth(a, a == 0); }
static double less(double a, double b) { return truth(a + b, a < b); }
static double less_or_equal(double a, double b) { return truth(a + b, a <= b); }
static double greater(double a, double b) { return less(b, a); }
static double greater_or_equal(double a, double b) { return less_or_equal(b, a); }
static double equal(double a, double b) { return truth(a + b, a == b); }
static double not_equal(double a, double b) { return truth(a + b, a != b); }
static double both(double a, double b) { return a == 0 || isnan(a) ? a : truth(b, b != 0); }
static double either(double a, double b) { return isnan(a) ? a : a != 0 ? 1 : truth(b, b != 0); }
static double choose(double condition, double a, double b) {
  return isnan(condition) ? condition : condition != 0 ? a : b;
}

static double smaller(double a, double b) { return isnan(a) || a < b ? a : b; }
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }

// Binding strengths of operators. Parentheses, functions and '?' wait for ")" or ":" (0).
enum { AT_CLOSE, CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, SIGN, POWER };

// An operator or a function. The one with three arguments is a choice.
typedef struct {
  const char *name;
  int num_arguments;
  int strength;
  bool takes_more; // arguments: a function of two, applied again and again
  double (*one)(double a);
  double (*two)(double a, double b);
  const char *c; // in C, 1 2 3 standing for the arguments; NULL: a function of this name
} Operation;

static const Operation operators[] = {
    // those of two signs come before those of their first one
    {"||", 2, OR, .two = either, .c = "1 != 1 ? 1 : 1 != 0 || 2 == 2 ? (CeedScalar)(1 != 0 || 2 != 0) : 2"},
    {"&&", 2, AND, .two = both, .c = "1 == 0 || 1 != 1 ? 1 : 2 != 2 ? 2 : (CeedScalar)(2 != 0)"},
    {"<=", 2, COMPARISON, .two = less_or_equal, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 <= 2)"},
    {">=", 2, COMPARISON, .two = greater_or_equal, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 >= 2)"},
    {"==", 2, COMPARISON, .two = equal, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 == 2)"},
    {"!=", 2, COMPARISON, .two = not_equal, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 != 2)"},
    {"<", 2, COMPARISON, .two = less, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 < 2)"},
    {">", 2, COMPARISON, .two = greater, .c = "1 + 2 != 1 + 2 ? 1 + 2 : (CeedScalar)(1 > 2)"},
    {"+", 2, SUM, .two = add, .c = "1 + 2"},
    {"-", 2, SUM, .two = subtract, .c = "1 - 2"},
    {"*", 2, PRODUCT, .two = multiply, .c = "1 * 2"},
    {"/", 2, PRODUCT, .two = divide, .c = "1 / 2"},
    {"^", 2, POWER, .two = pow, .c = "pow(1, 2)"},
};
static const Operation minus = {"-", 1, SIGN, .one = negate, .c = "-1"};
static const Operation negation = {"!", 1, SIGN, .one = not_of, .c = "1 != 1 ? 1 : (CeedScalar)(1 == 0)"};
static const Operation parenthesis = {.name = "("};
static const Operation question = {.name = "?"};
static const Operation choice = {":", 3, CHOICE, .c = "1 != 1 ? 1 : 1 != 0 ? 2 : 3"};

static const Operation functions[] = {
    {"sin", 1, .one = sin},
    {"cos", 1, .one = cos},
    {"tan", 1, .one = tan},
    {"asin", 1, .one = asin},
    {"acos", 1, .one = acos},
    {"atan", 1, .one = atan},
    {"sinh", 1, .one = sinh},
    {"cosh", 1, .one = cosh},
    {"tanh", 1, .one = tanh},
    {"exp", 1, .one = exp},
    {"log", 1, .one = log},
    {"log2", 1, .one = log2},
    {"log10", 1, .one = log10},
    {"sqrt", 1, .one = sqrt},
    {"cbrt", 1, .one = cbrt},
    {"abs", 1, .one = fabs, .c = "fabs(1)"},
    {"fabs", 1, .one = fabs},
    {"floor", 1, .one = floor},
    {"ceil", 1, .one = ceil},
    {"round", 1, .one = round},
    {"erf", 1, .one = erf},
    {"atan2", 2, .two = atan2},
    {"pow", 2, .two = pow},
    {"hypot", 2, .two = hypot},
    {"fmod", 2, .two = fmod},
    {"min", 2, .takes_more = true, .two = smaller, .c = "1 != 1 || 1 < 2 ? 1 : 2"},
    {"max", 2, .takes_more = true, .two = larger, .c = "1 != 1 || 1 > 2 ? 1 : 2"},
    {"if", 3, .c = "1 != 1 ? 1 : 1 != 0 ? 2 : 3"},
};

static const char *const variables[EXPR_NUM_VARIABLES] = {"x", "y", "z", "t", "nx", "ny", "nz", "u"};
enum { TIME = 3, NORMAL = 4, UNKNOWN = 7 }; // numbers of t, nx and u

// What is done to the stack of values: an operation; else a variable or, where that is < 0, a number is put
// on top.
typedef struct {
  const Operation *operation; // NULL: none
  int variable;
  double number;
} Step;

struct Expr {
  size_t num_steps;
  int num_coordinates, num_normals;
  bool uses_time, uses_unknown;
  Step steps[]; // in the order of evaluation
};

// An operation that waits for its right operand, or a function for its arguments, and where it stands.
typedef struct {
  const Operation *operation;
  size_t column;
  int num_arguments; // of a function, complete ones
} Waiting;

typedef struct {
  const char *text;
  size_t at; // next byte
  Expr *expr;
  ExprError *error;
  int num_waiting;
  Waiting waiting[EXPR_MAX_DEPTH];
  int num_values; // values on the stack when the steps so far have run
} Parser;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail(Parser *p, size_t column, const char *format, ...) {
  va_list args;

  p->error->column = column;
  va_start(args, format);
  vsnprintf(p->error->message, sizeof(p->error->message), format, args);
  va_end(args);
  return false;
}

// ---- Emitting ----

static bool emit_value(Parser *p, int variable, double number, size_t column) {
  Expr *expr = p->expr;

  if (p->num_values == EXPR_MAX_DEPTH)
    return fail(p, column, "nested too deeply: more than %d values wait here", EXPR_MAX_DEPTH);
  p->num_values++;
  expr->steps[expr->num_steps++] = (Step){NULL, variable, number};
  if (variable == TIME) expr->uses_time = true;
  if (variable == UNKNOWN) expr->uses_unknown = true;
  if (variable < TIME && expr->num_coordinates < variable + 1) expr->num_coordinates = variable + 1;
  if (variable >= NORMAL && variable < UNKNOWN && expr->num_normals < variable - NORMAL + 1)
    expr->num_normals = variable - NORMAL + 1;
  return true;
}

static void emit(Parser *p, const Operation *operation) {
  p->num_values -= operation->num_arguments - 1;
  p->expr->steps[p->expr->num_steps++] = (Step){.operation = operation};
}

static bool wait_for_operand(Parser *p, const Operation *operation, size_t column) {
  if (p->num_waiting == EXPR_MAX_DEPTH)
    return fail(p, column, "nested too deeply: more than %d operations are open here", EXPR_MAX_DEPTH);
  p->waiting[p->num_waiting++] = (Waiting){operation, column, 1};
  return true;
}

// What waits on top, or below it; NULL: nothing.
static Waiting *waiting(Parser *p, int below) {
  return p->num_waiting > below ? &p->waiting[p->num_waiting - 1 - below] : NULL;
}

// Emits what waits and binds at least as strongly as `least`.
static void emit_waiting(Parser *p, int least) {
  while (p->num_waiting && waiting(p, 0)->operation->strength >= least)
    emit(p, p->waiting[--p->num_waiting].operation);
}

// ---- Tokens ----

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static void skip_formula_blanks(Parser *p) { p->at += strspn(p->text + p->at, " \t\n\r"); }

// Length of the decimal number at s: digits, point, exponent.
static size_t number_length(const char *s) {
  size_t n = strspn(s, "0123456789");

  if (s[n] == '.') n += 1 + strspn(s + n + 1, "0123456789");
  if (s[n] == 'e' || s[n] == 'E') {
    size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
    if (is_digit(s[n + 1 + sign])) n += 1 + sign + strspn(s + n + 1 + sign, "0123456789");
  }
  return n;
}

static bool parse_number(Parser *p) {
  const char *s = p->text + p->at;
  size_t column = p->at, n = number_length(s);
  char *end;

  if (n == 1 && *s == '.') return fail(p, column, "a point without digits is not a number");
  double value = strtod(s, &end);
  if (end != s + n) return fail(p, column, "malformed number (decimal numbers only)"); // strtod knows 0x10
  if (!isfinite(value)) return fail(p, column, "this number is too large");
  p->at += n;
  return emit_value(p, -1, value, column);
}

static bool is_name(const char *name, const char *s, size_t n) {
  return strlen(name) == n && !strncmp(name, s, n);
}

static bool open_function(Parser *p, const Operation *function, size_t column) {
  skip_formula_blanks(p);
  if (p->text[p->at] != '(') return fail(p, p->at, "expected '(' after %s", function->name);
  p->at++;
  return wait_for_operand(p, function, column) && wait_for_operand(p, &parenthesis, p->at - 1);
}

// A name: pushes its value (*operand_done), or opens a function call.
static bool parse_name(Parser *p, bool *operand_done) {
  const char *s = p->text + p->at;
  size_t column = p->at, n = 0;

  while (is_letter(s[n]) || is_digit(s[n])) n++;
  p->at += n;
  *operand_done = true;
  if (is_name("pi", s, n)) return emit_value(p, -1, 3.14159265358979323846, column);
  for (int i = 0; i < EXPR_NUM_VARIABLES; i++) {
    if (is_name(variables[i], s, n)) return emit_value(p, i, 0, column);
  }
  *operand_done = false;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    if (is_name(functions[i].name, s, n)) return open_function(p, &functions[i], column);
  }
  return fail(p, column, "unknown name '%.*s' (known are x y z t nx ny nz u pi, and functions, see --help)",
              (int)(n > 40 ? 40 : n), s);
}

// Names the character (or the end) that was found at the parser's place.
static const char *found(const Parser *p, char text[8]) {
  unsigned char c = (unsigned char)p->text[p->at];

  if (!c) return "the end";
  if (c < 0x20 || c >= 0x7f) return "a character without meaning";
  snprintf(text, 8, "'%c'", c);
  return text;
}

// Where an operand has to begin. *operand_done when it is complete.
static bool parse_operand(Parser *p, bool *operand_done) {
  char c = p->text[p->at], text[8];
  size_t column = p->at;

  if (is_digit(c) || c == '.') {
    *operand_done = true;
    return parse_number(p);
  }
  if (is_letter(c)) return parse_name(p, operand_done);
  if (c == '-' || c == '!' || c == '(') {
    p->at++;
    return wait_for_operand(p, c == '-' ? &minus : c == '!' ? &negation : &parenthesis, column);
  }
  return fail(p, column, "expected a number, a name or '(', found %s", found(p, text));
}

// What a parenthesis, a comma or the end finds open behind the last '('.
static bool close_choices(Parser *p) {
  emit_waiting(p, CHOICE);
  if (!p->num_waiting || waiting(p, 0)->operation != &question) return true;
  return fail(p, p->at, "expected ':' for the '?' in column %zu", waiting(p, 0)->column + 1);
}

static bool call_function(Parser *p, const Waiting *call) {
  const Operation *function = call->operation;
  const int num = call->num_arguments, wanted = function->num_arguments;

  if (function->takes_more ? num < wanted : num != wanted) {
    return fail(p, call->column, "%s takes %s%d argument%s, found %d", function->name,
                function->takes_more ? "at least " : "", wanted, wanted > 1 ? "s" : "", num);
  }
  for (int i = wanted; i <= num; i++) emit(p, function);
  return true;
}

static bool close_parenthesis(Parser *p) {
  if (!close_choices(p)) return false;
  if (!p->num_waiting) return fail(p, p->at, "there is no '(' for this ')'");
  p->num_waiting--;
  p->at++;
  const Waiting *call = waiting(p, 0);

  if (!call || call->operation->strength != AT_CLOSE || !call->operation->num_arguments) return true;
  p->num_waiting--;
  return call_function(p, call);
}

// ",": the next argument of a function begins.
static bool parse_comma(Parser *p) {
  if (!close_choices(p)) return false;
  Waiting *call = p->num_waiting ? waiting(p, 1) : NULL;

  if (!call || call->operation->strength != AT_CLOSE || !call->operation->num_arguments)
    return fail(p, p->at, "',' is only for arguments of functions");
  call->num_arguments++;
  p->at++;
  return true;
}

// ":": what stands behind it is chosen where the condition before the '?' is 0.
static bool parse_colon(Parser *p) {
  emit_waiting(p, CHOICE);
  if (!p->num_waiting || waiting(p, 0)->operation != &question)
    return fail(p, p->at, "there is no '?' for this ':'");
  *waiting(p, 0) = (Waiting){&choice, p->at++, 1};
  return true;
}

static const Operation *find_operator(const char *s) {
  for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
    if (!strncmp(s, operators[i].name, strlen(operators[i].name))) return &operators[i];
  }
  return NULL;
}

static bool parse_binary(Parser *p) {
  const Operation *operation = find_operator(p->text + p->at);
  const size_t column = p->at;
  char text[8];

  if (!operation)
    return fail(p, column, "expected an operator or ')', found %s%s", found(p, text),
                p->text[p->at] == '=' ? " (a comparison is ==)" : "");
  // An operation that binds to the left also takes waiting operations of its own strength.
  emit_waiting(p, operation->strength == POWER || operation->strength == COMPARISON ? operation->strength + 1
                                                                                    : operation->strength);
  if (operation->strength == COMPARISON && p->num_waiting && waiting(p, 0)->operation->strength == COMPARISON)
    return fail(p, column, "comparisons do not chain, join them by &&");
  p->at += strlen(operation->name);
  return wait_for_operand(p, operation, column);
}

// Where an operator, ",", ")" or the end has to follow. Sets *operand_done = false when an operand is due.
static bool parse_operator(Parser *p, bool *operand_done) {
  const char c = p->text[p->at];

  if (c == ')') return close_parenthesis(p);
  *operand_done = false;
  if (c == ',') return parse_comma(p);
  if (c == ':') return parse_colon(p);
  if (c != '?') return parse_binary(p);
  emit_waiting(p, CHOICE + 1); // a choice binds to the right
  return wait_for_operand(p, &question, p->at++);
}

static bool parse_all(Parser *p) {
  bool operand_done = false;

  for (skip_formula_blanks(p); p->text[p->at] || !operand_done; skip_formula_blanks(p)) {
    if (!(operand_done ? parse_operator(p, &operand_done) : parse_operand(p, &operand_done))) return false;
  }
  if (!close_choices(p)) return false;
  if (p->num_waiting)
    return fail(p, p->at, "expected ')' for the '(' in column %zu", waiting(p, 0)->column + 1);
  return true;
}

int expr_parse(const char *text, Expr **expr, ExprError *error) {
  Parser parser = {.text = text, .error = error};

  *expr = NULL;
  // Every step comes from at least one byte of the text.
  parser.expr = malloc(sizeof(Expr) + (strlen(text) + 1) * sizeof(Step));
  if (!parser.expr) {
    fail(&parser, 0, "not enough memory");
    return 1;
  }
  *parser.expr = (Expr){0};
  if (!parse_all(&parser)) {
    free(parser.expr);
    return 1;
  }
  *expr = parser.expr;
  return 0;
}

void expr_free(Expr **expr) {
  free(*expr);
  *expr = NULL;
}

// ---- Evaluation ----

static void operate(const Operation *operation, double stack[], int *top) {
  double *to = &stack[ *top -= operation->num_arguments - 1];

  if (operation->num_arguments == 1)
    *to = operation->one(to[0]);
  else if (operation->num_arguments == 2)
    *to = operation->two(to[0], to[1]);
  else
    *to = choose(to[0], to[1], to[2]);
}

double expr_value(const Expr *expr, const double x[EXPR_NUM_VARIABLES]) {
  double stack[EXPR_MAX_DEPTH];
  int top = -1;

  for (size_t i = 0; i < expr->num_steps; i++) {
    const Step *step = &expr->steps[i];

    if (step->operation)
      operate(step->operation, stack, &top);
    else
      stack[++top] = step->variable < 0 ? step->number : x[step->variable];
  }
  return stack[top];
}

int expr_num_coordinates(const Expr *expr) { return expr->num_coordinates; }

bool expr_uses_time(const Expr *expr) { return expr->uses_time; }

int expr_num_normals(const Expr *expr) { return expr->num_normals; }

bool expr_uses_unknown(const Expr *expr) { return expr->uses_unknown; }

// ---- C ----

// A line that sets a new name to the operation on others.
static void write_operation(const Operation *operation, const int *arguments, int result, FILE *stream) {
  fprintf(stream, "  const CeedScalar t%d = ", result);
  if (!operation->c) {
    fprintf(stream, "%s(", operation->name);
    for (int i = 0; i < operation->num_arguments; i++) fprintf(stream, "%st%d", i ? ", " : "", arguments[i]);
    fputc(')', stream);
  }
  for (const char *c = operation->c; c && *c; c++) {
    if (*c >= '1' && *c <= '3')
      fprintf(stream, "t%d", arguments[*c - '1']);
    else
      fputc(*c, stream);
  }
  fputs(";\n", stream);
}

void expr_write_c(const Expr *expr, const char *name, FILE *stream) {
  int stack[EXPR_MAX_DEPTH], top = -1;

  fprintf(stream, "CEED_QFUNCTION_HELPER CeedScalar %s(const CeedScalar x, const CeedScalar y,\n", name);
  fprintf(stream, "    const CeedScalar z, const CeedScalar t, const CeedScalar u) {\n");
  fprintf(stream, "  (void)x, (void)y, (void)z, (void)t, (void)u;\n");
  for (int i = 0; i < (int)expr->num_steps; i++) {
    const Step *step = &expr->steps[i];

    if (step->operation) {
      top -= step->operation->num_arguments - 1;
      write_operation(step->operation, &stack[top], i, stream);
    } else {
      top++;
      if (step->variable < 0)
        fprintf(stream, "  const CeedScalar t%d = (CeedScalar)%.17g;\n", i, step->number);
      else
        fprintf(stream, "  const CeedScalar t%d = %s;\n", i, variables[step->variable]);
    }
    stack[top] = i;
  }
  fprintf(stream, "  return t%d;\n}\n", stack[top]);
}
