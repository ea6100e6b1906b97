// SPDX-License-Identifier: BSD-2-Clause
// Operators in any mixture of precisions against the double operator on /cpu/self/ref.
#include "tests/precision-kit.h"

#include "core/core.h"
#include "tests/cold-cache.h"
#include "tests/small-operator.h"

// ---- Apply ----

// v := A u, or v += A u on top of sevens. Returns values in double.
static int apply(Ceed ceed, CeedOperator op, bool adds, CeedSize n, CeedScalarType in, CeedScalarType out,
                 const double *u, double *v) {
  CeedVector x = precise_vector(ceed, in, n, u), y = precise_vector(ceed, out, n, NULL);
  int ierr = adds ? CeedVectorSetValue(y, 7) : 0;
  for (int times = 0; !ierr && times < (adds ? 1 : 2); times++)
    ierr = (adds ? CeedOperatorApplyAdd : CeedOperatorApply)(op, x, y, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = get_values(y, v);
  return ierr | CeedVectorDestroy(&x) | CeedVectorDestroy(&y);
}

// One operator meets all pairs of active vectors.
static void check_pairs(Ceed ceed, const PrecisionCase *c, PrecisionKit *k, const Oracle *o,
                        const double *u) {
  double v[KIT_MAX_SIZE], wanted[KIT_MAX_SIZE];
  for (int pair = 0; pair < NUM_PRECISIONS * NUM_PRECISIONS; pair++) {
    const CeedScalarType in = precisions[pair / NUM_PRECISIONS], out = precisions[pair % NUM_PRECISIONS];
    CHECK_OK(apply(ceed, k->op, false, k->size, in, out, u, v));
    CHECK(values_agree(k->size, v, o->v, kit_tolerance(o)), "%s: %d to %d", c->function, in, out);
    CHECK_OK(apply(ceed, k->op, true, k->size, in, out, u, v));
    for (CeedSize i = 0; i < k->size; i++) wanted[i] = o->v[i] + 7;
    CHECK(values_agree(k->size, v, wanted, kit_tolerance(o) + 8 * EPS_F32 * 7), "%s: %d to %d, added",
          c->function, in, out);
  }
}

static void check_mixtures(Ceed ceed, RitzOperatorUse use) {
  double u[KIT_MAX_SIZE];
  kit_input(u);
  for (int i = 0; i < NUM_PRECISION_CASES; i++) {
    Oracle o;
    CHECK_OK(oracle_of(&precision_cases[i], u, &o));
    // Half of the mixtures where each takes long to compile, every precision among them in each place.
    for (int p = 0; p < NUM_PRECISIONS * NUM_PRECISIONS; p++) {
      PrecisionKit k;
      if (tap_compiles_slowly(ceed) && (p / NUM_PRECISIONS + p + i) % 2) continue;
      CHECK_OK(kit_open(ceed, &precision_cases[i], precisions[p / NUM_PRECISIONS],
                        precisions[p % NUM_PRECISIONS], &k));
      CHECK_OK(RitzOperatorSetUse(k.op, use));
      check_pairs(ceed, &precision_cases[i], &k, &o, u);
      CHECK_OK(kit_close(&k));
      if (tap_failed()) return;
    }
  }
}

TEST_EACH_BACKEND(operators_agree_with_double_in_every_mixture_of_precisions) {
  check_mixtures(ceed, RITZ_USE_MANY);
}

// Beside rounding, a changed passive vector of float is seen.
TEST_EACH_BACKEND(a_stored_vector_of_floats_may_change_between_applies) {
  double u[KIT_MAX_SIZE], v[2][KIT_MAX_SIZE];
  PrecisionKit k;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_FP32, CEED_SCALAR_FP32, u, v[0]));
  CHECK_OK(CeedVectorScale(k.qdata, 2));
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_FP32, CEED_SCALAR_FP32, u, v[1]));
  for (CeedSize i = 0; i < k.size; i++) v[0][i] *= 2;
  // Doubling is exact, but sums may be made in another order.
  CHECK(values_agree(k.size, v[0], v[1], 100 * EPS_F32 * largest(k.size, v[0])), "twice the coefficient");
  CHECK_OK(kit_close(&k));
}

// ---- Composites ----

