// SPDX-License-Identifier: BSD-2-Clause
// The rules of linear assembly: layout of assembled QFunctions, the cache and its flags, operators without
// elements. What the numbers are in general is in test-assembly.c, misuse in test-assembly-misuse.c.
#include "tests/assembly-qfunctions.h"
#include "tests/scale-operator.h"

#include "backends/cpu/matrix.h"
#include "core/operator.h"
#include <math.h>
#include <ritz/assembly.h>
#include <ritz/geometry.h>
#include <ritz/mesh.h>
#include <ritz/precision.h>

// ---- The cache ----

TEST_EACH_BACKEND(without_reuse_assembly_always_sees_the_present_values) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  for (int k = 0; k < 2 * NUM_KINDS; k++) {
    CHECK_OK(CeedVectorSetValue(f.qdata, (CeedScalar)(k + 2)));
    CHECK_SCALE(f.op, k % NUM_KINDS, k + 2.0);
  }
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(with_reuse_assembly_keeps_its_data_until_told) {
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    Fixture f;

    CHECK_OK(fixture_create(ceed, &f));
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
    CHECK_OK(CeedVectorSetValue(f.qdata, 2));
    CHECK_SCALE(f.op, kind, 2.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 3));
    for (int other = 0; other < NUM_KINDS; other++) CHECK_SCALE(f.op, other, 2.0);
    CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, true));
    CHECK_SCALE(f.op, kind, 3.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 4));
    CHECK_SCALE(f.op, kind, 3.0);
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
    CHECK_SCALE(f.op, kind, 4.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 5));
    CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, false));
    CHECK_SCALE(f.op, kind, 5.0);
    CHECK_OK(CeedVectorSetValue(f.qdata, 6));
    CHECK_SCALE(f.op, kind, 6.0);
    fixture_destroy(&f);
  }
}

TEST_EACH_BACKEND(a_withdrawn_request_for_renewal_renews_nothing) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_SCALE(f.op, 0, 1.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, true));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(f.op, false));
  CHECK_SCALE(f.op, 0, 1.0);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(context_fields_set_through_the_operator_ask_for_renewal) {
  Fixture f;
  double factor = 7.0;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_SCALE(f.op, 1, 1.0);
  CHECK_OK(CeedOperatorSetContextDouble(f.op, f.factor, &factor));
  CHECK_SCALE(f.op, 1, 7.0);
  // The same value again asks for renewal, too: a changed passive vector shows.
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorSetContextDouble(f.op, f.factor, &factor));
  CHECK_SCALE(f.op, 1, 14.0);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(stripping_drops_data_and_settings) {
  Fixture f;
  CeedVector kept = NULL;
  CeedElemRestriction rstr = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorAssemblyDataStrip(f.op)); // nothing is there yet
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &kept, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorAssemblyDataStrip(f.op));
  for (int kind = 0; kind < NUM_KINDS; kind++) {
    CHECK_OK(CeedVectorSetValue(f.qdata, (CeedScalar)(kind + 2)));
    CHECK_SCALE(f.op, kind, kind + 2.0);
  }
  CHECK_NEAR(first_entry(kept), 1.0, tolerance * eps, "what the caller holds stays as it was");
  CeedVectorDestroy(&kept);
  CeedElemRestrictionDestroy(&rstr);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(build_or_update_shares_one_pair) {
  Fixture f;
  CeedVector v = NULL, first;
  CeedElemRestriction rstr = NULL, first_rstr;
  CeedRequest request = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  first = v;
  first_rstr = rstr;
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, &request));
  CHECK(v == first && rstr == first_rstr, "another pair");
  CHECK_NEAR(first_entry(v), 2.0, tolerance * eps, "the same vector holds the new values");

  // Handles of other objects are released and replaced.
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CHECK_OK(CeedVectorCreate(ceed, 1, &v));
  CHECK_OK(CeedElemRestrictionReferenceCopy(f.rstr, &rstr));
  CHECK_OK(CeedOperatorLinearAssembleQFunctionBuildOrUpdate(f.op, &v, &rstr, CEED_REQUEST_ORDERED));
  CHECK(v == first && rstr == first_rstr, "another pair");
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(assembling_the_qfunction_anew_leaves_the_cache_alone) {
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_NEAR(cached_scale(f.op), 1.0, tolerance * eps, "cached");
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_NEAR(new_scale(f.op), 2.0, tolerance * eps, "it does not read the cache");
  CHECK_NEAR(cached_scale(f.op), 1.0, tolerance * eps, "nor does it write it");
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(composites_pass_settings_on_to_their_parts) {
  Fixture f;
  CeedOperator sum = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &sum));
  CHECK_OK(CeedOperatorCompositeAddSub(sum, f.op));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(sum, true));
  CHECK_SCALE(sum, 0, 1.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_SCALE(f.op, 0, 1.0);
  for (int kind = 0; kind < 3; kind++) CHECK_SCALE(sum, kind, 1.0);
  CHECK_OK(CeedOperatorSetQFunctionAssemblyDataUpdateNeeded(sum, true));
  CHECK_SCALE(sum, 1, 2.0);
  CHECK_OK(CeedVectorSetValue(f.qdata, 3));
  CHECK_SCALE(sum, 2, 2.0);
  CHECK_OK(CeedOperatorAssemblyDataStrip(sum));
  CHECK_SCALE(sum, 2, 3.0);
  CeedOperatorDestroy(&sum);
  fixture_destroy(&f);
}

