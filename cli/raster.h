// SPDX-License-Identifier: BSD-2-Clause
// Pictures while they are drawn: samples with depths, several to a pixel, whose mean the pixel becomes. Used
// by cli/picture.c, cli/legend.c and cli/font.c.
//
// Coordinates are pixels: x to the right, y down, (0, 0) the outer corner of the first one.
#ifndef RITZ_CLI_RASTER_H
#define RITZ_CLI_RASTER_H

#include <stdbool.h>

typedef struct {
  unsigned char rgb[3];
} Colour;

typedef struct {
  float depth; // larger: nearer
  Colour colour;
} Sample;

typedef struct {
  int width, height; // pixels
  int factor;        // samples of a pixel in each direction
  Sample *samples;   // owned, [height * factor][width * factor]
} Raster;

bool raster_create(int width, int height, int factor, Raster *raster); // white; false: no memory
void raster_destroy(Raster *raster);
unsigned char *raster_pixels(const Raster *raster); // new, [height][width][3], for free(); NULL: no memory

// ---- Surfaces ----

// Colours at equal steps, in between linear.
enum { COLOUR_MAP_SIZE = 11 };
typedef struct {
  const char *name;
  double rgb[COLOUR_MAP_SIZE][3]; // 0 to 1
} ColourMap;
Colour raster_colour(const ColourMap *map, double t); // t in [0, 1], or the nearer end; NaN: grey

typedef struct {
  double x, y, depth;
  double value;    // place in the colour map
  double shade;    // 0: black, 1: the colour itself
  double edges[4]; // vanish on the edges of the face and are linear on it
} RasterVertex;

typedef struct {
  const ColourMap *map;
  unsigned lines;       // bit e: edge e is drawn
  double line_width;    // pixels, half of it on each face
  double line_strength; // 0: nothing, 1: black
} RasterStyle;

void raster_triangle(Raster *raster, const RasterStyle *style, const RasterVertex v[3]);

// ---- Signs, drawn over everything ----

void raster_stroke(Raster *raster, const double from[2], const double to[2], double width,
                   Colour colour); // round ends
void raster_box(Raster *raster, double x0, double y0, double x1, double y1, Colour colour);

#endif
