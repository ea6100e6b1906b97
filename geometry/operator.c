// SPDX-License-Identifier: BSD-2-Clause
// The standard operators: options, one part for each treatment of elements, the composite. Public functions.
#include <math.h>
#include <ritz/jit-source/geometry/points.h>
#include <ritz/partition.h>
#include <stdio.h>
#include <stdlib.h>

#include "fe/fe.h"
#include "geometry/geometry.h"

// ---- The case ----

static int check_operator_options(const char *call, Ceed ceed, const RitzOperatorOptions *o) {
  RITZ_REQUIRE((int)o->kind >= 0 && (int)o->kind < RITZ_NUM_OPERATOR_KINDS, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no kind of operator", call, (int)o->kind);
  RITZ_REQUIRE(RitzGeometryPolicyName(o->policy), ceed, CEED_ERROR_INCOMPATIBLE, "%s: %d is no policy", call,
               (int)o->policy);
  RITZ_REQUIRE(o->quad_mode == CEED_GAUSS || o->quad_mode == CEED_GAUSS_LOBATTO, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no quadrature rule", call, (int)o->quad_mode);
  RITZ_REQUIRE(o->num_points >= 0 && !(o->num_points == 1 && o->quad_mode == CEED_GAUSS_LOBATTO), ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: no rule of this kind has %" CeedInt_FMT " points a direction",
               call, o->num_points);
  RITZ_REQUIRE(o->kind != RITZ_OPERATOR_POINT_FUNCTION ||
                   (o->policy != RITZ_POLICY_PARTIAL && o->policy != RITZ_POLICY_MERGED),
               ceed, CEED_ERROR_UNSUPPORTED, "%s: there is no policy '%s' for point functions", call,
               RitzGeometryPolicyName(o->policy));
  RITZ_REQUIRE(isfinite((CeedScalar)o->lambda) && isfinite((CeedScalar)o->mu), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: lambda = %g and mu = %g have to be finite", call, o->lambda, o->mu);
  RITZ_REQUIRE(o->elements >= RITZ_ELEMENTS_ALL && o->elements <= RITZ_ELEMENTS_SEAM, ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: %d is no choice of elements", call, (int)o->elements);
  RITZ_REQUIRE(o->num_regions >= 0 && (!o->num_regions || o->regions), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %" CeedInt_FMT " regions, whose numbers are %s", call, o->num_regions,
               o->regions ? "given" : "NULL");
  return CEED_ERROR_SUCCESS;
}

static int check_mesh(const char *call, const RitzGeometryCase *c) {
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(c->options.space, &mesh));
  RITZ_REQUIRE(mesh == c->geometry->mesh, c->ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space is on another mesh than the geometry", call);
  return CEED_ERROR_SUCCESS;
}

// Offsets into the L-vector and numbers of nodes and points in an element, times components, are CeedInt.
static int check_geometry_sizes(const char *call, const RitzGeometryCase *c) {
  CeedSize l_size = 0;
  const double points = c->Q_1d > c->degree ? c->Q_1d : c->degree + 1;
  const double num_comp = c->num_comp > 3 ? c->num_comp : 3;

  RITZ_TRY(RitzSpaceGetSize(c->options.space, &l_size));
  RITZ_REQUIRE(l_size <= INT32_MAX && pow(points, c->dim) * num_comp * 3 <= INT32_MAX, c->ceed,
               CEED_ERROR_UNSUPPORTED,
               "%s: an L-vector of %" CeedSize_FMT " entries, or elements of %" CeedInt_FMT
               " points a direction, exceed the 32-bit offsets of a restriction",
               call, l_size, c->Q_1d);
  return CEED_ERROR_SUCCESS;
}

int ritz_geometry_case(const char *call, RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                       RitzGeometryCase *c) {
  CeedMemType mem_type;

  RITZ_HANDLE_OF(call, ceed, geometry);
  RITZ_ARGUMENT_OF(ceed, call, geometry);
  RITZ_ARGUMENT_OF(ceed, call, options);
  RitzSpace space = options->space;
  RITZ_REQUIRE(ritz_is_live(space, &ritz_space_class), ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: the space of the options is %s", call, ritz_found_at(space));
  RITZ_TRY(check_operator_options(call, ceed, options));
  *c = (RitzGeometryCase){.geometry = geometry,
                          .ceed = ceed,
                          .options = *options,
                          .dim = geometry->dim,
                          .space_dim = geometry->space_dim};
  RITZ_TRY(check_mesh(call, c));
  RITZ_TRY(RitzSpaceGetDegree(options->space, &c->degree));
  RITZ_TRY(RitzSpaceGetNumComponents(options->space, &c->num_comp));
  RITZ_TRY(CeedGetPreferredMemType(ceed, &mem_type));
  c->is_device = mem_type == CEED_MEM_DEVICE;
  RITZ_TRY(ritz_profile_limits(ceed, &c->limits));
  if (!options->lambda) c->options.lambda = 1;
  if (!options->mu) c->options.mu = 1;
  c->Q_1d = options->num_points;
  if (!c->Q_1d) c->Q_1d = c->degree + (options->quad_mode == CEED_GAUSS ? 2 : 1);
  if (options->is_axisymmetric) RITZ_TRY(ritz_geometry_check_axis(call, ceed, geometry, &c->axis_width));
  return check_geometry_sizes(call, c);
}

int ritz_geometry_enter_block(RitzGeometryCase *c, CeedInt block) {
  c->block = &c->geometry->blocks[block];
  if (!c->block->shape->is_tensor)
    return ritz_fe_shape_quadrature(c->ceed, c->block->shape->topology, 2 * c->Q_1d - 1, &c->Q, NULL, NULL);
  c->Q = CeedIntPow(c->Q_1d, c->dim);
  return CEED_ERROR_SUCCESS;
}

// ---- The composite ----

// Elements of the block, of the kinds that have this treatment, ascending: borrowed when they are of one
// kind, else in *merged (owned by the caller).
static int list_elements(const RitzGeometryCase *c, const RitzGeometryPolicy treatments[RITZ_NUM_KINDS],
                         RitzGeometryPolicy treatment, CeedInt **merged, RitzGeometryPart *part) {
  const CeedInt *elements = c->geometry->elements, *begin = c->block->begin, *end = c->block->end;
  CeedInt next[RITZ_NUM_KINDS];
  int num_kinds = 0;

  part->num_elem = 0;
  for (int k = 0; k < RITZ_NUM_KINDS; k++) {
    next[k] = treatments[k] == treatment ? begin[k] : end[k];
    if (next[k] == end[k]) continue;
    part->elements = elements + begin[k];
    part->num_elem += end[k] - begin[k];
    num_kinds++;
  }
  if (num_kinds < 2) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(c->ceed, (size_t)part->num_elem, merged));
  for (CeedInt i = 0; i < part->num_elem; i++) {
    int least = -1;

    for (int k = 0; k < RITZ_NUM_KINDS; k++) {
      if (next[k] == end[k]) continue;
      if (least < 0 || elements[next[k]] < elements[next[least]]) least = k;
    }
    (*merged)[i] = elements[next[least]++];
  }
  part->elements = *merged;
  return CEED_ERROR_SUCCESS;
}

// "mass, affine"; of several shapes "mass, tetrahedra, affine".
static void name_part(const RitzGeometryCase *c, const char *name, RitzGeometryPolicy treatment, size_t size,
                      char *full_name) {
  const bool is_one = c->geometry->num_blocks == 1;

  snprintf(full_name, size, "%s%s%s, %s", name, is_one ? "" : ", ", is_one ? "" : c->block->shape->plural,
           RitzGeometryPolicyName(treatment));
}

static bool is_listed(const RitzOperatorOptions *o, int32_t region) {
  for (CeedInt k = 0; k < o->num_regions; k++) {
    if (o->regions[k] == region) return true;
  }
  return o->num_regions == 0;
}

// Whether elements of this number are chosen: their region, their overlap, or one of the overlap's regions.
static bool is_in_regions(const RitzGeometryCase *c, int32_t number) {
  const RitzMesh mesh = c->geometry->mesh;
  const int32_t *regions = NULL;
  CeedInt num_overlaps = 0, num = 0;

  if (is_listed(&c->options, number)) return true;
  if (RitzMeshGetNumOverlaps(mesh, &num_overlaps) || number >= 0 || number < -num_overlaps) return false;
  if (RitzMeshGetOverlap(mesh, -1 - number, &num, &regions)) return false;
  for (CeedInt k = 0; k < num; k++) {
    if (is_listed(&c->options, regions[k])) return true;
  }
  return false;
}

// Keeps the elements that the options choose, in *kept (owned by the caller). Nothing where they choose all.
static int keep_chosen(const RitzGeometryCase *c, CeedInt **kept, RitzGeometryPart *part) {
  const RitzOperatorOptions *o = &c->options;
  const int32_t *regions = NULL;
  CeedInt num = 0;

  if ((!o->num_regions && !c->is_seam) || !part->num_elem) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshGetElementRegions(c->geometry->mesh, &regions));
  RITZ_TRY(RITZ_MALLOC(c->ceed, (size_t)part->num_elem, kept));
  for (CeedInt i = 0; i < part->num_elem; i++) {
    const CeedInt elem = part->elements[i];
    const bool is_chosen = !c->is_seam || c->is_seam[elem] == (o->elements == RITZ_ELEMENTS_SEAM);

    if (is_chosen && is_in_regions(c, regions[elem])) (*kept)[num++] = elem;
  }
  part->elements = *kept;
  part->num_elem = num;
  return CEED_ERROR_SUCCESS;
}

static int add_part(RitzGeometryPart *part, RitzGeometryPolicy treatment, const char *name,
                    RitzGeometryMakePart make, void *data, CeedOperator composite) {
  CeedOperator op = NULL;
  char full_name[100];
  int ierr;

  name_part(&part->shared->c, name, treatment, sizeof(full_name), full_name);
  RITZ_TRY_CLEANUP(make(part, treatment, data, &op));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(op, full_name));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeAddSub(composite, op));
cleanup:
  CeedOperatorDestroy(&op);
  ritz_geometry_part_clear(part);
  return ierr;
}

static int add_parts(const RitzGeometryShared *shared, const char *name, RitzGeometryMakePart make,
                     void *data, CeedOperator composite) {
  RitzGeometryPolicy treatments[RITZ_NUM_KINDS];

  ritz_geometry_choose(&shared->c, treatments);
  for (int i = 1; i < RITZ_NUM_POLICIES; i++) {
    const RitzGeometryPolicy treatment = (RitzGeometryPolicy)i;
    RitzGeometryPart part = {.shared = shared};
    CeedInt *merged = NULL, *kept = NULL;
    int ierr = list_elements(&shared->c, treatments, treatment, &merged, &part);

    if (!ierr) ierr = keep_chosen(&shared->c, &kept, &part);
    if (!ierr && part.num_elem > 0) ierr = add_part(&part, treatment, name, make, data, composite);
    RITZ_FREE(&merged);
    RITZ_FREE(&kept);
    RITZ_TRY(ierr);
  }
  return CEED_ERROR_SUCCESS;
}

static int add_block(const RitzGeometryCase *c, CeedInt block, const RitzGeometryCoordinates *coordinates,
                     const char *name, RitzGeometryMakePart make, void *data, CeedOperator composite) {
  RitzGeometryCase of_block = *c;
  RitzGeometryShared shared;

  RITZ_TRY(ritz_geometry_enter_block(&of_block, block));
  int ierr = ritz_geometry_shared_create(&of_block, coordinates, &shared);

  if (!ierr) ierr = add_parts(&shared, name, make, data, composite);
  ritz_geometry_shared_destroy(&shared);
  return ierr;
}

// Regions that the mesh does not have: of parts of meshes all know all.
static int check_regions(const RitzGeometryCase *c) {
  CeedInt num = 0, num_overlaps = 0;

  RITZ_TRY(RitzMeshGetNumRegions(c->geometry->mesh, &num));
  RITZ_TRY(RitzMeshGetNumOverlaps(c->geometry->mesh, &num_overlaps));
  for (CeedInt k = 0; k < c->options.num_regions; k++) {
    bool is_there = c->options.regions[k] < 0 && c->options.regions[k] >= -num_overlaps;

    for (CeedInt i = 0; i < num; i++) {
      int32_t number = 0;

      RITZ_TRY(RitzMeshGetRegion(c->geometry->mesh, i, NULL, &number));
      is_there |= number == c->options.regions[k];
    }
    RITZ_REQUIRE(is_there, c->ceed, CEED_ERROR_INCOMPATIBLE,
                 "RitzGeometryCreateOperator: the mesh has no region %d", (int)c->options.regions[k]);
  }
  return CEED_ERROR_SUCCESS;
}

static int mark_seam_of(RitzSpace space, bool *is_seam) {
  int64_t num = 0, *elements = NULL;

  if (!space) return CEED_ERROR_SUCCESS; // numbers at points
  RITZ_TRY(RitzSpaceGetSeamElements(space, &num, &elements));
  for (int64_t i = 0; i < num; i++) is_seam[elements[i]] = true;
  free(elements);
  return CEED_ERROR_SUCCESS;
}

// Marks the elements with ghosts of any field, where the options ask for these or the others.
static int mark_seam(RitzGeometryCase *c, bool **is_seam) {
  int64_t num_elem = 0;

  if (c->options.elements == RITZ_ELEMENTS_ALL) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzMeshGetNumElements(c->geometry->mesh, &num_elem));
  RITZ_TRY(RITZ_CALLOC(c->ceed, (size_t)num_elem + 1, is_seam));
  c->is_seam = *is_seam;
  for (CeedInt i = 0; c->form && i < c->form->num_inputs; i++)
    RITZ_TRY(mark_seam_of(c->form->inputs[i].space, *is_seam));
  return mark_seam_of(c->options.space, *is_seam);
}

