// SPDX-License-Identifier: BSD-2-Clause
// The operator of a point function. Public function; the QFunctions are the user's (ritz/point-function.h).
#include <ritz/jit-source/geometry/points.h>

#include "geometry/geometry.h"

typedef struct {
  const RitzPointFunction *function; // borrowed
  CeedQFunctionContext context;      // borrowed; NULL: none
} PointData;

static int add_geometry(RitzGeometryPart *part, RitzGeometryPolicy treatment) {
  if (treatment == RITZ_POLICY_STORED)
    return ritz_geometry_add_numbers(part, "inverse Jacobian", RITZ_SETUP_MASS | RITZ_SETUP_GRADIENTS, false);
  const RitzGeometryNodes nodes = treatment == RITZ_POLICY_AFFINE      ? RITZ_NODES_EDGES
                                  : treatment == RITZ_POLICY_TRILINEAR ? RITZ_NODES_CORNERS
                                                                       : RITZ_NODES_ALL;

  RITZ_TRY(ritz_geometry_add_coordinates(part, nodes));
  return ritz_geometry_add_weights(part, "weights");
}

// Gradients to space and back; the user's own operations are not known.
static CeedSize useful_flops(const RitzGeometryCase *c) {
  return (CeedSize)c->num_comp * (4 * c->dim * c->dim - c->dim + 1);
}

static int make_point_part(RitzGeometryPart *part, RitzGeometryPolicy treatment, void *data,
                           CeedOperator *op) {
  const PointData *point = data;
  const RitzPointFunction *f = point->function;
  const RitzGeometryFunction function = treatment == RITZ_POLICY_STORED
                                            ? (RitzGeometryFunction){f->stored, f->stored_loc}
                                            : (RitzGeometryFunction){f->computed, f->computed_loc};

  RITZ_TRY(ritz_geometry_add_unknown(part, "u", CEED_EVAL_INTERP));
  RITZ_TRY(ritz_geometry_add_unknown(part, "du", CEED_EVAL_GRAD));
  RITZ_TRY(add_geometry(part, treatment));
  RITZ_TRY(ritz_geometry_add_unknown(part, "v", CEED_EVAL_INTERP));
  RITZ_TRY(ritz_geometry_add_unknown(part, "dv", CEED_EVAL_GRAD));
  return ritz_geometry_part_operator(part, 2, function, useful_flops(&part->shared->c), point->context, op);
}

static int check_function(const RitzGeometryCase *c, const RitzPointFunction *f) {
  RITZ_REQUIRE(f->stored && f->computed && f->stored_loc && f->computed_loc, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreatePointOperator: the point function lacks a function or its source");
  RITZ_REQUIRE(f->dim == c->dim && f->dim == c->space_dim && f->num_comp == c->num_comp, c->ceed,
               CEED_ERROR_INCOMPATIBLE,
               "RitzGeometryCreatePointOperator: the point function is for dimension %" CeedInt_FMT
               " and %" CeedInt_FMT " components; the mesh has dimension %" CeedInt_FMT
               " in space of dimension %" CeedInt_FMT ", the space %" CeedInt_FMT " components",
               f->dim, f->num_comp, c->dim, c->space_dim, c->num_comp);
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryCreatePointOperator(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                                    const RitzPointFunction *function, CeedQFunctionContext context,
                                    CeedOperator *op) {
  RitzOperatorOptions used = {.kind = RITZ_OPERATOR_POINT_FUNCTION};
  RitzGeometryCase c;
  PointData data = {function, context};

  RITZ_HANDLE(op, geometry, ceed, context);
  *op = NULL;
  if (options) {
    used.space = options->space;
    used.num_points = options->num_points;
    used.quad_mode = options->quad_mode;
    used.policy = options->policy;
    used.num_regions = options->num_regions;
    used.regions = options->regions;
    used.elements = options->elements;
  }
  RITZ_TRY(ritz_geometry_case(__func__, geometry, ceed, options ? &used : NULL, &c));
  RITZ_REQUIRE(function, ceed, CEED_ERROR_INCOMPATIBLE, "%s: argument 'function' is NULL", __func__);
  RITZ_OPTIONAL(ceed, context);
  RITZ_TRY(check_function(&c, function));
  return ritz_geometry_composite(&c, "point function", make_point_part, &data, op);
}
