// SPDX-License-Identifier: BSD-2-Clause
// RitzWriteVTU, RitzWritePVTU (contracts in ritz/output.h): what stands in the file, in which order, and the
// interpolation to VTK's nodes. Called by users and the command line; leaves the cells of an element and the
// order of their nodes to vtu-cells.c, bytes, compression and renaming to vtu-file.c.
//
// Layout of the file: the XML text, whose offsets are filled in at the end of each array, then the arrays in
// the order of the text: fields, region, element, of parts part, points, connectivity, offsets, types. Points
// are stored lexicographically, element after element; VTK's order of nodes stands in the connectivity alone.
// One element at a time is in memory.
#include <ritz/output.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fe/fe.h"
#include "mesh/lattice.h"
#include "mesh/vtu-cells.h"
#include "mesh/vtu-file.h"

enum { num_other_arrays = 7, slot_width = 32 };

// Elements of one shape.
typedef struct {
  CeedElemTopology topology;
  int64_t first, num_elem;
  RitzVtuCells cells; // owned
} Block;

typedef struct {
  const char *call; // for messages
  RitzMesh mesh;    // borrowed
  Ceed ceed;        // borrowed from the mesh
  CeedInt space_dim, degree, num_blocks;
  CeedInt num_parts, part;                // of the mesh
  bool is_list;                           // the text is that of a list of pieces: arrays without data
  Block *blocks;                          // owned
  int64_t num_points, num_cells, num_ids; // of all elements
  CeedInt num_fields;
  const RitzOutputField *fields; // borrowed
  RitzVtuFile file;
  int64_t *slots;     // owned, [num_fields + num_other_arrays]: places of the offsets in the text
  CeedInt num_slots;  // made so far
  CeedInt num_arrays; // written so far
  int64_t data_place; // what offsets count from
} Writer;

// ---- Arguments ----

