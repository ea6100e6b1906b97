// SPDX-License-Identifier: BSD-2-Clause
// The disk cache: entries <key>.so with <key>.txt, which says what the binary was made from. Only files of
// the right owner and mode are read; they appear by rename, under a lock per key; anything unexpected counts
// as not there. Called by jit/load.c, jit/build.c, jit/compiler.c and jit/public.c.
#ifndef RITZ_JIT_CACHE_H
#define RITZ_JIT_CACHE_H

#include <stdbool.h>

#include "jit/hash.h"
#include "jit/jit.h"
#include "jit/words.h"

typedef struct {
  char *folder;    // owned, absolute; NULL: none
  const char *why; // there is no folder (static)
  char *site;      // owned; the read-only cache of the machine, NULL: none
} RitzCache;

int ritz_cache_open(Ceed ceed, RitzCache *cache);
void ritz_cache_close(RitzCache *cache);

// *fd: the binary of a valid entry, for reading, in the file *path (owned by the caller); or -1 and NULL.
int ritz_cache_find(Ceed ceed, const RitzCache *cache, const RitzHash *key, int *fd, char **path);
// Text of the small file `name`, owned by the caller, or NULL.
int ritz_cache_read(Ceed ceed, const RitzCache *cache, const char *name, char **text);
// Moves a file of a work folder inside the cache folder to its name. What fails is merely not kept.
int ritz_cache_move(Ceed ceed, const RitzCache *cache, const char *work, const char *file, const char *name);

// Locks between processes and threads, released by the system when their holder dies. A file system without
// locks, or a cache that cannot be written to, gives them to everybody.
typedef struct {
  char *path; // owned; NULL: not held
  int fd;
} RitzCacheLock;
int ritz_cache_lock(Ceed ceed, const RitzCache *cache, const RitzHash *key, RitzCacheLock *lock,
                    bool *is_busy);
void ritz_cache_unlock(RitzCacheLock *lock);

// Removes from a folder what was left behind more than a day ago: work folders, locks, logs.
int ritz_cache_sweep(Ceed ceed, const char *folder);

#endif
