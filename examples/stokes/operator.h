// SPDX-License-Identifier: BSD-2-Clause
// The operator of the Stokes equations on a product of velocity and pressure, for examples/stokes/cavity.c:
// what is done at a point is in examples/stokes/stokes.h.
#ifndef RITZ_EXAMPLES_STOKES_OPERATOR_H
#define RITZ_EXAMPLES_STOKES_OPERATOR_H

#include <ritz.h>
#include <stdlib.h>

#include "examples/stokes/stokes.h"

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

// The operator on both fields: one kernel, each field by its restriction in the product.
static CeedOperator create_stokes(Ceed ceed, RitzMesh mesh, RitzProductSpace product, CeedInt quad_degree) {
  static const struct {
    const char *name;
    CeedInt size;
    CeedEvalMode mode;
    int of; // velocity, pressure, coordinates, weights
  } fields[] = {{"du", 4, CEED_EVAL_GRAD, 0}, {"p", 1, CEED_EVAL_INTERP, 1},
                {"dx", 4, CEED_EVAL_GRAD, 2}, {"weights", 1, CEED_EVAL_WEIGHT, 3},
                {"dv", 4, CEED_EVAL_GRAD, 0}, {"q", 1, CEED_EVAL_INTERP, 1}};
  CeedElemRestriction rstr[4] = {[3] = CEED_ELEMRESTRICTION_NONE};
  CeedBasis basis[4];
  CeedVector vectors[4] = {CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, NULL, CEED_VECTOR_NONE};
  CeedQFunction qf;
  CeedOperator op;

  for (CeedInt i = 0; i < 2; i++) {
    RitzSpace space;
    MUST(RitzProductSpaceGetSpace(product, i, &space));
    MUST(RitzProductSpaceCreateBlockRestriction(product, i, 0, ceed, &rstr[i]));
    MUST(RitzSpaceCreateBlockBasis(space, 0, ceed, quad_degree, &basis[i]));
  }
  MUST(RitzMeshCreateCoordinates(mesh, ceed, &rstr[2], &vectors[2]));
  MUST(RitzMeshCreateBlockBasis(mesh, 0, ceed, quad_degree, &basis[2]));
  basis[3] = basis[2];
  MUST(CeedQFunctionCreateInterior(ceed, 1, stokes, stokes_loc, &qf));
  for (int i = 0; i < 6; i++)
    MUST((i < 4 ? CeedQFunctionAddInput : CeedQFunctionAddOutput)(qf, fields[i].name, fields[i].size,
                                                                  fields[i].mode));
  MUST(CeedOperatorCreate(ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op));
  for (int i = 0; i < 6; i++)
    MUST(CeedOperatorSetField(op, fields[i].name, rstr[fields[i].of], basis[fields[i].of],
                              vectors[fields[i].of]));
  for (int i = 0; i < 3; i++) {
    CeedElemRestrictionDestroy(&rstr[i]);
    CeedBasisDestroy(&basis[i]);
  }
  CeedVectorDestroy(&vectors[2]);
  CeedQFunctionDestroy(&qf);
  return op;
}

#endif
