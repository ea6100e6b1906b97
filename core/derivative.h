// SPDX-License-Identifier: BSD-2-Clause
// What the files of derivatives share.
#ifndef RITZ_CORE_DERIVATIVE_H
#define RITZ_CORE_DERIVATIVE_H

#include <ritz/derivative.h>

#include "core/core.h"

// A function that is made of a QFunction's text. Its inputs are those of qf, then the directions of those
// that have one. Its outputs are the derivatives along the directions of qf's outputs. Where inputs
// have_partials, qf has one output of one number instead, an energy, and the function an output for each of
// these inputs, of its size: the partial derivatives of the energy or, where there are directions, of its
// derivative along them.
typedef struct {
  CeedQFunction qf;
  const char *call, *name;    // call: begins messages; name: of the function
  const bool *have_direction; // [num_in]; NULL: no derivatives along directions are asked for
  const bool *have_partials;  // [num_in]; NULL: qf is no energy
  const bool *are_wanted;     // of the outputs above, the others are left out; NULL: all
  // Instead of derivatives along directions, which are no inputs then, all derivatives by the inputs that
  // have_direction, in one output: by number j of these, of number i of the outputs above, as
  // ritz_derivative_entry says.
  bool is_matrix, is_symmetric; // the second: the matrix is symmetric, one half is given
} RitzDerivative;

// Numbers of a matrix of num_rows x num_columns, and where the entry of a row and a column is.
static inline CeedSize ritz_derivative_num_entries(CeedSize num_rows, CeedSize num_columns,
                                                   bool is_symmetric) {
  return is_symmetric ? num_columns * (num_columns + 1) / 2 : num_rows * num_columns;
}
static inline CeedInt ritz_derivative_entry(CeedInt i, CeedInt j, CeedInt num_columns, bool is_symmetric) {
  return !is_symmetric ? i * num_columns + j : i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

// *text (owned by the caller): C++ with the function. CEED_ERROR_UNSUPPORTED: a text that cannot be followed;
// CEED_ERROR_INCOMPLETE: there is no text.
int ritz_derivative_text(const RitzDerivative *wanted, char **text);

// What is asked for: the derivative at a state, or the gradient of an energy.
typedef struct {
  const char *call;        // the public function
  const char *suffix, *of; // of names: of QFunctions, before those of operators
  CeedVector state;        // borrowed; NULL: a gradient
  RitzDerivativeStorage storage;
  CeedInt num_applies; // a state has
} RitzDerivativeRequest;

// A single operator with active fields, [num_in] and behind them [num_out] of are_active; *made has storage
// NOTHING or INPUTS (core/derivative.c), MATRIX (core/derivative-matrix.c), or what is fastest.
int ritz_derivative_create(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                           CeedOperator *made);
int ritz_derivative_create_matrix(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                                  CeedOperator *made);
int ritz_derivative_create_fastest(const RitzDerivativeRequest *r, CeedOperator op, const bool *are_active,
                                   CeedOperator *made);

// ---- Their parts (core/derivative.c) ----

// *name: owned by the caller
int ritz_derivative_join(Ceed ceed, const char *first, const char *second, char **name);
// A field called `before` and the name of `field`, of its size.
int ritz_derivative_add_field(CeedQFunction qf, const char *before, CeedQFunctionField field,
                              CeedEvalMode mode, bool is_output);
// The QFunction, without fields, that computes what is asked for of `from`, by the name of from with the
// suffix; as_matrix: all derivatives (RitzDerivative).
int ritz_derivative_qfunction(const RitzDerivativeRequest *r, CeedQFunction from, const bool *are_active,
                              bool as_matrix, bool is_symmetric, CeedQFunction *qf);
// Makes it on hosts: what the compiler refuses is an error of the call.
int ritz_derivative_compile(const RitzDerivativeRequest *r, CeedQFunction qf, const char *user);
// Which inputs of a gradient its outputs are derivatives by; free it.
int ritz_derivative_partials(CeedQFunction gradient, bool **have_partials);
int ritz_derivative_set_name(const RitzDerivativeRequest *r, CeedOperator op, CeedOperator made);
// Precision, use, route of op; ready.
int ritz_derivative_finish(CeedOperator op, CeedOperator made);

// ---- Numbers at the points of an operator (core/derivative-points.c) ----

typedef struct {
  CeedElemRestriction rstr; // owned: [element][number][point]
  CeedVector vec;           // owned, in the precision of op, without values
} RitzPointNumbers;

// UNSUPPORTED: more than 2^31 - 1 numbers an element.
int ritz_point_numbers_create(const char *call, CeedOperator op, CeedSize num, RitzPointNumbers *numbers);
void ritz_point_numbers_destroy(RitzPointNumbers *numbers);
// Numbers that are what input i of op, of its evaluation mode, is at the state.
int ritz_point_numbers_of_input(const RitzDerivativeRequest *r, CeedOperator op, CeedInt i,
                                RitzPointNumbers *numbers);

#endif
