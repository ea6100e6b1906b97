// SPDX-License-Identifier: BSD-2-Clause
// `ritz picture`: the surface of a grid from a direction, without perspective (contract in cli/picture.h). A
// face of degree p becomes m x m pieces by its polynomials, whose normals and values are exact at the pieces'
// corners.
#include "cli/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/legend.h"
#include "cli/png.h"
#include "cli/raster.h"
#include "cli/surface.h"

enum { MIN_WIDTH = 200, MIN_HEIGHT = 150, MAX_SIDE = 8192, MAX_PIXELS = 1 << 24, MAX_PIECES = 64 };

// ---- Command line ----

#define MEMBER(member) offsetof(PictureOptions, member)
#define TEXT(name, value, help, member)                                                                      \
  {                                                                                                          \
    name, value, help, ARG_TEXT, MEMBER(member), 0, 0, { NULL }                                              \
  }

static const ArgOption options_table[] = {
    TEXT("--output", "FILE.png", "where the picture goes (default: FILE.png beside FILE.vtu)", output),
    TEXT("--field", "NAME",
         "of points or cells (default: the first field of points; without any,\nthe mesh is drawn)", field),
    TEXT("--component", "C",
         "of a field of several: x, y, z, or a number from 0 (default: the\nlength of vectors)", component),
    TEXT("--range", "LOW,HIGH", "of the colours (default: that of the field on the surface)", range),
    TEXT("--title", "TEXT", "above the colours (default: the field's name)", title),
    TEXT("--view", "AZIMUTH,ELEVATION",
         "direction from which to look, in degrees: azimuth from the x axis\ntowards y, elevation above the "
         "plane of x "
         "and y (default -60,25;\nplane meshes are seen from above: -90,90)",
         view),
    TEXT("--size", "WxH", "in pixels (default 1600x1000)", size),
    ARG_WORDS("--map", NULL, ARG_CHOICE, MEMBER(map),
              "of colours (default viridis); signed: 0 is in the middle", "viridis", "plasma", "grey",
              "signed"),
    ARG_OPTION("--no-lines", NULL, ARG_FLAG, MEMBER(no_lines), 0, 0, "without the edges of elements"),
};

