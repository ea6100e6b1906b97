// SPDX-License-Identifier: BSD-2-Clause
// A sweep over vertex patches, or one colour of it, on a box whose patches are all alike (core/patch-sweep.h,
// the lifted form). A block takes RITZ_PATCHES neighbours of a row, a thread one line of a patch in each
// step. The text in front (emit/gpu-patch.c) defines:
//
//   RITZ_DIM, RITZ_P            dimension 2 or 3, degree
//   RITZ_PATCHES, RITZ_THREADS  of a block
//   RITZ_ROW, RITZ_PLANE        strides of the array of a block
//   RITZ_RESIDENT               blocks of a multiprocessor
//   RITZ_WAITS                  1: a launch is a whole sweep, whose blocks wait for each other; 0: one colour
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

// ---- Order of blocks ----

#if RITZ_WAITS

// Sweeps of one launch. Blocks take work by number, in an order in which whatever a patch waits for has a
// smaller number, so it is done or at work. Layers of positions along outer come in slabs, those of the first
// parity, then those of the second between them; in a slab colour after colour. `done` counts, for each layer
// and row of positions, the blocks that have written x; a block waits for the rows around its own that come
// earlier in the order of colours.

// What a block does.
typedef struct {
  RitzLong at;              // RitzPlace
  int num;                  // -1: nothing
  int layer, row, later[3]; // position along outer, middle; of the later parity by direction
  int blocks[2];            // of a row: earlier and later parity along inner
} RitzTurn;

// Numbers of the sweep: positions along middle and outer; for each direction, inner first, of the earlier and
// of the later parity first position and how many; layers of a slab; those by which the later parity's are
// behind.
#define RITZ_COUNT(direction)        numbers[(direction)-1]
#define RITZ_START(direction, later) numbers[2 + 4 * (direction) + 2 * (later)]
#define RITZ_NUM(direction, later)   numbers[3 + 4 * (direction) + 2 * (later)]
#define RITZ_SLAB                    numbers[14]
#define RITZ_SHIFT                   numbers[15]

RITZ_INLINE int ritz_row_blocks(int num) { return (num + RITZ_PATCHES - 1) / RITZ_PATCHES; }

#ifdef __OPENCL_VERSION__
#define RITZ_GLOBAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
RITZ_INLINE int ritz_take_number(RITZ_GLOBAL int *counter) {
  return atomic_inc((volatile RITZ_GLOBAL int *)counter);
}
RITZ_INLINE void ritz_await(RITZ_GLOBAL int *counter, int wanted) {
  while (atomic_add((volatile RITZ_GLOBAL int *)counter, 0) < wanted) {
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
}
RITZ_INLINE void ritz_tell(RITZ_GLOBAL int *counter) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  atomic_inc((volatile RITZ_GLOBAL int *)counter);
}
#else
#define RITZ_GLOBAL_BARRIER() __syncthreads()
RITZ_INLINE int ritz_take_number(int *counter) { return atomicAdd(counter, 1); }
RITZ_INLINE void ritz_await(int *counter, int wanted) {
  while (*(volatile int *)counter < wanted) {
#if __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
  }
  __threadfence();
}
RITZ_INLINE void ritz_tell(int *counter) {
  __threadfence();
  atomicAdd(counter, 1);
}
#endif

