// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on hosts, for factors of one precision: backends/ref/dense.c includes it twice, with
//
//     REAL        double, float
//     NAME(name)  the name of a function for it
//     LANES       entries of a vector of 64 bytes
//
// Factors F are column-major with leading dimension ld.

// ---- Products: C -= A B, by tiles of 2 LANES x COLS, operands in the order in which they are used ----

typedef REAL NAME(Vector) __attribute__((vector_size(64), aligned(64)));

enum { NAME(ROWS) = 2 * LANES };

// tile [COLS][2 LANES] = sum of a [k][2 LANES] times b [k][COLS]; half of the rows and of the columns at a
// time, so that sums stay in 16 registers of 32 bytes.
RITZ_CLONED static void NAME(multiply_half)(int64_t k, const REAL *restrict a, const REAL *restrict b,
                                            REAL *restrict tile) {
  for (int part = 0; part < 4; part++) {
    const int row = part % 2 * LANES, col = part / 2 * (COLS / 2);
    NAME(Vector) sum[COLS / 2] = {{0}};
    for (int64_t p = 0; p < k; p++) {
      const NAME(Vector) x = *(const NAME(Vector) *)(a + p * NAME(ROWS) + row);
      for (int j = 0; j < COLS / 2; j++) sum[j] += x * b[p * COLS + col + j];
    }
    for (int j = 0; j < COLS / 2; j++) *(NAME(Vector) *)(tile + (col + j) * NAME(ROWS) + row) = sum[j];
  }
}

// The same product in 16 registers of 64 bytes.
RITZ_WIDE FUSED static void NAME(multiply_wide)(int64_t k, const REAL *restrict a, const REAL *restrict b,
                                                REAL *restrict tile) {
  NAME(Vector) sum[2][COLS] = {{{0}}};
  for (int64_t p = 0; p < k; p++) {
    const NAME(Vector) *const x = (const NAME(Vector) *)(a + p * NAME(ROWS)), x0 = x[0], x1 = x[1];
    for (int j = 0; j < COLS; j++) {
      sum[0][j] += x0 * b[p * COLS + j];
      sum[1][j] += x1 * b[p * COLS + j];
    }
  }
  for (int j = 0; j < COLS; j++) {
    *(NAME(Vector) *)(tile + j * NAME(ROWS)) = sum[0][j];
    *(NAME(Vector) *)(tile + j * NAME(ROWS) + LANES) = sum[1][j];
  }
}

// A number of a packed operand: part 0 is x rounded, part 1 the remainder rounded.
static inline REAL NAME(part)(RitzDensePrecision precision, int part, REAL x) {
  if (precision == RITZ_DENSE_F64 || precision == RITZ_DENSE_F32) return x;
  if (precision == RITZ_DENSE_BF16) return (REAL)keep_bits((float)x, 16);
  if (precision == RITZ_DENSE_F16) return (REAL)keep_half((float)x);
  const float first = keep_bits((float)x, 13);
  return (REAL)(part == 0 ? first : keep_bits((float)x - first, 13));
}

// Parts of TF32X3: A first, first, rest; B first, rest, first.
static int NAME(num_parts)(RitzDensePrecision precision) { return precision == RITZ_DENSE_TF32X3 ? 3 : 1; }

// `width` rows (A) or columns (B) of a strip, of which `num` are there: entry (i, p) is at
// from[i step_i + p step_p].
static void NAME(pack)(const Product *m, int width, int64_t num, const REAL *from, int64_t step_i,
                       int64_t step_p, int rest_part, REAL *to) {
  for (int part = 0; part < NAME(num_parts)(m->precision); part++) {
    for (int64_t p = 0; p < m->k; p++) {
      for (int i = 0; i < width; i++)
        *to++ = i < num ? NAME(part)(m->precision, part == rest_part, from[i * step_i + p * step_p]) : 0;
    }
  }
}

