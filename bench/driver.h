// SPDX-License-Identifier: BSD-2-Clause
// What all benchmarks of ritz-bench have in common: they read options, open a context and files, run, and say
// what was compiled. A benchmark is a table of options, a check of them and a function that runs its cases.
#ifndef RITZ_BENCH_DRIVER_H
#define RITZ_BENCH_DRIVER_H

#include <stdio.h>

#include "bench/plot.h"
#include "bp/bp.h"
#include "cli/args.h"
#include "cli/threads.h"

// Options of all benchmarks: a member of those of each one.
typedef struct {
  ThreadsChoice on;
  const char *json, *plot; // NULL: not wanted
  int reps;                // 0: by time
} BenchCommon;

#define BENCH_JSON(place)                                                                                    \
  ARG_OPTION("--json", "FILE", ARG_TEXT, place, 0, 0,                                                        \
             "write the results, \"-\" for standard output instead of the table")
#define BENCH_PLOT(place, help) ARG_OPTION("--plot", "FILE.svg", ARG_TEXT, place, 0, 0, help)

// State of a run.
typedef struct {
  const ArgCommand *command;
  const void *options; // the benchmark's
  const BenchCommon *common;
  Ceed ceed;
  int num_threads;
  BpMachine machine;         // limits of what computes, once bench_find_limits was called
  FILE *json, *plot, *table; // NULL: not wanted
} Bench;

typedef struct {
  const ArgCommand *args;
  const void *defaults; // options, `size` bytes
  size_t size, common;  // common: offset of their BenchCommon
  int num_threads;      // of the context where none are asked for; 0: as many as the process may use
  ArgsResult (*check)(const void *options);
  int (*run)(Bench *b); // an exit code; prints to b->table, writes to b->json and b->plot
} BenchCommand;

int bench_main(const BenchCommand *command, int argc, char **argv);

// ---- For what runs ----

// Sets and shows b->machine; is_single: what is measured computes in float.
void bench_find_limits(Bench *b, bool is_single);
// Figures of the machine that a run contradicts, by less than its time at least, are measured again, once.
void bench_doubt_limits(const BpResult *result);
// "Ritz on" the machine.
void bench_name_plot(const BpMachine *machine, char *title, size_t size);
// Title and subtitle are made here: the machine, `what`, precision and resource. An exit code.
int bench_write_plot(const Bench *b, const char *what, bool is_single, Plot plot);

#endif
