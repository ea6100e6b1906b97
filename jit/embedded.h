// SPDX-License-Identifier: BSD-2-Clause
// The headers that texts may include, inside the library. The definitions are made by tools/embed.cmake; read
// by jit/work.c and jit/load.c.
#ifndef RITZ_JIT_EMBEDDED_H
#define RITZ_JIT_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name; // as texts include it: "kernels/cpu/kernel.h", "ceed/types.h"
  const unsigned char *bytes;
  size_t size;
} RitzEmbeddedFile;

extern const RitzEmbeddedFile ritz_embedded_files[];
extern const size_t ritz_num_embedded_files;
extern const char ritz_embedded_hash[]; // of all names and contents

#endif
