// SPDX-License-Identifier: BSD-2-Clause
// Operators of problems in parts: products with the exchange to ghosts behind the elements without ghosts,
// the diagonal, and solvers of the whole problem (ritz/exchange.h).

#include "base/error.h"
#include "base/memory.h"
#include "core/apply-hooks.h"
#include "core/core.h"
#include "core/vector-pass.h"
#include "distributed/exchange.h"
#include "solver/parts.h"

const RitzClass ritz_part_operator_class = {.name = "RitzPartOperator"};

struct RitzPartOperator_private {
  const RitzClass *class;
  Ceed ceed;                 // borrowed: lives in exchange
  RitzExchange exchange;     // counted
  CeedOperator inside, seam; // counted; NULL: no such elements
};

static int check_operator(RitzExchange e, const char *name, CeedOperator op) {
  CeedSize input = 0, output = 0;

  if (!op) return CEED_ERROR_SUCCESS;
  RITZ_ARGUMENT_OF(e->ceed, "RitzPartOperatorCreate", op);
  RITZ_TRY(CeedOperatorGetActiveVectorLengths(op, &input, &output));
  RITZ_REQUIRE(input == e->length && output == e->length, e->ceed, CEED_ERROR_DIMENSION,
               "RitzPartOperatorCreate: operator '%s' maps %" CeedSize_FMT " to %" CeedSize_FMT
               " entries, the space has %" CeedSize_FMT,
               name, input, output, e->length);
  return CEED_ERROR_SUCCESS;
}

int RitzPartOperatorCreate(RitzExchange exchange, CeedOperator inside, CeedOperator seam,
                           RitzPartOperator *op) {
  RitzPartOperator new_op = NULL;

  RITZ_HANDLE(exchange, inside, seam);
  RITZ_ARGUMENT(exchange, op);
  *op = NULL;
  RITZ_TRY(check_operator(exchange, "inside", inside));
  RITZ_TRY(check_operator(exchange, "seam", seam));
  RITZ_TRY(RITZ_CALLOC(exchange->ceed, 1, &new_op));
  new_op->class = &ritz_part_operator_class;
  new_op->ceed = exchange->ceed;
  int ierr = RitzExchangeReferenceCopy(exchange, &new_op->exchange);

  if (!ierr && inside) ierr = CeedOperatorReferenceCopy(inside, &new_op->inside);
  if (!ierr && seam) ierr = CeedOperatorReferenceCopy(seam, &new_op->seam);
  if (ierr) return ritz_first_error(ierr, RitzPartOperatorDestroy(&new_op));
  *op = new_op;
  return CEED_ERROR_SUCCESS;
}

int RitzPartOperatorDestroy(RitzPartOperator *op) {
  if (!op || !*op) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_check_handle(NULL, __func__, "op", *op, &ritz_part_operator_class));
  RitzPartOperator o = *op;
  int ierr = CEED_ERROR_SUCCESS;

  *op = NULL;
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&o->inside));
  ierr = ritz_first_error(ierr, CeedOperatorDestroy(&o->seam));
  ierr = ritz_first_error(ierr, RitzExchangeDestroy(&o->exchange));
  RITZ_FREE(&o);
  return ierr;
}

RitzExchange ritz_part_operator_pieces(RitzPartOperator op, CeedOperator pieces[2]) {
  if (pieces) pieces[0] = op->inside, pieces[1] = op->seam;
  return op->exchange;
}

// ---- Products ----

static int apply_inside(RitzPartOperator op, CeedVector x, CeedVector y) {
  if (op->inside) return CeedOperatorApply(op->inside, x, y, CEED_REQUEST_IMMEDIATE);
  return op->seam ? CEED_ERROR_SUCCESS : CeedVectorSetValue(y, 0);
}

static int apply_seam(RitzPartOperator op, CeedVector x, CeedVector y) {
  if (!op->seam) return CEED_ERROR_SUCCESS;
  if (op->inside) return CeedOperatorApplyAdd(op->seam, x, y, CEED_REQUEST_IMMEDIATE);
  return CeedOperatorApply(op->seam, x, y, CEED_REQUEST_IMMEDIATE);
}

