// SPDX-License-Identifier: BSD-2-Clause
// Reader of MFEM meshes v1.0, v1.2 and v1.3: the sections of the file and straight geometry. Called by
// RitzMeshRead; curved geometry is read by mesh/mfem-nodes.c, attributes become parts in mesh/mfem-sets.c.
#include "mesh/mfem.h"

#include <string.h>

// ---- Sections ----

static int read_version(RitzMfemFile *file) {
  RitzWord line = {NULL, 0};
  RitzQuote quote;
  RitzMeshText *text = file->text;

  (void)ritz_text_peek_line(text, &line);
  file->has_sets = ritz_word_is(line, "MFEM mesh v1.3");
  file->has_end = file->has_sets || ritz_word_is(line, "MFEM mesh v1.2");
  if (!file->has_end && !ritz_word_is(line, "MFEM mesh v1.0"))
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED,
                          "found '%s'; Ritz reads 'MFEM mesh v1.0', 'v1.2' and 'v1.3' (no NURBS, hanging "
                          "nodes or INLINE recipes)",
                          ritz_word_quote(line, &quote));
  ritz_text_skip_line(text);
  return CEED_ERROR_SUCCESS;
}

static int read_shape(RitzMeshText *text, int dim, int64_t *shape) {
  RITZ_TRY(ritz_text_int(text, "the geometry of an element", 0, RITZ_NUM_SHAPES - 1, shape));
  RITZ_TEXT_REQUIRE(ritz_shapes[*shape].dim == dim, text,
                    "a %s (geometry %lld) stands where an element of dimension %d is needed",
                    ritz_shapes[*shape].name, (long long)*shape, dim);
  return CEED_ERROR_SUCCESS;
}

static int read_record(RitzMeshText *text, int dim, int64_t i, RitzMfemRecords *records) {
  int64_t attribute, shape;

  RITZ_TRY(ritz_text_int(text, "an attribute", INT32_MIN, INT32_MAX, &attribute));
  records->attributes[i] = (int32_t)attribute;
  records->places[i] = text->place;
  RITZ_TRY(read_shape(text, dim, &shape));
  int num_corners = ritz_shapes[shape].num_corners;

  records->counts[shape]++;
  records->shapes[i] = (int8_t)shape;
  records->first[i] = records->num_vertices;
  RITZ_TRY(ritz_mesh_reserve(text->ceed, records->num_vertices + num_corners, sizeof(int64_t),
                             &records->capacity, (void **)&records->vertices));
  for (int c = 0; c < num_corners; c++) {
    RITZ_TRY(ritz_text_size(text, "a vertex of an element", &records->vertices[records->num_vertices++]));
  }
  return CEED_ERROR_SUCCESS;
}

static int read_records(RitzMeshText *text, const char *what, int dim, RitzMfemRecords *records) {
  RITZ_TRY(ritz_text_count(text, what, 3, &records->num));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)records->num, &records->attributes));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)records->num, &records->places));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)records->num, &records->first));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)records->num, &records->shapes));
  for (int64_t i = 0; i < records->num; i++) RITZ_TRY(read_record(text, dim, i, records));
  return CEED_ERROR_SUCCESS;
}

static void clear_records(RitzMfemRecords *records) {
  RITZ_FREE(&records->vertices);
  RITZ_FREE(&records->first);
  RITZ_FREE(&records->shapes);
  RITZ_FREE(&records->attributes);
  RITZ_FREE(&records->places);
}

static int read_elements(RitzMfemFile *file) {
  RitzMeshText *text = file->text;

  RITZ_TRY(ritz_text_expect(text, "elements"));
  RITZ_TRY(read_records(text, "the number of elements", file->dim, &file->elements));
  RITZ_TEXT_REQUIRE(file->elements.num > 0, text, "the mesh has no elements");
  if (file->has_sets && ritz_text_accept(text, "attribute_sets"))
    RITZ_TRY(ritz_mfem_read_sets(text, &file->element_sets));
  return CEED_ERROR_SUCCESS;
}

static int read_boundary(RitzMfemFile *file) {
  RitzMeshText *text = file->text;

  RITZ_TRY(ritz_text_expect(text, "boundary"));
  RITZ_TRY(read_records(text, "the number of boundary elements", file->dim - 1, &file->boundary));
  if (file->has_sets && ritz_text_accept(text, "bdr_attribute_sets"))
    RITZ_TRY(ritz_mfem_read_sets(text, &file->boundary_sets));
  return CEED_ERROR_SUCCESS;
}

// Every vertex that is used takes at least two bytes of the file.
static int read_num_vertices(RitzMfemFile *file) {
  RitzMeshText *text = file->text;

  RITZ_TRY(ritz_text_expect(text, "vertices"));
  RITZ_TRY(ritz_text_size(text, "the number of vertices", &file->num_vertices));
  RITZ_TEXT_REQUIRE(file->num_vertices <= text->size / 2, text,
                    "the number of vertices is %lld, more than the file can hold",
                    (long long)file->num_vertices);
  return CEED_ERROR_SUCCESS;
}

