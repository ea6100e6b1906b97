// SPDX-License-Identifier: BSD-2-Clause
// What kernels have for CUDA alone, run without a GPU (tests/played-cuda.h): joins of neighbours, fences,
// votes and shuffles of warps, asynchronous copies, products of tensor cores, quotients, one share of an
// energy a warp, and solves that go ahead of what the host reads. Results are those of /cpu/self/ref. That
// NVIDIA's compiler takes the texts: test-nvrtc-kernels.c; that its hardware does what is assumed here:
// tools/gpu-check.
#include <ritz/operator.h>
#include <ritz/solver.h>

#include <ceed/backend.h>

#include "backends/gpu/gpu.h"
#include "backends/gpu/kernel.h"
#include "tests/geometry-problem.h"
#include "tests/gpu-kit.h"
#include "tests/grid.h"
#include "tests/kernels-ahead.h"
#include "tests/played-cuda.h"
#include "tests/random-operator.h"

// ---- The player itself ----

// Thread t gives what thread t + 1 has, by shared memory, by a shuffle, by a vote, by a copy.
static const char exchanging[] =
    "RITZ_KERNEL(64) by_memory(CeedScalar *y) {\n"
    "  RITZ_SHARED_ARRAY CeedScalar a[64];\n"
    "  a[RITZ_THREAD] = (CeedScalar)RITZ_ITEM;\n  RITZ_BARRIER();\n"
    "  y[RITZ_ITEM] = a[(RITZ_THREAD + 1) % 64];\n}\n"
    "RITZ_KERNEL(64) by_shuffle(CeedScalar *y) {\n"
    "  y[RITZ_ITEM] = __shfl_down_sync(0xffffffffu, (CeedScalar)RITZ_ITEM, 1);\n}\n"
    "RITZ_KERNEL(64) by_vote(CeedScalar *y) {\n"
    "  y[RITZ_ITEM] = (CeedScalar)__ballot_sync(0xffffffffu, RITZ_THREAD % 32 < 3);\n}\n";

// Half of each warp at a barrier, half at a fence; a fence for threads that are elsewhere; a write beyond
// what the launch has asked for.
static const char wrong[] = "RITZ_KERNEL(64) at_a_barrier(CeedScalar *y) {\n"
                            "  if (RITZ_THREAD % 32 < 16) RITZ_BARRIER();\n  else RITZ_FENCE(0xffffffffu);\n"
                            "  y[RITZ_ITEM] = 0;\n}\n"
                            "RITZ_KERNEL(32) at_a_fence(CeedScalar *y) {\n"
                            "  if (RITZ_THREAD < 16) RITZ_FENCE(0xffffffffu);\n  y[RITZ_ITEM] = 0;\n}\n"
                            "RITZ_KERNEL(32) beyond(CeedScalar *y) {\n"
                            "  RITZ_SHARED_MEMORY(m, 1);\n  m[RITZ_THREAD] = 1;\n  y[RITZ_ITEM] = m[0];\n}\n";

// A kernel of two blocks that fills y [128].
static int run_text(Ceed ceed, const char *text, const char *kernel, int block_size, CeedScalar *y) {
  RitzDeviceArg arg = {.kind = RITZ_ARG_POINTER};
  RitzGpuKernel made = {0};
  int ierr = ritz_gpu_kernel_describe(ceed, &(RitzGpuText){.name = "text", .num = 1, .texts = {text}}, &made);

  arg.value.p = y;
  if (!ierr) ierr = ritz_gpu_launch(ceed, &made, kernel, 2, block_size, 0, 1, &arg);
  ritz_gpu_kernel_release(ceed, &made);
  return ierr;
}

TEST(played_threads_exchange_what_the_language_says) {
  CeedScalar y[128];

  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_shared_backend, SM_90);
  CHECK_OK(run_text(ceed, exchanging, "by_memory", 64, y));
  for (int i = 0; i < 128; i++) CHECK(y[i] == i / 64 * 64 + (i + 1) % 64, "by memory: %d", i);
  CHECK_OK(run_text(ceed, exchanging, "by_shuffle", 64, y));
  for (int i = 0; i < 128; i++) CHECK(y[i] == (i % 32 == 31 ? i : i + 1), "by shuffle: %d", i);
  CHECK_OK(run_text(ceed, exchanging, "by_vote", 64, y));
  for (int i = 0; i < 128; i++) CHECK(y[i] == 7, "by vote: %d", i);
  CeedDestroy(&ceed);
}

