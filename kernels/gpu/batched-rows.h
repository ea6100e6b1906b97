// SPDX-License-Identifier: BSD-2-Clause
// Batched dense algebra of one small size: a thread holds a row of its matrix in registers, RITZ_GROUP
// threads, a power of 2, a matrix. The text in front defines:
//
//   RITZ_THREADS, RITZ_GROUP  of a block, of a matrix
//   RITZ_RESIDENT             blocks of a multiprocessor
//   RITZ_M, RITZ_N, RITZ_K    sizes: C m x n with k products; n unknowns, k right-hand sides; A m x n
//   RITZ_COLUMNS              right-hand sides, or columns of C, at a time
//   RITZ_PIVOTS               LU has pivots
//   RITZ_UNIFORM              all matrices have these sizes; else they are bounds
//   RITZ_TWICE, RITZ_MIRRORS  solves: forward and backward; the second matrix is the first one's transpose
//   and one of RITZ_PRODUCT, RITZ_SOLVE, RITZ_POTRF, RITZ_GETRF, RITZ_GETRI, RITZ_INV: what is done
//
// Once a step, one thread gives what the others need, a pivot's row for example, through shared memory, from
// where they read 16 bytes at a time. Groups of up to 32 threads are parts of a warp and need no barrier of
// the block; steps take turns with two lines, so that one fence a step is enough. Rows stay where they are:
// each thread knows at which place LAPACK's swaps put its row, and stores it there.
#ifndef RITZ_KERNELS_GPU_BATCHED_ROWS_H
#define RITZ_KERNELS_GPU_BATCHED_ROWS_H

#include "kernels/gpu/batched.h"

#ifdef RITZ_ENTRY_F32
#define RITZ_PACK 4
#else
#define RITZ_PACK 2
#endif
typedef struct RITZ_ALIGN16 {
  RitzEntry v[RITZ_PACK];
} RitzPack;
#define RITZ_PACKS(n) (((n) + RITZ_PACK - 1) / RITZ_PACK)

#define RITZ_GROUPS (RITZ_THREADS / RITZ_GROUP)
#define RITZ_ROW    (RITZ_THREAD % RITZ_GROUP)
#define RITZ_PLACE  (RITZ_THREAD / RITZ_GROUP) // of the matrix in its block

#if defined(__OPENCL_VERSION__) || RITZ_GROUP > 32
#define RITZ_SHARE() RITZ_BARRIER()
#else
#define RITZ_IN_WARP
#define RITZ_SHARE() RITZ_FENCE(0xffffffffu)
#endif

// Matrices i = first + RITZ_PLACE; all threads of a block take as many turns.
#define RITZ_EACH_TURN(first)                                                                                \
  for (RitzLong first = RITZ_BLOCK * RITZ_GROUPS; first < RITZ_NUM_TURNS;                                    \
       first += RITZ_NUM_BLOCKS * RITZ_GROUPS)

// a[j] for entries from `begin` on -> line; line behind a pad, so that groups of a warp use other banks.
#define RITZ_LINE_PACKS(n) (RITZ_PACKS(n) + 1)
#define RITZ_PUBLISH(line, a, begin, n)                                                                      \
  do {                                                                                                       \
    RITZ_UNROLL                                                                                              \
    for (int pack = 0; pack < RITZ_PACKS(n); pack++) {                                                       \
      RitzPack values;                                                                                       \
      if (RITZ_PACK * (pack + 1) <= (begin)) continue;                                                       \
      RITZ_UNROLL                                                                                            \
      for (int q = 0; q < RITZ_PACK; q++)                                                                    \
        values.v[q] =                                                                                        \
            RITZ_PACK * pack + q < (n) ? (a)[RITZ_PACK * pack + q < (n) ? RITZ_PACK * pack + q : 0] : 0;     \
      (line)[pack] = values;                                                                                 \
    }                                                                                                        \
  } while (0)
