// SPDX-License-Identifier: BSD-2-Clause
// Plans of operators: what they say of spaces, target and costs, for operators made for each rule and for
// random ones; bases: test-plan-bases.c. Printed plans of typical operators are compared with
// tests/golden-plans; `test-plan --write-golden` writes those files anew.
#include "backends/cpu/cpu.h"
#include "tests/golden-kit.h"
#include "tests/plan-kit.h"

#include "tests/random-operator.h"

// ---- Bake-off operators ----

static void set_bp(Kit *k, int bp, CeedInt p) {
  bool is_mass = bp <= 2;
  CeedInt num_comp = bp % 2 ? 1 : 3, Q = bp <= 4 ? p + 2 : p + 1, num_factors = is_mass ? 1 : 6;
  CeedElemRestriction rstr_u = box(k, 3, p, num_comp), rstr_q = strided(k, 8, Q * Q * Q, num_factors);
  CeedBasis basis = lagrange(k, 3, num_comp, p + 1, Q, bp <= 4 ? CEED_GAUSS : CEED_GAUSS_LOBATTO);
  CeedVector qdata = vector(k, (CeedSize)8 * Q * Q * Q * num_factors);
  const Field mass[] = {ACTIVE("u", INTERP, rstr_u, basis), DATA("qdata", rstr_q, qdata),
                        ACTIVE("v", INTERP, rstr_u, basis)};
  const Field diffusion[] = {ACTIVE("du", GRAD, rstr_u, basis), DATA("qdata", rstr_q, qdata),
                             ACTIVE("dv", GRAD, rstr_u, basis)};
  static const char *const names[2][2] = {{"Poisson3DApply", "Vector3Poisson3DApply"},
                                          {"MassApply", "Vector3MassApply"}};

  set_gallery(k, names[is_mass][num_comp > 1], 3, is_mass ? mass : diffusion);
}

static void check_bp(int bp, CeedInt p) {
  Kit k = kit_open();
  bool is_mass = bp <= 2, is_gauss = bp <= 4;

  set_bp(&k, bp, p);
  PLAN(&k, &eight_lanes, find_rows);
  const RitzPlan *plan = k.plan;
  const RitzPlanBasis *b = &plan->bases[0];
  CHECK(plan->num_elem == 8 && plan->dim == 3 && plan->Q_1d == p + (is_gauss ? 2 : 1), "sizes");
  CHECK(plan->num_bases == 1 && plan->num_spaces == 3 && plan->num_arrays == 3 && plan->num_matrices == 0,
        "numbers of parts");
  CHECK(b->route == (is_gauss ? RITZ_ROUTE_COLLOCATED : RITZ_ROUTE_IDENTITY), "route %d", b->route);
  CHECK(b->interp.parity == 1 && b->grad.parity == -1, "parity of %d and %d", b->interp.parity,
        b->grad.parity);
  CHECK(!b->deriv.values == is_mass, "derivatives are there when wanted");
  CHECK(is_mass || b->deriv.parity == -1, "parity %d of the derivative at the points", b->deriv.parity);
  CHECK(k.target->spaces[0].gather == RITZ_GATHER_ROWS && k.target->spaces[0].row_length == p + 1, "rows");
  CHECK(plan->spaces[0].is_interlaced == (bp % 2 == 0), "interlaced components");
  CHECK(k.target->spaces[1].gather == RITZ_GATHER_PACKED && plan->spaces[1].basis == -1, "stored data");
  CHECK(k.target->spaces[2].overwrites == 0, "the output overwrites space %d",
        k.target->spaces[2].overwrites);
  CHECK(k.target->evaluation == (is_mass ? RITZ_EVALUATE_VALUES : RITZ_EVALUATE_PLANES), "evaluation");
  CHECK(k.target->lanes == 8, "lanes");
  CHECK(k.target->call == RITZ_CALL_TEXT && k.target->call_points == 1, "call");
  CHECK(k.target->prefetch_packed, "prefetching of data");
  const bool has_few_data = bp == 1 || bp == 5, is_scalar_diffusion = bp == 3 || bp == 5;
  CHECK(k.target->prefetch_vectors == (has_few_data && p > 1), "prefetching of vectors");
  CHECK(k.target->unrolls_rows == (is_scalar_diffusion && (bp == 3 || p > 1)), "unrolled rows");
  CHECK(k.target->prefetch_again == (is_scalar_diffusion && p >= 4), "fetching again");
  const Machine keeps_fetches = {.lanes = 8, .allows_text = true, .keeps_fetches = true};
  PLAN(&k, &keeps_fetches, find_rows);
  CHECK(k.target->prefetch_packed && !k.target->prefetch_again, "fetching once");
  kit_close(&k);
}

TEST(bake_off_operators_have_the_plans_that_were_measured_to_be_fast) {
  for (int bp = 1; bp <= 6 && !tap_failed(); bp++) {
    for (CeedInt p = 1; p <= 8 && !tap_failed(); p++) {
      check_bp(bp, p);
      if (tap_failed()) tap_note("BP%d, degree %d", bp, (int)p);
    }
  }
}

// Sums of integers and eighths: exact.
static void check_bp_cost(int bp, CeedInt p) {
  Kit k = kit_open();
  double d = bp % 2 ? 1 : 3, P = p + 1, Q = bp <= 4 ? P + 1 : P, g = bp <= 2 ? 1 : 6,
         scalar = sizeof(CeedScalar);
  double nodes = NUM_1D * p + 1, N = d * nodes * nodes * nodes, num_elem = 8;
  double S = bp <= 4 ? 2 * (P * P * P * Q + P * P * Q * Q + P * Q * Q * Q) : 0;
  double mass = d * (2 * S + Q * Q * Q), diffusion = d * (2 * S + 12 * Q * Q * Q * Q + 15 * Q * Q * Q);

  set_bp(&k, bp, p);
  PLAN(&k, &eight_lanes, NULL);
  RitzPlanCost c = k.cost;
  CHECK_NEAR(c.flops, bp <= 2 ? mass : diffusion, 0.0, "flops");
  CHECK_NEAR(c.bytes_stored, scalar * g * Q * Q * Q, 0.0, "stored data");
  CHECK_NEAR(c.bytes_offsets, 4 * P * P * P, 0.0, "offsets");
  CHECK_NEAR(c.bytes_vectors, scalar * 3 * N / num_elem, 0.0, "vectors");
  PLAN(&k, &eight_lanes, find_rows);
  CHECK_NEAR(k.cost.bytes_offsets, 4 * P * P, 0.0, "offsets of rows");
  kit_close(&k);
}

