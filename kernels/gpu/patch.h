// SPDX-License-Identifier: BSD-2-Clause
// One colour of a sweep over vertex patches on a box whose patches are all alike (core/patch-sweep.h,
// the lifted form). A block takes RITZ_PATCHES neighbours of a row, a thread one line of a patch in each
// step. The text in front (emit/gpu-patch.c) defines:
//
//   RITZ_DIM, RITZ_P            dimension 2 or 3, degree
//   RITZ_PATCHES, RITZ_THREADS  of a block
//   RITZ_ROW, RITZ_PLANE        strides of the array of a block
//   RITZ_RESIDENT               blocks of a multiprocessor
//   ritz_even, ritz_odd         S of even modes at the first p, of odd modes at the first p - 1 nodes
//   ritz_even_modes, ritz_odd_modes  S^T M, [mode][node] likewise, nodes of the closure
//   ritz_ends                   extension of the ends' sum to the first p nodes, then of their difference
//   ritz_coupling, ritz_lambda  by mode, for all threads alike; ritz_by_mode: pairs of them, by thread
//
// Directions: `outer` is the last one, `middle` the second of three, lines of `inner` are solved. Modes take
// the places of nodes: first along outer, then middle, then inner; the way back is the reverse. Values
// between steps:
//
//     cube [N along outer][rows][columns]   rows: interior; in 3D between the two ends along middle
//     caps [2][rows][columns]               sum and difference of the ends along outer
//     sides [2][N][interior columns]        sum and difference of the ends along middle, as modes
//
// Columns: the interior nodes of all patches along inner, N each, then the RITZ_PATCHES + 1 nodes where
// patches of this row end, which neighbours share. Lines along outer go between global memory and registers.
#ifndef RITZ_KERNELS_GPU_PATCH_H
#define RITZ_KERNELS_GPU_PATCH_H

#define RITZ_N        (2 * RITZ_P - 1) // nodes of the interior
#define RITZ_M        (2 * RITZ_P + 1) // nodes of the closure
#define RITZ_H        (RITZ_P - 1)     // odd modes
#define RITZ_COLUMNS  (RITZ_PATCHES * RITZ_N)
#define RITZ_ALL      (RITZ_COLUMNS + RITZ_PATCHES + 1)
#define RITZ_ROWS     (RITZ_DIM == 3 ? RITZ_N : 1)
#define RITZ_ALL_ROWS (RITZ_DIM == 3 ? RITZ_M : 1)
#define RITZ_FIRST    (RITZ_DIM - 2) // interior row
#define RITZ_CAP      (RITZ_ALL_ROWS * RITZ_ROW)
#define RITZ_SIDE     (RITZ_N * RITZ_COLUMNS)
#define RITZ_LINES    (RITZ_ROWS * RITZ_COLUMNS)
#define RITZ_ROUNDS   ((RITZ_LINES + RITZ_THREADS - 1) / RITZ_THREADS)
#define RITZ_CUBE     (RITZ_N * RITZ_PLANE)
// Lines so short that threads keep numbers from step to step; else registers are too few for it.
#define RITZ_SHORT      4
#define RITZ_KEEPS_ENDS (RITZ_ROUNDS == 1 && RITZ_P <= RITZ_SHORT)
#define RITZ_MEMORY     (RITZ_CUBE + 2 * RITZ_CAP + (RITZ_DIM - 2) * 2 * RITZ_SIDE)

// Numbers of tasks begin with the last thread: the last warps have fewer lines.
#define RITZ_TASK (RITZ_THREADS - 1 - RITZ_THREAD)

// ---- Lines in registers ----

RITZ_INLINE void ritz_split(int n, const RitzReal *x, RitzReal *even, RitzReal *odd) {
  RITZ_UNROLL
  for (int i = 0; i < n / 2; i++) {
    even[i] = x[i] + x[n - 1 - i];
    odd[i] = x[i] - x[n - 1 - i];
  }
  even[n / 2] = x[n / 2];
}

// to[k * stride] = numbers of a line made of x, which go out as soon as they are made: registers are few.
// `to` is in any memory, but not x.

