// SPDX-License-Identifier: BSD-2-Clause
// The one allocator of the library (contract in core/memory.h).
#define _DEFAULT_SOURCE // madvise
#include "core/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/error.h"

enum { small_alignment = 64, large_block = 4 << 20, large_page = 2 << 20 };

static _Atomic int64_t num_live;
static _Atomic int64_t num_until_failure; // 0: never fail

static bool fails_on_request(void) {
  return atomic_load(&num_until_failure) > 0 && atomic_fetch_sub(&num_until_failure, 1) == 1;
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

int ritz_malloc(Ceed ceed, size_t n, size_t size, void **p) {
  *p = NULL;
  if (n == 0) return CEED_ERROR_SUCCESS;
  if (n > (SIZE_MAX - large_page) / size || fails_on_request()) return out_of_memory(ceed, n, size);
  const size_t alignment = n * size < large_block ? small_alignment : large_page;
  *p = aligned_alloc(alignment, (n * size + alignment - 1) / alignment * alignment);
  if (!*p) return out_of_memory(ceed, n, size);
  advise_pages(*p, n * size);
  atomic_fetch_add(&num_live, 1);
  return CEED_ERROR_SUCCESS;
}

int ritz_calloc(Ceed ceed, size_t n, size_t size, void **p) {
  *p = NULL;
  if (n == 0) return CEED_ERROR_SUCCESS;
  if (n > SIZE_MAX / size || fails_on_request()) return out_of_memory(ceed, n, size);
  *p = calloc(n, size);
  if (!*p) return out_of_memory(ceed, n, size);
  advise_pages(*p, n * size);
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
  void *moved = realloc(*p, n * size);
  if (!moved) return out_of_memory(ceed, n, size);
  *p = moved;
  return CEED_ERROR_SUCCESS;
}

void ritz_free(void **p) {
  if (*p) atomic_fetch_sub(&num_live, 1);
  free(*p);
  *p = NULL;
}

int ritz_strdup(Ceed ceed, const char *text, char **copy) {
  RITZ_TRY(RITZ_MALLOC(ceed, strlen(text) + 1, copy));
  strcpy(*copy, text);
  return CEED_ERROR_SUCCESS;
}

void ritz_memory_give(void *p) {
  if (p) atomic_fetch_sub(&num_live, 1);
}

void ritz_memory_adopt(void *p) {
  if (p) atomic_fetch_add(&num_live, 1);
}

int64_t ritz_memory_live(void) { return atomic_load(&num_live); }

void ritz_memory_fail_at(int64_t n) { atomic_store(&num_until_failure, n); }
