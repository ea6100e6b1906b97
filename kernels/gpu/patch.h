// SPDX-License-Identifier: BSD-2-Clause
// One colour of a sweep over vertex patches on a box whose patches are all alike (core/patch-sweep.h,
// the lifted form). A block takes RITZ_PATCHES neighbours of a row, a thread one line of a patch in each
// step. The text in front (emit/gpu-patch.c) defines:
//
//   RITZ_DIM, RITZ_P            dimension 2 or 3, degree
//   RITZ_PATCHES, RITZ_THREADS  of a block
//   RITZ_PLANE                  stride of the array of a block
//   RITZ_STEP                   of modes along middle, modulo N, from line to line along inner
//   RITZ_RESIDENT               blocks of a multiprocessor
//   ritz_even, ritz_odd         S of even modes at the first p, of odd modes at the first p - 1 nodes
//   ritz_even_modes, ritz_odd_modes  S^T M, [mode][node] likewise, nodes of the closure
//   ritz_ends                   extension of the ends' sum to the first p nodes, then of their difference
//   ritz_coupling, ritz_lambda  by mode, for all threads alike; ritz_by_mode: pairs of them, by thread
//   ritz_edges [RITZ_EDGES]     columns of nodes around the interior along outer, some more than once: place
//                               in a plane, 65536 row, 2^22 node along inner
//
// Directions: `outer` is the last one, `middle` the second of three, lines of `inner` are solved. Modes take
// the places of nodes: first along outer, then middle, then inner; the way back is the reverse. Values
// between steps:
//
//     cube [N along outer][places of a plane], then sum and difference of the ends along outer (caps)
//     sides [2][N][interior columns]: sum and difference of the ends along middle, as modes
//
// A plane: the interior nodes along inner of all patches, [rows][N each]; then the RITZ_PATCHES + 1 nodes
// where patches of a row end, which neighbours share, [rows][RITZ_PATCHES + 1]. Rows: the interior, in 3D
// between the two ends along middle. Lines of neighbouring threads so begin in neighbouring places, from row
// to row and, by the choice of RITZ_PLANE, from plane to plane. Lines along outer go between global memory
// and registers.
#ifndef RITZ_KERNELS_GPU_PATCH_H
#define RITZ_KERNELS_GPU_PATCH_H

#define RITZ_N               (2 * RITZ_P - 1) // nodes of the interior
#define RITZ_M               (2 * RITZ_P + 1) // nodes of the closure
#define RITZ_H               (RITZ_P - 1)     // odd modes
#define RITZ_COLUMNS         (RITZ_PATCHES * RITZ_N)
#define RITZ_BETWEEN         (RITZ_PATCHES + 1) // ends of patches in a row
#define RITZ_ROWS            (RITZ_DIM == 3 ? RITZ_N : 1)
#define RITZ_ALL_ROWS        (RITZ_DIM == 3 ? RITZ_M : 1)
#define RITZ_FIRST           (RITZ_DIM - 2)                 // interior row
#define RITZ_ENDS            (RITZ_ALL_ROWS * RITZ_COLUMNS) // of a plane
#define RITZ_CAPS            (RITZ_N * RITZ_PLANE)
#define RITZ_SIDES           (RITZ_CAPS + 2 * RITZ_PLANE)
#define RITZ_SIDE            (RITZ_N * RITZ_COLUMNS)
#define RITZ_LINES           (RITZ_ROWS * RITZ_COLUMNS)
#define RITZ_ROUNDS          ((RITZ_LINES + RITZ_THREADS - 1) / RITZ_THREADS)
#define RITZ_HAS_LINE(round) (RITZ_THREAD + (round)*RITZ_THREADS < RITZ_LINES)
#define RITZ_MEMORY          (RITZ_SIDES + (RITZ_DIM - 2) * 2 * RITZ_SIDE)
// Lines so short that threads keep numbers from step to step; else registers are too few for it.
#define RITZ_SHORT      4
#define RITZ_KEEPS_ENDS (RITZ_ROUNDS == 1 && (RITZ_P <= RITZ_SHORT || sizeof(RitzReal) == 4))

