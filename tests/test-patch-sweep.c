// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches: tables of lines by their definitions; sweeps against block Gauss-Seidel with
// the assembled matrix; all backends against the reference one over random boxes.
#include "tests/patch-kit.h"

#include <string.h>

static double of_precision(CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON;
}

// ---- Tables ----

static double row_times(int n, const double *a, int stride_a, const double *b, int stride_b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i * stride_a] * b[i * stride_b];
  return sum;
}

// S^T (matrix rows at interior columns) S of modes k and l
static double form(int n, int m, const double *matrix, const double *S, int k, int l) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += S[i * n + k] * row_times(n, matrix + i * m + 1, 1, S + l, n);
  return sum;
}

static void check_line(int p, const double length[2], int first, int num) {
  const int n = 2 * p - 1, m = n + 2;
  const double tol = 200 * DBL_EPSILON * p * p; // sums of n^2 products; eigenvectors have entries of order p
  double *table = reference_new((CeedSize)ritz_fe_patch_line_size(p));
  CHECK_OK(ritz_fe_patch_line(NULL, p, length, first, num, table));
  const RitzPatchLine l = ritz_patch_line(p, table);
  for (int k = 0; k < num; k++) {
    for (int j = 0; j < num; j++) {
      const double scale = fmax(1, sqrt(l.lambda[k] * l.lambda[j]));
      CHECK_NEAR(form(n, m, l.M, l.S, k, j), k == j, tol, "mass of modes %d, %d, p = %d", k, j, p);
      CHECK_NEAR(form(n, m, l.A, l.S, k, j), k == j ? l.lambda[k] : 0, tol * scale,
                 "stiffness of modes %d, %d, p = %d", k, j, p);
    }
    for (int c = 0; c < m; c++)
      CHECK_NEAR(l.modes[k * m + c], row_times(n, l.S + k, n, l.M + c, m), tol, "mode %d at %d", k, c);
  }
  for (int s = 0; s < 2; s++) {
    const double *e = l.extension + s * n;
    const int end = s * (m - 1);
    double rows[64];
    CHECK(n <= 64, "p = %d", p);
    for (int i = 0; i < n; i++) {
      CHECK_NEAR(l.M[i * m + end] + row_times(n, l.M + i * m + 1, 1, e, 1), 0, tol, "extension %d", s);
      rows[i] = l.A[i * m + end] + row_times(n, l.A + i * m + 1, 1, e, 1);
    }
    for (int k = 0; k < num; k++)
      CHECK_NEAR(l.coupling[s * n + k], row_times(n, l.S + k, n, rows, 1), tol * fmax(1, l.lambda[k]),
                 "coupling of mode %d", k);
  }
  for (int k = num; k < n; k++) {
    CHECK(l.lambda[k] == 1 && l.coupling[k] == 0 && l.coupling[n + k] == 0, "mode %d is not there", k);
    for (int i = 0; i < n; i++) CHECK(l.S[i * n + k] == 0 && l.modes[k * m + i] == 0, "mode %d", k);
  }
  free(table);
}

TEST(modes_and_extensions_are_orthogonal) {
  const double lengths[][2] = {{1, 1}, {0.3, 2}, {1.5, 1}};
  for (int p = 1; p <= 16; p++) {
    for (int i = 0; i < 3; i++) check_line(p, lengths[i], 0, 2 * p - 1);
    check_line(p, (const double[]){0, 1}, p - 1, p);
    check_line(p, (const double[]){0.7, 0}, 0, p);
    check_line(p, (const double[]){0, 1}, p > 1 ? p : 0, p - 1);
    if (tap_failed()) return;
  }
}