TEST_EACH_BACKEND(parts_of_a_composite_have_their_own_precisions) {
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE], wanted[KIT_MAX_SIZE];
  Oracle o;
  kit_input(u);
  CHECK_OK(oracle_of(&precision_cases[0], u, &o));
  for (CeedSize i = 0; i < KIT_NODES; i++) wanted[i] = 2 * o.v[i];
  for (int pair = 0; pair < NUM_PRECISIONS * NUM_PRECISIONS; pair++) {
    PrecisionKit k[2];
    CeedOperator composite = NULL;
    CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
    for (int i = 0; i < 2; i++) {
      CHECK_OK(kit_open(ceed, &precision_cases[0], precisions[i % NUM_PRECISIONS], CEED_SCALAR_TYPE, &k[i]));
      CHECK_OK(CeedOperatorCompositeAddSub(composite, k[i].op));
    }
    const CeedScalarType in = precisions[pair / NUM_PRECISIONS], out = precisions[pair % NUM_PRECISIONS];
    CHECK_OK(apply(ceed, composite, false, k[0].size, in, out, u, v));
    CHECK(values_agree(k[0].size, v, wanted, 2 * kit_tolerance(&o)), "%d to %d", in, out);
    CHECK_OK(CeedOperatorDestroy(&composite));
    for (int i = 0; i < 2; i++) CHECK_OK(kit_close(&k[i]));
  }
}

// ---- Precision of operators ----

TEST_EACH_BACKEND(the_precision_of_an_operator_is_fixed_by_its_use) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k;
  CeedScalarType precision;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_TYPE, &k));
  CHECK_ERROR(ceed, RitzOperatorSetPrecision(k.op, (CeedScalarType)5), CEED_ERROR_INCOMPATIBLE,
              "5 is no precision");
  CHECK_OK(RitzOperatorSetPrecision(k.op, CEED_SCALAR_FP64));
  CHECK_OK(RitzOperatorSetPrecision(k.op, CEED_SCALAR_FP32));
  CHECK_OK(RitzOperatorGetPrecision(k.op, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "%d", precision);
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_FP64, CEED_SCALAR_FP64, u, v));
  CHECK_ERROR(ceed, RitzOperatorSetPrecision(k.op, CEED_SCALAR_FP64), CEED_ERROR_MAJOR,
              "RitzOperatorSetPrecision: the operator is in use and cannot be changed; it has precision "
              "FP32, needed FP64");
  CHECK_OK(RitzOperatorSetPrecision(k.op, CEED_SCALAR_FP32));
  CHECK_OK(kit_close(&k));
}

TEST_EACH_BACKEND(a_composite_sets_all_parts_or_none) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k[2];
  CeedScalarType precision;
  CeedOperator composite = NULL;
  kit_input(u);
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(RitzOperatorGetPrecision(composite, &precision));
  CHECK(precision == CEED_SCALAR_TYPE, "empty: %d", precision);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP64, CEED_SCALAR_TYPE, &k[i]));
    CHECK_OK(CeedOperatorCompositeAddSub(composite, k[i].op));
  }
  CHECK_OK(RitzOperatorSetPrecision(composite, CEED_SCALAR_FP32));
  CHECK_OK(RitzOperatorGetPrecision(composite, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "%d", precision);
  CHECK_OK(apply(ceed, k[1].op, false, k[1].size, CEED_SCALAR_FP32, CEED_SCALAR_FP32, u, v));
  CHECK_ERROR(ceed, RitzOperatorSetPrecision(composite, CEED_SCALAR_FP64), CEED_ERROR_MAJOR, "in use");
  CHECK_OK(RitzOperatorGetPrecision(k[0].op, &precision));
  CHECK(precision == CEED_SCALAR_FP32, "a refused call has changed a part");
  CHECK_OK(RitzOperatorSetPrecision(k[0].op, CEED_SCALAR_FP64));
  CHECK_ERROR(ceed, RitzOperatorGetPrecision(composite, &precision), CEED_ERROR_INCOMPATIBLE,
              "sub-operator 0 has precision FP64, sub-operator 1 FP32");
  CHECK_OK(CeedOperatorDestroy(&composite));
  for (int i = 0; i < 2; i++) CHECK_OK(kit_close(&k[i]));
}

// ---- Assembly ----