// Nodes of the interior -> modes S^T.
#define RITZ_FORWARD(x, to, stride)                                                                          \
  do {                                                                                                       \
    RitzReal even[RITZ_P], odd[RITZ_P];                                                                      \
    ritz_split(RITZ_N, x, even, odd);                                                                        \
    RITZ_UNROLL                                                                                              \
    for (int j = 0; j < RITZ_P; j++) {                                                                       \
      RitzReal sum = ritz_even[j] * even[0];                                                                 \
      RITZ_UNROLL                                                                                            \
      for (int i = 1; i < RITZ_P; i++) sum += ritz_even[i * RITZ_P + j] * even[i];                           \
      (to)[j * (stride)] = sum;                                                                              \
    }                                                                                                        \
    RITZ_UNROLL                                                                                              \
    for (int j = 0; j < RITZ_H; j++) {                                                                       \
      RitzReal sum = ritz_odd[j] * odd[0];                                                                   \
      RITZ_UNROLL                                                                                            \
      for (int i = 1; i < RITZ_H; i++) sum += ritz_odd[i * RITZ_H + j] * odd[i];                             \
      (to)[(RITZ_P + j) * (stride)] = sum;                                                                   \
    }                                                                                                        \
  } while (0)

// Modes and the values at the ends -> nodes of the interior.
#define RITZ_BACK(first, last, x, to, stride)                                                                \
  do {                                                                                                       \
    const RitzReal sum = (first) + (last), difference = (first) - (last);                                    \
    RITZ_UNROLL                                                                                              \
    for (int i = 0; i < RITZ_P; i++) {                                                                       \
      RitzReal even = ritz_ends[i] * sum, odd = ritz_ends[RITZ_P + i] * difference;                          \
      RITZ_UNROLL                                                                                            \
      for (int j = 0; j < RITZ_P; j++) even += ritz_even[i * RITZ_P + j] * (x)[j];                           \
      if (i < RITZ_H) {                                                                                      \
        RITZ_UNROLL                                                                                          \
        for (int j = 0; j < RITZ_H; j++) odd += ritz_odd[i * RITZ_H + j] * (x)[RITZ_P + j];                  \
        (to)[i * (stride)] = even + odd;                                                                     \
        (to)[(RITZ_N - 1 - i) * (stride)] = even - odd;                                                      \
      } else {                                                                                               \
        (to)[i * (stride)] = even;                                                                           \
      }                                                                                                      \
    }                                                                                                        \
  } while (0)

// Nodes of the closure -> modes S^T M.
#define RITZ_MODES(x, to, stride)                                                                            \
  do {                                                                                                       \
    RitzReal even[RITZ_P + 1], odd[RITZ_P + 1];                                                              \
    ritz_split(RITZ_M, x, even, odd);                                                                        \
    RITZ_UNROLL                                                                                              \
    for (int j = 0; j < RITZ_P; j++) {                                                                       \
      RitzReal sum = ritz_even_modes[j * (RITZ_P + 1)] * even[0];                                            \
      RITZ_UNROLL                                                                                            \
      for (int i = 1; i <= RITZ_P; i++) sum += ritz_even_modes[j * (RITZ_P + 1) + i] * even[i];              \
      (to)[j * (stride)] = sum;                                                                              \
    }                                                                                                        \
    RITZ_UNROLL                                                                                              \
    for (int j = 0; j < RITZ_H; j++) {                                                                       \
      RitzReal sum = ritz_odd_modes[j * RITZ_P] * odd[0];                                                    \
      RITZ_UNROLL                                                                                            \
      for (int i = 1; i < RITZ_P; i++) sum += ritz_odd_modes[j * RITZ_P + i] * odd[i];                       \
      (to)[(RITZ_P + j) * (stride)] = sum;                                                                   \
    }                                                                                                        \
  } while (0)

RITZ_INLINE void ritz_get_line(int n, RITZ_SHARED const RitzReal *from, int stride, RitzReal *x) {
  RITZ_UNROLL
  for (int i = 0; i < n; i++) x[i] = from[i * stride];
}

// The closure along inner of a patch in a row of columns.
RITZ_INLINE void ritz_get_closure(RITZ_SHARED const RitzReal *row, int patch, RitzReal *x) {
  x[0] = row[RITZ_COLUMNS + patch];
  ritz_get_line(RITZ_N, row + patch * RITZ_N, 1, x + 1);
  x[RITZ_M - 1] = row[RITZ_COLUMNS + patch + 1];
}

// 1 / x within some units in the last place.
RITZ_INLINE RitzReal ritz_reciprocal(RitzReal x) {
#ifdef __OPENCL_VERSION__
  return 1 / x;
#elif defined(CEED_SCALAR_IS_FP64) && !defined(RITZ_REAL_F32)
  double r, e;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  e = fma(-x, r, 1.0);
  e = fma(e, e, e);
  return fma(r, e, r);
#else
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#endif
}

