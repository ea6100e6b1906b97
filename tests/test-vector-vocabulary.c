// SPDX-License-Identifier: BSD-2-Clause
// Products, sums, sets of entries, scalars (ritz/vector.h) and passes (core/vector-pass.h), against plain
// loops in extended precision.
#include "base/memory.h"
#include "core/vector-pass.h"
#include "tests/precision-kit.h"
#include "tests/reference.h"

enum { MAX_VECTORS = 17 };
static const int64_t lengths[] = {1, 7, 64, 67, 513, 3001, 40001}; // the last one is shared by threads
enum { NUM_LENGTHS = sizeof(lengths) / sizeof(lengths[0]), SHORT = 67 };

// Vectors of one precision and what they hold.
typedef struct {
  CeedSize n;
  CeedScalarType precision;
  int num;
  CeedVector vec[MAX_VECTORS];
  double *values[MAX_VECTORS];
} Set;

// Of those that are tested with forms of their own; random passes mix both.
static int first_precision(Ceed ceed) {
  return tap_compiles_slowly(ceed) && tap_level() < TAP_FULL ? NUM_PRECISIONS - 1 : 0;
}

static double unit_of(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

static bool make_set(Ceed ceed, CeedScalarType precision, CeedSize n, int num, uint64_t seed, Set *s) {
  *s = (Set){.n = n, .precision = precision, .num = num};
  for (int i = 0; i < num; i++) {
    s->values[i] = malloc((size_t)n * sizeof(double));
    for (CeedSize k = 0; k < n; k++) {
      const double value = tap_uniform(&seed);
      s->values[i][k] = precision == CEED_SCALAR_FP32 ? (double)(float)value : value;
    }
    s->vec[i] = precise_vector(ceed, precision, n, s->values[i]);
    if (!s->vec[i]) return false;
  }
  return true;
}

static void free_set(Set *s) {
  for (int i = 0; i < s->num; i++) {
    CeedVectorDestroy(&s->vec[i]);
    free(s->values[i]);
  }
}

// x . y over entries, and what rounding may make of it: terms are rounded once, sums are compensated.
static double dot_of(const Set *s, int x, int y, CeedSize first, CeedSize num, double *tolerance) {
  long double sum = 0, size = 0;

  for (CeedSize i = first; i < first + num; i++) {
    sum += (long double)s->values[x][i] * s->values[y][i];
    size += fabsl((long double)s->values[x][i] * s->values[y][i]);
  }
  *tolerance = (double)(10 * DBL_EPSILON * size);
  return (double)sum;
}

// ---- Products ----

static void check_dots(Ceed ceed, CeedScalarType precision, CeedSize n) {
  double result, again, wanted, tolerance;
  Set s;

  CHECK(make_set(ceed, precision, n, 2, (uint64_t)n, &s), "no vectors");
  CHECK_OK(RitzVectorDot(s.vec[0], s.vec[1], &result));
  wanted = dot_of(&s, 0, 1, 0, n, &tolerance);
  CHECK_NEAR(result, wanted, tolerance, "of %d entries", (int)n);
  CHECK_OK(RitzVectorDot(s.vec[0], s.vec[1], &again));
  CHECK(result == again, "another result the second time: %.17g, %.17g", result, again);
  CHECK_OK(RitzVectorDot(s.vec[0], s.vec[0], &result));
  wanted = dot_of(&s, 0, 0, 0, n, &tolerance);
  CHECK_NEAR(result, wanted, tolerance, "square of %d entries", (int)n);
  for (CeedSize first = 0; first <= n && first < 4; first++) {
    const CeedSize num = n - first - (first > 1 && n > first);
    CHECK_OK(RitzVectorDotRange(s.vec[0], s.vec[1], first, num, &result));
    wanted = dot_of(&s, 0, 1, first, num, &tolerance);
    CHECK_NEAR(result, wanted, tolerance, "%d entries from %d on", (int)num, (int)first);
  }
  free_set(&s);
}

TEST_EACH_BACKEND(products_are_those_of_extended_precision) {
  for (int p = first_precision(ceed); p < NUM_PRECISIONS; p++) {
    for (int i = 0; i < NUM_LENGTHS && !tap_failed(); i++) check_dots(ceed, precisions[p], lengths[i]);
  }
}

// 1, then many numbers that vanish beside it one by one, then -1.
TEST_EACH_BACKEND(small_terms_beside_large_ones_are_not_lost) {
  enum { N = 20000 };
  double *values = malloc(N * sizeof(double)), result;
  CeedVector x, ones;

  for (int i = 0; i < N; i++) values[i] = i == 0 ? 1 : i == N - 1 ? -1 : eps / 4;
  x = reference_vector(ceed, N, values);
  for (int i = 0; i < N; i++) values[i] = 1;
  ones = reference_vector(ceed, N, values);
  free(values);
  CHECK(x && ones, "no vectors");
  CHECK_OK(RitzVectorDot(x, ones, &result));
  CHECK_NEAR(result, (N - 2) * eps / 4, 10 * DBL_EPSILON * 2, "sum");
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&ones);
}

TEST_EACH_BACKEND(products_of_many_vectors_are_those_of_each) {
  static const int numbers[] = {0, 1, 3, 9, 16};
  double results[MAX_VECTORS], wanted, tolerance;
  Set s;

  CHECK(make_set(ceed, CEED_SCALAR_TYPE, 600, MAX_VECTORS, 4, &s), "no vectors");
  for (int k = 0; k < 5; k++) {
    CHECK_OK(RitzVectorDots(numbers[k], s.vec, s.vec[MAX_VECTORS - 1], results));
    for (int i = 0; i < numbers[k]; i++) {
      wanted = dot_of(&s, i, MAX_VECTORS - 1, 0, s.n, &tolerance);
      CHECK_NEAR(results[i], wanted, tolerance, "%d of %d", i, numbers[k]);
    }
  }
  // Vectors may appear several times, y among them.
  const CeedVector twice[] = {s.vec[0], s.vec[1], s.vec[0], s.vec[2]};
  CHECK_OK(RitzVectorDots(4, twice, s.vec[1], results));
  CHECK(results[0] == results[2], "the same vector");
  wanted = dot_of(&s, 1, 1, 0, s.n, &tolerance);
  CHECK_NEAR(results[1], wanted, tolerance, "y . y");
  free_set(&s);
}

// ---- Sums ----