static int diagonal(Ceed ceed, CeedOperator op, bool adds, CeedSize n, CeedScalarType precision,
                    double *found) {
  CeedVector vec = precise_vector(ceed, precision, n, NULL);
  int ierr = adds ? CeedVectorSetValue(vec, 7) : 0;
  if (!ierr)
    ierr = (adds ? CeedOperatorLinearAssembleAddDiagonal
                 : CeedOperatorLinearAssembleDiagonal)(op, vec, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = get_values(vec, found);
  return ierr | CeedVectorDestroy(&vec);
}

static void check_diagonal_mixtures(Ceed ceed, RitzOperatorUse use) {
  double u[KIT_MAX_SIZE], d[KIT_MAX_SIZE], wanted[KIT_MAX_SIZE];
  kit_input(u);
  for (int i = 0; i < NUM_PRECISION_CASES; i++) {
    Oracle o;
    CHECK_OK(oracle_of(&precision_cases[i], u, &o));
    for (int mix = 0; mix < NUM_PRECISIONS * NUM_PRECISIONS * NUM_PRECISIONS; mix++) {
      PrecisionKit k;
      const CeedScalarType arithmetic = precisions[mix % NUM_PRECISIONS],
                           qdata = precisions[mix / NUM_PRECISIONS % NUM_PRECISIONS],
                           vector = precisions[mix / NUM_PRECISIONS / NUM_PRECISIONS % NUM_PRECISIONS];
      CHECK_OK(kit_open(ceed, &precision_cases[i], arithmetic, qdata, &k));
      CHECK_OK(RitzOperatorSetUse(k.op, use));
      const double tol = 100 * EPS_F32 * largest(k.size, o.diagonal); // as of an apply
      CHECK_OK(diagonal(ceed, k.op, false, k.size, vector, d));
      CHECK(values_agree(k.size, d, o.diagonal, tol), "%s, mixture %d", precision_cases[i].function, mix);
      for (CeedSize n = 0; n < k.size; n++) wanted[n] = o.diagonal[n] + 7;
      CHECK_OK(diagonal(ceed, k.op, true, k.size, vector, d));
      CHECK(values_agree(k.size, d, wanted, tol + 8 * EPS_F32 * 7), "%s, mixture %d, added",
            precision_cases[i].function, mix);
      CHECK_OK(kit_close(&k));
    }
  }
}

TEST_EACH_BACKEND(diagonals_agree_with_double_in_every_mixture_of_precisions) {
  check_diagonal_mixtures(ceed, RITZ_USE_MANY);
}

// By the ahead-of-time kernel of CPUs: nothing is in the cache.
TEST(applies_and_diagonals_that_are_used_once_agree_with_double_in_every_mixture_of_precisions) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  ColdCache cache;
  cold_begin(&cache);
  check_mixtures(ceed, RITZ_USE_ONCE);
  if (!tap_failed()) check_diagonal_mixtures(ceed, RITZ_USE_ONCE);
  const int compiled = cold_end(&cache);
  CHECK_OK(CeedDestroy(&ceed));
  CHECK(compiled == 0, "%d compiled", compiled);
}

// Matrix, sparse matrix and point blocks into vectors of either precision: the entries of the double
// operator.
static int assemble(Ceed ceed, const PrecisionKit *k, CeedScalarType precision, CeedSize sizes[3],
                    double *values[3]) {
  CeedInt *rows = NULL, *cols = NULL;
  int64_t *starts = NULL, *columns = NULL;
  CeedSize num_rows, num_cols;
  CeedVector vec[3] = {NULL};
  CeedCall(CeedOperatorLinearAssembleSymbolic(k->op, &sizes[0], &rows, &cols));
  CeedCall(RitzOperatorAssembleCSRSymbolic(k->op, &num_rows, &num_cols, &starts, &columns));
  sizes[1] = starts[num_rows];
  sizes[2] = k->size * k->num_comp;
  for (int i = 0; i < 3; i++) {
    vec[i] = precise_vector(ceed, precision, sizes[i], NULL);
    values[i] = calloc((size_t)sizes[i], sizeof(double));
  }
  int ierr = CeedOperatorLinearAssemble(k->op, vec[0]);
  if (!ierr) ierr = RitzOperatorAssembleCSR(k->op, starts, columns, vec[1]);
  if (!ierr) ierr = CeedOperatorLinearAssemblePointBlockDiagonal(k->op, vec[2], CEED_REQUEST_IMMEDIATE);
  for (int i = 0; i < 3; i++) {
    if (!ierr) ierr = get_values(vec[i], values[i]);
    CeedVectorDestroy(&vec[i]);
  }
  free(rows);
  free(cols);
  free(starts);
  free(columns);
  return ierr;
}

