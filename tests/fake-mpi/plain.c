// SPDX-License-Identifier: BSD-2-Clause
// ritz/mpi.h as another MPI compiles it (tests/fake-mpi/mpich.h).
#define FAKE_PLAIN
#include "tests/fake-mpi/mpich.h"
#include <ritz/mpi.h>

int ask_plain(int *is_taken) { return RitzMPITakesDeviceMemory(is_taken); }
