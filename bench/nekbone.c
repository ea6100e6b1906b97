// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --nekbone`: solves every case under all policies and variants, times that, and checks that all
// of them do the same.
#include "bench/nekbone.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/nekbone-problem.h"
#include "bp/times.h"
#include "cli/cli.h"

static const double eps = sizeof(CeedScalar) == 4 ? FLT_EPSILON : DBL_EPSILON;

double nekbone_rate(const NekboneRow *row) {
  return row->seconds > 0 ? (double)row->dofs * row->iterations / row->seconds : 0;
}

// ---- One policy ----

typedef struct {
  Ceed ceed; // borrowed, as the next two
  const NekboneOptions *options;
  const NekboneProblem *problem;
  bool on_device;        // what computes may go on when a call has returned
  CeedOperator op, mass; // owned, as all that follow
  CeedVector rhs, u, v;  // v: image in the timing of the operator
  CeedVector diagonal;   // NULL without preconditioner
} Run;

static int create_run(Run *r, RitzGeometryPolicy policy, RitzGeometryPolicy *used) {
  const NekboneProblem *p = r->problem;
  RitzGeometryPolicy used_by_mass;
  CeedMemType memory;

  CLI_TRY(CeedGetPreferredMemType(r->ceed, &memory));
  r->on_device = memory == CEED_MEM_DEVICE;
  CLI_TRY(nekbone_create_operator(p, policy, false, &r->op, used));
  CLI_TRY(nekbone_create_operator(p, policy, true, &r->mass, &used_by_mass));
  CLI_TRY(CeedVectorCreate(r->ceed, p->dofs, &r->rhs));
  CLI_TRY(CeedVectorCreate(r->ceed, p->dofs, &r->u));
  CLI_TRY(CeedVectorCreate(r->ceed, p->dofs, &r->v));
  CLI_TRY(CeedOperatorApply(r->mass, p->source, r->rhs, CEED_REQUEST_IMMEDIATE));
  if (!r->options->jacobi) return CEED_ERROR_SUCCESS;
  CLI_TRY(CeedVectorCreate(r->ceed, p->dofs, &r->diagonal));
  return CeedOperatorLinearAssembleDiagonal(r->op, r->diagonal, CEED_REQUEST_IMMEDIATE);
}

static void destroy_run(Run *r) {
  CeedOperatorDestroy(&r->op);
  CeedOperatorDestroy(&r->mass);
  CeedVectorDestroy(&r->rhs);
  CeedVectorDestroy(&r->u);
  CeedVectorDestroy(&r->v);
  CeedVectorDestroy(&r->diagonal);
}

static int set_up_solver(const Run *r, RitzCGVariant variant, RitzSolver solver) {
  const NekboneProblem *p = r->problem;

  CLI_TRY(RitzSolverSetOperator(solver, r->op));
  CLI_TRY(RitzSolverSetConstraints(solver, p->num_constraints, p->constraints));
  CLI_TRY(RitzSolverSetTolerances(solver, r->options->rtol, 0, r->options->max_it));
  CLI_TRY(RitzSolverSetJacobi(solver, r->diagonal));
  return RitzSolverSetVariant(solver, variant);
}

// ---- Timing ----

static int time_solve(const Run *r, RitzSolver solver, double *seconds) {
  CeedScalar norm;

  CLI_TRY(CeedVectorSetValue(r->u, 0));
  double start = cli_seconds();
  CLI_TRY(RitzSolverSolve(solver, r->rhs, r->u));
  if (r->on_device) CLI_TRY(CeedVectorNorm(r->u, CEED_NORM_MAX, &norm)); // waits
  *seconds = cli_seconds() - start;
  return CEED_ERROR_SUCCESS;
}

static int time_applies(const Run *r, CeedInt num, double *seconds) {
  CeedScalar norm;
  double start = cli_seconds();

  for (CeedInt i = 0; i < num; i++) CLI_TRY(CeedOperatorApply(r->op, r->u, r->v, CEED_REQUEST_IMMEDIATE));
  if (r->on_device) CLI_TRY(CeedVectorNorm(r->v, CEED_NORM_MAX, &norm));
  *seconds = cli_seconds() - start;
  return CEED_ERROR_SUCCESS;
}

// The fastest; of devices the median.
static double choose_sample(const Run *r, Times *times) {
  return r->on_device ? times_median(times) : times_least(times);
}