TEST(costs_of_bake_off_operators_are_those_that_the_benchmark_counts) {
  for (int bp = 1; bp <= 6 && !tap_failed(); bp++) {
    for (CeedInt p = 1; p <= 8 && !tap_failed(); p++) check_bp_cost(bp, p);
  }
}

TEST(working_set_is_nodes_and_two_arrays_of_points_in_diffusion) {
  Kit k = kit_open();
  double batch = 8 * sizeof(CeedScalar);

  set_bp(&k, 3, 4);
  PLAN(&k, &eight_lanes, NULL);
  CHECK_NEAR(k.target->working_set, batch * (125 + 2 * 216), 0.0, "Gauss points");
  kit_close(&k);
  k = kit_open();
  set_bp(&k, 6, 4);
  PLAN(&k, &eight_lanes, NULL);
  CHECK_NEAR(k.target->working_set, batch * 3 * 2 * 125, 0.0, "the nodes are points, 3 components");
  kit_close(&k);
}

// ---- Spaces and fields ----

TEST(fields_of_one_restriction_vector_and_basis_share_a_space) {
  Kit k = kit_open();
  CeedElemRestriction rstr = box(&k, 2, 2, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS), other = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS);
  CeedVector p = vector(&k, 25), q = vector(&k, 25);
  const Field fields[] = {
      ACTIVE("u", INTERP, rstr, basis),     ACTIVE("du", GRAD, rstr, basis),
      PASSIVE("p", INTERP, rstr, basis, p), PASSIVE("q", INTERP, rstr, basis, q),
      PASSIVE("r", GRAD, rstr, other, p),   WEIGHTS(other),
      ACTIVE("v", INTERP, rstr, basis),     ACTIVE("dv", GRAD, rstr, basis),
      PASSIVE("s", INTERP, rstr, basis, p),
  };
  static const int spaces[] = {0, 0, 1, 2, 3, -1, 4, 4, 5}, bases[] = {0, 0, 0, 0, 1, 1, 0, 0, 0};
  static const int arrays[] = {0, 1, 2, 1, 3, 1};
  static const int both = CEED_EVAL_INTERP | CEED_EVAL_GRAD;
  static const unsigned modes[] = {both, CEED_EVAL_INTERP, CEED_EVAL_INTERP, CEED_EVAL_GRAD,
                                   both, CEED_EVAL_INTERP};

  set_function(&k, 1, "", 6, 3, fields);
  PLAN(&k, &eight_lanes, NULL);
  CHECK(k.plan->num_in == 6 && k.plan->num_out == 3 && k.plan->num_spaces == 6 && k.plan->num_arrays == 4,
        "%d spaces, %d arrays", k.plan->num_spaces, k.plan->num_arrays);
  for (int i = 0; i < 9; i++) {
    const RitzPlanField *f = &k.plan->fields[i];
    CHECK(f->space == spaces[i] && f->basis == bases[i], "field %d: space %d, basis %d", i, f->space,
          f->basis);
    CHECK(!strcmp(f->name, fields[i].name) && f->mode == fields[i].mode, "field %d: name and mode", i);
  }
  for (int i = 0; i < 6; i++) {
    const RitzPlanSpace *s = &k.plan->spaces[i];
    CHECK(s->array == arrays[i] && s->modes == modes[i], "space %d: array %d, modes %u", i, (int)s->array,
          s->modes);
    CHECK(s->is_input == (i < 4) && s->is_active == (i == 0 || i == 4), "space %d: direction", i);
  }
  CHECK(!k.plan->bases[0].weights && k.plan->bases[1].weights, "weights where a field asks for them");
  CHECK(k.target->spaces[4].overwrites == 0 && k.target->spaces[5].overwrites == 1,
        "each output takes the first input's arrays that are left");
  kit_close(&k);
}

TEST(active_inputs_are_one_array_and_active_outputs_another) {
  Kit k = kit_open();
  CeedElemRestriction u = box(&k, 2, 2, 1), v = box(&k, 2, 2, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("a", INTERP, u, basis), ACTIVE("b", INTERP, v, basis),
                          ACTIVE("c", INTERP, u, basis), ACTIVE("d", INTERP, v, basis)};

  set_function(&k, 1, "", 2, 2, fields);
  PLAN(&k, &eight_lanes, NULL);
  CHECK(k.plan->num_spaces == 4 && k.plan->num_arrays == 2, "%d arrays", k.plan->num_arrays);
  for (int i = 0; i < 4; i++) CHECK(k.plan->spaces[i].array == i / 2, "space %d", i);
  kit_close(&k);
}

TEST(stored_data_are_packed_when_they_are_strided_passive_inputs_at_points) {
  Kit k = kit_open();
  CeedElemRestriction at_points = strided(&k, 4, 16, 2), at_nodes = strided(&k, 4, 9, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS);
  CeedVector data = vector(&k, 4 * 16 * 2), nodal = vector(&k, 4 * 9), out = vector(&k, 4 * 16 * 2);
  const Field fields[] = {DATA("a", at_points, data), DATA("b", at_points, CEED_VECTOR_ACTIVE),
                          PASSIVE("c", INTERP, at_nodes, basis, nodal), DATA("d", at_points, out)};

  set_function(&k, 1, "", 3, 1, fields);
  PLAN(&k, &eight_lanes, find_rows);
  CHECK(k.target->spaces[0].gather == RITZ_GATHER_PACKED, "passive input at points");
  for (int i = 1; i < 4; i++) CHECK(k.target->spaces[i].gather == RITZ_GATHER_STRIDED, "space %d", i);
  CHECK_NEAR(k.cost.bytes_stored, (double)sizeof(CeedScalar) * 32, 0.0, "stored data");
  CHECK_NEAR(k.cost.bytes_vectors, (double)sizeof(CeedScalar) * (32 + 9 + 2 * 32), 0.0, "vectors");
  CHECK_NEAR(k.cost.bytes_offsets, 0.0, 0.0, "no offsets");
  kit_close(&k);
}

