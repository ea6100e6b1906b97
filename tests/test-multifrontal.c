// SPDX-License-Identifier: BSD-2-Clause
// Sparse Cholesky factorizations by fronts (solver/multifrontal.h): A x = b for graphs of meshes, random
// ones, disconnected ones, single entries and full matrices, with own orderings and METIS; batches of fronts
// (ritz/front.h) against plain loops; finite elements of degree 2 against CHOLMOD.
#include "tests/tap.h"

#include "core/memory.h"
#include "solver/multifrontal.h"
#include <float.h>
#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

// ---- Sparse matrices ----

typedef struct {
  int64_t n;
  int64_t *starts, *cols; // owned
  double *values;         // owned
} Sparse;

static void free_sparse(Sparse *a) {
  free(a->starts);
  free(a->cols);
  free(a->values);
  *a = (Sparse){0};
}

// The rows of a full matrix [n][n] without its zeros.
static Sparse compress(int64_t n, double *full) {
  Sparse a = {.n = n, .starts = calloc((size_t)n + 1, sizeof(int64_t))};
  a.cols = calloc((size_t)(n * n) + 1, sizeof(int64_t));
  a.values = calloc((size_t)(n * n) + 1, sizeof(double));
  for (int64_t i = 0; i < n; i++) {
    int64_t k = a.starts[i];
    for (int64_t j = 0; j < n; j++) {
      if (full[i * n + j] == 0) continue;
      a.cols[k] = j;
      a.values[k++] = full[i * n + j];
    }
    a.starts[i + 1] = k;
  }
  free(full);
  return a;
}

// w at (i, j) and (j, i), and what makes the matrix diagonally dominant.
static void join(int64_t n, double *full, int64_t i, int64_t j, double w) {
  if (i == j || full[i * n + j] != 0) return;
  full[i * n + j] = full[j * n + i] = -w;
  full[i * n + i] += 1.01 * w;
  full[j * n + j] += 1.01 * w;
}

static double *diagonal(int64_t n) {
  double *full = calloc((size_t)(n * n) + 1, sizeof(double));
  for (int64_t i = 0; i < n; i++) full[i * n + i] = 0.1;
  return full;
}

static Sparse random_graph(int64_t n, int64_t num_edges, uint64_t seed) {
  double *full = diagonal(n);
  for (int64_t e = 0; e < num_edges; e++) {
    const int64_t i = (int64_t)((0.5 + 0.499 * tap_uniform(&seed)) * (double)n);
    const int64_t j = (int64_t)((0.5 + 0.499 * tap_uniform(&seed)) * (double)n);
    join(n, full, i, j, 1.5 + tap_uniform(&seed));
  }
  return compress(n, full);
}

// A box with couplings to all 3^3 - 1 neighbours.
static Sparse box(int64_t nx, int64_t ny, int64_t nz) {
  const int64_t n = nx * ny * nz;
  double *full = diagonal(n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) {
      const int64_t dx = i % nx - j % nx, dy = i / nx % ny - j / nx % ny, dz = i / nx / ny - j / nx / ny;
      if (dx * dx <= 1 && dy * dy <= 1 && dz * dz <= 1) join(n, full, i, j, 1);
    }
  return compress(n, full);
}

static Sparse star(int64_t n) {
  double *full = diagonal(n);
  for (int64_t i = 1; i < n; i++) join(n, full, 0, i, 1);
  return compress(n, full);
}

// ---- Solutions ----

// |b - A x|_1 <= 10 n u (|A|_1 |x|_1 + |b|_1)
static bool is_solution(const Sparse *a, const double *x, const double *b, double *excess) {
  double residual = 0, size = 0;
  for (int64_t i = 0; i < a->n; i++) {
    double sum = b[i];
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
      sum -= a->values[k] * x[a->cols[k]];
      size += fabs(a->values[k] * x[a->cols[k]]);
    }
    residual += fabs(sum);
    size += fabs(b[i]);
  }
  *excess = residual / (10 * (double)a->n * DBL_EPSILON * size);
  return *excess <= 1;
}

static void check_solve(RitzMultifrontal *m, const Sparse *a, double *x) {
  double *b = calloc((size_t)a->n, sizeof(*b)), excess = INFINITY;
  uint64_t seed = 5;
  for (int64_t i = 0; i < a->n; i++) b[i] = tap_uniform(&seed);
  const int ierr = ritz_multifrontal_solve(m, b, x);
  const bool is_right = !ierr && is_solution(a, x, b, &excess);
  free(b);
  CHECK_OK(ierr);
  CHECK(is_right, "residual %g times what is allowed, n = %lld", excess, (long long)a->n);
}

