// SPDX-License-Identifier: BSD-2-Clause
// cuSOLVER (contract in devices/cusolver.h): its interface with integers of 64 bits, as its manual has it,
// "cuSolverDN 64-bit API". The library brings cuBLAS and CUDA's runtime along.
#define _GNU_SOURCE // dladdr
#include "devices/cusolver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "devices/cuda-api.h"
#include "devices/cuda.h"
#include "devices/toolkit.h"

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

#define FIELD(name, symbol, args) int(*name) args; // the result is a cusolverStatus_t

static struct {
  _Atomic bool is_known; // the others are final
  char file[1024];       // "": there is no library that can be used
  char why[1024];
  struct {
    CUSOLVER_FUNCTIONS(FIELD)
  } api;
} cusolver;

static bool take_functions(void *library, const char *path) {
  const char *missing = NULL;

#define FIND(name, symbol, args)                                                                             \
  ritz_find_symbol(library, #symbol, &cusolver.api.name);                                                    \
  if (!cusolver.api.name) missing = #symbol;
  CUSOLVER_FUNCTIONS(FIND)
#undef FIND
  if (missing) snprintf(cusolver.why, sizeof(cusolver.why), "%s has no function %s", path, missing);
  return !missing;
}

static bool take_library(const char *path) {
  Dl_info found;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *function;

  // Of files that are there the loader's words are kept.
  if (!library) {
    const char *words = dlerror();
    if (!cusolver.why[0] || !access(path, F_OK)) snprintf(cusolver.why, sizeof(cusolver.why), "%s", words);
    return false;
  }
  if (!take_functions(library, path)) {
    dlclose(library);
    return false;
  }
  memcpy(&function, &cusolver.api.getrf, sizeof(function));
  const bool has_name = dladdr(function, &found) && found.dli_fname;
  snprintf(cusolver.file, sizeof(cusolver.file), "%s", has_name ? found.dli_fname : path);
  return true;
}

static void look_for_library(void) {
  static const char *const names[] = {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so", NULL};
  const bool is_set_uid = getuid() != geteuid() || getgid() != getegid();
  const char *given = is_set_uid ? NULL : getenv("RITZ_CUSOLVER");

  if (given && *given)
    take_library(given);
  else
    ritz_toolkit_look(names, take_library);
}

const char *ritz_cusolver_find(const char **why) {
  if (!atomic_load(&cusolver.is_known)) {
    ritz_lock(RITZ_LOCK_DEVICES);
    if (!atomic_load(&cusolver.is_known)) {
      look_for_library();
      atomic_store(&cusolver.is_known, true);
    }
    ritz_unlock(RITZ_LOCK_DEVICES);
  }
  *why = cusolver.file[0] ? NULL : cusolver.why;
  return cusolver.file[0] ? cusolver.file : NULL;
}

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

static int check(Ceed ceed, int status, const char *call) {
  enum { ALLOC_FAILED = 2 };
  RITZ_REQUIRE(!status, ceed, status == ALLOC_FAILED ? CEED_ERROR_MAJOR : CEED_ERROR_BACKEND,
               "%s: %s (status %d of %s)", call, status_words(status), status, cusolver.file);
  return CEED_ERROR_SUCCESS;
}

// The device is current.
static int create(Ceed ceed, RitzCusolver solver) {
  RITZ_TRY(check(ceed, cusolver.api.create(&solver->handle), "cusolverDnCreate"));
  return check(ceed, cusolver.api.create_params(&solver->params), "cusolverDnCreateParams");
}

int ritz_cusolver_create(Ceed ceed, RitzDevice device, RitzCusolver *solver) {
  RitzCusolver created = NULL;

  RITZ_TRY(RITZ_CALLOC(ceed, 1, &created));
  created->device = device;
  int ierr = ritz_cuda_enter(ceed, device);
  if (!ierr) {
    ierr = create(ceed, created);
    ritz_cuda_leave();
  }
  if (ierr) ritz_cusolver_destroy(ceed, &created);
  *solver = created;
  return ierr;
}

// What a driver that has shut down does not take back is gone.
void ritz_cusolver_destroy(Ceed ceed, RitzCusolver *solver) {
  RitzCusolver old = *solver;

  if (!old) return;
  if ((old->handle || old->params) && !ritz_cuda_enter(ceed, old->device)) {
    if (old->params) (void)cusolver.api.destroy_params(old->params);
    if (old->handle) (void)cusolver.api.destroy(old->handle);
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
    status = cusolver.api.potrf_bytes(solver->handle, solver->params, FILL_LOWER, m->n, type, m->F, m->ld,
                                      type, device, host);
  else
    status = cusolver.api.getrf_bytes(solver->handle, solver->params, m->n, m->n, type, m->F, m->ld, type,
                                      device, host);
  ritz_cuda_leave();
  return check(ceed, status, m->is_symmetric ? "cusolverDnXpotrf_bufferSize" : "cusolverDnXgetrf_bufferSize");
}

int ritz_cusolver_factor(Ceed ceed, RitzCusolver solver, RitzDeviceStream stream, const RitzCusolverMatrix *m,
                         const size_t num_bytes[RITZ_CUSOLVER_NUM_WORK],
                         void *const work[RITZ_CUSOLVER_NUM_WORK]) {
  const int type = type_of(m);
  const size_t device = num_bytes[RITZ_CUSOLVER_DEVICE], host = num_bytes[RITZ_CUSOLVER_HOST];

  RITZ_TRY(ritz_cuda_enter(ceed, solver->device));
  int status = cusolver.api.set_stream(solver->handle, stream);
  if (!status && m->is_symmetric)
    status = cusolver.api.potrf(solver->handle, solver->params, FILL_LOWER, m->n, type, m->F, m->ld, type,
                                work[RITZ_CUSOLVER_DEVICE], device, work[RITZ_CUSOLVER_HOST], host, m->info);
  else if (!status)
    status =
        cusolver.api.getrf(solver->handle, solver->params, m->n, m->n, type, m->F, m->ld, m->pivots, type,
                           work[RITZ_CUSOLVER_DEVICE], device, work[RITZ_CUSOLVER_HOST], host, m->info);
  ritz_cuda_leave();
  return check(ceed, status, m->is_symmetric ? "cusolverDnXpotrf" : "cusolverDnXgetrf");
}
