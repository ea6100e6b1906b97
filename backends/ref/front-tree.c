// SPDX-License-Identifier: BSD-2-Clause
// What moves between the fronts of a tree (core/front.h), on the host: slot front_tree_run. A front takes
// from its children, in their order, so nothing depends on who does which.
#include <string.h>

#include "backends/ref/ref.h"
#include "core/front.h"

typedef struct {
  const RitzFrontTree *tree;
  const RitzFrontTreeAction *action;
} Run;

static void move(const RitzFrontTreeAction *a) {
  const double *in = a->in;
  const float *in_f32 = a->in;
  double *out = a->out;
  float *out_f32 = a->out;

  for (int64_t k = 0; k < a->count; k++) {
    const int64_t i = a->from ? a->from[k] : k, o = a->to ? a->to[k] : k;
    const double value = a->in_type == CEED_SCALAR_FP32 ? (double)in_f32[i] : in[i];

    if (a->out_type == CEED_SCALAR_FP32)
      out_f32[o] = (float)value;
    else
      out[o] = value;
  }
}

// Adds the lower triangle of a child's F22: column j is the parent's column up[j], in the panel or in F22.
static void add_child(const Run *r, int64_t f, int64_t child) {
  const RitzFrontTree *t = r->tree;
  const int64_t n = t->d2[child], d1 = t->d1[f], d2 = t->d2[f], ld = t->order[f];
  const int32_t *up = t->up + t->rows[child] + t->d1[child];
  const double *from = r->action->child_updates + t->update[child];

  for (int64_t j = 0; j < n; j++) {
    const int64_t col = up[j];
    double *restrict to = col < d1 ? r->action->panels + t->panel[f] + col * ld
                                   : r->action->updates + t->update[f] + (col - d1) * d2 - d1;

    for (int64_t i = j; i < n; i++) to[up[i]] += from[i + j * n];
  }
}

static void extend(void *data, int slot, int64_t first, int64_t count) {
  const Run *r = data;
  const RitzFrontTree *t = r->tree;

  (void)slot;
  for (int64_t k = first; k < first + count; k++) {
    const int64_t f = r->action->first + k, d2 = t->d2[f];

    if (d2 > 0) memset(r->action->updates + t->update[f], 0, (size_t)(d2 * d2) * sizeof(double));
    for (int64_t c = t->children[f]; c < t->children[f + 1]; c++) add_child(r, f, c);
  }
}

static void forward(void *data, int slot, int64_t first, int64_t count) {
  const Run *r = data;
  const RitzFrontTree *t = r->tree;

  (void)slot;
  for (int64_t k = first; k < first + count; k++) {
    const int64_t f = r->action->first + k;
    for (int rhs = 0; rhs < r->action->num_rhs; rhs++) {
      double *all = r->action->x + rhs * r->action->x_stride, *x = all + t->rows[f];

      for (int64_t i = t->d1[f]; i < t->order[f]; i++) x[i] = 0;
      for (int64_t c = t->children[f]; c < t->children[f + 1]; c++)
        for (int64_t i = t->d1[c]; i < t->order[c]; i++) x[t->up[t->rows[c] + i]] += all[t->rows[c] + i];
    }
  }
}

static void backward(void *data, int slot, int64_t first, int64_t count) {
  const Run *r = data;
  const RitzFrontTree *t = r->tree;

  (void)slot;
  for (int64_t k = first; k < first + count; k++) {
    const int64_t f = r->action->first + k, parent = t->parent[f];

    if (parent < 0) continue;
    for (int rhs = 0; rhs < r->action->num_rhs; rhs++) {
      double *all = r->action->x + rhs * r->action->x_stride, *x = all + t->rows[f];
      const double *of_parent = all + t->rows[parent];
      for (int64_t i = t->d1[f]; i < t->order[f]; i++) x[i] = of_parent[t->up[t->rows[f] + i]];
    }
  }
}

int ritz_ref_front_tree_run(Ceed ceed, const RitzFrontTree *tree, const RitzFrontTreeAction *action) {
  Run r = {tree, action};

  switch (action->kind) {
  case RITZ_FRONT_TREE_MOVE: move(action); return CEED_ERROR_SUCCESS;
  case RITZ_FRONT_TREE_EXTEND_ADD: return ritz_run_elements(ceed, action->count, extend, &r);
  case RITZ_FRONT_TREE_FORWARD: return ritz_run_elements(ceed, action->count, forward, &r);
  default: return ritz_run_elements(ceed, action->count, backward, &r);
  }
}
