// SPDX-License-Identifier: BSD-2-Clause
// Prefetching: while a batch is computed, the data of the next one come into the second level cache, a few
// lines at every step of the computation. A burst would fill the line buffers and stall, and memory must not
// idle while contractions run. Generated kernels define ritz_prefetch: what one step fetches.
#ifndef RITZ_KERNELS_CPU_PREFETCH_H
#define RITZ_KERNELS_CPU_PREFETCH_H

#include "kernels/cpu/vector.h"

typedef struct {
  const RitzKernelSpace *spaces;
  int64_t batch; // to be fetched
  int step;
} RitzPrefetch;

RITZ_INLINE void ritz_prefetch(RitzPrefetch *prefetch);

// The first of Q lines that this step fetches, `lines` of them: behind the last one comes the first.
RITZ_INLINE int ritz_fetched_line(const RitzPrefetch *prefetch, int Q, int lines) {
  return prefetch->step * lines < Q ? prefetch->step * lines : prefetch->step * lines - Q;
}

// Packed data [component][Q][lane]: `lines` vectors of each component from step * lines on, after the last
// one from the first again, a cache line each where lanes fill a register; a step may run into what follows,
// which does no harm.
RITZ_INLINE void ritz_fetch_packed(const RitzPrefetch *prefetch, int s, int num_comp, int Q, int lines) {
  const RitzVec *data = (const RitzVec *)prefetch->spaces[s].array + prefetch->batch * num_comp * Q +
                        ritz_fetched_line(prefetch, Q, lines);
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int n = 0; n < lines; n++) __builtin_prefetch(data + c * Q + n, 0, 2);
  }
}

// The same of data in the other precision: vectors of double are two cache lines where those of float are
// one.
RITZ_INLINE void ritz_fetch_packed_other(const RitzPrefetch *prefetch, int s, int num_comp, int Q,
                                         int lines) {
  const RitzOtherVec *data = (const RitzOtherVec *)prefetch->spaces[s].array +
                             prefetch->batch * num_comp * Q + ritz_fetched_line(prefetch, Q, lines);
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int n = 0; n < lines; n++) {
      __builtin_prefetch(data + c * Q + n, 0, 2);
      if (sizeof(RitzOtherVec) > 64) __builtin_prefetch((const char *)(data + c * Q + n) + 64, 0, 2);
    }
  }
}

// Entries of an L-vector of scalars of so many bytes: those of `num` offsets [row][lane] from step * num on,
// out of `all`.
RITZ_INLINE void ritz_fetch_entries(const RitzPrefetch *prefetch, int s, int all, int num, int bytes) {
  const RitzKernelSpace *space = &prefetch->spaces[s];
  const int32_t *offsets = space->offsets + prefetch->batch * all;
  const char *array = (const char *)space->array;
  const int begin = prefetch->step * num < all ? prefetch->step * num : all - num;
  RITZ_ROLLED for (int i = begin; i < begin + num; i++)
      __builtin_prefetch(array + (int64_t)offsets[i] * bytes, 0, 2);
}

RITZ_INLINE void ritz_fetch_rows(const RitzPrefetch *prefetch, int s, int all, int num) {
  ritz_fetch_entries(prefetch, s, all, num, sizeof(RitzReal));
}

RITZ_INLINE void ritz_fetch_rows_other(const RitzPrefetch *prefetch, int s, int all, int num) {
  ritz_fetch_entries(prefetch, s, all, num, sizeof(RitzOther));
}

#endif
