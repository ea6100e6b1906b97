// SPDX-License-Identifier: BSD-2-Clause
// The picture of `ritz bench --batched`: a frame for each routine, rates over orders, both logarithmic and
// the same in all frames; a colour for each precision, layout and place.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/batched.h"
#include "bench/svg.h"

enum {
  COLUMNS = 4,
  WIDTH = 250,
  HEIGHT = 190,
  GAP_X = 30,
  GAP_Y = 50,
  LEFT = 80,
  TOP = 100,
  FOOT = 70,
  LEGEND_STEP = 24
};
enum { MAX_VARIANTS = 16 };

typedef struct {
  FILE *stream;
  const BatchedRow *rows;
  size_t num;
  double x_range[2], y_range[2];
  int num_frames;
  const BatchedRoutine *frames[64];
  int num_variants;
  const BatchedCase *variants[MAX_VARIANTS];
} Drawing;

// ---- What there is to draw ----

// Copies and their like have no flops.
static bool is_drawn(const BatchedRow *row) { return !*row->fault && row->seconds > 0 && row->flops > 0; }

static bool same_variant(const BatchedCase *a, const BatchedCase *b) {
  return a->precision == b->precision && a->form == b->form && a->in_cache == b->in_cache;
}

static int variant_of(const Drawing *d, const BatchedCase *c) {
  int v = 0;

  while (v < d->num_variants && !same_variant(d->variants[v], c)) v++;
  return v;
}

static double rate(const BatchedRow *row, double seconds) { return 1e-9 * row->flops / seconds; }

static void widen(double range[2], double value) {
  range[0] = fmin(range[0], value);
  range[1] = fmax(range[1], value);
}

static void find_contents(Drawing *d) {
  double x[2] = {INFINITY, 0}, y[2] = {INFINITY, 0};

  for (size_t i = 0; i < d->num; i++) {
    const BatchedRow *row = &d->rows[i];
    int frame = 0;

    if (!is_drawn(row)) continue;
    while (frame < d->num_frames && d->frames[frame] != row->of.routine) frame++;
    if (frame == d->num_frames && frame < 64) d->frames[d->num_frames++] = row->of.routine;
    const int v = variant_of(d, &row->of);
    if (v == d->num_variants && v < MAX_VARIANTS) d->variants[d->num_variants++] = &row->of;
    widen(x, row->of.n);
    widen(y, rate(row, row->seconds));
    if (row->seconds_peer > 0) widen(y, rate(row, row->seconds_peer));
    if (row->seconds_bound > 0) widen(y, rate(row, row->seconds_bound));
  }
  if (!(x[1] > 0)) x[0] = x[1] = y[0] = y[1] = 1; // an empty picture
  d->x_range[0] = x[0] / 1.2, d->x_range[1] = x[1] * 1.2;
  d->y_range[0] = y[0] / 1.3, d->y_range[1] = y[1] * 1.3;
}

// ---- Frames ----

static double frame_x(int frame) { return LEFT + frame % COLUMNS * (WIDTH + GAP_X); }
static double frame_y(int frame) { return TOP + (double)(frame / COLUMNS) * (HEIGHT + GAP_Y); }
static double x_of(const Drawing *d, int frame, double n) {
  return frame_x(frame) + WIDTH * log(n / d->x_range[0]) / log(d->x_range[1] / d->x_range[0]);
}
static double y_of(const Drawing *d, int frame, double value) {
  return frame_y(frame) + HEIGHT * (1 - log(value / d->y_range[0]) / log(d->y_range[1] / d->y_range[0]));
}

// Powers of 4 and of 10; numbers at the left and below the lowest frames.
static void draw_grid(const Drawing *d, int frame) {
  static const char grid[] = "stroke=\"#dddddd\"";
  const double x = frame_x(frame), y = frame_y(frame);
  char text[32];

  for (double n = 1; n <= d->x_range[1]; n *= 4) {
    if (n < d->x_range[0]) continue;
    svg_line(d->stream, x_of(d, frame, n), y, x_of(d, frame, n), y + HEIGHT, grid);
    snprintf(text, sizeof(text), "%g", n);
    if (frame + COLUMNS >= d->num_frames)
      svg_text(d->stream, x_of(d, frame, n), y + HEIGHT + 18, 13, "middle", svg_dark, "", text);
  }
  for (double value = 1e-6; value <= d->y_range[1]; value *= 10) {
    if (value < d->y_range[0]) continue;
    svg_line(d->stream, x, y_of(d, frame, value), x + WIDTH, y_of(d, frame, value), grid);
    snprintf(text, sizeof(text), "%g", value);
    if (frame % COLUMNS == 0)
      svg_text(d->stream, x - 8, y_of(d, frame, value) + 4, 13, "end", svg_dark, "", text);
  }
  fprintf(d->stream,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#555555\"/>\n", x, y,
          WIDTH, HEIGHT);
  svg_text(d->stream, x + 4, y - 7, 15, "start", svg_dark, "", d->frames[frame]->name);
}

