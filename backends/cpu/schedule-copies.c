// SPDX-License-Identifier: BSD-2-Clause
// Copies of outputs: when they pay, who adds to which entries and who sums them, and running on them
// (contract in backends/cpu/schedule-copies.h).
#include "backends/cpu/schedule-copies.h"
#include "base/simd.h"

#include <string.h>

// Entries of copies, cleared, fetched from another processor and summed, that take as long as one that a
// batch computes and adds. Batches that take longer than it takes all threads to meet once more.
enum { COPIES_PER_ENTRY = 8, MEETING_BATCHES = 4 };

// Of all copies: so many bytes, or twice the output.
enum { MOST_BYTES = 1 << 24 };

static int32_t section_begin(const RitzSchedule *s, int num_sections, int section) {
  return (int32_t)((int64_t)s->num_batches * section / num_sections);
}

// ---- Who adds to which chunks ----

typedef struct {
  const RitzScheduleBuild *b;
  const RitzSchedule *s;
  int num_sections;
  int32_t *adder;   // owned [num_chunks]: the last section found to add to it, -1: none
  int32_t *num;     // owned [num_chunks]: sections that add to it
  int64_t *summand; // owned [num_sections + 1]: chunks that each section sums, the first one
  int64_t num_ranges, max_ranges;
} Sharing;

static void find_adder(Sharing *sharing, int section) {
  const RitzScheduleBuild *b = sharing->b;
  const int32_t begin = section_begin(sharing->s, sharing->num_sections, section),
                end = section_begin(sharing->s, sharing->num_sections, section + 1);
  for (int32_t n = begin; n < end; n++) {
    const int32_t batch = b->order[n];
    for (int64_t i = b->list_begin[batch]; i < b->list_begin[batch + 1]; i++) {
      const int32_t chunk = b->list[i];
      sharing->num[chunk] += sharing->adder[chunk] != section;
      sharing->adder[chunk] = section;
    }
  }
}

static int64_t count_copies(Sharing *sharing) {
  int64_t num = 0;
  for (int64_t c = 0; c < sharing->b->num_chunks; c++) sharing->adder[c] = -1;
  for (int p = 0; p < sharing->num_sections; p++) find_adder(sharing, p);
  for (int64_t c = 0; c < sharing->b->num_chunks; c++) num += sharing->num[c];
  return num;
}

// Contiguous chunks for each section, with equal numbers of copies.
static void share_sums(Sharing *sharing, int64_t num_copies) {
  const int64_t num = sharing->num_sections, all = num_copies + sharing->b->num_chunks;
  int64_t before = 0, p = 0;
  for (int64_t c = 0; c < sharing->b->num_chunks; c++) {
    for (; p < num && before * num >= all * p; p++) sharing->summand[p] = c;
    before += sharing->num[c] + 1;
  }
  for (; p <= num; p++) sharing->summand[p] = sharing->b->num_chunks;
}

static int add_range(Sharing *sharing, RitzScheduleCopies *copies, RitzCopiedRange range) {
  if (sharing->num_ranges == sharing->max_ranges) {
    sharing->max_ranges = 2 * sharing->max_ranges + 64;
    RITZ_TRY(RITZ_REALLOC(sharing->b->ceed, (size_t)sharing->max_ranges, &copies->ranges));
  }
  copies->ranges[sharing->num_ranges++] = range;
  return CEED_ERROR_SUCCESS;
}

// What section `adder`, which find_adder has been called for last, adds to of chunks begin .. end - 1 of an
// array.
static int list_array_ranges(Sharing *sharing, RitzScheduleCopies *copies, int32_t adder, int array,
                             int64_t begin, int64_t end) {
  const RitzScheduleArray *a = &sharing->b->arrays[array];
  const int64_t last = a->first_chunk + a->num_chunks;
  if (begin < a->first_chunk) begin = a->first_chunk;
  if (end > last) end = last;
  for (int64_t c = begin, next; c < end; c = next) {
    const bool adds = sharing->adder[c] == adder;
    for (next = c + 1; next < end && (sharing->adder[next] == adder) == adds;) next++;
    if (!adds) continue;
    const int64_t first = (c - a->first_chunk) * RITZ_CHUNK,
                  after = next == last ? a->length : (next - a->first_chunk) * RITZ_CHUNK;
    RITZ_TRY(add_range(sharing, copies, (RitzCopiedRange){first, after - first, array}));
  }
  return CEED_ERROR_SUCCESS;
}

static int list_ranges(Sharing *sharing, RitzScheduleCopies *copies) {
  const int num = sharing->num_sections;
  for (int q = 0; q < num; q++) {
    find_adder(sharing, q);
    for (int p = 0; p < num; p++) {
      copies->range_begin[q * num + p] = sharing->num_ranges;
      for (int a = 0; a < copies->num_arrays; a++)
        RITZ_TRY(list_array_ranges(sharing, copies, q, a, sharing->summand[p], sharing->summand[p + 1]));
    }
  }
  copies->range_begin[num * num] = sharing->num_ranges;
  return CEED_ERROR_SUCCESS;
}

