// SPDX-License-Identifier: BSD-2-Clause
// Eigenvalues and singular values of any size and layout, by Jacobi's rotations: a block takes a matrix, in
// shared memory where it fits (batched-sums.h). A sweep has as many rounds as a tournament: in each all
// players meet in pairs, and all pairs are rotated at once. RITZ_PARTS threads share a pair of columns
// (GESVDJ). The text in front defines RITZ_SYEVJ or RITZ_GESVDJ: what is done.
#ifndef RITZ_KERNELS_GPU_BATCHED_JACOBI_H
#define RITZ_KERNELS_GPU_BATCHED_JACOBI_H

#include "kernels/gpu/batched-sums.h"

#define RITZ_MAX_SWEEPS 30 // as RITZ_BATCHED_MAX_SWEEPS of core/batched.h
#ifdef RITZ_ENTRY_F32
#define RITZ_ROUNDOFF 5.9604644775390625e-8f
#define RITZ_LEAST    1.17549435082228751e-38f
#define RITZ_MOST     3.40282346638528860e+38f
#else
#define RITZ_ROUNDOFF 1.1102230246251565e-16
#define RITZ_LEAST    2.2250738585072014e-308
#define RITZ_MOST     1.7976931348623157e+308
#endif

// ---- Scales ----

// At least the magnitudes seen so far; Inf where one was not finite.
RITZ_INLINE RitzEntry ritz_see(RitzEntry largest, RitzEntry x) {
  const RitzEntry size = RITZ_ABS(x);
  return size <= largest ? largest : size <= RITZ_MOST ? size : RITZ_MOST * 2;
}

// 2^exponent is above this positive number, by a factor of 2 at most; of zero 0.
RITZ_INLINE int ritz_exponent(RitzEntry largest) { return largest > 0 ? ilogb(largest) + 1 : 0; }

// ---- Rotations ----

// The smaller root of t^2 + 2 zeta t = 1.
RITZ_INLINE RitzEntry ritz_tangent(RitzEntry zeta) {
  const RitzEntry size = RITZ_ABS(zeta);
  const RitzEntry t = size > 1 / RITZ_ROUNDOFF ? 1 / (2 * size) : 1 / (size + RITZ_SQRT(1 + size * size));
  return zeta < 0 ? -t : t;
}

// Pair k of a round, p < q, of players 0 .. num - 1 in even number: the last one stays where it is.
RITZ_INLINE void ritz_pair(int num, int round, int k, int *p, int *q) {
  const int circle = num - 1, one = (round + k) % circle;
  const int other = k == 0 ? circle : (round + circle - k) % circle;
  *p = one < other ? one : other;
  *q = one < other ? other : one;
}

RITZ_INLINE void ritz_set_identity(RitzView v, int n) {
  RITZ_EACH_ENTRY(e, n, n) {
    const int row = (int)(e % n), col = (int)(e / n);
    RITZ_AT(v, row, col) = row == col;
  }
  RITZ_MEET();
}

#ifdef RITZ_SYEVJ

// Rotations of a round: of pair k players 2 k, 2 k + 1, and their cosine and sine.
typedef struct {
  RITZ_SHARED int *players;
  RITZ_SHARED RitzEntry *turns;
} RitzRound;

// The symmetric matrix of which A has one triangle, with a row and a column of zeros for the player that n
// may lack. Its largest entry, Inf where one is not finite.
RITZ_INLINE RitzEntry ritz_mirror(RitzMatrix a, int n, int num, int is_upper, RitzView s,
                                  RITZ_SHARED RitzEntry *parts) {
  RitzEntry largest = 0;
  RITZ_EACH_ENTRY(e, num, num) {
    const int row = (int)(e % num), col = (int)(e / num), is_stored = (row >= col) == !is_upper;
    RitzEntry x = 0;
    if (row < n && col < n) x = is_stored || row == col ? RITZ_AT(a, row, col) : RITZ_AT(a, col, row);
    RITZ_AT(s, row, col) = x;
    largest = ritz_see(largest, x);
  }
  largest = RITZ_MAX_ALL(largest, parts);
  RITZ_MEET();
  return largest;
}

