// SPDX-License-Identifier: BSD-2-Clause
// `ritz solve`: the course of the command, from the command line to the errors and the output file.
#include "cli/solve.h"

#include <stdlib.h>
#include <string.h>

#include "cli/threads.h"

// ---- Problem and space ----

static int create_problem(Solve *s) {
  const SolveOptions *o = &s->options;
  const double steps_per_time = o->time > 0 ? o->steps / (o->time - solve_start_time(s)) : 0;
  const ProblemOptions options = {.kind = (ProblemKind)o->problem,
                                  .law = (ProblemLaw)o->law,
                                  .is_plane_stress = o->plane == PLANE_STRESS,
                                  .is_axisymmetric = o->axisymmetric,
                                  .order = o->order,
                                  .num_materials = s->num_materials,
                                  .materials = s->materials,
                                  .conductivity = s->conductivity,
                                  .num_robin = s->num_robin,
                                  .robin = s->robin,
                                  .factor = (o->method == BDF2 ? 1.5 : 1) * steps_per_time,
                                  .has_known = o->exact == EXACT_SINE,
                                  .transport = s->transport};

  CLI_TRY(problem_create(s->ceed, s->mesh, &options, &s->problem));
  CLI_TRY(solve_check_robin(s));
  CLI_TRY(RitzSpaceGetSize(s->problem.space, &s->size));
  CLI_TRY(solve_check_start(s));
  if (s->problem.op.whole) CLI_TRY(RitzOperatorSetUse(s->problem.op.whole, RITZ_USE_NO_WAIT));
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
  cli_fact("space", "degree %d, %.0f unknowns, %.0f free, %s", order, s->num_unknowns, s->num_free, points);
  if (CeedGetResource(s->ceed, &resource)) return;
  if (!strncmp(resource, "/gpu/", 5))
    cli_fact("backend", "%s", resource);
  else
    cli_fact("backend", "%s, %d thread%s%s", resource, s->num_threads, s->num_threads > 1 ? "s" : "",
             s->base ? " each" : "");
}

// ---- The course of the command ----

// Writes the output: FILE.vtu; for parts FILE.pvtu, and pieces beside it.
static int write_output(const Solve *s) {
  const char *output = s->options.output;
  const size_t stem = strlen(output) - strlen(".vtu"), size = stem + sizeof(".pvtu");
  char *path = NULL;

  CLI_TRY(cli_allocate(s->ceed, size, 1, &path));
  snprintf(path, size, "%.*s%s", (int)stem, output, s->transport ? ".pvtu" : ".vtu");
  const int ierr = solve_write_file(s, path);
  if (!ierr) cli_fact("output", "%s", path);
  free(path);
  return ierr;
}

static int set_data(Solve *s) {
  CLI_TRY(solve_set_boundary(s));
  CLI_TRY(solve_add_loads(s, s->rhs));
  return solve_balance(s);
}

// Values and loads wait for kernels of their own on devices: where nothing is told of them, those of the
// method begin before.
static int solve_steady(Solve *s, bool *converged) {
  const bool is_late = !s->is_nonlinear && !s->modes.num && problem_is_on_device(&s->problem);

  if (!is_late) CLI_TRY(set_data(s));
  if (s->is_nonlinear) CLI_TRY(solve_create_jacobian(s));
  CLI_TRY(solve_create_method(s));
  if (is_late) CLI_TRY(set_data(s));
  CLI_TRY((s->is_nonlinear ? solve_by_newton : solve_run)(s, converged));
  CLI_TRY(solve_show_reactions(s, &s->problem.op));
  if (*converged) CLI_TRY(solve_save(s, 0, NULL));
  return s->options.output ? write_output(s) : CEED_ERROR_SUCCESS;
}

