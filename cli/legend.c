// SPDX-License-Identifier: BSD-2-Clause
// Colour bar and axes of a picture (contract in cli/legend.h). Called by cli/picture.c.
#include "cli/legend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/font.h"

// Perceptually uniform maps by N. Smith and S. van der Walt (CC0) at equal steps; the last one, for values of
// both signs, has the lightness of its two halves in equal steps.
const ColourMap legend_maps[NUM_COLOUR_MAPS] = {{"viridis",
                                                 {{.2670, .0049, .3294},
                                                  {.2826, .1409, .4575},
                                                  {.2539, .2653, .5300},
                                                  {.2068, .3718, .5531},
                                                  {.1636, .4711, .5581},
                                                  {.1276, .5669, .5506},
                                                  {.1347, .6586, .5176},
                                                  {.2669, .7488, .4406},
                                                  {.4775, .8214, .3182},
                                                  {.7414, .8734, .1496},
                                                  {.9932, .9062, .1439}}},
                                                {"plasma",
                                                 {{.0504, .0298, .5280},
                                                  {.2546, .0139, .6154},
                                                  {.4176, .0006, .6584},
                                                  {.5627, .0515, .6415},
                                                  {.6928, .1651, .5645},
                                                  {.7982, .2802, .4695},
                                                  {.8814, .3925, .3832},
                                                  {.9492, .5178, .2957},
                                                  {.9883, .6523, .2114},
                                                  {.9886, .8096, .1454},
                                                  {.9400, .9752, .1313}}},
                                                {"grey",
                                                 {{.15, .15, .15},
                                                  {.23, .23, .23},
                                                  {.31, .31, .31},
                                                  {.39, .39, .39},
                                                  {.47, .47, .47},
                                                  {.55, .55, .55},
                                                  {.63, .63, .63},
                                                  {.71, .71, .71},
                                                  {.79, .79, .79},
                                                  {.87, .87, .87},
                                                  {.95, .95, .95}}},
                                                {"signed",
                                                 {{.10, .25, .50},
                                                  {.20, .40, .64},
                                                  {.36, .55, .75},
                                                  {.56, .70, .84},
                                                  {.76, .85, .92},
                                                  {.95, .95, .95},
                                                  {.95, .81, .73},
                                                  {.90, .62, .52},
                                                  {.82, .42, .35},
                                                  {.70, .22, .22},
                                                  {.52, .06, .14}}}};

const ColourMap legend_grey = {"",
                               {{.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85},
                                {.80, .82, .85}}};

static const Colour ink = {{30, 30, 30}};
// Widths in the legend's column, in heights of capitals: left of the bar, the bar, a tick, from there to its
// label, at the right end.
static const double before_bar = 2, bar_width = 1.6, tick = 0.5, before_label = 0.6, after_label = 1.8;
static const double bar_top = 0.2, bar_bottom = 0.8; // in heights of the picture
static const double axes_length = 3, most_of_width = 0.4;

// ---- Values at the bar ----

enum { MAX_TICKS = 12, TICK_TEXT = 32 };
typedef struct {
  int num;
  double place[MAX_TICKS]; // 0 at the lower end, 1 at the upper one
  char text[MAX_TICKS][TICK_TEXT];
} Ticks;

// Adds a tick; a value that is round-off beside the range is 0.
static void add_tick(Ticks *ticks, double value, double range, double place, int digits) {
  if (fabs(value) < 1e-10 * range) value = 0;
  ticks->place[ticks->num] = place;
  snprintf(ticks->text[ticks->num++], TICK_TEXT, "%.*g", digits, value);
}

// Steps of 1, 2 or 5 times a power of ten, at least four of them.
static double round_step(double range) {
  const double power = pow(10, floor(log10(range / 4))), most = range / 4 / power;

  return power * (most >= 5 ? 5 : most >= 2 ? 2 : 1);
}

// The two ends, and round values that are not too near to them.
static void find_ticks(const Legend *legend, Ticks *ticks) {
  const double low = legend->low, high = legend->high, range = high - low;

  *ticks = (Ticks){0};
  const double most = fmax(fabs(low), fabs(high));
  const int digits = range > 0 && isfinite(range) ? (int)fmin(fmax(4, 3 + ceil(log10(most / range))), 15) : 4;
  add_tick(ticks, low, range, range > 0 ? 0 : 0.5, range > 0 ? digits : 6);
  if (!(range > 0)) return;
  add_tick(ticks, high, range, 1, digits);
  const double step = isfinite(range) ? round_step(range) : 0, first = step > 0 ? ceil(low / step) : 0;
  for (int i = 0; i < MAX_TICKS - 2 && step > 0; i++) {
    const double value = (first + i) * step, place = (value - low) / range;

    if (place > 0.06 && place < 0.94) add_tick(ticks, value, range, place, digits + 2);
  }
}