TEST(cells_of_one_length_have_even_and_odd_modes) {
  for (int p = 1; p <= 16; p++) {
    const int n = 2 * p - 1, m = n + 2;
    double *table = reference_new((CeedSize)ritz_fe_patch_line_size(p));
    CHECK_OK(ritz_fe_patch_line(NULL, p, (const double[]){1, 1}, 0, n, table));
    const RitzPatchLine l = ritz_patch_line(p, table);
    for (int k = 0; k < n; k++) {
      const int sign = k < p ? 1 : -1;
      CHECK(l.coupling[n + k] == sign * l.coupling[k], "coupling of mode %d", k);
      for (int i = 0; i < n; i++) CHECK(l.S[(n - 1 - i) * n + k] == sign * l.S[i * n + k], "mode %d", k);
      for (int c = 0; c < m; c++)
        CHECK(l.modes[k * m + m - 1 - c] == sign * l.modes[k * m + c], "mode %d", k);
    }
    for (int i = 0; i < n; i++) CHECK(l.extension[n + i] == l.extension[n - 1 - i], "extension at %d", i);
    free(table);
  }
}

// ---- Cases ----

static PatchCase random_case(uint64_t *seed, bool is_small) {
  PatchCase c = {.dim = 2 + (CeedInt)tap_integer(seed, 2), .num_comp = 1 + 2 * !tap_integer(seed, 4)};
  const CeedInt most_degree = is_small     ? (c.dim == 2 ? 4 : 2)
                              : c.dim == 2 ? 8
                                           : 5,
                most_cells = is_small ? 3 : 6;
  const bool is_uniform = tap_integer(seed, 2);

  c.degree = 1 + (CeedInt)tap_integer(seed, most_degree);
  c.precision = tap_integer(seed, 3) ? CEED_SCALAR_TYPE : CEED_SCALAR_FP32;
  c.form = (RitzPatchForm)tap_integer(seed, 3);
  c.is_graded = !is_uniform && tap_integer(seed, 2);
  for (int d = 0; d < 3; d++) {
    c.cells[d] = d >= c.dim ? 1 : 1 + is_uniform + (CeedInt)tap_integer(seed, most_cells);
    c.factor[d] = 1.2 + tap_uniform(seed);
    for (int side = 0; side < 2; side++) c.is_fixed[d][side] = is_uniform || tap_integer(seed, 2);
  }
  c.factor[3] = tap_integer(seed, 2) ? 1 + tap_uniform(seed) : 0;
  return c;
}

// Random numbers of the precision; of x zero where it is constrained.
static void fill_random(const RitzPatchBox *box, CeedSize n, uint64_t *seed, double *b, double *x) {
  for (CeedSize i = 0; i < n; i++) {
    const double u = tap_uniform(seed), v = tap_uniform(seed);
    b[i] = box->precision == CEED_SCALAR_FP32 ? (double)(float)u : (double)(CeedScalar)u;
    x[i] = box->precision == CEED_SCALAR_FP32 ? (double)(float)v : (double)(CeedScalar)v;
    if (patch_is_constrained(box, i)) x[i] = 0;
  }
}

static double largest_difference(CeedSize n, const double *a, const double *b, double *size) {
  double most = 0;
  *size = 0;
  for (CeedSize i = 0; i < n; i++) {
    const double difference = fabs(a[i] - b[i]);
    most = difference <= most ? most : difference; // keeps what is no number
    *size = fmax(*size, fabs(a[i]));
  }
  return most;
}

// Solutions of patches lose digits like their condition, which p^3 bounds here.
static double tolerance(const PatchCase *c) {
  return 500 * of_precision(c->precision) * c->degree * c->degree * c->degree;
}

// ---- By definition ----

static void check_against_matrix(const PatchCase *c, uint64_t *seed) {
  char text[200];
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzPatchSweep sweep = NULL;
  double size;
  patch_print(c, text, sizeof(text));
  CHECK_OK(patch_sweep(ceed, c, &sweep));
  const CeedSize n = sweep->length;
  double *b = reference_new(n), *x = reference_new(n), *wanted = reference_new(n);
  const bool is_reversed = tap_integer(seed, 2), is_zero = tap_integer(seed, 2);
  fill_random(&sweep->box, n, seed, b, x);
  for (CeedSize i = 0; i < n && is_zero; i++) x[i] = 0;
  memcpy(wanted, x, (size_t)n * sizeof(double));
  CHECK_OK(patch_dense_sweep(ceed, c, &sweep->box, b, wanted, is_reversed));
  CHECK_OK(patch_run(sweep, b, x, is_zero, is_reversed));
  const double difference = largest_difference(n, wanted, x, &size);
  CHECK_NEAR(difference, 0, tolerance(c) * size, "%s", text);
  CHECK_OK(ritz_patch_sweep_destroy(&sweep));
  free(b);
  free(x);
  free(wanted);
  CeedDestroy(&ceed);
}

