// SPDX-License-Identifier: BSD-2-Clause
// What bake-off problems (bench/bp.h) have that the Ceed API has not: single precision, by ritz/precision.h;
// tetrahedra, by ritz/basis.h.
#ifndef RITZ_CLI_SINGLE_H
#define RITZ_CLI_SINGLE_H

#include "bench/bp.h"

extern const BpSingle cli_single;
extern const BpTets cli_tets;

#endif