TEST(played_threads_that_wait_in_vain_and_writes_beyond_memory_are_errors) {
  CeedScalar y[128];

  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_shared_backend, SM_90);
  CHECK_ERROR(ceed, run_text(ceed, wrong, "at_a_barrier", 64, y), CEED_ERROR_BACKEND, "do not come");
  CHECK_ERROR(ceed, run_text(ceed, wrong, "at_a_fence", 32, y), CEED_ERROR_BACKEND, "do not come");
  CHECK_ERROR(ceed, run_text(ceed, wrong, "beyond", 32, y), CEED_ERROR_BACKEND, "beyond");
  CeedDestroy(&ceed);
}

// ---- Quotients ----

// From a reciprocal of 20 bits; numbers of all sizes that Jacobians have.
TEST(quotients_are_good_to_two_units_in_the_last_place) {
  static const char text[] =
      "RITZ_KERNEL(64) quotients(CeedScalar *y) {\n"
      "  y[RITZ_ITEM] = RITZ_QUOTIENT((CeedScalar)(1 + RITZ_ITEM), (CeedScalar)(RITZ_ITEM * "
      "RITZ_ITEM * RITZ_ITEM) - (CeedScalar)0.3);\n}\n";
  const RitzGpuText parts = {
      .name = "text", .num = 2, .texts = {ritz_gpu_template("kernels/gpu/qfunction.h"), text}};
  CeedScalar y[128];
  RitzDeviceArg arg = {.kind = RITZ_ARG_POINTER};
  RitzGpuKernel kernel = {0};

  NEEDS_COROUTINES();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("quotients of single precision are divisions");
  Ceed ceed = played_open(&ritz_cuda_shared_backend, SM_90);
  arg.value.p = y;
  CHECK_OK(ritz_gpu_kernel_describe(ceed, &parts, &kernel));
  CHECK_OK(ritz_gpu_launch(ceed, &kernel, "quotients", 2, 64, 0, 1, &arg));
  ritz_gpu_kernel_release(ceed, &kernel);
  CeedDestroy(&ceed);
  for (int i = 0; i < 128; i++) {
    const double wanted = (1 + i) / (double)((CeedScalar)i * i * i - (CeedScalar)0.3);
    CHECK_NEAR((double)y[i], wanted, 2 * eps * fabs(wanted), "%d", i);
  }
}

// ---- Chains of elements ----

// y = A x, or the diagonal; `words`: what the text of the apply has.
static int evaluate(Ceed ceed, const ChainShape *s, const double *x, const char *words, bool *has_words,
                    double *y) {
  const char *source = "";
  Chain c;
  int ierr = chain_create(ceed, s, &c);

  if (!ierr) ierr = apply_to_values(c.op, c.size, x, y);
  if (!ierr && words) ierr = RitzOperatorGetSource(c.op, &source);
  if (words) *has_words = strstr(source, words) != NULL;
  chain_destroy(&c);
  return ierr;
}

static void check_chain(Ceed ceed, const ChainShape *s, const char *words) {
  const CeedSize size = chain_size(s);
  uint64_t seed = 7;
  double *x = reference_new_random(size, &seed), *y = reference_new(size), *wanted = reference_new(size);
  Ceed reference = tap_ceed("/cpu/self/ref");
  bool has_words = true;
  int ierr = evaluate(ceed, s, x, words, &has_words, y);
  if (!ierr) ierr = evaluate(reference, s, x, NULL, NULL, wanted);
  const double error = reference_distance(size, y, wanted), tolerance = chain_tolerance(s, wanted);

  CeedDestroy(&reference);
  free(x);
  free(y);
  free(wanted);
  CHECK_OK(ierr);
  CHECK(has_words, "%dD, %d nodes, %d points: no '%s' in the text", (int)s->dim, (int)s->P_1d, (int)s->Q_1d,
        words);
  CHECK(error <= tolerance, "%dD, %d nodes, %d points: off by %g, allowed %g", (int)s->dim, (int)s->P_1d,
        (int)s->Q_1d, error, tolerance);
}

