// SPDX-License-Identifier: BSD-2-Clause
// Texts inside the library: the headers that texts for the processor may include, read by jit/work.c and
// jit/load.c, and the parts of texts for devices, read by backends/gpu/program.c. The definitions are made by
// tools/embed.cmake.
#ifndef RITZ_JIT_EMBEDDED_H
#define RITZ_JIT_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name;           // as texts include it: "kernels/cpu/kernel.h", "ceed/types.h"
  const unsigned char *bytes; // a zero follows them
  size_t size;
} RitzEmbeddedFile;

extern const RitzEmbeddedFile ritz_embedded_files[];
extern const size_t ritz_num_embedded_files;
extern const char ritz_embedded_hash[]; // of all names and contents

// kernels/gpu/: in no hash, for they are in the texts themselves.
extern const RitzEmbeddedFile ritz_embedded_templates[];
extern const size_t ritz_num_embedded_templates;

#endif
