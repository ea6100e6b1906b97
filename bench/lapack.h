// SPDX-License-Identifier: BSD-2-Clause
// LAPACK and BLAS of the machine, looked up at run time: OpenBLAS, or what the loader calls liblapack, with
// integers of 32 bits. Included by bench/batched-host.c and tests/test-batched-lapack.c.
#ifndef RITZ_BENCH_LAPACK_H
#define RITZ_BENCH_LAPACK_H

#include <ceed.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef void (*LapackRoutine)(void); // with Fortran's arguments
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

// libraries [2]: LAPACK, and a BLAS where that is another file; NULL: not there. False: there is no LAPACK.
static inline bool lapack_open(void **libraries) {
  libraries[0] = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_GLOBAL);
  libraries[1] = NULL;
  if (libraries[0]) return true;
  libraries[0] = dlopen("liblapack.so.3", RTLD_NOW | RTLD_GLOBAL);
  libraries[1] = dlopen("libblas.so.3", RTLD_NOW | RTLD_GLOBAL);
  return libraries[0] != NULL;
}

// The routine of this name behind its letter, "getrf"; NULL: there is none.
static inline LapackRoutine lapack_find(void *const *libraries, CeedScalarType precision, const char *root) {
  char name[32];
  LapackRoutine routine = NULL;

  snprintf(name, sizeof(name), "%c%s_", precision == CEED_SCALAR_FP32 ? 's' : 'd', root);
  for (int i = 0; i < 2 && !routine; i++) {
    void *symbol = libraries[i] ? dlsym(libraries[i], name) : NULL;
    memcpy(&routine, &symbol, sizeof(symbol));
  }
  return routine;
}

#endif
