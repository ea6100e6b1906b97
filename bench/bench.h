// SPDX-License-Identifier: BSD-2-Clause
// Modes of the program ritz-bench, which `ritz bench` runs; argv[0] is the program's name.
#ifndef RITZ_BENCH_BENCH_H
#define RITZ_BENCH_BENCH_H

#include "cli/args.h"

int bench_bake_off(int argc, char **argv);  // bake-off problems, and --nekbone
int bench_multigrid(int argc, char **argv); // --multigrid
int bench_batched(int argc, char **argv);   // --batched
int bench_routes(int argc, char **argv);    // --routes

extern const ArgCommand bake_off_command, multigrid_command, batched_command, routes_command;

#endif
