// SPDX-License-Identifier: BSD-2-Clause
// Products of spaces (ritz/product.h): a product equals its parts, in its restrictions, constraints,
// transfers and in operators that couple its fields; refusals.
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tests/mixed-kit.h"
#include "tests/tap.h"

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.05 * X[0] * X[1];
  return 0;
}

// ---- Restrictions and vectors ----

typedef struct {
  RitzMesh mesh;
  RitzSpace space[3];
  RitzProductSpace product;
  CeedSize size;
} Three;

static const CeedInt degrees[3] = {3, 1, 2}, components[3] = {2, 3, 1};

static void make_three(Ceed ceed, KitMesh kind, Three *t) {
  *t = (Three){.mesh = NULL};
  CHECK_OK(kit_mesh(ceed, kind, 2, bend, &t->mesh));
  for (int i = 0; i < 3; i++) CHECK_OK(RitzSpaceCreate(t->mesh, degrees[i], components[i], &t->space[i]));
  CHECK_OK(RitzProductSpaceCreate(3, t->space, &t->product));
  CHECK_OK(RitzProductSpaceGetSize(t->product, &t->size));
}

static void destroy_three(Three *t) {
  for (int i = 0; i < 3; i++) RitzSpaceDestroy(&t->space[i]);
  RitzProductSpaceDestroy(&t->product);
  RitzMeshDestroy(&t->mesh);
}

