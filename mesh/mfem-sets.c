// SPDX-License-Identifier: BSD-2-Clause
// Attributes of MFEM meshes and their named sets (version 1.3) become boundary parts and regions. Called by
// mesh/mfem.c.
//
// A boundary attribute that stands in one set or several belongs to the parts named after these sets; any
// other attribute n is the part "n". A region is an attribute of elements; it takes the name of a set that
// holds nothing else.
#include <stdlib.h>

#include "mesh/mfem.h"

// Keys of parts: attributes are their own keys, sets follow behind all of them.
static const int64_t set_key = INT64_C(1) << 32;

static int compare_pairs(const void *pa, const void *pb) {
  const RitzMfemPair *a = pa, *b = pb;

  if (a->attribute != b->attribute) return a->attribute < b->attribute ? -1 : 1;
  return a->set < b->set ? -1 : a->set > b->set;
}

static int read_set(RitzMeshText *text, RitzMfemSets *sets) {
  int64_t size, attribute, set = sets->num;

  RITZ_TRY(
      ritz_mesh_reserve(text->ceed, set + 1, sizeof(*sets->names), &sets->capacity, (void **)&sets->names));
  RITZ_TRY(ritz_text_name(text, "the name of a set", &sets->names[set]));
  sets->num = set + 1;
  RITZ_TRY(ritz_text_count(text, "the size of a set", 1, &size));
  RITZ_TRY(ritz_mesh_reserve(text->ceed, sets->num_pairs + size, sizeof(*sets->pairs), &sets->pairs_capacity,
                             (void **)&sets->pairs));
  for (int64_t i = 0; i < size; i++) {
    RITZ_TRY(ritz_text_int(text, "an attribute of a set", INT32_MIN, INT32_MAX, &attribute));
    sets->pairs[sets->num_pairs++] = (RitzMfemPair){attribute, set};
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mfem_read_sets(RitzMeshText *text, RitzMfemSets *sets) {
  int64_t num, kept = 0;

  RITZ_TRY(ritz_text_count(text, "the number of sets", 2, &num));
  while (sets->num < num) RITZ_TRY(read_set(text, sets));
  if (sets->num_pairs) qsort(sets->pairs, (size_t)sets->num_pairs, sizeof(*sets->pairs), compare_pairs);
  for (int64_t i = 0; i < sets->num_pairs; i++) {
    if (i == 0 || compare_pairs(&sets->pairs[i - 1], &sets->pairs[i])) sets->pairs[kept++] = sets->pairs[i];
  }
  sets->num_pairs = kept;
  return CEED_ERROR_SUCCESS;
}

void ritz_mfem_sets_clear(RitzMfemSets *sets) {
  for (int64_t s = 0; s < sets->num; s++) RITZ_FREE(&sets->names[s]);
  RITZ_FREE(&sets->names);
  RITZ_FREE(&sets->pairs);
}

// The pairs of an attribute: *first .. *first + result.
static int64_t find_pairs(const RitzMfemSets *sets, int64_t attribute, int64_t *first) {
  int64_t low = 0, high = sets->num_pairs;

  while (low < high) {
    int64_t middle = low + (high - low) / 2;

    if (sets->pairs[middle].attribute < attribute)
      low = middle + 1;
    else
      high = middle;
  }
  *first = low;
  while (high < sets->num_pairs && sets->pairs[high].attribute == attribute) high++;
  return high - low;
}

// ---- Boundary parts ----

// Every boundary element gives one label for each part it belongs to.
static int count_labels(const RitzMfemFile *file, int64_t *num_labels) {
  int64_t num = 0, first;

  for (int64_t i = 0; i < file->boundary.num; i++) {
    int64_t num_sets = find_pairs(&file->boundary_sets, file->boundary.attributes[i], &first);

    num += num_sets ? num_sets : 1;
    if (num > file->text->size)
      return ritz_text_fail_at(
          file->text, file->boundary.places[i], CEED_ERROR_UNSUPPORTED,
          "the boundary sets overlap so much that memory for them would exceed all bounds");
  }
  *num_labels = num;
  return CEED_ERROR_SUCCESS;
}

static void add_label(const RitzMfemFile *file, int64_t i, int64_t key, RitzMeshDraft *draft, int64_t *keys) {
  const RitzMfemRecords *boundary = &file->boundary;
  int64_t max_corners = ritz_mesh_power(2, file->dim - 1), label = draft->num_labels++;
  int64_t *vertices = &draft->label_vertices[label * max_corners];

  for (int64_t c = 0; c < max_corners; c++) {
    vertices[c] =
        c < ritz_shapes[boundary->shapes[i]].num_corners ? boundary->vertices[boundary->first[i] + c] : -1;
  }
  draft->label_place[label] = boundary->places[i];
  keys[label] = key;
}

static void fill_labels(const RitzMfemFile *file, RitzMeshDraft *draft, int64_t *keys) {
  const RitzMfemSets *sets = &file->boundary_sets;

  for (int64_t i = 0; i < file->boundary.num; i++) {
    int64_t attribute = file->boundary.attributes[i], first, num_sets = find_pairs(sets, attribute, &first);

    if (!num_sets) add_label(file, i, attribute, draft, keys);
    for (int64_t s = 0; s < num_sets; s++)
      add_label(file, i, set_key + sets->pairs[first + s].set, draft, keys);
  }
}

// The number of a part made of a set is the smallest attribute of the set.
static void fill_set_names(const RitzMfemSets *sets, RitzReaderName *known) {
  for (int64_t s = 0; s < sets->num; s++) known[s] = (RitzReaderName){set_key + s, 0, sets->names[s]};
  for (int64_t i = sets->num_pairs - 1; i >= 0; i--) {
    known[sets->pairs[i].set].number = (int32_t)sets->pairs[i].attribute;
  }
}

int ritz_mfem_name_parts(const RitzMfemFile *file, RitzMeshDraft *draft) {
  int ierr = CEED_ERROR_SUCCESS;
  int64_t num_labels = 0, max_corners = ritz_mesh_power(2, file->dim - 1), *keys = NULL;
  RitzReaderName *known = NULL;
  Ceed ceed = file->text->ceed;

  RITZ_TRY(count_labels(file, &num_labels));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_labels * max_corners), &draft->label_vertices));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_labels, &draft->label_part));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_labels, &draft->label_place));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_labels, &keys));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)file->boundary_sets.num, &known));
  fill_labels(file, draft, keys);
  fill_set_names(&file->boundary_sets, known);
  RITZ_TRY_CLEANUP(ritz_reader_collect_names(ceed, num_labels, keys, file->boundary_sets.num, known,
                                             &draft->num_parts, &draft->parts, draft->label_part));
