// SPDX-License-Identifier: BSD-2-Clause
// Orthogonal transformations of one matrix of a batch: Householder's reflectors (QR, least squares), Jacobi's
// rotations (eigenvalues, singular values). Included by batched-loops.h, once for each precision; the names
// in capitals are explained there.

// A matrix of which the transpose is a matrix, too: entry (r, c) at base[r row + c col].
typedef struct {
  RITZ_ENTRY *base;
  int64_t row, col;
} RITZ_LOOP(View);

#define IN(V, r, c) ((V).base[(r) * (V).row + (c) * (V).col])

static RITZ_LOOP(View) RITZ_LOOP(view)(RitzBatchMatrix M) {
  return (RITZ_LOOP(View)){M.base, M.step, M.ld * M.step};
}
static RITZ_LOOP(View) RITZ_LOOP(transpose)(RITZ_LOOP(View) V) {
  return (RITZ_LOOP(View)){V.base, V.col, V.row};
}

// ---- Reflectors ----

// The 2-norm of rows `first` to m of a column divided by `unit`, which is the size of the largest, or larger.
static RITZ_ENTRY RITZ_LOOP(norm_in_units)(RITZ_LOOP(View) A, int64_t first, int64_t m, int64_t c,
                                           RITZ_ENTRY unit) {
  RITZ_ENTRY sum = 0;

  for (int64_t r = first; r < m; r++) {
    const RITZ_ENTRY x = IN(A, r, c) / unit;
    sum += x * x;
  }
  return RITZ_ROOT(sum);
}

static RITZ_ENTRY RITZ_LOOP(largest_of)(RITZ_LOOP(View) A, int64_t first, int64_t m, int64_t c) {
  RITZ_ENTRY largest = 0;

  for (int64_t r = first; r < m; r++) {
    const RITZ_ENTRY x = RITZ_MAGNITUDE(IN(A, r, c));
    if (x > largest) largest = x;
  }
  return largest;
}

// H = I - tau v v^T that makes column j zero below entry j; v below it in place of the zeros. Returns tau.
// Numbers are divided by the largest one, so that neither squares nor reciprocals leave the range.
static RITZ_ENTRY RITZ_LOOP(make_reflector)(RITZ_LOOP(View) A, int64_t m, int64_t j) {
  const RITZ_ENTRY below = RITZ_LOOP(largest_of)(A, j + 1, m, j), first = RITZ_MAGNITUDE(IN(A, j, j));
  const RITZ_ENTRY unit = below > first ? below : first;

  if (below == 0) return 0;
  const RITZ_ENTRY alpha = IN(A, j, j) / unit, norm = RITZ_LOOP(norm_in_units)(A, j + 1, m, j, unit);
  const RITZ_ENTRY length = RITZ_ROOT(alpha * alpha + norm * norm), beta = alpha < 0 ? length : -length;
  for (int64_t r = j + 1; r < m; r++) IN(A, r, j) = IN(A, r, j) / unit / (alpha - beta);
  IN(A, j, j) = beta * unit;
  return (beta - alpha) / beta;
}

// C := H C for columns first .. end of C, H the reflector of column j of A, which has m rows.
static void RITZ_LOOP(reflect)(RITZ_LOOP(View) A, int64_t m, int64_t j, RITZ_ENTRY tau, RITZ_LOOP(View) C,
                               int64_t first, int64_t end) {
  for (int64_t c = first; c < end && tau != 0; c++) {
    RITZ_ENTRY sum = IN(C, j, c);

    for (int64_t r = j + 1; r < m; r++) sum += IN(A, r, j) * IN(C, r, c);
    sum *= tau;
    IN(C, j, c) -= sum;
    for (int64_t r = j + 1; r < m; r++) IN(C, r, c) -= IN(A, r, j) * sum;
  }
}

static void RITZ_LOOP(factorize_qr)(RITZ_LOOP(View) A, int64_t m, int64_t n, RITZ_LOOP(View) tau) {
  for (int64_t j = 0; j < m && j < n; j++) {
    const RITZ_ENTRY t = RITZ_LOOP(make_reflector)(A, m, j);

    IN(tau, j, 0) = t;
    RITZ_LOOP(reflect)(A, m, j, t, A, j + 1, n);
  }
}

