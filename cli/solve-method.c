// SPDX-License-Identifier: BSD-2-Clause
// Solver and preconditioner of `ritz solve`: what is taken by default, what the options say, what is told.
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/solve.h"

// The operator of linear solves.
static const ProblemOperator *linear_operator(const Solve *s) {
  return s->state ? &s->jacobian : &s->problem.op;
}

// ---- Multigrid ----

static int create_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  Solve *s = ctx;

  *op = NULL;
  return s->state ? solve_create_level_linear(s, level, space, op)
                  : problem_create_level(&s->problem, space, op);
}

static int create_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                             CeedOperator *seam) {
  Solve *s = ctx;

  *inside = *seam = NULL;
  return s->state ? solve_create_part_level_linear(s, level, space, inside, seam)
                  : problem_create_part_level(&s->problem, space, inside, seam);
}

static int create_level_modes(void *ctx, CeedInt level, RitzSpace space, CeedInt max, CeedInt *num,
                              CeedVector null[]) {
  const Solve *s = ctx;
  ProblemModes modes = {0};
  int ierr = CEED_ERROR_SUCCESS;

  *num = 0;
  CLI_TRY(solve_create_modes(s, &s->problem, space, &modes));
  if (modes.num > max || modes.num != s->modes.num) {
    ierr = CeedError(s->ceed, CEED_ERROR_UNSUPPORTED,
                     "level %" CeedInt_FMT " has %" CeedInt_FMT
                     " modes without energy, the finest %" CeedInt_FMT,
                     level, modes.num, s->modes.num);
    problem_destroy_modes(&modes);
  }
  for (CeedInt i = 0; i < modes.num; i++) null[i] = modes.vectors[i];
  *num = modes.num;
  return ierr;
}

static CeedScalarType chosen_precision(const Solve *s) {
  CeedScalarType own = CEED_SCALAR_FP64;

  CeedGetScalarType(&own);
  return s->options.precision == PRECISION_F64 || s->is_double || own == CEED_SCALAR_FP32 ? own
                                                                                          : CEED_SCALAR_FP32;
}

// Numbers of operators are products of coefficients with powers of the sizes of elements. Beyond a contrast
// of 1e5 connections of a soft region are rounding in float beside those of a stiff one, which floats then.
static int choose_precision(Solve *s) {
  const double most_contrast = 1e5, most = 1e20, least = 1e-20;
  double smallest = 1, largest = 1;

  if (s->options.precision == PRECISION_F32 || chosen_precision(s) == CEED_SCALAR_TYPE)
    return CEED_ERROR_SUCCESS;
  if (s->state) { // a failure in float would shorten the load step
    s->is_double = true;
    return CEED_ERROR_SUCCESS;
  }
  CLI_TRY(problem_coefficient_range(&s->problem, &smallest, &largest));
  s->is_double = largest > most_contrast * smallest || largest > most || smallest < least;
  if (s->is_double)
    cli_fact("note", "multigrid in double precision: coefficients from %g to %g are too much for single",
             smallest, largest);
  return CEED_ERROR_SUCCESS;
}

// On quadrilaterals and hexahedra steps over elements take less time from this degree on: diffusion with two
// instead of three over single unknowns (doc/performance-solvers.md). Of elasticity the library knows.
static CeedInt schwarz_degree(const Solve *s) {
  if (problem_is_elastic((ProblemKind)s->options.problem)) return 0;
  return problem_is_on_device(&s->problem) ? 5 : 3;
}

// Temperatures: what the library finds for the mesh and the machine; elasticity: what it takes for coupled
// components.
static RitzSmootherKind chosen_smoother(const Solve *s) {
  static const RitzSmootherKind kinds[] = {RITZ_SMOOTHER_AUTO,
                                           RITZ_SMOOTHER_JACOBI,
                                           RITZ_SMOOTHER_POINT_BLOCKS,
                                           RITZ_SMOOTHER_POINT_BLOCKS,
                                           RITZ_SMOOTHER_ELEMENT_SCHWARZ,
                                           RITZ_SMOOTHER_OVERLAPPED_SCHWARZ,
                                           RITZ_SMOOTHER_ADDITIVE_PATCHES,
                                           RITZ_SMOOTHER_PATCHES};
  const SolveOptions *o = &s->options;

  if (o->smoother > 0) return kinds[o->smoother];
  // elements stand for one coefficient each
  if (s->problem.has_jumps || s->conductivity) return RITZ_SMOOTHER_AUTO;
  return o->problem == PROBLEM_POISSON ? RITZ_SMOOTHER_MEASURED : RITZ_SMOOTHER_AUTO;
}