// Nodes 0 .. 3 of a line of 3 elements; element 1 backwards when turned.
static CeedElemRestriction line_nodes(Kit *k, CeedRestrictionType type, CeedInt block_size) {
  static const CeedInt offsets[] = {0, 1, 1, 2, 2, 3};
  static const bool orients[6];
  static const CeedInt8 curl_orients[18];
  CeedElemRestriction *rstr = &k->rstr[k->num_rstr++];

  if (block_size > 1)
    NOTE_OK(CeedElemRestrictionCreateBlocked(k->ceed, 3, 2, block_size, 1, 1, 4, CEED_MEM_HOST,
                                             CEED_COPY_VALUES, offsets, rstr));
  else if (type == CEED_RESTRICTION_STANDARD)
    NOTE_OK(
        CeedElemRestrictionCreate(k->ceed, 3, 2, 1, 1, 4, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, rstr));
  else if (type == CEED_RESTRICTION_ORIENTED)
    NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, 3, 2, 1, 1, 4, CEED_MEM_HOST, CEED_COPY_VALUES,
                                              offsets, orients, rstr));
  else
    NOTE_OK(CeedElemRestrictionCreateCurlOriented(k->ceed, 3, 2, 1, 1, 4, CEED_MEM_HOST, CEED_COPY_VALUES,
                                                  offsets, curl_orients, rstr));
  return *rstr;
}

static void set_identity(Kit *k, CeedElemRestriction rstr) {
  CeedBasis basis = lagrange(k, 1, 1, 2, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("v", INTERP, rstr, basis)};

  set_function(k, 1, "", 1, 1, fields);
}

static void check_orientation(CeedRestrictionType type, double node_bytes) {
  Kit k = kit_open();

  set_identity(&k, line_nodes(&k, type, 1));
  PLAN(&k, &eight_lanes, find_rows);
  const RitzPlanSpace *s = &k.plan->spaces[0];
  bool is_standard = type == CEED_RESTRICTION_STANDARD;
  const RitzGather gather = k.target->spaces[0].gather;
  CHECK(gather == (is_standard ? RITZ_GATHER_ROWS : RITZ_GATHER_NODES), "gather %d", gather);
  CHECK(s->is_oriented == (type == CEED_RESTRICTION_ORIENTED), "oriented");
  CHECK(s->is_curl_oriented == (type == CEED_RESTRICTION_CURL_ORIENTED), "curl-oriented");
  CHECK_NEAR(k.cost.bytes_offsets, 2 * node_bytes, 0.0, "offsets and orientations");
  kit_close(&k);
}

TEST(nodes_with_orientations_have_offsets_of_their_own) {
  check_orientation(CEED_RESTRICTION_STANDARD, 2);
  check_orientation(CEED_RESTRICTION_ORIENTED, 5);
  check_orientation(CEED_RESTRICTION_CURL_ORIENTED, 7);
}

TEST(copies_of_restrictions_without_signs_are_not_oriented) {
  typedef int (*Copy)(CeedElemRestriction rstr, CeedElemRestriction * copy);
  static const struct {
    CeedRestrictionType type;
    Copy copy;
  } cases[] = {{CEED_RESTRICTION_ORIENTED, CeedElemRestrictionCreateUnsignedCopy},
               {CEED_RESTRICTION_ORIENTED, CeedElemRestrictionCreateUnorientedCopy},
               {CEED_RESTRICTION_CURL_ORIENTED, CeedElemRestrictionCreateUnorientedCopy}};

  for (int i = 0; i < 3; i++) {
    Kit k = kit_open();

    CHECK_OK(cases[i].copy(line_nodes(&k, cases[i].type, 1), &k.rstr[1]));
    k.num_rstr++;
    set_identity(&k, k.rstr[1]);
    PLAN(&k, &eight_lanes, find_rows);
    CHECK(!k.plan->spaces[0].is_oriented && !k.plan->spaces[0].is_curl_oriented, "case %d", i);
    kit_close(&k);
  }
}

// ---- Operators without a plan ----

static void check_refusal(Kit *k, const char *fragment) {
  if (tap_failed()) return;
  CHECK_OK(plan_and_target(k->op, &eight_lanes, NULL, &k->plan, &k->target, &k->reason));
  CHECK(!k->plan && k->reason && strstr(k->reason, fragment), "reason '%s'", k->reason ? k->reason : "");
}

TEST(blocked_restrictions_have_no_plan) {
  Kit k = kit_open();

  set_identity(&k, line_nodes(&k, CEED_RESTRICTION_STANDARD, 2));
  check_refusal(&k, "blocked");
  kit_close(&k);
}

TEST(absolute_values_of_curl_orientations_have_no_plan) {
  Kit k = kit_open();
  CeedElemRestriction rstr = line_nodes(&k, CEED_RESTRICTION_CURL_ORIENTED, 1);

  CHECK_OK(CeedElemRestrictionCreateUnsignedCopy(rstr, &k.rstr[k.num_rstr++]));
  set_identity(&k, k.rstr[1]);
  check_refusal(&k, "curl-oriented");
  kit_close(&k);
}

