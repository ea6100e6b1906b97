// SPDX-License-Identifier: BSD-2-Clause
// Tests of fe/dense.c: QR, pseudo-inverse, symmetric eigenproblems, linear systems.
// Calls the hidden functions of fe/fe.h; their public wrappers are tested with the objects of core/.
#include "tests/tap.h"

#include "base/memory.h"
#include "fe/fe.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_N = 30, MAX_SIZE = MAX_N * MAX_N };
static const double eps = DBL_EPSILON;

// ---- Helpers ----

static void fill_random(size_t n, double *a, uint64_t *seed) {
  for (size_t i = 0; i < n; i++) a[i] = tap_uniform(seed);
}

static double largest(size_t n, const double *a) {
  double m = 0.0;

  for (size_t i = 0; i < n; i++) m = fmax(m, fabs(a[i]));
  return m;
}

// C [m][n] = A [m][k] B [k][n]
static void multiply(int m, int k, int n, const double *A, const double *B, double *C) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      C[i * n + j] = 0.0;
      for (int l = 0; l < k; l++) C[i * n + j] += A[i * k + l] * B[l * n + j];
    }
  }
}

// T [n][m] = A [m][n]^T
static void transpose(int m, int n, const double *A, double *T) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) T[j * m + i] = A[i * n + j];
  }
}

// Largest difference of A from diag(d); d = NULL: from the identity. NaN if A holds one.
static double distance_from_diagonal(int n, const double *A, const double *d) {
  double worst = 0.0;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double error = fabs(A[i * n + j] - (i == j ? (d ? d[i] : 1.0) : 0.0));

      if (error > worst || isnan(error)) worst = error;
    }
  }
  return worst;
}

// Largest difference of the entries; NaN if there is one.
static double distance(size_t n, const double *a, const double *b) {
  double worst = 0.0;

  for (size_t i = 0; i < n; i++) {
    double error = fabs(a[i] - b[i]);

    if (error > worst || isnan(error)) worst = error;
  }
  return worst;
}

// X^T M X for square matrices.
static void congruence(int n, const double *M, const double *X, double *result) {
  static double XT[MAX_SIZE], MX[MAX_SIZE];

  transpose(n, n, X, XT);
  multiply(n, n, n, M, X, MX);
  multiply(n, n, n, XT, MX, result);
}

static void fill_symmetric(int n, double *A, uint64_t *seed) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = tap_uniform(seed);
  }
}

// A random orthogonal matrix: the Q of a random matrix.
static void fill_orthogonal(int n, double *V, uint64_t *seed) {
  static double reflectors[MAX_SIZE], tau[MAX_N];

  fill_random((size_t)n * n, reflectors, seed);
  ritz_fe_qr(NULL, reflectors, tau, n, n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) V[i * n + j] = i == j;
  }
  ritz_fe_householder_apply_q(V, reflectors, tau, CEED_NOTRANSPOSE, n, n, n, n, 1);
}

// A = V diag(lambda) V^T with a random orthogonal V, symmetric to the last bit.
static void fill_with_eigenvalues(int n, const double *lambda, double *A, uint64_t *seed) {
  static double V[MAX_SIZE];

  fill_orthogonal(n, V, seed);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = 0.0;

      for (int k = 0; k < n; k++) sum += V[i * n + k] * lambda[k] * V[j * n + k];
      A[i * n + j] = A[j * n + i] = sum;
    }
  }
}

// ---- QR and pseudo-inverse ----

static const struct {
  int m, n;
} qr_shapes[] = {{1, 1}, {2, 1}, {2, 2}, {4, 3}, {4, 4}, {9, 5}, {20, 20}, {30, 7}};
enum { NUM_QR_SHAPES = sizeof(qr_shapes) / sizeof(qr_shapes[0]) };

