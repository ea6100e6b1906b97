// SPDX-License-Identifier: BSD-2-Clause
// A font of strokes (contract in cli/font.h). Called by cli/legend.c.
//
// A glyph is a list of strokes, pairs of digits x y: y 2 is the baseline, 6 the height of small letters, 8
// that of capitals. A stroke is a line through its points; after ~ a quadratic B-spline with these control
// points, which begins in the first and ends in the last; after @ a closed one.
#include "cli/font.h"

#include <string.h>

static const char *const glyphs[] = {
    "30",                                 // blank
    "0804 0202",                          // !
    "0806 2826",                          // "
    "1218 3238 0444 0646",                // #
    "~4748080545420203 2921",             // $
    "0248 @07171808 @32424333",           // %
    "~432202053638181642",                // &
    "0806",                               // '
    "~280522",                            // (
    "~082502",                            // )
    "2428 0735 0537",                     // *
    "0545 2327",                          // +
    "1201",                               // ,
    "0535",                               // -
    "0202",                               // .
    "0138",                               // /
    "@02424808",                          // 0
    "062822",                             // 1
    "~0708484502 0242",                   // 2
    "~0708484525 ~2545420203",            // 3
    "32380444",                           // 4
    "480805 ~051646420203",               // 5
    "@02424606 ~380804",                  // 6
    "084812",                             // 7
    "@05454808 @02424505",                // 8
    "@04444808 ~464212",                  // 9
    "0202 0505",                          // :
    "1201 1515",                          // ;
    "470543",                             // <
    "0444 0646",                          // =
    "074503",                             // >
    "~070848452524 2222",                 // ?
    "@14343616 ~34434748080232",          // @
    "022842 1434",                        // A
    "0208 ~08484505 ~05454202",           // B
    "~474808024243",                      // C
    "0208 ~08484202",                     // D
    "48080242 0535",                      // E
    "480802 0535",                        // F
    "~474808024244 4424",                 // G
    "0208 4248 0545",                     // H
    "0208",                               // I
    "3834 ~34320203",                     // J
    "0208 4804 1542",                     // K
    "080242",                             // L
    "0208244842",                         // M
    "02084248",                           // N
    "@02525808",                          // O
    "0208 ~08484505",                     // P
    "@02525808 3351",                     // Q
    "0208 ~08484505 2542",                // R
    "~4748080545420203",                  // S
    "0848 2822",                          // T
    "0804 ~04024244 4448",                // U
    "082248",                             // V
    "0812375268",                         // W
    "0842 0248",                          // X
    "082548 2522",                        // Y
    "08480242",                           // Z
    "28080222",                           // [
    "0831",                               // backslash
    "08282202",                           // ]
    "062846",                             // ^
    "0141",                               // _
    "0817",                               // `
    "@02424606 4642",                     // a
    "0802 @02424606",                     // b
    "~453606023243",                      // c
    "4842 @02424606",                     // d
    "0444 ~444606023243",                 // e
    "~381816 1612 0626",                  // f
    "@02424606 4641 ~41400001",           // g
    "0802 ~04064644 4442",                // h
    "0602 0808",                          // i
    "1611 ~111000 1818",                  // j
    "0802 3604 1532",                     // k
    "0802",                               // l
    "0602 ~04063634 3432 ~34366664 6462", // m
    "0602 ~04064644 4442",                // n
    "@02424606",                          // o
    "0600 @02424606",                     // p
    "4640 @02424606",                     // q
    "0602 ~040636",                       // r
    "~3536060434320203",                  // s
    "1813 ~131222 0626",                  // t
    "0604 ~04024244 4642",                // u
    "062246",                             // v
    "0612365266",                         // w
    "0642 0246",                          // x
    "0622 4610",                          // y
    "06460242",                           // z
    "28181605141222",                     // {
    "0109",                               // |
    "08181625141202",                     // }
    "~05173345",                          // ~
};
static const char unknown_glyph[] = "0242480802";

enum { PIECES_OF_CURVE = 8 };
static const double gap = 1.8, stroke_width = 0.8, line_distance = 1.8; // units, units, sizes

