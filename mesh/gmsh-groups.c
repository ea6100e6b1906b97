// SPDX-License-Identifier: BSD-2-Clause
// Physical groups of a Gmsh file become boundary parts and regions. Called by mesh/gmsh-draft.c.
//
// A facet belongs to every group that its element is in; a cell to the first one only, because an element of
// a mesh has one region. When no element of the dimension is in a group, the tags of the geometric entities
// take the place of groups. Otherwise what is in no group gets no label, or region 0.
#include <stdlib.h>

#include "mesh/gmsh.h"

static int compare_entity(const void *key, const void *entity) {
  const RitzGmshEntity *a = key, *b = entity;

  if (a->dim != b->dim) return a->dim < b->dim ? -1 : 1;
  return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int element_dim(const RitzGmshElement *element) { return ritz_shapes[element->type->shape].dim; }

// The groups of an element: directly in version 2.2, through its entity in 4.1.
static int find_groups(const RitzGmshFile *file, const RitzGmshElement *element, int64_t *num,
                       const int32_t **groups) {
  *num = element->physical != 0;
  *groups = &element->physical;
  if (file->version == 2 || !file->has_entities) return CEED_ERROR_SUCCESS;
  const RitzGmshEntity key = {.dim = element_dim(element), .tag = element->entity};
  const RitzGmshEntity *entity =
      file->num_entities
          ? bsearch(&key, file->entities, (size_t)file->num_entities, sizeof(key), compare_entity)
          : NULL;

  if (!entity)
    return ritz_text_fail_at(file->text, element->place, CEED_ERROR_MAJOR,
                             "the element is on entity %d of dimension %d, which $Entities does not list",
                             (int)key.tag, key.dim);
  *num = entity->num;
  *groups = entity->num ? &file->groups[entity->first] : NULL;
  return CEED_ERROR_SUCCESS;
}

// The names of groups of one dimension, sorted. *known is new.
static int list_names(const RitzGmshFile *file, int dim, int64_t *num_known, RitzReaderName **known) {
  *num_known = 0;
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)file->num_names, known));
  for (int64_t i = 0; i < file->num_names; i++) {
    const RitzGmshName *name = &file->names[i];

    if (name->dim == dim) (*known)[(*num_known)++] = (RitzReaderName){name->tag, name->tag, name->name};
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Regions ----

// numbers[e] is the first group of cell e, or 0; *has_groups tells whether there is any.
static int find_cell_groups(const RitzGmshFile *file, const int64_t *cells, int64_t num_cells,
                            int64_t *numbers, bool *has_groups) {
  *has_groups = false;
  for (int64_t e = 0; e < num_cells; e++) {
    const int32_t *groups;
    int64_t num;

    RITZ_TRY(find_groups(file, &file->elements[cells[e]], &num, &groups));
    numbers[e] = num ? groups[0] : 0;
    *has_groups = *has_groups || num;
  }
  return CEED_ERROR_SUCCESS;
}

// Whether cells have any number at all; otherwise they stay in the default region of a draft.
static bool use_entities(const RitzGmshFile *file, const int64_t *cells, int64_t num_cells,
                         int64_t *numbers) {
  bool is_any = false;

  for (int64_t e = 0; e < num_cells; e++) {
    numbers[e] = file->elements[cells[e]].entity;
    is_any = is_any || numbers[e] != 0;
  }
  return is_any;
}

static int fill_regions(const RitzGmshFile *file, const int64_t *cells, int64_t *numbers,
                        RitzMeshDraft *draft) {
  bool has_groups;
  int64_t num_known;
  RitzReaderName *known;

  RITZ_TRY(find_cell_groups(file, cells, draft->num_elem, numbers, &has_groups));
  if (!has_groups && !use_entities(file, cells, draft->num_elem, numbers)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)draft->num_elem, &draft->elem_regions));
  for (int64_t e = 0; e < draft->num_elem; e++) draft->elem_regions[e] = (int32_t)numbers[e];
  RITZ_TRY(list_names(file, draft->dim, &num_known, &known));
  int ierr = ritz_reader_collect_names(file->text->ceed, draft->num_elem, numbers, has_groups ? num_known : 0,
                                       known, &draft->num_regions, &draft->regions, NULL);

  RITZ_FREE(&known);
  return ierr;
}

int ritz_gmsh_name_regions(const RitzGmshFile *file, const int64_t *cells, RitzMeshDraft *draft) {
  int64_t *numbers;

  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)draft->num_elem, &numbers));
  int ierr = fill_regions(file, cells, numbers, draft);

  RITZ_FREE(&numbers);
  return ierr;
}

// ---- Boundary parts ----

