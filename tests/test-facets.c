// SPDX-License-Identifier: BSD-2-Clause
// Facets of boundary parts (ritz/facet.h, RitzGeometryCreateBoundaryOperator) on all shapes, affine and
// curved: the divergence theorem, Green's identity against every test function, symmetric forms, diagonals,
// parts of the boundary and of meshes, refusals.
#include <ritz/derivative.h>
#include <ritz/facet.h>
#include <ritz/partition.h>

#include "tests/facet-functions.h"
#include "tests/shapes-kit.h"

#define BY_DIM(name, table, num_comp)                                                                        \
  { table(name##_1, 1, num_comp), table(name##_2, 2, num_comp), table(name##_3, 3, num_comp) }
static const RitzFacetFunction flux[] = BY_DIM(flux_on_facets, RITZ_FACET_FUNCTION_TABLE, 1);
static const RitzFacetFunction element_flux[] =
    BY_DIM(element_flux_on_facets, RITZ_FACET_GRADIENT_FUNCTION_TABLE, 1);
static const RitzFacetFunction derivative[] =
    BY_DIM(derivative_on_facets, RITZ_FACET_GRADIENT_FUNCTION_TABLE, 1);
static const RitzFacetFunction nitsche[] = BY_DIM(nitsche_on_facets, RITZ_FACET_GRADIENT_FUNCTION_TABLE, 2);
static const RitzFacetFunction robin[] = BY_DIM(robin_on_facets, RITZ_FACET_FUNCTION_TABLE, 2);

// ---- Cases ----

typedef struct {
  int shape; // topology, or a mixture
  CeedInt order, degree;
  int num_regions; // 1: affine, 2: and multilinear, 3: and curved (geometry-kit.h)
} Case;

static const Case cases[] = {
    {CEED_TOPOLOGY_LINE, 2, 3, 3},
    {CEED_TOPOLOGY_TRIANGLE, 1, 2, 1},
    {CEED_TOPOLOGY_TRIANGLE, 2, 3, 3},
    {CEED_TOPOLOGY_QUAD, 1, 3, 2},
    {CEED_TOPOLOGY_QUAD, 3, 3, 3},
    {CEED_TOPOLOGY_TET, 1, 2, 1},
    {CEED_TOPOLOGY_TET, 2, 4, 3},
    {CEED_TOPOLOGY_PRISM, 2, 3, 3},
    {CEED_TOPOLOGY_HEX, 1, 2, 2},
    {CEED_TOPOLOGY_HEX, 2, 3, 3},
    {CEED_TOPOLOGY_PYRAMID, 1, 2, 1},
    {CEED_TOPOLOGY_PYRAMID, 2, 4, 1},
    {MIXED_PLANE, 2, 2, 3},
    {MIXED_SOLID, 1, 3, 1},
};
enum { NUM_CASES = sizeof(cases) / sizeof(cases[0]) };

// Enough for the integrals of these cases: exact but on pyramids that are not affine.
enum { NUM_POINTS = 8 };

typedef struct {
  Ceed ceed; // borrowed
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  CeedInt dim;
  CeedSize size;
  int64_t num_nodes;
} Problem;

static int create_problem(Ceed ceed, const Case *c, CeedInt num_comp, Problem *p) {
  uint64_t seed = 3;
  const CeedInt dim = dim_of(c->shape);
  MixedMap map = mixed_map(dim, c->num_regions, &seed);
  RitzMeshDraft draft;

  *p = (Problem){.ceed = ceed, .dim = dim};
  RITZ_TRY(flat_draft(ceed, c->shape, c->order, &draft));
  RITZ_TRY(build_mapped(ceed, &draft, &map, &p->mesh));
  RITZ_TRY(RitzGeometryCreate(p->mesh, -1, &p->geometry));
  RITZ_TRY(RitzSpaceCreate(p->mesh, c->degree, num_comp, &p->space));
  RITZ_TRY(RitzSpaceGetNumNodes(p->space, &p->num_nodes));
  return RitzSpaceGetSize(p->space, &p->size);
}

static void destroy_problem(Problem *p) {
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
}

static int create_on_part(const Problem *p, const char *part, const RitzFacetFunction *by_dim,
                          CeedQFunctionContext context, CeedOperator *op) {
  const RitzBoundaryOptions options = {.space = p->space, .part = part, .num_points = NUM_POINTS};

  return RitzGeometryCreateBoundaryOperator(p->geometry, p->ceed, &options, &by_dim[p->dim - 1], context, op);
}

// A new array, the operator of all facets applied to u; NaN after a failure.
static double *apply_on_facets(const Problem *p, const RitzFacetFunction *by_dim, const double *u) {
  CeedOperator op = NULL;
  double *result = NULL;

  if (!create_on_part(p, NULL, by_dim, NULL, &op)) result = apply_operator(op, p->size, u);
  CeedOperatorDestroy(&op);
  return result;
}

static int create_volume(const Problem *p, RitzOperatorKind kind, CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = kind, .space = p->space, .num_points = NUM_POINTS};

  return RitzGeometryCreateOperator(p->geometry, p->ceed, &options, op);
}

static double *apply_in_volume(const Problem *p, RitzOperatorKind kind, const double *u) {
  CeedOperator op = NULL;
  double *result = NULL;

  if (!create_volume(p, kind, &op)) result = apply_operator(op, p->size, u);
  CeedOperatorDestroy(&op);
  return result;
}

static double sum_of(CeedSize n, const double *a) {
  double sum = 0;

  for (CeedSize i = 0; i < n; i++) sum += a[i];
  return sum;
}

static const char *describe(const Case *c) {
  static char text[100];

  snprintf(text, sizeof(text), "shape %s, order %d, degree %d, regions %d",
           c->shape < 0 ? "mixed" : CeedElemTopologies[c->shape], (int)c->order, (int)c->degree,
           c->num_regions);
  return text;
}

// ---- The divergence theorem ----

// Test functions sum to one, so the sum of the result is the flux through the boundary. Sums of some thousand
// products of numbers of size 1 to 10.
static void check_divergence(Ceed ceed, const Case *c) {
  static const double divergence[] = {1, 3, 6};
  Problem p;

  CHECK_OK(create_problem(ceed, c, 1, &p));
  double *one = reference_new(p.size);
  for (CeedSize i = 0; i < p.size; i++) one[i] = 1;
  double *volume = apply_in_volume(&p, RITZ_OPERATOR_MASS, one);
  double *by_traces = apply_on_facets(&p, flux, one), *by_elements = apply_on_facets(&p, element_flux, one);
  CHECK(volume && by_traces && by_elements, "no operators: %s", describe(c));
  const double wanted = divergence[p.dim - 1] * sum_of(p.size, volume), tolerance = 2000 * CEED_EPSILON;

  CHECK_NEAR(sum_of(p.size, by_traces), wanted, tolerance * wanted, "by nodes of facets: %s", describe(c));
  CHECK_NEAR(sum_of(p.size, by_elements), wanted, tolerance * wanted, "by nodes of elements: %s",
             describe(c));
  CHECK(reference_distance(p.size, by_traces, by_elements) <=
            1000 * CEED_EPSILON * reference_largest(p.size, by_elements),
        "both sorts of nodes differ: %s", describe(c));
  free(one);
  free(volume);
  free(by_traces);
  free(by_elements);
  destroy_problem(&p);
}

// Kernels are compiled for each case: fewer on devices.
static int step_of(Ceed ceed) { return tap_compiles_slowly(ceed) ? 5 : 1; }

TEST_EACH_BACKEND(flux_through_the_boundary_is_the_integral_of_the_divergence) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_divergence(ceed, &cases[i]);
}

