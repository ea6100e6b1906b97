// SPDX-License-Identifier: BSD-2-Clause
// What the files of derivatives share.
#ifndef RITZ_CORE_DERIVATIVE_H
#define RITZ_CORE_DERIVATIVE_H

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
} RitzDerivative;

// *text (owned by the caller): C++ with the function. CEED_ERROR_UNSUPPORTED: a text that cannot be followed;
// CEED_ERROR_INCOMPLETE: there is no text.
int ritz_derivative_text(const RitzDerivative *wanted, char **text);

#endif
