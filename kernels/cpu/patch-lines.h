// SPDX-License-Identifier: BSD-2-Clause
// Products of 1D tables of patches with lines of values (core/patch-sweep.h has their meaning). Where all
// patches are alike tables are literals of the text, split into even and odd parts: modes 0 .. p - 1 are
// even, p .. 2p - 2 odd, and the two values at the ends of a line are kept as sum and difference. Else tables
// are data, in x one for each lane, and the ends are low and high.
#ifndef RITZ_KERNELS_CPU_PATCH_LINES_H
#define RITZ_KERNELS_CPU_PATCH_LINES_H

#include "kernels/cpu/line.h"
#include "kernels/cpu/patch-rows.h"

#if RITZ_P_IS_LARGE
#define RITZ_EACH RITZ_ROLLED
#else
#define RITZ_EACH RITZ_UNROLL
#endif

#if RITZ_IS_UNIFORM

// A line of `num` (odd) values as sums and differences; the middle is the last of the sums.
typedef struct {
  RitzVec e[RITZ_P + 1], o[RITZ_P + 1];
} RitzPatchValues;

RITZ_INLINE void ritz_patch_split(int num, const RitzVec *u, int su, RitzPatchValues *line) {
  RITZ_UNROLL for (int i = 0; i < num / 2; i++) {
    const RitzVec a = u[i * su], b = u[(num - 1 - i) * su];
    line->e[i] = a + b;
    line->o[i] = a - b;
  }
  line->e[num / 2] = u[num / 2 * su];
}

RITZ_INLINE void ritz_patch_ends(RitzVec *low, RitzVec *high) {
  const RitzVec a = *low, b = *high;
  *low = a + b;
  *high = a - b;
}

// y = S^T u
RITZ_INLINE void ritz_patch_forward(int d, const RitzReal *table, const RitzVec *u, int su, RitzVec *y,
                                    int sy) {
  RitzPatchValues line;
  (void)d, (void)table;
  ritz_patch_split(RITZ_N, u, su, &line);
  RITZ_EACH for (int k = 0; k < RITZ_P; k++) y[k * sy] = ritz_dot(RITZ_P, ritz_forward_even[k], line.e);
  RITZ_EACH for (int k = 0; k < RITZ_H; k++) y[(RITZ_P + k) * sy] =
      ritz_dot(RITZ_H, ritz_forward_odd[k], line.o);
}

// u = S y and, in the lifted form, the extensions of the ends.
RITZ_INLINE void ritz_patch_back(int d, const RitzReal *table, const RitzVec *y, int sy, RitzVec first,
                                 RitzVec second, RitzVec *u, int su) {
  RitzVec x[RITZ_N];
  (void)d, (void)table;
  RITZ_UNROLL for (int k = 0; k < RITZ_N; k++) x[k] = y[k * sy];
  RITZ_EACH for (int i = 0; i < RITZ_H; i++) {
    RitzVec e = ritz_dot(RITZ_P, ritz_back_even[i], x), o = ritz_dot(RITZ_H, ritz_back_odd[i], x + RITZ_P);
#if RITZ_IS_LIFTED
    e += ritz_extension_even[i] * first;
    o += ritz_extension_odd[i] * second;
#endif
    u[i * su] = e + o;
    u[(RITZ_N - 1 - i) * su] = e - o;
  }
  u[RITZ_H * su] = ritz_dot(RITZ_P, ritz_back_even[RITZ_H], x);
#if RITZ_IS_LIFTED
  u[RITZ_H * su] += ritz_extension_even[RITZ_H] * first;
#endif
}

#if RITZ_IS_LIFTED
// y = modes of a line of the closure.
RITZ_INLINE void ritz_patch_modes(int d, const RitzReal *table, const RitzVec *u, int su, RitzVec *y,
                                  int sy) {
  RitzPatchValues line;
  (void)d, (void)table;
  ritz_patch_split(RITZ_M, u, su, &line);
  RITZ_EACH for (int k = 0; k < RITZ_P; k++) y[k * sy] = ritz_dot(RITZ_P + 1, ritz_modes_even[k], line.e);
  RITZ_EACH for (int k = 0; k < RITZ_H; k++) y[(RITZ_P + k) * sy] =
      ritz_dot(RITZ_P, ritz_modes_odd[k], line.o);
}

// The stiffness of mode k by the values at the ends, times a factor.
RITZ_INLINE RitzVec ritz_patch_couple(int d, const RitzReal *table, int k, RitzVec first, RitzVec second) {
  (void)d, (void)table;
  return ritz_coupling[k] * (k < RITZ_P ? first : second);
}
#endif

#define RITZ_ROWS(name, even, odd)                                                                           \
  RITZ_INLINE void name(int d, const RitzReal *table, const RitzPatchValues *u, RitzVec *y) {                \
    (void)d, (void)table;                                                                                    \
    RITZ_EACH for (int i = 0; i < RITZ_H; i++) {                                                             \
      const RitzVec e = ritz_dot(RITZ_P + 1, even[i], u->e), o = ritz_dot(RITZ_P, odd[i], u->o);             \
      y[i] = e + o;                                                                                          \
      y[RITZ_N - 1 - i] = e - o;                                                                             \
    }                                                                                                        \
    y[RITZ_H] = ritz_dot(RITZ_P + 1, even[RITZ_H], u->e);                                                    \
  }

#else

