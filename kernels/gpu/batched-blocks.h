// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra beyond the sizes of rows in registers: a block of threads takes a matrix, or some
// tiles of its result, RITZ_PART columns at a time. The text in front defines:
//
//   RITZ_THREADS, RITZ_RESIDENT  of a block, a multiple of 32; blocks of a multiprocessor
//   RITZ_M, RITZ_N, RITZ_K       sizes, or bounds: C m x n with k products; n unknowns, k right-hand sides
//   RITZ_SHARED_BYTES            of the arrays below
//   RITZ_UNIFORM                 all matrices have these sizes
//   RITZ_PIVOTS                  LU, solves: there are pivots
//   RITZ_HOLD                    factorizations: the matrix is in shared memory meanwhile
//   RITZ_TILE_ROWS, _COLS        products: warps of a block
//   RITZ_WARP_ROWS, _COLS        products whose operands are read as they are: entries of C of a warp
//   RITZ_STAGES                  products, solves: parts in shared memory at the same time
//   RITZ_TURNED_A, _B            the operand's rows are nearer in memory than its columns: rs > cs
//   RITZ_MASK_A, _B, RITZ_KEEPS_LOWER, _UPPER, RITZ_IN_PLACE: products, as in batched.h
//   and one of RITZ_PRODUCT, RITZ_SOLVE, RITZ_POTRF, RITZ_GETRF, RITZ_GETRI, RITZ_INV: what is done
//
// Factorizations look to the right: a panel of RITZ_PART columns in registers, a row a thread; its entries in
// shared memory; then tiles of all that is to the right and below. All threads of a block see the same sizes
// and pivots, so that they meet at the same barriers. Sums go in the order of the columns, in parts that do
// not depend on the bounds.
#ifndef RITZ_KERNELS_GPU_BATCHED_BLOCKS_H
#define RITZ_KERNELS_GPU_BATCHED_BLOCKS_H

#include "kernels/gpu/batched-tiles.h"

#define RITZ_PART 16
// Distance of parts' columns: those of 4 threads are in different banks.
#define RITZ_FAR(size) (((size) + 31) / 32 * 32 + 4)
#define RITZ_MEMORY(name)                                                                                    \
  RITZ_SHARED_MEMORY(shared_bytes, RITZ_SHARED_BYTES / sizeof(RitzReal));                                    \
  RITZ_SHARED RitzEntry *name = (RITZ_SHARED RitzEntry *)shared_bytes

// ---- Products ----

#if defined(RITZ_PRODUCT) && defined(RITZ_ONE_COLUMN)
#include "kernels/gpu/batched-gemv.h"
#elif defined(RITZ_PRODUCT) && defined(RITZ_WARP_ROWS)
#include "kernels/gpu/batched-products.h"
#elif defined(RITZ_PRODUCT)
#include "kernels/gpu/batched-structured.h"
#endif

// ---- Factorizations: what they share ----

#if defined(RITZ_GETRF) || defined(RITZ_POTRF) || defined(RITZ_INV)

// The matrix that is worked on.
#ifdef RITZ_HOLD
typedef RITZ_SHARED RitzEntry *RitzWork;
#ifdef RITZ_GETRF
#define RITZ_HELD_FAR (RITZ_M | 1)
#else
#define RITZ_HELD_FAR (RITZ_N | 1)
#endif
#define RITZ_W(w, r, c) ((w)[(r) + (c)*RITZ_HELD_FAR])
#else
typedef RitzMatrix RitzWork;
#define RITZ_W(w, r, c) RITZ_AT(w, r, c)
#endif

// Rows by threads of a warp, columns by warps; of a triangle the lower one with the diagonal.
#define RITZ_EACH_ENTRY(r, c, m, n, is_lower)                                                                \
  for (int c = RITZ_WARP; c < (n); c += RITZ_WARPS)                                                          \
    for (int r = RITZ_LANE + ((is_lower) ? c / 32 * 32 : 0); r < (m); r += 32)                               \
      if (!(is_lower) || r >= c)

