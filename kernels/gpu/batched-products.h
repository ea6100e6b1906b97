// SPDX-License-Identifier: BSD-2-Clause
// Part of kernels/gpu/batched-blocks.h: products. A block computes parts of RITZ_ROWS_HERE x RITZ_COLS_HERE
// entries of C one after the other, a warp of it RITZ_WARP_ROWS x RITZ_WARP_COLS in registers. Operands come
// RITZ_PART products at a time into RITZ_STAGES places of shared memory, RITZ_STAGES - 1 of them ahead of
// the products: also those of the block's next part of C, so that memory is busy while this one is stored.
//
// Shared memory has operands in the order of global memory, as lines of neighbours, and copies take 16 bytes
// where matrices have lines at multiples of 16 bytes. Threads read them 16 bytes at a time without two in one
// bank. Tensor cores: thread 4 g + t of a warp has rows 2g, 2g + 1 of each 16, which the cores count as g and
// g + 8, and products 2t, 2t + 1 of each 8, counted as t and t + 4; where neighbours of B are columns,
// columns 2g and 2g + 1 of each 16 are column g of two tiles. Else threads have a grid of rows and columns.
// The order of sums depends on the number of products alone.
#ifndef RITZ_KERNELS_GPU_BATCHED_PRODUCTS_H
#define RITZ_KERNELS_GPU_BATCHED_PRODUCTS_H

#define RITZ_ROWS_HERE (RITZ_WARP_ROWS * RITZ_TILE_ROWS)
#define RITZ_COLS_HERE (RITZ_WARP_COLS * RITZ_TILE_COLS)
#define RITZ_ENTRIES   (RITZ_WARP_ROWS * RITZ_WARP_COLS / 32) // of a thread
#ifdef RITZ_ENTRY_F32
#define RITZ_IN_PACK 4
#else
#define RITZ_IN_PACK 2
#endif

typedef struct RITZ_ALIGN16 {
  RitzEntry v[RITZ_IN_PACK];
} RitzPack;
#define RITZ_PACK(p) (*(RITZ_SHARED const RitzPack *)(p))

// Lines of the operands: neighbours in memory, distance of lines in shared memory.
#ifdef RITZ_TURNED_A
#define RITZ_A_LINES  RITZ_ROWS_HERE
#define RITZ_A_LENGTH RITZ_PART
#define RITZ_A_FAR    (RITZ_PART + 4)
#else
#define RITZ_A_LINES  RITZ_PART
#define RITZ_A_LENGTH RITZ_ROWS_HERE
#define RITZ_A_FAR    (RITZ_ROWS_HERE + RITZ_IN_PACK)
#endif
#ifdef RITZ_TURNED_B
#define RITZ_B_LINES  RITZ_PART
#define RITZ_B_LENGTH RITZ_COLS_HERE
#define RITZ_B_FAR    (RITZ_COLS_HERE + RITZ_IN_PACK)
#else
#define RITZ_B_LINES  RITZ_COLS_HERE
#define RITZ_B_LENGTH RITZ_PART
#define RITZ_B_FAR    (RITZ_PART + 4)
#endif
#define RITZ_A_SIZE (RITZ_A_LINES * RITZ_A_FAR)
#define RITZ_B_SIZE (RITZ_B_LINES * RITZ_B_FAR)

// A part of C that a block computes, and how far it is.
typedef struct {
  RitzLong item, i; // of all parts of all matrices; the matrix
  int row0, col0, m, n, k, first;
} RitzTurn;

// Rest of `size` from `first` on; a constant where parts fit.
#ifdef RITZ_UNIFORM
#define RITZ_LEFT(bound, part, size, first) ((bound) % (part) == 0 ? (part) : (size) - (first))
#else
#define RITZ_LEFT(bound, part, size, first) ((size) - (first))
#endif

// ---- Into shared memory ----

// The first `num` of a pack or of one entry, then zeros.
#if !defined(__OPENCL_VERSION__) && __CUDA_ARCH__ >= 800
#define RITZ_COPY(to, from, how, bytes, num)                                                                 \
  asm volatile("cp.async." how                                                                               \
               ".shared.global [%0], [%1], %2, %3;" ::"r"((unsigned)__cvta_generic_to_shared(to)),           \
               "l"(from), "n"(bytes), "r"((int)sizeof(RitzEntry) * (num))                                    \
               : "memory")
