// SPDX-License-Identifier: BSD-2-Clause
// Element matrices on tensor bases, direction after direction (Melenk, Gerdes, Schwab: "Fully discrete hp
// finite elements: fast quadrature", 2001): with the derivatives D of the points of a plane, i and j the
// nodes of output and input,
//
//     V[line of points][i1 j1]         = sum over points q1 of      D B_out(q1, i1) B_in(q1, j1)
//     W[i1 j1 i2 j2]                   = sum over lines q2 of       V B_out(q2, i2) B_in(q2, j2)
//     K[i1 j1 i2 j2 i3 j3]             = sum over planes q3 of      W B_out(q3, i3) B_in(q3, j3)
//
// V is in shared memory, for one plane at a time; a thread has one i1, j1 and j2 and RITZ_ROWS_2 of the i2:
// their W, and RITZ_N_OUT x RITZ_N_IN sums for each, in registers. Threads side by side have the j1, then the
// j2 of a row, so that their entries are neighbours in memory as often as can be. A block has RITZ_ROWS_1 of
// the i1. Of modes a, b of input and output the derivative is along direction RITZ_AXES_IN[a],
// RITZ_AXES_OUT[b] (-1: values). Squares have the directions 1 and 3: RITZ_Q2, RITZ_N2_IN and RITZ_N2_OUT
// are 1. Part of kernels/gpu/assembly.h. The text before it has the tables [derivative][point][node] of one
// direction,
//
//     ritz_lines_in, ritz_lines_out   RITZ_TABLE
//     ritz_plane_in, ritz_plane_out   RITZ_CONSTANT, the same numbers
#ifndef RITZ_KERNELS_GPU_ASSEMBLY_TENSOR_H
#define RITZ_KERNELS_GPU_ASSEMBLY_TENSOR_H

#define RITZ_PAIRS_1 (RITZ_ROWS_1 * RITZ_N_IN)
#define RITZ_PARTS   (RITZ_N2_IN * RITZ_N2_OUT / RITZ_ROWS_2) // threads of a pair i1, j1
#define RITZ_TILES_1 ((RITZ_N_OUT + RITZ_ROWS_1 - 1) / RITZ_ROWS_1)
#define RITZ_SUMS    (RITZ_ROWS_2 * RITZ_N_OUT * RITZ_N_IN)

// Number of a product by which of output and input are derived.
#define RITZ_TYPE(out, in) (2 * (out) + (in))

// V of a plane from D at its points.
RITZ_INLINE void ritz_contract_first(int pair, int part, int i, int j, RITZ_SHARED const RitzReal *D,
                                     RITZ_SHARED RitzReal *V) {
  const int axes_in[] = RITZ_AXES_IN, axes_out[] = RITZ_AXES_OUT;
  RitzReal x[4][RITZ_Q1];
  RITZ_UNROLL
  for (int k = 0; k < 4 * RITZ_Q1; k++)
    x[k / RITZ_Q1][k % RITZ_Q1] =
        RITZ_LOAD(ritz_lines_out + (k / RITZ_Q1 / 2 * RITZ_Q1 + k % RITZ_Q1) * RITZ_N_OUT + i) *
        RITZ_LOAD(ritz_lines_in + (k / RITZ_Q1 % 2 * RITZ_Q1 + k % RITZ_Q1) * RITZ_N_IN + j);
  for (int line = part; line < RITZ_Q2; line += RITZ_PARTS) {
    RITZ_UNROLL
    for (int a = 0; a < RITZ_MODES_IN; a++) {
      RITZ_UNROLL
      for (int b = 0; b < RITZ_MODES_OUT; b++) {
        const int m = a * RITZ_MODES_OUT + b;
        RitzReal sum = 0;
        RITZ_UNROLL
        for (int q = 0; q < RITZ_Q1; q++)
          sum += D[m * RITZ_SLOTS + line * RITZ_Q1 + q] * x[RITZ_TYPE(axes_out[b] == 0, axes_in[a] == 0)][q];
        V[(m * RITZ_Q2 + line) * RITZ_PAIRS_1 + pair] = sum;
      }
    }
  }
}

