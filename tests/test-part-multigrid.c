// SPDX-License-Identifier: BSD-2-Clause
// Tests of multigrid of problems in parts, threads of one process (ritz/exchange.h): beside that of one part
// by ritz/multigrid.h, coarsest problems that every part has whole and others, nullspaces, point blocks,
// Schwarz methods, cycles in float.
#include <ritz/precision.h>

#include "core/core.h"
#include "distributed/exchange.h"
#include "distributed/schwarz.h"
#include "tests/direct-qfunctions.h"
#include "tests/exchange-kit.h"

// A case and what is asked of its preconditioner.
typedef struct {
  Case c;
  RitzPartMultigridOptions options;
  bool by_jacobi; // no multigrid
  bool is_free;   // no constraints
  CeedInt num_null;
  bool gives_floats; // create_operators makes operators in float
} Setting;

enum { MAX_NULL = 6 };

// ---- Operators ----

static int make_diffusion(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                          CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_DIFFUSION, .space = space, .elements = elements};
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int make_elastic(Ceed ceed, RitzMesh mesh, RitzSpace space, RitzElementChoice elements,
                        CeedOperator *op) {
  static const RitzPointFunction function = RITZ_POINT_FUNCTION_TABLE(direct_elasticity_at_point, 3, 3);
  const RitzOperatorOptions options = {.space = space, .policy = RITZ_POLICY_STORED, .elements = elements};
  RitzGeometry geometry = NULL;

  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreatePointOperator(geometry, ceed, &options, &function, NULL, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

enum { MAX_GIVEN = 16 };

// What the functions of a level get.
typedef struct {
  const Setting *s;
  Ceed ceed;
  bool keeps; // references to operators of parts, in `given`, from the coarsest level on
  CeedOperator given[MAX_GIVEN];
  int num_given;
} Levels;

static int make_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op) {
  const Levels *l = ctx;
  RitzMesh mesh = NULL;

  (void)level;
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  return maker_of(&l->s->c)(l->ceed, mesh, space, RITZ_ELEMENTS_ALL, op);
}

static int make_piece(Levels *l, RitzSpace space, RitzElementChoice elements, CeedOperator *op) {
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(maker_of(&l->s->c)(l->ceed, mesh, space, elements, op));
  if (*op && l->s->gives_floats) {
    CeedOperator made = *op;

    *op = NULL;
    RITZ_TRY(RitzOperatorCopyInPrecision(made, CEED_SCALAR_FP32, op));
    RITZ_TRY(CeedOperatorDestroy(&made));
  }
  if (!l->keeps) return CEED_ERROR_SUCCESS;
  if (*op) RITZ_TRY(CeedOperatorReferenceCopy(*op, &l->given[l->num_given]));
  l->num_given++;
  return CEED_ERROR_SUCCESS;
}

static int make_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                           CeedOperator *seam) {
  (void)level;
  RITZ_TRY(make_piece(ctx, space, RITZ_ELEMENTS_INSIDE, inside));
  return make_piece(ctx, space, RITZ_ELEMENTS_SEAM, seam);
}

// Constants of each component, then rotations about the axes; not orthogonal.
static double motion(CeedInt k, CeedInt num_comp, CeedInt comp, const double *x) {
  if (k < num_comp) return comp == k;
  const CeedInt a = (k - num_comp + 1) % 3, b = (k - num_comp + 2) % 3;
  return comp == a ? -x[b] : comp == b ? x[a] : 0;
}

static int make_nullspace(void *ctx, CeedInt level, RitzSpace space, CeedInt max, CeedInt *num,
                          CeedVector null[]) {
  const Levels *l = ctx;
  const CeedInt num_comp = l->s->c.num_comp;
  CeedSize n = 0;
  CeedInt dim = 0;
  RitzMesh mesh = NULL;

  (void)level, (void)max;
  RITZ_TRY(RitzSpaceGetSize(space, &n));
  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzMeshGetDimensions(mesh, NULL, &dim));
  double *x = malloc(((size_t)n * 3 + 1) * sizeof(*x));
  int ierr = RitzSpaceGetNodeCoordinates(space, x);

  for (*num = 0; *num < l->s->num_null && !ierr; ++*num) {
    CeedScalar *v = NULL;

    ierr = CeedVectorCreate(l->ceed, n, &null[*num]);
    if (!ierr) ierr = CeedVectorGetArrayWrite(null[*num], CEED_MEM_HOST, &v);
    for (CeedSize i = 0; !ierr && i < n; i++)
      v[i] = (CeedScalar)motion(*num, num_comp, (CeedInt)(i % num_comp), x + i / num_comp * dim);
    if (!ierr) ierr = CeedVectorRestoreArray(null[*num], &v);
  }
  free(x);
  return ierr;
}

static int set_nullspace(Levels *l, RitzSpace space, RitzSolver solver) {
  CeedVector null[MAX_NULL] = {NULL};
  CeedInt num = 0;
  int ierr = make_nullspace(l, 0, space, MAX_NULL, &num, null);

  if (!ierr) ierr = RitzSolverSetNullspace(solver, num, null);
  for (CeedInt i = 0; i < MAX_NULL; i++) CeedVectorDestroy(&null[i]);
  return ierr;
}

// ---- One part ----

static const RitzFixedPart whole_boundary = {.part = "all"};

static int make_part_multigrid_of(const Setting *s, const RitzTransport *t, const Part *p, Levels *levels,
                                  RitzPreconditioner *pc) {
  RitzPartMultigridOptions options = s->options;
  RitzHierarchy hierarchy = NULL;

  if (s->num_null > 0) options.create_nullspace = make_nullspace;
  RITZ_TRY(RitzHierarchyCreate(p->space, NULL, &hierarchy));
  const int ierr =
      RitzPreconditionerCreatePartMultigrid(p->ceed, hierarchy, t, make_part_level, levels, !s->is_free,
                                            s->is_free ? NULL : &whole_boundary, &options, pc);

  return ritz_first_error(ierr, RitzHierarchyDestroy(&hierarchy));
}

