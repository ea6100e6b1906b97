// SPDX-License-Identifier: BSD-2-Clause
// Classes of non-uniform batches: matrices by their largest size, those of a class in the order of the batch.
// Blocks take RITZ_SORTERS * `run` neighbours: ritz_count_classes counts, ritz_list_classes puts numbers of
// matrices where the counts say. Class c takes sizes up to bound c, the last one all others; sizes that a
// matrix cannot have go there, too, where its kernel refuses them.
//
//   counts [blocks][RITZ_CLASSES], members [count], ranges [RITZ_CLASSES][2]
#define RITZ_SORTERS 256
#define RITZ_CLASSES 16

RITZ_TABLE int ritz_class_bounds[RITZ_CLASSES - 1] = {4,  8,   12,  16,  24,   32,   48,  64,
                                                      96, 128, 256, 512, 1024, 2048, 4096};

#define RITZ_SIZES_OF_BATCH                                                                                  \
  RitzLong count, int run, int num_classes, int least, int bound_a, int bound_b,                             \
      RITZ_GLOBAL const int *sizes_a, RITZ_GLOBAL const int *sizes_b, RITZ_GLOBAL int *counts

RITZ_INLINE int ritz_class_of(RitzLong i, int num_classes, int least, int bound_a, int bound_b,
                              RITZ_GLOBAL const int *sizes_a, RITZ_GLOBAL const int *sizes_b) {
  int size = least, c = 0;
  if (sizes_a && (sizes_a[i] < 0 || sizes_a[i] > bound_a)) return num_classes - 1;
  if (sizes_b && (sizes_b[i] < 0 || sizes_b[i] > bound_b)) return num_classes - 1;
  if (sizes_a && sizes_a[i] > size) size = sizes_a[i];
  if (sizes_b && sizes_b[i] > size) size = sizes_b[i];
  while (c < num_classes - 1 && size > ritz_class_bounds[c]) c++;
  return c;
}
#define RITZ_CLASS_OF(i) ritz_class_of(i, num_classes, least, bound_a, bound_b, sizes_a, sizes_b)

// First matrix of the thread and the one behind its last.
#define RITZ_FIRST (RITZ_ITEM * run)
#define RITZ_END   (RITZ_FIRST + run < count ? RITZ_FIRST + run : count)

RITZ_KERNEL(RITZ_SORTERS) ritz_count_classes(RITZ_SIZES_OF_BATCH) {
  RITZ_SHARED_ARRAY int nums[RITZ_CLASSES][RITZ_SORTERS];
  for (int c = 0; c < RITZ_CLASSES; c++) nums[c][RITZ_THREAD] = 0;
  for (RitzLong i = RITZ_FIRST; i < RITZ_END; i++) nums[RITZ_CLASS_OF(i)][RITZ_THREAD]++;
  RITZ_BARRIER();
  if (RITZ_THREAD < RITZ_CLASSES) {
    int sum = 0;
    for (int t = 0; t < RITZ_SORTERS; t++) sum += nums[RITZ_THREAD][t];
    counts[RITZ_BLOCK * RITZ_CLASSES + RITZ_THREAD] = sum;
  }
}

RITZ_KERNEL(RITZ_SORTERS)
ritz_list_classes(RITZ_SIZES_OF_BATCH, RITZ_GLOBAL int *members, RITZ_GLOBAL int *ranges) {
  RITZ_SHARED_ARRAY int nums[RITZ_CLASSES][RITZ_SORTERS];
  RITZ_SHARED_ARRAY int before[RITZ_CLASSES][RITZ_SORTERS / RITZ_CLASSES],
      totals[RITZ_CLASSES][RITZ_SORTERS / RITZ_CLASSES];
  const int own = RITZ_THREAD % RITZ_CLASSES, part = RITZ_THREAD / RITZ_CLASSES;
  const RitzLong num_blocks = RITZ_NUM_ITEMS / RITZ_SORTERS;
  int sum_before = 0, sum = 0;
  for (RitzLong block = part; block < num_blocks; block += RITZ_SORTERS / RITZ_CLASSES) {
    const int num = counts[block * RITZ_CLASSES + own];
    sum += num;
    if (block < RITZ_BLOCK) sum_before += num;
  }
  before[own][part] = sum_before;
  totals[own][part] = sum;
  for (int c = 0; c < RITZ_CLASSES; c++) nums[c][RITZ_THREAD] = 0;
  for (RitzLong i = RITZ_FIRST; i < RITZ_END; i++) nums[RITZ_CLASS_OF(i)][RITZ_THREAD]++;
  RITZ_BARRIER();
  if (RITZ_THREAD < RITZ_CLASSES) {
    int begin = 0, place, end;
    for (int c = 0; c < RITZ_THREAD; c++) {
      for (int p = 0; p < RITZ_SORTERS / RITZ_CLASSES; p++) begin += totals[c][p];
    }
    place = end = begin;
    for (int p = 0; p < RITZ_SORTERS / RITZ_CLASSES; p++) {
      place += before[RITZ_THREAD][p];
      end += totals[RITZ_THREAD][p];
    }
    if (RITZ_BLOCK == 0) {
      ranges[2 * RITZ_THREAD] = begin;
      ranges[2 * RITZ_THREAD + 1] = end;
    }
    for (int t = 0; t < RITZ_SORTERS; t++) {
      const int num = nums[RITZ_THREAD][t];
      nums[RITZ_THREAD][t] = place;
      place += num;
    }
  }
  RITZ_BARRIER();
  for (RitzLong i = RITZ_FIRST; i < RITZ_END; i++) members[nums[RITZ_CLASS_OF(i)][RITZ_THREAD]++] = (int)i;
}
