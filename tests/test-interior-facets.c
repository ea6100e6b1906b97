// SPDX-License-Identifier: BSD-2-Clause
// Interior facets (ritz/facet.h, RitzGeometryCreateInteriorFacetOperator) between all shapes, turned at
// random, affine and curved: both sides see the same points, jumps of continuous functions, the divergence
// theorem on each element, interior penalty, conservation, indicators of errors, derivatives, refusals.
#include <ceed/backend.h>
#include <ritz/derivative.h>
#include <ritz/facet.h>
#include <ritz/partition.h>

#include "tests/interior-functions.h"
#include "tests/shapes-kit.h"

#define BY_DIM(name, table, num_comp)                                                                        \
  { table(name##_1, 1, num_comp), table(name##_2, 2, num_comp), table(name##_3, 3, num_comp) }
#define OF_VALUES(name, num_comp)    BY_DIM(name, RITZ_INTERIOR_FACET_FUNCTION_TABLE, num_comp)
#define OF_GRADIENTS(name, num_comp) BY_DIM(name, RITZ_INTERIOR_FACET_GRADIENT_FUNCTION_TABLE, num_comp)
static const RitzInteriorFacetFunction both_flux[] = OF_VALUES(both_flux, 1);
static const RitzInteriorFacetFunction both_element_flux[] = OF_GRADIENTS(both_element_flux, 1);
static const RitzInteriorFacetFunction jump[] = OF_VALUES(jump, 2);
static const RitzInteriorFacetFunction gradient_jump[] = OF_GRADIENTS(gradient_jump, 1);
static const RitzInteriorFacetFunction penalty[] = OF_GRADIENTS(penalty, 1);
static const RitzInteriorFacetFunction upwind[] = OF_VALUES(upwind, 1);
static const RitzInteriorFacetFunction kink[] = OF_GRADIENTS(kink, 1);
static const RitzInteriorFacetFunction burgers[] = OF_VALUES(burgers, 2);
static const RitzInteriorFacetFunction thermal[] = OF_GRADIENTS(thermal, 2);
static const RitzFacetFunction flux[] = BY_DIM(flux_on_facets, RITZ_FACET_FUNCTION_TABLE, 1);
static const RitzFacetFunction held[] = BY_DIM(held, RITZ_FACET_GRADIENT_FUNCTION_TABLE, 1);
static const RitzFacetFunction outflow[] = BY_DIM(outflow, RITZ_FACET_FUNCTION_TABLE, 1);
static const RitzPointFunction carried[] = BY_DIM(carried, RITZ_POINT_FUNCTION_TABLE, 1);

// ---- Cases ----

// Two elements that have their common facet at places no turn brings together: pyramids, one with its apex
// where the other one has a corner of its base, and prisms with axes at right angles.
enum { PYRAMIDS_LEFT = -4, PYRAMIDS_RIGHT = -5, PRISMS_ACROSS = -6 };

typedef struct {
  int shape; // topology, a mixture, or one of the above
  CeedInt order, degree;
  int num_regions; // 1: affine, 2: and multilinear, 3: and curved (geometry-kit.h)
} Case;

static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 2, 3, 3}, {CEED_TOPOLOGY_TRIANGLE, 1, 2, 1}, {CEED_TOPOLOGY_TRIANGLE, 2, 3, 3},
    {CEED_TOPOLOGY_QUAD, 1, 3, 2}, {CEED_TOPOLOGY_QUAD, 3, 2, 3},     {CEED_TOPOLOGY_TET, 1, 2, 1},
    {CEED_TOPOLOGY_TET, 2, 3, 3},  {CEED_TOPOLOGY_PRISM, 2, 2, 3},    {CEED_TOPOLOGY_HEX, 1, 2, 2},
    {CEED_TOPOLOGY_HEX, 2, 3, 3},  {CEED_TOPOLOGY_PYRAMID, 1, 2, 1},  {MIXED_PLANE, 2, 2, 3},
    {MIXED_SOLID, 1, 2, 1},        {PYRAMIDS_LEFT, 1, 3, 1},          {PYRAMIDS_RIGHT, 2, 2, 1},
    {PRISMS_ACROSS, 2, 3, 3},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]), NUM_POINTS = 7, PLANE_CASE = 11, SOLID_CASE = 12 };

static const char *describe(const Case *c) {
  static char text[100];

  snprintf(text, sizeof(text), "shape %d, order %d, degree %d, regions %d", c->shape, (int)c->order,
           (int)c->degree, c->num_regions);
  return text;
}

static RitzMeshDraft draft_of_pair(CeedElemTopology topology, int num_vertices, const int64_t *vertices,
                                   const double (*X)[3]) {
  RitzMeshDraft draft = {.dim = 3,
                         .space_dim = 3,
                         .order = 1,
                         .num_vertices = num_vertices,
                         .num_blocks = 1,
                         .blocks = {{.topology = topology, .num_elem = 2}}};

  fill_out(&draft);
  memcpy(draft.elem_vertices, vertices, (size_t)draft.num_places * 8);
  place_nodes(&draft, X, identity_map);
  return draft;
}

static RitzMeshDraft draft_of_stiff(int shape) {
  static const double pyramid_x[7][3] = {{0, 0, 0},         {0.5, 0, 0},      {0, 0.5, 0},     {0.5, 0.5, 0},
                                         {0.25, 0.25, 0.5}, {0.9, 0.55, 0.3}, {0.65, 0.3, 0.8}};
  static const double mirrored_x[7][3] = {{0, 0, 0},       {0.5, 0, 0},       {0, 0.5, 0},
                                          {0.5, 0.5, 0},   {0.25, 0.25, 0.5}, {0.9, -0.05, 0.3},
                                          {0.65, 0.2, 0.8}};
  static const double prism_x[8][3] = {{0, 0.5, 0}, {1, 0.5, 0}, {0, 1, 0}, {0, 0.5, 1},
                                       {1, 0.5, 1}, {0, 1, 1},   {0, 0, 0}, {1, 0, 0}};
  static const int64_t pyramids[10] = {0, 1, 2, 3, 4, 4, 3, 6, 5, 1},
                       mirrored[10] = {0, 1, 2, 3, 4, 4, 6, 1, 5, 3};
  static const int64_t prisms[12] = {0, 1, 2, 3, 4, 5, 0, 3, 6, 1, 4, 7};

  if (shape == PRISMS_ACROSS)
    return draft_of_pair(CEED_TOPOLOGY_PRISM, 8, prisms, (const double(*)[3])prism_x);
  return draft_of_pair(CEED_TOPOLOGY_PYRAMID, 7, shape == PYRAMIDS_LEFT ? pyramids : mirrored,
                       (const double(*)[3])(shape == PYRAMIDS_LEFT ? pyramid_x : mirrored_x));
}

