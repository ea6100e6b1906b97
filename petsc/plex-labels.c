// SPDX-License-Identifier: BSD-2-Clause
// Labels of a DMPlex in this process: facets that they mark, by the cell and the number of the facet in it,
// and values that mark cells, whose labels name regions.
#include <string.h>

#include "petsc/plex.h"

bool ritz_plex_is_users(const char *label) {
  static const char *const others[] = {"depth", "celltype", "ghost", "vtk"};

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(label, others[i])) return false;
  return true;
}

// Whether corners [4] are the vertices of the facet.
static bool is_facet(const RitzPlex *p, int shape, int facet, const PetscInt *of_cell, PetscInt num,
                     const PetscInt *of_facet) {
  const int8_t *corners = ritz_plex_shapes[shape].facets[facet];
  PetscInt found = 0, wanted = 0;

  for (int k = 0; k < 4 && corners[k] >= 0; k++, wanted++)
    for (PetscInt i = 0; i < num; i++) found += of_facet[i] == of_cell[p->corner[shape][corners[k]]];
  return found == wanted && wanted == num;
}

// Adds a facet of the DM, by the first cell of this process that has it; none: other processes do.
static PetscErrorCode add_facet(RitzPlex *p, PetscInt point, PetscInt64 set) {
  PetscInt num_cells = 0, num = 0, num_of_cell = 0, of_facet[8], of_cell[8];
  const PetscInt *cells = NULL;
  int shape = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetSupportSize(p->dm, point, &num_cells));
  PetscCall(DMPlexGetSupport(p->dm, point, &cells));
  while (num_cells > 0 &&
         (cells[0] < p->first_cell || cells[0] >= p->end_cell || p->index[cells[0] - p->first_cell] < 0))
    cells++, num_cells--;
  if (num_cells == 0) PetscFunctionReturn(0);
  PetscCall(ritz_plex_get_shape(p, cells[0], &shape));
  PetscCall(ritz_plex_get_vertices(p, cells[0], &num_of_cell, of_cell));
  PetscCall(ritz_plex_get_vertices(p, point, &num, of_facet));
  for (int f = 0; f < ritz_plex_shapes[shape].num_facets; f++) {
    if (!is_facet(p, shape, f, of_cell, num, of_facet)) continue;
    p->facets[p->num_facets++] =
        (RitzPlexFacet){.shape = shape, .cell = p->index[cells[0] - p->first_cell], .facet = f, .set = set};
    PetscFunctionReturn(0);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB,
          "RitzMeshFromDMPlex: facet %" PetscInt_FMT " is none of cell %" PetscInt_FMT, point, cells[0]);
}

static PetscErrorCode add_set(RitzPlex *p, const char *label, PetscInt value, bool is_region) {
  PetscFunctionBeginUser;
  if (p->num_sets % 64 == 0) PetscCall(PetscRealloc(sizeof(*p->sets) * (size_t)(p->num_sets + 64), &p->sets));
  p->sets[p->num_sets++] = (RitzPlexSet){.label = label, .value = value, .is_region = is_region};
  PetscFunctionReturn(0);
}

static PetscErrorCode collect_stratum(RitzPlex *p, const char *label, PetscInt value, IS stratum) {
  const PetscInt *points = NULL;
  PetscInt num = 0, first = 0, end = 0, num_facets = 0, num_cells = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetHeightStratum(p->dm, 1, &first, &end));
  PetscCall(ISGetLocalSize(stratum, &num));
  PetscCall(ISGetIndices(stratum, &points));
  for (PetscInt i = 0; i < num; i++) {
    num_facets += points[i] >= first && points[i] < end;
    num_cells += points[i] >= p->first_cell && points[i] < p->end_cell;
  }
  if (num_cells > 0 && strcmp(label, "Cell Sets") != 0) PetscCall(add_set(p, label, value, true));
  if (num_facets > 0) {
    PetscCall(PetscRealloc(sizeof(*p->facets) * (size_t)(p->num_facets + num_facets), &p->facets));
    PetscCall(add_set(p, label, value, false));
    for (PetscInt i = 0; i < num; i++)
      if (points[i] >= first && points[i] < end) PetscCall(add_facet(p, points[i], p->num_sets - 1));
  }
  PetscCall(ISRestoreIndices(stratum, &points));
  PetscFunctionReturn(0);
}

static PetscErrorCode collect_label(RitzPlex *p, const char *name, DMLabel label) {
  const PetscInt *values = NULL;
  PetscInt num = 0;
  IS of_label = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMLabelGetValueIS(label, &of_label));
  PetscCall(ISGetLocalSize(of_label, &num));
  PetscCall(ISGetIndices(of_label, &values));
  for (PetscInt i = 0; i < num; i++) {
    IS stratum = NULL;

    PetscCall(DMLabelGetStratumIS(label, values[i], &stratum));
    if (stratum) PetscCall(collect_stratum(p, name, values[i], stratum));
    PetscCall(ISDestroy(&stratum));
  }
  PetscCall(ISRestoreIndices(of_label, &values));
  PetscCall(ISDestroy(&of_label));
  PetscFunctionReturn(0);
}

PetscErrorCode ritz_plex_collect_labels(RitzPlex *p) {
  PetscInt num = 0;

  PetscFunctionBeginUser;
  PetscCall(DMGetNumLabels(p->dm, &num));
  for (PetscInt i = 0; i < num && p->end_cell > p->first_cell; i++) {
    const char *name = NULL;
    DMLabel label = NULL;

    PetscCall(DMGetLabelName(p->dm, i, &name));
    PetscCall(DMGetLabel(p->dm, name, &label));
    if (ritz_plex_is_users(name)) PetscCall(collect_label(p, name, label));
  }
  PetscFunctionReturn(0);
}