TEST(a_sweep_is_block_gauss_seidel) {
  uint64_t seed = 1;
  for (int i = 0; i < (tap_level() ? 60 : 25); i++) {
    const PatchCase c = random_case(&seed, true);
    check_against_matrix(&c, &seed);
    if (tap_failed()) return;
  }
}

// ---- A step at every degree ----

// y := A x of the box, by matrices of lines, one component; work: as long as x.
static void apply_lines(const PatchCase *c, const RitzPatchBox *box, const double *x, double *y,
                        double *work) {
  const int64_t N = box->nodes[0] * box->nodes[1] * box->nodes[2];
  double *line[3] = {NULL, NULL, NULL}, *other = reference_new(N);
  for (int d = 0; d < c->dim; d++) line[d] = patch_line_matrices(c, d);
  for (int64_t i = 0; i < N; i++) y[i] = 0;
  for (int t = 0; t < 4; t++) {
    int64_t stride = 1;
    if (t < 3 && t >= c->dim) continue;
    memcpy(work, x, (size_t)N * sizeof(*x));
    for (int d = 0; d < c->dim; d++) {
      const int64_t n = box->nodes[d];
      const double *a = line[d] + (d == t ? 0 : n * n);
      for (int64_t i = 0; i < N; i++) {
        const int64_t at = i / stride % n;
        other[i] = 0;
        for (int64_t j = 0; j < n; j++) other[i] += a[at * n + j] * work[i + (j - at) * stride];
      }
      memcpy(work, other, (size_t)N * sizeof(*x));
      stride *= n;
    }
    for (int64_t i = 0; i < N; i++) y[i] += box->factor[t] * work[i];
  }
  for (int d = 0; d < 3; d++) free(line[d]);
  free(other);
}

// One vertex, values around it that are not zero: the residual inside of the patch, over b.
static void check_step(Ceed ceed, const PatchCase *c, uint64_t *seed, double *x) {
  char text[200];
  RitzPatchSweep sweep = NULL;
  double largest = 0, size = 0;
  patch_print(c, text, sizeof(text));
  CHECK_OK(patch_sweep(ceed, c, &sweep));
  const CeedSize n = sweep->length;
  double *b = reference_new(n), *y = reference_new(n), *work = reference_new(n);
  fill_random(&sweep->box, n, seed, b, work);
  for (CeedSize i = 0; i < n; i++) x[i] = work[i];
  CHECK_OK(patch_run(sweep, b, x, false, false));
  apply_lines(c, &sweep->box, x, y, work);
  for (CeedSize i = 0; i < n; i++) {
    const double r = patch_is_constrained(&sweep->box, i) ? 0 : fabs(b[i] - y[i]);
    largest = r <= largest ? largest : r; // keeps what is no number
    size = fmax(size, fabs(b[i]));
  }
  CHECK_NEAR(largest, 0, tolerance(c) * size, "%s", text);
  CHECK_OK(ritz_patch_sweep_destroy(&sweep));
  free(b);
  free(y);
  free(work);
}

