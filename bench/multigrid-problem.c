// SPDX-License-Identifier: BSD-2-Clause
// The problem of `ritz bench --multigrid` as objects of Ceed and Ritz: mesh, operators and transfers of all
// levels, right-hand sides, errors.
#include <ritz/operator.h>
#include <ritz/precision.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/multigrid.h"
#include "bp/problem.h"
#include "cli/cli.h"

const char *mg_time_name(MgTime time) {
  static const char *const names[] = {"mesh", "spaces", "operators", "transfers", "right-hand sides"};
  return names[time];
}

// Adds what has passed since *since, and starts anew.
static void count_time(MgProblem *p, MgTime time, double *since) {
  const double now = cli_seconds();

  p->seconds[time] += now - *since;
  *since = now;
}

// ---- Mesh and spaces ----

static int deform(void *ctx, CeedInt dim, const double *X, double *x) {
  const MgCase *of = ctx;

  (void)dim;
  bp_deform(of->deform, X, x);
  return 0;
}

static int create_mesh(MgProblem *p) {
  const CeedInt n[3] = {p->of.n, p->of.n, p->of.n};

  return RitzMeshCreateBox(p->ceed, 3, n, NULL, NULL, 1, p->of.deform != 0 ? deform : NULL, &p->of, &p->mesh);
}

// The operator of a level, with as many points as an exact integral over a parallelepiped takes.
static int create_operator(MgProblem *p, CeedInt level, CeedOperator *op) {
  RitzSpace space = NULL;

  if (level == p->num_levels - 1) return CeedOperatorReferenceCopy(p->problem.op.whole, op);
  CLI_TRY(RitzHierarchyGetSpace(p->hierarchy, level, &space));
  CLI_TRY(problem_create_level(&p->problem, space, op));
  return RitzOperatorSetUse(*op, RITZ_USE_MANY);
}

// Halves of n down to one element; where an odd number stops them earlier, degrees go on: coarsest
// problems of high degree are solved on the host.
static RitzHierarchyKind kind_of_levels(CeedInt n) {
  while (n % 2 == 0) n /= 2;
  return n > 1 ? RITZ_HIERARCHY_HP : RITZ_HIERARCHY_H;
}