// C := Q C (is_back) or Q^T C, Q = H_1 ... H_k of order m; C has n columns.
static void RITZ_LOOP(apply_q)(RITZ_LOOP(View) A, RITZ_LOOP(View) tau, int64_t m, int64_t k, bool is_back,
                               RITZ_LOOP(View) C, int64_t n) {
  for (int64_t step = 0; step < k; step++) {
    const int64_t j = is_back ? k - 1 - step : step;
    RITZ_LOOP(reflect)(A, m, j, IN(tau, j, 0), C, 0, n);
  }
}

static void RITZ_LOOP(geqrf)(const Problem *p) {
  RITZ_LOOP(factorize_qr)(RITZ_LOOP(view)(p->A), p->m, p->n, RITZ_LOOP(view)(p->B));
}

// C Q is (Q^T C^T)^T.
static void RITZ_LOOP(ormqr)(const Problem *p, bool is_left, bool is_transposed) {
  const RITZ_LOOP(View) C = RITZ_LOOP(view)(p->C);
  const int64_t order = is_left ? p->m : p->n, k = p->k < order ? p->k : order;

  RITZ_LOOP(apply_q)
  (RITZ_LOOP(view)(p->A), RITZ_LOOP(view)(p->B), order, k, is_left != is_transposed,
   is_left ? C : RITZ_LOOP(transpose)(C), is_left ? p->n : p->m);
}

// The last columns first: they have no need of the reflectors, whose columns are overwritten one by one.
static void RITZ_LOOP(orgqr)(const Problem *p) {
  const RITZ_LOOP(View) A = RITZ_LOOP(view)(p->A), tau = RITZ_LOOP(view)(p->B);
  const int64_t k = p->k < p->n ? p->k : p->n;

  for (int64_t c = k; c < p->n; c++) {
    for (int64_t r = 0; r < p->m; r++) IN(A, r, c) = r == c;
  }
  for (int64_t j = k - 1; j >= 0; j--) {
    const RITZ_ENTRY t = IN(tau, j, 0);

    RITZ_LOOP(reflect)(A, p->m, j, t, A, j + 1, p->n);
    for (int64_t r = j + 1; r < p->m; r++) IN(A, r, j) *= -t;
    IN(A, j, j) = 1 - t;
    for (int64_t r = 0; r < j; r++) IN(A, r, j) = 0;
  }
}

// ---- Least squares ----

// R X = B, or R^T X = B, over the first n rows of B; R upper in A.
static void RITZ_LOOP(solve_r)(RITZ_LOOP(View) A, int64_t n, bool is_transposed, RITZ_LOOP(View) B,
                               int64_t k) {
  for (int64_t c = 0; c < k; c++) {
    for (int64_t step = 0; step < n; step++) {
      const int64_t i = is_transposed ? step : n - 1 - step;
      RITZ_ENTRY sum = IN(B, i, c);

      for (int64_t j = is_transposed ? 0 : i + 1; j < (is_transposed ? i : n); j++)
        sum -= (is_transposed ? IN(A, j, i) : IN(A, i, j)) * IN(B, j, c);
      IN(B, i, c) = sum / IN(A, i, i);
    }
  }
}

static void RITZ_LOOP(clear_rows)(RITZ_LOOP(View) B, int64_t first, int64_t end, int64_t k) {
  for (int64_t c = 0; c < k; c++) {
    for (int64_t r = first; r < end; r++) IN(B, r, c) = 0;
  }
}

// T = Q R is A or A^T, whichever is tall. T X = B: R X = Q^T B. T^T X = B: X = Q R^-T B, without what is
// orthogonal to the columns of T.
static int32_t RITZ_LOOP(gels)(const Problem *p, bool is_transposed) {
  const bool is_wide = p->m < p->n;
  const int64_t m = is_wide ? p->n : p->m, n = is_wide ? p->m : p->n;
  const RITZ_LOOP(View) A = RITZ_LOOP(view)(p->A), B = RITZ_LOOP(view)(p->B),
                        T = is_wide ? RITZ_LOOP(transpose)(A) : A, tau = {p->work, 1, 1};

  if (n == 0) RITZ_LOOP(clear_rows)(B, 0, m, p->k);
  RITZ_LOOP(factorize_qr)(T, m, n, tau);
  for (int64_t i = 0; i < n; i++) {
    if (IN(T, i, i) == 0) return (int32_t)(i + 1);
  }
  if (is_wide == is_transposed) {
    RITZ_LOOP(apply_q)(T, tau, m, n, false, B, p->k);
    RITZ_LOOP(solve_r)(T, n, false, B, p->k);
  } else {
    RITZ_LOOP(solve_r)(T, n, true, B, p->k);
    RITZ_LOOP(clear_rows)(B, n, m, p->k);
    RITZ_LOOP(apply_q)(T, tau, m, n, true, B, p->k);
  }
  return 0;
}

