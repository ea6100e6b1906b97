// SPDX-License-Identifier: BSD-2-Clause
// RitzWriteVTU (contract in ritz/output.h): what stands in the file, in which order, and the interpolation to
// VTK's nodes. Called by users and the command line; leaves bytes, compression and renaming to vtu-file.c.
//
// Layout of the file: the XML text, whose offsets are filled in at the end of each array, then the arrays in
// the order of the text: fields, region, element, points, connectivity, offsets, types. Points are stored
// lexicographically, cell after cell; VTK's order of nodes stands in the connectivity alone. One cell at a
// time is in memory.
#include <ritz/output.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/mesh.h"
#include "mesh/vtu-file.h"

enum { num_other_arrays = 6, slot_width = 32 };

typedef struct {
  RitzMesh mesh; // borrowed
  Ceed ceed;     // borrowed from the mesh
  CeedInt dim, space_dim, degree;
  int64_t num_elem, cell_size; // points per cell
  CeedInt num_fields;
  const RitzOutputField *fields; // borrowed
  RitzVtuFile file;
  int64_t *slots;     // owned, [num_fields + num_other_arrays]: places of the offsets in the text
  CeedInt num_slots;  // made so far
  CeedInt num_arrays; // written so far
  int64_t data_place; // what offsets count from
} Writer;

// ---- Arguments ----

