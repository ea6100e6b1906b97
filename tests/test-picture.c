// SPDX-License-Identifier: BSD-2-Clause
// `ritz picture` from inside: files of PNG, readers of VTK's encodings, what is seen where, and in which
// colour. Pictures are decoded by the inflate of tests/inflate.h.
#include <ritz.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/legend.h"
#include "cli/picture.h"
#include "cli/png.h"
#include "tests/inflate.h"
#include "tests/tap.h"

// ---- Pictures ----

typedef struct {
  int width, height;
  unsigned char *pixels; // owned, [height][width][3]; NULL: broken
} Image;

static uint32_t word_at(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Of the bytes of a chunk's type and data: the remainder of the division by the polynomial of ISO/IEC 15948.
static bool has_right_checksum(const unsigned char *chunk, size_t size) {
  uint32_t rest = ~UINT32_C(0);

  for (size_t bit = 0; bit < 8 * (size + 4); bit++) {
    const uint32_t in = chunk[4 + bit / 8] >> bit % 8 & 1;

    rest = rest >> 1 ^ ((rest ^ in) & 1 ? UINT32_C(0xedb88320) : 0);
  }
  return ~rest == word_at(chunk + 8 + size);
}

// Rows with the filters "none" and "up".
static bool undo_filter(Image *image, const unsigned char *rows) {
  const size_t row = 3 * (size_t)image->width;

  for (int y = 0; y < image->height; y++, rows += row + 1) {
    unsigned char *to = image->pixels + (size_t)y * row;

    if (rows[0] != 0 && rows[0] != 2) return false;
    for (size_t i = 0; i < row; i++)
      to[i] = (unsigned char)(rows[1 + i] + (rows[0] && y ? (to - row)[i] : 0));
  }
  return true;
}

// Signature, IHDR, one IDAT, IEND, and nothing behind.
static Image decode(const unsigned char *bytes, size_t size) {
  const size_t data = 8 + 25; // of IDAT
  Image image = {0};

  if (size < data + 24 || memcmp(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) != 0) return image;
  const uint32_t packed = word_at(bytes + data);
  if (packed != size - data - 24 || memcmp(bytes + data + 4, "IDAT", 4) != 0 ||
      memcmp(bytes + 24, "\x08\x02\0\0\0", 5) != 0 ||
      memcmp(bytes + size - 12, "\0\0\0\0IEND\xae\x42\x60\x82", 12) != 0 ||
      !has_right_checksum(bytes + 8, 13) || !has_right_checksum(bytes + data, packed))
    return image;
  image.width = (int)word_at(bytes + 16);
  image.height = (int)word_at(bytes + 20);
  const size_t num = (3 * (size_t)image.width + 1) * (size_t)image.height;
  unsigned char *rows = malloc(num);
  image.pixels = malloc(num);
  if (!inflate_zlib(bytes + data + 8, packed, rows, num) || !undo_filter(&image, rows)) {
    free(image.pixels);
    image.pixels = NULL;
  }
  free(rows);
  return image;
}

static unsigned char *read_bytes(const char *path, size_t *size) {
  FILE *stream = fopen(path, "rb");
  unsigned char *bytes = calloc(1 << 22, 1);

  *size = stream ? fread(bytes, 1, 1 << 22, stream) : 0;
  if (stream) fclose(stream);
  return bytes;
}

// What a picture of the file shows; messages are held back. view: from where.
static int draw_with(PictureOptions options, Image *image) {
  char *written = NULL, output[4096];
  size_t size;

  *image = (Image){0};
  snprintf(output, sizeof(output), "%s.png", options.file);
  options.output = output;
  cli_be_part(false);
  const int code = picture_draw("test-picture", &options, &written);
  cli_speak();
  free(written);
  if (code) return code;
  unsigned char *bytes = read_bytes(output, &size);
  *image = decode(bytes, size);
  free(bytes);
  remove(output);
  return image->pixels ? 0 : 1;
}

static const unsigned char *pixel(const Image *image, int x, int y) {
  return image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

// How far a pixel is from a colour of the map, in steps of 1/255.
static int difference(const Image *image, int x, int y, Colour colour) {
  int most = 0;

  for (int c = 0; c < 3; c++) {
    const int d = abs(pixel(image, x, y)[c] - colour.rgb[c]);
    most = d > most ? d : most;
  }
  return most;
}

// ---- Files ----

static const char *temp_path(const char *name) { return tap_temp_file(name, "", 0); }

// A box of one shape on [0, 1]^dim in the middle of whose sides is a vertex, or the box itself (LINE).
static RitzMesh make_box(Ceed ceed, int dim, CeedElemTopology into) {
  const CeedInt n[3] = {2, 2, 2};
  RitzMesh box = NULL, mesh = NULL;

  if (RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &box)) return NULL;
  if (into == CEED_TOPOLOGY_LINE) return box;
  RitzMeshSplit(box, into, &mesh);
  RitzMeshDestroy(&box);
  return mesh;
}

// A field from a function of the degree and the point.
typedef double (*Field)(int degree, const double *x);
static int write_field(RitzMesh mesh, int degree, CeedInt num_comp, Field field, const char *path) {
  Ceed ceed = RitzMeshReturnCeed(mesh);
  RitzSpace space = NULL;
  CeedVector u = NULL;
  int64_t num_nodes = 0;
  CeedInt dim = 0;
  CeedScalar *array;

  int ierr = RitzSpaceCreate(mesh, degree, num_comp, &space);
  if (!ierr) ierr = RitzSpaceGetNumNodes(space, &num_nodes);
  if (!ierr) ierr = RitzMeshGetDimensions(mesh, NULL, &dim);
  double *x = calloc((size_t)(num_nodes * dim) + 1, sizeof(*x));
  if (!ierr) ierr = RitzSpaceGetNodeCoordinates(space, x);
  if (!ierr) ierr = CeedVectorCreate(ceed, num_nodes * num_comp, &u);
  if (!ierr) ierr = CeedVectorGetArrayWrite(u, CEED_MEM_HOST, &array);
  for (int64_t i = 0; !ierr && i < num_nodes * num_comp; i++) {
    const double *at = x + i / num_comp * dim, point[3] = {at[0], at[1], dim == 3 ? at[2] : 0};

    array[i] = (CeedScalar)field(degree, point);
  }
  if (!ierr) ierr = CeedVectorRestoreArray(u, &array);
  const RitzOutputField output = {.name = "u", .space = space, .values = u};
  if (!ierr) ierr = RitzWriteVTU(mesh, 1, &output, path);
  CeedVectorDestroy(&u);
  RitzSpaceDestroy(&space);
  free(x);
  return ierr;
}

static double power_of_sum(int degree, const double x[3]) {
  return pow((x[0] + 2 * x[1] + 3 * x[2]) / 6, degree);
}
static double parabola(int degree, const double *x) { return degree * (x[0] - 0.5) * (x[0] - 0.5); }
static double not_a_number(int degree, const double *x) { return x[0] < 0.4 ? NAN : degree * x[0]; }

// Where the unit square that a picture of 800 x 500 shows begins: margins of 5 % of the height above and
// below.
enum { WIDTH = 800, HEIGHT = 500, TOP = 25, SIDE = 450 };
static int left_of_square(const Image *image) {
  int x = 0;

  while (x < image->width && pixel(image, x, image->height / 2)[1] == 255) x++;
  return x;
}

// ---- Files of PNG ----

TEST(packed_and_stored_files_hold_the_same_pixels) {
  static const int sizes[][2] = {{1, 1}, {37, 11}, {300, 201}}; // the last one has more than 65535 bytes

  for (int k = 0; k < 3; k++) {
    const int width = sizes[k][0], height = sizes[k][1];
    const size_t num = 3 * (size_t)(width * height);
    unsigned char *pixels = malloc(num);
    uint32_t random = 12345;

    for (size_t i = 0; i < num; i++)
      pixels[i] = (unsigned char)((random = random * 1664525 + 1013904223) >> 24);
    for (int packed = 0; packed < 2; packed++) {
      size_t size = 0;
      unsigned char *bytes = png_encode(width, height, pixels, packed, &size);
      Image image = decode(bytes, size);
      const bool is_same = image.pixels && image.width == width && image.height == height &&
                           !memcmp(image.pixels, pixels, num);

      free(bytes);
      free(image.pixels);
      CHECK(is_same, "%d x %d, packed %d", width, height, packed);
    }
    free(pixels);
  }
}

// ---- What is seen ----

// A face of the unit cube as it is seen: what the picture's directions are, and where the face lies.
typedef struct {
  const char *view;
  int right, up, back; // axes
  int right_sign, up_sign;
  double at; // of the third axis
} FaceView;
static const FaceView face_views[] = {{"-90,90", 0, 1, 2, 1, 1, 1}, {"-90,-90", 0, 1, 2, 1, -1, 0},
                                      {"-90,0", 0, 2, 1, 1, 1, 0},  {"90,0", 0, 2, 1, -1, 1, 1},
                                      {"0,0", 1, 2, 0, 1, 1, 1},    {"180,0", 1, 2, 0, -1, 1, 0}};

enum { SMALL_TOP = 10, SMALL_SIDE = 180 }; // of pictures of 320 x 200

// The largest difference between the picture and the field, in steps of a colour; 255: it is not full.
static int worst_colour(const Image *image, const FaceView *view, int dim, int degree) {
  const int left = left_of_square(image);
  int worst = 0;

  for (int j = 1; j < SMALL_SIDE - 1; j++) {
    for (int i = 1; i < SMALL_SIDE - 1; i++) {
      const double right = (i + 0.5) / SMALL_SIDE, up = 1 - (j + 0.5) / SMALL_SIDE;
      double x[3];

      x[view->right] = view->right_sign > 0 ? right : 1 - right;
      x[view->up] = view->up_sign > 0 ? up : 1 - up;
      x[view->back] = dim == 3 ? view->at : 0;
      const Colour colour = raster_colour(&legend_maps[0], power_of_sum(degree, x));
      const int d = difference(image, left + i, SMALL_TOP + j, colour);
      worst = d > worst ? d : worst;
    }
  }
  return worst;
}

// Degrees from 3 on have nodes within faces, and that of 5 shows all of their order: from all sides. Cells of
// a pyramid are linear between the nodes.
static void check_shape(RitzMesh mesh, int dim, CeedElemTopology into, int degree) {
  const bool is_cut = into == CEED_TOPOLOGY_PYRAMID && degree > 1;
  const char *path = temp_path("shape.vtu");

  CHECK(mesh && !write_field(mesh, degree, 1, power_of_sum, path), "shape %d, degree %d: no file", into,
        degree);
  for (int v = 0; v < (dim == 3 && (degree == 5 || tap_level() > 0) ? 6 : 2); v++) {
    const PictureOptions options = {
        .file = path, .size = "320x200", .view = face_views[v].view, .range = "0,1", .no_lines = true};
    Image image;

    CHECK(!draw_with(options, &image), "shape %d, degree %d: no picture", into, degree);
    const int worst = worst_colour(&image, &face_views[v], dim, degree);
    free(image.pixels);
    CHECK(worst <= (is_cut ? 24 : 5), "shape %d in %dD, degree %d, from %s: colours differ by %d", into, dim,
          degree, face_views[v].view, worst);
  }
}

TEST(every_shape_of_every_degree_shows_its_polynomial) {
  static const struct {
    int dim;
    CeedElemTopology into; // LINE: as the box is
  } shapes[] = {{2, CEED_TOPOLOGY_LINE}, {2, CEED_TOPOLOGY_TRIANGLE}, {3, CEED_TOPOLOGY_LINE},
                {3, CEED_TOPOLOGY_TET},  {3, CEED_TOPOLOGY_PRISM},    {3, CEED_TOPOLOGY_PYRAMID}};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int k = 0; k < 6; k++) {
    RitzMesh mesh = make_box(ceed, shapes[k].dim, shapes[k].into);

    for (int degree = 1; degree <= (tap_level() > 0 ? 7 : 5); degree++)
      check_shape(mesh, shapes[k].dim, shapes[k].into, degree);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

TEST(a_symmetric_field_gives_a_symmetric_picture) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_box(ceed, 3, CEED_TOPOLOGY_LINE);
  const char *path = temp_path("symmetric.vtu");
  Image image;
  int worst = 0;

  CHECK(mesh && !write_field(mesh, 2, 1, parabola, path), "no file");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);

  CHECK(!draw_with((PictureOptions){.file = path, .size = "800x500", .view = "-90,0"}, &image), "no picture");
  const int left = left_of_square(&image);
  for (int y = 0; y < HEIGHT; y++) {
    for (int i = 0; i < SIDE / 2; i++) {
      for (int c = 0; c < 3; c++) {
        const int d = abs(pixel(&image, left + i, y)[c] - pixel(&image, left + SIDE - 1 - i, y)[c]);
        worst = d > worst ? d : worst;
      }
    }
  }
  free(image.pixels);
  // Triangles of pieces lean the same way in both halves; samples at their borders may fall to either.
  CHECK(worst <= 2, "halves differ by %d", worst);
}

