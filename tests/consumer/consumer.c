// SPDX-License-Identifier: BSD-2-Clause
// A program outside Ritz: mass matrix of a box with functions of the gallery, with those of RitzGeometry and
// with its own, each from its text. The sum of the entries is the volume. Built by tools/check-consumer
// against an installed Ritz; exits with 0 when all volumes are right. With the argument "where" it prints
// where the library finds its headers, or "nowhere".
#include <ceed.h>
#include <ceed/jit-tools.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer-function.h"

enum { DIM = 3, DEGREE = 3, P = DEGREE + 1, Q = DEGREE + 2, GEOMETRY_P = 2 };

// The objects share one context and one space; Ceed's default error handler ends the program at the first
// fault.
typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  CeedInt num_elem;
  CeedElemRestriction rstr_x, rstr_u, rstr_qdata;
  CeedBasis basis_x, basis_u;
  CeedVector x, qdata, u, v;
} Problem;

static void setup(Problem *p) {
  const CeedInt n[] = {2, 3, 2};
  const double upper[] = {2.0, 3.0, 0.5};
  int64_t num_elem;
  CeedSize size;

  CeedInit("/cpu/self", &p->ceed);
  RitzMeshCreateBox(p->ceed, DIM, n, NULL, upper, GEOMETRY_P - 1, NULL, NULL, &p->mesh);
  RitzSpaceCreate(p->mesh, DEGREE, 1, &p->space);
  RitzMeshGetNumElements(p->mesh, &num_elem);
  RitzSpaceGetSize(p->space, &size);
  p->num_elem = (CeedInt)num_elem;

  RitzMeshCreateCoordinates(p->mesh, p->ceed, &p->rstr_x, &p->x);
  RitzSpaceCreateRestriction(p->space, p->ceed, &p->rstr_u);
  CeedElemRestrictionCreateStrided(p->ceed, p->num_elem, Q * Q * Q, 1, (CeedSize)p->num_elem * Q * Q * Q,
                                   CEED_STRIDES_BACKEND, &p->rstr_qdata);
  CeedBasisCreateTensorH1Lagrange(p->ceed, DIM, DIM, GEOMETRY_P, Q, CEED_GAUSS, &p->basis_x);
  CeedBasisCreateTensorH1Lagrange(p->ceed, DIM, 1, P, Q, CEED_GAUSS, &p->basis_u);
  CeedElemRestrictionCreateVector(p->rstr_qdata, &p->qdata, NULL);
  CeedVectorCreate(p->ceed, size, &p->u);
  CeedVectorCreate(p->ceed, size, &p->v);
}

static void destroy(Problem *p) {
  CeedVectorDestroy(&p->x);
  CeedVectorDestroy(&p->qdata);
  CeedVectorDestroy(&p->u);
  CeedVectorDestroy(&p->v);
  CeedElemRestrictionDestroy(&p->rstr_x);
  CeedElemRestrictionDestroy(&p->rstr_u);
  CeedElemRestrictionDestroy(&p->rstr_qdata);
  CeedBasisDestroy(&p->basis_x);
  CeedBasisDestroy(&p->basis_u);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  CeedDestroy(&p->ceed);
}

// qdata = weight times det J at every point.
static void build_qdata(Problem *p) {
  CeedQFunction qf;
  CeedOperator op;

  CeedQFunctionCreateInteriorByName(p->ceed, "Mass3DBuild", &qf);
  CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  CeedOperatorSetField(op, "dx", p->rstr_x, p->basis_x, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "weights", CEED_ELEMRESTRICTION_NONE, p->basis_x, CEED_VECTOR_NONE);
  CeedOperatorSetField(op, "qdata", p->rstr_qdata, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE);
  CeedOperatorApply(op, p->x, p->qdata, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
}

// v = M u
static void apply_mass(Problem *p) {
  CeedQFunction qf;
  CeedOperator op;

  CeedQFunctionCreateInteriorByName(p->ceed, "MassApply", &qf);
  CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, &op);
  CeedOperatorSetField(op, "u", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
  CeedOperatorSetField(op, "qdata", p->rstr_qdata, CEED_BASIS_NONE, p->qdata);
  CeedOperatorSetField(op, "v", p->rstr_u, p->basis_u, CEED_VECTOR_ACTIVE);
  CeedOperatorApply(op, p->u, p->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
}

static double sum(CeedVector vec) {
  const CeedScalar *values;
  CeedSize length;
  double total = 0.0;

  CeedVectorGetLength(vec, &length);
  CeedVectorGetArrayRead(vec, CEED_MEM_HOST, &values);
  for (CeedSize i = 0; i < length; i++) total += values[i];
  CeedVectorRestoreArrayRead(vec, &values);
  return total;
}

// v = M u or, with the function of this program, 2 M u.
static void apply_geometry(Problem *p, int is_own) {
  const RitzPointFunction twice = RITZ_POINT_FUNCTION_TABLE(Twice, 3, 1);
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p->space, .num_points = Q};
  RitzGeometry geometry;
  CeedOperator op;

  RitzGeometryCreate(p->mesh, 0.0, &geometry);
  if (is_own)
    RitzGeometryCreatePointOperator(geometry, p->ceed, &options, &twice, NULL, &op);
  else
    RitzGeometryCreateOperator(geometry, p->ceed, &options, &op);
  CeedOperatorApply(op, p->u, p->v, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  RitzGeometryDestroy(&geometry);
}

// 2000: about as many additions of terms that sum to the volume, in CeedScalar.
static int is_right(const char *who, double found, double volume) {
  int right = fabs(found - volume) <= 2000 * (sizeof(CeedScalar) == 8 ? 2.3e-16 : 1.2e-7) * volume;

  printf("%s: volume %.15g, %s\n", who, found, right ? "as it must be" : "WRONG");
  return right;
}

static int print_include_folder(void) {
  const char *path;
  Ceed ceed;

  CeedInit("/cpu/self", &ceed);
  CeedSetErrorHandler(ceed, CeedErrorReturn);
  int is_lost = CeedGetJitAbsolutePath(ceed, "ritz/version.h", &path);
  puts(is_lost ? "nowhere" : path);
  if (!is_lost) free((char *)path);
  CeedDestroy(&ceed);
  return 0;
}

int main(int argc, char **argv) {
  const double volume = 2.0 * 3.0 * 0.5;
  int right = 1;
  Problem p;

  if (argc > 1 && !strcmp(argv[1], "where")) return print_include_folder();
  setup(&p);
  build_qdata(&p);
  CeedVectorSetValue(p.u, 1.0);
  apply_mass(&p);
  right = is_right("gallery", sum(p.v), volume) && right;
  apply_geometry(&p, 0);
  right = is_right("geometry", sum(p.v), volume) && right;
  apply_geometry(&p, 1);
  right = is_right("own function", sum(p.v) / 2, volume) && right;
  destroy(&p);
  return right ? 0 : 1;
}