static int check_name(const Writer *w, CeedInt f) {
  const char *name = w->fields[f].name;

  RITZ_REQUIRE(name && *name, w->ceed, CEED_ERROR_INCOMPATIBLE, "%s: field %" CeedInt_FMT " has no name",
               w->call, f);
  RITZ_REQUIRE(ritz_vtu_is_text(name), w->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the name of field %" CeedInt_FMT " must be UTF-8 without control characters", w->call, f);
  for (CeedInt g = 0; g < f; g++) {
    RITZ_REQUIRE(strcmp(w->fields[g].name, name), w->ceed, CEED_ERROR_INCOMPATIBLE,
                 "%s: fields %" CeedInt_FMT " and %" CeedInt_FMT " are both called '%s'", w->call, g, f,
                 name);
  }
  return CEED_ERROR_SUCCESS;
}

// The values are asked for once before the file exists, so that a vector without values leaves no trace.
static int check_values(const Writer *w, const RitzOutputField *field) {
  CeedSize length, size;
  const CeedScalar *values;

  RITZ_REQUIRE(ritz_is_live(field->values, &ritz_vector_class), w->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' has no values, found %s", w->call, field->name, ritz_found_at(field->values));
  RITZ_TRY(CeedVectorGetLength(field->values, &length));
  RITZ_TRY(RitzSpaceGetSize(field->space, &size));
  RITZ_REQUIRE(length >= size, w->ceed, CEED_ERROR_DIMENSION,
               "%s: field '%s' has %td values, its space needs %td", w->call, field->name, (ptrdiff_t)length,
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
  RITZ_REQUIRE(ritz_is_live(field->space, &ritz_space_class), w->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' has no space, found %s", w->call, field->name, ritz_found_at(field->space));
  RITZ_TRY(RitzSpaceGetMesh(field->space, &mesh));
  RITZ_REQUIRE(mesh == w->mesh, w->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: field '%s' lives on another mesh than the one to write", w->call, field->name);
  RITZ_REQUIRE(!field->function || field->num_values >= 1, w->ceed, CEED_ERROR_DIMENSION,
               "%s: the function of field '%s' must have at least 1 value, found %" CeedInt_FMT, w->call,
               field->name, field->num_values);
  RITZ_TRY(check_values(w, field));
  RITZ_TRY(RitzSpaceGetDegree(field->space, &degree));
  if (degree > w->degree) w->degree = degree;
  return CEED_ERROR_SUCCESS;
}

static int prepare_block(Writer *w, CeedInt b) {
  Block *block = &w->blocks[b];

  RITZ_TRY(RitzMeshGetBlock(w->mesh, b, &block->topology, &block->first, &block->num_elem, NULL, NULL));
  RITZ_TRY(ritz_vtu_cells_create(w->ceed, block->topology, w->degree, &block->cells));
  w->num_points += block->num_elem * block->cells.num_points;
  w->num_cells += block->num_elem * block->cells.num_cells;
  w->num_ids += block->num_elem * block->cells.num_ids;
  return CEED_ERROR_SUCCESS;
}

static int prepare_output(Writer *w) {
  RITZ_TRY(RitzMeshGetDimensions(w->mesh, NULL, &w->space_dim));
  RITZ_TRY(RitzMeshGetPart(w->mesh, &w->num_parts, &w->part));
  RITZ_TRY(RitzMeshGetGeometryOrder(w->mesh, &w->degree));
  RITZ_REQUIRE(w->num_fields >= 0, w->ceed, CEED_ERROR_DIMENSION,
               "%s: number of fields must be >= 0, found %" CeedInt_FMT, w->call, w->num_fields);
  RITZ_REQUIRE(w->fields || !w->num_fields, w->ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'fields' is NULL",
               w->call);
  for (CeedInt f = 0; f < w->num_fields; f++) RITZ_TRY(check_field(w, f));
  RITZ_TRY(RITZ_MALLOC(w->ceed, (size_t)w->num_fields + num_other_arrays, &w->slots));
  RITZ_TRY(RitzMeshGetNumBlocks(w->mesh, &w->num_blocks));
  RITZ_TRY(RITZ_CALLOC(w->ceed, (size_t)w->num_blocks, &w->blocks));
  for (CeedInt b = 0; b < w->num_blocks; b++) RITZ_TRY(prepare_block(w, b));
  return CEED_ERROR_SUCCESS;
}

// ---- Text ----

// The offset is known later: blanks keep its place.
static int print_array(Writer *w, const char *type, const char *name, CeedInt num_comp) {
  RITZ_TRY(
      ritz_vtu_file_print(&w->file, "        <%sDataArray type=\"%s\" Name=\"", w->is_list ? "P" : "", type));
  RITZ_TRY(ritz_vtu_file_print_escaped(&w->file, name));
  if (w->is_list)
    return ritz_vtu_file_print(&w->file, "\" NumberOfComponents=\"%" CeedInt_FMT "\"/>\n", num_comp);
  RITZ_TRY(ritz_vtu_file_print(&w->file, "\" NumberOfComponents=\"%" CeedInt_FMT "\" format=\"appended\" ",
                               num_comp));
  w->slots[w->num_slots++] = w->file.size;
  return ritz_vtu_file_print(&w->file, "%*s/>\n", slot_width, "");
}

// Vectors in the plane get a third component, 0: the filters for vectors take no others.
static int num_written_components(const Writer *w, CeedInt f, CeedInt *num_comp) {
  const RitzOutputField *field = &w->fields[f];

  RITZ_TRY(RitzSpaceGetNumComponents(field->space, num_comp));
  if (field->function)
    *num_comp = field->num_values;
  else if (*num_comp == 2 && w->space_dim == 2)
    *num_comp = 3;
  return CEED_ERROR_SUCCESS;
}

// An element of the text, which lists call by another name: tag "/Cells" or "Cells".
static int print_tag(Writer *w, const char *tag) {
  const bool is_end = *tag == '/';

  return ritz_vtu_file_print(&w->file, "      <%s%s%s>\n", is_end ? "/" : "", w->is_list ? "P" : "",
                             tag + is_end);
}

static int print_point_data(Writer *w) {
  RITZ_TRY(print_tag(w, "PointData"));
  for (CeedInt f = 0; f < w->num_fields; f++) {
    CeedInt num_comp;

    RITZ_TRY(num_written_components(w, f, &num_comp));
    RITZ_TRY(print_array(w, "Float64", w->fields[f].name, num_comp));
  }
  return print_tag(w, "/PointData");
}

static int print_cell_data_and_points(Writer *w) {
  RITZ_TRY(print_tag(w, "CellData"));
  RITZ_TRY(print_array(w, "Int32", "region", 1));
  RITZ_TRY(print_array(w, "Int64", "element", 1));
  if (w->num_parts > 1) RITZ_TRY(print_array(w, "Int32", "part", 1));
  RITZ_TRY(print_tag(w, "/CellData"));
  RITZ_TRY(print_tag(w, "Points"));
  RITZ_TRY(print_array(w, "Float64", "Points", 3));
  return print_tag(w, "/Points");
}

static int print_cells(Writer *w) {
  RITZ_TRY(print_cell_data_and_points(w));
  RITZ_TRY(print_tag(w, "Cells"));
  RITZ_TRY(print_array(w, "Int64", "connectivity", 1));
  RITZ_TRY(print_array(w, "Int64", "offsets", 1));
  RITZ_TRY(print_array(w, "UInt8", "types", 1));
  return print_tag(w, "/Cells");
}

static int print_head(Writer *w) {
  const uint16_t one = 1;
  const bool is_little = *(const unsigned char *)&one == 1;

  return ritz_vtu_file_print(&w->file,
                             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<VTKFile type=\"%sUnstructuredGrid\" version=\"2.2\" byte_order=\"%s\" "
                             "header_type=\"UInt64\"%s>\n  <%sUnstructuredGrid%s>\n",
                             w->is_list ? "P" : "", is_little ? "LittleEndian" : "BigEndian",
                             ritz_vtu_compressor, w->is_list ? "P" : "",
                             w->is_list ? " GhostLevel=\"0\"" : "");
}

static int print_text(Writer *w) {
  RITZ_TRY(print_head(w));
  RITZ_TRY(ritz_vtu_file_print(&w->file,
                               "    <Piece NumberOfPoints=\"%" PRId64 "\" NumberOfCells=\"%" PRId64 "\">\n",
                               w->num_points, w->num_cells));
  RITZ_TRY(print_point_data(w));
  RITZ_TRY(print_cells(w));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "    </Piece>\n  </UnstructuredGrid>\n"
                                         "  <AppendedData encoding=\"raw\">\n_"));
  w->data_place = w->file.size;
  return CEED_ERROR_SUCCESS;
}

// ---- Arrays ----

// The next array of the text starts here.
static int begin_array(Writer *w, int64_t num_bytes) {
  char text[slot_width + 1];
  int length = snprintf(text, sizeof(text), "offset=\"%" PRId64 "\"", w->file.size - w->data_place);

  RITZ_TRY(ritz_vtu_file_overwrite(&w->file, w->slots[w->num_arrays++], text, (size_t)length));
  return ritz_vtu_array_begin(&w->file, num_bytes);
}

// Nodal values of the elements of a block, from the Lagrange nodes of their degree to the points of the file.
typedef struct {
  CeedInt degree, num_comp, num_written; // the file has zeros for components from num_comp on
  RitzOutputFunction function;           // makes num_written values of the components; NULL: there is none
  const double *coords;                  // borrowed, [num_elem][num_nodes][num_comp], or NULL:
  const CeedScalar *values;              // borrowed, L-vector
  RitzSpace space;                       // borrowed, of the values, and the block of its mesh
  int block;
  int64_t *scratch;              // owned, [num_nodes]
  int64_t num_nodes, num_points; // of an element
  int dim, rows, cols;           // a matrix for each of dim directions, or a dense one (dim = 1)
  double *matrix;                // owned, [rows][cols]; NULL: the points are the nodes
  double *in, *out, *work;       // owned, [num_comp][num_nodes], [num_comp][num_points]
  double *components;            // owned, [num_comp], at one point
  double *points;                // owned, [num_points][num_written]
} Source;

static void fill_equispaced(CeedInt degree, double *points) {
  for (CeedInt i = 0; i <= degree; i++) points[i] = (2.0 * i - degree) / degree;
}

static int fill_line_matrix(const Writer *w, Source *source) {
  int ierr = CEED_ERROR_SUCCESS;
  CeedInt P = source->degree + 1, Q = w->degree + 1;
  double *nodes = NULL, *points = NULL;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)P, &nodes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)Q, &points));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  fill_equispaced(w->degree, points);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(w->ceed, P, nodes, Q, points, source->matrix, NULL));