TEST(operators_at_points_have_no_plan) {
  static const CeedInt lists[] = {4, 5, 6, 7, 0, 1, 2};
  Kit k = kit_open();
  CeedElemRestriction rstr = line_nodes(&k, CEED_RESTRICTION_STANDARD, 1), points = NULL;
  CeedBasis basis = lagrange(&k, 1, 1, 2, 3, CEED_GAUSS);
  CeedQFunction qf = NULL;

  CHECK_OK(
      CeedElemRestrictionCreateAtPoints(k.ceed, 3, 3, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, lists, &points));
  k.rstr[k.num_rstr++] = points;
  CHECK_OK(CeedQFunctionCreateIdentity(k.ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_NONE, &qf));
  CHECK_OK(CeedOperatorCreateAtPoints(k.ceed, qf, NULL, NULL, &k.op));
  CHECK_OK(CeedOperatorSetField(k.op, "input", rstr, basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(k.op, "output", points, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorAtPointsSetPoints(k.op, points, vector(&k, 3)));
  check_refusal(&k, "points");
  CHECK_OK(CeedQFunctionDestroy(&qf));
  kit_close(&k);
}

// ---- Dense bases and grids ----

TEST(dense_bases_have_two_matrices_each) {
  Kit k = kit_open();
  CeedElemRestriction scalar = strided(&k, 4, DENSE_P, 1), pair = strided(&k, 4, DENSE_P, 2);
  CeedBasis h1 = dense(&k, CeedBasisCreateH1, CEED_TOPOLOGY_TRIANGLE, 2);
  CeedBasis hdiv = dense(&k, CeedBasisCreateHdiv, CEED_TOPOLOGY_TRIANGLE, 1);
  CeedBasis hcurl = dense(&k, CeedBasisCreateHcurl, CEED_TOPOLOGY_TRIANGLE, 1);
  const Field fields[] = {ACTIVE("u", GRAD, pair, h1), WEIGHTS(hcurl), ACTIVE("v", INTERP, scalar, hdiv),
                          ACTIVE("w", DIV, scalar, hdiv)};
  static const CeedInt derivatives[] = {2, 0, 1};
  static const CeedEvalMode modes[] = {CEED_EVAL_GRAD, CEED_EVAL_NONE, CEED_EVAL_DIV};

  // Two active outputs of one length, one active input of another.
  set_function(&k, 1, "", 2, 2, fields);
  PLAN(&k, &eight_lanes, find_rows);
  const RitzPlan *plan = k.plan;
  CHECK(plan->num_bases == 3 && plan->num_matrices == 6, "%d matrices", plan->num_matrices);
  for (int i = 0; i < 3; i++) {
    const RitzPlanBasis *b = &plan->bases[i];
    CHECK(b->route == RITZ_ROUTE_DENSE && b->first_matrix == 2 * i, "basis %d: matrix %d", i,
          b->first_matrix);
    CHECK(b->deriv_mode == modes[i] && b->q_comp_deriv == derivatives[i], "basis %d: mode %d", i,
          b->deriv_mode);
    CHECK(b->q_comp_interp == (i == 0 ? 1 : 2), "basis %d: %d values", i, b->q_comp_interp);
  }
  CHECK(k.target->evaluation == RITZ_EVALUATE_FLAT && plan->dim == 1 && plan->Q_1d == DENSE_Q, "grid");
  CHECK(k.target->call_points == DENSE_Q && k.target->spaces[1].overwrites == -1, "target");
  CHECK_NEAR(k.cost.flops, 2.0 * DENSE_P * DENSE_Q * (2 * 2 + 2 + 1), 0.0, "flops");
  kit_close(&k);
}

// u by the first basis and weights of the second.
static void plan_grids(Kit *k, CeedBasis first, CeedBasis second) {
  if (tap_failed()) return;
  CeedElemRestriction rstr = strided(k, 4, first->P, 1);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, first), WEIGHTS(second),
                          ACTIVE("v", INTERP, rstr, first)};

  set_function(k, 1, "", 2, 1, fields);
  PLAN(k, &eight_lanes, find_rows);
}

static void check_not_fused(const Kit *k) {
  CHECK(k->target->evaluation == RITZ_EVALUATE_NONE, "evaluation %d", k->target->evaluation);
  CHECK(k->target->call == RITZ_CALL_POINTER && k->target->call_points == k->plan->Q,
        "called with all points");
  CHECK(!k->target->prefetch_packed && !k->target->prefetch_vectors, "nothing is prefetched");
  for (int i = 0; i < k->plan->num_spaces; i++) CHECK(k->target->spaces[i].overwrites == -1, "space %d", i);
}

TEST(tensor_bases_on_one_grid_are_fused_and_others_are_not) {
  Kit k = kit_open();
  plan_grids(&k, lagrange(&k, 2, 1, 3, 4, CEED_GAUSS), lagrange(&k, 2, 1, 2, 4, CEED_GAUSS));
  if (tap_failed()) return;
  CHECK(k.target->evaluation == RITZ_EVALUATE_PLANES && k.plan->dim == 2 && k.plan->Q_1d == 4, "one grid");
  kit_close(&k);

  k = kit_open();
  plan_grids(&k, lagrange(&k, 2, 1, 3, 2, CEED_GAUSS),
             dense(&k, CeedBasisCreateH1, CEED_TOPOLOGY_TRIANGLE, 1));
  if (tap_failed()) return;
  CHECK(k.target->evaluation == RITZ_EVALUATE_PLANES && k.plan->Q_1d == 2, "dense with as many points");
  kit_close(&k);

  k = kit_open();
  plan_grids(&k, lagrange(&k, 2, 1, 3, 4, CEED_GAUSS), lagrange(&k, 1, 1, 2, 16, CEED_GAUSS));
  if (tap_failed()) return;
  check_not_fused(&k);
  kit_close(&k);
}

TEST(bases_in_more_than_three_dimensions_are_not_fused) {
  Kit k = kit_open();
  CeedBasis basis = lagrange(&k, 4, 1, 2, 3, CEED_GAUSS);

  plan_grids(&k, basis, basis);
  if (tap_failed()) return;
  check_not_fused(&k);
  kit_close(&k);
}

// ---- Rows ----

static CeedInt asked_rows[KIT_MAX];
static int num_asked;

static int note_rows(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  *has_rows = lanes == 8 && rstr->num_comp == 1;
  asked_rows[num_asked++] = row_length;
  return CEED_ERROR_SUCCESS;
}

static int fail_rows(CeedElemRestriction rstr, CeedInt row_length, CeedInt lanes, bool *has_rows) {
  (void)row_length, (void)lanes, (void)has_rows;
  return CeedError(rstr->obj.ceed, CEED_ERROR_MAJOR, "no rows today");
}

TEST(rows_are_asked_for_in_the_length_of_nodes_or_points_of_a_direction) {
  Kit k = kit_open();
  CeedElemRestriction nodes = box(&k, 2, 2, 1), points = box(&k, 2, 3, 2); // 4 x 4 nodes serve as points
  CeedBasis basis = lagrange(&k, 2, 1, 3, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, nodes, basis), DATA("p", points, vector(&k, 2 * 49)),
                          ACTIVE("v", INTERP, nodes, basis)};

  num_asked = 0;
  set_function(&k, 1, "", 2, 1, fields);
  PLAN(&k, &eight_lanes, note_rows);
  CHECK(num_asked == 3 && asked_rows[0] == 3 && asked_rows[1] == 4 && asked_rows[2] == 3, "lengths");
  CHECK(k.target->spaces[0].gather == RITZ_GATHER_ROWS && k.target->spaces[0].row_length == 3,
        "there are rows");
  CHECK(k.target->spaces[1].gather == RITZ_GATHER_NODES && k.target->spaces[1].row_length == 0,
        "there are none");
  kit_free_plan(&k);
  CHECK_ERROR(k.ceed, plan_and_target(k.op, &eight_lanes, fail_rows, &k.plan, &k.target, &k.reason),
              CEED_ERROR_MAJOR, "no rows today");
  CHECK(!k.plan, "no plan after a failure");
  kit_close(&k);
}

