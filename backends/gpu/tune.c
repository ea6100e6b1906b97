// SPDX-License-Identifier: BSD-2-Clause
// A faster kernel for an operator, by measurement: one choice after the other is varied around the best that
// is known, beginning with the model's, until nothing gets better. Called through the table of the backend
// (operator_tune).
//
// Then routes: the best fused kernel, separate kernels, and matrix products (RitzOperatorSetRoute).
//
// Kernels are timed by events around a batch of applies. A new one and the best one run in turns, and the
// medians are compared, so that a device that is warm, or busy, does not decide. A variant that cannot be
// planned, does not compile, or does not run is left out without a word.
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gen.h"
#include "backends/gpu/operators.h"
#include "plan/choice.h"

enum { NUM_ROUNDS = 7, MOST_APPLIES = 50, MOST_ALTERNATIVES = 16, MOST_THREADS = 256, WARP = 32 };
static const double batch_seconds = 2e-3; // at least, for kernels that are not very short
static const double hopeless = 1.3;       // times the best in the first batch: no more are needed
static const double margin = 0.99;        // times the best: a faster one needs less

typedef struct {
  CeedOperator op;
  CeedVector in, out;
  RitzApplyMode mode;
  RitzGpuMachine machine;
  RitzDeviceEvent begin, end;    // owned
  RitzGpuOperator *model, *best; // owned; one and the same while nothing is better
  double seconds;                // of an apply with the best
  int num_applies;               // in a batch
  int num_tried, num_left;
  size_t num_seen;
  RitzGpuChoice *seen; // owned: was looked at
} Search;

// Kernels that are made together.
typedef struct {
  int num;
  RitzGpuOperator *variants[MOST_ALTERNATIVES]; // owned; NULL: there is none
} Group;

typedef struct {
  int num;
  RitzGpuChoice items[MOST_ALTERNATIVES];
} Alternatives;

static RitzGpuChoice chosen(const Search *s, const RitzGpuOperator *g) {
  return ritz_plan_gpu_chosen(g->plan, &s->machine, g->target);
}

// ---- Times ----

// Applies the operator by the fused kernel g; NULL: by `route`.
static int apply_once(const Search *s, RitzGpuOperator *g, RitzOperatorRoute route) {
  return g ? ritz_gpu_gen_apply_kernel(s->op, g, s->in, s->out, s->mode)
           : ritz_gpu_operator_apply_by(s->op, route, s->in, s->out, s->mode);
}

static int time_applies(const Search *s, RitzGpuOperator *g, RitzOperatorRoute route, int num,
                        double *seconds) {
  Ceed ceed = s->op->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  RITZ_TRY(gpu->driver->event_record(ceed, gpu->device, gpu->stream, s->begin));
  for (int i = 0; i < num; i++) RITZ_TRY(apply_once(s, g, route));
  RITZ_TRY(gpu->driver->event_record(ceed, gpu->device, gpu->stream, s->end));
  RITZ_TRY(gpu->driver->event_elapsed(ceed, gpu->device, s->begin, s->end, seconds));
  *seconds /= num;
  return CEED_ERROR_SUCCESS;
}

static int time_kernel(const Search *s, RitzGpuOperator *g, int num, double *seconds) {
  return time_applies(s, g, RITZ_OPERATOR_ROUTE_FUSED, num, seconds);
}

static int num_applies_of(double seconds) {
  return seconds * MOST_APPLIES < batch_seconds ? MOST_APPLIES : 1 + (int)(batch_seconds / seconds);
}

