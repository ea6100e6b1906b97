// SPDX-License-Identifier: BSD-2-Clause
// Pieces of SVG files that plots are drawn with. Errors of writing are left in the state of the stream.
#ifndef RITZ_BENCH_SVG_H
#define RITZ_BENCH_SVG_H

#include <stddef.h>
#include <stdio.h>

extern const char svg_grey[], svg_dark[];
const char *svg_colour(size_t number); // again from the eighth one on

// A white page with a title and a line below it, `left` from its side; "</svg>" ends it.
void svg_begin(FILE *stream, double width, double height, double left, const char *title,
               const char *subtitle);
// anchor: start, middle or end; attributes: more of them, or ""
void svg_text(FILE *stream, double x, double y, int size, const char *anchor, const char *colour,
              const char *attributes, const char *text);
void svg_line(FILE *stream, double x0, double y0, double x1, double y1, const char *style);

#endif