// a[j] -= factor line[j] for begin <= j < n
#define RITZ_SUBTRACT(line, a, factor, begin, n)                                                             \
  do {                                                                                                       \
    RITZ_UNROLL                                                                                              \
    for (int pack = 0; pack < RITZ_PACKS(n); pack++) {                                                       \
      if (RITZ_PACK * (pack + 1) <= (begin)) continue;                                                       \
      const RitzPack values = (line)[pack];                                                                  \
      RITZ_UNROLL                                                                                            \
      for (int q = 0; q < RITZ_PACK; q++) {                                                                  \
        const int j = RITZ_PACK * pack + q;                                                                  \
        if (j >= (begin) && j < (n)) (a)[j < (n) ? j : 0] -= (factor)*values.v[q];                           \
      }                                                                                                      \
    }                                                                                                        \
  } while (0)
#define RITZ_OF(line, j) ((line)[(j) / RITZ_PACK].v[(j) % RITZ_PACK])

// In words that compilers do not look through: what follows from x is computed where the text says so. Else
// threads would have addresses and predicates of all entries, or numbers of all steps, in registers.
#ifdef __OPENCL_VERSION__
#define RITZ_HIDE(x, kind)
#else
#define RITZ_HIDE(x, kind) asm volatile("" : "+" kind(x))
#endif
#ifdef RITZ_ENTRY_F32
#define RITZ_ENTRY_KIND "f"
#else
#define RITZ_ENTRY_KIND "d"
#endif

// From one entry of a row to the next.
#define RITZ_NEXT(p, step)                                                                                   \
  do {                                                                                                       \
    (p) += (step);                                                                                           \
    RITZ_HIDE(p, "l");                                                                                       \
  } while (0)

// ---- x / d, d not 0 and the same for all threads of a matrix ----

#ifdef __OPENCL_VERSION__
#define ritz_quotient(x, d) ((x) / (d))
#else

// CUDA's division calls a function where x is 0, as threads without a row have it, and others wait for them.
#ifdef RITZ_ENTRY_F32
#define RITZ_LEAST               1e-30f
#define RITZ_SCALE               1.099511627776e12f // 2^40
#define RITZ_GUESS_INVERSE(r, d) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d))
#else
#define RITZ_LEAST               1e-290
#define RITZ_SCALE               1.2676506002282294e30                                // 2^100
#define RITZ_GUESS_INVERSE(r, d) asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d)) // 20 bits
#endif

RITZ_INLINE RitzEntry ritz_quotient(RitzEntry x, RitzEntry d) {
  const RitzEntry size = RITZ_ABS(d);
  // So that the inverse is a normal number.
  const RitzEntry scale = size < RITZ_LEAST ? RITZ_SCALE : size > 1 / RITZ_LEAST ? 1 / RITZ_SCALE : 1;
  RitzEntry r, e, q;
  d *= scale;
  x *= scale;
  RITZ_GUESS_INVERSE(r, d);
  e = RITZ_FMA(-d, r, (RitzEntry)1);
  r = RITZ_FMA(r, RITZ_FMA(e, e, e), r);
  r = RITZ_FMA(r, RITZ_FMA(-d, r, (RitzEntry)1), r);
  q = x * r;
  return RITZ_FMA(RITZ_FMA(-q, d, x), r, q);
}

#endif

#if defined(RITZ_GETRF) || defined(RITZ_INV)

#ifdef RITZ_GETRF
#define RITZ_ROWS RITZ_M
#else
#define RITZ_ROWS RITZ_N
#endif

// ---- Pivots ----
// The row of the group with the largest |x| of those that are not done; of equal ones the one at the first
// place. *at: its place.

#ifndef __OPENCL_VERSION__

#define RITZ_LANES (RITZ_GROUP < 32 ? RITZ_GROUP : 32) // of a warp, that have rows of one matrix

// The leading bits of |x|, in the order of |x|; rows that are done have 0.
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
    for (int o = RITZ_LANES / 2; o; o >>= 1) value = combine(value, __shfl_xor_sync(0xffffffffu, value, o)); \
  } while (0)

