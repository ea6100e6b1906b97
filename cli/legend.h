// SPDX-License-Identifier: BSD-2-Clause
// What stands beside the surface in a picture: the colour bar and the directions of the axes. Used by
// cli/picture.c.
#ifndef RITZ_CLI_LEGEND_H
#define RITZ_CLI_LEGEND_H

#include "cli/raster.h"

enum { SIGNED_MAP = 3, NUM_COLOUR_MAPS };
extern const ColourMap legend_maps[NUM_COLOUR_MAPS];
extern const ColourMap legend_grey; // of surfaces without a field

typedef struct {
  const ColourMap *map;
  double low, high; // equal: one value
  const char *title;
  bool has_bar; // else there is no field
  const double (
      *axes)[2]; // [3] on the screen, x to the right, y up, in units of their length; NULL: not shown
  double size;   // height of capitals, pixels
} Legend;

double legend_width(const Legend *legend, int width); // of the column at the right of a picture, pixels
void legend_draw(Raster *raster, const Legend *legend);

#endif
