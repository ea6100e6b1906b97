// SPDX-License-Identifier: BSD-2-Clause
// One line of nodes through the two cells beside a vertex: stiffness and mass, eigenvectors of the free
// nodes, extensions of the ends (layout and meaning: fe.h). The algebra in exact arithmetic is that of S.
// Lynch, Rice, Thomas 1964 (fast diagonalization); the extensions are orthogonal to the interior in M.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fe/fe.h"

typedef struct {
  Ceed ceed;
  int p, n, m;             // n, m: interior and closure nodes
  int first_free, num;     // of interior nodes
  double *A, *M;           // [m][m]
  double *S, *lambda;      // [n][n], [n]
  double *left, *right;    // [n][n]: a problem to be diagonalized
  double *vectors, *value; // its solution [n][n], [n]
} Line;

// Stiffness and mass [p+1][p+1] of a cell of length 1, integrated exactly.
static int fill_cell(Ceed ceed, int p, double *K, double *M) {
  const int P = p + 1;
  double *work = NULL;
  int ierr;

  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)(3 * P + 2 * P * P), &work));
  double *nodes = work, *points = nodes + P, *weights = points + P, *values = weights + P,
         *derivatives = values + P * P;
  ritz_fe_gauss_lobatto(P, nodes, NULL);
  ritz_fe_gauss(P, points, weights);
  RITZ_TRY_CLEANUP(ritz_fe_lagrange(ceed, P, nodes, P, points, values, derivatives));
  for (int i = 0; i < P * P; i++) K[i] = M[i] = 0;
  for (int q = 0; q < P; q++) {
    for (int i = 0; i < P * P; i++) {
      K[i] += 2 * weights[q] * derivatives[q * P + i / P] * derivatives[q * P + i % P];
      M[i] += 0.5 * weights[q] * values[q * P + i / P] * values[q * P + i % P];
    }
  }
cleanup:
  RITZ_FREE(&work);
  return ierr;
}

static int fill_closure(Line *line, const double length[2]) {
  const int P = line->p + 1;
  double *K = NULL;

  RITZ_TRY(RITZ_MALLOC(line->ceed, (size_t)(2 * P * P), &K));
  const int ierr = fill_cell(line->ceed, line->p, K, K + P * P);
  for (int side = 0; side < 2 && !ierr; side++) {
    for (int i = 0; i < P * P && length[side] > 0; i++) {
      const int at = (side * line->p + i / P) * line->m + side * line->p + i % P;

      line->A[at] += K[i] / length[side];
      line->M[at] += K[P * P + i] * length[side];
    }
  }
  RITZ_FREE(&K);
  return ierr;
}

// X^T A X = diag, X^T B X = I, of any size.
static int diagonalize(const Line *line, int size) {
  if (size > 1)
    return ritz_fe_simultaneous_diagonalization(line->ceed, line->left, line->right, line->vectors,
                                                line->value, size);
  if (size == 1) {
    line->vectors[0] = 1 / sqrt(line->right[0]);
    line->value[0] = line->left[0] / line->right[0];
  }
  return CEED_ERROR_SUCCESS;
}

static double interior(const Line *line, const double *matrix, int i, int j) {
  return matrix[(i + 1) * line->m + j + 1];
}

// Modes 0 .. num - 1 of the free nodes.
static int solve_free(Line *line) {
  const int num = line->num;

  for (int i = 0; i < num * num; i++) {
    line->left[i] = interior(line, line->A, line->first_free + i / num, line->first_free + i % num);
    line->right[i] = interior(line, line->M, line->first_free + i / num, line->first_free + i % num);
  }
  RITZ_TRY(diagonalize(line, num));
  for (int i = 0; i < num * num; i++)
    line->S[(line->first_free + i / num) * line->n + i % num] = line->vectors[i];
  for (int k = 0; k < num; k++) line->lambda[k] = line->value[k];
  return CEED_ERROR_SUCCESS;
}

// Modes of one parity, exactly so, from mode `first` on: functions u_i = sign u_(n-1-i), by their values at
// the first `size` nodes. The entry of a pair counts twice, that of the middle once.
static int solve_parity(Line *line, int sign, int first, int size) {
  const int n = line->n, middle = n / 2;

  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) {
      const double twice = (i == middle ? 0.5 : 1) * (j == middle ? 0.5 : 1) * 2;

      line->left[i * size + j] =
          twice * (interior(line, line->A, i, j) + sign * interior(line, line->A, i, n - 1 - j));
      line->right[i * size + j] =
          twice * (interior(line, line->M, i, j) + sign * interior(line, line->M, i, n - 1 - j));
    }
  }
  RITZ_TRY(diagonalize(line, size));
  for (int k = 0; k < size; k++) {
    for (int i = 0; i < size; i++) {
      line->S[i * n + first + k] = line->vectors[i * size + k];
      line->S[(n - 1 - i) * n + first + k] = (i == middle ? 1 : sign) * line->vectors[i * size + k];
    }
    line->lambda[first + k] = line->value[k];
  }
  return CEED_ERROR_SUCCESS;
}

