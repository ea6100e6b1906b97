// SPDX-License-Identifier: BSD-2-Clause
// What the library has in common between threads: locks around its process-wide lists. Objects have none: one
// context and what belongs to it is used by one thread at a time.
#ifndef RITZ_CORE_THREADS_H
#define RITZ_CORE_THREADS_H

typedef enum {
  RITZ_LOCK_GALLERY, // QFunctions added to the gallery (core/gallery.c)
  RITZ_NUM_LOCKS
} RitzLock;

// Not recursive; held for a few instructions, never across calls of a user's function.
void ritz_lock(RitzLock lock);
void ritz_unlock(RitzLock lock);

#endif
