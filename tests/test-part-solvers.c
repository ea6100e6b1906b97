// SPDX-License-Identifier: BSD-2-Clause
// Tests of solvers of problems in parts, threads of one process, against one part: all methods, and
// reductions by any function (ritz/exchange.h). Multigrid: test-part-multigrid.c.
#include "core/vector-pass.h"
#include "tests/exchange-kit.h"
#include <stdatomic.h>

// ---- Solvers ----

static int set_up_solver(const Case *c, Ceed ceed, CeedVector diagonal, RitzSolver *solver) {
  RITZ_TRY(RitzSolverCreate(ceed, c->method, solver));
  RITZ_TRY(RitzSolverSetTolerances(*solver, solver_rtol(), 0, 2000));
  RITZ_TRY(RitzSolverSetDamping(*solver, 0.3));
  return RitzSolverSetJacobi(*solver, diagonal);
}

enum { MOST_NORMS = 400 };
static double norms[2][MOST_NORMS]; // of both variants, as part 0 sees them

static int note_norm(void *ctx, CeedInt iteration, double norm, bool *stop) {
  (void)stop;
  if (iteration < MOST_NORMS) ((double *)ctx)[iteration] = norm;
  return CEED_ERROR_SUCCESS;
}

// Conjugate gradients in parts: what was asked for; merged on devices else.
static int check_variant(Case *c, CeedInt part, Ceed ceed, RitzSolver solver) {
  CeedMemType mem_type = CEED_MEM_HOST;
  RitzCGVariant used = RITZ_CG_AUTO;

  RITZ_TRY(CeedGetPreferredMemType(ceed, &mem_type));
  RITZ_TRY(RitzSolverGetVariantUsed(solver, &used, NULL));
  const RitzCGVariant wanted = c->variant != RITZ_CG_AUTO    ? c->variant
                               : mem_type == CEED_MEM_DEVICE ? RITZ_CG_MERGED
                                                             : RITZ_CG_STANDARD;
  if (c->method != RITZ_SOLVER_CG || used == wanted) return CEED_ERROR_SUCCESS;
  return fail(c, part, "variant", 0, used, wanted);
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
  if (!ierr) ierr = RitzSolverSetVariant(solver, c->variant);
  if (!ierr && part == 0 && c->norms) ierr = RitzSolverSetMonitor(solver, note_norm, c->norms);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = check_variant(c, part, p->ceed, solver);
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

// A transport whose sums of numbers in the memory of the context are made there as far as others can tell,
// counted.
typedef struct {
  RitzTransport base;
  Ceed ceed; // borrowed
} InMemory;

static _Atomic int num_in_memory;

static int begin_below(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const RitzTransport *base = &((InMemory *)t->ctx)->base;

  return base->begin(base, num, messages);
}

static int end_below(const RitzTransport *t, CeedInt num, const RitzMessage messages[]) {
  const RitzTransport *base = &((InMemory *)t->ctx)->base;

  return base->end(base, num, messages);
}

static int reduce_below(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  const RitzTransport *base = &((InMemory *)t->ctx)->base;

  return base->reduce(base, kind, num, values);
}

static int reduce_in_memory(const RitzTransport *t, RitzReduction kind, CeedInt num, double values[]) {
  struct RitzScalars_private scalars = {
      .class = &ritz_scalars_class, .ceed = ((InMemory *)t->ctx)->ceed, .num = num, .values = values};
  double on_host[RITZ_PASS_SUMS];

  atomic_fetch_add(&num_in_memory, 1);
  RITZ_TRY(RitzScalarsGet(&scalars, 0, num, on_host));
  RITZ_TRY(reduce_below(t, kind, num, on_host));
  return RitzScalarsSet(&scalars, 0, num, on_host);
}

static int run_solve_in_memory(void *ctx, const RitzTransport *t) {
  InMemory in_memory = {.base = *t};
  const RitzTransport transport = {.num_parts = t->num_parts,
                                   .part = t->part,
                                   .mem_type = t->mem_type,
                                   .ctx = &in_memory,
                                   .begin = begin_below,
                                   .end = end_below,
                                   .reduce = reduce_below,
                                   .reduce_in_memory = reduce_in_memory};
  Case *c = ctx;
  Part p;
  int code = open_part(c, &transport, &p);

  in_memory.ceed = p.ceed;
  if (!code) code = solve_part(c, t->part, &p);
  close_part(c, t->part, code, &p);
  return code;
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

// ---- One reduction an iteration beside two ----

// Norms that are predicted from sums before the step are those that are summed behind it: 10^4 eps of the
// first one, in the first 24 steps. Later rounding parts the iterates, as it does those of the same method in
// two and in three parts (measured, mesh of all shapes: 6e-13 of a norm in step 24, 2e-4 in step 40, both).
static void check_norms(const Case *c, CeedInt num) {
  const double tolerance = 1e4 * CEED_EPSILON * norms[0][0];

  for (CeedInt i = 0; i <= CeedIntMin(num, 24) && !tap_failed(); i++)
    CHECK(fabs(norms[0][i] - norms[1][i]) <= tolerance, "%s, iteration %d of %d: %g, predicted %g",
          mesh_names[c->which], (int)i, (int)num, norms[0][i], norms[1][i]);
}

TEST(one_reduction_takes_the_steps_of_two) {
  Ceed ceed = tap_ceed("/cpu/self/gen:threads=1");
  Case c = {.num_comp = 1, .overlaps = true, .how = CUT_RANDOM, .num_parts = 3, .method = RITZ_SOLVER_CG};
  const int meshes[3] = {2, 3, 7};

  name_resource(ceed, &c);
  for (int m = 0; m < 3 && !tap_failed(); m++) {
    CeedInt iterations[2] = {0};

    c.which = meshes[m];
    c.degree = 2 + m;
    for (int k = 0; k < 2 && !tap_failed(); k++) {
      c.variant = k == 0 ? RITZ_CG_STANDARD : RITZ_CG_MERGED;
      c.norms = norms[k];
      check_solves(ceed, &c);
      iterations[k] = c.iterations[0];
    }
    CHECK(abs((int)(iterations[0] - iterations[1])) <= iterations[0] / 20 + 1, "%d and %d iterations",
          (int)iterations[0], (int)iterations[1]);
    if (!tap_failed()) check_norms(&c, CeedIntMin(iterations[0], iterations[1]));
  }
  CeedDestroy(&ceed);
}

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
    c.variant = c.method == RITZ_SOLVER_CG ? RITZ_CG_MERGED : RITZ_CG_AUTO;
    atomic_store(&num_in_memory, 0);
    check_solves_by(ceed, &c, run_solve_in_memory);
    const bool is_flexible = c.method == RITZ_SOLVER_FLEXIBLE_CG;
    const int least = c.num_parts * c.iterations[0];
    if (is_flexible) {
      CHECK(num_in_memory >= 2 * least, "fcg: %d sums in memory, wanted %d or more", num_in_memory,
            2 * least);
    } else if (c.method == RITZ_SOLVER_CG) {
      // one an iteration, and few more where the residual falls much or the method ends
      CHECK(num_in_memory >= least && num_in_memory <= least + least / 4 + c.num_parts,
            "cg: %d sums in memory, wanted %d and few more", num_in_memory, least);
    }
  }
  if (!tap_failed()) solve_on_devices(ceed);
  CeedDestroy(&ceed);
}

