// SPDX-License-Identifier: BSD-2-Clause
// Dense algebra of one matrix of a batch. Included by backends/ref/batched.c once for each precision, with
// RITZ_ENTRY, the type of entries, RITZ_LOOP(name), the name of its loop, RITZ_ROOT, the square root, and
// RITZ_ROUNDOFF, half the distance from 1 to the next number.
// Numbers have the type of entries. info as in ritz/batched.h.

#define AT(M, r, c) (((RITZ_ENTRY *)(M).base)[((r) + (c) * (M).ld) * (M).step])

// ---- Products ----

// C = alpha op(A) op(B) + beta C: C m x n, k products an entry.
static void RITZ_LOOP(gemm)(const Problem *p, bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha, beta = (RITZ_ENTRY)p->beta;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) {
      RITZ_ENTRY sum = 0;

      for (int64_t i = 0; i < k && alpha != 0; i++)
        sum += (ta ? AT(p->A, i, r) : AT(p->A, r, i)) * (tb ? AT(p->B, c, i) : AT(p->B, i, c));
      AT(p->C, r, c) = beta == 0 ? alpha * sum : alpha * sum + beta * AT(p->C, r, c);
    }
  }
}

// The entry of a symmetric matrix of which one triangle is stored.
static RITZ_ENTRY RITZ_LOOP(symmetric)(RitzBatchMatrix A, bool is_lower, int64_t r, int64_t c) {
  return (r >= c) == is_lower ? AT(A, r, c) : AT(A, c, r);
}

// A triangle of C = alpha op(A) op(A)^T + beta C; C is operand B.
static void RITZ_LOOP(syrk)(const Problem *p, bool is_lower, bool ta) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha, beta = (RITZ_ENTRY)p->beta;

  for (int64_t c = 0; c < p->n; c++) {
    for (int64_t r = is_lower ? c : 0; r < (is_lower ? p->n : c + 1); r++) {
      RITZ_ENTRY sum = 0;

      for (int64_t i = 0; i < p->k && alpha != 0; i++)
        sum += (ta ? AT(p->A, i, r) : AT(p->A, r, i)) * (ta ? AT(p->A, i, c) : AT(p->A, c, i));
      AT(p->B, r, c) = beta == 0 ? alpha * sum : alpha * sum + beta * AT(p->B, r, c);
    }
  }
}

// C = alpha A B + beta C, or with B A; C m x n.
static void RITZ_LOOP(symm)(const Problem *p, bool is_lower, bool is_left, int64_t m, int64_t n) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha, beta = (RITZ_ENTRY)p->beta;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) {
      RITZ_ENTRY sum = 0;

      for (int64_t i = 0; i < (is_left ? m : n) && alpha != 0; i++)
        sum += is_left ? RITZ_LOOP(symmetric)(p->A, is_lower, r, i) * AT(p->B, i, c)
                       : AT(p->B, r, i) * RITZ_LOOP(symmetric)(p->A, is_lower, i, c);
      AT(p->C, r, c) = beta == 0 ? alpha * sum : alpha * sum + beta * AT(p->C, r, c);
    }
  }
}

// C = alpha op(A) + beta op(B)
static void RITZ_LOOP(geam)(const Problem *p, bool ta, bool tb) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha, beta = (RITZ_ENTRY)p->beta;

  for (int64_t c = 0; c < p->n; c++) {
    for (int64_t r = 0; r < p->m; r++) {
      const RITZ_ENTRY a = alpha == 0 ? 0 : alpha * (ta ? AT(p->A, c, r) : AT(p->A, r, c));

      AT(p->C, r, c) = beta == 0 ? a : a + beta * (tb ? AT(p->B, c, r) : AT(p->B, r, c));
    }
  }
}

static void RITZ_LOOP(laset)(const Problem *p) {
  for (int64_t c = 0; c < p->n; c++) {
    for (int64_t r = 0; r < p->m; r++) AT(p->A, r, c) = (RITZ_ENTRY)(r == c ? p->beta : p->alpha);
  }
}

// ---- Triangular systems ----

