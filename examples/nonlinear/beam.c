// SPDX-License-Identifier: BSD-2-Clause
// A body of a neo-Hookean material, one end held, the other pushed: the stress is all that is written by
// hand. The Jacobian is the derivative of its text, Newton's method carries the boundary values in, in load
// steps; multigrid over the degrees is made once and updated for each linear solve.
//
//     beam [RESOURCE [FILE.vtu [N]]]                               a beam of 8 N x 2 N x 2 N cells
//     beam RESOURCE FILE.vtu FILE.msh HELD PUSHED DISTANCE         any mesh, parts of its boundary, along z
//
// FILE.vtu "-": none.
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/nonlinear/beam.h"

// Ceed's default error handler prints the message.
#define MUST(call)                                                                                           \
  do {                                                                                                       \
    if (call) exit(1);                                                                                       \
  } while (0)

#define TRY(call)                                                                                            \
  do {                                                                                                       \
    const int code = (call);                                                                                 \
    if (code) return code;                                                                                   \
  } while (0)

enum { DEGREE = 3, MAX_LEVELS = 4 };

// Of multigrid; 0 is the coarsest. The state of a level has the values of the finest one's at its nodes.
typedef struct {
  CeedVector state;
  CeedOperator interpolate; // from the finest level; NULL on it
} Level;

typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzGeometry geometry;
  RitzSpace space;
  RitzFixedPart ends[2]; // held, pushed
  RitzHierarchy hierarchy;
  CeedInt num_levels;
  Level levels[MAX_LEVELS];
  CeedOperator residual, jacobian; // of the finest level
  RitzPreconditioner pc;
  CeedVector end_values, values;
  double begin, updated, solved; // clock: before and after an update of multigrid, after a linear solve
} Beam;

