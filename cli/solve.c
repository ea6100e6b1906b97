// SPDX-License-Identifier: BSD-2-Clause
// `ritz solve`: the course of the command, from the command line to the errors and the output file.
#include "cli/solve.h"

#include <stdlib.h>
#include <string.h>

// ---- Problem and space ----

static int create_problem(Solve *s) {
  const SolveOptions *o = &s->options;
  const double steps_per_time = o->time > 0 ? o->steps / o->time : 0;
  const ProblemOptions options = {.kind = (ProblemKind)o->problem,
                                  .order = o->order,
                                  .num_materials = s->num_materials,
                                  .materials = s->materials,
                                  .factor = (o->method == BDF2 ? 1.5 : 1) * steps_per_time};

  CLI_TRY(problem_create(s->ceed, s->mesh, &options, &s->problem));
  CLI_TRY(RitzSpaceGetSize(s->problem.space, &s->size));
  CLI_TRY(RitzOperatorSetUse(s->problem.op, RITZ_USE_NO_WAIT));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->u));
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->rhs));
  CLI_TRY(CeedVectorSetValue(s->u, 0));
  return CeedVectorSetValue(s->rhs, 0);
}

static void show_space(const Solve *s) {
  const char *resource = "";
  char points[60];
  int order = s->options.order;

  if (s->problem.has_directions)
    snprintf(points, sizeof(points), "%d Gauss points per direction", order + 2);
  else
    snprintf(points, sizeof(points), "quadrature exact to degree %d", 2 * order + 1);
  cli_fact("space", "degree %d, %lld unknowns, %lld free, %s", order, (long long)s->size,
           (long long)(s->size - s->num_constraints), points);
  if (!CeedGetResource(s->ceed, &resource)) cli_fact("backend", "%s", resource);
}

// ---- The course of the command ----

static int solve_steady(Solve *s, bool *converged) {
  CLI_TRY(solve_set_boundary(s));
  CLI_TRY(solve_add_loads(s, s->rhs));
  CLI_TRY(solve_balance(s));
  CLI_TRY(solve_create_method(s));
  CLI_TRY(solve_run(s, converged));
  if (!s->options.output) return CEED_ERROR_SUCCESS;
  CLI_TRY(solve_write_file(s, s->options.output));
  cli_fact("output", "%s", s->options.output);
  return CEED_ERROR_SUCCESS;
}

static int compute(Solve *s, bool *converged) {
  CLI_TRY(solve_show_mesh(s));
  solve_show_problem(s);
  s->setup_start = cli_seconds();
  CLI_TRY(solve_create_materials(s));
  CLI_TRY(create_problem(s));
  CLI_TRY(solve_create_constraints(s));
  show_space(s);
  if (s->options.problem == PROBLEM_HEAT) {
    CLI_TRY(solve_create_method(s));
    CLI_TRY(solve_time_steps(s, converged));
  } else {
    CLI_TRY(solve_steady(s, converged));
  }
  return s->options.exact == EXACT_SINE ? solve_show_errors(s) : CEED_ERROR_SUCCESS;
}

static int report(const Solve *s) {
  bool reported = false;

  solve_report_coefficients(s, &reported);
  return reported ? CLI_FAILED : cli_report(solve_command.name, s->ceed);
}

// Devices and compilers start slowly. While a device does, a context that needs none, with threads of its
// own, makes the mesh, which keeps it. As many threads as there are processors, at most 16.
static const char host_resource[] = "/cpu/self/gen:threads=16";

static int open_ceed_and_mesh(Solve *s) {
  const char *resource = s->options.ceed;
  const bool is_on_device = !strncmp(resource, "/gpu/", 5);

  CLI_TRY(is_on_device ? RitzDeviceStart(resource) : RitzJitStart());
  CLI_TRY(cli_open_ceed(solve_command.name, is_on_device ? host_resource : resource, &s->ceed));
  CLI_TRY(solve_open_mesh(s));
  if (!is_on_device) return CLI_OK;
  CeedDestroy(&s->ceed);
  return cli_open_ceed(solve_command.name, resource, &s->ceed);
}

static int run_solve_command(Solve *s) {
  bool converged = false;

  CLI_TRY(solve_check_options(&s->options));
  if (!s->options.steps) s->options.steps = 10;
  if (s->options.method == CHOICE_AUTO) s->options.method = BDF2;
  CLI_TRY(solve_parse_formulas(s));
  CLI_TRY(open_ceed_and_mesh(s));
  CLI_TRY(solve_check_formulas(s));
  if (compute(s, &converged)) return report(s);
  if (!converged) fprintf(stderr, "%s: the iteration did not converge\n", solve_command.name);
  return converged ? CLI_OK : CLI_FAILED;
}

static void clean_up(Solve *s) {
  RitzSolverDestroy(&s->solver);
  RitzPreconditionerDestroy(&s->pc);
  RitzIndicesDestroy(&s->constraints);
  problem_destroy_modes(&s->modes);
  CeedVectorDestroy(&s->mean_weights);
  CeedVectorDestroy(&s->u);
  CeedVectorDestroy(&s->rhs);
  problem_destroy(&s->problem);
  RitzMeshDestroy(&s->mesh);
  CeedDestroy(&s->ceed);
  free(s->fixed);
  free(s->materials);
  free(s->material_regions);
  solve_free_formulas(s);
  args_free(&solve_command, &s->options);
}

int cli_solve(int argc, char **argv) {
  Solve s = {.options = {.order = 2,
                         .exact = EXACT_NONE,
                         .lambda = 1,
                         .ceed = "/cpu/self",
                         .tol = 1e-10,
                         .max_it = 10000,
                         .time = -1,
                         .method = CHOICE_AUTO,
                         .solver = CHOICE_AUTO,
                         .preconditioner = CHOICE_AUTO,
                         .precision = CHOICE_AUTO,
                         .levels = CHOICE_AUTO,
                         .smoother = CHOICE_AUTO,
                         .cycle = CHOICE_AUTO,
                         .start = CHOICE_AUTO,
                         .coarse = CHOICE_AUTO}};
  ArgsResult parsed = args_parse(&solve_command, argc, argv, &s.options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run_solve_command(&s);
  clean_up(&s);
  return code;
}