// Degree of the smoothing polynomials: elastic bodies that bend, and coefficients that jump within elements,
// are smoothed less easily than temperatures.
static CeedInt chosen_degree(const Solve *s, RitzSmootherKind smoother) {
  if (s->options.degree) return s->options.degree;
  if (problem_is_elastic((ProblemKind)s->options.problem)) return 5;
  if (s->problem.has_jumps) return 6;
  return smoother == RITZ_SMOOTHER_ELEMENT_SCHWARZ || smoother == RITZ_SMOOTHER_OVERLAPPED_SCHWARZ ||
                 smoother == RITZ_SMOOTHER_ADDITIVE_PATCHES
             ? 2
             : 0;
}

// Methods that the user asks for get a symmetric cycle where the order of steps decides on that.
static bool needs_symmetric(int solver) {
  return solver == RITZ_SOLVER_CG || solver == RITZ_SOLVER_MINRES || solver == RITZ_SOLVER_CHEBYSHEV;
}

// Bending is found badly in degree 1: the way from 3 leads over 2. Temperatures lose less by 3, 1 than the
// kernels of one more degree cost.
static RitzHierarchyOptions chosen_levels(const Solve *s) {
  static const RitzHierarchyKind kinds[] = {RITZ_HIERARCHY_AUTO, RITZ_HIERARCHY_P, RITZ_HIERARCHY_H,
                                            RITZ_HIERARCHY_HP};
  const int levels = s->options.levels;

  return (RitzHierarchyOptions){.kind = levels < 0 ? RITZ_HIERARCHY_AUTO : kinds[levels],
                                .degree_divisor =
                                    problem_is_elastic((ProblemKind)s->options.problem) ? 0 : 2};
}

// Words of --coarse.
static RitzDirectKind chosen_coarse(const Solve *s) {
  static const RitzDirectKind kinds[] = {RITZ_DIRECT_AUTO,    RITZ_DIRECT_DENSE, RITZ_DIRECT_CHOLMOD,
                                         RITZ_DIRECT_UMFPACK, RITZ_DIRECT_AMG,   RITZ_DIRECT_CG};

  return s->options.coarse < 0 ? RITZ_DIRECT_AUTO : kinds[s->options.coarse];
}

static int create_part_multigrid(Solve *s) {
  const RitzHierarchyOptions levels = chosen_levels(s);
  const RitzDirectKind coarse = chosen_coarse(s);
  const bool is_together = coarse == RITZ_DIRECT_CG; // by all parts
  const RitzSmootherKind smoother = chosen_smoother(s);
  const RitzPartMultigridOptions options = {
      .smoother = smoother,
      .is_reversed = needs_symmetric(s->options.solver),
      .schwarz_degree = s->options.smoother <= 0 ? schwarz_degree(s) : 0,
      .chebyshev = {.degree = chosen_degree(s, smoother), .update = RITZ_BOUNDS_KEEP},
      .use_precision = true,
      .precision = chosen_precision(s),
      .for_updates = s->state != NULL,
      .max_gathered = is_together ? -1 : 0,
      .coarse = {.kind = is_together ? RITZ_DIRECT_AUTO : coarse},
      .create_nullspace = s->modes.num ? create_level_modes : NULL};
  RitzHierarchy hierarchy = NULL;
  int ierr = RitzHierarchyCreate(s->problem.space, &levels, &hierarchy);

  if (!ierr && s->state) ierr = solve_create_levels(s, hierarchy);
  if (!ierr)
    ierr = RitzPreconditionerCreatePartMultigrid(s->ceed, hierarchy, s->transport, create_part_level, s,
                                                 s->num_fixed, s->fixed, &options, &s->pc);
  RitzHierarchyDestroy(&hierarchy);
  return ierr;
}