static int compare_times(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Medians of two kernels that run in turns.
static int measure_both(const Search *s, RitzGpuOperator *a, RitzGpuOperator *b, double medians[2]) {
  double times[2][NUM_ROUNDS];
  for (int k = 0; k < NUM_ROUNDS; k++) {
    RITZ_TRY(time_kernel(s, a, s->num_applies, &times[0][k]));
    RITZ_TRY(time_kernel(s, b, s->num_applies, &times[1][k]));
  }
  for (int i = 0; i < 2; i++) {
    qsort(times[i], NUM_ROUNDS, sizeof(double), compare_times);
    medians[i] = times[i][NUM_ROUNDS / 2];
  }
  return CEED_ERROR_SUCCESS;
}

// The first applies are not counted: code and tables go to the device.
static int measure_model(Search *s) {
  double seconds, medians[2];
  RITZ_TRY(time_kernel(s, s->model, 1, &seconds));
  RITZ_TRY(time_kernel(s, s->model, 1, &seconds));
  s->num_applies = num_applies_of(seconds);
  RITZ_TRY(measure_both(s, s->model, s->model, medians));
  s->seconds = medians[0];
  return CEED_ERROR_SUCCESS;
}

static void replace_best(Search *s, RitzGpuOperator **g) {
  if (s->best != s->model) ritz_gpu_gen_free(s->op->obj.ceed, &s->best);
  s->best = *g;
  *g = NULL;
}

// *g becomes the best, and NULL, when it is faster.
static int race(Search *s, RitzGpuOperator **g) {
  double first, medians[2];
  s->num_tried++;
  RITZ_TRY(time_kernel(s, *g, 1, &first));
  RITZ_TRY(time_kernel(s, *g, s->num_applies, &first));
  if (first > hopeless * s->seconds) return CEED_ERROR_SUCCESS;
  RITZ_TRY(measure_both(s, s->best, *g, medians));
  s->seconds = medians[0];
  if (medians[1] >= margin * medians[0]) return CEED_ERROR_SUCCESS;
  s->seconds = medians[1];
  replace_best(s, g);
  return CEED_ERROR_SUCCESS;
}

// ---- Alternatives: each list varies one choice of the best ----

static void add(Alternatives *a, RitzGpuChoice choice) {
  if (a->num < MOST_ALTERNATIVES) a->items[a->num++] = choice;
}

static int round_to(double number) { return number < 1 ? 1 : (int)(number + 0.5); }

// Candidates for the elements of a block: for each number of warps the most that fill it; registers per
// thread stay as they are.
static void list_elements(const Search *s, Alternatives *a) {
  const RitzGpuTarget *t = s->best->target;
  RitzGpuChoice choice = chosen(s, s->best);
  for (int num_threads = WARP; num_threads <= MOST_THREADS; num_threads += WARP) {
    choice.num_elem = num_threads / t->num_lines * t->elem_per_thread;
    if (choice.num_elem == 0) continue;
    if (choice.num_blocks) choice.num_blocks = round_to((double)t->num_blocks * t->num_threads / num_threads);
    add(a, choice);
  }
}

// Fewer blocks have more registers.
static void list_blocks(const Search *s, Alternatives *a) {
  const RitzGpuChoice best = chosen(s, s->best);
  const int n = best.num_blocks;
  const int numbers[] = {n - 1, n + 1, n / 2, round_to(0.75 * n), round_to(1.25 * n), round_to(1.5 * n),
                         2 * n};
  for (size_t i = 0; n > 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    RitzGpuChoice choice = best;
    choice.num_blocks = CeedIntMax(1, numbers[i]);
    add(a, choice);
  }
}

static void list_unrolling(const Search *s, Alternatives *a) {
  RitzGpuChoice choice = chosen(s, s->best);
  choice.unroll = -choice.unroll;
  add(a, choice);
}

static void list_fences(const Search *s, Alternatives *a) {
  RitzGpuChoice choice = chosen(s, s->best);
  choice.fence = -choice.fence;
  add(a, choice);
}

// Alternatives with as many threads for fewer or more elements.
static void list_stacked(const Search *s, Alternatives *a) {
  const RitzGpuTarget *t = s->best->target;
  RitzGpuChoice choice = chosen(s, s->best);
  for (choice.elem_per_thread = 1; t->is_nontensor && t->dense_scalars > 0 && choice.elem_per_thread <= 8;
       choice.elem_per_thread *= 2) {
    choice.num_elem = t->num_elem / t->elem_per_thread * choice.elem_per_thread;
    add(a, choice);
  }
}

// Lines or whole elements: all else by the model.
static void list_evaluations(const Search *s, Alternatives *a) {
  RitzGpuChoice choice = {.whole = chosen(s, s->best).whole};
  choice.whole = -choice.whole;
  add(a, choice);
}

static void list_joins(const Search *s, Alternatives *a) {
  RitzGpuChoice choice = chosen(s, s->best);
  choice.join = -choice.join;
  if (choice.join) add(a, choice);
}

static void list_mma(const Search *s, Alternatives *a) {
  RitzGpuChoice choice = chosen(s, s->best);
  choice.mma = -choice.mma;
  if (choice.mma) add(a, choice);
}

static void (*const lists[])(const Search *s, Alternatives *a) = {list_evaluations, list_joins,
                                                                  list_stacked,     list_elements,
                                                                  list_blocks,      list_unrolling,
                                                                  list_fences,      list_mma};
enum { NUM_LISTS = sizeof(lists) / sizeof(lists[0]), MOST_ROUNDS = 3 };

// ---- Making kernels ----

static bool was_seen(const Search *s, const RitzGpuChoice *choice) {
  for (size_t i = 0; i < s->num_seen; i++) {
    if (!memcmp(&s->seen[i], choice, sizeof(*choice))) return true;
  }
  return false;
}

static int see(Search *s, const RitzGpuChoice *choice) {
  if (was_seen(s, choice)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(RITZ_REALLOC(s->op->obj.ceed, s->num_seen + 1, &s->seen));
  s->seen[s->num_seen++] = *choice;
  return CEED_ERROR_SUCCESS;
}

// *g: NULL when the choice cannot be had, or comes to the same as one that was seen.
static int describe_variant(Search *s, const RitzGpuChoice *choice, RitzGpuOperator **g) {
  int ierr = CEED_ERROR_SUCCESS;
  bool is_new = !was_seen(s, choice);
  if (!is_new) return CEED_ERROR_SUCCESS;
  RITZ_TRY(see(s, choice));
  RITZ_TRY(ritz_gpu_gen_describe(s->op, choice, g));
  is_new = !(*g)->reason;
  if (is_new) {
    const RitzGpuChoice made = chosen(s, *g);
    is_new = !memcmp(&made, choice, sizeof(made)) || !was_seen(s, &made);
    is_new = is_new && strcmp((*g)->text, s->best->text) != 0;
    ierr = see(s, &made);
  }
  if (ierr || !is_new) ritz_gpu_gen_free(s->op->obj.ceed, g);
  return ierr;
}

// Loads a variant. *can_run: false when it exceeds the limits of the device.
static int load_variant(const Search *s, RitzGpuOperator *g, bool *can_run) {
  Ceed ceed = s->op->obj.ceed;
  RitzDeviceKernelInfo info;
  *can_run = false;
  RITZ_TRY(ritz_gpu_gen_load(s->op, g));
  RITZ_TRY(ritz_gpu(ceed)->driver->kernel_info(ceed, g->kernel.handle, &info));
  *can_run = g->target->num_threads <= info.max_threads;
  return CEED_ERROR_SUCCESS;
}

// ---- The search ----

static int fill_group(Search *s, const Alternatives *a, Group *group) {
  for (int i = 0; i < a->num && group->num < s->num_left; i++) {
    RITZ_TRY(describe_variant(s, &a->items[i], &group->variants[group->num]));
    group->num += group->variants[group->num] != NULL;
  }
  s->num_left -= group->num;
  return CEED_ERROR_SUCCESS;
}

// Times all variants of a group, when all are compiled. A variant that fails is skipped without a report.
static void race_all(Search *s, Group *group) {
  Ceed ceed = s->op->obj.ceed;
  const CeedErrorHandler handler = ceed->error_handler;
  bool can_run[MOST_ALTERNATIVES];
  ceed->error_handler = CeedErrorReturn;
  for (int i = 0; i < group->num; i++) {
    if (load_variant(s, group->variants[i], &can_run[i])) can_run[i] = false;
  }
  for (int i = 0; i < group->num; i++) {
    if (can_run[i]) (void)race(s, &group->variants[i]);
    ritz_gpu_gen_free(ceed, &group->variants[i]);
  }
  ceed->error_handler = handler;
}

static int try_all(Search *s, const Alternatives *a) {
  Group group = {0};
  int ierr = fill_group(s, a, &group);
  for (int i = 0; i < group.num && !ierr; i++) ierr = ritz_gpu_gen_begin(s->op, group.variants[i]);
  if (!ierr) race_all(s, &group);
  for (int i = 0; i < group.num; i++) ritz_gpu_gen_free(s->op->obj.ceed, &group.variants[i]);
  return ierr;
}

// Tries the choice of an earlier measurement first.
static int try_known(Search *s, const RitzGpuOperator *own) {
  Alternatives a = {.num = 0};
  if (!own->tuning.is_measured) return CEED_ERROR_SUCCESS;
  add(&a, own->tuning.choice);
  return try_all(s, &a);
}

static int search_rounds(Search *s) {
  const RitzGpuOperator *before = NULL;
  for (int i = 0; i < MOST_ROUNDS && s->best != before; i++) {
    before = s->best;
    for (int k = 0; k < NUM_LISTS && s->num_left > 0; k++) {
      Alternatives a = {.num = 0};
      lists[k](s, &a);
      RITZ_TRY(try_all(s, &a));
    }
  }
  return CEED_ERROR_SUCCESS;
}

static int make_model(Search *s) {
  const RitzGpuChoice by_model = {0};
  RITZ_TRY(ritz_gpu_gen_describe(s->op, &by_model, &s->model));
  s->best = s->model;
  RITZ_TRY(ritz_gpu_gen_load(s->op, s->model));
  const RitzGpuChoice choice = chosen(s, s->model);
  return see(s, &choice);
}

static int search(Search *s, const RitzGpuOperator *own) {
  RITZ_TRY(make_model(s));
  RITZ_TRY(measure_model(s));
  s->num_tried = 1;
  s->num_left = ritz_gpu_tune_limit() - 1;
  RITZ_TRY(try_known(s, own));
  return search_rounds(s);
}

// ---- The outcome ----

// The best and the model once more, side by side.
static int conclude(Search *s, RitzTuning *tuning) {
  double medians[2];
  RITZ_TRY(measure_both(s, s->model, s->best, medians));
  if (s->best != s->model && medians[1] >= medians[0]) {
    RitzGpuOperator *model = s->model;
    replace_best(s, &model);
    medians[1] = medians[0];
  }
  tuning->num_tried = s->num_tried;
  tuning->model_seconds = medians[0];
  tuning->best_seconds = s->best == s->model ? medians[0] : medians[1];
  return CEED_ERROR_SUCCESS;
}

// ---- Routes ----

// The median of an apply; of one that is hopeless the first.
static int measure_route(const Search *s, RitzOperatorRoute route, double best, double *median) {
  double times[NUM_ROUNDS];
  RITZ_TRY(time_applies(s, NULL, route, 1, median));
  RITZ_TRY(time_applies(s, NULL, route, 1, median));
  if (best > 0 && *median > hopeless * best) return CEED_ERROR_SUCCESS;
  const int num = num_applies_of(*median);
  for (int k = 0; k < NUM_ROUNDS; k++) RITZ_TRY(time_applies(s, NULL, route, num, &times[k]));
  qsort(times, NUM_ROUNDS, sizeof(double), compare_times);
  *median = times[NUM_ROUNDS / 2];
  return CEED_ERROR_SUCCESS;
}

static bool is_candidate(const Search *s, RitzOperatorRoute route) {
  Ceed ceed = s->op->obj.ceed;
  if (route == RITZ_OPERATOR_ROUTE_GEMM_VENDOR && ritz_gpu(ceed)->is_deterministic) return false;
  return !ritz_gpu_refuses_route(ceed, route) && !ritz_gpu_operator_refuses_route(s->op, route);
}

// Measures the other routes; the time of the fused kernel, if there is one, is known. A route that fails is
// left out.
static void race_routes(const Search *s, RitzTuning *tuning) {
  Ceed ceed = s->op->obj.ceed;
  const CeedErrorHandler handler = ceed->error_handler;
  double best = tuning->route_seconds[tuning->route];
  ceed->error_handler = CeedErrorReturn;
  for (int r = RITZ_OPERATOR_ROUTE_SEPARATE; r <= RITZ_OPERATOR_ROUTE_GEMM_VENDOR; r++) {
    double seconds = 0;
    if (!is_candidate(s, (RitzOperatorRoute)r) || measure_route(s, (RitzOperatorRoute)r, best, &seconds))
      continue;
    tuning->route_seconds[r] = seconds;
    if (best > 0 && seconds >= margin * best) continue;
    tuning->route = (RitzOperatorRoute)r;
    best = seconds;
  }
  ceed->error_handler = handler;
}

// Chooses the fastest route. Without a fused kernel num_tried counts the routes.
static void choose_route(const Search *s, const RitzGpuOperator *own, RitzTuning *tuning) {
  const RitzRouteGuess guess = ritz_gpu_gen_guess_route(s->op, own);
  const bool has_kernel = tuning->num_tried > 0;
  if (has_kernel) tuning->route = RITZ_OPERATOR_ROUTE_FUSED;
  if (has_kernel) tuning->route_seconds[tuning->route] = tuning->best_seconds;
  if (!ritz_gpu_gen_has_routes(own) || s->op->route != RITZ_OPERATOR_ROUTE_AUTO) return;
  race_routes(s, tuning);
  for (int r = 0; r <= RITZ_OPERATOR_ROUTE_GEMM_VENDOR && !has_kernel; r++)
    tuning->num_tried += tuning->route_seconds[r] > 0;
  const double by_model = tuning->route_seconds[guess.route];
  if (guess.route != RITZ_OPERATOR_ROUTE_FUSED && by_model > 0) tuning->model_seconds = by_model;
  tuning->best_seconds = tuning->route_seconds[tuning->route];
  if (tuning->best_seconds > tuning->model_seconds) tuning->model_seconds = tuning->best_seconds;
}

// The best becomes the operator's own.
static int adopt(Search *s, RitzTuning *tuning) {
  RitzGpuOperator *own = s->op->data, *best = s->best ? s->best : own;
  RITZ_REQUIRE(tuning->num_tried > 0, s->op->obj.ceed, CEED_ERROR_BACKEND,
               "RitzOperatorTune: no route of the operator runs");
  best->tuning = (RitzGpuTuning){.key = own->tuning.key, .route = tuning->route};
  if (s->best) best->tuning.choice = chosen(s, best);
  RITZ_TRY(ritz_gpu_tune_keep(s->op, &best->tuning));
  ritz_plan_gpu_write_choice(&best->tuning.choice, tuning->choice);
  ritz_gpu_gen_choose_route(s->op, best);
  if (!s->best) return CEED_ERROR_SUCCESS;
  ritz_gpu_gen_free(s->op->obj.ceed, &own);
  s->op->data = best;
  if (s->model == s->best) s->model = NULL;
  s->best = NULL;
  return CEED_ERROR_SUCCESS;
}

static int open_search(Search *s) {
  Ceed ceed = s->op->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  s->machine = ritz_gpu_gen_machine(s->op);
  RITZ_TRY(gpu->driver->event_create(ceed, gpu->device, &s->begin));
  return gpu->driver->event_create(ceed, gpu->device, &s->end);
}

static void close_search(Search *s) {
  Ceed ceed = s->op->obj.ceed;
  const RitzGpu *gpu = ritz_gpu(ceed);
  if (s->begin) (void)gpu->driver->event_destroy(ceed, gpu->device, &s->begin);
  if (s->end) (void)gpu->driver->event_destroy(ceed, gpu->device, &s->end);
  if (s->best != s->model) ritz_gpu_gen_free(ceed, &s->best);
  ritz_gpu_gen_free(ceed, &s->model);
  RITZ_FREE(&s->seen);
}

// An operator with the same kernel was measured since this one was made: the next apply makes it anew.
static bool drop_stale_kernel(CeedOperator op, const RitzGpuOperator *own) {
  RitzGpuTuning latest = own->tuning;
  ritz_gpu_tune_recall(&latest);
  if (latest.number == own->tuning.number) return false;
  (void)ritz_gpu_operator_destroy(op);
  return true;
}

// Static; NULL: the operator can be measured.
static const char *why_not(CeedOperator op, const RitzGpuOperator *own) {
  const bool is_free = op->route == RITZ_OPERATOR_ROUTE_AUTO;
  if (!is_free && op->route != RITZ_OPERATOR_ROUTE_FUSED) return "its route was asked for";
  if (own->reason && !(is_free && own->plan->source_path && ritz_gpu_gen_has_routes(own))) return own->reason;
  return drop_stale_kernel(op, own) ? "an operator with the same kernel was measured" : NULL;
}

int ritz_gpu_gen_tune(CeedOperator op, CeedVector in, CeedVector out, RitzApplyMode mode,
                      RitzTuning *tuning) {
  RitzGpuOperator *own = NULL;
  Search s = {.op = op, .in = in, .out = out, .mode = mode};
  if (op->is_at_points) tuning->reason = "the operator is at points";
  if (ritz_gpu_tune_limit() == 0) tuning->reason = "RITZ_TUNE=off";
  if (tuning->reason) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_gpu_gen_prepare(op, &own));
  tuning->reason = own->plan ? why_not(op, own) : own->reason;
  if (tuning->reason) return CEED_ERROR_SUCCESS;
  int ierr = open_search(&s);
  if (!ierr && !own->reason) ierr = search(&s, own);
  if (!ierr && !own->reason) ierr = conclude(&s, tuning);
  if (!ierr) choose_route(&s, own, tuning);
  if (!ierr) ierr = adopt(&s, tuning);
  close_search(&s);
  return ierr;
}
