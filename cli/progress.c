// SPDX-License-Identifier: BSD-2-Clause
// Progress of an iteration on stderr.
#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

void progress_start(Progress *p, double rtol) {
  *p = (Progress){.terminal = isatty(STDERR_FILENO), .rtol = rtol, .start = cli_seconds()};
}

// Part of the way to the relative tolerance, by the logarithm of the residual.
static double part_done(const Progress *p, double residual) {
  if (!(p->rtol > 0 && p->rtol < 1) || !(residual > 0) || !(p->first > 0)) return 0;
  return fmin(1, fmax(0, log(residual / p->first) / log(p->rtol)));
}

static void show_on_terminal(Progress *p, CeedInt iteration, double residual) {
  static const char full[] = "########################", empty[] = "........................";
  double part = part_done(p, residual), now = cli_seconds();
  int cells = (int)sizeof(full) - 1, done = (int)(part * cells), width;

  if (iteration > 0 && now - p->last_shown < 0.05) return;
  p->last_shown = now;
  width = fprintf(stderr, "\r  iteration %6" CeedInt_FMT "  |r| %9.3e  [%.*s%.*s] %3.0f %%  %.1f s",
                  iteration, residual, done, full, cells - done, empty, 100 * part, now - p->start);
  if (width < p->width) fprintf(stderr, "%*s", p->width - width, "");
  p->width = width > p->width ? width : p->width;
  fflush(stderr);
}

// 0 10 20 .. 90 100 200 .. 900 1000 2000 ..
static bool is_round(CeedInt iteration) {
  CeedInt step = 10;

  while (iteration / 10 >= step) step *= 10;
  return iteration % step == 0;
}

int progress_monitor(void *progress, CeedInt iteration, double residual, bool *stop) {
  Progress *p = progress;

  (void)stop;
  if (iteration == 0) p->first = residual;
  if (p->terminal)
    show_on_terminal(p, iteration, residual);
  else if (is_round(iteration))
    fprintf(stderr, "  iteration %6" CeedInt_FMT "  |r| %9.3e\n", iteration, residual);
  return CEED_ERROR_SUCCESS;
}

void progress_end(Progress *p) {
  if (p->terminal && p->width) fprintf(stderr, "\r%*s\r", p->width, "");
  fflush(stderr);
}