// Of block `number`, by one thread.
RITZ_INLINE void ritz_turn(RITZ_GLOBAL const int *numbers, int number, int num_comp, RitzLong middle,
                           RitzLong outer, RITZ_SHARED RitzTurn *turn) {
  const int slab = RITZ_SLAB, blocks_0 = ritz_row_blocks(RITZ_NUM(0, 0)) * num_comp;
  const int blocks_1 = ritz_row_blocks(RITZ_NUM(0, 1)) * num_comp;
  const int of_slab = slab * (blocks_0 + blocks_1) * (RITZ_NUM(1, 0) + RITZ_NUM(1, 1));
  const int is_later = number / of_slab % 2;
  int rest = number % of_slab, later_row, later, row_blocks, size, layer, i, left;
  size = slab * (blocks_0 + blocks_1) * RITZ_NUM(1, 0);
  later_row = rest >= size;
  rest -= later_row * size;
  size = slab * blocks_0 * RITZ_NUM(1, later_row);
  later = rest >= size;
  rest -= later * size;
  row_blocks = later ? blocks_1 : blocks_0;
  size = row_blocks * RITZ_NUM(1, later_row); // of a layer
  layer = number / of_slab / 2 * slab + rest / size - is_later * RITZ_SHIFT;
  rest %= size;
  i = rest % row_blocks / num_comp * RITZ_PATCHES;
  left = RITZ_NUM(0, later) - i;
  turn->layer = RITZ_START(2, is_later) + 2 * layer;
  turn->row = RITZ_START(1, later_row) + 2 * (rest / row_blocks);
  turn->later[0] = later;
  turn->later[1] = later_row;
  turn->later[2] = is_later;
  turn->blocks[0] = blocks_0;
  turn->blocks[1] = blocks_1;
  turn->num = layer < 0 || layer >= RITZ_NUM(2, is_later) ? -1 : left < RITZ_PATCHES ? left : RITZ_PATCHES;
  turn->at = rest % row_blocks % num_comp +
             RITZ_P * num_comp * (RITZ_START(0, later) + 2 * i + turn->row * middle + turn->layer * outer);
}

// Thread k asks for one of the nine rows around.
RITZ_INLINE void ritz_await_rows(RITZ_GLOBAL const int *numbers, RITZ_SHARED const RitzTurn *turn, int k,
                                 RITZ_GLOBAL int *done) {
  const int to_layer = k / 3 - 1, to_row = k % 3 - 1, layer = turn->layer + to_layer,
            row = turn->row + to_row;
  const int all = turn->blocks[0] + turn->blocks[1];
  const int wanted = to_layer ? turn->later[2] * all
                     : to_row ? turn->later[1] * all
                              : turn->later[0] * turn->blocks[0];
  if (layer < 0 || layer >= RITZ_COUNT(2) || row < 0 || row >= RITZ_COUNT(1)) return;
  if (wanted > 0) ritz_await(done + layer * RITZ_COUNT(1) + row, wanted);
}

#endif

// ---- Kernels ----

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

#if RITZ_WAITS

// A sweep. middle, outer: strides of nodes. counters: zeros, 1 and one for each position along middle and
// outer. Each component of a node is a patch of its own.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT)
ritz_patch(RitzLong middle, RitzLong outer, int num_comp, RITZ_GLOBAL const int *numbers,
           RITZ_GLOBAL int *counters, CeedScalar c_inner, CeedScalar c_middle, CeedScalar c_outer,
           CeedScalar c_mass, RITZ_GLOBAL const RitzReal *RITZ_RESTRICT b, RITZ_GLOBAL RitzReal *x) {
  RITZ_SHARED_ARRAY RitzTurn turn[1];
  RITZ_SHARED_MEMORY(cube, RITZ_MEMORY);
  RitzPlace place;
  if (RITZ_THREAD == 0) ritz_turn(numbers, ritz_take_number(counters), num_comp, middle, outer, turn);
  RITZ_BARRIER();
  place.at = turn[0].at;
  place.middle = middle * num_comp;
  place.outer = outer * num_comp;
  place.inner = num_comp;
  place.num = turn[0].num;
#ifndef __OPENCL_VERSION__ // where it goes through the motions: PoCL 3.1 loses blocks when some return before
                           // barriers
  if (place.num < 0) return;
#endif
  ritz_begin(&place, b, cube);
  if (place.num > 0 && RITZ_THREAD < 9) ritz_await_rows(numbers, turn, RITZ_THREAD, counters + 1);
  RITZ_GLOBAL_BARRIER();
  ritz_step(&place, ritz_factors(c_inner, c_middle, c_outer, c_mass), x, cube);
  RITZ_GLOBAL_BARRIER();
  if (place.num > 0 && RITZ_THREAD == 0)
    ritz_tell(counters + 1 + turn[0].layer * RITZ_COUNT(1) + turn[0].row);
}

#else

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

#endif