// The lane, as a bit, of the largest one of those of a matrix that are in this warp; 0: all are done.
RITZ_INLINE unsigned ritz_candidate(RitzEntry x, int is_done, int place) {
  const unsigned base = RITZ_THREAD & 31 & ~(RITZ_LANES - 1);
  const unsigned group = (0xffffffffu >> (32 - RITZ_LANES)) << base;
  const unsigned key = ritz_key(x, is_done);
  unsigned best = key;
#if RITZ_LANES == 32 && __CUDA_ARCH__ >= 800
  best = __reduce_max_sync(0xffffffffu, key);
#else
  RITZ_REDUCE(best, max);
#endif
  const int is_best = key == best && !is_done;
  unsigned found = __ballot_sync(0xffffffffu, is_best) & group;
  if (__any_sync(0xffffffffu, __popc(found) > 1)) { // rare: alike in the leading bits
    const RitzEntry magnitude = is_best ? RITZ_ABS(x) : (RitzEntry)-1;
    RitzEntry largest = magnitude;
    RITZ_REDUCE(largest, fmax);
    const int is_largest = is_best && !(magnitude < largest);
    const int mine = is_largest ? place : RITZ_GROUP;
    int first = mine;
    RITZ_REDUCE(first, min);
    found = __ballot_sync(0xffffffffu, is_largest && mine == first) & group;
  }
  return found;
}

#ifdef RITZ_IN_WARP

RITZ_INLINE int ritz_pivot(RitzEntry x, int is_done, int place, int *at) {
  const int lane = __ffs((int)ritz_candidate(x, is_done, place)) - 1;
  *at = __shfl_sync(0xffffffffu, place, lane);
  return lane - (RITZ_THREAD & 31 & ~(RITZ_GROUP - 1));
}

#define RITZ_PIVOT_ARRAYS
#define RITZ_FIND_PIVOT(x, is_done, place, at) ritz_pivot(x, is_done, place, at)

#else // two warps: what each has found

typedef struct {
  RitzEntry magnitude; // -1: all are done
  int row, place;
} RitzCandidate;

// `lane`: as found by ritz_candidate.
RITZ_INLINE void ritz_propose(RitzEntry x, unsigned lane, int place, RitzCandidate *candidates) {
  RitzCandidate mine;
  if (!(lane ? lane >> (RITZ_THREAD & 31) & 1 : RITZ_THREAD % 32 == 0)) return;
  mine.magnitude = lane ? RITZ_ABS(x) : (RitzEntry)-1;
  mine.row = RITZ_ROW;
  mine.place = place;
  candidates[RITZ_THREAD / 32] = mine;
}
RITZ_INLINE int ritz_choose(const RitzCandidate *candidates) {
  const RitzCandidate one = candidates[0], two = candidates[1];
  // Below 0: all rows of the first warp are done, whatever the other one's is, NaN too.
  return one.magnitude < 0 || two.magnitude > one.magnitude ||
         (two.magnitude == one.magnitude && two.place < one.place);
}

RITZ_INLINE int ritz_pivot(RitzEntry x, int is_done, int place, int *at, RitzCandidate *candidates) {
  ritz_propose(x, ritz_candidate(x, is_done, place), place, candidates);
  RITZ_BARRIER();
  const int chosen = ritz_choose(candidates);
  *at = candidates[chosen].place;
  return candidates[chosen].row;
}

#define RITZ_PIVOT_ARRAYS                      RITZ_SHARED_ARRAY RitzCandidate candidates[2];
#define RITZ_FIND_PIVOT(x, is_done, place, at) ritz_pivot(x, is_done, place, at, candidates)

#endif

#else // OpenCL