TEST(rows_of_one_node_are_nodes) {
  static const CeedScalar ones[] = {1, 1, 1}, zeros[3];
  Kit k = kit_open();
  CeedElemRestriction rstr = NULL;
  static const CeedInt offsets[] = {2, 0, 1};

  CHECK_OK(CeedElemRestrictionCreate(k.ceed, 3, 1, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr));
  k.rstr[k.num_rstr++] = rstr;
  CeedBasis basis = table_basis(&k, 1, 1, 3, ones, zeros);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("v", INTERP, rstr, basis)};
  num_asked = 0;
  set_function(&k, 1, "", 1, 1, fields);
  PLAN(&k, &eight_lanes, note_rows);
  CHECK(num_asked == 0 && k.target->spaces[0].gather == RITZ_GATHER_NODES, "constant fields");
  kit_close(&k);
}

// ---- Calls ----

typedef struct {
  bool has_text;
  CeedInt lanes, vec_length, Q_1d; // in 2 dimensions
  RitzEvaluation evaluation;
  RitzCall call;
  CeedInt call_points;
} CallCase;

static void check_call(const CallCase *c) {
  const Machine machine = {.lanes = c->lanes, .allows_text = true};
  const char *path = tap_temp_text("function.h", "");
  char source[1200];
  Kit k = kit_open();
  CeedElemRestriction rstr = box(&k, 2, 1, 1);
  CeedBasis basis = lagrange(&k, 2, 1, 2, c->Q_1d, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("v", INTERP, rstr, basis)};

  snprintf(source, sizeof(source), "%s%s:function", path, c->has_text ? "" : ".missing");
  set_function(&k, c->vec_length, source, 1, 1, fields);
  PLAN(&k, &machine, NULL);
  RitzCpuTarget *t = k.target;
  CHECK(!strcmp(k.plan->function_name, "function"), "name '%s'", k.plan->function_name);
  CHECK(c->has_text ? !strcmp(k.plan->source_path, path) : !k.plan->source_path, "path %s",
        k.plan->source_path);
  CHECK(t->evaluation == c->evaluation && t->call == c->call && t->call_points == c->call_points,
        "evaluation %d, call %d, points %d", t->evaluation, t->call, (int)t->call_points);
  CHECK(t->evaluation == RITZ_EVALUATE_NONE || t->lanes * t->call_points % c->vec_length == 0, "a multiple");
  ritz_plan_cpu_use_pointer(k.plan, t);
  CHECK(t->call == RITZ_CALL_POINTER, "by pointer");
  CHECK(t->evaluation == (c->evaluation == RITZ_EVALUATE_VALUES ? RITZ_EVALUATE_PLANES : c->evaluation),
        "rows");
  CHECK(t->call_points == (c->evaluation == RITZ_EVALUATE_NONE ? k.plan->Q : k.plan->Q_1d), "a row");
  kit_close(&k);
}

TEST(functions_are_called_with_a_multiple_of_their_vector_length) {
  static const CallCase cases[] = {
      {true, 8, 1, 4, RITZ_EVALUATE_VALUES, RITZ_CALL_TEXT, 1},
      {true, 8, 8, 4, RITZ_EVALUATE_VALUES, RITZ_CALL_TEXT, 1},
      {true, 8, 16, 4, RITZ_EVALUATE_PLANES, RITZ_CALL_TEXT, 4},
      {true, 8, 3, 3, RITZ_EVALUATE_PLANES, RITZ_CALL_TEXT, 3},
      {true, 8, 25, 5, RITZ_EVALUATE_NONE, RITZ_CALL_POINTER, 25},
      {false, 8, 1, 4, RITZ_EVALUATE_PLANES, RITZ_CALL_POINTER, 4},
      {false, 2, 8, 4, RITZ_EVALUATE_PLANES, RITZ_CALL_POINTER, 4},
      {false, 2, 9, 3, RITZ_EVALUATE_NONE, RITZ_CALL_POINTER, 9},
  };

  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && !tap_failed(); i++) {
    check_call(&cases[i]);
    if (tap_failed()) tap_note("case %d", (int)i);
  }
}

TEST(a_function_without_a_name_or_source_is_called_by_pointer) {
  static const char *const sources[] = {"", "no-such-file.h:f"};
  char nameless[1200];

  snprintf(nameless, sizeof(nameless), "%s:", tap_temp_text("nameless.h", ""));
  for (int i = 0; i < 3; i++) {
    Kit k = kit_open();
    CeedElemRestriction rstr = strided(&k, 3, 4, 1);
    const Field fields[] = {DATA("u", rstr, CEED_VECTOR_ACTIVE), DATA("v", rstr, CEED_VECTOR_ACTIVE)};

    set_function(&k, 1, i < 2 ? sources[i] : nameless, 1, 1, fields);
    PLAN(&k, &eight_lanes, NULL);
    CHECK(k.target->call == RITZ_CALL_POINTER && !k.plan->source_path, "source %d", i);
    CHECK(k.target->evaluation == RITZ_EVALUATE_FLAT && k.target->call_points == 4, "all points");
    kit_close(&k);
  }
}

TEST(sources_of_the_gallery_are_found) {
  Kit k = kit_open();

  set_bp(&k, 3, 2);
  PLAN(&k, &eight_lanes, NULL);
  CHECK(strstr(k.plan->source_path, "ceed/jit-source/gallery/ceed-poisson3dapply.h"), "%s",
        k.plan->source_path);
  CHECK(!strcmp(k.plan->function_name, "Poisson3DApply"), "%s", k.plan->function_name);
  CHECK(!strcmp(k.plan->name, "Poisson3DApply"), "%s", k.plan->name);
  CHECK_OK(CeedOperatorSetName(k.op, "heat"));
  PLAN(&k, &eight_lanes, NULL);
  CHECK(!strcmp(k.plan->name, "heat"), "%s", k.plan->name);
  kit_close(&k);
}