// Gather and scatter by the restriction in the product against that of the space on its range.
static void check_restriction(Ceed ceed, const Three *t, CeedInt i, CeedElemRestriction whole,
                              CeedElemRestriction part) {
  CeedSize first = 0, length = 0, l_size = 0, e_size = 0;
  CeedVector x = NULL, x_i = NULL, e = NULL, e_i = NULL;
  uint64_t seed = 5;

  CHECK_OK(RitzProductSpaceGetRange(t->product, i, &first, &length));
  CHECK_OK(CeedElemRestrictionGetLVectorSize(whole, &l_size));
  CHECK(l_size == t->size, "the restriction has vectors of the product");
  CHECK_OK(CeedElemRestrictionGetEVectorSize(whole, &e_size));
  double *values = reference_new_random(t->size, &seed);
  CHECK_OK(kit_fill(ceed, t->size, values, &x));
  CHECK_OK(kit_fill(ceed, length, values + first, &x_i));
  CHECK_OK(CeedVectorCreate(ceed, e_size, &e));
  CHECK_OK(CeedVectorCreate(ceed, e_size, &e_i));
  CHECK_OK(CeedElemRestrictionApply(whole, CEED_NOTRANSPOSE, x, e, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionApply(part, CEED_NOTRANSPOSE, x_i, e_i, CEED_REQUEST_IMMEDIATE));
  double *gathered = reference_new_values(e_i);
  CHECK(kit_distance(e, gathered) == 0, "space %d: the same nodes", (int)i);
  // Scattered: nothing outside of the range, in it what the space gets. Sums may have another order.
  CHECK_OK(CeedVectorSetValue(x, 0));
  CHECK_OK(CeedVectorSetValue(x_i, 0));
  CHECK_OK(CeedElemRestrictionApply(whole, CEED_TRANSPOSE, e, x, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionApply(part, CEED_TRANSPOSE, e_i, x_i, CEED_REQUEST_IMMEDIATE));
  memset(values, 0, (size_t)t->size * sizeof(*values));
  reference_values(x_i, values + first);
  CHECK(kit_distance(x, values) <= 20 * eps, "space %d: sums of a few terms of size 1", (int)i);
  free(gathered);
  free(values);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&x_i);
  CeedVectorDestroy(&e);
  CeedVectorDestroy(&e_i);
}

TEST_EACH_BACKEND(restrictions_of_a_product_are_those_of_its_spaces_on_their_ranges) {
  Three t;
  CeedInt num_blocks = 0;
  CeedSize next = 0;

  make_three(ceed, KIT_PLANE, &t);
  CHECK_OK(RitzMeshGetNumBlocks(t.mesh, &num_blocks));
  CHECK(num_blocks == 2, "triangles and quadrilaterals");
  for (CeedInt i = 0; i < 3; i++) {
    CeedSize first = -1, length = -1, of_space = 0;

    CHECK_OK(RitzProductSpaceGetRange(t.product, i, &first, &length));
    CHECK_OK(RitzSpaceGetSize(t.space[i], &of_space));
    CHECK(first == next && length == of_space, "space %d follows the one before", (int)i);
    next += length;
    for (CeedInt b = 0; b < num_blocks; b++) {
      CeedElemRestriction whole = NULL, part = NULL, again = NULL;
      int64_t first_elem = 0;

      CHECK_OK(RitzProductSpaceCreateBlockRestriction(t.product, i, b, ceed, &whole));
      CHECK_OK(RitzSpaceCreateBlockRestriction(t.space[i], b, ceed, &part));
      check_restriction(ceed, &t, i, whole, part);
      CHECK_OK(RitzProductSpaceCreateBlockRestriction(t.product, i, b, ceed, &again));
      CHECK(again == whole, "one restriction is shared by all who ask");
      CeedElemRestrictionDestroy(&again);
      CeedElemRestrictionDestroy(&whole);
      CeedElemRestrictionDestroy(&part);

      CHECK_OK(RitzMeshGetBlock(t.mesh, b, NULL, &first_elem, NULL, NULL, NULL));
      const CeedInt elements[1] = {(CeedInt)first_elem};
      CHECK_OK(RitzProductSpaceCreateElementsRestriction(t.product, i, b, ceed, 1, elements, &whole));
      CHECK_OK(RitzSpaceCreateElementsRestriction(t.space[i], b, ceed, 1, elements, &part));
      check_restriction(ceed, &t, i, whole, part);
      CeedElemRestrictionDestroy(&whole);
      CeedElemRestrictionDestroy(&part);
    }
  }
  CHECK(next == t.size, "nothing is left");
  destroy_three(&t);
}

TEST_EACH_BACKEND(parts_of_vectors_are_taken_out_and_put_back) {
  Three t;
  CeedVector x = NULL, y = NULL;
  uint64_t seed = 7;

  make_three(ceed, KIT_QUADS, &t);
  double *values = reference_new_random(t.size, &seed);
  CHECK_OK(kit_fill(ceed, t.size, values, &x));
  CHECK_OK(CeedVectorCreate(ceed, t.size, &y));
  CHECK_OK(CeedVectorSetValue(y, 0));
  for (CeedInt i = 2; i >= 0; i--) {
    CeedSize first = 0, length = 0;
    CeedVector part = NULL;

    CHECK_OK(RitzProductSpaceGetRange(t.product, i, &first, &length));
    CHECK_OK(CeedVectorCreate(ceed, length, &part));
    CHECK_OK(RitzProductSpaceGetPart(t.product, i, x, part));
    CHECK(kit_distance(part, values + first) == 0, "part %d is a copy", (int)i);
    CHECK_OK(RitzProductSpaceSetPart(t.product, i, part, y));
    CeedVectorDestroy(&part);
  }
  CHECK(kit_distance(y, values) == 0, "all parts together are the vector");
  free(values);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  destroy_three(&t);
}

TEST(constraints_of_a_product_are_those_of_its_spaces_shifted) {
  static const RitzFixedPart left = {.part = "xmin"}, all = {.part = "all", .num_comp = 1, .comp = {2}};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Three t;
  RitzIndices of_spaces[3] = {NULL, NULL, NULL}, constraints = NULL, too_far = NULL;
  const int64_t *entries, *own;
  int64_t num = 0, num_own[2] = {0, 0};
  CeedSize first = 0;

  make_three(ceed, KIT_QUADS, &t);
  CHECK_OK(RitzSpaceCreateConstraints(t.space[0], ceed, 1, &left, &of_spaces[0]));
  CHECK_OK(RitzSpaceCreateConstraints(t.space[1], ceed, 1, &all, &of_spaces[1]));
  CHECK_OK(RitzProductSpaceCreateConstraints(t.product, ceed, of_spaces, &constraints));
  CHECK_OK(RitzIndicesGet(constraints, &num, &entries));
  for (CeedInt i = 0; i < 2; i++) {
    CHECK_OK(RitzIndicesGet(of_spaces[i], &num_own[i], &own));
    CHECK_OK(RitzProductSpaceGetRange(t.product, i, &first, NULL));
    CHECK(num_own[i] > 0, "the test has constraints");
    for (int64_t k = 0; k < num_own[i]; k++)
      CHECK(entries[i * num_own[0] + k] == first + own[k], "entry %d of space %d", (int)k, (int)i);
  }
  CHECK(num == num_own[0] + num_own[1], "and none beside");
  RitzIndicesDestroy(&constraints);
  CHECK_OK(RitzIndicesCreate(ceed, 1, (int64_t[]){t.size}, &too_far));
  CHECK_ERROR(ceed,
              RitzProductSpaceCreateConstraints(t.product, ceed, (RitzIndices[]){NULL, too_far, NULL},
                                                &constraints),
              CEED_ERROR_DIMENSION, "of space 1 is constrained");
  RitzIndicesDestroy(&too_far);
  for (int i = 0; i < 2; i++) RitzIndicesDestroy(&of_spaces[i]);
  CHECK_OK(RitzProductSpaceCreateConstraints(t.product, ceed, of_spaces, &constraints));
  CHECK_OK(RitzIndicesGet(constraints, &num, NULL));
  CHECK(num == 0, "no space has any");
  RitzIndicesDestroy(&constraints);
  destroy_three(&t);
  CeedDestroy(&ceed);
}

// ---- Operators ----

// A (u, p) = (K u + B^T p, B u) with operators of single spaces on the right.
static void check_operator(Ceed ceed, KitMesh kind) {
  RitzMesh mesh = NULL;
  MixedKit k;
  CeedOperator whole = NULL, diffusion = NULL, b = NULL, b_transposed = NULL;
  CeedVector x = NULL, y = NULL, u = NULL, p = NULL, v = NULL, q = NULL, expected = NULL;
  uint64_t seed = 9;

  CHECK_OK(kit_mesh(ceed, kind, 1, bend, &mesh));
  CHECK_OK(mixed_create(ceed, mesh, 3, 2, &k));
  CHECK_OK(mixed_operator(&k, &mixed_stokes, &whole));
  CHECK_OK(mixed_standard(&k, RITZ_OPERATOR_DIFFUSION, 0, &diffusion));
  CHECK_OK(mixed_operator(&k, &mixed_b, &b));
  CHECK_OK(mixed_operator(&k, &mixed_b_transposed, &b_transposed));
  CHECK_OK(mixed_random(&k, -1, &seed, &x));
  CHECK_OK(mixed_random(&k, -1, &seed, &y));
  CHECK_OK(mixed_random(&k, -1, &seed, &expected));
  CHECK_OK(mixed_random(&k, 0, &seed, &u));
  CHECK_OK(mixed_random(&k, 1, &seed, &p));
  CHECK_OK(mixed_random(&k, 0, &seed, &v));
  CHECK_OK(mixed_random(&k, 1, &seed, &q));
  CHECK_OK(RitzProductSpaceGetPart(k.product, 0, x, u));
  CHECK_OK(RitzProductSpaceGetPart(k.product, 1, x, p));

  CHECK_OK(kit_apply(whole, x, y));
  CHECK_OK(kit_apply(diffusion, u, v));
  CHECK_OK(CeedOperatorApplyAdd(b_transposed, p, v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(kit_apply(b, u, q));
  CHECK_OK(RitzProductSpaceSetPart(k.product, 0, v, expected));
  CHECK_OK(RitzProductSpaceSetPart(k.product, 1, q, expected));
  // Sums of some hundred terms an entry.
  CHECK(mixed_difference(y, expected) <= 200 * eps, "%s: the operator of the product is made of its parts",
        kit_names[kind]);

  // y := B^T p alone; p . B u = u . B^T p
  CHECK_OK(kit_apply(b_transposed, p, v));
  CHECK_NEAR(kit_dot(p, q), kit_dot(u, v), 200 * eps * sqrt(kit_dot(u, u) * kit_dot(v, v)),
             "%s: divergence and gradient are adjoint", kit_names[kind]);
  CeedOperatorDestroy(&whole);
  CeedOperatorDestroy(&diffusion);
  CeedOperatorDestroy(&b);
  CeedOperatorDestroy(&b_transposed);
  CeedVector *const vectors[] = {&x, &y, &u, &p, &v, &q, &expected};
  for (int i = 0; i < 7; i++) CeedVectorDestroy(vectors[i]);
  mixed_destroy(&k);
  RitzMeshDestroy(&mesh);
}

TEST_EACH_BACKEND(an_operator_on_a_product_equals_the_operators_between_its_spaces) {
  if (!tap_compiles_slowly(ceed)) check_operator(ceed, KIT_QUADS);
  check_operator(ceed, KIT_PLANE);
}

// w . A x = x . A w, and the matrix that is assembled is A, its diagonal the diagonal.
TEST_EACH_BACKEND(operators_on_products_are_assembled_as_any_other) {
  RitzMesh mesh = NULL;
  MixedKit k;
  CeedOperator op = NULL;
  CeedVector x = NULL, w = NULL, ax = NULL, aw = NULL, diagonal = NULL, values = NULL;
  CeedSize num_rows = 0, num_cols = 0;
  int64_t *row_starts = NULL, *cols = NULL;
  uint64_t seed = 3;

  CHECK_OK(kit_mesh(ceed, KIT_PLANE, 1, bend, &mesh));
  CHECK_OK(mixed_create(ceed, mesh, 2, 1, &k));
  CHECK_OK(mixed_operator(&k, &mixed_definite, &op));
  CeedVector *const vectors[] = {&x, &w, &ax, &aw, &diagonal};
  for (int i = 0; i < 5; i++) CHECK_OK(mixed_random(&k, -1, &seed, vectors[i]));
  CHECK_OK(kit_apply(op, x, ax));
  CHECK_OK(kit_apply(op, w, aw));
  CHECK_NEAR(kit_dot(w, ax), kit_dot(x, aw), 200 * eps * sqrt(kit_dot(x, x) * kit_dot(aw, aw)),
             "the operator is symmetric");
  CHECK(kit_dot(x, ax) > 0, "and positive");

  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(RitzOperatorAssembleCSRSymbolic(op, &num_rows, &num_cols, &row_starts, &cols));
  CHECK_OK(CeedVectorCreate(ceed, row_starts[num_rows], &values));
  CHECK_OK(RitzOperatorAssembleCSR(op, row_starts, cols, values));
  double *a = reference_new_values(values), *xs = reference_new_values(x);
  double *product = reference_new(num_rows), *on_diagonal = reference_new(num_rows);
  for (CeedSize i = 0; i < num_rows; i++) {
    for (int64_t j = row_starts[i]; j < row_starts[i + 1]; j++) {
      product[i] += a[j] * xs[cols[j]];
      if (cols[j] == i) on_diagonal[i] = a[j];
    }
  }
  // Rows of less than a hundred entries.
  CHECK(kit_distance(ax, product) <= 200 * eps * reference_largest(num_rows, product), "the matrix is A");
  CHECK(kit_distance(diagonal, on_diagonal) <= 200 * eps * reference_largest(num_rows, on_diagonal),
        "its diagonal is the diagonal");
  double *const arrays[] = {a, xs, product, on_diagonal};
  for (int i = 0; i < 4; i++) free(arrays[i]);
  free(row_starts);
  free(cols);
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  CeedVectorDestroy(&values);
  CeedOperatorDestroy(&op);
  mixed_destroy(&k);
  RitzMeshDestroy(&mesh);
}

// Several vectors at once, and the operator in float.
TEST_EACH_BACKEND(operators_on_products_take_several_vectors_and_have_copies_in_float) {
  RitzMesh mesh = NULL;
  MixedKit k;
  CeedOperator op = NULL, copy = NULL;
  CeedVector in[3] = {NULL}, out[3] = {NULL}, expected = NULL;
  uint64_t seed = 23;

  CHECK_OK(kit_mesh(ceed, KIT_QUADS, 1, bend, &mesh));
  CHECK_OK(mixed_create(ceed, mesh, 3, 1, &k));
  CHECK_OK(mixed_operator(&k, &mixed_definite, &op));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(mixed_random(&k, -1, &seed, &in[i]));
    CHECK_OK(mixed_random(&k, -1, &seed, &out[i]));
  }
  CHECK_OK(mixed_random(&k, -1, &seed, &expected));
  CHECK_OK(RitzOperatorApplyMany(op, 3, in, out));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kit_apply(op, in[i], expected));
    CHECK(mixed_difference(out[i], expected) <= 200 * eps, "vector %d, sums of some hundred terms", i);
  }
  CHECK_OK(RitzOperatorCopyInPrecision(op, CEED_SCALAR_FP32, &copy));
  CHECK_OK(kit_apply(copy, in[2], out[2]));
  CHECK(mixed_difference(out[2], expected) <= 200 * FLT_EPSILON, "the copy differs by rounding of float");
  for (int i = 0; i < 3; i++) {
    CeedVectorDestroy(&in[i]);
    CeedVectorDestroy(&out[i]);
  }
  CeedVectorDestroy(&expected);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&copy);
  mixed_destroy(&k);
  RitzMeshDestroy(&mesh);
}