RITZ_INLINE int ritz_pivot(RitzEntry x, int is_done, int place, int *at, RITZ_SHARED RitzEntry *magnitudes,
                           RITZ_SHARED int *places) {
  int found = 0;
  magnitudes[RITZ_ROW] = is_done ? -1 : x == x ? RITZ_ABS(x) : 0;
  places[RITZ_ROW] = place;
  RITZ_BARRIER();
  RitzEntry largest = magnitudes[0];
  *at = places[0];
  RITZ_ROLL
  for (int row = 1; row < RITZ_ROWS; row++) {
    const RitzEntry magnitude = magnitudes[row];
    if (magnitude < largest || (magnitude == largest && places[row] > *at)) continue;
    largest = magnitude;
    *at = places[row];
    found = row;
  }
  return found;
}

#define RITZ_PIVOT_ARRAYS                                                                                    \
  RITZ_SHARED_ARRAY RitzEntry magnitudes[RITZ_GROUPS][RITZ_GROUP];                                           \
  RITZ_SHARED_ARRAY int places[RITZ_GROUPS][RITZ_GROUP];
#define RITZ_FIND_PIVOT(x, is_done, place, at)                                                               \
  ritz_pivot(x, is_done, place, at, magnitudes[RITZ_PLACE], places[RITZ_PLACE])

#endif
#endif

// ---- LU ----

#if defined(RITZ_GETRF) && !defined(RITZ_STAGE)

#define RITZ_STEPS (RITZ_M < RITZ_N ? RITZ_M : RITZ_N)

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[RITZ_GROUPS][2][RITZ_LINE_PACKS(RITZ_N)];
  RITZ_PIVOT_ARRAYS
  const int row = RITZ_ROW;
  RITZ_EACH_TURN(first) {
    const RitzLong i = RITZ_MEMBER(first + RITZ_PLACE), known = i < count ? i : 0;
    RITZ_KNOW_SIZES(known);
    const int has_row = i < count && row < m;
    const RitzMatrix A = RITZ_MATRIX(A, known, m, n);
    RitzEntry a[RITZ_N];
    int place = row, swapped = row, failed = bad, is_done = row >= m;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) a[j] = has_row && j < n ? RITZ_AT(A, row, j) : 0;
    RITZ_UNROLL
    for (int k = 0; k < RITZ_STEPS; k++) {
      RITZ_SHARED RitzPack *line = lines[RITZ_PLACE][k & 1];
      const int is_step = k < m && k < n;
#ifdef RITZ_PIVOTS
      int at;
      const int is_owner = row == RITZ_FIND_PIVOT(a[k], is_done, place, &at) && is_step;
      if (row == k && is_step) swapped = at;
      if (place == k && is_step) place = at;
      if (is_owner) place = k;
#else
      const int is_owner = row == k && is_step;
#endif
      if (is_owner) {
        is_done = 1;
        RITZ_PUBLISH(line, a, k, RITZ_N);
      }
      RITZ_SHARE();
      const RitzEntry d = is_step ? RITZ_OF(line, k) : 1;
      if (d == 0 && !failed) failed = k + 1;
      RITZ_HIDE(failed, "r");
      if (!is_done && d != 0 && is_step) {
        const RitzEntry l = ritz_quotient(a[k], d);
        a[k] = l;
        RITZ_SUBTRACT(line, a, l, k + 1, RITZ_N);
      }
    }
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      if (has_row && j < n) RITZ_AT(A, place, j) = a[j];
    }
    if (ipiv && i < count && row < m && row < n) ipiv[i * ipiv_stride + row] = swapped + 1;
    if (info && i < count && row == 0) info[i] = failed;
    RITZ_SHARE();
  }
}

#endif

// ---- Cholesky ----

#if defined(RITZ_POTRF) && !defined(RITZ_STAGE)

