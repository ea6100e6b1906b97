// SPDX-License-Identifier: BSD-2-Clause
// Fronts of multifrontal factorizations between solver/ and backends: trees of fronts in the context's
// memory, what moves between fronts, and batches of fronts (ritz/front.h). Served by the slots
// front_tree_run, which backends with memory of their own need, and front_prepare, front_run, without which
// there is no L D L^T.
#ifndef RITZ_CORE_FRONT_H
#define RITZ_CORE_FRONT_H

#include <math.h>
#include <ritz/front.h>

#include "core/core.h"

// ---- Trees ----

// Fronts are numbered by levels, roots first; children of a front are consecutive, and so are those of a
// level. Rows 0 .. d1 - 1 of a front are its own columns, d1 .. d1 + d2 - 1 belong to ancestors. All arrays
// in the context's memory.
struct RitzFrontTree {
  int64_t num;
  const int32_t *d1, *d2, *order; // [num]; order = d1 + d2
  const int64_t *panel;           // [num] where F11 begins; leading dimension `order`, F21 below
  const int64_t *update;          // [num] where F22 begins in the memory of its level; leading dimension d2
  const int64_t *rows;            // [num + 1] sum of the orders before
  const int64_t *children;        // [num + 1] front f has children[f] .. children[f + 1] - 1
  const int32_t *parent;          // [num] -1: a root
  const int32_t *up;              // [rows[num]] of rows from d1 on: the same row of the parent
  const int64_t *down_start;      // [num]
  const int32_t *down;            // down[down_start[f] + i]: row of f that is row i of its parent, -1: none
};

typedef enum {
  RITZ_FRONT_TREE_MOVE,       // out[to[k]] = in[from[k]], k < count; NULL: k itself
  RITZ_FRONT_TREE_EXTEND_ADD, // panels += updates of the children, F22 = the rest of them
  RITZ_FRONT_TREE_FORWARD,    // x of own rows += x of the children, x of other rows = those of the children
  RITZ_FRONT_TREE_BACKWARD,   // x of other rows = x of the parent
} RitzFrontTreeKind;

// Fronts first .. first + count - 1, of one level. Sums are in the order of the children.
struct RitzFrontTreeAction {
  RitzFrontTreeKind kind;
  int64_t first, count;
  int64_t num_rows;         // the sum of their orders
  const int64_t *from, *to; // MOVE
  const void *in;           // MOVE
  void *out;                // MOVE
  CeedScalarType in_type, out_type;
  double *panels, *updates;    // EXTEND
  const double *child_updates; // EXTEND
  int num_rhs;                 // FORWARD, BACKWARD
  double *x;                   // the same: [num_rhs][x_stride]
  int64_t x_stride;            // the same: at least rows[num]
};

// tree: NULL for MOVE.
int ritz_front_tree_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action);

// Memory where the context computes. *p is NULL for num_bytes == 0; free: *p becomes NULL, NULL is fine.
int ritz_front_memory_alloc(Ceed ceed, size_t num_bytes, void **p);
int ritz_front_memory_free(Ceed ceed, void **p);
int ritz_front_memory_upload(Ceed ceed, size_t num_bytes, const void *host, void *p);
int ritz_front_memory_clear(Ceed ceed, int64_t n, double *p); // n zeros
int ritz_front_memory_download(Ceed ceed, size_t num_bytes, const void *p, void *host);

// ---- Batches ----

typedef enum { RITZ_FRONT_FACTORIZE, RITZ_FRONT_FORWARD, RITZ_FRONT_BACKWARD } RitzFrontKind;
enum { RITZ_FRONT_NUM_STEPS = 3, RITZ_FRONT_BAD_SIZE = INT32_MIN };

struct RitzFront_private {
  const RitzClass *class;
  Ceed ceed; // counted
  RitzFrontFactors factors;
  CeedScalarType precision;
  CeedInt d1, d2;                            // bounds
  double smallest;                           // pivot of LDLT; 0: any but zero
  RitzBatched step[3][RITZ_FRONT_NUM_STEPS]; // [RitzFrontKind], of CHOLESKY; NULL: not asked for yet
  bool has_kernel;                           // the backend does it; else batched operations, of CHOLESKY
  void *data;                                // the backend's
};

// A call that has been checked, count > 0.
struct RitzFrontCall {
  RitzFrontKind kind;
  int64_t count;
  const RitzFrontArrays *arrays;
  int num_rhs;              // solves
  void *x;                  // solves
  const int64_t *x_offsets; // solves
  int64_t x_stride;         // solves
  int32_t *info;            // NULL: not wanted
};

// A pivot of LDLT that counts as one: replaced where it is small, *num_replaced then grows. false: zero, or
// not finite.
static inline bool ritz_front_take_pivot(double smallest, double *pivot, int32_t *num_replaced) {
  if (!isfinite(*pivot)) return false;
  if (fabs(*pivot) < smallest) {
    *pivot = *pivot < 0 ? -smallest : smallest;
    ++*num_replaced;
  }
  return *pivot != 0;
}

#endif
