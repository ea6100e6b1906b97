// SPDX-License-Identifier: BSD-2-Clause
// Tests of sweeps over vertex patches in parts, slabs of a box (distributed/patches.c): what one part gives;
// multigrid that they smooth: iterations of one part, and its own transpose.
#include <float.h>

#include "core/vector-pass.h"
#include "distributed/exchange.h"
#include "distributed/schwarz.h"
#include "tests/exchange-kit.h"

// What all parts of a run know, and where their results go.
typedef struct {
  char resource[128];
  CeedInt num_parts, degree, num_comp;
  CeedInt n[3];
  bool is_graded, is_bent, is_symmetric, varies;
  const char *fixed; // boundary part where values are given
  RitzSmootherKind smoother;
  CeedScalar *y;         // [whole]: results at owned entries
  double products[8][2]; // of each part: M r . s, r . M s
  CeedInt iterations[8];
  char *view; // owned: of part 0's multigrid
  char why[8][256];
} Sweeps;

static int grade(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = pow(X[d], 1 + 0.2 * (d + 1));
  return 0;
}

static int bend(void *ctx, CeedInt dim, const double *X, double *x) {
  (void)ctx;
  for (CeedInt d = 0; d < dim; d++) x[d] = X[d];
  x[0] += 0.1 * X[1] * X[1];
  return 0;
}

static int open_box(Ceed ceed, const Sweeps *s, CeedInt num_parts, CeedInt part, RitzMesh *mesh) {
  return RitzMeshCreateBoxSlab(ceed, 3, s->n, NULL, NULL, 1,
                               s->is_bent     ? bend
                               : s->is_graded ? grade
                                              : NULL,
                               NULL, num_parts, part, mesh);
}

static int varying(void *ctx, const double *x, double *value) {
  (void)ctx;
  *value = 1 + x[0] * x[1];
  return 0;
}

static int make_piece(const Sweeps *s, Ceed ceed, RitzSpace space, RitzElementChoice elements,
                      CeedOperator *op) {
  const RitzOperatorOptions options = {.kind = RITZ_OPERATOR_HELMHOLTZ,
                                       .space = space,
                                       .elements = elements,
                                       .lambda_function = s->varies ? varying : NULL,
                                       .mu_function = s->varies ? varying : NULL};
  RitzGeometry geometry = NULL;
  RitzMesh mesh = NULL;

  RITZ_TRY(RitzSpaceGetMesh(space, &mesh));
  RITZ_TRY(RitzGeometryCreate(mesh, -1, &geometry));
  const int ierr = RitzGeometryCreateOperator(geometry, ceed, &options, op);

  return ritz_first_error(ierr, RitzGeometryDestroy(&geometry));
}

static int fix(const Sweeps *s, RitzSpace space, Ceed ceed, RitzIndices *constraints) {
  const RitzFixedPart fixed = {.part = s->fixed};

  return RitzSpaceCreateConstraints(space, ceed, 1, &fixed, constraints);
}

// Entry `first` + i of the whole; another function for every salt.
static int fill(CeedVector v, CeedSize first, int salt) {
  CeedSize length = 0;
  CeedScalar *x = NULL;

  RITZ_TRY(CeedVectorGetLength(v, &length));
  RITZ_TRY(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; i < length; i++)
    x[i] = (CeedScalar)sin(0.7 * (double)((first + i) % 1009) + salt) + (CeedScalar)(salt * 0.1);
  return CeedVectorRestoreArray(v, &x);
}

// The first entry of a slab in the box: rows follow each other.
static CeedSize first_entry(const Sweeps *s, RitzMesh mesh, CeedInt part) {
  const int64_t *layers = NULL;

  RitzMeshGetSlabs(mesh, &layers);
  return layers[part] * s->degree * (s->n[0] * s->degree + 1) * (s->n[1] * s->degree + 1) * s->num_comp;
}

typedef struct {
  Ceed ceed;
  RitzMesh mesh;
  RitzSpace space;
  RitzExchange exchange;
  RitzPartOperator op;
  RitzIndices constraints, kept;
  RitzPreconditioner pc;
  CeedVector r, z;
} Slab;

