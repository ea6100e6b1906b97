// SPDX-License-Identifier: BSD-2-Clause
// Tiles of up to RITZ_TILE x RITZ_TILE vectors in registers, of which products, triangular solves and
// factorizations of batched matrices are made; divisions; selections by lane.
#ifndef RITZ_KERNELS_CPU_BATCHED_TILES_H
#define RITZ_KERNELS_CPU_BATCHED_TILES_H

#include <float.h>

#include "kernels/cpu/batched-pack.h"

enum { RITZ_TILE = 4 };

// ---- Lanes ----

RITZ_INLINE RitzVec ritz_select(RitzMask mask, RitzVec yes, RitzVec no) {
  return (RitzVec)((mask & (RitzMask)yes) | (~mask & (RitzMask)no));
}
RITZ_INLINE RitzMask ritz_select_mask(RitzMask mask, RitzMask yes, RitzMask no) {
  return (mask & yes) | (~mask & no);
}
RITZ_INLINE RitzVec ritz_magnitude(RitzVec x) {
#if RITZ_REAL_BYTES == 8
  return (RitzVec)((RitzMask)x & INT64_MAX);
#else
  return (RitzVec)((RitzMask)x & INT32_MAX);
#endif
}
RITZ_INLINE bool ritz_any(RitzMask mask) {
  bool any = false;
  for (int l = 0; l < RITZ_LANES; l++) any |= mask[l] != 0;
  return any;
}

RITZ_INLINE RitzVec ritz_root(RitzVec x) {
  RITZ_UNROLL for (int l = 0; l < RITZ_LANES; l++) x[l] =
      RITZ_REAL_BYTES == 8 ? (RitzReal)__builtin_sqrt(x[l]) : (RitzReal)__builtin_sqrtf((float)x[l]);
  return x;
}

// Keeps x in a register where compilers would read it from memory for every use.
#if defined(__AVX512F__) && RITZ_LANES * RITZ_REAL_BYTES == 64
#define RITZ_KEEP(x) __asm__("" : "+v"(x))
#elif defined(__AVX__) && !defined(__AVX512F__) && RITZ_LANES * RITZ_REAL_BYTES == 32
#define RITZ_KEEP(x) __asm__("" : "+x"(x))
#else
#define RITZ_KEEP(x) (void)(x)
#endif

// ---- Divisions ----

// A number to divide by: products with the inverse, but true quotients in lanes where that is not a normal
// number.
typedef struct {
  RitzVec value, inverse;
  RitzMask is_extreme;
  bool has_extreme;
} RitzDivisor;

RITZ_INLINE RitzDivisor ritz_divisor(RitzVec value) {
  const RitzReal least = RITZ_REAL_BYTES == 8 ? (RitzReal)DBL_MIN : (RitzReal)FLT_MIN;
  const RitzVec size = ritz_magnitude(value);
  RitzDivisor d = {.value = value, .inverse = 1 / value};

  d.is_extreme = (RitzMask)(size < ritz_splat(least)) | (RitzMask)(size > ritz_splat(1 / least));
  d.has_extreme = ritz_any(d.is_extreme);
  return d;
}

RITZ_INLINE RitzVec ritz_quotient(RitzVec x, const RitzDivisor *d) {
  const RitzVec product = x * d->inverse;
  return __builtin_expect(d->has_extreme, 0) ? ritz_select(d->is_extreme, x / d->value, product) : product;
}

// ---- Tiles ----

typedef RitzVec RitzTile[RITZ_TILE][RITZ_TILE];

