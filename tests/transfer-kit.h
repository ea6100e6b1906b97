// SPDX-License-Identifier: BSD-2-Clause
// Pairs of nested spaces on meshes of all shapes, and what transfers between them are measured by. Included
// by test-transfers.c and test-hierarchy.c.
#ifndef RITZ_TESTS_TRANSFER_KIT_H
#define RITZ_TESTS_TRANSFER_KIT_H

#include <ritz/multigrid.h>
#include <ritz/precision.h>

#include "tests/mixed-tools.h"

// ---- Meshes ----

typedef enum {
  KIT_LINES,
  KIT_QUADS,
  KIT_TRIANGLES,
  KIT_PLANE, // quadrilaterals and triangles
  KIT_HEXES,
  KIT_TETS,
  KIT_PRISMS,
  KIT_SOLIDS, // all shapes of solids
  KIT_NUM_MESHES
} KitMesh;

static const char *const kit_names[KIT_NUM_MESHES] = {"lines",     "quadrilaterals", "triangles", "plane",
                                                      "hexahedra", "tetrahedra",     "prisms",    "solids"};

static inline bool kit_has_pyramids(KitMesh kind) { return kind == KIT_SOLIDS; }

static inline int kit_build(Ceed ceed, RitzMeshDraft draft, RitzMesh *mesh) {
  return ritz_mesh_build(ceed, "draft", &draft, mesh);
}

static inline int kit_split(Ceed ceed, CeedInt dim, CeedElemTopology into, CeedInt order, RitzMapFunction map,
                            RitzMesh *mesh) {
  const CeedInt n[3] = {2, 1, 1};
  RitzMesh box = NULL;
  int ierr = RitzMeshCreateBox(ceed, dim, n, NULL, NULL, order, map, NULL, &box);

  if (!ierr) ierr = RitzMeshSplit(box, into, mesh);
  RitzMeshDestroy(&box);
  return ierr;
}

// Few elements, of geometry order `order` under a map.
static inline int kit_mesh(Ceed ceed, KitMesh kind, CeedInt order, RitzMapFunction map, RitzMesh *mesh) {
  const CeedInt n[3] = {2, 1, 1};

  switch (kind) {
  case KIT_LINES: return RitzMeshCreateBox(ceed, 1, (CeedInt[]){3}, NULL, NULL, order, map, NULL, mesh);
  case KIT_QUADS: return RitzMeshCreateBox(ceed, 2, n, NULL, NULL, order, map, NULL, mesh);
  case KIT_HEXES: return RitzMeshCreateBox(ceed, 3, n, NULL, NULL, order, map, NULL, mesh);
  case KIT_TRIANGLES: return kit_split(ceed, 2, CEED_TOPOLOGY_TRIANGLE, order, map, mesh);
  case KIT_TETS: return kit_split(ceed, 3, CEED_TOPOLOGY_TET, order, map, mesh);
  case KIT_PRISMS: return kit_split(ceed, 3, CEED_TOPOLOGY_PRISM, order, map, mesh);
  case KIT_PLANE: return kit_build(ceed, draft_of_plane(order, map), mesh);
  default: return kit_build(ceed, draft_of_mixed(order, map), mesh);
  }
}

// ---- Vectors ----

static inline int kit_vector(Ceed ceed, RitzSpace space, CeedScalarType precision, CeedVector *vec) {
  CeedSize n = 0;

  RITZ_TRY(RitzSpaceGetSize(space, &n));
  return RitzVectorCreate(ceed, n, precision, vec);
}

