// SPDX-License-Identifier: BSD-2-Clause
// u . A u in fused kernels (emit/gpu-energy.c): threads add the products of arguments of the QFunction,
// and a share of the sum is stored for each warp, where there are no warps for each thread. RITZ_THREADS are
// the threads of a block; all call ritz_keep_energy together.
#ifndef RITZ_KERNELS_GPU_ENERGY_H
#define RITZ_KERNELS_GPU_ENERGY_H

RITZ_INLINE double ritz_energy(int size, const RitzReal *in, const RitzReal *out) {
  double sum = 0;
  RITZ_UNROLL
  for (int c = 0; c < size; c++) sum += (double)in[c] * out[c];
  return sum;
}

#ifdef __OPENCL_VERSION__

RITZ_INLINE void ritz_keep_energy(double mine, RITZ_GLOBAL double *energies) { energies[RITZ_ITEM] = mine; }

#else // CUDA

RITZ_INLINE void ritz_keep_energy(double mine, double *energies) {
  const int lane = RITZ_THREAD % 32, warp = RITZ_THREAD / 32;
  const int num = RITZ_THREADS - 32 * warp;
  for (int width = 16; width > 0; width /= 2) {
    const double other = __shfl_down_sync(0xffffffffu, mine, width);
    if (lane + width < num) mine += other;
  }
  if (lane == 0) energies[RITZ_BLOCK * ((RITZ_THREADS + 31) / 32) + warp] = mine;
}

#endif

#endif