static RitzPattern pattern_of(const Sparse *a) {
  return (RitzPattern){.n = a->n, .starts = a->starts, .cols = a->cols};
}

static bool is_permutation(int64_t n, const int64_t *perm) {
  char *seen = calloc((size_t)n + 1, 1);
  int64_t num = 0;
  for (int64_t k = 0; k < n; k++) {
    if (perm[k] < 0 || perm[k] >= n || seen[perm[k]]) break;
    seen[perm[k]] = 1;
    num++;
  }
  free(seen);
  return num == n;
}

// Twice, with the same bits; then with other numbers of the same pattern.
static void check_matrix(Ceed ceed, Sparse a, RitzOrdering ordering) {
  const RitzPattern pattern = pattern_of(&a);
  double *x = calloc((size_t)a.n, sizeof(*x)), *again = calloc((size_t)a.n, sizeof(*x));
  RitzMultifrontal m;
  bool is_too_long;
  int64_t bad;
  CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, ordering, 0, &m, &is_too_long));
  CHECK(is_permutation(a.n, m.symbolic.perm) && !is_too_long, "n = %lld", (long long)a.n);
  for (int repeat = 0; repeat < 3 && !tap_failed(); repeat++) {
    for (int64_t k = 0; k < a.starts[a.n] && repeat == 2; k++) a.values[k] *= 3;
    CHECK_OK(ritz_multifrontal_factorize(&m, a.values, &bad));
    CHECK(bad == -1, "row %lld is bad", (long long)bad);
    check_solve(&m, &a, repeat == 1 ? again : x);
    if (repeat == 1) CHECK(!memcmp(x, again, (size_t)a.n * sizeof(*x)), "other bits");
  }
  CHECK_OK(ritz_multifrontal_destroy(&m));
  free(x);
  free(again);
  free_sparse(&a);
}

TEST_EACH_BACKEND(systems_of_graphs_are_solved) {
  for (RitzOrdering ordering = RITZ_ORDERING_OWN; ordering <= RITZ_ORDERING_METIS && !tap_failed();
       ordering++) {
    check_matrix(ceed, box(13, 11, 1), ordering);
    if (tap_failed()) return;
    check_matrix(ceed, random_graph(150, 120, 3), ordering); // with single nodes and small trees
    if (tap_failed() || tap_compiles_slowly(ceed)) continue;
    check_matrix(ceed, box(7, 6, 8), ordering);
    check_matrix(ceed, random_graph(90, 300, 4), ordering);
    check_matrix(ceed, random_graph(70, 0, 4), ordering); // a diagonal
    check_matrix(ceed, box(200, 1, 1), ordering);
    check_matrix(ceed, star(120), ordering);
    check_matrix(ceed, random_graph(60, 8000, 9), ordering); // full
    check_matrix(ceed, random_graph(1, 0, 1), ordering);
  }
}

// A level of fronts beyond what a block of columns holds.
TEST(large_fronts_are_factorized_in_blocks) {
  static const char *const resources[] = {"/cpu/self/ref", "/cpu/self/gen"};
  for (int k = 0; k < 2 && !tap_failed(); k++) {
    Ceed ceed = tap_ceed(resources[k]);
    for (int64_t n = 190; n <= 450 && !tap_failed(); n += 130)
      check_matrix(ceed, random_graph(n, 20 * n * n, 7), RITZ_ORDERING_OWN);
    if (!tap_failed()) check_matrix(ceed, box(9, 9, 9), RITZ_ORDERING_AUTO);
    CeedDestroy(&ceed);
  }
}

TEST_EACH_BACKEND(matrices_that_are_not_positive_definite_are_named) {
  for (int what = 0; what < 3 && !tap_failed(); what++) {
    Sparse a = box(9, 7, 1);
    const RitzPattern pattern = pattern_of(&a);
    RitzMultifrontal m;
    bool is_too_long;
    int64_t bad;
    for (int64_t k = a.starts[40]; k < a.starts[41]; k++)
      if (a.cols[k] == 40) a.values[k] = what == 0 ? -1 : what == 1 ? 0 : (double)NAN;
    CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, RITZ_ORDERING_OWN, 0, &m, &is_too_long));
    CHECK_OK(ritz_multifrontal_factorize(&m, a.values, &bad));
    CHECK(bad == 40, "row %lld, not 40, case %d", (long long)bad, what);
    CHECK_OK(ritz_multifrontal_destroy(&m));
    free_sparse(&a);
  }
}

