// SPDX-License-Identifier: BSD-2-Clause
// Kernels ahead of the first use, and how often operators are used (ritz/operator.h).
#include <ritz/operator.h>

#include "core/operator.h"

// ---- Use ----

int RitzOperatorSetUse(CeedOperator op, RitzOperatorUse use) {
  RITZ_HANDLE(op);
  RITZ_REQUIRE(use >= RITZ_USE_MANY && use <= RITZ_USE_NO_WAIT, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: %d is no use of an operator", __func__, (int)use);
  op->use = use;
  for (CeedInt i = 0; i < op->num_sub; i++) op->sub[i]->use = use;
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorGetUse(CeedOperator op, RitzOperatorUse *use) {
  RITZ_HANDLE(op);
  RITZ_ARGUMENT(op, use);
  *use = op->num_sub > 0 ? op->sub[0]->use : op->use;
  return CEED_ERROR_SUCCESS;
}

// ---- Kernels ----

// Single operators that have something to be made.
typedef struct {
  CeedInt num;
  CeedOperator *ops; // owned, counted by the caller's list
  int *wanted;       // owned
} List;

static CeedInt num_parts(CeedOperator op) { return op->is_composite ? op->num_sub : 1; }

static bool has_kernels(CeedOperator op) {
  return op->num_elem > 0 && op->obj.ceed->backend.operators_prepare != NULL;
}

static void add(CeedOperator op, int wanted, List *list) {
  if (!has_kernels(op)) return;
  list->ops[list->num] = op;
  list->wanted[list->num++] = wanted;
}

// What computes an input that is stored at points, NULL: it is not.
static CeedOperator source_of(CeedOperatorField field) {
  const CeedVector vec = field->vec;
  return vec == CEED_VECTOR_ACTIVE || vec == CEED_VECTOR_NONE || !vec->source ? NULL : vec->source->op;
}

static void add_parts(CeedOperator op, int wanted, List *list) {
  for (CeedInt i = 0; i < num_parts(op); i++) {
    CeedOperator part = op->is_composite ? op->sub[i] : op;
    for (CeedInt k = 0; k < part->num_in; k++) {
      if (source_of(part->in[k])) add(source_of(part->in[k]), RITZ_PREPARE_APPLY, list);
    }
    add(part, wanted, list);
  }
}

// Parts, and what may compute their inputs.
static size_t most_operators(CeedOperator op) {
  size_t most = 0;
  for (CeedInt i = 0; i < num_parts(op); i++)
    most += 1 + (size_t)(op->is_composite ? op->sub[i] : op)->num_in;
  return most;
}

static int list_parts(CeedInt num, const CeedOperator *ops, const int *wanted, List *list) {
  size_t most = 0;
  for (CeedInt i = 0; i < num; i++) most += most_operators(ops[i]);
  RITZ_TRY(RITZ_MALLOC(ops[0]->obj.ceed, most, &list->ops));
  RITZ_TRY(RITZ_MALLOC(ops[0]->obj.ceed, most, &list->wanted));
  for (CeedInt i = 0; i < num; i++) add_parts(ops[i], wanted ? wanted[i] : RITZ_PREPARE_APPLY, list);
  return CEED_ERROR_SUCCESS;
}

// Moves the operators of the first one's backend to the front; returns their number.
static CeedInt gather_backend(List *list) {
  CeedInt n = 0;
  for (CeedInt i = 0; i < list->num; i++) {
    const CeedOperator op = list->ops[i];
    const int wanted = list->wanted[i];
    if (op->obj.ceed->backend.operators_prepare != list->ops[0]->obj.ceed->backend.operators_prepare)
      continue;
    list->ops[i] = list->ops[n];
    list->wanted[i] = list->wanted[n];
    list->ops[n] = op;
    list->wanted[n++] = wanted;
  }
  return n;
}

static int prepare_list(List rest, bool in_background) {
  while (rest.num > 0) {
    const CeedInt n = gather_backend(&rest);
    RITZ_TRY(rest.ops[0]->obj.ceed->backend.operators_prepare(n, rest.ops, rest.wanted, in_background));
    rest = (List){rest.num - n, rest.ops + n, rest.wanted + n};
  }
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorsPrepare(CeedInt num, const CeedOperator *ops, const int *wanted, bool in_background) {
  List list = {0};
  RITZ_REQUIRE(num >= 0, NULL, CEED_ERROR_DIMENSION, "%s: %" CeedInt_FMT " operators", __func__, num);
  for (CeedInt i = 0; i < num; i++) {
    const CeedOperator op = ops[i];
    RITZ_HANDLE(op);
    RITZ_TRY(CeedOperatorCheckReady(op));
  }
  if (num == 0) return CEED_ERROR_SUCCESS;
  int ierr = list_parts(num, ops, wanted, &list);
  if (!ierr) ierr = prepare_list(list, in_background);
  RITZ_FREE(&list.ops);
  RITZ_FREE(&list.wanted);
  return ierr;
}
