// SPDX-License-Identifier: BSD-2-Clause
// Operators whose sections add into copies of the output (backends/cpu/schedule-copies.h), because their
// elements come at random: what they compute is what one thread computes, whatever is computed with them.
#include "tests/gen-kit.h"
#include "tests/grid.h"
#include "tests/reference.h"
#include "tests/tap.h"
#include "tests/thread-context.h"

#include <ritz/operator.h>
#include <ritz/solver.h>

enum { DIM = 2, N = 20, DEGREE = 1, NUM_ELEM = N * N, NODES = 4, MAX_THREADS = 5 };

// ---- Mass and Laplacian on a grid whose elements are numbered at random ----

static int create_restriction(Ceed ceed, CeedElemRestriction *rstr) {
  CeedInt nodes[NUM_ELEM * NODES], offsets[NUM_ELEM * NODES], order[NUM_ELEM];
  const CeedInt num_nodes = grid_num_nodes(DIM, N, DEGREE);
  uint64_t seed = 9;

  grid_element_nodes(DIM, N, DEGREE, nodes);
  for (CeedInt e = 0; e < NUM_ELEM; e++) order[e] = e;
  for (CeedInt e = NUM_ELEM - 1; e > 0; e--) {
    const CeedInt other = (CeedInt)tap_integer(&seed, e + 1), swap = order[e];
    order[e] = order[other], order[other] = swap;
  }
  for (CeedInt i = 0; i < NUM_ELEM * NODES; i++) offsets[i] = nodes[order[i / NODES] * NODES + i % NODES];
  return CeedElemRestrictionCreate(ceed, NUM_ELEM, NODES, 1, 1, num_nodes, CEED_MEM_HOST, CEED_COPY_VALUES,
                                   offsets, rstr);
}

// Coordinates belong to elements: they need not fit.
static int create_operator(Ceed ceed, bool is_laplacian, CeedOperator *op) {
  double corners[NUM_ELEM * DIM * 4];
  const GridElements elements = {DIM, NUM_ELEM, corners};
  CeedElemRestriction rstr = NULL;
  CeedBasis basis = NULL;

  grid_corners(DIM, N, 0.15, corners);
  CeedCall(create_restriction(ceed, &rstr));
  CeedCall(CeedBasisCreateTensorH1Lagrange(ceed, DIM, 1, DEGREE + 1, DEGREE + 2, CEED_GAUSS, &basis));
  CeedCall(grid_create_operator(ceed, &elements, DEGREE + 2, is_laplacian, rstr, basis, op));
  CeedBasisDestroy(&basis);
  return CeedElemRestrictionDestroy(&rstr);
}

static void check_copies(CeedOperator op, int num_threads) {
  const RitzSchedule *schedule = ritz_cpu_tier(op)->schedule;

  CHECK(!schedule->copies == (num_threads == 1), "%d threads, %d rounds of %d batches", num_threads,
        (int)schedule->num_rounds, schedule->num_batches);
}

// ---- What is computed ----

enum { NUM_VECTORS = 3, NUM_RESULTS = NUM_VECTORS + 4, NUM_NODES = (N * DEGREE + 1) * (N * DEGREE + 1) };

// A u for several u, A u + A u, all of these at once, the diagonal.
typedef struct {
  double *values[NUM_RESULTS]; // owned
} Results;

static void results_free(Results *r) {
  for (int k = 0; k < NUM_RESULTS; k++) free(r->values[k]);
}

static int compute(CeedOperator op, Results *r) {
  Ceed ceed = CeedOperatorReturnCeed(op);
  CeedVector in[NUM_VECTORS], out[NUM_VECTORS];
  uint64_t seed = 3;

  for (int k = 0; k < NUM_VECTORS; k++) {
    double *u = reference_new_random(NUM_NODES, &seed);
    in[k] = reference_vector(ceed, NUM_NODES, u);
    CeedCall(CeedVectorCreate(ceed, NUM_NODES, &out[k]));
    CeedCall(CeedOperatorApply(op, in[k], out[k], CEED_REQUEST_IMMEDIATE));
    r->values[k] = reference_new_values(out[k]);
    free(u);
  }
  CeedCall(RitzOperatorApplyMany(op, NUM_VECTORS, in, out));
  for (int k = 0; k < NUM_VECTORS; k++) {
    double *many = reference_new_values(out[k]);
    const bool is_same = !memcmp(many, r->values[k], NUM_NODES * sizeof(*many));
    free(many);
    if (!is_same) return CEED_ERROR_MAJOR;
  }
  CeedCall(CeedOperatorApplyAdd(op, in[0], out[0], CEED_REQUEST_IMMEDIATE));
  r->values[NUM_VECTORS] = reference_new_values(out[0]);
  CeedCall(CeedOperatorLinearAssembleDiagonal(op, out[0], CEED_REQUEST_IMMEDIATE));
  r->values[NUM_VECTORS + 1] = reference_new_values(out[0]);
  CeedCall(CeedOperatorLinearAssembleAddDiagonal(op, out[1], CEED_REQUEST_IMMEDIATE));
  r->values[NUM_VECTORS + 2] = reference_new_values(out[1]);
  CeedCall(CeedOperatorApply(op, in[2], out[2], CEED_REQUEST_IMMEDIATE));
  r->values[NUM_VECTORS + 3] = reference_new_values(out[2]);
  for (int k = 0; k < NUM_VECTORS; k++) {
    CeedCall(CeedVectorDestroy(&in[k]));
    CeedCall(CeedVectorDestroy(&out[k]));
  }
  return CEED_ERROR_SUCCESS;
}

