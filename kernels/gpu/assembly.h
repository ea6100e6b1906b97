// SPDX-License-Identifier: BSD-2-Clause
// Assembly from derivatives of a QFunction at the points: the derivatives themselves, diagonals and point
// blocks, element matrices. The text of emit/device.c before it has sizes as macros and
//
//     ritz_derivatives_at(context, q, fields, c_in, c_out, stride, D)
//
// which puts the derivative of output (mode m_out, component c_out) by input (mode m_in, component c_in) at
// point q into D[(m_in * RITZ_MODES_OUT + m_out) * stride].
//
// Threads without nodes go all the way with the number of one that does not exist: PoCL wants one way between
// barriers.
//
// RITZ_SLOTS points, RITZ_CHUNK of each of RITZ_ELEMS elements, are in the memory of a block at a time.
// Tables are [point][mode][node]; a thread has nodes at equal distances, so that neighbours have neighbouring
// ones. Element matrices on tensor bases have a kernel without them (kernels/gpu/assembly-tensor.h).
#ifndef RITZ_KERNELS_GPU_ASSEMBLY_H
#define RITZ_KERNELS_GPU_ASSEMBLY_H

#if RITZ_KIND == 0 // the derivatives, one thread a point; D [input][output] of `stride` places
RITZ_KERNEL(RITZ_THREADS)
ritz_assemble(RITZ_GLOBAL char *context, RitzLong num_elem RITZ_FIELD_PARAMETERS, RitzLong first,
              RitzLong stride, RITZ_GLOBAL RitzReal *D) {
  RitzLong q = RITZ_ITEM;
  if (q >= num_elem * RITZ_Q) return;
  ritz_derivatives_at(context, q RITZ_FIELD_ARGUMENTS, 0, 0, stride, D + first + q);
}
#else

#define RITZ_SLOTS (RITZ_ELEMS * RITZ_CHUNK)

// Element `e` of a launch is number RITZ_ELEMENT(e) of its batch: the same, or by a list of elements of which
// no two have an entry of the L-vector in common.
#if RITZ_IS_ORDERED
#define RITZ_ORDER_PARAMETERS                                                                                \
  , RITZ_GLOBAL const CeedInt *RITZ_RESTRICT order, RitzLong place, RitzLong first_elem
#define RITZ_ORDER_ARGUMENTS , order, place, first_elem
#define RITZ_ELEMENT(e)      (order[place + (e)] - first_elem)
#else
#define RITZ_ORDER_PARAMETERS
#define RITZ_ORDER_ARGUMENTS
#define RITZ_ELEMENT(e) (e)
#endif

// The slots of the points from first_q on of the elements from elem on; what there is not counts nothing.
RITZ_INLINE void ritz_fill_slots(RITZ_GLOBAL char *context,
                                 RitzLong num_elem RITZ_FIELD_PARAMETERS RITZ_ORDER_PARAMETERS, RitzLong elem,
                                 int first_q, int c_in, int c_out, RITZ_SHARED RitzReal *D) {
  for (int t = RITZ_THREAD; t < RITZ_SLOTS; t += RITZ_THREADS) {
    const RitzLong e = elem + t / RITZ_CHUNK;
    const int q = first_q + t % RITZ_CHUNK;
    if (e < num_elem && q < RITZ_Q) {
      ritz_derivatives_at(context, RITZ_ELEMENT(e) * RITZ_Q + q RITZ_FIELD_ARGUMENTS, c_in, c_out, RITZ_SLOTS,
                          D + t);
    } else {
      for (int k = 0; k < RITZ_MODES_IN * RITZ_MODES_OUT; k++) D[k * RITZ_SLOTS + t] = 0;
    }
  }
}
#endif

#if RITZ_KIND == 1 // diagonals

