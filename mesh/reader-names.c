// SPDX-License-Identifier: BSD-2-Clause
// Names of boundary parts and regions from the numbers and names of a file (contract in mesh/reader.h).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/reader.h"

static int compare_keys(const void *pa, const void *pb) {
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

  return a < b ? -1 : a > b;
}

static int compare_known(const void *key, const void *known) {
  return compare_keys(key, &((const RitzReaderName *)known)->key);
}

// The distinct keys, ascending. Keys come in long runs: repetitions are left out before sorting.
static int find_distinct(Ceed ceed, int64_t num, const int64_t *keys, int64_t *num_distinct,
                         int64_t **distinct) {
  int64_t capacity = 0, n = 0, kept = 0;
  int64_t *list = NULL;

  for (int64_t i = 0; i < num; i++) {
    if (i > 0 && keys[i] == keys[i - 1]) continue;
    int ierr = ritz_mesh_reserve(ceed, n + 1, sizeof(*list), &capacity, (void **)&list);

    if (ierr) {
      RITZ_FREE(&list);
      return ierr;
    }
    list[n++] = keys[i];
  }
  if (n > 0) qsort(list, (size_t)n, sizeof(*list), compare_keys);
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
  }
  *num_distinct = kept;
  *distinct = list;
  return CEED_ERROR_SUCCESS;
}

static int make_name(Ceed ceed, int64_t key, int64_t num_known, const RitzReaderName *known,
                     RitzMeshName *name) {
  const RitzReaderName *found =
      num_known ? bsearch(&key, known, (size_t)num_known, sizeof(*known), compare_known) : NULL;
  char number[16];

  name->number = found ? found->number : (int32_t)key;
  snprintf(number, sizeof(number), "%" PRId32, name->number);
  return ritz_strdup(ceed, found && found->name && found->name[0] ? found->name : number, &name->name);
}

// A name with its place in the list, to bring equal names together.
typedef struct {
  const char *name; // borrowed
  int64_t place;
} Entry;

static int compare_names(const void *pa, const void *pb) {
  const Entry *a = pa, *b = pb;
  int order = strcmp(a->name, b->name);

  return order ? order : compare_keys(&a->place, &b->place);
}

// Keeps the first of equal names; moved[i] is the new place of name i.
static int merge_equal_names(Ceed ceed, CeedInt *num, RitzMeshName *names, int32_t *moved) {
  Entry *entries;
  CeedInt kept = 0;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)*num, &entries));
  for (CeedInt i = 0; i < *num; i++) entries[i] = (Entry){names[i].name, i};
  if (*num > 0) qsort(entries, (size_t)*num, sizeof(*entries), compare_names);
  for (CeedInt i = 0; i < *num; i++) {
    bool same = i > 0 && !strcmp(entries[i].name, entries[i - 1].name);

    moved[entries[i].place] = same ? moved[entries[i - 1].place] : (int32_t)entries[i].place;
  }
  // Now moved[i] is the first name that equals name i, at or before it.
  for (CeedInt i = 0; i < *num; i++) {
    if (moved[i] == i) {
      names[kept] = names[i];
      moved[i] = kept++;
    } else {
      RITZ_FREE(&names[i].name);
      moved[i] = moved[moved[i]];
    }
  }
  *num = kept;
  RITZ_FREE(&entries);
  return CEED_ERROR_SUCCESS;
}

static void fill_index(int64_t num, const int64_t *keys, int64_t num_distinct, const int64_t *distinct,
                       const int32_t *moved, int32_t *index) {
  for (int64_t i = 0; i < num; i++) {
    if (i > 0 && keys[i] == keys[i - 1]) {
      index[i] = index[i - 1];
    } else {
      const int64_t *found =
          bsearch(&keys[i], distinct, (size_t)num_distinct, sizeof(*distinct), compare_keys);

      index[i] = moved[found - distinct];
    }
  }
}

int ritz_reader_collect_names(Ceed ceed, int64_t num, const int64_t *keys, int64_t num_known,
                              const RitzReaderName *known, CeedInt *num_names, RitzMeshName **names,
                              int32_t *index) {
  int ierr = CEED_ERROR_SUCCESS;
  int64_t num_distinct = 0, *distinct = NULL;
  int32_t *moved = NULL;

  *num_names = 0;
  *names = NULL;
  RITZ_TRY(find_distinct(ceed, num, keys, &num_distinct, &distinct));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(ceed, (size_t)num_distinct, names));
  for (int64_t i = 0; i < num_distinct; i++) {
    RITZ_TRY_CLEANUP(make_name(ceed, distinct[i], num_known, known, &(*names)[i]));
    *num_names = (CeedInt)(i + 1);
  }
  if (index) {
    RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_distinct, &moved));
    RITZ_TRY_CLEANUP(merge_equal_names(ceed, num_names, *names, moved));
    fill_index(num, keys, num_distinct, distinct, moved, index);
  }
cleanup:
  RITZ_FREE(&moved);
  RITZ_FREE(&distinct);
  return ierr;
}
