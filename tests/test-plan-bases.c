// SPDX-License-Identifier: BSD-2-Clause
// Bases of plans: the symmetry of their matrices, the routes that they allow, derivatives at the points, and
// how devices compute derivatives.
// Everything else in plans: test-plan.c.
#include "plan/gpu.h"
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

TEST(bases_in_one_dimension_have_direct_derivatives) {
  for (CeedInt P = 2; P <= 10 && !tap_failed(); P++) {
    for (CeedInt Q = P; Q <= P + 2 && !tap_failed(); Q++) {
      Kit k = kit_open();
      plan_basis(&k, lagrange(&k, 1, 1, P, Q, CEED_GAUSS));
      if (tap_failed()) return;
      CHECK(k.plan->bases[0].route == RITZ_ROUTE_DIRECT, "P = %d, Q = %d: route %d", (int)P, (int)Q,
            k.plan->bases[0].route);
      check_matrices(k.op, &k.plan->bases[0]);
      kit_close(&k);
    }
  }
}

// Of each row one entry is minus the sum of the others: what is left is its rounding.
TEST(derivatives_of_a_constant_at_the_points_are_zero) {
  for (CeedInt P = 2; P <= 16 && !tap_failed(); P++) {
    Kit k = kit_open();
    plan_basis(&k, lagrange(&k, 2, 1, P, P + P % 3, CEED_GAUSS));
    if (tap_failed()) return;
    const RitzPlanMatrix *C = &k.plan->bases[0].deriv;
    for (CeedInt i = 0; i < C->rows; i++) {
      long double sum = 0, largest = 0;
      for (CeedInt j = 0; j < C->cols; j++) {
        const long double entry = (long double)C->values[i * C->cols + j];
        sum += entry;
        largest = fmaxl(largest, fabsl(entry));
      }
      CHECK(fabsl(sum) <= (long double)eps * largest, "P = %d, row %d: %Lg", (int)P, (int)i, sum);
    }
    kit_close(&k);
  }
}

// ---- Devices ----

// As of an H200.
static const RitzGpuMachine device = {.num_banks = 32,
                                      .max_threads = 1024,
                                      .shared_bytes = 227 << 10,
                                      .shared_bytes_processor = 228 << 10,
                                      .registers_processor = 64 << 10};

typedef struct {
  RitzRoute route;
  RitzGpuEvaluation evaluation;
} Way;

static void find_way(Kit *k, const RitzGpuChoice *choice, Way *way) {
  RitzGpuTarget *target = NULL;

  PLAN(k, &eight_lanes, NULL);
  CHECK_OK(ritz_plan_gpu(k->op, k->plan, &device, choice, false, &target));
  *way =
      (Way){target->reason ? RITZ_ROUTE_DENSE : target->routes[k->plan->spaces[0].basis], target->evaluation};
  CHECK(!target->reason, "%s", target->reason);
  ritz_plan_gpu_free(&target);
}

// The operator that stores factors from coordinates on a basis, and the one that applies them to a field on
// it.
static void check_ways(CeedInt dim, CeedInt P, const RitzGpuChoice *choice) {
  const CeedInt Q = P + 1, num_q = dim * (dim + 1) / 2;
  char build[32], apply[32];
  Way stores = {0}, applies = {0};
  Kit k = kit_open();
  CeedElemRestriction rstr_x = strided(&k, 3, CeedIntPow(P, dim), dim);
  CeedElemRestriction rstr = strided(&k, 3, CeedIntPow(P, dim), 1);
  CeedElemRestriction rstr_q = strided(&k, 3, CeedIntPow(Q, dim), num_q);
  CeedBasis basis_x = lagrange(&k, dim, dim, P, Q, CEED_GAUSS),
            basis = lagrange(&k, dim, 1, P, Q, CEED_GAUSS);
  CeedVector *data = &k.vec[k.num_vec++];
  NOTE_OK(CeedVectorCreate(k.ceed, (CeedSize)3 * CeedIntPow(Q, dim) * num_q, data));
  const Field build_fields[] = {ACTIVE("dx", GRAD, rstr_x, basis_x),
                                WEIGHTS(basis_x),
                                {"qdata", CEED_EVAL_NONE, rstr_q, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  const Field apply_fields[] = {ACTIVE("du", GRAD, rstr, basis), DATA("qdata", rstr_q, *data),
                                ACTIVE("dv", GRAD, rstr, basis)};

  snprintf(build, sizeof(build), "Poisson%dDBuild", (int)dim);
  snprintf(apply, sizeof(apply), "Poisson%dDApply", (int)dim);
  set_gallery(&k, build, 3, build_fields);
  find_way(&k, choice, &stores);
  CeedOperatorDestroy(&k.op);
  if (!tap_failed()) set_gallery(&k, apply, 3, apply_fields);
  if (!tap_failed()) find_way(&k, choice, &applies);
  kit_close(&k);
  CHECK(tap_failed() || (stores.route == applies.route && stores.evaluation == applies.evaluation),
        "%dD, %d nodes: route %d and %d, evaluation %d and %d", (int)dim, (int)P, stores.route, applies.route,
        stores.evaluation, applies.evaluation);
}

TEST(derivatives_of_a_basis_are_computed_one_way_whatever_else_an_operator_does) {
  static const RitzGpuChoice choices[] = {{0}, {.whole = 1}, {.whole = -1}, {.num_elem = 2, .unroll = -1}};

  for (int c = 0; c < 4; c++) {
    for (CeedInt dim = 1; dim <= 3; dim++) {
      for (CeedInt P = 2; P <= 9 && !tap_failed(); P++) check_ways(dim, P, &choices[c]);
    }
  }
}

// ---- Tables ----

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

TEST(direct_bases_contract_once_a_derivative_and_keep_their_arrays) {
  Kit k = kit_open();
  CeedElemRestriction rstr = box(&k, 2, 3, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 4, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis),
                          ACTIVE("dv", GRAD, rstr, basis)};
  double contraction = 2 * (4 * 4 * 3 + 4 * 3 * 3);

  set_function(&k, 1, "", 2, 1, fields);
  PLAN(&k, &eight_lanes, NULL);
  CHECK(k.plan->bases[0].route == RITZ_ROUTE_DIRECT, "route");
  CHECK(k.target->spaces[1].overwrites == -1, "nothing is overwritten");
  CHECK_NEAR(k.cost.flops, 5 * contraction, 0.0, "flops");
  kit_close(&k);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(bases_in_one_dimension_have_direct_derivatives, derivatives_of_a_constant_at_the_points_are_zero,
            derivatives_of_a_basis_are_computed_one_way_whatever_else_an_operator_does,
            lagrange_bases_are_symmetric_and_collocated_when_points_determine_them,
            parity_is_found_up_to_a_few_roundoffs_of_the_matrix_and_made_exact,
            nearly_unit_matrices_are_the_unit_matrix,
            random_bases_are_direct_when_they_have_fewer_points_than_nodes,
            values_that_do_not_determine_the_nodes_make_a_basis_direct,
            nearly_dependent_columns_never_give_a_wrong_derivative,
            tables_with_infinite_or_missing_numbers_are_direct, values_alone_need_no_derivative_at_the_points,
            direct_bases_contract_once_a_derivative_and_keep_their_arrays));
}