static int make_part_multigrid(const Setting *s, const RitzTransport *t, const Part *p,
                               RitzPreconditioner *pc) {
  Levels levels = {.s = s, .ceed = p->ceed};

  return make_part_multigrid_of(s, t, p, &levels, pc);
}

static int set_preconditioner(const Setting *s, const RitzTransport *t, const Part *p, RitzPartOperator op,
                              RitzSolver solver) {
  RitzPreconditioner pc = NULL;
  CeedVector diagonal = NULL;
  int ierr = CEED_ERROR_SUCCESS;

  if (s->by_jacobi) {
    ierr = CeedVectorCreate(p->ceed, p->num_nodes * s->c.num_comp, &diagonal);
    if (!ierr) ierr = RitzPartOperatorGetDiagonal(op, diagonal);
    if (!ierr) ierr = RitzSolverSetJacobi(solver, diagonal);
  } else {
    ierr = make_part_multigrid(s, t, p, &pc);
    if (!ierr) ierr = RitzSolverSetPreconditioner(solver, pc);
  }
  CeedVectorDestroy(&diagonal);
  RitzPreconditionerDestroy(&pc);
  return ierr;
}

static int solve_part(Setting *s, const RitzTransport *t, const Part *p) {
  Case *c = &s->c;
  Levels levels = {.s = s, .ceed = p->ceed};
  CeedVector b = NULL, x = NULL;
  RitzPartOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = make_part_operator(c, p, &op);

  if (!ierr) ierr = make_vector(c, p, (CeedScalar)5, &b);
  if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &x);
  if (!ierr) ierr = CeedVectorSetValue(x, (CeedScalar)0.5);
  if (!ierr && !s->is_free) ierr = make_constraints(p->ceed, p->space, c->num_comp, &constraints);
  if (!ierr) ierr = RitzSolverCreate(p->ceed, c->method, &solver);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, solver_rtol(), 0, s->by_jacobi ? 2000 : 100);
  if (!ierr) ierr = set_preconditioner(s, t, p, op, solver);
  if (!ierr) ierr = RitzSolverSetPartOperator(solver, op, constraints);
  if (!ierr) ierr = set_nullspace(&levels, p->space, solver);
  if (!ierr) ierr = RitzSolverSolve(solver, b, x);
  if (!ierr) ierr = RitzSolverGetReason(solver, &reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &c->iterations[t->part]);
  if (!ierr && reason <= 0) ierr = fail(c, t->part, RitzSolverReasonName(reason), 0, 0, 0);
  if (!ierr) ierr = hand_in(c, p, x);
  RitzSolverDestroy(&solver);
  RitzIndicesDestroy(&constraints);
  CeedVectorDestroy(&b);
  CeedVectorDestroy(&x);
  RitzPartOperatorDestroy(&op);
  return ierr;
}

// ctx: the case of a setting, its first member.
static int run_solve(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = solve_part(s, t, &p);
  close_part(&s->c, t->part, code, &p);
  return code;
}

// ---- The whole ----

// By multigrid of one part, with the same smoothers; or by Jacobi.
static int precondition_whole(Ceed ceed, const Setting *s, const Whole *w, RitzIndices constraints,
                              RitzPreconditioner *pc) {
  const RitzMultigridOptions options = {.smoother = s->options.smoother, .chebyshev = s->options.chebyshev};
  Levels levels = {.s = s, .ceed = ceed};
  RitzHierarchy hierarchy = NULL;

  if (s->by_jacobi) return RitzPreconditionerCreateOperatorJacobi(w->op, constraints, pc);
  RITZ_TRY(RitzHierarchyCreate(w->space, NULL, &hierarchy));
  const int ierr = RitzPreconditionerCreateMultigridOfHierarchy(
      ceed, hierarchy, make_level, s->num_null > 0 ? make_nullspace : NULL, &levels, !s->is_free,
      s->is_free ? NULL : &whole_boundary, &options, pc);

  return ritz_first_error(ierr, RitzHierarchyDestroy(&hierarchy));
}

static void solve_whole(Ceed ceed, const Setting *s, const Whole *w, CeedInt *iterations) {
  Levels levels = {.s = s, .ceed = ceed};
  RitzIndices constraints = NULL;
  RitzPreconditioner pc = NULL;
  RitzSolver solver;
  RitzSolverReason reason;

  if (!s->is_free) CHECK_OK(make_constraints(ceed, w->space, s->c.num_comp, &constraints));
  CHECK_OK(precondition_whole(ceed, s, w, constraints, &pc));
  CHECK_OK(RitzSolverCreate(ceed, s->c.method, &solver));
  CHECK_OK(RitzSolverSetTolerances(solver, solver_rtol(), 0, s->by_jacobi ? 2000 : 100));
  CHECK_OK(RitzSolverSetPreconditioner(solver, pc));
  CHECK_OK(RitzSolverSetOperator(solver, w->op));
  CHECK_OK(RitzSolverSetConstraintIndices(solver, constraints));
  CHECK_OK(set_nullspace(&levels, w->space, solver));
  CHECK_OK(CeedVectorSetValue(w->y, (CeedScalar)0.5));
  CHECK_OK(RitzSolverSolve(solver, w->x, w->y));
  CHECK_OK(RitzSolverGetReason(solver, &reason));
  CHECK(reason > 0, "one part: %s", RitzSolverReasonName(reason));
  CHECK_OK(RitzSolverGetIterations(solver, iterations));
  CHECK_OK(RitzSolverDestroy(&solver));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(RitzIndicesDestroy(&constraints));
}

// Numbers of parts: 1, 3 and 8, of the first mesh alone at level quick, else 3 or 8 in turns; 1 and 2 where
// calls are slow. 0: no more.
static CeedInt first_number(Ceed ceed, int mesh) {
  return is_slow(ceed) || tap_level() > TAP_QUICK || mesh == 2 ? 1 : mesh % 2 ? 3 : 8;
}
static CeedInt next_number(Ceed ceed, CeedInt num_parts, int mesh) {
  if (is_slow(ceed)) return num_parts == 1 ? 2 : 0;
  if (first_number(ceed, mesh) > 1) return 0;
  return num_parts == 1 ? 3 : num_parts == 3 ? 8 : 0;
}

