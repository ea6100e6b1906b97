// SPDX-License-Identifier: BSD-2-Clause
// What runs for an operator, told to people (ritz/operator.h).
#include <ritz/operator.h>

#include "core/core.h"

static int explain_single(CeedOperator op, FILE *stream) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;

  fprintf(stream, "operator %s on %s: %" CeedInt_FMT " elements, %" CeedInt_FMT " points each\n",
          name[0] ? name : "without a name", backend->name, op->num_elem, op->num_qpts);
  if (backend->operator_explain && op->num_elem > 0) return backend->operator_explain(op, stream);
  fprintf(stream, "  runs element by element, field by field, without a kernel of its own\n");
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorExplain(CeedOperator op, FILE *stream) {
  RITZ_HANDLE(op);
  RITZ_REQUIRE(stream, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the stream is NULL", __func__);
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (!op->is_composite) return explain_single(op, stream);
  fprintf(stream, "composite of %" CeedInt_FMT " operators\n", op->num_sub);
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(explain_single(op->sub[i], stream));
  return CEED_ERROR_SUCCESS;
}

static int explain_steps(CeedOperator op, FILE *stream) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  bool has_steps = false;
  if (backend->operator_steps && op->num_elem > 0) RITZ_TRY(backend->operator_steps(op, stream, &has_steps));
  if (!has_steps)
    fprintf(stream, "no steps of '%s' on %s: it runs element by element, field by field\n",
            op->name && op->name[0] ? op->name : op->qf->kernel_name, backend->name);
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorExplainSteps(CeedOperator op, FILE *stream) {
  RITZ_HANDLE(op);
  RITZ_REQUIRE(stream, op->obj.ceed, CEED_ERROR_INCOMPATIBLE, "%s: the stream is NULL", __func__);
  RITZ_TRY(CeedOperatorCheckReady(op));
  if (!op->is_composite) return explain_steps(op, stream);
  for (CeedInt i = 0; i < op->num_sub; i++) RITZ_TRY(explain_steps(op->sub[i], stream));
  return CEED_ERROR_SUCCESS;
}

int RitzOperatorGetSource(CeedOperator op, const char **source) {
  RITZ_HANDLE(op);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(!op->is_composite, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a composite has no kernel of its own, ask for its sub-operators", __func__);
  *source = NULL;
  if (!op->obj.ceed->backend.operator_source || op->num_elem == 0) return CEED_ERROR_SUCCESS;
  return op->obj.ceed->backend.operator_source(op, source);
}
