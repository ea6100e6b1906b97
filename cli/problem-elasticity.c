// SPDX-License-Identifier: BSD-2-Clause
// Stresses of a displacement: at quadrature points, then projected to continuous functions.
#include <ritz/operator.h>
#include <ritz/solver.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

// Shear modulus in a region; later materials count.
static double shear_modulus(const Problem *p, int32_t region) {
  double mu = 0;

  for (CeedInt i = 0; i < p->options.num_materials; i++) {
    const ProblemMaterial *m = &p->options.materials[i];
    bool is_here = m->num_regions == 0;

    for (CeedInt k = 0; k < m->num_regions; k++) is_here |= m->regions[k] == region;
    if (is_here) mu = m->young / (2 * (1 + m->poisson));
  }
  return mu;
}

// Values for a shear modulus of one become those of the material.
static int scale_stresses(const Problem *p, const Points *points, CeedVector values) {
  const int32_t *regions = NULL;
  CeedScalar *array = NULL;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  CLI_TRY(CeedVectorGetArray(values, CEED_MEM_HOST, &array));
  for (CeedInt e = 0; e < points->num_elem; e++) {
    const CeedScalar mu = (CeedScalar)shear_modulus(p, regions[points->first + e]);

    for (CeedInt i = 0; i < points->num; i++) array[(CeedSize)e * points->num + i] *= mu;
  }
  return CeedVectorRestoreArray(values, &array);
}

static int evaluate_stresses(const Problem *p, const Points *points, CeedVector u, CeedElemRestriction rstr,
                             CeedVector values) {
  const PointsField fields[] = {points_geometry(p, points),
                                {"du", p->dim * p->num_comp, CEED_EVAL_GRAD, points->rstr_u, points->basis_u,
                                 CEED_VECTOR_ACTIVE},
                                {"stress", 1, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  CeedOperator op = NULL;
  int ierr = points_create_operator(p, NULL, points_von_mises, 2, 1, fields, &op);

  if (!ierr) ierr = CeedOperatorApply(op, u, values, CEED_REQUEST_IMMEDIATE);
  CeedOperatorDestroy(&op);
  return ierr ? ierr : scale_stresses(p, points, values);
}

// rhs += stresses times the basis functions of the projection.
static int add_block_stresses(const Problem *p, const Problem *projection, CeedInt block, CeedVector u,
                              CeedVector rhs) {
  CeedElemRestriction rstr = NULL;
  CeedVector values = NULL;
  Points points = {0}, scalar = {0};
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, false, &points));
  CLI_TRY_CLEANUP(points_create(projection, block, false, &scalar));
  CLI_TRY_CLEANUP(points_create_field(p, &points, 1, &rstr, &values));
  CLI_TRY_CLEANUP(evaluate_stresses(p, &points, u, rstr, values));
  CLI_TRY_CLEANUP(points_add_source(projection, &scalar, rstr, values, rhs));
cleanup:
  CeedVectorDestroy(&values);
  CeedElemRestrictionDestroy(&rstr);
  points_destroy(&points);
  points_destroy(&scalar);
  return ierr;
}

// The mass matrix is well conditioned: conjugate gradients with its diagonal.
static int project(const Problem *projection, CeedVector rhs, CeedVector stress) {
  RitzSolver solver = NULL;
  CeedVector diagonal = NULL;
  CeedSize size = 0;
  int ierr;

  CLI_TRY(CeedVectorGetLength(rhs, &size));
  CLI_TRY_CLEANUP(CeedVectorCreate(projection->ceed, size, &diagonal));
  CLI_TRY_CLEANUP(problem_get_diagonal(&projection->op, diagonal));
  CLI_TRY_CLEANUP(RitzSolverCreateCG(projection->ceed, &solver));
  CLI_TRY_CLEANUP(RitzSolverSetJacobi(solver, diagonal));
  CLI_TRY_CLEANUP(problem_set_operator(&projection->op, solver, NULL));
  CLI_TRY_CLEANUP(RitzSolverSetTolerances(solver, 1e-6, 0, 1000));
  CLI_TRY_CLEANUP(CeedVectorSetValue(stress, 0));
  CLI_TRY_CLEANUP(RitzSolverSolve(solver, rhs, stress));
cleanup:
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&diagonal);
  return ierr;
}

int problem_von_mises(const Problem *p, CeedVector u, RitzSpace *space, CeedVector *stress) {
  const ProblemMaterial unit = {.reaction = {.value = 1}};
  const ProblemOptions options = {.kind = PROBLEM_MASS,
                                  .order = p->options.order,
                                  .num_materials = 1,
                                  .materials = &unit,
                                  .transport = p->options.transport};
  Problem projection = {0};
  CeedVector rhs = NULL;
  CeedSize size = 0;
  int ierr;

  CLI_TRY_CLEANUP(problem_create(p->ceed, p->mesh, &options, &projection));
  CLI_TRY_CLEANUP(RitzSpaceGetSize(projection.space, &size));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, size, &rhs));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, size, stress));
  CLI_TRY_CLEANUP(CeedVectorSetValue(rhs, 0));
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY_CLEANUP(add_block_stresses(p, &projection, b, u, rhs));
  CLI_TRY_CLEANUP(problem_add_up(&projection, rhs));
  CLI_TRY_CLEANUP(project(&projection, rhs, *stress));
  CLI_TRY_CLEANUP(problem_share(&projection, *stress));
  *space = projection.space;
  projection.space = NULL;
cleanup:
  CeedVectorDestroy(&rhs);
  problem_destroy(&projection);
  return ierr;
}
