// SPDX-License-Identifier: BSD-2-Clause
// Sets of entries of vectors (RitzIndices). In a text once for each precision, as kernels/gpu/vector.h.

RITZ_KERNEL(256)
RITZ_NAME(vector_set_entries)
(RitzLong n, RITZ_GLOBAL const RitzLong *entries, CeedScalar value, RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) x[entries[i]] = (RITZ_ENTRY)value;
}

RITZ_KERNEL(256)
RITZ_NAME(vector_put_entries)
(RitzLong n, RITZ_GLOBAL const RitzLong *entries, RITZ_GLOBAL const CeedScalar *values,
 RITZ_GLOBAL RITZ_ENTRY *x) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) x[entries[i]] = (RITZ_ENTRY)values[i];
}

RITZ_KERNEL(256)
RITZ_NAME(vector_copy_entries)
(RitzLong n, RITZ_GLOBAL const RitzLong *entries, RITZ_GLOBAL const RITZ_ENTRY *x,
 RITZ_GLOBAL RITZ_ENTRY *y) {
  for (RitzLong i = RITZ_ITEM; i < n; i += RITZ_NUM_ITEMS) y[entries[i]] = x[entries[i]];
}
