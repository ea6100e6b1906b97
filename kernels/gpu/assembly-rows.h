// SPDX-License-Identifier: BSD-2-Clause
// Matrices in a fixed pattern, by rows: a block has a bundle of rows to itself and adds up, in its memory,
// what all elements contribute to them, in their order; each nonzero is written once, and nobody else adds to
// it. Sizes are macros, derivatives come from ritz_derivatives_at, as in kernels/gpu/assembly.h.
//
// Row i of the matrix of an element is F B_in, with F = (B_out^T D) of that row, [point][mode of the input].
// A *chunk* are up to RITZ_TILE rows of element matrices, of up to RITZ_SLOTS pairs (element, component), and
// in turn the block
//
//     D      evaluates derivatives at RITZ_CHUNK points of these elements           [k][slot][point]
//     F      multiplies by the rows' columns of B_out                               [point, mode][row]
//     C      adds F B_in in registers, RITZ_TILE x RITZ_WIDTH entries, by tensor cores where there are some
//     sums   puts them to shared memory, where up to 32 threads add rows of one row of the matrix in turn
//
// Rows of a chunk are sorted by element, so that neighbours multiply the same derivatives.
//
// RITZ_BY_LINES: of gradients on a tensor basis of few nodes a thread makes a row of an element by itself,
// from planes of points (RITZ_CHUNK), direction by direction.
#ifndef RITZ_KERNELS_GPU_ASSEMBLY_ROWS_H
#define RITZ_KERNELS_GPU_ASSEMBLY_ROWS_H

#define RITZ_D_STRIDE (RITZ_SLOTS * RITZ_CHUNK)
#define RITZ_K        ((RITZ_CHUNK * RITZ_MODES_IN + 7) / 8 * 8)
#define RITZ_F_STRIDE (RITZ_TILE + 4)
#define RITZ_B_STRIDE (RITZ_WIDTH + 4)
#define RITZ_KEPT     (RITZ_WIDTH < RITZ_P_IN ? RITZ_WIDTH : RITZ_P_IN)
#define RITZ_C_STRIDE (RITZ_KEPT | 1)
#define RITZ_NUM_COLS (RITZ_COMP_IN * RITZ_P_IN)
#define RITZ_PASSES   ((RITZ_P_IN + RITZ_WIDTH - 1) / RITZ_WIDTH)

// Threads that add a row: where a row has a column twice, and where threads of a warp are not told from
// others, one.
#if RITZ_IS_REPEATED || defined(__OPENCL_VERSION__)
#define RITZ_LANES 1
#define RITZ_ROW_DONE()
#else
#define RITZ_LANES (RITZ_KEPT > 16 ? 32 : RITZ_KEPT > 8 ? 16 : 8)
#define RITZ_ROW_DONE()                                                                                      \
  RITZ_FENCE(0xffffffffu >> (32 - RITZ_LANES) << RITZ_THREAD % 32 / RITZ_LANES * RITZ_LANES)
#endif

// D of the chunk's slots at points first_q on. Elements of other batches count nothing.
RITZ_INLINE void ritz_fill_derivatives(RITZ_GLOBAL char *context, RitzLong num_elem RITZ_FIELD_PARAMETERS,
                                       RitzLong first_elem, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT slots,
                                       int num_slots, int first_q, int num_q, int c_in,
                                       RITZ_SHARED RitzReal *D) {
  for (int t = RITZ_THREAD; t < num_slots * RITZ_CHUNK; t += RITZ_THREADS) {
    const int slot = slots[t / RITZ_CHUNK], q = t % RITZ_CHUNK;
    const RitzLong e = slot / RITZ_COMP_OUT - first_elem;
    if (q < num_q && e >= 0 && e < num_elem) {
      ritz_derivatives_at(context, e * RITZ_Q + first_q + q RITZ_FIELD_ARGUMENTS, c_in, slot % RITZ_COMP_OUT,
                          RITZ_D_STRIDE, D + t);
    } else {
      for (int k = 0; k < RITZ_MODES_IN * RITZ_MODES_OUT; k++) D[k * RITZ_D_STRIDE + t] = 0;
    }
  }
}

#if RITZ_BY_LINES

// A thread has a row of an element. Tables [point][node] of the basis in one direction, `lines` the same.
#define RITZ_NUM_ENTRIES RITZ_P_IN
#define RITZ_LINE        (RITZ_Q_1D * RITZ_P_1D)

