// SPDX-License-Identifier: BSD-2-Clause
// Dense algebra of one thread and of a team (ritz/jit-source/batched-device.h) in QFunctions on every
// backend, in kernels, on the host.
#include "backends/gpu/kernel.h"
#include "tests/gpu-kit.h"
#include "tests/nvrtc-log.h"

#include "devices/device.h"
#include "tests/batched-device-qfunctions.h"

// ---- What is true of the results at a point ----

enum { MAX_N = 8 };

// Entry r of |op(A)| |x|: the size that roundings of op(A) x are relative to.
static double abs_product(int n, const double *A, bool is_transposed, const double *x, int r) {
  double sum = 0;
  for (int l = 0; l < n; l++) sum += fabs((is_transposed ? A[l + r * n] : A[r + l * n]) * x[l]);
  return sum;
}

// op(A) x = b as far as a backward stable solution has it: factors have entries of at most 2^(n-1) |A|,
// which random matrices of order 8 are far from.
static void check_solution(int n, const double *A, bool is_transposed, const double *x, const double *b,
                           double tolerance, const char *what, int point) {
  for (int r = 0; r < n; r++) {
    double residual = -b[r], size = 0;
    for (int l = 0; l < n; l++) residual += (is_transposed ? A[l + r * n] : A[r + l * n]) * x[l];
    for (int i = 0; i < n; i++) size = fmax(size, abs_product(n, A, is_transposed, x, i) + fabs(b[i]));
    CHECK_NEAR(residual, 0, tolerance * size, "%s, order %d, point %d, row %d", what, n, point, r);
  }
}

// X A = 1 but for the roundings of Gauss-Jordan elimination, whose bound has the condition of A squared.
static void check_inverse(int n, const double *A, const double *X, double tolerance, int point) {
  double row[MAX_N], condition = 0;

  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) row[c] = X[r + c * n];
    for (int c = 0; c < n; c++) condition = fmax(condition, abs_product(n, A, true, row, c));
  }
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      double entry = 0;
      for (int l = 0; l < n; l++) entry += X[r + l * n] * A[l + c * n];
      CHECK_NEAR(entry, r == c, tolerance * condition * condition, "inverse, order %d, point %d, (%d, %d)", n,
                 point, r, c);
    }
  }
}

static void check_products(int n, const double *A, const double *b, const double *v, const DevicePlaces *at,
                           double tolerance, int point) {
  for (int c = 0; c < n; c++) {
    double product = b[c];
    for (int l = 0; l < n; l++) product += 2 * A[l + c * n] * b[l];
    CHECK_NEAR(v[at->product + c], product, tolerance * (2 * abs_product(n, A, true, b, c) + fabs(b[c])),
               "2 A^T b + b, order %d, point %d", n, point);
    for (int r = 0; r < n; r++) {
      double inner = r == c ? 2 : 0, outer = -b[0], inner_size = 2, outer_size = fabs(b[0]);
      for (int l = 0; l < n; l++) {
        inner += A[l + r * n] * A[l + c * n];
        outer += 3 * A[r + l * n] * A[c + l * n];
        inner_size += fabs(A[l + r * n] * A[l + c * n]);
        outer_size += fabs(3 * A[r + l * n] * A[c + l * n]);
      }
      CHECK_NEAR(v[at->spd + r + c * n], inner, tolerance * inner_size, "A^T A + 2, point %d", point);
      CHECK_NEAR(v[at->outer + r + c * n], outer, tolerance * outer_size, "3 A A^T - b, point %d", point);
    }
  }
}

static void check_point(int n, const double *A, const double *b, const double *v, int point) {
  const DevicePlaces at = DEVICE_PLACES(n);
  const double tolerance = 20 * n * eps; // about n roundings a sum, several sums

  CHECK(v[at.infos] == 0 && v[at.infos + 1] == 0 && v[at.infos + 2] == 0, "infos %g %g %g at point %d",
        v[at.infos], v[at.infos + 1], v[at.infos + 2], point);
  check_solution(n, A, false, v + at.x, b, tolerance, "A x = b", point);
  check_solution(n, A, true, v + at.y, b, tolerance, "A^T y = b", point);
  check_solution(n, v + at.spd, false, v + at.z, b, tolerance, "S z = b", point);
  check_inverse(n, A, v + at.inverse, tolerance, point);
  check_products(n, A, b, v, &at, tolerance, point);
}

