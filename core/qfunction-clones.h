// SPDX-License-Identifier: BSD-2-Clause
// QFunctions of the library that the host calls by their pointers are compiled for several widths of vectors.
// Comes before every other #include of a file that includes their texts.
#ifndef RITZ_CORE_QFUNCTION_CLONES_H
#define RITZ_CORE_QFUNCTION_CLONES_H

#include "base/simd.h"

#if defined(__GNUC__) && !defined(__NO_INLINE__)
#define CEED_QFUNCTION_ATTR        RITZ_CLONED
#define CEED_QFUNCTION_HELPER_ATTR __attribute__((always_inline))
#endif

#endif
