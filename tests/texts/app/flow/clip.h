// SPDX-License-Identifier: BSD-2-Clause
// Found beside tensor.h, which includes it.
#pragma once

#include <ceed/types.h>

namespace flow {

template <typename T> CEED_QFUNCTION_HELPER T clip(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

} // namespace flow
