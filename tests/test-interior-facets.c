// SPDX-License-Identifier: BSD-2-Clause
// Interior facets (ritz/facet.h, RitzGeometryCreateInteriorFacetOperator) between all shapes, turned at
// random, affine and curved: both sides see the same points, jumps of continuous functions, the divergence
// theorem on each element, derivatives, refusals. Methods made of them: test-interior-penalty.c.
#include <ceed/backend.h>
#include <ritz/derivative.h>
#include <ritz/partition.h>

#include "tests/interior-functions.h"
#include "tests/interior-kit.h"

static const RitzInteriorFacetFunction both_flux[] = OF_VALUES(both_flux, 1);
static const RitzInteriorFacetFunction both_element_flux[] = OF_GRADIENTS(both_element_flux, 1);
static const RitzInteriorFacetFunction jump[] = OF_VALUES(jump, 2);
static const RitzInteriorFacetFunction gradient_jump[] = OF_GRADIENTS(gradient_jump, 1);
static const RitzInteriorFacetFunction burgers[] = OF_VALUES(burgers, 2);
static const RitzInteriorFacetFunction thermal[] = OF_GRADIENTS(thermal, 2);
static const RitzFacetFunction flux[] = BY_DIM(flux_on_facets, RITZ_FACET_FUNCTION_TABLE, 1);

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

static void check_jumps(Ceed ceed, const Case *c) {
  uint64_t seed = 5;
  CeedSize size = 0;
  Problem p;

  CHECK_OK(create_problem(ceed, c, 23, 2, &p));
  CHECK_OK(RitzSpaceGetSize(p.continuous, &size));
  double *u = reference_new_random(size, &seed), *v = split_nodes(p.continuous, p.space, 2, u);
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
    if (!tap_failed() && !tap_compiles_slowly(ceed)) check_divergence(ceed, &cases[i], both_element_flux);
  }
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
    if (!tap_failed() && !tap_compiles_slowly(ceed)) check_against_ref(ceed, &cases[i], thermal);
  }
}

// What interior-functions.h has as jump_2, in memory.
static const char jump_text[] =
    "#include <ritz/point-function.h>\n"
    "CEED_QFUNCTION_HELPER void jump_in_text(const void *ctx, const CeedScalar *x,\n"
    "    const CeedScalar *n, const CeedScalar(*u)[2], CeedScalar(*v)[2]) {\n"
    "  for (int c = 0; c < 2; c++) {\n"
    "    v[0][c] = (c + 1) * (u[0][c] - u[1][c]);\n"
    "    v[1][c] = u[0][c] - u[1][c];\n"
    "  }\n"
    "}\n"
    "RITZ_INTERIOR_FACET_FUNCTION(jump_from_text, 2, 2, jump_in_text)\n";
static const RitzInteriorFacetFunction jump_of_text[] = {
    {0}, {2, 2, 0, NULL, "jump_from_text", jump_text}, {0}};

TEST_EACH_BACKEND(functions_in_texts_are_those_of_files) {
  uint64_t seed = 23;
  Problem p;

  CHECK_OK(create_problem(ceed, &cases[PLANE_CASE], 59, 2, &p));
  double *u = reference_new_random(p.size, &seed), *v = apply_interior(&p, jump, u),
         *w = apply_interior(&p, jump_of_text, u);
  // The same operations, sums over facets in any order.
  CHECK(reference_distance(p.size, v, w) <= 20 * CEED_EPSILON * reference_largest(p.size, v),
        "differ by %g of %g", reference_distance(p.size, v, w), reference_largest(p.size, v));
  free(u);
  free(v);
  free(w);
  destroy_problem(&p);
}

// Taylor's remainder of order two.
TEST_EACH_BACKEND(functions_of_both_sides_have_derivatives) {
  const RitzInteriorFacetFunction *const functions[] = {burgers, thermal};
  uint64_t seed = 7;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("derivatives are C++");
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
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFacetOperator(single, ceed, &options, &both_flux[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "the mesh has no interior facets");
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &both_flux[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  options.space = p.space;
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &both_flux[2], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "is for dimension 3");
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &jump[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "2 components");
  RitzInteriorFacetFunction twice = both_flux[1];
  twice.text = jump_text;
  CHECK_ERROR(ceed, RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &twice, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "a text besides");
  options.num_points = -2;
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &both_flux[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "-2 points a direction");
  options = (RitzInteriorFacetOptions){.space = p.space, .tests = space};
  CHECK_ERROR(ceed,
              RitzGeometryCreateInteriorFacetOperator(p.geometry, ceed, &options, &both_flux[1], NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "another mesh");
  CHECK(!op, "left a handle");
  RitzSpaceDestroy(&space);
  RitzGeometryDestroy(&single);
  RitzMeshDestroy(&mesh);
  destroy_problem(&p);
  CeedDestroy(&ceed);
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
                        nonlinear_functions_of_both_sides_are_those_of_ref,
                        functions_in_texts_are_those_of_files, functions_of_both_sides_have_derivatives,
                        what_has_no_second_side_is_refused,
                        operators_of_interior_facets_refuse_what_does_not_fit, parts_of_meshes_are_refused));
}