// ---- Set-up ----

static int allocate_memory(Ceed ceed, RitzScheduleCopies *copies, size_t bytes) {
  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)copies->num_sections, &copies->memory));
  for (int p = 0; p < copies->num_sections; p++) RITZ_TRY(RITZ_CALLOC(ceed, bytes, &copies->memory[p]));
  return CEED_ERROR_SUCCESS;
}

static int make_arrays(const RitzScheduleBuild *b, RitzScheduleCopies *copies) {
  size_t bytes = 0;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)copies->num_arrays, &copies->arrays));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)copies->num_spaces, &copies->array_of));
  for (int a = 0; a < copies->num_arrays; a++) {
    const RitzScheduleArray *array = &b->arrays[a];
    copies->arrays[a] = (RitzCopiedArray){array->space, array->entry_bytes, bytes};
    bytes += ((size_t)array->length * (size_t)array->entry_bytes + 63) / 64 * 64;
  }
  for (CeedInt s = 0; s < copies->num_spaces; s++) copies->array_of[s] = -1;
  for (CeedInt i = 0; i < b->num_outputs; i++) copies->array_of[b->outputs[i].space] = b->array_of[i];
  return allocate_memory(b->ceed, copies, bytes);
}

static int make_copies(Sharing *sharing, CeedInt num_spaces, double path, RitzScheduleCopies **made) {
  const RitzScheduleBuild *b = sharing->b;
  const size_t num = (size_t)sharing->num_sections;
  RitzScheduleCopies *copies = NULL;
  RITZ_TRY(RITZ_CALLOC(b->ceed, 1, made));
  copies = *made;
  copies->num_sections = sharing->num_sections;
  copies->num_arrays = b->num_arrays;
  copies->num_spaces = num_spaces;
  copies->path = path;
  RITZ_TRY(make_arrays(b, copies));
  RITZ_TRY(RITZ_MALLOC(b->ceed, num * (size_t)num_spaces, &copies->spaces));
  RITZ_TRY(RITZ_MALLOC(b->ceed, num * num + 1, &copies->range_begin));
  return list_ranges(sharing, copies);
}

static void give_chunks(const Sharing *sharing, RitzScheduleBuild *b) {
  for (int p = 0; p < sharing->num_sections; p++) {
    for (int64_t c = sharing->summand[p]; c < sharing->summand[p + 1]; c++)
      b->first[c] = b->last[c].position = section_begin(sharing->s, sharing->num_sections, p);
  }
}

static bool can_be_copied(const RitzScheduleBuild *b) {
  for (CeedInt i = 0; i < b->num_outputs; i++) {
    const CeedRestrictionType type = b->outputs[i].rstr->type;
    if (type == CEED_RESTRICTION_STRIDED || type == CEED_RESTRICTION_POINTS) return false;
  }
  return true;
}

static double batch_entries(const RitzScheduleBuild *b) {
  double num = 0;
  for (CeedInt i = 0; i < b->num_outputs; i++)
    num += (double)b->outputs[i].rstr->elem_size * b->outputs[i].rstr->num_comp * b->lanes;
  return num;
}

static int choose_copies(Sharing *sharing, RitzScheduleBuild *b, CeedInt num_spaces, RitzSchedule *s) {
  const int num = sharing->num_sections;
  const int64_t share = ((int64_t)b->num_batches + num - 1) / num;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &sharing->adder));
  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)b->num_chunks, &sharing->num));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)sharing->num_sections + 1, &sharing->summand));
  const int64_t num_copies = count_copies(sharing);
  if (num_copies > 2 * b->num_chunks && num_copies * RITZ_CHUNK * (int64_t)sizeof(double) > MOST_BYTES)
    return CEED_ERROR_SUCCESS;
  const double path =
      (double)share + (double)num_copies * RITZ_CHUNK / num / (COPIES_PER_ENTRY * batch_entries(b));
  if (4 * path > 3 * (double)b->num_rounds || path + MEETING_BATCHES > (double)b->num_rounds)
    return CEED_ERROR_SUCCESS;
  share_sums(sharing, num_copies);
  give_chunks(sharing, b);
  return make_copies(sharing, num_spaces, path, &s->copies);
}

int ritz_schedule_copies_make(RitzScheduleBuild *b, CeedInt num_spaces, RitzSchedule *s) {
  Sharing sharing = {.b = b, .s = s};
  sharing.num_sections = s->num_threads < b->num_batches ? s->num_threads : b->num_batches;
  // Where waiting takes a quarter of the time at most, nothing can be gained.
  if (sharing.num_sections < 2 || 3 * b->num_rounds * sharing.num_sections <= 4 * (int64_t)b->num_batches ||
      !can_be_copied(b))
    return CEED_ERROR_SUCCESS;
  const int ierr = choose_copies(&sharing, b, num_spaces, s);
  RITZ_FREE(&sharing.adder);
  RITZ_FREE(&sharing.num);
  RITZ_FREE(&sharing.summand);
  return ierr;
}

