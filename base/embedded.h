// SPDX-License-Identifier: BSD-2-Clause
// Texts inside the library, which wants no file of its own at run time: the headers that texts for the
// processor may include and the sources of the library's own QFunctions, read by core/jit-path.c,
// core/jit-load.c, jit/work-folder.c and jit/load.c, and the parts of texts for devices, read by
// backends/gpu/program.c. The definitions are made by tools/embed.cmake.
#ifndef RITZ_BASE_EMBEDDED_H
#define RITZ_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name;           // as texts include it: "kernels/cpu/kernel.h", "ceed/types.h"
  const unsigned char *bytes; // a zero follows them
  size_t size;
} RitzEmbeddedFile;

extern const RitzEmbeddedFile ritz_embedded_files[];
extern const size_t ritz_num_embedded_files;
extern const char ritz_embedded_hash[]; // of all names and contents

// NULL: none of this name.
const RitzEmbeddedFile *ritz_embedded_find(const char *name);

// kernels/gpu/: in no hash, for they are in the texts themselves.
extern const RitzEmbeddedFile ritz_embedded_templates[];
extern const size_t ritz_num_embedded_templates;

#endif
