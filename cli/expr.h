// SPDX-License-Identifier: BSD-2-Clause
// Formulas given on the command line, such as "2*x*sin(pi*y)": parsed once, evaluated at many points. Used by
// the commands and by tests/test-expr.c; printing errors is left to the callers.
//
//     numbers   x y z t pi   + - * / ^ ( )   unary minus   sin cos exp sqrt
//
// ^ binds strongest and to the right, unary minus comes next: -2^2 = -4, 2^3^2 = 2^9, 2^-1 = 0.5; then * and
// /, then + and -, both to the left. Numbers are decimal: 2, .5, 1e-3. There is no implicit product.
#ifndef RITZ_CLI_EXPR_H
#define RITZ_CLI_EXPR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Expr Expr;

// Error in a formula, and the byte where it shows.
typedef struct {
  size_t column; // from 0
  char message[160];
} ExprError;

// Returns 0 and a formula to be freed, or 1 and the error. Nesting is limited to EXPR_MAX_DEPTH open
// operations and as many values waiting for them; there is no recursion.
enum { EXPR_MAX_DEPTH = 256 };
int expr_parse(const char *text, Expr **expr, ExprError *error);
void expr_free(Expr **expr);

// Value at x, y, z and the time t. Not a finite number outside the domain (1/0, sqrt(-1)).
enum { EXPR_NUM_VARIABLES = 4 };
double expr_value(const Expr *expr, const double x[EXPR_NUM_VARIABLES]);

// How many of x, y, z the formula needs: 0 for a constant, 3 when z occurs.
int expr_num_coordinates(const Expr *expr);
bool expr_uses_time(const Expr *expr);

#endif