// Length of the UTF-8 sequence at s, 0 if it is none that XML accepts (control characters, overlong forms,
// surrogates). The Unicode Standard, table 3-7.
static int utf8_length(const unsigned char *s) {
  int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

  if (length == 1) return s[0] >= 0x20 && s[0] != 0x7f;
  for (int i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  bool is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
  bool is_beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
  return is_overlong || is_beyond ? 0 : length;
}

static bool is_text(const char *name) {
  const unsigned char *s = (const unsigned char *)name;

  for (int length; *s; s += length) {
    length = utf8_length(s);
    if (!length) return false;
  }
  return true;
}

static int check_name(const Writer *w, CeedInt f) {
  const char *name = w->fields[f].name;

  RITZ_REQUIRE(name && *name, w->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzWriteVTU: field %" CeedInt_FMT " has no name", f);
  RITZ_REQUIRE(is_text(name), w->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzWriteVTU: the name of field %" CeedInt_FMT " must be UTF-8 without control characters",
               f);
  for (CeedInt g = 0; g < f; g++) {
    RITZ_REQUIRE(strcmp(w->fields[g].name, name), w->ceed, CEED_ERROR_INCOMPATIBLE,
                 "RitzWriteVTU: fields %" CeedInt_FMT " and %" CeedInt_FMT " are both called '%s'", g, f,
                 name);
  }
  return CEED_ERROR_SUCCESS;
}

// The values are asked for once before the file exists, so that a vector without values leaves no trace.
static int check_values(const Writer *w, const RitzOutputField *field) {
  CeedSize length, size;
  const CeedScalar *values;

  RITZ_REQUIRE(field->values, w->ceed, CEED_ERROR_INCOMPATIBLE, "RitzWriteVTU: field '%s' has no values",
               field->name);
  RITZ_TRY(CeedVectorGetLength(field->values, &length));
  RITZ_TRY(RitzSpaceGetSize(field->space, &size));
  RITZ_REQUIRE(length >= size, w->ceed, CEED_ERROR_DIMENSION,
               "RitzWriteVTU: field '%s' has %td values, its space needs %td", field->name, (ptrdiff_t)length,
               (ptrdiff_t)size);
  RITZ_TRY(CeedVectorGetArrayRead(field->values, CEED_MEM_HOST, &values));
  return CeedVectorRestoreArrayRead(field->values, &values);
}

// Also raises the degree of the cells to that of the field.
static int check_field(Writer *w, CeedInt f) {
  const RitzOutputField *field = &w->fields[f];
  RitzMesh mesh;
  CeedInt degree;

  RITZ_TRY(check_name(w, f));
  RITZ_REQUIRE(field->space, w->ceed, CEED_ERROR_INCOMPATIBLE, "RitzWriteVTU: field '%s' has no space",
               field->name);
  RITZ_TRY(RitzSpaceGetMesh(field->space, &mesh));
  RITZ_REQUIRE(mesh == w->mesh, w->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzWriteVTU: field '%s' lives on another mesh than the one to write", field->name);
  RITZ_TRY(check_values(w, field));
  RITZ_TRY(RitzSpaceGetDegree(field->space, &degree));
  if (degree > w->degree) w->degree = degree;
  return CEED_ERROR_SUCCESS;
}

static int64_t power(int64_t base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

static int prepare(Writer *w) {
  RITZ_TRY(RitzMeshGetDimensions(w->mesh, &w->dim, &w->space_dim));
  RITZ_TRY(RitzMeshGetNumElements(w->mesh, &w->num_elem));
  RITZ_TRY(RitzMeshGetGeometryOrder(w->mesh, &w->degree));
  RITZ_REQUIRE(w->num_fields >= 0, w->ceed, CEED_ERROR_DIMENSION,
               "RitzWriteVTU: number of fields must be >= 0, found %" CeedInt_FMT, w->num_fields);
  RITZ_REQUIRE(w->fields || !w->num_fields, w->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzWriteVTU: argument 'fields' is NULL");
  for (CeedInt f = 0; f < w->num_fields; f++) RITZ_TRY(check_field(w, f));
  w->cell_size = power(w->degree + 1, w->dim);
  return RITZ_MALLOC(w->ceed, (size_t)w->num_fields + num_other_arrays, &w->slots);
}

// ---- Text ----

static int print_escaped(RitzVtuFile *file, const char *text) {
  for (const char *end; *text; text = end) {
    size_t plain = strcspn(text, "&<>\"");

    RITZ_TRY(ritz_vtu_file_write(file, text, plain));
    end = text + plain;
    if (!*end) break;
    RITZ_TRY(ritz_vtu_file_print(file, "&#%d;", *end++));
  }
  return CEED_ERROR_SUCCESS;
}

// The offset is known later: blanks keep its place.
static int print_array(Writer *w, const char *type, const char *name, CeedInt num_comp) {
  RITZ_TRY(ritz_vtu_file_print(&w->file, "        <DataArray type=\"%s\" Name=\"", type));
  RITZ_TRY(print_escaped(&w->file, name));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "\" NumberOfComponents=\"%" CeedInt_FMT "\" format=\"appended\" ",
                               num_comp));
  w->slots[w->num_slots++] = w->file.size;
  return ritz_vtu_file_print(&w->file, "%*s/>\n", slot_width, "");
}

// Vectors in the plane get a third component, 0: the filters for vectors take no others.
static int num_written_components(const Writer *w, CeedInt f, CeedInt *num_comp) {
  RITZ_TRY(RitzSpaceGetNumComponents(w->fields[f].space, num_comp));
  if (*num_comp == 2 && w->space_dim == 2) *num_comp = 3;
  return CEED_ERROR_SUCCESS;
}

static int print_point_data(Writer *w) {
  RITZ_TRY(ritz_vtu_file_print(&w->file, "      <PointData>\n"));
  for (CeedInt f = 0; f < w->num_fields; f++) {
    CeedInt num_comp;

    RITZ_TRY(num_written_components(w, f, &num_comp));
    RITZ_TRY(print_array(w, "Float64", w->fields[f].name, num_comp));
  }
  return ritz_vtu_file_print(&w->file, "      </PointData>\n");
}

static int print_cells(Writer *w) {
  RITZ_TRY(ritz_vtu_file_print(&w->file, "      <CellData>\n"));
  RITZ_TRY(print_array(w, "Int32", "region", 1));
  RITZ_TRY(print_array(w, "Int64", "element", 1));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "      </CellData>\n      <Points>\n"));
  RITZ_TRY(print_array(w, "Float64", "Points", 3));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "      </Points>\n      <Cells>\n"));
  RITZ_TRY(print_array(w, "Int64", "connectivity", 1));
  RITZ_TRY(print_array(w, "Int64", "offsets", 1));
  RITZ_TRY(print_array(w, "UInt8", "types", 1));
  return ritz_vtu_file_print(&w->file, "      </Cells>\n");
}