// Ghosts of x get their values behind the elements that need none.
static int apply_overlapped(RitzPartOperator op, CeedVector x, CeedVector y) {
  RITZ_TRY(RitzExchangeBegin(op->exchange, RITZ_EXCHANGE_TO_GHOSTS, x));
  const int ierr = apply_inside(op, x, y); // what was begun is ended, whatever happens meanwhile

  return ritz_first_error(ierr, RitzExchangeEnd(op->exchange, RITZ_EXCHANGE_TO_GHOSTS, x));
}

static int apply_in_turn(RitzPartOperator op, CeedVector x, CeedVector y) {
  RITZ_TRY(RitzExchangeRun(op->exchange, RITZ_EXCHANGE_TO_GHOSTS, x));
  return apply_inside(op, x, y);
}

static int check_vectors(RitzPartOperator op, CeedVector x, CeedVector y) {
  RITZ_TRY(ritz_exchange_check(op->exchange, "RitzPartOperatorApply", x));
  return ritz_exchange_check(op->exchange, "RitzPartOperatorApply", y);
}

int ritz_part_operator_apply_kept(void *op, CeedVector x, CeedVector y) {
  const RitzPartOperator o = op;

  RITZ_TRY(check_vectors(o, x, y));
  RITZ_TRY((o->inside ? apply_overlapped : apply_in_turn)(o, x, y));
  RITZ_TRY(apply_seam(o, x, y));
  return ritz_exchange_run_and_sum(o->exchange, RITZ_EXCHANGE_TO_OWNERS, y, 0, NULL);
}

// y += A x of some elements, and what they add to x . A x where their kernel tells and *is_done.
static int add_energy(CeedOperator op, CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k, bool adds,
                      bool *is_done) {
  bool is_told = false;

  if (!op) return CEED_ERROR_SUCCESS;
  if (*is_done) RITZ_TRY(ritz_operator_apply_energy_kernel(op, x, y, NULL, scalars, k, adds, &is_told));
  *is_done = is_told;
  return is_told ? CEED_ERROR_SUCCESS : CeedOperatorApplyAddActive(op, x, y, CEED_REQUEST_IMMEDIATE);
}

static int apply_energy(void *op, CeedVector x, CeedVector y, RitzScalars scalars, CeedInt k, bool *is_done) {
  const RitzPartOperator o = op;

  RITZ_TRY(check_vectors(o, x, y));
  *is_done = o->inside || o->seam;
  RITZ_TRY(add_energy(o->inside, x, y, scalars, k, false, is_done));
  RITZ_TRY(add_energy(o->seam, x, y, scalars, k, o->inside != NULL, is_done));
  return ritz_exchange_run_and_sum(o->exchange, RITZ_EXCHANGE_TO_OWNERS, y, *is_done, scalars->values + k);
}

static int update_ghosts(void *op, CeedVector x, RitzScalars scalars, CeedInt first, CeedInt num) {
  const RitzPartOperator o = op;

  RITZ_TRY(ritz_exchange_check(o->exchange, "RitzSolverSolve", x));
  return ritz_exchange_run_and_sum(o->exchange, RITZ_EXCHANGE_TO_GHOSTS, x, num,
                                   num > 0 ? scalars->values + first : NULL);
}

static bool has_other_output(RitzPartOperator op) {
  return (op->inside && ritz_operator_has_other_output(op->inside)) ||
         (op->seam && ritz_operator_has_other_output(op->seam));
}

int RitzPartOperatorApply(void *op, CeedVector x, CeedVector y) {
  const RitzPartOperator o = op;

  RITZ_HANDLE(o, x, y);
  RITZ_TRY(check_vectors(o, x, y));
  int ierr = ritz_part_operator_apply_kept(o, x, y);

  // ghosts of x are zero again, whatever happens meanwhile
  if (!ierr) ierr = RitzVectorSetEntries(y, o->exchange->ghosts, 0);
  return ritz_first_error(ierr, RitzVectorSetEntries(x, o->exchange->ghosts, 0));
}

