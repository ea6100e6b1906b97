// SPDX-License-Identifier: BSD-2-Clause
// Loops over entries of vectors on the host: functions compiled for several widths of vectors, and sums with
// compensation. Used by solver/ and backends/cpu/.
#ifndef RITZ_BASE_SIMD_H
#define RITZ_BASE_SIMD_H

#include <stdint.h>

// Compiled for several widths of vectors, the best is taken at run time. Not where a sanitizer watches: it is
// not ready when the choice is made.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RITZ_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define RITZ_HAS_SANITIZER 1
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(RITZ_HAS_SANITIZER)
#if defined(__has_attribute)
#if __has_attribute(target_clones)
#define RITZ_CLONED   __attribute__((target_clones("avx512f", "avx2", "default")))
#define RITZ_WIDE     __attribute__((target("avx512f"))) // for vectors of 64 bytes alone, where RITZ_HAS_WIDE
#define RITZ_HAS_WIDE __builtin_cpu_supports("avx512f")
#endif
#endif
#endif
#ifndef RITZ_CLONED
#define RITZ_CLONED
#define RITZ_WIDE     // for vectors of 64 bytes alone, where RITZ_HAS_WIDE
#define RITZ_HAS_WIDE true
#endif
#define RITZ_INLINED static inline __attribute__((always_inline))

// ---- Sums ----
// Eight partial sums: blocks of eight terms are added with compensation (Knuth's exact sum of two numbers),
// so that the error is bounded by a few eps times the sum of absolute values, whatever the length.
enum { RITZ_SUM_WIDTH = 8, RITZ_SUM_BLOCK = 64 }; // the second: terms between two compensated additions

typedef struct {
  double value[RITZ_SUM_WIDTH], rest[RITZ_SUM_WIDTH];
} RitzSum;

// Adds the partial sums of a block.
RITZ_INLINED void ritz_sum_add(RitzSum *sum, const double *part) {
  for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
    const double old = sum->value[l], total = old + part[l], added = total - old;
    sum->rest[l] += (old - (total - added)) + (part[l] - added);
    sum->value[l] = total;
  }
}

// A total of several sums, value + rest; begins with zeros.
typedef struct {
  double value, rest;
} RitzTotal;

static inline void ritz_total_add(RitzTotal *total, const RitzSum *sum) {
  for (int l = 0; l < RITZ_SUM_WIDTH; l++) {
    const double old = total->value, part = sum->value[l];
    total->value = old + part;
    total->rest +=
        (old - (total->value - (total->value - old))) + (part - (total->value - old)) + sum->rest[l];
  }
}

#endif