// ---- Operators ----

enum { NUM_ELEM = 3, NUM_POINTS = 5, NUM = NUM_ELEM * NUM_POINTS };

static const struct {
  int n;
  CeedQFunctionUser f;
  const char *source;
} orders[] = {{1, DeviceAlgebra1, DeviceAlgebra1_loc},
              {3, DeviceAlgebra3, DeviceAlgebra3_loc},
              {8, DeviceAlgebra8, DeviceAlgebra8_loc}};

// Vectors with the components of a point side by side.
static int create_restriction(Ceed ceed, CeedInt num_comp, CeedElemRestriction *rstr) {
  const CeedInt strides[3] = {num_comp, 1, num_comp * NUM_POINTS};
  return CeedElemRestrictionCreateStrided(ceed, NUM_ELEM, NUM_POINTS, num_comp, (CeedSize)NUM * num_comp,
                                          strides, rstr);
}

// v [NUM][size] of A [NUM][n * n], b [NUM][n].
static int run(Ceed ceed, int order, const double *A, const double *b, double *v) {
  const int n = orders[order].n;
  const DevicePlaces at = DEVICE_PLACES(n);
  CeedElemRestriction rstr_A = NULL, rstr_b = NULL, rstr_v = NULL;
  CeedVector vec_A = reference_vector(ceed, (CeedSize)NUM * n * n, A), out = NULL;
  CeedVector vec_b = reference_vector(ceed, (CeedSize)NUM * n, b);
  CeedQFunction qf = NULL;
  CeedOperator op = NULL;

  int ierr = create_restriction(ceed, n * n, &rstr_A) || create_restriction(ceed, n, &rstr_b) ||
             create_restriction(ceed, at.size, &rstr_v) ||
             CeedVectorCreate(ceed, (CeedSize)NUM * at.size, &out) ||
             CeedQFunctionCreateInterior(ceed, 1, orders[order].f, orders[order].source, &qf) ||
             CeedQFunctionAddInput(qf, "A", n * n, CEED_EVAL_NONE) ||
             CeedQFunctionAddInput(qf, "b", n, CEED_EVAL_NONE) ||
             CeedQFunctionAddOutput(qf, "v", at.size, CEED_EVAL_NONE) ||
             CeedOperatorCreate(ceed, qf, NULL, NULL, &op) ||
             CeedOperatorSetField(op, "A", rstr_A, CEED_BASIS_NONE, vec_A) ||
             CeedOperatorSetField(op, "b", rstr_b, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE) ||
             CeedOperatorSetField(op, "v", rstr_v, CEED_BASIS_NONE, CEED_VECTOR_ACTIVE) ||
             CeedOperatorApply(op, vec_b, out, CEED_REQUEST_IMMEDIATE);
  if (!ierr) reference_values(out, v);
  CeedOperatorDestroy(&op);
  CeedQFunctionDestroy(&qf);
  CeedVectorDestroy(&vec_A), CeedVectorDestroy(&vec_b), CeedVectorDestroy(&out);
  CeedElemRestrictionDestroy(&rstr_A), CeedElemRestrictionDestroy(&rstr_b);
  CeedElemRestrictionDestroy(&rstr_v);
  return ierr;
}

TEST_EACH_BACKEND(functions_of_a_thread_solve_invert_and_multiply_at_every_point) {
  for (int order = 0; order < 3 && !tap_failed(); order++) {
    const int n = orders[order].n, size = 5 * n + 3 * n * n + 4;
    uint64_t seed = 31 + (uint64_t)n;
    double *A = reference_new_random((CeedSize)NUM * n * n, &seed);
    double *b = reference_new_random((CeedSize)NUM * n, &seed), *v = reference_new((CeedSize)NUM * size);

    if (n < MAX_N && tap_compiles_slowly(ceed)) goto done;
    tap_check_ok(run(ceed, order, A, b, v), __FILE__, __LINE__, "apply");
    for (int i = 0; i < NUM && !tap_failed(); i++) check_point(n, A + i * n * n, b + i * n, v + i * size, i);
  done:
    free(A), free(b), free(v);
  }
}