// ---- Green's identity ----

// Of u = a . x, which is in the space: integral of grad u . grad v = integral over the boundary of du/dn v,
// for every test function v.
static void check_green(Ceed ceed, const Case *c) {
  static const double a[] = {1.5, -0.7, 0.4};
  Problem p;

  CHECK_OK(create_problem(ceed, c, 1, &p));
  double *x = reference_new(p.num_nodes * p.dim), *u = reference_new(p.size);
  CHECK_OK(RitzSpaceGetNodeCoordinates(p.space, x));
  for (int64_t i = 0; i < p.num_nodes; i++) {
    u[i] = 0;
    for (CeedInt d = 0; d < p.dim; d++) u[i] += a[d] * x[i * p.dim + d];
  }
  double *volume = apply_in_volume(&p, RITZ_OPERATOR_DIFFUSION, u),
         *boundary = apply_on_facets(&p, derivative, u);
  CHECK(volume && boundary, "no operators: %s", describe(c));
  // Derivatives of degree p have p^2 times the rounding of values.
  CHECK(reference_distance(p.size, volume, boundary) <=
            4000 * CEED_EPSILON * reference_largest(p.size, boundary),
        "differ by %g of %g: %s", reference_distance(p.size, volume, boundary),
        reference_largest(p.size, boundary), describe(c));
  free(x);
  free(u);
  free(volume);
  free(boundary);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(normal_derivatives_of_linear_functions_obey_greens_identity_against_every_test_function) {
  for (int i = 0; i < NUM_CASES && !tap_failed(); i += step_of(ceed)) check_green(ceed, &cases[i]);
}

// ---- Forms ----

static int create_gamma(Ceed ceed, CeedQFunctionContext *context) {
  CeedScalar gamma = (CeedScalar)2.5;

  RITZ_TRY(CeedQFunctionContextCreate(ceed, context));
  return CeedQFunctionContextSetData(*context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(gamma), &gamma);
}

// With two components: x . A y = y . A x; the diagonal is that of A; boundary and volume in one composite.
static void check_form(Ceed ceed, const Case *c, const RitzFacetFunction *by_dim) {
  CeedQFunctionContext context = NULL;
  CeedOperator op = NULL;
  CeedVector diagonal = NULL;
  uint64_t seed = 11;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 2, &p));
  CHECK_OK(create_gamma(ceed, &context));
  CHECK_OK(create_on_part(&p, NULL, by_dim, context, &op));
  double *x = reference_new_random(p.size, &seed), *y = reference_new_random(p.size, &seed);
  double *Ax = apply_operator(op, p.size, x), *Ay = apply_operator(op, p.size, y), *d = reference_new(p.size);
  const double size = 1000 * CEED_EPSILON * (double)p.size * reference_largest(p.size, Ax);
  CHECK_NEAR(reference_dot(p.size, x, Ay), reference_dot(p.size, y, Ax), size, "not symmetric: %s",
             describe(c));
  CHECK_OK(CeedVectorCreate(ceed, p.size, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  reference_values(diagonal, d);
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
  CeedQFunctionContextDestroy(&context);
  destroy_problem(&p);
}

TEST_EACH_BACKEND(forms_of_nitsche_and_robin_are_symmetric_and_have_the_diagonal_of_their_matrix) {
  for (int i = 1; i < NUM_CASES && !tap_failed(); i += 3 * step_of(ceed)) {
    check_form(ceed, &cases[i], nitsche);
    if (!tap_failed()) check_form(ceed, &cases[i], robin);
  }
}

// Taylor's remainder of order two: derivatives of the texts of facet functions.
TEST_EACH_BACKEND(nonlinear_facet_functions_have_derivatives) {
  static const RitzFacetFunction nonlinear[] = {RITZ_FACET_FUNCTION_TABLE(radiation_on_facets_3, 3, 2),
                                                RITZ_FACET_GRADIENT_FUNCTION_TABLE(follower_on_facets_3, 3,
                                                                                   2)};
  uint64_t seed = 7;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("derivatives are C++");
  for (int k = 0; k < 2; k++) {
    const RitzFacetFunction by_dim[3] = {nonlinear[k], nonlinear[k], nonlinear[k]};
    CeedOperator op = NULL, jacobian = NULL;
    RitzDerivativeCheck check;
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[9], 2, &p));
    double *values = reference_new_random(p.size, &seed);
    CeedVector state = reference_vector(ceed, p.size, values);
    CHECK_OK(create_on_part(&p, NULL, by_dim, NULL, &op));
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

// ---- Parts of the boundary, parts of a mesh ----

// The named sides of a box add up to all of it.
TEST_EACH_BACKEND(operators_of_the_sides_of_a_box_add_up_to_that_of_its_boundary) {
  Problem p = {.ceed = ceed, .dim = 3};
  CeedInt num_parts = 0;
  double total = 0;

  CHECK_OK(RitzMeshCreateBox(ceed, 3, mixed_size, NULL, NULL, 1, NULL, NULL, &p.mesh));
  CHECK_OK(RitzGeometryCreate(p.mesh, -1, &p.geometry));
  CHECK_OK(RitzSpaceCreate(p.mesh, 2, 1, &p.space));
  CHECK_OK(RitzSpaceGetSize(p.space, &p.size));
  CHECK_OK(RitzMeshGetNumBoundaryParts(p.mesh, &num_parts));
  double *one = reference_new(p.size), *all = apply_on_facets(&p, flux, one);
  for (CeedInt k = 0; k < num_parts; k++) {
    const char *name = NULL;
    CeedOperator op = NULL;

    CHECK_OK(RitzMeshGetBoundaryPartName(p.mesh, k, &name));
    CHECK_OK(create_on_part(&p, name, flux, NULL, &op));
    double *part = apply_operator(op, p.size, one);
    total += sum_of(p.size, part);
    free(part);
    CeedOperatorDestroy(&op);
  }
  CHECK(num_parts == 6, "%d parts", (int)num_parts);
  CHECK_NEAR(total, 6, 1000 * CEED_EPSILON, "parts");
  CHECK_NEAR(sum_of(p.size, all), 6, 1000 * CEED_EPSILON, "all");
  free(one);
  free(all);
  destroy_problem(&p);
}

// ---- Blocks ----

// Every facet of the boundary is in one block, under its own number.
TEST(blocks_have_every_facet_of_the_boundary_once) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < NUM_CASES; i++) {
    int64_t num = 0, total = 0;
    CeedInt num_blocks = 0;
    RitzFacets facets = NULL;
    Problem p;

    CHECK_OK(create_problem(ceed, &cases[i], 1, &p));
    CHECK_OK(RitzMeshGetBoundaryPart(p.mesh, "all", &num, NULL, NULL));
    CHECK_OK(RitzFacetsCreate(p.mesh, "all", &facets));
    CHECK_OK(RitzFacetsGetNumBlocks(facets, &num_blocks));
    for (CeedInt b = 0; b < num_blocks; b++) {
      CeedElemTopology element = CEED_TOPOLOGY_LINE, facet = CEED_TOPOLOGY_LINE;
      int64_t num_of_block = 0;

      CHECK_OK(RitzFacetsGetBlock(facets, b, &element, &facet, &num_of_block, NULL, NULL));
      CHECK(num_of_block > 0, "an empty block");
      CHECK((int)facet >> 16 == p.dim - 1 || p.dim == 1, "facets have dimension %d", (int)facet >> 16);
      total += num_of_block;
    }
    CHECK(total == num, "%d facets of %d: %s", (int)total, (int)num, describe(&cases[i]));
    RitzFacetsDestroy(&facets);
    destroy_problem(&p);
  }
  CeedDestroy(&ceed);
}