static void check_values(const char *what, const Set *s, int vector, const double *wanted, double size) {
  double *found = malloc((size_t)s->n * sizeof(double));
  const int ierr = get_values(s->vec[vector], found);
  const bool agree = !ierr && values_agree(s->n, found, wanted, size * unit_of(s->precision));
  free(found);
  CHECK_OK(ierr);
  CHECK(agree, "%s", what);
}

// w = alpha x + beta y for all that may be the same vector.
static void check_sums(Ceed ceed, CeedScalarType precision) {
  static const int choices[][3] = {{2, 0, 1}, {0, 0, 1}, {1, 0, 1}, {2, 0, 0}, {0, 0, 0}};
  static const double factors[][2] = {{0.75, -1.5}, {-2, 0}, {0, 3}};
  double wanted[SHORT];

  for (int c = 0; c < 5; c++) {
    for (int f = 0; f < 3 && !tap_failed(); f++) {
      const int *of = choices[c];
      Set s;
      CHECK(make_set(ceed, precision, SHORT, 3, 9, &s), "no vectors");
      for (int i = 0; i < SHORT; i++)
        wanted[i] = factors[f][0] * s.values[of[1]][i] + factors[f][1] * s.values[of[2]][i];
      CHECK_OK(RitzVectorSum(s.vec[of[0]], factors[f][0], s.vec[of[1]], factors[f][1], s.vec[of[2]]));
      check_values("sum", &s, of[0], wanted, 8);
      free_set(&s);
    }
  }
}

TEST_EACH_BACKEND(sums_may_overwrite_any_of_their_vectors) {
  for (int p = first_precision(ceed); p < NUM_PRECISIONS && !tap_failed(); p++)
    check_sums(ceed, precisions[p]);
}

TEST_EACH_BACKEND(a_factor_of_zero_leaves_its_vector_out) {
  const double bad[3] = {NAN, INFINITY, -INFINITY}, good[3] = {1, 2, 3};
  CeedVector x = reference_vector(ceed, 3, good), y = reference_vector(ceed, 3, bad), w = NULL;
  double values[3];

  CHECK(x && y, "no vectors");
  CHECK_OK(CeedVectorCreate(ceed, 3, &w)); // without values
  CHECK_OK(RitzVectorSum(w, 2, x, 0, y));
  CHECK_OK(get_values(w, values));
  for (int i = 0; i < 3; i++) CHECK(values[i] == 2 * good[i], "entry %d is %g", i, values[i]);
  CHECK_OK(RitzVectorSum(w, 0, y, 3, x));
  CHECK_OK(get_values(w, values));
  for (int i = 0; i < 3; i++) CHECK(values[i] == 3 * good[i], "entry %d is %g", i, values[i]);
  CHECK_OK(RitzVectorSum(w, -1, x, 0, CEED_VECTOR_NONE));
  CHECK_OK(RitzVectorSum(w, 2, w, 0, w));
  CHECK_OK(get_values(w, values));
  for (int i = 0; i < 3; i++) CHECK(values[i] == -2 * good[i], "entry %d is %g", i, values[i]);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
  CeedVectorDestroy(&w);
}

TEST_EACH_BACKEND(many_vectors_are_added_in_any_number) {
  static const int numbers[] = {0, 1, 3, 15};
  const double alpha[] = {1, -0.5, 0.25, 2, 0, -1, 0.125, 3, 1, -2, 0.5, 0, 1, -1, 0.75};
  double wanted[SHORT];

  for (int k = 0; k < 4; k++) {
    Set s;
    CHECK(make_set(ceed, CEED_SCALAR_TYPE, SHORT, 16, 5, &s), "no vectors");
    for (int i = 0; i < SHORT; i++) {
      wanted[i] = s.values[15][i];
      for (int j = 0; j < numbers[k]; j++) wanted[i] += alpha[j] * s.values[j][i];
    }
    CHECK_OK(RitzVectorAXPYs(s.vec[15], numbers[k], alpha, s.vec));
    check_values("sum of many", &s, 15, wanted, 100);
    free_set(&s);
  }
}

static void check_products(Ceed ceed, CeedScalarType precision) {
  static const double alphas[] = {1, -0.5, 0};
  double wanted[SHORT];

  for (int k = 0; k < 6 && !tap_failed(); k++) {
    const int d = k < 3 ? 1 : 2; // both are x
    const double alpha = alphas[k % 3];
    Set s;
    CHECK(make_set(ceed, precision, SHORT, 3, 8, &s), "no vectors");
    for (int i = 0; i < SHORT; i++) wanted[i] = s.values[0][i] + alpha * s.values[d][i] * s.values[2][i];
    CHECK_OK(RitzVectorAddProduct(s.vec[0], alpha, s.vec[d], s.vec[2]));
    check_values("product", &s, 0, wanted, 8);
    check_values("the diagonal", &s, d, s.values[d], 0);
    free_set(&s);
  }
}

TEST_EACH_BACKEND(a_diagonal_matrix_times_a_vector_is_added) {
  for (int p = first_precision(ceed); p < NUM_PRECISIONS && !tap_failed(); p++)
    check_products(ceed, precisions[p]);
}

// ---- Ranges and sets ----

TEST_EACH_BACKEND(ranges_are_copied_between_vectors_of_any_length) {
  for (int p = 0; p < NUM_PRECISIONS; p++) {
    double x[9], y[6] = {-1, -2, -3, -4, -5, -6}, found[6];
    for (int i = 0; i < 9; i++) x[i] = i;
    CeedVector from = precise_vector(ceed, precisions[p], 9, x),
               to = precise_vector(ceed, precisions[p], 6, y);
    CeedVector fresh = precise_vector(ceed, precisions[p], 6, NULL);
    CHECK(from && to && fresh, "no vectors");
    CHECK_OK(RitzVectorCopyRange(from, 4, 3, to, 1));
    CHECK_OK(RitzVectorCopyRange(from, 9, 0, to, 6));
    CHECK_OK(get_values(to, found));
    for (int i = 0; i < 6; i++) CHECK(found[i] == (i >= 1 && i < 4 ? i + 3 : y[i]), "entry %d", i);
    CHECK_OK(RitzVectorCopyRange(from, 2, 6, fresh, 0)); // all of it: no values are needed
    CHECK_OK(get_values(fresh, found));
    for (int i = 0; i < 6; i++) CHECK(found[i] == i + 2, "entry %d", i);
    CeedVectorDestroy(&from);
    CeedVectorDestroy(&to);
    CeedVectorDestroy(&fresh);
  }
}