// A = L D L^T, and at the end columns times the roots of D: one root a thread, in nobody's way.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[RITZ_GROUPS][2][RITZ_LINE_PACKS(RITZ_N)];
  const int row = RITZ_ROW;
  RITZ_EACH_TURN(first) {
    const RitzLong i = RITZ_MEMBER(first + RITZ_PLACE), known = i < count ? i : 0;
    RITZ_KNOW_SIZES(known);
    const int has_row = i < count && row < n;
    const RitzMatrix A = RITZ_MATRIX(A, known, n, n);
    RitzEntry a[RITZ_N], mine = 1;
    int failed = bad;
    RITZ_GLOBAL RitzEntry *p = A.p + row * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      a[j] = has_row && row >= j ? *p : 0;
      RITZ_NEXT(p, A.cs);
    }
    RITZ_UNROLL
    for (int k = 0; k < RITZ_N; k++) {
      RITZ_SHARED RitzPack *line = lines[RITZ_PLACE][k & 1];
      if (row < RITZ_N) RITZ_OF(line, row) = a[k];
      RITZ_SHARE();
      RitzEntry d = k < n ? RITZ_OF(line, k) : 1;
      if (!(d > 0)) {
        if (!failed) failed = k + 1;
        d = 1;
      }
      const RitzEntry factor = ritz_quotient(a[k], d);
      a[k] = factor;
      if (row == k) mine = d;
      RITZ_HIDE(mine, RITZ_ENTRY_KIND);
      RITZ_HIDE(failed, "r");
      RITZ_SUBTRACT(line, a, factor, k + 1, RITZ_N);
    }
    RITZ_SHARED RitzPack *roots = lines[RITZ_PLACE][RITZ_N & 1];
    if (row < RITZ_N) RITZ_OF(roots, row) = RITZ_SQRT(mine);
    RITZ_SHARE();
    p = A.p + row * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      if (has_row && row >= j) *p = a[j] * RITZ_OF(roots, j);
      RITZ_NEXT(p, A.cs);
    }
    if (info && i < count && row == 0) info[i] = failed;
    RITZ_SHARE();
  }
}

#endif

// ---- Inverse by Gauss and Jordan ----

#ifdef RITZ_INV

// B = A^-1; B may be A. Column j of the result is where the pivot of step j was.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[RITZ_GROUPS][2][RITZ_LINE_PACKS(RITZ_N)];
  RITZ_SHARED_ARRAY int owners[RITZ_GROUPS][RITZ_N];
  RITZ_PIVOT_ARRAYS
  const int row = RITZ_ROW;
  RITZ_EACH_TURN(first) {
    const RitzLong i = RITZ_MEMBER(first + RITZ_PLACE), known = i < count ? i : 0;
    RITZ_KNOW_SIZES(known);
    const int has_row = i < count && row < n;
    const RitzMatrix A = RITZ_MATRIX(A, known, n, n), B = RITZ_MATRIX(B, known, n, n);
    RitzEntry a[RITZ_N];
    int step = 0, failed = bad, is_done = row >= n;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) a[j] = has_row && j < n ? RITZ_AT(A, row, j) : 0;
    RITZ_UNROLL
    for (int k = 0; k < RITZ_N; k++) {
      RITZ_SHARED RitzPack *line = lines[RITZ_PLACE][k & 1];
      int at;
      const int is_owner = row == RITZ_FIND_PIVOT(a[k], is_done, row, &at) && k < n;
      if (is_owner) {
        const RitzEntry inverse = a[k] == 0 ? 0 : 1 / a[k];
        is_done = 1;
        step = k;
        owners[RITZ_PLACE][k] = row;
        a[k] = 1;
        RITZ_UNROLL
        for (int j = 0; j < RITZ_N; j++) a[j] *= inverse;
        RITZ_PUBLISH(line, a, 0, RITZ_N);
      }
      RITZ_SHARE();
      if (k < n && RITZ_OF(line, k) == 0 && !failed) failed = k + 1;
      if (!is_owner && k < n) {
        const RitzEntry factor = a[k];
        a[k] = 0;
        RITZ_SUBTRACT(line, a, factor, 0, RITZ_N);
      }
    }
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      if (has_row && j < n) RITZ_AT(B, step, owners[RITZ_PLACE][j]) = a[j];
    }
    if (info && i < count && row == 0) info[i] = failed;
    RITZ_SHARE();
  }
}

