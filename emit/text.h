// SPDX-License-Identifier: BSD-2-Clause
// Texts of kernels: growing texts, definitions, tables. For emit/.
#ifndef RITZ_EMIT_TEXT_H
#define RITZ_EMIT_TEXT_H

#include "base/text.h"

// Lines #define for "NAME" or "NAME=value".
void ritz_text_add_defines(RitzText *text, int num, char *const *defines);
// A table of a text for devices, RITZ_CONSTANT RitzReal name[], to the last digit whatever the locale.
void ritz_text_add_table(RitzText *text, const char *name, CeedInt rows, CeedInt columns,
                         const CeedScalar *table);

#endif