const ArgCommand picture_command = {
    .name = "ritz picture",
    .operand = "FILE.vtu",
    .operand_offset = MEMBER(file),
    .description =
        "Draws the surface of a grid, coloured by a field, as a PNG file. FILE.vtu, or all pieces of "
        "FILE.pvtu,\n"
        "is what 'ritz solve --output' wrote, or another unstructured grid of VTK's XML format, with linear\n"
        "or Lagrange cells of dimension 2 or 3.",
    .notes = "Values that are not finite are grey.\n\n"
             "Exit status: 0 drawn; 1 failed; 2 wrong usage.",
    .examples = "ritz picture heat-sink.vtu --title 'temperature [K]' --range 30,60 --view=-56,30\n"
                "ritz picture elbow.vtu --field von_mises --output stress.png",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- Scene ----

typedef struct {
  const PictureOptions *options;
  VtuFile file; // its names, for messages
  VtuGrid grid;
  Surface surface;
  Raster raster;
  int width, height;
  bool is_plane;
  int component; // -1: the length
  double azimuth, elevation;
  double right[3], up[3], back[3]; // the picture's directions; back: to the eye
  double scale, shift[2];          // pixels
  double edge;                     // mean length of edges, pixels
  double low, high;
  bool has_range;
  char title[VTU_NAME + 32];
} Scene;

static int wrong(const Scene *s, const char *option, const char *wanted, const char *found) {
  char shown[ARG_SHOWN];

  fprintf(cli_stderr(), "%s: %s: expected %s, found '%s'\n", s->file.command, option, wanted,
          args_shown(found, shown));
  return CLI_USAGE;
}

static bool parse_pair(const char *text, double pair[2]) {
  int length = 0;

  return sscanf(text, "%lf,%lf%n", &pair[0], &pair[1], &length) == 2 && !text[length] && isfinite(pair[0]) &&
         isfinite(pair[1]);
}

static int parse_size(Scene *s, const char *text) {
  int length = 0;
  const bool is_pair = sscanf(text, "%5dx%5d%n", &s->width, &s->height, &length) == 2 && !text[length];

  if (is_pair && s->width >= MIN_WIDTH && s->height >= MIN_HEIGHT && s->width <= MAX_SIDE &&
      s->height <= MAX_SIDE && s->width * s->height <= MAX_PIXELS)
    return CLI_OK;
  return wrong(s, "--size", "WxH, from 200x150 to 8192 each and 16 million pixels", text);
}

static int parse_component(Scene *s, const char *text) {
  int length = 0;

  if (text[0] >= 'x' && text[0] <= 'z' && !text[1])
    s->component = text[0] - 'x';
  else if (sscanf(text, "%3d%n", &s->component, &length) != 1 || text[length] || s->component < 0)
    return wrong(s, "--component", "x, y, z or a number from 0", text);
  return CLI_OK;
}

// Reads and checks the options, before the file is read.
static int parse(Scene *s) {
  const PictureOptions *o = s->options;
  double pair[2];

  if (o->view && !parse_pair(o->view, pair))
    return wrong(s, "--view", "AZIMUTH,ELEVATION in degrees", o->view);
  if (o->view) s->azimuth = pair[0], s->elevation = pair[1];
  if (o->range && !(parse_pair(o->range, pair) && pair[0] < pair[1]))
    return wrong(s, "--range", "LOW,HIGH, the smaller one first", o->range);
  if (o->range) s->low = pair[0], s->high = pair[1], s->has_range = true;
  if (o->component) CLI_TRY(parse_component(s, o->component));
  const size_t length = o->output ? strlen(o->output) : 0;
  if (o->output && (length < 5 || strcmp(o->output + length - 4, ".png") != 0))
    return wrong(s, "--output", "a file name that ends in .png", o->output);
  return parse_size(s, o->size ? o->size : "1600x1000");
}

// ---- View ----

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static bool is_plane(const VtuGrid *grid) {
  for (int64_t i = 0; i < grid->num_points; i++) {
    if (fabs(grid->points[3 * i + 2] - grid->points[2]) > 1e-9) return false;
  }
  return true;
}

// Sine and cosine of degrees; exact for right angles, so that views along axes are.
static void turn(double degrees, double *sine, double *cosine) {
  static const double sines[] = {0, 1, 0, -1}, pi = 3.14159265358979323846;
  const double quarter = fmod(degrees, 360) / 90;

  *sine = sin(quarter * pi / 2);
  *cosine = cos(quarter * pi / 2);
  if (quarter != floor(quarter)) return;
  *sine = sines[((int)quarter + 4) % 4];
  *cosine = sines[((int)quarter + 5) % 4];
}

static void choose_view(Scene *s) {
  double sine_a, cosine_a, sine_e, cosine_e;

  s->is_plane = is_plane(&s->grid);
  if (!s->options->view) s->azimuth = s->is_plane ? -90 : -60, s->elevation = s->is_plane ? 90 : 25;
  turn(s->azimuth, &sine_a, &cosine_a);
  turn(s->elevation, &sine_e, &cosine_e);
  const double right[] = {-sine_a, cosine_a, 0};
  const double up[] = {-sine_e * cosine_a, -sine_e * sine_a, cosine_e};
  const double back[] = {cosine_e * cosine_a, cosine_e * sine_a, sine_e};
  memcpy(s->right, right, sizeof(right));
  memcpy(s->up, up, sizeof(up));
  memcpy(s->back, back, sizeof(back));
}

// ---- Values ----

// The scalar that is drawn at a point or cell: the component, or the length; NaN: it is not finite.
static double scalar_of(const Scene *s, const double *values) {
  double value = 0;

  if (s->component >= 0 || s->grid.num_comp == 1) value = values[s->component >= 0 ? s->component : 0];
  for (int c = 0; c < s->grid.num_comp && s->component < 0 && s->grid.num_comp > 1; c++)
    value = hypot(value, values[c]);
  return isfinite(value) ? value : NAN;
}

static int check_component(const Scene *s) {
  if (s->component < s->grid.num_comp || (s->component < 0)) return CLI_OK;
  return vtu_fail(&s->file, "component %d is not there: the field '%s' has %d, counted from 0", s->component,
                  s->grid.name, s->grid.num_comp);
}

static void name_field(Scene *s) {
  const char *name = s->grid.name;
  const int c = s->component;

  if (s->options->title)
    snprintf(s->title, sizeof(s->title), "%s", s->options->title);
  else if (c >= 0 && s->grid.num_comp > 1 && s->grid.num_comp <= 3)
    snprintf(s->title, sizeof(s->title), "%s %c", name, "xyz"[c]);
  else if (c >= 0 && s->grid.num_comp > 1)
    snprintf(s->title, sizeof(s->title), "%s %d", name, c);
  else
    snprintf(s->title, sizeof(s->title), s->grid.num_comp > 1 ? "|%s|" : "%s", name);
}

// Extent of the surface's nodes: the window they take, the range of the field, lengths of edges.
typedef struct {
  double low[2], high[2]; // right, up
  double edges;
  int64_t num_edges;
} Extent;

static void project(const Scene *s, int64_t point, double place[2]) {
  const double *x = s->grid.points + 3 * point;

  place[0] = dot(s->right, x);
  place[1] = dot(s->up, x);
}

static void measure_node(Scene *s, int64_t cell, int64_t point, Extent *extent) {
  double place[2];

  project(s, point, place);
  for (int d = 0; d < 2; d++) {
    extent->low[d] = fmin(extent->low[d], place[d]);
    extent->high[d] = fmax(extent->high[d], place[d]);
  }
  if (!s->grid.num_comp || s->has_range) return;
  const double value = scalar_of(s, s->grid.values + (s->grid.is_of_cells ? cell : point) * s->grid.num_comp);
  s->low = fmin(s->low, value);
  s->high = fmax(s->high, value);
}

static void measure_edge(const Scene *s, int64_t from, int64_t to, Extent *extent) {
  double a[2], b[2];

  project(s, from, a);
  project(s, to, b);
  extent->edges += hypot(b[0] - a[0], b[1] - a[1]);
  extent->num_edges++;
}

// The range is made symmetric about 0 for the map of values of both signs.
static void center_range(Scene *s) {
  const double most = fmax(fabs(s->low), fabs(s->high));

  if (s->has_range || s->options->map != SIGNED_MAP || !(s->low <= s->high)) return;
  s->low = -most, s->high = most;
}

static void measure_surface(Scene *s, Extent *extent) {
  static const Extent none = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, 0, 0};
  int64_t ids[SURFACE_MAX_NODES];

  *extent = none;
  if (!s->has_range) s->low = INFINITY, s->high = -INFINITY;
  for (int64_t f = 0; f < s->surface.num_faces; f++) {
    int num_corners;
    const int p = surface_nodes(&s->surface, f, &num_corners, ids);
    const int num = num_corners == 4 ? (p + 1) * (p + 1) : (p + 1) * (p + 2) / 2;

    for (int i = 0; i < num; i++) measure_node(s, s->surface.faces[f].cell, ids[i], extent);
    measure_edge(s, ids[0], ids[p], extent);
    measure_edge(s, ids[0], ids[num_corners == 4 ? p * (p + 1) : num - 1], extent);
  }
  center_range(s);
}

