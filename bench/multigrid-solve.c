// SPDX-License-Identifier: BSD-2-Clause
// Cycles, solvers and times of `ritz bench --multigrid`: all variants of a case are made first, then measured
// by turns.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz/device.h>
#include <ritz/operator.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/multigrid.h"
#include "bp/times.h"
#include "cli/cli.h"

typedef struct {
  MgRow *row;               // borrowed
  RitzPreconditioner cycle; // owned, as all that follow
  RitzPreconditioner full;  // NULL unless the method is MG_FULL
  RitzSolver solver;
  Times times;
} Run;

typedef struct {
  MgProblem *problem;       // borrowed
  const MgOptions *options; // borrowed
  CeedVector tick;          // one entry: its norm waits for the device
  size_t num;
  Run *runs; // owned
} Runs;

// ---- Memory ----

// Memory of the context's device that is live; 0: it has none.
static double device_bytes(Ceed ceed) {
  RitzDeviceCounters counters;

  if (RitzDeviceGetCounters(ceed, &counters) || !counters.driver) return 0;
  return (double)counters.bytes_live;
}

double mg_host_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long pages = 0;

  if (!file) return 0;
  if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

// ---- Cycles ----

static const MgLevels *levels_of(const MgProblem *p, CeedScalarType precision) {
  return p->floats.num && precision == CEED_SCALAR_FP32 ? &p->floats : &p->doubles;
}

static CeedInt steps_of(const MgOptions *o, MgSmoother smoother) {
  if (!mg_smoother_has_steps(smoother)) return 0;
  return o->steps ? o->steps : smoother == MG_JACOBI ? 3 : 2;
}

// Chebyshev polynomials over additive ones; sweeps as they are.
static int create_schwarz(const RitzMultigridLevel *level, RitzSchwarzKind kind, CeedInt steps,
                          RitzPreconditioner *smoother) {
  const RitzChebyshevOptions options = {.degree = steps};
  RitzPreconditioner inner = NULL;

  if (!steps)
    return RitzPreconditionerCreateSchwarz(level->op, level->space, NULL, level->constraints, kind, smoother);
  CLI_TRY(RitzPreconditionerCreateSchwarz(level->op, level->space, NULL, level->constraints, kind, &inner));
  const int ierr =
      RitzPreconditionerCreateChebyshev(level->op, level->constraints, inner, &options, smoother);

  RitzPreconditionerDestroy(&inner);
  return ierr;
}

static int create_patches(const RitzMultigridLevel *level, MgSmoother kind, RitzPreconditioner *smoother) {
  static const RitzPatchForm forms[] = {RITZ_PATCH_LIFTED, RITZ_PATCH_RESIDUAL, RITZ_PATCH_BOUNDARY};
  const RitzPatchOptions options = {.form = forms[kind]};

  return RitzPreconditionerCreateVertexPatches(level->op, level->space, level->constraints, &options,
                                               smoother);
}

// *smoother NULL: that of the options.
static int create_smoother(const RitzMultigridLevel *level, MgSmoother kind, CeedInt steps,
                           RitzPreconditioner *smoother) {
  switch (kind) {
  case MG_PATCHES:
  case MG_PATCHES_RESIDUAL:
  case MG_PATCHES_BOUNDARY: return create_patches(level, kind, smoother);
  case MG_COLOURED: return create_schwarz(level, RITZ_SCHWARZ_COLOURED_PATCHES, 0, smoother);
  case MG_ADDITIVE: return create_schwarz(level, RITZ_SCHWARZ_PATCHES, steps, smoother);
  case MG_CELLS: return create_schwarz(level, RITZ_SCHWARZ_ELEMENTS, steps, smoother);
  case MG_OVERLAPPED: return create_schwarz(level, RITZ_SCHWARZ_OVERLAPPED, steps, smoother);
  default: return CEED_ERROR_SUCCESS;
  }
}