// ---- Layout of an assembled QFunction ----

enum { LAYOUT_ELEM = 2, LAYOUT_Q = 4 };

// Combine; outputs are declared v, dv, inputs du, qdata, u: the orders of the standard's example.
static int create_layout_operator(Ceed ceed, CeedVector qdata, CeedOperator *op) {
  const CeedInt offsets[LAYOUT_ELEM * 4] = {0, 1, 2, 3, 2, 3, 4, 5}, strides[3] = {1, LAYOUT_Q, LAYOUT_Q};
  CeedElemRestriction rstr = NULL, rstr_q = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, LAYOUT_ELEM, 4, 1, 1, 6, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       offsets, &rstr);

  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, LAYOUT_ELEM, LAYOUT_Q, 1, LAYOUT_ELEM * LAYOUT_Q, strides,
                                            &rstr_q);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 2, 1, 2, 2, CEED_GAUSS, &basis);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, Combine, Combine_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "du", 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "qdata", 1, CEED_EVAL_NONE);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "dv", 2, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  const char *const names[] = {"dv", "v", "u", "du"}; // not the order of the QFunction
  for (int i = 0; !ierr && i < 4; i++)
    ierr = CeedOperatorSetField(*op, names[i], rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "qdata", rstr_q, CEED_BASIS_NONE, qdata);
  CeedQFunctionDestroy(&qf);
  CeedBasisDestroy(&basis);
  CeedElemRestrictionDestroy(&rstr);
  CeedElemRestrictionDestroy(&rstr_q);
  return ierr;
}

TEST_EACH_BACKEND(assembled_qfunctions_have_the_layout_of_the_standard) {
  // Component i*3 + o: columns are du0, du1, u; rows v, dv0, dv1.
  static const double wanted[9] = {31, 11, 21, 32, 12, 22, 33, 13, 23};
  double q[LAYOUT_ELEM * LAYOUT_Q] = {1, 2, 3, 4, 5, 6, 7, 8};
  CeedVector qdata = reference_vector(ceed, LAYOUT_ELEM * LAYOUT_Q, q), v = NULL;
  CeedOperator op = NULL;
  CeedElemRestriction rstr = NULL;
  CeedInt num_elem, elem_size, num_comp, e_layout[3], l_layout[3];
  CeedSize l_size;
  CeedRestrictionType type;

  CHECK_OK(create_layout_operator(ceed, qdata, &op));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetType(rstr, &type));
  CHECK_OK(CeedElemRestrictionGetNumElements(rstr, &num_elem));
  CHECK_OK(CeedElemRestrictionGetElementSize(rstr, &elem_size));
  CHECK_OK(CeedElemRestrictionGetNumComponents(rstr, &num_comp));
  CHECK_OK(CeedElemRestrictionGetLVectorSize(rstr, &l_size));
  CHECK_OK(CeedElemRestrictionGetELayout(rstr, e_layout));
  CHECK_OK(CeedElemRestrictionGetLLayout(rstr, l_layout));
  CHECK(type == CEED_RESTRICTION_STRIDED && num_elem == LAYOUT_ELEM && elem_size == LAYOUT_Q && num_comp == 9,
        "%d elements, %d points, %d components", num_elem, elem_size, num_comp);
  CHECK(l_size == 9 * LAYOUT_ELEM * LAYOUT_Q && vector_length(v) == l_size, "%td entries", l_size);
  CHECK(!memcmp(e_layout, l_layout, sizeof(e_layout)), "E-layout and L-layout differ");
  double *values = reference_new_values(v);
  for (int k = 0; k < 9 * LAYOUT_ELEM * LAYOUT_Q; k++) {
    int point = k % LAYOUT_Q, component = k / LAYOUT_Q % 9, elem = k / (9 * LAYOUT_Q);
    double value = values[point * e_layout[0] + component * e_layout[1] + elem * e_layout[2]];

    CHECK_NEAR(value, wanted[component] * q[elem * LAYOUT_Q + point], 4 * 33 * 8 * eps,
               "component %d of point %d of element %d", component, point, elem);
  }
  free(values);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&qdata);
  CeedElemRestrictionDestroy(&rstr);
  CeedOperatorDestroy(&op);
}

