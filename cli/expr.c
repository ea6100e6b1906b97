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

// Operations. The first ones push a value.
typedef enum {
  NUMBER,
  X,
  Y,
  Z,
  T,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  POWER,
  NEGATE,
  SIN,
  COS,
  EXP,
  SQRT,
  PAREN
} Operation;

typedef struct {
  Operation operation;
  double number; // of NUMBER
} Step;

struct Expr {
  size_t num_steps;
  int num_coordinates;
  bool uses_time;
  Step steps[]; // in the order of evaluation
};

// Binding strength of what waits on the stack of operations; a parenthesis and functions wait for ")".
static const int strength[] = {
    [ADD] = 1, [SUBTRACT] = 1, [MULTIPLY] = 2, [DIVIDE] = 2, [NEGATE] = 3, [POWER] = 4,
    [SIN] = 0, [COS] = 0,      [EXP] = 0,      [SQRT] = 0,   [PAREN] = 0,
};

static const struct {
  const char *name;
  Operation operation;
  double number;
} names[] = {
    {"x", X, 0},
    {"y", Y, 0},
    {"z", Z, 0},
    {"t", T, 0},
    {"pi", NUMBER, 3.14159265358979323846},
    {"sin", SIN, 0},
    {"cos", COS, 0},
    {"exp", EXP, 0},
    {"sqrt", SQRT, 0},
};

// An operation that waits for its right operand, and where it stands.
typedef struct {
  Operation operation;
  size_t column;
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

static bool emit(Parser *p, Operation operation, double number, size_t column) {
  bool pushes = operation <= T, binary = operation >= ADD && operation <= POWER;

  if (pushes && p->num_values == EXPR_MAX_DEPTH) {
    return fail(p, column, "nested too deeply: more than %d values wait here", EXPR_MAX_DEPTH);
  }
  p->num_values += pushes ? 1 : binary ? -1 : 0;
  p->expr->steps[p->expr->num_steps++] = (Step){operation, number};
  if (operation == T) p->expr->uses_time = true;
  if (operation >= X && operation <= Z && p->expr->num_coordinates < (int)(operation - X) + 1) {
    p->expr->num_coordinates = (int)(operation - X) + 1;
  }
  return true;
}

static bool wait_for_operand(Parser *p, Operation operation, size_t column) {
  if (p->num_waiting == EXPR_MAX_DEPTH) {
    return fail(p, column, "nested too deeply: more than %d operations are open here", EXPR_MAX_DEPTH);
  }
  p->waiting[p->num_waiting++] = (Waiting){operation, column};
  return true;
}

// Emits what waits and binds at least as strongly as `least`, down to an open parenthesis.
static bool emit_waiting(Parser *p, int least) {
  while (p->num_waiting && p->waiting[p->num_waiting - 1].operation != PAREN &&
         strength[p->waiting[p->num_waiting - 1].operation] >= least) {
    const Waiting *top = &p->waiting[--p->num_waiting];
    if (!emit(p, top->operation, 0, top->column)) return false;
  }
  return true;
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
  return emit(p, NUMBER, value, column);
}

// A name: pushes its value (*operand_done), or opens a function call.
static bool parse_name(Parser *p, bool *operand_done) {
  const char *s = p->text + p->at;
  size_t column = p->at, n = 0;

  while (is_letter(s[n]) || is_digit(s[n])) n++;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strlen(names[i].name) != n || strncmp(names[i].name, s, n) != 0) continue;
    p->at += n;
    if (names[i].operation <= T) {
      *operand_done = true;
      return emit(p, names[i].operation, names[i].number, column);
    }
    skip_formula_blanks(p);
    if (p->text[p->at] != '(') return fail(p, p->at, "expected '(' after %s", names[i].name);
    p->at++;
    return wait_for_operand(p, names[i].operation, column) && wait_for_operand(p, PAREN, p->at - 1);
  }
  return fail(p, column, "unknown name '%.*s' (known are x y z t pi sin cos exp sqrt)",
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
  if (c == '-' || c == '(') {
    p->at++;
    return wait_for_operand(p, c == '-' ? NEGATE : PAREN, column);
  }
  return fail(p, column, "expected a number, a name or '(', found %s", found(p, text));
}

static bool close_parenthesis(Parser *p) {
  if (!emit_waiting(p, 0)) return false;
  if (!p->num_waiting) return fail(p, p->at, "there is no '(' for this ')'");
  p->num_waiting--;
  p->at++;
  if (p->num_waiting && p->waiting[p->num_waiting - 1].operation >= SIN &&
      p->waiting[p->num_waiting - 1].operation <= SQRT) {
    const Waiting *function = &p->waiting[--p->num_waiting];
    return emit(p, function->operation, 0, function->column);
  }
  return true;
}

// Where an operator, ")" or the end has to follow. Sets *operand_done = false when an operand is due.
static bool parse_operator(Parser *p, bool *operand_done) {
  static const char symbols[] = "+-*/^";
  char c = p->text[p->at], text[8];
  const char *symbol = strchr(symbols, c);
  size_t column = p->at;

  if (c == ')') return close_parenthesis(p);
  if (!symbol) return fail(p, column, "expected an operator or ')', found %s", found(p, text));
  Operation operation = (Operation)(ADD + (symbol - symbols));
  // An operation that binds to the left also takes waiting operations of its own strength.
  if (!emit_waiting(p, operation == POWER ? strength[POWER] + 1 : strength[operation])) return false;
  *operand_done = false;
  p->at++;
  return wait_for_operand(p, operation, column);
}

static bool parse_all(Parser *p) {
  bool operand_done = false;

  for (skip_formula_blanks(p); p->text[p->at] || !operand_done; skip_formula_blanks(p)) {
    if (!(operand_done ? parse_operator(p, &operand_done) : parse_operand(p, &operand_done))) return false;
  }
  if (!emit_waiting(p, 0)) return false;
  if (p->num_waiting)
    return fail(p, p->at, "expected ')' for the '(' in column %zu",
                p->waiting[p->num_waiting - 1].column + 1);
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
  parser.expr->num_steps = 0;
  parser.expr->num_coordinates = 0;
  parser.expr->uses_time = false;
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

static double combine(Operation operation, double a, double b) {
  switch (operation) {
  case ADD: return a + b;
  case SUBTRACT: return a - b;
  case MULTIPLY: return a * b;
  case DIVIDE: return a / b;
  default: return pow(a, b);
  }
}

static double transform(Operation operation, double a) {
  switch (operation) {
  case SIN: return sin(a);
  case COS: return cos(a);
  case EXP: return exp(a);
  case SQRT: return sqrt(a);
  default: return -a;
  }
}

double expr_value(const Expr *expr, const double x[EXPR_NUM_VARIABLES]) {
  double stack[EXPR_MAX_DEPTH];
  int top = -1;

  for (size_t i = 0; i < expr->num_steps; i++) {
    const Step *step = &expr->steps[i];

    if (step->operation == NUMBER) {
      stack[++top] = step->number;
    } else if (step->operation <= T) {
      stack[++top] = x[step->operation - X];
    } else if (step->operation <= POWER) {
      stack[top - 1] = combine(step->operation, stack[top - 1], stack[top]);
      top--;
    } else {
      stack[top] = transform(step->operation, stack[top]);
    }
  }
  return stack[top];
}

int expr_num_coordinates(const Expr *expr) { return expr->num_coordinates; }

bool expr_uses_time(const Expr *expr) { return expr->uses_time; }