// The solution of one part, in as many iterations, within `slack` (and a twentieth of them: Jacobi takes
// hundreds), for all numbers of parts. Methods stop at rtol of the residual: solutions differ by that times
// the condition of the matrix, hundreds here. Empty parts take part (a line of four elements refined, in 8
// parts).
static void check_setting(Ceed ceed, Setting *s, int slack, const char *name) {
  Case *c = &s->c;
  Whole w = {0};
  CeedInt iterations = 0;

  CHECK_OK(open_whole(ceed, c, &w));
  solve_whole(ceed, s, &w, &iterations);
  for (c->num_parts = first_number(ceed, c->which); !tap_failed() && c->num_parts;
       c->num_parts = next_number(ceed, c->num_parts, c->which)) {
    run_case(ceed, c, run_solve, name);
    if (!tap_failed()) compare(c, &w, 500 * solver_rtol(), name);
    for (CeedInt p = 0; !tap_failed() && p < c->num_parts; p++)
      CHECK(abs((int)(c->iterations[p] - iterations)) <= slack + iterations / 20,
            "%s, %s: %d iterations in %d parts, %d in one", name, mesh_names[c->which], (int)c->iterations[p],
            (int)c->num_parts, (int)iterations);
  }
  close_whole(c, &w);
}

// The same solution with cycles in float, in as many iterations as with cycles in CeedScalar, within one.
static void check_floats(Ceed ceed, Setting *s, const char *name) {
  Case *c = &s->c;
  Whole w = {0};
  CeedInt iterations = 0;

  CHECK_OK(open_whole(ceed, c, &w));
  solve_whole(ceed, s, &w, &iterations);
  for (c->num_parts = first_number(ceed, c->which); !tap_failed() && c->num_parts;
       c->num_parts = next_number(ceed, c->num_parts, c->which)) {
    s->options.use_precision = false;
    run_case(ceed, c, run_solve, name);
    iterations = c->iterations[0];
    s->options.use_precision = true;
    s->options.precision = CEED_SCALAR_FP32;
    if (!tap_failed()) run_case(ceed, c, run_solve, name);
    if (!tap_failed()) compare(c, &w, 500 * solver_rtol(), name);
    for (CeedInt p = 0; !tap_failed() && p < c->num_parts; p++)
      CHECK(abs((int)(c->iterations[p] - iterations)) <= 1,
            "%s, %s: %d iterations in %d parts in float, %d in CeedScalar", name, mesh_names[c->which],
            (int)c->iterations[p], (int)c->num_parts, (int)iterations);
  }
  close_whole(c, &w);
}

// ---- Tests ----

// With a coarsest problem that every part has, cycles are those of one part: conjugate gradients take them.
// Without, the coarsest problem is solved to 1e-2 alone.
TEST_EACH_BACKEND(multigrid_of_parts_is_that_of_one_part) {
  Setting s = {.c = {.degree = 4, .num_comp = 1, .overlaps = true, .levels = 1, .how = CUT_HILBERT},
               .options = {.smoother = RITZ_SMOOTHER_JACOBI}};
  const int meshes[4] = {2, 0, 3, 7};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &s.c);
  for (int m = 0; m < (is_slow(ceed) ? 1 : 4) && !tap_failed(); m++) {
    s.c.which = meshes[m];
    s.c.degree = s.c.which == 7 || is_slow(ceed) ? 2 : m == 0 ? 3 : 4;
    s.c.method = RITZ_SOLVER_CG;
    s.options.max_gathered = 0;
    s.options.coarse.kind =
        m == 0 ? RITZ_DIRECT_MULTIFRONTAL : RITZ_DIRECT_AUTO; // where the context computes
    check_setting(ceed, &s, 1, "whole coarsest problems");
    s.c.method = RITZ_SOLVER_FLEXIBLE_CG;
    s.options.max_gathered = -1;
    if (!tap_failed()) check_setting(ceed, &s, 2, "coarsest problems of all together");
  }
}

// Nothing holds the solution: it is orthogonal to the nullspace but for the first guess.
TEST_EACH_BACKEND(nullspaces_of_parts_are_those_of_the_whole) {
  Setting s = {.c = {.degree = 2, .num_comp = 1, .overlaps = true, .levels = 1, .make = make_diffusion},
               .options = {.smoother = RITZ_SMOOTHER_JACOBI},
               .is_free = true,
               .num_null = 1};
  const int meshes[3] = {2, 0, 7};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &s.c);
  for (int m = 0; m < (is_slow(ceed) ? 1 : 3) && !tap_failed(); m++) {
    s.c.which = meshes[m];
    s.c.how = s.c.which == 0 ? CUT_HILBERT : CUT_RANDOM;
    s.c.levels = s.c.which != 7;
    s.c.method = RITZ_SOLVER_CG;
    s.by_jacobi = true;
    check_setting(ceed, &s, 1, "constants, Jacobi");
    s.by_jacobi = false;
    if (!tap_failed()) check_setting(ceed, &s, 1, "constants, whole coarsest problems");
    s.c.method = RITZ_SOLVER_FLEXIBLE_CG;
    s.options.max_gathered = -1;
    if (!tap_failed()) check_setting(ceed, &s, 2, "constants, coarsest problems of all together");
    s.options.max_gathered = 0;
  }
}

// Three components that the operator couples: blocks of nodes take as many iterations as in one part.
TEST(point_blocks_of_parts_are_those_of_the_whole) {
  Ceed ceed = tap_ceed("/cpu/self/gen:threads=1");
  Setting s = {.c = {.degree = 2, .num_comp = 3, .overlaps = true, .levels = 1, .make = make_elastic},
               .options = {.chebyshev = {.degree = 4}}};

  name_resource(ceed, &s.c);
  s.c.which = 2;
  check_setting(ceed, &s, 1, "point blocks");
  s.options.smoother = RITZ_SMOOTHER_JACOBI;
  if (!tap_failed()) check_setting(ceed, &s, 1, "elasticity over Jacobi");
  s.c.which = 7;
  s.c.how = CUT_RANDOM;
  s.c.levels = 0;
  s.options.smoother = RITZ_SMOOTHER_AUTO;
  if (!tap_failed()) check_setting(ceed, &s, 1, "point blocks");
  s.is_free = true;
  s.num_null = 6;
  s.options.smoother = RITZ_SMOOTHER_POINT_BLOCKS;
  if (!tap_failed()) check_setting(ceed, &s, 1, "motions of a free body");
  CeedDestroy(&ceed);
}

