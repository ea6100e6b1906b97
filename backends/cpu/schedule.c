// SPDX-License-Identifier: BSD-2-Clause
// Sections, order, ranges and steps of a schedule (contract in backends/cpu/schedule.h), and running it.
// Called by the operators of this backend.
#include "backends/cpu/schedule-copies.h"
#include "base/ranges.h"

#include <string.h>

// Batches of a section that a round looks at before the section sits it out.
enum { MAX_LOOKS = 24 };

// ---- Set-up ----

static void build_free(RitzScheduleBuild *b) {
  RITZ_FREE(&b->arrays);
  RITZ_FREE(&b->array_of);
  RITZ_FREE(&b->list_begin);
  RITZ_FREE(&b->list);
  RITZ_FREE(&b->next);
  RITZ_FREE(&b->first);
  RITZ_FREE(&b->last);
  RITZ_FREE(&b->head); // and those behind it
  RITZ_FREE(&b->known);
  RITZ_FREE(&b->flag);
  RITZ_FREE(&b->waits);
}

static int find_array(const RitzScheduleBuild *b, int32_t number) {
  int a = 0;
  while (a < b->num_arrays && b->arrays[a].number != number) a++;
  return a;
}

static int list_arrays(RitzScheduleBuild *b) {
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_outputs, &b->arrays));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_outputs, &b->array_of));
  for (CeedInt i = 0; i < b->num_outputs; i++) {
    const RitzScheduleOutput *output = &b->outputs[i];
    RITZ_ASSERT(output->length >= output->rstr->l_size);
    int a = b->array_of[i] = find_array(b, output->array);
    if (a < b->num_arrays) continue;
    int64_t num_chunks = (output->length + RITZ_CHUNK - 1) / RITZ_CHUNK;
    b->arrays[a] = (RitzScheduleArray){.number = output->array,
                                       .space = output->space,
                                       .entry_bytes = output->entry_bytes,
                                       .length = output->length,
                                       .first_chunk = b->num_chunks,
                                       .num_chunks = num_chunks};
    b->num_arrays++;
    b->num_chunks += num_chunks;
  }
  return CEED_ERROR_SUCCESS;
}

static int allocate_rounds(RitzScheduleBuild *b, int32_t max_sections) {
  const size_t num_batches = (size_t)b->num_batches, num = (size_t)max_sections;
  RITZ_TRY(list_arrays(b));
  RITZ_TRY(RITZ_MALLOC(b->ceed, num_batches, &b->next));
  RITZ_TRY(RITZ_MALLOC(b->ceed, num_batches, &b->flag));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &b->first));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_chunks, &b->last));
  RITZ_TRY(RITZ_MALLOC(b->ceed, num * num, &b->known));
  RITZ_TRY(RITZ_MALLOC(b->ceed, 5 * num, &b->head));
  b->done = b->head ? b->head + num : NULL;
  b->done_before = b->head ? b->done + num : NULL;
  b->last_flag = b->head ? b->done_before + num : NULL;
  b->needed = b->head ? b->last_flag + num : NULL;
  return CEED_ERROR_SUCCESS;
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

static int64_t list_batch(const RitzScheduleBuild *b, int64_t batch, int32_t *list) {
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
  const RitzScheduleBuild *b = data;
  (void)slot;
  for (int64_t batch = first; batch < first + count; batch++)
    b->list_begin[batch + 1] = list_batch(b, batch, NULL);
}

static void list_range(void *data, int slot, int64_t first, int64_t count) {
  const RitzScheduleBuild *b = data;
  (void)slot;
  for (int64_t batch = first; batch < first + count; batch++)
    (void)list_batch(b, batch, b->list + b->list_begin[batch]);
}

