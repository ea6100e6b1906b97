// SPDX-License-Identifier: BSD-2-Clause
// Conjugate gradients with preconditioners, standard and flexible: one method where the preconditioner is
// fixed, whichever way it is given; what ends a solve that a preconditioner spoils.
#include <ceed/backend.h>
#include <ritz/jit.h>

#include "base/threads.h"
#include "tests/dense-system.h"

enum { N = 24, STEPS = 10 };

typedef struct {
  int num;
  double residuals[STEPS + 1], x[N];
  int64_t num_programs[2]; // asked for until the first residual was known, and until the last one was
  RitzSolverReason reason;
  RitzCGVariant used;
  const char *used_reason;
} Run;

// Also by threads beside, which must have ended to be counted.
static int64_t num_programs(void) {
  RitzJitCounters counters = {0};
  ritz_tasks_wait();
  (void)RitzJitGetCounters(&counters);
  return counters.compilations + counters.disk_hits + counters.memory_hits;
}

static int record(void *ctx, CeedInt iteration, double residual, bool *stop) {
  Run *run = ctx;
  (void)stop;
  if (iteration != run->num || iteration > STEPS) return CEED_ERROR_MAJOR;
  run->num_programs[iteration > 0] = num_programs();
  run->residuals[run->num++] = residual;
  return CEED_ERROR_SUCCESS;
}

// How the preconditioner is given: as a diagonal, or as a function.
typedef struct {
  RitzSolverType type;
  CeedVector diagonal;   // NULL: none
  RitzPreconditioner pc; // NULL: none
  RitzCGVariant variant;
} Way;

static int prepare(RitzSolver solver, Dense *a, const Way *way, Run *run) {
  CeedCall(RitzSolverSetApply(solver, dense_apply, a));
  if (way->diagonal) CeedCall(RitzSolverSetJacobi(solver, way->diagonal));
  if (way->pc) CeedCall(RitzSolverSetPreconditioner(solver, way->pc));
  CeedCall(RitzSolverSetVariant(solver, way->variant));
  CeedCall(RitzSolverSetMonitor(solver, record, run));
  return RitzSolverSetTolerances(solver, 0, 0, STEPS);
}

// From a guess of ones.
static int run_way(Ceed ceed, Dense *a, const double *b, const Way *way, Run *run) {
  double ones[N];
  RitzSolver solver = NULL;
  *run = (Run){.num = 0};
  for (int i = 0; i < N; i++) ones[i] = 1;
  CeedVector rhs = dense_vector(ceed, N, b), x = dense_vector(ceed, N, ones);
  int ierr = RitzSolverCreate(ceed, way->type, &solver);

  if (!ierr) ierr = prepare(solver, a, way, run);
  if (!ierr) ierr = RitzSolverSolve(solver, rhs, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &run->reason);
  if (!ierr) ierr = RitzSolverGetVariantUsed(solver, &run->used, &run->used_reason);
  if (!ierr) ierr = dense_get(x, N, run->x);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&rhs);
  CeedVectorDestroy(&x);
  return ierr;
}

// A matrix with eigenvalues in [1, 20] and a diagonal of a size of its own, right-hand side.
static void make_problem(Dense *a, double *b, double *d) {
  uint64_t seed = 21;
  dense_spread(a, N, 1, 20, 20);
  for (int i = 0; i < N; i++) {
    b[i] = tap_uniform(&seed);
    d[i] = 3 + 2 * tap_uniform(&seed);
  }
}

static void fill_inverse(Dense *p, const double *d, double factor) {
  *p = (Dense){.n = N};
  for (int i = 0; i < N; i++) p->a[i][i] = factor / d[i];
}

TEST_EACH_BACKEND(fixed_preconditioners_give_the_same_iterates_whichever_way_they_are_given) {
  double b[N], d[N];
  RitzPreconditioner pc = NULL;
  Dense a, p;
  Run first, run;
  make_problem(&a, b, d);
  fill_inverse(&p, d, 1);
  CeedVector diagonal = dense_vector(ceed, N, d);
  CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));
  const Way ways[] = {{RITZ_SOLVER_CG, diagonal, NULL, RITZ_CG_AUTO},
                      {RITZ_SOLVER_CG, NULL, pc, RITZ_CG_AUTO},
                      {RITZ_SOLVER_FLEXIBLE_CG, diagonal, NULL, RITZ_CG_AUTO},
                      {RITZ_SOLVER_FLEXIBLE_CG, NULL, pc, RITZ_CG_AUTO}};

  CHECK_OK(run_way(ceed, &a, b, &ways[0], &first));
  CHECK(first.num == STEPS + 1 && first.residuals[STEPS] < 0.1 * first.residuals[0], "%d steps to %g",
        first.num - 1, first.residuals[first.num - 1]);
  for (int w = 1; w < 4; w++) {
    CHECK_OK(run_way(ceed, &a, b, &ways[w], &run));
    CHECK(run.reason == RITZ_DIVERGED_MAX_IT && run.num == first.num, "way %d: %s", w,
          RitzSolverReasonName(run.reason));
    // Rounding of each step is magnified by the condition number, 20 times 5, at most.
    for (int k = 0; k <= STEPS; k++)
      CHECK_NEAR(run.residuals[k], first.residuals[k], 1e4 * dense_eps * first.residuals[0],
                 "way %d: residual %d", w, k);
    CHECK_NEAR(dense_distance(N, run.x, first.x), 0, 1e4 * dense_eps * dense_norm(N, first.x), "way %d", w);
  }
  CeedVectorDestroy(&diagonal);
  RitzPreconditionerDestroy(&pc);
}