cleanup:
  RITZ_FREE(&nodes);
  RITZ_FREE(&points);
  return ierr;
}

static int fill_dense_matrix(const Writer *w, CeedElemTopology topology, Source *source) {
  int ierr = CEED_ERROR_SUCCESS;
  double *points = NULL, *positions = NULL;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)w->degree + 1, &points));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(w->ceed, (size_t)source->num_points * 3, &positions));
  fill_equispaced(w->degree, points);
  ritz_lattice_place(topology, w->degree, points, positions);
  RITZ_TRY_CLEANUP(ritz_fe_shape_lagrange(w->ceed, topology, source->degree, (int)source->num_points,
                                          positions, source->matrix, NULL));
cleanup:
  RITZ_FREE(&points);
  RITZ_FREE(&positions);
  return ierr;
}

// The nodes of degree 1 and 2 are equispaced. Without the matrix a value that is not a number stays at its
// own point.
static int make_matrix(const Writer *w, CeedElemTopology topology, Source *source) {
  bool is_tensor = ritz_mesh_shape(topology)->is_tensor;

  if (source->degree == w->degree && w->degree <= 2) return CEED_ERROR_SUCCESS;
  source->dim = is_tensor ? ritz_mesh_shape(topology)->dim : 1;
  source->rows = is_tensor ? w->degree + 1 : (int)source->num_points;
  source->cols = is_tensor ? source->degree + 1 : (int)source->num_nodes;
  RITZ_TRY(RITZ_MALLOC(w->ceed, (size_t)source->rows * (size_t)source->cols, &source->matrix));
  return is_tensor ? fill_line_matrix(w, source) : fill_dense_matrix(w, topology, source);
}