// The surface fills what the column at the right leaves, but for a margin.
static void place_surface(Scene *s, const Extent *extent, double column) {
  const double margin = 0.05 * s->height;
  const double room[2] = {s->width - column - 2 * margin, s->height - 2 * margin};
  const double middle[2] = {round(margin + room[0] / 2), round(margin + room[1] / 2)};

  s->scale = INFINITY;
  for (int d = 0; d < 2; d++) {
    const double size = extent->high[d] - extent->low[d];

    if (size > 1e-9) s->scale = fmin(s->scale, room[d] / size);
  }
  if (!isfinite(s->scale)) s->scale = 1;
  s->shift[0] = middle[0] - s->scale * (extent->low[0] + extent->high[0]) / 2;
  s->shift[1] = middle[1] + s->scale * (extent->low[1] + extent->high[1]) / 2;
  s->edge = s->scale * extent->edges / (double)extent->num_edges;
}

// ---- Pieces of faces ----

// Values and derivatives of the Lagrange functions of a face at the corners of its pieces, each
// [num_points][num_nodes].
typedef struct {
  int corners, degree, pieces, num_points, num_nodes;
  double *tables[3];      // owned: functions, derivatives by s and t
  RasterVertex *vertices; // owned, [num_points]
} Pieces;

// The Lagrange function of node i of 0 .. p at x in [0, 1].
static double lagrange(int p, int i, double x) {
  double value = 1;

  for (int k = 0; k <= p; k++) value *= k == i ? 1 : (x * p - k) / (i - k);
  return value;
}