static void check_threads(int num_threads, Results *r) {
  Ceed ceed = thread_context(false, num_threads);
  CeedOperator op = NULL;
  Results again = {{NULL}};

  CHECK_OK(create_operator(ceed, true, &op));
  CHECK_OK(compute(op, r));
  CHECK_OK(compute(op, &again));
  check_copies(op, num_threads);
  for (int k = 0; k < NUM_RESULTS; k++)
    CHECK(!memcmp(r->values[k], again.values[k], NUM_NODES * sizeof(double)), "result %d differs", k);
  results_free(&again);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedDestroy(&ceed));
}

// A node has four elements, whose contributions are at most some times the entries of the diagonal.
TEST(results_are_those_of_one_thread_and_repeat) {
  Results one = {{NULL}};

  GEN_NEEDS_COMPILER();
  for (int threads = 1; threads <= MAX_THREADS && !tap_failed(); threads++) {
    Results r = {{NULL}};
    check_threads(threads, threads == 1 ? &one : &r);
    for (int k = 0; k < NUM_RESULTS && threads > 1 && !tap_failed(); k++)
      CHECK_NEAR(reference_distance(NUM_NODES, r.values[k], one.values[k]), 0,
                 100 * eps * reference_largest(NUM_NODES, one.values[k]), "%d threads, result %d", threads,
                 k);
    results_free(&r);
  }
  results_free(&one);
}

// ---- Merged conjugate gradients ----

// num iterations of one variant, with Jacobi and some entries held.
static int solve(Ceed ceed, CeedOperator op, RitzCGVariant variant, CeedInt num, double **values) {
  const int64_t held[] = {0, 1, 63, 64, 65, 127, 200, NUM_NODES - 1};
  RitzCGVariant used = RITZ_CG_AUTO;
  RitzSolver solver = NULL;
  CeedVector diagonal = NULL, x = NULL;
  uint64_t seed = 4;
  double *b = reference_new_random(NUM_NODES, &seed);
  CeedVector right = reference_vector(ceed, NUM_NODES, b);

  free(b);
  CeedCall(CeedVectorCreate(ceed, NUM_NODES, &diagonal));
  CeedCall(CeedOperatorLinearAssembleDiagonal(op, diagonal, CEED_REQUEST_IMMEDIATE));
  CeedCall(CeedVectorCreate(ceed, NUM_NODES, &x));
  CeedCall(CeedVectorSetValue(x, (CeedScalar)0.25));
  CeedCall(RitzSolverCreateCG(ceed, &solver));
  CeedCall(RitzSolverSetOperator(solver, op));
  CeedCall(RitzSolverSetJacobi(solver, diagonal));
  CeedCall(RitzSolverSetConstraints(solver, sizeof(held) / sizeof(held[0]), held));
  CeedCall(RitzSolverSetVariant(solver, variant));
  CeedCall(RitzSolverSetTolerances(solver, 0, 0, num));
  CeedCall(RitzSolverSolve(solver, right, x));
  CeedCall(RitzSolverGetVariantUsed(solver, &used, NULL));
  *values = reference_new_values(x);
  CeedCall(CeedVectorDestroy(&diagonal));
  CeedCall(CeedVectorDestroy(&right));
  CeedCall(CeedVectorDestroy(&x));
  CeedCall(RitzSolverDestroy(&solver));
  return used == variant ? CEED_ERROR_SUCCESS : CEED_ERROR_MAJOR;
}

// The mass matrix is well conditioned: rounding errors of a few iterates stay small.
static void check_merged(int num_threads) {
  static const CeedInt nums[] = {1, 2, 3, 8};
  Ceed ceed = thread_context(false, num_threads);
  CeedOperator op = NULL;

  CHECK_OK(create_operator(ceed, false, &op));
  for (size_t i = 0; i < sizeof(nums) / sizeof(nums[0]) && !tap_failed(); i++) {
    double *merged = NULL, *standard = NULL;

    CHECK_OK(solve(ceed, op, RITZ_CG_STANDARD, nums[i], &standard));
    CHECK_OK(solve(ceed, op, RITZ_CG_MERGED, nums[i], &merged));
    CHECK_NEAR(reference_distance(NUM_NODES, merged, standard), 0,
               5000 * eps * reference_largest(NUM_NODES, standard), "%d threads, %d iterations", num_threads,
               (int)nums[i]);
    free(merged);
    free(standard);
  }
  check_copies(op, num_threads);
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(CeedDestroy(&ceed));
}

TEST(merged_conjugate_gradients_have_the_iterates_of_the_standard_ones) {
  GEN_NEEDS_COMPILER();
  for (int threads = 1; threads <= MAX_THREADS && !tap_failed(); threads++) check_merged(threads);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(results_are_those_of_one_thread_and_repeat,
                        merged_conjugate_gradients_have_the_iterates_of_the_standard_ones));
}
