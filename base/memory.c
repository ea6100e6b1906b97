// SPDX-License-Identifier: BSD-2-Clause
// The one allocator of the library (contract in base/memory.h).
#define _DEFAULT_SOURCE // madvise
#include "base/memory.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHES_BLOCKS // that are freed
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(WATCHES_BLOCKS)
#include <malloc.h>
#define KEEPS_BLOCKS
#endif
#include <ritz/context.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/threads.h"

enum { small_alignment = 64, large_block = 4 << 20, large_page = 2 << 20 };

static _Atomic int64_t num_live;
static _Atomic int64_t num_until_failure; // 0: never fail

static _Thread_local bool is_spared;

static bool fails_on_request(void) {
  return !is_spared && atomic_load(&num_until_failure) > 0 && atomic_fetch_sub(&num_until_failure, 1) == 1;
}

static int out_of_memory(Ceed ceed, size_t n, size_t size) {
  return CeedError(ceed, CEED_ERROR_MAJOR, "out of memory: %zu objects of %zu bytes wanted", n, size);
}

// Large blocks ask for large pages: kernels walk through many streams at once, each in pages of its own. The
// advice is for whole pages inside the block; nothing is touched.
static void advise_pages(void *p, size_t num_bytes) {
#ifdef MADV_HUGEPAGE
  if (num_bytes < large_block) return;
  uintptr_t begin = ((uintptr_t)p + large_page - 1) / large_page * large_page;
  uintptr_t end = ((uintptr_t)p + num_bytes) / large_page * large_page;
  (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); // a wish
#else
  (void)p, (void)num_bytes;
#endif
}

// ---- Large blocks that are kept ----
// The system clears every page that it hands out, which takes longer than to fill it, and takes back what is
// freed. So large blocks that are freed are kept for the next ones, as long as all of the library's large
// blocks, kept ones included, are no more than were in use at once before. Guarded by RITZ_LOCK_MEMORY.

enum { max_kept = 16 };

static struct {
  int num;
  void *blocks[max_kept];
  size_t bytes;               // of these
  size_t in_use, most_in_use; // bytes of large blocks
} kept;

// 0: not large, or not known.
static size_t large_bytes(void *p) {
#ifdef KEEPS_BLOCKS
  const size_t bytes = p && (uintptr_t)p % small_alignment == 0 ? malloc_usable_size(p) : 0;
  return bytes < large_block ? 0 : bytes;
#else
  (void)p;
  return 0;
#endif
}

static void count_in_use(size_t bytes) {
  kept.in_use += bytes;
  if (kept.in_use > kept.most_in_use) kept.most_in_use = kept.in_use;
}

static void *remove_kept(int i) {
  void *block = kept.blocks[i];
  kept.bytes -= large_bytes(block);
  kept.blocks[i] = kept.blocks[--kept.num];
  return block;
}

// The smallest one that is large enough, and not by more than a quarter; -1: none.
static int find_kept(size_t bytes) {
  int best = -1;
  for (int i = 0; i < kept.num; i++) {
    const size_t size = large_bytes(kept.blocks[i]);
    if (size < bytes || size - bytes > bytes / 4) continue;
    if (best < 0 || size < large_bytes(kept.blocks[best])) best = i;
  }
  return best;
}

// For a block that is new.
static void make_room(size_t bytes) {
  while (kept.num > 0 && kept.in_use + kept.bytes + bytes > kept.most_in_use) free(remove_kept(0));
}

// NULL: none fits; room for a new one is made.
static void *take_kept(size_t bytes) {
  if (bytes < large_block) return NULL;
  ritz_lock(RITZ_LOCK_MEMORY);
  const int i = find_kept(bytes);
  void *block = i < 0 ? NULL : remove_kept(i);
  if (block)
    count_in_use(large_bytes(block));
  else
    make_room(bytes);
  ritz_unlock(RITZ_LOCK_MEMORY);
  return block;
}

// A block that comes into use from elsewhere, or goes there.
static void count_block(void *p, bool comes) {
  const size_t bytes = large_bytes(p);
  if (bytes == 0) return;
  ritz_lock(RITZ_LOCK_MEMORY);
  if (comes) {
    make_room(bytes);
    count_in_use(bytes);
  } else {
    kept.in_use -= bytes;
  }
  ritz_unlock(RITZ_LOCK_MEMORY);
}

