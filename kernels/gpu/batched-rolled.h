// SPDX-License-Identifier: BSD-2-Clause
// Batched LU with pivots and Cholesky of rows 33 to 64, a row a thread as in batched-rows.h, whose macros
// are defined in front, and RITZ_STAGE: steps that share their code. Unrolled, all steps would be more code
// than the caches of instructions hold.
//
// Columns that earlier stages have done stay in the last registers. The others, `width` of them, turn by one
// register a step: a[j - 1] = a[j] - factor line[j]. So the column of a step is always in a[0], and the one
// that it leaves behind, done, goes to a[width - 1]. In a stage, columns that are done turn with the others:
// there the line has zeros. The order of operations on an entry is that of batched-rows.h.
#ifndef RITZ_KERNELS_GPU_BATCHED_ROLLED_H
#define RITZ_KERNELS_GPU_BATCHED_ROLLED_H

#include "kernels/gpu/batched-rows.h"

#ifdef RITZ_GETRF
#define RITZ_STEPS (RITZ_M < RITZ_N ? RITZ_M : RITZ_N)
#else
#define RITZ_STEPS RITZ_N
#endif
#define RITZ_STAGES       ((RITZ_STEPS + RITZ_STAGE - 1) / RITZ_STAGE)
#define RITZ_WIDTH(stage) (RITZ_N - (stage)*RITZ_STAGE)
#define RITZ_STEPS_OF(stage)                                                                                 \
  (RITZ_STEPS - (stage)*RITZ_STAGE < RITZ_STAGE ? RITZ_STEPS - (stage)*RITZ_STAGE : RITZ_STAGE)

// The register that has a column at the end.
#define RITZ_REGISTER_OF(column)                                                                             \
  ((column) >= RITZ_STEPS                                                                                    \
       ? (column)-RITZ_STEPS                                                                                 \
       : RITZ_WIDTH((column) / RITZ_STAGE) - RITZ_STEPS_OF((column) / RITZ_STAGE) + (column) % RITZ_STAGE)

// a[j - 1] = a[j] + factor line[j] for 0 < j < width, a[width - 1] = last
#define RITZ_TURN(line, a, factor, last, width)                                                              \
  do {                                                                                                       \
    RITZ_UNROLL                                                                                              \
    for (int pack = 0; pack < RITZ_PACKS(RITZ_N); pack++) {                                                  \
      if (RITZ_PACK * pack >= (width)) continue;                                                             \
      const RitzPack values = (line)[pack];                                                                  \
      RITZ_UNROLL                                                                                            \
      for (int q = 0; q < RITZ_PACK; q++) {                                                                  \
        const int j = RITZ_PACK * pack + q;                                                                  \
        if (j > 0 && j < (width))                                                                            \
          (a)[j > 0 ? j - 1 : 0] = RITZ_FMA(factor, values.v[q], (a)[j < RITZ_N ? j : 0]);                   \
      }                                                                                                      \
    }                                                                                                        \
    (a)[(width)-1] = (last);                                                                                 \
  } while (0)

#ifdef RITZ_GETRF

// The first width - step of a, then zeros up to `width` -> line.
#define RITZ_PUBLISH_TURNED(line, a, width, step, num_steps)                                                 \
  do {                                                                                                       \
    RITZ_UNROLL                                                                                              \
    for (int pack = 0; pack < RITZ_PACKS(RITZ_N); pack++) {                                                  \
      RitzPack values;                                                                                       \
      if (RITZ_PACK * pack >= (width)) continue;                                                             \
      RITZ_UNROLL                                                                                            \
      for (int q = 0; q < RITZ_PACK; q++) {                                                                  \
        const int j = RITZ_PACK * pack + q;                                                                  \
        const int is_left = j < (width) - (num_steps) + 1 || j < (width) - (step);                           \
        values.v[q] = j < RITZ_N && is_left ? (a)[j < RITZ_N ? j : 0] : 0;                                   \
      }                                                                                                      \
      (line)[pack] = values;                                                                                 \
    }                                                                                                        \
  } while (0)

RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[2][2][RITZ_LINE_PACKS(RITZ_N)];
#ifdef __OPENCL_VERSION__
  RITZ_PIVOT_ARRAYS
#else
  RITZ_SHARED_ARRAY RitzCandidate candidates[2][2];
