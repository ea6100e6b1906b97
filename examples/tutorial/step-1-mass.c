// SPDX-License-Identifier: BSD-2-Clause
// Step 1 of doc/tutorial.md: integrals by a mass operator, on a quarter of a ring that a function bends. The
// area is 1 . M 1, the moment of x is 1 . M x: exact up to how well polynomials follow the arcs.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// What fails says why by itself.
static void must(int code) {
  if (code) exit(1);
}

static const double pi = 3.14159265358979323846;

// The unit square as radii from 1 to 2 and angles from 0 to a right one.
static int ring(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx, (void)dim;
  x[0] = (1 + X[0]) * cos(pi / 2 * X[1]);
  x[1] = (1 + X[0]) * sin(pi / 2 * X[1]);
  return 0;
}

static int get_x(void *ctx, const double *x, double *u) {
  (void)ctx;
  u[0] = x[0];
  return 0;
}

static double integrate(Ceed ceed, CeedInt order) {
  RitzMesh mesh;
  RitzSpace space;
  RitzGeometry geometry;
  CeedOperator mass;
  CeedVector one, x, result;
  CeedSize size;
  double area, moment;

  must(RitzMeshCreateBox(ceed, 2, (CeedInt[]){2, 4}, NULL, NULL, order, ring, NULL, &mesh));
  must(RitzSpaceCreate(mesh, order, 1, &space)); // continuous, of that degree, one component
  must(RitzSpaceGetSize(space, &size));
  must(CeedVectorCreate(ceed, size, &one));
  must(CeedVectorCreate(ceed, size, &x));
  must(CeedVectorCreate(ceed, size, &result));
  must(CeedVectorSetValue(one, 1));
  must(RitzSpaceInterpolate(space, get_x, NULL, x));

  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = space};
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &mass));
  must(CeedOperatorApply(mass, one, result, CEED_REQUEST_IMMEDIATE)); // result = M 1
  must(RitzVectorDot(one, result, &area));
  must(RitzVectorDot(x, result, &moment));
  printf("degree %d: area %.6f, moment of x %.6f\n", (int)order, area, moment);

  CeedVectorDestroy(&one);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&result);
  CeedOperatorDestroy(&mass);
  RitzGeometryDestroy(&geometry);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  return fmax(fabs(area - 0.75 * pi), fabs(moment - 7.0 / 3));
}

int main(int argc, char **argv) {
  double error[4];
  Ceed ceed;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  for (CeedInt order = 1; order <= 3; order++) error[order] = integrate(ceed, order);
  printf("exact:    area %.6f, moment of x %.6f\n", 0.75 * pi, 7.0 / 3);
  CeedDestroy(&ceed);
  return error[2] < error[1] / 20 && error[3] < error[2] / 20 ? 0 : 1;
}
