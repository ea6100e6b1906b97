// SPDX-License-Identifier: BSD-2-Clause
// Comparison of a kernel of the emulated device with its reference.
#include <float.h>
#include <math.h>

#include "backends/check/device.h"

double ritz_check_epsilon(void) {
  return sizeof(CeedScalar) == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON;
}

double ritz_check_largest(CeedSize n, const CeedScalar *x) {
  double largest = 0;
  for (CeedSize i = 0; i < n; i++) {
    double size = fabs((double)x[i]);
    if (isnan(size)) return size;
    if (size > largest) largest = size;
  }
  return largest;
}

static int report(const RitzCheckPair *pair, CeedSize index, CeedScalar found, CeedScalar wanted,
                  double tolerance) {
  const RitzCheckDevice *d = pair->ceed->data;
  return CeedError(pair->ceed, CEED_ERROR_BACKEND,
                   "check: %s%s%s%s%s%s: entry %" CeedSize_FMT
                   " is %.17g on the device and %.17g in %s; the allowed difference is %.3g",
                   d->op_name ? "operator '" : "", d->op_name ? d->op_name : "",
                   d->op_name ? "', field '" : "", d->field_name ? d->field_name : "",
                   d->op_name ? "': " : "", pair->what, index, (double)found, (double)wanted, pair->with,
                   tolerance);
}

int ritz_check_compare(const RitzCheckPair *pair, CeedSize index, CeedScalar found, CeedScalar wanted,
                       double tolerance) {
  bool is_same = found == wanted || fabs((double)found - (double)wanted) <= tolerance;
  bool has_no_size = !isfinite(tolerance) || (!isfinite((double)found) && !isfinite((double)wanted));
  return is_same || has_no_size ? CEED_ERROR_SUCCESS : report(pair, index, found, wanted, tolerance);
}