// The lists of all batches, by the threads of the context; they are looked at several times.
static int make_lists(RitzScheduleBuild *b) {
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
static int64_t get_list(const RitzScheduleBuild *b, int32_t batch, const int32_t **list) {
  *list = b->list + b->list_begin[batch];
  return b->list_begin[batch + 1] - b->list_begin[batch];
}

// ---- Rounds ----

static int32_t section_begin(const RitzScheduleBuild *b, int32_t section) {
  return (int32_t)((int64_t)b->num_batches * section / b->num_sections);
}

static void begin_rounds(RitzScheduleBuild *b, int32_t num_sections) {
  b->num_sections = num_sections;
  b->num_rounds = b->num_waits = 0;
  for (int64_t c = 0; c < b->num_chunks; c++) {
    b->first[c] = -1;
    b->last[c] = (RitzScheduleTouch){.section = -1, .round = -1};
  }
  for (int32_t i = 0; i < b->num_batches; i++) {
    b->next[i] = i + 1;
    b->flag[i] = -1;
  }
  for (int32_t p = 0; p < num_sections; p++) {
    const int32_t begin = section_begin(b, p), end = section_begin(b, p + 1);
    b->head[p] = begin < end ? begin : -1;
    if (begin < end) b->next[end - 1] = -1;
    b->done[p] = begin;
    b->last_flag[p] = b->needed[p] = -1;
  }
  for (int64_t i = 0; i < (int64_t)num_sections * num_sections; i++) b->known[i] = -1;
}

static bool is_free(const RitzScheduleBuild *b, int32_t section, int32_t batch) {
  const int32_t *list;
  const int64_t num = get_list(b, batch, &list);
  for (int64_t i = 0; i < num; i++) {
    const RitzScheduleTouch *last = &b->last[list[i]];
    if (last->round == (int32_t)b->num_rounds && last->section != section) return false;
  }
  return true;
}

// The next batch of a section that can be done in this round, taken out of the list; -1: none.
static int32_t take_batch(RitzScheduleBuild *b, int32_t section) {
  int32_t *link = &b->head[section];
  for (int looks = 0; *link >= 0 && looks < MAX_LOOKS; looks++) {
    const int32_t batch = *link;
    if (is_free(b, section, batch)) {
      *link = b->next[batch];
      return batch;
    }
    link = &b->next[batch];
  }
  return -1;
}

// A flag behind position `needed` of another section or later, but before what it does in this round: the
// last one it has, else a new one halfway, so that who raises it and who waits for it both have time.
static int32_t find_flag(RitzScheduleBuild *b, int32_t other, int32_t needed) {
  if (b->last_flag[other] < needed) {
    const int32_t at = needed + (b->done_before[other] - 1 - needed) / 2;
    b->flag[at] = 0;
    b->last_flag[other] = at;
  }
  return b->last_flag[other];
}

static int add_wait(RitzScheduleBuild *b, int32_t section, int32_t position, int32_t other, int32_t needed) {
  int32_t *known = &b->known[(int64_t)section * b->num_sections + other];
  if (*known >= needed) return CEED_ERROR_SUCCESS;
  *known = find_flag(b, other, needed);
  if (b->num_waits == b->max_waits) {
    b->max_waits = 2 * b->max_waits + 64;
    RITZ_TRY(RITZ_REALLOC(b->ceed, (size_t)b->max_waits, &b->waits));
  }
  b->waits[b->num_waits++] = (RitzScheduleWait){position, *known};
  return CEED_ERROR_SUCCESS;
}

// The batch comes to the section's next position.
static int do_batch(RitzScheduleBuild *b, int32_t section, int32_t batch) {
  const int32_t position = b->done[section]++;
  const int32_t *list;
  const int64_t num = get_list(b, batch, &list);
  bool waits = false;
  b->order[position] = batch;
  for (int64_t i = 0; i < num; i++) {
    RitzScheduleTouch *last = &b->last[list[i]];
    if (last->section < 0) {
      b->first[list[i]] = position;
    } else if (last->section != section && b->needed[last->section] < last->position) {
      b->needed[last->section] = last->position;
      waits = true;
    }
    *last = (RitzScheduleTouch){section, position, (int32_t)b->num_rounds};
  }
  for (int32_t p = 0; waits && p < b->num_sections; p++) {
    if (b->needed[p] < 0) continue;
    RITZ_TRY(add_wait(b, section, position, p, b->needed[p]));
    b->needed[p] = -1;
  }
  return CEED_ERROR_SUCCESS;
}

// The sections take turns in coming first.
static int play_rounds(RitzScheduleBuild *b, int32_t num_sections) {
  begin_rounds(b, num_sections);
  for (int32_t num_done = 0; num_done < b->num_batches; b->num_rounds++) {
    memcpy(b->done_before, b->done, (size_t)num_sections * sizeof(*b->done));
    for (int32_t i = 0; i < num_sections; i++) {
      const int32_t section = (int32_t)((b->num_rounds + i) % num_sections);
      const int32_t batch = take_batch(b, section);
      if (batch < 0) continue;
      RITZ_TRY(do_batch(b, section, batch));
      num_done++;
    }
  }
  return CEED_ERROR_SUCCESS;
}

// Sections of which most sit out most rounds are made fewer, as many as work at a time, unless that takes
// longer.
static int choose_sections(RitzScheduleBuild *b, int32_t max_sections) {
  RITZ_TRY(play_rounds(b, max_sections));
  const int64_t num_rounds = b->num_rounds, busy = (b->num_batches + num_rounds - 1) / num_rounds;
  if (10 * busy > 6 * (int64_t)max_sections) return CEED_ERROR_SUCCESS;
  RITZ_TRY(play_rounds(b, (int32_t)busy));
  return 10 * b->num_rounds <= 11 * num_rounds ? CEED_ERROR_SUCCESS : play_rounds(b, max_sections);
}

// ---- Ranges ----

// Chunks that no element touches go with the touched one before them, else with the first one.
static void fill_gaps(RitzScheduleBuild *b) {
  for (int a = 0; a < b->num_arrays; a++) {
    const int64_t begin = b->arrays[a].first_chunk, end = begin + b->arrays[a].num_chunks;
    int64_t touched = begin;
    while (touched < end && b->first[touched] < 0) touched++;
    int32_t first = touched < end ? b->first[touched] : 0,
            last = touched < end ? b->last[touched].position : 0;
    for (int64_t c = begin; c < end; c++) {
      if (b->first[c] < 0) {
        b->first[c] = first;
        b->last[c].position = last;
      }
      first = b->first[c];
      last = b->last[c].position;
    }
  }
}

// Entries first .. end - 1 of an array as one range, or several where one cannot count them. Without `ranges`
// they are counted in begin[1], else stored from begin[0] on.
static void put_range(const RitzScheduleArray *array, CeedSize first, CeedSize end, int64_t *begin,
                      RitzRange *ranges) {
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

static int32_t position_of(const RitzScheduleBuild *b, int64_t chunk, bool is_last) {
  return is_last ? b->last[chunk].position : b->first[chunk];
}

// Of the first or the last touches.
static void put_ranges(const RitzScheduleBuild *b, bool is_last, int64_t *begin, RitzRange *ranges) {
  for (int a = 0; a < b->num_arrays; a++) {
    const RitzScheduleArray *array = &b->arrays[a];
    for (int64_t c = 0, end; c < array->num_chunks; c = end) {
      const int32_t position = position_of(b, array->first_chunk + c, is_last);
      for (end = c + 1;
           end < array->num_chunks && position_of(b, array->first_chunk + end, is_last) == position;)
        end++;
      CeedSize last = end == array->num_chunks ? array->length : end * RITZ_CHUNK;
      put_range(array, c * RITZ_CHUNK, last, begin + position, ranges);
    }
  }
}

static int make_ranges(const RitzScheduleBuild *b, bool is_last, int64_t **begin, RitzRange **ranges) {
  const size_t num = (size_t)b->num_batches;
  RITZ_TRY(RITZ_CALLOC(b->ceed, num + 1, begin));
  if (num == 0) return CEED_ERROR_SUCCESS;
  put_ranges(b, is_last, *begin, NULL);
  for (size_t i = 0; i < num; i++) (*begin)[i + 1] += (*begin)[i];
  if ((*begin)[num] == 0) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)(*begin)[num], ranges));
  put_ranges(b, is_last, *begin, *ranges);
  // Each entry has moved on to where the next one began.
  memmove(*begin + 1, *begin, num * sizeof(**begin));
  (*begin)[0] = 0;
  return CEED_ERROR_SUCCESS;
}

// ---- Steps ----

// Flags get numbers in the order of positions, those of each section on lines of the cache that no other
// section writes to.
static void place_flags(RitzScheduleBuild *b) {
  enum { PER_LINE = 64 / sizeof(RitzFlag) };
  int32_t num = 0;
  for (int32_t p = 0; p < b->num_sections; p++) {
    const int32_t begin = section_begin(b, p), end = section_begin(b, p + 1);
    for (int32_t n = begin; n < end; n++) {
      if (b->flag[n] >= 0) b->flag[n] = num++;
    }
    num = (num + PER_LINE - 1) / PER_LINE * PER_LINE;
  }
  b->num_flags = num;
}

// The waits of each position, in the order of positions: begin [num_batches + 1].
static int sort_waits(const RitzScheduleBuild *b, RitzSchedule *s, int64_t **begin) {
  const size_t num = (size_t)b->num_batches;
  RITZ_TRY(RITZ_CALLOC(b->ceed, num + 2, begin));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_waits, &s->waits));
  for (int64_t i = 0; i < b->num_waits; i++) (*begin)[b->waits[i].position + 2]++;
  for (size_t n = 2; n <= num; n++) (*begin)[n] += (*begin)[n - 1];
  for (int64_t i = 0; i < b->num_waits; i++)
    s->waits[(*begin)[b->waits[i].position + 1]++] = b->flag[b->waits[i].raised_at];
  return CEED_ERROR_SUCCESS;
}

// A step begins with each section, before a position that waits, and behind one that raises a flag. Without
// `steps` they are counted.
static int64_t cut_section(const RitzScheduleBuild *b, const int64_t *wait_begin, int32_t section,
                           RitzScheduleStep *steps) {
  const int32_t begin = section_begin(b, section), end = section_begin(b, section + 1);
  int64_t num = 0;
  for (int32_t n = begin; n < end; n++) {
    const int64_t first_wait = wait_begin[n], num_waits = wait_begin[n + 1] - first_wait;
    if (n == begin || num_waits || b->flag[n - 1] >= 0) {
      if (steps) steps[num] = (RitzScheduleStep){n, n, first_wait, (int32_t)num_waits, -1};
      num++;
    }
    if (!steps) continue;
    steps[num - 1].end = n + 1;
    steps[num - 1].flag = b->flag[n];
  }
  return num;
}

static int list_steps(const RitzScheduleBuild *b, RitzSchedule *s, const int64_t *wait_begin) {
  const size_t num = (size_t)b->num_sections;
  RITZ_TRY(RITZ_CALLOC(b->ceed, num + 1, &s->step_begin));
  RITZ_TRY(RITZ_CALLOC(b->ceed, num, &s->progress));
  RITZ_TRY(RITZ_CALLOC(b->ceed, (size_t)b->num_flags, &s->flags));
  for (int32_t p = 0; p < b->num_sections; p++)
    s->step_begin[p + 1] = s->step_begin[p] + cut_section(b, wait_begin, p, NULL);
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)s->step_begin[num], &s->steps));
  for (int32_t p = 0; p < b->num_sections; p++)
    (void)cut_section(b, wait_begin, p, s->steps + s->step_begin[p]);
  return CEED_ERROR_SUCCESS;
}

static int make_steps(RitzScheduleBuild *b, RitzSchedule *s) {
  int64_t *wait_begin = NULL;
  place_flags(b);
  int ierr = sort_waits(b, s, &wait_begin);
  if (!ierr) ierr = list_steps(b, s, wait_begin);
  RITZ_FREE(&wait_begin);
  return ierr;
}

// ---- The schedule ----

static int fill_schedule(RitzScheduleBuild *b, RitzSchedule *s, const RitzScheduleOptions *options) {
  int32_t max_sections = options->is_fixed ? RITZ_FIXED_PARTS : s->num_threads;
  if (max_sections > b->num_batches) max_sections = b->num_batches;
  RITZ_TRY(allocate_rounds(b, max_sections));
  RITZ_TRY(make_lists(b));
  RITZ_TRY(RITZ_MALLOC(b->ceed, (size_t)b->num_batches, &s->order));
  b->order = s->order;
  if (max_sections > 0) RITZ_TRY(choose_sections(b, max_sections));
  s->num_batches = b->num_batches;
  s->num_sections = b->num_sections;
  s->num_rounds = b->num_rounds;
  if (options->num_spaces > 0 && !options->is_fixed)
    RITZ_TRY(ritz_schedule_copies_make(b, options->num_spaces, s));
  if (b->num_batches > 0 && !s->copies) fill_gaps(b);
  RITZ_TRY(make_ranges(b, false, &s->before_begin, &s->before));
  RITZ_TRY(make_ranges(b, true, &s->after_begin, &s->after));
  return make_steps(b, s);
}

int ritz_schedule_create(Ceed ceed, CeedInt num_elem, CeedInt lanes, CeedInt num_outputs,
                         const RitzScheduleOutput *outputs, const RitzScheduleOptions *options,
                         RitzSchedule **schedule) {
  RitzScheduleBuild b = {
      .ceed = ceed, .num_elem = num_elem, .lanes = lanes, .num_outputs = num_outputs, .outputs = outputs};
  b.num_batches = (int32_t)(((int64_t)num_elem + lanes - 1) / lanes);
  RITZ_TRY(RITZ_CALLOC(ceed, 1, schedule));
  (*schedule)->num_threads = options->num_threads;
  int ierr = fill_schedule(&b, *schedule, options);
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
  RITZ_FREE(&s->step_begin);
  RITZ_FREE(&s->steps);
  RITZ_FREE(&s->waits);
  RITZ_FREE(&s->flags);
  RITZ_FREE(&s->progress);
  ritz_schedule_copies_destroy(&s->copies);
  RITZ_FREE(schedule);
}

int ritz_schedule_num_sections(const RitzSchedule *schedule) {
  return schedule->copies ? schedule->copies->num_sections : schedule->num_sections;
}

