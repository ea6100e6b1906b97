// SPDX-License-Identifier: BSD-2-Clause
// The SVG writer of bench/plot.h: a frame with logarithmic axes, the roof, series of points, their labels
// where there is room, a legend beside the frame.
#include "bench/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/svg.h"

enum { LEFT = 88, TOP = 96, WIDTH = 800, HEIGHT = 560, BOTTOM = 76, LEGEND_STEP = 24, RADIUS = 6 };
enum { LABEL_SIZE = 13, TEXT_SIZE = 15 };

static const double pi = 3.14159265358979323846;

typedef struct {
  double x, y, width, height; // x, y: upper left
} Box;

typedef struct {
  FILE *stream;
  const Plot *plot;
  double x_range[2], y_range[2]; // values at the ends of the axes
  size_t *groups, *kinds;        // owned, [plot->num]: number of the point's group and kind
  size_t num_boxes;
  Box *boxes; // owned: what labels should not cover; room for two a point, and two more
} Drawing;

// ---- Text ----

// About; letters differ.
static double text_width(const char *text, int size) { return 0.6 * size * (double)strlen(text); }

static void draw_line(const Drawing *d, double x0, double y0, double x1, double y1, const char *colour,
                      double width) {
  char style[60];

  snprintf(style, sizeof(style), "stroke=\"%s\" stroke-width=\"%g\"", colour, width);
  svg_line(d->stream, x0, y0, x1, y1, style);
}

// ---- Axes ----

static const double steps[] = {1, 2, 5, 10};

// The least of ..., 1, 2, 5, 10, 20, ... that is not below the value.
static double nice(double value) {
  double power = pow(10, floor(log10(value)));
  int i = 0;

  while (i < 3 && steps[i] * power < value * (1 - 1e-12)) i++;
  return steps[i] * power;
}

static void choose_ranges(Drawing *d) {
  const Plot *plot = d->plot;
  bool has_roof = plot->bandwidth > 0 && plot->peak > 0;
  double ridge = has_roof ? plot->peak / plot->bandwidth : plot->num ? plot->points[0].x : 1;
  double x[2] = {ridge, 1.6 * ridge}, y[2] = {INFINITY, has_roof ? 1.5 * plot->peak : 0};

  for (size_t i = 0; i < plot->num; i++) {
    x[0] = fmin(x[0], plot->points[i].x / 1.5);
    x[1] = fmax(x[1], plot->points[i].x * 1.3);
    y[0] = fmin(y[0], plot->points[i].y / 1.4);
    y[1] = fmax(y[1], plot->points[i].y * 1.4);
  }
  if (!plot->num) y[0] = (y[1] = has_roof ? y[1] : 1e9) / 100; // an empty frame
  memcpy(d->x_range, x, sizeof(x));
  memcpy(d->y_range, y, sizeof(y));
}

static double x_of(const Drawing *d, double value) {
  return LEFT + WIDTH * log(value / d->x_range[0]) / log(d->x_range[1] / d->x_range[0]);
}

static double y_of(const Drawing *d, double value) {
  return TOP + HEIGHT * (1 - log(value / d->y_range[0]) / log(d->y_range[1] / d->y_range[0]));
}

// Lines of the grid and numbers at 1, 2, 5, 10, ...; over four decades numbers at powers of ten alone.
static void draw_grid(const Drawing *d, bool vertical, double unit) {
  const double *range = vertical ? d->x_range : d->y_range;
  bool crowded = range[1] / range[0] > 1e4;
  char text[32];

  for (double value = nice(range[0]); value <= range[1] * (1 + 1e-9); value = nice(1.5 * value)) {
    double x = vertical ? x_of(d, value) : LEFT, y = vertical ? TOP : y_of(d, value);
    bool decade = fabs(log10(value) - floor(log10(value) + 0.5)) < 1e-9;

    draw_line(d, x, y, vertical ? x : LEFT + WIDTH, vertical ? TOP + HEIGHT : y, "#dddddd", 1);
    if (crowded && !decade) continue;
    snprintf(text, sizeof(text), "%.10g", value / unit);
    if (vertical)
      svg_text(d->stream, x, TOP + HEIGHT + 22, TEXT_SIZE, "middle", svg_dark, "", text);
    else
      svg_text(d->stream, LEFT - 10, y + 5, TEXT_SIZE, "end", svg_dark, "", text);
  }
}