// Two sums an iteration, a product too many at the end; kernels of the operator tell the energy, or a pass.
TEST_EACH_BACKEND(iterations_on_devices_do_not_wait_for_sums) {
  Case c = {.degree = 3, .num_comp = 1, .how = CUT_RANDOM, .method = RITZ_SOLVER_CG};
  const int meshes[3] = {2, 7, 4};
  CeedMemType mem_type = CEED_MEM_HOST;

  CHECK_OK(CeedGetPreferredMemType(ceed, &mem_type));
  if (is_for_one_thread(ceed) || mem_type == CEED_MEM_HOST) return;
  name_resource(ceed, &c);
  c.num_parts = is_slow(ceed) ? 2 : 3;
  for (int m = 0; m < (is_slow(ceed) ? 2 : 3) && !tap_failed(); m++) {
    c.which = meshes[m];
    c.overlaps = m == 0;
    atomic_store(&num_in_memory, 0);
    check_solves_by(ceed, &c, run_solve_in_memory);
    const int num = num_in_memory, wanted = 2 * c.num_parts * c.iterations[0];
    CHECK(num >= wanted && num <= wanted + 3 * c.num_parts, "%d sums in memory in %d iterations of %d parts",
          num, (int)c.iterations[0], (int)c.num_parts);
  }
}