static int create_single_diagonal(Ceed ceed, const double *d, RitzPreconditioner *pc) {
  CeedVector full = dense_vector(ceed, N, d), diagonal = NULL;
  int ierr = RitzVectorCreate(ceed, N, CEED_SCALAR_FP32, &diagonal);

  if (!ierr) ierr = RitzVectorConvert(full, diagonal);
  if (!ierr) ierr = RitzPreconditionerCreateJacobi(ceed, diagonal, NULL, pc);
  CeedVectorDestroy(&full);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

// A and b times a power of two change the residuals by it and nothing else, far beyond the range of floats.
// The inverse of A in float brings a residual down to the rounding of floats in each step, whatever its size.
TEST_EACH_BACKEND(preconditioners_in_float_serve_residuals_of_any_size) {
  if (sizeof(CeedScalar) == 4) NOT_HERE("there is one precision");
  double b[N], d[N];
  uint64_t seed = 23;
  RitzPreconditioner pc = NULL;
  Run first = {.num = 0}, run;
  for (int i = 0; i < N; i++) d[i] = 3 + 2 * tap_uniform(&seed);
  CHECK_OK(create_single_diagonal(ceed, d, &pc));

  const int exponents[] = {0, -300, 300};
  for (int e = 0; e < 3; e++) {
    Dense a = {.n = N};
    for (int i = 0; i < N; i++) a.a[i][i] = ldexp(d[i], exponents[e]), b[i] = ldexp(i - 7, exponents[e]);
    CHECK_OK(run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_FLEXIBLE_CG, .pc = pc}, &run));
    if (e == 0) first = run;
    CHECK(run.num == first.num && run.reason == first.reason, "times 2^%d: %d residuals, %s", exponents[e],
          run.num, RitzSolverReasonName(run.reason));
    for (int k = 0; k < run.num; k++) {
      CHECK(run.residuals[k] == ldexp(first.residuals[k], exponents[e]), "times 2^%d: residual %d is %g",
            exponents[e], k, run.residuals[k]);
      if (k > 0) {
        CHECK(run.residuals[k] <= 8 * 0x1p-23 * run.residuals[k - 1], "residual %d is %g after %g", k,
              run.residuals[k], run.residuals[k - 1]);
      }
    }
    CHECK(!memcmp(run.x, first.x, sizeof(run.x)), "times 2^%d: another solution", exponents[e]);
  }
  for (int i = 0; i < N; i++) CHECK_NEAR(first.x[i], (i - 7) / d[i], 10 * dense_eps, "entry %d", i);
  RitzPreconditionerDestroy(&pc);
}

// Kernels of devices are made before the first iteration, also where no other solve has made them.
TEST_EACH_BACKEND(iterations_ask_for_no_programs) {
  const bool has_two = sizeof(CeedScalar) == 8;
  double b[N], d[N];
  Dense a, p;
  make_problem(&a, b, d);
  fill_inverse(&p, d, 1);

  for (int w = 0; w < (has_two ? 6 : 4); w++) {
    const char *resource = NULL;
    CHECK_OK(CeedGetResource(ceed, &resource));
    Ceed fresh = tap_ceed(resource);
    const RitzSolverType type = w % 2 ? RITZ_SOLVER_FLEXIBLE_CG : RITZ_SOLVER_CG;
    CeedVector diagonal = w == 2 ? dense_vector(fresh, N, d) : NULL;
    RitzPreconditioner pc = NULL;
    Run run;
    if (w == 0 || w == 1)
      CHECK_OK(RitzPreconditionerCreate(fresh, N, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));
    if (w >= 4) CHECK_OK(create_single_diagonal(fresh, d, &pc));
    if (w >= 4) { // what it asks for itself
      CeedVector r = dense_vector(fresh, N, b), z = dense_vector(fresh, N, NULL);
      CHECK_OK(RitzPreconditionerApply(pc, r, z));
      CeedVectorDestroy(&r);
      CeedVectorDestroy(&z);
    }
    CHECK_OK(run_way(fresh, &a, b, &(Way){type, diagonal, pc, RITZ_CG_STANDARD}, &run));
    CHECK(run.num == STEPS + 1 && run.num_programs[1] == run.num_programs[0],
          "way %d: %lld programs in %d iterations", w, (long long)(run.num_programs[1] - run.num_programs[0]),
          run.num - 1);
    CeedVectorDestroy(&diagonal);
    RitzPreconditionerDestroy(&pc);
    CeedDestroy(&fresh);
  }
}