static int create_spaces(MgProblem *p) {
  static const ProblemMaterial vacuum = {.conductivity = {.value = 1}, .reaction = {.value = 1}};
  const ProblemOptions options = {.kind = PROBLEM_POISSON,
                                  .order = p->of.degree,
                                  .more_points = 1,
                                  .num_materials = 1,
                                  .materials = &vacuum};
  const RitzHierarchyOptions halved = {.kind = kind_of_levels(p->of.n)};
  const RitzFixedPart boundary = {.part = "all"};

  CLI_TRY(problem_create(p->ceed, p->mesh, &options, &p->problem));
  CLI_TRY(RitzHierarchyCreate(p->problem.space, &halved, &p->hierarchy));
  CLI_TRY(RitzHierarchyGetNumLevels(p->hierarchy, &p->num_levels));
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_levels, sizeof(RitzIndices), &p->constraints));
  for (CeedInt i = 0; i < p->num_levels; i++) {
    RitzSpace space = NULL;

    CLI_TRY(RitzHierarchyGetSpace(p->hierarchy, i, &space));
    CLI_TRY(RitzSpaceCreateConstraints(space, p->ceed, 1, &boundary, &p->constraints[i]));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Levels ----

static int destroy_levels(MgLevels *levels) {
  for (CeedInt i = 0; levels->levels && i < levels->num; i++) {
    CeedOperatorDestroy(&levels->levels[i].op);
    CeedOperatorDestroy(&levels->levels[i].prolong);
    CeedOperatorDestroy(&levels->levels[i].restriction);
  }
  free(levels->levels);
  *levels = (MgLevels){0};
  return CEED_ERROR_SUCCESS;
}

static int allocate_levels(MgProblem *p, MgLevels *levels) {
  CLI_TRY(cli_allocate(p->ceed, (size_t)p->num_levels, sizeof(RitzMultigridLevel), &levels->levels));
  levels->num = p->num_levels;
  for (CeedInt i = 0; i < levels->num; i++) {
    CLI_TRY(RitzHierarchyGetSpace(p->hierarchy, i, &levels->levels[i].space));
    levels->levels[i].constraints = p->constraints[i];
  }
  return CEED_ERROR_SUCCESS;
}

static int create_transfers(MgProblem *p, CeedScalarType precision, MgLevels *levels) {
  for (CeedInt i = 1; i < levels->num; i++) {
    RitzMultigridLevel *level = &levels->levels[i];

    CLI_TRY(RitzSpaceCreateTransfer(levels->levels[i - 1].space, level->space, p->ceed, precision,
                                    &level->prolong, &level->restriction));
  }
  return CEED_ERROR_SUCCESS;
}

// A coarser level is in double as long as its copy takes.
static int create_operators(MgProblem *p, bool wants_double, bool wants_float) {
  CeedOperator op = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  for (CeedInt i = 0; i < p->num_levels; i++) {
    CLI_TRY_CLEANUP(create_operator(p, i, &op));
    if (wants_double) CLI_TRY_CLEANUP(CeedOperatorReferenceCopy(op, &p->doubles.levels[i].op));
    if (wants_float)
      CLI_TRY_CLEANUP(RitzOperatorCopyInPrecision(op, CEED_SCALAR_FP32, &p->floats.levels[i].op));
    CeedOperatorDestroy(&op);
  }
cleanup:
  CeedOperatorDestroy(&op);
  return ierr;
}

// In a float build everything is in float, and `doubles` are the levels of the library's own precision.
static int create_levels(MgProblem *p, bool wants_double, bool wants_float, double *since) {
  CeedScalarType own = CEED_SCALAR_FP64;

  CLI_TRY(CeedGetScalarType(&own));
  if (wants_double) CLI_TRY(allocate_levels(p, &p->doubles));
  if (wants_float) CLI_TRY(allocate_levels(p, &p->floats));
  CLI_TRY(create_operators(p, wants_double, wants_float));
  count_time(p, MG_TIME_OPERATORS, since);
  if (wants_double) CLI_TRY(create_transfers(p, own, &p->doubles));
  if (wants_float) CLI_TRY(create_transfers(p, CEED_SCALAR_FP32, &p->floats));
  count_time(p, MG_TIME_TRANSFERS, since);
  return CEED_ERROR_SUCCESS;
}

// ---- Kernels ----

static int tune_operator(const MgProblem *p, CeedOperator op, CeedScalarType precision) {
  CeedVector in = NULL, out = NULL;
  CeedSize size = 0;
  int ierr;

  CLI_TRY(RitzSpaceGetSize(p->problem.space, &size));
  CLI_TRY_CLEANUP(RitzVectorCreate(p->ceed, size, precision, &in));
  CLI_TRY_CLEANUP(RitzVectorCreate(p->ceed, size, precision, &out));
  CLI_TRY_CLEANUP(CeedVectorSetValue(in, 1));
  CLI_TRY_CLEANUP(RitzOperatorTune(op, in, out, NULL));
cleanup:
  CeedVectorDestroy(&in);
  CeedVectorDestroy(&out);
  return ierr;
}

int mg_problem_tune(MgProblem *p) {
  const CeedInt finest = p->num_levels - 1;
  CeedScalarType own = CEED_SCALAR_FP64;

  CLI_TRY(CeedGetScalarType(&own));
  CLI_TRY(tune_operator(p, p->problem.op.whole, own));
  if (!p->floats.levels) return CEED_ERROR_SUCCESS;
  return tune_operator(p, p->floats.levels[finest].op, CEED_SCALAR_FP32);
}

// ---- Right-hand sides and errors ----

// The mass matrix times ones.
static int add_ones(MgProblem *p) {
  CeedOperator mass = NULL;
  int ierr = problem_create_capacity(&p->problem, &mass);

  if (!ierr) ierr = RitzOperatorSetUse(mass, RITZ_USE_ONCE);
  if (!ierr) ierr = CeedVectorSetValue(p->u, 1);
  if (!ierr) ierr = CeedOperatorApply(mass, p->u, p->rhs, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&mass);
  return ierr;
}

int mg_problem_set_source(MgProblem *p, MgSource source) {
  CeedScalar norm = 0;
  double since = cli_seconds();

  CLI_TRY(CeedVectorSetValue(p->rhs, 0));
  CLI_TRY(source == MG_ONE ? add_ones(p) : problem_add_sine_source(&p->problem, p->rhs));
  CLI_TRY(RitzVectorSetEntries(p->rhs, p->constraints[p->num_levels - 1], 0));
  CLI_TRY(CeedVectorNorm(p->rhs, CEED_NORM_2, &norm));
  p->norm = (double)norm;
  count_time(p, MG_TIME_DATA, &since);
  return CEED_ERROR_SUCCESS;
}

int mg_problem_find_error(const MgProblem *p, double *error) {
  double gradients;

  return problem_sine_errors(&p->problem, p->u, error, &gradients);
}

// ---- All of it ----

int mg_problem_create(Ceed ceed, const MgCase *of, bool wants_double, bool wants_float, MgProblem *p) {
  double since = cli_seconds();
  CeedSize size = 0;

  p->ceed = ceed;
  p->of = *of;
  CLI_TRY(create_mesh(p));
  count_time(p, MG_TIME_MESH, &since);
  CLI_TRY(create_spaces(p));
  count_time(p, MG_TIME_SPACES, &since);
  CLI_TRY(create_levels(p, wants_double, wants_float, &since));
  CLI_TRY(RitzSpaceGetSize(p->problem.space, &size));
  CLI_TRY(CeedVectorCreate(ceed, size, &p->rhs));
  return CeedVectorCreate(ceed, size, &p->u);
}

void mg_problem_destroy(MgProblem *p) {
  CeedVectorDestroy(&p->rhs);
  CeedVectorDestroy(&p->u);
  destroy_levels(&p->doubles);
  destroy_levels(&p->floats);
  for (CeedInt i = 0; p->constraints && i < p->num_levels; i++) RitzIndicesDestroy(&p->constraints[i]);
  free(p->constraints);
  RitzHierarchyDestroy(&p->hierarchy);
  problem_destroy(&p->problem);
  RitzMeshDestroy(&p->mesh);
}