int RitzPartOperatorGetDiagonal(RitzPartOperator op, CeedVector diagonal) {
  RITZ_HANDLE(op, diagonal);
  const RitzExchange e = op->exchange;

  RITZ_TRY(ritz_exchange_check(e, "RitzPartOperatorGetDiagonal", diagonal));
  RITZ_TRY(CeedVectorSetValue(diagonal, 0));
  if (op->inside)
    RITZ_TRY(CeedOperatorLinearAssembleAddDiagonal(op->inside, diagonal, CEED_REQUEST_IMMEDIATE));
  if (op->seam) RITZ_TRY(CeedOperatorLinearAssembleAddDiagonal(op->seam, diagonal, CEED_REQUEST_IMMEDIATE));
  RITZ_TRY(RitzExchangeRun(e, RITZ_EXCHANGE_TO_OWNERS, diagonal));
  return RitzVectorSetEntries(diagonal, e->ghosts, 1);
}

// ---- Solvers ----

int ritz_indices_unite(Ceed ceed, RitzIndices a, RitzIndices b, RitzIndices *both) {
  const int64_t *of_a = NULL, *of_b = NULL;
  int64_t num_a = 0, num_b = 0, num = 0, *entries = NULL;

  RITZ_TRY(RitzIndicesGet(a, &num_a, &of_a));
  if (b) RITZ_TRY(RitzIndicesGet(b, &num_b, &of_b));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(num_a + num_b), &entries));
  for (int64_t i = 0, k = 0; i < num_a || k < num_b;) { // both ascend
    const int64_t next = k == num_b || (i < num_a && of_a[i] < of_b[k]) ? of_a[i] : of_b[k];

    i += i < num_a && of_a[i] == next;
    k += k < num_b && of_b[k] == next;
    entries[num++] = next;
  }
  const int ierr = RitzIndicesCreate(ceed, num, entries, both);

  RITZ_FREE(&entries);
  return ierr;
}

int RitzSolverSetPartOperator(RitzSolver solver, RitzPartOperator op, RitzIndices constraints) {
  RitzIndices kept = NULL;
  RitzPartMethods methods = {.update_ghosts = update_ghosts};

  RITZ_HANDLE(solver, op, constraints);
  RITZ_ARGUMENT(solver, op);
  RITZ_OPTIONAL(op->exchange->ceed, constraints);
  RITZ_REQUIRE(op->exchange->precision == CEED_SCALAR_TYPE, op->exchange->ceed, CEED_ERROR_INCOMPATIBLE,
               "RitzSolverSetPartOperator: the operator is for vectors of %s, solvers have those of %s",
               ritz_precision_name(op->exchange->precision), ritz_precision_name(CEED_SCALAR_TYPE));
  if (op->exchange->transport.reduce_in_memory) methods.apply_energy = apply_energy;
  methods.has_other_output = has_other_output(op);
  RITZ_TRY(ritz_indices_unite(op->exchange->ceed, op->exchange->ghosts, constraints, &kept));
  int ierr = RitzSolverSetConstraintIndices(solver, kept);

  if (!ierr) ierr = RitzSolverSetApply(solver, ritz_part_operator_apply_kept, op);
  if (!ierr) ierr = ritz_solver_set_parts(solver, &methods);
  if (!ierr) ierr = RitzSolverSetReduction(solver, RitzExchangeReduce, op->exchange);
  if (!ierr) ierr = RitzSolverSetNumOwned(solver, op->exchange->num_owned);
  if (!ierr && op->exchange->transport.reduce_in_memory)
    ierr = RitzSolverSetReductionInMemory(solver, ritz_exchange_reduce_in_memory);
  return ritz_first_error(ierr, RitzIndicesDestroy(&kept));
}
