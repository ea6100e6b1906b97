// SPDX-License-Identifier: BSD-2-Clause
// Tests of solvers of problems in parts, threads of one process, against one part: all methods, and
// reductions by any function (ritz/exchange.h). Multigrid: test-part-multigrid.c.
#include "tests/exchange-kit.h"
#include <stdatomic.h>

// ---- Solvers ----

static int set_up_solver(const Case *c, Ceed ceed, CeedVector diagonal, RitzSolver *solver) {
  RITZ_TRY(RitzSolverCreate(ceed, c->method, solver));
  RITZ_TRY(RitzSolverSetTolerances(*solver, solver_rtol(), 0, 2000));
  RITZ_TRY(RitzSolverSetDamping(*solver, 0.3));
  return RitzSolverSetJacobi(*solver, diagonal);
}

static int solve_part(Case *c, CeedInt part, const Part *p) {
  CeedVector b = NULL, x = NULL, d = NULL;
  RitzPartOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = make_part_operator(c, p, &op);

  if (!ierr) ierr = make_vector(c, p, (CeedScalar)5, &b);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &x);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &d);
  if (!ierr) ierr = CeedVectorSetValue(x, (CeedScalar)0.5);
  if (!ierr) ierr = RitzPartOperatorGetDiagonal(op, d);
  if (!ierr) ierr = make_constraints(p->ceed, p->space, c->num_comp, &constraints);
  if (!ierr) ierr = set_up_solver(c, p->ceed, d, &solver);
  if (!ierr) ierr = RitzSolverSetPartOperator(solver, op, constraints);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &c->iterations[part]);
  if (!ierr && reason <= 0) ierr = fail(c, part, RitzSolverReasonName(reason), 0, 0, 0);
  if (!ierr) ierr = hand_in(c, p, x);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&constraints);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&d);
  RitzPartOperatorDestroy(&op);
  return ierr;
}

static int run_solve(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  Part p;
  int code = open_part(c, t, &p);

  if (!code) code = solve_part(c, t->part, &p);
  close_part(c, t->part, code, &p);
  return code;
}

// Sums that are made where the context computes, here the host, counted.
static _Atomic int num_in_memory;

static int reduce_counted(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  atomic_fetch_add(&num_in_memory, 1);
  return t->reduce(t, kind, num, values);
}

static int run_solve_in_memory(void *ctx, const RitzTransport *t) {
  RitzTransport in_memory = *t;

  in_memory.reduce_in_memory = reduce_counted;
  return run_solve(ctx, &in_memory);
}

static void solve_whole(Ceed ceed, const Case *c, const Whole *w, CeedInt *iterations) {
  CeedVector d;
  RitzIndices constraints;
  RitzSolver solver;
  RitzSolverReason reason;

  CHECK_OK(CeedVectorCreate(ceed, w->num, &d));
  CHECK_OK(CeedOperatorLinearAssembleDiagonal(w->op, d, CEED_REQUEST_IMMEDIATE));
  CHECK_OK(make_constraints(ceed, w->space, c->num_comp, &constraints));
  CHECK_OK(set_up_solver(c, ceed, d, &solver));
  CHECK_OK(RitzSolverSetOperator(solver, w->op));
  CHECK_OK(RitzSolverSetConstraintIndices(solver, constraints));
  CHECK_OK(CeedVectorSetValue(w->y, (CeedScalar)0.5));
  CHECK_OK(RitzSolverSolve(solver, w->x, w->y));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK(reason > 0, "%s: %s", RitzSolverTypeName(c->method), RitzSolverReasonName(reason));
  CHECK_OK(RitzSolverGetIterations(solver, iterations));
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(RitzIndicesDestroy(&constraints));
  CHECK_OK(CeedVectorDestroy(&d));
}

// All methods take the steps that they take in one part, to the rounding of sums; all parts count the same.
// The methods stop at rtol of the residual, so solutions differ by that times the condition of the matrix,
// some hundreds here.
static void check_solves_by(Ceed ceed, Case *c, RitzPartFunction run) {
  Whole w = {0};
  CeedInt iterations = 0;

  CHECK_OK(open_whole(ceed, c, &w));
  solve_whole(ceed, c, &w, &iterations);
  if (!tap_failed()) run_case(ceed, c, run, RitzSolverTypeName(c->method));
  if (!tap_failed()) compare(c, &w, 300 * solver_rtol(), RitzSolverTypeName(c->method));
  if (!tap_failed()) {
    for (CeedInt p = 1; p < c->num_parts; p++)
      CHECK(c->iterations[p] == c->iterations[0], "part %d takes %d iterations, the first %d", (int)p,
            (int)c->iterations[p], (int)c->iterations[0]);
    // Chebyshev: the lower bound, which decides, is estimated from another random vector
    const int most = c->method == RITZ_SOLVER_CHEBYSHEV ? iterations : iterations / 20 + 1;
    CHECK(abs((int)(c->iterations[0] - iterations)) <= most, "%s: %d iterations in %d parts, %d in one",
          RitzSolverTypeName(c->method), (int)c->iterations[0], (int)c->num_parts, (int)iterations);
  }
  close_whole(c, &w);
}

