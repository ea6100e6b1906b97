// SPDX-License-Identifier: BSD-2-Clause
// The disk cache: entries <key>.so (of the processor) or <key>.bin (of a device) with <key>.txt, which says
// what the binary was made from; records of tuning <key>.tune (jit/tune-record.h); refused texts
// <key>.refused (jit/refusal.h); empty files <key>.told (jit/user-files.c). Only files of the right owner and
// mode are read; they appear by rename, under a lock per key; anything unexpected counts as not there. Called
// by jit/load.c, build.c, binary.c, refusal.c, compiler.c, public.c.
#ifndef RITZ_JIT_CACHE_H
#define RITZ_JIT_CACHE_H

#include <stdbool.h>

#include "jit/hash.h"
#include "jit/jit.h"
#include "jit/strings.h"

#define RITZ_REFUSAL_SUFFIX ".refused"
#define RITZ_WARNED_SUFFIX  ".told"

typedef struct {
  char *folder;    // owned, absolute; NULL: none
  const char *why; // there is no folder (static)
  char *site;      // owned; the read-only cache of the machine, NULL: none
} RitzCache;

int ritz_cache_open(Ceed ceed, RitzCache *cache);
void ritz_cache_close(RitzCache *cache);

// *fd: the binary <key><suffix> of a valid entry, for reading, in the file *path (owned by the caller); or -1
// and NULL.
int ritz_cache_find(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *suffix, int *fd,
                    char **path);
// Text of the small file `name`, owned by the caller, or NULL.
int ritz_cache_read(Ceed ceed, const RitzCache *cache, const char *name, char **text);
// Moves a file of a work folder inside the cache folder to its name. A failure is no error: the file is not
// kept.
int ritz_cache_move(Ceed ceed, const RitzCache *cache, const char *work, const char *file, const char *name);
// The same for an entry: `file` becomes the binary, `manifest` is the text beside it.
int ritz_cache_publish(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *work,
                       const char *file, const char *suffix, const char *manifest);
// The same for the log of a text that was refused. *path: where it is, owned by the caller.
int ritz_cache_keep_log(Ceed ceed, const RitzCache *cache, const RitzHash *key, const char *work,
                        const char *file, char **path);

// *path: of the log that is kept for a key, owned by the caller; NULL: none.
int ritz_cache_find_log(Ceed ceed, const RitzCache *cache, const RitzHash *key, char **path);
// Removes all but the newest refused texts and logs.
int ritz_cache_prune(Ceed ceed, const RitzCache *cache);

// Locks between processes and threads, released by the system when their holder dies. A file system without
// locks, or a cache that cannot be written to, gives them to everybody.
typedef struct {
  char *path; // owned; NULL: not held
  int fd;
} RitzCacheLock;
int ritz_cache_lock(Ceed ceed, const RitzCache *cache, const RitzHash *key, RitzCacheLock *lock,
                    bool *is_busy);
void ritz_cache_unlock(RitzCacheLock *lock);
// For those who have waited for the lock: when the text was refused meanwhile it will be refused again, and
// they need not queue.
int ritz_cache_unlock_if_refused(Ceed ceed, const RitzCache *cache, const RitzHash *key, RitzCacheLock *lock);

// Removes from the folders what was left behind more than a day ago by processes that were killed: work
// folders, locks; and refused texts and logs of more than a month ago. Only the first call in a process does.
int ritz_cache_remove_old_once(Ceed ceed, const RitzStrings *folders);

#endif
