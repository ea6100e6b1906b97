// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on CUDA devices: C -= A B by tensor cores, of floats. The text in front defines RITZ_ENTRY_F32
// and one of RITZ_MMA_F16, RITZ_MMA_BF16, RITZ_MMA_TF32, RITZ_MMA_TF32X3.
//
// A block of 8 warps makes a tile of 128 x 128, a warp 64 x 32 of it as 4 x 4 products of 16 x 8 (PTX ISA,
// mma.m16n8k16 and m16n8k8). Operands lie in shared memory as words, along k: a word is an operand, or two
// neighbours of 16 bits. Then all products take the same words: thread 4 g + t has words t and t + 4 of rows
// g and g + 8 of A and of column g of B. Lines are 20 words apart, which no two threads of a read share a
// bank for.
#ifndef RITZ_KERNELS_GPU_DENSE_MMA_H
#define RITZ_KERNELS_GPU_DENSE_MMA_H

#include "kernels/gpu/dense-solver.h"

enum { RITZ_TILE = 128, RITZ_WORDS = 16, RITZ_PITCH = 20, RITZ_HELD = 8 };

typedef unsigned RitzWord;
typedef struct RITZ_ALIGN16 {
  RitzWord of[4];
} RitzWords; // that are read or written at once
#if defined(RITZ_MMA_F16) || defined(RITZ_MMA_BF16)
enum { RITZ_PER_WORD = 2 };
#else
enum { RITZ_PER_WORD = 1 };
#endif
// Two blocks a multiprocessor: one computes while the other waits for its operands.
#ifdef RITZ_MMA_TF32X3
enum { RITZ_NUM_PARTS = 2, RITZ_RESIDENT = 1 };
#else
enum { RITZ_NUM_PARTS = 1, RITZ_RESIDENT = 2 };
#endif

// d += a b
RITZ_INLINE void ritz_multiply(const RitzWord *a, const RitzWord *b, RitzEntry *d) {
#ifdef RITZ_MMA_F16
#define RITZ_MMA_KIND "m16n8k16.row.col.f32.f16.f16.f32"
#elif defined(RITZ_MMA_BF16)
#define RITZ_MMA_KIND "m16n8k16.row.col.f32.bf16.bf16.f32"
#else
#define RITZ_MMA_KIND "m16n8k8.row.col.f32.tf32.tf32.f32"
#endif
  asm volatile("mma.sync.aligned." RITZ_MMA_KIND " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Word i of entries v; part 1: of what part 0 leaves.
RITZ_INLINE RitzWord ritz_word(const RitzEntry *v, int i, int part) {
  RitzWord word;
#ifdef RITZ_MMA_F16
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(v[2 * i + 1]), "f"(v[2 * i]));
#elif defined(RITZ_MMA_BF16)
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(v[2 * i + 1]), "f"(v[2 * i]));
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(v[i]));
  if (part == 1) {
    const float rest = v[i] - __uint_as_float(word);
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(rest));
  }
#endif
  return word;
}

// The thread's share of 128 lines, RITZ_WORDS words of each: entry (line, p) is at from[line + p ld] where
// lines lie side by side (a thread has 8 words of a line), else at from[p + line ld] (a word of 8 lines).
RITZ_INLINE void ritz_fetch(const RitzEntry *from, RitzLong ld, int is_side_by_side, RitzEntry *v) {
  if (is_side_by_side) {
    const RitzEntry *p =
        from + RITZ_THREAD % RITZ_TILE + RITZ_THREAD / RITZ_TILE * (RITZ_HELD * RITZ_PER_WORD) * ld;
    RITZ_UNROLL
    for (int i = 0; i < RITZ_HELD * RITZ_PER_WORD; i++) v[i] = p[i * ld];
  } else {
    const RitzEntry *p = from + RITZ_THREAD % RITZ_WORDS * RITZ_PER_WORD + RITZ_THREAD / RITZ_WORDS * ld;
    RITZ_UNROLL
    for (int i = 0; i < RITZ_HELD; i++) {
      RITZ_UNROLL
      for (int e = 0; e < RITZ_PER_WORD; e++) v[i * RITZ_PER_WORD + e] = p[e + i * 16 * ld];
    }
  }
}

// Lines lie 16 bytes times an odd number apart, so that 8 threads that write 16 bytes each share no bank.
RITZ_INLINE void ritz_keep(const RitzEntry *v, int is_side_by_side, RitzWord *to) {
  RITZ_UNROLL
  for (int part = 0; part < RITZ_NUM_PARTS; part++) {
    RitzWord *const of_part = to + part * RITZ_TILE * RITZ_PITCH;
    if (is_side_by_side) {
      RitzWords *const line =
          (RitzWords *)(of_part + RITZ_THREAD % RITZ_TILE * RITZ_PITCH + RITZ_THREAD / RITZ_TILE * RITZ_HELD);
      RITZ_UNROLL
      for (int i = 0; i < RITZ_HELD; i += 4) {
        const RitzWords words = {{ritz_word(v, i, part), ritz_word(v, i + 1, part), ritz_word(v, i + 2, part),
                                  ritz_word(v, i + 3, part)}};
        line[i / 4] = words;
      }
    } else {
      RitzWord *const place = of_part + RITZ_THREAD / RITZ_WORDS * RITZ_PITCH + RITZ_THREAD % RITZ_WORDS;
      RITZ_UNROLL
      for (int i = 0; i < RITZ_HELD; i++) place[i * 16 * RITZ_PITCH] = ritz_word(v, i, part);
    }
  }
}

