// SPDX-License-Identifier: BSD-2-Clause
// Schedules (backends/cpu/schedule.h) of random meshes, numberings and outputs. The rules are checked twice:
// in a simulation that executes the steps in random interleavings and knows, by vector clocks, which accesses
// the flags order; and by real threads, whose sums must repeat bit for bit. Meant to be run under a thread
// sanitizer, too.
#include "tests/mesh-list.h"
#include "tests/schedule-case.h"
#include "tests/tap.h"

#include <math.h>
#include <ritz.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 7 };

// ---- Form: order and steps ----

static void check_form(const ScheduleCase *c, const RitzSchedule *s, int num_threads) {
  CeedInt num_batches = (c->num_elem + c->lanes - 1) / c->lanes;
  int *batches = schedule_allocate((size_t)num_batches, sizeof(int));
  int64_t next = 0;
  int bad = 0;

  CHECK(s->num_batches == num_batches && s->num_threads == num_threads, "%d batches", s->num_batches);
  CHECK(s->num_sections >= 1 && s->num_sections <= num_batches, "%d sections", s->num_sections);
  CHECK(s->step_begin[0] == 0, "first step %lld", (long long)s->step_begin[0]);
  for (CeedInt i = 0; i < num_batches; i++) batches[s->order[i]]++;
  for (int64_t i = 0; i < s->step_begin[s->num_sections]; i++) {
    bad += s->steps[i].begin != next || s->steps[i].end <= next;
    next = s->steps[i].end;
  }
  bad += next != num_batches;
  for (CeedInt i = 0; i < num_batches; i++) bad += batches[i] != 1;
  CHECK(!bad, "%d batches or steps are not there once, one after the other", bad);
  free(batches);
}

// ---- Simulation ----

// Sections are played as if each had a thread: who runs a section has seen what it did before.
enum { MAX_SECTIONS = RITZ_FIXED_PARTS };

// What has happened to the chunks and entries of an array.
typedef struct {
  CeedSize length, num_chunks;
  int32_t space;
  uint8_t *state;    // [length]
  int *section;      // [num_chunks]: of the last access, -1 before the first
  int64_t *time;     // [num_chunks]: its time in that section
  uint64_t *history; // [num_chunks]: hash of the positions that contributed, in their order
} Shadow;
enum { POISONED, ZEROED, CLOSED };

typedef struct {
  const ScheduleCase *c;
  const RitzSchedule *s;
  Shadow shadows[SCHEDULE_MAX_OUTPUTS];       // by first output on the array
  int64_t clocks[MAX_SECTIONS][MAX_SECTIONS]; // [section]: what it knows of the times of the others
  int64_t (*flags)[MAX_SECTIONS];             // [flag]: clock of who raised it
  bool *is_raised;                            // [flag]
  int64_t step[MAX_SECTIONS];                 // where each section is
  int64_t position[MAX_SECTIONS];             // -1: at the waits of its step
  int32_t section;                            // that runs
  int64_t at;
  const char *problem;
} World;

static int32_t num_flags(const RitzSchedule *s) {
  int32_t num = 0;

  for (int64_t i = 0; i < s->step_begin[s->num_sections]; i++)
    num = s->steps[i].flag >= num ? s->steps[i].flag + 1 : num;
  return num;
}

static World world_create(const ScheduleCase *c, const RitzSchedule *s) {
  World w = {.c = c, .s = s};

  for (CeedInt i = 0; i < c->num_outputs; i++) {
    Shadow *shadow = &w.shadows[i];

    if (c->first_of[i] != i) continue;
    shadow->space = c->outputs[i].space;
    shadow->length = c->outputs[i].length;
    shadow->num_chunks = (shadow->length + RITZ_CHUNK - 1) / RITZ_CHUNK;
    shadow->state = schedule_allocate((size_t)shadow->length, sizeof(*shadow->state));
    shadow->time = schedule_allocate((size_t)shadow->num_chunks, sizeof(*shadow->time));
    shadow->section = schedule_allocate((size_t)shadow->num_chunks, sizeof(*shadow->section));
    shadow->history = schedule_allocate((size_t)shadow->num_chunks, sizeof(*shadow->history));
    for (CeedSize k = 0; k < shadow->num_chunks; k++) {
      shadow->section[k] = -1;
    }
  }
  w.flags = schedule_allocate((size_t)num_flags(s), sizeof(*w.flags));
  w.is_raised = schedule_allocate((size_t)num_flags(s), sizeof(*w.is_raised));
  for (int p = 0; p < s->num_sections; p++) {
    w.step[p] = s->step_begin[p];
    w.position[p] = -1;
    w.clocks[p][p] = 1;
  }
  return w;
}

static void world_free(World *w) {
  for (int i = 0; i < SCHEDULE_MAX_OUTPUTS; i++) {
    free(w->shadows[i].state);
    free(w->shadows[i].time);
    free(w->shadows[i].section);
    free(w->shadows[i].history);
  }
  free(w->flags);
  free(w->is_raised);
}

