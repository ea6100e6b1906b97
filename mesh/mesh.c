// SPDX-License-Identifier: BSD-2-Clause
// The mesh object: life, queries, boundary parts. Meshes are made by mesh/build.c and mesh/refine.c.
#define _DEFAULT_SOURCE // _SC_PHYS_PAGES
#include "mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const RitzClass ritz_mesh_class = {.name = "RitzMesh"};

// ---- Life ----

int ritz_mesh_create_empty(Ceed ceed, RitzMesh *mesh) {
  RITZ_TRY(RITZ_CALLOC(ceed, 1, mesh));
  (*mesh)->class = &ritz_mesh_class;
  (*mesh)->ref_count = 1;
  int ierr = CeedReferenceCopy(ceed, &(*mesh)->ceed);

  if (ierr) RITZ_FREE(mesh);
  return ierr;
}

void ritz_mesh_names_clear(CeedInt num, RitzMeshName **names) {
  for (CeedInt i = 0; *names && i < num; i++) RITZ_FREE(&(*names)[i].name);
  RITZ_FREE(names);
}

static int copy_names(Ceed ceed, CeedInt num, const RitzMeshName *names, CeedInt *num_copied,
                      RitzMeshName **copies) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num, copies));
  for (*num_copied = 0; *num_copied < num; ++*num_copied) {
    (*copies)[*num_copied].number = names[*num_copied].number;
    RITZ_TRY(ritz_strdup(ceed, names[*num_copied].name, &(*copies)[*num_copied].name));
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_copy_sets(RitzMesh from, RitzMesh to) {
  const Ceed ceed = from->ceed;

  RITZ_TRY(copy_names(ceed, from->num_regions, from->regions, &to->num_regions, &to->regions));
  RITZ_TRY(copy_names(ceed, from->num_parts, from->parts, &to->num_parts, &to->parts));
  for (int d = 0; d < RITZ_MESH_UNUSED_DIMS; d++)
    RITZ_TRY(copy_names(ceed, from->unused[d].num, from->unused[d].names, &to->unused[d].num,
                        &to->unused[d].names));
  return ritz_mesh_lists_copy(ceed, &from->overlaps, &to->overlaps);
}

int RitzMeshDestroy(RitzMesh *mesh) {
  if (!mesh || !*mesh) return CEED_ERROR_SUCCESS;
  RitzMesh m = *mesh;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "mesh", m, &ritz_mesh_class));

  *mesh = NULL;
  if (--m->ref_count > 0) return CEED_ERROR_SUCCESS;
  RITZ_FREE(&m->elem_vertices);
  RITZ_FREE(&m->coords);
  RITZ_FREE(&m->elem_regions);
  RITZ_FREE(&m->marks);
  ritz_mesh_seam_clear(&m->seam);
  ritz_mesh_topology_clear(&m->topology);
  ritz_mesh_names_clear(m->num_regions, &m->regions);
  ritz_mesh_names_clear(m->num_parts, &m->parts);
  for (int d = 0; d < RITZ_MESH_UNUSED_DIMS; d++)
    ritz_mesh_names_clear(m->unused[d].num, &m->unused[d].names);
  ritz_mesh_lists_clear(&m->overlaps);
  RitzMesh coarser = m->coarser;
  Ceed ceed = m->ceed;

  RITZ_FREE(&m);
  int ierr = RitzMeshDestroy(&coarser);

  return ritz_first_error(ierr, CeedDestroy(&ceed));
}

int RitzMeshReferenceCopy(RitzMesh mesh, RitzMesh *copy) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, copy);
  RITZ_OPTIONAL(mesh, *copy);
  mesh->ref_count++;
  int ierr = RitzMeshDestroy(copy);
  if (ierr) {
    mesh->ref_count--;
    return ierr;
  }
  *copy = mesh;
  return CEED_ERROR_SUCCESS;
}

// ---- Sizes ----

