// SPDX-License-Identifier: BSD-2-Clause
// What kernels of batched dense algebra (core/batched.h) share: parameters, places of matrices, sizes. The
// text in front (emit/gpu-batched.c) defines RITZ_ENTRY_F32 where entries are floats; RITZ_UNIFORM where all
// matrices have the sizes and leading dimensions of the layouts, which then are RITZ_LD_A, RITZ_FORM_A etc.
//
// Kernels see operands as the host turns them (backends/gpu/batched.c): transposed, or with rows or columns
// in reverse order. So one kernel serves both triangles, all transposes and both sides. Entry (r, c) of a
// matrix is at p[r rs + c cs].
#ifndef RITZ_KERNELS_GPU_BATCHED_H
#define RITZ_KERNELS_GPU_BATCHED_H

#ifdef RITZ_ENTRY_F32
typedef float RitzEntry;
#else
typedef double RitzEntry;
#endif

#ifdef __OPENCL_VERSION__
#define RITZ_DOUBLE(bits) as_double(bits)
#define RITZ_SQRT(x)      sqrt(x)
#define RITZ_ABS(x)       fabs(x)
#define RITZ_FMA(x, y, z) fma(x, y, z)
#define RITZ_STEP()       barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define RITZ_DOUBLE(bits) __longlong_as_double(bits)
#ifdef RITZ_ENTRY_F32
#define RITZ_SQRT(x)      sqrtf(x)
#define RITZ_ABS(x)       fabsf(x)
#define RITZ_FMA(x, y, z) fmaf(x, y, z)
#else
#define RITZ_SQRT(x)      sqrt(x)
#define RITZ_ABS(x)       fabs(x)
#define RITZ_FMA(x, y, z) fma(x, y, z)
#endif
#define RITZ_STEP() RITZ_BARRIER()
#endif

// Reciprocals of numbers below are not finite, or nearly so: x / d is x * raise * (1 / (d * raise)).
#ifdef RITZ_ENTRY_F32
#define RITZ_TINY  2.3509887e-38f // 2^-125
#define RITZ_RAISE 1.0737418e9f   // 2^30
#else
#define RITZ_TINY  4.4501477170144028e-308 // 2^-1021
#define RITZ_RAISE 1.152921504606847e18    // 2^60
#endif

RITZ_INLINE RitzEntry ritz_raise_of(RitzEntry d) { return RITZ_ABS(d) < RITZ_TINY ? RITZ_RAISE : 1; }

// Bits of an operand's form, above the logarithm of its width.
#define RITZ_WIDTH_BITS    7
#define RITZ_HAS_POINTERS  8
#define RITZ_IS_TRANSPOSED 16
#define RITZ_REVERSES_ROWS 32 // of the transposed one, where it is transposed
#define RITZ_REVERSES_COLS 64

// Bits of the options of solves.
#define RITZ_UNIT_FIRST   1  // the forward solve has a unit diagonal
#define RITZ_SOLVES_TWICE 2  // a backward solve follows
#define RITZ_UNIT_SECOND  4  // it has a unit diagonal
#define RITZ_SYMMETRIC    8  // its matrix is the transpose of the first one, stored there
#define RITZ_SWAPS_FIRST  16 // rows of B are swapped by ipiv before
#define RITZ_SWAPS_LAST   32 // or back behind
#define RITZ_FOLLOWS      64 // info has what the factorization said: B is left alone where it failed

#define RITZ_OPERAND(x)                                                                                      \
  RITZ_GLOBAL RitzEntry *x##_base, RITZ_GLOBAL const RitzLong *x##_places, RITZ_GLOBAL const int *x##_lds,   \
      RITZ_GLOBAL const int *x##_first_rows, RITZ_GLOBAL const int *x##_first_cols, RitzLong x##_row0,       \
      RitzLong x##_col0, RitzLong x##_stride, RitzLong x##_ld, int x##_form

// Parameters of all kernels. alpha, beta: bits of doubles. bound: sizes of the layouts.
#define RITZ_BATCH_PARAMETERS                                                                                \
  RitzLong count, RitzLong alpha_bits, RitzLong beta_bits, int bound_m, int bound_n, int bound_k,            \
      RITZ_GLOBAL const int *sizes_m, RITZ_GLOBAL const int *sizes_n, RITZ_GLOBAL const int *sizes_k,        \
      RITZ_GLOBAL int *ipiv, int ipiv_stride, RITZ_GLOBAL int *info, int options,                            \
      RITZ_GLOBAL const int *members, RITZ_GLOBAL const int *ranges, int number, RITZ_OPERAND(A),            \
      RITZ_OPERAND(B), RITZ_OPERAND(C)