// Tiles are rows x cols, at most RITZ_TILE, which the compiler knows.
RITZ_INLINE void ritz_tile_load(int rows, int cols, RitzView from, RitzTile c) {
  RITZ_UNROLL for (int i = 0; i < rows; i++) {
    RITZ_UNROLL for (int j = 0; j < cols; j++) c[i][j] = RITZ_AT(from, i, j);
  }
}
RITZ_INLINE void ritz_tile_clear(int rows, int cols, RitzTile c) {
  RITZ_UNROLL for (int i = 0; i < rows; i++) {
    RITZ_UNROLL for (int j = 0; j < cols; j++) c[i][j] = ritz_splat(0);
  }
}
RITZ_INLINE void ritz_tile_store(int rows, int cols, RitzTile c, RitzView to) {
  RITZ_UNROLL for (int i = 0; i < rows; i++) {
    RITZ_UNROLL for (int j = 0; j < cols; j++) RITZ_AT(to, i, j) = c[i][j];
  }
}

// c + A B if is_sum, else c - A B; `num` products an entry.
RITZ_INLINE void ritz_tile_products(bool is_sum, int rows, int cols, int num, RitzView A, RitzView B,
                                    RitzTile c) {
  for (int k = 0; k < num; k++) {
    RitzVec b[RITZ_TILE];

    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      b[j] = RITZ_AT(B, k, j);
      RITZ_KEEP(b[j]);
    }
    RITZ_UNROLL for (int i = 0; i < rows; i++) {
      RitzVec a = RITZ_AT(A, i, k);
      RITZ_KEEP(a);
      RITZ_UNROLL for (int j = 0; j < cols; j++) {
        if (is_sum)
          c[i][j] += a * b[j];
        else
          c[i][j] -= a * b[j];
      }
    }
  }
}

typedef struct {
  RitzReal alpha, beta;
} RitzFactors;

// C = alpha c + beta C; is_lower: the triangle alone.
RITZ_INLINE void ritz_tile_combine(int rows, int cols, bool is_lower, RitzTile c, RitzFactors f, RitzView C) {
  RITZ_UNROLL for (int i = 0; i < rows; i++) {
    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      if (is_lower && j > i) continue;
      RitzVec result = f.alpha * c[i][j];
      RITZ_KEEP(result);
      if (f.beta != 0) result += f.beta * RITZ_AT(C, i, j);
      RITZ_AT(C, i, j) = result;
    }
  }
}

// C -= A B
RITZ_INLINE void ritz_tile_subtract(int rows, int cols, int num, RitzView A, RitzView B, RitzView C) {
  RitzTile c;

  ritz_tile_load(rows, cols, C, c);
  ritz_tile_products(false, rows, cols, num, A, B, c);
  ritz_tile_store(rows, cols, c, C);
}

// Upper as lower: a triangle of s.order from its last row and column to the first, and the rows of X.
RITZ_INLINE void ritz_turn_system(RitzSizes s, RitzView *L, RitzView *X) {
  const int last = s.order - 1;

  *L = (RitzView){&RITZ_AT(*L, last, last), -L->rs, -L->cs};
  *X = (RitzView){&RITZ_AT(*X, last, 0), -X->rs, X->cs};
}

// Unknowns first .. first + rows - 1 of L X = B, L lower, X over B; those before are known. divisors [order]:
// of the diagonal; NULL: ones.
RITZ_INLINE void ritz_tile_solve(int rows, int cols, int first, RitzView L, const RitzDivisor *divisors,
                                 RitzView X) {
  const RitzView diagonal = ritz_view_from(L, first, first), own = ritz_view_from(X, first, 0);
  RitzTile x;

  ritz_tile_load(rows, cols, own, x);
  ritz_tile_products(false, rows, cols, first, ritz_view_from(L, first, 0), X, x);
  RITZ_UNROLL for (int i = 0; i < rows; i++) {
    RITZ_UNROLL for (int k = 0; k < i; k++) {
      const RitzVec a = RITZ_AT(diagonal, i, k);
      RITZ_UNROLL for (int j = 0; j < cols; j++) x[i][j] -= a * x[k][j];
    }
    if (divisors) {
      RITZ_UNROLL for (int j = 0; j < cols; j++) x[i][j] = ritz_quotient(x[i][j], &divisors[first + i]);
    }
  }
  ritz_tile_store(rows, cols, x, own);
}

#endif