double ritz_schedule_path(const RitzSchedule *schedule) {
  return schedule->copies ? schedule->copies->path : (double)schedule->num_rounds;
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

static bool is_ready(const RitzSchedule *s, const RitzScheduleStep *step) {
  for (int32_t k = 0; k < step->num_waits; k++) {
    if (!ritz_flag_is_raised(&s->flags[s->waits[step->first_wait + k]], s->epoch)) return false;
  }
  return true;
}

static void run_step(const Run *run, int thread, int32_t section, const RitzScheduleStep *step) {
  RitzSchedule *s = run->schedule;
  RitzScheduleProgress *progress = &s->progress[section];
  RitzKernelArgs args = run->args[thread];
  args.order = s->order;
  if (run->before) args.before = &run->before[section];
  if (run->after) args.after = &run->after[section];
  if (!progress->code) progress->code = run_positions(run, &args, step->begin, step->end);
  if (step->flag >= 0) ritz_flag_raise(&s->flags[step->flag], s->epoch);
}

// Does up to max_steps of a section, unless another thread has it; their number. *is_done: all its steps are.
static int64_t advance(const Run *run, int thread, int32_t section, int64_t max_steps, bool *is_done) {
  RitzSchedule *s = run->schedule;
  RitzScheduleProgress *progress = &s->progress[section];
  const int64_t end = s->step_begin[section + 1];
  int64_t num = 0;
  *is_done = false;
  if (!ritz_flag_change(&progress->claim, 0, 1)) return 0;
  for (; num < max_steps && progress->next < end && is_ready(s, &s->steps[progress->next]); num++)
    run_step(run, thread, section, &s->steps[progress->next++]);
  *is_done = progress->next == end;
  ritz_flag_raise(&progress->claim, 0);
  return num;
}

// One step of any section that can go on.
static bool help_others(const Run *run, int thread) {
  const int32_t num = run->schedule->num_sections;
  for (int32_t i = 0; i < num; i++) {
    bool is_done;
    if (advance(run, thread, (thread + 1 + i) % num, 1, &is_done) > 0) return true;
  }
  return false;
}

// First section of a thread: neighbours together; of few sections, one for each of the lowest threads.
static int32_t thread_begin(const RitzSchedule *s, int thread) {
  if (s->num_sections < s->num_threads) return thread < s->num_sections ? thread : s->num_sections;
  return (int32_t)((int64_t)s->num_sections * thread / s->num_threads);
}

// The sections of the thread, each as far as it can go, until all are done; while none can, those of others.
static int run_thread(void *data, int thread) {
  enum { patience = 200 };
  const Run *run = data;
  const int32_t begin = thread_begin(run->schedule, thread), end = thread_begin(run->schedule, thread + 1);
  int idle = 0;
  for (int32_t num_done = 0; num_done < end - begin;) {
    int64_t num_steps = 0;
    num_done = 0;
    for (int32_t section = begin; section < end; section++) {
      bool is_done;
      num_steps += advance(run, thread, section, INT64_MAX, &is_done);
      num_done += is_done;
    }
    idle = num_steps > 0 ? 0 : idle + 1;
    if (num_done == end - begin || idle == 0 || (idle > patience && help_others(run, thread))) continue;
    if (idle > patience)
      ritz_yield_processor();
    else
      ritz_pause_processor();
  }
  return CEED_ERROR_SUCCESS;
}

static int run_all(Run *run, RitzTeam team) {
  RitzSchedule *s = run->schedule;
  int code = CEED_ERROR_SUCCESS;
  s->epoch = s->epoch == INT32_MAX ? 1 : s->epoch + 1;
  for (int32_t p = 0; p < s->num_sections; p++)
    s->progress[p] = (RitzScheduleProgress){.next = s->step_begin[p]};
  const int count = s->num_sections < s->num_threads ? s->num_sections : s->num_threads;
  RITZ_TRY(ritz_team_run_some(team, count > 1 ? count : 1, run_thread, run));
  for (int32_t p = 0; p < s->num_sections && !code; p++) code = s->progress[p].code;
  return code;
}

int ritz_schedule_run_in_place(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                               const RitzKernelArgs *args) {
  Run run = {.schedule = schedule, .kernel = kernel, .args = args};
  return run_all(&run, team);
}

int ritz_schedule_run_hooked(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                             const RitzKernelArgs *args, const RitzKernelHook *before,
                             const RitzKernelHook *after) {
  Run run = {schedule, kernel, args, before, after, 0, NULL, 0};
  RitzCopiesRun copies = {schedule, kernel, args, before, after, NULL};
  return schedule->copies ? ritz_schedule_copies_run(&copies, team) : run_all(&run, team);
}

int ritz_schedule_run(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel, const RitzKernelArgs *args) {
  return ritz_schedule_run_hooked(schedule, team, kernel, args, NULL, NULL);
}

int ritz_schedule_run_many(RitzSchedule *schedule, RitzTeam team, RitzKernel kernel,
                           const RitzKernelArgs *args, CeedInt num, const RitzScheduleVector *vectors,
                           int64_t group) {
  Run run = {schedule, kernel, args, NULL, NULL, num, vectors, group};
  if (!schedule->copies) return run_all(&run, team);
  for (CeedInt k = 0; k < num; k++) {
    RitzCopiesRun copies = {schedule, kernel, args, NULL, NULL, &vectors[k]};
    RITZ_TRY(ritz_schedule_copies_run(&copies, team));
  }
  return CEED_ERROR_SUCCESS;
}
