// SPDX-License-Identifier: BSD-2-Clause
// Time steps of heat, c du/dt + K u = f(t), with M the matrix of c and h the step:
//
//     implicit Euler   (M / h + K) u_n = f_n + M u_(n-1) / h
//     BDF2             (3 M / (2 h) + K) u_n = f_n + M (2 u_(n-1) - u_(n-2) / 2) / h
//
// BDF2 begins with a step of implicit Euler, unless a file has the two steps before.
//
// Solves begin from the last step, extrapolated by BDF2; the preconditioner is made once. Where k depends on
// u K u is a function of u, and each step is solved by Newton's method.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/solve.h"

typedef struct {
  Solve *s;
  double from, h;
  int step;
  bool goes_on;                           // from a file with two steps of this size
  CeedOperator capacity;                  // owned, as all that follow; NULL: a part without elements
  ProblemOperator start;                  // of the first step of BDF2, where it is linear
  SolveNewton newton;                     // else
  CeedVector last, before, history, load; // u of the two steps before; combination of them; f
  bool load_varies;
  CeedInt iterations, most; // of all steps; of one
  CeedInt newton_steps;
  double seconds;
  FILE *series;
  bool terminal;
} TimeLoop;

// ---- Files of a series ----

// "heat-0010.vtu" of "heat.vtu"; *name: without folders.
static int create_path(const TimeLoop *loop, const char *end, char **path) {
  const char *output = loop->s->options.output;
  const size_t stem = strlen(output) - strlen(".vtu"), size = stem + strlen(end) + 1;

  CLI_TRY(cli_allocate(loop->s->ceed, size, 1, path));
  memcpy(*path, output, stem);
  memcpy(*path + stem, end, strlen(end) + 1);
  return CEED_ERROR_SUCCESS;
}

static int open_series(TimeLoop *loop) {
  char *path = NULL;

  if (!loop->s->options.output || !solve_is_first(loop->s)) return CEED_ERROR_SUCCESS;
  CLI_TRY(create_path(loop, ".pvd", &path));
  loop->series = fopen(path, "w");
  int ierr = CEED_ERROR_SUCCESS;
  if (!loop->series) ierr = CeedError(loop->s->ceed, CEED_ERROR_MAJOR, "%s: cannot be written", path);
  free(path);
  if (ierr) return ierr;
  fprintf(loop->series,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n");
  return CEED_ERROR_SUCCESS;
}

// A file name as an attribute in XML.
static void write_escaped(FILE *stream, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '&')
      fputs("&amp;", stream);
    else if (*c == '<')
      fputs("&lt;", stream);
    else if (*c == '"')
      fputs("&quot;", stream);
    else
      fputc(*c, stream);
  }
}

static int write_step(TimeLoop *loop) {
  const SolveOptions *o = &loop->s->options;
  const int every = o->every ? o->every : 1;
  char end[40], *path = NULL;

  if (!o->output || (loop->step % every && loop->step != o->steps)) return CEED_ERROR_SUCCESS;
  snprintf(end, sizeof(end), loop->s->transport ? "-%04d.pvtu" : "-%04d.vtu", loop->step);
  CLI_TRY(create_path(loop, end, &path));
  int ierr = solve_write_file(loop->s, path);
  const char *slash = strrchr(path, '/');
  if (!loop->series) {
    free(path);
    return ierr;
  }
  fprintf(loop->series, "<DataSet timestep=\"%.17g\" file=\"", loop->s->problem.time);
  write_escaped(loop->series, slash ? slash + 1 : path);
  fprintf(loop->series, "\"/>\n");
  free(path);
  return ierr;
}

static int close_series(TimeLoop *loop) {
  char *path = NULL;

  if (!loop->series) return CEED_ERROR_SUCCESS;
  fprintf(loop->series, "</Collection>\n</VTKFile>\n");
  const bool has_failed = ferror(loop->series) != 0;
  const bool closed = fclose(loop->series) == 0;
  loop->series = NULL;
  CLI_TRY(create_path(loop, ".pvd", &path));
  int ierr = CEED_ERROR_SUCCESS;
  if (has_failed || !closed) ierr = CeedError(loop->s->ceed, CEED_ERROR_MAJOR, "%s: cannot be written", path);
  if (!ierr) cli_fact("output", "%s", path);
  free(path);
  return ierr;
}

// ---- Steps ----

static int create_vectors(TimeLoop *loop) {
  CeedVector *const vectors[] = {&loop->last, &loop->before, &loop->history, &loop->load};

  for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
    CLI_TRY(CeedVectorCreate(loop->s->ceed, loop->s->size, vectors[i]));
    CLI_TRY(CeedVectorSetValue(*vectors[i], 0));
  }
  return CEED_ERROR_SUCCESS;
}

// The first step of BDF2 is one of implicit Euler, with another operator.
static bool is_first_of_bdf2(const TimeLoop *loop) {
  return loop->s->options.method == BDF2 && loop->step == 1 && !loop->goes_on;
}

// The operator of a step, and of its reactions.
static const ProblemOperator *operator_of_step(const TimeLoop *loop) {
  return is_first_of_bdf2(loop) && !loop->s->is_nonlinear ? &loop->start : &loop->s->problem.op;
}