TEST_EACH_BACKEND(sets_are_sorted_and_without_duplicates) {
  const int64_t given[] = {7, 3, 3, 0, 12, 7}, wanted[] = {0, 3, 7, 12}, *entries = NULL;
  RitzIndices set = NULL, copy = NULL;
  int64_t num = -1;

  CHECK_OK(RitzIndicesCreate(ceed, 6, given, &set));
  CHECK_OK(RitzIndicesReferenceCopy(set, &copy));
  CHECK_OK(RitzIndicesDestroy(&set));
  CHECK(!set, "the handle is kept");
  CHECK_OK(RitzIndicesGet(copy, &num, &entries));
  CHECK(num == 4, "%d entries", (int)num);
  for (int i = 0; i < 4; i++) CHECK(entries[i] == wanted[i], "entry %d", i);
  CHECK_OK(RitzIndicesDestroy(&copy));
}

static void check_entries(Ceed ceed, CeedScalarType precision, RitzIndices set, const bool *is_member) {
  double found[SHORT];
  CeedScalar some[SHORT]; // exact in both precisions
  Set s;

  for (int k = 0; k < SHORT; k++) some[k] = (CeedScalar)(0.25 * (k + 3));
  CHECK(make_set(ceed, precision, SHORT, 2, 6, &s), "no vectors");
  CHECK_OK(RitzVectorCopyEntries(s.vec[0], set, s.vec[1]));
  CHECK_OK(get_values(s.vec[1], found));
  for (int i = 0; i < SHORT; i++) CHECK(found[i] == s.values[is_member[i] ? 0 : 1][i], "copied: entry %d", i);
  CHECK_OK(RitzVectorSetEntries(s.vec[0], set, 0.5));
  CHECK_OK(get_values(s.vec[0], found));
  for (int i = 0; i < SHORT; i++)
    CHECK(found[i] == (is_member[i] ? 0.5 : s.values[0][i]), "set: entry %d", i);
  CHECK_OK(RitzVectorSetEntryValues(s.vec[1], set, some));
  CHECK_OK(get_values(s.vec[1], found));
  for (int i = 0, k = 0; i < SHORT; i++)
    CHECK(found[i] == (is_member[i] ? (double)some[k++] : s.values[1][i]), "set to its own value: entry %d",
          i);
  CHECK_OK(RitzVectorSetEntries(s.vec[0], NULL, 1));
  CHECK_OK(RitzVectorSetEntryValues(s.vec[0], NULL, some));
  CHECK_OK(RitzVectorCopyEntries(s.vec[0], NULL, s.vec[1]));
  free_set(&s);
}

// A set serves vectors of other contexts than its own.
TEST_EACH_BACKEND(entries_of_a_set_are_written_and_no_others) {
  const int64_t entries[] = {66, 0, 5, 64, 5};
  bool is_member[SHORT] = {[0] = true, [5] = true, [64] = true, [66] = true};
  const bool none[SHORT] = {false};
  Ceed other = tap_ceed("/cpu/self/ref");
  RitzIndices sets[3] = {NULL};

  CHECK_OK(RitzIndicesCreate(ceed, 5, entries, &sets[0]));
  CHECK_OK(RitzIndicesCreate(other, 5, entries, &sets[1]));
  CHECK_OK(RitzIndicesCreate(ceed, 0, NULL, &sets[2]));
  for (int p = 0; p < NUM_PRECISIONS && !tap_failed(); p++) {
    check_entries(ceed, precisions[p], sets[0], is_member);
    check_entries(ceed, precisions[p], sets[1], is_member);
    check_entries(ceed, precisions[p], sets[2], none);
    check_entries(other, precisions[p], sets[0], is_member);
  }
  for (int i = 0; i < 3; i++) CHECK_OK(RitzIndicesDestroy(&sets[i]));
  CeedDestroy(&other);
}

// ---- Scalars ----

TEST_EACH_BACKEND(scalars_begin_with_zeros_and_keep_what_they_get) {
  const double given[] = {1.5, -2.25};
  double values[5] = {9, 9, 9, 9, 9};
  RitzScalars scalars = NULL;

  CHECK_OK(RitzScalarsCreate(ceed, 5, &scalars));
  CHECK_OK(RitzScalarsSet(scalars, 2, 2, given));
  CHECK_OK(RitzScalarsGet(scalars, 0, 5, values));
  for (int i = 0; i < 5; i++) CHECK(values[i] == (i == 2 || i == 3 ? given[i - 2] : 0), "number %d", i);
  CHECK_OK(RitzScalarsDestroy(&scalars));
  CHECK(!scalars, "the handle is kept");
}

// y = f x + g y with factors out of products that nobody has seen.
TEST_EACH_BACKEND(factors_come_from_numbers_in_the_context_s_memory) {
  double numbers[4], wanted[SHORT], tolerance;
  RitzScalars scalars = NULL;
  Set s;

  CHECK(make_set(ceed, CEED_SCALAR_TYPE, SHORT, 2, 8, &s), "no vectors");
  CHECK_OK(RitzScalarsCreate(ceed, 4, &scalars));
  CHECK_OK(RitzVectorDotTo(s.vec[0], s.vec[1], scalars, 1));
  CHECK_OK(RitzVectorDotTo(s.vec[0], s.vec[0], scalars, 3));
  CHECK_OK(RitzVectorAXPBYBy(s.vec[1], scalars, (RitzFactor){1, 3, -1}, s.vec[0], (RitzFactor){-1, -1, 1}));
  CHECK_OK(RitzScalarsGet(scalars, 0, 4, numbers));
  const double xy = dot_of(&s, 0, 1, 0, s.n, &tolerance), xx = dot_of(&s, 0, 0, 0, s.n, &tolerance);
  CHECK_NEAR(numbers[1], xy, 2 * tolerance, "x . y");
  CHECK_NEAR(numbers[3], xx, tolerance, "x . x");
  for (int i = 0; i < SHORT; i++) wanted[i] = s.values[1][i] - numbers[1] / numbers[3] * s.values[0][i];
  check_values("what is left of y beside x", &s, 1, wanted, 10);
  free_set(&s);
  RitzScalarsDestroy(&scalars);
}

// sign a / b; the wanted factor.
static const struct {
  double a, b, sign, wanted;
  bool is_quotient;
} quotients[] = {{3, 2, 2, 3, true},          {3, 0, 1, 0, true},         {3, -2, 1, 0, true},
                 {3, NAN, 1, 0, true},        {NAN, 2, 1, 0, true},       {3, INFINITY, 1, 0, true},
                 {1e300, 1e-300, 1, 0, true}, {3, -2, -0.5, -1.5, false}, {0, 2, 1, 0, true}};

