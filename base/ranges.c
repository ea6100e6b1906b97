// SPDX-License-Identifier: BSD-2-Clause
// Loops on the threads of a context (contract in base/ranges.h). Who the threads are is the backend's affair.
#include "base/ranges.h"

#include "base/error.h"
#include "base/memory.h"

static const RitzContextCalls *calls_of(Ceed ceed) { return ((const RitzObject *)ceed)->class->context; }

int ritz_run_ranges_slots(Ceed ceed, int *num_slots) {
  return calls_of(ceed)->run_ranges_slots(ceed, num_slots);
}

int ritz_run_ranges(Ceed ceed, int64_t n, RitzRangeFunction run, void *data) {
  return calls_of(ceed)->run_ranges(ceed, n, run, data);
}

// ---- Elements ----

// Ranges of entries begin at multiples of RITZ_RANGE_ALIGNMENT, which are whole elements here.
typedef struct {
  RitzRangeFunction run;
  void *data;
} Elements;

static void run_elements(void *data, int slot, int64_t first, int64_t count) {
  const Elements *elements = data;
  elements->run(elements->data, slot, first / RITZ_RANGE_ALIGNMENT, count / RITZ_RANGE_ALIGNMENT);
}

int ritz_run_elements(Ceed ceed, int64_t n, RitzRangeFunction run, void *data) {
  Elements elements = {run, data};
  return ritz_run_ranges(ceed, n * RITZ_RANGE_ALIGNMENT, run_elements, &elements);
}

// ---- Sums of elements at nodes ----

typedef struct {
  const RitzNodeSum *sum;
  int64_t num_batches;
  int64_t *low, *high; // [num_batches]: nodes of the batch
} NodeSum;

static int64_t batch_size(const RitzNodeSum *sum, int64_t batch) {
  const int64_t rest = sum->num_elem - batch * RITZ_NODE_BATCH;
  return rest < RITZ_NODE_BATCH ? rest : RITZ_NODE_BATCH;
}

static void find_bounds(void *data, int slot, int64_t first, int64_t count) {
  const NodeSum *s = data;
  (void)slot;
  for (int64_t k = first; k < first + count; k++)
    s->sum->bounds(s->sum->data, k * RITZ_NODE_BATCH, batch_size(s->sum, k), &s->low[k], &s->high[k]);
}

static void sum_range(void *data, int slot, int64_t first, int64_t count) {
  const NodeSum *s = data;
  if (s->sum->clear) s->sum->clear(s->sum->data, first, count);
  for (int64_t k = 0; k < s->num_batches; k++) {
    if (s->high[k] < first || s->low[k] >= first + count) continue;
    s->sum->add(s->sum->data, slot, k * RITZ_NODE_BATCH, batch_size(s->sum, k), first, count);
  }
}

int ritz_run_node_sum(Ceed ceed, const RitzNodeSum *sum) {
  NodeSum s = {.sum = sum, .num_batches = (sum->num_elem + RITZ_NODE_BATCH - 1) / RITZ_NODE_BATCH};
  RITZ_TRY(RITZ_MALLOC(ceed, 2 * (size_t)s.num_batches, &s.low));
  s.high = s.low ? s.low + s.num_batches : NULL;
  int ierr = ritz_run_elements(ceed, s.num_batches, find_bounds, &s);
  if (!ierr) ierr = ritz_run_ranges(ceed, sum->num_nodes, sum_range, &s);
  RITZ_FREE(&s.low);
  return ierr;
}

// ---- For backends ----

typedef struct {
  RitzRangeFunction run;
  void *data;
  int64_t n;
  int num_slots, num_threads;
} Pass;

static int64_t slot_begin(const Pass *pass, int slot) {
  const int64_t num_units = (pass->n + RITZ_RANGE_ALIGNMENT - 1) / RITZ_RANGE_ALIGNMENT;
  const int64_t begin = num_units * slot / pass->num_slots * RITZ_RANGE_ALIGNMENT;
  return begin < pass->n ? begin : pass->n;
}

static int run_slots(void *data, int thread) {
  const Pass *pass = data;
  const int begin = (int)((int64_t)pass->num_slots * thread / pass->num_threads);
  const int end = (int)((int64_t)pass->num_slots * (thread + 1) / pass->num_threads);

  for (int slot = begin; slot < end; slot++) {
    const int64_t first = slot_begin(pass, slot), count = slot_begin(pass, slot + 1) - first;
    if (count > 0) pass->run(pass->data, slot, first, count);
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_team_run_ranges(RitzTeam team, int num_slots, int64_t n, int64_t grain, RitzRangeFunction run,
                         void *data) {
  const int most = ritz_team_size(team);
  Pass pass = {run, data, n, num_slots, n / grain < most ? (int)(n / grain) : most};

  if (pass.num_threads < 1) pass.num_threads = 1;
  return ritz_team_run_some(team, pass.num_threads, run_slots, &pass);
}