TEST_EACH_BACKEND(matrices_and_blocks_go_into_vectors_of_floats) {
  static const char *const names[] = {"matrix", "sparse matrix", "point blocks"};
  const PrecisionCase *c = &precision_cases[3];
  PrecisionKit k[2];
  CeedSize sizes[2][3];
  double *values[2][3];
  for (int i = 0; i < 2; i++) {
    const CeedScalarType precision = i ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE;
    CHECK_OK(kit_open(ceed, c, precision, precision, &k[i]));
    CHECK_OK(assemble(ceed, &k[i], precision, sizes[i], values[i]));
  }
  for (int m = 0; m < 3; m++) {
    CHECK(sizes[0][m] == sizes[1][m], "%s: sizes", names[m]);
    // Made of sums of Q terms of either sign: as of an apply.
    const double tol = 100 * EPS_F32 * largest(sizes[0][m], values[0][m]);
    CHECK(values_agree(sizes[0][m], values[0][m], values[1][m], tol), "%s", names[m]);
    for (int i = 0; i < 2; i++) free(values[i][m]);
  }
  for (int i = 0; i < 2; i++) CHECK_OK(kit_close(&k[i]));
}

TEST_EACH_BACKEND(an_assembled_qfunction_is_reused_and_stripped) {
  PrecisionKit k;
  double d[3][KIT_MAX_SIZE];
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CHECK_OK(CeedOperatorSetQFunctionAssemblyReuse(k.op, true));
  CHECK_OK(diagonal(ceed, k.op, false, k.size, CEED_SCALAR_FP32, d[0]));
  CHECK_OK(CeedVectorScale(k.qdata, 2));
  CHECK_OK(diagonal(ceed, k.op, false, k.size, CEED_SCALAR_FP32, d[1]));
  CHECK_OK(CeedOperatorAssemblyDataStrip(k.op));
  CHECK_OK(diagonal(ceed, k.op, false, k.size, CEED_SCALAR_FP32, d[2]));
  const double tol = 100 * EPS_F32 * largest(k.size, d[2]);
  for (CeedSize i = 0; i < k.size; i++) d[0][i] *= 2;
  CHECK(values_agree(k.size, d[0], d[2], tol), "what was stripped is used");
  CHECK_OK(kit_close(&k));
}

// ---- Makers of operators ----

