// SPDX-License-Identifier: BSD-2-Clause
// The processor, as far as code made for it must know it again. Called by jit/compiler.c and jit/load.c.
#ifndef RITZ_JIT_CPU_H
#define RITZ_JIT_CPU_H

#include "jit/hash.h"

// Everything that decides what -march=native means, the same for all processors of a machine.
void ritz_cpu_describe(RitzHasher *hasher);
// Compiler flag beside -march=native, or NULL: for the whole width of AVX-512; against AVX-512 where this
// process sees none, which may be less than the compiler sees (valgrind, emulators).
const char *ritz_cpu_vector_flag(void);

#endif
