// SPDX-License-Identifier: BSD-2-Clause
// Sections of Gmsh MSH 2.2, as text and binary. Called by mesh/gmsh.c.
#include "mesh/gmsh.h"

// Counts are text in binary files too; the numbers begin on the next line.
static int read_count(RitzGmshFile *file, const char *what, int64_t *count) {
  RITZ_TRY(ritz_text_size(file->text, what, count));
  if (file->is_binary) ritz_text_skip_line(file->text);
  file->text->is_raw = file->is_binary;
  return CEED_ERROR_SUCCESS;
}

// ---- Nodes ----

static bool is_end_of_line(RitzMeshText *text) {
  int64_t line = text->line;
  RitzWord word;

  return !ritz_text_peek(text, &word) || text->line != line;
}

// The dimension and tag of a node's entity and as many parameters. Nodes of volumes have none in files of
// Gmsh; as text they may have three.
static int skip_parameters(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  int64_t dim, entity;
  double parameter;

  RITZ_TRY(ritz_text_int(text, "the dimension of a node's entity", 0, 3, &dim));
  RITZ_TRY(ritz_text_int(text, "the tag of a node's entity", INT32_MIN, INT32_MAX, &entity));
  if (dim == 3 && (file->is_binary || is_end_of_line(text))) return CEED_ERROR_SUCCESS;
  for (int64_t i = 0; i < dim; i++) RITZ_TRY(ritz_text_double(text, "a parameter of a node", &parameter));
  return CEED_ERROR_SUCCESS;
}

static int read_nodes(RitzGmshFile *file, bool is_parametric) {
  RitzMeshText *text = file->text;
  int64_t count;

  RITZ_TRY(read_count(file, "the number of nodes", &count));
  RITZ_TRY(ritz_text_check_count(text, "the number of nodes", count, is_parametric ? 3 : 1, 0, 3));
  RITZ_TRY(ritz_gmsh_reserve_nodes(file, count));
  for (int64_t i = 0; i < count; i++) {
    RitzGmshNode *node = &file->nodes[file->num_nodes++];

    RITZ_TRY(ritz_text_int(text, "the tag of a node", 0, INT32_MAX, &node->tag));
    node->place = text->place;
    for (int c = 0; c < 3; c++) RITZ_TRY(ritz_text_double(text, "a coordinate", &node->x[c]));
    if (is_parametric) RITZ_TRY(skip_parameters(file));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh2_read_nodes(RitzGmshFile *file) { return read_nodes(file, false); }
int ritz_gmsh2_read_parametric_nodes(RitzGmshFile *file) { return read_nodes(file, true); }

// ---- Elements ----

// The first tag is the physical group, the second the entity; files of other programs may have fewer.
static int read_tags(RitzMeshText *text, int64_t num_tags, RitzGmshElement *element) {
  int64_t tag;

  for (int64_t i = 0; i < num_tags; i++) {
    RITZ_TRY(ritz_text_int(text, "a tag of an element", -INT32_MAX, INT32_MAX, &tag));
    if (i == 0) element->physical = (int32_t)(tag < 0 ? -tag : tag);
    if (i == 1) element->entity = (int32_t)tag;
  }
  return CEED_ERROR_SUCCESS;
}

static int add_element(RitzGmshFile *file, int64_t num_tags, RitzGmshElement element) {
  int64_t *nodes;

  RITZ_TRY(read_tags(file->text, num_tags, &element));
  RITZ_TRY(ritz_gmsh_add_element(file, element, &nodes));
  for (int i = 0; i < element.type->num_nodes; i++) {
    RITZ_TRY(ritz_text_int(file->text, "a node of an element", 0, INT32_MAX, &nodes[i]));
  }
  return CEED_ERROR_SUCCESS;
}

static int read_element_number(RitzMeshText *text, RitzGmshElement *element) {
  int64_t number;

  RITZ_TRY(ritz_text_int(text, "the number of an element", INT32_MIN, INT32_MAX, &number));
  element->place = text->place;
  return CEED_ERROR_SUCCESS;
}

static int read_header(RitzGmshFile *file, const char *what, int64_t *num, RitzGmshElement *element,
                       int64_t *num_tags) {
  RitzMeshText *text = file->text;
  int64_t code;

  RITZ_TRY(ritz_text_int(text, "the type of an element", INT32_MIN, INT32_MAX, &code));
  RITZ_TRY(ritz_gmsh_require_type(file, code, &element->type));
  if (num) RITZ_TRY(ritz_text_int(text, what, 0, INT32_MAX, num));
  return ritz_text_int(text, "the number of tags of an element", 0, INT32_MAX, num_tags);
}

static int read_text_elements(RitzGmshFile *file, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    RitzGmshElement element = {.physical = 0};
    int64_t num_tags;

    RITZ_TRY(read_element_number(file->text, &element));
    RITZ_TRY(read_header(file, NULL, NULL, &element, &num_tags));
    RITZ_TRY(add_element(file, num_tags, element));
  }
  return CEED_ERROR_SUCCESS;
}

// Blocks of elements of one type until `count` elements are found.
static int read_binary_elements(RitzGmshFile *file, int64_t count) {
  RitzMeshText *text = file->text;
  int64_t num_tags, num;

  for (int64_t done = 0; done < count; done += num) {
    RitzGmshElement element = {.physical = 0};

    RITZ_TRY(read_header(file, "the number of elements of a block", &num, &element, &num_tags));
    RITZ_TEXT_REQUIRE(num <= count - done, text, "the blocks hold more than the announced %lld elements",
                      (long long)count);
    RITZ_TRY(ritz_text_check_count(text, "the number of elements of a block", num,
                                   1 + num_tags + element.type->num_nodes, 0, 0));
    for (int64_t i = 0; i < num; i++) {
      element.physical = element.entity = 0;
      RITZ_TRY(read_element_number(text, &element));
      RITZ_TRY(add_element(file, num_tags, element));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// An element takes at least four numbers as text (number, type, 0 tags, a node) and two as bytes.
int ritz_gmsh2_read_elements(RitzGmshFile *file) {
  int64_t count;

  RITZ_TRY(read_count(file, "the number of elements", &count));
  RITZ_TRY(ritz_text_check_count(file->text, "the number of elements", count, file->is_binary ? 2 : 4, 0, 0));
  RITZ_TRY(ritz_gmsh_reserve_elements(file, count));
  return file->is_binary ? read_binary_elements(file, count) : read_text_elements(file, count);
}
