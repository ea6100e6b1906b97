// SPDX-License-Identifier: BSD-2-Clause
// The C and C++ compilers of the system: where they are, what they call themselves, which flags they take,
// how they are called. Called by jit/load.c, jit/build.c and jit/public.c.
#ifndef RITZ_JIT_COMPILER_H
#define RITZ_JIT_COMPILER_H

#include "jit/cache.h"
#include "jit/jit.h"
#include "jit/strings.h"

// Lives until the process ends.
typedef struct RitzCompiler {
  struct RitzCompiler *next;
  RitzJitLanguage language;
  char *path;         // absolute
  int64_t size, time; // of the file
  char *version;      // first line of --version
  char *fault;        // it was run and did not answer: why, for people; NULL: it works
  int num_refused;    // of the flags for this machine's processor, the last ones first
} RitzCompiler;

// The compiler in use. It is asked once (per process, and per cache folder), and not again in this process
// where it has failed; `places` are folders for temporary files. *compiler is NULL when there is none: *why
// (owned by the caller, else NULL) says why.
int ritz_compiler_find(Ceed ceed, RitzJitLanguage language, const RitzCache *cache, const RitzStrings *places,
                       const RitzCompiler **compiler, char **why);

// Appends the command that makes folder/kernel.so (and the list of files read, folder/kernel.d) from
// folder/kernel.c.
void ritz_compiler_command(const RitzCompiler *compiler, const RitzJitSource *source, const char *folder,
                           RitzStrings *args);
// The same for a command that compiles nothing and makes the list alone, in which headers that are nowhere
// stand by their names.
void ritz_compiler_list_command(const RitzCompiler *compiler, const RitzJitSource *source, const char *folder,
                                RitzStrings *args);
// Appends the folders that the environment gives for headers, which follow those of a source.
void ritz_compiler_folders(RitzJitLanguage language, RitzStrings *args);

#endif