static int solve_modes(Line *line, bool is_symmetric) {
  for (int k = 0; k < line->n; k++) line->lambda[k] = 1;
  if (!is_symmetric) return solve_free(line);
  RITZ_TRY(solve_parity(line, 1, 0, line->p));
  return solve_parity(line, -1, line->p, line->p - 1);
}

// Rows of free nodes, then what follows from the modes.
static void write_rows(const Line *line, double *A, double *M) {
  for (int i = line->first_free; i < line->first_free + line->num; i++) {
    memcpy(A + i * line->m, line->A + (i + 1) * line->m, (size_t)line->m * sizeof(double));
    memcpy(M + i * line->m, line->M + (i + 1) * line->m, (size_t)line->m * sizeof(double));
  }
}

// Sums over the free nodes, from both ends to the middle: where the line is symmetric so are the results, bit
// for bit.
static double sum_free(const Line *line, const double *a, int stride_a, const double *b, int stride_b) {
  const int first = line->first_free, last = first + line->num - 1;
  double sum = 0;

  for (int i = 0; i < line->num / 2; i++) {
    sum += a[(first + i) * stride_a] * b[(first + i) * stride_b] +
           a[(last - i) * stride_a] * b[(last - i) * stride_b];
  }
  if (line->num % 2) sum += a[(first + line->num / 2) * stride_a] * b[(first + line->num / 2) * stride_b];
  return sum;
}

// u = vector of the modes' coefficients: sum_k S[i][k] c_k
static double sum_modes(const Line *line, int i, const double *c, int stride) {
  double sum = 0;

  for (int k = 0; k < line->n; k++) sum += line->S[i * line->n + k] * c[k * stride];
  return sum;
}

static void write_ends(const Line *line, const double *A, const double *modes, double *coupling,
                       double *extension) {
  const int n = line->n, m = line->m;

  for (int s = 0; s < 2; s++) {
    const int end = s * (m - 1);
    double *rows = line->left; // A phi~_s at the interior nodes

    for (int i = 0; i < n; i++) extension[s * n + i] = -sum_modes(line, i, modes + end, m);
    for (int i = 0; i < n; i++)
      rows[i] = A[i * m + end] + sum_free(line, A + i * m + 1, 1, extension + s * n, 1);
    for (int k = 0; k < n; k++) coupling[s * n + k] = sum_free(line, line->S + k, n, rows, 1);
  }
}

// Copies the values of a symmetric line to its other side, so that they are symmetric exactly.
static void mirror_ends(const Line *line, double *modes, double *coupling, double *extension) {
  const int n = line->n, m = line->m;

  for (int k = 0; k < n; k++) {
    const int sign = k < line->p ? 1 : -1;

    for (int c = 0; c < m / 2; c++) modes[k * m + m - 1 - c] = sign * modes[k * m + c];
    if (sign < 0) modes[k * m + m / 2] = 0;
    coupling[n + k] = sign * coupling[k];
  }
  for (int i = 0; i < n; i++) extension[n + i] = extension[n - 1 - i];
}

static int allocate_patch(Line *line) {
  const size_t n = (size_t)line->n, m = (size_t)line->m;

  RITZ_TRY(RITZ_CALLOC(line->ceed, 2 * m * m + 4 * n * n + 2 * n, &line->A));
  line->M = line->A + m * m;
  line->S = line->M + m * m;
  line->left = line->S + n * n;
  line->right = line->left + n * n;
  line->vectors = line->right + n * n;
  line->lambda = line->vectors + n * n;
  line->value = line->lambda + n;
  return CEED_ERROR_SUCCESS;
}

size_t ritz_fe_patch_line_size(int p) {
  const size_t n = 2 * (size_t)p - 1, m = n + 2;

  return 2 * n * m + n * n + n + n * m + 4 * n;
}

int ritz_fe_patch_line(Ceed ceed, int p, const double length[2], int first_free, int num_free,
                       double *table) {
  Line line = {
      .ceed = ceed, .p = p, .n = 2 * p - 1, .m = 2 * p + 1, .first_free = first_free, .num = num_free};
  const int n = line.n, m = line.m;
  const bool is_symmetric = length[0] == length[1] && num_free == n;
  double *A = table, *M = A + n * m, *S = M + n * m, *lambda = S + n * n, *modes = lambda + n,
         *coupling = modes + n * m, *extension = coupling + 2 * n;
  int ierr;

  RITZ_ASSERT(p >= 1 && first_free >= 0 && num_free >= 0 && first_free + num_free <= n);
  memset(table, 0, ritz_fe_patch_line_size(p) * sizeof(*table));
  RITZ_TRY(allocate_patch(&line));
  RITZ_TRY_CLEANUP(fill_closure(&line, length));
  RITZ_TRY_CLEANUP(solve_modes(&line, is_symmetric));
  write_rows(&line, A, M);
  memcpy(S, line.S, (size_t)(n * n) * sizeof(*S));
  memcpy(lambda, line.lambda, (size_t)n * sizeof(*lambda));
  for (int k = 0; k < n; k++) {
    for (int c = 0; c < m; c++) modes[k * m + c] = sum_free(&line, line.S + k, n, M + c, m);
  }
  write_ends(&line, A, modes, coupling, extension);
  if (is_symmetric) mirror_ends(&line, modes, coupling, extension);
cleanup:
  RITZ_FREE(&line.A);
  return ierr;
}