static void NAME(pack_rows)(void *data, int64_t first, int64_t end) {
  const Product *m = data;
  const REAL *A = (const REAL *)m->F + m->row + m->k0 * m->ld;
  REAL *to = (REAL *)m->a;
  for (int64_t strip = first; strip < end; strip++) {
    const int64_t row = strip * NAME(ROWS);
    NAME(pack)(m, NAME(ROWS), m->num_rows - row, A + row, 1, m->ld, 2, to + row * m->packed_k);
  }
}

static void NAME(subtract)(const Product *m, int64_t row, int64_t col, const REAL *tile) {
  REAL *C = (REAL *)m->F + m->row + m->col * m->ld;
  const int64_t rows = m->num_rows - row < NAME(ROWS) ? m->num_rows - row : NAME(ROWS);
  const int64_t cols = m->num_cols - col < COLS ? m->num_cols - col : COLS;
  for (int64_t j = 0; j < cols; j++) {
    REAL *c = C + row + (col + j) * m->ld;
    for (int64_t i = 0; i < rows; i++) c[i] -= tile[j * NAME(ROWS) + i];
  }
}

// Strips of columns first .. end - 1, packed here; rows in blocks that stay in the second cache.
static void NAME(multiply_strips)(void *data, int64_t first, int64_t end) {
  enum { ROW_BLOCK = 8 * 2 * LANES };
  const Product *m = data;
  const REAL *B = (const REAL *)m->F + (m->is_symmetric ? m->col + m->k0 * m->ld : m->k0 + m->col * m->ld);
  const int64_t step_i = m->is_symmetric ? 1 : m->ld, step_p = m->is_symmetric ? m->ld : 1;
  const REAL *a = (const REAL *)m->a;
  REAL *b = (REAL *)m->b, tile[2 * LANES * COLS] __attribute__((aligned(64)));
  for (int64_t strip = first; strip < end; strip++) {
    const int64_t col = strip * COLS;
    NAME(pack)(m, COLS, m->num_cols - col, B + col * step_i, step_i, step_p, 1, b + col * m->packed_k);
  }
  for (int64_t block = 0; block < m->num_rows; block += ROW_BLOCK) {
    for (int64_t strip = first; strip < end; strip++) {
      for (int64_t row = block; row < block + ROW_BLOCK && row < m->num_rows; row += NAME(ROWS)) {
        if (m->is_lower && row + NAME(ROWS) <= strip * COLS) continue;
        (m->is_wide ? NAME(multiply_wide) : NAME(multiply_half))(m->packed_k, a + row * m->packed_k,
                                                                 b + strip * COLS * m->packed_k, tile);
        NAME(subtract)(m, row, strip * COLS, tile);
      }
    }
  }
}

