// SPDX-License-Identifier: BSD-2-Clause
// Sparse factorizations by fronts (solver/multifrontal.h), L L^T and L D L^T: A x = b for graphs of meshes,
// random ones, disconnected ones, single entries and full matrices, with own orderings and METIS; indefinite
// ones, with inertias that are known; batches of fronts (ritz/front.h) against plain loops; finite elements
// of degree 2 against CHOLMOD.
#include "tests/tap.h"

#include "base/memory.h"
#include "base/metis.h"
#include "core/core.h"
#include "solver/direct.h"
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

// Three right-hand sides at once; x has the last one's solution.
static void check_solve(RitzMultifrontal *m, const Sparse *a, double *x) {
  enum { NUM = 3 };
  const size_t n = (size_t)a->n;
  double *b = calloc(NUM * n, sizeof(*b)), *all = calloc(NUM * n, sizeof(*all)), excess = INFINITY;
  uint64_t seed = 5;
  for (size_t i = 0; i < NUM * n; i++) b[i] = tap_uniform(&seed);
  const int ierr = ritz_multifrontal_solve(m, NUM, b, all);
  bool is_right = !ierr;
  for (size_t r = 0; r < NUM && is_right; r++) is_right = is_solution(a, all + r * n, b + r * n, &excess);
  memcpy(x, all + (NUM - 1) * n, n * sizeof(*x));
  free(all);
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
  const RitzMultifrontalOptions options = {.ordering = ordering};
  CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, &options, &m, &is_too_long));
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

// ---- L D L^T ----

static double *entry_of(const Sparse *a, int64_t i, int64_t j) {
  for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
    if (a->cols[k] == j) return &a->values[k];
  return NULL;
}

// Negative signs for the unknowns from `first` on, in a matrix that stays regular: [A B^T; B -C].
static Sparse quasi_definite(Sparse a, int64_t first) {
  for (int64_t i = first; i < a.n; i++)
    for (int64_t k = a.starts[i]; k < a.starts[i + 1]; k++)
      if (a.cols[k] >= first) a.values[k] *= -1;
  return a;
}

// Differences of five points on nx x ny points, minus `shift`: eigenvalues 4 - 2 cos - 2 cos - shift.
static Sparse shifted_poisson(int64_t nx, int64_t ny, double shift, int64_t *num_negative) {
  const int64_t n = nx * ny;
  double *full = calloc((size_t)(n * n), sizeof(*full));
  for (int64_t i = 0; i < n; i++) {
    full[i * n + i] = 4 - shift;
    if (i % nx > 0) full[i * n + i - 1] = full[(i - 1) * n + i] = -1;
    if (i >= nx) full[i * n + i - nx] = full[(i - nx) * n + i] = -1;
  }
  *num_negative = 0;
  for (int64_t i = 1; i <= nx; i++)
    for (int64_t j = 1; j <= ny; j++)
      *num_negative += 4 - 2 * cos(acos(-1) * (double)i / (double)(nx + 1)) -
                           2 * cos(acos(-1) * (double)j / (double)(ny + 1)) <
                       shift;
  return compress(n, full);
}

// num_negative: of the eigenvalues.
static void check_ldlt(Ceed ceed, Sparse a, int64_t num_negative) {
  const RitzMultifrontalOptions options = {.factors = RITZ_FRONT_LDLT, .ordering = RITZ_ORDERING_OWN};
  const RitzPattern pattern = pattern_of(&a);
  double *x = calloc((size_t)a.n, sizeof(*x));
  RitzMultifrontal m;
  bool is_too_long;
  int64_t bad;
  CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, &options, &m, &is_too_long));
  CHECK_OK(ritz_multifrontal_factorize(&m, a.values, &bad));
  CHECK(bad == -1 && m.num_replaced == 0, "unknown %lld is bad, %lld pivots replaced", (long long)bad,
        (long long)m.num_replaced);
  CHECK(m.num_negative == num_negative, "%lld negative pivots, not %lld", (long long)m.num_negative,
        (long long)num_negative);
  if (!tap_failed()) check_solve(&m, &a, x);
  CHECK_OK(ritz_multifrontal_destroy(&m));
  free(x);
  free_sparse(&a);
}

