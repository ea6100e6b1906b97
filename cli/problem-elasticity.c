// SPDX-License-Identifier: BSD-2-Clause
// Stresses of a displacement: at quadrature points, then projected to continuous functions, component by
// component. What is not linear in the stress, such as that of von Mises, is made of the projected tensor:
// projected itself it would be negative beside its peaks.
#include <math.h>
#include <ritz/operator.h>
#include <ritz/solver.h>

#include "cli/cli.h"
#include "cli/problem-points.h"

// ---- At points ----

enum { GRADIENTS = 9 }; // of a displacement, [3][3]

// Stresses of gradients at all points, both interlaced.
static int make_stresses(const Problem *p, const Points *points, CeedVector gradients, CeedVector stresses) {
  const ProblemMaterial nothing = {0};
  const int32_t *regions = NULL;
  const CeedScalar *H = NULL;
  CeedScalar *stress = NULL;
  int ierr;

  CLI_TRY(RitzMeshGetElementRegions(p->mesh, &regions));
  CLI_TRY(CeedVectorGetArrayRead(gradients, CEED_MEM_HOST, &H));
  ierr = CeedVectorGetArrayWrite(stresses, CEED_MEM_HOST, &stress);
  for (CeedInt e = 0; e < points->num_elem && !ierr; e++) {
    const CeedInt number = problem_find_material(p, regions[points->first + e]);
    const ProblemMaterial *material = number < 0 ? &nothing : &p->options.materials[number];

    for (CeedSize i = (CeedSize)e * points->num; i < (CeedSize)(e + 1) * points->num; i++)
      problem_get_stress(&p->options, material, (const CeedScalar(*)[3])(H + i * GRADIENTS),
                         stress + i * PROBLEM_STRESSES);
  }
  if (stress) ierr = CeedVectorRestoreArray(stresses, &stress);
  const int restored = CeedVectorRestoreArrayRead(gradients, &H);

  return ierr ? ierr : restored;
}

static int evaluate_stresses(const Problem *p, const Points *points, CeedVector u, CeedVector stresses) {
  CeedElemRestriction rstr = NULL;
  CeedVector gradients = NULL;
  CeedOperator op = NULL;
  int ierr;

  CLI_TRY_CLEANUP(points_create_field(p, points, GRADIENTS, &rstr, &gradients));
  const PointsField fields[] = {
      points_geometry(p, points),
      points_position(p, points),
      {"u", p->num_comp, CEED_EVAL_INTERP, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE},
      {"du", p->dim * p->num_comp, CEED_EVAL_GRAD, points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE},
      {"gradient", GRADIENTS, CEED_EVAL_NONE, rstr, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE}};
  CLI_TRY_CLEANUP(points_create_operator(p, points, NULL, points_gradient, 4, 1, fields, &op));
  CLI_TRY_CLEANUP(CeedOperatorApply(op, u, gradients, CEED_REQUEST_IMMEDIATE));
  ierr = make_stresses(p, points, gradients, stresses);
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&gradients);
  CeedElemRestrictionDestroy(&rstr);
  return ierr;
}

// ---- Projection ----

// Component c of interlaced values becomes a vector, or a vector becomes it (to_all).
static int copy_component(CeedVector all, CeedInt c, CeedVector one, bool to_all) {
  CeedScalar *all_array = NULL, *one_array = NULL;
  CeedSize length = 0;

  CLI_TRY(CeedVectorGetLength(one, &length));
  CLI_TRY(CeedVectorGetArray(all, CEED_MEM_HOST, &all_array));
  CLI_TRY(to_all ? CeedVectorGetArray(one, CEED_MEM_HOST, &one_array)
                 : CeedVectorGetArrayWrite(one, CEED_MEM_HOST, &one_array));
  for (CeedSize i = 0; i < length; i++) {
    if (to_all)
      all_array[i * PROBLEM_STRESSES + c] = one_array[i];
    else
      one_array[i] = all_array[i * PROBLEM_STRESSES + c];
  }
  CLI_TRY(CeedVectorRestoreArray(one, &one_array));
  return CeedVectorRestoreArray(all, &all_array);
}

// rhs[c] += component c of the stress times the basis functions of the projection.
static int add_block_stresses(const Problem *p, const Problem *projection, CeedInt block, CeedVector u,
                              const CeedVector rhs[PROBLEM_STRESSES]) {
  CeedElemRestriction rstr = NULL, rstr_one = NULL;
  CeedVector values = NULL, one = NULL;
  Points points = {0}, scalar = {0};
  int ierr;

  CLI_TRY_CLEANUP(points_create(p, block, POINTS_LOADS, &points));
  CLI_TRY_CLEANUP(points_create(projection, block, POINTS_LOADS, &scalar));
  CLI_TRY_CLEANUP(points_create_field(p, &points, PROBLEM_STRESSES, &rstr, &values));
  CLI_TRY_CLEANUP(points_create_field(p, &points, 1, &rstr_one, &one));
  CLI_TRY_CLEANUP(evaluate_stresses(p, &points, u, values));
  for (CeedInt c = 0; c < PROBLEM_STRESSES; c++) {
    CLI_TRY_CLEANUP(copy_component(values, c, one, false));
    CLI_TRY_CLEANUP(points_add_values(projection, &scalar, rstr_one, one, rhs[c]));
  }
cleanup:
  CeedVectorDestroy(&one);
  CeedVectorDestroy(&values);
  CeedElemRestrictionDestroy(&rstr_one);
  CeedElemRestrictionDestroy(&rstr);
  points_destroy(&points);
  points_destroy(&scalar);
  return ierr;
}

// The mass matrix is well conditioned: conjugate gradients with its diagonal.
static int create_projector(const Problem *projection, CeedSize size, RitzSolver *solver) {
  CeedVector diagonal = NULL;
  int ierr;

  CLI_TRY_CLEANUP(CeedVectorCreate(projection->ceed, size, &diagonal));
  CLI_TRY_CLEANUP(problem_get_diagonal(&projection->op, diagonal));
  CLI_TRY_CLEANUP(RitzSolverCreateCG(projection->ceed, solver));
  CLI_TRY_CLEANUP(RitzSolverSetJacobi(*solver, diagonal));
  CLI_TRY_CLEANUP(problem_set_operator(&projection->op, *solver, NULL));
  CLI_TRY_CLEANUP(RitzSolverSetTolerances(*solver, fmax(1e-10, 10 * CEED_EPSILON), 0, 1000));
cleanup:
  CeedVectorDestroy(&diagonal);
  return ierr;
}

// Solves for all components.
static int project(const Problem *projection, CeedSize size, const CeedVector rhs[PROBLEM_STRESSES],
                   CeedVector stress) {
  RitzSolver solver = NULL;
  CeedVector x = NULL;
  int ierr;

  CLI_TRY_CLEANUP(create_projector(projection, size, &solver));
  CLI_TRY_CLEANUP(CeedVectorCreate(projection->ceed, size, &x));
  for (CeedInt c = 0; c < PROBLEM_STRESSES; c++) {
    CLI_TRY_CLEANUP(problem_add_up(projection, rhs[c]));
    CLI_TRY_CLEANUP(CeedVectorSetValue(x, 0));
    CLI_TRY_CLEANUP(RitzSolverSolve(solver, rhs[c], x));
    CLI_TRY_CLEANUP(problem_share(projection, x));
    CLI_TRY_CLEANUP(copy_component(stress, c, x, true));
  }
cleanup:
  RitzSolverDestroy(&solver);
  CeedVectorDestroy(&x);
  return ierr;
}

int problem_project_stress(const Problem *p, CeedVector u, RitzSpace *space, CeedVector *stress) {
  const ProblemMaterial unit = {.reaction = {.value = 1}};
  const ProblemOptions options = {.kind = PROBLEM_MASS,
                                  .order = p->options.order,
                                  .num_materials = 1,
                                  .materials = &unit,
                                  .is_axisymmetric = p->options.is_axisymmetric,
                                  .transport = p->options.transport};
  CeedVector rhs[PROBLEM_STRESSES] = {NULL};
  Problem projection = {0};
  CeedSize size = 0;
  int ierr;

  CLI_TRY_CLEANUP(problem_create(p->ceed, p->mesh, &options, &projection));
  CLI_TRY_CLEANUP(RitzSpaceGetSize(projection.space, &size));
  CLI_TRY_CLEANUP(RitzSpaceCreate(p->mesh, p->options.order, PROBLEM_STRESSES, space));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, size * PROBLEM_STRESSES, stress));
  CLI_TRY_CLEANUP(CeedVectorSetValue(*stress, 0));
  for (CeedInt c = 0; c < PROBLEM_STRESSES; c++) {
    CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, size, &rhs[c]));
    CLI_TRY_CLEANUP(CeedVectorSetValue(rhs[c], 0));
  }
  for (CeedInt b = 0; b < p->num_blocks; b++) CLI_TRY_CLEANUP(add_block_stresses(p, &projection, b, u, rhs));
  CLI_TRY_CLEANUP(project(&projection, size, rhs, *stress));
cleanup:
  for (CeedInt c = 0; c < PROBLEM_STRESSES; c++) CeedVectorDestroy(&rhs[c]);
  problem_destroy(&projection);
  return ierr;
}

double problem_von_mises(const double s[PROBLEM_STRESSES]) {
  double sum = 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);

  for (int c = 0; c < 3; c++) {
    const double difference = s[c] - s[(c + 1) % 3];

    sum += difference * difference / 2;
  }
  return sqrt(sum);
}
