// SPDX-License-Identifier: BSD-2-Clause
// Source text -> callable code, through the system's C compiler: memory cache, disk cache, compiler, dlopen.
// Knows nothing of operators. Called by
// backends/cpu, by way of jit/kernel.h. All functions may be called by several threads at once.
//
// Environment: see ritz/jit.h, which also declares RitzJitEntry and RitzJitCounters.
//
// A text is compiled in a temporary folder of its own, which is the first -I and holds the headers that the
// library carries inside: kernels/cpu/*.h, ceed.h, ceed/ceed.h (types only), ceed/types.h, the sources of the
// gallery and of geometry, ritz/point-function.h. So a text says #include "kernels/cpu/kernel.h", whatever is
// installed. The user's file is included by its path, which should be absolute: a relative one is looked up
// from the temporary folder, then below the roots, then below RITZ_INCLUDE_PATH.
//
// A text with a user's file is C or C++: it is compiled as C, and what the C compiler refuses as C++. What
// both refuse is refused; on disk, too, as long as all that the compiler has seen is the same.
#ifndef RITZ_JIT_JIT_H
#define RITZ_JIT_JIT_H

#include <ceed.h>
#include <ritz/jit.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { RITZ_JIT_C, RITZ_JIT_CXX } RitzJitLanguage;

// A text to compile. Everything borrowed for the call.
typedef struct {
  const char *name;         // for file names and messages: letters, digits, '-', '_'
  const char *text;         // C, and C++ as well when there is a user's file
  RitzJitLanguage language; // the first one to try: C++ when that is known already
  const char *user_file;    // source of the function that `text` includes, or NULL; the key has its content
  size_t num_roots, num_defines;
  char *const *roots;   // folders for -I, in this order
  char *const *defines; // "NAME" or "NAME=value", for -D
  bool is_optional;     // worth loading, but not compiling
  double urgency; // of several that are compiled beside the caller, in all batches, the highest comes first
} RitzJitSource;

typedef enum {
  RITZ_JIT_READY,
  RITZ_JIT_NO_COMPILER, // none found, or it cannot be run
  RITZ_JIT_REFUSED, // the compiler does not accept the text, or crashed, or took too long; the loader misses
                    // a symbol. Remembered until the process ends; the first of these on disk, too
  RITZ_JIT_NOT_LOADED, // no folder that can be written to, or that code may be loaded from
  RITZ_JIT_ABSENT,     // optional, and in no cache
} RitzJitStatus;

// Loaded code, shared by all equal texts of the process; counted.
typedef struct RitzJitModule_private *RitzJitModule;

// Loads `num` texts, compiling those that are in no cache, as many at a time as there are processors.
// modules[i]: counted, to be released. Every outcome but lack of memory is CEED_ERROR_SUCCESS: what became of
// a text says its status. On an error all modules are NULL.
int ritz_jit_load(Ceed ceed, size_t num, const RitzJitSource *sources, RitzJitModule *modules);

RitzJitStatus ritz_jit_status(RitzJitModule module);
// One paragraph for people, never empty: why the status is not READY, or which symbols a READY module lacks;
// with the compiler's first messages (the user's file and line) and the path of the dump or log. Reasons that
// lie in the machine are one paragraph for all texts, without their names.
const char *ritz_jit_reason(RitzJitModule module);
RitzJitLanguage ritz_jit_language(RitzJitModule module);       // that the text was compiled as
void *ritz_jit_symbol(RitzJitModule module, const char *name); // NULL: not there, or not READY
void ritz_jit_release(RitzJitModule *module);                  // unloads the code with the last reference

// *is_first: a warning about this user's file is due, that texts with it have no kernel. Once for a file of
// these contents, in one of all processes that share a cache; again after a day; always under
// RITZ_WARNINGS=all.
int ritz_jit_is_first_warning(Ceed ceed, const char *user_file, bool *is_first);

// The language of a file of these contents: C, unless texts with it were refused as C and are C++ in this
// process.
RitzJitLanguage ritz_jit_language_of_file(const char *user_file);
int ritz_jit_remember_language(Ceed ceed, const char *user_file, RitzJitLanguage language);

// Since the process began.
void ritz_jit_counters(RitzJitCounters *counters);

// ---- For the `ritz cache` command and `ritz info` (published in ritz/jit.h) ----

// The folder in use (owned by the library, valid until exit), or NULL and *why (static) when there is none.
const char *ritz_jit_folder(const char **why);
// *entries: to be freed with ritz_free.
int ritz_jit_list(Ceed ceed, size_t *num, RitzJitEntry **entries);
int ritz_jit_clear(Ceed ceed, size_t *num_removed);
int ritz_jit_start(void); // RitzJitStart
// Compiler in use and its first line of --version (valid until exit); NULL: none.
const char *ritz_jit_compiler(void);
const char *ritz_jit_compiler_version(void);

#endif