TEST_EACH_BACKEND(indefinite_systems_are_solved_and_their_inertia_is_known) {
  const bool is_slow = tap_compiles_slowly(ceed);
  int64_t num;
  check_ldlt(ceed, quasi_definite(box(13, 11, 1), 100), 43);
  for (int k = 0; k < (is_slow ? 1 : 3) && !tap_failed(); k++) {
    // Between eigenvalues: 0.5, 1.3, 2.1 are none.
    Sparse a = shifted_poisson(17, 12, 0.5 + 0.8 * k, &num);
    check_ldlt(ceed, a, num);
  }
  if (tap_failed() || is_slow) return;
  check_ldlt(ceed, quasi_definite(random_graph(150, 120, 3), 70), 80);
  if (!tap_failed()) check_ldlt(ceed, quasi_definite(box(7, 6, 8), 0), 7 * 6 * 8);
  if (!tap_failed()) check_ldlt(ceed, quasi_definite(random_graph(190, 80000, 7), 20), 170); // full
}

// The direct solver's way with a matrix.
static RitzMatrix matrix_of(Ceed ceed, const Sparse *a, int64_t *entries) {
  for (int64_t i = 0; i < a->n; i++) entries[i] = i;
  return (RitzMatrix){.ceed = ceed,
                      .length = a->n,
                      .n = a->n,
                      .entries = entries,
                      .starts = a->starts,
                      .cols = a->cols,
                      .values = a->values,
                      .num_comp = 1,
                      .comp_stride = 1,
                      .asymmetric = -1};
}

// words: part of what is told, of factors and of refusals.
static void check_direct(Ceed ceed, Sparse a, bool is_refused, bool is_refined, const char *words) {
  int64_t *entries = calloc((size_t)a.n, sizeof(*entries));
  double *b = calloc((size_t)a.n, sizeof(*b)), *x = calloc((size_t)a.n, sizeof(*x)), excess = 0;
  const RitzMatrix matrix = matrix_of(ceed, &a, entries);
  RitzFactorization f = {.methods = &ritz_direct_ldlt, .matrix = &matrix};
  uint64_t seed = 4;
  for (int64_t i = 0; i < a.n; i++) b[i] = tap_uniform(&seed);
  CHECK_OK(ritz_direct_ldlt.factorize(&f));
  CHECK((f.refusal == RITZ_REFUSED_MATRIX) == is_refused && strstr(f.words, words), "%s", f.words);
  CHECK(is_refused || f.keeps_matrix == is_refined, "%s", f.words);
  if (!is_refused && !tap_failed()) {
    CHECK_OK(ritz_direct_ldlt.solve(&f, b, x));
    CHECK(is_solution(&a, x, b, &excess), "residual %g times what is allowed", excess);
  }
  ritz_direct_ldlt.destroy(&f);
  free(entries);
  free(b);
  free(x);
  free_sparse(&a);
}

// [A B^T; B 0], B of single entries.
static Sparse saddle_point(int64_t num_primal, int64_t num_dual) {
  Sparse a = box(num_primal, 1, 1);
  const int64_t n = num_primal + num_dual;
  double *full = calloc((size_t)(n * n), sizeof(*full));
  for (int64_t i = 0; i < num_primal; i++)
    for (int64_t k = a.starts[i]; k < a.starts[i + 1]; k++) full[i * n + a.cols[k]] = a.values[k];
  for (int64_t j = 0; j < num_dual; j++) {
    const int64_t i = j * num_primal / num_dual;
    full[(num_primal + j) * n + i] = full[i * n + num_primal + j] = 1;
  }
  free_sparse(&a);
  return compress(n, full);
}

static Sparse singular(int64_t side) {
  Sparse a = box(side, side, 1);
  for (int64_t i = 0; i < a.n; i++) {
    double sum = 0;
    for (int64_t k = a.starts[i]; k < a.starts[i + 1]; k++) sum += a.cols[k] == i ? 0 : a.values[k];
    *entry_of(&a, i, i) = -sum;
  }
  return a;
}

TEST_EACH_BACKEND(direct_solvers_refine_or_refuse_what_static_pivots_cannot_do) {
  int64_t num;
  Sparse zero_column = random_graph(30, 0, 1);
  check_direct(ceed, shifted_poisson(9, 8, 1.3, &num), false, false, "0 replaced");
  if (!tap_failed()) check_direct(ceed, saddle_point(60, 12), false, true, "refined");
  if (!tap_failed()) check_direct(ceed, singular(8), true, false, "singular");
  zero_column.values[7] = 0;
  check_direct(ceed, zero_column, true, false, "singular");
}