// Numbers of tasks begin with the last thread: the last warps have fewer lines. Tasks of another kind begin
// with another warp.
#define RITZ_TASK(thread) (RITZ_THREADS - 1 - (thread))
#define RITZ_WARPS(n)     (((n) + 31) / 32 * 32)

// ---- For NVIDIA's compiler ----

// An index whose origin the compiler can't see is not computed again in each branch, nor in 8 bits with
// masks: ritz_keep hides it.

#ifdef __OPENCL_VERSION__

RITZ_INLINE unsigned ritz_keep(unsigned i) { return i; }
RITZ_INLINE RITZ_GLOBAL RitzReal *ritz_keep_global(RITZ_GLOBAL RitzReal *p) { return p; }
RITZ_INLINE RITZ_SHARED RitzReal *ritz_keep_shared(RITZ_SHARED RitzReal *p) { return p; }

#else

RITZ_INLINE unsigned ritz_keep(unsigned i) {
  asm volatile("" : "+r"(i));
  return i;
}

RITZ_INLINE RitzReal *ritz_keep_global(RitzReal *p) {
  size_t address = __cvta_generic_to_global(p);
  asm volatile("" : "+l"(address));
  return (RitzReal *)__cvta_global_to_generic(address);
}

RITZ_INLINE RitzReal *ritz_keep_shared(RitzReal *p) {
  unsigned address = (unsigned)__cvta_generic_to_shared(p);
  asm volatile("" : "+r"(address));
  return (RitzReal *)__cvta_shared_to_generic(address);
}

#endif

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

