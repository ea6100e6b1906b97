// SPDX-License-Identifier: BSD-2-Clause
// Dense solver (ritz/dense-solver.h) between core/ and backends. core/dense-solver.c has objects and calls,
// core/dense-route.c chooses who factorizes, core/dense-factor.c cuts factorizations into what a backend
// does, core/dense-refine.c refines. Numbers are computed by the methods of a backend, on its memory.
#ifndef RITZ_CORE_DENSE_SOLVER_H
#define RITZ_CORE_DENSE_SOLVER_H

#include <math.h>
#include <ritz/dense-solver.h>

#include "core/core.h"

enum {
  RITZ_DENSE_BLOCK = 32,   // columns that a backend factorizes at once
  RITZ_DENSE_RESTART = 30, // steps of GMRES
};

// C -= A B, all parts of the factors F: C has rows `row` .. and columns `col` ..; A the same rows and columns
// k0 .., B the rows k0 .. and the columns of C; of Cholesky, B is the transposed of rows `col` .., columns
// k0 ... All but num_rows and num_cols are multiples of RITZ_DENSE_BLOCK.
typedef struct {
  int64_t row, num_rows, col, num_cols, k0, k;
  bool is_symmetric;            // Cholesky
  bool is_lower;                // C is a diagonal block: the lower triangle is enough
  RitzDensePrecision precision; // operands are rounded to; of F64 factors F64, else one of the others
} RitzDenseUpdate;

// Orders are below it.
#define RITZ_DENSE_NEVER (INT64_C(1) << 31)

// Factorizations in double and float by a library that is looked up at run time, once in a process.
typedef struct {
  const char *name;    // "cuSOLVER", for people
  int64_t least_order; // from which on AUTO takes it: it was measured to gain; RITZ_DENSE_NEVER: it was not
  // File of the library, static; NULL: there is none that can be used, and *why says so (static).
  const char *(*find)(const RitzDenseSolver s, const char **why);
  // LU or Cholesky of F as `load` has left it: F, pivots and numbers of bad ones as the methods for own
  // factorizations leave them.
  int (*factor)(RitzDenseSolver s);
} RitzDenseVendor;

// Vectors are arrays of n doubles in the backend's memory; V_i begins at V + i stride. R, C: diagonal
// matrices of the scaling.
struct RitzDenseMethods {
  const char *name;                                      // who computes, for people
  RitzDensePrecision (*choose)(const RitzDenseSolver s); // for RITZ_DENSE_AUTO
  const RitzDenseVendor *vendor;                         // the other route
  int (*create)(RitzDenseSolver s);                      // makes s->data
  int (*destroy)(RitzDenseSolver s);                     // frees it with the factors
  int (*alloc)(RitzDenseSolver s, int64_t num, double **p);
  void (*free)(RitzDenseSolver s, double **p);
  int (*copy)(RitzDenseSolver s, int64_t num, double *to, const double *from);     // both in this memory
  int (*copy_in)(RitzDenseSolver s, int64_t num, double *to, const double *from);  // from the host
  int (*copy_out)(RitzDenseSolver s, int64_t num, double *to, const double *from); // to the host

  // Scales and norms of s->A, into s->norm and s->scaled_norm; *is_finite false: there is an entry that is
  // not.
  int (*measure)(RitzDenseSolver s, bool *is_finite);
  // F = 2^shift R A C in double or float; memory for factors, pivots and blocks.
  int (*load)(RitzDenseSolver s, bool is_double, int shift);
  // Columns first .. first + num - 1, num <= RITZ_DENSE_BLOCK, rows from `first` on: LU with pivots.
  int (*panel)(RitzDenseSolver s, int64_t first, int64_t num);
  // Rows first .. first + num - 1 of columns col .. swapped with those of their pivots.
  int (*swap)(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols);
  // L^-1 from the left onto rows first .. of columns col .., L the unit triangle of the diagonal block, num
  // <= num_solved_rows, a multiple of RITZ_DENSE_BLOCK.
  int64_t num_solved_rows;
  int (*solve_rows)(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols);
  // Cholesky: the diagonal block; L^-T from the right onto columns first .. of rows `row` ...
  int (*cholesky)(RitzDenseSolver s, int64_t first, int64_t num);
  int (*solve_columns)(RitzDenseSolver s, int64_t first, int64_t num, int64_t row, int64_t num_rows);
  int (*update)(RitzDenseSolver s, const RitzDenseUpdate *update);
  // *bad: number, from 1, of the first pivot that is zero (LU), or not positive (Cholesky); 0: none. Makes
  // what solves need.
  int (*finish)(RitzDenseSolver s, int64_t *bad);

