// SPDX-License-Identifier: BSD-2-Clause
// What people see of a compilation: the first messages of a compiler, and RITZ_DUMP. Called by jit/build.c
// and jit/binary.c.
#ifndef RITZ_JIT_REPORT_H
#define RITZ_JIT_REPORT_H

#include "jit/binary.h"
#include "jit/compiler.h"
#include "jit/hash.h"

// *messages: the first errors in a compiler's log, separated by "; ", owned by the caller.
int ritz_report_errors(Ceed ceed, const char *log, char **messages);

// Writes text, headers, command, log and binary below RITZ_DUMP. `binary` is a descriptor or -1. *folder:
// where they are, owned by the caller; NULL: RITZ_DUMP is not set, or cannot be written to (a warning says so
// once).
int ritz_report_dump(Ceed ceed, const RitzCompiler *compiler, const RitzJitSource *source,
                     const RitzHash *key, const char *log, int binary, char **folder);
// The same for device code: text, device (the words, one a line), log and bytes, unless `bytes` is NULL.
int ritz_report_dump_binary(Ceed ceed, const RitzJitBinary *source, const RitzHash *key, const char *log,
                            size_t num_bytes, const char *bytes, char **folder);

#endif