// The closure along inner of a patch: its interior, and its ends.
RITZ_INLINE void ritz_get_closure(RITZ_SHARED const RitzReal *inside, RITZ_SHARED const RitzReal *ends,
                                  RitzReal *x) {
  x[0] = ends[0];
  ritz_get_line(RITZ_N, inside, 1, x + 1);
  x[RITZ_M - 1] = ends[1];
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

// Where a block is: its first patch's first node in global memory, strides of nodes, last node along inner
// that there is.
typedef struct {
  RITZ_GLOBAL RitzReal *b, *x;
  int inner, middle, outer, last;
} RitzPlace;

// n / d for the reciprocal (2^32 - 1) / d, 0 <= n < 2^31; n becomes the rest.
RITZ_INLINE int ritz_divide(int *n, int d, unsigned reciprocal) {
  int quotient = (int)((RitzLong)(unsigned)*n * reciprocal >> 32); // or 1 less
  *n -= quotient * d;
  if (*n >= d) {
    *n -= d;
    quotient++;
  }
  return quotient;
}

// Nodes along inner: the end of a patch, then its interior.
RITZ_INLINE int ritz_node(unsigned column) { return (int)(column + column / RITZ_N + 1); }

// ---- Steps ----

// Entry of a node in a row; lines of patches that there are not take the last node that there is.
RITZ_INLINE int ritz_offset(const RitzPlace *place, int row, int node) {
  return row * place->middle + (node < place->last ? node : place->last) * place->inner;
}

RITZ_INLINE void ritz_put_caps(RitzReal first, RitzReal last, RITZ_SHARED RitzReal *to) {
  to[RITZ_CAPS] = first + last;
  to[RITZ_CAPS + RITZ_PLANE] = first - last;
}

// The interior along outer: right-hand side, and x at the ends.
RITZ_INLINE void ritz_begin_line(const RitzPlace *place, unsigned line, RitzReal *ends,
                                 RITZ_SHARED RitzReal *cube) {
  const RitzLong outer = place->outer;
  const int row = (int)(line / RITZ_COLUMNS) + RITZ_FIRST;
  const int at = ritz_offset(place, row, ritz_node(line % RITZ_COLUMNS));
  RITZ_SHARED RitzReal *to = cube + RITZ_FIRST * RITZ_COLUMNS + line;
  RITZ_GLOBAL RitzReal *b = place->b + at, *x = place->x + at;
  RitzReal r[RITZ_N];
  RITZ_UNROLL
  for (int k = 0; k < RITZ_N; k++) r[k] = RITZ_LOAD(b + (k + 1) * outer);
  ends[0] = x[0];
  ends[1] = x[2 * RITZ_P * outer];
  RITZ_FORWARD(r, to, RITZ_PLANE);
  ritz_put_caps(ends[0], ends[1], to);
}

// Columns around the interior, of x.
RITZ_INLINE void ritz_begin_edges(const RitzPlace *place, unsigned thread, RITZ_SHARED RitzReal *cube) {
  const RitzLong outer = place->outer;
  RITZ_ROLL
  for (unsigned q = RITZ_TASK(thread); q < RITZ_EDGES; q += RITZ_THREADS) {
    const unsigned edge = ritz_edges[q];
    RITZ_GLOBAL RitzReal *x = place->x + ritz_offset(place, (int)(edge >> 16 & 63), (int)(edge >> 22));
    RITZ_SHARED RitzReal *to = cube + (edge & 65535);
    RitzReal r[RITZ_M];
    RITZ_UNROLL
    for (int k = 0; k < RITZ_M; k++) r[k] = x[k * outer];
    ritz_put_caps(r[0], r[RITZ_M - 1], to);
    RITZ_MODES(r, to, RITZ_PLANE);
  }
}

// Sum and difference of the ends along middle of a patch in plane w, as modes along inner. Tasks take one of
// them, of short lines both.
#define RITZ_SIGNS (RITZ_P <= RITZ_SHORT ? 2 : 1)
RITZ_INLINE void ritz_middle_sides(unsigned task, RITZ_SHARED RitzReal *cube) {
  const unsigned num = RITZ_N * RITZ_PATCHES, is_second = RITZ_SIGNS == 1 && task >= num;
  const unsigned t = ritz_keep(is_second ? task - num : task), w = t / RITZ_PATCHES, patch = t % RITZ_PATCHES;
  RITZ_SHARED const RitzReal *inside = cube + w * RITZ_PLANE + patch * RITZ_N;
  RITZ_SHARED const RitzReal *ends = cube + w * RITZ_PLANE + RITZ_ENDS + patch;
  RITZ_SHARED RitzReal *side = cube + RITZ_SIDES + is_second * RITZ_SIDE + w * RITZ_COLUMNS + patch * RITZ_N;
  const RitzReal sign = is_second ? -1 : 1;
  RitzReal first[RITZ_M], last[RITZ_M], r[RITZ_M];
  ritz_get_closure(inside, ends, first);
  ritz_get_closure(inside + 2 * RITZ_P * RITZ_COLUMNS, ends + 2 * RITZ_P * RITZ_BETWEEN, last);
  RITZ_UNROLL
  for (int i = 0; i < RITZ_M; i++) r[i] = first[i] + sign * last[i];
  RITZ_MODES(r, side, 1);
  if (RITZ_SIGNS == 1) return;
  RITZ_UNROLL
  for (int i = 0; i < RITZ_M; i++) r[i] = first[i] - last[i];
  RITZ_MODES(r, side + RITZ_SIDE, 1);
}

// Modes along middle of the caps and of the ends between patches, and the sides.
RITZ_INLINE void ritz_middle_edges(unsigned thread, RITZ_SHARED RitzReal *cube) {
  const unsigned num_caps = 2 * RITZ_COLUMNS, num_ends = (RITZ_N + 2) * RITZ_BETWEEN;
  const unsigned num_sides = 2 / RITZ_SIGNS * RITZ_N * RITZ_PATCHES;
  const unsigned first_end = RITZ_WARPS(num_caps), first_side = first_end + RITZ_WARPS(num_ends);
  RITZ_ROLL
  for (unsigned q = RITZ_TASK(thread); q < first_side + num_sides; q += RITZ_THREADS) {
    RitzReal r[RITZ_M];
    if (q < first_end) {
      RITZ_SHARED RitzReal *column =
          cube + RITZ_CAPS + (q < RITZ_COLUMNS ? q : q + (RITZ_PLANE - RITZ_COLUMNS));
      if (q >= num_caps) continue;
      ritz_get_line(RITZ_M, column, RITZ_COLUMNS, r);
      RITZ_MODES(r, column + RITZ_COLUMNS, RITZ_COLUMNS);
    } else if (q < first_side) {
      const unsigned e = ritz_keep(q - first_end);
      RITZ_SHARED RitzReal *column = cube + RITZ_ENDS + e / RITZ_BETWEEN * RITZ_PLANE + e % RITZ_BETWEEN;
      if (e >= num_ends) continue;
      ritz_get_line(RITZ_M, column, RITZ_BETWEEN, r);
      RITZ_MODES(r, column + RITZ_BETWEEN, RITZ_BETWEEN);
    } else {
      ritz_middle_sides(q - first_side, cube);
    }
  }
}

// Nodes to modes along middle, or back.
RITZ_INLINE void ritz_middle_lines(int is_back, unsigned thread, RITZ_SHARED RitzReal *cube) {
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const unsigned line = thread + round * RITZ_THREADS;
    RITZ_SHARED RitzReal *inside =
        cube + line / RITZ_COLUMNS * RITZ_PLANE + line % RITZ_COLUMNS + RITZ_COLUMNS;
    RitzReal r[RITZ_N];
    if (!RITZ_HAS_LINE(round)) continue;
    ritz_get_line(RITZ_N, inside, RITZ_COLUMNS, r);
    if (is_back)
      RITZ_BACK(inside[-RITZ_COLUMNS], inside[RITZ_N * RITZ_COLUMNS], r, inside, RITZ_COLUMNS);
    else
      RITZ_FORWARD(r, inside, RITZ_COLUMNS);
  }
}