// Mass of n^dim elements of a box, whose neighbours along the first direction share nodes at the ends of
// rows.
static int apply_on_box(Ceed ceed, CeedInt dim, CeedInt n, CeedInt Q_1d, bool *joins, double **y) {
  const CeedInt num_elem = CeedIntPow(n, dim), Q = CeedIntPow(Q_1d, dim), size = grid_num_nodes(dim, n, 1);
  const ChainShape s = {.dim = dim, .num_elem = num_elem, .P_1d = 2, .Q_1d = Q_1d, .seed = 5};
  const char *source = "";
  uint64_t seed = 8;
  double *x = reference_new_random(size, &seed);
  Chain c = {.size = size};
  int ierr = grid_create_restriction(ceed, dim, n, 1, 1, &c.rstr);

  if (!ierr)
    ierr = CeedElemRestrictionCreateStrided(ceed, num_elem, Q, 1, (CeedSize)num_elem * Q,
                                            (CeedInt[]){1, Q, Q}, &c.rstr_q);
  if (!ierr) ierr = CeedBasisCreateTensorH1Lagrange(ceed, dim, 1, 2, Q_1d, CEED_GAUSS, &c.basis);
  if (!ierr) ierr = chain_create_qdata(ceed, &s, 1, &c);
  if (!ierr) ierr = chain_create_operator(ceed, &s, &c);
  *y = reference_new(size);
  if (!ierr) ierr = apply_to_values(c.op, size, x, *y);
  if (!ierr && joins) ierr = RitzOperatorGetSource(c.op, &source);
  if (joins) *joins = strstr(source, "ritz_scatter_joined(") != NULL;
  chain_destroy(&c);
  free(x);
  return ierr;
}

static void check_box(Ceed ceed, CeedInt dim, CeedInt n, CeedInt Q_1d) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  const CeedSize size = grid_num_nodes(dim, n, 1);
  double *y = NULL, *wanted = NULL;
  bool joins = false;
  int ierr = apply_on_box(ceed, dim, n, Q_1d, &joins, &y);
  if (!ierr) ierr = apply_on_box(reference, dim, n, Q_1d, NULL, &wanted);
  CHECK_OK(ierr);
  const double error = reference_distance(size, y, wanted), largest = reference_largest(size, wanted);

  CeedDestroy(&reference);
  free(y);
  free(wanted);
  CHECK(joins, "%dD: neighbours are not joined", (int)dim);
  // 2^dim elements add to a node, each a sum over nodes and points of dim directions.
  CHECK(error <= 100 * eps * 8 * dim * (2 + Q_1d) * largest, "%dD: off by %g of %g", (int)dim, error,
        largest);
}

// Warps that are full and one that is not; rows of the box that end within a warp.
TEST(neighbours_add_the_nodes_that_they_share_together) {
  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  check_box(ceed, 2, 9, 3);
  if (!tap_failed()) check_box(ceed, 3, 4, 2);
  if (!tap_failed()) check_box(ceed, 3, 5, 3);
  CeedDestroy(&ceed);
}

TEST(lines_in_the_memory_of_a_block_are_those_of_the_reference) {
  static const ChainShape shapes[] = {
      {.dim = 2, .num_elem = 7, .P_1d = 4, .Q_1d = 5, .is_diffusion = true},
      {.dim = 3, .num_elem = 5, .P_1d = 5, .Q_1d = 6, .is_diffusion = true},
      {.dim = 3, .num_elem = 3, .P_1d = 4, .Q_1d = 4, .is_diffusion = true, .quad_mode = CEED_GAUSS_LOBATTO},
      {.dim = 3, .num_elem = 3, .P_1d = 3, .Q_1d = 4, .num_comp = 3},
  };

  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && !tap_failed(); i++)
    check_chain(ceed, &shapes[i], "RITZ_BARRIER();");
  CeedDestroy(&ceed);
}

