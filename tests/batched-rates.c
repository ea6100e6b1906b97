// SPDX-License-Identifier: BSD-2-Clause
// Rates of batched dense algebra on one host, beside a loop over OpenBLAS or LAPACK where they are found at
// run time:
//
//     batched-rates [--ceed RESOURCE] [--routines LIST] [--sizes LIST] [--precisions f64,f32]
//                   [--layouts strided,interleaved] [--places cache,memory] [--rounds N] [--columns N]
//
// LIST: words between commas; routines gemm, gemv, potrf, getrf, getrfnp (without pivots), getrs, potrs,
// trsm, trsv, inv; columns of right-hand sides (trsm: n). Each round restores the data and times one call of
// each side in turn; medians. Batches fill half of the second cache, or 64 MiB. Run by hand.
#include <dlfcn.h>
#include <math.h>
#include <ritz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "jit/files.h"
#include "tests/tap.h"

enum { MAX_ROUNDS = 201, CACHE_BYTES = 384 << 10, MEMORY_BYTES = 64 << 20 };

typedef struct {
  const char *resource, *routines, *sizes, *precisions, *layouts, *places;
  int num_rounds, columns;
} Options;

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--routines")) return o->routines = text, true;
  if (!strcmp(name, "--sizes")) return o->sizes = text, true;
  if (!strcmp(name, "--precisions")) return o->precisions = text, true;
  if (!strcmp(name, "--layouts")) return o->layouts = text, true;
  if (!strcmp(name, "--places")) return o->places = text, true;
  if (!strcmp(name, "--columns")) return (o->columns = atoi(text)) > 0 && o->columns <= 64;
  if (!strcmp(name, "--rounds")) return (o->num_rounds = atoi(text)) > 0 && o->num_rounds <= MAX_ROUNDS;
  return false;
}

// The word of a list that begins at *at, which moves behind it; false: there is none.
static bool next_word(const char **at, char word[32]) {
  const size_t length = strcspn(*at, ",");
  if (!**at) return false;
  snprintf(word, 32, "%.*s", (int)length, *at);
  *at += length + ((*at)[length] != '\0');
  return true;
}

// ---- The other side ----

typedef void (*Routine)(void); // with Fortran's arguments

static void *libraries[2];

static void open_libraries(void) {
  void (*set_threads)(int);

  libraries[0] = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
  libraries[1] = libraries[0] ? NULL : dlopen("liblapack.so.3", RTLD_NOW | RTLD_GLOBAL);
  for (int i = 0; i < 2 && libraries[i]; i++) {
    void *symbol = dlsym(libraries[i], "openblas_set_num_threads");
    memcpy(&set_threads, &symbol, sizeof(symbol));
    if (symbol) set_threads(1);
  }
  printf("# beside %s\n", libraries[0]   ? "libopenblas.so.0"
                          : libraries[1] ? "liblapack.so.3"
                                         : "nothing: neither libopenblas.so.0 nor liblapack.so.3");
}

static Routine find_routine(CeedScalarType precision, const char *root) {
  char name[32];
  Routine routine = NULL;

  snprintf(name, sizeof(name), "%c%s_", precision == CEED_SCALAR_FP32 ? 's' : 'd', root);
  for (int i = 0; i < 2 && !routine; i++) {
    void *symbol = libraries[i] ? dlsym(libraries[i], name) : NULL;
    memcpy(&routine, &symbol, sizeof(symbol));
  }
  return routine;
}

// ---- One measurement ----

typedef struct {
  const char *name, *root; // ours, LAPACK's
  RitzBatchedOperation operation;
  RitzPivot pivot;
  double flops; // of n^3, or with columns of n^2 columns
  int of_B;     // columns of B: 0 none, 1 one, 2 as asked for, 3 n
  bool has_C;
} Row;

static const Row rows[] = {
    {"gemm", "gemm", RITZ_BATCHED_GEMM, RITZ_PIVOT_ROWS, 2, 3, true},
    {"gemv", "gemv", RITZ_BATCHED_GEMV, RITZ_PIVOT_ROWS, 2, 1, true},
    {"potrf", "potrf", RITZ_BATCHED_POTRF, RITZ_PIVOT_ROWS, 1. / 3, 0, false},
    {"getrf", "getrf", RITZ_BATCHED_GETRF, RITZ_PIVOT_ROWS, 2. / 3, 0, false},
    {"getrfnp", NULL, RITZ_BATCHED_GETRF, RITZ_PIVOT_NONE, 2. / 3, 0, false},
    {"potrs", "potrs", RITZ_BATCHED_POTRS, RITZ_PIVOT_ROWS, 2, 2, false},
    {"getrs", "getrs", RITZ_BATCHED_GETRS, RITZ_PIVOT_ROWS, 2, 2, false},
    {"trsm", "trsm", RITZ_BATCHED_TRSM, RITZ_PIVOT_ROWS, 1, 3, false},
    {"trsv", "trsv", RITZ_BATCHED_TRSV, RITZ_PIVOT_ROWS, 1, 1, false},
    {"inv", "inv", RITZ_BATCHED_INV, RITZ_PIVOT_ROWS, 2, 3, false},
};
enum { NUM_ROWS = sizeof(rows) / sizeof(rows[0]) };

