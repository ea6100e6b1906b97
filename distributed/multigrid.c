// SPDX-License-Identifier: BSD-2-Clause
// V-cycles of problems in parts (ritz/exchange.h). On each level an operator of the whole problem, Chebyshev
// polynomials over Jacobi or Schwarz methods (distributed/schwarz.c), and transfers of the part:
//
//     smooth    x := S b
//     residual  r := b - A x                      zero on constrained entries and ghosts
//     restrict  b' := P^T r, ghosts to owners
//     correct   x' := cycle(b')         coarsest: gathered and solved by every part, or by all together
//     prolong   x := x + P x', owners to ghosts first
//     smooth    x := x + S (b - A x)
//
// A part's transfer gives owned fine nodes the right values where ghosts of the coarse level have theirs:
// each fine node lies in elements of the part, and all of them agree. So the weights of the part's own
// elements serve, and the transposed transfer, with zeros at fine ghosts, adds each node once. A gathered
// coarsest problem (distributed/coarse.h) takes entries of ghosts as they are and gives ghosts their values:
// the reduction that gathers stands for both exchanges.
//
// A cycle in float has operators, transfers and vectors in float on all levels; r and z of the preconditioner
// are converted outside (solver/preconditioner.c). The coarsest problem keeps the precision of its operators:
// its factors are in double, and where all parts solve it together vectors of level 0 are CeedScalars, which
// transfers convert on the way.
#include <ritz/multigrid.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/core.h"
#include "core/vector-pass.h"
#include "distributed/coarse.h"
#include "distributed/exchange.h"
#include "distributed/schwarz.h"
#include "solver/preconditioner.h"

static const char call[] = "RitzPreconditionerCreatePartMultigrid";

enum { DEFAULT_MAX_GATHERED = 20000 };

typedef struct {
  RitzExchange exchange;       // owned, as all that follows
  RitzPartOperator op;         // of this level
  CeedOperator original[2];    // inside and seam, which were copied to the cycle's precision, for updates
  CeedVector diagonal;         // of the operator, where Jacobi reads it; NULL: another method
  RitzIndices constraints;     // those of the boundary
  RitzIndices kept;            // these and the ghosts
  RitzPreconditioner smoother; // level 0: NULL
  bool is_swept;               // by vertex patches, without a polynomial
  RitzGathered *gathered;      // level 0, or
  RitzSolver solver;           // where the problem is too large for that
  CeedOperator prolong, restriction; // from and to the level below; NULL: level 0, or the part is empty
  CeedVector b, x;                   // NULL on the finest level, where they are the caller's
  CeedVector r, correction;          // NULL on level 0
  CeedScalarType precision;          // of these vectors
  CeedInt degree;
  int64_t num_elem;
} Level;

typedef struct {
  CeedInt num_levels;
  Level *levels;          // owned
  bool lacks_originals;   // operators were copied, in any part, and let go
  int64_t num_copy_bytes; // of passive inputs of operators that were copied to the cycle's precision
  double coarse_rtol;
  char why[RITZ_GATHERED_WHY]; // the coarsest problem is not gathered
  RitzSmootherChoice choice;   // of RITZ_SMOOTHER_MEASURED
} Cycle;

// Arguments of a creation, and what has been made so far.
typedef struct {
  Ceed ceed; // borrowed, as all that follows
  RitzHierarchy hierarchy;
  const RitzTransport *transport;
  RitzPartLevelFunction create_operators;
  void *ctx;
  CeedInt num_fixed;
  const RitzFixedPart *fixed;
  RitzPartMultigridOptions options; // with what was chosen for MEASURED
  CeedInt degree;                   // of the finest space
  bool has_steps;                   // the caller's options say of which degree polynomials are
  CeedScalarType precision;         // of the cycle
  Cycle *cycle;
} Setup;

// ---- Life ----

static int destroy_level(Level *l) {
  int ierr = RitzSolverDestroy(&l->solver);

  ierr = ritz_first_error(ierr, ritz_gathered_destroy(&l->gathered));
  ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&l->smoother));
  ierr = ritz_first_error(ierr, RitzPartOperatorDestroy(&l->op));
  for (int i = 0; i < 2; i++) ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->original[i]));
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&l->diagonal));
  ierr = ritz_first_error(ierr, RitzExchangeDestroy(&l->exchange));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&l->constraints));
  ierr = ritz_first_error(ierr, RitzIndicesDestroy(&l->kept));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->prolong));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&l->restriction));
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

static int destroy_part_multigrid(RitzPreconditioner pc) {
  Cycle *c = pc->data;

  pc->data = NULL;
  return destroy_cycle(&c);
}

// ---- The cycle ----