// ---- Fields in the way ----

static int create_with_unused_input(Ceed ceed, const Fixture *f, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr = CeedQFunctionCreateInterior(ceed, 1, TakeFirst, TakeFirst_loc, &qf);

  if (!ierr) ierr = CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "unused", 1, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "u", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "unused", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "v", f->rstr, f->basis, CEED_VECTOR_ACTIVE);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(an_active_input_that_nothing_depends_on_changes_nothing) {
  Fixture f;
  CeedOperator op = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(create_with_unused_input(ceed, &f, &op));
  for (int kind = 0; kind < 3; kind++) CHECK_SCALE(op, kind, 1.0);
  Triples with = {0}, without = {0};
  CHECK_OK(triples_assemble(op, &with));
  CHECK_OK(triples_assemble(f.op, &without));
  double *a = triples_sum(&with, SIZE, SIZE), *b = triples_sum(&without, SIZE, SIZE);
  double error = reference_distance(SIZE * SIZE, a, b);
  free(a);
  free(b);
  triples_free(&with);
  triples_free(&without);
  CHECK(error <= tolerance * eps, "off by %g", error);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

TEST_EACH_BACKEND(passive_outputs_are_left_alone_by_assembly) {
  Fixture f;
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;
  CeedVector passive = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedVectorCreate(ceed, SIZE, &passive));
  CHECK_OK(CeedVectorSetValue(passive, 5));
  CHECK_OK(CeedQFunctionCreateInterior(ceed, 1, GiveTwice, GiveTwice_loc, &qf));
  CHECK_OK(CeedQFunctionAddInput(qf, "u", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "w", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedQFunctionAddOutput(qf, "v", 1, CEED_EVAL_INTERP));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "u", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "w", f.rstr, f.basis, passive));
  CHECK_OK(CeedOperatorSetField(op, "v", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  for (int kind = 0; kind < NUM_KINDS; kind++) CHECK_SCALE(op, kind, 1.0);
  CHECK_HOLDS(passive, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CeedVectorDestroy(&passive);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// ---- Equal but different bases ----

TEST_EACH_BACKEND(bases_are_matched_by_handle_on_the_diagonal) {
  Fixture f;
  CeedBasis twin = NULL;
  CeedOperator op = NULL;
  CeedQFunction qf = NULL;

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, NODES, POINTS, CEED_GAUSS, &twin));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", f.rstr, f.basis, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", f.rstr, twin, CEED_VECTOR_ACTIVE));
  CHECK_NEAR(diagonal_scale(op), 0.0, 0.0, "nothing matches");
  CHECK_NEAR(triples_scale(op), triples_scale(f.op), tolerance * eps, "the matrix does not care");
  CeedBasisDestroy(&twin);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
  fixture_destroy(&f);
}

// ---- Curl-oriented diagonals ----

enum { CURL_ELEM = 2, CURL_NODES = 4, CURL_POINTS = 3, CURL_SIZE = 6 };

// Each row and column of an orientation has one entry +-1: pairs of neighbours are exchanged, or not.
static const CeedInt8 exchanges[CURL_ELEM * CURL_NODES * 3] = {0, 0, -1, 1, 0, 0, 0,  -1, 0, 0, 1,  0,
                                                               0, 1, 0,  0, 0, 1, -1, 0,  0, 0, -1, 0};

