// SPDX-License-Identifier: BSD-2-Clause
// Derivatives that store at points (RitzOperatorCreateDerivativeStored) beside those that store nothing:
// after changes of state, data and context, as other operators are used, what is refused.
// Not all texts of tests/derivative-qfunctions.h are used here.
#pragma GCC diagnostic ignored "-Wunused-function"
#include "tests/derivative-problem.h"
#include "tests/nvrtc-kit.h"
#include "tests/plastic-qfunctions.h"
#include "tests/tap.h"

#include <ritz.h>
#include <stdio.h>
#include <string.h>

static const RitzDerivativeStorage storages[] = {RITZ_STORED_NOTHING, RITZ_STORED_INPUTS, RITZ_STORED_MATRIX};
enum { NUM_STORAGES = sizeof(storages) / sizeof(storages[0]) };

static int create(const Kit *k, CeedOperator residual, RitzDerivativeStorage storage, CeedOperator *op) {
  const RitzDerivativeOptions options = {.storage = storage};
  return RitzOperatorCreateDerivativeStored(residual, k->state, &options, op);
}

// |A w - J w| over |J w|; negative: an error.
static double apart(const Kit *k, CeedOperator op, CeedOperator jacobian) {
  if (apply(op, k->w, k->x) || apply(jacobian, k->w, k->y)) return -1;
  return difference(k->x, k->y);
}

// A residual with another text in the fields of the hyperelastic one.
static int make_residual(Kit *k, CeedQFunctionUser function, const char *loc, CeedOperator *op) {
  CeedQFunction qf = NULL;
  CeedCall(CeedQFunctionCreateInterior(k->ceed, 1, function, loc, &qf));
  CeedCall(make_operator_of(k, qf, false, op));
  return CeedQFunctionDestroy(&qf);
}

// The stored input, whose values the library computes.
static int stored_vector(CeedOperator op, const char *name, CeedVector *vec) {
  CeedOperatorField field;
  CeedCall(CeedOperatorGetFieldByName(op, name, &field));
  return CeedOperatorFieldGetVector(field, vec);
}

// ---- Right, whatever has changed ----

TEST_EACH_BACKEND(they_are_those_that_store_nothing_at_every_state) {
  NEEDS_CXX(ceed);
  for (Kind kind = 0; kind < NUM_KINDS; kind++) {
    Kit k;
    CeedOperator ops[NUM_STORAGES] = {NULL};
    CHECK_OK(kit_open(ceed, kind, &k));
    for (int s = 0; s < NUM_STORAGES; s++) CHECK_OK(create(&k, k.residual, storages[s], &ops[s]));
    for (int state = 0; state < 2; state++) {
      for (int s = 0; s < NUM_STORAGES; s++)
        CHECK_NEAR(apart(&k, ops[s], k.jacobian), 0.0, tolerance, "%s, state %d, %s", kinds[kind].name, state,
                   RitzDerivativeStorageName(storages[s]));
      CHECK_OK(fill(k.state, kinds[kind].lowest, kinds[kind].range)); // seen without a word
    }
    for (int s = 0; s < NUM_STORAGES; s++) CHECK_OK(CeedOperatorDestroy(&ops[s]));
    CHECK_OK(kit_close(&k));
  }
}

TEST_EACH_BACKEND(remainders_are_of_second_order) {
  NEEDS_CXX(ceed);
  for (int s = 0; s < NUM_STORAGES; s++) {
    Kit k;
    RitzDerivativeCheck check;
    CHECK_OK(kit_open_without(ceed, POISSON, &k));
    CHECK_OK(create(&k, k.residual, storages[s], &k.jacobian));
    CHECK_OK(RitzOperatorCheckDerivative(k.residual, k.state, k.jacobian, 0.1, &check));
    CHECK_NEAR(check.order, 2.0, sizeof(CeedScalar) == 8 ? 0.1 : 0.4, "%s",
               RitzDerivativeStorageName(storages[s]));
    CHECK_OK(kit_close(&k));
  }
}

