// SPDX-License-Identifier: BSD-2-Clause
// Heat in a square, by TS:
//
//     du/dt = div grad u  in the unit square,   u = 0 at x = 0, 1,   du/dn = 0 at y = 0, 1,
//
// from sin(pi x) cos(pi y), which decays as exp(-2 pi^2 t). Shown: masses and stiffness of Ritz as MATSHELLs,
// the implicit function M du/dt + K u and its Jacobian, the sum of the two with TS's factor as a
// MATCOMPOSITE. -ts_type bdf, beuler, cn, theta, rosw: methods that take M as it is (arkimex does not).
//
//     mpicc -I. examples/petsc/heat.c $(pkg-config --cflags --libs ritz-petsc) -lm -o heat
//     mpiexec -n 4 ./heat -order 4 -cells 8 -ts_dt 0.005 -ts_type rosw -ts_monitor -output u.pvtu
#include <petscts.h>

#include "examples/petsc/problem.h"

typedef struct {
  Problem problem;
  Mat mass, stiffness;
} Heat;

// ctx: the time
static int solution(void *ctx, const double *x, double *u, double *gradient) {
  const double pi = 3.14159265358979323846, t = *(const double *)ctx;

  (void)gradient; // is not asked for
  u[0] = exp(-2 * pi * pi * t) * sin(pi * x[0]) * cos(pi * x[1]);
  return 0;
}

static int start(void *ctx, const double *x, double *u) { return solution(ctx, x, u, NULL); }

static PetscErrorCode make_matrix(const Problem *p, RitzOperatorKind kind, Mat *mat) {
  CeedOperator op[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  RitzPetscCall(p->ceed, problem_operators(p->ceed, p->space, kind, op));
  PetscCall(RitzPetscMatCreate(p->whole, op[0], op[1], p->fixed, PETSC_TRUE, mat));
  for (int i = 0; i < 2; i++) RitzPetscCall(p->ceed, CeedOperatorDestroy(&op[i]));
  PetscFunctionReturn(0);
}

// f = M du/dt + K u; where u = 0 is prescribed, du/dt + u.
static PetscErrorCode evaluate(TS ts, PetscReal t, Vec u, Vec du, Vec f, void *ctx) {
  const Heat *heat = ctx;

  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  PetscCall(MatMult(heat->mass, du, f));
  PetscCall(MatMultAdd(heat->stiffness, u, f, f));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_jacobian(TS ts, PetscReal t, Vec u, Vec du, PetscReal shift, Mat jacobian,
                                   Mat preconditioner, void *ctx) {
  PetscFunctionBeginUser;
  (void)ts, (void)t, (void)u, (void)du, (void)preconditioner, (void)ctx;
  PetscCall(MatCompositeSetScalings(jacobian, (PetscScalar[]){shift, 1}));
  PetscCall(MatAssemblyBegin(jacobian, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(jacobian, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_start(const Problem *p, Vec u) {
  CeedVector part = NULL;
  double t = 0;

  PetscFunctionBeginUser;
  PetscCall(RitzPetscVecGetCeedVector(p->whole, u, RITZ_ACCESS_WRITE, &part));
  RitzPetscCall(p->ceed, RitzSpaceInterpolate(p->space, start, &t, part));
  RitzPetscCall(p->ceed, RitzVectorSetEntries(part, p->fixed, 0)); // sin(pi) is not
  PetscCall(RitzPetscVecRestoreCeedVector(p->whole, u, &part));
  PetscFunctionReturn(0);
}

// Backward differences of second order, conjugate gradients with Jacobi, unless options say otherwise.
static PetscErrorCode make_solver(Heat *heat, Mat jacobian, TS *ts) {
  TSAdapt adapt;
  SNES snes;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetIFunction(*ts, NULL, evaluate, heat));
  PetscCall(TSSetIJacobian(*ts, jacobian, jacobian, set_jacobian, heat));
  PetscCall(TSSetType(*ts, TSBDF));
  PetscCall(TSSetTimeStep(*ts, 0.01));
  PetscCall(TSSetMaxTime(*ts, 0.1));
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSGetAdapt(*ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSGetSNES(*ts, &snes));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, 0, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(TSSetFromOptions(*ts));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  Heat heat = {.mass = NULL};
  Problem *p = &heat.problem;
  PetscInt size, steps;
  PetscReal t;
  double error, time;
  Mat jacobian;
  Vec u;
  TS ts;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Heat by TS and Ritz\n"));
  PetscCall(problem_create(p));
  PetscCall(make_matrix(p, RITZ_OPERATOR_MASS, &heat.mass));
  PetscCall(make_matrix(p, RITZ_OPERATOR_DIFFUSION, &heat.stiffness));
  PetscCall(MatCreateComposite(PETSC_COMM_WORLD, 2, (Mat[]){heat.mass, heat.stiffness}, &jacobian));
  PetscCall(RitzPetscSpaceCreateVec(p->whole, &u));
  PetscCall(set_start(p, u));
  PetscCall(make_solver(&heat, jacobian, &ts));
  PetscCall(TSSolve(ts, u));

  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &steps));
  time = (double)t;
  PetscCall(problem_finish(p, u, solution, &time, &error));
  PetscCall(VecGetSize(u, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "unknowns    %d\nsteps       %d\ntime        %g\nerror       %.6e\n", (int)size,
                        (int)steps, time, error));

  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&jacobian));
  PetscCall(MatDestroy(&heat.mass));
  PetscCall(MatDestroy(&heat.stiffness));
  PetscCall(problem_destroy(p));
  PetscCall(PetscFinalize());
  return 0;
}
