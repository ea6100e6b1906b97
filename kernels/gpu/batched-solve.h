// SPDX-License-Identifier: BSD-2-Clause
// Part of kernels/gpu/batched-blocks.h: solves. A block has 32 columns of the right-hand sides in shared
// memory, takes RITZ_PART columns of the triangle at a time, solves with the diagonal block, a column a
// thread, and subtracts tiles from the rest. The text in front defines RITZ_ONE_COLUMN where there is one:
// then each entry of the triangle is used once and goes from memory into a register.
#ifndef RITZ_KERNELS_GPU_BATCHED_SOLVE_H
#define RITZ_KERNELS_GPU_BATCHED_SOLVE_H

#define RITZ_A_FAR RITZ_FAR(RITZ_N)
#ifdef RITZ_ONE_COLUMN
#define RITZ_X_FAR 1
#else
#define RITZ_X_FAR 36
#endif

// The matrix with rows and columns in reverse order.
RITZ_INLINE RitzMatrix ritz_reversed(RitzMatrix a, int n) {
  a.p += (n - 1) * (a.rs + a.cs);
  a.rs = -a.rs;
  a.cs = -a.cs;
  return a;
}

#ifdef RITZ_ONE_COLUMN

#define RITZ_CORNER      32 // order of diagonal blocks
#define RITZ_CORNER_FAR  (RITZ_CORNER + 1)
#define RITZ_CORNER_SIZE (RITZ_CORNER * RITZ_CORNER_FAR)

// The diagonal block at k0 -> corner; threads of a warp take neighbours in memory.
RITZ_INLINE void ritz_bring_diagonal(RitzMatrix t, int k0, int n, RITZ_SHARED RitzEntry *corner) {
  const int is_turned = t.rs * t.rs > t.cs * t.cs;
  for (int i = RITZ_WARP; i < RITZ_CORNER; i += RITZ_WARPS) {
    const int r = is_turned ? i : RITZ_LANE, c = is_turned ? RITZ_LANE : i;
    if (r >= c && k0 + r < n) RITZ_BRING(&corner[c * RITZ_CORNER_FAR + r], &RITZ_AT(t, k0 + r, k0 + c));
  }
  RITZ_BROUGHT();
}

// Its unknowns, of `cols` rows from x on, into x and `now`. Each step takes one from all below.
RITZ_INLINE void ritz_solve_diagonal(RITZ_SHARED const RitzEntry *corner, RITZ_SHARED RitzEntry *x, int step,
                                     int cols, int is_unit, RITZ_SHARED RitzEntry *now) {
  const int r = RITZ_LANE, is_row = RITZ_WARP == 0 && r < cols;
  RitzEntry value = is_row ? x[r * step] : 0;
  const RitzEntry d = is_row && !is_unit ? corner[r * (RITZ_CORNER_FAR + 1)] : 1;
  const RitzEntry raise = ritz_raise_of(d), inverse = 1 / (d * raise);
#ifdef __OPENCL_VERSION__
  RITZ_ROLL
  for (int k = 0; k < cols; k++) {
    if (RITZ_THREAD == k) now[k] = value = value * raise * inverse;
    RITZ_BARRIER();
    if (is_row && r > k) value -= corner[k * RITZ_CORNER_FAR + r] * now[k];
  }
#else
  if (RITZ_WARP > 0) return;
  RITZ_UNROLL
  for (int k = 0; k < RITZ_CORNER; k++) {
    if (k >= cols) break;
    const RitzEntry found = __shfl_sync(0xffffffffu, value * raise * inverse, k);
    if (r == k) value = found;
    if (r > k) value -= corner[k * RITZ_CORNER_FAR + r] * found;
  }
  now[r] = value;
#endif
  if (is_row) x[r * step] = value;
}

// T x = b for the lower triangle of T; x over b, row r at x[r * step]. corners: room for two.
RITZ_INLINE void ritz_solve(RitzMatrix t, RITZ_SHARED RitzEntry *x, int step, int n, int is_unit,
                            RITZ_SHARED RitzEntry *corners, RITZ_SHARED RitzEntry *now) {
  ritz_bring_diagonal(t, 0, n, corners);
  RITZ_ROLL
  for (int k0 = 0, stage = 0; k0 < n; k0 += RITZ_CORNER) {
    const int cols = n - k0 < RITZ_CORNER ? n - k0 : RITZ_CORNER, end = k0 + RITZ_CORNER;
    const int below = end + RITZ_THREAD;
    RITZ_SHARED const RitzEntry *corner = corners + stage * RITZ_CORNER_SIZE;
    RitzEntry a[RITZ_CORNER];
    RITZ_UNROLL
    for (int c = 0; c < RITZ_CORNER; c++) a[c] = below < n ? RITZ_AT(t, below, k0 + c) : 0;
    RITZ_WAIT(0);
    RITZ_BARRIER();
    stage = 1 - stage;
    if (end < n) ritz_bring_diagonal(t, end, n, corners + stage * RITZ_CORNER_SIZE);
    ritz_solve_diagonal(corner, x + k0 * step, step, cols, is_unit, now);
    RITZ_BARRIER();
    RITZ_ROLL
    for (int r = below; r < n; r += RITZ_THREADS) {
      RitzEntry sum = 0;
      if (r != below) {
        RITZ_UNROLL
        for (int c = 0; c < RITZ_CORNER; c++) a[c] = RITZ_AT(t, r, k0 + c);
      }
      RITZ_UNROLL
      for (int c = 0; c < RITZ_CORNER; c++) sum += a[c] * now[c];
      x[r * step] -= sum;
    }
  }
  RITZ_BARRIER();
}

#else

// Columns k0 .. of the triangle, from row k0 on; threads of a warp take neighbours in memory.
RITZ_INLINE void ritz_bring_columns(RitzMatrix t, int k0, int n, RITZ_SHARED RitzEntry *part) {
  if (t.rs * t.rs > t.cs * t.cs) {
    const int c = RITZ_THREAD % RITZ_PART;
    for (int r = RITZ_THREAD / RITZ_PART; r < n - k0; r += RITZ_THREADS / RITZ_PART) {
      if (r >= c && k0 + c < n) RITZ_BRING(&part[c * RITZ_A_FAR + r], &RITZ_AT(t, k0 + r, k0 + c));
    }
  } else {
    for (int c = RITZ_WARP; c < RITZ_PART && k0 + c < n; c += RITZ_WARPS) {
      for (int r = RITZ_LANE; r < n - k0; r += 32) {
        if (r >= c) RITZ_BRING(&part[c * RITZ_A_FAR + r], &RITZ_AT(t, k0 + r, k0 + c));
      }
    }
  }
  RITZ_BROUGHT();
}

// T X = B for the lower triangle of T; X over B, (r, c) at x[r * step + c].
RITZ_INLINE void ritz_solve(RitzMatrix t, RITZ_SHARED RitzEntry *x, int step, int n, int is_unit,
                            RITZ_SHARED RitzEntry *parts, RITZ_SHARED RitzEntry *inverses) {
  if (RITZ_STAGES > 1) ritz_bring_columns(t, 0, n, parts);
  RITZ_ROLL
  for (int k0 = 0, stage = 0; k0 < n; k0 += RITZ_PART) {
    const int cols = n - k0 < RITZ_PART ? n - k0 : RITZ_PART, first = k0 + RITZ_PART;
    RITZ_SHARED RitzEntry *part = parts + stage * RITZ_PART * RITZ_A_FAR;
    if (RITZ_STAGES == 1) ritz_bring_columns(t, k0, n, part);
    RITZ_WAIT(0);
    RITZ_BARRIER();
    if (RITZ_THREAD < cols) {
      const RitzEntry d = is_unit ? 1 : part[RITZ_THREAD * (RITZ_A_FAR + 1)];
      inverses[RITZ_THREAD] = 1 / (d * ritz_raise_of(d));
    }
    RITZ_BARRIER();
    if (RITZ_STAGES > 1) {
      stage = 1 - stage;
      if (first < n) ritz_bring_columns(t, first, n, parts + stage * RITZ_PART * RITZ_A_FAR);
    }
    if (RITZ_THREAD < 32) {
      RitzEntry column[RITZ_PART];
      RITZ_UNROLL
      for (int k = 0; k < RITZ_PART; k++) column[k] = k < cols ? x[(k0 + k) * step + RITZ_LANE] : 0;
      RITZ_UNROLL
      for (int k = 0; k < RITZ_PART; k++) {
        if (k >= cols) continue;
        column[k] = column[k] * (is_unit ? 1 : ritz_raise_of(part[k * (RITZ_A_FAR + 1)])) * inverses[k];
        RITZ_UNROLL
        for (int j = 0; j < RITZ_PART; j++) {
          if (j > k && j < cols) column[j] -= part[k * RITZ_A_FAR + j] * column[k];
        }
        x[(k0 + k) * step + RITZ_LANE] = column[k];
      }
    }
    RITZ_BARRIER();
    RITZ_ROLL
    for (int r0 = first + 32 * RITZ_WARP; r0 < n; r0 += 32 * RITZ_WARPS) {
      RitzEntry sum[RITZ_TILE_ENTRIES];
      RITZ_TILE_EACH(e) {
        const int r = r0 + RITZ_TILE_ROW(e);
        sum[e] = r < n ? -x[r * step + RITZ_TILE_COL(e)] : 0;
      }
      ritz_tile_multiply(part + r0 - k0, RITZ_A_FAR, 1, x + k0 * step, step, 1, RITZ_PART, sum);
      RITZ_TILE_EACH(e) {
        const int r = r0 + RITZ_TILE_ROW(e);
        if (r < n) x[r * step + RITZ_TILE_COL(e)] = -sum[e];
      }
    }
    RITZ_BARRIER();
  }
}

#endif

// Entries of the block's columns; threads of a warp take neighbours in memory.
#if defined(RITZ_ONE_COLUMN)
#define RITZ_EACH_UNKNOWN(r, c) for (int r = RITZ_THREAD, c = 0; r < n; r += RITZ_THREADS)
#elif defined(RITZ_TURNED_B)
#define RITZ_EACH_UNKNOWN(r, c) for (int r = RITZ_WARP, c = RITZ_LANE; r < n && c < cols; r += RITZ_WARPS)
#else
#define RITZ_EACH_UNKNOWN(r, c)                                                                              \
  for (int c = RITZ_WARP; c < cols; c += RITZ_WARPS)                                                         \
    for (int r = RITZ_LANE; r < n; r += 32)
#endif

// X over B [n][k].
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(parts);
  RITZ_SHARED_ARRAY RitzEntry few[RITZ_TILE];
#ifdef RITZ_PIVOTS
  RITZ_SHARED_ARRAY int swaps[RITZ_N], before[RITZ_N];
#endif
#ifdef RITZ_ONE_COLUMN
  RITZ_SHARED RitzEntry *x = parts + 2 * RITZ_CORNER_SIZE;
#else
  RITZ_SHARED RitzEntry *x = parts + RITZ_STAGES * RITZ_PART * RITZ_A_FAR + 32;
#endif
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits);
  const int tiles = (RITZ_K + 31) / 32;
  for (RitzLong item = RITZ_BLOCK; item < RITZ_NUM_TURNS * tiles; item += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(item / tiles);
    const int col0 = (int)(item % tiles) * 32;
    RITZ_KNOW_SIZES(i);
    const int cols = num - col0 < 32 ? num - col0 : 32;
    const RitzMatrix A = RITZ_MATRIX(A, i, n, n), B = RITZ_MATRIX(B, i, n, num);
    const int failed = options & RITZ_FOLLOWS ? info[i] : 0;
    if (info && col0 == 0 && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
    if (n <= 0 || cols <= 0 || failed) continue;
    RitzMatrix second = A;
    if (options & RITZ_SYMMETRIC) {
      second.rs = A.cs;
      second.cs = A.rs;
    }
#ifdef RITZ_PIVOTS
    for (int r = RITZ_THREAD; r < n; r += RITZ_THREADS) swaps[r] = ipiv ? ipiv[i * ipiv_stride + r] : r + 1;
    ritz_know_places(n, swaps, before);
#endif
    RITZ_EACH_UNKNOWN(r, c) {
      int row = r;
#ifdef RITZ_PIVOTS
      if (options & RITZ_SWAPS_FIRST) row = before[r];
#endif
      x[r * RITZ_X_FAR + c] = alpha == 0 ? 0 : alpha * RITZ_AT(B, row, col0 + c);
    }
    RITZ_BARRIER();
    if (alpha != 0) ritz_solve(A, x, RITZ_X_FAR, n, options & RITZ_UNIT_FIRST, parts, few);
    if (options & RITZ_SOLVES_TWICE)
      ritz_solve(ritz_reversed(second, n), x + (n - 1) * RITZ_X_FAR, -RITZ_X_FAR, n,
                 options & RITZ_UNIT_SECOND, parts, few);
    RITZ_EACH_UNKNOWN(r, c) {
      int row = r;
#ifdef RITZ_PIVOTS
      if (options & RITZ_SWAPS_LAST) row = before[r];
#endif
      RITZ_AT(B, row, col0 + c) = x[r * RITZ_X_FAR + c];
    }
    RITZ_BARRIER();
  }
}

#endif
