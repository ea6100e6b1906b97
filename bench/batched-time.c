// SPDX-License-Identifier: BSD-2-Clause
// One row of `ritz bench --batched`: calls of both sides by turns, medians; results beside those of
// /cpu/self/ref.
#define _POSIX_C_SOURCE 200809L

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/batched.h"
#include "bp/times.h"
#include "cli/cli.h"

// ---- Costs ----

static void find_costs(const BatchedHow *how, const BatchedData *d, BatchedRow *row) {
  const BatchedRoutine *r = d->of.routine;
  const BpMachine *machine = &how->machine[d->of.precision == CEED_SCALAR_FP32];
  double bytes = 0, flops = 0;

  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++)
    bytes += r->moved[k] * (double)batched_before(d, k, d->of.count);
  for (int64_t i = 0; i < (d->sizes ? d->of.count : 1); i++) {
    const double n = batched_size(d, i);
    flops += r->cubic * n * n * n + r->square * n * n * batched_columns(&d->of, 1);
  }
  row->bytes = bytes * (double)batched_entry_bytes(&d->of);
  row->flops = d->sizes ? flops : flops * (double)d->of.count;
  const double memory = !row->of.in_cache && machine->bandwidth > 0 ? row->bytes / machine->bandwidth : 0;
  const double peak = machine->peak > 0 ? row->flops / machine->peak : 0;
  row->seconds_bound = fmax(memory, peak);
  row->bound = row->seconds_bound <= 0 ? BP_BOUND_UNKNOWN : memory >= peak ? BP_BOUND_MEMORY : BP_BOUND_FLOPS;
}

// ---- Times ----

// The calls that are timed; peer NULL: ours.
typedef struct {
  BatchedData *data;
  RitzBatched batched;
  const BatchedPeer *peer;
  Times times;
} Side;

static int wait_for(const BatchedHow *how, const BatchedData *d, RitzBatched b) {
  int64_t index;
  int32_t value;

  return how->on_device
             ? RitzBatchedGetFirstFailure(b, (const int32_t *)(const void *)d->info.array, 1, &index, &value)
             : CEED_ERROR_SUCCESS;
}

static int call_ours(const Side *s, int copy) {
  const BatchedData *d = s->data;
  RitzBatchArray arrays[BATCHED_MAX_OPERANDS];

  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) arrays[k] = batched_array(d, k, copy);
  return batched_call(s->batched, &d->of, d->of.count, arrays, (int32_t *)(void *)d->ipiv.array,
                      (int32_t *)(void *)d->info.array);
}