static void check_solves(Ceed ceed, Case *c) { check_solves_by(ceed, c, run_solve); }

// Machines without several GPUs have no cases (tools/gpu-check runs them).
static void solve_on_devices(Ceed ceed) {
  const CeedInt most = num_connected_devices();
  Case c = {.degree = 3, .num_comp = 1, .overlaps = true, .by_nccl = true, .resource = "/gpu/cuda/gen"};
  const int meshes[2] = {2, 7};

  for (c.num_parts = 2; c.num_parts <= CeedIntMin(most, 8) && !tap_failed(); c.num_parts++) {
    for (int i = 0; i < 2 && !tap_failed(); i++) {
      c.which = meshes[i];
      c.method = i == 0 ? RITZ_SOLVER_CG : RITZ_SOLVER_FGMRES;
      check_solves(ceed, &c);
    }
  }
}

TEST(sums_are_made_where_the_context_computes) {
  Ceed ceed = tap_ceed("/cpu/self/gen:threads=1");
  Case c = {.which = 2, .degree = 3, .num_comp = 1, .overlaps = true, .how = CUT_HILBERT, .num_parts = 3};

  name_resource(ceed, &c);
  for (int method = 0; RitzSolverTypeName((RitzSolverType)method) && !tap_failed(); method++) {
    c.method = (RitzSolverType)method;
    atomic_store(&num_in_memory, 0);
    check_solves_by(ceed, &c, run_solve_in_memory);
    if (c.method == RITZ_SOLVER_CG || c.method == RITZ_SOLVER_FLEXIBLE_CG) {
      const int least = 2 * c.num_parts * c.iterations[0];

      CHECK(num_in_memory >= least, "%s: %d sums in memory, wanted %d or more", RitzSolverTypeName(c.method),
            num_in_memory, least);
    }
  }
  if (!tap_failed()) solve_on_devices(ceed);
  CeedDestroy(&ceed);
}

// Parts without elements, and with fewer unknowns than a method makes steps before a restart.
TEST(solvers_have_small_and_empty_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.degree = 5, .num_comp = 1, .overlaps = true, .how = CUT_HILBERT, .num_parts = 8};

  name_resource(ceed, &c);
  for (int method = 0; RitzSolverTypeName((RitzSolverType)method) && !tap_failed(); method++) {
    c.method = (RitzSolverType)method;
    if (c.method != RITZ_SOLVER_RICHARDSON) check_solves(ceed, &c); // it takes thousands of steps here
  }
  CeedDestroy(&ceed);
}

static int keep_all(void *ctx, RitzReduction kind, CeedInt num, double values[]) {
  (void)ctx, (void)kind, (void)num, (void)values;
  return CEED_ERROR_SUCCESS;
}

static int copy_vector(void *ctx, CeedVector x, CeedVector y) {
  (void)ctx;
  return CeedVectorCopy(x, y);
}

TEST(reductions_of_what_is_no_part_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.which = 1, .degree = 2, .num_comp = 1};
  RitzSolver solver;
  Whole w = {0};

  CHECK_OK(open_whole(ceed, &c, &w));
  CHECK_OK(CeedVectorSetValue(w.y, 0));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_ERROR(ceed, RitzSolverSetReductionInMemory(solver, keep_all), CEED_ERROR_INCOMPATIBLE,
              "needed RitzSolverSetReduction first");
  CHECK_OK(RitzSolverSetReduction(solver, keep_all, NULL));
  CHECK_OK(RitzSolverSetReductionInMemory(solver, keep_all));
  CHECK_OK(RitzSolverSetReductionInMemory(solver, NULL));
  CHECK_OK(RitzSolverSetOperator(solver, w.op));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_INCOMPATIBLE,
              "the operator is of this part alone");
  CHECK_OK(RitzSolverSetApply(solver, copy_vector, NULL));
  CHECK_OK(CeedVectorSetValue(w.y, 0));
  CHECK_OK(RitzSolverSetNullspace(solver, 1, &w.y));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_INCOMPATIBLE,
              "RitzSolverSolve: vector 0 of the nullspace");
  CHECK_OK(RitzSolverSetNullspace(solver, 0, NULL));
  CHECK_OK(RitzSolverSolve(solver, w.x, w.y));
  CHECK_OK(RitzSolverDestroy(&solver));
  close_whole(&c, &w);
  CeedDestroy(&ceed);
}