RITZ_INLINE void ritz_fill_lines(RITZ_SHARED RitzReal *lines) {
  for (int t = RITZ_THREAD; t < 2 * RITZ_LINE; t += RITZ_THREADS)
    lines[t] = t < RITZ_LINE ? ritz_interp_1d[t] : ritz_grad_1d[t - RITZ_LINE];
}

// F of the row at a point: D of it times the gradient of the row's function, whose factors in the last two
// directions are in y.
RITZ_INLINE void ritz_find_flux(RITZ_SHARED const RitzReal *D, RitzReal interp, RitzReal grad,
                                const RitzReal *y, RitzReal *flux) {
  const RitzReal gradient[3] = {grad * y[0], interp * y[1], interp * y[2]};
  RITZ_UNROLL
  for (int a = 0; a < 3; a++) {
    flux[a] = 0;
    RITZ_UNROLL
    for (int b = 0; b < 3; b++) flux[a] += D[(a * 3 + b) * RITZ_D_STRIDE] * gradient[b];
  }
}

// Sums over the points of a line, by the first direction's tables: [derivative][node].
RITZ_INLINE void ritz_add_line(RITZ_SHARED const RitzReal *D, RITZ_SHARED const RitzReal *row,
                               const RitzReal *y, RitzReal *sums) {
  RITZ_UNROLL
  for (int k = 0; k < 3 * RITZ_P_1D; k++) sums[k] = 0;
  RITZ_UNROLL
  for (int q = 0; q < RITZ_Q_1D; q++) {
    RitzReal flux[3];
    ritz_find_flux(D + q, row[q * RITZ_P_1D], row[RITZ_LINE + q * RITZ_P_1D], y, flux);
    RITZ_UNROLL
    for (int j = 0; j < RITZ_P_1D; j++) {
      const RitzReal interp = ritz_interp_1d[q * RITZ_P_1D + j], grad = ritz_grad_1d[q * RITZ_P_1D + j];
      sums[j] += grad * flux[0];
      sums[RITZ_P_1D + j] += interp * flux[1];
      sums[2 * RITZ_P_1D + j] += interp * flux[2];
    }
  }
}

// entries += those of a plane of points, the last direction's point q; D at the slot's first of these.
RITZ_INLINE void ritz_add_plane(int q, int i, RITZ_SHARED const RitzReal *lines,
                                RITZ_SHARED const RitzReal *D, RitzReal *entries) {
  RITZ_SHARED const RitzReal *x_row = lines + i % RITZ_P_1D, *y_row = lines + i / RITZ_P_1D % RITZ_P_1D;
  RITZ_SHARED const RitzReal *z = lines + q * RITZ_P_1D + i / (RITZ_P_1D * RITZ_P_1D);
  RitzReal plain[RITZ_P_1D * RITZ_P_1D], along[RITZ_P_1D * RITZ_P_1D];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_P_1D * RITZ_P_1D; k++) plain[k] = along[k] = 0;
  RITZ_UNROLL
  for (int r = 0; r < RITZ_Q_1D; r++) {
    const RitzReal interp = y_row[r * RITZ_P_1D], grad = y_row[RITZ_LINE + r * RITZ_P_1D];
    const RitzReal y[3] = {interp * z[0], grad * z[0], interp * z[RITZ_LINE]};
    RitzReal sums[3 * RITZ_P_1D];
    ritz_add_line(D + r * RITZ_Q_1D, x_row, y, sums);
    RITZ_UNROLL
    for (int k = 0; k < RITZ_P_1D * RITZ_P_1D; k++) {
      const int j = k % RITZ_P_1D, at = r * RITZ_P_1D + k / RITZ_P_1D;
      plain[k] += ritz_interp_1d[at] * sums[j] + ritz_grad_1d[at] * sums[RITZ_P_1D + j];
      along[k] += ritz_interp_1d[at] * sums[2 * RITZ_P_1D + j];
    }
  }
  RITZ_UNROLL
  for (int j = 0; j < RITZ_P_1D; j++) {
    const RitzReal interp = ritz_interp_1d[q * RITZ_P_1D + j], grad = ritz_grad_1d[q * RITZ_P_1D + j];
    RITZ_UNROLL
    for (int k = 0; k < RITZ_P_1D * RITZ_P_1D; k++)
      entries[j * RITZ_P_1D * RITZ_P_1D + k] += interp * plain[k] + grad * along[k];
  }
}