TEST(more_work_than_wanted_is_refused_before_it_is_done) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Sparse a = box(13, 11, 1);
  const RitzPattern pattern = pattern_of(&a);
  RitzMultifrontal m;
  bool is_too_long;
  CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, RITZ_ORDERING_OWN, 100, &m, &is_too_long));
  CHECK(is_too_long && m.symbolic.num_flops > 100, "%g flops", m.symbolic.num_flops);
  CHECK_OK(ritz_multifrontal_destroy(&m));
  free_sparse(&a);
  CeedDestroy(&ceed);
}

TEST(separators_keep_fill_small) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Sparse a = box(40, 40, 1);
  const RitzPattern pattern = pattern_of(&a);
  for (RitzOrdering own = RITZ_ORDERING_OWN; own <= RITZ_ORDERING_METIS && !tap_failed(); own++) {
    RitzSymbolic y;
    bool is_too_long;
    CHECK_OK(ritz_symbolic_create(ceed, &pattern, own, 1, 0, &y, &is_too_long));
    // By rows there are 41 a column.
    CHECK(y.num_nonzeros < 36 * (double)a.n && y.num_levels > 3, "%s: %g a column, %d levels", y.ordering,
          y.num_nonzeros / (double)a.n, y.num_levels);
    ritz_symbolic_free(&y);
  }
  free_sparse(&a);
  CeedDestroy(&ceed);
}

// ---- Batches of fronts ----

enum { NUM_FRONTS = 40, MAX_D1 = 21, MAX_D2 = 19 };

typedef struct {
  int32_t d1[NUM_FRONTS], d2[NUM_FRONTS], ld[NUM_FRONTS];
  int64_t panel[NUM_FRONTS], update[NUM_FRONTS], x[NUM_FRONTS];
  int64_t num, num_x;
} Shapes;

// Panel and update lie in one matrix of each front, whose leading dimension is larger.
static Shapes make_shapes(void) {
  Shapes s = {.num = 0};
  for (int i = 0; i < NUM_FRONTS; i++) {
    s.d1[i] = i % 7 == 3 ? 0 : (5 * i) % (MAX_D1 + 1);
    s.d2[i] = i % 5 == 2 ? 0 : (3 * i) % (MAX_D2 + 1);
    s.ld[i] = s.d1[i] + s.d2[i] + 1 + i % 3;
    s.panel[i] = s.num + 1;
    s.update[i] = s.panel[i] + s.d1[i] * (int64_t)(s.ld[i] + 1);
    s.x[i] = s.num_x;
    s.num += 1 + s.ld[i] * (int64_t)(s.d1[i] + s.d2[i]);
    s.num_x += s.d1[i] + s.d2[i];
  }
  return s;
}

static double entry(const Shapes *s, const double *all, int i, int64_t r, int64_t c) {
  return all[s->panel[i] + r + c * s->ld[i]];
}

// L L^T + [0 0; 0 F22] = A, lower triangles; the rest is as it was.
static double front_error(const Shapes *s, int i, const double *before, const double *after) {
  const int64_t d1 = s->d1[i], n = d1 + s->d2[i];
  double error = 0;
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = c; r < n; r++) {
      double sum = c < d1 ? 0 : entry(s, after, i, r, c);
      for (int64_t k = 0; k <= c && k < d1; k++) sum += entry(s, after, i, r, k) * entry(s, after, i, c, k);
      error = fmax(error, fabs(sum - entry(s, before, i, r, c)));
    }
  return error;
}

typedef struct {
  Ceed ceed;
  void *p[8];
  int num;
} Lent;

static void *lend(Lent *lent, size_t num_bytes, const void *host) {
  void **p = &lent->p[lent->num++];
  if (ritz_fronts_alloc(lent->ceed, num_bytes, p) || ritz_fronts_upload(lent->ceed, num_bytes, host, *p))
    return NULL;
  return *p;
}

static void give_back(Lent *lent) {
  for (int k = 0; k < lent->num; k++) ritz_fronts_free(lent->ceed, &lent->p[k]);
}

