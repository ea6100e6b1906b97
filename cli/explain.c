// SPDX-License-Identifier: BSD-2-Clause
// `ritz explain`: how a backend runs the operator of a bake-off problem, what that costs, and what the
// machine allows at best.
#include <math.h>
#include <ritz/operator.h>
#include <stddef.h>

#include "bp/problem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/threads.h"

typedef struct {
  int bp, order;
  double size;
  ThreadsChoice on;
  bool plan, steps, source;
} ExplainOptions;

#define MEMBER(name) offsetof(ExplainOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--bp", "N", ARG_INT, MEMBER(bp), BP_FIRST, BP_LAST, "problem, needed"),
    ARG_OPTION("--order", "P", ARG_INT, MEMBER(order), 1, INFINITY, "polynomial degree, needed"),
    ARG_OPTION("--size", "DOFS", ARG_COUNT, MEMBER(size), 1, INFINITY,
               "number of unique degrees of freedom, such as 1e6; the nearest\nbox is taken (default 1e5)"),
    ARG_CEED(MEMBER(on.resource)),
    ARG_THREADS(MEMBER(on.wanted)),
    ARG_OPTION("--plan", NULL, ARG_FLAG, MEMBER(plan), 0, 0, "print costs, roofline and plan (default)"),
    ARG_OPTION("--steps", NULL, ARG_FLAG, MEMBER(steps), 0, 0,
               "print the list of steps behind every kernel of the operator, with\nwhat each costs an "
               "element; no plan without --plan"),
    ARG_OPTION("--source", NULL, ARG_FLAG, MEMBER(source), 0, 0,
               "print the C text of the generated kernel; nothing else without\n--plan"),
};

const ArgCommand explain_command = {
    .name = "ritz explain",
    .description =
        "Shows how the operator of a bake-off problem runs: which kernel, and why no better one; its plan;\n"
        "what it costs; the speed that the machine allows at best.",
    .notes =
        "BP1, BP2 mass and BP3, BP4 diffusion with p+2 Gauss points per direction, BP5, BP6 diffusion with\n"
        "p+1 Gauss-Lobatto points; even ones have 3 components.\n\n"
        "Costs and roofline count what every implementation has to move and do, as 'ritz bench' does; the\n"
        "plan counts what its kernel moves and does. In the plan, a space is a gather from a vector or a\n"
        "scatter to one; a batch are the elements in the lanes of the processor's vectors; parity is what\n"
        "becomes of a matrix when rows and columns are reversed, which the kernel makes use of.\n\n"
        "Exit status: 0 done; 1 failed, or there is no generated kernel to print; 2 wrong usage.",
    .examples = "ritz explain --bp 3 --order 4\n"
                "ritz explain --bp 3 --order 4 --source > kernel.c",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- The problem and its bound ----

static void show_problem(const BpResult *r) {
  cli_fact("problem", "BP%d: %s, degree %d, %d component%s; %d nodes and %d %s points per direction",
           r->options.bp, bp_operator_name(r->options.bp), (int)r->options.order, (int)r->num_comp,
           r->num_comp > 1 ? "s" : "", (int)r->P, (int)r->Q, r->options.bp <= 4 ? "Gauss" : "Gauss-Lobatto");
  cli_fact("mesh", "%dx%dx%d elements, %lld DOFs", (int)r->elements[0], (int)r->elements[1],
           (int)r->elements[2], (long long)r->dofs);
  cli_fact("costs", "at least %.3f MB and %.3f Mflop an apply: %.1f bytes and %.1f flops a DOF",
           1e-6 * r->costs.bytes, 1e-6 * r->costs.flops, r->costs.bytes / (double)r->dofs,
           r->costs.flops / (double)r->dofs);
}

static void show_roofline(const BpResult *r) {
  static const char *const bounds[] = {[BP_BOUND_MEMORY] = "bound by memory",
                                       [BP_BOUND_CACHE] = "more if the caches are faster: they hold it all",
                                       [BP_BOUND_FLOPS] = "bound by flops"};
  const BpMachine *m = &r->options.machine;
  char named[THREADS_NAMED];

  threads_show_limits(m);
  if (r->bound == BP_BOUND_UNKNOWN) {
    cli_fact("roofline", "unknown: what the operator runs on cannot be measured");
    return;
  }
  cli_fact("roofline", "%.1f MDOF/s %s, %s", 1e-6 * (double)r->dofs / r->seconds_bound,
           threads_named(m, named), bounds[r->bound]);
  cli_fact(NULL, "%.4f ms an apply for its bytes, %.4f ms for its flops", 1e3 * r->costs.bytes / m->bandwidth,
           1e3 * r->costs.flops / m->peak);
}

// ---- The operator ----

static int show_plan(const BpProblem *problem) {
  show_problem(problem->sizes);
  show_roofline(problem->sizes);
  putchar('\n');
  return RitzOperatorExplain(problem->op, stdout);
}

static int show_source(const BpProblem *problem, const ExplainOptions *o) {
  const char *source = NULL;
  char shown[ARG_SHOWN];

  CLI_TRY(RitzOperatorGetSource(problem->op, &source));
  if (!source) {
    return CeedError(problem->ceed, CEED_ERROR_UNSUPPORTED, "--source: '%s' has no generated kernel for BP%d",
                     args_shown(o->on.resource, shown), o->bp);
  }
  if (o->plan || o->steps) putchar('\n');
  fputs(source, stdout);
  return CEED_ERROR_SUCCESS;
}

static int explain(Ceed ceed, const ExplainOptions *o, int num_threads) {
  BpOptions bp = {.bp = o->bp, .order = o->order, .size = (CeedSize)o->size};
  BpResult sizes;
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};
  bool wants_plan = o->plan || !(o->source || o->steps);
  int ierr;

  if (wants_plan) bp.machine = threads_find_limits(ceed, &o->on, num_threads, false);
  CLI_TRY(bp_predict(ceed, &bp, &sizes));
  CLI_TRY_CLEANUP(bp_problem_create(&problem));
  if (wants_plan) CLI_TRY_CLEANUP(show_plan(&problem));
  if (o->steps) CLI_TRY_CLEANUP(RitzOperatorExplainSteps(problem.op, stdout));
  if (o->source) CLI_TRY_CLEANUP(show_source(&problem, o));
cleanup:
  bp_problem_destroy(&problem);
  return ierr;
}

// ---- The command ----

static ArgsResult check_explain_options(const ExplainOptions *o) {
  if (!o->bp) return args_wrong(&explain_command, NULL, "--bp is missing");
  if (!o->order) return args_wrong(&explain_command, NULL, "--order is missing");
  if (o->size > INT32_MAX)
    return args_wrong(&explain_command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
  return threads_check(&explain_command, &o->on);
}

int cli_explain(int argc, char **argv) {
  ExplainOptions options = {.size = 1e5, .on = {.resource = "/cpu/self"}};
  ArgsResult parsed = args_parse(&explain_command, argc, argv, &options);
  int num_threads, code;
  Ceed ceed = NULL;

  if (parsed != ARGS_RUN) return parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  if (check_explain_options(&options) != ARGS_RUN) return CLI_USAGE;
  code = threads_open(&explain_command, &options.on, 0, &ceed, &num_threads);
  if (!code && explain(ceed, &options, num_threads)) code = cli_report(explain_command.name, ceed);
  CeedDestroy(&ceed);
  return code;
}