RITZ_INLINE void ritz_store_tile(const RitzReal *entries, RITZ_SHARED RitzReal *C) {
  RITZ_UNROLL
  for (int j = 0; j < RITZ_P_IN; j++) C[RITZ_THREAD * RITZ_C_STRIDE + j] = entries[j];
}

#else

// F of the chunk's rows at num_q points, B_out from these on; rows up to a multiple of 8 are zero. A thread
// stays with a row.
RITZ_INLINE void ritz_fill_rows(RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out, int num_q,
                                RITZ_SHARED const int *nodes, RITZ_SHARED const RitzReal *D,
                                RITZ_SHARED RitzReal *F) {
  for (int m = RITZ_THREAD % RITZ_TILE; m < RITZ_TILE; m += RITZ_THREADS) {
    const int i = nodes[m] % RITZ_P_OUT, slot = nodes[m] / RITZ_P_OUT;
    const int step = RITZ_THREADS < RITZ_TILE ? 1 : RITZ_THREADS / RITZ_TILE;
    for (int q = RITZ_THREAD / RITZ_TILE; q < num_q; q += step) {
      RitzReal y[RITZ_MODES_OUT];
      RITZ_UNROLL
      for (int b = 0; b < RITZ_MODES_OUT; b++)
        y[b] = RITZ_LOAD(B_out + (q * RITZ_MODES_OUT + b) * RITZ_P_OUT + i);
      RITZ_UNROLL
      for (int a = 0; a < RITZ_MODES_IN; a++) {
        RitzReal f = 0;
        RITZ_UNROLL
        for (int b = 0; b < RITZ_MODES_OUT; b++)
          f += D[(a * RITZ_MODES_OUT + b) * RITZ_D_STRIDE + slot * RITZ_CHUNK + q] * y[b];
        F[(q * RITZ_MODES_IN + a) * RITZ_F_STRIDE + m] = f;
      }
    }
    for (int k = num_q * RITZ_MODES_IN + RITZ_THREAD / RITZ_TILE; k < RITZ_K; k += step)
      F[k * RITZ_F_STRIDE + m] = 0;
  }
}

// Columns first on of B_in at num_q points.
RITZ_INLINE void ritz_fill_columns(RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in, int num_q, int first,
                                   RITZ_SHARED RitzReal *B) {
  for (int t = RITZ_THREAD; t < RITZ_K * RITZ_WIDTH; t += RITZ_THREADS) {
    const int k = t / RITZ_WIDTH, j = t % RITZ_WIDTH;
    B[k * RITZ_B_STRIDE + j] =
        k < num_q * RITZ_MODES_IN && first + j < RITZ_P_IN ? RITZ_LOAD(B_in + k * RITZ_P_IN + first + j) : 0;
  }
}

#endif

#if RITZ_USES_MMA

// A warp has 32 rows and RITZ_COLS columns, the four threads of a row two of each 8 of them
// (kernels/gpu/mma-f64.h): entries [half of the rows][8 columns][4].
#define RITZ_NUM_ENTRIES   (4 * RITZ_COLS / 4)
#define RITZ_ROW_TILES     (RITZ_TILE / 32)
#define RITZ_WARP_ROW      (RITZ_THREAD / 32 % RITZ_ROW_TILES * 32)
#define RITZ_WARP_COL      (RITZ_THREAD / 32 / RITZ_ROW_TILES * RITZ_COLS)
#define RITZ_OF_EIGHT      (RITZ_THREAD % 32 / 4)
#define RITZ_OF_FOUR       (RITZ_THREAD % 4)
#define RITZ_COLUMN_EIGHTS (RITZ_COLS / 8)

RITZ_INLINE void ritz_add_products(int num_k, RITZ_SHARED const RitzReal *F, RITZ_SHARED const RitzReal *B,
                                   RitzReal *entries) {
  RITZ_SHARED const RitzReal *f = F + RITZ_OF_FOUR * RITZ_F_STRIDE + RITZ_WARP_ROW + RITZ_OF_EIGHT;
  RITZ_SHARED const RitzReal *b = B + RITZ_OF_FOUR * RITZ_B_STRIDE + RITZ_WARP_COL + RITZ_OF_EIGHT;
  RITZ_ROLL
  for (int k = 0; k < num_k; k += 8) {
    RitzReal a[2][4];
    RITZ_UNROLL
    for (int half = 0; half < 2; half++) {
      RITZ_UNROLL
      for (int i = 0; i < 4; i++) a[half][i] = f[i / 2 * 4 * RITZ_F_STRIDE + half * 16 + i % 2 * 8];
    }
    RITZ_UNROLL
    for (int n = 0; n < RITZ_COLUMN_EIGHTS; n++) {
      const RitzReal b0 = b[8 * n], b1 = b[4 * RITZ_B_STRIDE + 8 * n];
      ritz_mma_f64(a[0], b0, b1, entries + 4 * n);
      ritz_mma_f64(a[1], b0, b1, entries + 4 * (RITZ_COLUMN_EIGHTS + n));
    }
    f += 8 * RITZ_F_STRIDE;
    b += 8 * RITZ_B_STRIDE;
  }
}