#endif

// ---- Solves ----

#if defined(RITZ_SOLVE) || defined(RITZ_GETRI)

// Where the entry in this row was before the swaps of LU; equally, where the swaps in reverse order put it.
RITZ_INLINE int ritz_before(int row, int n, RITZ_GLOBAL const int *pivots) {
  RITZ_UNROLL
  for (int k = RITZ_N - 1; k >= 0; k--) {
    const int other = k < n && pivots[k] > 0 ? pivots[k] - 1 : -1;
    const int is_valid = other >= 0 && other < n;
    if (is_valid && row == k)
      row = other;
    else if (is_valid && row == other)
      row = k;
  }
  return row;
}

// x[] of all rows: a step for unknown k, of which each x is multiplied by `raise` and `scale`.
#define RITZ_ELIMINATE(k, raise, scale, has_others)                                                          \
  do {                                                                                                       \
    RITZ_SHARED RitzPack *line = lines[RITZ_PLACE][turn];                                                    \
    turn = !turn;                                                                                            \
    if (row == (k)) {                                                                                        \
      RITZ_UNROLL                                                                                            \
      for (int c = 0; c < RITZ_COLUMNS; c++) x[c] = x[c] * (raise) * (scale);                                \
      RITZ_PUBLISH(line, x, 0, RITZ_COLUMNS);                                                                \
    }                                                                                                        \
    RITZ_SHARE();                                                                                            \
    if (has_others) RITZ_SUBTRACT(line, x, a[k], 0, RITZ_COLUMNS);                                           \
  } while (0)

// X over B [n][k]; of inverses from factors: over A, from the identity.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[RITZ_GROUPS][2][RITZ_LINE_PACKS(RITZ_COLUMNS)];
#ifdef RITZ_GETRI
  RITZ_SHARED_ARRAY RitzEntry diagonals[RITZ_GROUPS][RITZ_GROUP];
#endif
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits);
  const int row = RITZ_ROW, is_unit = options & (RITZ_UNIT_FIRST | RITZ_UNIT_SECOND);
  int turn = 0;
  RITZ_EACH_TURN(first) {
    const RitzLong i = RITZ_MEMBER(first + RITZ_PLACE), known = i < count ? i : 0;
    RITZ_KNOW_SIZES(known);
    const int has_row = i < count && row < n;
    const RitzMatrix A = RITZ_MATRIX(A, known, n, n);
    RitzEntry a[RITZ_N], d = 1;
    int from = row, to = row, failed = bad;
    if (!bad && (options & RITZ_FOLLOWS)) failed = info[known];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      a[j] = 0;
      if (has_row && alpha != 0 && j < row) a[j] = RITZ_AT(A, row, j);
#ifdef RITZ_MIRRORS
      if (has_row && j > row && j < n) a[j] = RITZ_AT(A, j, row);
#elif defined(RITZ_TWICE)
      if (has_row && j > row && j < n) a[j] = RITZ_AT(A, row, j);
#endif
    }
#ifdef RITZ_TWICE
    if (has_row) d = RITZ_AT(A, row, row);
#else
    if (has_row && alpha != 0 && !is_unit) d = RITZ_AT(A, row, row);
#endif
#ifdef RITZ_GETRI
    const RitzMatrix B = A;
    diagonals[RITZ_PLACE][row] = d;
    RITZ_SHARE();
    RITZ_ROLL
    for (int k = RITZ_N - 1; k >= 0; k--) failed = diagonals[RITZ_PLACE][k] == 0 ? k + 1 : failed;
#else
    const RitzMatrix B = RITZ_MATRIX(B, known, n, num);
#endif
#ifdef RITZ_PIVOTS
    if (has_row && ipiv) {
      const int other = ritz_before(row, n, ipiv + i * ipiv_stride);
      if (options & RITZ_SWAPS_FIRST) from = other;
      if (options & RITZ_SWAPS_LAST) to = other;
    }