// ---- Places ----

// Where a block is: its first patch's first node in global memory, patches that there are, strides.
typedef struct {
  RitzLong at, middle, outer;
  int inner, num;
} RitzPlace;

RITZ_INLINE RitzPlace ritz_place(RitzLong start, RitzLong middle, RitzLong outer, int num_comp, int num_inner,
                                 int num_middle) {
  const int blocks = (num_inner + RITZ_PATCHES - 1) / RITZ_PATCHES, step = 2 * RITZ_P;
  int block = (int)RITZ_BLOCK, i, c, j, k;
  RitzPlace place;
  i = block % blocks;
  block /= blocks;
  c = block % num_comp;
  block /= num_comp;
  j = block % num_middle;
  k = block / num_middle;
  place.middle = middle * num_comp;
  place.outer = outer * num_comp;
  place.inner = num_comp;
  place.at = start * num_comp + c +
             step * ((RitzLong)i * RITZ_PATCHES * num_comp + j * place.middle + k * place.outer);
  place.num = num_inner - i * RITZ_PATCHES < RITZ_PATCHES ? num_inner - i * RITZ_PATCHES : RITZ_PATCHES;
  return place;
}

RITZ_INLINE int ritz_has_column(const RitzPlace *place, int column) {
  return column < RITZ_COLUMNS ? column / RITZ_N < place->num : column - RITZ_COLUMNS <= place->num;
}

// First node of the line along outer at this row and column.
RITZ_INLINE RitzLong ritz_column_at(const RitzPlace *place, int row, int column) {
  const int node = column < RITZ_COLUMNS ? column / RITZ_N * (2 * RITZ_P) + 1 + column % RITZ_N
                                         : (column - RITZ_COLUMNS) * (2 * RITZ_P);
  return place->at + row * place->middle + node * place->inner;
}

// ---- Steps ----

RITZ_INLINE void ritz_put_caps(RitzReal first, RitzReal last, RITZ_SHARED RitzReal *caps) {
  caps[0] = first + last;
  caps[RITZ_CAP] = first - last;
}

// Right-hand side in the interior along outer.
RITZ_INLINE void ritz_begin_line(const RitzPlace *place, RITZ_GLOBAL const RitzReal *b, int line,
                                 RITZ_SHARED RitzReal *cube) {
  const int row = line / RITZ_COLUMNS + RITZ_FIRST, column = line % RITZ_COLUMNS;
  const RitzLong at = ritz_column_at(place, row, column);
  RitzReal r[RITZ_N];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_N; k++) r[k] = 0;
  if (ritz_has_column(place, column)) {
    RITZ_UNROLL
    for (int k = 0; k < RITZ_N; k++) r[k] = RITZ_LOAD(b + at + (k + 1) * place->outer);
  }
  RITZ_FORWARD(r, cube + row * RITZ_ROW + column, RITZ_PLANE);
}

// x at the ends of a line along outer.
RITZ_INLINE void ritz_get_ends(const RitzPlace *place, RITZ_GLOBAL const RitzReal *x, int line,
                               RitzReal *ends) {
  const int row = line / RITZ_COLUMNS + RITZ_FIRST, column = line % RITZ_COLUMNS;
  const RitzLong at = ritz_column_at(place, row, column);
  const int has = ritz_has_column(place, column);
  ends[0] = has ? x[at] : 0;
  ends[1] = has ? x[at + 2 * RITZ_P * place->outer] : 0;
}

RITZ_INLINE void ritz_begin_ends(const RitzPlace *place, RITZ_GLOBAL const RitzReal *x, int line,
                                 RitzReal *ends, RITZ_SHARED RitzReal *caps) {
  ritz_get_ends(place, x, line, ends);
  ritz_put_caps(ends[0], ends[1], caps + (line / RITZ_COLUMNS + RITZ_FIRST) * RITZ_ROW + line % RITZ_COLUMNS);
}

// A column around the interior, of x.
RITZ_INLINE void ritz_begin_edge(const RitzPlace *place, RITZ_GLOBAL const RitzReal *x, int row, int column,
                                 RITZ_SHARED RitzReal *cube, RITZ_SHARED RitzReal *caps) {
  const RitzLong at = ritz_column_at(place, row, column);
  RitzReal r[RITZ_M];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_M; k++) r[k] = 0;
  if (ritz_has_column(place, column)) {
    RITZ_UNROLL
    for (int k = 0; k < RITZ_M; k++) r[k] = x[at + k * place->outer];
  }
  ritz_put_caps(r[0], r[RITZ_M - 1], caps + row * RITZ_ROW + column);
  RITZ_MODES(r, cube + row * RITZ_ROW + column, RITZ_PLANE);
}