// The product of those in one barycentric coordinate that vanish at 0 .. i - 1 and are 1 at i (P. Silvester,
// 1969).
static double rising(int p, int i, double x) {
  double value = 1;

  for (int k = 0; k < i; k++) value *= (x * p - k) / (i - k);
  return value;
}

static double face_function(const Pieces *pieces, int i, int j, double s, double t) {
  const int p = pieces->degree;

  if (pieces->corners == 4) return lagrange(p, i, s) * lagrange(p, j, t);
  return rising(p, i, s) * rising(p, j, t) * rising(p, p - i - j, 1 - s - t);
}

// Derivatives by differences: the functions are polynomials, outside of the face as well.
static void fill_tables(Pieces *pieces, int64_t row, double s, double t) {
  const int p = pieces->degree;
  const double h = 1e-4;
  int64_t at = row * pieces->num_nodes;

  for (int j = 0; j <= p; j++) {
    for (int i = 0; i <= (pieces->corners == 4 ? p : p - j); i++, at++) {
      pieces->tables[0][at] = face_function(pieces, i, j, s, t);
      pieces->tables[1][at] = face_function(pieces, i, j, s + h, t) - face_function(pieces, i, j, s - h, t);
      pieces->tables[2][at] = face_function(pieces, i, j, s, t + h) - face_function(pieces, i, j, s, t - h);
    }
  }
}

static void destroy_pieces(Pieces *pieces) {
  for (int i = 0; i < 3; i++) free(pieces->tables[i]);
  free(pieces->vertices);
  *pieces = (Pieces){0};
}

static int create_pieces(const Scene *s, int corners, int degree, int num, Pieces *pieces) {
  const bool is_quad = corners == 4;
  int64_t row = 0;

  destroy_pieces(pieces);
  *pieces = (Pieces){.corners = corners, .degree = degree, .pieces = num};
  pieces->num_points = is_quad ? (num + 1) * (num + 1) : (num + 1) * (num + 2) / 2;
  pieces->num_nodes = is_quad ? (degree + 1) * (degree + 1) : (degree + 1) * (degree + 2) / 2;
  pieces->vertices = vtu_allocate(&s->file, pieces->num_points, sizeof(*pieces->vertices));
  for (int i = 0; i < 3; i++)
    pieces->tables[i] =
        vtu_allocate(&s->file, (int64_t)pieces->num_points * pieces->num_nodes, sizeof(double));
  if (!pieces->vertices || !pieces->tables[0] || !pieces->tables[1] || !pieces->tables[2]) return CLI_FAILED;
  for (int j = 0; j <= num; j++) {
    for (int i = 0; i <= (is_quad ? num : num - j); i++, row++) {
      const double u = (double)i / num, v = (double)j / num;
      const double quad_edges[] = {v, 1 - u, 1 - v, u}, triangle_edges[] = {v, 1 - u - v, u, 1};

      fill_tables(pieces, row, u, v);
      memcpy(pieces->vertices[row].edges, is_quad ? quad_edges : triangle_edges, sizeof(quad_edges));
    }
  }
  return CLI_OK;
}

// Pieces an edge: enough to look smooth, few enough to be drawn in a short time.
static int num_pieces(const Scene *s) {
  const int p = s->surface.max_degree;
  double num = ceil(s->edge / 5);

  num = fmin(num, sqrt(4e6 / (double)s->surface.num_faces));
  num = fmin(num, sqrt(4e6 / ((p + 1) * (p + 1))) - 1);
  return (int)fmin(fmax(num, 1), MAX_PIECES);
}

// ---- Shading ----

// Light comes from the eye and a little from above and the left: what is seen from in front has its own
// colour.
static double shade_of(const Scene *s, const double along_s[3], const double along_t[3]) {
  double normal[3], length = 0, light = 0;

  for (int d = 0; d < 3; d++) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;

    normal[d] = along_s[e] * along_t[f] - along_s[f] * along_t[e];
    length += normal[d] * normal[d];
    light += normal[d] * (0.918 * s->back[d] + 0.321 * s->up[d] - 0.23 * s->right[d]);
  }
  if (!(length > 0)) return 1;
  light /= sqrt(length);
  if (dot(normal, s->back) < 0) light = -light;
  return fmin(1, 0.65 + 0.39 * fmax(light, 0));
}

