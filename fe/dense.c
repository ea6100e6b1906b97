// SPDX-License-Identifier: BSD-2-Clause
// Small dense linear algebra: QR, pseudo-inverse, symmetric eigenproblems, linear systems. Row-major, serial.
// Called by core/ for the standard's functions and by mesh/. Leaves large or batched matrices to others.
#include "fe/fe.h"

#include "base/error.h"
#include "base/memory.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double largest_magnitude(size_t n, const double *a) {
  double largest = 0.0;

  for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(a[k]));
  return largest;
}

static void set_identity(double *mat, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) mat[i * cols + j] = i == j;
  }
}

// ---- QR factorisation and what follows from it ----

// Euclidean norm of n numbers, stride apart, without overflow or underflow on the way.
static double norm(size_t n, const double *a, size_t stride) {
  double largest = 0.0, sum = 0.0;

  for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(a[k * stride]));
  if (!(largest > 0.0)) return 0.0;
  for (size_t k = 0; k < n; k++) sum += (a[k * stride] / largest) * (a[k * stride] / largest);
  return largest * sqrt(sum);
}

// a := (I - tau v v^T) a for a of length n and stride; v has length n, its own stride and a first entry that
// counts as 1 and is not read.
static void reflect(size_t n, double tau, const double *v, size_t v_stride, double *a, size_t stride) {
  double dot = a[0];

  for (size_t k = 1; k < n; k++) dot += v[k * v_stride] * a[k * stride];
  dot *= tau;
  a[0] -= dot;
  for (size_t k = 1; k < n; k++) a[k * stride] -= dot * v[k * v_stride];
}

// Makes the reflector that maps column a to beta e_0, beta = -sign(a_0) |a|, so that a_0 - beta never
// cancels: v = (a - beta e_0) / (a_0 - beta), tau = (beta - a_0) / beta. Overwrites a with beta and v;
// returns tau.
static double make_reflector(size_t n, double *a, size_t stride) {
  double length = norm(n, a, stride), beta = a[0] < 0.0 ? length : -length, pivot = a[0] - beta;

  if (length == 0.0) return 0.0;
  for (size_t k = 1; k < n; k++) a[k * stride] /= pivot;
  a[0] = beta;
  return -pivot / beta;
}

int ritz_fe_qr(Ceed ceed, double *mat, double *tau, int m, int n) {
  RITZ_REQUIRE(1 <= n && n <= m, ceed, CEED_ERROR_UNSUPPORTED,
               "QR factorization: matrix is %d x %d, at least one column and as many rows needed", m, n);
  for (size_t i = 0; i < (size_t)n; i++) {
    double *corner = mat + i * n + i;
    size_t length = (size_t)m - i;

    tau[i] = length > 1 ? make_reflector(length, corner, n) : 0.0;
    for (size_t j = 1; j < (size_t)n - i; j++) reflect(length, tau[i], corner, n, corner + j, n);
  }
  return CEED_ERROR_SUCCESS;
}

void ritz_fe_householder_apply_q(double *A, const double *Q, const double *tau, CeedTransposeMode t_mode,
                                 int m, int n, int k, int row, int col) {
  for (size_t step = 0; step < (size_t)k; step++) {
    size_t i = t_mode == CEED_TRANSPOSE ? step : (size_t)k - 1 - step;

    for (size_t j = 0; j < (size_t)n; j++) {
      reflect((size_t)m - i, tau[i], Q + i * k + i, k, A + i * row + j * col, row);
    }
  }
}

// b := R^{-1} b; b has the given stride.
static void solve_upper(size_t n, const double *R, double *b, size_t stride) {
  for (size_t i = n; i-- > 0;) {
    double sum = b[i * stride];

    for (size_t j = i + 1; j < n; j++) sum -= R[i * n + j] * b[j * stride];
    b[i * stride] = sum / R[i * n + i];
  }
}