static int create_curl_oriented(Ceed ceed, CeedOperator *op) {
  const CeedInt offsets[CURL_ELEM * CURL_NODES] = {0, 1, 2, 3, 2, 3, 4, 5};
  uint64_t seed = 7;
  CeedScalar interp[2 * CURL_POINTS * CURL_NODES], curl[CURL_POINTS * CURL_NODES];
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;
  CeedQFunction qf = NULL;

  for (int k = 0; k < 2 * CURL_POINTS * CURL_NODES; k++) interp[k] = (CeedScalar)tap_uniform(&seed);
  for (int k = 0; k < CURL_POINTS * CURL_NODES; k++) curl[k] = (CeedScalar)tap_uniform(&seed);
  int ierr =
      CeedElemRestrictionCreateCurlOriented(ceed, CURL_ELEM, CURL_NODES, 1, 1, CURL_SIZE, CEED_MEM_HOST,
                                            CEED_COPY_VALUES, offsets, exchanges, &rstr);
  if (!ierr)
    ierr = CeedBasisCreateHcurl(ceed, CEED_TOPOLOGY_TRIANGLE, 1, CURL_NODES, CURL_POINTS, interp, curl, NULL,
                                NULL, &basis);
  if (!ierr) ierr = CeedQFunctionCreateIdentity(ceed, 2, CEED_EVAL_INTERP, CEED_EVAL_INTERP, &qf);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "input", rstr, basis, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "output", rstr, basis, CEED_VECTOR_ACTIVE);
  CeedElemRestrictionDestroy(&rstr);
  CeedBasisDestroy(&basis);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(diagonals_with_exchanged_nodes_are_exact) {
  CeedOperator op = NULL;
  CeedVector v = NULL;
  Triples t = {0};

  CHECK_OK(create_curl_oriented(ceed, &op));
  CHECK_OK(CeedVectorCreate(ceed, CURL_SIZE, &v));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(triples_assemble(op, &t));
  double *matrix = triples_sum(&t, CURL_SIZE, CURL_SIZE), *diagonal = reference_new_values(v), worst = 0.0;
  for (int k = 0; k < CURL_SIZE; k++)
    worst = tap_larger(worst, fabs(matrix[k * CURL_SIZE + k] - diagonal[k]));
  free(matrix);
  free(diagonal);
  triples_free(&t);
  CHECK(worst <= 2 * CURL_POINTS * CURL_ELEM * 4 * eps, "off by %g", worst);
  CeedVectorDestroy(&v);
  CeedOperatorDestroy(&op);
}

// ---- Without bases ----

TEST_EACH_BACKEND(the_identity_on_the_points_assembles_to_the_identity) {
  enum { N = 6 };
  CeedElemRestriction rstr = NULL;
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;
  CeedVector v = NULL;
  Triples t = {0};

  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 3, 1, N, CEED_STRIDES_BACKEND, &rstr));
  CHECK_OK(CeedQFunctionCreateIdentity(ceed, 1, CEED_EVAL_NONE, CEED_EVAL_NONE, &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(CeedOperatorSetField(op, "input", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "output", rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE));
  CHECK_OK(triples_assemble(op, &t));
  double *matrix = triples_sum(&t, N, N);
  for (int k = 0; k < N * N; k++) CHECK(matrix[k] == (k / N == k % N), "entry %d is %g", k, matrix[k]);
  free(matrix);
  triples_free(&t);
  CHECK_OK(CeedVectorCreate(ceed, N, &v));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 1, 1, 1, 1, 1, 1);
  CHECK_NEAR(new_scale(op), 1.0, 0.0, "the assembled QFunction");
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);
  CeedQFunctionDestroy(&qf);
  CeedOperatorDestroy(&op);
}

// ---- Two fields in one L-vector ----

// On a line, velocities on 3 nodes an element, pressures on 2: (du, dv) - (p, dv) - (du, q), whose matrix
// [K -B^T; -B 0] is symmetric. Pressures come first in the L-vector.
enum { PRESSURES = 3, VELOCITIES = 5, PAIR_SIZE = PRESSURES + VELOCITIES };

static int create_saddle_point(Ceed ceed, CeedOperator *op) {
  const CeedInt pressures[] = {0, 1, 1, 2}, velocities[] = {3, 4, 5, 5, 6, 7};
  CeedElemRestriction rstr_p = NULL, rstr_u = NULL;
  CeedBasis basis_p = NULL, basis_u = NULL;
  CeedQFunction qf = NULL;
  int ierr = CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, PAIR_SIZE, CEED_MEM_HOST, CEED_COPY_VALUES,
                                       pressures, &rstr_p);

  if (!ierr)
    ierr = CeedElemRestrictionCreate(ceed, 2, 3, 1, 1, PAIR_SIZE, CEED_MEM_HOST, CEED_COPY_VALUES, velocities,
                                     &rstr_u);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 2, 3, CEED_GAUSS, &basis_p);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3, 3, CEED_GAUSS, &basis_u);
  if (!ierr) ierr = CeedQFunctionCreateInterior(ceed, 1, SaddlePoint, SaddlePoint_loc, &qf);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "du", 1, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "p", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedQFunctionAddInput(qf, "w", 1, CEED_EVAL_WEIGHT);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "dv", 1, CEED_EVAL_GRAD);
  if (!ierr) ierr = CeedQFunctionAddOutput(qf, "q", 1, CEED_EVAL_INTERP);
  if (!ierr) ierr = CeedOperatorCreate(ceed, qf, NULL, NULL, op);
  if (!ierr) ierr = CeedOperatorSetField(*op, "du", rstr_u, basis_u, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "dv", rstr_u, basis_u, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "p", rstr_p, basis_p, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "q", rstr_p, basis_p, CEED_VECTOR_ACTIVE);
  if (!ierr) ierr = CeedOperatorSetField(*op, "w", CEED_ELEMRESTRICTION_NONE, basis_u, CEED_VECTOR_NONE);
  CeedElemRestrictionDestroy(&rstr_p);
  CeedElemRestrictionDestroy(&rstr_u);
  CeedBasisDestroy(&basis_p);
  CeedBasisDestroy(&basis_u);
  CeedQFunctionDestroy(&qf);
  return ierr;
}

