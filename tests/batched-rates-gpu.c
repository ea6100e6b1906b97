// SPDX-License-Identifier: BSD-2-Clause
// Rates of batched dense algebra on a device, beside those of cuBLAS and cuSOLVER where the dynamic linker
// finds them; that results are those of /cpu/self/ref:
//
//     batched-rates-gpu [--ceed RESOURCE] [--sizes LIST] [--precisions f64,f32] [--routines LIST]
//                       [--entries N] [--batches N]
//
// Square matrices, N entries an operand (`--entries`); solves have one right-hand side, trsm n. Of each call
// the bytes that must move and the flops; "share": of the rate of a copy of as many bytes. Medians of
// batches of 4 calls on 4 copies. Exit status: 1 where a result is wrong. Run by hand.
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ritz/batched.h>
#include <ritz/vector.h>

#include "backends/gpu/gpu.h"
#include "core/vector.h"
#include "jit/files.h"
#include "tests/tap.h"

enum { COPIES = 4, MAX_BATCHES = 101, SAMPLE = 64 };

typedef struct {
  const char *resource, *sizes, *precisions, *routines;
  double entries;
  int num_batches;
} Options;

static bool set_option(Options *o, const char *name, const char *text) {
  if (!strcmp(name, "--ceed")) return o->resource = text, true;
  if (!strcmp(name, "--sizes")) return o->sizes = text, true;
  if (!strcmp(name, "--precisions")) return o->precisions = text, true;
  if (!strcmp(name, "--routines")) return o->routines = text, true;
  if (!strcmp(name, "--entries")) return (o->entries = atof(text)) >= 4096;
  if (!strcmp(name, "--batches")) return (o->num_batches = atoi(text)) > 0 && o->num_batches <= MAX_BATCHES;
  return false;
}

// ---- The vendor's libraries ----

typedef struct {
  void *blas, *solver;               // libraries; NULL: not there
  void *blas_handle, *solver_handle; // owned by the process
} Vendor;

typedef int (*Create)(void **handle);
typedef int (*SetStream)(void *handle, void *stream);

