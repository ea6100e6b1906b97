// SPDX-License-Identifier: BSD-2-Clause
// Problems of two fields in the plane, on any mesh: operators on the product of a space of two components and
// one of one component, or between the two spaces by themselves. Included by tests of products and of block
// preconditioners.
#ifndef RITZ_TESTS_MIXED_KIT_H
#define RITZ_TESTS_MIXED_KIT_H

#include <ritz.h>

#include "tests/reference.h"
#include "tests/transfer-kit.h"

typedef struct {
  Ceed ceed; // borrowed, as the mesh
  RitzMesh mesh;
  RitzSpace space[2];
  RitzProductSpace product;
  RitzIndices fixed, constraints; // the first field on all of the boundary; the same in the product
  RitzElementChoice elements;     // of operators on a part of a mesh
} MixedKit;

// A form of both fields: what the function gets of u and p and gives for v and q, 0: nothing.
typedef struct {
  const char *text, *function;
  bool is_product; // else of the spaces by themselves
  int in[2], out[2];
} MixedForm;

// The Stokes equations: grad u : grad v - p div v - q div u.
static const MixedForm mixed_stokes = {RITZ_TEXT(CEED_QFUNCTION_HELPER void stokes(
                                           const void *ctx, const CeedScalar grad_u[2][2],
                                           const CeedScalar p[1], CeedScalar grad_v[2][2], CeedScalar q[1]) {
                                         for (int c = 0; c < 2; c++) {
                                           for (int d = 0; d < 2; d++)
                                             grad_v[c][d] = grad_u[c][d] - (c == d ? p[0] : 0);
                                         }
                                         q[0] = -(grad_u[0][0] + grad_u[1][1]);
                                       }),
                                       "stokes",
                                       true,
                                       {RITZ_FORM_GRADIENT, RITZ_FORM_VALUE},
                                       {RITZ_FORM_GRADIENT, RITZ_FORM_VALUE}};

// Its two couplings: -q div u and -p div v.
static const MixedForm mixed_b = {RITZ_TEXT(CEED_QFUNCTION_HELPER void divergence(
                                      const void *ctx, const CeedScalar grad_u[2][2], CeedScalar q[1]) {
                                    q[0] = -(grad_u[0][0] + grad_u[1][1]);
                                  }),
                                  "divergence",
                                  false,
                                  {RITZ_FORM_GRADIENT, 0},
                                  {0, RITZ_FORM_VALUE}};
static const MixedForm mixed_b_transposed = {
    RITZ_TEXT(
        CEED_QFUNCTION_HELPER void gradient(const void *ctx, const CeedScalar p[1], CeedScalar grad_v[2][2]) {
          for (int c = 0; c < 2; c++) {
            for (int d = 0; d < 2; d++) grad_v[c][d] = c == d ? -p[0] : 0;
          }
        }),
    "gradient",
    false,
    {0, RITZ_FORM_VALUE},
    {RITZ_FORM_GRADIENT, 0}};

// grad u : grad v + u . v + (grad p . grad q) + 2 p q + u_0 q + p v_0: positive definite.
static const MixedForm mixed_definite = {
    RITZ_TEXT(CEED_QFUNCTION_HELPER void reactions(
        const void *ctx, const CeedScalar u[2], const CeedScalar grad_u[2][2], const CeedScalar p[1],
        const CeedScalar grad_p[1][2], CeedScalar v[2], CeedScalar grad_v[2][2], CeedScalar q[1],
        CeedScalar grad_q[1][2]) {
      v[0] = u[0] + p[0];
      v[1] = u[1];
      q[0] = 2 * p[0] + u[0];
      for (int d = 0; d < 2; d++) {
        grad_v[0][d] = grad_u[0][d];
        grad_v[1][d] = grad_u[1][d];
        grad_q[0][d] = grad_p[0][d];
      }
    }),
    "reactions",
    true,
    {RITZ_FORM_BOTH, RITZ_FORM_BOTH},
    {RITZ_FORM_BOTH, RITZ_FORM_BOTH}};

// grad u : grad v + p u . v + (p + |u|^2) q, not linear.
static const MixedForm mixed_nonlinear = {
    RITZ_TEXT(CEED_QFUNCTION_HELPER void products(const void *ctx, const CeedScalar u[2],
                                                  const CeedScalar grad_u[2][2], const CeedScalar p[1],
                                                  CeedScalar v[2], CeedScalar grad_v[2][2], CeedScalar q[1]) {
      for (int c = 0; c < 2; c++) {
        v[c] = p[0] * u[c];
        for (int d = 0; d < 2; d++) grad_v[c][d] = grad_u[c][d];
      }
      q[0] = p[0] + u[0] * u[0] + u[1] * u[1];
    }),
    "products",
    true,
    {RITZ_FORM_BOTH, RITZ_FORM_VALUE},
    {RITZ_FORM_BOTH, RITZ_FORM_VALUE}};