// The tables of a block.
static int prepare_source(const Writer *w, const Block *block, Source *source) {
  size_t num_comp = (size_t)source->num_comp;

  source->num_nodes = ritz_mesh_num_nodes(block->topology, source->degree);
  source->num_points = block->cells.num_points;
  RITZ_TRY(make_matrix(w, block->topology, source));
  RITZ_TRY(RITZ_MALLOC(w->ceed, (size_t)source->num_nodes, &source->scratch));
  RITZ_TRY(RITZ_MALLOC(w->ceed, num_comp * (size_t)source->num_nodes, &source->in));
  RITZ_TRY(RITZ_MALLOC(w->ceed, num_comp * (size_t)source->num_points, &source->out));
  RITZ_TRY(RITZ_MALLOC(w->ceed, 2 * num_comp * (size_t)source->num_points, &source->work));
  RITZ_TRY(RITZ_MALLOC(w->ceed, num_comp, &source->components));
  return RITZ_CALLOC(w->ceed, (size_t)source->num_written * (size_t)source->num_points, &source->points);
}

static void clear_source(Source *source) {
  RITZ_FREE(&source->matrix);
  RITZ_FREE(&source->scratch);
  RITZ_FREE(&source->in);
  RITZ_FREE(&source->out);
  RITZ_FREE(&source->work);
  RITZ_FREE(&source->components);
  RITZ_FREE(&source->points);
}

