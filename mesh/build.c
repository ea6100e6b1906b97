// SPDX-License-Identifier: BSD-2-Clause
// From a draft to a mesh: checks, common facets, labels, names. Called by the readers and the box; the checks
// of single elements are in mesh/check.c.
#include "mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ritz_mesh_draft_clear(RitzMeshDraft *draft) {
  RITZ_FREE(&draft->elem_vertices);
  RITZ_FREE(&draft->coords);
  RITZ_FREE(&draft->elem_regions);
  RITZ_FREE(&draft->elem_place);
  ritz_mesh_names_clear(draft->num_regions, &draft->regions);
  ritz_mesh_names_clear(draft->num_parts, &draft->parts);
  for (int d = 0; d < RITZ_MESH_UNUSED_DIMS; d++)
    ritz_mesh_names_clear(draft->unused[d].num, &draft->unused[d].names);
  ritz_mesh_lists_clear(&draft->overlaps);
  RITZ_FREE(&draft->label_vertices);
  RITZ_FREE(&draft->label_part);
  RITZ_FREE(&draft->label_place);
  *draft = (RitzMeshDraft){0};
}

// A mesh under construction.
typedef struct {
  Ceed ceed;               // borrowed
  const char *source;      // borrowed
  RitzMeshDraft *draft;    // borrowed
  RitzMeshCells cells;     // of the draft
  RitzMeshTable table;     // owned: the facets of the mesh, where there are labels
  RitzMeshNumbers numbers; // owned: the facets of the elements
  int64_t *first, *second; // owned, [facets of the mesh]: place of both sides, or -1
  int64_t num_marks;
  RitzMeshMark *marks; // owned
} Build;

static void clear_build(Build *b) {
  ritz_mesh_table_clear(&b->table);
  RITZ_FREE(&b->numbers.numbers);
  RITZ_FREE(&b->first);
  RITZ_FREE(&b->second);
  RITZ_FREE(&b->marks);
}

// ---- Facets ----

// A place tells which facet of which element: element * RITZ_MESH_MAX_FACETS + facet.
static int64_t element_of(int64_t place) { return place / RITZ_MESH_MAX_FACETS; }
static int facet_of(int64_t place) { return (int)(place % RITZ_MESH_MAX_FACETS); }

// The vertex of a quadrilateral facet that lies opposite to its smallest one.
static int64_t opposite_vertex(const Build *b, int64_t place) {
  const RitzMeshDraft *draft = b->draft;
  const RitzMeshBlock *block =
      &draft->blocks[ritz_mesh_find_block(draft->num_blocks, draft->blocks, element_of(place))];
  const int8_t *corner = ritz_mesh_shape(block->topology)->facets.corner[facet_of(place)];
  const int64_t *vertices =
      draft->elem_vertices + block->corner_base + (element_of(place) - block->first) * block->num_corners;
  int smallest = 0;

  for (int k = 1; k < 4; k++) {
    if (vertices[corner[k]] < vertices[corner[smallest]]) smallest = k;
  }
  return vertices[corner[3 - smallest]];
}

static int join_facet(Build *b, int64_t place, int64_t facet, bool is_quad) {
  int64_t elem = element_of(place);

  if (b->first[facet] < 0) {
    b->first[facet] = place;
    return CEED_ERROR_SUCCESS;
  }
  int64_t first_elem = element_of(b->first[facet]);

  if (b->second[facet] >= 0) {
    return ritz_mesh_error(b->ceed, b->source, b->draft->elem_place, elem, CEED_ERROR_MAJOR,
                           "elements %lld, %lld and %lld share a facet, at most two may",
                           (long long)first_elem, (long long)element_of(b->second[facet]), (long long)elem);
  }
  b->second[facet] = place;
  if (is_quad && opposite_vertex(b, b->first[facet]) != opposite_vertex(b, place)) {
    return ritz_mesh_error(b->ceed, b->source, b->draft->elem_place, elem, CEED_ERROR_MAJOR,
                           "elements %lld and %lld have the vertices of a facet in different cyclic order",
                           (long long)first_elem, (long long)elem);
  }
  return CEED_ERROR_SUCCESS;
}