#endif
    const RitzEntry raise = ritz_raise_of(d), inverse = 1 / (d * raise);
    const RitzEntry first_raise = options & RITZ_UNIT_FIRST ? 1 : raise;
    const RitzEntry first_scale = options & RITZ_UNIT_FIRST ? 1 : inverse;
    RITZ_ROLL
    for (int begin = 0; begin < RITZ_K; begin += RITZ_COLUMNS) {
      RitzEntry x[RITZ_COLUMNS];
      RITZ_UNROLL
      for (int c = 0; c < RITZ_COLUMNS; c++) {
        const int is_here = has_row && begin + c < num;
#ifdef RITZ_GETRI
        x[c] = is_here && from == begin + c;
#else
        x[c] = is_here && alpha != 0 ? alpha * RITZ_AT(B, from, begin + c) : 0;
#endif
      }
      if (alpha != 0) {
        RITZ_UNROLL
        for (int k = 0; k < RITZ_N; k++) RITZ_ELIMINATE(k, first_raise, first_scale, row > k);
      }
#ifdef RITZ_TWICE
      const RitzEntry second_raise = options & RITZ_UNIT_SECOND ? 1 : raise;
      const RitzEntry second_scale = options & RITZ_UNIT_SECOND ? 1 : inverse;
      RITZ_UNROLL
      for (int k = RITZ_N - 1; k >= 0; k--) RITZ_ELIMINATE(k, second_raise, second_scale, row < k);
#endif
      RITZ_UNROLL
      for (int c = 0; c < RITZ_COLUMNS; c++) {
        if (has_row && begin + c < num && !failed) RITZ_AT(B, to, begin + c) = x[c];
      }
    }
    if (info && i < count && row == 0) info[i] = failed;
    RITZ_SHARE();
  }
}

#endif

// ---- Products ----

#ifdef RITZ_PRODUCT

#define RITZ_AT_ONCE (RITZ_COLUMNS < 4 ? RITZ_COLUMNS : 4) // columns of C
#define RITZ_AHEAD   (RITZ_COLUMNS > 1 ? 8 : 2)            // reads that a thread has under way

// Columns of B from `begin` to `end` -> columns, with zeros behind the last product; by the group, which
// reads several entries before it writes them.
RITZ_INLINE void ritz_share_columns(RitzMatrix B, int begin, int end, int num,
                                    RITZ_SHARED RitzPack *columns) {
#if defined(RITZ_UNIFORM) && RITZ_K % RITZ_PACK == 0 && RITZ_LD_B % RITZ_PACK == 0 && RITZ_FORM_B == 0 &&    \
    !defined(RITZ_MASK_B)
  const int num_packs = (end - begin) * RITZ_PACKS(RITZ_K);
  if (((size_t)B.p & 15) == 0) {
    RITZ_ROLL
    for (int first = RITZ_ROW; first < num_packs; first += RITZ_AHEAD * RITZ_GROUP) {
      RitzPack values[RITZ_AHEAD];
      RITZ_UNROLL
      for (int q = 0; q < RITZ_AHEAD; q++) {
        const int e = first + q * RITZ_GROUP, pack = e % RITZ_PACKS(RITZ_K), c = e / RITZ_PACKS(RITZ_K);
        if (e < num_packs)
          values[q] = *(RITZ_GLOBAL const RitzPack *)(B.p + RITZ_PACK * pack + (begin + c) * B.cs);
      }
      RITZ_UNROLL
      for (int q = 0; q < RITZ_AHEAD; q++) {
        if (first + q * RITZ_GROUP < num_packs) columns[first + q * RITZ_GROUP] = values[q];
      }
    }
    return;
  }
#endif
  const int num_entries = (end - begin) * RITZ_K;
  RITZ_ROLL
  for (int first = RITZ_ROW; first < num_entries; first += RITZ_AHEAD * RITZ_GROUP) {
    RitzEntry values[RITZ_AHEAD];
    RITZ_UNROLL
    for (int q = 0; q < RITZ_AHEAD; q++) {
      const int e = first + q * RITZ_GROUP, k = e % RITZ_K, c = e / RITZ_K;
      values[q] = e < num_entries && k < num ? RITZ_READ_B(B, k, begin + c) : 0;
    }
    RITZ_UNROLL
    for (int q = 0; q < RITZ_AHEAD; q++) {
      const int e = first + q * RITZ_GROUP;
      if (e < num_entries) RITZ_OF(columns + e / RITZ_K * RITZ_PACKS(RITZ_K), e % RITZ_K) = values[q];
    }
  }
}

