// SPDX-License-Identifier: BSD-2-Clause
// L D L^T of batches of fronts on the host, in double, by plain loops: slots front_* (core/front.h).
// Cholesky factors are left to batched operations.
#include "core/front.h"
#include "backends/ref/ref.h"

typedef struct {
  int64_t d1, order, ld, ld_update;
  double *panel, *update;
} Front;

static Front front_of(const RitzFrontArrays *a, int64_t i) {
  Front f = {.d1 = a->d1[i], .order = a->d1[i] + a->d2[i], .ld = a->panel_lds[i]};
  f.panel = (double *)a->panels + a->panel_offsets[i];
  if (a->updates) f.update = (double *)a->updates + a->update_offsets[i];
  if (a->updates) f.ld_update = a->update_lds[i];
  return f;
}

// L D L^T, right-looking: each column is subtracted from those behind it. Returns info.
static int32_t factorize_ref_front(const Front *f, double smallest) {
  int32_t num_replaced = 0;
  for (int64_t k = 0; k < f->d1; k++) {
    double *column = f->panel + k * f->ld;
    if (!ritz_front_take_pivot(smallest, &column[k], &num_replaced)) return (int32_t)k + 1;
    for (int64_t j = k + 1; j < f->order; j++) {
      double *to = j < f->d1 ? f->panel + j * f->ld : f->update + (j - f->d1) * f->ld_update - f->d1;
      const double factor = column[j] / column[k];
      for (int64_t i = j; i < f->order; i++) to[i] -= column[i] * factor;
    }
    for (int64_t i = k + 1; i < f->order; i++) column[i] /= column[k];
  }
  return -num_replaced;
}

static void forward(const Front *f, double *x) {
  for (int64_t k = 0; k < f->d1; k++)
    for (int64_t i = k + 1; i < f->order; i++) x[i] -= f->panel[i + k * f->ld] * x[k];
}

static void backward(const Front *f, double *x) {
  for (int64_t k = f->d1 - 1; k >= 0; k--) {
    x[k] /= f->panel[k + k * f->ld];
    for (int64_t i = k + 1; i < f->order; i++) x[k] -= f->panel[i + k * f->ld] * x[i];
  }
}

int ritz_ref_front_prepare(RitzFront front) {
  front->has_kernel = front->factors == RITZ_FRONT_LDLT;
  return CEED_ERROR_SUCCESS;
}

int ritz_ref_front_run(RitzFront front, const RitzFrontCall *call) {
  const RitzFrontArrays *a = call->arrays;
  for (int64_t i = 0; i < call->count; i++) {
    const bool is_bad = a->d1[i] < 0 || a->d1[i] > front->d1 || a->d2[i] < 0 || a->d2[i] > front->d2;
    const Front f = is_bad ? (Front){0} : front_of(a, i);
    if (call->kind == RITZ_FRONT_FACTORIZE) {
      const int32_t info = is_bad ? RITZ_FRONT_BAD_SIZE : factorize_ref_front(&f, front->smallest);
      if (call->info) call->info[i] = info;
      continue;
    }
    for (int r = 0; r < call->num_rhs && !is_bad; r++) {
      double *x = (double *)call->x + call->x_offsets[i] + r * call->x_stride;
      if (call->kind == RITZ_FRONT_FORWARD)
        forward(&f, x);
      else
        backward(&f, x);
    }
  }
  return CEED_ERROR_SUCCESS;
}