// Matrix k < n: an upper triangle of integers with ones on the diagonal but for entry k, which is zero; the
// last ones are regular. Rows turned by k: row r is at (r + k) % n. Steps are exact.
static void fill_turned(int n, int k, double *A) {
  for (int c = 0; c < n; c++) {
    for (int r = 0; r < n; r++)
      A[(r + k) % n + c * n] = r > c ? 0 : r == c ? (double)(r != k) : (double)((r + 2 * c + k) % 5 - 2);
  }
}

// The pivots and the first zero of elimination by LAPACK's rule, with the determinant.
static int eliminate(int n, double *A, int *ipiv, double *det) {
  int info = 0;

  *det = 1;
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int r = k + 1; r < n; r++) pivot = fabs(A[r + k * n]) > fabs(A[pivot + k * n]) ? r : pivot;
    for (int c = 0; c < n; c++) {
      const double kept = A[k + c * n];
      A[k + c * n] = A[pivot + c * n];
      A[pivot + c * n] = kept;
    }
    ipiv[k] = pivot + 1;
    *det *= pivot == k ? A[k + k * n] : -A[k + k * n];
    if (A[k + k * n] == 0 && info == 0) info = k + 1;
    for (int r = k + 1; r < n && A[k + k * n] != 0; r++) {
      A[r + k * n] /= A[k + k * n];
      for (int c = k + 1; c < n; c++) A[r + c * n] -= A[r + k * n] * A[k + c * n];
    }
  }
  return info;
}

TEST_EACH_BACKEND(pivots_determinants_and_zero_pivots_are_those_of_elimination) {
  enum { ORDER = 2, N = 8, SIZE = 5 * N + 3 * N * N + 4 };
  const DevicePlaces at = DEVICE_PLACES(N);
  double A[NUM * N * N], b[NUM * N], v[NUM * SIZE], det;
  int ipiv[N], num_singular = 0;

  for (int i = 0; i < NUM * N; i++) b[i] = 1;
  for (int i = 0; i < NUM; i++) fill_turned(N, i, A + i * N * N);
  CHECK_OK(run(ceed, ORDER, A, b, v));
  for (int i = 0; i < NUM; i++) {
    const double *found = v + i * SIZE;
    const int info = eliminate(N, A + i * N * N, ipiv, &det);

    CHECK((int)found[at.infos] == info && (int)found[at.infos + 1] == info, "infos %g, %g of matrix %d: %d",
          found[at.infos], found[at.infos + 1], i, info);
    for (int k = 0; k < N; k++)
      CHECK((int)found[at.pivots + k] == ipiv[k], "pivot %d of matrix %d: %g, wanted %d", k + 1, i,
            found[at.pivots + k], ipiv[k]);
    CHECK(found[at.det] == det, "determinant %d: %g, wanted %g", i, found[at.det], det);
    num_singular += info != 0;
  }
  CHECK(num_singular == N, "%d matrices are singular", num_singular);
}

// ---- On the host ----

TEST(cholesky_names_the_first_minor_that_is_not_positive) {
  enum { N = 6 };
  for (int k = 0; k <= N; k++) {
    CeedScalar A[N * N], B[N * N];

    // L L^T with ones in L, the k-th square taken off the diagonal: minor k + 1 is zero.
    for (int i = 0; i < N * N; i++)
      A[i] = (CeedScalar)((i % N < i / N ? i % N : i / N) + 1 - (i == k * (N + 1)));
    for (int i = 0; i < N * N; i++) B[i] = A[i];
    CHECK(ritz_thread_potrf(N, A) == (k < N ? k + 1 : 0), "minor %d", k + 1);
    CHECK(ritz_team_potrf(0, 1, N, B) == (k < N ? k + 1 : 0), "minor %d, team", k + 1);
    for (int i = 0; i < N * N; i++) {
      if (i % N < i / N) CHECK(A[i] == B[i] && A[i] == (CeedScalar)(i % N + 1), "upper triangle");
    }
  }
}