static void load_element(const Source *source, int64_t e) {
  int64_t n = source->num_nodes;
  CeedInt num_comp = source->num_comp;
  const int64_t *nodes =
      source->coords ? NULL : ritz_space_nodes(source->space, source->block, e, source->scratch);

  for (int64_t i = 0; i < n; i++) {
    for (CeedInt c = 0; c < num_comp; c++) {
      source->in[c * n + i] = nodes ? (double)source->values[nodes[i] * num_comp + c]
                                    : source->coords[(e * n + i) * num_comp + c];
    }
  }
}

// Fills source->points with element e of the block.
static void interpolate_element(Source *source, int64_t e) {
  const double *const matrices[] = {source->matrix, source->matrix, source->matrix};
  const double *values = source->in;

  load_element(source, e);
  if (source->matrix) {
    ritz_fe_tensor_apply(source->dim, source->num_comp, source->rows, source->cols, matrices, source->in,
                         source->out, source->work);
    values = source->out;
  }
  for (int64_t i = 0; i < source->num_points; i++) {
    double *point = source->points + i * source->num_written;
    double *components = source->function ? source->components : point;

    for (CeedInt c = 0; c < source->num_comp; c++) components[c] = values[c * source->num_points + i];
    if (source->function) source->function(components, point);
  }
}

// A part of the array under way.
static int write_source(Writer *w, const Block *block, Source *source) {
  int ierr = CEED_ERROR_SUCCESS;
  size_t num_values = (size_t)block->cells.num_points * (size_t)source->num_written;

  RITZ_TRY_CLEANUP(prepare_source(w, block, source));
  for (int64_t e = 0; e < block->num_elem; e++) {
    interpolate_element(source, e);
    RITZ_TRY_CLEANUP(ritz_vtu_array_append(&w->file, source->points, num_values * sizeof(double)));
  }
cleanup:
  clear_source(source);
  return ierr;
}

static int write_values(Writer *w, RitzSpace space, Source *source) {
  RITZ_TRY(begin_array(w, w->num_points * source->num_written * (int64_t)sizeof(double)));
  source->space = space;
  for (CeedInt b = 0; b < w->num_blocks; b++) {
    source->block = b;
    RITZ_TRY(write_source(w, &w->blocks[b], source));
  }
  return ritz_vtu_array_end(&w->file);
}

static int write_field(Writer *w, CeedInt f) {
  const RitzOutputField *field = &w->fields[f];
  Source source = {.function = field->function};

  RITZ_TRY(RitzSpaceGetDegree(field->space, &source.degree));
  RITZ_TRY(RitzSpaceGetNumComponents(field->space, &source.num_comp));
  RITZ_TRY(num_written_components(w, f, &source.num_written));
  RITZ_TRY(CeedVectorGetArrayRead(field->values, CEED_MEM_HOST, &source.values));
  int ierr = write_values(w, field->space, &source);
  RITZ_TRY(CeedVectorRestoreArrayRead(field->values, &source.values));
  return ierr;
}

static int write_points(Writer *w) {
  Source source = {.num_comp = w->space_dim, .num_written = 3};

  RITZ_TRY(RitzMeshGetGeometryOrder(w->mesh, &source.degree));
  RITZ_TRY(begin_array(w, w->num_points * source.num_written * (int64_t)sizeof(double)));
  for (CeedInt b = 0; b < w->num_blocks; b++) {
    RITZ_TRY(RitzMeshGetBlock(w->mesh, b, NULL, NULL, NULL, NULL, &source.coords));
    RITZ_TRY(write_source(w, &w->blocks[b], &source));
  }
  return ritz_vtu_array_end(&w->file);
}