// The Jacobian of a form that couples the fields in products.
TEST_EACH_BACKEND(derivatives_of_operators_on_products_pass_the_test_of_taylor) {
  RitzMesh mesh = NULL;
  MixedKit k;
  CeedOperator op = NULL, jacobian = NULL;
  CeedVector state = NULL;
  RitzDerivativeCheck check;
  uint64_t seed = 29;

  if (tap_compiles_c_alone(ceed)) NOT_FOR_THIS_BACKEND("OpenCL C");
  if (eps > 1e-10) NOT_HERE("Taylor's test needs double");
  CHECK_OK(kit_mesh(ceed, KIT_QUADS, 1, NULL, &mesh));
  CHECK_OK(mixed_create(ceed, mesh, 2, 1, &k));
  CHECK_OK(mixed_operator(&k, &mixed_nonlinear, &op));
  CHECK_OK(mixed_random(&k, -1, &seed, &state));
  CHECK_OK(RitzOperatorCreateDerivative(op, state, &jacobian));
  CHECK_OK(RitzOperatorCheckDerivative(op, state, jacobian, 0.1, &check));
  CHECK(check.order > 1.9 && check.order < 2.1, "remainders have order %g", check.order);
  CeedVectorDestroy(&state);
  CeedOperatorDestroy(&op);
  CeedOperatorDestroy(&jacobian);
  mixed_destroy(&k);
  RitzMeshDestroy(&mesh);
}

