// SPDX-License-Identifier: BSD-2-Clause
// What routines of large matrices are made of (kernels/cpu/batched-large.h): one matrix at a time, in scratch
// whose rows follow each other, vectors along rows. RITZ_STRIP rows times up to RITZ_WIDE vectors are in
// registers; everything else is copies between scratch and matrices in any layout, and the few scalars of
// diagonal blocks. Sizes are arguments.
#ifndef RITZ_KERNELS_CPU_BATCHED_STRIPS_H
#define RITZ_KERNELS_CPU_BATCHED_STRIPS_H

#include <float.h>
#include <stdalign.h>

#include "kernels/cpu/batched-tiles.h"

enum {
#if defined(__AVX512F__) && RITZ_LANES * RITZ_REAL_BYTES == 64
  RITZ_STRIP = 8,
#else
  RITZ_STRIP = 4,
#endif
  RITZ_WIDE = 3,                                // vectors of a strip
  RITZ_BLOCK = RITZ_LANES < 8 ? 8 : RITZ_LANES, // a multiple of lanes and of strips
  RITZ_BROAD = RITZ_WIDE * RITZ_LANES,          // entries of a row of a strip
};

RITZ_INLINE int64_t ritz_round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
RITZ_INLINE int64_t ritz_least(int64_t a, int64_t b) { return a < b ? a : b; }

// Rows that are so far apart, at least n entries and a vector, do not share the sets of caches.
RITZ_INLINE int64_t ritz_apart(int64_t n) {
  const int64_t ld = ritz_round_up(n, RITZ_BLOCK) + RITZ_LANES;
  return ld / RITZ_LANES % 2 ? ld : ld + RITZ_LANES;
}

// ---- Strips ----

typedef RitzVec RitzStrip[RITZ_STRIP][RITZ_WIDE];

RITZ_INLINE void ritz_strip_clear(int vectors, RitzStrip c) {
  RITZ_UNROLL for (int r = 0; r < RITZ_STRIP; r++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) c[r][v] = ritz_splat(0);
  }
}
RITZ_INLINE void ritz_strip_load(int vectors, const RitzReal *from, int64_t ld, RitzStrip c) {
  RITZ_UNROLL for (int r = 0; r < RITZ_STRIP; r++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) c[r][v] =
        *(const RitzEntryVec *)(from + r * ld + v * RITZ_LANES);
  }
}
RITZ_INLINE void ritz_strip_store(int vectors, RitzStrip c, RitzReal *to, int64_t ld) {
  RITZ_UNROLL for (int r = 0; r < RITZ_STRIP; r++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) * (RitzEntryVec *)(to + r * ld + v * RITZ_LANES) = c[r][v];
  }
}

// Row r minus the sum over k < num of s[k lds + r] times row k of V.
RITZ_INLINE void ritz_strip_subtract(int vectors, int64_t num, const RitzReal *V, int64_t ldv,
                                     const RitzReal *s, int64_t lds, RitzStrip c) {
  for (int64_t k = 0; k < num; k++) {
    RitzVec row[RITZ_WIDE];

    RITZ_UNROLL for (int v = 0; v < vectors; v++) {
      row[v] = *(const RitzEntryVec *)(V + k * ldv + v * RITZ_LANES);
      RITZ_KEEP(row[v]);
    }
    RITZ_UNROLL for (int r = 0; r < RITZ_STRIP; r++) {
      RitzVec b = ritz_splat(s[k * lds + r]);
      RITZ_KEEP(b);
      RITZ_UNROLL for (int v = 0; v < vectors; v++) c[r][v] -= b * row[v];
    }
  }
}

// A number of the diagonal to divide by: products with the inverse where that is a normal number.
typedef struct {
  RitzReal value, inverse;
  bool is_extreme;
} RitzScalarDivisor;

RITZ_INLINE RitzScalarDivisor ritz_scalar_divisor(RitzReal value) {
  const RitzReal least = RITZ_REAL_BYTES == 8 ? (RitzReal)DBL_MIN : (RitzReal)FLT_MIN;
  const RitzReal size = value < 0 ? -value : value;

  return (RitzScalarDivisor){value, 1 / value, size < least || size > 1 / least};
}
RITZ_INLINE RitzVec ritz_scalar_quotient(RitzVec x, const RitzScalarDivisor *d) {
  return __builtin_expect(d->is_extreme, 0) ? x / d->value : x * d->inverse;
}