// Quadrilaterals in the plane z = 0, [0,4]^2, and above its middle, z = 1, [1,3]^2.
static const char two_sheets[] =
    "<?xml version=\"1.0\"?>\n<!-- by hand --><VTKFile type=\"UnstructuredGrid\" "
    "version=\"0.1\">\n<UnstructuredGrid>"
    "<Piece NumberOfPoints=\"8\" NumberOfCells=\"2\">\n<CellData><DataArray type=\"Float32\" Name=\"level "
    "&amp; more\" "
    "format=\"ascii\"> 0 1 </DataArray></CellData><Points><DataArray type=\"Float64\" "
    "NumberOfComponents=\"3\" "
    "format=\"ascii\">0 0 0 4 0 0 4 4 0 0 4 0  1 1 1 3 1 1 3 3 1 1 3 1</DataArray></Points>\n<Cells>"
    "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 4 5 6 7</DataArray>"
    "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4 8</DataArray>"
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">9 "
    "9</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>";

TEST(the_nearer_surface_is_seen) {
  const char *path = tap_temp_file("sheets.vtu", two_sheets, strlen(two_sheets));
  static const char *const views[] = {"-90,90", "-90,-90"};

  for (int below = 0; below < 2; below++) {
    Image image;

    CHECK(!draw_with((PictureOptions){.file = path,
                                      .size = "800x500",
                                      .field = "level & more",
                                      .view = views[below],
                                      .no_lines = true},
                     &image),
          "no picture");
    const int left = left_of_square(&image), middle = left + SIDE / 2;
    const int outside = difference(&image, left + SIDE / 8, HEIGHT / 2, raster_colour(&legend_maps[0], 0));
    const int inside = difference(&image, middle, HEIGHT / 2, raster_colour(&legend_maps[0], below ? 0 : 1));
    free(image.pixels);
    CHECK(outside <= 1 && inside <= 1, "from %s: differ by %d and %d", views[below], outside, inside);
  }
}

