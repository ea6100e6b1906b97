// SPDX-License-Identifier: BSD-2-Clause
// Everything that a generated CPU kernel is made of, but its loop (loop.h), which comes last. The user's text
// that follows is compiled as the JIT pass of the Ceed API.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define CEED_QFUNCTION(name)  static inline __attribute__((always_inline, flatten, unused)) int name
#define CEED_QFUNCTION_HELPER static inline __attribute__((always_inline, unused))
#ifdef RITZ_CALL
#define CEED_Q_VLA (RITZ_CALL * RITZ_LANES)
#endif

#include "kernels/cpu/ahead.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/line.h"
#include "kernels/cpu/points.h"
#include "kernels/cpu/restrict.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/vector.h"
