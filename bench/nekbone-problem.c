// SPDX-License-Identifier: BSD-2-Clause
// Mesh, space, solution, source and operators of a case of `ritz bench --nekbone`.
#include "bench/nekbone-problem.h"

#include <math.h>
#include <stdlib.h>

#include "bp/problem.h"
#include "cli/cli.h"

static const double pi = 3.14159265358979323846;

// ---- Mesh and space ----

static int map_box(void *ctx, CeedInt dim, const double *X, double *x) {
  const NekboneCase *of = ctx;

  (void)dim;
  if (of->affine)
    bp_shear(X, x);
  else
    bp_deform(of->deform, X, x);
  return 0;
}

// The components of all nodes on the boundary.
static int find_constraints(NekboneProblem *p) {
  int64_t num_nodes = 0, *nodes = NULL;
  CeedInt num_comp = p->of->num_comp;
  int ierr;

  CLI_TRY(RitzSpaceGetBoundaryNodes(p->space, "all", &num_nodes, &nodes));
  ierr = cli_allocate(p->ceed, (size_t)num_nodes * (size_t)num_comp, sizeof(int64_t), &p->constraints);
  if (!ierr) {
    for (int64_t i = 0; i < num_nodes * num_comp; i++)
      p->constraints[i] = nodes[i / num_comp] * num_comp + i % num_comp;
    p->num_constraints = num_nodes * num_comp;
  }
  free(nodes);
  return ierr;
}

static int create_mesh(NekboneProblem *p) {
  int64_t counts[3];
  void *ctx = (void *)(uintptr_t)p->of; // which map_box reads

  CLI_TRY(RitzMeshCreateBox(p->ceed, 3, p->n, NULL, NULL, 1, map_box, ctx, &p->mesh));
  CLI_TRY(RitzMeshGetNumVertices(p->mesh, &p->num_vertices));
  CLI_TRY(RitzMeshGetNumElements(p->mesh, &p->num_elem));
  CLI_TRY(RitzMeshClassifyElements(p->mesh, -1, NULL, counts));
  p->kind = 2 * counts[RITZ_ELEMENT_AFFINE] > p->num_elem ? RITZ_ELEMENT_AFFINE : RITZ_ELEMENT_TRILINEAR;
  return RitzGeometryCreate(p->mesh, -1, &p->geometry);
}

static int create_space(NekboneProblem *p) {
  CLI_TRY(RitzSpaceCreate(p->mesh, p->of->order, p->of->num_comp, &p->space));
  CLI_TRY(RitzSpaceGetSize(p->space, &p->dofs));
  return find_constraints(p);
}

// ---- Solution and source ----

// The point of the cube that a shear maps to x.
static void shear_back(const double x[3], double X[3]) {
  for (int d = 2; d >= 0; d--) {
    X[d] = x[d];
    for (int k = d + 1; k < 3; k++) X[d] -= bp_shear_matrix[d][k] * X[k];
  }
}

// C_ab = grad X_a . grad X_b, so that the Laplacian of u is the sum of C_ab times its second derivatives
// along X_a and X_b.
static void find_metric(const NekboneCase *of, double C[3][3]) {
  double columns[3][3];

  for (int d = 0; d < 3; d++) {
    const double unit[3] = {d == 0, d == 1, d == 2};
    if (of->affine)
      shear_back(unit, columns[d]);
    else
      for (int a = 0; a < 3; a++) columns[d][a] = unit[a];
  }
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) {
      C[a][b] = 0;
      for (int d = 0; d < 3; d++) C[a][b] += columns[d][a] * columns[d][b];
    }
  }
}

// Component c of the solution and the source at the point X of the cube.
static void evaluate_exact(const NekboneCase *of, double C[3][3], int c, const double X[3], CeedScalar *exact,
                           CeedScalar *source) {
  double k[3], sine[3], cosine[3], laplacian = 0;

  for (int d = 0; d < 3; d++) {
    k[d] = pi * (d == c - 1 ? 2 : 1);
    sine[d] = sin(k[d] * X[d]);
    cosine[d] = cos(k[d] * X[d]);
  }
  double u = sine[0] * sine[1] * sine[2];
  for (int a = 0; a < 3; a++) {
    laplacian -= C[a][a] * k[a] * k[a] * u;
    for (int b = 0; b < a; b++)
      laplacian += 2 * C[a][b] * k[a] * k[b] * cosine[a] * cosine[b] * sine[3 - a - b];
  }
  *exact = (CeedScalar)u;
  *source = (CeedScalar)((of->helmholtz ? of->lambda * u : 0) - laplacian);
}