int64_t ritz_mesh_product(int num, const int64_t factors[]) {
  int64_t product = 1;

  for (int i = 0; i < num; i++) {
    if (factors[i] < 0 || (factors[i] > 0 && product > INT64_MAX / factors[i])) return -1;
    product *= factors[i];
  }
  return product;
}

int64_t ritz_mesh_power(int64_t base, int exponent) {
  int64_t power = 1;

  for (int i = 0; i < exponent && power >= 0; i++) {
    power = ritz_mesh_product(2, (const int64_t[]){power, base});
  }
  return power;
}

bool ritz_mesh_fits(double num_bytes) {
  double most = (double)(INT64_C(1) << 47);

#ifdef _SC_PHYS_PAGES
  const double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

  if (physical > 0.0 && 2.0 * physical < most) most = 2.0 * physical;
#endif
  return num_bytes <= most;
}

// ---- Queries ----

Ceed RitzMeshReturnCeed(RitzMesh mesh) { return ritz_is_live(mesh, &ritz_mesh_class) ? mesh->ceed : NULL; }

int RitzMeshGetDimensions(RitzMesh mesh, CeedInt *dim, CeedInt *space_dim) {
  RITZ_HANDLE(mesh);
  if (dim) *dim = mesh->dim;
  if (space_dim) *space_dim = mesh->space_dim;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumElements(RitzMesh mesh, int64_t *num_elem) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_elem);
  *num_elem = mesh->num_elem;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumVertices(RitzMesh mesh, int64_t *num_vertices) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_vertices);
  *num_vertices = mesh->num_vertices;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetGeometryOrder(RitzMesh mesh, CeedInt *order) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, order);
  *order = mesh->order;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetElementRegions(RitzMesh mesh, const int32_t **regions) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, regions);
  *regions = mesh->elem_regions;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumRegions(RitzMesh mesh, CeedInt *num_regions) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_regions);
  *num_regions = mesh->num_regions;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetRegion(RitzMesh mesh, CeedInt index, const char **name, int32_t *number) {
  RITZ_HANDLE(mesh);
  RITZ_REQUIRE(index >= 0 && index < mesh->num_regions, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshGetRegion: there is no region %" CeedInt_FMT ", the mesh has %" CeedInt_FMT, index,
               mesh->num_regions);
  if (name) *name = mesh->regions[index].name;
  if (number) *number = mesh->regions[index].number;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumOverlaps(RitzMesh mesh, CeedInt *num_overlaps) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_overlaps);
  *num_overlaps = (CeedInt)mesh->overlaps.num;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetOverlap(RitzMesh mesh, CeedInt index, CeedInt *num_regions, const int32_t **regions) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_regions);
  RITZ_ARGUMENT(mesh, regions);
  RITZ_REQUIRE(index >= 0 && index < mesh->overlaps.num, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no overlap %" CeedInt_FMT ", the mesh has %lld", __func__, index,
               (long long)mesh->overlaps.num);
  const int64_t *starts = mesh->overlaps.starts + index;

  *num_regions = (CeedInt)(starts[1] - starts[0]);
  *regions = mesh->overlaps.items + starts[0];
  return CEED_ERROR_SUCCESS;
}

