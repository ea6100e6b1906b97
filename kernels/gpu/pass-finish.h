// SPDX-License-Identifier: BSD-2-Clause
// The end of sums on devices whose blocks know nothing of each other: behind kernels/gpu/pass.h, run with one
// block after a kernel that has left the numbers of its blocks.

RITZ_KERNEL(256)
ritz_pass_finish(int num_sums, int num_blocks, RITZ_GLOBAL double *partial, int first_sum,
                 RITZ_GLOBAL double *scalars) {
  RITZ_SHARED_ARRAY double scratch[RITZ_PASS_SCRATCH];
  ritz_pass_total(num_sums, num_blocks, partial, scratch, scalars + first_sum);
}