// A straight draft of order 1, of which only the corners are kept, with nodes of an order.
static RitzMeshDraft raise_order(RitzMeshDraft *draft, CeedInt order) {
  double(*X)[3] = calloc((size_t)draft->num_vertices, sizeof(*X));
  RitzMeshDraft raised = {.dim = draft->dim,
                          .space_dim = draft->space_dim,
                          .order = order,
                          .num_vertices = draft->num_vertices,
                          .num_blocks = draft->num_blocks};

  for (int64_t i = 0; i < draft->num_places; i++)
    memcpy(X[draft->elem_vertices[i]], draft->coords + i * draft->space_dim, (size_t)draft->space_dim * 8);
  memcpy(raised.blocks, draft->blocks, sizeof(raised.blocks));
  fill_out(&raised);
  memcpy(raised.elem_vertices, draft->elem_vertices, (size_t)draft->num_places * 8);
  place_nodes(&raised, (const double(*)[3])X, identity_map);
  ritz_mesh_draft_clear(draft);
  free(X);
  return raised;
}

typedef struct {
  Ceed ceed; // borrowed
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space, continuous; // the first one is discontinuous
  CeedInt dim;
  CeedSize size;
} Problem;

// Elements turned and vertices numbered at random.
static int create_mesh(Ceed ceed, const Case *c, uint64_t seed, RitzMesh *mesh) {
  const CeedInt dim = c->shape <= PYRAMIDS_LEFT ? 3 : dim_of(c->shape);
  MixedMap map = mixed_map(dim, c->num_regions, &seed);
  RitzMeshDraft draft, raised;

  if (c->shape <= PYRAMIDS_LEFT)
    draft = draft_of_stiff(c->shape);
  else
    RITZ_TRY(flat_draft(ceed, c->shape, 1, &draft));
  turn_at_random(&draft, &seed);
  raised = raise_order(&draft, c->order);
  return build_mapped(ceed, &raised, &map, mesh);
}

static int create_problem(Ceed ceed, const Case *c, uint64_t seed, CeedInt num_comp, Problem *p) {
  *p = (Problem){.ceed = ceed};
  RITZ_TRY(create_mesh(ceed, c, seed, &p->mesh));
  RITZ_TRY(RitzMeshGetDimensions(p->mesh, &p->dim, NULL));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, num_comp, &p->continuous));
  RITZ_TRY(RitzSpaceCreateDiscontinuous(p->mesh, c->degree, num_comp, &p->space));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzSpaceDestroy(&p->continuous);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

static int create_interior(const Problem *p, const RitzInteriorFacetFunction *by_dim,
                           CeedQFunctionContext context, CeedOperator *op) {
  const RitzInteriorFacetOptions options = {.space = p->space, .num_points = NUM_POINTS};

  return RitzGeometryCreateInteriorFacetOperator(p->geometry, p->ceed, &options, &by_dim[p->dim - 1], context,
                                                 op);
}

static int create_boundary(const Problem *p, const RitzFacetFunction *by_dim, CeedQFunctionContext context,
                           CeedOperator *op) {
  const RitzBoundaryOptions options = {.space = p->space, .num_points = NUM_POINTS};

  return RitzGeometryCreateBoundaryOperator(p->geometry, p->ceed, &options, &by_dim[p->dim - 1], context, op);
}

// A new array, the operator applied to u, and the operator's end; NaN after a failure.
static double *apply_once(int ierr, CeedOperator *op, CeedSize n, const double *u) {
  double *result = reference_new(n);

  for (CeedSize i = 0; i < n; i++) result[i] = NAN;
  if (!ierr) {
    free(result);
    result = apply_operator(*op, n, u);
  }
  CeedOperatorDestroy(op);
  return result;
}

static double *apply_interior(const Problem *p, const RitzInteriorFacetFunction *by_dim, const double *u) {
  CeedOperator op = NULL;
  const int ierr = create_interior(p, by_dim, NULL, &op);

  return apply_once(ierr, &op, p->size, u);
}

static double sum_of(CeedSize n, const double *a) {
  double sum = 0;

  for (CeedSize i = 0; i < n; i++) sum += a[i];
  return sum;
}

// Of some cases: those that call functions of the program take all, those that compile kernels every fifth.
static int step_of(Ceed ceed) {
  const char *resource = "";

  CeedGetResource(ceed, &resource);
  return !strncmp(resource, "/cpu/self/ref", 13) || !strncmp(resource, "/cpu/self/check", 15) ? 1 : 5;
}

// ---- Both sides of a facet ----

// E-vector [facet][component][node] -> [facet][component][point], a new array.
static double *interpolate(CeedBasis basis, CeedSize num, const double *of_nodes) {
  const CeedScalar *table = NULL;
  CeedInt P = 0, Q = 0;

  CeedBasisGetNumNodes(basis, &P);
  CeedBasisGetNumQuadraturePoints(basis, &Q);
  CeedBasisGetInterp(basis, &table);
  double *of_points = reference_new(num * Q);
  for (CeedSize i = 0; i < num * Q; i++) {
    of_points[i] = 0;
    for (CeedInt n = 0; n < P; n++) of_points[i] += table[i % Q * P + n] * of_nodes[i / Q * P + n];
  }
  return of_points;
}