// The transfer of a line of two elements of degree one to degree two and back, in float.
TEST_EACH_BACKEND(transfers_and_coarse_operators_inherit_the_precision) {
  const CeedInt fine_offsets[] = {0, 1, 2, 2, 3, 4}, coarse_offsets[] = {0, 1, 1, 2};
  const CeedInt strides[3] = {1, 3, 3};
  const double coarse[3] = {1, 3, -2}, fine[5] = {1, 2, 3, 0.5, -2};
  double found[5];
  CeedElemRestriction rstr[2] = {NULL}, rstr_q = NULL;
  CeedBasis basis[2] = {NULL};
  CeedQFunction qf = NULL;
  CeedOperator op = NULL, made[3] = {NULL};
  CeedVector qdata = NULL, mult = NULL;
  CeedScalarType precision;
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 3, 1, 1, 5, CEED_MEM_HOST, CEED_COPY_VALUES, fine_offsets,
                                     &rstr[0]));
  CHECK_OK(CeedElemRestrictionCreate(ceed, 2, 2, 1, 1, 3, CEED_MEM_HOST, CEED_COPY_VALUES, coarse_offsets,
                                     &rstr[1]));
  CHECK_OK(CeedElemRestrictionCreateStrided(ceed, 2, 3, 1, 6, strides, &rstr_q));
  for (int i = 0; i < 2; i++)
    CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 1, 1, 3 - i, 3, CEED_GAUSS, &basis[i]));
  CHECK_OK(RitzVectorCreate(ceed, 6, CEED_SCALAR_FP32, &qdata));
  CHECK_OK(CeedVectorSetValue(qdata, 1));
  CHECK_OK(CeedVectorCreate(ceed, 5, &mult));
  CHECK_OK(CeedVectorSetValue(mult, 1));
  CHECK_OK(CeedQFunctionCreateInteriorByName(ceed, "MassApply", &qf));
  CHECK_OK(CeedOperatorCreate(ceed, qf, NULL, NULL, &op));
  CHECK_OK(RitzOperatorSetPrecision(op, CEED_SCALAR_FP32));
  CHECK_OK(CeedOperatorSetField(op, "u", rstr[0], basis[0], CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorSetField(op, "qdata", rstr_q, CEED_BASIS_NONE, qdata));
  CHECK_OK(CeedOperatorSetField(op, "v", rstr[0], basis[0], CEED_VECTOR_ACTIVE));
  CHECK_OK(CeedOperatorMultigridLevelCreate(op, mult, rstr[1], basis[1], &made[0], &made[1], &made[2]));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(RitzOperatorGetPrecision(made[i], &precision));
    CHECK(precision == CEED_SCALAR_FP32, "operator %d has precision %d", i, precision);
  }
  CeedVector c = precise_vector(ceed, CEED_SCALAR_FP32, 3, coarse),
             f = precise_vector(ceed, CEED_SCALAR_FP32, 5, NULL);
  CHECK_OK(CeedOperatorApply(made[1], c, f, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(get_values(f, found));
  CHECK(values_agree(5, found, fine, 20 * EPS_F32 * 3), "prolongation"); // two products and a sum a node
  CHECK_OK(CeedOperatorApply(made[2], f, c, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedOperatorApply(made[0], c, c == f ? NULL : mult, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(CeedVectorDestroy(&c));
  CHECK_OK(CeedVectorDestroy(&f));
  for (int i = 0; i < 3; i++) CHECK_OK(CeedOperatorDestroy(&made[i]));
  CHECK_OK(CeedOperatorCreateFDMElementInverse(op, &made[0], CEED_REQUEST_IMMEDIATE));
  CHECK_OK(RitzOperatorGetPrecision(made[0], &precision));
  CHECK(precision == CEED_SCALAR_FP32, "the inverse has precision %d", precision);
  CHECK_OK(CeedOperatorDestroy(&made[0]));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedQFunctionDestroy(&qf));
  CHECK_OK(CeedVectorDestroy(&mult));
  CHECK_OK(CeedVectorDestroy(&qdata));
  for (int i = 0; i < 2; i++) CHECK_OK(CeedBasisDestroy(&basis[i]));
  for (int i = 0; i < 2; i++) CHECK_OK(CeedElemRestrictionDestroy(&rstr[i]));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr_q));
}

// ---- Solvers ----

// b = A u of the double operator. The iterates are in double; the operator's own rounding, some eps of float
// of its terms, is far below the tolerance.
TEST_EACH_BACKEND(conjugate_gradients_take_an_operator_in_float) {
  const double tol = 1e-4;
  double u[KIT_MAX_SIZE], b[KIT_MAX_SIZE], ax[KIT_MAX_SIZE], zeros[KIT_MAX_SIZE] = {0};
  PrecisionKit k, exact;
  RitzSolver solver = NULL;
  RitzSolverReason reason;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &exact));
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CHECK_OK(apply(ceed, exact.op, false, k.size, CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, u, b));
  CeedVector right = precise_vector(ceed, CEED_SCALAR_TYPE, k.size, b);
  CeedVector x = precise_vector(ceed, CEED_SCALAR_TYPE, k.size, zeros);
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, k.op));
  CHECK_OK(RitzSolverSetTolerances(solver, tol, 0, 500));
  CHECK_OK(RitzSolverSolve(solver, right, x));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK(reason == RITZ_CONVERGED_RTOL, "%s", RitzSolverReasonName(reason));
  CHECK_OK(get_values(x, u));
  CHECK_OK(apply(ceed, exact.op, false, k.size, CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, u, ax));
  double rest = 0, whole = 0;
  for (CeedSize i = 0; i < k.size; i++) {
    rest += (ax[i] - b[i]) * (ax[i] - b[i]);
    whole += b[i] * b[i];
  }
  CHECK(sqrt(rest) <= 2 * tol * sqrt(whole), "residual %g of %g", sqrt(rest), sqrt(whole));
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(CeedVectorDestroy(&right));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(kit_close(&k));
  CHECK_OK(kit_close(&exact));
}

// ---- Passive outputs ----

