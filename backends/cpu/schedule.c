// SPDX-License-Identifier: BSD-2-Clause
// Sections, order, ranges and steps of a schedule (contract in backends/cpu/schedule.h), and running it.
// Called by the operators of this backend.
#include "backends/cpu/schedule.h"

#include <string.h>

#include "base/ranges.h"

// Bits: a batch shares chunks of an output with a lower, with a higher section.
enum { WITH_LOWER = 1, WITH_HIGHER = 2, NUM_KINDS = 4 };

// Order within a section. The flag is raised before the interior.
static const int sequence[NUM_KINDS] = {WITH_LOWER, WITH_LOWER | WITH_HIGHER, 0, WITH_HIGHER};
enum { HEADS, BOTH, INTERIOR, TAILS };

typedef struct {
  int64_t num[NUM_KINDS];              // batches of each place in the sequence
  int64_t first_wait[2], num_waits[2]; // in Build.waits: higher sections, for BOTH and for TAILS
} BatchSection;

// An output array and its chunks among those of all arrays.
typedef struct {
  int32_t number, space;
  CeedSize length;
  int64_t first_chunk, num_chunks;
} Array;

typedef struct {
  Ceed ceed; // borrowed
  CeedInt num_elem, lanes, num_outputs;
  const RitzScheduleOutput *outputs; // borrowed
  int32_t num_batches, num_sections;
  int num_arrays;
  Array *arrays; // [num_outputs], num_arrays of them used
  int *array_of; // [num_outputs]
  int64_t num_chunks;
  int64_t *list_begin; // [num_batches + 1]
  int32_t *list;       // chunks of the batches
  uint8_t *kinds;      // [num_batches]
  int32_t *lowest;     // [num_chunks]: lowest section that touches it
  int32_t *first;      // [num_chunks]: position of the first touch; before that, the last section seen
  int32_t *last; // [num_chunks]: position of the last touch; before that, the section seen before, or -1
  BatchSection *sections; // [num_sections]
  uint8_t *waits_for;     // scratch, [num_sections]: bit 0 for BOTH, bit 1 for TAILS
  int64_t num_waits, max_waits;
  int32_t *waits; // numbers of sections
} Build;

// ---- Set-up ----

static void build_free(Build *b) {
  RITZ_FREE(&b->arrays);
  RITZ_FREE(&b->array_of);
  RITZ_FREE(&b->list_begin);
  RITZ_FREE(&b->list);
  RITZ_FREE(&b->kinds);
  RITZ_FREE(&b->lowest);
  RITZ_FREE(&b->first);
  RITZ_FREE(&b->last);
  RITZ_FREE(&b->sections);
  RITZ_FREE(&b->waits_for);
  RITZ_FREE(&b->waits);
}

static int find_array(const Build *b, int32_t number) {
  int a = 0;
  while (a < b->num_arrays && b->arrays[a].number != number) a++;
  return a;
}

static int list_arrays(Build *b) {
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_outputs, &b->arrays));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_outputs, &b->array_of));
  for (CeedInt i = 0; i < b->num_outputs; i++) {
    const RitzScheduleOutput *output = &b->outputs[i];
    RITZ_ASSERT(output->length >= output->rstr->l_size);
    int a = b->array_of[i] = find_array(b, output->array);
    if (a < b->num_arrays) continue;
    int64_t num_chunks = (output->length + RITZ_CHUNK - 1) / RITZ_CHUNK;
    b->arrays[a] = (Array){output->array, output->space, output->length, b->num_chunks, num_chunks};
    b->num_arrays++;
    b->num_chunks += num_chunks;
  }
  return CEED_ERROR_SUCCESS;
}

static int set_up_schedule(Build *b, int32_t max_sections) {
  RITZ_TRY(list_arrays(b));
  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)b->num_batches, &b->kinds));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &b->lowest));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &b->first));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &b->last));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)max_sections, &b->sections));
  return RITZ_CALLOC(b->ceed, (size_t)max_sections, &b->waits_for);
}

