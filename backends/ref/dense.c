// SPDX-License-Identifier: BSD-2-Clause
// Dense solver (core/dense-solver.h) on hosts: LU and Cholesky in double and float, products of rounded
// operands with sums in float as tensor cores make them, triangles, residuals. Threads are the context's;
// results do not depend on how many there are, since each entry is made by one.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "base/simd.h"
#include "core/dense-solver.h"

enum {
  COLS = 8,    // of a tile of products
  MAX_K = 256, // columns that are multiplied at once
  STRIP = 8,   // columns of a step of a triangle
  WEIGHT = 2048,
  SMALL = 64 // order up to which double is as fast
};

typedef struct {
  void *F;                       // owned: factors [n][n], double or float
  bool is_double;                // of F, where it is there
  bool is_wide;                  // vectors of 64 bytes
  void *a, *b;                   // owned while factors are made: packed operands
  int64_t *pivots;               // owned: row that was swapped with row i
  int64_t bad;                   // number of the first pivot that is refused, from 1; 0: none
  double *row_scale, *col_scale; // owned: powers of 2; row_scale includes the shift
  double *plain_row_scale;       // in the same memory: without it
  size_t factor_bytes;
} Host;

// A product, as its loops see it.
typedef struct {
  void *F, *a, *b;
  int64_t ld, row, num_rows, col, num_cols, k0, k, packed_k;
  RitzDensePrecision precision;
  bool is_symmetric, is_lower, is_wide;
} Product;

// ---- Items on the threads of the context ----

typedef struct {
  void (*run)(void *data, int64_t first, int64_t end);
  void *data;
} Items;

// Runs the items of a range of entries. An item has WEIGHT entries and belongs to the range with its first
// one.
static void run_range(void *data, int slot, int64_t first, int64_t count) {
  const Items *items = data;
  const int64_t from = (first + WEIGHT - 1) / WEIGHT, end = (first + count + WEIGHT - 1) / WEIGHT;
  (void)slot;
  if (from < end) items->run(items->data, from, end);
}

static int run_items(Ceed ceed, int64_t num, void (*run)(void *data, int64_t first, int64_t end),
                     void *data) {
  Items items = {run, data};
  return ritz_run_ranges(ceed, num * WEIGHT, run_range, &items);
}

// ---- Roundings, to nearest, ties to even ----

// float without its last `num` bits.
static inline float keep_bits(float x, int num) {
  uint32_t bits;
  if (!isfinite(x)) return x;
  memcpy(&bits, &x, sizeof(bits));
  const uint32_t last = (bits >> num) & 1;
  bits = (bits + (last + (UINT32_C(1) << (num - 1)) - 1)) & ~((UINT32_C(1) << num) - 1);
  memcpy(&x, &bits, sizeof(bits));
  return x;
}

// IEEE binary16, with its subnormal numbers and infinities.
static inline float keep_half(float x) {
  const float size = fabsf(x);
  if (size < 0x1p-14f) return rintf(x * 0x1p24f) * 0x1p-24f;
  return size < 65520 ? keep_bits(x, 13) : x > 0 ? INFINITY : x < 0 ? -INFINITY : x;
}

static void note_pivot(Host *host, int64_t i, bool is_good) {
  if (!is_good && host->bad == 0) host->bad = i + 1;
}

// Multiplications and additions as one instruction, which GCC leaves apart in standard C.
#if defined(__GNUC__) && !defined(__clang__)
#define FUSED __attribute__((optimize("fp-contract=fast")))
#else
#define FUSED
#endif

#define REAL       double
#define NAME(name) name##_f64
#define LANES      8
#include "backends/ref/dense-loops.h"

#define REAL       float
#define NAME(name) name##_f32
#define LANES      16
#include "backends/ref/dense-loops.h"

// ---- Memory ----

static RitzDensePrecision choose(const RitzDenseSolver s) {
  return s->n <= SMALL ? RITZ_DENSE_F64 : RITZ_DENSE_F32;
}

static void free_blocks(Host *host) {
  RITZ_FREE(&host->a);
  RITZ_FREE(&host->b);
}

