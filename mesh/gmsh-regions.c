// SPDX-License-Identifier: BSD-2-Clause
// Cells' groups of a Gmsh file become regions. Called by mesh/gmsh-draft.c.
//
// A cell belongs to every group that it is in. When no cell is in a group, the tags of the geometric entities
// take the place of groups. Otherwise what is in no group is in region 0. Cells of groups that overlap get
// the number -1 - k of a list of groups, also those that are in one of them alone.
#include "mesh/gmsh.h"

typedef struct {
  const RitzGmshFile *file; // borrowed
  const int64_t *cells;     // borrowed
  RitzMeshDraft *draft;     // borrowed
  bool has_groups, has_overlaps;
  RitzMeshTable overlapping; // owned: groups that share a cell with another one
  RitzMeshTable prefixes;    // owned: (what a list has before its last group or 0, the last group)
  RitzMeshTable lists;       // owned: those of the prefixes that are lists of cells
  int64_t *keys;             // owned: groups or entities of cells, then the overlapping groups
} Regions;

static int find_groups(const Regions *r, int64_t e, int64_t *num, const int32_t **groups) {
  return ritz_gmsh_find_groups(r->file, &r->file->elements[r->cells[e]], num, groups);
}

static int look_at_groups(Regions *r) {
  for (int64_t e = 0; e < r->draft->num_elem; e++) {
    const int32_t *groups;
    int64_t num;

    RITZ_TRY(find_groups(r, e, &num, &groups));
    r->has_groups = r->has_groups || num > 0;
    r->has_overlaps = r->has_overlaps || num > 1;
  }
  return CEED_ERROR_SUCCESS;
}

// Cells without any number stay in the default region of a draft.
static int take_entities(Regions *r) {
  RitzMeshDraft *draft = r->draft;
  bool is_any = false;

  for (int64_t e = 0; e < draft->num_elem && !is_any; e++)
    is_any = r->file->elements[r->cells[e]].entity != 0;
  if (!is_any) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(r->file->text->ceed, (size_t)draft->num_elem, &draft->elem_regions));
  for (int64_t e = 0; e < draft->num_elem; e++)
    draft->elem_regions[e] = r->file->elements[r->cells[e]].entity;
  return CEED_ERROR_SUCCESS;
}

static int take_groups(Regions *r) {
  RitzMeshDraft *draft = r->draft;

  RITZ_TRY(RITZ_MALLOC(r->file->text->ceed, (size_t)draft->num_elem, &draft->elem_regions));
  for (int64_t e = 0; e < draft->num_elem; e++) {
    const int32_t *groups;
    int64_t num;

    RITZ_TRY(find_groups(r, e, &num, &groups));
    draft->elem_regions[e] = num ? groups[0] : 0;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Overlaps ----

static int find_overlapping(Regions *r) {
  const Ceed ceed = r->file->text->ceed;

  for (int64_t e = 0; e < r->draft->num_elem; e++) {
    const int32_t *groups;
    int64_t num, number;

    RITZ_TRY(find_groups(r, e, &num, &groups));
    for (int64_t g = 0; g < num && num > 1; g++) {
      const int64_t key = groups[g];

      RITZ_TRY(ritz_mesh_table_insert(ceed, &r->overlapping, &key, &number));
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Equal lists, which ascend, get one number.
static int number_list(Regions *r, int64_t num, const int32_t *groups, int64_t *number) {
  const Ceed ceed = r->file->text->ceed;
  int64_t prefix = 0;

  for (int64_t g = 0; g < num; g++) {
    const int64_t key[2] = {g > 0 ? prefix + 1 : 0, groups[g]};

    RITZ_TRY(ritz_mesh_table_insert(ceed, &r->prefixes, key, &prefix));
  }
  RITZ_TRY(ritz_mesh_table_insert(ceed, &r->lists, &prefix, number));
  if (*number < r->draft->overlaps.num) return CEED_ERROR_SUCCESS;
  if (*number == INT32_MAX)
    return ritz_text_fail(r->file->text, CEED_ERROR_UNSUPPORTED,
                          "the physical groups overlap in more than %d ways", INT32_MAX);
  return ritz_mesh_lists_append(ceed, &r->draft->overlaps, num, groups);
}

static int number_overlaps(Regions *r) {
  for (int64_t e = 0; e < r->draft->num_elem; e++) {
    const int32_t *groups;
    int64_t num, number;

    RITZ_TRY(find_groups(r, e, &num, &groups));
    const int64_t key = num ? groups[0] : 0;

    if (num == 0 || (num == 1 && ritz_mesh_table_find(&r->overlapping, &key) < 0)) continue;
    RITZ_TRY(number_list(r, num, groups, &number));
    r->draft->elem_regions[e] = (int32_t)(-1 - number);
  }
  return CEED_ERROR_SUCCESS;
}

static int find_overlaps(Regions *r) {
  const Ceed ceed = r->file->text->ceed;

  RITZ_TRY(ritz_mesh_table_create(ceed, 1, 0, &r->overlapping));
  RITZ_TRY(ritz_mesh_table_create(ceed, 2, 0, &r->prefixes));
  RITZ_TRY(ritz_mesh_table_create(ceed, 1, 0, &r->lists));
  RITZ_TRY(find_overlapping(r));
  return number_overlaps(r);
}

// ---- All together ----

static int name_regions(Regions *r) {
  const RitzGmshFile *file = r->file;
  RitzMeshDraft *draft = r->draft;
  int64_t num_known, num_keys = 0;
  RitzReaderName *known;

  RITZ_TRY(RITZ_MALLOC(file->text->ceed, (size_t)(draft->num_elem + r->overlapping.num_keys), &r->keys));
  for (int64_t e = 0; e < draft->num_elem; e++) {
    if (draft->elem_regions[e] >= 0 || !r->has_overlaps) r->keys[num_keys++] = draft->elem_regions[e];
  }
  for (int64_t i = 0; i < r->overlapping.num_keys; i++) r->keys[num_keys++] = r->overlapping.keys[i];
  RITZ_TRY(ritz_gmsh_list_names(file, draft->dim, &num_known, &known));
  const int ierr =
      ritz_reader_collect_names(file->text->ceed, num_keys, r->keys, r->has_groups ? num_known : 0, known,
                                &draft->num_regions, &draft->regions, NULL);

  RITZ_FREE(&known);
  return ierr;
}

static int fill_regions(Regions *r) {
  RITZ_TRY(look_at_groups(r));
  RITZ_TRY(r->has_groups ? take_groups(r) : take_entities(r));
  if (!r->draft->elem_regions) return CEED_ERROR_SUCCESS;
  if (r->has_overlaps) RITZ_TRY(find_overlaps(r));
  return name_regions(r);
}

int ritz_gmsh_name_regions(const RitzGmshFile *file, const int64_t *cells, RitzMeshDraft *draft) {
  Regions r = {.file = file, .cells = cells, .draft = draft};
  const int ierr = fill_regions(&r);

  ritz_mesh_table_clear(&r.overlapping);
  ritz_mesh_table_clear(&r.prefixes);
  ritz_mesh_table_clear(&r.lists);
  RITZ_FREE(&r.keys);
  return ierr;
}