// The update of the rest of the matrix, at most MAX_K columns of A at a time.
static int NAME(update)(RitzDenseSolver s, const RitzDenseUpdate *u) {
  const Host *host = s->data;
  for (int64_t done = 0; done < u->k; done += MAX_K) {
    const int64_t k = u->k - done < MAX_K ? u->k - done : MAX_K;
    Product m = {.F = host->F,
                 .ld = s->n,
                 .a = host->a,
                 .b = host->b,
                 .row = u->row,
                 .num_rows = u->num_rows,
                 .col = u->col,
                 .num_cols = u->num_cols,
                 .k0 = u->k0 + done,
                 .k = k,
                 .packed_k = k * NAME(num_parts)(u->precision),
                 .precision = u->precision,
                 .is_symmetric = u->is_symmetric,
                 .is_lower = u->is_lower,
                 .is_wide = host->is_wide};
    RITZ_TRY(run_items(s->ceed, (u->num_rows + NAME(ROWS) - 1) / NAME(ROWS), NAME(pack_rows), &m));
    RITZ_TRY(run_items(s->ceed, (u->num_cols + COLS - 1) / COLS, NAME(multiply_strips), &m));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Factors ----

static void NAME(load_columns)(void *data, int64_t first, int64_t end) {
  const RitzDenseSolver s = data;
  const Host *host = s->data;
  REAL *F = (REAL *)host->F;
  for (int64_t j = first; j < end; j++) {
    const double *a = s->A + j * s->ld;
    const double c = host->col_scale[j];
    for (int64_t i = 0; i < s->n; i++) F[i + j * s->n] = (REAL)(a[i] * host->row_scale[i] * c);
  }
}

RITZ_CLONED static void NAME(subtract_multiple)(int64_t n, REAL factor, const REAL *restrict x,
                                                REAL *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] -= factor * x[i];
}

RITZ_CLONED static void NAME(divide)(int64_t n, REAL divisor, REAL *x) {
  for (int64_t i = 0; i < n; i++) x[i] /= divisor;
}

// Among equal pivots the first row.
static int64_t NAME(find_pivot)(int64_t n, const REAL *x) {
  int64_t at = 0;
  for (int64_t i = 1; i < n; i++) {
    if (fabs((double)x[i]) > fabs((double)x[at])) at = i;
  }
  return at;
}

static void NAME(swap_rows)(REAL *F, int64_t ld, int64_t i, int64_t k, int64_t num) {
  for (int64_t j = 0; j < num && i != k; j++) {
    const REAL kept = F[i + j * ld];
    F[i + j * ld] = F[k + j * ld];
    F[k + j * ld] = kept;
  }
}

static int NAME(panel)(RitzDenseSolver s, int64_t first, int64_t num) {
  Host *host = s->data;
  const int64_t n = s->n;
  REAL *P = (REAL *)host->F + first * n;
  for (int64_t k = 0; k < num; k++) {
    const int64_t d = first + k, pivot = d + NAME(find_pivot)(n - d, P + k * n + d);
    host->pivots[d] = pivot;
    NAME(swap_rows)(P, n, d, pivot, num);
    const REAL value = P[k * n + d];
    note_pivot(host, d, value != 0 && isfinite(value));
    if (value == 0) continue;
    NAME(divide)(n - d - 1, value, P + k * n + d + 1);
    for (int64_t j = k + 1; j < num; j++)
      NAME(subtract_multiple)(n - d - 1, P[j * n + d], P + k * n + d + 1, P + j * n + d + 1);
  }
  return CEED_ERROR_SUCCESS;
}

static int NAME(swap)(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  const Host *host = s->data;
  for (int64_t j = col; j < col + num_cols; j++) {
    REAL *column = (REAL *)host->F + j * s->n;
    for (int64_t i = first; i < first + num; i++) NAME(swap_rows)(column, s->n, i, host->pivots[i], 1);
  }
  return CEED_ERROR_SUCCESS;
}

static int NAME(solve_rows)(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  const Host *host = s->data;
  const REAL *L = (const REAL *)host->F + first + first * s->n;
  for (int64_t j = col; j < col + num_cols; j++) {
    REAL *x = (REAL *)host->F + first + j * s->n;
    for (int64_t k = 0; k + 1 < num; k++)
      NAME(subtract_multiple)(num - k - 1, x[k], L + k + 1 + k * s->n, x + k + 1);
  }
  return CEED_ERROR_SUCCESS;
}

static int NAME(cholesky)(RitzDenseSolver s, int64_t first, int64_t num) {
  Host *host = s->data;
  const int64_t n = s->n;
  REAL *D = (REAL *)host->F + first + first * n;
  for (int64_t k = 0; k < num; k++) {
    const REAL value = D[k + k * n];
    note_pivot(host, first + k, value > 0 && isfinite(value));
    if (!(value > 0)) return CEED_ERROR_SUCCESS;
    D[k + k * n] = (REAL)sqrt((double)value);
    NAME(divide)(num - k - 1, D[k + k * n], D + k + 1 + k * n);
    for (int64_t j = k + 1; j < num; j++)
      NAME(subtract_multiple)(num - j, D[j + k * n], D + j + k * n, D + j + j * n);
  }
  return CEED_ERROR_SUCCESS;
}

static int NAME(solve_columns)(RitzDenseSolver s, int64_t first, int64_t num, int64_t row, int64_t num_rows) {
  const Host *host = s->data;
  const int64_t n = s->n;
  const REAL *L = (const REAL *)host->F + first + first * n;
  REAL *X = (REAL *)host->F + row + first * n;
  for (int64_t k = 0; k < num; k++) {
    NAME(divide)(num_rows, L[k + k * n], X + k * n);
    for (int64_t j = k + 1; j < num; j++)
      NAME(subtract_multiple)(num_rows, L[j + k * n], X + k * n, X + j * n);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- Triangles times vectors, in double: STRIP columns at a time ----

RITZ_CLONED static void NAME(subtract_columns)(int64_t n, const REAL *restrict a, int64_t ld,
                                               const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) {
    double sum[2] = {0, 0};
    for (int j = 0; j < STRIP; j++) sum[j % 2] += (double)a[i + j * ld] * x[j];
    y[i] -= sum[0] + sum[1];
  }
}

RITZ_CLONED static double NAME(dot)(int64_t n, const REAL *restrict a, const double *restrict x) {
  enum { SUMS = 16 };
  double sum[SUMS] = {0}, total = 0;
  int64_t i = 0;
  for (; i + SUMS <= n; i += SUMS) {
    for (int l = 0; l < SUMS; l++) sum[l] += (double)a[i + l] * x[i + l];
  }
  for (; i < n; i++) total += (double)a[i] * x[i];
  for (int l = 0; l < SUMS; l++) total += sum[l];
  return total;
}

// x := T^-1 x: the lower triangle forward, the upper one backward.
static void NAME(solve_lower)(const REAL *F, int64_t n, bool is_unit, double *x) {
  for (int64_t first = 0; first < n; first += STRIP) {
    const int64_t end = first + STRIP < n ? first + STRIP : n;
    for (int64_t j = first; j < end; j++) {
      if (!is_unit) x[j] /= (double)F[j + j * n];
      for (int64_t i = j + 1; i < end; i++) x[i] -= (double)F[i + j * n] * x[j];
    }
    if (end < n) NAME(subtract_columns)(n - end, F + end + first * n, n, x + first, x + end);
  }
}

static void NAME(solve_upper)(const REAL *F, int64_t n, double *x) {
  for (int64_t end = n; end > 0;) {
    const int64_t first = end > STRIP ? end - STRIP : 0;
    for (int64_t j = end - 1; j >= first; j--) {
      x[j] /= (double)F[j + j * n];
      for (int64_t i = first; i < j; i++) x[i] -= (double)F[i + j * n] * x[j];
    }
    if (first > 0) NAME(subtract_columns)(first, F + first * n, n, x + first, x);
    end = first;
  }
}

// x := T^-T x.
static void NAME(solve_lower_transposed)(const REAL *F, int64_t n, bool is_unit, double *x) {
  for (int64_t j = n - 1; j >= 0; j--) {
    x[j] -= NAME(dot)(n - 1 - j, F + j + 1 + j * n, x + j + 1);
    if (!is_unit) x[j] /= (double)F[j + j * n];
  }
}

static void NAME(solve_upper_transposed)(const REAL *F, int64_t n, double *x) {
  for (int64_t j = 0; j < n; j++) x[j] = (x[j] - NAME(dot)(j, F + j * n, x)) / (double)F[j + j * n];
}

static void NAME(solve)(const RitzDenseSolver s, bool is_transposed, double *x) {
  const Host *host = s->data;
  const REAL *F = (const REAL *)host->F;
  if (s->is_symmetric) {
    NAME(solve_lower)(F, s->n, false, x);
    NAME(solve_lower_transposed)(F, s->n, false, x);
  } else if (is_transposed) {
    NAME(solve_upper_transposed)(F, s->n, x);
    NAME(solve_lower_transposed)(F, s->n, true, x);
  } else {
    NAME(solve_lower)(F, s->n, true, x);
    NAME(solve_upper)(F, s->n, x);
  }
}

#undef REAL
#undef NAME
#undef LANES