int ritz_geometry_composite(const RitzGeometryCase *given, const char *name, RitzGeometryMakePart make,
                            void *data, CeedOperator *op) {
  RitzGeometryCase of_chosen = *given, *c = &of_chosen;
  RitzGeometryCoordinates coordinates = {0};
  CeedOperator composite = NULL;
  CeedInt num_parts = 0, num_mesh_parts = 1;
  bool *is_seam = NULL;
  int ierr;

  *op = NULL;
  RITZ_TRY(RitzMeshGetPart(c->geometry->mesh, &num_mesh_parts, NULL));
  if (num_mesh_parts > 1) RITZ_TRY(check_regions(c));
  if (c->geometry->first[RITZ_NUM_KINDS] == 0) return CEED_ERROR_SUCCESS; // an empty part
  RITZ_TRY_CLEANUP(mark_seam(c, &is_seam));
  RITZ_TRY_CLEANUP(ritz_geometry_coordinates_create(c, &coordinates));
  RITZ_TRY_CLEANUP(CeedOperatorCreateComposite(c->ceed, &composite));
  RITZ_TRY_CLEANUP(CeedOperatorSetName(composite, name));
  for (CeedInt b = 0; b < c->geometry->num_blocks; b++)
    RITZ_TRY_CLEANUP(add_block(c, b, &coordinates, name, make, data, composite));
  RITZ_TRY_CLEANUP(CeedOperatorCompositeGetNumSub(composite, &num_parts));
  if (!num_parts && (num_mesh_parts > 1 || is_seam)) {
    ierr = CeedOperatorDestroy(&composite);
  } else if (!num_parts) {
    ierr = CeedError(c->ceed, CEED_ERROR_INCOMPATIBLE,
                     "RitzGeometryCreateOperator: no element of the mesh is in the regions of the options");
  }
cleanup:
  ritz_geometry_coordinates_clear(&coordinates);
  RITZ_FREE(&is_seam);
  if (ierr) CeedOperatorDestroy(&composite);
  *op = composite;
  return ierr;
}