TEST(qr_reconstructs_the_matrix) {
  static double A[MAX_SIZE], QR[MAX_SIZE], R[MAX_SIZE], tau[MAX_N];
  uint64_t seed = 5;

  for (int s = 0; s < NUM_QR_SHAPES; s++) {
    int m = qr_shapes[s].m, n = qr_shapes[s].n;

    fill_random((size_t)(m * n), A, &seed);
    memcpy(QR, A, sizeof(A));
    CHECK_OK(ritz_fe_qr(NULL, QR, tau, m, n));
    for (int i = 0; i < m * n; i++) R[i] = i / n <= i % n ? QR[i] : 0.0;
    ritz_fe_householder_apply_q(R, QR, tau, CEED_NOTRANSPOSE, m, n, n, n, 1);
    // n reflections of columns of length below sqrt(m).
    CHECK(distance((size_t)(m * n), R, A) <= 4 * eps * n * sqrt(m), "%d x %d", m, n);
  }
}

TEST(q_is_orthogonal_and_its_transpose_is_its_inverse) {
  static double QR[MAX_SIZE], Q[MAX_SIZE], QT[MAX_SIZE], product[MAX_SIZE], tau[MAX_N];
  uint64_t seed = 6;

  for (int s = 0; s < NUM_QR_SHAPES; s++) {
    int m = qr_shapes[s].m, n = qr_shapes[s].n;
    double tolerance = 8 * eps * n * sqrt(m);

    fill_random((size_t)(m * n), QR, &seed);
    CHECK_OK(ritz_fe_qr(NULL, QR, tau, m, n));
    for (int i = 0; i < m * m; i++) Q[i] = QT[i] = i / m == i % m;
    ritz_fe_householder_apply_q(Q, QR, tau, CEED_NOTRANSPOSE, m, m, n, m, 1);
    ritz_fe_householder_apply_q(QT, QR, tau, CEED_TRANSPOSE, m, m, n, m, 1);
    transpose(m, m, Q, product);
    CHECK(distance((size_t)(m * m), product, QT) <= tolerance, "Q^T of %d x %d", m, n);
    multiply(m, m, m, QT, Q, product);
    CHECK(distance_from_diagonal(m, product, NULL) <= tolerance, "Q^T Q of %d x %d", m, n);
  }
}

TEST(q_applies_to_matrices_stored_by_columns) {
  double QR[12], tau[3], by_rows[8], by_columns[8], back[8];
  uint64_t seed = 7;

  fill_random(12, QR, &seed);
  fill_random(8, by_rows, &seed);
  transpose(4, 2, by_rows, by_columns);
  CHECK_OK(ritz_fe_qr(NULL, QR, tau, 4, 3));
  ritz_fe_householder_apply_q(by_rows, QR, tau, CEED_TRANSPOSE, 4, 2, 3, 2, 1);
  ritz_fe_householder_apply_q(by_columns, QR, tau, CEED_TRANSPOSE, 4, 2, 3, 1, 4);
  transpose(2, 4, by_columns, back);
  CHECK(memcmp(back, by_rows, sizeof(back)) == 0, "the order of storage must not matter");
}

TEST(qr_follows_the_sign_and_storage_convention) {
  // Column (3, 4): R_00 = -5, v = (1, 4 / 8), tau = 8 / 5; the last reflector of a square matrix is trivial.
  double A[] = {3.0, 1.0, 4.0, 2.0}, negative[] = {-3.0, 4.0}, tau[2];

  CHECK_OK(ritz_fe_qr(NULL, A, tau, 2, 2));
  CHECK_NEAR(A[0], -5.0, 8 * eps, "R_00");
  CHECK_NEAR(A[2], 0.5, eps, "v");
  CHECK_NEAR(tau[0], 1.6, 2 * eps, "tau");
  CHECK(tau[1] == 0.0, "last tau of a square matrix is %g", tau[1]);
  CHECK_OK(ritz_fe_qr(NULL, negative, tau, 2, 1));
  CHECK_NEAR(negative[0], 5.0, 8 * eps, "R_00 of a column that starts below zero");
  CHECK_NEAR(negative[1], -0.5, eps, "v");
}

