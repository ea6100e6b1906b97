// SPDX-License-Identifier: BSD-2-Clause
// Part of kernels/gpu/batched-blocks.h: inverses, in place, from factors L U. U becomes U^-1, blocks of
// RITZ_TILE columns from the left; then X with X L = U^-1, from the right; then columns go where the swaps
// of rows put them. A block of columns J:
//
//     U^-1 (above, J) = -U^-1 (above, above) W     with W U_JJ = U (above, J), U^-1_JJ U_JJ = I
//     X (:, J) = V - X (:, right) W                with W L_JJ = L (below, J), V L_JJ = U^-1 (:, J)
//
// Solves with the diagonal block take a row a thread; products a tile of 32 rows a warp.
#ifndef RITZ_KERNELS_GPU_BATCHED_INVERSE_H
#define RITZ_KERNELS_GPU_BATCHED_INVERSE_H

#define RITZ_X_FAR     36
#define RITZ_PART_FAR  RITZ_FAR(RITZ_N)
#define RITZ_CORNER_AT (RITZ_PART * RITZ_PART_FAR)
#define RITZ_W_AT      (RITZ_CORNER_AT + RITZ_TILE * (RITZ_TILE + 1))

// The diagonal block, ones beyond n; diagonal entries of U inverted.
RITZ_INLINE void ritz_bring_corner(RitzMatrix a, int j0, int n, int is_lower, RITZ_SHARED RitzEntry *corner) {
  for (int c = RITZ_WARP; c < RITZ_TILE; c += RITZ_WARPS) {
    const int r = RITZ_LANE, is_here = j0 + r < n && j0 + c < n;
    RitzEntry x = is_here && (is_lower ? r > c : r <= c) ? RITZ_AT(a, j0 + r, j0 + c) : 0;
    if (r == c) x = is_lower || !is_here ? 1 : 1 / x;
    corner[c * (RITZ_TILE + 1) + r] = x;
  }
  RITZ_BARRIER();
}

// x := x T^-1 for a row x and a triangle T in `corner`.
RITZ_INLINE void ritz_solve_row(RITZ_SHARED const RitzEntry *corner, int is_lower, RitzEntry *x) {
  RITZ_UNROLL
  for (int step = 0; step < RITZ_TILE; step++) {
    const int c = is_lower ? RITZ_TILE - 1 - step : step;
    RitzEntry sum = x[c];
    RITZ_UNROLL
    for (int k = 0; k < RITZ_TILE; k++) {
      if (is_lower ? k > c : k < c) sum -= x[k] * corner[c * (RITZ_TILE + 1) + k];
    }
    x[c] = sum * corner[c * (RITZ_TILE + 1) + c];
  }
}

// sum += a (rows of the warp, first .. end) W (first .. end, :); of an upper triangle a, zeros below.
RITZ_INLINE void ritz_multiply_columns(RitzMatrix a, int first, int end, int n, int is_upper,
                                       RITZ_SHARED RitzEntry *part, RITZ_SHARED const RitzEntry *w,
                                       RitzEntry *sum) {
  RITZ_ROLL
  for (int k0 = first; k0 < end; k0 += RITZ_PART) {
    const int rows = is_upper ? k0 + RITZ_PART : n;
    for (int c = RITZ_WARP; c < RITZ_PART; c += RITZ_WARPS) {
      for (int r = RITZ_LANE; r < RITZ_PART_FAR - 4; r += 32)
        part[c * RITZ_PART_FAR + r] =
            r < n && k0 + c < end && (!is_upper || r <= k0 + c) ? RITZ_AT(a, r, k0 + c) : 0;
    }
    RITZ_BARRIER();
    if (32 * RITZ_WARP < rows)
      ritz_tile_multiply(part + 32 * RITZ_WARP, RITZ_PART_FAR, 1, w + k0 * RITZ_X_FAR, RITZ_X_FAR, 1,
                         RITZ_PART, sum);
    RITZ_BARRIER();
  }
}

RITZ_INLINE void ritz_invert_upper(RitzMatrix a, int n, RITZ_SHARED RitzEntry *memory) {
  RITZ_SHARED RitzEntry *corner = memory + RITZ_CORNER_AT, *w = memory + RITZ_W_AT;
  RITZ_ROLL
  for (int j0 = 0; j0 < n; j0 += RITZ_TILE) {
    const int row = RITZ_THREAD;
    RitzEntry x[RITZ_TILE], sum[RITZ_TILE_ENTRIES];
    ritz_bring_corner(a, j0, n, 0, corner);
    RITZ_UNROLL
    for (int c = 0; c < RITZ_TILE; c++)
      x[c] = row < j0 && j0 + c < n ? RITZ_AT(a, row, j0 + c) : row == j0 + c;
    ritz_solve_row(corner, 0, x);
    RITZ_UNROLL
    for (int c = 0; c < RITZ_TILE; c++) {
      w[row * RITZ_X_FAR + c] = x[c];
      if (row >= j0 && row <= j0 + c && j0 + c < n) RITZ_AT(a, row, j0 + c) = x[c];
    }
    RITZ_STEP();
    RITZ_TILE_EACH(e) sum[e] = 0;
    ritz_multiply_columns(a, 0, j0, n, 1, memory, w, sum);
    RITZ_TILE_EACH(e) {
      const int r = 32 * RITZ_WARP + RITZ_TILE_ROW(e), c = j0 + RITZ_TILE_COL(e);
      if (r < j0 && c < n) RITZ_AT(a, r, c) = -sum[e];
    }
    RITZ_STEP();
  }
}