// A level of fronts beyond what a block of columns holds.
TEST(metis_serves_callers_with_integers_of_its_size_alone) {
  const bool small = ritz_metis_function("METIS_NodeND", sizeof(int32_t)) != NULL;
  const bool large = ritz_metis_function("METIS_NodeND", sizeof(int64_t)) != NULL;

  CHECK(!small || !large, "a library has integers of one size");
  CHECK(!ritz_metis_function("METIS_NodeND", 1), "no METIS has integers of one byte");
  CHECK(!ritz_metis_function("METIS_Nothing", small ? sizeof(int32_t) : sizeof(int64_t)), "no such name");
}

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
    const RitzMultifrontalOptions options = {.ordering = RITZ_ORDERING_OWN};
    CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, &options, &m, &is_too_long));
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
  const RitzMultifrontalOptions options = {.ordering = RITZ_ORDERING_OWN, .max_flops = 100};
  CHECK_OK(ritz_multifrontal_create(ceed, &pattern, NULL, &options, &m, &is_too_long));
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
  int count, max_d1, max_d2;
  CeedScalarType precision;
  double u; // twice its roundoff
  int32_t d1[NUM_FRONTS], d2[NUM_FRONTS], ld[NUM_FRONTS];
  int64_t panel[NUM_FRONTS], update[NUM_FRONTS], x[NUM_FRONTS];
  int64_t num, num_x;
} Shapes;

