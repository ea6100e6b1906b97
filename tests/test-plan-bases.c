// SPDX-License-Identifier: BSD-2-Clause
// Bases of plans: the symmetry of their matrices, the routes that they allow, derivatives at the points.
// Everything else in plans: test-plan.c.
#include "tests/plan-kit.h"

enum { MAX_1D = 8 };

// Values and derivatives; the plan's only basis.
static void plan_basis(Kit *k, CeedBasis basis) {
  if (tap_failed()) return;
  CeedElemRestriction rstr = strided(k, 3, basis->P, 1);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis),
                          ACTIVE("v", INTERP, rstr, basis), ACTIVE("dv", GRAD, rstr, basis)};

  CeedOperatorDestroy(&k->op);
  set_function(k, 1, "", 2, 2, fields);
  PLAN(k, &eight_lanes, NULL);
}

static void check_lagrange(CeedInt P, CeedInt Q, CeedQuadMode mode) {
  Kit k = kit_open();

  plan_basis(&k, lagrange(&k, 2, 1, P, Q, mode));
  if (tap_failed()) return;
  const RitzPlanBasis *b = &k.plan->bases[0];
  bool is_identity = mode == CEED_GAUSS_LOBATTO && P == Q;
  RitzRoute wanted = is_identity ? RITZ_ROUTE_IDENTITY : Q >= P ? RITZ_ROUTE_COLLOCATED : RITZ_ROUTE_DIRECT;
  CHECK(b->route == wanted, "route %d", b->route);
  CHECK(b->interp.parity == 1 && b->grad.parity == -1, "parity %d and %d", b->interp.parity, b->grad.parity);
  CHECK(Q < P || b->deriv.parity == -1, "parity %d at the points", b->deriv.parity);
  check_matrices(k.op, b);
  kit_close(&k);
}

TEST(lagrange_bases_are_symmetric_and_collocated_when_points_determine_them) {
  CeedInt largest = tap_level() > TAP_QUICK ? 24 : 12;

  for (CeedInt P = 2; P <= largest && !tap_failed(); P++) {
    for (CeedInt Q = 2; Q <= largest && !tap_failed(); Q++) {
      check_lagrange(P, Q, CEED_GAUSS);
      if (!tap_failed()) check_lagrange(P, Q, CEED_GAUSS_LOBATTO);
      if (tap_failed()) tap_note("P = %d, Q = %d", (int)P, (int)Q);
    }
  }
}

// One entry of the table is off by some round-offs of the largest.
static void check_perturbed(int table, double roundoffs, bool is_kept) {
  enum { P = 4, Q = 5 };
  Kit k = kit_open();
  CeedBasis clean = lagrange(&k, 2, 1, P, Q, CEED_GAUSS);
  CeedScalar tables[2][P * Q], largest = 0;

  memcpy(tables[0], clean->interp_1d, sizeof(tables[0]));
  memcpy(tables[1], clean->grad_1d, sizeof(tables[1]));
  for (int i = 0; i < P * Q; i++) largest = (CeedScalar)fmax((double)largest, fabs((double)tables[table][i]));
  tables[table][1] += (CeedScalar)(roundoffs * CEED_EPSILON) * largest;
  plan_basis(&k, table_basis(&k, 2, P, Q, tables[0], tables[1]));
  if (tap_failed()) return;
  const RitzPlanBasis *b = &k.plan->bases[0];
  CHECK(b->interp.parity == (table == 0 && !is_kept ? 0 : 1), "values: %d", b->interp.parity);
  CHECK(b->grad.parity == (table == 1 && !is_kept ? 0 : -1), "derivatives: %d", b->grad.parity);
  check_matrices(k.op, b);
  kit_close(&k);
}

TEST(parity_is_found_up_to_a_few_roundoffs_of_the_matrix_and_made_exact) {
  for (int table = 0; table < 2; table++) {
    check_perturbed(table, 0, true);
    check_perturbed(table, 10, true);
    check_perturbed(table, -10, true);
    check_perturbed(table, 30, false);
    check_perturbed(table, 1e6, false);
  }
}

TEST(nearly_unit_matrices_are_the_unit_matrix) {
  static const double roundoffs[] = {0, 12, 30};

  for (int i = 0; i < 3; i++) {
    Kit k = kit_open();
    const CeedScalar off = (CeedScalar)(roundoffs[i] * CEED_EPSILON);
    const CeedScalar interp[] = {1, off, 0, 0, 1, 0, -off, 0, 1}, grad[] = {1, 2, 3, 4, 5, 6, 7, 8, 10};

    plan_basis(&k, table_basis(&k, 2, 3, 3, interp, grad));
    if (tap_failed()) return;
    const RitzPlanBasis *b = &k.plan->bases[0];
    CHECK((b->route == RITZ_ROUTE_IDENTITY) == (i < 2), "%g round-offs: route %d", roundoffs[i], b->route);
    for (int n = 0; i < 2 && n < 9; n++) CHECK(b->interp.values[n] == (n % 4 == 0), "entry %d is exact", n);
    CHECK(i == 2 || !memcmp(b->deriv.values, grad, sizeof(grad)), "derivatives are those of the nodes");
    CHECK(b->grad.parity == 0 && b->deriv.parity == 0, "no parity");
    check_matrices(k.op, b);
    kit_close(&k);
  }
}