// One V-cycle.
static int create_cycle(const Runs *runs, const MgVariant *variant, RitzPreconditioner *cycle) {
  const MgProblem *p = runs->problem;
  const MgLevels *levels = levels_of(p, variant->precision);
  const CeedInt steps = steps_of(runs->options, variant->smoother);
  const RitzMultigridOptions options = {.smoother = RITZ_SMOOTHER_JACOBI, .chebyshev = {.degree = steps}};
  RitzMultigridLevel *own = NULL; // the same levels with smoothers
  int ierr = CEED_ERROR_SUCCESS;

  CLI_TRY(cli_allocate(p->ceed, (size_t)levels->num, sizeof(*own), &own));
  memcpy(own, levels->levels, (size_t)levels->num * sizeof(*own));
  for (CeedInt i = 1; i < levels->num && !ierr; i++)
    ierr = create_smoother(&own[i], variant->smoother, steps, &own[i].smoother);
  if (!ierr) ierr = RitzPreconditionerCreateMultigrid(p->ceed, levels->num, own, &options, cycle);
  for (CeedInt i = 1; i < levels->num; i++) RitzPreconditionerDestroy(&own[i].smoother);
  free(own);
  return ierr;
}

// Full multigrid with the smoothers and the coarse solver of the cycle.
static int create_full(const MgProblem *p, const MgLevels *levels, RitzPreconditioner cycle,
                       RitzPreconditioner *full) {
  RitzMultigridOptions options = {.is_full = true};
  RitzMultigridLevel *own = NULL;
  int ierr;

  CLI_TRY(cli_allocate(p->ceed, (size_t)levels->num, sizeof(*own), &own));
  memcpy(own, levels->levels, (size_t)levels->num * sizeof(*own));
  ierr = RitzPreconditionerGetMultigridLevel(cycle, 0, NULL, &options.coarse_solver);
  for (CeedInt i = 1; i < levels->num && !ierr; i++)
    ierr = RitzPreconditionerGetMultigridLevel(cycle, i, NULL, &own[i].smoother);
  if (!ierr) ierr = RitzPreconditionerCreateMultigrid(p->ceed, levels->num, own, &options, full);
  free(own);
  return ierr;
}

// ---- Runs ----

static bool has_same_cycle(const MgVariant *a, const MgVariant *b) {
  return a->smoother == b->smoother && a->precision == b->precision;
}

// The cycle of an earlier run, or a new one.
static int find_cycle(Runs *runs, size_t i) {
  Run *run = &runs->runs[i];
  const double start = cli_seconds();

  for (size_t k = 0; k < i; k++) {
    const Run *earlier = &runs->runs[k];

    if (!earlier->cycle || !has_same_cycle(&earlier->row->variant, &run->row->variant)) continue;
    run->row->seconds_smoother = earlier->row->seconds_smoother;
    return RitzPreconditionerReferenceCopy(earlier->cycle, &run->cycle);
  }
  CLI_TRY(create_cycle(runs, &run->row->variant, &run->cycle));
  run->row->seconds_smoother = cli_seconds() - start;
  if (!runs->options->verbose) return CEED_ERROR_SUCCESS;
  return RitzPreconditionerViewLevels(run->cycle, stderr);
}

static int create_solver(Runs *runs, Run *run) {
  const MgProblem *p = runs->problem;
  const bool is_krylov = run->row->variant.method == MG_FLEXIBLE_CG;

  CLI_TRY(
      RitzSolverCreate(p->ceed, is_krylov ? RITZ_SOLVER_FLEXIBLE_CG : RITZ_SOLVER_RICHARDSON, &run->solver));
  CLI_TRY(RitzSolverSetOperator(run->solver, p->problem.op.whole));
  CLI_TRY(RitzSolverSetPreconditioner(run->solver, run->cycle));
  return RitzSolverSetConstraintIndices(run->solver, p->constraints[p->num_levels - 1]);
}

static void clear_run(Run *run) {
  RitzSolverDestroy(&run->solver);
  RitzPreconditionerDestroy(&run->full);
  RitzPreconditionerDestroy(&run->cycle);
}

static int count_bytes(Run *run) {
  int64_t cycle = 0, full = 0;

  CLI_TRY(RitzPreconditionerGetBytes(run->cycle, &cycle));
  if (run->full) CLI_TRY(RitzPreconditionerGetBytes(run->full, &full));
  run->row->cycle_bytes = (double)cycle + (double)full;
  return CEED_ERROR_SUCCESS;
}

static int fill_run(Runs *runs, size_t i) {
  const MgProblem *p = runs->problem;
  Run *run = &runs->runs[i];
  const MgVariant *variant = &run->row->variant;

  CLI_TRY(find_cycle(runs, i));
  if (variant->method == MG_FULL)
    CLI_TRY(create_full(p, levels_of(p, variant->precision), run->cycle, &run->full));
  CLI_TRY(create_solver(runs, run));
  return count_bytes(run);
}

