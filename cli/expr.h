// SPDX-License-Identifier: BSD-2-Clause
// Formulas given on the command line, such as "2*x*sin(pi*y)": parsed once, evaluated at many points. Used by
// the commands and by tests/test-expr.c; printing errors is left to the callers.
//
//     numbers     2 .5 1e-3, decimal; pi; there is no implicit product
//     variables   x y z, the time t, the outward normal nx ny nz, the unknown u
//     operators   from the strongest: ^ (to the right); unary - and !; * /; + -; < <= > >= == !=; &&; ||; a ?
//     b : c functions   sin cos tan asin acos atan sinh cosh tanh exp log log2 log10 sqrt cbrt abs fabs floor
//     ceil round
//                 erf; atan2 pow hypot fmod of two arguments, min max of two or more, if(condition, a, b)
//
// So -2^2 = -4, 2^3^2 = 2^9, 2^-1 = 0.5. Conditions are numbers: 0 is false, comparisons give 1 or 0.
// Comparisons do not chain: 0 < x < 1 is refused. As in C, what && || ? : do not ask for may be anything;
// other operations on what is not a number are not a number, comparisons, min and max among them.
#ifndef RITZ_CLI_EXPR_H
#define RITZ_CLI_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

// Value at x, y, z, t, nx, ny, nz, u. Not a finite number outside the domain (1/0, sqrt(-1)).
enum { EXPR_NUM_VARIABLES = 8 };
double expr_value(const Expr *expr, const double x[EXPR_NUM_VARIABLES]);

// How many of x, y, z the formula needs: 0 for a constant, 3 when z occurs.
int expr_num_coordinates(const Expr *expr);
bool expr_uses_time(const Expr *expr);
// How many of nx, ny, nz: 0 where the normal has no say.
int expr_num_normals(const Expr *expr);
bool expr_uses_unknown(const Expr *expr);

// Writes a function `name` of x, y, z, t and u as run-time compilers take it, for a formula without normals:
// the same operations, which compilers may fuse, so that values differ by rounding from those of expr_value.
void expr_write_c(const Expr *expr, const char *name, FILE *stream);

#endif