// A new array: positions of the facets of a block at quadrature points, [facet][component][point]; NULL:
// failed.
static double *positions(RitzFacets facets, CeedInt block, CeedInt side, RitzFacetNodes nodes, Ceed ceed,
                         CeedInt dim, CeedInt order, CeedSize *num) {
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL, of_nodes = NULL;
  CeedInt num_facets = 0, Q = 0;
  double *values = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzFacetsCreateSideCoordinates(facets, block, side, nodes, ceed, &rstr, &x));
  RITZ_TRY_CLEANUP(RitzFacetsCreateSideBasis(facets, block, side, nodes, ceed, dim, order, 5, &basis));
  RITZ_TRY_CLEANUP(CeedElemRestrictionCreateVector(rstr, NULL, &of_nodes));
  RITZ_TRY_CLEANUP(CeedElemRestrictionApply(rstr, CEED_NOTRANSPOSE, x, of_nodes, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(CeedElemRestrictionGetNumElements(rstr, &num_facets));
  RITZ_TRY_CLEANUP(CeedBasisGetNumQuadraturePoints(basis, &Q));
  *num = (CeedSize)num_facets * dim * Q;
  double *e_vector = reference_new_values(of_nodes);
  values = interpolate(basis, (CeedSize)num_facets * dim, e_vector);
  free(e_vector);
cleanup:
  CeedVectorDestroy(&of_nodes);
  CeedVectorDestroy(&x);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  return ierr ? NULL : values;
}

static void check_points(const Problem *p, const Case *c, RitzFacets facets, CeedInt block) {
  double *first = NULL, *other = NULL;

  for (CeedInt k = 0; k < (p->dim > 1 ? 4 : 2); k++) {
    CeedSize num = 0;

    other = positions(facets, block, k % 2, k < 2 ? RITZ_FACET_ELEMENT : RITZ_FACET_TRACE, p->ceed, p->dim,
                      c->order, &num);
    CHECK(other, "no points: %s", describe(c));
    if (!first) first = other;
    CHECK(reference_distance(num, first, other) <= 100 * CEED_EPSILON, "%s side %d, %s: %g apart: %s",
          k < 2 ? "elements," : "traces,", (int)(k % 2), "points", reference_distance(num, first, other),
          describe(c));
    if (other != first) free(other);
  }
  free(first);
}

// A continuous space has one node for what both traces have.
static void check_trace(const Problem *p, const Case *c, RitzFacets facets, CeedInt block) {
  CeedElemRestriction rstr[2] = {NULL, NULL};
  const CeedInt *offsets[2] = {NULL, NULL};
  CeedInt num_nodes = 0, num_facets = 0;

  if (p->dim == 1) return;
  for (int side = 0; side < 2; side++) {
    CHECK_OK(RitzFacetsCreateSideRestriction(facets, block, side, RITZ_FACET_TRACE, p->continuous, p->ceed,
                                             &rstr[side]));
    CHECK_OK(CeedElemRestrictionGetOffsets(rstr[side], CEED_MEM_HOST, &offsets[side]));
  }
  CHECK_OK(CeedElemRestrictionGetElementSize(rstr[0], &num_nodes));
  CHECK_OK(CeedElemRestrictionGetNumElements(rstr[0], &num_facets));
  for (CeedInt i = 0; i < num_facets * num_nodes; i++)
    CHECK(offsets[0][i] == offsets[1][i], "node %d of facet %d is %d and %d: %s", (int)(i % num_nodes),
          (int)(i / num_nodes), (int)offsets[0][i], (int)offsets[1][i], describe(c));
  for (int side = 0; side < 2; side++) {
    CHECK_OK(CeedElemRestrictionRestoreOffsets(rstr[side], &offsets[side]));
    CeedElemRestrictionDestroy(&rstr[side]);
  }
}

// Each facet but those of the boundary is in one block, once.
static int64_t count_interior(const Problem *p) {
  int64_t num_exterior = 0, num = 0;

  if (RitzMeshGetBoundaryPart(p->mesh, "all", &num_exterior, NULL, NULL)) return -1;
  for (int b = 0; b < p->mesh->num_blocks; b++)
    num += p->mesh->blocks[b].num_elem * ritz_mesh_shape(p->mesh->blocks[b].topology)->facets.num;
  return (num - num_exterior) / 2;
}

static void check_blocks(const Problem *p, const Case *c) {
  int64_t total = 0;
  CeedInt num_blocks = 0;
  RitzFacets facets = NULL;

  CHECK_OK(RitzFacetsCreateInterior(p->mesh, &facets));
  CHECK_OK(RitzFacetsGetNumBlocks(facets, &num_blocks));
  for (CeedInt b = 0; b < num_blocks && !tap_failed(); b++) {
    const int64_t *elements[2] = {NULL, NULL};
    const int8_t *numbers[2] = {NULL, NULL};
    int64_t num = 0;

    CHECK_OK(RitzFacetsGetBlock(facets, b, NULL, NULL, &num, NULL, NULL));
    for (int side = 0; side < 2; side++)
      CHECK_OK(RitzFacetsGetSide(facets, b, side, NULL, &elements[side], &numbers[side]));
    for (int64_t i = 0; i < num; i++)
      CHECK(elements[0][i] != elements[1][i] && numbers[0][i] >= 0 && numbers[1][i] >= 0, "an element twice");
    total += num;
    check_points(p, c, facets, b);
    if (!tap_failed()) check_trace(p, c, facets, b);
  }
  CHECK(total == count_interior(p), "%d facets of %d: %s", (int)total, (int)count_interior(p), describe(c));
  RitzFacetsDestroy(&facets);
}

TEST(both_sides_of_every_facet_see_the_same_points_and_the_same_nodes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < 4 * NUM_CASES && !tap_failed(); i++) {
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[i % NUM_CASES], 17 + (uint64_t)i, 1, &p));
    check_blocks(&p, &cases[i % NUM_CASES]);
    destroy_problem(&p);
  }
  CeedDestroy(&ceed);
}