// A vector of the library's precision with these values.
static inline int kit_fill(Ceed ceed, CeedSize n, const double *values, CeedVector *vec) {
  CeedScalar *x;

  RITZ_TRY(CeedVectorCreate(ceed, n, vec));
  RITZ_TRY(CeedVectorGetArrayWrite(*vec, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; i < n; i++) x[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(*vec, &x);
}

static inline int kit_random(Ceed ceed, RitzSpace space, uint64_t *seed, CeedVector *vec) {
  CeedSize n = 0;

  RITZ_TRY(RitzSpaceGetSize(space, &n));
  double *values = malloc((size_t)n * sizeof(*values));

  for (CeedSize i = 0; i < n; i++) values[i] = tap_uniform(seed);
  int ierr = kit_fill(ceed, n, values, vec);

  free(values);
  return ierr;
}

static inline double kit_dot(CeedVector x, CeedVector y) {
  const CeedScalar *a, *b;
  CeedSize n = 0;
  double sum = 0.0;

  if (CeedVectorGetLength(x, &n) || CeedVectorGetArrayRead(x, CEED_MEM_HOST, &a)) return NAN;
  if (x == y) {
    for (CeedSize i = 0; i < n; i++) sum += (double)a[i] * a[i];
  } else {
    if (CeedVectorGetArrayRead(y, CEED_MEM_HOST, &b)) return NAN;
    for (CeedSize i = 0; i < n; i++) sum += (double)a[i] * b[i];
    CeedVectorRestoreArrayRead(y, &b);
  }
  CeedVectorRestoreArrayRead(x, &a);
  return sum;
}

// Largest difference between x and values [length].
static inline double kit_distance(CeedVector x, const double *values) {
  const CeedScalar *a;
  CeedSize n = 0;
  double largest = 0.0;

  if (CeedVectorGetLength(x, &n) || CeedVectorGetArrayRead(x, CEED_MEM_HOST, &a)) return NAN;
  for (CeedSize i = 0; i < n; i++) {
    if (!(fabs(a[i] - values[i]) <= largest)) largest = fabs(a[i] - values[i]);
  }
  CeedVectorRestoreArrayRead(x, &a);
  return largest;
}

static inline int kit_apply(CeedOperator op, CeedVector in, CeedVector out) {
  return CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE);
}

// ---- Pairs of spaces ----

typedef struct {
  RitzMesh meshes[2]; // coarse and fine; may be one mesh
  RitzSpace coarse, fine;
  CeedOperator prolong, restriction;
} KitPair;

static inline void kit_destroy(KitPair *pair) {
  CeedOperatorDestroy(&pair->prolong);
  CeedOperatorDestroy(&pair->restriction);
  RitzSpaceDestroy(&pair->coarse);
  RitzSpaceDestroy(&pair->fine);
  RitzMeshDestroy(&pair->meshes[0]);
  RitzMeshDestroy(&pair->meshes[1]);
}

// Spaces and transfers, in `ceed`, of degree p_coarse on meshes[0] and p_fine on meshes[1].
static inline int kit_transfer(KitPair *pair, Ceed ceed, CeedInt p_coarse, CeedInt p_fine, CeedInt num_comp,
                               CeedScalarType precision) {
  RITZ_TRY(RitzSpaceCreate(pair->meshes[0], p_coarse, num_comp, &pair->coarse));
  RITZ_TRY(RitzSpaceCreate(pair->meshes[1], p_fine, num_comp, &pair->fine));
  return RitzSpaceCreateTransfer(pair->coarse, pair->fine, ceed, precision, &pair->prolong,
                                 &pair->restriction);
}

// Degrees p_coarse < p_fine on one mesh, or, equal, on a mesh and its refinement.
static inline int kit_create(KitPair *pair, Ceed ceed, KitMesh kind, CeedInt order, RitzMapFunction map,
                             CeedInt p_coarse, CeedInt p_fine, CeedInt num_comp) {
  *pair = (KitPair){{NULL, NULL}, NULL, NULL, NULL, NULL};
  RITZ_TRY(kit_mesh(ceed, kind, order, map, &pair->meshes[0]));
  RITZ_TRY(RitzMeshRefine(pair->meshes[0], p_coarse == p_fine, &pair->meshes[1]));
  return kit_transfer(pair, ceed, p_coarse, p_fine, num_comp, CEED_SCALAR_TYPE);
}

#endif