// b - A x after a solve, beside b; constrained entries apart.
static double relative_residual(const MixedKit *k, CeedOperator op, CeedVector b, CeedVector x) {
  CeedVector r = NULL;
  double result = NAN;

  if (CeedVectorCreate(k->ceed, mixed_size(k, -1), &r) || kit_apply(op, x, r) ||
      RitzVectorSum(r, -1, r, 1, b) || RitzVectorSetEntries(r, k->constraints, 0))
    tap_check(0, __FILE__, __LINE__, "residual", "cannot be made");
  else
    result = sqrt(kit_dot(r, r) / kit_dot(b, b));
  CeedVectorDestroy(&r);
  return result;
}

TEST_EACH_BACKEND(coupled_fields_are_solved_by_conjugate_gradients_and_directly) {
  const double rtol = eps < 1e-10 ? 1e-9 : 1e-4;
  RitzMesh mesh = NULL;
  MixedKit k;
  CeedOperator op = NULL;
  CeedVector b = NULL, x = NULL, diagonal = NULL;
  RitzPreconditioner direct = NULL;
  uint64_t seed = 31;

  CHECK_OK(kit_mesh(ceed, KIT_PLANE, 1, bend, &mesh));
  CHECK_OK(mixed_create(ceed, mesh, 2, 1, &k));
  CHECK_OK(mixed_operator(&k, &mixed_definite, &op));
  CeedVector *const vectors[] = {&b, &x, &diagonal};
  for (int i = 0; i < 3; i++) CHECK_OK(mixed_random(&k, -1, &seed, vectors[i]));
  CHECK_OK(RitzVectorSetEntries(b, k.constraints, 0));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  for (int variant = RITZ_CG_AUTO; variant <= RITZ_CG_STANDARD; variant++) {
    RitzSolver solver = NULL;

    CHECK_OK(CeedVectorSetValue(x, 0));
    CHECK_OK(RitzSolverCreateCG(ceed, &solver));
    CHECK_OK(RitzSolverSetOperator(solver, op));
    CHECK_OK(RitzSolverSetJacobi(solver, diagonal));
    CHECK_OK(RitzSolverSetConstraintIndices(solver, k.constraints));
    CHECK_OK(RitzSolverSetVariant(solver, (RitzCGVariant)variant));
    CHECK_OK(RitzSolverSetTolerances(solver, rtol, 0, 1000));
    CHECK_OK(RitzSolverSolve(solver, b, x));
    CHECK(relative_residual(&k, op, b, x) <= 2 * rtol, "variant %d", variant);
    RitzSolverDestroy(&solver);
  }
  CHECK_OK(RitzPreconditionerCreateDirect(op, k.constraints, NULL, &direct));
  CHECK_OK(RitzPreconditionerApply(direct, b, x));
  CHECK(relative_residual(&k, op, b, x) <= 1000 * eps, "the condition is some hundreds");
  RitzPreconditionerDestroy(&direct);
  for (int i = 0; i < 3; i++) CeedVectorDestroy(vectors[i]);
  CeedOperatorDestroy(&op);
  mixed_destroy(&k);
  RitzMeshDestroy(&mesh);
}

