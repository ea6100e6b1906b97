// SPDX-License-Identifier: BSD-2-Clause
// Sections of Gmsh MSH 4.1. Text and binary files hold the same numbers in the same order. Called by
// mesh/gmsh.c.
#include "mesh/gmsh.h"

static void begin_section(RitzGmshFile *file) {
  if (file->is_binary) ritz_text_skip_line(file->text);
  file->text->is_raw = file->is_binary;
}

// ---- Entities ----

static int skip_doubles(RitzMeshText *text, const char *what, int num) {
  double value;

  for (int i = 0; i < num; i++) RITZ_TRY(ritz_text_double(text, what, &value));
  return CEED_ERROR_SUCCESS;
}

// A negative tag says that the group has the entity the other way round.
static int read_groups(RitzGmshFile *file, RitzGmshEntity *entity) {
  RitzMeshText *text = file->text;
  int64_t tag;

  RITZ_TRY(ritz_text_size(text, "the number of groups of an entity", &entity->num));
  RITZ_TRY(ritz_text_check_count(text, "the number of groups of an entity", entity->num, 1, 0, 0));
  RITZ_TRY(ritz_mesh_reserve(text->ceed, file->num_groups + entity->num, sizeof(*file->groups),
                             &file->groups_capacity, (void **)&file->groups));
  entity->first = file->num_groups;
  for (int64_t i = 0; i < entity->num; i++) {
    RITZ_TRY(ritz_text_int(text, "a group of an entity", -INT32_MAX, INT32_MAX, &tag));
    file->groups[file->num_groups++] = (int32_t)(tag < 0 ? -tag : tag);
  }
  return CEED_ERROR_SUCCESS;
}

static int skip_bounding_entities(RitzMeshText *text) {
  int64_t num, tag;

  RITZ_TRY(ritz_text_size(text, "the number of bounding entities", &num));
  RITZ_TRY(ritz_text_check_count(text, "the number of bounding entities", num, 1, 0, 0));
  for (int64_t i = 0; i < num; i++) {
    RITZ_TRY(ritz_text_int(text, "a bounding entity", INT32_MIN, INT32_MAX, &tag));
  }
  return CEED_ERROR_SUCCESS;
}