// 3 x 3 quadrilaterals, the last column joined to the first one.
TEST(facets_of_a_periodic_mesh_join_its_ends) {
  static const CeedInt size[3] = {3, 3, 1};
  const Case c = {CEED_TOPOLOGY_QUAD, 1, 3, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzFacets facets = NULL;
  int64_t num = 0;
  RitzMesh box = NULL;
  Problem p = {.ceed = ceed, .dim = 2};

  CHECK_OK(RitzMeshCreateBox(ceed, 2, size, NULL, NULL, 1, NULL, NULL, &box));
  RitzMeshDraft draft = draft_of_any(box);
  for (int64_t i = 0; i < draft.num_places; i++) {
    if (draft.elem_vertices[i] % 4 == 3) draft.elem_vertices[i] -= 3;
  }
  CHECK_OK(ritz_mesh_build(ceed, "periodic", &draft, &p.mesh));
  CHECK_OK(RitzSpaceCreate(p.mesh, c.degree, 1, &p.continuous));
  CHECK_OK(RitzFacetsCreateInterior(p.mesh, &facets));
  CHECK_OK(RitzFacetsGetBlock(facets, 0, NULL, NULL, &num, NULL, NULL));
  CHECK(num == 15, "%d facets, 9 of them upright", (int)num);
  check_trace(&p, &c, facets, 0);
  RitzFacetsDestroy(&facets);
  RitzMeshDestroy(&box);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// ---- Continuous functions ----

// The values of a continuous L-vector at the nodes of the discontinuous space, a new array.
static double *split_nodes(const Problem *p, CeedInt num_comp, const double *u) {
  double *v = reference_new(p->size);

  for (int b = 0; b < p->mesh->num_blocks; b++) {
    const int64_t *from = NULL, *to = NULL;
    CeedInt num = 0;

    if (RitzSpaceGetBlockNodes(p->continuous, b, &num, &from) ||
        RitzSpaceGetBlockNodes(p->space, b, NULL, &to))
      break;
    for (int64_t i = 0; i < p->mesh->blocks[b].num_elem * num; i++) {
      for (CeedInt c = 0; c < num_comp; c++) v[to[i] * num_comp + c] = u[from[i] * num_comp + c];
    }
  }
  return v;
}

static void check_jumps(Ceed ceed, const Case *c) {
  uint64_t seed = 5;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 23, 2, &p));
  CHECK_OK(RitzSpaceGetSize(p.continuous, &size));
  double *u = reference_new_random(size, &seed), *v = split_nodes(&p, 2, u);
  double *w = reference_new_random(p.size, &seed);
  double *none = apply_interior(&p, jump, v), *some = apply_interior(&p, jump, w);
  // Values at points are sums of some nodes' with rounding of each.
  CHECK(reference_largest(p.size, none) <= 100 * CEED_EPSILON * reference_largest(p.size, some),
        "%g of %g: %s", reference_largest(p.size, none), reference_largest(p.size, some), describe(c));
  free(u);
  free(v);
  free(w);
  free(none);
  free(some);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(jumps_of_continuous_functions_vanish) {
  for (int i = 3; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_jumps(ceed, &cases[i]);
}

static int linear(void *ctx, const double *x, double *u) {
  const CeedInt dim = *(const CeedInt *)ctx;

  u[0] = 1;
  for (CeedInt d = 0; d < dim; d++) u[0] += (1.5 - d) * x[d];
  return 0;
}

static void check_gradient_jumps(Ceed ceed, const Case *c) {
  uint64_t seed = 5;
  CeedVector u = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 29, 1, &p));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &u));
  CHECK_OK(RitzSpaceInterpolate(p.space, linear, &p.dim, u));
  double *v = reference_new_values(u), *w = reference_new_random(p.size, &seed);
  double *none = apply_interior(&p, gradient_jump, v), *some = apply_interior(&p, gradient_jump, w);
  CHECK(reference_largest(p.size, none) <= 1000 * CEED_EPSILON * reference_largest(p.size, some),
        "%g of %g: %s", reference_largest(p.size, none), reference_largest(p.size, some), describe(c));
  free(v);
  free(w);
  free(none);
  free(some);
  CeedVectorDestroy(&u);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(gradients_of_linear_functions_do_not_jump) {
  for (int i = 1; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) {
    if (cases[i].degree >= cases[i].order) check_gradient_jumps(ceed, &cases[i]);
  }
}

// ---- The divergence theorem on each element ----

// Sums of the entries of each element, whose nodes are consecutive: a new array [num_elem].
static double *sums_of_elements(RitzMesh mesh, CeedInt degree, const double *v) {
  double *sums = reference_new(mesh->num_elem), *sum = sums;

  for (int b = 0; b < mesh->num_blocks; b++) {
    const int64_t num = ritz_mesh_num_nodes(mesh->blocks[b].topology, degree);

    for (int64_t e = 0; e < mesh->blocks[b].num_elem; e++, v += num) *sum++ = sum_of(num, v);
  }
  return sums;
}