// One value per cell: what cell `cell` of the file's cells for element e of the block has.
typedef struct {
  const int32_t *regions; // borrowed
  int32_t part;
  int64_t num_ids; // of the cells before the element
} CellState;
typedef void (*CellFunction)(CellState *state, const Block *block, int64_t e, int64_t cell, void *value);

static void take_region(CellState *state, const Block *block, int64_t e, int64_t cell, void *value) {
  (void)cell;
  *(int32_t *)value = state->regions[block->first + e];
}

static void take_element(CellState *state, const Block *block, int64_t e, int64_t cell, void *value) {
  (void)state;
  (void)cell;
  *(int64_t *)value = block->first + e;
}

static void take_part(CellState *state, const Block *block, int64_t e, int64_t cell, void *value) {
  (void)block, (void)e, (void)cell;
  *(int32_t *)value = state->part;
}

static void take_end(CellState *state, const Block *block, int64_t e, int64_t cell, void *value) {
  (void)e;
  *(int64_t *)value = state->num_ids + block->cells.ends[cell];
  if (cell + 1 == block->cells.num_cells) state->num_ids += block->cells.num_ids;
}

static void take_type(CellState *state, const Block *block, int64_t e, int64_t cell, void *value) {
  (void)state;
  (void)e;
  *(uint8_t *)value = block->cells.types[cell];
}

static int write_cells(Writer *w, size_t size, CellFunction take) {
  CellState state = {.part = w->part};
  int64_t value = 0;

  RITZ_TRY(RitzMeshGetElementRegions(w->mesh, &state.regions));
  RITZ_TRY(begin_array(w, w->num_cells * (int64_t)size));
  for (CeedInt b = 0; b < w->num_blocks; b++) {
    const Block *block = &w->blocks[b];

    for (int64_t i = 0; i < block->num_elem * block->cells.num_cells; i++) {
      take(&state, block, i / block->cells.num_cells, i % block->cells.num_cells, &value);
      RITZ_TRY(ritz_vtu_array_append(&w->file, &value, size));
    }
  }
  return ritz_vtu_array_end(&w->file);
}

// The ids of an element count from its first point.
static int write_connectivity(Writer *w) {
  int64_t first_point = 0;

  RITZ_TRY(begin_array(w, w->num_ids * (int64_t)sizeof(int64_t)));
  for (CeedInt b = 0; b < w->num_blocks; b++) {
    const RitzVtuCells *cells = &w->blocks[b].cells;

    for (int64_t e = 0; e < w->blocks[b].num_elem; e++, first_point += cells->num_points) {
      for (int64_t i = 0; i < cells->num_ids; i++) {
        int64_t point = first_point + cells->ids[i];

        RITZ_TRY(ritz_vtu_array_append(&w->file, &point, sizeof(point)));
      }
    }
  }
  return ritz_vtu_array_end(&w->file);
}

// ---- All of it ----

static int write_file(Writer *w) {
  RITZ_TRY(print_text(w));
  for (CeedInt f = 0; f < w->num_fields; f++) RITZ_TRY(write_field(w, f));
  RITZ_TRY(write_cells(w, sizeof(int32_t), take_region));
  RITZ_TRY(write_cells(w, sizeof(int64_t), take_element));
  if (w->num_parts > 1) RITZ_TRY(write_cells(w, sizeof(int32_t), take_part));
  RITZ_TRY(write_points(w));
  RITZ_TRY(write_connectivity(w));
  RITZ_TRY(write_cells(w, sizeof(int64_t), take_end)); // offsets
  RITZ_TRY(write_cells(w, sizeof(uint8_t), take_type));
  RITZ_TRY(ritz_vtu_file_print(&w->file, "\n  </AppendedData>\n</VTKFile>\n"));
  return ritz_vtu_file_complete(&w->file);
}

