// SPDX-License-Identifier: BSD-2-Clause
// A QFunction of tests/test-gen.c that is spread over files. GEN_DEFINED comes from CeedAddJitDefine,
// and in the program from a #define; <gen-root.h> is found below a JiT source root alone.
#include <ceed.h>

// clang-format off
#include "./helper.h"
#include "../gen-sources/helper.h"
#   include "helper.h"
// clang-format on
#ifdef CEED_RUNNING_JIT_PASS
#include <gen-root.h>
#else
#include "root/gen-root.h"
#endif

CEED_QFUNCTION(GenIncludes)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const *out) {
  (void)ctx;
  for (CeedInt i = 0; i < Q; i++)
    out[0][i] = GEN_DEFINED * gen_helper(gen_from_root(in[0][i])) * in[2][i] * in[3][i];
  return CEED_ERROR_SUCCESS;
}