// ---- Drawing ----

static void interpolate(const Pieces *pieces, int table, int64_t row, const VtuGrid *grid, const int64_t *ids,
                        double x[3]) {
  const double *weights = pieces->tables[table] + row * pieces->num_nodes;

  x[0] = x[1] = x[2] = 0;
  for (int i = 0; i < pieces->num_nodes; i++) {
    for (int d = 0; d < 3; d++) x[d] += weights[i] * grid->points[3 * ids[i] + d];
  }
}

static double value_at(const Scene *s, const Pieces *pieces, int64_t row, int64_t cell, const int64_t *ids) {
  const double *weights = pieces->tables[0] + row * pieces->num_nodes;
  const VtuGrid *grid = &s->grid;
  double values[VTU_COMPONENTS] = {0};

  if (!grid->num_comp) return 0.5;
  if (grid->is_of_cells) return scalar_of(s, grid->values + cell * grid->num_comp);
  for (int i = 0; i < pieces->num_nodes; i++) {
    for (int c = 0; c < grid->num_comp; c++)
      values[c] += weights[i] * grid->values[ids[i] * grid->num_comp + c];
  }
  return scalar_of(s, values);
}

// Its place in the colour map; without overflow.
static double place_of(const Scene *s, double value) {
  if (!s->grid.num_comp || !(s->high > s->low)) return isnan(value) ? value : 0.5;
  return (value / 2 - s->low / 2) / (s->high / 2 - s->low / 2);
}

static void place_vertices(const Scene *s, const Pieces *pieces, int64_t cell, const int64_t *ids) {
  for (int64_t row = 0; row < pieces->num_points; row++) {
    RasterVertex *v = &pieces->vertices[row];
    double x[3], along_s[3], along_t[3];

    interpolate(pieces, 0, row, &s->grid, ids, x);
    interpolate(pieces, 1, row, &s->grid, ids, along_s);
    interpolate(pieces, 2, row, &s->grid, ids, along_t);
    v->x = s->shift[0] + s->scale * dot(s->right, x);
    v->y = s->shift[1] - s->scale * dot(s->up, x);
    v->depth = dot(s->back, x);
    v->shade = shade_of(s, along_s, along_t);
    v->value = place_of(s, value_at(s, pieces, row, cell, ids));
  }
}

static void draw_pieces(Scene *s, const Pieces *pieces, const RasterStyle *style) {
  const bool is_quad = pieces->corners == 4;
  const int num = pieces->pieces;
  int row = 0; // of the point (i, j)

  for (int j = 0; j < num; j++, row++) {
    const int length = is_quad ? num : num - j;

    for (int i = 0; i < length; i++, row++) {
      const RasterVertex *v = pieces->vertices;
      const int above = row + length + 1;
      const RasterVertex lower[] = {v[row], v[row + 1], v[above]};

      raster_triangle(&s->raster, style, lower);
      if (!is_quad && i + 1 == length) continue;
      const RasterVertex upper[] = {v[row + 1], v[above + 1], v[above]};
      raster_triangle(&s->raster, style, upper);
    }
  }
}

static int draw_surface(Scene *s) {
  const int num = num_pieces(s);
  const double strength = s->options->no_lines ? 0 : 0.5 * fmin(fmax((s->edge - 2) / 12, 0), 1);
  RasterStyle style = {.map = s->grid.num_comp ? &legend_maps[s->options->map] : &legend_grey,
                       .line_width = fmax(1.1, s->height / 700.0),
                       .line_strength = strength};
  int64_t ids[SURFACE_MAX_NODES];
  Pieces pieces = {0};
  int code = CLI_OK;

  for (int64_t f = 0; f < s->surface.num_faces && !code; f++) {
    const SurfaceFace *face = &s->surface.faces[f];
    int corners;
    const int degree = surface_nodes(&s->surface, f, &corners, ids);

    if (corners != pieces.corners || degree != pieces.degree)
      code = create_pieces(s, corners, degree, num, &pieces);
    if (code) break;
    place_vertices(s, &pieces, face->cell, ids);
    style.lines = strength > 0 ? face->lines & (corners == 4 ? 15u : 7u) : 0;
    draw_pieces(s, &pieces, &style);
  }
  destroy_pieces(&pieces);
  return code;
}

