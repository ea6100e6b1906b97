// SPDX-License-Identifier: BSD-2-Clause
// Bratu's problem, a fuel that heats itself, by SNES:
//
//     -div grad u = exp(u)  in the unit square,   u = 0 at x = 0, 1,   du/dn = 0 at y = 0, 1,
//
// whose solution is 2 log(cosh(t/4) / cosh(t (x - 1/2) / 2)) with t = sqrt(2) cosh(t/4). Shown: a residual of
// which the integrand (bratu.h) is all that is written, as a MATSHELL, since nothing there needs it to be
// linear; the Jacobian as that of its derivative; multigrid with diffusion on the levels below.
//
//     mpicc -I. examples/petsc/bratu.c $(pkg-config --cflags --libs ritz-petsc) -lm -o bratu
//     mpiexec -n 4 ./bratu -order 4 -cells 16 -snes_monitor -ksp_converged_reason -output u.pvtu
#include <petscsnes.h>

#include "examples/petsc/bratu.h"
#include "examples/petsc/problem.h"

typedef struct {
  Problem problem;
  Mat residual, jacobian;
} Bratu;

static int solution(void *ctx, const double *x, double *u, double *gradient) {
  double t = 1;

  (void)ctx;
  (void)gradient; // is not asked for
  for (int i = 0; i < 60; i++) t = sqrt(2) * cosh(t / 4);
  u[0] = 2 * log(cosh(t / 4) / cosh(t / 2 * (x[0] - 0.5)));
  return 0;
}

static PetscErrorCode make_matrices(Bratu *b) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(bratu, 2, 1);
  const Problem *p = &b->problem;
  RitzOperatorOptions options = {.space = p->space};
  CeedOperator f[2] = {NULL, NULL}, df[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    options.elements = i ? RITZ_ELEMENTS_SEAM : RITZ_ELEMENTS_INSIDE;
    RitzPetscCall(p->ceed,
                  RitzGeometryCreatePointOperator(p->geometry, p->ceed, &options, &function, NULL, &f[i]));
    if (f[i]) RitzPetscCall(p->ceed, RitzOperatorCreateDerivative(f[i], p->state, &df[i]));
  }
  PetscCall(RitzPetscMatCreate(p->whole, f[0], f[1], p->fixed, PETSC_FALSE, &b->residual));
  PetscCall(RitzPetscMatCreate(p->whole, df[0], df[1], p->fixed, PETSC_TRUE, &b->jacobian));
  for (int i = 0; i < 2; i++) {
    RitzPetscCall(p->ceed, CeedOperatorDestroy(&f[i]));
    RitzPetscCall(p->ceed, CeedOperatorDestroy(&df[i]));
  }
  PetscFunctionReturn(0);
}

// Where u = 0 is prescribed, the residual is u.
static PetscErrorCode evaluate(SNES snes, Vec u, Vec f, void *ctx) {
  (void)snes;
  return MatMult(((Bratu *)ctx)->residual, u, f);
}

// The Jacobian reads the state.
static PetscErrorCode set_jacobian(SNES snes, Vec u, Mat jacobian, Mat preconditioner, void *ctx) {
  PetscFunctionBeginUser;
  (void)snes;
  (void)preconditioner;
  PetscCall(problem_set_state(&((Bratu *)ctx)->problem, u));
  PetscCall(MatAssemblyBegin(jacobian, MAT_FINAL_ASSEMBLY)); // tells PETSc that it is another one now
  PetscCall(MatAssemblyEnd(jacobian, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside, CeedOperator *seam) {
  CeedOperator op[2] = {NULL, NULL};
  const int code = problem_operators(((Bratu *)ctx)->problem.ceed, space, RITZ_OPERATOR_DIFFUSION, op);

  (void)level;
  *inside = op[0];
  *seam = op[1];
  return code;
}

int main(int argc, char **argv) {
  Bratu b = {.residual = NULL};
  Problem *p = &b.problem;
  RitzHierarchy hierarchy = NULL;
  PetscInt size, steps, iterations;
  double error;
  SNES snes;
  KSP ksp;
  PC pc;
  Vec u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Bratu's problem by SNES and Ritz\n"));
  PetscCall(problem_create(p));
  PetscCall(make_matrices(&b));
  PetscCall(RitzPetscSpaceCreateVec(p->whole, &u));

  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, NULL, evaluate, &b));
  PetscCall(SNESSetJacobian(snes, b.jacobian, b.jacobian, set_jacobian, &b));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetOperators(ksp, b.jacobian, b.jacobian));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  RitzPetscCall(p->ceed, RitzHierarchyCreate(p->space, NULL, &hierarchy));
  PetscCall(RitzPetscPCSetHierarchy(pc, p->ceed, hierarchy, make_level, &b, 2, problem_ends));
  PetscCall(SNESSetErrorIfNotConverged(snes, PETSC_TRUE));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, u));

  PetscCall(problem_finish(p, u, solution, NULL, &error));
  PetscCall(VecGetSize(u, &size));
  PetscCall(SNESGetIterationNumber(snes, &steps));
  PetscCall(SNESGetLinearSolveIterations(snes, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "unknowns    %d\nsteps       %d\niterations  %d\nerror       %.6e\n", (int)size,
                        (int)steps, (int)iterations, error));

  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&b.residual));
  PetscCall(MatDestroy(&b.jacobian));
  RitzPetscCall(p->ceed, RitzHierarchyDestroy(&hierarchy));
  PetscCall(problem_destroy(p));
  PetscCall(PetscFinalize());
  return 0;
}