// Finds the rotations of a round and puts them on their own entries; whether this thread found one. Entries
// that are small beside their diagonals, or beside u^2, are left: the matrix has entries below 1.
RITZ_INLINE int ritz_find_rotations(RitzView s, int num, int round, RitzRound r) {
  int has_rotated = 0;
  RITZ_EACH(k, 0, num / 2) {
    int p, q;
    ritz_pair(num, round, k, &p, &q);
    const RitzEntry a = RITZ_AT(s, p, p), b = RITZ_AT(s, q, q), g = RITZ_AT(s, p, q), size = RITZ_ABS(g);
    const RitzEntry least = RITZ_ROUNDOFF * RITZ_SQRT(RITZ_ABS(a)) * RITZ_SQRT(RITZ_ABS(b));
    const int is_small = size <= least || size <= RITZ_ROUNDOFF * RITZ_ROUNDOFF;
    const RitzEntry t = is_small ? 0 : ritz_tangent((b - a) / (2 * g)), c = 1 / RITZ_SQRT(1 + t * t);
    r.players[2 * k] = p;
    r.players[2 * k + 1] = q;
    r.turns[2 * k] = c;
    r.turns[2 * k + 1] = t * c;
    if (is_small) continue;
    RITZ_AT(s, p, p) = a - t * g;
    RITZ_AT(s, q, q) = b + t * g;
    RITZ_AT(s, p, q) = RITZ_AT(s, q, p) = 0;
    has_rotated = 1;
  }
  RITZ_MEET();
  return has_rotated;
}

// The four entries where pairs k and l meet, and their mirror images.
RITZ_INLINE void ritz_rotate_meeting(RitzView s, RitzRound r, int k, int l) {
  const int p = r.players[2 * k], q = r.players[2 * k + 1], u = r.players[2 * l], v = r.players[2 * l + 1];
  const RitzEntry c = r.turns[2 * k], d = r.turns[2 * k + 1], e = r.turns[2 * l], f = r.turns[2 * l + 1];
  const RitzEntry pu = RITZ_AT(s, p, u), pv = RITZ_AT(s, p, v), qu = RITZ_AT(s, q, u), qv = RITZ_AT(s, q, v);
  const RitzEntry pu1 = e * pu - f * pv, pv1 = f * pu + e * pv, qu1 = e * qu - f * qv, qv1 = f * qu + e * qv;
  RITZ_AT(s, p, u) = RITZ_AT(s, u, p) = c * pu1 - d * qu1;
  RITZ_AT(s, p, v) = RITZ_AT(s, v, p) = c * pv1 - d * qv1;
  RITZ_AT(s, q, u) = RITZ_AT(s, u, q) = d * pu1 + c * qu1;
  RITZ_AT(s, q, v) = RITZ_AT(s, v, q) = d * pv1 + c * qv1;
}

// All meetings of two of `num` pairs k > l: two rows of the triangle are as long as all pairs.
RITZ_INLINE void ritz_rotate_meetings(RitzView s, int num, RitzRound r) {
  const int last = num - 2;
  RITZ_EACH(e, 0, num * (num / 2)) {
    const int i = e / num, j = e % num, is_low = j <= i;
    if (!is_low && 2 * i == last) continue;
    ritz_rotate_meeting(s, r, 1 + (is_low ? i : last - i), is_low ? j : j - i - 1);
  }
}

// Rotates vectors by their entries (x, y): c x - s y and s x + c y.
RITZ_INLINE void ritz_rotate_vectors(RitzView v, int rows, int num, RitzRound r) {
  RITZ_EACH(e, 0, rows * num) {
    const int row = e % rows, k = e / rows, p = r.players[2 * k], q = r.players[2 * k + 1];
    const RitzEntry c = r.turns[2 * k], s = r.turns[2 * k + 1];
    if (s == 0) continue;
    const RitzEntry x = RITZ_AT(v, row, p), y = RITZ_AT(v, row, q);
    RITZ_AT(v, row, p) = c * x - s * y;
    RITZ_AT(v, row, q) = s * x + c * y;
  }
  RITZ_MEET();
}

// Whether none was rotated.
RITZ_INLINE int ritz_sweep(RitzView s, int num, RitzView v, int rows, RitzRound r,
                           RITZ_SHARED RitzEntry *parts) {
  int has_rotated = 0;
  for (int round = 0; round < num - 1; round++) {
    has_rotated |= ritz_find_rotations(s, num, round, r);
    ritz_rotate_meetings(s, num / 2, r);
    ritz_rotate_vectors(v, rows, num / 2, r);
  }
  return RITZ_MAX_ALL((RitzEntry)has_rotated, parts) == 0;
}