TEST_EACH_BACKEND(saddle_points_of_two_fields_assemble_to_symmetric_block_matrices) {
  CeedOperator op = NULL;
  CeedVector x = NULL, y = NULL, diagonal = NULL;
  Triples t = {0};
  const double allowed = 200 * eps; // sums of 3 points, entries below 10

  CHECK_OK(create_saddle_point(ceed, &op));
  CHECK_OK(triples_assemble(op, &t));
  CHECK_OK(CeedVectorCreate(ceed, PAIR_SIZE, &x));
  CHECK_OK(CeedVectorCreate(ceed, PAIR_SIZE, &y));
  CHECK_OK(CeedVectorCreate(ceed, PAIR_SIZE, &diagonal));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  double *matrix = triples_sum(&t, PAIR_SIZE, PAIR_SIZE), *values = reference_new_values(diagonal),
         *column = reference_new(PAIR_SIZE);
  for (int j = 0; j < PAIR_SIZE; j++) {
    CHECK_OK(CeedVectorSetValue(x, 0));
    CHECK_OK(CeedVectorSetValueStrided(x, j, j + 1, 1, 1));
    CHECK_OK(CeedOperatorApply(op, x, y, CEED_REQUEST_IMMEDIATE));
    reference_values(y, column);
    CHECK_NEAR(values[j], matrix[j * (PAIR_SIZE + 1)], allowed, "diagonal entry %d", j);
    for (int i = 0; i < PAIR_SIZE; i++) {
      CHECK_NEAR(matrix[i * PAIR_SIZE + j], column[i], allowed, "entry (%d, %d)", i, j);
      CHECK_NEAR(matrix[i * PAIR_SIZE + j], matrix[j * PAIR_SIZE + i], allowed, "symmetry of (%d, %d)", i, j);
      if (i < PRESSURES && j < PRESSURES) CHECK(column[i] == 0.0, "pressures are coupled: %g", column[i]);
    }
  }
  free(matrix);
  free(values);
  free(column);
  triples_free(&t);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  CeedVectorDestroy(&diagonal);
  CeedOperatorDestroy(&op);
}

// ---- Without elements ----

