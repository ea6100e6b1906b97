// SPDX-License-Identifier: BSD-2-Clause
// Sources that are formulas in C: integrated by operators that a run-time compiler makes, where
// problem-data.c asks a function at every point. Called by `ritz solve`, which does the latter where this
// cannot be done.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz/form.h>
#include <ritz/operator.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/problem.h"

// A function at points with position and, as its context, the time.
static int create_text(const Problem *p, const ProblemSource *source, char **text) {
  size_t size = 0;
  FILE *stream = open_memstream(text, &size);

  if (stream) {
    fprintf(
        stream,
        "%s"
        "CEED_QFUNCTION_HELPER void source_at(const void *ctx, const CeedScalar x[%d], CeedScalar v[%d]) {\n"
        "  CeedScalar at[3] = {0, 0, 0};\n"
        "  RITZ_POINT_UNROLL\n"
        "  for (int d = 0; d < %d; d++) at[d] = x[d];\n",
        source->text, (int)p->dim, (int)p->num_comp, (int)p->dim);
    for (CeedInt c = 0; c < p->num_comp; c++)
      fprintf(stream, "  v[%d] = source_%d(at[0], at[1], at[2], *(const CeedScalar *)ctx, 0);\n", (int)c,
              (int)c);
    fprintf(stream, "}\n");
  }
  if (stream && !fclose(stream)) return CEED_ERROR_SUCCESS;
  return CeedError(p->ceed, CEED_ERROR_MAJOR, "no memory for the text of a source");
}

// The rule is that of points_create; elements have computed geometry, which needs no set-up.
static int create_operator(Problem *p, const ProblemSource *source, CeedQFunctionContext time,
                           CeedOperator *op) {
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_VALUE, .space = p->space};
  const RitzOperatorOptions options = {.space = p->space,
                                       .num_points = p->options.order + 2,
                                       .policy = RITZ_POLICY_ISOPARAMETRIC,
                                       .num_regions = source->num_regions,
                                       .regions = source->regions,
                                       .is_axisymmetric = p->options.is_axisymmetric};
  RitzGeometry geometry = NULL;
  char *text = NULL;

  CLI_TRY(problem_get_geometry(p, p->space, &geometry));
  CLI_TRY(create_text(p, source, &text));
  const RitzForm form = {text, "source_at", RITZ_FORM_POSITION, 0, NULL, 1, &v};
  const int ierr = RitzGeometryCreateFormOperator(geometry, p->ceed, &options, &form, time, op);

  free(text);
  CLI_TRY(ierr);
  return *op ? RitzOperatorSetUse(*op, RITZ_USE_ONCE) : CEED_ERROR_SUCCESS;
}

// sum += the integrals; a part may have none of the elements.
static int add_one(Problem *p, const ProblemSource *source, CeedQFunctionContext time, CeedVector sum) {
  CeedOperator op = NULL;
  int ierr = create_operator(p, source, time, &op);

  if (!ierr && op) ierr = CeedOperatorApplyAdd(op, CEED_VECTOR_NONE, sum, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr;
}

static int create_time(const Problem *p, CeedQFunctionContext *time) {
  CeedScalar now = (CeedScalar)p->time;

  CLI_TRY(CeedQFunctionContextCreate(p->ceed, time));
  return CeedQFunctionContextSetData(*time, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(now), &now);
}

// A value that is no finite number at some point makes all nodes of its element so.
static int add_finite(CeedVector sum, CeedVector rhs, bool *is_done) {
  CeedScalar norm = 0;

  CLI_TRY(CeedVectorNorm(sum, CEED_NORM_1, &norm));
  *is_done = isfinite(norm);
  return *is_done ? CeedVectorAXPY(rhs, 1, sum) : CEED_ERROR_SUCCESS;
}

int problem_add_sources(Problem *p, CeedInt num, const ProblemSource sources[], CeedVector rhs,
                        bool *is_done) {
  CeedQFunctionContext time = NULL;
  CeedVector sum = NULL;
  CeedSize size = 0;
  int ierr;

  *is_done = false;
  if (!p->has_directions || p->dim != p->space_dim) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSpaceGetSize(p->space, &size));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, size, &sum));
  CLI_TRY_CLEANUP(CeedVectorSetValue(sum, 0));
  CLI_TRY_CLEANUP(create_time(p, &time));
  for (CeedInt i = 0; i < num && !ierr; i++) ierr = add_one(p, &sources[i], time, sum);
  // No compiler, or a failure of what works otherwise: the caller has another way.
  ierr = ierr ? CEED_ERROR_SUCCESS : add_finite(sum, rhs, is_done);
cleanup:
  CeedQFunctionContextDestroy(&time);
  CeedVectorDestroy(&sum);
  return ierr;
}