// Of the factors of the geometry, through one pointer and another, and of the context.
TEST_EACH_BACKEND(new_data_and_contexts_are_seen) {
  NEEDS_CXX(ceed);
  const Material materials[2] = {{1, {4, 0.5}, 1.1, {2, 3}}, {1, {4, 0.5}, 1.2, {2, 3}}};
  Kit k;
  CeedOperator op = NULL;
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CHECK_OK(create(&k, k.residual, storages[s], &op));
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "as created");
    for (int i = 0; i < 2; i++) {
      CHECK_OK(CeedQFunctionContextSetData(k.ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(Material),
                                           (void *)&materials[i]));
      CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "material %d", i);
    }
    CHECK_OK(CeedVectorScale(k.qdata, (CeedScalar)1.01));
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "factors");
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
}

// What is stored is written when something has changed, and then alone; what a program writes there does
// not stay.
TEST_EACH_BACKEND(numbers_are_computed_once_a_state) {
  NEEDS_CXX(ceed);
  static const char *const names[] = {"u", "derivatives at points"};
  Kit k;
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (int i = 0; i < 2; i++) {
    CeedOperator op = NULL;
    CeedVector stored = NULL;
    uint64_t before, after;
    CHECK_OK(create(&k, k.residual, i ? RITZ_STORED_MATRIX : RITZ_STORED_INPUTS, &op));
    CHECK_OK(stored_vector(op, names[i], &stored));
    CHECK_OK(apply(op, k.w, k.x));
    CHECK_OK(CeedVectorGetState(stored, &before));
    CHECK_OK(apply(op, k.w, k.x));
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, k.x, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedVectorGetState(stored, &after));
    CHECK(before == after, "%s is computed again for the same state", names[i]);
    CHECK_OK(CeedVectorSetValue(stored, 7));
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "%s, overwritten", names[i]);
    CHECK_OK(fill(k.state, -1, 2));
    CHECK_OK(apply(op, k.w, k.x));
    CHECK_OK(CeedVectorGetState(stored, &before));
    CHECK(before != after, "%s is not computed for a new state", names[i]);
    CHECK_OK(CeedVectorDestroy(&stored));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
}

// Without values: an error of the apply, which is right when there are some.
TEST_EACH_BACKEND(states_may_get_their_values_later) {
  NEEDS_CXX(ceed);
  Kit k;
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (int s = 0; s < NUM_STORAGES; s++) {
    const RitzDerivativeOptions options = {.storage = storages[s]};
    CeedVector state = NULL;
    CeedOperator op = NULL;
    CHECK_OK(CeedVectorCreate(ceed, k.size, &state));
    CHECK_OK(RitzOperatorCreateDerivativeStored(k.residual, state, &options, &op));
    CHECK_OK(RitzOperatorsPrepare(1, &op, NULL, false)); // kernels need no values
    CHECK_ERROR(ceed, apply(op, k.w, k.x), CEED_ERROR_BACKEND, "no valid data");
    CHECK_OK(CeedVectorCopy(k.state, state));
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "%s", RitzDerivativeStorageName(storages[s]));
    CHECK_OK(CeedOperatorDestroy(&op));
    CHECK_OK(CeedVectorDestroy(&state));
  }
  CHECK_OK(kit_close(&k));
}