// Panel and update lie in one matrix of each front, whose leading dimension is larger.
static Shapes make_shapes(CeedScalarType precision, int count, int max_d1, int max_d2) {
  Shapes s = {.count = count, .max_d1 = max_d1, .max_d2 = max_d2, .precision = precision};
  s.u = precision == CEED_SCALAR_FP32 ? FLT_EPSILON : DBL_EPSILON;
  for (int i = 0; i < count; i++) {
    s.d1[i] = i % 7 == 3 ? 0 : (5 * i + max_d1 / 2) % (max_d1 + 1);
    s.d2[i] = i % 5 == 2 ? 0 : (3 * i + max_d2 / 2) % (max_d2 + 1);
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

// Entry (r, c) of L, with D beside it.
static double factor(const Shapes *s, RitzFrontFactors factors, const double *after, int i, int64_t r,
                     int64_t c) {
  return factors == RITZ_FRONT_LDLT && r == c ? 1 : entry(s, after, i, r, c);
}

// L D L^T + [0 0; 0 F22] = A, lower triangles; the rest is as it was.
static double front_error(const Shapes *s, RitzFrontFactors factors, int i, const double *before,
                          const double *after) {
  const int64_t d1 = s->d1[i], n = d1 + s->d2[i];
  double error = 0;
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = c; r < n; r++) {
      double sum = c < d1 ? 0 : entry(s, after, i, r, c);
      for (int64_t k = 0; k <= c && k < d1; k++)
        sum += factor(s, factors, after, i, r, k) * factor(s, factors, after, i, c, k) *
               (factors == RITZ_FRONT_LDLT ? entry(s, after, i, k, k) : 1);
      error = tap_larger(error, fabs(sum - entry(s, before, i, r, c)));
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
  if (ritz_front_memory_alloc(lent->ceed, num_bytes, p) ||
      ritz_front_memory_upload(lent->ceed, num_bytes, host, *p))
    return NULL;
  return *p;
}

// Numbers that are double here and of the precision there.
static int write_numbers(Ceed ceed, const Shapes *s, int64_t num, const double *host, void *p) {
  if (s->precision == CEED_SCALAR_FP64)
    return ritz_front_memory_upload(ceed, (size_t)num * sizeof(*host), host, p);
  float *copy = calloc((size_t)num, sizeof(*copy));
  for (int64_t k = 0; k < num; k++) copy[k] = (float)host[k];
  const int ierr = ritz_front_memory_upload(ceed, (size_t)num * sizeof(*copy), copy, p);
  free(copy);
  return ierr;
}

static int read_numbers(Ceed ceed, const Shapes *s, int64_t num, const void *p, double *host) {
  if (s->precision == CEED_SCALAR_FP64)
    return ritz_front_memory_download(ceed, (size_t)num * sizeof(*host), p, host);
  float *copy = calloc((size_t)num, sizeof(*copy));
  const int ierr = ritz_front_memory_download(ceed, (size_t)num * sizeof(*copy), p, copy);
  for (int64_t k = 0; k < num; k++) host[k] = copy[k];
  free(copy);
  return ierr;
}

static void *lend_numbers(Lent *lent, const Shapes *s, int64_t num, const double *host) {
  void **p = &lent->p[lent->num++];
  if (ritz_front_memory_alloc(lent->ceed, (size_t)num * ritz_scalar_bytes(s->precision), p)) return NULL;
  return write_numbers(lent->ceed, s, num, host, *p) ? NULL : *p;
}

static void give_back(Lent *lent) {
  for (int k = 0; k < lent->num; k++) ritz_front_memory_free(lent->ceed, &lent->p[k]);
}

static RitzFrontArrays lend_shapes(Lent *lent, const Shapes *s, const double *all) {
  RitzFrontArrays a = {.d1 = lend(lent, sizeof(s->d1), s->d1), .d2 = lend(lent, sizeof(s->d2), s->d2)};
  a.panel_lds = a.update_lds = lend(lent, sizeof(s->ld), s->ld);
  a.panel_offsets = lend(lent, sizeof(s->panel), s->panel);
  a.update_offsets = lend(lent, sizeof(s->update), s->update);
  a.panels = a.updates = lend_numbers(lent, s, s->num, all);
  return a;
}

// Diagonally dominant; indefinite ones have signs by turns.
static double *random_fronts(const Shapes *s, RitzFrontFactors factors) {
  double *all = calloc((size_t)s->num, sizeof(*all));
  uint64_t seed = 8;
  for (int64_t k = 0; k < s->num; k++) all[k] = (float)tap_uniform(&seed); // of either precision
  for (int i = 0; i < s->count; i++)
    for (int64_t c = 0; c < s->d1[i]; c++)
      all[s->panel[i] + c * (s->ld[i] + 1)] =
          (4 + s->d1[i] + s->d2[i]) * (factors == RITZ_FRONT_LDLT && (c + i) % 3 == 0 ? -1 : 1);
  return all;
}

static void check_factors(const Shapes *s, RitzFrontFactors factors, const double *before,
                          const double *after, const int32_t *info) {
  for (int i = 0; i < s->count; i++) {
    const double error = front_error(s, factors, i, before, after);
    CHECK(info[i] == 0, "front %d: info %d", i, (int)info[i]);
    // 10 n u |A|_1, which is at most 2 n
    const double n = s->max_d1 + s->max_d2;
    CHECK(error <= 20 * n * n * s->u, "front %d of %d + %d: error %g", i, (int)s->d1[i], (int)s->d2[i],
          error);
  }
}

// A front x = L^-1 b is what Forward makes, and Backward the same with L^T: both together solve F11 x1 = b1
// where b2 = 0 and the x2 of Backward is zero.
static void check_solutions(const Shapes *s, const double *before, const double *x, const double *b) {
  const double n = s->max_d1 + s->max_d2;
  for (int i = 0; i < s->count; i++) {
    for (int64_t r = 0; r < s->d1[i]; r++) {
      double sum = -b[s->x[i] + r];
      for (int64_t c = 0; c < s->d1[i]; c++)
        sum += entry(s, before, i, r > c ? r : c, r > c ? c : r) * x[s->x[i] + c];
      CHECK(fabs(sum) <= 10 * n * n * s->u, "front %d, row %d: residual %g", i, (int)r, sum);
    }
  }
}

enum { NUM_RHS = 2 };

// Two right-hand sides, one behind the other.
static void check_solves(RitzFront front, RitzFrontFactors factors, const Shapes *s,
                         const RitzFrontArrays *arrays, const double *before, const double *after) {
  Ceed ceed = front->ceed;
  const int64_t num = NUM_RHS * s->num_x;
  double *b = calloc(NUM_RHS * (size_t)s->num_x, sizeof(*b)),
         *x = calloc(NUM_RHS * (size_t)s->num_x, sizeof(*x));
  Lent lent = {.ceed = ceed};
  uint64_t seed = 2;
  for (int r = 0; r < NUM_RHS; r++)
    for (int i = 0; i < s->count; i++)
      for (int64_t k = 0; k < s->d1[i]; k++) b[r * s->num_x + s->x[i] + k] = (float)tap_uniform(&seed);
  void *vector = lend_numbers(&lent, s, num, b);
  const int64_t *places = lend(&lent, sizeof(s->x), s->x);
  CHECK_OK(RitzFrontForwardBatched(front, s->count, arrays, NUM_RHS, vector, places, s->num_x));
  CHECK_OK(read_numbers(ceed, s, num, vector, x));
  for (int r = 0; r < NUM_RHS; r++)
    for (int i = 0; i < s->count; i++) {
      double *of_front = x + r * s->num_x + s->x[i];
      for (int64_t k = s->d1[i]; k < s->d1[i] + s->d2[i]; k++) {
        double sum = 0; // x2 = -L21 x1
        for (int64_t c = 0; c < s->d1[i]; c++) sum -= factor(s, factors, after, i, k, c) * of_front[c];
        CHECK(fabs(sum - of_front[k]) <= 1e3 * s->u, "front %d: %g, not %g", i, of_front[k], sum);
        of_front[k] = 0;
      }
    }
  CHECK_OK(write_numbers(ceed, s, num, x, vector));
  CHECK_OK(RitzFrontBackwardBatched(front, s->count, arrays, NUM_RHS, vector, places, s->num_x));
  CHECK_OK(read_numbers(ceed, s, num, vector, x));
  for (int r = 0; r < NUM_RHS; r++) check_solutions(s, before, x + r * s->num_x, b + r * s->num_x);
  give_back(&lent);
  free(b);
  free(x);
}

static void check_fronts(Ceed ceed, RitzFrontFactors factors, const Shapes *s) {
  double *before = random_fronts(s, factors), *after = calloc((size_t)s->num, sizeof(*after));
  int32_t info[NUM_FRONTS];
  Lent lent = {.ceed = ceed};
  RitzFront front = NULL;
  memset(info, 1, sizeof(info));
  const RitzFrontArrays arrays = lend_shapes(&lent, s, before);
  int32_t *infos = lend(&lent, sizeof(info), info);
  CHECK_OK(RitzFrontCreate(ceed, factors, s->precision, s->max_d1, s->max_d2, &front));
  CHECK_OK(RitzFrontBatched(front, s->count, &arrays, infos));
  CHECK_OK(read_numbers(ceed, s, s->num, arrays.panels, after));
  CHECK_OK(ritz_front_memory_download(ceed, sizeof(info), infos, info));
  check_factors(s, factors, before, after, info);
  if (!tap_failed()) check_solves(front, factors, s, &arrays, before, after);
  CHECK_OK(RitzFrontDestroy(&front));
  give_back(&lent);
  free(before);
  free(after);
}

TEST_EACH_BACKEND(fronts_of_all_sizes_are_factorized_and_solved) {
  const Shapes small = make_shapes(CEED_SCALAR_FP64, NUM_FRONTS, MAX_D1, MAX_D2),
               large = make_shapes(CEED_SCALAR_FP64, 4, 150, 190);
  check_fronts(ceed, RITZ_FRONT_CHOLESKY, &small);
  if (!tap_failed()) check_fronts(ceed, RITZ_FRONT_LDLT, &small);
  // Panels behind panels.
  if (!tap_failed()) check_fronts(ceed, RITZ_FRONT_LDLT, &large);
  if (!tap_failed()) check_fronts(ceed, RITZ_FRONT_CHOLESKY, &large);
}

TEST_EACH_BACKEND(fronts_in_float_are_factorized_and_solved) {
  const Shapes s = make_shapes(CEED_SCALAR_FP32, 9, 4, 3);
  check_fronts(ceed, RITZ_FRONT_CHOLESKY, &s);
}

// A kernel that reads such memory would end the context of a device.
TEST_EACH_BACKEND(fronts_in_memory_of_the_host_are_refused_on_devices) {
  Shapes s = make_shapes(CEED_SCALAR_FP64, 2, 4, 3);
  double x[16] = {0};
  int32_t info[NUM_FRONTS];
  RitzFront front = NULL;
  Lent lent = {.ceed = ceed};
  CeedMemType mem_type;
  CHECK_OK(CeedGetPreferredMemType(ceed, &mem_type));
  if (mem_type == CEED_MEM_HOST) NOT_FOR_THIS_BACKEND("has the host's memory");
  double *all = random_fronts(&s, RITZ_FRONT_CHOLESKY);
  const RitzFrontArrays good = lend_shapes(&lent, &s, all);
  RitzFrontArrays bad = good;
  CHECK_OK(RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, s.max_d1, s.max_d2, &front));
  CHECK_ERROR(ceed, RitzFrontBatched(front, 2, &good, info), CEED_ERROR_BACKEND, "RitzFrontBatched");
  bad.updates = all;
  CHECK_ERROR(ceed, RitzFrontBatched(front, 2, &bad, NULL), CEED_ERROR_BACKEND, "RitzFrontBatched");
  bad = good, bad.panel_offsets = s.panel;
  CHECK_ERROR(ceed, RitzFrontBatched(front, 2, &bad, NULL), CEED_ERROR_BACKEND, "RitzFrontBatched");
  CHECK_ERROR(ceed, RitzFrontForwardBatched(front, 2, &good, 1, x, good.panel_offsets, 16),
              CEED_ERROR_BACKEND, "RitzFrontForwardBatched");
  CHECK_OK(RitzFrontDestroy(&front));
  give_back(&lent);
  free(all);
}

// Pivots 2, 0, 1e-12, -1e-12, NaN: d1 = 1 each.
TEST_EACH_BACKEND(small_pivots_are_replaced_and_counted) {
  double panels[5] = {2, 0, 1e-12, -1e-12, (double)NAN};
  const double wanted[4] = {2, 1e-8, 1e-8, -1e-8};
  int32_t d1[5] = {1, 1, 1, 1, 1}, d2[5] = {0}, ld[5] = {1, 1, 1, 1, 1}, info[5];
  int64_t offsets[5] = {0, 1, 2, 3, 4};
  Lent lent = {.ceed = ceed};
  RitzFront front = NULL;
  RitzFrontArrays a = {.d1 = lend(&lent, sizeof(d1), d1), .d2 = lend(&lent, sizeof(d2), d2)};
  a.panel_lds = a.update_lds = lend(&lent, sizeof(ld), ld);
  a.panel_offsets = a.update_offsets = lend(&lent, sizeof(offsets), offsets);
  a.panels = lend(&lent, sizeof(panels), panels);
  int32_t *infos = lend(&lent, sizeof(info), d1);
  CHECK_OK(RitzFrontCreate(ceed, RITZ_FRONT_LDLT, CEED_SCALAR_FP64, 1, 0, &front));
  CHECK_OK(RitzFrontBatched(front, 2, &a, infos));
  CHECK_OK(ritz_front_memory_download(ceed, sizeof(info), infos, info));
  CHECK(info[0] == 0 && info[1] == 1, "%d %d", (int)info[0], (int)info[1]);
  CHECK_OK(RitzFrontSetSmallestPivot(front, 1e-8));
  CHECK_OK(RitzFrontBatched(front, 5, &a, infos));
  CHECK_OK(ritz_front_memory_download(ceed, sizeof(info), infos, info));
  CHECK_OK(ritz_front_memory_download(ceed, sizeof(panels), a.panels, panels));
  for (int i = 0; i < 4; i++)
    CHECK(panels[i] == wanted[i] && info[i] == -(i > 0), "pivot %d: %g, info %d", i, panels[i], (int)info[i]);
  CHECK(info[4] == 1, "NaN: info %d", (int)info[4]);
  CHECK_OK(RitzFrontDestroy(&front));
  give_back(&lent);
}

TEST(wrong_calls_with_fronts_are_refused) {
  Ceed ceed = tap_ceed("/cpu/self/gen");
  Shapes s = make_shapes(CEED_SCALAR_FP64, NUM_FRONTS, MAX_D1, MAX_D2);
  double *all = random_fronts(&s, RITZ_FRONT_CHOLESKY), *kept = calloc((size_t)s.num, sizeof(*kept));
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
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, -1, 2, &front),
              CEED_ERROR_DIMENSION, "-1");
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, (CeedScalarType)7, 1, 2, &front),
              CEED_ERROR_UNSUPPORTED, "7");
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, (RitzFrontFactors)5, CEED_SCALAR_FP64, 1, 2, &front),
              CEED_ERROR_UNSUPPORTED, "5");
  CHECK_ERROR(ceed, RitzFrontCreate(ceed, RITZ_FRONT_LDLT, CEED_SCALAR_FP32, 1, 2, &front),
              CEED_ERROR_UNSUPPORTED, "float");
  CHECK_OK(RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, 0, MAX_D2, &front));
  CHECK_OK(RitzFrontBatched(front, NUM_FRONTS, &arrays, info));
  CHECK(info[1] < 0 && info[3] == 0, "bounds 0 + %d: %d %d", MAX_D2, (int)info[1], (int)info[3]);
  CHECK(!memcmp(all, kept, (size_t)s.num * sizeof(*all)), "fronts beyond a bound of 0 columns were changed");
  CHECK_OK(RitzFrontDestroy(&front));
  CHECK_OK(RitzFrontCreate(ceed, RITZ_FRONT_CHOLESKY, CEED_SCALAR_FP64, MAX_D1, MAX_D2, &front));
  CHECK_ERROR(ceed, RitzFrontSetSmallestPivot(front, 1e-8), CEED_ERROR_INCOMPATIBLE, "Cholesky");
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