// Two accesses to a chunk by different sections must be ordered by flags.
static void access_chunk(World *w, Shadow *shadow, CeedSize chunk) {
  int other = shadow->section[chunk];

  if (other >= 0 && w->clocks[w->section][other] < shadow->time[chunk]) w->problem = "a race";
  shadow->section[chunk] = w->section;
  shadow->time[chunk] = w->clocks[w->section][w->section];
}

static void contribute(void *data, int output, CeedSize entry) {
  World *w = data;
  Shadow *shadow = &w->shadows[output];
  CeedSize chunk = entry / RITZ_CHUNK;

  access_chunk(w, shadow, chunk);
  if (shadow->state[entry] == POISONED) w->problem = "added before it was set to zero";
  if (shadow->state[entry] == CLOSED) w->problem = "added after the last touch";
  shadow->history[chunk] = shadow->history[chunk] * 6364136223846793005u + (uint64_t)w->at + 1;
}

static Shadow *find_shadow(World *w, int32_t space) {
  for (int i = 0; i < w->c->num_outputs; i++) {
    if (w->shadows[i].length && w->shadows[i].space == space) return &w->shadows[i];
  }
  return NULL;
}

// Entries of the ranges of this position go from one state to the next.
static void change_ranges(World *w, const int64_t *begin, const RitzRange *ranges, uint8_t from) {
  for (int64_t i = begin[w->at]; i < begin[w->at + 1]; i++) {
    Shadow *shadow = find_shadow(w, ranges[i].space);
    CeedSize first = ranges[i].first, end = first + ranges[i].count;

    if (!shadow || ranges[i].count < 1 || first < 0 || end > shadow->length) {
      w->problem = "no such range";
      return;
    }
    for (CeedSize k = first; k < end; k++) {
      access_chunk(w, shadow, k / RITZ_CHUNK);
      if (shadow->state[k] != from) w->problem = "an entry in two ranges";
      shadow->state[k] = from + 1;
    }
  }
}

static void execute_position(World *w) {
  change_ranges(w, w->s->before_begin, w->s->before, POISONED);
  schedule_case_visit(w->c, w->s->order[w->at], contribute, w);
  change_ranges(w, w->s->after_begin, w->s->after, ZEROED);
}

static bool is_finished(const World *w, int section) {
  return w->step[section] == w->s->step_begin[section + 1];
}

static bool can_run(const World *w, int section) {
  if (is_finished(w, section)) return false;
  const RitzScheduleStep *step = &w->s->steps[w->step[section]];
  bool can = true;

  for (int32_t i = 0; i < step->num_waits; i++) can = can && w->is_raised[w->s->waits[step->first_wait + i]];
  return can;
}

// One position, with the waiting before and the raising after it.
static void run_one(World *w, int section) {
  const RitzScheduleStep *step = &w->s->steps[w->step[section]];
  int64_t *clock = w->clocks[section];

  if (w->position[section] < 0) {
    for (int32_t i = 0; i < step->num_waits; i++) {
      const int64_t *flag = w->flags[w->s->waits[step->first_wait + i]];

      for (int p = 0; p < w->s->num_sections; p++) clock[p] = clock[p] > flag[p] ? clock[p] : flag[p];
    }
    w->position[section] = step->begin;
  }
  w->section = section;
  w->at = w->position[section]++;
  execute_position(w);
  clock[section]++;
  if (w->position[section] < step->end) return;
  w->position[section] = -1;
  w->step[section]++;
  if (step->flag < 0) return;
  memcpy(w->flags[step->flag], clock, sizeof(w->flags[0]));
  clock[section]++;
  w->is_raised[step->flag] = true;
}

// Sections at random, or, as by one thread, the lowest that can go on.
static int choose_section(const World *w, bool is_random) {
  int able[MAX_SECTIONS], num = 0;

  for (int p = 0; p < w->s->num_sections; p++) {
    if (can_run(w, p)) able[num++] = p;
  }
  return num ? able[is_random ? schedule_draw(0, num - 1) : 0] : -1;
}

static void simulate(World *w, bool is_random) {
  for (int p; (p = choose_section(w, is_random)) >= 0 && !w->problem;) run_one(w, p);
  for (int p = 0; p < w->s->num_sections && !w->problem; p++) {
    if (!is_finished(w, p)) w->problem = "sections wait for ever";
  }
  for (int i = 0; i < w->c->num_outputs && !w->problem; i++) {
    for (CeedSize k = 0; k < w->shadows[i].length; k++) {
      if (w->shadows[i].state[k] != CLOSED) w->problem = "an entry without ranges";
    }
  }
}

// Hash of the order of all contributions.
static uint64_t world_history(const World *w) {
  uint64_t hash = 0;

  for (int i = 0; i < w->c->num_outputs; i++) {
    const Shadow *shadow = &w->shadows[i];

    for (CeedSize k = 0; shadow->length && k < shadow->num_chunks; k++)
      hash = hash * 1099511628211u + shadow->history[k];
  }
  return hash;
}

