// SPDX-License-Identifier: BSD-2-Clause
// The other side of `ritz bench --batched` on CUDA: the batched calls of cuBLAS and cuSOLVER, looked up at
// run time. Handles are left in the legacy default stream, where contexts work unless they are told
// otherwise.
#include <dlfcn.h>
#include <string.h>

#include "cli/batched.h"
#include "cli/cli.h"

enum { BLAS, SOLVER };

// A call of the library with what all have in common.
typedef struct {
  void *handle;
  int n, columns, count;
  void *const *A, *const *B; // addresses, in device memory
  const void *one, *zero;    // in the precision
  int *ipiv, *info;          // in device memory
} VendorCall;

static void *look_up(const BatchedPeer *peer, int library, const BatchedData *d, const char *of_double,
                     const char *of_float) {
  const char *name = d->of.precision == CEED_SCALAR_FP32 ? of_float : of_double;
  return peer->libraries[library] ? dlsym(peer->libraries[library], name) : NULL;
}

// What dlsym gives as a function of this type.
#define LOOK_UP(type, variable, library, of_double, of_float)                                                \
  type variable = NULL;                                                                                      \
  do {                                                                                                       \
    void *symbol_ = look_up(peer, library, d, of_double, of_float);                                          \
    memcpy(&variable, &symbol_, sizeof(symbol_));                                                            \
    if (!variable) return CLI_FAILED;                                                                        \
  } while (0)

// ---- Calls: 0, or a status of the library ----

static int multiply(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v, int copy) {
  typedef int (*Gemm)(void *, int, int, int, int, int, const void *, const void *, int, long long,
                      const void *, int, long long, const void *, void *, int, long long, int);
  LOOK_UP(Gemm, gemm, BLAS, "cublasDgemmStridedBatched", "cublasSgemmStridedBatched");
  const int n = v->n, columns = batched_columns(&d->of, 1);
  const BatchedOperand *o = d->operand;

  return gemm(v->handle, 0, 0, n, columns, n, v->one, o[0].data[copy].array, n, (long long)n * n,
              o[1].data[copy].array, n, (long long)n * columns, v->zero, o[2].data[copy].array, n,
              (long long)n * columns, v->count);
}

static int factorize_lu(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Getrf)(void *, int, void *const *, int, int *, int *, int);
  LOOK_UP(Getrf, getrf, BLAS, "cublasDgetrfBatched", "cublasSgetrfBatched");
  int *const ipiv = d->of.routine->pivot == RITZ_PIVOT_NONE ? NULL : v->ipiv;

  return getrf(v->handle, v->n, v->A, v->n, ipiv, v->info, v->count);
}

static int invert_factors(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Getri)(void *, int, const void *const *, int, const int *, void *const *, int, int *, int);
  LOOK_UP(Getri, getri, BLAS, "cublasDgetriBatched", "cublasSgetriBatched");
  return getri(v->handle, v->n, (const void *const *)v->A, v->n, v->ipiv, v->B, v->n, v->info, v->count);
}

static int invert(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Matinv)(void *, int, const void *const *, int, void *const *, int, int *, int);
  LOOK_UP(Matinv, matinv, BLAS, "cublasDmatinvBatched", "cublasSmatinvBatched");
  if (v->n <= 32) // its limit
    return matinv(v->handle, v->n, (const void *const *)v->A, v->n, v->B, v->n, v->info, v->count);
  CLI_TRY(factorize_lu(peer, d, v));
  return invert_factors(peer, d, v);
}

static int factorize_cholesky(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Potrf)(void *, int, int, void *const *, int, int *, int);
  LOOK_UP(Potrf, potrf, SOLVER, "cusolverDnDpotrfBatched", "cusolverDnSpotrfBatched");
  return potrf(peer->handles[SOLVER], 0, v->n, v->A, v->n, v->info, v->count);
}

static int solve_lu(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Getrs)(void *, int, int, int, const void *const *, int, const int *, void *const *, int,
                       int *, int);
  LOOK_UP(Getrs, getrs, BLAS, "cublasDgetrsBatched", "cublasSgetrsBatched");
  int info; // of the arguments
  return getrs(v->handle, 0, v->n, v->columns, (const void *const *)v->A, v->n, v->ipiv, v->B, v->n, &info,
               v->count);
}

// One column, which is all that it takes.
static int solve_cholesky(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Potrs)(void *, int, int, int, void *const *, int, void *const *, int, int *, int);
  LOOK_UP(Potrs, potrs, SOLVER, "cusolverDnDpotrsBatched", "cusolverDnSpotrsBatched");
  if (v->columns != 1) return CLI_FAILED;
  return potrs(peer->handles[SOLVER], 0, v->n, 1, v->A, v->n, v->B, v->n, v->info, v->count);
}