static int join_facets_of(Build *b, int index) {
  const RitzMeshBlock *block = &b->draft->blocks[index];
  const RitzMeshEntities *facets = &ritz_mesh_shape(block->topology)->facets;
  const int64_t *numbers = b->numbers.numbers + b->numbers.base[index];

  for (int64_t e = 0; e < block->num_elem; e++) {
    for (int i = 0; i < facets->num; i++) {
      RITZ_TRY(join_facet(b, (block->first + e) * RITZ_MESH_MAX_FACETS + i, *numbers++,
                          ritz_mesh_entity_size(facets, i) == 4));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int find_facets(Build *b) {
  const RitzMeshDraft *draft = b->draft;

  b->cells = ritz_mesh_draft_cells(b->ceed, draft);
  RITZ_TRY(ritz_mesh_number_entities(&b->cells, RITZ_MESH_FACETS, &b->numbers));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->numbers.num, &b->first));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->numbers.num, &b->second));
  for (int64_t i = 0; i < b->numbers.num; i++) b->first[i] = b->second[i] = -1;
  for (int i = 0; i < draft->num_blocks; i++) RITZ_TRY(join_facets_of(b, i));
  return CEED_ERROR_SUCCESS;
}

// ---- Marks ----

static void append_mark(Build *b, int64_t facet, int32_t part) {
  int64_t place = b->first[facet];

  b->marks[b->num_marks++] =
      (RitzMeshMark){.elem = element_of(place), .part = part, .facet = (int8_t)facet_of(place)};
}

static int append_label(Build *b, int64_t label) {
  const RitzMeshDraft *draft = b->draft;
  const int num_corners = b->table.width;
  int32_t part = draft->label_part[label];
  int64_t key[4];

  if (part < 0 || part >= draft->num_parts) {
    return ritz_mesh_error(b->ceed, b->source, draft->label_place, label, CEED_ERROR_MAJOR,
                           "a boundary facet belongs to part %d, there are %d", (int)part,
                           (int)draft->num_parts);
  }
  memcpy(key, draft->label_vertices + label * num_corners, (size_t)num_corners * sizeof(*key));
  ritz_mesh_sort_vertices(num_corners, key);
  int64_t facet = ritz_mesh_table_find(&b->table, key);

  if (facet < 0) {
    return ritz_mesh_error(b->ceed, b->source, draft->label_place, label, CEED_ERROR_MAJOR,
                           "boundary facet %lld, in part '%.100s', is not a facet of any element",
                           (long long)label, draft->parts[part].name);
  }
  append_mark(b, facet, part);
  return CEED_ERROR_SUCCESS;
}

// The sides of a box: the elements of each, as exterior and as the part of their number.
static int mark_sides(Build *b) {
  const int64_t *n = b->draft->grid;

  RITZ_TRY(RITZ_MALLOC(b->ceed, 2 * (size_t)b->draft->num_labels, &b->marks));
  for (int side = 0; side < 2 * b->draft->dim; side++) {
    const int d = side / 2;
    const int64_t stride = d == 0 ? 1 : d == 1 ? n[0] : n[0] * n[1];

    for (int64_t row = side % 2 ? (n[d] - 1) * stride : 0; row < b->draft->num_elem; row += n[d] * stride) {
      for (int64_t e = row; e < row + stride; e++) {
        b->marks[b->num_marks++] =
            (RitzMeshMark){.elem = e, .part = RITZ_MESH_EXTERIOR, .facet = (int8_t)side};
        b->marks[b->num_marks++] = (RitzMeshMark){.elem = e, .part = side, .facet = (int8_t)side};
      }
    }
  }
  ritz_mesh_marks_sort(&b->num_marks, b->marks);
  return CEED_ERROR_SUCCESS;
}