typedef struct {
  RitzBatchMatrix A;
  bool is_lower, is_transposed, is_unit; // of A as it is stored
} RITZ_LOOP(Triangle);

// op(A) x = b for n unknowns, x over b: entries x[0], x[inc], ...
static void RITZ_LOOP(solve_vector)(const RITZ_LOOP(Triangle) * t, int64_t n, RITZ_ENTRY *x, int64_t inc) {
  const bool is_forward = t->is_lower != t->is_transposed;

  for (int64_t step = 0; step < n; step++) {
    const int64_t i = is_forward ? step : n - 1 - step;
    const int64_t first = is_forward ? 0 : i + 1, end = is_forward ? i : n;
    RITZ_ENTRY sum = x[i * inc];

    for (int64_t j = first; j < end; j++)
      sum -= (t->is_transposed ? AT(t->A, j, i) : AT(t->A, i, j)) * x[j * inc];
    x[i * inc] = t->is_unit ? sum : sum / AT(t->A, i, i);
  }
}

// op(A) X = B, X over B, of n columns with m unknowns each.
static void RITZ_LOOP(solve_columns)(const RITZ_LOOP(Triangle) * t, int64_t m, int64_t n, RitzBatchMatrix B) {
  for (int64_t c = 0; c < n && m > 0; c++) RITZ_LOOP(solve_vector)(t, m, &AT(B, 0, c), B.step);
}

// op(A) X = alpha B or X op(A) = alpha B; the rows of B solve with op(A)^T.
static void RITZ_LOOP(trsm)(const RitzBatchedOptions *o, const Problem *p, int64_t m, int64_t n) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha;
  const bool is_left = o->side == RITZ_SIDE_LEFT;
  const RITZ_LOOP(Triangle) t = {p->A, o->uplo == RITZ_TRIANGLE_LOWER,
                                 (o->trans_a == CEED_TRANSPOSE) == is_left, o->diag == RITZ_DIAGONAL_UNIT};

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) AT(p->B, r, c) = alpha == 0 ? 0 : alpha * AT(p->B, r, c);
  }
  if (alpha == 0) return;
  if (is_left) {
    RITZ_LOOP(solve_columns)(&t, m, n, p->B);
    return;
  }
  for (int64_t r = 0; r < m && n > 0; r++)
    RITZ_LOOP(solve_vector)(&t, n, &AT(p->B, r, 0), p->B.ld * p->B.step);
}

// ---- Triangular products ----

// x := op(A) x for n entries x[0], x[inc], ..., in an order in which no entry is read after it is written.
static void RITZ_LOOP(multiply_vector)(const RITZ_LOOP(Triangle) * t, int64_t n, RITZ_ENTRY *x, int64_t inc) {
  const bool is_lower = t->is_lower != t->is_transposed;

  for (int64_t step = 0; step < n; step++) {
    const int64_t i = is_lower ? n - 1 - step : step;
    const int64_t first = is_lower ? 0 : i + 1, end = is_lower ? i : n;
    RITZ_ENTRY sum = t->is_unit ? x[i * inc] : AT(t->A, i, i) * x[i * inc];

    for (int64_t j = first; j < end; j++)
      sum += (t->is_transposed ? AT(t->A, j, i) : AT(t->A, i, j)) * x[j * inc];
    x[i * inc] = sum;
  }
}

// B := alpha op(A) B or alpha B op(A); the rows of B are multiplied by op(A)^T.
static void RITZ_LOOP(trmm)(const RitzBatchedOptions *o, const Problem *p, int64_t m, int64_t n) {
  const RITZ_ENTRY alpha = (RITZ_ENTRY)p->alpha;
  const bool is_left = o->side == RITZ_SIDE_LEFT;
  const RITZ_LOOP(Triangle) t = {p->A, o->uplo == RITZ_TRIANGLE_LOWER,
                                 (o->trans_a == CEED_TRANSPOSE) == is_left, o->diag == RITZ_DIAGONAL_UNIT};

  for (int64_t c = 0; c < n && m > 0 && is_left && alpha != 0; c++)
    RITZ_LOOP(multiply_vector)(&t, m, &AT(p->B, 0, c), p->B.step);
  for (int64_t r = 0; r < m && n > 0 && !is_left && alpha != 0; r++)
    RITZ_LOOP(multiply_vector)(&t, n, &AT(p->B, r, 0), p->B.ld * p->B.step);
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) AT(p->B, r, c) = alpha == 0 ? 0 : alpha * AT(p->B, r, c);
  }
}

