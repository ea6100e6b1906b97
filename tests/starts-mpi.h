// SPDX-License-Identifier: BSD-2-Clause
// Whether a test may use hypre, which starts MPI. Open MPI unloads its parts at the end; what they leave
// behind has no name then that a suppression of LeakSanitizer could match. Included by tests of direct
// solvers.
#ifndef RITZ_TESTS_STARTS_MPI_H
#define RITZ_TESTS_STARTS_MPI_H

#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__)
static const bool starts_mpi = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
static const bool starts_mpi = false;
#else
static const bool starts_mpi = true;
#endif
#else
static const bool starts_mpi = true;
#endif

#endif