TEST_EACH_BACKEND(operators_without_elements_assemble_to_nothing) {
  Fixture f;
  CeedVector v = NULL, values = NULL;
  CeedElemRestriction rstr = NULL;
  CeedSize num = -1, num_rows = -1, num_cols = -1;
  CeedInt *rows = NULL, *cols = NULL, num_elem = -1;
  int64_t *row_starts = NULL, *columns = NULL;

  CHECK_OK(fixture_create_sized(ceed, 0, &f));
  CHECK_OK(CeedOperatorLinearAssembleQFunction(f.op, &v, &rstr, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedElemRestrictionGetNumElements(rstr, &num_elem));
  CHECK(num_elem == 0 && vector_length(v) == 0, "%d elements, %td entries", num_elem, vector_length(v));
  CeedVectorDestroy(&v);
  CeedElemRestrictionDestroy(&rstr);

  const double fives[SIZE] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
  v = reference_vector(ceed, SIZE, fives);
  CHECK_OK(CeedOperatorLinearAssembleAddDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CHECK_OK(CeedOperatorLinearAssembleAddPointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 5, 5, 5, 5, 5, 5, 5, 5, 5);
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  CHECK_OK(CeedVectorSetValue(v, 5));
  CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonal(f.op, v, CEED_REQUEST_IMMEDIATE));
  CHECK_HOLDS(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonalSymbolic(f.op, &num, &rows, &cols));
  CHECK(num == SIZE && rows[SIZE - 1] == 0 && cols[0] == 0, "%td block entries", num);
  free(rows);
  free(cols);
  CHECK_OK(CeedOperatorLinearAssembleGetNumEntries(f.op, &num));
  CHECK(num == 0, "%td entries", num);
  CHECK_OK(CeedOperatorLinearAssembleSymbolic(f.op, &num, &rows, &cols));
  CHECK(num == 0, "%td entries", num);
  free(rows);
  free(cols);
  CHECK_OK(CeedVectorCreate(ceed, 0, &values));
  CHECK_OK(CeedOperatorLinearAssemble(f.op, values));

  CHECK_OK(RitzOperatorAssembleCSRSymbolic(f.op, &num_rows, &num_cols, &row_starts, &columns));
  CHECK(num_rows == SIZE && num_cols == SIZE && row_starts[SIZE] == 0, "rows of sparse storage");
  CHECK_OK(RitzOperatorAssembleCSR(f.op, row_starts, columns, values));
  free(row_starts);
  free(columns);
  CeedVectorDestroy(&v);
  CeedVectorDestroy(&values);
  fixture_destroy(&f);
}

// ---- Patterns that are kept ----

typedef struct {
  RitzAssembly assembly;
  CeedVector values;
  CeedSize num; // entries of the matrix
} Matrix;

// With as many more entries.
static int matrix_create(CeedOperator op, CeedScalarType precision, CeedSize more, Matrix *m) {
  CeedSize num_rows = 0;
  const int64_t *row_starts = NULL;
  *m = (Matrix){0};

  CeedCall(RitzAssemblyCreate(op, &m->assembly));
  CeedCall(RitzAssemblyGetPattern(m->assembly, &num_rows, NULL, &row_starts, NULL));
  m->num = row_starts[num_rows];
  return RitzVectorCreate(CeedOperatorReturnCeed(op), m->num + more, precision, &m->values);
}

static void matrix_destroy(Matrix *m) {
  CeedVectorDestroy(&m->values);
  RitzAssemblyDestroy(&m->assembly);
}

static int first_of_matrix(CeedOperator op, double *first) {
  Matrix m;
  int ierr = matrix_create(op, CEED_SCALAR_TYPE, 0, &m);

  if (!ierr) ierr = RitzAssemblyRun(m.assembly, m.values);
  if (!ierr) *first = first_entry(m.values);
  matrix_destroy(&m);
  return ierr;
}

TEST_EACH_BACKEND(kept_patterns_outlive_stripped_data) {
  Fixture f;
  Matrix m = {0};

  CHECK_OK(fixture_create(ceed, &f));
  CHECK_OK(matrix_create(f.op, CEED_SCALAR_TYPE, 0, &m));
  CHECK_OK(RitzAssemblyRun(m.assembly, m.values));
  const double first = first_entry(m.values);
  CHECK_OK(CeedOperatorAssemblyDataStrip(f.op));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(f.op, true));
  CHECK_OK(CeedVectorSetValue(f.qdata, 2));
  CHECK_OK(RitzAssemblyRun(m.assembly, m.values));
  CHECK_NEAR(first_entry(m.values), 2 * first, tolerance * eps, "twice the coefficient");
  matrix_destroy(&m);
  fixture_destroy(&f);
}

static void check_rest(Ceed ceed, const Matrix *m, CeedSize more) {
  CeedVector scalars = NULL;

  CHECK_OK(CeedVectorCreate(ceed, m->num + more, &scalars));
  CHECK_OK(CeedVectorSetValue(m->values, 7));
  CHECK_OK(RitzAssemblyRun(m->assembly, m->values));
  CHECK_OK(RitzVectorConvert(m->values, scalars));
  double *values = reference_new_values(scalars);
  CHECK(values[0] != 7, "nothing was written");
  for (CeedSize k = m->num; k < m->num + more; k++)
    CHECK(values[k] == 7, "entry %td of %td is %g now", k, m->num, values[k]);
  free(values);
  CeedVectorDestroy(&scalars);
}

TEST_EACH_BACKEND(entries_behind_those_of_the_matrix_stay) {
  static const CeedScalarType precisions[] = {CEED_SCALAR_TYPE, CEED_SCALAR_FP32};
  enum { MORE = 3 };
  Fixture f;

  CHECK_OK(fixture_create(ceed, &f));
  for (int k = 0; k < 2; k++) {
    Matrix m = {0};
    CHECK_OK(matrix_create(f.op, precisions[k], MORE, &m));
    check_rest(ceed, &m, MORE);
    matrix_destroy(&m);
  }
  fixture_destroy(&f);
}