TEST(qr_accepts_zero_huge_and_tiny_columns) {
  double A[] = {0.0, 1e200, 3e-200, 0.0, 1e200, 4e-200, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, tau[3];

  CHECK_OK(ritz_fe_qr(NULL, A, tau, 4, 3));
  CHECK(A[0] == 0.0 && tau[0] == 0.0, "a zero column needs no reflector");
  CHECK_NEAR(A[4] / 1e200, -1.0, 8 * eps, "huge column");
  CHECK(isfinite(A[5]) && isfinite(A[8]) && tau[1] > 0.0, "tiny column: %g, %g", A[5], A[8]);
}

TEST(pseudoinverse_is_a_left_inverse) {
  static double A[MAX_SIZE], pinv[MAX_SIZE], product[MAX_SIZE];
  uint64_t seed = 8;

  for (int s = 0; s < NUM_QR_SHAPES; s++) {
    int m = qr_shapes[s].m, n = qr_shapes[s].n;

    fill_random((size_t)(m * n), A, &seed);
    CHECK_OK(ritz_fe_pseudoinverse(NULL, A, m, n, pinv));
    multiply(n, m, n, pinv, A, product);
    // The error grows with the condition number, seen in the size of the inverse.
    double tolerance = 4 * eps * m * n * fmax(1.0, largest((size_t)(m * n), pinv));

    CHECK(distance_from_diagonal(n, product, NULL) <= tolerance, "%d x %d", m, n);
    CHECK(tolerance < 1e-9, "%d x %d: the random matrix must be well conditioned", m, n);
  }
}

// (A A^+)^T = A A^+ singles out R^{-1} Q^T among all left inverses.
TEST(pseudoinverse_projects_orthogonally) {
  double A[5 * 3], pinv[3 * 5], projector[25], transposed[25];
  uint64_t seed = 9;

  fill_random(15, A, &seed);
  CHECK_OK(ritz_fe_pseudoinverse(NULL, A, 5, 3, pinv));
  multiply(5, 3, 5, A, pinv, projector);
  transpose(5, 5, projector, transposed);
  CHECK(distance(25, projector, transposed) <= 60 * eps * fmax(1.0, largest(15, pinv)), "not symmetric");
}

TEST(qr_and_pseudoinverse_report_what_they_cannot_do) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double wide[6] = {1, 2, 3, 4, 5, 6}, dependent[] = {1, 2, 0, 3, 6, 1, 5, 10, 1, 7, 14, 3};
  double with_nan[] = {1, 0, 0, NAN}, tau[3], pinv[12];

  CHECK_ERROR(ceed, ritz_fe_qr(ceed, wide, tau, 2, 3), CEED_ERROR_UNSUPPORTED, "2 x 3");
  CHECK_ERROR(ceed, ritz_fe_pseudoinverse(ceed, wide, 2, 3, pinv), CEED_ERROR_UNSUPPORTED, "2 x 3");
  CHECK_ERROR(ceed, ritz_fe_pseudoinverse(ceed, wide, 2, -1, pinv), CEED_ERROR_UNSUPPORTED, "2 x -1");
  CHECK_ERROR(ceed, ritz_fe_pseudoinverse(ceed, dependent, 4, 3, pinv), CEED_ERROR_MAJOR, "column 1");
  CHECK_ERROR(ceed, ritz_fe_pseudoinverse(ceed, with_nan, 2, 2, pinv), CEED_ERROR_MAJOR, "column 1");
  CeedDestroy(&ceed);
}

// ---- Symmetric eigenproblems ----

// V of ritz_fe_symmetric_eigen: orthogonal, V^T A V = diag(lambda), order. Sets *residual relative to the
// largest eigenvalue.
static int solve_eigenproblem(int n, const double *A, double *lambda, double *orthogonality,
                              double *residual) {
  static double V[MAX_SIZE], identity[MAX_SIZE], result[MAX_SIZE];
  size_t size = (size_t)n * n;

  memcpy(V, A, size * sizeof(*V));
  memset(identity, 0, size * sizeof(*identity));
  for (int i = 0; i < n; i++) identity[i * n + i] = 1.0;
  int ierr = ritz_fe_symmetric_eigen(NULL, V, lambda, n);

  congruence(n, identity, V, result);
  *orthogonality = distance_from_diagonal(n, result, NULL);
  congruence(n, A, V, result);
  *residual = distance_from_diagonal(n, result, lambda) / fmax(largest((size_t)n, lambda), DBL_MIN);
  return ierr;
}

// Each column of V passes through about n rotations in each of some 8 sweeps, errors add like a random walk;
// the products that check it have n terms.
static double eigen_tolerance(int n) { return 8 * eps * n; }