// Places of the members of a table.
enum {
  RITZ_AT_A = 0,
  RITZ_AT_M = RITZ_AT_A + RITZ_N * RITZ_M,
  RITZ_AT_S = RITZ_AT_M + RITZ_N * RITZ_M,
  RITZ_AT_LAMBDA = RITZ_AT_S + RITZ_N * RITZ_N,
  RITZ_AT_MODES = RITZ_AT_LAMBDA + RITZ_N,
  RITZ_AT_COUPLING = RITZ_AT_MODES + RITZ_N * RITZ_M,
  RITZ_AT_EXTENSION = RITZ_AT_COUPLING + 2 * RITZ_N,
  RITZ_TABLE = RITZ_AT_EXTENSION + 2 * RITZ_N
};

typedef struct {
  RitzVec v[RITZ_M];
} RitzPatchValues;

RITZ_INLINE RitzVec ritz_patch_entry(int d, const RitzReal *table, int i) {
  return d == 0 ? ((const RitzVec *)table)[i] : ritz_splat(table[i]);
}

RITZ_INLINE void ritz_patch_split(int num, const RitzVec *u, int su, RitzPatchValues *line) {
  RITZ_UNROLL for (int i = 0; i < num; i++) line->v[i] = u[i * su];
}

RITZ_INLINE void ritz_patch_ends(RitzVec *low, RitzVec *high) { (void)low, (void)high; }

// Entries first, first + step, ... of the table times x.
RITZ_INLINE RitzVec ritz_patch_dot(int d, const RitzReal *table, int num, int first, int step,
                                   const RitzVec *x) {
  RitzVec s = ritz_patch_entry(d, table, first) * x[0];
  RITZ_UNROLL for (int i = 1; i < num; i++) s += ritz_patch_entry(d, table, first + i * step) * x[i];
  return s;
}

RITZ_INLINE void ritz_patch_modes(int d, const RitzReal *table, const RitzVec *u, int su, RitzVec *y,
                                  int sy) {
  RitzPatchValues line;
  ritz_patch_split(RITZ_M, u, su, &line);
  RITZ_ROLLED for (int k = 0; k < RITZ_N; k++) y[k * sy] =
      ritz_patch_dot(d, table, RITZ_M, RITZ_AT_MODES + k * RITZ_M, 1, line.v);
}

RITZ_INLINE void ritz_patch_forward(int d, const RitzReal *table, const RitzVec *u, int su, RitzVec *y,
                                    int sy) {
  RitzPatchValues line;
  ritz_patch_split(RITZ_N, u, su, &line);
  RITZ_ROLLED for (int k = 0; k < RITZ_N; k++) y[k * sy] =
      ritz_patch_dot(d, table, RITZ_N, RITZ_AT_S + k, RITZ_N, line.v);
}

RITZ_INLINE void ritz_patch_back(int d, const RitzReal *table, const RitzVec *y, int sy, RitzVec first,
                                 RitzVec second, RitzVec *u, int su) {
  RitzPatchValues line;
  ritz_patch_split(RITZ_N, y, sy, &line);
  RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) {
    RitzVec v = ritz_patch_dot(d, table, RITZ_N, RITZ_AT_S + i * RITZ_N, 1, line.v);
#if RITZ_IS_LIFTED
    v += ritz_patch_entry(d, table, RITZ_AT_EXTENSION + i) * first;
    v += ritz_patch_entry(d, table, RITZ_AT_EXTENSION + RITZ_N + i) * second;
#endif
    u[i * su] = v;
  }
}

RITZ_INLINE RitzVec ritz_patch_couple(int d, const RitzReal *table, int k, RitzVec first, RitzVec second) {
  return ritz_patch_entry(d, table, RITZ_AT_COUPLING + k) * first +
         ritz_patch_entry(d, table, RITZ_AT_COUPLING + RITZ_N + k) * second;
}

#define RITZ_ROWS(name, even, odd)                                                                           \
  RITZ_INLINE void name(int d, const RitzReal *table, const RitzPatchValues *u, RitzVec *y) {                \
    RITZ_ROLLED for (int i = 0; i < RITZ_N; i++) y[i] =                                                      \
        ritz_patch_dot(d, table, RITZ_M, name##_at + i * RITZ_M, 1, u->v);                                   \
  }
enum { ritz_patch_stiffness_at = RITZ_AT_A, ritz_patch_mass_at = RITZ_AT_M };

#endif

#if RITZ_IS_RESIDUAL || RITZ_IS_BOUNDARY
// y [n] = rows of the interior nodes of stiffness and mass, of a line of the closure.
RITZ_ROWS(ritz_patch_stiffness, ritz_stiffness_even, ritz_stiffness_odd)
RITZ_ROWS(ritz_patch_mass, ritz_mass_even, ritz_mass_odd)
#endif

// 1 / (sum of eigenvalues times factors): the line of all last modes k, of modes i, j of the first and the
// middle direction (2D: j = 0).
RITZ_INLINE RitzVec ritz_patch_scale(const RitzPatch *p, int i, int j, int k) {
#if RITZ_IS_UNIFORM
  return ritz_splat(((const RitzReal *)p->args->inverse)[(j * RITZ_N + i) * RITZ_N + k]);
#else
  const RitzReal *c = (const RitzReal *)p->args->factor;
  RitzVec sum = c[0] * ritz_patch_entry(0, p->tables[0], RITZ_AT_LAMBDA + i) + c[3];
  if (RITZ_DIM == 3) sum += c[1] * ritz_patch_entry(1, p->tables[1], RITZ_AT_LAMBDA + j);
  return 1 / (sum + c[RITZ_DIM - 1] * ritz_patch_entry(1, p->tables[RITZ_DIM - 1], RITZ_AT_LAMBDA + k));
#endif
}

#endif