// Solves and applies by turns.
static int time_run(const Run *r, RitzSolver solver, NekboneRow *row) {
  Times solves = {0}, applies = {0};
  double seconds;

  while (times_want_more(&solves, r->options->repetitions, 2, 0.25)) {
    CLI_TRY(time_solve(r, solver, &seconds));
    times_add(&solves, seconds, seconds);
    CLI_TRY(time_applies(r, row->iterations, &seconds));
    times_add(&applies, seconds, seconds);
  }
  row->seconds = choose_sample(r, &solves);
  row->seconds_operator = choose_sample(r, &applies);
  return CEED_ERROR_SUCCESS;
}

// ---- Costs ----

static CostGeometry geometry_of_costs(RitzGeometryPolicy used) {
  switch (used) {
  case RITZ_POLICY_AFFINE: return COST_AFFINE;
  case RITZ_POLICY_TRILINEAR:
  case RITZ_POLICY_ISOPARAMETRIC: return COST_TRILINEAR; // the map of these meshes has order 1
  case RITZ_POLICY_PARTIAL: return COST_PARTIAL;
  case RITZ_POLICY_MERGED: return COST_MERGED;
  default: return COST_STORED;
  }
}

static void find_roofline(const Run *r, NekboneRow *row) {
  const NekboneProblem *p = r->problem;
  const CostedOperator op = {
      .mass = p->of->helmholtz,
      .diffusion = true,
      .geometry = geometry_of_costs(row->used),
      .components = p->of->num_comp,
      .elements = (double)p->num_elem,
      .dofs = (double)p->dofs,
      .vertices = (double)p->num_vertices,
      .P = p->of->order + 1,
      .Q = row->Q,
  };

  row->costs = cost_of_apply(&op);
  cost_add_cg(&row->costs, op.dofs, row->variant == RITZ_CG_MERGED, row->jacobi);
  row->bound = bp_find_bound(&r->options->machine, &row->costs, &row->seconds_bound);
  if (row->seconds > 0) row->roofline = row->seconds_bound * row->iterations / row->seconds;
}

// ---- Checks ----

// Policies differ by rounding, which grows on the way to the solution. Counts of iterations may differ by one
// in a hundred; errors of solutions of size 1 by a part of 64 sqrt(eps), by 20 eps for each iteration, and,
// where the counts differ, by what is left when a solve ends. Solves that are stopped by their number of
// iterations are on their way: one part in a hundred.
static bool is_close(const NekboneRow *row, const NekboneRow *first, double error, double first_error) {
  double left = row->iterations == first->iterations ? 0 : row->rtol;

  if (row->reason == RITZ_DIVERGED_MAX_IT) return fabs(error - first_error) <= 0.01 * first_error;
  return fabs(error - first_error) <= 64 * sqrt(eps) * first_error + 20 * eps * first->iterations + left;
}

static void check_row(const NekboneRow *first, NekboneRow *row) {
  CeedInt more = row->iterations - first->iterations, allowed = first->iterations / 100;

  if (row->reason < 0 && row->reason != RITZ_DIVERGED_MAX_IT)
    snprintf(row->fault, sizeof(row->fault), "%s", RitzSolverReasonName(row->reason));
  else if (!isfinite(row->l2_error) || !isfinite(row->max_error))
    snprintf(row->fault, sizeof(row->fault), "the error is not a number");
  else if (more > allowed || more < -allowed)
    snprintf(row->fault, sizeof(row->fault), "%d iterations, %d with %s geometry", (int)row->iterations,
             (int)first->iterations, RitzGeometryPolicyName(first->policy));
  else if (!is_close(row, first, row->l2_error, first->l2_error) ||
           !is_close(row, first, row->max_error, first->max_error))
    snprintf(row->fault, sizeof(row->fault), "errors %.9e and %.9e, %.9e and %.9e with %s geometry",
             row->l2_error, row->max_error, first->l2_error, first->max_error,
             RitzGeometryPolicyName(first->policy));
}

// ---- Rows ----

static int measure_solves(const Run *r, RitzSolver solver, NekboneRow *row) {
  const char *reason;

  CLI_TRY(time_solve(r, solver, &row->seconds_first));
  CLI_TRY(RitzSolverGetVariantUsed(solver, &row->variant, &reason));
  CLI_TRY(RitzSolverGetReason(solver, &row->reason));
  CLI_TRY(RitzSolverGetIterations(solver, &row->iterations));
  CLI_TRY(nekbone_find_errors(r->problem, r->mass, r->u, &row->l2_error, &row->max_error));
  if (row->iterations) CLI_TRY(time_run(r, solver, row));
  find_roofline(r, row);
  return CEED_ERROR_SUCCESS;
}

