// SPDX-License-Identifier: BSD-2-Clause
// Code that Ritz compiles at run time: the compiler it uses, the cache on disk, what was found and what was
// made since the process began. Kernels are loaded by the library itself; nothing here has to be called.
//
// Environment (`ritz help environment` tells more): RITZ_CC, RITZ_CXX, RITZ_CFLAGS, RITZ_CXXFLAGS,
// RITZ_INCLUDE_PATH, RITZ_SOURCE_DIR, RITZ_JIT_TIMEOUT of compilers, RITZ_CACHE, RITZ_CACHE_DIR,
// RITZ_SITE_CACHE of the cache, RITZ_DUMP. The cache's folder must belong to the user, and others may not
// write to it; else it is not used.
#ifndef RITZ_JIT_H
#define RITZ_JIT_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A compiled text in the cache, a text that compilers have refused, or what RitzOperatorTune
// (ritz/operator.h) has kept there.
typedef struct {
  char name[64];  // of the kernel, shortened to fit; of a refused text with its language: "flux as C"
  char key[41];   // hexadecimal; the files are KEY.txt and KEY.so, of a device KEY.bin; KEY.refused; KEY.tune
  bool is_tuning; // measured choices, no code
  bool is_refused;  // no code: it is not compiled again as long as it, its compiler and the files it includes
                    // are the same
  size_t num_bytes; // of its files together
  int64_t modified; // seconds since 1970
} RitzJitEntry;

// Since the process began.
typedef struct {
  int64_t memory_hits;    // texts that were loaded already
  int64_t disk_hits;      // texts found in the cache
  int64_t compilations;   // runs of the compiler, good and bad
  int64_t failures;       // texts that could not be compiled or loaded
  int64_t retries;        // texts that were refused as C and tried as C++; no failures
  double compile_seconds; // in the compiler; compilers that run at the same time all count
  double load_seconds;    // reading, checking, loading
} RitzJitCounters;

// *folder: the cache in use, created when it is not there (owned by the library, valid until exit), or NULL.
// *why (static): why there is none, NULL when there is one; may be NULL.
CEED_EXTERN int RitzJitGetFolder(const char **folder, const char **why);

// All entries of the cache, sorted by name; none when there is no cache. *entries: a new array, to be freed
// by the caller with free(); NULL when *num is 0. `ceed` reports lack of memory (CEED_ERROR_MAJOR) and may be
// NULL.
CEED_EXTERN int RitzJitList(Ceed ceed, size_t *num, RitzJitEntry **entries);

// Removes all entries, kept messages of compilers and what killed processes left behind; code that is loaded
// stays loaded. Files of others in the folder are left alone. *num_removed: entries; may be NULL. Errors:
// those of RitzJitList.
CEED_EXTERN int RitzJitClear(Ceed ceed, size_t *num_removed);

// Counts of the process so far.
CEED_EXTERN int RitzJitGetCounters(RitzJitCounters *counters);

// Looks for the compiler, and asks it for what it can, on a thread of its own while the program does
// something else; the first kernel waits for what is left of that. Where the cache knows the compiler there
// is nothing to ask. The first call of a process does so, later ones nothing. CEED_ERROR_MAJOR: no memory.
CEED_EXTERN int RitzJitStart(void);

// *path and *version (the first line of --version): owned by the library, valid until exit; both NULL when
// there is no compiler that can be run. Each may be NULL. The first call may run the compiler.
CEED_EXTERN int RitzJitGetCompiler(const char **path, const char **version);

#endif
