// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts on hosts, in double (slot front_run, core/fronts.h): a front at a time on a thread. F11
// and F21 are factorized by blocks of columns, each updated by all columns before it; products are made of
// tiles in registers, of operands that are packed (Goto & van de Geijn, Anatomy of high-performance matrix
// multiplication, 2008).
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "core/fronts.h"
#include "core/loops.h"
#include "core/memory.h"

enum {
  LANES = 8,
  DEPTH = 256,     // columns of packed operands
  MOST_ROWS = 96,  // of A that are packed at once, a multiple of the rows of tiles
  MOST_COLS = 480, // of B that are packed at once, a multiple of the columns of tiles
  BLOCK = 64,      // columns that are updated together by all before them
  PANEL = 8,       // of these, columns that are updated together by the rest
  MAX_TILE = 24 * 8
};

typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double))));

#define UNROLL _Pragma("GCC unroll 24")

// ---- Tiles ----

// c [cols][rows] = A B^T for packed operands a [k][rows], b [k][cols]; rows = 8 num_vectors.
RITZ_INLINED void make_tile(int num_vectors, int cols, int64_t k, const double *a, const double *b,
                            double *c) {
  Lanes sum[3][8];
  UNROLL for (int e = 0; e < num_vectors * cols; e++) sum[e % num_vectors][e / num_vectors] = (Lanes){0};
  for (int64_t p = 0; p < k; p++, a += LANES * num_vectors, b += cols) {
    UNROLL for (int v = 0; v < num_vectors; v++) {
      const Lanes column = *(const Lanes *)(const void *)(a + LANES * v);
      UNROLL for (int j = 0; j < cols; j++) sum[v][j] += column * b[j];
    }
  }
  UNROLL for (int e = 0; e < num_vectors * cols; e++) * (Lanes *)(void *)(c + LANES * e) =
      sum[e % num_vectors][e / num_vectors];
}

RITZ_WIDE static void make_wide_tile(int64_t k, const double *a, const double *b, double *c) {
  make_tile(3, 8, k, a, b, c);
}
RITZ_CLONED static void make_narrow_tile(int64_t k, const double *a, const double *b, double *c) {
  make_tile(1, 4, k, a, b, c);
}

// Tiles of one call; what a thread has for packed operands.
typedef struct {
  int rows, cols;
  void (*make)(int64_t k, const double *a, const double *b, double *c);
  double *a, *b; // [MOST_ROWS DEPTH], [MOST_COLS DEPTH]
} Tiles;

static Tiles choose_tiles(double *work) {
  Tiles t = {.rows = LANES, .cols = 4, .make = make_narrow_tile, .a = work, .b = work + MOST_ROWS * DEPTH};
  if (RITZ_HAS_WIDE) {
    t.rows = 3 * LANES;
    t.cols = 8;
    t.make = make_wide_tile;
  }
  return t;
}

// Rows of a matrix [n][k], column-major, in groups of `rows`: group g at g rows k, its entry (r, p) at p rows
// + r; zeros behind the last row.
static void pack(int64_t n, int64_t k, const double *from, int64_t ld, int rows, double *to) {
  for (int64_t g = 0; g < n; g += rows, to += rows * k) {
    const int64_t num = n - g < rows ? n - g : rows;
    for (int64_t p = 0; p < k; p++) {
      double *restrict line = to + p * rows;
      const double *column = from + g + p * ld;
      if (num == rows) {
        memcpy(line, column, (size_t)rows * sizeof(*line));
      } else {
        for (int r = 0; r < rows; r++) line[r] = r < num ? column[r] : 0;
      }
    }
  }
}

static void subtract_tile(const Tiles *t, int64_t rows, int64_t cols, const double *tile, double *c,
                          int64_t ld) {
  const int64_t m = rows < t->rows ? rows : t->rows, n = cols < t->cols ? cols : t->cols;
  for (int64_t j = 0; j < n; j++) {
    double *restrict to = c + j * ld;
    const double *from = tile + j * t->rows;
    for (int64_t i = 0; i < m; i++) to[i] -= from[i];
  }
}

