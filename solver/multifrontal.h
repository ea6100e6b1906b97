// SPDX-License-Identifier: BSD-2-Clause
// Sparse factorizations A = L L^T and A = L D L^T by fronts, where a context computes: an ordering by nested
// dissection, the tree of fronts that follows from the pattern (both on the host, once), numbers by levels of
// the tree (ritz/front.h). Used by direct-multifrontal.c.
#ifndef RITZ_SOLVER_MULTIFRONTAL_H
#define RITZ_SOLVER_MULTIFRONTAL_H

#include "base/error.h"
#include "base/memory.h"
#include "core/front.h"

// Symmetric pattern by rows: both triangles, columns of a row ascend; the diagonal may be there or not.
typedef struct {
  int64_t n;
  const int64_t *starts, *cols; // [n + 1], [starts[n]]
} RitzPattern;

// ---- Ordering: multifrontal-order.c ----

// Nested dissection. AUTO: own, and where that leaves much work METIS, which takes longer, if it leaves less.
typedef enum { RITZ_ORDERING_AUTO, RITZ_ORDERING_OWN, RITZ_ORDERING_METIS } RitzOrdering;

// perm [n]: the unknown that is k-th. METIS is looked up at run time; *is_done is false where it is not
// there. Own: separators are levels of breadth-first searches.
int ritz_order_by_metis(Ceed ceed, const RitzPattern *pattern, int64_t *perm, bool *is_done);
int ritz_order_by_levels(Ceed ceed, const RitzPattern *pattern, int64_t *perm);

// ---- Symbolic factorization: multifrontal-symbolic.c ----

// Fronts as in core/front.h, on the host. Where memory is a device's, levels begin at multiples of `pad`
// fronts, so that their arrays are aligned; fronts between levels are empty.
typedef struct {
  int64_t n;
  int64_t *perm; // owned, [n]: unknown that is k-th, of the final order
  int num_levels;
  int64_t *level;                    // owned, [num_levels]: first front
  int64_t *num_fronts;               // owned, [num_levels]
  int64_t num;                       // fronts with those between levels
  int32_t *d1, *d2, *order, *parent; // owned, [num]
  int64_t *panel, *update;           // owned, [num]
  int64_t *rows, *children;          // owned, [num + 1]
  int64_t *down_start;               // owned, [num]
  int32_t *up, *down;                // owned
  int64_t num_down;
  int64_t *first;        // owned, [num]: first own column
  int64_t *place;        // owned, [n]: row, among those of all fronts, that is the k-th unknown
  int64_t num_panel;     // entries of all panels
  int64_t num_update[2]; // of F22 of even and odd levels, the most at one time
  int64_t num_entries;   // of A that are used: one triangle
  int64_t *from, *to;    // owned, [num_entries]: in A's values, in the panels
  int64_t num_supernodes;
  int64_t max_order;              // of a front
  double num_nonzeros, num_flops; // of L; of its computation
  const char *ordering;           // static
} RitzSymbolic;

// METIS: own where it is not there. max_flops (0: none): where it takes more, *is_too_long is true and
// tables are left out.
int ritz_symbolic_create(Ceed ceed, const RitzPattern *pattern, RitzOrdering ordering, int64_t pad,
                         double max_flops, RitzSymbolic *symbolic, bool *is_too_long);
void ritz_symbolic_free(RitzSymbolic *symbolic);
// Frees tables that have been copied to the context's memory: all but perm, level, num_fronts, rows, first,
// from and to.
void ritz_symbolic_free_tables(RitzSymbolic *symbolic);

// ---- Numbers: multifrontal.c ----

enum {
  RITZ_MULTIFRONTAL_SIZES = 64,
  RITZ_MULTIFRONTAL_PAD = 256, // fronts: 1 KB of their smallest table
};
typedef struct {
  Ceed ceed; // borrowed
  RitzSymbolic symbolic;
  RitzFrontTree tree;          // arrays owned, in the context's memory
  int64_t *to, *place, *where; // owned, the same
  RitzFrontFactors factors;
  double *panels;       // owned, in the context's memory: the factors
  double *x;            // owned, the same, [num_x][rows of all fronts, and a few]
  int num_x;            // right-hand sides that there is room for
  double *work;         // owned, the same, [num_x][n, and a few], of the host; NULL: not asked for yet
  int64_t *diagonal;    // owned, the same, [n]: places of D in the panels; NULL: Cholesky
  int64_t num_replaced; // LDLT: pivots that were too small, of the last factorization
  int64_t num_negative; // the same: negative pivots, by Sylvester's law eigenvalues below zero
  int num_sizes;
  RitzFront fronts[RITZ_MULTIFRONTAL_SIZES]; // owned: of one range of sizes each
  int *of_level;                             // owned, [num_levels]: which of them a level has
  int64_t num_bytes;                         // in the context's memory, that stay
  int64_t peak_bytes;                        // with what a factorization takes beside them
} RitzMultifrontal;

typedef struct {
  RitzFrontFactors factors;
  RitzOrdering ordering;
  double max_flops; // 0: none
} RitzMultifrontalOptions;

// entries [n]: place of each unknown in the vectors of ritz_multifrontal_apply; NULL: itself.
int ritz_multifrontal_create(Ceed ceed, const RitzPattern *pattern, const int64_t *entries,
                             const RitzMultifrontalOptions *options, RitzMultifrontal *m, bool *is_too_long);
int ritz_multifrontal_destroy(RitzMultifrontal *m);
// values [starts[n]] on the host, of which the lower triangle of the permuted matrix is read. *bad: an
// unknown whose pivot is not positive, or, of LDLT, not finite; -1: there is none. LDLT: pivots stand where
// they are, those below sqrt(eps) times the largest entry of A are replaced by that (num_replaced).
int ritz_multifrontal_factorize(RitzMultifrontal *m, const double *values, int64_t *bad);
// Gives back what further factorizations need.
int ritz_multifrontal_drop_matrix(RitzMultifrontal *m);
// A x = b, [num_rhs][n] on the host.
int ritz_multifrontal_solve(RitzMultifrontal *m, int num_rhs, const double *b, double *x);
// Solves for arrays of the context, num_rhs of them, by `entries`; entries of z that are no unknowns are left
// alone.
int ritz_multifrontal_apply(RitzMultifrontal *m, CeedScalarType type, int num_rhs, const void *const *r,
                            void *const *z);

#endif
