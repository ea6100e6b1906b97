// SPDX-License-Identifier: BSD-2-Clause
// The Stokes equations with continuous velocities and pressures of degrees k and k - 1 on products of spaces
// (ritz/product.h): orders of convergence, the discrete divergence, iterations with block preconditioners
// (RitzPreconditionerCreateBlocks) as meshes are refined.
#include "base/error.h"
#include "tests/mixed-kit.h"
#include "tests/tap.h"

static const double PI = 3.14159265358979323846;

// ---- A solution with velocity 0 on the boundary of the unit square ----

// u = (d/dy, -d/dx) of sin^2(pi x) sin^2(pi y) / pi
static int velocity(void *ctx, const double *x, double *u, double *grad) {
  const double a = sin(PI * x[0]), b = sin(PI * x[1]), c = sin(2 * PI * x[0]), d = sin(2 * PI * x[1]);

  (void)ctx;
  (void)grad; // not asked for
  u[0] = a * a * d;
  u[1] = -c * b * b;
  return 0;
}

static int pressure(void *ctx, const double *x, double *p, double *grad) {
  (void)ctx;
  (void)grad;
  p[0] = cos(PI * x[0]) * sin(PI * x[1]);
  return 0;
}

// f = -div grad u + grad p
static int force(void *ctx, const double *x, double *f) {
  const double a = sin(PI * x[0]), b = sin(PI * x[1]), c = sin(2 * PI * x[0]), d = sin(2 * PI * x[1]);

  (void)ctx;
  f[0] = -PI * PI * (2 * cos(2 * PI * x[0]) * d - 4 * a * a * d) - PI * a * b;
  f[1] = PI * PI * (2 * cos(2 * PI * x[1]) * c - 4 * b * b * c) + PI * cos(PI * x[0]) * cos(PI * x[1]);
  return 0;
}

// ---- Solves ----

typedef struct {
  MixedKit k;
  CeedOperator op, mass; // of the equations; of the pressure
  RitzPreconditioner blocks;
  CeedVector x, b, constant, part[2];
} Stokes;

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  MixedKit k = {.ceed = ctx, .space = {space, NULL}};

  (void)level;
  RITZ_TRY(RitzSpaceGetMesh(space, &k.mesh));
  return mixed_standard(&k, RITZ_OPERATOR_DIFFUSION, 0, op);
}

// Multigrid for the velocity, of few levels where the mesh cannot be coarsened; the mass matrix for the
// pressure, with a factor.
static int create_blocks(Stokes *s, const RitzBlocksOptions *options, double factor) {
  static const RitzFixedPart all = {.part = "all"};
  static const RitzMultigridOptions multigrid = {.cycle = RITZ_CYCLE_V};
  static const RitzChebyshevOptions chebyshev = {.kind = RITZ_CHEBYSHEV_FIRST, .degree = 4};
  RitzHierarchy hierarchy = NULL;
  RitzPreconditioner jacobi = NULL;
  RitzBlock block[2] = {{NULL, 0}, {NULL, factor}};
  int ierr;

  RITZ_TRY_CLEANUP(RitzHierarchyCreate(s->k.space[0], NULL, &hierarchy));
  RITZ_TRY_CLEANUP(RitzPreconditionerCreateMultigridOfHierarchy(
      s->k.ceed, hierarchy, make_level, NULL, s->k.ceed, 1, &all, &multigrid, &block[0].inverse));
  RITZ_TRY_CLEANUP(RitzPreconditionerCreateOperatorJacobi(s->mass, NULL, &jacobi));
  RITZ_TRY_CLEANUP(RitzPreconditionerCreateChebyshev(s->mass, NULL, jacobi, &chebyshev, &block[1].inverse));
  ierr = RitzPreconditionerCreateBlocks(s->k.ceed, 2, block, options, &s->blocks);
cleanup:
  for (int i = 0; i < 2; i++) RitzPreconditionerDestroy(&block[i].inverse);
  RitzPreconditionerDestroy(&jacobi);
  RitzHierarchyDestroy(&hierarchy);
  return ierr;
}

// b = (mass of the interpolated force, 0)
static int create_right_side(Stokes *s) {
  CeedOperator mass = NULL;
  CeedVector f = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(CeedVectorCreate(s->k.ceed, mixed_size(&s->k, 0), &f));
  RITZ_TRY_CLEANUP(RitzSpaceInterpolate(s->k.space[0], force, NULL, f));
  RITZ_TRY_CLEANUP(mixed_standard(&s->k, RITZ_OPERATOR_MASS, 0, &mass));
  RITZ_TRY_CLEANUP(kit_apply(mass, f, s->part[0]));
  ierr = RitzProductSpaceSetPart(s->k.product, 0, s->part[0], s->b);
cleanup:
  CeedOperatorDestroy(&mass);
  CeedVectorDestroy(&f);
  return ierr;
}