static void draw_axes(const Drawing *d) {
  char turned[80];

  draw_grid(d, true, 1);
  draw_grid(d, false, d->plot->y_label ? 1 : 1e9);
  fprintf(d->stream, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n",
          LEFT, TOP, WIDTH, HEIGHT, svg_grey);
  svg_text(d->stream, LEFT + WIDTH / 2.0, TOP + HEIGHT + 52, TEXT_SIZE + 1, "middle", svg_dark, "",
           d->plot->x_label ? d->plot->x_label
                            : "arithmetic intensity: useful flops per byte of least traffic");
  snprintf(turned, sizeof(turned), "transform=\"rotate(-90 26 %g)\"", TOP + HEIGHT / 2.0);
  svg_text(d->stream, 26, TOP + HEIGHT / 2.0, TEXT_SIZE + 1, "middle", svg_dark, turned,
           d->plot->y_label ? d->plot->y_label : "useful GFLOP/s");
}

// ---- The roof ----

static void keep_free(Drawing *d, Box box) { d->boxes[d->num_boxes++] = box; }

// Where the slope enters the frame: at its left side or at its bottom.
static double slope_start(const Drawing *d) {
  return fmax(d->x_range[0], d->y_range[0] / d->plot->bandwidth);
}

static void name_peak(Drawing *d) {
  double y = y_of(d, d->plot->peak);
  char text[80];

  snprintf(text, sizeof(text), "peak %.4g GFLOP/s", 1e-9 * d->plot->peak);
  svg_text(d->stream, LEFT + WIDTH - 8, y - 8, TEXT_SIZE, "end", svg_dark, "", text);
  double width = text_width(text, TEXT_SIZE);
  keep_free(d, (Box){LEFT + WIDTH - 8 - width, y - 8 - TEXT_SIZE, width, TEXT_SIZE});
}

// Along the slope, above it.
static void name_bandwidth(const Drawing *d) {
  double ridge = d->plot->peak / d->plot->bandwidth, middle = sqrt(slope_start(d) * ridge);
  double x = x_of(d, middle), y = y_of(d, middle * d->plot->bandwidth);
  double angle = -180 / pi * atan2(y_of(d, 1) - y_of(d, 10), x_of(d, 10) - x_of(d, 1));
  char text[80], turned[120];

  snprintf(text, sizeof(text), "memory %.4g GB/s", 1e-9 * d->plot->bandwidth);
  snprintf(turned, sizeof(turned), "transform=\"rotate(%.2f %.1f %.1f) translate(0 -9)\"", angle, x, y);
  svg_text(d->stream, x, y, TEXT_SIZE, "middle", svg_dark, turned, text);
}

// Shades the area above the roof.
static void shade_above_roof(const Drawing *d) {
  const Plot *plot = d->plot;
  double start = slope_start(d), ridge = plot->peak / plot->bandwidth;

  fprintf(d->stream,
          "<path d=\"M%d %d L%d %.1f L%.1f %.1f L%.1f %.1f L%d %.1f L%d %d Z\" fill=\"#f3f3f3\"/>\n", LEFT,
          TOP, LEFT, y_of(d, start * plot->bandwidth), x_of(d, start), y_of(d, start * plot->bandwidth),
          x_of(d, ridge), y_of(d, plot->peak), LEFT + WIDTH, y_of(d, plot->peak), LEFT + WIDTH, TOP);
}