// Column i depends on those before it when what is left of it, R_ii, is round-off of the column itself.
static int check_rank(Ceed ceed, int m, int n, const double *R) {
  for (size_t i = 0; i < (size_t)n; i++) {
    RITZ_REQUIRE(fabs(R[i * n + i]) > m * DBL_EPSILON * norm(i + 1, R + i, n), ceed, CEED_ERROR_MAJOR,
                 "Pseudoinverse: column %d of the %d x %d matrix depends on the columns before it", (int)i, m,
                 n);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_fe_pseudoinverse(Ceed ceed, const double *mat, int m, int n, double *pinv) {
  size_t size = (size_t)m * n;
  double *work = NULL; // owned: R and reflectors [m][n], tau [n]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(1 <= n && n <= m, ceed, CEED_ERROR_UNSUPPORTED,
               "Pseudoinverse: matrix is %d x %d, at least one column and as many rows needed", m, n);
  RITZ_TRY(RITZ_MALLOC(ceed, size + n, &work));
  double *R = work, *tau = work + size;

  memcpy(R, mat, size * sizeof(*R));
  RITZ_TRY_CLEANUP(ritz_fe_qr(ceed, R, tau, m, n));
  RITZ_TRY_CLEANUP(check_rank(ceed, m, n, R));
  // pinv first holds the leading n columns of Q, transposed.
  set_identity(pinv, n, m);
  ritz_fe_householder_apply_q(pinv, R, tau, CEED_NOTRANSPOSE, m, n, n, 1, m);
  for (size_t j = 0; j < (size_t)m; j++) solve_upper(n, R, pinv + j, m);

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// ---- Symmetric eigenproblems ----

// Jacobi's method is quadratic: matrices of any size at hand need fewer than 10 sweeps.
enum { MAX_SWEEPS = 50 };

// Rejects what is plainly not symmetric, or not finite. The bound is loose: entries may come from single
// precision.
static int check_symmetric(Ceed ceed, const char *call, size_t n, const double *A) {
  double bound = 1e-4 * largest_magnitude(n * n, A);

  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      RITZ_REQUIRE(fabs(A[i * n + j] - A[j * n + i]) <= bound, ceed, CEED_ERROR_MINOR,
                   "%s: matrix must be symmetric; entry (%d, %d) is %g, its mirror image %g", call, (int)i,
                   (int)j, A[i * n + j], A[j * n + i]);
    }
  }
  return CEED_ERROR_SUCCESS;
}

// (a, b) := (c a - s b, s a + c b), written with r = s / (1 + c) so that small rotations lose nothing.
static void rotate(double s, double r, double *a, double *b) {
  double old_a = *a, old_b = *b;

  *a = old_a - s * (old_b + r * old_a);
  *b = old_b + s * (old_a - r * old_b);
}

// A := J^T A J and V := V J with the rotation J in the plane (p, q) that makes A_pq zero.
static void annihilate(size_t n, double *A, double *V, size_t p, size_t q) {
  double apq = A[p * n + q], theta = (A[q * n + q] - A[p * n + p]) / (2.0 * apq);
  double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0)); // tangent of the smaller angle
  double c = 1.0 / hypot(t, 1.0), s = t * c, r = s / (1.0 + c);

  for (size_t k = 0; k < n; k++) {
    rotate(s, r, &V[k * n + p], &V[k * n + q]);
    if (k == p || k == q) continue;
    rotate(s, r, &A[k * n + p], &A[k * n + q]);
    A[p * n + k] = A[k * n + p];
    A[q * n + k] = A[k * n + q];
  }
  A[p * n + p] -= t * apq;
  A[q * n + q] += t * apq;
  A[p * n + q] = A[q * n + p] = 0.0;
}