typedef struct {
  const Row *row;
  CeedScalarType precision;
  int n, columns; // of B
  int64_t count, width;
  size_t size, num_A, num_B;       // bytes of an entry; entries of all, padded to whole groups
  char *start[3], *data[3];        // owned: A, B, C as they begin, and of our calls
  char *other_start[3], *other[3]; // owned: the same of the other side, strided
  int32_t *ipiv, *info;            // owned
  RitzBatched batched;
} Case;

// Entry (row, col) of matrix i of `columns` columns.
static void set(const Case *c, char *data, int columns, int64_t i, int row, int col, int64_t width,
                double value) {
  const int64_t at = (i / width * c->n * columns + row + (int64_t)col * c->n) * width + i % width;

  if (c->precision == CEED_SCALAR_FP32)
    ((float *)(void *)data)[at] = (float)value;
  else
    ((double *)(void *)data)[at] = value;
}

// Random; of factorizations without pivots and solves the diagonal dominates.
static void fill(const Case *c, char *const *start, int64_t width) {
  const bool dominates = c->row->operation != RITZ_BATCHED_GETRF || c->row->pivot == RITZ_PIVOT_NONE;
  uint64_t state = 7;

  for (int64_t i = 0; i < c->count; i++) {
    for (int col = 0; col < c->n; col++) {
      for (int r = 0; r < c->n; r++)
        set(c, start[0], c->n, i, r, col, width, tap_uniform(&state) + (r == col && dominates ? c->n : 0));
    }
    for (int k = 0; k < c->n; k++) c->ipiv[i * c->n + k] = k + 1;
  }
  for (int64_t i = 0; i < c->count && c->num_B; i++) {
    for (int col = 0; col < c->columns; col++) {
      for (int r = 0; r < c->n; r++) set(c, start[1], c->columns, i, r, col, width, tap_uniform(&state));
    }
  }
}

static int allocate(Case *c) {
  for (int k = 0; k < 3; k++) {
    const size_t num = (k == 0 ? c->num_A : c->num_B) * c->size + 64;
    char **const arrays[] = {&c->start[k], &c->data[k], &c->other_start[k], &c->other[k]};

    for (int i = 0; i < 4; i++) {
      CeedCall(RITZ_MALLOC(NULL, num, arrays[i]));
      memset(*arrays[i], 0, num);
    }
  }
  CeedCall(RITZ_CALLOC(NULL, (size_t)(c->count * c->n), &c->ipiv));
  return RITZ_CALLOC(NULL, (size_t)c->count, &c->info);
}

static void release(Case *c) {
  for (int k = 0; k < 3; k++) {
    RITZ_FREE(&c->start[k]);
    RITZ_FREE(&c->data[k]);
    RITZ_FREE(&c->other_start[k]);
    RITZ_FREE(&c->other[k]);
  }
  RITZ_FREE(&c->ipiv);
  RITZ_FREE(&c->info);
  RitzBatchedDestroy(&c->batched);
}

static void restore(const Case *c, char *const *from, char *const *to) {
  memcpy(to[0], from[0], c->num_A * c->size);
  if (c->num_B) memcpy(to[1], from[1], c->num_B * c->size);
}

static int call_ours(const Case *c) {
  const RitzBatchArray A = {.base = c->data[0]}, B = {.base = c->data[1]}, C = {.base = c->data[2]};

  switch (c->row->operation) {
  case RITZ_BATCHED_GEMM: return RitzGemmBatched(c->batched, c->count, 1, &A, &B, 0, &C);
  case RITZ_BATCHED_GEMV: return RitzGemvBatched(c->batched, c->count, 1, &A, &B, 0, &C);
  case RITZ_BATCHED_POTRF: return RitzPotrfBatched(c->batched, c->count, &A, c->info);
  case RITZ_BATCHED_POTRS: return RitzPotrsBatched(c->batched, c->count, &A, &B, c->info);
  case RITZ_BATCHED_GETRF: return RitzGetrfBatched(c->batched, c->count, &A, c->ipiv, c->info);
  case RITZ_BATCHED_GETRS: return RitzGetrsBatched(c->batched, c->count, &A, c->ipiv, &B, c->info);
  case RITZ_BATCHED_INV: return RitzInvBatched(c->batched, c->count, &A, &B, c->info);
  case RITZ_BATCHED_TRSM: return RitzTrsmBatched(c->batched, c->count, 1, &A, &B);
  default: return RitzTrsvBatched(c->batched, c->count, &A, &B);
  }
}