// Classes of sizes (backends/gpu/batched-classes.c): the kernel takes the members of one class, from
// ranges[2 number] up to ranges[2 number + 1]; members == NULL: all matrices. Turns behind the last one are
// of no matrix: `count`. Without classes the number of turns is an argument: loops around barriers whose ends
// are read from memory take processors that play a device half a minute to compile.
#if defined(RITZ_UNIFORM) || defined(RITZ_TAKES_ALL)
#define RITZ_NUM_TURNS    count
#define RITZ_MEMBER(turn) (turn)
#else
#define RITZ_NUM_TURNS (members ? (RitzLong)(ranges[2 * number + 1] - ranges[2 * number]) : count)
#define RITZ_MEMBER(turn)                                                                                    \
  (!members ? (turn) : (turn) < RITZ_NUM_TURNS ? (RitzLong)members[ranges[2 * number] + (turn)] : count)
#endif

typedef struct {
  RITZ_GLOBAL RitzEntry *p;
  RitzLong rs, cs;
} RitzMatrix;
#define RITZ_AT(M, r, c) ((M).p[(r) * (M).rs + (c) * (M).cs])

// Where matrix i is, turned: its entry (0, 0), from the base or the matrix's address on, and the distances of
// rows and columns, in entries.
typedef struct {
  RitzLong start, rs, cs;
} RitzPlace;
RITZ_INLINE RitzPlace ritz_place(RITZ_GLOBAL const RitzLong *places, RITZ_GLOBAL const int *lds,
                                 RITZ_GLOBAL const int *first_rows, RITZ_GLOBAL const int *first_cols,
                                 RitzLong row0, RitzLong col0, RitzLong stride, RitzLong ld, int form,
                                 RitzLong i, int rows, int cols) {
  const int width = form & RITZ_WIDTH_BITS;
  RitzPlace at;
  at.start = 0;
  if (places && !(form & RITZ_HAS_POINTERS)) at.start = places[i];
  if (!places) at.start = (i >> width) * stride + (i & ((1 << width) - 1));
#ifndef RITZ_UNIFORM
  if (lds) ld = lds[i];
  if (first_rows) row0 += first_rows[i];
  if (first_cols) col0 += first_cols[i];
#endif
  at.start += (row0 + col0 * ld) << width;
  at.rs = (RitzLong)1 << width;
  at.cs = ld << width;
  if (form & RITZ_IS_TRANSPOSED) {
    const RitzLong step = at.rs;
    at.rs = at.cs;
    at.cs = step;
  }
  if (form & RITZ_REVERSES_ROWS) {
    at.start += (rows - 1) * at.rs;
    at.rs = -at.rs;
  }
  if (form & RITZ_REVERSES_COLS) {
    at.start += (cols - 1) * at.cs;
    at.cs = -at.cs;
  }
  return at;
}

// Matrix i, turned; rows, cols: of the turned one.
#ifdef RITZ_UNIFORM
#define RITZ_LD_OF(x)   RITZ_LD_##x
#define RITZ_FORM_OF(x) (RITZ_FORM_##x | (x##_form & RITZ_HAS_POINTERS))
#else
#define RITZ_LD_OF(x)   x##_ld
#define RITZ_FORM_OF(x) x##_form
#endif
#define RITZ_MATRIX(x, i, rows, cols)                                                                        \
  ritz_matrix(x##_base, x##_places, x##_lds, x##_first_rows, x##_first_cols, x##_row0, x##_col0, x##_stride, \
              RITZ_LD_OF(x), RITZ_FORM_OF(x), i, rows, cols)
RITZ_INLINE RitzMatrix ritz_matrix(RITZ_GLOBAL RitzEntry *base, RITZ_GLOBAL const RitzLong *places,
                                   RITZ_GLOBAL const int *lds, RITZ_GLOBAL const int *first_rows,
                                   RITZ_GLOBAL const int *first_cols, RitzLong row0, RitzLong col0,
                                   RitzLong stride, RitzLong ld, int form, RitzLong i, int rows, int cols) {
  const RitzPlace place =
      ritz_place(places, lds, first_rows, first_cols, row0, col0, stride, ld, form, i, rows, cols);
  RitzMatrix M;
  M.p = base;
#ifndef __OPENCL_VERSION__
  if (form & RITZ_HAS_POINTERS) M.p = (RitzEntry *)places[i];
#endif
  M.p += place.start;
  M.rs = place.rs;
  M.cs = place.cs;
  return M;
}

