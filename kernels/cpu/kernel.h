// SPDX-License-Identifier: BSD-2-Clause
// Everything that a generated CPU kernel is made of, but its loop (loop.h), which comes last. The user's text
// that follows is compiled as the JIT pass of the Ceed API. All templates, and the texts of emit/, are C11
// and C++17 (with GNU's compound literals) at once: a user's text may be either.
#ifdef __cplusplus
#include <algorithm>
#include <cmath>
#endif
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define CEED_QFUNCTION(name)  static inline __attribute__((RITZ_COPIED, RITZ_COPYING)) int name
#define CEED_QFUNCTION_HELPER static inline __attribute__((RITZ_COPIED))
#ifdef RITZ_CALL
#define CEED_Q_VLA (RITZ_CALL * RITZ_LANES)
#endif

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/line.h"
#include "kernels/cpu/points.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/restrict.h"
#include "kernels/cpu/simple-inputs.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/vector-math.h"
#include "kernels/cpu/vector.h"

// Functions that a kernel exports, under these names in C++, too.
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) int ritz_kernel(const RitzKernelArgs *args, int64_t begin,
                                                       int64_t end);
__attribute__((visibility("default"))) extern const RitzKernelInfo ritz_kernel_info;
__attribute__((visibility("default"))) int ritz_qfunction_text(void *ctx, const CeedInt Q,
                                                               const CeedScalar *const *in,
                                                               CeedScalar *const *out);
#ifdef __cplusplus
}
#endif
