// SPDX-License-Identifier: BSD-2-Clause
// The other side of `ritz bench --batched` on hosts: loops over the matrices of a batch that call OpenBLAS,
// or the LAPACK that the dynamic linker finds, on one thread.
#include <stdlib.h>

#include "bench/batched.h"
#include "bench/lapack.h"
#include "cli/cli.h"

// One matrix of each operand, and what all calls share.
typedef struct {
  const BatchedCase *of;
  LapackRoutine routine, getrf;
  const void *one, *zero; // in the precision
  int n, k, num_work;
  char *operand[BATCHED_MAX_OPERANDS];
  int32_t *ipiv;
  void *work; // of getri
} HostCall;

// Factorizations by Householder and eigenvalues; false: another routine is meant.
static bool call_orthogonal(const HostCall *h) {
  const int *n = &h->n, *k = &h->k, *num_work = &h->num_work;
  char *A = h->operand[0], *B = h->operand[1], *C = h->operand[2];
  const LapackRoutine r = h->routine;
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
  const LapackRoutine r = h->routine;
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
  h.routine = lapack_find(peer->libraries, c->precision, c->routine->root);
  h.getrf = lapack_find(peer->libraries, c->precision, "getrf");
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
  if (!lapack_open(peer->libraries)) return;
  // liblapack.so.3 may be OpenBLAS under another name.
  void *symbol = dlsym(peer->libraries[0], "openblas_set_num_threads");
  memcpy(&set_threads, &symbol, sizeof(symbol));
  if (symbol) set_threads(1);
  snprintf(peer->name, sizeof(peer->name), symbol ? "OpenBLAS" : "liblapack");
}