static int check_unused_dim(RitzMesh mesh, CeedInt dim, const char *call) {
  RITZ_REQUIRE(dim >= 0 && dim < RITZ_MESH_UNUSED_DIMS, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: dimension %" CeedInt_FMT ", needed 0 or 1", call, dim);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumUnusedGroups(RitzMesh mesh, CeedInt dim, CeedInt *num_groups) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_groups);
  RITZ_TRY(check_unused_dim(mesh, dim, __func__));
  *num_groups = mesh->unused[dim].num;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetUnusedGroup(RitzMesh mesh, CeedInt dim, CeedInt index, const char **name) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, name);
  RITZ_TRY(check_unused_dim(mesh, dim, __func__));
  RITZ_REQUIRE(index >= 0 && index < mesh->unused[dim].num, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no group %" CeedInt_FMT " of dimension %" CeedInt_FMT
               ", the mesh has %" CeedInt_FMT,
               __func__, index, dim, mesh->unused[dim].num);
  *name = mesh->unused[dim].names[index].name;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetNumBoundaryParts(RitzMesh mesh, CeedInt *num_parts) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_parts);
  *num_parts = mesh->num_parts;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetBoundaryPartName(RitzMesh mesh, CeedInt part, const char **name) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, name);
  RITZ_REQUIRE(part >= 0 && part < mesh->num_parts, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzMeshGetBoundaryPartName: there is no part %" CeedInt_FMT ", the mesh has %" CeedInt_FMT,
               part, mesh->num_parts);
  *name = mesh->parts[part].name;
  return CEED_ERROR_SUCCESS;
}

// ---- Blocks ----

