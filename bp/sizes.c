// SPDX-License-Identifier: BSD-2-Clause
// Sizes, costs and bounds of the bake-off problems, which are known before anything runs. Includes the public
// Ceed header and nothing else of any library, so that it compiles against every implementation.
#include <math.h>
#include <stdint.h>

#include "bp/problem.h"

// ---- Names ----

const char *bp_operator_name(int bp) { return bp_is_mass(bp) ? "mass" : "diffusion"; }

const char *bp_geometry_name(CostGeometry geometry) {
  static const char *const names[] = {[COST_STORED] = "stored",
                                      [COST_TRILINEAR] = "trilinear",
                                      [COST_AFFINE] = "affine",
                                      [COST_PARTIAL] = "partial",
                                      [COST_MERGED] = "merged"};

  return names[geometry];
}

// ---- Sizes ----

// Elements per direction, so that the product of the nodes per direction is near `nodes`.
static void choose_box(double nodes, CeedInt order, CeedInt n[3]) {
  double rest = nodes;

  for (int d = 0; d < 3; d++) {
    double wanted = (pow(rest, 1.0 / (3 - d)) - 1) / order;
    n[d] = wanted < 1 ? 1 : (CeedInt)floor(wanted + 0.5);
    rest /= (double)n[d] * order + 1;
  }
}

// Options that cannot be served at all.
static int check_bp_options(Ceed ceed, const BpOptions *o) {
  bool has_size = o->n >= 1 || (o->n == 0 && o->size >= 1);

  if (o->geometry > COST_AFFINE || (o->geometry == COST_AFFINE && o->deform != 0)) {
    return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                     "BP%d with deformation %g: expected geometry stored or trilinear, or affine without "
                     "deformation, found %s",
                     o->bp, o->deform, bp_geometry_name(o->geometry));
  }
  if (o->shape && o->bp > 4) {
    return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                     "BP%d has Gauss-Lobatto points at the nodes of hexahedra: on other shapes BP1 to BP4",
                     o->bp);
  }
  if (o->bp < BP_FIRST || o->bp > BP_LAST || o->order < 1 || !has_size || !isfinite(o->deform)) {
    return CeedError(ceed, CEED_ERROR_INCOMPATIBLE,
                     "BP%d of degree %" CeedInt_FMT " with %" CeedSize_FMT
                     " DOFs and deformation %g does not exist",
                     o->bp, o->order, o->size, o->deform);
  }
  if (o->order <= 1000 && o->size <= INT32_MAX && o->n <= 2000) return CEED_ERROR_SUCCESS;
  return CeedError(
      ceed, CEED_ERROR_UNSUPPORTED,
      "BP%d: degree %" CeedInt_FMT " with %" CeedSize_FMT
      " DOFs is too large: up to degree 1000, %d DOFs (offsets are CeedInt) and 2000 elements per "
      "direction",
      o->bp, o->order, o->size, INT32_MAX);
}

// Elements, their nodes and points.
static int count_in_element(Ceed ceed, BpResult *r) {
  r->num_elem = r->elements[0] * r->elements[1] * r->elements[2];
  r->num_nodes = r->P * r->P * r->P;
  r->num_points = r->Q * r->Q * r->Q;
  if (!r->options.shape) return CEED_ERROR_SUCCESS;
  const int in_box = bp_shape_elements(r->options.shape);
  if (r->num_elem > INT32_MAX / in_box) {
    return CeedError(ceed, CEED_ERROR_UNSUPPORTED,
                     "BP%d: %" CeedInt_FMT " boxes of %d elements, up to %d fit", r->options.bp, r->num_elem,
                     in_box, INT32_MAX / in_box);
  }
  r->Q = 0;
  r->num_elem *= in_box;
  return bp_shape_count(ceed, r, &r->num_nodes, &r->num_points);
}

int bp_choose_sizes(Ceed ceed, BpResult *r) {
  const BpOptions *o = &r->options;

  BP_TRY(check_bp_options(ceed, o));
  r->num_comp = o->bp % 2 ? 1 : 3;
  r->P = o->order + 1;
  r->Q = o->bp <= 4 ? o->order + 2 : o->order + 1;
  for (int d = 0; d < 3; d++) r->elements[d] = o->n;
  const double extra = (double)bp_shape_extra_nodes(o->shape, o->order), cube = pow(o->order, 3);
  if (o->n == 0) choose_box((double)o->size / r->num_comp * cube / (cube + extra), o->order, r->elements);

  double dofs = 1, boxes = 1;
  for (int d = 0; d < 3; d++) dofs *= (double)r->elements[d] * o->order + 1, boxes *= r->elements[d];
  dofs = r->num_comp * (dofs + boxes * extra);
  if (dofs > INT32_MAX) {
    return CeedError(ceed, CEED_ERROR_UNSUPPORTED, "BP%d: the nearest box has %.0f DOFs, up to %d fit", o->bp,
                     dofs, INT32_MAX);
  }
  r->dofs = (CeedSize)dofs;
  return count_in_element(ceed, r);
}

// ---- Costs ----

BpBound bp_find_bound(const BpMachine *machine, const Costs *costs, double *seconds) {
  *seconds = 0;
  if (!(machine->bandwidth > 0 && machine->peak > 0)) return BP_BOUND_UNKNOWN;
  double memory = costs->bytes / machine->bandwidth,
         flops = (costs->flops + costs->recompute) / machine->peak;
  *seconds = fmax(memory, flops);
  if (flops > memory) return BP_BOUND_FLOPS;
  return costs->bytes < machine->cache ? BP_BOUND_CACHE : BP_BOUND_MEMORY;
}

void bp_count_costs(BpResult *r) {
  const BpShape *shape = r->options.shape;
  const double boxes = (double)r->elements[0] * r->elements[1] * r->elements[2];
  CeedInt vertices[3];
  const CostedOperator op = {
      .mass = bp_is_mass(r->options.bp),
      .diffusion = !bp_is_mass(r->options.bp),
      .geometry = r->options.geometry,
      .components = r->num_comp,
      .elements = r->num_elem,
      .dofs = (double)r->dofs,
      .vertices = (double)bp_count_nodes(r, 1, vertices) + boxes * (double)bp_shape_extra_nodes(shape, 1),
      .P = r->P,
      .Q = r->Q,
      .nodes = shape ? r->num_nodes : 0,
      .points = shape ? r->num_points : 0,
      .corners = shape ? bp_shape_corners(shape) : 0,
      .scalar_bytes = r->options.single ? sizeof(float) : sizeof(CeedScalar),
  };

  r->costs = cost_of_apply(&op);
  if (r->options.mode == BP_CG) cost_add_cg(&r->costs, op.dofs, r->merged, false);
  r->bound = bp_find_bound(&r->options.machine, &r->costs, &r->seconds_bound);
}

int bp_predict(Ceed ceed, const BpOptions *options, BpResult *result) {
  *result = (BpResult){.options = *options};
  BP_TRY(bp_choose_sizes(ceed, result));
  bp_count_costs(result);
  return CEED_ERROR_SUCCESS;
}
