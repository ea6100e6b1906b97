// SPDX-License-Identifier: BSD-2-Clause
// Cells and labels of all processes in each of them. Sets are named by labels, which processes may have in
// different order, or not at all: they are matched by name and value.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "petsc/plex.h"

// *all: what all processes have, one behind the other, new; counts [size] of each, new, or NULL.
static PetscErrorCode gather(const RitzPlex *p, MPI_Datatype type, size_t bytes, PetscInt64 num,
                             const void *mine, void **all, PetscInt64 **counts) {
  PetscMPIInt *sizes = NULL, *places = NULL;
  PetscInt64 *nums = NULL, total = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(p->size, &nums));
  PetscCall(PetscMalloc2(p->size, &sizes, p->size, &places));
  PetscCallMPI(MPI_Allgather(&num, 1, MPIU_INT64, nums, 1, MPIU_INT64, p->comm));
  for (PetscMPIInt r = 0; r < p->size; r++) total += nums[r];
  PetscCheck(total <= INT_MAX, p->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "RitzMeshFromDMPlex: %" PetscInt64_FMT " numbers in a message, needed fewer than 2^31", total);
  for (PetscMPIInt r = 0; r < p->size; r++) {
    sizes[r] = (PetscMPIInt)nums[r];
    places[r] = r == 0 ? 0 : places[r - 1] + sizes[r - 1];
  }
  PetscCall(PetscMalloc(bytes * (size_t)total + 1, all));
  PetscCallMPI(MPI_Allgatherv(mine, sizes[p->rank], type, *all, sizes, places, type, p->comm));
  PetscCall(PetscFree2(sizes, places));
  if (counts) {
    *counts = nums;
  } else {
    PetscCall(PetscFree(nums));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode gather_cells(const RitzPlex *p, int shape, RitzPlexWhole *whole) {
  const RitzPlexCells *mine = &p->cells[shape];
  const PetscInt64 num_x = mine->num * p->num_nodes[shape] * p->space_dim;
  RitzPlexCells *all = &whole->cells[shape];

  PetscFunctionBeginUser;
  PetscCall(gather(p, MPIU_INT64, sizeof(PetscInt64), mine->num, mine->regions, (void **)&all->regions,
                   &whole->counts[shape]));
  for (PetscMPIInt r = 0; r < p->size; r++) all->num += whole->counts[shape][r];
  PetscCall(gather(p, MPIU_INT64, sizeof(PetscInt64), mine->num * ritz_plex_shapes[shape].num_corners,
                   mine->vertices, (void **)&all->vertices, NULL));
  PetscCall(gather(p, MPI_DOUBLE, sizeof(double), num_x, mine->x, (void **)&all->x, NULL));
  PetscFunctionReturn(0);
}

// ---- Sets ----

// Order of sets: by label, then value; names of regions behind boundary parts.
static int compare_sets(const void *a, const void *b) {
  const RitzPlexSet *x = a, *y = b;
  const int by_label = strcmp(x->label, y->label);

  if (x->is_region != y->is_region) return x->is_region - y->is_region;
  if (by_label) return by_label;
  return (x->value > y->value) - (x->value < y->value);
}

// *sets: those of all processes, by process, new; their labels are in whole->names.
static PetscErrorCode gather_all_sets(const RitzPlex *p, RitzPlexWhole *whole, RitzPlexSet **sets,
                                      PetscInt64 **counts) {
  PetscInt64 *mine = NULL, *all = NULL, num = 0;
  size_t bytes = 0;
  char *names = NULL;

  PetscFunctionBeginUser;
  for (PetscInt64 i = 0; i < p->num_sets; i++) bytes += strlen(p->sets[i].label) + 1;
  PetscCall(PetscMalloc1(2 * p->num_sets, &mine));
  PetscCall(PetscMalloc1(bytes, &names));
  char *end = names;

  for (PetscInt64 i = 0; i < p->num_sets; i++) {
    const size_t n = strlen(p->sets[i].label) + 1;

    mine[2 * i] = p->sets[i].value;
    mine[2 * i + 1] = p->sets[i].is_region;
    memcpy(end, p->sets[i].label, n);
    end += n;
  }
  PetscCall(gather(p, MPIU_INT64, sizeof(PetscInt64), 2 * p->num_sets, mine, (void **)&all, counts));
  PetscCall(gather(p, MPI_CHAR, 1, (PetscInt64)bytes, names, (void **)&whole->names, NULL));
  for (PetscMPIInt r = 0; r < p->size; r++) num += ((*counts)[r] /= 2);
  PetscCall(PetscMalloc1(num, sets));
  const char *label = whole->names;

  for (PetscInt64 i = 0; i < num; i++, label += strlen(label) + 1)
    (*sets)[i] = (RitzPlexSet){.label = label, .value = all[2 * i], .is_region = all[2 * i + 1] != 0};
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(names));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(0);
}

