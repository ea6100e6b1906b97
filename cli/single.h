// SPDX-License-Identifier: BSD-2-Clause
// Bake-off problems in single precision (bench/bp.h), by ritz/precision.h.
#ifndef RITZ_CLI_SINGLE_H
#define RITZ_CLI_SINGLE_H

#include "bench/bp.h"

extern const BpSingle cli_single;

#endif