static void draw_roof(Drawing *d) {
  const Plot *plot = d->plot;
  double start = slope_start(d), ridge = plot->peak / plot->bandwidth;

  fprintf(d->stream,
          "<polyline points=\"%.1f,%.1f %.1f,%.1f %d,%.1f\" fill=\"none\" stroke=\"%s\" "
          "stroke-width=\"3\" stroke-linejoin=\"round\"/>\n",
          x_of(d, start), y_of(d, start * plot->bandwidth), x_of(d, ridge), y_of(d, plot->peak), LEFT + WIDTH,
          y_of(d, plot->peak), svg_dark);
  name_peak(d);
  name_bandwidth(d);
}

// ---- Series ----

static bool same_series(const Drawing *d, size_t i, size_t j) {
  return d->groups[i] == d->groups[j] && d->kinds[i] == d->kinds[j];
}

static bool is_first_of_series(const Drawing *d, size_t i) {
  for (size_t j = 0; j < i; j++) {
    if (same_series(d, i, j)) return false;
  }
  return true;
}

// Numbers the different names in the order of their first points.
static void number_names(const Plot *plot, size_t offset, size_t *numbers) {
  size_t num = 0;

  for (size_t i = 0; i < plot->num; i++) {
    const char *name = (const char *)&plot->points[i] + offset;
    numbers[i] = num;
    for (size_t j = 0; j < i; j++) {
      if (!strcmp(name, (const char *)&plot->points[j] + offset)) numbers[i] = numbers[j];
    }
    if (numbers[i] == num) num++;
  }
}

static const char *colour_of(const Drawing *d, size_t i) { return svg_colour(d->groups[i]); }

// Corners of the markers: a circle has none; those of a star are out and in by turns. Later kinds have the
// same shapes without filling.
static const struct {
  int num;
  double turn, inner, size;
} shapes[] = {{0, 0, 1, 1},      {4, 0.25, 1, 1.25},    {3, -0.5, 1, 1.35}, {4, 0, 1, 1.35},
              {3, 0.5, 1, 1.35}, {10, -0.5, 0.45, 1.5}, {5, -0.5, 1, 1.2}};
enum { NUM_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void draw_marker(const Drawing *d, size_t i, double x, double y) {
  size_t shape = d->kinds[i] % NUM_SHAPES;
  bool hollow = d->kinds[i] / NUM_SHAPES % 2;
  int num = shapes[shape].num;
  char style[96];