static int compute(Solve *s, bool *converged) {
  CLI_TRY(solve_show_mesh(s));
  solve_show_problem(s);
  s->setup_start = cli_seconds();
  CLI_TRY(create_problem(s));
  CLI_TRY(solve_create_constraints(s));
  show_space(s);
  if (s->options.problem == PROBLEM_HEAT) {
    CLI_TRY(solve_set_initial(s));
    if (s->is_nonlinear) CLI_TRY(solve_create_jacobian(s));
    CLI_TRY(solve_create_method(s));
    CLI_TRY(solve_time_steps(s, converged));
  } else {
    CLI_TRY(solve_steady(s, converged));
  }
  CLI_TRY(solve_show_points(s));
  return s->options.exact == EXACT_SINE ? solve_show_errors(s) : CEED_ERROR_SUCCESS;
}

// Reports an error, unless another part failed first and reports it.
static int report(Solve *s) {
  const char *message = NULL;
  bool reported = false;

  solve_report_coefficients(s, &reported);
  s->has_told = reported;
  if (reported || (s->transport && (CeedGetErrorMessage(s->ceed, &message) || !strstr(message, "(): "))))
    return CLI_FAILED;
  s->has_told = true;
  return cli_report(solve_command.name, s->ceed);
}

// Devices and compilers start slowly. While a device does, a context that needs none, with threads of its
// own, makes the mesh, which keeps it: its part of the processors, at most 16.
static int open_host(Solve *s) {
  const int threads = s->options.threads;
  const ThreadsChoice on = {"/cpu/self/gen", threads < 16 ? threads : 16};

  return threads_open(&solve_command, &on, 0, &s->ceed, &s->num_threads);
}

static int open_ceed(Solve *s, const char *resource) {
  char of_part[512];
  const ThreadsChoice on = {of_part, s->options.threads};

  if (s->device >= 0)
    snprintf(of_part, sizeof(of_part), "%.400s:device_id=%d", resource, s->device);
  else
    snprintf(of_part, sizeof(of_part), "%.400s", resource);
  return threads_open(&solve_command, &on, 0, &s->ceed, &s->num_threads);
}

static int open_ceed_and_mesh(Solve *s) {
  const char *resource = s->options.ceed;
  const bool is_on_device = !strncmp(resource, "/gpu/", 5);

  CLI_TRY(is_on_device ? RitzDeviceStart(resource) : RitzJitStart());
  if (is_on_device)
    CLI_TRY(open_host(s));
  else
    CLI_TRY(open_ceed(s, resource));
  CLI_TRY(solve_open_mesh(s));
  CLI_TRY(solve_check_picture(s));
  CLI_TRY(solve_check_points(s));
  CLI_TRY(solve_check_formulas(s));
  if (solve_create_materials(s) || solve_create_conductivity(s) || solve_create_robin(s) ||
      solve_list_fixed(s))
    return cli_report(solve_command.name, s->ceed);
  if (s->base && (solve_check_modes(s) || solve_check_smoother(s)))
    return cli_report(solve_command.name, s->ceed);
  return CLI_OK;
}

// The mesh keeps the context that made it.
static int move_to_device(Solve *s) {
  if (strncmp(s->options.ceed, "/gpu/", 5) != 0) return CLI_OK;
  CeedDestroy(&s->ceed);
  return open_ceed(s, s->options.ceed);
}

// Opens everything that all parts must agree on before they go on.
static int open_all(Solve *s) {
  CLI_TRY(solve_agree(s, solve_parse_formulas(s)));
  CLI_TRY(solve_agree(s, solve_check_reactions(s)));
  CLI_TRY(solve_read_start(s));
  CLI_TRY(solve_agree(s, open_ceed_and_mesh(s)));
  CLI_TRY(solve_compare_meshes(s));
  CLI_TRY(solve_agree(s, solve_divide_mesh(s) ? cli_report(solve_command.name, s->ceed) : CLI_OK));
  CLI_TRY(solve_agree(s, move_to_device(s)));
  cli_speak();
  s->is_open = true;
  return solve_connect(s) ? report(s) : CLI_OK;
}

