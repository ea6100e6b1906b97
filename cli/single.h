// SPDX-License-Identifier: BSD-2-Clause
// What bake-off problems (bp/bp.h) have that the Ceed API has not: single precision, by ritz/precision.h;
// tetrahedra, prisms and pyramids, by ritz/basis.h.
#ifndef RITZ_CLI_SINGLE_H
#define RITZ_CLI_SINGLE_H

#include "bp/bp.h"

extern const BpSingle cli_single;
// Shapes in the order of the words of --shape: hex (NULL), tet, prism, pyramid.
enum { CLI_HEX, CLI_TET, CLI_NUM_SHAPES = 4 };
extern const BpShape *const cli_shapes[CLI_NUM_SHAPES];

#endif
