// SPDX-License-Identifier: BSD-2-Clause
// Meshes whose elements are affine, multilinear and curved, for the tests of geometry/. Included by
// test-geometry*.c.
#ifndef RITZ_TESTS_GEOMETRY_KIT_H
#define RITZ_TESTS_GEOMETRY_KIT_H

#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mesh-tools.h"
#include "tests/reference.h"

// Thirds of the unit box along its first direction: affine; multilinear (one dimension: affine, too); curved.
typedef struct {
  double A[3][3]; // near the unit matrix
  double bend[3], curve[3];
  CeedInt space_dim; // components beyond dim: 0 in the first third
  int num_regions;   // 1: affine everywhere, 2: and multilinear, 3: and curved
} MixedMap;

static inline MixedMap mixed_map(CeedInt space_dim, int num_regions, uint64_t *seed) {
  MixedMap m = {.space_dim = space_dim, .num_regions = num_regions};

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m.A[i][j] = (i == j) + 0.2 * tap_uniform(seed);
    m.bend[i] = 0.5 + 0.2 * tap_uniform(seed);
    m.curve[i] = 0.4 + 0.2 * tap_uniform(seed);
  }
  return m;
}

// Continuous: the terms vanish where their regions begin. A product of different coordinates is multilinear.
static inline int apply_mixed_map(void *ctx, CeedInt dim, const double *X, double *x) {
  const MixedMap *m = ctx;
  const double bend = fmax(X[0] - 1.0 / 3, 0), curve = fmax(X[0] - 2.0 / 3, 0);

  for (CeedInt i = 0; i < m->space_dim; i++) {
    x[i] = 0;
    for (CeedInt j = 0; j < dim; j++) x[i] += m->A[i][j] * X[j];
    if (m->num_regions > 1 && dim > 1) x[i] += m->bend[i] * bend * X[1] * (dim > 2 ? 0.5 + X[2] : 1);
    if (m->num_regions > 2) x[i] += m->curve[i] * curve * curve;
  }
  return 0;
}

static const CeedInt mixed_size[3] = {3, 2, 2};

// In a space of higher dimension: the nodes of the unit box are moved.
static inline int embed(Ceed ceed, CeedInt dim, CeedInt order, MixedMap *map, RitzMesh *mesh) {
  RitzMesh flat = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, dim, mixed_size, NULL, NULL, order, NULL, NULL, &flat));
  const int64_t num = flat->num_elem * power(order + 1, dim);
  RitzMeshDraft from = draft_of_mesh(flat), to = make_draft(dim, map->space_dim, order, flat->num_elem, 0);

  to.num_vertices = from.num_vertices;
  memcpy(to.elem_vertices, from.elem_vertices, (size_t)(flat->num_elem << dim) * 8);
  for (int64_t i = 0; i < num; i++)
    apply_mixed_map(map, dim, from.coords + i * dim, to.coords + i * map->space_dim);
  ritz_mesh_draft_clear(&from);
  RitzMeshDestroy(&flat);
  return ritz_mesh_build(ceed, "embedded", &to, mesh);
}

// 3 x 2 x 2 elements.
static inline int make_mixed_box(Ceed ceed, CeedInt dim, CeedInt order, MixedMap *map, RitzMesh *mesh) {
  if (map->space_dim > dim) return embed(ceed, dim, order, map, mesh);
  return RitzMeshCreateBox(ceed, dim, mixed_size, NULL, NULL, order, apply_mixed_map, map, mesh);
}

// result = op u, a new array of n numbers; NaN after a failure.
static inline double *apply_operator(CeedOperator op, CeedSize n, const double *u) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector in = reference_vector(ceed, n, u), out = NULL;
  double *result = reference_new(n);

  for (CeedSize i = 0; i < n; i++) result[i] = NAN;
  CeedVectorCreate(ceed, n, &out);
  if (in && out && !CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE)) reference_values(out, result);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return result;
}

static inline const char *kind_name(RitzOperatorKind kind) {
  static const char *const names[] = {"mass", "diffusion", "Helmholtz", "QFunction"};
  return names[kind];
}

#endif