// ---- Chunks of a batch ----

// Lists the chunks that elements begin .. end - 1 touch: equal neighbours are merged, a chunk may appear
// twice. list == NULL: counts them.
static int64_t list_offsets(CeedElemRestriction r, CeedInt begin, CeedInt end, int64_t first_chunk,
                            int32_t *list) {
  const CeedInt *offsets = r->offsets + (int64_t)begin * r->elem_size;
  const int64_t num_nodes = (int64_t)(end - begin) * r->elem_size;
  int64_t num = 0;
  uint64_t last = UINT64_MAX;
  for (CeedInt c = 0; c < r->num_comp; c++) {
    const uint64_t shift = (uint64_t)c * (uint64_t)r->comp_stride;
    for (int64_t n = 0; n < num_nodes; n++) {
      const uint64_t chunk = ((uint64_t)offsets[n] + shift) / RITZ_CHUNK;
      if (chunk == last) continue;
      if (list) list[num] = (int32_t)(first_chunk + (int64_t)chunk);
      last = chunk;
      num++;
    }
  }
  return num;
}

static int64_t list_strided(CeedElemRestriction r, CeedInt begin, CeedInt end, int64_t first_chunk,
                            int32_t *list) {
  CeedInt strides[3];
  int64_t num = 0, last = -1;
  ritz_restriction_l_strides(r, strides);
  for (CeedInt c = 0; c < r->num_comp; c++) {
    for (CeedInt e = begin; e < end; e++) {
      const int64_t start = (int64_t)c * strides[1] + (int64_t)e * strides[2];
      for (CeedInt n = 0; n < r->elem_size; n++) {
        const int64_t chunk = first_chunk + (start + (int64_t)n * strides[0]) / RITZ_CHUNK;
        if (chunk == last) continue;
        if (list) list[num] = (int32_t)chunk;
        last = chunk;
        num++;
      }
    }
  }
  return num;
}

// Lists the chunks of points, whose components lie side by side.
static int64_t list_points(CeedElemRestriction r, CeedInt begin, CeedInt end, int64_t first_chunk,
                           int32_t *list) {
  int64_t num = 0, last = -1;
  for (CeedInt i = r->offsets[begin]; i < r->offsets[end]; i++) {
    const int64_t start = (int64_t)r->offsets[i] * r->num_comp, final = start + r->num_comp - 1;
    for (int64_t chunk = start / RITZ_CHUNK; chunk <= final / RITZ_CHUNK; chunk++) {
      if (chunk == last) continue;
      if (list) list[num] = (int32_t)(first_chunk + chunk);
      last = chunk;
      num++;
    }
  }
  return num;
}

static int64_t list_batch(const Build *b, int64_t batch, int32_t *list) {
  const int64_t begin = batch * b->lanes, after = begin + b->lanes;
  const CeedInt end = after < b->num_elem ? (CeedInt)after : b->num_elem;
  int64_t num = 0;
  for (CeedInt i = 0; i < b->num_outputs; i++) {
    CeedElemRestriction r = b->outputs[i].rstr;
    const int64_t first_chunk = b->arrays[b->array_of[i]].first_chunk;
    RITZ_ASSERT(r->block_size == 1);
    num += (r->type == CEED_RESTRICTION_STRIDED ? list_strided
            : r->type == CEED_RESTRICTION_POINTS
                ? list_points
                : list_offsets)(r, (CeedInt)begin, end, first_chunk, list ? list + num : NULL);
  }
  return num;
}

static void count_range(void *data, int slot, int64_t first, int64_t count) {
  const Build *b = data;
  (void)slot;
  for (int64_t batch = first; batch < first + count; batch++)
    b->list_begin[batch + 1] = list_batch(b, batch, NULL);
}