// ---- The column ----

static double title_size(const Legend *legend, int width) {
  const double wanted = font_width(legend->title, legend->size),
               most = most_of_width * width - 2 * legend->size;

  return wanted > most ? legend->size * most / wanted : legend->size;
}

double legend_width(const Legend *legend, int width) {
  const double size = legend->size;
  double column = legend->axes ? (2 * axes_length + 3) * size : 0;
  Ticks ticks;

  if (!legend->has_bar) return column;
  find_ticks(legend, &ticks);
  column =
      fmax(column, font_width(legend->title, title_size(legend, width)) + (before_bar + after_label) * size);
  for (int i = 0; i < ticks.num; i++) {
    const double label = font_width(ticks.text[i], size);

    column = fmax(column, (before_bar + bar_width + tick + before_label + after_label) * size + label);
  }
  return fmin(column, 0.5 * width);
}

static void draw_bar(Raster *raster, const Legend *legend, double left) {
  const double size = legend->size, top = bar_top * raster->height, bottom = bar_bottom * raster->height;
  const double right = left + bar_width * size, thin = fmax(1, size / 12);
  const int num_rows = (int)(bottom - top) * raster->factor;

  raster_box(raster, left - thin, top - thin, right + thin, bottom + thin, ink);
  for (int i = 0; i < num_rows; i++) {
    const double t = legend->high > legend->low ? 1 - (i + 0.5) / num_rows : 0.5;

    raster_box(raster, left, top + (bottom - top) * i / num_rows, right,
               top + (bottom - top) * (i + 1) / num_rows, raster_colour(legend->map, t));
  }
}

static void draw_labels(Raster *raster, const Legend *legend, double left) {
  const double size = legend->size, right = left + bar_width * size, thin = fmax(1, size / 12);
  const double top = bar_top * raster->height, bottom = bar_bottom * raster->height;
  Ticks ticks;

  find_ticks(legend, &ticks);
  for (int i = 0; i < ticks.num; i++) {
    const double y = bottom - ticks.place[i] * (bottom - top), end = right + tick * size;

    raster_box(raster, right, y - thin / 2, end, y + thin / 2, ink);
    font_draw(raster, end + before_label * size, y + size / 2, size, ticks.text[i], ink);
  }
}

static void draw_title(Raster *raster, const Legend *legend, double left) {
  const double size = title_size(legend, raster->width);
  const double baseline =
      bar_top * raster->height - 1.8 * legend->size - 1.8 * size * (font_lines(legend->title) - 1);

  font_draw(raster, left, baseline, size, legend->title, ink);
}

static void draw_axes(Raster *raster, const Legend *legend, double x, double y) {
  static const char *const names[] = {"x", "y", "z"};
  const double size = legend->size, middle[2] = {x, y};

  for (int d = 0; d < 3; d++) {
    const double *axis = legend->axes[d], length = hypot(axis[0], axis[1]), long_enough = 0.15;
    const double tip[2] = {x + axes_length * size * axis[0], y - axes_length * size * axis[1]};

    if (length < long_enough) continue; // it points at the eye
    raster_stroke(raster, middle, tip, size / 7, ink);
    const double away = 0.9 * size / length, label[2] = {tip[0] + away * axis[0], tip[1] - away * axis[1]};
    font_draw(raster, label[0] - font_width(names[d], 0.8 * size) / 2 + 0.1 * size, label[1] + 0.27 * size,
              0.8 * size, names[d], ink);
  }
}

void legend_draw(Raster *raster, const Legend *legend) {
  const double size = legend->size, column = raster->width - legend_width(legend, raster->width);
  const double left = round(column + before_bar * size);

  if (legend->has_bar) {
    draw_bar(raster, legend, left);
    draw_labels(raster, legend, left);
    draw_title(raster, legend, left);
  }
  if (legend->axes)
    draw_axes(raster, legend, left + (axes_length - 0.5) * size, (bar_bottom + 1) / 2 * raster->height);
}
