// SPDX-License-Identifier: BSD-2-Clause
// Progress of an iteration on stderr: one line that is rewritten on a terminal, otherwise plain lines that
// become rarer. A RitzMonitorFunction of `ritz solve`.
#ifndef RITZ_CLI_PROGRESS_H
#define RITZ_CLI_PROGRESS_H

#include <ceed.h>
#include <stdbool.h>

typedef struct {
  bool terminal;
  double rtol;
  double start, last_shown; // seconds
  double first;             // residual before the first iteration
  int width;                // characters on the terminal's line
} Progress;

void progress_start(Progress *progress, double rtol);
int progress_monitor(void *progress, CeedInt iteration, double residual, bool *stop);
void progress_end(Progress *progress); // removes the line from the terminal

#endif
