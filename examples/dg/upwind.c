// SPDX-License-Identifier: BSD-2-Clause
// A hill that a constant wind carries over the unit square, by the discontinuous Galerkin method with upwind
// fluxes, explicit in time: Runge-Kutta of order three, strong stability preserving (Shu and Osher, J.
// Comput. Phys. 77, 1988). The fluxes are all that is written by hand.
//
//     upwind [RESOURCE [FILE.vtu]]
//
// Prints mass and error; exit status 1 where mass is lost or the hill is not where the wind took it.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/dg/upwind.h"

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

enum { NUM = 20, DEGREE = 3 }; // elements a direction

typedef struct {
  CeedOperator fluxes;        // of elements and facets
  RitzPreconditioner inverse; // of the mass matrix
  CeedVector rate, slope;
} Advection;

// The hill at time t, all of it inside of the square while t is below 0.3.
static int hill(void *ctx, const double *x, double *u) {
  const double t = *(const double *)ctx, dx = x[0] - 0.35 - WIND_X * t, dy = x[1] - 0.4 - WIND_Y * t;

  u[0] = exp(-200 * (dx * dx + dy * dy));
  return 0;
}

static int known_hill(void *ctx, const double *x, double *u, double *gradients) {
  (void)gradients;
  return hill(ctx, x, u);
}

static void add_parts(CeedOperator from, CeedOperator to) {
  CeedOperator *parts;
  CeedInt num;

  MUST(CeedOperatorCompositeGetNumSub(from, &num));
  MUST(CeedOperatorCompositeGetSubList(from, &parts));
  for (CeedInt i = 0; i < num; i++) MUST(CeedOperatorCompositeAddSub(to, parts[i]));
}

static CeedOperator create_fluxes(RitzGeometry geometry, Ceed ceed, RitzSpace space) {
  static const RitzPointFunction in_elements = RITZ_POINT_FUNCTION_TABLE(inside, 2, 1);
  static const RitzInteriorFacetFunction on_facets = RITZ_INTERIOR_FACET_FUNCTION_TABLE(across, 2, 1);
  static const RitzFacetFunction on_boundary = RITZ_FACET_FUNCTION_TABLE(outflow, 2, 1);
  const RitzOperatorOptions elements = {.space = space};
  const RitzInteriorFacetOptions facets = {.space = space};
  const RitzBoundaryOptions boundary = {.space = space};
  CeedOperator parts[3], all;

  MUST(RitzGeometryCreatePointOperator(geometry, ceed, &elements, &in_elements, NULL, &parts[0]));
  MUST(RitzGeometryCreateInteriorFacetOperator(geometry, ceed, &facets, &on_facets, NULL, &parts[1]));
  MUST(RitzGeometryCreateBoundaryOperator(geometry, ceed, &boundary, &on_boundary, NULL, &parts[2]));
  MUST(CeedOperatorCreateComposite(ceed, &all));
  for (int i = 0; i < 3; i++) add_parts(parts[i], all);
  for (int i = 0; i < 3; i++) CeedOperatorDestroy(&parts[i]);
  return all;
}

// next = a u + b (w + dt M^-1 fluxes(w)); w is spoiled.
static void stage(const Advection *adv, double dt, double a, CeedVector u, double b, CeedVector w,
                  CeedVector next) {
  MUST(CeedOperatorApply(adv->fluxes, w, adv->rate, CEED_REQUEST_IMMEDIATE));
  MUST(RitzPreconditionerApply(adv->inverse, adv->rate, adv->slope));
  MUST(CeedVectorAXPY(w, (CeedScalar)dt, adv->slope));
  MUST(RitzVectorSum(next, a, u, b, w));
}

int main(int argc, char **argv) {
  const double end = 0.3, dt = 0.15 / (NUM * (2 * DEGREE + 1));
  const int num_steps = (int)ceil(end / dt);
  double time = 0, error, mass[2];
  Ceed ceed;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedOperator mass_matrix;
  CeedVector u, w, v, weights;
  CeedSize size;
  Advection adv;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  MUST(RitzMeshCreateBox(ceed, 2, (CeedInt[]){NUM, NUM}, NULL, NULL, 1, NULL, NULL, &mesh));
  MUST(RitzGeometryCreate(mesh, -1, &geometry));
  MUST(RitzSpaceCreateDiscontinuous(mesh, DEGREE, 1, &space));
  MUST(RitzSpaceGetSize(space, &size));
  CeedVector *const vectors[] = {&u, &w, &v, &weights, &adv.rate, &adv.slope};
  for (int i = 0; i < 6; i++) MUST(CeedVectorCreate(ceed, size, vectors[i]));

  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = space};
  MUST(RitzGeometryCreateOperator(geometry, ceed, &options, &mass_matrix));
  MUST(RitzPreconditionerCreateDenseSchwarz(mass_matrix, space, NULL, &adv.inverse)); // blocks: exact
  adv.fluxes = create_fluxes(geometry, ceed, space);
  MUST(CeedVectorSetValue(u, 1));
  MUST(CeedOperatorApply(mass_matrix, u, weights, CEED_REQUEST_IMMEDIATE)); // integrals of the basis

  MUST(RitzSpaceInterpolate(space, hill, &time, u));
  MUST(RitzVectorDot(weights, u, &mass[0]));
  for (int step = 0; step < num_steps; step++) {
    MUST(CeedVectorCopy(u, w));
    stage(&adv, end / num_steps, 0, u, 1, w, v);
    stage(&adv, end / num_steps, 0.75, u, 0.25, v, w);
    stage(&adv, end / num_steps, 1 / 3.0, u, 2 / 3.0, w, v);
    MUST(CeedVectorCopy(v, u));
  }
  time = end;
  MUST(RitzVectorDot(weights, u, &mass[1]));
  MUST(RitzGeometryGetErrorNorms(geometry, ceed, space, u, 0, known_hill, &time, &error, NULL));
  printf("%d unknowns, %d steps: mass %.12f, then %.12f (change %.1e), error %.2e\n", (int)size, num_steps,
         mass[0], mass[1], mass[1] - mass[0], error);
  if (argc > 2) {
    const RitzOutputField field = {.name = "u", .space = space, .values = u};
    MUST(RitzWriteVTU(mesh, 1, &field, argv[2]));
  }

  for (int i = 0; i < 6; i++) CeedVectorDestroy(vectors[i]);
  CeedOperatorDestroy(&adv.fluxes);
  CeedOperatorDestroy(&mass_matrix);
  RitzPreconditionerDestroy(&adv.inverse);
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
  return fabs(mass[1] - mass[0]) < 1e-5 * mass[0] && error < 3e-4 ? 0 : 1;
}
