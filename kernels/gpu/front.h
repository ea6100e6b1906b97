// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts (ritz/front.h), a block of threads each: a panel of RITZ_FRONT_COLS columns and twice as
// many rows is in the block's memory, a thread has a row. Columns are made in groups of eight from the left:
// what all groups before subtract is summed up in registers. Before this text:
//
//     RITZ_FRONT_COLS      columns of a panel, a multiple of eight
//     RITZ_FRONT_IS_LDLT   1: L D L^T, 0: Cholesky
//     RITZ_FRONT_IS_LARGE  1: also kernels for fronts beyond one panel, which go over them panel by panel:
//                          front_panel, front_rows, front_trailing
//
// Fronts that are no larger are done by front_panel at once.
#define RITZ_FRONT_ROWS (2 * RITZ_FRONT_COLS) // of a panel; threads of a block

// Memory of double, whatever RitzReal is; behind the last row is room for a group of columns' names.
#define RITZ_FRONT_MEMORY(name)                                                                              \
  RITZ_SHARED_MEMORY(name, (RITZ_FRONT_ROWS * RITZ_FRONT_COLS + 8) * (sizeof(double) / sizeof(RitzReal)))
#define RITZ_FRONT_AT(i, k) panel[(i) + (k)*RITZ_FRONT_ROWS]

#if RITZ_FRONT_IS_LDLT
#define RITZ_FRONT_TIMES_D(value, d, k) ((value) * (d)[k])
#else
#define RITZ_FRONT_TIMES_D(value, d, k) (value)
#endif

// Arguments that all fronts of a call share, and those of one front.
#define RITZ_FRONT_ARGS                                                                                      \
  int max_d1, int max_d2, RITZ_GLOBAL const int *d1s, RITZ_GLOBAL const int *d2s,                            \
      RITZ_GLOBAL const RitzLong *offsets, RITZ_GLOBAL const int *lds, RITZ_GLOBAL double *panels
#define RITZ_FRONT_TAKE(f)                                                                                   \
  const int d1 = d1s[f], d2 = d2s[f], order = d1 + d2, ld = lds[f];                                          \
  const int is_bad = d1 < 0 || d1 > max_d1 || d2 < 0 || d2 > max_d2;                                         \
  RITZ_GLOBAL double *a = panels + offsets[f]

// sums[c] = sum over k < num of L(row, k) d_k L(col + c, k).
RITZ_INLINE void ritz_front_sums(RITZ_SHARED const double *panel, RITZ_SHARED const double *d, int row,
                                 int col, int num, double *sums) {
  RITZ_UNROLL for (int c = 0; c < 8; c++) sums[c] = 0;
  for (int k = 0; k < num; k++) {
    const double own = RITZ_FRONT_TIMES_D(RITZ_FRONT_AT(row, k), d, k);
    RITZ_UNROLL for (int c = 0; c < 8; c++) sums[c] += own * RITZ_FRONT_AT(col + c, k);
  }
}

// Rest of row i in a group of columns from `col` on; nothing above the diagonal, none from `end` on.
RITZ_INLINE void ritz_front_rest(RITZ_SHARED const double *panel, const double *sums, int i, int col, int end,
                                 double *rest) {
  RITZ_UNROLL for (int c = 0; c < 8; c++) rest[c] =
      col + c < end && i >= col + c ? RITZ_FRONT_AT(i, col + c) - sums[c] : 0;
}

