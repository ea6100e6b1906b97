// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshFromDMPlex: looks at the DM, collects what this process has of it, gathers what all have, and makes
// the same RitzMesh in every process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "petsc/plex.h"

// ---- The DM ----

// The degree of the coordinate field, the largest of all processes; 1 where it has no elements.
static PetscErrorCode find_order(RitzPlex *p) {
  PetscInt num_fields = 0, mine = 1;
  PetscObject field = NULL;
  PetscClassId id = 0;
  PetscSpace space = NULL;
  DM coordinates = NULL;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinateDM(p->dm, &coordinates));
  PetscCall(DMGetNumFields(coordinates, &num_fields));
  if (num_fields > 0) PetscCall(DMGetField(coordinates, 0, NULL, &field));
  if (field) PetscCall(PetscObjectGetClassId(field, &id));
  if (field && id == PETSCFE_CLASSID) {
    PetscCall(PetscFEGetBasisSpace((PetscFE)field, &space));
    PetscCall(PetscSpaceGetDegree(space, &mine, NULL));
  }
  PetscCallMPI(MPI_Allreduce(&mine, &p->order, 1, MPIU_INT, MPI_MAX, p->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode refuse_hanging_nodes(const RitzPlex *p) {
  PetscSection parents = NULL;
  PetscInt num = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetTree(p->dm, &parents, NULL, NULL, NULL, NULL));
  if (parents) PetscCall(PetscSectionGetStorageSize(parents, &num));
  PetscCheck(num == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: %" PetscInt_FMT " points have parents: hanging nodes are not supported",
             num);
  PetscFunctionReturn(0);
}

static PetscErrorCode look(RitzPlex *p) {
  PetscBool is_plex = PETSC_FALSE;
  PetscInt depth = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)p->dm, DMPLEX, &is_plex));
  PetscCheck(is_plex, p->comm, PETSC_ERR_ARG_WRONG, "RitzMeshFromDMPlex: the DM is another one, needed a %s",
             DMPLEX);
  // together: later they are asked for in some processes alone
  PetscCall(DMGetCoordinatesLocalSetUp(p->dm));
  PetscCall(DMGetCellCoordinatesLocalSetUp(p->dm));
  PetscCallMPI(MPI_Comm_rank(p->comm, &p->rank));
  PetscCallMPI(MPI_Comm_size(p->comm, &p->size));
  PetscCall(DMGetDimension(p->dm, &p->dim));
  PetscCall(DMGetCoordinateDim(p->dm, &p->space_dim));
  PetscCall(DMPlexGetDepth(p->dm, &depth));
  PetscCall(DMPlexGetHeightStratum(p->dm, 0, &p->first_cell, &p->end_cell));
  PetscCall(DMPlexGetDepthStratum(p->dm, 0, &p->first_vertex, &p->end_vertex));
  PetscCheck(p->dim >= 1 && p->dim <= 3, p->comm, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: a mesh of dimension %" PetscInt_FMT ", needed 1, 2 or 3", p->dim);
  PetscCheck(p->end_cell == p->first_cell || depth == p->dim, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "RitzMeshFromDMPlex: the DM has no facets, needed an interpolated one (DMPlexInterpolate)");
  PetscCall(refuse_hanging_nodes(p));
  PetscCall(find_order(p));
  PetscFunctionReturn(0);
}

static PetscErrorCode clear_plex(RitzPlex *p) {
  PetscFunctionBeginUser;
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) {
    PetscCall(PetscFree(p->cells[s].vertices));
    PetscCall(PetscFree(p->cells[s].regions));
    PetscCall(PetscFree(p->cells[s].x));
    PetscCall(PetscFree(p->nodes[s]));
  }
  PetscCall(PetscFree(p->numbers));
  PetscCall(PetscFree(p->index));
  PetscCall(PetscFree(p->labels));
  PetscCall(PetscFree(p->sets));
  PetscCall(PetscFree(p->facets));
  PetscFunctionReturn(0);
}

// ---- Names ----

// Room for all names of sets: a label, ':', a value.
typedef struct {
  CeedInt num_parts, num_regions;
  RitzMeshSet *parts, *regions; // [num] owned, as text
  char *text;
} Names;

static bool is_alone(const RitzPlexWhole *w, PetscInt64 i) {
  const RitzPlexSet *sets = w->sets;
  const bool is_before =
      i > 0 && sets[i - 1].is_region == sets[i].is_region && !strcmp(sets[i - 1].label, sets[i].label);

  return !is_before && (i + 1 == w->num_sets || sets[i + 1].is_region != sets[i].is_region ||
                        strcmp(sets[i + 1].label, sets[i].label) != 0);
}

// Sets are boundary parts, then names of regions, of which the first for a value counts.
static PetscErrorCode name_sets(const RitzPlexWhole *w, Names *n) {
  size_t bytes = 1;

  PetscFunctionBeginUser;
  for (PetscInt64 i = 0; i < w->num_sets; i++) bytes += strlen(w->sets[i].label) + 24;
  PetscCall(PetscMalloc1(bytes, &n->text));
  PetscCall(PetscMalloc1(w->num_sets, &n->parts));
  PetscCall(PetscMalloc1(w->num_sets, &n->regions));
  char *text = n->text;

  for (PetscInt64 i = 0; i < w->num_sets; i++) {
    const RitzPlexSet *s = &w->sets[i];
    RitzMeshSet set = {.name = text, .number = (int32_t)s->value};
    CeedInt k = 0;

    if (s->is_region || is_alone(w, i)) {
      text += sprintf(text, "%s", s->label) + 1;
    } else if (strcmp(s->label, "Face Sets") != 0) {
      text += sprintf(text, "%s:%" PetscInt64_FMT, s->label, s->value) + 1;
    }
    if (!strcmp(s->label, "Face Sets")) set.name = NULL;
    if (!s->is_region) n->parts[n->num_parts++] = set;
    while (s->is_region && k < n->num_regions && n->regions[k].number != set.number) k++;
    if (s->is_region && k == n->num_regions) n->regions[n->num_regions++] = set;
  }
  PetscFunctionReturn(0);
}

// ---- The mesh ----

static PetscErrorCode create_mesh(const RitzPlex *p, const RitzPlexWhole *w, PetscInt64 num_elem,
                                  const Names *n, RitzMesh *mesh) {
  RitzMeshArrayBlock blocks[RITZ_PLEX_SHAPES];
  int32_t *regions = NULL;
  PetscInt64 at = 0;
  RitzMeshArrays arrays = {.dim = (CeedInt)p->dim,
                           .space_dim = (CeedInt)p->space_dim,
                           .order = (CeedInt)p->order,
                           .num_vertices = p->num_vertices,
                           .blocks = blocks,
                           .num_regions = n->num_regions,
                           .regions = n->regions,
                           .num_parts = n->num_parts,
                           .parts = n->parts,
                           .num_facets = w->num_facets,
                           .facets = w->facets};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(num_elem, &regions));
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) {
    const RitzPlexCells *c = &w->cells[s];

    for (PetscInt64 i = 0; i < c->num; i++) regions[at++] = (int32_t)c->regions[i];
    if (c->num == 0) continue;
    blocks[arrays.num_blocks++] = (RitzMeshArrayBlock){.topology = ritz_plex_shapes[s].topology,
                                                       .num_elem = c->num,
                                                       .vertices = (const int64_t *)c->vertices,
                                                       .x = c->x};
  }
  arrays.elem_regions = regions;
  const int code = RitzMeshCreate(p->ceed, &arrays, mesh);

  PetscCall(PetscFree(regions));
  RitzPetscCall(p->ceed, code);
  PetscFunctionReturn(0);
}

// The process of each element.
static PetscErrorCode list_parts(const RitzPlex *p, const RitzPlexWhole *w, PetscInt64 num_elem,
                                 int32_t **parts) {
  PetscInt64 at = 0;

  PetscFunctionBeginUser;
  *parts = malloc((size_t)(num_elem > 0 ? num_elem : 1) * sizeof(**parts)); // the caller's to free()
  PetscCheck(*parts, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "RitzMeshFromDMPlex: no memory for the parts of %" PetscInt64_FMT " elements", num_elem);
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++)
    for (PetscMPIInt r = 0; r < p->size; r++)
      for (PetscInt64 i = 0; i < w->counts[s][r]; i++) (*parts)[at++] = (int32_t)r;
  PetscFunctionReturn(0);
}

static PetscErrorCode convert(RitzPlex *p, RitzPlexWhole *w, Names *n, RitzMesh *mesh, int32_t **parts) {
  PetscInt64 num_elem = 0;

  PetscFunctionBeginUser;
  PetscCall(look(p));
  PetscCall(ritz_plex_collect_cells(p));
  PetscCall(ritz_plex_collect_labels(p));
  PetscCall(ritz_plex_gather(p, w));
  for (int s = 0; s < RITZ_PLEX_SHAPES; s++) num_elem += w->cells[s].num;
  PetscCall(name_sets(w, n));
  PetscCall(create_mesh(p, w, num_elem, n, mesh));
  if (parts) PetscCall(list_parts(p, w, num_elem, parts));
  PetscFunctionReturn(0);
}

PetscErrorCode RitzMeshFromDMPlex(DM dm, Ceed ceed, RitzMesh *mesh, int32_t **parts) {
  RitzPlex p = {.dm = dm, .ceed = ceed};
  RitzPlexWhole w = {.num_sets = 0};
  Names n = {.num_parts = 0};

  PetscFunctionBeginUser;
  PetscCheck(dm && ceed && mesh, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "RitzMeshFromDMPlex: argument '%s' is NULL",
             !dm     ? "dm"
             : !ceed ? "ceed"
                     : "mesh");
  *mesh = NULL;
  p.comm = PetscObjectComm((PetscObject)dm);
  const PetscErrorCode code = convert(&p, &w, &n, mesh, parts);

  PetscCall(clear_plex(&p));
  PetscCall(ritz_plex_whole_clear(&w));
  PetscCall(PetscFree(n.text));
  PetscCall(PetscFree(n.parts));
  PetscCall(PetscFree(n.regions));
  PetscCall(code);
  PetscFunctionReturn(0);
}