// A point has its position, any other entity a box.
static int read_entity(RitzGmshFile *file, int dim) {
  RitzMeshText *text = file->text;
  RitzGmshEntity entity = {.dim = dim};
  int64_t tag;

  RITZ_TRY(ritz_text_int(text, "the tag of an entity", INT32_MIN, INT32_MAX, &tag));
  entity.tag = (int32_t)tag;
  RITZ_TRY(skip_doubles(text, "the box of an entity", dim == 0 ? 3 : 6));
  RITZ_TRY(read_groups(file, &entity));
  if (dim > 0) RITZ_TRY(skip_bounding_entities(text));
  file->entities[file->num_entities++] = entity;
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh4_read_entities(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  int64_t counts[4];

  begin_section(file);
  for (int dim = 0; dim <= 3; dim++) {
    RITZ_TRY(ritz_text_size(text, "the number of entities", &counts[dim]));
    RITZ_TRY(ritz_text_check_count(text, "the number of entities", counts[dim], 1, dim == 0 ? 1 : 2,
                                   dim == 0 ? 3 : 6));
  }
  for (int dim = 0; dim <= 3; dim++) {
    RITZ_TRY(ritz_mesh_reserve(text->ceed, file->num_entities + counts[dim], sizeof(*file->entities),
                               &file->entities_capacity, (void **)&file->entities));
    for (int64_t i = 0; i < counts[dim]; i++) RITZ_TRY(read_entity(file, dim));
  }
  file->has_entities = true;
  return CEED_ERROR_SUCCESS;
}

// ---- Blocks ----

// The first line of $Nodes and $Elements: numbers of blocks and items, smallest and largest tag. Tags may be
// anything, so the last two say nothing. A block header takes three ints and a size.
static int read_totals(RitzGmshFile *file, const char *what, int64_t sizes, int64_t doubles,
                       int64_t *num_blocks, int64_t *total) {
  RitzMeshText *text = file->text;
  int64_t tag;

  begin_section(file);
  RITZ_TRY(ritz_text_size(text, "the number of blocks", num_blocks));
  RITZ_TRY(ritz_text_check_count(text, "the number of blocks", *num_blocks, 3, 1, 0));
  RITZ_TRY(ritz_text_size(text, what, total));
  RITZ_TRY(ritz_text_check_count(text, what, *total, 0, sizes, doubles));
  RITZ_TRY(ritz_text_size(text, "the smallest tag", &tag));
  return ritz_text_size(text, "the largest tag", &tag);
}

// Header of a block; `third` is the element type or whether nodes have parameters.
static int read_block(RitzMeshText *text, const char *third_what, int64_t third_max, int64_t left,
                      int64_t *dim, int64_t *entity, int64_t *third, int64_t *num) {
  RITZ_TRY(ritz_text_int(text, "the dimension of a block", 0, 3, dim));
  RITZ_TRY(ritz_text_int(text, "the entity of a block", INT32_MIN, INT32_MAX, entity));
  RITZ_TRY(ritz_text_int(text, third_what, 0, third_max, third));
  RITZ_TRY(ritz_text_size(text, "the size of a block", num));
  RITZ_TEXT_REQUIRE(*num <= left, text, "the size of a block is %lld, but only %lld are left of the total",
                    (long long)*num, (long long)left);
  return CEED_ERROR_SUCCESS;
}

static int read_node_block(RitzGmshFile *file, int64_t *left) {
  RitzMeshText *text = file->text;
  int64_t dim, entity, is_parametric, num;
  RitzGmshNode *nodes = file->nodes ? file->nodes + file->num_nodes : NULL;

  RITZ_TRY(read_block(text, "the flag of parametric nodes", 1, *left, &dim, &entity, &is_parametric, &num));
  for (int64_t i = 0; i < num; i++) {
    RITZ_TRY(ritz_text_size(text, "the tag of a node", &nodes[i].tag));
    nodes[i].place = text->place;
  }
  for (int64_t i = 0; i < num; i++) {
    for (int c = 0; c < 3; c++) RITZ_TRY(ritz_text_double(text, "a coordinate", &nodes[i].x[c]));
    RITZ_TRY(skip_doubles(text, "a parameter of a node", is_parametric ? (int)dim : 0));
  }
  file->num_nodes += num;
  *left -= num;
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh4_read_nodes(RitzGmshFile *file) {
  int64_t num_blocks, left;

  RITZ_TRY(read_totals(file, "the number of nodes", 1, 3, &num_blocks, &left));
  RITZ_TRY(ritz_gmsh_reserve_nodes(file, left));
  for (int64_t b = 0; b < num_blocks; b++) RITZ_TRY(read_node_block(file, &left));
  RITZ_TEXT_REQUIRE(left == 0, file->text, "the blocks hold %lld nodes less than announced", (long long)left);
  return CEED_ERROR_SUCCESS;
}

static int read_element_block(RitzGmshFile *file, int64_t *left) {
  RitzMeshText *text = file->text;
  int64_t dim, entity, code, num, tag, *nodes;
  RitzGmshElement element = {.physical = 0};

  RITZ_TRY(read_block(text, "the type of an element", INT32_MAX, *left, &dim, &entity, &code, &num));
  RITZ_TRY(ritz_gmsh_require_type(file, code, &element.type));
  RITZ_TEXT_REQUIRE(ritz_shapes[element.type->shape].dim == dim, text,
                    "a block of dimension %lld has elements of type %lld, which are %s", (long long)dim,
                    (long long)code, ritz_shapes[element.type->shape].plural);
  element.entity = (int32_t)entity;
  for (int64_t i = 0; i < num; i++) {
    RITZ_TRY(ritz_text_size(text, "the tag of an element", &tag));
    element.place = text->place;
    RITZ_TRY(ritz_gmsh_add_element(file, element, &nodes));
    for (int n = 0; n < element.type->num_nodes; n++) {
      RITZ_TRY(ritz_text_size(text, "a node of an element", &nodes[n]));
    }
  }
  *left -= num;
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh4_read_elements(RitzGmshFile *file) {
  int64_t num_blocks, left;

  RITZ_TRY(read_totals(file, "the number of elements", 2, 0, &num_blocks, &left));
  RITZ_TRY(ritz_gmsh_reserve_elements(file, left));
  for (int64_t b = 0; b < num_blocks; b++) RITZ_TRY(read_element_block(file, &left));
  RITZ_TEXT_REQUIRE(left == 0, file->text, "the blocks hold %lld elements less than announced",
                    (long long)left);
  return CEED_ERROR_SUCCESS;
}