TEST(eigenvectors_of_random_symmetric_matrices_diagonalise_them) {
  static double A[MAX_SIZE];
  double lambda[MAX_N], orthogonality, residual;
  uint64_t seed = 10;

  for (int n = 2; n <= 20; n++) {
    fill_symmetric(n, A, &seed);
    CHECK_OK(solve_eigenproblem(n, A, lambda, &orthogonality, &residual));
    CHECK(orthogonality <= eigen_tolerance(n), "n = %d: %g", n, orthogonality);
    CHECK(residual <= eigen_tolerance(n), "n = %d: %g", n, residual);
    for (int k = 1; k < n; k++) CHECK(fabs(lambda[k]) >= fabs(lambda[k - 1]), "n = %d, order at %d", n, k);
  }
}

// The standard asks for 100 CEED_EPSILON at this size.
TEST(eigen_decomposition_of_a_4_by_4_matrix_is_accurate_to_round_off) {
  double A[16], lambda[4], orthogonality, residual;
  uint64_t seed = 11;

  for (int trial = 0; trial < 100; trial++) {
    fill_symmetric(4, A, &seed);
    CHECK_OK(solve_eigenproblem(4, A, lambda, &orthogonality, &residual));
    CHECK(orthogonality <= 1e-14 && residual <= 1e-14, "trial %d: %g, %g", trial, orthogonality, residual);
  }
}

TEST(eigenvalues_of_a_diagonal_matrix_are_its_sorted_diagonal) {
  double A[16] = {3.0, 0, 0, 0, 0, -1.0, 0, 0, 0, 0, 0.0, 0, 0, 0, 0, 2.0}, lambda[4];
  const double sorted[4] = {0.0, -1.0, 2.0, 3.0};

  CHECK_OK(ritz_fe_symmetric_eigen(NULL, A, lambda, 4));
  CHECK(distance(4, lambda, sorted) == 0.0, "eigenvalues %g %g %g %g", lambda[0], lambda[1], lambda[2],
        lambda[3]);
  CHECK(A[2 * 4] == 1.0 && A[1 * 4 + 1] == 1.0 && A[3 * 4 + 2] == 1.0 && A[0 * 4 + 3] == 1.0,
        "eigenvectors are the unit vectors");
}

TEST(known_eigenvalues_are_recovered_even_when_repeated) {
  static double A[MAX_SIZE];
  double lambda[MAX_N], wanted[MAX_N], orthogonality, residual;
  uint64_t seed = 12;

  for (int n = 2; n <= 20; n++) {
    for (int k = 0; k < n; k++) wanted[k] = k < n / 2 ? 1.0 : k < n - 1 ? 3.0 : -7.0;
    fill_with_eigenvalues(n, wanted, A, &seed);
    CHECK_OK(solve_eigenproblem(n, A, lambda, &orthogonality, &residual));
    CHECK(orthogonality <= eigen_tolerance(n) && residual <= eigen_tolerance(n), "n = %d: %g, %g", n,
          orthogonality, residual);
    CHECK(distance((size_t)n, lambda, wanted) <= 7 * eigen_tolerance(n), "n = %d", n);
  }
}

TEST(eigenproblem_does_not_depend_on_the_scale) {
  static const double scales[] = {1e-150, 1e150};
  double A[25], orthogonality, residual, lambda[5];
  uint64_t seed = 13;

  for (int s = 0; s < 2; s++) {
    fill_symmetric(5, A, &seed);
    for (int i = 0; i < 25; i++) A[i] *= scales[s];
    CHECK_OK(solve_eigenproblem(5, A, lambda, &orthogonality, &residual));
    CHECK(orthogonality <= eigen_tolerance(5) && residual <= eigen_tolerance(5), "scale %g: %g, %g",
          scales[s], orthogonality, residual);
  }
}

TEST(eigen_decomposition_of_the_zero_matrix_is_the_identity) {
  double A[9] = {0}, lambda[3];

  CHECK_OK(ritz_fe_symmetric_eigen(NULL, A, lambda, 3));
  CHECK(distance_from_diagonal(3, A, NULL) == 0.0 && largest(3, lambda) == 0.0, "lambda %g", lambda[0]);
}