typedef void (*Gemm)(const char *, const char *, const int *, const int *, const int *, const void *,
                     const void *, const int *, const void *, const int *, const void *, void *, const int *);
typedef void (*Gemv)(const char *, const int *, const int *, const void *, const void *, const int *,
                     const void *, const int *, const void *, void *, const int *);
typedef void (*Potrf)(const char *, const int *, void *, const int *, int *);
typedef void (*Getrf)(const int *, const int *, void *, const int *, int *, int *);
typedef void (*Potrs)(const char *, const int *, const int *, const void *, const int *, void *, const int *,
                      int *);
typedef void (*Getrs)(const char *, const int *, const int *, const void *, const int *, const int *, void *,
                      const int *, int *);
typedef void (*Trsm)(const char *, const char *, const char *, const char *, const int *, const int *,
                     const void *, const void *, const int *, void *, const int *);
typedef void (*Trsv)(const char *, const char *, const char *, const int *, const void *, const int *, void *,
                     const int *);
typedef void (*Getri)(const int *, void *, const int *, const int *, void *, const int *, int *);

// A loop over all matrices; INV: getrf and getri.
static void call_theirs(const Case *c, Routine r, Routine getrf, Routine getri) {
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool is_single = c->precision == CEED_SCALAR_FP32;
  const void *one = is_single ? (const void *)&one32 : &one64,
             *zero = is_single ? (const void *)&zero32 : &zero64;
  const int n = c->n, k = c->columns, inc = 1, num_work = 4096;
  double work[4096];
  int info = 0;

  for (int64_t i = 0; i < c->count; i++) {
    char *A = c->other[0] + (size_t)(i * n * n) * c->size, *B = c->other[1] + (size_t)(i * n * k) * c->size;
    char *C = c->other[2] + (size_t)(i * n * k) * c->size;
    int32_t *ipiv = c->ipiv + i * n;

    switch (c->row->operation) {
    case RITZ_BATCHED_GEMM: ((Gemm)r)("N", "N", &n, &n, &n, one, A, &n, B, &n, zero, C, &n); break;
    case RITZ_BATCHED_GEMV: ((Gemv)r)("N", &n, &n, one, A, &n, B, &inc, zero, C, &inc); break;
    case RITZ_BATCHED_POTRF: ((Potrf)r)("L", &n, A, &n, &info); break;
    case RITZ_BATCHED_POTRS: ((Potrs)r)("L", &n, &k, A, &n, B, &n, &info); break;
    case RITZ_BATCHED_GETRF: ((Getrf)r)(&n, &n, A, &n, ipiv, &info); break;
    case RITZ_BATCHED_GETRS: ((Getrs)r)("N", &n, &k, A, &n, ipiv, B, &n, &info); break;
    case RITZ_BATCHED_TRSM: ((Trsm)r)("L", "L", "N", "N", &n, &k, one, A, &n, B, &n); break;
    case RITZ_BATCHED_TRSV: ((Trsv)r)("L", "N", "N", &n, A, &n, B, &inc); break;
    default:
      ((Getrf)getrf)(&n, &n, A, &n, ipiv, &info);
      ((Getri)getri)(&n, A, &n, ipiv, work, &num_work, &info);
    }
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, int num) {
  qsort(times, (size_t)num, sizeof(double), ascending);
  return times[num / 2];
}

// Seconds of a call of each side; theirs 0: there is none.
static int time_case(const Case *c, int num_rounds, double *ours, double *theirs) {
  const bool is_inverse = c->row->operation == RITZ_BATCHED_INV;
  const Routine getrf = find_routine(c->precision, "getrf"), getri = find_routine(c->precision, "getri");
  const Routine routine = !c->row->root ? NULL
                          : is_inverse  ? getri
                                        : find_routine(c->precision, c->row->root);
  double times[2][MAX_ROUNDS];

  restore(c, c->start, c->data);
  CeedCall(call_ours(c));
  for (int i = 0; i < num_rounds; i++) {
    restore(c, c->start, c->data);
    double begin = ritz_seconds();
    CeedCall(call_ours(c));
    times[0][i] = ritz_seconds() - begin;
    if (!routine) continue;
    restore(c, c->other_start, c->other);
    begin = ritz_seconds();
    call_theirs(c, routine, getrf, getri);
    times[1][i] = ritz_seconds() - begin;
  }
  *ours = median(times[0], num_rounds);
  *theirs = routine ? median(times[1], num_rounds) : 0;
  return CEED_ERROR_SUCCESS;
}

static int make_case(Ceed ceed, Case *c) {
  const int width = (int)c->width;
  const RitzBatchLayout A = {.precision = c->precision, .m = c->n, .n = c->n, .width = width};
  const RitzBatchLayout B = {.precision = c->precision, .m = c->n, .n = c->columns, .width = width};
  const RitzBatchedOptions options = {.pivot = c->row->pivot, .A = A, .B = B, .C = B};

  CeedCall(allocate(c));
  fill(c, c->start, c->width);
  fill(c, c->other_start, 1);
  return RitzBatchedCreate(ceed, c->row->operation, &options, &c->batched);
}

static int measure(Ceed ceed, const Options *o, const Row *row, int n, CeedScalarType precision,
                   bool is_interleaved, bool in_memory) {
  Case c = {.row = row, .precision = precision, .n = n, .size = ritz_scalar_bytes(precision)};
  double ours = 0, theirs = 0;

  c.columns = row->of_B == 3 ? n : row->of_B == 2 ? o->columns : 1;
  const size_t bytes = (size_t)(n * (n + (row->of_B ? c.columns : 0) * (1 + row->has_C))) * c.size;
  c.count = (int64_t)((in_memory ? (size_t)MEMORY_BYTES : (size_t)CACHE_BYTES) / bytes);
  c.count = (c.count < 16 ? 16 : c.count) / 16 * 16;
  c.width = is_interleaved ? 64 / (int64_t)c.size : 1;
  c.num_A = (size_t)(c.count * n * n);
  c.num_B = row->of_B ? (size_t)(c.count * n * c.columns) : 0;
  int ierr = make_case(ceed, &c);
  if (!ierr) ierr = time_case(&c, o->num_rounds, &ours, &theirs);
  const double flops = row->flops * n * n * (row->of_B && row->operation != RITZ_BATCHED_INV ? c.columns : n);
  const double per = 1e9 / (double)c.count;
  if (!ierr)
    printf("%-8s %3d  %s  %-11s %-6s %7lld %10.1f %8.2f %10.1f %7.2f\n", row->name, n,
           precision == CEED_SCALAR_FP32 ? "f32" : "f64", is_interleaved ? "interleaved" : "strided",
           in_memory ? "memory" : "cache", (long long)c.count, ours * per, flops / (ours * per), theirs * per,
           theirs / ours);
  fflush(stdout);
  release(&c);
  return ierr;
}

static bool has_word(const char *list, const char *wanted) {
  char word[32];
  while (next_word(&list, word)) {
    if (!strcmp(word, wanted)) return true;
  }
  return false;
}

static int measure_size(Ceed ceed, const Options *o, const Row *row, int n) {
  for (int single = 0; single < 2; single++) {
    if (!has_word(o->precisions, single ? "f32" : "f64")) continue;
    for (int layout = 0; layout < 2; layout++) {
      if (!has_word(o->layouts, layout ? "interleaved" : "strided")) continue;
      for (int place = 0; place < 2; place++) {
        if (has_word(o->places, place ? "memory" : "cache"))
          CeedCall(measure(ceed, o, row, n, single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64, layout, place));
      }
    }
  }
  return CEED_ERROR_SUCCESS;
}

int main(int argc, char **argv) {
  Options o = {"/cpu/self/gen:threads=1",
               "gemm,gemv,potrf,getrf,getrfnp,potrs,getrs,trsm,trsv,inv",
               "4,8,16,24,32,48,64",
               "f64,f32",
               "strided,interleaved",
               "cache,memory",
               15,
               1};
  char word[32];
  Ceed ceed;
  int ierr = 0;

  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr, "batched-rates: '%s': see the head of tests/batched-rates.c\n", argv[i]);
    return 2;
  }
  if (CeedInit(o.resource, &ceed)) return 1;
  open_libraries();
  printf("routine    n  real layout      place    count  ns/matrix  GFLOP/s     theirs   ratio\n");
  for (int r = 0; r < NUM_ROWS; r++) {
    if (!has_word(o.routines, rows[r].name)) continue;
    for (const char *sizes = o.sizes; !ierr && next_word(&sizes, word);)
      ierr = measure_size(ceed, &o, &rows[r], atoi(word));
  }
  CeedDestroy(&ceed);
  return ierr != 0;
}
