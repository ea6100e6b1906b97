// SPDX-License-Identifier: BSD-2-Clause
// Pieces of SVG files (contract in bench/svg.h).
#include "bench/svg.h"

const char svg_grey[] = "#555555", svg_dark[] = "#222222";

// Colours of Okabe and Ito, distinguished by the colour-blind, too; without yellow, which is pale on white.
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#000000"};
enum { NUM_COLOURS = sizeof(colours) / sizeof(colours[0]) };

const char *svg_colour(size_t number) { return colours[number % NUM_COLOURS]; }

static void write_svg_text(FILE *stream, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '&')
      fputs("&amp;", stream);
    else if (*c == '<')
      fputs("&lt;", stream);
    else if (*c == '>')
      fputs("&gt;", stream);
    else
      fputc((unsigned char)*c < 0x20 ? ' ' : *c, stream);
  }
}

void svg_text(FILE *stream, double x, double y, int size, const char *anchor, const char *colour,
              const char *attributes, const char *text) {
  fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\"%s%s>", x, y,
          size, anchor, colour, *attributes ? " " : "", attributes);
  write_svg_text(stream, text);
  fputs("</text>\n", stream);
}

void svg_line(FILE *stream, double x0, double y0, double x1, double y1, const char *style) {
  fprintf(stream, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x0, y0, x1, y1, style);
}

void svg_begin(FILE *stream, double width, double height, double left, const char *title,
               const char *subtitle) {
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
          "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>",
          width, height, width, height);
  write_svg_text(stream, title);
  fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", stream);
  svg_text(stream, left, 40, 24, "start", svg_dark, "font-weight=\"bold\"", title);
  svg_text(stream, left, 70, 16, "start", svg_grey, "", subtitle);
}