// Value or derivative (d) of the second direction's nodes at a thread's line of points.
#if RITZ_IS_FLAT
#define RITZ_ROW_2(d, q, i) ((RitzReal)1)
#define RITZ_COL_2(d, q, j) ((RitzReal)1)
#else
#define RITZ_COL_2(d, q, j) RITZ_LOAD(ritz_lines_in + ((d)*RITZ_Q2 + (q)) * RITZ_N_IN + (j))
#if RITZ_ROWS_2 == RITZ_N2_OUT
#define RITZ_ROW_2(d, q, i) ritz_plane_out[((d)*RITZ_Q2 + (q)) * RITZ_N_OUT + (i)]
#else
#define RITZ_ROW_2(d, q, i) RITZ_LOAD(ritz_lines_out + ((d)*RITZ_Q2 + (q)) * RITZ_N_OUT + (i))
#endif
#endif

// W[type of direction 3][row] of a plane. V at the thread's pair.
RITZ_INLINE void ritz_contract_second(int i, int j, RITZ_SHARED const RitzReal *V, RitzReal *W) {
  const int axes_in[] = RITZ_AXES_IN, axes_out[] = RITZ_AXES_OUT;
  RITZ_UNROLL
  for (int k = 0; k < 4 * RITZ_ROWS_2; k++) W[k] = 0;
  RITZ_UNROLL
  for (int q = 0; q < RITZ_Q2; q++) {
    RitzReal U[8]; // [output's derivative][type of direction 3]
    bool is_used[8];
    RITZ_UNROLL
    for (int k = 0; k < 8; k++) {
      U[k] = 0;
      is_used[k] = false;
    }
    RITZ_UNROLL
    for (int m = 0; m < RITZ_MODES_IN * RITZ_MODES_OUT; m++) {
      const int axis_in = axes_in[m / RITZ_MODES_OUT], axis_out = axes_out[m % RITZ_MODES_OUT];
      const int k = 4 * (axis_out == 1) + RITZ_TYPE(axis_out == 2, axis_in == 2);
      U[k] += V[(m * RITZ_Q2 + q) * RITZ_PAIRS_1] * RITZ_COL_2(axis_in == 1, q, j);
      is_used[k] = true;
    }
    RITZ_UNROLL
    for (int k = 0; k < 8; k++) {
      if (!is_used[k]) continue;
      RITZ_UNROLL
      for (int s = 0; s < RITZ_ROWS_2; s++) W[k % 4 * RITZ_ROWS_2 + s] += U[k] * RITZ_ROW_2(k / 4, q, i + s);
    }
  }
}

// sum[row][output node][input node] += the share of a plane of points.
RITZ_INLINE void ritz_add_plane(int plane, const RitzReal *W, RitzReal *sum) {
  const int axes_in[] = RITZ_AXES_IN, axes_out[] = RITZ_AXES_OUT;
  bool is_used[4] = {false, false, false, false};
  RITZ_UNROLL
  for (int m = 0; m < RITZ_MODES_IN * RITZ_MODES_OUT; m++)
    is_used[RITZ_TYPE(axes_out[m % RITZ_MODES_OUT] == 2, axes_in[m / RITZ_MODES_OUT] == 2)] = true;
  RITZ_UNROLL
  for (int k = 0; k < 2 * RITZ_ROWS_2 * RITZ_N_OUT; k++) {
    const int d = k / (RITZ_ROWS_2 * RITZ_N_OUT), s = k / RITZ_N_OUT % RITZ_ROWS_2, i = k % RITZ_N_OUT;
    RitzReal row = 0; // derivative d of the input
    if (!is_used[RITZ_TYPE(0, d)] && !is_used[RITZ_TYPE(1, d)]) continue;
    if (is_used[RITZ_TYPE(0, d)])
      row += W[RITZ_TYPE(0, d) * RITZ_ROWS_2 + s] * ritz_plane_out[plane * RITZ_N_OUT + i];
    if (is_used[RITZ_TYPE(1, d)])
      row += W[RITZ_TYPE(1, d) * RITZ_ROWS_2 + s] * ritz_plane_out[(RITZ_Q1 + plane) * RITZ_N_OUT + i];
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N_IN; j++)
      sum[(s * RITZ_N_OUT + i) * RITZ_N_IN + j] += row * ritz_plane_in[(d * RITZ_Q1 + plane) * RITZ_N_IN + j];
  }
}