// ---- Schwarz methods ----

// A vector of squares, and numbers that are none at ghosts and constrained entries: nobody may look at them.
static int spoil(const Part *p, CeedInt num_comp, RitzIndices constraints, bool squares, CeedVector v) {
  const int64_t *entries = NULL;
  CeedScalar *x = NULL;
  int64_t num = 0;

  RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  RITZ_TRY(CeedVectorGetArray(v, CEED_MEM_HOST, &x));
  for (int64_t i = 0; squares && i < p->num_owned * num_comp; i++) x[i] *= x[i];
  for (int64_t i = 0; i < num; i++) x[entries[i]] = (CeedScalar)NAN;
  return CeedVectorRestoreArray(v, &x);
}

static int require_zeros(Case *c, const RitzTransport *t, const Part *p, RitzIndices constraints,
                         CeedVector z) {
  const int64_t *entries = NULL;
  const CeedScalar *x = NULL;
  int64_t num = 0;
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_TRY(RitzIndicesGet(constraints, &num, &entries));
  RITZ_TRY(CeedVectorGetArrayRead(z, CEED_MEM_HOST, &x));
  for (int64_t i = 0; !ierr && i < num; i++) {
    if (x[entries[i]] != 0) ierr = fail(c, t->part, "constrained", entries[i], (double)x[entries[i]], 0);
  }
  for (int64_t i = p->num_owned * c->num_comp; !ierr && i < p->num_nodes * c->num_comp; i++) {
    if (x[i] != 0) ierr = fail(c, t->part, "a ghost", i, (double)x[i], 0);
  }
  return ritz_first_error(ierr, CeedVectorRestoreArrayRead(z, &x));
}

// Of owned, free entries, in all parts.
static int dot(const Part *p, CeedInt num_comp, CeedVector r, CeedVector z, double *product) {
  const CeedScalar *x = NULL, *y = NULL;

  *product = 0;
  RITZ_TRY(CeedVectorGetArrayRead(r, CEED_MEM_HOST, &x));
  RITZ_TRY(CeedVectorGetArrayRead(z, CEED_MEM_HOST, &y));
  for (int64_t i = 0; i < p->num_owned * num_comp; i++) *product += y[i] == 0 ? 0 : (double)(x[i] * y[i]);
  RITZ_TRY(CeedVectorRestoreArrayRead(r, &x));
  RITZ_TRY(CeedVectorRestoreArrayRead(z, &y));
  return RitzExchangeReduce(p->exchange, RITZ_REDUCTION_SUM, 1, product);
}

// r . P q = q . P r, and r . P r > 0; the sums are exact to some eps of a sum of absolute values, which is
// not larger than the root of the product of the squares in P, here less than 4 times the product itself.
static int require_symmetry(Case *c, const RitzTransport *t, const Part *p, const CeedVector r[2],
                            const CeedVector z[2]) {
  double products[4];

  for (int i = 0; i < 4; i++) RITZ_TRY(dot(p, c->num_comp, r[i % 2], z[i / 2], &products[i]));
  if (!(fabs(products[1] - products[2]) <= 1e3 * CEED_EPSILON * products[0]))
    return fail(c, t->part, "symmetry", 0, products[1], products[2]);
  return products[0] > 0 && products[3] > 0 ? CEED_ERROR_SUCCESS
                                            : fail(c, t->part, "r . P r", 0, products[0], products[3]);
}

// Two exchanges: values to ghosts, and what is added to them to owners.
static int apply_counted(Case *c, const Counted *counted, const Part *p, RitzPreconditioner pc, CeedVector r,
                         CeedVector z) {
  const int64_t before = counted->num_bytes,
                wanted = (p->exchange->num_send + p->exchange->num_ghosts) * (int64_t)sizeof(CeedScalar);

  RITZ_TRY(RitzPreconditionerApply(pc, r, z));
  if (counted->num_bytes - before == wanted) return CEED_ERROR_SUCCESS;
  return fail(c, counted->other->part, "bytes", 0, (double)(counted->num_bytes - before), (double)wanted);
}

static int check_application(Setting *s, const Counted *counted, const Part *p, RitzIndices constraints,
                             RitzPreconditioner pc) {
  Case *c = &s->c;
  const RitzTransport *t = counted->other;
  CeedVector r[2] = {NULL, NULL}, z[2] = {NULL, NULL};
  int ierr = CEED_ERROR_SUCCESS;

  for (int i = 0; i < 2 && !ierr; i++) {
    ierr = make_vector(c, p, (CeedScalar)NAN, &r[i]);
    if (!ierr) ierr = spoil(p, c->num_comp, constraints, i == 1, r[i]);
    if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes * c->num_comp, &z[i]);
    if (!ierr) ierr = apply_counted(c, counted, p, pc, r[i], z[i]);
    if (!ierr) ierr = require_zeros(c, t, p, constraints, z[i]);
  }
  if (!ierr) ierr = require_symmetry(c, t, p, r, z);
  if (!ierr) ierr = hand_in(c, p, z[0]);
  for (int i = 0; i < 2; i++) {
    CeedVectorDestroy(&r[i]);
    CeedVectorDestroy(&z[i]);
  }
  return ierr;
}

static int run_application(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Counted counted = {.c = &s->c, .other = t};
  const RitzTransport counting = count_messages(&counted, t);
  RitzPartOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzPreconditioner pc = NULL;
  Part p;
  int code = open_part(&s->c, &counting, &p);

  if (!code) code = make_part_operator(&s->c, &p, &op);
  if (!code) code = make_constraints(p.ceed, p.space, s->c.num_comp, &constraints);
  if (!code) code = ritz_part_schwarz_create("test", op, constraints, CEED_SCALAR_TYPE, &pc);
  RitzPartOperatorDestroy(&op);
  if (!code) code = check_application(s, &counted, &p, constraints, pc);
  RitzPreconditionerDestroy(&pc);
  RitzIndicesDestroy(&constraints);
  close_part(&s->c, t->part, code, &p);
  return code;
}

