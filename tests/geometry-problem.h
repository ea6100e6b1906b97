// SPDX-License-Identifier: BSD-2-Clause
// A bake-off problem of one component on two elements a direction whose geometry is computed in the kernel:
// from the corners of trilinear elements, or from numbers of affine ones. Vectors are zero: its kernels are
// looked at, not its results. Included by tests/test-nvrtc-kernels.c.
#ifndef RITZ_TESTS_GEOMETRY_PROBLEM_H
#define RITZ_TESTS_GEOMETRY_PROBLEM_H

#include <stdbool.h>
#include <stdlib.h>

#include "tests/geometry-qfunctions.h"
#include "tests/tap.h"

typedef struct {
  int bp; // 1, 3, 5
  CeedInt order;
  bool is_affine;
} GeometryShape;

// All handles are owned.
typedef struct {
  CeedElemRestriction rstr_u, rstr_x;
  CeedBasis basis_u, basis_x;
  CeedVector u, v, x;
  CeedQFunction qf;
  CeedOperator op;
} GeometryProblem;

// Nodes of a box of 2^3 elements, the first direction fastest.
static inline int geometry_restriction(Ceed ceed, CeedInt order, CeedInt num_comp,
                                       CeedElemRestriction *rstr) {
  const CeedInt P = order + 1, n = 2 * order + 1, size = P * P * P;
  CeedInt *offsets = calloc(8 * (size_t)size, sizeof(*offsets));

  for (CeedInt e = 0; e < 8; e++)
    for (CeedInt k = 0; k < size; k++) {
      const CeedInt i = e % 2 * order + k % P, j = e / 2 % 2 * order + k / P % P,
                    l = e / 4 * order + k / (P * P);
      offsets[e * size + k] = num_comp * (i + n * (j + n * l));
    }
  const int ierr = CeedElemRestrictionCreate(ceed, 8, size, num_comp, 1, (CeedSize)n * n * n * num_comp,
                                             CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr);
  free(offsets);
  return ierr;
}

static inline int geometry_numbers(Ceed ceed, const GeometryShape *s, CeedInt Q_1d, GeometryProblem *p) {
  const CeedInt num = s->bp == 1 ? 1 : 6;
  CeedScalar ones[16], zeros[16] = {0};

  for (CeedInt q = 0; q < Q_1d; q++) ones[q] = 1;
  CeedCall(CeedElemRestrictionCreateStrided(ceed, 8, 1, num, 8 * num, (CeedInt[]){num, 1, num}, &p->rstr_x));
  return CeedBasisCreateTensorH1(ceed, 3, num, 1, Q_1d, ones, zeros, zeros, ones, &p->basis_x);
}

static inline int geometry_coordinates(Ceed ceed, CeedInt Q_1d, CeedQuadMode mode, GeometryProblem *p) {
  CeedCall(geometry_restriction(ceed, 1, 3, &p->rstr_x));
  return CeedBasisCreateTensorH1Lagrange(ceed, 3, 3, 2, Q_1d, mode, &p->basis_x);
}

static inline int geometry_function(Ceed ceed, const GeometryShape *s, CeedQFunction *qf) {
  const CeedEvalMode mode = s->bp == 1 ? CEED_EVAL_INTERP : CEED_EVAL_GRAD;
  const CeedInt size = s->bp == 1 ? 1 : 3, num = s->bp == 1 ? 1 : 6;

  CeedCall(s->is_affine ? s->bp == 1 ? CeedQFunctionCreateInterior(ceed, 1, GeometryMassAffine,
                                                                   GeometryMassAffine_loc, qf)
                                     : CeedQFunctionCreateInterior(ceed, 1, GeometryDiffusionAffine,
                                                                   GeometryDiffusionAffine_loc, qf)
           : s->bp == 1
               ? CeedQFunctionCreateInterior(ceed, 1, GeometryMassTrilinear, GeometryMassTrilinear_loc, qf)
               : CeedQFunctionCreateInterior(ceed, 1, GeometryDiffusionTrilinear,
                                             GeometryDiffusionTrilinear_loc, qf));
  CeedCall(CeedQFunctionAddInput(*qf, "u", size, mode));
  CeedCall(s->is_affine ? CeedQFunctionAddInput(*qf, "x", num, CEED_EVAL_INTERP)
                        : CeedQFunctionAddInput(*qf, "x", 9, CEED_EVAL_GRAD));
  CeedCall(CeedQFunctionAddInput(*qf, "weight", 1, CEED_EVAL_WEIGHT));
  return CeedQFunctionAddOutput(*qf, "v", size, mode);
}

// To be destroyed in any case.
static inline int geometry_create(Ceed ceed, const GeometryShape *s, GeometryProblem *p) {
  const CeedQuadMode mode = s->bp == 5 ? CEED_GAUSS_LOBATTO : CEED_GAUSS;
  const CeedInt Q_1d = s->bp == 5 ? s->order + 1 : s->order + 2;

  *p = (GeometryProblem){0};
  CeedCall(geometry_restriction(ceed, s->order, 1, &p->rstr_u));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, s->order + 1, Q_1d, mode, &p->basis_u));
  CeedCall(s->is_affine ? geometry_numbers(ceed, s, Q_1d, p) : geometry_coordinates(ceed, Q_1d, mode, p));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_u, &p->u, NULL));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_u, &p->v, NULL));
  CeedCall(CeedElemRestrictionCreateVector(p->rstr_x, &p->x, NULL));
  CeedCall(CeedVectorSetValue(p->u, 0));
  CeedCall(CeedVectorSetValue(p->x, 0));
  CeedCall(geometry_function(ceed, s, &p->qf));
  CeedCall(CeedOperatorCreate(ceed, p->qf, NULL, NULL, &p->op));
  CeedCall(CeedOperatorSetField(p->op, "u", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE));
  CeedCall(CeedOperatorSetField(p->op, "x", p->rstr_x, p->basis_x, p->x));
  CeedCall(CeedOperatorSetField(p->op, "weight", CEED_ELEMRESTRICTION_NONE, p->basis_u, CEED_VECTOR_NONE));
  return CeedOperatorSetField(p->op, "v", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
}

static inline void geometry_destroy(GeometryProblem *p) {
  CeedElemRestrictionDestroy(&p->rstr_u);
  CeedElemRestrictionDestroy(&p->rstr_x);
  CeedBasisDestroy(&p->basis_u);
  CeedBasisDestroy(&p->basis_x);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedVectorDestroy(&p->x);
  CeedQFunctionDestroy(&p->qf);
  CeedOperatorDestroy(&p->op);
}

#endif