static int create_multigrid(Solve *s) {
  const SolveOptions *o = &s->options;
  const RitzSmootherKind smoother = chosen_smoother(s);
  const RitzHierarchyOptions levels = chosen_levels(s);
  const RitzMultigridOptions options = {
      .cycle = o->cycle == CYCLE_W   ? RITZ_CYCLE_W
               : o->cycle == CYCLE_F ? RITZ_CYCLE_F
                                     : RITZ_CYCLE_V,
      .is_full = o->cycle == CYCLE_FULL,
      .starts_full = o->start == START_FULL,
      .is_reversed = needs_symmetric(o->solver),
      .smoother = smoother,
      .schwarz_degree = o->smoother <= 0 ? schwarz_degree(s) : 0,
      .chebyshev = {.degree = chosen_degree(s, smoother), .update = RITZ_BOUNDS_KEEP},
      .use_precision = true,
      .precision = chosen_precision(s),
      .for_updates = s->state != NULL,
      .coarse = {.kind = chosen_coarse(s)},
  };
  RitzHierarchy hierarchy = NULL;
  int ierr = RitzHierarchyCreate(s->problem.space, &levels, &hierarchy);

  if (!ierr && s->state) ierr = solve_create_levels(s, hierarchy);
  if (!ierr) {
    ierr = RitzPreconditionerCreateMultigridOfHierarchy(s->ceed, hierarchy, create_level,
                                                        s->modes.num ? create_level_modes : NULL, s,
                                                        s->num_fixed, s->fixed, &options, &s->pc);
  }
  RitzHierarchyDestroy(&hierarchy);
  return ierr;
}

// ---- Solver ahead of its preconditioner ----

// CG needs one fixed symmetric matrix; a float one below double residuals is that only to rounding.
static RitzSolverType chosen_solver(const Solve *s, bool is_symmetric, CeedScalarType precision) {
  const bool is_skew = s->conductivity || s->followers; // the Jacobian is not symmetric

  if (s->options.solver >= 0) return (RitzSolverType)s->options.solver;
  if (is_skew) return RITZ_SOLVER_GMRES;
  return is_symmetric && precision == CEED_SCALAR_TYPE ? RITZ_SOLVER_CG : RITZ_SOLVER_FLEXIBLE_CG;
}

static int choose_solver(const Solve *s, RitzSolverType *type) {
  CeedScalarType precision = CEED_SCALAR_TYPE;
  bool is_symmetric = true;

  if (s->pc) CLI_TRY(RitzPreconditionerIsSymmetric(s->pc, &is_symmetric));
  if (s->pc) CLI_TRY(RitzPreconditionerGetPrecision(s->pc, &precision));
  *type = chosen_solver(s, is_symmetric, precision);
  return CEED_ERROR_SUCCESS;
}

// Kernels of a method around multigrid, on devices while that is made.
static int prepare_method(const Solve *s) {
  const ProblemOperator *op = linear_operator(s);
  RitzSolver solver = NULL;

  if (!problem_is_on_device(&s->problem) || !op->whole) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSolverCreate(s->ceed, chosen_solver(s, true, chosen_precision(s)), &solver));
  int ierr = RitzSolverSetOperator(solver, op->whole);
  if (!ierr) ierr = RitzSolverPrepare(solver, chosen_precision(s));
  RitzSolverDestroy(&solver);
  return ierr;
}

// ---- Preconditioners ----

static int create_chebyshev(Solve *s) {
  const RitzChebyshevOptions options = {.degree = chosen_degree(s, RITZ_SMOOTHER_AUTO)};
  CeedOperator op = linear_operator(s)->whole;
  RitzPreconditioner inner = NULL;
  int ierr = s->problem.num_comp > 1 ? RitzPreconditionerCreatePointBlockJacobi(op, s->constraints, &inner)
                                     : RitzPreconditionerCreateOperatorJacobi(op, s->constraints, &inner);

  if (!ierr) ierr = RitzPreconditionerCreateChebyshev(op, s->constraints, inner, &options, &s->pc);
  RitzPreconditionerDestroy(&inner);
  return ierr;
}

// Makes the preconditioner of a problem in parts; solve_check_options has refused other kinds. Jacobi belongs
// to the solver.
static int create_part_kind(Solve *s, SolvePreconditioner kind) {
  if (kind == PC_MULTIGRID) return create_part_multigrid(s);
  if (kind != PC_JACOBI) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &s->diagonal));
  return problem_get_diagonal(linear_operator(s), s->diagonal);
}