// z of one part: the orders of additions differ, a few for each entry and each direction of an element.
static void check_applications(Ceed ceed, Setting *s, const char *name) {
  Case *c = &s->c;
  RitzIndices constraints = NULL;
  RitzPreconditioner pc = NULL;
  Whole w = {0};

  CHECK_OK(open_whole(ceed, c, &w));
  CHECK_OK(make_constraints(ceed, w.space, c->num_comp, &constraints));
  CHECK_OK(RitzPreconditionerCreateElementSchwarz(w.op, w.space, NULL, constraints, &pc));
  CHECK_OK(RitzPreconditionerApply(pc, w.x, w.y));
  for (c->num_parts = first_number(ceed, c->which); !tap_failed() && c->num_parts;
       c->num_parts = next_number(ceed, c->num_parts, c->which)) {
    run_case(ceed, c, run_application, name);
    if (!tap_failed()) compare(c, &w, 1e3 * CEED_EPSILON, name);
  }
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(RitzIndicesDestroy(&constraints));
  close_whole(c, &w);
}

// Parts of one element, and parts without any (a line of four elements refined, in 8 parts), take part.
TEST_EACH_BACKEND(element_schwarz_of_parts_is_that_of_one_part) {
  Setting s = {.c = {.num_comp = 1, .overlaps = true, .levels = 1, .method = RITZ_SOLVER_CG},
               .options = {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ, .chebyshev = {.degree = 2}}};
  const int meshes[4] = {2, 1, 0, 1}, cuts[4] = {CUT_HILBERT, CUT_RANDOM, CUT_AUTO, CUT_ONE_ELEMENT};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &s.c);
  for (int m = 0; m < (is_slow(ceed) ? 1 : 4) && !tap_failed(); m++) {
    s.c.which = meshes[m];
    s.c.how = cuts[m];
    s.c.degree = m == 0 && !is_slow(ceed) ? 3 : 2;
    check_applications(ceed, &s, "an application of elements");
    if (!tap_failed()) check_setting(ceed, &s, 1, "elements");
    s.options.schwarz_degree = 2; // degree 1 has Jacobi
    if (!tap_failed() && m == 0 && !is_slow(ceed)) check_setting(ceed, &s, 1, "elements above degree 1");
    s.options.schwarz_degree = 0;
  }
}

// Components that the operator couples, and motions that nothing holds.
TEST(element_schwarz_of_parts_solves_elastic_problems) {
  Ceed ceed = tap_ceed("/cpu/self/gen:threads=1");
  Setting s = {
      .c = {.which = 2, .degree = 2, .num_comp = 3, .overlaps = true, .levels = 1, .make = make_elastic},
      .options = {
          .smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ, .schwarz_degree = 2, .chebyshev = {.degree = 4}}};

  name_resource(ceed, &s.c);
  check_applications(ceed, &s, "an application of elastic elements");
  if (!tap_failed()) check_setting(ceed, &s, 1, "elastic elements");
  s.c.levels = 0;
  s.is_free = true;
  s.num_null = 6;
  if (!tap_failed()) check_setting(ceed, &s, 1, "elements of a free body");
  CeedDestroy(&ceed);
}

// ---- The choice ----

// Squares, and rectangles 16 times as long.
static int stretch_half(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx, (void)dim;
  x[0] = X[0] < 0.5 ? X[0] : 0.5 + 16 * (X[0] - 0.5);
  x[1] = X[1];
  return CEED_ERROR_SUCCESS;
}

typedef struct {
  bool has_triangles;
  RitzSmootherChoice found[2];
} Choices;

enum { CELLS = 40 };

static int make_half(Ceed ceed, bool has_triangles, CeedInt part, RitzMesh *half) {
  const CeedInt n[2] = {CELLS, CELLS};
  RitzMesh mesh = NULL, split = NULL;
  int64_t num_elem = 0;
  int32_t *parts = NULL;

  RITZ_TRY(RitzMeshCreateBox(ceed, 2, n, NULL, NULL, 1, stretch_half, NULL, &mesh));
  int ierr = has_triangles ? RitzMeshSplit(mesh, CEED_TOPOLOGY_TRIANGLE, &split) : CEED_ERROR_SUCCESS;

  if (!ierr) ierr = RitzMeshGetNumElements(split ? split : mesh, &num_elem);
  parts = calloc((size_t)num_elem + 1, sizeof(*parts));
  for (int64_t e = 0; e < num_elem; e++) parts[e] = has_triangles ? (int32_t)(e % 2) : e % CELLS >= CELLS / 2;
  if (!ierr) ierr = RitzMeshCreateSubmesh(split ? split : mesh, 2, parts, part, half);
  free(parts);
  RitzMeshDestroy(&split);
  RitzMeshDestroy(&mesh);
  return ierr;
}

static int run_choice(void *ctx, const RitzTransport *t) {
  Choices *c = ctx;
  RitzMesh half = NULL;
  RitzSpace space = NULL;
  Ceed ceed = NULL;
  int ierr = CeedInit("/cpu/self/ref", &ceed);

  if (!ierr) ierr = make_half(ceed, c->has_triangles, t->part, &half);
  if (!ierr) ierr = RitzSpaceCreate(half, 4, 1, &space);
  if (!ierr) ierr = ritz_part_choose_smoother(ceed, space, t, &c->found[t->part]);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&half);
  CeedDestroy(&ceed);
  return ierr;
}

// Part 0 has squares, for which Jacobi is the choice.
TEST(parts_choose_one_smoother_by_the_elements_of_all) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Choices c = {.has_triangles = false};

  CHECK_OK(RitzRunParts(ceed, 2, run_choice, &c));
  for (int p = 0; p < 2 && !tap_failed(); p++) {
    const RitzSmootherChoice *found = &c.found[p];
    CHECK(found->num == 2 && found->candidates[found->chosen].kind == RITZ_SMOOTHER_ELEMENT_SCHWARZ,
          "part %d: kind %d of %d", p, (int)found->candidates[found->chosen].kind, found->num);
    CHECK(fabs(found->quality.aspect - 16) < 1e-6, "part %d: aspect %g", p, found->quality.aspect);
  }
  c.has_triangles = true;
  CHECK_OK(RitzRunParts(ceed, 2, run_choice, &c));
  CHECK(c.found[0].num == 0 && c.found[1].num == 0, "a choice among %d for triangles", c.found[0].num);
  CeedDestroy(&ceed);
}