// Panel of columns first .. of each front, with as many rows as there are threads. Where that is all of the
// front, F22 follows. info: what panels before have left.
RITZ_KERNEL(RITZ_FRONT_ROWS)
front_panel(int first, int is_whole, RITZ_FRONT_ARGS, RITZ_GLOBAL double *updates,
            RITZ_GLOBAL const RitzLong *update_offsets, RITZ_GLOBAL const int *update_lds, RitzReal smallest,
            int has_info, RITZ_GLOBAL int *info) {
  RITZ_FRONT_MEMORY(memory);
  RITZ_SHARED_ARRAY double d[RITZ_FRONT_COLS];
  RITZ_SHARED_ARRAY double pivots[16]; // of the group, for one column and the next
  RITZ_SHARED double *panel = (RITZ_SHARED double *)memory;
  const RitzLong f = RITZ_BLOCK;
  RITZ_FRONT_TAKE(f);
  const int i = RITZ_THREAD, is_told = has_info && i == 0;
  const int before = has_info && first > 0 ? info[f] : 0;
  const int cols = d1 - first < RITZ_FRONT_COLS ? d1 - first : RITZ_FRONT_COLS;
  const int rows = order - first < RITZ_FRONT_ROWS ? order - first : RITZ_FRONT_ROWS;
  int num_replaced = 0, bad = 0;
  if (is_bad || cols <= 0 || before > 0) {
    if (is_told && first == 0) info[f] = is_bad ? -2147483647 - 1 : 0;
    return;
  }
  a += first + (RitzLong)first * ld;
  for (int k = 0; k < cols; k++)
    if (i >= k && i < rows) RITZ_FRONT_AT(i, k) = a[i + (RitzLong)k * ld];
  RITZ_BARRIER();
  for (int col = 0; col < cols && bad == 0; col += 8) {
    double sums[8], rest[8];
    ritz_front_sums(panel, d, i, col, col, sums);
    ritz_front_rest(panel, sums, i, col, i < rows ? cols : 0, rest);
    RITZ_UNROLL for (int c = 0; c < 8; c++) {
      RITZ_SHARED double *of_group = pivots + c % 2 * 8;
      if (i >= col && i < col + 8) of_group[i - col] = rest[c];
      RITZ_BARRIER();
      if (col + c < cols && bad == 0) { // alike for all threads
        double pivot = of_group[c];
#if RITZ_FRONT_IS_LDLT
        const double size = pivot < 0 ? -pivot : pivot;
        if (size < smallest) {
          pivot = pivot < 0 ? -smallest : smallest;
          num_replaced++;
        }
        if (!(size < 1e308) || pivot == 0) bad = first + col + c + 1;
        const double scale = 1 / pivot, factor = rest[c] * scale;
        if (i == col + c) d[i] = pivot;
#else
        if (!(pivot > 0)) bad = first + col + c + 1;
        pivot = sqrt(pivot);
        const double scale = 1 / pivot, factor = rest[c] * scale * scale;
#endif
        RITZ_UNROLL for (int e = c + 1; e < 8; e++) rest[e] -= factor * of_group[e];
        rest[c] = i == col + c ? pivot : rest[c] * scale;
      }
    }
    RITZ_UNROLL for (int c = 0; c < 8; c++) if (col + c < cols && i >= col + c && i < rows)
        RITZ_FRONT_AT(i, col + c) = rest[c];
    RITZ_BARRIER();
  }
  if (is_told) info[f] = bad > 0 ? bad : before - num_replaced;
  if (bad > 0) return;
  for (int k = 0; k < cols; k++)
    if (i >= k && i < rows) a[i + (RitzLong)k * ld] = RITZ_FRONT_AT(i, k);
  for (int col = d1; is_whole && col <= i && i < order; col += 8) {
    RITZ_GLOBAL double *to = updates + update_offsets[f] + (i - d1);
    double sums[8];
    ritz_front_sums(panel, d, i, col, d1, sums);
    RITZ_UNROLL for (int c = 0; c < 8; c++) if (col + c <= i) to[(RitzLong)(col + c - d1) * update_lds[f]] -=
        sums[c];
  }
}

#if RITZ_FRONT_IS_LARGE
// Rows first + rows of a panel .. of L, of the panel's columns, which are done on its first rows: a block has
// RITZ_FRONT_COLS of them, num_parts blocks are one front's.
RITZ_KERNEL(RITZ_FRONT_ROWS)
front_rows(int first, int num_parts, RITZ_FRONT_ARGS, int has_info, RITZ_GLOBAL const int *info) {
  RITZ_FRONT_MEMORY(memory);
  RITZ_SHARED_ARRAY double d[RITZ_FRONT_COLS];
  RITZ_SHARED double *panel = (RITZ_SHARED double *)memory;
  const RitzLong f = RITZ_BLOCK / num_parts;
  RITZ_FRONT_TAKE(f);
  const int cols = d1 - first < RITZ_FRONT_COLS ? d1 - first : RITZ_FRONT_COLS;
  // The first rows of the block's memory are those of the diagonal.
  const int shift = RITZ_FRONT_COLS + (int)(RITZ_BLOCK % num_parts) * RITZ_FRONT_COLS, i = RITZ_THREAD;
  const int row = i < RITZ_FRONT_COLS ? i : i + shift;
  const int is_mine = i >= RITZ_FRONT_COLS && first + row < order;
  if (is_bad || cols <= 0 || (has_info && info[f] > 0)) return;
  a += first + (RitzLong)first * ld;
  for (int k = 0; k < cols; k++)
    if (first + row < order && row >= k) RITZ_FRONT_AT(i, k) = a[row + (RitzLong)k * ld];
  if (i < cols) d[i] = a[i + (RitzLong)i * ld];
  RITZ_BARRIER();
  for (int col = 0; is_mine && col < cols; col += 8) {
    double sums[8], rest[8];
    ritz_front_sums(panel, d, i, col, col, sums);
    ritz_front_rest(panel, sums, i, col, cols, rest);
    RITZ_UNROLL for (int c = 0; c < 8; c++) {
      if (col + c >= cols) continue;
      const double value = rest[c] / d[col + c], factor = RITZ_FRONT_TIMES_D(value, d, col + c);
      RITZ_UNROLL for (int e = c + 1; e < 8; e++) rest[e] -= factor * RITZ_FRONT_AT(col + e, col + c);
      RITZ_FRONT_AT(i, col + c) = value;
      a[row + (RitzLong)(col + c) * ld] = value;
    }
  }
}