static void list_range(void *data, int slot, int64_t first, int64_t count) {
  const Build *b = data;
  (void)slot;
  for (int64_t batch = first; batch < first + count; batch++)
    (void)list_batch(b, batch, b->list + b->list_begin[batch]);
}

// The lists of all batches, by the threads of the context; they are looked at several times.
static int make_lists(Build *b) {
  RITZ_REQUIRE(b->num_chunks <= INT32_MAX, b->ceed, CEED_ERROR_UNSUPPORTED,
               "outputs of %lld times %d entries are too long", (long long)b->num_chunks, (int)RITZ_CHUNK);
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_batches + 1, &b->list_begin));
  b->list_begin[0] = 0;
  RITZ_TRY(ritz_run_elements(b->ceed, b->num_batches, count_range, b));
  for (int32_t batch = 0; batch < b->num_batches; batch++) b->list_begin[batch + 1] += b->list_begin[batch];
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->list_begin[b->num_batches] + 1, &b->list)); // there for none, too
  return ritz_run_elements(b->ceed, b->num_batches, list_range, b);
}

// *list: the chunks of a batch; returns their number.
static int64_t get_list(const Build *b, int32_t batch, const int32_t **list) {
  *list = b->list + b->list_begin[batch];
  return b->list_begin[batch + 1] - b->list_begin[batch];
}

// ---- Sections: what is shared ----

static int32_t section_begin(const Build *b, int32_t section) {
  return (int32_t)((int64_t)b->num_batches * section / b->num_sections);
}

// All loops over sections run downwards: the higher section comes first wherever two meet.
static void find_lowest(Build *b) {
  for (int32_t p = b->num_sections - 1; p >= 0; p--) {
    for (int32_t batch = section_begin(b, p); batch < section_begin(b, p + 1); batch++) {
      const int32_t *list;
      const int64_t num = get_list(b, batch, &list);
      for (int64_t i = 0; i < num; i++) b->lowest[list[i]] = p;
    }
  }
}

// A section waits for the next higher one at each shared chunk; that one has waited for those above it.
static void classify_batch(Build *b, int32_t section, int32_t batch) {
  int32_t *seen = b->first, *above = b->last;
  const int32_t *list;
  const int64_t num = get_list(b, batch, &list);
  int kind = 0;
  for (int64_t i = 0; i < num; i++) {
    const int32_t chunk = list[i];
    if (seen[chunk] != section) {
      above[chunk] = seen[chunk];
      seen[chunk] = section;
    }
    if (b->lowest[chunk] < section) kind |= WITH_LOWER;
    if (above[chunk] >= 0) kind |= WITH_HIGHER;
  }
  b->kinds[batch] = (uint8_t)kind;
  if (!(kind & WITH_HIGHER)) return;
  for (int64_t i = 0; i < num; i++) {
    int32_t other = above[list[i]];
    if (other >= 0) b->waits_for[other] |= kind & WITH_LOWER ? 1 : 2;
  }
}

static int reserve_waits(Build *b, int64_t num) {
  if (b->num_waits + num <= b->max_waits) return CEED_ERROR_SUCCESS;
  b->max_waits = 2 * b->max_waits + num;
  return RITZ_REALLOC(b->ceed, (size_t)b->max_waits, &b->waits);
}

// Collects the sections that a section waits for: first before its BOTH batches, then those that its TAILS
// need besides.
static int collect_waits(Build *b, int32_t section) {
  RITZ_TRY(reserve_waits(b, b->num_sections));
  for (int k = 0; k < 2; k++) {
    b->sections[section].first_wait[k] = b->num_waits;
    for (int32_t p = section + 1; p < b->num_sections; p++) {
      if (!(b->waits_for[p] & (1 << k))) continue;
      b->waits[b->num_waits++] = p;
      b->waits_for[p] = 0;
    }
    b->sections[section].num_waits[k] = b->num_waits - b->sections[section].first_wait[k];
  }
  return CEED_ERROR_SUCCESS;
}