// Three vectors, 1, 2 and 3 times r, at once: z = P r times as much.
static int check_many(RitzPreconditioner pc, CeedSize length, CeedVector r, CeedVector z) {
  enum { NUM = 3 };
  CeedVector many_r[NUM] = {NULL}, many_z[NUM] = {NULL};
  CeedScalar size = 0, difference = 0;
  int ierr = CeedVectorNorm(z, CEED_NORM_2, &size);
  for (int k = 0; k < NUM && !ierr; k++) {
    ierr = CeedVectorCreate(r->obj.ceed, length, &many_r[k]);
    if (!ierr) ierr = CeedVectorCreate(r->obj.ceed, length, &many_z[k]);
    if (!ierr) ierr = CeedVectorCopy(r, many_r[k]);
    if (!ierr) ierr = CeedVectorScale(many_r[k], k + 1);
  }
  if (!ierr) ierr = RitzPreconditionerApplyMany(pc, NUM, many_r, many_z);
  for (int k = 0; k < NUM && !ierr; k++) {
    ierr = CeedVectorAXPY(many_z[k], -(k + 1), z);
    if (!ierr) ierr = CeedVectorNorm(many_z[k], CEED_NORM_2, &difference);
    if (!ierr && !(difference <= 1e3 * CEED_EPSILON * size)) ierr = CEED_ERROR_MAJOR;
  }
  for (int k = 0; k < NUM; k++) {
    CeedVectorDestroy(&many_r[k]);
    CeedVectorDestroy(&many_z[k]);
  }
  return ierr;
}

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
  if (!ierr) ierr = check_many(pc, length, r, *z);
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
  const RitzMultifrontalOptions options = {.factors = RITZ_FRONT_LDLT, .ordering = RITZ_ORDERING_OWN};
  bool is_too_long, is_done = false;
  int num_failures = 0;
  for (; !is_done && num_failures < 300; num_failures++) {
    RitzMultifrontal m;
    int64_t bad;
    ritz_memory_fail_at(num_failures + 1);
    int ierr = ritz_multifrontal_create(ceed, &pattern, NULL, &options, &m, &is_too_long);
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
  return tap_main(
      argc, argv,
      TESTS(systems_of_graphs_are_solved, metis_serves_callers_with_integers_of_its_size_alone,
            large_fronts_are_factorized_in_blocks, matrices_that_are_not_positive_definite_are_named,
            more_work_than_wanted_is_refused_before_it_is_done, separators_keep_fill_small,
            indefinite_systems_are_solved_and_their_inertia_is_known,
            direct_solvers_refine_or_refuse_what_static_pivots_cannot_do,
            small_pivots_are_replaced_and_counted, fronts_of_all_sizes_are_factorized_and_solved,
            fronts_in_float_are_factorized_and_solved, fronts_in_memory_of_the_host_are_refused_on_devices,
            wrong_calls_with_fronts_are_refused, poisson_problems_of_degree_two_have_the_solution_of_cholmod,
            every_failing_allocation_leaves_nothing_behind));
}