// The share of each pixel that the surface covers, added up.
TEST(the_silhouette_of_a_cube_has_the_area_of_its_projection) {
  static const char *const views[] = {"0,0", "-90,0", "0,90"};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_box(ceed, 3, CEED_TOPOLOGY_LINE);
  const char *path = temp_path("cube.vtu");

  CHECK(mesh && !RitzWriteVTU(mesh, 0, NULL, path), "no file");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  for (int k = 0; k < 3; k++) {
    Image image;
    double area = 0;

    CHECK(!draw_with((PictureOptions){.file = path, .size = "800x500", .view = views[k], .no_lines = true},
                     &image),
          "no picture");
    const int left = left_of_square(&image);
    const int shade = pixel(&image, left + SIDE / 4, HEIGHT / 2)[0];
    for (int y = 0; y < HEIGHT; y++) {
      for (int x = 0; x < 710; x++) area += (255.0 - pixel(&image, x, y)[0]) / (255.0 - shade);
    }
    free(image.pixels);
    CHECK_NEAR(area, SIDE * SIDE, SIDE, "from %s", views[k]);
  }
}

TEST(the_signed_map_has_zero_in_its_middle) {
  const char *path = tap_temp_file("sheets.vtu", two_sheets, strlen(two_sheets));
  PictureOptions options = {.file = path,
                            .size = "800x500",
                            .field = "level & more",
                            .view = "-90,90",
                            .map = SIGNED_MAP,
                            .no_lines = true};
  Image image;

  CHECK(!draw_with(options, &image), "no picture");
  const int left = left_of_square(&image);
  const int zero =
      difference(&image, left + SIDE / 8, HEIGHT / 2, raster_colour(&legend_maps[SIGNED_MAP], 0.5));
  const int one = difference(&image, left + SIDE / 2, HEIGHT / 2, raster_colour(&legend_maps[SIGNED_MAP], 1));
  free(image.pixels);
  CHECK(zero <= 1 && one <= 1, "differ by %d and %d", zero, one);
}