// ---- Rotations ----

// 2^exponent is above all entries of A, by a factor of 2 at most; false: some entry is not finite.
static bool RITZ_LOOP(find_exponent)(RITZ_LOOP(View) A, int64_t m, int64_t n, int *exponent) {
  double largest = 0;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++) {
      const double x = fabs((double)IN(A, r, c));
      if (!isfinite(x)) return false;
      if (x > largest) largest = x;
    }
  }
  (void)frexp(largest, exponent);
  return true;
}

// Rotates columns p and q: entries (x, y) become (c x - s y, s x + c y), t = s / c.
static void RITZ_LOOP(rotate)(RITZ_LOOP(View) A, int64_t m, int64_t p, int64_t q, RITZ_ENTRY t) {
  const RITZ_ENTRY c = 1 / RITZ_ROOT(1 + t * t), s = t * c;

  for (int64_t r = 0; r < m; r++) {
    const RITZ_ENTRY x = IN(A, r, p), y = IN(A, r, q);

    IN(A, r, p) = c * x - s * y;
    IN(A, r, q) = s * x + c * y;
  }
}

// The smaller root of t^2 + 2 zeta t = 1.
static RITZ_ENTRY RITZ_LOOP(tangent)(RITZ_ENTRY zeta) {
  const RITZ_ENTRY size = RITZ_MAGNITUDE(zeta);
  const RITZ_ENTRY t = size > 1 / RITZ_ROUNDOFF ? 1 / (2 * size) : 1 / (size + RITZ_ROOT(1 + size * size));

  return zeta < 0 ? -t : t;
}

static void RITZ_LOOP(set_identity)(RITZ_LOOP(View) V, int64_t n) {
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < n; r++) IN(V, r, c) = r == c;
  }
}

static void RITZ_LOOP(swap_columns)(RITZ_LOOP(View) A, int64_t m, int64_t p, int64_t q) {
  for (int64_t r = 0; r < m && p != q; r++) {
    const RITZ_ENTRY kept = IN(A, r, p);

    IN(A, r, p) = IN(A, r, q);
    IN(A, r, q) = kept;
  }
}

// ---- Eigenvalues ----

// One sweep over the entries above the diagonal of S, whose rotations V gathers. Entries that are small
// beside their diagonals, or beside `floor`, are left. Whether none was rotated.
static bool RITZ_LOOP(sweep_symmetric)(RITZ_LOOP(View) S, int64_t n, RITZ_LOOP(View) V, RITZ_ENTRY floor) {
  bool is_done = true;

  for (int64_t p = 0; p < n; p++) {
    for (int64_t q = p + 1; q < n; q++) {
      const RITZ_ENTRY a = IN(S, p, p), b = IN(S, q, q), g = IN(S, p, q), size = RITZ_MAGNITUDE(g);
      const RITZ_ENTRY least = RITZ_ROUNDOFF * RITZ_ROOT(RITZ_MAGNITUDE(a)) * RITZ_ROOT(RITZ_MAGNITUDE(b));

      if (size <= least || size <= floor) continue;
      const RITZ_ENTRY t = RITZ_LOOP(tangent)((b - a) / (2 * g));
      RITZ_LOOP(rotate)(S, n, p, q, t);
      RITZ_LOOP(rotate)(RITZ_LOOP(transpose)(S), n, p, q, t);
      IN(S, p, p) = a - t * g;
      IN(S, q, q) = b + t * g;
      IN(S, p, q) = IN(S, q, p) = 0;
      RITZ_LOOP(rotate)(V, n, p, q, t);
      is_done = false;
    }
  }
  return is_done;
}

// Eigenvalues of S, which is scaled by 2^-exponent, ascending into w and the columns of V with them into A.
static void RITZ_LOOP(sort_eigenvalues)(RITZ_LOOP(View) S, RITZ_LOOP(View) V, int64_t n, int exponent,
                                        RITZ_LOOP(View) w, const RITZ_LOOP(View) * A) {
  for (int64_t j = 0; j < n; j++) {
    int64_t least = j;

    for (int64_t i = j + 1; i < n; i++) {
      if (IN(S, i, i) < IN(S, least, least)) least = i;
    }
    const RITZ_ENTRY value = IN(S, least, least);
    IN(S, least, least) = IN(S, j, j);
    IN(S, j, j) = value;
    RITZ_LOOP(swap_columns)(V, n, j, least);
    IN(w, j, 0) = (RITZ_ENTRY)ldexp((double)value, exponent);
    for (int64_t r = 0; r < n && A; r++) IN(*A, r, j) = IN(V, r, j);
  }
}

