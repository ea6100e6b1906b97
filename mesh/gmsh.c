// SPDX-License-Identifier: BSD-2-Clause
// Reader of Gmsh MSH 2.2 and 4.1, as text and binary of either byte order: the walk through the sections.
// Called by RitzMeshRead; sections are read by mesh/gmsh2.c and mesh/gmsh4.c, the mesh is made in
// mesh/gmsh-draft.c. Sections may come in any order and repeat; data sections are skipped.
#include "mesh/gmsh.h"

#include <stdlib.h>
#include <string.h>

// ---- Storage ----

int ritz_gmsh_reserve_nodes(RitzGmshFile *file, int64_t count) {
  return ritz_mesh_reserve(file->text->ceed, file->num_nodes + count, sizeof(*file->nodes),
                           &file->nodes_capacity, (void **)&file->nodes);
}

int ritz_gmsh_reserve_elements(RitzGmshFile *file, int64_t count) {
  return ritz_mesh_reserve(file->text->ceed, file->num_elements + count, sizeof(*file->elements),
                           &file->elements_capacity, (void **)&file->elements);
}

int ritz_gmsh_add_element(RitzGmshFile *file, RitzGmshElement element, int64_t **tags) {
  RITZ_TRY(ritz_mesh_reserve(file->text->ceed, file->num_tags + element.type->num_nodes, sizeof(*file->tags),
                             &file->tags_capacity, (void **)&file->tags));
  element.first = file->num_tags;
  *tags = file->tags + file->num_tags;
  file->num_tags += element.type->num_nodes;
  file->elements[file->num_elements++] = element;
  return CEED_ERROR_SUCCESS;
}

int ritz_gmsh_require_type(const RitzGmshFile *file, int64_t code, const RitzGmshType **type) {
  *type = ritz_gmsh_find_type(code);
  if (*type) return CEED_ERROR_SUCCESS;
  return ritz_text_fail(file->text, CEED_ERROR_UNSUPPORTED, "elements of type %lld are not known to Ritz",
                        (long long)code);
}

static void clear_gmsh_reader(RitzGmshFile *file) {
  for (int64_t i = 0; i < file->num_names; i++) RITZ_FREE(&file->names[i].name);
  RITZ_FREE(&file->names);
  RITZ_FREE(&file->groups);
  RITZ_FREE(&file->pairs);
  ritz_mesh_lists_clear(&file->shared);
  RITZ_FREE(&file->entities);
  RITZ_FREE(&file->tags);
  RITZ_FREE(&file->elements);
  RITZ_FREE(&file->nodes);
}

// ---- Sections common to both versions ----

// A 1 of four bytes tells the order of the bytes.
static int read_byte_order(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  int64_t one;

  text->has_bytes = true;
  ritz_text_skip_line(text);
  text->is_raw = true;
  RITZ_TRY(ritz_text_int(text, "the mark of the byte order", INT32_MIN, INT32_MAX, &one));
  text->is_swapped = one == 0x01000000;
  RITZ_TEXT_REQUIRE(one == 1 || text->is_swapped, text, "the mark of the byte order is %lld instead of 1",
                    (long long)one);
  return CEED_ERROR_SUCCESS;
}

static int read_format(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  RitzWord version;
  RitzQuote quote;
  int64_t type, size;

  RITZ_TEXT_REQUIRE(!file->version, text, "$MeshFormat stands here a second time");
  RITZ_TRY(ritz_text_word(text, "the version of the format", &version));
  if (ritz_word_is(version, "2.2"))
    file->version = 2;
  else if (ritz_word_is(version, "4.1"))
    file->version = 4;
  else
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED,
                          "version '%s' of Gmsh's format; Ritz reads 2.2 and 4.1",
                          ritz_word_quote(version, &quote));
  RITZ_TRY(ritz_text_int(text, "the file type", 0, 1, &type));
  RITZ_TRY(ritz_text_int(text, "the data size", INT32_MIN, INT32_MAX, &size));
  if (size != 8)
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED, "data size %lld; Ritz reads 8", (long long)size);
  file->is_binary = type == 1;
  return file->is_binary ? read_byte_order(file) : CEED_ERROR_SUCCESS;
}

static int read_names(RitzGmshFile *file) {
  RitzMeshText *text = file->text;
  int64_t count, dim, tag;

  RITZ_TRY(ritz_text_count(text, "the number of physical names", 3, &count));
  RITZ_TRY(ritz_mesh_reserve(text->ceed, file->num_names + count, sizeof(*file->names), &file->names_capacity,
                             (void **)&file->names));
  for (int64_t i = 0; i < count; i++) {
    RITZ_TRY(ritz_text_int(text, "the dimension of a physical group", 0, 3, &dim));
    RITZ_TRY(ritz_text_int(text, "the tag of a physical group", -INT32_MAX, INT32_MAX, &tag));
    RitzGmshName *name = &file->names[file->num_names];

    *name = (RitzGmshName){(int)dim, (int32_t)(tag < 0 ? -tag : tag), text->place, NULL};
    RITZ_TRY(ritz_text_name(text, "the name of a physical group", &name->name));
    file->num_names++;
  }
  return CEED_ERROR_SUCCESS;
}

static int decline_partitions(RitzGmshFile *file) {
  return ritz_text_fail(
      file->text, CEED_ERROR_UNSUPPORTED,
      "$PartitionedEntities: partitioned meshes are not read; save the mesh without partitions");
}

// ---- The walk ----

typedef struct {
  const char *name;
  int version; // 0: both
  int (*read)(RitzGmshFile *file);
} Section;