// Eigenvalues of S, which is scaled by 2^-exponent, ascending into w; places[j]: of the one of column j.
RITZ_INLINE void ritz_sort_values(RitzView s, int n, int exponent, RitzMatrix w, RITZ_SHARED int *places) {
  RITZ_EACH(j, 0, n) {
    const RitzEntry value = RITZ_AT(s, j, j);
    int place = 0;
    for (int i = 0; i < n; i++) {
      const RitzEntry other = RITZ_AT(s, i, i);
      place += other < value || (other == value && i < j);
    }
    places[j] = place;
    RITZ_AT(w, place, 0) = ldexp(value, exponent);
  }
  RITZ_MEET();
}

RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  RITZ_SHARED_ARRAY RitzEntry turns[RITZ_WORK];
  RITZ_SHARED_ARRAY int players[RITZ_WORK];
  RitzRound r;
  r.players = players;
  r.turns = turns;
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_SIZES(i, m, n, k), num = n + n % 2, rows = options & RITZ_VALUES ? 0 : n;
    const RitzMatrix a = RITZ_MATRIX(A, i, n, n), w = RITZ_MATRIX(B, i, n, 1);
#ifdef RITZ_HOLD
    const RitzView s = ritz_view(held, 1, RITZ_LD_HELD(num)),
                   v = ritz_view(held + RITZ_LD_HELD(num) * num, 1, RITZ_LD_HELD(n));
#else
    // C is room for S: one of each block; V lies in A.
    const RitzView s = ritz_view(C_base + RITZ_BLOCK * C_stride, 1, num), v = ritz_view(a.p, a.rs, a.cs);
#endif
    const RitzEntry largest = ritz_mirror(a, n, num, options & RITZ_UPPER, s, parts);
    const int is_wrong = !(largest <= RITZ_MOST), exponent = is_wrong ? 0 : ritz_exponent(largest);
    RITZ_EACH_ENTRY(e, num, num) {
      const int row = (int)(e % num), col = (int)(e / num);
      RITZ_AT(s, row, col) = ldexp(RITZ_AT(s, row, col), -exponent);
    }
    ritz_set_identity(v, rows);
    int sweep = is_wrong ? RITZ_MAX_SWEEPS : 0, is_done = 0;
    while (!is_done && sweep < RITZ_MAX_SWEEPS) {
      is_done = ritz_sweep(s, num, v, rows, r, parts);
      sweep += !is_done;
    }
    ritz_sort_values(s, is_done ? n : 0, exponent, w, players);
#ifdef RITZ_HOLD
    const RitzView from = v;
#else
    const RitzView from = s;
    RITZ_EACH_ENTRY(e, rows, rows)
    RITZ_AT(s, (int)(e % rows), (int)(e / rows)) = RITZ_AT(v, e % rows, e / rows);
    RITZ_MEET();
#endif
    RITZ_EACH_ENTRY(e, rows, is_done ? rows : 0) {
      const int row = (int)(e % rows), col = (int)(e / rows);
      RITZ_AT(a, row, players[col]) = RITZ_AT(from, row, col);
    }
    RITZ_MEET();
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : is_done ? 0 : RITZ_MAX_SWEEPS;
  }
}

#endif

#ifdef RITZ_GESVDJ

// ---- Columns ----

// The norm of a column, of which this thread knows the largest of its own entries; shared by RITZ_PARTS
// threads, which all have the norm. Columns below the range of normal numbers become zero.
RITZ_INLINE RitzEntry ritz_measure(RitzView a, int m, int col, RitzEntry largest,
                                   RITZ_SHARED RitzEntry *parts) {
  const int part = RITZ_THREAD % RITZ_PARTS;
  RitzEntry squares = 0;
  largest = RITZ_MAX_PARTS(largest, parts);
  const int is_zero = largest < RITZ_LEAST;
  for (int r = part; r < m; r += RITZ_PARTS) {
    const RitzEntry x = is_zero ? 0 : RITZ_AT(a, r, col) / largest;
    squares += x * x;
    if (is_zero) RITZ_AT(a, r, col) = 0;
  }
  squares = RITZ_SUM_PARTS(squares, parts);
  return is_zero ? 0 : largest * RITZ_SQRT(squares);
}