// Products of the modes of input and output that a node has at a point; of one table for both those with the
// first mode before or at the second, which the derivatives either way belong to.
#if RITZ_IS_SYMMETRIC
#define RITZ_PRODUCTS (RITZ_MODES_IN * (RITZ_MODES_IN + 1) / 2)
#else
#define RITZ_PRODUCTS (RITZ_MODES_IN * RITZ_MODES_OUT)
#endif
#define RITZ_NODES (RITZ_ROWS * RITZ_TILE_ROWS) // of a block

// Derivatives [product][slot] from [input][output][slot], in place: a product is never behind what it is made
// of. By the threads that evaluated them.
RITZ_INLINE void ritz_fold_slots(RITZ_SHARED RitzReal *D) {
#if RITZ_IS_SYMMETRIC
  for (int t = RITZ_THREAD; t < RITZ_SLOTS; t += RITZ_THREADS) {
    int k = 0;
    for (int a = 0; a < RITZ_MODES_IN; a++) {
      for (int b = a; b < RITZ_MODES_IN; b++, k++) {
        RitzReal d = D[(a * RITZ_MODES_IN + b) * RITZ_SLOTS + t];
        if (b > a) d += D[(b * RITZ_MODES_IN + a) * RITZ_SLOTS + t];
        D[k * RITZ_SLOTS + t] = d;
      }
    }
  }
#endif
}

// Products of the tables at `num` points: C [point][product][node], node s * RITZ_TILE_ROWS + l standing for
// node first + l + s * RITZ_ROW_GROUPS.
RITZ_INLINE void ritz_fill_products(int num, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in,
                                    RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out, int first,
                                    RITZ_SHARED RitzReal *C) {
  for (int t = RITZ_THREAD; t < num * RITZ_NODES; t += RITZ_THREADS) {
    const int l = t % RITZ_NODES, q = t / RITZ_NODES;
    const int i = first + l % RITZ_TILE_ROWS + l / RITZ_TILE_ROWS * RITZ_ROW_GROUPS;
    int k = 0;
    for (int a = 0; a < RITZ_MODES_IN; a++) {
      for (int b = RITZ_IS_SYMMETRIC ? a : 0; b < RITZ_MODES_OUT; b++, k++)
        C[(q * RITZ_PRODUCTS + k) * RITZ_NODES + l] =
            i < RITZ_P ? RITZ_LOAD(B_in + (q * RITZ_MODES_IN + a) * RITZ_P + i) *
                             RITZ_LOAD(B_out + (q * RITZ_MODES_OUT + b) * RITZ_P + i)
                       : 0;
    }
  }
}

// sum[element][node] += the share of `num` points; C at the thread's first node, D at its first element's
// slots.
RITZ_INLINE void ritz_add_products(int num, RITZ_SHARED const RitzReal *C, RITZ_SHARED const RitzReal *D,
                                   RitzReal *sum) {
  RITZ_ROLL
  for (int q = 0; q < num; q++) {
#if RITZ_PRODUCTS <= 16
    RITZ_UNROLL
#else
    RITZ_ROLL
#endif
    for (int k = 0; k < RITZ_PRODUCTS; k++) {
      RitzReal d[RITZ_COLS];
      RITZ_UNROLL
      for (int s = 0; s < RITZ_COLS; s++) d[s] = D[k * RITZ_SLOTS + s * RITZ_COL_GROUPS * RITZ_CHUNK + q];
      RITZ_UNROLL
      for (int r = 0; r < RITZ_ROWS; r++) {
        const RitzReal c = C[(q * RITZ_PRODUCTS + k) * RITZ_NODES + r * RITZ_TILE_ROWS];
        RITZ_UNROLL
        for (int s = 0; s < RITZ_COLS; s++) sum[s * RITZ_ROWS + r] += d[s] * c;
      }
    }
  }
}