// The step before the first one, of a file that has it.
static int set_before(TimeLoop *loop) {
  const SolveStart *start = &loop->s->start;

  if (!start->words || start->header.num_vectors < 2 || loop->s->options.method != BDF2)
    return CEED_ERROR_SUCCESS;
  loop->goes_on = fabs(start->header.step - loop->h) <= 1e-9 * loop->h;
  if (loop->goes_on) return solve_get_start(loop->s, 1, loop->before);
  cli_fact("note", "the step is %g, that of the file %g: BDF2 begins with implicit Euler", loop->h,
           start->header.step);
  return CEED_ERROR_SUCCESS;
}

static int begin_solve_time(TimeLoop *loop) {
  Solve *s = loop->s;

  loop->terminal = isatty(STDERR_FILENO);
  loop->load_varies = s->options.exact != EXACT_NONE || solve_depends_on_time(s, ROLE_SOURCE) ||
                      solve_depends_on_time(s, ROLE_FLUX) || solve_depends_on_time(s, ROLE_ROBIN);
  CLI_TRY(create_vectors(loop));
  CLI_TRY(set_before(loop));
  CLI_TRY(problem_create_capacity(&s->problem, &loop->capacity));
  if (s->is_nonlinear)
    CLI_TRY(solve_create_newton(s, &loop->newton));
  else if (s->options.method == BDF2 && !loop->goes_on)
    CLI_TRY(problem_create_step(&s->problem, 1 / loop->h, &loop->start));
  cli_fact("set-up", "%.3f s", cli_seconds() - s->setup_start);
  return open_series(loop);
}

static void clean_up(TimeLoop *loop) {
  CeedOperatorDestroy(&loop->capacity);
  problem_destroy_operator(&loop->start);
  solve_destroy_newton(&loop->newton);
  CeedVectorDestroy(&loop->last);
  CeedVectorDestroy(&loop->before);
  CeedVectorDestroy(&loop->history);
  CeedVectorDestroy(&loop->load);
  if (loop->series) fclose(loop->series);
}

// rhs, and the first guess in u with the given values of the time.
static int prepare_step(TimeLoop *loop) {
  Solve *s = loop->s;
  const bool is_second_order = s->options.method == BDF2 && !is_first_of_bdf2(loop);

  s->problem.time = loop->step == s->options.steps ? s->options.time : loop->from + loop->step * loop->h;
  if (loop->step == 1 || loop->load_varies) {
    CLI_TRY(CeedVectorSetValue(loop->load, 0));
    CLI_TRY(solve_add_loads(s, loop->load));
  }
  CLI_TRY(CeedVectorCopy(s->u, loop->last));
  if (is_second_order) {
    CLI_TRY(RitzVectorSum(loop->history, 2 / loop->h, loop->last, -0.5 / loop->h, loop->before));
    CLI_TRY(RitzVectorSum(s->u, 2, loop->last, -1, loop->before));
  } else {
    CLI_TRY(RitzVectorSum(loop->history, 1 / loop->h, loop->last, 0, CEED_VECTOR_NONE));
  }
  CLI_TRY(CeedVectorSetValue(s->rhs, 0));
  if (loop->capacity)
    CLI_TRY(CeedOperatorApplyAdd(loop->capacity, loop->history, s->rhs, CEED_REQUEST_IMMEDIATE));
  CLI_TRY(problem_add_up(&s->problem, s->rhs));
  CLI_TRY(RitzVectorSum(s->rhs, 1, s->rhs, 1, loop->load));
  CLI_TRY(CeedVectorCopy(loop->last, loop->before));
  return s->is_nonlinear ? CEED_ERROR_SUCCESS : solve_set_boundary(s);
}

static void show_step(const TimeLoop *loop, CeedInt iterations) {
  const int steps = loop->s->options.steps, stride = steps / 20 > 1 ? steps / 20 : 1;

  if (cli_is_quiet()) return;
  if (!loop->terminal && loop->step % stride && loop->step != steps) return;
  fprintf(stderr, "%s  step %6d of %d  t = %-10.4g %3" CeedInt_FMT " iterations%s",
          loop->terminal ? "\r" : "", loop->step, steps, loop->s->problem.time, iterations,
          loop->terminal && loop->step < steps ? "" : "\n");
  fflush(stderr);
}

// A good first guess is not asked to become better by as much as a bad one: the residual that is small
// enough.
static int get_tolerance(const TimeLoop *loop, double *atol) {
  const Solve *s = loop->s;
  double norm = 0;

  CLI_TRY(RitzVectorDot(s->rhs, s->rhs, &norm));
  CLI_TRY(problem_reduce(&s->problem, RITZ_REDUCTION_SUM, 1, &norm));
  *atol = s->options.tol * sqrt(norm);
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  const char *reason;
  bool converged;
  CeedInt iterations;
} StepResult;