RITZ_INLINE void ritz_store_tile(const RitzReal *entries, RITZ_SHARED RitzReal *C) {
  RITZ_SHARED RitzReal *c =
      C + (RITZ_WARP_ROW + RITZ_OF_EIGHT) * RITZ_C_STRIDE + RITZ_WARP_COL + 2 * RITZ_OF_FOUR;
  RITZ_UNROLL
  for (int half = 0; half < 2; half++) {
    RITZ_UNROLL
    for (int n = 0; n < RITZ_COLUMN_EIGHTS; n++) {
      RITZ_UNROLL
      for (int i = 0; i < 4; i++)
        if (RITZ_KEPT == RITZ_WIDTH || RITZ_WARP_COL + 2 * RITZ_OF_FOUR + 8 * n + i % 2 < RITZ_KEPT)
          c[(half * 16 + i / 2 * 8) * RITZ_C_STRIDE + 8 * n + i % 2] =
              entries[4 * (half * RITZ_COLUMN_EIGHTS + n) + i];
    }
  }
}

#elif !RITZ_BY_LINES

// A thread has RITZ_ROWS x RITZ_COLS entries, at equal distances.
#define RITZ_NUM_ENTRIES (RITZ_ROWS * RITZ_COLS)
#define RITZ_COL_GROUPS  (RITZ_WIDTH / RITZ_COLS)
#define RITZ_ROW_GROUPS  (RITZ_TILE / RITZ_ROWS)
#define RITZ_OWN_ROW     (RITZ_THREAD / RITZ_COL_GROUPS)
#define RITZ_OWN_COL     (RITZ_THREAD % RITZ_COL_GROUPS)

RITZ_INLINE void ritz_add_products(int num_k, RITZ_SHARED const RitzReal *F, RITZ_SHARED const RitzReal *B,
                                   RitzReal *entries) {
  RITZ_ROLL
  for (int k = 0; k < num_k; k++) {
    RitzReal x[RITZ_COLS];
    RITZ_UNROLL
    for (int s = 0; s < RITZ_COLS; s++) x[s] = B[k * RITZ_B_STRIDE + RITZ_OWN_COL + s * RITZ_COL_GROUPS];
    RITZ_UNROLL
    for (int r = 0; r < RITZ_ROWS; r++) {
      const RitzReal y = F[k * RITZ_F_STRIDE + RITZ_OWN_ROW + r * RITZ_ROW_GROUPS];
      RITZ_UNROLL
      for (int s = 0; s < RITZ_COLS; s++) entries[r * RITZ_COLS + s] += y * x[s];
    }
  }
}

RITZ_INLINE void ritz_store_tile(const RitzReal *entries, RITZ_SHARED RitzReal *C) {
  RITZ_UNROLL
  for (int r = 0; r < RITZ_ROWS; r++) {
    RITZ_UNROLL
    for (int s = 0; s < RITZ_COLS; s++)
      if (RITZ_OWN_COL + s * RITZ_COL_GROUPS < RITZ_KEPT)
        C[(RITZ_OWN_ROW + r * RITZ_ROW_GROUPS) * RITZ_C_STRIDE + RITZ_OWN_COL + s * RITZ_COL_GROUPS] =
            entries[r * RITZ_COLS + s];
  }
}

#endif

// Where columns first_col on of the chunk's rows go in `sums`: [row][column], num_cols of them.
RITZ_INLINE void ritz_fill_targets(int num, int first_col, int num_cols,
                                   RITZ_GLOBAL const CeedInt *RITZ_RESTRICT slots,
                                   RITZ_SHARED const int *nodes, RITZ_SHARED const unsigned short *bases,
                                   RITZ_GLOBAL const RITZ_PLACE *RITZ_RESTRICT places,
                                   RITZ_SHARED unsigned short *targets) {
  for (int t = RITZ_THREAD; t < num * RITZ_KEPT; t += RITZ_THREADS) {
    const int m = t / RITZ_KEPT, j = t % RITZ_KEPT;
    const RitzLong row = (RitzLong)slots[nodes[m] / RITZ_P_OUT] * RITZ_P_OUT + nodes[m] % RITZ_P_OUT;
    if (j < num_cols)
      targets[t] = (unsigned short)(bases[m] + RITZ_LOAD(places + row * RITZ_NUM_COLS + first_col + j));
  }
}