static int classify_section(Build *b, int32_t section) {
  int64_t num[NUM_KINDS] = {0};
  for (int32_t batch = section_begin(b, section); batch < section_begin(b, section + 1); batch++) {
    classify_batch(b, section, batch);
    num[b->kinds[batch]]++;
  }
  for (int k = 0; k < NUM_KINDS; k++) b->sections[section].num[k] = num[sequence[k]];
  return collect_waits(b, section);
}

static int classify(Build *b, int32_t num_sections) {
  b->num_sections = num_sections;
  b->num_waits = 0;
  if (num_sections == 1) { // nothing is shared
    memset(b->kinds, 0, (size_t)b->num_batches);
    b->sections[0] = (BatchSection){.num[INTERIOR] = b->num_batches};
    return CEED_ERROR_SUCCESS;
  }
  find_lowest(b);
  for (int64_t c = 0; c < b->num_chunks; c++) b->first[c] = b->last[c] = -1;
  for (int32_t p = num_sections - 1; p >= 0; p--) RITZ_TRY(classify_section(b, p));
  return CEED_ERROR_SUCCESS;
}

// ---- Number of sections ----

// The time when everything that `section` waits for with the k-th of its lists has been done.
static int64_t time_of_flags(const Build *b, const int64_t *raised, const BatchSection *section, int k,
                             int64_t time) {
  for (int64_t i = 0; i < section->num_waits[k]; i++) {
    int64_t flag = raised[b->waits[section->first_wait[k] + i]];
    if (flag > time) time = flag;
  }
  return time;
}

// Batches done one after the other until all are done, were there a thread for every section.
static int find_time(const Build *b, int64_t *time) {
  int64_t *raised = NULL; // [num_sections]
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_sections, &raised));
  *time = 0;
  for (int32_t p = b->num_sections - 1; p >= 0; p--) {
    const BatchSection *section = &b->sections[p];
    raised[p] = time_of_flags(b, raised, section, 0, section->num[HEADS]) + section->num[BOTH];
    int64_t end =
        time_of_flags(b, raised, section, 1, raised[p] + section->num[INTERIOR]) + section->num[TAILS];
    if (end > *time) *time = end;
  }
  RITZ_FREE(&raised);
  return CEED_ERROR_SUCCESS;
}

// Takes away a quarter of the sections as long as that may shorten the time: sections that are nothing but
// border run one after the other.
static int choose_parts(Build *b, int32_t max_sections) {
  int32_t best = 0;
  int64_t best_time = INT64_MAX;
  for (int32_t num = max_sections; num >= 1 && best_time >= b->num_batches / num; num -= (num + 3) / 4) {
    int64_t time;
    RITZ_TRY(classify(b, num));
    RITZ_TRY(find_time(b, &time));
    if (time > best_time) continue;
    best = num;
    best_time = time;
  }
  return best == b->num_sections ? CEED_ERROR_SUCCESS : classify(b, best);
}

// ---- Order ----

static void order_batches(const Build *b, int32_t *order) {
  for (int32_t p = 0; p < b->num_sections; p++) {
    int32_t at = section_begin(b, p);
    for (int k = 0; k < NUM_KINDS; k++) {
      for (int32_t batch = section_begin(b, p); batch < section_begin(b, p + 1); batch++) {
        if (b->kinds[batch] == sequence[k]) order[at++] = batch;
      }
    }
  }
}

// ---- Ranges ----

static void find_touches(Build *b, const int32_t *order) {
  for (int64_t c = 0; c < b->num_chunks; c++) b->first[c] = -1;
  for (int32_t p = b->num_sections - 1; p >= 0; p--) {
    for (int32_t at = section_begin(b, p); at < section_begin(b, p + 1); at++) {
      const int32_t *list;
      const int64_t num = get_list(b, order[at], &list);
      for (int64_t i = 0; i < num; i++) {
        const int32_t chunk = list[i];
        if (b->first[chunk] < 0) b->first[chunk] = at;
        b->last[chunk] = at;
      }
    }
  }
}