#endif
  RITZ_EACH_TURN(turn) {
    const RitzLong i = RITZ_MEMBER(turn);
    int row = RITZ_ROW;
    RITZ_HIDE(row, "r");
    RITZ_KNOW_SIZES(i);
    const int has_row = row < m;
    const RitzMatrix A = RITZ_MATRIX(A, i, m, n);
    RitzEntry a[RITZ_N];
    int place = row, swapped = row, failed = bad, is_done = !has_row;
    RITZ_GLOBAL RitzEntry *p = A.p + row * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      a[j] = has_row && j < n ? *p : 0;
      RITZ_NEXT(p, A.cs);
    }
    RITZ_UNROLL
    for (int stage = 0; stage < RITZ_STAGES; stage++) {
      RITZ_ROLL
      for (int step = 0; step < RITZ_STEPS_OF(stage); step++) {
        const int k = stage * RITZ_STAGE + step, is_step = k < m && k < n;
#ifdef __OPENCL_VERSION__
        int at;
        const int is_owner = row == RITZ_FIND_PIVOT(a[0], is_done, place, &at) && is_step;
        RITZ_SHARED RitzPack *line = lines[k & 1][0];
        if (is_owner) RITZ_PUBLISH_TURNED(line, a, RITZ_WIDTH(stage), step, RITZ_STEPS_OF(stage));
        RITZ_BARRIER();
#else // both warps publish, one is listened to: one barrier a step
        const unsigned lane = ritz_candidate(a[0], is_done, place);
        const int is_candidate = lane >> (RITZ_THREAD & 31) & 1;
        RitzPack *line = lines[k & 1][RITZ_THREAD / 32];
        ritz_propose(a[0], lane, place, candidates[k & 1]);
        if (is_candidate) RITZ_PUBLISH_TURNED(line, a, RITZ_WIDTH(stage), step, RITZ_STEPS_OF(stage));
        RITZ_BARRIER();
        const int chosen = ritz_choose(candidates[k & 1]), at = candidates[k & 1][chosen].place;
        const int is_owner = is_candidate && chosen == RITZ_THREAD / 32 && is_step;
        line = lines[k & 1][chosen];
#endif
        if (row == k && is_step) swapped = at;
        if (place == k && is_step) place = at;
        if (is_owner) place = k;
        is_done = is_done || is_owner;
        const RitzEntry d = is_step ? RITZ_OF(line, 0) : 1, last = a[0];
        const int is_singular = d == 0;
        if (is_singular && !failed) failed = k + 1;
        const RitzEntry l = ritz_quotient(last, is_singular ? 1 : d);
        const int has_factor = !is_done && !is_singular && is_step;
#ifndef RITZ_UNIFORM
        if (!is_step) {
          RITZ_UNROLL
          for (int j = 1; j < RITZ_WIDTH(stage); j++) a[j - 1] = a[j];
          a[RITZ_WIDTH(stage) - 1] = last;
          continue;
        }
#endif
        RITZ_TURN(line, a, has_factor ? -l : 0, has_factor ? l : last, RITZ_WIDTH(stage));
      }
    }
    p = A.p + place * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      if (has_row && j < n) *p = a[RITZ_REGISTER_OF(j)];
      RITZ_NEXT(p, A.cs);
    }
    if (ipiv && row < m && row < n) ipiv[i * ipiv_stride + row] = swapped + 1;
    if (info && row == 0) info[i] = failed;
    RITZ_BARRIER();
  }
}

#endif

#ifdef RITZ_POTRF

// As in batched-rows.h: A = L D L^T, at the end columns times the roots of D.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT) ritz_batched(RITZ_BATCH_PARAMETERS) {
  RITZ_SHARED_ARRAY RitzPack lines[2][RITZ_LINE_PACKS(RITZ_N)];
  RITZ_SHARED_ARRAY RitzEntry roots[RITZ_GROUP];
  RITZ_EACH_TURN(turn) {
    const RitzLong i = RITZ_MEMBER(turn);
    int row = RITZ_ROW;
    RITZ_HIDE(row, "r");
    RITZ_KNOW_SIZES(i);
    const int has_row = row < n;
    const RitzMatrix A = RITZ_MATRIX(A, i, n, n);
    RitzEntry a[RITZ_N], mine = 1;
    int failed = bad;
    RITZ_GLOBAL RitzEntry *p = A.p + row * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      a[j] = has_row && row >= j ? *p : 0;
      RITZ_NEXT(p, A.cs);
    }
    RITZ_UNROLL
    for (int stage = 0; stage < RITZ_STAGES; stage++) {
      RITZ_ROLL
      for (int step = 0; step < RITZ_STEPS_OF(stage); step++) {
        const int k = stage * RITZ_STAGE + step;
        RITZ_SHARED RitzPack *line = lines[k & 1];
        if (row >= k && row < RITZ_N) RITZ_OF(line, row - k) = a[0];
        if (row >= stage * RITZ_STAGE && row < k) RITZ_OF(line, row - k + RITZ_WIDTH(stage)) = 0;
        RITZ_BARRIER();
        RitzEntry d = k < n ? RITZ_OF(line, 0) : 1;
        if (!(d > 0)) {
          if (!failed) failed = k + 1;
          d = 1;
        }
        const RitzEntry factor = ritz_quotient(a[0], d);
        if (row == k) mine = d;
        // Columns before the failure hold the factor.
        RITZ_TURN(line, a, failed || row < k ? 0 : -factor, factor, RITZ_WIDTH(stage));
      }
    }
    roots[row] = RITZ_SQRT(mine);
    RITZ_BARRIER();
    p = A.p + row * A.rs;
    RITZ_UNROLL
    for (int j = 0; j < RITZ_N; j++) {
      if (has_row && row >= j) *p = a[RITZ_REGISTER_OF(j)] * roots[j];
      RITZ_NEXT(p, A.cs);
    }
    if (info && row == 0) info[i] = failed;
    RITZ_BARRIER();
  }
}

#endif

#endif