// ---- Transfers and multigrid ----

static void check_transfer(const MixedKit *coarse, const MixedKit *fine) {
  Ceed ceed = fine->ceed;
  CeedOperator prolong = NULL, restriction = NULL;
  CeedVector x = NULL, y = NULL, w = NULL, expected = NULL, back = NULL;
  uint64_t seed = 13;

  CHECK_OK(RitzProductSpaceCreateTransfer(coarse->product, fine->product, ceed, CEED_SCALAR_TYPE, &prolong,
                                          &restriction));
  CHECK_OK(mixed_random(coarse, -1, &seed, &x));
  CHECK_OK(mixed_random(coarse, -1, &seed, &back));
  CHECK_OK(mixed_random(fine, -1, &seed, &y));
  CHECK_OK(mixed_random(fine, -1, &seed, &w));
  CHECK_OK(mixed_random(fine, -1, &seed, &expected));
  CHECK_OK(kit_apply(prolong, x, y));
  for (CeedInt i = 0; i < 2; i++) {
    CeedOperator of_space = NULL;
    CeedVector x_i = NULL, y_i = NULL;

    CHECK_OK(
        RitzSpaceCreateTransfer(coarse->space[i], fine->space[i], ceed, CEED_SCALAR_TYPE, &of_space, NULL));
    CHECK_OK(mixed_random(coarse, i, &seed, &x_i));
    CHECK_OK(mixed_random(fine, i, &seed, &y_i));
    CHECK_OK(RitzProductSpaceGetPart(coarse->product, i, x, x_i));
    CHECK_OK(kit_apply(of_space, x_i, y_i));
    CHECK_OK(RitzProductSpaceSetPart(fine->product, i, y_i, expected));
    CeedVectorDestroy(&x_i);
    CeedVectorDestroy(&y_i);
    CeedOperatorDestroy(&of_space);
  }
  CHECK(mixed_difference(y, expected) <= 50 * eps, "prolongation space by space, few terms an entry");
  CHECK_OK(kit_apply(restriction, w, back));
  CHECK_NEAR(kit_dot(w, y), kit_dot(back, x), 100 * eps * sqrt(kit_dot(w, w) * kit_dot(y, y)),
             "restriction is the adjoint");
  CeedVector *const vectors[] = {&x, &y, &w, &expected, &back};
  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  CeedOperatorDestroy(&prolong);
  CeedOperatorDestroy(&restriction);
}

