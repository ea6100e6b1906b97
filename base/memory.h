// SPDX-License-Identifier: BSD-2-Clause
// The one allocator of the library. Memory is always free()-able, because the standard hands arrays over in
// both directions. Every allocation is counted, so that tests can see leaks, and can be made to fail on
// request.
#ifndef RITZ_BASE_MEMORY_H
#define RITZ_BASE_MEMORY_H

#include <ceed.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// p is the address of a pointer; the element size is taken from what it points to. ceed reports a failure
// (CEED_ERROR_MAJOR, naming the bytes wanted) and may be NULL. n = 0 gives NULL and success. On failure *p is
// NULL (RITZ_REALLOC: *p is unchanged and stays valid). n * size is checked for overflow.
#define RITZ_MALLOC(ceed, n, p)                                                                              \
  ritz_malloc((ceed), (n), sizeof(**(p)), (void **)(p)) // unspecified contents, 64-byte aligned
#define RITZ_CALLOC(ceed, n, p)                                                                              \
  ritz_calloc((ceed), (n), sizeof(**(p)), (void **)(p)) // zeros; pages stay untouched
#define RITZ_REALLOC(ceed, n, p) ritz_realloc((ceed), (n), sizeof(**(p)), (void **)(p)) // grows or shrinks *p
#define RITZ_FREE(p)             ritz_free((void **)(p))                                // *p becomes NULL

int ritz_malloc(Ceed ceed, size_t n, size_t size, void **p);
int ritz_calloc(Ceed ceed, size_t n, size_t size, void **p);
int ritz_realloc(Ceed ceed, size_t n, size_t size, void **p);
void ritz_free(void **p);
int ritz_strdup(Ceed ceed, const char *text, char **copy);

// A buffer leaves the library's count (given to the caller) or joins it (taken over from the caller).
void ritz_memory_give(void *p);
void ritz_memory_adopt(void *p);

// Gives blocks that are kept for later use back to the system: a context has ended, or memory is short.
void ritz_memory_trim(void);

// For tests: number of live allocations, once all tasks (base/threads.h) have ended; make the n-th allocation
// from now on fail (n >= 1; 0: never).
// Allocations of a thread that is spared neither fail nor count: it works ahead for callers who do not wait,
// so that its failure is nobody's error, and when it makes them is chance.
int64_t ritz_memory_live(void);
int64_t ritz_memory_fail_at(int64_t n);     // what is left of the n before; 0: that allocation has failed
void ritz_memory_spare_thread(bool spares); // the calling one

#endif