// Without the instruction, a quarter of the product in one, the product in one.
TEST(tensor_cores_multiply_as_the_reference_on_three_architectures) {
  static const ChainShape shapes[] = {
      {.dim = 3, .num_elem = 3, .P_1d = 7, .Q_1d = 8, .is_diffusion = true},
      {.dim = 3, .num_elem = 3, .P_1d = 4, .Q_1d = 7, .is_diffusion = true},
      {.dim = 2, .num_elem = 5, .P_1d = 8, .Q_1d = 8, .is_diffusion = true, .quad_mode = CEED_GAUSS_LOBATTO},
  };
  const size_t num = tap_level() > TAP_QUICK ? 3 : 1;

  NEEDS_COROUTINES();
  if (sizeof(CeedScalar) != sizeof(double)) SKIP("tensor cores multiply doubles only");
  setenv("RITZ_GPU_MMA", "on", 1);
  for (int device = 0; device < NUM_PLAYED && !tap_failed(); device++) {
    Ceed ceed = played_open(&ritz_cuda_gen_backend, device);

    for (size_t i = 0; i < num && !tap_failed(); i++) check_chain(ceed, &shapes[i], "_mma(RITZ_L(");
    CeedDestroy(&ceed);
  }
  unsetenv("RITZ_GPU_MMA");
}

// ---- Geometry ----