TEST(simultaneous_diagonalization_diagonalises_both_matrices) {
  static double A[MAX_SIZE], B[MAX_SIZE], X[MAX_SIZE], result[MAX_SIZE], A_copy[MAX_SIZE], B_copy[MAX_SIZE];
  double lambda[MAX_N], spectrum[MAX_N];
  uint64_t seed = 14;

  for (int n = 2; n <= 20; n++) {
    for (int k = 0; k < n; k++) spectrum[k] = 1.0 + (double)k / n;
    fill_symmetric(n, A, &seed);
    fill_with_eigenvalues(n, spectrum, B, &seed);
    memcpy(A_copy, A, sizeof(A));
    memcpy(B_copy, B, sizeof(B));
    CHECK_OK(ritz_fe_simultaneous_diagonalization(NULL, A, B, X, lambda, n));
    CHECK(memcmp(A, A_copy, sizeof(A)) == 0 && memcmp(B, B_copy, sizeof(B)) == 0, "n = %d: input changed", n);
    // The condition number of B is below 2, so that the bounds of the eigenproblem stay, twice.
    congruence(n, B, X, result);
    CHECK(distance_from_diagonal(n, result, NULL) <= 2 * eigen_tolerance(n), "X^T B X, n = %d", n);
    congruence(n, A, X, result);
    CHECK(distance_from_diagonal(n, result, lambda) <= 2 * eigen_tolerance(n) * largest((size_t)n, lambda),
          "X^T A X, n = %d", n);
    for (int k = 1; k < n; k++) CHECK(fabs(lambda[k]) >= fabs(lambda[k - 1]), "n = %d, order at %d", n, k);
  }
}

// K = D^T W D and M = diag(W) on P Lobatto nodes: the 1D problem of the fast diagonalization method.
// Constants are in the kernel of K.
TEST(laplacian_and_mass_on_lobatto_nodes_are_diagonalised) {
  double nodes[MAX_N], w[MAX_N], lambda[MAX_N];
  static double D[MAX_SIZE], WD[MAX_SIZE], DT[MAX_SIZE], K[MAX_SIZE], M[MAX_SIZE], X[MAX_SIZE],
      result[MAX_SIZE];

  for (int P = 2; P <= 16; P++) {
    memset(M, 0, sizeof(M));
    ritz_fe_gauss_lobatto(P, nodes, w);
    CHECK_OK(ritz_fe_lagrange(NULL, P, nodes, P, nodes, NULL, D));
    for (int i = 0; i < P * P; i++) WD[i] = w[i / P] * D[i];
    for (int i = 0; i < P; i++) M[i * P + i] = w[i];
    transpose(P, P, D, DT);
    multiply(P, P, P, DT, WD, K);
    CHECK_OK(ritz_fe_simultaneous_diagonalization(NULL, K, M, X, lambda, P));
    // Entries of X are up to 1 / sqrt(w_0) ~ P; lambda is up to P^4 / 2.
    double tolerance = 2 * eigen_tolerance(P) * P * P;

    congruence(P, M, X, result);
    CHECK(distance_from_diagonal(P, result, NULL) <= tolerance, "X^T M X, P = %d", P);
    congruence(P, K, X, result);
    CHECK(distance_from_diagonal(P, result, lambda) <= tolerance * lambda[P - 1], "X^T K X, P = %d", P);
    CHECK_NEAR(lambda[0], 0.0, eigen_tolerance(P) * lambda[P - 1], "P = %d", P);
    CHECK(lambda[1] > 0.9, "P = %d: the kernel has one dimension, yet lambda is %g", P, lambda[1]);
  }
}