static int open_slab(const Sweeps *s, const RitzTransport *t, Slab *p) {
  CeedOperator pieces[2] = {NULL, NULL};
  CeedSize length = 0;
  RitzIndices ghosts = NULL;

  RITZ_TRY(CeedInit(s->resource, &p->ceed));
  RITZ_TRY(CeedSetErrorHandler(p->ceed, CeedErrorStore));
  RITZ_TRY(open_box(p->ceed, s, t->num_parts, t->part, &p->mesh));
  RITZ_TRY(RitzSpaceCreate(p->mesh, s->degree, s->num_comp, &p->space));
  RITZ_TRY(RitzExchangeCreate(p->space, p->ceed, t, &p->exchange));
  RITZ_TRY(make_piece(s, p->ceed, p->space, RITZ_ELEMENTS_INSIDE, &pieces[0]));
  RITZ_TRY(make_piece(s, p->ceed, p->space, RITZ_ELEMENTS_SEAM, &pieces[1]));
  RITZ_TRY(RitzPartOperatorCreate(p->exchange, pieces[0], pieces[1], &p->op));
  for (int i = 0; i < 2; i++) RITZ_TRY(CeedOperatorDestroy(&pieces[i]));
  RITZ_TRY(fix(s, p->space, p->ceed, &p->constraints));
  RITZ_TRY(RitzExchangeGetGhosts(p->exchange, &ghosts));
  RITZ_TRY(ritz_indices_unite(p->ceed, p->constraints, ghosts, &p->kept));
  RITZ_TRY(RitzSpaceGetSize(p->space, &length));
  RITZ_TRY(CeedVectorCreate(p->ceed, length, &p->r));
  RITZ_TRY(CeedVectorCreate(p->ceed, length, &p->z));
  return fill(p->r, first_entry(s, p->mesh, t->part), 0);
}

static void close_slab(Sweeps *s, CeedInt part, int code, Slab *p) {
  const char *message = "";

  if (code && p->ceed) CeedGetErrorMessage(p->ceed, &message);
  if (code) snprintf(s->why[part], sizeof(s->why[part]), "code %d: %s", code, message);
  RitzPreconditionerDestroy(&p->pc);
  RitzPartOperatorDestroy(&p->op);
  RitzExchangeDestroy(&p->exchange);
  RitzIndicesDestroy(&p->constraints);
  RitzIndicesDestroy(&p->kept);
  CeedVectorDestroy(&p->r);
  CeedVectorDestroy(&p->z);
  RitzSpaceDestroy(&p->space);
  RitzMeshDestroy(&p->mesh);
  CeedDestroy(&p->ceed);
}

static int hand_in_slab(const Sweeps *s, const Slab *p, CeedInt part) {
  const CeedScalar *z = NULL;
  CeedSize num_owned = 0;

  RITZ_TRY(RitzExchangeGetNumOwned(p->exchange, &num_owned));
  RITZ_TRY(CeedVectorGetArrayRead(p->z, CEED_MEM_HOST, &z));
  memcpy(s->y + first_entry(s, p->mesh, part), z, (size_t)num_owned * sizeof(*z));
  return CeedVectorRestoreArrayRead(p->z, &z);
}

static void run_slabs(Ceed ceed, Sweeps *s, RitzPartFunction run, const char *what) {
  memset(s->why, 0, sizeof(s->why));
  const int code = RitzRunParts(ceed, s->num_parts, run, s);

  for (CeedInt part = 0; part < s->num_parts; part++)
    CHECK(!s->why[part][0], "%s, part %d of %d: %s", what, (int)part, (int)s->num_parts, s->why[part]);
  CHECK(code == CEED_ERROR_SUCCESS, "%s: code %d", what, code);
}

static void name_context(Ceed ceed, Sweeps *s) {
  const char *resource = NULL;

  CHECK_OK(CeedGetResource(ceed, &resource));
  snprintf(s->resource, sizeof(s->resource), "%s%s", resource,
           strncmp(resource, "/cpu/self/gen", 13) ? "" : ":threads=1");
}

// ---- One sweep, or one there and back ----

static int sweep_slab(void *ctx, const RitzTransport *t) {
  Sweeps *s = ctx;
  Slab p = {0};
  int ierr = open_slab(s, t, &p);
  const RitzSums sums = {.reduce = RitzExchangeReduce,
                         .ctx = p.exchange,
                         .length = p.exchange ? p.exchange->length : 0,
                         .num_counted = p.exchange ? p.exchange->num_owned : 0};

  if (!ierr) {
    const RitzSums before = ritz_sums_set(p.ceed, &sums);

    ierr = ritz_part_patches_create("test", p.op, p.constraints, p.kept, CEED_SCALAR_TYPE, s->is_symmetric,
                                    &p.pc);
    (void)ritz_sums_set(p.ceed, &before);
  }
  if (!ierr) ierr = RitzPreconditionerApply(p.pc, p.r, p.z);
  if (!ierr) ierr = hand_in_slab(s, &p, t->part);
  close_slab(s, t->part, ierr, &p);
  return ierr;
}