// Chunks that no element touches go with the touched one before them, else with the first one.
static void fill_gaps(Build *b) {
  for (int a = 0; a < b->num_arrays; a++) {
    const int64_t begin = b->arrays[a].first_chunk, end = begin + b->arrays[a].num_chunks;
    int64_t touched = begin;
    while (touched < end && b->first[touched] < 0) touched++;
    int32_t first = touched < end ? b->first[touched] : 0, last = touched < end ? b->last[touched] : 0;
    for (int64_t c = begin; c < end; c++) {
      if (b->first[c] < 0) {
        b->first[c] = first;
        b->last[c] = last;
      }
      first = b->first[c];
      last = b->last[c];
    }
  }
}

// Entries first .. end - 1 of an array as one range, or several where one cannot count them. Without `ranges`
// they are counted in begin[1], else stored from begin[0] on.
static void put_range(const Array *array, CeedSize first, CeedSize end, int64_t *begin, RitzRange *ranges) {
  const CeedSize max_count = INT32_MAX / RITZ_CHUNK * RITZ_CHUNK;
  for (; first < end; first += max_count) {
    int32_t count = (int32_t)(end - first < max_count ? end - first : max_count);
    if (ranges) {
      ranges[begin[0]++] = (RitzRange){first, count, array->space};
    } else {
      begin[1]++;
    }
  }
}

// where [num_chunks]: position of each chunk.
static void put_ranges(const Build *b, const int32_t *where, int64_t *begin, RitzRange *ranges) {
  for (int a = 0; a < b->num_arrays; a++) {
    const Array *array = &b->arrays[a];
    const int32_t *chunks = where + array->first_chunk;
    for (int64_t c = 0, end; c < array->num_chunks; c = end) {
      for (end = c + 1; end < array->num_chunks && chunks[end] == chunks[c];) end++;
      CeedSize last = end == array->num_chunks ? array->length : end * RITZ_CHUNK;
      put_range(array, c * RITZ_CHUNK, last, begin + chunks[c], ranges);
    }
  }
}

static int make_ranges(const Build *b, const int32_t *where, int64_t **begin, RitzRange **ranges) {
  const size_t num = (size_t)b->num_batches;
  RITZ_TRY(RITZ_CALLOC(b->ceed, num + 1, begin));
  if (num == 0) return CEED_ERROR_SUCCESS;
  put_ranges(b, where, *begin, NULL);
  for (size_t i = 0; i < num; i++) (*begin)[i + 1] += (*begin)[i];
  if ((*begin)[num] == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)(*begin)[num], ranges));
  put_ranges(b, where, *begin, *ranges);
  // Each entry has moved on to where the next one began.
  memmove(*begin + 1, *begin, num * sizeof(**begin));
  (*begin)[0] = 0;
  return CEED_ERROR_SUCCESS;
}

// ---- Steps ----

// First section of a thread: neighbours together; of few sections, one for each of the lowest threads.
static int32_t thread_part(const RitzSchedule *s, int thread) {
  if (s->num_sections < s->num_threads) return thread < s->num_sections ? thread : s->num_sections;
  return (int32_t)((int64_t)s->num_sections * thread / s->num_threads);
}

// Positions that follow those of the thread's last step without waiting join it.
static void add_step(RitzSchedule *s, int thread, RitzScheduleStep step) {
  int32_t *num = &s->thread_begin[thread + 1];
  RitzScheduleStep *last = *num > s->thread_begin[thread] ? &s->steps[*num - 1] : NULL;
  if (step.begin == step.end) return;
  if (last && last->end == step.begin && !last->raises && step.num_waits == 0) {
    last->end = step.end;
    last->raises = step.raises;
  } else {
    s->steps[(*num)++] = step;
  }
}