// ---- Operands of products that are not what is stored ----
// RITZ_MASK_A, _B: bits of how an operand is read; without: as it is. RITZ_KEEPS_LOWER, _UPPER: the triangle
// of C that is written. RITZ_IN_PLACE: C is B (1), or A (2). Kernels of any size have the same as options.
#define RITZ_MASK_TRIANGLE 1 // one triangle is stored
#define RITZ_MASK_LOWER    2 // the lower one, else the upper one
#define RITZ_MASK_MIRRORED 4 // the other triangle is its mirror image, else zero
#define RITZ_MASK_UNIT     8 // the diagonal is ones
#define RITZ_SHIFT_MASK_B  4 // of options; of A: 0
#define RITZ_SHIFT_KEEPS   8 // 1: the lower triangle, 2: the upper one
#define RITZ_SHIFT_PLACE   10

RITZ_INLINE RitzEntry ritz_read_masked(RitzMatrix M, int r, int c, int mask) {
  const int is_stored = !(mask & RITZ_MASK_TRIANGLE) || (mask & RITZ_MASK_LOWER ? r >= c : r <= c);
  if (mask & RITZ_MASK_MIRRORED) return is_stored ? RITZ_AT(M, r, c) : RITZ_AT(M, c, r);
  return !is_stored ? 0 : r == c && (mask & RITZ_MASK_UNIT) ? 1 : RITZ_AT(M, r, c);
}
#ifdef RITZ_MASK_A
#define RITZ_READ_A(M, r, c) ritz_read_masked(M, r, c, RITZ_MASK_A)
#else
#define RITZ_READ_A(M, r, c) RITZ_AT(M, r, c)
#endif
#ifdef RITZ_MASK_B
#define RITZ_READ_B(M, r, c) ritz_read_masked(M, r, c, RITZ_MASK_B)
#else
#define RITZ_READ_B(M, r, c) RITZ_AT(M, r, c)
#endif

#if defined(RITZ_KEEPS_LOWER)
#define RITZ_KEEPS(r, c) ((r) >= (c))
#elif defined(RITZ_KEEPS_UPPER)
#define RITZ_KEEPS(r, c) ((r) <= (c))
#else
#define RITZ_KEEPS(r, c) 1
#endif
// Whether any entry of rows r .. r + rows and columns c .. c + cols is written.
#if defined(RITZ_KEEPS_LOWER)
#define RITZ_KEEPS_ANY(r, rows, c, cols) ((r) + (rows) > (c))
#elif defined(RITZ_KEEPS_UPPER)
#define RITZ_KEEPS_ANY(r, rows, c, cols) ((c) + (cols) > (r))
#else
#define RITZ_KEEPS_ANY(r, rows, c, cols) 1
#endif

// Sizes of matrix i -> m, n, k; 0, or the info of the first one that it cannot have: then all are 0.
#define RITZ_SIZES(i, m, n, k)                                                                               \
  ritz_sizes(i, bound_m, bound_n, bound_k, sizes_m, sizes_n, sizes_k, &(m), &(n), &(k))
RITZ_INLINE int ritz_sizes(RitzLong i, int bound_m, int bound_n, int bound_k, RITZ_GLOBAL const int *sizes_m,
                           RITZ_GLOBAL const int *sizes_n, RITZ_GLOBAL const int *sizes_k, int *m, int *n,
                           int *k) {
  int bad = 0;
  *m = bound_m;
  *n = bound_n;
  *k = bound_k;
#ifndef RITZ_UNIFORM
  if (sizes_m) *m = sizes_m[i];
  if (sizes_n) *n = sizes_n[i];
  if (sizes_k) *k = sizes_k[i];
  if (*k < 0 || *k > bound_k) bad = -1003;
  if (*n < 0 || *n > bound_n) bad = -1002;
  if (*m < 0 || *m > bound_m) bad = -1001;
  if (bad) *m = *n = *k = 0;
#endif
  return bad;
}

// m, n, num: sizes of matrix i, and the info of a bad one.
#ifdef RITZ_UNIFORM
#define RITZ_KNOW_SIZES(i)                                                                                   \
  const int m = RITZ_M, n = RITZ_N, num = RITZ_K, bad = 0;                                                   \
  (void)m, (void)n, (void)num, (void)bad
#else
#define RITZ_KNOW_SIZES(i)                                                                                   \
  int m, n, num;                                                                                             \
  const int bad = RITZ_SIZES(i, m, n, num);                                                                  \
  (void)m, (void)n, (void)num, (void)bad
#endif

#define RITZ_NUM_BLOCKS (RITZ_NUM_ITEMS / RITZ_THREADS)

#endif