static void check_simulation(const ScheduleCase *c, const RitzSchedule *s, bool is_random,
                             uint64_t *history) {
  World w = world_create(c, s);

  simulate(&w, is_random);
  *history = world_history(&w);
  const char *problem = w.problem;

  world_free(&w);
  CHECK(!problem, "%s: %d elements, %d lanes, %d threads, %d sections", problem, c->num_elem, c->lanes,
        s->num_threads, s->num_sections);
}

static int num_cases(void) {
  static const int num[] = {20, 300, 3000};

  return num[tap_level()];
}

TEST(contributions_come_in_one_order_however_fast_the_threads_are) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < num_cases() && !tap_failed(); i++) {
    ScheduleCase c = schedule_case_draw(ceed);

    for (int k = 0; k < 2 * MAX_THREADS && !tap_failed(); k++) {
      RitzSchedule *s = NULL;
      uint64_t histories[3] = {0};

      CHECK_OK(schedule_case_create(&c, k / 2 + 1, k % 2, &s));
      check_form(&c, s, k / 2 + 1);
      for (int run = 0; run < 3 && !tap_failed(); run++) check_simulation(&c, s, run > 0, &histories[run]);
      if (tap_failed()) return;
      CHECK(histories[0] == histories[1] && histories[1] == histories[2], "case %d: orders differ", i);
      ritz_schedule_destroy(&s);
    }
    schedule_case_destroy(&c);
  }
  CeedDestroy(&ceed);
}

static bool same(const void *a, const void *b, size_t num_bytes) {
  return num_bytes == 0 || !memcmp(a, b, num_bytes);
}

static bool same_ranges(const RitzSchedule *a, const RitzSchedule *b) {
  size_t n = (size_t)a->num_batches, size = (n + 1) * sizeof(int64_t);

  return same(a->before_begin, b->before_begin, size) && same(a->after_begin, b->after_begin, size) &&
         same(a->before, b->before, (size_t)a->before_begin[n] * sizeof(RitzRange)) &&
         same(a->after, b->after, (size_t)a->after_begin[n] * sizeof(RitzRange));
}

TEST(fixed_schedules_have_one_order_for_all_numbers_of_threads) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < num_cases(); i++) {
    ScheduleCase c = schedule_case_draw(ceed);
    RitzSchedule *first = NULL;

    CHECK_OK(schedule_case_create(&c, 1, true, &first));
    for (int num_threads = 2; num_threads <= 100; num_threads += schedule_draw(1, 30)) {
      RitzSchedule *s = NULL;

      CHECK_OK(schedule_case_create(&c, num_threads, true, &s));
      CHECK(s->num_sections == first->num_sections, "%d and %d sections", s->num_sections,
            first->num_sections);
      CHECK(same(s->order, first->order, (size_t)s->num_batches * sizeof(int32_t)), "orders differ");
      CHECK(same_ranges(s, first), "ranges differ");
      ritz_schedule_destroy(&s);
    }
    ritz_schedule_destroy(&first);
    schedule_case_destroy(&c);
  }
  CeedDestroy(&ceed);
}

// ---- Time: batches one after the other until all are done, waiting included ----

// With a thread for each section. Flags are raised by what comes before who waits for them: as many sweeps
// over the sections as the longest row of flags has members settle all times.
static int64_t run_time(const RitzSchedule *s) {
  const int64_t num_steps = s->step_begin[s->num_sections];
  int64_t *raised = schedule_allocate((size_t)num_flags(s), sizeof(*raised)), end = 0;

  for (int64_t sweep = 0, before = -1; before != end && end < INT64_MAX; sweep++) {
    before = sweep ? end : -1;
    for (int p = 0; p < s->num_sections; p++) {
      int64_t now = 0;

      for (int64_t i = s->step_begin[p]; i < s->step_begin[p + 1]; i++) {
        const RitzScheduleStep *step = &s->steps[i];

        for (int32_t k = 0; k < step->num_waits; k++) {
          const int64_t flag = raised[s->waits[step->first_wait + k]];

          now = now < flag ? flag : now;
        }
        now += step->end - step->begin;
        if (step->flag >= 0) raised[step->flag] = now;
      }
      end = now > end ? now : end;
    }
    if (sweep > num_steps) end = INT64_MAX; // they never do
  }
  free(raised);
  return end;
}

// The rounds are an upper bound of the time: who waits in a round for what was done in the round before loses
// nothing.
TEST(sections_need_no_more_time_than_rounds) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < num_cases() && !tap_failed(); i++) {
    ScheduleCase c = schedule_case_draw(ceed);
    RitzSchedule *s = NULL;

    CHECK_OK(schedule_case_create(&c, schedule_draw(2, 60), schedule_draw(0, 1), &s));
    CHECK(run_time(s) <= s->num_rounds, "time %lld, %lld rounds", (long long)run_time(s),
          (long long)s->num_rounds);
    ritz_schedule_destroy(&s);
    schedule_case_destroy(&c);
  }
  CeedDestroy(&ceed);
}