// ---- Standard operators ----

// The weights, with a coefficient that varies in them.
static int add_weights(RitzGeometryPart *part, const char *name, CeedInt number, bool is_variable) {
  return is_variable ? ritz_geometry_add_numbers(part, name, number, true)
                     : ritz_geometry_add_weights(part, name);
}

// One field for each of diffusion and mass, in this order.
static int add_all_weights(RitzGeometryPart *part) {
  const RitzGeometryCase *c = &part->shared->c;

  if (ritz_geometry_has_diffusion(c))
    RITZ_TRY(add_weights(part, "mu w", RITZ_SETUP_DIFFUSION_WEIGHT, ritz_geometry_mu_varies(c)));
  if (ritz_geometry_has_mass(c))
    RITZ_TRY(add_weights(part, "lambda w", RITZ_SETUP_MASS_WEIGHT, ritz_geometry_lambda_varies(c)));
  return CEED_ERROR_SUCCESS;
}

static int add_unknowns(RitzGeometryPart *part, const char *gradient, const char *value) {
  if (ritz_geometry_has_diffusion(&part->shared->c))
    RITZ_TRY(ritz_geometry_add_unknown(part, gradient, CEED_EVAL_GRAD));
  if (ritz_geometry_has_mass(&part->shared->c))
    RITZ_TRY(ritz_geometry_add_unknown(part, value, CEED_EVAL_INTERP));
  return CEED_ERROR_SUCCESS;
}

