// SPDX-License-Identifier: BSD-2-Clause
// Where results of `ritz bench` go: files, "-" for standard output; what is told beside them.
#ifndef RITZ_BENCH_RESULTS_H
#define RITZ_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/plot.h"
#include "bp/bp.h"
#include "cli/args.h"

// Opens the files of --json and --plot before the work is done, both or none; NULL without one. CLI_FAILED: a
// message was printed.
int results_open(const ArgCommand *command, const char *json_path, FILE **json, const char *plot_path,
                 FILE **plot);
// Files may be NULL.
int results_close(const ArgCommand *command, const char *json_path, FILE *json, const char *plot_path,
                  FILE *plot);

bool results_has_ending(const char *path, const char *ending);

// "Ritz on" the machine.
void results_name_plot(const BpMachine *machine, char *title, size_t size);

// Title and subtitle are made here: the machine, `what`, precision and resource.
int results_write_plot(const ArgCommand *command, FILE *file, const BpMachine *machine, const char *what,
                       bool is_single, const char *resource, Plot plot);

// Figures of the machine that a run contradicts, by less than its time at least, are measured again, once.
void results_doubt_limits(const BpResult *result);

// How many kernels were compiled or found; nothing for backends without generated kernels.
void results_show_kernels(void);

#endif
