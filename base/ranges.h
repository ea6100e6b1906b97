// SPDX-License-Identifier: BSD-2-Clause
// Loops over entries, elements and nodes on the threads of a context. Called wherever much is set up or
// computed on the host; served by backends (slots run_ranges_slots, run_ranges).
#ifndef RITZ_BASE_RANGES_H
#define RITZ_BASE_RANGES_H

#include <ceed.h>
#include <stdint.h>

#include "base/threads.h"

// Items first .. first + count - 1, count > 0. `slot` < num_slots of ritz_run_ranges_slots: calls with the
// same slot come one after the other, ascending, so that what is kept per slot and joined in the order of
// slots repeats.
typedef void (*RitzRangeFunction)(void *data, int slot, int64_t first, int64_t count);

// Calls run(data, slot, first, count) on ranges that make up 0 .. n - 1, one for each slot, ascending with
// the slots; serially where a backend has no threads on the host, or for few items. Functions report no
// errors: what they need is allocated before.
int ritz_run_ranges_slots(Ceed ceed, int *num_slots);
int ritz_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);
// The same for items that are worth 64 entries each, as elements are.
int ritz_run_elements(Ceed ceed, int64_t n, RitzRangeFunction run, void *data);

// Additions of elements into nodes that do not depend on the number of threads: a slot has a range of nodes,
// and goes through all batches of elements that have nodes in it, ascending. So the contributions to a node
// come in the order of the elements.
enum { RITZ_NODE_BATCH = 64 }; // elements of a batch
typedef struct {
  int64_t num_nodes, num_elem;
  // The smallest and the largest node of the elements first .. first + count - 1.
  void (*bounds)(const void *data, int64_t first, int64_t count, int64_t *low, int64_t *high);
  // Nodes first .. first + count - 1 have not been met yet: once for each slot, before its additions. NULL:
  // nothing is to be done.
  void (*clear)(const void *data, int64_t first, int64_t count);
  // Adds from elements first_elem .. first_elem + num_elem - 1 what belongs to the nodes first .. first +
  // count - 1, to these alone.
  void (*add)(const void *data, int slot, int64_t first_elem, int64_t num_elem, int64_t first, int64_t count);
  const void *data;
} RitzNodeSum;
// Memory: 16 bytes a batch.
int ritz_run_node_sum(Ceed ceed, const RitzNodeSum *sum);

// For backends: slot run_ranges on a team. All ranges but the last end at a multiple of the alignment. No
// thread gets less than `grain` entries, RITZ_RANGE_GRAIN where nothing is known of them: to wake a thread
// and to wait for it takes as long as it needs for 32 KB from its second cache, 2048 entries of two vectors.
enum { RITZ_RANGE_ALIGNMENT = 64, RITZ_RANGE_BYTES = 1 << 15, RITZ_RANGE_GRAIN = 2048 };
int ritz_team_run_ranges(RitzTeam team, int num_slots, int64_t n, int64_t grain, RitzRangeFunction run,
                         void *data);

#endif