  // v := M^-1 v or M^-T v, M the product of the factors (permuted back), which is about 2^shift R A C.
  int (*solve)(RitzDenseSolver s, bool is_transposed, double *v);
  int (*product)(RitzDenseSolver s, const double *x, double *y); // y = 2^shift R A C x
  // r = b - A x; norms: largest of |r|, of |x|; NaN where there is one.
  int (*residual)(RitzDenseSolver s, const double *b, const double *x, double *r, double norms[2]);
  int (*scale_rows)(RitzDenseSolver s, const double *r, double *z);                 // z = 2^shift R r
  int (*add_columns)(RitzDenseSolver s, double factor, const double *z, double *x); // x += factor C z
  // The largest |x|; NaN where there is one.
  int (*largest)(RitzDenseSolver s, const double *x, double *value);
  // Makes w orthogonal to V_i, i < num, which are so to each other and of norm 1, twice (classical Gram and
  // Schmidt), and of norm 1: w = sum of h[i] V_i + h[num] w. h [num + 1] on the host.
  int (*orthogonalize)(RitzDenseSolver s, int num, const double *V, double *w, double *h);
  // w = beta w + sum of h[i] V_i (beta = 0: w is not read); i < num, h on the host.
  int (*combine)(RitzDenseSolver s, int num, const double *V, const double *h, double beta, double *w);
  void (*explain)(const RitzDenseSolver s, FILE *stream);
  size_t (*num_bytes)(const RitzDenseSolver s);
};

// The table of a backend whose functions have the names of the members; what frees vectors is free_vectors.
#define RITZ_DENSE_METHODS(words, max_solved, to_here, to_host)                                              \
  {                                                                                                          \
    .name = (words), .choose = choose, .vendor = &vendor, .create = create, .destroy = destroy,              \
    .alloc = alloc, .free = free_vectors, .copy = copy, .copy_in = (to_here), .copy_out = (to_host),         \
    .measure = measure, .load = load, .panel = panel, .swap = swap, .num_solved_rows = (max_solved),         \
    .solve_rows = solve_rows, .cholesky = cholesky, .solve_columns = solve_columns, .update = update,        \
    .finish = finish, .solve = solve, .product = product, .residual = residual, .scale_rows = scale_rows,    \
    .add_columns = add_columns, .largest = largest, .orthogonalize = orthogonalize, .combine = combine,      \
    .explain = explain, .num_bytes = num_bytes                                                               \
  }

struct RitzDenseSolver_private {
  const RitzClass *class;
  Ceed ceed; // counted
  int64_t n;
  int64_t stride; // from vector to vector, at least n; the backend may make it larger
  // Options that the program asked for.
  RitzDensePrecision wanted;
  RitzDenseRefinement refinement;
  double tolerance; // 0: sqrt(n) 2^-53
  CeedInt max_iterations;
  bool wants_symmetric;
  RitzDenseRoute route;

  const RitzDenseMethods *methods;
  void *data; // the backend's

  // The matrix: [n][ld], borrowed, in the backend's memory; of a vector only while a call runs.
  const double *A;
  CeedVector A_vector; // counted; NULL: none
  int64_t ld;
  double norm;        // largest sum of absolute values of a row
  double scaled_norm; // of R A C, of a column
  int shift;

  // The factors.
  bool is_symmetric;
  RitzDenseReport report; // but num_bytes

  // Vectors, NULL: not yet.
  double *vectors; // owned: RITZ_DENSE_NUM_VECTORS of them
  double *basis;   // owned: RITZ_DENSE_RESTART + 1
};

enum { RITZ_DENSE_B, RITZ_DENSE_X, RITZ_DENSE_R, RITZ_DENSE_Z, RITZ_DENSE_BEFORE, RITZ_DENSE_NUM_VECTORS };
static inline double *ritz_dense_vector(const RitzDenseSolver s, int which) {
  return s->vectors + which * s->stride;
}

double ritz_dense_roundoff(RitzDensePrecision precision);
// Exponent of the power of 2 that brings x to about 1; of zero 0. The power is a normal number.
static inline int ritz_dense_exponent(double x) {
  int exponent;
  if (x == 0) return 0;
  (void)frexp(x, &exponent);
  return exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent;
}

// dense-route.c: the precision of the next factorization, RITZ_DENSE_AUTO resolved.
RitzDensePrecision ritz_dense_wanted_precision(const RitzDenseSolver s);
// CEED_ERROR_UNSUPPORTED where the route that was asked for does not have the precision.
int ritz_dense_check_route(RitzDenseSolver s, const char *call, RitzDensePrecision precision);
// Chooses own kernels or the vendor's library to factorize in report.precision; sets the report.
int ritz_dense_choose_route(RitzDenseSolver s, const char *call);
// Prints a line: who has made the factors, and why.
void ritz_dense_explain_route(const RitzDenseSolver s, FILE *stream);
static inline bool ritz_dense_is_vendor(const RitzDenseSolver s) {
  return s->report.route == RITZ_DENSE_ROUTE_VENDOR;
}

// dense-factor.c: factors of A in report.precision, or in one that takes over. On an error there are none.
int ritz_dense_factorize(RitzDenseSolver s, const char *call);
// The next precision, for this reason.
int ritz_dense_give_up(RitzDenseSolver s, const char *call, const char *reason);

// dense-refine.c: one-norm condition of the scaled matrix, by the factors; infinity: they are of no use.
int ritz_dense_condition(RitzDenseSolver s, double *condition);
// Solves for the vector RITZ_DENSE_B into RITZ_DENSE_X, and adds what it took to the report.
int ritz_dense_refine(RitzDenseSolver s, const char *call);

#endif