// Of order 1, in the tables of the shape, whatever the turn.
typedef struct {
  const RitzMeshShape *shape;
  CeedInt dim, num_nodes; // of space; of a facet
  int64_t first;          // element of the mesh's block
  const double *geometry; // of the block's elements
} Corners;

// The distance of node x from the nearest corner of a facet.
static double corner_distance(const Corners *c, int64_t element, int facet, const CeedScalar *x) {
  const int8_t *corners = c->shape->facets.corner[facet];
  double nearest = INFINITY;

  for (CeedInt m = 0; m < c->num_nodes; m++) {
    const double *y = c->geometry + ((element - c->first) * c->shape->num_corners + corners[m]) * c->dim;
    double gap = 0;

    for (CeedInt d = 0; d < c->dim; d++) gap += fabs((double)x[d] - y[d]);
    nearest = fmin(nearest, gap);
  }
  return nearest;
}

static int find_facet_corners(const Problem *p, RitzFacets facets, CeedInt b, Corners *c) {
  CeedElemTopology shape = CEED_TOPOLOGY_LINE, found = (CeedElemTopology)0;

  RITZ_TRY(RitzFacetsGetBlock(facets, b, &shape, NULL, NULL, NULL, NULL));
  for (CeedInt block = 0; found != shape; block++)
    RITZ_TRY(RitzMeshGetBlock(p->mesh, block, &found, &c->first, NULL, NULL, &c->geometry));
  c->shape = ritz_mesh_shape(shape);
  c->dim = p->dim;
  return CEED_ERROR_SUCCESS;
}

