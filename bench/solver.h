// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients of ritz/solver.h for bake-off problems (bp/bp.h).
#ifndef RITZ_BENCH_SOLVER_H
#define RITZ_BENCH_SOLVER_H

#include "bp/bp.h"

extern const BpSolver bench_solver; // variant: a RitzCGVariant, RITZ_CG_AUTO

#endif