int solve_run_command(Solve *s, bool *converged) {
  CLI_TRY(open_all(s));
  if (compute(s, converged)) return report(s);
  return *converged || s->options.problem != PROBLEM_HEAT ? solve_draw(s) : CLI_OK;
}

static int run_alone(const SolveOptions *options) {
  Solve s = {.command = &solve_command, .options = *options, .device = -1};
  bool converged = false;
  int code = solve_run_command(&s, &converged);

  if (!code && !converged) {
    fprintf(stderr, "%s: the iteration did not converge\n", solve_command.name);
    code = CLI_FAILED;
  }
  solve_clean_up(&s);
  return code;
}

static int run_solve_command(SolveOptions *o) {
  const int code = solve_check_options(o);

  CLI_TRY(solve_has_processes() ? solve_processes.agree(code) : code);
  if (!o->steps) o->steps = 10;
  if (o->method == CHOICE_AUTO) o->method = BDF2;
  if (o->law == CHOICE_AUTO) o->law = PROBLEM_NEO_HOOKEAN;
  const int num_parts = solve_count_parts(o);

  o->threads = solve_threads_of_part(o, num_parts);
  return num_parts > 1 ? solve_in_parts(o, num_parts) : run_alone(o);
}

void solve_clean_up(Solve *s) {
  RitzSolverDestroy(&s->solver);
  RitzPreconditionerDestroy(&s->pc);
  problem_destroy_operator(&s->jacobian);
  CeedVectorDestroy(&s->state);
  CeedVectorDestroy(&s->pc_state);
  solve_destroy_levels(s);
  for (size_t i = 0; s->followers && i < s->num_formulas; i++) CeedQFunctionContextDestroy(&s->followers[i]);
  free(s->followers);
  RitzIndicesDestroy(&s->constraints);
  problem_destroy_modes(&s->modes);
  CeedVectorDestroy(&s->mean_weights);
  CeedVectorDestroy(&s->diagonal);
  solve_destroy_start(s);
  CeedVectorDestroy(&s->u);
  CeedVectorDestroy(&s->rhs);
  problem_destroy(&s->problem);
  RitzMeshDestroy(&s->mesh);
  RitzTransportDestroyNCCL(&s->between);
  CeedDestroy(&s->ceed);
  free(s->fixed);
  free(s->robin);
  free(s->conductivity);
  for (CeedInt i = 0; i < s->num_materials; i++) free((char *)s->materials[i].text);
  free(s->materials);
  free(s->material_regions);
  solve_free_formulas(s);
}

int solve_with(int argc, char **argv) {
  SolveOptions options = {.order = 2,
                          .merge = -1,
                          .exact = EXACT_NONE,
                          .lambda = 1,
                          .tol = 1e-10,
                          .max_it = 10000,
                          .time = -1,
                          .method = CHOICE_AUTO,
                          .law = CHOICE_AUTO,
                          .plane = CHOICE_AUTO,
                          .solver = CHOICE_AUTO,
                          .preconditioner = CHOICE_AUTO,
                          .precision = CHOICE_AUTO,
                          .levels = CHOICE_AUTO,
                          .smoother = CHOICE_AUTO,
                          .cycle = CHOICE_AUTO,
                          .start = CHOICE_AUTO,
                          .coarse = CHOICE_AUTO};
  ArgsResult parsed = args_parse(&solve_command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;
  char *file = options.picture && !options.output ? solve_file_of_picture(options.picture) : NULL;

  if (file) options.output = file;
  if (!options.ceed) options.ceed = options.gpus ? "/gpu/cuda" : "/cpu/self";
  if (parsed == ARGS_RUN) code = run_solve_command(&options);
  args_free(&solve_command, &options);
  free(file);
  return code;
}

int cli_solve(int argc, char **argv) {
  ArgWords words;
  int code = args_read_files(&solve_command, argc, argv, &words);

  if (!code) code = solve_with(words.argc, words.argv);
  args_free_words(&words);
  return code;
}
