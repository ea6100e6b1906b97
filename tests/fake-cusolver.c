// SPDX-License-Identifier: BSD-2-Clause
// A cuSOLVER that stands in for NVIDIA's in test-cuda-driver.c, on the fake driver, whose devices are memory
// of the host: factorizations are those of fake-lapack.c with integers of 64 bits.
#include "tests/fake-cusolver.h"

#include <stdint.h>

#include "tests/fake-library.h"

enum { INVALID_VALUE = 3 };

typedef struct {
  void *stream;
} Handle;

static FakeCusolver fake;
static Handle handle;
static int params;

EXPORTED FakeCusolver *fake_cusolver(void);
FakeCusolver *fake_cusolver(void) { return &fake; }

void dgetrf_(const int64_t *m, const int64_t *n, double *A, const int64_t *ld, int64_t *pivots,
             int64_t *info);
void sgetrf_(const int64_t *m, const int64_t *n, float *A, const int64_t *ld, int64_t *pivots, int64_t *info);
void dpotrf_(const char *uplo, const int64_t *n, double *A, const int64_t *ld, int64_t *info);
void spotrf_(const char *uplo, const int64_t *n, float *A, const int64_t *ld, int64_t *info);

DEFINE(cusolverDnCreate, (void **made)) {
  BEGIN();
  *made = &handle;
  fake.num_handles++;
  return 0;
}

DEFINE(cusolverDnDestroy, (void *old)) {
  BEGIN();
  fake.num_handles--;
  return old == &handle ? 0 : INVALID_VALUE;
}

DEFINE(cusolverDnCreateParams, (void **made)) {
  BEGIN();
  *made = &params;
  fake.num_params++;
  return 0;
}

DEFINE(cusolverDnDestroyParams, (void *old)) {
  BEGIN();
  fake.num_params--;
  return old == &params ? 0 : INVALID_VALUE;
}

DEFINE(cusolverDnSetStream, (void *of, void *stream)) {
  BEGIN();
  ((Handle *)of)->stream = stream;
  return 0;
}

static int ask(const void *of, const void *with, int type, int computed, size_t *on_device, size_t *on_host) {
  *on_device = FAKE_DEVICE_BYTES;
  *on_host = FAKE_HOST_BYTES;
  return of == &handle && with == &params && type == computed ? 0 : INVALID_VALUE;
}

DEFINE(cusolverDnXgetrf_bufferSize, (void *of, void *with, int64_t m, int64_t n, int type, const void *A,
                                     int64_t ld, int computed, size_t *on_device, size_t *on_host)) {
  BEGIN();
  return A && m == n && ld >= n ? ask(of, with, type, computed, on_device, on_host) : INVALID_VALUE;
}

DEFINE(cusolverDnXpotrf_bufferSize, (void *of, void *with, int fill, int64_t n, int type, const void *A,
                                     int64_t ld, int computed, size_t *on_device, size_t *on_host)) {
  BEGIN();
  return A && fill == 0 && ld >= n ? ask(of, with, type, computed, on_device, on_host) : INVALID_VALUE;
}

// Whether the memory to work in is what was asked for; all of it is overwritten.
static int use(void *work, size_t on_device, void *host_work, size_t on_host) {
  if (on_device < FAKE_DEVICE_BYTES || on_host < FAKE_HOST_BYTES) return INVALID_VALUE;
  memset(work, 1, on_device);
  memset(host_work, 1, on_host);
  fake.stream = handle.stream;
  fake.num_factorizations++;
  return 0;
}

DEFINE(cusolverDnXgetrf,
       (void *of, void *with, int64_t m, int64_t n, int type, void *A, int64_t ld, int64_t *pivots,
        int computed, void *work, size_t on_device, void *host_work, size_t on_host, int *info)) {
  int64_t found;
  BEGIN();
  if (of != &handle || with != &params || type != computed || use(work, on_device, host_work, on_host))
    return INVALID_VALUE;
  if (type)
    dgetrf_(&m, &n, A, &ld, pivots, &found);
  else
    sgetrf_(&m, &n, A, &ld, pivots, &found);
  *info = (int)found;
  return 0;
}

DEFINE(cusolverDnXpotrf,
       (void *of, void *with, int fill, int64_t n, int type, void *A, int64_t ld, int computed, void *work,
        size_t on_device, void *host_work, size_t on_host, int *info)) {
  const char *uplo = fill == 0 ? "L" : "U";
  int64_t found;
  BEGIN();
  if (of != &handle || with != &params || type != computed || use(work, on_device, host_work, on_host))
    return INVALID_VALUE;
  if (type)
    dpotrf_(uplo, &n, A, &ld, &found);
  else
    spotrf_(uplo, &n, A, &ld, &found);
  *info = (int)found;
  return 0;
}