TEST(entries_that_are_no_numbers_touch_nothing_else) {
  enum { N = 4 };
  for (int k = 0; k < N * N; k++) {
    CeedScalar A[N * N + 2], b[N + 2] = {7, 1, 2, 3, 4, 7};
    int ipiv[N];

    for (int i = 0; i < N * N + 2; i++) A[i] = (CeedScalar)(i % 5 - 2);
    A[1 + k] = (CeedScalar)NAN;
    ritz_thread_getrf(N, A + 1, ipiv);
    for (int i = 0; i < N; i++) CHECK(ipiv[i] >= i + 1 && ipiv[i] <= N, "pivot %d: %d", i + 1, ipiv[i]);
    ritz_thread_getrs(N, 0, 1, A + 1, ipiv, b + 1);
    CHECK(b[0] == 7 && b[N + 1] == 7 && A[0] == -2 && A[N * N + 1] == (CeedScalar)((N * N + 1) % 5 - 2),
          "guards");
  }
}

// ---- Teams ----

enum { TEAM_N = 13, TEAM_NUM = TEAM_N * TEAM_N, TEAM_THREADS = 32 };

// The team's calls, with arrays A, X, S [n][n] and b, y [n] in the team's memory: X = A^-1, b := A^-1 b,
// S = A^T A + 1, y := S^-1 (A b). Text of kernels, too.
#define TEAM_CALLS                                                                                           \
  ritz_team_gemm(rank, size, 1, 0, n, n, n, 1, A, A, 1, S);                                                  \
  ritz_team_gemv(rank, size, 0, n, n, 1, A, b, 0, y);                                                        \
  info = ritz_team_inv(rank, size, n, A, ipiv, X);                                                           \
  ritz_team_getrs(rank, size, n, 1, 1, A, ipiv, b);                                                          \
  info = info ? info : ritz_team_potrf(rank, size, n, S);                                                    \
  ritz_team_potrs(rank, size, n, 1, S, y);
#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

static const char team_kernel[] =
    "RITZ_KERNEL(32) team(int n, RITZ_GLOBAL CeedScalar *data, RITZ_GLOBAL int *infos) {\n"
    "  RITZ_SHARED_ARRAY CeedScalar A[169], X[169], S[169], b[13], y[13];\n"
    "  RITZ_SHARED_ARRAY int ipiv[13];\n"
    "  const int rank = RITZ_THREAD, size = 32;\n"
    "  int info;\n"
    "  for (int i = rank; i < n * n; i += size) { A[i] = data[i]; S[i] = i % (n + 1) == 0; }\n"
    "  for (int i = rank; i < n; i += size) b[i] = data[3 * n * n + i];\n"
    "  RITZ_BARRIER();\n" TEXT_OF(
        TEAM_CALLS) "\n"
                    "  for (int i = rank; i < n * n; i += size) { data[n * n + i] = X[i]; data[2 * n * n + "
                    "i] = A[i]; }\n"
                    "  for (int i = rank; i < n; i += size) { data[3 * n * n + i] = b[i]; data[3 * n * n + n "
                    "+ i] = y[i]; }\n"
                    "  infos[rank] = info;\n"
                    "}\n"
                    "RITZ_KERNEL(32) alone(RITZ_GLOBAL CeedScalar *data) {\n"
                    "  CeedScalar A[64], b[8];\n"
                    "  int ipiv[8];\n"
                    "  const RitzLong place = RITZ_ITEM;\n"
                    "  for (int i = 0; i < 64; i++) A[i] = data[place * 72 + i];\n"
                    "  for (int i = 0; i < 8; i++) b[i] = data[place * 72 + 64 + i];\n"
                    "  ritz_thread_getrf(8, A, ipiv);\n"
                    "  ritz_thread_getrs(8, 0, 1, A, ipiv, b);\n"
                    "  for (int i = 0; i < 8; i++) data[place * 72 + 64 + i] = b[i];\n"
                    "}\n";

