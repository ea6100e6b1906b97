// SPDX-License-Identifier: BSD-2-Clause
// `ritz solve`: the course of the command, from the command line to the errors and the output file.
#include "cli/solve.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

// ---- Options ----

#define MEMBER(name) offsetof(SolveOptions, name)

static const ArgOption options_table[] = {
    {"--problem",
     NULL,
     "-div grad u = f, or u = f, or -div grad u + lambda u = f\n(default poisson)",
     ARG_CHOICE,
     MEMBER(problem),
     0,
     0,
     {"poisson", "mass", "helmholtz", NULL}},
    {"--order", "P", "polynomial degree (default 2)", ARG_INT, MEMBER(order), 1, INFINITY, {NULL}},
    {"--refine",
     "N",
     "split every element into 2^dim of its shape (pyramids into 6, and\n4 tetrahedra), N times",
     ARG_INT,
     MEMBER(refine),
     0,
     INFINITY,
     {NULL}},
    {"--bc",
     "NAME=EXPR",
     "value of u on a boundary part; may be repeated, the later one\ncounts where parts meet; the part "
     "\"all\" is all of the boundary;\nparts without value have a vanishing normal derivative",
     ARG_TEXT_LIST,
     MEMBER(bc),
     0,
     0,
     {NULL}},
    {"--source", "EXPR", "right-hand side f (default 0)", ARG_TEXT, MEMBER(source), 0, 0, {NULL}},
    {"--exact",
     NULL,
     "choose f and the values on all of the boundary so that u is the\nproduct of sin(pi x), sin(pi y), "
     "sin(pi z); print the errors",
     ARG_CHOICE,
     MEMBER(exact),
     0,
     0,
     {"sine", NULL}},
    {"--lambda",
     "VALUE",
     "coefficient of helmholtz (default 1)",
     ARG_REAL,
     MEMBER(lambda),
     0,
     INFINITY,
     {NULL}},
    {"--ceed",
     "RESOURCE",
     "backend, see 'ritz info' (default /cpu/self)",
     ARG_TEXT,
     MEMBER(ceed),
     0,
     0,
     {NULL}},
    {"--tol",
     "T",
     "reduction of the residual to reach (default 1e-10)",
     ARG_REAL,
     MEMBER(tol),
     0,
     INFINITY,
     {NULL}},
    {"--max-it", "N", "limit of iterations (default 10000)", ARG_INT, MEMBER(max_it), 0, INFINITY, {NULL}},
    {"--jacobi",
     NULL,
     "precondition with the diagonal (default where the backend has it)",
     ARG_FLAG,
     MEMBER(jacobi),
     0,
     0,
     {NULL}},
    {"--no-jacobi", NULL, "no preconditioner", ARG_FLAG, MEMBER(no_jacobi), 0, 0, {NULL}},
    {"--output", "FILE.vtu", "write the solution for ParaView", ARG_TEXT, MEMBER(output), 0, 0, {NULL}},
};

const ArgCommand solve_command = {
    .name = "ritz solve",
    .operand = "MESH",
    .operand_offset = MEMBER(mesh),
    .description =
        "Solves a boundary value problem by conjugate gradients. MESH is a file (Gmsh .msh, MFEM .mesh)\n"
        "of lines, triangles and quadrilaterals, or tetrahedra, pyramids, prisms and hexahedra, also\n"
        "together, or a unit box of elements: box:8, box:8x8 or box:8x8x8.",
    .notes =
        "Quadrature: P+2 Gauss points per direction on lines, quadrilaterals and hexahedra; rules that are\n"
        "exact to degree 2P on triangles, tetrahedra, pyramids and prisms.\n\n"
        "EXPR: numbers, x y z pi, + - * / ^ ( ), unary minus, sin cos exp sqrt. ^ binds strongest and "
        "to the\n"
        "right, then unary minus: -2^2 = -4, 2^3^2 = 2^9.\n\n"
        "Exit status: 0 converged; 1 failed or not converged; 2 wrong usage.\n\n"
        "  ritz solve box:8x8x8 --exact sine --order 3\n"
        "  ritz solve heat-sink.msh --order 4 --bc base=100 --bc fins=20 --output heat.vtu",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// Tables of a basis grow with the square of the degree: far beyond what is useful, a typing mistake.
enum { MAX_ORDER = 1000 };

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && !strcmp(text + n - m, end);
}