static void sweep_whole(Ceed ceed, const Sweeps *s, CeedVector z) {
  const RitzPatchOptions options = {.is_symmetric = s->is_symmetric};
  RitzMesh mesh;
  RitzSpace space;
  CeedOperator op;
  RitzIndices constraints = NULL;
  RitzPreconditioner pc;
  CeedVector r;
  CeedSize n = 0;

  CHECK_OK(open_box(ceed, s, 1, 0, &mesh));
  CHECK_OK(RitzSpaceCreate(mesh, s->degree, s->num_comp, &space));
  CHECK_OK(make_piece(s, ceed, space, RITZ_ELEMENTS_ALL, &op));
  CHECK_OK(fix(s, space, ceed, &constraints));
  CHECK_OK(RitzPreconditionerCreateVertexPatches(op, space, constraints, &options, &pc));
  CHECK_OK(CeedVectorGetLength(z, &n));
  CHECK_OK(CeedVectorCreate(ceed, n, &r));
  CHECK_OK(fill(r, 0, 0));
  CHECK_OK(RitzPreconditionerApply(pc, r, z));
  CHECK_OK(CeedVectorDestroy(&r));
  CHECK_OK(RitzPreconditionerDestroy(&pc));
  CHECK_OK(RitzIndicesDestroy(&constraints));
  CHECK_OK(CeedOperatorDestroy(&op));
  CHECK_OK(RitzSpaceDestroy(&space));
  CHECK_OK(RitzMeshDestroy(&mesh));
}

// Sums have other orders in vectors of other lengths; solutions of patches are as exact as their condition,
// p^3, allows (ritz_patch_box_tolerance).
static void check_sweep(Ceed ceed, Sweeps *s, const char *what) {
  CeedSize n = s->num_comp;
  CeedVector z;
  const CeedScalar *wanted;
  double largest = 0, error = 0;

  for (int d = 0; d < 3; d++) n *= s->n[d] * s->degree + 1;
  CHECK_OK(CeedVectorCreate(ceed, n, &z));
  sweep_whole(ceed, s, z);
  s->y = calloc((size_t)n, sizeof(*s->y));
  run_slabs(ceed, s, sweep_slab, what);
  CHECK_OK(CeedVectorGetArrayRead(z, CEED_MEM_HOST, &wanted));
  for (CeedSize i = 0; i < n; i++) {
    largest = tap_larger(largest, fabs((double)wanted[i]));
    error = tap_larger(error, fabs((double)(s->y[i] - wanted[i])));
  }
  CHECK_OK(CeedVectorRestoreArrayRead(z, &wanted));
  CHECK(largest > 0 && error <= 256 * CEED_EPSILON * pow(s->degree, 3) * largest,
        "%s, %d parts, degree %d: error %g of %g", what, (int)s->num_parts, (int)s->degree, error, largest);
  free(s->y);
  CHECK_OK(CeedVectorDestroy(&z));
}

// Bounds at even and at odd layers: 0 4 9, 0 3 6 9, 0 4 8 12 16.
TEST_EACH_BACKEND(sweeps_in_slabs_are_those_of_the_box) {
  static const struct { CeedInt num_parts, layers; } cuts[] = {{1, 5}, {2, 9}, {3, 9}, {4, 16}};
  const int num_cuts = is_slow(ceed) ? 2 : 4;

  if (is_for_one_thread(ceed)) NOT_FOR_THIS_BACKEND("devices of one thread");
  for (int i = 0; i < num_cuts; i++) {
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      Sweeps s = {.num_parts = cuts[i].num_parts,
                  .degree = 3,
                  .num_comp = 1,
                  .n = {3, 2, cuts[i].layers},
                  .is_symmetric = symmetric,
                  .fixed = "all"};

      name_context(ceed, &s);
      check_sweep(ceed, &s, "uniform");
      s.is_graded = true;
      s.degree = 2;
      s.num_comp = 2;
      s.fixed = i % 2 ? "zmin" : "zmax";
      check_sweep(ceed, &s, "graded, free sides");
    }
  }
}

// ---- Multigrid ----

typedef struct {
  const Sweeps *s;
  Ceed ceed;
} Levels;

static int make_slab_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                           CeedOperator *seam) {
  const Levels *l = ctx;

  (void)level;
  RITZ_TRY(make_piece(l->s, l->ceed, space, RITZ_ELEMENTS_INSIDE, inside));
  return make_piece(l->s, l->ceed, space, RITZ_ELEMENTS_SEAM, seam);
}