TEST_EACH_BACKEND(transfers_of_products_are_those_of_their_spaces) {
  RitzMesh mesh = NULL, coarser = NULL;
  MixedKit coarse, fine;

  CHECK_OK(kit_mesh(ceed, KIT_PLANE, 1, bend, &mesh)); // other degrees
  CHECK_OK(mixed_create(ceed, mesh, 2, 1, &coarse));
  CHECK_OK(mixed_create(ceed, mesh, 4, 2, &fine));
  check_transfer(&coarse, &fine);
  mixed_destroy(&coarse);
  mixed_destroy(&fine);
  RitzMeshDestroy(&mesh);

  CHECK_OK(
      RitzMeshCreateBox(ceed, 2, (CeedInt[]){4, 2}, NULL, NULL, 1, NULL, NULL, &mesh)); // coarser elements
  CHECK_OK(RitzMeshGetCoarser(mesh, &coarser));
  CHECK_OK(mixed_create(ceed, coarser, 2, 1, &coarse));
  CHECK_OK(mixed_create(ceed, mesh, 2, 1, &fine));
  check_transfer(&coarse, &fine);
  mixed_destroy(&coarse);
  mixed_destroy(&fine);
  RitzMeshDestroy(&coarser);
  RitzMeshDestroy(&mesh);
}

// Levels by hand: degrees 4 and 3, 2 and 2, 1 and 1.
static void make_levels(Ceed ceed, RitzMesh mesh, MixedKit kits[3], RitzMultigridLevel levels[3]) {
  static const CeedInt level_degrees[3][2] = {{1, 1}, {2, 2}, {4, 3}};

  for (int l = 0; l < 3; l++) {
    levels[l] = (RitzMultigridLevel){.op = NULL};
    CHECK_OK(mixed_create(ceed, mesh, level_degrees[l][0], level_degrees[l][1], &kits[l]));
    CHECK_OK(mixed_operator(&kits[l], &mixed_definite, &levels[l].op));
    levels[l].constraints = kits[l].constraints;
    if (l == 0) continue;
    CHECK_OK(RitzProductSpaceCreateTransfer(kits[l - 1].product, kits[l].product, ceed, CEED_SCALAR_TYPE,
                                            &levels[l].prolong, &levels[l].restriction));
  }
}