// The glyph of the character at *text, which moves behind it: one of UTF-8, in which only the first byte is
// not 10xxxxxx.
static const char *next_glyph(const char **text) {
  const unsigned char c = (unsigned char)*(*text)++;

  if (c < 0x80) return c >= ' ' && c <= '~' ? glyphs[c - ' '] : unknown_glyph;
  while (((unsigned char)**text & 0xc0) == 0x80) ++*text;
  return unknown_glyph;
}

static double glyph_width(const char *glyph) {
  int width = 0;

  for (bool is_x = true; *glyph; glyph++) {
    if (*glyph < '0' || *glyph > '9') continue;
    if (is_x && *glyph - '0' > width) width = *glyph - '0';
    is_x = !is_x;
  }
  return width;
}

static double line_width(const char *text, const char *end) {
  double width = 0;

  while (text < end) width += glyph_width(next_glyph(&text)) + gap;
  return width;
}

double font_width(const char *text, double size) {
  double width = 0;

  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    const double of_line = line_width(text, end);
    width = of_line > width ? of_line : width;
  }
  return width * size / 6;
}

int font_lines(const char *text) {
  int num = 1;

  for (; *text; text++) num += *text == '\n';
  return num;
}

typedef struct {
  Raster *raster;
  double x, y, unit; // of the glyph's (0, 0), y upwards
  Colour colour;
} Pen;

static void draw_line(const Pen *pen, const double a[2], const double b[2]) {
  const double from[2] = {pen->x + a[0] * pen->unit, pen->y - a[1] * pen->unit};
  const double to[2] = {pen->x + b[0] * pen->unit, pen->y - b[1] * pen->unit};

  raster_stroke(pen->raster, from, to, stroke_width * pen->unit, pen->colour);
}

// A quadratic from a to b with the control point c.
static void draw_curve(const Pen *pen, const double a[2], const double c[2], const double b[2]) {
  double last[2] = {a[0], a[1]}, next[2];

  for (int k = 1; k <= PIECES_OF_CURVE; k++) {
    const double t = (double)k / PIECES_OF_CURVE;

    for (int d = 0; d < 2; d++) next[d] = (1 - t) * (1 - t) * a[d] + 2 * t * (1 - t) * c[d] + t * t * b[d];
    draw_line(pen, last, next);
    last[0] = next[0], last[1] = next[1];
  }
}

static void point_of(const char *stroke, int i, double point[2]) {
  point[0] = stroke[2 * i] - '0';
  point[1] = stroke[2 * i + 1] - '0';
}

static void middle_of(const char *stroke, int i, int k, double point[2]) {
  double other[2];

  point_of(stroke, i, point);
  point_of(stroke, k, other);
  for (int d = 0; d < 2; d++) point[d] = (point[d] + other[d]) / 2;
}

static void draw_spline(const Pen *pen, const char *stroke, int num, bool is_closed) {
  double from[2], control[2], to[2];

  for (int i = is_closed ? 0 : 1; i < num - !is_closed; i++) {
    point_of(stroke, i, control);
    middle_of(stroke, (i + num - 1) % num, i, from);
    middle_of(stroke, i, (i + 1) % num, to);
    if (!is_closed && i == 1) point_of(stroke, 0, from);
    if (!is_closed && i == num - 2) point_of(stroke, num - 1, to);
    draw_curve(pen, from, control, to);
  }
}

static void draw_glyph(const Pen *pen, const char *glyph) {
  for (size_t length; *glyph; glyph += length, glyph += *glyph == ' ') {
    const bool is_spline = *glyph == '~' || *glyph == '@';
    const char *stroke = glyph + is_spline;
    double a[2], b[2];

    length = strcspn(glyph, " ");
    const int num = (int)(length - is_spline) / 2;
    if (is_spline) draw_spline(pen, stroke, num, *glyph == '@');
    for (int i = 0; i + 1 < num && !is_spline; i++) {
      point_of(stroke, i, a);
      point_of(stroke, i + 1, b);
      draw_line(pen, a, b);
    }
  }
}

void font_draw(Raster *raster, double x, double baseline, double size, const char *text, Colour colour) {
  Pen pen = {raster, x, baseline + 2 * size / 6, size / 6, colour};

  while (*text) {
    if (*text == '\n') {
      text++;
      pen.x = x;
      pen.y += line_distance * size;
      continue;
    }
    const char *glyph = next_glyph(&text);
    draw_glyph(&pen, glyph);
    pen.x += (glyph_width(glyph) + gap) * pen.unit;
  }
}
