// SPDX-License-Identifier: BSD-2-Clause
// Dense solver on devices: what a factorization by the vendor's library leaves, in own terms. The text in
// front defines RITZ_ENTRY_F32 where factors are floats.
#ifndef RITZ_KERNELS_GPU_DENSE_VENDOR_H
#define RITZ_KERNELS_GPU_DENSE_VENDOR_H

#include "kernels/gpu/dense-solver.h"

// Pivots `found`, from 1, become those from 0 (NULL: there are none); *bad: *info, or where that is 0 the
// number of the first entry on the diagonal that is not finite. One block.
RITZ_KERNEL(256)
ritz_take_factors(int n, RitzLong ld, RITZ_GLOBAL const RitzEntry *F, RITZ_GLOBAL const RitzLong *found,
                  RITZ_GLOBAL const int *info, RITZ_GLOBAL int *pivots, RITZ_GLOBAL int *bad) {
  RITZ_SHARED_ARRAY int first[256];
  int mine = n + 1;
  for (int i = RITZ_THREAD; i < n; i += 256) {
    if (found) pivots[i] = (int)found[i] - 1;
    if (mine > n && !RITZ_FINITE(F[i + i * ld])) mine = i + 1;
  }
  first[RITZ_THREAD] = mine;
  RITZ_BARRIER();
  for (int span = 128; span > 0; span /= 2) {
    if (RITZ_THREAD < span && first[RITZ_THREAD + span] < first[RITZ_THREAD])
      first[RITZ_THREAD] = first[RITZ_THREAD + span];
    RITZ_BARRIER();
  }
  if (RITZ_THREAD == 0) *bad = *info > 0 ? *info : first[0] <= n ? first[0] : 0;
}

#endif
