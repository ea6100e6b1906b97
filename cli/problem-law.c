// SPDX-License-Identifier: BSD-2-Clause
// Laws of elastic bodies: point functions for operators, stresses at single points for output. Called by
// problem.c and problem-elasticity.c; the formulas are in elasticity.h and ritz/jit-source/hyperelastic.h.
#include <ritz/jit-source/hyperelastic.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/elasticity.h"
#include "cli/problem.h"

bool problem_is_elastic(ProblemKind kind) {
  return kind == PROBLEM_ELASTICITY || kind == PROBLEM_HYPERELASTICITY;
}

void problem_get_lame(const ProblemOptions *options, const ProblemMaterial *m, double *lambda, double *mu) {
  const double young = m->young, nu = m->poisson;

  *lambda = options->is_plane_stress ? young * nu / (1 - nu * nu) : young * nu / ((1 + nu) * (1 - 2 * nu));
  *mu = young / (2 * (1 + nu));
}

// The constants as all laws have them: those of small displacements in the same struct.
static RitzHyperelasticContext get_body(const ProblemOptions *options, const ProblemMaterial *m) {
  double lambda = 0, mu = 0;

  problem_get_lame(options, m, &lambda, &mu);
  return (RitzHyperelasticContext){(CeedScalar)lambda, (CeedScalar)mu};
}

// ---- Operators ----

// The texts of large displacements travel inside the library, which knows them by the end of their path.
static RitzPointFunction law_of(const Problem *p) {
  static const RitzPointFunction linear[] = {RITZ_POINT_FUNCTION_TABLE(elasticity_2, 2, 2),
                                             RITZ_POINT_FUNCTION_TABLE(elasticity_3, 3, 3),
                                             RITZ_POSITION_FUNCTION_TABLE(elasticity_axisymmetric, 2, 2)};
  static const RitzPointFunction laws[][3] = {
      [PROBLEM_NEO_HOOKEAN] = {RITZ_POINT_FUNCTION_TABLE(ritz_neo_hookean_2, 2, 2),
                               RITZ_POINT_FUNCTION_TABLE(ritz_neo_hookean_3, 3, 3),
                               RITZ_POSITION_FUNCTION_TABLE(ritz_neo_hookean_axisymmetric, 2, 2)},
      [PROBLEM_SAINT_VENANT_KIRCHHOFF] = {
          RITZ_POINT_FUNCTION_TABLE(ritz_saint_venant_kirchhoff_2, 2, 2),
          RITZ_POINT_FUNCTION_TABLE(ritz_saint_venant_kirchhoff_3, 3, 3),
          RITZ_POSITION_FUNCTION_TABLE(ritz_saint_venant_kirchhoff_axisymmetric, 2, 2)}};
  const int i = p->options.is_axisymmetric ? 2 : p->dim - 2;

  if (p->options.kind == PROBLEM_ELASTICITY) return linear[i];
  RitzPointFunction law = laws[p->options.law][i];

  law.stored_loc = strstr(law.stored_loc, "ritz/jit-source");
  law.computed_loc = strstr(law.computed_loc, "ritz/jit-source");
  return law;
}

int problem_create_body(const Problem *p, const ProblemMaterial *material, RitzGeometry geometry,
                        const RitzOperatorOptions *options, CeedOperator *op) {
  RitzHyperelasticContext data = get_body(&p->options, material);
  const RitzPointFunction law = law_of(p);
  CeedQFunctionContext ctx = NULL;
  int ierr;

  CLI_TRY(CeedQFunctionContextCreate(p->ceed, &ctx));
  ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
  if (!ierr) ierr = RitzGeometryCreatePointOperator(geometry, p->ceed, options, &law, ctx, op);
  CeedQFunctionContextDestroy(&ctx);
  return ierr;
}

// ---- Pressures ----

int problem_set_pressure(CeedQFunctionContext context, double pressure) {
  RitzFollowerContext data = {(CeedScalar)pressure};

  return CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), &data);
}

// Facets count as elements with ghosts. op NULL: this part has none.
static int add_facets(Problem *p, CeedOperator op) {
  if (!op) return CEED_ERROR_SUCCESS;
  if (!p->exchange) return problem_add_parts(p->op.whole, op);
  if (p->op.pieces[1]) return problem_add_parts(p->op.pieces[1], op);
  CLI_TRY(CeedOperatorReferenceCopy(op, &p->op.pieces[1]));
  return problem_unite(p, &p->op);
}

int problem_add_follower(Problem *p, const char *part, CeedQFunctionContext context) {
  RitzFacetFunction functions[] = {RITZ_FACET_GRADIENT_FUNCTION_TABLE(ritz_follower_pressure_2, 2, 2),
                                   RITZ_FACET_GRADIENT_FUNCTION_TABLE(ritz_follower_pressure_3, 3, 3),
                                   RITZ_FACET_GRADIENT_FUNCTION_TABLE(ritz_follower_pressure_axisymmetric_2,
                                                                      2, 2)};
  RitzFacetFunction *function = &functions[p->options.is_axisymmetric ? 2 : p->dim - 2];
  const RitzBoundaryOptions options = {.space = p->space, .part = part, .num_points = p->options.order + 2};
  RitzGeometry geometry = NULL;
  CeedOperator op = NULL;

  function->loc = strstr(function->loc, "ritz/jit-source");
  CLI_TRY(problem_get_geometry(p, p->space, &geometry));
  int ierr = RitzGeometryCreateBoundaryOperator(geometry, p->ceed, &options, function, context, &op);

  if (!ierr) ierr = add_facets(p, op);
  CeedOperatorDestroy(&op);
  return ierr;
}

// ---- Stresses ----

// Cauchy's stress P F^T / J of Piola's P, F = 1 + H.
static void cauchy_stress(ProblemLaw law, const RitzHyperelasticContext *body, const CeedScalar H[3][3],
                          CeedScalar s[3][3]) {
  CeedScalar P[3][3], F[3][3], cofactor[3][3];

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) F[i][j] = H[i][j] + (i == j);
  }
  ritz_hyperelastic_cofactor((const CeedScalar(*)[3])F, cofactor);
  (law == PROBLEM_NEO_HOOKEAN ? ritz_neo_hookean : ritz_saint_venant_kirchhoff)(body, H, P);
  const CeedScalar J = F[0][0] * cofactor[0][0] + F[0][1] * cofactor[0][1] + F[0][2] * cofactor[0][2];

  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) s[i][j] = (P[i][0] * F[j][0] + P[i][1] * F[j][1] + P[i][2] * F[j][2]) / J;
  }
}

void problem_get_stress(const ProblemOptions *options, const ProblemMaterial *material,
                        const CeedScalar H[3][3], CeedScalar stress[PROBLEM_STRESSES]) {
  static const int places[PROBLEM_STRESSES][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  const RitzHyperelasticContext body = get_body(options, material);
  CeedScalar s[3][3], none[3];

  if (options->kind == PROBLEM_HYPERELASTICITY)
    cauchy_stress(options->law, &body, H, s);
  else
    elasticity_stress_3(&(ElasticityContext){body.lambda, body.mu}, NULL, H, none, s);
  for (int c = 0; c < PROBLEM_STRESSES; c++) stress[c] = s[places[c][0]][places[c][1]];
  if (options->is_plane_stress) stress[2] = 0;
}