// A := 2^-exponent A, and the lengths of its columns.
RITZ_INLINE void ritz_scale_columns(RitzView a, int m, int n, int exponent, RITZ_SHARED RitzEntry *lengths,
                                    RITZ_SHARED RitzEntry *parts) {
  const int part = RITZ_THREAD % RITZ_PARTS;
  for (int col0 = 0; col0 < n; col0 += RITZ_THREADS / RITZ_PARTS) {
    const int col = col0 + RITZ_THREAD / RITZ_PARTS, rows = col < n ? m : 0;
    RitzEntry largest = 0;
    for (int r = part; r < rows; r += RITZ_PARTS) {
      const RitzEntry x = ldexp(RITZ_AT(a, r, col), -exponent);
      RITZ_AT(a, r, col) = x;
      largest = ritz_join(0, largest, RITZ_ABS(x));
    }
    const RitzEntry length = ritz_measure(a, rows, col, largest, parts);
    if (col < n && part == 0) lengths[col] = length;
  }
  RITZ_MEET();
}

// The tangent for columns with this cosine between them and ratio of lengths, at most 1: of columns whose
// lengths are far apart 1 / (2 zeta), where zeta may be beyond the range of numbers.
RITZ_INLINE RitzEntry ritz_tangent_of_columns(RitzEntry cosine, RitzEntry ratio) {
  if (ratio < RITZ_ROUNDOFF * RITZ_ABS(cosine)) return -cosine * ratio;
  return ritz_tangent((ratio - 1 / ratio) / (2 * cosine));
}

// Columns x and y of A become c x - s y, at the lower one of their places, and s x + c y; largest[2]: entries
// of this thread.
RITZ_INLINE void ritz_rotate_columns(RitzView a, int m, int x, int y, RitzEntry t, RitzEntry *largest) {
  const RitzEntry c = 1 / RITZ_SQRT(1 + t * t), s = t * c;
  const int low = x < y ? x : y, high = x < y ? y : x;
  for (int r = RITZ_THREAD % RITZ_PARTS; r < m; r += RITZ_PARTS) {
    const RitzEntry of_x = RITZ_AT(a, r, x), of_y = RITZ_AT(a, r, y);
    const RitzEntry first = c * of_x - s * of_y, second = s * of_x + c * of_y;
    RITZ_AT(a, r, low) = first;
    RITZ_AT(a, r, high) = second;
    largest[0] = ritz_join(0, largest[0], RITZ_ABS(first));
    largest[1] = ritz_join(0, largest[1], RITZ_ABS(second));
  }
}

// Makes columns p < q orthogonal where they are not, the longer one comes first; V gathers it. Whether they
// were rotated.
RITZ_INLINE int ritz_rotate_pair(RitzView a, int m, RitzView v, int rows, int p, int q, int is_pair,
                                 RitzEntry tolerance, RITZ_SHARED RitzEntry *lengths,
                                 RITZ_SHARED RitzEntry *parts) {
  const int part = RITZ_THREAD % RITZ_PARTS;
  const RitzEntry one = is_pair ? lengths[p] : 0, other = is_pair ? lengths[q] : 0;
  const int x = one < other ? q : p, y = one < other ? p : q, is_proper = one > 0 && other > 0;
  const RitzEntry longer = one < other ? other : one, shorter = one < other ? one : other;
  RitzEntry cosine = 0, none[2] = {0, 0}, largest[2] = {0, 0};
  for (int r = part; r < (is_proper ? m : 0); r += RITZ_PARTS)
    cosine += RITZ_AT(a, r, x) / longer * (RITZ_AT(a, r, y) / shorter);
  cosine = RITZ_SUM_PARTS(cosine, parts);
  const int has_rotated = !(RITZ_ABS(cosine) <= tolerance);
  const RitzEntry t = has_rotated ? ritz_tangent_of_columns(cosine, shorter / longer) : 0;
  ritz_rotate_columns(a, has_rotated ? m : 0, x, y, t, largest);
  ritz_rotate_columns(v, has_rotated ? rows : 0, x, y, t, none);
  const RitzEntry of_p = ritz_measure(a, has_rotated ? m : 0, p, largest[0], parts);
  const RitzEntry of_q = ritz_measure(a, has_rotated ? m : 0, q, largest[1], parts);
  if (has_rotated && part == 0) {
    lengths[p] = of_p;
    lengths[q] = of_q;
  }
  return has_rotated;
}