typedef struct {
  const RitzGmshFile *file; // borrowed
  const bool *is_used;      // borrowed
  RitzMeshDraft *draft;     // borrowed
  int max_corners;          // of a facet
  bool has_groups;
  int64_t capacity;
  int64_t *keys; // owned, [draft->num_labels]: group or entity
} Labels;

static bool is_on_cells(const Labels *labels, const RitzGmshElement *element) {
  for (int i = 0; i < ritz_shapes[element->type->shape].num_corners; i++) {
    if (!labels->is_used[labels->file->tags[element->first + i]]) return false;
  }
  return true;
}

// Grows all arrays of labels to the same capacity, so that they can be filled one by one.
static int reserve_labels(Labels *labels, int64_t needed) {
  RitzMeshDraft *draft = labels->draft;
  Ceed ceed = labels->file->text->ceed;
  int64_t room = labels->capacity + labels->capacity / 2;

  if (needed <= labels->capacity) return CEED_ERROR_SUCCESS;
  if (room < needed) room = needed;
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)(room * labels->max_corners), &draft->label_vertices));
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)room, &draft->label_part));
  if (!labels->file->is_binary) RITZ_TRY(RITZ_REALLOC(ceed, (size_t)room, &draft->label_place));
  RITZ_TRY(RITZ_REALLOC(ceed, (size_t)room, &labels->keys));
  labels->capacity = room;
  return CEED_ERROR_SUCCESS;
}

static int add_label(Labels *labels, const RitzGmshElement *element, int64_t key) {
  RitzMeshDraft *draft = labels->draft;
  const RitzMeshText *text = labels->file->text;
  int64_t label = draft->num_labels;

  if (label >= text->size)
    return ritz_text_fail_at(
        text, element->place, CEED_ERROR_UNSUPPORTED,
        "the physical groups overlap so much that memory for them would exceed all bounds");
  RITZ_TRY(reserve_labels(labels, label + 1));
  int64_t *vertices = &draft->label_vertices[label * labels->max_corners];

  for (int i = 0; i < labels->max_corners; i++) {
    vertices[i] =
        i < ritz_shapes[element->type->shape].num_corners ? labels->file->tags[element->first + i] : -1;
  }
  if (draft->label_place) draft->label_place[label] = element->place;
  labels->keys[label] = key;
  draft->num_labels++;
  return CEED_ERROR_SUCCESS;
}

// An entity without a group labels facets only where no groups are used; what lies off the cells (a curve
// that bounds nothing, the centre of an arc) labels nothing.
static int add_labels_of(Labels *labels, const RitzGmshElement *element) {
  int64_t num;
  const int32_t *groups;

  RITZ_TRY(find_groups(labels->file, element, &num, &groups));
  for (int64_t g = 0; g < num; g++) RITZ_TRY(add_label(labels, element, groups[g]));
  if (labels->has_groups || element->entity == 0 || !is_on_cells(labels, element)) return CEED_ERROR_SUCCESS;
  return add_label(labels, element, element->entity);
}

static int find_facet_groups(Labels *labels) {
  const RitzGmshFile *file = labels->file;

  for (int64_t i = 0; i < file->num_elements && !labels->has_groups; i++) {
    const int32_t *groups;
    int64_t num;

    if (element_dim(&file->elements[i]) != labels->draft->dim - 1) continue;
    RITZ_TRY(find_groups(file, &file->elements[i], &num, &groups));
    labels->has_groups = num > 0;
  }
  return CEED_ERROR_SUCCESS;
}

static int fill_parts(Labels *labels) {
  const RitzGmshFile *file = labels->file;
  RitzMeshDraft *draft = labels->draft;
  int64_t num_known;
  RitzReaderName *known;

  RITZ_TRY(find_facet_groups(labels));
  for (int64_t i = 0; i < file->num_elements; i++) {
    if (element_dim(&file->elements[i]) != draft->dim - 1) continue;
    RITZ_TRY(
        ritz_reader_check_facet(file->text, file->elements[i].place, file->elements[i].type->shape, draft));
    RITZ_TRY(add_labels_of(labels, &file->elements[i]));
  }
  RITZ_TRY(list_names(file, draft->dim - 1, &num_known, &known));
  int ierr = ritz_reader_collect_names(file->text->ceed, draft->num_labels, labels->keys,
                                       labels->has_groups ? num_known : 0, known, &draft->num_parts,
                                       &draft->parts, draft->label_part);

  RITZ_FREE(&known);
  return ierr;
}

int ritz_gmsh_name_parts(const RitzGmshFile *file, const bool *is_used, RitzMeshDraft *draft) {
  Labels labels = {.file = file, .is_used = is_used, .draft = draft};

  labels.max_corners = (int)ritz_mesh_power(2, draft->dim - 1);
  int ierr = fill_parts(&labels);

  RITZ_FREE(&labels.keys);
  return ierr;
}