static int mark_facets(Build *b) {
  int64_t num_exterior = 0;

  if (b->draft->num_labels > 0)
    RITZ_TRY(ritz_mesh_table_entities(&b->cells, RITZ_MESH_FACETS, &b->numbers, &b->table));
  for (int64_t i = 0; i < b->numbers.num; i++) num_exterior += b->second[i] < 0;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)(num_exterior + b->draft->num_labels), &b->marks));
  for (int64_t i = 0; i < b->numbers.num; i++) {
    if (b->second[i] < 0) append_mark(b, i, RITZ_MESH_EXTERIOR);
  }
  for (int64_t i = 0; i < b->draft->num_labels; i++) RITZ_TRY(append_label(b, i));
  ritz_mesh_marks_sort(&b->num_marks, b->marks);
  return CEED_ERROR_SUCCESS;
}

// ---- Names ----

static int name_by_number(Ceed ceed, CeedInt num, RitzMeshName *names) {
  for (CeedInt i = 0; i < num; i++) {
    char text[16];

    if (names[i].name) continue;
    snprintf(text, sizeof(text), "%d", (int)names[i].number);
    RITZ_TRY(ritz_strdup(ceed, text, &names[i].name));
  }
  return CEED_ERROR_SUCCESS;
}

static int compare_numbers(const void *a, const void *b) {
  int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;

  return (first > second) - (first < second);
}

// Order of regions: by number, named ones first.
static int compare_regions(const void *a, const void *b) {
  const RitzMeshName *first = a, *second = b;

  if (first->number != second->number) return first->number < second->number ? -1 : 1;
  if (!first->name || !second->name) return (second->name != NULL) - (first->name != NULL);
  return strcmp(first->name, second->name);
}

// The distinct numbers of regions among the elements, ascending.
static int find_region_numbers(Build *b, int64_t *num, int32_t **numbers) {
  const int32_t *all = b->draft->elem_regions;
  int64_t num_runs = 0;

  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->draft->num_elem, numbers));
  for (int64_t e = 0; e < b->draft->num_elem; e++) {
    if (all[e] < 0 && b->draft->overlaps.num > 0) continue;
    if (num_runs == 0 || all[e] != (*numbers)[num_runs - 1]) (*numbers)[num_runs++] = all[e];
  }
  qsort(*numbers, (size_t)num_runs, sizeof(**numbers), compare_numbers);
  *num = 0;
  for (int64_t i = 0; i < num_runs; i++) {
    if (i == 0 || (*numbers)[i] != (*numbers)[i - 1]) (*numbers)[(*num)++] = (*numbers)[i];
  }
  return CEED_ERROR_SUCCESS;
}

// Keeps the first region of each number.
static void drop_repeated_regions(RitzMeshDraft *draft) {
  CeedInt num_kept = 0;

  for (CeedInt i = 0; i < draft->num_regions; i++) {
    if (num_kept > 0 && draft->regions[num_kept - 1].number == draft->regions[i].number) {
      RITZ_FREE(&draft->regions[i].name);
    } else {
      draft->regions[num_kept++] = draft->regions[i];
    }
  }
  draft->num_regions = num_kept;
}

// The draft's regions and those that only elements know, ascending by number.
static int complete_regions(Build *b) {
  RitzMeshDraft *draft = b->draft;
  int64_t num_numbers = 0, num_regions = draft->num_regions;
  int32_t *numbers = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (!draft->elem_regions) {
    RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)draft->num_elem, &draft->elem_regions));
    for (int64_t e = 0; e < draft->num_elem; e++) draft->elem_regions[e] = 1;
  }
  RITZ_TRY_CLEANUP(find_region_numbers(b, &num_numbers, &numbers));
  num_regions += num_numbers;
  if (num_regions > INT32_MAX) {
    ierr = ritz_mesh_error(b->ceed, b->source, NULL, 0, CEED_ERROR_MAJOR, "%lld regions are too many",
                           (long long)num_regions);
    goto cleanup;
  }
  RITZ_TRY_CLEANUP(RITZ_REALLOC(b->ceed, (size_t)num_regions, &draft->regions));
  for (int64_t i = 0; i < num_numbers; i++) {
    draft->regions[draft->num_regions++] = (RitzMeshName){.name = NULL, .number = numbers[i]};
  }
  qsort(draft->regions, (size_t)draft->num_regions, sizeof(*draft->regions), compare_regions);
  drop_repeated_regions(draft);
  ierr = name_by_number(b->ceed, draft->num_regions, draft->regions);

