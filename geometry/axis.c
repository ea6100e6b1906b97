// SPDX-License-Identifier: BSD-2-Clause
// Bodies of revolution about x = 0, whose mesh is one half of a meridian plane: weights of points times their
// circumference 2 pi x. Called by operator.c, setup.c and facets.c.
#include <math.h>
#include <ritz/operator.h>

#include "geometry/geometry.h"

int ritz_geometry_check_axis(const char *call, Ceed ceed, RitzGeometry geometry, double *width) {
  double largest = 0, least[2] = {0, 0};

  RITZ_REQUIRE(
      geometry->space_dim == 2, ceed, CEED_ERROR_UNSUPPORTED,
      "%s: a body of revolution needs a mesh of the plane, found one in space of dimension %" CeedInt_FMT,
      call, geometry->space_dim);
  for (CeedInt b = 0; b < geometry->num_blocks; b++) {
    const double *x = NULL;
    int64_t num_elem = 0;

    RITZ_TRY(RitzMeshGetBlock(geometry->mesh, b, NULL, NULL, &num_elem, NULL, &x));
    for (int64_t i = 0; i < num_elem * geometry->blocks[b].num_nodes; i++) {
      largest = fmax(largest, fabs(x[2 * i]));
      if (x[2 * i] >= least[0]) continue;
      least[0] = x[2 * i];
      least[1] = x[2 * i + 1];
    }
  }
  *width = fmax(1e-10, 10 * CEED_EPSILON) * largest;
  RITZ_REQUIRE(least[0] >= -*width, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a body of revolution about x = 0 needs a mesh with x >= 0, found a node at (%g, %g)",
               call, least[0], least[1]);
  return CEED_ERROR_SUCCESS;
}

int ritz_geometry_circumference(const char *call, Ceed ceed, double width, const double x[3],
                                double *circumference) {
  RITZ_REQUIRE(x[0] >= -width, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a body of revolution about x = 0 needs elements with x >= 0, found one that bends to "
               "(%g, %g)",
               call, x[0], x[1]);
  *circumference = 6.283185307179586477 * fmax(x[0], 0);
  return CEED_ERROR_SUCCESS;
}

// weights: those of basis_x times the circumference, at the points of rstr.
static int compute_ring_weights(Ceed ceed, CeedElemRestriction rstr_x, CeedBasis basis_x, CeedVector x,
                                CeedElemRestriction rstr, CeedVector weights) {
  const RitzGeometryFunction function = ritz_geometry_ring_function();
  RitzGeometryFields fields = {0};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(ritz_geometry_fields_add(ceed, &fields, "x", 2, CEED_EVAL_INTERP, rstr_x, basis_x, x));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_add(ceed, &fields, "weights", 1, CEED_EVAL_WEIGHT,
                                            CEED_ELEMRESTRICTION_NONE, basis_x, CEED_VECTOR_NONE));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_add(ceed, &fields, "ring weights", 1, CEED_EVAL_NONE, rstr,
                                            CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  RITZ_TRY_CLEANUP(CeedQFunctionCreateInterior(ceed, 1, function.f, function.source, &qf));
  RITZ_TRY_CLEANUP(ritz_geometry_fields_operator(&fields, 1, qf, NULL, &op));
  RITZ_TRY_CLEANUP(RitzOperatorSetUse(op, RITZ_USE_ONCE));
  RITZ_TRY_CLEANUP(CeedOperatorApply(op, CEED_VECTOR_NONE, weights, CEED_REQUEST_IMMEDIATE));
cleanup:
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  ritz_geometry_fields_clear(&fields);
  return ierr;
}

int ritz_geometry_add_ring_weights(Ceed ceed, CeedElemRestriction rstr_x, CeedBasis basis_x, CeedVector x,
                                   RitzGeometryFields *fields) {
  CeedElemRestriction rstr = NULL;
  CeedVector weights = NULL;
  CeedInt num = 0, Q = 0;
  int ierr;

  RITZ_TRY_CLEANUP(CeedElemRestrictionGetNumElements(rstr_x, &num));
  RITZ_TRY_CLEANUP(CeedBasisGetNumQuadraturePoints(basis_x, &Q));
  RITZ_TRY_CLEANUP(
      CeedElemRestrictionCreateStrided(ceed, num, Q, 1, (CeedSize)num * Q, CEED_STRIDES_BACKEND, &rstr));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateVector(rstr, &weights, NULL));
  RITZ_TRY_CLEANUP(compute_ring_weights(ceed, rstr_x, basis_x, x, rstr, weights));
  ierr = ritz_geometry_fields_add(ceed, fields, "weights", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, weights);
cleanup:
  CeedVectorDestroy(&weights);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}