// E-vectors of the diagonal, or of blocks [c_out][c_in]: entry (pair, element, node) at pair * stride + first
// + element
// * RITZ_P + node. A thread has RITZ_ROWS nodes of RITZ_COLS elements, those of neighbours side by side.
RITZ_KERNEL(RITZ_THREADS)
ritz_assemble(RITZ_GLOBAL char *context, RitzLong num_elem RITZ_FIELD_PARAMETERS,
              RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out,
              RitzLong first, RitzLong stride, RITZ_GLOBAL RitzReal *values) {
  RITZ_SHARED_ARRAY RitzReal D[RITZ_MODES_IN * RITZ_MODES_OUT * RITZ_SLOTS];
  RITZ_SHARED_ARRAY RitzReal C[RITZ_PRODUCTS * RITZ_CHUNK * RITZ_NODES];
  const int pair = (int)(RITZ_BLOCK % RITZ_PAIRS), tile = (int)(RITZ_BLOCK / RITZ_PAIRS % RITZ_ROW_TILES);
  const int c_in = RITZ_IS_BLOCKS ? pair % RITZ_COMP_IN : pair;
  const int c_out = RITZ_IS_BLOCKS ? pair / RITZ_COMP_IN : pair;
  const RitzLong elem = RITZ_BLOCK / (RITZ_PAIRS * RITZ_ROW_TILES) * RITZ_ELEMS;
  const int l = RITZ_THREAD % RITZ_TILE_ROWS, node = tile * RITZ_TILE_ROWS + l,
            own = RITZ_THREAD / RITZ_TILE_ROWS;
  const int e = own < RITZ_COL_GROUPS ? own : 0;
  RitzReal sum[RITZ_ROWS * RITZ_COLS];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_ROWS * RITZ_COLS; k++) sum[k] = 0;
  for (int q = 0; q < RITZ_Q; q += RITZ_CHUNK) {
    const int num = q + RITZ_CHUNK < RITZ_Q ? RITZ_CHUNK : RITZ_Q - q;
    ritz_fill_slots(context, num_elem RITZ_FIELD_ARGUMENTS RITZ_ORDER_ARGUMENTS, elem, q, c_in, c_out, D);
    ritz_fold_slots(D);
    ritz_fill_products(num, B_in + q * RITZ_MODES_IN * RITZ_P, B_out + q * RITZ_MODES_OUT * RITZ_P,
                       tile * RITZ_TILE_ROWS, C);
    RITZ_BARRIER();
    ritz_add_products(num, C + l, D + e * RITZ_CHUNK, sum);
    RITZ_BARRIER();
  }
  RITZ_UNROLL
  for (int k = 0; k < RITZ_ROWS * RITZ_COLS; k++) {
    const int i = node + k % RITZ_ROWS * RITZ_ROW_GROUPS;
    const RitzLong place = elem + own + k / RITZ_ROWS * RITZ_COL_GROUPS;
    if (own < RITZ_COL_GROUPS && node < RITZ_ROW_GROUPS && i < RITZ_P && place < num_elem)
      values[pair * stride + first + place * RITZ_P + i] = sum[k];
  }
}
#endif

#if RITZ_KIND >= 2 // element matrices: 2: one after the other, 3: added up in a pattern

// Entry (i, j) of components c_out, c_in of an element of the batch, and what becomes of it.
#if RITZ_KIND == 2
#define RITZ_PLACE_PARAMETERS , RitzLong first
#define RITZ_PLACE_ARGUMENTS  , first
#define RITZ_PLACE_OF(e, c_in, c_out, i, j)                                                                  \
  (first + (((RitzLong)(e)*RITZ_PAIRS + (c_in)*RITZ_COMP_OUT + (c_out)) * RITZ_P_OUT + (i)) * RITZ_P_IN + (j))
#define RITZ_PUT(p, x) (*(p) = (x))
#else
// starts [element][row]: where the row's nonzeros begin; places [element][row][column] from there on.
#define RITZ_NUM_ROWS (RITZ_COMP_OUT * RITZ_P_OUT)
#define RITZ_NUM_COLS (RITZ_COMP_IN * RITZ_P_IN)
#define RITZ_PLACE_PARAMETERS                                                                                \
  , RitzLong first, RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT starts,                                      \
      RITZ_GLOBAL const RITZ_PLACE *RITZ_RESTRICT places