// ---- Cycles in float ----

TEST_EACH_BACKEND(cycles_in_float_take_as_many_iterations) {
  Setting s = {.c = {.degree = 4,
                     .num_comp = 1,
                     .overlaps = true,
                     .levels = 1,
                     .how = CUT_HILBERT,
                     .method = RITZ_SOLVER_FLEXIBLE_CG},
               .options = {.smoother = RITZ_SMOOTHER_JACOBI}};
  const int meshes[4] = {2, 0, 3, 7};

  if (is_for_one_thread(ceed)) return;
  name_resource(ceed, &s.c);
  const bool is_fused = strstr(s.c.resource, "/gen") != NULL; // others: in short
  for (int m = 0; m < (is_slow(ceed) ? 1 : is_fused ? 4 : 2) && !tap_failed(); m++) {
    s.c.which = meshes[m];
    s.c.degree = s.c.which == 7 || is_slow(ceed) || !is_fused ? 2 : m == 0 ? 3 : 4;
    s.c.levels = s.c.which != 7;
    s.options.max_gathered = 0;
    check_floats(ceed, &s, "in float, whole coarsest problems");
    s.options.max_gathered = -1;
    if (!tap_failed() && is_fused && (s.c.which == 7 || is_slow(ceed)))
      check_floats(ceed, &s, "in float, coarsest problems of all together");
    if (m > 0 || !is_fused || tap_failed()) continue;
    s.options.max_gathered = 0;
    s.options.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
    check_floats(ceed, &s, "in float, over elements");
    s.options.smoother = RITZ_SMOOTHER_JACOBI;
  }
}

// Point blocks are exchanged and inverted in float; a nullspace is the solver's and the coarsest problem's.
TEST(blocks_and_nullspaces_serve_cycles_in_float) {
  Ceed ceed = tap_ceed("/cpu/self/gen:threads=1");
  Setting s = {.c = {.which = 2,
                     .degree = 2,
                     .num_comp = 3,
                     .overlaps = true,
                     .levels = 1,
                     .make = make_elastic,
                     .method = RITZ_SOLVER_FLEXIBLE_CG},
               .options = {.chebyshev = {.degree = 4}, .smoother = RITZ_SMOOTHER_POINT_BLOCKS}};

  name_resource(ceed, &s.c);
  check_floats(ceed, &s, "point blocks in float");
  s.is_free = true;
  s.num_null = 6;
  s.c.levels = 0;
  if (!tap_failed()) check_floats(ceed, &s, "motions of a free body, in float");
  s.c.degree = 1; // the coarsest level alone
  if (!tap_failed()) check_floats(ceed, &s, "one level in float");
  s.options.max_gathered = -1;
  if (!tap_failed()) check_floats(ceed, &s, "one level of all together");
  CeedDestroy(&ceed);
}

// Outside of a solver, of a residual of which part 0 alone has any, so that the others know its size by
// messages alone: results are those in CeedScalar to 1e-3, bounds of smoothers are estimated in float.
static int apply_outside(Setting *s, const RitzTransport *t, const Part *p) {
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL, z[2] = {NULL, NULL};
  CeedScalar norms[2] = {0, 0};
  CeedScalarType precision = CEED_SCALAR_FP64;
  double largest[2];
  int ierr = make_vector(&s->c, p, 0, &r);

  if (!ierr) ierr = CeedVectorScale(r, t->part ? 0 : (CeedScalar)1e-12);
  for (int i = 0; i < 2 && !ierr; i++) {
    s->options.use_precision = i == 1;
    s->options.precision = CEED_SCALAR_FP32;
    ierr = make_part_multigrid(s, t, p, &pc);
    if (!ierr) ierr = CeedVectorCreate(p->ceed, p->num_nodes, &z[i]);
    if (!ierr) ierr = RitzPreconditionerApply(pc, r, z[i]);
    if (!ierr) ierr = RitzPreconditionerGetPrecision(pc, &precision);
    ierr = ritz_first_error(ierr, RitzPreconditionerDestroy(&pc));
  }
  if (!ierr) ierr = CeedVectorNorm(z[0], CEED_NORM_MAX, &norms[0]);
  if (!ierr) ierr = CeedVectorAXPY(z[0], -1, z[1]);
  if (!ierr) ierr = CeedVectorNorm(z[0], CEED_NORM_MAX, &norms[1]);
  for (int i = 0; i < 2; i++) largest[i] = (double)norms[i];
  if (!ierr) ierr = t->reduce(t, RITZ_REDUCTION_MAX, 2, largest);
  if (!ierr && (precision != CEED_SCALAR_FP32 || !(largest[0] > 0) || largest[1] > 1e-3 * largest[0]))
    ierr = fail(&s->c, t->part, "in float beside in CeedScalar", 0, largest[1], largest[0]);
  CeedVectorDestroy(&r);
  for (int i = 0; i < 2; i++) CeedVectorDestroy(&z[i]);
  return ierr;
}

// Unknowns of this part on all levels, the coarsest first.
static int count_unknowns(const Part *p, CeedInt *num_levels, CeedSize sizes[MAX_GIVEN]) {
  RitzHierarchy hierarchy = NULL;

  RITZ_TRY(RitzHierarchyCreate(p->space, NULL, &hierarchy));
  int ierr = RitzHierarchyGetNumLevels(hierarchy, num_levels);

  for (CeedInt i = 0; i < *num_levels && !ierr; i++) {
    RitzSpace space = NULL;

    ierr = RitzHierarchyGetSpace(hierarchy, i, &space);
    if (!ierr) ierr = RitzSpaceGetSize(space, &sizes[i]);
  }
  return ritz_first_error(ierr, RitzHierarchyDestroy(&hierarchy));
}