static void check_divergence(Ceed ceed, const Case *c, const RitzInteriorFacetFunction *by_dim) {
  static const double divergence[] = {1, 3, 6};
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 31, 1, &p));
  const RitzOperatorOptions mass = {.kind = RITZ_OPERATOR_MASS, .space = p.space, .num_points = NUM_POINTS};
  double *one = reference_new(p.size), *total = apply_interior(&p, by_dim, one);
  for (CeedSize i = 0; i < p.size; i++) one[i] = 1;
  int ierr = RitzGeometryCreateOperator(p.geometry, ceed, &mass, &op);
  double *volume = apply_once(ierr, &op, p.size, one);
  ierr = create_boundary(&p, flux, NULL, &op);
  double *outer = apply_once(ierr, &op, p.size, one);
  for (CeedSize i = 0; i < p.size; i++) total[i] += outer[i];
  double *volumes = sums_of_elements(p.mesh, c->degree, volume),
         *fluxes = sums_of_elements(p.mesh, c->degree, total);
  for (int64_t e = 0; e < p.mesh->num_elem; e++) {
    const double wanted = divergence[p.dim - 1] * volumes[e];
    // Sums of some hundred products of size 1, which cancel to the size of the element.
    CHECK_NEAR(fluxes[e], wanted, 2000 * CEED_EPSILON, "element %d: %s", (int)e, describe(c));
  }
  free(one);
  free(total);
  free(volume);
  free(outer);
  free(volumes);
  free(fluxes);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(flux_through_the_facets_of_each_element_is_the_integral_of_the_divergence) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) {
    check_divergence(ceed, &cases[i], both_flux);
    if (!tap_failed()) check_divergence(ceed, &cases[i], both_element_flux);
  }
}

// ---- Interior penalty ----

// Penalties of p^2 / height: enough for these elements. c and 2 / h.
static int create_penalty(Ceed ceed, double c, double reciprocal, CeedQFunctionContext *context) {
  CeedScalar values[2] = {(CeedScalar)c, (CeedScalar)reciprocal};

  RITZ_TRY(CeedQFunctionContextCreate(ceed, context));
  return CeedQFunctionContextSetData(*context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(values), values);
}

static int add_parts(CeedOperator from, CeedOperator to) {
  CeedOperator *parts = NULL;
  CeedInt num = 0;

  RITZ_TRY(CeedOperatorCompositeGetNumSub(from, &num));
  RITZ_TRY(CeedOperatorCompositeGetSubList(from, &parts));
  for (CeedInt i = 0; i < num; i++) RITZ_TRY(CeedOperatorCompositeAddSub(to, parts[i]));
  return CEED_ERROR_SUCCESS;
}

// -div grad u by symmetric interior penalty, u = 0 on the boundary by the same.
static int create_poisson(const Problem *p, double c, double reciprocal, CeedOperator *op) {
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = p->space, .num_points = NUM_POINTS};
  CeedQFunctionContext context = NULL;
  CeedOperator parts[3] = {NULL, NULL, NULL};
  int ierr;

  RITZ_TRY_CLEANUP(create_penalty(p->ceed, c, reciprocal, &context));
  RITZ_TRY_CLEANUP(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &parts[0]));
  RITZ_TRY_CLEANUP(create_interior(p, penalty, context, &parts[1]));
  RITZ_TRY_CLEANUP(create_boundary(p, held, context, &parts[2]));
  RITZ_TRY_CLEANUP(CeedOperatorCreateComposite(p->ceed, op));
  for (int i = 0; i < 3; i++) RITZ_TRY_CLEANUP(add_parts(parts[i], *op));
cleanup:
  for (int i = 0; i < 3; i++) CeedOperatorDestroy(&parts[i]);
  CeedQFunctionContextDestroy(&context);
  return ierr;
}

// x . A y = y . A x, x . A x > 0, the diagonal is that of A.
static void check_penalty(Ceed ceed, const Case *c) {
  CeedOperator op = NULL;
  CeedVector diagonal = NULL;
  uint64_t seed = 11;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 37, 1, &p));
  CHECK_OK(create_poisson(&p, 4 * (c->degree + 1) * (c->degree + 1), 20, &op));
  double *x = reference_new_random(p.size, &seed), *y = reference_new_random(p.size, &seed);
  double *Ax = apply_operator(op, p.size, x), *Ay = apply_operator(op, p.size, y);
  const double size = 100 * CEED_EPSILON * (double)p.size * reference_largest(p.size, Ax);
  CHECK_NEAR(reference_dot(p.size, x, Ay), reference_dot(p.size, y, Ax), size, "not symmetric: %s",
             describe(c));
  CHECK(reference_dot(p.size, x, Ax) > size, "not positive: %s", describe(c));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  double *d = reference_new_values(diagonal);
  for (CeedSize i = 0; i < p.size; i += p.size / 5 + 1) {
    for (CeedSize k = 0; k < p.size; k++) y[k] = k == i;
    double *column = apply_operator(op, p.size, y);
    CHECK_NEAR(d[i], column[i], 2000 * CEED_EPSILON * reference_largest(p.size, d), "diagonal at %d: %s",
               (int)i, describe(c));
    free(column);
  }
  free(x);
  free(y);
  free(Ax);
  free(Ay);
  free(d);
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(interior_penalty_is_symmetric_and_positive_and_has_the_diagonal_of_its_matrix) {
  for (int i = 2; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_penalty(ceed, &cases[i]);
}

// ---- Convergence of interior penalty ----

enum { MAX_LEVELS = 2 };

typedef struct {
  CeedElemTopology shape;
  CeedInt n[3]; // elements a direction of the coarser mesh, for degrees 1, 2, 3
} Family;

static const Family families[] = {{CEED_TOPOLOGY_QUAD, {6, 4, 4}},
                                  {CEED_TOPOLOGY_TRIANGLE, {6, 4, 3}},
                                  {CEED_TOPOLOGY_HEX, {4, 3, 2}},
                                  {CEED_TOPOLOGY_TET, {4, 3, 2}}};

// u = product of sin(pi x_d), which vanishes on the boundary.
static int wave(void *ctx, const double *x, double *values, double *gradients) {
  const CeedInt dim = *(const CeedInt *)ctx;

  (void)gradients;
  values[0] = 1;
  for (CeedInt d = 0; d < dim; d++) values[0] *= sin(3.14159265358979323846 * x[d]);
  return 0;
}

// -div grad u
static int load_of_wave(void *ctx, const double *x, double *values) {
  const CeedInt dim = *(const CeedInt *)ctx;

  wave(ctx, x, values, NULL);
  values[0] *= 9.8696044010893586 * dim;
  return 0;
}

static int solve_poisson(const Problem *p, CeedOperator op, CeedVector b, CeedVector u) {
  const bool is_double = CEED_SCALAR_TYPE == CEED_SCALAR_FP64;
  RitzSolverReason reason = RITZ_DIVERGED_MAX_IT;
  CeedVector diagonal = NULL;
  RitzSolver solver = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &diagonal));
  RITZ_TRY_CLEANUP(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(RitzSolverCreateCG(p->ceed, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, op));
  RITZ_TRY_CLEANUP(RitzSolverSetJacobi(solver, diagonal));
  RITZ_TRY_CLEANUP(RitzSolverSetTolerances(solver, is_double ? 1e-9 : 1e-5, 0, 2000));
  RITZ_TRY_CLEANUP(RitzSolverSolve(solver, b, u));
  RITZ_TRY_CLEANUP(RitzSolverGetReason(solver, &reason));
  if (reason <= 0) ierr = CEED_ERROR_MINOR;
cleanup:
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

static int find_error(const Problem *p, CeedInt degree, CeedInt n, double *error) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = p->space};
  CeedOperator op = NULL, mass = NULL;
  CeedVector f = NULL, b = NULL, u = NULL;
  CeedInt dim = p->dim;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &f));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &b));
  RITZ_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->size, &u));
  RITZ_TRY_CLEANUP(CeedVectorSetValue(u, 0));
  RITZ_TRY_CLEANUP(RitzSpaceInterpolate(p->space, load_of_wave, &dim, f));
  RITZ_TRY_CLEANUP(RitzGeometryCreateOperator(p->geometry, p->ceed, &options, &mass));
  RITZ_TRY_CLEANUP(CeedOperatorApply(mass, f, b, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY_CLEANUP(create_poisson(p, 2 * (degree + 1) * (degree + 1), 2 * n, &op));
  RITZ_TRY_CLEANUP(solve_poisson(p, op, b, u));
  ierr = RitzGeometryGetErrorNorms(p->geometry, p->ceed, p->space, u, 0, wave, &dim, error, NULL);
cleanup:
  CeedVectorDestroy(&f);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&u);
  CeedOperatorDestroy(&mass);
  CeedOperatorDestroy(&op);
  return ierr;
}