// Subtracts the panel from all behind it: a block has RITZ_FRONT_COLS rows and as many columns of that,
// num_parts blocks are the lower triangle of one front.
RITZ_KERNEL(RITZ_FRONT_ROWS)
front_trailing(int first, int num_parts, RITZ_FRONT_ARGS, RITZ_GLOBAL double *updates,
               RITZ_GLOBAL const RitzLong *update_offsets, RITZ_GLOBAL const int *update_lds, int has_info,
               RITZ_GLOBAL const int *info) {
  RITZ_FRONT_MEMORY(memory);
  RITZ_SHARED_ARRAY double d[RITZ_FRONT_COLS];
  RITZ_SHARED double *panel = (RITZ_SHARED double *)memory;
  const RitzLong f = RITZ_BLOCK / num_parts;
  RITZ_FRONT_TAKE(f);
  const int cols = d1 - first < RITZ_FRONT_COLS ? d1 - first : RITZ_FRONT_COLS, i = RITZ_THREAD;
  int part = (int)(RITZ_BLOCK % num_parts), tile = 0;
  while (part > tile) part -= ++tile; // row of tiles `tile`, column `part` of them
  const int behind = first + cols, row0 = behind + tile * RITZ_FRONT_COLS,
            col0 = behind + part * RITZ_FRONT_COLS;
  const int row = i < RITZ_FRONT_COLS ? col0 + i : row0 + i - RITZ_FRONT_COLS;
  if (is_bad || cols <= 0 || row0 >= order || (has_info && info[f] > 0)) return;
  for (int k = 0; k < cols; k++) RITZ_FRONT_AT(i, k) = row < order ? a[row + (RitzLong)(first + k) * ld] : 0;
  if (i < cols) d[i] = a[(first + i) * (RitzLong)(ld + 1)];
  RITZ_BARRIER();
  const int mine = row0 + i % RITZ_FRONT_COLS;
  for (int col = i / RITZ_FRONT_COLS * 8; mine < order && col < RITZ_FRONT_COLS; col += 16) {
    double sums[8];
    ritz_front_sums(panel, d, RITZ_FRONT_COLS + i % RITZ_FRONT_COLS, col, cols, sums);
    RITZ_UNROLL for (int c = 0; c < 8; c++) {
      const int to = col0 + col + c;
      if (to > mine) continue;
      if (to < d1)
        a[mine + (RitzLong)to * ld] -= sums[c];
      else
        updates[update_offsets[f] + (mine - d1) + (RitzLong)(to - d1) * update_lds[f]] -= sums[c];
    }
  }
}
#endif

// ---- Solutions ----
// A block has one right-hand side of one front. Row i of x belongs to thread i % RITZ_FRONT_ROWS, so nothing
// goes from thread to thread but through the block's memory: of columns first .. it has x.