// C -= A B^T, C m x n of which the lower triangle counts (entries above it may change), A m x k, B n x k;
// A and B in one matrix with leading dimension ld.
static void subtract_product(const Tiles *t, int64_t m, int64_t n, int64_t k, const double *a,
                             const double *b, int64_t ld, double *c, int64_t ldc) {
  double tile[MAX_TILE] __attribute__((aligned(64)));
  for (int64_t j0 = 0; j0 < n; j0 += MOST_COLS) {
    const int64_t nj = n - j0 < MOST_COLS ? n - j0 : MOST_COLS;
    for (int64_t p0 = 0; p0 < k; p0 += DEPTH) {
      const int64_t np = k - p0 < DEPTH ? k - p0 : DEPTH;
      pack(nj, np, b + j0 + p0 * ld, ld, t->cols, t->b);
      for (int64_t i0 = j0; i0 < m; i0 += MOST_ROWS) {
        const int64_t ni = m - i0 < MOST_ROWS ? m - i0 : MOST_ROWS;
        pack(ni, np, a + i0 + p0 * ld, ld, t->rows, t->a);
        for (int64_t j = 0; j < nj && j0 + j < i0 + ni; j += t->cols)
          for (int64_t i = 0; i < ni; i += t->rows) {
            if (i0 + i + t->rows <= j0 + j) continue;
            t->make(np, t->a + i * np, t->b + j * np, tile);
            subtract_tile(t, ni - i, nj - j, tile, c + i0 + i + (j0 + j) * ldc, ldc);
          }
      }
    }
  }
}

// ---- Factorization ----

// Columns first .. end - 1 of a matrix with m rows, of which columns before have been subtracted. Returns the
// first one whose pivot is not positive, or `end`.
RITZ_CLONED static int64_t factorize_panel(int64_t m, int64_t first, int64_t end, double *a, int64_t ld) {
  for (int64_t j = first; j < end; j++) {
    double *restrict column = a + j * ld;
    if (!(column[j] > 0)) return j;
    const double root = sqrt(column[j]), inverse = 1 / root;
    column[j] = root;
    for (int64_t i = j + 1; i < m; i++) column[i] *= inverse;
    for (int64_t c = j + 1; c < end; c++) {
      double *restrict to = a + c * ld;
      const double factor = column[c];
      for (int64_t i = c; i < m; i++) to[i] -= factor * column[i];
    }
  }
  return end;
}

// F11 and F21: n columns of m rows.
static int64_t factorize_columns(const Tiles *t, int64_t m, int64_t n, double *a, int64_t ld) {
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t end = first + BLOCK < n ? first + BLOCK : n;
    double *block = a + first + first * ld;
    if (first > 0) subtract_product(t, m - first, end - first, first, a + first, a + first, ld, block, ld);
    for (int64_t j = first; j < end; j += PANEL) {
      const int64_t next = j + PANEL < end ? j + PANEL : end;
      const double *row = a + j + first * ld;
      if (j > first) subtract_product(t, m - j, next - j, j - first, row, row, ld, a + j + j * ld, ld);
      const int64_t bad = factorize_panel(m, j, next, a, ld);
      if (bad < next) return bad;
    }
  }
  return n;
}

// ---- Solutions ----

// Four columns at once: x[i] -= sum of a[i] x; rows behind them.
RITZ_CLONED static void forward(int64_t m, int64_t n, const double *a, int64_t ld, double *restrict x) {
  for (int64_t j = 0; j < n; j += 4) {
    const int64_t end = j + 4 < n ? j + 4 : n;
    for (int64_t c = j; c < end; c++) {
      const double value = x[c] /= a[c + c * ld];
      for (int64_t i = c + 1; i < end; i++) x[i] -= a[i + c * ld] * value;
    }
    if (end - j == 4) {
      const double *p = a + j * ld, *q = p + ld, *r = q + ld, *s = r + ld;
      const double xp = x[j], xq = x[j + 1], xr = x[j + 2], xs = x[j + 3];
      for (int64_t i = end; i < m; i++) x[i] -= (p[i] * xp + q[i] * xq) + (r[i] * xr + s[i] * xs);
    } else {
      for (int64_t c = j; c < end; c++)
        for (int64_t i = end; i < m; i++) x[i] -= a[i + c * ld] * x[c];
    }
  }
}

