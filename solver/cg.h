// SPDX-License-Identifier: BSD-2-Clause
// What the variants of the conjugate gradient method share: vectors, sums, passes over vectors on the threads
// of the context, and the decision when to stop. Used by solver/cg*.c.
//
//     r = b - A x
//     repeat   p = M r + beta p       M = 1 / diagonal, 0 on constrained entries
//              q = A p, alpha = r . M r / p . q
//              x += alpha p, r -= alpha q, beta = the new r . M r / the old one
//
// r is kept divided by a power of two, `scale`, near its first size, so that squares neither overflow nor
// vanish; M is normalized to a largest entry of one for the same reason (neither changes alpha p).
#ifndef RITZ_SOLVER_CG_H
#define RITZ_SOLVER_CG_H

#include "core/apply-hooks.h"
#include "solver/solver.h"

// The variants; n is the length of b and x.
int ritz_cg_solve_standard(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x); // on the host
// The operator can be applied with hooks, with num_slots slots (core/apply-hooks.h).
int ritz_cg_solve_merged(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, int num_slots);
// Both variants where the backend of the operator has the slots cg_create, cg_iterate, cg_destroy.
int ritz_cg_solve_on_device(RitzSolver solver, CeedSize n, CeedVector b, CeedVector x, bool is_merged);

// ---- Sums ----
// Eight partial sums each: blocks of eight terms are added with compensation (Knuth's exact sum of two
// numbers), so that the error is bounded by a few eps times the sum of absolute values, whatever the length.
enum { RITZ_SUM_WIDTH = 8, RITZ_CG_BLOCK = 64, RITZ_CG_SUMS = 8 };

// Several sums of one slot (core/apply-hooks.h).
typedef struct {
  double value[RITZ_CG_SUMS][RITZ_SUM_WIDTH], rest[RITZ_CG_SUMS][RITZ_SUM_WIDTH];
} RitzCgSums;

typedef struct {
  RitzSolver solver; // borrowed
  CeedSize n;
  CeedVector p, q;     // owned
  CeedScalar *r;       // owned
  CeedScalar *inverse; // owned: M, NULL without preconditioner
  int num_slots;
  RitzCgSums *sums; // owned, [num_slots]
  double scale;
  double rr, rz; // |r|^2 and r . M r, of the scaled residual
} RitzCg;

// Sums for the passes, and for at least num_slots slots. *cg: zeros; to be destroyed on failure, too.
int ritz_cg_create(RitzSolver solver, CeedSize n, int num_slots, RitzCg *cg);
int ritz_cg_destroy(RitzCg *cg);

// q = A x, zero on constrained entries
int ritz_cg_apply(RitzCg *cg, CeedVector x);
// r = (b - A x) / scale, its products, and q as above.
int ritz_cg_first_residual(RitzCg *cg, CeedVector b, CeedVector x);
// The preconditioner, and rz. On return *reason says whether the diagonal can be used.
int ritz_cg_prepare_jacobi(RitzCg *cg, RitzSolverReason *reason);
void ritz_cg_zero_constrained(RitzSolver solver, CeedScalar *v);

// A pass over all entries, in ranges that begin at multiples of a block. Sums begin with zero.
int ritz_cg_run(RitzCg *cg, RitzRangeFunction run, void *data);
void ritz_cg_clear_sums(RitzCg *cg);
double ritz_cg_total(const RitzCg *cg, int k); // of sum k, over all slots
// rr and rz from the sums 0 and 1.
void ritz_cg_set_products(RitzCg *cg);

// Calls the monitor and decides whether to go on after `iteration` iterations; norm and rz of the residual.
int ritz_cg_judge(RitzSolver solver, CeedInt iteration, double norm, double rz, RitzSolverReason *reason);
double ritz_cg_norm(const RitzCg *cg); // of the residual, without the scale
// alpha = rz / pq, or the reason why there is none.
double ritz_cg_alpha(const RitzCg *cg, double pq, RitzSolverReason *reason);

// ---- For loops over entries ----

// Compiled for several widths of vectors, the best is taken at run time. Not where a sanitizer watches: it is
// not ready when the choice is made.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RITZ_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define RITZ_HAS_SANITIZER 1
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(RITZ_HAS_SANITIZER)
#if defined(__has_attribute)
#if __has_attribute(target_clones)
#define RITZ_CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#endif
#ifndef RITZ_CLONED
#define RITZ_CLONED
#endif
#define RITZ_INLINED static inline __attribute__((always_inline))

RITZ_INLINED int64_t ritz_cg_block(int64_t left) { return left < RITZ_CG_BLOCK ? left : RITZ_CG_BLOCK; }

// Adds the partial sums of a block to sum k.
RITZ_INLINED void ritz_cg_add(RitzCgSums *sums, int k, const double *part) {
  double *value = sums->value[k], *rest = sums->rest[k];

  for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
    const double old = value[l], total = old + part[l], added = total - old;
    rest[l] += (old - (total - added)) + (part[l] - added);
    value[l] = total;
  }
}

// The products w_i a_i b_i of n entries, a multiple of eight; w == NULL stands for ones.
RITZ_INLINED void ritz_cg_multiply(double *part, int64_t n, const CeedScalar *a, const CeedScalar *b,
                                   const CeedScalar *w) {
  for (int64_t i = 0; i < n; i += RITZ_SUM_WIDTH) {
    if (w) {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)w[i + l] * a[i + l] * b[i + l];
    } else {
      for (int l = 0; l < RITZ_SUM_WIDTH; l++) part[l] += (double)a[i + l] * b[i + l];
    }
  }
}

// Adds the products of a block to sum k. Full blocks have a loop of their own, whose sums stay in registers.
RITZ_INLINED void ritz_cg_add_dot(RitzCgSums *sums, int k, int64_t n, const CeedScalar *a,
                                  const CeedScalar *b, const CeedScalar *w) {
  if (n == RITZ_CG_BLOCK) {
    double part[RITZ_SUM_WIDTH] = {0};
    ritz_cg_multiply(part, RITZ_CG_BLOCK, a, b, w);
    ritz_cg_add(sums, k, part);
  } else {
    const int64_t even = n - n % RITZ_SUM_WIDTH;
    double part[RITZ_SUM_WIDTH] = {0};
    ritz_cg_multiply(part, even, a, b, w);
    for (int64_t i = even; i < n; i++) part[i - even] += (w ? (double)w[i] : 1.0) * a[i] * b[i];
    ritz_cg_add(sums, k, part);
  }
}

// Adds r . r, and with a preconditioner r . M r, of a block to the sums 0 and 1.
RITZ_INLINED void ritz_cg_add_products(RitzCg *cg, int slot, int64_t first, int64_t count) {
  const CeedScalar *r = &cg->r[first];

  ritz_cg_add_dot(&cg->sums[slot], 0, count, r, r, NULL);
  if (cg->inverse) ritz_cg_add_dot(&cg->sums[slot], 1, count, r, r, &cg->inverse[first]);
}

#endif
