// SPDX-License-Identifier: BSD-2-Clause
// Device code in the disk cache: a text that a device's own compiler makes into bytes. Same folder, rules and
// counters as for the CPU's kernels (jit/jit.h); the text has no includes, so what it says is all that it
// depends on, besides the words that describe device, driver and compiler. Called by backends/gpu/program.c.
#ifndef RITZ_JIT_BINARY_H
#define RITZ_JIT_BINARY_H

#include "jit/jit.h"

typedef struct {
  const char *name;         // for file names and messages: letters, digits, '-', '_'
  const char *extension;    // of the text in dumps: "cu", "cl"
  size_t num_words;         // what the bytes depend on besides the text
  const char *const *words; // device, architecture, versions
  const char *text;
} RitzJitBinary;

// Makes the bytes: *bytes owned by the caller of ritz_jit_binary, from ritz_malloc; NULL when the compiler
// refuses the text. *log (never NULL on success, from ritz_malloc): what it said.
typedef int (*RitzJitMakeBinary)(Ceed ceed, void *data, const char *name, const char *text, size_t *num_bytes,
                                 char **bytes, char **log);

// The bytes for a text from the cache, or else made, and kept there; one maker for each key among processes
// and threads. *bytes: owned by the caller; NULL when the text is refused, then *reason (owned, else NULL) is
// one paragraph for people: the first messages and the path of the log or dump. What a compiler has refused
// for the text's own sake stays refused, for later processes, too. `may_find`: false makes it anew (the
// driver did not take what the cache had). RITZ_DUMP keeps text, log and bytes.
int ritz_jit_binary(Ceed ceed, const RitzJitBinary *source, bool may_find, RitzJitMakeBinary make, void *data,
                    size_t *num_bytes, char **bytes, char **reason);

#endif