TEST(threads_of_a_thick_box_do_not_wait) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = schedule_case_box(ceed, 8, 4, 64, 2, 8);

  for (int num_threads = 1; num_threads <= 16; num_threads++) {
    RitzSchedule *s = NULL;

    CHECK_OK(schedule_case_create(&c, num_threads, false, &s));
    CHECK(s->num_sections == num_threads, "%d sections for %d threads", s->num_sections, num_threads);
    int64_t least = (s->num_batches + num_threads - 1) / num_threads;

    CHECK(run_time(s) == least && s->num_rounds == least, "%d threads: time %lld, least %lld", num_threads,
          (long long)run_time(s), (long long)least);
    for (int p = 0; p < num_threads; p++)
      CHECK(s->step_begin[p + 1] - s->step_begin[p] <= 3, "%lld steps",
            (long long)(s->step_begin[p + 1] - s->step_begin[p]));
    ritz_schedule_destroy(&s);
  }
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

// One row of elements is a batch; rows that touch are neighbours in two directions, so that nearly a quarter
// of the 64 batches can be done at a time, by however many threads: 64 entries are four rows of nodes.
TEST(thin_sections_are_done_in_colours) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = schedule_case_box(ceed, 8, 8, 8, 2, 8);

  for (int num_threads = 4; num_threads <= 64; num_threads *= 2) {
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
      RitzSchedule *s = NULL;

      CHECK_OK(schedule_case_create(&c, num_threads, is_fixed, &s));
      CHECK(s->num_rounds * s->num_sections >= 64 &&
                s->num_rounds <= (num_threads == 4 && !is_fixed ? 16 : 11),
            "%d threads: %d sections, %lld rounds", num_threads, s->num_sections, (long long)s->num_rounds);
      ritz_schedule_destroy(&s);
    }
  }
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

// Elements of 32 nodes, all of them the same one.
static ScheduleCase star(Ceed ceed, CeedInt num_elem) {
  enum { elem_size = 32 };
  ScheduleCase c = {.ceed = ceed, .num_elem = num_elem, .lanes = 2, .num_outputs = 1};
  CeedInt *offsets = schedule_allocate((size_t)num_elem * elem_size, sizeof(*offsets));

  if (CeedElemRestrictionCreate(ceed, num_elem, elem_size, 1, 1, 1, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                &c.outputs[0].rstr))
    abort();
  free(offsets);
  c.outputs[0].space = SCHEDULE_FIRST_SPACE;
  c.outputs[0].entry_bytes = (int32_t)sizeof(CeedScalar);
  schedule_case_set_lengths(&c);
  return c;
}

TEST(where_all_batches_share_an_entry_there_is_one_section_or_copies) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = star(ceed, 40);
  RitzSchedule *s = NULL;

  CHECK_OK(schedule_case_create(&c, 5, false, &s));
  CHECK(s->num_sections == 1 && s->step_begin[1] == 1 && !s->copies, "%d sections", s->num_sections);
  ritz_schedule_destroy(&s);
  CHECK_OK(schedule_case_create_copies(&c, 5, &s));
  CHECK(s->copies && ritz_schedule_num_sections(s) == 5, "%d sections", ritz_schedule_num_sections(s));
  CHECK(ritz_schedule_path(s) >= 4 && ritz_schedule_path(s) < 5, "%g batches", ritz_schedule_path(s));
  ritz_schedule_destroy(&s);
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

// ---- Meshes of files ----

// The batches that share a chunk: none of them can run beside another.
typedef struct {
  int32_t *num, *last; // [num_chunks]: batches so far, the last of them plus one
  int32_t batch, most;
} Sharing;

static void count_batch(void *data, int output, CeedSize entry) {
  Sharing *sharing = data;
  const CeedSize chunk = entry / RITZ_CHUNK;

  (void)output;
  if (sharing->last[chunk] == sharing->batch + 1) return;
  sharing->last[chunk] = sharing->batch + 1;
  if (++sharing->num[chunk] > sharing->most) sharing->most = sharing->num[chunk];
}

static int32_t most_batches_at_a_chunk(const ScheduleCase *c, int32_t num_batches) {
  const size_t num_chunks = (size_t)c->outputs[0].length / RITZ_CHUNK + 1;
  Sharing sharing = {schedule_allocate(num_chunks, sizeof(int32_t)),
                     schedule_allocate(num_chunks, sizeof(int32_t)), 0, 0};

  for (; sharing.batch < num_batches; sharing.batch++)
    schedule_case_visit(c, sharing.batch, count_batch, &sharing);
  free(sharing.num);
  free(sharing.last);
  return sharing.most;
}

// No order takes fewer rounds than batches for each thread, or than batches that share a chunk; this one at
// most twice the greater of these, and where there is enough to do, 1.25 times.
static void check_rounds(const ScheduleCase *c, int num_threads, const char *what) {
  RitzSchedule *s = NULL;

  CHECK_OK(schedule_case_create(c, num_threads, false, &s));
  const int64_t share = (s->num_batches + num_threads - 1) / num_threads,
                clique = most_batches_at_a_chunk(c, s->num_batches), least = share > clique ? share : clique;

  CHECK(s->num_rounds <= (share > 4 * clique ? least + least / 4 : 2 * least),
        "%s: %d batches, %lld at a chunk, %d sections, %lld rounds", what, s->num_batches, (long long)clique,
        s->num_sections, (long long)s->num_rounds);
  ritz_schedule_destroy(&s);
}

