// SPDX-License-Identifier: BSD-2-Clause
// Own sparse Cholesky factorization by fronts (solver/multifrontal.h), where the context computes. Called
// through the table of solver/direct.h.
#include <stdio.h>

#include "solver/direct.h"
#include "solver/multifrontal.h"

static const char *why_not(void) { return NULL; }

static void describe(RitzFactorization *f, const RitzMultifrontal *m) {
  const RitzSymbolic *y = &m->symbolic;
  f->num_nonzeros = y->num_nonzeros;
  f->num_bytes = m->num_bytes;
  (void)snprintf(
      f->words, sizeof(f->words),
      "multifrontal Cholesky factorization, ordered by %s, %lld fronts up to order %lld in %d levels, "
      "%.3g Gflop",
      y->ordering, (long long)y->num_supernodes, (long long)y->max_order, y->num_levels, 1e-9 * y->num_flops);
}

static int factorize(RitzFactorization *f) {
  const RitzMatrix *a = f->matrix;
  const RitzPattern pattern = {.n = a->n, .starts = a->starts, .cols = a->cols};
  RitzMultifrontal *m = NULL;
  bool is_too_long;
  int64_t bad;
  RITZ_TRY(RITZ_CALLOC(a->ceed, 1, &m));
  f->data = m;
  f->computes_in_context = true;
  RITZ_TRY(ritz_multifrontal_create(a->ceed, &pattern, a->entries, RITZ_ORDERING_AUTO, f->max_flops, m,
                                    &is_too_long));
  if (is_too_long) {
    f->refusal = RITZ_REFUSED_TOO_LONG;
    (void)snprintf(f->words, sizeof(f->words), "a factorization takes %.3g Gflop",
                   1e-9 * m->symbolic.num_flops);
    return CEED_ERROR_SUCCESS;
  }
  RITZ_TRY(ritz_multifrontal_factorize(m, a->values, &bad));
  RITZ_TRY(ritz_multifrontal_drop_matrix(m));
  if (bad >= 0)
    ritz_direct_refuse_pivot(f, bad);
  else
    describe(f, m);
  return CEED_ERROR_SUCCESS;
}

static int solve(RitzFactorization *f, const double *b, double *x) {
  return ritz_multifrontal_solve(f->data, b, x);
}

static int apply(RitzFactorization *f, CeedScalarType type, const void *r, void *z) {
  return ritz_multifrontal_apply(f->data, type, r, z);
}

static void destroy(RitzFactorization *f) {
  if (f->data) (void)ritz_multifrontal_destroy(f->data);
  RITZ_FREE(&f->data);
}

const RitzDirectMethods ritz_direct_multifrontal = {.kind = RITZ_DIRECT_MULTIFRONTAL,
                                                    .is_symmetric = true,
                                                    .why_not = why_not,
                                                    .factorize = factorize,
                                                    .solve = solve,
                                                    .apply = apply,
                                                    .destroy = destroy};