// v = 2 u at the nodes, s = u at the points, in floats: {1, 10, 10, 100}.
TEST_EACH_BACKEND(passive_outputs_of_float_are_written_and_added_to) {
  const double u[3] = {1, 10, 100};
  double v[3], s[4];
  Small small;
  SMALL_OPEN(ceed, &small);
  CeedVector x = precise_vector(ceed, CEED_SCALAR_FP32, 3, u),
             y = precise_vector(ceed, CEED_SCALAR_TYPE, 3, NULL);
  CeedVector passive = precise_vector(ceed, CEED_SCALAR_FP32, 4, NULL);
  CeedOperator op = twice_operator(ceed, &small, CEED_VECTOR_ACTIVE, CEED_VECTOR_ACTIVE, passive);
  CHECK(op, "the operator");
  twice_code = 0;
  CHECK_OK(CeedOperatorApply(op, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(get_values(y, v));
  CHECK_OK(get_values(passive, s));
  CHECK(v[0] == 2 && v[1] == 40 && v[2] == 200, "%g %g %g", v[0], v[1], v[2]);
  CHECK(s[0] == 1 && s[1] == 10 && s[2] == 10 && s[3] == 100, "%g %g %g %g", s[0], s[1], s[2], s[3]);
  CHECK_OK(CeedOperatorApplyAdd(op, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(get_values(y, v));
  CHECK_OK(get_values(passive, s));
  CHECK(v[1] == 80 && s[3] == 200, "added: %g %g", v[1], s[3]);
  CHECK_OK(CeedOperatorApplyAddActive(op, x, y, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(get_values(y, v));
  CHECK_OK(get_values(passive, s));
  CHECK(v[1] == 120 && s[3] == 100, "added to the active output: %g %g", v[1], s[3]);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(CeedVectorDestroy(&passive));
  small_close(&small);
}

// ---- Refusals and failures ----

TEST_EACH_BACKEND(a_vector_without_values_stops_an_apply_before_it_writes) {
  double v[KIT_MAX_SIZE];
  PrecisionKit k;
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CeedVector x = precise_vector(ceed, CEED_SCALAR_FP32, k.size, NULL),
             y = precise_vector(ceed, CEED_SCALAR_FP32, k.size, NULL);
  CHECK_OK(CeedVectorSetValue(y, 5));
  CHECK_ERROR(ceed, CeedOperatorApply(k.op, x, y, CEED_REQUEST_IMMEDIATE), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK_OK(get_values(y, v));
  CHECK(v[0] == 5, "%g", v[0]);
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(kit_close(&k));
}

// Restrictions, bases, QFunctions, solvers: nothing is written.
TEST_EACH_BACKEND(functions_of_scalars_refuse_vectors_of_float) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  const double three[4] = {1, 2, 3, 4};
  double v[4];
  Small small;
  SMALL_OPEN(ceed, &small);
  RitzSolver solver = NULL;
  CeedVector f = precise_vector(ceed, CEED_SCALAR_FP32, 4, three),
             n = precise_vector(ceed, CEED_SCALAR_FP64, 4, three);
  CeedVector in[3] = {n, n, n};
  CeedRequest *none = CEED_REQUEST_IMMEDIATE;
#define REFUSED(expr, fragment)                                                                              \
  CHECK_ERROR(ceed, expr, CEED_ERROR_INCOMPATIBLE, fragment ": the vector has precision FP32")
  REFUSED(CeedElemRestrictionApply(small.rstr_u, CEED_NOTRANSPOSE, n, f, none), "CeedElemRestrictionApply");
  REFUSED(CeedElemRestrictionApply(small.rstr_u, CEED_TRANSPOSE, n, f, none), "CeedElemRestrictionApply");
  REFUSED(CeedElemRestrictionGetMultiplicity(small.rstr_u, f), "CeedElemRestrictionGetMultiplicity");
  REFUSED(CeedBasisApply(small.basis, 2, CEED_TRANSPOSE, CEED_EVAL_INTERP, n, f), "CeedBasisApply");
  REFUSED(CeedBasisApply(small.basis, 2, CEED_NOTRANSPOSE, CEED_EVAL_WEIGHT, CEED_VECTOR_NONE, f),
          "CeedBasisApply");
  REFUSED(CeedQFunctionApply(small.qf, 4, in, &f), "CeedQFunctionApply");
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, small.op));
  CeedVector b = precise_vector(ceed, CEED_SCALAR_FP32, 3, three),
             x = precise_vector(ceed, CEED_SCALAR_FP64, 3, three);
  REFUSED(RitzSolverSolve(solver, b, x), "RitzSolverSolve");
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(get_values(f, v));
  for (int i = 0; i < 4; i++) CHECK(v[i] == three[i], "a refused call has written %g", v[i]);
  CHECK_OK(CeedVectorDestroy(&b));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&f));
  CHECK_OK(CeedVectorDestroy(&n));
  small_close(&small);
}

// One apply or diagonal of a fresh operator in float, on vectors that have values.
static int use(PrecisionKit *k, bool assembles, CeedVector x, CeedVector y) {
  return assembles ? CeedOperatorLinearAssembleAddDiagonal(k->op, y, CEED_REQUEST_IMMEDIATE)
                   : CeedOperatorApplyAdd(k->op, x, y, CEED_REQUEST_IMMEDIATE);
}

// What lacks memory says so, leaves nothing locked and nothing lost, and works when it is called again.
TEST_EACH_BACKEND(a_lack_of_memory_leaves_nothing_behind) {
  enum { MOST = 4000 };
  double u[KIT_MAX_SIZE], wanted[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  CeedScalar usage;
  kit_input(u);
  for (int assembles = 0; assembles < 2; assembles++) {
    int64_t n = 1;
    for (int ierr = 1; ierr && n < MOST; n += tap_compiles_slowly(ceed) && n > 20 ? 7 : 1) {
      PrecisionKit k;
      CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
      CeedVector x = precise_vector(ceed, CEED_SCALAR_FP32, k.size, u),
                 y = precise_vector(ceed, CEED_SCALAR_FP32, k.size, u);
      ritz_memory_fail_at(n);
      ierr = use(&k, assembles, x, y);
      ritz_memory_fail_at(0);
      CHECK_OK(CeedClearWorkVectors(ceed, -1));
      CHECK_OK(CeedGetWorkVectorMemoryUsage(ceed, &usage));
      CHECK(usage == 0, "allocation %d: a work vector is still out", (int)n);
      if (ierr) {
        CHECK_OK(get_values(x, v));
        CHECK_OK(set_values(y, u));
        CHECK_OK(use(&k, assembles, x, y));
      }
      CHECK_OK(get_values(y, n == 1 ? wanted : v));
      if (n > 1)
        CHECK(values_agree(k.size, v, wanted, 100 * EPS_F32 * largest(k.size, wanted)), "allocation %d",
              (int)n);
      CHECK_OK(CeedVectorDestroy(&x));
      CHECK_OK(CeedVectorDestroy(&y));
      CHECK_OK(kit_close(&k));
      CHECK_OK(CeedClearWorkVectors(ceed, -1));
    }
    CHECK(n > 1 && n < MOST, "%d allocations", (int)n);
  }
}

// ---- What backends see ----

// Slots of a backend that serves every mixture, or none. Its data are the number of the operator they see
// first.
static struct {
  bool serves, mixes_up, has_no_diagonals;
  int num_asked, num_prepared, num_destroyed;
  int numbers[16];
} played;

static int played_supports_precision(CeedOperator op, CeedVector in, bool *is_supported,
                                     const char **reason) {
  (void)op, (void)in;
  played.num_asked++;
  *is_supported = played.serves;
  *reason = "it is only played";
  return CEED_ERROR_SUCCESS;
}

static int played_number(CeedOperator op) {
  if (!op->data) {
    played.numbers[played.num_prepared] = played.num_prepared + 1;
    op->data = &played.numbers[played.num_prepared++];
  }
  return *(int *)op->data;
}

static int played_apply(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode) {
  (void)mode;
  if (in->precision != op->active_precision[0] || out->precision != op->active_precision[1])
    played.mixes_up = true;
  return CeedVectorSetValue(out, (CeedScalar)played_number(op));
}

static int played_diagonal(CeedOperator op, bool is_point_block, void *diagonal) {
  if (is_point_block || op->active_precision[0] != op->active_precision[1] || !op->assembly_data)
    played.mixes_up = true;
  if (op->active_precision[1] == CEED_SCALAR_FP32)
    *(float *)diagonal += (float)played_number(op);
  else
    *(double *)diagonal += played_number(op);
  return CEED_ERROR_SUCCESS;
}

static int played_diagonal_supports_precision(CeedOperator op, bool is_point_block, bool *is_supported) {
  (void)op, (void)is_point_block;
  *is_supported = !played.has_no_diagonals;
  return CEED_ERROR_SUCCESS;
}

static int played_destroy(CeedOperator op) {
  if (op->data) played.num_destroyed++;
  return CEED_ERROR_SUCCESS;
}

static Ceed played_ceed(bool serves) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  memset(&played, 0, sizeof(played));
  played.serves = serves;
  ceed->backend.operator_supports_precision = played_supports_precision;
  if (!serves) return ceed;
  ceed->backend.operator_apply = played_apply;
  ceed->backend.operator_assemble_add_diagonal = played_diagonal;
  ceed->backend.diagonal_supports_precision = played_diagonal_supports_precision;
  ceed->backend.operator_destroy = played_destroy;
  return ceed;
}

TEST(a_backend_prepares_each_mixture_once) {
  if (NUM_PRECISIONS == 1) NOT_HERE("one precision");
  Ceed ceed = played_ceed(true);
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE], d[KIT_MAX_SIZE];
  PrecisionKit k;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP64, &k));
  for (int i = 0; i < 8; i++) {
    CHECK_OK(apply(ceed, k.op, false, k.size, precisions[i / 2 % 2], precisions[i % 2], u, v));
    CHECK(v[0] == 1 + i % 4, "apply %d is served by operator %g", i, v[0]);
  }
  CHECK(played.num_asked == 4 && played.num_prepared == 4 && !played.mixes_up, "asked %d times, prepared %d",
        played.num_asked, played.num_prepared);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(diagonal(ceed, k.op, true, k.size, precisions[i], d));
    CHECK(d[0] == (i ? 7 + 4 : 7 + 1), "diagonal by %g", d[0] - 7);
  }
  // Without a kernel for it the stand-in's: the fifth operator, whose array is double.
  played.has_no_diagonals = true;
  CHECK_OK(diagonal(ceed, k.op, true, k.size, CEED_SCALAR_FP32, d));
  CHECK(d[0] == 7 + 5, "diagonal by %g", d[0] - 7);
  CHECK_OK(kit_close(&k));
  CHECK(played.num_destroyed == 5 && !played.mixes_up, "%d destroyed", played.num_destroyed);
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(a_plain_operator_is_never_asked_about) {
  Ceed ceed = played_ceed(true);
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, &k));
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_TYPE, CEED_SCALAR_TYPE, u, v));
  CHECK(v[0] == 1 && played.num_asked == 0 && played.num_prepared == 1, "asked %d times", played.num_asked);
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(a_backend_that_cannot_says_why) {
  if (NUM_PRECISIONS == 1) NOT_HERE("one precision");
  Ceed ceed = played_ceed(false);
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k;
  Capture c;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP64, &k));
  ceed->is_strict = true;
  CHECK_ERROR(ceed, apply(ceed, k.op, false, k.size, CEED_SCALAR_FP32, CEED_SCALAR_FP32, u, v),
              CEED_ERROR_BACKEND, "it is only played");
  ceed->is_strict = false;
  ceed->warnings = RITZ_WARNINGS_OFF;
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_FP32, CEED_SCALAR_FP32, u, v));
  capture_begin(&c);
  CHECK_OK(RitzOperatorExplain(k.op, c.stream));
  fclose(c.stream);
  CHECK(strstr(c.text, "between conversions: it is only played"), "%s", c.text);
  free(c.text);
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- What people are told ----

