// SPDX-License-Identifier: BSD-2-Clause
// The other side of `ritz bench --batched` on CUDA: the batched calls of cuBLAS and cuSOLVER, looked up at
// run time. Handles are left in the legacy default stream, where contexts work unless they are told
// otherwise.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bench/batched.h"
#include "cli/cli.h"

enum { BLAS, SOLVER, DRIVER };

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

// Looks a function of this type up by dlsym.
#define LOOK_UP(type, variable, library, of_double, of_float)                                                \
  type variable = NULL;                                                                                      \
  do {                                                                                                       \
    void *symbol_ = look_up(peer, library, d, of_double, of_float);                                          \
    memcpy(&variable, &symbol_, sizeof(symbol_));                                                            \
    if (!variable) return CLI_FAILED;                                                                        \
  } while (0)

// ---- Calls: 0, or a status of the library ----

static int multiply_by_cublas(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v, int copy) {
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

static int invert_by_cublas(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v) {
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

// ---- Rotations: parameters of the library and room in device memory, which are made by the first call ----

typedef struct BatchedRotations_private {
  void *of_values, *of_vectors; // syevjInfo_t, gesvdjInfo_t
  unsigned long long room;      // device memory
  size_t num_bytes;
} Rotations;

// Calls a function of one pointer by its name in a library.
static int call_with(void *library, const char *name, void *argument) {
  int (*function)(void *);
  void *symbol = library ? dlsym(library, name) : NULL;

  memcpy(&function, &symbol, sizeof(symbol));
  return symbol ? function(argument) : CLI_FAILED;
}

static void free_room(const BatchedPeer *peer) {
  typedef int (*Free)(unsigned long long);
  Rotations *r = peer->rotations;
  Free release;
  void *symbol = peer->libraries[DRIVER] ? dlsym(peer->libraries[DRIVER], "cuMemFree_v2") : NULL;

  memcpy(&release, &symbol, sizeof(symbol));
  if (symbol && r->num_bytes) release(r->room);
  r->num_bytes = 0;
}

static int reserve_room(const BatchedPeer *peer, size_t num_bytes, char **room) {
  typedef int (*Alloc)(unsigned long long *, size_t);
  Rotations *r = peer->rotations;
  Alloc allocate;
  void *symbol = peer->libraries[DRIVER] ? dlsym(peer->libraries[DRIVER], "cuMemAlloc_v2") : NULL;

  memcpy(&allocate, &symbol, sizeof(symbol));
  if (!symbol) return CLI_FAILED;
  if (num_bytes > r->num_bytes) {
    free_room(peer);
    CLI_TRY(allocate(&r->room, num_bytes));
    r->num_bytes = num_bytes;
  }
  *room = (char *)(uintptr_t)r->room;
  return CLI_OK;
}

static int find_eigenvalues(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v, int copy) {
  typedef int (*Size)(void *, int, int, int, const void *, int, const void *, int *, void *, int);
  typedef int (*Syevj)(void *, int, int, int, void *, int, void *, void *, int, int *, void *, int);
  LOOK_UP(Size, size, SOLVER, "cusolverDnDsyevjBatched_bufferSize", "cusolverDnSsyevjBatched_bufferSize");
  LOOK_UP(Syevj, syevj, SOLVER, "cusolverDnDsyevjBatched", "cusolverDnSsyevjBatched");
  void *const handle = peer->handles[SOLVER], *A = d->operand[0].data[copy].array;
  void *const w = d->operand[1].data[copy].array;
  Rotations *r = peer->rotations;
  const int n = v->n;
  int num;
  char *room;

  if (!r->of_values) CLI_TRY(call_with(peer->libraries[SOLVER], "cusolverDnCreateSyevjInfo", &r->of_values));
  CLI_TRY(size(handle, 1, 0, n, A, n, w, &num, r->of_values, v->count));
  CLI_TRY(reserve_room(peer, (size_t)num * batched_entry_bytes(&d->of), &room));
  return syevj(handle, 1, 0, n, A, n, w, room, num, v->info, r->of_values, v->count);
}

// U is another array.
static int find_singular_values(const BatchedPeer *peer, const BatchedData *d, const VendorCall *v,
                                int copy) {
  typedef int (*Size)(void *, int, int, int, const void *, int, const void *, const void *, int, const void *,
                      int, int *, void *, int);
  typedef int (*Gesvdj)(void *, int, int, int, void *, int, void *, void *, int, void *, int, void *, int,
                        int *, void *, int);
  LOOK_UP(Size, size, SOLVER, "cusolverDnDgesvdjBatched_bufferSize", "cusolverDnSgesvdjBatched_bufferSize");
  LOOK_UP(Gesvdj, gesvdj, SOLVER, "cusolverDnDgesvdjBatched", "cusolverDnSgesvdjBatched");
  void *const handle = peer->handles[SOLVER], *A = d->operand[0].data[copy].array;
  void *const s = d->operand[1].data[copy].array, *V = d->operand[2].data[copy].array;
  Rotations *r = peer->rotations;
  const int n = v->n;
  const size_t entry_bytes = batched_entry_bytes(&d->of), u_bytes = (size_t)n * n * v->count * entry_bytes;
  int num;
  char *u;

  if (n > 32) return CLI_FAILED; // its limit
  if (!r->of_vectors)
    CLI_TRY(call_with(peer->libraries[SOLVER], "cusolverDnCreateGesvdjInfo", &r->of_vectors));
  CLI_TRY(size(handle, 1, n, n, A, n, s, A, n, V, n, &num, r->of_vectors, v->count));
  CLI_TRY(reserve_room(peer, u_bytes + (size_t)num * entry_bytes, &u));
  return gesvdj(handle, 1, n, n, A, n, s, u, n, V, n, u + u_bytes, num, v->info, r->of_vectors, v->count);
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
  case RITZ_BATCHED_GEMV: return multiply_by_cublas(peer, d, &v, copy);
  case RITZ_BATCHED_GETRF: return factorize_lu(peer, d, &v);
  case RITZ_BATCHED_GETRI: return invert_factors(peer, d, &v);
  case RITZ_BATCHED_INV: return invert_by_cublas(peer, d, &v);
  case RITZ_BATCHED_POTRF: return factorize_cholesky(peer, d, &v);
  case RITZ_BATCHED_GETRS: return solve_lu(peer, d, &v);
  case RITZ_BATCHED_POTRS: return solve_cholesky(peer, d, &v);
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRSV: return solve_triangle(peer, d, &v);
  case RITZ_BATCHED_GESV: return factorize_lu(peer, d, &v) || solve_lu(peer, d, &v);
  case RITZ_BATCHED_POSV: return factorize_cholesky(peer, d, &v) || solve_cholesky(peer, d, &v);
  case RITZ_BATCHED_GEQRF: return factorize_qr(peer, d, &v);
  case RITZ_BATCHED_GELS: return solve_least_squares(peer, d, &v);
  case RITZ_BATCHED_SYEVJ: return peer->rotations ? find_eigenvalues(peer, d, &v, copy) : CLI_FAILED;
  case RITZ_BATCHED_GESVDJ: return peer->rotations ? find_singular_values(peer, d, &v, copy) : CLI_FAILED;
  default: return CLI_FAILED;
  }
}

// ---- Libraries ----

static void *open_one(const char *const *names) {
  void *library = NULL;

  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

void batched_open_cuda_peer(BatchedPeer *peer) {
  static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL};
  static const char *const solver[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL};
  static const char *const driver[] = {"libcuda.so.1", NULL};
  static const char *const create[] = {"cublasCreate_v2", "cusolverDnCreate"};

  *peer = (BatchedPeer){.needs_pointers = true, .call = call_vendor};
  peer->libraries[BLAS] = open_one(blas);
  peer->libraries[SOLVER] = open_one(solver);
  peer->libraries[DRIVER] = open_one(driver);
  peer->rotations = calloc(1, sizeof(*peer->rotations));
  for (int i = 0; i < 2; i++) {
    if (peer->libraries[i] && call_with(peer->libraries[i], create[i], &peer->handles[i]))
      peer->libraries[i] = NULL;
  }
  if (peer->libraries[BLAS])
    snprintf(peer->name, sizeof(peer->name), peer->libraries[SOLVER] ? "cuBLAS and cuSOLVER" : "cuBLAS");
}

void batched_close_cuda_peer(BatchedPeer *peer) {
  Rotations *r = peer->rotations;

  if (r) {
    free_room(peer);
    if (r->of_values) call_with(peer->libraries[SOLVER], "cusolverDnDestroySyevjInfo", r->of_values);
    if (r->of_vectors) call_with(peer->libraries[SOLVER], "cusolverDnDestroyGesvdjInfo", r->of_vectors);
  }
  free(r);
  peer->rotations = NULL;
  if (peer->libraries[BLAS]) call_with(peer->libraries[BLAS], "cublasDestroy_v2", peer->handles[BLAS]);
  if (peer->libraries[SOLVER]) call_with(peer->libraries[SOLVER], "cusolverDnDestroy", peer->handles[SOLVER]);
}
