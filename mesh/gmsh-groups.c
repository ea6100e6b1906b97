// SPDX-License-Identifier: BSD-2-Clause
// Physical groups of a Gmsh file become boundary parts. Called by mesh/gmsh-draft.c.
//
// A facet belongs to every group that its element is in. When no element of the dimension is in a group, the
// tags of the geometric entities take the place of groups. Otherwise what is in no group gets no label.
#include <stdlib.h>

#include "mesh/gmsh.h"

static int compare_entity(const void *key, const void *entity) {
  const RitzGmshEntity *a = key, *b = entity;

  if (a->dim != b->dim) return a->dim < b->dim ? -1 : 1;
  return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int element_dim(const RitzGmshElement *element) { return ritz_shapes[element->type->shape].dim; }

int ritz_gmsh_find_groups(const RitzGmshFile *file, const RitzGmshElement *element, int64_t *num,
                          const int32_t **groups) {
  *num = element->physical != 0;
  *groups = &element->physical;
  if (element->physical < 0) {
    const int64_t *starts = file->shared.starts + (-1 - element->physical);

    *num = starts[1] - starts[0];
    *groups = file->shared.items + starts[0];
  }
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

int ritz_gmsh_list_names(const RitzGmshFile *file, int dim, int64_t *num_known, RitzReaderName **known) {
  *num_known = 0;
  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)file->num_names, known));
  for (int64_t i = 0; i < file->num_names; i++) {
    const RitzGmshName *name = &file->names[i];

    if (name->dim == dim) (*known)[(*num_known)++] = (RitzReaderName){name->tag, name->tag, name->name};
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Groups of points and curves ----

static int name_unused_of(const RitzGmshFile *file, int dim, RitzMeshUnused *unused) {
  const Ceed ceed = file->text->ceed;
  int64_t num_keys = 0, capacity = 0, num_known = 0, *keys = NULL;
  RitzReaderName *known = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  for (int64_t i = 0; i < file->num_elements; i++) {
    const int32_t *groups;
    int64_t num;

    if (element_dim(&file->elements[i]) != dim) continue;
    RITZ_TRY_CLEANUP(ritz_gmsh_find_groups(file, &file->elements[i], &num, &groups));
    for (int64_t g = 0; g < num; g++) {
      if (num_keys > 0 && keys[num_keys - 1] == groups[g]) continue;
      RITZ_TRY_CLEANUP(ritz_mesh_reserve(ceed, num_keys + 1, sizeof(*keys), &capacity, (void **)&keys));
      keys[num_keys++] = groups[g];
    }
  }
  RITZ_TRY_CLEANUP(ritz_gmsh_list_names(file, dim, &num_known, &known));
  ierr =
      ritz_reader_collect_names(ceed, num_keys, keys, num_known, known, &unused->num, &unused->names, NULL);

cleanup:
  RITZ_FREE(&known);
  RITZ_FREE(&keys);
  return ierr;
}

int ritz_gmsh_name_unused(const RitzGmshFile *file, RitzMeshDraft *draft) {
  for (int dim = 0; dim < draft->dim - 1; dim++) RITZ_TRY(name_unused_of(file, dim, &draft->unused[dim]));
  return CEED_ERROR_SUCCESS;
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

  RITZ_TRY(ritz_gmsh_find_groups(labels->file, element, &num, &groups));
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
    RITZ_TRY(ritz_gmsh_find_groups(file, &file->elements[i], &num, &groups));
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
  RITZ_TRY(ritz_gmsh_list_names(file, draft->dim - 1, &num_known, &known));
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