#define RITZ_PLACE_ARGUMENTS , first, starts, places
#define RITZ_PLACE_OF(e, c_in, c_out, i, j)                                                                  \
  ritz_place_of((first + (e)) * RITZ_NUM_ROWS + (c_out)*RITZ_P_OUT + (i), (c_in)*RITZ_P_IN + (j), starts,    \
                places)
RITZ_INLINE RitzLong ritz_place_of(RitzLong row, int col, RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT starts,
                                   RITZ_GLOBAL const RITZ_PLACE *RITZ_RESTRICT places) {
  return (RitzLong)starts[row] + places[row * RITZ_NUM_COLS + col];
}
#if RITZ_IS_ORDERED
#define RITZ_PUT(p, x) (*(p) += (x))
#else
#define RITZ_PUT(p, x) ritz_atomic_add(p, x)
#endif
#endif

#if RITZ_IS_TENSOR
#include "kernels/gpu/assembly-tensor.h"
#else

#define RITZ_WIDTH (RITZ_COLS * RITZ_TILE_COLS)

// W = D B_in at the points of a chunk, for the columns of the block's tile: [slot][mode of the
// output][column], column s * RITZ_TILE_COLS + l standing for node first + l + s * RITZ_COL_GROUPS.
RITZ_INLINE void ritz_fill_rows(int num, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in, int first,
                                RITZ_SHARED const RitzReal *D, RITZ_SHARED RitzReal *W) {
  for (int t = RITZ_THREAD; t < RITZ_SLOTS * RITZ_WIDTH; t += RITZ_THREADS) {
    const int l = t % RITZ_WIDTH, slot = t / RITZ_WIDTH, q = slot % RITZ_CHUNK;
    const int j = first + l % RITZ_TILE_COLS + l / RITZ_TILE_COLS * RITZ_COL_GROUPS;
    const bool is_node = j < RITZ_P_IN && q < num;
    RitzReal row[RITZ_MODES_OUT];
    RITZ_UNROLL
    for (int b = 0; b < RITZ_MODES_OUT; b++) row[b] = 0;
    for (int a = 0; a < RITZ_MODES_IN && is_node; a++) {
      const RitzReal x = RITZ_LOAD(B_in + (q * RITZ_MODES_IN + a) * RITZ_P_IN + j);
      RITZ_UNROLL
      for (int b = 0; b < RITZ_MODES_OUT; b++) row[b] += D[(a * RITZ_MODES_OUT + b) * RITZ_SLOTS + slot] * x;
    }
    RITZ_UNROLL
    for (int b = 0; b < RITZ_MODES_OUT; b++) W[(slot * RITZ_MODES_OUT + b) * RITZ_WIDTH + l] = row[b];
  }
}

// sum += B_out^T W of `num` rows, W at the thread's first column.
RITZ_INLINE void ritz_add_products(int num, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out, int node,
                                   RITZ_SHARED const RitzReal *W, RitzReal *sum) {
  RITZ_ROLL
  for (int k = 0; k < num; k++) {
    RitzReal x[RITZ_COLS];
    RITZ_UNROLL
    for (int s = 0; s < RITZ_COLS; s++) x[s] = W[k * RITZ_WIDTH + s * RITZ_TILE_COLS];
    RITZ_UNROLL
    for (int r = 0; r < RITZ_ROWS; r++) {
      const int i = node + r * RITZ_ROW_GROUPS;
      const RitzReal y = i < RITZ_P_OUT ? RITZ_LOAD(B_out + k * RITZ_P_OUT + i) : 0;
      RITZ_UNROLL
      for (int s = 0; s < RITZ_COLS; s++) sum[r * RITZ_COLS + s] += y * x[s];
    }
  }
}