typedef enum { OURS, THEIRS, ROOF } Line;

static double seconds_of(const BatchedRow *row, Line line) {
  return line == OURS ? row->seconds : line == THEIRS ? row->seconds_peer : row->seconds_bound;
}

static void style_line(Line line, const char *colour, char style[120]) {
  static const char *const dashes[] = {"", " stroke-dasharray=\"6 4\"", " stroke-dasharray=\"1 3\""};
  snprintf(style, 120, "fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s", colour,
           line == OURS ? "2.2" : "1.4", dashes[line]);
}

static void draw_series(const Drawing *d, int frame, int variant, Line line) {
  const char *colour = svg_colour((size_t)variant);
  char style[120];

  style_line(line, colour, style);
  fputs("<polyline points=\"", d->stream);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < d->num; i++) {
      const BatchedRow *row = &d->rows[i];
      const double seconds = seconds_of(row, line);

      if (!is_drawn(row) || row->of.routine != d->frames[frame] || !(seconds > 0)) continue;
      if (variant_of(d, &row->of) != variant) continue;
      const double x = x_of(d, frame, row->of.n), y = y_of(d, frame, rate(row, seconds));
      if (pass == 0)
        fprintf(d->stream, "%.1f,%.1f ", x, y);
      else if (line != ROOF)
        fprintf(d->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" fill=\"%s\" stroke=\"%s\"/>\n", x, y,
                line == OURS ? "3.2" : "2.6", line == OURS ? colour : "white", colour);
    }
    if (pass == 0) fprintf(d->stream, "\" %s/>\n", style);
  }
}

// ---- The legend ----

static void draw_legend(const Drawing *d, double y, const char *peer) {
  const char *names[] = {"Ritz", peer, "roof: memory, or the peak"};
  double x = LEFT;
  char text[80], style[120];

  for (int line = 0; line < 3; line++) {
    if (!names[line]) continue;
    style_line((Line)line, svg_grey, style);
    svg_line(d->stream, x, y, x + 36, y, style);
    svg_text(d->stream, x + 44, y + 5, 15, "start", svg_dark, "", names[line]);
    x += 80 + 9 * (double)strlen(names[line]);
  }
  for (int v = 0; v < d->num_variants; v++) {
    const BatchedCase *c = d->variants[v];
    const double at_x = LEFT + v % COLUMNS * (WIDTH + GAP_X),
                 at_y = y + LEGEND_STEP * (1 + (double)(v / COLUMNS));

    style_line(OURS, svg_colour((size_t)v), style);
    svg_line(d->stream, at_x, at_y, at_x + 36, at_y, style);
    snprintf(text, sizeof(text), "%s, %s, in %s", batched_precision_name(c), batched_form_name(c->form),
             c->in_cache ? "cache" : "memory");
    svg_text(d->stream, at_x + 44, at_y + 5, 15, "start", svg_dark, "", text);
  }
}

bool batched_write_plot(FILE *stream, const char *title, const char *subtitle, const char *peer, size_t num,
                        const BatchedRow *rows) {
  Drawing *d = calloc(1, sizeof(*d));

  if (!d) return false;
  *d = (Drawing){.stream = stream, .rows = rows, .num = num};
  find_contents(d);
  const int across = d->num_frames < COLUMNS ? d->num_frames : COLUMNS,
            down = (d->num_frames + COLUMNS - 1) / COLUMNS;
  const double bottom = frame_y((down ? down - 1 : 0) * COLUMNS) + HEIGHT + FOOT;
  const double legend = LEGEND_STEP * (1 + (double)((d->num_variants + COLUMNS - 1) / COLUMNS));
  const double width = fmax(LEFT + across * (WIDTH + GAP_X) + 20, 900), height = bottom + legend + 20;

  svg_begin(stream, width, height, LEFT, title, subtitle);
  for (int frame = 0; frame < d->num_frames; frame++) {
    draw_grid(d, frame);
    for (int line = ROOF; line >= OURS; line--) {
      for (int v = 0; v < d->num_variants; v++) draw_series(d, frame, v, (Line)line);
    }
  }
  draw_legend(d, bottom - 20, peer);
  fputs("</svg>\n", stream);
  free(d);
  return true;
}