// sums += C. A group of threads takes all rows of the chunk that belong to a row of the matrix, which are
// neighbours in `order`; what comes next is fetched while the sums are.
RITZ_INLINE void ritz_add_tile(int num, int num_cols, RITZ_SHARED const unsigned short *order,
                               RITZ_SHARED const unsigned short *bases,
                               RITZ_SHARED const unsigned short *targets, RITZ_SHARED const RitzReal *C,
                               RITZ_SHARED RitzReal *sums) {
  for (int k = RITZ_THREAD / RITZ_LANES; k < num; k += RITZ_THREADS / RITZ_LANES) {
    const int base = bases[order[k]];
    if (k > 0 && bases[order[k - 1]] == base) continue;
    for (int first = 0; first < num_cols; first += RITZ_LANES) {
      const int own = first + RITZ_THREAD % RITZ_LANES, j = own < num_cols ? own : 0;
      int m = order[k], target = targets[m * RITZ_KEPT + j];
      RitzReal x = C[m * RITZ_C_STRIDE + j];
      for (int l = k + 1, is_last = 0; !is_last; l++) {
        is_last = l == num || bases[order[l]] != base;
        m = order[is_last ? k : l];
        const int next_target = targets[m * RITZ_KEPT + j];
        const RitzReal next = C[m * RITZ_C_STRIDE + j];
        if (own < num_cols) sums[target] += x;
        RITZ_ROW_DONE();
        target = next_target;
        x = next;
      }
    }
  }
}

// The sums of the bundle's rows, to where they begin among the values; `adds`: to what is there.
RITZ_INLINE void ritz_store_sums(RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT starts,
                                 RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT bases, int num_rows, int adds,
                                 RITZ_SHARED const RitzReal *sums, RITZ_GLOBAL RitzReal *values) {
  for (int r = RITZ_THREAD / RITZ_WRITERS; r < num_rows; r += RITZ_THREADS / RITZ_WRITERS) {
    RITZ_SHARED const RitzReal *from = sums + (int)(bases[r] - bases[0]);
    RITZ_GLOBAL RitzReal *to = values + starts[r];
    const int length = (int)(bases[r + 1] - bases[r]);
    for (int j = RITZ_THREAD % RITZ_WRITERS; j < length; j += RITZ_WRITERS)
      to[j] = adds ? to[j] + from[j] : from[j];
  }
}

