// SPDX-License-Identifier: BSD-2-Clause
// What programs that are compiled with an MPI like MPICH, or with one that cannot be asked, find out about
// devices: ritz/mpi.h in mpich.c and plain.c, for test-mpi.c.
#ifndef RITZ_TESTS_FAKE_MPICH_H
#define RITZ_TESTS_FAKE_MPICH_H

enum { FAKE_MPICH_CUDA = 7 };
int MPIX_GPU_query_support(int kind, int *is_supported);
int ask_mpich(int *is_taken); // Ceed codes
int ask_plain(int *is_taken);

#endif