// With copies where rounds would keep threads waiting, they work for 0.6 of the time.
static void check_path(const ScheduleCase *c, int num_threads, const char *what) {
  RitzSchedule *s = NULL;

  CHECK_OK(schedule_case_create_copies(c, num_threads, &s));
  const double rate = (double)s->num_batches / num_threads / ritz_schedule_path(s);

  CHECK(rate >= 0.6 && rate <= 1, "%s: %d batches, %s, %.2f of the ideal rate", what, s->num_batches,
        s->copies ? "copies" : "rounds", rate);
  ritz_schedule_destroy(&s);
}

// The schedule of an operator from one block of a space to itself.
static void check_block(Ceed ceed, RitzSpace space, CeedInt block, const char *mesh) {
  enum { num_threads = 16, least_batches = 64 };
  ScheduleCase c = {.ceed = ceed, .lanes = 8, .num_outputs = 1};
  char what[1200];

  snprintf(what, sizeof(what), "%s, block %d", mesh, block);

  CHECK_OK(RitzSpaceCreateBlockRestriction(space, block, ceed, &c.outputs[0].rstr));
  CHECK_OK(CeedElemRestrictionGetNumElements(c.outputs[0].rstr, &c.num_elem));
  schedule_case_set_lengths(&c);
  if (c.num_elem >= least_batches * c.lanes) {
    c.outputs[0].entry_bytes = (int32_t)sizeof(CeedScalar);
    check_rounds(&c, num_threads, what);
    check_path(&c, num_threads, what);
  }
  schedule_case_destroy(&c);
}

static void check_mesh(Ceed ceed, const char *path) {
  RitzMesh meshes[3] = {NULL};

  CHECK_OK(RitzMeshRead(ceed, path, &meshes[0]));
  for (int r = 1; r < 3; r++) CHECK_OK(RitzMeshRefine(meshes[0], r, &meshes[r]));
  for (int r = 0; r < 3; r++) {
    CeedInt num_blocks = 0;

    CHECK_OK(RitzMeshGetNumBlocks(meshes[r], &num_blocks));
    for (CeedInt degree = 1; degree <= 4 && !tap_failed(); degree++) {
      char what[1100];
      RitzSpace space = NULL;

      snprintf(what, sizeof(what), "%s refined %d times, degree %d", path, r, degree);
      CHECK_OK(RitzSpaceCreate(meshes[r], degree, degree == 3 ? 3 : 1, &space));
      for (CeedInt b = 0; b < num_blocks; b++) check_block(ceed, space, b, what);
      CHECK_OK(RitzSpaceDestroy(&space));
    }
  }
  for (int r = 0; r < 3; r++) CHECK_OK(RitzMeshDestroy(&meshes[r]));
}

TEST(sixteen_threads_are_busy_on_every_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char path[MESH_PATH];

  for (size_t i = 0; mesh_list_path(i, path) && !tap_failed(); i++) {
    check_mesh(ceed, path);
  }
  CeedDestroy(&ceed);
}

// ---- Real threads ----

typedef struct {
  const ScheduleCase *c;
  const RitzSchedule *s;
  CeedScalar *sums[SCHEDULE_MAX_OUTPUTS],
      *finals[SCHEDULE_MAX_OUTPUTS];           // owned; by first output on the array
  RitzKernelSpace spaces[SCHEDULE_NUM_SPACES]; // of the kernel: sums
} Vectors;

static Vectors vectors_create(const ScheduleCase *c) {
  Vectors v = {.c = c};

  for (int i = 0; i < c->num_outputs; i++) {
    if (c->first_of[i] != i) continue;
    v.sums[i] = schedule_allocate((size_t)c->outputs[i].length, sizeof(CeedScalar));
    v.finals[i] = schedule_allocate((size_t)c->outputs[i].length, sizeof(CeedScalar));
  }
  for (CeedInt i = 0; i < c->num_outputs; i++) v.spaces[c->outputs[i].space].array = v.sums[c->first_of[i]];
  return v;
}

static void vectors_free(Vectors *v) {
  for (int i = 0; i < SCHEDULE_MAX_OUTPUTS; i++) {
    free(v->sums[i]);
    free(v->finals[i]);
  }
}

static void poison(Vectors *v) {
  for (int i = 0; i < v->c->num_outputs; i++) {
    for (CeedSize k = 0; v->sums[i] && k < v->c->outputs[i].length; k++)
      v->sums[i][k] = v->finals[i][k] = (CeedScalar)NAN;
  }
}

static int output_of(const Vectors *v, int32_t space) {
  int i = 0;

  while (v->c->outputs[i].space != space) i++;
  return i;
}

static void set_zero(void *data, int32_t space, int64_t first, int64_t count) {
  Vectors *v = data;

  memset(v->sums[output_of(v, space)] + first, 0, (size_t)count * sizeof(CeedScalar));
}

static void keep_final(void *data, int32_t space, int64_t first, int64_t count) {
  Vectors *v = data;
  int i = output_of(v, space);

  memcpy(v->finals[i] + first, v->sums[i] + first, (size_t)count * sizeof(CeedScalar));
}