static int create_part_cycle(const Sweeps *s, const RitzTransport *t, Slab *p) {
  const RitzPartMultigridOptions options = {.smoother = s->smoother, .is_reversed = s->is_symmetric};
  const RitzFixedPart fixed = {.part = s->fixed};
  Levels levels = {s, p->ceed};
  RitzHierarchy hierarchy = NULL;
  int ierr = RitzHierarchyCreate(p->space, NULL, &hierarchy);

  if (!ierr)
    ierr = RitzPreconditionerCreatePartMultigrid(p->ceed, hierarchy, t, make_slab_level, &levels, 1, &fixed,
                                                 &options, &p->pc);
  return ritz_first_error(ierr, RitzHierarchyDestroy(&hierarchy));
}

// M r . s and r . M s, of this part's owned entries.
static int find_products(Slab *p, CeedSize first, double products[2]) {
  CeedSize length = 0, num_owned = 0;
  CeedVector v[4] = {p->r, NULL, p->z, NULL}; // r, s, M r, M s
  const CeedScalar *x[4];

  RITZ_TRY(CeedVectorGetLength(p->r, &length));
  RITZ_TRY(RitzExchangeGetNumOwned(p->exchange, &num_owned));
  RITZ_TRY(CeedVectorCreate(p->ceed, length, &v[1]));
  RITZ_TRY(CeedVectorCreate(p->ceed, length, &v[3]));
  RITZ_TRY(fill(v[1], first, 1));
  for (int i = 0; i < 2; i++) {
    RITZ_TRY(RitzVectorSetEntries(v[i], p->kept, 0));
    RITZ_TRY(RitzPreconditionerApply(p->pc, v[i], v[2 + i]));
  }
  for (int i = 0; i < 4; i++) RITZ_TRY(CeedVectorGetArrayRead(v[i], CEED_MEM_HOST, &x[i]));
  for (CeedSize i = 0; i < num_owned; i++) {
    products[0] += (double)x[2][i] * (double)x[1][i];
    products[1] += (double)x[0][i] * (double)x[3][i];
  }
  for (int i = 0; i < 4; i++) RITZ_TRY(CeedVectorRestoreArrayRead(v[i], &x[i]));
  RITZ_TRY(CeedVectorDestroy(&v[1]));
  return CeedVectorDestroy(&v[3]);
}

static int solve_in_slab(Sweeps *s, Slab *p, CeedInt part) {
  RitzSolver solver = NULL;
  RitzSolverReason reason = RITZ_ITERATING;
  int ierr = RitzSolverCreate(p->ceed, s->is_symmetric ? RITZ_SOLVER_CG : RITZ_SOLVER_FLEXIBLE_CG, &solver);

  if (!ierr) ierr = RitzSolverSetPartOperator(solver, p->op, p->constraints);
  if (!ierr) ierr = RitzSolverSetPreconditioner(solver, p->pc);
  if (!ierr) ierr = RitzSolverSetTolerances(solver, solver_rtol(), 0, 40);
  if (!ierr) ierr = CeedVectorSetValue(p->z, 0);
  if (!ierr) ierr = RitzSolverSolve(solver, p->r, p->z);
  if (!ierr) ierr = RitzSolverGetReason(solver, &reason);
  if (!ierr) ierr = RitzSolverGetIterations(solver, &s->iterations[part]);
  if (reason <= 0) s->iterations[part] = -1;
  return ritz_first_error(ierr, RitzSolverDestroy(&solver));
}

static void keep_view(Sweeps *s, const Slab *p) {
  size_t size = 0;
  FILE *stream = open_memstream(&s->view, &size);

  RitzPreconditionerView(p->pc, stream);
  fclose(stream);
}

static int cycle_slab(void *ctx, const RitzTransport *t) {
  Sweeps *s = ctx;
  Slab p = {0};
  int ierr = open_slab(s, t, &p);

  if (!ierr) ierr = create_part_cycle(s, t, &p);
  if (!ierr && t->part == 0 && s->smoother == RITZ_SMOOTHER_MEASURED) keep_view(s, &p);
  if (!ierr && s->is_symmetric)
    ierr = find_products(&p, first_entry(s, p.mesh, t->part), s->products[t->part]);
  if (!ierr) ierr = fill(p.r, first_entry(s, p.mesh, t->part), 0);
  if (!ierr) ierr = solve_in_slab(s, &p, t->part);
  close_slab(s, t->part, ierr, &p);
  return ierr;
}

