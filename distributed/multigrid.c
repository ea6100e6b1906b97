// SPDX-License-Identifier: BSD-2-Clause
// V-cycles of problems in parts (ritz/exchange.h). On each level an operator of the whole problem, Chebyshev
// polynomials over Jacobi, and transfers of the part:
//
//     smooth    x := S b
//     residual  r := b - A x                      zero on constrained entries and ghosts
//     restrict  b' := P^T r, ghosts to owners
//     correct   x' := cycle(b')
//     prolong   x := x + P x', owners to ghosts first
//     smooth    x := x + S (b - A x)
//
// A part's transfer gives owned fine nodes the right values where ghosts of the coarse level have theirs:
// each fine node lies in elements of the part, and all of them agree. So the weights of the part's own
// elements serve, and the transposed transfer, with zeros at fine ghosts, adds each node once.
#include <ritz/multigrid.h>

#include "core/core.h"
#include "core/error.h"
#include "core/memory.h"
#include "distributed/exchange.h"
#include "solver/preconditioner.h"

static const char call[] = "RitzPreconditionerCreatePartMultigrid";

typedef struct {
  RitzExchange exchange;   // owned, as all that follows
  RitzPartOperator op;     // of this level
  RitzIndices constraints; // those of the boundary
  RitzIndices kept;        // these and the ghosts
  CeedVector diagonal;
  RitzPreconditioner smoother;       // level 0: NULL
  RitzSolver solver;                 // level 0
  CeedOperator prolong, restriction; // from and to the level below; NULL: level 0, or the part is empty
  CeedVector b, x;                   // NULL on the finest level, where they are the caller's
  CeedVector r, correction;          // NULL on level 0
} Level;

typedef struct {
  CeedInt num_levels;
  Level *levels; // owned
} Cycle;

// What a creation knows.
typedef struct {
  Ceed ceed; // borrowed, as all that follows
  RitzHierarchy hierarchy;
  const RitzTransport *transport;
  RitzPartLevelFunction create_operators;
  void *ctx;
  CeedInt num_fixed;
  const RitzFixedPart *fixed;
  RitzPartMultigridOptions options;
  Cycle *cycle;
} Setup;

// ---- Life ----

static int destroy_level(Level *l) {
  int ierr = RitzSolverDestroy(&l->solver);

  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&l->smoother));
  ierr = ritz_first_error(ierr, RitzPartOperatorDestroy(&l->op));
  ierr = ritz_first_error(ierr, RitzExchangeDestroy(&l->exchange));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&l->constraints));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&l->kept));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->prolong));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->restriction));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->diagonal));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->b));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->x));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->correction));
  return ritz_first_error(ierr, CeedVectorDestroy(&l->r));
}

static int destroy_cycle(Cycle **cycle) {
  Cycle *c = *cycle;
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; c->levels && i < c->num_levels; i++)
    ierr = ritz_first_error(ierr, destroy_level(&c->levels[i]));
  RITZ_FREE(&c->levels);
  RITZ_FREE(cycle);
  return ierr;
}

static void destroy(void *ctx) {
  Cycle *c = ctx;

  (void)destroy_cycle(&c);
}

// ---- The cycle ----

// r := b - A x on entries that are not kept.
static int find_residual(const Level *l, CeedVector b, CeedVector x) {
  RITZ_TRY(RitzPartOperatorApply(l->op, x, l->r));
  RITZ_TRY(RitzVectorSum(l->r, 1, b, -1, l->r));
  return RitzVectorSetEntries(l->r, l->kept, 0);
}

static int restrict_residual(const Level *l) {
  const Level *below = l - 1;

  if (l->restriction) {
    RITZ_TRY(CeedOperatorApply(l->restriction, l->r, below->b, CEED_REQUEST_IMMEDIATE));
  } else {
    RITZ_TRY(CeedVectorSetValue(below->b, 0));
  }
  RITZ_TRY(RitzExchangeRun(below->exchange, RITZ_EXCHANGE_TO_OWNERS, below->b));
  return RitzVectorSetEntries(below->b, below->kept, 0);
}