// ---- Cholesky ----

// A = L L^T, column after column; the upper factor is L^T, stored there.
static int32_t RITZ_LOOP(potrf)(bool is_lower, RitzBatchMatrix A, int64_t n) {
#define LOWER(r, c) (*(is_lower ? &AT(A, r, c) : &AT(A, c, r)))
  for (int64_t j = 0; j < n; j++) {
    RITZ_ENTRY d = LOWER(j, j);

    for (int64_t i = 0; i < j; i++) d -= LOWER(j, i) * LOWER(j, i);
    if (!(d > 0)) return (int32_t)(j + 1); // NaN, too
    d = RITZ_ROOT(d);
    LOWER(j, j) = d;
    for (int64_t r = j + 1; r < n; r++) {
      RITZ_ENTRY sum = LOWER(r, j);

      for (int64_t i = 0; i < j; i++) sum -= LOWER(r, i) * LOWER(j, i);
      LOWER(r, j) = sum / d;
    }
  }
  return 0;
#undef LOWER
}

static void RITZ_LOOP(potrs)(bool is_lower, const Problem *p) {
  const RITZ_LOOP(Triangle) first = {p->A, is_lower, !is_lower, false},
                            second = {p->A, is_lower, is_lower, false};

  RITZ_LOOP(solve_columns)(&first, p->n, p->k, p->B);
  RITZ_LOOP(solve_columns)(&second, p->n, p->k, p->B);
}

// ---- LU ----

static void RITZ_LOOP(swap_rows)(RitzBatchMatrix A, int64_t n, int64_t r, int64_t s) {
  for (int64_t c = 0; c < n && r != s; c++) {
    const RITZ_ENTRY kept = AT(A, r, c);

    AT(A, r, c) = AT(A, s, c);
    AT(A, s, c) = kept;
  }
}

// The row of the largest entry of column k from row k on, the first one of equal ones.
static int64_t RITZ_LOOP(find_pivot)(RitzBatchMatrix A, int64_t m, int64_t k) {
  int64_t row = k;
  RITZ_ENTRY largest = RITZ_MAGNITUDE(AT(A, k, k));

  for (int64_t r = k + 1; r < m; r++) {
    const RITZ_ENTRY magnitude = RITZ_MAGNITUDE(AT(A, r, k));

    if (!(magnitude > largest)) continue;
    largest = magnitude;
    row = r;
  }
  return row;
}

// P A = L U, a column of L and a row of U a step. ipiv NULL: without pivots.
static int32_t RITZ_LOOP(getrf)(RitzBatchMatrix A, int64_t m, int64_t n, int32_t *ipiv) {
  int32_t info = 0;

  for (int64_t k = 0; k < m && k < n; k++) {
    if (ipiv) {
      const int64_t row = RITZ_LOOP(find_pivot)(A, m, k);

      ipiv[k] = (int32_t)(row + 1);
      RITZ_LOOP(swap_rows)(A, n, k, row);
    }
    const RITZ_ENTRY pivot = AT(A, k, k);
    if (pivot == 0 && info == 0) info = (int32_t)(k + 1);
    // Where rows are exchanged, the column is zero and stays so.
    if (pivot == 0) continue;
    for (int64_t r = k + 1; r < m; r++) AT(A, r, k) /= pivot;
    for (int64_t c = k + 1; c < n; c++) {
      for (int64_t r = k + 1; r < m; r++) AT(A, r, c) -= AT(A, r, k) * AT(A, k, c);
    }
  }
  return info;
}