// Parts on the composite's context, one of them without elements; then others, that have other threads or no
// kernels.
TEST(parts_without_elements_and_of_other_contexts_are_added) {
  static const char *const resources[] = {"/cpu/self/gen:threads=3", "/cpu/self/gen:threads=1",
                                          "/cpu/self/ref"};
  enum { CONTEXTS = 3 };
  Ceed ceeds[CONTEXTS];
  Fixture f[CONTEXTS], empty;
  CeedOperator op = NULL;
  double first = 0, sum = 0;

  for (int i = 0; i < CONTEXTS; i++) ceeds[i] = tap_ceed(resources[i]);
  for (int i = 0; i < CONTEXTS; i++) CHECK_OK(fixture_create(ceeds[i], &f[i]));
  CHECK_OK(fixture_create_sized(ceeds[0], 0, &empty));
  CHECK_OK(CeedOperatorCreateComposite(ceeds[0], &op));
  CHECK_OK(CeedOperatorCompositeAddSub(op, empty.op));
  CHECK_OK(CeedOperatorCompositeAddSub(op, f[0].op));
  CHECK_OK(first_of_matrix(op, &first));
  const bool is_text = ritz_cpu_tier(f[0].op)->path == RITZ_PATH_TEXT;
  CHECK(ritz_cpu_matrix_is_made(f[0].op, 0, 0) || !is_text, "no kernel beside an empty part");
  for (int i = 1; i < CONTEXTS; i++) CHECK_OK(CeedOperatorCompositeAddSub(op, f[i].op));
  CHECK_OK(first_of_matrix(op, &sum));
  CHECK_NEAR(sum, 3 * first, 3 * tolerance * eps, "three equal parts");
  CeedOperatorDestroy(&op);
  fixture_destroy(&empty);
  for (int i = 0; i < CONTEXTS; i++) fixture_destroy(&f[i]);
  for (int i = 0; i < CONTEXTS; i++) CeedDestroy(&ceeds[i]);
}

TEST_EACH_BACKEND(a_part_of_the_reference_backend_is_added) {
  Ceed other = tap_ceed("/cpu/self/ref");
  Fixture own, empty, foreign;
  CeedOperator op = NULL;
  double first = 0, sum = 0;

  CHECK_OK(fixture_create(ceed, &own));
  CHECK_OK(fixture_create_sized(ceed, 0, &empty));
  CHECK_OK(fixture_create(other, &foreign));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &op));
  CHECK_OK(CeedOperatorCompositeAddSub(op, empty.op));
  CHECK_OK(CeedOperatorCompositeAddSub(op, own.op));
  CHECK_OK(first_of_matrix(op, &first));
  CHECK_OK(CeedOperatorCompositeAddSub(op, foreign.op));
  CHECK_OK(first_of_matrix(op, &sum));
  CHECK_NEAR(sum, 2 * first, 2 * tolerance * eps, "two equal parts");
  CeedOperatorDestroy(&op);
  fixture_destroy(&own);
  fixture_destroy(&empty);
  fixture_destroy(&foreign);
  CeedDestroy(&other);
}

// ---- Sizes ----

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d] + 0.05 * X[(d + 1) % dim] * (1.0 - X[(d + 1) % dim]);
  return 0;
}

static int create_helmholtz(Ceed ceed, CeedInt dim, CeedInt degree, CeedOperator *op) {
  const CeedInt num[3] = {2, 1, 2};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;

  int ierr = RitzMeshCreateBox(ceed, dim, num, NULL, NULL, 1, bend, NULL, &mesh);
  if (!ierr) ierr = RitzSpaceCreate(mesh, degree, 1, &space);
  if (!ierr) ierr = RitzGeometryCreate(mesh, -1, &geometry);
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .policy = RITZ_POLICY_STORED};
  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);
  (void)RitzGeometryDestroy(&geometry);
  (void)RitzSpaceDestroy(&space);
  (void)RitzMeshDestroy(&mesh);
  return ierr;
}