static int print_text(Writer *w) {
  const uint16_t one = 1;
  bool is_little = *(const unsigned char *)&one == 1;

  RITZ_TRY(ritz_vtu_file_print(&w->file,
                               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<VTKFile type=\"UnstructuredGrid\" version=\"2.2\" byte_order=\"%s\" "
                               "header_type=\"UInt64\"%s>\n  <UnstructuredGrid>\n",
                               is_little ? "LittleEndian" : "BigEndian", ritz_vtu_compressor));
  RITZ_TRY(ritz_vtu_file_print(&w->file,
                               "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                               w->num_elem * w->cell_size, w->num_elem));
  RITZ_TRY(print_point_data(w));
  RITZ_TRY(print_cells(w));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "    </Piece>\n  </UnstructuredGrid>\n"
                                         "  <AppendedData encoding=\"raw\">\n_"));
  w->data_place = w->file.size;
  return CEED_ERROR_SUCCESS;
}

// ---- Arrays ----

// The next array of the text starts here; it takes `cell_bytes` per cell.
static int begin_array(Writer *w, int64_t cell_bytes) {
  char text[slot_width + 1];
  int length = snprintf(text, sizeof(text), "offset=\"%" PRId64 "\"", w->file.size - w->data_place);

  RITZ_TRY(ritz_vtu_file_overwrite(&w->file, w->slots[w->num_arrays++], text, (size_t)length));
  return ritz_vtu_array_begin(&w->file, w->num_elem * cell_bytes);
}

// Nodal values of an element, from the Gauss-Lobatto nodes of their degree to the points of a cell.
typedef struct {
  CeedInt degree, num_comp, num_written; // the file has zeros for components from num_comp on
  int64_t num_nodes;                     // of an element
  const double *coords;                  // borrowed, [num_elem][num_nodes][num_comp], or NULL:
  const CeedScalar *values;              // borrowed, L-vector
  const int64_t *nodes;                  // borrowed, [num_elem][num_nodes]
  double *matrix;                        // owned, [degree+1][source degree+1]; NULL: the points are the nodes
  double *in, *out, *work;               // owned, [num_comp][num_nodes], [num_comp][cell_size]
  double *points;                        // owned, [cell_size][num_written]
} Source;

// Gauss-Lobatto nodes of degree 1 and 2 are equispaced. Without the matrix a value that is not a number
// stays at its own point.
static int make_matrix(const Writer *w, Source *source) {
  int ierr = CEED_ERROR_SUCCESS;
  CeedInt P = source->degree + 1, Q = w->degree + 1;
  double *nodes = NULL, *points = NULL;

  if (P == Q && P <= 3) return CEED_ERROR_SUCCESS;
  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)P, &nodes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)Q, &points));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)P * (size_t)Q, &source->matrix));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  for (CeedInt i = 0; i < Q; i++) points[i] = (2.0 * i - w->degree) / w->degree;
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(w->ceed, P, nodes, Q, points, source->matrix, NULL));
cleanup:
  RITZ_FREE(&nodes);
  RITZ_FREE(&points);
  return ierr;
}

static int prepare_source(const Writer *w, Source *source) {
  size_t num_comp = (size_t)source->num_comp, cell_size = (size_t)w->cell_size;

  source->num_nodes = power(source->degree + 1, w->dim);
  RITZ_TRY(make_matrix(w, source));
  RITZ_TRY(RITZ_MALLOC(w->ceed, num_comp * (size_t)source->num_nodes, &source->in));
  RITZ_TRY(RITZ_MALLOC(w->ceed, num_comp * cell_size, &source->out));
  RITZ_TRY(RITZ_MALLOC(w->ceed, 2 * num_comp * cell_size, &source->work));
  return RITZ_CALLOC(w->ceed, (size_t)source->num_written * cell_size, &source->points);
}

static void load_element(const Source *source, int64_t e) {
  int64_t n = source->num_nodes;
  CeedInt num_comp = source->num_comp;

  for (int64_t i = 0; i < n; i++) {
    int64_t k = e * n + i;

    for (CeedInt c = 0; c < num_comp; c++) {
      source->in[c * n + i] = source->coords ? source->coords[k * num_comp + c]
                                             : (double)source->values[source->nodes[k] * num_comp + c];
    }
  }
}

// Fills source->points with element e.
static void interpolate_element(const Writer *w, Source *source, int64_t e) {
  const double *const matrices[] = {source->matrix, source->matrix, source->matrix};
  const double *values = source->in;

  load_element(source, e);
  if (source->matrix) {
    ritz_fe_tensor_apply(w->dim, source->num_comp, w->degree + 1, source->degree + 1, matrices, source->in,
                         source->out, source->work);
    values = source->out;
  }
  for (int64_t i = 0; i < w->cell_size; i++) {
    for (CeedInt c = 0; c < source->num_comp; c++) {
      source->points[i * source->num_written + c] = values[c * w->cell_size + i];
    }
  }
}