static int solve_triangle(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Trsm)(void *, int, int, int, int, int, int, const void *, const void *const *, int,
                      void *const *, int, int);
  LOOK_UP(Trsm, trsm, BLAS, "cublasDtrsmBatched", "cublasStrsmBatched");
  return trsm(v->handle, 0, 0, 0, 0, v->n, batched_columns(&d->of, 1), v->one, (const void *const *)v->A,
              v->n, v->B, v->n, v->count);
}

static int factorize_qr(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Geqrf)(void *, int, int, void *const *, int, void *const *, int *, int);
  LOOK_UP(Geqrf, geqrf, BLAS, "cublasDgeqrfBatched", "cublasSgeqrfBatched");
  int info; // of the arguments
  return geqrf(v->handle, v->n, v->n, v->A, v->n, v->B, &info, v->count);
}

static int solve_least_squares(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
  typedef int (*Gels)(void *, int, int, int, int, void *const *, int, void *const *, int, int *, int *, int);
  LOOK_UP(Gels, gels, BLAS, "cublasDgelsBatched", "cublasSgelsBatched");
  int info; // of the arguments
  return gels(v->handle, 0, v->n, v->n, v->columns, v->A, v->n, v->B, v->n, &info, v->info, v->count);
}

static int call_vendor(const BatchedPeer *peer, const BatchedData *d, int copy) {
  static const double numbers[2] = {1, 0};
  static const float numbers_f32[2] = {1, 0};
  const bool is_single = d->of.precision == CEED_SCALAR_FP32;
  const VendorCall v = {.handle = peer->handles[BLAS],
                        .n = d->of.n,
                        .columns = d->of.columns,
                        .count = (int)d->of.count,
                        .A = (void *const *)(const void *)d->operand[0].pointers[copy].array,
                        .B = (void *const *)(const void *)d->operand[1].pointers[copy].array,
                        .one = is_single ? (const void *)&numbers_f32[0] : &numbers[0],
                        .zero = is_single ? (const void *)&numbers_f32[1] : &numbers[1],
                        .ipiv = (int *)(void *)d->ipiv.array,
                        .info = (int *)(void *)d->info.array};

  if (d->sizes || d->width > 1 || d->of.count > INT32_MAX) return CLI_FAILED;
  switch (d->of.routine->operation) {
  case RITZ_BATCHED_GEMM:
  case RITZ_BATCHED_GEMV: return multiply(peer, d, &v, copy);
  case RITZ_BATCHED_GETRF: return factorize_lu(peer, d, &v);
  case RITZ_BATCHED_GETRI: return invert_factors(peer, d, &v);
  case RITZ_BATCHED_INV: return invert(peer, d, &v);
  case RITZ_BATCHED_POTRF: return factorize_cholesky(peer, d, &v);
  case RITZ_BATCHED_GETRS: return solve_lu(peer, d, &v);
  case RITZ_BATCHED_POTRS: return solve_cholesky(peer, d, &v);
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRSV: return solve_triangle(peer, d, &v);
  case RITZ_BATCHED_GESV: return factorize_lu(peer, d, &v) || solve_lu(peer, d, &v);
  case RITZ_BATCHED_POSV: return factorize_cholesky(peer, d, &v) || solve_cholesky(peer, d, &v);
  case RITZ_BATCHED_GEQRF: return factorize_qr(peer, d, &v);
  case RITZ_BATCHED_GELS: return solve_least_squares(peer, d, &v);
  default: return CLI_FAILED;
  }
}

// ---- Libraries ----

static void *open_one(const char *const *names) {
  void *library = NULL;

  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

// What dlsym gives for a function of one handle.
static int call_with(void *library, const char *name, void *argument) {
  int (*function)(void *);
  void *symbol = dlsym(library, name);

  memcpy(&function, &symbol, sizeof(symbol));
  return symbol ? function(argument) : CLI_FAILED;
}

void batched_open_cuda_peer(BatchedPeer *peer) {
  static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
  static const char *const solver[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL};
  static const char *const create[] = {"cublasCreate_v2", "cusolverDnCreate"};

  *peer = (BatchedPeer){.needs_pointers = true, .call = call_vendor};
  peer->libraries[BLAS] = open_one(blas);
  peer->libraries[SOLVER] = open_one(solver);
  for (int i = 0; i < 2; i++) {
    if (peer->libraries[i] && call_with(peer->libraries[i], create[i], &peer->handles[i]))
      peer->libraries[i] = NULL;
  }
  if (peer->libraries[BLAS])
    snprintf(peer->name, sizeof(peer->name), peer->libraries[SOLVER] ? "cuBLAS and cuSOLVER" : "cuBLAS");
}

void batched_close_cuda_peer(BatchedPeer *peer) {
  if (peer->libraries[BLAS]) call_with(peer->libraries[BLAS], "cublasDestroy_v2", peer->handles[BLAS]);
  if (peer->libraries[SOLVER]) call_with(peer->libraries[SOLVER], "cusolverDnDestroy", peer->handles[SOLVER]);
}