// A text with a branch and an iteration: elastic and yielding points.
TEST_EACH_BACKEND(texts_with_iterations_have_matrices) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedOperator residual = NULL, jacobian = NULL, op = NULL;
  CHECK_OK(kit_open_without(ceed, HYPERELASTIC, &k));
  CHECK_OK(make_residual(&k, PlasticResidual, PlasticResidual_loc, &residual));
  CHECK_OK(RitzOperatorCreateDerivative(residual, k.state, &jacobian));
  CHECK_OK(create(&k, residual, RITZ_STORED_MATRIX, &op));
  for (int state = 0; state < 2; state++) {
    CHECK_OK(fill(k.state, 0, state ? 0.05 : 1e-4));
    CHECK_NEAR(apart(&k, op, jacobian), 0.0, tolerance, "%s", state ? "yielding" : "elastic");
  }
  if (sizeof(CeedScalar) == 8) { // float has no room between kinks and rounding
    RitzDerivativeCheck check;
    CHECK_OK(RitzOperatorCheckDerivative(residual, k.state, op, 1e-4, &check));
    CHECK_NEAR(check.order, 2.0, 0.1, "yielding");
  }
  CHECK_OK(CeedOperatorDestroy(&residual));
  CHECK_OK(CeedOperatorDestroy(&jacobian));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
}

// ---- Like any other operator: each is used first after a new state ----

TEST_EACH_BACKEND(they_have_matrices_and_diagonals) {
  NEEDS_CXX(ceed);
  Kit k;
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL;
    CeedVector diagonal = NULL;
    CHECK_OK(create(&k, k.residual, storages[s], &op));
    CHECK_OK(CeedVectorCreate(ceed, k.size, &diagonal));
    CHECK_OK(fill(k.state, -1, 2));
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(op, k.x, CEED_REQUEST_IMMEDIATE));
    CHECK_OK(CeedOperatorLinearAssembleDiagonal(k.by_hand, k.y, CEED_REQUEST_IMMEDIATE));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "diagonal");
    CHECK_OK(fill(k.state, -1, 2));
    CHECK_OK(multiply(op, k.w, k.x, diagonal));
    CHECK_OK(apply(k.by_hand, k.w, k.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "matrix");
    CHECK_OK(CeedVectorDestroy(&diagonal));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
}

// Into one pattern, which lives on from state to state.
TEST_EACH_BACKEND(they_have_sparse_matrices) {
  NEEDS_CXX(ceed);
  Kit k;
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator ops[2] = {NULL, k.by_hand};
    RitzAssembly assemblies[2] = {NULL, NULL};
    CeedVector values[2] = {NULL, NULL};
    CeedSize num_rows = 0;
    const int64_t *row_starts = NULL;
    CHECK_OK(create(&k, k.residual, storages[s], &ops[0]));
    for (int i = 0; i < 2; i++) {
      CHECK_OK(RitzAssemblyCreate(ops[i], &assemblies[i]));
      CHECK_OK(RitzAssemblyGetPattern(assemblies[i], &num_rows, NULL, &row_starts, NULL));
      CHECK_OK(CeedVectorCreate(ceed, row_starts[num_rows], &values[i]));
    }
    for (int state = 0; state < 2; state++) {
      CHECK_OK(fill(k.state, -1, 2));
      for (int i = 0; i < 2; i++) CHECK_OK(RitzAssemblyRun(assemblies[i], values[i]));
      CHECK_NEAR(difference(values[0], values[1]), 0.0, tolerance, "state %d", state);
    }
    for (int i = 0; i < 2; i++) {
      CHECK_OK(RitzAssemblyDestroy(&assemblies[i]));
      CHECK_OK(CeedVectorDestroy(&values[i]));
    }
    CHECK_OK(CeedOperatorDestroy(&ops[0]));
  }
  CHECK_OK(kit_close(&k));
}