// Factors and lengths of all directions differ. The three forms of a step agree.
TEST(a_step_of_any_degree_leaves_no_residual_in_any_form) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double *x[3];
  for (int i = 0; i < 3; i++) x[i] = reference_new(17 * 17 * 17);
  for (int i = 0; i < 32 && !tap_failed(); i++) {
    PatchCase c = {.dim = 2 + i % 2,
                   .degree = 1 + i / 2 % 8,
                   .num_comp = 1,
                   .cells = {2, 2, 1 + i % 2},
                   .factor = {1, 1.7, i % 2 ? 2.3 : 0, 0.4},
                   .precision = i / 16 ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE};
    double size = 0;
    for (int s = 0; s < 2 * c.dim; s++) c.is_fixed[s / 2][s % 2] = true;
    for (int form = 0; form < 3; form++) {
      uint64_t seed = 13;
      c.form = (RitzPatchForm)form;
      check_step(ceed, &c, &seed, x[form]);
    }
    const CeedSize n = (CeedSize)pow(2 * c.degree + 1, c.dim);
    for (int form = 1; form < 3 && !tap_failed(); form++) {
      const double difference = largest_difference(n, x[0], x[form], &size);
      CHECK_NEAR(difference, 0, tolerance(&c) * size, "form %d, case %d", form, i);
    }
  }
  for (int i = 0; i < 3; i++) free(x[i]);
  CeedDestroy(&ceed);
}

// ---- Backends ----

static void check_against_reference(Ceed ceed, const PatchCase *c, uint64_t *seed) {
  char text[200];
  Ceed ref = tap_ceed("/cpu/self/ref");
  RitzPatchSweep sweep = NULL, oracle = NULL;
  double size;
  patch_print(c, text, sizeof(text));
  CHECK_OK(patch_sweep(ref, c, &oracle));
  CHECK_OK(patch_sweep(ceed, c, &sweep));
  const CeedSize n = sweep->length;
  double *b = reference_new(n), *x = reference_new(n), *wanted = reference_new(n);
  const bool is_reversed = tap_integer(seed, 2), is_zero = !tap_integer(seed, 4);
  fill_random(&sweep->box, n, seed, b, wanted);
  for (CeedSize i = 0; i < n; i++) x[i] = is_zero ? NAN : wanted[i];
  // Constrained entries of b may be anything.
  for (CeedSize i = 0; i < n; i++) b[i] = patch_is_constrained(&sweep->box, i) ? NAN : b[i];
  for (int repeat = 0; repeat < 2; repeat++) {
    CHECK_OK(patch_run(oracle, b, wanted, is_zero && !repeat, is_reversed));
    CHECK_OK(patch_run(sweep, b, x, is_zero && !repeat, is_reversed));
  }
  const double difference = largest_difference(n, wanted, x, &size);
  CHECK_NEAR(difference, 0, tolerance(c) * size, "%s%s", text, is_reversed ? ", reversed" : "");
  CHECK_OK(ritz_patch_sweep_destroy(&sweep));
  CHECK_OK(ritz_patch_sweep_destroy(&oracle));
  free(b);
  free(x);
  free(wanted);
  CeedDestroy(&ref);
}

TEST_EACH_BACKEND(sweeps_agree_with_the_reference) {
  const int num = tap_compiles_slowly(ceed) ? 6 : tap_level() ? 80 : 30;
  uint64_t seed = 7;
  for (int i = 0; i < num; i++) {
    const PatchCase c = random_case(&seed, tap_compiles_slowly(ceed));
    check_against_reference(ceed, &c, &seed);
    if (tap_failed()) return;
  }
}

// ---- Threads of /cpu/self/gen ----

// Three sweeps, the second one reversed.
static int sweep_on_threads(const PatchCase *c, int num_threads, const double *b, const double *x,
                            double *result, CeedSize n) {
  char resource[64];
  RitzPatchSweep sweep = NULL;
  snprintf(resource, sizeof(resource), "/cpu/self/gen:threads=%d", num_threads);
  Ceed ceed = tap_ceed(resource);
  memcpy(result, x, (size_t)n * sizeof(double));
  int ierr = patch_sweep(ceed, c, &sweep);
  for (int i = 0; i < 3 && !ierr; i++) ierr = patch_run(sweep, b, result, false, i == 1);
  return ierr | ritz_patch_sweep_destroy(&sweep) | CeedDestroy(&ceed);
}