TEST_EACH_BACKEND(quotients_that_are_no_numbers_count_as_zero) {
  for (size_t i = 0; i < sizeof(quotients) / sizeof(quotients[0]); i++) {
    const double x[2] = {1, -4}, y[2] = {8, 16}, numbers[2] = {quotients[i].a, quotients[i].b};
    CeedVector u = reference_vector(ceed, 2, x), v = reference_vector(ceed, 2, y);
    RitzScalars scalars = NULL;
    double found[2];
    CHECK(u && v, "no vectors");
    CHECK_OK(RitzScalarsCreate(ceed, 2, &scalars));
    CHECK_OK(RitzScalarsSet(scalars, 0, 2, numbers));
    CHECK_OK(RitzVectorAXPBYBy(v, scalars,
                               (RitzFactor){0, quotients[i].is_quotient ? 1 : -1, quotients[i].sign}, u,
                               (RitzFactor){-1, -1, 0.5}));
    CHECK_OK(get_values(v, found));
    for (int k = 0; k < 2; k++)
      CHECK_NEAR(found[k], quotients[i].wanted * x[k] + 0.5 * y[k], 20 * eps, "%d: entry %d", (int)i, k);
    CeedVectorDestroy(&u);
    CeedVectorDestroy(&v);
    RitzScalarsDestroy(&scalars);
  }
}

// ---- Passes ----

// Vectors of several precisions under random passes, and plain loops over their values.
enum { NUM_FORMS = 24, PASS_LENGTH = 1003 };
static RitzPass forms[NUM_FORMS]; // each at an address of its own

static RitzPassTerm random_term(uint64_t *seed, int num_vectors, int *num_factors) {
  RitzPassTerm term = {
      .factor = RITZ_PASS_NONE, .x = (int)tap_integer(seed, num_vectors), .y = RITZ_PASS_NONE};
  if (tap_integer(seed, 3) > 0) term.factor = (*num_factors)++;
  if (tap_integer(seed, 2)) term.y = (int)tap_integer(seed, num_vectors);
  return term;
}

static RitzPassSum random_sum(uint64_t *seed, int num_vectors) {
  const int w = (int)tap_integer(seed, 2 * num_vectors);
  return (RitzPassSum){.x = (int)tap_integer(seed, num_vectors),
                       .y = (int)tap_integer(seed, num_vectors),
                       .w = w < num_vectors ? w : RITZ_PASS_NONE};
}

static void fill_form(uint64_t seed, RitzPass *form) {
  int num_factors = 0;

  *form = (RitzPass){.name = "random_pass"};
  form->num_vectors = 1 + (int)tap_integer(&seed, RITZ_PASS_VECTORS);
  form->num_lines = (int)tap_integer(&seed, RITZ_PASS_LINES + 1);
  form->num_sums = (int)tap_integer(&seed, RITZ_PASS_SUMS + 1);
  for (int k = 0; k < form->num_lines; k++) {
    RitzPassLine *line = &form->line[k];
    line->to = (int)tap_integer(&seed, form->num_vectors);
    line->num_terms = (int)tap_integer(&seed, RITZ_PASS_TERMS + 1);
    for (int t = 0; t < line->num_terms; t++)
      line->term[t] = random_term(&seed, form->num_vectors, &num_factors);
  }
  for (int k = 0; k < form->num_sums; k++) form->sum[k] = random_sum(&seed, form->num_vectors);
}

typedef struct {
  int num;
  CeedScalarType precision[RITZ_PASS_VECTORS];
  CeedVector vec[RITZ_PASS_VECTORS];
  double values[RITZ_PASS_VECTORS][PASS_LENGTH];
  double factors[RITZ_PASS_FACTORS], sums[RITZ_PASS_SUMS];
  double size; // of the largest number that came up
} Bench;

static double rounded(CeedScalarType precision, double value) {
  return precision == CEED_SCALAR_FP32 ? (double)(float)value : value;
}

static void run_line(const RitzPassLine *line, Bench *b, int i) {
  double value = 0;

  for (int t = 0; t < line->num_terms; t++) {
    const RitzPassTerm *term = &line->term[t];
    const double f = term->factor < 0 ? 1 : b->factors[term->factor];
    const double y = term->y < 0 ? 1 : b->values[term->y][i];
    if (f == 0) continue;
    value += f * b->values[term->x][i] * y;
    b->size = fmax(b->size, fabs(f * b->values[term->x][i] * y));
  }
  b->values[line->to][i] = rounded(b->precision[line->to], value);
  b->size = fmax(b->size, fabs(value));
}

static void run_naively(const RitzPass *form, Bench *b) {
  for (int k = 0; k < form->num_sums; k++) b->sums[k] = 0;
  for (int i = 0; i < PASS_LENGTH; i++) {
    for (int k = 0; k < form->num_lines; k++) run_line(&form->line[k], b, i);
    for (int k = 0; k < form->num_sums; k++) {
      const RitzPassSum *s = &form->sum[k];
      b->sums[k] += b->values[s->x][i] * b->values[s->y][i] * (s->w < 0 ? 1 : b->values[s->w][i]);
    }
  }
}

// mixture 0: the library's own precision, 1: the first one alone, 2: any.
static bool make_bench(Ceed ceed, const RitzPass *form, int mixture, uint64_t seed, Bench *b) {
  *b = (Bench){.num = form->num_vectors, .size = 1};
  for (int i = 0; i < b->num; i++) {
    const int any = (int)tap_integer(&seed, NUM_PRECISIONS);
    b->precision[i] = mixture == 0 ? CEED_SCALAR_TYPE : mixture == 1 ? precisions[0] : precisions[any];
    for (int k = 0; k < PASS_LENGTH; k++) b->values[i][k] = rounded(b->precision[i], tap_uniform(&seed));
    b->vec[i] = precise_vector(ceed, b->precision[i], PASS_LENGTH,
                               ritz_pass_access(form, i) == RITZ_ACCESS_WRITE ? NULL : b->values[i]);
    if (!b->vec[i]) return false;
  }
  for (int i = 0; i < RITZ_PASS_FACTORS; i++) b->factors[i] = i % 5 == 4 ? 0 : tap_uniform(&seed);
  return true;
}