TEST_EACH_BACKEND(they_have_point_blocks_and_assembled_functions) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedVector blocks[2] = {NULL, NULL};
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorCreate(ceed, 3 * k.size, &blocks[i]));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL;
    CeedVector assembled[2] = {NULL, NULL};
    CHECK_OK(create(&k, k.residual, storages[s], &op));
    CHECK_OK(fill(k.state, 0, 0.02));
    for (int i = 0; i < 2; i++)
      CHECK_OK(CeedOperatorLinearAssemblePointBlockDiagonal(i ? k.by_hand : op, blocks[i],
                                                            CEED_REQUEST_IMMEDIATE));
    CHECK_NEAR(difference(blocks[0], blocks[1]), 0.0, tolerance, "point blocks");
    CHECK_OK(fill(k.state, 0, 0.02));
    for (int i = 0; i < 2; i++) {
      CeedElemRestriction rstr = NULL;
      CHECK_OK(CeedOperatorLinearAssembleQFunction(i ? k.by_hand : op, &assembled[i], &rstr,
                                                   CEED_REQUEST_IMMEDIATE));
      CHECK_OK(CeedElemRestrictionDestroy(&rstr));
    }
    CHECK_NEAR(difference(assembled[0], assembled[1]), 0.0, tolerance, "assembled function");
    for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&assembled[i]));
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  for (int i = 0; i < 2; i++) CHECK_OK(CeedVectorDestroy(&blocks[i]));
  CHECK_OK(kit_close(&k));
}

// A copy in float has the state of the copy, until it is renewed; a residual in float has derivatives that
// store floats.
TEST_EACH_BACKEND(they_compute_in_float) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedVector in = NULL, out = NULL;
  CeedOperator residual = NULL;
  CHECK_OK(kit_open(ceed, HYPERELASTIC, &k));
  CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &in));
  CHECK_OK(RitzVectorCreate(ceed, k.size, CEED_SCALAR_FP32, &out));
  CHECK_OK(RitzVectorConvert(k.w, in));
  CHECK_OK(RitzOperatorCopyInPrecision(k.residual, CEED_SCALAR_FP32, &residual));
  for (int s = 0; s < NUM_STORAGES; s++) {
    for (int i = 0; i < 2; i++) {
      CeedOperator op = NULL, copy = NULL;
      CHECK_OK(create(&k, i ? residual : k.residual, storages[s], &op));
      CHECK_OK(fill(k.state, 0, 0.02));
      if (i) {
        CHECK_OK(CeedOperatorReferenceCopy(op, &copy));
      } else {
        CHECK_OK(RitzOperatorCopyInPrecision(op, CEED_SCALAR_FP32, &copy));
        CHECK_OK(fill(k.state, 0, 0.02));
        CHECK_OK(ritz_operators_renew_copies(1, &op, &copy)); // as updates of multigrid do
      }
      CHECK_OK(apply(copy, in, out));
      CHECK_OK(RitzVectorConvert(out, k.x));
      CHECK_OK(apply(k.jacobian, k.w, k.y));
      CHECK_NEAR(difference(k.x, k.y), 0.0, 200 * 1.2e-7, "%s, %s", RitzDerivativeStorageName(storages[s]),
                 i ? "of float" : "copy");
      CHECK_OK(CeedOperatorDestroy(&copy));
      CHECK_OK(CeedOperatorDestroy(&op));
    }
  }
  CHECK_OK(CeedOperatorDestroy(&residual));
  CHECK_OK(CeedVectorDestroy(&in));
  CHECK_OK(CeedVectorDestroy(&out));
  CHECK_OK(kit_close(&k));
}