// Cyclic Jacobi method (Golub & Van Loan, Matrix Computations, section 8.5): the symmetric A becomes
// diagonal, the orthogonal V has the eigenvectors as columns. Off-diagonal entries that together change no
// eigenvalue by more than round-off count as zero.
static int diagonalize(Ceed ceed, size_t n, double *A, double *V) {
  double negligible = 0.125 * DBL_EPSILON * largest_magnitude(n * n, A) / n;
  int num_rotations = 1;

  set_identity(V, n, n);
  for (int sweep = 0; num_rotations; sweep++) {
    RITZ_REQUIRE(sweep < MAX_SWEEPS, ceed, CEED_ERROR_MINOR,
                 "Symmetric eigenproblem of size %d: no convergence after %d sweeps", (int)n, MAX_SWEEPS);
    num_rotations = 0;
    for (size_t p = 0; p < n; p++) {
      for (size_t q = p + 1; q < n; q++) {
        if (fabs(A[p * n + q]) <= negligible) continue;
        annihilate(n, A, V, p, q);
        num_rotations++;
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

static void swap(double *a, double *b) {
  double old = *a;

  *a = *b;
  *b = old;
}

// Reads the eigenvalues off the diagonal of D and sorts them and the columns of V, ascending by magnitude.
static void sort_eigenpairs(size_t n, const double *D, double *lambda, double *V) {
  for (size_t k = 0; k < n; k++) lambda[k] = D[k * n + k];
  for (size_t k = 0; k < n; k++) {
    size_t least = k;

    for (size_t j = k + 1; j < n; j++) {
      if (fabs(lambda[j]) < fabs(lambda[least])) least = j;
    }
    if (least == k) continue;
    swap(&lambda[k], &lambda[least]);
    for (size_t i = 0; i < n; i++) swap(&V[i * n + k], &V[i * n + least]);
  }
}

// C := (A + A^T) / 2: both triangles are used below and must agree to the last bit.
static void copy_symmetric(size_t n, const double *A, double *C) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) C[i * n + j] = C[j * n + i] = 0.5 * A[i * n + j] + 0.5 * A[j * n + i];
  }
}

int ritz_fe_symmetric_eigen(Ceed ceed, double *mat, double *lambda, int n) {
  double *A = NULL; // owned
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(n >= 2, ceed, CEED_ERROR_UNSUPPORTED, "Symmetric eigenproblem: size is %d, at least 2 needed",
               n);
  RITZ_TRY(check_symmetric(ceed, "Symmetric eigenproblem", n, mat));
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)n * n, &A));
  copy_symmetric(n, mat, A);
  RITZ_TRY_CLEANUP(diagonalize(ceed, n, A, mat));
  sort_eigenpairs(n, A, lambda, mat);

cleanup:
  RITZ_FREE(&A);
  return ierr;
}

// B = L L^T in place; the strict upper triangle is not touched. A pivot that is round-off of the diagonal
// entry it came from is not positive.
static int factor_cholesky(Ceed ceed, size_t n, double *B) {
  for (size_t i = 0; i < n; i++) {
    double diagonal = B[i * n + i];

    for (size_t j = 0; j <= i; j++) {
      double sum = B[i * n + j];

      for (size_t k = 0; k < j; k++) sum -= B[i * n + k] * B[j * n + k];
      if (j < i)
        B[i * n + j] = sum / B[j * n + j];
      else
        B[i * n + i] = sum;
    }
    RITZ_REQUIRE(B[i * n + i] > n * DBL_EPSILON * diagonal && diagonal > 0.0, ceed, CEED_ERROR_MINOR,
                 "Simultaneous diagonalization: the second matrix is not positive definite (pivot %d is %g)",
                 (int)i, B[i * n + i]);
    B[i * n + i] = sqrt(B[i * n + i]);
  }
  return CEED_ERROR_SUCCESS;
}

// b := L^{-1} b; b has the given stride.
static void solve_lower(size_t n, const double *L, double *b, size_t stride) {
  for (size_t i = 0; i < n; i++) {
    double sum = b[i * stride];

    for (size_t j = 0; j < i; j++) sum -= L[i * n + j] * b[j * stride];
    b[i * stride] = sum / L[i * n + i];
  }
}

// b := L^{-T} b; b has the given stride.
static void solve_lower_transposed(size_t n, const double *L, double *b, size_t stride) {
  for (size_t i = n; i-- > 0;) {
    double sum = b[i * stride];

    for (size_t j = i + 1; j < n; j++) sum -= L[j * n + i] * b[j * stride];
    b[i * stride] = sum / L[i * n + i];
  }
}

// With B = L L^T the eigenvectors V of C = L^{-1} A L^{-T} give X = L^{-T} V: X^T B X = V^T V = I.
int ritz_fe_simultaneous_diagonalization(Ceed ceed, const double *A, const double *B, double *X,
                                         double *lambda, int n) {
  static const char call[] = "Simultaneous diagonalization";
  double *work = NULL; // owned: L [n][n], C [n][n]
  int ierr = CEED_ERROR_SUCCESS;

  RITZ_REQUIRE(n >= 2, ceed, CEED_ERROR_UNSUPPORTED, "%s: size is %d, at least 2 needed", call, n);
  size_t size = (size_t)n * n;

  RITZ_TRY(check_symmetric(ceed, call, n, A));
  RITZ_TRY(check_symmetric(ceed, call, n, B));
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * size, &work));
  double *L = work, *C = work + size;

  copy_symmetric(n, B, L);
  RITZ_TRY_CLEANUP(factor_cholesky(ceed, n, L));
  copy_symmetric(n, A, X);
  for (int j = 0; j < n; j++) solve_lower(n, L, X + j, n);             // columns: L^{-1} A
  for (int i = 0; i < n; i++) solve_lower(n, L, X + (size_t)i * n, 1); // rows: times L^{-T}
  copy_symmetric(n, X, C);
  RITZ_TRY_CLEANUP(diagonalize(ceed, n, C, X));
  sort_eigenpairs(n, C, lambda, X);
  for (int j = 0; j < n; j++) solve_lower_transposed(n, L, X + j, n);