static void check_threads(const PatchCase *c, uint64_t *seed) {
  char text[200];
  Ceed ref = tap_ceed("/cpu/self/ref");
  RitzPatchSweep sweep = NULL;
  patch_print(c, text, sizeof(text));
  CHECK_OK(patch_sweep(ref, c, &sweep));
  const CeedSize n = sweep->length;
  double *b = reference_new(n), *x = reference_new(n), *alone = reference_new(n), *shared = reference_new(n);
  fill_random(&sweep->box, n, seed, b, x);
  CHECK_OK(sweep_on_threads(c, 1, b, x, alone, n));
  for (int threads = 2; threads <= 3; threads++) {
    CHECK_OK(sweep_on_threads(c, threads, b, x, shared, n));
    CHECK(!memcmp(alone, shared, (size_t)n * sizeof(double)), "%d threads: %s", threads, text);
  }
  CHECK_OK(ritz_patch_sweep_destroy(&sweep));
  free(b);
  free(x);
  free(alone);
  free(shared);
  CeedDestroy(&ref);
}

// Planes from fewer than threads to many; rows longer than any number of lanes.
TEST(sweeps_repeat_bit_for_bit_over_threads) {
  uint64_t seed = 3;
  for (CeedInt planes = 1; planes <= 9; planes += planes < 5 ? 1 : 2) {
    PatchCase c = {.dim = 2 + planes % 2,
                   .degree = 2,
                   .num_comp = 1,
                   .cells = {planes == 9 ? 37 : 5, 4, 1},
                   .factor = {1, 1.5, 2, 0},
                   .precision = CEED_SCALAR_TYPE};
    c.cells[c.dim - 1] = planes;
    for (int i = 0; i < 6; i++) c.is_fixed[i / 2][i % 2] = planes > 4 || i % 3 == 0;
    if (c.dim == 2) c.factor[2] = 0;
    check_threads(&c, &seed);
    if (tap_failed()) return;
  }
}

// Whole batches, their rests, lanes that go on in the next row, and degrees beyond those of random cases.
TEST(long_rows_and_high_degrees_agree_with_the_reference) {
  static const CeedInt sizes[][4] = {{2, 1, 35, 3}, {3, 1, 20, 3}, {3, 2, 61, 2}, {3, 2, 61, 2},
                                     {2, 16, 2, 2}, {3, 7, 2, 2},  {2, 3, 40, 2}};
  const size_t num = sizeof(sizes) / sizeof(sizes[0]), most = tap_level() ? 2 * num : num;
  uint64_t seed = 11;
  Ceed ceed = tap_ceed("/cpu/self/gen");
  for (size_t i = 0; i < most && !tap_failed(); i++) {
    const CeedInt *size = sizes[i % num];
    PatchCase c = {.dim = size[0],
                   .degree = size[1],
                   .num_comp = 1,
                   .cells = {size[2], size[3], size[0] == 3 ? 2 : 1},
                   .is_graded = i >= num,
                   .factor = {1.1, 1.5, size[0] == 3 ? 2 : 0, 0.3},
                   .precision = i % 2 ? CEED_SCALAR_FP32 : CEED_SCALAR_TYPE,
                   .form = i % 3 == 2 ? RITZ_PATCH_RESIDUAL : RITZ_PATCH_LIFTED};
    for (int s = 0; s < 6; s++) c.is_fixed[s / 2][s % 2] = i < num || s < 3;
    check_against_reference(ceed, &c, &seed);
  }
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  setenv("RITZ_STRICT", "1", 1); // a kernel that does not compile is an error, not the reference's matter
  return tap_main(argc, argv,
                  TESTS(modes_and_extensions_are_orthogonal, cells_of_one_length_have_even_and_odd_modes,
                        a_sweep_is_block_gauss_seidel, a_step_of_any_degree_leaves_no_residual_in_any_form,
                        sweeps_agree_with_the_reference, sweeps_repeat_bit_for_bit_over_threads,
                        long_rows_and_high_degrees_agree_with_the_reference));
}