static bool keep(void *p) {
  const size_t bytes = large_bytes(p);
  if (bytes == 0) return false;
  ritz_lock(RITZ_LOCK_MEMORY);
  const bool fits = kept.num < max_kept;
  kept.in_use -= bytes;
  if (fits) kept.blocks[kept.num++] = p;
  if (fits) kept.bytes += bytes;
  ritz_unlock(RITZ_LOCK_MEMORY);
  return fits;
}

void ritz_memory_trim(void) {
  ritz_lock(RITZ_LOCK_MEMORY);
  while (kept.num > 0) free(remove_kept(0));
  kept.most_in_use = kept.in_use;
  ritz_unlock(RITZ_LOCK_MEMORY);
}

// ---- The allocator ----

static void *allocate_memory(size_t alignment, size_t bytes) {
  void *p = take_kept(bytes);
  if (p) return p;
  p = aligned_alloc(alignment, bytes);
  if (!p) {
    ritz_memory_trim();
    p = aligned_alloc(alignment, bytes);
  }
  advise_pages(p, p ? bytes : 0);
  count_block(p, true);
  return p;
}

int ritz_malloc(Ceed ceed, size_t n, size_t size, void **p) {
  *p = NULL;
  if (n == 0) return CEED_ERROR_SUCCESS;
  if (n > (SIZE_MAX - large_page) / size || fails_on_request()) return out_of_memory(ceed, n, size);
  const size_t alignment = n * size < large_block ? small_alignment : large_page;
  *p = allocate_memory(alignment, (n * size + alignment - 1) / alignment * alignment);
  if (!*p) return out_of_memory(ceed, n, size);
  atomic_fetch_add(&num_live, 1);
  return CEED_ERROR_SUCCESS;
}

int ritz_calloc(Ceed ceed, size_t n, size_t size, void **p) {
  *p = NULL;
  if (n == 0) return CEED_ERROR_SUCCESS;
  if (n > SIZE_MAX / size || fails_on_request()) return out_of_memory(ceed, n, size);
  *p = calloc(n, size);
  if (!*p) {
    ritz_memory_trim();
    *p = calloc(n, size);
  }
  if (!*p) return out_of_memory(ceed, n, size);
  advise_pages(*p, n * size);
  count_block(*p, true);
  atomic_fetch_add(&num_live, 1);
  return CEED_ERROR_SUCCESS;
}

int ritz_realloc(Ceed ceed, size_t n, size_t size, void **p) {
  if (!*p) return ritz_malloc(ceed, n, size, p);
  if (n == 0) {
    ritz_free(p);
    return CEED_ERROR_SUCCESS;
  }
  if (n > SIZE_MAX / size || fails_on_request()) return out_of_memory(ceed, n, size);
  count_block(*p, false);
  void *moved = realloc(*p, n * size);
  count_block(moved ? moved : *p, true);
  if (!moved) return out_of_memory(ceed, n, size);
  *p = moved;
  return CEED_ERROR_SUCCESS;
}

void ritz_free(void **p) {
  if (*p) atomic_fetch_sub(&num_live, 1);
  if (!keep(*p)) free(*p);
  *p = NULL;
}

int ritz_strdup(Ceed ceed, const char *text, char **copy) {
  RITZ_TRY(RITZ_MALLOC(ceed, strlen(text) + 1, copy));
  strcpy(*copy, text);
  return CEED_ERROR_SUCCESS;
}

void ritz_memory_give(void *p) {
  if (!p) return;
  atomic_fetch_sub(&num_live, 1);
  count_block(p, false);
}

void ritz_memory_adopt(void *p) {
  if (!p) return;
  atomic_fetch_add(&num_live, 1);
  count_block(p, true);
}

int64_t ritz_memory_live(void) {
  ritz_tasks_wait();
  return atomic_load(&num_live);
}

int RitzGetNumAllocations(int64_t *num) {
  RITZ_TRY(ritz_check_handle(NULL, __func__, "num", num, NULL));
  *num = ritz_memory_live();
  return CEED_ERROR_SUCCESS;
}

int64_t ritz_memory_fail_at(int64_t n) {
  const int64_t left = atomic_exchange(&num_until_failure, n);
  return left > 0 ? left : 0;
}

void ritz_memory_spare_thread(bool spares) { is_spared = spares; }