// A clock: time of the processor where one thread does everything, so that other programs on the machine do
// not count.
static double side_now(const BatchedHow *how) {
  struct timespec t;

  if (how->on_device || how->num_threads != 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
    return cli_seconds();
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of a call, of all copies one after the other. A wait that has nothing to wait for is left out of
// it.
static int time_round(const BatchedHow *how, Side *s, double *seconds) {
  BatchedData *d = s->data;
  int ierr = CEED_ERROR_SUCCESS;

  CLI_TRY(batched_data_restore(d));
  CLI_TRY(batched_data_lend(d));
  CLI_TRY(wait_for(how, d, s->batched));
  const double before = side_now(how);
  CLI_TRY(wait_for(how, d, s->batched));
  const double begin = side_now(how);
  for (int copy = 0; copy < d->num_copies && !ierr; copy++)
    ierr = s->peer ? s->peer->call(s->peer, d, copy) : call_ours(s, copy);
  if (!ierr) ierr = wait_for(how, d, s->batched);
  *seconds = fmax((side_now(how) - begin - (begin - before)) / d->num_copies, 1e-9);
  const int taken = batched_data_take_back(d);
  return ierr ? ierr : taken;
}

// Both sides by turns, after a call of each that is not counted; *has_peer becomes false where there is no
// such call.
static int time_sides(const BatchedHow *how, Side *ours, Side *theirs, bool *has_peer, BatchedRow *row) {
  const double begin = cli_seconds();
  double seconds;

  CLI_TRY(time_round(how, ours, &seconds));
  if (*has_peer && time_round(how, theirs, &seconds)) *has_peer = false;
  for (int round = 0; round < TIMES_MAX; round++) {
    const double passed = cli_seconds() - begin;
    if (how->rounds ? round >= how->rounds
                    : (round >= 3 && passed > (round >= 5 ? 0.2 : 1)) || (round >= 1 && passed > 5))
      break;
    CLI_TRY(time_round(how, ours, &seconds));
    times_add(&ours->times, seconds, seconds);
    if (!*has_peer) continue;
    CLI_TRY(time_round(how, theirs, &seconds));
    times_add(&theirs->times, seconds, seconds);
  }
  row->rounds = ours->times.num;
  row->seconds = times_median(&ours->times);
  row->seconds_peer = *has_peer ? times_median(&theirs->times) : 0;
  return CEED_ERROR_SUCCESS;
}

static int time_row(const BatchedHow *how, BatchedData *d, RitzBatched b, BatchedRow *row) {
  const BatchedCase *c = &row->of;
  Side ours = {.data = d, .batched = b}, theirs = {.data = d, .batched = b, .peer = how->peer};
  bool has_peer = how->peer && *how->peer->name && c->routine->root;
  BatchedData strided = {0};
  int ierr = CEED_ERROR_SUCCESS;

  if (has_peer && c->form == BATCHED_INTERLEAVED) {
    BatchedCase other = *c;
    other.form = BATCHED_STRIDED;
    ierr = batched_data_make(d->ceed, &other, how->peer->needs_pointers, &strided);
    theirs.data = &strided;
  }
  if (!ierr) ierr = time_sides(how, &ours, &theirs, &has_peer, row);
  batched_data_free(&strided);
  return ierr;
}

// ---- Results ----

static double entry_of(const BatchedCase *c, const char *matrix, int64_t e) {
  return c->precision == CEED_SCALAR_FP32 ? (double)((const float *)(const void *)matrix)[e]
                                          : ((const double *)(const void *)matrix)[e];
}

// Computes matrix i by the reference, in operands of its size without gaps.
static int compute(const BatchedHow *how, const BatchedData *d, int64_t i, char *const *operand) {
  BatchedCase one = d->of;
  RitzBatchArray arrays[BATCHED_MAX_OPERANDS];
  RitzBatched b = NULL;
  int32_t *ipiv = NULL, info = 0;

  one.n = batched_size(d, i);
  for (int k = 0; k < BATCHED_MAX_OPERANDS; k++) {
    arrays[k] = (RitzBatchArray){.base = operand[k]};
    if (batched_columns(&d->of, k)) CLI_TRY(batched_data_read(d, k, &d->operand[k].start, i, operand[k]));
  }
  CLI_TRY(cli_allocate(how->reference, (size_t)one.n, sizeof(*ipiv), &ipiv));
  for (int k = 0; k < one.n; k++) ipiv[k] = batched_pivot(d, i, k);
  int ierr = batched_create(how->reference, &one, 1, &b);
  if (!ierr) ierr = batched_call(b, &one, 1, arrays, ipiv, &info);
  RitzBatchedDestroy(&b);
  free(ipiv);
  return ierr;
}

// The largest difference of matrix i over the largest entry.
static int compare_matrix(const BatchedHow *how, const BatchedData *d, int64_t i, char *const *operand,
                          double *error) {
  const int result = d->of.routine->result, size = batched_size(d, i);
  const bool is_square = d->of.routine->operand[result] == BATCHED_MATRIX;
  const int64_t num = (int64_t)size * (is_square ? size : batched_columns(&d->of, result));
  char *found = operand[BATCHED_MAX_OPERANDS];
  double largest = DBL_MIN, difference = 0;

  CLI_TRY(compute(how, d, i, operand));
  CLI_TRY(batched_data_read(d, result, &d->operand[result].data[0], i, found));
  for (int64_t e = 0; e < num; e++) {
    const double wanted = entry_of(&d->of, operand[result], e);
    const double distance = fabs(wanted - entry_of(&d->of, found, e));
    largest = fmax(largest, fabs(wanted));
    if (!(distance <= difference)) difference = distance; // keeps what is no number
  }
  if (!(difference / largest <= *error)) *error = difference / largest;
  return CEED_ERROR_SUCCESS;
}

// A few matrices of both ends of the batch, after one call.
static int check_row(const BatchedHow *how, BatchedData *d, RitzBatched b, BatchedRow *row) {
  const BatchedCase *c = &d->of;
  const Side ours = {.data = d, .batched = b};
  const int64_t num = c->n > 64 ? 1 : 3, last = c->count - 1;
  const double eps = c->precision == CEED_SCALAR_FP32 ? (double)FLT_EPSILON : DBL_EPSILON;
  const size_t size = (size_t)(c->n * (c->columns > c->n ? c->columns : c->n));
  char *operand[BATCHED_MAX_OPERANDS + 1] = {NULL}, *all = NULL;

  CLI_TRY(batched_data_restore(d));
  CLI_TRY(batched_data_lend(d));
  const int ierr = call_ours(&ours, 0), taken = batched_data_take_back(d);
  CLI_TRY(ierr ? ierr : taken);
  CLI_TRY(cli_allocate(d->ceed, (BATCHED_MAX_OPERANDS + 1) * size, sizeof(double), &all));
  for (size_t k = 0; k <= BATCHED_MAX_OPERANDS; k++) operand[k] = all + k * size * sizeof(double);
  int code = CEED_ERROR_SUCCESS;
  for (int64_t i = 0; i < num && !code; i++) {
    code = compare_matrix(how, d, i % c->count, operand, &row->error);
    if (!code) code = compare_matrix(how, d, i < last ? last - i : 0, operand, &row->error);
  }
  free(all);
  row->tolerance = 100 * eps * c->n; // matrices are well conditioned
  return code;
}

bool batched_is_right(const BatchedRow *row) { return !*row->fault && row->error <= row->tolerance; }

int batched_measure(const BatchedHow *how, BatchedRow *row) {
  BatchedData d = {0};
  RitzBatched b = NULL;
  int ierr = batched_data_make(how->ceed, &row->of, how->peer && how->peer->needs_pointers, &d);

  if (!ierr) ierr = batched_create(how->ceed, &row->of, d.width, &b);
  if (!ierr) ierr = check_row(how, &d, b, row);
  if (!ierr) ierr = time_row(how, &d, b, row);
  if (!ierr) find_costs(how, &d, row);
  RitzBatchedDestroy(&b);
  batched_data_free(&d);
  return ierr;
}