static int destroy(RitzDenseSolver s) {
  Host *host = s->data;
  free_blocks(host);
  RITZ_FREE(&host->F);
  RITZ_FREE(&host->pivots);
  RITZ_FREE(&host->row_scale);
  RITZ_FREE(&host);
  s->data = NULL;
  return CEED_ERROR_SUCCESS;
}

static int create(RitzDenseSolver s) {
  Host *host = NULL;
  RITZ_TRY(RITZ_CALLOC(s->ceed, 1, &host));
  s->data = host;
  host->is_wide = RITZ_HAS_WIDE;
  RITZ_TRY(RITZ_MALLOC(s->ceed, (size_t)s->n, &host->pivots));
  RITZ_TRY(RITZ_MALLOC(s->ceed, 3 * (size_t)s->n + 1, &host->row_scale)); // there for n = 0, too
  host->col_scale = host->row_scale + s->n;
  host->plain_row_scale = host->col_scale + s->n;
  return CEED_ERROR_SUCCESS;
}

static int alloc(RitzDenseSolver s, int64_t num, double **p) { return RITZ_MALLOC(s->ceed, (size_t)num, p); }

static void free_vectors(RitzDenseSolver s, double **p) {
  (void)s;
  RITZ_FREE(p);
}

static int copy(RitzDenseSolver s, int64_t num, double *to, const double *from) {
  (void)s;
  if (num > 0) memmove(to, from, (size_t)num * sizeof(*to));
  return CEED_ERROR_SUCCESS;
}

static size_t num_bytes(const RitzDenseSolver s) {
  const Host *host = s->data;
  return host->factor_bytes + (size_t)s->n * (3 * sizeof(double) + sizeof(int64_t));
}

// ---- Scales ----

typedef struct {
  const double *A;
  int64_t n, ld;
  double *largest, *sums; // of rows first .. end - 1
} Rows;

static void measure_rows(void *data, int64_t first, int64_t end) {
  const Rows *m = data;
  for (int64_t i = first; i < end; i++) m->largest[i] = m->sums[i] = 0;
  for (int64_t j = 0; j < m->n; j++) {
    const double *a = m->A + j * m->ld;
    for (int64_t i = first; i < end; i++) {
      const double size = fabs(a[i]);
      m->sums[i] += size;
      if (size > m->largest[i]) m->largest[i] = size;
    }
  }
}

// Columns of what the rows' scales make of A.
static void measure_columns(RitzDenseSolver s, double *norm) {
  const Host *host = s->data;
  *norm = 0;
  for (int64_t j = 0; j < s->n; j++) {
    const double *a = s->A + j * s->ld;
    double largest = 0, sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
      const double size = fabs(a[i] * host->row_scale[i]);
      sum += size;
      if (size > largest) largest = size;
    }
    const int exponent = s->is_symmetric ? ilogb(host->row_scale[j]) : ritz_dense_exponent(largest);
    host->col_scale[j] = ldexp(1, exponent);
    if (sum * host->col_scale[j] > *norm) *norm = sum * host->col_scale[j];
  }
}

// Row scales. Symmetric matrices: roots of the absolute diagonal; entries that are not positive are refused
// later.
static void set_row_scales(RitzDenseSolver s, const double *largest) {
  Host *host = s->data;
  for (int64_t i = 0; i < s->n; i++) {
    const double diagonal = fabs(s->A[i + i * s->ld]);
    host->row_scale[i] =
        ldexp(1, s->is_symmetric ? ritz_dense_exponent(sqrt(diagonal)) : ritz_dense_exponent(largest[i]));
  }
}

static int measure(RitzDenseSolver s, bool *is_finite) {
  Host *host = s->data;
  double *work = NULL;
  RITZ_TRY(RITZ_MALLOC(s->ceed, 2 * (size_t)s->n, &work));
  Rows rows = {.A = s->A, .n = s->n, .ld = s->ld, .largest = work, .sums = work + s->n};
  measure_rows(&rows, 0, s->n);
  s->norm = 0;
  *is_finite = true;
  for (int64_t i = 0; i < s->n; i++) {
    *is_finite &= isfinite(rows.sums[i]) != 0;
    if (rows.sums[i] > s->norm) s->norm = rows.sums[i];
  }
  if (*is_finite) {
    set_row_scales(s, rows.largest);
    measure_columns(s, &s->scaled_norm);
    memcpy(host->plain_row_scale, host->row_scale, (size_t)s->n * sizeof(double));
  }
  RITZ_FREE(&work);
  return CEED_ERROR_SUCCESS;
}