// Each line rounds a few times; later lines multiply up to three of its results.
static void check_bench(const RitzPass *form, const Bench *b, const double *sums, const char *how) {
  double unit = DBL_EPSILON;
  for (int i = 0; i < b->num; i++) unit = b->precision[i] == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : unit;
  const double tolerance = 400 * unit * b->size * b->size * b->size;
  double found[PASS_LENGTH];

  for (int i = 0; i < b->num; i++) {
    CHECK_OK(get_values(b->vec[i], found));
    CHECK(values_agree(PASS_LENGTH, found, b->values[i], tolerance), "%s: vector %d", how, i);
  }
  for (int k = 0; k < form->num_sums; k++)
    CHECK_NEAR(sums[k], b->sums[k], PASS_LENGTH * tolerance, "%s: sum %d", how, k);
}

static void free_bench(Bench *b) {
  for (int i = 0; i < b->num; i++) CeedVectorDestroy(&b->vec[i]);
}

static void run_by_scalars(Ceed ceed, const RitzPass *form, Bench *b, double *sums) {
  RitzFactor factors[RITZ_PASS_FACTORS];
  RitzScalars scalars = NULL;

  CHECK_OK(RitzScalarsCreate(ceed, RITZ_PASS_FACTORS + RITZ_PASS_SUMS + 1, &scalars));
  CHECK_OK(RitzScalarsSet(scalars, 0, RITZ_PASS_FACTORS, b->factors));
  for (int i = 0; i < RITZ_PASS_FACTORS; i++) factors[i] = (RitzFactor){.a = i, .b = -1, .sign = 1};
  CHECK_OK(ritz_pass_run_by(form, b->vec, scalars, factors, RITZ_PASS_FACTORS + 1));
  CHECK_OK(RitzScalarsGet(scalars, RITZ_PASS_FACTORS + 1, form->num_sums, sums));
  RitzScalarsDestroy(&scalars);
}

static void check_form(Ceed ceed, const RitzPass *form, int mixture, uint64_t seed) {
  static Bench b;
  double sums[RITZ_PASS_SUMS];

  for (int by = 0; by < 2 && !tap_failed(); by++) {
    CHECK(make_bench(ceed, form, mixture, seed, &b), "no vectors");
    if (by)
      run_by_scalars(ceed, form, &b, sums);
    else
      CHECK_OK(ritz_pass_run(form, b.vec, b.factors, sums));
    run_naively(form, &b);
    check_bench(form, &b, sums, by ? "by scalars" : "by numbers");
    free_bench(&b);
  }
}

TEST_EACH_BACKEND(passes_are_loops_over_entries) {
  const int num = tap_compiles_slowly(ceed) && tap_level() < TAP_FULL ? 2 : NUM_FORMS;

  for (int i = 0; i < num && !tap_failed(); i++) {
    fill_form((uint64_t)(100 + i), &forms[i]);
    check_form(ceed, &forms[i], (i + 2) % 3, (uint64_t)i);
    if (tap_failed()) tap_note("form %d", i);
  }
}

TEST_EACH_BACKEND(passes_over_nothing_give_zeros) {
  double sum = 9;
  CeedVector x = NULL, y = NULL;

  CHECK_OK(CeedVectorCreate(ceed, 0, &x));
  CHECK_OK(CeedVectorCreate(ceed, 0, &y));
  CHECK_OK(RitzVectorDot(x, y, &sum));
  CHECK(sum == 0, "%g", sum);
  CHECK_OK(RitzVectorSum(y, 2, x, 1, y));
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
}

// ---- Whole-vector actions on several threads ----

enum { LONG = 50001 };

typedef int (*Action)(CeedVector x, CeedVector y, CeedVector w);
static int set_value(CeedVector x, CeedVector y, CeedVector w) {
  (void)x, (void)y;
  return CeedVectorSetValue(w, (CeedScalar)0.3);
}
static int scale(CeedVector x, CeedVector y, CeedVector w) {
  (void)x, (void)y;
  return CeedVectorScale(w, (CeedScalar)-1.7);
}
static int axpy(CeedVector x, CeedVector y, CeedVector w) {
  (void)y;
  return CeedVectorAXPY(w, (CeedScalar)0.7, x);
}
static int axpby(CeedVector x, CeedVector y, CeedVector w) {
  (void)y;
  return CeedVectorAXPBY(w, (CeedScalar)0.7, (CeedScalar)-0.2, x);
}
static int multiply(CeedVector x, CeedVector y, CeedVector w) { return CeedVectorPointwiseMult(w, x, y); }
static int multiply_self(CeedVector x, CeedVector y, CeedVector w) {
  (void)y;
  return CeedVectorPointwiseMult(w, x, w);
}
static int invert(CeedVector x, CeedVector y, CeedVector w) {
  (void)x, (void)y;
  return CeedVectorReciprocal(w);
}
static int copy(CeedVector x, CeedVector y, CeedVector w) {
  (void)y;
  return CeedVectorCopy(x, w);
}
static int convert(CeedVector x, CeedVector y, CeedVector w) {
  CeedVector single = NULL;
  (void)y;
  int ierr = RitzVectorCreate(CeedVectorReturnCeed(x), LONG, CEED_SCALAR_FP32, &single);
  if (!ierr) ierr = RitzVectorConvert(x, single);
  if (!ierr) ierr = RitzVectorConvert(single, w);
  CeedVectorDestroy(&single);
  return ierr;
}
static int set_steps(CeedVector x, CeedVector y, CeedVector w) {
  (void)x, (void)y;
  return CeedVectorSetValueStrided(w, 3, LONG - 1, 2, (CeedScalar)0.3);
}
static int copy_steps(CeedVector x, CeedVector y, CeedVector w) {
  (void)y;
  return CeedVectorCopyStrided(x, 5, LONG, 2, w);
}
static int filter(CeedVector x, CeedVector y, CeedVector w) {
  (void)x, (void)y;
  return CeedVectorFilter(w, (CeedScalar)0.4);
}
// Three entries of seven.
static int make_large_set(CeedVector x, RitzIndices *set) {
  int64_t *entries = malloc(LONG * sizeof(*entries)), num = 0;
  for (int64_t i = 0; i < LONG; i++)
    if (i % 7 < 3) entries[num++] = i;
  const int ierr = RitzIndicesCreate(CeedVectorReturnCeed(x), num, entries, set);
  free(entries);
  return ierr;
}
static int set_entries(CeedVector x, CeedVector y, CeedVector w) {
  RitzIndices set = NULL;
  int ierr = make_large_set(x, &set);
  (void)y;
  if (!ierr) ierr = RitzVectorSetEntries(w, set, 0.3);
  RitzIndicesDestroy(&set);
  return ierr;
}
static int set_entry_values(CeedVector x, CeedVector y, CeedVector w) {
  CeedScalar *values = malloc(LONG * sizeof(*values));
  RitzIndices set = NULL;
  int ierr = make_large_set(x, &set);

  (void)y;
  for (int k = 0; k < LONG; k++) values[k] = (CeedScalar)(k % 1001) / 8;
  if (!ierr) ierr = RitzVectorSetEntryValues(w, set, values);
  free(values);
  RitzIndicesDestroy(&set);
  return ierr;
}
static int copy_entries(CeedVector x, CeedVector y, CeedVector w) {
  RitzIndices set = NULL;
  int ierr = make_large_set(x, &set);
  (void)y;
  if (!ierr) ierr = RitzVectorCopyEntries(x, set, w);
  RitzIndicesDestroy(&set);
  return ierr;
}
static const Action actions[] = {
    set_value, scale,     axpy,       axpby,  multiply,    multiply_self,    invert,      copy,
    convert,   set_steps, copy_steps, filter, set_entries, set_entry_values, copy_entries};
