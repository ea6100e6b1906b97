// SPDX-License-Identifier: BSD-2-Clause
// Problems for tests of Schwarz methods: diffusion or Helmholtz's equation on bent boxes and other meshes.
// Included by tests/test-schwarz*.c.
#ifndef RITZ_TESTS_SCHWARZ_PROBLEM_H
#define RITZ_TESTS_SCHWARZ_PROBLEM_H

#include <math.h>
#include <ritz.h>
#include <stdlib.h>

#include "tests/geometry-kit.h"
#include "tests/multigrid-kit.h"
#include "tests/schwarz-reference.h"

// ---- Problems ----

// All owned.
typedef struct {
  CeedInt dim, degree, num_comp;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedOperator op;
  RitzIndices constraints; // all of the boundary, NULL where the problem has none
  CeedSize n;
  bool *constrained;
} Problem;

// Bends the unit box; its elements are curved.
static inline int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  const double amount = *(const double *)ctx;
  double s = amount;

  for (CeedInt d = 0; d < dim; d++) s *= sin(3 * X[d] + 0.4);
  for (CeedInt d = 0; d < dim; d++) x[d] = (1 + d) * (X[d] + (d == 1 ? -s : s));
  return 0;
}

static inline int constrain_boundary(Ceed ceed, Problem *p) {
  int64_t num = 0, *nodes = NULL;
  int ierr = RitzSpaceGetBoundaryNodes(p->space, "all", &num, &nodes);
  int64_t *entries = malloc((size_t)(num * p->num_comp + 1) * sizeof(*entries));

  for (int64_t i = 0; i < num * p->num_comp; i++) {
    entries[i] = nodes[i / p->num_comp] * p->num_comp + i % p->num_comp;
    p->constrained[entries[i]] = true;
  }
  if (!ierr) ierr = RitzIndicesCreate(ceed, num * p->num_comp, entries, &p->constraints);
  free(nodes);
  free(entries);
  return ierr;
}

typedef struct {
  CeedInt dim, degree, num_comp, size[3], order; // elements a direction, degree of the geometry
  double bend, sides[3];                         // sides are looked at where nothing is bent
  bool is_free;                                  // no constraints
  RitzCoefficientFunction mu;
} Options;

static inline int create_problem_on(Ceed ceed, RitzMesh mesh, const Options *o, Problem *p) {
  const RitzOperatorKind kind = o->is_free ? RITZ_OPERATOR_HELMHOLTZ : RITZ_OPERATOR_DIFFUSION;
  int ierr = RitzGeometryCreate(mesh, -1, &p->geometry);

  p->dim = o->dim;
  p->degree = o->degree;
  p->num_comp = o->num_comp;
  if (!ierr) ierr = RitzSpaceCreate(mesh, o->degree, o->num_comp, &p->space);
  if (!ierr) ierr = RitzSpaceGetSize(p->space, &p->n);
  const RitzOperatorOptions options = {.kind = kind, .space = p->space, .mu_function = o->mu};
  if (!ierr) ierr = RitzGeometryCreateOperator(p->geometry, ceed, &options, &p->op);
  if (!ierr) ierr = RitzOperatorSetUse(p->op, RITZ_USE_ONCE); // diagonals alone: no kernels
  if (ierr) return ierr;
  p->constrained = calloc((size_t)p->n, sizeof(bool));
  return o->is_free ? CEED_ERROR_SUCCESS : constrain_boundary(ceed, p);
}

static inline int create_problem(Ceed ceed, const Options *o, Problem *p) {
  double amount = o->bend;
  const double lower[3] = {0, 0, 0};

  *p = (Problem){.dim = o->dim};
  const int ierr =
      o->bend != 0
          ? RitzMeshCreateBox(ceed, o->dim, o->size, NULL, NULL, o->order, bend, &amount, &p->mesh)
          : RitzMeshCreateBox(ceed, o->dim, o->size, lower, o->sides, o->order, NULL, NULL, &p->mesh);
  return ierr ? ierr : create_problem_on(ceed, p->mesh, o, p);
}

static inline void destroy_problem(Problem *p) {
  RitzIndicesDestroy(&p->constraints);
  CeedOperatorDestroy(&p->op);
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
  free(p->constrained);
}

static inline double *new_diagonal(const Problem *p) {
  CeedVector diagonal = NULL;

  CeedVectorCreate(CeedOperatorReturnCeed(p->op), p->n, &diagonal);
  CeedOperatorLinearAssembleDiagonal(p->op, diagonal, CEED_REQUEST_IMMEDIATE);
  double *values = reference_new_values(diagonal);
  CeedVectorDestroy(&diagonal);
  return values;
}

// z = P r, a new array; NaN after a failure.
static inline double *new_result(RitzPreconditioner pc, Ceed ceed, CeedSize n, const double *r) {
  CeedVector in = reference_vector(ceed, n, r), out = NULL;
  double *z = reference_new(n);

  for (CeedSize i = 0; i < n; i++) z[i] = NAN;
  CeedVectorCreate(ceed, n, &out);
  if (!RitzPreconditionerApply(pc, in, out)) reference_values(out, z);
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return z;
}

#endif