static double seconds(void) {
  struct timespec now;
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- Operators ----

static int create_operators(const Beam *beam, RitzSpace space, CeedVector state, CeedOperator *residual,
                            CeedOperator *jacobian) {
  static const RitzPointFunction material = RITZ_POINT_FUNCTION_TABLE(beam, 3, 3);
  const RitzOperatorOptions options = {.space = space};

  TRY(RitzGeometryCreatePointOperator(beam->geometry, beam->ceed, &options, &material, NULL, residual));
  return RitzOperatorCreateDerivative(*residual, state, jacobian);
}

// The Jacobian of a level, at a state of its own.
static int create_level(void *ctx, CeedInt number, RitzSpace space, CeedOperator *op) {
  Beam *beam = ctx;
  Level *level = &beam->levels[number];
  CeedOperator residual = NULL;
  CeedSize size = 0;

  if (number == beam->num_levels - 1) return CeedOperatorReferenceCopy(beam->jacobian, op);
  TRY(RitzSpaceGetSize(space, &size));
  TRY(CeedVectorCreate(beam->ceed, size, &level->state));
  TRY(CeedVectorSetValue(level->state, 0));
  TRY(RitzSpaceCreateInterpolation(space, beam->space, beam->ceed, CEED_SCALAR_TYPE, &level->interpolate));
  TRY(create_operators(beam, space, level->state, &residual, op));
  return CeedOperatorDestroy(&residual);
}

// A cycle in float, of operators that are copied to it and stay to be copied again. Smoothers follow the
// values, so their bounds of eigenvalues, which are relative to them, change little: they are kept.
static void create_multigrid(Beam *beam) {
  const RitzHierarchyOptions degrees = {.kind = RITZ_HIERARCHY_P};
  const RitzMultigridOptions options = {.use_precision = true,
                                        .precision = CEED_SCALAR_FP32,
                                        .chebyshev = {.update = RITZ_BOUNDS_KEEP},
                                        .for_updates = true};

  MUST(RitzHierarchyCreate(beam->space, &degrees, &beam->hierarchy));
  MUST(RitzHierarchyGetNumLevels(beam->hierarchy, &beam->num_levels));
  MUST(RitzPreconditionerCreateMultigridOfHierarchy(beam->ceed, beam->hierarchy, create_level, NULL, beam, 2,
                                                    beam->ends, &options, &beam->pc));
}

// ---- What Newton's method calls ----

// Before each linear solve: states of coarser levels, then all that depends on them.
static int update(void *ctx, CeedVector u) {
  Beam *beam = ctx;

  beam->begin = seconds();
  for (CeedInt i = 0; i < beam->num_levels - 1; i++) {
    const Level *level = &beam->levels[i];
    TRY(CeedOperatorApply(level->interpolate, u, level->state, CEED_REQUEST_IMMEDIATE));
  }
  TRY(RitzPreconditionerUpdate(beam->pc));
  beam->updated = seconds();
  return 0;
}

// After each iteration of a linear solve.
static int look_at_clock(void *ctx, CeedInt it, double residual, bool *stop) {
  Beam *beam = ctx;

  (void)it;
  (void)residual;
  (void)stop;
  beam->solved = seconds();
  return 0;
}

static int set_load(void *ctx, double load) {
  const Beam *beam = ctx;

  printf("load %g\n", load);
  return RitzVectorSum(beam->values, load, beam->end_values, 0, CEED_VECTOR_NONE);
}

static int show(void *ctx, CeedInt step, double residual, bool *stop) {
  const Beam *beam = ctx;

  (void)stop;
  printf("  step %2d  |F(u)| = %.3e", (int)step, residual);
  if (step > 0)
    printf("  update %.4f s, linear solve %.4f s", beam->updated - beam->begin, beam->solved - beam->updated);
  printf("\n");
  return 0;
}

// ---- The problem ----

static void create_mesh(int argc, char **argv, Beam *beam) {
  const CeedInt n = argc == 4 ? (CeedInt)strtol(argv[3], NULL, 10) : 1;

  if (argc > 6) {
    MUST(RitzMeshRead(beam->ceed, argv[3], &beam->mesh));
  } else {
    MUST(RitzMeshCreateBox(beam->ceed, 3, (CeedInt[]){8 * n, 2 * n, 2 * n}, NULL, (double[]){4, 1, 1}, 1,
                           NULL, NULL, &beam->mesh));
  }
  beam->ends[0].part = argc > 6 ? argv[4] : "xmin";
  beam->ends[1].part = argc > 6 ? argv[5] : "xmax";
}

// beam->end_values: where the ends go at full load.
static void set_end_values(Beam *beam, double distance) {
  const RitzFixedPart along_z = {.part = beam->ends[1].part, .num_comp = 1, .comp = {2}};
  RitzIndices pushed = NULL;

  MUST(RitzSpaceCreateConstraints(beam->space, beam->ceed, 1, &along_z, &pushed));
  MUST(RitzVectorSetEntries(beam->end_values, pushed, distance));
  MUST(RitzIndicesDestroy(&pushed));
}

static void destroy_beam(Beam *beam) {
  RitzPreconditionerDestroy(&beam->pc);
  for (CeedInt i = 0; i < MAX_LEVELS; i++) {
    CeedVectorDestroy(&beam->levels[i].state);
    CeedOperatorDestroy(&beam->levels[i].interpolate);
  }
  CeedOperatorDestroy(&beam->jacobian);
  CeedOperatorDestroy(&beam->residual);
  CeedVectorDestroy(&beam->end_values);
  CeedVectorDestroy(&beam->values);
  RitzHierarchyDestroy(&beam->hierarchy);
  RitzSpaceDestroy(&beam->space);
  RitzGeometryDestroy(&beam->geometry);
  RitzMeshDestroy(&beam->mesh);
  CeedDestroy(&beam->ceed);
}

int main(int argc, char **argv) {
  Beam beam = {.num_levels = 0};
  RitzIndices fixed;
  RitzSolver solver;
  RitzNewton newton;
  RitzNewtonReason reason;
  CeedVector u, state;
  CeedSize size;
  CeedInt steps, linear;
  double reached;

  if (argc == 5 || argc == 6 || argc > 7 || (argc == 4 && strtol(argv[3], NULL, 10) < 1)) {
    fprintf(stderr, "usage: beam [RESOURCE [FILE.vtu [N]]], N at least 1\n"
                    "       beam RESOURCE FILE.vtu FILE.msh HELD PUSHED DISTANCE\n");
    return 2;
  }
  MUST(CeedInit(argc > 1 ? argv[1] : "/cpu/self", &beam.ceed));
  create_mesh(argc, argv, &beam);
  MUST(RitzGeometryCreate(beam.mesh, -1, &beam.geometry));
  MUST(RitzSpaceCreate(beam.mesh, DEGREE, 3, &beam.space));
  MUST(RitzSpaceGetSize(beam.space, &size));
  MUST(RitzSpaceCreateConstraints(beam.space, beam.ceed, 2, beam.ends, &fixed));
  CeedVector *const vectors[] = {&u, &state, &beam.end_values, &beam.values};
  for (int i = 0; i < 4; i++) {
    MUST(CeedVectorCreate(beam.ceed, size, vectors[i]));
    MUST(CeedVectorSetValue(*vectors[i], 0));
  }
  set_end_values(&beam, argc > 6 ? strtod(argv[6], NULL) : -1);
  MUST(create_operators(&beam, beam.space, state, &beam.residual, &beam.jacobian));
  beam.begin = seconds();
  create_multigrid(&beam);
  printf("multigrid made in %.4f s\n", seconds() - beam.begin);

  MUST(RitzSolverCreate(beam.ceed, RITZ_SOLVER_FLEXIBLE_CG, &solver));
  MUST(RitzSolverSetOperator(solver, beam.jacobian));
  MUST(RitzSolverSetConstraintIndices(solver, fixed));
  MUST(RitzSolverSetPreconditioner(solver, beam.pc));
  MUST(RitzSolverSetMonitor(solver, look_at_clock, &beam));

  MUST(RitzNewtonCreate(beam.ceed, &newton));
  MUST(RitzNewtonSetResidual(newton, beam.residual));
  MUST(RitzNewtonSetLinearSolver(newton, solver));
  MUST(RitzNewtonSetState(newton, state));
  MUST(RitzNewtonSetUpdate(newton, update, &beam));
  MUST(RitzNewtonSetBoundaryValues(newton, beam.values));
  MUST(RitzNewtonSetMonitor(newton, show, &beam));
  MUST(RitzNewtonSolveByLoads(newton, 4, set_load, &beam, NULL, u, &reached));
  MUST(RitzNewtonGetReason(newton, &reason));
  MUST(RitzNewtonGetIterations(newton, &steps, &linear));
  printf("%s: load %g, %d unknowns, %d steps of Newton's method, %d iterations of conjugate gradients\n",
         RitzNewtonReasonName(reason), reached, (int)size, (int)steps, (int)linear);
  if (argc > 2 && strcmp(argv[2], "-") != 0) {
    const RitzOutputField field = {.name = "displacement", .space = beam.space, .values = u};
    MUST(RitzWriteVTU(beam.mesh, 1, &field, argv[2]));
  }

  RitzNewtonDestroy(&newton);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&fixed);
  CeedVectorDestroy(&u);
  CeedVectorDestroy(&state);
  destroy_beam(&beam);
  return reason > 0 && reached >= 1 ? 0 : 1;
}