// *bytes of the preconditioner; operators that it was given and has copied are let go by it, but the coarsest
// level's and those in its precision.
static int count_bytes(Setting *s, const RitzTransport *t, const Part *p, bool in_float, bool gives_floats,
                       int64_t *bytes) {
  const bool is_copied = in_float && !gives_floats && sizeof(CeedScalar) == 8;
  Levels levels = {.s = s, .ceed = p->ceed, .keeps = true};
  RitzPreconditioner pc = NULL;

  s->options.use_precision = in_float;
  s->options.precision = CEED_SCALAR_FP32;
  s->gives_floats = gives_floats;
  int ierr = make_part_multigrid_of(s, t, p, &levels, &pc);

  if (!ierr) ierr = RitzPreconditionerGetBytes(pc, bytes);
  for (int i = 2; i < levels.num_given && !ierr; i++) {
    CeedOperator op = levels.given[i];

    if (op && (op->obj.ref_count == 1) != is_copied)
      ierr = fail(&s->c, t->part, "references", i, op->obj.ref_count, is_copied);
  }
  for (int i = 0; i < levels.num_given; i++) CeedOperatorDestroy(&levels.given[i]);
  return ritz_first_error(ierr, RitzPreconditionerDestroy(&pc));
}

// Vectors have half the bytes in float: b, x (not on the finest level), r and correction, three of the
// smoother (neither on the coarsest). Passive inputs of copies come to them.
static int compare_bytes(Setting *s, const RitzTransport *t, const Part *p) {
  int64_t in_scalar = 0, given_floats = 0, copied = 0;
  CeedSize sizes[MAX_GIVEN], num = 0;
  CeedInt num_levels = 0;

  RITZ_TRY(count_unknowns(p, &num_levels, sizes));
  for (CeedInt i = 0; i < num_levels; i++) num += (i == 0 ? 2 : i < num_levels - 1 ? 7 : 5) * sizes[i];
  RITZ_TRY(count_bytes(s, t, p, false, false, &in_scalar));
  RITZ_TRY(count_bytes(s, t, p, true, true, &given_floats));
  RITZ_TRY(count_bytes(s, t, p, true, false, &copied));
  const int64_t saved = num * (int64_t)(sizeof(CeedScalar) - sizeof(float));
  if (in_scalar - given_floats != saved)
    return fail(&s->c, t->part, "bytes saved", 0, (double)(in_scalar - given_floats), (double)saved);
  if ((copied > given_floats) != (sizeof(CeedScalar) == 8))
    return fail(&s->c, t->part, "bytes of copies", 0, (double)copied, (double)given_floats);
  return CEED_ERROR_SUCCESS;
}

static int run_by_hand(void *ctx, const RitzTransport *t) {
  Setting *shared = ctx, own = *shared;
  Part p;
  int code = open_part(&own.c, t, &p);

  if (!code) code = apply_outside(&own, t, &p);
  if (!code) code = compare_bytes(&own, t, &p);
  close_part(&own.c, t->part, code, &p);
  memcpy(shared->c.why[t->part], own.c.why[t->part], sizeof(own.c.why[0]));
  return code;
}

TEST(cycles_in_float_know_sizes_by_messages_and_take_half_the_bytes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = {.c = {.which = 2, .degree = 3, .num_comp = 1, .overlaps = true, .levels = 1, .num_parts = 3},
               .options = {.smoother = RITZ_SMOOTHER_JACOBI}};

  name_resource(ceed, &s.c);
  run_case(ceed, &s.c, run_by_hand, "by hand");
  CeedDestroy(&ceed);
}

// ---- What is told, and refused ----

static char *view_text(RitzPreconditioner pc) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  if (RitzPreconditionerView(pc, stream)) fprintf(stream, "the view fails");
  fclose(stream);
  return text;
}

static int require_view(Setting *s, const RitzTransport *t, const Part *p, const char *wanted,
                        bool is_symmetric) {
  RitzPreconditioner pc = NULL;
  bool found = false;
  int64_t num_bytes = 0;
  char *text = NULL;
  int ierr = make_part_multigrid(s, t, p, &pc);

  if (!ierr) ierr = RitzPreconditionerIsSymmetric(pc, &found);
  if (!ierr) ierr = RitzPreconditionerGetBytes(pc, &num_bytes);
  if (!ierr) text = view_text(pc);
  if (!ierr && !strstr(text, wanted)) {
    snprintf(s->c.why[t->part], sizeof(s->c.why[0]), "'%s' is not in: %.190s", wanted, text);
    ierr = CEED_ERROR_MAJOR;
  }
  if (!ierr && found != is_symmetric) ierr = fail(&s->c, t->part, wanted, 0, found, is_symmetric);
  // two vectors of the finest level, at least
  const int64_t least = 2 * p->num_nodes * (int64_t)(s->options.use_precision ? 4 : sizeof(CeedScalar));
  if (!ierr && num_bytes < least) ierr = fail(&s->c, t->part, "bytes", 0, (double)num_bytes, (double)least);
  free(text);
  RitzPreconditionerDestroy(&pc);
  return ierr;
}

static int require_refusal(Setting *s, const RitzTransport *t, const Part *p, int code, const char *wanted) {
  RitzPreconditioner pc = NULL;
  const char *message = "";
  const int found = make_part_multigrid(s, t, p, &pc);

  RITZ_TRY(CeedGetErrorMessage(p->ceed, &message));
  if (found != code || !strstr(message, wanted)) {
    snprintf(s->c.why[t->part], sizeof(s->c.why[0]), "code %d, '%s' is not in: %.150s", found, wanted,
             message);
    return CEED_ERROR_MAJOR;
  }
  return CeedResetErrorMessage(p->ceed, &message);
}