static int32_t RITZ_LOOP(syevj)(const Problem *p, bool is_lower, bool has_vectors) {
  const int64_t n = p->n;
  const RITZ_LOOP(View) A = RITZ_LOOP(view)(p->A), w = RITZ_LOOP(view)(p->B), S = {p->work, 1, n},
                        V = {n > 0 ? (RITZ_ENTRY *)p->work + n * n : NULL, 1, n};
  int exponent = 0, sweep = 0;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < n; r++) IN(S, r, c) = RITZ_LOOP(symmetric)(p->A, is_lower, r, c);
  }
  if (!RITZ_LOOP(find_exponent)(S, n, n, &exponent)) return RITZ_BATCHED_MAX_SWEEPS;
  for (int64_t i = 0; i < n * n; i++) S.base[i] = (RITZ_ENTRY)ldexp((double)S.base[i], -exponent);
  RITZ_LOOP(set_identity)(V, n);
  // Entries are below 1, the largest one is at least 1/2.
  while (sweep < RITZ_BATCHED_MAX_SWEEPS &&
         !RITZ_LOOP(sweep_symmetric)(S, n, V, RITZ_ROUNDOFF * RITZ_ROUNDOFF))
    sweep++;
  if (sweep == RITZ_BATCHED_MAX_SWEEPS) return RITZ_BATCHED_MAX_SWEEPS;
  RITZ_LOOP(sort_eigenvalues)(S, V, n, exponent, w, has_vectors ? &A : NULL);
  return 0;
}

// ---- Singular values ----

// The norm of a column. Columns below the range of normal numbers become zero.
static RITZ_ENTRY RITZ_LOOP(measure)(RITZ_LOOP(View) A, int64_t m, int64_t c) {
  const RITZ_ENTRY largest = RITZ_LOOP(largest_of)(A, 0, m, c);

  if (largest >= RITZ_LEAST) return largest * RITZ_LOOP(norm_in_units)(A, 0, m, c, largest);
  for (int64_t r = 0; r < m; r++) IN(A, r, c) = 0;
  return 0;
}

// The cosine of the angle between two columns that are not zero.
static RITZ_ENTRY RITZ_LOOP(cosine)(RITZ_LOOP(View) A, int64_t m, int64_t p, int64_t q, RITZ_ENTRY norm_p,
                                    RITZ_ENTRY norm_q) {
  RITZ_ENTRY sum = 0;

  for (int64_t r = 0; r < m; r++) sum += IN(A, r, p) / norm_p * (IN(A, r, q) / norm_q);
  return sum;
}

// The longest of columns p .. n comes to place p; s has their lengths.
static void RITZ_LOOP(bring_longest)(RITZ_LOOP(View) A, int64_t m, int64_t n, int64_t p, RITZ_LOOP(View) s,
                                     const RITZ_LOOP(View) * V) {
  int64_t longest = p;

  for (int64_t q = p + 1; q < n; q++) {
    if (IN(s, q, 0) > IN(s, longest, 0)) longest = q;
  }
  RITZ_LOOP(swap_columns)(A, m, p, longest);
  RITZ_LOOP(swap_columns)(RITZ_LOOP(transpose)(s), 1, p, longest);
  if (V) RITZ_LOOP(swap_columns)(*V, n, p, longest);
}

