// SPDX-License-Identifier: BSD-2-Clause
// What Open MPI has beside its mpi.h.
#ifndef RITZ_TESTS_FAKE_MPI_EXT_H
#define RITZ_TESTS_FAKE_MPI_EXT_H

#define MPIX_CUDA_AWARE_SUPPORT 0 // what it was built with elsewhere: the library that is loaded counts
int MPIX_Query_cuda_support(void);

#endif
