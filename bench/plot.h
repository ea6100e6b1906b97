// SPDX-License-Identifier: BSD-2-Clause
// A plot as an SVG file, both axes logarithmic: rates over arithmetic intensity, below what bandwidth and
// peak of a machine allow, or other points. Used by `ritz bench`.
#ifndef RITZ_BENCH_PLOT_H
#define RITZ_BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PLOT_NAME = 64 };

// Points of the same group have one colour, those of the same kind one marker; both together are a series.
typedef struct {
  char group[PLOT_NAME], kind[PLOT_NAME];
  int label;    // the number beside it
  double x, y;  // > 0; of a roofline flops/byte and flops/s
  double bound; // the highest y possible, when it lies below the roof; 0: none
} PlotPoint;

typedef struct {
  const char *title, *subtitle;
  const char *label_meaning;     // of the numbers beside the points
  bool lines_keep_labels;        // lines join points of a series that have the same number
  const char *x_label, *y_label; // of the axes; NULL: those of a roofline, y in GFLOP/s
  double bandwidth, peak;        // bytes/s, flops/s; zeros: there is no roof to draw
  size_t num;
  const PlotPoint *points; // borrowed
} Plot;

// false: no memory. Errors of writing are left in the state of the stream.
bool plot_write(FILE *stream, const Plot *plot);

#endif
