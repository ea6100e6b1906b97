// SPDX-License-Identifier: BSD-2-Clause
// A nonlinear diffusion problem, -div((1 + u^2) grad u) = f on the unit square with given values on the
// boundary, f such that u = sin(x + 2y): all that is written by hand is the function of position, u and grad
// u in the text below. The Jacobian is its derivative. Prints the error on finer and finer meshes.
//
//     poisson-form [RESOURCE [FILE.vtu]]
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

// v phi + grad_v . grad phi for all test functions phi
static const char residual_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void diffusion(const void *ctx, const CeedScalar x[2],
                                                   const CeedScalar u[1], const CeedScalar grad_u[1][2],
                                                   CeedScalar v[1], CeedScalar grad_v[1][2]) {
      const CeedScalar s = sin(x[0] + 2 * x[1]);
      const CeedScalar c = cos(x[0] + 2 * x[1]);

      v[0] = 10 * s * c * c - 5 * s * (1 + s * s); // -f
      for (int d = 0; d < 2; d++) grad_v[0][d] = (1 + u[0] * u[0]) * grad_u[0][d];
    });

static int exact(void *ctx, const double *x, double *u, double *grad_u) {
  const double s = x[0] + 2 * x[1];

  (void)ctx;
  u[0] = sin(s);
  if (grad_u) grad_u[0] = cos(s), grad_u[1] = 2 * cos(s);
  return 0;
}

static int exact_values(void *ctx, const double *x, double *u) { return exact(ctx, x, u, NULL); }

typedef struct {
  CeedOperator residual, jacobian;
  CeedVector u, state, diagonal, values;
  RitzIndices fixed;
} Problem;

// Before each linear solve: the diagonal of the Jacobian at the new state.
static int update(void *ctx, CeedVector u) {
  const Problem *p = ctx;

  (void)u;
  return CeedOperatorLinearAssembleDiagonal(p->jacobian, p->diagonal, CEED_REQUEST_IMMEDIATE);
}

static void create_problem(Ceed ceed, RitzGeometry geometry, RitzSpace space, Problem *p) {
  static const RitzFixedPart boundary = {.part = "all"};
  const RitzFormField u = {.name = "u", .what = RITZ_FORM_BOTH, .space = space};
  const RitzFormField v = {.name = "v", .what = RITZ_FORM_BOTH, .space = space};
  const RitzForm form = {residual_text, "diffusion", RITZ_FORM_POSITION, 1, &u, 1, &v};
  const RitzOperatorOptions options = {.space = space};
  CeedVector *const vectors[] = {&p->u, &p->state, &p->diagonal, &p->values};
  CeedSize size;

  MUST(RitzSpaceGetSize(space, &size));
  for (int i = 0; i < 4; i++) {
    MUST(CeedVectorCreate(ceed, size, vectors[i]));
    MUST(CeedVectorSetValue(*vectors[i], 0));
  }
  MUST(RitzSpaceInterpolateOnBoundary(space, "all", exact_values, NULL, p->values));
  MUST(RitzSpaceCreateConstraints(space, ceed, 1, &boundary, &p->fixed));
  MUST(RitzGeometryCreateFormOperator(geometry, ceed, &options, &form, NULL, &p->residual));
  MUST(RitzOperatorCreateDerivative(p->residual, p->state, &p->jacobian));
}

static void destroy_problem(Problem *p) {
  CeedVector *const vectors[] = {&p->u, &p->state, &p->diagonal, &p->values};

  for (int i = 0; i < 4; i++) CeedVectorDestroy(vectors[i]);
  CeedOperatorDestroy(&p->residual);
  CeedOperatorDestroy(&p->jacobian);
  RitzIndicesDestroy(&p->fixed);
}

static RitzNewtonReason solve(Ceed ceed, Problem *p, CeedInt *steps) {
  RitzSolver solver;
  RitzNewton newton;
  RitzNewtonReason reason;

  MUST(RitzSolverCreateCG(ceed, &solver));
  MUST(RitzSolverSetOperator(solver, p->jacobian));
  MUST(RitzSolverSetConstraintIndices(solver, p->fixed));
  MUST(RitzSolverSetJacobi(solver, p->diagonal));
  MUST(RitzNewtonCreate(ceed, &newton));
  MUST(RitzNewtonSetResidual(newton, p->residual));
  MUST(RitzNewtonSetLinearSolver(newton, solver));
  MUST(RitzNewtonSetState(newton, p->state));
  MUST(RitzNewtonSetUpdate(newton, update, p));
  MUST(RitzNewtonSetBoundaryValues(newton, p->values));
  MUST(RitzNewtonSolve(newton, NULL, p->u));
  MUST(RitzNewtonGetReason(newton, &reason));
  MUST(RitzNewtonGetIterations(newton, steps, NULL));
  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  return reason;
}

int main(int argc, char **argv) {
  double error = 0, before, h1, order = 0;
  bool is_solved = true;
  Ceed ceed;

  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  for (CeedInt n = 4; n <= 16; n *= 2) {
    RitzMesh mesh;
    RitzGeometry geometry;
    RitzSpace space;
    CeedInt steps;
    Problem p;

    MUST(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, &mesh));
    MUST(RitzGeometryCreate(mesh, -1, &geometry));
    MUST(RitzSpaceCreate(mesh, 2, 1, &space));
    create_problem(ceed, geometry, space, &p);
    const RitzNewtonReason reason = solve(ceed, &p, &steps);
    before = error;
    MUST(RitzGeometryGetErrorNorms(geometry, ceed, space, p.u, 0, exact, NULL, &error, &h1));
    order = log2(before / error);
    printf("%2d x %2d: %s after %d steps, |u - exact| = %.2e, order %.2f\n", (int)n, (int)n,
           RitzNewtonReasonName(reason), (int)steps, error, n > 4 ? order : NAN);
    is_solved = is_solved && reason > 0;
    if (argc > 2 && n == 16) {
      const RitzOutputField field = {.name = "u", .space = space, .values = p.u};
      MUST(RitzWriteVTU(mesh, 1, &field, argv[2]));
    }
    destroy_problem(&p);
    RitzSpaceDestroy(&space);
    RitzGeometryDestroy(&geometry);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
  return is_solved && order > 2.8 ? 0 : 1; // p + 1
}