#define RITZ_COPY_PACK(to, from, num) RITZ_COPY(to, from, "cg", 16, num)
#define RITZ_COPY_ONE(to, from, num)  RITZ_COPY(to, from, "ca", sizeof(RitzEntry), num)
#else
#define RITZ_COPY_PACK(to, from, num)                                                                        \
  for (int v = 0; v < RITZ_IN_PACK; v++) (to)[v] = v < (num) ? (from)[v] : 0
#define RITZ_COPY_ONE(to, from, num) (*(to) = (num) ? *(from) : 0)
#endif

// Whether lines are neighbours, and packs of them at multiples of 16 bytes.
RITZ_INLINE int ritz_has_packs(RITZ_GLOBAL const RitzEntry *p, RitzLong along, RitzLong across) {
  return along == 1 && across % RITZ_IN_PACK == 0 && ((size_t)p & 15) == 0;
}

// `lines` lines of `length` entries, zeros behind has_lines and has_length.
RITZ_INLINE void ritz_bring_lines(RITZ_GLOBAL const RitzEntry *p, RitzLong along, RitzLong across, int lines,
                                  int length, int has_lines, int has_length, int is_packed, int far,
                                  RITZ_SHARED RitzEntry *to) {
  if (is_packed) {
    const int in_line = length / RITZ_IN_PACK, all = in_line * lines;
    RITZ_UNROLL
    for (int turn = 0; turn < (all + RITZ_THREADS - 1) / RITZ_THREADS; turn++) {
      const int e = RITZ_THREAD + turn * RITZ_THREADS, line = e / in_line, at = e % in_line * RITZ_IN_PACK;
      int num = line < has_lines ? has_length - at : 0;
      num = num < 0 ? 0 : num > RITZ_IN_PACK ? RITZ_IN_PACK : num;
      if (all % RITZ_THREADS == 0 || e < all)
        RITZ_COPY_PACK(to + line * far + at, num ? p + line * across + at : p, num);
    }
  } else {
    RITZ_ROLL
    for (int e = RITZ_THREAD; e < length * lines; e += RITZ_THREADS) {
      const int line = e / length, at = e % length, is_there = line < has_lines && at < has_length;
      RITZ_COPY_ONE(to + line * far + at, is_there ? p + line * across + at * along : p, is_there);
    }
  }
}

// Products from place.first on.
RITZ_INLINE void ritz_bring_parts(RitzMatrix A, RitzMatrix B, RitzTurn place, RITZ_SHARED RitzEntry *part) {
  const int rows = RITZ_LEFT(RITZ_M, RITZ_ROWS_HERE, place.m, place.row0);
  const int cols = RITZ_LEFT(RITZ_N, RITZ_COLS_HERE, place.n, place.col0);
  const int num = RITZ_LEFT(RITZ_K, RITZ_PART, place.k, place.first);
  RITZ_GLOBAL const RitzEntry *a = &RITZ_AT(A, place.row0, place.first);
  RITZ_GLOBAL const RitzEntry *b = &RITZ_AT(B, place.first, place.col0);
#ifdef RITZ_TURNED_A
  ritz_bring_lines(a, A.cs, A.rs, RITZ_A_LINES, RITZ_A_LENGTH, rows, num, ritz_has_packs(A.p, A.cs, A.rs),
                   RITZ_A_FAR, part);
#else
  ritz_bring_lines(a, A.rs, A.cs, RITZ_A_LINES, RITZ_A_LENGTH, num, rows, ritz_has_packs(A.p, A.rs, A.cs),
                   RITZ_A_FAR, part);
#endif
  part += RITZ_A_SIZE;
#ifdef RITZ_TURNED_B
  ritz_bring_lines(b, B.cs, B.rs, RITZ_B_LINES, RITZ_B_LENGTH, num, cols, ritz_has_packs(B.p, B.cs, B.rs),
                   RITZ_B_FAR, part);
#else
  ritz_bring_lines(b, B.rs, B.cs, RITZ_B_LINES, RITZ_B_LENGTH, cols, num, ritz_has_packs(B.p, B.rs, B.cs),
                   RITZ_B_FAR, part);
#endif
}

// ---- Products ----

// Entries of a thread come in runs of neighbours of a column: run s has entries RITZ_RUN_ENTRY(s, v).
#ifdef RITZ_MMA