// The cycle of 2 and 4 parts is that of one, which a slab alone has the same levels for. The transpose to
// rounding, of vectors whose product is of order of their length times entries of M, below 1.
TEST_EACH_BACKEND(multigrid_by_patches_in_parts_takes_the_iterations_of_one) {
  if (is_for_one_thread(ceed)) NOT_FOR_THIS_BACKEND("devices of one thread");
  if (is_slow(ceed)) NOT_FOR_THIS_BACKEND("kernels take long to compile");
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    CeedInt alone = 0;

    for (CeedInt num_parts = 1; num_parts <= 4; num_parts *= 2) {
      Sweeps s = {.num_parts = num_parts,
                  .degree = 4,
                  .num_comp = 1,
                  .n = {8, 8, 16},
                  .is_symmetric = symmetric,
                  .fixed = "all",
                  .smoother = RITZ_SMOOTHER_PATCHES};
      double sums[2] = {0, 0};

      name_context(ceed, &s);
      run_slabs(ceed, &s, cycle_slab, "multigrid");
      if (num_parts == 1) alone = s.iterations[0];
      for (CeedInt part = 0; part < num_parts; part++) {
        CHECK(s.iterations[part] == alone && alone > 0, "%d parts: %d iterations, one part %d",
              (int)num_parts, (int)s.iterations[part], (int)alone);
        for (int i = 0; i < 2; i++) sums[i] += s.products[part][i];
      }
      if (symmetric)
        CHECK_NEAR(sums[0], sums[1], 1e4 * CEED_EPSILON * fabs(sums[0]), "%d parts: M r . s and r . M s",
                   (int)num_parts);
    }
  }
}

// ---- The choice ----

// Patches are the model's choice where kernels cost nothing, unless they do not serve: then the next best.
TEST(parts_choose_patches_where_they_serve) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double before = ritz_smoother_min_gain_of_waiting;

  for (int varies = 0; varies < 2; varies++) {
    Sweeps s = {.num_parts = 2,
                .degree = 4,
                .num_comp = 1,
                .n = {8, 8, 24},
                .varies = varies,
                .fixed = "all",
                .smoother = RITZ_SMOOTHER_MEASURED};

    name_context(ceed, &s);
    ritz_smoother_min_gain_of_waiting = 0;
    run_slabs(ceed, &s, cycle_slab, "a choice");
    ritz_smoother_min_gain_of_waiting = before;
    CHECK(s.view && (strstr(s.view, "vertex patches, one order") != NULL) == !varies, "chosen: %s", s.view);
    CHECK(s.view && (strstr(s.view, "no patches: the operator is not separable") != NULL) == varies,
          "chosen: %s", s.view);
    CHECK(s.iterations[0] > 0 && s.iterations[0] < 10, "%d iterations", (int)s.iterations[0]);
    free(s.view);
  }
  CeedDestroy(&ceed);
}

// ---- What is refused ----

static void refuse(Ceed ceed, Sweeps *s, const char *text) {
  memset(s->why, 0, sizeof(s->why));
  CHECK(RitzRunParts(ceed, s->num_parts, cycle_slab, s) == CEED_ERROR_UNSUPPORTED, "'%s' is refused", text);
  for (CeedInt part = 0; part < s->num_parts; part++)
    CHECK(strstr(s->why[part], text), "part %d: '%s', wanted '%s'", (int)part, s->why[part], text);
  CHECK_OK(CeedResetErrorMessage(ceed, &(const char *){NULL}));
}

TEST(all_parts_refuse_boxes_that_patches_do_not_serve) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Sweeps thin = {.num_parts = 3,
                 .degree = 2,
                 .num_comp = 1,
                 .n = {2, 2, 6},
                 .fixed = "all",
                 .smoother = RITZ_SMOOTHER_PATCHES,
                 .is_symmetric = true};

  CHECK_OK(CeedSetErrorHandler(ceed, CeedErrorStore));
  name_context(ceed, &thin);
  refuse(ceed, &thin, "part 1 has 2 layers of elements, sweeps over vertex patches need 3");
  thin.n[2] = 9;
  thin.is_bent = true;
  refuse(ceed, &thin, "of the box is not rectangular");
  thin.is_bent = false;
  thin.varies = true;
  refuse(ceed, &thin, "patches change a random solution");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(sweeps_in_slabs_are_those_of_the_box, multigrid_by_patches_in_parts_takes_the_iterations_of_one,
            parts_choose_patches_where_they_serve, all_parts_refuse_boxes_that_patches_do_not_serve));
}