// Whether all columns were orthogonal.
RITZ_INLINE int ritz_sweep(RitzView a, int m, int n, RitzView v, int rows, RITZ_SHARED RitzEntry *lengths,
                           RITZ_SHARED RitzEntry *parts) {
  const RitzEntry tolerance = RITZ_ROUNDOFF * (3 + RITZ_SQRT((RitzEntry)m));
  const int num = n + n % 2;
  int has_rotated = 0;
  for (int round = 0; round < num - 1; round++) {
    for (int k0 = 0; k0 < num / 2; k0 += RITZ_THREADS / RITZ_PARTS) {
      const int k = k0 + RITZ_THREAD / RITZ_PARTS;
      int p, q;
      ritz_pair(num, round, k, &p, &q);
      has_rotated |= ritz_rotate_pair(a, m, v, rows, p, q, k < num / 2 && q < n, tolerance, lengths, parts);
    }
    RITZ_MEET();
  }
  return RITZ_MAX_ALL((RitzEntry)has_rotated, parts) == 0;
}

// ---- Results ----

RITZ_INLINE void ritz_swap_columns(RitzView a, int m, int p, int q) {
  RITZ_EACH(r, 0, p != q ? m : 0) {
    const RitzEntry kept = RITZ_AT(a, r, p);
    RITZ_AT(a, r, p) = RITZ_AT(a, r, q);
    RITZ_AT(a, r, q) = kept;
  }
}

// The longest columns first; V with them.
RITZ_INLINE void ritz_sort_columns(RitzView a, int m, int n, RitzView v, int rows,
                                   RITZ_SHARED RitzEntry *lengths) {
  for (int p = 0; p < n; p++) {
    int longest = p;
    for (int q = p + 1; q < n; q++) longest = lengths[q] > lengths[longest] ? q : longest;
    const RitzEntry length = lengths[longest], kept = lengths[p];
    RITZ_MEET();
    ritz_swap_columns(a, m, p, longest);
    ritz_swap_columns(v, rows, p, longest);
    if (RITZ_THREAD == 0) lengths[longest] = kept;
    if (RITZ_THREAD == 0) lengths[p] = length;
    RITZ_MEET();
  }
}

// The row whose entries in columns before j have the least sum of squares, the first one of equal ones.
RITZ_INLINE int ritz_find_free_row(RitzView u, int m, int j, RITZ_SHARED RitzEntry *parts) {
  RitzEntry most = -3;
  int row = 0;
  RITZ_EACH(r, 0, m) {
    RitzEntry squares = 0;
    for (int c = 0; c < j; c++) squares += RITZ_AT(u, r, c) * RITZ_AT(u, r, c);
    if (!(-squares > most)) continue;
    most = -squares;
    row = r;
  }
  const RitzEntry all = RITZ_MAX_ALL(most, parts);
  return -(int)RITZ_MAX_ALL(most == all ? -(RitzEntry)row : -(RitzEntry)m, parts);
}

// products[c] = column c times column j, for c < j.
RITZ_INLINE void ritz_multiply_columns(RitzView u, int m, int j, RITZ_SHARED RitzEntry *products,
                                       RITZ_SHARED RitzEntry *parts) {
  const int part = RITZ_THREAD % RITZ_PARTS;
  for (int col0 = 0; col0 < j; col0 += RITZ_THREADS / RITZ_PARTS) {
    const int col = col0 + RITZ_THREAD / RITZ_PARTS, rows = col < j ? m : 0;
    RitzEntry sum = 0;
    for (int r = part; r < rows; r += RITZ_PARTS) sum += RITZ_AT(u, r, col) * RITZ_AT(u, r, j);
    sum = RITZ_SUM_PARTS(sum, parts);
    if (col < j && part == 0) products[col] = sum;
  }
  RITZ_MEET();
}