TEST_EACH_BACKEND(what_runs_is_explained_for_each_mixture) {
  if (NUM_PRECISIONS == 1) NOT_FOR_THIS_BACKEND("one precision");
  double u[KIT_MAX_SIZE], v[KIT_MAX_SIZE];
  PrecisionKit k;
  Capture c;
  kit_input(u);
  CHECK_OK(kit_open(ceed, &precision_cases[0], CEED_SCALAR_FP32, CEED_SCALAR_FP32, &k));
  CHECK_OK(apply(ceed, k.op, false, k.size, CEED_SCALAR_FP64, CEED_SCALAR_FP32, u, v));
  capture_begin(&c);
  CHECK_OK(RitzOperatorExplain(k.op, c.stream));
  fclose(c.stream);
  CHECK(strstr(c.text, "precision FP32\n"), "%s", c.text);
  CHECK(strstr(c.text, "precision FP32, FP64 to FP32"), "%s", c.text);
  free(c.text);
  CHECK_OK(kit_close(&k));
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(operators_agree_with_double_in_every_mixture_of_precisions,
            a_stored_vector_of_floats_may_change_between_applies,
            parts_of_a_composite_have_their_own_precisions, the_precision_of_an_operator_is_fixed_by_its_use,
            a_composite_sets_all_parts_or_none, diagonals_agree_with_double_in_every_mixture_of_precisions,
            applies_and_diagonals_that_are_used_once_agree_with_double_in_every_mixture_of_precisions,
            matrices_and_blocks_go_into_vectors_of_floats, an_assembled_qfunction_is_reused_and_stripped,
            transfers_and_coarse_operators_inherit_the_precision,
            conjugate_gradients_take_an_operator_in_float, passive_outputs_of_float_are_written_and_added_to,
            a_vector_without_values_stops_an_apply_before_it_writes,
            functions_of_scalars_refuse_vectors_of_float, a_lack_of_memory_leaves_nothing_behind,
            a_backend_prepares_each_mixture_once, a_plain_operator_is_never_asked_about,
            a_backend_that_cannot_says_why, what_runs_is_explained_for_each_mixture));
}
