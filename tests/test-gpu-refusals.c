// SPDX-License-Identifier: BSD-2-Clause
// A device compiler that refuses texts: every action of an operator, passes, batches and the dense solver,
// from the n-th text on and the n-th alone, for every n. The error says what does not compile and why, the
// object can be used when the compiler is back, and nothing is left. The device is played, and no GPU is
// needed (tests/nvrtc-kit.h).
#include <ritz/operator.h>
#include <ritz/solver.h>

#include "backends/gpu/gpu.h"
#include "bp/problem.h"
#include "core/batched.h"
#include "core/dense-solver.h"
#include "tests/nvrtc-kit.h"

// ---- A compiler that refuses ----

static int num_texts, first_refused, last_refused;

static int compile_some(Ceed ceed, RitzDevice device, const char *name, const char *text,
                        RitzDeviceCode *code) {
  const bool is_refused = ++num_texts >= first_refused && num_texts <= last_refused;
  (void)device, (void)name, (void)text;
  CeedCall(ritz_strdup(ceed, is_refused ? "part 1(3): error: refused by the test\n" : "", &code->log));
  code->num_bytes = !is_refused;
  return is_refused ? CEED_ERROR_SUCCESS : ritz_strdup(ceed, "", &code->bytes);
}

static void refuse(int first, int last) {
  num_texts = 0;
  first_refused = first;
  last_refused = last;
}

static RitzDriver refusing;

// Every context has a device of its own, on which nothing is loaded.
static int open_refusing(Ceed *ceed) {
  static struct RitzDevice_private used[400];
  static int num_used;

  refusing = played;
  refusing.compile = compile_some;
  used[num_used] = devices[0];
  is_dumping = true;
  CeedCall(open_context(&ritz_cuda_gen_backend, &used[num_used++], ceed));
  ritz_gpu(*ceed)->driver = &refusing;
  return CEED_ERROR_SUCCESS;
}

// ---- Actions ----

// A problem of the benchmarks; NULL operator: the action makes its own objects.
typedef struct {
  const char *name;
  int bp; // 0: none
  int (*act)(Ceed ceed, BpProblem *p);
} Action;

static int apply(Ceed ceed, BpProblem *p) {
  (void)ceed;
  return CeedOperatorApply(p->op, p->u, p->v, CEED_REQUEST_IMMEDIATE);
}

static int apply_separately(Ceed ceed, BpProblem *p) {
  CeedCall(RitzOperatorSetRoute(p->op, RITZ_OPERATOR_ROUTE_SEPARATE));
  return apply(ceed, p);
}

static int apply_many(BpProblem *p, CeedInt num) {
  CeedVector in[3] = {NULL}, out[3] = {NULL};
  int ierr = CEED_ERROR_SUCCESS;

  for (int k = 0; !ierr && k < num; k++) {
    ierr = CeedVectorCreate(p->ceed, p->op->input_size, &in[k]);
    if (!ierr) ierr = CeedVectorSetValue(in[k], 1);
    if (!ierr) ierr = CeedVectorCreate(p->ceed, p->op->output_size, &out[k]);
  }
  if (!ierr) ierr = RitzOperatorApplyMany(p->op, num, in, out);
  for (int k = 0; k < num; k++) {
    CeedVectorDestroy(&in[k]);
    CeedVectorDestroy(&out[k]);
  }
  return ierr;
}

static int apply_two(Ceed ceed, BpProblem *p) {
  (void)ceed;
  return apply_many(p, 2);
}

static int apply_three(Ceed ceed, BpProblem *p) {
  (void)ceed;
  return apply_many(p, 3);
}

static int assemble_diagonal(Ceed ceed, BpProblem *p) {
  (void)ceed;
  return CeedOperatorLinearAssembleDiagonal(p->op, p->v, CEED_REQUEST_IMMEDIATE);
}

static int assemble_blocks(Ceed ceed, BpProblem *p) {
  CeedVector blocks = NULL;

  CeedCall(CeedVectorCreate(ceed, 3 * p->op->output_size, &blocks));
  const int ierr = CeedOperatorLinearAssemblePointBlockDiagonal(p->op, blocks, CEED_REQUEST_IMMEDIATE);
  CeedVectorDestroy(&blocks);
  return ierr;
}

static int assemble_matrix(Ceed ceed, BpProblem *p) {
  CeedSize num;
  CeedInt *rows = NULL, *cols = NULL;
  CeedVector values = NULL;
  int ierr = CeedOperatorLinearAssembleSymbolic(p->op, &num, &rows, &cols);

  if (!ierr) ierr = CeedVectorCreate(ceed, num, &values);
  if (!ierr) ierr = CeedOperatorLinearAssemble(p->op, values);
  CeedVectorDestroy(&values);
  free(rows);
  free(cols);
  return ierr;
}

static int prepare(Ceed ceed, BpProblem *p) {
  const int wanted = RITZ_PREPARE_DIAGONAL;
  CeedCall(RitzOperatorsPrepare(1, &p->op, &wanted, false));
  CeedCall(apply(ceed, p));
  return assemble_diagonal(ceed, p);
}