void ritz_schedule_copies_destroy(RitzScheduleCopies **copies) {
  RitzScheduleCopies *c = *copies;
  if (!c) return;
  for (int p = 0; c->memory && p < c->num_sections; p++) RITZ_FREE(&c->memory[p]);
  RITZ_FREE((void **)&c->memory);
  RITZ_FREE(&c->arrays);
  RITZ_FREE(&c->array_of);
  RITZ_FREE(&c->spaces);
  RITZ_FREE(&c->range_begin);
  RITZ_FREE(&c->ranges);
  RITZ_FREE(copies);
}

// ---- Running ----

static void call_hook(const RitzCopiesRun *run, const RitzKernelHook *hook, int section) {
  const int num = run->schedule->copies->num_sections;
  const int32_t begin = section_begin(run->schedule, num, section),
                end = section_begin(run->schedule, num, section + 1);
  if (!hook) return;
  for (int64_t i = hook->begin[begin]; i < hook->begin[end]; i++)
    hook->call(hook->data, hook->ranges[i].space, hook->ranges[i].first, hook->ranges[i].count);
}

static const RitzKernelSpace *spaces_of(const RitzCopiesRun *run) {
  return run->vector ? run->vector->spaces : run->args->spaces;
}

static int open_section(void *data, int section) {
  const RitzCopiesRun *run = data;
  call_hook(run, &run->before[section], section);
  return CEED_ERROR_SUCCESS;
}

static void clear_copies(const RitzScheduleCopies *copies, int section) {
  const int64_t *begin = copies->range_begin + (int64_t)section * copies->num_sections;
  for (int64_t i = begin[0]; i < begin[copies->num_sections]; i++) {
    const RitzCopiedRange *range = &copies->ranges[i];
    const RitzCopiedArray *array = &copies->arrays[range->array];
    const size_t bytes = (size_t)array->entry_bytes;
    memset(copies->memory[section] + array->offset + (size_t)range->first * bytes, 0,
           (size_t)range->count * bytes);
  }
}

// The spaces of the kernel, with copies in place of the outputs.
static const RitzKernelSpace *take_copies(const RitzCopiesRun *run, int section) {
  const RitzScheduleCopies *copies = run->schedule->copies;
  RitzKernelSpace *spaces = copies->spaces + (int64_t)section * copies->num_spaces;
  memcpy(spaces, spaces_of(run), (size_t)copies->num_spaces * sizeof(*spaces));
  for (CeedInt s = 0; s < copies->num_spaces; s++) {
    const int32_t array = copies->array_of[s];
    if (array >= 0) spaces[s].array = copies->memory[section] + copies->arrays[array].offset;
  }
  return spaces;
}

static int run_section(void *data, int section) {
  const RitzCopiesRun *run = data;
  const RitzSchedule *s = run->schedule;
  const int num = s->copies->num_sections;
  RitzKernelArgs args = run->args[section];
  clear_copies(s->copies, section);
  args.order = s->order;
  args.spaces = take_copies(run, section);
  args.before = args.after = NULL;
  return run->kernel(&args, section_begin(s, num, section), section_begin(s, num, section + 1));
}

RITZ_CLONED static void add_doubles(int64_t n, const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += x[i];
}

RITZ_CLONED static void add_floats(int64_t n, const float *restrict x, float *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += x[i];
}

static void add_copy(const RitzCopiesRun *run, int section, const RitzCopiedRange *range) {
  const RitzScheduleCopies *copies = run->schedule->copies;
  const RitzCopiedArray *array = &copies->arrays[range->array];
  const void *copy = copies->memory[section] + array->offset;
  void *sum = spaces_of(run)[array->space].array;
  if (array->entry_bytes == sizeof(double))
    add_doubles(range->count, (const double *)copy + range->first, (double *)sum + range->first);
  else
    add_floats(range->count, (const float *)copy + range->first, (float *)sum + range->first);
}

static int sum_section(void *data, int section) {
  const RitzCopiesRun *run = data;
  const RitzScheduleCopies *copies = run->schedule->copies;
  const int num = copies->num_sections;
  if (!run->before) call_hook(run, run->vector ? run->vector->before : run->args->before, section);
  for (int q = 0; q < num; q++) {
    const int64_t *begin = copies->range_begin + (int64_t)q * num + section;
    for (int64_t i = begin[0]; i < begin[1]; i++) add_copy(run, q, &copies->ranges[i]);
  }
  call_hook(run, run->after ? &run->after[section] : run->args->after, section);
  return CEED_ERROR_SUCCESS;
}

int ritz_schedule_copies_run(RitzCopiesRun *run, RitzTeam team) {
  const int num = run->schedule->copies->num_sections;
  if (run->before) RITZ_TRY(ritz_team_run_some(team, num, open_section, run));
  RITZ_TRY(ritz_team_run_some(team, num, run_section, run));
  return ritz_team_run_some(team, num, sum_section, run);
}
