// SPDX-License-Identifier: BSD-2-Clause
// A font of strokes for ASCII: other characters become boxes. Used by cli/legend.c.
#ifndef RITZ_CLI_FONT_H
#define RITZ_CLI_FONT_H

#include "cli/raster.h"

// size: height of capitals in pixels; lines of a text are separated by \n, each 1.8 sizes below the one
// above.
double font_width(const char *text, double size); // of the longest line
int font_lines(const char *text);
void font_draw(Raster *raster, double x, double baseline, double size, const char *text, Colour colour);

#endif
