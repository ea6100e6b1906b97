// SPDX-License-Identifier: BSD-2-Clause
// A QFunction of tests/test-gen.c whose file defines names that kernels use, too. Included last.
#include <ceed/types.h>

// Macros that are files, functions, arguments and variables of kernels.
#define line    1
#define x       2
#define P       3
#define w       4
#define RITZ    5
#define add     6
#define matrix  7
#define row     row_of_a_user
#define batch() 8

// Names of constants, types and functions.
enum { B0 = 1, B0_t = 2, D0, C0, W0 };
typedef CeedScalar Work;
CEED_QFUNCTION_HELPER Work shape0(Work s) { return s * (B0 + B0_t + batch() - 7); }
CEED_QFUNCTION_HELPER Work kernel(Work s) { return s + line + x + P; }
static const CeedScalar shape1[] = {1, 2};

CEED_QFUNCTION(GenMacros)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++) {
    const Work row = shape0(kernel(in[0][i])) + w + RITZ;

    out[0][i] = (shape1[1] * row + add + matrix) * in[2][i] * in[3][i];
  }
  return CEED_ERROR_SUCCESS;
}

#define ctx  nothing
#define Q    nothing
#define in   nothing
#define out  nothing
#define code nothing
