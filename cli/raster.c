// SPDX-License-Identifier: BSD-2-Clause
// Triangles by a depth buffer, strokes and boxes (contract in cli/raster.h). Called by the files that draw.
#include "cli/raster.h"

#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"

bool raster_create(int width, int height, int factor, Raster *raster) {
  const size_t num = (size_t)width * (size_t)height * (size_t)factor * (size_t)factor;

  *raster = (Raster){width, height, factor, malloc(num * sizeof(Sample))};
  for (size_t i = 0; raster->samples && i < num; i++)
    raster->samples[i] = (Sample){-INFINITY, {{255, 255, 255}}};
  return raster->samples;
}

void raster_destroy(Raster *raster) {
  free(raster->samples);
  *raster = (Raster){0};
}

static void average(const Raster *raster, int x, int y, unsigned char pixel[3]) {
  const int n = raster->factor;
  int sums[3] = {0};

  for (int j = y * n; j < (y + 1) * n; j++) {
    const Sample *row = raster->samples + (size_t)j * (size_t)(raster->width * n);

    for (int i = x * n; i < (x + 1) * n; i++) {
      for (int c = 0; c < 3; c++) sums[c] += row[i].colour.rgb[c];
    }
  }
  for (int c = 0; c < 3; c++) pixel[c] = (unsigned char)((sums[c] + n * n / 2) / (n * n));
}

unsigned char *raster_pixels(const Raster *raster) {
  unsigned char *pixels = malloc((size_t)raster->width * (size_t)raster->height * 3);

  for (int y = 0; pixels && y < raster->height; y++) {
    for (int x = 0; x < raster->width; x++)
      average(raster, x, y, pixels + ((size_t)y * (size_t)raster->width + (size_t)x) * 3);
  }
  return pixels;
}

// ---- Surfaces ----

Colour raster_colour(const ColourMap *map, double t) {
  Colour colour = {{150, 150, 150}};

  if (isnan(t)) return colour;
  const double place = fmin(fmax(t, 0), 1) * (COLOUR_MAP_SIZE - 1);
  const int i = place < COLOUR_MAP_SIZE - 2 ? (int)place : COLOUR_MAP_SIZE - 2;
  for (int c = 0; c < 3; c++) {
    const double value = map->rgb[i][c] + (place - i) * (map->rgb[i + 1][c] - map->rgb[i][c]);

    colour.rgb[c] = (unsigned char)(255 * value + 0.5);
  }
  return colour;
}

// A function that is linear on the triangle: f(x, y) = at + x * slope[0] + y * slope[1], in samples.
typedef struct {
  double at, slope[2];
} Linear;

typedef struct {
  double x[3], y[3], area; // twice the area, with the sign of the turn
} Triangle;

static Linear fit(const Triangle *t, double a, double b, double c) {
  Linear f;

  f.slope[0] = ((b - a) * (t->y[2] - t->y[0]) - (c - a) * (t->y[1] - t->y[0])) / t->area;
  f.slope[1] = ((c - a) * (t->x[1] - t->x[0]) - (b - a) * (t->x[2] - t->x[0])) / t->area;
  f.at = a - f.slope[0] * t->x[0] - f.slope[1] * t->y[0];
  return f;
}

static double value_at(const Linear *f, double x, double y) {
  return f->at + f->slope[0] * x + f->slope[1] * y;
}

typedef struct {
  const RasterStyle *style;
  Linear depth, value, shade, edges[4];
  Linear inside[3]; // barycentric coordinates
  double reach[4];  // of the line along each edge, in terms of its function; -1: none
} Paint;

static void prepare_raster(const Raster *raster, const RasterStyle *style, const Triangle *t,
                           const RasterVertex v[3], Paint *paint) {
  *paint = (Paint){.style = style};
  paint->depth = fit(t, v[0].depth, v[1].depth, v[2].depth);
  paint->value = fit(t, v[0].value, v[1].value, v[2].value);
  paint->shade = fit(t, v[0].shade, v[1].shade, v[2].shade);
  for (int i = 0; i < 3; i++) paint->inside[i] = fit(t, i == 0, i == 1, i == 2);
  for (int e = 0; e < 4; e++) {
    paint->edges[e] = fit(t, v[0].edges[e], v[1].edges[e], v[2].edges[e]);
    paint->reach[e] = style->lines >> e & 1 ? hypot(paint->edges[e].slope[0], paint->edges[e].slope[1]) *
                                                  style->line_width / 2 * raster->factor
                                            : -1;
  }
}