// Makes a run. Where the problem lacks what it needs, the row says so.
static int create_run(Runs *runs, size_t i) {
  Run *run = &runs->runs[i];
  const char *message = NULL, *text;
  int ierr = fill_run(runs, i);

  if (ierr != CEED_ERROR_UNSUPPORTED) return ierr;
  CLI_TRY(CeedGetErrorMessage(runs->problem->ceed, &message));
  text = strstr(message, "(): "); // before it the place in the library
  snprintf(run->row->fault, MG_MESSAGE, "%.*s", MG_MESSAGE - 1, text ? text + 4 : message);
  CLI_TRY(CeedResetErrorMessage(runs->problem->ceed, &message));
  run->row->iterations = -1;
  clear_run(run);
  return CEED_ERROR_SUCCESS;
}

static void describe_row(const MgProblem *p, const MgOptions *o, const MgVariant *variant, MgRow *row) {
  int64_t num_fixed = 0;

  *row = (MgRow){.of = p->of,
                 .variant = *variant,
                 .steps = steps_of(o, variant->smoother),
                 .num_levels = p->num_levels,
                 .l2_error = NAN};
  RitzSpaceGetSize(p->problem.space, &row->dofs);
  RitzIndicesGet(p->constraints[p->num_levels - 1], &num_fixed, NULL);
  row->free_dofs = row->dofs - num_fixed;
}

// ---- Solves ----

// Memory that is live, with the solver's vectors, while it iterates.
static void measure_memory(const MgProblem *p, MgRow *row) {
  row->host_bytes = mg_host_bytes();
  row->memory_bytes = device_bytes(p->ceed);
  if (!row->memory_bytes) row->memory_bytes = row->host_bytes;
}

typedef struct {
  const MgProblem *problem;
  MgRow *row;
} Watched;

// A RitzMonitorFunction.
static int watch_memory(void *ctx, CeedInt iteration, double residual, bool *stop) {
  const Watched *watched = ctx;

  (void)residual;
  (void)stop;
  if (iteration == 1) measure_memory(watched->problem, watched->row);
  return 0;
}

static int wait_for_device(const Runs *runs) {
  CeedScalar norm;

  return CeedVectorNorm(runs->tick, CEED_NORM_MAX, &norm);
}

static int solve_variant(const Runs *runs, const Run *run, double *seconds) {
  const MgProblem *p = runs->problem;

  CLI_TRY(RitzSolverSetTolerances(run->solver, 0, runs->options->tol * p->norm, runs->options->max_it));
  CLI_TRY(CeedVectorSetValue(p->u, 0));
  CLI_TRY(wait_for_device(runs));
  const double start = cli_seconds();
  if (run->full) CLI_TRY(RitzPreconditionerApply(run->full, p->rhs, p->u));
  CLI_TRY(RitzSolverSolve(run->solver, p->rhs, p->u));
  CLI_TRY(wait_for_device(runs));
  *seconds = cli_seconds() - start;
  return CEED_ERROR_SUCCESS;
}

static int find_reason(const Run *run, CeedInt *iterations) {
  MgRow *row = run->row;

  CLI_TRY(RitzSolverGetIterations(run->solver, iterations));
  if (*row->fault) return CEED_ERROR_SUCCESS; // of the solve before
  CLI_TRY(RitzSolverGetReason(run->solver, &row->reason));
  if (row->reason < 0) snprintf(row->fault, MG_MESSAGE, "%s", RitzSolverReasonName(row->reason));
  return CEED_ERROR_SUCCESS;
}

static int solve_first(const Runs *runs, const Run *run) {
  MgRow *row = run->row;
  Watched watched = {runs->problem, row};
  double last = 0;

  measure_memory(runs->problem, row); // for what is solved without an iteration
  CLI_TRY(RitzSolverSetMonitor(run->solver, watch_memory, &watched));
  CLI_TRY(solve_variant(runs, run, &row->seconds_first));
  CLI_TRY(RitzSolverSetMonitor(run->solver, NULL, NULL));
  CLI_TRY(find_reason(run, &row->iterations));
  CLI_TRY(RitzSolverGetResidual(run->solver, NULL, &last));
  row->residual = last / runs->problem->norm;
  return CEED_ERROR_SUCCESS;
}