TEST(values_that_are_no_numbers_are_grey) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = make_box(ceed, 2, CEED_TOPOLOGY_LINE);
  const char *path = temp_path("nan.vtu");
  Image image;

  CHECK(mesh && !write_field(mesh, 1, 1, not_a_number, path), "no file");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);

  CHECK(!draw_with((PictureOptions){.file = path, .size = "800x500", .no_lines = true}, &image),
        "no picture");
  const int left = left_of_square(&image),
            grey = difference(&image, left + 100, 200, (Colour){{150, 150, 150}});
  const int last = difference(&image, left + SIDE - 2, 200, raster_colour(&legend_maps[0], 1));
  free(image.pixels);
  CHECK(grey == 0 && last <= 6, "differ by %d and %d", grey, last);
}

TEST(the_same_file_gives_the_same_bytes) {
  const char *path = tap_temp_file("sheets.vtu", two_sheets, strlen(two_sheets));
  char output[4096], *written = NULL;
  unsigned char *bytes[2];
  size_t sizes[2];

  snprintf(output, sizeof(output), "%s.png", path);
  for (int i = 0; i < 2; i++) {
    CHECK(!picture_draw("test-picture", &(PictureOptions){.file = path, .output = output}, &written),
          "no picture");
    free(written);
    bytes[i] = read_bytes(output, &sizes[i]);
    remove(output);
  }
  const bool is_same = sizes[0] == sizes[1] && !memcmp(bytes[0], bytes[1], sizes[0]);
  free(bytes[0]);
  free(bytes[1]);
  CHECK(is_same, "%zu and %zu bytes", sizes[0], sizes[1]);
}