static int check_vertices(const RitzMfemFile *file, const RitzMfemRecords *records) {
  for (int64_t i = 0; i < records->num; i++) {
    const int64_t *vertices = &records->vertices[records->first[i]];

    for (int c = 0; c < ritz_shapes[records->shapes[i]].num_corners; c++) {
      if (vertices[c] >= file->num_vertices)
        return ritz_text_fail_at(file->text, records->places[i], CEED_ERROR_MAJOR,
                                 "vertex %lld is used, but there are only %lld vertices",
                                 (long long)vertices[c], (long long)file->num_vertices);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Straight geometry ----

static int read_coordinates(RitzMfemFile *file, int64_t num, double *coords) {
  for (int64_t i = 0; i < num; i++) RITZ_TRY(ritz_text_double(file->text, "a coordinate", &coords[i]));
  return CEED_ERROR_SUCCESS;
}

static int read_straight(RitzMfemFile *file, RitzMeshDraft *draft) {
  RitzMeshText *text = file->text;
  int64_t space_dim;
  double *coords;

  RITZ_TRY(ritz_text_int(text, "the space dimension (or 'nodes')", file->dim, 3, &space_dim));
  RITZ_TRY(ritz_text_check_count(text, "the number of vertices", file->num_vertices, space_dim, 0, 0));
  draft->space_dim = (CeedInt)space_dim;
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)(draft->num_points * space_dim), &draft->coords));
  RITZ_TRY(RITZ_MALLOC(text->ceed, (size_t)(file->num_vertices * space_dim), &coords));
  int ierr = read_coordinates(file, file->num_vertices * space_dim, coords);

  // The nodes of degree 1 are the corners.
  for (int64_t i = 0; i < draft->num_points && !ierr; i++) {
    memcpy(&draft->coords[i * space_dim], &coords[draft->elem_vertices[i] * space_dim],
           (size_t)space_dim * sizeof(double));
  }
  RITZ_FREE(&coords);
  return ierr;
}

// ---- The mesh ----

static void fill_block(RitzMfemFile *file, const RitzMeshBlock *block, RitzMeshDraft *draft) {
  const RitzMfemRecords *elements = &file->elements;
  RitzShape shape = ritz_reader_block_shape(block);
  int64_t e = block->first, *vertices = draft->elem_vertices + block->corner_base;

  for (int64_t i = 0; i < elements->num; i++) {
    if (elements->shapes[i] != (int8_t)shape) continue;
    draft->elem_regions[e] = elements->attributes[i];
    draft->elem_place[e] = elements->places[i];
    file->order[e++] = i;
    for (int c = 0; c < block->num_corners; c++)
      *vertices++ = elements->vertices[elements->first[i] + ritz_listed_corner(shape, c)];
  }
}

// Block after block, each in the order of the file.
static int fill_elements(RitzMfemFile *file, RitzMeshDraft *draft) {
  const RitzMfemRecords *elements = &file->elements;
  Ceed ceed = file->text->ceed;

  draft->dim = file->dim;
  draft->order = 1;
  draft->num_vertices = file->num_vertices;
  RITZ_TRY(ritz_reader_lay_out(file->text, elements->counts, draft));
  for (int64_t i = 0; i < file->boundary.num; i++)
    RITZ_TRY(ritz_reader_check_facet(file->text, file->boundary.places[i],
                                     (RitzShape)file->boundary.shapes[i], draft));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)draft->num_places, &draft->elem_vertices));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)elements->num, &draft->elem_regions));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)elements->num, &draft->elem_place));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)elements->num, &file->order));
  for (int b = 0; b < draft->num_blocks; b++) fill_block(file, &draft->blocks[b], draft);
  return CEED_ERROR_SUCCESS;
}

// Version 1.0 ends with its last number; anything but a further number may follow.
static int read_end(const RitzMfemFile *file) {
  RitzMeshText *text = file->text;
  RitzWord word;
  RitzQuote quote;

  bool is_last = !ritz_text_peek(text, &word);

  RITZ_TEXT_REQUIRE(is_last || !ritz_word_is_number(word), text,
                    "found '%s' behind the last number: the counts of the file do not match its contents",
                    ritz_word_quote(word, &quote));
  if (!file->has_end || ritz_text_accept(text, "mfem_mesh_end")) return CEED_ERROR_SUCCESS;
  RITZ_TEXT_REQUIRE(!is_last, text, "the file ends where 'mfem_mesh_end' should be");
  return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED,
                        "found '%s' before 'mfem_mesh_end': pieces of parallel meshes are not read",
                        ritz_word_quote(word, &quote));
}

static int read_mfem_file(RitzMfemFile *file, RitzMeshDraft *draft) {
  int64_t dim;

  RITZ_TRY(read_version(file));
  RITZ_TRY(ritz_text_expect(file->text, "dimension"));
  RITZ_TRY(ritz_text_int(file->text, "the dimension", 1, 3, &dim));
  file->dim = (int)dim;
  RITZ_TRY(read_elements(file));
  RITZ_TRY(read_boundary(file));
  RITZ_TRY(read_num_vertices(file));
  RITZ_TRY(check_vertices(file, &file->elements));
  RITZ_TRY(check_vertices(file, &file->boundary));
  RITZ_TRY(fill_elements(file, draft));
  RITZ_TRY(ritz_mesh_check_vertices(file->text->ceed, file->text->path, draft)); // the nodes rely on it
  if (ritz_text_accept(file->text, "nodes"))
    RITZ_TRY(ritz_mfem_read_nodes(file, draft));
  else
    RITZ_TRY(read_straight(file, draft));
  RITZ_TRY(read_end(file));
  RITZ_TRY(ritz_mfem_name_regions(file, draft));
  return ritz_mfem_name_parts(file, draft);
}

int ritz_mesh_read_mfem(Ceed ceed, RitzMeshText *text, RitzMeshDraft *draft) {
  RitzMfemFile file = {.text = text};

  (void)ceed;
  text->comment = '#';
  int ierr = read_mfem_file(&file, draft);

  clear_records(&file.elements);
  clear_records(&file.boundary);
  RITZ_FREE(&file.order);
  ritz_mfem_sets_clear(&file.element_sets);
  ritz_mfem_sets_clear(&file.boundary_sets);
  return ierr;
}
