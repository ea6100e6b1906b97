// SPDX-License-Identifier: BSD-2-Clause
// Arrays between guard zones, and the NaN that marks entries never written.
#include <string.h>

#include "backends/check/check.h"

enum { zone = 16 }; // entries before and after an array

// A quiet NaN with a payload that arithmetic does not produce: computing with it elsewhere keeps or replaces
// the payload, but an entry with exactly these bits was never written.
static const void *mark_of(size_t entry_bytes) {
  static const uint64_t of_double = 0x7ff8c0ffee15bad5u;
  static const uint32_t of_float = 0x7fc15bad;
  return entry_bytes == sizeof(of_double) ? (const void *)&of_double : &of_float;
}

void ritz_check_fill_marked(CeedSize n, size_t entry_bytes, void *array) {
  const void *mark = mark_of(entry_bytes);
  for (CeedSize i = 0; i < n; i++) memcpy((char *)array + (size_t)i * entry_bytes, mark, entry_bytes);
}

CeedSize ritz_check_find_marked(CeedSize n, const CeedScalar *array) {
  const void *mark = mark_of(sizeof(CeedScalar));
  for (CeedSize i = 0; i < n; i++) {
    if (!memcmp(&array[i], mark, sizeof(array[i]))) return i;
  }
  return -1;
}

int ritz_check_guarded_alloc(Ceed ceed, CeedSize n, size_t entry_bytes, bool fill, void **array) {
  void *memory = NULL;
  *array = NULL;
  RITZ_TRY(ritz_malloc(ceed, (size_t)n + 2 * zone, entry_bytes, &memory));
  *array = (char *)memory + zone * entry_bytes;
  ritz_check_fill_marked(zone, entry_bytes, memory);
  ritz_check_fill_marked(zone, entry_bytes, (char *)*array + (size_t)n * entry_bytes);
  if (fill) ritz_check_fill_marked(n, entry_bytes, *array);
  return CEED_ERROR_SUCCESS;
}

void ritz_check_guarded_free(size_t entry_bytes, void **array) {
  void *memory = *array ? (char *)*array - zone * entry_bytes : NULL;
  ritz_free(&memory);
  *array = NULL;
}

bool ritz_check_guards_are_intact(const void *array, CeedSize n, size_t entry_bytes) {
  const void *mark = mark_of(entry_bytes);
  const char *before = (const char *)array - zone * entry_bytes;
  const char *after = (const char *)array + (size_t)n * entry_bytes;
  for (size_t i = 0; i < zone; i++) {
    if (memcmp(before + i * entry_bytes, mark, entry_bytes) ||
        memcmp(after + i * entry_bytes, mark, entry_bytes))
      return false;
  }
  return true;
}
