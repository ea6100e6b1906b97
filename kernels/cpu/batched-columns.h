// SPDX-License-Identifier: BSD-2-Clause
// Products C = alpha A op(B) + beta C of one matrix after the other, C RITZ_M x RITZ_N: vectors along columns
// of C and A, entries of B in all lanes. Nothing is packed but A where its columns end within a vector. Sums
// are those of kernels/cpu/batched-product.h, in the same order.
#ifndef RITZ_KERNELS_CPU_BATCHED_COLUMNS_H
#define RITZ_KERNELS_CPU_BATCHED_COLUMNS_H

#include "kernels/cpu/batched-tiles.h"

enum {
  RITZ_VECTORS = (RITZ_M + RITZ_LANES - 1) / RITZ_LANES, // of a column
  RITZ_LAST = RITZ_M - (RITZ_VECTORS - 1) * RITZ_LANES,  // entries of the last one
  RITZ_MAX_VECTORS = 4,                                  // of a tile
  RITZ_MAX_WIDE = 8,                                     // columns of a tile
};
// Columns of tiles of so many vectors: as many as registers hold.
#define RITZ_WIDTH(vectors) ((vectors) == RITZ_MAX_VECTORS ? 6 : RITZ_MAX_WIDE)

// One product; B by strides of rows and columns.
typedef struct {
  const RitzReal *A, *B;
  RitzReal *C;
  int64_t lda, rsb, csb, ldc;
  RitzFactors f;
} RitzColumns;

RITZ_INLINE void ritz_columns_store(RitzReal *to, RitzVec sum, int num, RitzFactors f) {
  RitzVec result = f.alpha * sum, old = ritz_splat(0);

  RITZ_KEEP(result);
  if (f.beta != 0) {
    if (num == RITZ_LANES)
      old = *(RitzEntryVec *)to;
    else
      old = ritz_load_some(to, num);
    result += f.beta * old;
  }
  if (num == RITZ_LANES)
    *(RitzEntryVec *)to = result;
  else
    ritz_store_some(to, result, num);
}

// The tile from vector v0 and column j0 on; the compiler knows its size.
RITZ_INLINE void ritz_columns_tile(int vectors, int cols, int v0, int j0, const RitzColumns *p) {
  RitzVec c[RITZ_MAX_WIDE][RITZ_MAX_VECTORS];
  const RitzReal *A = p->A + v0 * RITZ_LANES, *B = p->B + j0 * p->csb;

  RITZ_UNROLL for (int j = 0; j < cols; j++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) c[j][v] = ritz_splat(0);
  }
  for (int k = 0; k < RITZ_K && p->f.alpha != 0; k++) {
    RitzVec a[RITZ_MAX_VECTORS];

    RITZ_UNROLL for (int v = 0; v < vectors; v++) {
      a[v] = *(const RitzEntryVec *)(A + k * p->lda + v * RITZ_LANES);
      RITZ_KEEP(a[v]);
    }
    RITZ_UNROLL for (int j = 0; j < cols; j++) {
      RitzVec b = ritz_splat(B[k * p->rsb + j * p->csb]);
      RITZ_KEEP(b);
      RITZ_UNROLL for (int v = 0; v < vectors; v++) c[j][v] += a[v] * b;
    }
  }
  RITZ_UNROLL for (int j = 0; j < cols; j++) {
    RITZ_UNROLL for (int v = 0; v < vectors; v++) {
      ritz_columns_store(p->C + (j0 + j) * p->ldc + (v0 + v) * RITZ_LANES, c[j][v],
                         v0 + v + 1 < RITZ_VECTORS ? RITZ_LANES : RITZ_LAST, p->f);
    }
  }
}

RITZ_INLINE void ritz_columns_rows(int vectors, int v0, const RitzColumns *p) {
  const int width = RITZ_WIDTH(vectors);
  int j = 0;

  for (; j + width <= RITZ_N; j += width) ritz_columns_tile(vectors, width, v0, j, p);
  if (RITZ_N % width) ritz_columns_tile(vectors, RITZ_N % width, v0, j, p);
}

RITZ_INLINE void ritz_columns_product(const RitzColumns *p) {
  int v = 0;

  for (; v + RITZ_MAX_VECTORS <= RITZ_VECTORS; v += RITZ_MAX_VECTORS)
    ritz_columns_rows(RITZ_MAX_VECTORS, v, p);
  if (RITZ_VECTORS % RITZ_MAX_VECTORS) ritz_columns_rows(RITZ_VECTORS % RITZ_MAX_VECTORS, v, p);
}

// A with columns of whole vectors.
RITZ_INLINE void ritz_columns_pad(const RitzReal *A, int64_t lda, RitzVec *to) {
  for (int k = 0; k < RITZ_K; k++) {
    RitzVec *column = to + k * RITZ_VECTORS;

    for (int v = 0; v + 1 < RITZ_VECTORS; v++)
      column[v] = *(const RitzEntryVec *)(A + k * lda + v * RITZ_LANES);
    column[RITZ_VECTORS - 1] = ritz_load_some(A + k * lda + (RITZ_VECTORS - 1) * RITZ_LANES, RITZ_LAST);
  }
}

// Whether a call is one of these.
RITZ_INLINE bool ritz_columns_serve(const RitzBatchedArgs *args) {
  const RitzBatchedPlaces *o = args->operand;

  return !RITZ_IS_ANY_SIZE && RITZ_M >= RITZ_LANES / 2 && RITZ_M > 4 && !args->trans_a && args->is_uniform &&
         o[0].width == 1 && o[1].width == 1 && o[2].width == 1;
}

// The matrices of a group; work: of RITZ_VECTORS x RITZ_K vectors.
static void ritz_columns_group(const RitzGroup *group, RitzFactors f, RitzVec *work) {
  const RitzBatchedArgs *args = group->args;
  const RitzBatchedPlaces *o = args->operand;

  for (int l = 0; l < group->num; l++) {
    const int64_t i = group->first + l;
    RitzColumns p = {ritz_place(&o[0], i),
                     ritz_place(&o[1], i),
                     ritz_place(&o[2], i),
                     o[0].ld,
                     args->trans_b ? o[1].ld : 1,
                     args->trans_b ? 1 : o[1].ld,
                     o[2].ld,
                     f};

    if (RITZ_LAST < RITZ_LANES && f.alpha != 0) {
      ritz_columns_pad(p.A, p.lda, work);
      p.A = (const RitzReal *)(RitzEntryVec *)work;
      p.lda = RITZ_VECTORS * RITZ_LANES;
    }
    if (p.rsb == 1 && p.csb == RITZ_K) { // places in B that the compiler knows
      p.rsb = 1;
      p.csb = RITZ_K;
      ritz_columns_product(&p);
    } else {
      ritz_columns_product(&p);
    }
  }
}

#endif