static int create_problem(Ceed ceed, RitzMesh mesh, CeedInt degree, Stokes *s) {
  *s = (Stokes){.op = NULL};
  RITZ_TRY(mixed_create(ceed, mesh, degree, degree - 1, &s->k));
  CeedVector *const vectors[] = {&s->x, &s->b, &s->constant, &s->part[0], &s->part[1]};
  for (int i = 0; i < 5; i++) {
    RITZ_TRY(CeedVectorCreate(ceed, mixed_size(&s->k, i < 3 ? -1 : i - 3), vectors[i]));
    RITZ_TRY(CeedVectorSetValue(*vectors[i], i == 4));
  }
  RITZ_TRY(RitzProductSpaceSetPart(s->k.product, 1, s->part[1], s->constant));
  RITZ_TRY(mixed_operator(&s->k, &mixed_stokes, &s->op));
  RITZ_TRY(mixed_standard(&s->k, RITZ_OPERATOR_MASS, 1, &s->mass));
  return create_right_side(s);
}

static void destroy_problem(Stokes *s) {
  CeedVector *const vectors[] = {&s->x, &s->b, &s->constant, &s->part[0], &s->part[1]};

  for (int i = 0; i < 5; i++) CeedVectorDestroy(vectors[i]);
  RitzPreconditionerDestroy(&s->blocks);
  CeedOperatorDestroy(&s->op);
  CeedOperatorDestroy(&s->mass);
  mixed_destroy(&s->k);
}

static int solve(Stokes *s, RitzSolverType type, double rtol, CeedInt *num_it, RitzSolverReason *reason) {
  RitzSolver solver = NULL;
  int ierr;

  RITZ_TRY_CLEANUP(RitzSolverCreate(s->k.ceed, type, &solver));
  RITZ_TRY_CLEANUP(RitzSolverSetOperator(solver, s->op));
  RITZ_TRY_CLEANUP(RitzSolverSetConstraintIndices(solver, s->k.constraints));
  RITZ_TRY_CLEANUP(RitzSolverSetNullspace(solver, 1, &s->constant));
  RITZ_TRY_CLEANUP(RitzSolverSetPreconditioner(solver, s->blocks));
  RITZ_TRY_CLEANUP(RitzSolverSetTolerances(solver, rtol, 0, 200));
  RITZ_TRY_CLEANUP(RitzSolverSolve(solver, s->b, s->x));
  RITZ_TRY_CLEANUP(RitzSolverGetReason(solver, reason));
  ierr = RitzSolverGetIterations(solver, num_it);
cleanup:
  RitzSolverDestroy(&solver);
  return ierr;
}

// The pressure less its mean.
static void remove_mean(Stokes *s) {
  CeedVector image = NULL, one = NULL;

  CHECK_OK(CeedVectorCreate(s->k.ceed, mixed_size(&s->k, 1), &image));
  CHECK_OK(CeedVectorCreate(s->k.ceed, mixed_size(&s->k, 1), &one));
  CHECK_OK(CeedVectorSetValue(one, 1));
  CHECK_OK(kit_apply(s->mass, s->part[1], image));
  const double mean = kit_dot(image, one); // the area is 1
  CHECK_OK(RitzVectorSum(s->part[1], 1, s->part[1], -mean, one));
  CeedVectorDestroy(&image);
  CeedVectorDestroy(&one);
}

// Errors of velocity and pressure in L2 after a solve.
static void measure(Stokes *s, double errors[2]) {
  RitzGeometry geometry = NULL;

  for (CeedInt i = 0; i < 2; i++) CHECK_OK(RitzProductSpaceGetPart(s->k.product, i, s->x, s->part[i]));
  remove_mean(s);
  CHECK_OK(RitzGeometryCreate(s->k.mesh, -1, &geometry));
  for (CeedInt i = 0; i < 2; i++) {
    CHECK_OK(RitzGeometryGetErrorNorms(geometry, s->k.ceed, s->k.space[i], s->part[i], 0,
                                       i == 0 ? velocity : pressure, NULL, &errors[i], NULL));
  }
  RitzGeometryDestroy(&geometry);
}

static int make_mesh(Ceed ceed, CeedInt n, bool is_split, RitzMesh *mesh) {
  RitzMesh box = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, 2, (CeedInt[]){n, n}, NULL, NULL, 1, NULL, NULL, is_split ? &box : mesh));
  if (!is_split) return CEED_ERROR_SUCCESS;
  const int ierr = RitzMeshSplit(box, CEED_TOPOLOGY_TRIANGLE, mesh);
  RitzMeshDestroy(&box);
  return ierr;
}