TEST_EACH_BACKEND(multigrid_on_levels_of_products_serves_coupled_fields) {
  const RitzMultigridOptions options = {.cycle = RITZ_CYCLE_V};
  RitzMesh mesh = NULL;
  MixedKit kits[3];
  RitzMultigridLevel levels[3];
  RitzPreconditioner pc = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason;
  CeedVector b = NULL, x = NULL;
  CeedInt num_it = 0;
  uint64_t seed = 1;

  CHECK_OK(RitzMeshCreateBox(ceed, 2, (CeedInt[]){4, 3}, NULL, NULL, 2, bend, NULL, &mesh));
  make_levels(ceed, mesh, kits, levels);
  CHECK_OK(RitzPreconditionerCreateMultigrid(ceed, 3, levels, &options, &pc));
  CHECK_OK(mixed_random(&kits[2], -1, &seed, &b));
  CHECK_OK(mixed_random(&kits[2], -1, &seed, &x));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, levels[2].op));
  CHECK_OK(RitzSolverSetConstraintIndices(solver, kits[2].constraints));
  CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
  CHECK_OK(RitzSolverSetTolerances(solver, eps < 1e-10 ? 1e-8 : 1e-4, 0, 100));
  CHECK_OK(RitzSolverSolve(solver, b, x));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK_OK(RitzSolverGetIterations(solver, &num_it));
  // A cycle takes a factor of about ten from the error of a scalar problem.
  CHECK(reason > 0 && num_it <= 16, "%d iterations, %s", (int)num_it, RitzSolverReasonName(reason));
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  for (int l = 0; l < 3; l++) {
    CeedOperatorDestroy(&levels[l].op);
    CeedOperatorDestroy(&levels[l].prolong);
    CeedOperatorDestroy(&levels[l].restriction);
    mixed_destroy(&kits[l]);
  }
  RitzMeshDestroy(&mesh);
}

// ---- Life and misuse ----

// All that a product has, made and destroyed.
static int use_product(Ceed ceed, const Three *t, RitzSpace coarse) {
  RitzProductSpace product = NULL, below = NULL;
  CeedElemRestriction rstr = NULL;
  RitzIndices constraints = NULL;
  CeedOperator prolong = NULL, restriction = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzProductSpaceCreate(2, (RitzSpace[]){t->space[2], t->space[2]}, &product));
  RITZ_TRY_CLEANUP(RitzProductSpaceCreate(2, (RitzSpace[]){coarse, coarse}, &below));
  RITZ_TRY_CLEANUP(RitzProductSpaceCreateBlockRestriction(product, 1, 0, ceed, &rstr));
  RITZ_TRY_CLEANUP(
      RitzProductSpaceCreateConstraints(product, ceed, (RitzIndices[]){NULL, NULL}, &constraints));
  ierr = RitzProductSpaceCreateTransfer(below, product, ceed, CEED_SCALAR_TYPE, &prolong, &restriction);
cleanup:
  CeedOperatorDestroy(&prolong);
  CeedOperatorDestroy(&restriction);
  RitzIndicesDestroy(&constraints);
  CeedElemRestrictionDestroy(&rstr);
  RitzProductSpaceDestroy(&below);
  RitzProductSpaceDestroy(&product);
  return ierr;
}

TEST(products_leave_nothing_behind_whatever_allocation_fails) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Three t;
  RitzSpace coarse = NULL;
  int64_t n = 0, before = 0;
  int ierr = CEED_ERROR_MAJOR;

  make_three(ceed, KIT_PLANE, &t);
  CHECK_OK(RitzSpaceCreate(t.mesh, 1, 1, &coarse));
  CHECK_OK(use_product(ceed, &t, coarse)); // what the context keeps is there
  before = ritz_memory_live();
  while (ierr) {
    ritz_memory_fail_at(++n);
    ierr = use_product(ceed, &t, coarse);
    ritz_memory_fail_at(0);
    tap_forget_error(ceed);
    CHECK(ritz_memory_live() == before, "failing at allocation %d leaves %d", (int)n,
          (int)(ritz_memory_live() - before));
  }
  CHECK(n > 20, "the test has seen %d failures", (int)n - 1);
  RitzSpaceDestroy(&coarse);
  destroy_three(&t);
  CeedDestroy(&ceed);
}