TEST(the_machine_has_registers_of_16_32_or_64_bytes) {
  RitzCpuMachine machine;
  RitzPlanOptions options;

  CHECK(!unsetenv("RITZ_QFUNCTION"), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  size_t bytes = (size_t)machine.lanes * sizeof(CeedScalar);
  CHECK(bytes == 16 || bytes == 32 || bytes == 64, "%d lanes", (int)machine.lanes);
  CHECK(machine.allows_text, "text");
  CHECK(!setenv("RITZ_QFUNCTION", "pointer", 1), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  CHECK(!machine.allows_text, "no text");
  CHECK(!setenv("RITZ_QFUNCTION", "text", 1), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  CHECK(machine.allows_text, "text");
  unsetenv("RITZ_QFUNCTION");
}

TEST(even_odd_bases_are_switched_off_by_ritz_even_odd) {
  RitzCpuMachine machine;
  RitzPlanOptions options;

  CHECK(!unsetenv("RITZ_EVEN_ODD"), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  CHECK(options.allows_even_odd, "even-odd");
  CHECK(!setenv("RITZ_EVEN_ODD", "off", 1), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  CHECK(!options.allows_even_odd && !options.even_odd_near, "not even-odd");
  CHECK(!setenv("RITZ_EVEN_ODD", "near", 1), "environment");
  ritz_cpu_environment(CEED_SCALAR_TYPE, &machine, &options);
  CHECK(options.allows_even_odd && options.even_odd_near, "of what is symmetric to 500 round-offs");
  unsetenv("RITZ_EVEN_ODD");
}

// ---- Prefetching ----

// Coordinates and the field itself come from vectors; `degree` is that of the field.
static void check_vectors_prefetched(CeedInt degree, bool has_data, bool is_wanted) {
  Kit k = kit_open();
  CeedElemRestriction rstr_u = box(&k, 3, degree, 1), rstr_x = box(&k, 3, 1, 3);
  CeedBasis basis_u = lagrange(&k, 3, 1, degree + 1, 4, CEED_GAUSS);
  CeedBasis basis_x = lagrange(&k, 3, 3, 2, 4, CEED_GAUSS);
  CeedVector x = vector(&k, 3 * 27);
  const Field geometry = PASSIVE("x", GRAD, rstr_x, basis_x, x);
  const Field data = DATA("x", strided(&k, 8, 64, 1), vector(&k, 8 * 64));
  const Field fields[] = {ACTIVE("u", GRAD, rstr_u, basis_u), has_data ? data : geometry,
                          ACTIVE("v", GRAD, rstr_u, basis_u)};

  set_function(&k, 1, "tests/gen-qfunctions.h:GenMass", 2, 1, fields);
  PLAN(&k, &eight_lanes, find_rows);
  CHECK(k.target->prefetch_vectors == is_wanted, "vectors");
  CHECK(k.target->prefetch_packed == has_data, "data");
  kit_close(&k);
}

// 64 stored numbers beside 8 or 27 nodes: few are up to 8 a node.
TEST(vectors_are_prefetched_when_data_are_few_and_rows_are_long) {
  check_vectors_prefetched(1, false, false);
  check_vectors_prefetched(2, false, true);
  check_vectors_prefetched(1, true, false);
  check_vectors_prefetched(2, true, true);
}

// The application's function takes a row a call: there is no code to unroll around.
TEST(rows_are_unrolled_around_the_text_alone) {
  Kit k = kit_open();
  CeedElemRestriction rstr_u = box(&k, 3, 4, 1);
  CeedBasis basis_u = lagrange(&k, 3, 1, 5, 6, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", GRAD, rstr_u, basis_u),
                          DATA("data", strided(&k, 8, 216, 6), vector(&k, (CeedSize)8 * 216 * 6)),
                          ACTIVE("v", GRAD, rstr_u, basis_u)};

  set_function(&k, 1, "tests/gen-qfunctions.h:GenMass", 2, 1, fields);
  PLAN(&k, &eight_lanes, find_rows);
  CHECK(k.target->call == RITZ_CALL_TEXT && k.target->unrolls_rows && k.target->prefetch_again, "text");
  ritz_plan_cpu_use_pointer(k.plan, k.target);
  CHECK(!k.target->unrolls_rows && !k.target->prefetch_again, "after the text was found wanting");
  CHECK(k.target->prefetch_packed, "data are fetched as before");
  kit_close(&k);
}

// ---- Printing ----

// Owned by the caller; "" on failure.
static char *print(const RitzPlan *plan, const RitzCpuTarget *target) {
  Capture capture;
  int ierr = ritz_plan_cpu_print(plan, target, capture_begin(&capture));

  fclose(capture.stream);
  if (ierr) capture.text[0] = '\0';
  return capture.text;
}

TEST(equal_operators_have_equal_printed_plans) {
  char *text[2] = {NULL};

  for (int i = 0; i < 2; i++) {
    Kit k = kit_open();
    set_bp(&k, 4, 3);
    PLAN(&k, &eight_lanes, find_rows);
    text[i] = print(k.plan, k.target);
    kit_close(&k);
  }
  CHECK(text[0][0] && !strcmp(text[0], text[1]), "%s\n%s", text[0], text[1]);
  free(text[0]);
  free(text[1]);
}

// ---- Golden plans ----

static void set_bp1(Kit *k) { set_bp(k, 1, 3); }
static void set_bp3(Kit *k) { set_bp(k, 3, 4); }
static void set_bp5(Kit *k) { set_bp(k, 5, 7); }
static void set_bp6(Kit *k) { set_bp(k, 6, 2); }

static void set_geometry(Kit *k) {
  CeedElemRestriction rstr_x = box(k, 3, 1, 3), rstr_q = strided(k, 8, 64, 6);
  CeedBasis basis = lagrange(k, 3, 3, 2, 4, CEED_GAUSS);
  const Field fields[] = {ACTIVE("dx", GRAD, rstr_x, basis), WEIGHTS(basis),
                          DATA("qdata", rstr_q, CEED_VECTOR_ACTIVE)};

  set_gallery(k, "Poisson3DBuild", 3, fields);
}

// Velocity and pressure of different degrees in one vector, geometry on the fly.
static void set_stokes(Kit *k) {
  CeedElemRestriction rstr_u = box(k, 2, 2, 2), rstr_x = box(k, 2, 1, 2), rstr_p = NULL;
  CeedBasis basis_u = lagrange(k, 2, 2, 3, 3, CEED_GAUSS), basis_p = lagrange(k, 2, 1, 2, 3, CEED_GAUSS);
  CeedBasis basis_x = lagrange(k, 2, 2, 2, 3, CEED_GAUSS);
  CeedInt offsets[4 * 4];

  grid_element_nodes(2, NUM_1D, 1, offsets);
  NOTE_OK(
      CeedElemRestrictionCreate(k->ceed, 4, 4, 1, 1, 50, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr_p));
  k->rstr[k->num_rstr++] = rstr_p;
  const Field fields[] = {ACTIVE("du", GRAD, rstr_u, basis_u),
                          ACTIVE("p", INTERP, rstr_p, basis_p),
                          PASSIVE("dx", GRAD, rstr_x, basis_x, vector(k, 18)),
                          WEIGHTS(basis_x),
                          ACTIVE("dv", GRAD, rstr_u, basis_u),
                          ACTIVE("q", INTERP, rstr_p, basis_p)};
  set_function(k, 1, "", 4, 2, fields);
}

static void set_triangles(Kit *k) {
  CeedElemRestriction rstr = strided(k, 4, DENSE_P, 2), rstr_q = strided(k, 4, DENSE_Q, 1);
  CeedBasis basis = dense(k, CeedBasisCreateH1, CEED_TOPOLOGY_TRIANGLE, 2);
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("du", GRAD, rstr, basis), WEIGHTS(basis),
                          DATA("q", rstr_q, vector(k, 16)), ACTIVE("dv", GRAD, rstr, basis)};

  set_function(k, 1, "", 4, 1, fields);
}

static void set_hdiv(Kit *k) {
  static const CeedInt offsets[] = {0, 1, 2, 2, 3, 4};
  static const bool orients[] = {false, false, false, true, false, false};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = dense(k, CeedBasisCreateHdiv, CEED_TOPOLOGY_TRIANGLE, 1);

  NOTE_OK(CeedElemRestrictionCreateOriented(k->ceed, 2, DENSE_P, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES,
                                            offsets, orients, &rstr));
  k->rstr[k->num_rstr++] = rstr;
  const Field fields[] = {ACTIVE("u", INTERP, rstr, basis), ACTIVE("div u", DIV, rstr, basis),
                          ACTIVE("v", INTERP, rstr, basis), ACTIVE("div v", DIV, rstr, basis)};
  set_function(k, 1, "", 2, 2, fields);
}

// Fewer points than nodes, and a passive output of longer vectors.
static void set_reduced(Kit *k) {
  CeedElemRestriction rstr = box(k, 2, 3, 1), rstr_q = strided(k, 4, 9, 2);
  CeedBasis basis = lagrange(k, 2, 1, 4, 3, CEED_GAUSS);
  const Field fields[] = {ACTIVE("du", GRAD, rstr, basis), ACTIVE("dv", GRAD, rstr, basis),
                          DATA("flux", rstr_q, vector(k, 100))};

  set_function(k, 3, "", 1, 2, fields);
}

static void set_mixed_grids(Kit *k) {
  CeedElemRestriction square = strided(k, 4, 9, 1), line = strided(k, 4, 3, 1);
  CeedBasis basis_2d = lagrange(k, 2, 1, 3, 4, CEED_GAUSS), basis_1d = lagrange(k, 1, 1, 3, 16, CEED_GAUSS);
  const Field fields[] = {ACTIVE("u", INTERP, square, basis_2d), ACTIVE("v", INTERP, line, basis_1d)};

  set_function(k, 1, "", 1, 1, fields);
}

typedef struct {
  const char *name;
  void (*set)(Kit *k);
  bool allows_text;
} Golden;

static const Golden goldens[] = {
    {"bp1-degree3", set_bp1, true},          {"bp3-degree4", set_bp3, true},
    {"bp5-degree7-pointer", set_bp5, false}, {"bp6-degree2", set_bp6, true},
    {"geometry", set_geometry, true},        {"stokes", set_stokes, true},
    {"triangles", set_triangles, true},      {"hdiv", set_hdiv, true},
    {"reduced", set_reduced, true},          {"mixed-grids", set_mixed_grids, true},
};
enum { NUM_GOLDENS = sizeof(goldens) / sizeof(goldens[0]) };

// Owned by the caller; NULL on failure.
static char *print_golden(const Golden *g) {
  const Machine machine = {.lanes = 8, .allows_text = g->allows_text};
  Kit k = kit_open();
  char *text = NULL;

  g->set(&k);
  make_plan(&k, &machine, find_rows);
  if (k.plan) text = print(k.plan, k.target);
  kit_close(&k);
  return text;
}

static const char *path_of(const Golden *g) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-plans/%s.txt", g->name);
  return path;
}

// Byte for byte: a printed plan has no numbers that are rounded.
static void check_golden(const Golden *g) {
  char *wanted = golden_read(path_of(g)), *text = print_golden(g);
  const bool is_same = text && !strcmp(text, wanted);

  if (text && !is_same) tap_note("printed:\n%s\nwanted:\n%s", text, wanted);
  free(text);
  free(wanted);
  CHECK(is_same, "%s has another plan; `test-plan --write-golden` accepts all", g->name);
}

TEST(typical_operators_have_the_printed_plans_that_are_kept) {
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("the bytes in kept plans are those of double precision");
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) check_golden(&goldens[i]);
}

static int write_goldens(void) {
  for (int i = 0; i < NUM_GOLDENS; i++) {
    char *text = print_golden(&goldens[i]);
    const bool is_written = golden_write(path_of(&goldens[i]), text);

    free(text);
    if (!is_written) return 1;
  }
  return 0;
}

// ---- Random operators ----

static void check_field(const RitzPlan *plan, CeedOperator op, int i) {
  CeedOperatorField field = ritz_operator_field(op, i);
  const RitzPlanField *f = &plan->fields[i];
  const RitzPlanSpace *s = f->space < 0 ? NULL : &plan->spaces[f->space];

  CHECK(f->basis < 0 ? field->basis == CEED_BASIS_NONE
                     : field->basis == ritz_operator_field(op, plan->bases[f->basis].field)->basis,
        "basis");
  CHECK((f->mode == CEED_EVAL_WEIGHT) == !s, "all fields but weights have a space");
  if (!s) return;
  CeedOperatorField first = ritz_operator_field(op, s->field);
  CHECK(first->rstr == field->rstr && first->vec == field->vec && s->basis == f->basis, "space of the field");
  CHECK(s->is_input == (i < op->num_in) && (s->modes & (unsigned)f->mode) == (unsigned)f->mode, "its modes");
}

static bool is_same_array(CeedOperator op, const RitzPlanSpace *a, const RitzPlanSpace *b) {
  return ritz_operator_field(op, a->field)->vec == ritz_operator_field(op, b->field)->vec &&
         (!a->is_active || a->is_input == b->is_input);
}

static void check_spaces(CeedOperator op, const RitzPlan *plan, const RitzCpuTarget *t) {
  for (int i = 0; i < plan->num_spaces; i++) {
    const RitzPlanSpace *s = &plan->spaces[i];
    CHECK(s->array >= 0 && s->array < plan->num_arrays, "array %d", (int)s->array);
    CHECK(s->num_nodes == (s->basis < 0 ? plan->Q : plan->bases[s->basis].P), "%d nodes", (int)s->num_nodes);
    const int taken = t->spaces[i].overwrites;
    CHECK(taken < 0 || (!s->is_input && plan->spaces[taken].is_input), "overwrites");
    for (int k = 0; k < i; k++) {
      const RitzPlanSpace *o = &plan->spaces[k];
      CeedOperatorField a = ritz_operator_field(op, s->field), b = ritz_operator_field(op, o->field);
      CHECK(a->rstr != b->rstr || a->vec != b->vec || s->basis != o->basis || s->is_input != o->is_input,
            "spaces %d and %d are the same", k, i);
      CHECK((a->rstr == b->rstr) == (s->restriction.number == o->restriction.number), "restrictions");
      CHECK((s->array == o->array) == is_same_array(op, s, o), "arrays of %d and %d", k, i);
      CHECK(taken < 0 || taken != t->spaces[k].overwrites, "%d and %d take the same arrays", k, i);
      CHECK(!o->is_input || s->is_input || t->spaces[k].overwrites < 0, "inputs come first");
    }
  }
}

static void check_target(const RitzPlan *plan, const RitzCpuTarget *t, CeedOperator op) {
  const RitzPlanCost cost = ritz_plan_cpu_cost(plan, t);
  CeedInt points = t->evaluation == RITZ_EVALUATE_NONE ? t->call_points : t->lanes * t->call_points;

  CHECK(points % op->qf->vec_length == 0 && plan->Q % t->call_points == 0, "%d points a call",
        (int)t->call_points);
  CHECK(cost.flops >= 0 && t->working_set >= 0 && isfinite(cost.bytes_vectors), "costs");
}

static void check_random(uint64_t seed, char **text) {
  static const RandomOptions options;
  RandomOperator r;
  RitzPlan *plan = NULL;
  RitzCpuTarget *target = NULL;
  const char *reason = "";
  uint64_t state = seed;
  int ierr = random_operator_create(tap_ceed("/cpu/self/ref"), &options, &state, &r);
  Ceed ceed = r.ceed;

  if (!ierr) ierr = plan_and_target(r.op, &eight_lanes, find_rows, &plan, &target, &reason);
  CHECK_OK(ierr);
  CHECK(plan && !reason, "no plan: %s", reason);
  for (int i = 0; i < plan->num_in + plan->num_out && !tap_failed(); i++) check_field(plan, r.op, i);
  if (!tap_failed()) check_spaces(r.op, plan, target);
  for (int i = 0; i < plan->num_bases && !tap_failed(); i++) {
    if (plan->bases[i].is_tensor) check_matrices(r.op, &plan->bases[i]);
  }
  if (!tap_failed()) check_target(plan, target, r.op);
  if (tap_failed()) tap_note("seed %llu: %s", (unsigned long long)seed, random_operator_describe(&r));
  *text = print(plan, target);
  ritz_plan_cpu_free(&target);
  ritz_plan_free(&plan);
  random_operator_destroy(&r);
  CeedDestroy(&ceed);
}

TEST(plans_of_random_operators_describe_them) {
  int num = tap_level() > TAP_QUICK ? 2000 : 200;

  for (int i = 0; i < num && !tap_failed(); i++) {
    char *text[2] = {NULL};
    check_random(5000000 + (uint64_t)i, &text[0]);
    if (!tap_failed()) check_random(5000000 + (uint64_t)i, &text[1]);
    if (!tap_failed()) CHECK(!strcmp(text[0], text[1]), "made twice:\n%s\n%s", text[0], text[1]);
    free(text[0]);
    free(text[1]);
  }
}

// ---- Failures ----

// The n-th allocation fails. Whether the plan could be made.
static bool plan_failing(CeedOperator op, int64_t n) {
  RitzPlan *plan = NULL;
  RitzCpuTarget *target = NULL;
  const char *reason;

  RITZ_FREE(&op->qf->resolved_path); // found anew
  int64_t live = ritz_memory_live();
  ritz_memory_fail_at(n);
  int ierr = plan_and_target(op, &eight_lanes, find_rows, &plan, &target, &reason);
  ritz_memory_fail_at(0);
  bool is_made = ierr == CEED_ERROR_SUCCESS, is_honest = is_made == (plan != NULL);
  ritz_plan_cpu_free(&target);
  ritz_plan_free(&plan);
  RITZ_FREE(&op->qf->resolved_path);
  tap_check(is_honest && ritz_memory_live() == live, __FILE__, __LINE__, "no memory is left",
            "allocation %lld: code %d, %lld more are live", (long long)n, ierr,
            (long long)(ritz_memory_live() - live));
  return is_made;
}

TEST(failed_allocations_are_reported_and_leave_nothing) {
  for (int i = 0; i < NUM_GOLDENS && !tap_failed(); i++) {
    Kit k = kit_open();
    int64_t n = 1;

    goldens[i].set(&k);
    if (tap_failed()) return;
    while (!plan_failing(k.op, n) && !tap_failed()) n++;
    CHECK(n > 4, "%s: %lld allocations", goldens[i].name, (long long)n);
    kit_close(&k);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  return tap_main(
      argc, argv,
      TESTS(bake_off_operators_have_the_plans_that_were_measured_to_be_fast,
            costs_of_bake_off_operators_are_those_that_the_benchmark_counts,
            working_set_is_nodes_and_two_arrays_of_points_in_diffusion,
            fields_of_one_restriction_vector_and_basis_share_a_space,
            active_inputs_are_one_array_and_active_outputs_another,
            stored_data_are_packed_when_they_are_strided_passive_inputs_at_points,
            nodes_with_orientations_have_offsets_of_their_own,
            copies_of_restrictions_without_signs_are_not_oriented, blocked_restrictions_have_no_plan,
            absolute_values_of_curl_orientations_have_no_plan, operators_at_points_have_no_plan,
            dense_bases_have_two_matrices_each, tensor_bases_on_one_grid_are_fused_and_others_are_not,
            bases_in_more_than_three_dimensions_are_not_fused,
            rows_are_asked_for_in_the_length_of_nodes_or_points_of_a_direction, rows_of_one_node_are_nodes,
            functions_are_called_with_a_multiple_of_their_vector_length,
            a_function_without_a_name_or_source_is_called_by_pointer, sources_of_the_gallery_are_found,
            the_machine_has_registers_of_16_32_or_64_bytes, even_odd_bases_are_switched_off_by_ritz_even_odd,
            vectors_are_prefetched_when_data_are_few_and_rows_are_long,
            rows_are_unrolled_around_the_text_alone, equal_operators_have_equal_printed_plans,
            typical_operators_have_the_printed_plans_that_are_kept, plans_of_random_operators_describe_them,
            failed_allocations_are_reported_and_leave_nothing));
}