// r := b - A x on entries that are not kept.
static int find_residual(const Level *l, CeedVector b, CeedVector x) {
  RITZ_TRY(ritz_part_operator_apply_kept(l->op, x, l->r));
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
  if (below->gathered) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzExchangeRun(below->exchange, RITZ_EXCHANGE_TO_OWNERS, below->b));
  return RitzVectorSetEntries(below->b, below->kept, 0);
}

static int prolong(const Level *l, CeedVector x) {
  const Level *below = l - 1;

  if (!below->gathered) RITZ_TRY(RitzExchangeRun(below->exchange, RITZ_EXCHANGE_TO_GHOSTS, below->x));
  if (l->prolong) RITZ_TRY(CeedOperatorApplyAdd(l->prolong, below->x, x, CEED_REQUEST_IMMEDIATE));
  return RitzVectorSetEntries(x, l->kept, 0);
}

// A solve that ends at its limit of iterations serves; one whose operator is not positive definite does not.
static int solve_together(const Level *l, CeedVector b, CeedVector x) {
  RitzSolverReason reason = RITZ_ITERATING;

  RITZ_TRY(CeedVectorSetValue(x, 0));
  RITZ_TRY(RitzSolverSolve(l->solver, b, x));
  RITZ_TRY(RitzSolverGetReason(l->solver, &reason));
  RITZ_REQUIRE(reason > 0 || reason == RITZ_DIVERGED_MAX_IT || reason == RITZ_DIVERGED_NAN, l->exchange->ceed,
               CEED_ERROR_MAJOR, "multigrid of parts: the coarsest problem: %s",
               RitzSolverReasonName(reason));
  return CEED_ERROR_SUCCESS;
}

static int solve_coarsest(const Level *l, CeedVector b, CeedVector x) {
  return l->gathered ? ritz_gathered_solve(l->gathered, b, b == l->b, x) : solve_together(l, b, x);
}

static int visit(const Cycle *c, CeedInt level, CeedVector b, CeedVector x) {
  const Level *l = &c->levels[level];

  if (level == 0) return solve_coarsest(l, b, x);
  RITZ_TRY(l->is_swept ? ritz_preconditioner_smooth(l->smoother, NULL, b, x, true, NULL, false)
                       : RitzPreconditionerApply(l->smoother, b, x));
  RITZ_TRY(find_residual(l, b, x));
  RITZ_TRY(restrict_residual(l));
  RITZ_TRY(visit(c, level - 1, l[-1].b, l[-1].x));
  RITZ_TRY(prolong(l, x));
  if (l->is_swept) return ritz_preconditioner_smooth(l->smoother, NULL, b, x, false, NULL, true);
  RITZ_TRY(find_residual(l, b, x));
  RITZ_TRY(RitzPreconditionerApply(l->smoother, l->r, l->correction));
  return RitzVectorSum(x, 1, x, 1, l->correction);
}

// Ghosts have been values of their owners meanwhile, on all levels.
static int apply_part_multigrid(RitzPreconditioner pc, CeedVector r, CeedVector z) {
  const Cycle *c = pc->data;

  RITZ_TRY(visit(c, c->num_levels - 1, r, z));
  return RitzVectorSetEntries(z, c->levels[c->num_levels - 1].exchange->ghosts, 0);
}

// Sums over vectors of this level are those of all parts until end_sums, over owned entries: products leave
// values at ghosts.
static RitzSums begin_sums(const Level *l) {
  RitzExchange e = l->exchange;
  const RitzSums sums = {.reduce = RitzExchangeReduce,
                         .reduce_in_memory =
                             e->transport.reduce_in_memory ? ritz_exchange_reduce_in_memory : NULL,
                         .ctx = e,
                         .length = e->length,
                         .num_counted = e->num_owned};

  return ritz_sums_set(e->ceed, &sums);
}

static void end_sums(const Level *l, const RitzSums *before) {
  (void)ritz_sums_set(l->exchange->ceed, before);
}

// The scale of r, the same in all parts, whether a solver of the whole problem asks or one part's program.
static int find_scale(RitzPreconditioner pc, CeedVector r, double *scale) {
  const Cycle *c = pc->data;
  CeedScalar largest = 0;

  RITZ_TRY(CeedVectorNorm(r, CEED_NORM_MAX, &largest));
  double of_all = (double)largest;
  RITZ_TRY(RitzExchangeReduce(c->levels[c->num_levels - 1].exchange, RITZ_REDUCTION_MAX, 1, &of_all));
  *scale = ritz_power_near(of_all, r->precision);
  return CEED_ERROR_SUCCESS;
}