static const Section sections[] = {
    {"$MeshFormat", 0, read_format},
    {"$PhysicalNames", 0, read_names},
    {"$Nodes", 2, ritz_gmsh2_read_nodes},
    {"$ParametricNodes", 2, ritz_gmsh2_read_parametric_nodes},
    {"$Elements", 2, ritz_gmsh2_read_elements},
    {"$Entities", 4, ritz_gmsh4_read_entities},
    {"$PartitionedEntities", 4, decline_partitions},
    {"$Nodes", 4, ritz_gmsh4_read_nodes},
    {"$Elements", 4, ritz_gmsh4_read_elements},
    {"$Periodic", 0, ritz_gmsh_read_periodic},
};

static const Section *find_section(const RitzGmshFile *file, RitzWord name) {
  for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
    if (!ritz_word_is(name, sections[i].name)) continue;
    if (file->ignores_periodic && sections[i].read == ritz_gmsh_read_periodic) return NULL;
    if (!sections[i].version || sections[i].version == file->version) return &sections[i];
  }
  return NULL;
}

// A section whose contents are not needed ends at the first whole line that says so.
static int read_section(RitzGmshFile *file, RitzWord name) {
  RitzMeshText *text = file->text;
  const Section *section = find_section(file, name);
  RitzQuote quote;
  char end[80];

  RITZ_TEXT_REQUIRE(name.length < 72 && !ritz_word_begins(name, "$End"), text,
                    "expected the beginning of a section, found '%s'", ritz_word_quote(name, &quote));
  snprintf(end, sizeof(end), "$End%.*s", (int)name.length - 1, name.start + 1);
  bool needs_format =
      ritz_word_is(name, "$Nodes") || ritz_word_is(name, "$Elements") || ritz_word_is(name, "$Periodic");

  RITZ_TEXT_REQUIRE(file->version || !needs_format, text, "the file has no $MeshFormat before its data");
  text->at += name.length;
  if (!section) return ritz_text_skip_past(text, end);
  RITZ_TRY(section->read(file));
  text->is_raw = false;
  return ritz_text_expect(text, end);
}

// Lines between sections that begin no section are skipped.
static int read_sections(RitzGmshFile *file) {
  RitzWord word;

  while (ritz_text_peek(file->text, &word)) {
    if (ritz_word_is(word, "$NOD"))
      return ritz_text_fail(file->text, CEED_ERROR_UNSUPPORTED,
                            "version 1 of Gmsh's format; Ritz reads 2.2 and 4.1");
    if (word.start[0] == '$')
      RITZ_TRY(read_section(file, word));
    else
      ritz_text_skip_line(file->text);
  }
  RITZ_TEXT_REQUIRE(file->num_nodes > 0, file->text, "the file ends without $Nodes, or has no nodes");
  RITZ_TEXT_REQUIRE(file->num_elements > 0, file->text,
                    "the file ends without $Elements, or has no elements");
  return CEED_ERROR_SUCCESS;
}

// ---- Order ----

static int compare_groups(int dim_a, int32_t tag_a, int dim_b, int32_t tag_b) {
  if (dim_a != dim_b) return dim_a < dim_b ? -1 : 1;
  return tag_a < tag_b ? -1 : tag_a > tag_b;
}

static int compare_names(const void *pa, const void *pb) {
  const RitzGmshName *a = pa, *b = pb;

  return compare_groups(a->dim, a->tag, b->dim, b->tag);
}

static int compare_entities(const void *pa, const void *pb) {
  const RitzGmshEntity *a = pa, *b = pb;

  return compare_groups(a->dim, a->tag, b->dim, b->tag);
}

static int compare_tags(const void *a, const void *b) {
  const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

  return (first > second) - (first < second);
}

// Groups of an entity, each once.
static void sort_groups(RitzGmshFile *file, RitzGmshEntity *entity) {
  int32_t *groups = entity->num ? file->groups + entity->first : NULL;
  int64_t num = 0;

  if (groups) qsort(groups, (size_t)entity->num, sizeof(*groups), compare_tags);
  for (int64_t i = 0; i < entity->num; i++) {
    if (i == 0 || groups[i] != groups[num - 1]) groups[num++] = groups[i];
  }
  entity->num = num;
}

static int sort(RitzGmshFile *file) {
  RitzGmshName *names = file->names;
  RitzGmshEntity *entities = file->entities;

  if (names) qsort(names, (size_t)file->num_names, sizeof(*names), compare_names);
  if (entities) qsort(entities, (size_t)file->num_entities, sizeof(*entities), compare_entities);
  for (int64_t i = 1; i < file->num_names; i++) {
    if (!compare_names(&names[i - 1], &names[i]))
      return ritz_text_fail_at(file->text, names[i].place, CEED_ERROR_MAJOR,
                               "physical group %d of dimension %d has two names", (int)names[i].tag,
                               names[i].dim);
  }
  for (int64_t i = 0; i < file->num_entities; i++) sort_groups(file, &entities[i]);
  for (int64_t i = 1; i < file->num_entities; i++) {
    RITZ_TEXT_REQUIRE(compare_entities(&entities[i - 1], &entities[i]), file->text,
                      "$Entities lists entity %d of dimension %d twice", (int)entities[i].tag,
                      entities[i].dim);
  }
  return CEED_ERROR_SUCCESS;
}

static int read_gmsh_file(RitzGmshFile *file, RitzMeshDraft *draft) {
  RITZ_TRY(read_sections(file));
  RITZ_TRY(sort(file));
  return ritz_gmsh_fill_draft(file, draft);
}

int ritz_mesh_read_gmsh(Ceed ceed, RitzMeshText *text, bool ignores_periodic, RitzMeshDraft *draft) {
  RitzGmshFile file = {.text = text, .ignores_periodic = ignores_periodic};

  (void)ceed;
  int ierr = read_gmsh_file(&file, draft);

  clear_gmsh_reader(&file);
  return ierr;
}