static void check_corners(const Problem *p, RitzFacets facets, CeedInt b) {
  const int64_t *elements = NULL;
  const int8_t *numbers = NULL;
  CeedElemRestriction rstr = NULL;
  const CeedScalar *at = NULL;
  CeedVector x = NULL;
  int64_t num = 0;
  Corners c;

  CHECK_OK(find_facet_corners(p, facets, b, &c));
  CHECK_OK(RitzFacetsGetBlock(facets, b, NULL, NULL, &num, &elements, &numbers));
  CHECK_OK(RitzFacetsCreateCoordinates(facets, b, RITZ_FACET_TRACE, p->ceed, &rstr, &x));
  CHECK_OK(CeedElemRestrictionGetElementSize(rstr, &c.num_nodes));
  CHECK_OK(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &at));
  for (int64_t i = 0; i < num * c.num_nodes; i++) {
    const int64_t k = i / c.num_nodes;
    CHECK(c.num_nodes == ritz_mesh_entity_size(&c.shape->facets, numbers[k]), "%d corners", (int)c.num_nodes);
    CHECK(corner_distance(&c, elements[k], numbers[k], at + i * c.dim) <= 10 * CEED_EPSILON,
          "node %d of facet %d is no corner of it", (int)(i % c.num_nodes), (int)k);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(x, &at));
  CeedVectorDestroy(&x);
  CeedElemRestrictionDestroy(&rstr);
}

