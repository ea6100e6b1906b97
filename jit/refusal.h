// SPDX-License-Identifier: BSD-2-Clause
// Refused texts in the disk cache: <key>.refused says what a compiler did not accept, in its first words, and
// which files it had read: size, time and hash of each (jit/manifest.h), and where headers were looked for
// that were nowhere. As long as all that is so the compiler would say the same. Same folder and rules as for
// kernels (jit/cache.h); the newest are kept. Called by jit/build.c and jit/binary.c.
#ifndef RITZ_JIT_REFUSAL_H
#define RITZ_JIT_REFUSAL_H

#include "jit/cache.h"

// Whether a compiler's log is its judgement of the text, and not of the machine: an error at a place in the
// text, and no word of lacking memory, space or permission, or of a compiler that broke down.
bool ritz_refusal_is_verdict(const char *log);
// Whether it misses a header.
bool ritz_refusal_misses_header(const char *log);

// *messages: the first words of the compiler, owned by the caller; NULL: the text is not known to be refused.
int ritz_refusal_find(Ceed ceed, const RitzCache *cache, const RitzHash *key, char **messages);

// A refusal as it is kept. Everything borrowed.
typedef struct {
  const char *name;           // of the text
  const char *work;           // a folder inside the cache, for a temporary file
  const RitzStrings *files;   // that the compiler has read or looked for
  const RitzStrings *folders; // that it has searched besides those of the files
  int64_t start;              // of the compilation, by the clock of the files
  const char *messages;
} RitzRefusal;

// Writes a refusal to the cache. *is_kept is false where it cannot be written, or a file has changed since;
// neither is an error.
int ritz_refusal_keep(Ceed ceed, const RitzCache *cache, const RitzHash *key, const RitzRefusal *refusal,
                      bool *is_kept);

// *text: the messages for people with the place of the whole log (`log`; NULL: the one in the cache, if it is
// still there), owned by the caller.
int ritz_refusal_describe(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *messages,
                          const char *log, char **text);

#endif