// Two parts: both say the same.
static int tell(Setting *s, const RitzTransport *t, const Part *p) {
  RITZ_TRY(require_view(s, t, p, "whole in every part, ", true));
  s->options.coarse.kind = RITZ_DIRECT_MULTIFRONTAL;
  RITZ_TRY(require_view(s, t, p, "multifrontal", true));
  s->options.coarse.kind = RITZ_DIRECT_AUTO;
  s->options.max_gathered = 1;
  RITZ_TRY(require_view(s, t, p, "unknowns, gathered are at most 1\n", false));
  s->options.max_gathered = -1;
  s->options.coarse_rtol = 0.125;
  RITZ_TRY(require_view(s, t, p, "conjugate gradients with Jacobi to 0.125\n", false));
  s->options.use_precision = true;
  s->options.precision = CEED_SCALAR_FP32;
  RITZ_TRY(require_view(s, t, p, "V(1,1)-cycle in FP32, ", false));
  RITZ_TRY(require_view(s, t, p, sizeof(CeedScalar) == 8 ? "together, in FP64" : "together, in FP32", false));
  s->options.precision = (CeedScalarType)7;
  RITZ_TRY(require_refusal(s, t, p, CEED_ERROR_INCOMPATIBLE, "RitzPreconditionerCreatePartMultigrid"));
  s->options.use_precision = false;
  s->options.max_gathered = 0;
  s->options.coarse.max_dense = s->options.coarse.max_direct = 1;
  RITZ_TRY(require_view(s, t, p, "not whole in every part: dense: more than 1 unknowns\n", false));
  s->options.coarse = (RitzDirectOptions){.kind = RITZ_DIRECT_CG};
  RITZ_TRY(require_refusal(s, t, p, CEED_ERROR_UNSUPPORTED, "cg of rows that every part has"));
  s->options.coarse.kind = RITZ_DIRECT_AUTO;
  s->options.smoother = RITZ_SMOOTHER_OVERLAPPED_SCHWARZ;
  RITZ_TRY(require_refusal(s, t, p, CEED_ERROR_UNSUPPORTED, "parts have AUTO, JACOBI, POINT_BLOCKS"));
  s->options.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ;
  RITZ_TRY(require_view(s, t, p, "element-wise Schwarz by fast diagonalization: degree 2", true));
  s->options.smoother = RITZ_SMOOTHER_MEASURED;
  RITZ_TRY(require_view(s, t, p, "smoother: Jacobi 3: predicted ", true));
  s->options.schwarz_degree = -1;
  RITZ_TRY(require_refusal(s, t, p, CEED_ERROR_INCOMPATIBLE, "schwarz_degree -1"));
  return CEED_ERROR_SUCCESS;
}

static int run_tell(void *ctx, const RitzTransport *t) {
  Setting *shared = ctx, own = *shared;
  Part p;
  int code = open_part(&own.c, t, &p);

  if (!code) code = tell(&own, t, &p);
  close_part(&own.c, t->part, code, &p);
  memcpy(shared->c.why[t->part], own.c.why[t->part], sizeof(own.c.why[0]));
  return code;
}

TEST(views_tell_how_coarsest_problems_are_solved) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = {.c = {.which = 2, .degree = 2, .num_comp = 1, .overlaps = true, .levels = 1, .num_parts = 2}};

  name_resource(ceed, &s.c);
  run_case(ceed, &s.c, run_tell, "views");
  CeedDestroy(&ceed);
}

// Each part says the same, whether it has other elements than hexahedra itself or not, and none waits.
static int run_refusal(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = require_refusal(s, t, &p, CEED_ERROR_UNSUPPORTED, "RitzPreconditionerCreatePart");
  close_part(&s->c, t->part, code, &p);
  return code;
}

// The operator of the last part is nothing: its inner nodes have no diagonal. It says so, the others that
// another part fails.
static int refuse_one(Setting *s, const RitzTransport *t, const Part *p) {
  const bool is_bad = t->part == t->num_parts - 1;
  const char *wanted = is_bad ? "of the operator's diagonal is" : "does not serve another part",
             *message = "";
  RitzPartOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzPreconditioner pc = NULL;

  RITZ_TRY(is_bad ? RitzPartOperatorCreate(p->exchange, NULL, NULL, &op) : make_part_operator(&s->c, p, &op));
  int ierr = make_constraints(p->ceed, p->space, 1, &constraints);
  const int found = ierr ? ierr : ritz_part_schwarz_create("test", op, constraints, CEED_SCALAR_TYPE, &pc);

  RitzPartOperatorDestroy(&op);
  RitzIndicesDestroy(&constraints);
  RITZ_TRY(CeedGetErrorMessage(p->ceed, &message));
  if (found == CEED_ERROR_MAJOR && strstr(message, wanted)) return CeedResetErrorMessage(p->ceed, &message);
  snprintf(s->c.why[t->part], sizeof(s->c.why[0]), "code %d: %.150s", found, message);
  return CEED_ERROR_MAJOR;
}

static int run_refuse_one(void *ctx, const RitzTransport *t) {
  Setting *s = ctx;
  Part p;
  int code = open_part(&s->c, t, &p);

  if (!code) code = refuse_one(s, t, &p);
  close_part(&s->c, t->part, code, &p);
  return code;
}

TEST(all_parts_refuse_what_one_cannot_do) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Setting s = {.c = {.which = 7, .degree = 2, .num_comp = 1, .levels = 1, .num_parts = 8, .how = CUT_RANDOM},
               .options = {.smoother = RITZ_SMOOTHER_ELEMENT_SCHWARZ}};

  name_resource(ceed, &s.c);
  run_case(ceed, &s.c, run_refusal, "all shapes");
  s.c.which = 2;
  s.c.num_parts = 3;
  s.c.how = CUT_HILBERT;
  if (!tap_failed()) run_case(ceed, &s.c, run_refuse_one, "no operator in one part");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(multigrid_of_parts_is_that_of_one_part, nullspaces_of_parts_are_those_of_the_whole,
                        point_blocks_of_parts_are_those_of_the_whole,
                        element_schwarz_of_parts_is_that_of_one_part,
                        element_schwarz_of_parts_solves_elastic_problems,
                        parts_choose_one_smoother_by_the_elements_of_all, all_parts_refuse_what_one_cannot_do,
                        cycles_in_float_take_as_many_iterations, blocks_and_nullspaces_serve_cycles_in_float,
                        cycles_in_float_know_sizes_by_messages_and_take_half_the_bytes,
                        views_tell_how_coarsest_problems_are_solved));
}