static int create_kind(Solve *s, SolvePreconditioner kind) {
  CeedOperator op = linear_operator(s)->whole;

  if (s->transport) return create_part_kind(s, kind);
  switch (kind) {
  case PC_NONE: return CEED_ERROR_SUCCESS;
  case PC_JACOBI: return RitzPreconditionerCreateOperatorJacobi(op, s->constraints, &s->pc);
  case PC_POINT_JACOBI: return RitzPreconditionerCreatePointBlockJacobi(op, s->constraints, &s->pc);
  case PC_CHEBYSHEV: return create_chebyshev(s);
  case PC_SCHWARZ:
    return RitzPreconditionerCreateElementSchwarz(op, s->problem.space, NULL, s->constraints, &s->pc);
  default: return create_multigrid(s);
  }
}

static const char *kind_name(SolvePreconditioner kind) {
  static const char *const names[] = {"no preconditioner", "Jacobi",          "point-block Jacobi",
                                      "Chebyshev",         "element Schwarz", "multigrid"};
  return names[kind];
}

// The options', or the best that the backend has: what it cannot do is told and left out.
static int create_preconditioner(Solve *s, SolvePreconditioner *kind) {
  const SolveOptions *o = &s->options;
  const bool is_free = o->preconditioner < 0 && !o->jacobi && !o->no_jacobi && o->smoother <= 0 &&
                       !s->transport; // parts agree
  int ierr;

  *kind = o->preconditioner >= 0       ? (SolvePreconditioner)o->preconditioner
          : o->no_jacobi               ? PC_NONE
          : o->jacobi                  ? PC_JACOBI
          : o->problem == PROBLEM_MASS ? PC_JACOBI
                                       : PC_MULTIGRID;
  if (*kind == PC_MULTIGRID) CLI_TRY(choose_precision(s));
  if (*kind == PC_MULTIGRID) CLI_TRY(prepare_method(s));
  ierr = create_kind(s, *kind);
  if (ierr && ierr != CEED_ERROR_UNSUPPORTED && *kind == PC_MULTIGRID && !s->transport &&
      chosen_precision(s) != CEED_SCALAR_TYPE) {
    const char *message = NULL;

    CLI_TRY(CeedResetErrorMessage(s->ceed, &message));
    cli_fact("note", "multigrid in single precision cannot be set up: once more in double");
    s->is_double = true;
    ierr = create_kind(s, *kind);
  }
  while (is_free && ierr == CEED_ERROR_UNSUPPORTED && *kind != PC_NONE) {
    const char *message = NULL;

    CLI_TRY(CeedResetErrorMessage(s->ceed, &message));
    cli_fact("note", "no %s on this backend", kind_name(*kind));
    *kind = *kind == PC_MULTIGRID ? PC_JACOBI : PC_NONE;
    ierr = create_kind(s, *kind);
  }
  return ierr;
}

// ---- Solver ----

static const char *solver_name(RitzSolverType type) {
  static const char *const names[] = {
      "conjugate gradients", "flexible conjugate gradients", "MINRES", "GMRES", "FGMRES",
      "Chebyshev iteration", "Richardson iteration"};
  return names[type];
}

static int set_up_solver(Solve *s) {
  RitzSolverType type = RITZ_SOLVER_CG;
  CeedScalarType precision = CEED_SCALAR_FP64;

  CLI_TRY(choose_solver(s, &type));
  CLI_TRY(RitzSolverCreate(s->ceed, type, &s->solver));
  if (s->diagonal) CLI_TRY(RitzSolverSetJacobi(s->solver, s->diagonal));
  CLI_TRY(problem_set_operator(linear_operator(s), s->solver, s->constraints));
  CLI_TRY(RitzSolverSetTolerances(s->solver, s->options.tol, 0, s->options.max_it));
  if (s->pc) CLI_TRY(RitzSolverSetPreconditioner(s->solver, s->pc));
  if (s->modes.num) CLI_TRY(RitzSolverSetNullspace(s->solver, s->modes.num, s->modes.vectors));
  if (s->pc) CLI_TRY(RitzPreconditionerGetPrecision(s->pc, &precision));
  cli_fact("solver", "%s%s, %s%s, relative tolerance %g", s->state ? "Newton's method, " : "",
           solver_name(type), kind_name(s->pc_kind),
           s->pc && precision == CEED_SCALAR_FP32 && sizeof(CeedScalar) == 8 ? " in single precision" : "",
           s->options.tol);
  return CEED_ERROR_SUCCESS;
}

