// SPDX-License-Identifier: BSD-2-Clause
// What parts of a problem exchange, and operators of all parts or of the only one.
#include <ritz/derivative.h>
#include <ritz/operator.h>

#include "cli/cli.h"
#include "cli/problem.h"

// ---- Vectors and numbers ----

int problem_reduce(const Problem *p, RitzReduction kind, CeedInt num, double values[]) {
  return p->exchange ? RitzExchangeReduce(p->exchange, kind, num, values) : CEED_ERROR_SUCCESS;
}

int problem_add_up(const Problem *p, CeedVector v) {
  return p->exchange ? RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_OWNERS, v) : CEED_ERROR_SUCCESS;
}

int problem_share(const Problem *p, CeedVector v) {
  return p->exchange ? RitzExchangeRun(p->exchange, RITZ_EXCHANGE_TO_GHOSTS, v) : CEED_ERROR_SUCCESS;
}

// ---- Operators ----

void problem_destroy_operator(ProblemOperator *op) {
  CeedOperatorDestroy(&op->whole);
  RitzPartOperatorDestroy(&op->parts);
  for (int i = 0; i < 2; i++) CeedOperatorDestroy(&op->pieces[i]);
}

int problem_unite(const Problem *p, ProblemOperator *op) {
  CLI_TRY(RitzPartOperatorDestroy(&op->parts));
  return RitzPartOperatorCreate(p->exchange, op->pieces[0], op->pieces[1], &op->parts);
}

int problem_linearize(const Problem *p, const ProblemOperator *op, CeedVector state,
                      ProblemOperator *jacobian) {
  if (!op->parts) return RitzOperatorCreateDerivative(op->whole, state, &jacobian->whole);
  for (int i = 0; i < 2; i++) {
    if (op->pieces[i]) CLI_TRY(RitzOperatorCreateDerivative(op->pieces[i], state, &jacobian->pieces[i]));
  }
  return problem_unite(p, jacobian);
}

int problem_get_diagonal(const ProblemOperator *op, CeedVector diagonal) {
  return op->parts ? RitzPartOperatorGetDiagonal(op->parts, diagonal)
                   : CeedOperatorLinearAssembleDiagonal(op->whole, diagonal, CEED_REQUEST_IMMEDIATE);
}

int problem_apply(const ProblemOperator *op, CeedVector x, CeedVector y) {
  return op->parts ? RitzPartOperatorApply(op->parts, x, y)
                   : CeedOperatorApply(op->whole, x, y, CEED_REQUEST_IMMEDIATE);
}

int problem_set_operator(const ProblemOperator *op, RitzSolver solver, RitzIndices constraints) {
  if (op->parts) return RitzSolverSetPartOperator(solver, op->parts, constraints);
  CLI_TRY(RitzSolverSetOperator(solver, op->whole));
  return RitzSolverSetConstraintIndices(solver, constraints);
}