int RitzMeshGetNumBlocks(RitzMesh mesh, CeedInt *num_blocks) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, num_blocks);
  *num_blocks = mesh->num_blocks;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_check_block(RitzMesh mesh, CeedInt block, const char *call) {
  RITZ_REQUIRE(block >= 0 && block < mesh->num_blocks, mesh->ceed, CEED_ERROR_DIMENSION,
               "%s: there is no block %" CeedInt_FMT ", the mesh has %d", call, block, mesh->num_blocks);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetBlock(RitzMesh mesh, CeedInt block, CeedElemTopology *topology, int64_t *first,
                     int64_t *num_elem, const int64_t **vertices, const double **x) {
  RITZ_HANDLE(mesh);
  RITZ_TRY(ritz_mesh_check_block(mesh, block, "RitzMeshGetBlock"));
  const RitzMeshBlock *b = &mesh->blocks[block];

  if (topology) *topology = b->topology;
  if (first) *first = b->first;
  if (num_elem) *num_elem = b->num_elem;
  // A block without elements may have arrays that are NULL.
  const bool is_empty = b->num_elem == 0;
  if (vertices) *vertices = is_empty ? mesh->elem_vertices : mesh->elem_vertices + b->corner_base;
  if (x) *x = is_empty ? mesh->coords : mesh->coords + b->node_base * mesh->space_dim;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_find_block(int num_blocks, const RitzMeshBlock *blocks, int64_t e) {
  int b = num_blocks - 1;

  while (blocks[b].first > e) b--;
  return b;
}

int ritz_mesh_require_one_block(RitzMesh mesh, const char *call, const char *block_call) {
  RITZ_REQUIRE(mesh->num_blocks == 1, mesh->ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has elements of %d shapes; use %s", call, mesh->num_blocks, block_call);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetTopology(RitzMesh mesh, CeedElemTopology *topology) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, topology);
  RITZ_TRY(ritz_mesh_require_one_block(mesh, "RitzMeshGetTopology", "RitzMeshGetBlock"));
  *topology = mesh->blocks[0].topology;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetElementVertices(RitzMesh mesh, const int64_t **vertices) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, vertices);
  RITZ_TRY(ritz_mesh_require_one_block(mesh, "RitzMeshGetElementVertices", "RitzMeshGetBlock"));
  *vertices = mesh->elem_vertices;
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetElementCoordinates(RitzMesh mesh, const double **x) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, x);
  RITZ_TRY(ritz_mesh_require_one_block(mesh, "RitzMeshGetElementCoordinates", "RitzMeshGetBlock"));
  *x = mesh->coords;
  return CEED_ERROR_SUCCESS;
}

// ---- Boundary parts ----

static int compare_marks(const void *first, const void *second) {
  const RitzMeshMark *a = first, *b = second;

  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  if (a->elem != b->elem) return a->elem < b->elem ? -1 : 1;
  return a->facet - b->facet;
}

void ritz_mesh_marks_sort(int64_t *num, RitzMeshMark *marks) {
  int64_t num_kept = 0;

  if (*num > 0) qsort(marks, (size_t)*num, sizeof(*marks), compare_marks);
  for (int64_t i = 0; i < *num; i++) {
    if (num_kept == 0 || compare_marks(&marks[num_kept - 1], &marks[i])) marks[num_kept++] = marks[i];
  }
  *num = num_kept;
}

bool ritz_mesh_part_has_name(RitzMesh mesh, int32_t part, const char *name) {
  if (part != RITZ_MESH_EXTERIOR) return !strcmp(mesh->parts[part].name, name);
  bool is_all = !strcmp(name, "all");

  for (CeedInt i = 0; i < mesh->num_parts && is_all; i++) is_all = strcmp(mesh->parts[i].name, name) != 0;
  return is_all;
}

// A few names, for a message: " all xmin xmax ..."
static void list_names(RitzMesh mesh, size_t size, char *list) {
  size_t length = (size_t)snprintf(list, size, " all");

  for (CeedInt i = 0; i < mesh->num_parts; i++) {
    const char *name = mesh->parts[i].name;

    if (length + strlen(name) + sizeof("  ...") > size) {
      snprintf(list + length, size - length, " ...");
      return;
    }
    length += (size_t)snprintf(list + length, size - length, " %s", name);
  }
}

static int check_name(RitzMesh mesh, const char *name) {
  char list[400];

  for (int32_t i = RITZ_MESH_EXTERIOR; i < mesh->num_parts; i++) {
    if (ritz_mesh_part_has_name(mesh, i, name)) return CEED_ERROR_SUCCESS;
  }
  list_names(mesh, sizeof(list), list);
  return CeedError(mesh->ceed, CEED_ERROR_INCOMPATIBLE,
                   "RitzMeshGetBoundaryPart: no boundary part is called '%.100s'; there are:%s", name, list);
}

// The marks called `name`, which several parts of a file may share; as marks of one part.
static int collect_marks(RitzMesh mesh, const char *name, int64_t *num, RitzMeshMark **marks) {
  bool is_named = false;
  int32_t part = RITZ_MESH_EXTERIOR - 1;

  *num = 0;
  RITZ_TRY(RITZ_MALLOC(mesh->ceed, (size_t)mesh->num_marks, marks));
  for (int64_t i = 0; i < mesh->num_marks; i++) {
    if (mesh->marks[i].part != part) {
      part = mesh->marks[i].part;
      is_named = ritz_mesh_part_has_name(mesh, part, name);
    }
    if (!is_named) continue;
    (*marks)[*num] = mesh->marks[i];
    (*marks)[(*num)++].part = 0;
  }
  ritz_mesh_marks_sort(num, *marks);
  return CEED_ERROR_SUCCESS;
}

int RitzMeshGetBoundaryPart(RitzMesh mesh, const char *name, int64_t *num, int64_t **elements,
                            int8_t **facets) {
  RitzMeshMark *marks = NULL;
  int64_t *new_elements = NULL;
  int8_t *new_facets = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, name);
  RITZ_ARGUMENT(mesh, num);
  RITZ_TRY(check_name(mesh, name));
  int64_t num_found = 0;

  RITZ_TRY(collect_marks(mesh, name, &num_found, &marks));
  if (elements) RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)num_found, &new_elements));
  if (facets) RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)num_found, &new_facets));
  for (int64_t i = 0; i < num_found; i++) {
    if (elements) new_elements[i] = marks[i].elem;
    if (facets) new_facets[i] = marks[i].facet;
  }
  *num = num_found;
  ritz_memory_give(new_elements);
  ritz_memory_give(new_facets);
  if (elements) *elements = new_elements;
  if (facets) *facets = new_facets;

cleanup:
  if (ierr) RITZ_FREE(&new_elements);
  RITZ_FREE(&marks);
  return ierr;
}