static int solve_linear_step(TimeLoop *loop, StepResult *result) {
  Solve *s = loop->s;
  RitzSolverReason reason = RITZ_ITERATING;
  double atol = 0;

  if (loop->step <= 2) CLI_TRY(problem_set_operator(operator_of_step(loop), s->solver, s->constraints));
  CLI_TRY(get_tolerance(loop, &atol));
  CLI_TRY(RitzSolverSetTolerances(s->solver, s->options.tol, atol, s->options.max_it));
  const double start = cli_seconds();
  CLI_TRY(RitzSolverSolve(s->solver, s->rhs, s->u));
  CLI_TRY(solve_again_in_double(s, operator_of_step(loop)));
  CLI_TRY(problem_share(&s->problem, s->u));
  loop->seconds += cli_seconds() - start;
  CLI_TRY(RitzSolverGetReason(s->solver, &reason));
  *result = (StepResult){RitzSolverReasonName(reason), reason > 0, 0};
  return RitzSolverGetIterations(s->solver, &result->iterations);
}

// The values of the time are for the steps of Newton's method to reach; u is their guess.
static int set_values(TimeLoop *loop) {
  Solve *s = loop->s;

  CLI_TRY(CeedVectorCopy(s->u, s->state));
  CLI_TRY(solve_set_boundary(s));
  CLI_TRY(CeedVectorCopy(s->u, loop->newton.values));
  return CeedVectorCopy(s->state, s->u);
}

static int solve_nonlinear_step(TimeLoop *loop, StepResult *result) {
  Solve *s = loop->s;
  RitzNewton newton = loop->newton.newton;
  RitzNewtonReason reason = RITZ_NEWTON_ITERATING;
  CeedInt steps = 0;
  double atol = 0;

  if (loop->step <= 2 && s->options.method == BDF2)
    CLI_TRY(problem_set_factor(&s->problem, (is_first_of_bdf2(loop) ? 1 : 1.5) / loop->h));
  CLI_TRY(get_tolerance(loop, &atol));
  CLI_TRY(solve_set_newton_tolerance(&loop->newton, atol));
  CLI_TRY(set_values(loop));
  solve_newton_jumps(&loop->newton);
  const double start = cli_seconds();
  CLI_TRY(RitzNewtonSolve(newton, s->rhs, s->u));
  CLI_TRY(problem_share(&s->problem, s->u));
  loop->seconds += cli_seconds() - start;
  CLI_TRY(RitzNewtonGetReason(newton, &reason));
  *result = (StepResult){RitzNewtonReasonName(reason), reason > 0, 0};
  CLI_TRY(RitzNewtonGetIterations(newton, &steps, &result->iterations));
  loop->newton_steps += steps;
  return CEED_ERROR_SUCCESS;
}

static int take_step(TimeLoop *loop, bool *converged) {
  Solve *s = loop->s;
  StepResult result;

  CLI_TRY(prepare_step(loop));
  CLI_TRY((s->is_nonlinear ? solve_nonlinear_step : solve_linear_step)(loop, &result));
  loop->iterations += result.iterations;
  loop->most = result.iterations > loop->most ? result.iterations : loop->most;
  *converged = result.converged;
  show_step(loop, result.iterations);
  if (!*converged)
    cli_fact("result", "step %d of %d, t = %g: %s", loop->step, s->options.steps, s->problem.time,
             result.reason);
  return write_step(loop);
}

static void show_summary(const TimeLoop *loop) {
  const Solve *s = loop->s;
  const double num_steps = s->options.steps, unknowns = s->num_free * num_steps;

  cli_fact("result", "t = %g reached in %d steps of %g, %s", s->options.time, s->options.steps, loop->h,
           s->options.method == BDF2 ? "BDF2" : "implicit Euler");
  if (s->is_nonlinear)
    cli_fact("iterations",
             "%" CeedInt_FMT " in %" CeedInt_FMT " steps of Newton's method, %.1f and %.1f a step of time",
             loop->iterations, loop->newton_steps, loop->iterations / num_steps,
             loop->newton_steps / num_steps);
  else
    cli_fact("iterations", "%" CeedInt_FMT ", %.1f a step, at most %" CeedInt_FMT, loop->iterations,
             loop->iterations / num_steps, loop->most);
  if (loop->seconds > 0)
    cli_fact("time", "%.3f s, %.3f MDOF/s of the solves", loop->seconds, 1e-6 * unknowns / loop->seconds);
}

static int run_steps(TimeLoop *loop, bool *converged) {
  CLI_TRY(begin_solve_time(loop));
  CLI_TRY(write_step(loop));
  *converged = true;
  for (loop->step = 1; loop->step <= loop->s->options.steps && *converged; loop->step++)
    CLI_TRY(take_step(loop, converged));
  if (*converged) {
    loop->step = loop->s->options.steps;
    show_summary(loop);
    CLI_TRY(solve_show_reactions(loop->s, operator_of_step(loop)));
    CLI_TRY(solve_save(loop->s, loop->h, loop->last));
  }
  return close_series(loop);
}

int solve_time_steps(Solve *s, bool *converged) {
  const double from = solve_start_time(s);
  TimeLoop loop = {.s = s, .from = from, .h = (s->options.time - from) / s->options.steps};
  int ierr = run_steps(&loop, converged);

  clean_up(&loop);
  return ierr;
}