// Parts without elements, and with fewer unknowns than a method makes steps before a restart.
TEST(solvers_have_small_and_empty_parts) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.degree = 5, .num_comp = 1, .overlaps = true, .how = CUT_HILBERT, .num_parts = 8};

  name_resource(ceed, &c);
  for (int method = 0; RitzSolverTypeName((RitzSolverType)method) && !tap_failed(); method++) {
    c.method = (RitzSolverType)method;
    c.variant = c.method == RITZ_SOLVER_CG ? RITZ_CG_MERGED : RITZ_CG_AUTO;
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
  RitzPreconditioner pc = NULL;
  RitzSolver solver;
  Whole w = {0};

  CHECK_OK(open_whole(ceed, &c, &w));
  CHECK_OK(CeedVectorSetValue(w.y, 1));
  CHECK_OK(RitzSolverCreateCG(ceed, &solver));
  CHECK_ERROR(ceed, RitzSolverSetReductionInMemory(solver, keep_all), CEED_ERROR_INCOMPATIBLE,
              "needed RitzSolverSetReduction first");
  CHECK_ERROR(ceed, RitzSolverSetNumOwned(solver, 1), CEED_ERROR_INCOMPATIBLE,
              "needed RitzSolverSetReduction first");
  CHECK_OK(RitzSolverSetNumOwned(solver, -1));
  CHECK_OK(RitzSolverSetReduction(solver, keep_all, NULL));
  CHECK_OK(RitzSolverSetReductionInMemory(solver, keep_all));
  CHECK_OK(RitzSolverSetReductionInMemory(solver, NULL));
  CHECK_ERROR(ceed, RitzSolverSetNumOwned(solver, -2), CEED_ERROR_DIMENSION, "-2 entries, needed");
  CHECK_OK(RitzSolverSetNumOwned(solver, w.num + 1));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_DIMENSION, "entries are of this part");
  CHECK_OK(RitzSolverSetNumOwned(solver, -1));
  CHECK_OK(RitzSolverSetOperator(solver, w.op));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_INCOMPATIBLE,
              "the operator is of this part alone");
  CHECK_OK(RitzSolverSetApply(solver, copy_vector, NULL));
  CHECK_OK(CeedVectorSetValue(w.y, 0));
  CHECK_OK(RitzSolverSetNullspace(solver, 1, &w.y));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_INCOMPATIBLE,
              "RitzSolverSolve: vector 0 of the nullspace");
  CHECK_OK(RitzSolverSetNullspace(solver, 0, NULL));
  CHECK_OK(CeedVectorSetValue(w.y, 1));
  CHECK_OK(RitzPreconditionerCreateJacobi(ceed, w.y, NULL, &pc));
  CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(RitzSolverSetVariant(solver, RITZ_CG_MERGED));
  CHECK_ERROR(ceed, RitzSolverSolve(solver, w.x, w.y), CEED_ERROR_UNSUPPORTED,
              "no merged conjugate gradients: the preconditioner of a problem in parts");
  CHECK_OK(RitzSolverSetPreconditioner(solver, NULL));
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
    c.num_parts = m == 0 ? 2 : 5;
    for (int method = 0; RitzSolverTypeName((RitzSolverType)method); method++) {
      c.method = (RitzSolverType)method;
      if (is_slow(ceed) && c.method != RITZ_SOLVER_CG && c.method != RITZ_SOLVER_FGMRES) continue;
      c.variant = c.method == RITZ_SOLVER_CG && c.num_parts > 2 ? RITZ_CG_MERGED : RITZ_CG_AUTO;
      check_solves(ceed, &c);
      if (tap_failed()) return;
    }
  }
}

// ---- Reductions ----

// Problems without elements: the diagonal matrix of 1, 4, 9, ... 400, part p of N with entries p, p + N, ...
// No entry is shared, so reductions are all that is needed. Behind them entries of nobody, constrained, where
// the product leaves what it likes in its input and output.
enum { DIAGONAL_LENGTH = 20, NUM_OTHERS = 3 };