cleanup:
  RITZ_FREE(&work);
  return ierr;
}

// ---- Linear systems ----

static void swap_rows(double *mat, size_t cols, size_t i, size_t j) {
  for (size_t k = 0; k < cols && i != j; k++) swap(&mat[i * cols + k], &mat[j * cols + k]);
}

// Entry (i, j) minus sum_{p < k} L_ip U_pj. *size receives the sum of the magnitudes of all terms.
static double reduced_entry(size_t n, const double *mat, size_t i, size_t j, size_t k, double *size) {
  double sum = mat[i * n + j];

  *size = fabs(sum);
  for (size_t p = 0; p < k; p++) {
    double term = mat[i * n + p] * mat[p * n + j];

    sum -= term;
    *size += fabs(term);
  }
  return sum;
}

// Reduces column k on and below the diagonal and finds the pivot row. A pivot is zero to rounding when it
// is round-off of the terms that made it: a test that no scaling of rows or columns changes.
static int choose_pivot(Ceed ceed, size_t n, double *mat, size_t k, size_t *pivot_row) {
  double pivot = 0.0, pivot_size = 0.0, size;

  *pivot_row = k;
  for (size_t i = k; i < n; i++) {
    double entry = mat[i * n + k] = reduced_entry(n, mat, i, k, k, &size);

    if (fabs(entry) > pivot) *pivot_row = i, pivot = fabs(entry), pivot_size = size;
  }
  RITZ_REQUIRE(pivot > n * DBL_EPSILON * pivot_size, ceed, CEED_ERROR_MAJOR,
               "Linear system of size %d: the matrix is singular (pivot %d is %g)", (int)n, (int)k, pivot);
  return CEED_ERROR_SUCCESS;
}

// Crout's form of elimination, P mat = L U with unit L: column k of L, then row k of U. Interchanges the rows
// of rhs along.
static int factor_lu(Ceed ceed, size_t n, double *mat, size_t nrhs, double *rhs) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot_row;
    double size;

    RITZ_TRY(choose_pivot(ceed, n, mat, k, &pivot_row));
    swap_rows(mat, n, k, pivot_row);
    swap_rows(rhs, nrhs, k, pivot_row);
    for (size_t i = k + 1; i < n; i++) mat[i * n + k] /= mat[k * n + k];
    for (size_t j = k + 1; j < n; j++) mat[k * n + j] = reduced_entry(n, mat, k, j, k, &size);
  }
  return CEED_ERROR_SUCCESS;
}

// y -= a x
static void subtract(size_t n, double a, const double *x, double *y) {
  for (size_t k = 0; k < n; k++) y[k] -= a * x[k];
}

int ritz_fe_solve(Ceed ceed, int n, double *mat, int nrhs, double *rhs) {
  RITZ_REQUIRE(n >= 1 && nrhs >= 0, ceed, CEED_ERROR_DIMENSION,
               "Linear system: size is %d with %d right-hand sides, at least 1 and 0 needed", n, nrhs);
  size_t size = (size_t)n, cols = (size_t)nrhs;

  RITZ_TRY(factor_lu(ceed, size, mat, cols, rhs));
  for (size_t i = 1; i < size; i++) {
    for (size_t j = 0; j < i; j++) subtract(cols, mat[i * size + j], rhs + j * cols, rhs + i * cols);
  }
  for (size_t i = size; i-- > 0;) {
    for (size_t j = i + 1; j < size; j++) subtract(cols, mat[i * size + j], rhs + j * cols, rhs + i * cols);
    for (size_t k = 0; k < cols; k++) rhs[i * cols + k] /= mat[i * size + i];
  }
  return CEED_ERROR_SUCCESS;
}