// Adds the fields of the geometry in the order of the QFunctions of ritz/jit-source/geometry.
static int add_geometry(RitzGeometryPart *part, RitzGeometryPolicy treatment) {
  const bool mass = ritz_geometry_has_mass(&part->shared->c);
  const bool diffusion = ritz_geometry_has_diffusion(&part->shared->c);
  const CeedInt factors = (mass ? RITZ_SETUP_MASS : 0) | (diffusion ? RITZ_SETUP_METRIC : 0);
  const CeedInt merged = (mass ? RITZ_SETUP_MASS : 0) | RITZ_SETUP_INVERSE;

  switch (treatment) {
  case RITZ_POLICY_AFFINE: RITZ_TRY(ritz_geometry_add_constants(part, factors)); return add_all_weights(part);
  case RITZ_POLICY_TRILINEAR:
    RITZ_TRY(ritz_geometry_add_coordinates(part, RITZ_NODES_CORNERS, CEED_EVAL_GRAD));
    return add_all_weights(part);
  case RITZ_POLICY_ISOPARAMETRIC:
    RITZ_TRY(ritz_geometry_add_coordinates(part, RITZ_NODES_ALL, CEED_EVAL_GRAD));
    return add_all_weights(part);
  case RITZ_POLICY_PARTIAL:
    RITZ_TRY(ritz_geometry_add_coordinates(part, RITZ_NODES_CORNERS, CEED_EVAL_GRAD));
    return ritz_geometry_add_numbers(part, "w / det", RITZ_SETUP_INVERSE, !mass);
  case RITZ_POLICY_MERGED:
    RITZ_TRY(ritz_geometry_add_coordinates(part, RITZ_NODES_CORNERS, CEED_EVAL_GRAD));
    return ritz_geometry_add_numbers(part, "factors", merged, true);
  default: return ritz_geometry_add_numbers(part, "factors", factors, true);
  }
}

