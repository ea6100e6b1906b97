// SPDX-License-Identifier: BSD-2-Clause
// Arrays between guard zones, and the NaN that marks what nobody has written.
#include <string.h>

#include "backends/check/check.h"

enum { zone = 16 }; // entries before and after an array

// A quiet NaN with a payload that arithmetic does not produce: computing with it elsewhere keeps or replaces
// the payload, but an entry with exactly these bits was never written.
static CeedScalar marked(void) {
  CeedScalar value = 0;
  if (sizeof(CeedScalar) == sizeof(double)) {
    const uint64_t bits = 0x7ff8c0ffee15bad5u;
    memcpy(&value, &bits, sizeof(value) < sizeof(bits) ? sizeof(value) : sizeof(bits));
  } else {
    const uint32_t bits = 0x7fc15bad;
    memcpy(&value, &bits, sizeof(value) < sizeof(bits) ? sizeof(value) : sizeof(bits));
  }
  return value;
}

void ritz_check_fill_marked(CeedSize n, CeedScalar *array) {
  const CeedScalar mark = marked();
  for (CeedSize i = 0; i < n; i++) memcpy(&array[i], &mark, sizeof(mark));
}

CeedSize ritz_check_find_marked(CeedSize n, const CeedScalar *array) {
  const CeedScalar mark = marked();
  for (CeedSize i = 0; i < n; i++) {
    if (!memcmp(&array[i], &mark, sizeof(mark))) return i;
  }
  return -1;
}

int ritz_check_guarded_alloc(Ceed ceed, CeedSize n, bool fill, CeedScalar **array) {
  CeedScalar *memory = NULL;
  *array = NULL;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)n + 2 * zone, &memory));
  *array = memory + zone;
  ritz_check_fill_marked(zone, memory);
  ritz_check_fill_marked(zone, *array + n);
  if (fill) ritz_check_fill_marked(n, *array);
  return CEED_ERROR_SUCCESS;
}

void ritz_check_guarded_free(CeedScalar **array) {
  CeedScalar *memory = *array ? *array - zone : NULL;
  RITZ_FREE(&memory);
  *array = NULL;
}

bool ritz_check_guards_are_intact(const CeedScalar *array, CeedSize n) {
  const CeedScalar mark = marked();
  for (CeedSize i = 0; i < zone; i++) {
    if (memcmp(&array[i - zone], &mark, sizeof(mark)) || memcmp(&array[n + i], &mark, sizeof(mark)))
      return false;
  }
  return true;
}