cleanup:
  RITZ_FREE(&known);
  RITZ_FREE(&keys);
  return ierr;
}

// ---- Regions ----

// The sets of one attribute, sorted by it; of several with the same attribute the first.
static int64_t fill_region_names(const RitzMfemSets *sets, int64_t *set_sizes, RitzReaderName *known) {
  int64_t num = 0;

  for (int64_t i = 0; i < sets->num_pairs; i++) set_sizes[sets->pairs[i].set]++;
  for (int64_t i = 0; i < sets->num_pairs; i++) {
    int64_t attribute = sets->pairs[i].attribute, set = sets->pairs[i].set;

    if (set_sizes[set] != 1 || (num > 0 && known[num - 1].key == attribute)) continue;
    known[num++] = (RitzReaderName){attribute, (int32_t)attribute, sets->names[set]};
  }
  return num;
}

int ritz_mfem_name_regions(const RitzMfemFile *file, RitzMeshDraft *draft) {
  int ierr = CEED_ERROR_SUCCESS;
  int64_t *keys = NULL, *set_sizes = NULL, num_elem = file->elements.num;
  const RitzMfemSets *sets = &file->element_sets;
  RitzReaderName *known = NULL;
  Ceed ceed = file->text->ceed;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_elem, &keys));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)sets->num, &set_sizes));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)sets->num, &known));
  for (int64_t e = 0; e < num_elem; e++) keys[e] = file->elements.attributes[e];
  int64_t num_known = fill_region_names(sets, set_sizes, known);

  RITZ_TRY_CLEANUP(ritz_reader_collect_names(ceed, num_elem, keys, num_known, known, &draft->num_regions,
                                             &draft->regions, NULL));
cleanup:
  RITZ_FREE(&known);
  RITZ_FREE(&set_sizes);
  RITZ_FREE(&keys);
  return ierr;
}