static Colour colour_at(const Paint *paint, double x, double y) {
  double shade = fmin(fmax(value_at(&paint->shade, x, y), 0), 1);
  Colour colour = raster_colour(paint->style->map, value_at(&paint->value, x, y));

  for (int e = 0; e < 4; e++) {
    if (value_at(&paint->edges[e], x, y) > paint->reach[e]) continue;
    shade *= 1 - paint->style->line_strength;
    break;
  }
  for (int c = 0; c < 3; c++) colour.rgb[c] = (unsigned char)(colour.rgb[c] * shade + 0.5);
  return colour;
}

static bool is_inside(const Paint *paint, double x, double y) {
  for (int i = 0; i < 3; i++) {
    if (!(value_at(&paint->inside[i], x, y) >= -1e-7)) return false; // no gap between neighbours by rounding
  }
  return true;
}

// Samples [*first, *last) whose middles may lie between low and high.
static void range_of_samples(double low, double high, int size, int *first, int *last) {
  *first = low > 1 ? (int)fmin(low - 0.51, size) : 0;
  *last = high < size - 1 ? (int)fmax(high + 1.51, 0) : size;
}

static double smallest(const double v[3]) { return fmin(v[0], fmin(v[1], v[2])); }
static double largest(const double v[3]) { return fmax(v[0], fmax(v[1], v[2])); }

void raster_triangle(Raster *raster, const RasterStyle *style, const RasterVertex v[3]) {
  const int width = raster->width * raster->factor, height = raster->height * raster->factor;
  int x0, x1, y0, y1;
  Triangle t;
  Paint paint;

  for (int i = 0; i < 3; i++) t.x[i] = v[i].x * raster->factor, t.y[i] = v[i].y * raster->factor;
  t.area = (t.x[1] - t.x[0]) * (t.y[2] - t.y[0]) - (t.x[2] - t.x[0]) * (t.y[1] - t.y[0]);
  if (!(fabs(t.area) > 1e-9)) return; // seen from the side
  range_of_samples(smallest(t.x), largest(t.x), width, &x0, &x1);
  range_of_samples(smallest(t.y), largest(t.y), height, &y0, &y1);
  prepare_raster(raster, style, &t, v, &paint);
  for (int j = y0; j < y1; j++) {
    Sample *row = raster->samples + (size_t)j * (size_t)width;

    for (int i = x0; i < x1; i++) {
      const double x = i + 0.5, y = j + 0.5;
      const float depth = (float)value_at(&paint.depth, x, y);

      if (depth > row[i].depth && is_inside(&paint, x, y)) row[i] = (Sample){depth, colour_at(&paint, x, y)};
    }
  }
}

// ---- Signs ----

void raster_box(Raster *raster, double x0, double y0, double x1, double y1, Colour colour) {
  const int n = raster->factor, width = raster->width * n, height = raster->height * n;

  for (int j = (int)fmax(lround(y0 * n), 0); j < lround(y1 * n) && j < height; j++) {
    for (int i = (int)fmax(lround(x0 * n), 0); i < lround(x1 * n) && i < width; i++)
      raster->samples[(size_t)j * (size_t)width + (size_t)i].colour = colour;
  }
}

static double distance_to(const double from[2], const double to[2], double x, double y) {
  const double d[2] = {to[0] - from[0], to[1] - from[1]}, length = d[0] * d[0] + d[1] * d[1];
  const double along = length > 0 ? ((x - from[0]) * d[0] + (y - from[1]) * d[1]) / length : 0;
  const double t = fmin(fmax(along, 0), 1);

  return hypot(x - from[0] - t * d[0], y - from[1] - t * d[1]);
}

void raster_stroke(Raster *raster, const double from[2], const double to[2], double line_width,
                   Colour colour) {
  const int n = raster->factor, width = raster->width * n, height = raster->height * n;
  const double half = line_width / 2;
  int x0, x1, y0, y1;

  range_of_samples((fmin(from[0], to[0]) - half) * n, (fmax(from[0], to[0]) + half) * n, width, &x0, &x1);
  range_of_samples((fmin(from[1], to[1]) - half) * n, (fmax(from[1], to[1]) + half) * n, height, &y0, &y1);
  for (int j = y0; j < y1; j++) {
    for (int i = x0; i < x1; i++) {
      if (distance_to(from, to, (i + 0.5) / n, (j + 0.5) / n) <= half)
        raster->samples[(size_t)j * (size_t)width + (size_t)i].colour = colour;
    }
  }
}