// Any D is C B when the columns of B are independent: the values at the points then determine those at the
// nodes.
static void check_random_tables(uint64_t seed) {
  Kit k = kit_open();
  CeedInt P = 1 + (CeedInt)tap_integer(&seed, MAX_1D), Q = 1 + (CeedInt)tap_integer(&seed, MAX_1D);
  CeedScalar interp[MAX_1D * MAX_1D], grad[MAX_1D * MAX_1D];

  for (CeedInt i = 0; i < P * Q; i++) {
    interp[i] = (CeedScalar)((i % P == i / P) + 0.1 * tap_uniform(&seed));
    grad[i] = (CeedScalar)tap_uniform(&seed);
  }
  plan_basis(&k, table_basis(&k, 2, P, Q, interp, grad));
  if (tap_failed()) return;
  const RitzPlanBasis *b = &k.plan->bases[0];
  CHECK(b->route == (Q >= P ? RITZ_ROUTE_COLLOCATED : RITZ_ROUTE_DIRECT), "route %d", b->route);
  check_matrices(k.op, b);
  kit_close(&k);
}

TEST(random_bases_are_direct_when_they_have_fewer_points_than_nodes) {
  for (uint64_t seed = 1; seed <= 200 && !tap_failed(); seed++) check_random_tables(seed);
}

TEST(values_that_do_not_determine_the_nodes_make_a_basis_direct) {
  static const CeedScalar same[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, zero[6];
  static const CeedScalar grad[] = {-1, 1, -1, 1, -1, 1};
  static const struct { const CeedScalar *interp, *grad; } cases[] = {{same, grad}, {zero, grad}};

  for (int i = 0; i < 2; i++) {
    Kit k = kit_open();
    plan_basis(&k, table_basis(&k, 2, 2, 3, cases[i].interp, cases[i].grad));
    if (tap_failed()) return;
    CHECK(k.plan->bases[0].route == RITZ_ROUTE_DIRECT, "case %d: route %d", i, k.plan->bases[0].route);
    check_matrices(k.op, &k.plan->bases[0]);
    kit_close(&k);
  }
}

// B = (1, 1 + d) with a tiny d: either the solution is good enough, or it is not used.
TEST(nearly_dependent_columns_never_give_a_wrong_derivative) {
  static const CeedScalar grad[] = {-1, 1, -2, 2, -3, 3};

  for (int exponent = 1; exponent < 24; exponent++) {
    Kit k = kit_open();
    const CeedScalar d = (CeedScalar)pow(10, -exponent), interp[] = {1, 1 + d, 1, 1, 1, 1 - d};
    plan_basis(&k, table_basis(&k, 2, 2, 3, interp, grad));
    if (tap_failed()) return;
    CHECK(exponent > 1 || k.plan->bases[0].route == RITZ_ROUTE_COLLOCATED, "0.1 is far from dependent");
    CHECK(exponent < 20 || k.plan->bases[0].route == RITZ_ROUTE_DIRECT, "columns are equal");
    check_matrices(k.op, &k.plan->bases[0]);
    kit_close(&k);
  }
}

TEST(tables_with_infinite_or_missing_numbers_are_direct) {
  static const CeedScalar grad[] = {-1, 1, -1, 1};
  Kit k = kit_open();
  const CeedScalar interp[] = {1, (CeedScalar)NAN, (CeedScalar)INFINITY, 1};

  plan_basis(&k, table_basis(&k, 2, 2, 2, interp, grad));
  if (tap_failed()) return;
  CHECK(k.plan->bases[0].route == RITZ_ROUTE_DIRECT && k.plan->bases[0].interp.parity == 0, "route");
  kit_close(&k);
}

TEST(values_alone_need_no_derivative_at_the_points) {
  for (CeedInt Q = 2; Q <= 4; Q++) {
    Kit k = kit_open();
    CeedElemRestriction rstr = strided(&k, 3, 3, 1);
    CeedBasis basis = lagrange(&k, 1, 1, 3, Q, CEED_GAUSS);
    const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("v", INTERP, rstr, basis)};

    set_function(&k, 1, "", 1, 1, fields);
    PLAN(&k, &eight_lanes, NULL);
    CHECK(k.plan->bases[0].route == RITZ_ROUTE_COLLOCATED && !k.plan->bases[0].deriv.values, "Q = %d",
          (int)Q);
    CHECK_NEAR(k.cost.flops, 2.0 * 2 * 3 * Q, 0.0, "two products with a %d x 3 matrix", (int)Q);
    kit_close(&k);
  }
}

TEST(direct_bases_take_one_sweep_a_derivative_and_keep_their_arrays) {
  Kit k = kit_open();
  CeedElemRestriction rstr = box(&k, 2, 3, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 4, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis),
                          ACTIVE("dv", GRAD, rstr, basis)};
  double sweep = 2 * (4 * 4 * 3 + 4 * 3 * 3);

  set_function(&k, 1, "", 2, 1, fields);
  PLAN(&k, &eight_lanes, NULL);
  CHECK(k.plan->bases[0].route == RITZ_ROUTE_DIRECT, "route");
  CHECK(k.target->spaces[1].overwrites == -1, "nothing is overwritten");
  CHECK_NEAR(k.cost.flops, 5 * sweep, 0.0, "flops");
  kit_close(&k);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(lagrange_bases_are_symmetric_and_collocated_when_points_determine_them,
                        parity_is_found_up_to_a_few_roundoffs_of_the_matrix_and_made_exact,
                        nearly_unit_matrices_are_the_unit_matrix,
                        random_bases_are_direct_when_they_have_fewer_points_than_nodes,
                        values_that_do_not_determine_the_nodes_make_a_basis_direct,
                        nearly_dependent_columns_never_give_a_wrong_derivative,
                        tables_with_infinite_or_missing_numbers_are_direct,
                        values_alone_need_no_derivative_at_the_points,
                        direct_bases_take_one_sweep_a_derivative_and_keep_their_arrays));
}