#define RITZ_DOWN            (RITZ_WARP_ROWS / 16)
#define RITZ_ACROSS          (RITZ_WARP_COLS / 8)
#define RITZ_RUN             2
#define RITZ_RUN_ENTRY(s, v) ((s) / 2 * 4 + (s) % 2 + 2 * (v))
#define RITZ_RUN_ROW(s)      ((s) / 2 / RITZ_ACROSS * 16 + RITZ_LANE / 4 * 2)
#define RITZ_RUN_COL_OF(s)   (RITZ_LANE % 4 * 2 + (s) % 2) // of its tile
#define RITZ_RUN_TILE(s)     ((s) / 2 % RITZ_ACROSS)
#ifdef RITZ_TURNED_B
#define RITZ_RUN_COL(s) (RITZ_RUN_TILE(s) / 2 * 16 + 2 * RITZ_RUN_COL_OF(s) + RITZ_RUN_TILE(s) % 2)
#else
#define RITZ_RUN_COL(s) (RITZ_RUN_TILE(s) * 8 + RITZ_RUN_COL_OF(s))
#endif

// Products k .. k + 8 of the warp's rows and columns.
RITZ_INLINE void ritz_read_rows(RITZ_SHARED const RitzEntry *a, int k, double (*rows)[4]) {
  const int g = RITZ_LANE / 4, t = RITZ_LANE % 4;
  RITZ_UNROLL
  for (int i = 0; i < RITZ_DOWN; i++) {
    RITZ_UNROLL
    for (int q = 0; q < 2; q++) {
#ifdef RITZ_TURNED_A
      const RitzPack x = RITZ_PACK(a + (16 * i + 2 * g + q) * RITZ_A_FAR + k + 2 * t);
      rows[i][q] = x.v[0], rows[i][2 + q] = x.v[1];
#else
      const RitzPack x = RITZ_PACK(a + (k + 2 * t + q) * RITZ_A_FAR + 16 * i + 2 * g);
      rows[i][2 * q] = x.v[0], rows[i][2 * q + 1] = x.v[1];
#endif
    }
  }
}

RITZ_INLINE void ritz_read_columns(RITZ_SHARED const RitzEntry *b, int k, double (*columns)[2]) {
  const int g = RITZ_LANE / 4, t = RITZ_LANE % 4;
  RITZ_UNROLL
  for (int j = 0; j < RITZ_ACROSS; j++) {
#ifdef RITZ_TURNED_B
    const RitzPack x = RITZ_PACK(b + (k + 2 * t + j % 2) * RITZ_B_FAR + j / 2 * 16 + 2 * g);
    columns[j / 2 * 2][j % 2] = x.v[0], columns[j / 2 * 2 + 1][j % 2] = x.v[1];
#else
    const RitzPack x = RITZ_PACK(b + (8 * j + g) * RITZ_B_FAR + k + 2 * t);
    columns[j][0] = x.v[0], columns[j][1] = x.v[1];
#endif
  }
}

RITZ_INLINE void ritz_multiply_parts(RITZ_SHARED const RitzEntry *a, RITZ_SHARED const RitzEntry *b,
                                     RitzEntry *sum) {
  RITZ_UNROLL
  for (int k = 0; k < RITZ_PART; k += 8) {
    double rows[RITZ_DOWN][4], columns[RITZ_ACROSS][2];
    ritz_read_rows(a, k, rows);
    ritz_read_columns(b, k, columns);
    RITZ_UNROLL
    for (int j = 0; j < RITZ_ACROSS; j++) {
      RITZ_UNROLL
      for (int i = 0; i < RITZ_DOWN; i++)
        ritz_mma_f64(rows[i], columns[j][0], columns[j][1], sum + 4 * (i * RITZ_ACROSS + j));
    }
  }
}

#else // 8 threads along rows, 4 along columns

#define RITZ_DOWN   (RITZ_WARP_ROWS / 8)
#define RITZ_ACROSS (RITZ_WARP_COLS / 4)
#ifdef RITZ_TURNED_A
#define RITZ_RUN     1
#define RITZ_OWN_ROW (RITZ_LANE % 8)
#else
#define RITZ_RUN     RITZ_IN_PACK
#define RITZ_OWN_ROW (RITZ_LANE % 8 * RITZ_IN_PACK)
#endif
#ifdef RITZ_TURNED_B
#define RITZ_COL_RUN RITZ_IN_PACK
#define RITZ_OWN_COL (RITZ_LANE / 8 * RITZ_IN_PACK)
#else
#define RITZ_COL_RUN 1
#define RITZ_OWN_COL (RITZ_LANE / 8)
#endif
#define RITZ_RUN_ENTRY(s, v) ((s)*RITZ_RUN + (v))
#define RITZ_RUN_ROW(s)      ((s) % (RITZ_DOWN / RITZ_RUN) * 8 * RITZ_RUN + RITZ_OWN_ROW)
#define RITZ_RUN_COLUMN(s)   ((s) / (RITZ_DOWN / RITZ_RUN))
#define RITZ_RUN_COL(s)                                                                                      \
  (RITZ_RUN_COLUMN(s) / RITZ_COL_RUN * 4 * RITZ_COL_RUN + RITZ_OWN_COL + RITZ_RUN_COLUMN(s) % RITZ_COL_RUN)