// Column j is the part of a unit vector, the one that keeps most, that is orthogonal to the columns before.
RITZ_INLINE void ritz_complete(RitzView u, int m, int j, RITZ_SHARED RitzEntry *products,
                               RITZ_SHARED RitzEntry *parts) {
  const int row = ritz_find_free_row(u, m, j, parts);
  RitzEntry squares = 0;
  RITZ_EACH(r, 0, m) RITZ_AT(u, r, j) = r == row;
  RITZ_MEET();
  // Twice: what is left over from the first time is removed.
  for (int step = 0; step < 2; step++) {
    ritz_multiply_columns(u, m, j, products, parts);
    RITZ_EACH(r, 0, m) {
      RitzEntry sum = RITZ_AT(u, r, j);
      for (int c = 0; c < j; c++) sum -= RITZ_AT(u, r, c) * products[c];
      RITZ_AT(u, r, j) = sum;
    }
    RITZ_MEET();
  }
  RITZ_EACH(r, 0, m) squares += RITZ_AT(u, r, j) * RITZ_AT(u, r, j);
  const RitzEntry norm = RITZ_SQRT(RITZ_SUM_ALL(squares, parts));
  RITZ_EACH(r, 0, m) RITZ_AT(u, r, j) /= norm;
  RITZ_MEET();
}

// Orthogonal columns -> U and the singular values. has_vectors: columns that are zero are completed.
RITZ_INLINE void ritz_normalize(RitzView a, int m, int n, int has_vectors, int exponent, RitzMatrix values,
                                RITZ_SHARED RitzEntry *lengths, RITZ_SHARED RitzEntry *products,
                                RITZ_SHARED RitzEntry *parts) {
  int rank = 0;
  for (int c = 0; c < n; c++) rank += lengths[c] > 0;
  RITZ_EACH_ENTRY(e, m, rank) {
    const int row = (int)(e % m), col = (int)(e / m);
    RITZ_AT(a, row, col) /= lengths[col];
  }
  RITZ_EACH(c, 0, n) RITZ_AT(values, c, 0) = ldexp(lengths[c], exponent);
  RITZ_MEET();
  for (int j = has_vectors ? rank : n; j < n; j++) ritz_complete(a, m, j, products, parts);
}

RITZ_INLINE RitzEntry ritz_find_largest(RitzView a, int m, int n, RITZ_SHARED RitzEntry *parts) {
  RitzEntry largest = 0;
  RITZ_EACH_ENTRY(e, m, n) largest = ritz_see(largest, RITZ_AT(a, (int)(e % m), (int)(e / m)));
  return RITZ_MAX_ALL(largest, parts);
}

RITZ_BLOCK_KERNEL ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY;
  RITZ_SHARED_ARRAY RitzEntry parts[RITZ_THREADS];
  RITZ_SHARED_ARRAY RitzEntry lengths[RITZ_WORK];
  RITZ_SHARED_ARRAY RitzEntry products[RITZ_WORK];
  for (RitzLong turn = RITZ_BLOCK; turn < RITZ_NUM_TURNS; turn += RITZ_NUM_BLOCKS) {
    const RitzLong i = RITZ_MEMBER(turn);
    int m, n, k;
    const int bad = RITZ_TALL_SIZES(i, m, n, k), rows = options & RITZ_VALUES ? 0 : n;
    const RitzMatrix a = RITZ_MATRIX(A, i, m, n), values = RITZ_MATRIX(B, i, n, 1),
                     c = RITZ_MATRIX(C, i, rows, rows);
    const RitzView u = RITZ_TAKE(a, 0, m, n);
#ifdef RITZ_HOLD
    const RitzView v = ritz_view(held + RITZ_LD_HELD(m) * n, 1, RITZ_LD_HELD(n));
#else
    const RitzView v = ritz_view(c.p, c.rs, c.cs);
#endif
    const RitzEntry largest = ritz_find_largest(u, m, n, parts);
    const int is_wrong = !(largest <= RITZ_MOST), exponent = is_wrong ? 0 : ritz_exponent(largest);
    ritz_scale_columns(u, m, is_wrong ? 0 : n, exponent, lengths, parts);
    ritz_set_identity(v, rows);
    int sweep = is_wrong ? RITZ_MAX_SWEEPS : 0, is_done = 0;
    while (!is_done && sweep < RITZ_MAX_SWEEPS) {
      is_done = ritz_sweep(u, m, n, v, rows, lengths, parts);
      sweep += !is_done;
    }
    ritz_sort_columns(u, m, is_done ? n : 0, v, rows, lengths);
    ritz_normalize(u, m, is_done ? n : 0, rows > 0, exponent, values, lengths, products, parts);
    ritz_give(a, u, m, n);
    ritz_give(c, v, rows, rows);
    if (info && RITZ_THREAD == 0) info[i] = bad ? bad : is_done ? 0 : RITZ_MAX_SWEEPS;
  }
}

#endif

#endif