// What `view` prints, behind a label as facts are.
static int show_view(const Solve *s, const char *label, int (*view)(RitzPreconditioner, FILE *)) {
  char *text = NULL, *line, *rest = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  int ierr;

  if (!stream) return CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for a view");
  ierr = view(s->pc, stream);
  // without memory for the text there is none
  if (fclose(stream) && !ierr) ierr = CeedError(s->ceed, CEED_ERROR_MAJOR, "no memory for a view");
  for (line = ierr ? NULL : strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    printf("%-12s%s\n", label, line);
    label = "";
  }
  free(text);
  return ierr;
}

// All that the preconditioner has of the state, which it keeps beside it.
static int update_all(Solve *s) {
  CLI_TRY(solve_set_levels(s));
  CLI_TRY(RitzPreconditionerUpdate(s->pc));
  return CeedVectorCopy(s->state, s->pc_state);
}

// The same for the state that it had before.
static int go_back(Solve *s) {
  CeedVector present = NULL;
  int ierr;

  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &present));
  CLI_TRY_CLEANUP(CeedVectorCopy(s->state, present));
  CLI_TRY_CLEANUP(CeedVectorCopy(s->pc_state, s->state));
  CLI_TRY_CLEANUP(update_all(s));
  ierr = CeedVectorCopy(present, s->state);
cleanup:
  CeedVectorDestroy(&present);
  return ierr;
}

// An operator that is not definite has none of some kinds: the last one stays, and the linear solve finds
// out.
int solve_update_preconditioner(Solve *s) {
  const char *message = NULL;

  if (s->diagonal) return problem_get_diagonal(linear_operator(s), s->diagonal); // the solver's own Jacobi
  if (!s->pc || !update_all(s)) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedResetErrorMessage(s->ceed, &message));
  if (!s->has_stale_pc) cli_fact("note", "no %s at some state: the last one serves", kind_name(s->pc_kind));
  s->has_stale_pc = true;
  return go_back(s);
}

int solve_create_method(Solve *s) {
  CLI_TRY(create_preconditioner(s, &s->pc_kind));
  CeedOperator ops[] = {s->problem.op.whole, s->jacobian.whole};

  if (ops[0]) // most applies are the preconditioner's
    CLI_TRY(RitzOperatorsPrepare(ops[1] ? 2 : 1, ops, NULL, true));
  CLI_TRY(set_up_solver(s));
  if (cli_is_quiet()) return CEED_ERROR_SUCCESS;
  if (s->pc_kind == PC_MULTIGRID && s->transport) return show_view(s, "levels", RitzPreconditionerView);
  if (s->pc_kind == PC_MULTIGRID) CLI_TRY(show_view(s, "levels", RitzPreconditionerViewLevels));
  if (s->pc && s->options.verbose) CLI_TRY(show_view(s, "details", RitzPreconditionerView));
  return CEED_ERROR_SUCCESS;
}

// ---- One solve ----

// The reason of a failed solve that cycles in double may do better in.
static int find_failure(const Solve *s, RitzSolverReason *reason) {
  CeedScalarType own = CEED_SCALAR_FP64, precision = CEED_SCALAR_FP64;
  double first = 0, last = 0;

  *reason = RITZ_ITERATING;
  if (!s->pc) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedGetScalarType(&own));
  CLI_TRY(RitzPreconditionerGetPrecision(s->pc, &precision));
  if (precision == own) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSolverGetReason(s->solver, reason));
  CLI_TRY(RitzSolverGetResidual(s->solver, &first, &last));
  if (*reason > 0 || *reason == RITZ_DIVERGED_MONITOR || (*reason == RITZ_DIVERGED_MAX_IT && last < first))
    *reason = RITZ_ITERATING;
  return CEED_ERROR_SUCCESS;
}