typedef struct {
  const RitzTransport *t;
  bool has_others;
  bool has_jacobi; // by a diagonal that is nearly the matrix
} Squares;

static int apply_squares(void *ctx, CeedVector x, CeedVector y) {
  const Squares *s = ctx;
  CeedScalar *from = NULL, *to = NULL;
  CeedSize n = 0;

  RITZ_TRY(CeedVectorGetLength(x, &n));
  RITZ_TRY(CeedVectorGetArray(x, CEED_MEM_HOST, &from));
  RITZ_TRY(CeedVectorGetArrayWrite(y, CEED_MEM_HOST, &to));
  for (CeedSize i = 0; i < n; i++) {
    const CeedScalar root = (CeedScalar)(1 + s->t->part + i * s->t->num_parts);
    to[i] = root * root * from[i];
  }
  for (CeedSize i = n - NUM_OTHERS; s->has_others && i < n; i++) from[i] = to[i] = (CeedScalar)1e10;
  RITZ_TRY(CeedVectorRestoreArray(y, &to));
  return CeedVectorRestoreArray(x, &from);
}

static int reduce_by_transport(void *ctx, RitzReduction kind, CeedInt num, double values[]) {
  const Squares *s = ctx;

  return s->t->reduce(s->t, kind, num, values);
}

static int set_up_squares(const Case *c, Squares *s, Ceed ceed, CeedSize num_owned, RitzSolver *solver) {
  int64_t others[NUM_OTHERS];

  RITZ_TRY(RitzSolverCreate(ceed, c->method, solver));
  RITZ_TRY(RitzSolverSetTolerances(*solver, solver_rtol(), 0, 1000));
  RITZ_TRY(RitzSolverSetVariant(*solver, c->variant));
  RITZ_TRY(RitzSolverSetApply(*solver, apply_squares, s));
  RITZ_TRY(RitzSolverSetReduction(*solver, reduce_by_transport, s));
  if (!s->has_others) return CEED_ERROR_SUCCESS;
  for (int i = 0; i < NUM_OTHERS; i++) others[i] = num_owned + i;
  RITZ_TRY(RitzSolverSetConstraints(*solver, NUM_OTHERS, others));
  return RitzSolverSetNumOwned(*solver, num_owned);
}

static int check_squares(Case *c, const Squares *s, CeedSize n, CeedVector x) {
  const CeedScalar *entries = NULL;
  int code = CEED_ERROR_SUCCESS;

  RITZ_TRY(CeedVectorGetArrayRead(x, CEED_MEM_HOST, &entries));
  for (CeedSize i = 0; i < n + (s->has_others ? NUM_OTHERS : 0) && !code; i++) {
    const double root = 1 + s->t->part + (double)(i * s->t->num_parts),
                 wanted = i < n ? 1 / (root * root) : 0;

    // the residual is below rtol of sqrt(20), the smallest eigenvalue one
    if (fabs((double)entries[i] - wanted) > 5 * solver_rtol())
      code = fail(c, s->t->part, RitzSolverTypeName(c->method), i, (double)entries[i], wanted);
  }
  return ritz_first_error(code, CeedVectorRestoreArrayRead(x, &entries));
}

// M A has eigenvalues 1, 0.999, 0.998: squares of residuals fall by 10^6 a step and more.
static int set_jacobi(const Squares *s, Ceed ceed, CeedSize length, RitzSolver solver) {
  CeedScalar *d = NULL;
  CeedVector diagonal = NULL;

  if (!s->has_jacobi) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedVectorCreate(ceed, length, &diagonal));
  int ierr = CeedVectorGetArrayWrite(diagonal, CEED_MEM_HOST, &d);

  for (CeedSize i = 0; !ierr && i < length; i++) {
    const double root = 1 + s->t->part + (double)(i * s->t->num_parts);
    d[i] = (CeedScalar)(root * root / (1 - 1e-3 * (double)((int)root % 3)));
  }
  if (!ierr) ierr = CeedVectorRestoreArray(diagonal, &d);
  if (!ierr) ierr = RitzSolverSetJacobi(solver, diagonal);
  return ritz_first_error(ierr, CeedVectorDestroy(&diagonal));
}