RITZ_INLINE void ritz_begin_edges(const RitzPlace *place, RITZ_GLOBAL const RitzReal *x,
                                  RITZ_SHARED RitzReal *cube, RITZ_SHARED RitzReal *caps) {
  const int num = RITZ_ROWS * (RITZ_PATCHES + 1), all = num + (RITZ_DIM - 2) * 2 * RITZ_ALL;
  RITZ_ROLL
  for (int q = RITZ_TASK; q < all; q += RITZ_THREADS) {
    const int is_inner = q < num, e = q - num;
    const int row = is_inner ? q / (RITZ_PATCHES + 1) + RITZ_FIRST : e / RITZ_ALL * (2 * RITZ_P);
    const int column = is_inner ? RITZ_COLUMNS + q % (RITZ_PATCHES + 1) : e % RITZ_ALL;
    ritz_begin_edge(place, x, row, column, cube, caps);
  }
}

// Modes along middle of a column: x at the ends between patches, and the caps.
RITZ_INLINE void ritz_middle_column(RITZ_SHARED RitzReal *column) {
  RitzReal r[RITZ_M];
  ritz_get_line(RITZ_M, column, RITZ_ROW, r);
  RITZ_MODES(r, column + RITZ_ROW, RITZ_ROW);
}

// Sum (sign 1) or difference (-1) of the ends along middle of patch `patch` in plane w, as modes along inner.
RITZ_INLINE void ritz_middle_side(RITZ_SHARED const RitzReal *plane, int patch, RitzReal sign,
                                  RITZ_SHARED RitzReal *side) {
  RITZ_SHARED const RitzReal *last = plane + 2 * RITZ_P * RITZ_ROW;
  RitzReal r[RITZ_M];
  r[0] = plane[RITZ_COLUMNS + patch] + sign * last[RITZ_COLUMNS + patch];
  RITZ_UNROLL
  for (int i = 0; i < RITZ_N; i++) r[i + 1] = plane[patch * RITZ_N + i] + sign * last[patch * RITZ_N + i];
  r[RITZ_M - 1] = plane[RITZ_COLUMNS + patch + 1] + sign * last[RITZ_COLUMNS + patch + 1];
  RITZ_MODES(r, side + patch * RITZ_N, 1);
}

RITZ_INLINE void ritz_middle_edges(RITZ_SHARED RitzReal *cube, RITZ_SHARED RitzReal *caps,
                                   RITZ_SHARED RitzReal *sides) {
  const int num_caps = 2 * RITZ_ALL, num_ends = num_caps + RITZ_N * (RITZ_PATCHES + 1);
  const int num_side = RITZ_N * RITZ_PATCHES, all = num_ends + 2 * num_side;
  RITZ_ROLL
  for (int q = RITZ_TASK; q < all; q += RITZ_THREADS) {
    const int e = q - num_caps, s = q - num_ends, t = s % num_side;
    if (q < num_ends)
      ritz_middle_column(q < num_caps ? caps + q / RITZ_ALL * RITZ_CAP + q % RITZ_ALL
                                      : cube + e / (RITZ_PATCHES + 1) * RITZ_PLANE + RITZ_COLUMNS +
                                            e % (RITZ_PATCHES + 1));
    else
      ritz_middle_side(cube + t / RITZ_PATCHES * RITZ_PLANE, t % RITZ_PATCHES, s < num_side ? 1 : -1,
                       sides + s / num_side * RITZ_SIDE + t / RITZ_PATCHES * RITZ_COLUMNS);
  }
}

// Nodes to modes along middle, or back.
RITZ_INLINE void ritz_middle_line(int is_back, RITZ_SHARED RitzReal *plane) {
  RitzReal r[RITZ_N];
  ritz_get_line(RITZ_N, plane + RITZ_ROW, RITZ_ROW, r);
  if (is_back)
    RITZ_BACK(plane[0], plane[2 * RITZ_P * RITZ_ROW], r, plane + RITZ_ROW, RITZ_ROW);
  else
    RITZ_FORWARD(r, plane + RITZ_ROW, RITZ_ROW);
}

RITZ_INLINE void ritz_middle_lines(int is_back, RITZ_SHARED RitzReal *cube) {
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const int line = RITZ_THREAD + round * RITZ_THREADS;
    if (line < RITZ_LINES)
      ritz_middle_line(is_back, cube + line / RITZ_COLUMNS * RITZ_PLANE + line % RITZ_COLUMNS);
  }
}