// Degrees of the two spaces.
static inline int mixed_create(Ceed ceed, RitzMesh mesh, CeedInt degree_u, CeedInt degree_p, MixedKit *k) {
  static const RitzFixedPart all = {.part = "all"};

  *k = (MixedKit){.ceed = ceed, .mesh = mesh};
  RITZ_TRY(RitzSpaceCreate(mesh, degree_u, 2, &k->space[0]));
  RITZ_TRY(RitzSpaceCreate(mesh, degree_p, 1, &k->space[1]));
  RITZ_TRY(RitzProductSpaceCreate(2, k->space, &k->product));
  RITZ_TRY(RitzSpaceCreateConstraints(k->space[0], ceed, 1, &all, &k->fixed));
  return RitzProductSpaceCreateConstraints(k->product, ceed, (RitzIndices[]){k->fixed, NULL},
                                           &k->constraints);
}

static inline void mixed_destroy(MixedKit *k) {
  for (int i = 0; i < 2; i++) RitzSpaceDestroy(&k->space[i]);
  RitzProductSpaceDestroy(&k->product);
  RitzIndicesDestroy(&k->fixed);
  RitzIndicesDestroy(&k->constraints);
}

// ---- Operators ----

// Those of the two fields that are there: their number.
static inline CeedInt mixed_fields(const MixedKit *k, const MixedForm *form, const char *const names[2],
                                   const int what[2], RitzFormField fields[2]) {
  CeedInt num = 0;

  for (CeedInt i = 0; i < 2; i++) {
    if (!what[i]) continue;
    fields[num++] = (RitzFormField){.name = names[i],
                                    .what = what[i],
                                    .space = k->space[i],
                                    .product = form->is_product ? k->product : NULL,
                                    .index = i};
  }
  return num;
}

static inline int mixed_operator(const MixedKit *k, const MixedForm *form, CeedOperator *op) {
  RitzFormField in[2], out[2];
  const RitzForm full = {.text = form->text,
                         .function = form->function,
                         .num_inputs = mixed_fields(k, form, (const char *[]){"u", "p"}, form->in, in),
                         .inputs = in,
                         .num_outputs = mixed_fields(k, form, (const char *[]){"v", "q"}, form->out, out),
                         .outputs = out};
  CeedInt degree = 0;
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzSpaceGetDegree(k->space[0], &degree));
  const RitzOperatorOptions options = {
      .space = k->space[0], .num_points = degree + 1, .elements = k->elements};
  RITZ_TRY(RitzGeometryCreate(k->mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateFormOperator(geometry, k->ceed, &options, &full, NULL, op);
  RitzGeometryDestroy(&geometry);
  return ierr;
}

// Mass or diffusion on one of the spaces.
static inline int mixed_standard(const MixedKit *k, RitzOperatorKind kind, int i, CeedOperator *op) {
  CeedInt degree = 0;
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzSpaceGetDegree(k->space[0], &degree));
  const RitzOperatorOptions options = {.kind = kind, .space = k->space[i], .num_points = degree + 1};
  RITZ_TRY(RitzGeometryCreate(k->mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, k->ceed, &options, op);
  RitzGeometryDestroy(&geometry);
  return ierr;
}

// ---- Vectors ----

static inline CeedSize mixed_size(const MixedKit *k, int i) { // -1: of the product
  CeedSize n = 0;
  const int ierr = i < 0 ? RitzProductSpaceGetSize(k->product, &n) : RitzSpaceGetSize(k->space[i], &n);

  return ierr ? 0 : n;
}

// A random vector of a space or of the product.
static inline int mixed_random(const MixedKit *k, int i, uint64_t *seed, CeedVector *vec) {
  const CeedSize n = mixed_size(k, i);
  double *values = reference_new_random(n, seed);
  const int ierr = kit_fill(k->ceed, n, values, vec);

  free(values);
  return ierr;
}

// |x - y| / |y| in the largest entries.
static inline double mixed_difference(CeedVector x, CeedVector y) {
  CeedSize n = 0;

  CeedVectorGetLength(y, &n);
  double *values = reference_new_values(y);
  const double difference = kit_distance(x, values) / reference_largest(n, values);

  free(values);
  return difference;
}

#endif