enum { NUM_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

// One rounding an entry, or two that a compiler may have made one.
static void check_action(Ceed one, Ceed other, int action) {
  double *found = malloc(LONG * sizeof(double));
  Set a, b;

  CHECK(make_set(one, CEED_SCALAR_TYPE, LONG, 3, 2, &a) && make_set(other, CEED_SCALAR_TYPE, LONG, 3, 2, &b),
        "no vectors");
  CHECK_OK(actions[action](a.vec[0], a.vec[1], a.vec[2]));
  CHECK_OK(actions[action](b.vec[0], b.vec[1], b.vec[2]));
  CHECK_OK(get_values(a.vec[2], found));
  CHECK_OK(get_values(b.vec[2], b.values[2]));
  for (int i = 0; i < LONG; i++)
    CHECK_NEAR(found[i], b.values[2][i], 2 * eps * (1 + fabs(found[i])), "action %d: entry %d", action, i);
  free(found);
  free_set(&a);
  free_set(&b);
}

TEST_EACH_BACKEND(whole_vector_actions_are_those_of_the_reference) {
  Ceed ref = tap_ceed("/cpu/self/ref");
  for (int i = 0; i < NUM_ACTIONS && !tap_failed(); i++) check_action(ceed, ref, i);
  CeedDestroy(&ref);
}

TEST_EACH_BACKEND(norms_are_those_of_extended_precision) {
  static const CeedNormType types[] = {CEED_NORM_1, CEED_NORM_2, CEED_NORM_MAX};
  // Also where squares leave the range of the precision.
  const double sizes[] = {1, sizeof(CeedScalar) == 4 ? 0x1p100 : 0x1p600,
                          sizeof(CeedScalar) == 4 ? 0x1p-100 : 0x1p-600};
  Set s;

  CHECK(make_set(ceed, CEED_SCALAR_TYPE, LONG, 1, 3, &s), "no vectors");
  long double sum = 0, squares = 0, most = 0;
  for (int i = 0; i < LONG; i++) {
    const long double size = fabsl((long double)s.values[0][i]);
    sum += size;
    squares += size * size;
    most = size > most ? size : most;
  }
  const double wanted[] = {(double)sum, (double)sqrtl(squares), (double)most};
  for (int k = 0; k < 3; k++) {
    const double last = k ? sizes[k - 1] : 1;
    for (int i = 0; i < LONG; i++) s.values[0][i] = s.values[0][i] / last * sizes[k];
    CHECK_OK(set_values(s.vec[0], s.values[0]));
    for (int t = 0; t < 3; t++) {
      CeedScalar norm;
      CHECK_OK(CeedVectorNorm(s.vec[0], types[t], &norm));
      // The reference adds up plainly.
      CHECK_NEAR((double)norm / sizes[k], wanted[t], (10 * eps + LONG * DBL_EPSILON) * wanted[t],
                 "norm %d of size %g", t, sizes[k]);
    }
  }
  free_set(&s);
}

TEST_EACH_BACKEND(norms_of_what_is_not_finite_are_not_finite) {
  const double bad[] = {NAN, INFINITY, -INFINITY};

  for (int k = 0; k < 3; k++) {
    double values[40] = {1, 2, 3};
    values[17] = bad[k];
    CeedVector x = reference_vector(ceed, 40, values);
    CHECK(x, "no vector");
    for (int t = 0; t < 3; t++) {
      CeedScalar norm = 0;
      CHECK_OK(CeedVectorNorm(x, (CeedNormType)t, &norm));
      CHECK(k == 0 ? isnan(norm) : isinf(norm), "norm %d of %g is %g", t, bad[k], (double)norm);
    }
    CeedVectorDestroy(&x);
  }
}

// ---- Misuse ----

typedef struct {
  CeedVector x, y, shorter, foreign, single, empty;
  RitzIndices set, beyond;
  RitzScalars scalars, foreign_scalars;
} Kit;

static void make_kit(Ceed ceed, Ceed other, Kit *k) {
  const double values[4] = {1, 2, 3, 4};
  const int64_t entries[] = {0, 3}, beyond[] = {1, 4};

  *k = (Kit){.x = reference_vector(ceed, 4, values),
             .y = reference_vector(ceed, 4, values),
             .shorter = reference_vector(ceed, 3, values),
             .foreign = reference_vector(other, 4, values),
             .single = precise_vector(ceed, CEED_SCALAR_FP32, 4, values),
             .empty = NULL};
  CHECK_OK(CeedVectorCreate(ceed, 4, &k->empty));
  CHECK_OK(RitzIndicesCreate(ceed, 2, entries, &k->set));
  CHECK_OK(RitzIndicesCreate(ceed, 2, beyond, &k->beyond));
  CHECK_OK(RitzScalarsCreate(ceed, 2, &k->scalars));
  CHECK_OK(RitzScalarsCreate(other, 2, &k->foreign_scalars));
}

static void free_kit(Kit *k) {
  CeedVector *vectors[] = {&k->x, &k->y, &k->shorter, &k->foreign, &k->single, &k->empty};
  for (int i = 0; i < 6; i++) CeedVectorDestroy(vectors[i]);
  RitzIndicesDestroy(&k->set);
  RitzIndicesDestroy(&k->beyond);
  RitzScalarsDestroy(&k->scalars);
  RitzScalarsDestroy(&k->foreign_scalars);
}

static void check_vectors_unchanged(const Kit *k) {
  double values[4];
  CHECK_OK(get_values(k->x, values));
  for (int i = 0; i < 4; i++) CHECK(values[i] == i + 1, "x[%d] is %g", i, values[i]);
  CHECK_OK(get_values(k->y, values));
  for (int i = 0; i < 4; i++) CHECK(values[i] == i + 1, "y[%d] is %g", i, values[i]);
}

static void refuse_pairs(Ceed ceed, const Kit *k) {
  const RitzFactor one = {-1, -1, 1};
  const double alpha[] = {1};
  double result;
  const struct {
    CeedVector with;
    int code;
    const char *message;
  } pairs[] = {{k->shorter, CEED_ERROR_DIMENSION, "3"},
               {k->foreign, CEED_ERROR_INCOMPATIBLE, "different Ceed contexts"},
               {k->empty, CEED_ERROR_BACKEND, "no valid data"},
               {NULL, CEED_ERROR_INCOMPATIBLE, "NULL"},
               {CEED_VECTOR_NONE, CEED_ERROR_INCOMPATIBLE, "CEED_VECTOR_NONE"},
               {k->single, CEED_ERROR_INCOMPATIBLE, "precision"}};

  for (int i = 0; i < (NUM_PRECISIONS == 2 ? 6 : 5); i++) {
    const CeedVector v = pairs[i].with;
    const int code = pairs[i].code;
    const char *message = pairs[i].message;
    CHECK_ERROR(ceed, RitzVectorDot(k->x, v, &result), code, message);
    CHECK_ERROR(ceed, RitzVectorDots(1, &v, k->x, &result), code, message);
    CHECK_ERROR(ceed, RitzVectorSum(k->x, 1, v, 2, k->y), code, message);
    CHECK_ERROR(ceed, RitzVectorSum(k->x, 1, k->y, 2, v), code, message);
    CHECK_ERROR(ceed, RitzVectorAXPYs(k->x, 1, alpha, &v), code, message);
    CHECK_ERROR(ceed, RitzVectorAddProduct(k->x, 1, v, k->y), code, message);
    CHECK_ERROR(ceed, RitzVectorAddProduct(k->x, 1, k->y, v), code, message);
    CHECK_ERROR(ceed, RitzVectorDotTo(k->x, v, k->scalars, 0), code, message);
    CHECK_ERROR(ceed, RitzVectorAXPBYBy(k->x, k->scalars, one, v, one), code, message);
    CHECK_ERROR(v == k->foreign || !v || v == CEED_VECTOR_NONE ? NULL : ceed,
                RitzVectorCopyEntries(v, k->set, k->y), code, message);
  }
  check_vectors_unchanged(k);
}

static void refuse_ranges(Ceed ceed, const Kit *k) {
  const double values[3] = {1, 1, 1};
  const CeedScalar some[3] = {1, 1, 1};
  double result[3];

  CHECK_ERROR(ceed, RitzVectorDotRange(k->x, k->y, 3, 2, result), CEED_ERROR_DIMENSION, "2 entries from 3");
  CHECK_ERROR(ceed, RitzVectorDotRange(k->x, k->y, -1, 2, result), CEED_ERROR_DIMENSION, "from -1");
  CHECK_ERROR(ceed, RitzVectorDotRange(k->x, k->y, 0, -1, result), CEED_ERROR_DIMENSION, "-1 entries");
  CHECK_ERROR(ceed, RitzVectorCopyRange(k->x, 2, 3, k->y, 0), CEED_ERROR_DIMENSION, "RitzVectorCopyRange");
  CHECK_ERROR(ceed, RitzVectorCopyRange(k->x, 0, 3, k->y, 2), CEED_ERROR_DIMENSION, "RitzVectorCopyRange");
  CHECK_ERROR(ceed, RitzVectorCopyRange(k->x, 0, 1, k->x, 2), CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_ERROR(ceed, RitzVectorCopyRange(k->x, 0, 1, k->empty, 2), CEED_ERROR_BACKEND, "no valid data");
  CHECK_ERROR(ceed, RitzVectorAXPYs(k->x, 1, values, &k->x), CEED_ERROR_INCOMPATIBLE, "x[0] is y");
  CHECK_ERROR(ceed, RitzVectorAXPYs(k->x, -1, values, &k->y), CEED_ERROR_DIMENSION, "-1");
  CHECK_ERROR(ceed, RitzVectorAddProduct(k->x, 1, k->x, k->y), CEED_ERROR_INCOMPATIBLE, "d is y");
  CHECK_ERROR(ceed, RitzVectorAddProduct(k->x, 1, k->y, k->x), CEED_ERROR_INCOMPATIBLE, "x is y");
  CHECK_ERROR(ceed, RitzVectorDots(-1, &k->y, k->x, result), CEED_ERROR_DIMENSION, "-1");
  CHECK_ERROR(ceed, RitzVectorSetEntries(k->x, k->beyond, 0), CEED_ERROR_DIMENSION, "entry 4");
  CHECK_ERROR(ceed, RitzVectorSetEntryValues(k->x, k->beyond, some), CEED_ERROR_DIMENSION,
              "RitzVectorSetEntryValues: entry 4");
  CHECK_ERROR(ceed, RitzVectorSetEntryValues(k->x, k->set, NULL), CEED_ERROR_INCOMPATIBLE, "values");
  CHECK_ERROR(ceed, RitzVectorCopyEntries(k->x, k->beyond, k->y), CEED_ERROR_DIMENSION, "entry 4");
  CHECK_ERROR(ceed, RitzVectorCopyEntries(k->x, k->set, k->x), CEED_ERROR_INCOMPATIBLE, "same vector");
  CHECK_ERROR(ceed, RitzScalarsGet(k->scalars, 1, 2, result), CEED_ERROR_DIMENSION, "numbers 1 to 2");
  CHECK_ERROR(ceed, RitzScalarsSet(k->scalars, -1, 1, values), CEED_ERROR_DIMENSION, "numbers -1");
  CHECK_ERROR(ceed, RitzVectorDotTo(k->x, k->y, k->scalars, 2), CEED_ERROR_DIMENSION, "numbers 2");
  CHECK_ERROR(ceed, RitzVectorDotTo(k->x, k->y, k->foreign_scalars, 0), CEED_ERROR_INCOMPATIBLE, "contexts");
  const RitzFactor one = {-1, -1, 1};
  CHECK_ERROR(ceed, RitzVectorAXPBYBy(k->x, k->scalars, (RitzFactor){2, -1, 1}, k->y, one),
              CEED_ERROR_DIMENSION, "numbers 2");
  CHECK_ERROR(ceed, RitzVectorAXPBYBy(k->x, k->scalars, (RitzFactor){0, 2, 1}, k->y, one),
              CEED_ERROR_DIMENSION, "numbers 2");
  check_vectors_unchanged(k);
}

static void refuse_locked(Ceed ceed, const Kit *k) {
  const CeedScalar *read = NULL;
  CeedScalar *write = NULL;
  double result;

  CHECK_OK(CeedVectorGetArrayRead(k->x, CEED_MEM_HOST, &read));
  CHECK_OK(RitzVectorDot(k->x, k->y, &result)); // readers go together
  CHECK_ERROR(ceed, RitzVectorSum(k->x, 1, k->y, 1, k->x), CEED_ERROR_ACCESS, "RitzVectorSum");
  CHECK_ERROR(ceed, RitzVectorSetEntries(k->x, k->set, 0), CEED_ERROR_ACCESS, "RitzVectorSetEntries");
  CHECK_OK(CeedVectorRestoreArrayRead(k->x, &read));
  CHECK_OK(CeedVectorGetArray(k->x, CEED_MEM_HOST, &write));
  CHECK_ERROR(ceed, RitzVectorDot(k->x, k->y, &result), CEED_ERROR_ACCESS, "RitzVectorDot:");
  CHECK_ERROR(ceed, RitzVectorSum(k->y, 1, k->x, 1, k->y), CEED_ERROR_ACCESS, "RitzVectorSum");
  CHECK_OK(CeedVectorRestoreArray(k->x, &write));
  CHECK_OK(CeedVectorGetArray(k->y, CEED_MEM_HOST, &write)); // nothing was left locked
  CHECK_OK(CeedVectorRestoreArray(k->y, &write));
  check_vectors_unchanged(k);
}

TEST_EACH_BACKEND(what_does_not_fit_is_refused_and_nothing_changes) {
  Ceed other = tap_ceed("/cpu/self/ref");
  const int64_t negative[] = {2, -3};
  RitzIndices set = NULL;
  RitzScalars scalars = NULL;
  Kit kit;

  make_kit(ceed, other, &kit);
  if (!tap_failed()) refuse_pairs(ceed, &kit);
  if (!tap_failed()) refuse_ranges(ceed, &kit);
  if (!tap_failed()) refuse_locked(ceed, &kit);
  free_kit(&kit);
  CHECK_ERROR(ceed, RitzIndicesCreate(ceed, 2, negative, &set), CEED_ERROR_DIMENSION, "entries[1] is -3");
  CHECK_ERROR(ceed, RitzIndicesCreate(ceed, -1, negative, &set), CEED_ERROR_DIMENSION, "-1");
  CHECK_ERROR(ceed, RitzIndicesCreate(ceed, 1, NULL, &set), CEED_ERROR_INCOMPATIBLE, "'entries' is NULL");
  CHECK_ERROR(ceed, RitzScalarsCreate(ceed, -1, &scalars), CEED_ERROR_DIMENSION, "-1");
  CHECK(!set && !scalars, "a handle was made");
  CeedDestroy(&other);
}

// ---- Lack of memory ----

static int use_everything(Ceed ceed, CeedVector x, CeedVector y) {
  const int64_t entries[] = {3, 1};
  RitzIndices set = NULL;
  RitzScalars scalars = NULL;
  double result;
  int ierr = RitzIndicesCreate(ceed, 2, entries, &set);

  if (!ierr) ierr = RitzScalarsCreate(ceed, 1, &scalars);
  if (!ierr) ierr = RitzVectorDotTo(x, y, scalars, 0);
  if (!ierr) ierr = RitzVectorDot(x, y, &result);
  if (!ierr) ierr = RitzVectorCopyEntries(x, set, y);
  if (!ierr) ierr = RitzVectorSetEntries(y, set, 2);
  RitzIndicesDestroy(&set);
  RitzScalarsDestroy(&scalars);
  return ierr;
}

TEST_EACH_BACKEND(failing_allocations_are_reported_and_leave_vectors_as_they_were) {
  const double values[4] = {1, 2, 3, 4};
  CeedVector x = reference_vector(ceed, 4, values), y = reference_vector(ceed, 4, values);
  double found[4];
  int code = CEED_ERROR_MAJOR, num_failures = 0;

  CHECK(x && y, "no vectors");
  CHECK_OK(use_everything(ceed, x, y)); // everything is compiled now
  const int64_t live = ritz_memory_live();
  while (code && num_failures < 100) {
    ritz_memory_fail_at(num_failures + 1);
    code = use_everything(ceed, x, y);
    ritz_memory_fail_at(0);
    if (!code) break;
    num_failures++;
    // A backend that watches keeps copies that it has lent until the next access.
    CHECK(code == CEED_ERROR_MAJOR && ritz_memory_live() <= live, "allocation %d: code %d", num_failures,
          code);
    CHECK_OK(get_values(x, found));
    for (int i = 0; i < 4; i++) CHECK(found[i] == values[i], "allocation %d: x[%d]", num_failures, i);
  }
  CHECK(num_failures >= 4, "%d allocations", num_failures);
  CHECK_OK(get_values(y, found));
  for (int i = 0; i < 4; i++) CHECK(found[i] == (i % 2 ? 2 : values[i]), "y[%d] is %g", i, found[i]);
  CeedVectorDestroy(&x);
  CeedVectorDestroy(&y);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(products_are_those_of_extended_precision, small_terms_beside_large_ones_are_not_lost,
                        products_of_many_vectors_are_those_of_each, sums_may_overwrite_any_of_their_vectors,
                        a_factor_of_zero_leaves_its_vector_out, many_vectors_are_added_in_any_number,
                        a_diagonal_matrix_times_a_vector_is_added,
                        ranges_are_copied_between_vectors_of_any_length,
                        sets_are_sorted_and_without_duplicates, entries_of_a_set_are_written_and_no_others,
                        scalars_begin_with_zeros_and_keep_what_they_get,
                        factors_come_from_numbers_in_the_context_s_memory,
                        quotients_that_are_no_numbers_count_as_zero, passes_are_loops_over_entries,
                        passes_over_nothing_give_zeros, whole_vector_actions_are_those_of_the_reference,
                        norms_are_those_of_extended_precision, norms_of_what_is_not_finite_are_not_finite,
                        failing_allocations_are_reported_and_leave_vectors_as_they_were,
                        what_does_not_fit_is_refused_and_nothing_changes));
}