static RitzFrontArrays lend_shapes(Lent *lent, const Shapes *s, const double *all) {
  RitzFrontArrays a = {.d1 = lend(lent, sizeof(s->d1), s->d1), .d2 = lend(lent, sizeof(s->d2), s->d2)};
  a.panel_lds = a.update_lds = lend(lent, sizeof(s->ld), s->ld);
  a.panel_offsets = lend(lent, sizeof(s->panel), s->panel);
  a.update_offsets = lend(lent, sizeof(s->update), s->update);
  a.panels = a.updates = lend(lent, (size_t)s->num * sizeof(double), all);
  return a;
}

static double *random_fronts(const Shapes *s) {
  double *all = calloc((size_t)s->num, sizeof(*all));
  uint64_t seed = 8;
  for (int64_t k = 0; k < s->num; k++) all[k] = tap_uniform(&seed);
  for (int i = 0; i < NUM_FRONTS; i++)
    for (int64_t c = 0; c < s->d1[i]; c++) all[s->panel[i] + c * (s->ld[i] + 1)] = 4 + s->d1[i] + s->d2[i];
  return all;
}

static void check_factors(const Shapes *s, const double *before, const double *after, const int32_t *info) {
  for (int i = 0; i < NUM_FRONTS; i++) {
    const double error = front_error(s, i, before, after);
    CHECK(info[i] == 0, "front %d: info %d", i, (int)info[i]);
    // 10 n u |A|_1, which is at most 2 n
    CHECK(error <= 20 * 40. * 40. * DBL_EPSILON, "front %d of %d + %d: error %g", i, (int)s->d1[i],
          (int)s->d2[i], error);
  }
}

// A front x = L^-1 b is what Forward makes, and Backward the same with L^T: both together solve F11 x1 = b1
// where b2 = 0 and the x2 of Backward is zero.
static void check_solutions(const Shapes *s, const double *before, const double *x, const double *b) {
  for (int i = 0; i < NUM_FRONTS; i++) {
    for (int64_t r = 0; r < s->d1[i]; r++) {
      double sum = -b[s->x[i] + r];
      for (int64_t c = 0; c < s->d1[i]; c++)
        sum += entry(s, before, i, r > c ? r : c, r > c ? c : r) * x[s->x[i] + c];
      CHECK(fabs(sum) <= 10 * 40. * 40. * DBL_EPSILON, "front %d, row %d: residual %g", i, (int)r, sum);
    }
  }
}

TEST_EACH_BACKEND(fronts_of_all_sizes_are_factorized_and_solved) {
  Shapes s = make_shapes();
  double *before = random_fronts(&s), *after = calloc((size_t)s.num, sizeof(*after));
  double *b = calloc((size_t)s.num_x, sizeof(*b)), *x = calloc((size_t)s.num_x, sizeof(*x));
  int32_t info[NUM_FRONTS];
  Lent lent = {.ceed = ceed};
  RitzFront front = NULL;
  uint64_t seed = 2;
  memset(info, 1, sizeof(info));
  for (int i = 0; i < NUM_FRONTS; i++)
    for (int64_t k = 0; k < s.d1[i]; k++) b[s.x[i] + k] = tap_uniform(&seed);
  const RitzFrontArrays arrays = lend_shapes(&lent, &s, before);
  int32_t *infos = lend(&lent, sizeof(info), info);
  int64_t num = s.num_x;
  CHECK_OK(RitzFrontCreate(ceed, CEED_SCALAR_FP64, MAX_D1, MAX_D2, &front));
  CHECK_OK(RitzFrontBatched(front, NUM_FRONTS, &arrays, infos));
  CHECK_OK(ritz_fronts_download(ceed, (size_t)s.num * sizeof(*after), arrays.panels, after));
  CHECK_OK(ritz_fronts_download(ceed, sizeof(info), infos, info));
  check_factors(&s, before, after, info);
  if (!tap_failed()) {
    Lent more = {.ceed = ceed};
    double *vector = lend(&more, (size_t)num * sizeof(*b), b);
    const int64_t *places = lend(&more, sizeof(s.x), s.x);
    CHECK_OK(RitzFrontForwardBatched(front, NUM_FRONTS, &arrays, vector, places));
    CHECK_OK(ritz_fronts_download(ceed, (size_t)num * sizeof(*x), vector, x));
    for (int i = 0; i < NUM_FRONTS; i++)
      for (int64_t k = s.d1[i]; k < s.d1[i] + s.d2[i]; k++) {
        double sum = 0; // x2 = -L21 x1
        for (int64_t c = 0; c < s.d1[i]; c++) sum -= entry(&s, after, i, k, c) * x[s.x[i] + c];
        CHECK(fabs(sum - x[s.x[i] + k]) <= 1e3 * DBL_EPSILON, "front %d: %g, not %g", i, x[s.x[i] + k], sum);
        x[s.x[i] + k] = 0;
      }
    CHECK_OK(ritz_fronts_upload(ceed, (size_t)num * sizeof(*x), x, vector));
    CHECK_OK(RitzFrontBackwardBatched(front, NUM_FRONTS, &arrays, vector, places));
    CHECK_OK(ritz_fronts_download(ceed, (size_t)num * sizeof(*x), vector, x));
    check_solutions(&s, before, x, b);
    give_back(&more);
  }
  CHECK_OK(RitzFrontDestroy(&front));
  give_back(&lent);
  free(before);
  free(after);
  free(b);
  free(x);
}

