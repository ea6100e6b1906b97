// SPDX-License-Identifier: BSD-2-Clause
// The other side of `ritz bench --batched` on hosts: loops over the matrices of a batch that call OpenBLAS,
// or the LAPACK that the dynamic linker finds, on one thread.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batched.h"
#include "cli/cli.h"

typedef void (*Routine)(void); // with Fortran's arguments
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
typedef void (*Symm)(const char *, const char *, const int *, const int *, const void *, const void *,
                     const int *, const void *, const int *, const void *, void *, const int *);
typedef void (*Symv)(const char *, const int *, const void *, const void *, const int *, const void *,
                     const int *, const void *, void *, const int *);
typedef void (*Syrk)(const char *, const char *, const int *, const int *, const void *, const void *,
                     const int *, const void *, void *, const int *);
typedef void (*Gesv)(const int *, const int *, void *, const int *, int *, void *, const int *, int *);
typedef void (*Posv)(const char *, const int *, const int *, void *, const int *, void *, const int *, int *);
typedef void (*Laswp)(const int *, void *, const int *, const int *, const int *, const int *, const int *);
typedef void (*Geqrf)(const int *, const int *, void *, const int *, void *, void *, const int *, int *);
typedef void (*Ormqr)(const char *, const char *, const int *, const int *, const int *, const void *,
                      const int *, const void *, void *, const int *, void *, const int *, int *);
typedef void (*Orgqr)(const int *, const int *, const int *, void *, const int *, const void *, void *,
                      const int *, int *);
typedef void (*Gels)(const char *, const int *, const int *, const int *, void *, const int *, void *,
                     const int *, void *, const int *, int *);
typedef void (*Syev)(const char *, const char *, const int *, void *, const int *, void *, void *,
                     const int *, int *);
typedef void (*Gesvd)(const char *, const char *, const int *, const int *, void *, const int *, void *,
                      void *, const int *, void *, const int *, void *, const int *, int *);
typedef void (*Laset)(const char *, const int *, const int *, const void *, const void *, void *,
                      const int *);
typedef void (*Getri)(const int *, void *, const int *, const int *, void *, const int *, int *);

// One matrix of each operand, and what all calls share.
typedef struct {
  const BatchedCase *of;
  Routine routine, getrf;
  const void *one, *zero; // in the precision
  int n, k, num_work;
  char *operand[BATCHED_MAX_OPERANDS];
  int32_t *ipiv;
  void *work; // of getri
} HostCall;

static Routine find_routine(void *const *libraries, CeedScalarType precision, const char *root) {
  char name[32];
  Routine routine = NULL;

  snprintf(name, sizeof(name), "%c%s_", precision == CEED_SCALAR_FP32 ? 's' : 'd', root);
  for (int i = 0; i < 2 && !routine; i++) {
    void *symbol = libraries[i] ? dlsym(libraries[i], name) : NULL;
    memcpy(&routine, &symbol, sizeof(symbol));
  }
  return routine;
}

// Factorizations by Householder and eigenvalues; false: another routine is meant.
static bool call_orthogonal(const HostCall *h) {
  const int *n = &h->n, *k = &h->k, *num_work = &h->num_work;
  char *A = h->operand[0], *B = h->operand[1], *C = h->operand[2];
  const Routine r = h->routine;
  int info = 0;

  switch (h->of->routine->operation) {
  case RITZ_BATCHED_GEQRF: ((Geqrf)r)(n, n, A, n, B, h->work, num_work, &info); break;
  case RITZ_BATCHED_ORMQR: ((Ormqr)r)("L", "N", n, k, n, A, n, B, C, n, h->work, num_work, &info); break;
  case RITZ_BATCHED_ORGQR: ((Orgqr)r)(n, n, n, A, n, B, h->work, num_work, &info); break;
  case RITZ_BATCHED_GELS: ((Gels)r)("N", n, n, k, A, n, B, n, h->work, num_work, &info); break;
  case RITZ_BATCHED_SYEVJ: ((Syev)r)("V", "L", n, A, n, B, h->work, num_work, &info); break;
  case RITZ_BATCHED_GESVDJ:
    ((Gesvd)r)("O", "A", n, n, A, n, B, NULL, n, C, n, h->work, num_work, &info);
    break;
  default: return false;
  }
  return true;
}

