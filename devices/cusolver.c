// SPDX-License-Identifier: BSD-2-Clause
// cuSOLVER (contract in devices/cusolver.h): its interface with integers of 64 bits, as its manual has it,
// "cuSolverDN 64-bit API". The library brings cuBLAS and CUDA's runtime along.
#include "devices/cusolver.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/memory.h"
#include "devices/cuda-api.h"
#include "devices/cuda.h"
#include "devices/vendor.h"

// ---- The library ----

enum { FILL_LOWER = 0, REAL_F32 = 0, REAL_F64 = 1 }; // cublasFillMode_t, cudaDataType

// Handles, parameters and streams are pointers.
#define CUSOLVER_FUNCTIONS(F)                                                                                \
  F(create, cusolverDnCreate, (void **handle))                                                               \
  F(destroy, cusolverDnDestroy, (void *handle))                                                              \
  F(create_params, cusolverDnCreateParams, (void **params))                                                  \
  F(destroy_params, cusolverDnDestroyParams, (void *params))                                                 \
  F(set_stream, cusolverDnSetStream, (void *handle, void *stream))                                           \
  F(getrf_bytes, cusolverDnXgetrf_bufferSize,                                                                \
    (void *handle, void *params, int64_t m, int64_t n, int type, const void *A, int64_t ld, int computed,    \
     size_t *on_device, size_t *on_host))                                                                    \
  F(getrf, cusolverDnXgetrf,                                                                                 \
    (void *handle, void *params, int64_t m, int64_t n, int type, void *A, int64_t ld, int64_t *pivots,       \
     int computed, void *work, size_t on_device, void *host_work, size_t on_host, int *info))                \
  F(potrf_bytes, cusolverDnXpotrf_bufferSize,                                                                \
    (void *handle, void *params, int fill, int64_t n, int type, const void *A, int64_t ld, int computed,     \
     size_t *on_device, size_t *on_host))                                                                    \
  F(potrf, cusolverDnXpotrf,                                                                                 \
    (void *handle, void *params, int fill, int64_t n, int type, void *A, int64_t ld, int computed,           \
     void *work, size_t on_device, void *host_work, size_t on_host, int *info))

static struct { CUSOLVER_FUNCTIONS(RITZ_VENDOR_FIELD) } api;

static const char *take_functions(void *library) {
  const char *missing = NULL;
#define FIND(name, symbol, args) RITZ_VENDOR_TAKE(api, name, symbol);
  CUSOLVER_FUNCTIONS(FIND)
#undef FIND
  return missing;
}

static const char *const names[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL};
static RitzVendor cusolver = {
    .variable = ENV_RITZ_CUSOLVER, .names = names, .take = take_functions, .symbol = "cusolverDnXgetrf"};

const char *ritz_cusolver_find(const char **why) { return ritz_vendor_find(&cusolver, why); }

// ---- Calls ----

struct RitzCusolver_private {
  RitzDevice device;
  void *handle, *params; // owned; NULL: not there
};

static const char *status_words(int status) {
  static const char *const words[] = {
      "success",    "not initialized",  "memory is short", "a value is not valid", "architecture",
      "no mapping", "execution failed", "internal error",  "matrix type",          "it is not supported"};
  return status >= 0 && (size_t)status < sizeof(words) / sizeof(words[0]) ? words[status] : "unknown status";
}

static int check_cusolver(Ceed ceed, int status, const char *call) {
  enum { ALLOC_FAILED = 2 };
  RITZ_REQUIRE(!status, ceed, status == ALLOC_FAILED ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND,
               "%s: %s (status %d of %s)", call, status_words(status), status, cusolver.file);
  return CEED_ERROR_SUCCESS;
}

// The device is current.
static int create_cusolver(Ceed ceed, RitzCusolver solver) {
  RITZ_TRY(check_cusolver(ceed, api.create(&solver->handle), "cusolverDnCreate"));
  return check_cusolver(ceed, api.create_params(&solver->params), "cusolverDnCreateParams");
}

int ritz_cusolver_create(Ceed ceed, RitzDevice device, RitzCusolver *solver) {
  RitzCusolver created = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  created->device = device;
  int ierr = ritz_cuda_enter(ceed, device);
  if (!ierr) {
    ierr = create_cusolver(ceed, created);
    ritz_cuda_leave();
  }
  if (ierr) ritz_cusolver_destroy(ceed, &created);
  *solver = created;
  return ierr;
}

// Errors are ignored: a driver that has shut down has freed everything.
void ritz_cusolver_destroy(Ceed ceed, RitzCusolver *solver) {
  RitzCusolver old = *solver;

  if (!old) return;
  if ((old->handle || old->params) && !ritz_cuda_enter(ceed, old->device)) {
    if (old->params) (void)api.destroy_params(old->params);
    if (old->handle) (void)api.destroy(old->handle);
    ritz_cuda_leave();
  }
  RITZ_FREE(solver);
}

static int type_of(const RitzCusolverMatrix *matrix) { return matrix->is_double ? REAL_F64 : REAL_F32; }

int ritz_cusolver_bytes(Ceed ceed, RitzCusolver solver, const RitzCusolverMatrix *m,
                        size_t num_bytes[RITZ_CUSOLVER_NUM_WORK]) {
  const int type = type_of(m);
  size_t *device = &num_bytes[RITZ_CUSOLVER_DEVICE], *host = &num_bytes[RITZ_CUSOLVER_HOST];
  int status;

  RITZ_TRY(ritz_cuda_enter(ceed, solver->device));
  if (m->is_symmetric)
    status = api.potrf_bytes(solver->handle, solver->params, FILL_LOWER, m->n, type, m->F, m->ld, type,
                             device, host);
  else
    status =
        api.getrf_bytes(solver->handle, solver->params, m->n, m->n, type, m->F, m->ld, type, device, host);
  ritz_cuda_leave();
  return check_cusolver(ceed, status,
                        m->is_symmetric ? "cusolverDnXpotrf_bufferSize" : "cusolverDnXgetrf_bufferSize");
}

int ritz_cusolver_factor(Ceed ceed, RitzCusolver solver, RitzDeviceStream stream, const RitzCusolverMatrix *m,
                         const size_t num_bytes[RITZ_CUSOLVER_NUM_WORK],
                         void *const work[RITZ_CUSOLVER_NUM_WORK]) {
  const int type = type_of(m);
  const size_t device = num_bytes[RITZ_CUSOLVER_DEVICE], host = num_bytes[RITZ_CUSOLVER_HOST];

  RITZ_TRY(ritz_cuda_enter(ceed, solver->device));
  int status = api.set_stream(solver->handle, stream);
  if (!status && m->is_symmetric)
    status = api.potrf(solver->handle, solver->params, FILL_LOWER, m->n, type, m->F, m->ld, type,
                       work[RITZ_CUSOLVER_DEVICE], device, work[RITZ_CUSOLVER_HOST], host, m->info);
  else if (!status)
    status = api.getrf(solver->handle, solver->params, m->n, m->n, type, m->F, m->ld, m->pivots, type,
                       work[RITZ_CUSOLVER_DEVICE], device, work[RITZ_CUSOLVER_HOST], host, m->info);
  ritz_cuda_leave();
  return check_cusolver(ceed, status, m->is_symmetric ? "cusolverDnXpotrf" : "cusolverDnXgetrf");
}