// Modes along inner of the caps.
RITZ_INLINE void ritz_inner_edges(unsigned thread, RITZ_SHARED RitzReal *cube) {
  const unsigned num = RITZ_ROWS * RITZ_PATCHES;
  RITZ_ROLL
  for (unsigned q = RITZ_TASK(thread); q < 2 * num; q += RITZ_THREADS) {
    const unsigned t = ritz_keep(q < num ? q : q - num), row = t / RITZ_PATCHES + RITZ_FIRST,
                   patch = t % RITZ_PATCHES;
    RITZ_SHARED RitzReal *plane = cube + RITZ_CAPS + (q < num ? 0 : RITZ_PLANE);
    RITZ_SHARED RitzReal *inside = plane + row * RITZ_COLUMNS + patch * RITZ_N;
    RitzReal r[RITZ_M];
    ritz_get_closure(inside, plane + RITZ_ENDS + row * RITZ_BETWEEN + patch, r);
    RITZ_MODES(r, inside, 1);
  }
}

typedef struct {
  RitzReal inner, middle, outer, mass;
} RitzFactors;

// A line along inner: at mode w along outer, v along middle.
typedef struct {
  int patch, w, v;
} RitzLine;

// Lines along inner: neighbours in a row side by side, then modes along outer, then along middle, in an order
// in which lines of neighbouring threads are in other banks.
RITZ_INLINE RitzLine ritz_inner_line(unsigned line) {
  RitzLine at;
  at.patch = (int)(line % RITZ_PATCHES);
  at.w = (int)(line / RITZ_PATCHES % RITZ_N);
  at.v = (int)(line / (RITZ_PATCHES * RITZ_N) * RITZ_STEP % RITZ_N);
  return at;
}