// Waits for the k-th list of a section, but not for sections of the same thread, which has gone through them.
static void add_waits(const Build *b, RitzSchedule *s, int thread, int k, int32_t *num_waits,
                      RitzScheduleStep *step) {
  const BatchSection *section = &b->sections[step->section];
  step->first_wait = *num_waits;
  for (int64_t i = 0; i < section->num_waits[k]; i++) {
    int32_t other = b->waits[section->first_wait[k] + i];
    if (other >= thread_part(s, thread + 1)) s->waits[(*num_waits)++] = other;
  }
  step->num_waits = *num_waits - step->first_wait;
}

// The first half of a section is heads, both, and the flag; the second half interior and tails.
static void add_half(const Build *b, RitzSchedule *s, int thread, int32_t section, int half,
                     int32_t *num_waits) {
  const int64_t *num = b->sections[section].num + (half ? INTERIOR : HEADS);
  int64_t begin = section_begin(b, section);
  if (half) begin += b->sections[section].num[HEADS] + b->sections[section].num[BOTH];
  RitzScheduleStep free = {.begin = begin, .end = begin + num[0], .section = section};
  RitzScheduleStep waiting = {.begin = free.end, .end = free.end + num[1], .section = section};
  free.raises = !half && num[1] == 0;
  waiting.raises = !half;
  add_waits(b, s, thread, half, num_waits, &waiting);
  add_step(s, thread, free);
  add_step(s, thread, waiting);
}

// Lists the steps of all threads: heads and flags of all sections of a thread first, interiors and tails
// after, so that waits are short.
static int make_steps(const Build *b, RitzSchedule *s) {
  int32_t num_waits = 0;
  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)s->num_threads + 1, &s->thread_begin));
  RITZ_TRY(RITZ_MALLOC(b->ceed, NUM_KINDS * (size_t)s->num_sections, &s->steps));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_waits, &s->waits));
  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)s->num_sections, &s->flags));
  for (int t = 0; t < s->num_threads; t++) {
    const int32_t begin = thread_part(s, t), end = thread_part(s, t + 1);
    s->thread_begin[t + 1] = s->thread_begin[t];
    for (int32_t p = end - 1; p >= begin; p--) add_half(b, s, t, p, 0, &num_waits);
    for (int32_t p = end - 1; p >= begin; p--) add_half(b, s, t, p, 1, &num_waits);
  }
  return CEED_ERROR_SUCCESS;
}

// ---- The schedule ----

static int fill_schedule(Build *b, RitzSchedule *s, bool is_fixed) {
  int32_t max_sections = is_fixed ? RITZ_FIXED_PARTS : s->num_threads;
  if (max_sections > b->num_batches) max_sections = b->num_batches;
  RITZ_TRY(set_up_schedule(b, max_sections));
  RITZ_TRY(make_lists(b));
  if (max_sections > 0) RITZ_TRY(choose_parts(b, max_sections));
  s->num_batches = b->num_batches;
  s->num_sections = b->num_sections;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_batches, &s->order));
  order_batches(b, s->order);
  find_touches(b, s->order);
  fill_gaps(b);
  RITZ_TRY(make_ranges(b, b->first, &s->before_begin, &s->before));
  RITZ_TRY(make_ranges(b, b->last, &s->after_begin, &s->after));
  return make_steps(b, s);
}

int ritz_schedule_create(Ceed ceed, CeedInt num_elem, CeedInt lanes, CeedInt num_outputs,
                         const RitzScheduleOutput *outputs, int num_threads, bool is_fixed,
                         RitzSchedule **schedule) {
  Build b = {
      .ceed = ceed, .num_elem = num_elem, .lanes = lanes, .num_outputs = num_outputs, .outputs = outputs};
  b.num_batches = (int32_t)(((int64_t)num_elem + lanes - 1) / lanes);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, schedule));
  (*schedule)->num_threads = num_threads;
  int ierr = fill_schedule(&b, *schedule, is_fixed);
  build_free(&b);
  if (ierr) ritz_schedule_destroy(schedule);
  return ierr;
}