// All parts meet the same products, so all of them estimate anew.
static int strengthen(RitzPreconditioner pc, bool *is_changed) {
  const Cycle *c = pc->data;

  for (CeedInt i = 1; i < c->num_levels; i++) {
    const RitzSums before = begin_sums(&c->levels[i]);
    bool is_level_changed = false;
    const int ierr = ritz_preconditioner_strengthen(c->levels[i].smoother, &is_level_changed);

    end_sums(&c->levels[i], &before);
    RITZ_TRY(ierr);
    *is_changed = *is_changed || is_level_changed;
  }
  return CEED_ERROR_SUCCESS;
}

// ---- New values ----

static const char *why_not_updated(RitzPreconditioner pc) {
  const Cycle *c = pc->data;

  return c->lacks_originals ? "operators were copied to another precision without the option for_updates"
                            : NULL;
}

// Values of operators that are copies, each vector once for all levels.
static int renew_operators(Ceed ceed, const Cycle *c) {
  const size_t most = 2 * (size_t)c->num_levels;
  CeedOperator *list = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(ceed, 2 * most, &list));
  for (CeedInt i = 0; i < 2 * c->num_levels; i++) {
    const Level *l = &c->levels[i / 2];
    CeedOperator pieces[2];

    if (!l->original[i % 2]) continue;
    ritz_part_operator_pieces(l->op, pieces);
    list[num] = l->original[i % 2];
    list[most + (size_t)num++] = pieces[i % 2];
  }
  const int ierr = ritz_operators_renew_copies(num, list, list + most);

  RITZ_FREE((void **)&list);
  return ierr;
}

static int update_part_level(void *level) {
  const Level *l = level;

  if (l->gathered) return ritz_gathered_update(l->gathered, l->op);
  const RitzSums before = begin_sums(l);
  int ierr = l->diagonal ? RitzPartOperatorGetDiagonal(l->op, l->diagonal) : CEED_ERROR_SUCCESS;

  if (!ierr && l->smoother) ierr = ritz_preconditioner_update(l->smoother);
  end_sums(l, &before);
  return ierr;
}

static int update_part_multigrid(RitzPreconditioner pc) {
  const Cycle *c = pc->data;
  char prefix[32];

  RITZ_TRY(renew_operators(pc->ceed, c));
  for (CeedInt i = 0; i < c->num_levels; i++) {
    (void)snprintf(prefix, sizeof(prefix), "level %" CeedInt_FMT, i);
    RITZ_TRY(ritz_run_with_prefix(pc->ceed, prefix, update_part_level, &c->levels[i]));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Questions ----

static int64_t bytes(RitzPreconditioner pc) {
  const Cycle *c = pc->data;
  int64_t num = c->num_copy_bytes;

  for (CeedInt i = 0; i < c->num_levels; i++) {
    const Level *l = &c->levels[i];
    const int num_vectors = (l->b != NULL) + (l->x != NULL) + (l->r != NULL) + (l->correction != NULL);

    num += num_vectors * (int64_t)l->exchange->length * (int64_t)ritz_scalar_bytes(l->precision);
    if (l->smoother) num += ritz_preconditioner_bytes(l->smoother);
    if (l->gathered) num += ritz_gathered_bytes(l->gathered);
  }
  return num;
}

static int view_coarsest(const Cycle *c, FILE *stream, int indent) {
  const Level *l = &c->levels[0];
  const char *note = c->why;

  if (l->gathered) {
    fprintf(stream, "%*swhole in every part, %lld unknowns\n", indent, "",
            (long long)ritz_gathered_num_unknowns(l->gathered));
    return ritz_gathered_view(l->gathered, stream, indent);
  }
  fprintf(stream, "%*sall parts together, in %s: conjugate gradients with Jacobi to %g\n", indent, "",
          ritz_precision_name(l->precision), c->coarse_rtol);
  while (*note) { // line by line
    const int length = (int)strcspn(note, "\n");
    fprintf(stream, "%*snot whole in every part: %.*s\n", indent, "", length, note);
    note += length + (note[length] != '\0');
  }
  return CEED_ERROR_SUCCESS;
}

static int view(RitzPreconditioner pc, FILE *stream, int indent) {
  const Cycle *c = pc->data;

  fprintf(stream, "%*smultigrid of all parts: V(1,1)-cycle in %s, %" CeedInt_FMT " level%s\n", indent, "",
          ritz_precision_name(pc->precision), c->num_levels, c->num_levels == 1 ? "" : "s");
  if (c->choice.num > 0) ritz_smoother_choice_view(&c->choice, stream, indent + 2);
  for (CeedInt i = c->num_levels - 1; i >= 0; i--) {
    const Level *l = &c->levels[i];

    fprintf(stream,
            "%*slevel %" CeedInt_FMT ": degree %" CeedInt_FMT ", of this part %lld elements, %" CeedSize_FMT
            " entries and %" CeedSize_FMT " of ghosts\n",
            indent + 2, "", i, l->degree, (long long)l->num_elem, l->exchange->num_owned,
            l->exchange->num_ghosts);
    RITZ_TRY(l->smoother ? ritz_preconditioner_view(l->smoother, stream, indent + 4)
                         : view_coarsest(c, stream, indent + 4));
  }
  return CEED_ERROR_SUCCESS;
}

static const RitzPreconditionerMethods methods = {.name = "multigrid of parts",
                                                  .apply = apply_part_multigrid,
                                                  .find_scale = find_scale,
                                                  .strengthen = strengthen,
                                                  .view = view,
                                                  .bytes = bytes,
                                                  .why_not_updated = why_not_updated,
                                                  .update = update_part_multigrid,
                                                  .destroy = destroy_part_multigrid};

// ---- Creation ----

// ops [2]: inside and seam, the caller's; NULL: no such elements.
static int make_operators(const Setup *s, CeedInt level, CeedOperator ops[]) {
  const CeedScalarType precision = level > 0 ? s->precision : CEED_SCALAR_TYPE;
  RitzSpace space = NULL;

  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level, &space));
  RITZ_TRY(RitzExchangeCreateInPrecision(space, s->ceed, s->transport, precision,
                                         &s->cycle->levels[level].exchange));
  RITZ_TRY(s->create_operators(s->ctx, level, space, &ops[0], &ops[1]));
  for (int i = 0; i < 2; i++) {
    CeedOperator op = ops[i];
    if (op) RITZ_ARGUMENT_OF(s->ceed, call, op);
  }
  return CEED_ERROR_SUCCESS;
}