TEST_EACH_BACKEND(solvers_take_the_steps_of_one_part) {
  Case c = {.degree = 3, .num_comp = 1, .overlaps = true, .how = CUT_RANDOM};
  const int meshes[2] = {2, 7};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &c);
  for (int m = 0; m < (is_slow(ceed) ? 1 : 2); m++) {
    c.which = meshes[m];
    for (int method = 0; RitzSolverTypeName((RitzSolverType)method); method++) {
      c.method = (RitzSolverType)method;
      if (is_slow(ceed) && c.method != RITZ_SOLVER_CG && c.method != RITZ_SOLVER_FGMRES) continue;
      for (c.num_parts = 2; c.num_parts <= (is_slow(ceed) ? 2 : 5); c.num_parts += 3) {
        check_solves(ceed, &c);
        if (tap_failed()) return;
      }
    }
  }
}

// ---- Reductions ----

// Problems without elements: the diagonal matrix of 1, 4, 9, ... 400, part p of N with entries p, p + N, ...
// No entry is shared, so reductions are all that is needed.
enum { DIAGONAL_LENGTH = 20 };

static int apply_squares(void *ctx, CeedVector x, CeedVector y) {
  const RitzTransport *t = ctx;
  const CeedScalar *from = NULL;
  CeedScalar *to = NULL;
  CeedSize n = 0;

  RITZ_TRY(CeedVectorGetLength(x, &n));
  RITZ_TRY(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &from));
  RITZ_TRY(CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &to));
  for (CeedSize i = 0; i < n; i++) {
    const CeedScalar root = (CeedScalar)(1 + t->part + i * t->num_parts);
    to[i] = root * root * from[i];
  }
  RITZ_TRY(CeedVectorRestoreArray(y, &to));
  return CeedVectorRestoreArrayRead(x, &from);
}

static int reduce_by_transport(void *ctx, RitzReduction kind, CeedInt num, double values[]) {
  const RitzTransport *t = ctx;

  return t->reduce(t, kind, num, values);
}

static int run_squares(void *ctx, const RitzTransport *t) {
  Case *c = ctx;
  const CeedSize n = (DIAGONAL_LENGTH - t->part + t->num_parts - 1) / t->num_parts;
  RitzTransport own = *t;
  Ceed ceed = NULL;
  CeedVector b = NULL, x = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int code = CeedInit("/cpu/self/ref", &ceed);

  if (!code) code = CeedVectorCreate(ceed, n, &b);
  if (!code) code = CeedVectorCreate(ceed, n, &x);
  if (!code) code = CeedVectorSetValue(b, 1);
  if (!code) code = CeedVectorSetValue(x, 0);
  if (!code) code = RitzSolverCreateCG(ceed, &solver);
  if (!code) code = RitzSolverSetTolerances(solver, solver_rtol(), 0, 100);
  if (!code) code = RitzSolverSetApply(solver, apply_squares, &own);
  if (!code) code = RitzSolverSetReduction(solver, reduce_by_transport, &own);
  if (!code) code = RitzSolverSolve(solver, b, x);
  if (!code) code = RitzSolverGetReason(solver, &reason);
  if (!code) code = RitzSolverGetIterations(solver, &c->iterations[t->part]);
  if (!code && reason != RITZ_CONVERGED_RTOL) code = fail(c, t->part, RitzSolverReasonName(reason), 0, 0, 0);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return code;
}

TEST(products_are_reduced_by_any_function) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case one = {.num_parts = 1}, c = {0};

  run_case(ceed, &one, run_squares, "one part");
  for (c.num_parts = 2; c.num_parts <= 8 && !tap_failed(); c.num_parts++) {
    run_case(ceed, &c, run_squares, "squares");
    for (CeedInt p = 0; p < c.num_parts; p++)
      CHECK(abs((int)(c.iterations[p] - one.iterations[0])) <= 1, "%d iterations in %d parts, %d in one",
            (int)c.iterations[p], (int)c.num_parts, (int)one.iterations[0]);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(sums_are_made_where_the_context_computes, solvers_take_the_steps_of_one_part,
                        solvers_have_small_and_empty_parts, reductions_of_what_is_no_part_are_refused,
                        products_are_reduced_by_any_function));
}
