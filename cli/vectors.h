// SPDX-License-Identifier: BSD-2-Clause
// QFunctions that are called as they were compiled with the program, not at run time: for several widths of
// vectors, of which the best is taken. Included before anything else, by the files that have such functions.
#ifndef RITZ_CLI_VECTORS_H
#define RITZ_CLI_VECTORS_H

#include <stdlib.h>

// Not where a sanitizer watches: it is not ready when the choice is made.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CLI_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CLI_HAS_SANITIZER 1
#endif
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(CLI_HAS_SANITIZER) &&    \
    !defined(__NO_INLINE__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define CEED_QFUNCTION_ATTR        __attribute__((target_clones("avx512f", "avx2", "default")))
#define CEED_QFUNCTION_HELPER_ATTR __attribute__((always_inline))
#endif
#endif

#endif