// ---- Factors ----

static int load(RitzDenseSolver s, bool is_double, int shift) {
  Host *host = s->data;
  const size_t size = is_double ? sizeof(double) : sizeof(float), n = (size_t)s->n;
  const size_t factor_bytes = n * n * size, packed = MAX_K * (is_double ? 1 : 3) * size;
  if (host->factor_bytes != factor_bytes) {
    RITZ_FREE(&host->F);
    host->factor_bytes = 0;
    RITZ_TRY(ritz_malloc(s->ceed, n * n, size, &host->F));
    host->factor_bytes = factor_bytes;
  }
  free_blocks(host);
  if (!ritz_dense_is_vendor(s)) {
    RITZ_TRY(ritz_malloc(s->ceed, n + 32, packed, &host->a));
    RITZ_TRY(ritz_malloc(s->ceed, n + COLS, packed, &host->b));
  }
  host->is_double = is_double;
  host->bad = 0;
  for (int64_t i = 0; i < s->n; i++) host->row_scale[i] = ldexp(host->plain_row_scale[i], shift);
  return run_items(s->ceed, s->n, is_double ? load_columns_f64 : load_columns_f32, s);
}

#define OF_PRECISION(function, s, ...)                                                                       \
  (((const Host *)(s)->data)->is_double ? function##_f64 : function##_f32)((s), __VA_ARGS__)

static int panel(RitzDenseSolver s, int64_t first, int64_t num) { return OF_PRECISION(panel, s, first, num); }

static int swap(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  return OF_PRECISION(swap, s, first, num, col, num_cols);
}

static int solve_rows(RitzDenseSolver s, int64_t first, int64_t num, int64_t col, int64_t num_cols) {
  return OF_PRECISION(solve_rows, s, first, num, col, num_cols);
}

static int cholesky(RitzDenseSolver s, int64_t first, int64_t num) {
  return OF_PRECISION(cholesky, s, first, num);
}

static int solve_columns(RitzDenseSolver s, int64_t first, int64_t num, int64_t row, int64_t num_rows) {
  return OF_PRECISION(solve_columns, s, first, num, row, num_rows);
}

static int update(RitzDenseSolver s, const RitzDenseUpdate *u) { return OF_PRECISION(update, s, u); }

static const char *find_vendor(const RitzDenseSolver s, const char **why) {
  (void)s;
  return ritz_lapack_find(why);
}

static int factor_by_vendor(RitzDenseSolver s) {
  Host *host = s->data;
  return ritz_lapack_factor(s->ceed, s->is_symmetric, host->is_double, s->n, host->F, host->pivots,
                            &host->bad);
}

static int finish(RitzDenseSolver s, int64_t *bad) {
  Host *host = s->data;
  free_blocks(host);
  *bad = host->bad;
  return CEED_ERROR_SUCCESS;
}

static void swap_entries(double *x, int64_t i, int64_t k) {
  const double kept = x[i];
  x[i] = x[k];
  x[k] = kept;
}

static int solve(RitzDenseSolver s, bool is_transposed, double *v) {
  const Host *host = s->data;
  for (int64_t i = 0; i < s->n && !is_transposed && !s->is_symmetric; i++)
    swap_entries(v, i, host->pivots[i]);
  (host->is_double ? solve_f64 : solve_f32)(s, is_transposed, v);
  for (int64_t i = s->n - 1; i >= 0 && is_transposed && !s->is_symmetric; i--)
    swap_entries(v, i, host->pivots[i]);
  return CEED_ERROR_SUCCESS;
}

// ---- The matrix and vectors ----

// y = y - A x, rows first .. end - 1.
typedef struct {
  RitzDenseSolver s;
  const double *x;
  double *y;
} Residual;

static void subtract_rows(void *data, int64_t first, int64_t end) {
  enum { BLOCK = 64 };
  const Residual *m = data;
  const RitzDenseSolver s = m->s;
  const int64_t row = first * BLOCK, last = end * BLOCK < s->n ? end * BLOCK : s->n;
  int64_t j = 0;
  for (; j + STRIP <= s->n; j += STRIP)
    subtract_columns_f64(last - row, s->A + row + j * s->ld, s->ld, m->x + j, m->y + row);
  for (; j < s->n; j++) {
    for (int64_t i = row; i < last; i++) m->y[i] -= s->A[i + j * s->ld] * m->x[j];
  }
}

static int subtract_product(RitzDenseSolver s, const double *x, double *y) {
  Residual m = {s, x, y};
  return run_items(s->ceed, (s->n + 63) / 64, subtract_rows, &m);
}

static int largest(RitzDenseSolver s, const double *x, double *value) {
  *value = 0;
  for (int64_t i = 0; i < s->n; i++) {
    if (!(fabs(x[i]) <= *value)) *value = fabs(x[i]);
    if (isnan(*value)) break;
  }
  return CEED_ERROR_SUCCESS;
}

static int residual(RitzDenseSolver s, const double *b, const double *x, double *r, double norms[2]) {
  memcpy(r, b, (size_t)s->n * sizeof(*r));
  RITZ_TRY(subtract_product(s, x, r));
  RITZ_TRY(largest(s, r, &norms[0]));
  return largest(s, x, &norms[1]);
}

static int product(RitzDenseSolver s, const double *x, double *y) {
  const Host *host = s->data;
  double *scaled = ritz_dense_vector(s, RITZ_DENSE_Z);
  for (int64_t i = 0; i < s->n; i++) {
    scaled[i] = -host->col_scale[i] * x[i];
    y[i] = 0;
  }
  RITZ_TRY(subtract_product(s, scaled, y));
  for (int64_t i = 0; i < s->n; i++) y[i] *= host->row_scale[i];
  return CEED_ERROR_SUCCESS;
}

static int scale_rows(RitzDenseSolver s, const double *r, double *z) {
  const Host *host = s->data;
  for (int64_t i = 0; i < s->n; i++) z[i] = host->row_scale[i] * r[i];
  return CEED_ERROR_SUCCESS;
}

static int add_columns(RitzDenseSolver s, double factor, const double *z, double *x) {
  const Host *host = s->data;
  for (int64_t i = 0; i < s->n; i++) x[i] += factor * (host->col_scale[i] * z[i]);
  return CEED_ERROR_SUCCESS;
}

static int combine(RitzDenseSolver s, int num, const double *V, const double *h, double beta, double *w) {
  for (int64_t i = 0; i < s->n && beta != 1; i++) w[i] = beta == 0 ? 0 : beta * w[i];
  for (int k = 0; k < num; k++) subtract_multiple_f64(s->n, -h[k], V + k * s->stride, w);
  return CEED_ERROR_SUCCESS;
}

static int orthogonalize(RitzDenseSolver s, int num, const double *V, double *w, double *h) {
  double part[RITZ_DENSE_RESTART];
  for (int i = 0; i < num; i++) h[i] = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < num; i++) part[i] = -dot_f64(s->n, V + i * s->stride, w);
    for (int i = 0; i < num; i++) h[i] -= part[i];
    RITZ_TRY(combine(s, num, V, part, 1, w));
  }
  h[num] = sqrt(dot_f64(s->n, w, w));
  return combine(s, 0, NULL, NULL, h[num] > 0 ? 1 / h[num] : 1, w);
}

static void explain(const RitzDenseSolver s, FILE *stream) {
  (void)s;
  fprintf(stream, "  factorizations by halves, products in tiles of 16 x %d doubles or 32 x %d floats\n",
          COLS, COLS);
}

static const RitzDenseVendor vendor = {
    .name = "LAPACK", .least_order = RITZ_DENSE_NEVER, .find = find_vendor, .factor = factor_by_vendor};

const RitzDenseMethods ritz_ref_dense =
    RITZ_DENSE_METHODS("the library's own loops on the host", RITZ_DENSE_BLOCK, copy, copy);
