// SPDX-License-Identifier: BSD-2-Clause
// After an operator that has given the shares of u . A u (kernels/gpu/energy.h): their sum, and zeros in the
// result of the operator. Behind kernels/gpu/pass.h; run by backends/gpu/energy.c.

// Number k = the sum of the shares, added to it where `adds`; out[entries[i]] = 0.
RITZ_KERNEL(256)
ritz_collect(RitzLong num_shares, RITZ_GLOBAL const double *shares, int adds, RitzLong num_entries,
             RITZ_GLOBAL const RitzLong *entries, RITZ_GLOBAL CeedScalar *out, RITZ_GLOBAL double *partial,
             RITZ_GLOBAL unsigned *arrived, int k, RITZ_GLOBAL double *scalars) {
  RITZ_SHARED_ARRAY double scratch[RITZ_PASS_SCRATCH];
  RitzPassSum sum = {0, 0};
  for (RitzLong i = RITZ_ITEM; i < num_entries; i += RITZ_NUM_ITEMS) out[entries[i]] = 0;
  for (RitzLong i = RITZ_ITEM; i < num_shares; i += RITZ_NUM_ITEMS) ritz_pass_add(&sum, shares[i]);
  if (adds && RITZ_ITEM == 0) ritz_pass_add(&sum, scalars[k]);
  ritz_pass_keep(0, sum, scratch, partial);
  ritz_pass_arrive(1, partial, arrived, scratch, scalars + k);
}