static void solve_on(Ceed ceed, CeedInt n, bool is_split, CeedInt degree, double errors[2]) {
  const double rtol = eps < 1e-10 ? 1e-9 : 1e-5;
  RitzMesh mesh = NULL;
  Stokes s;
  RitzSolverReason reason;
  CeedInt num_it = 0;

  CHECK_OK(make_mesh(ceed, n, is_split, &mesh));
  CHECK_OK(create_problem(ceed, mesh, degree, &s));
  CHECK_OK(create_blocks(&s, NULL, 0));
  CHECK_OK(solve(&s, RITZ_SOLVER_MINRES, rtol, &num_it, &reason));
  CHECK(reason > 0, "%d iterations, %s", (int)num_it, RitzSolverReasonName(reason));
  // The rows of the pressure: the integrals of q div u for all q.
  CeedVector residual = NULL;
  CHECK_OK(CeedVectorCreate(ceed, mixed_size(&s.k, -1), &residual));
  CHECK_OK(kit_apply(s.op, s.x, residual));
  CHECK_OK(RitzProductSpaceGetPart(s.k.product, 1, residual, s.part[1]));
  // The norm of the residual is at most rtol of that of b, whose other entries are zero.
  CHECK(sqrt(kit_dot(s.part[1], s.part[1])) <= 2 * rtol * sqrt(kit_dot(s.b, s.b)), "divergence %.2e",
        sqrt(kit_dot(s.part[1], s.part[1])));
  CeedVectorDestroy(&residual);
  measure(&s, errors);
  destroy_problem(&s);
  RitzMeshDestroy(&mesh);
}

// k + 1 for the velocity and k for the pressure in L2 (Taylor & Hood), within half an order.
static void check_orders(Ceed ceed, CeedInt n, bool is_split, CeedInt degree) {
  double coarse[2] = {0, 0}, fine[2] = {0, 0};

  solve_on(ceed, n, is_split, degree, coarse);
  solve_on(ceed, 2 * n, is_split, degree, fine);
  if (tap_failed()) return;
  for (int i = 0; i < 2; i++) {
    const double order = log2(coarse[i] / fine[i]);

    tap_note("degree %d, %s, field %d: errors %.2e, %.2e, order %.2f", (int)degree,
             is_split ? "triangles" : "quadrilaterals", i, coarse[i], fine[i], order);
    CHECK(order > degree + 1 - i - 0.5 && order < degree + 3, "field %d has order %.2f, needed %d", i, order,
          (int)degree + 1 - i);
  }
}

TEST_EACH_BACKEND(taylor_hood_elements_converge_with_their_orders) {
  if (eps > 1e-10) NOT_HERE("errors of float hide the orders");
  check_orders(ceed, 4, false, 2);
  if (tap_checks_calls(ceed) || tap_compiles_slowly(ceed)) return;
  check_orders(ceed, 4, false, 3);
  check_orders(ceed, 4, true, 2);
}

// ---- Iterations ----

static void count_iterations(Ceed ceed, CeedInt n, CeedInt degree, RitzBlocksKind kind, CeedInt *num_it) {
  const bool is_diagonal = kind == RITZ_BLOCKS_DIAGONAL;
  RitzMesh mesh = NULL;
  RitzSolverReason reason;
  Stokes s;

  CHECK_OK(make_mesh(ceed, n, false, &mesh));
  CHECK_OK(create_problem(ceed, mesh, degree, &s));
  const RitzBlocksOptions options = {.kind = kind, .op = s.op};
  // The Schur complement of the equations is -B K^-1 B^T, near minus the mass matrix.
  CHECK_OK(create_blocks(&s, &options, is_diagonal ? 1 : -1));
  CHECK_OK(solve(&s, is_diagonal ? RITZ_SOLVER_MINRES : RITZ_SOLVER_GMRES, eps < 1e-10 ? 1e-8 : 1e-4, num_it,
                 &reason));
  CHECK(reason > 0, "%d iterations, %s", (int)*num_it, RitzSolverReasonName(reason));
  destroy_problem(&s);
  RitzMeshDestroy(&mesh);
}

TEST_EACH_BACKEND(iterations_with_blocks_do_not_grow_as_the_mesh_is_refined) {
  for (int kind = RITZ_BLOCKS_DIAGONAL; kind <= RITZ_BLOCKS_UPPER; kind++) {
    const CeedInt first_n = tap_checks_calls(ceed) || tap_compiles_slowly(ceed) ? 4 : 8;
    CeedInt first = 0, num_it = 0;

    for (int i = 0; i < 2; i++) {
      count_iterations(ceed, first_n << i, 3, (RitzBlocksKind)kind, i == 0 ? &first : &num_it);
      if (tap_failed()) return;
    }
    tap_note("kind %d: %d iterations, then %d", kind, (int)first, (int)num_it);
    CHECK(num_it <= first + 4, "%d iterations, on the coarsest mesh %d", (int)num_it, (int)first);
    // Triangular ones see the coupling: about half as many.
    CHECK(num_it <= (kind == RITZ_BLOCKS_DIAGONAL ? 50 : 30), "%d iterations", (int)num_it);
  }
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(taylor_hood_elements_converge_with_their_orders,
                        iterations_with_blocks_do_not_grow_as_the_mesh_is_refined));
}