// Of degree 1, at two states.
TEST_EACH_BACKEND(their_levels_of_multigrid_see_new_states) {
  NEEDS_CXX(ceed);
  Kit k;
  CeedBasis basis = NULL;
  CeedElemRestriction rstr = NULL;
  CeedOperator by_hand = NULL;
  CeedVector w = NULL, x = NULL, y = NULL;
  CeedInt offsets[CELLS * 8];
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (CeedInt n = 0; n < CELLS * 8; n++)
    offsets[n] = n / 8 % 2 + n % 2 + 3 * (n / 16 + n / 2 % 2 + 3 * (n / 4 % 2));
  CHECK_OK(
      CeedElemRestrictionCreate(ceed, CELLS, 8, 1, 1, 18, CEED_MEM_HOST, CEED_COPY_VALUES, offsets, &rstr));
  CHECK_OK(CeedBasisCreateTensorH1Lagrange(ceed, 3, 1, 2, Q, CEED_GAUSS, &basis));
  CHECK_OK(CeedOperatorMultigridLevelCreate(k.by_hand, NULL, rstr, basis, &by_hand, NULL, NULL));
  CHECK_OK(CeedVectorCreate(ceed, 18, &w));
  CHECK_OK(CeedVectorCreate(ceed, 18, &x));
  CHECK_OK(CeedVectorCreate(ceed, 18, &y));
  CHECK_OK(fill(w, -1, 2));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL, level = NULL;
    CHECK_OK(create(&k, k.residual, storages[s], &op));
    CHECK_OK(CeedOperatorMultigridLevelCreate(op, NULL, rstr, basis, &level, NULL, NULL));
    CHECK_OK(CeedOperatorDestroy(&op)); // the level keeps what it needs
    for (int state = 0; state < 2; state++) {
      CHECK_OK(fill(k.state, -1, 2));
      CHECK_OK(apply(level, w, x));
      CHECK_OK(apply(by_hand, w, y));
      CHECK_NEAR(difference(x, y), 0.0, tolerance, "%s, state %d", RitzDerivativeStorageName(storages[s]),
                 state);
    }
    CHECK_OK(CeedOperatorDestroy(&level));
  }
  CHECK_OK(CeedOperatorDestroy(&by_hand));
  CHECK_OK(CeedVectorDestroy(&w));
  CHECK_OK(CeedVectorDestroy(&x));
  CHECK_OK(CeedVectorDestroy(&y));
  CHECK_OK(CeedElemRestrictionDestroy(&rstr));
  CHECK_OK(CeedBasisDestroy(&basis));
  CHECK_OK(kit_close(&k));
}

// Two functions on the same elements, to two vectors at once.
TEST_EACH_BACKEND(composites_store_in_each_part) {
  NEEDS_CXX(ceed);
  Kit k, other;
  CeedOperator composite = NULL, jacobian = NULL;
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(kit_open_without(ceed, FUNCTIONS, &other));
  CHECK_OK(CeedOperatorCreateComposite(ceed, &composite));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, k.residual));
  CHECK_OK(CeedOperatorCompositeAddSub(composite, other.residual));
  CHECK_OK(fill(k.state, 0.52, 0.12));
  CHECK_OK(RitzOperatorCreateDerivative(composite, k.state, &jacobian));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL;
    const CeedVector in[2] = {k.w, other.w}, out[2] = {k.x, other.x};
    CHECK_OK(create(&k, composite, storages[s], &op));
    CHECK_OK(RitzOperatorsPrepare(1, &op, NULL, false));
    CHECK_OK(fill(k.state, 0.52, 0.12));
    CHECK_OK(RitzOperatorApplyMany(op, 2, in, out));
    CHECK_OK(apply(jacobian, k.w, k.y));
    CHECK_OK(apply(jacobian, other.w, other.y));
    CHECK_NEAR(difference(k.x, k.y), 0.0, tolerance, "first");
    CHECK_NEAR(difference(other.x, other.y), 0.0, tolerance, "second");
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(CeedOperatorDestroy(&composite));
  CHECK_OK(CeedOperatorDestroy(&jacobian));
  CHECK_OK(kit_close(&k));
  CHECK_OK(kit_close(&other));
}

// ---- What is told ----

static int explain(CeedOperator op, char text[8192]) {
  FILE *stream = fmemopen(text, 8192, "w");
  if (!stream) return CEED_ERROR_MAJOR;
  const int ierr = RitzOperatorExplain(op, stream);
  fclose(stream);
  return ierr;
}