static int solve_squares(Case *c, Squares s) {
  const CeedSize n = (DIAGONAL_LENGTH - s.t->part + s.t->num_parts - 1) / s.t->num_parts;
  const CeedSize length = n + (s.has_others ? NUM_OTHERS : 0);
  Ceed ceed = NULL;
  CeedVector b = NULL, x = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int code = CeedInit("/cpu/self/ref", &ceed);

  if (!code) code = CeedVectorCreate(ceed, length, &b);
  if (!code) code = CeedVectorCreate(ceed, length, &x);
  if (!code) code = CeedVectorSetValue(b, 1);
  if (!code) code = CeedVectorSetValue(x, 0);
  if (!code) code = set_up_squares(c, &s, ceed, n, &solver);
  if (!code) code = set_jacobi(&s, ceed, length, solver);
  if (!code) code = RitzSolverSolve(solver, b, x);
  if (!code) code = RitzSolverGetReason(solver, &reason);
  if (!code) code = RitzSolverGetIterations(solver, &c->iterations[s.t->part]);
  if (!code && reason != RITZ_CONVERGED_RTOL)
    code = fail(c, s.t->part, RitzSolverReasonName(reason), 0, 0, 0);
  if (!code) code = check_squares(c, &s, n, x);
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  CeedDestroy(&ceed);
  return code;
}

static int run_squares(void *ctx, const RitzTransport *t) { return solve_squares(ctx, (Squares){.t = t}); }

static int run_squares_and_others(void *ctx, const RitzTransport *t) {
  return solve_squares(ctx, (Squares){t, .has_others = true});
}

static void check_squares_in_parts(Ceed ceed, RitzSolverType method, RitzPartFunction run) {
  Case one = {.num_parts = 1, .method = method}, c = {.method = method};

  run_case(ceed, &one, run_squares, "one part");
  for (c.num_parts = 2; c.num_parts <= 8 && !tap_failed(); c.num_parts++) {
    run_case(ceed, &c, run, RitzSolverTypeName(method));
    // Chebyshev: the bounds are estimated from other random vectors
    const int most = method == RITZ_SOLVER_CHEBYSHEV ? one.iterations[0] : 1;
    for (CeedInt p = 0; p < c.num_parts; p++)
      CHECK(abs((int)(c.iterations[p] - one.iterations[0])) <= most,
            "%s: %d iterations in %d parts, %d in one", RitzSolverTypeName(method), (int)c.iterations[p],
            (int)c.num_parts, (int)one.iterations[0]);
  }
}

TEST(products_are_reduced_by_any_function) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  check_squares_in_parts(ceed, RITZ_SOLVER_CG, run_squares);
  CeedDestroy(&ceed);
}

static int run_squares_with_jacobi(void *ctx, const RitzTransport *t) {
  return solve_squares(ctx, (Squares){t, .has_others = true, .has_jacobi = true});
}

TEST(residuals_that_fall_fast_are_summed_anew) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Case c = {.method = RITZ_SOLVER_CG};

  for (c.num_parts = 1; c.num_parts <= 3 && !tap_failed(); c.num_parts++) {
    CeedInt iterations[2] = {0};

    for (int k = 0; k < 2 && !tap_failed(); k++) {
      c.variant = k == 0 ? RITZ_CG_STANDARD : RITZ_CG_MERGED;
      run_case(ceed, &c, run_squares_with_jacobi, "falling fast");
      iterations[k] = c.iterations[0];
    }
    CHECK(iterations[0] == iterations[1] && iterations[0] <= 4, "%d and %d iterations", (int)iterations[0],
          (int)iterations[1]);
  }
  CeedDestroy(&ceed);
}

TEST(sums_count_owned_entries_alone) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int method = 0; RitzSolverTypeName((RitzSolverType)method) && !tap_failed(); method++) {
    // Richardson's step would have to be 1 / 400
    if (method != RITZ_SOLVER_RICHARDSON)
      check_squares_in_parts(ceed, (RitzSolverType)method, run_squares_and_others);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(sums_are_made_where_the_context_computes, iterations_on_devices_do_not_wait_for_sums,
                        solvers_take_the_steps_of_one_part, solvers_have_small_and_empty_parts,
                        reductions_of_what_is_no_part_are_refused, products_are_reduced_by_any_function,
                        sums_count_owned_entries_alone, one_reduction_takes_the_steps_of_two,
                        residuals_that_fall_fast_are_summed_anew));
}