// What the team has made of A and b: X, A^-T b, S^-1 A b.
static void check_team(const double *A, const double *b, const double *X, const double *x, const double *y) {
  double S[TEAM_NUM], product[TEAM_N], column[TEAM_N], unit[TEAM_N];
  // Sums of 13 terms; the size of A^T A and its rounding against the solution's are within the factor.
  const double tolerance = 100 * TEAM_N * eps;

  check_solution(TEAM_N, A, true, x, b, tolerance, "A^T x = b", 0);
  for (int c = 0; c < TEAM_N; c++) {
    product[c] = 0;
    for (int l = 0; l < TEAM_N; l++) product[c] += A[c + l * TEAM_N] * b[l];
    for (int r = 0; r < TEAM_N; r++) {
      S[r + c * TEAM_N] = r == c;
      for (int l = 0; l < TEAM_N; l++) S[r + c * TEAM_N] += A[l + r * TEAM_N] * A[l + c * TEAM_N];
      column[r] = X[r + c * TEAM_N];
      unit[r] = r == c;
    }
    check_solution(TEAM_N, A, false, column, unit, tolerance, "A X = 1", c);
  }
  check_solution(TEAM_N, S, false, y, product, tolerance, "S y = A b", 0);
}

TEST(a_team_of_one_thread_solves_and_inverts_on_the_host) {
  const int n = TEAM_N, rank = 0, size = 1;
  uint64_t seed = 3;
  double *given = reference_new_random(TEAM_NUM + TEAM_N, &seed), found[TEAM_NUM + 2 * TEAM_N];
  CeedScalar A[TEAM_NUM], X[TEAM_NUM], S[TEAM_NUM], b[TEAM_N], y[TEAM_N];
  int ipiv[TEAM_N], info;

  for (int i = 0; i < TEAM_NUM; i++) {
    A[i] = (CeedScalar)given[i];
    S[i] = i % (TEAM_N + 1) == 0;
  }
  for (int i = 0; i < TEAM_N; i++) b[i] = (CeedScalar)given[TEAM_NUM + i];
  TEAM_CALLS
  for (int i = 0; i < TEAM_NUM; i++) found[i] = (double)X[i];
  for (int i = 0; i < TEAM_N; i++) {
    found[TEAM_NUM + i] = (double)b[i];
    found[TEAM_NUM + TEAM_N + i] = (double)y[i];
  }
  if (tap_check(info == 0, __FILE__, __LINE__, "info == 0", "info %d", info))
    check_team(given, given + TEAM_NUM, found, found + TEAM_NUM, found + TEAM_NUM + TEAM_N);
  free(given);
}

// A header below include/ without its own inclusions of the system's headers, those of the library's
// expanded.
static void write_expanded(const char *path, FILE *to) {
  char line[1024], name[301], inner[512];
  FILE *from = fopen(path, "r");

  if (!from) abort();
  while (fgets(line, sizeof(line), from)) {
    if (sscanf(line, "#include <%300[^>]>", name) == 1)
      snprintf(inner, sizeof(inner), "include/%s", name);
    else if (sscanf(line, "#include \"ceed-%300[^\"]\"", name) == 1)
      snprintf(inner, sizeof(inner), "include/ceed/ceed-%s", name);
    else
      inner[0] = '\0';
    if (!inner[0])
      fputs(line, to);
    else if (!strncmp(inner, "include/ceed/", 13) || !strncmp(inner, "include/ritz/", 13))
      write_expanded(inner, to);
  }
  fclose(from);
}

// The library's language for kernels if it is wanted, the header, the kernels above; to be freed.
static char *make_text(bool has_language) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);

  if (has_language && sizeof(CeedScalar) == sizeof(float)) fputs("#define RITZ_SCALAR_F32\n", stream);
  if (has_language) write_expanded("kernels/gpu/language.h", stream);
  write_expanded("include/ritz/jit-source/batched-device.h", stream);
  fputs(team_kernel, stream);
  fclose(stream);
  return text;
}

