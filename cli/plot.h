// SPDX-License-Identifier: BSD-2-Clause
// A roofline plot as an SVG file: rates over arithmetic intensity, both logarithmic, below what bandwidth and
// peak of a machine allow. Used by `ritz bench`.
#ifndef RITZ_CLI_PLOT_H
#define RITZ_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PLOT_NAME = 64 };

// Points of the same group have one colour, those of the same kind one marker; both together are a series.
typedef struct {
  char group[PLOT_NAME], kind[PLOT_NAME];
  int label;        // the number beside it
  double intensity; // flops/byte > 0
  double rate;      // flops/s > 0
  double bound;     // the highest rate possible, when it lies below the roof; 0: none
} PlotPoint;

typedef struct {
  const char *title, *subtitle;
  const char *label_meaning; // of the numbers beside the points
  double bandwidth, peak;    // bytes/s, flops/s; zeros: there is no roof to draw
  size_t num;
  const PlotPoint *points; // borrowed
} Plot;

// false: no memory. Errors of writing are left in the state of the stream.
bool plot_write(FILE *stream, const Plot *plot);

#endif
