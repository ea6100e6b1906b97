// SPDX-License-Identifier: BSD-2-Clause
// Sweeps over vertex patches (core/patch-sweep.h), patch after patch, in double: the residual of the interior
// rows, then the correction by eigenvectors; or, in the lifted form, what its formula says. Products with 1D
// tables are loops over lines.
#include <string.h>

#include "backends/ref/ref.h"
#include "core/patch-sweep.h"

typedef struct {
  const RitzPatchBox *box;
  const void *b;
  void *x;
  int comp;
  int n[3], m[3];         // interior and closure nodes, 1 beyond dim
  RitzPatchLine line[3];  // of the patch
  int64_t corner[3];      // first closure node of the patch, may be negative
  double *closure;        // [m2][m1][m0]
  double *r, *work, *sum; // [m2][m1][m0] each
} Patch;

// ---- Nodes ----

static double load(const RitzPatchBox *box, const void *v, int64_t i) {
  return box->precision == CEED_SCALAR_FP32 ? (double)((const float *)v)[i] : ((const double *)v)[i];
}

// Entry of the closure node; -1: there is none.
static int64_t entry(const Patch *p, const int c[3]) {
  const RitzPatchBox *box = p->box;
  int64_t index = 0;

  for (int d = box->dim - 1; d >= 0; d--) {
    const int64_t at = p->corner[d] + c[d];

    if (at < 0 || at >= box->nodes[d]) return -1;
    index = index * box->nodes[d] + at;
  }
  return index * box->num_comp + p->comp;
}

// Whether an interior node is free in direction d: its row of tables is not empty.
static bool is_free(const Patch *p, int d, int i) {
  return d >= p->box->dim || p->line[d].M[i * p->m[d] + i + 1] > 0;
}

// The nodes first .. first + size - 1 of the closure in all directions (0 and 1 beyond dim).
typedef void (*NodeFunction)(Patch *p, const int c[3], int64_t at);
static void for_nodes(Patch *p, bool interior, NodeFunction run) {
  const int *size = interior ? p->n : p->m;
  int64_t at = 0;

  for (int k = 0; k < size[2]; k++) {
    for (int j = 0; j < size[1]; j++) {
      for (int i = 0; i < size[0]; i++, at++) {
        const int shift = interior ? 1 : 0, two = p->box->dim > 2 ? shift : 0;
        run(p, (const int[3]){i + shift, j + shift, k + two}, at);
      }
    }
  }
}

static void read_closure(Patch *p, const int c[3], int64_t at) {
  const int64_t index = entry(p, c);
  bool is_inside = true;

  for (int d = 0; d < p->box->dim; d++) is_inside = is_inside && c[d] > 0 && c[d] < p->m[d] - 1;
  p->closure[at] =
      index < 0 || (is_inside && p->box->form != RITZ_PATCH_RESIDUAL) ? 0 : load(p->box, p->x, index);
}

static void subtract_from_b(Patch *p, const int c[3], int64_t at) {
  for (int d = 0; d < p->box->dim; d++) {
    if (!is_free(p, d, c[d] - 1)) return; // its row is zero
  }
  p->r[at] = load(p->box, p->b, entry(p, c)) - p->r[at];
}

static void write_interior(Patch *p, const int c[3], int64_t at) {
  const RitzPatchBox *box = p->box;
  const int64_t index = entry(p, c);

  for (int d = 0; d < box->dim; d++) {
    if (!is_free(p, d, c[d] - 1)) return;
  }
  const double value = p->r[at] + (box->form == RITZ_PATCH_RESIDUAL ? load(box, p->x, index) : 0);
  if (box->precision == CEED_SCALAR_FP32)
    ((float *)p->x)[index] = (float)value;
  else
    ((double *)p->x)[index] = value;
}

// ---- Lines ----

// v = table applied in direction d, to u of extents size, of which size[d] becomes `rows`. The table's entry
// (row, column) is at row * row_stride + column * column_stride.
static void contract(int size[3], int d, int rows, const double *table, int row_stride, int column_stride,
                     const double *u, double *v) {
  const int columns = size[d];
  int64_t inner = 1, outer = 1;

  for (int i = 0; i < d; i++) inner *= size[i];
  for (int i = d + 1; i < 3; i++) outer *= size[i];
  for (int64_t o = 0; o < outer; o++) {
    for (int i = 0; i < rows; i++) {
      for (int64_t k = 0; k < inner; k++) {
        double sum = 0;

        for (int c = 0; c < columns; c++)
          sum += table[i * row_stride + c * column_stride] * u[(o * columns + c) * inner + k];
        v[(o * rows + i) * inner + k] = sum;
      }
    }
  }
  size[d] = rows;
}

