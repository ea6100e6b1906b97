// SPDX-License-Identifier: BSD-2-Clause
// What a kernel of a sweep over vertex patches is called with: the contract between generated texts
// (emit/patch.c, kernels/cpu/patch.h) and backends/cpu/patch-sweep.c. Degree, dimension, form, components
// and, on boxes whose patches are all alike, the 1D tables are part of the text; sizes of the box and factors
// are arguments, so that all levels of a hierarchy share a kernel. Changing anything here changes
// RITZ_PATCH_ABI.
#ifndef RITZ_KERNELS_CPU_PATCH_ABI_H
#define RITZ_KERNELS_CPU_PATCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/abi.h"

#define RITZ_PATCH_ABI 1

// Patches of one colour in a row of x are taken RITZ_LANES at a time. The last batch of a row that has at
// least so many repeats some of them, shorter rows have lanes without a patch: batch i of a row of `num`
// patches begins with patch ritz_patch_batch(...). Texts for short rows (RITZ_IS_SCATTERED) take those of a
// colour of a plane so, row by row.
static inline int64_t ritz_patch_batch(int64_t num, int lanes, int64_t i) {
  const int64_t last = num > lanes ? num - lanes : 0;
  return i * lanes < last ? i * lanes : last;
}

// Arrays of numbers are in the precision of the kernel.
typedef struct {
  const void *b;
  void *x;
  int64_t nodes[3];           // of the L-vector
  int64_t first[3], count[3]; // positions
  int64_t low[3], high[3];    // free nodes: low .. high
  const void *factor;         // [4]: of the stiffness in x, y, z, of the mass
  // Uniform boxes: 1 / (c_x lambda_i + c_y lambda_j + c_z lambda_k + c_m), [j][i][k] (2D: [i][j]). Else NULL.
  const void *inverse;
  // Other boxes: RitzPatchLine (core/patch-sweep.h) of each position of y and z; of x interlaced,
  // [batch][entry of RitzPatchLine][lane], batches of even positions first, lanes without a patch with tables
  // of zeros and eigenvalues 1. Else NULL.
  const void *tables[3];
  void *work; // RitzKernelInfo.work_bytes, 64-byte aligned, one a thread
  bool is_reversed;
} RitzPatchArgs;

// Runs all colours of one plane of patches (2D: of one row), in the order of the sweep: the patches at
// position `plane` of the last direction.
typedef void (*RitzPatchKernel)(const RitzPatchArgs *args, int64_t plane);

#define RITZ_PATCH_SYMBOL      "ritz_patch_kernel" // RitzPatchKernel
#define RITZ_PATCH_INFO_SYMBOL "ritz_patch_info"   // const RitzKernelInfo

#endif