// exact, source: arrays of the two vectors
static int fill_solution(const NekboneProblem *p, CeedScalar *exact, CeedScalar *source) {
  CeedInt num_comp = p->of->num_comp;
  double *x = NULL, C[3][3], X[3];

  CLI_TRY(cli_allocate(p->ceed, 3 * (size_t)(p->dofs / num_comp), sizeof(*x), &x));
  int ierr = RitzSpaceGetNodeCoordinates(p->space, x);
  if (!ierr) {
    find_metric(p->of, C);
    for (CeedSize i = 0; i < p->dofs; i++) {
      const double *at = x + 3 * (i / num_comp);
      if (p->of->affine) shear_back(at, X);
      evaluate_exact(p->of, C, (int)(i % num_comp), p->of->affine ? X : at, &exact[i], &source[i]);
    }
    // sin(pi) is not zero in floating point.
    for (int64_t i = 0; i < p->num_constraints; i++) exact[p->constraints[i]] = 0;
  }
  free(x);
  return ierr;
}

static int create_solution(NekboneProblem *p) {
  CeedScalar *exact = NULL, *source = NULL;
  int ierr;

  CLI_TRY(CeedVectorCreate(p->ceed, p->dofs, &p->exact));
  CLI_TRY(CeedVectorCreate(p->ceed, p->dofs, &p->source));
  CLI_TRY(CeedVectorGetArrayWrite(p->exact, CEED_MEM_HOST, &exact));
  CLI_TRY(CeedVectorGetArrayWrite(p->source, CEED_MEM_HOST, &source));
  ierr = fill_solution(p, exact, source);
  CLI_TRY(CeedVectorRestoreArray(p->source, &source));
  CLI_TRY(CeedVectorRestoreArray(p->exact, &exact));
  return ierr;
}

// ---- Operators and errors ----

int nekbone_create_operator(const NekboneProblem *p, RitzGeometryPolicy policy, bool mass, CeedOperator *op,
                            RitzGeometryPolicy *used) {
  const RitzOperatorOptions options = {
      .kind = mass               ? RITZ_OPERATOR_MASS
              : p->of->helmholtz ? RITZ_OPERATOR_HELMHOLTZ
                                 : RITZ_OPERATOR_DIFFUSION,
      .space = p->space,
      .quad_mode = p->of->quad_mode,
      .policy = policy,
      .lambda = mass ? 1 : p->of->lambda,
  };

  CLI_TRY(RitzGeometryGetPolicyUsed(p->geometry, p->ceed, &options, p->kind, used));
  return RitzGeometryCreateOperator(p->geometry, p->ceed, &options, op);
}

static int norms_of_error(const NekboneProblem *p, CeedVector error, CeedVector image, double *l2,
                          double *max) {
  const CeedScalar *e = NULL, *v = NULL;
  double sum = 0;

  *max = 0;
  CLI_TRY(CeedVectorGetArrayRead(error, CEED_MEM_HOST, &e));
  CLI_TRY(CeedVectorGetArrayRead(image, CEED_MEM_HOST, &v));
  for (CeedSize i = 0; i < p->dofs; i++) {
    sum += (double)e[i] * (double)v[i];
    if (!(fabs((double)e[i]) <= *max)) *max = fabs((double)e[i]); // NaN gets through
    if (isnan(*max)) break;
  }
  *l2 = sqrt(sum);
  CLI_TRY(CeedVectorRestoreArrayRead(image, &v));
  return CeedVectorRestoreArrayRead(error, &e);
}

int nekbone_find_errors(const NekboneProblem *p, CeedOperator mass, CeedVector u, double *l2, double *max) {
  CeedVector error = NULL, image = NULL;
  int ierr;

  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->dofs, &error));
  CLI_TRY_CLEANUP(CeedVectorCreate(p->ceed, p->dofs, &image));
  CLI_TRY_CLEANUP(CeedVectorCopy(u, error));
  CLI_TRY_CLEANUP(CeedVectorAXPY(error, -1, p->exact));
  CLI_TRY_CLEANUP(CeedOperatorApply(mass, error, image, CEED_REQUEST_IMMEDIATE));
  ierr = norms_of_error(p, error, image, l2, max);
cleanup:
  CeedVectorDestroy(&error);
  CeedVectorDestroy(&image);
  return ierr;
}

// ---- All of it ----

int nekbone_problem_create(NekboneProblem *p) {
  CLI_TRY(create_mesh(p));
  CLI_TRY(create_space(p));
  return create_solution(p);
}

void nekbone_problem_destroy(NekboneProblem *p) {
  CeedVectorDestroy(&p->exact);
  CeedVectorDestroy(&p->source);
  RitzSpaceDestroy(&p->space);
  RitzGeometryDestroy(&p->geometry);
  RitzMeshDestroy(&p->mesh);
  free(p->constraints);
}