static int find_error_on_box(Ceed ceed, const Family *f, CeedInt degree, CeedInt n, double *error) {
  const CeedInt size[3] = {n, n, n};
  Problem p = {.ceed = ceed, .dim = dim_of((int)f->shape)};
  RitzMesh box = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzMeshCreateBox(ceed, p.dim, size, NULL, NULL, 1, NULL, NULL, &box));
  RITZ_TRY_CLEANUP(RitzMeshSplit(box, f->shape, &p.mesh));
  RITZ_TRY_CLEANUP(RitzGeometryCreate(p.mesh, -1, &p.geometry));
  RITZ_TRY_CLEANUP(RitzSpaceCreateDiscontinuous(p.mesh, degree, 1, &p.space));
  RITZ_TRY_CLEANUP(RitzSpaceGetSize(p.space, &p.size));
  ierr = find_error(&p, degree, n, error);
cleanup:
  RitzMeshDestroy(&box);
  destroy_problem(&p);
  return ierr;
}

TEST(interior_penalty_converges_with_order_p_plus_one) {
  Ceed ceed = tap_ceed("/cpu/self");

  for (int i = 0; i < 4; i++) {
    for (CeedInt degree = 1; degree <= 3 && !tap_failed(); degree++) {
      const CeedInt n = families[i].n[degree - 1];
      double error[2] = {0, 0};

      CHECK_OK(find_error_on_box(ceed, &families[i], degree, n, &error[0]));
      CHECK_OK(find_error_on_box(ceed, &families[i], degree, 2 * n, &error[1]));
      const double order = log2(error[0] / error[1]);
      // What is left by rounding hides the order in float.
      CHECK(order > degree + 0.6 || error[1] < 1e4 * CEED_EPSILON, "%s, degree %d: errors %g, %g, order %g",
            CeedElemTopologies[families[i].shape], (int)degree, error[0], error[1], order);
    }
  }
  CeedDestroy(&ceed);
}

// ---- Advection ----

// What leaves an element enters its neighbour: whatever u, the sum of the residual is the flux through the
// boundary alone.
static void check_conservation(Ceed ceed, const Case *c) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_POINT_FUNCTION, .num_points = NUM_POINTS};
  RitzOperatorOptions in_volume = options;
  CeedOperator op = NULL;
  uint64_t seed = 13;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 41, 1, &p));
  in_volume.space = p.space;
  double *u = reference_new_random(p.size, &seed), *across = apply_interior(&p, upwind, u);
  int ierr = RitzGeometryCreatePointOperator(p.geometry, ceed, &in_volume, &carried[p.dim - 1], NULL, &op);
  double *inside = apply_once(ierr, &op, p.size, u);
  ierr = create_boundary(&p, outflow, NULL, &op);
  double *out = apply_once(ierr, &op, p.size, u);
  const double size = reference_largest(p.size, inside) + reference_largest(p.size, across);
  CHECK(size > 0.01 && sum_of(p.size, out) == sum_of(p.size, out), "no residual: %s", describe(c));
  CHECK_NEAR(sum_of(p.size, across), 0, 10 * CEED_EPSILON * (double)p.size * size, "across: %s", describe(c));
  CHECK_NEAR(sum_of(p.size, inside), 0, 10 * CEED_EPSILON * (double)p.size * size, "inside: %s", describe(c));
  free(u);
  free(across);
  free(inside);
  free(out);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(advection_conserves_mass) {
  for (int i = 4; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_conservation(ceed, &cases[i]);
}

// A constant is carried without change: all fluxes of an element add up to zero, for every test function.
TEST_EACH_BACKEND(advection_keeps_constants_where_nothing_enters) {
  const Case *c = &cases[SOLID_CASE];
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_POINT_FUNCTION, .num_points = NUM_POINTS};
  RitzOperatorOptions in_volume = options;
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 43, 1, &p));
  in_volume.space = p.space;
  double *one = reference_new(p.size);
  for (CeedSize i = 0; i < p.size; i++) one[i] = 1;
  double *across = apply_interior(&p, upwind, one);
  int ierr = RitzGeometryCreatePointOperator(p.geometry, ceed, &in_volume, &carried[2], NULL, &op);
  double *inside = apply_once(ierr, &op, p.size, one);
  int64_t num = 0, *elements = NULL;
  bool *is_outer = calloc((size_t)p.mesh->num_elem, sizeof(*is_outer));
  CHECK_OK(RitzMeshGetBoundaryPart(p.mesh, "all", &num, &elements, NULL));
  for (int64_t i = 0; i < num; i++) is_outer[elements[i]] = true;
  int64_t node = 0;
  for (int b = 0; b < p.mesh->num_blocks; b++) {
    const RitzMeshBlock *block = &p.mesh->blocks[b];
    const int64_t num_nodes = ritz_mesh_num_nodes(block->topology, c->degree);

    for (int64_t k = 0; k < block->num_elem * num_nodes; k++, node++) {
      if (!is_outer[block->first + k / num_nodes])
        CHECK_NEAR(across[node] + inside[node], 0, 1000 * CEED_EPSILON, "node %d", (int)node);
    }
  }
  free(elements);
  free(is_outer);
  free(one);
  free(across);
  free(inside);
  destroy_problem(&p);
}