// T X = C of a triangle of RITZ_STRIP rows, entry (r, q) at t[q ldt + r], X over C. divisors: of the
// diagonal; NULL: ones.
RITZ_INLINE void ritz_strip_solve(int vectors, bool is_upper, const RitzReal *t, int64_t ldt,
                                  const RitzScalarDivisor *divisors, RitzStrip c) {
  RITZ_UNROLL for (int step = 0; step < RITZ_STRIP; step++) {
    const int r = is_upper ? RITZ_STRIP - 1 - step : step;

    if (divisors) {
      RITZ_UNROLL for (int v = 0; v < vectors; v++) c[r][v] = ritz_scalar_quotient(c[r][v], &divisors[r]);
    }
    RITZ_UNROLL for (int i = 0; i < RITZ_STRIP; i++) {
      if (is_upper ? i >= r : i <= r) continue;
      RITZ_UNROLL for (int v = 0; v < vectors; v++) c[i][v] -= t[r * ldt + i] * c[r][v];
    }
  }
}

// ---- Copies ----

// A matrix of scalars: entry (i, j) is p[i rs + j cs].
typedef struct {
  RitzReal *p;
  int64_t rs, cs;
} RitzPlane;

RITZ_INLINE RitzPlane ritz_plane(const RitzBatchedPlaces *o, int64_t i) {
  const int64_t ld = o->lds ? o->lds[i] : o->ld;
  return (RitzPlane){ritz_place(o, i), o->width, ld * o->width};
}
RITZ_INLINE RitzPlane ritz_plane_transposed(RitzPlane p) { return (RitzPlane){p.p, p.cs, p.rs}; }
RITZ_INLINE RitzPlane ritz_plane_from(RitzPlane p, int64_t i, int64_t j) {
  return (RitzPlane){p.p + i * p.rs + j * p.cs, p.rs, p.cs};
}

RITZ_INLINE void ritz_copy_row(RitzReal *to, const RitzReal *from, int64_t num) {
  int64_t j = 0;

  for (; j + RITZ_LANES <= num; j += RITZ_LANES)
    *(RitzEntryVec *)(to + j) = *(const RitzEntryVec *)(from + j);
  if (j < num) ritz_store_some(to + j, ritz_load_some(from + j, (int)(num - j)), (int)(num - j));
}

// RITZ_LANES x RITZ_LANES entries: columns of `from` become rows of `to`.
RITZ_INLINE void ritz_turn_block(const RitzReal *from, int64_t ldf, RitzReal *to, int64_t ldt) {
  RitzVec block[RITZ_LANES];

  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) block[l] = *(const RitzEntryVec *)(from + l * ldf);
  ritz_transpose_lanes(block);
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) * (RitzEntryVec *)(to + l * ldt) = block[l];
}

// to(j, i) = from(i, j) of a matrix with columns that follow each other, rows x cols.
static void ritz_turn(const RitzReal *from, int64_t ldf, int64_t rows, int64_t cols, RitzReal *to,
                      int64_t ldt) {
  int64_t i = 0;

  for (; i + RITZ_LANES <= rows; i += RITZ_LANES) {
    int64_t j = 0;

    for (; j + RITZ_LANES <= cols; j += RITZ_LANES)
      ritz_turn_block(from + i + j * ldf, ldf, to + i * ldt + j, ldt);
    for (; j < cols; j++) {
      for (int64_t r = i; r < i + RITZ_LANES; r++) to[r * ldt + j] = from[r + j * ldf];
    }
  }
  for (; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) to[i * ldt + j] = from[i + j * ldf];
  }
}

// The first rows x cols entries, row after row, ld apart.
static void ritz_take(RitzPlane from, int64_t rows, int64_t cols, RitzReal *to, int64_t ld) {
  if (from.cs == 1) {
    for (int64_t i = 0; i < rows; i++) ritz_copy_row(to + i * ld, from.p + i * from.rs, cols);
  } else if (from.rs == 1) {
    ritz_turn(from.p, from.cs, rows, cols, to, ld);
  } else {
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < cols; j++) to[i * ld + j] = from.p[i * from.rs + j * from.cs];
    }
  }
}

static void ritz_give(const RitzReal *from, int64_t ld, int64_t rows, int64_t cols, RitzPlane to) {
  if (to.cs == 1) {
    for (int64_t i = 0; i < rows; i++) ritz_copy_row(to.p + i * to.rs, from + i * ld, cols);
  } else if (to.rs == 1) {
    ritz_turn(from, ld, cols, rows, to.p, to.cs);
  } else {
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < cols; j++) to.p[i * to.rs + j * to.cs] = from[i * ld + j];
    }
  }
}

// The same, with zeros in the rows up to all_rows and in the columns up to all_cols.
static void ritz_take_padded(RitzPlane from, int64_t rows, int64_t cols, int64_t all_rows, int64_t all_cols,
                             RitzReal *to, int64_t ld) {
  ritz_take(from, rows, cols, to, ld);
  for (int64_t i = 0; i < all_rows; i++) {
    for (int64_t j = i < rows ? cols : 0; j < all_cols; j++) to[i * ld + j] = 0;
  }
}

#endif
