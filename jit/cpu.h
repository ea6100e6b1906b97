// SPDX-License-Identifier: BSD-2-Clause
// The processor, as far as code made for it must know it again. Called by jit/compiler.c and jit/load.c.
#ifndef RITZ_JIT_CPU_H
#define RITZ_JIT_CPU_H

#include <stdbool.h>

#include "jit/hash.h"

// Everything that decides what -march=native means, the same for all processors of a machine.
void ritz_cpu_describe(RitzHasher *hasher);
bool ritz_cpu_has_avx512(void);

#endif