// Products k .. k + RITZ_IN_PACK of `num` rows or columns of the thread, whose runs are `step` threads apart.
// is_turned: neighbours of a line are products.
RITZ_INLINE void ritz_read_own(RITZ_SHARED const RitzEntry *lines, int far, int is_turned, int num, int step,
                               int k, RitzEntry (*own)[RITZ_IN_PACK]) {
  RITZ_UNROLL
  for (int i = 0; i < num; i++) {
    const int at = i % RITZ_IN_PACK;
    const RitzPack x = RITZ_PACK(is_turned ? lines + i * step * far + k
                                           : lines + (k + at) * far + i / RITZ_IN_PACK * RITZ_IN_PACK * step);
    RITZ_UNROLL
    for (int v = 0; v < RITZ_IN_PACK; v++) {
      if (is_turned)
        own[i][v] = x.v[v];
      else
        own[i - at + v][at] = x.v[v];
    }
  }
}

RITZ_INLINE void ritz_multiply_parts(RITZ_SHARED const RitzEntry *a, RITZ_SHARED const RitzEntry *b,
                                     RitzEntry *sum) {
  RITZ_ROLL
  for (int k = 0; k < RITZ_PART; k += RITZ_IN_PACK) {
    RitzEntry rows[RITZ_DOWN][RITZ_IN_PACK], columns[RITZ_ACROSS][RITZ_IN_PACK];
    ritz_read_own(a + RITZ_OWN_ROW * (RITZ_RUN == 1 ? RITZ_A_FAR : 1), RITZ_A_FAR, RITZ_RUN == 1, RITZ_DOWN,
                  8, k, rows);
    ritz_read_own(b + RITZ_OWN_COL * (RITZ_COL_RUN == 1 ? RITZ_B_FAR : 1), RITZ_B_FAR, RITZ_COL_RUN == 1,
                  RITZ_ACROSS, 4, k, columns);
    RITZ_UNROLL
    for (int v = 0; v < RITZ_IN_PACK; v++) {
      RITZ_UNROLL
      for (int j = 0; j < RITZ_ACROSS; j++) {
        RITZ_UNROLL
        for (int i = 0; i < RITZ_DOWN; i++) sum[j * RITZ_DOWN + i] += rows[i][v] * columns[j][v];
      }
    }
  }
}

#endif

// C = alpha sum + beta C, what the warp has of it.
RITZ_INLINE void ritz_store_sums(RitzMatrix C, RitzTurn place, RitzEntry alpha, RitzEntry beta,
                                 const RitzEntry *sum) {
  const int is_packed = RITZ_RUN == RITZ_IN_PACK && ritz_has_packs(C.p, C.rs, C.cs);
  const int row0 = RITZ_WARP % RITZ_TILE_ROWS * RITZ_WARP_ROWS;
  const int col0 = RITZ_WARP / RITZ_TILE_ROWS * RITZ_WARP_COLS;
  const int rows = RITZ_LEFT(RITZ_M, RITZ_ROWS_HERE, place.m, place.row0) - row0;
  const int cols = RITZ_LEFT(RITZ_N, RITZ_COLS_HERE, place.n, place.col0) - col0;
  RITZ_GLOBAL RitzEntry *corner = &RITZ_AT(C, place.row0 + row0, place.col0 + col0);
  RITZ_UNROLL
  for (int s = 0; s < RITZ_ENTRIES / RITZ_RUN; s++) {
    const int row = RITZ_RUN_ROW(s), col = RITZ_RUN_COL(s);
    RITZ_GLOBAL RitzEntry *p = corner + row * C.rs + col * C.cs;
    if (col >= cols) continue;
    if (is_packed && row + RITZ_RUN <= rows) {
      RitzPack x;
      RITZ_UNROLL
      for (int v = 0; v < RITZ_RUN; v++) x.v[v] = alpha * sum[RITZ_RUN_ENTRY(s, v)];
      if (beta != 0) {
        const RitzPack old = *(RITZ_GLOBAL const RitzPack *)p;
        RITZ_UNROLL
        for (int v = 0; v < RITZ_RUN; v++) x.v[v] += beta * old.v[v];
      }
      *(RITZ_GLOBAL RitzPack *)p = x;
    } else {
      RITZ_UNROLL
      for (int v = 0; v < RITZ_RUN; v++) {
        const RitzEntry product = alpha * sum[RITZ_RUN_ENTRY(s, v)];
        if (row + v < rows) p[v * C.rs] = beta == 0 ? product : product + beta * p[v * C.rs];
      }
    }
  }
}

