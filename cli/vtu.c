// SPDX-License-Identifier: BSD-2-Clause
// Grids of VTK's XML format (contract in cli/vtu.h): finds the arrays of a file, reads those that a picture
// needs, checks that they fit together, and joins pieces. Called by cli/picture.c.
#include "cli/vtu.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/args.h"
#include "cli/cli.h"

typedef enum { ELSEWHERE, POINT_DATA, CELL_DATA, POINTS, CELLS, NUM_SECTIONS } Section;
static const char *const section_names[NUM_SECTIONS] = {"", "PointData", "CellData", "Points", "Cells"};

int vtu_fail(const VtuFile *file, const char *format, ...) {
  char text[512], shown[ARG_SHOWN];
  va_list args;

  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  for (char *c = text; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  fprintf(cli_stderr(), "%s: %s: %s\n", file->command, args_shown(file->path, shown), text);
  return CLI_FAILED;
}

// Refuses arrays that the file cannot hold: zlib makes at most 1032 bytes of one, and a byte may become a
// number of 8 bytes.
static int check_size(const VtuFile *file, int64_t n, size_t size) {
  const double num_bytes = (double)n * (double)size;

  if (!file->bytes || num_bytes <= 8 * (1032.0 * (double)file->size + 1024)) return CLI_OK;
  return vtu_fail(file, "speaks of %.3g bytes, which it cannot hold", num_bytes);
}

void *vtu_allocate(const VtuFile *file, int64_t n, size_t size) {
  if (check_size(file, n, size)) return NULL;
  void *memory = calloc((size_t)n + 1, size);

  if (!memory) vtu_fail(file, "there is no memory for %.3g bytes", (double)n * (double)size);
  return memory;
}

// ---- File ----

static int open_file(VtuFile *file) {
  FILE *stream = fopen(file->path, "rb");
  struct stat status;

  if (!stream) return vtu_fail(file, "%s", strerror(errno));
  int code = CLI_OK;
  if (fstat(fileno(stream), &status) || !S_ISREG(status.st_mode))
    code = vtu_fail(file, "is not a regular file");
  file->size = code ? 0 : (size_t)status.st_size;
  file->bytes = code ? NULL : malloc(file->size + 1);
  if (!code && !file->bytes) code = vtu_fail(file, "there is no memory for it");
  if (!code && fread(file->bytes, 1, file->size, stream) != file->size)
    code = vtu_fail(file, "cannot be read");
  if (file->bytes) file->bytes[file->size] = 0;
  fclose(stream);
  return code;
}

// Reads the tag of the whole file: types of numbers, order of bytes, compression.
static int read_kind(VtuFile *file, const VtuTag *tag, bool *is_list) {
  const uint16_t one = 1;
  const bool is_little = *(const unsigned char *)&one == 1;
  char value[VTU_NAME];

  vtu_attribute(tag, "type", value);
  *is_list = !strcmp(value, "PUnstructuredGrid");
  if (!*is_list && strcmp(value, "UnstructuredGrid") != 0)
    return vtu_fail(file, "expected a grid of type UnstructuredGrid or PUnstructuredGrid, found '%s'", value);
  vtu_attribute(tag, "byte_order", value);
  file->is_swapped = is_little ? !strcmp(value, "BigEndian") : !strcmp(value, "LittleEndian");
  vtu_attribute(tag, "header_type", value);
  file->has_wide_heads = !strcmp(value, "UInt64");
  file->is_compressed = vtu_attribute(tag, "compressor", value) && value[0];
  if (file->is_compressed && strcmp(value, "vtkZLibDataCompressor") != 0)
    return vtu_fail(file, "it is compressed by '%s'; zlib's compression and none are read", value);
  return CLI_OK;
}

static int find_appended(VtuFile *file, const VtuTag *tag) {
  const char *end = (const char *)file->bytes + file->size;
  const char *mark = memchr(tag->end, '_', (size_t)(end - tag->end));
  char encoding[VTU_NAME];

  vtu_attribute(tag, "encoding", encoding);
  file->appended_is_base64 = !strcmp(encoding, "base64");
  if (!file->appended_is_base64 && strcmp(encoding, "raw") != 0)
    return vtu_fail(file, "appended data are encoded as '%s'; raw and base64 are read", encoding);
  if (!mark) return vtu_fail(file, "its appended data do not begin with _");
  file->appended = mark + 1;
  return CLI_OK;
}

// ---- Grid ----

// The tags of a piece that are looked for; name NULL: not there.
typedef struct {
  int64_t num_points, num_cells;
  VtuTag points, connectivity, offsets, types, field, elements;
  bool is_of_cells;
  char names[VTU_NAME]; // of all fields, for messages
} Piece;

static bool is_called(const VtuTag *tag, const char *name) {
  char value[VTU_NAME];

  vtu_attribute(tag, "Name", value);
  return !strncmp(value, name, VTU_NAME - 1);
}

static void look_at_field(Piece *piece, const VtuTag *tag, bool is_of_cells, const char *field) {
  char name[VTU_NAME];
  const size_t length = strlen(piece->names);

  vtu_attribute(tag, "Name", name);
  snprintf(piece->names + length, sizeof(piece->names) - length, "%s%s", length ? ", " : "", name);
  if (piece->field.name || (field ? strncmp(field, name, VTU_NAME - 1) != 0 : is_of_cells)) return;
  piece->field = *tag;
  piece->is_of_cells = is_of_cells;
}

static void look_at_array(Piece *piece, Section section, const VtuTag *tag, const char *field) {
  if (section == POINT_DATA || section == CELL_DATA) look_at_field(piece, tag, section == CELL_DATA, field);
  if (section == POINTS) piece->points = *tag;
  if (section == CELL_DATA && is_called(tag, "element")) piece->elements = *tag;
  if (section != CELLS) return;
  if (is_called(tag, "connectivity")) piece->connectivity = *tag;
  if (is_called(tag, "offsets")) piece->offsets = *tag;
  if (is_called(tag, "types")) piece->types = *tag;
}

// More numbers at the end of an array.
static int grow(const VtuFile *file, int64_t num, int64_t more, size_t size, void *array) {
  void *memory;

  CLI_TRY(check_size(file, more, size));
  memcpy(&memory, array, sizeof(memory));
  memory = realloc(memory, (size_t)(num + more + 1) * size);
  if (!memory) return vtu_fail(file, "there is no memory for it");
  memcpy(array, &memory, sizeof(memory));
  return CLI_OK;
}

static int read_points(const VtuFile *file, const Piece *piece, VtuGrid *grid) {
  char type[VTU_NAME];

  if (!piece->points.name) return vtu_fail(file, "it has no points");
  CLI_TRY(grow(file, grid->num_points, piece->num_points, 3 * sizeof(double), &grid->points));
  double *points = grid->points + 3 * grid->num_points;
  CLI_TRY(vtu_read_array(file, &piece->points, 3 * piece->num_points, points));
  for (int64_t i = 0; i < 3 * piece->num_points; i++) {
    if (!isfinite(points[i])) return vtu_fail(file, "point %lld lies nowhere", (long long)(i / 3));
  }
  vtu_attribute(&piece->points, "type", type);
  grid->tolerance = fmax(grid->tolerance, strcmp(type, "Float32") ? 1e-10 : 1e-6);
  return CLI_OK;
}

// Numbers that are whole and lie in a range.
static int read_integers(const VtuFile *file, const VtuTag *tag, int64_t num, double low, double high,
                         int64_t added, int64_t *out) {
  double *values = tag->name ? vtu_allocate(file, num, sizeof(*values)) : NULL;

  if (!values) return tag->name ? CLI_FAILED : vtu_fail(file, "an array of its cells is missing");
  int code = vtu_read_array(file, tag, num, values);
  for (int64_t i = 0; i < num && !code; i++) {
    if (values[i] >= low && values[i] <= high && values[i] == floor(values[i]))
      out[i] = (int64_t)values[i] + added;
    else
      code =
          vtu_fail(file, "cell data: expected a whole number from %g to %g, found %g", low, high, values[i]);
  }
  free(values);
  return code;
}

static int read_types(const VtuFile *file, const Piece *piece, uint8_t *types) {
  int64_t *codes = vtu_allocate(file, piece->num_cells, sizeof(*codes));
  int code = codes ? read_integers(file, &piece->types, piece->num_cells, 0, 255, 0, codes) : CLI_FAILED;

  for (int64_t i = 0; i < piece->num_cells && !code; i++) types[i] = (uint8_t)codes[i];
  free(codes);
  return code;
}

// Cells of a piece, which Ritz numbers from 0 in each: elements of other pieces get other numbers.
static int read_elements(const VtuFile *file, const Piece *piece, VtuGrid *grid) {
  const int64_t num = piece->num_cells, first = grid->num_cells;

  CLI_TRY(grow(file, first, num, sizeof(*grid->elements), &grid->elements));
  for (int64_t i = 0; i < num; i++) grid->elements[first + i] = first + i;
  double *values = piece->elements.name ? vtu_allocate(file, num, sizeof(*values)) : NULL;
  if (!values) return piece->elements.name ? CLI_FAILED : CLI_OK;
  const int code = vtu_read_array(file, &piece->elements, num, values);
  for (int64_t i = 0; i < num && !code; i++) {
    if (values[i] >= 0 && values[i] < (double)num) grid->elements[first + i] = first + (int64_t)values[i];
  }
  free(values);
  return code;
}

static int read_cells(const VtuFile *file, const Piece *piece, VtuGrid *grid) {
  const int64_t num = piece->num_cells;

  CLI_TRY(grow(file, grid->num_cells, num, sizeof(*grid->ends), &grid->ends));
  CLI_TRY(grow(file, grid->num_cells, num, sizeof(*grid->types), &grid->types));
  int64_t *ends = grid->ends + grid->num_cells, last = grid->num_ids;
  CLI_TRY(read_integers(file, &piece->offsets, num, 0, 1e15, grid->num_ids, ends));
  for (int64_t i = 0; i < num; last = ends[i++]) {
    if (ends[i] < last) return vtu_fail(file, "offsets of cells do not ascend");
  }
  const int64_t num_ids = last - grid->num_ids;
  CLI_TRY(grow(file, grid->num_ids, num_ids, sizeof(*grid->ids), &grid->ids));
  CLI_TRY(read_integers(file, &piece->connectivity, num_ids, 0, (double)piece->num_points - 1,
                        grid->num_points, grid->ids + grid->num_ids));
  CLI_TRY(read_types(file, piece, grid->types + grid->num_cells));
  CLI_TRY(read_elements(file, piece, grid));
  grid->num_ids = last;
  return CLI_OK;
}

// The first piece decides on the field and its components.
static int read_field(const VtuFile *file, const Piece *piece, const char *field, VtuGrid *grid) {
  const int64_t num = piece->is_of_cells ? piece->num_cells : piece->num_points;
  const int64_t num_old = piece->is_of_cells ? grid->num_cells : grid->num_points;
  char name[VTU_NAME];
  const bool is_first = grid->num_cells == 0;

  if (!piece->field.name && (field || grid->num_comp))
    return vtu_fail(file, "there is no field '%s' (there are: %s)", field ? field : grid->name,
                    piece->names[0] ? piece->names : "none");
  if (!piece->field.name) return CLI_OK;
  const bool is_scalar = !vtu_attribute(&piece->field, "NumberOfComponents", name);
  const int64_t num_comp = is_scalar ? 1 : vtu_count(&piece->field, "NumberOfComponents");
  if (num_comp < 1 || num_comp > VTU_COMPONENTS)
    return vtu_fail(file, "a field has from 1 to %d components, found '%s'", VTU_COMPONENTS, name);
  if (!is_first && (num_comp != grid->num_comp || piece->is_of_cells != grid->is_of_cells))
    return vtu_fail(file, "the field '%s' is not the same in all pieces", grid->name);
  grid->num_comp = (int)num_comp;
  grid->is_of_cells = piece->is_of_cells;
  vtu_attribute(&piece->field, "Name", grid->name);
  CLI_TRY(grow(file, num_old, num, (size_t)num_comp * sizeof(double), &grid->values));
  return vtu_read_array(file, &piece->field, num * num_comp, grid->values + num_old * num_comp);
}

// The cells last: their number tells whether a piece is the first one.
static int read_piece(const VtuFile *file, const Piece *piece, const char *field, VtuGrid *grid) {
  if (piece->num_points < 0 || piece->num_cells < 0)
    return vtu_fail(file, "a piece without numbers of points and cells");
  if (!piece->num_cells) return CLI_OK;
  CLI_TRY(read_field(file, piece, grid->num_comp ? grid->name : field, grid));
  CLI_TRY(read_points(file, piece, grid));
  CLI_TRY(read_cells(file, piece, grid));
  grid->num_points += piece->num_points;
  grid->num_cells += piece->num_cells;
  return CLI_OK;
}

// Every piece of the text from `text` to `end`.
static int read_pieces(const VtuFile *file, const char *text, const char *end, const char *field,
                       VtuGrid *grid) {
  Section section = ELSEWHERE;
  Piece piece = {0};
  VtuTag tag;

  while (vtu_next_tag(&text, end, &tag)) {
    if (vtu_is_tag(&tag, "Piece") && !tag.is_end)
      piece = (Piece){.num_points = vtu_count(&tag, "NumberOfPoints"),
                      .num_cells = vtu_count(&tag, "NumberOfCells")};
    if (vtu_is_tag(&tag, "Piece") && (tag.is_end || tag.is_empty))
      CLI_TRY(read_piece(file, &piece, field, grid));
    if (vtu_is_tag(&tag, "DataArray") && !tag.is_end) look_at_array(&piece, section, &tag, field);
    for (int i = 1; i < NUM_SECTIONS; i++) {
      if (vtu_is_tag(&tag, section_names[i])) section = tag.is_end || tag.is_empty ? ELSEWHERE : (Section)i;
    }
  }
  return CLI_OK;
}

static int read_file(VtuFile *file, bool may_be_list, const char *field, VtuGrid *grid);

// A piece of a list, whose path counts from the list's folder.
static int read_source(const VtuFile *list, const char *source, const char *field, VtuGrid *grid) {
  const char *slash = source[0] == '/' ? NULL : strrchr(list->path, '/');
  const size_t folder = slash ? (size_t)(slash - list->path) + 1 : 0, size = folder + strlen(source) + 1;
  char *path = malloc(size);

  if (!path) return vtu_fail(list, "there is no memory for a path");
  memcpy(path, list->path, folder);
  strcpy(path + folder, source);
  VtuFile file = {.command = list->command, .path = path};
  const int code = read_file(&file, false, field, grid);
  free(file.bytes);
  free(path);
  return code;
}

static int read_list(const VtuFile *file, const char *text, const char *end, const char *field,
                     VtuGrid *grid) {
  char source[VTU_NAME];
  VtuTag tag;

  while (vtu_next_tag(&text, end, &tag)) {
    if (!vtu_is_tag(&tag, "Piece") || tag.is_end) continue;
    if (!vtu_attribute(&tag, "Source", source) || !source[0] || strlen(source) == VTU_NAME - 1)
      return vtu_fail(file, "a piece without a file, or with a name of more than %d bytes", VTU_NAME - 2);
    CLI_TRY(read_source(file, source, grid->num_comp ? grid->name : field, grid));
  }
  return CLI_OK;
}

static int read_file(VtuFile *file, bool may_be_list, const char *field, VtuGrid *grid) {
  CLI_TRY(open_file(file));
  const char *start = (const char *)file->bytes, *end = start + file->size, *text = start, *stop = end;
  bool is_list = false;
  VtuTag tag;

  if (!vtu_next_tag(&text, end, &tag) || !vtu_is_tag(&tag, "VTKFile"))
    return vtu_fail(file, "expected a file of VTK's XML format (.vtu, .pvtu)");
  CLI_TRY(read_kind(file, &tag, &is_list));
  start = text;
  while (vtu_next_tag(&text, end, &tag) && !vtu_is_tag(&tag, "AppendedData")) stop = text;
  if (vtu_is_tag(&tag, "AppendedData"))
    CLI_TRY(find_appended(file, &tag));
  else if (!vtu_is_tag(&tag, "VTKFile"))
    return vtu_fail(file, "it ends early");
  if (is_list && !may_be_list) return vtu_fail(file, "a list of pieces within a list of pieces");
  return (is_list ? read_list : read_pieces)(file, start, stop, field, grid);
}

int vtu_read(const char *command, const char *path, const char *field, VtuGrid *grid) {
  VtuFile file = {.command = command, .path = path};

  *grid = (VtuGrid){0};
  int code = read_file(&file, true, field, grid);
  if (!code && !grid->num_cells) code = vtu_fail(&file, "it has no cells");
  free(file.bytes);
  if (code) vtu_destroy(grid);
  return code;
}

void vtu_destroy(VtuGrid *grid) {
  free(grid->points);
  free(grid->ids);
  free(grid->ends);
  free(grid->types);
  free(grid->elements);
  free(grid->values);
  *grid = (VtuGrid){0};
}