// whole->sets: each of the sets of all processes once, sorted.
static PetscErrorCode unite_sets(PetscInt64 num, const RitzPlexSet *sets, RitzPlexWhole *whole) {
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(num, &whole->sets));
  if (num > 0) memcpy(whole->sets, sets, (size_t)num * sizeof(*sets));
  if (num > 0) qsort(whole->sets, (size_t)num, sizeof(*sets), compare_sets);
  for (PetscInt64 i = 0; i < num; i++)
    if (i == 0 || compare_sets(&whole->sets[whole->num_sets - 1], &whole->sets[i]))
      whole->sets[whole->num_sets++] = whole->sets[i];
  PetscFunctionReturn(0);
}

// ---- Facets ----

// sets: those of all processes; counts: facets and sets of each process.
static void number_facets(const RitzPlex *p, const RitzPlexFacet *facets, const PetscInt64 *num_facets,
                          const RitzPlexSet *sets, const PetscInt64 *num_sets, RitzPlexWhole *whole) {
  PetscInt64 next[RITZ_PLEX_SHAPES] = {0}; // the first element of a process, by shape

  for (int s = 1; s < RITZ_PLEX_SHAPES; s++) next[s] = next[s - 1] + whole->cells[s - 1].num;
  for (PetscMPIInt r = 0; r < p->size; r++) {
    for (PetscInt64 i = 0; i < num_facets[r] / 4; i++, facets++) {
      const RitzPlexSet *set = bsearch(&sets[facets->set], whole->sets, (size_t)whole->num_sets,
                                       sizeof(*whole->sets), compare_sets);

      whole->facets[whole->num_facets++] = (RitzMeshFacet){.elem = next[facets->shape] + facets->cell,
                                                           .facet = (int8_t)facets->facet,
                                                           .part = (int32_t)(set - whole->sets)};
    }
    sets += num_sets[r];
    for (int s = 0; s < RITZ_PLEX_SHAPES; s++) next[s] += whole->counts[s][r];
  }
}

static PetscErrorCode gather_labels(const RitzPlex *p, RitzPlexWhole *whole) {
  PetscInt64 *num_facets = NULL, *num_sets = NULL, num = 0, all_sets = 0;
  RitzPlexFacet *facets = NULL;
  RitzPlexSet *sets = NULL;

  PetscFunctionBeginUser;
  PetscCall(gather_all_sets(p, whole, &sets, &num_sets));
  for (PetscMPIInt r = 0; r < p->size; r++) all_sets += num_sets[r];
  PetscCall(unite_sets(all_sets, sets, whole));
  PetscCall(
      gather(p, MPIU_INT64, sizeof(PetscInt64), 4 * p->num_facets, p->facets, (void **)&facets, &num_facets));
  for (PetscMPIInt r = 0; r < p->size; r++) num += num_facets[r] / 4;
  PetscCall(PetscMalloc1(num, &whole->facets));
  number_facets(p, facets, num_facets, sets, num_sets, whole);
  PetscCall(PetscFree(facets));
  PetscCall(PetscFree(sets));
  PetscCall(PetscFree(num_facets));
  PetscCall(PetscFree(num_sets));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_plex_gather(const RitzPlex *p, RitzPlexWhole *whole) {
  PetscFunctionBeginUser;
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) PetscCall(gather_cells(p, s, whole));
  PetscCall(gather_labels(p, whole));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_plex_whole_clear(RitzPlexWhole *whole) {
  PetscFunctionBeginUser;
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) {
    PetscCall(PetscFree(whole->cells[s].vertices));
    PetscCall(PetscFree(whole->cells[s].regions));
    PetscCall(PetscFree(whole->cells[s].x));
    PetscCall(PetscFree(whole->counts[s]));
  }
  PetscCall(PetscFree(whole->names));
  PetscCall(PetscFree(whole->sets));
  PetscCall(PetscFree(whole->facets));
  PetscFunctionReturn(0);
}
