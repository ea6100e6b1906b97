// SPDX-License-Identifier: BSD-2-Clause
// Factorizations of the dense solver by the LAPACK of the machine (contract in backends/ref/ref.h), which is
// looked for once in a process: the file that RITZ_LAPACK names, else OpenBLAS, else what the loader calls
// liblapack. Its integers have 32 or 64 bits, which one call finds out.
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "base/environment.h"
#include "base/threads.h"

// LAPACK's functions with Fortran's arguments. Where its integers have 32 bits, they are the lower halves of
// these.
typedef void (*Getrf)(const int64_t *m, const int64_t *n, void *A, const int64_t *ld, int64_t *pivots,
                      int64_t *info);
typedef void (*Potrf)(const char *uplo, const int64_t *n, void *A, const int64_t *ld, int64_t *info,
                      size_t length_of_uplo);

static struct {
  _Atomic bool is_known; // the others are final
  bool is_wide;          // its integers have 64 bits
  Getrf getrf[2];        // [is_double]
  Potrf potrf[2];
  char file[1024]; // "": there is no library that can be used
  char why[1024];
} lapack;

// dlsym gives functions as void *, which C does not convert.
static bool take_function(void *library, const char *name, void *function) {
  *(void **)function = dlsym(library, name);
  if (!*(void **)function) snprintf(lapack.why, sizeof(lapack.why), "it has no function %s", name);
  return *(void **)function != NULL;
}

// Pivots of 64 bits from those of 32 in the same memory, the last one first; both from 1.
static void widen(int64_t n, int64_t *pivots) {
  const char *narrow = (const char *)pivots;
  for (int64_t i = n - 1; i >= 0; i--) {
    int32_t pivot;
    memcpy(&pivot, narrow + i * (int64_t)sizeof(pivot), sizeof(pivot));
    pivots[i] = pivot;
  }
}

// The matrix that swaps two rows has pivots 2, 2: integers of 32 bits leave the second number alone.
static bool find_width(void) {
  const int64_t n = 2, untouched = -1;
  double A[4] = {0, 1, 1, 0};
  int64_t pivots[2] = {0, untouched}, info = 0;
  lapack.getrf[1](&n, &n, A, &n, pivots, &info);
  lapack.is_wide = pivots[0] == 2 && pivots[1] == 2;
  if (!lapack.is_wide && pivots[1] == untouched) widen(2, pivots);
  if (info == 0 && pivots[0] == 2 && pivots[1] == 2 && A[0] == 1 && A[3] == 1) return true;
  snprintf(lapack.why, sizeof(lapack.why),
           "dgetrf_ factorizes a matrix of order 2 wrongly; needed LAPACK with integers of 32 or 64 bits");
  return false;
}

static bool take_library(void *library) {
  const bool has_all = take_function(library, "dgetrf_", &lapack.getrf[1]) &&
                       take_function(library, "sgetrf_", &lapack.getrf[0]) &&
                       take_function(library, "dpotrf_", &lapack.potrf[1]) &&
                       take_function(library, "spotrf_", &lapack.potrf[0]);
  return has_all && find_width();
}

// The file that a function is in; the name that was asked for where the loader does not say.
static void note_file(const char *name) {
  Dl_info found;
  void *function;
  memcpy(&function, &lapack.getrf[1], sizeof(function));
  const bool is_known = dladdr(function, &found) && found.dli_fname;
  snprintf(lapack.file, sizeof(lapack.file), "%s", is_known ? found.dli_fname : name);
}

// The library stays loaded: its threads do.
static bool open_library(const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(lapack.why, sizeof(lapack.why), "%s", dlerror());
    return false;
  }
  if (!take_library(library)) {
    char why[sizeof(lapack.why)];
    memcpy(why, lapack.why, sizeof(why));
    snprintf(lapack.why, sizeof(lapack.why), "%.200s: %.700s", name, why);
    dlclose(library);
    return false;
  }
  note_file(name);
  return true;
}

static void look_for_library(void) {
  static const char *const names[] = {"libopenblas.so.0", "liblapack.so.3"};
  const char *given = ritz_environment(ENV_RITZ_LAPACK);
  bool is_found = false;
  if (given) {
    open_library(given);
    return;
  }
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !is_found; i++)
    is_found = open_library(names[i]);
  if (!is_found)
    snprintf(lapack.why, sizeof(lapack.why),
             "neither libopenblas.so.0 nor liblapack.so.3 can be used; install one, or name its file in "
             "RITZ_LAPACK");
}

const char *ritz_lapack_find(const char **why) {
  if (!atomic_load(&lapack.is_known)) {
    ritz_lock(RITZ_LOCK_DIRECT);
    if (!atomic_load(&lapack.is_known)) {
      look_for_library();
      atomic_store(&lapack.is_known, true);
    }
    ritz_unlock(RITZ_LOCK_DIRECT);
  }
  *why = lapack.file[0] ? NULL : lapack.why;
  return lapack.file[0] ? lapack.file : NULL;
}

// Pivots that are not finite are none of LAPACK's infos.
static int64_t first_bad(bool is_double, int64_t n, const void *F) {
  for (int64_t i = 0; i < n; i++) {
    const double pivot = is_double ? ((const double *)F)[i + i * n] : (double)((const float *)F)[i + i * n];
    if (!isfinite(pivot)) return i + 1;
  }
  return 0;
}

int ritz_lapack_factor(Ceed ceed, bool is_symmetric, bool is_double, int64_t n, void *F, int64_t *pivots,
                       int64_t *bad) {
  int64_t info = 0;
  if (is_symmetric)
    lapack.potrf[is_double]("L", &n, F, &n, &info, 1);
  else
    lapack.getrf[is_double](&n, &n, F, &n, pivots, &info);
  if (!lapack.is_wide) {
    int32_t narrow;
    memcpy(&narrow, &info, sizeof(narrow));
    info = narrow;
    if (!is_symmetric) widen(n, pivots);
  }
  RITZ_REQUIRE(info >= 0, ceed, CEED_ERROR_BACKEND, "%s: argument %lld of %s is refused for order %lld",
               lapack.file, (long long)-info, is_symmetric ? "potrf" : "getrf", (long long)n);
  for (int64_t i = 0; i < n && !is_symmetric; i++) pivots[i]--;
  *bad = info > 0 ? info : first_bad(is_double, n, F);
  return CEED_ERROR_SUCCESS;
}