// One sweep of rotations that make pairs of columns orthogonal, the longest ones first (de Rijk); V gathers
// them. Whether all were.
static bool RITZ_LOOP(sweep_columns)(RITZ_LOOP(View) A, int64_t m, int64_t n, RITZ_LOOP(View) s,
                                     const RITZ_LOOP(View) * V) {
  const RITZ_ENTRY tolerance = RITZ_ROUNDOFF * (3 + RITZ_ROOT((RITZ_ENTRY)m));
  bool is_done = true;

  for (int64_t p = 0; p < n; p++) {
    RITZ_LOOP(bring_longest)(A, m, n, p, s, V);
    for (int64_t q = p + 1; q < n; q++) {
      const RITZ_ENTRY a = IN(s, p, 0), b = IN(s, q, 0);
      const RITZ_ENTRY g = a > 0 && b > 0 ? RITZ_LOOP(cosine)(A, m, p, q, a, b) : 0;

      if (RITZ_MAGNITUDE(g) <= tolerance) continue;
      // Columns whose lengths are far apart: 1 / (2 zeta), as zeta may overflow.
      const RITZ_ENTRY ratio = b / a;
      const bool is_apart = ratio < RITZ_ROUNDOFF * RITZ_MAGNITUDE(g);
      const RITZ_ENTRY t = is_apart ? -g * ratio : RITZ_LOOP(tangent)((ratio - 1 / ratio) / (2 * g));
      RITZ_LOOP(rotate)(A, m, p, q, t);
      if (V) RITZ_LOOP(rotate)(*V, n, p, q, t);
      IN(s, p, 0) = RITZ_LOOP(measure)(A, m, p);
      IN(s, q, 0) = RITZ_LOOP(measure)(A, m, q);
      is_done = false;
    }
  }
  return is_done;
}

// Column j is the part of a unit vector, the one that keeps most, that is orthogonal to the columns before.
static void RITZ_LOOP(complete)(RITZ_LOOP(View) U, int64_t m, int64_t j) {
  int64_t row = 0;
  RITZ_ENTRY least = 2;

  for (int64_t r = 0; r < m; r++) {
    RITZ_ENTRY sum = 0;

    for (int64_t c = 0; c < j; c++) sum += IN(U, r, c) * IN(U, r, c);
    if (sum < least) row = r, least = sum;
  }
  for (int64_t r = 0; r < m; r++) IN(U, r, j) = r == row;
  // Twice, to remove what round-off leaves the first time.
  for (int64_t step = 0; step < 2 * j; step++) {
    const int64_t c = step % j;
    RITZ_ENTRY sum = 0;

    for (int64_t r = 0; r < m; r++) sum += IN(U, r, c) * IN(U, r, j);
    for (int64_t r = 0; r < m; r++) IN(U, r, j) -= sum * IN(U, r, c);
  }
  const RITZ_ENTRY norm = RITZ_LOOP(norm_in_units)(U, 0, m, j, 1);
  for (int64_t r = 0; r < m; r++) IN(U, r, j) /= norm;
}

// Columns of A, which are orthogonal and scaled by 2^-exponent, descending -> U and s.
static void RITZ_LOOP(normalize)(RITZ_LOOP(View) A, int64_t m, int64_t n, int exponent, RITZ_LOOP(View) s,
                                 const RITZ_LOOP(View) * V) {
  for (int64_t j = 0; j < n; j++) {
    RITZ_LOOP(bring_longest)(A, m, n, j, s, V);
    const RITZ_ENTRY length = IN(s, j, 0);
    for (int64_t r = 0; r < m && length > 0; r++) IN(A, r, j) /= length;
    if (length == 0 && V) RITZ_LOOP(complete)(A, m, j);
    IN(s, j, 0) = (RITZ_ENTRY)ldexp((double)length, exponent);
  }
}

static int32_t RITZ_LOOP(gesvdj)(const Problem *p, bool has_vectors) {
  const RITZ_LOOP(View) A = RITZ_LOOP(view)(p->A), s = RITZ_LOOP(view)(p->B), V = RITZ_LOOP(view)(p->C);
  const RITZ_LOOP(View) *gathered = has_vectors ? &V : NULL;
  int exponent = 0, sweep = 0;

  if (!RITZ_LOOP(find_exponent)(A, p->m, p->n, &exponent)) return RITZ_BATCHED_MAX_SWEEPS;
  for (int64_t c = 0; c < p->n; c++) {
    for (int64_t r = 0; r < p->m; r++) IN(A, r, c) = (RITZ_ENTRY)ldexp((double)IN(A, r, c), -exponent);
    IN(s, c, 0) = RITZ_LOOP(measure)(A, p->m, c);
  }
  if (has_vectors) RITZ_LOOP(set_identity)(V, p->n);
  while (sweep < RITZ_BATCHED_MAX_SWEEPS && !RITZ_LOOP(sweep_columns)(A, p->m, p->n, s, gathered)) sweep++;
  if (sweep == RITZ_BATCHED_MAX_SWEEPS) return RITZ_BATCHED_MAX_SWEEPS;
  RITZ_LOOP(normalize)(A, p->m, p->n, exponent, s, gathered);
  return 0;
}

#undef IN