// Modes along inner of the caps.
RITZ_INLINE void ritz_inner_edges(RITZ_SHARED RitzReal *caps) {
  RITZ_ROLL
  for (int q = RITZ_TASK; q < 2 * RITZ_ROWS * RITZ_PATCHES; q += RITZ_THREADS) {
    const int patch = q % RITZ_PATCHES, e = q / RITZ_PATCHES;
    RITZ_SHARED RitzReal *row = caps + e / RITZ_ROWS * RITZ_CAP + (e % RITZ_ROWS + RITZ_FIRST) * RITZ_ROW;
    RitzReal r[RITZ_M];
    ritz_get_closure(row, patch, r);
    RITZ_MODES(r, row + patch * RITZ_N, 1);
  }
}

typedef struct {
  RitzReal inner, middle, outer, mass;
} RitzFactors;

// r: modes of the right-hand side on a line along inner at mode w along outer, v along middle; to: nodes of
// the line.
RITZ_INLINE void ritz_solve_line(RitzFactors c, int patch, int w, int v, RITZ_SHARED const RitzReal *cube,
                                 RITZ_SHARED const RitzReal *caps, RITZ_SHARED const RitzReal *sides,
                                 RitzReal *r, RITZ_SHARED RitzReal *to) {
  RITZ_SHARED const RitzReal *row = cube + w * RITZ_PLANE + (v + RITZ_FIRST) * RITZ_ROW;
  RITZ_SHARED const RitzReal *cap =
      caps + (w < RITZ_P ? 0 : RITZ_CAP) + (v + RITZ_FIRST) * RITZ_ROW + patch * RITZ_N;
  const RitzReal first = row[RITZ_COLUMNS + patch], last = row[RITZ_COLUMNS + patch + 1];
  const RitzReal sum = c.inner * (first + last), difference = c.inner * (first - last);
  const RitzReal of_cap = c.outer * ritz_by_mode[2 * w];
  RitzReal rest = c.mass + c.outer * ritz_by_mode[2 * w + 1];
#if RITZ_DIM == 3
  RITZ_SHARED const RitzReal *side = sides + (v < RITZ_P ? 0 : RITZ_SIDE) + w * RITZ_COLUMNS + patch * RITZ_N;
  const RitzReal of_side = c.middle * ritz_by_mode[2 * v];
  rest += c.middle * ritz_by_mode[2 * v + 1];
#endif
  RITZ_UNROLL
  for (int i = 0; i < RITZ_N; i++) {
    RitzReal right = r[i] - ritz_coupling[i] * (i < RITZ_P ? sum : difference) - of_cap * cap[i];
#if RITZ_DIM == 3
    right -= of_side * side[i];
#endif
    r[i] = right * ritz_reciprocal(c.inner * ritz_lambda[i] + rest);
  }
  RITZ_BACK(first, last, r, to, 1);
}

// Lines along inner: neighbours in a row side by side, then modes along outer, then along middle.
RITZ_INLINE RITZ_SHARED RitzReal *ritz_inner_line(RITZ_SHARED RitzReal *cube, int line, int *patch, int *w,
                                                  int *v) {
  *patch = line % RITZ_PATCHES;
  *w = line / RITZ_PATCHES % RITZ_N;
  *v = line / (RITZ_PATCHES * RITZ_N);
  return cube + *w * RITZ_PLANE + (*v + RITZ_FIRST) * RITZ_ROW + *patch * RITZ_N;
}

RITZ_INLINE void ritz_inner_lines(RitzFactors c, RITZ_SHARED RitzReal *cube, RITZ_SHARED RitzReal *caps,
                                  RITZ_SHARED const RitzReal *sides) {
  RitzReal r[RITZ_N];
  int patch, w, v;
#if RITZ_LINES <= RITZ_THREADS && RITZ_P <= RITZ_SHORT
  // The transform needs nothing of the caps.
  RITZ_SHARED RitzReal *at = ritz_inner_line(cube, RITZ_THREAD, &patch, &w, &v);
  if (RITZ_THREAD < RITZ_LINES) {
    RitzReal line[RITZ_N];
    ritz_get_line(RITZ_N, at, 1, line);
    RITZ_FORWARD(line, r, 1);
  }
  ritz_inner_edges(caps);
  RITZ_BARRIER();
  if (RITZ_THREAD < RITZ_LINES) {
    ritz_solve_line(c, patch, w, v, cube, caps, sides, r, at);
  }
#else
  ritz_inner_edges(caps);
  RITZ_BARRIER();
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const int line = RITZ_THREAD + round * RITZ_THREADS;
    RITZ_SHARED RitzReal *at = ritz_inner_line(cube, line, &patch, &w, &v);
    RitzReal nodes[RITZ_N];
    if (line >= RITZ_LINES) continue;
    ritz_get_line(RITZ_N, at, 1, nodes);
    RITZ_FORWARD(nodes, r, 1);
    ritz_solve_line(c, patch, w, v, cube, caps, sides, r, at);
  }