void ritz_schedule_destroy(RitzSchedule **schedule) {
  RitzSchedule *s = *schedule;
  if (!s) return;
  RITZ_FREE(&s->order);
  RITZ_FREE(&s->before_begin);
  RITZ_FREE(&s->before);
  RITZ_FREE(&s->after_begin);
  RITZ_FREE(&s->after);
  RITZ_FREE(&s->thread_begin);
  RITZ_FREE(&s->steps);
  RITZ_FREE(&s->waits);
  RITZ_FREE(&s->flags);
  RITZ_FREE(schedule);
}

// ---- Running ----

typedef struct {
  RitzSchedule *schedule;
  RitzKernel kernel;
  const RitzKernelArgs *args;           // [num_threads]
  const RitzKernelHook *before, *after; // [num_sections]; NULL: those of the arguments
  CeedInt num_vectors;                  // 0: one, that of the arguments
  const RitzScheduleVector *vectors;
  int64_t group;
} Run;

// Positions of a step, for all vectors.
static int run_positions(const Run *run, RitzKernelArgs *args, int64_t begin, int64_t end) {
  int code = CEED_ERROR_SUCCESS;
  if (run->num_vectors == 0) return run->kernel(args, begin, end);
  for (int64_t n = begin; !code && n < end; n += run->group) {
    for (CeedInt k = 0; !code && k < run->num_vectors; k++) {
      args->spaces = run->vectors[k].spaces;
      args->before = run->vectors[k].before;
      code = run->kernel(args, n, n + run->group < end ? n + run->group : end);
    }
  }
  return code;
}

static int run_thread(void *data, int thread) {
  const Run *run = data;
  RitzSchedule *s = run->schedule;
  RitzKernelArgs args = run->args[thread];
  int code = CEED_ERROR_SUCCESS;
  args.order = s->order;
  for (int32_t i = s->thread_begin[thread]; i < s->thread_begin[thread + 1]; i++) {
    const RitzScheduleStep *step = &s->steps[i];
    for (int32_t k = 0; k < step->num_waits; k++)
      ritz_flag_wait(&s->flags[s->waits[step->first_wait + k]], s->epoch);
    if (run->before) args.before = &run->before[step->section];
    if (run->after) args.after = &run->after[step->section];
    if (!code) code = run_positions(run, &args, step->begin, step->end);
    if (step->raises) ritz_flag_raise(&s->flags[step->section], s->epoch);
  }
  return code;
}

static int run_all(Run *run, RitzTeam team) {
  RitzSchedule *schedule = run->schedule;
  const int32_t *begin = schedule->thread_begin;
  schedule->epoch = schedule->epoch == INT32_MAX ? 1 : schedule->epoch + 1;
  bool is_one_thread = begin[schedule->num_threads] == begin[1];
  return is_one_thread ? run_thread(run, 0) : ritz_team_run(team, run_thread, run);
}

int ritz_schedule_run_hooked(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                             const RitzKernelArgs *args, const RitzKernelHook *before,
                             const RitzKernelHook *after) {
  Run run = {schedule, kernel, args, before, after, 0, NULL, 0};
  return run_all(&run, team);
}

int ritz_schedule_run(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel, const RitzKernelArgs *args) {
  return ritz_schedule_run_hooked(schedule, team, kernel, args, NULL, NULL);
}

int ritz_schedule_run_many(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                           const RitzKernelArgs *args, CeedInt num, const RitzScheduleVector *vectors,
                           int64_t group) {
  Run run = {schedule, kernel, args, NULL, NULL, num, vectors, group};
  return run_all(&run, team);
}
