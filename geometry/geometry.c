// SPDX-License-Identifier: BSD-2-Clause
// The geometry of a mesh: which elements are of which kind. Public functions; operators are made in
// operator.c and point.c.
#include "geometry/geometry.h"

#include <string.h>

// ---- Policies ----

static const char *const policy_names[RITZ_NUM_POLICIES] = {
    [RITZ_POLICY_AUTO] = "auto",
    [RITZ_POLICY_STORED] = "stored",
    [RITZ_POLICY_AFFINE] = "affine",
    [RITZ_POLICY_TRILINEAR] = "trilinear",
    [RITZ_POLICY_PARTIAL] = "partial",
    [RITZ_POLICY_MERGED] = "merged",
    [RITZ_POLICY_ISOPARAMETRIC] = "isoparametric",
};

const char *RitzGeometryPolicyName(RitzGeometryPolicy policy) {
  return (int)policy >= 0 && (int)policy < RITZ_NUM_POLICIES ? policy_names[policy] : NULL;
}

int RitzGeometryPolicyFromName(const char *name, RitzGeometryPolicy *policy) {
  RITZ_HANDLE(name);
  RITZ_HANDLE(policy);
  for (int i = 0; i < RITZ_NUM_POLICIES; i++) {
    if (strcmp(name, policy_names[i])) continue;
    *policy = (RitzGeometryPolicy)i;
    return CEED_ERROR_SUCCESS;
  }
  return CeedError(
      NULL, CEED_ERROR_INCOMPATIBLE,
      "RitzGeometryPolicyFromName: '%s' is no policy; there are auto, stored, affine, trilinear, "
      "partial, merged, isoparametric",
      name);
}

// ---- Life ----

const RitzClass ritz_geometry_class = {.name = "RitzGeometry"};

// Sorts the elements by kind, each kind ascending.
static int sort_elements(RitzGeometry geometry, double tolerance, int64_t num_elem) {
  Ceed ceed = RitzMeshReturnCeed(geometry->mesh);
  RitzElementKind *kinds = NULL;
  int64_t counts[RITZ_NUM_KINDS];
  CeedInt next[RITZ_NUM_KINDS];
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_elem, &kinds));
  RITZ_TRY_CLEANUP(RitzMeshClassifyElements(geometry->mesh, tolerance, kinds, counts));
  RITZ_TRY_CLEANUP(RITZ_MALLOC(ceed, (size_t)num_elem, &geometry->elements));
  for (int k = 0; k < RITZ_NUM_KINDS; k++) {
    next[k] = geometry->first[k];
    geometry->first[k + 1] = geometry->first[k] + (CeedInt)counts[k];
  }
  for (CeedInt e = 0; e < num_elem; e++) geometry->elements[next[kinds[e]]++] = e;
cleanup:
  RITZ_FREE(&kinds);
  return ierr;
}

static int fill_geometry(RitzGeometry geometry, RitzMesh mesh, double tolerance) {
  int64_t num_elem = 0;

  RITZ_TRY(RitzMeshReferenceCopy(mesh, &geometry->mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, &geometry->dim, &geometry->space_dim));
  RITZ_TRY(RitzMeshGetGeometryOrder(mesh, &geometry->order));
  RITZ_TRY(RitzMeshGetNumElements(mesh, &num_elem));
  RITZ_REQUIRE(num_elem <= INT32_MAX, RitzMeshReturnCeed(mesh), CEED_ERROR_UNSUPPORTED,
               "RitzGeometryCreate: %lld elements exceed the 32-bit counts of a restriction",
               (long long)num_elem);
  RITZ_TRY(ritz_geometry_check(mesh));
  RITZ_TRY(sort_elements(geometry, tolerance, num_elem));
  return ritz_geometry_blocks_create(geometry);
}

int RitzGeometryCreate(RitzMesh mesh, double tolerance, RitzGeometry *geometry) {
  RITZ_HANDLE(mesh);
  RITZ_ARGUMENT(mesh, geometry);
  RitzGeometry created = NULL;

  *geometry = NULL;
  RITZ_TRY(RITZ_CALLOC(RitzMeshReturnCeed(mesh), 1, &created));
  created->class = &ritz_geometry_class;
  created->ceed = RitzMeshReturnCeed(mesh);
  int ierr = fill_geometry(created, mesh, tolerance);

  if (ierr) {
    RitzGeometryDestroy(&created);
    return ierr;
  }
  *geometry = created;
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryDestroy(RitzGeometry *geometry) {
  if (!geometry || !*geometry) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "geometry", *geometry, &ritz_geometry_class));
  ritz_geometry_blocks_clear(*geometry);
  RITZ_FREE(&(*geometry)->elements);
  int ierr = RitzMeshDestroy(&(*geometry)->mesh);

  RITZ_FREE(geometry);
  return ierr;
}

// ---- Queries ----

int RitzGeometryGetMesh(RitzGeometry geometry, RitzMesh *mesh) {
  RITZ_HANDLE(geometry);
  RITZ_ARGUMENT(geometry, mesh);
  *mesh = geometry->mesh;
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryGetElements(RitzGeometry geometry, RitzElementKind kind, int64_t *num,
                            const CeedInt **elements) {
  RITZ_HANDLE(geometry);
  RITZ_REQUIRE((int)kind >= 0 && (int)kind < RITZ_NUM_KINDS, RitzMeshReturnCeed(geometry->mesh),
               CEED_ERROR_INCOMPATIBLE, "RitzGeometryGetElements: %d is no kind of elements", (int)kind);
  if (num) *num = geometry->first[kind + 1] - geometry->first[kind];
  if (elements) *elements = geometry->elements + geometry->first[kind];
  return CEED_ERROR_SUCCESS;
}