static void swap(double **a, double **b) {
  double *kept = *a;

  *a = *b;
  *b = kept;
}

// r = A of the closure's values on the interior rows, term by term.
static void apply_rows(Patch *p) {
  const RitzPatchBox *box = p->box;
  const int64_t num = (int64_t)p->n[0] * p->n[1] * p->n[2];

  memset(p->sum, 0, (size_t)num * sizeof(double));
  for (int term = 0; term <= 3; term++) {
    int size[3] = {p->m[0], p->m[1], p->m[2]};

    if (box->factor[term] == 0) continue;
    memcpy(p->r, p->closure, (size_t)p->m[0] * (size_t)p->m[1] * (size_t)p->m[2] * sizeof(double));
    for (int d = 0; d < box->dim; d++) {
      contract(size, d, p->n[d], d == term ? p->line[d].A : p->line[d].M, p->m[d], 1, p->r, p->work);
      swap(&p->r, &p->work);
    }
    for (int64_t i = 0; i < num; i++) p->sum[i] += box->factor[term] * p->r[i];
  }
  swap(&p->r, &p->sum);
}

static void divide(Patch *p) {
  const RitzPatchBox *box = p->box;
  int64_t at = 0;

  for (int k = 0; k < p->n[2]; k++) {
    for (int j = 0; j < p->n[1]; j++) {
      for (int i = 0; i < p->n[0]; i++, at++) {
        const int mode[3] = {i, j, k};
        double sum = box->factor[3];

        for (int d = 0; d < box->dim; d++) sum += box->factor[d] * p->line[d].lambda[mode[d]];
        p->r[at] /= sum;
      }
    }
  }
}

// r := A_II^-1 r
static void solve_ref_patch(Patch *p) {
  for (int back = 0; back < 2; back++) {
    int size[3] = {p->n[0], p->n[1], p->n[2]};

    for (int d = 0; d < p->box->dim; d++) {
      const int n = p->n[d];

      contract(size, d, n, p->line[d].S, back ? n : 1, back ? 1 : n, p->r, p->work);
      swap(&p->r, &p->work);
    }
    if (!back) divide(p);
  }
}

static void run_patch(Patch *p, const int64_t position[3]) {
  const RitzPatchBox *box = p->box;

  for (int d = 0; d < box->dim; d++) {
    p->line[d] = ritz_patch_line(box->degree, ritz_patch_table(box, d, position[d]));
    p->corner[d] = (position[d] - 1) * box->degree;
  }
  for_nodes(p, false, read_closure);
  apply_rows(p);
  for_nodes(p, true, subtract_from_b);
  solve_ref_patch(p);
  for_nodes(p, true, write_interior);
}

// ---- Sweeps ----

static void run_colour(Patch *p, int colour) {
  int64_t first[3] = {0, 0, 0}, num[3] = {1, 1, 1};

  for (int d = 0; d < p->box->dim; d++) num[d] = ritz_patch_count(p->box, d, colour >> d & 1, &first[d]);
  for (int64_t k = 0; k < num[2]; k++) {
    for (int64_t j = 0; j < num[1]; j++) {
      for (int64_t i = 0; i < num[0]; i++) {
        const int64_t position[3] = {first[0] + 2 * i, first[1] + 2 * j, first[2] + 2 * k};
        for (p->comp = 0; p->comp < p->box->num_comp; p->comp++) run_patch(p, position);
      }
    }
  }
}

int ritz_ref_patch_sweep_run(RitzPatchSweep sweep, const void *b, void *x, bool x_is_zero, bool is_reversed) {
  const RitzPatchBox *box = &sweep->box;
  Patch p = {.box = box, .b = b, .x = x, .n = {1, 1, 1}, .m = {1, 1, 1}};
  const int num_colours = 1 << box->dim;
  size_t num = 1;
  double *memory = NULL;

  for (int d = 0; d < box->dim; d++) {
    p.n[d] = 2 * box->degree - 1;
    p.m[d] = p.n[d] + 2;
    num *= (size_t)p.m[d];
  }
  RITZ_TRY(RITZ_MALLOC(sweep->ceed, 4 * num, &memory));
  p.closure = memory;
  p.r = memory + num;
  p.work = memory + 2 * num;
  p.sum = memory + 3 * num;
  if (x_is_zero) memset(x, 0, (size_t)sweep->length * ritz_scalar_bytes(box->precision));
  for (int c = 0; c < num_colours; c++) run_colour(&p, is_reversed ? num_colours - 1 - c : c);
  RITZ_FREE(&memory);
  return CEED_ERROR_SUCCESS;
}