// w (r, c) -= sum of a (k, r) b (k, c) for first <= r < m, first <= c < n; a, b: first row and column.
RITZ_INLINE void ritz_update(RitzWork w, int first, int m, int n, int is_lower,
                             RITZ_SHARED const RitzEntry *a, int a_far, RITZ_SHARED const RitzEntry *b,
                             int b_far) {
  const int rows = (m - first + 31) / 32, cols = (n - first + 31) / 32;
  RITZ_ROLL
  for (int tile = RITZ_WARP; tile < rows * cols; tile += RITZ_WARPS) {
    const int r0 = tile % rows * 32, c0 = tile / rows * 32;
    RitzEntry sum[RITZ_TILE_ENTRIES];
    if (is_lower && r0 < c0) continue;
    RITZ_TILE_EACH(e) {
      const int r = first + r0 + RITZ_TILE_ROW(e), c = first + c0 + RITZ_TILE_COL(e);
      sum[e] = r < m && c < n && !(is_lower && r < c) ? -RITZ_W(w, r, c) : 0;
    }
    ritz_tile_multiply(a + r0, a_far, 1, b + c0, b_far, 1, RITZ_PART, sum);
    RITZ_TILE_EACH(e) {
      const int r = first + r0 + RITZ_TILE_ROW(e), c = first + c0 + RITZ_TILE_COL(e);
      if (r < m && c < n && !(is_lower && r < c)) RITZ_W(w, r, c) = -sum[e];
    }
  }
}

#endif

// ---- LU ----

#if defined(RITZ_GETRF) || defined(RITZ_INV)

// Rows of the matrix; where pivots go, counted from 1.
#ifdef RITZ_INV
#define RITZ_ROWS RITZ_N
#define RITZ_PIVOTS
#define RITZ_OF_SWAPS RITZ_SHARED
#else
#define RITZ_ROWS     RITZ_M
#define RITZ_OF_SWAPS RITZ_GLOBAL
#endif
#define RITZ_L_FAR RITZ_FAR(RITZ_ROWS)
#define RITZ_U_FAR RITZ_FAR(RITZ_N)

#ifdef RITZ_PIVOTS

// Offers of warps for the next pivot: two turns, so that one barrier a step is enough.
typedef struct {
  RitzEntry magnitude[2][RITZ_WARPS];
  int place[2][RITZ_WARPS], owner[2][RITZ_WARPS];
#ifdef __OPENCL_VERSION__
  RitzEntry magnitudes[RITZ_THREADS];
  int places[RITZ_THREADS];
#endif
} RitzOffers;

#ifndef __OPENCL_VERSION__

// The leading bits of |x|, in the order of |x|; 0: is done.
RITZ_INLINE unsigned ritz_key(RitzEntry x, int is_done) {
#ifdef RITZ_ENTRY_F32
  const unsigned bits = __float_as_uint(x) & 0x7fffffffu;
#else
  const unsigned bits = (unsigned)__double2hiint(x) & 0x7fffffffu;
#endif
  return is_done ? 0u : bits + 1u;
}

#define RITZ_REDUCE(value, combine)                                                                          \
  do {                                                                                                       \
    RITZ_UNROLL                                                                                              \
    for (int o = 16; o; o >>= 1) value = combine(value, __shfl_xor_sync(0xffffffffu, value, o));             \
  } while (0)

// The lane of the largest |x| of a warp, of equal ones the one at the first place; -1: all are done.
RITZ_INLINE int ritz_best_lane(RitzEntry x, int is_done, int place) {
  const unsigned key = ritz_key(x, is_done);
  unsigned best = key;
#if __CUDA_ARCH__ >= 800
  best = __reduce_max_sync(0xffffffffu, key);
#else
  RITZ_REDUCE(best, max);
#endif
  const int is_best = key == best && !is_done;
  unsigned found = __ballot_sync(0xffffffffu, is_best);
  if (__popc(found) > 1) { // rare: alike in the leading bits
    RitzEntry largest = is_best ? RITZ_ABS(x) : (RitzEntry)-1;
    RITZ_REDUCE(largest, fmax);
    const int is_largest = is_best && !(RITZ_ABS(x) < largest);
    int first = is_largest ? place : RITZ_ROWS;
    RITZ_REDUCE(first, min);
    found = __ballot_sync(0xffffffffu, is_largest && place == first);
  }
  return __ffs((int)found) - 1;
}

#endif