RITZ_INLINE void ritz_store_matrix(RitzLong e, int c_in, int c_out, int node, int col,
                                   const RitzReal *sum RITZ_PLACE_PARAMETERS, RITZ_GLOBAL RitzReal *values) {
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS; r++) {
    const int i = node + r * RITZ_ROW_GROUPS;
    RITZ_UNROLL
    for (int s = 0; s < RITZ_COLS; s++) {
      const int j = col + s * RITZ_COL_GROUPS;
      if (i < RITZ_P_OUT && j < RITZ_P_IN)
        RITZ_PUT(values + RITZ_PLACE_OF(e, c_in, c_out, i, j), sum[r * RITZ_COLS + s]);
    }
  }
}

// Matrices [element][c_in][c_out][output node][input node] from `first` on, or added up; there `first` is the
// number of the batch's first element. A thread has RITZ_ROWS x RITZ_COLS entries, a block RITZ_TILE_ROWS x
// RITZ_TILE_COLS such threads for each of its elements.
RITZ_KERNEL(RITZ_THREADS)
ritz_assemble(RITZ_GLOBAL char *context, RitzLong num_elem RITZ_FIELD_PARAMETERS RITZ_ORDER_PARAMETERS,
              RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in,
              RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out RITZ_PLACE_PARAMETERS,
              RITZ_GLOBAL RitzReal *values) {
  RITZ_SHARED_ARRAY RitzReal D[RITZ_MODES_IN * RITZ_MODES_OUT * RITZ_SLOTS];
  RITZ_SHARED_ARRAY RitzReal W[RITZ_MODES_OUT * RITZ_SLOTS * RITZ_WIDTH];
  const int pair = (int)(RITZ_BLOCK % RITZ_PAIRS), c_in = pair / RITZ_COMP_OUT, c_out = pair % RITZ_COMP_OUT;
  const int tile = (int)(RITZ_BLOCK / RITZ_PAIRS % (RITZ_ROW_TILES * RITZ_COL_TILES));
  const RitzLong elem = RITZ_BLOCK / (RITZ_PAIRS * RITZ_ROW_TILES * RITZ_COL_TILES) * RITZ_ELEMS;
  const int first_col = tile % RITZ_COL_TILES * RITZ_TILE_COLS;
  const int l = RITZ_THREAD % RITZ_TILE_COLS, own = RITZ_THREAD / (RITZ_TILE_COLS * RITZ_TILE_ROWS);
  const int group = tile / RITZ_COL_TILES * RITZ_TILE_ROWS + RITZ_THREAD / RITZ_TILE_COLS % RITZ_TILE_ROWS;
  const bool is_used =
      own < RITZ_ELEMS && group < RITZ_ROW_GROUPS && first_col + l < RITZ_COL_GROUPS && elem + own < num_elem;
  const int e = is_used ? own : 0, node = is_used ? group : RITZ_P_OUT;
  RitzReal sum[RITZ_ROWS * RITZ_COLS];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_ROWS * RITZ_COLS; k++) sum[k] = 0;
  for (int q = 0; q < RITZ_Q; q += RITZ_CHUNK) {
    const int num = q + RITZ_CHUNK < RITZ_Q ? RITZ_CHUNK : RITZ_Q - q;
    ritz_fill_slots(context, num_elem RITZ_FIELD_ARGUMENTS RITZ_ORDER_ARGUMENTS, elem, q, c_in, c_out, D);
    RITZ_BARRIER();
    ritz_fill_rows(num, B_in + q * RITZ_MODES_IN * RITZ_P_IN, first_col, D, W);
    RITZ_BARRIER();
    ritz_add_products(num * RITZ_MODES_OUT, B_out + q * RITZ_MODES_OUT * RITZ_P_OUT, node,
                      W + e * RITZ_CHUNK * RITZ_MODES_OUT * RITZ_WIDTH + l, sum);
  }
  if (node < RITZ_P_OUT)
    ritz_store_matrix(RITZ_ELEMENT(elem + e), c_in, c_out, node, first_col + l, sum RITZ_PLACE_ARGUMENTS,
                      values);
}
#endif
#endif

#endif