// Swaps of the factorization on the rows of B, or back; values of ipiv outside of the matrix are left out.
static void RITZ_LOOP(permute)(const Problem *p, bool is_back) {
  for (int64_t step = 0; step < p->n && p->ipiv; step++) {
    const int64_t i = is_back ? p->n - 1 - step : step, row = (int64_t)p->ipiv[i] - 1;

    if (row >= 0 && row < p->n) RITZ_LOOP(swap_rows)(p->B, p->k, i, row);
  }
}

static void RITZ_LOOP(getrs)(bool is_transposed, const Problem *p) {
  const RITZ_LOOP(Triangle) L = {p->A, true, is_transposed, true}, U = {p->A, false, is_transposed, false};

  if (!is_transposed) RITZ_LOOP(permute)(p, false);
  RITZ_LOOP(solve_columns)(is_transposed ? &U : &L, p->n, p->k, p->B);
  RITZ_LOOP(solve_columns)(is_transposed ? &L : &U, p->n, p->k, p->B);
  if (is_transposed) RITZ_LOOP(permute)(p, true);
}

// A X = B; singular matrices leave B as it is.
static int32_t RITZ_LOOP(gesv)(const Problem *p) {
  const int32_t info = RITZ_LOOP(getrf)(p->A, p->n, p->n, p->ipiv);

  if (!info) RITZ_LOOP(getrs)(false, p);
  return info;
}

static int32_t RITZ_LOOP(posv)(const Problem *p, bool is_lower) {
  const int32_t info = RITZ_LOOP(potrf)(is_lower, p->A, p->n);

  if (!info) RITZ_LOOP(potrs)(is_lower, p);
  return info;
}

static void RITZ_LOOP(laswp)(const Problem *p) {
  for (int64_t step = 0; step <= p->k2 - p->k1; step++) {
    const int64_t k = p->is_back ? p->k2 - step : p->k1 + step;

    if (k <= p->m && p->ipiv[k - 1] >= 1 && p->ipiv[k - 1] <= p->m)
      RITZ_LOOP(swap_rows)(p->A, p->n, k - 1, p->ipiv[k - 1] - 1);
  }
}

// ---- Inverses ----

// U := U^-1, column after column: U^-1 (0:j, j) = -U^-1 (0:j, 0:j) U(0:j, j) / u_jj.
static void RITZ_LOOP(invert_upper)(RitzBatchMatrix U, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    const RITZ_ENTRY d = 1 / AT(U, j, j);

    AT(U, j, j) = d;
    for (int64_t i = 0; i < j; i++) {
      RITZ_ENTRY sum = 0;

      for (int64_t k = i; k < j; k++) sum += AT(U, i, k) * AT(U, k, j);
      AT(U, i, j) = -sum * d;
    }
  }
}

// A := A^-1 from its factors: X L = U^-1, columns from the last to the first, then their swaps. work [n].
static int32_t RITZ_LOOP(getri)(RitzBatchMatrix A, int64_t n, const int32_t *ipiv, RITZ_ENTRY *work) {
  for (int64_t i = 0; i < n; i++) {
    if (AT(A, i, i) == 0) return (int32_t)(i + 1);
  }
  RITZ_LOOP(invert_upper)(A, n);
  for (int64_t j = n - 2; j >= 0; j--) {
    for (int64_t i = j + 1; i < n; i++) {
      work[i] = AT(A, i, j);
      AT(A, i, j) = 0;
    }
    for (int64_t k = j + 1; k < n; k++) {
      for (int64_t r = 0; r < n; r++) AT(A, r, j) -= AT(A, r, k) * work[k];
    }
  }
  for (int64_t j = n - 1; j >= 0 && ipiv; j--) {
    const int64_t col = (int64_t)ipiv[j] - 1;

    for (int64_t r = 0; r < n && col >= 0 && col < n && col != j; r++) {
      const RITZ_ENTRY kept = AT(A, r, j);

      AT(A, r, j) = AT(A, r, col);
      AT(A, r, col) = kept;
    }
  }
  return 0;
}