static int prolong(const Level *l, CeedVector x) {
  const Level *below = l - 1;

  RITZ_TRY(RitzExchangeRun(below->exchange, RITZ_EXCHANGE_TO_GHOSTS, below->x));
  if (l->prolong) RITZ_TRY(CeedOperatorApplyAdd(l->prolong, below->x, x, CEED_REQUEST_IMMEDIATE));
  return RitzVectorSetEntries(x, l->kept, 0);
}

// A solve that ends at its limit of iterations serves; one whose operator is not positive definite does not.
static int solve_coarsest(const Level *l, CeedVector b, CeedVector x) {
  RitzSolverReason reason = RITZ_ITERATING;

  RITZ_TRY(CeedVectorSetValue(x, 0));
  RITZ_TRY(RitzSolverSolve(l->solver, b, x));
  RITZ_TRY(RitzSolverGetReason(l->solver, &reason));
  RITZ_REQUIRE(reason > 0 || reason == RITZ_DIVERGED_MAX_IT || reason == RITZ_DIVERGED_NAN, l->exchange->ceed,
               CEED_ERROR_MAJOR, "multigrid of parts: the coarsest problem: %s",
               RitzSolverReasonName(reason));
  return CEED_ERROR_SUCCESS;
}

static int visit(const Cycle *c, CeedInt level, CeedVector b, CeedVector x) {
  const Level *l = &c->levels[level];

  if (level == 0) return solve_coarsest(l, b, x);
  RITZ_TRY(RitzPreconditionerApply(l->smoother, b, x));
  RITZ_TRY(find_residual(l, b, x));
  RITZ_TRY(restrict_residual(l));
  RITZ_TRY(visit(c, level - 1, l[-1].b, l[-1].x));
  RITZ_TRY(prolong(l, x));
  RITZ_TRY(find_residual(l, b, x));
  RITZ_TRY(RitzPreconditionerApply(l->smoother, l->r, l->correction));
  return RitzVectorSum(x, 1, x, 1, l->correction);
}

static int apply(void *ctx, CeedVector r, CeedVector z) {
  const Cycle *c = ctx;

  return visit(c, c->num_levels - 1, r, z);
}

// ---- Creation ----

static int make_operator(const Setup *s, CeedInt level, RitzSpace space) {
  Level *l = &s->cycle->levels[level];
  CeedOperator inside = NULL, seam = NULL;

  RITZ_TRY(RitzExchangeCreate(space, s->ceed, s->transport, &l->exchange));
  int ierr = s->create_operators(s->ctx, level, space, &inside, &seam);

  if (!ierr) ierr = RitzPartOperatorCreate(l->exchange, inside, seam, &l->op);
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&inside));
  return ritz_first_error(ierr, CeedOperatorDestroy(&seam));
}

static int make_vectors(const Setup *s, CeedInt level) {
  Level *l = &s->cycle->levels[level];
  const bool is_finest = level == s->cycle->num_levels - 1;
  CeedVector *const vectors[] = {&l->diagonal, is_finest ? NULL : &l->b, is_finest ? NULL : &l->x,
                                 level > 0 ? &l->r : NULL, level > 0 ? &l->correction : NULL};

  for (int i = 0; i < 5; i++) {
    if (!vectors[i]) continue;
    RITZ_TRY(CeedVectorCreate(s->ceed, l->exchange->length, vectors[i]));
    RITZ_TRY(CeedVectorSetValue(*vectors[i], 0));
  }
  return RitzPartOperatorGetDiagonal(l->op, l->diagonal);
}

static int make_coarse_solver(const Setup *s, Level *l) {
  const double rtol = s->options.coarse_rtol > 0 ? s->options.coarse_rtol : 1e-2;
  const CeedInt max_it = s->options.coarse_max_it > 0 ? s->options.coarse_max_it : 200;

  RITZ_TRY(RitzSolverCreateCG(s->ceed, &l->solver));
  RITZ_TRY(RitzSolverSetTolerances(l->solver, rtol, 0, max_it));
  RITZ_TRY(RitzSolverSetJacobi(l->solver, l->diagonal));
  return RitzSolverSetPartOperator(l->solver, l->op, l->constraints);
}