static void call_matrix(const HostCall *h) {
  const int *n = &h->n, *k = &h->k, inc = 1;
  char *A = h->operand[0], *B = h->operand[1], *C = h->operand[2];
  const Routine r = h->routine;
  int info = 0;

  if (call_orthogonal(h)) return;
  switch (h->of->routine->operation) {
  case RITZ_BATCHED_GEMM: ((Gemm)r)("N", "N", n, n, n, h->one, A, n, B, n, h->zero, C, n); break;
  case RITZ_BATCHED_GEMV: ((Gemv)r)("N", n, n, h->one, A, n, B, &inc, h->zero, C, &inc); break;
  case RITZ_BATCHED_POTRF: ((Potrf)r)("L", n, A, n, &info); break;
  case RITZ_BATCHED_POTRS: ((Potrs)r)("L", n, k, A, n, B, n, &info); break;
  case RITZ_BATCHED_GETRF: ((Getrf)r)(n, n, A, n, h->ipiv, &info); break;
  case RITZ_BATCHED_GETRS: ((Getrs)r)("N", n, k, A, n, h->ipiv, B, n, &info); break;
  case RITZ_BATCHED_GETRI: ((Getri)r)(n, A, n, h->ipiv, h->work, &h->num_work, &info); break;
  case RITZ_BATCHED_INV:
    ((Getrf)h->getrf)(n, n, A, n, h->ipiv, &info);
    ((Getri)r)(n, A, n, h->ipiv, h->work, &h->num_work, &info);
    break;
  case RITZ_BATCHED_TRSM:
  case RITZ_BATCHED_TRMM: ((Trsm)r)("L", "L", "N", "N", n, n, h->one, A, n, B, n); break;
  case RITZ_BATCHED_TRSV: ((Trsv)r)("L", "N", "N", n, A, n, B, &inc); break;
  case RITZ_BATCHED_SYRK: ((Syrk)r)("L", "N", n, n, h->one, A, n, h->zero, B, n); break;
  case RITZ_BATCHED_SYMM: ((Symm)r)("L", "L", n, n, h->one, A, n, B, n, h->zero, C, n); break;
  case RITZ_BATCHED_SYMV: ((Symv)r)("L", n, h->one, A, n, B, &inc, h->zero, C, &inc); break;
  case RITZ_BATCHED_GESV: ((Gesv)r)(n, k, A, n, h->ipiv, B, n, &info); break;
  case RITZ_BATCHED_POSV: ((Posv)r)("L", n, k, A, n, B, n, &info); break;
  case RITZ_BATCHED_LASWP: ((Laswp)r)(n, A, n, &inc, n, h->ipiv, &inc); break;
  default: ((Laset)r)("A", n, n, h->zero, h->one, A, n); break;
  }
}

static int call_loop(const BatchedPeer *peer, const BatchedData *d, int copy) {
  static const double one_f64 = 1, zero_f64 = 0;
  static const float one_f32 = 1, zero_f32 = 0;
  const BatchedCase *c = &d->of;
  const bool is_single = c->precision == CEED_SCALAR_FP32;
  HostCall h = {.of = c,
                .one = is_single ? (const void *)&one_f32 : &one_f64,
                .zero = is_single ? (const void *)&zero_f32 : &zero_f64,
                .k = c->columns,
                .num_work = 64 * c->n};

  if (!c->routine->root || d->width > 1) return CLI_FAILED;
  h.routine = find_routine(peer->libraries, c->precision, c->routine->root);
  h.getrf = find_routine(peer->libraries, c->precision, "getrf");
  h.work = malloc((size_t)h.num_work * sizeof(double));
  if (!h.routine || !h.getrf || !h.work) {
    free(h.work);
    return CLI_FAILED;
  }
  for (int64_t i = 0; i < c->count; i++) {
    h.n = batched_size(d, i);
    h.ipiv = (int32_t *)(void *)d->ipiv.array + i * c->n;
    for (int k = 0; k < BATCHED_MAX_OPERANDS && d->operand[k].data[copy].array; k++)
      h.operand[k] =
          (char *)d->operand[k].data[copy].array + (size_t)batched_before(d, k, i) * batched_entry_bytes(c);
    call_matrix(&h);
  }
  free(h.work);
  return CLI_OK;
}

void batched_open_host_peer(BatchedPeer *peer) {
  void (*set_threads)(int);

  *peer = (BatchedPeer){.call = call_loop};
  peer->libraries[0] = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (!peer->libraries[0]) {
    peer->libraries[0] = dlopen("liblapack.so.3", RTLD_NOW | RTLD_GLOBAL);
    peer->libraries[1] = dlopen("libblas.so.3", RTLD_NOW | RTLD_GLOBAL);
  }
  // liblapack.so.3 may be OpenBLAS under another name.
  void *symbol = peer->libraries[0] ? dlsym(peer->libraries[0], "openblas_set_num_threads") : NULL;
  memcpy(&set_threads, &symbol, sizeof(symbol));
  if (symbol) set_threads(1);
  if (peer->libraries[0]) snprintf(peer->name, sizeof(peer->name), symbol ? "OpenBLAS" : "liblapack");
}