// Stores the sums of the thread's i1, j1, first i2, and j2.
RITZ_INLINE void ritz_store_sums(RitzLong e, int c_in, int c_out, int i1, int j1, int i2, int j2,
                                 const RitzReal *sum RITZ_PLACE_PARAMETERS, RITZ_GLOBAL RitzReal *values) {
  RITZ_UNROLL
  for (int k = 0; k < RITZ_SUMS; k++) {
    const int s = k / (RITZ_N_OUT * RITZ_N_IN), i3 = k / RITZ_N_IN % RITZ_N_OUT, j3 = k % RITZ_N_IN;
    const int i = i1 + RITZ_N_OUT * (i2 + s + RITZ_N2_OUT * i3);
    const int j = j1 + RITZ_N_IN * (j2 + RITZ_N2_IN * j3);
    RITZ_PUT(values + RITZ_PLACE_OF(e, c_in, c_out, i, j), sum[k]);
  }
}

// As the kernel for other bases (kernels/gpu/assembly.h).
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT)
ritz_assemble(RITZ_GLOBAL char *context,
              RitzLong num_elem RITZ_FIELD_PARAMETERS RITZ_ORDER_PARAMETERS RITZ_PLACE_PARAMETERS,
              RITZ_GLOBAL RitzReal *values) {
  RITZ_SHARED_ARRAY RitzReal D[RITZ_MODES_IN * RITZ_MODES_OUT * RITZ_SLOTS];
  RITZ_SHARED_ARRAY RitzReal V[RITZ_ELEMS * RITZ_MODES_IN * RITZ_MODES_OUT * RITZ_Q2 * RITZ_PAIRS_1];
  const int comps = (int)(RITZ_BLOCK % RITZ_PAIRS), c_in = comps / RITZ_COMP_OUT,
            c_out = comps % RITZ_COMP_OUT;
  const int tile = (int)(RITZ_BLOCK / RITZ_PAIRS % RITZ_TILES_1);
  const RitzLong elem = RITZ_BLOCK / (RITZ_PAIRS * RITZ_TILES_1) * RITZ_ELEMS;
  const int own = RITZ_THREAD / (RITZ_PAIRS_1 * RITZ_PARTS),
            own_thread = RITZ_THREAD % (RITZ_PAIRS_1 * RITZ_PARTS);
  const int j1 = own_thread % RITZ_N_IN, j2 = own_thread / RITZ_N_IN % RITZ_N2_IN;
  const int row = own_thread / (RITZ_N_IN * RITZ_N2_IN) % RITZ_ROWS_1;
  const int group = own_thread / (RITZ_PAIRS_1 * RITZ_N2_IN), pair = row * RITZ_N_IN + j1;
  const int e = own < RITZ_ELEMS ? own : 0, i1 = tile * RITZ_ROWS_1 + row, i2 = group * RITZ_ROWS_2;
  const bool is_used = own < RITZ_ELEMS && i1 < RITZ_N_OUT && elem + own < num_elem;
  RITZ_SHARED RitzReal *const own_V = V + e * RITZ_MODES_IN * RITZ_MODES_OUT * RITZ_Q2 * RITZ_PAIRS_1;
  RitzReal W[4 * RITZ_ROWS_2], sum[RITZ_SUMS];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_SUMS; k++) sum[k] = 0;
  for (int first = 0; first < RITZ_Q1; first += RITZ_PLANES) {
    ritz_fill_slots(context, num_elem RITZ_FIELD_ARGUMENTS RITZ_ORDER_ARGUMENTS, elem,
                    first * RITZ_Q1 * RITZ_Q2, c_in, c_out, D);
    for (int plane = 0; plane < RITZ_PLANES && first + plane < RITZ_Q1; plane++) {
      RITZ_BARRIER();
      ritz_contract_first(pair, own < RITZ_ELEMS ? j2 + group * RITZ_N2_IN : RITZ_Q2,
                          i1 < RITZ_N_OUT ? i1 : 0, j1, D + e * RITZ_CHUNK + plane * RITZ_Q1 * RITZ_Q2,
                          own_V);
      RITZ_BARRIER();
      ritz_contract_second(i2, j2, own_V + pair, W);
      ritz_add_plane(first + plane, W, sum);
    }
  }
  if (is_used)
    ritz_store_sums(RITZ_ELEMENT(elem + own), c_in, c_out, i1, j1, i2, j2, sum RITZ_PLACE_ARGUMENTS, values);
}

#endif