RITZ_KERNEL(RITZ_FRONT_ROWS)
front_forward(RITZ_FRONT_ARGS, int num_rhs, RITZ_GLOBAL double *x, RITZ_GLOBAL const RitzLong *x_offsets,
              RitzLong x_stride) {
  RITZ_SHARED_ARRAY double of_cols[RITZ_FRONT_COLS];
  const RitzLong f = RITZ_BLOCK / num_rhs;
  RITZ_FRONT_TAKE(f);
  const int t = RITZ_THREAD;
  if (is_bad) return;
  x += x_offsets[f] + RITZ_BLOCK % num_rhs * x_stride;
  for (int first = 0; first < d1; first += RITZ_FRONT_COLS) {
    const int cols = d1 - first < RITZ_FRONT_COLS ? d1 - first : RITZ_FRONT_COLS;
    const int own = t - first % RITZ_FRONT_ROWS, has_own = own >= 0 && own < cols;
    RITZ_GLOBAL const double *block = a + (RitzLong)first * ld;
    if (has_own) of_cols[own] = x[first + own];
    RITZ_BARRIER();
    for (int k = 0; k < cols; k++) {
#if !RITZ_FRONT_IS_LDLT
      if (own == k) of_cols[k] /= block[first + k + (RitzLong)k * ld];
      RITZ_BARRIER();
#endif
      if (has_own && own > k) of_cols[own] -= block[first + own + (RitzLong)k * ld] * of_cols[k];
      RITZ_BARRIER();
    }
    if (has_own) x[first + own] = of_cols[own];
    for (int i = first + cols + (t - (first + cols) % RITZ_FRONT_ROWS + RITZ_FRONT_ROWS) % RITZ_FRONT_ROWS;
         i < order; i += RITZ_FRONT_ROWS) {
      double sum = 0;
      for (int k = 0; k < cols; k++) sum += block[i + (RitzLong)k * ld] * of_cols[k];
      x[i] -= sum;
    }
    RITZ_BARRIER();
  }
}

RITZ_KERNEL(RITZ_FRONT_ROWS)
front_backward(RITZ_FRONT_ARGS, int num_rhs, RITZ_GLOBAL double *x, RITZ_GLOBAL const RitzLong *x_offsets,
               RitzLong x_stride) {
  RITZ_SHARED_ARRAY double of_cols[RITZ_FRONT_COLS];
  RITZ_SHARED_ARRAY double parts[8 * RITZ_FRONT_ROWS]; // of sums for eight columns, of each thread
  RITZ_SHARED_ARRAY double eighths[RITZ_FRONT_ROWS];   // each the sum of eight of them
  const RitzLong f = RITZ_BLOCK / num_rhs;
  RITZ_FRONT_TAKE(f);
  const int t = RITZ_THREAD;
  if (is_bad) return;
  x += x_offsets[f] + RITZ_BLOCK % num_rhs * x_stride;
  for (int first = (d1 - 1) / RITZ_FRONT_COLS * RITZ_FRONT_COLS; d1 > 0 && first >= 0;
       first -= RITZ_FRONT_COLS) {
    const int cols = d1 - first < RITZ_FRONT_COLS ? d1 - first : RITZ_FRONT_COLS, behind = first + cols;
    const int own = t - first % RITZ_FRONT_ROWS, has_own = own >= 0 && own < cols;
    RITZ_GLOBAL const double *block = a + (RitzLong)first * ld;
    for (int col = 0; col < cols; col += 8) {
      double sums[8];
      RITZ_UNROLL for (int c = 0; c < 8; c++) sums[c] = 0;
      for (int i = behind + (t - behind % RITZ_FRONT_ROWS + RITZ_FRONT_ROWS) % RITZ_FRONT_ROWS; i < order;
           i += RITZ_FRONT_ROWS) {
        RITZ_UNROLL for (int c = 0; c < 8; c++) if (col + c < cols) sums[c] +=
            block[i + (RitzLong)(col + c) * ld] * x[i];
      }
      RITZ_UNROLL for (int c = 0; c < 8; c++) parts[c * RITZ_FRONT_ROWS + t] = sums[c];
      RITZ_BARRIER();
      double sum = 0;
      for (int k = 0; k < 8; k++) sum += parts[8 * t + k];
      eighths[t] = sum;
      RITZ_BARRIER();
      if (t < 8 && col + t < cols) {
        sum = 0;
        for (int k = 0; k < RITZ_FRONT_ROWS / 8; k++) sum += eighths[t * (RITZ_FRONT_ROWS / 8) + k];
        of_cols[col + t] = sum;
      }
    }
    RITZ_BARRIER();
    if (has_own) {
#if RITZ_FRONT_IS_LDLT
      of_cols[own] = x[first + own] / block[first + own + (RitzLong)own * ld] - of_cols[own];
#else
      of_cols[own] = x[first + own] - of_cols[own];
#endif
    }
    RITZ_BARRIER();
    for (int k = cols - 1; k >= 0; k--) {
#if !RITZ_FRONT_IS_LDLT
      if (own == k) of_cols[k] /= block[first + k + (RitzLong)k * ld];
      RITZ_BARRIER();
#endif
      if (has_own && own < k) of_cols[own] -= block[first + k + (RitzLong)own * ld] * of_cols[k];
      RITZ_BARRIER();
    }
    if (has_own) x[first + own] = of_cols[own];
    RITZ_BARRIER();
  }
}