// Flops at a point of a matrix or number times the values; recomputing the matrix is not counted.
static CeedSize useful_flops(const RitzGeometryCase *c) {
  const CeedSize diffusion = ritz_geometry_has_diffusion(c) ? (CeedSize)c->dim * (2 * c->dim - 1) : 0;

  return c->num_comp * (diffusion + ritz_geometry_has_mass(c));
}

static int make_standard_part(RitzGeometryPart *part, RitzGeometryPolicy treatment, void *data,
                              CeedOperator *op) {
  const RitzGeometryCase *c = &part->shared->c;
  const int num_out = ritz_geometry_has_diffusion(c) + ritz_geometry_has_mass(c);

  RITZ_TRY(add_unknowns(part, "du", "u"));
  RITZ_TRY(add_geometry(part, treatment));
  RITZ_TRY(add_unknowns(part, "dv", "v"));
  return ritz_geometry_part_operator(part, num_out, ritz_geometry_function(c, treatment), useful_flops(c),
                                     (CeedQFunctionContext)data, op);
}

int RitzGeometryCreateOperator(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                               CeedOperator *op) {
  static const char *const names[] = {"mass", "diffusion", "Helmholtz"};
  RitzGeometryCase c;
  CeedQFunctionContext ctx = NULL;

  RITZ_HANDLE(op, geometry, ceed);
  *op = NULL;
  RITZ_TRY(ritz_geometry_case(__func__, geometry, ceed, options, &c));
  RITZ_REQUIRE(options->kind != RITZ_OPERATOR_POINT_FUNCTION, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: operators of point functions are made by RitzGeometryCreatePointOperator", __func__);
  const RitzGeometryContext data = {.dim = c.dim,
                                    .space_dim = c.space_dim,
                                    .num_comp = c.num_comp,
                                    .lambda =
                                        ritz_geometry_lambda_varies(&c) ? 1 : (CeedScalar)c.options.lambda,
                                    .mu = ritz_geometry_mu_varies(&c) ? 1 : (CeedScalar)c.options.mu};
  int ierr = ritz_geometry_create_context(ceed, sizeof(data), &data, &ctx);

  if (!ierr) ierr = ritz_geometry_composite(&c, names[options->kind], make_standard_part, ctx, op);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

// block < 0: the only one
static int find_policy(const char *call, RitzGeometry geometry, Ceed ceed, CeedInt block,
                       const RitzOperatorOptions *options, RitzElementKind kind, RitzGeometryPolicy *policy) {
  RitzGeometryPolicy treatments[RITZ_NUM_KINDS];
  RitzGeometryCase c;

  RITZ_TRY(ritz_geometry_case(call, geometry, ceed, options, &c));
  RITZ_REQUIRE((int)kind >= 0 && (int)kind < RITZ_NUM_KINDS, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no kind of elements", call, (int)kind);
  RITZ_REQUIRE(block >= 0 || geometry->num_blocks == 1, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: the mesh has elements of %" CeedInt_FMT
               " shapes, which RitzGeometryGetBlockPolicyUsed tells apart",
               call, geometry->num_blocks);
  RITZ_REQUIRE(block < geometry->num_blocks, ceed, CEED_ERROR_DIMENSION,
               "%s: there is no block %" CeedInt_FMT " in a mesh of %" CeedInt_FMT, call, block,
               geometry->num_blocks);
  RITZ_TRY(ritz_geometry_enter_block(&c, block < 0 ? 0 : block));
  ritz_geometry_choose(&c, treatments);
  *policy = treatments[kind];
  return CEED_ERROR_SUCCESS;
}

int RitzGeometryGetPolicyUsed(RitzGeometry geometry, Ceed ceed, const RitzOperatorOptions *options,
                              RitzElementKind kind, RitzGeometryPolicy *policy) {
  RITZ_HANDLE(policy, geometry, ceed);
  return find_policy(__func__, geometry, ceed, -1, options, kind, policy);
}

int RitzGeometryGetBlockPolicyUsed(RitzGeometry geometry, Ceed ceed, CeedInt block,
                                   const RitzOperatorOptions *options, RitzElementKind kind,
                                   RitzGeometryPolicy *policy) {
  RITZ_HANDLE(policy, geometry, ceed);
  RITZ_REQUIRE(block >= 0, ceed, CEED_ERROR_DIMENSION, "%s: there is no block %" CeedInt_FMT, __func__,
               block);
  return find_policy(__func__, geometry, ceed, block, options, kind, policy);
}