RITZ_INLINE RITZ_SHARED RitzReal *ritz_inside(RITZ_SHARED RitzReal *cube, RitzLine at) {
  return cube + at.w * RITZ_PLANE + (at.v + RITZ_FIRST) * RITZ_COLUMNS + at.patch * RITZ_N;
}

// r: modes of the nodes of a line along inner.
RITZ_INLINE void ritz_inner_modes(RitzLine at, RITZ_SHARED RitzReal *cube, RitzReal *r) {
  RitzReal nodes[RITZ_N];
  ritz_get_line(RITZ_N, ritz_inside(cube, at), 1, nodes);
  RITZ_FORWARD(nodes, r, 1);
}

// r: modes of the right-hand side on a line along inner; the line becomes nodes.
RITZ_INLINE void ritz_solve_line(RitzFactors c, RitzLine at, RitzReal *r, RITZ_SHARED RitzReal *cube) {
  RITZ_SHARED const RitzReal *cap = cube + RITZ_CAPS + (at.w < RITZ_P ? 0 : RITZ_PLANE) +
                                    (at.v + RITZ_FIRST) * RITZ_COLUMNS + at.patch * RITZ_N;
  RITZ_SHARED const RitzReal *ends =
      cube + RITZ_ENDS + at.w * RITZ_PLANE + (at.v + RITZ_FIRST) * RITZ_BETWEEN + at.patch;
  const RitzReal first = ends[0], last = ends[1];
  const RitzReal sum = c.inner * (first + last), difference = c.inner * (first - last);
  const RitzReal of_cap = c.outer * ritz_by_mode[2 * at.w];
  RitzReal rest = c.mass + c.outer * ritz_by_mode[2 * at.w + 1];
#if RITZ_DIM == 3
  RITZ_SHARED const RitzReal *side =
      cube + RITZ_SIDES + (at.v < RITZ_P ? 0 : RITZ_SIDE) + at.w * RITZ_COLUMNS + at.patch * RITZ_N;
  const RitzReal of_side = c.middle * ritz_by_mode[2 * at.v];
  rest += c.middle * ritz_by_mode[2 * at.v + 1];
#endif
  RITZ_UNROLL
  for (int i = 0; i < RITZ_N; i++) {
    RitzReal right = r[i] - ritz_coupling[i] * (i < RITZ_P ? sum : difference) - of_cap * cap[i];
#if RITZ_DIM == 3
    right -= of_side * side[i];
#endif
    r[i] = right * ritz_reciprocal(c.inner * ritz_lambda[i] + rest);
  }
  RITZ_BACK(first, last, r, ritz_inside(cube, at), 1);
}

RITZ_INLINE void ritz_inner_lines(RitzFactors c, unsigned thread, RITZ_SHARED RitzReal *cube) {
  RitzReal r[RITZ_N];
  RitzLine at;
  ritz_inner_edges(thread, cube);
#if RITZ_ROUNDS == 1 // the transform needs nothing of the caps: it is beside theirs
  at = ritz_inner_line(thread);
  if (RITZ_HAS_LINE(0)) ritz_inner_modes(at, cube, r);
#endif
  RITZ_BARRIER();
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    if (!RITZ_HAS_LINE(round)) continue;
    if (RITZ_ROUNDS > 1) {
      at = ritz_inner_line(thread + round * RITZ_THREADS);
      ritz_inner_modes(at, cube, r);
    }
    ritz_solve_line(c, at, r, cube);
  }
  RITZ_BARRIER();
}

RITZ_INLINE void ritz_end_line(const RitzPlace *place, unsigned line, const RitzReal *ends,
                               RITZ_SHARED const RitzReal *cube) {
  const RitzLong outer = place->outer;
  const int row = (int)(line / RITZ_COLUMNS) + RITZ_FIRST, node = ritz_node(line % RITZ_COLUMNS);
  RITZ_GLOBAL RitzReal *x;
  RitzReal r[RITZ_N], first = ends[0], last = ends[1];
  if (node >= place->last) return;
  x = place->x + ritz_offset(place, row, node);
  if (!RITZ_KEEPS_ENDS) {
    first = x[0];
    last = x[2 * RITZ_P * outer];
  }
  ritz_get_line(RITZ_N, cube + RITZ_FIRST * RITZ_COLUMNS + line, RITZ_PLANE, r);
  x += outer;
  RITZ_BACK(first, last, r, x, outer);
}