TEST(eigenproblems_report_what_they_cannot_do) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double A[] = {1, 2, 2, 1}, B[] = {1, 2, 2, 4}, skew[] = {1, 2, -2, 1}, bad[] = {1, NAN, NAN, 1};
  double infinite[] = {INFINITY, 0, 0, 1}, zero[] = {0, 0, 0, 0}, good[] = {2, 1, 1, 2}, X[4], lambda[2];

  CHECK_ERROR(ceed, ritz_fe_symmetric_eigen(ceed, A, lambda, 1), CEED_ERROR_UNSUPPORTED, "size is 1");
  CHECK_ERROR(ceed, ritz_fe_symmetric_eigen(ceed, skew, lambda, 2), CEED_ERROR_MINOR, "must be symmetric");
  CHECK_ERROR(ceed, ritz_fe_symmetric_eigen(ceed, bad, lambda, 2), CEED_ERROR_MINOR, "must be symmetric");
  CHECK_ERROR(ceed, ritz_fe_symmetric_eigen(ceed, infinite, lambda, 2), CEED_ERROR_MINOR, "entry (0, 0)");
  CHECK_ERROR(ceed, ritz_fe_simultaneous_diagonalization(ceed, A, good, X, lambda, 1), CEED_ERROR_UNSUPPORTED,
              "size is 1");
  CHECK_ERROR(ceed, ritz_fe_simultaneous_diagonalization(ceed, A, A, X, lambda, 2), CEED_ERROR_MINOR,
              "not positive definite");
  CHECK_ERROR(ceed, ritz_fe_simultaneous_diagonalization(ceed, A, B, X, lambda, 2), CEED_ERROR_MINOR,
              "not positive definite");
  CHECK_ERROR(ceed, ritz_fe_simultaneous_diagonalization(ceed, A, zero, X, lambda, 2), CEED_ERROR_MINOR,
              "not positive definite");
  CHECK_ERROR(ceed, ritz_fe_simultaneous_diagonalization(ceed, skew, good, X, lambda, 2), CEED_ERROR_MINOR,
              "must be symmetric");
  CeedDestroy(&ceed);
}

// B = v v^T + w w^T has rank 2 in exact arithmetic; round-off makes its last pivot positive about every other
// time. The leading 2 x 2 block is well conditioned: a bad one would lift round-off above any threshold.
TEST(simultaneous_diagonalization_rejects_semidefinite_matrices) {
  double A[9], B[9], X[9], lambda[3], v[3], w[3];
  uint64_t seed = 16;

  for (int trial = 0; trial < 50; trial++) {
    fill_symmetric(3, A, &seed);
    fill_random(3, v, &seed);
    fill_random(3, w, &seed);
    v[0] = w[1] = 2.0;
    for (int i = 0; i < 9; i++) B[i] = v[i / 3] * v[i % 3] + w[i / 3] * w[i % 3];
    CHECK_ERROR(NULL, ritz_fe_simultaneous_diagonalization(NULL, A, B, X, lambda, 3), CEED_ERROR_MINOR,
                "not positive definite");
  }
}

// ---- Linear systems ----

TEST(solve_recovers_random_solutions) {
  static double A[MAX_SIZE], LU[MAX_SIZE], x[MAX_SIZE], b[MAX_SIZE], Ax[MAX_SIZE];
  uint64_t seed = 15;

  for (int n = 1; n <= 30; n++) {
    int nrhs = 1 + n % 4;

    fill_random((size_t)(n * n), A, &seed);
    fill_random((size_t)(n * nrhs), b, &seed);
    memcpy(LU, A, sizeof(A));
    memcpy(x, b, sizeof(b));
    CHECK_OK(ritz_fe_solve(NULL, n, LU, nrhs, x));
    multiply(n, n, nrhs, A, x, Ax);
    // Partial pivoting is backward stable: the residual is round-off of the size of the solution, however
    // ill-conditioned the matrix.
    CHECK(distance((size_t)(n * nrhs), Ax, b) <= 4 * eps * n * fmax(1.0, largest((size_t)(n * nrhs), x)),
          "n = %d", n);
  }
}

TEST(solve_interchanges_rows_and_ignores_scaling) {
  double swapped[] = {0, 2, 1, 0}, b[] = {6, 5};
  // Columns and rows of very different size, as far from singular as the identity.
  double scaled[] = {1e-30, 1e-10, 0, 1e10}, c[] = {2e-10, 1e10}, triangle[] = {1, 1e20, 0, 1},
         d[] = {1e20, 1};

  CHECK_OK(ritz_fe_solve(NULL, 2, swapped, 1, b));
  CHECK(b[0] == 5.0 && b[1] == 3.0, "%g, %g", b[0], b[1]);
  CHECK_OK(ritz_fe_solve(NULL, 2, scaled, 1, c));
  CHECK_NEAR(c[0], 1e20, 8 * eps * 1e20, "first unknown");
  CHECK_NEAR(c[1], 1.0, 8 * eps, "second unknown");
  CHECK_OK(ritz_fe_solve(NULL, 2, triangle, 1, d));
  CHECK(d[0] == 0.0 && d[1] == 1.0, "%g, %g", d[0], d[1]);
}