// ---- Encodings ----

typedef struct {
  char text[16384];
  size_t size;
} Text;

static void add(Text *text, const char *format, ...) {
  va_list args;

  va_start(args, format);
  text->size += (size_t)vsnprintf(text->text + text->size, sizeof(text->text) - text->size, format, args);
  va_end(args);
}

static void add_bytes(Text *text, const void *bytes, size_t size) {
  memcpy(text->text + text->size, bytes, size);
  text->size += size;
}

static void add_base64(Text *text, const unsigned char *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  for (size_t i = 0; i < size; i += 3) {
    const int num = size - i < 3 ? (int)(size - i) : 3;
    const unsigned bits =
        (unsigned)bytes[i] << 16 | (num > 1 ? (unsigned)bytes[i + 1] << 8 : 0) | (num > 2 ? bytes[i + 2] : 0);

    for (int d = 0; d < 4; d++) add(text, "%c", d <= num ? digits[bits >> (18 - 6 * d) & 63] : '=');
  }
}

// A zlib stream of one stored block.
static size_t wrap(const unsigned char *bytes, size_t size, unsigned char *out) {
  const uint32_t check = adler32_of(bytes, size);
  const unsigned char head[7] = {
      0x78, 1, 1, size & 255, (unsigned char)(size >> 8), ~size & 255, (unsigned char)(~size >> 8)};

  memcpy(out, head, 7);
  memcpy(out + 7, bytes, size);
  for (int i = 0; i < 4; i++) out[7 + size + (size_t)i] = (unsigned char)(check >> (24 - 8 * i));
  return size + 11;
}