// Solves on in double, from the last iterate to the residual that was asked for, where float has failed. All
// parts have the same reason.
int solve_again_in_double(Solve *s, const ProblemOperator *op) {
  RitzSolverReason reason = RITZ_ITERATING;
  double first = 0;

  CLI_TRY(find_failure(s, &reason));
  if (reason == RITZ_ITERATING) return CEED_ERROR_SUCCESS;
  CLI_TRY(RitzSolverGetResidual(s->solver, &first, NULL));
  cli_fact("result", "%s", RitzSolverReasonName(reason));
  cli_fact("note", "that was with multigrid in single precision: once more in double");
  RitzSolverDestroy(&s->solver);
  RitzPreconditionerDestroy(&s->pc);
  s->is_double = true;
  CLI_TRY(solve_create_method(s));
  CLI_TRY(problem_set_operator(op, s->solver, s->constraints));
  CLI_TRY(RitzSolverSetTolerances(s->solver, 0, s->options.tol * first, s->options.max_it));
  return RitzSolverSolve(s->solver, s->rhs, s->u);
}

static int show_result(const Solve *s, double seconds, bool *converged) {
  const double free_unknowns = s->num_free;
  RitzSolverReason reason;
  CeedInt iterations = 0;
  double first = 0, last = 0;

  CLI_TRY(RitzSolverGetReason(s->solver, &reason));
  CLI_TRY(RitzSolverGetIterations(s->solver, &iterations));
  CLI_TRY(RitzSolverGetResidual(s->solver, &first, &last));
  *converged = reason > 0;
  cli_fact("result", "%s", RitzSolverReasonName(reason));
  cli_fact("iterations", "%" CeedInt_FMT ", residual %.3e to %.3e", iterations, first, last);
  if (s->options.start == START_FULL && iterations)
    cli_fact("cycles", "%" CeedInt_FMT " after full multigrid, %" CeedInt_FMT " in all", iterations - 1,
             iterations);
  if (iterations && seconds > 0) {
    cli_fact("time", "%.3f s, %.3f MDOF/s of the solve, %.1f of an iteration", seconds,
             1e-6 * free_unknowns / seconds, 1e-6 * free_unknowns * iterations / seconds);
  } else {
    cli_fact("time", "%.3f s", seconds);
  }
  return CEED_ERROR_SUCCESS;
}

// Subtracts the mean of a solution that is known up to constants, on each piece of the mesh that has one.
static int remove_means(Solve *s) {
  CeedVector weights = NULL; // of one piece
  int ierr = CEED_ERROR_SUCCESS;

  if (!s->mean_weights) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedVectorCreate(s->ceed, s->size, &weights));
  for (CeedInt i = 0; i < s->modes.num; i++) {
    CeedVector mode = s->modes.vectors[i];
    double mean = 0, volume = 0;

    CLI_TRY_CLEANUP(CeedVectorPointwiseMult(weights, mode, s->mean_weights));
    CLI_TRY_CLEANUP(solve_dot(s, s->u, weights, &mean));
    CLI_TRY_CLEANUP(solve_dot(s, mode, weights, &volume));
    CLI_TRY_CLEANUP(RitzVectorSum(s->u, 1, s->u, -mean / volume, mode));
  }
  ierr = problem_share(&s->problem, s->u);
cleanup:
  CeedVectorDestroy(&weights);
  return ierr;
}

// Vectors go to the memory where the solver works.
static int place_vectors(const Solve *s) {
  CeedMemType memory = CEED_MEM_HOST;

  CLI_TRY(CeedGetPreferredMemType(s->ceed, &memory));
  CLI_TRY(CeedVectorSyncArray(s->u, memory));
  return CeedVectorSyncArray(s->rhs, memory);
}

int solve_run(Solve *s, bool *converged) {
  Progress progress;
  int ierr;

  CLI_TRY(place_vectors(s));
  cli_fact("set-up", "%.3f s", cli_seconds() - s->setup_start);
  progress_start(&progress, s->options.tol);
  CLI_TRY(RitzSolverSetMonitor(s->solver, cli_is_quiet() ? NULL : progress_monitor, &progress));
  ierr = RitzSolverSolve(s->solver, s->rhs, s->u);
  if (!cli_is_quiet()) progress_end(&progress);
  CLI_TRY(ierr);
  CLI_TRY(solve_again_in_double(s, &s->problem.op));
  CLI_TRY(problem_share(&s->problem, s->u));
  CLI_TRY(show_result(s, cli_seconds() - progress.start, converged));
  return remove_means(s);
}