// y -= A x by the entries of A.
static int subtract_matrix(Ceed ceed, CeedOperator op, const CeedScalar *x, CeedScalar *y, double *largest) {
  CeedInt *rows = NULL, *cols = NULL;
  CeedSize num = 0;
  CeedVector values = NULL;
  const CeedScalar *read = NULL;

  RITZ_TRY(CeedOperatorLinearAssembleSymbolic(op, &num, &rows, &cols));
  int ierr = CeedVectorCreate(ceed, num, &values);
  if (!ierr) ierr = CeedOperatorLinearAssemble(op, values);
  if (!ierr) ierr = CeedVectorGetArrayRead(values, CEED_MEM_HOST, &read);
  for (CeedSize k = 0; !ierr && k < num; k++) {
    y[rows[k]] -= read[k] * x[cols[k]];
    *largest = fmax(*largest, fabs((double)read[k]));
  }
  if (read) ierr = ritz_first_error(ierr, CeedVectorRestoreArrayRead(values, &read));
  free(rows);
  free(cols);
  return ritz_first_error(ierr, CeedVectorDestroy(&values));
}

static int apply_to_random(Ceed ceed, CeedOperator op, uint64_t seed, CeedSize n, CeedScalar *x,
                           CeedScalar *y) {
  CeedVector in = NULL, out = NULL;
  const CeedScalar *read = NULL;

  for (CeedSize i = 0; i < n; i++) x[i] = (CeedScalar)(2 * tap_uniform(&seed) - 1);
  RITZ_TRY(CeedVectorCreate(ceed, n, &in));
  RITZ_TRY(CeedVectorCreate(ceed, n, &out));
  RITZ_TRY(CeedVectorSetArray(in, CEED_MEM_HOST, CEED_COPY_VALUES, x));
  RITZ_TRY(CeedOperatorApply(op, in, out, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(CeedVectorGetArrayRead(out, CEED_MEM_HOST, &read));
  for (CeedSize i = 0; i < n; i++) y[i] = read[i];
  RITZ_TRY(CeedVectorRestoreArrayRead(out, &read));
  RITZ_TRY(CeedVectorDestroy(&in));
  return CeedVectorDestroy(&out);
}

// Devices share elements, rows and sums of tensor bases among threads by their sizes; beyond degree 5 other
// kernels do.
TEST_EACH_BACKEND(matrices_of_tensor_bases_of_all_sizes_act_as_their_operators) {
  for (CeedInt dim = 2; dim <= 3; dim++) {
    for (CeedInt degree = 1; degree <= 6 && !tap_failed(); degree++) {
      CeedOperator op = NULL;
      CeedSize n = 0, num_out = 0;
      double largest = 0, error = 0;

      if (tap_level() == TAP_QUICK && (degree + dim) % 3 != 2) continue; // 3 and 6, in 3D 2 and 5
      if (tap_level() == TAP_QUICK && degree > 3 && tap_compiles_slowly(ceed)) continue;
      CHECK_OK(create_helmholtz(ceed, dim, degree, &op));
      CHECK_OK(CeedOperatorGetActiveVectorLengths(op, &n, &num_out));
      CeedScalar *const x = malloc((size_t)n * sizeof(*x)), *const y = malloc((size_t)n * sizeof(*y));
      CHECK_OK(apply_to_random(ceed, op, (uint64_t)(10 * dim + degree), n, x, y));
      CHECK_OK(subtract_matrix(ceed, op, x, y, &largest));
      for (CeedSize i = 0; i < n; i++) error = fmax(error, fabs((double)y[i]));
      // sums over a row's entries of sums over points
      CHECK(error <= 20 * (double)CEED_EPSILON * largest * n,
            "%d dimensions, degree %d: error %g of entries up to %g", (int)dim, (int)degree, error, largest);
      free(x);
      free(y);
      CHECK_OK(CeedOperatorDestroy(&op));
    }
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(without_reuse_assembly_always_sees_the_present_values,
            with_reuse_assembly_keeps_its_data_until_told, a_withdrawn_request_for_renewal_renews_nothing,
            context_fields_set_through_the_operator_ask_for_renewal, stripping_drops_data_and_settings,
            build_or_update_shares_one_pair, assembling_the_qfunction_anew_leaves_the_cache_alone,
            composites_pass_settings_on_to_their_parts, assembled_qfunctions_have_the_layout_of_the_standard,
            an_active_input_that_nothing_depends_on_changes_nothing,
            passive_outputs_are_left_alone_by_assembly, bases_are_matched_by_handle_on_the_diagonal,
            diagonals_with_exchanged_nodes_are_exact, the_identity_on_the_points_assembles_to_the_identity,
            saddle_points_of_two_fields_assemble_to_symmetric_block_matrices,
            operators_without_elements_assemble_to_nothing, kept_patterns_outlive_stripped_data,
            entries_behind_those_of_the_matrix_stay, parts_without_elements_and_of_other_contexts_are_added,
            a_part_of_the_reference_backend_is_added,
            matrices_of_tensor_bases_of_all_sizes_act_as_their_operators));
}
