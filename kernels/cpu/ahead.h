// SPDX-License-Identifier: BSD-2-Clause
// Fetching ahead: while a batch is computed, the data of the next one come into the second level cache, a few
// lines at every step of the computation. A burst would fill the line buffers and stall, and memory must not
// idle while contractions run. Generated kernels define ritz_ahead: what one step fetches.
#ifndef RITZ_KERNELS_CPU_AHEAD_H
#define RITZ_KERNELS_CPU_AHEAD_H

#include "kernels/cpu/vector.h"

typedef struct {
  const RitzKernelSpace *spaces;
  int64_t batch; // to be fetched
  int step;
} RitzAhead;

RITZ_INLINE void ritz_ahead(RitzAhead *ahead);

// The first of Q lines that this step fetches, `lines` of them: behind the last one comes the first.
RITZ_INLINE int ritz_fetched_line(const RitzAhead *ahead, int Q, int lines) {
  return ahead->step * lines < Q ? ahead->step * lines : ahead->step * lines - Q;
}

// Packed data [component][Q][lane]: `lines` vectors of each component from step * lines on, after the last
// one from the first again, a cache line each where lanes fill a register; a step may run into what follows,
// which does no harm.
RITZ_INLINE void ritz_fetch_packed(const RitzAhead *ahead, int s, int num_comp, int Q, int lines) {
  const RitzVec *data = (const RitzVec *)ahead->spaces[s].array + ahead->batch * num_comp * Q +
                        ritz_fetched_line(ahead, Q, lines);
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int n = 0; n < lines; n++) __builtin_prefetch(data + c * Q + n, 0, 2);
  }
}

// The same of data in the other precision: vectors of double are two cache lines where those of float are
// one.
RITZ_INLINE void ritz_fetch_packed_other(const RitzAhead *ahead, int s, int num_comp, int Q, int lines) {
  const RitzOtherVec *data = (const RitzOtherVec *)ahead->spaces[s].array + ahead->batch * num_comp * Q +
                             ritz_fetched_line(ahead, Q, lines);
  RITZ_ROLLED for (int c = 0; c < num_comp; c++) {
    RITZ_ROLLED for (int n = 0; n < lines; n++) {
      __builtin_prefetch(data + c * Q + n, 0, 2);
      if (sizeof(RitzOtherVec) > 64) __builtin_prefetch((const char *)(data + c * Q + n) + 64, 0, 2);
    }
  }
}

// Entries of an L-vector of scalars of so many bytes: those of `num` offsets [row][lane] from step * num on,
// out of `all`.
RITZ_INLINE void ritz_fetch_entries(const RitzAhead *ahead, int s, int all, int num, int bytes) {
  const RitzKernelSpace *space = &ahead->spaces[s];
  const int32_t *offsets = space->offsets + ahead->batch * all;
  const char *array = (const char *)space->array;
  const int begin = ahead->step * num < all ? ahead->step * num : all - num;
  RITZ_ROLLED for (int i = begin; i < begin + num; i++)
      __builtin_prefetch(array + (int64_t)offsets[i] * bytes, 0, 2);
}

RITZ_INLINE void ritz_fetch_rows(const RitzAhead *ahead, int s, int all, int num) {
  ritz_fetch_entries(ahead, s, all, num, sizeof(RitzReal));
}

RITZ_INLINE void ritz_fetch_rows_other(const RitzAhead *ahead, int s, int all, int num) {
  ritz_fetch_entries(ahead, s, all, num, sizeof(RitzOther));
}

#endif
