// SPDX-License-Identifier: BSD-2-Clause
// Points sorted by element: a public function (contract in ritz/locate.h).
#include <ritz/locate.h>

#include "mesh/mesh.h"

// The list, one of `num`, that a point of this element is in; -1: none.
static int64_t list_of(int64_t elem, int64_t first, CeedInt num) {
  return elem >= first && elem - first < num ? elem - first : -1;
}

// Fills lists [num_elem + 1 + listed] whose first num_elem + 1 entries are zero: sizes, beginnings, numbers.
static void fill_lists(int64_t num_points, const int64_t *elements, int64_t first, CeedInt num_elem,
                       CeedInt *lists) {
  CeedInt begin = num_elem + 1;

  for (int64_t i = 0; i < num_points; i++) {
    const int64_t k = list_of(elements[i], first, num_elem);

    if (k >= 0) lists[k]++;
  }
  for (CeedInt k = 0; k <= num_elem; k++) {
    const CeedInt size = lists[k];

    lists[k] = begin;
    begin += size;
  }
  for (int64_t i = 0; i < num_points; i++) {
    const int64_t k = list_of(elements[i], first, num_elem);

    if (k >= 0) lists[lists[k]++] = (CeedInt)i;
  }
  // Every beginning has moved to the end of its list.
  for (CeedInt k = num_elem - 1; k > 0; k--) lists[k] = lists[k - 1];
  if (num_elem > 0) lists[0] = num_elem + 1;
}

int RitzPointsSort(Ceed ceed, int64_t num_points, const int64_t *elements, int64_t first, CeedInt num_elem,
                   CeedInt **offsets) {
  CeedInt *lists = NULL;
  int64_t listed = 0;

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, offsets);
  if (num_points > 0) RITZ_ARGUMENT(ceed, elements);
  RITZ_REQUIRE(num_points >= 0 && num_elem >= 0 && first >= 0, ceed, CEED_ERROR_DIMENSION,
               "%s: %lld points, %" CeedInt_FMT " elements from %lld on: none may be negative", __func__,
               (long long)num_points, num_elem, (long long)first);
  for (int64_t i = 0; i < num_points; i++) listed += list_of(elements[i], first, num_elem) >= 0;
  RITZ_REQUIRE(num_points <= INT32_MAX && num_elem < INT32_MAX - listed, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: %lld points, %lld of them in %" CeedInt_FMT " elements: offsets of CeedInt address %d",
               __func__, (long long)num_points, (long long)listed, num_elem, INT32_MAX);
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_elem + 1 + (size_t)listed, &lists));
  fill_lists(num_points, elements, first, num_elem, lists);
  ritz_memory_give(lists);
  *offsets = lists;
  return CEED_ERROR_SUCCESS;
}