TEST_EACH_BACKEND(explanations_tell_what_is_stored) {
  NEEDS_CXX(ceed);
  static const char *const words[] = {NULL, "stored at points: 3 numbers a point ('du')",
                                      "stored at points: 12 numbers a point ('derivatives at points')"};
  Kit k;
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  for (int s = 0; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL;
    char text[8192] = "";
    CHECK_OK(create(&k, k.residual, storages[s], &op));
    CHECK_OK(explain(op, text));
    CHECK(words[s] ? strstr(text, words[s]) != NULL : !strstr(text, "stored at points"), "%s: %s",
          RitzDerivativeStorageName(storages[s]), text);
    CHECK_OK(CeedOperatorDestroy(&op));
  }
  CHECK_OK(kit_close(&k));
}

// Whichever that is: right, before and after a new state, and told.
TEST_EACH_BACKEND(the_fastest_is_found) {
  NEEDS_CXX(ceed);
  const RitzDerivativeOptions options = {.num_applies = 7};
  Kit k;
  CeedOperator op = NULL;
  CeedVector empty = NULL;
  char text[8192] = "";
  CHECK_OK(kit_open(ceed, POISSON, &k));
  CHECK_OK(CeedVectorCreate(ceed, k.size, &empty));
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, empty, &options, &op), CEED_ERROR_BACKEND,
              "no valid data");
  CHECK(!op, "a result in spite of an error");
  CHECK_OK(RitzOperatorCreateDerivativeStored(k.residual, k.state, &options, &op));
  for (int state = 0; state < 2; state++) {
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "state %d", state);
    CHECK_OK(fill(k.state, -1, 2));
  }
  CHECK_OK(explain(op, text));
  CHECK(strstr(text, "at points, measured for 7 applies a state: nothing "), "%s", text);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedVectorDestroy(&empty));
  CHECK_OK(kit_close(&k));
}

TEST(contexts_that_repeat_measure_nothing) {
  Ceed ceed = tap_ceed("/cpu/self/gen:deterministic");
  Kit k;
  CeedOperator op = NULL;
  char text[8192] = "";
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(create(&k, k.residual, RITZ_STORED_AUTO, &op));
  CHECK_OK(explain(op, text));
  CHECK(strstr(text, "stores nothing at points: ':deterministic'") != NULL, "%s", text);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(storages_have_names) {
  static const char *const names[] = {"auto", "nothing", "inputs", "matrix"};
  for (int s = 0; s < 4; s++) {
    const char *name = RitzDerivativeStorageName((RitzDerivativeStorage)s);
    CHECK(name && !strcmp(name, names[s]), "%d", s);
  }
  CHECK(!RitzDerivativeStorageName((RitzDerivativeStorage)4), "past the end");
  CHECK(!RitzDerivativeStorageName((RitzDerivativeStorage)-1), "before the first");
}

// ---- CUDA, without a device ----

// Set-up and product, fused and by separate kernels. The product keeps all numbers in registers; the set-up,
// which runs once a state, has the columns of its matrix in a loop, so in memory.
TEST(they_compile_for_CUDA) {
  const RitzBackend *const backends[] = {&ritz_cuda_gen_backend, &ritz_cuda_shared_backend};
  NEEDS_NVRTC();
  setenv("RITZ_CACHE", "off", 1); // what comes from the cache has no log
  for (int b = 0; b < 2; b++) {
    Ceed ceed;
    CHECK_OK(open_context(backends[b], &devices[0], &ceed));
    for (int s = 1; s < NUM_STORAGES; s++) {
      Kit k;
      totals = (Totals){.wants_registers = true};
      snprintf(running, sizeof(running), "derivative with %s", RitzDerivativeStorageName(storages[s]));
      CHECK_OK(kit_open_without(ceed, HYPERELASTIC, &k));
      CHECK_OK(create(&k, k.residual, storages[s], &k.jacobian));
      CHECK_OK(apply(k.jacobian, k.w, k.x));
      CHECK(totals.num_programs > 1, "%d programs", totals.num_programs);
      CHECK(storages[s] != RITZ_STORED_MATRIX || totals.num_in_memory <= 1,
            "%d kernels keep numbers in memory", totals.num_in_memory);
      CHECK_OK(kit_close(&k));
    }
    CHECK_OK(CeedDestroy(&ceed));
  }
  unsetenv("RITZ_CACHE");
}

// ---- Lack of memory ----

// In the making, in the set-up or in the apply: nothing is left behind, and what was made is right when it is
// used again.
TEST(whatever_allocation_fails_leaves_them_right) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Kit k;
  CHECK_OK(kit_open(ceed, POISSON, &k));
  for (int s = 1; s < NUM_STORAGES; s++) {
    CeedOperator op = NULL;
    int ierr = CEED_ERROR_MAJOR;
    int64_t n = 0, before = 0;
    CHECK_OK(create(&k, k.residual, storages[s], &op)); // texts are compiled, the context has what it keeps
    CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "the first");
    CHECK_OK(CeedOperatorDestroy(&op));
    before = ritz_memory_live();
    while (ierr) {
      ritz_memory_fail_at(n += 1 + n / 50);
      ierr = create(&k, k.residual, storages[s], &op);
      if (!ierr) ierr = apply(op, k.w, k.x);
      ritz_memory_fail_at(0);
      tap_forget_error(ceed);
      if (op) CHECK_NEAR(apart(&k, op, k.jacobian), 0.0, tolerance, "after failure %d", (int)n);
      CHECK_OK(CeedOperatorDestroy(&op));
      CHECK(ritz_memory_live() == before, "failing at allocation %d leaves %d", (int)n,
            (int)(ritz_memory_live() - before));
    }
    CHECK(n > 50, "the test has seen few failures, the last at %d", (int)n);
  }
  CHECK_OK(kit_close(&k));
  CHECK_OK(CeedDestroy(&ceed));
}