// Bundle k: chunks firsts[2k] .. firsts[2k + 2] - 1, rows firsts[2k + 1] .. firsts[2k + 3] - 1 of starts and
// bases, where a row begins among the values and among the sums of all bundles. Chunk k: slots chunks[2k] on,
// element * RITZ_COMP_OUT + component, ascending; rows of elements chunks[2k + 1] on, slot of the chunk *
// RITZ_P_OUT + node, and where the row begins among the bundle's sums + 65536 * which one is next by rows of
// the matrix. The batch begins with element first.
RITZ_KERNEL(RITZ_THREADS)
ritz_assemble(RITZ_GLOBAL char *context, RitzLong num_elem RITZ_FIELD_PARAMETERS,
              RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_in, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT B_out,
              RitzLong first, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT firsts,
              RITZ_GLOBAL const CeedInt *RITZ_RESTRICT chunks, RITZ_GLOBAL const CeedInt *RITZ_RESTRICT slots,
              RITZ_GLOBAL const CeedInt *RITZ_RESTRICT row_nodes,
              RITZ_GLOBAL const unsigned *RITZ_RESTRICT row_bases,
              RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT starts,
              RITZ_GLOBAL const RITZ_START *RITZ_RESTRICT bases,
              RITZ_GLOBAL const RITZ_PLACE *RITZ_RESTRICT places, int adds, RITZ_GLOBAL RitzReal *values) {
  RITZ_SHARED_MEMORY(m, RITZ_MEMORY);
  RITZ_SHARED_ARRAY int tile_nodes[RITZ_TILE];
  RITZ_SHARED_ARRAY unsigned short tile_bases[RITZ_TILE], tile_order[RITZ_TILE];
  RITZ_SHARED_ARRAY unsigned short targets[RITZ_TILE * RITZ_KEPT];
  RITZ_SHARED RitzReal *sums = m, *C = m + RITZ_SUMS;
#if RITZ_BY_LINES
  RITZ_SHARED_ARRAY RitzReal lines[2 * RITZ_LINE];
  RITZ_SHARED RitzReal *D = C;
  ritz_fill_lines(lines);
#else
  RITZ_SHARED RitzReal *F = C, *B = F + RITZ_K * RITZ_F_STRIDE, *D = B + RITZ_K * RITZ_B_STRIDE;
#endif
  const int first_row = firsts[2 * RITZ_BLOCK + 1], num_rows = firsts[2 * RITZ_BLOCK + 3] - first_row;
  int begin = firsts[2 * RITZ_BLOCK], end = firsts[2 * RITZ_BLOCK + 2];
  while (begin < end && slots[chunks[2 * begin + 2] - 1] / RITZ_COMP_OUT < first) begin++;
  while (begin < end && slots[chunks[2 * end - 2]] / RITZ_COMP_OUT >= first + num_elem) end--;
  for (int t = RITZ_THREAD; t < RITZ_SUMS; t += RITZ_THREADS) sums[t] = 0;
  for (int c = begin; c < end; c++) {
    RITZ_GLOBAL const CeedInt *own_slots = slots + chunks[2 * c];
    const int num_slots = chunks[2 * c + 2] - chunks[2 * c], row = chunks[2 * c + 1];
    const int num = chunks[2 * c + 3] - row;
    RITZ_BARRIER();
    for (int t = RITZ_THREAD; t < RITZ_TILE; t += RITZ_THREADS) {
      const unsigned base = t < num ? row_bases[row + t] : 0;
      tile_nodes[t] = t < num ? row_nodes[row + t] : 0;
      tile_bases[t] = (unsigned short)(base & 0xffffu);
      tile_order[t] = (unsigned short)(base >> 16);
    }
    for (int pass = 0; pass < RITZ_COMP_IN * RITZ_PASSES; pass++) {
      const int c_in = pass / RITZ_PASSES, first_col = pass % RITZ_PASSES * RITZ_WIDTH;
      const int num_cols = first_col + RITZ_WIDTH < RITZ_P_IN ? RITZ_WIDTH : RITZ_P_IN - first_col;
      RitzReal entries[RITZ_NUM_ENTRIES];
      RITZ_UNROLL
      for (int k = 0; k < RITZ_NUM_ENTRIES; k++) entries[k] = 0;
      for (int q = 0; q < RITZ_Q; q += RITZ_CHUNK) {
        const int num_q = q + RITZ_CHUNK < RITZ_Q ? RITZ_CHUNK : RITZ_Q - q;
        RITZ_BARRIER();
        ritz_fill_derivatives(context, num_elem RITZ_FIELD_ARGUMENTS, first, own_slots, num_slots, q, num_q,
                              c_in, D);
        if (q == 0)
          ritz_fill_targets(num, c_in * RITZ_P_IN + first_col, num_cols, own_slots, tile_nodes, tile_bases,
                            places, targets);
#if RITZ_BY_LINES
        RITZ_BARRIER();
        ritz_add_plane(q / RITZ_CHUNK, tile_nodes[RITZ_THREAD] % RITZ_P_OUT, lines,
                       D + tile_nodes[RITZ_THREAD] / RITZ_P_OUT * RITZ_CHUNK, entries);
#else
        ritz_fill_columns(B_in + q * RITZ_MODES_IN * RITZ_P_IN, num_q, first_col, B);
        RITZ_BARRIER();
        ritz_fill_rows(B_out + q * RITZ_MODES_OUT * RITZ_P_OUT, num_q, tile_nodes, D, F);
        RITZ_BARRIER();
        ritz_add_products((num_q * RITZ_MODES_IN + 7) / 8 * 8, F, B, entries);
#endif
      }
      RITZ_BARRIER();
      ritz_store_tile(entries, C);
      RITZ_BARRIER();
      ritz_add_tile(num, num_cols, tile_order, tile_bases, targets, C, sums);
    }
  }
  RITZ_BARRIER();
  ritz_store_sums(starts + first_row, bases + first_row, num_rows, adds, sums, values);
}

#endif