// The bounds of the spectrum are those of the whole operator: sums are reduced meanwhile.
static int make_smoother(const Setup *s, Level *l) {
  const RitzReduceFunction before = s->ceed->reduce, in_memory_before = s->ceed->reduce_in_memory;
  void *const ctx_before = s->ceed->reduce_ctx;
  RitzPreconditioner jacobi = NULL;
  int ierr = RitzPreconditionerCreateJacobi(s->ceed, l->diagonal, l->kept, &jacobi);

  s->ceed->reduce = RitzExchangeReduce;
  s->ceed->reduce_in_memory = s->transport->reduce_in_memory ? ritz_exchange_reduce_in_memory : NULL;
  s->ceed->reduce_ctx = l->exchange;
  if (!ierr)
    ierr = ritz_chebyshev_create(call, s->ceed, NULL, RitzPartOperatorApply, l->op, CEED_SCALAR_TYPE, l->kept,
                                 jacobi, &s->options.chebyshev, &l->smoother);
  s->ceed->reduce = before;
  s->ceed->reduce_in_memory = in_memory_before;
  s->ceed->reduce_ctx = ctx_before;
  return ritz_first_error(ierr, RitzPreconditionerDestroy(&jacobi));
}

static int make_level(const Setup *s, CeedInt level) {
  Level *l = &s->cycle->levels[level];
  RitzSpace space = NULL, below = NULL;

  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level, &space));
  RITZ_TRY(make_operator(s, level, space));
  RITZ_TRY(RitzSpaceCreateConstraints(space, s->ceed, s->num_fixed, s->fixed, &l->constraints));
  RITZ_TRY(ritz_indices_unite(s->ceed, l->constraints, l->exchange->ghosts, &l->kept));
  RITZ_TRY(make_vectors(s, level));
  if (level == 0) return make_coarse_solver(s, l);
  RITZ_TRY(make_smoother(s, l));
  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level - 1, &below));
  if (l->exchange->length == 0) return CEED_ERROR_SUCCESS;
  return RitzSpaceCreateTransfer(below, space, s->ceed, CEED_SCALAR_TYPE, &l->prolong, &l->restriction);
}

static int make_cycle(Setup *s) {
  CeedInt num = 0;

  RITZ_TRY(RitzHierarchyGetNumLevels(s->hierarchy, &num));
  RITZ_TRY(RITZ_CALLOC(s->ceed, 1, &s->cycle));
  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)num, &s->cycle->levels));
  s->cycle->num_levels = num;
  for (CeedInt level = 0; level < num; level++) RITZ_TRY(make_level(s, level));
  return CEED_ERROR_SUCCESS;
}

static int check_options(Ceed ceed, const RitzPartMultigridOptions *o) {
  RITZ_REQUIRE(o->coarse_rtol >= 0 && o->coarse_rtol < 1 && o->coarse_max_it >= 0, ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: coarse_rtol %g, needed 0 to 1; coarse_max_it %" CeedInt_FMT ", needed at least 0", call,
               o->coarse_rtol, o->coarse_max_it);
  return CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreatePartMultigrid(Ceed ceed, RitzHierarchy hierarchy, const RitzTransport *transport,
                                          RitzPartLevelFunction create_operators, void *ctx,
                                          CeedInt num_fixed, const RitzFixedPart fixed[],
                                          const RitzPartMultigridOptions *options, RitzPreconditioner *pc) {
  const RitzPartMultigridOptions defaults = {0};

  RITZ_NOT_NULL(ceed);
  RITZ_ARGUMENT(ceed, hierarchy);
  RITZ_ARGUMENT(ceed, transport);
  RITZ_REQUIRE(create_operators, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: argument 'create_operators' is NULL, needed a function", call);
  RITZ_ARGUMENT(ceed, pc);
  Setup s = {.ceed = ceed,
             .hierarchy = hierarchy,
             .transport = transport,
             .create_operators = create_operators,
             .ctx = ctx,
             .num_fixed = num_fixed,
             .fixed = fixed,
             .options = options ? *options : defaults};

  RITZ_TRY(check_options(ceed, &s.options));
  int ierr = make_cycle(&s);

  if (!ierr) {
    const CeedSize n = s.cycle->levels[s.cycle->num_levels - 1].exchange->length;

    ierr = RitzPreconditionerCreate(ceed, n, CEED_SCALAR_TYPE, apply, s.cycle, destroy, false, pc);
  }
  if (ierr && s.cycle) (void)destroy_cycle(&s.cycle);
  return ierr;
}