// Copies take the places of operators of another precision, which are let go unless updates need them; num,
// from: these.
static int copy_operators(const Setup *s, CeedInt num_ops, CeedOperator ops[], CeedInt num,
                          CeedOperator from[], CeedOperator copies[], int64_t bytes[]) {
  RITZ_TRY(ritz_operators_copy(call, num, from, s->precision, copies));
  int ierr = ritz_operators_renew_copies(num, from, copies);

  if (!ierr) ierr = ritz_operators_count_stored(s->ceed, num, copies, bytes);
  for (CeedInt i = 0, k = 0; i < num_ops && k < num; i++) {
    if (ops[i] != from[k]) continue;
    s->cycle->num_copy_bytes += bytes[k];
    ops[i] = copies[k++];
    CeedOperator *original = &s->cycle->levels[1 + i / 2].original[i % 2];
    if (s->options.for_updates)
      ierr = ritz_first_error(ierr, CeedOperatorReferenceCopy(from[k - 1], original));
    ierr = ritz_first_error(ierr, CeedOperatorDestroy(&from[k - 1]));
  }
  return ierr;
}

// All parts refuse updates where one has to.
static int note_copies(const Setup *s, CeedInt num) {
  double is_copied = num > 0;

  RITZ_TRY(RitzExchangeReduce(s->cycle->levels[0].exchange, RITZ_REDUCTION_MAX, 1, &is_copied));
  s->cycle->lacks_originals = is_copied > 0 && !s->options.for_updates;
  return CEED_ERROR_SUCCESS;
}

// ops [num_ops]: of all levels but the coarsest, all copied together, so that what they share is converted
// once.
static int convert_operators(const Setup *s, CeedInt num_ops, CeedOperator ops[]) {
  CeedOperator *from = NULL;
  int64_t *bytes = NULL;
  CeedInt num = 0;

  if (num_ops == 0) return CEED_ERROR_SUCCESS; // one level alone
  RITZ_TRY(RITZ_CALLOC(s->ceed, 2 * (size_t)num_ops, &from));
  int ierr = RITZ_CALLOC(s->ceed, (size_t)num_ops, &bytes);

  for (CeedInt i = 0; i < num_ops; i++) {
    if (ops[i] && !ritz_operator_has_precision(ops[i], s->precision)) from[num++] = ops[i];
  }
  if (!ierr) ierr = note_copies(s, num);
  if (!ierr) ierr = copy_operators(s, num_ops, ops, num, from, from + num_ops, bytes);
  RITZ_FREE(&bytes);
  RITZ_FREE((void **)&from);
  return ierr;
}

static int make_vectors(const Setup *s, CeedInt level) {
  Level *l = &s->cycle->levels[level];
  const bool is_finest = level == s->cycle->num_levels - 1;
  CeedVector *const vectors[] = {is_finest ? NULL : &l->b, is_finest ? NULL : &l->x, level > 0 ? &l->r : NULL,
                                 level > 0 ? &l->correction : NULL};

  for (int i = 0; i < 4; i++) {
    if (!vectors[i]) continue;
    RITZ_TRY(RitzVectorCreate(s->ceed, l->exchange->length, l->precision, vectors[i]));
    RITZ_TRY(CeedVectorSetValue(*vectors[i], 0));
  }
  return CEED_ERROR_SUCCESS;
}