// ---- Indicators of errors ----

static int roof(void *ctx, const double *x, double *u) {
  (void)ctx;
  u[0] = fabs(x[0] - 0.5);
  return 0;
}

// The slope of |x - 1/2| jumps by 2 across the plane x = 1/2: elements that have a facet there, of the size
// 1/4^(dim-1), get h 2^2 times that, all others nothing.
static void check_indicator(Ceed ceed, CeedInt dim) {
  static const CeedInt n[3] = {4, 4, 4};
  const double wanted = 0.25 * 4 * pow(0.25, dim - 1);
  RitzSpace linear_space = NULL, indicators = NULL;
  CeedVector u = NULL, eta = NULL;
  CeedOperator op = NULL;
  RitzGeometry geometry = NULL;
  CeedSize size = 0, num = 0;
  RitzMesh mesh = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &geometry));
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &linear_space));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 1, 1, &indicators));
  CHECK_OK(RitzSpaceGetSize(linear_space, &size));
  CHECK_OK(RitzSpaceGetSize(indicators, &num));
  const RitzInteriorFacetOptions options = {.space = linear_space, .tests = indicators};
  CHECK_OK(RitzGeometryCreateInteriorFacetOperator(geometry, ceed, &options, &kink[dim - 1], NULL, &op));
  CHECK_OK(CeedVectorCreate(ceed, size, &u));
  CHECK_OK(CeedVectorCreate(ceed, num, &eta));
  CHECK_OK(RitzSpaceInterpolate(linear_space, roof, NULL, u));
  CHECK_OK(CeedOperatorApply(op, u, eta, CEED_REQUEST_IMMEDIATE));
  double *values = reference_new_values(eta), *sums = sums_of_elements(mesh, 1, values);
  for (int64_t e = 0; e < mesh->num_elem; e++) {
    const bool is_beside = e % 4 == 1 || e % 4 == 2;

    CHECK_NEAR(sums[e], is_beside ? wanted : 0, 1000 * CEED_EPSILON, "element %d", (int)e);
  }
  free(values);
  free(sums);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&eta);
  CeedOperatorDestroy(&op);
  RitzSpaceDestroy(&linear_space);
  RitzSpaceDestroy(&indicators);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&mesh);
}

TEST_EACH_BACKEND(jumps_of_normal_derivatives_tested_element_by_element_find_a_kink) {
  for (CeedInt dim = 1; dim <= 3 && !tap_failed(); dim++) check_indicator(ceed, dim);
}

// ---- Backends, derivatives ----

static void check_against_ref(Ceed ceed, const Case *c, const RitzInteriorFacetFunction *by_dim) {
  Ceed ref = tap_ceed("/cpu/self/ref");
  uint64_t seed = 19;
  Problem p, q;

  CHECK_OK(create_problem(ceed, c, 47, 2, &p));
  CHECK_OK(create_problem(ref, c, 47, 2, &q));
  double *u = reference_new_random(p.size, &seed), *v = apply_interior(&p, by_dim, u),
         *w = apply_interior(&q, by_dim, u);
  // Derivatives are of size p^2 / h, and cancel.
  CHECK(reference_distance(p.size, v, w) <= 500 * CEED_EPSILON * reference_largest(p.size, w),
        "differ by %g of %g: %s", reference_distance(p.size, v, w), reference_largest(p.size, w),
        describe(c));
  free(u);
  free(v);
  free(w);
  destroy_problem(&p);
  destroy_problem(&q);
  CeedDestroy(&ref);
}

TEST_EACH_BACKEND(nonlinear_functions_of_both_sides_are_those_of_ref) {
  for (int i = 3; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) {
    check_against_ref(ceed, &cases[i], burgers);
    if (!tap_failed()) check_against_ref(ceed, &cases[i], thermal);
  }
}

// Taylor's remainder of order two.
TEST_EACH_BACKEND(functions_of_both_sides_have_derivatives) {
  const RitzInteriorFacetFunction *const functions[] = {burgers, thermal};
  const char *resource = "";
  uint64_t seed = 7;

  CHECK_OK(CeedGetResource(ceed, &resource));
  if (!strncmp(resource, "/gpu/opencl", 11)) NOT_FOR_THIS_BACKEND("derivatives are C++");
  if (CEED_SCALAR_TYPE != CEED_SCALAR_FP64) NOT_FOR_THIS_BACKEND("Taylor's remainders need double");
  for (int k = 0; k < 2; k++) {
    CeedOperator op = NULL, jacobian = NULL;
    RitzDerivativeCheck check;
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 53, 2, &p));
    double *values = reference_new_random(p.size, &seed);
    CeedVector state = reference_vector(ceed, p.size, values);
    CHECK_OK(create_interior(&p, functions[k], NULL, &op));
    CHECK_OK(RitzOperatorCreateDerivative(op, state, &jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(op, state, jacobian, 0.1, &check));
    CHECK(check.order > 1.8, "order %g", check.order);
    free(values);
    CeedVectorDestroy(&state);
    CeedOperatorDestroy(&jacobian);
    CeedOperatorDestroy(&op);
    destroy_problem(&p);
  }
}