enum { ASCII, INLINE, APPENDED_BASE64, APPENDED_RAW, INLINE_PACKED, NUM_ENCODINGS };

typedef struct {
  int encoding;
  bool is_swapped, is_wide; // words in front of arrays
  Text text, appended;
} Encoder;

static void put(const Encoder *e, const void *value, size_t size, unsigned char *out) {
  for (size_t i = 0; i < size; i++) out[i] = ((const unsigned char *)value)[e->is_swapped ? size - 1 - i : i];
}

static size_t put_word(const Encoder *e, uint64_t word, unsigned char *out) {
  const uint32_t narrow = (uint32_t)word;

  put(e, e->is_wide ? (const void *)&word : &narrow, e->is_wide ? 8 : 4, out);
  return e->is_wide ? 8 : 4;
}

static void add_array(Encoder *e, const char *type, const char *attributes, int num, const double *values) {
  static const char *const formats[] = {"ascii", "binary", "appended", "appended", "binary"};
  unsigned char bytes[2048], packed[2100];
  size_t head = 0, size = 0;
  Text *to = e->encoding == APPENDED_BASE64 || e->encoding == APPENDED_RAW ? &e->appended : &e->text;

  add(&e->text, "<DataArray type=\"%s\" %s format=\"%s\" offset=\"%zu\">", type, attributes,
      formats[e->encoding], e->appended.size);
  if (e->encoding != INLINE_PACKED)
    head = put_word(e, (uint64_t)num * (*type == 'F' ? 8 : *type == 'U' ? 1 : 4), bytes);
  for (int i = 0; i < num; i++) {
    const int32_t narrow = (int32_t)values[i];
    const unsigned char byte = (unsigned char)values[i];

    if (e->encoding == ASCII) add(&e->text, " %.17g\n", values[i]);
    if (*type == 'F') put(e, &values[i], 8, bytes + head + size), size += 8;
    if (*type == 'I') put(e, &narrow, 4, bytes + head + size), size += 4;
    if (*type == 'U') put(e, &byte, 1, bytes + head + size), size += 1;
  }
  if (e->encoding == INLINE || e->encoding == APPENDED_BASE64) add_base64(to, bytes, head + size);
  if (e->encoding == APPENDED_RAW) add_bytes(to, bytes, head + size);
  if (e->encoding == INLINE_PACKED) {
    unsigned char words[32];
    const size_t packed_size = wrap(bytes, size, packed);
    size_t place = put_word(e, 1, words);

    place += put_word(e, size, words + place);
    place += put_word(e, 0, words + place);
    place += put_word(e, packed_size, words + place);
    add_base64(to, words, place);
    add_base64(to, packed, packed_size);
  }
  add(&e->text, "</DataArray>\n");
}

// The sheets of above with a field of points.
static void encode_sheets(Encoder *e) {
  static const double points[] = {0, 0, 0, 4, 0, 0, 4, 4, 0, 0, 4, 0, 1, 1, 1, 3, 1, 1, 3, 3, 1, 1, 3, 1.25};
  static const double field[] = {0, 1.5, 2, 3, 4, 5, 6.1, 7}, ids[] = {0, 1, 2, 3, 4, 5, 6, 7},
                      ends[] = {4, 8}, types[] = {9, 9};
  const uint16_t one = 1;
  const bool is_little = *(const unsigned char *)&one == 1;

  add(&e->text, "<VTKFile type='UnstructuredGrid' byte_order=\"%s\" header_type=\"%s\"%s>",
      is_little != e->is_swapped ? "LittleEndian" : "BigEndian", e->is_wide ? "UInt64" : "UInt32",
      e->encoding == INLINE_PACKED ? " compressor=\"vtkZLibDataCompressor\"" : "");
  add(&e->text, "<UnstructuredGrid><Piece NumberOfPoints=\"8\" NumberOfCells=\"2\"><PointData>");
  add_array(e, "Float64", "Name=\"f\"", 8, field);
  add(&e->text, "</PointData><Points>");
  add_array(e, "Float64", "NumberOfComponents=\"3\"", 24, points);
  add(&e->text, "</Points><Cells>");
  add_array(e, "Int32", "Name=\"connectivity\"", 8, ids);
  add_array(e, "Int32", "Name=\"offsets\"", 2, ends);
  add_array(e, "UInt8", "Name=\"types\"", 2, types);
  add(&e->text, "</Cells></Piece></UnstructuredGrid>");
  if (e->appended.size) {
    add(&e->text, "<AppendedData encoding=\"%s\">\n_", e->encoding == APPENDED_RAW ? "raw" : "base64");
    add_bytes(&e->text, e->appended.text, e->appended.size);
    add(&e->text, "</AppendedData>");
  }
  add(&e->text, "</VTKFile>\n");
}