static int draw(Scene *s) {
  const int factor = s->width * s->height <= 1 << 22 ? 3 : 2;
  const double axes[3][2] = {{s->right[0], s->up[0]}, {s->right[1], s->up[1]}, {s->right[2], s->up[2]}};
  Legend legend = {.map = &legend_maps[s->options->map],
                   .has_bar = s->grid.num_comp > 0,
                   .title = s->title,
                   .size = fmax(7, fmin(s->height, s->width / 1.2) / 62.0),
                   .axes = s->is_plane && !s->options->view ? NULL : axes};
  Extent extent;

  measure_surface(s, &extent);
  if (s->grid.num_comp && !(s->low <= s->high))
    return vtu_fail(&s->file, "the field '%s' has no finite value on the surface", s->grid.name);
  legend.low = s->low, legend.high = s->high;
  place_surface(s, &extent, legend_width(&legend, s->width));
  if (!raster_create(s->width, s->height, factor, &s->raster))
    return vtu_fail(&s->file, "there is no memory for a picture of %d x %d pixels", s->width, s->height);
  CLI_TRY(draw_surface(s));
  legend_draw(&s->raster, &legend);
  return CLI_OK;
}

// ---- File ----

static char *path_of_picture(const PictureOptions *o) {
  const char *dot_of = strrchr(o->file, '.'), *slash = strrchr(o->file, '/');
  const size_t stem = dot_of && (!slash || dot_of > slash) ? (size_t)(dot_of - o->file) : strlen(o->file);
  char *path = malloc((o->output ? strlen(o->output) : stem) + 5);

  if (path && o->output) strcpy(path, o->output);
  if (path && !o->output) sprintf(path, "%.*s.png", (int)stem, o->file);
  return path;
}

static int write_bytes(const Scene *s, const char *path, const unsigned char *bytes, size_t size) {
  const VtuFile picture = {.command = s->file.command, .path = path};
  FILE *stream = fopen(path, "wb");

  if (!stream) return vtu_fail(&picture, "cannot be written: %s", strerror(errno));
  const bool is_written = fwrite(bytes, 1, size, stream) == size;
  if (fclose(stream) == 0 && is_written) return CLI_OK;
  const int error = errno;
  remove(path);
  return vtu_fail(&picture, "cannot be written: %s", strerror(error));
}

static int write_picture(const Scene *s, const char *path) {
  size_t size = 0;
  unsigned char *pixels = raster_pixels(&s->raster);
  unsigned char *bytes = pixels ? png_encode(s->width, s->height, pixels, true, &size) : NULL;
  const int code =
      bytes ? write_bytes(s, path, bytes, size) : vtu_fail(&s->file, "there is no memory for the picture");

  free(pixels);
  free(bytes);
  return code;
}

static int make_picture(Scene *s, const char *path) {
  CLI_TRY(vtu_read(s->file.command, s->options->file, s->options->field, &s->grid));
  CLI_TRY(check_component(s));
  CLI_TRY(surface_create(&s->file, &s->grid, &s->surface));
  choose_view(s);
  name_field(s);
  CLI_TRY(draw(s));
  return write_picture(s, path);
}

int picture_draw(const char *command, const PictureOptions *options, char **written) {
  Scene s = {.options = options, .file = {.command = command, .path = options->file}, .component = -1};

  *written = NULL;
  CLI_TRY(parse(&s));
  char *path = path_of_picture(options);
  int code = path ? cli_check_file(command, "--output", path, false) : cli_no_memory(command);
  if (!code) code = make_picture(&s, path);
  surface_destroy(&s.surface);
  vtu_destroy(&s.grid);
  raster_destroy(&s.raster);
  if (code)
    free(path);
  else
    *written = path;
  return code;
}

int cli_picture(int argc, char **argv) {
  PictureOptions options = {0};
  const ArgsResult parsed = args_parse(&picture_command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  char *written = NULL;

  if (parsed == ARGS_RUN) code = picture_draw(picture_command.name, &options, &written);
  if (written) cli_fact("picture", "%s", written);
  free(written);
  args_free(&picture_command, &options);
  return code;
}