static void *open_one(const char *const *names) {
  void *library = NULL;
  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

// The function of a pointer that dlsym gives.
#define LOOK_UP(type, variable, library, name)                                                               \
  type variable = NULL;                                                                                      \
  if (library) *(void **)&variable = dlsym(library, name)

static void *make_handle(void **library, const char *create_name, const char *stream_name, void *stream) {
  void *handle = NULL;
  LOOK_UP(Create, create, *library, create_name);
  LOOK_UP(SetStream, set_stream, *library, stream_name);
  if (!create || !set_stream || create(&handle) || set_stream(handle, stream)) *library = NULL;
  return handle;
}

static Vendor open_vendor(Ceed ceed) {
  static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
  static const char *const solver[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL};
  Vendor v = {open_one(blas), open_one(solver), NULL, NULL};
  void *stream = (void *)ritz_gpu(ceed)->stream;
  v.blas_handle = make_handle(&v.blas, "cublasCreate_v2", "cublasSetStream_v2", stream);
  v.solver_handle = make_handle(&v.solver, "cusolverDnCreate", "cusolverDnSetStream", stream);
  return v;
}

// ---- Routines ----

typedef enum {
  GEMM,
  GEMV,
  GETRF,
  GETRF_NP,
  GETRS,
  GETRI,
  INV,
  POTRF,
  POTRS,
  TRSM,
  TRSV,
  NUM_ROUTINES
} Routine;
static const char *const routine_names[] = {"gemm", "gemv",  "getrf", "getrfnp", "getrs", "getri",
                                            "inv",  "potrf", "potrs", "trsm",    "trsv"};

typedef struct {
  RitzBatchedOperation operation;
  RitzPivot pivot;
  bool has_B, has_C, is_vector, is_positive, needs_factors, changes_A;
  double flops, entries; // over n^3 or, of vectors, n^2; that must move, over n^2
} Form;

static const Form forms[] = {
    [GEMM] = {RITZ_BATCHED_GEMM, 0, true, true, false, true, false, false, 2, 3},
    [GEMV] = {RITZ_BATCHED_GEMV, 0, true, true, true, true, false, false, 2, 1},
    [GETRF] = {RITZ_BATCHED_GETRF, RITZ_PIVOT_ROWS, false, false, false, false, false, true, 2 / 3.0, 2},
    [GETRF_NP] = {RITZ_BATCHED_GETRF, RITZ_PIVOT_NONE, false, false, false, true, false, true, 2 / 3.0, 2},
    [GETRS] = {RITZ_BATCHED_GETRS, RITZ_PIVOT_ROWS, true, false, true, false, true, false, 2, 1},
    [GETRI] = {RITZ_BATCHED_GETRI, RITZ_PIVOT_ROWS, false, false, false, false, true, true, 4 / 3.0, 2},
    [INV] = {RITZ_BATCHED_INV, 0, true, false, false, false, false, false, 2, 2},
    [POTRF] = {RITZ_BATCHED_POTRF, 0, false, false, false, true, false, true, 1 / 3.0, 1},
    [POTRS] = {RITZ_BATCHED_POTRS, 0, true, false, true, true, true, false, 2, 0.5},
    [TRSM] = {RITZ_BATCHED_TRSM, 0, true, false, false, true, false, false, 1, 2.5},
    [TRSV] = {RITZ_BATCHED_TRSV, 0, true, false, true, true, false, false, 1, 0.5},
};

static double bytes_of(const Form *f, int n, int64_t count, CeedScalarType precision) {
  const double vectors = f->is_vector ? 2.0 * n : 0; // read and written, or two of them
  return (f->entries * n * n + vectors) * (double)count * (double)ritz_scalar_bytes(precision);
}

static double flops_of(const Form *f, int n, int64_t count) {
  return f->flops * n * n * (f->is_vector ? 1 : n) * (double)count;
}

// ---- Data ----

// Of one size and precision. Square matrices are A: rows of diagonally dominant ones, each shifted by the
// number of its matrix, so that pivots swap; or not shifted, whose lower triangles are positive definite.
typedef struct {
  Ceed ceed, host;
  const Options *options;
  const Vendor *vendor;
  int n;
  int64_t count;
  CeedScalarType precision;
  CeedVector start[2], other, A[COPIES], B[COPIES], C; // start: shifted or not; other: square, any
  void *ipiv, *info, *pointers[2][COPIES];             // device memory; pointers: to matrices of A, B
  double copy_rate;
  bool is_right;
} Set;

static void store(void *array, int64_t i, double value, CeedScalarType precision) {
  if (precision == CEED_SCALAR_FP32)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

static int fill(CeedVector vec, int n, int dominance, bool is_shifted) {
  uint64_t seed = 7;
  void *array;
  CeedCall(ritz_vector_lock(vec, RITZ_ACCESS_WRITE, CEED_MEM_HOST, &array));
  for (CeedSize e = 0; e < vec->length; e++) {
    const int64_t i = e / ((int64_t)n * n), row = e % n, col = e / n % n;
    const int64_t from = is_shifted ? (row + i) % n : row;
    store(array, e, tap_uniform(&seed) + (from == col ? dominance : 0), vec->precision);
  }
  return ritz_vector_unlock(vec, RITZ_ACCESS_WRITE, &array, CEED_ERROR_SUCCESS);
}

static int upload_pointers(Set *s, CeedVector vec, int64_t step, void **pointers) {
  char **addresses = NULL;
  void *base;
  CeedCall(ritz_vector_lock(vec, RITZ_ACCESS_READ_WRITE, s->ceed->backend.mem_type, &base));
  CeedCall(ritz_vector_unlock(vec, RITZ_ACCESS_READ_WRITE, &base, CEED_ERROR_SUCCESS));
  CeedCall(ritz_vector_lock(vec, RITZ_ACCESS_READ, s->ceed->backend.mem_type, &base));
  CeedCall(RITZ_MALLOC(s->ceed, (size_t)s->count, &addresses));
  for (int64_t i = 0; i < s->count; i++)
    addresses[i] = (char *)base + (size_t)(i * step) * ritz_scalar_bytes(s->precision);
  CeedCall(ritz_vector_unlock(vec, RITZ_ACCESS_READ, &base, CEED_ERROR_SUCCESS));
  const int ierr = ritz_gpu_upload(s->ceed, (size_t)s->count * sizeof(void *), addresses, pointers);
  RITZ_FREE(&addresses);
  return ierr;
}

static int make_set(Set *s) {
  const CeedSize length = (CeedSize)s->n * s->n * s->count;
  CeedVector *const vectors[] = {&s->start[0], &s->start[1], &s->other, &s->C};
  for (int i = 0; i < 4; i++)
    CeedCall(ritz_vector_create(s->ceed, "batched-rates-gpu", length, s->precision, vectors[i]));
  for (int c = 0; c < COPIES; c++) {
    CeedCall(ritz_vector_create(s->ceed, "batched-rates-gpu", length, s->precision, &s->A[c]));
    CeedCall(ritz_vector_create(s->ceed, "batched-rates-gpu", length, s->precision, &s->B[c]));
  }
  CeedCall(fill(s->start[0], s->n, 2 * s->n, false));
  CeedCall(fill(s->start[1], s->n, 2 * s->n, true));
  CeedCall(fill(s->other, s->n, 0, false));
  CeedCall(CeedVectorCopy(s->other, s->C));
  CeedCall(ritz_gpu_alloc(s->ceed, (size_t)(s->count * s->n) * sizeof(int32_t), &s->ipiv));
  CeedCall(ritz_gpu_alloc(s->ceed, (size_t)s->count * sizeof(int32_t), &s->info));
  for (int c = 0; c < COPIES; c++) {
    CeedCall(CeedVectorCopy(s->start[0], s->A[c]));
    CeedCall(CeedVectorCopy(s->other, s->B[c]));
  }
  return CEED_ERROR_SUCCESS;
}

static void destroy_set(Set *s) {
  CeedVector *const vectors[] = {&s->start[0], &s->start[1], &s->other, &s->C};
  for (int i = 0; i < 4; i++) CeedVectorDestroy(vectors[i]);
  for (int c = 0; c < COPIES; c++) {
    CeedVectorDestroy(&s->A[c]);
    CeedVectorDestroy(&s->B[c]);
    for (int i = 0; i < 2; i++) ritz_gpu_free(s->ceed, &s->pointers[i][c]);
  }
  ritz_gpu_free(s->ceed, &s->ipiv);
  ritz_gpu_free(s->ceed, &s->info);
}

// ---- Calls ----

static int call(RitzBatched b, int64_t count, const RitzBatchArray *A, const RitzBatchArray *B,
                const RitzBatchArray *C, int32_t *ipiv, int32_t *info, RitzBatchedOperation operation) {
  switch (operation) {
  case RITZ_BATCHED_GEMM: return RitzGemmBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_GEMV: return RitzGemvBatched(b, count, 1, A, B, 0, C);
  case RITZ_BATCHED_POTRF: return RitzPotrfBatched(b, count, A, info);
  case RITZ_BATCHED_POTRS: return RitzPotrsBatched(b, count, A, B, info);
  case RITZ_BATCHED_GETRF: return RitzGetrfBatched(b, count, A, ipiv, info);
  case RITZ_BATCHED_GETRS: return RitzGetrsBatched(b, count, A, ipiv, B, info);
  case RITZ_BATCHED_GETRI: return RitzGetriBatched(b, count, A, ipiv, info);
  case RITZ_BATCHED_INV: return RitzInvBatched(b, count, A, B, info);
  case RITZ_BATCHED_TRSM: return RitzTrsmBatched(b, count, 1, A, B);
  case RITZ_BATCHED_TRSV: return RitzTrsvBatched(b, count, A, B);
  }
  return CEED_ERROR_UNSUPPORTED;
}

static int make_object(Ceed ceed, const Form *f, int n, CeedScalarType precision, RitzBatched *b) {
  const RitzBatchLayout square = {.precision = precision, .m = n, .n = n};
  const RitzBatchLayout other = {.precision = precision, .m = n, .n = f->is_vector ? 1 : n};
  const RitzBatchedOptions options = {.pivot = f->pivot, .A = square, .B = other, .C = other};
  return RitzBatchedCreate(ceed, f->operation, &options, b);
}

static int call_on(Set *s, RitzBatched b, const Form *f, CeedVector A, CeedVector B) {
  RitzBatchArray a, x, c;
  CeedCall(RitzBatchArrayFromVector(A, RITZ_ACCESS_READ_WRITE, &a));
  CeedCall(RitzBatchArrayFromVector(B, RITZ_ACCESS_READ_WRITE, &x));
  CeedCall(RitzBatchArrayFromVector(s->C, RITZ_ACCESS_READ_WRITE, &c));
  const int ierr = call(b, s->count, &a, &x, &c, s->ipiv, s->info, f->operation);
  CeedCall(RitzBatchArrayRestoreVector(&c));
  CeedCall(RitzBatchArrayRestoreVector(&x));
  return ierr | RitzBatchArrayRestoreVector(&a);
}

// Operands as they are before a call. Factors are those of a call of the library.
static int prepare(Set *s, const Form *f) {
  for (int c = 0; c < COPIES; c++) {
    CeedCall(CeedVectorCopy(s->start[f->is_positive ? 0 : 1], s->A[c]));
    CeedCall(CeedVectorCopy(s->other, s->B[c]));
    if (!f->needs_factors) continue;
    const Form *first = &forms[f->is_positive ? POTRF : GETRF];
    RitzBatched b = NULL;
    CeedCall(make_object(s->ceed, first, s->n, s->precision, &b));
    CeedCall(call_on(s, b, first, s->A[c], s->B[c]));
    CeedCall(RitzBatchedDestroy(&b));
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The vendor's calls ----

#define SAME(precision, d, s) ((precision) == CEED_SCALAR_FP32 ? (s) : (d))

static int vendor_factorize(const Set *s, Routine r, void **A, void **B) {
  typedef int (*Getrf)(void *, int, void **, int, int *, int *, int);
  typedef int (*Inverse)(void *, int, void **, int, void **, int, int *, int);
  typedef int (*Potrf)(void *, int, int, void **, int, int *, int);
  const Vendor *v = s->vendor;
  const CeedScalarType p = s->precision;
  const int n = s->n, count = (int)s->count;
  LOOK_UP(Getrf, getrf, v->blas, SAME(p, "cublasDgetrfBatched", "cublasSgetrfBatched"));
  LOOK_UP(Inverse, matinv, v->blas, SAME(p, "cublasDmatinvBatched", "cublasSmatinvBatched"));
  LOOK_UP(Potrf, potrf, v->solver, SAME(p, "cusolverDnDpotrfBatched", "cusolverDnSpotrfBatched"));
  if (r == INV) return !matinv || n > 32 || matinv(v->blas_handle, n, A, n, B, n, s->info, count);
  if (r == POTRF) return !potrf || potrf(v->solver_handle, 0, n, A, n, s->info, count);
  return !getrf || getrf(v->blas_handle, n, A, n, r == GETRF ? s->ipiv : NULL, s->info, count);
}

static int vendor_solve(const Set *s, Routine r, void **A, void **B) {
  typedef int (*Getrs)(void *, int, int, int, void **, int, const int *, void **, int, int *, int);
  typedef int (*Potrs)(void *, int, int, int, void **, int, void **, int, int *, int);
  typedef int (*Trsm)(void *, int, int, int, int, int, int, const void *, void **, int, void **, int, int);
  const Vendor *v = s->vendor;
  const CeedScalarType p = s->precision;
  const int n = s->n, count = (int)s->count;
  const double one = 1;
  const float one_f32 = 1;
  int info;
  LOOK_UP(Getrs, getrs, v->blas, SAME(p, "cublasDgetrsBatched", "cublasSgetrsBatched"));
  LOOK_UP(Trsm, trsm, v->blas, SAME(p, "cublasDtrsmBatched", "cublasStrsmBatched"));
  LOOK_UP(Potrs, potrs, v->solver, SAME(p, "cusolverDnDpotrsBatched", "cusolverDnSpotrsBatched"));
  if (r == GETRS) return !getrs || getrs(v->blas_handle, 0, n, 1, A, n, s->ipiv, B, n, &info, count);
  if (r == POTRS) return !potrs || potrs(v->solver_handle, 0, n, 1, A, n, B, n, s->info, count);
  return !trsm || trsm(v->blas_handle, 0, 0, 0, 0, n, r == TRSV ? 1 : n,
                       SAME(p, (const void *)&one, (const void *)&one_f32), A, n, B, n, count);
}

static int vendor_multiply(Set *s, Routine r, CeedVector A, CeedVector B) {
  typedef int (*Gemm)(void *, int, int, int, int, int, const void *, const void *, int, long long,
                      const void *, int, long long, const void *, void *, int, long long, int);
  const Vendor *v = s->vendor;
  const CeedScalarType p = s->precision;
  const int n = s->n, columns = r == GEMV ? 1 : n;
  const double numbers[2] = {1, 0};
  const float numbers_f32[2] = {1, 0};
  const void *one = SAME(p, (const void *)&numbers[0], (const void *)&numbers_f32[0]);
  const void *zero = SAME(p, (const void *)&numbers[1], (const void *)&numbers_f32[1]);
  RitzBatchArray a, b, c;
  LOOK_UP(Gemm, gemm, v->blas, SAME(p, "cublasDgemmStridedBatched", "cublasSgemmStridedBatched"));
  if (!gemm) return 1;
  CeedCall(RitzBatchArrayFromVector(A, RITZ_ACCESS_READ, &a));
  CeedCall(RitzBatchArrayFromVector(B, RITZ_ACCESS_READ, &b));
  CeedCall(RitzBatchArrayFromVector(s->C, RITZ_ACCESS_READ_WRITE, &c));
  const int ierr = gemm(v->blas_handle, 0, 0, n, columns, n, one, a.base, n, (long long)n * n, b.base, n,
                        (long long)n * columns, zero, c.base, n, (long long)n * columns, (int)s->count);
  CeedCall(RitzBatchArrayRestoreVector(&c));
  CeedCall(RitzBatchArrayRestoreVector(&b));
  return ierr | RitzBatchArrayRestoreVector(&a);
}

static int vendor_call(Set *s, Routine r, int copy) {
  if (r == GEMM || r == GEMV) return vendor_multiply(s, r, s->A[copy], s->B[copy]);
  if (r == GETRI || !s->pointers[0][copy]) return 1; // the vendor's is out of place: see inv
  void **A = s->pointers[0][copy], **B = s->pointers[1][copy];
  return r == GETRF || r == GETRF_NP || r == POTRF || r == INV ? vendor_factorize(s, r, A, B)
                                                               : vendor_solve(s, r, A, B);
}

// ---- Times ----

static int wait_for(Ceed ceed) {
  return ritz_gpu(ceed)->driver->synchronize(ceed, ritz_gpu(ceed)->device, ritz_gpu(ceed)->stream);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// b: NULL: the vendor's, or with r = NUM_ROUTINES a copy. *seconds < 0: there is none.
static int time_calls(Set *s, Routine r, RitzBatched b, double *seconds) {
  double times[MAX_BATCHES];
  const int num = s->options->num_batches;
  *seconds = -1;
  for (int i = -1; i < num; i++) { // the first one is not counted
    if (r < NUM_ROUTINES) CeedCall(prepare(s, &forms[r]));
    CeedCall(wait_for(s->ceed));
    const double begin = ritz_seconds();
    for (int c = 0; c < COPIES; c++) {
      if (r == NUM_ROUTINES)
        CeedCall(CeedVectorCopy(s->other, s->B[c]));
      else if (b)
        CeedCall(call_on(s, b, &forms[r], s->A[c], s->B[c]));
      else if (vendor_call(s, r, c))
        return CEED_ERROR_SUCCESS;
    }
    CeedCall(wait_for(s->ceed));
    if (i >= 0) times[i] = (ritz_seconds() - begin) / COPIES;
  }
  qsort(times, (size_t)num, sizeof(double), ascending);
  *seconds = times[num / 2];
  return CEED_ERROR_SUCCESS;
}

// ---- Results ----

static double entry(const void *array, int64_t i, CeedScalarType precision) {
  return precision == CEED_SCALAR_FP32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

// Part of a vector's entries, on the host.
static int read_part(CeedVector vec, int64_t first, int64_t num, void *to) {
  const size_t size = ritz_scalar_bytes(vec->precision);
  void *array;
  CeedCall(ritz_vector_lock(vec, RITZ_ACCESS_READ, CEED_MEM_HOST, &array));
  memcpy(to, (const char *)array + (size_t)first * size, (size_t)num * size);
  return ritz_vector_unlock(vec, RITZ_ACCESS_READ, &array, CEED_ERROR_SUCCESS);
}

// The reference on matrices first ... first + num - 1: results over `result`.
static int compute(Set *s, Routine r, int64_t first, int64_t num, void *A, void *B, void *C) {
  const Form *f = &forms[r];
  const int64_t square = (int64_t)s->n * s->n, step = f->is_vector ? s->n : square;
  RitzBatchArray a = {.base = A}, b = {.base = B}, c = {.base = C};
  RitzBatched object = NULL;
  int32_t *ipiv = NULL, *info = NULL;
  CeedCall(read_part(s->start[f->is_positive ? 0 : 1], first * square, num * square, A));
  CeedCall(read_part(s->other, first * step, num * step, B));
  CeedCall(RITZ_MALLOC(s->host, (size_t)(num * s->n), &ipiv));
  CeedCall(RITZ_MALLOC(s->host, (size_t)num, &info));
  for (int pass = f->needs_factors ? 0 : 1; pass < 2; pass++) {
    const Form *now = pass ? f : &forms[f->is_positive ? POTRF : GETRF];
    CeedCall(make_object(s->host, now, s->n, s->precision, &object));
    CeedCall(call(object, num, &a, &b, &c, ipiv, info, now->operation));
    CeedCall(RitzBatchedDestroy(&object));
  }
  RITZ_FREE(&ipiv);
  RITZ_FREE(&info);
  return CEED_ERROR_SUCCESS;
}

// The largest difference of results over the largest entry, of matrices at one end of the batch.
static int compare_part(Set *s, Routine r, int64_t first, int64_t num, double *worst) {
  const Form *f = &forms[r];
  const int64_t square = (int64_t)s->n * s->n;
  const int64_t step = f->changes_A || !f->is_vector ? square : s->n;
  const size_t bytes = (size_t)(num * square) * sizeof(double);
  char *arrays = NULL;
  CeedCall(RITZ_MALLOC(s->host, 4 * bytes, &arrays));
  void *A = arrays, *B = arrays + bytes, *C = arrays + 2 * bytes, *found = arrays + 3 * bytes;
  CeedCall(compute(s, r, first, num, A, B, C));
  const void *wanted = f->changes_A ? A : f->has_C ? C : B;
  CeedCall(read_part(f->changes_A ? s->A[0] : f->has_C ? s->C : s->B[0], first * step, num * step, found));
  double largest = 0, difference = 0;
  for (int64_t i = 0; i < num * step; i++) {
    const double x = entry(wanted, i, s->precision), d = fabs(x - entry(found, i, s->precision));
    largest = fabs(x) > largest ? fabs(x) : largest;
    if (!(d <= difference)) difference = d; // keeps what is no number
  }
  RITZ_FREE(&arrays);
  if (!(difference / largest <= *worst)) *worst = difference / largest;
  return CEED_ERROR_SUCCESS;
}

static int check(Set *s, Routine r, RitzBatched b, double *worst) {
  const int64_t num = s->count < SAMPLE ? s->count : SAMPLE;
  *worst = 0;
  CeedCall(prepare(s, &forms[r]));
  CeedCall(call_on(s, b, &forms[r], s->A[0], s->B[0]));
  CeedCall(compare_part(s, r, 0, num, worst));
  return compare_part(s, r, s->count - num, num, worst);
}

// ---- Tables ----

static int measure(Set *s, Routine r) {
  const Form *f = &forms[r];
  const double eps = s->precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON;
  const double bytes = bytes_of(f, s->n, s->count, s->precision), flops = flops_of(f, s->n, s->count);
  double seconds, vendor, worst;
  RitzBatched b = NULL;
  CeedCall(make_object(s->ceed, f, s->n, s->precision, &b));
  CeedCall(check(s, r, b, &worst));
  CeedCall(time_calls(s, r, b, &seconds));
  CeedCall(time_calls(s, r, NULL, &vendor));
  const bool is_right = worst <= 100 * s->n * eps; // matrices are well conditioned
  printf("%-8s %3d  %s %9lld  %9.4f  %8.1f  %9.1f  %5.1f  ", routine_names[r], s->n,
         s->precision == CEED_SCALAR_FP32 ? "f32" : "f64", (long long)s->count, seconds * 1e3,
         bytes / seconds * 1e-9, flops / seconds * 1e-9, 100 * bytes / seconds / s->copy_rate);
  if (vendor > 0)
    printf("%9.4f  %6.2f", vendor * 1e3, vendor / seconds);
  else
    printf("%9s  %6s", "-", "-");
  printf("  %.0e%s\n", worst, is_right ? "" : "  WRONG");
  fflush(stdout);
  s->is_right = s->is_right && is_right;
  return RitzBatchedDestroy(&b);
}

// Whether a word is in a list between commas.
static bool is_in(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = list; at && *at; at = strchr(at, ','), at += at != NULL) {
    if (strcspn(at, ",") == length && !strncmp(at, word, length)) return true;
  }
  return false;
}

static int measure_set(Set *s) {
  double seconds;
  CeedCall(make_set(s));
  for (int c = 0; c < COPIES && s->vendor->blas; c++)
    CeedCall(upload_pointers(s, s->A[c], (int64_t)s->n * s->n, &s->pointers[0][c]));
  CeedCall(time_calls(s, NUM_ROUTINES, NULL, &seconds));
  s->copy_rate = 2.0 * (double)s->other->length * (double)ritz_scalar_bytes(s->precision) / seconds;
  for (int r = 0; r < NUM_ROUTINES; r++) {
    if (!is_in(s->options->routines, "all") && !is_in(s->options->routines, routine_names[r])) continue;
    const int64_t step = forms[r].is_vector ? s->n : (int64_t)s->n * s->n;
    for (int c = 0; c < COPIES && s->vendor->blas; c++) {
      ritz_gpu_free(s->ceed, &s->pointers[1][c]);
      CeedCall(upload_pointers(s, s->B[c], step, &s->pointers[1][c]));
    }
    CeedCall(measure(s, (Routine)r));
  }
  return CEED_ERROR_SUCCESS;
}

static int measure_all(Ceed ceed, Ceed host, const Options *o, bool *is_right) {
  const Vendor vendor = open_vendor(ceed);
  int ierr = CEED_ERROR_SUCCESS;
  for (const char *at = o->sizes; !ierr && at && *at; at = strchr(at, ','), at += at != NULL) {
    const int n = atoi(at);
    for (int single = 0; single < 2 && !ierr && n > 0; single++) {
      Set s = {.ceed = ceed,
               .host = host,
               .options = o,
               .vendor = &vendor,
               .n = n,
               .count = (int64_t)(o->entries / n / n),
               .precision = single ? CEED_SCALAR_FP32 : CEED_SCALAR_FP64,
               .is_right = true};
      if (!is_in(o->precisions, single ? "f32" : "f64") || s.count < 1) continue;
      ierr = measure_set(&s);
      destroy_set(&s);
      *is_right = *is_right && s.is_right;
    }
  }
  return ierr;
}

int main(int argc, char **argv) {
  Options o = {"/gpu/cuda/gen", "2,4,8,12,16,24,32,48,64", "f64,f32", "all", 33554432, 7};
  Ceed ceed, host;
  bool is_right = true;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && set_option(&o, argv[i], argv[i + 1])) continue;
    fprintf(stderr, "batched-rates-gpu: '%s': see the head of tests/batched-rates-gpu.c\n", argv[i]);
    return 2;
  }
  if (CeedInit(o.resource, &ceed) || CeedInit("/cpu/self/ref", &host)) return 1;
  printf("routine    n  real  matrices         ms      GB/s    GFLOP/s  share   vendor ms   ratio  error\n");
  const int ierr = measure_all(ceed, host, &o, &is_right);
  CeedDestroy(&ceed);
  CeedDestroy(&host);
  return ierr || !is_right;
}