TEST(wrong_calls_with_fronts_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  Shapes s = make_shapes();
  double *all = random_fronts(&s), *kept = calloc((size_t)s.num, sizeof(*kept));
  int32_t info[NUM_FRONTS];
  RitzFrontArrays arrays = {.d1 = s.d1,
                            .d2 = s.d2,
                            .panels = all,
                            .panel_offsets = s.panel,
                            .panel_lds = s.ld,
                            .updates = all,
                            .update_offsets = s.update,
                            .update_lds = s.ld};
  RitzFront front = NULL;
  memcpy(kept, all, (size_t)s.num * sizeof(*all));
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, CEED_SCALAR_FP64, -1, 2, &front), CEED_ERROR_DIMENSION, "-1");
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, (CeedScalarType)7, 1, 2, &front), CEED_ERROR_UNSUPPORTED, "7");
  CHECK_OK(RitzFrontCreate(ceed, CEED_SCALAR_FP64, MAX_D1, MAX_D2, &front));
  CHECK_ERROR(ceed, RitzFrontBatched(front, -3, &arrays, NULL), CEED_ERROR_DIMENSION, "-3");
  arrays.panel_lds = NULL;
  CHECK_ERROR(ceed, RitzFrontBatched(front, 1, &arrays, NULL), CEED_ERROR_INCOMPATIBLE, "NULL");
  arrays.panel_lds = s.ld;
  s.d1[5] = MAX_D1 + 1;
  s.d2[6] = -1;
  CHECK_OK(RitzFrontBatched(front, NUM_FRONTS, &arrays, info));
  CHECK(info[4] == 0 && info[5] < 0 && info[7] == 0, "%d %d %d", (int)info[4], (int)info[5], (int)info[7]);
  const int64_t first = s.panel[5], end = s.panel[6] - 1;
  CHECK(!memcmp(all + first, kept + first, (size_t)(end - first) * sizeof(*all)), "a bad front was changed");
  CHECK_OK(RitzFrontDestroy(&front));
  CeedDestroy(&ceed);
  free(all);
  free(kept);
}

// ---- Finite elements ----

// Diffusion of degree 2 on a deformed box, one side fixed, by this kind. *z: the caller's.
static int solve_poisson(Ceed ceed, CeedInt dim, CeedInt side, RitzDirectKind kind, CeedVector *z) {
  const CeedInt n[3] = {side, side + 1, side - 1};
  RitzMesh mesh = NULL;
  RitzSpace space = NULL;
  RitzGeometry geometry = NULL;
  CeedOperator op = NULL;
  RitzIndices constraints = NULL;
  RitzPreconditioner pc = NULL;
  CeedVector r = NULL;
  CeedScalar *array;
  CeedSize length = 0;
  int64_t num = 0, *nodes = NULL;
  uint64_t seed = 6;
  int ierr = RitzMeshCreateBox(ceed, dim, n, NULL, NULL, 1, NULL, NULL, &mesh);
  if (!ierr) ierr = RitzSpaceCreate(mesh, 2, 1, &space);
  if (!ierr) ierr = RitzSpaceGetSize(space, &length);
  if (!ierr) ierr = RitzGeometryCreate(mesh, 1e-10, &geometry);
  const RitzOperatorOptions o = {
      .kind = RITZ_OPERATOR_DIFFUSION, .space = space, .num_points = 3, .policy = RITZ_POLICY_STORED};
  if (!ierr) ierr = RitzGeometryCreateOperator(geometry, ceed, &o, &op);
  if (!ierr) ierr = RitzSpaceGetBoundaryNodes(space, "xmin", &num, &nodes);
  if (!ierr) ierr = RitzIndicesCreate(ceed, num, nodes, &constraints);
  if (!ierr) ierr = RitzPreconditionerCreateDirect(op, constraints, &(RitzDirectOptions){.kind = kind}, &pc);
  if (!ierr) ierr = CeedVectorCreate(ceed, length, &r);
  if (!ierr) ierr = CeedVectorCreate(ceed, length, z);
  if (!ierr) ierr = CeedVectorGetArrayWrite(r, CEED_MEM_HOST, &array);
  for (CeedSize i = 0; i < length && !ierr; i++) array[i] = (CeedScalar)tap_uniform(&seed);
  if (!ierr) ierr = CeedVectorRestoreArray(r, &array);
  if (!ierr) ierr = RitzPreconditionerApply(pc, r, *z);
  free(nodes);
  RitzPreconditionerDestroy(&pc);
  CeedVectorDestroy(&r);
  RitzIndicesDestroy(&constraints);
  CeedOperatorDestroy(&op);
  RitzGeometryDestroy(&geometry);
  RitzSpaceDestroy(&space);
  RitzMeshDestroy(&mesh);
  return ierr;
}