static int make_diagonal(const Setup *s, Level *l) {
  RITZ_TRY(RitzVectorCreate(s->ceed, l->exchange->length, l->exchange->precision, &l->diagonal));
  return RitzPartOperatorGetDiagonal(l->op, l->diagonal);
}

// Vectors that the coarsest operator maps to zero; vectors of the parts.
typedef struct {
  CeedInt num;
  CeedVector vectors[RITZ_SYSTEM_MAX_NULL]; // owned
} Nullspace;

static int make_iterations(const Setup *s, Level *l, const Nullspace *null) {
  const CeedInt max_it = s->options.coarse_max_it > 0 ? s->options.coarse_max_it : 200;

  RITZ_TRY(RitzSolverCreateCG(s->ceed, &l->solver));
  RITZ_TRY(RitzSolverSetTolerances(l->solver, s->cycle->coarse_rtol, 0, max_it));
  RITZ_TRY(RitzSolverSetPartOperator(l->solver, l->op, l->constraints));
  RITZ_TRY(RitzSolverSetNullspace(l->solver, null->num, null->vectors));
  RITZ_TRY(make_diagonal(s, l));
  return RitzSolverSetJacobi(l->solver, l->diagonal);
}

// Gathers the coarsest matrix where it is small, else iterates.
static int make_coarse_solver(const Setup *s, RitzSpace space, Level *l) {
  const int64_t max = s->options.max_gathered;
  RitzDirectOptions options = s->options.coarse;
  Nullspace null = {0};
  int ierr = CEED_ERROR_SUCCESS;

  options.for_updates = options.for_updates || s->options.for_updates;
  if (s->options.create_nullspace)
    ierr = s->options.create_nullspace(s->ctx, 0, space, RITZ_SYSTEM_MAX_NULL, &null.num, null.vectors);
  if (!ierr)
    ierr = ritz_gathered_create(call, l->op, l->constraints, null.num, null.vectors, &options,
                                max == 0 ? DEFAULT_MAX_GATHERED : max, s->cycle->why, &l->gathered);
  if (!ierr && !l->gathered) ierr = make_iterations(s, l, &null);
  for (CeedInt i = 0; i < null.num; i++) ierr = ritz_first_error(ierr, CeedVectorDestroy(&null.vectors[i]));
  return ierr;
}

static int make_jacobi(const Setup *s, Level *l, RitzPreconditioner *inner) {
  RITZ_TRY(make_diagonal(s, l));
  return RitzPreconditionerCreateJacobi(s->ceed, l->diagonal, l->kept, inner);
}

// Adds blocks of nodes, those of ghosts to their owners'.
static int add_blocks(const Level *l, RitzExchange exchange, CeedVector blocks) {
  CeedOperator pieces[2];

  ritz_part_operator_pieces(l->op, pieces);
  RITZ_TRY(CeedVectorSetValue(blocks, 0));
  for (int i = 0; i < 2; i++) {
    if (pieces[i])
      RITZ_TRY(CeedOperatorLinearAssembleAddPointBlockDiagonal(pieces[i], blocks, CEED_REQUEST_IMMEDIATE));
  }
  return RitzExchangeRun(exchange, RITZ_EXCHANGE_TO_OWNERS, blocks);
}

// A RitzAssembleFunction.
static int assemble_blocks(void *level, CeedVector blocks) {
  const Level *l = level;
  const RitzExchange e = l->exchange;
  RitzExchange exchange = NULL;

  RITZ_TRY(
      ritz_exchange_create(e->space, e->num_comp * e->num_comp, e->ceed, &e->base, e->precision, &exchange));
  const int ierr = add_blocks(l, exchange, blocks);

  return ritz_first_error(ierr, RitzExchangeDestroy(&exchange));
}

// Whether a level has AUTO's smoother instead: its degree is below those that Schwarz methods are kept for.
static bool is_below_schwarz(const Setup *s, const Level *l) {
  return s->options.smoother == RITZ_SMOOTHER_ELEMENT_SCHWARZ && l->degree < s->options.schwarz_degree;
}

static int make_point_blocks(const Setup *s, Level *l, RitzPreconditioner *inner) {
  const RitzExchange e = l->exchange;

  return ritz_point_blocks_create(s->ceed, call, e->num_comp, e->length, e->precision, assemble_blocks, l,
                                  l->kept, inner);
}