static int solve(Ceed ceed, BpProblem *p) {
  RitzSolver solver = NULL;

  CeedCall(CeedVectorSetValue(p->u, 1));
  CeedCall(CeedVectorSetValue(p->v, 0));
  CeedCall(RitzSolverCreateCG(ceed, &solver));
  reads_ones = true; // no kernel has run
  int ierr = RitzSolverSetOperator(solver, p->op);
  if (!ierr) ierr = RitzSolverSetJacobi(solver, p->u);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, 0, 0, 1);
  if (!ierr) ierr = RitzSolverSolve(solver, p->u, p->v);
  reads_ones = false;
  RitzSolverDestroy(&solver);
  return ierr;
}

static int multiply_batch(Ceed ceed, BpProblem *p) {
  const RitzBatchLayout square = {.precision = CEED_SCALAR_TYPE, .m = 5, .n = 5};
  const RitzBatchedOptions options = {.A = square, .B = square, .C = square};
  const RitzBatchedCall call = {.count = 1, .alpha = 1, .is_uniform = true};
  RitzBatched batched = NULL;

  (void)p;
  CeedCall(RitzBatchedCreate(ceed, RITZ_BATCHED_GEMM, &options, &batched));
  const int ierr = batched->server->batched_run(batched, &call);
  return ierr | RitzBatchedDestroy(&batched);
}

static int solve_dense(Ceed ceed, BpProblem *p) {
  bool is_finite;
  RitzDenseSolver s;

  (void)p;
  CeedCall(RitzDenseSolverCreate(ceed, 96, &s));
  int ierr = s->methods->measure(s, &is_finite);
  if (!ierr) ierr = s->methods->load(s, true, 0);
  if (!ierr) ierr = s->methods->panel(s, 0, 32);
  if (!ierr) ierr = s->methods->solve(s, false, ritz_dense_vector(s, RITZ_DENSE_X));
  return ierr | RitzDenseSolverDestroy(&s);
}

static const Action actions[] = {
    {"apply", 3, apply},
    {"apply by separate kernels", 3, apply_separately},
    {"apply to two vectors", 3, apply_two},
    {"apply to three vectors", 3, apply_three},
    {"diagonal", 3, assemble_diagonal},
    {"point blocks", 4, assemble_blocks},
    {"matrix", 3, assemble_matrix},
    {"kernels ahead of their use", 3, prepare},
    {"conjugate gradients", 1, solve},
    {"batched product", 0, multiply_batch},
    {"dense solver", 0, solve_dense},
};
enum { NUM_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

// ---- The walk ----

static bool tells_why(Ceed ceed) {
  const char *message = NULL;
  if (CeedGetErrorMessage(ceed, &message)) return false;
  const bool is_told = strstr(message, " does not compile for sm_90: part 1(3): error: refused by the test");
  if (!is_told) tap_note("the message: %s", message);
  return is_told;
}

// With the texts first to last refused. *num: of texts that the action asks for.
static void act_refused(const Action *a, int first, int last, int *num) {
  BpResult sizes = {.options = {.bp = a->bp, .order = 2, .n = 2}};
  Ceed ceed;

  refuse(0, 0);
  CHECK_OK(open_refusing(&ceed));
  BpProblem p = {.ceed = ceed, .sizes = &sizes};
  if (a->bp) CHECK_OK(bp_choose_sizes(ceed, &sizes));
  if (a->bp) CHECK_OK(bp_problem_create(&p));
  if (a->bp) CHECK_OK(CeedVectorSetValue(p.u, 1));
  refuse(first, last);
  tap_forget_error(ceed);
  const int ierr = a->act(ceed, &p);
  *num = num_texts;
  // What was refused ahead of its use is compiled again by its use.
  CHECK(ierr || num_texts < first || last == first, "%s: refused from text %d on, of %d", a->name, first,
        num_texts);
  CHECK(!ierr || (num_texts >= first && tells_why(ceed)), "%s: error %d of text %d", a->name, ierr, first);
  refuse(0, 0);
  CHECK_OK(a->act(ceed, &p));
  if (a->bp) bp_problem_destroy(&p);
  CeedDestroy(&ceed);
}

TEST(a_refused_kernel_is_an_error_that_says_why_and_the_next_use_tries_again) {
  int num = 0, num_alone;

  setenv("RITZ_CACHE", "off", 1);
  for (int i = 0; i < NUM_ACTIONS && !tap_failed(); i++) {
    int first = 1;
    for (; !tap_failed(); first++) {
      act_refused(&actions[i], first, INT32_MAX, &num);
      if (tap_failed() || num < first) break;
      act_refused(&actions[i], first, first, &num_alone);
    }
    tap_note("%s: %d texts", actions[i].name, first - 1);
    CHECK(first > 1, "%s: no text is compiled", actions[i].name);
  }
  unsetenv("RITZ_CACHE");
}

int main(int argc, char **argv) {
  return tap_main(argc, argv, TESTS(a_refused_kernel_is_an_error_that_says_why_and_the_next_use_tries_again));
}
