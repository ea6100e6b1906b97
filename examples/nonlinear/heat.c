// SPDX-License-Identifier: BSD-2-Clause
// Hot spots spread in an insulated disk that conducts better where it is hot:
//
//     du/dt = div k(u) grad u  in the disk,   du/dn = 0 on its wall,   k(u) = (1 + 4 u) / 20.
//
// Shown: backward differences in time, u_n - tau div k(u_n) grad u_n = (4 u_n-1 - u_n-2) / 3, tau = 2 dt / 3,
// begun by an Euler step; Newton's method, whose Jacobian is the derivative of the integrand (heat.h); GMRES
// with multigrid for a mean conductivity, made once; a series of files. The integral of u is constant.
//
//     heat [RESOURCE [STEPS [STEM]]]        STEPS from t to t + 0.1; STEM-00.vtu to STEM-10.vtu, t = 1
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/nonlinear/heat.h"

enum { ORDER = 3, NUM_REPORTS = 10 };

typedef struct {
  RitzMesh mesh;
  RitzSpace space;
  CeedOperator mass;
  CeedVector u, old, older, state, b, work;
  CeedQFunctionContext context; // tau
  RitzNewton newton;
} Heat;

static void must(int code) {
  if (code) exit(1);
}

static void set_tau(CeedQFunctionContext context, double tau) {
  CeedScalar number = (CeedScalar)tau;
  must(CeedQFunctionContextSetData(context, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof number, &number));
}

static int hot_spots(void *ctx, const double *x, double *u) {
  (void)ctx;
  u[0] = exp(-10 * (pow(x[0] - 0.4, 2) + pow(x[1], 2))) +
         exp(-20 * (pow(x[0] + 0.3, 2) + pow(x[1] + 0.4, 2))) / 2;
  return 0;
}

// The operators of multigrid's levels: u v + tau k grad u . grad v with k = 0.15; ctx: dt = 3 tau / 2
static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const RitzOperatorOptions options = {
      .kind = RITZ_OPERATOR_HELMHOLTZ, .space = space, .mu = *(const double *)ctx / 10};
  RitzGeometry geometry;
  RitzMesh mesh;

  (void)level;
  must(RitzSpaceGetMesh(space, &mesh));
  must(RitzGeometryCreate(mesh, -1, &geometry));
  must(RitzGeometryCreateOperator(geometry, RitzMeshReturnCeed(mesh), &options, op));
  return RitzGeometryDestroy(&geometry);
}

// The integrals of u and u^2, and a file.
static void report(const Heat *h, int number, const char *stem) {
  const RitzOutputField field = {.name = "u", .space = h->space, .values = h->u};
  char path[1024];
  double heat, square;

  must(CeedOperatorApply(h->mass, h->u, h->b, CEED_REQUEST_IMMEDIATE));
  must(CeedVectorSetValue(h->work, 1));
  must(RitzVectorDot(h->work, h->b, &heat));
  must(RitzVectorDot(h->u, h->b, &square));
  printf("t %.1f  heat %.14f  square %.14f\n", (double)number / NUM_REPORTS, heat, square);
  snprintf(path, sizeof path, "%s-%02d.vtu", stem ? stem : "", number);
  if (stem) must(RitzWriteVTU(h->mesh, 1, &field, path));
}

static void make_step(const Heat *h, double dt, bool is_first) {
  RitzNewtonReason reason;

  set_tau(h->context, is_first ? dt : dt * 2 / 3);
  must(CeedVectorCopy(h->old, h->older));
  must(CeedVectorCopy(h->u, h->old));
  must(RitzVectorSum(h->work, is_first ? 1 : 4.0 / 3, h->old, is_first ? 0 : -1.0 / 3, h->older));
  must(CeedOperatorApply(h->mass, h->work, h->b, CEED_REQUEST_IMMEDIATE));
  must(RitzNewtonSolve(h->newton, h->b, h->u));
  must(RitzNewtonGetReason(h->newton, &reason));
  must(reason > 0 ? 0 : printf("%s\n", RitzNewtonReasonName(reason)));
}

int main(int argc, char **argv) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(heat, 2, 1);
  const int num = NUM_REPORTS * (argc > 2 ? atoi(argv[2]) : 4);
  const char *stem = argc > 3 ? argv[3] : NULL;
  double dt = 1.0 / num;
  Ceed ceed;
  RitzGeometry geometry;
  RitzHierarchy hierarchy;
  RitzPreconditioner multigrid;
  RitzSolver solver;
  CeedOperator residual, jacobian;
  CeedSize size;
  CeedInt newton_steps, iterations;
  Heat h;

  must(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &ceed));
  must(RitzMeshRead(ceed, "examples/meshes/disk.msh", &h.mesh));
  must(RitzGeometryCreate(h.mesh, -1, &geometry));
  must(RitzSpaceCreate(h.mesh, ORDER, 1, &h.space));
  must(RitzSpaceGetSize(h.space, &size));
  CeedVector *const vectors[] = {&h.u, &h.old, &h.older, &h.state, &h.b, &h.work};
  for (int i = 0; i < 6; i++) must(CeedVectorCreate(ceed, size, vectors[i]));
  RitzOperatorOptions options = {.kind = RITZ_OPERATOR_MASS, .space = h.space};
  must(RitzGeometryCreateOperator(geometry, ceed, &options, &h.mass));
  must(CeedQFunctionContextCreate(ceed, &h.context));
  must(RitzGeometryCreatePointOperator(geometry, ceed, &options, &function, h.context, &residual));
  must(RitzOperatorCreateDerivative(residual, h.state, &jacobian));
  must(RitzHierarchyCreate(h.space, NULL, &hierarchy));
  must(RitzPreconditionerCreateMultigridOfHierarchy(ceed, hierarchy, make_level, NULL, &dt, 0, NULL, NULL,
                                                    &multigrid));
  must(RitzSolverCreate(ceed, RITZ_SOLVER_GMRES, &solver));
  must(RitzSolverSetOperator(solver, jacobian));
  must(RitzSolverSetPreconditioner(solver, multigrid));
  must(RitzNewtonCreate(ceed, &h.newton));
  must(RitzNewtonSetResidual(h.newton, residual));
  must(RitzNewtonSetLinearSolver(h.newton, solver));
  must(RitzNewtonSetState(h.newton, h.state));
  must(RitzSpaceInterpolate(h.space, hot_spots, NULL, h.u));
  must(CeedVectorCopy(h.u, h.old));
  report(&h, 0, stem);
  for (int n = 1; n <= num; n++) {
    make_step(&h, dt, n == 1);
    if (n * NUM_REPORTS % num == 0) report(&h, n * NUM_REPORTS / num, stem);
  }
  must(RitzNewtonGetIterations(h.newton, &newton_steps, &iterations));
  printf("unknowns %td, steps %d, in the last %d of Newton's method, %d of GMRES\n", size, num, newton_steps,
         iterations);

  RitzNewtonDestroy(&h.newton);
  RitzSolverDestroy(&solver);
  RitzPreconditionerDestroy(&multigrid);
  RitzHierarchyDestroy(&hierarchy);
  CeedOperatorDestroy(&jacobian);
  CeedOperatorDestroy(&residual);
  CeedOperatorDestroy(&h.mass);
  CeedQFunctionContextDestroy(&h.context);
  for (int i = 0; i < 6; i++) CeedVectorDestroy(vectors[i]);
  RitzSpaceDestroy(&h.space);
  RitzGeometryDestroy(&geometry);
  RitzMeshDestroy(&h.mesh);
  CeedDestroy(&ceed);
  return 0;
}