static int run_variant(const Run *r, RitzCGVariant variant, NekboneRow *row) {
  RitzSolver solver = NULL;
  int ierr;

  CLI_TRY(RitzSolverCreateCG(r->ceed, &solver));
  ierr = set_up_solver(r, variant, solver);
  if (!ierr) ierr = measure_solves(r, solver, row);
  RitzSolverDestroy(&solver);
  return ierr;
}

// Where rows go.
typedef struct {
  NekboneReport report;
  void *ctx;
  NekboneRow *rows;
  size_t num;
} Sink;

// The speed of the stored policy is that of the same variant among the rows of this case.
static void compare_row(const Sink *sink, size_t first, NekboneRow *row) {
  check_row(&sink->rows[first], row);
  for (size_t i = first; i <= sink->num; i++) {
    const NekboneRow *other = &sink->rows[i];
    if (other->policy == RITZ_POLICY_STORED && other->variant == row->variant && other->iterations)
      row->ratio = nekbone_rate(row) / nekbone_rate(other);
  }
}

// All variants of a policy; `first` is the first row of the case.
static int run_policy(const NekboneOptions *o, const NekboneProblem *p, RitzGeometryPolicy policy,
                      size_t first, Sink *sink) {
  Run r = {.ceed = p->ceed, .options = o, .problem = p};
  RitzGeometryPolicy used;
  int ierr = create_run(&r, policy, &used);

  for (size_t v = 0; v < o->num_variants && !ierr; v++) {
    NekboneRow *row = &sink->rows[sink->num];
    *row = (NekboneRow){.problem = *p->of,
                        .policy = policy,
                        .used = used,
                        .dofs = p->dofs,
                        .jacobi = o->jacobi,
                        .rtol = o->rtol};
    row->Q = p->of->order + (p->of->quad_mode == CEED_GAUSS ? 2 : 1);
    for (int d = 0; d < 3; d++) row->elements[d] = p->n[d];
    ierr = run_variant(&r, o->variants[v], row);
    if (ierr) break;
    compare_row(sink, first, row);
    sink->num++;
    sink->report(sink->ctx, row);
  }
  destroy_run(&r);
  return ierr;
}

// The box that a bake-off problem with as many degrees of freedom in one component has.
static int choose_box(Ceed ceed, const NekboneCase *of, CeedInt n[3]) {
  const BpOptions scalar = {
      .bp = 5, .order = of->order, .n = of->n, .size = of->size > of->num_comp ? of->size / of->num_comp : 1};
  BpResult sizes;

  CLI_TRY(bp_predict(ceed, &scalar, &sizes));
  for (int d = 0; d < 3; d++) n[d] = sizes.elements[d];
  return CEED_ERROR_SUCCESS;
}

static int run_case(Ceed ceed, const NekboneOptions *o, const NekboneCase *of, Sink *sink) {
  NekboneProblem problem = {.ceed = ceed, .of = of};
  size_t first = sink->num;
  int ierr;

  CLI_TRY(choose_box(ceed, of, problem.n));
  ierr = nekbone_problem_create(&problem);
  for (size_t i = 0; i < o->num_policies[of->affine] && !ierr; i++)
    ierr = run_policy(o, &problem, o->policies[of->affine][i], first, sink);
  nekbone_problem_destroy(&problem);
  return ierr;
}

// ---- All of it ----

size_t nekbone_count_rows(const NekboneOptions *o) {
  size_t num = 0;

  for (size_t i = 0; i < o->num_cases; i++) num += o->num_policies[o->cases[i].affine] * o->num_variants;
  return num;
}

int nekbone_run(Ceed ceed, const NekboneOptions *o, NekboneReport report, void *ctx, NekboneRow *rows,
                size_t *num) {
  Sink sink = {.report = report, .ctx = ctx, .rows = rows};
  int ierr = CEED_ERROR_SUCCESS;

  for (size_t i = 0; i < o->num_cases && !ierr; i++) ierr = run_case(ceed, o, &o->cases[i], &sink);
  *num = sink.num;
  return ierr;
}
