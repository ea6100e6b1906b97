// SPDX-License-Identifier: BSD-2-Clause
// Continuous spaces: node numbers, restriction, node positions, nodes of boundary parts. Public functions;
// the numbering itself is in mesh/numbering.c.
#include "mesh/mesh.h"

#include <stdlib.h>

#include "fe/fe.h"

struct RitzSpace_private {
  RitzMesh mesh; // counted
  CeedInt degree, num_comp;
  int64_t num_local; // nodes of an element
  int64_t num_nodes;
  int64_t *nodes; // owned, [num_elem][num_local]
};

// ---- Life ----

static int check_arguments(RitzMesh mesh, CeedInt degree, CeedInt num_comp) {
  RITZ_REQUIRE(degree >= 1 && degree < INT32_MAX, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceCreate: degree %" CeedInt_FMT ", needed at least 1", degree);
  RITZ_REQUIRE(num_comp >= 1, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceCreate: %" CeedInt_FMT " components, needed at least 1", num_comp);
  int64_t num_local = ritz_mesh_power((int64_t)degree + 1, mesh->dim);
  int64_t num_bytes =
      ritz_mesh_product(4, (const int64_t[]){mesh->num_elem, num_local, num_comp, sizeof(int64_t)});

  RITZ_REQUIRE(num_bytes >= 0, mesh->ceed, CEED_ERROR_DIMENSION,
               "RitzSpaceCreate: %lld elements of degree %" CeedInt_FMT " have too many nodes",
               (long long)mesh->num_elem, degree);
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceCreate(RitzMesh mesh, CeedInt degree, CeedInt num_comp, RitzSpace *space) {
  RitzSpace s = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_NOT_NULL(mesh);
  RITZ_NOT_NULL(space);
  *space = NULL;
  RITZ_TRY(check_arguments(mesh, degree, num_comp));
  RITZ_TRY(RITZ_CALLOC(mesh->ceed, 1, &s));
  s->degree = degree;
  s->num_comp = num_comp;
  s->num_local = ritz_mesh_power((int64_t)degree + 1, mesh->dim);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)(mesh->num_elem * s->num_local), &s->nodes));
  RITZ_TRY_CLEANUP(ritz_mesh_number_nodes(mesh, degree, &s->num_nodes, s->nodes));
  ierr = RitzMeshReferenceCopy(mesh, &s->mesh);

cleanup:
  if (ierr) RitzSpaceDestroy(&s);
  *space = s;
  return ierr;
}

int RitzSpaceDestroy(RitzSpace *space) {
  if (!space || !*space) return CEED_ERROR_SUCCESS;
  RitzMesh mesh = (*space)->mesh;

  RITZ_FREE(&(*space)->nodes);
  RITZ_FREE(space);
  return RitzMeshDestroy(&mesh);
}

// ---- Queries ----

int RitzSpaceGetMesh(RitzSpace space, RitzMesh *mesh) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(mesh);
  *mesh = space->mesh;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetDegree(RitzSpace space, CeedInt *degree) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(degree);
  *degree = space->degree;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumComponents(RitzSpace space, CeedInt *num_comp) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num_comp);
  *num_comp = space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetNumNodes(RitzSpace space, int64_t *num_nodes) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num_nodes);
  *num_nodes = space->num_nodes;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetSize(RitzSpace space, CeedSize *l_size) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(l_size);
  *l_size = space->num_nodes * space->num_comp;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetElementNodes(RitzSpace space, const int64_t **nodes) {
  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(nodes);
  *nodes = space->nodes;
  return CEED_ERROR_SUCCESS;
}

// ---- Restriction ----

int RitzSpaceCreateRestriction(RitzSpace space, Ceed ceed, CeedElemRestriction *rstr) {
  CeedInt *offsets;

  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(rstr);
  *rstr = NULL;
  const int64_t num_elem = space->mesh->num_elem, num_entries = num_elem * space->num_local;
  const CeedInt num_comp = space->num_comp;
  bool fits = num_elem <= INT32_MAX && space->num_local <= INT32_MAX / num_comp &&
              (space->num_nodes - 1) <= (INT32_MAX - (num_comp - 1)) / num_comp;

  RITZ_REQUIRE(fits, ceed, CEED_ERROR_UNSUPPORTED,
               "RitzSpaceCreateRestriction: %lld elements, %lld nodes of %" CeedInt_FMT
               " components exceed the 32-bit offsets of a restriction",
               (long long)num_elem, (long long)space->num_nodes, num_comp);
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)num_entries, &offsets));
  for (int64_t i = 0; i < num_entries; i++) offsets[i] = (CeedInt)(space->nodes[i] * num_comp);
  int ierr =
      CeedElemRestrictionCreate(ceed, (CeedInt)num_elem, (CeedInt)space->num_local, num_comp, 1,
                                space->num_nodes * num_comp, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);

  RITZ_FREE(&offsets);
  return ierr;
}