TEST(every_encoding_gives_the_same_picture) {
  Image first = {0};

  for (int k = 0; k < 4 * NUM_ENCODINGS; k++) {
    Encoder *e = calloc(1, sizeof(*e));
    Image image;

    e->encoding = k / 4, e->is_swapped = k % 2, e->is_wide = k / 2 % 2;
    encode_sheets(e);
    const char *path = tap_temp_file("encoded.vtu", e->text.text, e->text.size);
    free(e);
    const int code = draw_with((PictureOptions){.file = path, .size = "400x250", .view = "20,40"}, &image);
    CHECK(!code || (k / 4 == INLINE_PACKED && !PICTURE_HAS_ZLIB), "encoding %d, variant %d", k / 4, k % 4);
    if (!k) first = image;
    const bool is_same = code || !memcmp(first.pixels, image.pixels, 400 * 250 * 3);
    if (k) free(image.pixels);
    CHECK(is_same, "encoding %d, variant %d differs", k / 4, k % 4);
  }
  free(first.pixels);
}

// ---- Broken files ----

TEST(a_file_that_ends_anywhere_is_refused) {
  for (int encoding = 0; encoding < NUM_ENCODINGS; encoding++) {
    Encoder *e = calloc(1, sizeof(*e));

    e->encoding = encoding;
    encode_sheets(e);
    const size_t end = (size_t)(strstr(e->text.text, encoding == APPENDED_RAW || encoding == APPENDED_BASE64
                                                         ? "<AppendedData"
                                                         : "</VTKFile>") -
                                e->text.text);
    for (size_t size = 0; size < end; size += 31) {
      Image image;
      const char *path = tap_temp_file("short.vtu", e->text.text, size);
      const int code = draw_with((PictureOptions){.file = path, .size = "200x150"}, &image);

      free(image.pixels);
      CHECK(code == CLI_FAILED, "encoding %d, %zu bytes: code %d", encoding, size, code);
    }
    free(e);
  }
}

// Each byte of a file in turn becomes another: a picture or a message, and nothing worse.
TEST(a_file_with_a_wrong_byte_is_drawn_or_refused) {
  for (int encoding = 0; encoding < NUM_ENCODINGS; encoding++) {
    Encoder *e = calloc(1, sizeof(*e));
    int num_refused = 0;

    e->encoding = encoding;
    encode_sheets(e);
    for (size_t at = 0; at<e->text.size; at += tap_level()> 0 ? 1 : 5) {
      const char old = e->text.text[at];
      Image image;

      e->text.text[at] = "9<\"- "[at / 29 % 5];
      const char *path = tap_temp_file("wrong.vtu", e->text.text, e->text.size);
      num_refused += draw_with((PictureOptions){.file = path, .size = "200x150"}, &image) != 0;
      free(image.pixels);
      e->text.text[at] = old;
    }
    free(e);
    CHECK(num_refused > 0, "encoding %d", encoding);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(packed_and_stored_files_hold_the_same_pixels,
                        every_shape_of_every_degree_shows_its_polynomial,
                        a_symmetric_field_gives_a_symmetric_picture, the_nearer_surface_is_seen,
                        the_silhouette_of_a_cube_has_the_area_of_its_projection,
                        values_that_are_no_numbers_are_grey, the_signed_map_has_zero_in_its_middle,
                        the_same_file_gives_the_same_bytes, every_encoding_gives_the_same_picture,
                        a_file_that_ends_anywhere_is_refused, a_file_with_a_wrong_byte_is_drawn_or_refused));
}