static int write_source(Writer *w, Source *source) {
  int ierr = CEED_ERROR_SUCCESS;
  size_t cell_bytes = (size_t)w->cell_size * (size_t)source->num_written * sizeof(double);

  RITZ_TRY_CLEANUP(prepare_source(w, source));
  RITZ_TRY_CLEANUP(begin_array(w, (int64_t)cell_bytes));
  for (int64_t e = 0; e < w->num_elem; e++) {
    interpolate_element(w, source, e);
    RITZ_TRY_CLEANUP(ritz_vtu_array_append(&w->file, source->points, cell_bytes));
  }
  RITZ_TRY_CLEANUP(ritz_vtu_array_end(&w->file));
cleanup:
  RITZ_FREE(&source->matrix);
  RITZ_FREE(&source->in);
  RITZ_FREE(&source->out);
  RITZ_FREE(&source->work);
  RITZ_FREE(&source->points);
  return ierr;
}

static int write_field(Writer *w, CeedInt f) {
  const RitzOutputField *field = &w->fields[f];
  Source source = {0};

  RITZ_TRY(RitzSpaceGetDegree(field->space, &source.degree));
  RITZ_TRY(RitzSpaceGetNumComponents(field->space, &source.num_comp));
  RITZ_TRY(num_written_components(w, f, &source.num_written));
  RITZ_TRY(RitzSpaceGetElementNodes(field->space, &source.nodes));
  RITZ_TRY(CeedVectorGetArrayRead(field->values, CEED_MEM_HOST, &source.values));
  int ierr = write_source(w, &source);
  RITZ_TRY(CeedVectorRestoreArrayRead(field->values, &source.values));
  return ierr;
}

static int write_points(Writer *w) {
  Source source = {.num_comp = w->space_dim, .num_written = 3};

  RITZ_TRY(RitzMeshGetGeometryOrder(w->mesh, &source.degree));
  RITZ_TRY(RitzMeshGetElementCoordinates(w->mesh, &source.coords));
  return write_source(w, &source);
}

static int write_regions(Writer *w) {
  const int32_t *regions;

  RITZ_TRY(RitzMeshGetElementRegions(w->mesh, &regions));
  RITZ_TRY(begin_array(w, sizeof(*regions)));
  RITZ_TRY(ritz_vtu_array_append(&w->file, regions, (size_t)w->num_elem * sizeof(*regions)));
  return ritz_vtu_array_end(&w->file);
}

// One number per cell: first, first + step, ...
static int write_sequence(Writer *w, int64_t first, int64_t step) {
  RITZ_TRY(begin_array(w, sizeof(int64_t)));
  for (int64_t e = 0; e < w->num_elem; e++) {
    int64_t value = first + e * step;

    RITZ_TRY(ritz_vtu_array_append(&w->file, &value, sizeof(value)));
  }
  return ritz_vtu_array_end(&w->file);
}

static int write_types(Writer *w) {
  static const uint8_t lagrange_types[] = {0, 68, 70, 72}; // curve, quadrilateral, hexahedron

  RITZ_TRY(begin_array(w, sizeof(uint8_t)));
  for (int64_t e = 0; e < w->num_elem; e++) {
    RITZ_TRY(ritz_vtu_array_append(&w->file, &lagrange_types[w->dim], sizeof(uint8_t)));
  }
  return ritz_vtu_array_end(&w->file);
}

// ---- Order of the nodes in a VTK Lagrange cell of degree p: corners, edges, faces, interior ----
// Inner nodes of all edges run in the direction of increasing i, j, k; a = p - 1 is their number.

static bool is_inner(int64_t p, int64_t i) { return i > 0 && i < p; }

static int64_t curve_place(int64_t p, int64_t i) { return is_inner(p, i) ? i + 1 : i / p; }

// Corners go round: 00, 10, 11, 01; edges: j = 0, i = p, j = p, i = 0.
static int64_t quad_place(int64_t p, int64_t i, int64_t j) {
  int64_t a = p - 1;

  if (is_inner(p, i) && is_inner(p, j)) return 4 + 4 * a + (i - 1) + a * (j - 1);
  if (is_inner(p, i)) return 4 + (i - 1) + (j > 0 ? 2 * a : 0);
  if (is_inner(p, j)) return 4 + (j - 1) + (i > 0 ? a : 3 * a);
  return j > 0 ? (i > 0 ? 2 : 3) : (i > 0 ? 1 : 0);
}

