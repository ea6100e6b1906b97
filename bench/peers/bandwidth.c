// SPDX-License-Identifier: BSD-2-Clause
// Memory bandwidth of one core in GB/s, with the mix of streams that an apply has: seven arrays are read, one
// is updated; on large pages where there are some. Prints the fastest of several passes. Called by
// bench/compare, one process a core.
#define _DEFAULT_SOURCE

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { STREAMS = 7, PASSES = 12, LARGE_PAGE = 2 << 20 };

static double now(void) {
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pass(size_t n, double *restrict y, const double *restrict x) {
  for (size_t i = 0; i < n; i++) {
    y[i] +=
        ((x[i] + x[i + n]) + (x[i + 2 * n] + x[i + 3 * n])) + ((x[i + 4 * n] + x[i + 5 * n]) + x[i + 6 * n]);
  }
}

static double *allocate_streams(size_t num_bytes) {
  void *data = NULL;

  if (posix_memalign(&data, LARGE_PAGE, num_bytes)) return NULL;
#ifdef MADV_HUGEPAGE
  madvise(data, num_bytes, MADV_HUGEPAGE); // refused: small pages
#endif
  return data;
}

int main(int argc, char **argv) {
  double megabytes = argc > 1 ? strtod(argv[1], NULL) : 256, least = HUGE_VAL;
  size_t n = megabytes > 0 ? (size_t)(1e6 * megabytes / (sizeof(double) * (STREAMS + 1))) : 0;
  double *data = n ? allocate_streams(n * (STREAMS + 1) * sizeof(double)) : NULL;

  if (!data) {
    fprintf(stderr, "usage: bandwidth [MEGABYTES]; there is no memory for %g\n", megabytes);
    return 1;
  }
  for (size_t i = 0; i < n * (STREAMS + 1); i++) data[i] = 1;
  for (int k = 0; k < PASSES; k++) {
    double start = now();
    pass(n, data, data + n);
    double seconds = now() - start;
    if (seconds < least) least = seconds;
  }
  bool right = data[n - 1] == 1 + STREAMS * PASSES;
  if (right) printf("%.3f\n", 1e-9 * (double)n * sizeof(double) * (STREAMS + 2) / least);
  free(data);
  return right ? 0 : 1;
}