cleanup:
  RITZ_FREE(&numbers);
  return ierr;
}

// ---- Vertices ----

// Numbers the vertices that elements use 0, 1, ..., keeping their order.
static int drop_unused_vertices(Build *b) {
  RitzMeshDraft *draft = b->draft;
  int64_t num_entries = draft->num_places, num_used = 0, *new_number;

  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)draft->num_vertices, &new_number));
  for (int64_t i = 0; i < num_entries; i++) new_number[draft->elem_vertices[i]] = 1;
  for (int64_t v = 0; v < draft->num_vertices; v++) {
    if (new_number[v]) new_number[v] = num_used++;
  }
  for (int64_t i = 0; i < num_entries; i++) draft->elem_vertices[i] = new_number[draft->elem_vertices[i]];
  draft->num_vertices = num_used;
  RITZ_FREE(&new_number);
  return CEED_ERROR_SUCCESS;
}

// ---- All together ----

static int check_draft(Build *b) {
  RITZ_TRY(ritz_mesh_check_sizes(b->ceed, b->source, b->draft));
  if (b->draft->grid[0]) return ritz_mesh_check_orientation(b->ceed, b->source, b->draft, true);
  RITZ_TRY(ritz_mesh_check_vertices(b->ceed, b->source, b->draft));
  RITZ_TRY(ritz_mesh_check_coordinates(b->ceed, b->source, b->draft));
  RITZ_TRY(ritz_mesh_check_duplicates(b->ceed, b->source, b->draft));
  return ritz_mesh_check_orientation(b->ceed, b->source, b->draft, true);
}

int ritz_mesh_create_from(Ceed ceed, RitzMeshDraft *draft, RitzMesh *mesh) {
  RitzMesh m;

  RITZ_TRY(ritz_mesh_create_empty(ceed, &m));
  m->dim = draft->dim;
  m->space_dim = draft->space_dim;
  m->order = draft->order;
  m->num_blocks = draft->num_blocks;
  memcpy(m->blocks, draft->blocks, sizeof(m->blocks));
  m->num_elem = draft->num_elem;
  m->num_vertices = draft->num_vertices;
  m->num_points = draft->num_points;
  m->elem_vertices = draft->elem_vertices;
  m->coords = draft->coords;
  m->measure = draft->measure;
  memcpy(m->grid, draft->grid, sizeof(m->grid));
  m->is_rectangular = draft->is_rectangular;
  m->elem_regions = draft->elem_regions;
  m->num_regions = draft->num_regions;
  m->num_parts = draft->num_parts;
  m->regions = draft->regions;
  m->parts = draft->parts;
  draft->elem_vertices = NULL;
  draft->coords = NULL;
  draft->elem_regions = NULL;
  draft->regions = draft->parts = NULL;
  m->overlaps = draft->overlaps;
  draft->overlaps = (RitzMeshLists){0};
  memcpy(m->unused, draft->unused, sizeof(m->unused));
  memset(draft->unused, 0, sizeof(draft->unused));
  *mesh = m;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_build(Ceed ceed, const char *source, RitzMeshDraft *draft, RitzMesh *mesh) {
  Build b = {.ceed = ceed, .source = source, .draft = draft};
  int ierr = CEED_ERROR_SUCCESS;

  *mesh = NULL;
  RITZ_TRY_CLEANUP(check_draft(&b));
  RITZ_TRY_CLEANUP(name_by_number(ceed, draft->num_parts, draft->parts));
  if (draft->grid[0]) {
    RITZ_TRY_CLEANUP(mark_sides(&b));
  } else {
    RITZ_TRY_CLEANUP(find_facets(&b));
    RITZ_TRY_CLEANUP(mark_facets(&b));
    RITZ_TRY_CLEANUP(drop_unused_vertices(&b));
  }
  RITZ_TRY_CLEANUP(complete_regions(&b));
  RITZ_TRY_CLEANUP(ritz_mesh_create_from(ceed, draft, mesh));
  (*mesh)->num_marks = b.num_marks;
  (*mesh)->marks = b.marks;
  b.marks = NULL;

cleanup:
  clear_build(&b);
  ritz_mesh_draft_clear(draft);
  return ierr;
}
