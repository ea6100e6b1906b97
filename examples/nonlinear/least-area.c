// SPDX-License-Identifier: BSD-2-Clause
// Surfaces of least area over the unit square with given heights u on the boundary: all that is written by
// hand is the element of area in the text below. The equation is its first variation, the Jacobian its
// second. The boundary is that of Scherk's surface, u = log(cos y / cos x), which is the solution. Prints
// area and error on finer and finer meshes.
//
//     least-area [RESOURCE [FILE.vtu]]
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

// The sum of e over all points is the area.
static const char area_text[] =
    RITZ_TEXT(CEED_QFUNCTION_HELPER void area(const void *ctx, const CeedScalar w[1],
                                              const CeedScalar grad_u[1][2], CeedScalar e[1]) {
      e[0] = w[0] * sqrt(1 + grad_u[0][0] * grad_u[0][0] + grad_u[0][1] * grad_u[0][1]);
    });

static int exact(void *ctx, const double *x, double *u, double *grad_u) {
  (void)ctx;
  u[0] = log(cos(x[1]) / cos(x[0]));
  if (grad_u) grad_u[0] = tan(x[0]), grad_u[1] = -tan(x[1]);
  return 0;
}

static int exact_values(void *ctx, const double *x, double *u) { return exact(ctx, x, u, NULL); }

typedef struct {
  CeedOperator area, residual, jacobian;
  CeedVector areas, u, state, diagonal, values;
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
  MUST(RitzGeometryCreatePointNumbers(geometry, ceed, &options, 1, &p->areas));
  const RitzFormField u = {.name = "u", .what = RITZ_FORM_GRADIENT, .space = space};
  const RitzFormField e = {.name = "e", .what = RITZ_FORM_NUMBERS, .num_numbers = 1, .vector = p->areas};
  const RitzForm form = {area_text, "area", RITZ_FORM_WEIGHT, 1, &u, 1, &e};
  MUST(RitzGeometryCreateFormOperator(geometry, ceed, &options, &form, NULL, &p->area));
  MUST(RitzOperatorCreateGradient(p->area, &p->residual));
  MUST(RitzOperatorCreateDerivative(p->residual, p->state, &p->jacobian));
}

static void destroy_problem(Problem *p) {
  CeedVector *const vectors[] = {&p->areas, &p->u, &p->state, &p->diagonal, &p->values};

  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  CeedOperatorDestroy(&p->area);
  CeedOperatorDestroy(&p->residual);
  CeedOperatorDestroy(&p->jacobian);
  RitzIndicesDestroy(&p->fixed);
}

static double area_of(const Problem *p) {
  double sum;

  MUST(RitzOperatorReduce(p->area, p->u, 1, &sum));
  return sum;
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
    printf("%2d x %2d: %s after %d steps, area %.9f, |u - exact| = %.2e, order %.2f\n", (int)n, (int)n,
           RitzNewtonReasonName(reason), (int)steps, area_of(&p), error, n > 4 ? order : NAN);
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