TEST(coordinates_of_facets_are_those_of_their_corners) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) {
    CeedInt num_blocks = 0;
    RitzFacets facets = NULL;
    Problem p;

    if (cases[i].order != 1) continue;
    CHECK_OK(create_problem(ceed, &cases[i], 1, &p));
    CHECK_OK(RitzFacetsCreate(p.mesh, "all", &facets));
    CHECK_OK(RitzFacetsGetNumBlocks(facets, &num_blocks));
    for (CeedInt b = 0; b < num_blocks && !tap_failed(); b++) check_corners(&p, facets, b);
    RitzFacetsDestroy(&facets);
    destroy_problem(&p);
  }
  CeedDestroy(&ceed);
}

// ---- Refusals ----

TEST(what_has_no_facets_is_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzFacets facets = NULL;
  RitzMesh other = NULL;
  RitzSpace elsewhere = NULL;
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedOperator op = NULL;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[0], 1, &p));
  CHECK_ERROR(ceed, RitzFacetsCreate(p.mesh, "inlet", &facets), CEED_ERROR_INCOMPATIBLE, "inlet");
  CHECK(!facets, "left a handle");
  CHECK_ERROR(ceed, RitzFacetsCreate(p.mesh, NULL, &facets), CEED_ERROR_INCOMPATIBLE, "name");
  CHECK_OK(RitzFacetsCreate(p.mesh, "all", &facets));
  CHECK_ERROR(ceed, RitzFacetsGetBlock(facets, 1, NULL, NULL, NULL, NULL, NULL), CEED_ERROR_DIMENSION,
              "no block 1");
  CHECK_ERROR(ceed, RitzFacetsCreateRestriction(facets, 0, RITZ_FACET_TRACE, p.space, ceed, &rstr),
              CEED_ERROR_UNSUPPORTED, "facets of lines");
  CHECK_ERROR(ceed, RitzFacetsCreateBasis(facets, 0, RITZ_FACET_ELEMENT, ceed, 1, 0, 2, &basis),
              CEED_ERROR_DIMENSION, "degree 0");
  CHECK_ERROR(ceed, RitzFacetsCreateBasis(facets, 0, (RitzFacetNodes)7, ceed, 1, 1, 2, &basis),
              CEED_ERROR_INCOMPATIBLE, "7 is no sort of nodes");
  CHECK_OK(RitzMeshCreateBox(ceed, 1, mixed_size, NULL, NULL, 1, NULL, NULL, &other));
  CHECK_OK(RitzSpaceCreate(other, 1, 1, &elsewhere));
  CHECK_ERROR(ceed, RitzFacetsCreateRestriction(facets, 0, RITZ_FACET_ELEMENT, elsewhere, ceed, &rstr),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  RitzBoundaryOptions options = {.space = elsewhere};
  CHECK_ERROR(ceed, RitzGeometryCreateBoundaryOperator(p.geometry, ceed, &options, &flux[0], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  options.space = p.space;
  CHECK_ERROR(ceed, RitzGeometryCreateBoundaryOperator(p.geometry, ceed, &options, &flux[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is for dimension 2 and 1 components; the mesh has dimension 1");
  options.num_points = -1;
  CHECK_ERROR(ceed, RitzGeometryCreateBoundaryOperator(p.geometry, ceed, &options, &flux[0], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "-1 points a direction");
  CHECK(!op && !rstr && !basis, "left a handle");
  RitzSpaceDestroy(&elsewhere);
  RitzMeshDestroy(&other);
  RitzFacetsDestroy(&facets);
  destroy_problem(&p);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(flux_through_the_boundary_is_the_integral_of_the_divergence,
            normal_derivatives_of_linear_functions_obey_greens_identity_against_every_test_function,
            forms_of_nitsche_and_robin_are_symmetric_and_have_the_diagonal_of_their_matrix,
            nonlinear_facet_functions_have_derivatives,
            operators_of_the_sides_of_a_box_add_up_to_that_of_its_boundary,
            blocks_have_every_facet_of_the_boundary_once, coordinates_of_facets_are_those_of_their_corners,
            what_has_no_facets_is_refused));
}