// Sums over rows first .. m - 1 of up to four columns times x.
RITZ_INLINED void add_products(int64_t first, int64_t m, int num, const double *a, int64_t ld,
                               const double *x, double *sum) {
  Lanes part[4] = {{0}};
  int64_t i = first;
  for (; i + LANES <= m; i += LANES) {
    const Lanes value = *(const Lanes *)(const void *)(x + i);
    for (int c = 0; c < num; c++) part[c] += *(const Lanes *)(const void *)(a + i + c * ld) * value;
  }
  for (int c = 0; c < num; c++) {
    sum[c] = 0;
    for (int l = 0; l < LANES; l++) sum[c] += part[c][l];
    for (int64_t k = i; k < m; k++) sum[c] += a[k + c * ld] * x[k];
  }
}

RITZ_CLONED static void backward(int64_t m, int64_t n, const double *a, int64_t ld, double *x) {
  for (int64_t end = n; end > 0;) {
    const int64_t first = end % 4 ? end - end % 4 : end - 4;
    double sum[4] = {0};
    if (end - first == 4)
      add_products(end, m, 4, a + first * ld, ld, x, sum);
    else
      for (int64_t c = first; c < end; c++) add_products(end, m, 1, a + c * ld, ld, x, sum + (c - first));
    for (int64_t c = end - 1; c >= first; c--) {
      for (int64_t i = c + 1; i < end; i++) sum[c - first] += a[i + c * ld] * x[i];
      x[c] = (x[c] - sum[c - first]) / a[c + c * ld];
    }
    end = first;
  }
}

// ---- Batches ----

typedef struct {
  RitzFront front;
  const RitzFrontCall *call;
  double *work; // of each slot
} Run;

enum { WORK = (MOST_ROWS + MOST_COLS) * DEPTH };

static int32_t factorize(const Tiles *t, const RitzFrontArrays *f, int64_t i) {
  const int64_t d1 = f->d1[i], d2 = f->d2[i], ld = f->panel_lds[i];
  double *panel = (double *)f->panels + f->panel_offsets[i];
  const int64_t bad = factorize_columns(t, d1 + d2, d1, panel, ld);
  if (bad < d1) return (int32_t)bad + 1;
  if (d2 > 0)
    subtract_product(t, d2, d2, d1, panel + d1, panel + d1, ld, (double *)f->updates + f->update_offsets[i],
                     f->update_lds[i]);
  return 0;
}

static void run_range(void *data, int slot, int64_t first, int64_t count) {
  const Run *r = data;
  const RitzFrontCall *call = r->call;
  const RitzFrontArrays *f = call->arrays;
  const Tiles tiles = choose_tiles(r->work + (int64_t)slot * WORK);
  for (int64_t i = first; i < first + count; i++) {
    const bool is_bad = f->d1[i] < 0 || f->d1[i] > r->front->d1 || f->d2[i] < 0 || f->d2[i] > r->front->d2;
    const double *panel = (const double *)f->panels + f->panel_offsets[i];
    if (is_bad || call->kind == RITZ_FRONT_FACTORIZE) {
      const int32_t info = is_bad ? RITZ_FRONT_BAD_SIZE : factorize(&tiles, f, i);
      if (call->info) call->info[i] = info;
    } else if (call->kind == RITZ_FRONT_FORWARD) {
      forward(f->d1[i] + f->d2[i], f->d1[i], panel, f->panel_lds[i], (double *)call->x + call->x_offsets[i]);
    } else {
      backward(f->d1[i] + f->d2[i], f->d1[i], panel, f->panel_lds[i], (double *)call->x + call->x_offsets[i]);
    }
  }
}

int ritz_cpu_front_run(RitzFront front, const RitzFrontCall *call) {
  Run run = {.front = front, .call = call};
  int num_slots = 1;
  if (call->kind == RITZ_FRONT_FACTORIZE) {
    RITZ_TRY(ritz_run_ranges_slots(front->ceed, &num_slots));
    RITZ_TRY(RITZ_MALLOC(front->ceed, (size_t)num_slots * WORK, &run.work));
  }
  const int ierr = ritz_run_elements(front->ceed, call->count, run_range, &run);
  RITZ_FREE(&run.work);
  return ierr;
}
