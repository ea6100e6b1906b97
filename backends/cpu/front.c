// SPDX-License-Identifier: BSD-2-Clause
// Batches of fronts on hosts, in double (slots front_*, core/front.h): a front at a time on a thread, as
// many fronts as make an equal share of the work. F11 and F21 are factorized by blocks of columns, each
// updated by all columns before it; products are made of tiles in registers, of operands that are packed
// (Goto & van de Geijn, Anatomy of high-performance matrix multiplication, 2008).
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "base/memory.h"
#include "base/simd.h"
#include "core/front.h"

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
// + r; zeros behind the last row. Columns times d[p (ld + 1)], NULL: times one.
static void pack(int64_t n, int64_t k, const double *from, int64_t ld, const double *d, int rows,
                 double *to) {
  for (int64_t g = 0; g < n; g += rows, to += rows * k) {
    const int64_t num = n - g < rows ? n - g : rows;
    for (int64_t p = 0; p < k; p++) {
      double *restrict line = to + p * rows;
      const double *column = from + g + p * ld;
      if (d) {
        const double factor = d[p * (ld + 1)];
        for (int r = 0; r < rows; r++) line[r] = r < num ? column[r] * factor : 0;
      } else if (num == rows) {
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

// C -= A D B^T, C m x n of which the lower triangle counts (entries above it may change), A m x k, B n x k;
// A and B in one matrix with leading dimension ld. d: the first of D, on the diagonal of that; NULL: ones.
static void subtract_product(const Tiles *t, int64_t m, int64_t n, int64_t k, const double *a,
                             const double *b, const double *d, int64_t ld, double *c, int64_t ldc) {
  double tile[MAX_TILE] __attribute__((aligned(64)));
  for (int64_t j0 = 0; j0 < n; j0 += MOST_COLS) {
    const int64_t nj = n - j0 < MOST_COLS ? n - j0 : MOST_COLS;
    for (int64_t p0 = 0; p0 < k; p0 += DEPTH) {
      const int64_t np = k - p0 < DEPTH ? k - p0 : DEPTH;
      pack(nj, np, b + j0 + p0 * ld, ld, d ? d + p0 * (ld + 1) : NULL, t->cols, t->b);
      for (int64_t i0 = j0; i0 < m; i0 += MOST_ROWS) {
        const int64_t ni = m - i0 < MOST_ROWS ? m - i0 : MOST_ROWS;
        pack(ni, np, a + i0 + p0 * ld, ld, NULL, t->rows, t->a);
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

// The same for L D L^T. Returns the first column whose pivot is zero or not finite.
RITZ_CLONED static int64_t factorize_panel_ldlt(int64_t m, int64_t first, int64_t end, double smallest,
                                                int32_t *num_replaced, double *a, int64_t ld) {
  for (int64_t j = first; j < end; j++) {
    double *restrict column = a + j * ld;
    if (!ritz_front_take_pivot(smallest, &column[j], num_replaced)) return j;
    const double inverse = 1 / column[j];
    for (int64_t c = j + 1; c < end; c++) {
      double *restrict to = a + c * ld;
      const double factor = column[c] * inverse;
      for (int64_t i = c; i < m; i++) to[i] -= factor * column[i];
    }
    for (int64_t i = j + 1; i < m; i++) column[i] *= inverse;
  }
  return end;
}

// F11 and F21: n columns of m rows. *num_replaced grows.
static int64_t factorize_columns(const Tiles *t, const RitzFront front, int64_t m, int64_t n, double *a,
                                 int64_t ld, int32_t *num_replaced) {
  const bool is_ldlt = front->factors == RITZ_FRONT_LDLT;
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t end = first + BLOCK < n ? first + BLOCK : n;
    double *block = a + first + first * ld;
    if (first > 0)
      subtract_product(t, m - first, end - first, first, a + first, a + first, is_ldlt ? a : NULL, ld, block,
                       ld);
    for (int64_t j = first; j < end; j += PANEL) {
      const int64_t next = j + PANEL < end ? j + PANEL : end;
      const double *row = a + j + first * ld;
      if (j > first)
        subtract_product(t, m - j, next - j, j - first, row, row, is_ldlt ? block : NULL, ld, a + j + j * ld,
                         ld);
      const int64_t bad = is_ldlt ? factorize_panel_ldlt(m, j, next, front->smallest, num_replaced, a, ld)
                                  : factorize_panel(m, j, next, a, ld);
      if (bad < next) return bad;
    }
  }
  return n;
}

// ---- Solutions ----

// Right-hand sides of a front: `num` of them, `stride` entries from one to the next.
typedef struct {
  double *x;
  int num;
  int64_t stride;
} Sides;

// Columns first .. end - 1, at most four, at once: x[i] -= sum of a[i] x. is_unit: ones are on L11's
// diagonal.
RITZ_INLINED void forward_columns(int64_t m, int64_t first, int64_t end, bool is_unit, const double *a,
                                  int64_t ld, double *restrict x) {
  for (int64_t c = first; c < end; c++) {
    const double value = x[c] /= is_unit ? 1 : a[c + c * ld];
    for (int64_t i = c + 1; i < end; i++) x[i] -= a[i + c * ld] * value;
  }
  if (end - first == 4) {
    const double *p = a + first * ld, *q = p + ld, *r = q + ld, *s = r + ld;
    const double xp = x[first], xq = x[first + 1], xr = x[first + 2], xs = x[first + 3];
    for (int64_t i = end; i < m; i++) x[i] -= (p[i] * xp + q[i] * xq) + (r[i] * xr + s[i] * xs);
  } else {
    for (int64_t c = first; c < end; c++)
      for (int64_t i = end; i < m; i++) x[i] -= a[i + c * ld] * x[c];
  }
}

RITZ_CLONED static void forward(int64_t m, int64_t n, bool is_unit, const double *a, int64_t ld,
                                const Sides *sides) {
  for (int64_t j = 0; j < n; j += 4)
    for (int r = 0; r < sides->num; r++)
      forward_columns(m, j, j + 4 < n ? j + 4 : n, is_unit, a, ld, sides->x + r * sides->stride);
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

// Columns first .. end - 1, at most four. is_unit: D is on the diagonal.
RITZ_INLINED void backward_columns(int64_t m, int64_t first, int64_t end, bool is_unit, const double *a,
                                   int64_t ld, double *x) {
  double sum[4] = {0};
  if (end - first == 4)
    add_products(end, m, 4, a + first * ld, ld, x, sum);
  else
    for (int64_t c = first; c < end; c++) add_products(end, m, 1, a + c * ld, ld, x, sum + (c - first));
  for (int64_t c = end - 1; c >= first; c--) {
    const double d = a[c + c * ld];
    for (int64_t i = c + 1; i < end; i++) sum[c - first] += a[i + c * ld] * x[i];
    x[c] = is_unit ? x[c] / d - sum[c - first] : (x[c] - sum[c - first]) / d;
  }
}

RITZ_CLONED static void backward(int64_t m, int64_t n, bool is_unit, const double *a, int64_t ld,
                                 const Sides *sides) {
  for (int64_t end = n, first; end > 0; end = first) {
    first = end % 4 ? end - end % 4 : end - 4;
    for (int r = 0; r < sides->num; r++)
      backward_columns(m, first, end, is_unit, a, ld, sides->x + r * sides->stride);
  }
}

// ---- Batches ----

typedef struct {
  RitzFront front;
  const RitzFrontCall *call;
  double *work;   // of each slot
  int64_t *begin; // owned, [count + 1]: units of work before each front; NULL: one thread
} Run;

enum { WORK = (MOST_ROWS + MOST_COLS) * DEPTH };

static bool is_bad(const Run *r, int64_t i) {
  const RitzFrontArrays *f = r->call->arrays;
  return f->d1[i] < 0 || f->d1[i] > r->front->d1 || f->d2[i] < 0 || f->d2[i] > r->front->d2;
}

static int32_t factorize_cpu_front(const Tiles *t, const RitzFront front, const RitzFrontArrays *f,
                                   int64_t i) {
  const int64_t d1 = f->d1[i], d2 = f->d2[i], ld = f->panel_lds[i];
  double *panel = (double *)f->panels + f->panel_offsets[i];
  int32_t num_replaced = 0;
  const int64_t bad = factorize_columns(t, front, d1 + d2, d1, panel, ld, &num_replaced);
  if (bad < d1) return (int32_t)bad + 1;
  if (d2 > 0)
    subtract_product(t, d2, d2, d1, panel + d1, panel + d1, front->factors == RITZ_FRONT_LDLT ? panel : NULL,
                     ld, (double *)f->updates + f->update_offsets[i], f->update_lds[i]);
  return -num_replaced;
}

static void solve_cpu_front(const Run *run, int64_t i) {
  const RitzFrontCall *call = run->call;
  const RitzFrontArrays *f = call->arrays;
  const bool is_unit = run->front->factors == RITZ_FRONT_LDLT;
  const int64_t n = f->d1[i], m = n + f->d2[i], ld = f->panel_lds[i];
  const double *panel = (const double *)f->panels + f->panel_offsets[i];
  const Sides sides = {(double *)call->x + call->x_offsets[i], call->num_rhs, call->x_stride};
  if (call->kind == RITZ_FRONT_FORWARD)
    forward(m, n, is_unit, panel, ld, &sides);
  else
    backward(m, n, is_unit, panel, ld, &sides);
}

static void run_fronts(const Run *r, int slot, int64_t first, int64_t end) {
  const RitzFrontCall *call = r->call;
  const Tiles tiles = r->work ? choose_tiles(r->work + (int64_t)slot * WORK) : (Tiles){0};
  for (int64_t i = first; i < end; i++) {
    if (call->kind == RITZ_FRONT_FACTORIZE) {
      const int32_t info =
          is_bad(r, i) ? RITZ_FRONT_BAD_SIZE : factorize_cpu_front(&tiles, r->front, call->arrays, i);
      if (call->info) call->info[i] = info;
    } else if (!is_bad(r, i)) {
      solve_cpu_front(r, i);
    }
  }
}

// ---- Shares of the work ----

// As base/ranges.h counts them: about a nanosecond each.
static int64_t units_of(const Run *r, int64_t i) {
  const double d1 = r->call->arrays->d1[i], d2 = r->call->arrays->d2[i];
  const double flops = d1 * d1 * d1 / 3 + d1 * d1 * d2 + d1 * d2 * d2;
  if (is_bad(r, i)) return 1;
  if (r->call->kind == RITZ_FRONT_FACTORIZE) return 64 + (int64_t)(flops / 16);
  return 16 + (int64_t)(d1 * (d1 + d2) * r->call->num_rhs);
}

static int count_units(Run *r) {
  const int64_t count = r->call->count;
  RITZ_TRY(RITZ_MALLOC(r->front->ceed, (size_t)count + 1, &r->begin));
  r->begin[0] = 0;
  for (int64_t i = 0; i < count; i++) r->begin[i + 1] = r->begin[i] + units_of(r, i);
  return CEED_ERROR_SUCCESS;
}

// The first front that begins at a unit or behind it.
static int64_t front_at(const Run *r, int64_t unit) {
  int64_t low = 0, high = r->call->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (r->begin[middle] < unit)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void run_units(void *data, int slot, int64_t first, int64_t count) {
  const Run *r = data;
  run_fronts(r, slot, front_at(r, first), front_at(r, first + count));
}

int ritz_cpu_front_prepare(RitzFront front) {
  front->has_kernel = true;
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_front_run(RitzFront front, const RitzFrontCall *call) {
  Run run = {.front = front, .call = call};
  int num_slots = 1;
  RITZ_TRY(ritz_run_ranges_slots(front->ceed, &num_slots));
  if (call->kind == RITZ_FRONT_FACTORIZE)
    RITZ_TRY(RITZ_MALLOC(front->ceed, (size_t)num_slots * WORK, &run.work));
  int ierr = num_slots > 1 ? count_units(&run) : CEED_ERROR_SUCCESS;
  if (!ierr && num_slots > 1)
    ierr = ritz_run_ranges(front->ceed, run.begin[call->count], run_units, &run);
  else if (!ierr)
    run_fronts(&run, 0, 0, call->count);
  RITZ_FREE(&run.work);
  RITZ_FREE(&run.begin);
  return ierr;
}