// ---- What is refused ----

TEST_EACH_BACKEND(misuse_ends_with_its_reason) {
  Kit k;
  CeedVector shorter = NULL;
  CeedOperator op = NULL;
  RitzDerivativeOptions options = {.storage = RITZ_STORED_MATRIX};
  CHECK_OK(kit_open_without(ceed, POISSON, &k));
  CHECK_OK(CeedVectorCreate(ceed, k.size - 1, &shorter));
  if (tap_compiles_c_alone(ceed))
    CHECK_ERROR(ceed, create(&k, k.residual, RITZ_STORED_MATRIX, &op), CEED_ERROR_UNSUPPORTED, "OpenCL C");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, k.state, NULL, &op),
              CEED_ERROR_INCOMPATIBLE, "options");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, shorter, &options, &op),
              CEED_ERROR_DIMENSION, "state has");
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, k.state, &options, NULL),
              CEED_ERROR_INCOMPATIBLE, "jacobian");
  options.storage = (RitzDerivativeStorage)9;
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, k.state, &options, &op),
              CEED_ERROR_INCOMPATIBLE, "storage 9");
  options = (RitzDerivativeOptions){.num_applies = -1};
  CHECK_ERROR(ceed, RitzOperatorCreateDerivativeStored(k.residual, k.state, &options, &op),
              CEED_ERROR_INCOMPATIBLE, "num_applies");
  CHECK(!op, "a result in spite of an error");
  CHECK_OK(CeedVectorDestroy(&shorter));
  CHECK_OK(kit_close(&k));
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(they_are_those_that_store_nothing_at_every_state, remainders_are_of_second_order,
                        new_data_and_contexts_are_seen, numbers_are_computed_once_a_state,
                        states_may_get_their_values_later, texts_with_iterations_have_matrices,
                        they_have_matrices_and_diagonals, they_have_sparse_matrices,
                        they_have_point_blocks_and_assembled_functions, they_compute_in_float,
                        their_levels_of_multigrid_see_new_states, composites_store_in_each_part,
                        explanations_tell_what_is_stored, the_fastest_is_found,
                        contexts_that_repeat_measure_nothing, storages_have_names, they_compile_for_CUDA,
                        whatever_allocation_fails_leaves_them_right, misuse_ends_with_its_reason));
}