// Measures a run once more where that is wanted.
static int time_run(const Runs *runs, Run *run, bool *has_more) {
  double seconds;

  if (!run->cycle || run->row->reason <= 0) return CEED_ERROR_SUCCESS;
  if (!times_want_more(&run->times, runs->options->repetitions, 3, 0.5)) return CEED_ERROR_SUCCESS;
  CLI_TRY(solve_variant(runs, run, &seconds));
  times_add(&run->times, seconds, seconds);
  run->row->seconds = times_median(&run->times);
  run->row->repetitions = run->times.num;
  *has_more = true;
  return CEED_ERROR_SUCCESS;
}

// All by turns, each for half a second.
static int time_runs(const Runs *runs) {
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (size_t i = 0; i < runs->num; i++) CLI_TRY(time_run(runs, &runs->runs[i], &has_more));
  }
  return CEED_ERROR_SUCCESS;
}

static int find_error(const Runs *runs, const Run *run) {
  double seconds;

  CLI_TRY(solve_variant(runs, run, &seconds));
  CLI_TRY(find_reason(run, &run->row->iterations_sine));
  return mg_problem_find_error(runs->problem, &run->row->l2_error);
}

// Errors of one problem agree to a hundredth, but for what the tolerance leaves.
static void compare_errors(const Runs *runs) {
  const MgRow *first = NULL;

  for (size_t i = 0; i < runs->num; i++) {
    MgRow *row = runs->runs[i].row;

    if (!runs->runs[i].cycle || *row->fault) continue;
    if (!first) first = row;
    if (fabs(row->l2_error - first->l2_error) <= 0.01 * first->l2_error + 10 * runs->options->tol) continue;
    snprintf(row->fault, MG_MESSAGE, "L2 error %.3e, %.3e with %s", row->l2_error, first->l2_error,
             mg_smoother_name(first->variant.smoother));
  }
}

static int solve_all(const Runs *runs) {
  MgProblem *p = runs->problem;

  CLI_TRY(mg_problem_set_source(p, MG_ONE));
  for (size_t i = 0; i < runs->num; i++) {
    if (!runs->runs[i].cycle)
      measure_memory(p, runs->runs[i].row);
    else
      CLI_TRY(solve_first(runs, &runs->runs[i]));
  }
  if (runs->options->timed == MG_ONE) CLI_TRY(time_runs(runs));
  CLI_TRY(mg_problem_set_source(p, MG_SINE));
  for (size_t i = 0; i < runs->num; i++) {
    if (runs->runs[i].cycle) CLI_TRY(find_error(runs, &runs->runs[i]));
  }
  if (runs->options->timed == MG_SINE) CLI_TRY(time_runs(runs));
  compare_errors(runs);
  for (size_t i = 0; i < runs->num; i++)
    memcpy(runs->runs[i].row->seconds_case, p->seconds, sizeof(p->seconds));
  return CEED_ERROR_SUCCESS;
}

static int create_runs(Runs *runs, const MgVariant *variants, MgRow *rows) {
  const MgProblem *p = runs->problem;

  CLI_TRY(CeedVectorCreate(p->ceed, 1, &runs->tick));
  CLI_TRY(CeedVectorSetValue(runs->tick, 0));
  CLI_TRY(cli_allocate(p->ceed, runs->num, sizeof(Run), &runs->runs));
  CLI_TRY(RitzOperatorsPrepare(1, &p->problem.op.whole, NULL, true));
  for (size_t i = 0; i < runs->num; i++) {
    describe_row(p, runs->options, &variants[i], &rows[i]);
    runs->runs[i].row = &rows[i];
    CLI_TRY(create_run(runs, i));
  }
  return CEED_ERROR_SUCCESS;
}

int mg_solve(MgProblem *problem, const MgOptions *options, size_t num, const MgVariant *variants,
             MgRow *rows) {
  Runs runs = {.problem = problem, .options = options, .num = num};
  int ierr = create_runs(&runs, variants, rows);

  if (!ierr) ierr = solve_all(&runs);
  for (size_t i = 0; runs.runs && i < num; i++) clear_run(&runs.runs[i]);
  free(runs.runs);
  CeedVectorDestroy(&runs.tick);
  return ierr;
}