static int check_solve_options(const SolveOptions *o) {
  ArgsResult result = ARGS_RUN;
  char shown[ARG_SHOWN];

  if (o->exact != EXACT_NONE && (o->source || o->bc.num)) {
    result = args_wrong(&solve_command, "--exact", "sets the source and all values itself, leave out %s",
                        o->source ? "--source" : "--bc");
  } else if (o->order > MAX_ORDER) {
    result = args_wrong(&solve_command, "--order", "expected at most %d, found %d", MAX_ORDER, o->order);
  } else if (o->jacobi && o->no_jacobi) {
    result = args_wrong(&solve_command, "--jacobi", "contradicts --no-jacobi");
  } else if (o->output && !ends_with(o->output, ".vtu")) {
    result = args_wrong(&solve_command, "--output", "expected a file name that ends in .vtu, found '%s'",
                        args_shown(o->output, shown));
  }
  return result == ARGS_RUN ? CLI_OK : CLI_USAGE;
}

// ---- Solving ----

static int create_vectors(Solve *s) {
  CeedSize size = 0;

  CLI_TRY(RitzSpaceGetSize(s->problem.space, &size));
  CLI_TRY(CeedVectorCreate(s->ceed, size, &s->u));
  return CeedVectorCreate(s->ceed, size, &s->rhs);
}

static void show_space(const Solve *s) {
  const char *resource = "";
  char points[60];
  int order = s->options.order;

  if (s->problem.has_directions)
    snprintf(points, sizeof(points), "%d Gauss points per direction", order + 2);
  else
    snprintf(points, sizeof(points), "quadrature exact to degree %d", 2 * order);
  cli_fact("space", "degree %d, %lld unknowns, %lld free, %s", order, (long long)s->num_nodes,
           (long long)(s->num_nodes - s->num_constraints), points);
  if (!CeedGetResource(s->ceed, &resource)) cli_fact("backend", "%s", resource);
}

// Computes the diagonal and gives it to the solver, unless the backend cannot (and the user does not insist).
static int set_preconditioner(const Solve *s, RitzSolver solver, const char **name) {
  CeedVector diagonal = NULL;
  CeedSize size = 0;
  int ierr;

  *name = "no preconditioner";
  if (s->options.no_jacobi) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedVectorGetLength(s->u, &size));
  CLI_TRY(CeedVectorCreate(s->ceed, size, &diagonal));
  ierr = CeedOperatorLinearAssembleDiagonal(s->problem.op, diagonal, CEED_REQUEST_IMMEDIATE);
  if (!ierr) {
    *name = "Jacobi";
    ierr = RitzSolverSetJacobi(solver, diagonal);
  } else if (ierr == CEED_ERROR_UNSUPPORTED && !s->options.jacobi) {
    const char *message;
    *name = "no preconditioner (diagonal not available)";
    ierr = CeedResetErrorMessage(s->ceed, &message);
  }
  CeedVectorDestroy(&diagonal);
  return ierr;
}

static int show_result(const Solve *s, RitzSolver solver, double seconds, bool *converged) {
  RitzSolverReason reason;
  CeedInt iterations = 0;
  double first = 0, last = 0;

  CLI_TRY(RitzSolverGetReason(solver, &reason));
  CLI_TRY(RitzSolverGetIterations(solver, &iterations));
  CLI_TRY(RitzSolverGetResidual(solver, &first, &last));
  *converged = reason > 0;
  cli_fact("result", "%s", RitzSolverReasonName(reason));
  cli_fact("iterations", "%" CeedInt_FMT ", residual %.3e to %.3e", iterations, first, last);
  if (iterations && seconds > 0) {
    cli_fact("time", "%.3f s, %.3f MDOF/s", seconds, 1e-6 * (double)s->num_nodes * iterations / seconds);
  } else {
    cli_fact("time", "%.3f s", seconds);
  }
  return CEED_ERROR_SUCCESS;
}

static int run_solver(Solve *s, RitzSolver solver, bool *converged) {
  const SolveOptions *o = &s->options;
  Progress progress;
  const char *preconditioner;
  int ierr;

  CLI_TRY(RitzSolverSetOperator(solver, s->problem.op));
  CLI_TRY(RitzSolverSetConstraints(solver, s->num_constraints, s->constraints));
  CLI_TRY(RitzSolverSetTolerances(solver, o->tol, 0, o->max_it));
  CLI_TRY(RitzSolverSetMonitor(solver, progress_monitor, &progress));
  CLI_TRY(set_preconditioner(s, solver, &preconditioner));
  cli_fact("solver", "conjugate gradients, %s, relative tolerance %g", preconditioner, o->tol);
  progress_start(&progress, o->tol);
  ierr = RitzSolverSolve(solver, s->rhs, s->u);
  progress_end(&progress);
  CLI_TRY(ierr);
  return show_result(s, solver, cli_seconds() - progress.start, converged);
}