static int write(const char *call, RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields,
                 const char *path, int (*write_all)(Writer *w)) {
  int ierr = CEED_ERROR_SUCCESS;
  Writer w = {.call = call,
              .mesh = mesh,
              .ceed = RitzMeshReturnCeed(mesh),
              .num_fields = num_fields,
              .fields = fields};

  w.file.fd = -1;
  RITZ_TRY_CLEANUP(prepare_output(&w));
  RITZ_TRY_CLEANUP(ritz_vtu_file_open(w.ceed, call, path, &w.file));
  RITZ_TRY_CLEANUP(write_all(&w));
cleanup:
  ritz_vtu_file_discard(&w.file);
  for (CeedInt b = 0; w.blocks && b < w.num_blocks; b++) ritz_vtu_cells_destroy(&w.blocks[b].cells);
  RITZ_FREE(&w.blocks);
  RITZ_FREE(&w.slots);
  return ierr;
}

int RitzWriteVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields, const char *path) {
  RITZ_HANDLE(mesh);
  RITZ_REQUIRE(path && *path, RitzMeshReturnCeed(mesh), CEED_ERROR_INCOMPATIBLE,
               "RitzWriteVTU: no path is given");
  return write(__func__, mesh, num_fields, fields, path, write_file);
}

// ---- Pieces ----

// Length of a path without its end ".pvtu".
static size_t stem_length(const char *path) { return strlen(path) - strlen(".pvtu"); }

// Pieces are named without folders: they lie beside their list.
static int write_list(Writer *w) {
  const char *slash = strrchr(w->file.path, '/'), *name = slash ? slash + 1 : w->file.path;
  char *stem = NULL;

  RITZ_TRY(RITZ_CALLOC(w->ceed, strlen(name) + 1, &stem));
  memcpy(stem, name, stem_length(name));
  w->is_list = true;
  int ierr = print_head(w);
  if (!ierr) ierr = print_point_data(w);
  if (!ierr) ierr = print_cell_data_and_points(w);
  for (CeedInt i = 0; i < w->num_parts && !ierr; i++) {
    ierr = ritz_vtu_file_print(&w->file, "    <Piece Source=\"");
    if (!ierr) ierr = ritz_vtu_file_print_escaped(&w->file, stem);
    if (!ierr) ierr = ritz_vtu_file_print(&w->file, "-%" CeedInt_FMT ".vtu\"/>\n", i);
  }
  RITZ_FREE(&stem);
  RITZ_TRY(ierr);
  RITZ_TRY(ritz_vtu_file_print(&w->file, "  </PUnstructuredGrid>\n</VTKFile>\n"));
  return ritz_vtu_file_complete(&w->file);
}

int RitzWritePVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields, const char *path) {
  static const char end[] = ".pvtu";
  CeedInt num_parts = 1, part = 0;
  char *piece = NULL;

  RITZ_HANDLE(mesh);
  Ceed ceed = RitzMeshReturnCeed(mesh);
  const size_t length = path ? strlen(path) : 0;

  RITZ_REQUIRE(length > strlen(end) && !strcmp(path + length - strlen(end), end), ceed,
               CEED_ERROR_INCOMPATIBLE, "RitzWritePVTU: expected a path that ends in .pvtu, found '%s'",
               path ? path : "(NULL)");
  RITZ_TRY(RitzMeshGetPart(mesh, &num_parts, &part));
  RITZ_TRY(RITZ_CALLOC(ceed, length + slot_width, &piece));
  snprintf(piece, length + slot_width, "%.*s-%" CeedInt_FMT ".vtu", (int)stem_length(path), path, part);
  int ierr = write(__func__, mesh, num_fields, fields, piece, write_file);
  if (!ierr && part == 0) ierr = write(__func__, mesh, num_fields, fields, path, write_list);
  RITZ_FREE(&piece);
  return ierr;
}