// Corners and edges of the bottom, of the top, vertical edges round from corner 0, faces i = 0, i = p, j = 0,
// j = p, k = 0, k = p, interior.
static int64_t hex_place(int64_t p, int64_t i, int64_t j, int64_t k) {
  bool inner_i = is_inner(p, i), inner_j = is_inner(p, j), inner_k = is_inner(p, k);
  int64_t a = p - 1, faces = 8 + 12 * a;

  if (inner_i && inner_j && inner_k) return faces + 6 * a * a + (i - 1) + a * ((j - 1) + a * (k - 1));
  if (inner_j && inner_k) return faces + (j - 1) + a * (k - 1) + (i > 0 ? a * a : 0);
  if (inner_i && inner_k) return faces + (i - 1) + a * (k - 1) + (j > 0 ? 3 : 2) * a * a;
  if (inner_i && inner_j) return faces + (i - 1) + a * (j - 1) + (k > 0 ? 5 : 4) * a * a;
  if (inner_k) return 8 + 8 * a + (k - 1) + a * quad_place(p, i, j);
  int64_t place = quad_place(p, i, j); // in the bottom or top
  if (inner_i || inner_j) return place + 4 + (k > 0 ? 4 * a : 0);
  return place + (k > 0 ? 4 : 0);
}

// order[VTK place] = lexicographic number.
static void fill_order(int dim, int64_t p, int64_t *order) {
  int64_t n = p + 1, num = power(n, dim);

  for (int64_t l = 0; l < num; l++) {
    int64_t i = l % n, j = l / n % n, k = l / n / n;
    int64_t place = dim == 1 ? curve_place(p, i) : dim == 2 ? quad_place(p, i, j) : hex_place(p, i, j, k);

    order[place] = l;
  }
}

static int write_connectivity(Writer *w) {
  int ierr = CEED_ERROR_SUCCESS;
  size_t n = (size_t)w->cell_size;
  int64_t *points = NULL; // of one cell

  RITZ_TRY(RITZ_MALLOC(w->ceed, n, &points));
  fill_order(w->dim, w->degree, points);
  RITZ_TRY_CLEANUP(begin_array(w, w->cell_size * (int64_t)sizeof(*points)));
  for (int64_t e = 0; e < w->num_elem; e++) {
    RITZ_TRY_CLEANUP(ritz_vtu_array_append(&w->file, points, n * sizeof(*points)));
    for (size_t i = 0; i < n; i++) points[i] += w->cell_size;
  }
  RITZ_TRY_CLEANUP(ritz_vtu_array_end(&w->file));
cleanup:
  RITZ_FREE(&points);
  return ierr;
}

// ---- All of it ----

static int write_file(Writer *w) {
  RITZ_TRY(print_text(w));
  for (CeedInt f = 0; f < w->num_fields; f++) RITZ_TRY(write_field(w, f));
  RITZ_TRY(write_regions(w));
  RITZ_TRY(write_sequence(w, 0, 1)); // element
  RITZ_TRY(write_points(w));
  RITZ_TRY(write_connectivity(w));
  RITZ_TRY(write_sequence(w, w->cell_size, w->cell_size)); // offsets: ends of cells
  RITZ_TRY(write_types(w));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "\n  </AppendedData>\n</VTKFile>\n"));
  return ritz_vtu_file_complete(&w->file);
}

int RitzWriteVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields, const char *path) {
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(mesh, NULL, CEED_ERROR_INCOMPATIBLE, "RitzWriteVTU: argument 'mesh' is NULL");
  Writer w = {.mesh = mesh, .ceed = RitzMeshReturnCeed(mesh), .num_fields = num_fields, .fields = fields};
  RITZ_REQUIRE(path && *path, w.ceed, CEED_ERROR_INCOMPATIBLE, "RitzWriteVTU: no path is given");
  RITZ_TRY(prepare(&w));
  RITZ_TRY_CLEANUP(ritz_vtu_file_open(w.ceed, path, &w.file));
  RITZ_TRY_CLEANUP(write_file(&w));
cleanup:
  ritz_vtu_file_discard(&w.file);
  RITZ_FREE(&w.slots);
  return ierr;
}