// place.item or the next one of the block that is inside of its matrix. Without a factor nothing is read: no
// products.
#define RITZ_FIND(place)                                                                                     \
  for (; (place).item < end; (place).item += RITZ_NUM_BLOCKS) {                                              \
    const int part = (int)((place).item % (rows * cols));                                                    \
    (place).i = RITZ_MEMBER((place).item / (rows * cols));                                                   \
    RITZ_KNOW_SIZES((place).i);                                                                              \
    (place).row0 = part % rows * RITZ_ROWS_HERE, (place).col0 = part / rows * RITZ_COLS_HERE;                \
    (place).m = m, (place).n = n, (place).k = num, (place).first = 0;                                        \
    if ((place).row0 < m && (place).col0 < n) break;                                                         \
  }

// C = alpha A B + beta C
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_MEMORY(parts);
  const RitzEntry alpha = (RitzEntry)RITZ_DOUBLE(alpha_bits), beta = (RitzEntry)RITZ_DOUBLE(beta_bits);
  const int rows = (RITZ_M + RITZ_ROWS_HERE - 1) / RITZ_ROWS_HERE;
  const int cols = (RITZ_N + RITZ_COLS_HERE - 1) / RITZ_COLS_HERE;
  const RitzLong end = RITZ_NUM_TURNS * rows * cols;
  RITZ_SHARED const RitzEntry *a =
      parts + RITZ_WARP % RITZ_TILE_ROWS * RITZ_WARP_ROWS * (RITZ_A_LINES == RITZ_PART ? 1 : RITZ_A_FAR);
  RITZ_SHARED const RitzEntry *b =
      parts + RITZ_A_SIZE +
      RITZ_WARP / RITZ_TILE_ROWS * RITZ_WARP_COLS * (RITZ_B_LINES == RITZ_PART ? 1 : RITZ_B_FAR);
  RitzEntry sum[RITZ_ENTRIES];
  RitzTurn next = {RITZ_BLOCK, 0, 0, 0, 0, 0, 0, 0}, now;
  RITZ_UNROLL
  for (int e = 0; e < RITZ_ENTRIES; e++) sum[e] = 0;
  RITZ_FIND(next);
  now = next;
  RITZ_ROLL
  for (int stage = 0, ahead = RITZ_STAGES - 1; now.item < end;) {
    RITZ_WAIT(RITZ_STAGES - 2);
    RITZ_BARRIER();
    if (next.item < end && alpha != 0) {
      const RitzMatrix A = RITZ_MATRIX(A, next.i, next.m, next.k), B = RITZ_MATRIX(B, next.i, next.k, next.n);
      ritz_bring_parts(A, B, next, parts + stage * (RITZ_A_SIZE + RITZ_B_SIZE));
      next.first += RITZ_PART;
      if (next.first >= next.k) {
        next.item += RITZ_NUM_BLOCKS;
        RITZ_FIND(next);
      }
    }
    RITZ_BROUGHT();
    stage = stage + 1 < RITZ_STAGES ? stage + 1 : 0;
    if (ahead > 0) {
      ahead--;
    } else {
      if (alpha != 0)
        ritz_multiply_parts(a + stage * (RITZ_A_SIZE + RITZ_B_SIZE), b + stage * (RITZ_A_SIZE + RITZ_B_SIZE),
                            sum);
      now.first += RITZ_PART;
      if (now.first >= now.k || alpha == 0) {
        const RitzMatrix C = RITZ_MATRIX(C, now.i, now.m, now.n);
        ritz_store_sums(C, now, alpha, beta, sum);
        RITZ_UNROLL
        for (int e = 0; e < RITZ_ENTRIES; e++) sum[e] = 0;
        now.item += RITZ_NUM_BLOCKS;
        RITZ_FIND(now);
      }
    }
  }
  RITZ_WAIT(0);
}

#endif