static int run_team(Ceed ceed, CeedVector data, CeedVector infos) {
  char *text = make_text(false);
  CeedScalar *numbers = NULL, *ints = NULL;
  RitzGpuKernel kernel = {0};
  int ierr =
      ritz_gpu_kernel_describe(ceed, &(RitzGpuText){.name = "team", .num = 1, .texts = {text}}, &kernel);

  free(text);
  if (ierr) return ierr;
  ierr = CeedVectorGetArray(data, CEED_MEM_DEVICE, &numbers);
  if (!ierr) ierr = CeedVectorGetArrayWrite(infos, CEED_MEM_DEVICE, &ints);
  if (!ierr)
    ierr = RITZ_GPU_RUN(ceed, &kernel, "team", 1, TEAM_THREADS, RITZ_INT(TEAM_N), RITZ_POINTER(numbers),
                        RITZ_POINTER(ints));
  if (ints) CeedVectorRestoreArray(infos, &ints);
  if (numbers) CeedVectorRestoreArray(data, &numbers);
  ritz_gpu_kernel_release(ceed, &kernel);
  return ierr;
}

static void team_on(Ceed ceed) {
  const CeedSize num = 3 * TEAM_NUM + 2 * TEAM_N;
  uint64_t seed = 3;
  double *given = reference_new_random(num, &seed), *found = reference_new(num);
  CeedVector data = reference_vector(ceed, num, given), infos = NULL;
  const CeedScalar *ints = NULL;
  int32_t values[TEAM_THREADS];

  CHECK_OK(CeedVectorCreate(ceed, TEAM_THREADS, &infos)); // room enough for as many int32_t
  CHECK_OK(CeedVectorSetValue(infos, 1));
  CHECK_OK(run_team(ceed, data, infos));
  reference_values(data, found);
  CHECK_OK(CeedVectorGetArrayRead(infos, CEED_MEM_HOST, &ints));
  memcpy(values, ints, sizeof(values));
  CHECK_OK(CeedVectorRestoreArrayRead(infos, &ints));
  for (int i = 0; i < TEAM_THREADS; i++) CHECK(values[i] == 0, "thread %d: info %d", i, (int)values[i]);
  check_team(given, given + 3 * TEAM_NUM, found + TEAM_NUM, found + 3 * TEAM_NUM,
             found + 3 * TEAM_NUM + TEAM_N);
  free(given), free(found);
  CeedVectorDestroy(&data), CeedVectorDestroy(&infos);
}

TEST_EACH_BACKEND(a_team_of_threads_solves_and_inverts_in_a_kernel) {
  if (!strstr(resource_of(ceed), "/gpu/") || !strstr(resource_of(ceed), "/ref"))
    NOT_FOR_THIS_BACKEND("one context of a device runs kernels as all do");
  team_on(ceed);
}

TEST(matrices_of_a_thread_are_registers_on_cuda) {
  const char *why = NULL;
  RitzDeviceCode code = {.bytes = NULL};
  Ceed ceed;

  if (!ritz_nvrtc_version(&why)) SKIP("%s", why);
  ceed = tap_ceed("/cpu/self/ref");
  char *text = make_text(true);
  const int ierr = ritz_nvrtc_compile(ceed, "sm_90", "batched-device.cu", text, &code, &why);
  free(text);
  CHECK_OK(ierr);
  CHECK(code.bytes, "%s", code.log);
  for (const char *at = code.log; (at = strstr(at, " bytes stack frame")); at++)
    CHECK(at[-1] == '0' && at[-2] == ' ', "numbers in memory: %s", code.log);
  CHECK(nvrtc_spills(code.log) == 0, "%s", code.log);
  ritz_device_code_free(&code);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(functions_of_a_thread_solve_invert_and_multiply_at_every_point,
                        pivots_determinants_and_zero_pivots_are_those_of_elimination,
                        cholesky_names_the_first_minor_that_is_not_positive,
                        entries_that_are_no_numbers_touch_nothing_else,
                        a_team_of_one_thread_solves_and_inverts_on_the_host,
                        a_team_of_threads_solves_and_inverts_in_a_kernel,
                        matrices_of_a_thread_are_registers_on_cuda));
}