// A number of a contribution: magnitudes from 1 to 2^10, so that sums show the order of their terms.
static CeedScalar term(int32_t batch, int64_t number) {
  uint64_t state = (uint64_t)batch * 1000003u + (uint64_t)number;
  double x = tap_uniform(&state);

  return (CeedScalar)ldexp(x, (int)tap_integer(&state, 11));
}

typedef struct {
  Vectors *v;
  const RitzKernelSpace *spaces;
  int32_t batch;
  int64_t number;
} Adding;

static void add_term(void *data, int output, CeedSize entry) {
  Adding *a = data;
  CeedScalar *sums = a->spaces[SCHEDULE_FIRST_SPACE + output].array;

  sums[entry] += term(a->batch, a->number++);
}

static void call_hook(const RitzKernelHook *hook, int64_t at) {
  if (!hook) return;
  for (int64_t i = hook->begin[at]; i < hook->begin[at + 1]; i++)
    hook->call(hook->data, hook->ranges[i].space, hook->ranges[i].first, hook->ranges[i].count);
}

static int kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end; at++) {
    Adding adding = {args->context, args->spaces, args->order[at], 0};

    call_hook(args->before, at);
    schedule_case_visit(adding.v->c, adding.batch, add_term, &adding);
    call_hook(args->after, at);
  }
  return 0;
}

static int run_kernel(RitzSchedule *s, RitzTeam team, Vectors *v) {
  RitzKernelHook before = {s->before_begin, s->before, set_zero, v},
                 after = {s->after_begin, s->after, keep_final, v};
  RitzKernelArgs args[MAX_THREADS];

  for (int t = 0; t < s->num_threads; t++)
    args[t] = (RitzKernelArgs){.context = v, .spaces = v->spaces, .before = &before, .after = &after};
  poison(v);
  return ritz_schedule_run(s, team, kernel, args);
}

// Into zeros, by rounds where there are copies, too.
static int run_in_place(RitzSchedule *s, RitzTeam team, Vectors *v) {
  RitzKernelArgs args[MAX_THREADS];

  for (int t = 0; t < s->num_threads; t++) args[t] = (RitzKernelArgs){.context = v, .spaces = v->spaces};
  for (int i = 0; i < v->c->num_outputs; i++) {
    if (v->sums[i]) memset(v->sums[i], 0, (size_t)v->c->outputs[i].length * sizeof(CeedScalar));
  }
  return ritz_schedule_run_in_place(s, team, kernel, args);
}

static bool same_vectors(const ScheduleCase *c, CeedScalar *const *a, CeedScalar *const *b) {
  bool is_same = true;

  for (int i = 0; i < c->num_outputs; i++) {
    is_same = is_same && (!a[i] || same(a[i], b[i], (size_t)c->outputs[i].length * sizeof(CeedScalar)));
  }
  return is_same;
}

// The sums of all terms without schedule, and, for the tolerance, of their magnitudes.
static void add_reference(void *data, int output, CeedSize entry) {
  Adding *a = data;
  CeedScalar x = term(a->batch, a->number++);

  a->v->sums[output][entry] += x;
  a->v->finals[output][entry] += (CeedScalar)fabs((double)x);
}

static Vectors reference(const ScheduleCase *c) {
  Vectors v = vectors_create(c);

  for (int32_t batch = 0; batch < (c->num_elem + c->lanes - 1) / c->lanes; batch++) {
    Adding adding = {&v, NULL, batch, 0};

    schedule_case_visit(c, batch, add_reference, &adding);
  }
  return v;
}

// Both sums of n terms are within n eps of the sum of magnitudes; n is at most the number of elements times
// the outputs on an array.
static void check_sums(const ScheduleCase *c, const Vectors *v, const Vectors *exact) {
  const double bound = 2.0 * c->num_elem * 27 * SCHEDULE_MAX_OUTPUTS * CEED_EPSILON;

  for (int i = 0; i < c->num_outputs; i++) {
    for (CeedSize k = 0; v->sums[i] && k < c->outputs[i].length; k++) {
      CHECK_NEAR(v->sums[i][k], exact->sums[i][k], bound * exact->finals[i][k], "output %d, entry %lld", i,
                 (long long)k);
    }
  }
}

typedef enum { ROUNDS, FIXED, COPIES } Kind;

static int create_kind(const ScheduleCase *c, Kind kind, int num_threads, RitzSchedule **s) {
  return kind == COPIES ? schedule_case_create_copies(c, num_threads, s)
                        : schedule_case_create(c, num_threads, kind == FIXED, s);
}

// first: results that all runs must repeat; made by the first one. *num_copied: schedules with copies.
static void check_runs(const ScheduleCase *c, RitzTeam team, Kind kind, const Vectors *exact, Vectors *first,
                       bool *has_first, int *num_copied) {
  RitzSchedule *s = NULL;
  Vectors v = vectors_create(c);

  CHECK_OK(create_kind(c, kind, ritz_team_size(team), &s));
  for (int run = 0; run < 20; run++) {
    Vectors *now = *has_first ? &v : first;

    CHECK_OK(run_kernel(s, team, now));
    CHECK(same_vectors(c, now->sums, now->finals), "an entry changed after its last touch");
    CHECK(same_vectors(c, now->sums, first->sums), "run %d of %d threads gave other sums", run,
          s->num_threads);
    *has_first = true;
  }
  if (s->copies) {
    CHECK_OK(run_in_place(s, team, &v));
    check_sums(c, &v, exact);
    ++*num_copied;
  }
  ritz_schedule_destroy(&s);
  vectors_free(&v);
}