// X := A^-1, where X may be A.
static int32_t RITZ_LOOP(inv)(const Problem *p) {
  for (int64_t c = 0; c < p->n && p->A.base != p->B.base; c++) {
    for (int64_t r = 0; r < p->n; r++) AT(p->B, r, c) = AT(p->A, r, c);
  }
  const int32_t info = RITZ_LOOP(getrf)(p->B, p->n, p->n, p->pivots);
  return info ? info : RITZ_LOOP(getri)(p->B, p->n, p->pivots, p->work);
}

#include "backends/ref/batched-rotations.h"

// ---- One matrix ----

static int32_t RITZ_LOOP(run)(const RitzBatched b, const Problem *p) {
  const RitzBatchedOptions *o = &b->options;
  const bool ta = o->trans_a == CEED_TRANSPOSE, tb = o->trans_b == CEED_TRANSPOSE;
  const bool is_lower = o->uplo == RITZ_TRIANGLE_LOWER, is_left = o->side == RITZ_SIDE_LEFT;
  const bool has_vectors = o->vectors == RITZ_VECTORS_ALL;

  switch (b->operation) {
  case RITZ_BATCHED_GEMM: RITZ_LOOP(gemm)(p, ta, tb, p->m, p->n, p->k); return 0;
  case RITZ_BATCHED_GEMV: RITZ_LOOP(gemm)(p, ta, false, ta ? p->n : p->m, 1, ta ? p->m : p->n); return 0;
  case RITZ_BATCHED_POTRF: return RITZ_LOOP(potrf)(is_lower, p->A, p->n);
  case RITZ_BATCHED_POTRS: RITZ_LOOP(potrs)(is_lower, p); return 0;
  case RITZ_BATCHED_GETRF: return RITZ_LOOP(getrf)(p->A, p->m, p->n, p->ipiv);
  case RITZ_BATCHED_GETRS: RITZ_LOOP(getrs)(ta, p); return 0;
  case RITZ_BATCHED_GETRI: return RITZ_LOOP(getri)(p->A, p->n, p->ipiv, p->work);
  case RITZ_BATCHED_INV: return RITZ_LOOP(inv)(p);
  case RITZ_BATCHED_TRSM: RITZ_LOOP(trsm)(o, p, p->m, p->n); return 0;
  case RITZ_BATCHED_TRSV: RITZ_LOOP(trsm)(o, p, p->n, 1); return 0;
  case RITZ_BATCHED_SYRK: RITZ_LOOP(syrk)(p, is_lower, ta); return 0;
  case RITZ_BATCHED_SYMM: RITZ_LOOP(symm)(p, is_lower, is_left, p->m, p->n); return 0;
  case RITZ_BATCHED_SYMV: RITZ_LOOP(symm)(p, is_lower, true, p->n, 1); return 0;
  case RITZ_BATCHED_TRMM: RITZ_LOOP(trmm)(o, p, p->m, p->n); return 0;
  case RITZ_BATCHED_GESV: return RITZ_LOOP(gesv)(p);
  case RITZ_BATCHED_POSV: return RITZ_LOOP(posv)(p, is_lower);
  case RITZ_BATCHED_LASWP: RITZ_LOOP(laswp)(p); return 0;
  case RITZ_BATCHED_GEQRF: RITZ_LOOP(geqrf)(p); return 0;
  case RITZ_BATCHED_ORMQR: RITZ_LOOP(ormqr)(p, is_left, ta); return 0;
  case RITZ_BATCHED_ORGQR: RITZ_LOOP(orgqr)(p); return 0;
  case RITZ_BATCHED_GELS: return RITZ_LOOP(gels)(p, ta);
  case RITZ_BATCHED_COPY: return 0; // of two precisions: copy_matrix
  case RITZ_BATCHED_GEAM: RITZ_LOOP(geam)(p, ta, tb); return 0;
  case RITZ_BATCHED_LASET: RITZ_LOOP(laset)(p); return 0;
  case RITZ_BATCHED_SYEVJ: return RITZ_LOOP(syevj)(p, is_lower, has_vectors);
  case RITZ_BATCHED_GESVDJ: return RITZ_LOOP(gesvdj)(p, has_vectors);
  }
  return 0;
}

#undef AT
