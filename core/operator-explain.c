// SPDX-License-Identifier: BSD-2-Clause
// What runs for an operator, for people (ritz/operator.h).
#include <ritz/operator.h>

#include "core/operator.h"

// The operator that the backend runs for an operator or variant: itself or its stand-in.
static int find_runner(CeedOperator op, CeedOperator variant, CeedOperator *runner, bool *is_supported) {
  RITZ_TRY(ritz_variant_is_supported(variant, CEED_VECTOR_NONE, is_supported));
  *runner = variant;
  return *is_supported ? CEED_ERROR_SUCCESS : ritz_operator_stand_in(op, runner);
}

static int explain_variant(CeedOperator op, CeedOperator variant, FILE *stream) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  const char *precisions = ritz_operator_precisions(variant);
  CeedOperator runner = variant;
  bool is_supported = true;
  if (op->num_elem > 0) RITZ_TRY(find_runner(op, variant, &runner, &is_supported));
  if (precisions) fprintf(stream, "  precision %s%s\n", precisions, variant == op ? "" : ":");
  if (!is_supported)
    fprintf(stream, "  computes in the library's own precision between conversions: %s\n",
            variant->why_unsupported ? variant->why_unsupported : "the backend has no other one");
  if (backend->operator_explain && op->num_elem > 0) return backend->operator_explain(runner, stream);
  fprintf(stream, "  runs element by element, field by field, without a kernel of its own\n");
  fprintf(stream, "  several vectors at once: one after the other\n");
  return CEED_ERROR_SUCCESS;
}

// Passive inputs that an operator computes when what it reads has changed.
static void explain_sources(CeedOperator op, FILE *stream) {
  if (op->note) fprintf(stream, "  %s\n", op->note);
  for (CeedInt i = 0; i < op->num_in; i++) {
    const CeedOperatorField f = op->in[i];
    if (f->vec == CEED_VECTOR_ACTIVE || f->vec == CEED_VECTOR_NONE) continue;
    if (!f->vec->source || f->vec->source->is_once) continue;
    fprintf(stream,
            "  stored at points: %" CeedInt_FMT
            " numbers a point ('%s'), %zu bytes, %.1f MB in all, computed "
            "again when the state has changed\n",
            f->qf_field->size, f->qf_field->name,
            (size_t)f->qf_field->size * ritz_scalar_bytes(f->vec->precision),
            1e-6 * (double)f->vec->storage.num_bytes);
  }
}

// Explains an operator and the variants that vectors have asked for.
static int explain_single(CeedOperator op, FILE *stream) {
  const char *name = op->name && op->name[0] ? op->name : op->qf->kernel_name;
  const CeedInt own = op->rstr_points ? op->rstr_points->num_points : 0;
  fprintf(stream, "operator %s on %s: %" CeedInt_FMT " elements, %" CeedInt_FMT " points %s\n",
          name[0] ? name : "without a name", op->obj.ceed->backend.name, op->num_elem,
          op->is_at_points ? own : op->num_qpts, op->is_at_points ? "of their own" : "each");
  explain_sources(op, stream);
  RITZ_TRY(explain_variant(op, op, stream));
  for (int i = 0; i < 4; i++) {
    CeedOperator variant = op->variants[i];
    if (!variant) continue;
    RITZ_TRY(ritz_operator_variant(op, variant->active_precision[0], variant->active_precision[1], &variant));
    RITZ_TRY(explain_variant(op, variant, stream));
  }
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
  RITZ_ARGUMENT(op, source);
  RITZ_TRY(CeedOperatorCheckReady(op));
  RITZ_REQUIRE(!op->is_composite, op->obj.ceed, CEED_ERROR_INCOMPATIBLE,
               "%s: a composite has no kernel of its own, ask for its sub-operators", __func__);
  *source = NULL;
  if (!op->obj.ceed->backend.operator_source || op->num_elem == 0) return CEED_ERROR_SUCCESS;
  CeedOperator runner;
  bool is_supported;
  RITZ_TRY(find_runner(op, op, &runner, &is_supported));
  return op->obj.ceed->backend.operator_source(runner, source);
}