// ---- Refusals ----

TEST(what_has_no_second_side_is_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzFacets facets = NULL, boundary = NULL;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedVector x = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 3, 1, &p));
  CHECK_OK(RitzFacetsCreateInterior(p.mesh, &facets));
  CHECK_OK(RitzFacetsCreate(p.mesh, "all", &boundary));
  CHECK_ERROR(ceed, RitzFacetsCreateInterior(p.mesh, NULL), CEED_ERROR_INCOMPATIBLE, "facets");
  CHECK_ERROR(ceed, RitzFacetsGetSide(boundary, 0, 1, NULL, NULL, NULL), CEED_ERROR_DIMENSION,
              "there is no side 1, these facets have 1");
  CHECK_ERROR(ceed, RitzFacetsGetSide(facets, 0, 2, NULL, NULL, NULL), CEED_ERROR_DIMENSION, "no side 2");
  CHECK_ERROR(ceed, RitzFacetsGetSide(facets, 9, 0, NULL, NULL, NULL), CEED_ERROR_DIMENSION, "no block 9");
  CHECK_ERROR(ceed, RitzFacetsCreateSideRestriction(boundary, 0, 1, RITZ_FACET_TRACE, p.space, ceed, &rstr),
              CEED_ERROR_DIMENSION, "no side 1");
  CHECK_ERROR(ceed, RitzFacetsCreateSideBasis(facets, 0, -1, RITZ_FACET_TRACE, ceed, 1, 1, 1, &basis),
              CEED_ERROR_DIMENSION, "no side -1");
  CHECK_ERROR(ceed, RitzFacetsCreateSideCoordinates(facets, 0, 1, (RitzFacetNodes)9, ceed, &rstr, &x),
              CEED_ERROR_INCOMPATIBLE, "9 is no sort of nodes");
  CHECK(!rstr && !basis && !x, "left a handle");
  RitzFacetsDestroy(&facets);
  RitzFacetsDestroy(&boundary);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

TEST(operators_of_interior_facets_refuse_what_does_not_fit) {
  static const CeedInt one[3] = {1, 1, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzGeometry single = NULL;
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 3, 1, &p));
  CHECK_OK(RitzMeshCreateBox(ceed, 2, one, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzGeometryCreate(mesh, -1, &single));
  CHECK_OK(RitzSpaceCreateDiscontinuous(mesh, 1, 1, &space));
  RitzInteriorFacetOptions options = {.space = space};
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFacetOperator(single, ceed, &options, &upwind[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "the mesh has no interior facets");
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &upwind[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  options.space = p.space;
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &upwind[2], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is for dimension 3");
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &jump[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "2 components");
  options.num_points = -2;
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &upwind[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "-2 points a direction");
  options = (RitzInteriorFacetOptions){.space = p.space, .tests = space};
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &upwind[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  CHECK(!op, "left a handle");
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&single);
  RitzMeshDestroy(&mesh);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

// The diagonal of A has terms between the sides where these share a node.
TEST_EACH_BACKEND(diagonals_of_facets_in_continuous_spaces_are_refused) {
  CeedVector diagonal = NULL;
  CeedOperator op = NULL;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 3, 1, &p));
  CHECK_OK(RitzSpaceGetSize(p.continuous, &size));
  const RitzInteriorFacetOptions options = {.space = p.continuous};
  CHECK_OK(RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &gradient_jump[1], NULL, &op));
  CHECK_OK(CeedVectorCreate(ceed, size, &diagonal));
  CHECK_ERROR(ceed, CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE),
              CEED_ERROR_UNSUPPORTED, "entries in common");
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&op);
  destroy_problem(&p);
}

// A part lacks the elements beyond its facets.
TEST(parts_of_meshes_are_refused) {
  static const int32_t parts[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL, part = NULL;
  RitzFacets facets = NULL;
  RitzSpace space = NULL;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, mixed_size, NULL, NULL, 1, NULL, NULL, &mesh));
  CHECK_OK(RitzMeshCreateSubmesh(mesh, 2, parts, 0, &part));
  CHECK_ERROR(ceed, RitzFacetsCreateInterior(part, &facets), CEED_ERROR_UNSUPPORTED, "a part of a mesh");
  CHECK_ERROR(ceed, RitzSpaceCreateDiscontinuous(part, 1, 1, &space), CEED_ERROR_UNSUPPORTED,
              "a part of a mesh");
  CHECK(!facets && !space, "left a handle");
  RitzMeshDestroy(&part);
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(both_sides_of_every_facet_see_the_same_points_and_the_same_nodes,
                        facets_of_a_periodic_mesh_join_its_ends, jumps_of_continuous_functions_vanish,
                        gradients_of_linear_functions_do_not_jump,
                        flux_through_the_facets_of_each_element_is_the_integral_of_the_divergence,
                        interior_penalty_is_symmetric_and_positive_and_has_the_diagonal_of_its_matrix,
                        interior_penalty_converges_with_order_p_plus_one, advection_conserves_mass,
                        advection_keeps_constants_where_nothing_enters,
                        jumps_of_normal_derivatives_tested_element_by_element_find_a_kink,
                        nonlinear_functions_of_both_sides_are_those_of_ref,
                        functions_of_both_sides_have_derivatives, what_has_no_second_side_is_refused,
                        operators_of_interior_facets_refuse_what_does_not_fit,
                        diagonals_of_facets_in_continuous_spaces_are_refused, parts_of_meshes_are_refused));
}