// The row's products with RITZ_AT_ONCE columns.
RITZ_INLINE void ritz_multiply_columns(const RitzEntry *a, RITZ_SHARED const RitzPack *columns,
                                       RitzEntry *products) {
  RITZ_UNROLL
  for (int c = 0; c < RITZ_AT_ONCE; c++) {
    RitzEntry sum[2] = {0, 0};
    RITZ_UNROLL
    for (int pack = 0; pack < RITZ_PACKS(RITZ_K); pack++) {
      const RitzPack values = columns[c * RITZ_PACKS(RITZ_K) + pack];
      RITZ_UNROLL
      for (int q = 0; q < RITZ_PACK; q++) {
        const int k = RITZ_PACK * pack + q;
        if (k < RITZ_K) sum[q & 1] += a[k < RITZ_K ? k : 0] * values.v[q];
      }
    }
    products[c] = sum[0] + sum[1];
  }
}

// C = alpha A B + beta C: a row of A a thread, RITZ_COLUMNS columns of B in shared memory.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[RITZ_GROUPS][(RITZ_COLUMNS + RITZ_AT_ONCE) * RITZ_PACKS(RITZ_K) + 1];
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  const int row = RITZ_ROW;
  RITZ_EACH_TURN(first) {
    const RitzLong i = RITZ_MEMBER(first + RITZ_PLACE), known = i < count ? i : 0;
    RITZ_KNOW_SIZES(known);
    const int is_here = i < count, has_row = is_here && row < m;
    const RitzMatrix A = RITZ_MATRIX(A, known, m, num), B = RITZ_MATRIX(B, known, num, n),
                     C = RITZ_MATRIX(C, known, m, n);
    RITZ_SHARED RitzPack *columns = lines[RITZ_PLACE];
    RitzEntry a[RITZ_K];
    RITZ_UNROLL
    for (int k = 0; k < RITZ_K; k++) a[k] = has_row && alpha != 0 && k < num ? RITZ_READ_A(A, row, k) : 0;
    RITZ_ROLL
    for (int begin = 0; begin < RITZ_N; begin += RITZ_COLUMNS) {
      const int end = n - begin < RITZ_COLUMNS ? n : begin + RITZ_COLUMNS;
      if (is_here && alpha != 0) ritz_share_columns(B, begin, end, num, columns);
      RITZ_SHARE();
      RITZ_ROLL
      for (int c = begin; c < end; c += RITZ_AT_ONCE) {
        RitzEntry x[RITZ_AT_ONCE];
        ritz_multiply_columns(a, columns + (c - begin) * RITZ_PACKS(RITZ_K), x);
        RITZ_UNROLL
        for (int q = 0; q < RITZ_AT_ONCE; q++) {
          x[q] = alpha == 0 ? 0 : alpha * x[q];
          if (beta != 0 && has_row && c + q < end && RITZ_KEEPS(row, c + q))
            x[q] += beta * RITZ_AT(C, row, c + q);
        }
        RITZ_UNROLL
        for (int q = 0; q < RITZ_AT_ONCE; q++) {
          if (has_row && c + q < end && RITZ_KEEPS(row, c + q)) RITZ_AT(C, row, c + q) = x[q];
        }
      }
      RITZ_SHARE();
    }
  }
}

#endif

#endif