static int make_inner(const Setup *s, Level *l, RitzPreconditioner *inner) {
  switch (is_below_schwarz(s, l) ? RITZ_SMOOTHER_AUTO : s->options.smoother) {
  case RITZ_SMOOTHER_JACOBI: return make_jacobi(s, l, inner);
  case RITZ_SMOOTHER_POINT_BLOCKS: return make_point_blocks(s, l, inner);
  case RITZ_SMOOTHER_ELEMENT_SCHWARZ:
    return ritz_part_schwarz_create(call, l->op, l->constraints, l->precision, inner);
  default: return (l->exchange->num_comp > 1 ? make_point_blocks : make_jacobi)(s, l, inner);
  }
}

static RitzChebyshevOptions chebyshev_of(const Setup *s, const Level *l) {
  RitzChebyshevOptions options = s->options.chebyshev;

  if (is_below_schwarz(s, l)) options.degree = CeedIntMax(options.degree, 3);
  return options;
}

// The bounds of the spectrum are those of the whole operator.
static int make_polynomial(const Setup *s, Level *l) {
  const RitzChebyshevOptions options = chebyshev_of(s, l);
  const RitzSums before = begin_sums(l);
  RitzPreconditioner inner = NULL;
  int ierr = make_inner(s, l, &inner);

  if (!ierr)
    ierr = ritz_chebyshev_create(call, s->ceed, NULL, ritz_part_operator_apply_kept, l->op, l->precision,
                                 l->kept, inner, &options, &l->smoother);
  end_sums(l, &before);
  return ritz_first_error(ierr, RitzPreconditionerDestroy(&inner));
}

// Levels below the finest keep to the least degree of the options, which the finest has at most.
static void take_chosen(Setup *s) {
  const RitzSmootherCandidate *c = &s->cycle->choice.candidates[s->cycle->choice.chosen];

  s->options.smoother = c->kind;
  s->options.schwarz_degree = CeedIntMin(s->options.schwarz_degree, s->degree);
  if (!s->has_steps) s->options.chebyshev.degree = c->steps;
}

static int make_patches(const Setup *s, Level *l) {
  const RitzSums before = begin_sums(l);
  const int ierr = ritz_part_patches_create(call, l->op, l->constraints, l->kept, l->precision,
                                            s->options.is_reversed, &l->smoother);

  end_sums(l, &before);
  l->is_swept = !ierr;
  return ierr;
}

// Patches that were chosen by the model may turn out not to serve, in all parts: then the next best.
static int make_smoother(Setup *s, Level *l) {
  const CeedErrorHandler handler = s->ceed->error_handler;
  const char *message = NULL;

  if (s->options.smoother != RITZ_SMOOTHER_PATCHES) return make_polynomial(s, l);
  if (s->cycle->choice.num < 2) return make_patches(s, l);
  s->ceed->error_handler = CeedErrorStore;
  const int ierr = make_patches(s, l);
  s->ceed->error_handler = handler;
  if (ierr == CEED_ERROR_UNSUPPORTED) {
    RITZ_TRY(CeedResetErrorMessage(s->ceed, &message));
    ritz_part_drop_chosen(&s->cycle->choice);
    take_chosen(s);
    return make_polynomial(s, l);
  }
  if (!ierr) return CEED_ERROR_SUCCESS;
  RITZ_TRY(CeedGetErrorMessage(s->ceed, &message));
  return CeedError(s->ceed, ierr, "%s", message);
}

static int describe_level(RitzSpace space, Level *l) {
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetDegree(space, &l->degree));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  return RitzMeshGetNumElements(mesh, &l->num_elem);
}

// ops [2]: borrowed.
static int make_level(Setup *s, CeedInt level, const CeedOperator ops[]) {
  Level *l = &s->cycle->levels[level];
  RitzSpace space = NULL;

  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level, &space));
  RITZ_TRY(RitzPartOperatorCreate(l->exchange, ops[0], ops[1], &l->op));
  RITZ_TRY(RitzSpaceCreateConstraints(space, s->ceed, s->num_fixed, s->fixed, &l->constraints));
  RITZ_TRY(ritz_indices_unite(s->ceed, l->constraints, l->exchange->ghosts, &l->kept));
  RITZ_TRY(describe_level(space, l));
  if (level == 0) RITZ_TRY(make_coarse_solver(s, space, l));
  l->precision = l->solver ? CEED_SCALAR_TYPE : s->precision;
  RITZ_TRY(make_vectors(s, level));
  if (level == 0) return CEED_ERROR_SUCCESS;
  return make_smoother(s, l);
}

static int make_transfer(const Setup *s, CeedInt level) {
  Level *l = &s->cycle->levels[level];
  RitzSpace space = NULL, below = NULL;

  if (l->exchange->length == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level, &space));
  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, level - 1, &below));
  return RitzSpaceCreateTransfer(below, space, s->ceed, s->precision, &l->prolong, &l->restriction);
}

// What smoothers need besides applies.
static int wanted_by_smoother(const Setup *s) {
  switch (s->options.smoother) {
  case RITZ_SMOOTHER_JACOBI: return RITZ_PREPARE_DIAGONAL;
  case RITZ_SMOOTHER_POINT_BLOCKS: return RITZ_PREPARE_POINT_BLOCKS;
  default: return 0;
  }
}

// All kernels of the cycle are made side by side from here on: each operator waits for its own alone.
static int prepare_cycle(const Setup *s, const CeedOperator *ops) {
  const CeedInt num_levels = s->cycle->num_levels;
  CeedOperator *list = NULL;
  int *wanted = NULL;
  CeedInt num = 0;

  RITZ_TRY(RITZ_CALLOC(s->ceed, 4 * (size_t)num_levels, &list));
  int ierr = RITZ_CALLOC(s->ceed, 4 * (size_t)num_levels, &wanted);
  for (CeedInt i = 0; !ierr && i < 4 * num_levels; i++) {
    const Level *l = &s->cycle->levels[i / 4];
    const CeedOperator of_level[] = {ops[i / 4 * 2], ops[i / 4 * 2 + 1], l->prolong, l->restriction};

    if (!of_level[i % 4]) continue;
    wanted[num] = RITZ_PREPARE_APPLY | (i >= 4 && i % 4 < 2 ? wanted_by_smoother(s) : 0);
    list[num++] = of_level[i % 4];
  }
  if (!ierr) ierr = RitzOperatorsPrepare(num, list, wanted, true);
  RITZ_FREE(&wanted);
  RITZ_FREE((void **)&list);
  return ierr;
}

// One cycle of zeros in all parts: tables and weights come to where they are needed, memory is touched,
// before the first solve has to wait for it.
static int run_cycle_of_zeros(const Setup *s) {
  const CeedInt finest = s->cycle->num_levels - 1;
  const Level *l = &s->cycle->levels[finest];
  CeedVector r = NULL, z = NULL;
  int ierr = RitzVectorCreate(s->ceed, l->exchange->length, l->precision, &r);

  if (!ierr) ierr = RitzVectorCreate(s->ceed, l->exchange->length, l->precision, &z);
  if (!ierr) ierr = CeedVectorSetValue(r, 0);
  if (!ierr) ierr = visit(s->cycle, finest, r, z);
  ierr = ritz_first_error(ierr, CeedVectorDestroy(&r));
  return ritz_first_error(ierr, CeedVectorDestroy(&z));
}

// ops [2 num_levels]: zeros on entry, the caller's.
static int make_levels(Setup *s, CeedOperator ops[]) {
  const CeedInt num = s->cycle->num_levels;

  for (CeedInt level = 0; level < num; level++) RITZ_TRY(make_operators(s, level, &ops[2 * level]));
  if (s->options.use_precision) RITZ_TRY(convert_operators(s, 2 * (num - 1), &ops[2]));
  for (CeedInt level = 1; level < num; level++) RITZ_TRY(make_transfer(s, level));
  RITZ_TRY(prepare_cycle(s, ops));
  for (CeedInt level = 0; level < num; level++) RITZ_TRY(make_level(s, level, &ops[2 * level]));
  return run_cycle_of_zeros(s);
}

// AUTO of several components.
static int choose_coupled(Setup *s, RitzSpace finest) {
  RitzPartMultigridOptions *o = &s->options;
  bool have_directions = false;
  CeedInt num_comp = 1;

  RITZ_TRY(RitzSpaceGetNumComponents(finest, &num_comp));
  if (num_comp == 1) return CEED_ERROR_SUCCESS;
  if (o->chebyshev.degree == 0) o->chebyshev.degree = RITZ_COUPLED_STEPS;
  RITZ_TRY(ritz_part_have_directions(finest, s->transport, &have_directions));
  if (!have_directions) return CEED_ERROR_SUCCESS;
  o->smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
  o->schwarz_degree = CeedIntMax(o->schwarz_degree, RITZ_COUPLED_SCHWARZ_DEGREE);
  return CEED_ERROR_SUCCESS;
}

static int choose_measured(Setup *s, RitzSpace finest) {
  RitzPartMultigridOptions *o = &s->options;
  RitzSmootherChoice *choice = &s->cycle->choice;

  if (o->smoother != RITZ_SMOOTHER_MEASURED) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_part_choose_smoother(s->ceed, finest, s->transport, choice));
  o->smoother = RITZ_SMOOTHER_AUTO;
  if (choice->num > 0) take_chosen(s);
  return CEED_ERROR_SUCCESS;
}

static int choose_smoother(Setup *s, CeedInt num_levels) {
  RitzSpace finest = NULL;

  RITZ_TRY(RitzHierarchyGetSpace(s->hierarchy, num_levels - 1, &finest));
  RITZ_TRY(RitzSpaceGetDegree(finest, &s->degree));
  s->has_steps = s->options.chebyshev.degree > 0;
  RITZ_TRY(choose_measured(s, finest));
  return s->options.smoother == RITZ_SMOOTHER_AUTO ? choose_coupled(s, finest) : CEED_ERROR_SUCCESS;
}

static int make_cycle(Setup *s) {
  CeedOperator *ops = NULL;
  CeedInt num = 0;

  RITZ_TRY(RitzHierarchyGetNumLevels(s->hierarchy, &num));
  RITZ_TRY(RITZ_CALLOC(s->ceed, 1, &s->cycle));
  RITZ_TRY(RITZ_CALLOC(s->ceed, (size_t)num, &s->cycle->levels));
  s->cycle->num_levels = num;
  s->cycle->coarse_rtol = s->options.coarse_rtol > 0 ? s->options.coarse_rtol : 1e-2;
  RITZ_TRY(choose_smoother(s, num));
  RITZ_TRY(RITZ_CALLOC(s->ceed, 2 * (size_t)num, &ops));
  int ierr = make_levels(s, ops);

  for (CeedInt i = 0; i < 2 * num; i++) ierr = ritz_first_error(ierr, CeedOperatorDestroy(&ops[i]));
  RITZ_FREE((void **)&ops);
  return ierr;
}

static bool is_swept(const Cycle *c) {
  for (CeedInt i = 0; i < c->num_levels; i++) {
    if (c->levels[i].is_swept) return true;
  }
  return false;
}

static int check_options(Ceed ceed, const RitzPartMultigridOptions *o) {
  RITZ_REQUIRE(o->coarse_rtol >= 0 && o->coarse_rtol < 1 && o->coarse_max_it >= 0, ceed,
               CEED_ERROR_INCOMPATIBLE,
               "%s: coarse_rtol %g, needed 0 to 1; coarse_max_it %" CeedInt_FMT ", needed at least 0", call,
               o->coarse_rtol, o->coarse_max_it);
  RITZ_REQUIRE(o->schwarz_degree >= 0, ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: schwarz_degree %" CeedInt_FMT ", needed at least 0", call, o->schwarz_degree);
  RITZ_REQUIRE(o->smoother == RITZ_SMOOTHER_AUTO || o->smoother == RITZ_SMOOTHER_JACOBI ||
                   o->smoother == RITZ_SMOOTHER_POINT_BLOCKS ||
                   o->smoother == RITZ_SMOOTHER_ELEMENT_SCHWARZ || o->smoother == RITZ_SMOOTHER_PATCHES ||
                   o->smoother == RITZ_SMOOTHER_MEASURED,
               ceed, CEED_ERROR_UNSUPPORTED,
               "%s: smoother %d, parts have AUTO, JACOBI, POINT_BLOCKS, ELEMENT_SCHWARZ, PATCHES and "
               "MEASURED of RitzSmootherKind",
               call, (int)o->smoother);
  return o->use_precision ? ritz_check_precision(ceed, call, o->precision) : CEED_ERROR_SUCCESS;
}

int RitzPreconditionerCreatePartMultigrid(Ceed ceed, RitzHierarchy hierarchy, const RitzTransport *transport,
                                          RitzPartLevelFunction create_operators, void *ctx,
                                          CeedInt num_fixed, const RitzFixedPart fixed[],
                                          const RitzPartMultigridOptions *options, RitzPreconditioner *pc) {
  const RitzPartMultigridOptions defaults = {0};

  RITZ_HANDLE(ceed, hierarchy);
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

  s.precision = s.options.use_precision ? s.options.precision : CEED_SCALAR_TYPE;
  RITZ_TRY(check_options(ceed, &s.options));
  int ierr = make_cycle(&s);

  if (!ierr) {
    const RitzGathered *coarsest = s.cycle->levels[0].gathered;
    const Level *finest = &s.cycle->levels[s.cycle->num_levels - 1];

    const bool is_symmetric =
        coarsest && ritz_gathered_is_symmetric(coarsest) && (s.options.is_reversed || !is_swept(s.cycle));

    ierr = ritz_preconditioner_create(ceed, call, finest->exchange->length, finest->precision, &methods,
                                      s.cycle, is_symmetric, pc);
  }
  if (ierr && s.cycle) (void)destroy_cycle(&s.cycle);
  return ierr;
}