// The warp that offers the pivot of column k; its row is in lines[warp] from entry k on.
RITZ_INLINE int ritz_find_pivot(const RitzEntry *a, int k, int is_done, int place, int num_warps,
                                RITZ_SHARED RitzOffers *offers, RITZ_SHARED RitzEntry *lines) {
  const int turn = k & 1;
  int found = 0;
#ifdef __OPENCL_VERSION__
  offers->magnitudes[RITZ_THREAD] = is_done ? -1 : a[k] == a[k] ? RITZ_ABS(a[k]) : 0;
  offers->places[RITZ_THREAD] = place;
  RITZ_BARRIER();
  if (RITZ_LANE == 0) {
    int best = RITZ_THREAD;
    for (int t = best + 1; t < RITZ_THREAD + 32; t++) {
      const RitzEntry x = offers->magnitudes[t], most = offers->magnitudes[best];
      if (x > most || (x == most && offers->places[t] < offers->places[best])) best = t;
    }
    offers->magnitude[turn][RITZ_WARP] = offers->magnitudes[best];
    offers->place[turn][RITZ_WARP] = offers->places[best];
    offers->owner[turn][RITZ_WARP] = best;
  }
#else
  if (RITZ_WARP < num_warps) {
    const int best = ritz_best_lane(a[k], is_done, place);
    if (RITZ_LANE == (best < 0 ? 0 : best)) {
      offers->magnitude[turn][RITZ_WARP] = best < 0 ? (RitzEntry)-1 : RITZ_ABS(a[k]);
      offers->place[turn][RITZ_WARP] = place;
      offers->owner[turn][RITZ_WARP] = RITZ_THREAD;
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PART; j++) {
        if (j >= k) lines[RITZ_WARP * RITZ_PART + j] = a[j];
      }
    }
  }
#endif
  RITZ_BARRIER();
  for (int w = 1; w < num_warps; w++) {
    const RitzEntry x = offers->magnitude[turn][w], most = offers->magnitude[turn][found];
    if (x > most || (x == most && offers->place[turn][w] < offers->place[turn][found])) found = w;
  }
#ifdef __OPENCL_VERSION__
  if (RITZ_THREAD == offers->owner[turn][found]) {
    for (int j = k; j < RITZ_PART; j++) lines[found * RITZ_PART + j] = a[j];
  }
  RITZ_BARRIER();
#endif
  return found;
}

#endif

// The panel of columns k0 .. k0 + num_cols, rows from k0 on. Rows stay with their threads; *at_end: where
// LAPACK's swaps put the thread's row.
RITZ_INLINE int ritz_factor_panel(RitzEntry *a, int k0, int rows, int num_cols, int *at_end,
#ifdef RITZ_PIVOTS
                                  RITZ_OF_SWAPS int *pivots, RITZ_SHARED RitzOffers *offers,
#endif
                                  RITZ_SHARED RitzEntry *lines) {
  int place = RITZ_THREAD, is_done = RITZ_THREAD >= rows, failed = 0;
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PART; k++) {
    RITZ_SHARED RitzEntry *line = lines + (k & 1) * RITZ_WARPS * RITZ_PART;
    if (k >= num_cols) break;
#ifdef RITZ_PIVOTS
    const int found = ritz_find_pivot(a, k, is_done, place, (rows + 31) / 32, offers, line);
    const int owner = offers->owner[k & 1][found], at = offers->place[k & 1][found];
    line += found * RITZ_PART;
    if (place == k) place = at;
    if (RITZ_THREAD == owner) place = k;
    if (RITZ_THREAD == 0) pivots[k0 + k] = k0 + at + 1;
#else
    const int owner = k;
    if (RITZ_THREAD == owner) {
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PART; j++) {
        if (j >= k) line[j] = a[j];
      }
    }
    RITZ_BARRIER();
#endif
    if (RITZ_THREAD == owner) is_done = 1;
    const RitzEntry d = line[k];
    if (d == 0 && !failed) failed = k0 + k + 1;
    if (!is_done && d != 0) {
      const RitzEntry l = a[k] / d;
      a[k] = l;
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PART; j++) {
        if (j > k) a[j] -= l * line[j];
      }
    }
  }
  *at_end = place;
  return failed;
}

// Rows of columns outside of the panel change places: row k0 + j comes from k0 + from[j], what was there goes
// to k0 + to[j], where that is not negative. To the right they are then those of U, which also go to `upper`.
RITZ_INLINE void ritz_swap_and_solve(RitzWork w, int k0, int num_cols, int n, RITZ_SHARED const int *from,
                                     RITZ_SHARED const int *to, RITZ_SHARED const RitzEntry *lower,
                                     RITZ_SHARED RitzEntry *upper) {
  RITZ_ROLL
  for (int c = RITZ_THREAD; c < n; c += RITZ_THREADS) {
    RitzEntry u[RITZ_PART];
    if (c >= k0 && c < k0 + num_cols) continue;
#ifndef RITZ_PIVOTS
    if (c < k0) continue;
#endif
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) u[j] = j < num_cols ? RITZ_W(w, k0 + from[j], c) : 0;
#ifdef RITZ_PIVOTS
    RitzEntry old[RITZ_PART];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) old[j] = j < num_cols && to[j] >= 0 ? RITZ_W(w, k0 + j, c) : 0;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) {
      if (j < num_cols && to[j] >= 0) RITZ_W(w, k0 + to[j], c) = old[j];
    }
#endif
    if (c > k0) {
      RITZ_UNROLL
      for (int k = 0; k < RITZ_PART; k++) {
        RITZ_UNROLL
        for (int j = 0; j < RITZ_PART; j++) {
          if (j > k && j < num_cols) u[j] -= lower[k * RITZ_L_FAR + j] * u[k];
        }
      }
    }
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) {
      if (j < num_cols) RITZ_W(w, k0 + j, c) = u[j];
      if (c > k0) upper[j * RITZ_U_FAR + c - k0 - RITZ_PART] = u[j];
    }
  }
}

// Memory that the block shares beside RITZ_MEMORY.
typedef struct {
  RitzEntry lines[2 * RITZ_WARPS * RITZ_PART];
  int from[RITZ_PART], to[RITZ_PART];
#ifdef RITZ_PIVOTS
  RitzOffers offers;
#endif
} RitzLists;

// P A = L U; the first zero of U's diagonal, counted from 1. Behind it, `memory` has room for parts of L, U.
RITZ_INLINE int ritz_lu(RitzWork w, int m, int n, RITZ_OF_SWAPS int *pivots, RITZ_SHARED RitzLists *lists,
                        RITZ_SHARED RitzEntry *memory) {
  RITZ_SHARED RitzEntry *lower = memory, *upper = memory + RITZ_PART * RITZ_L_FAR;
  const int steps = m < n ? m : n;
  int failed = 0;
  RITZ_ROLL
  for (int k0 = 0; k0 < steps; k0 += RITZ_PART) {
    const int num_cols = steps - k0 < RITZ_PART ? steps - k0 : RITZ_PART, rows = m - k0;
    RitzEntry a[RITZ_PART];
    int place;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++)
      a[j] = RITZ_THREAD < rows && j < num_cols ? RITZ_W(w, k0 + RITZ_THREAD, k0 + j) : 0;
    const int zero = ritz_factor_panel(a, k0, rows, num_cols, &place,
#ifdef RITZ_PIVOTS
                                       pivots, &lists->offers,
#endif
                                       lists->lines);
    if (zero && !failed) failed = zero;
    if (place < num_cols) lists->from[place] = RITZ_THREAD;
    if (RITZ_THREAD < num_cols) lists->to[RITZ_THREAD] = place < num_cols ? -1 : place;
    RITZ_STEP(); // all have read their rows
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) {
      lower[j * RITZ_L_FAR + place] = a[j];
      if (RITZ_THREAD < rows && j < num_cols) RITZ_W(w, k0 + place, k0 + j) = a[j];
    }
    RITZ_STEP();
    ritz_swap_and_solve(w, k0, num_cols, n, lists->from, lists->to, lower, upper);
    RITZ_STEP();
    if (num_cols == RITZ_PART)
      ritz_update(w, k0 + RITZ_PART, m, n, 0, lower + RITZ_PART, RITZ_L_FAR, upper, RITZ_U_FAR);
    RITZ_STEP();
  }
  return failed;
}

#endif

#ifdef RITZ_GETRF

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(memory);
  RITZ_SHARED_ARRAY RitzLists lists;
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    RITZ_KNOW_SIZES(i);
    const RitzMatrix A = RITZ_MATRIX(A, i, m, n);
#ifdef RITZ_HOLD
    const RitzWork w = memory + RITZ_PART * (RITZ_L_FAR + RITZ_U_FAR) + 32;
    RITZ_EACH_ENTRY(r, c, m, n, 0) RITZ_W(w, r, c) = RITZ_AT(A, r, c);
    RITZ_BARRIER();
#else
    const RitzWork w = A;
#endif
    const int failed = ritz_lu(w, m, n, ipiv + i * ipiv_stride, &lists, memory);
#ifdef RITZ_HOLD
    RITZ_EACH_ENTRY(r, c, m, n, 0) RITZ_AT(A, r, c) = RITZ_W(w, r, c);
    RITZ_BARRIER();
#endif
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : failed;
  }
}

#endif

// ---- Cholesky ----

#ifdef RITZ_POTRF

#define RITZ_L_FAR RITZ_FAR(RITZ_N)

// The panel of columns k0 .. k0 + num_cols: L D L^T, then columns times the roots of D.
RITZ_INLINE int ritz_factor_panel(RitzEntry *a, int k0, int num_cols, RITZ_SHARED RitzEntry *lines,
                                  RITZ_SHARED RitzEntry *roots) {
  RitzEntry mine = 1;
  int failed = 0;
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PART; k++) {
    RITZ_SHARED RitzEntry *line = lines + (k & 1) * RITZ_PART;
    if (k >= num_cols) break;
    if (RITZ_THREAD < RITZ_PART) line[RITZ_THREAD] = a[k];
    RITZ_BARRIER();
    RitzEntry d = line[k];
    if (!(d > 0)) {
      if (!failed) failed = k0 + k + 1;
      d = 1;
    }
    if (RITZ_THREAD == k) mine = d;
    const RitzEntry factor = a[k] / d;
    a[k] = factor;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_PART; j++) {
      if (j > k) a[j] -= factor * line[j];
    }
  }
  if (RITZ_THREAD < RITZ_PART) roots[RITZ_THREAD] = RITZ_SQRT(mine);
  RITZ_BARRIER();
  RITZ_UNROLL
  for (int j = 0; j < RITZ_PART; j++) a[j] *= roots[j];
  return failed;
}

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(lower);
  RITZ_SHARED_ARRAY RitzEntry lines[2 * RITZ_PART], roots[RITZ_PART];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    RITZ_KNOW_SIZES(i);
    const RitzMatrix A = RITZ_MATRIX(A, i, n, n);
    int failed = bad;
#ifdef RITZ_HOLD
    const RitzWork w = lower + RITZ_PART * RITZ_L_FAR + 32;
    RITZ_EACH_ENTRY(r, c, n, n, 1) RITZ_W(w, r, c) = RITZ_AT(A, r, c);
    RITZ_BARRIER();
#else
    const RitzWork w = A;
#endif
    RITZ_ROLL
    for (int k0 = 0; k0 < n; k0 += RITZ_PART) {
      const int num_cols = n - k0 < RITZ_PART ? n - k0 : RITZ_PART;
      const int has_row = RITZ_THREAD < n - k0;
      RitzEntry a[RITZ_PART];
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PART; j++)
        a[j] = has_row && j < num_cols && RITZ_THREAD >= j ? RITZ_W(w, k0 + RITZ_THREAD, k0 + j) : 0;
      const int minor = ritz_factor_panel(a, k0, num_cols, lines, roots);
      if (minor && !failed) failed = minor;
      RITZ_UNROLL
      for (int j = 0; j < RITZ_PART; j++) {
        lower[j * RITZ_L_FAR + RITZ_THREAD] = a[j];
        if (has_row && j < num_cols && RITZ_THREAD >= j) RITZ_W(w, k0 + RITZ_THREAD, k0 + j) = a[j];
      }
      RITZ_BARRIER();
      ritz_update(w, k0 + RITZ_PART, n, n, 1, lower + RITZ_PART, RITZ_L_FAR, lower + RITZ_PART, RITZ_L_FAR);
      RITZ_STEP();
    }
#ifdef RITZ_HOLD
    RITZ_EACH_ENTRY(r, c, n, n, 1) RITZ_AT(A, r, c) = RITZ_W(w, r, c);
    RITZ_BARRIER();
#endif
    if (info && RITZ_THREAD == 0) info[i] = failed;
  }
}

#endif

// ---- Solves and inverses ----

#if defined(RITZ_SOLVE) || defined(RITZ_GETRI) || defined(RITZ_INV)

// Where entries were before the swaps of LU, swaps counted from 1; those outside of the matrix are left out.
RITZ_INLINE void ritz_know_places(int n, RITZ_SHARED const int *swaps, RITZ_SHARED int *before) {
  RITZ_BARRIER();
  for (int r = RITZ_THREAD; r < n; r += RITZ_THREADS) {
    int place = r;
    for (int k = n - 1; k >= 0; k--) {
      const int other = swaps[k] > 0 ? swaps[k] - 1 : -1;
      if (other < 0 || other >= n) continue;
      place = place == k ? other : place == other ? k : place;
    }
    before[r] = place;
  }
  RITZ_BARRIER();
}

#endif

#ifdef RITZ_SOLVE
#include "kernels/gpu/batched-solve.h"
#endif

#if defined(RITZ_GETRI) || defined(RITZ_INV)
#include "kernels/gpu/batched-inverse.h"
#endif

#endif