RITZ_INLINE void ritz_divide_by_lower(RitzMatrix a, int n, RITZ_SHARED RitzEntry *memory) {
  RITZ_SHARED RitzEntry *corner = memory + RITZ_CORNER_AT, *w = memory + RITZ_W_AT;
  RITZ_ROLL
  for (int j0 = (n - 1) / RITZ_TILE * RITZ_TILE; j0 >= 0; j0 -= RITZ_TILE) {
    const int row = RITZ_THREAD, end = j0 + RITZ_TILE;
    RitzEntry x[RITZ_TILE], sum[RITZ_TILE_ENTRIES];
    ritz_bring_corner(a, j0, n, 1, corner);
    RITZ_UNROLL
    for (int c = 0; c < RITZ_TILE; c++)
      x[c] = row < n && j0 + c < n && (row >= end || row <= j0 + c) ? RITZ_AT(a, row, j0 + c) : 0;
    ritz_solve_row(corner, 1, x);
    RITZ_UNROLL
    for (int c = 0; c < RITZ_TILE; c++) w[row * RITZ_X_FAR + c] = x[c];
    RITZ_BARRIER();
    RITZ_TILE_EACH(e) {
      const int r = 32 * RITZ_WARP + RITZ_TILE_ROW(e);
      sum[e] = r < end ? -w[r * RITZ_X_FAR + RITZ_TILE_COL(e)] : 0;
    }
    ritz_multiply_columns(a, end, n, n, 0, memory, w, sum);
    RITZ_TILE_EACH(e) {
      const int r = 32 * RITZ_WARP + RITZ_TILE_ROW(e), c = j0 + RITZ_TILE_COL(e);
      if (r < n && c < n) RITZ_AT(a, r, c) = -sum[e];
    }
    RITZ_STEP();
  }
}

// Column j goes to column before[j], RITZ_PART rows at a time.
RITZ_INLINE void ritz_move_columns(RitzMatrix a, int n, RITZ_SHARED const int *before,
                                   RITZ_SHARED RitzEntry *rows) {
  const int r = RITZ_THREAD % RITZ_PART;
  RITZ_ROLL
  for (int r0 = 0; r0 < n; r0 += RITZ_PART) {
    for (int c = RITZ_THREAD / RITZ_PART; c < n && r0 + r < n; c += RITZ_THREADS / RITZ_PART)
      rows[c * RITZ_PART + r] = RITZ_AT(a, r0 + r, c);
    RITZ_BARRIER();
    for (int c = RITZ_THREAD / RITZ_PART; c < n && r0 + r < n; c += RITZ_THREADS / RITZ_PART)
      RITZ_AT(a, r0 + r, before[c]) = rows[c * RITZ_PART + r];
    RITZ_BARRIER();
  }
}

// GETRI: A := inverse, from its factors. INV: B = A^-1; B may be A.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(memory);
  RITZ_SHARED_ARRAY int swaps[RITZ_N], before[RITZ_N];
#ifdef RITZ_INV
  RITZ_SHARED_ARRAY RitzLists lists;
#endif
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    RITZ_KNOW_SIZES(i);
    const RitzMatrix A = RITZ_MATRIX(A, i, n, n);
#ifdef RITZ_INV
    const RitzMatrix X = RITZ_MATRIX(B, i, n, n);
    for (int c = RITZ_WARP; c < n && A.p != X.p; c += RITZ_WARPS)
      for (int r = RITZ_LANE; r < n; r += 32) RITZ_AT(X, r, c) = RITZ_AT(A, r, c);
    RITZ_STEP();
    const int failed = ritz_lu(X, n, n, swaps, &lists, memory);
    ritz_know_places(n, swaps, before);
#else
    const RitzMatrix X = A;
    int failed = 0;
    for (int r = RITZ_THREAD; r < n; r += RITZ_THREADS) {
      memory[r] = RITZ_AT(X, r, r);
      swaps[r] = ipiv ? ipiv[i * ipiv_stride + r] : r + 1;
    }
    RITZ_BARRIER();
    for (int k = n - 1; k >= 0; k--) failed = memory[k] == 0 ? k + 1 : failed;
    ritz_know_places(n, swaps, before);
#endif
    if (!failed) {
      ritz_invert_upper(X, n, memory);
      ritz_divide_by_lower(X, n, memory);
      ritz_move_columns(X, n, before, memory);
    }
    RITZ_STEP();
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif
