// SPDX-License-Identifier: BSD-2-Clause
// Robin's condition, k du/dn = alpha (value - u), as a part of operators: integrals of alpha u v over facets,
// with one number a quadrature point stored, area, weight and alpha together. Called by problem.c for the
// problem's space and those of multigrid levels; what alpha value adds to right-hand sides is
// problem_add_boundary, with the same quadrature, so that the condition holds where u fits it exactly.
#include "cli/cli.h"
#include "cli/problem-points.h"

// factors: w area alpha at the points.
static int compute_factors(const Problem *p, const Points *points, const ProblemRobin *robin,
                           CeedElemRestriction *rstr, CeedVector *factors) {
  CeedElemRestriction rstr_alpha = NULL;
  CeedVector alpha = NULL;
  int ierr;

  CLI_TRY_CLEANUP(points_evaluate(p, points, robin->name, robin->alpha, robin->ctx, 1, &rstr_alpha, &alpha));
  CLI_TRY_CLEANUP(points_create_field(p, points, 1, rstr, factors));
  ierr = points_measure(p, points, rstr_alpha, alpha, *rstr, *factors);
cleanup:
  CeedVectorDestroy(&alpha);
  CeedElemRestrictionDestroy(&rstr_alpha);
  return ierr;
}

static int create_facet_mass(const Problem *p, const Points *points, CeedElemRestriction rstr,
                             CeedVector factors, CeedOperator *op) {
  CeedQFunction qf = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionCreateInteriorByName(p->ceed, "MassApply", &qf));
  CLI_TRY_CLEANUP(CeedOperatorCreate(p->ceed, qf, CEED_QFUNCTION_NONE, CEED_QFUNCTION_NONE, op));
  CLI_TRY_CLEANUP(CeedOperatorSetName(*op, "boundary, robin"));
  CLI_TRY_CLEANUP(CeedOperatorSetField(*op, "u", points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE));
  CLI_TRY_CLEANUP(CeedOperatorSetField(*op, "qdata", rstr, CEED_BASIS_NONE, factors));
  CLI_TRY_CLEANUP(CeedOperatorSetField(*op, "v", points->rstr_u, points->basis_u, CEED_VECTOR_ACTIVE));
cleanup:
  CeedQFunctionDestroy(&qf);
  return ierr;
}

static int add_block(const Problem *p, RitzFacets facets, CeedInt block, const ProblemRobin *robin,
                     CeedOperator composite) {
  CeedElemRestriction rstr = NULL;
  CeedVector factors = NULL;
  CeedOperator op = NULL;
  Points points;
  int ierr;

  CLI_TRY_CLEANUP(points_create_facets(p, facets, block, &points));
  CLI_TRY_CLEANUP(compute_factors(p, &points, robin, &rstr, &factors));
  CLI_TRY_CLEANUP(create_facet_mass(p, &points, rstr, factors, &op));
  ierr = CeedOperatorCompositeAddSub(composite, op);
cleanup:
  CeedOperatorDestroy(&op);
  CeedVectorDestroy(&factors);
  CeedElemRestrictionDestroy(&rstr);
  points_destroy(&points);
  return ierr;
}

static int add_part(const Problem *p, const ProblemRobin *robin, CeedOperator *composite) {
  RitzFacets facets = NULL;
  CeedInt num_blocks = 0;
  int ierr;

  CLI_TRY(RitzFacetsCreate(p->mesh, robin->part, &facets));
  CLI_TRY_CLEANUP(RitzFacetsGetNumBlocks(facets, &num_blocks));
  if (num_blocks > 0 && !*composite) CLI_TRY_CLEANUP(CeedOperatorCreateComposite(p->ceed, composite));
  for (CeedInt b = 0; b < num_blocks; b++) CLI_TRY_CLEANUP(add_block(p, facets, b, robin, *composite));
cleanup:
  RitzFacetsDestroy(&facets);
  return ierr;
}

int problem_add_robin(const Problem *p, RitzSpace space, CeedOperator *composite) {
  Problem level = *p; // with what is borrowed of it on the space's mesh

  level.space = space;
  CLI_TRY(RitzSpaceGetMesh(space, &level.mesh));
  CLI_TRY(RitzSpaceGetDegree(space, &level.options.order));
  for (CeedInt i = 0; i < p->options.num_robin; i++)
    CLI_TRY(add_part(&level, &p->options.robin[i], composite));
  return CEED_ERROR_SUCCESS;
}
