// SPDX-License-Identifier: BSD-2-Clause
// The loop over batches: included at the end of a generated kernel, which has defined before
//   RitzWork, RitzPlane, RitzRow   element arrays, arrays of one plane, arrays of one row
//   RITZ_Q, RITZ_CALL              points a direction, points per call of the QFunction
//   ritz_inputs, ritz_outputs      gather and evaluate, evaluate transposed and scatter: whole element
//   ritz_plane_in/out, ritz_row_in/out   what is done plane by plane and row by row
//   ritz_point                     the QFunction at RITZ_CALL points of a row
#include "kernels/cpu/points.h"

// One row of points. Where its loop is unrolled, values (RITZ_VALUES) or derivatives of the row stay in
// registers.
RITZ_INLINE int ritz_row(const RitzKernelArgs *args, const RitzBatch *b, RitzPrefetch *prefetch, RitzWork *w,
                         RitzPlane *p, int k, int j) {
  RitzRow r;
  int code = 0;
  ritz_prefetch(prefetch);
  ritz_row_in(w, p, &r, k, j);
#if defined(RITZ_VALUES) || defined(RITZ_UNROLLED_ROWS)
  RITZ_UNROLL for (int i = 0; i < RITZ_Q; i++) code |= ritz_point(args, b, w, p, &r, k, j, i);
#else
  RITZ_ROLLED for (int i = 0; i < RITZ_Q && !code; i += RITZ_CALL) code =
      ritz_point(args, b, w, p, &r, k, j, i);
#endif
  ritz_row_out(w, p, &r, k, j);
  return code;
}

RITZ_INLINE int ritz_points(const RitzKernelArgs *args, const RitzBatch *b, RitzPrefetch *prefetch,
                            RitzWork *w) {
  RITZ_ROLLED for (int k = 0; k < RITZ_PLANES; k++) {
    RitzPlane p;
    ritz_plane_in(w, &p, k);
    RITZ_ROLLED for (int j = 0; j < RITZ_ROWS; j++) {
      const int code = ritz_row(args, b, prefetch, w, &p, k, j);
      if (code) return code;
    }
    ritz_plane_out(w, &p, k);
  }
  return 0;
}

int ritz_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  for (int64_t n = begin; n < end; n++) {
    RitzWork *w = (RitzWork *)args->work;
    const RitzBatch b = ritz_batch(args, n, end);
    RitzPrefetch prefetch = {.spaces = args->spaces, .batch = b.next};
    ritz_run_hook(args->before, n);
    ritz_inputs(args, &b, &prefetch, w);
    const int code = ritz_points(args, &b, &prefetch, w);
    if (code) return code;
    ritz_outputs(args, &b, &prefetch, w);
    ritz_run_hook(args->after, n);
  }
  return 0;
}

const RitzKernelInfo ritz_kernel_info = {RITZ_KERNEL_ABI, RITZ_LANES, sizeof(RitzWork)};