  snprintf(style, sizeof(style), "fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"",
           hollow ? "white" : colour_of(d, i), hollow ? colour_of(d, i) : "white", hollow ? "2" : "1");
  if (!num) {
    fprintf(d->stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" %s/>\n", x, y, RADIUS, style);
    return;
  }
  fputs("<polygon points=\"", d->stream);
  for (int k = 0; k < num; k++) {
    double angle = pi * (shapes[shape].turn + 2.0 * k / num);
    double radius = RADIUS * shapes[shape].size * (k % 2 ? shapes[shape].inner : 1);
    fprintf(d->stream, "%s%.1f,%.1f", k ? " " : "", x + radius * cos(angle), y + radius * sin(angle));
  }
  fprintf(d->stream, "\" %s/>\n", style);
}

static double x_at(const Drawing *d, size_t i) { return x_of(d, d->plot->points[i].x); }
static double y_at(const Drawing *d, size_t i) { return y_of(d, d->plot->points[i].y); }

static bool same_line(const Drawing *d, size_t i, size_t j) {
  const Plot *plot = d->plot;

  return same_series(d, i, j) && (!plot->lines_keep_labels || plot->points[i].label == plot->points[j].label);
}

static bool is_first_of_line(const Drawing *d, size_t i) {
  for (size_t j = 0; j < i; j++) {
    if (same_line(d, i, j)) return false;
  }
  return true;
}

// A thin line through the points from i on that belong together.
static void draw_path(const Drawing *d, size_t i) {
  fprintf(d->stream,
          "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-opacity=\"0.45\" points=\"",
          colour_of(d, i));
  for (size_t j = i; j < d->plot->num; j++) {
    if (same_line(d, i, j)) fprintf(d->stream, "%.1f,%.1f ", x_at(d, j), y_at(d, j));
  }
  fputs("\"/>\n", d->stream);
}

// Bounds that can be told from the roof.
static bool has_bound(const Plot *plot, size_t i) {
  return plot->points[i].bound > 0 && plot->points[i].bound < 0.9 * plot->peak;
}

static void draw_bound(const Drawing *d, size_t i) {
  double x = x_at(d, i), bound = d->plot->points[i].bound;

  if (has_bound(d->plot, i) && bound > d->y_range[0])
    draw_line(d, x - RADIUS - 2, y_of(d, bound), x + RADIUS + 2, y_of(d, bound), colour_of(d, i), 2);
}

static void draw_series(Drawing *d) {
  for (size_t i = 0; i < d->plot->num; i++) {
    if (is_first_of_line(d, i)) draw_path(d, i);
    draw_bound(d, i);
  }
  for (size_t i = 0; i < d->plot->num; i++) {
    draw_marker(d, i, x_at(d, i), y_at(d, i));
    keep_free(d, (Box){x_at(d, i) - RADIUS, y_at(d, i) - RADIUS, 2 * RADIUS, 2 * RADIUS});
  }
}

// ---- Labels ----

static double overlap(Box a, Box b) {
  double width = fmin(a.x + a.width, b.x + b.width) - fmax(a.x, b.x);
  double height = fmin(a.y + a.height, b.y + b.height) - fmax(a.y, b.y);

  return width > 0 && height > 0 ? width * height : 0;
}

// Amount of the drawing that a box covers; its part outside the frame counts as covered.
static double covered(const Drawing *d, Box box) {
  const Box frame = {LEFT, TOP, WIDTH, HEIGHT};
  double area = box.width * box.height - overlap(box, frame);

  for (size_t i = 0; i < d->num_boxes; i++) area += overlap(box, d->boxes[i]);
  return area;
}

static double clamp(double value) { return fmax(-1, fmin(1, value)); }

// The place around (x, y) that covers least, on squares around the marker; near ones and those at the right
// are taken first.
static Box find_free_box(const Drawing *d, double x, double y, double width, double height) {
  enum { DIRECTIONS = 16, RINGS = 6 };
  const double nothing = 1e-6;
  double least = INFINITY;
  Box best = {0};

  for (int place = 0; place < DIRECTIONS * RINGS && least > nothing; place++) {
    int turn = place % DIRECTIONS, ring = place / DIRECTIONS;
    double angle = pi / (DIRECTIONS / 2) * (turn % 2 ? -(turn + 1) / 2 : turn / 2); // to both sides by turns
    double far = RADIUS + 3 + 9 * ring;
    double shift_x = (far + width / 2) * clamp(sqrt(2) * cos(angle));
    double shift_y = (far + height / 2) * clamp(sqrt(2) * sin(angle));
    Box box = {x + shift_x - width / 2, y + shift_y - height / 2, width, height};
    double area = covered(d, box);
    if (area < least - nothing) least = area, best = box;
  }
  return best;
}

static void draw_label(Drawing *d, size_t i) {
  char text[16];
  double x = x_at(d, i), y = y_at(d, i);

  snprintf(text, sizeof(text), "%d", d->plot->points[i].label);
  Box box = find_free_box(d, x, y, text_width(text, LABEL_SIZE), LABEL_SIZE - 3);
  double middle_x = box.x + box.width / 2, middle_y = box.y + box.height / 2;
  if (hypot(middle_x - x, middle_y - y) > 3 * RADIUS) {
    draw_line(d, x, y, middle_x, middle_y, "#999999", 0.8);
  }
  svg_text(d->stream, middle_x, box.y + box.height, LABEL_SIZE, "middle", svg_dark,
           "stroke=\"white\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"", text);
  keep_free(d, box);
}

// ---- The legend ----

static void name_series(const PlotPoint *point, char name[2 * PLOT_NAME + 4]) {
  snprintf(name, 2 * PLOT_NAME + 4, *point->kind ? "%s, %s" : "%s%s", point->group, point->kind);
}

static bool has_bounds(const Plot *plot) {
  for (size_t i = 0; i < plot->num; i++) {
    if (has_bound(plot, i)) return true;
  }
  return false;
}

// Lines of the legend and the width of the longest one.
static size_t measure_legend(const Drawing *d, double *width) {
  char name[2 * PLOT_NAME + 4];
  size_t lines = has_bounds(d->plot) ? 3 : 1;

  *width = text_width(d->plot->label_meaning, TEXT_SIZE) + 30;
  for (size_t i = 0; i < d->plot->num; i++) {
    if (!is_first_of_series(d, i)) continue;
    name_series(&d->plot->points[i], name);
    *width = fmax(*width, text_width(name, TEXT_SIZE) + 30);
    lines++;
  }
  return lines;
}

static void draw_legend(const Drawing *d) {
  double x = LEFT + WIDTH + 32, y = TOP + 12;
  char name[2 * PLOT_NAME + 4];

  for (size_t i = 0; i < d->plot->num; i++) {
    if (!is_first_of_series(d, i)) continue;
    name_series(&d->plot->points[i], name);
    draw_marker(d, i, x, y);
    svg_text(d->stream, x + 16, y + 5, TEXT_SIZE, "start", svg_dark, "", name);
    y += LEGEND_STEP;
  }
  svg_text(d->stream, x - RADIUS, y + 10, TEXT_SIZE - 1, "start", svg_grey, "", d->plot->label_meaning);
  if (!has_bounds(d->plot)) return;
  draw_line(d, x - 8, y + 29, x + 8, y + 29, svg_grey, 2);
  svg_text(d->stream, x + 16, y + 34, TEXT_SIZE - 1, "start", svg_grey, "", "bound with the flops");
  svg_text(d->stream, x + 16, y + 52, TEXT_SIZE - 1, "start", svg_grey, "", "of recomputation");
}

// ---- All of it ----

static void draw(Drawing *d) {
  bool has_roof = d->plot->bandwidth > 0 && d->plot->peak > 0;
  double legend_width, legend_height = LEGEND_STEP * (double)measure_legend(d, &legend_width) + 24;

  choose_ranges(d);
  svg_begin(d->stream, LEFT + WIDTH + 48 + legend_width, TOP + fmax(HEIGHT, legend_height) + BOTTOM, LEFT,
            d->plot->title, d->plot->subtitle);
  if (has_roof) shade_above_roof(d);
  draw_axes(d);
  if (has_roof) draw_roof(d);
  draw_series(d);
  for (size_t i = 0; i < d->plot->num; i++) draw_label(d, i);
  draw_legend(d);
  fputs("</svg>\n", d->stream);
}

bool plot_write(FILE *stream, const Plot *plot) {
  Drawing d = {.stream = stream, .plot = plot};
  bool has_memory = false;

  d.groups = calloc(plot->num + 1, sizeof(*d.groups));
  d.kinds = calloc(plot->num + 1, sizeof(*d.kinds));
  d.boxes = calloc(2 * plot->num + 2, sizeof(*d.boxes));
  if (d.groups && d.kinds && d.boxes) {
    has_memory = true;
    number_names(plot, offsetof(PlotPoint, group), d.groups);
    number_names(plot, offsetof(PlotPoint, kind), d.kinds);
    draw(&d);
  }
  free(d.groups);
  free(d.kinds);
  free(d.boxes);
  return has_memory;
}