static void compare_with(Ceed ceed, CeedInt dim, CeedInt side, RitzDirectKind kind) {
  CeedVector z = NULL, other = NULL;
  CeedScalar size, difference;
  CHECK_OK(solve_poisson(ceed, dim, side, RITZ_DIRECT_MULTIFRONTAL, &z));
  CHECK_OK(solve_poisson(ceed, dim, side, kind, &other));
  CHECK_OK(CeedVectorNorm(other, CEED_NORM_2, &size));
  CHECK_OK(CeedVectorAXPY(z, -1, other));
  CHECK_OK(CeedVectorNorm(z, CEED_NORM_2, &difference));
  // Conditions of some thousand.
  CHECK(difference <= 1e5 * CEED_EPSILON * size && size > 0, "%g of %g beside %s", (double)difference,
        (double)size, RitzDirectKindName(kind));
  CeedVectorDestroy(&z);
  CeedVectorDestroy(&other);
}

TEST_EACH_BACKEND(poisson_problems_of_degree_two_have_the_solution_of_cholmod) {
  const bool has_cholmod = RitzDirectKindIsAvailable(RITZ_DIRECT_CHOLMOD, NULL);
  const RitzDirectKind kind = has_cholmod ? RITZ_DIRECT_CHOLMOD : RITZ_DIRECT_DENSE;
  const bool is_slow = tap_compiles_slowly(ceed);
  compare_with(ceed, 2, is_slow ? 5 : 14, kind);
  if (!tap_failed() && !is_slow) compare_with(ceed, 3, 4, kind);
}

// ---- Failures ----

TEST(every_failing_allocation_leaves_nothing_behind) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Sparse a = box(9, 8, 1);
  const RitzPattern pattern = pattern_of(&a);
  const int64_t live = ritz_memory_live();
  bool is_too_long, is_done = false;
  int num_failures = 0;
  for (; !is_done && num_failures < 300; num_failures++) {
    RitzMultifrontal m;
    int64_t bad;
    ritz_memory_fail_at(num_failures + 1);
    int ierr = ritz_multifrontal_create(ceed, &pattern, NULL, RITZ_ORDERING_OWN, 0, &m, &is_too_long);
    if (!ierr) {
      ierr = ritz_multifrontal_factorize(&m, a.values, &bad);
      is_done = ierr == 0;
      ritz_memory_fail_at(0);
      CHECK_OK(ritz_multifrontal_destroy(&m));
    }
    ritz_memory_fail_at(0);
    CHECK(ritz_memory_live() == live, "allocation %d", num_failures);
  }
  CHECK(is_done && num_failures > 20, "%d failures", num_failures);
  free_sparse(&a);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(systems_of_graphs_are_solved, large_fronts_are_factorized_in_blocks,
                        matrices_that_are_not_positive_definite_are_named,
                        more_work_than_wanted_is_refused_before_it_is_done, separators_keep_fill_small,
                        fronts_of_all_sizes_are_factorized_and_solved, wrong_calls_with_fronts_are_refused,
                        poisson_problems_of_degree_two_have_the_solution_of_cholmod,
                        every_failing_allocation_leaves_nothing_behind));
}