// ---- Node positions ----

// Table [p+1][g+1] that takes the geometry nodes of one direction to the nodes of the space.
static int make_table(RitzSpace space, double **table) {
  const CeedInt P = space->mesh->order + 1, Q = space->degree + 1;
  double *nodes = NULL; // owned: geometry nodes [P], points [Q]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)P + (size_t)Q, &nodes));
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  ritz_fe_gauss_lobatto(Q, nodes + P, NULL);
  RITZ_TRY_CLEANUP(RITZ_MALLOC(space->mesh->ceed, (size_t)P * (size_t)Q, table));
  ierr = ritz_fe_lagrange(space->mesh->ceed, P, nodes, Q, nodes + P, *table, NULL);

cleanup:
  RITZ_FREE(&nodes);
  return ierr;
}

int RitzSpaceGetNodeCoordinates(RitzSpace space, double *x) {
  double *table = NULL, *work = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(x);
  const RitzMesh mesh = space->mesh;
  const CeedInt dim = mesh->dim, space_dim = mesh->space_dim, P = mesh->order + 1, Q = space->degree + 1;
  const int64_t work_size = ritz_mesh_map_work_size(dim, space_dim, P, Q);
  const int64_t num_per_elem = ritz_mesh_power(P, dim) * space_dim;

  RITZ_TRY_CLEANUP(make_table(space, &table));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(mesh->ceed, (size_t)(work_size + space->num_local * space_dim), &work));
  const double *M[3] = {table, table, table};
  double *elem_x = work + work_size;

  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const int64_t *nodes = space->nodes + e * space->num_local;

    ritz_mesh_map_points(dim, space_dim, P, Q, M, mesh->coords + e * num_per_elem, elem_x, work);
    for (int64_t i = 0; i < space->num_local; i++) {
      for (CeedInt c = 0; c < space_dim; c++) x[nodes[i] * space_dim + c] = elem_x[i * space_dim + c];
    }
  }

cleanup:
  RITZ_FREE(&work);
  RITZ_FREE(&table);
  return ierr;
}

// ---- Boundary nodes ----

static void flag_facet(RitzSpace space, int64_t elem, int facet, int8_t *flags) {
  const int64_t size = space->degree + 1, side = facet % 2 ? space->degree : 0;
  const int64_t stride = ritz_mesh_power(size, facet / 2);
  const int64_t *nodes = space->nodes + elem * space->num_local;

  for (int64_t i = 0; i < space->num_local; i++) {
    if (i / stride % size == side) flags[nodes[i]] = 1;
  }
}

static int list_flagged(RitzSpace space, const int8_t *flags, int64_t *num, int64_t **nodes) {
  int64_t num_flagged = 0, next = 0;

  for (int64_t i = 0; i < space->num_nodes; i++) num_flagged += flags[i];
  RITZ_TRY(RITZ_MALLOC(space->mesh->ceed, (size_t)num_flagged, nodes));
  for (int64_t i = 0; i < space->num_nodes; i++) {
    if (flags[i]) (*nodes)[next++] = i;
  }
  ritz_memory_give(*nodes);
  *num = num_flagged;
  return CEED_ERROR_SUCCESS;
}

int RitzSpaceGetBoundaryNodes(RitzSpace space, const char *name, int64_t *num, int64_t **nodes) {
  int64_t num_facets = 0, *elements = NULL, *found = NULL;
  int8_t *facets = NULL, *flags = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_NOT_NULL(space);
  RITZ_NOT_NULL(num);
  RITZ_NOT_NULL(nodes);
  RITZ_TRY(RitzMeshGetBoundaryPart(space->mesh, name, &num_facets, &elements, &facets));
  RITZ_TRY_CLEANUP(RITZ_CALLOC(space->mesh->ceed, (size_t)space->num_nodes, &flags));
  for (int64_t i = 0; i < num_facets; i++) flag_facet(space, elements[i], facets[i], flags);
  RITZ_TRY_CLEANUP(list_flagged(space, flags, num, &found));
  *nodes = found;

cleanup:
  RITZ_FREE(&flags);
  free(facets);
  free(elements);
  return ierr;
}