#endif
  RITZ_BARRIER();
}

RITZ_INLINE void ritz_end_line(const RitzPlace *place, int line, const RitzReal *ends,
                               RITZ_SHARED const RitzReal *cube, RITZ_GLOBAL RitzReal *x) {
  const int row = line / RITZ_COLUMNS + RITZ_FIRST, column = line % RITZ_COLUMNS;
  const RitzLong at = ritz_column_at(place, row, column);
  RitzReal r[RITZ_N];
  if (!ritz_has_column(place, column)) return;
  ritz_get_line(RITZ_N, cube + row * RITZ_ROW + column, RITZ_PLANE, r);
  RITZ_BACK(ends[0], ends[1], r, x + at + place->outer, place->outer);
}

// ---- The kernel ----

RITZ_INLINE void ritz_begin(const RitzPlace *place, RITZ_GLOBAL const RitzReal *b,
                            RITZ_SHARED RitzReal *cube) {
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const int line = RITZ_THREAD + round * RITZ_THREADS;
    if (line < RITZ_LINES) ritz_begin_line(place, b, line, cube);
  }
}

// From the right-hand side's modes along outer to x.
RITZ_INLINE void ritz_step(const RitzPlace *place, RitzFactors c, RITZ_GLOBAL RitzReal *x,
                           RITZ_SHARED RitzReal *cube) {
  RITZ_SHARED RitzReal *caps = cube + RITZ_CUBE, *sides = caps + 2 * RITZ_CAP;
  RitzReal ends[RITZ_ROUNDS][2];
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const int line = RITZ_THREAD + round * RITZ_THREADS;
    if (line < RITZ_LINES) ritz_begin_ends(place, x, line, ends[round], caps);
  }
  ritz_begin_edges(place, x, cube, caps);
  RITZ_BARRIER();
#if RITZ_DIM == 3
  ritz_middle_lines(0, cube);
  ritz_middle_edges(cube, caps, sides);
  RITZ_BARRIER();
#endif
  ritz_inner_lines(c, cube, caps, sides);
#if RITZ_DIM == 3
  ritz_middle_lines(1, cube);
  RITZ_BARRIER();
#endif
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const int line = RITZ_THREAD + round * RITZ_THREADS;
    if (line >= RITZ_LINES) continue;
    if (!RITZ_KEEPS_ENDS) ritz_get_ends(place, x, line, ends[round]);
    ritz_end_line(place, line, ends[round], cube, x);
  }
}

RITZ_INLINE RitzFactors ritz_factors(CeedScalar inner, CeedScalar middle, CeedScalar outer, CeedScalar mass) {
  RitzFactors c;
  c.inner = (RitzReal)inner;
  c.middle = (RitzReal)middle;
  c.outer = (RitzReal)outer;
  c.mass = (RitzReal)mass;
  return c;
}

// One colour. start: first node of the closure of the first patch. Patches are 2 RITZ_P nodes apart:
// num_inner in a row, num_middle rows (1 in two dimensions) and as many layers as there are blocks for.
// middle, outer: strides of nodes. Each component of a node is a patch of its own.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT)
ritz_patch(RitzLong start, RitzLong middle, RitzLong outer, int num_comp, int num_inner, int num_middle,
           CeedScalar c_inner, CeedScalar c_middle, CeedScalar c_outer, CeedScalar c_mass,
           RITZ_GLOBAL const RitzReal *RITZ_RESTRICT b, RITZ_GLOBAL RitzReal *x) {
  RITZ_SHARED_MEMORY(cube, RITZ_MEMORY);
  const RitzPlace place = ritz_place(start, middle, outer, num_comp, num_inner, num_middle);
  ritz_begin(&place, b, cube);
  ritz_step(&place, ritz_factors(c_inner, c_middle, c_outer, c_mass), x, cube);
}

#endif