TEST(products_outlive_the_handles_of_their_spaces) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Three t;
  RitzProductSpace copy = NULL;
  RitzSpace space = NULL;
  CeedInt num = 0, degree = 0;

  make_three(ceed, KIT_TRIANGLES, &t);
  CHECK_OK(RitzProductSpaceReferenceCopy(t.product, &copy));
  CHECK_OK(RitzProductSpaceReferenceCopy(t.product, &copy));
  destroy_three(&t);
  CHECK_OK(RitzProductSpaceGetNumSpaces(copy, &num));
  CHECK(num == 3, "three spaces");
  for (CeedInt i = 0; i < 3; i++) {
    CHECK_OK(RitzProductSpaceGetSpace(copy, i, &space));
    CHECK_OK(RitzSpaceGetDegree(space, &degree));
    CHECK(degree == degrees[i], "space %d", (int)i);
  }
  CHECK_OK(RitzProductSpaceDestroy(&copy));
  CHECK(copy == NULL, "the handle is gone");
  CeedDestroy(&ceed);
}

TEST(products_refuse_what_is_none) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Three t, other;
  RitzProductSpace product = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator prolong = NULL;
  CeedVector whole = NULL, part = NULL;
  RitzSpace space = NULL;

  make_three(ceed, KIT_QUADS, &t);
  make_three(ceed, KIT_QUADS, &other);
  CHECK_ERROR(NULL, RitzProductSpaceCreate(0, t.space, &product), CEED_ERROR_DIMENSION, "needed at least 1");
  CHECK_ERROR(ceed, RitzProductSpaceCreate(2, (RitzSpace[]){t.space[0], other.space[1]}, &product),
              CEED_ERROR_INCOMPATIBLE, "space 1 is on another mesh");
  CHECK(product == NULL, "nothing is made");
  CHECK_ERROR(ceed, RitzProductSpaceGetSpace(t.product, 3, &space), CEED_ERROR_DIMENSION,
              "there is no space 3, the product has 3");
  CHECK_ERROR(ceed, RitzProductSpaceCreateBlockRestriction(t.product, 0, 1, ceed, &rstr),
              CEED_ERROR_DIMENSION, "there is no block 1");
  CHECK_ERROR(ceed,
              RitzProductSpaceCreateElementsRestriction(t.product, 0, 0, ceed, 1, (CeedInt[]){2}, &rstr),
              CEED_ERROR_DIMENSION, "element 2 is not in block 0");
  CHECK_OK(CeedVectorCreate(ceed, t.size, &whole));
  CHECK_OK(CeedVectorCreate(ceed, t.size - 1, &part));
  CHECK_ERROR(ceed, RitzProductSpaceGetPart(t.product, 0, whole, part), CEED_ERROR_DIMENSION, "of space 0");
  CHECK_ERROR(ceed, RitzProductSpaceSetPart(t.product, -1, part, whole), CEED_ERROR_DIMENSION,
              "there is no space -1");
  CHECK_OK(RitzProductSpaceCreate(1, t.space, &product));
  CHECK_ERROR(ceed,
              RitzProductSpaceCreateTransfer(product, t.product, ceed, CEED_SCALAR_TYPE, &prolong, NULL),
              CEED_ERROR_DIMENSION, "the coarse product has 1 spaces, the fine one 3");
  CHECK_OK(RitzProductSpaceDestroy(&product));
  CHECK_OK(RitzProductSpaceCreate(3, (RitzSpace[]){t.space[0], t.space[2], t.space[1]}, &product));
  CHECK_ERROR(ceed,
              RitzProductSpaceCreateTransfer(product, t.product, ceed, CEED_SCALAR_TYPE, &prolong, NULL),
              CEED_ERROR_INCOMPATIBLE, "RitzProductSpaceCreateTransfer");
  CHECK(prolong == NULL, "nothing is made");
  RitzProductSpaceDestroy(&product);
  CeedVectorDestroy(&whole);
  CeedVectorDestroy(&part);
  destroy_three(&t);
  destroy_three(&other);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(restrictions_of_a_product_are_those_of_its_spaces_on_their_ranges,
                        parts_of_vectors_are_taken_out_and_put_back,
                        constraints_of_a_product_are_those_of_its_spaces_shifted,
                        an_operator_on_a_product_equals_the_operators_between_its_spaces,
                        operators_on_products_are_assembled_as_any_other,
                        operators_on_products_take_several_vectors_and_have_copies_in_float,
                        derivatives_of_operators_on_products_pass_the_test_of_taylor,
                        coupled_fields_are_solved_by_conjugate_gradients_and_directly,
                        transfers_of_products_are_those_of_their_spaces,
                        multigrid_on_levels_of_products_serves_coupled_fields,
                        products_leave_nothing_behind_whatever_allocation_fails,
                        products_outlive_the_handles_of_their_spaces, products_refuse_what_is_none));
}