// ---- The kernel ----

RITZ_INLINE RitzFactors ritz_factors(CeedScalar inner, CeedScalar middle, CeedScalar outer, CeedScalar mass) {
  RitzFactors c;
  c.inner = (RitzReal)inner;
  c.middle = (RitzReal)middle;
  c.outer = (RitzReal)outer;
  c.mass = (RitzReal)mass;
  return c;
}

// One colour. start: first entry of the closure of the first patch. middle, outer: strides of entries.
// Patches are 2 RITZ_P nodes apart: num_inner in a row, num_middle rows (1 in two dimensions) and as many
// layers as there are blocks for. Blocks: num_blocks in a row of patches, components, rows, layers;
// inverse_...: (2^32 - 1) / number. Each component of a node is a patch of its own.
RITZ_KERNEL_RESIDENT(RITZ_THREADS, RITZ_RESIDENT)
ritz_patch(RitzLong start, int middle, int outer, int num_inner, int num_blocks, int num_comp, int num_middle,
           unsigned inverse_blocks, unsigned inverse_comp, unsigned inverse_middle, CeedScalar c_inner,
           CeedScalar c_middle, CeedScalar c_outer, CeedScalar c_mass,
           RITZ_GLOBAL const RitzReal *RITZ_RESTRICT b, RITZ_GLOBAL RitzReal *x) {
  RITZ_SHARED_MEMORY(memory, RITZ_MEMORY);
  RITZ_SHARED RitzReal *cube = ritz_keep_shared(memory);
  const unsigned thread = ritz_keep((unsigned)RITZ_THREAD);
  const RitzFactors factors = ritz_factors(c_inner, c_middle, c_outer, c_mass);
  int i = (int)RITZ_BLOCK, c, j, k, left;
  RitzReal ends[RITZ_ROUNDS][2];
  RitzPlace place;
  c = ritz_divide(&i, num_blocks, inverse_blocks);
  j = ritz_divide(&c, num_comp, inverse_comp);
  k = ritz_divide(&j, num_middle, inverse_middle);
  start +=
      c + 2 * RITZ_P * ((RitzLong)(i * RITZ_PATCHES) * num_comp + (RitzLong)j * middle + (RitzLong)k * outer);
  left = num_inner - i * RITZ_PATCHES;
  place.b = ritz_keep_global((RITZ_GLOBAL RitzReal *)b + start);
  place.x = ritz_keep_global(x + start);
  place.inner = num_comp;
  place.middle = middle;
  place.outer = outer;
  place.last = 2 * RITZ_P * (left < RITZ_PATCHES ? left : RITZ_PATCHES);
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const unsigned line = thread + round * RITZ_THREADS;
    if (RITZ_HAS_LINE(round)) ritz_begin_line(&place, line, ends[round], cube);
  }
  ritz_begin_edges(&place, thread, cube);
  RITZ_BARRIER();
#if RITZ_DIM == 3
  ritz_middle_lines(0, thread, cube);
  ritz_middle_edges(thread, cube);
  RITZ_BARRIER();
#endif
  ritz_inner_lines(factors, thread, cube);
#if RITZ_DIM == 3
  ritz_middle_lines(1, thread, cube);
  RITZ_BARRIER();
#endif
  RITZ_UNROLL
  for (int round = 0; round < RITZ_ROUNDS; round++) {
    const unsigned line = thread + round * RITZ_THREADS;
    if (RITZ_HAS_LINE(round)) ritz_end_line(&place, line, ends[round], cube);
  }
}

#endif