// Of fixed schedules for all numbers of threads, of others for each of them.
static void check_case(const ScheduleCase *c, RitzTeam *teams, Kind kind, int *num_copied) {
  Vectors exact = reference(c), first = vectors_create(c);
  bool has_first = false;

  for (int t = 0; t < MAX_THREADS && !tap_failed(); t++) {
    if (kind != FIXED) has_first = false;
    check_runs(c, teams[t], kind, &exact, &first, &has_first, num_copied);
    if (!tap_failed()) check_sums(c, &first, &exact);
  }
  vectors_free(&exact);
  vectors_free(&first);
}

TEST(sums_of_real_threads_repeat_bit_for_bit) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzTeam teams[MAX_THREADS];
  static const int num[] = {6, 60, 600};
  int num_copied = 0;

  for (int t = 0; t < MAX_THREADS; t++) CHECK_OK(ritz_team_create(ceed, t + 1, &teams[t]));
  for (int i = 0; i < num[tap_level()] && !tap_failed(); i++) {
    ScheduleCase c = i == 0 ? schedule_case_box(ceed, 8, 4, 20, 1, 8) : schedule_case_draw(ceed);

    for (Kind kind = ROUNDS; kind <= COPIES && !tap_failed(); kind++)
      check_case(&c, teams, kind, &num_copied);
    schedule_case_destroy(&c);
  }
  CHECK(num_copied > 0, "no schedule had copies");
  for (int t = 0; t < MAX_THREADS; t++) ritz_team_destroy(&teams[t]);
  CeedDestroy(&ceed);
}

// ---- Failing functions ----

// Codes by batch, calls of each.
typedef struct {
  const int *codes; // [num_batches]
  int *num_calls;   // [num_batches]
} Failing;

static int failing_kernel(const RitzKernelArgs *args, int64_t begin, int64_t end) {
  Failing *failing = args->context;
  int code = 0;

  for (int64_t at = begin; at < end && !code; at++) {
    failing->num_calls[args->order[at]]++;
    code = failing->codes[args->order[at]];
  }
  return code;
}

static int32_t section_begin(const RitzSchedule *s, int32_t section) {
  return (int32_t)((int64_t)s->num_batches * section / s->num_sections);
}