static int solve_problem(Solve *s, bool *converged) {
  RitzSolver solver = NULL;
  int ierr;

  CLI_TRY(RitzSolverCreateCG(s->ceed, &solver));
  ierr = run_solver(s, solver, converged);
  RitzSolverDestroy(&solver);
  return ierr;
}

// ---- Errors and output ----

static int show_errors(const Solve *s) {
  double l2 = 0, h1 = 0;

  CLI_TRY(problem_sine_errors(&s->problem, s->u, &l2, &h1));
  cli_fact("L2 error", "%.6e", l2);
  cli_fact("H1 error", "%.6e (seminorm)", h1);
  return CEED_ERROR_SUCCESS;
}

// u - exact at the nodes.
static int create_nodal_error(const Solve *s, CeedVector *error) {
  CeedSize size = 0;

  CLI_TRY(CeedVectorGetLength(s->u, &size));
  CLI_TRY(CeedVectorCreate(s->ceed, size, error));
  CLI_TRY(CeedVectorSetValue(*error, 0));
  CLI_TRY(problem_set_nodes(&s->problem, "--exact", problem_sine, &s->space_dim, 0, NULL, *error));
  return CeedVectorAXPBY(*error, 1, -1, s->u);
}

static int write_output(const Solve *s) {
  RitzOutputField fields[2] = {{"u", s->problem.space, s->u}, {"error", s->problem.space, NULL}};
  CeedInt num = 1;
  int ierr = CEED_ERROR_SUCCESS;

  if (s->options.exact == EXACT_SINE) {
    CLI_TRY_CLEANUP(create_nodal_error(s, &fields[1].values));
    num = 2;
  }
  CLI_TRY_CLEANUP(RitzWriteVTU(s->mesh, num, fields, s->options.output));
  cli_fact("output", "%s", s->options.output);
cleanup:
  CeedVectorDestroy(&fields[1].values);
  return ierr;
}

// ---- The course of the command ----

static int compute(Solve *s, bool *converged) {
  CLI_TRY(solve_show_mesh(s));
  solve_show_problem(s);
  CLI_TRY(problem_create(s->ceed, s->mesh, (ProblemKind)s->options.problem, s->options.lambda,
                         s->options.order, &s->problem));
  CLI_TRY(create_vectors(s));
  CLI_TRY(solve_set_boundary(s));
  show_space(s);
  CLI_TRY(solve_set_source(s));
  CLI_TRY(solve_problem(s, converged));
  if (s->options.exact == EXACT_SINE) CLI_TRY(show_errors(s));
  return s->options.output ? write_output(s) : CEED_ERROR_SUCCESS;
}

static int run_solve_command(Solve *s) {
  bool converged = false;

  CLI_TRY(check_solve_options(&s->options));
  CLI_TRY(solve_parse_formulas(s));
  CLI_TRY(cli_open_ceed(solve_command.name, s->options.ceed, &s->ceed));
  CLI_TRY(solve_open_mesh(s));
  CLI_TRY(solve_check_data(s));
  if (compute(s, &converged)) return cli_report(solve_command.name, s->ceed);
  if (!converged) fprintf(stderr, "%s: the iteration did not converge\n", solve_command.name);
  return converged ? CLI_OK : CLI_FAILED;
}

static void clean_up(Solve *s) {
  CeedVectorDestroy(&s->u);
  CeedVectorDestroy(&s->rhs);
  problem_destroy(&s->problem);
  RitzMeshDestroy(&s->mesh);
  CeedDestroy(&s->ceed);
  free(s->constraints);
  solve_free_formulas(s);
  args_free(&solve_command, &s->options);
}

int cli_solve(int argc, char **argv) {
  Solve s = {
      .options = {
          .order = 2, .exact = EXACT_NONE, .lambda = 1, .ceed = "/cpu/self", .tol = 1e-10, .max_it = 10000}};
  ArgsResult parsed = args_parse(&solve_command, argc, argv, &s.options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run_solve_command(&s);
  clean_up(&s);
  return code;
}