RITZ_INLINE void ritz_multiply_tile(const RitzWord *a, const RitzWord *b, RitzEntry (*sum)[4][4]) {
  const int g = RITZ_THREAD % 32 / 4, t = RITZ_THREAD % 4;
  RITZ_UNROLL
  for (int s = 0; s < RITZ_WORDS; s += 8) {
    RitzWord y[4][2];
    RITZ_UNROLL
    for (int j = 0; j < 4; j++) {
      y[j][0] = b[(j * 8 + g) * RITZ_PITCH + s + t];
      y[j][1] = b[(j * 8 + g) * RITZ_PITCH + s + t + 4];
    }
    RITZ_UNROLL
    for (int i = 0; i < 4; i++) {
      RitzWord x[4];
      RITZ_UNROLL
      for (int e = 0; e < 4; e++) x[e] = a[(i * 16 + g + e % 2 * 8) * RITZ_PITCH + s + t + e / 2 * 4];
      RITZ_UNROLL
      for (int j = 0; j < 4; j++) ritz_multiply(x, y[j], sum[i][j]);
    }
  }
}

// A: entry (i, p) at F[at_A + i + p ld]; B: entry (p, j) at F[at_B + p + j ld] or, is_transposed, at
// F[at_B + j + p ld]; C at F[at_C + i + j ld]. k: a multiple of 32. num_tiles: of rows.
RITZ_KERNEL_RESIDENT(256, RITZ_RESIDENT)
ritz_update_mma(RitzLong ld, RitzEntry *F, RitzLong at_C, RitzLong at_A, RitzLong at_B, int is_transposed,
                int num_rows, int num_cols, int k, int num_tiles, int is_lower) {
  RITZ_SHARED_ARRAY RITZ_ALIGN16 RitzWord a[RITZ_NUM_PARTS * RITZ_TILE * RITZ_PITCH];
  RITZ_SHARED_ARRAY RITZ_ALIGN16 RitzWord b[RITZ_NUM_PARTS * RITZ_TILE * RITZ_PITCH];
  const int row = (int)(RITZ_BLOCK % num_tiles) * RITZ_TILE, col = (int)(RITZ_BLOCK / num_tiles) * RITZ_TILE;
  const int warp = RITZ_THREAD / 32, g = RITZ_THREAD % 32 / 4, t = RITZ_THREAD % 4;
  const int warp_row = warp % 2 * 64, warp_col = warp / 2 * 32;
  const RitzLong step = is_transposed ? ld : 1;
  const RitzWord *const own_a = a + warp_row * RITZ_PITCH, *const own_b = b + warp_col * RITZ_PITCH;
  RitzEntry sum[4][4][4], v[RITZ_HELD * RITZ_PER_WORD], w[RITZ_HELD * RITZ_PER_WORD];
  if (is_lower && row + RITZ_TILE <= col) return;
  const RitzEntry *const A = F + at_A + row, *const B = F + at_B + (is_transposed ? col : col * ld);
  RitzEntry *const C = F + at_C;
  RITZ_UNROLL
  for (int i = 0; i < 64; i++) (&sum[0][0][0])[i] = 0;
  ritz_fetch(A, ld, 1, v);
  ritz_fetch(B, ld, is_transposed, w);
  for (int first = 0; first < k; first += RITZ_WORDS * RITZ_PER_WORD) {
    const int next = first + RITZ_WORDS * RITZ_PER_WORD;
    ritz_keep(v, 1, a);
    ritz_keep(w, is_transposed, b);
    RITZ_BARRIER();
    if (next < k) {
      ritz_fetch(A + next * ld, ld, 1, v);
      ritz_fetch(B + next * step, ld, is_transposed, w);
    }
    ritz_multiply_tile(own_a, own_b, sum);
#ifdef RITZ_MMA_TF32X3
    ritz_multiply_tile(own_a + RITZ_TILE * RITZ_PITCH, own_b, sum);
    ritz_multiply_tile(own_a, own_b + RITZ_TILE * RITZ_PITCH, sum);
#endif
    RITZ_BARRIER();
  }
  RITZ_UNROLL
  for (int i = 0; i < 4; i++) {
    RITZ_UNROLL
    for (int j = 0; j < 4; j++) {
      RITZ_UNROLL
      for (int e = 0; e < 4; e++) {
        const int r = row + warp_row + i * 16 + g + e / 2 * 8, c = col + warp_col + j * 8 + 2 * t + e % 2;
        if (r < num_rows && c < num_cols) C[r + c * ld] -= sum[i][j][e];
      }
    }
  }
}

#endif