// Nodes of 2^3 elements, moved a little; the same numbers in every context.
static int set_geometry(const GeometryProblem *p) {
  CeedScalar *array = NULL;
  CeedSize length = 0;
  uint64_t seed = 3;

  CeedCall(CeedVectorGetArrayWrite(p->x, CEED_MEM_HOST, &array));
  for (CeedInt k = 0; k < 27; k++)
    for (CeedInt d = 0; d < 3; d++)
      array[3 * k + d] = (CeedScalar)((d == 0   ? k % 3
                                       : d == 1 ? k / 3 % 3
                                                : k / 9) +
                                      0.1 * tap_uniform(&seed));
  CeedCall(CeedVectorRestoreArray(p->x, &array));
  CeedCall(CeedVectorGetLength(p->u, &length));
  CeedCall(CeedVectorGetArrayWrite(p->u, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)tap_uniform(&seed);
  return CeedVectorRestoreArray(p->u, &array);
}

static int apply_geometry(Ceed ceed, const GeometryShape *s, const char **source, double **y) {
  GeometryProblem p;
  static char text[400000];
  int ierr = geometry_create(ceed, s, &p);

  if (!ierr) ierr = set_geometry(&p);
  if (!ierr) ierr = CeedOperatorApply(p.op, p.u, p.v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) *y = reference_new_values(p.v);
  if (!ierr && source) ierr = RitzOperatorGetSource(p.op, source);
  if (!ierr && source) snprintf(text, sizeof(text), "%s", *source), *source = text;
  geometry_destroy(&p);
  return ierr;
}

static void check_geometry(Ceed ceed, const GeometryShape *s, const char *words) {
  Ceed reference = tap_ceed("/cpu/self/ref");
  const char *source = "";
  double *y = NULL, *wanted = NULL;
  int ierr = apply_geometry(ceed, s, &source, &y);
  if (!ierr) ierr = apply_geometry(reference, s, NULL, &wanted);
  CHECK_OK(ierr);
  const CeedSize size = (CeedSize)(2 * s->order + 1) * (2 * s->order + 1) * (2 * s->order + 1);
  const double error = reference_distance(size, y, wanted);
  // Sums over nodes and points of three directions, and Jacobians near the identity.
  const double tolerance = 200 * eps * 3 * (2 * s->order + 3) * reference_largest(size, wanted);
  free(y);
  free(wanted);
  CeedDestroy(&reference);
  CHECK(strstr(source, words), "BP%d of degree %d: no '%s' in the text", s->bp, (int)s->order, words);
  CHECK(error <= tolerance, "BP%d of degree %d: off by %g, allowed %g", s->bp, (int)s->order, error,
        tolerance);
}

TEST(fences_keep_points_apart_where_geometry_is_computed) {
  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  check_geometry(ceed, &(GeometryShape){3, 1, false}, "RITZ_FENCE(mask)");
  if (!tap_failed()) check_geometry(ceed, &(GeometryShape){3, 4, false}, "RITZ_FENCE(mask)");
  CeedDestroy(&ceed);
}

// ---- Random operators ----

static void check_random(Ceed ceed, uint64_t seed) {
  const RandomOptions options = {
      .num_active_in = 1, .num_active_out = 1, .is_tensor = seed % 4 != 0, .in_batches = true};
  RandomOperator r;
  CeedVector in = NULL, out = NULL;
  int ierr = random_operator_create(ceed, &options, &seed, &r);
  double *x = reference_new_random(r.input_size, &seed), *y = reference_new(r.output_size);
  double *wanted = reference_new(r.output_size),
         tolerance = random_target_apply(&r, &r.targets[0], x, wanted);

  if (!ierr) in = reference_vector(ceed, r.input_size, x);
  if (!ierr) ierr = CeedVectorCreate(ceed, r.output_size, &out);
  if (!ierr) ierr = CeedOperatorApply(r.op, in, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(out, y);
  const double error = reference_distance(r.output_size, y, wanted);
  tap_check(!ierr && error <= tolerance, __FILE__, __LINE__, "the result is that of the matrix",
            "code %d, off by %g, allowed %g: %s", ierr, error, tolerance, random_operator_describe(&r));
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  random_operator_destroy(&r);
  free(x);
  free(y);
  free(wanted);
}

enum { MANY = 3 };

// Outputs of MANY vectors at once, and of each alone.
static int apply_many(const RandomOperator *r, uint64_t *seed, CeedVector in[MANY], CeedVector out[2][MANY]) {
  for (int k = 0; k < MANY; k++) {
    double *x = reference_new_random(r->input_size, seed);
    in[k] = reference_vector(r->ceed, r->input_size, x);
    free(x);
    for (int way = 0; way < 2; way++) CeedCall(CeedVectorCreate(r->ceed, r->output_size, &out[way][k]));
    CeedCall(CeedOperatorApply(r->op, in[k], out[0][k], CEED_REQUEST_IMMEDIATE));
  }
  return RitzOperatorApplyMany(r->op, MANY, in, out[1]);
}

static void check_many(Ceed ceed, uint64_t seed) {
  const RandomOptions options = {
      .num_elem = 11, .is_symmetric = true, .is_tensor = seed % 2, .in_batches = true};
  RandomOperator r;
  CeedVector in[MANY] = {NULL}, out[2][MANY] = {{NULL}};
  int ierr = random_operator_create(ceed, &options, &seed, &r);
  if (!ierr) ierr = apply_many(&r, &seed, in, out);
  for (int k = 0; k < MANY; k++) {
    double *one = reference_new_values(out[0][k]), *many = reference_new_values(out[1][k]);
    const double error = reference_distance(r.output_size, one, many),
                 tolerance = 2000 * eps * reference_largest(r.output_size, one);
    tap_check(!ierr && error <= tolerance, __FILE__, __LINE__, "each vector has its own result",
              "code %d, vector %d is off by %g, allowed %g: %s", ierr, k, error, tolerance,
              random_operator_describe(&r));
    free(one);
    free(many);
    CeedVectorDestroy(&in[k]);
    for (int way = 0; way < 2; way++) CeedVectorDestroy(&out[way][k]);
  }
  random_operator_destroy(&r);
}

TEST(several_vectors_have_results_of_their_own) {
  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  for (uint64_t seed = 6500; seed < 6503 && !tap_failed(); seed++) check_many(ceed, seed);
  CeedDestroy(&ceed);
}

TEST(random_operators_are_their_matrices) {
  static const int num[] = {8, 40, 400};

  NEEDS_COROUTINES();
  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    Ceed ceed = played_open(i % 4 == 3 ? &ritz_cuda_shared_backend : &ritz_cuda_gen_backend, i % NUM_PLAYED);

    check_random(ceed, 6000 + (uint64_t)i);
    CeedDestroy(&ceed);
  }
}

// ---- Conjugate gradients ----

// A mass of coefficients between 1 and 2, and a right-hand side, the same in every context.
static int create_system(Ceed ceed, const ChainShape *s, Chain *c, CeedVector *b, CeedVector *x) {
  CeedScalar *array = NULL;
  CeedSize length = 0;
  uint64_t seed = 5;

  CeedCall(chain_create(ceed, s, c));
  CeedCall(CeedVectorGetLength(c->qdata, &length));
  CeedCall(CeedVectorGetArrayWrite(c->qdata, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < length; i++) array[i] = (CeedScalar)(1.5 + 0.5 * tap_uniform(&seed));
  CeedCall(CeedVectorRestoreArray(c->qdata, &array));
  double *values = reference_new_random(c->size, &seed);
  *b = reference_vector(ceed, c->size, values);
  free(values);
  CeedCall(CeedVectorCreate(ceed, c->size, x));
  return CeedVectorSetValue(*x, 0);
}

enum { NUM_ITERATIONS = 10 };

static int solve(Ceed ceed, const ChainShape *s, double *solution, CeedInt *iterations) {
  Chain c = {0};
  CeedVector b = NULL, x = NULL;
  RitzSolver solver = NULL;
  int ierr = create_system(ceed, s, &c, &b, &x);

  if (!ierr) ierr = RitzSolverCreateCG(ceed, &solver);
  if (!ierr) ierr = RitzSolverSetOperator(solver, c.op);
  if (!ierr) ierr = RitzSolverSetVariant(solver, RITZ_CG_MERGED);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 0, 0, NUM_ITERATIONS);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetIterations(solver, iterations);
  if (!ierr) reference_values(x, solution);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  chain_destroy(&c);
  return ierr;
}

// Iterates after ten steps, which differ by rounding; condition numbers are below a hundred.
static void check_solve(Ceed ceed, const ChainShape *s) {
  const CeedSize size = chain_size(s);
  double *x = reference_new(size), *wanted = reference_new(size);
  CeedInt iterations = 0, wanted_iterations = 0;
  Ceed host = tap_ceed("/cpu/self/gen");
  int ierr = solve(ceed, s, x, &iterations);
  if (!ierr) ierr = solve(host, s, wanted, &wanted_iterations);
  const double error = reference_distance(size, x, wanted), largest = reference_largest(size, wanted);

  CeedDestroy(&host);
  free(x);
  free(wanted);
  CHECK_OK(ierr);
  CHECK(iterations == NUM_ITERATIONS && wanted_iterations == iterations, "%d and %d iterations",
        (int)iterations, (int)wanted_iterations);
  CHECK(error <= 1e5 * eps * largest, "off by %g of %g", error, largest);
}

TEST(energies_of_warps_and_products_ahead_give_the_iterates_of_the_host) {
  static const ChainShape shapes[] = {
      {.dim = 3, .num_elem = 37, .P_1d = 2, .Q_1d = 2, .seed = 1}, // whole elements: warps that are not full
      {.dim = 2, .num_elem = 11, .P_1d = 4, .Q_1d = 5, .seed = 1},
  };

  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  memset(&played, 0, sizeof(played));
  for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && !tap_failed(); i++)
    check_solve(ceed, &shapes[i]);
  CeedDestroy(&ceed);
  CHECK(played.num_ahead >= 2 * NUM_ITERATIONS, "%d launches before the host has read", played.num_ahead);
}

TEST(all_programs_of_a_solve_are_begun_before_their_first_use) {
  NEEDS_COROUTINES();
  Ceed ceed = played_open(&ritz_cuda_gen_backend, SM_90);
  ahead_check(ceed, RITZ_SMOOTHER_JACOBI);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  setenv("RITZ_CACHE", "off", 1); // what is compiled is a path in this process's folder
  return tap_main(argc, argv,
                  TESTS(played_threads_exchange_what_the_language_says,
                        played_threads_that_wait_in_vain_and_writes_beyond_memory_are_errors,
                        quotients_are_good_to_two_units_in_the_last_place,
                        neighbours_add_the_nodes_that_they_share_together,
                        lines_in_the_memory_of_a_block_are_those_of_the_reference,
                        tensor_cores_multiply_as_the_reference_on_three_architectures,
                        fences_keep_points_apart_where_geometry_is_computed,
                        random_operators_are_their_matrices, several_vectors_have_results_of_their_own,
                        energies_of_warps_and_products_ahead_give_the_iterates_of_the_host,
                        all_programs_of_a_solve_are_begun_before_their_first_use));
}
