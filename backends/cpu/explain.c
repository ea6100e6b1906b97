// SPDX-License-Identifier: BSD-2-Clause
// What runs for an operator of /cpu/self/gen.
#include "backends/cpu/cpu.h"

static void explain_precision(const RitzCpuTier *tier, FILE *stream) {
  const RitzPlan *plan = tier->plan;
  const double bytes = ritz_cpu_rounded_bytes(plan);

  if (plan->precision == CEED_SCALAR_TYPE) return;
  if (tier->path == RITZ_PATH_UNFUSED)
    fprintf(stream, "  the QFunction computes in double; its arguments are converted\n");
  else if (plan->has_context)
    fprintf(stream,
            "  the QFunction, which has a context, computes in double; its arguments are converted\n");
  if (bytes > 0) fprintf(stream, "  matrices of bases rounded to float: %.0f bytes more\n", bytes);
}

// The critical path is that of a thread for each section.
static void explain_schedule(const RitzCpu *context, const RitzCpuTier *tier, FILE *stream) {
  const RitzSchedule *s = tier->schedule;
  const int num_sections = ritz_schedule_num_sections(s);
  const double ideal = (double)s->num_batches / num_sections, path = ritz_schedule_path(s);

  fprintf(stream, "  threads: %d%s; %" CeedInt_FMT " batches of %" CeedInt_FMT " elements\n",
          context->num_threads, context->is_deterministic ? ", results independent of their number" : "",
          s->num_batches, tier->target->lanes);
  if (num_sections < 2) return;
  fprintf(stream, "  schedule: %d sections%s; critical path %.*f batches, %.2f of the ideal rate\n",
          num_sections, s->copies ? ", which add into copies of their own" : "", s->copies ? 1 : 0, path,
          ideal / path);
}

int ritz_cpu_operator_explain(CeedOperator op, FILE *stream) {
  static const char *const paths[] = {
      "one generated kernel, the text of the QFunction inside",
      "one generated kernel that calls the application's function for each row of points",
      "the ahead-of-time kernel, stage by stage for one batch of elements",
      "the reference backend, element by element",
  };
  const RitzCpu *context = op->obj.ceed->data;

  RITZ_TRY(ritz_cpu_prepare(1, &op, CEED_VECTOR_NONE));
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  fprintf(stream, "  runs as: %s\n", paths[tier->path]);
  if (tier->path == RITZ_PATH_TEXT)
    fprintf(stream, "  compiled as: %s\n",
            ritz_jit_language(tier->kernels[RITZ_CPU_APPLY].module) == RITZ_JIT_CXX ? "C++17" : "C11");
  if (tier->reason) fprintf(stream, "  because: %s\n", tier->reason);
  if (tier->plan) explain_precision(tier, stream);
  if (tier->is_unchecked)
    fprintf(stream, "  unchecked: text and function could not be compared, their results are not finite\n");
  ritz_cpu_explain_many(op, stream);
  RITZ_TRY(ritz_cpu_diagonal_explain(op, stream));
  fprintf(stream, "  other assembly: the reference backend\n");
  if (!tier->plan) return CEED_ERROR_SUCCESS;
  explain_schedule(context, tier, stream);
  return ritz_plan_cpu_print(tier->plan, tier->target, stream);
}

int ritz_cpu_operator_steps(CeedOperator op, FILE *stream, bool *has_steps) {
  RITZ_TRY(ritz_cpu_prepare(1, &op, CEED_VECTOR_NONE));
  const RitzCpuTier *tier = ritz_cpu_tier(op);
  *has_steps = tier->plan;
  return tier->plan ? ritz_plan_cpu_print_steps(tier->plan, tier->target, stream) : CEED_ERROR_SUCCESS;
}

int ritz_cpu_operator_source(CeedOperator op, const char **source) {
  RITZ_TRY(ritz_cpu_prepare_kernel(op, CEED_VECTOR_NONE));
  *source = ritz_cpu_tier(op)->text;
  return CEED_ERROR_SUCCESS;
}
