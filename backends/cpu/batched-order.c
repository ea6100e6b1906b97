// SPDX-License-Identifier: BSD-2-Clause
// Order of non-uniform batches (contract in backends/cpu/batched-order.h): a counting sort by the classes of
// all sizes, each class filled up to whole groups.
#include "backends/cpu/batched-order.h"

#include <string.h>

#include "kernels/cpu/batched-abi.h"

enum { NUM_CLASSES = 12, MAIN = 0, BAD = -1 };

// Buckets: number 0 those of the main kernel, then by classes of m, n, k.
typedef struct {
  int64_t num[1 + NUM_CLASSES * NUM_CLASSES * NUM_CLASSES];
  int64_t first[1 + NUM_CLASSES * NUM_CLASSES * NUM_CLASSES]; // place
} Buckets;
enum { NUM_BUCKETS = 1 + NUM_CLASSES * NUM_CLASSES * NUM_CLASSES };

void ritz_cpu_batched_order_free(RitzBatchedOrder *order) {
  RITZ_FREE(&order->places);
  *order = (RitzBatchedOrder){0};
}

static int32_t size_of(const RitzBatched b, const int32_t *const *sizes, int d, int64_t i) {
  return sizes[d] ? sizes[d][i] : b->size[d];
}

int32_t ritz_cpu_batched_bad_size(const RitzBatched b, const int32_t *const *sizes, int64_t i) {
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    const int32_t size = size_of(b, sizes, d, i);

    if (size < 0 || size > b->size[d]) return RITZ_BATCHED_BAD_SIZE - d;
  }
  const bool is_tall = b->operation == RITZ_BATCHED_ORGQR || b->operation == RITZ_BATCHED_GESVDJ;
  const bool is_bad = is_tall && size_of(b, sizes, RITZ_DIM_N, i) > size_of(b, sizes, RITZ_DIM_M, i);
  return is_bad ? RITZ_BATCHED_BAD_SIZE - RITZ_DIM_N : 0;
}

// From 0 on: 4, 8, ..., 32, 40, ..., 64.
static int class_number(int32_t size) {
  const int32_t class = ritz_batched_size_class(size);
  return class <= 32 ? class / 4 - 1 : class / 8 + 3;
}

static int find_bucket(const RitzBatched b, bool main_is_large, const int32_t *const *sizes, int64_t i) {
  bool is_full = true, is_small = true, is_empty = false;
  int bucket = 0;

  if (ritz_cpu_batched_bad_size(b, sizes, i)) return BAD;
  for (int d = 0; d < RITZ_NUM_DIMS; d++) {
    const int32_t size = size_of(b, sizes, d, i);

    is_empty = is_empty || size == 0;
    is_full = is_full && size == b->size[d];
    is_small = is_small && size <= RITZ_BATCHED_SMALL;
    if (is_small) bucket = bucket * NUM_CLASSES + class_number(size);
  }
  return is_full || !is_small || (is_empty && main_is_large) ? MAIN : 1 + bucket;
}

static void count_matrices(const RitzBatched b, bool main_is_large, int64_t count,
                           const int32_t *const *sizes, Buckets *buckets, RitzBatchedOrder *order) {
  for (int64_t i = 0; i < count; i++) {
    const int bucket = find_bucket(b, main_is_large, sizes, i);

    order->num_bad += bucket == BAD;
    if (bucket == BAD) continue;
    buckets->num[bucket]++;
    for (int d = 0; d < RITZ_NUM_DIMS && bucket == MAIN; d++) {
      const int32_t size = size_of(b, sizes, d, i);
      if (size > order->largest[d]) order->largest[d] = size;
    }
  }
}

static void place_buckets(CeedInt lanes, bool main_is_large, Buckets *buckets, RitzBatchedOrder *order) {
  int64_t place = 0;

  for (int bucket = 0; bucket < NUM_BUCKETS; bucket++) {
    const CeedInt unit = bucket == MAIN && main_is_large ? 1 : lanes;

    buckets->first[bucket] = place;
    place += (buckets->num[bucket] + unit - 1) / unit * unit;
    if (bucket == MAIN) order->num_main = place;
  }
  order->num_smaller = place - order->num_main;
}

static int fill_batched_order(const RitzBatched b, CeedInt lanes, bool main_is_large, int64_t count,
                              const int32_t *const *sizes, Buckets *buckets, RitzBatchedOrder *order) {
  count_matrices(b, main_is_large, count, sizes, buckets, order);
  place_buckets(lanes, main_is_large, buckets, order);
  const int64_t num = order->num_main + order->num_smaller;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)num, &order->places));
  for (int64_t place = 0; place < num; place++) order->places[place] = -1;
  for (int64_t i = 0; i < count; i++) {
    const int bucket = find_bucket(b, main_is_large, sizes, i);
    if (bucket != BAD) order->places[buckets->first[bucket]++] = i;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_cpu_batched_order(RitzBatched b, CeedInt lanes, bool main_is_large, int64_t count,
                           const int32_t *const *sizes, RitzBatchedOrder *order) {
  Buckets *buckets = NULL;

  *order = (RitzBatchedOrder){0};
  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, &buckets));
  const int ierr = fill_batched_order(b, lanes, main_is_large, count, sizes, buckets, order);
  RITZ_FREE(&buckets);
  return ierr;
}
