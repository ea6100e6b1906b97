// SPDX-License-Identifier: BSD-2-Clause
// What texts have in common that call the QFunction by unit vectors (kernels/cpu/diagonal.h). Called by
// emit/diagonal.c and emit/matrix.c.
#ifndef RITZ_EMIT_UNIT_VECTORS_H
#define RITZ_EMIT_UNIT_VECTORS_H

#include "emit/cpu-text.h"
#include "plan/diagonal.h"

// A constant array of n ints.
void ritz_emit_integers(RitzText *text, const char *name, CeedInt n, const int32_t *values);
// ritz_unit_vector of `size` scalars: a one in the middle of zeros.
void ritz_emit_unit_vector(RitzText *text, CeedInt size);
// Declarations of the function's arguments: active inputs, active outputs, and each of the others.
void ritz_emit_unit_arguments(RitzEmitter *e, const RitzDiagonalPlan *p, const char *indent);
// The function ritz_point until its first call: arguments, passive inputs, the lists `in` and `out`.
void ritz_emit_unit_begin(RitzEmitter *e, const RitzDiagonalPlan *p);

#endif