// Takes turns between two diagonals: no fixed matrix.
typedef struct {
  Dense p[2];
  int num_calls;
} Turns;

static int take_turns(void *ctx, CeedVector r, CeedVector z) {
  Turns *turns = ctx;
  return dense_apply(&turns->p[turns->num_calls++ % 2], r, z);
}

// Directions of the flexible method are conjugate to their predecessor: p_k . A p_k-1 = 0, so that the error
// in the energy norm falls in every step at least as fast as by steepest descent, by (k - 1) / (k + 1).
TEST(changing_preconditioners_let_the_flexible_method_converge) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  double b[N], d[N], x[N];
  RitzPreconditioner pc = NULL;
  Turns turns = {.num_calls = 0};
  Dense a;
  Run run;
  make_problem(&a, b, d);
  fill_inverse(&turns.p[0], d, 1);
  for (int i = 0; i < N; i++) d[i] = 1 + i % 3;
  fill_inverse(&turns.p[1], d, 7);
  CHECK(dense_solve(&a, b, x), "singular");
  CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, take_turns, &turns, NULL, false, &pc));

  CHECK_ERROR(ceed, run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_CG, .pc = pc}, &run),
              CEED_ERROR_INCOMPATIBLE, "RITZ_SOLVER_FLEXIBLE_CG");
  CHECK_OK(run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_FLEXIBLE_CG, .pc = pc}, &run));
  double error[N], ae[N], energy[2] = {0, 0};
  for (int which = 0; which < 2; which++) {
    for (int i = 0; i < N; i++) error[i] = (which ? run.x[i] : 1) - x[i];
    dense_multiply(&a, error, ae);
    for (int i = 0; i < N; i++) energy[which] += error[i] * ae[i];
  }
  // The preconditioned matrices have condition numbers below 20 times 5: (99 / 101) a step.
  CHECK(sqrt(energy[1] / energy[0]) <= pow(99.0 / 101, STEPS), "the error fell to %g",
        sqrt(energy[1] / energy[0]));
  CHECK(turns.num_calls == STEPS, "%d calls", turns.num_calls);
  RitzPreconditionerDestroy(&pc);
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(wrong_preconditioners_end_a_solve_with_a_reason_and_keep_x) {
  const struct {
    double factor;
    RitzSolverReason reason;
  } wrong[] = {
      {-1, RITZ_DIVERGED_PRECONDITIONER}, {0, RITZ_DIVERGED_PRECONDITIONER}, {NAN, RITZ_DIVERGED_NAN}};
  double b[N], d[N];
  Dense a, p;
  make_problem(&a, b, d);

  for (int i = 0; i < 3; i++) {
    for (RitzSolverType type = RITZ_SOLVER_CG; type <= RITZ_SOLVER_FLEXIBLE_CG; type++) {
      RitzPreconditioner pc = NULL;
      Run run;
      fill_inverse(&p, d, wrong[i].factor);
      CHECK_OK(RitzPreconditionerCreate(ceed, N, CEED_SCALAR_TYPE, dense_apply, &p, NULL, true, &pc));
      CHECK_OK(run_way(ceed, &a, b, &(Way){.type = type, .pc = pc}, &run));
      CHECK(run.reason == wrong[i].reason && run.num == 1, "factor %g: %s after %d", wrong[i].factor,
            RitzSolverReasonName(run.reason), run.num - 1);
      // A step is taken, and back: of less than 50, which is rounded twice.
      for (int k = 0; k < N; k++) CHECK_NEAR(run.x[k], 1, 100 * dense_eps, "entry %d", k);
      RitzPreconditionerDestroy(&pc);
    }
  }
}

TEST(what_cannot_be_merged_is_refused_or_said) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  double b[N], d[N];
  Dense a;
  Run run;
  make_problem(&a, b, d);

  CHECK_ERROR(ceed, run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_CG, .variant = RITZ_CG_MERGED}, &run),
              CEED_ERROR_UNSUPPORTED, "function of the program");
  CHECK_ERROR(ceed,
              run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_FLEXIBLE_CG, .variant = RITZ_CG_MERGED}, &run),
              CEED_ERROR_UNSUPPORTED, "flexible");
  CHECK_OK(run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_FLEXIBLE_CG}, &run));
  CHECK(run.used == RITZ_CG_STANDARD && run.used_reason && strstr(run.used_reason, "flexible"), "%s",
        run.used_reason ? run.used_reason : "no reason");
  CHECK_OK(run_way(ceed, &a, b, &(Way){.type = RITZ_SOLVER_FLEXIBLE_CG, .variant = RITZ_CG_STANDARD}, &run));
  CHECK(run.used == RITZ_CG_STANDARD && !run.used_reason, "a reason that nobody asked for");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(fixed_preconditioners_give_the_same_iterates_whichever_way_they_are_given,
                        preconditioners_in_float_serve_residuals_of_any_size, iterations_ask_for_no_programs,
                        changing_preconditioners_let_the_flexible_method_converge,
                        wrong_preconditioners_end_a_solve_with_a_reason_and_keep_x,
                        what_cannot_be_merged_is_refused_or_said));
}