TEST(solve_detects_singular_matrices) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  double zero[] = {0, 0, 0, 0}, proportional[] = {1, 2, 2, 4}, arithmetic[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  double bad[] = {1, 1, 1, NAN}, tenths[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, b[3] = {1, 1, 1};

  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 2, zero, 1, b), CEED_ERROR_MAJOR, "singular");
  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 2, proportional, 1, b), CEED_ERROR_MAJOR, "singular");
  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 3, arithmetic, 1, b), CEED_ERROR_MAJOR, "singular");
  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 3, tenths, 1, b), CEED_ERROR_MAJOR, "singular");
  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 2, bad, 1, b), CEED_ERROR_MAJOR, "singular");
  CHECK_ERROR(ceed, ritz_fe_solve(ceed, 0, bad, 1, b), CEED_ERROR_DIMENSION, "size is 0");
  CeedDestroy(&ceed);
}

// ---- Memory ----

static int call_pseudoinverse(void) {
  const double A[] = {1, 2, 3, 5};
  double pinv[4];

  return ritz_fe_pseudoinverse(NULL, A, 2, 2, pinv);
}

static int call_symmetric_eigen(void) {
  double A[] = {2, 1, 1, 2}, lambda[2];

  return ritz_fe_symmetric_eigen(NULL, A, lambda, 2);
}

static int call_simultaneous_diagonalization(void) {
  const double A[] = {1, 2, 2, 1}, B[] = {2, 1, 1, 2};
  double X[4], lambda[2];

  return ritz_fe_simultaneous_diagonalization(NULL, A, B, X, lambda, 2);
}

TEST(every_failing_allocation_is_reported_and_nothing_leaks) {
  static int (*const calls[])(void) = {call_pseudoinverse, call_symmetric_eigen,
                                       call_simultaneous_diagonalization};

  for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
    int64_t live = ritz_memory_live();
    int num_failures = 0, ierr;

    do {
      ritz_memory_fail_at(num_failures + 1);
      ierr = calls[c]();
      ritz_memory_fail_at(0);
      CHECK(ritz_memory_live() == live, "call %d, allocation %d", (int)c, num_failures);
      CHECK(ierr == CEED_ERROR_SUCCESS || ierr == CEED_ERROR_MAJOR, "call %d returned %d", (int)c, ierr);
    } while (ierr && ++num_failures < 100);
    CHECK(num_failures > 0 && num_failures < 100, "call %d allocates: %d failures", (int)c, num_failures);
  }
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(qr_reconstructs_the_matrix, q_is_orthogonal_and_its_transpose_is_its_inverse,
            q_applies_to_matrices_stored_by_columns, qr_follows_the_sign_and_storage_convention,
            qr_accepts_zero_huge_and_tiny_columns, pseudoinverse_is_a_left_inverse,
            pseudoinverse_projects_orthogonally, qr_and_pseudoinverse_report_what_they_cannot_do,
            eigenvectors_of_random_symmetric_matrices_diagonalise_them,
            eigen_decomposition_of_a_4_by_4_matrix_is_accurate_to_round_off,
            eigenvalues_of_a_diagonal_matrix_are_its_sorted_diagonal,
            known_eigenvalues_are_recovered_even_when_repeated, eigenproblem_does_not_depend_on_the_scale,
            eigen_decomposition_of_the_zero_matrix_is_the_identity,
            simultaneous_diagonalization_diagonalises_both_matrices,
            laplacian_and_mass_on_lobatto_nodes_are_diagonalised, eigenproblems_report_what_they_cannot_do,
            simultaneous_diagonalization_rejects_semidefinite_matrices, solve_recovers_random_solutions,
            solve_interchanges_rows_and_ignores_scaling, solve_detects_singular_matrices,
            every_failing_allocation_is_reported_and_nothing_leaks));
}