// The failing batch is the first of its section.
TEST(a_failing_function_stops_its_section_and_no_other) {
  enum { num_threads = 4, num_batches = 128 };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = schedule_case_box(ceed, 8, 2, 64, 1, 8);
  RitzTeam team = NULL;
  RitzSchedule *s = NULL;

  CHECK_OK(ritz_team_create(ceed, num_threads, &team));
  CHECK_OK(schedule_case_create(&c, num_threads, false, &s));
  CHECK(s->num_batches == num_batches && s->num_sections == num_threads, "%d sections", s->num_sections);
  for (int fails = 0; fails < 1 << num_threads; fails++) {
    int codes[num_batches] = {0}, num_calls[num_batches] = {0}, lowest = 0;
    Failing failing = {codes, num_calls};
    RitzKernelArgs args[num_threads];

    for (int t = num_threads - 1; t >= 0; t--) {
      args[t] = (RitzKernelArgs){.context = &failing};
      if (fails & (1 << t)) codes[s->order[section_begin(s, t)]] = lowest = 10 + t;
    }
    int code = ritz_schedule_run(s, team, failing_kernel, args);

    CHECK(code == lowest, "code %d, needed %d", code, lowest);
    for (int t = 0; t < num_threads; t++) {
      int num = 0;

      for (int32_t b = section_begin(s, t); b < section_begin(s, t + 1); b++) num += num_calls[b];
      CHECK(num == (fails & (1 << t) ? 1 : num_batches / num_threads), "section %d ran %d batches", t, num);
    }
  }
  ritz_schedule_destroy(&s);
  ritz_team_destroy(&team);
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

TEST(of_functions_that_fail_on_copies_the_lowest_code_is_returned) {
  enum { num_threads = 4, num_batches = 40 };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = star(ceed, 2 * num_batches);
  RitzKernelSpace spaces[SCHEDULE_NUM_SPACES] = {{.array = NULL}};
  RitzTeam team = NULL;
  RitzSchedule *s = NULL;

  CHECK_OK(ritz_team_create(ceed, num_threads, &team));
  CHECK_OK(schedule_case_create_copies(&c, num_threads, &s));
  CHECK(s->copies, "no copies");
  for (int fails = 1; fails < 1 << num_threads; fails++) {
    int codes[num_batches] = {0}, num_calls[num_batches] = {0}, lowest = 0;
    Failing failing = {codes, num_calls};
    RitzKernelArgs args[num_threads];

    for (int t = num_threads - 1; t >= 0; t--) {
      args[t] = (RitzKernelArgs){.context = &failing, .spaces = spaces};
      if (fails & (1 << t)) codes[s->order[num_batches / num_threads * t]] = lowest = 10 + t;
    }
    int code = ritz_schedule_run(s, team, failing_kernel, args);

    CHECK(code == lowest, "code %d, needed %d", code, lowest);
  }
  ritz_schedule_destroy(&s);
  ritz_team_destroy(&team);
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

// ---- Limits ----

TEST(without_elements_there_is_nothing_to_run) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = {.ceed = ceed, .lanes = 8, .num_outputs = 1};
  RitzSchedule *s = NULL;

  CHECK_OK(CeedElemRestrictionCreate(ceed, 0, 8, 1, 1, 100, CEED_MEM_HOST, CEED_COPY_VALUES, NULL,
                                     &c.outputs[0].rstr));
  c.outputs[0].length = 100;
  CHECK_OK(schedule_case_create(&c, 3, true, &s));
  CHECK(s->num_batches == 0 && s->before_begin[0] == 0 && s->after_begin[0] == 0, "%d batches",
        s->num_batches);
  CHECK_OK(ritz_schedule_run(s, NULL, kernel, (RitzKernelArgs[3]){{.abi = 0}}));
  ritz_schedule_destroy(&s);
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

TEST(without_outputs_all_batches_run) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = {.ceed = ceed, .lanes = 8, .num_elem = 100};
  RitzSchedule *s = NULL;
  uint64_t history;

  CHECK_OK(schedule_case_create(&c, 3, false, &s));
  check_form(&c, s, 3);
  check_simulation(&c, s, true, &history);
  ritz_schedule_destroy(&s);
  CeedDestroy(&ceed);
}

static void fail_allocations(const ScheduleCase *c) {
  int64_t live = ritz_memory_live();
  int code = CEED_ERROR_MAJOR, num = 0;

  while (code && num < 1000) {
    RitzSchedule *s = NULL;

    ritz_memory_fail_at(++num);
    code = schedule_case_create_copies(c, 4, &s);
    ritz_memory_fail_at(0);
    CHECK(!code == !!s, "code %d", code);
    CHECK(!code || code == CEED_ERROR_MAJOR, "code %d", code);
    ritz_schedule_destroy(&s);
    CHECK(ritz_memory_live() == live, "allocation %d: something is left", num);
  }
  CHECK(num > 10 && num < 1000, "%d allocations", num);
}

TEST(without_memory_creation_fails_and_leaves_nothing) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase box = schedule_case_box(ceed, 4, 4, 4, 2, 2), copied = star(ceed, 80);

  fail_allocations(&box);
  if (!tap_failed()) fail_allocations(&copied);
  schedule_case_destroy(&box);
  schedule_case_destroy(&copied);
  CeedDestroy(&ceed);
}

// More entries between two touched ones than a range can count.
TEST(ranges_of_a_very_long_vector_are_split) {
  enum { num_elem = 4 };
  if (tap_level() < TAP_EXHAUSTIVE) NOT_HERE("takes a gigabyte, at level exhaustive");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  ScheduleCase c = {.ceed = ceed, .num_elem = num_elem, .lanes = 1, .num_outputs = 1};
  const CeedSize length = 3 * ((CeedSize)1 << 30) + 5;
  const CeedInt offsets[num_elem] = {0, 1, 2, 3};
  RitzSchedule *s = NULL;
  CeedSize next = 0;

  CHECK_OK(CeedElemRestrictionCreate(ceed, num_elem, 1, 1, 1, 4, CEED_MEM_HOST, CEED_COPY_VALUES, offsets,
                                     &c.outputs[0].rstr));
  c.outputs[0].length = length;
  CHECK_OK(schedule_case_create(&c, 1, false, &s));
  for (int64_t i = 0; i < s->before_begin[num_elem]; i++) {
    CHECK(s->before[i].first == next && s->before[i].count > 0, "range %lld", (long long)i);
    next += s->before[i].count;
  }
  CHECK(next == length && s->before_begin[1] == 2, "ranges end at %lld", (long long)next);
  ritz_schedule_destroy(&s);
  schedule_case_destroy(&c);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(contributions_come_in_one_order_however_fast_the_threads_are,
                        fixed_schedules_have_one_order_for_all_numbers_of_threads,
                        sections_need_no_more_time_than_rounds, threads_of_a_thick_box_do_not_wait,
                        thin_sections_are_done_in_colours, sixteen_threads_are_busy_on_every_mesh,
                        where_all_batches_share_an_entry_there_is_one_section_or_copies,
                        sums_of_real_threads_repeat_bit_for_bit,
                        of_functions_that_fail_on_copies_the_lowest_code_is_returned,
                        a_failing_function_stops_its_section_and_no_other,
                        without_elements_there_is_nothing_to_run, without_outputs_all_batches_run,
                        without_memory_creation_fails_and_leaves_nothing,
                        ranges_of_a_very_long_vector_are_split));
}
